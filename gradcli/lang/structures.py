"""Values that are no tensors: lists and dictionaries; and what is asked of any value."""

from __future__ import annotations

import math

from gradcli.errors import error
from gradcli.lang.calls import MAX_RANK, as_tensor, call_operation, decided, kind_of
from gradcli.ops.shapes import index as index_op
from gradcli.ops.shapes import transpose, whole
from gradcli.ops.values import is_array, plain, shape_of
from gradcli.tape.tensor import Tensor, core_shape, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def is_number(value: Any) -> bool:
    """Whether a value can be an operand: a tensor, number, truth value or array."""
    return isinstance(value, (Tensor, float, int)) or is_array(value)


def spread(several: Any, given: Any) -> Any:
    """One value for each of several: a list of numbers is a tensor, whose rows are meant here."""
    if isinstance(several, list) and is_number(given) and core_shape(given)[:1] == (len(several),):
        if isinstance(given, Tensor):
            return list(given.read())
        return [plain(row) for row in given]
    return given


def literal(items: list[Any]) -> Any:
    """`[1, 2, 3]` is a tensor; a list of anything else is a structure.

    Raises E0301 for rows of different lengths and for more axes than an array can have.
    """
    if not items:
        return items
    for x in items:
        if type(x) not in (float, int, bool) and not is_array(x):
            return items
    shapes = {shape_of(x) for x in items}
    if len(shapes) > 1:
        raise error("E0301", "the rows of this list have different lengths",
                    help="give every row as many numbers")
    if len(next(iter(shapes))) >= MAX_RANK:
        raise error("E0301", f"more than {MAX_RANK} lists inside each other",
                    help="use fewer brackets")
    from gradcli.ops.lazy import np

    return np.array(items)


def attribute(obj: Any, name: str) -> Any:
    """`A.T`, `A.shape` and their kin."""
    if isinstance(obj, (list, range)):
        obj = as_tensor(obj)
    if not is_number(obj) or isinstance(value_of(obj), str):
        raise error("E0308", f"{kind_of(value_of(obj))} has no attribute `{name}`",
                    help="use an index" if isinstance(obj, dict) else "ask a tensor for it",
                    about=("callee", None))
    if name == "T":
        return transpose(obj)
    # Plain numbers: a shape takes part in no derivative (`shape(x)` is the recorded operation).
    shape = core_shape(obj)
    if name == "ndim":
        return len(shape)
    if name == "size":
        return math.prod(shape)
    if name == "shape":
        from gradcli.ops.lazy import np

        return np.array(shape, dtype=np.int64)
    raise error("E0308", f"a tensor has no attribute `{name}`", help="it has T, shape, size, ndim",
                about=("callee", None))


def item(obj: Any, parts: Sequence[Any], values: Sequence[Any]) -> Any:
    """An element of a list or dictionary; several indices go inwards one by one."""
    if isinstance(obj, list) and len(parts) > 1 and isinstance(parts[0], slice):
        # A[:, 1] of rows of tensors means the columns of the matrix they make.
        return call_operation(index_op, [as_tensor(obj), *values], {"pattern": tuple(parts)})
    wanted = iter(values)
    for part in parts:
        key = decided(next(wanted)) if part == "i" else part
        try:
            if isinstance(obj, dict):
                obj = obj[key]
            elif isinstance(key, slice):
                obj = obj[key]
            elif isinstance(obj, list):
                obj = obj[whole(key, "an index")]
            else:
                obj = call_operation(index_op, [obj, key], {"pattern": ("i",)})
        except (KeyError, IndexError, TypeError):
            raise error("E0305", f"the structure has no item `{key}`",
                        help="lists count from 0; dictionaries go by name",
                        about=("value", key)) from None
    return obj


def bound(value: Any) -> int | None:
    """A bound of a slice: a whole number, or None."""
    return None if value is None else whole(decided(value), "a bound of a slice")


def truth(value: Any) -> bool:
    """The condition of `a if c else b`, `and`, `or`. Raises E0311 where there is no one answer."""
    value = decided(value)
    if isinstance(value, (bool, int, float)):
        return bool(value)
    if getattr(value, "size", 0) == 1:
        return bool(value.item())
    if hasattr(value, "shape"):
        raise error("E0311", "a condition must be one truth value, not a tensor of shape"
                    f" [{', '.join(str(n) for n in value.shape)}]",
                    help="choose element by element with where(c, a, b)")
    if isinstance(value, (str, list, dict)):
        return bool(value)
    raise error("E0311", f"{kind_of(value)} is neither true nor false",
                help="write a comparison such as x > 0")
