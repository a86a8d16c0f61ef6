"""The operation table. `lookup(name)` finds a row by name or alias; `TABLE` lists all rows."""

from __future__ import annotations

from gradcli.ops import (  # noqa: F401 -- importing a module fills the table
    creation,
    discrete,
    elementwise,
    linalg,
    reductions,
    shapes,
    special,
)
from gradcli.ops.kinds import NAMES, TABLE, Op

__all__ = ["NAMES", "TABLE", "Op", "lookup"]


def lookup(name: str) -> Op | None:
    """The operation of this name or alias."""
    return NAMES.get(name)
