"""Operations without a derivative: steps, comparisons, logic, casts.

`flat` ones are step functions: their derivative is 0 almost everywhere, and TensorFlow returns
None. `stop` ones leave the real numbers. Both name a smooth substitute.
"""

from __future__ import annotations

import math

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, flat, linear, stop
from gradcli.ops.table.shapes import REAL, negative_axis
from gradcli.ops.values import DTYPES, FLOAT_DTYPES, cast, dtype_of, held, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.kinds import Op

PAIR = ((-3.0, 3.0), (0.2, 3.0))


def _integral(function: Any) -> Any:
    """Wrap `math.floor` or its like, which returns integers: a float stays one, inf and NaN too."""
    def stays_float(x: Any) -> Any:
        if type(x) is not float:
            return x
        return math.copysign(float(function(x)), x) if math.isfinite(x) else x

    return stays_float


def _is_whole(x: Any) -> Any:
    return np.equal(x, np.rint(x))


floor = flat(
    "floor", "x", floats=_integral(math.floor), arrays="floor", samples=((-2.9, 2.9),),
    latex=r"\lfloor {0} \rfloor", substitute="{0} + stop_gradient(floor({0}) - {0})",
    kinks="jumps at whole numbers", kink=_is_whole,
    doc="largest whole number not above x", traits="switching exact", names="c sympy")
ceil = flat(
    "ceil", "x", floats=_integral(math.ceil), arrays="ceil", samples=((-2.9, 2.9),),
    aliases="ceiling", latex=r"\lceil {0} \rceil",
    substitute="{0} + stop_gradient(ceil({0}) - {0})",
    kinks="jumps at whole numbers", kink=_is_whole,
    doc="smallest whole number not below x", traits="switching exact", names="c sympy:ceiling")
round_ = flat(
    "round", "x", floats=_integral(round), arrays="rint", samples=((-2.9, 2.9),),
    aliases="rint", latex=r"\operatorname{{round}}\left({0}\right)",
    substitute="{0} + stop_gradient(round({0}) - {0})",
    kinks="jumps at halves", kink=lambda x: _is_whole(x + 0.5),
    doc="nearest whole number, halves to even", traits="switching exact", names="c:rint")
trunc = flat(
    "trunc", "x", floats=_integral(math.trunc), arrays="trunc", samples=((-2.9, 2.9),),
    aliases="fix", latex=r"\operatorname{{trunc}}\left({0}\right)",
    substitute="{0} + stop_gradient(trunc({0}) - {0})",
    kinks="jumps at whole numbers but 0",
    kink=lambda x: _is_whole(x) & np.not_equal(x, 0.0), doc="x without its fraction", names="c",
    traits="exact")
def _floor_divide(x: Any, y: Any) -> Any:
    if np.result_type(x, y).kind in "iu" and not np.all(y):
        raise ValueError  # NumPy would answer 0
    return np.floor_divide(x, y)


floor_divide = flat(
    "floor_divide", "x y", aliases="floordiv", floats=lambda x, y: x // y, arrays=_floor_divide,
    integers=lambda x, y: x // y,
    samples=PAIR, latex=r"\lfloor {0} / {1} \rfloor",
    substitute="{0}/{1} + stop_gradient({0}//{1} - {0}/{1})", domain="y != 0",
    kinks="jumps where x is a multiple of y",
    kink=lambda x, y: _is_whole(np.divide(x, y)), doc="floor(x/y)", names="numpy")
heaviside = flat(
    "heaviside", "x y", floats=lambda x, y: x if x != x else 0.0 if x < 0 else 1.0 if x > 0
    else float(y), arrays="heaviside", samples=PAIR,
    latex=r"H\left({0}\right)", substitute="sigmoid(k*{0}), with k how steep", kinks="jumps at 0",
    doc="0 for negative x, 1 for positive x, y at 0", traits="in_pieces switching")


def _comparison(name: str, symbol: str, floats: Any, latex: str, substitute: str,
                traits: str = "") -> Op:
    return stop(name, "x y", is_elementwise=True, floats=floats, arrays=name, samples=PAIR,
                latex=latex, substitute=substitute, doc=f"x {symbol} y, as true or false",
                traits=traits)


_STEP, _ORDER = "sigmoid(k*({0} - {1})), with k how steep", "comparing real_only"
equal = _comparison("equal", "==", lambda x, y: x == y, "{0} = {1}", "exp(-k*({0} - {1})^2)")
not_equal = _comparison("not_equal", "!=", lambda x, y: x != y, r"{0} \ne {1}",
                        "1 - exp(-k*({0} - {1})^2)")
less = _comparison(
    "less", "<", lambda x, y: x < y, "{0} < {1}", "sigmoid(k*({1} - {0}))", _ORDER)
less_equal = _comparison(
    "less_equal", "<=", lambda x, y: x <= y, r"{0} \le {1}", "sigmoid(k*({1} - {0}))", _ORDER)
greater = _comparison("greater", ">", lambda x, y: x > y, "{0} > {1}", _STEP, _ORDER)
greater_equal = _comparison(
    "greater_equal", ">=", lambda x, y: x >= y, r"{0} \ge {1}", _STEP, _ORDER)
logical_and = stop(
    "logical_and", "x y", is_elementwise=True, floats=lambda x, y: bool(x and y),
    arrays="logical_and", latex=r"{0} \land {1}", substitute="{0}*{1} of two smooth gates",
    samples=PAIR, doc="both hold", names="sympy:And")
logical_or = stop(
    "logical_or", "x y", is_elementwise=True, floats=lambda x, y: bool(x or y),
    arrays="logical_or", latex=r"{0} \lor {1}", substitute="{0} + {1} - {0}*{1} of smooth gates",
    samples=PAIR, doc="one or both hold", names="sympy:Or")
logical_not = stop(
    "logical_not", "x", is_elementwise=True, floats=lambda x: not x, arrays="logical_not",
    latex=r"\lnot {0}", substitute="1 - {0} of a smooth gate", samples=REAL,
    doc="does not hold", names="sympy:Not")
isnan = stop("isnan", "x", aliases="is_nan", is_elementwise=True, floats=lambda x: x != x,
             arrays="isnan", samples=REAL, doc="whether x is not a number", names="c")
isfinite = stop("isfinite", "x", aliases="is_finite", is_elementwise=True, floats=math.isfinite,
                arrays="isfinite", samples=REAL, doc="neither NaN nor infinite",
                names="c")



def _which_prepare(shapes: Sequence[Any], axis: Any) -> dict[str, Any]:
    along = None if axis is None else negative_axis(axis, len(shapes[0]))
    if 0 in shapes[0] if along is None else shapes[0][along] == 0:
        raise error("E0404", "the largest or smallest of no elements does not exist",
                    help="give a tensor with at least one element")
    return {"axis": along}


argmax = stop(
    "argmax", "x", attributes={"axis": None}, prepare=_which_prepare, samples=REAL,
    arrays=lambda cores, x, axis: np.argmax(x, axis=axis), latex=r"\arg\max {0}",
    substitute="sum(softmax({0}) * arange(len({0})))", doc="index of the largest element",
    traits="real_only whole_tensor")
argmin = stop(
    "argmin", "x", attributes={"axis": None}, prepare=_which_prepare, samples=REAL,
    arrays=lambda cores, x, axis: np.argmin(x, axis=axis), latex=r"\arg\min {0}",
    substitute="sum(softmax(-{0}) * arange(len({0})))", doc="index of the smallest element",
    traits="real_only whole_tensor")
shape = stop(
    "shape", "x", roles=("shape",), samples=REAL,
    arrays=lambda cores, x: np.array(shape_of(x)[-cores[0]:] if cores[0] else (), dtype=np.int64),
    doc="lengths of the axes", traits="whole_tensor")
size = stop(
    "size", "x", roles=("shape",), samples=REAL,
    arrays=lambda cores, x: int(np.prod(shape_of(x)[-cores[0]:])) if cores[0] else 1,
    doc="number of elements", traits="whole_tensor")
zeros_like = stop(
    "zeros_like", "x", roles=("shape",), arrays=lambda cores, x: np.zeros_like(x),
    samples=REAL, doc="zeros of the shape of x", names="numpy", traits="in_steps")
ones_like = stop(
    "ones_like", "x", roles=("shape",), arrays=lambda cores, x: np.ones_like(x),
    samples=REAL, doc="ones of the shape of x", names="numpy", traits="in_steps")

stop_gradient = stop(
    "stop_gradient", "x", aliases="detach", arrays=lambda cores, x: x, samples=REAL,
    latex=r"\operatorname{{stop}}\left({0}\right)", doc="the same value, its derivative cut off")

left_engine = stop(
    "left_engine", "*xs", attributes={"given": None, "size": None}, roles=("index",),
    samples=REAL, arrays=lambda cores, *xs, given, size: given,
    doc="what a function outside of the tape made of x; size: of a new tensor, whether x is one",
    internal=True)

# From float to float a cast carries the derivative, with the source's type; anything else stops.
cast_float = linear(
    "cast_float", "x", lambda g, ans, x, dtype: cast_float(g, dtype=_dtype_of(x)),
    attributes={"dtype": "float64"}, samples=REAL,
    arrays=lambda cores, x, dtype: cast(x, dtype), doc="another floating point type", internal=True)
cast_other = stop(
    "cast_other", "x", attributes={"dtype": "int64"}, samples=REAL,
    arrays=lambda cores, x, dtype: cast(x, dtype),
    substitute="{0} itself, or {0} + stop_gradient(round({0}) - {0})",
    doc="a whole number, truth value or text", internal=True)


def _dtype_of(x: Any) -> str:
    return dtype_of(getattr(x, "value", x))


def _cast(x: Any, dtype: Any = "float64") -> Any:
    if dtype not in DTYPES:
        raise error("E0306", f"there is no type `{dtype}`", help=f"one of {', '.join(DTYPES)}",
                    about=("value", dtype))
    smooth = dtype in FLOAT_DTYPES and _dtype_of(x) in FLOAT_DTYPES
    try:
        return (cast_float if smooth else cast_other)(x, dtype=dtype)
    except GradcliError:
        raise
    except (ValueError, OverflowError):
        shown = getattr(x, "value", x)
        raise error("E0404", f"`{shown}` cannot be cast to {dtype}", help=held(dtype)
                    if dtype.startswith("int") else "give a number") from None


cast_ = composite("cast", "x", _cast, attributes={"dtype": "float64"}, samples=REAL,
                  doc='another type: cast(x, "int32")')
int_ = composite("int", "x", lambda x: _cast(x, "int64"), aliases="int64", samples=REAL,
                 kinks="an integer has no derivative", doc="a whole number, truncated towards 0",
                 traits="cut", substitute="{0} + stop_gradient(float(int({0})) - {0})")
float_ = composite("float", "x", lambda x: _cast(x, "float64"), aliases="float64",
                   samples=REAL, doc="a number of 64 bits")
float32 = composite("float32", "x", lambda x: _cast(x, "float32"), samples=REAL,
                    doc="a number of 32 bits")
int32 = composite("int32", "x", lambda x: _cast(x, "int32"), samples=REAL,
                  kinks="an integer has no derivative", doc="a whole number of 32 bits",
                  traits="cut", substitute="{0} + stop_gradient(float(int32({0})) - {0})")
bool_ = composite("bool", "x", lambda x: _cast(x, "bool"), samples=REAL,
                  kinks="a truth value has no derivative", doc="false for 0, else true",
                  traits="cut", substitute="1 - exp(-k*{0}^2), with k how steep")
string = composite("string", "x", lambda x: _cast(x, "string"), samples=REAL,
                   kinks="a text has no derivative", doc="as text", traits="cut")
