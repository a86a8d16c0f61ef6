"""Parts of matrices: diagonals, triangles, transposes, traces. Matrices are the last two axes."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, linear
from gradcli.ops.table.elementwise import where
from gradcli.ops.table.linalg import flip, need_matrix
from gradcli.ops.table.reductions import sum_
from gradcli.ops.table.shapes import reshape, whole
from gradcli.ops.values import broadcast_shape, check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

MATRIX = ((-3.0, 3.0),)


# --- diagonals --------------------------------------------------------------------------------


def _diagonal_prepare(shapes: Sequence[Shape], k: Any) -> dict[str, Any]:
    need_matrix("diag_part", shapes[0])
    return {"k": whole(k, "the offset of a diagonal")}


def _put_diagonal(cores: Sequence[int], x: Any, k: int, shape: Shape) -> Any:
    out = np.zeros(shape_of(x)[:-1] + tuple(shape), dtype=np.result_type(x))
    at = np.arange(shape_of(x)[-1])
    out[..., at + max(-k, 0), at + max(k, 0)] = x
    return out


diag_part = linear(
    "diag_part", "x", lambda g, ans, x, k: put_diagonal(g, k=k, shape=shape_of(x)[-2:]),
    aliases="diagonal matrix_diag_part", attributes={"k": 0}, prepare=_diagonal_prepare,
    samples=MATRIX, latex=r"\operatorname{{diag}}\left({0}\right)",
    arrays=lambda cores, x, k: np.diagonal(x, k, -2, -1).copy(),
    doc="the diagonal of a matrix, or of each; k=1 is the one above it")
put_diagonal = linear(
    "put_diagonal", "x", lambda g, ans, x, k, shape: diag_part(g, k=k),
    attributes={"k": 0, "shape": ()}, arrays=_put_diagonal, samples=MATRIX,
    latex=r"\operatorname{{diag}}\left({0}\right)",
    doc="a matrix of zeros with x on a diagonal: the transpose of diag_part", internal=True)


def _diag_embed(x: Any, k: Any = 0) -> Any:
    shape = shape_of(x)
    if not shape:
        raise error("E0301", "a diagonal matrix is made of a vector, not of a scalar",
                    help="such as diag([1, 2, 3])")
    k = whole(k, "the offset of a diagonal")
    n = shape[-1] + abs(k)
    elements = 8.0 * n * n
    for length in shape[:-1]:
        elements *= length
    check_bytes(elements)
    return put_diagonal(x, k=k, shape=(n, n))


def _diag(x: Any, k: Any = 0) -> Any:
    if len(shape_of(x)) > 1:
        raise error("E0301", f"`diag` needs a vector, not a tensor of shape {show(shape_of(x))}",
                    help="diag_part(x) is the diagonal of a matrix,"
                    " matrix_diag(x) makes a matrix of every row")
    return _diag_embed(x, k)


diag = composite(
    "diag", "x", _diag, attributes={"k": 0}, samples=MATRIX,
    latex=r"\operatorname{{diag}}\left({0}\right)",
    doc="the matrix with a vector on its diagonal; k=1 is the one above it")
diag_embed = composite(
    "diag_embed", "x", _diag_embed, aliases="matrix_diag", attributes={"k": 0}, samples=MATRIX,
    latex=r"\operatorname{{diag}}\left({0}\right)",
    doc="like diag, with a matrix for every row of x")


def _set_diag(x: Any, diagonal: Any, k: Any = 0) -> Any:
    shape = shape_of(x)
    need_matrix("set_diag", shape)
    k = whole(k, "the offset of a diagonal")
    n = max(0, min(shape[-2] + min(k, 0), shape[-1] - max(k, 0)))
    if shape_of(diagonal) != (*shape[:-2], n):
        raise error("E0301", f"the diagonal of a tensor of shape {show(shape)} has shape"
                    f" {show((*shape[:-2], n))}, not {show(shape_of(diagonal))}",
                    help="give as many numbers as the diagonal has")
    here = np.eye(shape[-2], shape[-1], k, dtype=bool)
    return where(here, put_diagonal(diagonal, k=k, shape=shape[-2:]), x)


set_diag = composite(
    "set_diag", "x diagonal", _set_diag, aliases="matrix_set_diag", attributes={"k": 0},
    samples=MATRIX * 2, latex=r"\operatorname{{set diag}}\left({0}, {1}\right)",
    doc="x with another diagonal")


def _tensor_diag(x: Any) -> Any:
    shape = shape_of(x)
    return reshape(_diag_embed(reshape(x, shape=-1)), shape=(*shape, *shape))


def _tensor_diag_part(x: Any) -> Any:
    shape = shape_of(x)
    half = shape[:len(shape) // 2]
    if not shape or shape != half + half:
        raise error("E0301", "`tensor_diag_part` needs a tensor whose second half of axes is like"
                    f" its first, not {show(shape)}", help="diag_part takes the last two axes")
    n = 1
    for length in half:
        n *= length
    return reshape(diag_part(reshape(x, shape=(n, n))), shape=half)


tensor_diag = composite(
    "tensor_diag", "x", _tensor_diag, samples=MATRIX,
    latex=r"\operatorname{{diag}}\left({0}\right)",
    doc="zeros but for x where the first half of the indices is like the second")
tensor_diag_part = composite(
    "tensor_diag_part", "x", _tensor_diag_part, samples=MATRIX,
    latex=r"\operatorname{{diag}}\left({0}\right)",
    doc="the elements whose first half of indices is like the second; of a matrix, its diagonal")


def _trace(x: Any) -> Any:
    need_matrix("trace", shape_of(x))
    return sum_(diag_part(x), axis=-1)


trace = composite("trace", "x", _trace, samples=MATRIX, latex=r"\operatorname{{tr}} {0}",
                  doc="the sum of the diagonal of a matrix, or of each")

# --- triangles --------------------------------------------------------------------------------


def _triangle_prepare(name: str) -> Any:
    def prepare(shapes: Sequence[Shape], k: Any) -> dict[str, Any]:
        need_matrix(name, shapes[0])
        return {"k": whole(k, "the offset of a diagonal")}

    return prepare


tril = linear(
    "tril", "x", lambda g, ans, x, k: tril(g, k=k), attributes={"k": 0}, samples=MATRIX,
    prepare=_triangle_prepare("tril"), arrays=lambda cores, x, k: np.tril(x, k),
    latex=r"\operatorname{{tril}}\left({0}\right)",
    doc="the lower triangle, zeros above; k=-1 leaves out the diagonal")
triu = linear(
    "triu", "x", lambda g, ans, x, k: triu(g, k=k), attributes={"k": 0}, samples=MATRIX,
    prepare=_triangle_prepare("triu"), arrays=lambda cores, x, k: np.triu(x, k),
    latex=r"\operatorname{{triu}}\left({0}\right)",
    doc="the upper triangle, zeros below; k=1 leaves out the diagonal")


def _band_part(x: Any, num_lower: Any = -1, num_upper: Any = -1) -> Any:
    need_matrix("band_part", shape_of(x))
    lower = whole(num_lower, "the number of diagonals below")
    upper = whole(num_upper, "the number of diagonals above")
    if upper >= 0:
        x = tril(x, k=upper)
    return triu(x, k=-lower) if lower >= 0 else x


band_part = composite(
    "band_part", "x", _band_part, aliases="matrix_band_part",
    attributes={"num_lower": -1, "num_upper": -1}, samples=MATRIX,
    latex=r"\operatorname{{band}}\left({0}\right)",
    doc="the diagonal, num_lower diagonals below and num_upper above; -1 for all")


def _matrix_transpose(x: Any) -> Any:
    need_matrix("matrix_transpose", shape_of(x))
    return flip(x)


matrix_transpose = composite(
    "matrix_transpose", "x", _matrix_transpose, aliases="adjoint matrix_adjoint", samples=MATRIX,
    latex=r"{0}^\mathsf{{T}}", doc="rows and columns of a matrix, or of each, exchanged")


def same_stack(name: str, a: Shape, b: Shape) -> None:
    """Raise E0301 where stacks of matrices of these shapes do not broadcast."""
    broadcast_shape(name, [a[:-2], b[:-2]])
