"""The rows of the operation table by name, loaded as far as they are needed.

Loading all modules of rows takes 7 ms, two thirds of what an empty Python needs to start, and most
formulas use two of them. So a name that is not there yet loads the next modules until it is; who
asks for all rows gets all of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, KeysView, ValuesView
    from typing import Any, TypeVar

    Row = TypeVar("Row")
else:
    Row = object  # only a checker of types asks

LATER: list[str] = [
    "trigonometric", "hyperbolic", "reductions", "linalg", "matrices", "complex_numbers", "nn",
    "special", "creation", "scans", "arrangement", "training", "systems", "decompositions",
    "singular_values", "gathering", "ordering", "segments", "convolution"]
"""Modules of rows that are loaded when a name asks for them, the commonest first."""


def load_next() -> bool:
    """Load one more module of rows; false if there is none."""
    if not LATER:
        return False
    __import__(f"gradcli.ops.table.{LATER.pop(0)}")
    return True


class LazyRows(dict[str, Row]):
    """A dictionary from the names of operations to their rows."""

    def __missing__(self, name: str) -> Row:
        while load_next():
            if dict.__contains__(self, name):
                return self[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or self.get(name) is not None

    def get(self, name: Any, default: Any = None) -> Any:
        """Return the operation of this name, or `default`."""
        try:
            return self[name]
        except (KeyError, TypeError):
            return default

    def loaded(self) -> ItemsView[str, Row]:
        """Return the names and operations loaded by now."""
        return dict.items(self)

    def _all(self) -> LazyRows[Row]:
        while load_next():
            pass
        return self

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self._all())

    def __len__(self) -> int:
        return dict.__len__(self._all())

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Return all names."""
        return dict.keys(self._all())

    def values(self) -> ValuesView[Row]:  # type: ignore[override]
        """Return all operations."""
        return dict.values(self._all())

    def items(self) -> ItemsView[str, Row]:  # type: ignore[override]
        """Return all names with their operations."""
        return dict.items(self._all())


class Unlisted:
    """An operation that is no row of the table, and stands in entries of its own only."""

    __slots__ = ()
    elementwise = by_arrays = by_parts = partial = holomorphic = internal = False
    smooth = True
    kink: Any = None
    steep: Any = None
    on_complex: Any = None
    substitute = domain = ""
    traits: tuple[str, ...] = ()

    def edge(self, k: int) -> bool:
        """Return whether a derivative passes from argument k: everything does that is smooth."""
        return self.smooth

    def role(self, k: int) -> str:
        """Return "data", which all arguments are."""
        return "data"
