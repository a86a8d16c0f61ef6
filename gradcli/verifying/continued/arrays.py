"""Operations on whole arrays for the complex step, where NumPy's own are not analytic.

Each is given the row, its operands and attributes, and what was computed. A transpose is never
conjugated: that would not be analytic.
"""

from __future__ import annotations

import math

from gradcli.ops.lazy import np
from gradcli.verifying.continued.elementwise import absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ROOTS = 10          # square roots of a matrix until its logarithm is a short series
SWEEPS = 60         # of the iteration for a square root


def _picked(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Of rows that pick elements by their order: run on ranks, which say what was picked."""
    z = np.asarray(values[0])
    flat = np.ravel(z)
    order = np.argsort(np.real(flat), kind="stable")
    ranks = np.empty(len(flat))
    ranks[order] = np.arange(float(len(flat)))
    rank = np.asarray(op.compute([ranks.reshape(z.shape), *values[1:]], attributes))
    found = flat[order][np.clip(np.nan_to_num(rank), 0, len(flat) - 1).astype(int)]
    # Where nothing was to be picked, something else stands.
    return np.where(np.real(found) == ans, found, ans)


def _norm2(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    (z,), axis, keepdims = values, attributes["axis"], attributes["keepdims"]
    if axis is None:
        axis = tuple(range(z.ndim))
    if not axis:
        return absolute(z)
    scale = float(np.max(np.abs(np.real(z)), initial=0.0)) or 1.0
    return np.sqrt(np.sum((z / scale) ** 2, axis=axis, keepdims=keepdims)) * scale


def _turned(z: Any) -> Any:
    return np.swapaxes(z, -1, -2)


def _cholesky(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
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


def _qr(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Gram and Schmidt, twice for each column, with the signs that were computed."""
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


def _logabsdet(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    sign, size = np.linalg.slogdet(values[0])
    return size + 1j * np.arctan(np.imag(sign) / np.real(sign))


def _cofactor(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    (z,) = values
    return np.linalg.det(z)[..., None, None] * _turned(np.linalg.inv(z))


def _pinv(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Of full rank by columns or rows."""
    (z,) = values
    if z.shape[-2] < z.shape[-1]:
        return _turned(np.linalg.solve(z @ _turned(z), z))
    return np.linalg.solve(_turned(z) @ z, _turned(z))


def _expm(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """Taylor's series of x/2^s, squared s times."""
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


def _root(z: Any) -> Any:
    """The iteration of Denman and Beavers (Applied Mathematics and Computation 2, 1976)."""
    y, w = z, np.eye(z.shape[-1]) + np.zeros_like(z)
    for _ in range(SWEEPS):
        y, w, last = (y + np.linalg.inv(w)) / 2.0, (w + np.linalg.inv(y)) / 2.0, y
        if np.max(np.abs(y - last), initial=0.0) <= 1e-15 * np.max(np.abs(y), initial=0.0):
            break
    return (y + np.linalg.inv(w)) / 2.0


def _logm(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    """2^k times the logarithm of a root: 2 artanh((y - 1)/(y + 1)) by its series."""
    y, one = values[0], np.eye(values[0].shape[-1])
    count = 0
    while count < ROOTS and np.max(np.abs(y - one), initial=0.0) > 0.2:
        y, count = _root(y), count + 1
    t = np.linalg.solve(y + one, y - one)
    square, found = t @ t, np.zeros_like(t)
    for k in range(25, 0, -1):
        found = found @ square + one / (2 * k - 1)
    return 2.0 * 2.0**count * (t @ found)


def _contrast(op: Any, values: Sequence[Any], attributes: Mapping[str, Any], ans: Any) -> Any:
    image, factor = values
    centre = np.mean(image, axis=(-3, -2), keepdims=True)
    return (image - centre) * factor + centre


ARRAYS: dict[str, Any] = {
    **dict.fromkeys(("reduce_max", "reduce_min", "sort", "cummax", "cummin", "segment_largest",
                     "segment_smallest", "pool_max"), _picked),
    "norm2": _norm2, "cholesky": _cholesky, "qr_packed": _qr, "logabsdet": _logabsdet,
    "det_sign": lambda op, values, attributes, ans: ans + 0j, "cofactor": _cofactor, "pinv": _pinv,
    "expm": _expm, "adjust_contrast": _contrast, "logm": _logm,
    "sqrtm": lambda op, values, attributes, ans: _root(values[0])}
