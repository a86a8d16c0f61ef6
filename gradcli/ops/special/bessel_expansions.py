"""Expansions of the Bessel functions on Python floats that hold for every order, whole or not.

Each is good in a region of its own (near 0, far out, for large orders), which the caller knows.
References: DLMF chapter 10, A&S chapter 9.
"""

from __future__ import annotations

import math

from gradcli.ops.special.gamma import EPSILON, INF, exp, gamma, gamma_over_power


def power_series(n: float, x: float, sign: float) -> float:
    """Return Jn (sign -1) or In (sign +1), n >= 0, x > 0, by its power series (DLMF 10.2.2,
    10.25.2).
    """
    if x < 1e-300:
        return math.pow(0.5, n) * math.pow(x, n) / gamma(n + 1.0) if n < 2.0 else 0.0
    divisor = gamma_over_power(n, 0.5 * x)
    if divisor == 0.0:
        return INF
    if divisor == INF:  # the first term underflows; In may still be as large as 1e-296
        return debye(n, x, 1.0) if sign > 0.0 else 0.0
    t = sign * 0.25 * x * x
    term = total = 1.0
    k = 0.0
    while abs(term) > 0.25 * EPSILON * total:
        k += 1.0
        term *= t / (k * (n + k))
        total += term
    return total / divisor


def hankel_sums(n: float, x: float) -> tuple[float, float]:
    """Return P and Q of Hankel's expansion (DLMF 10.17.3, A&S 9.2.5) for x >= 25, x > n**2 / 2."""
    mu = 4.0 * n * n
    sums = [1.0, 0.0]
    term = 1.0
    for k in range(1, 60):
        term *= (mu - (2 * k - 1) ** 2) / (8.0 * k) / x
        sums[k % 2] += term if k % 4 < 2 else -term
        if abs(term) < 0.1 * EPSILON:
            break
    return sums[0], sums[1]


def decay(n: float, x: float) -> float:
    """Return the leading exponent of Jn(x) for 0 < x < n; Yn(x) has its opposite (DLMF 10.19.3)."""
    ratio = n / x
    alpha = math.acosh(ratio) if ratio < INF else math.log(2.0 * n) - math.log(x)
    return n * (math.tanh(alpha) - alpha)


def debye(n: float, x: float, sign: float) -> float:
    """Return In(x) (sign +1) or Kn(x) (sign -1) for n >= 1000, any x > 0 (DLMF 10.41.3, A&S
    9.7.7).
    """
    root = math.hypot(n, x)
    p = n / root
    t = p * p
    m = sign * n
    series = 1.0 + p / m * (
        (3.0 - 5.0 * t) / 24.0
        + p / m * ((81.0 - t * (462.0 - t * 385.0)) / 1152.0
        + p / m * (30375.0 - t * (369603.0 - t * (765765.0 - t * 425425.0))) / 414720.0)
    )
    exponent = root - n * math.asinh(n / x)
    front = 1.0 / (2.0 * math.pi) if sign > 0.0 else 0.5 * math.pi
    return exp(sign * exponent) * math.sqrt(front / root) * series


def exponential_sum(n: float, x: float, sign: float) -> float:
    """Return the series of In (sign -1) or Kn (sign +1) for large x without its front (DLMF
    10.40.1-2).
    """
    mu = 4.0 * n * n
    term = total = 1.0
    for k in range(1, 60):
        term *= sign * (mu - (2 * k - 1) ** 2) / (8.0 * k) / x
        total += term
        if abs(term) < 0.1 * EPSILON:
            break
    return total
