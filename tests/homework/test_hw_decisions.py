"""What a teacher decided stands: through spreadsheets, encodings, new answers, other sheets.

`tests/tools/homework_decisions.py` has what is done to a class; here it is done with a few seeds.
"""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import pytest
from homework_class import SHEET, Class
from homework_decisions import ENCODINGS, edited, read_list, saved, taken, write_list

from gradcli.homework.marking.overrides import DIGEST, form, key


@pytest.fixture
def of(tmp_path: Path) -> Class:
    return Class(tmp_path)


def decide(of: Class, **scores: str) -> None:
    """Write scores for the problem 1a into the rows of the students."""
    rows = read_list(of.folder / "results")
    for row in rows:
        if row["problem"] == "1a" and row["student_id"] in scores:
            row["override_score"] = scores.pop(row["student_id"])
    assert not scores
    write_list(of.folder / "results", rows)


def scores(of: Class, problem: str = "1a") -> dict[str, str]:
    return {id.lstrip("'"): row[problem] for id, row in of.gradebook().items()}


# --- digests ------------------------------------------------------------------------------------


def test_a_digest_is_letters_that_are_no_word() -> None:
    for answer in ("", "2x", "=1", "\ud800", "x" * 3000):
        digest = f"{key('1a', 's1')}-{form(answer)}"
        assert DIGEST.fullmatch(digest)
        assert not set(digest) & set("aeiouy0123456789.,;")
    assert form(" 2x\t+ 1 \n\n") == form("2x + 1") != form("2x +\n1") != form("2x+1")
    assert len({key("1a"), key("1a", ""), key("1", "a"), key("", "1a")}) == 4


# --- spreadsheets -------------------------------------------------------------------------------

STUDENTS = ("0007", "7", "12345678901", "MAR1", "1-2", "Jürgen Müller", "王伟", "=1+1", "1e5",
            "TRUE")


def of_odd_names(of: Class) -> None:
    for name in STUDENTS:
        of.hand_in(name, [f"2x sin x + {len(name)}x cos(" + "(" * STUDENTS.index(name), "", ""])


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_list_comes_back_from_a_spreadsheet(encoding: str, separator: str, of: Class) -> None:
    of_odd_names(of)
    of.run()
    rows = read_list(of.folder / "results")
    given = {}
    for k, row in enumerate(rows):
        if row["problem"] == "1a":
            row["override_score"] = given[row["student_id"].lstrip("'")] = f"{k % 8 / 4:g}"
            row["comment"] = "für Sie, „schön“ – größer" if encoding != "cp1252" else "für schöne"
    assert len(given) == len(STUDENTS) + 1
    (of.folder / "results" / "review.csv").write_bytes(saved(rows, encoding, separator, "excel"))
    assert of.run()["answers"]["review"] == 0
    assert {id: score for id, score in scores(of).items() if id in given} == given
    comments = [one["override"]["comment"] for one in of.results() if one["override"]]
    assert len(comments) == len(given)
    assert all(text.startswith("für") for text in comments), comments


def test_a_list_that_is_a_workbook(of: Class) -> None:
    of.run()
    rows = read_list(of.folder / "results")
    book = openpyxl.Workbook()
    book.worksheets[0].append([*rows[0]])
    for row in rows:
        book.worksheets[0].append([*{**row, "override_score": 1}.values()])
    book.save(of.folder / "mine.xlsx")
    assert of.run("--overrides", "mine.xlsx")["answers"]["review"] == 0


@pytest.mark.parametrize("change", [
    lambda rows: rows[::-1], lambda rows: [{}, *rows, {}, {}],
    lambda rows: [{"seen by": "me", **dict(reversed(row.items()))} for row in rows],
    lambda rows: [{name.upper().replace("_", " "): text for name, text in row.items()}
                  for row in rows],
    lambda rows: [{name: text for name, text in row.items()
                   if name in ("student_id", "problem", "override_score", "answer")}
                  for row in rows],
    lambda rows: [{name: text for name, text in row.items()
                   if name in ("student_id", "problem", "override_score", "digest")}
                  for row in rows],
    lambda rows: [{**row, "student_id": "?", "problem": "01. Jan", "answer": "#NAME?"}
                  for row in rows]])
def test_rows_and_columns_may_change(change: object, of: Class) -> None:
    of.hand_in("ed", ["2x sin(", "", ""])
    of.run()
    decide(of, di="1.5", ed="0.25")
    before = read_list(of.folder / "results")
    write_list(of.folder / "results", change(before))  # type: ignore[operator]
    of.run()
    assert (scores(of)["di"], scores(of)["ed"]) == ("1.5", "0.25")
    assert read_list(of.folder / "results") == [
        {**row, "reason": "overridden"} for row in before if row["override_score"]] + [
        row for row in before if not row["override_score"]]


def test_a_number_of_another_student_is_not_taken(of: Class) -> None:
    """0007 became 7, who is in the class as well; a row that was copied is of whom it names."""
    of_odd_names(of)
    of.run()
    rows = read_list(of.folder / "results")
    row, = [row for row in rows if row["student_id"] == "0007"]
    row.update(student_id="7", override_score="1.25")
    write_list(of.folder / "results", rows)
    of.run()
    assert (scores(of)["0007"], scores(of)["7"]) == ("1.25", "0")
    row.update(student_id="ann", override_score="0.5")
    write_list(of.folder / "results", [row])
    of.run()
    assert (scores(of)["0007"], scores(of)["ann"]) == ("1.25", "0.5")     # whose row was taken out


# --- new answers, students and sheets -----------------------------------------------------------


def test_an_edited_answer_waits_and_the_row_stays(of: Class) -> None:
    of.run()
    decide(of, di="1.5")
    for answer, score, waits in (("2x cos x", "0", True), ("2x sin x + x^2 cos x", "2", True),
                                 ("2x  sin x + x^2 cos(", "1.5", False), ("", "0", True)):
        of.hand_in("di", [answer, "-2x cos(x^2)", "2x + 3y"])
        for arguments in ([], ["-q"]):
            found = of.run(*arguments)
            rows = [row for row in read_list(of.folder / "results") if row["student_id"] == "di"]
            assert found["answers"]["review"] == waits
            assert scores(of)["di"] == score
            assert [(row["reason"], row["override_score"]) for row in rows] == (
                [("answer changed", ""), ("earlier answer", "1.5")] if waits
                else [("overridden", "1.5")])
    told = of.hw("explain", "di", "1a")[1]
    assert "1.5 for an earlier answer" in told
    decide(of, di="0.75")
    assert of.run()["answers"]["review"] == 0
    assert scores(of)["di"] == "0.75"


def test_full_points_before_and_now_are_no_doubt(of: Class) -> None:
    of.run()
    decide(of, di="2")
    of.hand_in("di", ["2x sin x + x^2 cos x", "", ""])
    assert of.run()["answers"]["review"] == 0
    assert [row["reason"] for row in read_list(of.folder / "results")] == ["earlier answer"]


def test_who_leaves_and_what_is_taken_out_stays(of: Class) -> None:
    of.run()
    decide(of, di="1.5")
    before = {path: path.read_bytes() for path in (of.folder / "subs" / "di").iterdir()}
    for path in before:
        path.unlink()
    (of.folder / "subs" / "di").rmdir()
    for _ in range(2):
        assert of.run()["notes"]["override"] == 1
        row, = read_list(of.folder / "results")
        assert (row["student_id"], row["override_score"], row["reason"]) == (
            "di", "1.5", "not in the class or the sheet")
    (of.folder / "subs" / "di").mkdir()
    for path, data in before.items():
        path.write_bytes(data)
    (of.folder / "sheet.toml").write_text(SHEET.replace('id = "1a"', 'id = "1c"'))
    of.run()
    assert "1.5" in [row["override_score"] for row in read_list(of.folder / "results")]
    (of.folder / "sheet.toml").write_text(SHEET.replace("x^2 sin(x)", "x^2 sin(2x)"))
    of.run()
    assert scores(of)["di"] == "1.5"


def test_a_list_that_is_taken_away_takes_nothing_back(of: Class) -> None:
    of.run()
    decide(of, di="1.5")
    of.run()
    (of.folder / "results" / "review.csv").unlink()
    for command in ("run", "export", "run"):
        of.run() if command == "run" else of.hw("export", "-q")
        assert scores(of)["di"] == "1.5"
    (of.folder / "results" / "review.csv").unlink()
    (of.folder / "results" / "decisions.csv").unlink()
    (of.folder / "results" / "results.ndjson").write_text("{")      # then there is nothing left
    assert of.run()["answers"]["review"] == 1


def test_a_score_of_other_points_is_told(of: Class) -> None:
    of.run()
    decide(of, di="1.5")
    (of.folder / "sheet.toml").write_text(SHEET.replace("points = 2", "points = 4"))
    found = of.run()
    assert (found["checked"], found["notes"]) == (0, {"points": 1})
    assert "1a: of 2 points, not of the 4 that it gives now, a person gave a score of 1.5" in (
        of.folder / "results" / "notes.csv").read_text()
    assert scores(of)["di"] == "1.5"
    assert of.run()["notes"] == {}      # who saw it has decided


def test_what_gives_no_points_waits_for_nobody(of: Class) -> None:
    (of.folder / "sheet.toml").write_text(SHEET.replace("points = 2", "points = 0"))
    assert of.run()["answers"]["review"] == 0


# --- equal answers ------------------------------------------------------------------------------


def test_equal_answers_are_one_row(of: Class) -> None:
    texts = {"e1": "2x sin(", "e2": "2x  sin(", "e3": "2x sin( ", "e4": "2x sin(("}
    for name, text in texts.items():
        of.hand_in(name, [text, "", ""])
    found = of.run()
    assert (found["answers"]["review"], found["review_rows"]) == (5, 3)
    assert "5 answers wait for you in 3 rows of results/review.csv" in " ".join(
        of.hw("run", "sheet.toml", "subs", "--format", "table")[1].split())
    rows = read_list(of.folder / "results")
    assert [(row["student_id"], row["count"], row["others"]) for row in rows] == [
        ("e1", "3", "e2; e3"), ("di", "1", ""), ("e4", "1", "")]
    decide(of, e1="1.25")
    assert of.run()["answers"]["review"] == 2
    assert [scores(of)[name] for name in texts] == ["1.25", "1.25", "1.25", "0"]
    of.hand_in("e1", ["2x sin x + x^2 cos x", "", ""])      # the one that the row names
    of.hand_in("e5", ["2x sin(", "", ""])                   # and somebody who comes later
    of.run()
    assert [scores(of)[name] for name in ("e1", "e2", "e3", "e5")] == ["2", "1.25", "1.25", "1.25"]
    # What a row for several said of an answer that has changed stays as well, and waits.
    rows = read_list(of.folder / "results")
    assert [(row["reason"], row["override_score"]) for row in rows
            if row["student_id"] == "e1"] == [("answer changed", ""), ("earlier answer", "1.25")]
    row, = [row for row in rows if row["count"] and row["override_score"]]
    assert (row["student_id"], row["count"], row["others"]) == ("e2", "3", "e3; e5")
    # One of them is decided by a row of their own, which goes first.
    write_list(of.folder / "results", [*read_list(of.folder / "results"), {
        "student_id": "e3", "problem": "1a", "override_score": "0.5"}])
    for _ in range(2):
        of.run()
        assert [scores(of)[name] for name in ("e2", "e3", "e5")] == ["1.25", "0.5", "1.25"]
    for name in ("e2", "e3", "e5"):
        of.hand_in(name, ["", "", ""])
    of.run()        # nobody has it anymore
    kept = [(row["student_id"], row["reason"], row["override_score"])
            for row in read_list(of.folder / "results") if row["override_score"]]
    assert sorted(kept) == [
        ("e1", "earlier answer", "1.25"), ("e2", "earlier answer", "1.25"),
        ("e2", "earlier answer", "1.25"), ("e3", "earlier answer", "0.5"),
        ("e5", "earlier answer", "1.25")]       # each of them, and the row for all of them


def notes(of: Class, about: str) -> list[dict[str, str]]:
    with open(of.folder / "results" / "notes.csv", newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["about"] == about]


@pytest.mark.parametrize("lost", [("digest",), ("digest", "others"), ()])
def test_a_row_for_several_without_its_digest_says_so(lost: tuple[str, ...], of: Class) -> None:
    for name in ("e1", "e2", "e3"):
        of.hand_in(name, ["2x sin(", "", ""])
    of.run()
    decide(of, e1="1.25", di="0.5")
    write_list(of.folder / "results", [
        {name: text for name, text in row.items() if name not in lost}
        for row in read_list(of.folder / "results")])
    of.run()
    said = notes(of, "alone")
    if not lost:
        assert not said
        return
    note, = said        # none of di, whose row was of one
    assert note["student_id"] == "e1"
    assert "`digest`" in note["message"]
    assert "3 students" in note["message"]
    assert [row["student_id"] for row in read_list(of.folder / "results")
            if not row["override_score"]] == ["e2"]     # which waits, with e3


@pytest.mark.parametrize(("encoding", "told"), [
    ("gbk", True), ("cp1252", True), ("utf-8", False), ("utf-8-sig", False), ("utf-16", False)])
def test_comments_that_may_be_garbled_are_told(encoding: str, told: bool, of: Class) -> None:
    of.run()
    rows = read_list(of.folder / "results")
    rows[0]["comment"] = "très bien, déjà vu"
    (of.folder / "results" / "review.csv").write_bytes(saved(rows, encoding, ","))
    of.run()
    assert [row["file"].endswith("review.csv") and "CSV UTF-8" in row["message"]
            for row in notes(of, "encoding")] == [True] * told


@pytest.mark.parametrize("damage", [b"", b"\0\0\0", b"x,y\n1,2\n", b"\xff\xfe\x00"])
def test_the_help_for_a_damaged_list_of_the_run_itself_helps(damage: bytes, of: Class) -> None:
    of.run()
    decide(of, di="0.5")
    of.run()
    own = of.folder / "results" / "decisions.csv"
    own.write_bytes(damage)
    status, _, err = of.hw("run", "sheet.toml", "subs")
    assert status == 3
    said = " ".join(err.split())
    assert "decisions.csv" in said
    assert "delete it" in said
    own.unlink()
    of.run()
    assert scores(of)["di"] == "0.5"


def test_equal_values_are_one_row(of: Class) -> None:
    """Wrong answers of low confidence for which the sheet gives credit."""
    sheet = SHEET + '[[problem]]\nid = "3"\nfunction = "t^2 + 1"\ndomain_policy = "review"\n'
    (of.folder / "sheet.toml").write_text(sheet)
    for name, text in (("e1", "2 t ln(t)/ln(t)"), ("e2", "ln(t) 2t/ln t"), ("e3", "2t")):
        of.hand_in(name, ["", "", ""])
        with open(of.folder / "subs" / name / "answers.txt", "a") as file:
            file.write(f"3: {text}\n")
    assert of.run()["answers"]["review"] == 3       # with di's
    row = read_list(of.folder / "results")[-1]
    assert (row["student_id"], row["reason"], row["others"]) == ("e1", "domain", "e2")
    row["override_score"] = "0.5"
    write_list(of.folder / "results", [row])
    of.run("--seed", "7")       # other points, other values: typed alike
    assert [scores(of, "3")[name] for name in ("e1", "e2", "e3")] == ["0.5", "0.5", "1"]


def of_equal(of: Class) -> None:
    """Three who typed the same, decided in one row."""
    for name in ("e1", "e2", "e3"):
        of.hand_in(name, ["2x sin(", "", ""])
    of.run()
    decide(of, e1="1.25")
    of.run()


@pytest.mark.parametrize("beside", [
    ("photo.jpg", b"\xff\xd8"), ("more.pdf", b"%PDF"), ("x.zip", b"PK"), ("more.txt", b"9: x")])
def test_what_is_handed_in_beside_belongs_to_the_answer(beside: tuple[str, bytes], of: Class
                                                        ) -> None:
    """Of equal answers one gets a photo: that one waits, and the decision stays for the others."""
    of_equal(of)
    photo = of.folder / "subs" / "e2" / beside[0]
    if photo.suffix == ".txt":
        photo = photo.with_name("answers.txt")
        photo.write_bytes(photo.read_bytes() + beside[1])
    else:
        photo.write_bytes(beside[1])
    for _ in range(2):
        assert of.run()["notes"]["override"] == 1
        assert [scores(of)[name] for name in ("e1", "e2", "e3")] == ["1.25", "0", "1.25"]
        rows = [row for row in read_list(of.folder / "results") if row["student_id"] == "e2"
                and row["problem"] == "1a"]
        assert [(row["reason"], row["override_score"]) for row in rows] == [
            ("unreadable", ""), ("earlier answer", "1.25")]
    decide_last(of, "e2", "0.75")
    of.run()
    assert [scores(of)[name] for name in ("e1", "e2", "e3")] == ["1.25", "0.75", "1.25"]
    photo.write_bytes(photo.read_bytes() + b"!")        # another photo
    found = of.run()
    assert [scores(of)[name] for name in ("e1", "e2", "e3")] == ["1.25", "0", "1.25"]
    assert found["notes"]["override"] == 2


def decide_last(of: Class, student: str, score: str) -> None:
    rows = read_list(of.folder / "results")
    row, = [row for row in rows if (row["student_id"], row["problem"]) == (student, "1a")
            and not row["override_score"]]
    row["override_score"] = score
    write_list(of.folder / "results", rows)


@pytest.mark.parametrize("name", ["photo.jpg", "paper.pdf", "all.zip", "scan.docx", "large.png"])
def test_another_photo_waits_again(name: str, of: Class) -> None:
    folder = of.folder / "subs" / "di"
    (folder / "answers.txt").unlink()
    data = b"\0" * 40_000_000 if name == "large.png" else b"%PDF one"
    (folder / name).write_bytes(data)
    of.run()
    decide(of, di="1.5")
    for _ in range(2):
        assert of.run()["notes"].get("override", 0) == 0
        assert scores(of)["di"] == "1.5"
    (folder / name).write_bytes(data + b" two")
    for _ in range(2):
        assert of.run("-q")["notes"]["override"] == 1
        assert scores(of)["di"] == "0"
        assert [(row["reason"], row["override_score"]) for row in read_list(of.folder / "results")
                if (row["student_id"], row["problem"]) == ("di", "1a")] == [
            ("unreadable", ""), ("earlier answer", "1.5")]
    (folder / name).write_bytes(data)
    of.run()
    assert scores(of)["di"] == ("0" if name == "large.png" else "1.5")    # its time is another one


# --- renamed problems, rows that are taken out ----------------------------------------------------

def rename(of: Class, old: str, new: str) -> None:
    """Rename a problem, in the sheet and in what is handed in."""
    sheet = of.folder / "sheet.toml"
    sheet.write_text(sheet.read_text().replace(f'id = "{old}"', f'id = "{new}"'))
    for path in (of.folder / "subs").glob("*/answers.txt"):
        path.write_text(path.read_text().replace(f"{old}:", f"{new}:"))


def test_a_problem_gets_another_name(of: Class) -> None:
    of_equal(of)
    decide(of, di="0.5")
    for old, new in (("1a", "1c"), ("1c", "7"), ("7", "1a")):
        rename(of, old, new)
        for arguments in ([], ["-q"]):
            found = of.run(*arguments)
            assert found["notes"].get("override", 0) == 0
            assert [scores(of, new)[name] for name in ("e1", "e2", "e3", "di")] == [
                "1.25", "1.25", "1.25", "0.5"]
            assert found["answers"]["review"] == 0


@pytest.mark.parametrize("taken", [
    lambda rows: [], lambda rows: [row for row in rows if not row["override_score"]],
    lambda rows: [{"student_id": "ann", "problem": "1b", "override_score": "1"}], None])
def test_rows_that_are_taken_out_take_nothing_back(taken: object, of: Class) -> None:
    of_equal(of)
    decide(of, di="0.5")
    of.hand_in("e3", ["2x cos x", "", ""])
    of.run()
    there = [(row["student_id"], row["reason"], row["override_score"])
             for row in read_list(of.folder / "results") if row["override_score"]]
    assert len(there) == 3
    if taken is None:
        (of.folder / "results" / "review.csv").unlink()
    else:
        write_list(of.folder / "results", taken(read_list(of.folder / "results")))  # type: ignore[operator]
    found = of.run()
    assert found["notes"]["kept"] == 3
    assert "from which its row was taken" in (of.folder / "results" / "notes.csv").read_text()
    assert [scores(of)[name] for name in ("e1", "e2", "e3", "di")] == ["1.25", "1.25", "0", "0.5"]
    assert {(row["student_id"], row["reason"], row["override_score"])
            for row in read_list(of.folder / "results") if row["override_score"]} >= {*there}
    assert "kept" not in of.run()["notes"]


def test_a_row_that_is_taken_out_and_one_of_any_answer(of: Class) -> None:
    """What counts is what the newer file says; what it goes before is told, and a comment kept."""
    of.run()
    rows = read_list(of.folder / "results")
    rows[0].update(override_score="1.5", comment="see me")
    write_list(of.folder / "results", rows)
    of.run()
    write_list(of.folder / "results", [])
    (of.folder / "mine.csv").write_text("student_id,problem,override_score\ndi,1a,0.25\n")
    assert of.run("--overrides", "mine.csv")["notes"] == {"override": 1}
    assert "another file's decision counts, not a score of 1.5" in (
        of.folder / "results" / "notes.csv").read_text()
    row, = read_list(of.folder / "results")
    assert (row["override_score"], row["comment"]) == ("0.25", "see me")


@pytest.mark.parametrize("student", ["bob", "di"])
def test_who_takes_everything_back_waits(student: str, of: Class) -> None:
    """Decided with others, or alone; then nothing is handed in anymore."""
    for name in ("ann", "bob", "cy"):
        of.hand_in(name, ["2x sin(", "", ""])
    of.run("--roster", "roster.csv")
    decide(of, ann="1.25", di="0.5")
    of.run("--roster", "roster.csv")
    (of.folder / "subs" / student / "answers.txt").unlink()
    given = "1.25" if student == "bob" else "0.5"
    for command in ("run", "run", "export"):
        if command == "run":
            assert of.run("--roster", "roster.csv")["notes"]["override"] == 1
        else:
            of.hw("export", "-q")
        assert [(row["reason"], row["override_score"]) for row in read_list(of.folder / "results")
                if row["student_id"] == student and row["problem"] == "1a"] == [
            ("answer changed", ""), ("earlier answer", given)]


def test_what_is_emptied_is_taken_back(of: Class) -> None:
    of_equal(of)
    decide(of, di="0.5")
    of.hand_in("e3", ["2x cos x", "", ""])
    of.run()
    rows = read_list(of.folder / "results")
    write_list(of.folder / "results", [{**row, "override_score": "", "comment": ""}
                                       for row in rows])
    of.hand_in("e2", ["2x cos x", "", ""])      # who changes the answer meanwhile
    found = of.run()
    assert (found["notes"], found["answers"]["review"]) == ({}, 2)
    assert [row["override_score"] for row in read_list(of.folder / "results")] == ["", ""]


# --- what is done to a class --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_decisions_stand_whatever_happens(seed: int, tmp_path: Path) -> None:
    for name, change in (("edited", edited), ("taken", taken)):
        (tmp_path / name).mkdir()
        change(tmp_path / name, seed)
