"""Linear algebra: every row of linalg.py, matrices.py, systems.py, decompositions.py,
singular_values.py and matrix_functions.py.

Values and two derivatives as in test_ops_shapes.py, against algorithms of linalg_references.py;
against TensorFlow's own answers (data/tensorflow_linalg.json); and what is special: singular
matrices, repeated eigenvalues, matrices that are not positive definite, NaN, float32, errors.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import linalg_references as reference
import numpy as np
import pytest
from conftest import folded
from folders import DATA
from linalg_references import lower_symmetric, stacked
from test_ops_shapes import Case, Shape, case, check_first_derivatives, check_second_derivatives

from gradcli import loads
from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import leaf
from gradcli.ops import NAMES, TABLE

SQUARES: tuple[Shape, ...] = ((1, 1), (2, 2), (3, 3), (2, 2, 2))
RECTANGLES: tuple[Shape, ...] = ((2, 2), (3, 2), (2, 3), (2, 3, 2))


def each(name: str, theirs: Any, shapes: tuple[Shape, ...], **attributes: Any) -> list[Case]:
    """A function of one matrix, applied to every matrix of a stack."""
    return [case(name, lambda x: stacked(theirs, x), s, **attributes) for s in shapes]


def outputs(name: str, theirs: Any, shapes: tuple[Shape, ...]) -> list[Case]:
    """A function with several outputs, one case for each; at matrices far from losing rank."""
    def one(s: Shape, k: int) -> Case:
        shift = np.eye(*s[-2:]) * np.arange(4.0, 4.0 * s[-1] + 4.0, 4.0)
        return Case(f"{name} {s} {k}", lambda x: NAMES[name](x + shift)[k],
                    lambda x: stacked(lambda a: theirs(a)[k], x + shift), s)

    return [one(s, k) for s in shapes for k in range(3 if name == "svd" else 2)]


def shifted(name: str, theirs: Any, shapes: tuple[Shape, ...], by: float = 6.0) -> list[Case]:
    """On matrices that are made positive definite, or their eigenvalues positive, by a diagonal."""
    def cases(s: Shape) -> Case:
        shift = by * np.eye(s[-1])
        return Case(f"{name} {s} + {by}", lambda x: NAMES[name](x + shift),
                    lambda x: stacked(theirs, x + shift), s)

    return [cases(s) for s in shapes]


def symmetric(name: str, theirs: Any, shapes: tuple[Shape, ...]) -> list[Case]:
    """On x + x.T made positive definite."""
    def cases(s: Shape) -> Case:
        shift = 9.0 * np.eye(s[-1])
        return Case(f"{name} {s}",
                    lambda x: NAMES[name](x + NAMES["matrix_transpose"](x) + shift),
                    lambda x: stacked(theirs, x + np.swapaxes(x, -1, -2) + shift), s)

    return [cases(s) for s in shapes]


def einsum(subscripts: str, *shapes: Shape) -> Case:
    return Case(f"einsum {subscripts} {shapes}",
                lambda *xs: NAMES["einsum"](subscripts, *xs),
                lambda *xs: np.einsum(subscripts, *xs), *shapes)


def solutions(name: str, prepared: Any, **attributes: Any) -> list[Case]:
    """Systems with vectors, matrices and stacks on either side; `prepared`: the matrix solved."""
    def one(sa: Shape, sb: Shape) -> Case:
        shift = 4.0 * np.eye(sa[-1])
        return Case(f"{name} {sa} {sb} {attributes}",
                    lambda a, b: NAMES[name](a + shift, b, **attributes),
                    lambda a, b: np.linalg.solve(prepared(a + shift), b), sa, sb)

    return [one(a, b) for a, b in (
        ((2, 2), (2,)), ((3, 3), (3, 2)), ((2, 2, 2), (2, 1)), ((2, 2), (2, 2, 1)),
        ((2, 2, 2), (2,)), ((2, 1, 2, 2), (3, 2, 1)))]


def flipped(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def triangle(x: Any) -> Any:
    return np.tril(x)


def put_diagonal(x: Any, k: int) -> Any:
    return np.stack([np.diag(v, k) for v in x]) if x.ndim > 1 else np.diag(x, k)


def with_diagonal(x: Any, d: Any, k: int = 0) -> Any:
    here = np.eye(*x.shape[-2:], k, dtype=bool)
    out = np.where(here, 0, x).astype(np.result_type(x, d))
    i = np.arange(d.shape[-1])
    out[..., i + max(-k, 0), i + max(k, 0)] = d
    return out


def norm(order: Any) -> Any:
    def theirs(x: Any) -> Any:
        size = x * np.sign(x.real)
        if order == "fro":
            return np.sqrt(np.sum(x * x))
        if order in (1, -1):
            sums = np.sum(size, axis=0)
        elif order in (np.inf, -np.inf):
            sums = np.sum(size, axis=1)
        else:
            sums = reference.svd(x)[1]
        if order == "nuc":
            return np.sum(sums)
        return sums[(np.argmin if order < 0 else np.argmax)(sums.real)]

    return theirs


def gaps(w: Any) -> Any:
    d = w[..., None, :] - w[..., :, None]
    return np.where(d == 0, 0, 1 / np.where(d == 0, 1, d))


def turns(s: Any) -> Any:
    k = s.shape[-1]
    same = np.roll(np.eye(2 * k), k, axis=0)
    return same / (4.0 * np.concatenate([s, s], axis=-1)[..., None, :])


def packed_qr(x: Any) -> Any:
    q, r = reference.qr(x)
    return np.concatenate([q, r.T])


def packed_eigh(x: Any) -> Any:
    w, v = reference.eigh(x)
    return np.concatenate([w[:, None], v], axis=1)


def packed_svd(x: Any) -> Any:
    u, s, vt = reference.svd(x)
    return np.concatenate([s[None], u, vt.T])


def tensor_diag(x: Any) -> Any:
    return np.diag(x.ravel()).reshape(x.shape * 2)


def regularised(a: Any, b: Any) -> Any:
    return np.linalg.solve(a.T @ a + 0.5 * np.eye(a.shape[1]), a.T @ b)


def chain(*xs: Any) -> Any:
    product = xs[0]
    for x in xs[1:]:
        product = product @ x
    return product


def cofactors(a: Any) -> Any:
    return np.linalg.det(a)[..., None, None] * flipped(np.linalg.inv(a))


# Whatever a case names here is checked as test_ops_shapes.py describes.
LINALG: dict[str, list[Case]] = {
    # products
    "einsum": [
        einsum("ij,jk->ik", (2, 3), (3, 2)), einsum("ij,kj->ik", (2, 3), (2, 3)),
        einsum("ij,jk", (2, 3), (3, 2)), einsum("ba", (2, 3)), einsum("ij->", (2, 3)),
        einsum("ii->i", (3, 3)), einsum("ii", (3, 3)), einsum("iji->j", (2, 3, 2)),
        einsum("iii->i", (2, 2, 2)), einsum("ii,i->", (2, 2), (2,)), einsum("i,j->ij", (2,), (3,)),
        einsum(" i j , j -> i ", (2, 3), (3,)), einsum(",i->i", (), (3,)), einsum("->", ()),
        einsum("i,ij,j->", (2,), (2, 3), (3,)), einsum("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)),
        einsum("ij,k->i", (2, 3), (2,)), einsum("...j,jk->...k", (2, 2, 3), (3, 2)),
        einsum("...ij,...jk->...ik", (2, 2, 3), (3, 2)), einsum("i...->...", (2, 3)),
        einsum("...i,...i", (2, 1, 3), (2, 3)), einsum("...ii->...i", (2, 2, 2)),
        einsum("bij,bjk->bki", (2, 2, 3), (2, 3, 2)), einsum("ab,bc,ca->", (2, 3), (3, 2), (2, 2)),
        einsum("ij,ij->ij", (2, 0), (2, 0)), einsum("ij,jk->ik", (2, 0), (0, 2))],
    "contraction": [Case("contraction", lambda a, b: NAMES["contraction"](
        a, b, subscripts="ij,jk->ki"), lambda a, b: (a @ b).T, (2, 3), (3, 2))],
    "tensordot": [
        case("tensordot", lambda a, b: np.tensordot(a, b, 1), (2, 3), (3, 2), axes=1),
        case("tensordot", lambda a, b: np.tensordot(a, b, 2), (2, 3), (2, 3)),
        case("tensordot", lambda a, b: np.tensordot(a, b, 0), (2,), (3,), axes=0),
        case("tensordot", lambda a, b: np.tensordot(a, b, ([0, 2], [1, 0])), (2, 3, 2), (2, 2, 3),
             axes=[[0, 2], [1, 0]]),
        case("tensordot", lambda a, b: np.tensordot(a, b, (-1, 0)), (2, 3), (3,), axes=[-1, 0])],
    "kron": [case("kron", np.kron, a, b) for a, b in (
        ((2,), (3,)), ((2, 2), (2, 3)), ((2,), (2, 2)), ((2, 1, 2), (2, 2)), ((), (3,)))],
    "cross": [case("cross", np.cross, a, b) for a, b in (
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1, 3), (2, 3)))],
    "matvec": [case("matvec", lambda a, x: (a @ x[..., None])[..., 0], a, x) for a, x in (
        ((2, 3), (3,)), ((2, 2, 3), (2, 3)), ((2, 3), (4, 3)), ((2, 1, 2, 3), (3, 3)))],
    "vecdot": [case("vecdot", lambda a, b: np.sum(a * b, axis=-1), a, b) for a, b in (
        ((3,), (3,)), ((2, 3), (3,)))] + [
        case("vecdot", lambda a, b: np.sum(a * b, axis=0), (2, 3), (2, 3), axis=0)],
    "multi_dot": [case("multi_dot", chain, *shapes) for shapes in (
        ((2, 3), (3, 2)), ((2, 3), (3, 1), (1, 2)), ((2,), (2, 3), (3,)),
        ((1, 3), (3, 2), (2, 2), (2, 3)))],
    # parts of matrices
    "diag_part": [
        *[case("diag_part", lambda x, k=k: np.diagonal(x, k, -2, -1), (2, 3), k=k)
          for k in (-2, -1, 0, 1, 2)],
        case("diag_part", lambda x: np.diagonal(x, 0, -2, -1), (2, 2, 2))],
    "put_diagonal": [case("put_diagonal", lambda x: np.concatenate(
        [np.zeros((2, 1)), put_diagonal(x, 0)], axis=1), (2,), k=1, shape=(2, 3))],
    "diag": [case("diag", lambda x, k=k: np.diag(x, k), (3,), k=k) for k in (-1, 0, 2)],
    "diag_embed": [case("diag_embed", lambda x, k=k: put_diagonal(x, k), (2, 3), k=k)
                   for k in (0, 1)],
    "set_diag": [case("set_diag", with_diagonal, (3, 3), (3,)),
                 case("set_diag", lambda x, d: with_diagonal(x, d, -1), (2, 3, 2), (2, 2), k=-1)],
    "tensor_diag": [case("tensor_diag", tensor_diag, s) for s in ((2,), (2, 2))],
    "tensor_diag_part": [
        case("tensor_diag_part", np.diag, (3, 3)),
        case("tensor_diag_part", lambda x: np.diag(x.reshape(4, 4)).reshape(2, 2), (2, 2, 2, 2))],
    "trace": [case("trace", lambda x: np.trace(x, axis1=-2, axis2=-1), s)
              for s in ((2, 2), (2, 3), (2, 2, 2), (0, 0))],
    "tril": [case("tril", lambda x, k=k: np.tril(x, k), s, k=k)
             for s, k in (((3, 3), 0), ((2, 3), 1), ((3, 2), -1), ((2, 2, 2), 0))],
    "triu": [case("triu", lambda x, k=k: np.triu(x, k), s, k=k)
             for s, k in (((3, 3), 0), ((2, 3), 1), ((3, 2), -1), ((2, 2, 2), 0))],
    "band_part": [
        case("band_part", lambda x: np.triu(np.tril(x, 0), -1), (3, 3), num_lower=1, num_upper=0),
        case("band_part", np.triu, (3, 3), num_lower=0), case("band_part", lambda x: x, (2, 3))],
    "matrix_transpose": [case("matrix_transpose", flipped, s) for s in ((2, 3), (2, 2, 3))],
    # systems
    "solve": [*solutions("solve", lambda a: a), *solutions("solve", flipped, adjoint=True),
              case("solve", np.linalg.solve, (0, 0), (0, 2))],
    "triangular_solve": [
        *solutions("triangular_solve", triangle),
        *solutions("triangular_solve", np.triu, lower=False),
        *solutions("triangular_solve", lambda a: flipped(triangle(a)), adjoint=True),
        *solutions("triangular_solve", lambda a: flipped(np.triu(a)), lower=False, adjoint=True)],
    "cholesky_solve": solutions("cholesky_solve", lambda a: triangle(a) @ flipped(triangle(a))),
    "inv": [case("inv", np.linalg.inv, s) for s in (*SQUARES, (0, 0))],
    "det": [case("det", np.linalg.det, s) for s in (*SQUARES, (4, 4))],
    "cofactor": [case("cofactor", cofactors, s) for s in (*SQUARES, (4, 4))],
    "cofactor_slope": [case("cofactor_slope", reference.cofactor_slope, a, e) for a, e in (
        ((2, 2), (2, 2)), ((3, 3), (3, 3)), ((2, 2, 2), (2, 2)), ((2, 2), (2, 2, 2)))],
    "logabsdet": [*shifted("logabsdet", lambda x: np.log(np.linalg.det(x)), SQUARES),
                  *shifted("logabsdet", lambda x: np.log(-np.linalg.det(x)), ((3, 3),), by=-6.0)],
    "det_sign": [case("det_sign", lambda x: np.sign(np.linalg.det(x.real)), s) for s in SQUARES],
    "slogdet": [Case("slogdet", lambda x: NAMES["slogdet"](x + 6.0 * np.eye(3))[1],
                     lambda x: np.log(np.linalg.det(x + 6.0 * np.eye(3))), (3, 3))],
    # decompositions
    "cholesky": symmetric("cholesky", reference.cholesky, SQUARES),
    "logdet": symmetric("logdet", lambda x: np.log(np.linalg.det(x)), SQUARES),
    "qr": outputs("qr", reference.qr, RECTANGLES),
    "qr_packed": each("qr_packed", packed_qr, ((3, 2), (2, 2))),
    "eigh": outputs("eigh", reference.eigh, ((2, 2), (3, 3), (2, 2, 2))),
    "eigh_packed": each("eigh_packed", packed_eigh, ((2, 2),)),
    "eigvalsh": each("eigvalsh", lambda x: reference.eigh(x)[0], ((1, 1), (3, 3), (2, 2, 2))),
    "inverse_gaps": [case("inverse_gaps", gaps, s) for s in ((3,), (2, 3))],
    "svd": outputs("svd", reference.svd, RECTANGLES),
    "svd_packed": each("svd_packed", packed_svd, ((3, 2), (2, 3))),
    "turns": [Case("turns", lambda s: NAMES["turns"](NAMES["concat"](s, s, axis=-1)), turns, s)
              for s in ((2,), (2, 3))],
    "svdvals": each("svdvals", lambda x: reference.svd(x)[1], RECTANGLES),
    "pinv": each("pinv", reference.pinv, RECTANGLES),
    "lstsq": [
        *[case("lstsq", lambda a, b: reference.pinv(a) @ b, a, b)
          for a, b in (((3, 2), (3,)), ((3, 2), (3, 2)), ((2, 3), (2,)), ((2, 2), (2, 2)))],
        case("lstsq", lambda a, b: stacked(reference.pinv, a) @ b, (2, 3, 2), (3, 1)),
        case("lstsq", regularised, (3, 2), (3,), l2_regularizer=0.5),
        case("lstsq", regularised, (2, 3), (2, 1), l2_regularizer=0.5)],
    "matrix_norm": [c for order in ("fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf)
                    for c in each("matrix_norm", norm(order), ((2, 3), (2, 2, 2)), ord=order)] + [
        case("matrix_norm", lambda x, o=order: norm(o)(x).reshape(1, 1), (2, 2), ord=order,
             keepdims=True) for order in ("fro", "nuc", 1)],
    "cond": [
        *each("cond", lambda x: norm(2)(x) / norm(-2)(x), ((2, 2), (2, 3), (2, 2, 2))),
        *each("cond", lambda x: norm(-2)(x) / norm(2)(x), ((2, 2),), p=-2),
        *[c for p in (1, "fro") for c in each(
            "cond", lambda x, p=p: norm(p)(x) * norm(p)(np.linalg.inv(x)), ((3, 3),), p=p)]],
    # functions of matrices
    "expm": [*each("expm", reference.expm, SQUARES), case("expm", np.array, (0, 0)),
             Case("expm of a long matrix", lambda x: NAMES["expm"](8.0 * x),
                  lambda x: reference.expm(8.0 * x), (2, 2))],
    "sqrtm": shifted("sqrtm", reference.sqrtm, SQUARES),
    "logm": shifted("logm", reference.logm, SQUARES),
    "matrix_power": [
        *[Case(f"matrix_power {n}", lambda x, n=n: NAMES["matrix_power"](x, n),
               lambda x, n=n: np.linalg.matrix_power(x, int(n)) + 0 * x, (2, 2))
          for n in (-2, -1, 0, 1, 2, 3, 5.0)],
        Case("matrix_power of a stack", lambda x: NAMES["matrix_power"](x, 3),
             lambda x: x @ x @ x, (2, 2, 2))],
}

CASES = [pytest.param(c, id=f"{name}-{c.label}") for name, cases in LINALG.items() for c in cases]

# Rows without a derivative.
LINALG_STEPS = ("matrix_rank", "lu_order", "lu_factors", "lu", "undetermined", "deficient")


@folded
@pytest.mark.parametrize("case", CASES)
def test_values_and_both_first_derivatives(case: Case) -> None:
    check_first_derivatives(case)


@folded
@pytest.mark.parametrize("case", CASES)
def test_second_derivatives_both_ways(case: Case) -> None:
    check_second_derivatives(case)


# --- TensorFlow's answers ---------------------------------------------------------------------

RECORDED = json.loads((DATA / "tensorflow_linalg.json").read_text())


def near(got: Any, want: Any, rtol: float = 1e-12) -> None:
    """Relative to the element, or to rounding in the largest one where it nearly vanishes."""
    want = np.asarray(want)
    scale = float(np.max(np.abs(want), initial=0.0))
    np.testing.assert_allclose(got, want, rtol=rtol, atol=max(4e-15 * scale, 1e-300))


@folded
@pytest.mark.parametrize("given", [pytest.param(c, id=c["name"]) for c in RECORDED["cases"]])
def test_tensorflow_gives_the_same(given: dict[str, Any]) -> None:
    head = f"W = {RECORDED['W']}\nB = {RECORDED['B']}\n"
    at = {"x": given["x"]}
    value = loads(f"{head}{given['text']}").value(at=at)
    near(value, given["value"])
    total = loads(f"{head}sum({given['text']})")
    near(total.gradient(at=at)["x"], given["gradient"])
    near(total.jacobian(at=at)["x"], given["gradient"])
    if "second" in given:
        found = np.asarray(total.hessian(at=at)["x"]["x"])
        rank = found.ndim // 2
        found = found.sum(axis=tuple(range(rank)))
        # None is what TensorFlow says where the gradient is constant. Where all cancels, rounding
        # is that of the first derivative.
        want = np.zeros(found.shape) if given["second"] is None else np.asarray(given["second"])
        np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-13)


# --- determinants of singular matrices --------------------------------------------------------


def exact_det(a: list[list[Fraction]]) -> Fraction:
    if not a:
        return Fraction(1)
    return sum((Fraction(-1) ** j * a[0][j] * exact_det([r[:j] + r[j + 1:] for r in a[1:]])
                for j in range(len(a))), Fraction(0))


def minor(a: list[list[Fraction]], i: int, j: int) -> list[list[Fraction]]:
    return [r[:j] + r[j + 1:] for k, r in enumerate(a) if k != i]


def exact_cofactors(a: list[list[Fraction]]) -> list[list[Fraction]]:
    n = range(len(a))
    return [[(-1) ** (i + j) * exact_det(minor(a, i, j)) for j in n] for i in n]


def exact_hessian(a: list[list[Fraction]]) -> Any:
    """det is linear in each element, so its second derivatives are differences by 1, exactly."""
    n = len(a)
    out = np.zeros((n,) * 4)
    for i, j in itertools.product(range(n), repeat=2):
        moved = [list(r) for r in a]
        moved[i][j] += 1
        before, after = exact_cofactors(a), exact_cofactors(moved)
        out[i, j] = [[float(q - p) for p, q in zip(r, s, strict=True)]
                     for r, s in zip(before, after, strict=True)]
    return out


SINGULAR: list[list[list[int]]] = [
    [[0]], [[1, 2], [2, 4]], [[0, 0], [0, 0]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
    [[1, 2, 3], [2, 4, 6], [3, 6, 9]], [[0] * 3] * 3,
    [[1, 2, 3, 4], [5, 6, 7, 8], [2, -1, 0, 3], [6, 8, 10, 12]],
    [[1, 2, 3, 4], [2, 4, 6, 8], [1, 0, 1, 0], [3, 2, 5, 4]],
    [[1, 1, 1, 1, 1], [1, 2, 3, 4, 5], [2, 3, 4, 5, 6], [0, 1, 0, 1, 0], [7, -2, 3, 1, 1]],
    [[0] * 5] * 5]


@pytest.mark.parametrize("rows", SINGULAR, ids=str)
def test_det_of_a_singular_matrix_has_cofactors_and_their_slopes(rows: list[list[int]]) -> None:
    exact = [[Fraction(x) for x in r] for r in rows]
    assert exact_det(exact) == 0
    want = np.array([[float(c) for c in r] for r in exact_cofactors(exact)])
    a = np.array(rows, dtype=float)
    largest = max(1.0, float(np.abs(a).max())) ** max(0, len(a) - 1)
    with Record():
        x = leaf(a)
        y = NAMES["det"](x)
        for mode in ("reverse", "forward"):
            got = calculus.jacobian(y, [x], mode=mode)[0]
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14 * largest)
        for mode in ("auto", "reverse"):
            second = calculus.hessian(y, [x], mode=mode).blocks[0, 0]
            np.testing.assert_allclose(second, exact_hessian(exact), rtol=1e-13,
                                       atol=2e-14 * largest)


def test_cofactors_of_matrices_of_very_different_sizes_are_exact() -> None:
    program = loads("det(A)")
    got = program.gradient(at={"A": [[1e-10, 0.0], [1e-20, 1e10]]})["A"]
    np.testing.assert_array_equal(got, [[1e10, -1e-20], [0.0, 1e-10]])


def test_the_third_derivative_of_det() -> None:
    """Of 3 x 3 matrices it is that of the sum over permutations: constant, entries -1, 0 and 1."""
    want = np.zeros((3,) * 6)
    for p in itertools.permutations(range(3)):
        sign = np.linalg.det(np.eye(3)[list(p)])
        for rows in itertools.permutations(range(3)):
            i, j, k = rows
            want[i, p[i], j, p[j], k, p[k]] += sign
    a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])
    e = np.cos(np.arange(9.0)).reshape(3, 3)
    with Record():
        x = leaf(a)
        first = calculus.gradient([NAMES["det"](x)], [x], emit=True)[0]
        second = calculus.gradient([NAMES["sum"](first * e)], [x], emit=True)[0]
        third = calculus.jacobian(second, [x])[0]
    np.testing.assert_allclose(third, np.einsum("abcdef,ab->cdef", want, e), atol=1e-13)


# --- conventions ------------------------------------------------------------------------------


def gradient_of(text: str, **at: Any) -> Any:
    return loads(text).gradient(at=at)


def test_vectors_of_repeated_eigenvalues_do_not_move() -> None:
    """As TensorFlow, where they are equal to the last digit; here where they are but for rounding.

    Eigenvalues of I + ones are 1, 1 and 4, which LAPACK gives with a last digit off.
    """
    a = np.eye(3) + np.ones((3, 3))
    v = np.linalg.eigh(a)[1]
    with Record():
        x = leaf(a)
        vectors = NAMES["eigh"](x)[1]
        got = calculus.jacobian(vectors, [x], mode="reverse")[0]
        other = calculus.jacobian(vectors, [x], mode="forward")[0]
    np.testing.assert_allclose(got, other, atol=1e-14)
    # Only the pairs (0, 2) and (1, 2) turn, by v_i' dA v_j / (w_j - w_i).
    factor = np.array([[0, 0, 1 / 3], [0, 0, 1 / 3], [-1 / 3, -1 / 3, 0]])
    for i, j in itertools.product(range(3), repeat=2):
        change = np.zeros((3, 3))
        change[i, j] = 1.0
        moved = v @ (factor * (v.T @ lower_symmetric(change) @ v))
        np.testing.assert_allclose(got[:, :, i, j], moved, atol=1e-13)


@pytest.mark.parametrize(("text", "at", "hit"), [
    ("eigh(x)[1][0, 0]", [[1, 0], [0, 1]], True),
    ("eigvalsh(x)[0]", [[2, 1, 1], [1, 2, 1], [1, 1, 2]], True),
    ("eigvalsh(x)[0]", [[2, 1], [1, 3]], False),
    ("svdvals(x)[0]", [[2, 0], [0, 2]], True),
    ("svdvals(x)[0]", [[1, 2], [2, 4]], True),
    ("svdvals(x)[0]", [[1, 2], [3, 4]], False),
    ("slogdet(x)[0]*x[0, 0]", [[1, 2], [3, 4]], False),
])
def test_a_convention_is_noted(text: str, at: Any, hit: bool) -> None:
    with Record() as record:
        loads(text)
        x = leaf(np.array(at, dtype=float))
        name = text.partition("(")[0]
        NAMES[name](x)
        kinks = [entry[0].kink(entry[4], *entry[3], **entry[5])
                 for entry in record.entries if entry[0].kink is not None]
    assert len(kinks) == 1
    assert bool(np.any(kinks[0])) is hit


def test_a_norm_of_singular_values_at_a_matrix_without_rank() -> None:
    """Vectors that belong to the singular value 0 are anyone's choice: nothing may become NaN."""
    for text in ("svdvals(A)[0]", "matrix_norm(A, \"nuc\")"):
        got = gradient_of(text, A=[[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])["A"]
        assert np.isfinite(got).all()
    top = gradient_of("svdvals(A)[0]", A=[[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])["A"]
    np.testing.assert_allclose(top, np.array([[1, 2], [2, 4], [0, 0]]) / 5, atol=1e-15)


def test_eigh_reads_the_lower_triangle() -> None:
    low = [[2.0, np.nan], [1.0, 3.0]]
    full = [[2.0, 1.0], [1.0, 3.0]]
    for text in ("eigvalsh(A)[0]", "eigh(A)[1][0, 1]^2"):
        got = gradient_of(text, A=low)["A"]
        np.testing.assert_array_equal(got, gradient_of(text, A=full)["A"])
        assert got[0, 1] == 0.0


def test_cholesky_reads_the_lower_triangle_and_shares_its_derivative() -> None:
    low = [[4.0, 99.0], [1.0, 3.0]]
    full = [[4.0, 1.0], [1.0, 3.0]]
    for text in ("sum(cholesky(A))", "sum(cholesky(A)^2*[[1, 0], [3, 2]])"):
        got = gradient_of(text, A=low)["A"]
        np.testing.assert_array_equal(got, gradient_of(text, A=full)["A"])
        assert got[0, 1] == got[1, 0]


def test_cholesky_of_no_positive_definite_matrix_is_nan() -> None:
    x = np.array([[[1.0, 2.0], [2.0, 1.0]], [[4.0, 0.0], [0.0, 9.0]]])
    got = NAMES["cholesky"](x)
    assert np.isnan(got[0][np.tril_indices(2)]).all()
    assert got[0, 0, 1] == 0
    np.testing.assert_array_equal(got[1], [[2, 0], [0, 3]])
    gradient = gradient_of("sum(cholesky(A))", A=x)["A"]
    assert np.isnan(gradient[0]).all()
    assert np.isfinite(gradient[1]).all()
    assert np.isnan(NAMES["logdet"](x)[0])


@pytest.mark.parametrize("name", [
    "solve", "inv", "det", "cholesky", "qr", "eigh", "svd", "svdvals", "pinv", "expm", "sqrtm",
    "logm", "slogdet", "matrix_norm"])
def test_nan_stays_nan_and_in_its_own_matrix(name: str) -> None:
    x = np.array([[[4.0, 1.0], [np.nan, 3.0]], [[4.0, 1.0], [1.0, 3.0]]])
    got = NAMES[name](x, np.ones((2, 2, 1))) if name == "solve" else NAMES[name](x)
    parts = got if isinstance(got, list) else [got]
    assert any(np.isnan(part[0]).any() for part in parts)
    assert all(np.isfinite(part[1]).all() for part in parts)


@pytest.mark.parametrize("name", [
    "inv", "det", "cholesky", "qr", "eigh", "svd", "svdvals", "pinv", "expm", "sqrtm", "logm",
    "slogdet", "logdet", "matrix_norm", "tril", "trace", "diag_part"])
def test_float32_stays(name: str) -> None:
    wide = np.array([[4.0, 1.0], [1.0, 3.0]])
    with Record():
        x = leaf(wide.astype(np.float32))
        y = NAMES[name](x)
        for part in y if isinstance(y, list) else [y]:
            assert part.dtype == "float32"
            seed = np.ones(part.shape, dtype=np.float32)
            g = calculus.gradient([part], [x], seeds=[seed], emit=True)[0]
            assert g.dtype == "float32"
            assert calculus.jvp(part, [x], [wide.astype(np.float32)]).dtype == np.float32
            h = calculus.gradient([g], [x])[0]
            assert h is None or h.dtype == np.float32


def test_float32_stays_with_two_operands() -> None:
    a, b = np.float32([[4, 1], [1, 3]]), np.float32([[1], [2]])
    for name in ("solve", "triangular_solve", "cholesky_solve", "lstsq", "kron", "tensordot"):
        with Record():
            x, z = leaf(a), leaf(b)
            options = {"axes": 1} if name == "tensordot" else {}
            y = NAMES[name](x, z, **options)
            assert y.dtype == "float32"
            assert {g.dtype for g in calculus.gradient([y], [x, z])} == {np.dtype("float32")}
    with Record():
        x = leaf(a)
        y = NAMES["einsum"]("ij,jk->k", x, x)
        assert y.dtype == "float32"
        assert calculus.gradient([y], [x])[0].dtype == np.float32


def test_a_triangular_system_is_solved_by_substitution() -> None:
    """Element by element, however different their sizes: no pivoting, no rounding but its own."""
    lower = np.array([[1e-8, 0, 0], [1e8, 1.0, 0], [3.0, 1e-8, 1e8]])
    b = np.array([1.0, 2.0, 3.0])
    x = [Fraction(1.0) / Fraction(1e-8)]
    x.append((Fraction(2.0) - Fraction(1e8) * x[0]) / Fraction(1.0))
    x.append((Fraction(3.0) - 3 * x[0] - Fraction(1e-8) * x[1]) / Fraction(1e8))
    got = NAMES["triangular_solve"](lower, b)
    np.testing.assert_allclose(got, [float(v) for v in x], rtol=4e-16)
    turned = NAMES["triangular_solve"](lower[::-1, ::-1].copy(), b[::-1].copy(), lower=False)
    np.testing.assert_allclose(turned[::-1], [float(v) for v in x], rtol=4e-16)


def test_expm_of_large_and_of_nilpotent_matrices() -> None:
    np.testing.assert_allclose(NAMES["expm"](np.array([[0.0, 1e6], [0.0, 0.0]])),
                               [[1, 1e6], [0, 1]], rtol=1e-9)
    turn = NAMES["expm"](np.array([[0.0, -40.0], [40.0, 0.0]]))
    want = [[np.cos(40), -np.sin(40)], [np.sin(40), np.cos(40)]]
    np.testing.assert_allclose(turn, want, atol=1e-13)


def test_a_large_cotangent_costs_no_digits() -> None:
    for name in ("expm", "sqrtm", "logm"):
        text = f"sum({name}(A))"
        at = [[4.0, 1.0], [0.5, 3.0]]
        small = gradient_of(text, A=at)["A"]
        large = gradient_of(f"1e12*{text}", A=at)["A"]
        np.testing.assert_allclose(large, 1e12 * small, rtol=1e-13)


# --- values without a derivative --------------------------------------------------------------


def test_rank_and_the_order_of_rows_have_no_derivative() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert NAMES["matrix_rank"](a) == 1
    assert NAMES["matrix_rank"](a + 1e-8 * np.eye(2)) == 2
    assert NAMES["matrix_rank"](a + 1e-8 * np.eye(2), tol=1e-6) == 1
    np.testing.assert_array_equal(NAMES["matrix_rank"](np.stack([a, np.eye(2)])), [1, 2])
    for name in ("matrix_rank", "lu_order"):
        assert TABLE[name].substitute
        with Record():
            x = leaf(a)
            y = NAMES[name](x)
            assert calculus.gradient([y], [x]) == [None]


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 5), (4, 2), (2, 4), (2, 3, 3), (0, 0)])
def test_lu_multiplies_back(shape: Shape) -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=shape)
    packed, order = NAMES["lu"](a)
    k = min(shape[-2:])
    lower = np.tril(packed[..., :k], -1) + np.eye(shape[-2], k)
    upper = np.triu(packed[..., :k, :])
    rows = np.take_along_axis(a, order[..., None], axis=-2)
    np.testing.assert_allclose(lower @ upper, rows, atol=1e-14)
    assert np.abs(lower).max(initial=0.0) <= 1.0


def test_lu_has_no_rule_yet() -> None:
    np.testing.assert_array_equal(NAMES["lu"](np.zeros((2, 2)))[0], np.zeros((2, 2)))
    with pytest.raises(GradcliError) as problem:
        gradient_of("sum(lu(A)[0])", A=[[1.0, 2.0], [3.0, 4.0]])
    assert problem.value.diagnostics[0].code == "E0503"


def test_names_of_numpy_and_tensorflow() -> None:
    for names in ("inv inverse matrix_inverse", "eigh self_adjoint_eig",
                  "matrix_transpose adjoint matrix_adjoint", "diag_part diagonal matrix_diag_part",
                  "solve matrix_solve", "triangular_solve matrix_triangular_solve",
                  "band_part matrix_band_part", "set_diag matrix_set_diag",
                  "diag_embed matrix_diag", "det matrix_determinant"):
        assert len({NAMES[name] for name in names.split()}) == 1


def test_svd_is_numpys() -> None:
    a = np.array([[1.0, 5.0, 5.0], [-2.0, 0.0, 3.0]])
    u, s, vt = NAMES["svd"](a)
    assert (u.shape, s.shape, vt.shape) == ((2, 2), (2,), (2, 3))
    np.testing.assert_allclose(u * s @ vt, a, atol=1e-14)
    np.testing.assert_array_equal(NAMES["svd"](a, compute_uv=False), s)
    np.testing.assert_array_equal(NAMES["svdvals"](a), s)


# --- errors -----------------------------------------------------------------------------------


@folded
@pytest.mark.parametrize(("text", "code", "words"), [
    ("inv([[1.0, 2.0], [2.0, 4.0]])", "E0404", "singular"),
    ("solve([[1.0, 2.0], [2.0, 4.0]], [1, 2])", "E0404", "singular"),
    ("triangular_solve([[0.0, 2.0], [2.0, 4.0]], [1, 2])", "E0404", "singular"),
    ("matrix_power([[1.0, 2.0], [2.0, 4.0]], -1)", "E0404", "singular"),
    ("sqrtm([[-1.0, 0.0], [0.0, 1.0]])", "E0404", "eigenvalue"),
    ("logm([[0.0, 0.0], [0.0, 1.0]])", "E0404", "eigenvalue"),
    ("matrix_norm([[1.0]], 3)", "E0404", "no order"),
    ("cond([[1.0]], 3)", "E0404", "no order"),
    ("inv([[1, 2, 3], [4, 5, 6]])", "E0301", "square matrix"),
    ("det([1, 2])", "E0301", r"\[2\]"),
    ("logdet([[1, 2]])", "E0301", "square matrix"),
    ("slogdet(2.0)", "E0301", "square matrix"),
    ("expm([[1, 2]])", "E0301", "`expm`"),
    ("matrix_power([[1, 2]], 2)", "E0301", "square matrix"),
    ("matrix_power([[1.0]], 0.5)", "E0303", "whole number"),
    ("eigh([1, 2])", "E0301", "square matrix"),
    ("svd([1, 2])", "E0301", "needs a matrix"),
    ("qr(1.0)", "E0301", "needs a matrix"),
    ("pinv([1.0])", "E0301", "needs a matrix"),
    ("pinv([[1.0]], rcond=-1)", "E0303", "tolerance"),
    ("matrix_rank([[1.0]], tol=\"x\")", "E0303", "tolerance"),
    ("matrix_rank([[nan]])", "E0404", "no rank"),
    ("solve([[1, 2], [3, 4]], [1, 2, 3])", "E0301", "right side"),
    ("solve([[1, 2], [3, 4]], 1.0)", "E0301", "right side"),
    ("solve([[1, 2, 3], [3, 4, 5]], [1, 2])", "E0301", "square"),
    ("solve(ones(2, 2, 2), ones(3, 2, 1))", "E0301", "combine shapes"),
    ("triangular_solve([[1, 2]], [1])", "E0301", "`triangular_solve`"),
    ("cholesky_solve([[1, 2], [1, 2]], [1])", "E0301", "`cholesky_solve`"),
    ("lstsq([[1, 2], [3, 4]], [1, 2, 3])", "E0301", "right side"),
    ("lstsq([1, 2], [1, 2])", "E0301", "needs a matrix"),
    ("trace([1, 2])", "E0301", "needs a matrix"),
    ("tril([1, 2])", "E0301", "needs a matrix"),
    ("triu([[1, 2]], k=0.5)", "E0303", "whole number"),
    ("band_part([1, 2], 0, 0)", "E0301", "needs a matrix"),
    ("matrix_transpose([1, 2])", "E0301", "needs a matrix"),
    ("diag_part([1, 2])", "E0301", "needs a matrix"),
    ("diag([[1, 2], [3, 4]])", "E0301", "needs a vector"),
    ("diag(2.0)", "E0301", "not of a scalar"),
    ("diag([1, 2], k=0.5)", "E0303", "whole number"),
    ("set_diag([[1, 2], [3, 4]], [1, 2, 3])", "E0301", "diagonal of a tensor"),
    ("tensor_diag_part([[1, 2, 3], [4, 5, 6]])", "E0301", "second half"),
    ("cross([1, 2], [3, 4])", "E0301", "3 numbers"),
    ("cross(ones(2, 3), ones(4, 3))", "E0301", "combine shapes"),
    ("matvec([1, 2], [1, 2])", "E0301", "needs a matrix"),
    ("matvec([[1, 2]], [1, 2, 3])", "E0301", "cannot multiply"),
    ("multi_dot([[[1, 2]]])", "E0301", "at least two"),
    ("multi_dot(ones(2, 2), [1, 2], ones(2, 2))", "E0301", "only the first|needs matrices"),
    ("multi_dot(ones(2, 3), ones(2, 2))", "E0301", "cannot multiply"),
    ("tensordot([1, 2], [1, 2, 3], 1)", "E0301", "cannot pair"),
    ("tensordot([1, 2], [1, 2], 2)", "E0304", "over 2 axes"),
    ("tensordot([1, 2], [1, 2], [[0, 0], [0, 0]])", "E0301", "cannot pair"),
    ("tensordot([1, 2], [1, 2], [[3], [0]])", "E0304", "does not exist"),
    ("tensordot([1, 2], [1, 2], [0])", "E0304", "list for each side"),
    ("einsum([1, 2], [3, 4])", "E0302", "names the axes"),
    ("einsum(\"ij\", [1, 2])", "E0301", "names 2 axes"),
    ("einsum(\"i\", [[1, 2]])", "E0301", "names 1 axes"),
    ("einsum(\"i,j\", [1, 2])", "E0301", "names 2 operands"),
    ("einsum(\"i,i\", [1, 2], [1, 2, 3])", "E0301", "length 2 in one"),
    ("einsum(\"...,...\", [1, 2], [1, 2, 3])", "E0301", "length 2 in one"),
    ("einsum(\"i->j\", [1, 2])", "E0301", "result cannot have"),
    ("einsum(\"i->ii\", [1, 2])", "E0301", "result cannot have"),
    ("einsum(\"...i->i\", [[1, 2]])", "E0301", "dots too|result cannot have"),
    ("einsum(\"i1\", [1, 2])", "E0301", "cannot read"),
    ("einsum(\"i->i->i\", [1, 2])", "E0301", "cannot read"),
    ("einsum(\"\", [1, 2])", "E0301", "names 0 axes"),
])
def test_errors(text: str, code: str, words: str) -> None:
    with pytest.raises(GradcliError, match=words) as problem:
        loads(text).value()
    assert problem.value.diagnostics[0].code == code
    assert problem.value.diagnostics[0].help


def test_a_derivative_that_needs_an_inverse_says_so() -> None:
    for text in ("sum(qr(A)[0])", "slogdet(A)[1]"):
        with pytest.raises(GradcliError, match="singular"):
            gradient_of(text, A=[[0.0, 0.0], [0.0, 1.0]])
    assert NAMES["slogdet"](np.zeros((2, 2))) == [0.0, -np.inf]


@pytest.mark.parametrize("text", [
    "diag(ones(10000))", "einsum(\"i,j->ij\", ones(10000), ones(10000))",
    "kron(ones(10000, 1), ones(1, 10000))", "tensordot(ones(10000), ones(10000), 0)",
    "solve(ones(1000, 2, 2) + eye(2), ones(2, 30000))"])
def test_the_memory_budget_holds(text: str) -> None:
    with pytest.raises(GradcliError, match="memory budget"):
        loads(text).run(max_bytes=1e8)
