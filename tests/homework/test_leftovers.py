"""What students hand in where no reader looks for answers: who lacks an answer waits."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.handed_in.labels import Ids
from gradcli.homework.handed_in.layouts import parse
from gradcli.homework.handed_in.records import Submission
from gradcli.homework.sheets.formats import parse as sheet_of

SHEET = sheet_of("1a: x^2\n1b: x^3\n4: sqrt(x)\n", "hw.txt")
GIVEN = {"1a": "2x", "1b": "3x^2"}
PAGE = "<p>1a) 2x</p><p>1b) 3x^2</p>"
LATEX = ("\\documentclass{article}\n%s\\begin{document}\n1a) $2x$\n\n1b) $3x^2$\n%s"
         "\\end{document}\n%s")


def notebook(**code: object) -> str:
    return json.dumps({"cells": [
        {"cell_type": "markdown", "source": "1a) 2x\n\n1b) 3x^2", "metadata": {}},
        {"cell_type": "code", "source": "", "metadata": {}, **code}]})


def handed_in(folder: Path, name: str, text: str) -> Submission:
    (folder / "eve").mkdir()
    (folder / "eve" / name).write_text(text, encoding="utf-8")
    one, = open_submissions(str(folder), SHEET)
    return one


@pytest.mark.parametrize(("name", "text", "waits"), [
    # Keys that name no problem.
    ("a.json", json.dumps({**GIVEN, "four": "1/4"}), True),
    ("a.json", json.dumps({**GIVEN, "4.": "", "d": "3"}), True),
    ("a.json", json.dumps({"student": "eve", "answers": GIVEN, "rest": "1/4"}), True),
    ("a.json", json.dumps({**GIVEN, "name": "Eve", "date": "2026-11-20", "course": "101"}), False),
    ("a.json", json.dumps({**GIVEN, "remark": "We liked it."}), False),
    ("a.json", json.dumps({**GIVEN, "4": None}), False),
    # Columns that hold no answers.
    ("a.csv", "problem,answer,notes\n1a,2x,\n1b,3x^2,\n4,,1/4\n", True),
    ("a.csv", "problem,answer,notes\n1a,2x,1/4\n1b,3x^2,\n", True),
    ("a.csv", "problem,answer,notes\n1a,2x,by the power rule\n1b,3x^2,easy\n4,,\n", False),
    ("a.csv", "problem,answer,points\n1a,2x,2\n1b,3x^2,3\n4,,1\n", False),
    ("a.csv", "name,Eve Lee\n1a,2x\n1b,3x^2\n", False),
    ("a.csv", "1a,2x\n1b,3x^2\nfour,1/4\n", True),
    ("a.csv", "problem,answer\n1a,2x\n1b,3x^2\n4: 1/4\n", True),
    ("a.csv", "problem,answer\n1a,2x\n1b,3x^2\n7,\n", False),
    ("a.csv", "1a,1b,4,comment\n2x,3x^2,,4 is 1/4\n", True),
    ("a.csv", "problem,answer,comment\n1a,2x,\n1b,3x^2,\n4,,I got 1/4\n", True),
    ("a.csv", "problem,answer,comment\n1a,2x,\n1b,3x^2,\n4,,I used page 3 of the book\n", False),
    ("a.tex", LATEX % ("", "4) \\begin{comment}\n1/4\n\\end{comment}\n", ""), True),
    ("a.json", json.dumps({**GIVEN, "name": "1/4"}), True),
    ("a.json", json.dumps({**GIVEN, "comment": "4 is 1/4"}), True),
    ("a.json", json.dumps({**GIVEN, "comment": "I needed 3 hours"}), False),
    ("a.md", "1a) 2x\n\n1b) 3x^2\n\n<details><summary>4)</summary>1/4</details>\n", True),
    # Pages: what a browser shows and no text tells; comments.
    *[("a.html", PAGE + more, waits) for more, waits in (
        ("<p>4) <select><option>1/4<option>1/2</select></p>", True),
        ("<p>4) <span class='math' data-latex='\\frac14'></span></p>", True),
        ("<p>4) <iframe src='x'></iframe></p>", True), ("<canvas></canvas>", True),
        ("<!-- 4) 1/4 -->", True), ("<!--StartFragment-->", False),
        ("<!--[if gte mso 9]><xml>1</xml><![endif]-->", False),
        ("<p>4) <input type=checkbox></p>", False),
        ("<p>4) <input type=radio checked>", True), ("<input type=submit value='1/4'>", False),
        ("<p>4) <span data-value=''></span></p>", False), ("<script>4) 1/4</script>", False),
        ("<script type='math/tex'>\\frac14</script>", True), ("<video src='x'></video>", True),
        ("<p>4) <span style='text-decoration: line-through'>1/4</span>", True),
        ("<p>4) <b style='display:none'>1/4</b>", True), ("<p>4) <b hidden>1/4</b>", True),
        ("<p style='background-image: url(x.png)'></p>", True), ("<a href='x.jpg'></a>", True),
        ("<p style='color: red'></p>", False))],
    # LaTeX: comments, and what stands around the document.
    ("a.tex", LATEX % ("", "", ""), False), ("a.tex", LATEX % ("", "% 4) $1/4$\n", ""), True),
    ("a.tex", LATEX % ("", "", "4) 1/4\n"), True), ("a.tex", LATEX % ("4) 1/4\n", "", ""), True),
    ("a.tex", LATEX % ("% $Id$\n\\usepackage{amsmath}\n\\newcommand{\\R}{\\mathbb{R}}\n", "", ""),
     False),
    ("a.tex", LATEX % ("", "% Best regards\n", "\n"), False),
    # Notebooks: what a cell prints or returns.
    ("a.ipynb", notebook(outputs=[{"output_type": "stream", "text": ["4) 1/4\n"]}]), True),
    ("a.ipynb", notebook(outputs=[{"data": {"text/plain": ["1/(2*sqrt(x))"]}}]), True),
    ("a.ipynb", notebook(outputs=[{"output_type": "stream", "text": "All is well\n"}]), False),
    ("a.ipynb", notebook(attachments={"a.png": {}}), True),
    ("a.ipynb", notebook(outputs=[]), False), ("a.ipynb", notebook(outputs=7), False),
    # Comments of texts.
    ("a.txt", "# 1/4\n1a) 2x\n1b) 3x^2\n", True), ("a.txt", "1a) 2x\n1b) 3x^2\n# 4: 1/4\n", True),
    ("a.txt", "# Homework of Eve\n1a) 2x\n1b) 3x^2\n", False),
    ("a.txt", "1a) 2x\n# 1b again, forgot the rule\n1b) 3x^2\n", False),
    ("a.txt", "1a) 2x\n1b) 3x^2\nfour: 1/4\n", True),
    ("a.txt", "Time: 10:30\n1a) 2x\n1b) 3x^2\n", False)])
def test_what_is_left_over(tmp_path: Path, name: str, text: str, waits: bool) -> None:
    """No answer is wrong for it, and none is blank beside it."""
    one = handed_in(tmp_path, name, text)
    assert [answer.fault for answer in one.answers[:2]] == [None, None]
    last = one.answers[2]
    assert (last.fault is not None or "?" in last.answer) == waits, one.notes


@pytest.mark.parametrize(("document", "answers"), [
    ({"1": {"a": "2x", "b": "3x^2"}, "4": "5"}, ["2x", "3x^2", "5"]),
    ({"answers": {"1": {"a": "2x", "b": "3x^2"}, "4": "5"}}, ["2x", "3x^2", "5"]),
    ({"1": {"a": "2x", "z": "3x^2"}, "4": {"x": "5"}}, ["", "", "{x: 5}"])])
def test_parts_of_a_problem_in_json(tmp_path: Path, document: dict[str, object],
                                    answers: list[str]) -> None:
    one = handed_in(tmp_path, "a.json", json.dumps(document))
    assert [answer.answer for answer in one.answers] == answers
    assert all(answer.answer or answer.fault for answer in one.answers)


def test_fields_of_a_page_that_are_filled_in(tmp_path: Path) -> None:
    one = handed_in(tmp_path, "a.html", PAGE + '<p>4) <input name="q" value="1/(2&radic;x)"></p>')
    assert [answer.answer for answer in one.answers] == ["2x", "3x^2", "1/(2√x)"]


@pytest.mark.parametrize(("text", "doubtful"), [
    ("1a) 2x\n1b) 3x^2\n\n1/4\n", ["1b"]), ("1a) 2x\n3\n1b) 3x^2\n", ["1a"]),
    ("1a) 2x\n3\n1b) 3x^2\n4) 1/4", []), ("1a) 2x\n= 2x\n1b) 3x^2\n", [])])
def test_an_answer_that_took_another_one(tmp_path: Path, text: str, doubtful: list[str]) -> None:
    """A line below an answer may be that to the problem whose label was forgotten."""
    one = handed_in(tmp_path, "a.txt", text)
    assert [answer.problem for answer in one.answers if answer.doubt] == doubtful


@pytest.mark.parametrize(("text", "found", "doubt"), [
    ("# 1a: 2x\n# 1b: 3x\n# 2: 5x", {"1a": "2x", "1b": "3x", "2": "5x"}, False),
    ("# my homework\n# 1a: 2x\n", {"1a": "2x"}, False),
    ("# 1a = 2x\n\n# 2 = 5x", {"1a": "2x", "2": "5x"}, False),
    ("# 1a: 2x\n1b: 3x\n2: 5x", {"1b": "3x", "2": "5x"}, True),
    ("# 1a: 2x\n1a: x\n1b: 3x\n2: 5x", {"1a": "x", "1b": "3x", "2": "5x"}, False)])
def test_labels_behind_a_sign_of_headings(text: str, found: dict[str, str], doubt: bool) -> None:
    parsed = parse(text, Ids(["1a", "1b", "2"]))
    assert {id: answer for id, (answer, _) in parsed.answers.items()} == found
    assert any(about == "unclaimed" for about, _, _ in parsed.notes) == doubt


def test_a_number_is_no_label_of_a_problem_with_a_letter() -> None:
    """`2 sin x` below p14 is its answer, and not that to p2."""
    parsed = parse("p2:\np3: 4x^3\np14:\n2 sin x cos x", Ids(["p2", "p3", "p14"]))
    assert {id: answer for id, (answer, _) in parsed.answers.items()} == {
        "p2": "", "p3": "4x^3", "p14": "2 sin x cos x"}
    cells = [{"cell_type": "markdown", "source": text, "metadata": {
        "nbgrader": {"grade_id": id, "solution": True}}} for id, text in (
            ("p2", ""), ("p14", "2 sin x cos x"), ("p3", "4x^3"))]
    from gradcli.homework.handed_in.sources import ipynb

    parsed = parse(ipynb(json.dumps({"cells": cells}).encode()), Ids(["p2", "p3", "p14"]))
    assert {id: answer for id, (answer, _) in parsed.answers.items() if answer} == {
        "p3": "4x^3", "p14": "2 sin x cos x"}
    assert parsed.notes == []


TITLES = "name,1a,1b,4,anything else?\n"


@pytest.mark.parametrize(("row", "waits"), [
    ("eve,2x,3x^2,,4: 1/4\n", True), ("eve,2x,3x^2,,It was fun\n", False),
    ("eve,2x,3x^2,,\n", False)])
def test_columns_of_a_class_that_name_no_problem(tmp_path: Path, row: str, waits: bool) -> None:
    (tmp_path / "class.csv").write_text(TITLES + row)
    one, = open_submissions(str(tmp_path / "class.csv"), SHEET)
    assert [answer.fault is not None for answer in one.answers] == [False, False, waits]
    long = "name,problem,answer,remark\n" + "".join(
        [f"eve,{id},{text},\n" for id, text in GIVEN.items()]) + "eve,4,,1/4\n"
    (tmp_path / "long.csv").write_text(long)
    one, = open_submissions(str(tmp_path / "long.csv"), SHEET)
    assert [answer.fault is not None for answer in one.answers] == [False, False, True]


@pytest.mark.parametrize(("cell", "waits"), [
    ("2026-05-16", True), ("1/2/2026", True), ("16.05.2026", True), ("2026-05-16 00:00:00", True),
    ("5/16", False), ("2026", False), ("1/2/x", False), ("16-5-x", False), ("-1/2", False)])
def test_what_a_spreadsheet_takes_for_a_date(tmp_path: Path, cell: str, waits: bool) -> None:
    """It is for a person, in every table."""
    for name, text in (("wide.csv", f"name,1a,1b,4\neve,2x,3x^2,{cell}\n"),
                       ("long.csv", f"name,problem,answer\neve,4,{cell}\n"),
                       ("in/eve/a.csv", f"problem,answer\n4,{cell}\n"),
                       ("in/eve/a.csv", f"1a,1b,4\n2x,3x^2,{cell}\n"),
                       ("in/eve/a.csv", f"4,{cell}\n")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        one, = open_submissions(str(tmp_path / "in" if "/" in name else path), SHEET)
        assert one.answers[2].answer == (rf"\date? {cell}" if waits else cell), name


def test_formulas_of_a_workbook_without_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["name", "1a", "1b", "4"], ["eve", "=2*x", "3x^2", "=16/5"]):
        book.worksheets[0].append(row)
    book.save(tmp_path / "class.xlsx")
    one, = open_submissions(str(tmp_path / "class.xlsx"), SHEET)
    assert [answer.answer for answer in one.answers] == [
        r"\formula? =2*x", "3x^2", r"\formula? =16/5"]


def test_addresses_are_equal_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("email,1a,1b,4\nEve@x.edu,2x,,\neve@x.edu,,3x^2,\n")
    one, = open_submissions(str(tmp_path / "class.csv"), SHEET)
    assert [answer.answer for answer in one.answers] == ["2x", "3x^2", ""]
