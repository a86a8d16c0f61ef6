"""samples/homework, and docs/homework.md: a class that is graded as by hand.

tests/data/homework/class.csv has the verdict on each answer and the mistake that was made in it:
written down with the answers, verdicts settled by sympy. A mistake with several names is one that
several rules make. The files in golden/ are what a run writes (`pytest --update-golden`).

The sessions of the page and of docs/teacher.md (```console session) are run in order, at a
terminal, in a copy of samples/.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Ran
from conftest import folded
from folders import DATA, ROOT
from printed import as_shown
from transcripts import in_process, on_terminal, steps

from gradcli.homework.check import check, prepare
from gradcli.homework.checking.problem import DEFAULTS
from gradcli.homework.handed_in.folder import open_folder
from gradcli.homework.handed_in.roster import open_roster
from gradcli.homework.mistakes.rules import RULES
from gradcli.homework.sheets import formats
from gradcli.homework.sheets.formats import open_sheet
from gradcli.homework.sheets.sheet import OPTIONS, Sheet
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.names import ProblemNames

SAMPLES = ROOT / "samples/homework"
FOLDER = DATA / "homework"
PAGE = ROOT / "docs/homework.md"
TUTORIAL = ROOT / "docs/teacher.md"
SEEDS = range(0, 20, 5)  # all twenty agree; these keep the suite short


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


CLASS = {(row["student"], row["problem"]): row for row in rows(FOLDER / "class.csv")}


# --- the class --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    return open_sheet(str(SAMPLES / "sheet.toml"))


@pytest.fixture(scope="module")
def answers(sheet: Sheet) -> dict[tuple[str, str], str]:
    """(student, problem) to what was typed, as the files say."""
    roster = open_roster(str(SAMPLES / "roster.csv"))
    found = open_folder(str(SAMPLES / "submissions"), sheet, roster)
    return {(one.student, one.problem): one.answer for each in found for one in each.answers}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run."""
    out = tmp_path_factory.mktemp("class") / "results"
    status, stdout, stderr = in_process([
        "hw", "run", str(SAMPLES / "sheet.toml"), str(SAMPLES / "submissions"), "--roster",
        str(SAMPLES / "roster.csv"), "--out", str(out), "-j", "1", "--feedback", "full"])
    assert status == 1, stdout + stderr
    return out


@pytest.fixture(scope="module")
def results(graded: Path) -> dict[tuple[str, str], dict[str, Any]]:
    found = [json.loads(line) for line in (graded / "results.ndjson").read_text().splitlines()]
    return {(one["student"], one["problem"]): one for one in found}


def test_the_class_is_a_class(sheet: Sheet, answers: dict[tuple[str, str], str]) -> None:
    assert {problem.kind for problem in sheet.problems} >= {
        "value", "partial", "gradient", "jacobian", "hessian", "directional", "implicit",
        "parametric", "tangent", "derivative"}
    assert {*answers} == {*CLASS}
    assert len({student for student, _ in CLASS}) == 30
    assert len(rows(SAMPLES / "roster.csv")) == 32
    verdicts = [row["verdict"] for row in CLASS.values()]
    assert all(verdicts.count(v) >= 3 for v in ("correct", "wrong", "domain", "unreadable"))


def test_every_answer_gets_the_verdict_that_it_has(
        results: dict[tuple[str, str], dict[str, Any]]) -> None:
    told = {key: (one["answer"], one["verdict"]) for key, one in results.items()}
    assert told == {key: (told[key][0], row["verdict"]) for key, row in CLASS.items()}


def test_every_mistake_is_named(results: dict[tuple[str, str], dict[str, Any]]) -> None:
    missed, first, total = {}, 0, 0
    for key, row in CLASS.items():
        names = {*row["mistake"].split()}
        if not names:
            continue
        one = results[key]
        total += 1
        first += one["mistake"] in names
        if not names & {one["mistake"], *one["also"]}:
            missed[key] = (one["answer"], names, one["mistake"], one["also"])
    assert not missed
    assert total > 100
    assert first >= 0.9 * total


def test_what_is_right_has_no_mistake(results: dict[tuple[str, str], dict[str, Any]]) -> None:
    for one in results.values():
        if one["verdict"] != "wrong":
            assert one["mistake"] is None
            assert one["also"] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_do_not_depend_on_the_points(
        seed: int, sheet: Sheet, answers: dict[tuple[str, str], str]) -> None:
    ready = {problem.id: prepare(problem, seed) for problem in sheet.problems}
    checked: dict[tuple[str, str], str] = {}
    for (student, problem), text in answers.items():
        if (problem, text) not in checked:
            checked[problem, text] = check(ready[problem], text)["verdict"]
        assert checked[problem, text] == CLASS[student, problem]["verdict"], (problem, text)


@pytest.mark.parametrize("name", ["gradebook.csv", "review.csv", "item-analysis.csv", "feedback"])
def test_what_a_run_writes(
        name: str, graded: Path, golden: Callable[[Path, str], None]) -> None:
    paths = sorted((graded / name).iterdir()) if name == "feedback" else [graded / name]
    if name == "feedback":
        kept = {path.name for path in (FOLDER / "golden" / name).glob("*")}
        assert kept <= {path.name for path in paths}
        assert len(paths) == 32
    for path in paths:
        golden(FOLDER / "golden" / path.relative_to(graded), path.read_bytes().decode())


@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_exports_are_filled_in(
        system: str, graded: Path, golden: Callable[[Path, str], None]) -> None:
    status, _, stderr = in_process([
        "hw", "export", "--results", str(graded), "--template", str(SAMPLES / f"{system}.csv")])
    assert status == 0, stderr
    text = (graded / f"gradebook-{system}.csv").read_bytes().decode()
    golden(FOLDER / "golden" / f"gradebook-{system}.csv", text)
    scores = {row["student_id"]: row["score"] for row in rows(graded / "gradebook.csv")
              if row["status"] != "missing"}
    before = (SAMPLES / f"{system}.csv").read_bytes().decode().splitlines()
    after = text.splitlines()
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 30
    for student, score in scores.items():
        line, = [line for line in after if f"{student}," in line or f"{student}@" in line]
        assert score in line.split(",")


# --- the page ---------------------------------------------------------------------------------

TEXT = PAGE.read_text(encoding="utf-8")


def table(section: str, part: int = 0) -> Iterator[list[str]]:
    """The rows of a section's table, cells without backquotes where they are all code."""
    text = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    tables = re.findall(r"((?:^\|.*\n)+)", text, re.M)
    for line in tables[part].splitlines()[2:]:
        yield [cell.strip().replace("\\|", "|")
               for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def code(cell: str) -> str:
    found = re.fullmatch(r"`(.+)`", cell)
    assert found, cell
    return found[1]


def asked(example: str) -> dict[str, Any]:
    """What an example of the page answers: a command, or an object for --batch."""
    if example.startswith("{"):
        _, out, error = in_process(["check", "--batch", "-"], example.encode())
    else:
        words = shlex.split(example)
        assert words[0] == "gradcli"
        _, out, error = in_process([*words[1:], "--format", "json"])
    assert not error or json.loads(out)["verdict"] == "unreadable", error
    found: dict[str, Any] = json.loads(out)
    return found


MISTAKES = [(code(name), code(example)) for name, example, _ in table("Mistakes")]


@folded
@pytest.mark.parametrize(("name", "example"), MISTAKES, ids=[name for name, _ in MISTAKES])
def test_each_mistake_has_an_example(name: str, example: str) -> None:
    assert asked(example)["mistake"] == name


def test_no_mistake_is_missing_on_the_page() -> None:
    names = [name for name, _ in MISTAKES]
    assert len(names) == len({*names})
    assert {rule.name for rule in RULES} <= {*names}
    expected = {name for row in CLASS.values() for name in row["mistake"].split()}
    assert expected <= {*names}


@pytest.mark.parametrize(("verdict", "example"), [
    (code(verdict), code(example)) for verdict, _, example in table("Verdicts")])
def test_verdicts_of_the_page(verdict: str, example: str) -> None:
    assert asked(example)["verdict"] == verdict


@pytest.mark.parametrize(("kind", "example"), [
    (code(kind), code(example)) for kind, _, example in table("Kinds of problems")])
def test_kinds_of_the_page(kind: str, example: str) -> None:
    assert asked(example)["verdict"] == "correct"
    assert asked(f"{example} --kind {kind}" if "--kind" not in example else example)[
        "verdict"] == "correct"
    assert f"--kind {kind}" in example or "--kind" not in example


@folded
@pytest.mark.parametrize(("typed", "read_as"), [
    (code(typed), code(read_as)) for typed, read_as in table("What students may write")])
def test_what_students_may_write(typed: str, read_as: str) -> None:
    assert read(typed, ProblemNames(("x",))).read_as == read_as


def test_keys_of_the_page() -> None:
    assert {code(key) for key, _ in table("The sheet")} == {*DEFAULTS}
    elsewhere = " ".join([key for key, _ in table("The sheet", 1)])
    named = {*re.findall(r"`\[?(?:\w+\.)?(\w+)\]?`", elsewhere)}
    assert named == {*formats.TABLES, *formats.HEAD, *formats.LATE, *OPTIONS} - {
        "problem"}


# --- sessions ---------------------------------------------------------------------------------


def sessions(page: Path) -> list[tuple[str, str]]:
    """The commands of a page's sessions with what they print, in order."""
    parts = page.read_text(encoding="utf-8").split("```console session\n")[1:]
    return [step for part in parts for step in steps(part.split("```")[0])]


def left(text: str) -> str:
    """What stays on a terminal of what was sent to it: a progress bar is wiped out."""
    lines = [""]
    at = 0
    for sign, rest in re.findall(r"(\x1b\[[?0-9;]*[A-Za-z]|[\r\n])?([^\x1b\r\n]*)", text):
        if sign == "\n":
            at += 1
            lines += [""] * (at + 1 - len(lines))
        elif sign == "\r" or sign.endswith("K"):
            lines[at] = ""
        elif sign.endswith("A"):
            at -= int(sign[2:-1])
        lines[at] += rest
    return "\n".join([line.rstrip() for line in lines])


def timeless(text: str) -> str:
    """Without how long it took."""
    return re.sub(r"in [\d.]+ \w+ \([\d,]+ a second\)", "in no time", text).rstrip("\n")


@pytest.mark.parametrize("page", [PAGE, TUTORIAL], ids=["homework", "teacher"])
def test_sessions_print_what_is_shown(
        page: Path, tmp_path: Path, shim: Path, request: pytest.FixtureRequest) -> None:
    shutil.copytree(ROOT / "samples/homework", tmp_path / "samples/homework")
    folder = tmp_path
    text = page.read_text(encoding="utf-8")
    at, shown, printed = 0, [], []
    for command, output in sessions(page):
        if command.startswith("cd "):
            folder = folder / command[3:]
            continue
        found = left(on_terminal(command, folder, shim))
        start = text.index(f"$ {command}\n{output}", at) + len(f"$ {command}\n")
        text = text[:start] + found + text[start + len(output):]
        at = start + len(found)
        shown.append((command, timeless(output)))
        printed.append((command, as_shown(timeless(found), timeless(output))))
    if request.config.getoption("--update-golden"):
        page.write_text(text, encoding="utf-8")
        return
    assert shown
    assert printed == shown


def test_status_of_a_run(gradcli: Callable[..., Ran], tmp_path: Path) -> None:
    """1 because answers are wrong, 0 if that is no failure."""
    arguments = ["hw", "run", str(SAMPLES / "sheet.toml"), str(SAMPLES / "submissions"), "--out",
                 str(tmp_path / "results"), "-j", "2"]
    assert gradcli(*arguments, "-q").returncode == 1
    assert gradcli(*arguments, "-q", "--exit-zero").returncode == 0
