"""Name scopes: what stands before the names of variables made in a block."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_open: list[str] = []


def prefix() -> str:
    """Return what the open scopes put before a name: "a/b/", or nothing."""
    return _open[-1] if _open else ""


class name_scope:
    """A block in which names of variables begin with one, as tf.name_scope.

    name: a name, within the scope that is open; one that ends in / stands alone.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self.given = name

    @property
    def name(self) -> str:
        """Return the name."""
        return self.given

    def __enter__(self) -> str:
        _open.append(self.given if self.given.endswith("/") else f"{prefix()}{self.given}/")
        return _open[-1]

    def __exit__(self, *problem: Any) -> None:
        _open.pop()
