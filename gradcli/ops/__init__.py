"""The operation table. `lookup(name)` finds a row by name or alias; `TABLE` lists all rows."""

from __future__ import annotations

from gradcli.ops import (  # noqa: F401 -- importing a module fills the table
    creation,
    discrete,
    elementwise,
    linalg,
    nn,
    reductions,
    shapes,
    special,
)
from gradcli.ops.kinds import NAMES, TABLE, Op

__all__ = ["INTERNAL", "NAMES", "PUBLIC", "TABLE", "Op", "lookup"]

INTERNAL = frozenset((
    "align", "cast_float", "cast_other", "index", "lowered_exponent", "put", "rebatch", "spread",
    "sum_batch", "sum_to", "unbatch"))
"""Rows that only rules and the interpreter use: no file can call them, `gradcli ops` is silent."""

PUBLIC = {name: op for name, op in NAMES.items() if op.name not in INTERNAL}
"""Every name that a file can call."""


def lookup(name: str) -> Op | None:
    """The operation of this name or alias that a file can call."""
    return PUBLIC.get(name)
