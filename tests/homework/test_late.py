"""What is late, and which of several attempts counts, whatever system says when that was."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import folded
from folders import ROOT

from gradcli.base.errors import GradcliError, Source
from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.handed_in.records import Submissions
from gradcli.homework.handed_in.roster import parse_roster
from gradcli.homework.lint import lint
from gradcli.homework.marking.best import take_best
from gradcli.homework.sheets.deadline import day_first, due_time, readings, span
from gradcli.homework.sheets.formats import parse
from gradcli.homework.sheets.sheet import Sheet

TIMES = (ROOT / "tests/data/homework/times.tsv").read_text(encoding="utf-8").splitlines()[1:]
PROBLEMS = '[[problem]]\nid = "1"\nfunction = "x^2"\n[[problem]]\nid = "2"\nfunction = "x^3"\n'
DUE = 'due = 2026-11-20T23:59\ntimezone = "Europe/Berlin"\n'


def sheet(late: str = DUE, head: str = "", name: str = "hw.toml") -> Sheet:
    return parse(f"[sheet]\n{head}\n[late]\npenalty = 0.1\n{late}\n{PROBLEMS}", name)


def handed_in(folder: Path, files: dict[str, str], of: Sheet, roster: str = "", **options: str
              ) -> Submissions:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    first = next(iter(files))
    found = parse_roster(Source(roster, "roster.csv")) if roster else None
    return open_submissions(str(folder / first if first.endswith("csv") else folder), of, found,
                            **options)  # type: ignore[arg-type]


def late(found: Submissions) -> set[str]:
    return {student.id for student in found.students if student.late}


def answered(found: Submissions) -> dict[str, list[str]]:
    return {one.student.id: [a.answer for a in one.answers] for one in found}


# --- times --------------------------------------------------------------------------------------

@folded
@pytest.mark.parametrize("line", TIMES)
def test_times_as_they_are_written(line: str) -> None:
    text, *expected = line.split("\t")
    assert [one.isoformat() for one in readings(text)] == [one for one in expected if one]


def test_a_column_tells_which_number_is_the_day() -> None:
    assert day_first(["1/2/2026", "11/20/2026"]) is False
    assert day_first(["1/2/2026", "20/11/2026"]) is True
    assert day_first(["1/2/2026", "20.11.2026"]) is None
    assert [one.month for one in readings("5/11/2026", True)] == [11]
    assert [one.month for one in readings("5/11/2026", False)] == [5]


@pytest.mark.parametrize(("text", "seconds"), [
    ("15 min", 900), ("2 days", 172800), ("1.5 h", 5400), ("1 week", 604800), ("90s", 90),
    ("2", None), ("soon", None), ("-1 h", None)])
def test_spans(text: str, seconds: float | None) -> None:
    assert span(text) == (None if seconds is None else timedelta(seconds=seconds))


# --- the sheet ----------------------------------------------------------------------------------

@pytest.mark.parametrize("due", [
    "2026-11-20T23:59", "2026-11-20T23:59:00", '"2026-11-20 23:59"', "2026-11-20",
    '"20 November 2026, 11:59 PM"', "2026-11-20 23:59  # midnight"])
def test_when_it_is_due(due: str) -> None:
    found = sheet(f"due = {due}").deadline
    assert found.due is not None
    assert found.due.isoformat() == "2026-11-20T23:59:59"
    assert found.zone is None


def test_a_zone_of_the_sheet() -> None:
    found = sheet("due = 2026-11-20T23:59+01:00").deadline
    assert found.due == due_time("2026-11-20T22:59Z".replace("22:59", "22:59:59"))
    assert found.is_late(readings("2026-11-21 00:00"), found.due) is True
    assert found.is_late(readings("2026-11-20 22:59 UTC"), found.due) is False


@pytest.mark.parametrize("text", [
    'due = "soon"', "due = 7", 'timezone = "Mars/Base"', 'grace = "a bit"', "grace = 15",
    "extensions = 3", '[late.extensions]\ns1 = "later"', "dew = 2026-11-20"])
def test_a_deadline_that_is_wrong(text: str) -> None:
    with pytest.raises(GradcliError) as caught:
        sheet(text)
    assert {one.code for one in caught.value.diagnostics} <= {"E0701", "E0703"}
    assert all(one.help for one in caught.value.diagnostics)


def test_an_attempt_that_there_is_not() -> None:
    with pytest.raises(GradcliError, match="last in time"):
        sheet(head='attempt = "newest"')


# --- who is late --------------------------------------------------------------------------------

FORMS = {
    "google": (
        "Timestamp,Email Address,1\n11/20/2026 23:59:30,a@x,x\n11/21/2026 0:00:10,b@x,x\n"),
    "google, day first": (
        "Zeitstempel,E-Mail-Adresse,1\n20.11.2026 23:59:30,a@x,x\n21.11.2026 00:00:10,b@x,x\n"),
    "google, with a zone": (
        "Timestamp,Email Address,1\n2026/11/20 11:59:30 PM GMT+1,a@x,x\n"
        "2026/11/21 12:00:10 AM GMT+1,b@x,x\n"),
    "canvas": (
        'name,id,sis_id,section,section_id,submitted,attempt,77: 1,1,n correct,n incorrect,'
        'score\n'
        'A,1,a@x,S,5,2026-11-20 22:59:30 UTC,1,x,0,0,1,0\n'
        'B,2,b@x,S,5,2026-11-20 23:00:10 UTC,1,x,0,0,1,0\n'),
    "moodle": (
        'Surname,"First name","Email address",State,"Started on",Completed,"Time taken",'
        '"Response 1","Response 2"\n'
        'A,A,a@x,Finished,"20 November 2026  11:00 PM","20 November 2026  11:59 PM",1,x,\n'
        'B,B,b@x,Finished,"20 November 2026  11:00 PM","21 November 2026  12:01 AM",1,x,\n'),
    "microsoft": (
        "ID,Start time,Completion time,Email,Name,1\n"
        "1,11/20/26 23:00:01,11/20/26 23:59:30,a@x,A,x\n"
        "2,11/20/26 23:00:01,11/21/26 0:00:10,b@x,B,x\n")}


@pytest.mark.parametrize("name", FORMS)
def test_late_by_the_time_of_a_form(tmp_path: Path, name: str) -> None:
    found = handed_in(tmp_path, {"class.csv": FORMS[name]}, sheet())
    assert late(found) == {"b@x"}
    more = handed_in(tmp_path, {"class.csv": FORMS[name]}, sheet(DUE + 'grace = "15 min"'))
    assert late(more) == set()


def test_late_by_nbgraders_file(tmp_path: Path) -> None:
    found = handed_in(tmp_path, {
        "submitted/ann/hw/a.txt": "1: x", "submitted/bob/hw/a.txt": "1: x",
        "submitted/ann/hw/timestamp.txt": "2026-11-20 22:59:30.948203 UTC",
        "submitted/bob/hw/timestamp.txt": "2026-11-20 18:00:30.1 America/New_York"}, sheet())
    assert late(found) == {"bob"}


def test_late_by_canvas_alone(tmp_path: Path) -> None:
    """Without a time the word of the system counts, and what is not known is told."""
    found = handed_in(tmp_path, {"leeann_LATE_1_2_a.txt": "1: x", "doejo_3_4_a.txt": "1: x",
                                 "someone/answers.txt": "1: x"}, sheet())
    assert late(found) == {"leeann"}
    assert [note.message for note in found.notes] == [
        "1 student: when it was handed in is not known, and not taken for late"]


@pytest.mark.parametrize("extension", [
    "s2 = 2026-11-27T23:59", '"b@x" = "2 days"', '"Jo Doe" = "27 November 2026"'])
def test_extensions(tmp_path: Path, extension: str) -> None:
    roster = "id,last,first,email\ns1,Lee,Ann,a@x\ns2,Doe,Jo,b@x\n"
    text = "Timestamp,Email,1\n2026-11-22 12:00,a@x,x\n2026-11-22 12:00,b@x,x\n"
    found = handed_in(tmp_path, {"class.csv": text},
                      sheet(f"{DUE}[late.extensions]\n{extension}\nnobody = 2026-11-30"), roster)
    assert late(found) == {"s1"}
    assert [note.message for note in found.notes if note.about == "student"] == [
        "the extension of `nobody` is nobody's"]


def test_extensions_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("email,due\nb@x,2026-11-27 23:59\nc@x,3 days\n")
    text = "Timestamp,Email,1\n" + "".join([f"2026-11-22 12:00,{k}@x,x\n" for k in "abc"])
    of = sheet(DUE + 'extensions = "more.csv"', name=str(tmp_path / "hw.toml"))
    assert late(handed_in(tmp_path, {"class.csv": text}, of)) == {"a@x"}
    # It is read with what was handed in, not where the sheet is read again.
    parse(of.source.text, "elsewhere/hw.toml")
    for wrong in ("email,due\nb@x,later\n", "who,due\nb@x,2 days\n"):
        (tmp_path / "more.csv").write_text(wrong)
        with pytest.raises(GradcliError):
            handed_in(tmp_path, {"class.csv": text}, of)


def test_a_table_of_extensions_that_is_nowhere_is_told_where_it_is_named(tmp_path: Path) -> None:
    of = sheet(DUE + 'extensions = "no.csv"', name=str(tmp_path / "hw.toml"))
    wrong = lint(of)[1]
    with pytest.raises(GradcliError) as caught:
        handed_in(tmp_path, {"class.csv": "Timestamp,Email,1\n2026-11-22 12:00,a@x,x\n"}, of)
    for one in (*wrong, *caught.value.diagnostics):
        assert one.code == "E0601"
        assert one.source is of.source
        assert of.source.text[slice(*one.span)] == '"no.csv"'
        assert "CSV" in (one.help or "")
    (tmp_path / "no.csv").write_text("email,due\na@x,2 days\n")
    assert not lint(of)[1]


def test_an_extension_and_no_time_are_for_a_person(tmp_path: Path) -> None:
    found = handed_in(tmp_path, {"leeann_LATE_1_2_a.txt": "1: x"},
                      sheet(DUE + '[late.extensions]\nleeann = "2 days"'))
    assert late(found) == set()
    assert "is not known" in found.notes[0].message


def test_a_day_that_may_be_a_month_is_for_a_person(tmp_path: Path) -> None:
    text = "Timestamp,Email,1\n12/10/2026 12:00,a@x,x\n10/10/2026 12:00,b@x,x\n"
    found = handed_in(tmp_path, {"class.csv": text}, sheet())
    assert late(found) == set()
    assert [(n.student, "two ways" in n.message) for n in found.notes if n.student] == [
        ("a@x", True)]


# --- attempts -----------------------------------------------------------------------------------

ROWS = ("Timestamp,Email,1,2\n2026-11-21 09:00,a@x,late,\n2026-11-19 09:00,a@x,first,one\n"
        "2026-11-20 09:00,a@x,second,\n2026-11-21 10:00,b@x,only,two\n")


@pytest.mark.parametrize(("attempt", "expected", "is_late"), [
    ("last", ["late", "one"], {"a@x", "b@x"}), ("first", ["first", "one"], {"b@x"}),
    ("last in time", ["second", "one"], {"b@x"})])
def test_which_row_counts(tmp_path: Path, attempt: str, expected: list[str], is_late: set[str]
                          ) -> None:
    """By the time, not by the order of rows; what the last leaves blank is in the one before."""
    found = handed_in(tmp_path, {"class.csv": ROWS}, sheet(head=f'attempt = "{attempt}"'))
    assert answered(found) == {"a@x": expected, "b@x": ["only", "two"]}
    assert late(found) == is_late


@pytest.mark.parametrize(("attempt", "expected", "is_late"), [
    ("last", "c", {"leeann"}), ("first", "a", set()), ("last in time", "b", set())])
def test_which_file_of_canvas_counts(tmp_path: Path, attempt: str, expected: str,
                                     is_late: set[str]) -> None:
    found = handed_in(tmp_path, {
        "leeann_1_20_hw.txt": "1: a", "leeann_1_30_hw-1.txt": "1: b",
        "leeann_LATE_1_40_hw-2.txt": "1: c", "leeann_1_21_part-1.txt": "2: z"},
        sheet(head=f'attempt = "{attempt}"'))
    assert answered(found) == {"leeann": [expected, "z"]}
    assert late(found) == is_late


def test_attempts_of_canvas_by_their_number(tmp_path: Path) -> None:
    text = ('name,id,section,section_id,submitted,attempt,77: 1,1,78: 2,1,n correct,n incorrect,'
            'score\nA,1,S,5,,2,new,0,,0,0,1,0\nA,1,S,5,,1,old,0,two,0,0,1,0\n')
    found = handed_in(tmp_path, {"class.csv": text}, sheet())
    assert answered(found) == {"1": ["new", "two"]}


BEST = {
    "a@x": ([("2026-11-18", "2x", "3x^2"), ("2026-11-19", "2x", "x")], ["2x", "3x^2"], False),
    "b@x": ([("2026-11-18", "2x", ""), ("2026-11-19", "x + x", "3x^2")], ["x + x", "3x^2"], False),
    "c@x": ([("2026-11-18", "2x", "3x^2"), ("2026-11-19", "x + x", "3x*x")], ["x + x", "3x*x"],
            False),
    "d@x": ([("2026-11-18", "2x", "3x^2"), ("2026-11-22", "x + x", "3x*x")], ["2x", "3x^2"], False),
    "e@x": ([("2026-11-18", "2x", "x"), ("2026-11-22", "x + x", "3x*x")], ["x + x", "3x*x"], True),
    "f@x": ([("2026-11-18", "2x", "?!"), ("2026-11-19", "x + x", "x")], ["x + x", "x"], False)}


@pytest.mark.parametrize("system", ["form", "canvas"])
def test_the_attempt_with_most_points_counts(tmp_path: Path, system: str) -> None:
    """After what is lost for being late, the last of equals; a doubt is told."""
    of = sheet(head='attempt = "best"')
    if system == "form":
        files = {"class.csv": "Timestamp,Email,1,2\n" + "".join([
            f"{time} 09:00,{who},{one},{two}\n" for who, (rows, *_) in BEST.items()
            for time, one, two in rows])}
    else:
        files = {f"{who[0]}{'_LATE' * (time > '2026-11-20')}_{ord(who[0])}_{k}_hw{again}.txt":
                 f"1: {one}\n2: {two}\n" for who, (rows, *_) in BEST.items()
                 for k, (again, (time, one, two)) in enumerate(zip(("", "-1"), rows, strict=True))}
    found = handed_in(tmp_path, files, of)
    take_best(of, found, 0, 1, None)
    assert answered(found) == {who if system == "form" else who[0]: answers
                               for who, (_, answers, _) in BEST.items()}
    assert {id[0] for id in late(found)} == {who[0] for who, (*_, is_late) in BEST.items()
                                             if is_late}
    assert [(n.student or "")[0] for n in found.notes if "may be better" in n.message] == ["f"]
    # What waits in the other attempt is a doubt of the one that counts.
    assert {(one.student.id[0], answer.problem) for one in found for answer in one.answers
            if answer.doubt is not None and answer.beside is not None} == {
        (id[0], problem) for id, problem in found.doubts} == {("f", "2")}
