"""Singular values, and ranks, norms, pseudo-inverses and least squares by them.

Derivatives: Giles (2008), An extended collection of matrix derivative results; Townsend (2016),
Differentiating the singular value decomposition; Golub and Pereyra (1973), The differentiation of
pseudo-inverses and nonlinear least squares problems.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, general, stop
from gradcli.ops.table.decompositions import (
    MATRIX,
    converged,
    inverse_gaps,
    mended,
    near,
    repeated,
    undetermined,
    width,
)
from gradcli.ops.table.elementwise import absolute, divide, reciprocal_no_nan, square
from gradcli.ops.table.linalg import (
    column,
    flip,
    matmul,
    matrix,
    need_matrix,
    row,
    take,
    times_vector,
)
from gradcli.ops.table.matrices import diag_part, put_diagonal, same_stack
from gradcli.ops.table.reductions import norm2, reduce_max, reduce_min, sum_
from gradcli.ops.table.shapes import concat, reshape
from gradcli.ops.table.systems import inv, solve
from gradcli.ops.values import shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape


def _svd_arrays(cores: Sequence[int], x: Any) -> Any:
    safe, broken = mended(x)
    u, s, vt = converged("svd", np.linalg.svd, safe, full_matrices=False)
    packed = np.concatenate([s[..., None, :], u, np.swapaxes(vt, -1, -2)], axis=-2)
    return np.where(broken, np.nan, packed)


def _unpack_svd(packed: Any, rows: int) -> tuple[Any, Any, Any]:
    everything = slice(None)
    return (take(packed, 0, everything), take(packed, slice(1, 1 + rows), everything),
            take(packed, slice(1 + rows, None), everything))


def _square_gaps(s: Any) -> Any:
    """Return 1/(s[j]^2 - s[i]^2), without squares that could cancel."""
    return inverse_gaps(s) * reciprocal_no_nan(row(s) + column(s))


def _turns(cores: Sequence[int], s: Any) -> Any:
    both = s[..., None, :] + s[..., :, None]
    return np.where(near(s) & (both != 0), 0.5 / np.where(both == 0, 1, both), 0)


def _turns_vjp(g: Any, ans: Any, s: Any) -> Any:
    part = -2.0 * g * square(ans)
    return sum_(part, axis=-1) + sum_(part, axis=-2)


# Left and right vectors of one singular value that turn against each other move U @ V.T, so that is
# no choice: both turn by half. Turning together is, and there they stand still.
turns = general(
    "turns", "s", _turns_vjp,
    jvp=lambda tangents, ans, s: -2.0 * (column(tangents[0]) + row(tangents[0])) * square(ans),
    arrays=_turns, samples=MATRIX, latex=r"\frac{{1}}{{2({0}_j + {0}_i)}}",
    doc="1/(2*(s[j] + s[i])) where both are the same but for rounding, else 0", internal=True)


def _off(x: Any, u: Any) -> Any:
    """Return the part of the columns of x that is orthogonal to those of u."""
    return x - matmul(u, matmul(flip(u), x))


def _svd_vjp(g: Any, ans: Any, x: Any) -> Any:
    m, n = shape_of(x)[-2:]
    s, u, v = _unpack_svd(ans, m)
    gs, gu, gv = _unpack_svd(g, m)
    gaps = _square_gaps(s)
    left, right = matmul(flip(u), gu), matmul(flip(v), gv)
    k = min(m, n)
    apart = turns(s) * (left - flip(left) - right + flip(right))
    middle = (put_diagonal(gs, k=0, shape=(k, k)) + apart
              + undetermined(left, gs, s) + undetermined(right, gs, s))
    left, right = gaps * left, gaps * right
    middle = middle + (left + flip(left)) * row(s) + column(s) * (right + flip(right))
    total = matmul(matmul(u, middle), flip(v))
    # 1/s is 0 where s is 0: there the vectors that belong to it are anyone's choice.
    if m > k:
        total = total + matmul(_off(gu, u) * row(reciprocal_no_nan(s)), flip(v))
    if n > k:
        total = total + matmul(u, flip(_off(gv, v) * row(reciprocal_no_nan(s))))
    return total


def _svd_jvp(tangents: Sequence[Any], ans: Any, x: Any) -> Any:
    (t,) = tangents
    rows, columns = shape_of(x)[-2:]
    s, u, v = _unpack_svd(ans, rows)
    gaps = _square_gaps(s)
    right = matmul(t, v)
    m = matmul(flip(u), right)
    apart = turns(s) * (m - flip(m))
    du = matmul(u, gaps * (m * row(s) + column(s) * flip(m)) + apart)
    dv = matmul(v, gaps * (column(s) * m + flip(m) * row(s)) - apart)
    if rows > columns:
        du = du + _off(right, u) * row(reciprocal_no_nan(s))
    if columns > rows:
        dv = dv + _off(matmul(flip(t), u), v) * row(reciprocal_no_nan(s))
    return concat(row(diag_part(m)), du, dv, axis=-2)


def _svd_kink(ans: Any, x: Any) -> Any:
    s = ans[..., 0, :]
    return np.concatenate([repeated(s), s <= width(s)], axis=-1)


svd_packed = general(
    "svd_packed", "x", _svd_vjp, jvp=_svd_jvp, prepare=matrix("svd"), arrays=_svd_arrays,
    samples=MATRIX, latex=r"\operatorname{{svd}}\left({0}\right)", kink=_svd_kink,
    kinks="a singular value is 0 or repeated; its vectors do not turn together",
    doc="rows of a matrix: the singular values, the left vectors, the right vectors", internal=True)


def _svd(x: Any, compute_uv: Any = True) -> Any:
    need_matrix("svd", shape_of(x))
    s, u, v = _unpack_svd(svd_packed(x), shape_of(x)[-2])
    return [u, s, flip(v)] if compute_uv else s


svd = composite(
    "svd", "x", _svd, attributes={"compute_uv": True}, samples=MATRIX,
    latex=r"\operatorname{{svd}}\left({0}\right)", kinks="singular values that are 0 or repeated",
    doc="[U, s, V.T] as in NumPy, reduced (TensorFlow: s, U, V); compute_uv=false: only s")
svdvals = composite(
    "svdvals", "x", lambda x: _svd(x, False), samples=MATRIX,
    latex=r"\sigma\left({0}\right)", kinks="singular values that are 0 or repeated",
    doc="singular values, largest first (rule: Townsend 2016)")


def _rank(cores: Sequence[int], x: Any, tol: float | None) -> Any:
    safe, broken = mended(x)
    if np.any(broken):
        raise error("E0404", "a matrix with NaN or infinity has no rank", help="check its elements")
    return np.linalg.matrix_rank(safe, tol)


def _rank_prepare(shapes: Sequence[Shape], tol: Any) -> dict[str, Any]:
    need_matrix("matrix_rank", shapes[0])
    return {"tol": _tolerance("matrix_rank", tol)}


def _tolerance(name: str, value: Any) -> float | None:
    if value is not None and not (isinstance(value, (int, float)) and value >= 0):
        raise error("E0303", f"the tolerance of `{name}` must be a number, not `{value!r}`",
                    help="such as 1e-10", about=("value", value))
    return value


matrix_rank = stop(
    "matrix_rank", "x", attributes={"tol": None}, prepare=_rank_prepare, arrays=_rank,
    samples=MATRIX, latex=r"\operatorname{{rank}} {0}", substitute="sum(svdvals({0}))",
    doc="how many singular values are larger than tol, by default than rounding", traits="in_steps")

# --- norms ------------------------------------------------------------------------------------


def _matrix_norm(x: Any, ord: Any = "fro", keepdims: Any = False) -> Any:
    need_matrix("matrix_norm", shape_of(x))
    ord = getattr(ord, "value", ord)
    if ord in ("fro", "euclidean"):
        return norm2(x, axis=[-2, -1], keepdims=keepdims)
    reduce = reduce_min if isinstance(ord, (int, float)) and ord < 0 else reduce_max
    if ord in (2, -2):
        found = reduce(_svd(x, False), axis=-1)
    elif ord == "nuc":
        found = sum_(_svd(x, False), axis=-1)
    elif ord in (1, -1):
        found = reduce(sum_(absolute(x), axis=-2), axis=-1)
    elif ord in (math.inf, -math.inf):
        found = reduce(sum_(absolute(x), axis=-1), axis=-1)
    else:
        raise error("E0404", f"`matrix_norm` has no order `{ord!r}`",
                    help='use "fro", "nuc", 1, 2, inf, -1, -2 or -inf', about=("value", ord))
    return reshape(found, shape=(*shape_of(found), 1, 1)) if keepdims else found


matrix_norm = composite(
    "matrix_norm", "x", _matrix_norm, attributes={"ord": "fro", "keepdims": False}, samples=MATRIX,
    latex=r"\left\|{0}\right\|", kinks="slope 0 at 0; ties share the gradient evenly",
    doc='norm of a matrix, or of each; ord: "fro", "nuc", 1, 2, inf, -1, -2, -inf as in NumPy')


def _cond(x: Any, p: Any = None) -> Any:
    p = getattr(p, "value", p)
    if p is None or p in (2, -2):
        need_matrix("cond", shape_of(x))
        s = _svd(x, False)
        top, low = reduce_max(s, axis=-1), reduce_min(s, axis=-1)
        return divide(low, top) if p == -2 else divide(top, low)
    return _matrix_norm(x, p) * _matrix_norm(inv(x), p)


cond = composite(
    "cond", "x", _cond, attributes={"p": None}, samples=MATRIX, latex=r"\kappa\left({0}\right)",
    kinks="ties share the gradient evenly",
    doc="condition number, by default of the 2-norm: largest over smallest singular value")

# --- pseudo-inverse ---------------------------------------------------------------------------


def _pinv(cores: Sequence[int], x: Any, rcond: float | None) -> Any:
    safe, broken = mended(x)
    if rcond is None:
        rcond = 10 * max(x.shape[-2:]) * float(np.finfo(np.result_type(x, np.float32)).eps)
    found = converged("pinv", np.linalg.pinv, safe, rcond)
    return np.where(broken, np.nan, found)


def _pinv_prepare(shapes: Sequence[Shape], rcond: Any) -> dict[str, Any]:
    need_matrix("pinv", shapes[0])
    return {"rcond": _tolerance("pinv", rcond)}


def _deficient(cores: Sequence[int], x: Any, p: Any) -> Any:
    rank = np.round(np.einsum("...ij,...ji->...", x, p))
    return np.where(rank < min(x.shape[-2:]), np.nan, 0.0)[..., None, None]


deficient = stop(
    "deficient", "x p", arrays=_deficient, samples=MATRIX * 2, substitute="0",
    latex=r"\operatorname{{deficient}}\left({0}\right)",
    doc="NaN if a matrix, of which p is the pseudo-inverse, has not full rank, else 0",
    internal=True)


def _pinv_vjp(g: Any, ans: Any, x: Any, rcond: float | None) -> Any:
    p, pt, gt = ans, flip(ans), flip(g)
    # Where the rank is not full, it grows beside the point, and the pseudo-inverse without bound.
    total = deficient(x, p) - matmul(matmul(pt, g), pt)
    m, n = shape_of(x)[-2:]
    if m > n:
        left = matmul(gt, matmul(p, pt))
        total = total + left - matmul(x, matmul(p, left))
    if m < n:
        right = matmul(matmul(pt, p), gt)
        total = total + right - matmul(matmul(right, p), x)
    return total


def _pinv_jvp(tangents: Sequence[Any], ans: Any, x: Any, rcond: float | None) -> Any:
    (t,) = tangents
    p, pt = ans, flip(ans)
    total = deficient(x, p) - matmul(matmul(p, t), p)
    m, n = shape_of(x)[-2:]
    if m > n:
        left = matmul(matmul(p, pt), flip(t))
        total = total + left - matmul(matmul(left, x), p)
    if m < n:
        right = matmul(flip(t), matmul(pt, p))
        total = total + right - matmul(p, matmul(x, right))
    return total


pinv = general(
    "pinv", "x", _pinv_vjp, jvp=_pinv_jvp, attributes={"rcond": None}, prepare=_pinv_prepare,
    arrays=_pinv, samples=MATRIX, latex=r"{0}^{{+}}", domain="full rank, for a derivative",
    doc="pseudo-inverse; singular values up to rcond times the largest count as 0",
    names="numpy:linalg.pinv", complex_form="pinv")


def _lstsq(a: Any, b: Any, l2_regularizer: Any = 0.0) -> Any:
    sa, sb = shape_of(a), shape_of(b)
    need_matrix("lstsq", sa)
    vector = len(sb) == 1
    if not sb or sb[-1 if vector else -2] != sa[-2]:
        raise error("E0301", f"`lstsq` cannot take the right side {show(sb)} for a matrix of shape"
                    f" {show(sa)}", help="it must have as many rows as the left side")
    if not vector:
        same_stack("lstsq", sa, sb)
    if not l2_regularizer:
        left = pinv(a)
    else:
        m, n = sa[-2:]
        at = flip(a)
        if m < n:
            left = matmul(at, inv(matmul(a, at) + l2_regularizer * np.eye(m)))
        else:
            left = solve(matmul(at, a) + l2_regularizer * np.eye(n), at)
    return times_vector(left, b) if vector else matmul(left, b)


lstsq = composite(
    "lstsq", "a b", _lstsq, aliases="matrix_solve_ls", attributes={"l2_regularizer": 0.0},
    samples=MATRIX * 2, latex=r"{0}^{{+}} {1}", domain="full rank, for a derivative",
    doc="x with the least |a@x - b|^2 + l2_regularizer*|x|^2; the shortest of several")
