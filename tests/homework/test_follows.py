"""Parts that follow from the student's own answer, forms of a function, and steps of an answer."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran

from gradcli.base.errors import GradcliError
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.checking.followed import follow
from gradcli.homework.lint import lint
from gradcli.homework.sheets.formats import parse

SHEET = """schema = 1
[[problem]]
id = "1a"
function = "x^2 sin x"
[[problem]]
id = "1b"
kind = "value"
function = "x^2 sin x"
at = {x = 2}
follows = "1a"
[[problem]]
id = "1c"
function = "x^2 sin x"
order = 2
follows = "1a"
[[problem]]
id = "2a"
function = "x^3 - 3x"
[[problem]]
id = "2b"
kind = "critical"
function = "x^3 - 3x"
follows = "2a"
[[problem]]
id = "2c"
kind = "function"
function = "3x^2 - 3"
at = {x = 3}
follows = "2a"
credit = {followed_through = 0.5}
"""
# Of 1a, 1b, 1c, 2a, 2b, 2c: what each handed in, and the points.
CLASS = {
    "right": ("2x sin x + x^2 cos x", "1.97", "(2 - x^2) sin x + 4x cos x", "3x^2 - 3", "±1", "24"),
    "own": ("2x cos x", "-1.665", "2cos x - 2x sin x", "3x^2 - 12", "±2", "15"),
    "both": ("2x cos x", "7.25", "2cos x", "3x^2 - 12", "±3", "16"),
    "unread": ("2x cos x +", "-1.665", "x", "I forgot it", "±2", "24"),
    "blank": ("", "-1.665", "", "", "±2", "15"),
    "back": ("2x cos x", "1.97", "", "3x^2 - 12", "±1", "24")}
POINTS = {"right": (1, 1, 1, 1, 1, 1), "own": (0, 1, 1, 0, 1, .5), "both": (0, 0, 0, 0, 0, 0),
          "unread": (0, 0, 0, 0, 0, 1), "blank": (0, 0, 0, 0, 0, 0), "back": (0, 1, 0, 0, 1, 1)}
WAITING = {("unread", part) for part in ("1a", "1b", "1c", "2a", "2b")}
IDS = ("1a", "1b", "1c", "2a", "2b", "2c")


def handed_in(folder: Path, answers: dict[str, tuple[str, ...]]) -> None:
    (folder / "sheet.toml").write_text(SHEET)
    (folder / "in").mkdir(exist_ok=True)
    for name, given in answers.items():
        (folder / "in" / f"{name}.txt").write_text("".join(
            [f"{id}: {text}\n" for id, text in zip(IDS, given, strict=True)]))


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "results" / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_what_follows_from_a_wrong_part_keeps_its_points(
        gradcli: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    handed_in(tmp_path, CLASS)
    gradcli("hw", "run", "sheet.toml", "in", "-q")
    book = {row["student_id"]: tuple(float(row[id]) for id in IDS)
            for row in rows(tmp_path, "gradebook.csv")}
    assert book == POINTS
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for line in (tmp_path / "results" / "results.ndjson").read_text("utf-8").splitlines():
        one = json.loads(line)
        found[one["student"], one["problem"]] = one
    for key, one in found.items():
        assert (one["verdict"] in ("undecided", "unreadable")) == (key in WAITING), one
    told = "".join(one.read_text("utf-8")
                   for one in (tmp_path / "results" / "feedback").glob("*own*"))
    assert "Not right, but counts in full. 1 of 1." in told
    own = found["own", "1b"]
    assert (own["verdict"], own["mistake"]) == ("wrong", "followed_through")
    assert "right given your own answer to 1a" in own["message"]
    assert "product_of_derivatives" in own["also"]


@pytest.mark.parametrize(("fields", "own", "answer", "verdict"), [
    ({"order": 2}, "2x cos x", "2cos x - 2x sin x", "followed_through"),
    ({"order": 2}, "x", "1", "followed_through"), ({"order": 2}, "x", "0", "wrong"),
    ({"order": 2}, "7", "0", "undecided"), ({"order": 2}, "0", "0", "undecided"),
    ({"order": 2}, "k", "0", "undecided"), ({"order": 2}, "k x", "k", "undecided"),
    ({"order": 2}, "k x", "2x", "wrong"), ({"order": 2}, "1/0", "0", "undecided"),
    ({"order": 2}, "ln(-1 - x^2)", "2x/(1 + x^2)", "undecided"),
    ({"kind": "value", "at": {"x": 2}}, "7", "7", "undecided"),
    ({"kind": "critical"}, "ln(-1 - x^2)", "none", "undecided")])
def test_nothing_follows_from_what_is_no_function(
        fields: dict[str, Any], own: str, answer: str, verdict: str) -> None:
    function = "x^3 - 3x" if fields.get("kind") == "critical" else "x^2 sin x"
    before, ready = [prepare(from_fields({"id": id, "function": function, **more}))
                     for id, more in (("1a", {}), ("1b", fields))]
    found = check(ready, answer)
    follow(ready, before, own, answer, found, check)
    assert verdict in (found["mistake"], found["verdict"]), found


def test_another_answer_to_the_part_before_counts_at_once(
        gradcli: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part that follows did not change, but what it follows from did."""
    monkeypatch.chdir(tmp_path)
    handed_in(tmp_path, {"own": CLASS["own"]})
    gradcli("hw", "run", "sheet.toml", "in", "-q")
    handed_in(tmp_path, {"own": ("2x sin x", *CLASS["own"][1:])})
    gradcli("hw", "run", "sheet.toml", "in", "-q")
    (row,) = rows(tmp_path, "gradebook.csv")
    assert (row["1b"], row["2b"]) == ("0", "1")


@pytest.mark.parametrize("name", ["9", "1b", "2a"])
def test_a_part_follows_from_an_earlier_one(name: str) -> None:
    text = SHEET.replace('follows = "1a"', f'follows = "{name}"', 1)
    with pytest.raises(GradcliError, match="there is no earlier problem") as caught:
        parse(text, "sheet.toml")
    assert caught.value.code == "E0701"
    if name == "1b":
        assert caught.value.help == "name the part before it: 1a"


@pytest.mark.parametrize(("change", "warned"), [
    ({}, ""), ({'"3x^2 - 3"': '"3x^2 - 4"'}, "2c"), ({'kind = "critical"': 'kind = "zeros"'}, "2b"),
    ({"order = 2": "order = 3"}, ""), ({'"3x^2 - 3"': '"3(x - 1)(x + 1)"'}, "")])
def test_lint_says_where_nothing_can_follow(change: dict[str, str], warned: str) -> None:
    text = SHEET
    for before, after in change.items():
        text = text.replace(before, after)
    found, wrong = lint(parse(text, "sheet.toml"))
    assert not wrong
    told = [one["problem"] for one in found["problems"]
            if any("nothing follows" in warning for warning in one["warnings"])]
    assert told == ([warned] if warned else [])


def test_mistakes_are_looked_for_in_each_form() -> None:
    fields = {"function": "(x^2 + 1)/x"}
    forms = prepare(from_fields({**fields, "forms": ["x + 1/x", "(x^2 + 1) x^(-1)"]}))
    for answer, name in (("1 + 1/x^2", "sign_error"), ("2x/x", "product_one_term")):
        assert check(forms, answer)["mistake"] == name
        assert check(prepare(from_fields(fields)), answer)["mistake"] != name
    assert "x + 1/x" in check(forms, "1 + 1/x^2")["message"]
    assert check(forms, "(x^2 - 1)/x^2")["verdict"] == "correct"
    assert check(forms, "(2x x + x^2 + 1)/x^2")["mistake"] == "quotient_plus"


def test_a_form_that_is_another_function_is_refused() -> None:
    with pytest.raises(GradcliError, match="does not equal the function") as caught:
        prepare(from_fields({"function": "(x^2 + 1)/x", "forms": ["x + 2/x"]}))
    assert caught.value.code == "E0705"


@pytest.mark.parametrize(("answer", "first"), [
    ("f'(x) = 2x cos x = x(2 sin x + x cos x)", "2*x*cos(x)"),
    ("2x sin x + x^2 cos x = x(2 sin x - x cos x)", ""),
    ("y' = 2x sin x + x^2 cos x = x(2 sin x - x cos x)", "x*(2*sin(x) - x*cos(x))"),
    ("dy/dx = 2x sin x + x^2 cos x = 2x sin x = x sin x", "2*x*sin(x)")])
def test_the_first_wrong_side_is_named(answer: str, first: str) -> None:
    fields = {"function": "x^2 sin x"}
    found = check(prepare(from_fields(fields)), answer)
    assert found["verdict"] == "undecided"
    assert not first or f"the first that is not is `{first}`" in found["message"]
    last = check(prepare(from_fields({**fields, "steps": "last"})), answer)
    if first:
        right = answer.endswith("(2 sin x + x cos x)")
        assert last["verdict"] == ("correct" if right else "wrong")
        assert f"`{first}`" in last["message"]
    else:
        assert last["verdict"] == "undecided"       # an equation, and no steps
