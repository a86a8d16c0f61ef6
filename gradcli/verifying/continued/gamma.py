"""The gamma function and its kin, incomplete ones too, for the complex step.

By Stirling's series far out and recurrence to get there, power series and Laplace's integral.
Formulas are numbered as in the DLMF.
"""

from __future__ import annotations

import math

from gradcli.ops.lazy import np
from gradcli.verifying.continued.elementwise import absolute, whole_power
from gradcli.verifying.continued.sums import NEAR, laplace, summed, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
             -174611 / 330)
STIRLING = 16.0     # from here on the asymptotic series of gamma and zeta have all digits
SHIFTS = 1000       # steps to get there, at the most


def _shifted(z: Any) -> tuple[Any, int]:
    """(z + n, n) with a real part of at least STIRLING."""
    least = float(np.min(np.real(z)))
    n = max(0, math.ceil(STIRLING - least)) if math.isfinite(least) else SHIFTS + 1
    return (z + n, n) if n <= SHIFTS else (z * np.nan, 0)


def _stirling(z: Any) -> Any:
    """5.11.1."""
    inverse = 1.0 / (z * z)
    tail: Any = 0.0
    for k in range(len(BERNOULLI), 0, -1):
        tail = tail * inverse + BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return (z - 0.5) * np.log(z) - z + 0.5 * math.log(2 * math.pi) + tail / z


def log_gamma(z: Any) -> Any:
    """log|gamma|, continued."""
    far, n = _shifted(z)
    down = sum([np.log(absolute(z + k)) for k in range(n)])
    return _stirling(far) - down


def gamma(z: Any) -> Any:
    """Its sign is that of the factors below 0."""
    negative = np.ceil(np.maximum(-np.real(z), 0.0))
    return np.where(np.fmod(negative, 2.0) != 0, -1.0, 1.0) * np.exp(log_gamma(z))


def _digamma(z: Any) -> Any:
    """5.5.2, 5.11.2."""
    far, n = _shifted(z)
    down = sum([1.0 / (z + k) for k in range(n)])
    tail = sum([b / (2 * k * whole_power(far, 2.0 * k)) for k, b in enumerate(BERNOULLI, 1)])
    return np.log(far) - 0.5 / far - tail - down


def _zeta(s: Any, q: Any) -> Any:
    """Euler and Maclaurin: 25.11.5 at N, where the remainder is none."""
    s = np.real(s)
    far, n = _shifted(q)
    head = sum([whole_power(q + k, -s) for k in range(n)])
    factor, tail = s, far / (s - 1.0) + 0.5
    for k, b in enumerate(BERNOULLI, 1):
        tail = tail + b / math.factorial(2 * k) * factor / whole_power(far, 2.0 * k - 1.0)
        factor = factor * (s + 2 * k - 1) * (s + 2 * k)
    return head + np.power(far, -s) * tail


def _polygamma(n: Any, z: Any) -> Any:
    """25.11.12."""
    n = np.real(n)
    scale = np.exp(np.real(log_gamma(n + 1.0 + 0j))) * np.where(np.fmod(n, 2.0) != 0, 1.0, -1.0)
    return np.where(n == 0, _digamma(z), scale * _zeta(np.where(n == 0, 1.0, n) + 1.0, z))


def _log_beta(a: Any, b: Any) -> Any:
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def _lower(a: Any, z: Any) -> Any:
    """8.7.1."""
    return np.power(z, a) * np.exp(-z) * summed(1.0 / a, lambda k: z / (a + k))


def _upper(a: Any, z: Any) -> Any:
    """8.6.5."""
    return np.power(z, a) * np.exp(-z) * laplace(z, lambda t: np.power(
        1.0 + t, a[..., None] - 1.0))


def _incomplete(a: Any, z: Any, upper: bool, regular: bool) -> Any:
    a, z = wide(a, z)
    one, far = gamma(a), np.real(z) > np.maximum(np.real(a) + 1.0, NEAR)
    high = _upper(a, np.where(far, z, np.maximum(np.real(a), 0.0) + 2.0))
    low = _lower(a, np.where(far, 1.0, z))
    found = np.where(far, high, one - low) if upper else np.where(far, one - high, low)
    return found / one if regular else found


def _betainc(a: Any, b: Any, z: Any) -> Any:
    """8.17.7, 8.17.8, 8.17.4."""
    a, b, z = wide(a, b, z)
    turned = np.real(z) > np.real((a + 1.0) / (a + b + 2.0))
    p, q, x = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, 1.0 - z, z)
    terms = summed(1.0 / p, lambda k: x * (p + q + k - 1.0) / (p + k))
    found = np.exp(p * np.log(x) + q * np.log(1.0 - x) - _log_beta(a, b)) * terms
    return np.where(turned, 1.0 - found, found)


GAMMA: dict[str, Any] = {
    "gamma": gamma, "lgamma": log_gamma, "digamma": _digamma, "polygamma": _polygamma,
    "polygamma_difference": lambda n, z, d: _polygamma(n, z) - _polygamma(n, z + d),
    "zeta": _zeta, "beta": lambda a, b: gamma(a) * gamma(b) / gamma(a + b), "lbeta": _log_beta,
    "gammainc": lambda a, z: _incomplete(a, z, True, False),
    "gammaincl": lambda a, z: _incomplete(a, z, False, False),
    "igamma": lambda a, z: _incomplete(a, z, False, True),
    "igammac": lambda a, z: _incomplete(a, z, True, True), "betainc": _betainc}
