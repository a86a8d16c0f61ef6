"""What each student gets: the results of one, added up.

Every problem of the sheet counts once, as right, wrong, waiting for a person or blank. A student
of the roster who handed nothing in is `missing`. A late penalty is a fraction of what was reached.
"""

from __future__ import annotations

from itertools import groupby

from gradcli.homework.grade import PLACES, waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gradcli.checking.problem import Problem
    from gradcli.homework.people import Student
    from gradcli.homework.results import Result
    from gradcli.homework.sheet import Sheet

RIGHT, WRONG, WAITING, BLANK = "right", "wrong", "review", "blank"
GRADED, MISSING = "graded", "missing"


class Marks:
    """One student's marks.

    results: one for each problem of the sheet, in its order; None where nothing was handed in.
    kinds: how each counts. raw: the points, before late_penalty. status: `graded`, `review` (an
    answer waits for a person), `blank` (no answer at all) or `missing` (nothing handed in).
    """

    __slots__ = ("kinds", "late_penalty", "maximum", "raw", "results", "score", "status",
                 "student")

    def __init__(self, student: Student, problems: Iterable[Problem],
                 results: Mapping[str, Result], late: float = 0.0) -> None:
        problems = tuple(problems)
        self.student = student
        self.results = [results.get(problem.id) for problem in problems]
        self.kinds = [kind(problem, result)
                      for problem, result in zip(problems, self.results, strict=True)]
        self.maximum = round(sum([float(problem.points) for problem in problems]), PLACES)
        self.raw = round(sum([result.score for result in self.results if result]), PLACES)
        self.late_penalty = round(self.raw * late, PLACES) if student.late else 0.0
        self.score = round(max(0.0, self.raw - self.late_penalty), PLACES)
        self.status = self._status()

    def _status(self) -> str:
        if not self.student.handed_in and not any(self.results):
            return MISSING
        if WAITING in self.kinds:
            return WAITING
        return GRADED if {*self.kinds} - {BLANK} or not self.kinds else BLANK

    def count(self, kind: str) -> int:
        """How many problems count so."""
        return self.kinds.count(kind)

    @property
    def percent(self) -> float | None:
        """The score in percent, to two decimals; None if there are no points to be had."""
        return round(100 * self.score / self.maximum, 2) if self.maximum else None


def kind(problem: Problem, result: Result | None) -> str:
    """How an answer counts. A score that a person gave says it alone."""
    if result is None:
        return BLANK
    if result.override is not None and result.override["score"] is not None:
        return RIGHT if result.score >= result.max else WRONG
    if waits(problem, result) is not None:
        return WAITING
    if result.verdict == "blank":
        return BLANK
    if result.verdict == "correct" or (
            result.verdict == "domain" and problem.domain_policy == "note"):
        return RIGHT
    return WRONG


def class_marks(sheet: Sheet, students: Iterable[Student], results: Iterable[Result],
                late: float = 0.0) -> Iterator[Marks]:
    """Everybody's marks, by id; one student's results are in memory at a time.

    results: those of a student one behind the other, students in the order of their ids
    (`results.in_order`), none that `students` does not name.
    """
    groups = groupby(results, key=lambda result: result.student)
    name, group = next(groups, ("", None))
    for student in sorted(students, key=lambda student: student.id):
        found: dict[str, Result] = {}
        if group is not None and name == student.id:
            found = {result.problem: result for result in group}
            name, group = next(groups, ("", None))
        yield Marks(student, sheet.problems, found, late)
    if group is not None:
        raise ValueError(f"results of {name!r} stand where no student of the class does")
