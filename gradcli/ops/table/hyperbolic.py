"""Hyperbolic functions and their inverses.

Where the textbook form of a slope cancels, the form that does not is used: 1/cosh^2 for the slope
of tanh, (1-x)(1+x) for 1-x^2, hypot(1, x) for sqrt(1+x^2).

Source: DLMF 4.34 and 4.37 for the derivatives and the inverses.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.ops.kinds import elementwise
from gradcli.ops.table.elementwise import (
    INSIDE,
    POSITIVE,
    absolute,
    hypot,
    one_minus_square,
    rsqrt,
    sqrt,
    square,
    typed,
)
from gradcli.ops.table.shapes import REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# From here on e^-x is nothing next to e^x.
FAR = 40.0
# cosh(x) a little before.
NEAR = 1e17
# Below, 1/x may overflow, and x is nothing next to it.
TINY = 1e-300
LOG_2 = 0.6931471805599453


def _sech(x: float) -> float:
    if abs(x) < FAR:
        return 1 / math.cosh(x)
    half = math.exp(-0.5 * abs(x))  # the whole would lose its digits below the normal numbers
    return 2.0 * half * half


def _sech_array(x: Any) -> Any:
    if np.iscomplexobj(x):
        return 1 / np.cosh(x)
    x = x + 0.0  # of truth values NumPy makes 16 bits
    whole = np.cosh(x)
    if np.maximum.reduce(whole, axis=None, initial=0.0) < NEAR:
        return 1 / whole
    half = np.exp(-0.5 * np.abs(x))
    return typed(np.where(np.abs(x) < FAR, 1 / whole, 2.0 * half * half), x)


def _csch_array(x: Any) -> Any:
    if np.iscomplexobj(x):
        return 1 / np.sinh(x)
    x = x + 0.0
    return typed(np.where(np.abs(x) < FAR, 1 / np.sinh(x), np.copysign(_sech_array(x), x)), x)


def _asech(x: float) -> float:
    if 0.0 < x < TINY:
        return LOG_2 - math.log(x)
    # 1/x is 1 + (1-x)/x: near 1 its logarithm has all digits of 1 - x.
    return math.log1p(((1 - x) + math.sqrt((1 - x) * (1 + x))) / x)


def _asech_array(x: Any) -> Any:
    root = np.sqrt((1 - x) * (1 + x))
    if np.iscomplexobj(x):
        return np.log((1 + root) / x)
    found = np.log1p(((1 - x) + root) / x)
    return typed(np.where((x > 0.0) & (x < TINY), LOG_2 - np.log(np.abs(x)), found), x)


def _acsch(x: float) -> float:
    if 0.0 < abs(x) < TINY:
        return math.copysign(LOG_2 - math.log(abs(x)), x)
    return math.asinh(1 / x)


def _acsch_array(x: Any) -> Any:
    found = np.arcsinh(1 / x)
    if np.iscomplexobj(x):
        return found
    size = np.abs(x)
    return typed(np.where((size > 0.0) & (size < TINY), np.copysign(
        LOG_2 - np.log(size), x), found), x)


sinh = elementwise(
    "sinh", "x", lambda x, ans: cosh(x), aliases="sh",
    floats=math.sinh, arrays="sinh", samples=REAL, latex=r"\sinh\left({0}\right)",
    doc="hyperbolic sine", traits="true_zeros zero_at_zero growing odd", whole={0: 0},
    undoes="asinh", names="c sympy", complex_form="arrays")
cosh = elementwise(
    "cosh", "x", lambda x, ans: sinh(x), aliases="ch",
    floats=math.cosh, arrays="cosh", samples=REAL, latex=r"\cosh\left({0}\right)",
    doc="hyperbolic cosine", traits="growing even positive", whole={0: 1}, undoes="acosh",
    names="c sympy", complex_form="arrays")
tanh = elementwise(
    "tanh", "x", lambda x, ans: square(sech(x)), aliases="th",
    floats=math.tanh, arrays="tanh", samples=REAL, latex=r"\tanh\left({0}\right)",
    doc="hyperbolic tangent", traits="bounded true_zeros vanishing zero_at_zero never_flat odd",
    whole={0: 0}, undoes="atanh", names="c sympy", complex_form="arrays")
sech = elementwise(
    "sech", "x", lambda x, ans: -(ans * tanh(x)),
    floats=_sech, arrays=_sech_array, samples=REAL,
    latex=r"\operatorname{{sech}}\left({0}\right)", doc="1/cosh(x)",
    traits="vanishing never_zero even positive", whole={0: 1}, names="sympy", complex_form="arrays")
csch = elementwise(
    "csch", "x", lambda x, ans: -(ans * coth(x)), aliases="cosech",
    floats=lambda x: 1 / math.sinh(x) if abs(x) < FAR else math.copysign(_sech(x), x),
    arrays=_csch_array, samples=POSITIVE,
    latex=r"\operatorname{{csch}}\left({0}\right)", domain="x != 0", doc="1/sinh(x)",
    traits="vanishing never_zero never_flat odd", names="sympy", complex_form="arrays")
coth = elementwise(
    "coth", "x", lambda x, ans: -square(csch(x)), aliases="cth",
    floats=lambda x: 1 / math.tanh(x), arrays=lambda x: 1 / np.tanh(x), samples=POSITIVE,
    latex=r"\coth\left({0}\right)", domain="x != 0", doc="1/tanh(x)", traits="never_flat odd",
    names="sympy", complex_form="arrays")
asinh = elementwise(
    "asinh", "x", lambda x, ans: 1 / hypot(1.0, x), aliases="arcsinh arsinh",
    floats=math.asinh, arrays="arcsinh", samples=REAL,
    latex=r"\operatorname{{arsinh}}\left({0}\right)", doc="inverse hyperbolic sine",
    traits="true_zeros zero_at_zero odd", whole={0: 0}, undoes="sinh", names="c sympy",
    complex_form="arrays")
acosh = elementwise(
    "acosh", "x", lambda x, ans: rsqrt(x - 1) * rsqrt(x + 1), aliases="arccosh arcosh",
    floats=math.acosh, arrays="arccosh", samples=((1.2, 4.0),),
    latex=r"\operatorname{{arcosh}}\left({0}\right)", domain="x >= 1", kinks="slope inf at 1",
    doc="inverse hyperbolic cosine", traits="true_zeros", names="c sympy", complex_form="arrays",
    guard={"inside": "maximum({}, 1 + 1e-12)", "off_edge": "{} + 1e-12", "harmless": "2"})
atanh = elementwise(
    "atanh", "x", lambda x, ans: 1 / one_minus_square(x), aliases="arctanh artanh",
    floats=math.atanh, arrays="arctanh", samples=INSIDE,
    latex=r"\operatorname{{artanh}}\left({0}\right)", domain="-1 < x < 1",
    doc="inverse hyperbolic tangent", traits="true_zeros zero_at_zero odd", undoes="tanh",
    names="c sympy", complex_form="arrays",
    guard={"inside": "clip({}, -1 + 1e-12, 1 - 1e-12)", "harmless": "0"})
asech = elementwise(
    "asech", "x", lambda x, ans: -1 / (x * sqrt(one_minus_square(x))), aliases="arcsech arsech",
    floats=_asech, arrays=_asech_array, samples=((0.1, 0.9),),
    latex=r"\operatorname{{arsech}}\left({0}\right)", domain="0 < x <= 1",
    kinks="slope -inf at 1", doc="inverse hyperbolic secant, acosh(1/x)", names="sympy",
    complex_form="arrays")
acsch = elementwise(
    "acsch", "x", lambda x, ans: -1 / (absolute(x) * hypot(1.0, x)), aliases="arccsch arcsch",
    floats=_acsch, arrays=_acsch_array, samples=POSITIVE,
    latex=r"\operatorname{{arcsch}}\left({0}\right)", domain="x != 0",
    doc="inverse hyperbolic cosecant, asinh(1/x)", names="sympy", complex_form="arrays")
# atanh(1/x) loses digits near |x| = 1, where 1/x does; the logarithm of 1 + 2/(|x|-1) does not.
acoth = elementwise(
    "acoth", "x", lambda x, ans: 1 / one_minus_square(x), aliases="arccoth arcoth",
    floats=lambda x: math.copysign(0.5 * math.log1p(2 / (abs(x) - 1)), x),
    arrays=lambda x: np.copysign(0.5 * np.log1p(2 / (np.abs(x) - 1)), x), samples=((1.2, 4.0),),
    latex=r"\operatorname{{arcoth}}\left({0}\right)", domain="x < -1 or x > 1",
    doc="inverse hyperbolic cotangent, atanh(1/x)", names="sympy",
    complex_form=lambda z: np.arctanh(1.0 / z))
