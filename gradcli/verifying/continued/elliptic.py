"""Elliptic integrals, for the complex step: complete ones by the arithmetic-geometric mean,
incomplete ones by quadrature. Formulas are numbered as in the DLMF.
"""

from __future__ import annotations

import math

from gradcli.ops.lazy import np
from gradcli.verifying.continued.elementwise import whole_power
from gradcli.verifying.continued.sums import legendre, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _complete(m: Any) -> tuple[Any, Any]:
    """K and E by the arithmetic-geometric mean: 19.8.5, 19.8.6."""
    a, b = np.ones_like(m), np.sqrt(1.0 - m)
    total, weight = 1.0 - m / 2.0, 1.0
    for _ in range(12):
        c = (a - b) / 2.0
        a, b = (a + b) / 2.0, np.sqrt(a * b)
        total = total - weight * c * c
        weight *= 2.0
    return math.pi / (2.0 * a), math.pi / (2.0 * a) * total


def _elliptic(k: Any, j: Any, phi: Any, m: Any) -> Any:
    """19.2.4 to 19.2.6, by quadrature."""
    k, j, phi, m = (z[..., None] for z in wide(k, j, phi, m))

    def of(t: Any) -> Any:
        square = np.sin(phi * t) ** 2
        return phi * np.where(np.real(k) == 0, 1.0, whole_power(square, np.real(k))) * np.power(
            1.0 - m * square, -(np.real(j) + 0.5))

    return legendre(of)


ELLIPTIC: dict[str, Any] = {
    "ellipk": lambda m: _complete(m)[0], "ellipe_complete": lambda m: _complete(m)[1],
    "ellipf": lambda phi, m: _elliptic(0.0, 0.0, phi, m),
    "ellipe_incomplete": lambda phi, m: _elliptic(0.0, -1.0, phi, m), "elliptic_moment": _elliptic}
