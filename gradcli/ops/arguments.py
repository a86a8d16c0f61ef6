"""Options and indices of a call (tensors, lists, floats that are whole), read and checked."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.ops.table.shapes import whole
from gradcli.ops.values import dtype_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


PLACES = ((0.0, 3.0),)


def number_of(x: Any) -> Any:
    """Return the plain value of an option, a tensor or not."""
    return getattr(x, "value", x)


def array_of(x: Any) -> Any:
    """Return an option or operand as an array, to decide by.

    Raises E0301 (ragged) and E0303 (no numbers).
    """
    x = x.decides() if hasattr(x, "decides") else x
    try:
        found = np.asarray([array_of(v) for v in x] if isinstance(x, (list, tuple)) else x)
    except GradcliError:
        raise
    except ValueError:
        raise error("E0301", "the rows of this list have different lengths",
                    help="give every row as many numbers") from None
    if found.dtype.kind not in "fiubc":
        raise error("E0303", f"numbers were expected, not `{x!r}`", help="write a number such as 2",
                    about=("value", x))
    return found


def one_number(x: Any, what: str) -> Any:
    """Return an option that is one number. Raises E0303."""
    found = array_of(x)
    if found.ndim:
        raise error("E0303", f"{what} must be one number, not a tensor of shape"
                    f" {show(found.shape)}", help="give a scalar", about=("value", x))
    return found.item()


def kind_of(x: Any) -> str:
    """Return the type of a tensor's or a plain value's elements."""
    return dtype_of(number_of(x))


def element_count(shape: Sequence[int]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


def as_integers(values: Any, name: str) -> Any:
    """Return an array of indices as integers. Raises E0302 (truth values) and E0303 (fractions)."""
    at = array_of(values)
    if at.dtype.kind not in "iuf":
        raise error("E0302", f"`{name}` needs whole numbers as indices, not {dtype_of(at)}",
                    help="choose with truth values by boolean_mask(x, mask)")
    if at.dtype.kind == "f":
        wrong = ~(np.abs(at) < 2.0**53) | (at != np.floor(at))
        if wrong.any():
            raise error("E0303", f"an index must be a whole number, not `{at[wrong][0]}`",
                        help="write a number such as 2", about=("value", at[wrong][0].item()))
    return at.astype(np.int64)


def as_indices(values: Any, name: str) -> tuple[Any, Any]:
    """Return indices as an operand, which keeps a tensor on its record, and as an array.

    The values of integers are not noted as deciding: they are only checked here, and are checked
    again wherever they are used.
    """
    plain = number_of(values)
    whole = plain is not values and dtype_of(plain).startswith("int")
    at = as_integers(plain if whole else values, name)
    return (values if hasattr(values, "value") else at), at


def check_range(name: str, at: Any, length: int, low: int | None = None) -> None:
    """Raise E0305, with the position, for an index outside of an axis.

    name: of the operation.
    at: the indices, an array of integers.
    low: the smallest index, by default -length.
    """
    bad = (at < (-length if low is None else low)) | (at >= length)
    if bad.any():
        where_ = np.argwhere(bad)[0].tolist()
        at_place = f" at {show(where_)}" if where_ else ""
        raise error(
            "E0305", f"`{name}`: the index {at[tuple(where_)]}{at_place} is out of range for an"
            f" axis of length {length}",
            help="indices count from 0" if low == 0 else
            "indices count from 0; negative ones from the end",
            about=("value", at[tuple(where_)].item()))


def whole_from(value: Any, low: int, name: str, what: str) -> int:
    n = whole(value, what)
    if n < low:
        raise error("E0404", f"`{name}`: {what} cannot be {n}", help=f"use {low} or more",
                    about=("value", value))
    return n
