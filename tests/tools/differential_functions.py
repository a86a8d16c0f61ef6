"""Functions of mpmath numbers with their first and second derivatives, written from definitions.

Each stays exact where its arguments or values are beyond what floats hold, and raises where there
is no value: `differential_jets` makes NaN of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

PRECISION = 300
# A value with a larger exponent than this many bits is beyond what any double comes from.
TOO_LARGE = mp.mpf(2) ** 4000
NAN = mp.nan


class Undecided(Exception):
    """A choice lies on its boundary: what a float decides there says nothing."""


def e(x: Any) -> Any:
    """exp, also of what is far beyond the floats."""
    if abs(x) > TOO_LARGE:
        if x > 0:
            raise OverflowError
        return mp.mpf(0)
    return mp.exp(x)


def _bounded(function: Callable[[Any], Any], limit: float = 1e5) -> Callable[[Any], Any]:
    """Functions that mpmath calculates in reasonable time up to a limit only."""
    def limited(x: Any) -> Any:
        if abs(x) > limit:
            raise OverflowError
        return function(x)
    return limited


def _sinh(x: Any) -> Any:
    return mp.sinh(x) if abs(x) < 1000 else mp.sign(x) * e(abs(x)) / 2


def _cosh(x: Any) -> Any:
    return mp.cosh(x) if abs(x) < 1000 else e(abs(x)) / 2


def _tanh(x: Any) -> Any:
    return mp.tanh(x) if abs(x) < 1000 else mp.sign(x)


def _hyperbolic(x: Any, kind: str) -> Any:
    s, c, t = _sinh(x), _cosh(x), _tanh(x)
    if kind == "tanh":
        return t, 1 / c**2, -2 * t / c**2
    if kind == "sech":
        return 1 / c, -t / c, (t * t - 1 / c**2) / c
    if kind == "csch":
        return 1 / s, -1 / (t * s), (1 / t**2 + 1 / s**2) / s
    return 1 / t, -1 / s**2, 2 / (t * s**2)


def _circular(x: Any, kind: str) -> Any:
    if abs(x) > TOO_LARGE:
        raise OverflowError
    s, c = mp.sin(x), mp.cos(x)
    if kind == "sin":
        return s, c, -s
    if kind == "cos":
        return c, -s, -c
    if kind == "tan":
        return s / c, 1 / c**2, 2 * s / c**3
    if kind == "sec":
        return 1 / c, s / c**2, (1 + s * s) / c**3
    if kind == "csc":
        return 1 / s, -c / s**2, (1 + c * c) / s**3
    return c / s, -1 / s**2, 2 * c / s**3


def _sigmoid(x: Any) -> Any:
    d = e(-abs(x))
    value = 1 / (1 + d) if x >= 0 else d / (1 + d)
    slope = d / (1 + d) ** 2
    return value, slope, -slope * _tanh(x / 2)


def _softplus(x: Any) -> Any:
    s, slope, _ = _sigmoid(x)
    return max(x, mp.mpf(0)) + mp.log1p(e(-abs(x))), s, slope


def _log_sigmoid(x: Any) -> Any:
    value, s, slope = _softplus(-x)
    return -value, s, -slope


def _silu(x: Any) -> Any:
    s, d, dd = _sigmoid(x)
    return x * s, s + x * d, 2 * d + x * dd


def _normal(x: Any) -> Any:
    density = e(-x * x / 2) / mp.sqrt(2 * mp.pi)
    if x > 1e9:
        return mp.mpf(1), density
    return (mp.erfc(-x / mp.sqrt(2)) / 2 if x > -1e9 else mp.mpf(0)), density


def _gelu(x: Any) -> Any:
    p, d = _normal(x)
    return x * p, p + x * d, (2 - x * x) * d


def _ndtr(x: Any) -> Any:
    p, d = _normal(x)
    return p, d, -x * d


def _log_ndtr(x: Any) -> Any:
    if x < -1e5:
        raise OverflowError
    p, d = _normal(x)
    with mp.workprec(PRECISION + 100):
        r = d / p
        return (mp.log1p(-_normal(-x)[0]) if x > 0 else mp.log(p)), r, -r * (x + r)


def _power(x: Any, y: Any, fixed: bool) -> Any:
    p = _real_power
    if fixed:
        return (p(x, y), y * p(x, y - 1) if y else mp.mpf(0), None,
                y * (y - 1) * p(x, y - 2) if y * (y - 1) else mp.mpf(0), None, None)
    if x <= 0:
        raise ValueError
    value, log = p(x, y), mp.log(x)
    return (value, y * p(x, y - 1), value * log, y * (y - 1) * p(x, y - 2),
            p(x, y - 1) * (1 + y * log), value * log * log)


def _real_power(x: Any, y: Any) -> Any:
    if y == 0:
        return mp.mpf(1)
    if mp.isint(y) and abs(y) < 2**40:
        return x ** int(y)
    if x == 0:
        return 1 / mp.mpf(0) if y < 0 else mp.mpf(0)
    if x < 0:
        if mp.isint(y):  # a huge whole number is even
            return _real_power(-x, y)
        raise ValueError
    extra = max(0, mp.mag(y)) + 12
    if extra > 5000:
        raise OverflowError
    with mp.workprec(PRECISION + extra):
        return e(y * mp.log(x))



def _cbrt(x: Any) -> Any:
    r = mp.cbrt(abs(x)) * mp.sign(x)
    return r, 1 / (3 * r**2), -2 / (9 * r**5)


def _lgamma(x: Any) -> Any:
    value = mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x)))
    return value, mp.psi(0, x), mp.psi(1, x)


def _gamma(x: Any) -> Any:
    g, p, q = mp.gamma(x), mp.psi(0, x), mp.psi(1, x)
    return g, g * p, g * (p * p + q)


def _erfcx(x: Any) -> Any:
    with mp.workprec(PRECISION + 200):
        f = e(x * x) * mp.erfc(x)
        f1 = 2 * x * f - 2 / mp.sqrt(mp.pi)
        return f, f1, 2 * f + 2 * x * f1


def _dawsn(x: Any) -> Any:
    with mp.workprec(PRECISION + 200):
        f = mp.sqrt(mp.pi) / 2 * e(-x * x) * mp.erfi(x)
        f1 = 1 - 2 * x * f
        return f, f1, -2 * f - 2 * x * f1


def _lambertw(x: Any) -> Any:
    if x < -mp.exp(-1):
        raise ValueError
    w = mp.lambertw(x).real
    d = e(-w) / (1 + w)
    return w, d, -d * d * (w + 2) / (1 + w)


def _erfinv(y: Any) -> Any:
    if not -1 < y < 1:
        raise ValueError
    w = mp.erfinv(y)
    d = mp.sqrt(mp.pi) / 2 * e(w * w)
    return w, d, 2 * w * d * d


def _ellipk(m: Any) -> Any:
    k, c = mp.ellipk(m), mp.ellipe(m)
    with mp.workprec(PRECISION + 300):
        k, c = mp.ellipk(m), mp.ellipe(m)
        if abs(m) < 1e-40:
            return k, mp.pi / 8, 9 * mp.pi / 64
        d = (c - (1 - m) * k) / (2 * m * (1 - m))
        dc = (c - k) / (2 * m)
        top, bottom = c - (1 - m) * k, 2 * m * (1 - m)
        return k, d, ((dc + k - (1 - m) * d) * bottom - top * (2 - 4 * m)) / bottom**2


def _sinc(x: Any) -> Any:
    if abs(x) > TOO_LARGE:
        raise OverflowError
    t = mp.pi * x
    if abs(t) < 1e-20:
        return 1 - t * t / 6, -mp.pi * t / 3, -mp.pi**2 / 3 * (1 - 3 * t * t / 10)
    with mp.workprec(PRECISION + 200):
        s, c = mp.sinpi(x), mp.cospi(x)
        return (s / t, mp.pi * (c / t - s / t**2),
                mp.pi**2 * (-s / t - 2 * c / t**2 + 2 * s / t**3))


def _bessel(n: int) -> Callable[[Any], Any]:
    def bessel(x: Any) -> Any:
        if abs(x) > 1e4:
            raise OverflowError
        return (mp.besselj(n, x), mp.besselj(n, x, derivative=1), mp.besselj(n, x, derivative=2))
    return bessel


def _abs(x: Any) -> Any:
    if x == 0:
        raise Undecided
    return abs(x), mp.sign(x), mp.mpf(0)


def _bent(right: Callable[[Any], Any], left: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def bent(x: Any) -> Any:
        if x == 0:
            raise Undecided
        return right(x) if x > 0 else left(x)
    return bent


ONE, ZERO = mp.mpf(1), mp.mpf(0)


def _log(x: Any) -> Any:
    if x <= 0:
        raise ValueError
    return mp.log(x)


def _root(x: Any) -> Any:
    if x < 0:
        raise ValueError
    return mp.sqrt(x)


UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": lambda x: (-x, -ONE, ZERO), "square": lambda x: (x * x, 2 * x, mp.mpf(2)),
    "reciprocal": lambda x: (1 / x, -1 / x**2, 2 / x**3),
    "sqrt": lambda x: (_root(x), 1 / (2 * _root(x)), -1 / (4 * _root(x) ** 3)),
    "rsqrt": lambda x: (1 / _root(x), -1 / (2 * _root(x) ** 3), 3 / (4 * _root(x) ** 5)),
    "cbrt": _cbrt, "exp": lambda x: (e(x),) * 3,
    "exp2": lambda x: (e(x * mp.ln2), e(x * mp.ln2) * mp.ln2, e(x * mp.ln2) * mp.ln2**2),
    "expm1": lambda x: (mp.expm1(x) if abs(x) < 1 else e(x) - 1, e(x), e(x)),
    "log": lambda x: (_log(x), 1 / x, -1 / x**2),
    "log2": lambda x: (_log(x) / mp.ln2, 1 / (x * mp.ln2), -1 / (x * x * mp.ln2)),
    "log10": lambda x: (_log(x) / mp.ln10, 1 / (x * mp.ln10), -1 / (x * x * mp.ln10)),
    "log1p": lambda x: (mp.log1p(x) if x > -1 else NAN, 1 / (1 + x), -1 / (1 + x) ** 2),
    **{name: lambda x, name=name: _circular(x, name)  # type: ignore[misc]
       for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
    "asin": lambda x: (mp.asin(x), 1 / _root((1 - x) * (1 + x)),
                       x / _root((1 - x) * (1 + x)) ** 3),
    "acos": lambda x: (mp.acos(x), -1 / _root((1 - x) * (1 + x)),
                       -x / _root((1 - x) * (1 + x)) ** 3),
    "atan": lambda x: (mp.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "asec": lambda x: (mp.acos(1 / x), 1 / (abs(x) * _root((x - 1) * (x + 1))),
                       -mp.sign(x) * (2 * x * x - 1) / (x * x * _root((x - 1) * (x + 1)) ** 3)),
    "acsc": lambda x: (mp.asin(1 / x), -1 / (abs(x) * _root((x - 1) * (x + 1))),
                       mp.sign(x) * (2 * x * x - 1) / (x * x * _root((x - 1) * (x + 1)) ** 3)),
    "acot": lambda x: (mp.atan(1 / x), -1 / (1 + x * x), 2 * x / (1 + x * x) ** 2),
    "sinh": lambda x: (_sinh(x), _cosh(x), _sinh(x)),
    "cosh": lambda x: (_cosh(x), _sinh(x), _cosh(x)),
    **{name: lambda x, name=name: _hyperbolic(x, name)  # type: ignore[misc]
       for name in ("tanh", "sech", "csch", "coth")},
    "asinh": lambda x: (mp.asinh(x), 1 / mp.sqrt(1 + x * x), -x / mp.sqrt(1 + x * x) ** 3),
    "acosh": lambda x: (mp.acosh(x), 1 / _root((x - 1) * (x + 1)),
                        -x / _root((x - 1) * (x + 1)) ** 3),
    "atanh": lambda x: (mp.atanh(x), 1 / ((1 - x) * (1 + x)), 2 * x / ((1 - x) * (1 + x)) ** 2),
    "asech": lambda x: (mp.acosh(1 / x), -1 / (x * _root((1 - x) * (1 + x))),
                        (1 - 2 * x * x) / (x * x * _root((1 - x) * (1 + x)) ** 3)),
    "acsch": lambda x: (mp.asinh(1 / x), -1 / (abs(x) * mp.sqrt(1 + x * x)),
                        mp.sign(x) * (1 + 2 * x * x) / (x * x * mp.sqrt(1 + x * x) ** 3)),
    "acoth": lambda x: (mp.atanh(1 / x), 1 / ((1 - x) * (1 + x)),
                        2 * x / ((1 - x) * (1 + x)) ** 2),
    "sigmoid": _sigmoid, "softplus": _softplus, "log_sigmoid": _log_sigmoid, "silu": _silu,
    "gelu": _gelu, "ndtr": _ndtr, "log_ndtr": _log_ndtr,
    "softsign": _bent(lambda x: (x / (1 + x), 1 / (1 + x) ** 2, -2 / (1 + x) ** 3),
                      lambda x: (x / (1 - x), 1 / (1 - x) ** 2, 2 / (1 - x) ** 3)),
    "logcosh": lambda x: (abs(x) + mp.log1p(e(-2 * abs(x))) - mp.ln2 if abs(x) > 1 else
                          mp.log1p(2 * mp.sinh(x / 2) ** 2), _tanh(x), 1 / _cosh(x) ** 2),
    "logit": lambda x: (_log(x) - mp.log1p(-x) if x < 1 else NAN, 1 / (x * (1 - x)),
                        (2 * x - 1) / (x * (1 - x)) ** 2),
    "erf": lambda x: (mp.erf(x), 2 / mp.sqrt(mp.pi) * e(-x * x),
                      -4 * x / mp.sqrt(mp.pi) * e(-x * x)),
    "erfc": lambda x: (mp.erfc(x) if x < 1e9 else ZERO, -2 / mp.sqrt(mp.pi) * e(-x * x),
                       4 * x / mp.sqrt(mp.pi) * e(-x * x)),
    "relu": _bent(lambda x: (x, ONE, ZERO), lambda x: (ZERO, ZERO, ZERO)),
    "elu": _bent(lambda x: (x, ONE, ZERO), lambda x: (mp.expm1(x) if x > -1 else e(x) - 1,
                                                      e(x), e(x))),
    "abs": _abs, "sinc": _sinc,
}
PERIODIC = {UNARY[name] for name in ("sin", "cos", "tan", "sec", "csc", "cot", "sinc")}
SPECIAL: dict[str, Callable[[Any], Any]] = {name: _bounded(f) for name, f in {
    "lgamma": _lgamma, "gamma": _gamma,
    "digamma": lambda x: (mp.psi(0, x), mp.psi(1, x), mp.psi(2, x)),
    "erfcx": _erfcx, "dawsn": _dawsn, "lambertw": _lambertw, "erfinv": _erfinv,
    "ellipk": _ellipk,
    # Near 0 the difference has no digits left: the first term of its series.
    "si": lambda x: (mp.si(x), mp.sin(x) / x, -x / 3 if abs(x) < 1e-80 else
                     mp.cos(x) / x - mp.sin(x) / x**2),
    "ci": lambda x: (mp.ci(x) if x > 0 else NAN, mp.cos(x) / x,
                     -mp.sin(x) / x - mp.cos(x) / x**2),
    "ei": lambda x: (mp.ei(x), e(x) / x, e(x) / x - e(x) / x**2),
    "e1": lambda x: (mp.e1(x) if x > 0 else NAN, -e(-x) / x, e(-x) / x + e(-x) / x**2),
    "fresnels": lambda x: (mp.fresnels(x), mp.sin(mp.pi * x * x / 2),
                           mp.pi * x * mp.cos(mp.pi * x * x / 2)),
    "besselj(0, ": _bessel(0), "besselj(2, ": _bessel(2),
}.items()}


def _hypot(x: Any, y: Any, fixed: bool) -> Any:
    r = mp.sqrt(x * x + y * y)
    return r, x / r, y / r, y * y / r**3, -x * y / r**3, x * x / r**3


def _atan2(y: Any, x: Any, fixed: bool) -> Any:
    r = x * x + y * y
    return (mp.atan2(y, x), x / r, -y / r, -2 * x * y / r**2, (y * y - x * x) / r**2,
            2 * x * y / r**2)


def _logaddexp(x: Any, y: Any, fixed: bool) -> Any:
    p, slope, _ = _sigmoid(x - y)
    return max(x, y) + mp.log1p(e(-abs(x - y))), p, _sigmoid(y - x)[0], slope, -slope, slope


def _xlogy(x: Any, y: Any, fixed: bool) -> Any:
    return x * _log(y), _log(y), x / y, None, 1 / y, -x / y**2


BINARY: dict[str, Callable[[Any, Any, bool], Any]] = {
    "+": lambda x, y, fixed: (x + y, ONE, ONE, None, None, None),
    "-": lambda x, y, fixed: (x - y, ONE, -ONE, None, None, None),
    "*": lambda x, y, fixed: (x * y, y, x, None, ONE, None),
    "/": lambda x, y, fixed: (x / y, 1 / y, -x / y**2, None, -1 / y**2, 2 * x / y**3),
    "^": _power, "hypot": _hypot, "atan2": _atan2, "logaddexp": _logaddexp, "xlogy": _xlogy,
}
