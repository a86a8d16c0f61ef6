"""Elementwise operations on complex numbers whose imaginary part is tiny, for the complex step.

What NumPy computes for complex numbers, and is analytic, needs nothing. Here are the others: those
with a kink continue the branch that the real part chooses, those that overflow or cancel are
written otherwise. None of this knows a rule of the operation table.
"""

from __future__ import annotations

from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543773
DEGREE = 0.017453292519943295
SERIES = 0.05       # sinc is its power series up to here


def _one_minus_square(z: Any) -> Any:
    """With an imaginary part that is no difference of two that are almost the same."""
    x, y = np.real(z), np.imag(z)
    return (1.0 - x) * (1.0 + x) + y * y - 2j * x * y


def log1p(z: Any) -> Any:
    """Exact for small z, as NumPy's for complex numbers is not."""
    return np.log1p(np.real(z)) + 1j * np.arctan2(np.imag(z), 1.0 + np.real(z))


def absolute(z: Any) -> Any:
    """|x| on the side of x."""
    return np.where(np.real(z) < 0, -z, z)


def whole_power(z: Any, n: Any) -> Any:
    """z^n for whole n: a negative z has no logarithm close to the real axis."""
    sign = np.where((np.real(z) < 0) & (np.fmod(n, 2.0) != 0), -1.0, 1.0)
    return sign * np.power(absolute(z), n)


def power(x: Any, y: Any) -> Any:
    """x^y; of a negative x for whole y that do not move."""
    whole = (np.real(x) < 0) & (np.real(y) == np.trunc(np.real(y))) & (np.imag(y) == 0)
    return np.where(whole, whole_power(x, np.real(y)), np.power(x + 0j, y))


def _larger(x: Any, y: Any) -> Any:
    return np.where(np.real(x) >= np.real(y), x, y)


def _smaller(x: Any, y: Any) -> Any:
    return np.where(np.real(x) <= np.real(y), x, y)


def _clip(x: Any, low: Any, high: Any) -> Any:
    return _smaller(_larger(x, low), high)


def _cbrt(z: Any) -> Any:
    return np.sign(np.real(z)) * np.power(absolute(z) + 0j, 1.0 / 3.0)


def _hypot(x: Any, y: Any) -> Any:
    scale = np.maximum(np.abs(np.real(x)), np.abs(np.real(y)))
    scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
    return np.sqrt((x / scale) * (x / scale) + (y / scale) * (y / scale)) * scale


def _atan2(y: Any, x: Any) -> Any:
    a, b = np.real(y), np.real(x)
    steep = np.abs(a) > np.abs(b)
    turned = np.where(steep, np.copysign(np.pi / 2, a), np.where(b < 0, np.copysign(np.pi, a), 0.0))
    return turned + np.where(steep, -np.arctan(x / y + 0j), np.arctan(y / x + 0j))


def sigmoid(z: Any) -> Any:
    """1/(1 + exp(-z)) without overflow."""
    small = np.exp(-absolute(z))
    return np.where(np.real(z) < 0, small, 1.0) / (1.0 + small)


def _softplus(z: Any) -> Any:
    return np.where(np.real(z) >= 0, z, 0.0) + log1p(np.exp(-absolute(z)))


def _logcosh(z: Any) -> Any:
    size, half = absolute(z), np.sinh(np.where(np.abs(np.real(z)) < 1.0, z, 0.0) / 2.0)
    return np.where(np.real(size) < 1.0, log1p(2.0 * half * half),
                    size + log1p(np.exp(-2.0 * size)) - np.log(2.0))


def _logaddexp(x: Any, y: Any) -> Any:
    return _larger(x, y) + log1p(np.exp(-absolute(x - y)))


def _elu(z: Any) -> Any:
    return np.where(np.real(z) > 0, z, np.expm1(np.where(np.real(z) > 0, 0.0, z)))


def _sinc(z: Any) -> Any:
    t, u = np.pi * z, (np.pi * z) * (np.pi * z)
    small = np.abs(np.real(z)) < SERIES
    near = 1.0 - u / 6.0 * (1.0 - u / 20.0 * (1.0 - u / 42.0 * (1.0 - u / 72.0 * (
        1.0 - u / 110.0))))
    return np.where(small, near, np.sin(t) / np.where(small, 1.0, t))


CONTINUED: dict[str, Any] = {
    "power": power, "one_minus_square": _one_minus_square, "abs": absolute,
    "sign": lambda z: np.sign(np.real(z)) + 0j,
    "maximum": _larger, "minimum": _smaller, "clip": _clip,
    "copysign": lambda x, y: np.where(np.signbit(np.real(x)) == np.signbit(np.real(y)), x, -x),
    "mod": lambda x, y: x - y * np.floor(np.real(x) / np.real(y)),
    "fmod": lambda x, y: x - y * np.trunc(np.real(x) / np.real(y)),
    "ldexp": lambda x, n: x * np.exp2(n), "cbrt": _cbrt, "hypot": _hypot,
    "unit_part": lambda x, y: x / _hypot(x, y), "atan2": _atan2,
    "radians": lambda z: z * DEGREE, "degrees": lambda z: z / DEGREE,
    "acoth": lambda z: np.arctanh(1.0 / z), "sigmoid": sigmoid, "silu": lambda z: z * sigmoid(z),
    "softplus": _softplus, "log_sigmoid": lambda z: -_softplus(-z), "logcosh": _logcosh,
    "logaddexp": _logaddexp, "softsign": lambda z: z / (1.0 + absolute(z)),
    "relu": lambda z: np.where(np.real(z) > 0, z, 0.0), "relu6": lambda z: _clip(z, 0.0, 6.0),
    "prelu": lambda z, slope: np.where(np.real(z) > 0, z, slope * z), "elu": _elu,
    "selu": lambda z: SELU_SCALE * np.where(np.real(z) > 0, z, SELU_ALPHA * _elu(z)),
    "hard_sigmoid": lambda z: _clip(z + 3.0, 0.0, 6.0) / 6.0, "sinc": _sinc}
