"""Sine, cosine and Fresnel integrals and Lambert's W on Python floats.

Total: every float gives a float, no exception escapes. Oscillating functions: absolute error a few
1e-16; the others: relative error about 1e-15. References: DLMF chapters 4.13, 6 and 7.
"""

from __future__ import annotations

import math

from gradcli.ops.special_series import EPSILON, EULER, INF, NAN, horner, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


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
