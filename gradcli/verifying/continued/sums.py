"""Series and integrals of complex numbers, by which special functions are continued.

A series ends where its terms are negligible, an integral is a sum over fixed nodes.
"""

from __future__ import annotations

from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SMALLEST = 1e-20    # relative size of the last term of a series
TERMS = 2000
NEAR = 1.5          # erf, E1 and incomplete gamma functions are power series at least up to here

_nodes: dict[str, Any] = {}


def summed(first: Any, ratio: Callable[[int], Any]) -> Any:
    """first + first*ratio(1) + first*ratio(1)*ratio(2) + ..., until terms are negligible."""
    total = term = first + 0j
    for k in range(1, TERMS):
        term = term * ratio(k)
        total = total + term
        if not np.any(np.abs(term) > SMALLEST * np.abs(total)):
            return total
    return total * np.nan


def either(condition: Any, z: Any, f: Callable[[Any], Any], inside: float,
           g: Callable[[Any], Any], outside: float) -> Any:
    """f where the condition holds, g elsewhere; inside, outside: what stands for the other's z."""
    if np.all(condition):
        return f(z)
    if not np.any(condition):
        return g(z)
    return np.where(condition, f(np.where(condition, z, inside)),
                    g(np.where(condition, outside, z)))


def legendre(f: Callable[[Any], Any]) -> Any:
    """The integral from 0 to 1 by Gauss and Legendre; f has the nodes on its last axis."""
    if "legendre" not in _nodes:
        x, w = np.polynomial.legendre.leggauss(120)
        _nodes["legendre"] = (x + 1.0) / 2.0, w / 2.0
    x, w = _nodes["legendre"]
    return f(x) @ w


def laplace(z: Any, f: Callable[[Any], Any]) -> Any:
    """The integral of exp(-z*t)*f(t) over positive t, f with the nodes on its last axis.

    By the trapezoidal rule after t = exp(u - exp(-u)) (H. Takahasi and M. Mori, Publ. RIMS 9,
    1974), in units of 1/x.
    """
    if "laplace" not in _nodes:
        u = np.arange(-4.6, 6.7, 1.0 / 28.0)
        s = np.exp(u - np.exp(-u))
        _nodes["laplace"] = s, s * (1.0 + np.exp(-u)) / 28.0
    s, w = _nodes["laplace"]
    x = np.real(z)[..., None]
    return (np.exp(-(z[..., None] / x) * s) * f(s / x)) @ w / x[..., 0]


def wide(*zs: Any) -> list[Any]:
    """Complex arrays of one shape."""
    return [np.array(z, complex) for z in np.broadcast_arrays(*zs)]
