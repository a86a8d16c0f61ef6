"""Functions on Python floats that derivatives of special functions lead to.

Each family is closed under differentiation (its order or power grows by one), so that derivatives
of any order keep their digits where the textbook form cancels: 2 x erfcx(x) - 2/sqrt(pi) for large
x, sin(x)/x at 0, (E - (1-m) K)/m at m = 0; and so that `gammainc` has a derivative in a at all.
Total, as the other special functions; orders n, k, j are whole numbers, nan for others. Relative
error about 1e-14, of integrals relative to that of the magnitude; dawsn_derivative loses two digits
an order for x from 3 to 7.
"""

from __future__ import annotations

import math
from functools import lru_cache

from gradcli.ops.special.bessel import besselie, besselke
from gradcli.ops.special.floats import dawsn, erfcx
from gradcli.ops.special.gamma import (
    EPSILON,
    EULER_MACLAURIN,
    INF,
    NAN,
    is_odd,
    is_whole,
    polygamma,
    power,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT_PI = math.sqrt(math.pi)


# --- families with a recurrence ---------------------------------------------------------------


def erfcx_derivative(n: float, x: float) -> float:
    """The n-th derivative of erfcx: (-2)**n n! exp(x**2) i^n erfc(x) (DLMF 7.18.4).

    The recurrence DLMF 7.18.7 forwards for small and negative x; from 1 on backwards by Miller's
    method, where it is stable.
    """
    if not (0.0 <= n <= 1000.0 and is_whole(n)) or x != x:
        return NAN
    first = erfcx(x)
    if n == 0.0 or first in (0.0, INF):
        return first * math.pow(-2.0, n)
    if x < 1.0:
        below, here = first, 2.0 * x * first - 2.0 / _ROOT_PI
        for k in range(1, int(n)):
            below, here = here, 2.0 * (x * here + k * below)
        return here
    # The derivatives in units of (-2)**k k!, where all are positive.
    above, here, value = 0.0, 1e-280, 0.0
    for k in range(int(n) + 12 + int(200.0 / (x * x)), 0, -1):
        if k == n:
            value = here
        above, here = here, 2.0 * (x * here + (k + 1) * above)
        if here > 1e200:
            above, here, value = above * 1e-280, here * 1e-280, value * 1e-280
    try:
        return value / here * first * math.pow(-2.0, n) * math.factorial(int(n))
    except OverflowError:
        return -INF if is_odd(n) else INF


def dawsn_derivative(n: float, x: float) -> float:
    """The n-th derivative of Dawson's integral (DLMF 7.2.5), for large x by its asymptotic series.

    Below by D' = 1 - 2 x D and its derivatives: D^(k+1) = -2 (x D^(k) + k D^(k-1)).
    """
    if not (0.0 <= n <= 100.0 and is_whole(n)) or x != x:
        return NAN
    if n == 0.0:
        return dawsn(x)
    if abs(x) < 6.5 + 0.4 * n:
        below = dawsn(x)
        here = 1.0 - 2.0 * x * below
        for k in range(1, int(n)):
            below, here = here, -2.0 * (x * here + k * below)
        return here
    term = total = 1.0
    for k in range(60):
        term *= (2.0 * k + n + 1.0) * (2.0 * k + n + 2.0) / (4.0 * (k + 1)) / x / x
        total += term
        if term < EPSILON * total:
            break
    size = 0.5 * total
    for k in range(1, int(n) + 1):
        size *= -k / x
    return size / x


def sphericalj(n: float, x: float) -> float:
    """The spherical Bessel function of the first kind, sin(x)/x for n = 0 (DLMF 10.47.3).

    A power series (DLMF 10.53.1), the recurrence 10.51.1 upwards where n < x, Miller's method
    between.
    """
    if not (0.0 <= n <= 100000.0 and is_whole(n)) or x != x:
        return NAN
    size = abs(x)
    sign = -1.0 if x < 0.0 and is_odd(n) else 1.0
    if size == INF:
        return 0.0
    if size * size <= 4.0 * n + 6.0:
        return sign * _sphericalj_series(n, size)
    zero = math.sin(size) / size
    one = (zero - math.cos(size)) / size
    if size > n:
        below, here = zero, one
        for k in range(1, int(n)):
            below, here = here, (2 * k + 1) / size * here - below
        return sign * here if n else zero
    above, here, value = 0.0, 1e-280, 0.0
    for k in range(int(n) + 20 + int(8.0 * (n + 1.0) ** (1.0 / 3.0)), 0, -1):
        if k == n:
            value = here
        above, here = here, (2 * k + 1) / size * here - above
        if abs(here) > 1e200:
            above, here, value = above * 1e-280, here * 1e-280, value * 1e-280
    # One of the two is not near a zero.
    return sign * value * (zero / here if abs(zero) > abs(one) else one / above)


def _sphericalj_series(n: float, x: float) -> float:
    factor = 1.0
    for k in range(1, int(n) + 1):
        factor *= x / (2 * k + 1)
    term = total = 1.0
    k = 0
    while abs(term) > 0.25 * EPSILON * abs(total):
        k += 1
        term *= -0.5 * x * x / (k * (2.0 * (n + k) + 1.0))
        total += term
    return factor * total


def polygamma_difference(n: float, x: float, d: float) -> float:
    """polygamma(n, x) - polygamma(n, x + d), also where the two agree in most of their digits.

    The differences of the terms of both sums (DLMF 5.15.1), then those of their Euler-Maclaurin
    formulas (2.10.1).
    """
    low, high = (x, x + d) if d > 0.0 else (x + d, x)
    if not (0.0 <= n <= 150.0 and is_whole(n) and -1000.0 < low and high < INF) or any(
            v <= 0.0 and is_whole(v) for v in (low, high)):
        return polygamma(n, x) - polygamma(n, x + d)
    s, width, total, k = n + 1.0, abs(d), 0.0, 0.0
    while low + k < s + 9.0:
        total += _power_step(-s, low + k, high + k, width)
        k += 1.0
    low, high = low + k, high + k
    total += 0.5 * _power_step(-s, low, high, width) + (
        _power_step(1.0 - s, low, high, width) / (s - 1.0) if n else -math.log1p(width / low))
    factor = s
    for coefficient in EULER_MACLAURIN:
        term = coefficient * factor * _power_step(-s - 1.0, low, high, width)
        total += term
        if abs(term) < EPSILON * abs(total):
            break
        factor *= (s + 1.0) * (s + 2.0)
        s += 2.0
    return math.factorial(int(n)) * math.copysign(total, total * (-d if is_odd(n) else d))


def _power_step(exponent: float, low: float, high: float, width: float) -> float:
    """high**exponent - low**exponent for a whole exponent, where width is high - low."""
    sign = -1.0 if low < 0.0 and is_odd(exponent) else 1.0
    if abs(width) < 0.5 * abs(low):
        return sign * power(abs(low), exponent) * math.expm1(exponent * math.log1p(width / low))
    return math.copysign(power(abs(high), exponent), high if is_odd(exponent) else 1.0
                         ) - sign * power(abs(low), exponent)


def besselie_derivative(k: float, n: float, x: float) -> float:
    """The k-th derivative of besselie(n, x), with the slope 0 of the exponential at x = 0."""
    if not (0.0 <= k <= 100.0 and is_whole(k)):
        return NAN
    size = abs(x) if is_whole(n) else x
    if x == 0.0:
        return math.ldexp(math.fsum(math.comb(int(k), i) * besselie(n + k - 2.0 * i, x)
                                    for i in range(int(k) + 1)), -int(k))
    found = _far_derivative(k, n, size, -1.0) / math.pi if _is_far(k, n, size) else (
        _second_differences(besselie, k, n, size))
    return found if size == x or is_odd(n) == is_odd(k) else -found


def besselke_derivative(k: float, n: float, x: float) -> float:
    """The k-th derivative of besselke(n, x)."""
    if not (0.0 <= k <= 100.0 and is_whole(k)):
        return NAN
    if _is_far(k, n, x):
        return _far_derivative(k, n, x, 1.0)
    if besselke(abs(n) + k, x) == INF:
        return -INF if is_odd(k) else INF
    found = _second_differences(besselke, k, n, x)
    return -found if is_odd(k) else found


def _is_far(k: float, n: float, x: float) -> bool:
    return x >= 25.0 + 2.0 * k and x >= 0.5 * n * n


def _far_derivative(k: float, n: float, x: float, sign: float) -> float:
    """The k-th derivative of sqrt(pi/(2 x)) times the series of exp(-x) In (sign -1) without its
    1/pi, or exp(x) Kn (sign +1), for large x (DLMF 10.40.1-2).
    """
    mu, rising = 4.0 * n * n, math.sqrt(0.5 * math.pi / x)
    for i in range(int(k)):
        rising *= -(i + 0.5) / x
    term = total = rising
    for j in range(1, 60):
        term *= sign * (mu - (2 * j - 1) ** 2) / (8.0 * j) / x * ((j + k - 0.5) / (j - 0.5))
        total += term
        if abs(term) <= 0.1 * EPSILON * abs(total):
            break
    return total


def _second_differences(function: Callable[[float, float], float], k: float, n: float, x: float
                        ) -> float:
    """The k-th power of half the second difference in the order (DLMF 10.29.1)."""
    return math.ldexp(math.fsum(
        (-1.0) ** i * math.comb(2 * int(k), i) * function(n + k - i, x)
        for i in range(2 * int(k) + 1)), -int(k))


# --- integrals --------------------------------------------------------------------------------


def _sum(term: Callable[[float], float], first: float, last: float, step: float
         ) -> tuple[float, float]:
    """The trapezoidal sum over [first, last], and that of the magnitudes."""
    total = size = 0.0
    while first <= last:
        value = term(first)
        total += value
        size += abs(value)
        first += step
    return step * total, step * size


def _quadrature(term: Callable[[float], float], first: float, last: float) -> float:
    """The integral of a term that falls off doubly exponentially (Takahasi and Mori 1974).

    The step is halved until two sums agree to half the digits: the next has all.
    """
    step = 0.125
    value, size = _sum(term, first, last, step)
    for _ in range(7):
        other, other_size = _sum(term, first + 0.5 * step, last, step)
        # What is not finite stays as it is.
        close = not abs(other - value) > 1e-8 * size
        value, size = 0.5 * (value + other), 0.5 * (size + other_size)
        step *= 0.5
        if close:
            break
    return value


def _gamma_integral(n: float, a: float, x: float, sign: float) -> float:
    """The integral of log(t)**n t**(a-1) exp(-t) from x to inf (sign 1) or from 0 to x (-1).

    With t = x exp(+-s) a half-line, which s = exp(v - exp(-v)) makes a line.
    """
    start = math.log(x)

    def term(v: float) -> float:
        fall = math.exp(-v)
        s = math.exp(v - fall)
        log_t = start + sign * s
        exponent = a * log_t - math.exp(log_t) if log_t < 700.0 else -INF
        if exponent < -745.0:
            return 0.0
        try:
            return math.pow(log_t, n) * math.exp(exponent) * s * (1.0 + fall)
        except OverflowError:
            return INF

    return _quadrature(term, -4.5, 8.0 if sign > 0.0 or a > 1.0 else 8.0 - math.log(a))


def gammainc_log(n: float, a: float, x: float) -> float:
    """The n-th derivative in a of the upper incomplete gamma function (DLMF 8.2.2)."""
    if not (n >= 0.0 and is_whole(n) and a == a and x > 0.0) or abs(a) == INF:
        return NAN
    return _gamma_integral(n, a, x, 1.0) if x < INF else 0.0


def gammaincl_log(n: float, a: float, x: float) -> float:
    """The n-th derivative in a of the lower incomplete gamma function (DLMF 8.2.1)."""
    if not (n >= 0.0 and is_whole(n) and 0.0 < a < INF and x >= 0.0):
        return NAN
    return _gamma_integral(n, a, min(x, 1e4), -1.0) if x else 0.0


def elliptic_moment(k: float, j: float, phi: float, m: float) -> float:
    """The integral of sin(t)**(2k) (1 - m sin(t)**2)**(-j - 1/2) from 0 to phi, k >= 0.

    DLMF 19.2.4 to 19.2.6: F is (0, 0), E (0, -1) and D (1, 0). Its derivative in m is
    (j + 1/2) times that of (k + 1, j + 1).
    """
    if not (k >= 0.0 and is_whole(k) and is_whole(j) and abs(phi) < INF and abs(m) < INF):
        return NAN
    if m >= 1.0 and abs(phi) >= 0.5 * math.pi:
        if m > 1.0:
            return NAN
        if j >= 0.0:
            return math.copysign(INF, phi)
    sine, cosine = math.sin(phi), math.cos(phi)
    if cosine < 0.0:
        sine, cosine = -sine, -cosine
    angle = math.atan2(sine, cosine)
    turns = float(round((phi - angle) / math.pi))
    value = math.copysign(_moment(k, j, abs(angle), m), angle)
    return value + 2.0 * turns * _moment(k, j, 0.5 * math.pi, m) if turns else value


@lru_cache(maxsize=1024)     # sweeps ask for the same slopes again and again
def _moment(k: float, j: float, phi: float, m: float) -> float:
    """elliptic_moment for 0 <= phi <= pi/2, by the tanh-sinh rule.

    1 - m sin**2 is taken from the nearer end, so that a zero of it at or behind phi does no harm.
    """
    sine = math.sin(phi)
    end = math.cos(phi) ** 2 + (1.0 - m) * sine * sine
    if end < 0.0:
        return NAN

    def term(v: float) -> float:
        near, far, steep = _tanh_sinh(v)
        left, right = phi * near, phi * far
        sine = math.sin(left)
        if left < right:
            rest = 1.0 - m * sine * sine
        else:
            rest = end + m * math.sin(2.0 * phi - right) * math.sin(right)
        if rest <= 0.0:
            return 0.0
        try:
            return math.pow(sine, 2.0 * k) * math.pow(rest, -j - 0.5) * (steep * left)
        except OverflowError:
            return INF

    return _quadrature(term, -4.0, 4.0)


@lru_cache(maxsize=1024)
def _tanh_sinh(v: float) -> tuple[float, float, float]:
    """Of an interval of length 1, what lies to the left and to the right of a node of the rule; and
    its weight, divided by the former.
    """
    q = 0.5 * math.pi * math.sinh(v)
    rise, fall = math.exp(q), math.exp(-q)
    return rise / (rise + fall), fall / (rise + fall), math.pi * math.cosh(v) / (rise + fall) * fall
