"""Units of answers: what is converted, what is asked for, what is no unit."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from draws import drawn

from gradcli.base.errors import GradcliError
from gradcli.homework import check
from gradcli.homework.checking import units
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.lint import lint
from gradcli.homework.sheets.formats import parse

SPEED = {"function": "5t^2", "kind": "value", "at": {"t": 2}, "unit": "m/s"}     # 20 m/s
METRES = {"m": 1.0, "km": 1000.0, "cm": 0.01, "ft": 0.3048, "mi": 1609.344, "inches": 0.0254}
SECONDS = {"s": 1.0, "h": 3600.0, "min": 60.0, "ms": 1e-3, "hours": 3600.0}
FORMS = ["{n} {a}/{b}", "{n}{a}/{b}", "{n} {a} {b}^-1", "{n} {a}·{b}⁻¹", "{n} {a} per {b}",
         "v = {n} {a}/{b}", "{n} [{a}/{b}]", "{n}\\,\\mathrm{{{a}/{b}}}",
         "${n}\\ \\text{{{a}/{b}}}$",
         "{n} \\frac{{{a}}}{{{b}}}", "{n} {a}*{b}**-1"]


def answered(answer: str, **fields: Any) -> dict[str, Any]:
    return check.check(check.prepare(from_fields({**SPEED, **fields})), answer)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_what_measures_the_same_is_converted(form: str, seed: int) -> None:
    draw = drawn(seed)
    length, time = draw.choice(sorted(METRES)), draw.choice(sorted(SECONDS))
    number = 20 / METRES[length] * SECONDS[time]
    for factor, verdict in ((1, "correct"), (1.01, "wrong"), (-1, "wrong")):
        typed = f"{factor * number:.9f}"
        found = answered(form.format(n=typed, a=length, b=time))
        assert found["verdict"] == verdict, found


def test_digits_count_in_the_unit_in_which_they_are_typed() -> None:
    at = {"t": 1.23456}
    for answer, verdict in (("12.3 m/s", "correct"), ("1235 cm/s", "correct"),
                            ("1230 cm/s", "wrong"), ("0.0123 km/s", "correct"),
                            ("0.0124 km/s", "wrong"), ("44.4 km/h", "correct")):
        assert answered(answer, at=at)["verdict"] == verdict, answer
    for answer, verdict in (("12.4 m/s", "correct"), ("0.0124 km/s", "correct"),
                            ("0.0134 km/s", "wrong"), ("1244 cm/s", "correct")):
        assert answered(answer, at=at, tolerance="0.1 abs")["verdict"] == verdict, answer


@pytest.mark.parametrize(("answer", "verdict", "mistake"), [
    ("20", "wrong", "unit_missing"), ("20 m/s", "correct", None),
    ("20 km/h", "wrong", "unit_wrong"),
    ("20 m", "wrong", "unit_wrong"), ("20 m/s^2", "wrong", "unit_wrong"),
    ("2E1 m/s", "correct", None), ("2.0E+1m/s", "correct", None), ("200E-1 m/s", "correct", None),
    (".02E3 m/s", "correct", None), ("20E1 m/s", "wrong", None), ("20E-1 m/s", "wrong", None),
    ("2E1", "wrong", "unit_missing"), ("2E1 m", "wrong", "unit_wrong"),
    ("20 M/S", "correct", None), ("20 ms^-1", "correct", None), ("20 m/foo", "unreadable", None),
    ("20 m/s/s", "wrong", "unit_wrong"), ("20 m//s", "unreadable", None)])
def test_a_unit_may_be_asked_for(answer: str, verdict: str, mistake: str | None) -> None:
    found = answered(answer, unit_required=True)
    assert (found["verdict"], found["mistake"]) == (verdict, mistake)
    if mistake == "unit_wrong":
        assert "m/s" in found["message"]
    if mistake == "unit_missing":
        assert answered(answer)["verdict"] == "correct"


def test_formulas_have_units() -> None:
    assert answered("10t m/s", kind="derivative", at={})["verdict"] == "correct"
    assert answered("36 t km/h", kind="derivative", at={})["verdict"] == "correct"
    assert answered("10 t km/h", kind="derivative", at={})["mistake"] == "unit_wrong"


def test_words_of_a_sheet_are_units() -> None:
    for answer, verdict in (("20 dollars per item", "correct"), ("20 dollar/item", "correct"),
                            ("20", "correct"), ("20 items per dollar", "wrong"),
                            ("20 euros per item", "unreadable")):
        assert answered(answer, unit="dollars per item")["verdict"] == verdict, answer
    sheet = parse('[[problem]]\nid = "1"\nfunction = "5t^2"\nunit = "dollars/h"\n', "a.toml")
    result, wrong = lint(sheet)
    assert not wrong
    (warning,) = [one for one in result["problems"][0]["warnings"] if "unit" in one]
    assert "dollars" in warning


@pytest.mark.parametrize("unit", ["m//s", "5 m", "m/", "(m", "m)", "m^", "/", "m+s", "m/s kg"])
def test_what_is_no_unit_is_an_error_of_the_sheet(unit: str) -> None:
    sheet = parse(f'[[problem]]\nid = "1"\nfunction = "5t^2"\nunit = "{unit}"\n', "a.toml")
    _, wrong = lint(sheet)
    assert [one.code for one in wrong] == ["E0703"]
    assert wrong[0].span is not None
    assert sheet.source.text[slice(*wrong[0].span)].strip('"') == unit


def test_what_is_below_a_slash_is_what_is_asked_for() -> None:
    for unit in ("J/(kg K)", "J kg^-1 K^-1"):
        for answer in ("20 J/(kg K)", "20 J/kg K", "20 J/kg/K", "0.02 kJ/(kg·K)"):
            assert answered(answer, unit=unit)["verdict"] == "correct", answer


def test_without_a_unit_letters_behind_a_number_are_for_a_person() -> None:
    for answer in ("20 m/s", "20 m", "20m s^-1", "20 ft", "21 m/s"):
        found = answered(answer, unit="")
        assert found["verdict"] == "unreadable", found
    for answer in ("10t m/s", "10 t m s^-1"):
        assert answered(answer, unit="", kind="derivative", at={})["verdict"] == "undecided"
        assert answered(f"1{answer}", unit="", kind="derivative", at={})["verdict"] == "wrong"
    at = {"x": 1, "y": 2}
    for answer in ("(2 m, 4 m)", "(2, 4) m"):
        found = answered(answer, unit="", function="x^2 + y^2", kind="gradient", wrt="x,y", at=at)
        assert found["verdict"] in ("undecided", "unreadable"), found


def test_units_are_loaded_where_a_problem_has_one() -> None:
    code = ("import sys; from gradcli.homework import check; from gradcli.homework.checking.fields"
            " import from_fields; check.check(check.prepare(from_fields({'function': 'x^2'})),"
            " '2x'); assert not {'pint', 'gradcli.homework.checking.units'} & {*sys.modules}")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_extra_is_named_where_pint_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "_registry", None)
    monkeypatch.setitem(sys.modules, "pint", None)
    with pytest.raises(GradcliError) as caught:
        answered("20 m/s")
    assert caught.value.help == "pip install 'gradcli[units]'"
