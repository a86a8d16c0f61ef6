"""Bessel functions of orders that are not whole, on Python floats, x > 0.

J and Y of an order between -1/2 and 1/2, and of the next one, are the real and imaginary part of
Hankel's function, K(-ix) up to a factor; both come from one integral over a line on which it falls
off doubly exponentially, so the trapezoidal rule converges exponentially. Other orders follow by
recurrence in the direction that is stable. Power series near 0 and expansions far out are those of
whole orders (`bessel`). Error a few 1e-15 of the oscillation's size, relative where the
order is above x; for orders of some hundred, as many units. References: DLMF chapter 10.
"""

from __future__ import annotations

import cmath
import math

from gradcli.ops.special import bessel_expansions as expansions
from gradcli.ops.special.gamma import INF, NAN, exp

_FAR = 25.0         # from here on the expansions for large x are good, if x > n**2 / 2
_MOST = 100000.0    # orders above it take too many steps of a recurrence
_SERIES = 2000.0    # above it In of an order below 1000 overflows


def turned(n: float) -> tuple[float, float]:
    """cos(n pi) and sin(n pi), exact where n is a multiple of 1/2."""
    r = n % 2.0
    quarter = round(2.0 * r)
    rest = (r - 0.5 * quarter) * math.pi
    c, s = math.cos(rest), math.sin(rest)
    for _ in range(quarter % 4):
        c, s = -s, c
    return c, s


def _hankel_integral(n: float, x: float) -> complex:
    """J + iY for 0 < x < 25 and small orders: 10.9.10 with t moved to t + i pi/2 tanh(t)."""
    step = 0.05
    log_x = math.log(x) - math.log(2.0)
    last = math.log(1520.0) - log_x + abs(n)
    total = 0j
    for k in range(-int(last / step), int(last / step) + 1):
        s = k * step
        bend = math.tanh(s)
        t = complex(s, 0.5 * math.pi * bend)
        # x cosh(t), where cosh(t) alone may overflow
        power = 1j * (x * cmath.cosh(t) if abs(s) < 600.0 else cmath.exp(abs(s) + log_x + (
            t - s if s > 0.0 else s - t))) - n * t
        if power.real > 700.0:
            return complex(0.0, -INF)
        if power.real > -760.0:
            total += cmath.exp(power) * complex(1.0, 0.5 * math.pi * (1.0 - bend * bend))
    c, s = turned(0.5 * n)
    return total * step * complex(c, -s) / complex(0.0, math.pi)


def _hankel(n: float, x: float) -> complex:
    """J + iY of one of the two lowest orders."""
    return complex(*far(n, x)) if x >= _FAR else _hankel_integral(n, x)


def far(n: float, x: float) -> tuple[float, float]:
    """J and Y of order n for large x (10.17.3, 10.17.4), any n."""
    p, q = expansions.hankel_sums(n, x)
    c, s = turned(0.5 * n + 0.25)
    sine, cosine = math.sin(x), math.cos(x)
    sine, cosine = sine * c - cosine * s, cosine * c + sine * s
    size = math.sqrt(2.0 / math.pi / x)
    return size * (p * cosine - q * sine), size * (p * sine + q * cosine)


def _raised(n: float, mu: float, x: float, first: float, second: float, sign: float) -> float:
    """Order n from orders mu and mu + 1 (10.6.1, 10.29.1)."""
    if n == mu:
        return first
    k = mu + 1.0
    while k < n - 0.5 and abs(second) < INF:
        first, second = second, 2.0 * k / x * second + sign * first
        k += 1.0
    return second


def _base(n: float) -> float:
    """The order between -1/2 and 1/2 from which n >= 0 is reached."""
    return n - math.floor(n + 0.5)


def _j(n: float, x: float) -> float:
    if x * x <= 4.0 * (n + 1.0):
        return expansions.power_series(n, x, -1.0)
    if x >= _FAR and x >= 0.5 * n * n:
        return far(n, x)[0]
    if n > x and expansions.decay(n, x) < -760.0:
        return 0.0
    if n > _MOST:
        return NAN
    mu = _base(n)
    first, second = _hankel(mu, x).real, _hankel(mu + 1.0, x).real
    if n <= x:
        return _raised(n, mu, x, first, second, -1.0)
    # Miller's backward recurrence, to the larger of the two.
    top = int(n - mu)
    k = top + 20 + int(8.0 * (top + 1.0) ** (1.0 / 3.0))
    above, here, found = 0.0, 1e-280, 0.0
    while k > 0:
        above, here = here, 2.0 * (mu + k) / x * here - above
        k -= 1
        if k == top:
            found = here
        if abs(here) > 1e250:
            above, here, found = above * 1e-250, here * 1e-250, found * 1e-250
    return found / here * first if abs(first) > abs(second) else found / above * second


def _y(n: float, x: float) -> float:
    if x >= _FAR and x >= 0.5 * n * n:
        return far(n, x)[1]
    if n > x and expansions.decay(n, x) < -760.0:
        return -INF
    if n > _MOST:
        return NAN
    mu = _base(n)
    return _raised(n, mu, x, _hankel(mu, x).imag, _hankel(mu + 1.0, x).imag, -1.0)


def besselj(n: float, x: float) -> float:
    """Jn(x) for an n that is not whole; nan for x < 0, where it is complex."""
    if not x >= 0.0 or abs(n) == INF:
        return NAN
    if x == INF:
        return 0.0
    if n > 0.0:
        return _j(n, x) if x else 0.0
    c, s = turned(-n)
    if x == 0.0:
        return math.copysign(INF, s)
    y = _y(-n, x)
    return c * _j(-n, x) - (s * y if s else 0.0)


def bessely(n: float, x: float) -> float:
    """Yn(x) for an n that is not whole; nan for x < 0."""
    if not x >= 0.0 or abs(n) == INF:
        return NAN
    if x == INF:
        return 0.0
    if n > 0.0:
        return _y(n, x) if x else -INF
    c, s = turned(-n)
    if x == 0.0:
        return math.copysign(INF, -c) if c else 0.0
    return s * _j(-n, x) + (c * _y(-n, x) if c else 0.0)


def _i(n: float, x: float) -> float:
    if n >= 1000.0:
        return expansions.debye(n, x, 1.0)
    if x > _SERIES:
        return INF
    if x >= _FAR and x >= 0.5 * n * n:
        half = exp(0.5 * x)
        return half / math.sqrt(2.0 * math.pi * x) * expansions.exponential_sum(n, x, -1.0) * half
    return expansions.power_series(n, x, 1.0)


def besseli(n: float, x: float) -> float:
    """In(x) for an n that is not whole; nan for x < 0."""
    if not x >= 0.0 or abs(n) == INF:
        return NAN
    if n > 0.0:
        return (_i(n, x) if x < INF else INF) if x else 0.0
    s = turned(-n)[1]
    if x == 0.0:
        return math.copysign(INF, s)
    return (_i(-n, x) if x < INF else INF) + 2.0 / math.pi * s * besselk(-n, x)


def besselie(n: float, x: float) -> float:
    """exp(-x) In(x) for an n that is not whole; nan for x < 0."""
    if not x >= 0.0 or abs(n) == INF:
        return NAN
    if x == INF:
        return 0.0
    if x < _FAR:
        return besseli(n, x) * math.exp(-x)
    if n > 0.0:
        return _scaled_i(n, x)
    return _scaled_i(-n, x) + 2.0 / math.pi * turned(-n)[1] * scaled_k(n, x) * math.exp(-2.0 * x)


def _scaled_i(n: float, x: float) -> float:
    """exp(-x) In(x) for n > 0, x >= 25."""
    front = 1.0 / math.sqrt(2.0 * math.pi * x)
    if x >= 0.5 * n * n:
        return front * expansions.exponential_sum(n, x, -1.0)
    if n > _MOST:
        return besseli(n, x) * math.exp(-x)
    # The ratios of neighbours by backward recurrence (10.33.1), from where it has converged.
    mu, ratio, product = _base(n), 0.0, 1.0
    for k in range(int(math.sqrt(n * n + 40.0 * x)) + 20, 0, -1):
        ratio = 1.0 / (2.0 * (mu + k) / x + ratio)
        if k <= n - mu:
            product *= ratio
    return front * expansions.exponential_sum(mu, x, -1.0) * product


def besselke(n: float, x: float) -> float:
    """exp(x) Kn(x) for an n that is not whole; inf at 0, nan below."""
    if not x >= 0.0 or abs(n) == INF:
        return NAN
    return INF if x == 0.0 else 0.0 if x == INF else scaled_k(n, x)


def scaled_k(n: float, x: float, factor: float = 1.0) -> float:
    """exp(x) Kn(x) for 0 < x < inf, times a factor that may keep it from overflowing."""
    n = abs(n)
    if x >= _FAR and x >= 0.5 * n * n:
        return factor * math.sqrt(0.5 * math.pi / x) * expansions.exponential_sum(n, x, 1.0)
    if n > _MOST:
        return NAN
    mu = _base(n)
    return _raised(n, mu, x, factor * _k_integral(mu, x), factor * _k_integral(mu + 1.0, x), 1.0)


def _k_integral(n: float, x: float) -> float:
    """exp(x) Kn(x) of a small order: 10.32.9 by the trapezoidal rule."""
    step = min(0.2, 0.65 / math.sqrt(x))
    total, t = 0.5, step
    while True:
        sine = math.sinh(0.5 * t)
        fall = 2.0 * x * sine * sine
        if fall > 745.0:
            return total * step
        total += 0.5 * (exp(n * t - fall) + exp(-n * t - fall))
        t += step


def besselk(n: float, x: float) -> float:
    """Kn(x) for an n that is not whole; inf at 0, nan below."""
    n = abs(n)
    if not x >= 0.0 or n == INF:
        return NAN
    if x == 0.0:
        return INF
    if n >= 1000.0:
        return expansions.debye(n, x, -1.0) if x < INF else 0.0
    if x > 1500.0:
        return 0.0
    half = math.exp(-0.5 * x)
    if x < 700.0:   # here exp(-x) is normal; above, the scaled values cannot overflow
        return scaled_k(n, x, half * half)
    return scaled_k(n, x) * half * half
