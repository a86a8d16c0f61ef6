"""Mistakes that are no wrong rule: another question, another point, other places and shapes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from conftest import folded

from gradcli.base.errors import GradcliError
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields

X = {"wrt": "x"}
XY = {"kind": "gradient", "wrt": "x,y"}
AT_2 = {"kind": "value", "wrt": "x", "at": {"x": 2}}
CURVE = {"kind": "implicit", "wrt": "x", "dependent": "y"}
CASES: list[tuple[str, str, str, dict[str, Any]]] = [
    # Whole answers.
    ("answered_original", "x^2 sin(x)", "x^2 sin(x)", X),
    ("integrated", "x^3 + 2x", "x^4/4 + x^2", X),
    ("integrated", "x^3 + 2x", "x^4/4 + x^2 + C", X),
    ("integrated", "cos(5x)", "sin(5x)/5", X),
    ("sign_error", "x^2 e^(3x) + x", "-2x e^(3x) - 3x^2 e^(3x) - 1", X),
    ("wrong_order", "x^5", "20x^3", X),
    ("wrong_order", "x^5", "5x^4", {**X, "order": 2}),
    ("reciprocal_of_derivative", "x^3 + x", "1/(3x^2 + 1)", X),
    ("wrong_variable", "x^2 y^3", "3x^2 y^2", {"kind": "partial", "wrt": "x"}),
    ("wrong_variable", "(a^2)^2", "4a^3", {"kind": "partial", "wrt": "x", "parameters": "a"}),
    ("other_variable_not_constant", "x^2 y^3", "2x y^3 + 3x^2 y^2",
     {"kind": "partial", "wrt": "x"}),
    ("other_variable_dropped", "x^2 y^3", "2x", {"kind": "partial", "wrt": "x"}),
    ("wrong_variable_name", "t^2 + 3t", "2x + 3", {"wrt": "t"}),
    ("evaluated_at_point", "x^3 + x", "13", X),
    ("evaluated_at_point", "x^3 + x", "13", X),
    ("constant_factor", "x^2 sin(x)", "7(2x sin(x) + x^2 cos(x))", X),
    ("constant_factor_dropped", "7x^2 sin(x)", "2x sin(x) + x^2 cos(x)", X),
    ("constant_added", "x^2 sin(x)", "2x sin(x) + x^2 cos(x) + 5", X),
    ("constant_added", "x^2 sin(x)", "2x sin(x) + x^2 cos(x) + C", X),
    ("rounded_constant", "pi x^2", "6.28x", X),
    ("right_on_part_of_domain", "x^2", "2|x|", X),
    ("misread_function", "sin(x)^2", "2x cos(x^2)", {**X, "variants": ["sin(x^2)"]}),
    ("answer_zero", "x^2", "0", X),
    ("undefined_answer", "x^2", "sqrt(-1 - x^2)", X),
    ("missing_parentheses", "ln(2x+1)", "2/2x+1", X),
    ("not_a_formula", "x^3", "17", X),
    # Higher orders: the mistake in the first derivative, in the second, in both.
    ("missing_chain_factor", "sin(5x)", "-5sin(5x)", {**X, "order": 2}),
    ("missing_chain_factor", "sin(5x)", "-sin(5x)", {**X, "order": 2}),
    ("trig_sign", "x sin(x)", "2cos(x) + x sin(x)", {**X, "order": 2}),
    # Vectors and matrices.
    ("components_swapped", "x^2 y", "(x^2, 2x y)", XY),
    ("components_missing", "x^2 y", "2x y", XY),
    ("components_summed", "x^2 y", "2x y + x^2", XY),
    ("power_coefficient", "x^4 y^5", "(x^3 y^5, x^4 y^4)", XY),
    ("trig_sign", "x^2 cos(y)", "(2x cos(y), x^2 sin(y))", XY),
    ("transposed", "[x y, x + 3y]", "[[y, 1], [x, 3]]", {"kind": "jacobian", "wrt": "x,y"}),
    ("transposed", "[x y, x + y, x - y^2]", "[[y, 1, 1], [x, 1, -2y]]",
     {"kind": "jacobian", "wrt": "x,y"}),
    ("mixed_partials_missing", "x^3 y^2", "[[6x y^2, 0], [0, 2x^3]]",
     {"kind": "hessian", "wrt": "x,y"}),
    ("one_row_wrong", "[x^2 y, x + y^3]", "[[2x y, x^2], [7, 8y]]",
     {"kind": "jacobian", "wrt": "x,y"}),
    ("direction_not_normalised", "x^2 y", "6x y + 4x^2",
     {"kind": "directional", "wrt": "x,y", "direction": [3, 4]}),
    ("power_coefficient", "x^4 + y^5", "(3x^3 + 4y^4)/5",
     {"kind": "directional", "wrt": "x,y", "direction": [3, 4]}),
    ("not_a_formula", "x^2 + y^2", "(2x, 2y)", {"kind": "partial", "wrt": "x"}),
    # Points.
    ("evaluated_at_wrong_point", "x^3 + 5x^2", "-8", AT_2),
    ("evaluated_at_wrong_point", "x^3 + 5x^2", "13", AT_2),
    ("answered_original", "x^3 + 5x^2", "28", AT_2),
    ("evaluated_at_wrong_point", "x^3 + 5x^2", "28", AT_2),
    ("wrong_order", "x^3 + 5x^2", "22", AT_2),
    ("power_coefficient", "sqrt(x)", "0.7071", AT_2),
    ("rounded_constant", "x^x", "6.8", AT_2),
    ("not_a_number", "x^3", "3x^2", AT_2),
    ("degree_mode", "sin(x)", "0.99939", AT_2),
    ("degree_mode", "sin(x) + x^2", "2.99985", {**AT_2, "at": {"x": 1}}),
    ("slope_not_evaluated", "x^3", "8 + 3x^2 (x - 2)", {**AT_2, "kind": "tangent"}),
    ("evaluated_at_wrong_point", "x^3", "8 + 3(x - 2)", {**AT_2, "kind": "tangent"}),
    ("power_coefficient", "x^3", "8 + 4(x - 2)", {**AT_2, "kind": "tangent"}),
    ("constant_added", "x^3", "y = 12x", {**AT_2, "kind": "tangent"}),
    # Curves.
    ("implicit_sign", "x^2 + y^3 = 9", "2x/(3y^2)", CURVE),
    ("implicit_inverted", "x^2 + y^3 = 9", "-3y^2/(2x)", CURVE),
    ("implicit_missing_dydx", "x^2 + y^3 = 9", "2x + 3y^2", CURVE),
    ("implicit_missing_dydx", "x^2 + y^3 + 5y = 9", "-(2x + 3y^2)/5", CURVE),
    ("product_of_derivatives", "x^2 + x y + y^2 = 7", "-2x/(2y + 1)", CURVE),
    ("product_one_term", "x^2 + x y + y^2 = 7", "-2x/(x + 2y)", CURVE),
    ("power_coefficient", "x^4 + y^5 = 3", "-x^3/y^4", CURVE),
    ("reciprocal_of_derivative", "[t^2, t^3 + t]", "2t/(3t^2 + 1)",
     {"kind": "parametric", "wrt": "t"}),
    ("missing_chain_factor", "[sin(t^2), t]", "1/cos(t^2)", {"kind": "parametric", "wrt": "t"}),
    ("quotient_of_derivatives", "[t^2, t^3]", "3t",
     {"kind": "parametric", "wrt": "t", "order": 2}),
]


@folded
@pytest.mark.parametrize(("name", "function", "answer", "fields"), CASES)
def test_mistake_is_named(name: str, function: str, answer: str, fields: dict[str, Any]) -> None:
    result = check(prepare(from_fields({"function": function, **fields})), answer)
    assert result["verdict"] == "wrong"
    assert name in (result["mistake"], *result["also"]), result
    assert result["message"].startswith("looks like ")


LINE = {**AT_2, "kind": "tangent"}
PLANE = {"kind": "tangent", "wrt": "x,y", "at": {"x": 1, "y": 2}}
ALONG = {"kind": "directional", "wrt": "x,y", "at": {"x": 1, "y": 2}, "direction": [3, -4]}
# What is said must be so: a tangent is no derivative, and its slope is not the whole of it.
SENTENCES: list[tuple[str, str, dict[str, Any], str]] = [
    # In sin^2 x the square and what is squared are one piece of text.
    ("sin^2 x", "2cos x", X, "at the derivative of sin(x): leave sin(x) inside, and multiply by"
                             " cos(x)"),
    ("x + e^2", "1 + 2e", X, "the power rule was used on the constant e^2"),
    ("x^3", "-12x + 32", LINE, "looks like the slope has the wrong sign;"),
    ("x^3", "-12x + 16", LINE, "this is minus the right answer"),
    ("x^3", "12x - 8", LINE, "the slope is right, but the line lies 8 too high"),
    ("x^3", "12x - 20", LINE, "the slope is right, but the line lies 4 too low"),
    ("x^3", "8 - (x - 2)/12", LINE, "this is the normal, at a right angle to the tangent"),
    ("x^3", "8 + (x - 2)/12", LINE, "the slope is upside down"),
    ("x^3", "12", LINE, "this is only the slope: the equation of the line is asked for"),
    ("x^3", "13", LINE, "this is a number: the equation of the line is asked for"),
    ("sqrt(x)", "0.25", {**LINE, "at": {"x": 4}}, "the equation of the line is asked for"),
    ("x^2 + y^2", "2x + 4y", PLANE, "the slopes are right, but the plane lies 5 too high"),
    ("x^2 y", "16/5", ALONG, "a minus sign of the direction was lost"),
    ("x^2 y", "-8/5", ALONG, "this is minus the right answer"),
    ("x^2 y", "(2xy, x^2)", {**XY, "at": {"x": 1, "y": 2}},
     "the point was not put in: numbers are asked for"),
    ("x^3", "3x^2", AT_2, "the point was not put in: one number is asked for"),
    ("e^x", "7.4", AT_2, "round at the end only, to 3 digits or more;"),
    ("e^x", "7.3", {**AT_2, "tolerance": 1e-3}, "round at the end only;"),
    ("x^2 y", "2x y", XY, "looks like this has only 1 of the 2 components;"),
    ("[x^2 y, x + y]", "[[2x y, 2x], [1, 1]]", {"kind": "jacobian", "wrt": "x,y"},
     "looks like only row 1 is wrong: entries (1,2);"),
    ("x^2", "0", X, "looks like this is 0, as if the function were a constant;"),
    # Not named, but a letter that is not the problem's is told.
    ("x^3", "2b z", X, "the problem has no letter b, z; at x = 1.3,"),
    ("x^3", "n a", X, "the problem has no letter n, a; at x = 1.3,"),
]


@pytest.mark.parametrize(("function", "answer", "fields", "words"), SENTENCES)
def test_sentence_is_true(function: str, answer: str, fields: dict[str, Any], words: str) -> None:
    result = check(prepare(from_fields({"function": function, **fields})), answer)
    assert result["verdict"] == "wrong"
    assert words in result["message"]
    assert result["message"].startswith(result["hint"])


def test_part_of_the_domain_is_told() -> None:
    result = check(prepare(from_fields({"function": "x^2", "wrt": "x"})), "2|x|")
    assert "right only for x > 0" in result["message"]


def test_angles_in_radians_where_degrees_are_asked_for() -> None:
    prepared = prepare(from_fields(
        {"kind": "value", "function": "sin(x)", "wrt": "x", "at": {"x": 60}, "angle": "degree"}))
    assert check(prepared, "0.0087266")["verdict"] == "correct"
    assert "degree_mode" in (r := check(prepared, "-0.016623"))["also"] + [r["mistake"]]


def test_right_answers_have_no_mistake() -> None:
    result = check(prepare(from_fields({"function": "x^2", "wrt": "x"})), "2x")
    assert (result["verdict"], result["mistake"], result["also"]) == ("correct", None, [])


def test_the_answer_does_not_depend_on_what_was_asked_before() -> None:
    answers = ["cos(x^2)", "x^7", "2x cos(x)", "2x sin(x^2)", "cos(2x)"]
    fields = {"function": "sin(x^2)", "wrt": "x"}
    prepared = prepare(from_fields(fields))
    together = [check(prepared, a) for a in answers + answers[::-1]]
    alone = [check(prepare(from_fields(fields)), a) for a in answers]
    for one, *others in zip(alone, together, together[::-1], strict=False):
        for other in others:
            assert {**one, "ms": 0} == {**other, "ms": 0}


@pytest.mark.parametrize(("function", "number"), [
    ("ln(x)", "3"), ("1/x", "3"), ("sqrt(x)", "3"), ("x^(-3)", "7"), ("x + ln(x)", "5"),
    ("max(x, 2) + x^2", "5"), ("|x - 1|/2 + x", "7"), ("ln(x)", "-1")])
def test_no_number_is_the_derivative_where_there_is_none(function: str, number: str) -> None:
    """A pole, a corner, a point at which the function is not defined."""
    found = check(prepare(from_fields({"function": function, **X})), number)
    assert found["verdict"] == "wrong"
    assert "evaluated_at_point" not in (found["mistake"], *found["also"])


@pytest.mark.parametrize(("fields", "answer", "factor"), [
    ({"function": "sin(x)", "angle": "degree"}, "cos(x)", "pi/180"),
    ({"function": "sin(x^2)", "angle": "degree"}, "cos(x^2)", "pi x/90"),
    ({"function": "sin(x/3)"}, "cos(x/3)", "1/3"),
    ({"function": "cos(x^2/7)"}, "-sin(x^2/7)", "2x/7"),
    ({"function": "cos(pi x/2)"}, "-sin(pi x/2)", "pi/2"), ({"function": "sin(0.25x)"},
     "cos(0.25x)", "0.25"), ({"function": "sin(x/pi)"}, "cos(x/pi)", "1/pi")])
def test_the_factor_that_is_told_makes_the_answer_right(
        fields: dict[str, Any], answer: str, factor: str) -> None:
    problem = prepare(from_fields({**fields, **X}))
    message = check(problem, answer)["message"]
    assert f"multiply by {factor};" in message
    assert check(problem, f"({answer})*({factor})")["verdict"] == "correct"


@pytest.mark.parametrize(("function", "answer"), [
    ("x^2", "2.0000001x"), ("sin(x)", "cos(x) + 10^-7"), ("e^x", "e^x (1 + 2*10^-8)"),
    ("x^2", "2x + 1")])
def test_numbers_that_differ_are_shown_with_the_digits_that_do(function: str, answer: str) -> None:
    from re import findall

    problem = prepare(from_fields({"function": function}))
    found = check(problem, answer)
    assert found["verdict"] == "wrong"
    (got, wanted), = findall(r" is (\S+), and should be (\S+)", found["message"])
    assert got != wanted


@pytest.mark.parametrize(("function", "answer"), [
    ("log_3(x^2+1)", "2x/(ln3 (x^2+1))"), ("log_3(x^2+1)", "2x/(ln3(x^2+1))"),
    ("x 3^x", "3^x + 3^x ln3 x"), ("2^x x^2", "2^x ln2 x^2 + 2^x 2x"),
    ("2^x 3^x", "2^x ln2 3^x + 2^x 3^x ln3"), ("5^x sin(x)", "5^x ln5 sin x + 5^x cos x"),
    ("log_5(x^2+1)", "2x/(ln 5 (x^2+1))"), ("log_2 x", "1/(ln 2 x)"), ("2^x", "ln 2 (2^x)"),
    ("2^x", "ln 2(2^x)"), ("x log_2 x", "1/ln 2 (ln x + 1)"), ("sqrt(2) x^2", "sqrt 2 (2x)"),
    ("log_5(x^2+1)", r"\frac{2x}{\ln 5 (x^2+1)}"), ("2^x+3^x", "ln 2 (2^x) + ln 3 (3^x)"),
    ("2^x + cos(2x)", "ln 2 (2^x) - 2 sin 2 x"), ("sin(2) x^2", "sin 2 (2x)")])
def test_a_logarithm_of_a_number_that_may_be_a_factor_is_for_a_person(
        function: str, answer: str) -> None:
    from gradcli.lang.paper.answer import read
    from gradcli.lang.paper.names import ProblemNames

    prepared = prepare(from_fields({"function": function, **X}))
    found = check(prepared, answer)
    assert found["verdict"] in ("undecided", "correct")
    other = found["alternatives"][0] if found["alternatives"] else found["read_as"]
    assert check(prepared, other)["verdict"] == "correct"
    assert read(other, ProblemNames(("x",))).read_as == other


@pytest.mark.parametrize(("function", "answer"), [
    ("x ln(3x)", "ln3x + 1"), ("x ln(3x)", "ln3 x + 1"), ("x ln(3x)", "ln 3x + 1")])
def test_a_logarithm_of_a_product_stays_one(function: str, answer: str) -> None:
    assert check(prepare(from_fields({"function": function, **X})), answer)["verdict"] == "correct"


def test_mixed_partials_name_the_derivative_that_was_given() -> None:
    problem = prepare(from_fields({"function": "x^4 y^2", "kind": "partial", "wrt": "x,y"}))
    assert "with respect to x, 2 times: asked for is the one by x, then y;" in check(
        problem, "12x^2y^2")["message"]
    assert "the first derivative by x, which" in check(problem, "4x^3y^2")["message"]


@pytest.mark.parametrize(("function", "wrt", "answer"), [
    ("rho g h", "h", "rho g"), ("phi p^2", "p", "2 phi p"), ("chi c", "c", "chi"),
    ("tau t", "t", "tau"), ("psi p s", "p", "psi s"), ("eta t", "t", "eta")])
def test_greek_names_are_one_letter_beside_variables_of_the_same_letters(
        function: str, wrt: str, answer: str) -> None:
    prepared = prepare(from_fields({"function": function, "wrt": wrt}))
    assert check(prepared, answer)["verdict"] == "correct"


BRACKETS: list[tuple[str, str, dict[str, Any], str]] = [
    # A fraction or a power on one line, and what is typed without blanks.
    ("sqrt x", "1/2sqrt(x)", X, "high"), ("ln x/2", "1/2x", X, "high"),
    ("e^(2x)", "2e^2x", X, "high"), ("ln(2x+1)", "2/2x+1", X, "high"),
    ("ln(x^2+1)", "2x/x^2 + 1", X, "high"), ("x^n", "n x^n-1", X, "high"),
    ("2 sqrt(x+1)", "1/sqrt x+1", X, "high"), ("-2cos(x/2)", "sin x/2", X, "high"),
    ("x^2 + x y + y^2 = 7", "-2x - y/x + 2y", CURVE, "high"),
    ("x^2 - x^2/2 - x", "2x - x+1", X, "high"), ("x^3/3 + x^2", "x * x+2", X, "high"),
    # A blank that a student without brackets would not type.
    ("sqrt x", "1/2 sqrt(x)", X, "low"), ("e^(2x)", "2e^2 x", X, "low"),
    ("2/3 (x+1)^1.5", "sqrt x + 1", X, "low"),
    # Sums that nobody wrote as one: a lost sign, another rule.
    ("x^2 - x^2/2 - x", "2x - x + 1", X, "low"), ("x^3/3 + x^2", "x*x+2", X, "low"),
    ("x^3/3 + x^2", "x*x + 2", X, "low"), ("arctan(sqrt x)", "1/(2x^(3/3)+2sqrt(x))", X, "low"),
    ("x^2 e^(-x^2)", "2x e^(-x^2) - x^2 e^(-x^2)", X, "low"),
    ("sin x", "y = x/2 - pi/6 - sqrt(3)/2", {"kind": "tangent", "wrt": "x", "at": {"x": "pi/3"}},
     "low")]


@pytest.mark.parametrize(("function", "answer", "fields", "sure"), BRACKETS)
def test_brackets_are_missed_where_the_spelling_says_so(
        function: str, answer: str, fields: dict[str, Any], sure: str) -> None:
    found = check(prepare(from_fields({"function": function, **fields})), answer)
    assert (found["mistake"], found["confidence"]) == ("missing_parentheses", sure), found


@pytest.mark.parametrize(("curve", "x", "y"), [
    ("x^3 + y^3 = 9", 1, 2), ("x^2 + y^2 = 5", 1, 2), ("x^2 + x y + y^2 = 7", 1, 2),
    ("x y = 6", 2, 3), ("y = x^3", 2, 8), ("x^2 - y^2 = 5", 3, 2), ("x = y^2", 4, 2)])
@pytest.mark.parametrize("order", [1, 2])
def test_other_points_lie_on_the_curve(curve: str, x: float, y: float, order: int) -> None:
    from gradcli.homework.mistakes.derivation import AnswerDerivation
    from gradcli.homework.mistakes.whole import other_points

    problem = from_fields({"function": curve, **CURVE, "at": {"x": x, "y": y}, "order": order})
    derivation = AnswerDerivation(prepare(problem).reference)
    left, right = curve.replace("^", "**").replace("x y", "x*y").split("=")
    for found in other_points(derivation, 0):
        point = dict(part.split(" = ") for part in found.detail["at"].split(", "))
        names = {name: float(value) for name, value in point.items()}
        assert eval(left, names) == eval(right, names), found.detail


@pytest.mark.parametrize(("function", "answer", "fields"), [
    ("sqrt x", "y = 4x - 14", {"kind": "tangent", "wrt": "x", "at": {"x": 4}}),
    ("x^2 + y^2 = 5", "5/8", {**CURVE, "at": {"x": 1, "y": 2}, "order": 2})])
def test_several_explanations_of_a_number_are_not_sure(
        function: str, answer: str, fields: dict[str, Any]) -> None:
    found = check(prepare(from_fields({"function": function, **fields})), answer)
    assert found["confidence"] == "low"
    assert found["also"]


@pytest.mark.parametrize(("function", "answer", "fields", "component"), [
    ("[x^2 - y^2, 2x y]", "[2x, 2y; 2y, 2x]", {"kind": "jacobian", "wrt": "x,y"}, "(1,2)"),
    ("x^2 - y^2", "(2x, 2y)", XY, "2"), ("x^2 y", "(2x y, -x^2)", XY, "2")])
def test_what_is_said_of_one_component_names_it(
        function: str, answer: str, fields: dict[str, Any], component: str) -> None:
    found = check(prepare(from_fields({"function": function, **fields})), answer)
    assert found["hint"].endswith(f"in component {component}") or (
        "of a term" in found["hint"]), found["hint"]


@pytest.mark.parametrize(("function", "answer", "fields", "region"), [
    ("x^2 + y^2 = 25", "-x/sqrt(25 - x^2)", CURVE, "y > 0"),
    ("x^2 + y^2 = 25", "x/sqrt(25 - x^2)", CURVE, "y < 0"),
    ("y^2 = x", "1/(2sqrt x)", CURVE, "y > 0"), ("4x^2 + 9y^2 = 36", "-4x/(3 sqrt(36 - 4x^2))",
                                                 CURVE, "y > 0"),
    ("sqrt(x/y)", "1/(2sqrt(x y))", {"kind": "partial", "wrt": "x"}, "x > 0"),
    ("2 pi sqrt(L/g)", "pi/sqrt(L g)", {"wrt": "L"}, "L > 0"),
    ("x^2", "2|x|", X, "x > 0"), ("x|x|", "2x", X, "x > 0")])
@pytest.mark.parametrize("seed", range(5))
def test_where_an_answer_is_right(function: str, answer: str, fields: dict[str, Any], region: str,
                                  seed: int) -> None:
    found = check(prepare(from_fields({"function": function, **fields}), seed), answer)
    assert found["hint"].endswith((f"right only for {region}", "what is inside: for negative"
                                   " values it has the other sign")), found["hint"]


SAID: list[tuple[str, str, dict[str, Any], str]] = [
    ("sin(x)/5", "cos x", X, "the constant factor 1/5 of sin(x)/5 is missing"),
    ("x^2/(2pi) + x", "2x + 1", X, "the constant factor 1/(2pi) of x^2/(2pi) is missing"),
    ("7 sin x + x", "cos x + 1", X, "the constant factor 7 of 7 sin x is missing"),
    ("x^3/y", "3x^2", {"kind": "partial", "wrt": "x"}, "the factor 1/y of x^3/y is missing"),
    ("1/(x^2+1)", "-2x", X, "divide by the square of x^2+1"),
    ("x^x", "x^x ln x", X, "(u^v)' is u^v (v' ln u + v u'/u)"),
    ("(2x+1)^x", "2x (2x+1)^(x-1)", X, "(u^v)' is u^v (v' ln u + v u'/u)"),
    ("5^(x^2)", "x^2 5^(x^2 - 1) 2x", X, "(c^u)' is c^u ln(c) u'"),
    ("x^4", "x^4 ln(x)", X, "(u^n)' is n u^(n-1) u'"),
    ("A sin(w t + p)", "A cos(w t + p)", {"wrt": "t"}, "multiply by w"),
    ("cos(sin(3x))", "-3sin(sin(3x))", X, "lacks a factor: it is 3cos(3x)"),
    ("sin^2(3x)", "6 sin(3x)", X, "lacks a factor: it is 3cos(3x)"),
    ("|x-2|", "1", X, "for negative values it has the other sign"),
    ("sin(x-2)", "cos(1)", X, "leave x-2 inside")]


@pytest.mark.parametrize(("function", "answer", "fields", "words"), SAID)
def test_what_is_said_is_right_when_followed(
        function: str, answer: str, fields: dict[str, Any], words: str) -> None:
    told = check(prepare(from_fields({"function": function, **fields})), answer)["hint"]
    assert told.endswith(words) or words + ":" in told or words + "," in told, told


@pytest.mark.parametrize(("function", "answer"), [
    ("sin(1)/floor(x)^2", "x*y"), ("sin(1)/floor(x)^2", "x"), ("x^2/relu(-x)", "x^3/3")])
def test_infinite_values_warn_nobody(function: str, answer: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check(prepare(from_fields({"function": function, "kind": "partial", "wrt": "x"})), answer)
    assert told == []


def test_a_kind_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right answers, mistakes and what a kind has not come of it, without a change elsewhere."""
    from gradcli.homework.checking.kinds import KINDS, derivatives, left_of_any
    from gradcli.homework.checking.problem import Problem, ProblemKind, weighted

    def laplacian(reference: Any, c: int, d: Any) -> int:
        return weighted(reference.formula, [
            d((d((reference.functions[0], n, None)), n, None)) for n in reference.wrt],
            [1.0] * len(reference.wrt))

    monkeypatch.setitem(KINDS, "laplacian", ProblemKind(
        "laplacian", lambda reference, c: reference.wrt[:1] * 2, derivatives, left_of_any,
        component=laplacian))
    prepared = prepare(Problem(kind="laplacian", function="sin(x^2) + y^2"))
    for answer, mistake in (
            ("2cos(x^2) - 4x^2 sin(x^2) + 2", None), ("2 - 2x sin(x^2)", "missing_chain_factor"),
            ("2cos(x^2) + 4x^2 sin(x^2) + 2", "trig_sign"), ("2", "wrong_variable"),
            ("sin(x^2) + y^2", "answered_original")):
        found = check(prepared, answer)
        assert (found["verdict"], found["mistake"]) == (
            "wrong" if mistake else "correct", mistake), found
    with pytest.raises(GradcliError, match="`direction`"):
        prepare(Problem(kind="laplacian", function="x y", direction=(3.0, 4.0)))
