"""Elementwise operations on complex numbers whose imaginary part is tiny, for the complex step.

What NumPy computes for complex numbers, and is analytic, needs nothing. Here are the others: those
with a kink continue the branch that the real part chooses, those that overflow or cancel are
written otherwise. None of this knows a rule of the operation table.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543773
SERIES = 0.05       # sinc is its power series up to here


def one_minus_square(z: Any) -> Any:
    """Return 1 - z^2 with a real part that is no difference of two numbers that are almost the
    same.
    """
    x, y = np.real(z), np.imag(z)
    return (1.0 - x) * (1.0 + x) + y * y - 2j * x * y


def log1p(z: Any) -> Any:
    """Return log(1 + z), exact for small z, as NumPy's for complex numbers is not."""
    return np.log1p(np.real(z)) + 1j * np.arctan2(np.imag(z), 1.0 + np.real(z))


def absolute(z: Any) -> Any:
    """Return |x| continued from the side of x: z or -z."""
    return np.where(np.real(z) < 0, -z, z)


def whole_power(z: Any, n: Any) -> Any:
    """Return z^n for whole n: a negative z has no logarithm close to the real axis."""
    sign = np.where((np.real(z) < 0) & (np.fmod(n, 2.0) != 0), -1.0, 1.0)
    return sign * np.power(absolute(z), n)


def power(x: Any, y: Any) -> Any:
    """Return x^y; of a negative x for whole y that do not move."""
    whole = (np.real(x) < 0) & (np.real(y) == np.trunc(np.real(y))) & (np.imag(y) == 0)
    return np.where(whole, whole_power(x, np.real(y)), np.power(x + 0j, y))


def maximum(x: Any, y: Any) -> Any:
    return np.where(np.real(x) >= np.real(y), x, y)


def minimum(x: Any, y: Any) -> Any:
    return np.where(np.real(x) <= np.real(y), x, y)


def clip(x: Any, low: Any, high: Any) -> Any:
    return minimum(maximum(x, low), high)


def cbrt(z: Any) -> Any:
    return np.sign(np.real(z)) * np.power(absolute(z) + 0j, 1.0 / 3.0)


def hypot(x: Any, y: Any) -> Any:
    scale = np.maximum(np.abs(np.real(x)), np.abs(np.real(y)))
    scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
    return np.sqrt((x / scale) * (x / scale) + (y / scale) * (y / scale)) * scale


def atan2(y: Any, x: Any) -> Any:
    a, b = np.real(y), np.real(x)
    steep = np.abs(a) > np.abs(b)
    turned = np.where(steep, np.copysign(np.pi / 2, a), np.where(b < 0, np.copysign(np.pi, a), 0.0))
    return turned + np.where(steep, -np.arctan(x / y + 0j), np.arctan(y / x + 0j))


def sigmoid(z: Any) -> Any:
    """Return 1/(1 + exp(-z)) without overflow."""
    small = np.exp(-absolute(z))
    return np.where(np.real(z) < 0, small, 1.0) / (1.0 + small)


def softplus(z: Any) -> Any:
    return np.where(np.real(z) >= 0, z, 0.0) + log1p(np.exp(-absolute(z)))


def logcosh(z: Any) -> Any:
    size, half = absolute(z), np.sinh(np.where(np.abs(np.real(z)) < 1.0, z, 0.0) / 2.0)
    return np.where(np.real(size) < 1.0, log1p(2.0 * half * half),
                    size + log1p(np.exp(-2.0 * size)) - np.log(2.0))


def logaddexp(x: Any, y: Any) -> Any:
    return maximum(x, y) + log1p(np.exp(-absolute(x - y)))


def elu(z: Any) -> Any:
    return np.where(np.real(z) > 0, z, np.expm1(np.where(np.real(z) > 0, 0.0, z)))


def sinc(z: Any) -> Any:
    t, u = np.pi * z, (np.pi * z) * (np.pi * z)
    small = np.abs(np.real(z)) < SERIES
    near = 1.0 - u / 6.0 * (1.0 - u / 20.0 * (1.0 - u / 42.0 * (1.0 - u / 72.0 * (
        1.0 - u / 110.0))))
    return np.where(small, near, np.sin(t) / np.where(small, 1.0, t))


def unit_part(x: Any, y: Any) -> Any:
    """Return x/hypot(x, y)."""
    return x / hypot(x, y)


def log_sigmoid(z: Any) -> Any:
    """Return -softplus(-z)."""
    return -softplus(-z)


def silu(z: Any) -> Any:
    """Return z*sigmoid(z)."""
    return z * sigmoid(z)


def softsign(z: Any) -> Any:
    """Return z/(1 + |z|)."""
    return z / (1.0 + absolute(z))


def relu6(z: Any) -> Any:
    """Return z kept between 0 and 6."""
    return clip(z, 0.0, 6.0)


def hard_sigmoid(z: Any) -> Any:
    """Return (z + 3)/6 kept between 0 and 1."""
    return clip(z + 3.0, 0.0, 6.0) / 6.0


def selu(z: Any) -> Any:
    """Return elu on a scale of its own, Klambauer et al. (2017)."""
    return SELU_SCALE * np.where(np.real(z) > 0, z, SELU_ALPHA * elu(z))


# --------------------------------------------------------------------------------------------------
# Operations on whole arrays for the complex step, where NumPy's own are not analytic.
#
# Each is given the row, its operands and attributes, and what was computed. A transpose is never
# conjugated: that would not be analytic.

ROOTS = 10          # square roots of a matrix until its logarithm is a short series
SWEEPS = 60         # of the iteration for a square root


def picked(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Return the result of a row that picks elements by their order: run on ranks, which say what
    was picked.
    """
    z = np.asarray(values[0])
    flat = np.ravel(z)
    order = np.argsort(np.real(flat), kind="stable")
    ranks = np.empty(len(flat))
    ranks[order] = np.arange(float(len(flat)))
    rank = np.asarray(op.compute([ranks.reshape(z.shape), *values[1:]], attributes))
    found = flat[order][np.clip(np.nan_to_num(rank), 0, len(flat) - 1).astype(int)]
    # Where nothing was to be picked, something else stands.
    return np.where(np.real(found) == ans, found, ans)


def norm2(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    (z,), axis, keepdims = values, attributes["axis"], attributes["keepdims"]
    if axis is None:
        axis = tuple(range(z.ndim))
    if not axis:
        return absolute(z)
    scale = float(np.max(np.abs(np.real(z)), initial=0.0)) or 1.0
    return np.sqrt(np.sum((z / scale) ** 2, axis=axis, keepdims=keepdims)) * scale


def _turned(z: Any) -> Any:
    return np.swapaxes(z, -1, -2)


def cholesky(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    # The rule is that for symmetric matrices, which stay so: half of a change goes to either side.
    z = np.real(values[0]) + 0.5j * np.imag(values[0] + _turned(values[0]))
    found = np.zeros_like(z)
    for j in range(z.shape[-1]):
        line = found[..., j, :j]
        root = np.sqrt(z[..., j, j] - np.sum(line * line, axis=-1))
        rest = z[..., j + 1:, j] - np.sum(found[..., j + 1:, :j] * line[..., None, :], axis=-1)
        found[..., j, j] = root
        found[..., j + 1:, j] = rest / root[..., None]
    return found


def qr(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Return Q and R by Gram and Schmidt, twice for each column, with the signs that were computed.
    """
    (z,) = values
    n = z.shape[-1]
    q, r = np.zeros_like(z), np.zeros((*z.shape[:-2], n, n), complex)
    signs = np.sign(np.diagonal(np.asarray(ans)[..., -n:, :], 0, -2, -1))
    for j in range(n):
        v = z[..., :, j]
        for _ in range(2):
            along = np.sum(q[..., :, :j] * v[..., :, None], axis=-2)
            v = v - np.sum(q[..., :, :j] * along[..., None, :], axis=-1)
            r[..., :j, j] += along
        length = np.sqrt(np.sum(v * v, axis=-1)) * signs[..., j]
        r[..., j, j] = length
        q[..., :, j] = v / length[..., None]
    return np.concatenate([q, _turned(r)], axis=-2)


def logabsdet(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    sign, size = np.linalg.slogdet(values[0])
    return size + 1j * np.arctan(np.imag(sign) / np.real(sign))


def cofactor(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    (z,) = values
    return np.linalg.det(z)[..., None, None] * _turned(np.linalg.inv(z))


def pinv(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Return the pseudoinverse of a matrix of full rank by columns or rows."""
    (z,) = values
    if z.shape[-2] < z.shape[-1]:
        return _turned(np.linalg.solve(z @ _turned(z), z))
    return np.linalg.solve(_turned(z) @ z, _turned(z))


def expm(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Return the matrix exponential: Taylor's series of x/2^s, squared s times."""
    (z,) = values
    norm = float(np.max(np.sum(np.abs(z), axis=-1), initial=0.0))
    halvings = max(0, math.ceil(math.log2(max(norm, 1e-300)))) + 2
    z = z / 2.0**halvings
    found = term = np.eye(z.shape[-1]) + np.zeros_like(z)
    for k in range(1, 19):
        term = term @ z / k
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found


def _square_root(z: Any) -> Any:
    """Return the iteration of Denman and Beavers (Applied Mathematics and Computation 2, 1976)."""
    y, w = z, np.eye(z.shape[-1]) + np.zeros_like(z)
    for _ in range(SWEEPS):
        y, w, last = (y + np.linalg.inv(w)) / 2.0, (w + np.linalg.inv(y)) / 2.0, y
        if np.max(np.abs(y - last), initial=0.0) <= 1e-15 * np.max(np.abs(y), initial=0.0):
            break
    return (y + np.linalg.inv(w)) / 2.0


def logm(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Return the matrix logarithm: 2^k times that of a root, 2 artanh((y - 1)/(y + 1)) by its
    series.
    """
    y, one = values[0], np.eye(values[0].shape[-1])
    count = 0
    while count < ROOTS and np.max(np.abs(y - one), initial=0.0) > 0.2:
        y, count = _square_root(y), count + 1
    t = np.linalg.solve(y + one, y - one)
    square, found = t @ t, np.zeros_like(t)
    for k in range(25, 0, -1):
        found = found @ square + one / (2 * k - 1)
    return 2.0 * 2.0**count * (t @ found)


def contrast(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    image, factor = values
    centre = np.mean(image, axis=(-3, -2), keepdims=True)
    return (image - centre) * factor + centre


def sqrtm(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Return the square root of a matrix."""
    return _square_root(values[0])
