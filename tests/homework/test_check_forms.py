"""Right answers in all the forms in which people write them, and wrong ones that are near.

tests/data/homework/forms.tsv: a line `problem`, fields and function; then a line an answer, as a
JSON text behind `right` or `wrong`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from folders import DATA
from test_check import check

from gradcli.base.errors import GradcliError
from gradcli.homework.check import check as checked
from gradcli.homework.check import prepare
from gradcli.homework.checking.fields import from_fields

FILE = DATA / "homework" / "forms.tsv"
Problem = tuple[dict[str, Any], list[tuple[str, str]]]


def problems() -> list[Problem]:
    found: list[Problem] = []
    for line in FILE.read_text("utf-8").splitlines():
        kind, *rest = line.split("\t")
        if kind == "problem":
            found.append(({**json.loads(rest[0]), "function": rest[1]}, []))
        else:
            found[-1][1].append((kind, json.loads(rest[0])))
    return found


PROBLEMS = problems()


def test_there_are_many() -> None:
    kinds = [kind for _, answers in PROBLEMS for kind, _ in answers]
    assert kinds.count("right") > 500
    assert kinds.count("wrong") > 400


@pytest.mark.parametrize("number", range(len(PROBLEMS)))
def test_forms(number: int) -> None:
    fields, answers = PROBLEMS[number]
    ready = prepare(from_fields(fields), number)
    for expected, answer in answers:
        found = checked(ready, answer)
        assert (found["verdict"] in ("correct", "domain")) == (expected == "right"), (
            fields, answer, found["verdict"], found["message"])


@pytest.mark.parametrize("answer", [
    "Answer: 2x", "answer : 2x", "f'(x): 2x", "dy/dx: 2x", "=> 2x", "⇒ 2x", "f'(x) → 2x", "2x;",
    "2x,", "(x^2)' = 2x", "d(x^2)/dx = 2x", "D(x^2) = 2x", "D_x[x^2] = 2x", "2x = y'",
    "2x = f'(x)", "2x = dy/dx", "f^\\prime(x) = 2x", "\\Rightarrow 2x", "f'(x) \\implies 2x",
    "$2x$.", "\\therefore y' = 2x", "$f'(x) = 2x$;"])
def test_what_stands_before_an_answer_and_behind_it(answer: str) -> None:
    assert check("x^2", answer, wrt="x")["verdict"] == "correct"
    assert check("x^3", answer, wrt="x")["verdict"] == "wrong"


@pytest.mark.parametrize("answer", ["x: 2", "a:b", "2:x", "x => 2", "x > 2", "2 > x", "2<x",
                                    "D: 2"])
def test_what_is_no_label(answer: str) -> None:
    assert check("D x^2 a b", answer, wrt="x")["verdict"] in ("unreadable", "wrong")


@pytest.mark.parametrize(("answer", "verdict"), [
    ("2(x, y)", "correct"), ("<x, y>*2", "correct"), ("-(-2x, -2y)", "correct"),
    ("(4x, 4y)/2", "correct"), ("2x<1, 0> + 2y<0, 1>", "correct"), ("(2x, 2y)^T", "correct"),
    ("(4x, 3y) - (2x, y)", "correct"), ("2[[x], [y]]", "correct"), ("[[2x], [2y]]^T", "correct"),
    ("2(x, -y)", "wrong"), ("(x, y)", "wrong"), ("(2x, 2y)/2", "wrong"), ("2x<1, 1>", "wrong"),
    ("(2x, 2y) + (0, 0, 0)", "unreadable"), ("(2x, 2y)*(1, 1)", "unreadable"),
    ("1/(2x, 2y)", "unreadable"), ("(2x, 2y)^2", "unreadable"), ("sin((x, y))", "unreadable"),
    ("(2x, 2y) + 1", "unreadable")])
def test_arithmetic_of_vectors(answer: str, verdict: str) -> None:
    assert check("x^2 + y^2", answer, wrt="x,y")["verdict"] == verdict


UNITS = [("e_x", "e_y", "e_z"), ("e_1", "e_2", "e_3"), ("ê_x", "ê_y", "ê_z"), ("i", "j", "k"),
         (r"\mathbf{e}_x", r"\mathbf{e}_y", r"\mathbf{e}_z"),
         (r"\vec{e}_1", r"\vec{e}_2", r"\vec{e}_3"),
         (r"\hat{e}_{x}", r"\hat{e}_{y}", r"\hat{e}_{z}")]


@pytest.mark.parametrize("units", UNITS)
def test_unit_vectors_by_their_names(units: tuple[str, ...]) -> None:
    slopes = ("2xy cos z", "x^2 cos z", "-x^2 y sin z")
    for sign in ("", " ", "*"):
        answer = " + ".join([f"({slope}){sign}{unit}" for slope, unit in zip(
            slopes, units, strict=True)])
        assert check("x^2 y cos z", answer, wrt="x,y,z")["verdict"] == "correct", answer
        swapped = answer.replace(units[0], "#").replace(units[1], units[0]).replace("#", units[1])
        assert check("x^2 y cos z", swapped, wrt="x,y,z")["verdict"] == "wrong"
    bare = f"cos y {units[0]} - x sin y {units[1]}"
    assert check("x cos y", bare, wrt="x,y")["verdict"] == "correct"


def test_a_unit_vector_may_be_a_variable() -> None:
    assert check("e_x x y", "y e_x", kind="partial", wrt="x")["verdict"] == "correct"


@pytest.mark.parametrize("function", ["x^n/n!", r"\frac{x^n}{n!}", "x^n/factorial(n)"])
@pytest.mark.parametrize(("answer", "verdict"), [
    ("x^(n-1)/(n-1)!", "correct"), ("n x^(n-1)/n!", "correct"), ("x^n/n!", "wrong"),
    (r"\frac{x^{n-1}}{(n-1)!}", "correct"), ("x^(n-1)/n!", "wrong"), ("x!", "unreadable")])
def test_factorials_of_what_is_fixed(function: str, answer: str, verdict: str) -> None:
    assert check(function, answer, parameters="n")["verdict"] == verdict
    # Where the function has none, the sign may be no more than loud.
    assert check("n x^2", "2x n!", parameters="n")["verdict"] == "unreadable"


def test_maxima_of_several() -> None:
    fields = {"kind": "partial", "wrt": "x", "domain": {"x": [2, 3], "y": [0, 1], "z": [0, 1]}}
    assert check("max(x, y, z)", "1", **fields)["verdict"] == "correct"
    assert check("min(x, y, z)", "0", **fields)["verdict"] == "correct"
    assert check("x^2", "max(2x, 2x - 1, x - x^2 - 9)", wrt="x")["verdict"] == "correct"


def test_transposes_of_matrices() -> None:
    fields: dict[str, Any] = {"kind": "jacobian", "wrt": "x,y"}
    right = "[[2x y, x^2], [1, 3]]"
    assert check("[x^2 y, x + 3y]", right, **fields)["verdict"] == "correct"
    assert check("[x^2 y, x + 3y]", "[[2x y, 1], [x^2, 3]]^T", **fields)["verdict"] == "correct"
    assert check("[x^2 y, x + 3y]", f"{right}^T", **fields)["verdict"] == "wrong"
    assert check("[x^2 y, x + 3y]", "x[[2y, x], [1/x, 3/x]]", **fields)["verdict"] == "correct"


# What is asked for with its right answer; left sides that name it, and such that name another.
NAMED: list[tuple[str, dict[str, Any], str, list[str], list[str]]] = [
    ("x^2", {}, "2x", [
        "f'(x)", "y'", "f'", "g'(x)", "df/dx", "dy/dx", "\\frac{dy}{dx}", "\\frac{d}{dx}[x^2]",
        "d/dx x^2", "D_x f", "∂f/∂x", "f_x", "f_x(x)", "y_x", "(x^2)'", "D(x^2)", "d(x^2 + 3)/dx",
        "f^{(1)}(x)", "f", "y", "f(x)", "m", "D(x)", "slope"], [
        "y''", "f''(x)", "f^{(3)}(x)", "\\frac{d^2y}{dx^2}", "d²y/dx²", "f_{xx}", "dx/dy",
        "df/dt", "\\frac{dx}{dy}", "f'(3)", "f(3)", "f'(t)", "x", "x'", "(x^3)'", "d/dx(x^3)",
        "d/dx x^3", "D(x^3)", "dy/dx|_{x=3}", "y' = y''", "\\left.\\frac{dy}{dx}\\right|_{x=2}",
        "d/dx f(2)", "\\frac{d}{dx} y(3)", "d/dx(f(2))"]),
    ("f(x) = x^2", {}, "2x", [
        "f'(x)", "f'", "y'", "df/dx", "dy/dx", "d/dx f(x)", "d/dx(f)", "D f", "f", "g(x)", "m"], [
        "g'(x)", "g'", "dg/dx", "d/dx g(x)", "\\frac{dg}{dx}", "h_x", "F'(x)"]),
    ("h(t) = t^2", {}, "2t", ["h'(t)", "dh/dt", "d/dt h(t)"], ["f'(t)", "d/dt f(t)", "h'(2)"]),
    ("y = x^2", {}, "2x", ["y'", "f'(x)", "dy/dx", "d/dx f(x)"], ["d/dx y(2)", "dx/dy"]),
    ("x^3", {"order": 2}, "6x", ["y''", "f''(x)", "d^2y/dx^2", "f_xx", "f^{(2)}(x)", "y' = y''"],
     ["y'", "dy/dx", "f'(x)", "y'''", "f_x", "d^2y/dt^2"]),
    ("x^3", {"kind": "value", "at": "x=3"}, "27", [
        "f'(3)", "y'(3)", "dy/dx|_{x=3}", "f'(x)|_{x=3}", "\\left.\\frac{dy}{dx}\\right|_{x=3}",
        "f'(x=3)", "f'(x) = 3x^2 = f'(3)", "f'(x) = 3x^2", "f'", "m", "f'(a)", "f'(6/2)",
        "d/dx f(3)", "d/dx f|_{x=3}"], [
        "d/dx f(2)", "d/dx f|_{x=2}",
        "f'(2)", "f(2)", "f''(3)", "dy/dx|_{x=2}", "f'(x=2)", "f'(x) = 3x^2 = f'(2)", "df/dt(3)",
        "f'(2) = 3*2^2", "y'(-3)"]),
    ("cos x", {"kind": "value", "at": "x=pi/6"}, "-1/2", [
        "f'(pi/6)", "f'(π/6)", "f'(0.524)", "f'(\\frac{\\pi}{6})"],
        ["f'(pi/3)", "f'(0.53)", "f'(30)"]),
    ("x^2 y", {"kind": "partial", "wrt": "x"}, "2xy", [
        "f_x", "f_x(x,y)", "∂f/∂x", "\\frac{\\partial f}{\\partial x}", "df/dx", "z_x", "D_x f"], [
        "f_y", "∂f/∂y", "df/dy", "f_{xx}", "f_{xy}", "f_x(1,2)", "∂^2f/∂x∂y", "D_y f", "fy",
        "∂x/∂y", "x"]),
    ("x^2 y^2", {"kind": "partial", "wrt": "x,y"}, "4xy", [
        "f_{xy}", "f_{yx}", "∂^2f/∂x∂y", "\\frac{\\partial^2 f}{\\partial y\\partial x}", "fxy"],
        ["f_{xx}", "f_x", "∂^2f/∂x^2"]),
    ("x^2 + y^2 = 25", {"dependent": "y", "wrt": "x"}, "-x/y", [
        "dy/dx", "y'", "y'(x)", "\\frac{dy}{dx}", "D_x y"], [
        "dx/dy", "x'", "x'(y)", "y''", "dx/dt", "\\frac{dx}{dy}"]),
    ("x^2 + y^2 = 25", {"dependent": "y", "wrt": "x", "at": "x=3,y=4"}, "-3/4", [
        "dy/dx", "y'(3)", "y'", "dy/dx|_{(3,4)}", "dy/dx|_{x=3}"], [
        "y'(4)", "dy/dx|_{(4,3)}", "dy/dx|_{x=4}", "dx/dy"]),
    ("[cos t, sin t]", {"kind": "parametric"}, "-cot t", [
        "dy/dx", "y'", "y'(t)", "dy/dx(t)", "dv/du"], ["dx/dy", "dy/dt", "dx/dt", "y''", "x"]),
    ("x^2 y", {"wrt": "x,y"}, "(2xy, x^2)", [
        "∇f", "grad f", "∇f(x,y)", "Df", "f'", "(f_x, f_y)", "(∂f/∂x, ∂f/∂y)", "<z_x, z_y>",
        "(a, b)"], ["f_x", "f_{xy}", "∇f(1,2)", "Hf", "(f_x, f_x)", "(f_x, f_{xy})"]),
    ("x^2 y", {"kind": "value", "wrt": "x,y", "at": "x=1,y=2"}, "(4, 1)", [
        "∇f(1,2)", "∇f", "(f_x, f_y)", "(f_x(1,2), f_y(1,2))"],
     ["∇f(2,1)", "f_x", "(f_x, f_x)", "(f_x(2,1), f_y(2,1))"]),
    ("x^2 y", {"kind": "hessian", "wrt": "x,y"}, "[2y, 2x; 2x, 0]", ["Hf", "H", "f''"],
     ["∇f", "f_xx", "f'"]),
    ("x^2 y", {"wrt": "x,y", "at": "x=1,y=2", "direction": "3,4"}, "16/5", [
        "D_u f", "D_u f(1,2)", "D_{u}f(1,2)", "f'(1,2)"], ["D_u f(2,1)", "f_x", "∇f", "∂f/∂y"]),
    ("x^2", {"kind": "tangent", "at": "x=3"}, "6x - 9", ["y", "f(x)", "T(x)", "L(x)", "T_3(x)"],
     ["y'", "f'(3)", "dy/dx", "x", "y(3)"])]


@pytest.mark.parametrize(("function", "fields", "answer", "same", "other"), NAMED)
def test_what_the_left_side_names(function: str, fields: dict[str, Any], answer: str,
                                  same: list[str], other: list[str]) -> None:
    ready = prepare(from_fields({"function": function, **fields}))
    for left in same:
        found = checked(ready, f"{left} = {answer}")
        assert found["verdict"] == "correct", (left, found["message"])
    for left in other:
        found = checked(ready, f"{left} = {answer}")
        assert found["verdict"] == "undecided", (left, found["message"])
        assert found["score"] == 0
        assert "the left side names" in found["message"]


@pytest.mark.parametrize(("answer", "verdict"), [
    ("(f_y, f_x) = (x^2, 2xy)", "correct"), ("(f_y, f_x) = (2xy, x^2)", "wrong"),
    ("(∂f/∂y, ∂f/∂x) = (x^2, 2xy)", "correct"), ("f_y = 2xy, f_x = x^2", "wrong"),
    ("f_x = 2xy, f_x = x^2", "undecided"), ("f_x(1,2) = 2xy, f_y(1,2) = x^2", "undecided")])
def test_left_sides_tell_which_component_is_which(answer: str, verdict: str) -> None:
    assert check("x^2 y", answer, wrt="x,y")["verdict"] == verdict


def test_a_left_side_is_told_beside_a_mistake() -> None:
    asked: dict[str, Any] = {"kind": "partial", "wrt": "x"}
    found = check("x^2 y", "f_y = x^2", **asked)
    assert found["verdict"] == "wrong"
    assert found["mistake"] == "wrong_variable"
    assert found["message"].endswith("the left side names a derivative by y, not by x")
    with pytest.raises(GradcliError, match="left side"):
        prepare(from_fields({"function": "x^2 y", "expected": "f_y = 2xy", **asked}))


@pytest.mark.parametrize("answer", [
    "x = (y+9)/6", "x = y/6 + 3/2", "x - 3 = (y - 9)/6", "y - 9 = 6(x - 3)", "6x = y + 9",
    "0 = 6x - y - 9", "x = \\frac{y+9}{6}", "y = 12x - y - 18"])
def test_a_line_may_be_solved_for_any_letter(answer: str) -> None:
    asked: dict[str, Any] = {"kind": "tangent", "at": "x=3"}
    assert check("x^2", answer, **asked)["verdict"] == "correct"
    assert check("x^2 - 1", answer, **asked)["verdict"] == "wrong"


def test_the_coordinates_of_a_curve_have_names() -> None:
    asked: dict[str, Any] = {"kind": "parametric"}
    assert check("[cos t, sin t]", "-x/y", **asked)["verdict"] == "correct"
    assert check("[cos t, sin t]", "y/x", **asked)["verdict"] == "wrong"
    assert check("[t^2, t^3]", "dy/dx = 3y/(2x)", **asked)["verdict"] == "correct"
    assert check("[t^2, t^3]", "3/(4y)*x", **asked, order=2)["verdict"] == "correct"


@pytest.mark.parametrize(("answer", "verdict", "told"), [
    ("9^9^9^9", "undecided", "too large"), ("9^9^9^9 x", "undecided", "too large"),
    ("170! x", "undecided", "too large"), ("gamma(200)x", "undecided", "too large"),
    ("1e300*1e300 x", "undecided", "too large"), ("e^(1000 + x^2)", "undecided", "too large"),
    ("9^9^9^9 - 9^9^9^9 + 2x", "undecided", "too large"),
    ("1/0", "wrong", "not defined"), ("ln 0", "wrong", "not defined"),
    ("x/0", "wrong", "not defined"), ("0/0", "wrong", "not defined"),
    ("gamma(-1) x", "wrong", "not defined"), ("0^-1", "wrong", "not defined"),
    ("ln(-1 - x^2)", "wrong", "not defined")])
def test_too_large_is_not_undefined(answer: str, verdict: str, told: str) -> None:
    found = check("x^2", answer)
    assert found["verdict"] == verdict
    assert told in found["message"]


@pytest.mark.parametrize(("answer", "verdict"), [
    ("6x - 5 = 0", "undecided"), ("0 = 6x - 5", "undecided"), ("6x - 5 = 7", "undecided"),
    ("6x - 5 = 2*3x - 5", "correct"), ("6x - 5 = y", "correct"), ("6x - 4 = 0", "wrong"),
    ("2x + 1 = 3x + 4", "wrong"), ("6x = 5", "wrong")])
def test_equations_of_which_one_side_is_right(answer: str, verdict: str) -> None:
    assert check("3x^2 - 5x + 2", answer)["verdict"] == verdict


@pytest.mark.parametrize("argument", ["sqrt 3", "sin 2", "ln 5", "cos sqrt 2", "5/4", "pi/4",
                                      "2/3"])
@pytest.mark.parametrize("function", ["ln", "sin", "sqrt", "arctan"])
def test_arguments_may_end_behind_a_number_in_functions_or_fractions(
        function: str, argument: str) -> None:
    words = argument.split()
    factor = "(".join(words) + ")" * (len(words) - 1)
    asked = f"{function}({factor}) x^2"
    assert check(asked, f"{function}({factor}) 2x")["verdict"] == "correct"
    for rest in ("(2x)", "(x + x)"):
        assert check(asked, f"{function} {argument} {rest}")["verdict"] == "undecided"
        assert check(f"7{asked}", f"{function} {argument} {rest}")["verdict"] == "wrong"


@pytest.mark.parametrize(("function", "answer"), [
    ("x e^(2x)", "e^2x(1+2x)"), ("x e^(2x)", "(1+2x)e^2x"), ("x e^(2x)", "e^2x + 2x e^2x"),
    ("x e^(3x) + sin x", "e^3x(3x+1) + cos x"), ("e^(2x) sin x", "e^2x(cos x + 2 sin x)"),
    ("e^(2x) sin x", "e^2x cos x + 2e^2x sin x"), ("ln(x^2+x)", "1/x(x+1) * (2x+1)")])
def test_brackets_that_are_missing_before_others(function: str, answer: str) -> None:
    assert check(function, answer)["mistake"] == "missing_parentheses"


@pytest.mark.parametrize("text", ["log5 x", "log5x", "log3x + 1", "x log10x", "log2x"])
def test_a_number_behind_log_is_noted(text: str) -> None:
    ready = prepare(from_fields({"function": text}))
    assert any("for the base" in note for note in ready.reference.reading.notes)
    assert "for the base" in check("x^2", text)["message"]


@pytest.mark.parametrize("text", ["log2 x", "log10 x", "log_5(x)", "log(5x)", "x log5", "log 5x"])
def test_other_logarithms_are_not(text: str) -> None:
    assert not prepare(from_fields({"function": text + " + x"})).reference.reading.notes


@pytest.mark.parametrize("left", [
    "y^2", "f^2", "f'(2x)", "f'(-x)", "not", "wrong", "dy/dx 2", "df/dx x", "2x when x", "2x if x",
    "2x where u", "2*x and C"])
@pytest.mark.parametrize("right", ["2x", "3x"])
def test_a_left_side_that_is_no_label_is_for_a_person(left: str, right: str) -> None:
    assert check("x^2", f"{left} = {right}", wrt="x")["verdict"] in ("undecided", "unreadable")


@pytest.mark.parametrize("factor", [
    "dy/dx y", "(dy/dx)(2y)", r"\frac{dy}{dx} y", "y'(2y)", "y dy/dx", "dy/dx^2", "dy/dx (y)",
    "y' y"])
@pytest.mark.parametrize("right", ["-x/y", "-x", "-2x", "-y/x"])
def test_what_is_multiplied_to_a_derivative_is_not_dropped(factor: str, right: str) -> None:
    found = check("x^2 + y^2 = 25", f"{factor} = {right}", wrt="x", dependent="y")
    assert found["verdict"] in ("undecided", "unreadable")


@pytest.mark.parametrize("left", ["dy/dx", "y'", "y'(x)", "dy/dx(x,y)", r"\frac{dy}{dx}", "y"])
def test_labels_of_the_derivative_are_dropped(left: str) -> None:
    if left != "y":
        found = check("x^2 + y^2 = 25", f"{left} = -x/y", wrt="x", dependent="y")
        assert found["verdict"] == "correct"
    assert check("x^2", f"{left.replace(',y', '')} = 2x", wrt="x")["verdict"] == "correct"
