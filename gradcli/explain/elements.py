"""Elements of operands and answers: which belong together, and which are not finite."""

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
    """Return (argument, value, index) of the operand elements that make element `index` of the
    answer.

    Of an operation that is not elementwise, the first element that is not finite stands for an
    operand. every: return plain numbers too, and 1.0, or 0.0 if all elements are 0, for an operand
    that is not elementwise and finite.
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
            found.append((k, plain_number(value), ()))
        elif op.elementwise:
            at = fitting(index, shape, own)
            found.append((k, plain_number(value[at]), at))
        elif op.name in TAKING and k == 0 and len(index) == len(shape):
            at = _taken(entry, index, own)
            found.append((k, plain_number(value[at]), at))
        else:
            block = _summed(entry, index, own)
            part = value[block]
            at = place_in(block, bad_index(part))
            if every and finite(part):
                found.append((k, 0.0 if not part.any() else 1.0, at))
            else:
                found.append((k, plain_number(value[at]) if at else value, at))
    return found


def _summed(entry: Entry, index: Index, own: Index) -> Any:
    """Return the index of the part of an operand (shape `own`) that makes an element of a sum or
    mean over some axes; `...` of any other operation, which is all of it.
    """
    axes, shape = entry[ATTRIBUTES].get("axis"), shape_of(entry[ANS])
    if entry[OP].name not in ("sum", "mean") or axes is None or len(index) != len(shape):
        return ...
    over = {axis % len(own) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))}
    if len(shape) == len(own):      # keepdims
        return tuple([slice(None) if k in over else i for k, i in enumerate(index)])
    left = iter(index)
    return tuple([slice(None) if k in over else next(left) for k in range(len(own))])


def _taken(entry: Entry, index: Index, own: Index) -> Index:
    """Return the index in the operand (shape `own`) of an element of a rearranged answer."""
    places = np.arange(float(math.prod(own))).reshape(own)
    made = entry[OP].compute([places, *entry[VALUES][1:]], entry[ATTRIBUTES])
    return tuple(int(n) for n in np.unravel_index(int(element(made, index)), own))


def _picked(mask: Any, shape: Index, index: Index) -> bool:
    """Return whether the mask of a `where` is true at an index of the answer."""
    own = shape_of(mask)
    return bool(mask[fitting(index, shape, own)] if own else mask)


def fitting(index: Index, shape: Index, own: Index) -> Index:
    """Return the index in a broadcast operand of shape `own` of an element of the answer."""
    if len(index) != len(shape):
        return (0,) * len(own)
    return tuple(
        0 if n == 1 else i for i, n in zip(index[len(index) - len(own):], own, strict=True))


def _is_float(value: Any) -> bool:
    return type(value) is float or (
        type(value) not in SCALAR_TYPES and value.dtype.kind in "fc")


def finite(value: Any) -> bool:
    """Return whether a value contains neither NaN nor infinity."""
    if type(value) is float:
        return value - value == 0.0
    if type(value) in SCALAR_TYPES or value.dtype.kind not in "fc":
        return True
    return bool(np.isfinite(value).all())


def is_nan(value: Any) -> bool:
    """Return whether a value contains NaN."""
    if type(value) in SCALAR_TYPES:
        return bool(value != value)
    return bool(np.isnan(value).any())


def has_inf(value: Any) -> bool:
    """Return whether a value contains an infinity."""
    return not finite(value) and bool(np.isinf(value).any())


def has_zero(value: Any) -> bool:
    """Return whether a value contains a 0."""
    return value == 0.0 if type(value) is float else not np.all(value)


def first_zero(value: Any) -> Index | None:
    """Return the index of the first element that is 0; None if there is none."""
    if not shape_of(value):
        return () if value == 0 else None
    return first_hit(np.asarray(value) == 0) if has_zero(value) else None


def bad_index(value: Any) -> Index:
    """Return the index of the first NaN, else of the first infinite element, else of the first."""
    shape = shape_of(value)
    if not shape:
        return ()
    for hit in (np.isnan(value), ~np.isfinite(value)):
        if hit.any():
            return first_hit(hit)
    return (0,) * len(shape)


def first_hit(hit: Any) -> Index:
    """Return the index of the first true element of a mask."""
    return tuple(int(n) for n in np.unravel_index(int(np.argmax(hit)), hit.shape))


def element(value: Any, index: Index) -> Any:
    """Return one element of a value; the whole value if the index has another rank."""
    shape = shape_of(value)
    if not shape:
        return plain_number(value)
    return plain_number(value[index]) if len(index) == len(shape) else value


def plain_number(value: Any) -> Any:
    """Convert a real NumPy number to a Python number, one of 32 bits to the shortest that is it."""
    if getattr(value, "dtype", None) == "float32":
        return float(str(value[()]))
    return value.item() if hasattr(value, "item") and value.dtype.kind != "c" else value


def fitted(value: Any, index: Index) -> Any:
    """Return the element of a broadcast operand at an index of the answer."""
    return element(value, fitting(index, index, shape_of(value)))


def block_of(shape: Index, own: Index, index: Index) -> tuple[Any, ...]:
    """Return the index of all elements of an answer (shape `shape`) into which element `index` of a
    broadcast operand (shape `own`) goes.
    """
    surplus = len(shape) - len(own)
    return (slice(None),) * surplus + tuple([
        slice(None) if n == 1 and m != 1 else i
        for i, n, m in zip(index, own, shape[surplus:], strict=True)])


def place_in(block: Any, inside: Sequence[int]) -> Index:
    """Return the index in an array of an element of its block; block `...` is all of it."""
    if block is ...:
        return tuple(inside)
    left = iter(inside)
    return tuple([i if type(i) is int else next(left) for i in block])
