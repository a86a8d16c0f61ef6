"""The block executor: the same bits wherever a point stands, the half-angle pair, fewer statements,
recorded batches, threads and edge cases.
"""

from __future__ import annotations

import json
from typing import Any

import mpmath
import numpy as np
import pytest
from conftest import folded
from test_blocks import FORMULAS, ROWS, executor, points

import gradcli.engine.compiled.graph as graphs
from gradcli.engine import calculus
from gradcli.engine.compiled import statements
from gradcli.engine.compiled.blocks import Executor
from gradcli.engine.compiled.graph import graph
from gradcli.engine.compiled.statements import select
from gradcli.engine.record.record import ANS, OP, OUT
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps import tangent
from gradcli.ops.values import shape_of
from gradcli.python.program import loads

EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e300, -1e300, 1.0, -1.0, 2.0, 710.0,
         1e5, 1e22]
PIECES = [(0, 1), (1, 2), (3, 3), (5, 7), (0, 8), (9, 9), (2, 15), (1, 16), (4, 17), (7, 31),
          (3, 33), (6, 64), (1, 99)]


def bits(arrays: list[Any]) -> list[bytes]:
    return [a.tobytes() for a in arrays]


def check_pieces(found: Executor, columns: list[Any]) -> None:
    """Any part of the points, and any selection of them, has the bits that it has in the whole."""
    whole = found.run(columns)
    for start, n in PIECES:
        part = slice(start, start + n)
        assert bits(found.run([c[part].copy() for c in columns])) == bits([a[part] for a in whole])
    mixed = np.random.default_rng(3).permutation(len(columns[0]))[:41]
    assert bits(found.run([c[mixed] for c in columns])) == bits([a[mixed] for a in whole])
    for size in (1, 48, 333):
        assert bits(Executor(found.graph, size, found.paired).run(columns)) == bits(whole)


@folded
@pytest.mark.parametrize("op", ROWS, ids=[op.name for op in ROWS])
def test_every_row_has_the_same_bits_anywhere(op: Any) -> None:
    names = [f"x{k}" for k in range(len(op.parameters))]
    rng = np.random.default_rng(20261122)
    # Python functions, element by element, refuse some of the edges.
    edges = EDGES if op.arrays is not None else []
    columns = [np.concatenate([c, rng.permutation(edges)]) for c in points(op, 100)]
    at = {n: float(c[0]) for n, c in zip(names, columns, strict=True)}
    found, order = executor(f"{op.name}({', '.join(names)})", at)
    check_pieces(found, [columns[names.index(n)] for n in order])


def matrix(rows: int, columns: int, seed: int) -> str:
    return json.dumps(np.random.default_rng(seed).uniform(-1, 1, (rows, columns)).tolist())


def vector(n: int, seed: int) -> str:
    return json.dumps(np.random.default_rng(seed).uniform(-1, 1, n).tolist())


CORES = [
    f"input x = {vector(13, 1)}\nC = {matrix(13, 17, 2)}\nsum((x @ C)^2)",
    f"input x = {vector(13, 1)}\nC = {matrix(17, 13, 2)}\nsum((C @ x)^3)",
    f"input x = {vector(13, 1)}\ninput A = {matrix(13, 13, 2)}\n(x @ A) @ x + sum(A @ A)",
    f"input A = {matrix(33, 20, 1)}\nC = {matrix(20, 33, 2)}\nsum((A @ C)^2)",
    f'input A = {matrix(33, 20, 1)}\nC = {matrix(20, 33, 2)}\nsum(einsum("ij,jk->ik", A, C)^2)',
    f'input A = {matrix(8, 9, 1)}\ninput B = {matrix(9, 8, 2)}\nsum(einsum("ij,jk->ik", A, B)^2)',
    f'input x = {vector(9, 1)}\nC = {matrix(9, 9, 2)}\nD = {matrix(9, 9, 3)}\n'
    'sum(einsum("ij,jk,k->i", C, D, x)^3)',
    f"input A = {matrix(8, 33, 1)}\nC = {matrix(33, 8, 2)}\nsum(tensordot(A, C, 1)^2)",
    f"input A = {matrix(9, 20, 1)}\nsum(sum(A, 0)^2)*sum(A)*mean(A, 1)[0] + norm(A)",
    f"input x = {vector(20, 1)}\nsum(softmax(x)*x) + logsumexp(x) + prod(x) + sum(cumsum(x)^2)",
    f"input A = {matrix(9, 9, 1)}\nS = A @ A.T + eye(9)\nlogdet(S) + sum(solve(S, A)^2)",
]


@pytest.mark.parametrize("text", CORES)
def test_contractions_have_the_same_bits_for_any_rows(text: str) -> None:
    program = loads(text)
    found, order = executor(text, {})
    rng = np.random.default_rng(11)
    columns = [rng.uniform(0.5, 1.5, (105, *s.shape)) for s in found.graph.samples]
    check_pieces(found, columns)
    assert bits(Executor(found.graph, 10**6).run(columns)) == bits(found.run(columns))
    answers = found.run(columns)
    for k in (0, 50, 104):
        at = {n: c[k] for n, c in zip(order, columns, strict=True)}
        np.testing.assert_allclose(answers[0][k], program.value(at=at), rtol=1e-11)
        for n, got in zip(order, answers[1:], strict=True):
            np.testing.assert_allclose(got[k], program.gradient(at=at)[n], rtol=1e-8, atol=1e-9)


# --- sine and cosine together --------------------------------------------------------------------

def pair(a: Any, paired: bool | None) -> tuple[Any, Any]:
    program = loads("input a = 1\nc = cos(a)\nsin(a) + 0*c")
    run = program.run({})
    with run.record:
        program.targets(run)
        source = program.sources(run)[0].value
        entries = run.record.history()
    found = graph(entries, {source.id: ()}, [
        (entry[OUT], entry[ANS]) for name in ("sin", "cos")
        for entry in entries if entry[OP].name == name])
    s, c = Executor(found, paired=paired).run([a])
    return s, c


def arguments() -> Any:
    rng = np.random.default_rng(4)
    turns = np.concatenate([np.arange(-40, 40), rng.integers(-2**20, 2**20, 300),
                            rng.integers(-2**50, 2**50, 300)]) * (np.pi/2)
    near = [turns]
    for _ in range(3):
        near += [np.nextafter(near[-1], np.inf), 2*turns - np.nextafter(near[-1], np.inf)]
    return np.concatenate([
        rng.uniform(-7, 7, 3000), rng.uniform(-1e5, 1e5, 500), *near,
        np.concatenate([turns[:80] + sign*10.0**-k for k in range(1, 17) for sign in (-1, 1)]),
        np.exp(rng.uniform(-745, 709, 1000))*rng.choice([-1, 1], 1000),
        [5e-324, -5e-324, 1.5e-323, 2.2250738585072014e-308, 1.7976931348623157e308]])


def test_sines_and_cosines_are_exact_everywhere() -> None:
    a = arguments()
    s, c = pair(a, paired=None)
    # mpmath takes the more digits that a far argument, or one beside a zero, needs.
    with mpmath.workprec(120):
        for x, got_s, got_c in zip(a.tolist(), s.tolist(), c.tolist(), strict=True):
            for got, exact in zip((got_c, got_s), mpmath.cos_sin(x), strict=True):
                error = abs(mpmath.mpf(got) - exact)
                assert error <= 4e-16
                # Half of the smallest denormal is as near as a denormal can be.
                assert error <= 1e-12*abs(exact) or error <= mpmath.mpf(2)**-1075, (x, got)


@pytest.mark.parametrize("paired", [True, False, None])
def test_the_pair_at_the_edges(paired: bool | None) -> None:
    s, c = pair(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310] * 3), paired)
    assert s[:2].tobytes() == np.array([0.0, -0.0]).tobytes()
    assert (c[[0, 1, 5, 6]] == 1.0).all()
    assert np.isnan(s[2:5]).all()
    assert np.isnan(c[2:5]).all()
    assert s[5] == 5e-324
    assert s[6] == 1e-310


def test_without_the_pair_it_is_numpys() -> None:
    a = arguments()
    s, c = pair(a, paired=False)
    assert bits([s, c]) == bits([np.sin(a), np.cos(a)])


def test_the_choice_is_the_same_each_time() -> None:
    found, _ = executor("input x = 1\nsin(x)", {})
    assert {statements.available() for _ in range(3)} == {Executor(found.graph).paired}


def test_a_sine_of_other_types_is_numpys() -> None:
    for kind, text in (("float32", 'cast(sin(cast(x, "float32")), "float64")'),
                       ("complex128", "real(sin(complex(x, 0.0)))")):
        text = f"input x = 0.5\n{text}"
        program = loads(text)
        run = program.run({})
        with run.record:
            target = program.targets(run)[0].tensor
            source = program.sources(run)[0].value
            found = graph(run.record.history(), {source.id: ()}, [(target.id, target.value)])
        x = np.linspace(-4, 4, 50)
        got, = Executor(found, paired=True).run([x])
        assert got.tobytes() == np.sin(x.astype(kind)).real.astype(float).tobytes()


# --- fewer statements ----------------------------------------------------------------------------


def functions(found: Executor) -> list[str]:
    return [step.function.__name__ for step in found.graph.steps]


@pytest.mark.parametrize(("text", "expected"), [
    ("x*1 + 0.5", ["add"]), ("-(-x)*y", ["multiply"]), ("(-x)*(-y)", ["multiply"]),
    ("y + (-x)*2", ["multiply", "add"]), ("y - (-x)/y", ["divide", "add"]),
    ("x*x + x^2", ["square", "add"]), ("x^3", ["square", "multiply"]),
    ("x^4", ["square", "square"]), ("y^-1", ["divide"]), ("(-x)^2*1", ["square"]),
    ("abs(-x)/1", ["absolute"]), ("where(x > 0.5, x, y)", ["greater", "select"]),
    ("sum([x, y] * [1, 1]) - 0", ["stack", "function"])])
def test_useless_statements_vanish(text: str, expected: list[str]) -> None:
    program = loads(f"input x = 1\ninput y = 2\n{text}")
    run = program.run({})
    with run.record:
        target = program.targets(run)[0].tensor
        inputs = {b.value.id: () for b in program.sources(run)}
        found = graph(run.record.history(), inputs, [(target.id, target.value)])
    names = [step.function.__name__ for step in found.steps]
    assert len(names) == len(expected)
    assert all(a == b or b in ("stack", "function") for a, b in zip(names, expected, strict=True))


@pytest.mark.parametrize("text", [*FORMULAS, "-(x*y - x) + (-x)/(-y)*sin(-x)", "(-2*x)*y - (-y)",
                                  "where(x > y, -x, 1)*abs(-y) - (-x)*(-1)*y"])
def test_fewer_statements_change_no_bit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = text if "x" in text and "y" in text else f"input x = 1\ninput y = 2\n{text}"
    rng = np.random.default_rng(5)
    columns = [np.concatenate([rng.uniform(0.5, 2, 60), rng.permutation([*EDGES, 0.0])])
               for _ in range(2)]
    fewer, _ = executor(text, {"x": 1.25, "y": 0.75})
    monkeypatch.setattr(graphs, "simplified", lambda found: found)
    plain, _ = executor(text, {"x": 1.25, "y": 0.75})
    assert len(fewer.graph.steps) <= len(plain.graph.steps)
    for a, b in zip(fewer.run(columns), plain.run(columns), strict=True):
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
        known = ~np.isnan(a)
        if any(w in text for w in ("y^3", "t^3")):  # pow is not exact, a product may be nearer
            np.testing.assert_allclose(a[known], b[known], rtol=1e-15)
        else:
            assert a[known].tobytes() == b[known].tobytes()


def test_select_is_where() -> None:
    c, x, y = np.array([True, False] * 8), np.arange(16.0), -np.arange(16.0)
    out = np.empty(16)
    select(c, x, y, out=out)
    assert out.tobytes() == np.where(c, x, y).tobytes()


# --- recorded batches: seeds in front ------------------------------------------------------------

BATCHED = [
    "input A = [[2, 1, 0], [1, 3, 1], [0, 1, 4]]\ninput x = [1, 2, 3]\nA @ sin(x) * x",
    'input A = [[2, 1], [1, 3]]\ninput x = [1, 2]\neinsum("ij,jk,k->i", A, A, x)*2',
    "input x = [1, 2, 3, 4]\ninput s = 2\nx*sum(x)*s + norm(x)/x",
    "input A = [[2, 1], [1, 3]]\ndet(A)*inverse(A) + A.T",
    "input x = [1, 2, 3]\nsoftmax(x)*cumsum(x) + x[::-1]^2",
]


@pytest.mark.parametrize("text", BATCHED)
def test_jacobians_recorded_with_seed_axes(text: str) -> None:
    program = loads(text)
    run = program.run({})
    with run.record:
        target = program.targets(run)[0].tensor
        bindings = program.sources(run)
        sources = [b.value for b in bindings]
        rows = calculus.jacobian(target, sources, emit=True)
        # The same forwards: one tangent for each element of a source.
        columns = [tangent.tangents(
            run.record.history(), {s.id: tangent.basis(s.value)}, [target.id], emit=True)[target.id]
            for s in sources]
        entries = run.record.history()
    wanted: list[Any] = [(t.id, value_of(t)) for t in (*rows, *columns)]
    found = Executor(graph(entries, {s.id: s.shape for s in sources}, wanted))
    rng = np.random.default_rng(6)
    at = [rng.uniform(0.5, 2, (105, *s.shape)) for s in sources]
    answers = found.run(at)
    check_pieces(found, at)
    for k in (0, 104):
        known = program.jacobian(at={b.name: c[k] for b, c in zip(bindings, at, strict=True)})
        for b, s, back, front in zip(bindings, sources, answers, answers[len(sources):],
                                     strict=False):
            expected = known[b.name]
            np.testing.assert_allclose(back[k], expected, rtol=1e-10, atol=1e-12)
            m = int(np.prod(s.shape, dtype=int))
            front_k = np.broadcast_to(front[k], (m, *target.shape)).reshape(m, -1)
            np.testing.assert_allclose(
                front_k.T.reshape(expected.shape), expected, rtol=1e-10, atol=1e-12)


def test_hessians_recorded_with_seed_axes() -> None:
    program = loads("input x = [1, 2, 3]\ninput y = 2\nsum(x^3*y)*norm(x) + y^4")
    run = program.run({})
    with run.record:
        target = program.targets(run)[0].tensor
        bindings = program.sources(run)
        sources = [b.value for b in bindings]
        blocks = calculus.hessian(target, sources, emit=True).blocks
        entries = run.record.history()
    order = sorted(blocks)
    found = Executor(graph(entries, {s.id: s.shape for s in sources}, [
        (blocks[k].id, blocks[k].value) for k in order]))
    rng = np.random.default_rng(7)
    at = [rng.uniform(0.5, 2, (40, *s.shape)) for s in sources]
    for k, answer in zip(order, found.run(at), strict=True):
        for point in (0, 39):
            known = program.hessian(
                at={b.name: c[point] for b, c in zip(bindings, at, strict=True)})
            expected = known[bindings[k[0]].name][bindings[k[1]].name]
            np.testing.assert_allclose(answer[point], expected, rtol=1e-10)


# --- runs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 3, 50])
def test_threads_give_the_same_bits(threads: int) -> None:
    found, _ = executor("sin(x)*exp(-y^2) + log(1 + x^2)/y + cos(x*y)", {"x": 1.0, "y": 0.5}, 64)
    rng = np.random.default_rng(8)
    columns = [rng.uniform(-2, 2, 10_007) for _ in range(2)]
    assert bits(found.run(columns, threads)) == bits(found.run(columns))


def test_thousands_of_statements() -> None:
    lines = [f"y{k} = y{k - 1}*0.5 + sin(y{k - 1}*x)" for k in range(1, 1101)]
    text = "\n".join(["y0 = x", *lines, "y1100"])
    found, _ = executor(text, {"x": 0.3}, 4096)
    assert len(found.graph.steps) > 4_400
    x = np.random.default_rng(9).uniform(-1, 1, 40)
    value, slope = found.run([x])
    program = loads(text)
    for k in (0, 39):
        np.testing.assert_allclose(value[k], program.value(at={"x": x[k]}), rtol=1e-10)
        np.testing.assert_allclose(slope[k], program.gradient(at={"x": x[k]})["x"], rtol=1e-8)


def test_answers_that_are_inputs_or_constants_or_asked_twice() -> None:
    program = loads("input x = 1\ninput y = 2\nx*y")
    run = program.run({})
    with run.record:
        target = program.targets(run)[0].tensor
        x, y = [b.value for b in program.sources(run)]
        found = graph(run.record.history(), {x.id: (), y.id: ()}, [
            (target.id, 2.0), (x.id, 1.0), (None, 7.5), (target.id, 2.0), (None, np.eye(2))])
    a, b = np.arange(40.0), np.linspace(1, 2, 40)
    product, same, constant, again, ones = Executor(found).run([a, b])
    assert bits([product, same, again]) == bits([a*b, a, a*b])
    assert constant.tolist() == [7.5]*40
    assert ones.shape == (40, 2, 2)
    product[0] = -1.0
    assert again[0] == 0.0
    assert a[0] == 0.0


@pytest.mark.parametrize(("paired", "most"), [(False, 2), (True, 5)])
def test_long_chains_run_in_few_buffers(paired: bool, most: int) -> None:
    program = loads("y = x\nfor k in range(50):\n    y = sin(y) + y*y\ny")
    run = program.run({"x": 0.5})
    target, (x,) = program.targets(run)[0].tensor, [b.value for b in program.sources(run)]
    found = Executor(graph(run.record.history(), {x.id: ()}, [(target.id, 1.0)]), paired=paired)
    assert 1 <= sum(type(slot) is tuple for slot in found.plan.slots) <= most


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17])
def test_few_points(n: int) -> None:
    found, _ = executor("input x = 1\ninput v = [1, 2]\nsum(v*x)^2", {})
    x, v = np.linspace(1, 2, n), np.ones((n, 2))
    value, *slopes = found.run([x, v])
    assert value.tobytes() == ((x + x)**2).tobytes()
    assert [s.shape for s in slopes] == [(n,), (n, 2)]


@pytest.mark.parametrize("text", [
    "input x = 1.5\nn = int(x*3)\nfloat(n*n % 4)*x + float(x > 1)",
    "input x = 2\nfloor(x)*x + x % 1", 'input x = 2\ncast(cast(x, "float32")^2*3, "float64")*x',
    "input x = 2\nabs(complex(x, 2)*complex(x, x))^2",
    "input x = 2\nreal(exp(complex(0.5, x))*complex(x, 2))",
    "input x = 2\nwhere(logical_and(x > 1, x < 3), x, x^2)*2"])
def test_types_on_the_way(text: str) -> None:
    program = loads(text)
    found, _ = executor(text, {})
    x = np.random.default_rng(10).uniform(0.1, 4, 105)
    check_pieces(found, [x])
    value, slope = found.run([x])
    for k in range(0, 105, 13):
        at = {"x": float(x[k])}
        np.testing.assert_allclose(value[k], program.value(at=at), rtol=1e-6)
        known = program.gradient(at=at)["x"]
        if known is not None:
            np.testing.assert_allclose(slope[k], known, rtol=1e-6)


def test_columns_of_other_types_and_strides() -> None:
    found, _ = executor("input x = 1\ninput y = 2\nsin(x)*y", {})
    table = np.arange(300.0).reshape(100, 3)
    whole = found.run([table[:, 0].copy(), table[:, 1].copy()])
    assert bits(found.run([table[:, 0], table[:, 1]])) == bits(whole)
    assert bits(found.run([table[:, 0].astype(int), table[:, 1].astype(np.float32)])) == bits(whole)


def test_a_tensor_without_batch_axes_meets_one_with() -> None:
    program = loads("input x = [1, 2]\ninput s = 3\nx*s")
    run = program.run({})
    with run.record:
        target = program.targets(run)[0].tensor
        x, s = [b.value for b in program.sources(run)]
        seeds = Tensor(np.ones((5, 2)), None, 1)
        scaled = seeds * s * target
        entries = run.record.history()
    assert shape_of(scaled.value) == (5, 2)
    found = Executor(graph(entries, {x.id: (2,), s.id: ()}, [(scaled.id, scaled.value)]))
    a, b = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    answer, = found.run([a, b])
    np.testing.assert_array_equal(answer, np.repeat((a*b[:, None]**2)[:, None], 5, axis=1))
