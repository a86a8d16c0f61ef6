"""One answer against one problem: what is right, what is wrong, and what cannot be told."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import folded

from gradcli.base.errors import GradcliError
from gradcli.homework.check import check as checked
from gradcli.homework.check import prepare
from gradcli.homework.checking.fields import from_fields


def check(function: str, answer: str, seed: object = 0, **fields: Any) -> dict[str, Any]:
    """The result for an answer to a problem."""
    return checked(prepare(from_fields({"function": function, **fields}), seed), answer)


def verdict(function: str, answer: str, seed: object = 0, **fields: Any) -> str:
    return str(check(function, answer, seed, **fields)["verdict"])


RIGHT = (
    ("x^2 sin x", "2x sin x + x^2 cos x"), ("x^2", "x+x"), ("sin(x)^2", "sin 2x"),
    ("tan x", "sec^2 x"), ("tan x", "1 + tan^2 x"), ("ln(x^2+1)", "2x/(x^2+1)"),
    ("e^(x^2)", "2x e^(x^2)"), ("x^x", "x^x (ln x + 1)"), ("ln|x|", "1/x"),
    ("asin x", "1/sqrt(1-x^2)"), ("acosh x", "1/sqrt(x^2-1)"),
    ("acosh x", "1/(sqrt(x-1)sqrt(x+1))"),
    ("tanh x", "sech^2 x"), ("tanh x", "1 - tanh^2 x"), ("tanh x", "4/(e^x+e^-x)^2"),
    ("1/(1+e^(-x))", "e^(-x)/(1+e^(-x))^2"), ("sqrt(x-5)", "1/(2 sqrt(x-5))"),
    ("ln(ln x)", "1/(x ln x)"), ("ln(ln(ln x))", "1/(x ln x ln(ln x))"),
    ("sqrt(x - 5000)", "1/(2sqrt(x-5000))"), ("1e-20 x^2", "2e-20 x"), ("7", "0"),
    ("sin^2 x + cos^2 x", "0"), ("x^3", "3x^2"), ("|x|", "x/|x|"), ("cos(x)", "-sin x"),
    ("(x-1)/(x+1)", "2/(x+1)^2"), ("a x^2 + b", "2a x"), ("sin(a x)", "a cos(a x)"),
    ("log_2(x)", "1/(x ln 2)"), ("2^x", "2^x ln 2"), ("x^(2/3)", "2/(3x^(1/3))"),
    ("(1 - cos x)/x^2", "(x sin x - 2 + 2cos x)/x^3"), ("x^n", "n x^(n-1)"))

WRONG = (
    ("x^2 sin x", "2x cos x"), ("sin(3x)", "cos(3x)"), ("x^3", "3x"), ("ln(2x)", "1/(2x)"),
    ("e^(x^2)", "e^(x^2)"), ("sqrt(x^2)", "1"), ("|x|", "1"), ("1e-20 x^2", "2.001e-20 x"),
    ("x^2", "2x + 1e-6"), ("x^2", "2.000001x"), ("2^x", "0.693*2^x"), ("7", "1"),
    ("x^2", "ln(-x^2)"),
    ("x^2", "2x + e^(-100x^2)"), ("tan x", "sec x"), ("x^2", "0"), ("x^2", "2t"), ("x", "x"),
    ("x^2 + |x - 90|", "2x - 1"))


@folded
@pytest.mark.parametrize(("function", "answer"), RIGHT)
def test_right_answers_are_right_whatever_the_seed(function: str, answer: str) -> None:
    for seed in range(4):
        found = check(function, answer, seed, wrt="x")
        assert found["verdict"] == "correct", found
        assert found["score"] == 1
        assert found["mistake"] is None


@pytest.mark.parametrize(("function", "answer"), WRONG)
def test_wrong_answers_are_wrong_whatever_the_seed(function: str, answer: str) -> None:
    for seed in range(4):
        found = check(function, answer, seed, wrt="x")
        assert found["verdict"] == "wrong", found
        assert found["score"] == 0
        assert found["witness"] is not None


OTHER_KINDS = (
    ({"kind": "derivative", "function": "sin x", "wrt": "x", "order": 3}, "-cos x", "correct"),
    ({"kind": "derivative", "function": "sin x", "wrt": "x", "order": 3}, "cos x", "wrong"),
    ({"kind": "partial", "function": "x^2 y + 3xy", "wrt": "x"}, "2xy + 3y", "correct"),
    ({"kind": "partial", "function": "x^2 y^3", "wrt": "x,y"}, "6x y^2", "correct"),
    ({"kind": "partial", "function": "x^2 y^3", "wrt": "x", "order": 2}, "2y^3", "correct"),
    ({"kind": "gradient", "function": "x^2 + 3xy", "wrt": ["x", "y"]}, "<2x+3y, 3x>", "correct"),
    ({"kind": "gradient", "function": "x^2 + 3xy", "wrt": ["x", "y"]}, "(2x+3y) i + 3x j",
     "correct"),
    ({"kind": "gradient", "function": "x^2 + 3xy", "wrt": ["x", "y"]}, "<3x, 2x+3y>", "wrong"),
    ({"kind": "gradient", "function": "x^2 + 3xy", "wrt": ["x", "y"]}, "2x + 3y", "wrong"),
    ({"kind": "jacobian", "function": "[x y, x + y]", "wrt": "x,y"}, "[[y, x], [1, 1]]", "correct"),
    ({"kind": "jacobian", "function": "x y, x + y, x", "wrt": "x,y"},
     "[[y, 1, 1], [x, 1, 0]]", "wrong"),
    ({"kind": "hessian", "function": "x^2 y", "wrt": "x,y"}, "[2y, 2x; 2x, 0]", "correct"),
    ({"kind": "directional", "function": "x^2 + y^2", "wrt": "x,y", "direction": [3, 4]},
     "(6x + 8y)/5", "correct"),
    ({"kind": "directional", "function": "x^2 + y^2", "wrt": "x,y", "direction": [3, 4]},
     "6x + 8y", "wrong"),
    ({"kind": "directional", "function": "x^2 + y^2", "wrt": "x,y", "direction": "(3, 4)",
      "at": {"x": 1, "y": 2}}, "22/5", "correct"),
    ({"kind": "implicit", "function": "x^2 + y^2 = 25", "wrt": "x", "dependent": "y"},
     "-x/y", "correct"),
    ({"kind": "implicit", "function": "x y = 1", "wrt": "x", "dependent": "y"},
     "-1/x^2", "correct"),
    ({"kind": "implicit", "function": "x^2 + y^2 = 25", "wrt": "x", "dependent": "y"},
     "x/y", "wrong"),
    ({"kind": "implicit", "function": "x^2 + y^2 = 25", "wrt": "x", "dependent": "y",
      "at": {"x": 3, "y": 4}}, "-3/4", "correct"),
    ({"kind": "implicit", "function": "x^2 + y^2 = 25", "wrt": "x", "dependent": "y", "order": 2},
     "-25/y^3", "correct"),
    ({"kind": "parametric", "function": "(cos t, sin t)", "wrt": "t"}, "-cot t", "correct"),
    ({"kind": "parametric", "function": "x = t^2, y = t^3", "wrt": "t"}, "3t/2", "correct"),
    ({"kind": "parametric", "function": "[t^2, t^3]", "wrt": "t", "order": 2}, "3/(4t)", "correct"),
    ({"kind": "tangent", "function": "x^2", "wrt": "x", "at": {"x": 3}}, "y = 6x - 9", "correct"),
    ({"kind": "tangent", "function": "x^2", "wrt": "x", "at": {"x": 3}}, "y - 9 = 6(x - 3)",
     "correct"),
    ({"kind": "tangent", "function": "x^2", "wrt": "x", "at": {"x": 3}}, "2x(x-3) + 9", "wrong"),
    ({"kind": "tangent", "function": "x^2 y", "wrt": "x,y", "at": {"x": 1, "y": 2}},
     "z = 2 + 4(x-1) + (y-2)", "correct"),
    ({"kind": "value", "function": "x^3", "wrt": "x", "at": {"x": 2}}, "12", "correct"),
    ({"kind": "value", "function": "ln x", "wrt": "x", "at": {"x": 3}}, "0.333", "correct"),
    ({"kind": "value", "function": "ln x", "wrt": "x", "at": {"x": 3}}, "0.33", "wrong"),
    ({"kind": "value", "function": "ln x", "wrt": "x", "at": {"x": 3}, "tolerance": 0.01}, "0.33",
     "correct"),
    ({"kind": "value", "function": "x^3", "wrt": "x", "at": {"x": 2}}, "3x^2", "wrong"),
    ({"kind": "value", "function": "sin x", "wrt": "x", "at": {"x": "pi/2"}}, "0", "correct"),
    ({"kind": "value", "function": "x^2 y", "wrt": "x,y", "at": {"x": 1, "y": 2}}, "(4, 1)",
     "correct"))


@folded
@pytest.mark.parametrize(("fields", "answer", "expected"), OTHER_KINDS)
def test_every_kind_of_problem(fields: dict[str, Any], answer: str, expected: str) -> None:
    found = checked(prepare(from_fields(fields)), answer)
    assert found["verdict"] == expected, found


def test_an_answer_that_is_defined_on_less_is_told_so() -> None:
    found = check("cbrt(x)", "x^(-2/3)/3", wrt="x")
    assert found["verdict"] == "domain"
    assert found["score"] == 1
    assert found["witness"]["at"]["x"] < 0
    assert check("cbrt(x)", "x^(-2/3)/3", wrt="x", domain_policy="reject")["score"] == 0
    assert verdict("x^(1/3)", "cbrt(x)^-2/3", wrt="x", real_roots=True) == "correct"


def test_overflow_is_no_hole_in_the_domain() -> None:
    assert verdict("sigmoid(x^2)", "2x e^(x^2)/(1+e^(x^2))^2", wrt="x") == "correct"


def test_an_answer_that_is_never_real_is_wrong() -> None:
    found = check("x^2", "sqrt(-1 - x^2)", wrt="x")
    assert found["verdict"] == "wrong"
    assert found["points"]["undefined"] > 400


def test_a_function_that_is_hardly_defined_is_searched_for() -> None:
    for seed in range(5):
        assert verdict("sqrt(x - 99) + sqrt(101 - x)", "1/(2sqrt(x-99)) - 1/(2sqrt(101-x))", seed,
                       wrt="x") == "correct"


def test_a_switch_far_out_gets_points_on_both_sides() -> None:
    assert verdict("|x - 97|", "1", wrt="x") == "wrong"
    assert verdict("x^2", "x + |x - 97| - 97 + 2x", wrt="x") == "wrong"


def test_what_cannot_be_told_is_left_to_a_person() -> None:
    found = check("sqrt(-x^2)", "1", wrt="x")
    assert found["verdict"] == "undecided"
    assert found["score"] == 0


def test_blank_and_unreadable_answers_have_verdicts_of_their_own() -> None:
    assert verdict("x^2", "  \n", wrt="x") == "blank"
    found = check("x^2", "2x +* 3", wrt="x")
    assert found["verdict"] == "unreadable"
    assert found["message"]
    assert found["read_as"] is None


def test_the_function_itself_may_stand_in_an_answer() -> None:
    assert verdict("x^x", "y (ln x + 1)", wrt="x") == "correct"


def test_results_are_the_same_for_the_same_seed() -> None:
    first, second = [check("x^2", "3x", 7, wrt="x", id="p") for _ in range(2)]
    del first["ms"], second["ms"]
    assert first == second


def test_the_witness_is_a_short_number_and_holds() -> None:
    found = check("x^3", "x^2", wrt="x")
    x = found["witness"]["at"]["x"]
    assert x == 1.3
    assert found["witness"]["expected"] == pytest.approx(3 * x * x)
    assert found["witness"]["got"] == pytest.approx(x * x)
    assert "1.3" in found["message"]


def test_partly_right_vectors_score_by_entries() -> None:
    assert check("x^2 + y^2 + z^2", "<2x, 2y, 3z>", wrt="x,y,z", kind="gradient")["score"] == \
        pytest.approx(2 / 3, abs=1e-6)


@pytest.mark.parametrize(("fields", "code"), [
    ({"function": ""}, "E0702"), ({"function": "x", "kind": "integral"}, "E0701"),
    ({"function": "x", "wrt": "x", "points": "many"}, "E0703"),
    ({"function": "x", "frobnicate": 1}, "E0701"),
    ({"function": "x", "at": {"x": math.inf}}, "E0703"),
    ({"function": "x +* y", "wrt": "x"}, "E0704"), ({"function": "x y"}, "E0704"),
    ({"function": "1/x", "kind": "value", "wrt": "x", "at": {"x": 0}}, "E0704"),
    ({"function": "x^2", "kind": "value", "wrt": "x"}, "E0702"),
    ({"function": "x^2", "kind": "directional", "wrt": "x"}, "E0702"),
    ({"function": "x^2 + 1 = -y^2", "kind": "implicit", "wrt": "x"}, "E0704"),
    ({"function": "x^2", "wrt": "x", "expected": "3x"}, "E0705"),
    ({"function": "x^2", "wrt": "x", "at": {"q": 1}}, "E0704")])
def test_bad_problems_are_refused_with_a_code(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"wrt": "x,y" if fields.get("function") == "x y" else None,
                             "kind": "derivative" if fields.get("function") == "x y" else None,
                             **fields}))
    assert caught.value.code in (code, "E0702" if code == "E0704" else code)
    assert caught.value.help


KINDS: dict[str, tuple[dict[str, Any], set[str]]] = {     # and the fields that each has
    "derivative": ({"function": "x^3", "wrt": "x"}, {"order"}),
    "value": ({"function": "x^3", "at": {"x": 2}}, {"order"}),
    "value of two": ({"function": "x^3 y", "kind": "value", "at": {"x": 1, "y": 2}}, set()),
    "partial": ({"function": "x^3 y", "wrt": "x"}, {"order"}),
    "partial by two": ({"function": "x^3 y", "kind": "partial", "wrt": "x,y"}, {"order"}),
    "partial by three": ({"function": "x^3 y z", "kind": "partial", "wrt": "x,y,z"}, set()),
    "gradient": ({"function": "x^3 y", "wrt": "x,y"}, set()),
    "gradient of one": ({"function": "x^3", "kind": "gradient", "wrt": "x"}, set()),
    "jacobian": ({"function": "[x^3, x]", "wrt": "x"}, set()),
    "hessian": ({"function": "x^3 y", "wrt": "x,y"}, {"order"}),
    "directional": ({"function": "x^3 y", "wrt": "x,y", "direction": [3, 4]}, {"direction"}),
    "implicit": ({"function": "x^2 + y^2 = 9", "wrt": "x"}, {"order", "dependent"}),
    "parametric": ({"function": "[cos t, sin t]", "wrt": "t"}, {"order"}),
    "tangent": ({"function": "x^3", "wrt": "x", "at": {"x": 2}}, set()),
    "normal": ({"function": "x^3", "wrt": "x", "at": {"x": 2}}, set()),
    "linearization": ({"function": "x^3", "at": {"x": 2}}, set()),
    "estimate": ({"function": "x^3", "at": {"x": 2}, "to": {"x": 2.1}}, set()),
    "differential": ({"function": "x^3 y"}, set()),
    "function": ({"function": "x^3", "wrt": "x"}, set()),
    "norm": ({"function": "x^3 y"}, set()),
    "unit": ({"function": "[x^3, x]"}, set()),
    "zeros": ({"function": "x^3 - x"}, set()), "critical": ({"function": "x^3 - x"}, set()),
    "extrema": ({"function": "x^3 - x"}, set()), "inflection": ({"function": "x^3 - x"}, set()),
    "words": ({"function": "x^3 - x", "words": "none"}, set())}


@folded
@pytest.mark.parametrize("kind", KINDS)
def test_fields_that_a_kind_has_not_are_refused(kind: str) -> None:
    from gradcli.homework.checking.kinds import KINDS as ALL

    assert set(ALL) == {one.partition(" ")[0] for one in KINDS}
    fields, has = KINDS[kind]
    fields = {"kind": kind.partition(" ")[0], **fields}
    prepare(from_fields(fields))
    for name, value in (("order", 2), ("direction", [3, 4]), ("dependent", "y")):
        problem = from_fields({**fields, name: value})
        if name in has:
            prepare(problem)
            continue
        with pytest.raises(GradcliError, match=f"`{name}`") as caught:
            prepare(problem)
        assert caught.value.code == "E0701"
        assert caught.value.help


SIDES = {"right": ("2x cos(x^2)", "x cos(x^2) + x cos(x^2)", "(2x)cos(x^2)"),
         "wrong": ("cos(x^2)", "3x cos(x^2)", "2x"),
         "step": ("d/dx sin(x^2)", "(sin(x^2))'", "cos(u) u'", "cos(u) 2x", "dy/dx", "y'")}


@folded
@pytest.mark.parametrize(("order", "expected"), [
    ("right right", "correct"), ("step right right", "correct"), ("right right right", "correct"),
    ("step right", "correct"), ("step step right", "correct"), ("step wrong right", "undecided"),
    ("wrong right", "undecided"), ("right wrong", "undecided"), ("right step wrong", "undecided"),
    ("wrong wrong", "wrong"), ("step wrong", "wrong"), ("right wrong right", "undecided")])
@pytest.mark.parametrize("name", ["f'(x) = ", "dy/dx = ", "y' := ", r"\frac{dy}{dx} = "])
def test_all_sides_of_an_equation_count(name: str, order: str, expected: str) -> None:
    words = order.split()
    for shift in range(3):
        sides = [SIDES[word][(shift + k) % len(SIDES[word])] for k, word in enumerate(words)]
        assert verdict("sin(x^2)", name + " = ".join(sides)) == expected, sides


@pytest.mark.parametrize(("fields", "answer", "expected"), [
    ({"kind": "value", "at": {"x": 3}}, "f'(3) = 2x = 2*3 = 6", "correct"),
    ({"kind": "value", "at": {"x": 3}}, "f'(3) = 2*3 = 7", "undecided"),
    ({"kind": "tangent", "at": {"x": 1}}, "y = 1 + 2(x - 1) = 2x - 1", "correct"),
    ({"kind": "tangent", "at": {"x": 1}}, "y = 1 + 2(x - 1) = 2x + 1", "undecided"),
    ({"kind": "tangent", "at": {"x": 1}}, "y - 1 = 2(x - 1) = 2x - 2", "undecided")])
def test_sides_where_a_number_or_line_is_asked_for(fields: dict[str, Any], answer: str,
                                                   expected: str) -> None:
    assert verdict("x^2", answer, **fields) == expected


@pytest.mark.parametrize("answer", [
    "-2.23", "≈ -2.23", "~-2.23", "f'(1) ≈ -2.235", "\\approx -2.23", "cos 2 - 2 sin 2 ≈ -2.23"])
def test_a_number_may_be_said_to_be_rounded(answer: str) -> None:
    assert check("x cos(2x)", answer, kind="value", at={"x": 1})["verdict"] == "correct"
    assert check("x cos(3x)", answer, kind="value", at={"x": 1})["verdict"] == "wrong"


@pytest.mark.parametrize("answer", [
    "fy = x^2+3y^2, fx = 2xy", "f_x = 2xy; f_y = x^2 + 3y^2", "∂f/∂y = x^2+3y^2, ∂f/∂x = 2xy",
    "2xy\nx^2+3y^2", "f_x = 2xy\nf_y = x^2 +\n3y^2"])
def test_components_may_have_labels_and_lines_of_their_own(answer: str) -> None:
    assert verdict("x^2 y + y^3", answer, kind="gradient", wrt="x,y") == "correct"


@pytest.mark.parametrize(("function", "right"), [p for p in RIGHT if p[1][0] not in "0-"])
def test_lines_are_answers_of_their_own(function: str, right: str) -> None:
    def judged(*lines: str) -> str:
        return str(checked(prepared, "\n".join(lines))["verdict"])

    prepared = prepare(from_fields({"function": function, "wrt": "x"}))
    assert judged(right, right) == judged(f"f'(x) = {right}", "", f"1*({right})") == "correct"
    assert judged(right, "17x") == judged("17x", right) == "undecided"
    assert judged(right, "-17x") == "undecided"
    assert judged("17x", "17x + 1") == "wrong"
    assert judged(f"({right}", ")") == judged(right, "+ 0") == judged("0 +", right) == "correct"


@pytest.mark.parametrize(("answer", "expected"), [
    ("2\nx", "undecided"), ("-x/y\n-x/y", "undecided"), ("2x\r\n2x", "correct"),
    ("2x\nby the power rule", "correct"), ("3x\n-x", "correct"), ("3x\n-x^2", "wrong"),
    ("$$\n2x\n$$", "correct"), ("$$\n3x\n$$", "wrong"), ("3x\n"*11, "undecided")])
def test_a_line_end_may_be_an_editors(answer: str, expected: str) -> None:
    assert verdict("x^2", answer, wrt="x") == expected or answer[0] == "-"
    if answer[0] == "-":
        assert verdict("x^2+y^2=25", answer, wrt="x", dependent="y") == expected


def test_steps_of_a_vector_are_no_matrix() -> None:
    for line in ("2xy i + x^2 j", "<2xy, x^2>", "(2xy, x^2)"):
        assert verdict("x^2 y", f"{line}\n{line}", wrt="x,y", kind="gradient") == "correct"
    assert verdict("x^2 y", "(2xy, x^2)\n(xy, x^2)", wrt="x,y", kind="gradient") == "undecided"


@pytest.mark.parametrize("answer", [
    "fxx = 2y, fxy = 2x, fyx = 2x, fyy = 6y", "f_yy = 6y, f_xx = 2y, f_xy = 2x"])
def test_second_derivatives_may_have_labels(answer: str) -> None:
    assert verdict("x^2 y + y^3", answer, kind="hessian", wrt="x,y") == "correct"


@pytest.mark.parametrize("answer", ["7389", "7.389*10^3", "7.39 × 10^3", "7.389E3", "7389.06"])
def test_rounded_numbers_in_any_notation(answer: str) -> None:
    assert verdict("1000e^x", answer, kind="value", wrt="x", at={"x": 2}) == "correct"


@pytest.mark.parametrize("answer", ["7388", "7.38*10^3", "7400", "74*10^2"])
def test_numbers_that_are_rounded_wrong(answer: str) -> None:
    assert verdict("1000e^x", answer, kind="value", wrt="x", at={"x": 2}) in ("wrong",)


@pytest.mark.parametrize("answer", ["-", "n/a", "---", " — "])
def test_what_stands_for_no_answer_is_blank(answer: str) -> None:
    assert verdict("x^2", answer, wrt="x") == "blank"


def test_a_point_of_a_curve_has_both_coordinates() -> None:
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"function": "x^2+y^2=25", "kind": "implicit", "wrt": "x",
                             "dependent": "y", "at": {"x": 3}}))
    assert caught.value.code == "E0702"


@folded
@pytest.mark.parametrize(("fields", "answer", "right"), [
    ({"function": "x^2", "accept": ["5"]}, "5", True),
    ({"function": "x^2", "accept": ["5"]}, "10/2", True),
    ({"function": "x^2", "accept": ["2x"]}, "2x + 1", False),
    ({"function": "x^2", "accept": ["2x", "x^2"]}, "17", False),
    ({"function": "x^2", "accept": ["2x + C"]}, "C + 2x", True),
    ({"function": "x^2", "accept": ["2x + C"]}, "2x + 3", False),
    ({"function": "x^2", "accept": ["sqrt(x - 1)"]}, "sqrt(x)", False),
    ({"function": "x^2", "kind": "value", "at": {"x": 2}, "accept": ["5"]}, "5", True),
    ({"function": "x^2", "kind": "value", "at": {"x": 2}, "accept": ["5"]}, "6", False),
    ({"function": "x^2", "kind": "value", "at": {"x": 2}, "accept": ["2x"]}, "2x", True),
    *[({"function": "x^2", "kind": "value", "at": {"x": 2}, "accept": [word]}, spelled, True)
      for word in ("six", "sechs", "yes", "no", "a", "max") for spelled in (
          word.upper(), f"{word.capitalize()}.", word)],
    ({"function": "x^2 y", "kind": "gradient", "wrt": "x,y", "accept": ["2xy"]}, "2xy", True),
    ({"function": "x^2 y", "kind": "gradient", "wrt": "x,y", "accept": ["(1, 2)"]}, "(1, 2)", True),
    ({"function": "x^2 y", "kind": "gradient", "wrt": "x,y", "accept": ["(1, 2)"]}, "(1, 3)",
     False)])
def test_only_the_accepted_answer_is_accepted(
        fields: dict[str, Any], answer: str, right: bool) -> None:
    found = checked(prepare(from_fields(fields)), answer)
    assert (found["verdict"] == "correct") == right, found["message"]
    assert ("accepts" in found["message"]) == right


WORDS = ["does not exist", "DNE", "no idea", "see board", "don't know", "undefined", "infinity",
         "not differentiable at x = 0", "n/a", "d.n.e."]


@pytest.mark.parametrize("words", WORDS)
def test_words_that_are_accepted_are_a_text(words: str) -> None:
    """Written otherwise they are right; every other answer is judged as if nothing were listed."""
    problem = {"function": "sin(x^2)", "credit": {"missing_chain_factor": 0.5}}
    listed = prepare(from_fields({**problem, "accept": [words, "cos x + 1"]}))
    bare = prepare(from_fields(problem))
    for spelled in (words, words.upper(), f" {words.capitalize()}. ", words.replace(" ", "  ")):
        found = checked(listed, spelled)
        assert (found["verdict"], found["score"], found["read_as"]) == ("correct", 1.0, None)
        assert "accepts" in found["message"]
    assert checked(listed, "1 + cos(x)")["verdict"] == "correct"
    for answer in ("cos(x^2)", "0", "7", "2x cos(x^2)", "2x cos(x^2) + C", "no derivative", "2x +",
                   "e", "n", ""):
        one, other = checked(listed, answer), checked(bare, answer)
        one["ms"] = other["ms"]
        assert one == other


@pytest.mark.parametrize(("function", "accepted", "told"), [
    ("x^2", "six", "`s*i*x`"), ("x^2", "no", "not a formula"), ("x^2", "max", "no m, a"),
    ("x^2", "does not exist", "not a formula"), ("x^2", "x + x", ""), ("a x^2", "2ax", ""),
    ("x y", "y", "")])
def test_lint_tells_words_that_are_read_as_letters(function: str, accepted: str, told: str) -> None:
    from gradcli.homework.lint import lint
    from gradcli.homework.sheets.formats import parse

    sheet = parse(f'[[problem]]\nid = "1"\nfunction = "{function}"\nwrt = "x"\n'
                  f'accept = ["{accepted}"]\n', "sheet.toml")
    warnings = [one for one in lint(sheet)[0]["problems"][0]["warnings"] if "`accept`" in one]
    assert len(warnings) == bool(told)
    assert told in "".join(warnings)


@pytest.mark.parametrize("accepted", ["2x +", "sin(x", "(1, 2", "±2x"])
def test_an_accepted_formula_that_cannot_be_read_is_refused(accepted: str) -> None:
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"function": "x^2", "accept": [accepted]}))
    assert caught.value.code == "E0705"


@pytest.mark.parametrize(("fields", "answer"), [
    ({"function": "x^2"}, "2x = 0"), ({"function": "x^2"}, "dx/dy = 2x"),
    ({"function": "x^2"}, "9^9^9^9 x"),
    ({"function": "x^2", "kind": "value", "at": {"x": 1}}, "2x")])
def test_a_text_that_is_accepted_is_right_whatever_it_means(
        fields: dict[str, Any], answer: str) -> None:
    found = checked(prepare(from_fields({**fields, "accept": [answer]})), f"{answer} ")
    assert found["verdict"] == "correct"
    assert found["read_as"]


@pytest.mark.parametrize(("function", "answer", "verdict"), [
    ("x^(1/3)", "1/3 x^(-2/3)", "correct"), ("x^(1/3)", r"\frac13 x^{-\frac23}", "correct"),
    ("x^(1/3)", "1/3 x^(1/3 - 1)", "correct"), ("x^(1/3)", "1/3 x^-(2/3)", "correct"),
    ("x^(1/3)", "-1/3 x^(-2/3)", "wrong"), ("x^(2/3)", "2/3 x^(-1/3)", "correct"),
    ("x^(2/3)", "2/3 |x|^(-1/3)", "wrong"), ("x^(-1/3)", "-1/3 x^(-4/3)", "correct"),
    ("x^(3/5)", "3/5 x^(-2/5)", "correct"), ("x^(3/5)", "0.6 x^(3/5-1)", "correct")])
def test_real_roots_hold_for_exponents_however_they_are_written(
        function: str, answer: str, verdict: str) -> None:
    """At negative x too, where all of these have values."""
    assert check(function, answer, real_roots=True)["verdict"] == verdict
