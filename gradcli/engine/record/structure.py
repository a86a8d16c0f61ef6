"""Nested structures: lists, tuples and dictionaries of tensors, flattened and put together."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def flatten(structure: Any) -> list[Any]:
    """Return the leaves in order; dictionaries in their own order."""
    if isinstance(structure, dict):
        return [leaf for item in structure.values() for leaf in flatten(item)]
    if isinstance(structure, (list, tuple)):
        return [leaf for item in structure for leaf in flatten(item)]
    return [structure]


def like(structure: Any, leaves: Sequence[Any]) -> Any:
    """Return `leaves` in the structure that `flatten` took them from."""
    rest = iter(leaves)
    return _filled(structure, rest.__next__)


def _filled(structure: Any, following: Callable[[], Any]) -> Any:
    if isinstance(structure, dict):
        return {key: _filled(item, following) for key, item in structure.items()}
    if isinstance(structure, tuple):
        items = [_filled(item, following) for item in structure]
        named: Any = type(structure)
        return named(*items) if hasattr(structure, "_fields") else tuple(items)
    if isinstance(structure, list):
        return [_filled(item, following) for item in structure]
    return following()


def same(a: Any, b: Any) -> bool:
    """Return whether two structures have the same nesting."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return (isinstance(b, (list, tuple)) and len(a) == len(b)
                and all(same(x, y) for x, y in zip(a, b, strict=True)))
    return not isinstance(b, (dict, list, tuple))
