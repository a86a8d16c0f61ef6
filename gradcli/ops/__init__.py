"""The operation table. `lookup(name)` finds a row by name or alias; `TABLE` lists all rows."""

from __future__ import annotations

from gradcli.ops.kinds import NAMES, PUBLIC, TABLE, Op
from gradcli.ops.table import (  # noqa: F401 -- importing a module fills the table
    discrete,
    elementwise,
    shapes,
)

__all__ = ["NAMES", "PUBLIC", "TABLE", "Op", "lookup"]


def lookup(name: str) -> Op | None:
    """Return the operation of this name or alias that a file can call, None if there is none."""
    found: Op | None = PUBLIC.get(name)
    return found


def __getattr__(name: str) -> Op:
    """Return an operation as an attribute, `gradcli.ops.sin`, by name or alias."""
    op = lookup(name)
    if op is None:
        raise AttributeError(f"there is no operation '{name}'")
    globals()[name] = op    # the second time it is an ordinary attribute
    return op


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})
