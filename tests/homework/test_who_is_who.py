"""Who handed something in: rosters of every system, numbers, logins, and names however written."""

from __future__ import annotations

import csv
import sys
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest
from conftest import folded
from folders import ROOT
from transcripts import in_process

from gradcli.base.errors import GradcliError, Source
from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.handed_in.records import Submissions
from gradcli.homework.handed_in.roster import Roster, open_roster, parse_roster
from gradcli.homework.sheets.formats import parse
from gradcli.homework.sheets.sheet import Sheet

NAMES = (ROOT / "tests/data/homework/names.tsv").read_text(encoding="utf-8").splitlines()[1:]
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 3 (77),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,15,(read only)
"Zhang, Wei",11,710011,wzhang1,Calculus 1 A,,
"Zhang, Wei",12,710012,wzhang2,Calculus 1 B,,
"Müller, Jürgen",13,710013,jmueller@uni.example,Calculus 1 A,,
"van der Berg, Anna-Lena",14,,aberg,Calculus 1 A,,
"O'Brien, Seán",15,,,Calculus 1 A,,
"Student, Test",99,,f3c4a0,Calculus 1 A,,
"""
MOODLE = """\
\ufeffIdentifier,Full name,ID number,Email address,Status,Grade,Maximum Grade
Participant 501,Wei Zhang,710011,wz1@x.edu,Submitted for grading,,15.00
Participant 502,Wei Zhang,710012,wz2@x.edu,Submitted for grading,,15.00
Participant 503,Jürgen Müller,710013,jm@x.edu,Submitted for grading,,15.00
"""


@pytest.fixture
def sheet() -> Sheet:
    return parse("1a: x^2\n1b: x^3\n2: x^4\n", "hw3.txt")


def roster(text: str) -> Roster:
    return parse_roster(Source(text, "roster.csv"))


def handed_in(folder: Path, files: dict[str, str], sheet: Sheet, of: str, **options: str
              ) -> Submissions:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / next(iter(files)) if len(files) == 1 and next(iter(files)).endswith(
        "csv") else folder
    return open_submissions(str(path), sheet, roster(of), **options)  # type: ignore[arg-type]


def answered(found: Submissions) -> dict[str, str]:
    """Student to the answers, ? where a person has to look."""
    return {one.student.id: " ".join([a.answer or ("?" if a.fault else "-") for a in one.answers])
            for one in found}


# --- lists of a class ---------------------------------------------------------------------------

def test_a_gradebook_of_canvas() -> None:
    """Its first rows and the test student are nobody; who has no number of the school has another.
    """
    found = roster(CANVAS)
    assert [(s.id, s.lms, s.login, s.first_name, s.last_name) for s in found.students] == [
        ("710011", "11", "wzhang1", "Wei", "Zhang"), ("710012", "12", "wzhang2", "Wei", "Zhang"),
        ("710013", "13", "jmueller@uni.example", "Jürgen", "Müller"),
        ("aberg", "14", "aberg", "Anna-Lena", "van der Berg"), ("15", "15", "", "Seán", "O'Brien")]
    assert found.students[2].email == "jmueller@uni.example"
    assert found.students[0].section == "Calculus 1 A"


def test_a_grading_worksheet_of_moodle() -> None:
    found = roster(MOODLE)
    assert [(s.id, s.lms, s.name, s.email) for s in found.students] == [
        ("710011", "501", "Wei Zhang", "wz1@x.edu"), ("710012", "502", "Wei Zhang", "wz2@x.edu"),
        ("710013", "503", "Jürgen Müller", "jm@x.edu")]
    german = roster("ID;Vollständiger Name;E-Mail-Adresse\nTeilnehmer/in7;Ada Groß;a@x\n")
    assert [(s.id, s.lms, s.name) for s in german.students] == [("a@x", "7", "Ada Groß")]


def test_a_roster_of_gradescope() -> None:
    found = roster("First Name,Last Name,SID,Email,Role,Submissions\n"
                   "Ann,Lee,710,ann@x.edu,Student,3\nTea,Cher,1,tea@x.edu,Instructor,0\n")
    assert [(s.id, s.name, s.email) for s in found.students] == [("710", "Ann Lee", "ann@x.edu")]


@folded
@pytest.mark.parametrize("line", NAMES)
def test_names_however_they_are_written(line: str) -> None:
    """A name of a roster, as last and first, or whole; and others, whom it means or does not."""
    last, first, written, meant = line.split("\t")
    head = "id,last name,first name\n" if last else "id,full name\n"
    others = "2,Weber,Ute\n" if last else "2,Ute Weber\n"
    one = f'1,"{last}","{first}"\n' if last else f'1,"{first}"\n'
    found = roster(head + one + others).find((), written)
    assert [s.id for s in found] == (["1"] if meant == "yes" else [])


def test_a_name_as_it_is_goes_before_one_without_marks() -> None:
    found = roster("id,last,first\n1,Müller,Jan\n2,Muller,Jan\n3,Mueller,Jan\n")
    assert [[s.id for s in found.named(name)] for name in
            ("Jan Müller", "Jan Muller", "muellerjan")] == [["1"], ["2"], ["3"]]


@pytest.mark.parametrize(("written", "meant"), [
    ("S123", ["S123"]), ("s123", ["S123"]), (" S 123", ["S123"]), ("12345", ["0012345"]),
    ("0012345", ["0012345"]), ("12346", ["12346"]), ("alee@uni.example", ["alee"]),
    ("ALEE", ["alee"]), ("bo@uni.example", ["77"]), ("bo", ["77"]), ("bo@elsewhere.example", []),
    ("S1", []), ("@uni.example", []), ("", [])])
def test_ids_as_they_are_typed_and_sent(written: str, meant: list[str]) -> None:
    """Capitals, zeros that a spreadsheet drops, the address of a login and the login of an address.
    """
    found = roster("id,email\nS123,\n0012345,\n12346,\nalee,\n77,bo@uni.example\n")
    assert [s.id for s in found.find([written])] == meant


def test_ids_that_differ_in_capitals_are_several() -> None:
    found = roster("id\ns1\nS1\n")
    assert [[s.id for s in found.find([text])] for text in ("s1", "S1")] == [["s1"], ["S1"]]


# --- files --------------------------------------------------------------------------------------

def test_files_of_canvas_by_their_numbers(tmp_path: Path, sheet: Sheet) -> None:
    found = handed_in(tmp_path, {
        "zhangwei_11_9001_hw3.txt": "1a: a", "zhangwei_LATE_12_9002_hw3.txt": "1a: b",
        "müllerjürgen_13_text.html": "<p>1a: c</p>", "vanderberganna-lena_14_9004_x.txt": "1a: d",
        "obriensean_LATE_15_text.html": "<p>1a: e</p>"}, sheet, CANVAS)
    assert answered(found) == {"710011": "a - -", "710012": "b - -", "710013": "c - -",
                               "aberg": "d - -", "15": "e - -"}
    assert {s.id for s in found.students if s.late} == {"710012", "15"}
    assert not found.notes


@pytest.mark.parametrize("title", ["Exercise 2: Wei Zhang", "Week 2: Seán O&#39;Brien", "2: Ann"])
def test_what_canvas_writes_above_a_text_is_no_answer(
        tmp_path: Path, sheet: Sheet, title: str) -> None:
    page = (f"<html>\n<head>\n  <title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n"
            '<div style="width: 600px;">\n  <p>1a: a</p><h1>1b: b</h1>\n</div>\n</body>\n</html>')
    found = handed_in(tmp_path, {"zhangwei_11_text.html": page, "x_12_1_x.txt": "1a: x"}, sheet,
                      CANVAS)
    assert answered(found)["710011"] == "a b -"
    assert not [note for one in found for note in one.notes]


def test_folders_of_moodle_by_their_numbers(tmp_path: Path, sheet: Sheet) -> None:
    found = handed_in(tmp_path, {
        "Wei Zhang_501_assignsubmission_file_/a.txt": "1a: a",
        "Wei Zhang_502_assignsubmission_onlinetext_/onlinetext.html": "<p>1a: b</p>",
        "Group A-Jürgen Müller_503_assignsubmission_file_/a.txt": "1a: c"}, sheet, MOODLE)
    assert answered(found) == {"710011": "a - -", "710012": "b - -", "710013": "c - -"}
    assert not found.notes


def test_numbers_of_another_assignment_are_nobodys(tmp_path: Path, sheet: Sheet) -> None:
    """Moodle numbers the participants of each assignment anew."""
    text = "Identifier,Full name,Email address\n" + "".join([
        f"Participant {500 + k},{name},{name[0]}@x\n"
        for k, name in enumerate(("Ann Lee", "Bo Doe", "Cy Roe"))])
    found = handed_in(tmp_path, {
        f"{name}_{500 + (k + 1) % 3}_assignsubmission_file_/a.txt": f"1a: {name[0]}"
        for k, name in enumerate(("Ann Lee", "Bo Doe", "Cy Roe"))}, sheet, text)
    assert answered(found) == {"A@x": "A - -", "B@x": "B - -", "C@x": "C - -"}
    assert len(found.notes) == 1
    assert "not those of the roster" in found.notes[0].message


@pytest.mark.parametrize("names", [
    ["Wei Zhang.txt"], ["Wei Zhang_7_assignsubmission_file_/a.txt"], ["zhangwei/a.txt"],
    ["zhang_wei.txt", "Wei Zhang.txt"], ["x.csv"]])
def test_namesakes_without_a_number_go_to_a_person(
        tmp_path: Path, sheet: Sheet, names: list[str]) -> None:
    """Neither gets what may be the other one's, and neither a silent 0."""
    text = "name,1a,1b\nWei Zhang,x,\n" if names == ["x.csv"] else "1a: x"
    files = dict.fromkeys(names, text)
    found = handed_in(tmp_path, files, sheet, CANVAS)
    assert answered(found) == {"710011": "? ? ?", "710012": "? ? ?"}
    said = [answer.fault or "" for one in found for answer in one.answers]
    assert all("Wei Zhang (710011) and Wei Zhang (710012)" in text for text in said)


def test_no_decision_is_for_both_namesakes(tmp_path: Path) -> None:
    """What is nobody's yet is no equal answer of both: a person decides on each of them."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/Wei Zhang.txt").write_text("1: 2x")
    (tmp_path / "roster.csv").write_text(CANVAS)
    (tmp_path / "hw.txt").write_text("1: x^2\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transcripts.ROOT", tmp_path)
        in_process(["hw", "run", "hw.txt", "in", "--roster", "roster.csv", "-q", "-j", "1"])
    with open(tmp_path / "results/review.csv", encoding="utf-8-sig", newline="") as file:
        rows = [(row["student_id"], row["file"]) for row in csv.DictReader(file)]
    assert rows == [("710011", "Wei Zhang.txt"), ("710012", "Wei Zhang.txt")]


def test_one_of_the_namesakes_is_sure(tmp_path: Path, sheet: Sheet) -> None:
    """What has the number of one is theirs; what has none may still be either's."""
    found = handed_in(tmp_path, {"wzhang1/a.txt": "1a: x", "Wei Zhang.txt": "1a: y"}, sheet, CANVAS)
    assert answered(found) == {"710011": "x ? ?", "710012": "? ? ?"}


def test_a_namesake_who_is_not_in_the_roster(tmp_path: Path, sheet: Sheet) -> None:
    found = handed_in(tmp_path, {"zhangwei_17_9001_hw3.txt": "1a: x", "müllerjürgen_13_8_x.txt":
                                 "1a: y"}, sheet, CANVAS)
    assert answered(found) == {"zhangwei": "x - -", "710013": "y - -"}
    assert [(n.about, n.message) for n in found.notes] == [("student", "not in the roster")]


def test_a_number_and_another_ones_name(tmp_path: Path, sheet: Sheet) -> None:
    found = handed_in(tmp_path, {"müllerjürgen_14_9001_hw3.txt": "1a: x",
                                 "zhangwei_11_2_x.txt": "1a: y"}, sheet, CANVAS)
    assert answered(found) == {"710011": "y - -", "710013": "? ? ?", "aberg": "? ? ?"}


@pytest.mark.parametrize("pattern", [r"^[^_]+(?:_LATE)?_(\d+)_", r"^(?P<student>[^_]+)_"])
def test_late_whatever_finds_the_student(tmp_path: Path, sheet: Sheet, pattern: str) -> None:
    found = handed_in(tmp_path, {
        "zhangwei_11_9001_hw3.txt": "1a: a", "zhangwei_LATE_12_9002_hw3.txt": "1a: b",
        "müllerjürgen_LATE_13_9003_hw.txt": "1a: c"}, sheet, CANVAS, student_pattern=pattern)
    assert answered(found) == {"710011": "a - -", "710012": "b - -", "710013": "c - -"}
    assert [s.late for s in found.students] == [False, True, True]


LISTED = """\
submission_101:
  :submitters:
  - :name: Wei Zhang
    :sid: '710011'
    :email: wz1@x.edu
  :created_at: 2026-11-20 17:34:00.861687000 Z
  :score: 2.0
  :results:
    output: |-
      =======
      :submitters:
submission_102:
  :submitters:
  - :name: Wei Zhang
    :sid: '710012'
  - :name: Jürgen Müller
    :sid: ''
    :email: jmueller@uni.example
  :created_at: 2026-11-21 17:34:00.861687000 Z
submission_103:
  :submitters: []
"""


@pytest.mark.parametrize("root", ["", "assignment_9_export/"])
def test_an_export_of_gradescope(tmp_path: Path, root: str) -> None:
    """Who submitted together has the same answers."""
    sheet = parse('[late]\ndue = 2026-11-21\ntimezone = "Europe/Rome"\npenalty = 0.1\n'
                  '[[problem]]\nid = "1a"\nfunction = "x^2"\n', "hw3.toml")
    files = {f"{root}submission_metadata.yml": LISTED.replace("21 17:34", "22 17:34"),
             f"{root}submission_101/hw3.txt": "1a: a", f"{root}submission_102/hw3.txt": "1a: b"}
    found = handed_in(tmp_path, files, sheet, CANVAS)
    assert answered(found) == {"710011": "a", "710012": "b", "710013": "b"}
    assert [s.late for s in found.students] == [False, True, True]
    alone = open_submissions(str(tmp_path), sheet)
    assert [(s.id, s.name) for s in alone.students] == [
        ("710011", "Wei Zhang"), ("710012", "Wei Zhang"), ("jmueller@uni.example", "Jürgen Müller")]


@pytest.mark.parametrize("text", ["- a", "a: [", "submission_1: 3", "3"])
def test_a_list_of_gradescope_that_is_none(tmp_path: Path, sheet: Sheet, text: str) -> None:
    with pytest.raises(GradcliError, match="as Gradescope writes it") as caught:
        handed_in(tmp_path, {"submission_metadata.yml": text, "submission_1/a.txt": "1a: x"}, sheet,
                  CANVAS)
    assert caught.value.code == "E0730"


def test_a_list_of_gradescope_without_pyyaml(
        tmp_path: Path, sheet: Sheet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(GradcliError, match="PyYAML") as caught:
        handed_in(tmp_path, {"submission_metadata.yml": LISTED}, sheet, CANVAS)
    assert caught.value.help == "pip install 'gradcli[gradescope]'"


def test_a_list_of_a_students_own_says_nothing(tmp_path: Path, sheet: Sheet) -> None:
    """Nobody hands in for another."""
    found = handed_in(tmp_path, {
        "aberg/submission_metadata.yml": LISTED, "aberg/submission_101/x.txt": "1a: x",
        "wzhang2/a.txt": "1a: y"}, sheet, CANVAS)
    assert answered(found) == {"aberg": "x - -", "710012": "y - -"}


# --- tables -------------------------------------------------------------------------------------

TABLES = {
    "canvas quiz": (
        'name,id,sis_id,section,section_id,submitted,attempt,"88: 1a",2,"89: Differentiate 2 x",1,'
        '"90: c",1,n correct,n incorrect,score\n'
        'Wei Zhang,11,710011,A,5,2026-11-20 12:00:00 UTC,1,a,0,b,0,c,0,0,3,0\n'
        'Wei Zhang,12,710012,A,5,2026-11-20 12:00:00 UTC,1,d,0,e,0,f,0,0,3,0\n'),
    "canvas quiz without ids of the school": (
        'name,id,section,section_id,submitted,attempt,88: one,1.0,89: two,1.0,90: three,1.0,'
        'n correct,n incorrect,score\n'
        'Wei Zhang,11,A,5,2026-11-20 12:00:00 UTC,1,a,0,b,0,c,0,0,3,0\n'
        'Wei Zhang,12,A,5,2026-11-20 12:00:00 UTC,1,d,0,e,0,f,0,0,3,0\n'),
    "moodle quiz": (
        'Surname,"First name","ID number","Email address",State,"Started on",Completed,'
        '"Time taken",Grade/3.00,"Question 1","Response 1","Right answer 1","Question 2",'
        '"Response 2","Right answer 2","Question 3","Response 3","Right answer 3"\n'
        'Zhang,Wei,710011,a@x,Finished,"20 November 2026  12:51 PM","20 November 2026  1:39 PM",'
        '"47 mins",0.00,q,a,r,q,b,r,q,c,r\n'
        'Zhang,Wei,710012,b@x,Finished,"20 November 2026  12:51 PM","20 November 2026  1:39 PM",'
        '"47 mins",0.00,q,d,r,q,e,r,q,f,r\n'),
    "google form": (
        "Timestamp,Email Address,Student number,Name,1a,Question 1b,2 [3 points]\n"
        "11/20/2026 23:59:01,x@y.z,710011,Wei Zhang,a,b,c\n"
        "11/20/2026 23:59:02,z@y.z,710012,Wei Zhang,d,e,f\n"),
    "microsoft form": (
        "ID,Start time,Completion time,Email,Name,1a,1b,2\n"
        "11,11/20/26 23:50:01,11/20/26 23:59:01,wzhang1,Wei Zhang,a,b,c\n"
        "15,11/20/26 23:50:01,11/20/26 23:59:01,wzhang2,Wei Zhang,d,e,f\n"),
    "gradescope": (
        "First Name,Last Name,SID,Email,Question 1.1,Question 1.2,Question 2\n"
        "Wei,Zhang,710011,x@y,a,b,c\nWei,Zhang,710012,z@y,d,e,f\n"),
    "spreadsheet": "login;1a;1b;2\nwzhang1;a;b;c\nwzhang2;d;e;f\n",
    "long": ("student,problem,answer\n710011,1a,a\n710011,1b,b\n710011,2,c\n"
             "wzhang2,1a,d\nwzhang2,1b,e\nwzhang2,2,f\n")}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_every_system(tmp_path: Path, sheet: Sheet, name: str) -> None:
    found = handed_in(tmp_path, {"class.csv": TABLES[name]}, sheet, CANVAS)
    assert answered(found) == {"710011": "a b c", "710012": "d e f"}


@pytest.mark.parametrize(("titles", "ids", "expected"), [
    ("Response 1,Response 2,Response 3", "1a 1b 2", "1a 1b 2"),
    ("Response 3,Response 2,Response 1", "1 2 3", "3 2 1"),
    ("Question 1,Question 2", "1 2 3", "1 2 -"), ("Q1,Q2,Q3", "1a 1b 2", "1a 1b 2"),
    ("Q1,Q2,Q4", "1 2 3", "1 2 -"), ("Q2,Q1a,Comments", "1a 1b 2", "2 1a -")])
def test_columns_that_are_only_numbered(
        tmp_path: Path, titles: str, ids: str, expected: str) -> None:
    """They are taken in their order where they are as many, and their numbers are not all ids."""
    sheet = parse("".join([f"{id}: x\n" for id in ids.split()]), "hw.txt")
    texts = ["p", "q", "r"][:titles.count(",") + 1]
    found = handed_in(tmp_path, {"class.csv": f"login,{titles}\nwzhang1,{','.join(texts)}\n"},
                      sheet, CANVAS)
    one, = found
    given = {a.answer: a.problem for a in one.answers if a.answer}
    assert [given.get(text, "-") for text in "pqr"] == expected.split()


def test_workbooks(tmp_path: Path, sheet: Sheet) -> None:
    """Numbers and times in cells are what a spreadsheet shows; so with the roster."""
    rows = [["Timestamp", "SIS User ID", "1a", "1b", "2"],
            [datetime(2026, 11, 20, 23, 59), 710011, "2x", 0.5, None], [None, 710012.0, "x", 3, ""]]
    for name, table in (("class.xlsx", rows), (
            "roster.xlsx", list(csv.reader(CANVAS.splitlines())))):
        book = openpyxl.Workbook()
        for row in table:
            book.active.append(row)
        book.save(tmp_path / name)
    found = open_submissions(str(tmp_path / "class.xlsx"), sheet, roster(CANVAS))
    assert answered(found) == {"710011": "2x 0.5 -", "710012": "x 3 -"}
    listed = open_roster(str(tmp_path / "roster.xlsx"))
    assert [s.id for s in listed.students] == ["710011", "710012", "710013", "aberg", "15"]


def test_a_workbook_that_is_none(tmp_path: Path, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
                                 ) -> None:
    (tmp_path / "class.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(GradcliError, match="save it as csv") as caught:
        open_submissions(str(tmp_path / "class.xlsx"), sheet)
    assert caught.value.code == "E0734"
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(GradcliError, match=r"gradcli\[spreadsheet\]"):
        open_submissions(str(tmp_path / "class.xlsx"), sheet)


CLASS = "student_id,last_name,first_name\n" + "".join(
    [f"{id},{last},{first}\n" for id, last, first in (
        ("alice", "Ames", "Alice"), ("bob", "Boyd", "Bob"), ("s14", "Lee", "Ann"),
        ("10170", "Xu", "Li"), ("s8", "van der Berg", "Ann-Marie"))])


@pytest.mark.parametrize(("files", "found"), [
    # Folders of sections, with folders or files of students.
    (["A/alice/a.txt", "B/bob/a.txt", "A/s14/a.txt"], ["alice", "bob", "s14"]),
    (["A/alice.txt", "A/bob.txt", "B/s14.txt"], ["alice", "bob", "s14"]),
    (["A/alice/part1/a.txt", "A/eve/a.txt"], ["alice", "eve"]),
    # A student's folders, whatever they are called.
    (["alice/old/a.txt", "alice/new/b.txt", "bob/a.txt"], ["alice", "bob"]),
    (["alice/s14/a.txt"], ["alice"]),
    # An id with other words beside.
    (["s14_hw3_final.txt", "10170_hw.txt", "hw3 alice.txt"], ["10170", "alice", "s14"]),
    (["s14 hw/a.txt"], ["s14"]), (["s141_hw.txt", "x.txt"], ["s141_hw", "x"])])
def test_folders_and_names_of_files(tmp_path: Path, sheet: Sheet, files: list[str],
                                    found: list[str]) -> None:
    submissions = handed_in(tmp_path, dict.fromkeys(files, "1a: 2x"), sheet, CLASS)
    assert [one.student.id for one in submissions] == found
    assert all(answer.fault is None for one in submissions for answer in one.answers)
    assert all(one.answers[0].answer == "2x" for one in submissions)


def test_a_name_with_other_words_is_for_a_person(tmp_path: Path, sheet: Sheet) -> None:
    one, = handed_in(tmp_path, {"ann-marie van der berg hw3.txt": "1a: 2x"},
                     sheet, CLASS)
    assert one.student.id == "s8"
    assert "may be by" in str(one.answers[0].fault)


def test_folders_of_other_assignments(tmp_path: Path, sheet: Sheet) -> None:
    """They are those called alike, and those that stand beside one of this assignment."""
    files = {"alice/hw3/a.txt": "1a: 2x", "alice/intro/a.txt": "1a: 3",
             "bob/intro/a.txt": "1a: 4", "bob/hw2/a.txt": "1a: 5",
             "s14/part1/a.txt": "1a: 2x", "s14/part2/b.txt": "1b: 3x^2"}
    read = {one.student.id: [answer.answer for answer in one.answers]
            for one in handed_in(tmp_path, files, sheet, CLASS)}
    assert read == {"alice": ["2x", "", ""], "s14": ["2x", "3x^2", ""]}


def test_folders_that_a_list_of_submitters_leaves_out(tmp_path: Path, sheet: Sheet) -> None:
    listed = ("submission_1:\n  :submitters:\n  - :name: Ann Lee\n    :sid: s14\n"
              "submission_2:\n  :submitters: []\n")
    files = {"export/submission_metadata.yml": listed, **{
        f"export/submission_{k}/hw.txt": "1a: 2x" for k in (1, 2, 3)}}
    assert [one.student.id for one in handed_in(tmp_path, files, sheet, CLASS)] == [
        "s14", "submission_2", "submission_3"]
