"""What the elementwise operations are, said again in mpmath: no line of it comes from gradcli.

`FUNCTIONS` maps a row's name to a function of mpmath numbers; `FAMILIES` a row that is the n-th
derivative of something to that something; `INTEGRALS` a row to an integral and its derivatives of
given orders in the last two arguments.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

import mpmath
from mpmath import mp, mpf

DIGITS = 40
# Elementwise rows of complex numbers, which have tests of their own.
COMPLEX_ROWS = {"angle", "complex", "conj", "imag", "modulus", "real"}
Function = Callable[..., mpf]


def _spherical(n: mpf, x: mpf) -> mpf:
    if x < 0:
        return (-1) ** int(n) * _spherical(n, -x)
    return mp.sqrt(mp.pi / (2 * x)) * mp.besselj(n + mpf(1) / 2, x)


def _erfcx(x: mpf) -> mpf:
    return mp.exp(x * x) * mp.erfc(x)


def _dawsn(x: mpf) -> mpf:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _upper(n: mpf, a: mpf, x: mpf, in_a: int, in_x: int) -> mpf:
    def integrand(t: mpf) -> mpf:
        return mp.ln(t) ** (n + in_a) * t ** (a - 1) * mp.exp(-t)

    return (-mp.diff(integrand, x, in_x - 1) if in_x
            else mp.quad(integrand, [x, x + 4, x + 16, mp.inf]))


def _lower(n: mpf, a: mpf, x: mpf, in_a: int, in_x: int) -> mpf:
    if in_x:
        return -_upper(n, a, x, in_a, in_x)
    return mp.diff(lambda b: mp.gammainc(b, 0, x), a, int(n) + in_a)


def _moment(k: mpf, j: mpf, phi: mpf, m: mpf, in_phi: int, in_m: int) -> mpf:
    def integrand(t: mpf) -> mpf:
        square = mp.sin(t) ** 2
        return (mp.rf(j + mpf(1) / 2, in_m) * square ** (k + in_m)
                * (1 - m * square) ** (-j - in_m - mpf(1) / 2))

    return mp.diff(integrand, phi, in_phi - 1) if in_phi else mp.quad(integrand, [0, phi])


@functools.cache
def _of_selu(precision: int) -> tuple[mpf, mpf]:
    """Scale and alpha at a precision: they solve Klambauer et al. (2017), equation 14."""
    root = mp.sqrt(mp.mpf(1) / 2)
    alpha = -mp.sqrt(2 / mp.pi) / (mp.erfc(root) * mp.exp(mpf(1) / 2) - 1)
    scale = (1 - mp.erfc(root) * mp.sqrt(mp.e)) * mp.sqrt(2 * mp.pi) / mp.sqrt(
        2 * mp.erfc(mp.sqrt(2)) * mp.e**2 + mp.pi * mp.erfc(root) ** 2 * mp.e
        - 2 * (2 + mp.pi) * mp.erfc(root) * mp.sqrt(mp.e) + mp.pi + 2)
    return scale, alpha


def _selu(x: mpf) -> mpf:
    scale, alpha = _of_selu(mp.prec)
    return scale * (x if x > 0 else alpha * (mp.exp(x) - 1))


def _besselie(k: int, n: mpf, x: mpf) -> mpf:
    """The k-th derivative of exp(-|x|) I_n(x), by Leibniz and DLMF 10.29.5."""
    rate = -mp.sign(x)
    return mp.exp(-mp.fabs(x)) * mp.fsum(
        mp.binomial(k, j) * rate ** (k - j) * mpf(2) ** -j * mp.fsum(
            mp.binomial(j, i) * mp.besseli(n - j + 2 * i, x) for i in range(j + 1))
        for j in range(k + 1))


def _besselke(k: int, n: mpf, x: mpf) -> mpf:
    """The k-th derivative of exp(x) K_n(x), by DLMF 10.32.9 and the trapezoidal rule, which gains
    the same number of digits with each refinement here. mpmath's own takes seconds at whole n.
    """
    digits = mp.dps + 5
    step = mp.pi ** 2 / (1.5 * digits * mp.ln(10))
    with mp.workdps(digits):
        total = mpf(0 if k else 1) / 2
        for i in range(1, 10 ** 6):
            fall = 1 - mp.cosh(i * step)
            term = fall ** k * mp.exp(x * fall) * mp.cosh(n * i * step)
            total += term
            if fall * x < -1 and mp.fabs(term) < mpf(10) ** -digits * mp.fabs(total):
                break
        return step * total


FUNCTIONS: dict[str, Function] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "reciprocal": lambda x: 1 / x,
    "mod": lambda x, y: x - y * mp.floor(x / y),
    "square": lambda x: x * x,
    "fmod": lambda x, y: x - y * int(x / y),
    "squared_difference": lambda x, y: (x - y) ** 2,
    "lerp": lambda a, b, t: a * (1 - t) + b * t,
    "divide_no_nan": lambda x, y: x / y,
    "multiply_no_nan": lambda x, y: x * y,
    "reciprocal_no_nan": lambda x: 1 / x,
    "ldexp": lambda x, n: x * mpf(2) ** int(n),
    "copysign": lambda x, y: mp.fabs(x) * (1 if y > 0 else -1),
    "power": lambda x, y: mp.exp(y * mp.log(x)),
    "sqrt": lambda x: mp.root(x, 2),
    "cbrt": lambda x: mp.root(x, 3),
    "rsqrt": lambda x: 1 / mp.root(x, 2),
    "hypot": lambda x, y: mp.root(x * x + y * y, 2),
    "exp": mp.exp,
    "exp2": lambda x: mp.exp(x * mp.log(2)),
    "expm1": lambda x: mp.exp(x) - 1,
    "log": mp.ln,
    "log2": lambda x: mp.ln(x) / mp.ln(2),
    "log10": lambda x: mp.ln(x) / mp.ln(10),
    "log1p": lambda x: mp.ln(1 + x),
    "xlogy": lambda x, y: x * mp.ln(y),
    "xlog1py": lambda x, y: x * mp.ln(1 + y),
    "xdivy": lambda x, y: x / y,
    "logaddexp": lambda x, y: mp.ln(mp.exp(x) + mp.exp(y)),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sec": mp.sec, "csc": mp.csc, "cot": mp.cot,
    "one_minus_square": lambda x: 1 - x * x, "unit_part": lambda x, y: x / mp.hypot(x, y),
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "asec": mp.asec, "acsc": mp.acsc,
    "acot": lambda x: mp.atan(1 / x),
    "atan2": mp.atan2,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "sech": mp.sech, "csch": mp.csch,
    "coth": mp.coth, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh, "asech": mp.asech,
    "acsch": mp.acsch, "acoth": mp.acoth,
    "radians": lambda x: x * mp.pi / 180,
    "degrees": lambda x: x * 180 / mp.pi,
    "abs": mp.fabs,
    "sign": mp.sign,
    "maximum": max,
    "minimum": min,
    "clip": lambda x, low, high: min(max(x, low), high),
    "where": lambda c, x, y: x if c else y,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "log_sigmoid": lambda x: -mp.ln(1 + mp.exp(-x)),
    "softplus": lambda x: mp.ln(1 + mp.exp(x)),
    "softsign": lambda x: x / (1 + mp.fabs(x)),
    "relu": lambda x: max(x, mpf(0)),
    "prelu": lambda x, alpha: x if x > 0 else alpha * x,
    "elu": lambda x: x if x > 0 else mp.exp(x) - 1,
    "gelu_erf": lambda x: x * mp.ncdf(x),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "relu6": lambda x: min(max(x, mpf(0)), mpf(6)),
    "selu": _selu,
    "hard_sigmoid": lambda x: min(max(x / 6 + mpf(1) / 2, mpf(0)), mpf(1)),
    "logit": lambda x: mp.ln(x) - mp.ln(1 - x),
    "logcosh": lambda x: mp.ln(mp.cosh(x)),
    "sinc": mp.sincpi,
    "ndtr": mp.ncdf,
    "ndtri": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    "log_ndtr": lambda x: mp.ln(mp.ncdf(x)),
    "igamma": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "igammac": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "zeta": mp.zeta,
    "besselie": lambda n, x: mp.exp(-mp.fabs(x)) * mp.besseli(n, x),
    "besselke": lambda n, x: _besselke(0, n, x),
    "erf": mp.erf,
    "erfc": lambda x: 1 - mp.erf(x),
    "polygamma": lambda n, x: mp.polygamma(int(n), x),
    "polygamma_difference": lambda n, x, d: mp.polygamma(int(n), x) - mp.polygamma(int(n), x + d),
    "besselie_derivative": lambda k, n, x: _besselie(int(k), n, x),
    "besselke_derivative": lambda k, n, x: _besselke(int(k), n, x),
    "digamma": mp.digamma,
    "gamma": mp.gamma,
    "lgamma": lambda x: mp.ln(mp.gamma(x)),
    "beta": mp.beta,
    "lbeta": lambda a, b: mp.ln(mp.beta(a, b)),
    "gammainc": lambda a, x: mp.gammainc(a, x, mp.inf),
    "gammaincl": lambda a, x: mp.gammainc(a, 0, x),
    "erfinv": mp.erfinv,
    "erfcinv": lambda x: mp.erfinv(1 - x),
    "erfcx": _erfcx,
    "erfi": mp.erfi,
    "dawsn": _dawsn,
    "ci": mp.ci,
    "ei": mp.ei,
    "e1": mp.e1,
    "li": mp.li,
    "shi": mp.shi,
    "chi": mp.chi,
    "si": mp.si,
    "fresnels": mp.fresnels,
    "fresnelc": mp.fresnelc,
    "lambertw": lambda x: mp.lambertw(x).real,
    "ellipk": mp.ellipk,
    "ellipe_complete": mp.ellipe,
    "ellipf": mp.ellipf,
    "ellipe_incomplete": mp.ellipe,
    "besselj": mp.besselj, "bessely": mp.bessely, "besseli": mp.besseli, "besselk": mp.besselk,
    "sphericalj": _spherical,
}

FAMILIES: dict[str, Function] = {"erfcx_derivative": _erfcx, "dawsn_derivative": _dawsn}

INTEGRALS: dict[str, Function] = {
    "gammainc_log": _upper, "gammaincl_log": _lower, "elliptic_moment": _moment}


# Weights of central differences for the orders 0 to 3, by how many steps away. With steps of 1e-30
# they are right to some 30 digits where values have 120.
DIFFERENCES = ({0: mpf(1)}, {1: mpf(0.5), -1: mpf(-0.5)}, {1: mpf(1), 0: mpf(-2), -1: mpf(1)},
               {2: mpf(0.5), 1: mpf(-1), -1: mpf(1), -2: mpf(-0.5)})
with mpmath.workdps(3 * DIGITS):
    STEP = mpf(10) ** -30


@functools.cache
def partial(name: str, arguments: Sequence[float], orders: Sequence[int]) -> float:
    """A partial derivative of an operation at floats, to second order, rounded from 40 digits."""
    with mpmath.workdps(DIGITS):
        points = [x if isinstance(x, bool) else mpf(x) for x in arguments]
        if name in INTEGRALS:
            return float(INTEGRALS[name](*points, *orders[-2:]))
        if name in FAMILIES:
            n, x = points
            return float(mp.diff(FAMILIES[name], x, int(n) + orders[1]))
    return differentiated(lambda *steps: _value(name, tuple(arguments), steps), orders)


def differentiated(value: Function, orders: Sequence[int]) -> float:
    """The mixed derivative of what is a value so many steps away in each direction."""
    with mpmath.workdps(3 * DIGITS):
        total = mp.fsum(
            mp.fprod(weight for _, weight in moved) * value(*[steps for steps, _ in moved])
            for moved in itertools.product(*[DIFFERENCES[order].items() for order in orders]))
        return float(total / STEP ** sum(orders))


@functools.cache
def _value(name: str, arguments: Sequence[float], steps: tuple[int, ...]) -> mpf:
    """An operation so many steps beside floats: derivatives of all orders share these values."""
    return FUNCTIONS[name](*[x if isinstance(x, bool) else mpf(x) + k * STEP
                             for x, k in zip(arguments, steps, strict=True)])
