"""Error functions, the normal distribution and Fresnel's integrals, for the complex step.

By power series near 0, Laplace's integral or an asymptotic series far out. Formulas are numbered as
in the DLMF.
"""

from __future__ import annotations

import math

from gradcli.ops.lazy import np
from gradcli.verifying.continued.elementwise import absolute, log1p
from gradcli.verifying.continued.sums import NEAR, either, laplace, summed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ROOT_PI = math.sqrt(math.pi)


def _erf_near(z: Any) -> Any:
    """7.6.1."""
    u = z * z
    return 2.0 / ROOT_PI * z * summed(
        np.ones_like(u), lambda k: -u * ((2.0 * k - 1.0) / (k * (2.0 * k + 1.0))))


def _erfcx_far(z: Any) -> Any:
    """7.11.2 with 8.6.5, of positive real parts."""
    return z / ROOT_PI * laplace(z * z, lambda t: 1.0 / np.sqrt(1.0 + t))


def _erfc_far(z: Any) -> Any:
    tail = _erfcx_far(absolute(z)) * np.exp(-z * z)
    return np.where(np.real(z) < 0, 2.0 - tail, tail)


def erf(z: Any) -> Any:
    return either(np.abs(np.real(z)) < NEAR, z, _erf_near, 0.5, lambda y: np.sign(
        np.real(y)) * (1.0 - _erfc_far(absolute(y))), 2.0)


def erfc(z: Any) -> Any:
    return either(np.abs(np.real(z)) < NEAR, z, lambda y: 1.0 - _erf_near(y), 0.5, _erfc_far, 2.0)


def _erfcx(z: Any) -> Any:
    return either(np.real(z) < NEAR, z, lambda y: np.exp(y * y) * erfc(y), 0.5, _erfcx_far, 2.0)


def _erfi_near(z: Any) -> Any:
    """7.6.1 at iz."""
    u = z * z
    return 2.0 / ROOT_PI * z * summed(
        np.ones_like(u), lambda k: u * ((2.0 * k - 1.0) / (k * (2.0 * k + 1.0))))


def _dawsn(z: Any) -> Any:
    """7.5.1; 7.12.1 far out."""
    def far(y: Any) -> Any:
        terms = [np.ones_like(y)]
        for k in range(1, 30):
            terms.append(terms[-1] * (k - 0.5) / (y * y))
        return sum(terms) / (2.0 * y)

    return either(np.abs(np.real(z)) < 7.0, z, lambda y: ROOT_PI / 2.0 * np.exp(
        -y * y) * _erfi_near(y), 1.0, far, 8.0)


def ndtr(z: Any) -> Any:
    return 0.5 * erfc(-z / math.sqrt(2.0))


def _log_ndtr(z: Any) -> Any:
    return either(np.real(z) < 0, z, lambda y: -y * y / 2.0 + np.log(0.5 * _erfcx(
        -y / math.sqrt(2.0))), -1.0, lambda y: log1p(-ndtr(-y)), 1.0)


def _fresnel(odd: bool) -> Callable[[Any], Any]:
    """S if odd, else C: 7.6.4, 7.6.6; 7.5.3, 7.5.4 with 7.7.10, 7.7.11 far out."""
    def near(z: Any) -> Any:
        u = z * z * (math.pi / 2)
        first, m = (z * u / 3.0, 3) if odd else (z, 1)
        return summed(first, lambda k: -u * u * (
            (4.0 * k - 4 + m) / ((2 * k + odd - 1.0) * (2 * k + odd) * (4 * k + m))))

    def far(z: Any) -> Any:
        size = absolute(z)
        u = size * size * (math.pi / 2)
        f = laplace(u, lambda t: 1.0 / (np.sqrt(t) * (t * t + 1.0))) / (math.pi * math.sqrt(2.0))
        g = laplace(u, lambda t: np.sqrt(t) / (t * t + 1.0)) / (math.pi * math.sqrt(2.0))
        found = (0.5 - f * np.cos(u) - g * np.sin(u)) if odd else (
            0.5 + f * np.sin(u) - g * np.cos(u))
        return np.sign(np.real(z)) * found

    return lambda z: either(np.abs(np.real(z)) < 1.8, z, near, 1.0, far, 2.0)


ERRORS: dict[str, Any] = {
    "erf": erf, "erfc": erfc, "erfcx": _erfcx, "dawsn": _dawsn, "erfi": _erfi_near, "ndtr": ndtr,
    "log_ndtr": _log_ndtr, "gelu_erf": lambda z: z * ndtr(z), "fresnels": _fresnel(True),
    "fresnelc": _fresnel(False)}
