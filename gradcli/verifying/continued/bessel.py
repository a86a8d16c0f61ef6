"""Bessel functions of whole order, for the complex step.

By power series near 0 and by integrals, those over a period with the trapezoidal rule. Formulas are
numbered as in the DLMF.
"""

from __future__ import annotations

import math

from gradcli.ops.lazy import np
from gradcli.verifying.continued.elementwise import absolute, whole_power
from gradcli.verifying.continued.sums import either, laplace, legendre, summed, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HIGHEST = 1000      # of the orders; the series of higher ones are too long


def _of_order(f: Callable[[int, Any], Any], farthest: float = math.inf
              ) -> Callable[[Any, Any], Any]:
    """f for each whole order among n, and arguments up to `farthest`, beyond which it takes too
    many nodes.
    """
    def of(n: Any, z: Any) -> Any:
        n, z = wide(n, z)
        found = np.full(z.shape, np.nan + 0j)
        for order in np.unique(np.real(n)):
            if order == np.trunc(order) and abs(order) <= HIGHEST:
                here = (np.real(n) == order) & (np.abs(np.real(z)) <= farthest)
                if here.any():
                    found[here] = f(int(order), z[here])
        return found

    return of


def _power_series(n: int, z: Any, sign: float) -> Any:
    """10.2.2, 10.25.2."""
    first = whole_power(z / 2.0, float(n)) / math.factorial(n)
    return summed(first, lambda k: sign * z * z / (4.0 * k * (k + n)))


def _by_sign(n: int) -> float:
    return -1.0 if n < 0 and n % 2 else 1.0


def _j(n: int, z: Any) -> Any:
    """10.2.2; 10.9.2 far out, where the trapezoidal rule is exact."""
    def far(y: Any) -> Any:
        count = int(2.0 * float(np.max(np.abs(np.real(y))))) + 2 * abs(n) + 60
        t = np.arange(count) * (2.0 * math.pi / count)
        return np.mean(np.cos(abs(n) * t - y[..., None] * np.sin(t)), axis=-1)

    return _by_sign(n) * either(np.abs(np.real(z)) < 6.0 + abs(n), z, lambda y: _power_series(
        abs(n), y, -1.0), 1.0, far, 7.0 + abs(n))


def _y(n: int, z: Any) -> Any:
    """10.9.7."""
    order = abs(n)
    inner = legendre(lambda t: np.sin(z[..., None] * np.sin(math.pi * t) - order * math.pi * t))

    def outer(t: Any) -> Any:
        root = np.sqrt(1.0 + t * t)
        up = (t + root) ** order
        return (up + (-1.0) ** order / up) / root

    return _by_sign(n) * (inner - laplace(z, outer) / math.pi)


def _i_scaled(n: int, z: Any) -> Any:
    """exp(-|x|) I: 10.25.2; 10.32.3 far out, where the trapezoidal rule is exact."""
    def far(y: Any) -> Any:
        count = int(2.0 * math.sqrt(40.0 * float(np.max(np.abs(np.real(y)))))) + 2 * abs(n) + 80
        t = np.arange(count) * (2.0 * math.pi / count)
        return np.mean(np.exp(absolute(y)[..., None] * (np.cos(t) - 1.0)) * np.cos(n * t), axis=-1
                       ) * np.where(np.real(y) < 0, (-1.0) ** n, 1.0)

    return either(np.abs(np.real(z)) < 40.0, z, lambda y: np.exp(-absolute(y)) * _power_series(
        abs(n), y, 1.0), 1.0, far, 41.0)


def _k_scaled(n: int, z: Any) -> Any:
    """exp(x) K by 10.32.9 and the trapezoidal rule."""
    x = np.real(z)
    t = np.arange(0.0, 1.0, 1.0 / 256.0) * (np.arccosh(1.0 + 760.0 / x[..., None]) + 1.0)
    values = np.exp(-z[..., None] * (np.cosh(t) - 1.0)) * np.cosh(n * t)
    return (np.sum(values, axis=-1) - values[..., 0] / 2.0) * t[..., 1]


def _spherical(n: int, z: Any) -> Any:
    """10.54.1."""
    scale = 2.0**n * math.factorial(n)
    return whole_power(z, float(n)) / scale * legendre(
        lambda t: np.cos(z[..., None] * t) * (1.0 - t * t) ** n)


BESSEL: dict[str, Any] = {
    "besselj": _of_order(_j, 1e5), "bessely": _of_order(_y),
    "besseli": _of_order(lambda n, z: _i_scaled(n, z) * np.exp(absolute(z)), 1e8),
    "besselk": _of_order(lambda n, z: _k_scaled(n, z) * np.exp(-z)),
    "besselie": _of_order(_i_scaled, 1e8), "besselke": _of_order(_k_scaled),
    "sphericalj": _of_order(_spherical)}
