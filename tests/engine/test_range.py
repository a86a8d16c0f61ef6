"""Derivatives at extreme points: right within conditioning, or noted.

Every elementwise row of one argument, alone and in chains of two and three with products,
quotients, sums and powers of huge and tiny numbers between them, to second order, against mpmath at
1,400 digits. Conditioning is what the true derivative does when the source, or the value, slope or
curvature of a link of the chain, changes by some units in the last place.

GRADCLI_RANGE_SEED and GRADCLI_RANGE_COUNT choose other programs, and more of them.
"""

from __future__ import annotations

import math
import os
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from asked import ok
from conftest import folded
from mpmath import mp, mpf
from references import FUNCTIONS
from transcripts import in_process

import gradcli
from gradcli import questions
from gradcli.ops import PUBLIC, TABLE
from gradcli.python.program import loads
from gradcli.questions import Question
from gradcli.questions.many.prepared import Prepared
from gradcli.questions.steps.steps import steps
from gradcli.questions.why import why

SEED = int(os.environ.get("GRADCLI_RANGE_SEED", "1"))
COUNT = int(os.environ.get("GRADCLI_RANGE_COUNT", "40"))
DIGITS = 1400
# What mpmath takes seconds for at so many digits, or does not have beyond moderate numbers; steps.
SLOW = frozenset((
    "zeta", "polygamma", "digamma", "lgamma", "gamma", "erfinv", "erfcinv", "ndtri", "ci", "ei",
    "e1", "li", "shi", "chi", "si", "fresnels", "fresnelc", "lambertw", "ellipk",
    "ellipe_complete", "dawsn", "erfi", "sinc", "log_ndtr", "sign"))
ROWS = sorted(name for name, row in TABLE.items()
              if name in PUBLIC and name in FUNCTIONS and name not in SLOW and row.elementwise
              and row.rules and len(row.parameters) == 1)
GROWING = frozenset("exp exp2 expm1 sinh cosh sech csch tanh coth sigmoid log_sigmoid softplus"
                    " silu logcosh elu selu erf erfc erfcx ndtr gelu_erf sec csc".split())
PERIODIC = frozenset("sin cos tan sec csc cot".split())
NUMBERS = (1e300, 1e-300, 1e150, 1e-150, 1e-40, 1e20, 400.0, 2.0, -3.0, 0.5, 5e-324)
POWERS = (2.0, 3.0, 60.0, -1.0, -2.0, 0.5, -0.5, 1.5, -50.0, 1 / 3)
POINTS = (1e-300, 1e-200, 1e-20, 0.1, 0.7, 1.0, 3.0, 19.8277, 26.5, 40.0, 250.0, 356.0, 400.0,
          700.0, 709.5, -745.0, -400.0, -37.0, -1.0, -0.3, 1e10, 1e100, 1e200, 1e300, 5e-324,
          1e-310, 745.0)
EPSILON = mpf(2) ** -44
# Below this a number is neither right nor wrong.
FLOOR = 1e-304

Link = tuple[str, Callable[[mpf, mpf], mpf]]


class Skipped(Exception):
    """Too large for a reference, or outside of the domain."""


def link(rng: random.Random) -> Link:
    """The text of a link of {0}, and its function of the source and of what comes before."""
    kind = rng.random()
    if kind < 0.5:
        return of_row(rng.choice(ROWS))
    if kind < 0.7:
        c = rng.choice(NUMBERS)
        sign = rng.choice("*/+-")
        function: dict[str, Callable[[mpf, mpf], mpf]] = {
            "*": lambda x, v: v * c, "/": lambda x, v: c / v, "+": lambda x, v: v + c,
            "-": lambda x, v: c - v}
        return (f"(({c!r}){sign}({{0}}))" if sign in "/-" else f"(({{0}}){sign}({c!r}))",
                function[sign])
    if kind < 0.85:
        n = rng.choice(POWERS)
        return f"(({{0}})^({n!r}))", lambda x, v: raised(v, n)
    sign = rng.choice("*/+")
    with_source: dict[str, Callable[[mpf, mpf], mpf]] = {
        "*": lambda x, v: v * x, "/": lambda x, v: x / v, "+": lambda x, v: v + x}
    return f"(x{sign}({{0}}))", with_source[sign]


def of_row(name: str) -> Link:
    reference = cache(FUNCTIONS[name])      # `truth` asks three times for most numbers

    def function(x: mpf, v: mpf) -> mpf:
        if (name in GROWING and abs(v) > 1e5) or (name in PERIODIC and abs(v) > 1e6):
            raise Skipped
        found = reference(v)
        if not isinstance(found, mpf):
            raise Skipped
        return found

    return f"{name}({{0}})", function


def raised(v: mpf, n: float) -> mpf:
    if v < 0 and n != int(n):
        raise Skipped
    return mp.power(v, int(n) if n == int(n) else mpf(n))


def truth(links: Sequence[Link], x: float) -> tuple[list[mpf], list[mpf]]:
    """Value, first and second derivative, and by how much each may be off."""
    with mpmath.workdps(DIGITS):
        h = abs(mpf(x)) * mpf(10) ** -40

        def derivatives(values: Sequence[mpf]) -> list[mpf]:
            low, here, high = values
            return [here, (high - low) / (2 * h), (high - 2 * here + low) / h**2]

        def chain(which: int, order: int) -> list[mpf]:
            """The derivatives, with one link off in its value, slope or curvature."""
            source = values = off([mpf(x) + s * h for s in (-1, 0, 1)], order if which == 0 else -1)
            for k, (_, function) in enumerate(links, 1):
                values = off([function(at, v) for at, v in zip(source, values, strict=True)],
                             order if k == which else -1)
            if not all(map(mp.isfinite, values)):
                raise Skipped
            return derivatives(values)

        found = chain(-1, 0)
        error = [abs(f) * mpf(10) ** -9 + FLOOR for f in found]
        for which in range(len(links) + 1):
            for order in range(3):
                error = [e + 4 * abs(a - b) for e, a, b in zip(
                    error, chain(which, order), found, strict=True)]
        return found, error


def off(values: Sequence[mpf], order: int) -> list[mpf]:
    """Values at three neighbouring points, a little off in a derivative."""
    low, here, high = values
    if order == 0:
        return [v * (1 + EPSILON) for v in values]
    if order == 1:
        return [here + (v - here) * (1 + EPSILON) for v in values]
    bend = EPSILON * (low - 2 * here + high) / 2 if order == 2 else 0
    return [low + bend, here, high + bend]


def told(text: str, x: float) -> list[tuple[float, list[str]]]:
    """Value, first and second derivative as gradcli answers them, with the notes of each."""
    program = loads(text)
    out = []
    for ask in (questions.grad, questions.hess):
        found = ask(Question(program, at={"x": x}))["results"][0]
        notes = [n["code"] for n in found["notes"]]
        part = (found.get("sources") or found["blocks"])[0]
        notes += [n["code"] for n in part["notes"]]
        if not out:
            out.append((found["value"], notes))
            out.append((part["gradient"], notes))
        else:
            out.append((part["hessian"], notes))
    return out


def wrong(links: Sequence[Link], x: float) -> str:
    """What is wrong without a note, or an empty text; raises Skipped."""
    text = "x"
    for template, _ in links:
        text = template.format(text)
    try:
        found, error = truth(links, x)
    except (ArithmeticError, ValueError, TypeError, mp.NoConvergence):
        raise Skipped from None
    answer = told(text, x)
    for order, ((got, notes), true, off) in enumerate(zip(answer, found, error, strict=True)):
        if not math.isfinite(got):
            if abs(true) < 1e307 and not notes:
                return f"{text} at {x!r}: order {order} is {got} without a note"
        elif not abs(mpf(got) - true) <= off and not notes:
            return (f"{text} at {x!r}: order {order} is {got!r}, right {mp.nstr(true, 8)}"
                    f" +- {mp.nstr(off, 3)}")
    return ""


@pytest.mark.parametrize("name", ROWS)
def test_rows_at_extreme_points(name: str) -> None:
    rng = random.Random(f"{SEED} {name}")
    failed, tried = [], 0
    for x in rng.sample(POINTS, min(COUNT // 13, len(POINTS))):
        factor = rng.choice((1e300, 1e-300, 1e100, 1.0))
        try:
            failed.append(wrong([of_row(name), (f"(({{0}})*({factor!r}))",
                                                lambda _, v, c=factor: v * c)], x))
            tried += 1
        except Skipped:
            continue
    assert tried or COUNT < 13 * len(POINTS)
    assert not [f for f in failed if f]


@pytest.mark.parametrize("part", range(10))
def test_chains_at_extreme_points(part: int) -> None:
    rng = random.Random(SEED * 1000 + part)
    failed, tried = [], 0
    for _ in range(COUNT // 10):
        links = [link(rng) for _ in range(rng.choice((2, 3)))]
        try:
            failed.append(wrong(links, rng.choice(POINTS)))
            tried += 1
        except Skipped:
            continue
    assert tried
    assert not [f for f in failed if f]


@pytest.mark.parametrize(("text", "second"), [
    ("x^x", math.inf), ("x^sin(x)", math.nan), ("x^(2x)", math.inf), ("(x^2)^x", math.nan),
    ("sqrt(x)^x", math.nan)])
def test_zero_to_a_power_that_is_zero_there(text: str, second: float) -> None:
    """Falls from 1 with an infinite slope; what nobody knows about it is NaN with a note."""
    _, (slope, notes), (bend, more) = told(text, 0.0)
    assert slope == -math.inf
    assert notes == ["nan-infinite-slope"]
    assert bend == second or (math.isnan(second) and math.isnan(bend))
    assert "nan-infinite-slope" in more


@pytest.mark.parametrize(("base", "x", "slope"), [("0", 2.0, 0.0), ("0", -1.0, math.nan)])
def test_powers_of_zero_as_in_tensorflow(base: str, x: float, slope: float) -> None:
    _, (first, _), (second, notes) = told(f"{base}^x", x)
    for found in (first, second):
        assert found == slope or (math.isnan(found) and math.isnan(slope))
    assert notes


# --- everywhere derivatives come from ---------------------------------------------------------

# text, point, first and second derivative: a slope, an adjoint or a tangent on the way is no float.
LOST = [("x^2/exp(x^2)", 19.8277, -2.84585455e-167, 1.124221808e-165),
        ("cosh(x)^(-2)", 250.0, -5.69966113e-217, 1.13993223e-216),
        ("ln(1+exp(x))", 400.0, 1.0, 0.0), ("ln(x^60)", 1000.0, 0.06, -6e-5),
        ("tanh(x)*1e300", 400.0, 1.46714983e-47, -2.93429967e-47)]


def close(a: Any, b: float) -> bool:
    return bool(abs(float(a) - b) <= 1e-8 * abs(b) + 1e-15 * (abs(b) < 1e-300))


@pytest.mark.parametrize(("text", "x", "first", "second"), LOST)
def test_every_way_to_a_derivative(text: str, x: float, first: float, second: float) -> None:
    program = loads(text)
    for mode in ("reverse", "forward"):
        (got,) = questions.grad(Question(program, at={"x": x}, mode=mode))["results"][0]["sources"]
        assert close(got["gradient"], first)
    array = np.array([0.5, x])
    (got,) = questions.jac(Question(program, at={"x": array}))["results"][0]["sources"]
    assert close(got["jacobian"][1][1], first)
    assert got["jacobian"][0][1] == 0
    summed = loads(f"sum({text})")
    (got,) = questions.grad(Question(summed, at={"x": array}))["results"][0]["sources"]
    assert close(got["gradient"][1], first)
    for mode in ("reverse", "forward"):
        question = Question(summed, at={"x": array}, mode=mode)
        (got,) = questions.hess(question)["results"][0]["blocks"]
        assert close(got["hessian"][1][1], second)
    # A derivative that the file takes itself is recorded, and so is that of it.
    (got,) = questions.grad(Question(loads(f"f(x) = {text}\ny = f'(x)\ny"), at={"x": x},
                              wrt=["x"]))["results"]
    assert close(got["value"], first)
    assert close(got["sources"][0]["gradient"], second)


@pytest.mark.parametrize(("text", "x", "first", "second"), LOST)
def test_many_points(text: str, x: float, first: float, second: float) -> None:
    at = f"x=[0.5,{x!r},0.25]"
    for command, expected in (("grad", first), ("jac", first), ("hess", second)):
        lines = ok(command, "-e", text, "--points", at, "--format", "csv").splitlines()
        assert close(lines[2].split(",")[-1], expected)
    for question, expected in (("gradient", first), ("hessian", second)):
        for point, named in ((x, text), (np.array([0.5, x]), f"sum({text})")):
            asked = Prepared(loads(named), None, None, question)
            for _ in range(22):
                asked({"x": point * 0 + 0.5})
            _, found = asked({"x": point})
            g = found["x"]["x"] if question == "hessian" else found["x"]
            assert close(g if type(point) is float else g[(-1,) * g.ndim], expected)


def test_tapes_and_custom_gradients() -> None:
    @gradcli.custom_gradient
    def twice(x: Any) -> Any:
        return 2.0 * x, lambda g: 2.0 * g

    x = gradcli.Variable(200.0)
    with gradcli.GradientTape() as outer:
        with gradcli.GradientTape() as inner:
            y = gradcli.ops.log(1.0 + gradcli.ops.exp(twice(x)))
        g = inner.gradient(y, x)
    assert float(g) == 2.0
    assert float(outer.gradient(g, x)) == 0.0


@pytest.mark.parametrize(("x", "slopes"), [
    ([[100.0, 2.0, 3.0]], [[1.0, -1.0, 0.0]]),
    ([[90.0, 2.0, 3.0]], [[1.0, -1.0, 1.6458115e-38]]),
    ([[1000.0, 2.0, 3.0]], [[1.0, -1.0, 0.0]])])
def test_softmax_of_distant_numbers_in_float32(x: list[list[float]], slopes: list[list[float]]
                                               ) -> None:
    """As TensorFlow 2.21 answers: a slope of 7e-43 beside it must not spoil the others."""
    logits = gradcli.Variable(np.asarray(x, np.float32))
    with gradcli.GradientTape() as tape:
        loss = -gradcli.ops.sum(np.asarray([[0.0, 1.0, 0.0]], np.float32)
                                * gradcli.ops.log_softmax(logits))
    assert tape.gradient(loss, logits).numpy() == pytest.approx(np.asarray(slopes), abs=1e-36)


def test_float32() -> None:
    """Its range is smaller: 1/cosh(x)^2 at 60 has the slope -8 exp(-120)."""
    question = Question(loads("var x: float32 = 40.0\ncosh(x)^(-2)*1e30"))
    found = questions.grad(question)["results"][0]
    assert close(found["sources"][0]["gradient"], -8e30 * math.exp(-80.0)) or abs(
        found["sources"][0]["gradient"] / (-8e30 * math.exp(-80.0)) - 1) < 1e-5


def test_a_value_that_is_not_right_has_a_note() -> None:
    for command in (questions.evaluate, questions.grad):
        found = command(Question(loads("exp(-800x)*1e300"), at={"x": 1.0}))["results"][0]
        assert [n["code"] for n in found["notes"]] == ["range-value"]
    assert close(found["sources"][0]["gradient"], -2.93429967e-45)


@folded
@pytest.mark.parametrize("constant", [
    "exp(-800)*1e300", "exp(-800)*1e100", "1e-200*1e-200", "1e-200*1e-200*1e100", "exp(-5)*2",
    "1 - 1", "0", "0.0e-5", "(1e-200)^2*1e300", "exp(10)/exp(710)*1e50", "sin(0)", "1/exp(750)"])
@pytest.mark.parametrize("text", ["{}*x", "x*({})", "a = {}\na*x", "f(t) = t*({})\nf(x)"])
def test_a_constant_that_is_not_right_has_a_note(constant: str, text: str) -> None:
    """Of numbers alone, which no tape sees; the reference has a range without end."""
    with mp.workdps(30):
        names = {name: getattr(mp, name) for name in ("exp", "sin")}
        right = eval(re.sub(r"([0-9.]+(e-?[0-9]+)?)", r"mp.mpf('\1')", constant).replace(
            "^", "**"), {"mp": mp, **names})
    for command in (questions.evaluate, questions.grad):
        found = command(Question(loads(text.format(constant)), at={"x": 1.0}))["results"][0]
        wrong = float(right) != 0.0 and found["value"] == 0.0
        assert [n["code"] for n in found["notes"]] == ["range-value"]*wrong


@pytest.mark.parametrize(("text", "said"), [
    ("x*1e-330", "`1e-330` is too small"), ("x/1e400", "`1e400` is too large"),
    ("f(t) = t + 0.5e-400\nf(x)", "`0.5e-400` is too small"), ("x*0.0e-400", ""), ("x*0", "")])
def test_a_number_that_is_no_float_has_a_note(text: str, said: str) -> None:
    notes = questions.grad(Question(loads(text), at={"x": 1.0}))["results"][0]["notes"]
    assert [n["message"][:len(said)] for n in notes] == [said]*bool(said)


def test_what_a_row_has_lost_has_a_note() -> None:
    """besselk(0, 750) is less than the smallest float; nobody knows what is left of it."""
    found = questions.grad(Question(loads("besselk(0, x)*1e300*x"), at={"x": 750.0}))["results"][0]
    codes = [n["code"] for n in (*found["notes"], *found["sources"][0]["notes"])]
    assert "range-slope" in codes or "range-value" in codes


@pytest.mark.parametrize(("text", "x", "first", "second"), LOST)
def test_sparse(text: str, x: float, first: float, second: float) -> None:
    at = {"x": np.array([0.5, x])}
    (got,) = questions.jac(Question(loads(text), at=at, sparse=True))["results"][0]["sources"]
    assert close(got["sparse"]["values"][-1], first)
    for mode in ("reverse", "forward"):
        (got,) = questions.hess(Question(loads(f"sum({text})"), at=at, sparse=True, mode=mode)
                              )["results"][0]["blocks"]
        assert close(got["sparse"]["values"][-1], second)


def test_sparse_says_what_is_not_known() -> None:
    found = questions.jac(Question(loads("besselk(0, x)*1e300*x"), at={"x": np.array([1.0, 750.0])},
                            sparse=True))["results"][0]
    assert "range-slope" in [n["code"] for n in found["sources"][0]["notes"]]


@pytest.mark.parametrize(("text", "x", "first", "second"), LOST)
def test_accumulators_and_forward_blocks(text: str, x: float, first: float, second: float) -> None:
    value = questions.evaluate(Question(loads(
        f"var x = {x!r}\nforward acc(x, 1.0):\n    y = {text}\nacc.jvp(y)")))["results"][0]
    assert close(value["value"], first)
    value = questions.evaluate(Question(loads(
        f"var x = {x!r}\nforward acc(x, 1.0):\n    tape t:\n        y = {text}\n"
        "    g = t.gradient(y, x)\nacc.jvp(g)")))["results"][0]
    assert close(value["value"], second)


def quotient(x: Any) -> Any:
    return x * x / gradcli.ops.exp(x * x + 0.0)


@pytest.mark.parametrize("n", [1, 100])
def test_python(n: int, recwarn: pytest.WarningsRecorder) -> None:
    """Of long arrays a tape keeps only what rules read."""
    x = gradcli.Variable(np.full((n, 1), 19.8277))
    ones = np.ones((n, 1))
    with gradcli.GradientTape(persistent=True) as tape, gradcli.ForwardAccumulator(x, ones) as acc:
        y = quotient(x)
    for found in (tape.gradient(y, x), tape.batch_jacobian(y, x), acc.jvp(y),
                  gradcli.ops.sum(tape.jacobian(y, x), axis=(2, 3))):
        assert all(close(g, -2.84585455e-167) for g in np.ravel(found.numpy()))
    with gradcli.GradientTape() as tape:
        y = gradcli.ops.exp((x - 219.8277) * 4.0 + x * 0.0) * 1e300
    assert all(close(g, 4 * 3.667874584e-48) for g in np.ravel(tape.gradient(y, x).numpy()))
    assert not recwarn.list


def test_python_warns_where_it_cannot_know() -> None:
    """Batch axes and complex numbers have no wide numbers."""
    x = gradcli.Variable(19.8277)
    with gradcli.GradientTape() as tape:
        z = gradcli.ops.complex(x, 0.0 * x)
        y = gradcli.ops.real(z * z / gradcli.ops.exp(z * z))
    with pytest.warns(RuntimeWarning, match="a derivative may be wrong"):
        tape.gradient(y, x)
    v = gradcli.Variable(np.array([400.0, 1.0]))
    with gradcli.GradientTape() as outer:
        with gradcli.GradientTape() as tape:
            y = gradcli.ops.log(1.0 + gradcli.ops.exp(v))
        total = gradcli.ops.sum(tape.jacobian(y, v))
    with pytest.warns(RuntimeWarning, match="a derivative may be wrong"):
        outer.gradient(total, v)
    program = loads("z = complex(x, 0.0)\nreal(z*z/exp(z*z))")
    found = questions.grad(Question(program, at={"x": 19.8277}))["results"][0]
    assert "range-slope" in [n["code"] for n in found["sources"][0]["notes"]]


@pytest.mark.parametrize(("command", "text", "value", "rows"), [
    ("grad", "besselk(0, x)*1e300*x", None, 1), ("eval", "besselk(0, x)*x^20", None, 1),
    ("eval", "exp(-x)*x^20", 0.0, 1), ("grad", "exp(-800*v)*1e300*x", 3.667874584e-48, 3),
    ("grad", "sum([1, 2]*exp(-800*v))*1e300*x", 3 * 3.667874584e-48, 3)])
def test_rows_that_may_be_wrong_are_counted(command: str, text: str, value: float | None,
                                            rows: int) -> None:
    def asked(text: str) -> tuple[str, str]:
        status, out, err = in_process([
            command, "-e", text, "--points", "x=[1,750,2]", "--format", "csv",
            *(["--at", "v=1"] if "v" in text else [])])
        assert status == 0
        return out.splitlines()[2], err

    row, said = asked(text)
    assert f"gradcli: {rows} row{'s' * (rows > 1)} may be wrong" in said
    assert value is None or close(row.split(",")[-1], value)
    assert "may be wrong" not in asked("exp(-x^2)*x")[1]


def test_numbers_of_tables_that_are_no_floats_are_told() -> None:
    for mode in ("reverse", "forward"):
        found = steps(Question(loads("x^2/exp(x^2)"), at={"x": 19.8277}, mode=mode)
                              )["results"][0]
        (said,) = [n["message"] for n in found["notes"] if n["code"] == "range-shown"]
        assert "∂v4/∂v3 is about -1.317e-339" in said
        assert ("df/dv3 is about -1.317e-339" in said) == (mode == "reverse")
        last = found["steps"][-1]
        if mode == "forward":
            assert close(last["tangents"]["x"], -2.84585455e-167)
    (source,) = why(Question(loads("cosh(x)^(-2)"), at={"x": 250.0}))["results"][0]["sources"]
    assert [n["message"] for n in source["notes"] if "is about -3.043e-325" in n["message"]]
    (source,) = why(Question(loads("cosh(x)^(-2)"), at={"x": 2.0}))["results"][0]["sources"]
    assert not source["notes"]


@pytest.mark.parametrize(("text", "x", "slope"), [
    ("exp(-x)^2.5/exp(-x)^1.5", 300.0, -5.148200222412013e-131),
    ("exp(-x)*exp(-x)*exp(-x)/(exp(-2x)+exp(-x)*exp(-x))", 300.0, -2.5741001112060067e-131),
    ("x^2.5/x^1.5*1e20", 1e-150, 1e20)])
def test_what_is_divided_by_may_be_very_small(text: str, x: float, slope: float) -> None:
    array = np.array([0.5, x])
    (got,) = questions.grad(Question(loads(text), at={"x": x}))["results"][0]["sources"]
    assert close(got["gradient"], slope)
    question = Question(loads(f"sum({text})"), at={"x": array})
    (got,) = questions.grad(question)["results"][0]["sources"]
    assert close(got["gradient"][1], slope)
    for point, whole in ((x, text), (array, f"sum({text})")):
        asked = Prepared(loads(whole), None, None, "gradient")
        for _ in range(25):
            asked({"x": point * 0 + 0.5})
        assert close(np.ravel(asked({"x": point})[1]["x"])[-1], slope)
    status, out, _ = in_process(["grad", "-e", text, "--points", f"x=[0.5,{x!r},0.25]",
                                 "--format", "csv"])
    assert status == 0
    assert close(out.splitlines()[2].split(",")[-1], slope)


def test_an_element_without_a_number_leaves_the_others_right() -> None:
    at = {"x": np.array([19.8277, 30.0])}
    found = loads("input x = [1, 1]\nsum(x^2/exp(x^2))").gradient(at=at, wrt="x")["x"]
    x = mpmath.mpf(19.8277)
    assert found[0] == pytest.approx(float((2*x - 2*x**3)*mpmath.exp(-x**2)), rel=1e-12)


def test_choices_in_blocks_of_points_may_be_extreme() -> None:
    for text in ("x^x", "where(x > 1, x^9, x)"):
        status, out, _ = in_process([
            "grad", "-e", text, "--points", "x=linspace(1,200,5)", "--format", "csv"])
        assert (status, out.count("\n")) == (0, 6)


def test_sums_beyond_float32_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "sums.txt"
    path.write_text("var x: float32 = [1.0, 2.0]\ny = sum(x*1e-30*1e-30*1e30*1e30)\n")
    for command in ("grad", "jac", "why"):
        assert in_process([command, str(path)])[0] in (0, 1)


V = gradcli.ops
QUIET = {
    "scaled": lambda v: 1e60 * v * v * v, "exp": lambda v: V.exp(v) * 1e60,
    "divide": lambda v: 1e60 / (v + 0.0), "wave": lambda v: V.exp(60.0 * v) * V.sin(v),
    "relu": lambda v: V.relu(v * 1e60) * v, "maximum": lambda v: V.maximum(v * v * 1e60, 0.0) * v,
    "matvec": lambda v: V.matvec(np.array([[1e60, 0.0], [1.0, 1.0]]), v * v * v),
    "infinite": lambda v: V.where(V.equal(v, np.inf), 0.0, v * v)}
LOSING = {
    "log": lambda v: V.log(1.0 + V.exp(200.0 * v)), "quotient": lambda v: v / V.exp(200.0 * v),
    "power": lambda v: V.power(V.exp(-200.0 * v), 2.0) * 1e300 * v,
    "flushed": lambda v: V.exp(-400.0 * v) * 1e300 * v,
    "sigmoid": lambda v: V.sigmoid(-400.0 * v) * 1e300 * v}


def derivative_of_rows(f: Any, point: list[float]) -> Any:
    """A gradient of a recorded Jacobian: its batch axes have no wide numbers."""
    v = gradcli.Variable(np.array(point))
    with gradcli.GradientTape() as outer:
        with gradcli.GradientTape() as tape:
            y = f(v)
        total = V.sum(tape.jacobian(y, v))
    return outer.gradient(total, v)


@pytest.mark.parametrize("name", QUIET)
@pytest.mark.parametrize("point", [[2.0, 0.5], [2.0, -1.0]])
def test_large_numbers_that_lose_nothing_are_no_doubt(
        name: str, point: list[float], recwarn: pytest.WarningsRecorder) -> None:
    derivative_of_rows(QUIET[name], point)
    assert not recwarn.list


@pytest.mark.parametrize("name", LOSING)
def test_what_was_flushed_is_a_doubt(name: str) -> None:
    with pytest.warns(RuntimeWarning, match="a derivative may be wrong"):
        derivative_of_rows(LOSING[name], [2.0, 0.5])


@pytest.mark.parametrize("name", sorted(
    name for name, op in PUBLIC.items()
    if name == op.name and ("ordering" in op.traits or name in ("real", "imag", "conj"))))
@pytest.mark.parametrize("at", [[1e-320, 0.7], [0.7, 1e-320], [1e-320, -1.0]])
def test_what_hands_numbers_on_is_in_no_doubt(name: str, at: list[float]) -> None:
    text = f"sum({name}(x, [0, 0]))" if "segment" in name else f"sum({name}(x))"
    if PUBLIC[name].name.startswith("pool"):
        text = f"sum({name}(reshape(x, shape=[1, 2, 1]), size=2))"
    (result,) = questions.grad(Question(loads(text), at={"x": np.array(at)}))["results"]
    codes = [n["code"] for n in (*result["notes"], *result["sources"][0]["notes"])]
    assert not {"range-value", "range-slope"} & set(codes)


@pytest.mark.parametrize(("text", "x", "form"), [
    ("log(exp(x)+1)*(1/3)", 1000.0, "write `softplus(x)`"),
    ("(1-cos(x))*(1/3)", 1e-9, "write `2*sin(x/2)^2`")])
def test_constants_beside_do_not_take_the_advice_away(text: str, x: float, form: str) -> None:
    (result,) = questions.grad(Question(loads(text), at={"x": x}))["results"]
    assert form in " ".join(n["message"] for n in (
        *result["notes"], *result["sources"][0]["notes"]))
