"""Scaled Bessel functions, regularised incomplete functions and others on Python floats.

besselie, besselke: I and K without their exponential; igamma, igammac: P and Q;
betainc: I; zeta: Hurwitz' function; ndtri, log_ndtr, sinc. Total: every float gives a float, no
exception escapes; outside domains NaN. Relative error about 1e-14, for parameters of some thousand
1e-12. References: DLMF chapters 7, 8, 10 and 25.
"""

from __future__ import annotations

import math

from gradcli.ops.special.bessel import besseli, besselk, of_real_order
from gradcli.ops.special.bessel_expansions import exponential_sum
from gradcli.ops.special.beta import gammainc, lbeta, upper_fraction
from gradcli.ops.special.errors import erfcinv, erfcx
from gradcli.ops.special.gamma import (
    EPSILON,
    INF,
    NAN,
    exp,
    gamma,
    is_odd,
    is_whole,
    lgamma,
    polygamma,
    power,
    relative_zeta,
    sin_pi,
    stirling_rest,
)

_ASYMPTOTIC_FROM = 25.0
_MAX_ORDER = 100000.0
_MAX_SHAPE = 1e8
_ROOT_HALF = math.sqrt(0.5)


def besselie(n: float, x: float) -> float:
    """exp(-|x|) times the modified Bessel function In(x)."""
    if not is_whole(n) or x != x:
        return of_real_order("besselie", n, x)
    sign = -1.0 if is_odd(n) and x < 0.0 else 1.0
    n, x = abs(n), abs(x)
    if x < _ASYMPTOTIC_FROM:
        return sign * besseli(n, x) * math.exp(-x)
    if x == INF:
        return sign * 0.0
    front = 1.0 / math.sqrt(2.0 * math.pi * x)
    if x >= 0.5 * n * n:
        return sign * front * exponential_sum(n, x, -1.0)
    if n > _MAX_ORDER:
        return sign * besseli(n, x) * math.exp(-x)
    # The ratios of neighbours by backward recurrence (DLMF 10.33.1), from where it has converged.
    ratio, product = 0.0, 1.0
    for k in range(int(math.sqrt(n * n + 40.0 * x)) + 20, 0, -1):
        ratio = 1.0 / (2.0 * k / x + ratio)
        if k <= n:
            product *= ratio
    return sign * front * exponential_sum(0.0, x, -1.0) * product


def besselke(n: float, x: float) -> float:
    """exp(x) times the modified Bessel function Kn(x), x > 0; inf at 0, NaN below."""
    if not is_whole(n) or not x >= 0.0:
        return of_real_order("besselke", n, x)
    n = abs(n)
    if x < _ASYMPTOTIC_FROM:
        return besselk(n, x) * math.exp(x)
    if x == INF:
        return 0.0
    front = math.sqrt(0.5 * math.pi / x)
    if x >= 0.5 * n * n:
        return front * exponential_sum(n, x, 1.0)
    if n > _MAX_ORDER:
        return besselk(n, x) * exp(x)
    first, second = front * exponential_sum(0.0, x, 1.0), front * exponential_sum(1.0, x, 1.0)
    k = 1.0
    while k < n and second < INF:  # DLMF 10.29.1, stable upwards
        first, second = second, 2.0 * k / x * second + first
        k += 1.0
    return second


def _density(a: float, x: float) -> float:
    """x**a exp(-x) / gamma(a + 1) for a > 0, x > 0, where each factor may overflow."""
    if a < 100.0:
        return exp(a * math.log(x) - x) / gamma(a + 1.0) if x < 700.0 else exp(
            a * math.log(x) - x - lgamma(a + 1.0))
    # In t = (x - a)/a the exponent is a*(log(1 + t) - t): nothing large cancels near x = a.
    t = (x - a) / a
    rest = _log1p_less(t) if abs(t) < 0.5 else math.log(x / a) - t
    return exp(a * rest - stirling_rest(a)) / math.sqrt(2.0 * math.pi * a)


def _log1p_less(t: float) -> float:
    """log(1 + t) - t by its series in t/(2 + t) (DLMF 4.6.4), |t| < 1/2."""
    u = t / (2.0 + t)
    square = u * u
    power, total = u, 0.0
    for k in range(3, 61, 2):
        power *= square
        total += power / k
        if abs(power) < 1e-18 * abs(total):
            break
    return 2.0 * total - t * u


def _lower(a: float, x: float) -> float:
    """P(a, x) by its power series (DLMF 8.7.1), for x < a + 1."""
    term = total = 1.0
    k = a
    while term > EPSILON * total:
        k += 1.0
        term *= x / k
        total += term
    return _density(a, x) * total


def _upper(a: float, x: float) -> float:
    """Q(a, x) by the continued fraction DLMF 8.9.2, for x >= a + 1, by Lentz's method."""
    return a * _density(a, x) * upper_fraction(a, x, 200000.0)


def igamma(a: float, x: float) -> float:
    """P(a, x), the lower incomplete gamma function over gamma(a) (DLMF 8.2.4);
    0 < a <= 1e8, x >= 0."""
    if not (0.0 < a <= _MAX_SHAPE and x >= 0.0):
        return NAN
    if x == 0.0:
        return 0.0
    if x == INF:
        return 1.0
    return _lower(a, x) if x < a + 1.0 else 1.0 - igammac(a, x)


def igammac(a: float, x: float) -> float:
    """Q(a, x), the upper incomplete gamma function over gamma(a) (DLMF 8.2.4);
    0 < a <= 1e8, x >= 0."""
    if not (0.0 < a <= _MAX_SHAPE and x >= 0.0):
        return NAN
    if x == 0.0:
        return 1.0
    if x == INF:
        return 0.0
    if a < 1.0 and x < 2.0:  # 1 - P would cancel
        return gammainc(a, x) / gamma(a)
    return _upper(a, x) if x >= a + 1.0 else 1.0 - _lower(a, x)


def betainc(a: float, b: float, x: float) -> float:
    """I(a, b, x), the regularised incomplete beta function (DLMF 8.17.2); a, b > 0, 0 <= x <= 1."""
    if not (a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0 and a < INF and b < INF):
        return NAN
    if x in (0.0, 1.0):
        return x
    if x <= (a + 1.0) / (a + b + 2.0):
        return _beta_fraction(a, b, x, 1.0 - x)
    return 1.0 - _beta_fraction(b, a, 1.0 - x, x)


def _beta_fraction(a: float, b: float, x: float, rest: float) -> float:
    """I(a, b, x) by the continued fraction DLMF 8.17.22, for x < (a + 1)/(a + b + 2).

    By Lentz's method; `rest` is 1 - x.
    """
    front = exp(a * math.log(x) + b * math.log(rest) - lbeta(a, b)) / a
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    m, step = 0.0, 0.0
    while abs(step - 1.0) > EPSILON and m < 10000.0:
        m += 1.0
        two = a + 2.0 * m
        even = m * (b - m) * x / ((two - 1.0) * two)
        d = 1.0 / _away(1.0 + even * d)
        c = _away(1.0 + even / c)
        value *= c * d
        odd = -(a + m) * (a + b + m) * x / (two * (two + 1.0))
        d = 1.0 / _away(1.0 + odd * d)
        c = _away(1.0 + odd / c)
        step = c * d
        value *= step
    return front * value


def _away(x: float) -> float:
    """x, but not 0: Lentz's method divides by it."""
    return x if x else 1e-300


def zeta(s: float, q: float) -> float:
    """Hurwitz' zeta function, the sum of (q + k)**-s (DLMF 25.11.1), s > 1; inf at poles.

    Up to ten terms, then Euler-Maclaurin (DLMF 25.11.28), relative to q**-s.
    """
    if q < 0.0 and not is_whole(q) and is_whole(s) and 2.0 <= s < 170.0:
        # DLMF 5.15.1 holds for both signs of q.
        return (-1.0 if is_odd(s) else 1.0) * polygamma(s - 1.0, q) / gamma(s)
    if not s >= 1.0 or q != q or (q <= 0.0 and not is_whole(q)):
        return NAN
    if s == 1.0 or q <= 0.0:
        return INF
    if q == INF:
        return 0.0
    if s == INF:
        return 1.0 if q == 1.0 else 0.0 if q > 1.0 else INF
    return power(q, -s) * relative_zeta(s, q)


def ndtri(p: float) -> float:
    """The inverse of the normal distribution function; -inf at 0, inf at 1, NaN outside."""
    return 0.0 - math.sqrt(2.0) * erfcinv(2.0 * p)


def log_ndtr(x: float) -> float:
    """The logarithm of the normal distribution function, also where that underflows."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(_ROOT_HALF * x))
    if x > -1.0 or x != x:
        return math.log(0.5 * math.erfc(-_ROOT_HALF * x))
    if x == -INF:
        return x
    return math.log(0.5 * erfcx(-_ROOT_HALF * x)) - 0.5 * x * x


def sinc(x: float) -> float:
    """sin(pi x)/(pi x), 1 at 0."""
    if not -INF < x < INF:
        return NAN
    return sin_pi(x) / (math.pi * x) if x else 1.0
