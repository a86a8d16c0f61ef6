"""Exports of Canvas and Moodle, filled in and otherwise as they were.

The heads are those of real exports: Canvas with `Points Possible` and read-only columns, also in
Swedish; Moodle's grader report and an assignment's grading worksheet.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from homework_made import SHEET
from hypothesis import given
from hypothesis import strategies as st

from gradcli.base.errors import GradcliError
from gradcli.homework.handed_in.records import Student
from gradcli.homework.reports.lms import FilledExport, fill

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Quiz (4),Chain rule (23769),"
    "Current Score\r\n"
    "    Points Possible,,,,,10.00,7.00,(read only)\r\n"
    '"Noether, Emmy",11,s1,noether,"Sec A, 1",9.5,,88.00\r\n'
    '"Gauß, Carl",12,x2,CARL@uni.example,Sec A,,3,\r\n'
    '"Kovalevskaya, Sofya",13,,,Sec B,,,\r\n'
    '"Abel, Niels",14,s4,,Sec B,,5,\r\n'
    '"Student, Test",15,,,Sec B,,,\r\n')

WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade",'
    '"Grade can be changed","Last modified (submission)","Last modified (grade)",'
    '"Feedback comments"\n'
    '"Participant 501","Emmy Noether",emmy@uni.example,"Submitted for grading",,"7,00",Yes,'
    '"Monday, 1 June 2026, 10:00 AM",-,""\n'
    '"Participant 502","Carl Gauß",carl@uni.example,"Submitted for grading","1,00","7,00",Yes,-,-,'
    '"two\nlines"\n'
    '"Participant 503","Sofya Kovalevskaya",Sofya@uni.example,"No submission",,"7,00",Yes,-,-,\n')

REPORT = (
    '"First name","Last name","ID number","Email address","Assignment: Chain rule (Real)",'
    '"Assignment: Chain rule (Percentage)","Last downloaded from this course"\n'
    '"Emmy","Noether","","emmy@uni.example","","",1700000000\n'
    '"Carl","Gauß","s2","other@uni.example","","",1700000000\n')


def students() -> list[tuple[Student, float | None]]:
    return [(Student("s1", "Noether", "Emmy", "Emmy@uni.example"), 6.0),
            (Student("s2", "Gauß", "Carl", "carl@uni.example", lms="502"), 1.875),
            (Student("s3", "Kovalevskaya", "Sofya", "sofya@uni.example"), 0.0),
            (Student("s4", "Abel", "Niels", "niels@uni.example"), None),
            (Student("s5", "Nobody"), 1.0)]


def filled(tmp_path: Path, text: str, column: str | None = None,
           scores: list[tuple[Student, float | None]] | None = None) -> FilledExport:
    path = tmp_path / "export.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return fill(str(path), SHEET, students() if scores is None else scores, column)


def test_canvas_gets_its_own_export_back(tmp_path: Path) -> None:
    found = filled(tmp_path, CANVAS)
    assert found.text == CANVAS.replace(",9.5,,", ",9.5,6,").replace(",,3,", ",,1.875,").replace(
        "13,,,Sec B,,,", "13,,,Sec B,,0,")
    assert (found.system, found.column, found.count) == ("canvas", "Chain rule (23769)", 3)
    assert [s.id for s in found.unmatched] == ["s5"]
    assert found.doubtful == []
    assert found.left == ["Student, Test"]
    assert found.notes == []


def test_a_score_that_is_missing_leaves_what_is_there(tmp_path: Path) -> None:
    assert '"Abel, Niels",14,s4,,Sec B,,5,\r\n' in filled(tmp_path, CANVAS).text


def test_the_worksheet_of_an_assignment_in_moodle(tmp_path: Path) -> None:
    found = filled(tmp_path, WORKSHEET)
    # Emmy by her name: Moodle's e-mail addresses are compared letter by letter.
    assert found.text == WORKSHEET.replace('grading",,', 'grading",6,').replace(
        '"1,00"', '"1,875"').replace('submission",,', 'submission",0,')
    assert (found.system, found.column, found.count) == ("moodle", "Grade", 3)
    assert found.left == []


def test_the_grader_report_of_moodle(tmp_path: Path) -> None:
    found = filled(tmp_path, REPORT)
    assert found.text == REPORT.replace('emmy@uni.example","",', 'emmy@uni.example","6",').replace(
        'other@uni.example","",', 'other@uni.example","1.875",')
    assert found.column == "Assignment: Chain rule (Real)"
    assert [s.id for s in found.unmatched] == ["s3", "s4", "s5"]


GRADES = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,"
    "Submission Time,Lateness (H:M:S),View Count,Submission Count,1: Sine (2.0 pts)\n"
    "Emmy,Noether,s1,emmy@x.edu,A,,7.0,Graded,11,2026-11-20 12:00:00 -0600,00:00:00,0,1,\n"
    "Carl,Gauß,,carl@uni.example,A,,7.0,Graded,12,2026-11-20 12:00:00 -0600,00:00:00,0,1,\n"
    "Sofya,Kovalevskaya,s3,,B,,7.0,Missing\n")


def test_the_grades_of_gradescope(tmp_path: Path) -> None:
    found = filled(tmp_path, GRADES)
    assert found.text == GRADES.replace("edu,A,,", "edu,A,6,").replace(
        "example,A,,", "example,A,1.875,").replace(",,B,,", ",,B,0,")
    assert (found.system, found.column, found.count) == ("gradescope", "Total Score", 3)
    assert found.notes == []


def test_emails_are_case_sensitive_in_moodle_only(tmp_path: Path) -> None:
    shouting: list[tuple[Student, float | None]] = [(Student("q", email="CARL@UNI.EXAMPLE"), 1.0)]
    assert filled(tmp_path, WORKSHEET, scores=shouting).count == 0
    assert filled(tmp_path, CANVAS, scores=shouting).count == 1


def test_semicolons_and_decimal_commas_of_a_swedish_canvas(tmp_path: Path) -> None:
    text = ("Student;ID;SIS User ID;SIS Login ID;Section;Chain rule (1);Final Score\n"
            "    Points Possible;;;;;7,00;(läs endast)\n"
            "Gauß, Carl;2;s2;;A;;\n")
    assert filled(tmp_path, text).text == text.replace("s2;;A;;", "s2;;A;1,875;")
    text = text.replace("7,00", '"7,00"').replace(";", ",").replace("Gauß, Carl", '"Gauß, Carl"')
    assert filled(tmp_path, text).text == text.replace("s2,,A,,", 's2,,A,"1,875",')


def test_two_who_claim_a_row_and_one_who_finds_two_get_nothing(tmp_path: Path) -> None:
    twins: list[tuple[Student, float | None]] = [
        (Student("s1"), 1.0), (Student("x", "Noether", "Emmy"), 2.0),   # one row
        (Student("12", email="s4"), 3.0)]                               # Carl's ID, Niels's user
    found = filled(tmp_path, CANVAS, scores=twins)
    assert found.text == CANVAS
    assert [s.id for s in found.doubtful] == ["12", "s1", "x"]


def test_a_name_that_two_rows_have_is_nobody(tmp_path: Path) -> None:
    text = CANVAS + '"Noether, Emmy",16,s9,,Sec B,,,\r\n'
    found = filled(tmp_path, text, scores=[(Student("q", "Noether", "Emmy"), 1.0)])
    assert (found.text, [s.id for s in found.doubtful]) == (text, ["q"])


def test_a_column_by_its_name(tmp_path: Path) -> None:
    assert filled(tmp_path, CANVAS, "Quiz").column == "Quiz (4)"
    assert filled(tmp_path, CANVAS, "Quiz (4)").column == "Quiz (4)"
    found = filled(tmp_path, CANVAS, "quiz")
    assert found.notes == ["the column `Quiz (4)` is out of 10 points, the sheet out of 7"]


@pytest.mark.parametrize(("text", "column", "message"), [
    (CANVAS, "Essay", "no column to fill that is called `Essay`"),
    (CANVAS, "Current Score", "no column to fill"), (CANVAS, "Section", "no column to fill"),
    (CANVAS.replace("Chain rule", "Other"), None, "no column is for this sheet"),
    (CANVAS.replace("Quiz", "Chain rule"), None, "no column is for this sheet"),
    (CANVAS.replace("Quiz", "Chain rule"), "Chain rule", "two columns"),
    ("a,b\n1,2\n", None, "neither Canvas nor Moodle"), ("", None, "neither Canvas nor Moodle"),
    (CANVAS + '"Student, Test', None, "never closed"),
    (CANVAS.replace("9.5,,88.00", "9.5,,88.00,1"), None, "the row has 9 cells, not 8"),
])
def test_what_cannot_be_filled(text: str, column: str | None, message: str, tmp_path: Path
                               ) -> None:
    with pytest.raises(GradcliError) as caught:
        filled(tmp_path, text, column)
    assert caught.value.code == "E0745"
    assert message in caught.value.message
    assert caught.value.span is not None
    assert caught.value.help


def test_the_only_assignment_is_taken_whatever_its_name(tmp_path: Path) -> None:
    text = CANVAS.replace("Quiz (4),", "").replace("Chain rule", "Other").replace("10.00,", "")
    text = text.replace(",9.5,,", ",,").replace(",,,\r\n", ",,\r\n")
    assert filled(tmp_path, text).column == "Other (23769)"


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(CANVAS.encode("latin-1", "ignore"))
    with pytest.raises(GradcliError) as caught:
        fill(str(path), SHEET, [])
    assert caught.value.code == "E0603"


CELLS = st.text(max_size=12, alphabet=st.characters(
    blacklist_categories=["Cs"], blacklist_characters="\0\r\ufeff"))


@given(cells=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5),
       end=st.sampled_from(["\n", "\r\n"]),
       quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
       separator=st.sampled_from([",", ";", "\t"]))
def test_only_one_column_of_any_export_changes(
        cells: list[tuple[str, str, str]], end: str, quoting: Any, separator: str,
        tmp_path_factory: pytest.TempPathFactory) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(["Student", "ID", "SIS User ID", "Section", "Chain rule (1)", "Final (2)"])
    for k, (a, b, c) in enumerate(cells):
        writer.writerow([a, f"{k}", f"id{k}", b, "", c])
    scores: list[tuple[Student, float | None]] = [
        (Student(f"id{k}"), k + 0.5) for k in range(len(cells))]
    found = filled(tmp_path_factory.mktemp("lms"), stream.getvalue(), scores=scores)
    before, after = [list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
                     for text in (stream.getvalue(), found.text)]
    possible = [row[0].strip() == "Points Possible" for row in before]
    for k, (row, new) in enumerate(zip(before[1:], after[1:], strict=True)):
        assert new[:4] + new[5:] == row[:4] + row[5:]
        assert new[4] == ("" if possible[k + 1] else f"{k}.5")
    assert found.count == len(cells) - sum(possible)
    if quoting == csv.QUOTE_ALL:
        assert found.text.count('"') == stream.getvalue().count('"')
