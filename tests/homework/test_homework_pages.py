"""Pages that people look at, in HTML: what they say, that text stays text, that they print."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from asked import valid
from browsers import A4, browse, printed, width
from conftest import folded
from folders import ROOT
from homework_made import CHAIN, HOSTILE, SHEET, answer, some
from hypothesis import given
from hypothesis import strategies as st
from markup import Reader, harmless
from transcripts import in_process

from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking.marks import FULL, LEVELS, class_marks
from gradcli.homework.reports import feedback
from gradcli.homework.reports.typeset import Typesetter
from gradcli.homework.reports.whole_class import ClassReport
from gradcli.homework.sheets import formats
from gradcli.render import html
from gradcli.render.layouts.whole_class import page
from gradcli.render.numbers import visible
from gradcli.render.page import (
    BAD,
    Bar,
    Code,
    Equations,
    Facts,
    Page,
    Paragraph,
    Preformatted,
    Remark,
    Table,
    Title,
    Verdict,
)


def report(students: list[Student], results: list[Any], anonymous: bool = False) -> dict[str, Any]:
    made = ClassReport(SHEET)
    for marks in class_marks(SHEET, students, results):
        made.add(marks)
    return {"schema": 1, "command": "hw report", **made.numbers(anonymous), "out": "results"}


def hostile(text: str) -> tuple[list[Student], list[Any]]:
    """A class in which all that students and teachers write is the same text."""
    student = Student(text or "s", text, text, text)
    wrong = {**CHAIN, "read_as": text, "hint": f"looks like {text} is missing"}
    return [student], [answer(student.id, problem, text, wrong) for problem in ("1a", "1b")]


# --- the class --------------------------------------------------------------------------------


def test_a_report_says_where_the_class_stands() -> None:
    found = report(*some())
    valid(found, "hw-report")
    assert [one["students"] for one in found["marks"]] == [1, 0, 0, 1, 0, 0, 0, 0, 1, 0]
    assert found["steps"] == []     # one student is not enough
    assert [(one["problem"], one["message"], one["answer_tex"])
            for one in found["examples"][0]["examples"]] == [(
                "1a", "the inner derivative of `x^2` is missing: multiply by 2x",
                r"\cos\left(x^{2}\right)")]
    assert found["help"]["count"] == 2
    assert [one["student"] for one in found["help"]["students"]] == ["s3", "s2"]
    assert [one["student"] for one in found["missing"]["students"]] == ["s4"]
    shown = harmless(html.write([page(found)])).text
    for words in ("Half of the class has", "3 of 4 students handed something in",
                  "Niels Abel (s4)", "Carl Gauß (s2)"):
        assert words in shown


def test_nobody_is_named_in_an_anonymous_report() -> None:
    students, results = some()
    found = report(students, results, anonymous=True)
    valid(found, "hw-report")
    said = json.dumps(found, ensure_ascii=False) + html.write([page(found)])
    for student in students:
        for text in (student.id, student.first_name, student.last_name, student.email):
            assert not re.search(rf"\b{re.escape(text)}\b", said), text
    assert found["help"]["count"] == 2


@pytest.mark.parametrize("students", [0, 1])
def test_a_class_of_nobody_is_a_page(students: int) -> None:
    found = report([Student("s", handed_in=False)] * students, [])
    valid(found, "hw-report")
    harmless(html.write([page(found)]))


@pytest.mark.parametrize("text", [*HOSTILE, "</style><b>", "</title><img src=x onerror=a()>",
                                  '" onload="a()', "<!--", "]]><svg/onload=a()>", "x" * 2000])
def test_what_others_write_stays_text(text: str) -> None:
    for anonymous in (False, True):
        found = report(*hostile(text), anonymous=anonymous)
        shown = harmless(html.write([page(found)]))
        if not anonymous and text.strip() and "`" not in text:
            assert visible(text.strip()) in shown.text


@given(st.text(max_size=30))
def test_any_text_stays_text(text: str) -> None:
    """Wherever it stands on a page."""
    code, formula, bar = Code(text), Code(text, "x^2"), Bar(text, text, ("red", 0.5))
    harmless(html.write([Page(blocks=[
        Title((text, code, 1.5)), Verdict(text, BAD, text), Facts([(text, (text, code, formula))]),
        Table([text, code], [[bar, (text, code)], [formula, None]], "lr", caption=text),
        Remark(text, head=text), Paragraph(text), Equations([text]), Preformatted([text])])]))


# --- a student ------


@folded
@pytest.mark.parametrize("text", [*HOSTILE, "</style><b>", "</dd><script>a()</script>", "<!--"])
def test_feedback_stays_text(text: str) -> None:
    students, results = hostile(text)
    results[0].override = {"score": None, "comment": text, "automatic": 0.0}
    (marks,) = class_marks(SHEET, students, results)
    harmless(html.write([feedback.page(SHEET, marks, FULL, Typesetter())]))
    found = Reader(feedback.comment(SHEET, marks, FULL))
    assert set(found.tags) <= {"p", "br", "code"}
    assert found.attributes <= {"class"}
    folder = feedback.participant(students[0], "5500")
    assert folder.split("_", 4)[1:] == ["5500", "assignsubmission", "file", ""]
    assert not set(folder) & set('\\/:*?"<>|\0\n')
    assert not folder.startswith((".", "~"))


def test_feedback_says_the_same_in_each_form() -> None:
    """What a level does not tell stands in none of them."""
    for level in LEVELS[1:]:
        for marks in class_marks(SHEET, *some()):
            said = [harmless(html.write([feedback.page(SHEET, marks, level, Typesetter())])).text,
                    Reader(feedback.comment(SHEET, marks, level)).text]
            plain = feedback.markdown(SHEET, marks, level)
            for words in ("Read as", "inner derivative", "the value is", "cos(x^2)", "secret"):
                for text in said:
                    assert (words in text) == (words in plain) or words == "cos(x^2)", words
            assert all(str(marks.score).removesuffix(".0") in text for text in said)


# --- formulas ---------------------------------------------------------------------------------

DRAWN = (
    ("2*x*sin(x)", r"2 x\,\sin\left(x\right)"), ("2*3*x", r"2 \cdot 3 x"),
    ("2*(1/3)", r"2 \left(\frac{1}{3}\right)"), ("-x^2", "-x^{2}"),
    ("-x*e^(-3*x)", r"-x\,e^{-3 x}"),
    ("2 - (-x)", r"2 - \left(-x\right)"),
    ("x*(-2)", r"x\,\left(-2\right)"), ("(-x)^2", None),
    ("x^(-1/2)", None), ("e^(2*x)", "e^{2 x}"), ("1E-07*x", r"1 \times 10^{-7}"),
    ("arctan(x)/(1 + x^2)", None), ("sqrt(1 - x)", r"\sqrt{1 - x}"), ("abs(x)", r"\left|x\right|"),
    ("ln(x)^2", None), ("x - (1 - x)", r"x - \left(1 - x\right)"))


@pytest.mark.parametrize(("text", "tex"), DRAWN)
def test_answers_are_typeset_as_they_were_read(text: str, tex: str | None) -> None:
    """And every formula becomes MathML."""
    found = Typesetter().answer(formats.parse("1: x^2", "s.txt").problems[0], text)
    assert found
    if tex is not None:
        assert tex in found
    assert html.mathml(found).startswith("<mrow>")


def test_vectors_and_matrices_are_typeset() -> None:
    problem = formats.parse('[[problem]]\nid = "1"\nfunction = "[x y, x]"\nkind = "jacobian"\n'
                            'wrt = ["x", "y"]\n', "s.toml").problems[0]
    assert Typesetter().function(problem) == r"\left(x\,y,\; x\right)"
    assert r"\begin{matrix} y & x \\ 1 & 0 \end{matrix}" in Typesetter().answer(
        problem, "[[y, x], [1, 0]]")


def test_what_cannot_be_read_is_no_formula() -> None:
    problem = SHEET["1a"]
    assert Typesetter().answer(problem, "2*x +") == Typesetter().answer(problem, "") == ""


# --- the command, and a browser ---------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the class in samples/homework."""
    folder = tmp_path_factory.mktemp("class")
    given = ROOT / "samples/homework"
    status, _, err = in_process([
        "hw", "run", str(given / "sheet.toml"), str(given / "submissions"), "--roster",
        str(given / "roster.csv"), "-o", str(folder / "results"), "-q", "--exit-zero"])
    assert status == 0, err
    return folder / "results"


def test_a_report_is_written_among_the_results_or_where_it_is_wanted(
        results: Path, tmp_path: Path) -> None:
    report = ["hw", "report", "--results", str(results)]
    status, out, err = in_process(report)
    assert (status, out, err) == (0, f"{results}/report.html\n", "")
    there = (results / "report.html").read_text(encoding="utf-8")
    assert in_process([*report, "-o", "-"]) == (0, there, "")
    for name in ("a.html", "a.htm", "page"):
        assert in_process([*report, "-o", str(tmp_path / name)]) == (0, "", "")
        assert (tmp_path / name).read_text(encoding="utf-8") == there
    for format in ("table", "plain", "csv", "tsv", "markdown", "json", "ndjson"):
        status, out, err = in_process([*report, "--format", format])
        assert (status, err) == (0, "")
        assert out
    assert in_process(["hw", "report", "--results", str(tmp_path / "none")])[0] == 3


MOODLE = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 5501,Zoran Horvat,zhorvat@example.org,Submitted,,40.00,Yes,-,-,
Participant 5502,Alice Grant,agrant@example.org,Submitted,,40.00,Yes,-,-,See me
Participant 5503,Luca Rossi,lrossi@example.org,Submitted,,40.00,Yes,-,-,"<p class=""gradcli"">old"
"""


def test_moodle_gets_an_archive_and_comments(results: Path, tmp_path: Path) -> None:
    """Folders as `importziplib.php` reads them; a comment of a person stays."""
    folder = tmp_path / "results"
    shutil.copytree(results, folder)
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(MOODLE, encoding="utf-8")
    line = ["hw", "export", "--results", str(folder), "--pages", "moodle,html", "--template",
            str(sheet), "--comments"]
    assert in_process([*line, "-q"])[::2] == (0, "")
    with ZipFile(folder / "feedback-moodle.zip") as archive:
        assert archive.testzip() is None
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
    assert sorted(packed) == [
        "Alice Grant_5502_assignsubmission_file_/feedback.html",
        "Luca Rossi_5503_assignsubmission_file_/feedback.html",
        "Zoran Horvat_5501_assignsubmission_file_/feedback.html"]
    for name, text in packed.items():
        stem = {"A": "agrant", "L": "lrossi", "Z": "zhorvat"}[name[0]]
        assert text == (folder / f"feedback/{stem}.html").read_text(encoding="utf-8")
    with open(folder / "gradebook-moodle.csv", encoding="utf-8", newline="") as file:
        rows = {row["Identifier"]: row for row in csv.DictReader(file)}
    said = [rows[f"Participant {number}"]["Feedback comments"] for number in (5501, 5502, 5503)]
    assert [text[:29] for text in said] == [
        '<p class="gradcli">Score: 2 of'[:29], "See me", '<p class="gradcli">Score: 12 of'[:29]]
    status, _, err = in_process(line)
    assert status == 0
    assert "27 students without a number of Moodle" in " ".join(err.split())


@pytest.mark.slow
def test_a_page_of_a_student_opens_in_a_browser(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    shutil.copytree(results, folder)
    assert in_process(["hw", "export", "--results", str(folder), "--pages", "html",
                       "--feedback", "full", "-q"])[0] == 0
    path = folder / "feedback/wkim.html"
    shown, console = browse(path, "--dump-dom")
    assert console == []
    found = Reader(shown)
    assert found.tags["h2"] == 14
    assert found.tags["math"] > 14
    assert width(path) <= A4
    assert {(round(w), round(h)) for w, h in printed(path, tmp_path / "p.pdf")} == {(210, 297)}


@pytest.mark.slow
def test_a_report_opens_in_a_browser_and_prints_on_a4(results: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert in_process(["hw", "report", "--results", str(results), "-o", str(path)])[0] == 0
    shown, console = browse(path, "--dump-dom")
    assert console == []
    found = Reader(shown)
    assert found.tags["math"] > 50
    assert found.tags["svg"] > 20
    assert "Homework 3: derivatives" in found.text
    assert width(path) <= A4
    sheets = printed(path, tmp_path / "report.pdf")
    assert len(sheets) >= 2
    assert all(abs(w - 210) < 1 and abs(h - 297) < 1 for w, h in sheets)
