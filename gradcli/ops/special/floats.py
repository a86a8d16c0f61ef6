"""The special functions on Python floats, in one place; families with a file of their own are
imported, those that are SciPy's with ends of our own stand here, and incomplete functions.

Total: every function takes any floats (nan, infinities, zeros of either sign) and returns a float;
no exception escapes but where SciPy is not installed. NumPy's and SciPy's conventions hold at poles
and outside domains. Orders n are whole numbers, as float or int; nan for others. References: DLMF
chapters 4, 6, 7 and 19. Units below are those in the last place, measured against mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gradcli.base.lazy import special
from gradcli.ops.special.bessel import besseli, besselie, besselj, besselk, besselke, bessely
from gradcli.ops.special.gamma import (
    EPSILON,
    INF,
    NAN,
    beta,
    digamma,
    exp,
    gamma,
    horner,
    lbeta,
    lgamma,
    lgamma_one_plus,
    polygamma,
    power,
    sin_pi,
    split,
    square,
    stirling_rest,
    zeta,
)

__all__ = [
    "besseli", "besselie", "besselj", "besselk", "besselke", "bessely", "beta", "betainc", "chi",
    "ci", "dawsn", "digamma", "e1", "ei", "ellipe", "ellipe_complete", "ellipf", "ellipk",
    "erfcinv", "erfcx", "erfi", "erfinv", "fresnelc", "fresnels", "gamma", "gammainc", "gammaincl",
    "igamma", "igammac", "lambertw", "lbeta", "lgamma", "li", "log_ndtr", "ndtri", "polygamma",
    "shi", "si", "sinc", "zeta",
]


def _of_scipy(name: str, part: int | None = None, odd: bool = False) -> Callable[[float], float]:
    """Return SciPy's function of this name on a float; of several that it computes the part.

    odd: it has the sign of x, also where that is a zero.
    """
    def call(x: float) -> float:
        found = getattr(special, name)(x)
        value = float(found if part is None else found[part])
        return math.copysign(value, x) if odd else value

    return call


# --- error functions and the normal distribution ------------------------------------------------

erfinv = _of_scipy("erfinv", odd=True)
ndtri = _of_scipy("ndtri")
log_ndtr = _of_scipy("log_ndtr")


# erfi(x) sqrt(pi)/(2 x) in powers of x**2, for x below 1 (DLMF 7.6.1).
_ERFI_SERIES = tuple([1.0 / (math.factorial(k) * (2*k + 1)) for k in range(18, -1, -1)])

# 2 x dawsn(x) in powers of 1/x**2 from x = 10 on (DLMF 7.12.1 with all signs positive).
_DAWSN_TAIL = tuple([math.prod(range(1, 2*k, 2)) / 2.0 ** k for k in range(13, -1, -1)])


def dawsn(x: float) -> float:
    """Dawson's integral exp(-x**2) * (integral of exp(t**2) from 0 to x) (DLMF 7.2.5).

    SciPy's loses up to 85 units below 1 and 13 beyond 10, the series at most two.
    """
    if abs(x) < 1.0:
        return x * horner(_ERFI_SERIES, x * x) * math.exp(-x * x)
    if abs(x) >= 10.0:
        return horner(_DAWSN_TAIL, 1.0 / x / x) * 0.5 / x
    return float(special.dawsn(x))


def erfcx(x: float) -> float:
    """exp(x**2) erfc(x), the scaled complementary error function (DLMF 7.2).

    For x < 0 the square is exact: SciPy loses 250 units at -25.
    """
    if not x < 0.0:
        return float(special.erfcx(x))
    if x < -26.63:
        return INF
    high, low = square(x)
    return math.exp(high) * math.exp(low) * math.erfc(x)


def erfi(x: float) -> float:
    """The imaginary error function -i erf(i x) (DLMF 7.5.1); by an exact square as erfcx."""
    if abs(x) > 27.0:
        return math.copysign(INF, x)
    high, low = square(x)
    half = math.exp(0.5 * high)     # in two halves: exp(x*x) overflows before erfi does
    return half * (2.0 / math.sqrt(math.pi) * dawsn(x)) * math.exp(low) * half


def erfcinv(q: float) -> float:
    """The inverse of erfc on [0, 2]; inf at 0, -inf at 2, nan outside."""
    if 0.0 < q < 1e-300:    # SciPy's own loses its digits there
        return -math.sqrt(0.5) * float(special.ndtri_exp(math.log(q) - math.log(2.0)))
    return float(special.erfcinv(q)) + 0.0      # at 1 SciPy's zero is negative


def sinc(x: float) -> float:
    """sin(pi x)/(pi x), 1 at 0."""
    if not -INF < x < INF:
        return NAN
    return sin_pi(x) / (math.pi * x) if x else 1.0


# --- integrals ----------------------------------------------------------------------------------

shi = _of_scipy("shichi", 0, odd=True)
chi = _of_scipy("shichi", 1)
si = _of_scipy("sici", 0, odd=True)
ci = _of_scipy("sici", 1)


def ei(x: float) -> float:
    """The exponential integral, principal value of the integral of exp(t)/t from -inf to x
    (DLMF 6.6.2).
    """
    if not 700.0 < x < INF:
        return float(special.expi(x))
    # DLMF 6.12.2: SciPy's overflows at 709.8, where exp(x) does.
    half = math.exp(min(x, 1400.0) / 2)
    return half * (horner((5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0), 1.0 / x) * half / x)


def e1(x: float) -> float:
    """The integral of exp(-t)/t from x on; for x < 0 its real part (DLMF 6.2.1)."""
    return -ei(-x) if x <= 0.0 else float(special.exp1(x))


def li(x: float) -> float:
    """The logarithmic integral, principal value of the integral of 1/log(t) from 0 to x
    (DLMF 6.2.8); NaN for x < 0.
    """
    if x != x or x < 0:
        return NAN
    return ei(math.log(x)) if x else 0.0


def _fresnel(x: float) -> complex:
    """Return C(x) + i S(x), x >= 0; from 1.5 on by erfc (DLMF 7.5.8).

    The angle pi x**2 / 2 is reduced exactly, so that the phase is right however large x is: SciPy
    loses 2e3 units at 9e3 and 2e4 at 1.5e5.
    """
    if x <= 1.5 or x != x:
        sine, cosine = special.fresnel(x)
        return complex(cosine, sine)
    if x > 1e17:
        return 0.5 + 0.5j
    high, low = split(x)
    turn = sum(math.fmod(part, 4.0) for part in (high * high, 2.0 * high * low, low * low))
    angle = 0.5 * math.pi * math.remainder(turn, 4.0)
    tail = special.wofz(0.5 * math.sqrt(math.pi) * x * (1.0 + 1.0j))
    return (0.5 + 0.5j) * (1.0 - complex(math.cos(angle), math.sin(angle)) * complex(tail))


def fresnels(x: float) -> float:
    """The Fresnel integral from 0 to x of sin(pi t**2 / 2) (DLMF 7.2.8)."""
    return math.copysign(_fresnel(abs(x)).imag, x)


def fresnelc(x: float) -> float:
    """The Fresnel integral from 0 to x of cos(pi t**2 / 2) (DLMF 7.2.7)."""
    return math.copysign(_fresnel(abs(x)).real, x)


# W(x) at its branch point in powers of p = sqrt(2 (e x + 1)), DLMF 4.13.6; highest power first.
_LAMBERTW_BRANCH = (
    -0.0006720616311561362, 0.0010262633205076071, -0.0015769303446867841, 0.0024408779911439826,
    -0.0038112980348919993, 0.006014543252956118, -0.009616892024299432, 0.01563563253233392,
    -0.02598471487360376, 0.044502314814814814, -0.07962962962962963, 0.1527777777777778,
    -0.3333333333333333, 1.0, -1.0,
)
_INVERSE_E = 0.36787944117144233
_INVERSE_E_REST = -1.2428753672788363e-17


def lambertw(x: float) -> float:
    """The principal branch of w exp(w) = x for x >= -1/e, nan below.

    A series at the branch point (DLMF 4.13.6), where SciPy is off by 2e7 units; elsewhere two steps
    of Fritsch, Shafer and Crowley (1973) from the start of Iacono and Boyd (2017). The float next
    to -1/e lies 1e-17 below it; it gives -1, as who writes -1/e expects.
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


# --- incomplete gamma and beta functions ---------------------------------------------------------

_MAX_SHAPE = 1e8


def _power_over_exp(a: float, x: float) -> float:
    """x**a exp(-x), x > 0, where either factor alone may leave the range."""
    if x < 700.0 and abs(a * math.log(x)) < 700.0:
        direct: float = x**a * math.exp(-x)
        return direct
    return power(x * math.exp(-x / a), a) if a else math.exp(-x)


def _lower_series(a: float, x: float) -> float:
    """The lower incomplete gamma function by its power series (DLMF 8.7.1), for x < a + 1."""
    factor = _power_over_exp(a, x)
    return factor if factor in (0.0, INF) else factor * _series(a, x)


def _series(a: float, x: float) -> float:
    """The power series itself, without its factor x**a exp(-x)."""
    term = total = 1.0 / a
    k = a
    while term > EPSILON * total and total < INF:
        k += 1.0
        term *= x / k
        total += term
    return total


def _upper_fraction(a: float, x: float) -> float:
    """The upper incomplete gamma function by the continued fraction DLMF 8.9.2, for x >= a + 1."""
    factor = _power_over_exp(a, x)
    return factor if factor in (0.0, INF) else factor * _fraction(a, x)


def _fraction(a: float, x: float) -> float:
    """The continued fraction itself, without its factor x**a exp(-x).

    Evaluated by Lentz's method in the even form: x + 1 - a - 1 (1-a) / (x + 3 - a - ...).
    """
    b = x + 1.0 - a
    c = INF
    d = value = 1.0 / b
    step = 0.0
    k = 0.0
    while abs(step - 1.0) > EPSILON and k < 200000.0:
        k += 1.0
        numerator = k * (a - k)
        b += 2.0
        d = 1.0 / (numerator * d + b)
        c = b + numerator / c
        step = c * d
        value *= step
    return value


def _upper_small(a: float, x: float) -> float:
    """The upper incomplete gamma function for 0 < a < 1, 0 < x < 1.5, within 30 units; SciPy's
    loses 130.

    gamma(a) and the first term x**a / a of the lower series nearly cancel for small a; both are
    taken relative to 1 / a. The rest is DLMF 8.7.1 in its alternating form.
    """
    start: float = x**a
    if a <= 0.25:
        first = (math.expm1(lgamma_one_plus(a)) - math.expm1(a * math.log(x))) / a
    else:
        first = gamma(a) - start / a
    term = -x
    total = 0.0
    k = 1.0
    while abs(term) > 1e-18:
        total += term / (a + k)
        k += 1.0
        term *= -x / k
    return first - start * total


def gammainc(a: float, x: float) -> float:
    """The upper incomplete gamma function, not regularised: a >= 0, x >= 0, else nan.

    The integral of t**(a-1) exp(-t) from x to inf (DLMF 8.2.2); at a = 0 the exponential integral.
    """
    if not (a >= 0.0 and x >= 0.0) or a == x == INF:
        return NAN
    if x == 0.0 or a == INF:
        return gamma(abs(a))
    if x == INF:
        return 0.0
    if a < 1e-20:
        return float(special.exp1(x))
    if x < 1.5 and a < 1.0:
        return _upper_small(a, x)
    if x >= a + 1.0 or x >= 1.5 > a:
        return _upper_fraction(a, x)
    whole = gamma(a)
    return whole - _lower_series(a, x) if whole < INF else INF


def gammaincl(a: float, x: float) -> float:
    """The lower incomplete gamma function, not regularised: a >= 0, x >= 0 (DLMF 8.2.1).

    nan outside; at a = 0 the limit inf.
    """
    if not (a >= 0.0 and x >= 0.0) or a == x == INF:
        return NAN
    if x == 0.0:
        return 0.0 if a else NAN
    if a == 0.0:
        return INF
    if a == INF:
        return 0.0 if x <= 1.0 else INF
    if x < a + 1.0:
        return _lower_series(a, x)
    whole = gamma(a)
    return whole - gammainc(a, x) if whole < INF else INF


def _density(a: float, x: float) -> float:
    """x**a exp(-x) / gamma(a + 1) for a > 0, x > 0, where each factor may overflow."""
    if a < 170.0:
        return _power_over_exp(a, x) / gamma(a + 1.0)
    # In t = (x - a)/a the exponent is a*(log(1 + t) - t): nothing large cancels near x = a.
    t = (x - a) / a
    rest = float(special._log1pmx(t)) if abs(t) < 0.5 else math.log(x) - math.log(a) - t
    return exp(a * rest - stirling_rest(a)) / math.sqrt(2.0 * math.pi * a)


def _scipy_has(a: float, x: float) -> bool:
    """Return whether SciPy is within 4 units: at the ends, and by Temme's expansion near x = a.

    Elsewhere it loses 240 at a = 50 and 1e4 at a = 1000; the series and the fraction are within 30
    up to a = 100, then lose as many as the exponent of what they give.
    """
    return x in (0.0, INF) or (a > 20.0 and abs(x - a) < min(0.28 * a, 4.0 * math.sqrt(a)))


def igamma(a: float, x: float) -> float:
    """P(a, x), the lower incomplete gamma function over gamma(a) (DLMF 8.2.4);
    0 < a <= 1e8, x >= 0."""
    if not (0.0 < a <= _MAX_SHAPE and x >= 0.0):
        return NAN
    if _scipy_has(a, x):
        return float(special.gammainc(a, x))
    return a * _density(a, x) * _series(a, x) if x < a + 1.0 else 1.0 - igammac(a, x)


def igammac(a: float, x: float) -> float:
    """Q(a, x), the upper incomplete gamma function over gamma(a) (DLMF 8.2.4);
    0 < a <= 1e8, x >= 0."""
    if not (0.0 < a <= _MAX_SHAPE and x >= 0.0):
        return NAN
    if _scipy_has(a, x):
        return float(special.gammaincc(a, x))
    if a < 1.0 and x < 2.0:     # 1 - P would cancel
        return gammainc(a, x) / gamma(a)
    return a * _density(a, x) * _fraction(a, x) if x >= a + 1.0 else 1.0 - igamma(a, x)


def betainc(a: float, b: float, x: float) -> float:
    """I(a, b, x), the regularised incomplete beta function (DLMF 8.17.2); a, b > 0, 0 <= x <= 1."""
    if not (a > 0.0 and b > 0.0 and a < INF and b < INF):
        return NAN
    return float(special.betainc(a, b, x))


# --- elliptic integrals in the parameter m = k**2 -----------------------------------------------
#
# Carlson, "Numerical computation of real or complex elliptic integrals" (1995). As in SciPy m may
# be negative and m > 1 is nan for the complete integrals; the incomplete ones go on past m = 1 for
# as long as m sin(phi)**2 <= 1, where SciPy's are nan: so they are its RF and RD.

ellipk = _of_scipy("ellipk")
ellipe_complete = _of_scipy("ellipe")


def _reduced(phi: float, m: float) -> tuple[float, float, float, float]:
    """phi as half turns and a rest in [-pi/2, pi/2]: (half turns, sin, cos, 1 - m sin**2)."""
    sine, cosine = math.sin(phi), math.cos(phi)
    if cosine < 0.0:
        sine, cosine = -sine, -cosine
    turns = float(round((phi - math.atan2(sine, cosine)) / math.pi))
    return turns, sine, cosine, cosine * cosine + (1.0 - m) * sine * sine


def ellipf(phi: float, m: float) -> float:
    """The incomplete elliptic integral of the first kind F(phi | m) (DLMF 19.25.5, 19.2.10)."""
    if phi == 0.0 or phi != phi or m != m:
        return phi + m * 0.0 if m != m else phi
    if abs(phi) == INF:
        return phi if -INF < m <= 1.0 else NAN
    if m == -INF:
        return math.copysign(0.0, phi)
    if m == 1.0 and abs(phi) >= 0.5 * math.pi:
        return math.copysign(INF, phi)
    turns, sine, cosine, rest = _reduced(phi, m)
    if rest < 0.0 or (turns and m > 1.0):
        return NAN
    value = sine * float(special.elliprf(cosine * cosine, rest, 1.0))
    return value + 2.0 * turns * ellipk(m) if turns else value


def ellipe(phi: float, m: float) -> float:
    """The incomplete elliptic integral of the second kind E(phi | m) (DLMF 19.25.9, 19.2.10)."""
    if phi == 0.0 or phi != phi or m != m:
        return phi + m * 0.0 if m != m else phi
    if abs(phi) == INF:
        return phi if -INF < m <= 1.0 else NAN
    if m == -INF:
        return math.copysign(INF, phi)
    turns, sine, cosine, rest = _reduced(phi, m)
    if rest < 0.0 or (turns and m > 1.0):
        return NAN
    x = (cosine * cosine, rest, 1.0)
    value = sine * float(
        special.elliprf(*x) - m / 3.0 * sine * sine * special.elliprd(*x))
    return value + 2.0 * turns * ellipe_complete(m) if turns else value
