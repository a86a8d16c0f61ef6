"""gradebook.csv: a row for each student, a column for each problem.

The first columns follow nbgrader's export in name and meaning. Text that a spreadsheet would run
as a formula gets an apostrophe; numbers stay numbers.
"""

from __future__ import annotations

import csv

from gradcli.homework.harmless import cell, number
from gradcli.homework.marks import BLANK, MISSING, RIGHT, WAITING, WRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from gradcli.homework.marks import Marks
    from gradcli.homework.sheet import Sheet

COLUMNS = ("student_id", "last_name", "first_name", "email", "raw_score", "late_penalty", "score",
           "max_score", "percent", "n_correct", "n_wrong", "n_review", "n_blank", "status")


class Gradebook:
    """The file while it is written. raw: without apostrophes (`harmless.cell`)."""

    __slots__ = ("_raw", "_writer")

    def __init__(self, stream: TextIO, sheet: Sheet, raw: bool = False) -> None:
        self._raw = raw
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow([*COLUMNS, *[title(p.id, raw) for p in sheet.problems]])

    def add(self, marks: Marks) -> None:
        """The row of a student. A missing one has no score in a problem."""
        student = marks.student
        who = [student.id, student.last_name, student.first_name, student.email]
        missing = marks.status == MISSING
        self._writer.writerow([
            *[cell(text, self._raw) for text in who],
            *map(number, (marks.raw, marks.late_penalty, marks.score, marks.maximum,
                          marks.percent)),
            *[marks.count(kind) for kind in (RIGHT, WRONG, WAITING, BLANK)], marks.status,
            *["" if missing else number(result.score if result else 0.0)
              for result in marks.results]])


def title(problem: str, raw: bool = False) -> str:
    """The head of a problem's column: its id, told apart from the columns before."""
    return cell(f"problem {problem}" if problem in COLUMNS else problem, raw)
