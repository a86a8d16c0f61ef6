"""One run after the other: manifests, results that still hold, changed marks, all files at once."""

from __future__ import annotations

import csv
import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from homework_made import CHAIN, HOSTILE, SHEET, TEXT, answer, checked, some

from gradcli.base.errors import GradcliError
from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking import marks, results
from gradcli.homework.marking.difference import difference
from gradcli.homework.marking.earlier import (
    file_hash,
    load_valid,
    manifest,
    problem_hash,
    read_manifest,
    text_hash,
)
from gradcli.homework.marking.output_folder import OutputFolder
from gradcli.homework.marking.override_rows import read_overrides
from gradcli.homework.marking.overrides import Override
from gradcli.homework.marking.results import Result
from gradcli.homework.reports import outputs
from gradcli.homework.sheets import formats
from gradcli.homework.sheets.sheet import Sheet


def run(path: Path, found: list[Result], of: Sheet = SHEET, **rest: Any) -> OutputFolder:
    """An output folder with results and a manifest."""
    folder = OutputFolder(str(path))
    with folder.open("results.ndjson") as stream:
        stream.writelines(map(results.line, found))
    folder.write("manifest.json", manifest(of, **rest).text())
    return folder


# --- manifest ---------------------------------------------------------------------------------


def test_a_manifest_comes_back(tmp_path: Path) -> None:
    files = dict.fromkeys(HOSTILE, text_hash("x"))
    made = manifest(SHEET, seed="s\u202e", roster="r", files=files, finished=False)
    (tmp_path / "manifest.json").write_text(made.text(), encoding="utf-8")
    back = read_manifest(str(tmp_path / "manifest.json"))
    assert back.text() == made.text()
    assert (back.seed, back.roster, back.overrides, back.finished) == ("s\u202e", "r", None, False)
    assert back.files == files
    assert list(back.problems) == ["1a", "1b", "2", "3"]
    assert made.text().replace("\n", "").isprintable()
    json.loads(made.text())


def test_a_problem_is_another_if_anything_that_counts_is() -> None:
    hashes = {problem_hash(SHEET["1a"])}
    for old, new in (("sin(x^2)", "sin(x^3)"), ("points = 2", "points = 4"),
                     ("= 0.5", "= 0.25"), ('id = "1a"', 'id = "1c"')):
        other = formats.parse(TEXT.replace(old, new, 1), "hw3.toml").problems[0]
        hashes.add(problem_hash(other))
    assert len(hashes) == 5
    same = formats.parse(TEXT.replace("Chain rule", "Other").replace("\n", "\r\n"), "hw3.toml")
    assert problem_hash(same["1a"]) == problem_hash(SHEET["1a"])


def test_files_are_hashed_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    # FIPS 180-2, appendix B.1.
    assert file_hash(str(tmp_path / "a")) == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    with pytest.raises(GradcliError) as caught:
        file_hash(str(tmp_path / "b"))
    assert caught.value.code == "E0601"


@pytest.mark.parametrize("spoil", [
    lambda o: "{", lambda o: "[]", lambda o: json.dumps({**o, "schema": 2}),
    lambda o: json.dumps({**o, "files": {"a": 1}}), lambda o: json.dumps({**o, "seed": True}),
    lambda o: json.dumps({**o, "sheet": {}}), lambda o: json.dumps({**o, "finished": 1}),
    lambda o: json.dumps({k: v for k, v in o.items() if k != "tool"}), lambda o: "[" * 99_999])
def test_what_is_no_manifest_is_refused(spoil: Callable[[dict[str, Any]], str], tmp_path: Path
                                        ) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(spoil(json.loads(manifest(SHEET).text())))
    with pytest.raises(GradcliError) as caught:
        read_manifest(str(path))
    assert caught.value.code == "E0747"
    assert caught.value.help


# --- results that still hold ------------------------------------------------------------------


def test_what_did_not_change_need_not_be_checked_again(tmp_path: Path) -> None:
    _, found = some()
    marks.overridden(found[4], Override(2.0, "by hand", None, 2))
    run(tmp_path, found)
    with load_valid(str(tmp_path), manifest(SHEET)) as earlier:
        typed = [result for result in found if result.answer]
        for result in typed:
            again = earlier.find(result.student, result.problem, result.answer, "new.txt", 9)
            assert again is not None
            assert (again.file, again.line, again.override) == ("new.txt", 9, None)
            assert again.verdict == result.verdict
        assert earlier.found == len(typed) == 8
        chain = earlier.find("s2", "1a", "cos(x^2)")
        assert chain is not None
        assert chain.score == 1.0       # without the override
        assert earlier.find("s2", "1a", "cos(x^2) ") is None
        assert earlier.find("s9", "1a", "cos(x^2)") is None


@pytest.mark.parametrize(("change", "rest", "left"), [
    (("sin(x^2)", "sin(x^3)"), {}, {"1b", "2", "3"}),
    (("points = 3", "points = 4"), {}, {"1a", "1b", "2", "3"}),
    (("factor = 0.5", "factor = 0.25"), {}, {"1a", "1b", "2", "3"}),
    (("hidden = true", ""), {}, {"1a", "1b", "2", "3"}),
    (("x^3", "x^4"), {}, {"1a", "1b", "2"}), (('"review"', '"note"'), {}, {"1a", "1b", "3"}),
    (("Chain rule", "Other"), {}, {"1a", "1b", "2", "3"}), (('"hw3"', '"hw4"'), {}, set()),
    (("", ""), {"seed": 1}, set()), (("", ""), {"tool": "gradcli 0.0"}, set())])
def test_what_changed_is_checked_again(
        change: tuple[str, str], rest: dict[str, Any], left: set[str], tmp_path: Path) -> None:
    _, found = some()
    run(tmp_path, found)
    new = formats.parse(TEXT.replace(*change), "hw3.toml")
    with load_valid(str(tmp_path), manifest(new, **rest)) as earlier:
        kept = [r for r in found if earlier.find(r.student, r.problem, r.answer)]
        assert {r.problem for r in kept} == left
        for result in kept:
            again = earlier.find(result.student, result.problem, result.answer)
            assert again is not None
            assert again.sheet_hash == new.hash


def test_the_old_results_may_be_replaced_while_they_are_read(tmp_path: Path) -> None:
    _, found = some()
    folder = run(tmp_path, found)
    with load_valid(str(tmp_path), manifest(SHEET)) as earlier, \
            folder.open("results.ndjson") as stream:
        for result in found[:8]:
            again = earlier.find(result.student, result.problem, result.answer)
            assert again is not None
            stream.write(results.line(again))
    assert len(list(results.read_results(str(tmp_path / "results.ndjson")))) == 8


@pytest.mark.parametrize("spoil", [
    lambda p: (p / "manifest.json").unlink(), lambda p: (p / "results.ndjson").unlink(),
    lambda p: (p / "manifest.json").write_text("{"), lambda p: (p / "results.ndjson").write_text(
        "{}\n")])
def test_what_cannot_be_read_is_checked_anew(spoil: Callable[[Path], Any], tmp_path: Path) -> None:
    _, found = some()
    run(tmp_path, found)
    spoil(tmp_path)
    with load_valid(str(tmp_path), manifest(SHEET)) as earlier:
        assert earlier.find("s1", "1a", found[0].answer) is None


def test_blank_and_undecided_answers_are_checked_again(tmp_path: Path) -> None:
    run(tmp_path, [answer("s", "1a", "", checked("unreadable")),
                   answer("s", "1b", "x", checked("undecided"))])
    with load_valid(str(tmp_path), manifest(SHEET)) as earlier:
        assert earlier.find("s", "1a", "") is None
        assert earlier.find("s", "1b", "x") is None


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    found = some()[1][:8]
    run(tmp_path, found, finished=False)
    path = tmp_path / "results.ndjson"
    path.write_bytes(path.read_bytes()[:-40])
    with load_valid(str(tmp_path), manifest(SHEET)) as earlier:
        kept = [r for r in found if earlier.find(r.student, r.problem, r.answer)]
    assert kept == found[:-1]


# --- hw diff ----------------------------------------------------------------------------------


def test_changed_marks_and_why(tmp_path: Path) -> None:
    _, old = some()
    run(tmp_path / "old", old)
    other = formats.parse(TEXT.replace("x^3", "x^4"), "hw3.toml")
    _, new = some()
    for result in new:
        result.sheet_hash = other.hash
    new[4] = answer("s2", "1a", "2x cos(x^2)", checked(), other)
    marks.overridden(new[6], Override(1.0, "legible", None, 2))
    new[3] = answer("s1", "3", "3x^2", checked("wrong"), other)
    new[5].score, new[5].verdict, new[5].tool = 3.0, "correct", "gradcli 9"
    new[8].score = 1.0
    gone = new.pop(9)
    new.append(answer("s9", "1a", "0", CHAIN, other))
    run(tmp_path / "new", new, other)
    changes = difference(str(tmp_path / "old"), str(tmp_path / "new" / "results.ndjson"))
    assert [tuple(c.fields().values()) for c in changes] == [
        ("s1", "3", 1.0, 0.0, "correct", "wrong", ["sheet changed"]),
        ("s2", "1a", 1.0, 2.0, "wrong", "correct", ["answer changed"]),
        ("s2", "1b", 1.5, 3.0, "wrong", "correct", ["tool"]),
        ("s2", "2", 0.0, 1.0, "unreadable", "unreadable", ["override"]),
        ("s3", "1a", 0.0, 1.0, "blank", "blank", ["unknown"]),
        (gone.student, gone.problem, 0.0, None, "blank", None, ["gone"]),
        ("s9", "1a", None, 1.0, None, "wrong", ["new"])]
    assert difference(str(tmp_path / "new"), str(tmp_path / "new")) == []


def test_without_manifests_any_change_of_the_sheet_may_be_the_reason(tmp_path: Path) -> None:
    one = answer("s", "1a", "x", checked())
    two = answer("s", "1a", "x", checked("wrong"), formats.parse(TEXT + "\n", "hw3.toml"))
    for name, result in (("old", one), ("new", two)):
        (tmp_path / name).write_text(results.line(result))
    change, = difference(str(tmp_path / "old"), str(tmp_path / "new"))
    assert change.why == ["sheet changed"]


# --- everything -------------------------------------------------------------------------------


def test_all_files_of_a_run(tmp_path: Path) -> None:
    students, found = some()
    template = tmp_path / "export.csv"
    template.write_text("Student,ID,Section,Chain rule (1)\n    Points Possible,,,7\n"
                        "Anybody,s1,A,\n")
    out = tmp_path / "out"
    done = outputs.write_outputs(
        OutputFolder(str(out)), SHEET, students, found, files=outputs.ALL,
        templates=[str(template), str(template)])
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()) == sorted([
        "gradebook.csv", "review.csv", "decisions.csv", "item-analysis.csv", "junit.xml",
        "gradebook-canvas.csv", "gradebook-canvas-2.csv",
        *[f"feedback/{p.name}" for p in (out / "feedback").iterdir()],
        *[f"gradescope/{p.name}/results.json" for p in (out / "gradescope").iterdir()]])
    assert len(list((out / "feedback").iterdir())) == 4
    assert len(list((out / "gradescope").iterdir())) == 3
    assert (out / "gradebook-canvas.csv").read_text().endswith("Anybody,s1,A,6\n")
    assert done.waiting == 3
    assert done.stats.numbers()["students"]["total"] == 4
    assert [f.count for f in done.exports] == [1, 1]


def test_one_student_has_gradescope_where_it_looks(tmp_path: Path) -> None:
    students, found = some()
    outputs.write_outputs(OutputFolder(str(tmp_path)), SHEET, students[:1], found[:4],
                          files=[outputs.GRADESCOPE])
    assert json.loads((tmp_path / "gradescope" / "results.json").read_text())["score"] == 6.0


def test_the_same_results_give_the_same_files(tmp_path: Path) -> None:
    students, found = some()
    for name, people in (("a", students), ("b", students[::-1])):
        outputs.write_outputs(OutputFolder(str(tmp_path / name)), SHEET, people, found)
    for path in (tmp_path / "a").rglob("*.*"):
        twin = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == twin.read_bytes()


def test_nothing_is_written_if_a_template_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n")
    students, found = some()
    with pytest.raises(GradcliError) as caught:
        outputs.write_outputs(OutputFolder(str(tmp_path / "out")), SHEET, students, found,
                              templates=[str(tmp_path / "x.csv")])
    assert caught.value.code == "E0745"
    assert not (tmp_path / "out").exists()


def test_nothing_half_written_is_left_when_a_run_stops(tmp_path: Path) -> None:
    students, found = some()
    folder = OutputFolder(str(tmp_path))
    folder.write("gradebook.csv", "old")

    def stops() -> Iterator[Result]:
        yield from found[:5]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outputs.write_outputs(folder, SHEET, students, stops())
    assert [n for n in os.listdir(tmp_path) if n != "feedback"] == ["gradebook.csv"]
    assert (tmp_path / "gradebook.csv").read_text() == "old"


def test_a_hostile_class(tmp_path: Path) -> None:
    names = sorted({*HOSTILE})
    students = [Student(n, n, n, n, n) for n in names]
    found = [answer(n, "1a", n, checked("undecided", message=n, read_as=n)) for n in names]
    out = tmp_path / "out"
    done = outputs.write_outputs(OutputFolder(str(out)), SHEET, students, found, files=outputs.ALL)
    assert done.waiting == len(names)
    assert len(list((out / "feedback").iterdir())) == len(names)
    assert os.listdir(tmp_path) == ["out"]
    for path in out.rglob("*.*"):
        if path.is_file():
            assert path.read_text(encoding="utf-8-sig").replace("\n", "").isprintable(), path
    with open(out / "review.csv", newline="", encoding="utf-8-sig") as file:
        table = list(csv.reader(file))
    assert len(table) == len(names) + 1
    for row in table[1:]:
        row[-2] = "0.5"
    with open(tmp_path / "review.csv", "w", newline="") as file:
        csv.writer(file).writerows(table)
    given = read_overrides(str(tmp_path / "review.csv"), SHEET, names)
    assert {key: o.score for key, o in given.items()} == {(n, "1a"): 0.5 for n in names}


def test_memory_does_not_grow_with_the_class(tmp_path: Path) -> None:
    problems = [p.id for p in SHEET.problems]
    students = [Student(f"s{k:05}") for k in range(1_000)]

    def many() -> Iterator[Result]:
        for student in students:
            for problem in problems:
                yield answer(student.id, problem, "cos(x^2)" * 10, CHAIN)

    tracemalloc.start()
    try:
        outputs.write_outputs(OutputFolder(str(tmp_path)), SHEET, students, many(),
                              files=[outputs.GRADEBOOK, outputs.REVIEW, outputs.ITEMS,
                                     outputs.JUNIT])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Half a megabyte does not grow; all 4,000 results would take 1.6 MB.
    assert peak < 1_000_000
