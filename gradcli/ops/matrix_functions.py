"""Functions of square matrices: powers, exponential, square root, logarithm.

f([[A, E], [0, A]]) = [[f(A), L], [0, f(A)]] holds the derivative L of f at A in the direction E
(Higham 2008, Functions of Matrices, theorem 3.6), so one rule serves them all, to any order.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.discrete import equal, stop_gradient
from gradcli.ops.elementwise import absolute, where
from gradcli.ops.kinds import composite, general
from gradcli.ops.lazy import np
from gradcli.ops.linalg import matmul
from gradcli.ops.matrices import flip, need_square, square_matrix, take
from gradcli.ops.reductions import reduce_max
from gradcli.ops.shapes import concat, whole
from gradcli.ops.systems import inv
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op

MATRIX = ((-3.0, 3.0),)


def _slope(f: Any, a: Any, e: Any) -> Any:
    """The derivative of f at a in the direction e."""
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
        domain=domain)
    return made


def _identity(x: Any) -> Any:
    return np.eye(x.shape[-1], dtype=x.dtype)


def _floating(x: Any) -> tuple[Any, Any]:
    """x as floating point, the identity for matrices with NaN or infinity, and which these are."""
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
    """The product form of Denman and Beavers' iteration, with scaling by the determinant.

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
    """Square roots until x is near 1, then the integral of (x - 1)/(1 + t (x - 1)) over 0..1.

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
