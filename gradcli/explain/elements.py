"""Elements of operands and answers: which belong together, and which are no finite numbers."""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, OP, VALUES
from gradcli.ops.values import SCALAR_TYPES, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

    Index = tuple[int, ...]

# Operations whose answer has elements of their first operand, in other places.
TAKING = ("index", "reshape", "transpose")


def operands_at(entry: Entry, index: Index, every: bool = False) -> list[tuple[int, Any, Index]]:
    """(argument, value, element) of the operands that the element `index` of the answer is made
    of; of an operation that is not elementwise the first element that is not finite, or 0.
    """
    op, values, shape = entry[OP], entry[VALUES], shape_of(entry[ANS])
    found: list[tuple[int, Any, Index]] = []
    for k, value in enumerate(values):
        if op.name == "where" and k > 0 and _picked(values[0], shape, index) != (k == 1):
            continue
        if op.role(k) != "data" or not _is_float(value):
            if every and not shape_of(value) and type(value) in (int, float):
                found.append((k, float(value), ()))
            continue
        own = shape_of(value)
        if 0 in own:
            continue
        if not own:
            found.append((k, value, ()))
        elif op.elementwise:
            at = fitting(index, shape, own)
            found.append((k, plain_number(value[at]), at))
        elif op.name in TAKING and k == 0 and len(index) == len(shape):
            at = _taken(entry, index, own)
            found.append((k, plain_number(value[at]), at))
        else:
            at = bad_index(value)
            if every and finite(value):
                found.append((k, 0.0 if not value.any() else 1.0, at))
            else:
                found.append((k, plain_number(value[at]) if at else value, at))
    return found


def _taken(entry: Entry, index: Index, own: Index) -> Index:
    """The element of its operand that an element of a rearranged answer is."""
    places = np.arange(float(math.prod(own))).reshape(own)
    made = entry[OP].compute([places, *entry[VALUES][1:]], entry[ATTRIBUTES])
    return tuple(int(n) for n in np.unravel_index(int(element(made, index)), own))


def _picked(mask: Any, shape: Index, index: Index) -> bool:
    own = shape_of(mask)
    return bool(mask[fitting(index, shape, own)] if own else mask)


def fitting(index: Index, shape: Index, own: Index) -> Index:
    """The element of a broadcast operand that an element of the answer is made of."""
    if len(index) != len(shape):
        return (0,) * len(own)
    return tuple(
        0 if n == 1 else i for i, n in zip(index[len(index) - len(own):], own, strict=True))


def _is_float(value: Any) -> bool:
    return type(value) is float or (
        type(value) not in SCALAR_TYPES and value.dtype.kind in "fc")


def finite(value: Any) -> bool:
    """Whether a value has neither NaN nor infinity in it."""
    if type(value) is float:
        return value - value == 0.0
    if type(value) in SCALAR_TYPES or value.dtype.kind not in "fc":
        return True
    return bool(np.isfinite(value).all())


def is_nan(value: Any) -> bool:
    """Whether a value has a NaN in it."""
    if type(value) in SCALAR_TYPES:
        return bool(value != value)
    return bool(np.isnan(value).any())


def has_inf(value: Any) -> bool:
    """Whether a value has an infinity in it."""
    return not finite(value) and bool(np.isinf(value).any())


def has_zero(value: Any) -> bool:
    """Whether a value has a 0 in it."""
    return value == 0.0 if type(value) is float else not np.all(value)


def first_zero(value: Any) -> Index | None:
    """The first element that is 0; None if there is none."""
    if not shape_of(value):
        return () if value == 0 else None
    return first_hit(np.asarray(value) == 0) if has_zero(value) else None


def bad_index(value: Any) -> Index:
    """The first element that is NaN, else the first that is infinite, else the first."""
    shape = shape_of(value)
    if not shape:
        return ()
    for hit in (np.isnan(value), ~np.isfinite(value)):
        if hit.any():
            return first_hit(hit)
    return (0,) * len(shape)


def first_hit(hit: Any) -> Index:
    """The first element where an array is true."""
    return tuple(int(n) for n in np.unravel_index(int(np.argmax(hit)), hit.shape))


def element(value: Any, index: Index) -> Any:
    """One element of a value."""
    shape = shape_of(value)
    if not shape:
        return plain_number(value)
    return plain_number(value[index]) if len(index) == len(shape) else value


def plain_number(value: Any) -> Any:
    """A real number of NumPy's as one of Python's."""
    return value.item() if hasattr(value, "item") and value.dtype.kind != "c" else value


def fitted(value: Any, index: Index) -> Any:
    """The element of a broadcast operand at an element of the answer."""
    return element(value, fitting(index, index, shape_of(value)))


def block_of(shape: Index, own: Index, index: Index) -> tuple[Any, ...]:
    """The part of an answer where an element of a broadcast operand counts."""
    surplus = len(shape) - len(own)
    return (slice(None),) * surplus + tuple([
        slice(None) if n == 1 and m != 1 else i
        for i, n, m in zip(index, own, shape[surplus:], strict=True)])


def place_in(block: Any, inside: Sequence[int]) -> Index:
    """The element of an array of one of a part of it; the part ...: of the whole."""
    if block is ...:
        return tuple(inside)
    left = iter(inside)
    return tuple([i if type(i) is int else next(left) for i in block])
