"""Nothing that is checked is lost: by runs at once, killed ones, full disks, changed sheets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from folders import ROOT
from homework_class import SHEET, Class

from gradcli.homework.marking import output_folder
from gradcli.homework.marking.output_folder import LOCK, OutputFolder


@pytest.fixture
def of(tmp_path: Path) -> Class:
    return Class(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


def command(of: Class, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    """A run in a process of its own; before: Python that it begins with."""
    program = f"import sys; {before or 'pass'}\nfrom gradcli.cli.main import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", program, "hw", "run", "sheet.toml", "subs", "-j", "1", "-q",
         *arguments], cwd=of.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)})


# --- two runs at once ---------------------------------------------------------------------------

HOLD = ("from gradcli.homework.marking.output_folder import OutputFolder as F; import time\n"
        "with F('results').alone(): print(1, flush=True); time.sleep({})\n")


def holder(of: Class, seconds: float) -> subprocess.Popen[str]:
    """A process that has the folder for itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(seconds)], cwd=of.folder, stdout=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    return process


def test_a_second_run_names_the_first(of: Class) -> None:
    of.run()
    before = contents(of.folder / "results")
    with holder(of, 60) as process:
        for arguments in (["run", "sheet.toml", "subs", "-q"], ["export"]):
            status, _, err = of.hw(*arguments)
            assert status == 3
            assert "E0750" in err
            assert f"process {process.pid}, since 20" in err
            assert "--wait" in err
        there = contents(of.folder / "results")
        assert there.pop(LOCK)
        assert there == before
        process.kill()
    assert of.run()["reused"] == 11     # nothing of a killed run is in the way
    assert contents(of.folder / "results").keys() == before.keys()


def test_a_second_run_waits(of: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_folder, "PAUSE", 0.01)
    with holder(of, 0.5):
        assert of.run("--wait")["checked"] == 11
    assert not (of.folder / "results" / LOCK).exists()


@pytest.mark.parametrize(("said", "free"), [
    ("", True), ("{", True), ("[1]", True), ('{"host": "elsewhere", "process": 1}', False),
    ("mine", True), ("init", False)])
def test_a_disk_without_locks(said: str, free: bool, of: Class, monkeypatch: pytest.MonkeyPatch
                              ) -> None:
    """Who is there is known by what the lock says."""
    def none(handle: int) -> None:
        raise OSError(95, "Operation not supported")

    gone = subprocess.Popen(["true"])
    gone.wait()
    here = output_folder._host()
    text = {"mine": json.dumps({"host": here, "process": gone.pid}),
            "init": json.dumps({"host": here, "process": 1})}.get(said, said)
    monkeypatch.setattr(output_folder, "_lock", none)
    folder = of.folder / "results"
    folder.mkdir()
    (folder / LOCK).write_text(text)
    assert (of.hw("run", "sheet.toml", "subs", "-q", "-j", "1")[0] == 1) == free
    assert (folder / LOCK).exists() != free


def test_runs_at_once_lose_nothing(of: Class) -> None:
    """Several, with decisions of their own each: all are in the end."""
    of.run()
    several = []
    for k, student in enumerate(("ann", "bob", "cy", "di")):
        (of.folder / f"{k}.csv").write_text(
            f"student_id,problem,override_score\n{student},1b,0.{k + 1}\n")
        several.append(command(of, "--overrides", f"{k}.csv", "--wait"))
    for process in several:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1, err
    assert {id: row["1b"] for id, row in of.gradebook().items()} == {
        "ann": "0.1", "bob": "0.2", "cy": "0.3", "di": "0.4"}


def test_a_list_that_is_saved_meanwhile_is_not_written_over(of: Class) -> None:
    of.run()
    folder = of.folder / "results"
    before = contents(folder)
    new = before["review.csv"] + b"bob,1a,,,,,,,,,,,,1,seen\n"

    class Slow(OutputFolder):
        def write(self, name: str, text: str) -> None:
            super().write(name, text)
            (folder / "review.csv").write_bytes(new)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradcli.cli.commands.homework.OutputFolder", Slow)
        status, _, err = of.hw("run", "sheet.toml", "subs", "-q", "-j", "1")
    assert status == 3
    assert "E0751" in err
    there = contents(folder)
    assert there.pop("review.csv") == new
    assert {**there, "review.csv": before["review.csv"]} == before


# --- killed runs and full disks -----------------------------------------------------------------


def test_a_killed_run_leaves_what_was(of: Class) -> None:
    """Killed while it writes, with files of whatever name."""
    of.run()
    folder = of.folder / "results"
    before = contents(folder)
    process = command(of, "--fresh", before="import os, signal\n"
                      "from gradcli.homework.marking import output_folder as o\n"
                      "o._rename = lambda *a: os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate(timeout=60)
    assert process.returncode == -9
    there = contents(folder)
    left = {name for name in there if name.startswith(".gradcli-")}
    assert len(left) > 5
    assert {name: data for name, data in there.items() if name in before} == {
        name: data for name, data in before.items() if name != "manifest.json"}
    assert of.run()["checked"] == 0
    assert contents(folder).keys() == before.keys()


LIMITED = ("import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
           "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))")


@pytest.mark.parametrize("limit", [0, 100, 400, 1500, 4000])
def test_a_full_disk_says_where_and_leaves_what_was(limit: int, of: Class) -> None:
    pytest.importorskip("resource")
    of.run()
    folder = of.folder / "results"
    before = contents(folder)
    of.hand_in("cy", ["2x sin x", "cos(x^2)", "(3x, 2x)"])
    process = command(of, before=LIMITED.format(limit))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "error[E0748]: cannot write `results/" in err
    assert "file too large" in err
    assert "make room" in err
    there = contents(folder)
    there.pop("unfinished.ndjson", None)
    assert there == before
    assert of.run()["answers"]["total"] == 12
    with suppress(FileNotFoundError):
        assert not (folder / "unfinished.ndjson").read_bytes()


# --- sheets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new", "scores"), [
    ("points = 2", "points = 4", {"ann": "4", "bob": "0", "cy": "4", "di": "0"}),
    ("points = 3", "points = 1", {"ann": "2", "bob": "0", "cy": "2", "di": "0"}),
    ("factor = 0.5", "factor = 0.25", {"ann": "2", "bob": "0", "cy": "2", "di": "0"})])
def test_what_a_problem_is_worth_checks_nothing_again(
        old: str, new: str, scores: dict[str, str], of: Class) -> None:
    of.run()
    (of.folder / "sheet.toml").write_text(SHEET.replace(old, new))
    assert of.run()["checked"] == 0
    assert {id: row["1a"] for id, row in of.gradebook().items()} == scores
    found = of.gradebook()
    of.run("--fresh", "-o", "again")
    assert of.gradebook("again") == found
    assert of.results() == of.results("again")


def test_a_file_that_cannot_be_read_is_not_checked_again(of: Class) -> None:
    (of.folder / "subs" / "di" / "answers.txt").write_bytes(b"1a: \x00")
    first = of.run()
    assert (first["checked"], first["answers"]["review"]) == (8, 3)
    before = of.results()
    again = of.run()
    assert (again["checked"], again["answers"]["review"]) == (0, 3)
    assert of.results() == before
