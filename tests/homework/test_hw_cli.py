"""`gradcli hw`: a class from its folder to its gradebook, on the command line.

What stands in each file is tested where it is written (test_homework_*.py); here the commands are,
with their formats, statuses, second runs and interruptions.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from asked import valid
from folders import ROOT
from homework_class import CLASS, ROSTER, SHEET, Class
from terminals import bare, on_terminal
from transcripts import in_process

from gradcli.cli.options import homework as homework_rows
from gradcli.homework.marking.review import COLUMNS
from gradcli.homework.sheets.cells import cell

FILES = {"gradebook.csv", "review.csv", "decisions.csv", "item-analysis.csv", "junit.xml",
         "results.ndjson", "manifest.json", "feedback", "notes.csv", "students.ndjson",
         "sheet.toml", "run.json"}


@pytest.fixture
def of(tmp_path: Path) -> Class:
    return Class(tmp_path)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """A class whose answers are checked; nobody changes it."""
    made = Class(tmp_path_factory.mktemp("class"))
    made.run("--roster", "roster.csv")
    return made


# --- run --------------------------------------------------------------------------------------

def test_a_class_is_marked(of: Class) -> None:
    answer = of.run("--roster", "roster.csv")
    assert answer["students"] == {"total": 5, "handed_in": 4, "late": 0, "graded": 3, "review": 1,
                                  "blank": 0, "missing": 1}
    assert (answer["answers"]["right"], answer["answers"]["blank"]) == (5, 1)
    assert (answer["checked"], answer["reused"]) == (11, 0)
    assert {path.name for path in (of.folder / "results").iterdir()} == FILES
    rows = of.gradebook()
    assert rows["ann"]["score"] == "6"
    assert rows["cy"]["score"] == "5"
    assert rows["bob"]["1b"] == "0.5"       # the sheet's credit for the mistake
    assert rows["bob"]["2"] == "1.5"        # one of two components
    assert (rows["eve"]["status"], rows["eve"]["email"]) == ("missing", "eve@school.edu")
    assert [one["problem"] for one in answer["problems"]] == ["1a", "1b", "2"]


def test_the_second_run_checks_what_changed(of: Class) -> None:
    first = of.run()
    assert (first["checked"], first["reused"]) == (11, 0)
    before = of.results()
    again = of.run()
    assert (again["checked"], again["reused"]) == (0, 11)
    assert of.results() == before
    of.hand_in("bob", ["2x cos x", "2x cos(x^2)", "<2x + 3y, 3y>"])
    changed = of.run()
    assert (changed["checked"], changed["reused"]) == (1, 10)
    assert of.gradebook()["bob"]["1b"] == "1"
    sheet = of.folder / "sheet.toml"
    sheet.write_text(SHEET.replace('"x^2 sin(x)"', '"x^2 cos(x)"'))
    changed = of.run()
    assert (changed["checked"], changed["reused"]) == (4, 7)    # everybody's 1a
    assert of.gradebook()["ann"]["1a"] == "0"
    sheet.write_text(SHEET)
    assert of.run()["checked"] == 4
    assert of.run("--seed", "12")["checked"] == 11
    assert of.run("--seed", "12")["checked"] == 0
    assert of.run("--seed", "12", "--fresh")["checked"] == 11


def test_whoever_checks_the_results_are_the_same(of: Class) -> None:
    of.run("-o", "one")
    of.run("-o", "three", jobs="3")
    assert of.results("one") == of.results("three")
    for name in sorted(FILES - {"results.ndjson", "junit.xml", "feedback"}):
        assert (of.folder / "one" / name).read_bytes() == (
            of.folder / "three" / name).read_bytes(), name


def test_statuses(of: Class) -> None:
    def status(*arguments: str) -> int:
        return of.hw("run", "sheet.toml", "subs", "-q", "-j", "1", *arguments)[0]

    assert status() == 1
    assert status("--exit-zero") == 0
    assert status("--fail-on", "undecided") == 0
    assert status("--fail-on", "undecided,unreadable") == 1
    assert status("--fail-on", "blank") == 1
    for student in list(CLASS)[1:]:
        shutil.rmtree(of.folder / "subs" / student)
    assert status() == 0


@pytest.mark.parametrize(("expected", "arguments", "words"), [
    (2, ["run"], "SHEET"), (2, ["run", "sheet.toml"], "FOLDER"),
    (2, ["run", "sheet.toml", "subs", "--wide", "a.csv"], "--wide"),
    (2, ["run", "sheet.toml", "subs", "--late", "2"], "--late"),
    (2, ["run", "sheet.toml", "subs", "--fail-on", "nothing"], "--fail-on"),
    (2, ["run", "sheet.toml", "subs", "--map", "Q1"], "--map"),
    (2, ["run", "sheet.toml", "subs", "-j", "2", "--scheduler", "tcp://a:1"], "--jobs"),
    (2, ["lint"], "SHEET"), (2, ["explain", "ann"], "PROBLEM"), (2, ["diff", "a"], "NEW"),
    (2, ["nothing"], "nothing"), (2, ["stats", "--format", "xml"], "--format"),
    (3, ["run", "no.toml", "subs"], "E0601"), (3, ["run", "sheet.toml", "no-subs"], "E0730"),
    (3, ["run", "sheet.toml", "subs", "--roster", "no.csv"], "E0735"),
    (3, ["run", "sheet.toml", "subs", "--overrides", "no.csv"], "E0601"),
    (3, ["run", "sheet.toml", "subs", "--template", "no.csv"], "E0601"),
    (3, ["run", "sheet.toml", "subs", "--template", "roster.csv"], "E0745"),
    (3, ["run", "sheet.toml", "subs", "-o", "subs/results"], "E0749"),
    (3, ["run", "sheet.toml", "."], "E0749"), (3, ["run", "sheet.toml", "subs", "-o",
                                                  "sheet.toml"], "E0748"),
    (3, ["run", "sheet.toml", "subs", "--student-pattern", "("], "E07"),
    (3, ["explain", "ann", "1a"], "E0749"), (3, ["stats"], "E0749"), (3, ["export"], "E0749"),
    (3, ["diff", "a", "b"], "E0601"), (3, ["lint", "roster.csv"], "E07"),
])
def test_what_goes_wrong_is_told(of: Class, expected: int, arguments: list[str], words: str
                                 ) -> None:
    status, out, err = of.hw(*arguments)
    assert status == expected, err
    assert out == ""
    assert words in err
    assert "Traceback" not in err
    assert not (of.folder / "results").exists()


def test_a_bad_sheet_is_told_with_its_places_and_nothing_is_written(of: Class) -> None:
    (of.folder / "sheet.toml").write_text(
        SHEET.replace("sin(x^2)", "sin(x^2").replace("x^2 sin(x)", 'x^2 sin(x)"\nexpected = "2x'))
    for command in (["run", "sheet.toml", "subs"], ["lint", "sheet.toml"]):
        status, _, err = of.hw(*command)
        assert status == 3
        assert "error[E0705]" in err
        assert "error[E0704]" in err
        assert '13 | function = "sin(x^2"' in err or "sin(x^2" in err
        assert err.count("^") >= 2
        assert "2 errors\n" in err
    assert not (of.folder / "results").exists()


def test_results_of_another_sheet_are_not_written_over(of: Class) -> None:
    of.run()
    (of.folder / "sheet.toml").write_text(SHEET.replace('"hw3"', '"hw4"'))
    status, _, err = of.hw("run", "sheet.toml", "subs")
    assert status == 3
    assert "`hw3`" in err
    assert "--out" in err
    assert of.hw("run", "sheet.toml", "subs", "-o", "others", "-q")[0] == 1


def test_late_feedback_and_levels(of: Class) -> None:
    late = of.folder / "canvas-subs"
    late.mkdir()
    for name in ("ann", "bob"):
        flag = "_LATE" if name == "bob" else ""
        (late / f"{name}{flag}_12_34_answers.txt").write_text(
            (of.folder / "subs" / name / "answers.txt").read_text())
    assert of.hw("run", "sheet.toml", "canvas-subs", "-q", "--feedback", "full")[0] == 1
    penalty = float(of.gradebook()["bob"]["late_penalty"])
    assert penalty == 0.25*float(of.gradebook()["bob"]["raw_score"])
    pages = [path.read_text() for path in sorted((of.folder / "results/feedback").iterdir())]
    assert "the value is" in pages[1]
    assert of.hw("run", "sheet.toml", "canvas-subs", "-q", "--late", "0", "-o", "b",
                 "--feedback", "none")[0] == 1
    assert of.gradebook("b")["bob"]["late_penalty"] == "0"
    assert not (of.folder / "b" / "feedback").exists()
    answer = json.loads(of.hw("stats", "--results", "b", "--format", "json")[1])
    assert answer["students"]["late"] == 1
    assert of.hw("export", "--results", "b", "-q")[0] == 0
    assert of.gradebook("b")["bob"]["late_penalty"] == "0"      # as in the run


def test_tables_of_a_class(of: Class) -> None:
    (of.folder / "wide.csv").write_text(
        "Time,Email,Q1,1b,Other\n1,a@x,2x sin x + x^2 cos x,2x cos(x^2),-\n2,=1+1,x,,\n")
    for arguments in (["wide.csv"], ["--wide", "wide.csv"]):
        status, out, _ = of.hw("run", "sheet.toml", *arguments, "--student-col", "Email", "--map",
                               "Q1=1a", "--format", "json", "-j", "1", "--fresh")
        assert status == 1
        assert json.loads(out)["students"]["total"] == 2
    assert of.gradebook()["a@x"]["1a"] == "2"
    assert "'=1+1" in of.gradebook()
    assert of.hw("run", "sheet.toml", "wide.csv", "--student-col", "Email", "--map", "Q1=1a",
                 "--raw-csv", "-q")[0] == 1
    assert "=1+1" in of.gradebook()


def test_answers_on_standard_input(of: Class) -> None:
    text = "".join([json.dumps({"student": student, "problem": "1a", "answer": texts[0]}) + "\n"
                    for student, texts in CLASS.items()])
    status, out, _ = of.hw("run", "sheet.toml", "-", "--format", "ndjson", stdin=text.encode())
    assert status == 1
    assert out == (of.folder / "results/results.ndjson").read_text()
    assert [json.loads(line)["student"] for line in out.splitlines()][::3] == sorted(CLASS)


def test_annotations_for_github(of: Class) -> None:
    _, out, _ = of.hw("run", "sheet.toml", "subs", "--format", "github")
    assert out.startswith("::")
    assert "file=subs/bob/answers.txt,line=1" in out    # from where the workflow works
    assert out.splitlines()[-1].startswith("::notice ::5 right")


def test_annotations_name_a_table_as_it_was_named(of: Class) -> None:
    (of.folder / "forms").mkdir()
    (of.folder / "forms/wide.csv").write_text("student,1a,1b,2\nann,3x,,\n")
    _, out, _ = of.hw("run", "sheet.toml", "forms/wide.csv", "--format", "github")
    assert "::error file=forms/wide.csv,line=2," in out


def test_an_empty_folder_is_remarked(of: Class) -> None:
    (of.folder / "empty").mkdir()
    status, _, err = of.hw("run", "sheet.toml", "empty")
    assert status == 0
    assert err == "notes: nobody handed anything in: is this the right folder?\n"


def test_notes_are_counted_in_the_singular_and_the_plural(of: Class) -> None:
    path = of.folder / "subs" / "cy" / "answers.txt"
    path.write_text(path.read_text() + "9: x\n")
    assert "1 answer to no problem of the sheet;" in of.hw("run", "sheet.toml", "subs")[2]
    path.write_text(path.read_text() + "8: x\n")
    assert "2 answers to no problem of the sheet;" in of.hw("run", "sheet.toml", "subs")[2]


def test_credit_for_a_mistake_that_does_not_exist(of: Class) -> None:
    sheet = of.folder / "sheet.toml"
    sheet.write_text(SHEET.replace("missing_chain_factor", "mising_chain_factor"))
    status, _, err = of.hw("lint", "sheet.toml")
    assert status == 3
    assert "there is no mistake `mising_chain_factor`" in err
    assert "did you mean `missing_chain_factor`?" in err
    sheet.write_text(SHEET.replace("missing_chain_factor", "laziness"))
    assert "such as missing_chain_factor" in of.hw("lint", "sheet.toml")[2]


def test_a_student_pattern(of: Class) -> None:
    for student in CLASS:
        path = of.folder / "odd" / "group-7"
        path.mkdir(parents=True, exist_ok=True)
        shutil.copy(of.folder / "subs" / student / "answers.txt", path / f"x-{student}-final.txt")
    of.hw("run", "sheet.toml", "odd", "--student-pattern", r"x-(\w+)-final", "-q")
    assert sorted(of.gradebook()) == sorted(CLASS)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="the system has no links")
def test_links_are_passed_over_unless_they_are_wanted(of: Class) -> None:
    secret = of.folder / "secret.txt"
    secret.write_text("1a: 42\n")
    (of.folder / "subs" / "mal").mkdir()
    os.symlink(secret, of.folder / "subs" / "mal" / "answers.txt")
    _, _, err = of.hw("run", "sheet.toml", "subs")
    assert "cannot be read" in err
    assert "a link" in (of.folder / "results" / "notes.csv").read_text()
    assert (of.gradebook()["mal"]["status"], of.gradebook()["mal"]["score"]) == ("review", "0")
    of.hw("run", "sheet.toml", "subs", "--follow", "-q")
    assert "mal" in of.gradebook()
    shutil.rmtree(of.folder / "results")
    (of.folder / "results").mkdir()
    os.symlink(secret, of.folder / "results" / "unfinished.ndjson")
    assert of.hw("run", "sheet.toml", "subs")[0] == 3
    assert secret.read_text() == "1a: 42\n"


# --- what a person says -----------------------------------------------------------------------

def fill_review(folder: Path, student: str, problem: str, score: str, comment: str = "") -> None:
    path = folder / "review.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    head = list(COLUMNS)
    row = next((row for row in rows if (row["student_id"], row["problem"]) == (student, problem)
                and row["reason"] != "earlier answer"), None)
    if row is None:
        row = dict.fromkeys(head, "")
        row.update(student_id=student, problem=problem)
        rows.append(row)
    row.update(override_score=score, comment=comment)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, head)
        writer.writeheader()
        writer.writerows(rows)


def test_what_a_person_wrote_wins_and_stays(of: Class) -> None:
    answer = of.run()
    assert answer["answers"]["review"] == 1
    fill_review(of.folder / "results", "di", "1a", "1.5", "a bracket")
    for arguments in ([], ["--overrides", "results/review.csv"], []):
        answer = of.run(*arguments)
        assert (answer["checked"], answer["answers"]["review"]) == (0, 0)
        assert of.gradebook()["di"]["1a"] == "1.5"
    assert "a bracket" in (of.folder / "results" / "review.csv").read_text()
    told = json.loads(of.hw("explain", "di", "1a", "--format", "json")[1])
    assert told["override"] == {"score": 1.5, "comment": "a bracket", "automatic": 0.0}
    assert "1.5 in place of 0: a bracket" in of.hw("explain", "di", "1a")[1]
    fill_review(of.folder / "results", "di", "1a", "0.5", "")
    assert of.hw("export", "-q")[0] == 0        # without a check
    assert of.gradebook()["di"]["1a"] == "0.5"
    of.hand_in("di", ["2x sin x + x^2 cos x", "", ""])
    status, _, err = of.hw("run", "sheet.toml", "subs")
    assert status == 1
    assert "di, problem 1a: the answer has changed since its override" in err
    assert of.gradebook()["di"]["1a"] == "2"


def review_rows(folder: Path) -> list[tuple[str, ...]]:
    with open(folder / "review.csv", newline="", encoding="utf-8-sig") as file:
        return [tuple(row[name] for name in (
            "student_id", "problem", "reason", "answer", "override_score", "comment"))
            for row in csv.DictReader(file)]


def test_what_a_person_wrote_of_an_earlier_answer_is_kept(of: Class) -> None:
    """Whatever is handed in, in whatever order: scores, comments, answers like formulas, none."""
    answers = ["=2x sin x +", "x^2 +", ""]
    said = {}
    for answer, score, comment in zip(answers, ("1.5", "0.5", ""), ("a\nb", "", "+see me"),
                                      strict=True):
        of.hand_in("di", [answer, "", ""])
        of.run()
        fill_review(of.folder / "results", "di", "1a", score, comment)
        said[answer] = (score, cell(" ".join(comment.split())))
        of.run()
    earlier = [("di", "1a", "earlier answer", cell(answer), *said[answer]) for answer in answers]
    for answer in (answers[0], "", "2x sin x + x^2 cos x", answers[1]):
        of.hand_in("di", [answer, "", ""])
        for command in ("run", "export"):
            err = of.run()["notes"] if command == "run" else of.hw("export", "-q")[2]
            found = [row for row in review_rows(of.folder / "results") if row[0] == "di"]
            assert sorted(row for row in found if row[2] == "earlier answer") == sorted(
                row for row in earlier if row[3] != cell(answer))
            assert [row[4:] for row in found if row[2] != "earlier answer"] == (
                [said.get(answer, ("", ""))])     # what nobody has decided waits
            if command == "run":
                assert err["override"] == len(answers) - (answer in said)
                notes = (of.folder / "results" / "notes.csv").read_text()
                assert notes.count("problem 1a: the answer has changed since a person gave") == \
                    err["override"]
                assert ("a score of 1.5 and the comment `a b`" in notes) == (answer != answers[0])
        assert of.gradebook()["di"]["1a"] == {
            answers[0]: "1.5", answers[1]: "0.5", "": "0"}.get(answer, "2")


def test_a_row_of_their_own_in_the_review_list_is_of_any_answer(of: Class) -> None:
    of.run()
    fill_review(of.folder / "results", "bob", "1a", "0.25")
    of.run()
    assert of.gradebook()["bob"]["1a"] == "0.25"


# --- interruptions ----------------------------------------------------------------------------

def big(of: Class, students: int) -> None:
    """A class of many different answers, in one file."""
    with open(of.folder / "big.ndjson", "w") as file:
        for k in range(students):
            for id, text in zip(("1a", "1b", "2"), CLASS[list(CLASS)[k % 4]], strict=True):
                file.write(json.dumps({"student": f"s{k:05d}", "problem": id,
                                       "answer": f"{text} + {k}*0" if text[:1] not in "<(" else
                                       text.replace("2x", f"2x + {k}*0")}) + "\n")


def test_an_interrupted_run_is_continued(of: Class, home: dict[str, str | None]) -> None:
    big(of, 200)
    journal = of.folder / "results" / "unfinished.ndjson"
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", "hw", "run", "sheet.toml", "big.ndjson", "-j", "2"],
        cwd=of.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **{k: v for k, v in home.items() if v},
             "PYTHONPATH": str(ROOT)})
    while not (journal.exists() and journal.stat().st_size):
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.005)     # not all the time: the processes that check want it
        assert process.returncode is None, process.communicate()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "interrupted; what is checked is kept" in err
    assert "Traceback" not in err
    assert {path.name for path in journal.parent.iterdir()} == {"unfinished.ndjson"}
    kept = journal.read_bytes().count(b"\n")
    assert 0 < kept < 550
    with open(journal, "ab") as file:       # as a run that was killed in the middle of a line
        file.write(b'{"schema": 1, "tool"')
    status, out, _ = of.hw("run", "sheet.toml", "big.ndjson", "--format", "json", "-j", "2")
    assert status == 1
    answer = json.loads(out)
    assert answer["reused"] + answer["checked"] == 550
    # Answers that are left to a person are checked again.
    assert kept - 20 <= answer["reused"] <= kept
    assert not journal.exists()
    of.hw("run", "sheet.toml", "big.ndjson", "-o", "whole", "-q")
    assert of.results() == of.results("whole")


def test_a_journal_of_another_sheet_does_not_count(of: Class) -> None:
    of.run()
    folder = of.folder / "results"
    shutil.copy(folder / "results.ndjson", folder / "unfinished.ndjson")
    (folder / "manifest.json").unlink()
    answer = of.run()
    assert (answer["checked"], answer["reused"]) == (0, 11)
    shutil.copy(folder / "results.ndjson", folder / "unfinished.ndjson")
    (folder / "manifest.json").unlink()
    (of.folder / "sheet.toml").write_text(SHEET.replace("sin(x^2)", "cos(x^2)"))
    assert of.run()["checked"] == 11
    (folder / "unfinished.ndjson").write_text("nothing of the kind\n")
    assert of.run()["checked"] == 0
    assert {path.name for path in folder.iterdir()} == FILES


# --- lint, diff, explain, stats, export -------------------------------------------------------

def test_lint_tells_the_right_answers(of: Class) -> None:
    status, out, err = of.hw("lint", "sheet.toml", "--format", "json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    valid(answer, "hw-lint")
    assert answer["sheet"]["max_score"] == 6
    one, _, two = answer["problems"]
    from math import cos, sin
    for value in one["values"]:
        x = value["at"]["x"]
        assert value["expected"] == pytest.approx(2*x*sin(x) + x*x*cos(x), rel=1e-13)
    for value in two["values"]:
        x, y = value["at"]["x"], value["at"]["y"]
        assert value["expected"] == pytest.approx([2*x + 3*y, 3*x], rel=1e-13)
    assert len(one["values"]) == 3
    assert all(problem["warnings"] == [] for problem in answer["problems"])


@pytest.mark.parametrize(("problem", "words"), [
    ('function = "x^3/2x"', "`x^3/(2*x)`"), ('function = "e^2x + x^2"', "`e^(2*x) + x^2`"),
    ('function = "sin x/2"', "`sin(x/2)`"), ('function = "sin x(x+1)"', "`sin(x*(x + 1))`"),
    ('function = "sin x^2"', "`sin(x)^2`"), ('function = "2^3x + x^2"', "`2^(3*x) + x^2`"),
    ('function = "ln(-x^2 - 1)"', "domain"), ('function = "7x"', "constant"),
])
def test_lint_warns(of: Class, problem: str, words: str) -> None:
    (of.folder / "sheet.toml").write_text(f'[[problem]]\nid = "1"\n{problem}\n')
    status, out, err = of.hw("lint", "sheet.toml")
    assert (status, err) == (0, "")
    warnings = [line for line in out.splitlines() if line.startswith("warning 1\t")]
    assert len(warnings) == 1
    assert words in warnings[0]
    assert "warning:" in bare(on_terminal(["hw", "lint", str(of.folder / "sheet.toml")])[1])


@pytest.mark.parametrize("problem", [
    'function = "x^2 sin(x)"', 'function = "x^2 + 3xy"\nwrt = "x"', 'function = "2 sin(x) cos(x)"',
    'function = "sqrt(1 + x^2)"', 'function = "1/(2x)"', 'function = "x^3/3 - x"',
    'function = "e^x + e^(-x)"', 'function = "e^(-x^2) - x^2"', 'function = "ln(x)/x"',
    'function = "(2x + 1)/(x^2 + 1)"', 'function = "x e^(-a x)"\nwrt = "x"\nparameters = "a"',
    *[f'kind = "partial"\nfunction = "{text}"\nwrt = "x"' for text in (
        "x^2 y^3", "2 x y^2", "x^2y", "e^x y")],
    *[f'function = "{text}"' for text in (
        "1/x + 1", "sin x cos x", "1/2 x^2", "sin 2x", "x^2 sin(x)/(x + 1)", "sqrt x + 1", "2^x x",
        "-x^2", "3/(2x)^2")]])
def test_lint_does_not_warn_of_what_is_clear(of: Class, problem: str) -> None:
    (of.folder / "sheet.toml").write_text(f'[[problem]]\nid = "1"\n{problem}\n')
    assert "warning" not in of.hw("lint", "sheet.toml")[1]


def test_lint_shows_few_digits_and_what_is_asked_for(of: Class) -> None:
    (of.folder / "sheet.toml").write_text(
        '[[problem]]\nid = "1"\nfunction = "x e^(-a x)"\nwrt = "x"\nparameters = "a"\norder = 2\n'
        '[[problem]]\nid = "2"\nkind = "directional"\nfunction = "x^2 y"\nwrt = "x,y"\n'
        'direction = [3, 4]\n')
    for arguments in ([], ["--format", "table"], ["--format", "markdown"]):
        out = of.hw("lint", "sheet.toml", *arguments)[1]
        assert not re.search(r"[1-9]\d{6}|[1-9]\d*\.\d{6}", out), out
        assert "second derivative of x*e^(-a*x) by x" in out.replace("\\", "")
        assert "directional derivative of x^2*y by x, y" in out.replace("\\", "")
        assert not re.search(r"[1-9]\d{3}|[1-9]\d*\.\d{3}", of.hw(
            "lint", "sheet.toml", *arguments, "--digits", "3")[1].replace("512 of 512", ""))
    answer = json.loads(of.hw("lint", "sheet.toml", "--format", "json")[1])
    assert [one["order"] for one in answer["problems"]] == [2, 1]
    assert re.search(r"\d\.\d{12}", json.dumps(answer))
    # For programs numbers are numbers, negative ones too, with all digits.
    table = csv.DictReader(of.hw("lint", "sheet.toml", "--format", "csv")[1].splitlines())
    assert [float(row["expected"]) for row in table] == [
        value["expected"] for one in answer["problems"] for value in one["values"]]


def test_what_the_format_of_a_sheet_cannot_say_is_not_advised(of: Class) -> None:
    for name, text, help in (
            ("l.txt", "1: x y\n", 'a list has no `wrt`: make it a sheet in TOML, and write wrt ='),
            ("c.csv", "id,function\n1,x y\n", "write x in the column wrt"),
            ("c.csv", "id,function,kind\n1,x y,directional\n", "write 3,4 in the column direction"),
            ("t.toml", '[[problem]]\nid = "1"\nfunction = "x y"\n', 'write wrt = "x"')):
        (of.folder / name).write_text(text)
        assert f"= help: {help}" in of.hw("lint", name)[2]


def test_lint_tells_what_is_wrong_and_the_rest(of: Class) -> None:
    (of.folder / "sheet.toml").write_text(
        SHEET + 'expected = "(2x + 3y, 2x)"\n[[problem]]\nid = "3"\nfunction = "x^2"\n'
        'accept = ["2x +"]\n')
    status, out, err = of.hw("lint", "sheet.toml")
    assert status == 3
    assert "1a\tderivative of x^2*sin(x)" in out
    assert 'expected = "(2x + 3y, 2x)"' in err
    assert "error[E0705]" in err
    assert "in problem 3" in err
    assert "error[E0704]" in of.hw("lint", "-", stdin=b"1: x^2 +\n")[2]


def test_diff_tells_which_marks_changed(of: Class) -> None:
    of.run("-o", "old")
    shutil.copytree(of.folder / "old", of.folder / "new")
    status, out, _ = of.hw("diff", "old", "new", "--format", "json")
    assert (status, json.loads(out)["changes"]) == (0, [])
    assert of.hw("diff", "old", "new")[:2] == (0, "changed\t0\n")
    of.hand_in("bob", ["2x cos x", "2x cos(x^2)", "<2x + 3y, 3y>"])
    of.run("-o", "new")
    status, out, _ = of.hw("diff", "old", "new", "--format", "json")
    answer = json.loads(out)
    valid(answer, "hw-diff")
    assert status == 1
    assert answer["changes"] == [{
        "student": "bob", "problem": "1b", "old_score": 0.5, "new_score": 1.0,
        "old_verdict": "wrong", "new_verdict": "correct", "why": ["answer changed"]}]
    for format in ("table", "plain", "csv", "tsv", "markdown"):
        text = of.hw("diff", "old", "new", "--format", format)[1]
        assert "bob" in text
        assert "answer changed" in text


def test_explain_tells_an_answer_in_full(done: Class) -> None:
    status, out, err = done.hw("explain", "bob", "1a", "--format", "json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    valid(answer, "hw-explain")
    from math import cos, sin
    x = answer["witness"]["at"]["x"]
    assert answer["witness"]["expected"] == pytest.approx(2*x*sin(x) + x*x*cos(x), rel=1e-13)
    assert answer["witness"]["got"] == pytest.approx(2*x*cos(x), rel=1e-13)
    assert (answer["file"], answer["line"]) == ("bob/answers.txt", 1)
    plain = dict(line.split("\t", 1) for line in done.hw("explain", "bob", "1a")[1].splitlines())
    assert plain["asked for"] == "derivative of x^2 sin(x) by x"
    assert plain["verdict"] == "wrong"
    assert plain["score"] == "0 of 2"
    assert done.hw("explain", "BOB", "1A") == done.hw("explain", "bob", "1a")
    for student, problem, words in (("ann", "1a", "correct"), ("cy", "1b", "blank"),
                                    ("di", "1a", "unreadable"), ("di", "2", "2 components")):
        for format in ("plain", "table", "markdown", "json"):
            status, out, _ = done.hw("explain", student, problem, "--format", format)
            assert status == 0
            assert words in out


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["an", "1a"], "E0742", "`ann`"), (["ann", "1c"], "E0743", "`1"),
    (["zzzz", "1a"], "E0742", "ann, bob"), (["eve", "1a"], "E0742", "handed nothing in"),
    (["\x1b[2J", "1a"], "E0742", "\\x1b")])
def test_explain_knows_whom_it_knows(
        done: Class, arguments: list[str], code: str, words: str) -> None:
    status, out, err = done.hw("explain", *arguments)
    assert (status, out) == (3, "")
    assert f"error[{code}]" in err
    assert words in err


@pytest.mark.parametrize("command", [["stats"], ["run", "sheet.toml", "subs", "-j", "1"]])
@pytest.mark.parametrize("format", homework_rows.FORMATS)
def test_the_summary_in_every_format(done: Class, command: list[str], format: str) -> None:
    status, out, _ = done.hw(*command, "--format", format)
    assert status == (command[0] == "run")
    assert out.endswith("\n")
    if format == "json":
        answer = json.loads(out)
        valid(answer, f"hw-{command[0]}")
        assert [one["right"] for one in answer["problems"]] == [2, 1, 2]
    elif format in ("csv", "tsv"):
        rows = list(csv.DictReader(io.StringIO(out), delimiter="\t" if format == "tsv" else ","))
        assert [(row["problem"], row["right"]) for row in rows] == [
            ("1a", "2"), ("1b", "1"), ("2", "2")]
        assert "missing_chain_factor 1" in rows[1]["mistakes"]
    elif format == "plain":
        assert "1b right\t1\n" in out
    elif format != "ndjson" or command[0] == "stats":
        assert "Chain rule" in out


@pytest.mark.parametrize("columns", ["60", "80", "140"])
@pytest.mark.parametrize("command", [["stats"], ["explain", "bob", "2"], ["lint", "sheet.toml"],
                                     ["explain", "di", "1a"]])
def test_what_a_person_sees(done: Class, columns: str, command: list[str],
                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(done.folder)
    status, out, err = on_terminal(["hw", *command], COLUMNS=columns)
    assert (status, err) == (0, "")
    assert "\x1b[1m" in out
    assert max(map(len, bare(out).splitlines())) <= int(columns)
    plain = on_terminal(["hw", *command, "--color=never"], COLUMNS=columns)[1]
    assert plain == bare(out)
    assert on_terminal(["hw", *command], encoding="ascii", COLUMNS=columns)[1].isascii()


def test_bars_show_how_it_went(done: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(done.folder)
    out = bare(on_terminal(["hw", "run", "sheet.toml", "subs"], COLUMNS="140")[1])
    (row,) = [line for line in out.splitlines() if line.startswith("1b")]
    assert row.count("\u2588") == 5        # one of four is right, two wrong, one blank
    assert row.count("\u2592") == 10
    assert row.count("\u00b7") == 5
    assert "missing_chain_factor 1" in row
    assert "1 answer waits for you in results/review.csv" in out


def test_gradebooks_of_learning_systems(of: Class) -> None:
    answer = of.run("--template", "canvas.csv", "--gradescope")
    (export,) = answer["exports"]
    assert (export["system"], export["count"]) == ("canvas", 2)
    assert export["unmatched"] == ["cy", "di"]
    folder = of.folder / "results"
    assert '"Annson, Ann",1,ann,ann@school.edu,A,6\n' in (
        folder / "gradebook-canvas.csv").read_text()
    assert len(list((folder / "gradescope").iterdir())) == 4
    (folder / "gradebook-canvas.csv").unlink()
    status, out, _ = of.hw("export", "--template", "canvas.csv", "--column", "Chain rule (77)",
                           "--gradescope", "--visibility", "hidden", "--format", "json")
    assert status == 0
    valid(json.loads(out), "hw-export")
    assert (folder / "gradebook-canvas.csv").exists()
    (one, *_) = (folder / "gradescope").iterdir()
    assert json.loads((one / "results.json").read_text())["visibility"] == "hidden"


def test_export_tells_what_it_wrote(of: Class) -> None:
    of.run()
    answer = json.loads(of.hw("export", "--template", "canvas.csv", "--format", "json")[1])
    written = {path.name for path in (of.folder / "results").iterdir()} - {
        "manifest.json", "notes.csv", "run.json", "sheet.toml", "students.ndjson"}
    assert {*answer["files"]} == written
    assert answer["files"]["feedback"] == len(list((of.folder / "results/feedback").iterdir()))
    for format in ("plain", "table", "markdown"):
        out = of.hw("export", "--template", "canvas.csv", "--format", format)[1]
        assert "gradebook-canvas.csv" in out.replace("\\", "")
        assert "2 marks in the column" in out
        assert "percent" not in out
        assert "mistakes" not in out
    assert of.hw("export", "--format", "csv")[1].startswith(
        "file,files\ndecisions.csv,1\nfeedback,")
    assert of.hw("export", "-q")[1] == ""


def test_stats_tell_mistakes_and_answers_that_several_gave(of: Class) -> None:
    for student in ("eve", "fay"):
        of.hand_in(student, ["2x cos x", "2x sin x", ""])
    of.run()
    out = bare(on_terminal(["hw", "stats", "--results", str(of.folder / "results")])[1])
    row, = re.findall(r"^1a .*$", out, re.MULTILINE)[:1]
    assert "product_of_derivatives" in row
    alike, = re.findall(r"^1a +2\*x\*cos\(x\) +(\d+) +(\w+)", out, re.MULTILINE)
    assert alike[1] == "product_of_derivatives"
    assert int(alike[0]) >= 2


def test_a_score_for_somebody_who_handed_nothing_in_counts(of: Class) -> None:
    (of.folder / "roster.csv").write_text(ROSTER + "zoe,Zoeson,Zoe,zoe@school.edu,A\n")
    arguments = ("--roster", "roster.csv")
    of.run(*arguments)
    assert of.gradebook()["zoe"]["status"] == "missing"
    before = len(of.results())
    (of.folder / "theirs.csv").write_text(
        "student_id,problem,override_score,comment\nzoe,1a,1.5,on paper\n")
    of.run(*arguments, "--overrides", "theirs.csv")
    row = of.gradebook()["zoe"]
    assert (row["1a"], row["score"], row["status"]) == ("1.5", "1.5", "graded")
    given, = [one for one in of.results() if one["student"] == "zoe"]
    assert (given["verdict"], given["override"]["comment"]) == ("blank", "on paper")
    assert len(of.results()) == before + 1
    kept = of.results()
    of.run(*arguments)      # review.csv has it now
    assert of.results() == kept
    assert of.hw("export", "-q")[0] == 0
    assert of.results() == kept
    (of.folder / "none.csv").write_text("student_id,problem,override_score,comment\n")
    assert of.hw("export", "--overrides", "none.csv", "-q")[0] == 0
    assert of.results() == kept     # a file that does not name her takes nothing back
    fill_review(of.folder / "results", "zoe", "1a", "")
    assert of.hw("export", "-q")[0] == 0
    assert len(of.results()) == before
    assert of.gradebook()["zoe"]["status"] == "missing"
    assert of.hw("export", "--overrides", "theirs.csv", "-q")[0] == 0
    assert of.results() == kept


def test_another_file_of_scores_takes_nothing_back(of: Class) -> None:
    """Each way to say something, in review.csv and in a file of their own, for what each names."""
    head = "student_id,problem,override_score,comment\n"
    ways = {"score": ("1", ""), "comment": ("", "see me"), "both": ("0.5", "nearly"),
            "nothing": ("", "")}
    for there, (score, comment) in ways.items():
        for theirs, (other, remark) in ways.items():
            of.run("--fresh", "-o", there + theirs)
            fill_review(of.folder / (there + theirs), "di", "1a", score, comment)
            (of.folder / "theirs.csv").write_text(
                f"{head}di,1a,{other},{remark}\nbob,1a,0.25,\n")
            expected = (other or score, remark or comment)
            for command in (["run", "sheet.toml", "subs", "--overrides", "theirs.csv"],
                            ["run", "sheet.toml", "subs"]):
                assert of.hw(*command, "-q", "-j", "1", "-o", there + theirs)[0] < 2
                given = {row[:2]: row[4:] for row in review_rows(of.folder / (there + theirs))}
                assert given["di", "1a"] == expected
                assert given["bob", "1a"] == ("0.25", "")
                lost = [said for said, taken in ((score, other), (comment, remark))
                        if said and taken and said != taken and "--overrides" in command]
                notes = (of.folder / (there + theirs) / "notes.csv").read_text()
                assert all(said in notes for said in lost), notes
                assert ("another file" in notes) == bool(lost), notes


# --- people whom nobody knows -----------------------------------------------------------------

NAMES = ["[/b]", "[link=a]b", "=cmd()", "-x", "a\x1b[2Jb", "\u202eevil", "a'\"b", "ü", "%s", ".."]


def test_names_are_names(of: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join([json.dumps({"student": name, "problem": id, "answer": answer}) + "\n"
                    for name in NAMES for id, answer in zip(("1a", "1b", "2"), (
                        "2x sin x", "[/b]", "\x1b]0;title\x07"), strict=True)])
    (of.folder / "odd.ndjson").write_text(text)
    monkeypatch.chdir(of.folder)
    status, out, err = on_terminal(["hw", "run", "sheet.toml", "odd.ndjson", "--color=never"])
    assert status == 1
    assert all(c.isprintable() or c == "\n" for c in out + err)
    for name in NAMES:
        status, out, err = on_terminal(["hw", "explain", "--color=never", "--", name, "1b"])
        assert status == 0, err
        assert all(c.isprintable() or c == "\n" for c in out)
    folder = of.folder / "results"
    assert {path.name for path in of.folder.iterdir()} >= {"results", "odd.ndjson"}
    assert len(list((folder / "feedback").iterdir())) == len(NAMES)
    for name in ("gradebook.csv", "review.csv", "notes.csv"):
        rows = list(csv.reader(io.StringIO((folder / name).read_text())))
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "-x"))]


def test_progress_is_for_people(of: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcli.render import progress

    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "STEP", -1.0)
    monkeypatch.chdir(of.folder)
    arguments = ["hw", "run", "sheet.toml", "subs", "-j", "1", "--fresh"]
    assert "running" in on_terminal(arguments)[2]
    assert "running" not in on_terminal(arguments, piped=("stderr",))[2]
    assert on_terminal([*arguments, "-q"])[1:] == ("", "")


def test_help_of_every_command() -> None:
    for row in homework_rows.ROWS:
        status, text, _ = in_process([*row.name.split(), "--help"])
        assert status == 0
        assert "Usage: gradcli " + row.name in text
        assert "Examples:" in text
        for option in row.options:
            assert option.flags[-1] in text
    status, text, _ = in_process(["--help"])
    assert status == 0
    assert "  check " in text
    assert "  hw " in text
