"""Decompositions of matrices: Cholesky, QR, eigenvalues of symmetric matrices, LU.

A row has one value, so a decomposition is one packed array, which a composite takes apart.
Derivatives: Giles (2008), An extended collection of matrix derivative results; Seeger, Hetzel, Dai
and Lawrence (2017), Auto-Differentiating Linear Algebra; Murray (2016), Differentiation of the
Cholesky decomposition.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.arguments import number_of
from gradcli.ops.kinds import composite, general, stop, unregistered
from gradcli.ops.table.elementwise import log, square
from gradcli.ops.table.linalg import (
    column,
    flip,
    matmul,
    matrix,
    need_matrix,
    need_square,
    row,
    square_matrix,
    take,
)
from gradcli.ops.table.matrices import diag_part, put_diagonal, tril, triu
from gradcli.ops.table.reductions import sum_
from gradcli.ops.table.shapes import concat
from gradcli.ops.table.systems import solve
from gradcli.ops.values import dtype_of, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MATRIX = ((-3.0, 3.0),)


def mended(x: Any) -> tuple[Any, Any]:
    """Return x with zeros for matrices that hold NaN or infinity, and a mask of these.

    LAPACK's iterations end in an error on such matrices; here the result is NaN.
    """
    broken = ~np.all(np.isfinite(x), axis=(-2, -1), keepdims=True)
    return np.where(broken, 0, x), broken


def converged(name: str, function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """Return the result of a function. Raises E0404 where LAPACK's iteration does not end."""
    try:
        return function(*operands, **options)
    except np.linalg.LinAlgError:
        raise error("E0404", f"`{name}` did not converge", help="scale the matrix") from None


# --- Cholesky ---------------------------------------------------------------------------------


def _cholesky(cores: Sequence[int], x: Any) -> Any:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        n = x.shape[-1]
        return np.stack([_one_cholesky(a) for a in x.reshape(-1, n, n)]).reshape(x.shape)


def _one_cholesky(a: Any) -> Any:
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(a, np.nan, dtype=np.result_type(a, np.float32)))


def _half(x: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    return 0.5 * (tril(x) + tril(x, k=-1))


def _symmetric(x: Any) -> Any:
    return 0.5 * (x + flip(x))


def _cholesky_vjp(g: Any, ans: Any, x: Any) -> Any:
    middle = solve(ans, _half(matmul(flip(ans), g)), adjoint=True)
    return _symmetric(solve(ans, flip(middle), adjoint=True))


def _cholesky_jvp(tangents: Sequence[Any], ans: Any, x: Any) -> Any:
    left = solve(ans, _symmetric(tangents[0]))
    return matmul(ans, _half(solve(ans, flip(left))))


# The derivative is that of symmetric matrices, shared between both triangles as in TensorFlow.
cholesky = general(
    "cholesky", "x", _cholesky_vjp, jvp=_cholesky_jvp, prepare=square_matrix("cholesky"),
    arrays=_cholesky, samples=MATRIX, latex=r"\operatorname{{chol}}\left({0}\right)",
    domain="positive definite",
    doc="L with L @ L.T = x; only the lower triangle of x is read (rule: Murray 2016)",
    names="numpy:linalg.cholesky", complex_form="cholesky")


def _logdet(x: Any) -> Any:
    need_square("logdet", shape_of(x))
    return 2.0 * sum_(log(diag_part(cholesky(x))), axis=-1)


logdet = composite("logdet", "x", _logdet, samples=MATRIX, latex=r"\ln \det {0}",
                   domain="positive definite",
                   doc="log(det(x)) of a positive definite matrix, by its Cholesky factor")

# --- QR ---------------------------------------------------------------------------------------


def _qr_arrays(cores: Sequence[int], x: Any) -> Any:
    q, r = np.linalg.qr(x)
    return np.concatenate([q, np.swapaxes(r, -1, -2)], axis=-2)


def _unpack_qr(packed: Any, rows: int) -> tuple[Any, Any]:
    everything = slice(None)
    return (take(packed, slice(0, rows), everything),
            flip(take(packed, slice(rows, None), everything)))


def _over(x: Any, r: Any, adjoint: bool) -> Any:
    """Return x R^-1, or x R^-T."""
    return flip(solve(r, flip(x), adjoint=not adjoint))


def _qr_vjp(g: Any, ans: Any, x: Any) -> Any:
    rows = shape_of(x)[-2]
    q, r = _unpack_qr(ans, rows)
    gq, gr = _unpack_qr(g, rows)
    m = matmul(r, flip(triu(gr))) - matmul(flip(gq), q)
    return _over(gq + matmul(q, tril(m) + flip(tril(m, k=-1))), r, True)


def _qr_jvp(tangents: Sequence[Any], ans: Any, x: Any) -> Any:
    q, r = _unpack_qr(ans, shape_of(x)[-2])
    w = _over(tangents[0], r, False)
    c = matmul(flip(q), w)
    upper = triu(c) + flip(tril(c, k=-1))
    return concat(w - matmul(q, upper), flip(matmul(upper, r)), axis=-2)


# At least as many rows as columns. R^T stands below Q: both have as many columns.
qr_packed = general(
    "qr_packed", "x", _qr_vjp, jvp=_qr_jvp, prepare=matrix("qr"), arrays=_qr_arrays,
    samples=MATRIX, latex=r"\operatorname{{qr}}\left({0}\right)",
    domain="full rank, for a derivative",
    doc="Q above the transpose of R, of a matrix with at least as many rows as columns",
    internal=True, complex_form="qr")


def _qr(x: Any) -> list[Any]:
    need_matrix("qr", shape_of(x))
    if dtype_of(number_of(x)) == "string":
        raise error("E0302", "`qr` does not take string", help="make it a float: float(...)")
    m, n = shape_of(x)[-2:]
    everything = slice(None)
    q, r = _unpack_qr(qr_packed(take(x, everything, slice(0, m)) if m < n else x), m)
    if m < n:
        rest = matmul(flip(q), take(x, everything, slice(m, None)))
        r = concat(r, rest, axis=-1)
    return [q, r]


qr = composite(
    "qr", "x", _qr, samples=MATRIX, latex=r"\operatorname{{qr}}\left({0}\right)",
    domain="full rank, for a derivative",
    doc="[Q, R] with x = Q @ R, reduced: q, r = qr(A) (rule: Seeger et al. 2017)")

# --- eigenvalues of symmetric matrices --------------------------------------------------------


def width(w: Any) -> Any:
    """Return the bound below which a difference of eigenvalues or singular values is rounding."""
    eps = np.finfo(w.dtype).eps
    return eps * w.shape[-1] * np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)


def _gaps(cores: Sequence[int], w: Any) -> Any:
    gaps = w[..., None, :] - w[..., :, None]
    near = np.abs(gaps) <= width(w)[..., None]
    return np.where(near, 0, 1 / np.where(near, 1, gaps))


def _gaps_vjp(g: Any, ans: Any, w: Any) -> Any:
    part = g * square(ans)
    return sum_(part, axis=-1) - sum_(part, axis=-2)


inverse_gaps = general(
    "inverse_gaps", "w", _gaps_vjp,
    jvp=lambda tangents, ans, w: (column(tangents[0]) - row(tangents[0])) * square(ans),
    arrays=_gaps, samples=MATRIX, latex=r"\frac{{1}}{{{0}_j - {0}_i}}",
    doc="1/(w[j] - w[i]), and 0 where both are the same but for rounding", internal=True)


def near(w: Any) -> Any:
    """Return a mask of pairs of different indices with equal values, but for rounding."""
    close = np.abs(w[..., None, :] - w[..., :, None]) <= width(w)[..., None]
    return close & ~np.eye(w.shape[-1], dtype=bool)


def _undetermined(cores: Sequence[int], m: Any, used: Any, w: Any) -> Any:
    pairs = near(w)
    rounding = 1e3 * np.finfo(w.dtype).eps
    both = np.abs(m + np.swapaxes(m, -1, -2))
    unlike = np.abs(used[..., None, :] - used[..., :, None])
    tied = np.any(pairs & (unlike > rounding * np.max(np.abs(used), initial=0.0)))
    return np.where(
        pairs & tied & (both > rounding * np.max(np.abs(m), initial=0.0)), np.nan, 0.0)


# A function of the vectors alone that is one of the matrix does not change where those of one value
# turn together. In one of the values as well, such as V*w @ V.T, they have to turn to where the
# change of the matrix is diagonal, and what that does, its cotangents do not say.
undetermined = stop(
    "undetermined", "m used w", arrays=_undetermined, samples=MATRIX * 3,
    latex=r"\operatorname{{undetermined}}\left({0}\right)", substitute="0",
    doc="NaN where m ties vectors that belong to one value in w, which count unlike; else 0",
    internal=True)


def repeated(w: Any) -> Any:
    """Return a mask of values equal to the next, but for rounding."""
    return np.abs(np.diff(w, axis=-1)) <= width(w)


def _eigh_arrays(cores: Sequence[int], x: Any) -> Any:
    safe, broken = mended(np.tril(x))
    w, v = converged("eigh", np.linalg.eigh, safe)
    return np.where(broken, np.nan, np.concatenate([w[..., None], v], axis=-1))


def _unpack_eigh(packed: Any) -> tuple[Any, Any]:
    everything = slice(None)
    return take(packed, everything, 0), take(packed, everything, slice(1, None))


def _eigh_vjp(g: Any, ans: Any, x: Any) -> Any:
    w, v = _unpack_eigh(ans)
    gw, gv = _unpack_eigh(g)
    n = shape_of(x)[-1]
    turn = matmul(flip(v), gv)
    middle = (put_diagonal(gw, k=0, shape=(n, n)) + inverse_gaps(w) * turn
              + undetermined(turn, gw, w))
    full = matmul(matmul(v, middle), flip(v))
    return _half(full + flip(full))


def _eigh_jvp(tangents: Sequence[Any], ans: Any, x: Any) -> Any:
    w, v = _unpack_eigh(ans)
    change = tril(tangents[0]) + flip(tril(tangents[0], k=-1))
    m = matmul(matmul(flip(v), change), v)
    return concat(column(diag_part(m)), matmul(v, inverse_gaps(w) * m), axis=-1)


eigh_packed = general(
    "eigh_packed", "x", _eigh_vjp, jvp=_eigh_jvp, prepare=square_matrix("eigh"),
    arrays=_eigh_arrays, samples=MATRIX, latex=r"\operatorname{{eig}}\left({0}\right)",
    kink=lambda ans, x: repeated(ans[..., 0]),
    kinks="an eigenvalue is repeated; its vectors do not turn into each other",
    doc="the eigenvalues of a symmetric matrix as a column, before its eigenvectors", internal=True)


def _eigh(x: Any) -> list[Any]:
    return list(_unpack_eigh(eigh_packed(x)))


eigh = composite(
    "eigh", "x", _eigh, aliases="self_adjoint_eig", samples=MATRIX,
    latex=r"\operatorname{{eig}}\left({0}\right)", kinks="repeated eigenvalues",
    doc="[w, V]: ascending eigenvalues and eigenvectors of a symmetric matrix (lower triangle)")
eigvalsh = composite(
    "eigvalsh", "x", lambda x: _eigh(x)[0], aliases="self_adjoint_eigvals", samples=MATRIX,
    latex=r"\lambda\left({0}\right)", kinks="repeated eigenvalues",
    doc="ascending eigenvalues of a symmetric matrix; only its lower triangle is read")

# --- LU ---------------------------------------------------------------------------------------


def _eliminate(x: Any) -> tuple[Any, Any]:
    """Return L below the diagonal and U, and the order of the rows, by partial pivoting."""
    lu = np.array(x, dtype=np.result_type(x, np.float32))
    order = np.broadcast_to(np.arange(lu.shape[-2]), lu.shape[:-1]).copy()
    stack = tuple(np.indices(lu.shape[:-2]))
    for k in range(min(lu.shape[-2:])):
        top = k + np.argmax(np.abs(lu[..., k:, k]), axis=-1)
        here: Any = (*stack, k)
        there: Any = (*stack, top)
        lu[here], lu[there] = lu[there], lu[here].copy()
        order[here], order[there] = order[there], order[here].copy()
        pivot = lu[..., k, k][..., None]
        lu[..., k + 1:, k] /= np.where(pivot == 0, 1, pivot)
        lu[..., k + 1:, k + 1:] -= lu[..., k + 1:, k, None] * lu[..., k, None, k + 1:]
    return lu, order


lu_factors = unregistered(
    "lu_factors", "x", prepare=matrix("lu"), arrays=lambda cores, x: _eliminate(x)[0],
    samples=MATRIX, latex=r"\operatorname{{lu}}\left({0}\right)",
    doc="L below the diagonal (its own is 1) and U from it on, of the pivoted matrix")
lu_order = stop(
    "lu_order", "x", prepare=matrix("lu"), arrays=lambda cores, x: _eliminate(x)[1],
    samples=MATRIX, latex=r"\operatorname{{pivots}}\left({0}\right)",
    substitute="{0} without pivots", doc="the order of rows that makes pivots largest")
lu = composite(
    "lu", "x", lambda x: [lu_factors(x), lu_order(x)], samples=MATRIX,
    latex=r"\operatorname{{lu}}\left({0}\right)",
    doc="[LU, p]: L and U in one matrix, x[p] = L @ U; it has no derivative yet",
    traits="cut", substitute="solve, det or qr, which have derivatives")
