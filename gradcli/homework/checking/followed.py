"""Parts that follow from others: a wrong answer to part b may be right given the student's own part
a.

The function of part b is then the answer to part a, or the same as that of part a, of which b asks
a further derivative, a value or zeros. It is checked again with the student's own answer in place
of the right one.
"""

from __future__ import annotations

from time import thread_time

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.homework.checking.answered import Answered, Trial
from gradcli.homework.checking.outcome import RIGHT
from gradcli.homework.checking.prepared import prepared_problem
from gradcli.homework.checking.problem import Problem
from gradcli.homework.checking.readings import read_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem

NAME = "followed_through"
PREPARING = 1.0
WAITING = "waits for a person"
MOST = 64
"""So many own answers to part a are kept ready for part b."""


def follow(prepared: PreparedProblem, before: PreparedProblem, own: str, answer: str,
           result: dict[str, Any], check: Callable[[PreparedProblem, str], dict[str, Any]]) -> None:
    """Say in the result of a wrong answer that it is right given the student's own answer to the
    part before, if so.

    before: the part that it follows from. own: the answer to that. check: as
    `gradcli.homework.check.check`.
    """
    kept = prepared.cache.setdefault("followed", {})
    if own not in kept:
        if len(kept) >= MOST:
            kept.clear()
        verdict = check(before, own)["verdict"]
        kept[own] = (None, WAITING) if verdict in ("unreadable", "undecided") else (
            _given(prepared, before, own) if verdict == "wrong" else (None, ""))
    given, doubt = kept[own]
    found = check(given, answer)["verdict"] if given is not None else ""
    if found == "wrong" or (found not in {*RIGHT, ""} and not doubt):
        return
    if doubt:
        result.update(verdict="undecided", score=0.0, mistake=None, also=[], confidence=None,
                      witness=None, hint=None, message="this may be right given your own answer to"
                      f" {before.problem.id}, which {doubt}: a person has to look at it")
    elif given is not None:
        said = f"this is right given your own answer to {before.problem.id}, which is not right"
        result.update(mistake=NAME, confidence="high", hint=said, also=[
            name for name in (result["mistake"], *result["also"]) if name],
            message=f"{said}; {_values(result['message'])}")


def _values(message: str) -> str:
    """Return what a message says behind the sentence about a mistake."""
    return message.rpartition("; ")[2]


def _given(prepared: PreparedProblem, before: PreparedProblem, own: str
           ) -> tuple[PreparedProblem | None, str]:
    """Return part b of the student's own part a, None where that has no such part b, and what
    speaks against it, or "".
    """
    fields = further(prepared.problem, before.problem)
    if fields is None:
        return None, ""
    doubt = ""
    try:
        reading = read_answer(before, own)
        doubt = _strange(before, Answered(reading, before.reference, before.problem))
        fields.update(function=reading.read_as, wrt=prepared.reference.wrt)
        return prepared_problem(Problem(**fields), prepared.seed, thread_time() + PREPARING), doubt
    except (GradcliError, TimeoutError, MemoryError, RecursionError):
        return None, doubt or "has no such question"


def _strange(before: PreparedProblem, own: Answered) -> str:
    """Return why nothing follows from an answer, or "": it has other letters than the problem, no
    value anywhere, or none of the variables that the right one has.
    """
    names, formula = {*before.reference.wrt}, before.reference.formula
    if own.unknown:
        return f"has letters that the problem does not have: {', '.join(own.unknown)}"
    if names.isdisjoint(own.formula.leaves(own.nodes)) and not names.isdisjoint(
            formula.leaves(before.reference.nodes)):
        return f"is the same for every {before.reference.wrt[0]}"
    values = Trial(before, own, thread_time() + PREPARING).values.plain(own.nodes)
    return "" if all(np.isfinite(value).any() for value in values) else "is not defined anywhere"


def is_of_same(problem: Problem, before: Problem) -> bool:
    """Return whether two parts ask of the same function."""
    return "".join(problem.function.split()) == "".join(before.function.split())


def further(problem: Problem, before: Problem) -> dict[str, Any] | None:
    """Return the fields of part b that asks of the answer to part a what b asks; None where there
    is no such question.
    """
    fields = {**problem.fields(), "expected": None, "accept": (), "variants": (), "follows": ""}
    if not is_of_same(problem, before):
        return fields       # it is the answer to part a
    rest = problem.order - before.order
    if before.kind not in ("derivative", "gradient", "partial") or rest < 0:
        return None
    if problem.kind == "value":
        return {**fields, "kind": "value" if rest else "function", "order": rest or 1}
    if problem.kind == "derivative" and rest:
        return {**fields, "order": rest}
    if problem.kind == "critical" and before.kind == "derivative" and before.order == 1:
        return {**fields, "kind": "zeros", "order": 1}
    return None
