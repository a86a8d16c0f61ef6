"""Bessel functions on Python floats: besselj, bessely, besseli, besselk, besselie, besselke.

n of either sign; x real where n is whole, else positive. Total: every float gives a float, no
exception escapes. The values are SciPy's (D. E. Amos, Algorithm 644, ACM TOMS 12, 1986), to some
hundred units in the last place for orders of some ten. Ours are the expansions for large x, where
SciPy has no digit of the phase from 1e15 on, and the limits for tiny ones, where it under- and
overflows. References: DLMF chapter 10.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import special
from gradcli.ops.special.gamma import (
    EPSILON,
    INF,
    NAN,
    exp,
    gamma,
    gamma_over_power,
    is_odd,
    is_whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FAR = 25.0         # from here on the expansions for large x are good, if x > n**2 / 2
_TINY = 1e-140      # below, Y and K are their leading terms
_STEP = 1e20
_MOST = 100000.0    # orders above it take too many steps of a recurrence


def turned(n: float) -> tuple[float, float]:
    """Return cos(n pi) and sin(n pi), exact where n is a multiple of 1/2."""
    r = n % 2.0
    quarter = round(2.0 * r)
    rest = (r - 0.5 * quarter) * math.pi
    c, s = math.cos(rest), math.sin(rest)
    for _ in range(quarter % 4):
        c, s = -s, c
    return c, s


def _has_value(n: float, x: float) -> bool:
    """Return whether there is a real value at x: negative x need an integer n."""
    return n - n == 0.0 and x == x and (x >= 0.0 or is_whole(n))


def _is_far(n: float, x: float) -> bool:
    return x >= _FAR and x >= 0.5 * n * n


def _oscillating(n: float, x: float) -> tuple[float, float]:
    """Return J and Y of order n for large x (DLMF 10.17.3, 10.17.4, A&S 9.2.5).

    sin and cos of x - (n/2 + 1/4) pi come from those of x, so nothing is lost in the difference.
    """
    mu = 4.0 * n * n
    sums = [1.0, 0.0]
    term = 1.0
    for k in range(1, 60):
        term *= (mu - (2 * k - 1) ** 2) / (8.0 * k) / x
        sums[k % 2] += term if k % 4 < 2 else -term
        if abs(term) < 0.1 * EPSILON:
            break
    p, q = sums
    c, s = turned(0.5 * n + 0.25)
    sine, cosine = math.sin(x), math.cos(x)
    sine, cosine = sine * c - cosine * s, cosine * c + sine * s
    size = math.sqrt(2.0 / math.pi / x)
    return size * (p * cosine - q * sine), size * (p * sine + q * cosine)


def _exponential(n: float, x: float, sign: float) -> float:
    """Return exp(-x) In (sign -1) or exp(x) Kn (sign +1) for large x (DLMF 10.40.1-2)."""
    mu = 4.0 * n * n
    term = total = 1.0
    for k in range(1, 60):
        term *= sign * (mu - (2 * k - 1) ** 2) / (8.0 * k) / x
        total += term
        if abs(term) < 0.1 * EPSILON:
            break
    return math.sqrt((0.5 / math.pi if sign < 0.0 else 0.5 * math.pi) / x) * total


def _power_series(n: float, x: float, sign: float) -> float:
    """Return Jn (sign -1) or In (sign +1), n >= 0, x > 0 (DLMF 10.2.2, 10.25.2)."""
    if x < 1e-300:
        return math.pow(0.5, n) * math.pow(x, n) / gamma(n + 1.0) if n < 2.0 else 0.0
    divisor = gamma_over_power(n, 0.5 * x)
    t = sign * 0.25 * x * x
    term = total = 1.0
    k = 0.0
    while abs(term) > 0.25 * EPSILON * total:
        k += 1.0
        term *= t / (k * (n + k))
        total += term
    return total / divisor


def _base(function: Any, n: float, x: float) -> float:
    """Return Y or K of a low order by SciPy; for tiny x, where they are a x**n + b x**-n, from two
    that are larger.
    """
    if abs(n) < 1e-150:
        n = 0.0         # where SciPy says infinity
    if x >= _TINY:
        return float(function(n, x))
    return 2.0 * math.cosh(n * math.log(_STEP)) * float(function(n, _STEP * x)) - float(
        function(n, _STEP * _STEP * x))


def _raised(low: Callable[[float], float], n: float, x: float, sign: float) -> float:
    """Return order n >= 0 from the two lowest (DLMF 10.6.1, 10.29.1)."""
    k = n - math.floor(n + 0.5)
    first = low(k)
    if k == n:
        return first
    second = low(k + 1.0)
    k += 1.0
    while k < n - 0.5 and abs(second) < INF:
        first, second = second, 2.0 * k / x * second + sign * first
        k += 1.0
    return second


def _of_zero(n: float) -> float:
    """Return Jn(0), which is In(0)."""
    if n == 0.0:
        return 1.0
    return 0.0 if n > 0.0 or is_whole(n) else math.copysign(INF, turned(-n)[1])


def _parity(n: float, *negative: bool) -> float:
    """Return the sign of an odd order where one of two is negative."""
    return -1.0 if is_odd(n) and sum(negative) == 1 else 1.0


def besselj(n: float, x: float) -> float:
    """The Bessel function of the first kind Jn(x); 0 at +-inf."""
    if not _has_value(n, x):
        return NAN
    if x == 0.0 or abs(x) == INF:
        return 0.0 if x else _of_zero(n)
    if is_whole(n):
        return _parity(n, n < 0.0, x < 0.0) * _j(abs(n), abs(x))
    if n > 0.0:
        return _j(n, x)
    c, s = turned(-n)
    return c * _j(-n, x) - (s * _y(-n, x) if s else 0.0)


def _j(n: float, x: float) -> float:
    if x * x <= 4.0 * (n + 1.0):
        return _power_series(n, x, -1.0)
    if _is_far(n, x):
        return _oscillating(n, x)[0]
    if n > x:
        return float(special.jv(n, x))
    if n > _MOST:
        return NAN
    return _raised(lambda k: _oscillating(k, x)[0] if x >= _FAR else float(special.jv(k, x)),
                   n, x, -1.0)


def bessely(n: float, x: float) -> float:
    """The Bessel function of the second kind Yn(x), x > 0; -inf at 0, nan below."""
    if not _has_value(n, x) or x < 0.0:
        return NAN
    if x == INF:
        return 0.0
    if n >= 0.0 or is_whole(n):
        return _parity(n, n < 0.0) * _y(abs(n), x)
    c, s = turned(-n)
    if x == 0.0:
        return math.copysign(INF, -c) if c else 0.0
    return s * _j(-n, x) + (c * _y(-n, x) if c else 0.0)


def _y(n: float, x: float) -> float:
    if x == 0.0:
        return -INF
    if _is_far(n, x):
        return _oscillating(n, x)[1]
    if n > _MOST:
        return float(special.yv(n, x)) if n > x else NAN
    return _raised(lambda k: _oscillating(k, x)[1] if x >= _FAR else _base(special.yv, k, x),
                   n, x, -1.0)


def besseli(n: float, x: float) -> float:
    """The modified Bessel function of the first kind In(x)."""
    return _i(n, x, False)


def besselie(n: float, x: float) -> float:
    """exp(-|x|) times the modified Bessel function In(x)."""
    return _i(n, x, True)


def _i(n: float, x: float, scaled: bool) -> float:
    if not _has_value(n, x):
        return NAN
    if x == 0.0:
        return _of_zero(n)
    if n < 0.0 and not is_whole(n):
        k = besselke(n, x) * math.exp(-2.0 * x) if scaled else besselk(n, x)
        return _i(-n, x, scaled) + 2.0 / math.pi * turned(-n)[1] * k
    sign, n, x = _parity(n, x < 0.0), abs(n), abs(x)
    if x * x <= 4.0 * (n + 1.0):
        return sign * _power_series(n, x, 1.0) * (math.exp(-x) if scaled else 1.0)
    if x == INF or (x >= max(2000.0, n) and not scaled):
        return sign * (0.0 if scaled else INF)
    found = _exponential(n, x, -1.0) if _is_far(n, x) else float(special.ive(n, x))
    if scaled:
        return sign * found
    half = exp(0.5 * x)     # in two halves: exp(x) overflows before In does
    return sign * (found * half * half if found else float(special.iv(n, x)))


def besselk(n: float, x: float) -> float:
    """The modified Bessel function of the second kind Kn(x), x > 0; inf at 0, nan below."""
    if not _has_value(n, x) or x < 0.0:
        return NAN
    n = abs(n)
    if x in (0.0, INF):
        return 0.0 if x else INF
    half = math.exp(-0.5 * x)
    if n >= 1000.0:
        return float(special.kv(n, x))
    if x >= 700.0:      # where exp(-x) is not normal, the scaled values cannot overflow
        return besselke(n, x) * half * half
    return _raised(lambda k: _exponential(k, x, 1.0) * half * half if x >= _FAR else _base(
        special.kv, k, x), n, x, 1.0)


def besselke(n: float, x: float) -> float:
    """exp(x) times the modified Bessel function Kn(x), x > 0; inf at 0, NaN below."""
    if not _has_value(n, x) or x < 0.0:
        return NAN
    n = abs(n)
    if x in (0.0, INF):
        return 0.0 if x else INF
    if _is_far(n, x):
        return _exponential(n, x, 1.0)
    if n > _MOST:
        return float(special.kve(n, x))
    return _raised(lambda k: _exponential(k, x, 1.0) if x >= _FAR else _base(special.kve, k, x),
                   n, x, 1.0)
