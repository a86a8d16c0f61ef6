"""review.csv: what a person should look at, with two empty columns for what they say.

Rows that somebody filled in before stay, filled in, so that the file can be written over itself;
also those of an answer that has changed since, which then count nothing.
"""

from __future__ import annotations

import csv

from gradcli.homework.grade import waits
from gradcli.homework.harmless import cell, number, uncell
from gradcli.homework.overrides import EARLIER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from gradcli.checking.problem import Problem
    from gradcli.homework.marks import Marks
    from gradcli.homework.overrides import Override
    from gradcli.homework.results import Result
    from gradcli.homework.sheet import Sheet

COLUMNS = ("student_id", "problem", "reason", "verdict", "answer", "read_as", "mistake",
           "confidence", "message", "score", "max_score", "file", "line", "override_score",
           "comment")


class Review:
    """The file while it is written. raw: without apostrophes (`harmless.cell`). overrides: all
    that persons said, of earlier answers too.
    """

    __slots__ = ("_overrides", "_problems", "_raw", "_writer", "count")

    def __init__(self, stream: TextIO, sheet: Sheet, raw: bool = False,
                 overrides: Mapping[tuple[str, str], Override] | None = None) -> None:
        self._raw = raw
        self._overrides = overrides or {}
        self._problems = sheet.problems
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow(COLUMNS)
        self.count = 0

    def add(self, marks: Marks) -> None:
        """The rows of a student; `count` is how many still wait."""
        for problem, result in zip(self._problems, marks.results, strict=True):
            if result is None:
                continue
            self._add(problem, result)
            said = self._overrides.get((result.student, result.problem))
            for one in said.earlier(result.answer) if said is not None else ():
                self._add_earlier(result, one)

    def _add(self, problem: Problem, result: Result) -> None:
        """The row of an answer that waits, or of which a person said something."""
        reason, given = waits(problem, result), result.override
        if reason is None and given is None:
            return
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

    def _add_earlier(self, result: Result, said: Override) -> None:
        """The row of an answer that stood there before."""
        fields = dict.fromkeys(COLUMNS, "")
        fields.update(
            student_id=cell(result.student, self._raw), problem=cell(result.problem, self._raw),
            reason=EARLIER, answer=cell(uncell(said.answer or ""), self._raw),
            max_score=number(result.max),
            override_score="" if said.score is None else number(said.score),
            comment=cell(said.comment, self._raw))
        self._writer.writerow(fields.values())
