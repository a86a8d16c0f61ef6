"""Elementwise operations: arithmetic, powers, exponentials, choices.

A rule is the partial derivative as the formula sheet has it, one per argument, `ans` being the
value. Where the textbook form cancels, a form stands that does not.
Sources: DLMF chapters 4 and 7 for the derivatives; conventions at kinks as in TensorFlow 2.21.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, elementwise
from gradcli.ops.table.discrete import (
    cast_,
    equal,
    floor,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_or,
    trunc,
)
from gradcli.ops.table.shapes import REAL
from gradcli.ops.values import dtype_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

POSITIVE = ((0.1, 4.0),)
INSIDE = ((-0.9, 0.9),)
PAIR = ((-3.0, 3.0), (0.2, 3.0))
LN2 = math.log(2.0)


def typed(result: Any, *operands: Any) -> Any:
    """Return an array of choices in the type of arithmetic on `operands`.

    A choice between plain numbers makes a float64 of a float32.
    """
    return result.astype(np.result_type(np.float32, *operands), copy=False)


def _times(x: Any, y: Any, function: Any) -> Any:
    """Return function(x, y), a product with x, and 0 where x is 0 and y a number."""
    skip = np.equal(x, 0) & np.equal(y, y)
    return typed(np.where(skip, 0.0, function(x, np.where(skip, 1.0, y))), x, y)


def _over(x: Any, y: Any) -> Any:
    """Return x/y, and 0 where y is 0."""
    zero = np.equal(y, 0)
    return typed(np.where(zero, 0.0, x / np.where(zero, 1.0, y)), x, y)


# --- arithmetic -------------------------------------------------------------------------------

add = elementwise(
    "add", "x y", 1.0, 1.0,
    floats=lambda x, y: x + y, arrays="add", samples=PAIR, latex="{0} + {1}", doc="x + y",
    traits="bounded in_pieces zero_at_zero growing", complex_form="arrays", reference="x + y")
subtract = elementwise(
    "subtract", "x y", 1.0, -1.0, aliases="sub",
    floats=lambda x, y: x - y, arrays="subtract", samples=PAIR, latex="{0} - {1}", doc="x - y",
    traits="bounded in_pieces growing", complex_form="arrays", reference="x - y")
multiply = elementwise(
    "multiply", "x y", lambda x, y, ans: y, lambda x, y, ans: x, aliases="mul scalar_mul",
    floats=lambda x, y: x * y, arrays="multiply", samples=PAIR, latex=r"{0} \cdot {1}",
    doc="x * y", traits="true_zeros growing steady", complex_form="arrays", reference="x * y")
divide = elementwise(
    "divide", "x y", lambda x, y, ans: 1 / y, lambda x, y, ans: -(ans / y),
    aliases="div truediv true_divide realdiv",
    floats=lambda x, y: x / y, arrays="divide", samples=PAIR, latex=r"\frac{{{0}}}{{{1}}}",
    domain="y != 0", doc="x / y", traits="true_zeros steady", steep=1, complex_form="arrays",
    reference="x / y")
negative = elementwise(
    "negative", "x", -1.0, aliases="neg",
    floats=lambda x: -x, arrays="negative", samples=REAL, latex="-{0}", doc="-x",
    traits="bounded true_zeros zero_at_zero steady exact", complex_form="arrays", reference="-x")
positive = elementwise(
    "positive", "x", 1.0, aliases="identity",
    floats=lambda x: +x, arrays="positive", samples=REAL, latex="{0}", doc="+x, the same value",
    traits="bounded zero_at_zero steady exact", complex_form="arrays", reference="x")
reciprocal = elementwise(
    "reciprocal", "x", lambda x, ans: -square(ans),
    floats=lambda x: 1 / x, arrays=lambda x: np.divide(1, x), samples=POSITIVE,
    latex=r"\frac{{1}}{{{0}}}", domain="x != 0", doc="1 / x",
    traits="true_zeros never_zero never_flat steady", steep=0, complex_form="arrays",
    reference="1 / x")


def _integer_fmod(x: int, y: int) -> int:
    rest = abs(x) % abs(y)
    return rest if x >= 0 else -rest


mod = elementwise(
    "mod", "x y", 1.0, lambda x, y, ans: -floor(x / y),
    aliases="floormod floor_mod remainder",
    floats=lambda x, y: x % y, integers=lambda x, y: x % y, arrays="mod",
    samples=((0.3, 0.9), (1.1, 3.0)),
    latex=r"{0} \bmod {1}", domain="y != 0", kinks="jumps where x is a multiple of y",
    kink=lambda x, y: equal(mod(x, y), 0.0), doc="x - y*floor(x/y), the sign of y",
    traits="in_pieces", complex_form=lambda x, y: x - y * np.floor(np.real(x) / np.real(y)),
    reference="x - y * mp.floor(x / y)")
fmod = elementwise(
    "fmod", "x y", 1.0, lambda x, y, ans: -trunc(x / y),
    aliases="truncatemod truncate_mod", floats=math.fmod, integers=_integer_fmod, arrays="fmod",
    samples=((-4.5, -3.3), (1.55, 1.6)),
    latex=r"\operatorname{{fmod}}\left({0}, {1}\right)", domain="y != 0",
    kinks="jumps where x is a multiple of y", kink=lambda x, y: equal(fmod(x, y), 0.0),
    doc="x - y*trunc(x/y), the sign of x; TensorFlow's truncatemod, which has no gradient there",
    traits="in_pieces", names="c",
    complex_form=lambda x, y: x - y * np.trunc(np.real(x) / np.real(y)),
    reference="x - y * int(x / y)")
square = elementwise(
    "square", "x", lambda x, ans: 2.0 * x,
    floats=lambda x: x * x, arrays="square", samples=REAL, latex="{0}^2", doc="x^2",
    traits="true_zeros zero_at_zero growing not_negative steady", complex_form="arrays",
    reference="x * x")
squared_difference = elementwise(
    "squared_difference", "x y",
    lambda x, y, ans: 2.0 * (x - y), lambda x, y, ans: 2.0 * (y - x),
    floats=lambda x, y: (x - y) * (x - y), arrays=lambda x, y: np.square(np.subtract(x, y)),
    samples=PAIR, latex=r"\left({0} - {1}\right)^2", doc="(x - y)^2", traits="growing",
    complex_form="arrays", reference="(x - y) ** 2")
lerp = elementwise(
    "lerp", "a b t",
    lambda a, b, t, ans: 1.0 - t, lambda a, b, t, ans: t, lambda a, b, t, ans: b - a,
    floats=lambda a, b, t: a + t * (b - a) if t < 0.5 else b - (1.0 - t) * (b - a),
    arrays=lambda a, b, t: typed(np.where(
        np.less(t, 0.5), a + t * np.subtract(b, a), b - (1.0 - t) * np.subtract(b, a)), a, b, t),
    samples=((-3.0, 3.0), (-3.0, 3.0), (0.0, 1.0)), latex=r"{0} + {2}\left({1} - {0}\right)",
    doc="a + t*(b - a), exactly a at t = 0 and b at t = 1", traits="growing", complex_form="arrays",
    reference="a * (1 - t) + b * t")

# --- arithmetic that answers 0 where there is nothing to calculate ----------------------------

divide_no_nan = elementwise(
    "divide_no_nan", "x y",
    lambda x, y, ans: divide_no_nan(1.0, y), lambda x, y, ans: -divide_no_nan(ans, y),
    aliases="div_no_nan", floats=lambda x, y: x / y if y != 0 else 0.0,
    arrays=_over,
    samples=PAIR, latex=r"\frac{{{0}}}{{{1}}}", kinks="0, with slope 0, where y is 0",
    kink=lambda x, y: equal(y, 0.0), doc="x/y, and 0 where y is 0, whatever x is", steep=1,
    complex_form="arrays", reference="x / y")
multiply_no_nan = elementwise(
    "multiply_no_nan", "x y", lambda x, y, ans: y, lambda x, y, ans: x,
    aliases="mul_no_nan", floats=lambda x, y: x * y if y != 0 else abs(y),
    arrays=lambda x, y: np.where(np.equal(y, 0), 0, np.multiply(x, y)),
    samples=PAIR, latex=r"{0} \cdot {1}", doc="x*y, and 0 where y is 0, even if x is inf or NaN",
    complex_form="arrays", reference="x * y")
reciprocal_no_nan = elementwise(
    "reciprocal_no_nan", "x", lambda x, ans: -square(ans),
    floats=lambda x: 1 / x if x != 0 else 0.0,
    arrays=lambda x: _over(1.0, x),
    samples=POSITIVE, latex=r"\frac{{1}}{{{0}}}", kinks="0, with slope 0, at 0",
    doc="1/x, and 0 where x is 0", steep=0, complex_form="arrays", reference="1 / x")

# --- powers and roots -------------------------------------------------------------------------


def _lowered(x: Any, y: Any) -> Any:
    known = getattr(y, "value", y)
    if known is None:  # a name in a formula that is being written
        return y - 1.0
    if getattr(y, "id", None) is None:
        return _constant_lowered(known)
    return where(logical_and(equal(x, 0.0), equal(y, 0.0)), 1.0, y - 1.0)


def _guarded(x: Any, y: Any) -> Any:
    used = greater(x, 0.0)
    if getattr(y, "value", y) is not None:  # else a name in a formula that is being written
        used = logical_or(used, logical_and(equal(x, 0.0), equal(y, 0.0)))
    return where(used, x, 1.0)


def _constant_lowered(y: Any) -> Any:
    # The factor y = 0 in front makes it 0 for any power, and so to every order.
    if isinstance(y, (int, float)):
        return y - 1.0 if y else 1.0
    return np.where(y == 0, 1.0, y - 1.0)


def _integer_power(x: int, y: int) -> int:
    if y < 0 or y * x.bit_length() > 128:
        raise OverflowError
    return int(x**y)


# 0 * 0^-1 is NaN where the derivative of the polynomial x^0 is 0: there the exponent is not
# lowered. A constant exponent, the usual case, records no test for it.
lowered_exponent = composite(
    "lowered_exponent", "x y", _lowered, floats=lambda x, y: 1.0 if x == 0 == y else y - 1.0,
    arrays=lambda x, y: np.where((x == 0) & (y == 0), 1.0, y - 1.0), samples=PAIR,
    doc="y - 1, the exponent in the derivative of x^y; 1 where x and y are 0", internal=True)
# At x = 0 the logarithm is guarded, as in TensorFlow: d/dy 0^y is 0 for y > 0. Where y is 0, too,
# the slope is -inf, since 0^y jumps from 1 to 0.
guarded_base = composite(
    "guarded_base", "x y", _guarded, floats=lambda x, y: x if x > 0 or x == 0 == y else 1.0,
    arrays=lambda x, y: typed(np.where((x > 0) | ((x == 0) & (y == 0)), x, 1.0), x), samples=PAIR,
    doc="what the logarithm in the derivative of x^y is of: x, and 1 where 0^y is flat",
    internal=True)
power = elementwise(
    "power", "x y",
    lambda x, y, ans: y * power(x, lowered_exponent(x, y)),
    lambda x, y, ans: ans * log(guarded_base(x, y)),
    aliases="pow", floats=math.pow, integers=_integer_power, arrays="power",
    samples=((0.2, 3.0), (-2.0, 3.0)),
    latex="{0}^{{{1}}}", domain="x >= 0, or y whole",
    kinks="d/dy is 0 where x <= 0 (the logarithm is guarded), -inf where x and y are 0",
    doc="x to the power y; constant whole exponents never go through log", traits="vanishing",
    steep=0, complex_form="power", reference="mp.exp(y * mp.log(x))")


def _float_power(x: Any, y: Any) -> Any:
    return power(*[v if dtype_of(getattr(v, "value", v)) == "float64" else cast_(v, "float64")
                   for v in (x, y)])


def _ldexp_array(x: Any, n: Any) -> Any:
    # No float has an exponent beyond 2200; a larger one would not fit NumPy's integer.
    whole = np.equal(np.remainder(n, 1), 0)
    exponent = np.clip(np.where(whole, n, 0), -5000, 5000).astype(np.int64)
    return typed(np.where(whole, np.ldexp(x, exponent), np.nan), x)


float_power = composite(
    "float_power", "x y", _float_power, samples=((0.2, 3.0), (-2.0, 3.0)),
    latex="{0}^{{{1}}}", domain="x >= 0, or y whole",
    doc="x to the power y in 64 bits, whatever the types")
ldexp = elementwise(
    "ldexp", "x n", lambda x, n, ans: ldexp(1.0, n), None, roles=("data", "index"),
    floats=lambda x, n: math.ldexp(x, int(n)) if n % 1 == 0 else math.nan,
    arrays=_ldexp_array, samples=((-3.0, 3.0), (-4.0, 4.0)),
    latex=r"{0} \cdot 2^{{{1}}}", domain="n whole", doc="x * 2^n for a whole n",
    traits="in_pieces growing", complex_form=lambda x, n: x * np.exp2(n),
    reference="x * mpf(2) ** int(n)")
sqrt = elementwise(
    "sqrt", "x", lambda x, ans: 0.5 / ans,
    floats=math.sqrt, arrays="sqrt", samples=POSITIVE, latex=r"\sqrt{{{0}}}", domain="x >= 0",
    kinks="slope inf at 0", doc="square root",
    traits="bounded true_zeros zero_at_zero not_negative steady", steep=0, complex_form="arrays",
    reference="mp.root(x, 2)", guard={"inside": "maximum({}, 1e-12)", "off_edge": "{} + 1e-12"})
cbrt = elementwise(
    "cbrt", "x", lambda x, ans: 1 / (3.0 * square(ans)),
    floats=math.cbrt, arrays="cbrt", samples=POSITIVE, latex=r"\sqrt[3]{{{0}}}",
    kinks="slope inf at 0", doc="cube root, real for negative x", traits="zero_at_zero odd",
    steep=0, whole={0: 0, 1: 1}, names="c sympy", complex_form="cbrt", reference="mp.root(x, 3)",
    guard={"off_edge": "{} + 1e-18"})
rsqrt = elementwise(
    "rsqrt", "x", lambda x, ans: -0.5 * ans / x,
    floats=lambda x: 1 / math.sqrt(x), arrays=lambda x: 1 / np.sqrt(x), samples=POSITIVE,
    latex=r"\frac{{1}}{{\sqrt{{{0}}}}}", domain="x > 0", doc="1/sqrt(x)",
    traits="never_zero never_flat", steep=0, complex_form="arrays", reference="1 / mp.root(x, 2)",
    guard={"inside": "maximum({}, 1e-12)"})
# A row of its own: the derivative of the quotient x/r would be the difference 1/r - x^2/r^3, which
# cancels where x is much larger than y.
unit_part = elementwise(
    "unit_part", "x y",
    lambda x, y, ans: square(unit_part(y, x)) / hypot(x, y),
    lambda x, y, ans: -(ans * unit_part(y, x) / hypot(x, y)),
    floats=lambda x, y: x / math.hypot(x, y), arrays=lambda x, y: x / np.hypot(x, y), samples=PAIR,
    latex=r"\frac{{{0}}}{{\sqrt{{{0}^2 + {1}^2}}}}", doc="x/sqrt(x^2 + y^2)", internal=True,
    complex_form="unit_part", reference="x / mp.hypot(x, y)")
hypot = elementwise(
    "hypot", "x y", lambda x, y, ans: unit_part(x, y), lambda x, y, ans: unit_part(y, x),
    floats=math.hypot, arrays="hypot", samples=PAIR, latex=r"\sqrt{{{0}^2 + {1}^2}}",
    kinks="no derivative at (0, 0)", doc="sqrt(x^2 + y^2) without overflow", names="c",
    complex_form="hypot", reference="mp.root(x * x + y * y, 2)")
# A row of its own: the derivative of the product (1 - x)(1 + x) would be 0 times infinity at 1.
one_minus_square = elementwise(
    "one_minus_square", "x", lambda x, ans: -2.0 * x, floats=lambda x: (1 - x) * (1 + x),
    arrays=lambda x: (1 - x) * (1 + x), samples=REAL, latex=r"1 - {0}^2",
    doc="1 - x^2 without cancellation", internal=True, complex_form="one_minus_square",
    reference="1 - x * x")

# --- exponentials and logarithms --------------------------------------------------------------

exp = elementwise(
    "exp", "x", lambda x, ans: ans,
    floats=math.exp, arrays="exp", samples=REAL, latex="e^{{{0}}}", doc="e^x",
    traits="vanishing never_zero never_flat growing positive", whole={0: 1}, undoes="log > 0",
    names="c sympy", complex_form="arrays")
exp2 = elementwise(
    "exp2", "x", lambda x, ans: 0.6931471805599453 * ans,
    floats=math.exp2, arrays="exp2", samples=REAL, latex="2^{{{0}}}", doc="2^x",
    traits="vanishing never_zero never_flat growing positive", names="c", complex_form="arrays",
    reference="mp.exp(x * mp.log(2))")
expm1 = elementwise(
    "expm1", "x", lambda x, ans: exp(x),
    floats=math.expm1, arrays="expm1", samples=REAL, latex="e^{{{0}}} - 1",
    doc="e^x - 1, exact near 0", traits="true_zeros vanishing zero_at_zero never_flat growing",
    whole={0: 0}, undoes="log1p", names="c", complex_form="arrays", reference="mp.exp(x) - 1")
log = elementwise(
    "log", "x", lambda x, ans: 1 / x, aliases="ln",
    floats=math.log, arrays="log", samples=POSITIVE, latex=r"\ln\left({0}\right)",
    domain="x > 0", doc="natural logarithm", traits="bounded true_zeros never_flat", steep=0,
    whole={1: 0}, undoes="exp", names="c sympy", complex_form="arrays", reference="mp.ln(x)",
    guard={"inside": "maximum({}, 1e-12)"})
log2 = elementwise(
    "log2", "x", lambda x, ans: 1 / (0.6931471805599453 * x),
    floats=math.log2, arrays="log2", samples=POSITIVE, latex=r"\log_2\left({0}\right)",
    domain="x > 0", doc="logarithm to base 2", traits="true_zeros", steep=0, whole={2: 1},
    names="c", complex_form="arrays", reference="mp.ln(x) / mp.ln(2)",
    guard={"inside": "maximum({}, 1e-12)"})
log10 = elementwise(
    "log10", "x", lambda x, ans: 1 / (2.302585092994046 * x), aliases="lg",
    floats=math.log10, arrays="log10", samples=POSITIVE, latex=r"\log_{{10}}\left({0}\right)",
    domain="x > 0", doc="logarithm to base 10", traits="true_zeros", steep=0, whole={10: 1},
    names="c", complex_form="arrays", reference="mp.ln(x) / mp.ln(10)",
    guard={"inside": "maximum({}, 1e-12)"})
log1p = elementwise(
    "log1p", "x", lambda x, ans: 1 / (1 + x),
    floats=math.log1p, arrays="log1p", samples=((-0.5, 3.0),), latex=r"\ln\left(1 + {0}\right)",
    domain="x > -1", doc="log(1 + x), exact near 0", traits="true_zeros zero_at_zero", whole={0: 0},
    undoes="expm1", names="c", complex_form="arrays", reference="mp.ln(1 + x)",
    guard={"inside": "maximum({}, -1 + 1e-12)"})
xlogy = elementwise(
    "xlogy", "x y",
    lambda x, y, ans: log(y),
    lambda x, y, ans: xdivy(x, y),
    floats=lambda x, y: 0.0 if x == 0 and y == y else x * math.log(y),
    arrays=lambda x, y: _times(x, y, lambda x, y: x * np.log(y)),
    samples=((0.2, 3.0), (0.2, 3.0)), latex=r"{0} \ln\left({1}\right)", domain="y > 0, or x = 0",
    doc="x*log(y), and 0 where x is 0", steep=1, complex_form="arrays", reference="x * mp.ln(y)")
xlog1py = elementwise(
    "xlog1py", "x y",
    lambda x, y, ans: log1p(y),
    lambda x, y, ans: xdivy(x, 1 + y),
    floats=lambda x, y: 0.0 if x == 0 and y == y else x * math.log1p(y),
    arrays=lambda x, y: _times(x, y, lambda x, y: x * np.log1p(y)),
    samples=((0.2, 3.0), (0.2, 3.0)), latex=r"{0} \ln\left(1 + {1}\right)",
    domain="y > -1, or x = 0", doc="x*log(1 + y), and 0 where x is 0", complex_form="arrays",
    reference="x * mp.ln(1 + y)")
xdivy = elementwise(
    "xdivy", "x y",
    lambda x, y, ans: where(logical_and(equal(x, 0.0), equal(y, 0.0)), 0.0, 1.0
                            / where(logical_and(equal(x, 0.0), equal(y, 0.0)), 1.0, y)),
    lambda x, y, ans: -xdivy(ans, y),
    floats=lambda x, y: 0.0 if x == 0 and y == y else x / y,
    arrays=lambda x, y: _times(x, y, lambda x, y: x / y),
    samples=PAIR, latex=r"\frac{{{0}}}{{{1}}}", domain="y != 0, or x = 0",
    kinks="0, with slope 0, where x and y are 0",
    kink=lambda x, y: logical_and(equal(x, 0.0), equal(y, 0.0)), doc="x/y, and 0 where x is 0",
    steep=1, complex_form="arrays", reference="x / y")

# --- kinks: absolute value, extrema, choices --------------------------------------------------

absolute = elementwise(
    "abs", "x", lambda x, ans: sign(x), aliases="absolute fabs",
    floats=abs, arrays="abs", samples=POSITIVE, latex=r"\left|{0}\right|",
    kinks="slope 0 at 0", kink=lambda x: equal(x, 0.0), doc="absolute value",
    traits="bounded in_pieces zero_at_zero even not_negative switching steady exact",
    names="c:fabs sympy:Abs",
    complex_form="absolute", reference="mp.fabs(x)")
sign = elementwise(
    "sign", "x", 0.0, aliases="sgn",
    floats=lambda x: x if x != x else 0.0 if x == 0 else math.copysign(1.0, x), arrays="sign",
    samples=POSITIVE, latex=r"\operatorname{{sign}}\left({0}\right)",
    kinks="jumps at 0; slope 0 everywhere", kink=lambda x: equal(x, 0.0),
    doc="-1, 0 or 1; slope 0, as in TensorFlow", traits="in_pieces odd switching exact",
    whole={1: 1, -1: -1}, names="sympy", complex_form=lambda z: np.sign(np.real(z)) + 0j)
maximum = elementwise(
    "maximum", "x y",
    lambda x, y, ans: where(greater_equal(x, y), 1.0, 0.0),
    lambda x, y, ans: where(greater_equal(x, y), 0.0, 1.0),
    floats=lambda x, y: x if x >= y or x != x else y, arrays="maximum", samples=PAIR,
    latex=r"\max\left({0}, {1}\right)", kinks="a tie goes to the first argument",
    kink=lambda x, y: equal(x, y), doc="the larger of two",
    traits="bounded in_pieces selecting zero_at_zero comparing real_only steady exact",
    names="c:fmax sympy:Max",
    complex_form="maximum", reference="max(x, y)")
minimum = elementwise(
    "minimum", "x y",
    lambda x, y, ans: where(less_equal(x, y), 1.0, 0.0),
    lambda x, y, ans: where(less_equal(x, y), 0.0, 1.0),
    floats=lambda x, y: x if x <= y or x != x else y, arrays="minimum", samples=PAIR,
    latex=r"\min\left({0}, {1}\right)", kinks="a tie goes to the first argument",
    kink=lambda x, y: equal(x, y), doc="the smaller of two",
    traits="bounded in_pieces selecting zero_at_zero comparing real_only steady exact",
    names="c:fmin sympy:Min",
    complex_form="minimum", reference="min(x, y)")
clip = elementwise(
    "clip", "x low high",
    lambda x, low, high, ans: where(
        logical_and(greater_equal(x, low), less_equal(x, high)), 1.0, 0.0),
    lambda x, low, high, ans: where(less(x, low), 1.0, 0.0),
    lambda x, low, high, ans: where(greater(x, high), 1.0, 0.0),
    aliases="clip_by_value clamp",
    floats=lambda x, low, high: (
        max(min(x, high), low) if x == x and low == low and high == high else math.nan),
    arrays=lambda x, low, high: np.maximum(np.minimum(x, high), low),
    samples=((-2.0, 2.0), (-1.0, -0.5), (0.5, 1.0)),
    latex=r"\operatorname{{clip}}\left({0}, {1}, {2}\right)",
    kinks="slope 1 inside and on both bounds, 0 outside",
    kink=lambda x, low, high: logical_or(equal(x, low), equal(x, high)),
    doc="x kept between low and high",
    traits="in_pieces selecting real_only exact", complex_form="clip",
    reference="min(max(x, low), high)")
copysign = elementwise(
    "copysign", "x y", lambda x, y, ans: sign(x) * copysign(1.0, y), 0.0,
    floats=math.copysign, arrays="copysign", samples=PAIR,
    latex=r"\operatorname{{copysign}}\left({0}, {1}\right)",
    kinks="slope 0 at x = 0; jumps at y = 0", kink=lambda x, y: logical_or(
        equal(x, 0.0), equal(y, 0.0)), doc="|x| with the sign of y", traits="in_pieces selecting",
    names="c",
    complex_form=lambda x, y: np.where(np.signbit(np.real(x)) == np.signbit(np.real(y)), x, -x),
    reference="mp.fabs(x) * (1 if y > 0 else -1)")
where = elementwise(
    "where", "condition x y",
    None, lambda c, x, y, ans: where(c, 1.0, 0.0), lambda c, x, y, ans: where(c, 0.0, 1.0),
    aliases="select", floats=lambda c, x, y: x if c else y, arrays="where",
    roles=("condition", "data", "data"), samples=((0.0, 1.0), *PAIR),
    latex=r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
    kinks="the condition has no derivative",
    substitute="sigmoid(k*(a - b)) for the condition a > b",
    doc="x where the condition holds, else y",
    traits="bounded in_pieces selecting zero_at_zero steady exact",
    complex_form="arrays", reference="x if condition else y")


def _smoothstep(low: Any, high: Any, x: Any) -> Any:
    t = clip(divide(subtract(x, low), subtract(high, low)), 0.0, 1.0)
    return multiply(multiply(t, t), subtract(3.0, multiply(2.0, t)))


smoothstep = composite(
    "smoothstep", "low high x", _smoothstep, samples=((-2.0, -1.0), (1.0, 2.0), (-0.9, 0.9)),
    domain="low != high", doc="3*t^2 - 2*t^3 with t = (x - low)/(high - low) kept in 0..1")
threshold = composite(
    "threshold", "x", lambda x, threshold=0.0, value=0.0: where(greater(x, threshold), x, value),
    attributes={"threshold": 0.0, "value": 0.0}, samples=REAL,
    kinks="slope 0 at the threshold", doc="x where it is above the threshold, else the value",
    traits="selecting")

LARGEST = {"float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38}


def _nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    largest = LARGEST.get(dtype_of(getattr(x, "value", x)))
    if largest is None:  # an integer
        return positive(x)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    number = where(isnan(x), nan, x)
    return where(equal(x, math.inf), high, where(equal(x, -math.inf), low, number))


nan_to_num = composite(
    "nan_to_num", "x", _nan_to_num, attributes={"nan": 0.0, "posinf": None, "neginf": None},
    samples=REAL, kinks="slope 0 where x is not finite",
    doc="x with NaN as 0 and infinities as the largest numbers, or as the options say")
