"""Exponential, logarithmic, trigonometric and hyperbolic integrals, for the complex step.

By power series near 0, Laplace's integral or an asymptotic series far out. Formulas are numbered as
in the DLMF.
"""

from __future__ import annotations

import math

from gradcli.ops.lazy import np
from gradcli.verifying.continued.elementwise import absolute
from gradcli.verifying.continued.sums import NEAR, either, laplace, summed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EULER = 0.5772156649015329


def _exponential(z: Any) -> Any:
    """The sum over z^k/(k k!)."""
    return summed(z, lambda k: z * (k / (k + 1.0) ** 2))


def _e1(z: Any) -> Any:
    """6.6.2, 6.7.1; below 0 the real part, -ei(-z)."""
    def right(y: Any) -> Any:
        return either(np.real(y) < NEAR, y, lambda w: -EULER - np.log(w) - _exponential(-w), 1.0,
                      lambda w: np.exp(-w) * laplace(w, lambda t: 1.0 / (1.0 + t)), 2.0)

    return either(np.real(z) > 0, z, right, 1.0, lambda y: -_ei_right(-y), -1.0)


def _ei_right(z: Any) -> Any:
    """6.6.1; 6.12.2 far out."""
    def far(y: Any) -> Any:
        terms = [np.ones_like(y)]
        for k in range(1, 40):
            terms.append(terms[-1] * k / y)
        return sum(terms) * np.exp(y) / y

    return either(np.real(z) < 45.0, z, lambda y: EULER + np.log(y) + _exponential(y), 1.0, far,
                  50.0)


def _ei(z: Any) -> Any:
    return -_e1(-z)


def _shi(z: Any) -> Any:
    def near(y: Any) -> Any:
        u = y * y
        return summed(y, lambda k: u * ((2.0 * k - 1) / ((2.0 * k) * (2.0 * k + 1) ** 2)))

    return either(np.abs(np.real(z)) < 2.0, z, near, 1.0, lambda y: np.sign(np.real(y)) * 0.5 * (
        _ei(absolute(y)) + _e1(absolute(y))), 3.0)


def _chi(z: Any) -> Any:
    return 0.5 * (_ei(absolute(z)) - _e1(absolute(z)))


def _auxiliary(z: Any) -> tuple[Any, Any]:
    """6.7.13, 6.7.14."""
    return (laplace(z, lambda t: 1.0 / (1.0 + t * t)), laplace(z, lambda t: t / (1.0 + t * t)))


def _si(z: Any) -> Any:
    """6.6.5, 6.2.19."""
    def near(y: Any) -> Any:
        u = y * y
        return summed(y, lambda k: -u * ((2.0 * k - 1) / ((2.0 * k) * (2.0 * k + 1) ** 2)))

    def far(y: Any) -> Any:
        f, g = _auxiliary(absolute(y))
        size = absolute(y)
        return np.sign(np.real(y)) * (math.pi / 2 - f * np.cos(size) - g * np.sin(size))

    return either(np.abs(np.real(z)) < 4.0, z, near, 1.0, far, 5.0)


def _ci(z: Any) -> Any:
    """6.6.6, 6.2.20; below 0 the real part."""
    def near(y: Any) -> Any:
        u = y * y
        return EULER + np.log(y) + summed(-u / 4.0, lambda k: -u * (
            (2.0 * k) / ((2.0 * k + 1) * (2.0 * k + 2) ** 2)))

    def far(y: Any) -> Any:
        f, g = _auxiliary(y)
        return f * np.sin(y) - g * np.cos(y)

    return either(np.real(absolute(z)) < 4.0, absolute(z), near, 1.0, far, 5.0)


INTEGRALS: dict[str, Any] = {
    "ei": _ei, "e1": _e1, "li": lambda z: _ei(np.log(z)), "shi": _shi, "chi": _chi, "si": _si,
    "ci": _ci}
