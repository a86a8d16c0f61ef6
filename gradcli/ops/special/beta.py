"""beta, lbeta and the incomplete functions of gamma and beta on Python floats.

Total: every float gives a float, no exception escapes. Relative error about 1e-14; values reached
as a large power or as the exponential of a large logarithm lose up to 1e-13. DLMF chapters 5, 8.

Regularised ones are SciPy's. Ours are beta and lbeta, because SciPy's lbeta is off by 3e6 units for
a large and a small argument (475427, 0.138); and gammainc and gammaincl where a is not small,
because SciPy has the regularised ones only, and gamma(a) overflows long before the product.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import special
from gradcli.ops.special.gamma import (
    EPSILON,
    INF,
    NAN,
    digamma,
    exp,
    gamma,
    is_whole,
    lgamma,
    power,
    stirling_rest,
)


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


def _power_over_exp(a: float, x: float) -> float:
    """x**a exp(-x), x > 0, where either factor alone may leave the range."""
    if x < 700.0 and abs(a * math.log(x)) < 700.0:
        direct: float = x**a * math.exp(-x)
        return direct
    return power(x * math.exp(-x / a), a) if a else math.exp(-x)


def _lower_series(a: float, x: float) -> float:
    """The lower incomplete gamma function by its power series (DLMF 8.7.1), for x < a + 1."""
    factor = _power_over_exp(a, x)
    if factor in (0.0, INF):
        return factor
    term = total = 1.0 / a
    k = a
    while term > EPSILON * total and total < INF:
        k += 1.0
        term *= x / k
        total += term
    return factor * total


def _upper_fraction(a: float, x: float) -> float:
    """The upper incomplete gamma function by the continued fraction DLMF 8.9.2, for x >= a + 1.

    Evaluated by Lentz's method in the even form: x + 1 - a - 1 (1-a) / (x + 3 - a - ...).
    """
    factor = _power_over_exp(a, x)
    if factor in (0.0, INF):
        return factor
    b = x + 1.0 - a
    c = INF
    d = value = 1.0 / b
    step = 0.0
    k = 0.0
    while abs(step - 1.0) > EPSILON and k < 1000.0:
        k += 1.0
        numerator = k * (a - k)
        b += 2.0
        d = 1.0 / (numerator * d + b)
        c = b + numerator / c
        step = c * d
        value *= step
    return factor * value


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
        return float(special.gammaincc(a, x)) * gamma(a)
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


_MAX_SHAPE = 1e8


def igamma(a: float, x: float) -> float:
    """P(a, x), the lower incomplete gamma function over gamma(a) (DLMF 8.2.4);
    0 < a <= 1e8, x >= 0."""
    if a < 1e-300:      # where SciPy says 0
        return 1.0 - igammac(a, x)
    return float(special.gammainc(a, x)) if a <= _MAX_SHAPE else NAN


def igammac(a: float, x: float) -> float:
    """Q(a, x), the upper incomplete gamma function over gamma(a) (DLMF 8.2.4);
    0 < a <= 1e8, x >= 0."""
    if 0.0 < a < 1e-300:
        return a * float(special.exp1(x)) if x else 1.0
    return float(special.gammaincc(a, x)) if 0.0 < a <= _MAX_SHAPE else NAN


def betainc(a: float, b: float, x: float) -> float:
    """I(a, b, x), the regularised incomplete beta function (DLMF 8.17.2); a, b > 0, 0 <= x <= 1."""
    if not (a > 0.0 and b > 0.0 and a < INF and b < INF):
        return NAN
    return float(special.betainc(a, b, x))
