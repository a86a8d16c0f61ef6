"""From what a check says to a score.

Right is everything, and so is right with gaps in the domain unless the sheet says otherwise. A
wrong answer gets the fraction of its entries that are right or what the sheet gives for the
mistake, whichever is more, but only for a mistake that is sure. What a person must look at counts
nothing until then. A score that a person gave always wins.
"""

from __future__ import annotations

from gradcli.homework.marking.results import SCHEMA, TOOL, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.overrides import Override
    from gradcli.homework.sheets.sheet import Sheet

PLACES = 9      # decimals of a sum of scores: 0.1 of 3 points is 0.3
FINER = PLACES + 3      # and of one score: three times two thirds are two


def result(sheet: Sheet, problem: Problem, student: str, answer: str, checked: Mapping[str, Any],
           seed: int | str = 0, file: str | None = None, line: int | None = None) -> Result:
    """The marked result of an answer that was checked (`homework.check`)."""
    return Result({
        "schema": SCHEMA, "tool": TOOL, "sheet": sheet.id, "sheet_hash": sheet.hash,
        "student": student, "problem": problem.id, "answer": answer,
        "read_as": checked.get("read_as"), "verdict": checked["verdict"],
        "score": score(problem, checked), "max": float(problem.points),
        "mistake": checked.get("mistake"), "also": list(checked.get("also") or ()),
        "confidence": checked.get("confidence"), "message": checked.get("message"),
        "witness": checked.get("witness"), "points": checked.get("points"), "seed": seed,
        "file": file, "line": line, "override": None, "fingerprint": checked.get("fingerprint"),
        "hint": checked.get("hint"), "ms": checked.get("ms")})


def score(problem: Problem, checked: Mapping[str, Any]) -> float:
    """Points, from 0 to the problem's."""
    return round(fraction(problem, checked) * problem.points, FINER)


def fraction(problem: Problem, checked: Mapping[str, Any]) -> float:
    """How much of the points, from 0 to 1."""
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


def automatic(result: Result) -> None:
    """Take back what a person gave."""
    if result.override is not None:
        result.score, result.override = result.override["automatic"], None


def waits(problem: Problem, result: Result) -> str | None:
    """Why a person should look at the answer; None if there is no reason, or somebody has."""
    if result.override is not None and result.override["score"] is not None:
        return None
    if result.verdict in ("undecided", "unreadable"):
        return result.verdict
    if result.verdict == "domain" and problem.domain_policy == "review":
        return "domain"
    if result.verdict == "wrong" and result.confidence == "low" and _in_doubt(problem, result):
        return "low confidence"
    return None


def _in_doubt(problem: Problem, result: Result) -> bool:
    """Whether the mark would be another if one of the possible mistakes were sure. So it would
    where the answer is right for a part of the values: that is all that may be meant.
    """
    if result.mistake == "right_on_part_of_domain":
        return result.score < problem.points
    credits = [problem.credit.get(name, 0.0) for name in (result.mistake, *result.also) if name]
    return round(max(credits, default=0.0) * problem.points, FINER) > result.score
