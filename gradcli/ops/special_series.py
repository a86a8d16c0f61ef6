"""What special functions share: Horner's scheme, exact squares, powers that never raise."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INF = math.inf
NAN = math.nan
EPSILON = 2.0**-53
EULER = 0.5772156649015329


def horner(coefficients: Sequence[float], t: float) -> float:
    """The polynomial in t whose coefficients are given from the highest power down."""
    total = 0.0
    for coefficient in coefficients:
        total = total * t + coefficient
    return total


def is_whole(n: float) -> bool:
    """Whether n is an integer; False for inf and nan."""
    return n % 1.0 == 0.0


def is_odd(n: float) -> bool:
    """Whether the whole number n is odd."""
    return n % 2.0 == 1.0


def split(x: float) -> tuple[float, float]:
    """x as a sum of two floats of 26 bits, whose products are exact (Veltkamp); |x| < 1e300."""
    scaled = x * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def square(x: float) -> tuple[float, float]:
    """x*x as an exact float and a small rest.

    Makes exp(x*x) as accurate for large x as for small: a plain x*x is off by half a unit in its
    last place, which exp turns into a relative error of x*x half units.
    """
    high, low = split(x)
    return high * high, low * (x + high)


def exp(x: float) -> float:
    """e**x, inf where it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return INF


def power(base: float, exponent: float) -> float:
    """base**exponent for base > 0, inf where it overflows."""
    try:
        result: float = base**exponent
        return result
    except OverflowError:
        return INF


def sin_pi(x: float) -> float:
    """sin(pi x) for finite x, with full relative accuracy next to its zeros."""
    part = math.remainder(x, 2.0)
    if abs(part) > 0.5:
        part = math.copysign(1.0, part) - part
    return math.sin(math.pi * part)
