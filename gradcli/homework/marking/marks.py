"""Scores of answers, and the marks of each student: the results of one, added up.

Right is everything, and so is right with gaps in the domain unless the sheet says otherwise. A
wrong answer gets the fraction of its entries that are right or the credit that the sheet gives for
the mistake, whichever is more, but only for a mistake that is sure. What a person must look at
counts nothing until then. A score that a person gave always wins.

Every problem of the sheet counts once, as right, wrong, waiting for a person or blank. A student of
the roster who handed nothing in is `missing`. A late penalty is a fraction of the points reached.
"""

from __future__ import annotations

from itertools import groupby

from gradcli.homework.checking.outcome import WAITS
from gradcli.homework.marking.results import SCHEMA, TOOL, Result
from gradcli.homework.sheets.cells import DIGITS, point, rounded
from gradcli.render.numbers import apart, elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.handed_in.records import Student
    from gradcli.homework.marking.overrides import Override
    from gradcli.homework.sheets.sheet import Sheet


RIGHT, WRONG, WAITING, BLANK = "right", "wrong", "review", "blank"
GRADED, MISSING = "graded", "missing"


class Marks:
    """One student's marks.

    results: one for each problem of the sheet, in its order; None where nothing was handed in.
    kinds: how each counts.
    raw: the points, before late_penalty.
    status: `graded`, `review` (an answer waits for a person), `blank` (no answer at all) or
        `missing` (nothing handed in).
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
        """Return the number of problems of this kind."""
        return self.kinds.count(kind)

    @property
    def open(self) -> str:
        """Return what a student is told of the answers that wait for a person; "" of none."""
        count = self.count(WAITING)
        return f"{count} answer{'s wait' if count > 1 else ' waits'} for a person" if count else ""

    @property
    def percent(self) -> float | None:
        """Return the score in percent, to two decimals; None if the maximum is 0."""
        return round(100 * self.score / self.maximum, 2) if self.maximum else None


def kind(problem: Problem, result: Result | None) -> str:
    """Return how an answer counts: RIGHT, WRONG, WAITING or BLANK. A score that a person gave
    decides.
    """
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
    """Yield everybody's marks, by id; one student's results are in memory at a time.

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


# --------------------------------------------------------------------------------------------------
# What a student, or a log that students see, is told of an answer.
#
# Levels: `none`; `verdict` (and the score); `hint` (how it was read, and the sentence that names
# the
# mistake); `full` (a point with the expected value and the given one, rounded). Of a hidden problem
# only the verdict is told, whatever the level. What a person wrote is always told.

NONE, VERDICT, HINT, FULL = LEVELS = ("none", "verdict", "hint", "full")

WORDS = {"correct": "right", "wrong": "not right", "domain": "right, but not wherever it should be",
         "undecided": "a person will look at it",
         "unreadable": "could not be read by the program: a person will look at it",
         "blank": "no answer"}
COUNTS = "not right, but counts in full"


class Feedback:
    """The feedback on one answer, nothing escaped yet.

    verdict: in words.
    read_as, message, witness: "" where the level leaves them out.
    comment: of a person.
    waits: whether a person decides yet.
    """

    __slots__ = ("comment", "message", "read_as", "verdict", "waits", "witness")

    def __init__(self, verdict: str, comment: str = "", waits: bool = False) -> None:
        self.verdict = verdict
        self.comment = comment
        self.waits = waits
        self.read_as = self.message = self.witness = ""


def feedback(problem: Problem, result: Result | None, level: str) -> Feedback:
    """Return the feedback on a result at a level."""
    if result is None:
        return Feedback(WORDS["blank"])
    given = result.override
    found = Feedback(_verdict(problem, result), given["comment"] if given else "",
                     kind(problem, result) == WAITING)
    if problem.hidden or level not in (HINT, FULL) or result.verdict == "blank":
        return found
    # What was made of an answer that could not be read is no reading.
    found.read_as = (result.read_as or "") if result.verdict != "unreadable" else ""
    if kind(problem, result) == RIGHT and result.verdict != "domain":
        return found
    # A message tells the witness too, expected value and all.
    if result.hint or not result.witness:
        found.message = result.hint or result.message or ""
        if given is not None and given["score"] is not None:
            found.message = found.message.partition(WAITS)[0]
    if level == FULL:
        found.witness = _witness(result)
    return found


def _verdict(problem: Problem, result: Result) -> str:
    """Return the verdict in words, or the decision of a person in its place."""
    counts = kind(problem, result)
    if result.override is not None and result.override["score"] is not None:
        if counts == RIGHT:
            return "accepted"
        return "accepted in part" if result.score else "not accepted"
    if counts == WAITING and result.verdict != "unreadable":
        # A wrong answer whose mistake is not sure is still a wrong answer.
        sure = result.verdict == "wrong" and result.doubt is None
        return f"{WORDS['wrong'] if sure else ''}; {WORDS['undecided']}".removeprefix("; ")
    if result.verdict == "wrong" and result.score >= result.max > 0:    # it follows rightly
        return COUNTS
    return WORDS["blank"] if counts == BLANK else WORDS[result.verdict]


def _witness(result: Result) -> str:
    """Describe a point at which the answer differs; "" where none is known."""
    found = result.witness
    if not found:
        return ""
    expected, got = (found.get(key) for key in ("expected", "got"))
    at = found.get("at")
    where = f"at {point(at)} " if isinstance(at, dict) and at else ""
    digits = max([apart(one, dict(elements(got)).get(index), DIGITS)
                  for index, one in elements(expected)], default=DIGITS)
    return (f"{where}the value is {rounded(expected, digits)}, and the answer gives"
            f" {rounded(got, digits)}")


PLACES = 9      # decimals of a sum of scores: 0.1 of 3 points is 0.3
FINER = PLACES + 3      # and of one score: three times two thirds are two


def result(sheet: Sheet, problem: Problem, student: str, answer: str, checked: Mapping[str, Any],
           seed: int | str = 0, file: str | None = None, line: int | None = None,
           doubt: str | None = None, beside: str | None = None) -> Result:
    """Return the marked result of an answer that was checked.

    checked: the result of `homework.check`.
    seed: of the points.
    file, line: the location of the answer.
    doubt, beside: as of `handed_in.records.Answer`.
    """
    return Result({
        "schema": SCHEMA, "tool": TOOL, "sheet": sheet.id, "sheet_hash": sheet.hash,
        "student": student, "problem": problem.id, "answer": answer,
        "read_as": checked.get("read_as"), "verdict": checked["verdict"],
        "score": score(problem, checked), "max": float(problem.points),
        "mistake": checked.get("mistake"), "also": list(checked.get("also") or ()),
        "confidence": checked.get("confidence"), "message": checked.get("message"),
        "witness": checked.get("witness"), "points": checked.get("points"), "seed": seed,
        "file": file, "line": line, "override": None, "fingerprint": checked.get("fingerprint"),
        "hint": checked.get("hint"), "doubt": doubt, "beside": beside,
        "share": checked.get("score") or 0.0, "ms": checked.get("ms")})


def counted(problem: Problem, result: Result) -> None:
    """Count the points of a result anew: what the problem is worth may have changed."""
    result.max = float(problem.points)
    result.score = score(problem, {"verdict": result.verdict, "score": result.share,
                                   "confidence": result.confidence, "mistake": result.mistake})


def score(problem: Problem, checked: Mapping[str, Any]) -> float:
    """Return the points, from 0 to the problem's."""
    return round(fraction(problem, checked) * problem.points, FINER)


def fraction(problem: Problem, checked: Mapping[str, Any]) -> float:
    """Return the share of the points, from 0 to 1."""
    verdict = checked["verdict"]
    if verdict == "correct" or (verdict == "domain" and problem.domain_policy == "note"):
        return 1.0
    if verdict != "wrong":
        return 0.0
    entries = float(checked.get("score") or 0.0)
    credit = 0.0
    if checked.get("confidence") == "high" and checked.get("mistake") is not None:
        credit = float(problem.credit.get(checked["mistake"], 0.0))
    return min(1.0, max(0.0, entries, credit))


def overridden(result: Result, override: Override) -> None:
    """Give the result the score (if there is one) and the comment of a person."""
    automatic = result.score if result.override is None else result.override["automatic"]
    result.override = {"score": override.score, "comment": override.comment,
                       "automatic": automatic}
    result.score = automatic if override.score is None else override.score


def changed(result: Result, before: float) -> None:
    """Say that a person gave a score to an earlier answer, and none to this one."""
    result.override = {"score": None, "comment": "", "automatic": result.score,
                       **(result.override or {}), "earlier": before}


def automatic(result: Result) -> None:
    """Take back the score and the comment of a person."""
    if result.override is not None:
        result.score, result.override = result.override["automatic"], None


def waits(problem: Problem, result: Result) -> str | None:
    """Return why a person should look at the answer; None if nobody need, or somebody has."""
    if (result.override is not None and result.override["score"] is not None) or not result.max:
        return None     # decided; or there is nothing to give
    if result.verdict in ("undecided", "unreadable"):
        return result.verdict
    if result.verdict == "domain" and problem.domain_policy == "review":
        return "domain"
    if result.verdict == "wrong" and result.confidence == "low" and _in_doubt(problem, result):
        return "low confidence"
    if result.doubt is not None and result.score < result.max:
        return "not all claimed"
    # Who gave all points to an earlier answer has nothing to say of one that gets them anyway.
    before = result.override and result.override.get("earlier")
    if before is not None and (before, result.score) != (result.max, result.max):
        return "answer changed"
    return None


def _in_doubt(problem: Problem, result: Result) -> bool:
    """Return whether the mark would change if one of the possible mistakes were sure.

    It would, too, where the answer is right for a part of the values: that may be all that is
    meant.
    """
    if result.mistake == "right_on_part_of_domain":
        return result.score < problem.points
    credits = [problem.credit.get(name, 0.0) for name in (result.mistake, *result.also) if name]
    return round(max(credits, default=0.0) * problem.points, FINER) > result.score
