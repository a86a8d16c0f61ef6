"""Linear systems: solutions, inverses and determinants.

Derivatives: Giles (2008), An extended collection of matrix derivative results, section 2.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, general
from gradcli.ops.table.discrete import equal, stop_gradient
from gradcli.ops.table.elementwise import absolute, where
from gradcli.ops.table.linalg import aligned, column, flip, matmul, need_square, square_matrix, take
from gradcli.ops.table.matrices import same_stack, trace, tril, triu
from gradcli.ops.table.reductions import reduce_max, sum_
from gradcli.ops.table.shapes import concat, reshape, whole
from gradcli.ops.values import check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op
    from gradcli.ops.values import Shape

MATRIX = ((-3.0, 3.0),)


def singular(name: str) -> Exception:
    """Return the error for a matrix that has no inverse."""
    return error("E0404", f"`{name}`: the matrix is singular, it has no inverse",
                 help="pinv(A) and lstsq(A, b) take such matrices too")


# --- solutions --------------------------------------------------------------------------------


def need_system(name: str, a: Shape, b: Shape) -> None:
    """Raise E0301 where a and b are not a square matrix and its right side."""
    need_square(name, a)
    if not b or b[-1 if len(b) == 1 else -2] != a[-1]:
        raise error("E0301", f"`{name}` cannot take the right side {show(b)} for a matrix of shape"
                    f" {show(a)}",
                    help="a vector, or a matrix with as many rows as the left side has")
    if len(b) > 1:
        same_stack(name, a, b)


def _solve_prepare(shapes: Sequence[Shape], adjoint: Any) -> dict[str, Any]:
    need_system("solve", *shapes)
    return {"adjoint": bool(adjoint)}


def _solve(cores: Sequence[int], a: Any, b: Any, adjoint: bool) -> Any:
    vector = cores[1] == 1
    if vector:
        b = b[..., None]
    a, b = aligned((cores[0], cores[1] + vector), a, b)
    if adjoint:
        a = np.swapaxes(a, -1, -2)
    elements = 8.0
    for n in np.broadcast_shapes(a.shape[:-2], b.shape[:-2]):
        elements *= n
    check_bytes(elements * b.shape[-1] * b.shape[-2])
    # An upper triangle is its own LU decomposition, so that the solution is a mere substitution,
    # which is accurate element by element (Higham 2002, chapter 8); a lower one is turned round.
    turned = a.size > 1 and not np.any(np.triu(a, 1))
    if turned:
        a, b = a[..., ::-1, ::-1], b[..., ::-1, :]
    try:
        x = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise singular("solve") from None
    if turned:
        x = x[..., ::-1, :]
    return x[..., 0] if vector else x


def _solved(a: Any, b: Any, adjoint: bool, vector: bool) -> Any:
    """Apply `solve` to a right side that may be a stack of vectors."""
    if not vector:
        return solve(a, b, adjoint=adjoint)
    x = solve(a, column(b), adjoint=adjoint)
    return reshape(x, shape=shape_of(x)[:-1])


def _solve_a(g: Any, ans: Any, a: Any, b: Any, adjoint: bool) -> Any:
    vector = len(shape_of(b)) == 1
    y = _solved(a, g, not adjoint, vector)
    if vector:
        ans, y = column(ans), column(y)
    return -matmul(ans, flip(y)) if adjoint else -matmul(y, flip(ans))


def _solve_jvp(tangents: Sequence[Any], ans: Any, a: Any, b: Any, adjoint: bool) -> Any:
    moved, right = tangents
    vector = len(shape_of(b)) == 1
    if vector:
        ans = column(ans)
        right = None if right is None else column(right)
    if moved is not None:
        change = matmul(flip(moved) if adjoint else moved, ans)
        right = -change if right is None else right - change
    x = solve(a, right, adjoint=adjoint)
    return reshape(x, shape=shape_of(x)[:-1]) if vector else x


solve = general(
    "solve", "a b", _solve_a,
    lambda g, ans, a, b, adjoint: _solved(a, g, not adjoint, len(shape_of(b)) == 1),
    jvp=_solve_jvp, aliases="matrix_solve", attributes={"adjoint": False}, prepare=_solve_prepare,
    arrays=_solve, samples=MATRIX * 2, latex=r"{0}^{{-1}} {1}", domain="det(a) != 0",
    doc="x with a @ x = b for a vector or a matrix b; adjoint=true: a.T @ x = b",
    names="numpy:linalg.solve", complex_form="arrays")


def _triangular_solve(a: Any, b: Any, lower: Any = True, adjoint: Any = False) -> Any:
    need_system("triangular_solve", shape_of(a), shape_of(b))
    return solve(tril(a) if lower else triu(a), b, adjoint=adjoint)


triangular_solve = composite(
    "triangular_solve", "a b", _triangular_solve, aliases="matrix_triangular_solve",
    attributes={"lower": True, "adjoint": False}, samples=MATRIX * 2, latex=r"{0}^{{-1}} {1}",
    domain="no zero on the diagonal",
    doc="solve with the lower (lower=false: upper) triangle of a; the other is not read")


def _cholesky_solve(chol: Any, b: Any) -> Any:
    need_system("cholesky_solve", shape_of(chol), shape_of(b))
    lower = tril(chol)
    return _solved(lower, solve(lower, b), True, len(shape_of(b)) == 1)


cholesky_solve = composite(
    "cholesky_solve", "chol b", _cholesky_solve, samples=MATRIX * 2,
    latex=r"\left({0} {0}^\mathsf{{T}}\right)^{{-1}} {1}",
    doc="x with L @ L.T @ x = b for the factor L = cholesky(A)")


def _inv(cores: Sequence[int], x: Any) -> Any:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise singular("inv") from None


inv = general(
    "inv", "x", lambda g, ans, x: -matmul(matmul(flip(ans), g), flip(ans)),
    jvp=lambda tangents, ans, x: -matmul(matmul(ans, tangents[0]), ans),
    aliases="inverse matrix_inverse", prepare=square_matrix("inv"), arrays=_inv, samples=MATRIX,
    latex=r"{0}^{{-1}}", domain="det(x) != 0", doc="the inverse of a matrix, or of each",
    names="numpy:linalg.inv", complex_form="arrays")

# --- determinants -----------------------------------------------------------------------------


def _as_matrix(g: Any) -> Any:
    return reshape(g, shape=(*shape_of(g), 1, 1))


det = general(
    "det", "x", lambda g, ans, x: _as_matrix(g) * cofactor(x),
    jvp=lambda tangents, ans, x: sum_(tangents[0] * cofactor(x), axis=[-2, -1]),
    aliases="matrix_determinant", prepare=square_matrix("det"), samples=MATRIX,
    arrays=lambda cores, x: np.linalg.det(x), latex=r"\det {0}",
    doc="determinant; its derivative is the matrix of cofactors, of singular matrices too",
    names="numpy:linalg.det", complex_form="arrays")


# Nothing is divided in what follows, so singular matrices need no care. Up to three rows, the
# cofactors of a matrix are the cross products of its rows (a smaller one is filled up with ones on
# the diagonal). With more, A = U S V^T turns them into products of singular values, for
# cof(A) = det(U) det(V) U cof(S) V^T.


def _filled(a: Any, diagonal: float) -> Any:
    n = a.shape[-1]
    out = np.zeros((*a.shape[:-2], 3, 3), dtype=np.result_type(a, np.float32))
    out[..., range(n, 3), range(n, 3)] = diagonal
    out[..., :n, :n] = a
    return out


def _factors(a: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return U, s, V^T, the sign of det(U) det(V), and a mask of matrices with NaN or infinity."""
    broken = ~np.all(np.isfinite(a), axis=(-2, -1), keepdims=True)
    u, s, vt = np.linalg.svd(np.where(broken, 0, a))
    sign = np.sign(np.linalg.det(u) * np.linalg.det(vt))[..., None, None]
    return u, s, vt, sign, broken


def _cofactor(cores: Sequence[int], x: Any) -> Any:
    n = x.shape[-1]
    if n <= 3:
        a = _filled(x, 1.0)
        rows = [np.cross(a[..., (i + 1) % 3, :], a[..., (i + 2) % 3, :]) for i in range(3)]
        return np.stack(rows, axis=-2)[..., :n, :n]
    u, s, vt, sign, broken = _factors(x)
    before, after = _products(s)
    return np.where(broken, np.nan, sign * (u * (before * after)[..., None, :]) @ vt)


def _products(s: Any) -> tuple[Any, Any]:
    """Return for each element the product of all before it, and of all after it."""
    one = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([one, s[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return before, after


def _pair_products(s: Any) -> Any:
    """Return at [i, j] the product of all elements but i and j; 0 on the diagonal."""
    n = s.shape[-1]
    between = np.ones((*s.shape, n), dtype=s.dtype)
    for j in range(2, n):
        between[..., :j - 1, j] = between[..., :j - 1, j - 1] * s[..., j - 1:j]
    before, after = _products(s)
    upper = np.triu(before[..., :, None] * between * after[..., None, :], 1)
    return upper + np.swapaxes(upper, -1, -2)


def _cofactor_slope(cores: Sequence[int], a: Any, e: Any) -> Any:
    a, e = np.broadcast_arrays(*aligned(cores, a, e))
    n = a.shape[-1]
    if n <= 3:
        a, e = _filled(a, 1.0), _filled(e, 0.0)
        rows = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            rows.append(np.cross(e[..., j, :], a[..., k, :]) + np.cross(a[..., j, :], e[..., k, :]))
        return np.stack(rows, axis=-2)[..., :n, :n]
    u, s, vt, sign, broken = _factors(a)
    pairs = _pair_products(s)
    turned = np.swapaxes(u, -1, -2) @ e @ np.swapaxes(vt, -1, -2)
    own = np.diagonal(turned, 0, -2, -1)
    change = -pairs * np.swapaxes(turned, -1, -2)
    at = np.arange(n)
    change[..., at, at] = np.sum(pairs * own[..., None, :], axis=-1)
    return np.where(broken, np.nan, sign * (u @ change @ vt))


# The slope of the cofactors is the second derivative of a polynomial, so it is its own transpose.
cofactor = general(
    "cofactor", "x", lambda g, ans, x: cofactor_slope(x, g),
    jvp=lambda tangents, ans, x: cofactor_slope(x, tangents[0]),
    prepare=square_matrix("cofactor"), arrays=_cofactor, samples=MATRIX,
    latex=r"\operatorname{{cof}}\left({0}\right)",
    doc="cofactors, the derivative of the determinant: det(x)*inv(x).T where x has an inverse",
    internal=True, complex_form="cofactor")


def _third(a: Any, e: Any, f: Any) -> Any:
    """Return the third derivative of the determinant, in directions e and f, of a regular matrix.

    From cof(A) = det(A) A^-T and Jacobi's formula, differentiated twice.
    """
    x = inv(a)
    xe, xf = matmul(x, e), matmul(x, f)
    te, tf = _as_matrix(trace(xe)), _as_matrix(trace(xf))
    ef, fe = matmul(xe, xf), matmul(xf, xe)
    both = (te * tf - _as_matrix(trace(ef))) * x - te * matmul(xf, x) - tf * matmul(xe, x)
    return _as_matrix(det(a)) * flip(both + matmul(ef, x) + matmul(fe, x))


def _slope_jvp(tangents: Sequence[Any], ans: Any, a: Any, e: Any) -> Any:
    moved, turned = tangents
    parts = []
    if moved is not None:
        parts.append(_third(a, e, moved))
    if turned is not None:
        parts.append(cofactor_slope(a, turned))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


cofactor_slope = general(
    "cofactor_slope", "a e", lambda g, ans, a, e: _third(a, e, g),
    lambda g, ans, a, e: cofactor_slope(a, g), jvp=_slope_jvp, arrays=_cofactor_slope,
    samples=MATRIX * 2, latex=r"\operatorname{{cof}}'\left({0}\right) {1}",
    doc="the change of the cofactors of a in the direction e", internal=True)

def _sign(x: Any) -> Any:
    """Return the sign as NumPy has it, NaN where the determinant is."""
    sign, logabs = np.linalg.slogdet(x)
    return np.where(np.isnan(logabs), np.nan, sign).astype(x.dtype)


det_sign = general(
    "det_sign", "x", lambda g, ans, x: _as_matrix(g) * np.zeros(shape_of(x)),
    jvp=lambda tangents, ans, x: sum_(tangents[0] * 0.0, axis=[-2, -1]),
    prepare=square_matrix("slogdet"), arrays=lambda cores, x: _sign(x),
    kink=lambda ans, x: np.equal(ans, 0.0), kinks="jumps where the matrix is singular",
    samples=MATRIX, latex=r"\operatorname{{sign}} \det {0}", doc="the sign of the determinant",
    internal=True, complex_form=lambda op, values, attributes, ans: ans + 0j)


def _inverse_of(x: Any) -> Any:
    return flip(inv(x))


logabsdet = general(
    "logabsdet", "x", lambda g, ans, x: _as_matrix(g) * _inverse_of(x),
    jvp=lambda tangents, ans, x: sum_(tangents[0] * _inverse_of(x), axis=[-2, -1]),
    prepare=square_matrix("logabsdet"), arrays=lambda cores, x: np.linalg.slogdet(x)[1],
    samples=MATRIX, latex=r"\ln \left|\det {0}\right|", domain="det(x) != 0",
    doc="log(abs(det(x))) without overflow", complex_form="logabsdet")
slogdet = composite(
    "slogdet", "x", lambda x: [det_sign(x), logabsdet(x)], aliases="log_matrix_determinant",
    samples=MATRIX, latex=r"\ln \left|\det {0}\right|",
    doc="[sign, logarithm of the absolute value] of the determinant: s, l = slogdet(A)")


# --------------------------------------------------------------------------------------------------
# Functions of square matrices: powers, exponential, square root, logarithm.
#
# f([[A, E], [0, A]]) = [[f(A), L], [0, f(A)]] holds the derivative L of f at A in the direction E
# (Higham 2008, Functions of Matrices, theorem 3.6), so one rule serves them all, to any order.

def _slope(f: Any, a: Any, e: Any) -> Any:
    """Return the derivative of f at a in the direction e, from f of a matrix of blocks."""
    n = shape_of(a)[-1]
    if not n:
        return e
    # The length of e is taken out and put back: a long one would cost the block its accuracy.
    size = stop_gradient(reduce_max(absolute(e), axis=[-2, -1], keepdims=True))
    size = where(equal(size, 0.0), 1.0, size)
    upper = concat(a, e / size, axis=-1)
    lower = concat(a * 0.0, a, axis=-1)
    block = f(concat(upper, lower, axis=-2))
    return take(block, slice(0, n), slice(n, None)) * size


def _matrix_function(name: str, arrays: Callable[..., Any], latex: str, doc: str,
                     domain: str = "") -> Op:
    def f(x: Any) -> Any:
        return made(x)

    made = general(
        name, "x", lambda g, ans, x: _slope(f, flip(x), g),
        jvp=lambda tangents, ans, x: _slope(f, x, tangents[0]),
        prepare=square_matrix(name), arrays=arrays, samples=MATRIX, latex=latex, doc=doc,
        domain=domain, complex_form=name)
    return made


def _identity(x: Any) -> Any:
    return np.eye(x.shape[-1], dtype=x.dtype)


def _floating(x: Any) -> tuple[Any, Any]:
    """Return x as floating point, with the identity for matrices with NaN or infinity, and a mask.

    The mask tells which matrices were replaced.
    """
    x = np.asarray(x, dtype=np.result_type(x, np.float32))
    broken = ~np.all(np.isfinite(x), axis=(-2, -1), keepdims=True)
    return np.where(broken, _identity(x), x), broken


# Coefficients of the Pade approximant [13/13] of exp, and up to which 1-norm it is exact to
# rounding: Higham (2005), The scaling and squaring method for the matrix exponential revisited.
PADE = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
        129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
        40840800.0, 960960.0, 16380.0, 182.0, 1.0)
PADE_NORM = 5.371920351148152


def _expm(cores: Sequence[int], x: Any) -> Any:
    x, broken = _floating(x)
    one = _identity(x)
    norm = np.max(np.sum(np.abs(x), axis=-2), axis=-1, initial=0.0)[..., None, None]
    halvings = np.maximum(0, np.ceil(np.log2(np.maximum(norm, 1e-300) / PADE_NORM))).astype(int)
    a = x * np.exp2(-halvings.astype(x.dtype))
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    b = PADE
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2)
               + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    even = (a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2)
            + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one)
    found = np.linalg.solve(even - odd, even + odd)
    for k in range(int(np.max(halvings, initial=0))):
        found = np.where(halvings > k, found @ found, found)
    return np.where(broken, np.nan, found)


expm = _matrix_function(
    "expm", _expm, r"e^{{{0}}}",
    "the exponential of a matrix: 1 + x + x@x/2 + ... (scaling and squaring, Higham 2005)")

STEPS = 100


def _sqrtm_of(name: str, x: Any) -> Any:
    """Return the square root by the product form of Denman and Beavers' iteration, with scaling.

    Cheng, Higham, Kenney and Laub (2001), Approximating the logarithm of a matrix to specified
    accuracy. Raises E0404 where it does not converge.
    """
    n = x.shape[-1]
    one = _identity(x)
    root, m = x, x
    eps = np.finfo(x.dtype).eps
    last = np.inf
    try:
        for _ in range(STEPS if n else 0):
            inverse = np.linalg.inv(m)
            far = np.max(np.abs(m - one), axis=(-2, -1), keepdims=True)
            scale = np.where(far > 0.01, np.exp(
                np.linalg.slogdet(m)[1] / (-2.0 * n))[..., None, None], 1).astype(x.dtype)
            inverse = inverse / scale**2
            root = 0.5 * scale * (root + root @ inverse)
            m = 0.5 * (one + 0.5 * (scale**2 * m + inverse))
            error_left = float(np.max(np.abs(m - one), initial=0.0))
            if error_left <= n * eps or (error_left < 1e-6 and error_left >= last / 2):
                break
            last = error_left
        else:
            if n:
                raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        raise error("E0404", f"`{name}`: the matrix has an eigenvalue that is 0 or negative",
                    help="a real result needs eigenvalues off the negative axis") from None
    return root


def _sqrtm(cores: Sequence[int], x: Any) -> Any:
    x, broken = _floating(x)
    return np.where(broken, np.nan, _sqrtm_of("sqrtm", x))


sqrtm = _matrix_function(
    "sqrtm", _sqrtm, r"{0}^{{1/2}}",
    "the square root y with y @ y = x whose eigenvalues have positive real parts",
    domain="no eigenvalue 0 or negative")


def _logm(cores: Sequence[int], x: Any) -> Any:
    """Take square roots until x is near 1, then integrate (x - 1)/(1 + t (x - 1)) over 0..1.

    Gauss's rule for it is the Pade approximant of log(1 + x): Higham (2008), section 11.4.
    """
    x, broken = _floating(x)
    one = _identity(x)
    doublings = 0
    while float(np.max(np.sum(np.abs(x - one), axis=-2), initial=0.0)) > 0.25:
        x = _sqrtm_of("logm", x)
        doublings += 1
    nodes, weights = np.polynomial.legendre.leggauss(8)
    far = x - one
    total = np.zeros_like(x)
    for t, w in zip(nodes, weights, strict=True):
        half = x.dtype.type(0.5 * (1 + t))
        total = total + x.dtype.type(0.5 * w) * np.linalg.solve(one + half * far, far)
    return np.where(broken, np.nan, total * 2.0**doublings)


logm = _matrix_function(
    "logm", _logm, r"\ln {0}",
    "the logarithm y with expm(y) = x whose eigenvalues are the principal ones",
    domain="no eigenvalue 0 or negative")


def _matrix_power(x: Any, n: Any) -> Any:
    need_square("matrix_power", shape_of(x))
    count = whole(n, "the power of a matrix")
    if count < 0:
        return _matrix_power(inv(x), -count)
    if count == 0:
        return x * 0.0 + np.eye(shape_of(x)[-1])
    found = None
    while count:
        if count % 2:
            found = x if found is None else matmul(found, x)
        count //= 2
        if count:
            x = matmul(x, x)
    return found


matrix_power = composite(
    "matrix_power", "x n", _matrix_power, roles=("data", "index"),
    samples=((-3.0, 3.0), (1.0, 4.0)), latex=r"{0}^{{{1}}}",
    doc="a whole power of a matrix by repeated squaring; of its inverse where negative")
