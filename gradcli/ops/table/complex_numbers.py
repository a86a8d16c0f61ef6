"""Complex numbers: parts, conjugate, modulus.

Gradients follow TensorFlow's convention: that of a real function is the direction of steepest
ascent, so d|z|^2 is 2z and of a holomorphic function f it is conj(f'(z)) times the upstream
gradient. The sweeps conjugate around the rules of holomorphic operations; those here are not
holomorphic, and their rules are used unchanged.

Source of the convention: Kreutz-Delgado, The Complex Gradient Operator and the CR-Calculus (2009).
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import general
from gradcli.ops.table.elementwise import absolute, divide, multiply
from gradcli.ops.table.shapes import REAL, broadcast_to, sum_to
from gradcli.ops.values import broadcast_shape, is_complex, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape



def _given(tangents: Any) -> Any:
    return tangents[0]


conj = general(
    "conj", "x", lambda g, ans, x: conj(g), jvp=lambda ts, ans, x: conj(_given(ts)),
    aliases="conjugate", arrays=lambda cores, x: np.conj(x), samples=REAL, holomorphic=False,
    latex=r"\overline{{{0}}}", doc="the complex conjugate")
real = general(
    "real", "x", lambda g, ans, x: _wide(g, x), jvp=lambda ts, ans, x: real(_given(ts)),
    arrays=lambda cores, x: np.real(x), samples=REAL, holomorphic=False,
    latex=r"\operatorname{{Re}}\left({0}\right)", doc="the real part")
imag = general(
    "imag", "x", lambda g, ans, x: _turned(g, x), jvp=lambda ts, ans, x: imag(_given(ts)),
    arrays=lambda cores, x: np.imag(x) + 0.0, samples=REAL, holomorphic=False,
    latex=r"\operatorname{{Im}}\left({0}\right)", doc="the imaginary part")


def _within(g: Any, ans: Any, part: Any) -> Any:
    """Return the sum over the axes along which a part was spread."""
    shape = shape_of(part)
    return g if shape_of(ans) == shape else sum_to(g, shape=shape)


def _together(shapes: Sequence[Shape]) -> dict[str, Any]:
    broadcast_shape("complex", shapes)
    return {}


make_complex = general(
    "complex", "re im", lambda g, ans, re, im: _within(real(g), ans, re),
    lambda g, ans, re, im: _within(imag(g), ans, im),
    jvp=lambda ts, ans, re, im: _from_parts(ts, re, im),
    arrays=lambda cores, re, im: np.asarray(re) + 1j * np.asarray(im), prepare=_together,
    samples=REAL * 2,
    holomorphic=False, latex=r"{0} + i\,{1}", doc="a complex number from its parts")
modulus = general(
    "modulus", "x", lambda g, ans, x: multiply(_wide(g, x), _direction(x, ans)),
    jvp=lambda ts, ans, x: real(multiply(conj(_direction(x, ans)), _given(ts))),
    arrays=lambda cores, x: np.abs(x), samples=REAL, holomorphic=False,
    latex=r"\left|{0}\right|",
    kinks="at 0 the direction is 0", doc="the absolute value of complex numbers", internal=True)
angle = general(
    "angle", "x", lambda g, ans, x: multiply(_turned(g, x), _over_square(x)),
    jvp=lambda ts, ans, x: imag(multiply(conj(_over_square(x)), _given(ts))),
    arrays=lambda cores, x: np.angle(x) + 0.0, samples=((0.5, 3.0),), holomorphic=False,
    latex=r"\arg\left({0}\right)", doc="the argument of a complex number, in radians")
absolute.on_complex = modulus


def refuse(name: str) -> Exception:
    """Return the error for an operation that complex numbers do not have."""
    return error("E0302", f"`{name}` needs real numbers, and complex ones have no order",
                 help="take abs(z), real(z) or imag(z) first")


def _wide(g: Any, x: Any) -> Any:
    """Return a real cotangent as a number of the operand's type."""
    return make_complex(g, multiply(g, 0.0)) if is_complex(x) else g


def _turned(g: Any, x: Any) -> Any:
    """Return i*g."""
    return make_complex(multiply(g, 0.0), g) if is_complex(x) else multiply(g, 0.0)


def _from_parts(tangents: Any, re: Any, im: Any) -> Any:
    shape = broadcast_shape("complex", [shape_of(re), shape_of(im)])
    parts = [multiply(x, 0.0) if t is None else t for t, x in zip(tangents, (re, im), strict=True)]
    if shape_of(re) != shape_of(im):
        parts = [broadcast_to(part, shape=shape) for part in parts]
    return make_complex(*parts)


def _direction(x: Any, ans: Any) -> Any:
    """Return z/|z|, 0 at 0."""
    return divide(x, _wide(_no_zero(ans), x))


def _no_zero(r: Any) -> Any:
    from gradcli.ops.kinds import NAMES

    return NAMES["where"](NAMES["equal"](r, 0.0), 1.0, r)


def _over_square(x: Any) -> Any:
    """Return z/|z|^2."""
    return divide(1.0, conj(x)) if is_complex(x) else divide(1.0, x)
