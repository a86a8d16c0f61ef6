"""Right answers that are 0: of functions that are constant, in whatever form they are written."""

from __future__ import annotations

import random

import pytest
from conftest import folded
from test_check import check
from transcripts import in_process

from gradcli.base.errors import GradcliError
from gradcli.homework.check import prepare
from gradcli.homework.checking.fields import from_fields, in_json, in_options
from gradcli.homework.lint import lint
from gradcli.homework.sheets.formats import parse

# Constants 0 by a known value of a function, and functions that are constant by one.
ZEROS = ("0", "0.0", "(2-2)", "ln(1)", "sin(0)", "tan(0)", "asin(0)", "acos(1)", "atan(0)",
         "sinh(0)", "tanh(0)", "arcosh(1)", "arsinh(0)", "artanh(0)", "log_2(1)", "lg(1)",
         "sqrt(0)", "erf(0)", "0^2", "0/5", "sgn(0)", "floor(0.5)", "|0|", "besselj(1, 0)",
         "ln(cos 0)", "acos(cos(0))", "(3-2-1)", "sin(pi)", "(1/3 - 2/6)", "lgamma(1)")
CONSTANT = ("1^x", "x^0", "(x+2)^0", "7", "pi^2", "1^(x^2)", "(3-2)^x", "e^0", "x - x", "x/x",
            "sin^2 x + cos^2 x", "ln(e^x) - x", "2^x 2^(-x)")
VARYING = ("x", "x^2", "sin x", "e^x", "(x^2 + 1)", "x cos x", "1/(x^2 + 1)")


def functions(count: int) -> list[str]:
    draw = random.Random(15)
    found = []
    for _ in range(count):
        zero, varying = draw.choice(ZEROS), draw.choice(VARYING)
        constant = draw.choice(CONSTANT)
        found.append(draw.choice((
            f"{varying}*{zero}", f"{zero}*{varying}", f"{zero}/({varying})",
            f"{constant} + {zero}*{varying}", constant, f"5*({constant}) - {zero}*{varying}",
            f"{zero}*{varying}*{draw.choice(VARYING)}", f"({zero}*{varying})^2 + 3")))
    return found


@pytest.mark.parametrize("function", sorted({*functions(90), *CONSTANT}))
def test_the_derivative_of_a_constant_is_0_and_nothing_else(function: str) -> None:
    for answer, expected in (("0", "correct"), ("0*x", "correct"), ("x - x", "correct"),
                             ("1", "wrong"), ("x", "wrong"), ("1e-6", "wrong")):
        found = check(function, answer, 1, wrt="x")
        assert found["verdict"] == expected, (function, answer, found["message"])


@pytest.mark.parametrize(("fields", "answer"), [
    ({"function": "x^2 + x ln(1) y", "wrt": "x,y"}, "(2x, 0)"),
    ({"function": "x^2 + 1^y", "kind": "hessian", "wrt": "x,y"}, "[[2, 0], [0, 0]]"),
    ({"function": "x^2", "order": 3, "wrt": "x"}, "0"),
    ({"function": "(2x + 1)^1", "order": 2, "wrt": "x"}, "0"),
    ({"function": "(1, t)", "kind": "parametric", "wrt": "t"}, None),
    ({"function": "(t, 3^0)", "kind": "parametric", "wrt": "t"}, "0"),
    ({"function": "1^x + y = 2", "dependent": "y", "wrt": "x"}, "0"),
    ({"function": "1^x", "kind": "value", "at": {"x": 2}}, "0")])
def test_zeros_of_every_kind(fields: dict[str, object], answer: str | None) -> None:
    if answer is None:  # a vertical line has no slope: that is an error of the problem, or no 0
        assert check(answer="0", **fields)["verdict"] != "correct"  # type: ignore[arg-type]
        return
    assert check(answer=answer, **fields)["verdict"] == "correct"  # type: ignore[arg-type]


@pytest.mark.parametrize("function", ["x e^(-1000)", "x 10^(-400)", "x/10^200/10^200"])
def test_a_tiny_number_is_no_zero(function: str) -> None:
    for answer in ("0", "x", "1e-300"):
        assert check(function, answer, wrt="x")["verdict"] != "correct"


def test_lint_counts_the_points_where_answers_can_be_told() -> None:
    functions = ["1^x", "x ln(1)", "x e^(-1000)", "sin(x)", "x 10^(-400)", "sin(x)/10^200/10^200",
                 "ln x", "x^2 + 1e-320*sin(x)"]
    text = "\n".join(f"{k}: {function}" for k, function in enumerate(functions))
    found, wrong = lint(parse(text, "sheet.txt"))
    assert not wrong
    for problem in found["problems"]:
        ready = prepare(from_fields({"function": problem["function"], "wrt": "x"}))
        assert ready.reference.reading.read_as == problem["read_as"]
        told = check(problem["function"], ready.reference.reading.read_as, wrt="x")
        right = {"1^x": "0", "x ln(1)": "0", "sin(x)": "cos x", "ln x": "1/x"}.get(
            problem["function"])
        if right is not None:
            told = check(problem["function"], right, wrt="x")
            assert told["points"]["usable"] >= problem["usable"] > 12
    counts = {problem["function"]: problem["usable"] for problem in found["problems"]}
    assert counts["x e^(-1000)"] == counts["x 10^(-400)"] == 0
    assert counts["sin(x)/10^200/10^200"] == 0
    warned = {p["function"]: " ".join(p["warnings"]) for p in found["problems"]}
    assert "at none of the points" in warned["x 10^(-400)"]
    assert "at none of the points" not in warned["1^x"]


@folded
@pytest.mark.parametrize("kind", ["value", "tangent"])
@pytest.mark.parametrize(("function", "at", "corner"), [
    ("|x|", 0, True), ("|x - 3|", 3, True), ("|x|", 2, False), ("max(x, 2)", 2, True),
    ("x + |x^2 - 4|", -2, True), ("x|x|", 0, False), ("|x|^3", 0, False), ("|sin(x)|", 0, True),
    ("tanh(1000000x)", 0, False), ("1/(x + 10^(-8))", 0, False), ("sqrt(x^2)", 0, None),
    ("|x|^1.5", 0, False), ("e^(-|x|)", 0, True), ("3x + 2", 1, False), ("x^2", 1e9, False),
    ("a|x| + b", 0, True), ("a x^2 + b", 709.8, False)])
def test_no_answer_is_held_to_the_slope_of_a_corner(
        kind: str, function: str, at: float, corner: bool | None) -> None:
    """What a derivative is at a corner is a convention; a person would accept none, or any."""
    status, _, err = in_process(
        ["check", function, "0", "--kind", kind, "--wrt", "x", "--at", f"x={at!r}"])
    assert (status == 3) == (corner is not False), err
    if corner:
        assert "corner" in err


CHOSEN = [
    ("max(x, y)", {"wrt": "x,y", "domain": {"x": [2, 3], "y": [0, 1]}}, "(1, 0)", "(1, 0.1)"),
    ("x min(x, y)", {"wrt": "x,y", "domain": {"x": [2, 3], "y": [0, 1]}}, "(y, x)", "(y, 0)"),
    ("relu(x)", {"domain": {"x": [-3, -1]}}, "0", "1"),
    ("5 relu(x)^2", {"domain": {"x": [-3, -1]}}, "0", "10x"),
    ("|x| + x", {"domain": {"x": [-3, -1]}}, "0", "2"),
    (r"\begin{cases} x^2 & x > 0 \\ 0 & x \le 0 \end{cases}",
     {"domain": {"x": [-2, -1]}}, "0", "2x")]


@pytest.mark.parametrize(("function", "fields", "right", "wrong"), CHOSEN)
def test_a_zero_that_a_condition_chooses_counts(function: str, fields: dict[str, object],
                                                right: str, wrong: str) -> None:
    assert check(function, right, **fields)["verdict"] == "correct"
    assert check(function, wrong, **fields)["verdict"] == "wrong"


def test_what_a_float_makes_of_a_tiny_number_is_none() -> None:
    tiny = {"wrt": "x,y", "domain": {"x": [2, 3], "y": [0, 1]}}
    assert check("e^(-1000x) max(x, y)", "(0, 0)", **tiny)["verdict"] == "undecided"


@pytest.mark.parametrize("function", ["1/x", "a/x", "a sqrt(x)", "a ln(x)", "k x/k + k", "a |x|"])
def test_a_point_without_a_derivative_is_refused(function: str) -> None:
    """Whatever the letters are that the point does not give; the help names no other point."""
    at = {"x": 0, "k": 0} if "k" in function else {"x": 0}
    problem = from_fields({"function": function, "kind": "value", "wrt": "x", "at": at})
    with pytest.raises(GradcliError, match="at this point") as caught:
        prepare(problem)
    told = caught.value.diagnostics[0]
    assert in_options(told) == in_json(told) == "choose another point"


@pytest.mark.parametrize("answer", ["a/x", "1/0", "a/(x - x)", "a/x^2", "0/x", "a x/x", "x/0 + a"])
def test_answers_that_divide_by_the_point_end_in_a_verdict(answer: str) -> None:
    found = check("a x", answer, kind="value", wrt="x", at={"x": 0})
    assert found["verdict"] == "wrong"
