"""A class in a folder, and the commands of homework run in it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from asked import valid
from homework_made import HEAD
from transcripts import in_process

from gradcli.homework.marking.results import read_results

SHEET = HEAD + """\
[[problem]]
id = "1a"
function = "x^2 sin(x)"
points = 2
[[problem]]
id = "1b"
function = "sin(x^2)"
[[problem]]
id = "2"
kind = "gradient"
function = "x^2 + 3xy"
wrt = ["x", "y"]
points = 3
"""
CLASS = {
    "ann": ["2x sin x + x^2 cos x", "2x cos(x^2)", "<2x + 3y, 3x>"],
    "bob": ["2x cos x", "cos(x^2)", "<2x + 3y, 3y>"],
    "cy": ["x(2 sin x + x cos x)", "", "(2x+3y, 3x)"],
    "di": ["2x sin x + x^2 cos(", "-2x cos(x^2)", "2x + 3y"],
}
ROSTER = "student_id,last_name,first_name,email,section\n" + "".join([
    f"{id},{id.title()}son,{id.title()},{id}@school.edu,A\n" for id in (*CLASS, "eve")])
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Chain rule (77)
    Points Possible,,,,,6
"Annson, Ann",1,ann,ann@school.edu,A,
"Bobson, Bob",2,bob,bob@school.edu,A,
"""
class Class:
    """A folder with a sheet and what was handed in; commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sheet.toml").write_text(SHEET)
        (folder / "roster.csv").write_text(ROSTER)
        (folder / "canvas.csv").write_text(CANVAS)
        for student, texts in CLASS.items():
            self.hand_in(student, texts)

    def hand_in(self, student: str, texts: list[str]) -> None:
        path = self.folder / "subs" / student
        path.mkdir(parents=True, exist_ok=True)
        (path / "answers.txt").write_text("".join(
            [f"{id}: {text}\n" for id, text in zip(("1a", "1b", "2"), texts, strict=True)]))

    def hw(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("transcripts.ROOT", self.folder)
            return in_process(["hw", *arguments], stdin)

    def run(self, *arguments: str, jobs: str = "1") -> dict[str, Any]:
        """The summary of a run, held to its schema."""
        status, out, err = self.hw("run", "sheet.toml", "subs", "--format", "json", "-j", jobs,
                                   *arguments)
        assert status in (0, 1), err
        answer: dict[str, Any] = json.loads(out)
        valid(answer, "hw-run")
        return answer

    def results(self, folder: str = "results") -> list[dict[str, Any]]:
        return [one.comparable() for one in
                read_results(str(self.folder / folder / "results.ndjson"))]

    def gradebook(self, folder: str = "results") -> dict[str, dict[str, str]]:
        with open(self.folder / folder / "gradebook.csv", newline="") as file:
            return {row["student_id"]: row for row in csv.DictReader(file)}
