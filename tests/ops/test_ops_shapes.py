"""Rows that move, join, reduce or multiply tensors.

Values against NumPy; first derivatives, backwards and forwards, against the complex step (exact to
rounding); second derivatives against differences of sixth order of the complex step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from conftest import folded

from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import leaf
from gradcli.ops import NAMES

Call = Callable[..., Any]
Shape = tuple[int, ...]


class Case:
    """`ours(*tensors)` and `theirs(*arrays)`, which must work on complex arrays; input shapes."""

    __slots__ = ("label", "ours", "shapes", "theirs")

    def __init__(self, label: str, ours: Call, theirs: Call, *shapes: Shape) -> None:
        self.label = label
        self.ours = ours
        self.theirs = theirs
        self.shapes = shapes


def axes_of(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def reduction(name: str, theirs: Call, shapes: Sequence[Shape] = ((), (3,), (2, 3), (2, 2, 2)),
              empty: bool = True, **options: Any) -> list[Case]:
    """All sensible axes, with and without keepdims."""
    cases = []
    for shape in [*shapes, *([(0,), (0, 3)] if empty else [])]:
        rank = len(shape)
        choices: list[Any] = [None, *range(rank), *([-1] if rank else [])]
        if rank > 1:
            choices += [[-1, 0]]
        for axis, keepdims in itertools.product(choices, (False, True)):
            given = {"axis": axis, "keepdims": keepdims, **options}

            def ours(x: Any, given: Mapping[str, Any] = given) -> Any:
                return NAMES[name](x, **given)

            def numpy(x: Any, given: Mapping[str, Any] = given) -> Any:
                return theirs(x, axis=axes_of(given["axis"]), keepdims=given["keepdims"])

            cases.append(Case(f"{shape} {given}", ours, numpy, shape))
    return cases


def case(name: str, theirs: Call, *shapes: Shape, **attributes: Any) -> Case:
    return Case(f"{name} {shapes} {attributes}",
                lambda *xs: NAMES[name](*xs, **attributes), theirs, *shapes)


def magnitude(x: Any) -> Any:
    """|x| continued analytically, for the complex step."""
    return x * np.sign(x.real)


def norm_of(order: float) -> Call:
    def norm(x: Any, axis: Any, keepdims: bool) -> Any:
        if order == math.inf:
            return np.max(magnitude(x), axis=axis, keepdims=keepdims)
        total = np.sum(magnitude(x) ** order, axis=axis, keepdims=keepdims)
        return total ** (1.0 / order)

    return norm


def logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def softmax(x: Any, axis: int) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


def variance(x: Any, axis: Any, keepdims: bool) -> Any:
    mean = np.mean(x, axis=axis, keepdims=True)
    return np.mean((x - mean) ** 2, axis=axis, keepdims=keepdims)


def deviation(x: Any, axis: Any, keepdims: bool) -> Any:
    return np.sqrt(variance(x, axis, keepdims))


def put(x: Any, where: Any, shape: Shape) -> Any:
    out = np.zeros(shape, dtype=np.result_type(x))
    np.add.at(out, where, x)
    return out


ROW = np.array([2, 0, 2])
S = slice(None)

MATMUL_SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((4, 2, 3), (3, 2)),
    ((2, 3), (4, 3, 2)), ((4, 2, 3), (4, 3, 2)), ((2, 1, 2, 3), (4, 3, 2)), ((3,), (4, 3, 2)),
    ((4, 2, 3), (3,)), ((2, 0), (0, 3)))

# Whatever a case names here is checked as described above.
MOVED: dict[str, list[Case]] = {
    "sum": reduction("sum", np.sum),
    "mean": reduction("mean", np.mean, empty=False),
    "prod": reduction("prod", np.prod, [(), (3,), (2, 3), (5, 2), (4, 1, 3)]),
    "reduce_max": reduction("reduce_max", np.max, empty=False),
    "reduce_min": reduction("reduce_min", np.min, empty=False),
    "norm2": reduction("norm2", norm_of(2), [(3,), (2, 3)], empty=False),
    "norm": [*reduction("norm", norm_of(2), [(), (2, 3)], empty=False),
             *reduction("norm", norm_of(1), [(2, 3)], empty=False, ord=1),
             *reduction("norm", norm_of(3), [(2, 3)], empty=False, ord=3),
             *reduction("norm", norm_of(math.inf), [(2, 3)], empty=False, ord=math.inf)],
    "logsumexp": reduction("logsumexp", logsumexp, empty=False),
    "var": reduction("var", variance, empty=False),
    "std": reduction("std", deviation, [(3,), (2, 3), (2, 2, 2)], empty=False),
    "max": [*reduction("max", np.max, empty=False),
            case("max", np.maximum, (2, 3), (3,)),
            case("max", lambda *xs: np.max(np.stack(xs), axis=0), (2,), (2,), (2,))],
    "min": [*reduction("min", np.min, empty=False),
            case("min", np.minimum, (2, 3), (3,)),
            case("min", lambda *xs: np.min(np.stack(xs), axis=0), (), (), ())],
    "softmax": [case("softmax", lambda x, a=a: softmax(x, a), s, axis=a)
                for s, a in [((3,), -1), ((2, 3), -1), ((2, 3), 0), ((2, 3, 2), 1)]],
    "matmul": [case("matmul", np.matmul, a, b) for a, b in MATMUL_SHAPES],
    "dot": [case("dot", np.dot, (3,), (3,)), case("dot", np.dot, (2, 3), (3, 2)),
            case("dot", np.multiply, (), (3,)), case("dot", np.multiply, (), ())],
    "outer": [case("outer", np.outer, (2,), (3,)), case("outer", np.outer, (2, 2), (3,))],
    "reshape": [case("reshape", lambda x: x.reshape(3, 2), (2, 3), shape=[3, 2]),
                case("reshape", lambda x: x.reshape(3, -1), (2, 3), shape=[3, -1]),
                case("reshape", lambda x: x.reshape(-1), (2, 3), shape=-1),
                case("reshape", lambda x: np.reshape(x, (1, 1)), (), shape=[1, 1]),
                case("reshape", lambda x: x.reshape(0, 4), (2, 0), shape=[0, 4]),
                case("reshape", lambda x: x.reshape(()), (1,), shape=[])],
    "align": [case("align", lambda x: x.reshape(1, 1, 3), (3,), rank=3)],
    "transpose": [case("transpose", np.transpose, (2, 3)),
                  case("transpose", lambda x: np.transpose(x, (2, 0, 1)), (2, 3, 4),
                       axes=[2, 0, 1]),
                  case("transpose", lambda x: np.transpose(x, (0, -1, 1)), (2, 3, 4),
                       axes=[0, -1, 1]),
                  case("transpose", np.transpose, (3,)), case("transpose", np.transpose, ())],
    "broadcast_to": [case("broadcast_to", lambda x, t=t: np.broadcast_to(x, t), s, shape=t)
                     for s, t in [((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)),
                                  ((2, 1), (4, 2, 3)), ((1,), (0,))]],
    "sum_to": [case("sum_to", lambda x: x.sum(axis=0), (2, 3), shape=(3,)),
               case("sum_to", lambda x: x.sum(axis=1, keepdims=True), (2, 3), shape=(2, 1)),
               case("sum_to", np.sum, (2, 3), shape=()),
               case("sum_to", lambda x: x.sum(axis=(0, 2)).reshape(3, 1), (2, 3, 4),
                    shape=(3, 1))],
    "index": [case("index", lambda x: x[1], (3,), pattern=(1,)),
              case("index", lambda x: x[:, -1], (2, 3), pattern=(S, -1)),
              case("index", lambda x: x[0, ::-2], (2, 3), pattern=(0, slice(None, None, -2))),
              case("index", lambda x: x[1, None], (2, 3), pattern=(1, None)),
              case("index", lambda x: x[5:], (3,), pattern=(slice(5, None),)),
              Case("gather", lambda x: NAMES["index"](x, ROW, pattern=("i",)),
                   lambda x: x[ROW], (3,)),
              Case("gather columns", lambda x: NAMES["index"](x, ROW, pattern=(S, "i")),
                   lambda x: x[:, ROW], (2, 3))],
    "put": [case("put", lambda x: put(x, (1,), (3, 2)), (2,), pattern=(1,), shape=(3, 2)),
            Case("scatter", lambda x: NAMES["put"](x, ROW, pattern=("i",), shape=(4,)),
                 lambda x: put(x, ROW, (4,)), (3,))],
    "concat": [case("concat", lambda *xs: np.concatenate(xs), (2,), (3,)),
               case("concat", lambda *xs: np.concatenate(xs, axis=1), (2, 3), (2, 1), (2, 0),
                    axis=1),
               case("concat", lambda *xs: np.concatenate(xs, axis=-2), (1, 3), (2, 3), axis=-2)],
    "stack": [case("stack", lambda *xs: np.stack(xs), (), ()),
              case("stack", lambda *xs: np.stack(xs, axis=1), (2, 3), (2, 3), axis=1),
              case("stack", lambda *xs: np.stack(xs, axis=-1), (2,), (2,), (2,), axis=-1)],
    "guarded_base": [case("guarded_base", lambda x, y: np.where(x > 0, x, 1) + 0 * y, (3,), (3,))],
    "lowered_exponent": [case("lowered_exponent", lambda x, y: y - 1 + 0 * x, (3,), (3,))],
    "cast_float": [case("cast_float", lambda x: x, (2, 3))],
    "cast": [case("cast", lambda x: x, (3,)), case("cast", lambda x: x, ())],
    "float": [case("float", lambda x: x, (3,))],
    "ellipe": [],  # its two parts are elementwise rows; see below
    "float32": [],  # of limited precision: see below
    # Batch axes exist inside Jacobians only: see below.
    "sum_batch": [], "spread": [], "unbatch": [], "rebatch": [],
}

CASES = [pytest.param(c, id=f"{name}-{c.label}") for name, cases in MOVED.items() for c in cases]


def arrays_of(case: Case) -> list[Any]:
    rng = np.random.default_rng(len(case.label))
    # Distinct magnitudes well apart: no ties, no kink of |x| within a difference step.
    out = []
    for shape in case.shapes:
        n = math.prod(shape)
        sizes = (np.arange(n) + rng.uniform(0.3, 0.7, n)) * rng.choice([-0.4, 0.4], n)
        out.append(rng.permutation(sizes).reshape(shape))
    return out


def complex_step(f: Call, arrays: Sequence[Any], k: int) -> Any:
    """The Jacobian of `f` in argument k: shape of f + shape of the argument."""
    base = np.asarray(f(*arrays))
    x = arrays[k]
    out = np.zeros((*base.shape, x.size))
    for i in range(x.size):
        moved = x.astype(complex)
        moved.flat[i] += 1e-30j
        out[..., i] = np.imag(f(*arrays[:k], moved, *arrays[k + 1:])) / 1e-30
    return out.reshape(base.shape + x.shape)


def difference(f: Call, arrays: Sequence[Any], k: int, step: float = 2e-3) -> Any:
    """The Jacobian of a real function by a central difference of sixth order."""
    base = np.asarray(f(*arrays))
    x = arrays[k]
    out = np.zeros((*base.shape, x.size))
    for i in range(x.size):
        for weight, far in ((0.75, 1), (-0.15, 2), (1 / 60, 3)):
            for sign in (1, -1):
                moved = x.copy()
                moved.flat[i] += sign * far * step
                out[..., i] += sign * weight / step * f(*arrays[:k], moved, *arrays[k + 1:])
    return out.reshape(base.shape + x.shape)


def second_difference(f: Call, arrays: Sequence[Any], step: float = 3e-4) -> dict[Any, Any]:
    """The blocks of the Hessian of a real number by both: a central difference, of fourth order, of
    complex steps. It is symmetric, so that half of it is computed.
    """
    places = [(k, i) for k, x in enumerate(arrays) for i in range(x.size)]
    whole = np.zeros((len(places), len(places)))
    for b, (j, e) in enumerate(places):
        for weight, far in ((2 / 3, 1), (-1 / 12, 2)):
            for sign in (1, -1):
                at = [*arrays[:j], arrays[j].copy(), *arrays[j + 1:]]
                at[j].flat[e] += sign * far * step
                for a, (i, d) in enumerate(places[:b + 1]):
                    moved = at[i].astype(complex)
                    moved.flat[d] += 1e-30j
                    whole[a, b] += sign * weight / step * (
                        np.imag(f(*at[:i], moved, *at[i + 1:])) / 1e-30)
    whole += np.triu(whole, 1).T
    ends = np.cumsum([0, *[x.size for x in arrays]])
    return {(i, j): whole[ends[i]:ends[i + 1], ends[j]:ends[j + 1]].reshape(x.shape + y.shape)
            for i, x in enumerate(arrays) for j, y in enumerate(arrays)}


def close(got: Any, want: Any, what: str, rtol: float = 1e-12) -> None:
    assert np.shape(got) == np.shape(want), what
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol, err_msg=what)


def plain(array: Any) -> Any:
    return array if array.shape else float(array)


@folded
@pytest.mark.parametrize("case", CASES)
def test_values_and_first_derivatives(case: Case) -> None:
    check_first_derivatives(case)


def check_first_derivatives(case: Case) -> None:
    arrays = arrays_of(case)
    before = [a.copy() for a in arrays]
    with Record():
        xs = [leaf(plain(a)) for a in arrays]
        y = case.ours(*xs)
        close(y.value, np.asarray(case.theirs(*arrays)), "value")
        weights = np.linspace(0.5, 2.0, math.prod(y.shape)).reshape(y.shape)
        backwards = calculus.jacobian(y, xs, mode="reverse")
        forwards = calculus.jacobian(y, xs, mode="forward")
        emitted = calculus.gradient([y], xs, seeds=[plain(weights)], emit=True)
        for k, x in enumerate(xs):
            want = complex_step(case.theirs, arrays, k)
            if backwards[k] is None:
                assert not np.any(want)
                continue
            close(backwards[k], want, f"argument {k}, reverse")
            close(forwards[k], want, f"argument {k}, forward")
            summed = np.tensordot(weights, want, axes=weights.ndim)
            close(emitted[k].value, summed, f"argument {k}, emitted")
            tangent = np.cos(np.arange(arrays[k].size)).reshape(arrays[k].shape)
            moved = calculus.jvp(y, [x], [plain(tangent)])
            close(moved, np.tensordot(want, tangent, axes=tangent.ndim), f"argument {k}, jvp")
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b, "an operation changed its input")


@folded
@pytest.mark.parametrize("case", CASES)
def test_second_derivatives(case: Case) -> None:
    check_second_derivatives(case)


def check_second_derivatives(case: Case) -> None:
    arrays = arrays_of(case)
    shape = np.asarray(case.theirs(*arrays)).shape
    weights = np.linspace(0.5, 2.0, math.prod(shape)).reshape(shape)

    def weighted(*values: Any) -> Any:
        # Squared, so that linear operations have something to differentiate twice.
        return np.sum(weights * case.theirs(*values) ** 2)

    with Record():
        xs = [leaf(plain(a)) for a in arrays]
        y = case.ours(*xs)
        total = NAMES["sum"](NAMES["square"](y) * plain(weights))
        blocks = calculus.hessian(total, xs).blocks
        again = calculus.hessian(total, xs, mode="reverse").blocks
    for (i, j), want in second_difference(weighted, arrays).items():
        if blocks[i, j] is None:
            assert not np.any(want)
            continue
        close(blocks[i, j], want, f"block {i}, {j}", rtol=1e-8)
        close(blocks[i, j], again[i, j], f"block {i}, {j}, reverse over reverse", rtol=1e-11)


def test_ellipe_is_complete_with_one_argument() -> None:
    with Record():
        phi, m = leaf(0.7), leaf(0.4)
        both = NAMES["ellipe"](phi, m)
        assert both.value == NAMES["ellipe_incomplete"](0.7, 0.4)
        assert None not in calculus.gradient([both], [phi, m])
        assert NAMES["ellipe"](m).value == NAMES["ellipe_complete"](0.4)
    with pytest.raises(GradcliError, match="1 or 2 arguments"):
        NAMES["ellipe"](0.1, 0.2, 0.3)


def test_float32_keeps_its_type_through_a_gradient() -> None:
    with Record():
        x = leaf(np.array([0.1, 0.2]))
        y = NAMES["float32"](x)
        assert y.dtype == "float32"
        g = calculus.gradient([NAMES["exp"](y)], [x])[0]
        assert g.dtype == np.float64
        np.testing.assert_allclose(g, np.exp([0.1, 0.2]), rtol=1e-6)


def test_batch_operations_undo_each_other() -> None:
    """They only exist inside recorded Jacobians, whose derivative has to be right."""
    a = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
    x0 = np.array([0.4, -0.2, 0.9])
    with Record() as record:
        x = leaf(x0)
        y = NAMES["square"](NAMES["matmul"](a, x))
        jacobian = calculus.jacobian(y, [x], emit=True)[0]
        close(jacobian.value, 2.0 * (a @ x0)[:, None] * a, "Jacobian")
        total = NAMES["sum"](NAMES["square"](jacobian))
        # The sum of squares is 4 sum_i (a_i x)^2 |a_i|^2.
        want = 8.0 * a.T @ ((a @ x0) * np.sum(a * a, axis=1))
        close(calculus.gradient([total], [x])[0], want, "gradient through a Jacobian")
        assert "unbatch" in {entry[0].name for entry in record.entries}
