"""What students handed in: every way to write it down, every folder shape, and hostile files."""

from __future__ import annotations

import io
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import folded
from hypothesis import given
from hypothesis import strategies as st

from gradcli.base.errors import GradcliError, Source
from gradcli.homework.handed_in import files, texts
from gradcli.homework.handed_in.class_tables import mapping, open_submissions
from gradcli.homework.handed_in.labels import Ids
from gradcli.homework.handed_in.records import (
    MAX_BYTES,
    InputNote,
    Submission,
    Submissions,
    Unreadable,
    decoded_text,
    read_bytes,
)
from gradcli.homework.handed_in.roster import open_roster, parse_roster
from gradcli.homework.handed_in.texts import csv_answers, json_answers, plain
from gradcli.homework.marking.marks import waits
from gradcli.homework.marking.output_folder import OutputFolder
from gradcli.homework.marking.results import read_results
from gradcli.homework.run import RunOptions, run
from gradcli.homework.sheets.cells import records
from gradcli.homework.sheets.formats import parse
from gradcli.homework.sheets.sheet import Sheet

IDS = ("1a", "1b", "2", "3")
SHEET = "\n".join(f"{id}: x^2" for id in IDS)


@pytest.fixture
def sheet() -> Sheet:
    return parse(SHEET, "hw3.txt")


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, said in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(said.encode() if isinstance(said, str) else said)
    return folder


def given_answers(submissions: Submissions) -> dict[str, dict[str, str]]:
    """Student to problem to answer, without blanks."""
    return {one.student.id: {a.problem: a.answer for a in one.answers if a.answer}
            for one in submissions}


def all_notes(submissions: Submissions) -> list[InputNote]:
    return [*submissions.notes, *[note for one in submissions for note in one.notes]]


def told(notes: list[InputNote]) -> list[tuple[str, str | None, int | None]]:
    return [(note.about, note.file, note.line) for note in notes]


# --- answers.txt --------------------------------------------------------------------------------

def text_answers(text: str) -> dict[str, str]:
    return {id: answer for id, (answer, _) in texts.parse(text, Ids(IDS)).answers.items()}


def test_answers_as_students_write_them() -> None:
    text = ("# student: s1234567\n1a: 2x sin x + x^2 cos x\n1b) f'(x) = 3x^2\n"
            "2 = <2x+3y, 3x>\n3:\n")
    parsed = texts.parse(text, Ids(IDS))
    assert parsed.student == "s1234567"
    assert parsed.answers == {
        "1a": ("2x sin x + x^2 cos x", 2), "1b": ("f'(x) = 3x^2", 3), "2": ("<2x+3y, 3x>", 4),
        "3": ("", 5)}
    assert parsed.notes == []


@folded
@pytest.mark.parametrize(("text", "expected"), [
    ("1a:2x", {"1a": "2x"}), ("1a=2x", {"1a": "2x"}), ("1A : 2x", {"1a": "2x"}),
    ("(1a) 2x", {"1a": "2x"}), ("(1a): 2x", {"1a": "2x"}), ("1a): 2x", {"1a": "2x"}),
    ("1a. 2x", {"1a": "2x"}), ("Q1a: 2x", {"1a": "2x"}), ("Problem 1a) 2x", {"1a": "2x"}),
    ("question 2: 2x", {"2": "2x"}), ("No. 2: 2x", {"2": "2x"}), ("2.5: x", {}),
    ("2 = y = 3x", {"2": "y = 3x"}), ("2: y = 3x", {"2": "y = 3x"}),
    ("1a: dy/dx = 2x", {"1a": "dy/dx = 2x"}), ("2: = 3", {"2": "= 3"}),
    ("1a: x +\n    1", {"1a": "x + 1"}), ("1a:\n\tx\n\n\t+1\n2: y", {"1a": "x +1", "2": "y"}),
    ("1a: x\n    2: y", {"1a": "x", "2": "y"}),
    ("1a: x\nx", {"1a": "x\nx"}), ("1a: (x,\nx)", {"1a": "(x, x)"}),
    ("1a: u = x\nAnswer: 2x", {"1a": "Answer: 2x"}),
    ("1a: u\nAnswer: 2x\nAnswer: 3x", {"1a": "u\nAnswer: 2x\nAnswer: 3x"}),
    ("1a: x\nWe use the product rule.\ny", {"1a": "x\ny"}),
    ("1a: x\nall of it squared", {"1a": "x\nall of it squared"}),
    ("1a: x\nlocal minimum", {"1a": "x\nlocal minimum"}), ("1a: x\n2 - x\n2: y", {
        "1a": "x\n2 - x", "2": "y"}),
    ("  1a: x", {"1a": "x"}), ("1a: x\n# 1b: y\n2: z", {"1a": "x", "2": "z"}),
    ("1a: 1b", {"1a": "1b"}), ("2x = 1", {}), ("1a: x\r\n2: y\r\n", {"1a": "x", "2": "y"}),
    ("1ab: x", {}), ("12: x", {}), ("", {}), (":\n=\n)\n", {}),
])
def test_where_an_answer_begins_and_ends(text: str, expected: dict[str, str]) -> None:
    assert text_answers(decoded_text(text.encode())[0]) == expected


def test_ids_that_begin_alike_and_odd_ones() -> None:
    ids = Ids(["1", "1.1", "11", "x", "a+b", "ß"])
    text = "1: p\n1.1: q\n11: r\nx = s\na+b) t\nSS: u"
    assert {id: a for id, (a, _) in texts.parse(text, ids).answers.items()} == {
        "1": "p", "1.1": "q", "11": "r", "x": "s", "a+b": "t", "ß": "u"}


def test_what_is_odd_is_noted() -> None:
    parsed = texts.parse(
        "hello\n1a: x\n7: lost\n1a: y\n1b: sin(x)\n+ 1\n  + 2\n9a)\n", Ids(IDS))
    assert parsed.answers == {"1a": ("y", 4), "1b": ("sin(x) + 1 + 2", 5)}
    assert [(about, line) for about, _, line in parsed.notes] == [
        ("skipped", 1), ("unknown", 3), ("repeated", 4), ("joined", 6), ("unclaimed", 2)]
    assert "`lost`" in parsed.notes[1][1]
    assert "`x` in line 2" in parsed.notes[2][1]


ANSWER = st.text(st.characters(codec="utf-8", exclude_characters="\n\r", categories=(
    "L", "N", "P", "S", "Zs")), max_size=30).map(lambda s: " ".join(s.split()))


@given(st.dictionaries(st.sampled_from(IDS), ANSWER), st.sampled_from([": ", ") ", " = "]),
       st.booleans())
def test_what_is_written_is_read(answers: dict[str, str], sign: str, bom: bool) -> None:
    lines = [f"{id}{sign}{answer}" for id, answer in answers.items()]
    data = "\r\n".join(lines).encode("utf-8-sig" if bom else "utf-8")
    found = texts.parse(decoded_text(data)[0], Ids(IDS)).answers
    for id, answer in answers.items():
        # `1a) : x` has two signs, and so has `1a: : x` none that belongs to the answer.
        if not answer.startswith((":", ")", "=")):
            assert found[id][0] == answer


@given(st.text())
def test_any_text_is_answers(text: str) -> None:
    assert set(texts.parse(text, Ids(IDS)).answers) <= set(IDS)
    for read in (csv_answers, json_answers):
        try:
            assert set(read(text, Ids(IDS)).answers) <= set(IDS)
        except Unreadable as problem:
            told_why = str(problem)
            assert told_why


# --- CSV and JSON of a student ------------------------------------------------------------------

@pytest.mark.parametrize("text", [
    "problem,answer\n1a,2x\n2,\"<x, y>\"\n", "1a,2x\n2,<x, y>\n", "Question;Response\n1a;2x\n2;"
    "<x, y>", "1a\t2x\nQ2\t<x, y>\n", "1a;2\n2x;<x, y>\n",
    "answer,note,problem\n2x,!,1a\n\"<x, y>\",,2\n"])
def test_csv_of_a_student(text: str) -> None:
    found = {id: answer for id, (answer, _) in csv_answers(text, Ids(IDS)).answers.items()}
    assert found == {"1a": "2x", "2": "<x, y>"}


def test_csv_with_a_row_of_ids() -> None:
    found = csv_answers("1a,Q2,3\n2x,\"a,b\",\n", Ids(IDS)).answers
    assert found == {"1a": ("2x", 2), "2": ("a,b", 2), "3": ("", 2)}


def test_csv_without_end() -> None:
    with pytest.raises(Unreadable, match="line 2"):
        csv_answers('1a,2x\n2,"y\n', Ids(IDS))


@pytest.mark.parametrize(("text", "expected"), [
    ('{"1a": "2x",\n "2": "y"}', {"1a": ("2x", 1), "2": ("y", 2)}),
    ('{"student": "s1", "answers": {"1a": "2x"}}', {"1a": ("2x", 1)}),
    ('[{"problem": "1a", "answer": "2x"}]', {"1a": ("2x", None)}),
    ('{"1a": 1.50, "1b": 10000000000000000000001, "2": [1, "x"], "3": null}', {
        "1a": ("1.50", 1), "1b": ("10000000000000000000001", 1), "2": ("[1, x]", 1),
        "3": ("", 1)}),
    ('{"1a": "x", "1a": "y"}', {"1a": ("y", 1)}), ("{}", {}), ("[]", {}),
    ('{"1a": {"b": 1}}', {"1a": ("{b: 1}", 1)})])
def test_json_of_a_student(text: str, expected: dict[str, tuple[str, int | None]]) -> None:
    assert json_answers(text, Ids(IDS)).answers == expected


@pytest.mark.parametrize("text", [
    "", "1a: x", "3", '"x"', "[1]", '{"1a": ', "[" * 30000, '{"1a": ' + "[" * 900 + "]" * 900 + "}",
    '[{"problem": [], "answer": "x"}]', '{"a": 1' + "0" * 5000])
def test_json_that_is_none(text: str) -> None:
    try:
        assert len(json_answers(text, Ids(IDS)).answers["1a"][0]) == 1800
    except Unreadable as problem:
        reason = str(problem)
        assert reason.startswith("no ")


# --- pages --------------------------------------------------------------------------------------

def test_a_page_as_text() -> None:
    html = ('<div class="no-overflow"><p dir="ltr">1a: 2x&nbsp;+ x<sup>10</sup></p><p>1b) 3 &lt; x'
            '<br />2 = log<sub>2</sub>(x)</p></div><script>3: x</script>')
    assert text_answers(plain(html)) == {
        "1a": "2x + x^(10)", "1b": "3 < x", "2": "log_2(x)"}


@pytest.mark.parametrize("page", [
    "<ol><li>see below<ol type='a'><li>x</li><li>y</li></ol></li><li>z</li><li>[1]</li></ol>",
    "<p>Problem 1</p><ol><li>x</li><li>y</li></ol><p>2. z</p><p>3. [1]</p>",
    "<ul><li><b>1a</b>: x</li><li>1b) y</li><li>2: z<li>3: [1]</ul>",
    "<table><tr><td>1a</td><td>x</td></tr><tr><td>1b</td><td>y</td></tr><tr><td>2</td><td>z</td>"
    "</tr><tr><td>3</td><td>[1]</td></tr></table>"])
def test_lists_of_pages(page: str) -> None:
    assert text_answers(plain(page)) == {"1a": "x", "1b": "y", "2": "z", "3": "[1]"}


@pytest.mark.parametrize("piece", ["<", "<!", "<!--", "<a ", "<a b='", "</", "&", "&#x", "<![", "<?"
                                   ])
def test_pages_that_do_not_end_take_no_time(piece: str) -> None:
    begin = time.process_time()
    plain(piece * (MAX_BYTES // len(piece)))
    assert time.process_time() - begin < 5


# --- shapes of folders --------------------------------------------------------------------------

def test_a_folder_for_each_student(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"bob/answers.txt": "1a: b", "alice/answers.txt": "# student: eve\n1a: a",
                     "carol/hw.json": '{"1a": "c"}', "dan/x.csv": "1a,d", "eve/deep/a.txt": "1a: e",
                     "fay/answers.txt": "1a: f", "fay/notes.txt": "1a: no"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {
        "alice": {"1a": "a"}, "bob": {"1a": "b"}, "carol": {"1a": "c"}, "dan": {"1a": "d"},
        "eve": {"1a": "e"}, "fay": {"1a": "f"}}
    assert told(all_notes(found)) == [
        ("student", "alice/answers.txt", None), ("skipped", "fay/notes.txt", None)]
    first = next(iter(found))
    assert {a.fault for a in first.answers} == {"alice/answers.txt says it is by eve"}
    assert [(a.student, a.problem, a.answer, a.file, a.line) for a in first.answers] == [
        ("alice", "1a", "a", "alice/answers.txt", 2),
        *[("alice", id, "", "alice/answers.txt", None) for id in ("1b", "2", "3")]]


def test_nbgrader(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {
        "submitted/alice/hw3/answers.txt": "1a: a", "submitted/alice/hw3/timestamp.txt": "2020",
        "submitted/alice/hw2/answers.txt": "1a: no", "submitted/bob/hw3/answers.txt": "1a: b",
        "autograded/alice/hw3/answers.txt": "1a: no", "feedback/alice/hw3/x.html": "1a: no"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {"alice": {"1a": "a"}, "bob": {"1a": "b"}}
    assert len([n for n in found.notes if n.about == "skipped"]) == 4
    inside = open_submissions(str(tmp_path / "submitted"), sheet)
    assert given_answers(inside) == given_answers(found)


def test_moodle(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {
        "Ann Lee_1234_assignsubmission_file_/hw.txt": "1a: a",
        "Ann Lee_1234_assignsubmission_onlinetext_/onlinetext.html": "<p>1b: b</p>",
        "Bo_b_77_assignsubmission_onlinetext_onlinetext.html": "<p>1a: c</p>",
        "Jo Doe_5_assignsubmission_file_/a.txt": "1a: j", "Jo Doe_6_assignsubmission_file_/a.txt":
        "1a: k"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {
        "Ann Lee": {"1a": "a", "1b": "b"}, "Bo_b": {"1a": "c"}, "Jo Doe_5": {"1a": "j"},
        "Jo Doe_6": {"1a": "k"}}
    ann = found.students[0]
    assert (ann.first_name, ann.last_name, ann.lms, ann.late) == ("Ann", "Lee", "1234", False)


def test_canvas(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {
        "leeann_12_340_hw.txt": "1a: old\n2: kept", "leeann_LATE_12_1000_hw-1.txt": "1a: new",
        "doejo_13_35_text.html": "<p>1a: j</p>"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {"doejo": {"1a": "j"}, "leeann": {"1a": "new", "2": "kept"}}
    assert [(s.id, s.lms, s.late) for s in found.students] == [
        ("doejo", "13", False), ("leeann", "12", True)]
    assert ("repeated", "leeann_LATE_12_1000_hw-1.txt", 1) in told(all_notes(found))


def test_a_file_for_each_student(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"alice.txt": "1a: a", "hw_b.txt": "# student: bob\n1a: b",
                     "answers.txt": "# Student: carol\n1a: c",
                     "x.json": '{"student": "dan", "answers": {"1a": "d"}}'})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {
        "alice": {"1a": "a"}, "bob": {"1a": "b"}, "carol": {"1a": "c"}, "dan": {"1a": "d"}}


@pytest.mark.parametrize("theirs", ["alice.txt", "alice/answers.txt"])
@pytest.mark.parametrize("other", ["aaa.txt", "zzz.txt"])
def test_nobody_hands_in_for_another(tmp_path: Path, sheet: Sheet, theirs: str, other: str) -> None:
    write(tmp_path, {theirs: "1a: mine", other: "# student: alice\n1a: forged"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {"alice": {"1a": "mine"}, other[:3]: {"1a": "forged"}}
    assert {(n.about, n.file) for n in all_notes(found)} == {("student", other)}
    for one in found:       # whoever has a file of this name is not lost
        assert all(answer.fault is None for answer in one.answers if answer.answer) == (
            one.student.id == "alice")


@pytest.mark.parametrize("theirs", ["zoe.txt", "zoe/answers.txt", "hw-a.txt"])
@pytest.mark.parametrize("other", ["a27.txt", "zzz.txt", "zzz.json"])
def test_what_may_be_theirs_is_no_blank(tmp_path: Path, sheet: Sheet, theirs: str, other: str
                                        ) -> None:
    """What a second file, in another place, may answer is looked at by a person."""
    second = '{"student": "zoe", "answers": {"1a": "other", "2": "2x"}}' if other.endswith(
        "json") else "# student: zoe\n1a: other\n2: 2x"
    first = "1a: mine\n2:\n" + ("# student: zoe\n" if theirs == "hw-a.txt" else "")
    for written in ({theirs: first, other: second}, {theirs: first}):
        root = tmp_path / str(len(written))
        write(root, written)
        held = {one.student.id: one for one in open_submissions(str(root), sheet)}
        one = held.pop("zoe")
        assert len(held) == len(written) - 1
        assert all(answer.fault is not None and "says it is by zoe" in answer.fault
                   for other_one in held.values() for answer in other_one.answers)
        unread = other if theirs != "hw-a.txt" or other > theirs else theirs
        for answer in one.answers:
            if len(written) == 1:
                assert answer.fault is None
            elif answer.answer:
                assert answer.answer == ("mine" if unread == other else
                                         {"1a": "other", "2": "2x"}[answer.problem])
            else:
                assert answer.fault is not None
                assert answer.fault.startswith(f"{unread} also says")


def test_one_file(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"me/answers.txt": "1a: a", "you.json": '{"1a": "b"}'})
    assert given_answers(open_submissions(str(tmp_path / "me/answers.txt"), sheet)) == {
        "me": {"1a": "a"}}
    assert given_answers(open_submissions(str(tmp_path / "you.json"), sheet)) == {
        "you": {"1a": "b"}}
    for name in ("nothing.txt", "you.pdf"):
        with pytest.raises(GradcliError) as caught:
            open_submissions(str(tmp_path / name), sheet)
        assert caught.value.code == "E0730"


def test_a_pattern(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"hw3-s17-final.txt": "1a: a", "x/hw3-s18.txt": "1a: b", "odd.txt": "1a: c"})
    found = open_submissions(str(tmp_path), sheet, student_pattern=r"-(s\d+)")
    assert given_answers(found) == {
        "odd.txt": {"1a": "c"}, "s17": {"1a": "a"}, "s18": {"1a": "b"}}
    assert told(found.notes) == [("student", "odd.txt", None)]
    faults = {one.student.id: {answer.fault for answer in one.answers} for one in found}
    assert faults == {"odd.txt": {"no student is found by --student-pattern in odd.txt"},
                      "s17": {None}, "s18": {None}}
    with pytest.raises(GradcliError) as caught:
        open_submissions(str(tmp_path), sheet, student_pattern="(s[")
    assert caught.value.code == "E0732"
    assert caught.value.span == (2, 3)


def test_a_pattern_that_takes_hours(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"a" * 60 + "!.txt": "1a: no", "abc.txt": "1a: yes"})
    found = open_submissions(str(tmp_path), sheet, student_pattern=r"^((?:a+)+|abc)\.txt$")
    assert given_answers(found) == {"abc": {"1a": "yes"}, "a" * 60 + "!.txt": {"1a": "no"}}
    assert [note.about for note in found.notes] == ["student"]


# --- rosters ------------------------------------------------------------------------------------

ROSTER = "student_id,last_name,first_name,email,section\ns1,Lee,Ann,ann@x.edu,A\ns2,Doe,Jo,,B\n"


def test_a_roster() -> None:
    found = parse_roster(Source(ROSTER, "roster.csv"))
    assert [(s.id, s.name, s.email, s.section, s.handed_in) for s in found.students] == [
        ("s1", "Ann Lee", "ann@x.edu", "A", False), ("s2", "Jo Doe", "", "B", False)]
    for written in ("s1", "ANN@x.edu", "Ann Lee", "Lee, Ann", "leeann"):
        assert found.find([written]) + found.named(written) == [found.students[0]] * 1
    assert not any(found.find([text], text) for text in ("", "s3", "!"))


@pytest.mark.parametrize("text", [
    "\ufeffEmail Address;ID number;Surname;First name\nann@x.edu;s1;Lee;Ann\n",
    "Name\tStudent\nLee, Ann\ts1\n", "Full Name,Login ID\nAnn Lee,s1\n"])
def test_other_titles(text: str, tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_text(text, encoding="utf-8")
    (student,) = open_roster(str(file)).students
    assert (student.id, student.first_name, student.last_name) == ("s1", "Ann", "Lee")


@pytest.mark.parametrize(("text", "place"), [
    ("name,section\nx,y\n", (1, 1)), ("", (1, 1)), ("id,email\ns1,\ns1,\n", (3, 1)),
    ("id,email\n,a\n", (2, 1)), ('id\n"s1\n', (2, 1))])
def test_a_roster_that_is_wrong(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(GradcliError) as caught:
        parse_roster(Source(text, "roster.csv"))
    error = caught.value
    assert error.code == "E0735"
    assert error.source is not None
    assert error.span is not None
    assert error.source.position(error.span[0]) == place


def test_students_are_found_in_the_roster(tmp_path: Path, sheet: Sheet) -> None:
    found = parse_roster(Source(ROSTER, "roster.csv"))
    write(tmp_path, {"leeann_12_34_hw.txt": "1a: a", "Jo Doe_5_assignsubmission_file_/a.txt":
                     "1a: b", "eve/answers.txt": "1a: c"})
    submissions = open_submissions(str(tmp_path), sheet, found)
    assert given_answers(submissions) == {"s1": {"1a": "a"}, "s2": {"1a": "b"}, "eve": {"1a": "c"}}
    assert [(s.id, s.section, s.lms, s.handed_in) for s in submissions.students] == [
        ("eve", "", "", True), ("s1", "A", "12", True), ("s2", "B", "5", True)]
    assert [(n.about, n.student) for n in submissions.notes] == [("student", "eve")]


# --- tables of a class --------------------------------------------------------------------------

def table(tmp_path: Path, text: str, sheet: Sheet, map: list[str] | None = None,
          student: str | None = None) -> Submissions:
    file = tmp_path / "responses.csv"
    file.write_text(text, encoding="utf-8")
    return open_submissions(str(file), sheet, mapping=mapping(map) if map else None,
                            student_column=student)


def test_a_form(tmp_path: Path, sheet: Sheet) -> None:
    found = table(tmp_path, "Timestamp,Email Address,Question 1a [2 points],1b) Differentiate 3 x,"
                  "Derivative for Q2,Comments\n1/2,b@x,2x,\"3,5\",y,hi\n1/3,a@x,-x,,z,\n", sheet)
    assert given_answers(found) == {
        "a@x": {"1a": "-x", "2": "z"}, "b@x": {"1a": "2x", "1b": "3,5", "2": "y"}}
    assert [note.message for note in found.notes] == ["no column for problem 3"]
    first = next(iter(found))
    assert (first.answers[0].file, first.answers[0].line) == (str(tmp_path / "responses.csv"), 3)


def test_columns_by_name(tmp_path: Path, sheet: Sheet) -> None:
    text = "Who;First;Second\nann;x;y\nbob;;z\nann;w;\n"
    found = table(tmp_path, text, sheet, ["First=1a", "second = 2"], "who")
    assert given_answers(found) == {"ann": {"1a": "w", "2": "y"}, "bob": {"2": "z"}}
    assert ("repeated", str(tmp_path / "responses.csv"), 4) in told(all_notes(found))


@pytest.mark.parametrize(("text", "map", "student", "message"), [
    ("Who,1a\nx,y\n", None, None, "no column says who"),
    ("Who,1a\nx,y\n", None, "whom", "no column `whom`"),
    ("id,x\n", None, None, "no column is called like a problem"),
    ("id,x\n", ["y=1a"], None, "no column `y`"), ("id,x\n", ["x=9"], None, "no problem `9`"),
    ("id,x\n", ["x"], None, "not a column and problem"), ("", None, None, "nothing in it"),
    ('id,1a\n"x,y\n', None, None, "never closed")])
def test_columns_that_are_missing(tmp_path: Path, sheet: Sheet, text: str, map: list[str] | None,
                                  student: str | None, message: str) -> None:
    with pytest.raises(GradcliError, match=message) as caught:
        table(tmp_path, text, sheet, map, student)
    assert caught.value.code in ("E0733", "E0734")
    assert caught.value.help


def test_a_long_table(tmp_path: Path, sheet: Sheet) -> None:
    found = table(tmp_path, "student,problem,answer\nb,1a,x\na,Q2,\"y,z\"\nb,9,w\n,1a,q\n", sheet)
    assert given_answers(found) == {"a": {"2": "y,z"}, "b": {"1a": "x"}}
    assert sorted(told(all_notes(found))) == [
        ("skipped", str(tmp_path / "responses.csv"), 5),
        ("unknown", str(tmp_path / "responses.csv"), 4)]


def test_commas_without_quotes_lose_no_part_of_an_answer(tmp_path: Path, sheet: Sheet) -> None:
    """They go on in the last column; elsewhere the row is no row of the table."""
    found = table(tmp_path, "student,problem,answer\na,1a,(x, y)\nb,1a,z\n", sheet)
    assert given_answers(found) == {"a": {"1a": "(x, y)"}, "b": {"1a": "z"}}
    ids = Ids(sheet.ids)
    assert csv_answers("problem,answer\n1a,2x, y, z\n2,w,\n", ids).answers["1a"][0] == "2x, y, z"
    for text in ("answer,problem\n2x, y,1a\n", "1a,2\n2x, y,z\n"):
        with pytest.raises(Unreadable, match="3 cells"):
            csv_answers(text, ids)
    with pytest.raises(GradcliError, match="4 cells, and the table 3 columns") as caught:
        table(tmp_path, "student,1a,2\na,x,y,\nb,2x, y,z\n", sheet)
    assert (caught.value.code, caught.value.diagnostics[0].span is None) == ("E0734", False)


def test_a_stream_of_answers(sheet: Sheet) -> None:
    lines = [{"student": "b", "problem": "1a", "answer": "x"},
             {"student": "a", "problem": 2, "answer": None},
             {"student": "a", "problem": "1b", "answer": "=1+1"},
             {"student": "b", "problem": "1a", "answer": "y"}]
    bad = [b"{", b"[]", b'{"student": {}, "problem": "1a", "answer": "x"}', b"[" * 5000,
           b'{"student": "\\ud800", "problem": "1a", "answer": "x"}', b"\xff\xfe\x00",
           b'{"student": "' + b"n" * 300 + b'", "problem": "1a", "answer": "x"}', b"x" * 70000]
    data = b"\n".join([*[json.dumps(line).encode() for line in lines], b"", *bad])
    found = open_submissions("-", sheet, stdin=io.BytesIO(data))
    assert given_answers(found) == {"a": {"1b": "=1+1"}, "b": {"1a": "y"}}
    assert [n.line for n in found.notes if n.about == "skipped"] == list(range(6, 14))


def test_a_table_through_a_pipe(sheet: Sheet) -> None:
    for data in (b"\n\nstudent,problem,answer\na,1a,x\n,1a,y\n",
                 b"\xef\xbb\xbf\n\nName;Q1a\na;x\n;y\n",
                 "\n\nName;Q1a\na;x\n;y\n".encode("utf-16"),
                 b'\n\n {"student": "a", "problem": "1a", "answer": "x"}\n\n{}\n'):
        found = open_submissions("-", sheet, stdin=io.BytesIO(data))
        assert given_answers(found) == {"a": {"1a": "x"}}
        assert [(n.file, n.line) for n in found.notes
                if n.about == "skipped" and "no column" not in n.message] == [("<stdin>", 5)]
    with pytest.raises(GradcliError, match="nothing in it"):
        open_submissions("-", sheet, stdin=io.BytesIO(b"\n"))


def test_a_table_that_cannot_be_read(tmp_path: Path, sheet: Sheet) -> None:
    for name, data in (("a.csv", b"\0"), ("a.ndjson", None)):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(GradcliError) as caught:
            open_submissions(str(tmp_path / name), sheet)
        assert caught.value.code == "E0734"


# --- hostile files ------------------------------------------------------------------------------

@pytest.mark.parametrize(("data", "text", "remark"), [
    (b"\xef\xbb\xbf1a: x\r\n", "1a: x\n", None), ("1a: π".encode(), "1a: π", None),
    ("1a: π".encode("utf-16"), "1a: π", "read as UTF-16"),
    (b"\xfe\xff" + "1a: x".encode("utf-16-be"), "1a: x", "read as UTF-16"),
    (b"1a: x\xb2 \x96 1", "1a: x² – 1", "not UTF-8: read as Windows-1252"), (b"", "", None)])
def test_encodings(data: bytes, text: str, remark: str | None) -> None:
    assert decoded_text(data) == (text, remark)


@pytest.mark.parametrize("data", [
    b"1a: \0", b"\xff\xfe1", b"\x81", b"\xff\x01", b"\xff\xfe\0\0", bytes(range(1, 256))])
def test_bytes_that_are_no_text(data: bytes) -> None:
    with pytest.raises(Unreadable):
        decoded_text(data)


def only(folder: Path, sheet: Sheet) -> Submission:
    (one,) = open_submissions(str(folder), sheet)
    return one


@pytest.mark.parametrize(("name", "data", "reason"), [
    ("answers.txt", b"1a: x\0", "NUL"), ("answers.txt", b"1" * (MAX_BYTES + 1), "64 KiB"),
    ("answers.json", b"{", "no JSON"), ("answers.csv", b'1a,"x', "no CSV"),
    ("answers.zip", b"PK", "no zip archive"), ("photo.jpg", b"\xff\xd8", ".jpg")])
def test_a_file_that_cannot_be_read_is_no_blank(
        tmp_path: Path, sheet: Sheet, name: str, data: bytes, reason: str) -> None:
    one = only(write(tmp_path, {f"eve/{name}": data}), sheet)
    assert [a.answer for a in one.answers] == [""] * 4
    for answer in one.answers:
        assert answer.fault is not None
        assert reason in answer.fault
    assert [note.file for note in one.notes] == [f"eve/{name}"]


def test_links_and_devices(tmp_path: Path, sheet: Sheet) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("1a: secret")
    folder = tmp_path / "in"
    write(folder, {"eve/answers.txt": "1b: x"})
    os.symlink(secret, folder / "eve/link.txt")
    os.symlink(secret, folder / "bob.txt")
    os.symlink(tmp_path, folder / "mallory")
    os.symlink("/dev/zero", folder / "eve/zero.txt")
    os.mkfifo(folder / "eve/fifo.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "eve/s.txt"))
        found = open_submissions(str(folder), sheet)
        assert given_answers(found) == {"bob": {}, "mallory": {}, "eve": {"1b": "x"}}
        read = {one.student.id: one for one in found}
    assert found.notes == []
    assert [note.file for note in read["eve"].notes] == [
        "eve/fifo.txt", "eve/link.txt", "eve/s.txt", "eve/zero.txt"]
    for one in read.values():       # a person has to look at what is not read
        assert all(answer.fault or answer.answer for answer in one.answers)
    for id in ("bob", "mallory"):
        assert "a link (--follow reads it)" in str(read[id].answers[0].fault)


def test_following_links(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"store/s1.txt": "1a: x", "in/b/answers.txt": "1a: y"})
    os.symlink(tmp_path / "store/s1.txt", tmp_path / "in/ann.txt")
    os.symlink(tmp_path / "in", tmp_path / "in/b/again")
    os.symlink(tmp_path / "nowhere", tmp_path / "in/c.txt")
    found = open_submissions(str(tmp_path / "in"), sheet, follow=True)
    assert given_answers(found) == {"ann": {"1a": "x"}, "b": {"1a": "y"}, "c": {}}
    assert [note.file for note in found.notes] == ["b/again"]
    assert "no such file" in str([*found][2].answers[0].fault)


def test_what_was_a_file_when_somebody_looked(tmp_path: Path) -> None:
    os.symlink("/etc/hostname", tmp_path / "a.txt")
    os.mkfifo(tmp_path / "b.txt")
    for name in ("a.txt", "b.txt", "c.txt", "."):
        with pytest.raises(Unreadable):
            read_bytes(str(tmp_path / name))


def test_names_that_are_no_text(tmp_path: Path, sheet: Sheet) -> None:
    for name in (b"a\xff", b"b\x1b]0;x\x07[b]", b"=cmd()", "c\u202e".encode()):
        os.mkdir(os.path.join(os.fsencode(tmp_path), name))
        with open(os.path.join(os.fsencode(tmp_path), name, b"answers.txt"), "wb") as file:
            file.write(b"1a: x")
    found = open_submissions(str(tmp_path), sheet)
    assert [s.id for s in found.students] == ["=cmd()", "a\\xff", "b\x1b]0;x\x07[b]", "c\u202e"]
    for one in found:
        json.dumps([one.student.id, one.files, one.answers[0].file], ensure_ascii=False).encode()
        assert one.answers[0].answer == "x"


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sheet: Sheet) -> None:
    write(tmp_path, {f"s{k}/answers.txt": "1a: x" for k in range(11)})
    monkeypatch.setattr(files, "MAX_FILES", 10)
    with pytest.raises(GradcliError) as caught:
        open_submissions(str(tmp_path), sheet)
    assert caught.value.code == "E0731"


def test_folders_in_folders(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"eve/" + "d/" * 30 + "answers.txt": "1a: x", "eve/hw.txt": "1b: y"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {"eve": {"1b": "y"}}
    one, = found
    assert [note.message for note in one.notes] == ["folders are nested too deeply"]
    assert one.answers[0].fault


@pytest.mark.parametrize(("name", "waits"), [
    (".four.txt", True), ("answers.bak", True), ("four.log", True), (".hidden", True),
    ("sub/.four.txt", True), (".ipynb_checkpoints/four-checkpoint.ipynb", True),
    (".four.pdf", True), ("~/answers.txt~", True),
    (".DS_Store", False), ("._answers.txt", False), (".git/config", False),
    ("answers.log", False), ("answers.out", False), ("style.sty", False),
    ("~$answers.docx", False), (".~lock.answers.odt#", False), (".gitignore", False)])
def test_files_that_nobody_reads(tmp_path: Path, sheet: Sheet, name: str, waits: bool) -> None:
    """Whatever a student hands in beside the answers is for a person, where one is missing."""
    one = only(write(tmp_path, {"eve/answers.txt": "1a: x", f"eve/{name}": "1b: y"}), sheet)
    assert {answer.problem: answer.fault is not None for answer in one.answers} == {
        answer.problem: waits and answer.problem != "1a" for answer in one.answers}


@pytest.mark.parametrize("name", [".a.txt", ".hidden", "answers.bak", "hw.log"])
def test_a_student_whose_only_file_is_odd(tmp_path: Path, sheet: Sheet, name: str) -> None:
    one = only(write(tmp_path, {f"eve/{name}": "1a: x", ".directory": "", ".x.yml": ""}), sheet)
    assert one.student.id == "eve"
    assert one.answers[0].answer == "x" or one.answers[0].fault


def test_an_older_copy_of_a_notebook(tmp_path: Path, sheet: Sheet) -> None:
    old, new = [json.dumps({"cells": [{"cell_type": "markdown", "source": f"1a: {text}"}]})
                for text in ("x", "y")]
    one = only(write(tmp_path, {"eve/hw.ipynb": new,
                                "eve/.ipynb_checkpoints/hw-checkpoint.ipynb": old}), sheet)
    assert (one.answers[0].answer, one.answers[0].fault) == ("y", None)
    assert [note.message for note in one.notes] == ["an older copy of the notebook"]


def test_a_folder_that_is_not_there(tmp_path: Path, sheet: Sheet) -> None:
    for path in (tmp_path / "no", Path("\0")):
        with pytest.raises(GradcliError) as caught:
            open_submissions(str(path), sheet)
        assert caught.value.code == "E0730"


def test_the_digest_tells_what_changed(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"a/answers.txt": "1a: x", "b/answers.txt": "1a: x"})
    first = [one.digest for one in open_submissions(str(tmp_path), sheet)]
    assert first == [one.digest for one in open_submissions(str(tmp_path), sheet)]
    write(tmp_path, {"b/answers.txt": "1a: x "})
    second = [one.digest for one in open_submissions(str(tmp_path), sheet)]
    assert second[0] == first[0]
    assert second[1] != first[1]


@given(st.text(st.sampled_from('a",;\n\r\t ='), max_size=20))
def test_rows_are_those_of_the_csv_module(text: str) -> None:
    import csv

    try:
        found = [[cell.text for cell in record.cells]
                 for record in records(Source(text), ",", "E0734") if not record.empty]
    except GradcliError:
        return
    rows = csv.reader(io.StringIO(text, newline=""))
    assert found == [row for row in rows if any(cell.strip() for cell in row)]


def test_whoever_a_stream_names_has_handed_in(sheet: Sheet) -> None:
    """Lists are answers as in a student's own file; of a bad line the student is kept, and waits.
    """
    lines = [{"student": "a", "problem": "1a", "answer": ["2xy", "x^2"]},
             {"student": "b", "problem": "1a", "answer": [["1", 2], ["3", None]]},
             {"student": "c", "problem": "1a", "answer": {"x": 1}},
             {"student": "d", "problem": "1a", "answer": True},
             {"student": "e", "problem": ["1a"], "answer": "x"}, {"student": "f"},
             {"student": "g", "problem": "99", "answer": "x"}]
    data = b"\n".join([json.dumps(line).encode() for line in lines])
    found = open_submissions("-", sheet, stdin=io.BytesIO(data))
    assert {student.id for student in found.students} == set("abcdefg")
    assert all(student.handed_in for student in found.students)
    given = given_answers(found)
    assert (given["a"], given["b"]) == ({"1a": "[2xy, x^2]"}, {"1a": "[[1, 2], [3, ]]"})
    read = {one.student.id: one for one in found}
    assert [(note.about, note.line) for id in "ef" for note in read[id].notes] == [
        ("unclaimed", 5), ("unclaimed", 6)]
    assert all(answer.fault for id in "ef" for answer in read[id].answers)


CLASS_TABLES = {
    "class.csv": "student,problem,answer\na,1a,x\nb,1a,y\n",
    "class.tsv": "email\tquestion\tresponse\na@x\t1a\tx\nb@x\t1a\ty\n",
    "wide.csv": "Time;Name;1a;2\n1;a;x;\n2;b;;y\n",
    "rows.csv": "id,problem,answer\na,1a,x\na,2,x\nb,2,y\n",
    "list.json": '[{"student": "a", "problem": "1a", "answer": "x"},'
                 ' {"student": "b", "problem": "1a", "answer": "y"}]'}


@pytest.mark.parametrize("name", CLASS_TABLES)
def test_a_table_of_the_class_is_nobodys(tmp_path: Path, sheet: Sheet, name: str) -> None:
    """In a folder of students it is an error; in a student's own, nothing that counts."""
    write(tmp_path, {f"bad/{name}": CLASS_TABLES[name], "bad/carl.txt": "1a: z",
                     f"own/dora/{name}": CLASS_TABLES[name], "own/carl.txt": "1a: z"})
    with pytest.raises(GradcliError, match="several students: a") as caught:
        open_submissions(str(tmp_path / "bad"), sheet)
    assert caught.value.code == "E0730"
    assert caught.value.source is not None
    assert caught.value.source.name.endswith(name)
    found = list(open_submissions(str(tmp_path / "own"), sheet))
    assert [one.student.id for one in found] == ["carl", "dora"]
    assert all(a.fault for a in found[1].answers)


@pytest.mark.parametrize("text", [
    "student,problem,answer\nann,1a,x\nann,2,y\n", "name,1a,2\nann,x,y\n", "id;1a;2\nann;x;y\n"])
def test_a_table_of_one_student_names_them(tmp_path: Path, sheet: Sheet, text: str) -> None:
    write(tmp_path, {"sheet1.csv": text})
    assert given_answers(open_submissions(str(tmp_path), sheet)) == {"ann": {"1a": "x", "2": "y"}}


@pytest.mark.parametrize(("name", "text"), [
    ("ann/a.csv", "problem,answer\n1a,x\n1a,\n2,\n"), ("ann/a.txt", "1a: x\n1a:\n2:\n"),
    ("ann/a.json", '{"1a": "x", "1a": "", "2": null}'),
    ("class.csv", "student,problem,answer\nann,1a,x\nann,1a,\n"),
    ("wide.csv", "student,1a,2\nann,x,\nann,,\n"),
    ("class.ndjson", '{"student": "ann", "problem": "1a", "answer": "x"}\n'
                     '{"student": "ann", "problem": "1a", "answer": ""}\n')])
def test_an_empty_answer_takes_none_back(
        tmp_path: Path, sheet: Sheet, name: str, text: str) -> None:
    path = write(tmp_path, {name: text}) / (name if "/" not in name else "")
    found = open_submissions(str(path), sheet)
    assert given_answers(found) == {"ann": {"1a": "x"}}
    said, = [note.message for note in all_notes(found) if note.about == "repeated"]
    assert "`x`" in said
    assert said.endswith("counts")


def test_an_empty_answer_in_a_later_file_takes_none_back(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"ann/a.txt": "1a: x\n2:", "ann/b.txt": "1a:\n2: y"})
    found = open_submissions(str(tmp_path), sheet)
    assert given_answers(found) == {"ann": {"1a": "x", "2": "y"}}
    assert [(n.about, n.file) for n in all_notes(found)] == [("repeated", "ann/b.txt")]


# --- what no problem claims -----------------------------------------------------------------------

@pytest.mark.parametrize(("name", "text"), [
    ("answers.txt", "1a: 2x\n7: 3x\n2: x\n"), ("hw.json", '{"1a": "2x", "7": "3x", "2": "x"}'),
    ("hw.csv", "problem,answer\n1a,2x\n7,3x\n2,x\n")])
def test_what_no_problem_claims_waits_for_a_person(tmp_path: Path, sheet: Sheet, name: str,
                                                   text: str) -> None:
    write(tmp_path, {f"in/ann/{name}": text})
    out = OutputFolder(str(tmp_path / "out"))
    for _ in range(2):      # checked, then taken from the results
        run(sheet, open_submissions(str(tmp_path / "in"), sheet), None, out, RunOptions())
        found = {one.problem: one for one in read_results(str(tmp_path / "out/results.ndjson"))}
        why = {id: waits(sheet[id], one) for id, one in found.items()}
        assert why == {"1a": None, "1b": "unreadable", "2": "not all claimed", "3": "unreadable"}
        assert "`3x` is answered" in (found["1b"].message or "")
        assert "`3x` is answered" in (found["2"].doubt or "")
        review = (tmp_path / "out/review.csv").read_text(encoding="utf-8")
        assert review.count("`3x` is answered") == 3


@pytest.mark.parametrize(("name", "text", "doubtful"), [
    ("a.csv", "Name,Ann Lee\n1a,2x\n", False), ("a.csv", "Task No.,My answer\n1a,2x\n", False),
    ("a.csv", "1a,2x\n,3x\n", True), ("a.csv", "1a,2x\n3x^2\n", True),
    ("a.csv", "1a,2x\n7,\n", False),
    ("a.csv", "Name,1a,1b,2,5\nAnn,2x,3x,4x,5x\n", True),
    ("a.json", '{"name": "Ann Lee", "date": "2026-11-20", "1a": "2x"}', False),
    ("a.json", '{"student": "s1", "answers": {"1a": "2x"}, "comment": "x was hard"}', False),
    ("a.json", '{"student": "s1", "answers": {"1a": "2x"}, "2": "3x"}', False),
    ("a.json", '{"student": "s1", "answers": {"1a": "2x"}, "2b": "3x"}', True),
    ("a.txt", "# student: ann\n# student: bob\n1a: 2x", True)])
def test_cells_and_keys_of_no_problem(tmp_path: Path, sheet: Sheet, name: str, text: str,
                                      doubtful: bool) -> None:
    write(tmp_path, {f"ann/{name}": text})
    one, = open_submissions(str(tmp_path), sheet)
    assert one.answers[0].answer == "2x"
    assert (one.answers[0].doubt is not None) == doubtful
    assert [answer.answer for answer in one.answers].count("") == sum(
        [answer.fault is not None for answer in one.answers]) or not doubtful


def test_files_of_several_students_in_one_folder(tmp_path: Path, sheet: Sheet) -> None:
    write(tmp_path, {"hw/a.txt": "# student: ann\n1a: 2x", "hw/b.txt": "# student: bob\n1a: 3x",
                     "eve/a.txt": "# student: s17\n1a: x", "eve/b.txt": "# student: s17\n1b: x"})
    eve, hw = open_submissions(str(tmp_path), sheet)
    assert [answer.doubt or answer.fault for answer in eve.answers] == [None] * 4
    assert {answer.doubt or answer.fault for answer in hw.answers} == {
        "hw/b.txt says it is by bob, hw/a.txt by ann"}


def test_columns_that_name_no_problem(tmp_path: Path, sheet: Sheet) -> None:
    """They may be those of problems that have none."""
    found = table(tmp_path, "Email,1a,1b,2,Last one,Score,Comments\nann,x,y,z,2x,7/8,\n"
                  "bob,x,y,z,,3,I like it\n", sheet)
    ann, bob = found
    assert {answer.doubt or answer.fault for answer in bob.answers} == {None}
    assert all("`2x` stands below `Last one`" in (answer.doubt or answer.fault or "")
               for answer in ann.answers)
    whole, = table(tmp_path, "Email,1a,1b,2,3,Work\nann,x,y,z,w,2x\n", sheet)
    assert {answer.doubt for answer in whole.answers} == {None}


# --- what a person has to look at reaches a person ----------------------------------------------

CLASS_LIST = "student_id,last_name,first_name\nann,Lee,Ann\nbob,Doe,Bob\n"


def waiting(folder: Path, sheet: Sheet, **options: Any) -> dict[str, dict[str, str]]:
    """Student to problem to why it waits, as a run finds it."""
    out = folder.parent / "out"
    run(sheet, open_submissions(str(folder), sheet, **options), options.get("roster"),
        OutputFolder(str(out)), RunOptions())
    found: dict[str, dict[str, str]] = {}
    for one in read_results(str(out / "results.ndjson")):
        reason = waits(sheet[one.problem], one)
        found.setdefault(one.student, {}).update({one.problem: reason} if reason else {})
    return found


ALL = dict.fromkeys(IDS, "unreadable")


@pytest.mark.parametrize(("files", "listed", "expected"), [
    # The name of a file and what stands in it name two students.
    ({"bob.txt": "# student: ann\n1a: 2x", "cy.txt": "1a: 2x"}, False, {"ann": ALL, "cy": {}}),
    ({"bob.txt": "# student: ann\n1a: 2x", "ann.txt": "1a: 2x\n1b: 2x\n2: 2x\n3: 2x"}, False,
     {"ann": {}, "bob": ALL}),
    ({"bob.txt": "# student: ann\n1a: 2x"}, True, {"bob": ALL}),
    ({"bob.txt": "# student: Bob Doe\n1a: 2x"}, True, {"bob": {}}),
    ({"bob.txt": "# student: bobby\n1a: 2x"}, True, {"bob": {}}),
    ({"hw3.txt": "# student: ann\n1a: 2x"}, True, {"ann": {}}),
    ({"hw-1.txt": "# student: ann\n1a: 2x", "hw-2.txt": "# student: bob\n1a: 2x"}, False,
     {"ann": {}, "bob": {}}),
    ({"bob/hw.txt": "# student: ann\n1a: 2x"}, True, {"bob": ALL}),
    # Files of one hand-in that differ.
    ({"ann/a.txt": "1a: 2x\n1b: 2x", "ann/b.txt": "1a: 3x"}, False, {"ann": {"1a": "unreadable"}}),
    ({"ann/a.txt": "1a: 3x\n1b: 2x", "ann/b.txt": "1a: 2x"}, False, {"ann": {"1a": "unreadable"}}),
    ({"ann/a.txt": "1a: 2x\n1b: 2x", "ann/b.txt": "1a: 2 x"}, False, {"ann": {}}),
    ({"lee_12_30_hw.txt": "1a: 3x", "lee_12_40_hw-1.txt": "1a: 2x"}, False, {"lee": {}}),
    # A line that may answer a problem that has no answer.
    ({"ann/a.txt": "1a: 2x\n3x\n1b: 2x\n2:\n3: x"}, False,
     {"ann": {"1a": "undecided", "2": "unreadable"}}),
    ({"ann/a.txt": "1a: 2x\n= x + x\n1b: x\n+ x\n2:\n3: x"}, False, {"ann": {}}),
    # Only words.
    ({"ann/a.txt": "I could not hand it in, see my mail of Monday."}, False, {"ann": ALL}),
    ({"ann/a.md": "Dear tutor,\nmy paper is in your mailbox.\n\nAnn"}, False, {"ann": ALL}),
    ({"ann/a.txt": "See attached."}, False, {"ann": ALL}),
    ({"ann/a.txt": ""}, False, {"ann": {}})])
def test_who_and_what_is_in_doubt_waits(
        tmp_path: Path, sheet: Sheet, files: dict[str, str | bytes], listed: bool,
        expected: dict[str, dict[str, str]]) -> None:
    folder = write(tmp_path / "in", files)
    roster = parse_roster(Source(CLASS_LIST, "roster.csv")) if listed else None
    assert waiting(folder, sheet, roster=roster) == expected


def test_files_that_no_pattern_finds_wait(tmp_path: Path, sheet: Sheet) -> None:
    folder = write(tmp_path / "in", {"s1.txt": "1a: 2x", "odd.txt": "1a: 2x", "odd.pdf": "%PDF",
                                     "odd.log": "nothing"})
    assert waiting(folder, sheet, student_pattern=r"s\d") == {
        "odd.pdf": ALL, "odd.txt": ALL, "s1": {}}
