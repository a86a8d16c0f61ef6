"""review.csv: what a person should look at, with two empty columns for what they say.

Rows that somebody filled in before stay, filled in, so that the file can be written over itself.
"""

from __future__ import annotations

import csv

from gradcli.homework.grade import waits
from gradcli.homework.harmless import cell, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from gradcli.homework.marks import Marks
    from gradcli.homework.sheet import Sheet

COLUMNS = ("student_id", "problem", "reason", "verdict", "answer", "read_as", "mistake",
           "confidence", "message", "score", "max_score", "file", "line", "override_score",
           "comment")


class Review:
    """The file while it is written. raw: without apostrophes (`harmless.cell`)."""

    __slots__ = ("_problems", "_raw", "_writer", "count")

    def __init__(self, stream: TextIO, sheet: Sheet, raw: bool = False) -> None:
        self._raw = raw
        self._problems = sheet.problems
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow(COLUMNS)
        self.count = 0

    def add(self, marks: Marks) -> None:
        """The rows of a student; `count` is how many still wait."""
        for problem, result in zip(self._problems, marks.results, strict=True):
            if result is None:
                continue
            reason, given = waits(problem, result), result.override
            if reason is None and given is None:
                continue
            self.count += reason is not None
            texts = (result.student, result.problem, reason or "overridden", result.verdict,
                     result.answer, result.read_as, result.mistake, result.confidence,
                     result.message)
            automatic = given["automatic"] if given else result.score
            self._writer.writerow([
                *[cell(text, self._raw) for text in texts], number(automatic),
                number(result.max), cell(result.file, self._raw),
                "" if result.line is None else result.line,
                number(given["score"]) if given else "",
                cell(given["comment"], self._raw) if given else ""])
