"""Products of vectors and matrices."""

from __future__ import annotations

import math

from gradcli.errors import error
from gradcli.ops.elementwise import multiply
from gradcli.ops.kinds import bilinear, composite
from gradcli.ops.lazy import np
from gradcli.ops.shapes import lead, reshape, transpose
from gradcli.ops.values import check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

REAL = ((-3.0, 3.0), (-3.0, 3.0))


def _prepare(shapes: Sequence[Shape]) -> dict[str, Any]:
    a, b = shapes
    if not a or not b:
        raise error("E0301", f"`matmul` needs vectors or matrices, not {show(a)} @ {show(b)}",
                    help="use * for a product with a scalar")
    if a[-1] != b[-2 if len(b) > 1 else -1]:
        raise error(
            "E0301", f"cannot multiply {show(a)} @ {show(b)}: {a[-1]} columns against"
            f" {b[-2 if len(b) > 1 else -1]} rows",
            help=_transposed(a, b))
    return {}


def _transposed(a: Shape, b: Shape) -> str:
    if len(b) == 2 and a[-1] == b[1]:
        return "transpose the right side: a @ b.T"
    if len(a) == 2 and a[0] == b[-2 if len(b) > 1 else -1]:
        return "transpose the left side: a.T @ b"
    return "the columns of the left side must be as many as the rows of the right side"


def _matmul(cores: Sequence[int], a: Any, b: Any) -> Any:
    """NumPy's matmul on core axes; vectors get a unit axis, so batch axes cannot be mistaken."""
    ca, cb = cores
    la, lb = lead(a, ca), lead(b, cb)
    sa, sb = shape_of(a)[len(la):], shape_of(b)[len(lb):]
    ma, mb = (1, *sa) if ca == 1 else sa, (*sb, 1) if cb == 1 else sb
    rank = max(len(ma), len(mb))
    check_bytes(8.0 * math.prod(la or lb) * math.prod(ma[:-1]) * mb[-1])
    c = np.matmul(np.reshape(a, la + (1,) * (rank - len(ma)) + ma),
                  np.reshape(b, lb + (1,) * (rank - len(mb)) + mb))
    if cb == 1:
        c = c[..., 0]
    if ca == 1:
        c = c[..., 0] if cb == 1 else c[..., 0, :]
    return c


def _flip(x: Any) -> Any:
    rank = len(shape_of(x))
    return transpose(x, axes=[*range(rank - 2), rank - 1, rank - 2])


def _column(x: Any) -> Any:
    return reshape(x, shape=(*shape_of(x), 1))


def _row(x: Any) -> Any:
    return reshape(x, shape=(*shape_of(x)[:-1], 1, shape_of(x)[-1]))


def _left(g: Any, ans: Any, a: Any, b: Any) -> Any:
    if len(shape_of(b)) == 1:
        return g * b if len(shape_of(a)) == 1 else _column(g) * b
    return _times_vector(b, g) if len(shape_of(a)) == 1 else matmul(g, _flip(b))


def _right(g: Any, ans: Any, a: Any, b: Any) -> Any:
    if len(shape_of(a)) == 1:
        return g * a if len(shape_of(b)) == 1 else _column(a) * _row(g)
    if len(shape_of(b)) == 1:
        return _times_vector(_flip(a), g)
    return matmul(_flip(a), g)


def _times_vector(matrices: Any, vectors: Any) -> Any:
    """Matrices times vectors, stack by stack: `matmul` would take stacked vectors for a matrix."""
    product = matmul(matrices, _column(vectors))
    return reshape(product, shape=shape_of(product)[:-1])


matmul = bilinear(
    "matmul", "a b", _left, _right, prepare=_prepare, arrays=_matmul, samples=REAL,
    latex=r"{0} {1}", doc="product of vectors and matrices, stacked as in NumPy")


def _dot(x: Any, y: Any) -> Any:
    return matmul(x, y) if shape_of(x) and shape_of(y) else multiply(x, y)


dot = composite("dot", "x y", _dot, aliases="inner vdot", samples=REAL,
                latex=r"{0} \cdot {1}", doc="inner product of vectors; product of matrices")


def _outer(x: Any, y: Any) -> Any:
    return multiply(reshape(x, shape=(-1, 1)), reshape(y, shape=(1, -1)))


outer = composite("outer", "x y", _outer, samples=REAL, latex=r"{0} \otimes {1}",
                  doc="all products of an element of x and one of y")
