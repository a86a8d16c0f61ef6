"""Bessel functions on Python floats: besselj, bessely, besseli, besselk, besselie, besselke.

n of either sign; x real where n is whole, else positive. Total: every float gives a float, no
exception escapes. Units are those in the last place, of an oscillation in its size, measured
against mpmath at random orders up to 6 and x from 0.1 to 20: ours are within 20, half of them
within 3; SciPy's (D. E. Amos, Algorithm 644, ACM TOMS 12, 1986) are off by up to 950, half of them
by 70. So its values stand only for K from 2.5 on and for orders of 1000 and more. Orders of some
ten and tiny x lose up to 40 units. References: DLMF chapter 10.
"""

from __future__ import annotations

import cmath
import math
from functools import cache

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

_FAR = 25.0         # from here on the expansions for large x are good, if x > n**2 / 2
_TINY = 1e-140      # below, Y and K are their leading terms
_STEP = 1e20
_RULE = 0.05         # the step between the nodes of Hankel's integral
_LARGE = 1000.0     # orders above it are SciPy's where they decay or grow
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


@cache
def _node(k: int) -> tuple[complex, complex, complex]:
    """Return of a node of the rule t + i pi/2 tanh(t) its place, i cosh of it and its weight."""
    s = k * _RULE
    bend = math.tanh(s)
    t = complex(s, 0.5 * math.pi * bend)
    return t, 1j * cmath.cosh(t), complex(1.0, 0.5 * math.pi * (1.0 - bend * bend)) * _RULE


def _hankel(n: float, x: float) -> tuple[complex, complex]:
    """Return J + iY of the orders n and n + 1, -1/2 <= n <= 1/2.

    For x < 25 by DLMF 10.9.10 on a line on which it falls off doubly exponentially, where the
    trapezoidal rule converges exponentially: within 4 units; SciPy loses up to 180.
    """
    if x >= _FAR:
        return complex(*_oscillating(n, x)), complex(*_oscillating(n + 1.0, x))
    first = second = 0j
    last = int((5.0 - math.log(x)) / _RULE)
    for k in range(-last, last + 1):
        t, fall, weight = _node(k)
        value = cmath.exp(x * fall - n * t) * weight
        first += value
        second += value * cmath.exp(-t)
    c, s = turned(0.5 * n)
    front = complex(-s, -c) / math.pi
    return front * first, front * second * -1j


def _j_pair(n: float, x: float) -> tuple[float, float]:
    """Return J of the orders n and n + 1, -1/2 <= n <= 1/2."""
    first, second = _hankel(n, x)
    return first.real, second.real


def _y_pair(n: float, x: float) -> tuple[float, float]:
    """Return Y of the orders n and n + 1, -1/2 <= n <= 1/2."""
    first, second = _hankel(n, x)
    return first.imag, second.imag


def _k_pair(n: float, x: float, factor: float = 1.0) -> tuple[float, float]:
    """Return exp(x) K of the orders n and n + 1, -1/2 <= n <= 1/2, times a factor.

    For x < 2.5 by DLMF 10.32.9 and the trapezoidal rule: within 4 units, where SciPy loses up to
    950; above SciPy has them.
    """
    if x >= _FAR:
        return factor * _exponential(n, x, 1.0), factor * _exponential(n + 1.0, x, 1.0)
    if x >= 2.5:
        return factor * float(special.kve(n, x)), factor * float(special.kve(n + 1.0, x))
    first = second = 0.5
    for k in range(1, int((5.0 - math.log(x)) / 0.2) + 2):
        t = 0.2 * k
        sine = math.sinh(0.5 * t)
        fall = 2.0 * x * sine * sine
        first += 0.5 * (exp(n * t - fall) + exp(-n * t - fall))
        second += 0.5 * (exp((n + 1.0) * t - fall) + exp(-(n + 1.0) * t - fall))
    return 0.2 * factor * first, 0.2 * factor * second


def _raised(pair: Callable[[float, float], tuple[float, float]], n: float, x: float, sign: float
            ) -> float:
    """Return order n >= 0 from the two lowest (DLMF 10.6.1, 10.29.1).

    For tiny x these are a x**n + b x**-n, found from two that are larger.
    """
    low = n - math.floor(n + 0.5)
    if x >= _TINY:
        first, second = pair(low, x)
    else:
        near, far = pair(low, _STEP * x), pair(low, _STEP * _STEP * x)
        first, second = (
            2.0 * math.cosh((low + i) * math.log(_STEP)) * near[i] - far[i]
            if abs(near[i]) < INF else near[i] for i in (0, 1))
    if low == n:
        return first
    k = low + 1.0
    while k < n - 0.5 and abs(second) < INF:
        first, second = second, 2.0 * k / x * second + sign * first
        k += 1.0
    return second


def _lowered(n: float, x: float) -> float:
    """Return Jn(x), n > x, from the larger of the two lowest orders by Miller's backward recurrence
    (DLMF 3.6(iii)): within 10 units, where SciPy loses 100 at n = 50.
    """
    low = n - math.floor(n + 0.5)
    first, second = (value.real for value in _hankel(low, x))
    top = int(n - low)
    above, here, found = 0.0, 1e-280, 0.0
    for k in range(top + 20 + int(8.0 * (top + 1.0) ** (1.0 / 3.0)), 0, -1):
        if k == top:
            found = here
        above, here = here, 2.0 * (low + k) / x * here - above
        if abs(here) > 1e250:
            above, here, found = above * 1e-250, here * 1e-250, found * 1e-250
    return found / here * first if abs(first) > abs(second) else found / above * second


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
        return float(special.jv(n, x)) if n > _LARGE else _lowered(n, x)
    if n > _MOST:
        return NAN
    return _raised(_j_pair, n, x, -1.0)


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
    return _raised(_y_pair, n, x, -1.0)


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
    if x < 700.0 and n < _LARGE and not _is_far(n, x):
        found = _power_series(n, x, 1.0)    # SciPy loses 170 units
        if found:       # else its first term underflows, the sum need not
            return sign * found * (math.exp(-x) if scaled else 1.0)
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
    return _raised(lambda k, x: _k_pair(k, x, half * half), n, x, 1.0)


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
    return _raised(_k_pair, n, x, 1.0)
