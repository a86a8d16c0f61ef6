"""Exponential, logarithmic and hyperbolic integrals on Python floats.

Total: every float gives a float, no exception escapes. Relative error a few 1e-16 away from the
zeros of `ei` (0.3725), `li` (1.4514) and `chi` (0.5238), absolute there. Reference: DLMF chapter 6.
"""

from __future__ import annotations

import math

from gradcli.ops.special_beta import gammainc
from gradcli.ops.special_series import EPSILON, EULER, INF, NAN

# Beyond, the asymptotic series reaches full precision before its terms grow.
FAR = 40.0


def ei(x: float) -> float:
    """The exponential integral, principal value of the integral of exp(t)/t from -inf to x
    (DLMF 6.6.2, 6.12.2).
    """
    if x != x or x in (INF, -INF):
        return -0.0 if x == -INF else x
    if x == 0:
        return -INF
    if x < 0:
        return -gammainc(0.0, -x)
    if x <= FAR:
        return EULER + math.log(x) + _powers(x, 1.0, 1)
    total = term = 1.0
    k = 1
    while abs(term) > EPSILON and k < x:
        term *= k / x
        total += term
        k += 1
    # exp(x) overflows a little before Ei(x) does.
    half = math.exp(min(x, 1400.0) / 2)
    return half / x * total * half


def e1(x: float) -> float:
    """The integral of exp(-t)/t from x on; for x < 0 its real part (DLMF 6.2.1)."""
    return gammainc(0.0, x) if x > 0 or x != x else -ei(-x)


def li(x: float) -> float:
    """The logarithmic integral, principal value of the integral of 1/log(t) from 0 to x
    (DLMF 6.2.8); NaN for x < 0.
    """
    if x != x or x < 0:
        return NAN
    return ei(math.log(x)) if x else 0.0


def shi(x: float) -> float:
    """The hyperbolic sine integral, of sinh(t)/t from 0 to x (DLMF 6.2.15)."""
    size = abs(x)
    if x != x or x == 0 or size == INF:
        return x
    if size <= 2:
        return math.copysign(size + _powers(size, size, 3), x)
    return math.copysign((ei(size) + e1(size)) / 2, x)


def chi(x: float) -> float:
    """The hyperbolic cosine integral; for x < 0 its real part (DLMF 6.2.16)."""
    size = abs(x)
    if x != x or x == 0:
        return -INF if x == 0 else x
    if size <= 2:
        return EULER + math.log(size) + _powers(size, 1.0, 2)
    return (ei(size) - e1(size)) / 2


def _powers(x: float, term: float, first: int) -> float:
    """The sum of x**k/(k k!) for k = first, first + step, ...: all of them, the even or the odd.

    term: x**k/k! at the k before `first`.
    """
    step = 1 if first == 1 else 2
    total, k = 0.0, first
    while True:
        for j in range(k - step + 1, k + 1):
            term *= x / j
        part = term / k
        total += part
        if part <= EPSILON * total / 4:
            return total
        k += step
