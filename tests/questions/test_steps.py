"""gradcli steps: every cell against mpmath, every sample against its golden file."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import mpmath
import pytest
from asked import loaded, ok, valid
from commands import run
from conftest import OnPage, folded
from folders import DATA, ROOT
from mpmath import mp, mpf
from transcripts import blocks, in_process, on_terminal, question
from transcripts import steps as transcript

from gradcli.cli import main
from gradcli.cli.environment import Environment
from gradcli.ops import TABLE
from gradcli.ops.kinds import UNREGISTERED, Op
from gradcli.python.program import loads
from gradcli.questions.steps import trace
from gradcli.questions.steps.text import applied, name, written
from gradcli.questions.steps.trace import KINDS, NAMES, TAUGHT, rule_name, taught
from gradcli.render.terminal import fold

GOLDEN = DATA / "steps"
# What is asked where a sample has no variable or input of its own, or would train for a minute.
WRT = {"expr": ["--wrt", "x"],
       "digits": ["--at", "epochs=1", "--of", "loss", "--wrt", "b2,w3,b3", "-q"]}
SAMPLES = sorted(path for folder in ("samples", "samples/seeds")
                 for path in (ROOT / folder).glob("*.txt"))

FORMULAS: list[tuple[str, dict[str, float]]] = [
    ("x^2*sin(x)", {"x": 1.5}),
    ("x*y + sin(x*y)/y", {"x": 0.7, "y": -1.25}),
    ("exp(-x^2/2)/(1 + x^2)", {"x": 0.5}),
    ("log(x)^3 - 2*sqrt(x) + 1/x", {"x": 2.5}),
    ("x^y", {"x": 1.5, "y": 2.25}),
    ("2^x + x^-2", {"x": 1.75}),
    ("tan(x)*cos(x)/sin(y)", {"x": 0.4, "y": 1.1}),
    ("sinh(x) - cosh(y)*tanh(x*y)", {"x": 0.3, "y": 0.8}),
    ("atan(x)/asin(y) + acos(x*y)", {"x": 0.6, "y": 0.35}),
    ("abs(x)*exp(y) - abs(y)", {"x": -2.0, "y": 0.25}),
    ("a = x + y\nb = a^2 - x\na*b/(a + b)", {"x": 1.0, "y": 3.0}),
    ("z = x\nfor i in range(4):\n    z = sin(z) + x*z\nz", {"x": 0.9}),
    ("100(y - x^2)^2 + (1 - x)^2", {"x": -1.2, "y": 1.0}),
    ("where(x > 1, x^2, x^3)*y", {"x": 1.5, "y": 2.0}),
    ("log2(x) + log10(y) + exp2(x - y)", {"x": 3.0, "y": 2.0}),
    ("hypot(x, y) - atan2(y, x)", {"x": 3.0, "y": -4.0}),
    ("erf(x)*gamma(y)", {"x": 0.5, "y": 3.5}),
    ("1/(1 + exp(-x)) - sigmoid(x)^2", {"x": 0.3}),
    ("max(x, y) + min(x^2, y)", {"x": 1.25, "y": 0.5}),
    ("asinh(x) + acosh(y) + cbrt(x*y)", {"x": 0.5, "y": 1.5}),
    ("x^3/(1 + y^2) - y/x", {"x": 1.25, "y": -0.5}),
    ("exp(x*y)*cos(x - y)", {"x": 0.4, "y": 0.9}),
    ("log(1 + exp(x)) + log(x^2 + y^2)", {"x": 0.6, "y": -1.75}),
    ("sqrt(x^2 + y^2)^3", {"x": 1.5, "y": 2.0}),
    ("x^0.5*y^-1.5", {"x": 2.25, "y": 1.75}),
    ("(x + y)/(x - y)", {"x": 3.5, "y": 1.25}),
    ("1/(x*y) + 1/x^2", {"x": 0.8, "y": -2.5}),
    ("sin(cos(tan(x)))", {"x": 0.35}),
    ("exp(-(x - y)^2/2)/sqrt(2*y)", {"x": 1.0, "y": 0.25}),
    ("x*x*x - x*x + x", {"x": -1.5}),
    ("x^x", {"x": 1.75}),
    ("3^(x*y)", {"x": 0.5, "y": 1.5}),
    ("tanh(x)^2 + 1/cosh(x)^2 + sinh(y)", {"x": 0.7, "y": -0.4}),
    ("abs(x - y)*sign(y) + x", {"x": 1.5, "y": -2.5}),
    ("min(x, y^2) - max(x*y, 1)", {"x": 2.5, "y": 1.25}),
    ("atan2(x, y) + hypot(x, 2)", {"x": 1.5, "y": -0.75}),
    ("log10(x)*log2(y) - exp2(x/y)", {"x": 5.0, "y": 3.0}),
    ("a = x*y\nb = sin(a) + a\nc = b/a\nb*c - a", {"x": 1.1, "y": 0.6}),
    ("z = y\nfor i in range(3):\n    if z > 1:\n        z = z/2 + x\n    else:\n"
     "        z = z*x + 1\nz", {"x": 0.3, "y": 1.7}),
    ("def g(u, v):\n    return u*exp(-v)\ng(x, y) + g(y, x)", {"x": 0.45, "y": 1.2}),
]
FUNCTIONS: dict[str, Any] = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "atan": mp.atan, "asin": mp.asin,
    "acos": mp.acos, "abs": abs, "sign": mp.sign, "sech": mp.sech, "hypot": mp.hypot,
    "log2": lambda x: mp.log(x, 2), "log10": mp.log10, "exp2": lambda x: mpf(2) ** x,
    "atan2": mp.atan2, "erf": mp.erf, "gamma": mp.gamma, "digamma": mp.digamma,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "maximum": max, "minimum": min,
    "asinh": mp.asinh, "acosh": mp.acosh, "cbrt": mp.cbrt, "pi": mp.pi, "e": mp.e,
    "where": lambda c, x, y: x if c else y,
}


def evaluated(text: str, values: dict[str, Any]) -> Any:
    """A formula of a trace by mpmath, its numbers exact."""
    exact = re.sub(r"(?<![\w.])(\d+\.?\d*(?:e[+-]?\d+)?)", r"mpf('\1')", text.replace("^", "**"))
    return eval(exact, {"mpf": mpf, **FUNCTIONS, **values})


def near(found: float, truth: Any, scale: Any = 0) -> bool:
    return abs(mpf(found) - truth) <= 1e-13 * (abs(truth) + abs(scale)) + mpf(10) ** -14


def traced(formula: str, at: dict[str, float], *more: str) -> dict[str, Any]:
    given = ",".join(f"{k}={v}" for k, v in at.items())
    (result,) = loaded(
        "steps", "-e", formula, "--at", given, "--wrt", ",".join(at), *more)["results"]
    return dict(result)


def again(steps: list[dict[str, Any]], start: dict[str, Any], fixed: dict[str, Any]
          ) -> dict[str, Any]:
    """All values by mpmath, from what the operations of the trace say."""
    values = dict(start)
    for step in steps:
        if step["operation"] is not None:
            values[step["name"]] = evaluated(step["operation"], values)
        if step["name"] in fixed:
            values[step["name"]] = fixed[step["name"]]
    return values


@pytest.mark.parametrize(("formula", "at"), FORMULAS, ids=[f for f, _ in FORMULAS])
def test_every_cell_is_right(formula: str, at: dict[str, float]) -> None:
    with mpmath.workdps(50):
        result = traced(formula, at)
        start: dict[str, Any] = {k: mpf(v) for k, v in at.items()}
        steps = result["steps"]
        values = again(steps, start, {})
        (end,) = result["result"]
        h = mpf(10) ** -20
        for step in steps:
            truth = values[step["name"]]
            if step["operation"] is not None and not isinstance(step["value"], bool):
                assert near(step["value"], truth), step
                assert near(step["value"], evaluated(step["formula"], values)), step
            for partial in step["partials"] if step["kind"] == "step" else ():
                moved = dict(values)
                moved[partial["wrt"]] += h
                up = evaluated(step["operation"], moved)
                moved[partial["wrt"]] -= 2 * h
                slope = (up - evaluated(step["operation"], moved)) / (2 * h)
                assert near(partial["value"], slope, truth), (step, partial)
                if partial["formula"] is not None:
                    assert near(partial["value"], evaluated(partial["formula"], values)), partial
            if step["kind"] in ("step", "input"):
                here = values[step["name"]]
                ends = [again(steps, {**start, step["name"]: here + d}, {step["name"]: here + d})[
                    end] for d in (h, -h)]
                assert near(step["adjoint"], (ends[0] - ends[1]) / (2 * h), values[end]), step


@pytest.mark.parametrize(("formula", "at"), FORMULAS, ids=[f for f, _ in FORMULAS])
def test_every_tangent_is_right(formula: str, at: dict[str, float]) -> None:
    with mpmath.workdps(50):
        result = traced(formula, at, "--mode", "forward")
        start: dict[str, Any] = {k: mpf(v) for k, v in at.items()}
        h = mpf(10) ** -20
        for source in at:
            up, down = [again(result["steps"], {**start, source: start[source] + d}, {})
                        for d in (h, -h)]
            for step in result["steps"]:
                found = step["tangents"][source]
                if isinstance(step["value"], bool):
                    continue
                truth = (up[step["name"]] - down[step["name"]]) / (2 * h)
                assert near(found or 0.0, truth, up[step["name"]]), (step, source)
                assert found is not None or truth == 0


def test_the_sum_of_what_comes_through_the_steps_is_the_adjoint() -> None:
    for formula, at in FORMULAS:
        result = traced(formula, at)
        adjoints = {s["name"]: s["adjoint"] for s in result["steps"]}
        for step in result["steps"]:
            if step["through"]:
                total = sum([adjoints[t["step"]] * t["value"] for t in step["through"]])
                assert total == pytest.approx(step["adjoint"], rel=1e-12, abs=1e-15), step


# --- the table of rules -----------------------------------------------------------------------

ELEMENTWISE = [op for op in TABLE.values() if op.elementwise]


@folded
@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_every_elementwise_rule_has_a_name(op: Op) -> None:
    for k in range(len(op.parameters)):
        found = rule_name(op, k, [False] * len(op.parameters))
        assert found == NAMES.get(op.name) or op.name in found or found in KINDS.values() or (
            op.name == "power" and k == 1)


def test_the_names_of_rules_are_of_rows() -> None:
    assert set(NAMES) <= set(TABLE)
    assert set(TAUGHT) <= set(TABLE)


@pytest.mark.parametrize("op", [TABLE[n] for n in (*TAUGHT, "power")], ids=lambda op: op.name)
def test_what_is_taught_is_what_the_rule_computes(op: Op) -> None:
    shown = [name(p) for p in op.parameters]
    assert len(TAUGHT.get(op.name, op.rules)) == len(op.rules)
    for share in (0.2, 0.45, 0.9):
        at = [low + share * (high - low) for low, high in op.samples]
        ans = op(*at)
        for k, rule in enumerate(op.rules):
            formula = written(taught(op, k, shown, applied(op, shown, {})))
            program = loads(formula.text.text)
            found = program.value(at={
                p: v for p, v in zip(op.parameters, at, strict=True) if p in program.names.reads})
            truth = rule(*at, ans) if callable(rule) else rule
            assert found == pytest.approx(truth, rel=1e-5), formula.text.text


def test_powers_are_written_by_what_varies() -> None:
    power = TABLE["power"]
    x = name("x")
    assert written(taught(power, 0, [x, 2.0], None)).text.text == "2*x"
    assert written(taught(power, 0, [x, 3.0], None)).text.text == "3*x^2"
    assert taught(power, 0, [x, 1.0], None) == 1.0
    assert written(taught(power, 1, [2.0, x], None)).text.text == "2^x*log(2)"


@folded
@pytest.mark.parametrize("op", [op for op in ELEMENTWISE if not op.internal],
                         ids=lambda op: op.name)
def test_latex_of_every_row_is_balanced(op: Op) -> None:
    operands = [name("v1") + 1 for _ in op.parameters]
    texts = [applied(op, operands, {}).tex]
    if op.rules:
        texts += [written(taught(op, k, operands, applied(op, operands, {}))).tex
                  for k in range(len(op.parameters)) if op.edge(k)]
    for text in texts:
        assert text.count("{") == text.count("}"), text
        assert text.count(r"\left") == text.count(r"\right"), text
        assert not re.search(r"\^(\{[^{}]*\}|\d)\^", text), text
        assert "\0" not in text


@pytest.mark.parametrize(("formula", "tex"), [
    ("(x + 1)^2", r"\left(x + 1\right)^{2}"), ("x - (y - 2)", r"x - \left(y - 2\right)"),
    ("exp(x)^2", r"\left(e^{x}\right)^{2}"), ("-x^2", r"-x^{2}"),
    ("x*(-2)", r"x \cdot \left(-2\right)"),
    ("(x/y)^2", r"\left(\frac{x}{y}\right)^{2}"), ("x/y*2", r"\frac{x}{y} \cdot 2"),
    ("2*(x + y)", r"2 \cdot \left(x + y\right)"), ("alpha_1*x", r"\alpha_{1} \cdot x"),
    ("1e-7*x", r"10^{-7} \cdot x"), ("2.5e20*x", r"2.5 \cdot 10^{20} \cdot x"),
    ("log(abs(x))", r"\ln\left(\left|x\right|\right)"),
    ("expm1(x)*2", r"\left(e^{x} - 1\right) \cdot 2"),
])
def test_latex_has_the_brackets_that_it_needs(formula: str, tex: str) -> None:
    names = re.findall(r"\b(?:x|y|alpha_1)\b", formula)
    result = traced(formula, dict.fromkeys(names, 1.5))
    assert result["steps"][-1]["tex"]["formula"] == tex


# --- how it looks -----------------------------------------------------------------------------


class Terminal(TextIOWrapper):
    def isatty(self) -> bool:
        return True


def at_terminal(*arguments: str, columns: int = 80, monkeypatch: pytest.MonkeyPatch
                ) -> tuple[int, str, str]:
    """Status and texts of a command whose output goes to a terminal without colour."""
    monkeypatch.chdir(ROOT)
    streams = [Terminal(BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    status = main.run(arguments, Environment(BytesIO(), *streams, variables={
        "COLUMNS": str(columns), "NO_COLOR": "1"}))
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return status, texts[0], texts[1]


def test_the_table_of_the_issue(monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = at_terminal("steps", "-e", "x^2*sin(x)", "--at", "x=1.5",
                                   monkeypatch=monkeypatch)
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    # sin(1.5) = 0.997494986604054431, cos(1.5) = 0.070737201667702910 (DLMF 4.14)
    assert out == """\
f = 2.24436 at x = 1.5

step     operation   formula so far   value
──────────────────────────────────────────────
x        input                        1.5
v1       x^2         x^2              2.25
v2       sin(x)      sin(x)           0.997495
v3 = f   v1*v2       x^2*sin(x)       2.24436

step     adjoint    local derivative              rule
───────────────────────────────────────────────────────────────────
v3 = f   1          ∂v3/∂v1 = v2 = 0.997495       product rule
                    ∂v3/∂v2 = v1 = 2.25           product rule
v2       2.25       ∂v2/∂x = cos(x) = 0.0707372   derivative of sin
v1       0.997495   ∂v1/∂x = 2*x = 3              power rule
x        3.15164

df/dx = df/dv1 * ∂v1/∂x + df/dv2 * ∂v2/∂x
      = 0.997495*3 + 2.25*0.0707372
      = 3.15164

∂v1/∂x is the derivative of one operation, df/dx that of all together
"""


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("formula", [
    "exp(-(alpha - beta)^2/(2*gamma^2))/sqrt(2*pi*gamma^2) + tanh(alpha*beta*gamma)",
    # Whose chain rule takes more than two lines.
    " * ".join(f"{f}(temperature_outside/{k})" for k, f in enumerate(
        ("sin", "cos", "exp", "tanh") * 2, 3))])
def test_tables_fit_the_terminal(
        formula: str, columns: int, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = at_terminal(
        "steps", "-e", formula, "--at",
        "alpha=1,beta=0.5,gamma=2" if "gamma" in formula else "temperature_outside=1", "--wrt",
        "alpha" if "gamma" in formula else "temperature_outside", "--mode", mode,
        columns=columns, monkeypatch=monkeypatch)
    widest = max(map(len, out.splitlines()))
    assert widest <= max(columns, 74), out
    assert "..." not in out


def test_a_long_trace_is_shortened_for_people_only(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "z = x\nfor i in range(50):\n    z = sin(z) + x\nz"
    command = ["steps", "-e", program, "--at", "x=0.5"]
    _, out, _ = at_terminal(*command, monkeypatch=monkeypatch)
    assert out.count("more; -v shows all") == 2
    _, every, _ = at_terminal(*command, "-v", monkeypatch=monkeypatch)
    assert "..." not in every
    assert "v57 " in every
    for format in ("json", "csv", "plain"):
        assert "v57" in ok(*command, "--format", format)
    assert "v57 " in ok(*command, "--format", "table")


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_rows_that_are_not_shown_change_none_that_are(format: str, mode: str) -> None:
    """Of long traces both ends are made alone; with -v everything is, and they are the same."""
    program = "z = x\nfor i in range(40):\n    z = sin(z) + x*y*z/2\nz + y"
    command = ["steps", "-e", program, "--at", "x=0.5,y=1.25", "--mode", mode, "--format", format]
    cut, every = ok(*command).splitlines(), ok(*command, "-v").splitlines()
    assert len(cut) < len(every) - 100
    shown = [line for line in cut if "-v shows all" not in line]
    assert len(cut) - len(shown) == (1 if format == "latex" else 2)
    rest = iter(every)
    # Each line that is shown is one of all lines, in the same order.
    assert all(line in rest for line in shown)


def test_long_traces_are_quick(tmp_path: Path) -> None:
    """What is not shown is not written: a fraction of the work, however long the record is."""
    program = tmp_path / "loop.txt"
    program.write_text("input x = 0.5\nz = x\nfor i in range(3000):\n    z = sin(z) + x*z\n")
    made = []
    real = trace.applied

    def counted(*arguments: Any) -> Any:
        made.append(arguments)
        return real(*arguments)

    trace.applied = counted  # type: ignore[assignment]
    try:
        out = ok("steps", str(program), "--of", "z", "--format", "markdown")
    finally:
        trace.applied = real
    assert "8941 more; -v shows all" in out
    assert 60 < len(made) < 2000


def test_a_number_is_not_broken_where_a_blank_is_near() -> None:
    assert fold("v10 = 0.997495", 12) == ["v10 =", "0.997495"]


def test_a_formula_is_folded_behind_operators() -> None:
    assert fold("exp(-((x - mu)/sigma)^2/2)", 12) == ["exp(-((x -", "mu)/sigma)^2", "/2)"]
    assert fold("x", 1) == ["x"]


def test_names_of_the_file_are_names_of_steps() -> None:
    result = traced("a = x^2\nv1 = 3*a\nv1 + a", {"x": 2.0})
    assert [s["name"] for s in result["steps"]] == ["x", "a", "v1", "w3"]


def test_a_path_that_is_cut_is_told() -> None:
    status, out, err = in_process(
        ["steps", "-e", "floor(x)*2", "--at", "x=2.5", "--format", "json"])
    assert (status, err) == (0, "")
    (result,) = json.loads(out)["results"]
    assert [s["kind"] for s in result["steps"]] == ["input", "cut", "behind"]
    (partial,) = result["steps"][1]["partials"]
    assert (partial["value"], partial["rule"]) == (None, "no derivative: a step function")
    (source,) = result["sources"]
    assert source["gradient"] is None
    assert source["reasons"][0]["code"] == "path-step-function"
    status, out, err = in_process(["steps", "-e", "floor(x)*2", "--at", "x=2.5"])
    assert "df/dx\tNone\n" in out
    assert "∂v1/∂x\tNone\n" in out
    assert "None: the path" in err


def test_constants_are_marked() -> None:
    result = traced("const c = 3\nsin(c)*x", {"x": 2.0})
    assert [(s["name"], s["kind"], s["adjoint"]) for s in result["steps"]] == [
        ("x", "input", pytest.approx(0.1411200080598672)), ("c", "constant", None),
        ("v1", "constant", None), ("v2", "step", 1.0)]


def test_arrays_have_slopes_by_element() -> None:
    (result,) = loaded("steps", "-e", "sum(x^2)", "--at", "x=[1,2,3]")["results"]
    square, total = result["steps"][1:]
    assert square["partials"][0]["value"] == [2.0, 4.0, 6.0]
    assert square["adjoint"] == [1.0, 1.0, 1.0]
    assert total["operation"] == "sum(v1)"
    (ahead,) = loaded("steps", "-e", "x^2", "--at", "x=[1,2]", "--mode", "forward")["results"]
    assert ahead["steps"][-1]["tangents"]["x"] == [[2.0, 0.0], [0.0, 4.0]]


def test_a_tape_that_keeps_little_shows_all_values(tmp_path: Path) -> None:
    """Under a tape an array that no rule reads is kept as its shape; the trace has its numbers."""
    program = tmp_path / "wide.txt"
    program.write_text("const x = linspace(-1, 2, 40)\nvar w = linspace(1, 3, 40)\ntape t:\n"
                       "    s = sum(relu(x*w + 0.5))\ng = t.gradient(s, w)\n")
    (result,) = loaded("steps", str(program), "--of", "s", "--wrt", "w")["results"]
    xs, ws = ([a + k*(b - a)/39 for k in range(40)] for a, b in ((-1, 2), (1, 3)))
    found = {s["operation"]: s["value"] for s in result["steps"]}
    products = [x*w for x, w in zip(xs, ws, strict=True)]
    assert found["x*w"] == pytest.approx(products)
    assert found["v1 + 0.5"] == pytest.approx([p + 0.5 for p in products])
    assert found["sum(v3)"] == pytest.approx(sum([max(p + 0.5, 0.0) for p in products]))


def test_a_later_state_of_a_variable_has_its_own_value(tmp_path: Path) -> None:
    program = tmp_path / "training.txt"
    program.write_text("var w = 0.5\nfor k in range(3):\n    tape t:\n        y = (3*w - 1)^2\n"
                       "    w.assign_sub(0.1*t.gradient(y, w))\n")
    # w - 0.1*2*3*(3*w - 1), twice: 0.2, 0.44
    (result,) = loaded("steps", str(program), "--of", "y")["results"]
    values = {s["operation"]: s["value"] for s in result["steps"]}
    assert values["w"] == pytest.approx(0.44)
    assert values["3*v1"] == pytest.approx(1.32)


def test_zeros_absorb_as_in_grad() -> None:
    (result,) = loaded("steps", "-e", "where(x > 0, sqrt(x), 0)", "--at", "x=0")["results"]
    assert result["sources"][0]["gradient"] == 0.0 == result["steps"][0]["adjoint"]


def test_csv_has_a_row_for_each_local_derivative() -> None:
    rows = list(csv.DictReader(io.StringIO(
        ok("steps", "-e", "x*y", "--at", "x=2,y=3", "--format", "csv"))))
    assert [(r["step"], r["operand"], r["slope"], r["adjoint"]) for r in rows] == [
        ("x", "", "", "3"), ("y", "", "", "2"), ("v1", "x", "3", "1"), ("v1", "y", "2", "1")]


def test_latex_writes_the_chain_rule_out() -> None:
    out = ok("steps", "-e", "x^2*sin(x)", "--at", "x=1.5", "--format", "latex")
    assert (r"\frac{\mathrm{d} f}{\mathrm{d} x} &= \frac{\mathrm{d} f}{\mathrm{d} v_{1}} \cdot"
            r" \frac{\partial v_{1}}{\partial x} + ") in out
    assert r"$\partial$ is the derivative of one operation, $\mathrm{d}$ that" in out
    assert out.count(r"\begin{") == out.count(r"\end{") == 2


def test_local_and_total_derivatives_have_different_symbols() -> None:
    """d/dx x*sin(x) = sin(x) + x*cos(x); sin(2) = 0.909297426825681695, cos(2) =
    -0.416146836547142387 (DLMF 4.14).
    """
    command = ["steps", "-e", "x*sin(x)", "--at", "x=2"]
    out = ok(*command, "--format", "table")
    assert "∂v2/∂x = v1 = 0.9092974268256817" in out
    assert "df/dx = df/dv1 * ∂v1/∂x + df/dv2 * ∂v2/∂x\n" in out
    plain = dict(line.split("\t") for line in ok(*command, "--format", "plain").splitlines())
    assert float(plain["∂v2/∂x = v1"]) == pytest.approx(0.909297426825681695, rel=1e-15)
    assert float(plain["df/dx"]) == pytest.approx(
        0.909297426825681695 - 2*0.416146836547142387, rel=1e-14)
    assert ok("steps", "-e", "b = 2*a\nc = a*b", "--at", "a=3", "--format", "table").count(
        "dc/da = dc/db * ∂b/∂a + ∂c/∂a\n") == 1


def test_symbols_of_terminals_without_them(gradcli: Callable[..., Any]) -> None:
    for format in ("table", "plain"):
        ran = gradcli("steps", "-e", "x*sin(x)", "--at", "x=2", "--format", format, env={
            "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        assert ran.returncode == 0
        assert ran.stdout.isascii()
        assert "\\u" not in ran.stdout
        assert "part(v2, x) = v1" in ran.stdout


def test_plain_lines_are_a_name_and_a_number() -> None:
    assert ok("steps", "-e", "a = x^2\nb = 3*a", "--at", "x=2", "--of", "a", "--of", "b",
              "--format", "plain") == (
        "a: x\t2\na: a = x^2\t4\na: da/da\t1\na: ∂a/∂x = 2*x\t4\na: da/dx\t4\n"
        "b: x\t2\nb: a = x^2\t4\nb: b = 3*a\t12\nb: db/db\t1\nb: ∂b/∂a\t3\n"
        "b: db/da\t3\nb: ∂a/∂x = 2*x\t4\nb: db/dx\t12\n")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_steps_of_samples(path: Path, golden: Callable[[Path, str], None],
                          monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [str(path.relative_to(ROOT)), *WRT.get(path.stem, [])]
    status, out, err = at_terminal("steps", *arguments, monkeypatch=monkeypatch)
    plain, _, _ = in_process(["grad", *arguments])
    assert status == plain
    golden(GOLDEN / f"{path.stem}.txt", out + err)


@pytest.mark.parametrize("format", ["table", "plain", "csv", "tsv", "markdown", "latex", "json"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_formats(format: str, mode: str, golden: Callable[[Path, str], None]) -> None:
    out = ok("steps", "samples/expr.txt", "--wrt", "x", "--format", format, "--mode", mode)
    golden(GOLDEN / f"expr.{mode}.{format}", out)


# Samples that show an error.
UNANSWERED = {
    "no_gradient_registered": "E0503", "not_persistent": "E0501", "tape_never_opened": "E0507"}


# To hold the arrays of digits.txt to the schema takes half a minute.
@pytest.mark.parametrize("path", [p for p in SAMPLES if p.stem != "digits"], ids=lambda p: p.stem)
def test_adjoints_are_the_gradients(path: Path) -> None:
    arguments = [str(path.relative_to(ROOT)), *WRT.get(path.stem, []), "--format", "json"]
    status, told, err = in_process(["grad", *arguments])
    if path.stem in UNANSWERED:
        assert (status, json.loads(err)["error"]["code"]) == (3, UNANSWERED[path.stem])
        return
    if status:      # a sample for a run: what it asks itself
        target, sources = question(path)
        arguments += ["--of", target, "--wrt", sources]
        status, told, err = in_process(["grad", *arguments])
    assert status == 0, err
    _, found, _ = in_process(["steps", *arguments])
    answer = json.loads(found)
    valid(answer, "steps")
    for grad, steps in zip(json.loads(told)["results"], answer["results"], strict=True):
        adjoints = {s["name"]: s["adjoint"] for s in steps["steps"] if s["kind"] == "input"}
        for one, other in zip(grad["sources"], steps["sources"], strict=True):
            assert one["gradient"] == other["gradient"]
            assert one["wrt"] not in adjoints or adjoints[one["wrt"]] == one["gradient"]


POINTS = ({"x": "0.7", "y": "0.4", "z": "0.2"}, {"x": "[0.7,0.2]", "y": "[0.4,0.3]", "z": "[1,2]"},
          {"x": "[[2,0.5],[0.5,3]]", "y": "[[1,2],[3,4]]", "z": "1"})


# Operations that need more than operands of one shape, or make what x has to be multiplied with.
CALLS = [text.strip() for text in """
    reshape(v, [2, 1]); broadcast_to(v, [3, 2]); set_diag(m, v); cross([x, 1, 2], [2, 0, x]);
    multi_dot([m, m]); einsum("ij,j->i", m, v); x*zeros(2); x*ones(2); x*full([2], 3.0);
    x*eye(2); x*linspace(0, 1, 3); x*logspace(0, 1, 3); x*geomspace(1, 2, 3); x*tri(2);
    x*normal([2]); x*uniform([2]); x*truncated_normal([2]); x*float(bernoulli([2]));
    x*float(randint([2])); x*glorot_uniform([2, 2]); x*glorot_normal([2, 2]);
    x*he_uniform([2, 2]); x*he_normal([2, 2]); take_along_axis(v, [1, 0]); gather(v, [1, 0]);
    gather_nd(m, [[0, 1]]); scatter([[1]], [x], [3]); tensor_scatter_add(v, [[1]], [x]);
    tensor_scatter_update(v, [[1]], [x]); top_k(v, k=1)[0]; moveaxis(m, 0, 1);
    sparse_softmax_cross_entropy(1, v); global_norm([v, m]);
    clip_by_global_norm([v, 2*v], 1.0)[0]; eigh(m)[0]; lu(m)[1]; svd(m)[0]; matrix_power(m, 2);
    boolean_mask(v, [true, false]); dynamic_partition(v, [1, 0], 2)[0]; x*one_hot([1, 0], 3);
    x*float(sequence_mask([1, 2], 3)); x*float(in_top_k([1], [v])); segment_sum(v, [0, 0]);
    segment_mean(v, [0, 0]); segment_max(v, [0, 0]); segment_min(v, [0, 0]);
    segment_prod(v, [0, 0]); unsorted_segment_sum(v, [1, 0], 2);
    unsorted_segment_mean(v, [1, 0], 2); unsorted_segment_sqrt_n(v, [1, 0], 2);
    unsorted_segment_max(v, [1, 0], 2); unsorted_segment_min(v, [1, 0], 2);
    unsorted_segment_prod(v, [1, 0], 2); x*float(bincount([1, 0]));
    conv1d(reshape(v, [2, 1]), reshape(v, [2, 1, 1]));
    conv2d(reshape(m, [2, 2, 1]), reshape(v, [2, 1, 1, 1]));
    conv3d(reshape(m, [2, 2, 1, 1]), reshape(v, [2, 1, 1, 1, 1]));
    conv2d_transpose(reshape(m, [2, 2, 1]), reshape(v, [2, 1, 1, 1]));
    depthwise_conv2d(reshape(m, [2, 2, 1]), reshape(v, [2, 1, 1, 1]));
    max_pool(reshape(m, [2, 2, 1])); avg_pool(reshape(m, [2, 2, 1]))
""".split(";")]
CALL_AT = {"x": "0.7", "v": "[2,0.5]", "m": "[[2,0.5],[0.5,3]]"}
CALLED = {name: (text, ",".join([f"{n}={v}" for n, v in CALL_AT.items()
                                 if re.search(rf"\b{n}\b", text)]))
          for text in reversed(CALLS) for name in re.findall(r"\w+(?=\()", text)[:2]
          if name != "float"}


FORMATS = ("table", "latex", "markdown", "csv")
ORDER = {name: k for k, name in enumerate(TABLE)}


@pytest.mark.parametrize("op", [op for op in TABLE.values() if not op.internal],
                         ids=lambda op: op.name)
def test_every_operation_has_steps(op: Op) -> None:
    count = len(op.parameters) or 1
    formula = f"{op.name}({', '.join('xyzxyz'[:count])})"
    asked = [(formula, ",".join([f"{n}={v}" for n, v in list(point.items())[:count]]))
             for point in POINTS]
    answered = 0
    for formula, at in [CALLED[op.name]] if op.name in CALLED else asked:
        arguments = ["-e", formula, "--at", at, "--format", "json"]
        status, told, _ = in_process(["grad", *arguments])
        again, found, problem = in_process(["steps", *arguments])
        assert again == status, problem
        if status == 0:
            answered += 1
            one, other = [json.loads(text)["results"][0]["sources"] for text in (told, found)]
            assert [s["gradient"] for s in one] == [s["gradient"] for s in other]
            # One after the other, from row to row and from point to point.
            for format in [FORMATS[(ORDER[op.name] + answered) % len(FORMATS)]]:
                assert in_process(["steps", *arguments[:-1], format, "--mode", "forward"])[0] == 0
    assert (answered == 0) == (op.kind == UNREGISTERED)


def test_other_commands_load_none_of_it() -> None:
    program = ("import sys; from gradcli.cli.main import run; from gradcli.cli.environment import"
               " Environment\nrun(['grad', '-e', 'x^2', '--at', 'x=3'], Environment())\n"
               "print([m for m in sys.modules if 'step' in m or 'formula_text' in m])")
    assert run(sys.executable, "-c", program, cwd=ROOT).stdout.endswith("[]\n")


# --- docs/steps.md ----------------------------------------------------------------------------

PAGE = ROOT / "docs" / "steps.md"
SHOWN = [step for block in blocks(PAGE.read_text()) for step in transcript(block)]


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_page_shows_what_is_printed(command: str, shown: str, shim: Path,
                                        on_page: OnPage) -> None:
    on_page(PAGE, command, shown, on_terminal(command, ROOT, shim))


def test_the_list_of_pages_is_complete() -> None:
    listed = set(re.findall(r"\]\((\w+\.md)\)", (ROOT / "docs/README.md").read_text()))
    assert listed == {p.name for p in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_kinks_are_told_of_values_that_a_tape_did_not_keep(tmp_path: Path) -> None:
    program = tmp_path / "wide.txt"
    for inside, told in (("x*w + 2", []), ("x*w - 2", []), ("w - x", ["64 of 64"]),
                         ("w - c", ["1 of 64"])):
        program.write_text("const x = ones([8,8])\nconst c = reshape(linspace(0, 63, 64), [8,8])\n"
                           f"var w = ones([8,8])\ntape t:\n    s = sum(relu({inside}))\n"
                           "g = t.gradient(s, w)\n")
        (result,) = loaded("grad", str(program), "--of", "s", "--wrt", "w")["results"]
        notes = [note["message"] for note in result["sources"][0]["notes"]]
        assert [text.partition(" elements")[0].partition(": ")[2] for text in notes] == told


@pytest.mark.parametrize(("name", "format"), [
    ("s.tex", "latex"), ("s.md", "markdown"), ("s.json", "json"), ("s.csv", "csv"),
    ("s.tsv", "tsv"), ("s.txt", "plain"), ("s", "plain")])
def test_the_name_of_the_file_tells_the_format(name: str, format: str, tmp_path: Path) -> None:
    command = ["steps", "-e", "x^2", "--at", "x=3"]
    path = tmp_path / name
    assert in_process([*command, "-o", str(path)]) == (0, "", "")
    assert path.read_text(encoding="utf-8") == ok(*command, "--format", format)
    assert in_process([*command, "-o", str(path), "--format", "csv"]) == (0, "", "")
    assert path.read_text(encoding="utf-8") == ok(*command, "--format", "csv")


@pytest.mark.parametrize(("formula", "local", "rule"), [
    ("x^x", "x*x^(x - 1) + x^x*log(x)", "general power rule"),
    ("e^(-x)", "e^v1", "exponential rule"),
    ("x^0", "0", "power rule"), ("2^x", "2^x*log(2)", "exponential rule")])
def test_powers_have_the_rule_of_their_kind(formula: str, local: str, rule: str) -> None:
    last = traced(formula, {"x": 2.0})["steps"][-1]
    (partial,) = last["partials"]
    assert (partial["rule"], partial["formula"] or "0") == (rule, local)


@pytest.mark.parametrize(("formula", "shown"), [
    ("sum(x, axis=1)", "sum(x, axis=1)"), ("mean(x, axis=-2, keepdims=true)",
                                           "mean(x, axis=0, keepdims=true)"),
    ("sum(exp(x), axis=[0, 1])", "sum(v1)")])
def test_attributes_are_written_as_files_have_them(formula: str, shown: str) -> None:
    out = ok("steps", "-e", formula, "--at", "x=[[1,2,3],[4,5,6],[7,8,9]]", "--format", "json")
    last = json.loads(out)["results"][0]["steps"][-1]
    assert last["operation"] == shown
    ok("eval", "-e", shown.replace("v1", "x"), "--at", "x=[[1,2],[3,4]]")


def test_small_arrays_are_shown_where_all_is(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["steps", "-e", "sum(x^2)", "--at", "x=[[1,2,3],[4,5,6],[7,8,9]]"]
    _, out, _ = at_terminal(*command, monkeypatch=monkeypatch)
    assert "3 x 3 array" in out
    _, out, _ = at_terminal(*command, "-v", columns=120, monkeypatch=monkeypatch)
    assert "[[1, 4, 9], [16, 25, 36], [49, 64, 81]]" in out
