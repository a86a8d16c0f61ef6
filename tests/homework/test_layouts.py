"""Hand-ins however their lines are laid out: tests/data/homework/layouts.toml."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import folded
from folders import DATA
from homework_layouts import LAYOUTS as WAYS
from homework_layouts import SHEETS, measured
from homework_layouts import written as handed_in
from hypothesis import given
from hypothesis import strategies as st

from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.handed_in.labels import Ids
from gradcli.homework.handed_in.layouts import parse
from gradcli.homework.handed_in.records import DOUBTS, LOOSE, decoded_text
from gradcli.homework.marking.marks import kind
from gradcli.homework.marking.output_folder import OutputFolder
from gradcli.homework.marking.results import read_results
from gradcli.homework.run import RunOptions, run
from gradcli.homework.sheets.formats import parse as sheet_of

LAYOUTS = tomllib.loads((DATA / "homework/layouts.toml").read_text(encoding="utf-8"))["layout"]
IDS = ["1a", "1b", "1c", "2", "3"]
PLACES = "ABCDE"
ANSWERS = (
    ["2x sin x + x^2 cos x", "f'(x) = 3x^2", "(2x + 1)e^(-x)", "<2x + 3y, 3x>", "-7/2"],
    ["2x", "-3x^2", "y' = -x/y", "[2, 1; x, 0]", "ln|x| + 1"],
    ["$2x\\cos x$", "\\frac{1}{x}", "$$-\\sin x$$", "$(2x, 3y)$", "$-4$"],
    ["−sin x", "2·x", "1/(2√x)", "3x²", "does not exist"])


def written(layout: dict[str, Any], answers: list[str]) -> str:
    text: str = layout["text"]
    for place, answer in zip(PLACES, answers, strict=True):
        text = text.replace(f"«{place}»", answer)
    return text


@folded
@pytest.mark.parametrize("answers", ANSWERS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout["name"])
def test_answers_in_any_layout(layout: dict[str, Any], answers: list[str]) -> None:
    parsed = parse(written(layout, answers), Ids(layout.get("ids", IDS)))
    found = {id: answer for id, (answer, _) in parsed.answers.items()}
    if layout.get("marked"):
        found = {id: answer.rpartition("nswer: ")[2] for id, answer in found.items()}
    if layout.get("display"):
        found = {id: answer[3:-3] for id, answer in found.items()}
    expected = dict(zip(layout.get("ids", IDS), answers, strict=True))
    doubts = [note for note in parsed.notes if note[0] in DOUBTS]
    if layout.get("columns") and any("|" in answer for answer in answers):
        assert doubts       # which bar is the table's?
    else:
        assert found == expected
        assert bool(doubts) == layout.get("doubt", False)


# Answers that look like parts of a layout, and any others.
ODD = [
    "2 - x", "2 x", "1b) x", "(a) x", "a) x", "2", "1a", "1", "- x", "-x", "2: 3", "| x |", "|x|",
    "Page 2", "Answer: 3", "Name: x", "# x", "* x", "**x**", "i) 5", "3.", "3. x", "x, 1b) y",
    "x 2) y", "x = 1, 2: y", "ii", "Problem 2 x", "2 (x + 1)", "(2)x", "(2) x", "\\item x",
    "\\textbf{x}", "x \\\\", "``x``", "> x", "7) x", "[1, 2]", "x;", "x, y",
    "no solution", "Homework 3", "--- x", "#2", "1a:", "1a: 1a: x", "_x_"]
TYPED = st.text(st.characters(codec="utf-8", exclude_characters="\n\r", categories=(
    "L", "N", "P", "S", "Zs")), max_size=30).map(lambda s: " ".join(s.split()))


@given(st.sampled_from(LAYOUTS), st.integers(0, 4), st.sampled_from(ODD) | TYPED)
def test_no_answer_is_lost(layout: dict[str, Any], k: int, answer: str) -> None:
    """It comes out as it was typed, or a note says what became of it."""
    ids = layout.get("ids", IDS)
    answers = [*ANSWERS[0]]
    answers[k] = answer
    parsed = parse(written(layout, answers), Ids(ids))
    found = [parsed.answers.get(id, ("", 0))[0] for id in ids]
    if layout.get("display"):
        found = [text[3:-3] for text in found]
    found = [text.rpartition("nswer: ")[2] for text in found]
    answers[k] = answer.rpartition("nswer: ")[2]
    if "\\item " in answer:     # the layout of one answer within
        answers[k], found[k] = (re.sub(r'\\item\b\s*|"', "", text) for text in (answer, found[k]))
    if answer not in ODD:       # of `1a) :0` the colon belongs to the label
        answers[k], found[k] = (re.sub(r"^[^\w(\[{+\-−√|<]+|[*_`~\"'$|]+$", "", text)
                                for text in (answers[k], found[k]))
    own = Ids(ids).label(answer, ())
    if not any(map(str.isalnum, answer)) or (own and own.id == ids[k]):
        return      # nothing, or a rule; or the label once more
    if layout.get("line"):      # where a part of the answer may be another's
        assert set(filter(str.isalnum, answers[k])) <= {*"".join(found)} or parsed.notes
    else:
        assert found == answers or parsed.notes


FUNCTIONS = ("x^2 sin x", "x^3 + 1", "ln x", "sqrt x", "cos(2x)")
RIGHT = ["2x sin x + x^2 cos x", "3x^2", "1/x", "1/(2 sqrt(x))", "-2 sin(2x)"]


def test_marks_of_any_layout(tmp_path: Path) -> None:
    """Right answers are right, and wrong ones are wrong or wait for a person; none is blank."""
    for n, layout in enumerate(LAYOUTS):
        for k in (None, n % 5):
            folder = tmp_path / ",".join(layout.get("ids", IDS))
            answers = [*RIGHT]
            if k is not None:
                answers[k] = "x + 7"
            path = folder / f"{n:02}-{k}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(written(layout, answers), encoding="utf-8")
    count = 0
    for folder in [*tmp_path.iterdir()]:
        ids = folder.name.split(",")
        sheet = sheet_of("\n".join(f"{id}: {function}" for id, function in zip(
            ids, FUNCTIONS, strict=True)), "hw.txt")
        run(sheet, open_submissions(str(folder), sheet), None, OutputFolder(f"{folder}-out"),
            RunOptions())
        for result in read_results(f"{folder}-out/results.ndjson"):
            number, _, wrong = result.student.partition("-")
            layout = LAYOUTS[int(number)]
            expected = "right" if str(ids.index(result.problem)) != wrong else (
                "review" if layout.get("doubt") else "wrong")
            assert kind(sheet[result.problem], result) == expected, result.fields()
            count += 1
    assert count == 10 * len(LAYOUTS) >= 400


@pytest.mark.parametrize(("seed", "numbers"), [(1, False), (2, True)])
def test_a_class_that_leaves_problems_empty(tmp_path: Path, seed: int, numbers: bool) -> None:
    """One empty problem, or a sentence between, spoils no layout."""
    counts, odd = measured(tmp_path, 120, seed, numbers)
    right = sum([count for (what, _), count in counts.items() if what == "right"])
    assert right > 600
    assert counts["right", "right"] >= 0.99 * right, odd
    assert {place for place in counts if place[0] != place[1]} <= {
        ("right", "review"), ("wrong", "review"), ("blank", "review")}, odd


# Problems 1a, 1b, 1c, 2 and 3, some of which are left empty or out.
@pytest.mark.parametrize(("text", "found", "doubt"), [
    ("1a – 2x\n1b – 3x\n1c –\n2 –\n3 – x", {"1a": "2x", "1b": "3x", "3": "x"}, False),
    ("1a –\n1b –\n1c –\n2 – 2x\n3 –", {"2": "2x"}, False),
    ("1a -\n1b - 3x\n1c - 1\n2 - 2x\n3 -", {"1b": "3x", "1c": "1", "2": "2x"}, False),
    ("1a 2x\n1b\n1c 1\n2\n3 5x", {"1a": "2x", "1c": "1", "3": "5x"}, False),
    ("1a | 2x\n1b |\n1c | 1\n2 |\n3 | x", {"1a": "2x", "1c": "1", "3": "x"}, False),
    ("1a, 2x\n1b,\n1c, 1\n2,\n3, x", {"1a": "2x", "1c": "1", "3": "x"}, False),
    ("1a\t2x\n1b\n1c\t1\n2\n3\tx", {"1a": "2x", "1c": "1", "3": "x"}, True),
    ("1a\n2x\n1b\n1c\n1/x\n2\n3\nx", {"1a": "2x", "1c": "1/x", "3": "x"}, True),
    ("1a\n2x\n1b\n1c\n1/x\n2\nx\n3", {"1a": "2x", "1c": "1/x", "2": "x"}, False),
    ("1a\n2x\n2\nx^2\n3\nx", {"1a": "2x", "2": "x^2", "3": "x"}, True),
    ("1a – 2x\n2 – x^2\n3 – x", {"1a": "2x", "2": "x^2", "3": "x"}, True),
    ("(1a) 2x\n(1b) x\n2 x^2\n3", {"1a": "2x", "1b": "x", "2": "x^2"}, True),
    ("（1a）2x\n（1b）(1 - x)\n（2）\n（3）x", {"1a": "2x", "1b": "(1 - x)", "3": "x"}, False),
    ("1a: 2x\n1b: x +\n2 - x\n3: x", {"1a": "2x", "1b": "x + 2 - x", "3": "x"}, True),
    ("1a\n1b\n1c\n2\n3", {}, True),
    ("1a: 2x\n3: x\nThanks!\nAnn", {"1a": "2x", "3": "x"}, False),
    ("1a: 2x\n3:\nBest,\nAnn Lee", {"1a": "2x"}, False),
    ("1a: 2x\n3:\nThanks, and ignore problem 1", {"1a": "2x", "3": "Thanks, and ignore problem 1"},
     False)])
def test_problems_left_empty(text: str, found: dict[str, str], doubt: bool) -> None:
    parsed = parse(text, Ids(IDS))
    assert {id: answer for id, (answer, _) in parsed.answers.items() if answer} == found
    assert any(note[0] in DOUBTS for note in parsed.notes) == doubt


# Problems 1 to 5, in tables of Markdown.
@pytest.mark.parametrize(("text", "found", "doubt"), [
    ("| Nr | Answer |\n|---|---|\n| 1 | 2x |\n| 2 | 3 |\n| 3 | 4 |",
     {"1": "2x", "2": "3", "3": "4"}, False),
    ("| Nr | Answer |\n| 1 | 5 |\n| 2 | 1 |", {"1": "5", "2": "1"}, False),
    ("| 1 | 2 |\n| 2 | 3 |\n| 3 | x |", {"1": "2", "2": "3", "3": "x"}, True),
    ("| 2 | 3 |", {"2": "3"}, False),
    ("| 1 | 2 |\n|---|---|\n| x | 3x |", {"1": "x", "2": "3x"}, False),
    ("| 1 | 2 | 3 |\n|---|---|---|\n| 2 | 3 | x |", {"1": "2", "2": "3", "3": "x"}, True),
    ("| 1 | 2 | 3 |\n|---|---|---|\n| | x | 3 |", {"2": "x", "3": "3"}, False),
    ("| Nr | Answer |\n|---|---|\n| 1 | 2 |\n\n| 2 | 3 |\n|---|---|\n| x | y |",
     {"1": "2", "2": "x", "3": "y"}, False)])
def test_rows_and_columns_of_tables(text: str, found: dict[str, str], doubt: bool) -> None:
    parsed = parse(text, Ids(["1", "2", "3", "4", "5"]))
    assert {id: answer for id, (answer, _) in parsed.answers.items() if answer} == found
    assert any(note[0] in DOUBTS for note in parsed.notes) == doubt


# Labels of four problems, and whether other answers than right ones wait.
PARTS, PLAIN, ROMAN = ["1a", "1b", "2", "3"], ["1", "2", "3", "4"], ["1.1", "1.2", "2", "3"]
FOUR = [
    (PARTS, "Aufgabe 1a) |Aufgabe 1b) |Aufgabe 2) |Aufgabe 3) ", False),
    (PARTS, "Problem 1 (a): |Problem 1 (b): |Problem 2: |Problem 3: ", False),
    (PARTS, "Q1a. |Q1b. |Q2. |Q3. ", False), (PARTS, "1.a) |1.b) |2.) |3.) ", False),
    (PLAIN, "I. |II. |III. |IV. ", False), (PLAIN, "(i) |(ii) |(iii) |(iv) ", False),
    (ROMAN, "1.\n(i) |(ii) |2. |3. ", False), (PARTS, "1) i) |   ii) |2) |3) ", False),
    (PARTS, "1a\t|1b\t|2\t|3\t", None), (PARTS, "1a)\u00a0|1b)\u00a0|2)\u00a0|3)\u00a0", False),
    (PARTS, "1\u00a0a)\u2009|1\u00a0b)\u2009|2)\u2009|3)\u2009", False),
    (PARTS, "1a\u00a0– |1b\u00a0– |2\u00a0– |3\u00a0– ", False),
    (PARTS, "1. a. |   b. |2. |3. ", False), (PLAIN, "  1. |  2. |  3. |  4. ", False),
    (PLAIN, "1- |2- |3- |4- ", False), (PARTS, "1a- |1b- |2- |3- ", False),
    (PARTS, "1a |1b |2 |3 ", None), (PARTS, "1a\n|1b\n|2\n|3\n", None),
    (PARTS, "# 1a\n|# 1b\n|# 2\n|# 3\n", False),
    # Others than the sheet's, as many as it has problems: the order tells.
    (PARTS, "a) |b) |c) |d) ", None), (PARTS, "(a) |(b) |(c) |(d) ", True),
    (PARTS, "a: |b: |c: |d: ", True), (PARTS, "1. |2. |3. |4. ", True)]


@pytest.mark.parametrize(("ids", "labels", "doubt"), FOUR, ids=str)
def test_four_problems_of_which_some_are_empty(ids: list[str], labels: str, doubt: bool | None
                                               ) -> None:
    for blank in ("", "0", "1", "2", "3", "01", "23", "12"):
        answers = ["" if str(k) in blank else text for k, text in enumerate(
            ("2x", "3x^2 - 1", "-x", "1/x"))]
        lines = [label + answer for label, answer in zip(labels.split("|"), answers, strict=True)]
        for text in ("\n".join(lines), "\ufeff" + "\r\n".join(lines) + "\r\n",
                     "\n".join(lines).replace(" \n", "\n").rstrip()):
            parsed = parse(decoded_text(text.encode())[0], Ids(ids))
            assert {id: answer for id, (answer, _) in parsed.answers.items() if answer} == {
                id: answer for id, answer in zip(ids, answers, strict=True) if answer}, text
            doubts = any(note[0] in DOUBTS for note in parsed.notes)
            assert doubt is None or doubts == doubt, text


# Answers that hold a mark, so that it is seen where they come out; some look like labels.
SHAPES = ("{}", "-{}", "|{}|", "({}, 2)", "{} + 1", "2 - {}", "3\n{}", "{}\n3", "2\n= {}", "y = {}",
          "[{}]", "1, {}", "{}, 1")


def test_every_answer_comes_out_or_waits() -> None:
    """An answer is that to its problem; or the hand-in waits; or the problem does, which is empty,
    beside a line that may answer it.
    """
    draw = random.Random(5)
    for _ in range(1500):
        name, ids = draw.choice([*WAYS]), draw.choice(SHEETS)
        if name in ("lists of LaTeX", "table"):     # an answer of several lines breaks these
            continue
        answers = {id: draw.choice(SHAPES).replace("{}", f"x^{100 + k}")
                   for k, id in enumerate(ids) if draw.random() < 0.6}
        text = handed_in(name, ids, answers, draw)
        parsed = parse(text, Ids(ids))
        about = {note[0] for note in parsed.notes}
        for id, answer in answers.items():
            found = parsed.answers.get(id, ("", 0))[0]
            mark, = re.findall(r"x\^1\d\d", answer)
            assert mark in found or about & {*DOUBTS} or (about & {*LOOSE} and not found), (
                text, parsed.answers, parsed.notes)


@pytest.mark.parametrize(("text", "found"), [
    # A number that is a part of an answer is no problem.
    ("1.\na) x\n3\nb) y", {"1a": "x\n3", "1b": "y"}),
    ("## 1b\n\n## Problem 2\n2 - x\n## 3\ny", {"2": "2 - x", "3": "y"}),
    # What a problem is worth, forms that were filled in, lists with boxes.
    ("1a (2 points): x\n1b) [1 pt] y\nProblem 2 (4 marks)\nz\n3 (3)", {
        "1a": "x", "1b": "y", "2": "z", "3": "(3)"}),
    ("1a) ___x___\n1b) _____\n2) ..... y\n3) x...", {"1a": "x", "2": "y", "3": "x..."}),
    ("- [x] 1a: x\n- [ ] 1b:\n- [X] 2: y", {"1a": "x", "2": "y"}),
    ("1\na) x\nb) y\n2\nz", {"1a": "x", "1b": "y", "2": "z"})])
def test_numbers_alone(text: str, found: dict[str, str]) -> None:
    parsed = parse(text, Ids(PARTS))
    assert {id: answer for id, (answer, _) in parsed.answers.items() if answer} == found


@pytest.mark.parametrize(("text", "doubt"), [
    ("1a: x\n1a: y\n1b: x\n2: x\n3: x", False), ("1a: x\n1a: y\n2: x\n3: x", True),
    ("1a: x\n1a: x\n2: x\n3: x", False),
    ("1. x\n1. y\n1. z\n1. u", True)])
def test_an_answer_twice_may_be_one_that_is_missing(text: str, doubt: bool) -> None:
    assert any(note[0] in DOUBTS for note in parse(text, Ids(PARTS)).notes) == doubt
