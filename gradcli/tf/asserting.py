"""Assertions on values: `tf.debugging.assert_equal` and its kin, `tf.Assert`."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import PUBLIC
from gradcli.tf.dtypes import as_dtype
from gradcli.tf.tensor import convert_to_tensor, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The relation that has to hold between all elements, by the end of the name.
BETWEEN = {"equal": "==", "none_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
           "greater_equal": ">="}
TO_ZERO = {"positive": ">", "non_negative": ">=", "negative": "<", "non_positive": "<="}
SHOWN = 3


def _holds(sign: str, x: Any, y: Any) -> Any:
    return {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
            ">": np.greater, ">=": np.greater_equal}[sign](x, y)


def _between(sign: str) -> Callable[..., None]:
    def check(x: Any, y: Any, message: str | None = None, summarize: int | None = None,
              name: Any = None) -> None:
        a, b = [np.asarray(v.value) for v in operands(PUBLIC["add"], (x, y))]
        if not _holds(sign, a, b).all():
            raise _failed(f"Condition x {sign} y did not hold", message, a, b)

    check.__doc__ = f"Raise E0404 unless x {sign} y for all elements."
    return check


def _to_zero(sign: str) -> Callable[..., None]:
    def check(x: Any, message: str | None = None, summarize: int | None = None,
              name: Any = None) -> None:
        a = np.asarray(convert_to_tensor(x).value)
        if not _holds(sign, a, 0).all():
            raise _failed(f"Condition x {sign} 0 did not hold element-wise", message, a)

    check.__doc__ = f"Raise E0404 unless x {sign} 0 for all elements."
    return check


def _failed(what: str, message: str | None, *values: Any) -> Exception:
    shown = "; ".join([f"{name} = {np.ravel(v)[:SHOWN]}" for name, v in zip(
        "xy", values, strict=False)])
    return error("E0404", f"{message}: {what}" if message else what, help=shown or None)


assert_equal, assert_none_equal, assert_less, assert_less_equal, assert_greater, \
    assert_greater_equal = map(_between, BETWEEN.values())
assert_positive, assert_non_negative, assert_negative, assert_non_positive = map(
    _to_zero, TO_ZERO.values())


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None,
                summarize: int | None = None, name: Any = None) -> None:
    """Raise E0404 unless |x - y| is at most atol + rtol |y|: ten times the last digit of both."""
    a, b = [np.asarray(v.value) for v in operands(PUBLIC["add"], (x, y))]
    small = 10 * np.finfo(a.dtype).eps
    rtol, atol = [small if t is None else float(t) for t in (rtol, atol)]
    if not (np.abs(a - b) <= atol + rtol * np.abs(b)).all():
        raise _failed(f"x and y not equal to tolerance rtol = {rtol:g}, atol = {atol:g}", message,
                      a, b)


def assert_all_finite(x: Any, message: str, name: Any = None) -> Any:
    """Return a tensor. Raises E0404 unless all elements are finite."""
    made = convert_to_tensor(x)
    if not np.isfinite(np.asarray(made.value)).all():
        kind = "NaN" if np.isnan(np.asarray(made.value)).any() else "Inf"
        raise _failed(f"Tensor had {kind} values", message)
    return made


def assert_rank(x: Any, rank: Any, message: str | None = None, name: Any = None) -> None:
    """Raise E0301 for another number of axes."""
    shape = convert_to_tensor(x).shape
    if len(shape) != int(rank):
        raise error("E0301", f"{message or 'Tensor'} must have rank {rank}.  Received rank"
                    f" {len(shape)}, shape {shape}")


def assert_scalar(tensor: Any, message: str | None = None, name: Any = None) -> Any:
    """Return a tensor. Raises E0301 unless it has no axes."""
    made = convert_to_tensor(tensor)
    if len(made.shape):
        raise error("E0301", message or f"Expected scalar shape, saw shape: {made.shape}.")
    return made


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: Any = None) -> None:
    """Raise E0302 for another type."""
    kind = convert_to_tensor(tensor).dtype
    if kind != as_dtype(tf_type):
        raise error("E0302", f"{message + ' ' if message else ''}tensor must be of type"
                    f" {as_dtype(tf_type)!r}; got {kind!r}")


def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None,
                  message: str | None = None, name: Any = None) -> None:
    """Raise E0301 unless tensors have these shapes: numbers, or letters for equal lengths."""
    known: dict[Any, int] = {}
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        shape = convert_to_tensor(x).shape
        symbols = tuple(wanted) if isinstance(wanted, (list, tuple, str)) else (wanted,)
        if len(symbols) != len(shape):
            raise error("E0301", f"Tensor shape={shape} must have rank {len(symbols)}.")
        for axis, (symbol, length) in enumerate(zip(symbols, shape, strict=True)):
            size = symbol if isinstance(symbol, int) else known.setdefault(symbol, length)
            if symbol is not None and size != length:
                raise error("E0301", f"Tensor shape={shape} dimension {axis} must have size"
                            f" {size}.  Received size {length}, shape {shape}")


def Assert(condition: Any, data: Any, summarize: int | None = None, name: Any = None) -> None:
    """Raise E0404 with the data unless a condition holds."""
    if not np.asarray(convert_to_tensor(condition).value).all():
        raise error("E0404", "Expected 'False' to be true. Summarized data: "
                    + " ".join([str(np.asarray(v.value)) if hasattr(v, "value") else str(v)
                                for v in data]))


def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether it is a tensor of numbers."""
    kind: Any = getattr(tensor, "dtype", None)
    return hasattr(tensor, "__gradcli_apply__") and not (kind.is_bool or kind == "string")
