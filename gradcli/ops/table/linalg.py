"""Products of vectors, matrices and tensors.

Here too are the helpers that the other files on matrices share: checks of shapes, and operands of
several core ranks brought to one. Matrices are the last two axes.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import NAMES, bilinear, composite, general
from gradcli.ops.table.elementwise import multiply
from gradcli.ops.table.reductions import sum_
from gradcli.ops.table.shapes import index, lead, negative_axis, reshape, transpose, whole
from gradcli.ops.values import broadcast_shape, check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.ops.values import Shape

REAL = ((-3.0, 3.0), (-3.0, 3.0))


def flip(x: Any) -> Any:
    """Return x with its last two axes exchanged."""
    rank = len(shape_of(x))
    return transpose(x, axes=[*range(rank - 2), rank - 1, rank - 2])


def column(x: Any) -> Any:
    """Return a vector as a matrix of one column."""
    return reshape(x, shape=(*shape_of(x), 1))


def row(x: Any) -> Any:
    """Return a vector as a matrix of one row."""
    return reshape(x, shape=(*shape_of(x)[:-1], 1, shape_of(x)[-1]))


def take(x: Any, *last: Any) -> Any:
    """Return indices and slices of the last axes."""
    return index(x, pattern=((slice(None),) * (len(shape_of(x)) - len(last)) + last))


def need_matrix(name: str, shape: Shape, what: str = "a matrix") -> None:
    """Raise E0301 for less than two axes."""
    if len(shape) < 2:
        raise error("E0301", f"`{name}` needs {what}, not a tensor of shape {show(shape)}",
                    help="a matrix is a tensor with at least two axes, such as [[1, 2], [3, 4]]")


def need_square(name: str, shape: Shape) -> None:
    """Raise E0301 for anything but square matrices."""
    need_matrix(name, shape, "a square matrix")
    if shape[-1] != shape[-2]:
        raise error("E0301", f"`{name}` needs a square matrix, not one of shape {show(shape)}",
                    help="it must have as many rows as columns")


def matrix(name: str) -> Callable[..., dict[str, Any]]:
    """Return a `prepare` for rows that take matrices of any shape and no attributes."""
    def prepare(shapes: Sequence[Shape]) -> dict[str, Any]:
        need_matrix(name, shapes[0])
        return {}

    return prepare


def square_matrix(name: str) -> Callable[..., dict[str, Any]]:
    """Return a `prepare` for rows that take square matrices and no attributes."""
    def prepare(shapes: Sequence[Shape]) -> dict[str, Any]:
        need_square(name, shapes[0])
        return {}

    return prepare


def aligned(cores: Sequence[int], *values: Any) -> list[Any]:
    """Return arrays with unit axes between batch and core, so that all have one core rank."""
    rank = max(cores)
    out = []
    for x, core in zip(values, cores, strict=True):
        before = lead(x, core)
        out.append(np.reshape(x, before + (1,) * (rank - core) + shape_of(x)[len(before):]))
    return out


# --- products of two, and of several in a row ---------------------------------------------------


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
    broadcast_shape("matmul", [a[:-2], b[:-2]])
    return {}


def _transposed(a: Shape, b: Shape) -> str:
    if len(b) == 2 and a[-1] == b[1]:
        return "transpose the right side: a @ b.T"
    if len(a) == 2 and a[0] == b[-2 if len(b) > 1 else -1]:
        return "transpose the left side: a.T @ b"
    return "the columns of the left side must be as many as the rows of the right side"


def _matmul(cores: Sequence[int], a: Any, b: Any) -> Any:
    """Apply NumPy's matmul on core axes; vectors get a unit axis, to keep batch axes apart."""
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


def _left(g: Any, ans: Any, a: Any, b: Any) -> Any:
    if len(shape_of(b)) == 1:
        return g * b if len(shape_of(a)) == 1 else column(g) * b
    return times_vector(b, g) if len(shape_of(a)) == 1 else matmul(g, flip(b))


def _right(g: Any, ans: Any, a: Any, b: Any) -> Any:
    if len(shape_of(a)) == 1:
        return g * a if len(shape_of(b)) == 1 else column(a) * row(g)
    if len(shape_of(b)) == 1:
        return times_vector(flip(a), g)
    return matmul(flip(a), g)


def times_vector(matrices: Any, vectors: Any) -> Any:
    """Return matrices times vectors, stack by stack.

    `matmul` would take stacked vectors for a matrix.
    """
    product = matmul(matrices, column(vectors))
    return reshape(product, shape=shape_of(product)[:-1])


matmul = bilinear(
    "matmul", "a b", _left, _right, prepare=_prepare, arrays=_matmul, samples=REAL,
    latex=r"{0} {1}", doc="product of vectors and matrices, stacked as in NumPy", traits="growing",
    names="numpy")
dot = composite(
    "dot", "x y", lambda x, y: matmul(x, y) if shape_of(x) and shape_of(y) else multiply(x, y),
    aliases="inner vdot", samples=REAL, latex=r"{0} \cdot {1}",
    doc="inner product of vectors; product of matrices", names="numpy")
outer = composite(
    "outer", "x y", lambda x, y: multiply(reshape(x, shape=(-1, 1)), reshape(y, shape=(1, -1))),
    samples=REAL, latex=r"{0} \otimes {1}", doc="all products of an element of x and one of y",
    names="numpy")


def _matvec(a: Any, x: Any) -> Any:
    need_matrix("matvec", shape_of(a))
    if not shape_of(x) or shape_of(a)[-1] != shape_of(x)[-1]:
        raise error("E0301", f"`matvec` cannot multiply {show(shape_of(a))} and"
                    f" {show(shape_of(x))}",
                    help="the vector must be as long as the matrix has columns")
    return times_vector(a, x)


matvec = composite("matvec", "a x", _matvec, samples=REAL, latex=r"{0} {1}",
                   doc="matrices times vectors, stack by stack", names="numpy:matmul")
vecdot = composite(
    "vecdot", "x y", lambda x, y, axis=-1: sum_(multiply(x, y), axis=axis), samples=REAL,
    attributes={"axis": -1}, latex=r"{0} \cdot {1}",
    doc="inner products of vectors along an axis, by default the last")


def _cross_prepare(shapes: Sequence[Shape]) -> dict[str, Any]:
    for s in shapes:
        if not s or s[-1] != 3:
            raise error("E0301", f"`cross` needs vectors of 3 numbers, not {show(shapes[0])} and"
                        f" {show(shapes[1])}", help="the last axis must have length 3")
    broadcast_shape("cross", shapes)
    return {}


cross = bilinear(
    "cross", "a b", lambda g, ans, a, b: cross(b, g), lambda g, ans, a, b: cross(g, a),
    prepare=_cross_prepare, samples=REAL, latex=r"{0} \times {1}",
    arrays=lambda cores, a, b: np.cross(*aligned(cores, a, b)),
    doc="cross product of vectors of 3 numbers along the last axis", names="numpy")


def _kron(a: Any, b: Any) -> Any:
    rank = max(len(shape_of(a)), len(shape_of(b)))
    if rank > 30:
        raise error("E0301", f"`kron` of tensors with {rank} axes", help="use at most 30")
    sa, sb = [(1,) * (rank - len(shape_of(x))) + shape_of(x) for x in (a, b)]
    product = multiply(reshape(a, shape=[n for k in sa for n in (k, 1)]),
                       reshape(b, shape=[n for k in sb for n in (1, k)]))
    return reshape(product, shape=[m * n for m, n in zip(sa, sb, strict=True)])


kron = composite("kron", "a b", _kron, samples=REAL, latex=r"{0} \otimes {1}",
                 doc="Kronecker product: every element of a times the whole of b", names="numpy")


def _multi_dot(*xs: Any) -> Any:
    if len(xs) < 2:
        raise error("E0301", "`multi_dot` needs at least two matrices",
                    help="such as multi_dot([A, B, C])")
    lengths = [shape_of(xs[0])[0] if len(shape_of(xs[0])) == 2 else 1]
    for k, x in enumerate(xs):
        rank = len(shape_of(x))
        if rank != 2 and (rank != 1 or 0 < k < len(xs) - 1):
            raise error("E0301", f"`multi_dot` needs matrices, not {show(shape_of(x))}",
                        help="only the first and the last may be vectors")
        lengths.append(shape_of(x)[-1] if k < len(xs) - 1 or rank == 2 else 1)
    return _chain(xs, lengths)


def _chain(xs: Sequence[Any], lengths: Sequence[int]) -> Any:
    """Return the product in the order of least work.

    Source: Cormen et al., Introduction to Algorithms, 15.2.
    """
    n = len(xs)
    cost = {(k, k + 1): 0 for k in range(n)}
    cut = {}
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cost[i, j], cut[i, j] = min(
                (cost[i, k] + cost[k, j] + lengths[i] * lengths[k] * lengths[j], k)
                for k in range(i + 1, j))

    def product(i: int, j: int) -> Any:
        return xs[i] if j == i + 1 else matmul(product(i, cut[i, j]), product(cut[i, j], j))

    return product(0, n)


multi_dot = composite(
    "multi_dot", "*xs", _multi_dot, samples=REAL, latex=r"\prod {0}",
    doc="the product of several matrices, in the order of least work: multi_dot([A, B, C])")

# --- sums of products over named axes ---------------------------------------------------------

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _contraction(cores: Sequence[int], *xs: Any, subscripts: str) -> Any:
    inputs, output = subscripts.split("->")
    terms = inputs.split(",")
    lengths = {c: n for t, x in zip(terms, xs, strict=True)
               for c, n in zip(t, shape_of(x)[len(shape_of(x)) - len(t):], strict=True)}
    before = [lead(x, core) for x, core in zip(xs, cores, strict=True)]
    check_bytes(8.0 * max(map(math.prod, before)) * math.prod(lengths[c] for c in output))
    # The dots are the batch axes.
    form = ",".join("..." + t for t in terms) + "->..." + output
    return np.einsum(form, *xs, optimize=len(xs) > 1)


def _contraction_vjp(g: Any, ans: Any, *xs: Any, subscripts: str) -> list[Any]:
    inputs, output = subscripts.split("->")
    terms = inputs.split(",")
    return [
        contraction(g, *xs[:k], *xs[k + 1:], subscripts=",".join(
            [output, *terms[:k], *terms[k + 1:]]) + "->" + terms[k])
        for k in range(len(xs))]


def _contraction_jvp(tangents: Sequence[Any], ans: Any, *xs: Any, subscripts: str) -> Any:
    total = None
    for k, t in enumerate(tangents):
        if t is not None:
            part = contraction(*xs[:k], t, *xs[k + 1:], subscripts=subscripts)
            total = part if total is None else total + part
    return total


# Every letter stands in two terms at least, the output counted, and never twice in one: then each
# cotangent is a contraction of the same form.
contraction = general(
    "contraction", "*xs", _contraction_vjp, jvp=_contraction_jvp, attributes={"subscripts": ""},
    arrays=_contraction, samples=REAL, latex=r"\sum \prod {0}",
    doc="sums of products over named axes", internal=True, traits="homogeneous",
    complex_form="arrays")


def _einsum(subscripts: Any, *operands: Any) -> Any:
    terms, output = _labels(subscripts, [len(shape_of(x)) for x in operands])
    lengths: dict[str, int] = {}
    for term, x in zip(terms, operands, strict=True):
        for label, n in zip(term, shape_of(x), strict=True):
            known = lengths.setdefault(label, n)
            if label[0] == "." and known == 1:
                lengths[label] = n
            elif n != known and not (label[0] == "." and n == 1):
                raise error("E0301", f"`einsum` of \"{subscripts}\": the axis"
                            f" {label if label[0] != '.' else '...'} has length {known} in one"
                            f" operand and {n} in another",
                            help="axes with the same letter must have the same length")
    xs = []
    for k, x in enumerate(operands):
        elsewhere = {label for t in (*terms[:k], *terms[k + 1:], output) for label in t}
        terms[k], x = _without_repetition(terms[k], x)
        terms[k], x = _without_units(terms[k], x, lengths)
        alone = [a for a, label in enumerate(terms[k]) if label not in elsewhere]
        if alone:
            x = sum_(x, axis=alone)
            terms[k] = [label for label in terms[k] if label in elsewhere]
        xs.append(x)
    return _contracted(terms, output, xs)


def _contracted(terms: Sequence[Sequence[str]], output: Sequence[str], xs: Sequence[Any]) -> Any:
    letters: dict[str, str] = {}
    for label in [label for term in terms for label in term]:
        if label not in letters:
            if len(letters) == len(LETTERS):
                raise error("E0301", f"more than {len(LETTERS)} different axes",
                            help="reshape some of them into one")
            letters[label] = LETTERS[len(letters)]
    inputs = ",".join("".join(letters[label] for label in term) for term in terms)
    return contraction(*xs, subscripts=f"{inputs}->{''.join(letters[a] for a in output)}")


def _labels(subscripts: Any, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Return a label for every axis of every operand, and those of the result.

    Axes under the dots are counted from the right: ".1" is the last of them. Raises E0301, E0302.
    """
    if not isinstance(subscripts, str):
        raise error("E0302", "`einsum` begins with a text that names the axes",
                    help='such as einsum("ij,jk->ik", A, B)')
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise error("E0301", f"`einsum` of \"{subscripts}\" names {len(terms)}"
                    f" operand{'' if len(terms) == 1 else 's'}, but has {len(ranks)}",
                    help="separate the axes of each operand by a comma")
    split = [_one_term(subscripts, term) for term in terms]
    labels = []
    widest = 0
    for (first, dots, last), rank in zip(split, ranks, strict=True):
        hidden = rank - len(first) - len(last)
        if hidden < 0 or (hidden and not dots):
            raise error("E0301", f"`einsum` of \"{subscripts}\" names {len(first) + len(last)} axes"
                        f" of an operand that has {rank}",
                        help="one letter for every axis; ... stands for any number of them")
        widest = max(widest, hidden)
        labels.append([*first, *_dotted(hidden), *last])
    if not arrow:
        every = [label for term in labels for label in term]
        once = sorted(c for c in set(every) if every.count(c) == 1 and c[0] != ".")
        return labels, [*_dotted(widest), *once]
    first, dots, last = _one_term(subscripts, output)
    named = [*first, *last]
    known = {label for term in labels for label in term}
    if len(set(named)) < len(named) or not set(named) <= known or (widest and not dots):
        raise error("E0301", f"`einsum` of \"{subscripts}\": the result cannot have the axes"
                    f" \"{output}\"",
                    help="each of them once, and only those that an operand has"
                    + (", the dots too" if widest else ""))
    return labels, [*first, *(_dotted(widest) if dots else ()), *last]


def _dotted(count: int) -> list[str]:
    return [f".{k}" for k in range(count, 0, -1)]


def _one_term(subscripts: str, term: str) -> tuple[str, str, str]:
    first, dots, last = term.partition("...")
    if not set(first + last) <= set(LETTERS):
        raise error("E0301", f"`einsum` cannot read \"{subscripts}\"",
                    help='letters, commas, ... and ->, such as "ij,jk->ik"')
    return first, dots, last


def _without_repetition(term: list[str], x: Any) -> tuple[list[str], Any]:
    """Return diagonals for letters that occur twice in a term, as in "ii"."""
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            p = term.index(label)
            q = term.index(label, p + 1)
            rest = [a for a in range(len(term)) if a not in (p, q)]
            x = NAMES["diag_part"](transpose(x, axes=[*rest, p, q]))
            term = [*[term[a] for a in rest], label]
    return term, x


def _without_units(term: list[str], x: Any, lengths: dict[str, int]) -> tuple[list[str], Any]:
    """Drop unit axes under the dots that broadcast against longer ones."""
    kept = [a for a, label in enumerate(term) if shape_of(x)[a] == lengths[label]]
    if len(kept) == len(term):
        return term, x
    return [term[a] for a in kept], reshape(x, shape=[shape_of(x)[a] for a in kept])


einsum = composite(
    "einsum", "subscripts *operands", _einsum, roles=("text", "data"), samples=REAL,
    latex=r"\sum {1}", doc='sums of products over named axes: einsum("ij,jk->ik", A, B)')


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    sa, sb = shape_of(a), shape_of(b)
    axes = getattr(axes, "value", axes)
    axes = axes.tolist() if hasattr(axes, "tolist") else axes
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise error("E0304", "`tensordot` needs a number of axes, or a list for each side",
                        help="such as axes=[[1], [0]]")
        left, right = [[negative_axis(k, len(s)) + len(s) for k in (
            one if isinstance(one, (list, tuple)) else [one])]
            for one, s in zip(axes, (sa, sb), strict=True)]
    else:
        count = whole(axes, "the number of axes")
        if not 0 <= count <= min(len(sa), len(sb)):
            raise error("E0304", f"`tensordot` of {show(sa)} and {show(sb)} over {count} axes",
                        help=f"there are at most {min(len(sa), len(sb))}")
        left, right = list(range(len(sa) - count, len(sa))), list(range(count))
    if len(set(left)) < len(left) or len(set(right)) < len(right) or (
            [sa[k] for k in left] != [sb[k] for k in right]):
        raise error("E0301", f"`tensordot` cannot pair the axes {show(left)} of {show(sa)} with"
                    f" {show(right)} of {show(sb)}",
                    help="as many on each side, each once, of the same lengths")
    names = [f"a{k}" for k in range(len(sa))]
    others = [names[left[right.index(k)]] if k in right else f"b{k}" for k in range(len(sb))]
    output = [n for k, n in enumerate(names) if k not in left] + [
        n for k, n in enumerate(others) if k not in right]
    return _contracted([names, others], output, [a, b])


tensordot = composite(
    "tensordot", "a b", _tensordot, attributes={"axes": 2}, samples=REAL,
    latex=r"{0} \cdot {1}",
    doc="sums of products over the last axes of a and the first of b, or over axes=[[1], [0]]")
