"""The error function's family on Python floats: erfcx, erfi, dawsn, erfinv, erfcinv.

Total: every float gives a float, no exception escapes; inf, nan and domains follow SciPy. Relative
error at most 1e-15 everywhere (next to the zero of erfcinv at 1 too). References: DLMF chapter 7.
"""

from __future__ import annotations

import math

from gradcli.ops.special.beta import gammainc
from gradcli.ops.special.gamma import EPSILON, EULER, INF, NAN, horner, split, square

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SQRT_PI = math.sqrt(math.pi)
_TWO_OVER_SQRT_PI = 2.0 / _SQRT_PI

# DLMF 7.12.1: x sqrt(pi) erfcx(x) ~ sum of (-1)**k (2k-1)!! / (2 x**2)**k; highest power first.
_ERFCX_TAIL = (10395.0 / 64, -945.0 / 32, 105.0 / 16, -15.0 / 8, 3.0 / 4, -1.0 / 2, 1.0)

# DLMF 7.6.1 at an imaginary argument: erfi(x) = 2/sqrt(pi) * sum of x**(2k+1) / (k! (2k+1)).
_ERFI_SERIES = tuple(1.0 / (math.factorial(k) * (2 * k + 1)) for k in range(18, -1, -1))

# The same asymptotic series with all signs positive: 2 x dawsn(x), from x = 10 on.
_DAWSN_TAIL = tuple(math.prod(range(1, 2 * k, 2)) / 2.0**k for k in range(13, -1, -1))

# Rybicki, "Dawson's integral and the sampling theorem" (1989): exp(-(n h)**2) for odd n.
_RYBICKI_STEP = 0.25
_RYBICKI = tuple((n, math.exp(-((n * _RYBICKI_STEP) ** 2))) for n in range(1, 27, 2))


def erfcx(x: float) -> float:
    """exp(x**2) erfc(x), the scaled complementary error function (DLMF 7.12.1 for large x)."""
    if x >= 26.0:
        return horner(_ERFCX_TAIL, 1.0 / x / x) / _SQRT_PI / x
    if x < -26.63:
        return INF
    high, low = square(x)
    return math.exp(high) * math.exp(low) * math.erfc(x)


def _dawsn_sampled(x: float) -> float:
    """Dawson's integral for 1 <= x < 10 by Rybicki's sampled series, error below 1e-17.

    dawsn(x) = 1/sqrt(pi) * sum over odd n of exp(-(x - n h)**2) / n, summed outwards from the even
    multiple of h nearest to x.
    """
    nearest = 2 * round(x / (2.0 * _RYBICKI_STEP))
    rest = x - nearest * _RYBICKI_STEP
    up = math.exp(2.0 * rest * _RYBICKI_STEP)
    factor = up * up
    down = 1.0 / up
    total = 0.0
    for n, weight in _RYBICKI:
        total += weight * (up / (nearest + n) + down / (nearest - n))
        up *= factor
        down /= factor
    return total * math.exp(-rest * rest) / _SQRT_PI


def _dawsn_positive(x: float) -> float:
    """Dawson's integral for x >= 1; from 10 on the asymptotic series DLMF 7.12.1."""
    if x < 10.0:
        return _dawsn_sampled(x)
    return horner(_DAWSN_TAIL, 1.0 / x / x) * 0.5 / x


def dawsn(x: float) -> float:
    """Dawson's integral exp(-x**2) * (integral of exp(t**2) from 0 to x) (DLMF 7.2.5)."""
    size = abs(x)
    if size >= 1.0:
        return math.copysign(_dawsn_positive(size), x)
    return x * horner(_ERFI_SERIES, x * x) * math.exp(-x * x)


def erfi(x: float) -> float:
    """The imaginary error function -i erf(i x) (DLMF 7.6.1; 7.5.1 through dawsn from 1 on)."""
    size = abs(x)
    if size < 1.0:
        return _TWO_OVER_SQRT_PI * x * horner(_ERFI_SERIES, x * x)
    if size > 27.0:
        return math.copysign(INF, x)
    high, low = square(size)
    half = math.exp(0.5 * high)  # in two halves: exp(x*x) overflows before erfi does
    return math.copysign(
        half * (_TWO_OVER_SQRT_PI * _dawsn_positive(size)) * math.exp(low) * half, x
    )


def _erfinv_middle(y: float) -> float:
    """erfinv for |y| <= 1/2: Maclaurin start (DLMF 7.17.2), then two Halley steps on erf."""
    t = math.pi * y * y
    x = 0.5 * _SQRT_PI * y * (1.0 + t * (1.0 / 12.0 + t * (7.0 / 480.0 + t * 127.0 / 40320.0)))
    for _ in range(2):
        newton = (math.erf(x) - y) * math.exp(x * x) * (0.5 * _SQRT_PI)
        x -= newton / (1.0 + x * newton)
    return x


def _erfcinv_tail(q: float) -> float:
    """erfcinv for 0 < q <= 1/2: three Halley steps on log(erfc(x)) = log(erfcx(x)) - x**2.

    The logarithm is almost a parabola, so the steps converge from anywhere, also where erfc
    itself is subnormal. The start is Winitzki's formula (2008), good to 0.2 percent.
    """
    log_q = math.log(q)
    s = log_q + math.log(2.0 - q)
    middle = 4.3307 + 0.5 * s
    x = math.sqrt(math.sqrt(middle * middle - s / 0.147) - middle)
    for _ in range(3):
        scaled = 0.5 * _SQRT_PI * erfcx(x)
        miss = math.log(_TWO_OVER_SQRT_PI * scaled) - x * x - log_q
        x += miss * scaled / (1.0 - miss * (x * scaled - 0.5))
    return x


def erfinv(y: float) -> float:
    """The inverse of erf on [-1, 1]; +-inf at the ends, nan outside."""
    size = abs(y)
    if size <= 0.5:
        return _erfinv_middle(y)
    if size < 1.0:
        return math.copysign(_erfcinv_tail(1.0 - size), y)  # 1 - size is exact
    return math.copysign(INF, y) if size == 1.0 else NAN


def erfcinv(q: float) -> float:
    """The inverse of erfc on [0, 2]; inf at 0, -inf at 2, nan outside."""
    if 0.5 < q < 1.5:
        return _erfinv_middle(1.0 - q)  # exact from 1/2 to 2
    if 0.0 < q <= 0.5:
        return _erfcinv_tail(q)
    if 1.5 <= q < 2.0:
        return -_erfcinv_tail(2.0 - q)
    if q == 0.0:
        return INF
    return -INF if q == 2.0 else NAN


# --------------------------------------------------------------------------------------------------
# Exponential, logarithmic and hyperbolic integrals on Python floats.
#
# Total: every float gives a float, no exception escapes. Relative error a few 1e-16 away from the
# zeros of `ei` (0.3725), `li` (1.4514) and `chi` (0.5238), absolute there. Reference: DLMF chapter
# 6.

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


# --------------------------------------------------------------------------------------------------
# Sine, cosine and Fresnel integrals and Lambert's W on Python floats.
#
# Total: every float gives a float, no exception escapes. Oscillating functions: absolute error a
# few 1e-16; the others: relative error about 1e-15. References: DLMF chapters 4.13, 6 and 7.

def _alternating(degree: int, divisor: Callable[[int], int]) -> tuple[float, ...]:
    """The coefficients (-1)**k / divisor(k), k from degree down to 0."""
    return tuple((-1.0) ** k / divisor(k) for k in range(degree, -1, -1))


# DLMF 6.6.5, 6.6.6: (-1)**k / ((2k+1) (2k+1)!) and (-1)**k / (2k (2k)!); highest power first.
_SI_SERIES = _alternating(14, lambda k: (2 * k + 1) * math.factorial(2 * k + 1))
_CI_SERIES = _alternating(14, lambda k: -(2 * k + 2) * math.factorial(2 * k + 2))

# DLMF 7.6.4, 7.6.6 in t = pi x**2 / 2: (-1)**k / ((4k+1) (2k)!) and (-1)**k / ((4k+3) (2k+1)!).
_FRESNELC = _alternating(15, lambda k: (4 * k + 1) * math.factorial(2 * k))
_FRESNELS = _alternating(15, lambda k: (4 * k + 3) * math.factorial(2 * k + 1))

# W(x) at its branch point in powers of p = sqrt(2 (e x + 1)), DLMF 4.13.6; highest power first.
_LAMBERTW_BRANCH = (
    -0.0006720616311561362, 0.0010262633205076071, -0.0015769303446867841, 0.0024408779911439826,
    -0.0038112980348919993, 0.006014543252956118, -0.009616892024299432, 0.01563563253233392,
    -0.02598471487360376, 0.044502314814814814, -0.07962962962962963, 0.1527777777777778,
    -0.3333333333333333, 1.0, -1.0,
)
_INVERSE_E = 0.36787944117144233
_INVERSE_E_REST = -1.2428753672788363e-17


def _exponential_fraction(x: float) -> complex:
    """exp(i x) E1(i x) for x > 4, by Lentz's method on the continued fraction DLMF 6.9.1."""
    b = complex(1.0, x)
    c: complex = 1e300
    d = value = 1.0 / b
    for k in range(1, 100):
        b += 2.0
        d = 1.0 / (b - k * k * d)
        c = b - k * k / c
        step = c * d
        value *= step
        if abs(step.real - 1.0) + abs(step.imag) < EPSILON:
            break
    return value


def si(x: float) -> float:
    """The sine integral, from 0 to x of sin(t)/t (DLMF 6.6.5, 6.5.6)."""
    size = abs(x)
    if size <= 4.0:
        return x * horner(_SI_SERIES, x * x)
    if size == INF or x != x:
        return math.copysign(0.5 * math.pi, x) if x == x else NAN
    value = _exponential_fraction(size)
    rest = value.imag * math.cos(size) - value.real * math.sin(size)
    return math.copysign(0.5 * math.pi + rest, x)


def ci(x: float) -> float:
    """The cosine integral, gamma + log|x| + integral of (cos(t) - 1)/t from 0 to x (DLMF 6.2.13).

    -inf at 0. For x < 0 the real part of the complex function and nan at -inf, as in SciPy.
    """
    size = abs(x)
    if size == 0.0:
        return -INF
    if size <= 4.0:
        t = x * x
        return EULER + math.log(size) + t * horner(_CI_SERIES, t)
    if size == INF or x != x:
        return 0.0 if x == INF else NAN
    value = _exponential_fraction(size)
    return -(value.real * math.cos(size) + value.imag * math.sin(size))


def _fresnel_far(x: float) -> complex:
    """C(x) + i S(x) for x > 1.5 by the continued fraction of erfc, DLMF 7.9.1 and 7.5.8.

    The angle pi x**2 / 2 is reduced exactly, so that the phase is right however large x is.
    """
    if x > 1e17:
        return 0.5 + 0.5j
    b = complex(1.0, -math.pi * x * x)
    c: complex = 1e300
    d = value = 1.0 / b
    for k in range(1, 200, 2):
        b += 4.0
        numerator = -k * (k + 1)
        d = 1.0 / (b + numerator * d)
        c = b + numerator / c
        step = c * d
        value *= step
        if abs(step.real - 1.0) + abs(step.imag) < EPSILON:
            break
    high, low = split(x)
    turn = sum(math.fmod(part, 4.0) for part in (high * high, 2.0 * high * low, low * low))
    angle = 0.5 * math.pi * math.remainder(turn, 4.0)
    wave = complex(math.cos(angle), math.sin(angle))
    return (0.5 + 0.5j) * (1.0 - wave * value * complex(x, -x))


def fresnels(x: float) -> float:
    """The Fresnel integral from 0 to x of sin(pi t**2 / 2) (DLMF 7.2.8, 7.6.6)."""
    size = abs(x)
    if size > 1.5:
        return math.copysign(_fresnel_far(size).imag, x)
    t = 0.5 * math.pi * x * x
    return x * t * horner(_FRESNELS, t * t)


def fresnelc(x: float) -> float:
    """The Fresnel integral from 0 to x of cos(pi t**2 / 2) (DLMF 7.2.7, 7.6.4)."""
    size = abs(x)
    if size > 1.5:
        return math.copysign(_fresnel_far(size).real, x)
    t = 0.5 * math.pi * x * x
    return x * horner(_FRESNELC, t * t)


def lambertw(x: float) -> float:
    """The principal branch of w exp(w) = x for x >= -1/e, nan below.

    A series at the branch point (DLMF 4.13.6), elsewhere two steps of Fritsch, Shafer and Crowley
    (1973) from the start of Iacono and Boyd (2017). The float next to -1/e lies 1e-17 below it;
    it gives -1, as who writes -1/e expects.
    """
    above = (x + _INVERSE_E) + _INVERSE_E_REST
    if not above > 0.0:
        return -1.0 if above > -2e-17 else NAN
    if x in (0.0, INF):
        return x
    p = math.sqrt(2.0 * math.e * above)
    if p < 0.1:
        return horner(_LAMBERTW_BRANCH, p)
    if x < -0.2:
        w = horner(_LAMBERTW_BRANCH, p)
    else:
        log = math.log1p(x)
        w = log * (1.0 - math.log1p(log) / (2.0 + log))
    for _ in range(2):
        z = math.log(x / w) - w
        q = 2.0 * (1.0 + w) * (1.0 + w + 2.0 / 3.0 * z)
        w += w * z / (1.0 + w) * (q - z) / (q - 2.0 * z)
    return w
