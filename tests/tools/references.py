"""What the elementwise operations are, said again in mpmath: the `reference` of each row, which
knows nothing of its rule, or mpmath's function of the same name.

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

from gradcli.ops import TABLE
from gradcli.ops.kinds import ELEMENTWISE, Op

DIGITS = 40
# Elementwise rows of complex numbers, which have tests of their own.
COMPLEX_ROWS = {"angle", "complex", "conj", "imag", "modulus", "real"}
Function = Callable[..., mpf]


def _spherical(n: mpf, x: mpf) -> mpf:
    if x < 0:
        return (-1) ** int(n) * _spherical(n, -x)
    return mp.sqrt(mp.pi / (2 * x)) * mp.besselj(n + mpf(1) / 2, x)


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


OWN: dict[str, Function] = {
    "selu": _selu, "sphericalj": _spherical, "besselke": lambda n, x: _besselke(0, n, x),
    "besselie_derivative": lambda k, n, x: _besselie(int(k), n, x),
    "besselke_derivative": lambda k, n, x: _besselke(int(k), n, x)}
"""References that are no single expression."""


def _of_row(op: Op) -> Function | None:
    """What a row says it is in mpmath, or mpmath's function of its name, if any."""
    if op.reference:
        function: Function = eval(
            f"lambda {', '.join(op.parameters)}: {op.reference}", {"mp": mp, "mpf": mpf})
        return function
    return OWN.get(op.name) or getattr(mp, op.name, None)


FUNCTIONS: dict[str, Function] = {
    name: function for name, op in TABLE.items()
    if op.kind == ELEMENTWISE and name not in COMPLEX_ROWS and (function := _of_row(op))}

FAMILIES: dict[str, Function] = {
    f"{name}_derivative": FUNCTIONS[name] for name in ("erfcx", "dawsn")}

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
