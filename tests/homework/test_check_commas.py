"""A comma between digits, where commas are decimal ones: (1,2) is a vector, or 1.2.

The right answers are whole and decimal numbers that can be seen in the function.
"""

from __future__ import annotations

import pytest
from conftest import folded
from test_check import check


def asked(function: str, answer: str, **fields: object) -> dict[str, object]:
    return check(function, answer, decimal_comma=True, **fields)


@folded
@pytest.mark.parametrize("form", ["({})", "[{}]", "{}", "<{}>", "grad f = ({})"])
@pytest.mark.parametrize("slopes", [(1, 2), (10, 20), (0, 5), (1, 2, 3), (4, 0, 7), (1, 2, 3, 4)])
def test_a_list_of_whole_numbers_needs_no_blanks(form: str, slopes: tuple[int, ...]) -> None:
    function = " + ".join([f"{c} {n}" for c, n in zip(slopes, "xyzt", strict=False)])
    fields = {"kind": "gradient", "wrt": list("xyzt"[:len(slopes)])}
    answer = form.format(",".join(map(str, slopes)))
    result = asked(function, answer, **fields)
    assert (result["verdict"], result["read_as"]) == (
        "correct", str([float(c) for c in slopes]).replace(".0", "")), result
    wrong = form.format(",".join(map(str, [*slopes[:-1], slopes[-1] + 1])))
    result = asked(function, wrong, **fields)
    assert result["verdict"] == "wrong"
    assert f"component {len(slopes)}" in str(result["message"])


@pytest.mark.parametrize(("answer", "verdict"), [
    ("(1; 2,5)", "correct"), ("(1, 2,5)", "correct"), ("(1,2,5)", "undecided"),
    ("(1,3,5)", "wrong"), ("(1,2,6)", "wrong"), ("(1,0; 2,5)", "correct"),
    ("(1,2; 5)", "wrong")])
def test_what_is_right_in_another_reading_only_is_for_a_person(answer: str, verdict: str) -> None:
    result = asked("x + 2,5y", answer, kind="gradient", wrt=["x", "y"])
    assert result["verdict"] == verdict, result


def test_other_shapes() -> None:
    assert asked("x^2 + 2x y", "[2,2;2,0]", kind="hessian", wrt=["x", "y"])["verdict"] == "correct"
    assert asked("1,5x", "1,5")["verdict"] == "correct"
    assert asked("1,5x", "1,6")["verdict"] == "wrong"
    assert check("x + 2y", "(1,2)", kind="gradient", wrt=["x", "y"])["verdict"] == "correct"


@pytest.mark.parametrize("form", ["{}x", "${}x$", "\\frac{{{}}}{{1{{,}}0}}x", "x \\cdot {}"])
@pytest.mark.parametrize(("number", "verdict"), [("2{,}5", "correct"), ("2{,}6", "wrong"),
                                                 ("02{,}50", "correct")])
def test_commas_as_latex_sets_them(form: str, number: str, verdict: str) -> None:
    assert asked("1,25x^2", form.format(number))["verdict"] == verdict
    assert check("1.25x^2", form.format(number))["verdict"] == "unreadable"


@pytest.mark.parametrize(("answer", "verdict"), [
    ("1.200", "undecided"), ("1200", "correct"), ("1200,0", "correct"), ("1.2", "wrong"),
    ("1.201", "wrong"), ("1.20", "wrong"), ("12.00", "wrong")])
def test_a_dot_may_stand_between_thousands(answer: str, verdict: str) -> None:
    assert asked("x^3", answer, kind="value", wrt="x", at={"x": 20})["verdict"] == verdict


@pytest.mark.parametrize(("answer", "verdict"), [
    ("1,8*4.1", "correct"), ("1,8e^0,0*4.1", "correct"), ("7,38", "correct"),
    ("1,8*4.2", "unreadable"),
    ("(1,8)*(4,1)", "unreadable"), ("1,8·4,1", "unreadable"), ("(1,8)(4,1)", "unreadable")])
def test_several_commas_may_separate_where_a_sheet_does_not_say(answer: str, verdict: str) -> None:
    assert check("7.38x", answer, kind="value", wrt="x", at={"x": 1})["verdict"] == verdict


@pytest.mark.parametrize(("answer", "verdict"), [
    ("2026-05-16", "undecided"), ("2026-05-16 00:00:00", "unreadable"), ("16/5/2026", "undecided"),
    ("16-5-2026", "undecided"), ("2026 - 05 - 16", "wrong"), ("16/5", "correct"), ("5/16", "wrong"),
    ("2026-5", "wrong"), ("16/5/2", "wrong")])
def test_what_a_spreadsheet_makes_a_date_is_for_a_person(answer: str, verdict: str) -> None:
    assert check("16x/5", answer, kind="value", wrt="x", at={"x": 1})["verdict"] == verdict


def test_rounded_numbers_as_latex_sets_them() -> None:
    for answer, verdict in (("0{,}667", "correct"), ("0{,}67", "wrong"), ("0{,}668", "wrong")):
        assert asked("x^2/3", answer, kind="value", wrt="x", at={"x": 1})["verdict"] == verdict
