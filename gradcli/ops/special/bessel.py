"""Bessel functions on Python floats: besselj, bessely, besseli, besselk.

besselj(n, x) and so on, n of either sign; x real where n is whole, else positive: those orders are
in `bessel_real`, which is loaded when one is asked for. Total: every float gives a float,
no exception escapes. besselj and bessely: error a few 1e-15 of the oscillation's size,
relative where n > x; besselk: relative error about 1e-15, besseli 3e-14; orders of some hundred
and more lose about n units. Time grows with the order; besselj and bessely of an order above 100000
give nan from x near n up to n**2 / 2, where no simple expansion reaches. References: DLMF chapter
10, A&S chapter 9.
"""

from __future__ import annotations

import math

from gradcli.ops.special.bessel_expansions import (
    debye,
    decay,
    exponential_sum,
    hankel_sums,
    power_series,
)
from gradcli.ops.special.gamma import INF, NAN, exp, is_odd, is_whole

_MAX_ORDER = 100000.0
_HANKEL_FROM = 25.0
_DEBYE_FROM = 1000.0
_EULER_HALF = -0.11593151565841245  # Euler's constant - log 2


def of_real_order(name: str, n: float, x: float) -> float:
    """The function of this name for an order that is not whole; nan for others."""
    if is_whole(n) or n - n != 0.0 or x != x:
        return NAN
    from gradcli.ops.special import bessel_real

    found: float = getattr(bessel_real, name)(n, x)
    return found


def _hankel(n: float, x: float) -> tuple[float, float]:
    """J and Y of order n for large x (DLMF 10.17.3, 10.17.4).

    sin and cos of x - (n/2 + 1/4) pi come from those of x, so nothing is lost in the difference.
    """
    p, q = hankel_sums(n, x)
    sine, cosine = math.sin(x), math.cos(x)
    for _ in range(int(n % 4.0)):
        sine, cosine = -cosine, sine
    size = math.sqrt(1.0 / math.pi / x)
    cosine, sine = cosine + sine, sine - cosine
    return size * (p * cosine - q * sine), size * (p * sine + q * cosine)


def _miller(n: int, x: float) -> list[float]:
    """J of orders 0, 1, ... at least n at x > 0 by Miller's backward recurrence (DLMF 3.6(iii)).

    Started where J is negligible against order n, scaled by J0 + 2 J2 + 2 J4 + ... = 1 (10.12.4).
    """
    top = max(n, int(x))
    start = top + 20 + int(8.0 * (top + 1.0) ** (1.0 / 3.0))
    values = [0.0] * (start + 1)
    above, here = 0.0, 1.0
    total = 0.0
    for k in range(start, -1, -1):
        values[k] = here
        if k % 2 == 0:
            total += here if k == 0 else 2.0 * here
        above, here = here, 2.0 * k / x * here - above
        if abs(here) > 1e250:
            here, above, total = here * 1e-250, above * 1e-250, total * 1e-250
            for j in range(k, start + 1):
                values[j] *= 1e-250
    return [value / total for value in values]


def _upward(n: float, x: float, first: float, second: float, sign: float) -> float:
    """Order n from orders 0 and 1: f(k+1) = 2k/x f(k) + sign f(k-1) (DLMF 10.6.1, 10.29.1)."""
    if n == 0.0:
        return first
    k = 1.0
    while k < n and abs(second) < INF:
        first, second = second, 2.0 * k / x * second + sign * first
        k += 1.0
    return second


def _bessely_01(x: float) -> tuple[float, float]:
    """Y0 and Y1 for 0 < x < 25 by Neumann's series over J (A&S 9.1.88, 9.1.89)."""
    log = math.log(x) + _EULER_HALF
    if x < 1e-8:
        return 2.0 / math.pi * log, -2.0 / math.pi / x
    j = _miller(0, x)
    even = odd = 0.0
    sign = -1.0
    for k in range(1, len(j) // 2):
        even += sign * j[2 * k] / k
        odd += sign * j[2 * k + 1] * (2 * k + 1) / (k * (k + 1))
        sign = -sign
    y0 = log * j[0] - 2.0 * even
    y1 = (log - 1.0) * j[1] - j[0] / x - odd
    return 2.0 / math.pi * y0, 2.0 / math.pi * y1


def _besselj_positive(n: float, x: float) -> float:
    """Jn(x) for n >= 0, x > 0."""
    if x * x <= 4.0 * (n + 1.0):
        return power_series(n, x, -1.0)
    if x >= _HANKEL_FROM and x >= 0.5 * n * n:
        return _hankel(n, x)[0]
    if n > x and decay(n, x) < -760.0:
        return 0.0
    if n > _MAX_ORDER:
        return NAN
    if n > x or x < _HANKEL_FROM:
        return _miller(int(n), x)[int(n)]
    return _upward(n, x, _hankel(0.0, x)[0], _hankel(1.0, x)[0], -1.0)


def besselj(n: float, x: float) -> float:
    """The Bessel function of the first kind Jn(x); 0 at +-inf."""
    if not is_whole(n) or x != x:
        return of_real_order("besselj", n, x)
    sign = -1.0 if is_odd(n) and (n < 0.0) != (x < 0.0) else 1.0
    n, x = abs(n), abs(x)
    if x == 0.0:
        return 1.0 if n == 0.0 else 0.0
    return sign * _besselj_positive(n, x) if x < INF else 0.0


def bessely(n: float, x: float) -> float:
    """The Bessel function of the second kind Yn(x), x > 0; -inf at 0, nan below."""
    if not is_whole(n) or not x >= 0.0:
        return of_real_order("bessely", n, x)
    sign = -1.0 if n < 0.0 and is_odd(n) else 1.0
    n = abs(n)
    if x == 0.0:
        return sign * -INF
    if x == INF:
        return 0.0
    if x >= _HANKEL_FROM and x >= 0.5 * n * n:
        return sign * _hankel(n, x)[1]
    if n > x and decay(n, x) < -760.0:
        return sign * -INF
    if n > _MAX_ORDER:
        return NAN
    if x < _HANKEL_FROM:
        first, second = _bessely_01(x)
    else:
        first, second = _hankel(0.0, x)[1], _hankel(1.0, x)[1]
    return sign * _upward(n, x, first, second, -1.0)


def besseli(n: float, x: float) -> float:
    """The modified Bessel function of the first kind In(x)."""
    if not is_whole(n) or x != x:
        return of_real_order("besseli", n, x)
    sign = -1.0 if is_odd(n) and x < 0.0 else 1.0
    n, x = abs(n), abs(x)
    if x == 0.0:
        return 1.0 if n == 0.0 else 0.0
    if x == INF:
        return sign * INF
    if n >= _DEBYE_FROM:
        return sign * debye(n, x, 1.0)
    if x > 2000.0:
        return sign * INF
    if x >= _HANKEL_FROM and x >= 0.5 * n * n:
        half = exp(0.5 * x)  # in two halves: exp(x) overflows before In does
        return sign * (half / math.sqrt(2.0 * math.pi * x) * exponential_sum(n, x, -1.0)) * half
    return sign * power_series(n, x, 1.0)


def _besselk_01_series(x: float) -> tuple[float, float]:
    """K0 and K1 for 0 < x < 2 (DLMF 10.31.2, 10.31.1)."""
    t = 0.25 * x * x
    log = math.log(x) + _EULER_HALF
    k0, k1 = -log, log - 0.5
    term, harmonic = 1.0, 0.0
    k = 0.0
    while term > 1e-19:
        k += 1.0
        harmonic += 1.0 / k
        term *= t / (k * k)
        k0 += term * (harmonic - log)
        k1 += term / (k + 1.0) * (log - harmonic - 0.5 / (k + 1.0))
    return k0, 1.0 / x + 0.5 * x * k1


def _besselk_01_integral(x: float) -> tuple[float, float]:
    """exp(x) K0 and exp(x) K1 for 2 <= x < 25: DLMF 10.32.9 by the trapezoidal rule.

    The integrand exp(-x (cosh(t) - 1)) cosh(n t) is entire and falls off doubly exponentially, so
    the rule converges exponentially; at this step its error is below 1e-16.
    """
    step = min(0.2, 0.65 / math.sqrt(x))
    k0 = k1 = 0.5
    t = step
    weight = 1.0
    while weight > 1e-19:
        sine = math.sinh(0.5 * t)
        rise = 2.0 * sine * sine
        weight = math.exp(-x * rise)
        k0 += weight
        k1 += weight * (1.0 + rise)
        t += step
    return k0 * step, k1 * step


def besselk(n: float, x: float) -> float:
    """The modified Bessel function of the second kind Kn(x), x > 0; inf at 0, nan below."""
    if not is_whole(n) or not x >= 0.0:
        return of_real_order("besselk", n, x)
    n = abs(n)
    if x == 0.0:
        return INF
    if x == INF:
        return 0.0
    if n >= _DEBYE_FROM:
        return debye(n, x, -1.0)
    if x < 2.0:
        first, second = _besselk_01_series(x)
        return _upward(n, x, first, second, 1.0)
    if x >= _HANKEL_FROM:
        front = math.sqrt(0.5 * math.pi / x)
        if x >= 0.5 * n * n:
            return front * exponential_sum(n, x, 1.0) * math.exp(-x)
        first, second = (front * exponential_sum(k, x, 1.0) for k in (0.0, 1.0))
    else:
        first, second = _besselk_01_integral(x)
    half = math.exp(-0.5 * x)
    if x < 700.0:  # below, exp(-x) stays normal; above, the scaled values cannot overflow
        return _upward(n, x, first * half * half, second * half * half, 1.0)
    return _upward(n, x, first, second, 1.0) * half * half
