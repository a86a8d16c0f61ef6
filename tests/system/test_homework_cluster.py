"""`gradcli hw run` gives the same results whoever checks: this process, two, a Dask cluster, also
one that loses a worker on the way.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest
from folders import ROOT
from homework_made import TWO_PROBLEMS
from transcripts import in_process

from gradcli.homework.run import RunResults

# Importing Dask warns about what it finds or not; none of that is ours.
pytestmark = pytest.mark.filterwarnings("default")

SHEET = TWO_PROBLEMS + """\
[[problem]]
id = "3"
function = "sin(x^2)"
[[problem]]
id = "4"
kind = "implicit"
function = "x^2 + y^2 = 25"
[[problem]]
id = "5"
function = "x ln(x^2)"
"""
TYPED = {
    "1": ["2x sin x + x^2 cos x", "2x cos x", "x(2 sin x + x cos x)", "2x sin x", "sin(", ""],
    "2": ["<2x+3y, 3x>", "(2x + 3y, 3y)", "2x + 3y", "9^9^9^9"],
    "3": ["2x cos(x^2)", "cos(x^2)", "-2x cos(x^2)", "2x sin(x^2)", "cos(2x)"],
    "4": ["-x/y", "x/y", "-y/x", "-x/sqrt(25 - x^2)", "|"],
    "5": ["ln(x^2) + 2", "2 ln x + 2", "ln(x^2) + 1"]}
STUDENTS = 80


def results(folder: Path, out: str, *arguments: str) -> bytes:
    """results.ndjson of a run, without the times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transcripts.ROOT", folder)
        status, _, err = in_process(["hw", "run", "sheet.toml", "class.ndjson", "-q", "-o", out,
                                     *arguments])
    assert (status, err) == (1, "")
    text = (folder / out / "results.ndjson").read_bytes()
    return re.sub(rb'"ms": [0-9.e+-]+\}', b'"ms": 0}', text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class in which hardly two answers are the same text, so that they are checked."""
    (tmp_path / "sheet.toml").write_text(SHEET)
    with open(tmp_path / "class.ndjson", "w") as file:
        for k in range(STUDENTS):
            for id, typed in TYPED.items():
                text = typed[k % len(typed)]
                answer = text.replace(" ", " " * (k % 40 + 1))
                file.write(json.dumps({"student": f"s{k:03}", "problem": id, "answer": answer})
                           + "\n")
    return tmp_path


def test_whoever_checks_the_file_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch
                                             ) -> None:
    alone = results(folder, "one", "-j", "1")
    lines = alone.splitlines()
    assert len(lines) == STUDENTS * len(TYPED)
    assert {json.loads(line)["verdict"] for line in lines} == {
        "correct", "wrong", "unreadable", "blank", "domain"}
    assert results(folder, "two", "-j", "2") == alone
    assert results(folder, "again", "-j", "1", "--seed", "autumn") == alone

    seven = results(folder, "seven", "-j", "1", "--seed", "7")
    assert seven != alone
    assert results(folder, "seven again", "-j", "2", "--seed", "7") == seven
    # Other points, and the same verdicts.
    for line, other in zip(lines, seven.splitlines(), strict=True):
        one, two = json.loads(line), json.loads(other)
        assert [one[key] for key in ("student", "problem", "verdict", "mistake", "score")] == [
            two[key] for key in ("student", "problem", "verdict", "mistake", "score")]

    monkeypatch.setenv("PYTHONPATH", str(ROOT))     # for the workers
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
                      ) as cluster:
        address = cluster.scheduler_address
        assert results(folder, "cluster", "--scheduler", address) == alone
        pid = next(iter(cluster.workers.values())).process.pid
        killed = threading.Event()
        note = RunResults._note

        def noting(self: RunResults, outcomes: list[object]) -> None:
            """A worker is killed when the first answers come: others are under way then."""
            if not killed.is_set():
                os.kill(pid, signal.SIGKILL)
                killed.set()
            note(self, outcomes)    # type: ignore[arg-type]

        monkeypatch.setattr(RunResults, "_note", noting)
        assert results(folder, "killed", "--scheduler", address) == alone
        assert killed.is_set()
