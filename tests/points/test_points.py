"""Programs at many points against the same programs asked point by point."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from conftest import folded

from gradcli.base.errors import GradcliError
from gradcli.ops import NAMES, TABLE
from gradcli.ops.wide import ROWS, Wide, wide
from gradcli.python.program import loads
from gradcli.questions import Question
from gradcli.questions.many.parts import parts_of, plain_value
from gradcli.questions.many.rows import Answers, Points

# Zeros, ties, whole numbers, both sides of every branch: where derivatives are hard.
GRID = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.25)

PROGRAMS = [
    "x^2*sin(y)", "where(x > 0, log(x), 0)", "x*where(x > 0, sqrt(x), y)", "max(x, y)^2",
    "abs(x)*y", "x^y", "sqrt(x)", "sqrt(x)^2*y", "0*log(x) + y", "sin(x)/x",
    "y = x^2 if x > 0 else 3\n2y", "floor(x)*y", "floor(x)", "clip(x, 0, 1)", "norm([x, y])",
    "prod([x, y, 2])", "cumsum([x, y])[1]^2", "sort([x, y, 1])[0]^2", "max([x, y, 1])",
    "hypot(x, y)", "atan2(x, y)", "x % y", "sign(x)*x^2", "relu(x)*y", "softmax([x, y])[0]",
    "det([[x, y], [1, 2]])", "solve([[2, x], [y, 5]], [1, 2])[0]", "f(t) = t^3\nf'(x)*y",
    "grad(x^2*y, x)", "s = 0\nfor i in range(5):\n    s = s + x^i*y\ns",
    "s = 0\nfor i in range(int(abs(x))):\n    s = s + x^i*y\ns", "np.sin(x)*y",
    "var v = 2\nv.assign(v*x)\nv*y", "input x = 1\ninput y = 1\ntape t:\n    t.watch(x)\n"
    "    z = x^2*y\ng = t.gradient(z, x)\ng*y",
    "@custom_gradient\ndef f(a):\n    def grad(u):\n        return u*5\n    return a*a\n"
    "f(x)*y", "[1/x, y, x*y] @ [x, 1, y]", "x > y", "round(x)*y", "stop_gradient(x)*x*y",
    "input x = 1\nu = x*1.0\ng = grad(where(u > 0, log(u), 0), u)\nwhere(g > -1, 1, 2)*x",
    "L = [1, 2]\nz = L[int(abs(x))]\nx^2", "s = sqrtm([[2, x], [0, y]])\nx*y",
    "erf(x)*gamma(y + 3)", "[x, y, x*y]", "L = [x, 2x]\nL[int(abs(y))]^2",
]


def compare(text: str, command: str, columns: dict[str, Any], **options: Any) -> Answers:
    """Points against single questions: values, what is missing, and which rows fail."""
    program = loads(text)
    names = list(columns)
    points = Points(Question(program, **options), command, names)
    answers = points.answers(list(columns.values()))
    for k in range(len(columns[names[0]])):
        at = {n: float(c[k]) if c.ndim == 1 else c[k] for n, c in columns.items()}
        ask = Question(program, at=at, **options)
        try:
            run = ask.run(explain=False)
            with run.record:
                expected = parts_of(ask, command, run, emit=False)
        except GradcliError as problem:
            failed = problem.code
        else:
            failed = ""
        assert (answers.failed[k].code if k in answers.failed else "") == failed
        if failed:
            continue
        for part, found, missing in zip(expected, answers.arrays, answers.missing, strict=True):
            value = plain_value(part)
            gap = missing is not None and bool(missing[k])
            assert gap == (value is None), (at, part.name(()))
            if not gap:
                np.testing.assert_allclose(found[k], value, rtol=1e-12, atol=1e-13,
                                           err_msg=f"{part.name(())} at {at}")
    return answers


def grid(names: str) -> dict[str, Any]:
    rows = np.array(list(itertools.product(GRID, repeat=len(names))))
    return dict(zip(names, rows.T, strict=True))


@pytest.mark.parametrize("text", PROGRAMS)
def test_gradients_at_hard_points(text: str) -> None:
    compare(text, "grad", grid("".join([
        n for n in "xy" if n in loads(text).default_sources])))


@pytest.mark.parametrize("text", [
    "x^2*y", "x^2*y + where(x > 0, sqrt(x), 0)", "max(x, y)", "x + y", "x^3*y^2 - y/x",
    "log(x)*y", "x^2 if x > y else y^3", "exp(sin(x*y))"])
def test_hessians_at_hard_points(text: str) -> None:
    compare(text, "hess", grid("xy"))


@pytest.mark.parametrize("text", ["[x*cos(y), x*sin(y)]", "[x*y, floor(x)]", "x^2*y", "[x, 3]"])
def test_jacobians_at_hard_points(text: str) -> None:
    compare(text, "jac", grid("xy" if "y" in text else "x"))


@pytest.mark.parametrize("text", ["x > y", "[x, y]*x", "int(x/2) + y", "a = x*y"])
def test_values_at_hard_points(text: str) -> None:
    compare(text, "eval", grid("xy"))


CHAIN = "a = x^2\nb = sin(y)\nc = a*b"


@pytest.mark.parametrize("options", [
    {"of": ["a,b"]}, {"of": ["a", "c"]}, {"of": ["c"], "wrt": ["a", "x"]}, {"mode": "forward"},
    {"unconnected": "zero", "of": ["a"]}, {"output_gradient": np.array(2.0)}, {"tf": True},
    {"at": {"y": 0.5}, "wrt": ["x"]}, {"mode": "finite"}], ids=str)
def test_options_mean_the_same(options: dict[str, Any]) -> None:
    columns = grid("xy")
    at = options.get("at", {})
    program, names = loads(CHAIN), [n for n in columns if n not in at]
    points = Points(Question(program, **options), "grad", names)
    answers = points.answers([columns[n] for n in names])
    for k in range(len(columns["x"])):
        here = {**{n: float(c[k]) for n, c in columns.items()}, **at}
        ask = Question(program, **{**options, "at": here})
        run = ask.run()
        with run.record:
            expected = parts_of(ask, "grad", run, emit=False)
        for part, found in zip(expected, answers.arrays, strict=True):
            if part.value is not None:
                np.testing.assert_allclose(found[k], plain_value(part), rtol=1e-12, atol=1e-13)


def test_titles_name_every_number() -> None:
    points = Points(Question(loads("y = [x*v[0], v[1]]")), "jac", ["x", "v"])
    points.answers([np.ones(3), np.ones((3, 2))])
    assert points.layout is not None
    assert points.layout.titles == [
        "y[0]", "y[1]", "dy[0]/dx", "dy[1]/dx", "dy[0]/dv[0]", "dy[0]/dv[1]", "dy[1]/dv[0]",
        "dy[1]/dv[1]"]
    points = Points(Question(loads("f(t) = t^3\ny = f(x)*z")), "hess", ["x", "z"])
    points.answers([np.ones(1), np.ones(1)])
    assert points.layout is not None
    assert points.layout.titles == ["y", "d2y/dxdx", "d2y/dxdz", "d2y/dzdx", "d2y/dzdz"]


def test_a_point_of_another_shape_or_kind_is_told() -> None:
    points = Points(Question(loads("input x = 1\nL = [x, 2x, 3x]\ny = L[0:int(x)]")), "eval", ["x"])
    found = points.answers([np.array([2.0, 3.0, 2.0])])
    assert {k: d.code for k, d in found.failed.items()} == {1: "E0615"}
    points = Points(Question(loads("input x = 1\ny = x > 1 if x > 0 else 3")), "eval", ["x"])
    found = points.answers([np.array([2.0, -3.0, 0.5])])
    assert {k: d.code for k, d in found.failed.items()} == {1: "E0615"}


def test_absorbing_zeros_do_not_depend_on_the_other_points() -> None:
    text = "where(x > 0, sqrt(x), 0)*y + 0*log(x)"
    columns = grid("xy")
    whole = Points(Question(loads(text)), "grad", ["x", "y"]).answers(list(columns.values()))
    for k in range(len(columns["x"])):
        alone = Points(Question(loads(text)), "grad", ["x", "y"]).answers(
            [c[k:k + 1] for c in columns.values()])
        for a, b in zip(whole.arrays, alone.arrays, strict=True):
            assert a[k].tobytes() == b[0].tobytes()


def test_what_a_recorded_zero_depends_on_is_not_lost() -> None:
    """y = 0 is a factor that absorbs in df/dx, but d2f/dxdy is 2x all the same."""
    program = loads("x^2*y + where(x > 0, sqrt(x), 0)")
    hessian = program.hessian(at={"x": -2.0, "y": 0.0})
    assert hessian["x"]["y"] == hessian["y"]["x"] == -4.0


def test_what_decided_before_a_long_loop_is_kept(prunings: list[int]) -> None:
    """Entries that lead to no value are let go of in loops; a condition is one that counts."""
    text = "input x = 0.5\ny = x if x > 1 else 3x\nk = 0*x\nwhile k < 2500:\n    k = k + 1.0\ny"
    compare(text, "grad", {"x": np.array([0.5, 2.5])})
    assert len(prunings) > 2


@pytest.mark.parametrize("text", [
    "int(x)*int(x)", "sum(int([x, x]))", "[int(x), 2]*[int(x), 3]", "int([x, 1]) % 7",
    "cumprod(int([x, 2, 3]))", "dot(int([x, 1]), int([x, 1]))", "cast(x, \"int32\") + 1",
    "mean(int([x, x]))", "int(x)*0.5"])
@pytest.mark.parametrize("rows", [3, 40])
def test_integers_wrap_at_no_point(text: str, rows: int) -> None:
    xs = np.where(np.arange(rows) % 7 == 1, 9e18, 2.0)
    xs[-1] = 2147483647.0
    compare(text, "eval", {"x": xs})
    compare(f"sum({text})*x", "grad", {"x": xs})


# Where floats end, and what is beyond.
EDGES = (np.nan, np.inf, -np.inf, 0.0, 1e200, -1e200, 2.5, -3.0)
ELEMENTWISE = [row for row in TABLE.values() if row.elementwise and row.rules
               and not row.variadic and not row.internal]


def edges(count: int) -> Any:
    return np.array(list(itertools.product(EDGES[::2 if count > 2 else 1], repeat=count))).T


@pytest.mark.filterwarnings("ignore:a derivative may be wrong")
@pytest.mark.parametrize("text", [
    *[f"{row.name}({', '.join('xyz'[:len(row.parameters)])})" for row in ELEMENTWISE
      if len(row.parameters) < 4], "relu(x)*y", "min(x, y, 0)", "max(x, y, 1)", "x^y",
    "where(x > 0, x, y)*x"])
def test_one_answer_at_the_edges(text: str) -> None:
    """A point of many is answered as it is alone, and as an array of one number; by Python, too:
    asked where the numbers are alike, or one alone is none of the ordinary.
    """
    names = loads(text).default_sources
    columns = dict(zip(names, edges(len(names)), strict=True))
    found = dict(zip(names, compare(text, "grad", columns).columns()[1:], strict=True))
    program, arrays = loads(text), loads(f"sum({text})")
    for k, values in enumerate(zip(*columns.values(), strict=True)):
        at = dict(zip(names, values, strict=True))
        answers = [arrays.gradient(at={n: np.array([v]) for n, v in at.items()})]
        if len(set(values)) == 1 or sum(v != 2.5 for v in values) == 1:
            answers.append(program.gradient(at={n: float(v) for n, v in at.items()}))
        for n, (numbers, missing) in found.items():
            for answer in answers:
                assert (answer[n] is None) == (missing is not None)
                if missing is None:
                    np.testing.assert_allclose(np.ravel(answer[n]), numbers[[k]], rtol=1e-9,
                                               err_msg=f"{n} at {at}")


@folded
@pytest.mark.parametrize("name", sorted(
    {row.name for row in ELEMENTWISE if set(row.roles) == {"data"}} & ROWS.keys()))
def test_wide_numbers_have_the_edges_of_floats(name: str) -> None:
    row = NAMES[name]
    columns = edges(len(row.parameters))
    with np.errstate(all="ignore"):
        found = row(*map(wide, columns))
        found = found.floats() if isinstance(found, Wide) else found
    np.testing.assert_allclose(found, row(*columns), rtol=1e-9)
