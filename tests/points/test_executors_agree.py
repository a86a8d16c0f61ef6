"""All executors give the same answers: points in blocks, prepared questions, sparse matrices, lines
and loops run together, against the program asked at one point, and that against formulas of NumPy.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from draws import drawn, many
from programs import Draw, Form, Grammar
from test_points import compare

from gradcli.base.errors import GradcliError
from gradcli.lang.running import lines, loops
from gradcli.lang.running import program as programs
from gradcli.python.program import Program, loads
from gradcli.questions.many import prepared
from gradcli.questions.named import NAMED

V = np.array([[1.0, 3.0, 2.0], [3.0, 2.0, 1.0], [-1.0, 0.0, 5.0], [2.0, 2.0, -2.0]])
X = np.array([1.0, 0.0, -2.0, 0.5])

# --- programs that were found by the fuzzer, cut down -------------------------------------------

# A text over v, what it is at one point, and its slope in v: nothing of gradcli is known here.
BY_DATA: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "v[argmax(v)]^2": (lambda v: max(v)**2, lambda v: 2*max(v)*(np.arange(3) == np.argmax(v))),
    "float(argmax(v))*v[0]": (
        lambda v: np.argmax(v)*v[0], lambda v: np.array([np.argmax(v), 0, 0])),
    "v[int(abs(v[2])) % 3]*2": (
        lambda v: 2*v[int(abs(v[2])) % 3], lambda v: 2.0*(np.arange(3) == int(abs(v[2])) % 3)),
    "sum(v[v > 1]^2)": (lambda v: np.sum(v[v > 1]**2), lambda v: np.where(v > 1, 2*v, 0)),
    "sum(boolean_mask(v, v > 1)^2)": (
        lambda v: np.sum(v[v > 1]**2), lambda v: np.where(v > 1, 2*v, 0)),
    "sum(dynamic_partition(v, int(v > 1), 2)[1]^2)": (
        lambda v: np.sum(v[v > 1]**2), lambda v: np.where(v > 1, 2*v, 0)),
    "sum(gather(v, argsort(v))*[1, 2, 3])": (
        lambda v: np.sort(v) @ [1, 2, 3], lambda v: 1.0 + np.argsort(np.argsort(v, kind="stable"))),
    "float(size(unique(v)))*v[0]": (
        lambda v: len(set(v))*v[0], lambda v: np.array([len(set(v)), 0, 0])),
    "float(sum(argwhere(v > 1)))*v[0]": (
        lambda v: np.sum(np.argwhere(v > 1))*v[0],
        lambda v: np.array([np.sum(np.argwhere(v > 1)), 0, 0])),
    "sum(unsorted_segment_prod(v, int(v > 1), 2))": (
        lambda v: np.prod(v[v > 1]) + np.prod(v[v <= 1]),
        lambda v: np.array([np.prod([b for j, b in enumerate(v) if j != k and (b > 1) == (a > 1)])
                            for k, a in enumerate(v)])),
    "float(sum(histogram(v, 2, low=-2, high=6)*[1, 2]))*v[0]": (
        lambda v: np.sum(1 + (v >= 2))*v[0], lambda v: np.array([np.sum(1 + (v >= 2)), 0, 0])),
}


@pytest.mark.parametrize("text", BY_DATA)
def test_places_taken_from_data_are_those_of_each_point(text: str) -> None:
    value, slope = BY_DATA[text]
    program = loads(f"input v = [1, 2, 3]\n{text}")
    compare(program.source.text, "grad", {"v": V})
    compare(program.source.text, "hess", {"v": V})
    asked = {what: program.prepare(what=what) for what in NAMED}
    for v in [*V, *V, *V]:
        for what, question in asked.items():
            if what == "hessian":
                same(question({"v": v}), (program.value(at={"v": v}), program.hessian(at={"v": v})))
            else:
                same(question({"v": v}), (float(value(v)), {"v": slope(v).astype(float)}))


MATRICES = [
    ("A @ v", "jacobian", lambda A, v: A), ("sum((A @ v)^2)", "hessian", lambda A, v: 2*A.T @ A),
    ("sum(A*v, axis=1)", "jacobian", lambda A, v: A),
    ("einsum(\"ij,j->i\", A, v)", "jacobian", lambda A, v: A),
    ("concat([v*A[0], v])", "jacobian", lambda A, v: np.concatenate([np.diag(A[0]), np.eye(3)])),
    ("v[argsort(A[0])]", "jacobian", lambda A, v: np.eye(3)[np.argsort(A[0], kind="stable")]),
    ("[v[argmax(v)], 1]", "jacobian", lambda A, v: np.array([np.eye(3)[np.argmax(v)], [0]*3]))]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("text", "what", "matrix"), MATRICES, ids=[m[0] for m in MATRICES])
def test_the_structure_of_a_prepared_matrix_holds_at_all_points(
        text: str, what: str, matrix: Callable[[Any, Any], Any], sparse: bool) -> None:
    """Zeros of the first points are no zeros of the others; places move."""
    question = loads(f"input A\ninput v\n{text}").prepare(wrt="v", what=what, sparse=sparse)
    first = np.zeros((3, 3))
    for A, v in [(first, V[0])]*3 + [(np.outer(v, [1.0, -2.0, 3.0]), v) for v in V]:
        found = question({"A": A, "v": v})[1]["v"]
        found = found["v"] if what == "hessian" else found
        np.testing.assert_allclose(found.dense() if sparse else found, matrix(A, v), rtol=1e-12)


@pytest.mark.parametrize(("text", "slope"), [
    ("reciprocal(where(1 > y, y, y))", -math.inf), ("1/maximum(y, y)", -math.inf),
    ("where(1 > y, y, y)*log(y + 1)", 0.0), ("sqrt(where(y < 1, y, y))", math.inf)])
def test_an_operand_that_stands_twice_is_alive_where_one_is(text: str, slope: float) -> None:
    program = loads(text)
    assert program.gradient(at={"y": 0.0}) == {"y": slope}
    assert program.jacobian(at={"y": 0.0}, sparse=True)["y"].dense() == slope
    compare(text, "grad", {"y": np.array([0.5, 0.0, 2.0])})


def test_a_zero_absorbs_beside_what_is_missing() -> None:
    for command in ("grad", "hess"):
        compare("(y*x)*0 + maximum(x*y, 1)", command, {
            "x": np.array([1.0, math.nan, 2.0, math.inf]), "y": np.array([1.0, 2.0, math.nan, 0])})


CUT_DOWN = [
    # a condition that is the same at all points
    "s = 2\nabs(where(s == 2, x, -0.5))", "where(1e-3 < 0, x*x, -0.5) + x",
    # whole numbers that do not exist at some points
    "float(int(x % y))", "float(int(1/x))*y", "float(int(clip(y/x, -5, 5)))",
    "input x\ninput y\ns = segment_max([x, y, 1], int([x, y, 1] > 0))\nx*y",
    # NaN where zeros absorb
    "(x/x)*where(x < y, y, 2)", "where(x > 1, y/y, x/x)", "x*where(x > 0, log(x), 0)",
    # a loop whose slope divides by a constant 0
    "s = abs(y)\nfor i in range(30):\n    s = 0.5*s + ((x - x)^3/0.0)\nx - x",
    # a derivative of the program's own that is NaN unless zeros absorb
    "u = x*1.0\ng = grad(where(u > 0, sqrt(u), 0), u)\nfloat(int(g))*y",
    "median([x, y, 1])", "x @ y if x > 5 else x*y"]


@pytest.mark.parametrize("text", CUT_DOWN)
def test_programs_cut_down(text: str) -> None:
    program = loads(text)
    columns = {name: column for name, column in (("x", np.repeat(X, 4)), ("y", np.tile(X, 4)))
               if name in program.names.order}
    check(program, columns)
    for command in ("eval", "grad", "jac", "hess"):
        compare(text, command, columns)


# --- the comparison ------------------------------------------------------------------------------


def same(found: Any, expected: Any, rtol: float = 1e-9) -> None:
    """Equal in structure, None and number."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name in expected:
            same(found[name], expected[name], rtol)
    elif isinstance(expected, tuple):
        for a, b in zip(found, expected, strict=True):
            same(a, b, rtol)
    elif expected is None or isinstance(expected, str):
        assert found is expected or found == expected
    else:
        found = found.dense() if hasattr(found, "dense") else found
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-9)


def answered(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except GradcliError as problem:
        return problem.code


def points_of(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, [float(v) if not np.ndim(v) else v for v in row], strict=True))
            for row in zip(*columns.values(), strict=True)]


def alone(program: Program, what: str, at: dict[str, Any]) -> Any:
    return program.value(at=at), getattr(program, what)(at=at)


def check(program: Program, columns: dict[str, Any]) -> None:
    """Prepared questions against the program, at each point twice."""
    points = points_of(columns)
    for what in NAMED:
        asked = program.prepare(what=what)
        expected = [answered(partial(alone, program, what, at)) for at in points]
        for at, one in zip(points*2, expected*2, strict=True):
            same(answered(partial(asked, at)), one)


# --- random programs -----------------------------------------------------------------------------

GRID = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.25)
# s: a number, v: three numbers, A: two rows of three, b: a truth value, i: a whole number from 0 to
# 2, c: a constant.
OF_NUMBERS = {
    "program": ["{lines}\n{s2}"],
    "lines": ["{line}", Form("{line}\n{lines}", 1.5)],
    "line": [Form("{s+} = {s3}", 4),
             "{s+} = {s3}\nfor i in range({turns}):\n    {1} = 0.5*{1} + {s2}"],
    "turns": ["12", "int(abs(x))"],
    "s": [Form("{s!}", 4), "2", "({s}) + ({s})", "({s}) - ({s})", "({s})*({s})", "({s})/({s})",
          "-({s})", "({s})^({c})", "({c})*({s})", "sqrt({s})", "log({s})", "exp({s})", "sin({s})",
          "abs({s})", "relu({s})", "sign({s})", "floor({s})", "maximum({s}, {s})",
          "minimum({s}, {c})", "where({b}, {s}, {s})", "where({b}, {s}, {c})",
          "(({s}) if {b} else ({s}))", "float({b})", Form("float({i})", 0.3),
          "divide_no_nan({s}, {s})", "stop_gradient({s})"],
    "b": ["(x > y)", "(({s}) > ({s}))", "(({s}) == ({c}))", "({b} and {b})", "(({s}) <= 0)",
          "(not {b})", "isfinite({s})"],
    "i": ["int(abs(x)) % 3"],
    "c": ["0", "1", "2", "-1", "0.5", "3", "-2", "1.5"]}
TO_NUMBERS = (
    "sum({v})", "mean({v})", "prod({v})", "max({v})", "norm({v})", "sum({A})", "({v})[{i}]",
    "({v})[argmax({v})]", "({v}) @ ({v})", "sort({v})[{i}]", "cumsum({v})[1]", "cumprod({v})[2]",
    "sum(({v})[({v}) > ({s})])", "sum(gather({v}, argsort({v}))*[1, 2, 3])",
    "det([[{s}, {s}], [{s}, {s}]])", "float(size(unique({v})))", "max({A}, axis=0)[{i}]",
    "sum(({v})*({v}))")
OF_ARRAYS = OF_NUMBERS | {
    "program": [Form("{lines}\n{s2}", 2), "{lines}\n{v2}"],
    "line": [Form("{s+} = {s3}", 9), Form("{v+} = {v3}", 4), *[Form(
        f"{{{v}+}} = {{{v}3}}\nfor i in range({{turns}}):\n    {{1}} = 0.5*{{1}} + {{{v}2}}")
        for v in "ssv"]],
    "s": [*OF_NUMBERS["s"], *[Form(form, 0.9) for form in TO_NUMBERS]],
    "v": [Form("{v!}", 4), "[0, 1, -1]", "({v}) + ({v})", "({v}) - ({s})", "({v})*({v})",
          "({v})/({s})", "-({v})", "({v})^({c})", "abs({v})", "sqrt({v})", "relu({v})",
          "where(({v}) > ({v}), {v}, {s})", "[{s}, {s}, {s}]", "sort({v})", "cumsum({v})",
          "cumprod({v})", "({v})[::-1]", "A[({i}) % 2]", "sum({A}, axis=0)",
          "({A}).T @ (({A}) @ ({v}))", "({v})[[0, 2, 0]]", "(({v}) if {b} else ({v}))"],
    "A": [Form("A", 2), "({A})*({v})", "({A}) - ({s})", "abs({A})", "stack([{v}, {v}])",
          "cumsum({A}, axis=1)", "sort({A}, axis=0)"],
    "i": ["0", "1", "2", "int(abs({s})) % 3", "argmax({v})"]}
SHAPES: dict[str, tuple[int, ...]] = {"x": (), "y": (), "v": (3,), "A": (2, 3)}
HEADS = ("input x = 1\ninput y = 2\n", "input v = [1, 2, 3]\ninput A = [[1, 2, 3], [4, 5, 6]]\n")
GRAMMARS = (Grammar(OF_NUMBERS, dict.fromkeys("sb", 0.2)),
            Grammar(OF_ARRAYS, dict.fromkeys("svAbi", 0.2)))


def columns_of(draw: random.Random, arrays: bool, rows: int) -> dict[str, Any]:
    """Return values of the inputs in so many rows; many lie on kinks and edges."""
    shapes = [(name, (rows, *shape)) for name, shape in [*SHAPES.items()][:4 if arrays else 2]]
    return {name: np.array([draw.choice(GRID) for _ in range(math.prod(shape))]).reshape(shape)
            for name, shape in shapes}


@pytest.mark.parametrize("share", range(4))
@pytest.mark.parametrize("arrays", [False, True])
def test_random_programs(arrays: bool, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "PATIENCE", 1)
    monkeypatch.setattr(prepared, "PATIENCE_OF_ARRAYS", 1)
    for seed in range(1000*share, 1000*share + COUNT):
        draw = drawn(seed)
        text = "".join(HEADS[:1 + arrays]) + Draw(
            GRAMMARS[arrays], draw, {"s": ["x", "y"], "v": ["v", "v"]}).text("program", 4)
        columns = columns_of(draw, arrays, 7)
        command = draw.choice(("grad", "jac", "hess"))
        try:
            compare(text, command, columns)
            check(loads(text), columns)
            together(text, columns, monkeypatch)
        except Exception as problem:
            raise AssertionError(f"seed {seed}\n{text}") from problem


COUNT = many(3, 6)


def together(text: str, columns: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines and loops run together against one operation after the other."""
    found = []
    for long, patience in ((0, 2), (10**9, 10**9)):
        with monkeypatch.context() as patched:
            patched.setattr(programs, "LONG", long)
            patched.setattr(lines, "WORTH", 1)
            patched.setattr(loops, "PATIENCE", patience)
            patched.setattr(loops, "WORTH", 1)
            program = loads(text)
            found.append([answered(partial(alone, program, "gradient", at))
                          for at in points_of(columns)[:3]])
    for a, b in zip(*found, strict=True):
        same(a, b)
