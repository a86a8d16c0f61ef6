"""Nested structures in TensorFlow's order: dictionaries by their sorted keys."""

from __future__ import annotations

from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves in order."""
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for item in structure for leaf in flatten(item)]
    return [structure]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any],
                     expand_composites: bool = False) -> Any:
    """Return leaves in the structure that `flatten` takes them from. Raises ValueError for another
    number of leaves.
    """
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence"
                         f" had {len(flat_sequence)} items.")
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        made = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)
    if isinstance(structure, (list, tuple)):
        items = [_packed(item, leaves) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
    return next(leaves)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply a function to the leaves at the same place of each structure."""
    if kwargs.pop("expand_composites", False):
        raise refused("tf.nest.map_structure", "expand_composites")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True))
    return pack_sequence_as(structure[0], [
        func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True,
                          expand_composites: bool = False) -> None:
    """Raise ValueError where two structures are not nested alike, TypeError for another type."""
    if is_nested(nest1) != is_nested(nest2) or (is_nested(nest1) and len(nest1) != len(nest2)):
        raise ValueError("The two structures don't have the same nested structure.\n\n"
                         f"First structure: {nest1!r}\n\nSecond structure: {nest2!r}")
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError("The two structures don't have the same sequence type. First structure has"
                        f" type {type(nest1)}, while second structure has type {type(nest2)}.")
    if isinstance(nest1, dict):
        if set(nest1) != set(nest2):
            raise ValueError("The two dictionaries don't have the same set of keys.")
        nest1, nest2 = [[nest[key] for key in sorted(nest)] for nest in (nest1, nest2)]
    for one, other in zip(nest1, nest2, strict=True):
        assert_same_structure(one, other, check_types)


def is_nested(structure: Any) -> bool:
    """Return whether it is a list, tuple or dictionary."""
    return isinstance(structure, (list, tuple, dict))
