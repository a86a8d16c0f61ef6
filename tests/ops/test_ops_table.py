"""Every elementwise row of the table, driven by the table: values and two derivatives, on floats
and arrays, backwards and forwards, against mpmath; broadcasting against sums written here.

Rows of other kinds are in test_ops_shapes.py and test_ops_steps.py; that no row is left out is
checked here.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from conftest import folded
from references import COMPLEX_ROWS, FAMILIES, FUNCTIONS, INTEGRALS, partial
from test_ops_arrays import ARRAY_STEPS, ARRAYS
from test_ops_layers import FLATS, LAYERS, MADE, UNREGISTERED
from test_ops_linalg import LINALG, LINALG_STEPS
from test_ops_shapes import MOVED
from test_ops_steps import CREATED, STEPS

from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.ops import NAMES, TABLE
from gradcli.ops.describe import TRAITS
from gradcli.ops.kinds import ELEMENTWISE, FLAT, STOP, Op

# Worst seen: 6e-13, the fifth derivative of Dawson's integral, whose recurrence cancels; all others
# are below 5e-14, a few hundred units in the last place near the zero of a derivative.
RTOL = 1e-12
# Where the truth is 0: mpmath's differences give 1e-52 there.
ATOL = 1e-30
POINTS = 8
SHAPES: tuple[tuple[int, ...], ...] = ((), (4,), (3, 4), (1, 4))

ROWS = [name for name, op in TABLE.items() if op.kind == ELEMENTWISE]
PAIRS = [name for name in ROWS if TABLE[name].roles.count("data") > 1]


def test_every_row_of_the_table_is_checked() -> None:
    elementwise = set(FUNCTIONS) | set(FAMILIES) | set(INTEGRALS)
    assert elementwise == set(ROWS)
    groups = (elementwise, set(MOVED), set(STEPS), set(CREATED), set(ARRAYS), set(ARRAY_STEPS),
              set(LINALG), set(LINALG_STEPS), set(LAYERS), set(FLATS), set(MADE), UNREGISTERED,
              COMPLEX_ROWS, {"left_engine"})
    for a, b in itertools.combinations(groups, 2):
        assert not a & b
    assert set().union(*groups) == set(TABLE)
    steps = {"left_engine"} | set(STEPS) | set(ARRAY_STEPS) | set(LINALG_STEPS) | set(FLATS)
    assert {n for n, op in TABLE.items() if op.kind in (FLAT, STOP)} <= steps


def free(op: Op) -> list[int]:
    """The arguments that carry a derivative."""
    return [k for k in range(len(op.parameters)) if op.edge(k)]


def point(op: Op, rng: random.Random) -> tuple[Any, ...]:
    """Arguments from the row's own samples: whole for an order, a truth value for a condition."""
    out: list[Any] = []
    for k, (low, high) in enumerate(op.samples):
        x = rng.uniform(low, high)
        role = op.role(k)
        out.append(float(round(x)) if role == "index" else x > 0.5 if role == "condition" else x)
    return tuple(out)


def points(op: Op) -> list[tuple[Any, ...]]:
    rng = random.Random(op.name)
    return [point(op, rng) for _ in range(POINTS)]


def orders(op: Op, *arguments: int) -> tuple[int, ...]:
    return tuple(arguments.count(k) for k in range(len(op.parameters)))


def leaves(op: Op, values: Any) -> list[Any]:
    """Tensors for the arguments that carry a derivative, plain values for the others."""
    return [leaf(v) if op.edge(k) else v for k, v in enumerate(values)]


def of(op: Op, xs: list[Any]) -> list[Tensor]:
    return [xs[k] for k in free(op)]


def close(got: Any, want: Any, what: str) -> None:
    np.testing.assert_allclose(got, want, rtol=RTOL, atol=ATOL, err_msg=what)


@folded
@pytest.mark.parametrize("name", ROWS)
def test_rows_give_the_roles_and_samples_that_tests_need(name: str) -> None:
    op = TABLE[name]
    assert len(op.rules) == len(op.roles) == len(op.parameters) == len(op.samples)
    for k, role in enumerate(op.roles):
        assert op.edge(k) == (role == "data"), "an argument without a rule says why by its role"


def on_scalars(op: Op) -> None:
    for p in points(op):
        with Record():
            xs = leaves(op, p)
            y = op(*xs)
            assert type(y.value) is float
            close(y.value, partial(op.name, p, orders(op)), f"value at {p}")
            gradients = calculus.gradient([y], of(op, xs))
            blocks = calculus.hessian(y, of(op, xs)).blocks
            for i, k in enumerate(free(op)):
                want = partial(op.name, p, orders(op, k))
                close(gradients[i], want, f"d/d{op.parameters[k]} at {p}, reverse")
                tangent = calculus.jvp(y, [xs[k]], [1.0])
                close(tangent, want, f"d/d{op.parameters[k]} at {p}, forward")
                for j, q in enumerate(free(op)):
                    want = partial(op.name, p, orders(op, k, q))
                    close(blocks[i, j], want, f"second derivative {k}, {q} at {p}")


def on_arrays(op: Op) -> None:
    at = points(op)
    shape = (2, POINTS // 2)
    arrays = [np.array(column).reshape(shape) for column in zip(*at, strict=True)]
    before = [a.copy() for a in arrays]

    def reference(*arguments: int) -> Any:
        return np.array([partial(op.name, p, orders(op, *arguments)) for p in at]).reshape(shape)

    with Record():
        xs = leaves(op, arrays)
        y = op(*xs)
        assert y.shape == shape
        assert y.dtype == "float64"
        close(y.value, reference(), "value")
        gradients = calculus.gradient([y], of(op, xs))
        blocks = calculus.hessian(y, of(op, xs)).blocks
        for i, k in enumerate(free(op)):
            want = reference(k)
            close(gradients[i], want, f"d/d{op.parameters[k]}, reverse")
            tangent = calculus.jvp(y, [xs[k]], [np.ones(shape)])
            close(tangent, want, f"d/d{op.parameters[k]}, forward")
            for j, q in enumerate(free(op)):
                block = np.reshape(blocks[i, j], (POINTS, POINTS))
                close(block, np.diag(reference(k, q).ravel()), f"second derivative {k}, {q}")
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b, "an operation changed its input")


# The cases of a row follow each other: one process computes what they are held to, once.
@pytest.mark.parametrize("check", [on_scalars, on_arrays])
@pytest.mark.parametrize("name", ROWS)
def test_rows_agree_with_mpmath_to_second_order(name: str, check: Callable[[Op], None]) -> None:
    check(TABLE[name])


def summed_to(full: Any, shape: tuple[int, ...]) -> Any:
    """The sum over the axes along which an operand of `shape` was repeated."""
    full = np.asarray(full)
    full = full.sum(axis=tuple(range(full.ndim - len(shape))))
    repeated = tuple(k for k, n in enumerate(shape) if n == 1 != full.shape[k])
    return full.sum(axis=repeated, keepdims=True)


@pytest.mark.parametrize("name", PAIRS)
def test_broadcasting(name: str) -> None:
    op = TABLE[name]
    rng = random.Random(name)
    for shapes in itertools.product(SHAPES, repeat=2):
        values = list(point(op, rng))
        pair = free(op)[:2]
        for k, shape in zip(pair, shapes, strict=True):
            low, high = op.samples[k]
            if shape:
                values[k] = np.array([
                    rng.uniform(low, high) for _ in range(int(np.prod(shape)))]).reshape(shape)
        whole = np.broadcast_shapes(*shapes)
        wide = [np.broadcast_to(v, whole).copy() if k in pair and whole else v
                for k, v in enumerate(values)]
        weights = np.array([rng.uniform(0.5, 2.0) for _ in range(int(np.prod(whole)))])
        weights = weights.reshape(whole)
        seed = weights if whole else float(weights)
        with Record():
            xs, full = leaves(op, values), leaves(op, wide)
            y, z = op(*xs), op(*full)
            assert y.shape == whole
            close(y.value, z.value, f"{shapes}")
            bare = calculus.gradient([y], of(op, xs), seeds=[seed])
            emitted = calculus.gradient([y], of(op, xs), seeds=[seed], emit=True)
            explicit = calculus.gradient([z], of(op, full), seeds=[seed])
            for k, g, e, w in zip(free(op), bare, emitted, explicit, strict=True):
                want = summed_to(w, np.shape(values[k]))
                assert np.shape(g) == np.shape(values[k])
                close(g, want, f"gradient {k} of {shapes}")
                close(e.value, g, f"emitted gradient {k} of {shapes}")
                if k not in pair:
                    continue
                tangent = np.full(np.shape(values[k]), 0.7) if np.shape(values[k]) else 0.7
                moved = calculus.jvp(y, [xs[k]], [tangent])
                slope = calculus.gradient([z], [full[k]])[0]
                close(moved, np.broadcast_to(0.7 * np.asarray(slope), whole), f"forward {shapes}")


@pytest.mark.parametrize("name", PAIRS)
def test_a_batched_sweep_gives_the_rows_that_single_gradients_give(name: str) -> None:
    op = TABLE[name]
    rng = random.Random(name)
    values = list(point(op, rng))
    a, b = free(op)[:2]
    values[a] = np.array([point(op, rng)[a] for _ in range(2)]).reshape(2, 1)
    values[b] = np.array([point(op, rng)[b] for _ in range(3)])
    with Record():
        xs = leaves(op, values)
        y = op(*xs)
        backwards = calculus.jacobian(y, of(op, xs), mode="reverse")
        forwards = calculus.jacobian(y, of(op, xs), mode="forward")
        recorded = calculus.jacobian(y, of(op, xs), emit=True)
        for i, j in itertools.product(range(2), range(3)):
            unit = np.zeros((2, 3))
            unit[i, j] = 1.0
            for k, row in enumerate(calculus.gradient([y], of(op, xs), seeds=[unit])):
                close(backwards[k][i, j], row, "reverse")
                close(forwards[k][i, j], row, "forward")
                close(recorded[k].value[i, j], row, "emitted")
    with Record():
        xs = leaves(op, values)
        y = op(*xs)
        blocks = calculus.hessian(y, of(op, xs)).blocks
        again = calculus.hessian(y, of(op, xs), mode="reverse").blocks
        for i, j in itertools.product(range(len(free(op))), repeat=2):
            rank = np.ndim(of(op, xs)[j].value)
            other = np.asarray(blocks[j, i])
            flipped = np.transpose(other, [*range(rank, other.ndim), *range(rank)])
            close(blocks[i, j], flipped, f"symmetry of {i}, {j}")
            close(blocks[i, j], again[i, j], f"reverse over reverse {i}, {j}")


@folded
@pytest.mark.parametrize("name", [
    n for n in ROWS if hasattr(np, n) and "index" not in TABLE[n].roles])
def test_values_agree_with_numpy(name: str) -> None:
    op = TABLE[name]
    columns = [np.array(column) for column in zip(*points(op), strict=True)]
    np.testing.assert_allclose(op(*columns), getattr(np, name)(*columns), rtol=1e-14)


def test_arrays_of_a_function_that_numpy_lacks_keep_their_type_and_shape() -> None:
    x = np.linspace(0.5, 3.0, 6, dtype=np.float32).reshape(2, 3)
    y = NAMES["gamma"](x)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, [[float(mpmath.gamma(float(v))) for v in row] for row in x],
                               rtol=1e-7)
    assert NAMES["digamma"](np.zeros((0, 3))).shape == (0, 3)


# --- what rows say of their functions ----------------------------------------------------------

SIGNS: dict[str, Callable[[float, float], bool]] = {    # of f(x) and f(-x)
    "even": lambda value, turned: value == turned,
    "odd": lambda value, turned: value == -turned,
    "positive": lambda value, turned: value > 0,
    "not_negative": lambda value, turned: value >= 0}


def test_traits_are_words_that_are_explained() -> None:
    assert {word for op in TABLE.values() for word in op.traits} == set(TRAITS)


@folded
@pytest.mark.parametrize(("name", "trait"), [
    (name, trait) for trait in SIGNS for name, op in TABLE.items() if trait in op.traits])
def test_signs_that_rows_tell(name: str, trait: str) -> None:
    for (x,) in points(TABLE[name]):
        assert SIGNS[trait](TABLE[name](x), TABLE[name](-x if trait in ("even", "odd") else x))


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if op.whole])
def test_whole_values_that_rows_tell(name: str) -> None:
    assert {x: TABLE[name](float(x)) for x in TABLE[name].whole} == TABLE[name].whole


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if op.undoes])
def test_inverses_that_rows_tell(name: str) -> None:
    inverse, _, condition = TABLE[name].undoes.partition(" ")
    for (x,) in points(TABLE[inverse]):
        assert not condition or (condition == "> 0" and x > 0)
        assert TABLE[name](TABLE[inverse](x)) == pytest.approx(x, rel=1e-12)


@pytest.mark.parametrize("name", [
    name for name, op in TABLE.items() if "zero_at_zero" in op.traits and op.elementwise])
def test_rows_that_are_zero_at_zero(name: str) -> None:
    op = TABLE[name]
    others = [0.0] * (len(op.parameters) - 1)
    assert op(0.0, *others) == 0


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if op.guard])
def test_guards_stay_in_the_domain_and_change_nothing_inside(name: str) -> None:
    op = TABLE[name]
    guard = dict(op.guard)
    names = {"clip": TABLE["clip"], "maximum": TABLE["maximum"]}
    if "harmless" in guard:
        assert math.isfinite(op(float(guard.pop("harmless"))))
    for text in guard.values():
        for (x,) in points(op):
            assert eval(text.format(x), names) == pytest.approx(x, rel=1e-9)
    if "inside" in guard:
        for x in (-9.0, 0.0, 1.0, 9.0):
            assert math.isfinite(op(eval(guard["inside"].format(x), names)))
