"""Plain values: those that a tensor can hold, and the functions on them that are needed everywhere.

A scalar is a Python `float` (float64), `int` (int64), `bool` or `str`; everything else is a NumPy
array: higher ranks, and scalars of the explicit types float32 and int32.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np, quiet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Shape = tuple[int, ...]

SCALAR_TYPES = {float: "float64", int: "int64", bool: "bool", str: "string"}
DTYPES = ("float64", "float32", "int64", "int32", "bool", "string")
FLOAT_DTYPES = ("float64", "float32")
SMOOTH_DTYPES = (*FLOAT_DTYPES, "complex128", "complex64")
# Elements of arrays of which one call in place of two is worth another line.
SHORT = 1000
# NumPy refuses arrays of more bytes without looking for memory.
ADDRESSES = 2.0**63


def memory_budget() -> float | None:
    """Return the most bytes of one array, None for no limit. The engine puts a function here that
    asks the record that is current.
    """
    return None


def check_bytes(needed: float) -> None:
    """Raise E0403 if an array of `needed` bytes is over the budget, or over all addresses."""
    if needed >= ADDRESSES:
        raise error("E0403", "an array of 2^63 bytes or more is more than any memory holds",
                    help="use a smaller array")
    budget = memory_budget()
    if budget is not None and needed > budget:
        raise error(
            "E0403", f"an array of {show_bytes(needed)} is over the memory budget of"
            f" {show_bytes(budget)}", help="use a smaller array, or raise --max-memory")


def telling(value: float) -> str:
    """Return a number for a sentence: six digits, and more where six are those of a rounder number.

    1.0000001 is not written as 1.
    """
    for digits in range(6, 18):
        text = f"{value:.{digits}g}"
        shown = text.partition("e")[0].lstrip("-0.").replace(".", "")
        if len(shown) == digits or float(text) == value:
            break
    return text


def show_bytes(n: float) -> str:
    """Return a number of bytes as the messages print it: `1.5 GB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.0f} bytes"


def broadcast_shape(name: str, shapes: Sequence[Shape]) -> Shape:
    """Return the shape that NumPy broadcasts to. Raises E0301 where lengths disagree."""
    out: list[int] = []
    for k in range(1, max(len(s) for s in shapes) + 1):
        here = {s[-k] for s in shapes if len(s) >= k} - {1}
        if len(here) > 1:
            first, second = [s for s in shapes if len(s) >= k and s[-k] in here and s[-k] != 1][:2]
            if first[-k] == second[-k]:
                second = next(s for s in shapes if len(s) >= k and s[-k] not in (1, first[-k]))
            raise error(
                "E0301", f"`{name}` cannot combine shapes {show(first)} and {show(second)}",
                help="lengths must be equal or 1, counted from the right")
        out.append(here.pop() if here else 1)
    return tuple(reversed(out))


def show(shape: Sequence[int]) -> str:
    """Return a shape as the messages print it: `[3, 2]`, `[]` for a scalar."""
    return f"[{', '.join(str(n) for n in shape)}]"


_names: dict[Any, str] = {}
"""The names of NumPy's types, which makes them anew each time; of texts each length is another."""


def dtype_of(value: Any) -> str:
    """Return the name of a value's type: one of `DTYPES`."""
    name = SCALAR_TYPES.get(type(value))
    if name is not None:
        return name
    dtype = value.dtype
    name = _names.get(dtype)
    if name is None:
        name = dtype.name
        if name.startswith("str"):
            return "string"
        _names[dtype] = name
    return name


def alike(values: Sequence[Any]) -> bool:
    """Return whether values are arrays of one floating point type and one shape, or of float64
    with numbers among them: nothing about them has to be looked at again.
    """
    dtype: Any = None
    shape: Any = None
    numbers = False
    for v in values:
        kind = type(v)
        if kind is float:
            numbers = True
        elif dtype is None:
            if kind is not _array and not _is_array(kind):
                return False
            dtype, shape = v.dtype, v.shape
            if dtype not in _floats:
                return False
        elif kind is not _array or v.dtype is not dtype or v.shape != shape:
            return False
    return dtype is not None and not (numbers and dtype.itemsize < 8)


def uniform(first: Any, second: Any, others: Sequence[Any]) -> bool:
    """Return whether values are arrays of one floating point type, and one shape of one axis or
    more.
    """
    if type(first) is not _array or type(second) is not _array:
        return False
    dtype, shape = first.dtype, first.shape
    if not shape or dtype is not second.dtype or shape != second.shape or dtype not in _floats:
        return False
    for v in others:
        if type(v) is not _array or v.dtype is not dtype or v.shape != shape:
            return False
    return True


# The class of NumPy's arrays and its two types of real numbers, once an array was met.
_array: Any = None
_floats: frozenset[Any] = frozenset()


def _is_array(kind: type) -> bool:
    global _array, _floats
    if kind.__name__ == "ndarray":
        _array, _floats = kind, frozenset((np.dtype("float64"), np.dtype("float32")))
    return kind is _array


def is_array(value: Any) -> bool:
    """Return whether a value is a NumPy array or scalar, rather than a number or a tensor."""
    return hasattr(value, "__array_interface__")


def has_nan(x: Any) -> bool:
    """Return whether a NaN is among the elements of a value, or of a tensor's value."""
    x = getattr(x, "value", x)
    if type(x) is float:
        return x != x
    if type(x) is np.ndarray and x.size < SHORT and x.dtype.char in "df":
        square = np.vdot(x, x)      # half the time: squares never cancel
        return bool(square != square)
    return bool(np.isnan(x).any())


def is_complex(x: Any) -> bool:
    """Return whether a value, or a tensor's value, is complex."""
    x = getattr(x, "value", x)
    return type(x) is complex or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def truth(sign: str, x: Any) -> Any:
    """Return `x`, a value or tensor that has to hold truth values. Raises E0302 if it does not.

    sign: the operator that joins them, for the message.
    """
    value = getattr(x, "value", x)
    if dtype_of(value if type(value) in SCALAR_TYPES else np.asarray(value)) != "bool":
        raise error("E0302", f"`{sign}` joins truth values, not {value!r:.40}",
                    help="compare first, such as (x > 0) & (y > 0)")
    return x


def is_integer(value: Any) -> bool:
    """Return whether it is an integer or an array of them; no truth value is."""
    return dtype_of(value) in ("int64", "int32")


def held(dtype: str) -> str:
    """Return a sentence with the range of a type of integers."""
    size = f"2^{int(dtype[3:]) - 1}"
    return f"{dtype} holds numbers from -{size} to below {size}"


def is_float(value: Any) -> bool:
    """Return whether a value can have a derivative: only floating point ones have, complex too."""
    kind = type(value)
    return kind is float or (kind not in SCALAR_TYPES and (
        value.dtype in _floats or value.dtype.char in "dfDF"))


class Rows(tuple):  # type: ignore[type-arg]
    """The pattern of an index that gathers rows: equal to others, but known as such."""

    __slots__ = ()


def shape_of(value: Any) -> Shape:
    """Return () for a scalar, the array's shape otherwise."""
    return () if type(value) in SCALAR_TYPES else value.shape


def zeros(shape: Sequence[int]) -> Any:
    """Return zeros of a shape, a float for a scalar."""
    return np.zeros(shape) if shape else 0.0


def plain(value: Any) -> Any:
    """Return NumPy scalars of the default types as Python numbers, where values are computed."""
    if type(value) in SCALAR_TYPES:
        return value
    if getattr(value, "ndim", None) == 0:
        kind = dtype_of(value)
        if kind == "float64":
            return float(value)
        if kind == "int64":
            return int(value)
        if kind == "bool":
            return bool(value)
        return np.asarray(value)
    return value


def cast(value: Any, dtype: str) -> Any:
    """Return `value` as `dtype`; float to int truncates, as NumPy and TensorFlow do.

    Raises ValueError for text that is no number and OverflowError for NaN or infinity as integer.
    """
    if type(value) in SCALAR_TYPES:
        if dtype == "float64":
            return float(value)
        if dtype == "int64":
            whole = int(value)
            if not -(2**63) <= whole < 2**63:
                raise OverflowError
            return whole
        if dtype == "bool":
            return bool(value)
        if dtype == "string":
            return value if isinstance(value, str) else repr(value)
    array = np.asarray(value)
    if array.dtype.kind == "c" and dtype.startswith(("float", "int")):
        array = array.real
    if dtype.startswith("int") and array.dtype.kind in "fiu":
        # A float16 cannot be compared with what is too large for it.
        wide = array.astype(float) if array.dtype.kind == "f" else array
        limit = 2**(int(dtype[3:]) - 1)
        if not ((wide >= -limit) & (wide < limit)).all():
            raise OverflowError
    with quiet():       # a float32 holds less: infinity is the answer
        return plain(array.astype("str" if dtype == "string" else dtype))
