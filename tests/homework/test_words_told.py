"""Functions without brackets, words that are none, and what is told about them; answers without a
value, equations in place of functions, and numbers that a tolerance does not reach.
"""

from __future__ import annotations

import math
import re

import pytest
from conftest import folded
from draws import drawn
from terminals import bare, on_terminal
from test_check import check
from test_check_words import refused
from transcripts import in_process

from gradcli.homework.lint import lint
from gradcli.homework.sheets.formats import parse
from gradcli.lang.messages.unknown import OTHER_SYSTEMS, SPELLINGS
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.tokens import ALONE, BARE, SCHOOL, SPECIAL
from gradcli.ops import PUBLIC

X = ProblemNames(("x",))


def asked(*arguments: str) -> tuple[int, str]:
    status, out, err = in_process(list(arguments))
    return status, out + err


# What is written without brackets, and the same with them.
BRACKETS = (("{} x", "{}(x)"), ("{} 2x + 1", "{}(2x) + 1"), ("3x {} x", "3x {}(x)"),
            ("{}^2 x", "({}(x))^2"), ("x^2 - {} x^3", "x^2 - {}(x^3)"),
            ("2 {} x sin x", "2 {}(x) sin(x)"), ("x {} sqrt x", "x {}(sqrt(x))"))


@folded
@pytest.mark.parametrize("word", sorted({*BARE, "sin"}))
def test_a_function_without_brackets_takes_what_follows(word: str) -> None:
    for short, bracketed in BRACKETS:
        found, same = [[step[:2] for step in read(text.format(word), X).code]
                       for text in (short, bracketed)]
        assert found == same, short


def test_what_needs_no_brackets() -> None:
    """All functions of one operand but letters, and words that mean something without them."""
    words = "round fix neg negative positive identity square reciprocal radians degrees absolute"
    for word, op in PUBLIC.items():
        if word in SPECIAL and len(op.parameters) == 1 and word.isalpha() and len(word) > 2 \
                and word not in SCHOOL and word not in ALONE:
            assert (word in BARE) != (word in words.split() or word in (
                "gamma", "psi", "chi")), word


@folded
@pytest.mark.parametrize("word", sorted(BARE))
def test_letters_that_are_declared_are_a_product(word: str) -> None:
    """But for the functions of school in them."""
    letters = ProblemNames(tuple(dict.fromkeys(f"{word}x".replace("e", ""))))
    assert read(f"{word} x", letters).read_as != read(f"{word}(x)", X).read_as


@pytest.mark.parametrize(("function", "answer", "right"), [
    ("x erf(x)", "erf x + 2x/sqrt(pi) e^(-x^2)", True), ("erf x", "2/sqrt(pi) e^(-x^2)", True),
    ("x erf(x)", "erf x + x/sqrt(pi) e^(-x^2)", False), ("floor x", "0", True),
    ("argsinh x", "1/sqrt(1 + x^2)", True), ("argsh x", "1/sqrt(1 - x^2)", False),
    ("lgamma x", "digamma(x)", True), ("lgamma x", "digamma x", True),
    ("softplus x", "sigmoid x", True), ("softplus x", "sigmoid(x)^2", False),
    ("erfc 2x", "-4/sqrt(pi) e^(-4x^2)", True), ("erfc 2x", "-2/sqrt(pi) e^(-4x^2)", False)])
def test_special_functions_in_sheets(function: str, answer: str, right: bool) -> None:
    assert (check(function, answer, wrt="x")["verdict"] == "correct") == right


@folded
@pytest.mark.parametrize("word", sorted(BARE))
def test_no_word_makes_an_answer_right(word: str) -> None:
    assert check("x^2", f"2x + {word} x", wrt="x")["verdict"] != "correct"


@pytest.mark.parametrize(("text", "help"), [
    ("square x", "write square(x)"), ("maximum x", "write maximum(a, b)"),
    ("velocity t", "put one letter in place of the word"),
    ("mgky x", "write m*g*k*y for a product"), ("x2 + 1", "write x^2 or x*2"),
    ("k1 t", "write k_1 for a name, k*1 for a product"),
    ("log5(x)", "write log_5(x) for the base, or log(5x)"),
    ("cuberoot x", "write cbrt(x)"), ("2,000.0x", "write 2000.0"),
    ("12,34,56x", "write 123456"), ("3,5x", "write 3.5")])
def test_what_a_sheet_is_told(text: str, help: str) -> None:
    assert refused(text).help == help
    for word in re.findall(r"write (\S+)", help):
        if word not in ("square(x)", "maximum(a,"):
            assert check(f"{word} x", "1", wrt="x")["verdict"] in ("correct", "wrong")


def test_two_answers_are_none() -> None:
    found = check("x^2", "2x or -2x")
    assert (found["verdict"], found["message"]) == (
        "undecided", "1 of 2 answers is right: a person has to look at it")
    assert check("o r x", "or", wrt="x")["verdict"] == "correct"


# ---- answers without a value, equations --------------------------------------------------------


def test_an_answer_that_no_number_is() -> None:
    """Whatever is divided by 0, or is the logarithm of 0, is wrong; undefined where it is all."""
    draw = drawn("undefined answers")
    for nothing in ("1/0", "ln 0", "-1/0", "0/0", "x/0", "2x/0", "ln(0)", "0^-1", "ln(1 - 1)"):
        found = check("x^2", nothing)
        assert (found["verdict"], found["mistake"]) == ("wrong", "undefined_answer"), nothing
        other = f"{draw.choice(('2x', 'x^2', 'sin x'))} {draw.choice('+-')} {nothing.lstrip('-')}"
        assert check("x^2", other)["verdict"] == "wrong", other
    # What is too large for a float only, or has 0 below it for other reasons, is not told wrong.
    assert check("x^2", "2x + 1/(1/0)")["verdict"] == "correct"
    assert check("x^2", "2x e^(800x)/e^(800x)")["verdict"] != "wrong"


@pytest.mark.parametrize(("function", "fields", "code", "help"), [
    ("x^2 = 4", {}, "E0704", "write a function, such as x^2"),
    ("x^2 = 4", {"kind": "tangent", "at": {"x": 2}}, "E0704", "write a function, such as x^2"),
    ("2y = x^2", {"wrt": "x"}, "E0702", 'write dependent = "y"'),
    ("2y = x^2", {"wrt": "x", "dependent": "y", "kind": "derivative"}, "E0702",
     "the kind of an equation is implicit")])
def test_an_equation_is_no_function(function: str, fields: dict[str, object], code: str, help: str
                                    ) -> None:
    """The derivative of its right side was right before: 2x for 2y = x^2."""
    with pytest.raises(Exception, match="equation") as caught:
        check(function, "2x", **fields)
    assert (caught.value.code, caught.value.help) == (code, help)  # type: ignore[attr-defined]
    assert check("2y = x^2", "x", wrt="x", dependent="y")["verdict"] == "correct"
    assert check("y = x^2", "2x", wrt="x")["verdict"] == "correct"


@pytest.mark.parametrize(("equation", "right", "wrong"), [
    ("y = cos(x y)", "-y sin(xy)/(1 + x sin(xy))", "-y sin(xy)"),
    ("y = x + sin y", "1/(1 - cos y)", "1 + cos y"), ("x = tan y", "cos^2 y", "sec^2 y"),
    ("y = x y + 1", "y/(1 - x)", "y"), ("y = x^2", "2x", "2y"), ("x = y^3", "1/(3y^2)", "3y^2"),
    ("F(x,y) = x^2 + y^2 - 25", "-x/y", "x/y")])
@pytest.mark.parametrize("fields", [{}, {"wrt": "x"}])
def test_a_variable_on_the_left_is_a_side(
        equation: str, right: str, wrong: str, fields: dict[str, str]) -> None:
    """The same as with sides exchanged; F(x, y) names a function that is 0."""
    left, _, formula = equation.partition("=")
    for text in (equation, f"{formula} ={left}" if left[0] != "F" else equation):
        assert check(text, right, dependent="y", **fields)["verdict"] == "correct", text
        assert check(text, wrong, dependent="y", **fields)["verdict"] == "wrong", text


# ---- tolerance ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("function", "answer", "hidden"), [
    ("sin(x/3)", "0.33cos(0.33x)", True), ("e^(pi x)", "3.14e^(3.14x)", True),
    ("x^(1/3)", "0.333x^(-0.667)", True), ("sqrt(2x)", "0.707/sqrt(x)", True),
    ("0.00591x^4", "0.0236x^3", False), ("sin(2x)/3", "0.67cos(2x)", False),
    ("0.3 ln(x)", "0.299/x", False), ("sqrt(x)", "0.5/sqrt(x)", False)])
def test_a_tolerance_is_of_numbers_before_terms(function: str, answer: str, hidden: bool) -> None:
    """Lint warns where rounded numbers elsewhere would be told wrong, and nowhere else."""
    text = f'[[problem]]\nid = "1"\nfunction = "{function}"\nwrt = "x"\ntolerance = "1%"\n'
    (one,) = lint(parse(text, "sheet.toml"))[0]["problems"]
    assert any("does not hold inside" in warning for warning in one["warnings"]) == hidden
    assert (check(function, answer, wrt="x", tolerance="1%")["verdict"] == "correct") != hidden


# ---- the command line --------------------------------------------------------------------------


@folded
@pytest.mark.parametrize("word", sorted({*OTHER_SYSTEMS, *SPELLINGS} - {*PUBLIC}))
def test_functions_of_other_systems_are_told_in_programs_too(word: str) -> None:
    status, text = asked("grad", "-e", f"{word}(x)", "--at", "x=0.5", "--strict-syntax")
    assert status == 3
    (help,) = re.findall(r"= help: write (.+)", text)
    assert f"{word}*" not in help
    if "formula" not in help:
        for formula in help.partition(", and")[0].split(" or "):
            status, out = asked("eval", "-e", f"y = {formula}", "--at", ",".join(
                f"{name}=0.5" for name in "xnk" if re.search(rf"\b{name}\b", formula)))
            assert status == 0, out


@pytest.mark.parametrize(("word", "value"), [
    ("nthroot", 2.0), ("sen", math.sin(8)), ("argsinh", math.asinh(8)), ("root", 2.0)])
def test_what_is_told_is_the_function(word: str, value: float) -> None:
    text = asked("grad", "-e", f"{word}(x)", "--at", "x=8", "--strict-syntax")[1]
    formula = text.split("= help: write ")[1].splitlines()[0].partition(", and")[0]
    out = asked("eval", "-e", formula, "--at", "x=8", "--format", "csv")[1]
    assert float(out.split(",")[-1]) == pytest.approx(value)


@pytest.mark.parametrize(("formula", "place"), [
    ("d/dx(x^2)", "d/dx"), ("x + d/dx(x^2)", "d/dx"), ("d / dt(t^2) + x", "d / dt"),
    ("df/dx(x^2)", "df/dx"), ("dy/dx (x^2)", "dy/dx"), ("2*d2/dx2(x^2)", "d2/dx2"),
    ("d2f/dx2(sin(x))", "d2f/dx2")])
def test_a_derivative_is_no_quotient(formula: str, place: str) -> None:
    status, text = asked("grad", "-e", formula, "--at", "x=1")
    assert status == 3
    assert "a formula cannot name its own derivative" in text
    assert text.splitlines()[4].count("^") == len(place)
    assert "--at d" not in text
    assert "dx*(" not in text
    assert ("hess" in text) == ("2/dx2" in formula or "2f/dx2" in formula)


def test_products_and_short_names_are_still_told() -> None:
    assert "to multiply, write a*(...)" in asked("grad", "-e", "a(x)", "--at", "x=1")[1]
    assert "to multiply, write k1*(...)" in asked("grad", "-e", "k1([x, 2])", "--at", "x=1")[1]


@pytest.mark.parametrize("call", ["frobnicate(x)", "xy(x)", "a(x, 3)", "a(b, c)", "d2(x, [1, 2])",
                                  "q()", "x(1, 2)", "x()", "f([x], 2)"])
def test_what_is_no_product_is_not_told_as_one(call: str) -> None:
    status, text = asked("grad", "-e", f"{call} + x", "--at", "x=1")
    assert (status, "multiply" in text) == (3, False)
    assert "error[E020" in text


def test_an_empty_call_is_told_before_a_value_for_no_name() -> None:
    status, text = asked("grad", "-e", "sin()", "--at", "x=2")
    assert (status, "E0207" in text, "E0204" in text) == (3, True, False)
    assert "E0204" in asked("grad", "-e", "sin(2)", "--at", "x=2")[1]


def test_a_comma_in_a_value() -> None:
    for text in ("x=1.000,5", "x=3,5", "y=1,x=3,5"):
        status, _, err = in_process(["grad", "-e", "x^2", "--at", text])
        assert status == 2
        assert "write a point for decimals" in " ".join(err.split())


@pytest.mark.parametrize(("formula", "point", "said"), [
    ("x^2", "1e200", "larger than any"), ("x^3", "-1e200", "larger than any"),
    ("exp(x)", "1e4", "larger than any"), ("1/x", "0", "a pole of order 1"),
    ("exp(1/x^2)", "0", "goes to inf from both sides"), ("ln(x)", "0", "is -inf there")])
def test_an_overflow_is_no_pole(formula: str, point: str, said: str) -> None:
    status, text = asked("taylor", "-e", formula, "--at", f"x={point}")
    assert status == 3
    assert said in text
    assert ("from both sides" in text) == (said.endswith("sides"))


def test_no_line_of_homework_is_wider_than_the_terminal() -> None:
    for command in (["check", "x^2", "1/0"], ["check", "sin(x^2)", "2x sin x"]):
        for line in bare(on_terminal(command, COLUMNS="80")[1]).splitlines():
            assert len(line) <= 80


@pytest.mark.parametrize("beside", [
    "(x>0) 2x^2 (x<0)", "(x>0)*2", "[x>0] 2x^2 [x<0]", "\nx>0\n0\nx<=0", ", D = R, or 2x^2",
    ", f'(x) ≠ 3x^2", "(do not mark)", "# wrong", "// not this"])
def test_what_may_change_the_answer_is_no_remark(beside: str) -> None:
    assert check("x^3", f"3x^2 {beside}")["verdict"] in ("undecided", "unreadable")


@pytest.mark.parametrize("beside", [
    ", x>0", "(x ≠ 0)", ", D = R \\ {0}", ", x ∈ ]0, ∞[", "where x is not 0", "# chain rule"])
def test_a_condition_is_a_remark(beside: str) -> None:
    assert check("x^3", f"3x^2 {beside}")["verdict"] == "correct"


@pytest.mark.parametrize(("typed", "verdict"), [
    ("0.667...", "correct"), ("0.666...", "undecided"), ("0.67 m", "unreadable"), ("0.7", "wrong")])
def test_dots_and_letters_behind_a_number(typed: str, verdict: str) -> None:
    assert check("x^2/3", typed, at={"x": 1}, kind="value")["verdict"] == verdict


def test_all_variables_of_a_level_surface_may_be_listed() -> None:
    at = {"x": 1, "y": 2, "z": 3}
    found = check("x^2 + y^2 + z^2 = 14", "x + 2y + 3z = 14", kind="tangent", wrt="x,y,z", at=at)
    assert found["verdict"] == "correct"
