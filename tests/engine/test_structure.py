"""Which derivatives can differ from 0, colours, and Jacobians and Hessians as triples.

Every case of every row that is not elementwise, as the tests of the rows have them (a new row has
to have some), against the complex step; colours by what they promise; sparse answers against dense
ones, which have tests of their own.
"""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest
from asked import loaded, ok
from conftest import folded
from random_programs import RandomProgram
from test_ops_arrays import ARRAYS
from test_ops_layers import LAYERS
from test_ops_linalg import LINALG
from test_ops_shapes import MATMUL_SHAPES, MOVED, Case, arrays_of, complex_step, plain
from transcripts import in_process

import gradcli
from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.engine.compiled.single import unbatched
from gradcli.engine.record import record as records
from gradcli.engine.record.record import BATCH, OUT, Record
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.sparse import colouring, moves, recorded, sweeps
from gradcli.engine.sparse.colouring import Sparse
from gradcli.engine.sparse.triples import Triples
from gradcli.engine.sweeps import derivatives, tangent
from gradcli.ops import TABLE
from gradcli.questions import named

CASES = [pytest.param(case, id=f"{name}-{case.label}")
         for rows in (MOVED, ARRAYS, LINALG, LAYERS) for name, cases in rows.items()
         for case in cases]
ROSENBROCK = "sum(100*(x[1:] - x[:-1]^2)^2 + (1 - x[:-1])^2)"
BAND = "x[1:-1]^2*x[:-2] - sin(x[2:])*x[1:-1]"


def pattern(target: Tensor, sources: list[Any]) -> Any:
    """Truth values: target elements by source elements."""
    found = sweeps.structure(
        records.current().history(), sweeps.Flattened([target]), sweeps.Flattened(sources))
    out = np.zeros(found.shape, bool)
    out[found.rows, found.columns] = True
    return out


def same(got: Any, want: Any) -> None:
    """To the last digits; where all is 0, to rounding of what cancels."""
    scale = max(1.0, float(np.abs(want).max(initial=0.0)))
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14 * scale)


# --- patterns ---------------------------------------------------------------------------------


@folded
@pytest.mark.parametrize("case", CASES)
def test_what_differs_from_0_is_in_the_pattern(case: Case) -> None:
    arrays = arrays_of(case)
    with Record():
        xs = [leaf(plain(a)) for a in arrays]
        y = case.ours(*xs)
        found = pattern(y, xs)
        first = 0
        for k, x in enumerate(xs):
            n = math.prod(x.shape)
            want = complex_step(case.theirs, arrays, k).reshape(math.prod(y.shape), n)
            assert found[:, first:first + n][np.abs(want) > 1e-12].all(), f"argument {k}"
            first += n


MODES = ("auto", "forward", "reverse")
# A row's first case in all modes, its further ones in one after the other.
IN_MODES = [pytest.param(case, (MODES[k % 3],) if k else MODES, id=f"{name}-{case.label}")
            for rows in (MOVED, ARRAYS, LINALG, LAYERS) for name, cases in rows.items()
            for k, case in enumerate(cases)]


@folded
@pytest.mark.parametrize(("case", "modes"), IN_MODES)
def test_sparse_derivatives_are_the_dense_ones(case: Case, modes: tuple[str, ...]) -> None:
    """All modes give the same dense ones: see test_calculus.py."""
    with Record():
        xs = [leaf(plain(a)) for a in arrays_of(case)]
        y = case.ours(*xs)
        dense = derivatives.jacobian(y, xs, mode=modes[0])
        for mode in modes:
            for got, want in zip(calculus.jacobian(y, xs, mode=mode, sparse=True), dense,
                                 strict=True):
                assert (got is None) == (want is None)
                if got is not None:
                    same(got.dense(), want)
        twice = [mode for mode in modes if mode != "auto"] or ["forward"]
        total = TABLE["sum"](y * y * 0.5 + y)
        blocks = calculus.hessian(total, xs, mode=twice[0]).blocks
        for mode in twice:
            found = calculus.hessian(total, xs, mode=mode, sparse=True).blocks
            for place, block in blocks.items():
                assert (found[place] is None) == (block is None), place
                if block is not None:
                    same(found[place].dense(), block)


PATTERNS = [
    ("x[1:]*x[:-1]", "110 011"), ("x*c", "100 010 001"), ("A @ x", "100 101 000"),
    ("sum(x)", "111"), ("x[[2, 0, 2]]", "001 100 001"), ("sum(x[:2])*c", "110 110 110"),
    ("flip(x)*2", "001 010 100"), ("concat([x[1:], x[:1]])", "010 001 100"),
    ("mean(x[:2])", "110"), ("floor(x)*x[0]", "100 100 100"), ("where(c > 2, x, 0)", "100 010 001"),
    ("max(x[1:])", "011"), ("cumsum(x)[:2]", "100 110"), ("diff(x)", "110 011"),
    ("reshape(outer(x[:2], c), [-1])[::2]", "100 100 010"),
    ("stop_gradient(x)*x[1]", "010 010 010"),
    ("dot(x, [0, 3, 1])", "011"), ("x + sum(x[1:])", "111 011 011"),
]


@pytest.mark.parametrize(("text", "rows"), PATTERNS, ids=[text for text, _ in PATTERNS])
def test_patterns_are_no_wider_than_they_must_be(text: str, rows: str) -> None:
    program = gradcli.loads(f"A = [[1, 0, 0], [2, 0, 3], [0, 0, 0]]\nc = [1.5, 2.5, 3.5]\n{text}")
    # At 0 many of these derivatives are 0; they are in the pattern all the same.
    run = program.run({"x": [0.0, 0.0, 0.0]})
    with run.record:
        found = pattern(program.targets(run)[0].tensor, [program.sources(run, ["x"])[0].value])
    assert " ".join("".join(str(int(v)) for v in line) for line in found) == rows


def test_a_product_over_a_window_has_the_pattern_of_the_window() -> None:
    with Record():
        x = leaf(np.linspace(0.0, 1.0, 300).reshape(1, 300, 1))
        y = gradcli.ops.conv1d(x, np.ones((3, 1, 1)), padding="VALID")
        assert pattern(y, [x]).sum() == 3 * 298


@pytest.mark.parametrize(("formula", "shapes"), [
    *[("a @ b", shapes) for shapes in MATMUL_SHAPES],
    ("einsum('ij,jk->ki', a, b)", ((2, 3), (3, 4))), ("einsum('ij,ij->j', a, b)", ((2, 3), (2, 3))),
    ("einsum('abc,cd->db', a, b)", ((2, 3, 4), (4, 5))), ("einsum('i,j->ji', a, b)", ((2,), (3,)))])
def test_large_products_by_rows_and_columns(
        formula: str, shapes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "pairs", lambda *arguments: None)
    program = gradcli.loads(f"input a\ninput b\n{formula}")
    rng = np.random.default_rng(3)
    run = program.run({n: rng.uniform(1, 2, s) for n, s in zip("ab", shapes, strict=True)})
    with run.record:
        y = program.targets(run)[0].tensor
        xs = [b.value for b in program.sources(run)]
        dense = [j.reshape(math.prod(y.shape), -1) for j in derivatives.jacobian(y, xs)]
        np.testing.assert_array_equal(pattern(y, xs), np.concatenate(dense, axis=1) != 0)


def test_one_value_under_two_names_has_two_places() -> None:
    program = gradcli.loads("y = x\nx*y[0]")
    run = program.run({"x": [2.0, 3.0]})
    with run.record:
        target, (x, y) = program.targets(run)[0].tensor, program.sources(run, ["x", "y"])
        assert x.value.id == y.value.id
        found = calculus.jacobian(target, [x.value, y.value], sparse=True)
        dense = derivatives.jacobian(target, [x.value, y.value])
        for got, want in zip(found, dense, strict=True):
            same(got.dense(), want)


# --- colours ----------------------------------------------------------------------------------


def matrix_of(pattern: Any) -> Sparse:
    return Sparse(pattern.shape, *np.nonzero(pattern))


def random_matrices(symmetric: bool) -> list[Any]:
    rng = np.random.default_rng(20261122)
    found = []
    for k in range(300):
        m, n = rng.integers(1, 30, 2)
        shape = (n, n) if symmetric else (m, n)
        some = rng.uniform(size=shape) < rng.uniform(0, 0.4)
        if k % 3 == 0 and symmetric:  # an arrow
            some &= rng.uniform(size=shape) < 0.2
            some[0] = True
            some |= np.eye(n, dtype=bool)
        found.append(some | some.T if symmetric else some)
    return found


def test_columns_of_one_colour_have_no_row_in_common() -> None:
    for some in random_matrices(symmetric=False):
        found = np.array(colouring.of_columns(matrix_of(some)))
        assert ((found < 0) == ~some.any(axis=0)).all()
        for colour in range(found.max() + 1):
            assert some[:, found == colour].sum(axis=1).max() <= 1


@pytest.mark.parametrize("sides", ["any", "columns", "rows"])
def test_compressed_matrices_read_back(sides: str) -> None:
    rng = np.random.default_rng(1)
    for some in random_matrices(symmetric=False):
        whole = np.where(some, rng.normal(size=some.shape), 0.0)
        plan = colouring.compressed(matrix_of(some), sides)
        seeds = plan.seeds()
        carried = (whole @ seeds.T).T if plan.by_columns else seeds @ whole
        np.testing.assert_array_equal(carried.ravel()[plan.slots], whole[some])


def test_symmetric_matrices_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colouring, "FEW", 0)
    rng = np.random.default_rng(2)
    fewer = 0
    for some in random_matrices(symmetric=True):
        whole = np.where(some, rng.normal(size=some.shape), 0.0)
        whole += whole.T
        plan = colouring.symmetric(matrix_of(some))
        found = (whole @ plan.seeds().T).T.ravel()[plan.slots]
        np.testing.assert_array_equal(found, whole[some])
        fewer += plan.count < colouring.compressed(matrix_of(some), "columns").count
    assert fewer > 100


def test_no_path_over_four_vertices_has_two_colours() -> None:
    for some in random_matrices(symmetric=True):
        colours = colouring.star(matrix_of(some))
        n = len(some)
        edges = [(i, j) for i in range(n) for j in range(n) if some[i, j] and i != j]
        assert all(colours[i] != colours[j] for i, j in edges)
        beside = [[j for j in range(n) if some[i, j] and j != i] for i in range(n)]
        for b, c in edges:
            for a in beside[b]:
                if a != c and colours[a] == colours[c]:
                    assert not any(d not in (a, b) and colours[d] == colours[b]
                                   for d in beside[c])


@pytest.mark.parametrize(("text", "colours"), [
    (ROSENBROCK, 3), ("sum(x^4)", 1), ("x[0]*sum(x^2)", 2), ("sum(x)^2", 40), ("sum(x)", 0)])
def test_hessians_take_few_directions(text: str, colours: int) -> None:
    program = gradcli.loads(text)
    run = program.run({"x": np.linspace(0.0, 1.0, 40)})
    with run.record:
        source = program.sources(run)[0].value
        (g,) = calculus.gradient([program.targets(run)[0].tensor], [source], emit=True)
        entries = run.record.history()
        plan = sweeps.plan_of_hessian(
            entries, sweeps.structure(entries, sweeps.Flattened([g]), sweeps.Flattened([source])))
    assert plan.count == colours


def test_an_own_gradient_need_not_be_symmetric() -> None:
    def own(x: Any) -> Any:
        def pull_back(g: Any) -> Any:
            return g * x * gradcli.ops.concat([x[1:], x[:1]])

        return gradcli.ops.sum(x), pull_back

    values = np.linspace(1.0, 2.0, 12)
    found = []
    for sparse in (False, True):
        with Record():
            x = leaf(values)
            y = gradcli.custom_gradient(own)(x)
            block = calculus.hessian(y, [x], sparse=sparse).blocks[0, 0]
            found.append(block.dense() if sparse else block)
    same(found[1], found[0])
    assert not np.allclose(found[0], found[0].T)
    with Record():
        x = leaf(values)
        y = gradcli.custom_gradient(own)(x) * x
        same(calculus.jacobian(y, [x], sparse=True)[0].dense(), derivatives.jacobian(y, [x])[0])


# --- whole programs ---------------------------------------------------------------------------

INPUTS: dict[str, tuple[int, ...]] = {"a": (), "v": (3,), "M": (2, 3)}


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    made = RandomProgram(seed, INPUTS, 9)
    program = gradcli.loads(made.text)
    at = {n: v for n, v in made.at.items() if n in program.names.inputs}
    found = []
    for sparse in (False, True):
        run = program.run(at)
        with run.record:
            sources = [run.bindings[n][0].value for n in at]
            first, out = (run.bindings[n][-1].value for n in (made.nodes[-1].name, "out"))
            found.append([*calculus.jacobian(first, sources, sparse=sparse),
                          *calculus.hessian(out, sources, sparse=sparse).blocks.values()])
    for want, got in zip(*found, strict=True):
        assert (want is None) == (got is None)
        if want is not None:
            same(got.dense(), want)


SCALARS = "\n".join(f"var x{k} = {1 + k / 7}" for k in range(12)) + "\n" + "\n".join(
    f"t{k} = x{k}*sin(x{k + 1}) + x{k}^3" for k in range(11)) + "\n" + " + ".join(
    f"t{k}" for k in range(11))


def test_many_scalars_are_one_sparse_matrix() -> None:
    program = gradcli.loads(SCALARS)
    dense = program.hessian()
    run = program.run()
    with run.record:
        sources = [b.value for b in program.sources(run)]
        target = program.targets(run)[0].tensor
        found = calculus.hessian(target, sources, sparse=True)
    for (i, j), block in found.blocks.items():
        assert ((i, j) in found.constant) == (abs(i - j) > 1)
        assert len(block.values) == (abs(i - j) <= 1)
        same(block.dense(), dense[f"x{i}"][f"x{j}"])


@pytest.mark.parametrize(("text", "what"), [
    (BAND, "jacobian"), (ROSENBROCK, "hessian"), ("x^2*sum(x)", "jacobian"),
    ("sum(x)^3", "hessian"), ("pad(x[1:], [0, 1]) - 2*x + pad(x[:-1], [1, 0])", "jacobian")])
def test_large_dense_answers_take_few_directions_and_have_the_same_digits(
        text: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, at = gradcli.loads(text), {"x": np.linspace(0.5, 1.5, 400)}
    widest: list[int] = []
    true = tangent.tangents

    def watched(entries: Any, seeds: Any, targets: Any, **options: Any) -> Any:
        widest.extend(len(s.value) for s in seeds.values())
        return true(entries, seeds, targets, **options)

    monkeypatch.setattr(tangent, "tangents", watched)
    found = getattr(program, what)(at=at)["x"]
    directions = max(widest, default=400)
    monkeypatch.setattr(derivatives, "LARGE", math.inf)
    monkeypatch.setattr(calculus, "LARGE", math.inf)
    want = getattr(program, what)(at=at)["x"]
    found, want = (v["x"] if what == "hessian" else v for v in (found, want))
    np.testing.assert_allclose(found, want, rtol=1e-15, atol=0)
    assert directions == (400 if "sum(x)" in text else 3)


@pytest.mark.parametrize("text", ["x*sqrt(x)", "where(x > 0, log(x), 0)*x", "0*sqrt(x) + x^2"])
def test_zeros_absorb_as_in_dense_answers(text: str) -> None:
    at = "x=[0, 1, 2]"
    for command, formula in (("jac", text), ("hess", f"sum({text})")):
        dense, sparse = (json.loads(in_process(
            [command, "-e", formula, "--at", at, *more, "--format", "json"])[1])["results"][0]
            for more in ([], ["--sparse"]))
        key, field = ("sources", "jacobian") if command == "jac" else ("blocks", "hessian")
        triples = sparse[key][0]["sparse"]
        for (i,), (j,), value in zip(
                triples["rows"], triples["columns"], triples["values"], strict=True):
            assert value == dense[key][0][field][i][j]
        assert sparse[key][0]["notes"] == dense[key][0]["notes"]


# --- the command line -------------------------------------------------------------------------


def test_every_format_has_the_same_triples() -> None:
    question = ["jac", "-e", "y = x[1:]*x[:-1]", "--at", "x=[1,2,3]", "--sparse"]
    values = {(0, 0): 2.0, (0, 1): 1.0, (1, 1): 3.0, (1, 2): 2.0}
    told = loaded(*question)["results"][0]["sources"][0]
    assert "jacobian" not in told
    assert told["sparse"] == {
        "shape": [2, 3], "rows": [[i] for i, _ in values], "columns": [[j] for _, j in values],
        "values": list(values.values())}
    assert ok(*question) == "".join(
        f"dy[{i}]/dx[{j}]\t{value:g}\n" for (i, j), value in values.items())
    for name, delimiter in (("csv", ","), ("tsv", "\t")):
        rows = list(csv.DictReader(
            io.StringIO(ok(*question, "--format", name)), delimiter=delimiter))
        assert {(int(r["row_index"]), int(r["column_index"])): float(r["jacobian"])
                for r in rows} == values
        assert {(r["of"], r["wrt"], r["reason"]) for r in rows} == {("y", "x", "")}
    assert "| `y[1]` | `x[2]` | 2 |" in ok(*question, "--format", "markdown")
    assert r"\frac{\partial y_{1}}{\partial x_{2}} &= 2" in ok(*question, "--format", "latex")
    assert "y[1]   x[2]     2" in ok(*question, "--format", "table")


def test_hessians_in_blocks() -> None:
    question = ["hess", "-e", "f = sum(x[1:]^2*x[:-1])*a + floor(b)", "--at",
                "x=[1,2,3],a=2,b=1", "--sparse"]
    status, out, _ = in_process([*question, "--eig"])
    assert status == 0
    assert "d2f/dx[0]dx[1]\t8\n" in out
    assert "d2f/dx[2]da\t12\n" in out
    assert "d2f/dbdb\tNone\n" in out
    blocks = json.loads(in_process([*question, "--format", "json"])[1])["results"][0]["blocks"]
    told = {(b["row"], b["col"]): b for b in blocks}
    assert told["a", "a"]["sparse"]["values"] == []
    assert [note["code"] for note in told["a", "a"]["notes"]] == ["derivative-constant"]
    assert told["x", "b"]["hessian"] is None
    assert told["x", "b"]["reasons"]
    assert told["x", "a"]["sparse"]["columns"] == [[], [], []]


def test_eigenvalues_are_those_of_the_dense_matrix() -> None:
    question = ["hess", "-e", "sum(x[1:]^2*x[:-1]) + sum(x^2)", "--at", "x=[1,2,3]", "--eig"]
    dense, sparse = (loaded(*question, *more)["results"][0] for more in ([], ["--sparse"]))
    same(sparse["eigenvalues"], dense["eigenvalues"])
    assert sparse["definiteness"] == dense["definiteness"]


@pytest.mark.parametrize("mode", ["reverse", "forward", "finite"])
def test_modes_and_checks(mode: str) -> None:
    question = ["--at", "x=[0.5,2,3]", "--sparse", "--mode", mode]
    answer = loaded("jac", "-e", "x[1:]^2*x[:-1]", *question, "--verify")
    told = answer["results"][0]["sources"][0]
    np.testing.assert_allclose(told["sparse"]["values"], [4, 2, 9, 12], rtol=1e-8)
    assert told["verify"]["difference"] < 1e-8
    block = loaded("hess", "-e", "sum(x[1:]^2*x[:-1])", *question)["results"][0]["blocks"][0]
    np.testing.assert_allclose(block["sparse"]["values"], [4, 4, 1, 6, 6, 4], rtol=1e-8)


def test_a_missing_derivative_and_one_that_is_asked_for_as_zero() -> None:
    question = ["jac", "-e", "x*floor(y)", "--at", "x=[1,2],y=1.5", "--sparse", "--format", "json"]
    sources = json.loads(in_process(question)[1])["results"][0]["sources"]
    assert sources[1]["jacobian"] is None
    assert sources[1]["reasons"]
    question += ["--unconnected", "zero"]
    sources = json.loads(in_process(question)[1])["results"][0]["sources"]
    assert sources[1]["sparse"] == {"shape": [2], "rows": [], "columns": [], "values": []}


def test_a_hundred_thousand_variables_take_memory_by_the_nonzeros() -> None:
    # 2 GB would be 0.02 % of the dense array.
    at = ["--at", "x=linspace(0,1,100000)", "--max-memory", "100M"]
    status, out, _ = in_process(["hess", "-e", ROSENBROCK, "--sparse", *at])
    assert status == 0
    assert out.count("\n") == 299_998
    assert out.splitlines()[-1] == "d2f/dx[99999]dx[99999]\t200"
    status, out, err = in_process(["hess", "-e", ROSENBROCK, *at])
    assert (status, out) == (3, "")
    assert "E0403" in err
    assert "a dense Hessian of 100,000 x 100,000 numbers takes 400 GB" in err
    assert "only 299,998 of them can differ from 0: --sparse gives these" in err
    status, _, err = in_process(["jac", "-e", BAND, *at])
    assert status == 3
    assert "only 299,994 of them can differ from 0" in err
    status, _, err = in_process(["jac", "-e", "x*sum(x)", *at])
    assert "use a smaller array, or raise --max-memory" in err
    status, _, err = in_process(["jac", "-e", "x*sum(x)", "--sparse", *at])
    assert status == 3
    assert "that is not sparse" in err


def test_a_dense_array_of_triples_is_under_the_budget() -> None:
    places = np.zeros(1, np.int64)
    found = Triples((10_000,), (10_000,), places, places, np.ones(1))
    record = Record()
    record.max_bytes = 1e6
    with record, pytest.raises(GradcliError) as caught:
        found.dense()
    assert caught.value.code == "E0403"


def test_triples_from_python() -> None:
    program = gradcli.loads("sum(x[1:]^2*x[:-1])")
    at = {"x": [1.0, 2.0, 3.0]}
    block = program.hessian(at=at, sparse=True)["x"]["x"]
    assert block.shape == (3, 3)
    assert (block.rows.tolist(), block.columns.tolist()) == (
        [0, 1, 1, 1, 2, 2], [1, 0, 1, 2, 1, 2])
    same(block.dense(), program.hessian(at=at)["x"]["x"])
    found = gradcli.loads("x^2 + floor(y)").jacobian(at={"x": [1.0, 2.0], "y": 1.0}, sparse=True)
    assert found["y"] is None
    assert found["x"].values.tolist() == [2.0, 4.0]


# --- prepared ---------------------------------------------------------------------------------

QUESTIONS = [
    (BAND, "jacobian"), (ROSENBROCK, "hessian"), ("x^2*sum(x)", "jacobian"),
    ("sum((A @ x)^4)", "hessian"), ("sum(x)^3*x[0] + y", "hessian"),
    ("sum(A @ x * x) + sum(x*y)*y", "hessian"), ("softmax(x)*y", "jacobian"),
    ("A @ x + floor(y)", "jacobian"), ("sum(x[::2]*x[1::2])", "hessian"),
    ("concat([x*y, A[0]])", "jacobian"), ("einsum(\"ij,j,i\", A, x, x)", "hessian"),
    ("y*2 + 1", "jacobian"), ("sort(x)*x", "jacobian"), ("x[0]*y", "hessian")]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("text", "what"), QUESTIONS, ids=[text for text, _ in QUESTIONS])
def test_prepared_matrices_are_those_of_the_program(text: str, what: str, sparse: bool) -> None:
    rng = np.random.default_rng(5)
    program = gradcli.loads(f"input A\ninput x\ninput y\n{text}")
    asked = program.prepare(what=what, sparse=sparse)
    for _ in range(20):
        at = {"A": rng.uniform(0.5, 1, (6, 6)), "x": rng.uniform(0.5, 2, 6),
              "y": float(rng.uniform(0.5, 2))}
        value, found = asked(at)
        same(value, program.value(at=at))
        want = getattr(program, what)(at=at)
        for name, part in want.items():
            inner = part if what == "hessian" else {"": part}
            mine = found[name] if what == "hessian" else {"": found[name]}
            for other, block in inner.items():
                got = mine[other]
                assert (got is None) == (block is None), (name, other)
                if block is not None:
                    same(got.dense() if sparse else got, block)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("text", "what"), [
    ("sin(x)*2", "jacobian"), ("sum(sin(x)*x)", "hessian")])
def test_a_prepared_diagonal_is_one_sweep(
        text: str, what: str, sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense or not, what is nearly all 0 is placed from few sweeps; what is not is recorded."""
    made: list[int] = []

    def counted(*arguments: Any, **options: Any) -> Any:
        made.append(len(arguments))
        return Matrix(*arguments, **options)

    Matrix = recorded.Matrix
    monkeypatch.setattr(recorded, "Matrix", counted)
    asked = gradcli.loads(text).prepare(what=what, sparse=sparse)
    for k in range(1, 20):
        asked({"x": np.linspace(0.0, k, 300)})
    assert made
    made.clear()
    monkeypatch.setattr(named, "MAX_PLACED", 10)
    asked = gradcli.loads(text).prepare(what=what, sparse=sparse)
    for k in range(1, 20):
        asked({"x": np.linspace(0.0, k, 300)})
    assert bool(made) == sparse


def test_a_prepared_band_is_not_found_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    program = gradcli.loads(ROSENBROCK)
    asked = program.prepare(what="hessian", sparse=True)
    points = [np.linspace(0.0, k, 50) for k in range(1, 20)]
    for x in points[:12]:
        asked({"x": x})

    def never(*arguments: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(sweeps, "structure", never)
    for x in points[12:]:
        _, found = asked({"x": x})
        block = found["x"]["x"]
        same(block.values[:2], [1200*x[0]**2 - 400*x[1] + 2, -400*x[0]])


@pytest.mark.parametrize("text", ["A @ x", "x @ A", "x[1:]*2", "sum(A*x, axis=0)", "A.T @ (A @ x)",
                                  "concat([x, x])[::3]", "x[[2, 0]]", "outer(x, x)[0]"])
def test_entries_without_batch_axes_say_the_same(text: str) -> None:
    program = gradcli.loads(f"input A\n{text}")
    at = {"A": np.arange(9.0).reshape(3, 3) + 1, "x": np.array([1.0, 2.0, 4.0])}
    run = program.run(at)
    with run.record:
        x = run.bindings["x"][0].value
        target = program.targets(run)[0].tensor
        found = tangent.tangents(
            run.record.history(), {x.id: tangent.basis(x.value)}, [target.id], emit=True)
        entries = list(run.record.history())
    assert found
    for entry in entries:
        if not entry[BATCH] or entry[0].elementwise:
            continue
        values: dict[Any, Any] = {}
        for op, out, ids, given, ans, attributes, _, batch in unbatched(entry):
            assert out == entry[OUT] or out not in values
            operands = [values.get(i, v) for i, v in zip(ids, given, strict=True)]
            cores = [np.ndim(v) - b for v, b in zip(operands, batch or (0,) * 9, strict=False)]
            values[out] = np.asarray(op.arrays(cores, *operands, **attributes))
            same(values[out], ans)
        same(values[entry[OUT]], entry[4])


def test_a_dense_matrix_that_is_too_large_to_place_is_recorded_as_it_is(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "MAX_PLACED", 10)
    for text, what in (("x*sum(x)", "jacobian"), ("sum(x)^3", "hessian")):
        program = gradcli.loads(text)
        asked = program.prepare(what=what)
        for k in range(1, 8):
            at = {"x": np.linspace(0.5, k, 5)}
            found, want = asked(at)[1]["x"], getattr(program, what)(at=at)["x"]
            same(*(v["x"] if what == "hessian" else v for v in (found, want)))
