"""Every wrong rule of the table is recognised in an answer that was worked out by hand with it.

The answers are texts; they share nothing with the sweeps that find the rules.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from conftest import folded

from gradcli.homework.check import Trial, check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.checking.judge import judge
from gradcli.homework.mistakes.diagnosis import explanations
from gradcli.homework.mistakes.rules import RULES

# name; function; what a student writes who makes this mistake
BY_RULE = """
missing_chain_factor; sin(x^2); cos(x^2)
missing_chain_factor; (x^2+1)^5; 5(x^2+1)^4
missing_chain_factor; 2^(x^2); 2^(x^2) ln(2)
missing_chain_factor; sqrt(x^3+1); 1/(2sqrt(x^3+1))
missing_chain_factor; 1/(x^3+2); -1/(x^3+2)^2
missing_chain_factor; sin^2(3x); 6 sin(3x)
missing_chain_factor; e^(sin(x^2)); 2x e^(sin(x^2))
missing_chain_factor; (5 - cos(2x))^3; -6(5 - cos(2x))^2
product_of_derivatives; x^2 sin(x); 2x cos(x)
quotient_of_derivatives; x^3/sin(x); 3x^2/cos(x)
quotient_reversed; x^3/sin(x); (x^3 cos(x) - 3x^2 sin(x))/sin^2(x)
product_one_term; x^2 sin(x); 2x sin(x)
product_one_term; x^2 sin(x); x^2 cos(x)
power_coefficient; x^7; x^6
power_exponent_not_reduced; x^7; 7x^7
power_exponent_not_reduced; sqrt(x); sqrt(x)/2
power_exponent_increased; x^-3; -3x^-2
power_exponent_increased; 5/x^3; -15x^-2
trig_sign; x + sin(x); 1 - cos(x)
trig_sign; cos(3x); 3sin(3x)
trig_sign; arctan(x); -1/(1+x^2)
quotient_denominator_not_squared; x^3/sin(x); (3x^2 sin(x) - x^3 cos(x))/sin(x)
quotient_denominator_not_squared; 1/(x^3+2); -3x^2/(x^3+2)
quotient_denominator_dropped; x^3/sin(x); 3x^2 sin(x) - x^3 cos(x)
quotient_plus; x^3/sin(x); (3x^2 sin(x) + x^3 cos(x))/sin^2(x)
product_minus; x^2 e^(3x); 2x e^(3x) - 3x^2 e^(3x)
product_minus; x^2 e^(3x); 3x^2 e^(3x) - 2x e^(3x)
chain_outer_at_inner_derivative; sin(x^3); cos(3x^2)
chain_outer_not_differentiated; sin(x^3); 3x^2 sin(x^3)
chain_outer_at_x; sin(x^3); 3x^2 cos(x)
chain_constant_lost; sin(5x^3); x^2 cos(5x^3)
chain_constant_lost; sin(5x^3); 3x^2 cos(5x^3)
abs_ignored; |x^3|; 3x^2
abs_ignored; sqrt((x^3-1)^2); 3x^2
constant_not_dropped; x^3 + 7; 3x^2 + 7
constant_not_dropped; 7 - x^3; 7 - 3x^2
other_variable_dropped; x^3 y^2; 3x^2
other_variable_dropped; y^2/x; -1/x^2
missing_log_base; 5^x; 5^x
missing_log_base; log_3(x); 1/x
missing_log_base; log2(x^2+1); 2x/(x^2+1)
power_rule_on_exponential; 5^x; x*5^(x-1)
power_rule_on_exponential; e^(x^2); 2x x^2 e^(x^2-1)
power_rule_on_exponential; (2x+1)^x; 2x (2x+1)^(x-1)
exponential_rule_on_power; x^4; x^4 ln(x)
exponential_rule_on_power; (3x+1)^4; 3(3x+1)^4 ln(3x+1)
power_rule_on_constant; x^2 + 3^4; 2x + 4*3^3
log_rule; ln(x^2+1); 2x/ln(x^2+1)
log_rule; ln(x^2+1); 2x ln(x^2+1)/(x^2+1)
log_rule; ln(x^3+x); 1/(3x^2+1)
power_coefficient_off_by_one; x^7; 6x^6
trig_rule; tan(2x); 2sec(2x)
trig_rule; tan(2x); 2sec(2x)tan(2x)
trig_rule; sec(2x); 2tan^2(2x)
trig_rule; sec(2x); 2sec^2(2x)
trig_rule; csc(2x); -2cot^2(2x)
trig_rule; csc(2x); -2csc^2(2x)
trig_rule; cot(2x); -2csc(2x)cot(2x)
trig_rule; cot(2x); 2sec^2(2x)
trig_rule; tanh(2x); 2sech(2x)tanh(2x)
inverse_trig_rule; arctan(3x); 3/(1-9x^2)
inverse_trig_rule; arcsin(x/3); (1/3)/sqrt(1+x^2/9)
inverse_trig_rule; arccos(x/3); -(1/3)/sqrt(1+x^2/9)
inverse_trig_rule; artanh(x/3); (1/3)/(1+x^2/9)
inverse_trig_rule; arsinh(x/3); (1/3)/sqrt(1-x^2/9)
inverse_trig_rule; arctan(3x); 3/sqrt(1-9x^2)
inverse_trig_rule; x arctan x; arctan x + x/sqrt(1-x^2)
inverse_trig_rule; arcsin(2x); 2/(1+4x^2)
inverse_trig_rule; arccos(2x); -2/(1+4x^2)
inverse_trig_rule; arccot(x/2); -(1/2)/sqrt(1-x^2/4)
inverse_trig_rule; arcsec(2x); 2/sqrt(4x^2-1)
inverse_trig_rule; arsinh(2x); 2/sqrt(4x^2-1)
inverse_trig_rule; arcosh(2x); 2/sqrt(4x^2+1)
inverse_trig_rule; artanh(2x); 2/sqrt(1+4x^2)
missing_log_base; 5^(2x+1); 2*5^(2x+1)
missing_log_base; 3^(x^2); 2x 3^(x^2)
inverse_as_reciprocal; arcsin(x/3); -(1/3)cos(x/3)/sin^2(x/3)
inverse_as_reciprocal; arccos(x/3); (1/3)sin(x/3)/cos^2(x/3)
inverse_as_reciprocal; arctan(3x); -3csc^2(3x)
constant_factor_dropped; 5x^3; 3x^2
constant_factor_dropped; sin(x)/5; cos(x)
constant_factor_dropped; 5/x; -1/x^2
sign_error; x + e^(-pi x); 1 + pi e^(-pi x)
sign_error; x^3 + sin(x); 3x^2 - cos(x)
sign_error; x^3 + e^(2x); 2e^(2x) - 3x^2
sign_error; x^3 - ln(x); 3x^2 + 1/x
sign_error; x^3 - e^(2x); -3x^2 - 2e^(2x)
sign_error; x e^(2x) + (-x^3); e^(2x) + 2x e^(2x) + 3x^2
missing_term; x^3 + tan(x); 3x^2
missing_term; x^3 + tan(x); sec^2(x)
missing_term; x^3 - tan(x); 3x^2
missing_term; x^3 - tan(x); -sec^2(x)
linear_extrapolation; sqrt(x^2+25); 1
linear_extrapolation; (x^2+x)^3; 6x^5 + 3x^2
linear_extrapolation; ln(x^3+7); 3/x + ln(7)
constant_to_one; x^3 + 7; 3x^2 + 1
quotient_of_derivatives; 5/(x^3+x); 1/(3x^2+1)
quotient_reversed; 5/(x^3+x); 5(3x^2+1)/(x^3+x)^2
quotient_denominator_dropped; 5/(x^3+x); -5(3x^2+1)
quotient_denominator_dropped; 1/sin(x); -cos(x)
quotient_plus; 5/(x^3+x); 5(3x^2+1)/(x^3+x)^2
power_coefficient; 1/x; x^-2
power_exponent_not_reduced; 1/(x^2+1); -2x/(x^2+1)
power_coefficient_off_by_one; sqrt(x^2+1); -x/sqrt(x^2+1)
""".strip().splitlines()

# Twice the same mistake, and two mistakes, one inside of the other or side by side.
SEVERAL = """
missing_chain_factor; sin(3x) + cos(5x); cos(3x) - sin(5x)
trig_sign; sin(x) + cos(x); sin(x) - cos(x)
power_coefficient; x^4 + x^5; x^3 + x^4
missing_chain_factor power_coefficient; sin(x^2) + x^5; cos(x^2) + x^4
product_of_derivatives missing_chain_factor; x^2 sin(x^3); 2x cos(x^3)
quotient_plus trig_rule; tan(x)/x^3; (x^3 sec(x)tan(x) + 3x^2 tan(x))/x^6
""".strip().splitlines()


def problem(function: str, **fields: Any) -> Any:
    """A problem in x, ready."""
    return prepare(from_fields({"kind": "partial", "function": function, "wrt": "x", **fields}))


def diagnosed(function: str, answer: str, **fields: Any) -> dict[str, Any]:
    return check(problem(function, **fields), answer)


def names(result: dict[str, Any]) -> set[str]:
    return {result["mistake"], *result["also"]}


@folded
@pytest.mark.parametrize("row", BY_RULE)
def test_rule_is_named(row: str) -> None:
    name, function, answer = [part.strip() for part in row.split(";")]
    result = diagnosed(function, answer)
    assert result["verdict"] == "wrong"
    assert name in names(result)
    assert result["confidence"] in ("high", "low")
    assert result["message"].startswith("looks like ")
    assert result["message"].endswith(check_without_sentence(result))


def check_without_sentence(result: dict[str, Any]) -> str:
    """What the message ends with: the values at the witness."""
    from gradcli.homework.checking.compare import shown

    return f"should be {shown(result['witness']['expected'])}"


def test_every_row_of_the_table_is_found() -> None:
    """No row is without an answer that it explains, by itself and not by another row."""
    found = set()
    for row in BY_RULE:
        _, function, answer = [part.strip() for part in row.split(";")]
        for one in raw(function, answer):
            found.add(one.rule)
    missing = [(rule.name, rule.rank) for rule in RULES if rule not in found]
    assert missing == []


def raw(function: str, answer: str) -> list[Any]:
    """All explanations of an answer, unranked."""
    from gradcli.homework.checking.answered import Answered
    from gradcli.lang.paper.answer import read

    prepared = problem(function)
    trial = Trial(prepared, Answered(
        read(answer, prepared.reference.names), prepared.reference, prepared.problem), float("inf"))
    judge(trial, {"points": {}, "fingerprint": None})
    return explanations(prepared, trial, [], float("inf"))


@pytest.mark.parametrize("row", SEVERAL)
def test_several_mistakes_in_one_answer(row: str) -> None:
    wanted, function, answer = [part.strip() for part in row.split(";")]
    assert set(wanted.split()) <= names(diagnosed(function, answer))


def test_sentence_shows_the_place_and_what_is_right() -> None:
    message = diagnosed("x + sin(x^2)", "1 + cos(x^2)")["message"]
    assert message.startswith(
        "looks like the inner derivative of sin(x^2) is missing: multiply by 2x; at x = ")


def test_one_clear_mistake_is_told_with_high_confidence() -> None:
    assert diagnosed("x^2 sin(x)", "2x cos(x)")["confidence"] == "high"
    # A constant agrees with much by chance, and a ratio says little.
    assert diagnosed("x^2", "2")["confidence"] == "low"
    assert diagnosed("x^2 sin(x)", "14x sin(x) + 7x^2 cos(x)")["confidence"] == "low"


@pytest.mark.parametrize(("mistake", "function", "answer", "fields"), [
    ("components_swapped", "x^2 y + 3 sin y", "(x^2 + 3cos y, 2xy)",
     {"kind": "gradient", "wrt": "x,y"}),
    ("mixed_partials_missing", "x^3 + 2x y^2", "[6x, 0; 0, 4x]",
     {"kind": "hessian", "wrt": "x,y"}),
    ("transposed", "[x^2 y, y^3 + x]", "[2xy, 1; x^2, 3y^2]",
     {"kind": "jacobian", "wrt": "x,y"}),
    ("direction_not_normalised", "x^2 y", "16",
     {"kind": "directional", "wrt": "x,y", "direction": [3, 4], "at": {"x": 1, "y": 2}}),
    ("missing_chain_factor", "x^2 y^3 + e^(xy)", "3x^2 y^2 + e^(xy)", {"wrt": "y"}),
    ("other_variable_not_constant", "x^2 y^3", "2x y^3 + 3x^2 y^2", {}),
    ("implicit_inverted", "x^3 + y^2 = 7", "-2y/(3x^2)",
     {"kind": "implicit", "dependent": "y"})])
def test_what_explains_the_whole_answer_is_sure(
        mistake: str, function: str, answer: str, fields: dict[str, Any]) -> None:
    result = diagnosed(function, answer, **fields)
    assert (result["mistake"], result["confidence"]) == (mistake, "high"), result


# function; answer; the mistake of the chain rule; what else went wrong with the same operation
AT_ONE_PLACE = """
cos(x^2); sin(x^2); missing_chain_factor; trig_sign
sin(3x); -cos(3x); missing_chain_factor; trig_sign
x cos(x^2); cos(x^2) + x sin(x^2); missing_chain_factor; trig_sign
(2x+1)^5; (2x+1)^4; missing_chain_factor; power_coefficient
(2x+1)^5; 5(2x+1)^5; missing_chain_factor; power_exponent_not_reduced
sqrt(x^2+1); 1/sqrt(x^2+1); missing_chain_factor; power_coefficient
1/(x^3+2); 1/(x^3+2)^2; missing_chain_factor; quotient_reversed
log_2(x^2+1); 1/(x^2+1); missing_chain_factor; missing_log_base
tan(x^2); sec(x^2); missing_chain_factor; trig_rule
atan(3x); 1/(1-9x^2); missing_chain_factor; inverse_trig_rule
cos(3x^2); x sin(3x^2); chain_constant_lost; trig_sign
""".strip().splitlines()


@pytest.mark.parametrize("row", AT_ONE_PLACE)
def test_two_mistakes_with_one_operation(row: str) -> None:
    function, answer, chain, other = row.split("; ")
    result = diagnosed(function, answer)
    assert (result["mistake"], result["confidence"]) == (chain, "low")
    assert other in result["also"]
    assert "; and " in result["hint"]


def test_two_mistakes_with_one_operation_are_told_of_components_too() -> None:
    result = diagnosed("cos(x^2 y)", "(sin(x^2 y), x^2 sin(x^2 y))", kind="gradient", wrt="x,y")
    assert result["mistake"] == "trig_sign"     # of the second component it is all
    result = diagnosed("cos(x^2 y)", "(sin(x^2 y), sin(x^2 y))", kind="gradient", wrt="x,y")
    assert (result["mistake"], result["also"][0]) == ("missing_chain_factor", "trig_sign")


@pytest.mark.parametrize(("answer", "mistake"), [
    ("(a^2 x + 2a)e^(-a x)", "sign_error"), ("a^2 x e^(-a x)", "product_one_term"),
    ("(2 + x)e^(-a x)", "missing_chain_factor")])
def test_one_row_of_several_with_a_name_is_used_everywhere(answer: str, mistake: str) -> None:
    """Twice the same, in f' and in f'': by another row of the name the answer would differ."""
    assert mistake in names(diagnosed("x e^(-a x)", answer, order=2, parameters="a"))


@pytest.mark.parametrize(("function", "answer", "fields"), [
    ("x^3", "0", {}), ("x^2 y", "2", {}),
    ("x^2 y", "(1, 4)", {"kind": "gradient", "wrt": "x,y", "at": {"x": 1, "y": 2}})])
def test_constants_are_not_sure(function: str, answer: str, fields: dict[str, Any]) -> None:
    assert diagnosed(function, answer, **fields)["confidence"] != "high"


FUNCTIONS = """
x^2 sin(x); 2x sin(x) + x^2 cos(x)
e^(3x); 3e^(3x)
ln(x^2+4); 2x/(x^2+4)
(x^3+1)/(x-2); (2x^3-6x^2-1)/(x-2)^2
sqrt(x^2+9); x/sqrt(x^2+9)
tan(2x); 2sec^2(2x)
arctan(x^2); 2x/(1+x^4)
x^7 - 5x; 7x^6 - 5
cos(e^x); -e^x sin(e^x)
2^x/x; 2^x (x ln(2) - 1)/x^2
sinh(x) cosh(3x); cosh(x)cosh(3x) + 3sinh(x)sinh(3x)
(2x+3)^6 x; (2x+3)^6 + 12x(2x+3)^5
""".strip().splitlines()


@pytest.mark.parametrize(("function", "answer", "fields"), [
    ("sin(x^2)", "cos(x^2)", {}), ("sin(x^2)", "0.5403", {"kind": "value", "at": {"x": 1}}),
    ("x^2 y", "(x^2, 2xy)", {"kind": "gradient", "wrt": "x,y"})])
def test_hint_is_the_sentence_alone(function: str, answer: str, fields: dict[str, Any]) -> None:
    result = diagnosed(function, answer, **fields)
    assert result["hint"].startswith("looks like ")
    assert result["message"].startswith(f"{result['hint']}; ")
    assert "should be" in result["message"]
    assert "should be" not in result["hint"]


def test_nothing_is_hinted_where_no_mistake_is_known() -> None:
    assert diagnosed("sin(x^2)", "cos(x^2) + ln(7x)")["hint"] is None
    assert diagnosed("sin(x^2)", "2x cos(x^2)")["hint"] is None


def test_unrelated_answers_have_no_name() -> None:
    rows = [[part.strip() for part in row.split(";")] for row in FUNCTIONS]
    spoken, asked = [], 0
    prepared = {function: problem(function, kind="derivative") for function, _ in rows}
    for (function, right), (_, answer) in itertools.product(rows, rows):
        result = check(prepared[function], answer)
        if answer == right:
            assert result["verdict"] == "correct"
            continue
        asked += 1
        if result["mistake"]:
            spoken.append((function, answer, result["mistake"]))
    assert asked == 132
    assert len(spoken) <= 3, spoken


def test_long_functions_are_diagnosed_too() -> None:
    """Beyond some operations the rest of a sweep is one product: the same mistakes are found."""
    terms = [f"sin({k}x)" for k in range(2, 40)]
    right = [f"{k}cos({k}x)" for k in range(2, 40)]
    function = " + ".join([*terms, "x^5"])
    assert diagnosed(function, " + ".join([*right, "x^4"]))["mistake"] == "power_coefficient"
    lost = [*right[:20], "cos(22x)", *right[21:], "5x^4"]
    assert "missing_chain_factor" in names(diagnosed(function, " + ".join(lost)))


@pytest.mark.parametrize(("kind", "function", "answer", "what"), [
    ("tangent", "x^3 - x", "y = 6x - 6", "the function's value as the slope"),
    ("tangent", "x^3 - x", "y = 12x - 18", "the second derivative as the slope"),
    ("tangent", "x^2 + x", "y = x + 4", "the slope at another point"),
    ("value", "x^3 - x", "6", "the function itself, not its derivative"),
    ("value", "x^3 - x", "12", "the second derivative, which was not asked for"),
    ("value", "x^3 - x", "18", "the difference to the next whole step"),
])
def test_what_was_put_in_place_of_a_slope_is_named(
        kind: str, function: str, answer: str, what: str) -> None:
    """At 2, where x^3 - x is 6, its slopes 11 and 12, and 24 at the next whole number."""
    found = check(prepare(from_fields(
        {"function": function, "kind": kind, "at": {"x": 2}})), answer)
    assert found["verdict"] == "wrong"
    assert found["message"].startswith(f"looks like this is {what}"), found["message"]
