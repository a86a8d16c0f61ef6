"""What a student, or a log that students see, is told of an answer.

Levels: `none`; `verdict` (and the score); `hint` (how it was read, and the sentence that names the
mistake); `full` (a point with the expected value and the given one, rounded). Of a hidden problem
only the verdict is told, whatever the level. What a person wrote is always told.
"""

from __future__ import annotations

from gradcli.homework.harmless import DIGITS, point, rounded
from gradcli.homework.marks import BLANK, RIGHT, WAITING, kind
from gradcli.render.numbers import apart, elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.checking.problem import Problem
    from gradcli.homework.results import Result

NONE, VERDICT, HINT, FULL = LEVELS = ("none", "verdict", "hint", "full")

WORDS = {"correct": "right", "wrong": "not right", "domain": "right, but not wherever it should be",
         "undecided": "to be looked at by a person", "unreadable": "could not be read",
         "blank": "no answer"}
LOOKED_AT = "to be looked at by a person"
WAITS = ": a person has to look at it"
"""What a message says until somebody did."""


class Told:
    """verdict: in words. read_as, message, witness: "" where the level does not tell. comment: of
    a person. Nothing is escaped yet.
    """

    __slots__ = ("comment", "message", "read_as", "verdict", "witness")

    def __init__(self, verdict: str, comment: str = "") -> None:
        self.verdict = verdict
        self.comment = comment
        self.read_as = self.message = self.witness = ""


def told(problem: Problem, result: Result | None, level: str) -> Told:
    """What is told of a result at a level."""
    if result is None:
        return Told(WORDS["blank"])
    given = result.override
    found = Told(_verdict(problem, result), given["comment"] if given else "")
    if problem.hidden or level not in (HINT, FULL) or result.verdict == "blank":
        return found
    found.read_as = result.read_as or ""
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
    """The verdict, or what a person made of it."""
    counts = kind(problem, result)
    if result.override is not None and result.override["score"] is not None:
        if counts == RIGHT:
            return "accepted"
        return "accepted in part" if result.score else "not accepted"
    if counts == WAITING and result.verdict != "unreadable":
        # A wrong answer whose mistake is not sure is still a wrong answer.
        return WORDS["wrong"] if result.verdict == "wrong" else LOOKED_AT
    return WORDS["blank"] if counts == BLANK else WORDS[result.verdict]


def _witness(result: Result) -> str:
    """A point at which the answer differs."""
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
