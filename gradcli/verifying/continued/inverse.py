"""Inverse functions, for the complex step: from what was computed, by the complex step of the
functions they invert.
"""

from __future__ import annotations

from gradcli.ops.lazy import np
from gradcli.verifying.continued.errors import erf, erfc, ndtr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STEP = 1e-20


def _inverse(forward: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """What solves forward(y) = z close to a known y, by the complex step of forward."""
    def of(z: Any, y: Any) -> Any:
        there = forward(np.asarray(y + 1j * STEP))
        return y + (z - np.real(there)) / (np.imag(there) / STEP)

    return of


INVERSES: dict[str, Any] = {
    "erfinv": _inverse(erf), "erfcinv": _inverse(erfc), "ndtri": _inverse(ndtr),
    "lambertw": _inverse(lambda y: y * np.exp(y))}
