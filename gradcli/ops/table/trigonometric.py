"""Trigonometric functions, their inverses, and angles.

Where the textbook form of a derivative cancels, the form that does not is used: (1-x)(1+x) for
1-x^2. Source: DLMF chapter 4.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.ops.kinds import elementwise
from gradcli.ops.table.elementwise import (
    INSIDE,
    PAIR,
    absolute,
    hypot,
    one_minus_square,
    sqrt,
    square,
    typed,
    unit_part,
)
from gradcli.ops.table.shapes import REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# --- trigonometric functions and their inverses -----------------------------------------------

sin = elementwise(
    "sin", "x", lambda x, ans: cos(x),
    floats=math.sin, arrays="sin", samples=REAL, latex=r"\sin\left({0}\right)", doc="sine",
    traits="bounded true_zeros zero_at_zero odd of_angle", whole={0: 0}, undoes="asin",
    names="c sympy", complex_form="arrays")
cos = elementwise(
    "cos", "x", lambda x, ans: -sin(x),
    floats=math.cos, arrays="cos", samples=REAL, latex=r"\cos\left({0}\right)", doc="cosine",
    traits="bounded true_zeros even of_angle", whole={0: 1}, undoes="acos", names="c sympy",
    complex_form="arrays")
tan = elementwise(
    "tan", "x", lambda x, ans: square(sec(x)), aliases="tg",
    floats=math.tan, arrays="tan", samples=((-1.2, 1.2),), latex=r"\tan\left({0}\right)",
    domain="x != pi/2 + k*pi", doc="tangent", traits="true_zeros zero_at_zero odd of_angle",
    whole={0: 0}, undoes="atan", names="c sympy", complex_form="arrays", guard={"harmless": "0"})
sec = elementwise(
    "sec", "x", lambda x, ans: ans * tan(x),
    floats=lambda x: 1 / math.cos(x), arrays=lambda x: 1 / np.cos(x), samples=((-1.2, 1.2),),
    latex=r"\sec\left({0}\right)", domain="x != pi/2 + k*pi", doc="secant, 1/cos(x)",
    traits="even of_angle", whole={0: 1}, names="sympy", complex_form="arrays")
csc = elementwise(
    "csc", "x", lambda x, ans: -(ans * cot(x)), aliases="cosec",
    floats=lambda x: 1 / math.sin(x), arrays=lambda x: 1 / np.sin(x), samples=((0.3, 2.8),),
    latex=r"\csc\left({0}\right)", domain="x != k*pi", doc="cosecant, 1/sin(x)",
    traits="odd of_angle", names="sympy", complex_form="arrays")
cot = elementwise(
    "cot", "x", lambda x, ans: -square(csc(x)), aliases="ctg cotan",
    floats=lambda x: 1 / math.tan(x), arrays=lambda x: 1 / np.tan(x), samples=((0.3, 2.8),),
    latex=r"\cot\left({0}\right)", domain="x != k*pi", doc="cotangent, 1/tan(x)",
    traits="odd of_angle", names="sympy", complex_form="arrays")
asin = elementwise(
    "asin", "x", lambda x, ans: 1 / sqrt(one_minus_square(x)), aliases="arcsin",
    floats=math.asin, arrays="arcsin", samples=INSIDE, latex=r"\arcsin\left({0}\right)",
    domain="-1 <= x <= 1", kinks="slope inf at -1 and 1", doc="inverse sine",
    traits="true_zeros zero_at_zero odd angle", whole={0: 0}, names="c sympy",
    complex_form="arrays",
    guard={"inside": "clip({}, -1 + 1e-12, 1 - 1e-12)", "off_edge": "(1 - 1e-12)*{}",
           "harmless": "0"})
acos = elementwise(
    "acos", "x", lambda x, ans: -1 / sqrt(one_minus_square(x)), aliases="arccos",
    floats=math.acos, arrays="arccos", samples=INSIDE, latex=r"\arccos\left({0}\right)",
    domain="-1 <= x <= 1", kinks="slope -inf at -1 and 1", doc="inverse cosine",
    traits="true_zeros angle", names="c sympy", complex_form="arrays",
    guard={"inside": "clip({}, -1 + 1e-12, 1 - 1e-12)", "off_edge": "(1 - 1e-12)*{}",
           "harmless": "0"})
atan = elementwise(
    "atan", "x", lambda x, ans: 1 / (1 + square(x)), aliases="arctan arctg",
    floats=math.atan, arrays="arctan", samples=REAL, latex=r"\arctan\left({0}\right)",
    doc="inverse tangent", traits="bounded true_zeros zero_at_zero never_flat odd angle",
    whole={0: 0}, names="c sympy", complex_form="arrays")
atan2 = elementwise(
    "atan2", "y x",
    lambda y, x, ans: unit_part(x, y) / hypot(x, y),
    lambda y, x, ans: -(unit_part(y, x) / hypot(x, y)), aliases="arctan2",
    floats=math.atan2, arrays="arctan2", samples=PAIR,
    latex=r"\operatorname{{atan2}}\left({0}, {1}\right)",
    kinks="no derivative at (0, 0)", doc="angle of the point (x, y), in radians", traits="angle",
    names="c sympy", complex_form="atan2")


def _asec(x: float) -> float:
    # 1/x loses the digits of x - 1.
    angle = math.atan(math.sqrt(abs(x) - 1) * math.sqrt(abs(x) + 1))
    return angle if x > 0 else math.pi - angle


def _asec_array(x: Any) -> Any:
    if np.iscomplexobj(x):
        return np.arccos(1 / x)
    size = np.abs(x)
    angle = np.arctan(np.sqrt(size - 1) * np.sqrt(size + 1))
    return typed(np.where(np.less(x, 0), math.pi - angle, angle), x)


asec = elementwise(
    "asec", "x", lambda x, ans: 1 / (absolute(x) * (sqrt(absolute(x) - 1) * sqrt(absolute(x) + 1))),
    aliases="arcsec", floats=_asec, arrays=_asec_array,
    samples=((1.2, 4.0),), latex=r"\operatorname{{arcsec}}\left({0}\right)",
    domain="x <= -1 or x >= 1", kinks="slope inf at -1 and 1", doc="inverse secant, acos(1/x)",
    traits="angle real_only", names="sympy", complex_form="arrays")
def _acsc(x: float) -> float:
    if not 1 <= abs(x) < 1.1:
        return math.asin(1 / x)
    return math.copysign(math.atan2(1.0, math.sqrt(abs(x) - 1) * math.sqrt(abs(x) + 1)), x)


def _acsc_array(x: Any) -> Any:
    if np.iscomplexobj(x):
        return np.arcsin(1 / x)
    size = np.abs(x)
    near = np.arctan2(1.0, np.sqrt(size - 1) * np.sqrt(size + 1))
    return typed(np.where((size >= 1) & (size < 1.1), np.copysign(near, x), np.arcsin(1 / x)), x)


acsc = elementwise(
    "acsc", "x",
    lambda x, ans: -1 / (absolute(x) * (sqrt(absolute(x) - 1) * sqrt(absolute(x) + 1))),
    aliases="arccsc arccosec", floats=_acsc, arrays=_acsc_array,
    samples=((1.2, 4.0),),
    latex=r"\operatorname{{arccsc}}\left({0}\right)", domain="x <= -1 or x >= 1",
    kinks="slope -inf at -1 and 1", doc="inverse cosecant, asin(1/x)", traits="odd angle real_only",
    names="sympy", complex_form="arrays")
acot = elementwise(
    "acot", "x", lambda x, ans: -1 / (1 + square(x)), aliases="arccot arcctg",
    floats=lambda x: math.atan(1 / x), arrays=lambda x: np.arctan(1 / x), samples=((0.2, 3.0),),
    latex=r"\operatorname{{arccot}}\left({0}\right)", domain="x != 0",
    kinks="jumps from -pi/2 to pi/2 at 0", doc="inverse cotangent, atan(1/x)", traits="odd angle",
    names="sympy", complex_form="arrays", reference="mp.atan(1 / x)")

# --- angles -----------------------------------------------------------------------------------

radians = elementwise(
    "radians", "x", 0.017453292519943295, aliases="deg2rad",
    floats=math.radians, arrays="radians", samples=REAL, latex=r"{0}^\circ",
    doc="degrees to radians", complex_form=lambda z: z * 0.017453292519943295,
    reference="x * mp.pi / 180")
degrees = elementwise(
    "degrees", "x", 57.29577951308232, aliases="rad2deg",
    floats=math.degrees, arrays="degrees", samples=REAL,
    latex=r"\operatorname{{degrees}}\left({0}\right)", doc="radians to degrees",
    complex_form=lambda z: z / 0.017453292519943295, reference="x * 180 / mp.pi")
