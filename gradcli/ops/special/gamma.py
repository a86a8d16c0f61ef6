"""The gamma function, its logarithmic derivatives and beta, on Python floats.

Total: every float gives a float, no exception escapes; poles, inf and nan follow SciPy. Accurate to
a few units in the last place away from zeros, except that polygamma of an order n above 170 loses
about n units, and beta up to 1e-13 where it is reached as the exponential of a large logarithm.
References: DLMF chapters 5 and 25.

gamma, lgamma, digamma, polygamma and zeta are not SciPy's, so that gamma and lgamma, which are
Python's, have their derivatives without it. And it errs where these do not: lgamma has no digit
next to its zeros at 1 and 2, digamma half of them next to its poles (3e9 units at -3 + 1e-10); of
polygamma no order is above 170, and for x < 0 it takes |x| steps. lbeta of SciPy is off by 3e6
units for a large and a small argument (475427, 0.138).
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


# B(2j) / (2j): the asymptotic series of digamma, DLMF 5.11.2; highest power first.
_DIGAMMA_TAIL = (
    -3617.0 / 8160, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120,
    1.0 / 12,
)

# B(2j) / (2j (2j-1)): Stirling's series of log gamma, DLMF 5.11.1; highest power first.
_STIRLING = (
    -3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360,
    1.0 / 12,
)

# B(2j) / (2j)!: the Euler-Maclaurin formula, DLMF 2.10.1; lowest first.
EULER_MACLAURIN = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15, -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812522e-19,
)

# The positive zero of digamma, its rest beyond double precision, and the Taylor coefficients there
# (polygamma(k, zero) / k!, computed with 60 digits); highest power first, without the constant 0.
_DIGAMMA_ZERO = 1.4616321449683622
_DIGAMMA_ZERO_REST = 9.549995429965697e-17
_DIGAMMA_TAYLOR = (
    0.004926781395729853, -0.007204534386356869, 0.010538791616612175, -0.01542476590494896,
    0.022597648232218104, -0.03316112647484736, 0.04880428816414311, -0.07219956125645471,
    0.10782405069126237, -0.16394270544240652, 0.258499760955651, -0.4427631689835921,
    0.9676722454476212,
)

# (-1)**k (zeta(k) - 1) / k for k from 18 down to 2, then 1 - Euler's constant: DLMF 5.7.3.
_LGAMMA_TWO = (
    2.1207184805554665e-07, -4.492469198764566e-07, 9.55141213040742e-07, -2.039215753801366e-06,
    4.374866789907488e-06, -9.439488275268397e-06, 2.050721277567069e-05, -4.492623673813314e-05,
    9.945751278180853e-05, -0.00022315475845357939, 0.0005096695247430425, -0.001192753911703261,
    0.0028905103307415234, -0.007385551028673986, 0.020580808427784546, -0.0673523010531981,
    0.3224670334241132, 0.42278433509846713,
)


def gamma(x: float) -> float:
    """The gamma function; +-inf at +-0, nan at negative integers, inf on overflow."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(INF, x)
    except ValueError:
        return math.copysign(INF, x) if x == 0.0 else NAN


def lgamma_one_plus(z: float) -> float:
    """log gamma(1 + z) for |z| <= 1/4, relative to its size (DLMF 5.7.3)."""
    return z * horner(_LGAMMA_TWO, z) - math.log1p(z)


def lgamma(x: float) -> float:
    """log |gamma(x)|; inf at the poles, also inf at -inf (as in C)."""
    if 0.75 <= x <= 1.25:
        return lgamma_one_plus(x - 1.0)
    if 1.75 <= x <= 2.25:
        return (x - 2.0) * horner(_LGAMMA_TWO, x - 2.0)
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return INF


def digamma(x: float) -> float:
    """The derivative of log gamma; -inf at 0, inf at -0, nan at negative integers.

    Recurrence up to 8, then the asymptotic series (DLMF 5.5.2, 5.11.2); a Taylor series next to
    the positive zero, where the recurrence would cancel.
    """
    if x <= 0.0:
        return _digamma_left(x)
    if abs(x - _DIGAMMA_ZERO) < 0.1:
        z = (x - _DIGAMMA_ZERO) - _DIGAMMA_ZERO_REST
        return z * horner(_DIGAMMA_TAYLOR, z)
    total = 0.0
    while x < 8.0:
        total -= 1.0 / x
        x += 1.0
    z = 1.0 / x / x
    return total + math.log(x) - 0.5 / x - z * horner(_DIGAMMA_TAIL, z)


def _digamma_left(x: float) -> float:
    """digamma for x <= 0: one recurrence step above -1, reflection below (DLMF 5.5.4)."""
    if x == 0.0:
        return -math.copysign(INF, x)
    if x > -1.0:
        return digamma(x + 1.0) - 1.0 / x
    if is_whole(x) or x == -INF:
        return NAN
    part = math.remainder(x, 1.0)
    if abs(part) < 0.25:
        cotangent = 1.0 / math.tan(math.pi * part)
    else:
        cotangent = math.copysign(math.tan(math.pi * (0.5 - abs(part))), part)
    return digamma(1.0 - x) - math.pi * cotangent


def stirling_rest(x: float) -> float:
    """log gamma(x) - ((x - 1/2) log x - x + log(2 pi)/2) for x >= 8 (DLMF 5.11.1)."""
    return horner(_STIRLING, 1.0 / x / x) / x


def gamma_over_power(a: float, q: float) -> float:
    """gamma(a + 1) / q**a for a >= 0, q > 0, where either alone may overflow."""
    if a < 170.0:
        half = power(q, -0.5 * a)
        return gamma(a + 1.0) * half * half
    return math.sqrt(2.0 * math.pi * a) * math.exp(stirling_rest(a)) * power(a / (math.e * q), a)


def _euler_maclaurin(s: float, w: float) -> float:
    """w**s times the sum over k >= 0 of (w + k)**-s, continued to s < 1 (DLMF 25.11.28)."""
    term = s / w
    total = w / (s - 1.0) + 0.5
    for coefficient in EULER_MACLAURIN:
        total += coefficient * term
        if abs(coefficient * term) < EPSILON * abs(total):
            break
        term *= (s + 1.0) / w * ((s + 2.0) / w)
        s += 2.0
    return total


def relative_zeta(s: float, q: float) -> float:
    """q**s times Hurwitz' zeta(s, q) for s > 1 and 0 < q < inf.

    Up to ten terms of the sum, until Euler-Maclaurin converges fast, and that (DLMF 25.11.28).
    """
    total, w = 0.0, q
    for _ in range(10):
        if w >= s + 9.0:
            break
        total += (w / q) ** -s
        w += 1.0
    tail = (w / q) ** -s
    return total + tail * _euler_maclaurin(s, w) if tail else total


def _factorial_zeta(n: float, q: float) -> float:
    """n! times Hurwitz' zeta(n + 1, q) for whole n >= 1, q > 0.

    Everything is relative to q**-n, so that the huge and the tiny factor meet last.
    """
    if q == INF:
        return 0.0
    return relative_zeta(n + 1.0, q) / q * gamma_over_power(n, q)


def polygamma(n: float, x: float) -> float:
    """The n-th derivative of digamma; nan unless n is a whole number >= 0.

    (-1)**(n+1) n! zeta(n+1, x) for x > 0 (DLMF 5.15.1, 25.11.12). For x < 0 the sum of
    (x + k)**-(n+1) is the sum over all integers less the part beyond x; the two-sided sum depends
    on the fractional part only, which says the same as the cotangent in the reflection formula
    (DLMF 5.15.6) without its polynomials. Poles: inf for odd n; for even n, where the two sides
    differ, -inf at 0, inf at -0 and nan at negative integers.
    """
    if not (n >= 0.0 and is_whole(n)):
        return NAN
    if n == 0.0:
        return digamma(x)
    sign = 1.0 if is_odd(n) else -1.0
    if x > 0.0:
        return sign * _factorial_zeta(n, x)
    if x == 0.0:
        return INF if sign > 0.0 else -math.copysign(INF, x)
    if x == -INF or x != x:
        return NAN
    part = math.remainder(x, 1.0)
    if part == 0.0:
        return INF if sign > 0.0 else NAN
    near = _factorial_zeta(n, abs(part))
    far = _factorial_zeta(n, 1.0 - abs(part))
    if abs(part) == 0.5 and sign < 0.0:
        near = far = 0.0  # they cancel exactly, even where they overflow
    if near == INF:
        return sign * near if part > 0.0 else near
    two_sided = near + sign * far
    if part < 0.0:
        two_sided *= sign
    return sign * two_sided - _factorial_zeta(n, 1.0 - x)


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


# --------------------------------------------------------------------------------------------------
# beta and lbeta.

def _beta_direct(a: float, b: float) -> float:
    """gamma(a) gamma(b) / gamma(a + b) for a <= b where that stays in range, else 0, inf or nan.

    What the rounding of a + b lost is put back to first order: next to a pole it counts most.
    """
    total = a + b
    lost = (a - (total - b)) + (b - (total - (total - b)))
    both = gamma(total) * (1.0 + lost * digamma(total) if lost else 1.0)
    return gamma(a) / both * gamma(b) if both else INF


def _lbeta_stirling(a: float, b: float) -> float:
    """log beta(a, b) for 0 < a <= b, b >= 10, without the cancellation of three log gammas."""
    ratio = a / b
    rest = stirling_rest(b) - stirling_rest(a + b)
    if a < 10.0:
        return lgamma(a) + rest + a - a * math.log(a + b) - (b - 0.5) * math.log1p(ratio)
    rest += stirling_rest(a) + 0.5 * math.log(2.0 * math.pi) - 0.5 * math.log(b)
    return rest + (a - 0.5) * math.log(ratio / (1.0 + ratio)) - b * math.log1p(ratio)


def _lbeta(a: float, b: float) -> float:
    """log |beta(a, b)| for a <= b, neither a pole, a + b no pole of gamma."""
    if b == INF:
        return -INF if a > 0.0 else INF
    size = abs(_beta_direct(a, b))
    if 0.0 < size < INF:
        return math.log(size)
    if a > 0.0 and b >= 10.0:
        return _lbeta_stirling(a, b)
    if -100.0 < a < 0.0 and b > 100.0:
        return _lbeta(a + 1.0, b) + math.log(abs((a + b) / a))  # DLMF 5.5.1
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _beta_edge(a: float, b: float) -> float | None:
    """beta(a, b), a <= b, where a or b is nan, -inf or a pole, or a + b is one; else None.

    At a pole a = -n the value is finite only for a whole b from 1 to n, where the poles of
    gamma(a) and gamma(a + b) cancel: (-1)**b beta(1 - a - b, b), as in SciPy.
    """
    if not (a > -INF and b == b):
        return NAN
    if a > 0.0:
        return None
    if is_whole(a):
        if is_whole(b) and 0.0 < b < 1.0 - a:
            return beta(1.0 - a - b, b) * (1.0 if b % 2.0 == 0.0 else -1.0)
        return INF
    if b <= 0.0 and is_whole(b):
        return INF
    return 0.0 if a + b <= 0.0 and is_whole(a + b) else None


def _sign_of_gamma(x: float) -> float:
    """The sign of gamma(x), x not a pole."""
    return -1.0 if x < 0.0 and x % 2.0 > 1.0 else 1.0


def beta(a: float, b: float) -> float:
    """gamma(a) gamma(b) / gamma(a + b) (DLMF 5.12.1); inf at poles, as in SciPy."""
    if a > b:
        a, b = b, a
    edge = _beta_edge(a, b)
    if edge is not None:
        return edge
    value = _beta_direct(a, b)
    if 0.0 < abs(value) < INF:
        return value
    return _sign_of_gamma(a) * _sign_of_gamma(b) * _sign_of_gamma(a + b) * exp(_lbeta(a, b))


def lbeta(a: float, b: float) -> float:
    """log |beta(a, b)|."""
    if a > b:
        a, b = b, a
    edge = _beta_edge(a, b)
    if edge is None:
        return _lbeta(a, b)
    return math.log(abs(edge)) if edge else -INF


# --------------------------------------------------------------------------------------------------
# What special functions share: Horner's scheme, exact squares, powers that never raise.

INF = math.inf
NAN = math.nan
EPSILON = 2.0**-53


def horner(coefficients: Sequence[float], t: float) -> float:
    """The polynomial in t whose coefficients are given from the highest power down."""
    total = 0.0
    for coefficient in coefficients:
        total = total * t + coefficient
    return total


def is_whole(n: float) -> bool:
    """Return whether n is an integer; False for inf and nan."""
    return n % 1.0 == 0.0


def is_odd(n: float) -> bool:
    """Return whether the whole number n is odd."""
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
