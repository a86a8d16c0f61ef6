"""The check of one answer against one problem.

`prepare` does what all answers to a problem share: it reads the function, derives the right answer
and evaluates it on a pool of points. `check` reads an answer, evaluates it there, and compares.
"""

from __future__ import annotations

import re
from time import perf_counter, thread_time

from gradcli.base.errors import GradcliError, error
from gradcli.homework.checking.answered import Answered, Trial, misnamed
from gradcli.homework.checking.compare import Comparison
from gradcli.homework.checking.judge import is_right, judge
from gradcli.homework.checking.outcome import RIGHT, WAITS, leave, unchecked
from gradcli.homework.checking.prepared import PreparedProblem, prepared_problem
from gradcli.homework.checking.readings import (
    doubt,
    listed,
    read_answer,
    several,
    written_otherwise,
)
from gradcli.homework.checking.sides import differing_sides, is_rounded, unsure_left
from gradcli.lang.paper.answer import alternatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.homework.checking.problem import Problem
    from gradcli.lang.paper.answer import Reading

SLOW = 0.25
"""Seconds of work after which an answer is left to a person."""
PREPARING = 2.0
"""Seconds of work after which a function is refused."""
DIAGNOSIS = 1.0
"""Seconds of work for finding out what is wrong with one; hardly any takes a hundredth."""
WHOLE = 1.3
"""Seconds of work for an answer with all its lines."""
MAX_LINES = 10
"""So many lines of an answer are read on their own; where there are more, a person decides."""

ACCEPTED = "right: one of the answers that the sheet accepts"
NOTHING = frozenset(("n/a", "na", "blank", "skip", "skipped"))
"""What stands for no answer, besides a dash."""

DATE = re.compile(r"\s*(?:\d{4}-\d{1,2}-\d{1,2}(?:[T ][\d:.]*Z?)?|\d{1,2}([/.-])\d{1,2}\1\d{4})\s*")
"""What spreadsheets make of 16/5 and 1/2."""


def prepare(problem: Problem, seed: object = 0) -> PreparedProblem:
    """Return a problem that is ready for answers, with its `expected` and `accept` checked.

    Raises E0701 for fields that the kind has not, E0702 for those that are missing, E0704 for a
    function that cannot be read, has no derivative or takes too much, and E0705 where the expected
    answer is not right or one that is accepted is neither a formula nor words.
    """
    try:
        prepared = prepared_problem(problem, seed, thread_time() + PREPARING)
    except (TimeoutError, MemoryError, RecursionError) as failure:
        raise error("E0704", "the function takes too long or too much memory"
                    f" ({type(failure).__name__})", help="set a smaller problem") from None
    prepared.values.deadline = float("inf")
    expected = problem.expected
    if problem.unit:
        from gradcli.homework.checking.units import unit_of

        unit_of(prepared)
    if expected is not None:
        result = check(prepared, expected)
        if result["verdict"] not in RIGHT:
            raise error("E0705", f"the expected answer `{expected}` is not right:"
                        f" {result['message']}", help="correct it, or leave `expected` out",
                        about=("option", "expected"))
    for form in problem.forms:
        from gradcli.homework.checking.prepared import in_form

        other = Comparison(prepared.side, in_form(prepared, form).side, problem.rtol,
                           prepared.zeros)
        if other.disagree.any() or not other.agree.any():
            raise error("E0705", f"`{form}`, which `forms` lists, does not equal the function",
                        help="list functions that are written otherwise, and equal this one",
                        about=("value", form))
    for accepted in problem.accept:
        try:
            read_accepted(prepared, accepted)
        except GradcliError as unreadable:
            raise error("E0705", f"`{accepted}`, which `accept` lists, cannot be read:"
                        f" {unreadable.message}", help=unreadable.help,
                        about=("value", accepted)) from None
    return prepared


def check(prepared: PreparedProblem, answer: str) -> dict[str, Any]:
    """Return the result for one answer, as plain data; whatever was typed, nothing is raised.

    Keys: verdict, mistake, also, confidence, message, read_as, alternatives, witness, points,
    score, ms; `fingerprint`, a text that is equal for answers of equal values; and `hint`, the
    sentence about the mistake without any value, None where no mistake has a name.

    Lines that are formulas of their own are checked as answers of their own.
    """
    start, end = perf_counter(), thread_time() + WHOLE
    result = _of_text(prepared, answer, end)
    if result["message"] != ACCEPTED and prepared.reference.solutions is None and (
            "\n" in answer or "\r" in answer or "\\\\" in answer):
        from gradcli.lang.paper.left import formula_lines

        if "\\\\" in answer:
            from gradcli.lang.paper.notations import typeset

            answer = typeset(answer)
        lines = formula_lines(answer)
        if len(lines) > 1:
            result = _of_lines(prepared, lines, result, end)
        signed = formula_lines(answer, minus=True)
        if result["verdict"] == "wrong" and len(signed) > len(lines):
            # -x, -x is two answers or a difference.
            other = _of_lines(prepared, signed, result, end)
            if other["verdict"] in {*RIGHT, "undecided"}:
                leave(other, "a line begins with a minus, and may be an answer of its own")
                result = other
    if result["verdict"] in ("unreadable", "wrong") and not prepared.reference.shape and \
            prepared.reference.solutions is None:
        result = _of_several(prepared, several(answer), result, end)
    if prepared.reference.solutions is None and result["message"] != ACCEPTED and (
            "=" in answer or result["verdict"] == "unreadable"):
        from gradcli.homework.checking.statements import settle

        result = settle(prepared, answer, result, lambda text: _of_text(prepared, text, end))
    result["ms"] = round((perf_counter() - start) * 1e3, 3)
    return result


def _of_several(prepared: PreparedProblem, answers: list[str], whole: dict[str, Any], end: float
                ) -> dict[str, Any]:
    """Return the result for an answer that says several, 2x or -2x: for a person, unless all are
    right; that for the whole where one of them cannot be read.
    """
    found = [_of_text(prepared, answer, end) for answer in answers]
    if not found or {"unreadable", "blank"}.intersection([one["verdict"] for one in found]):
        return whole
    count = sum([one["verdict"] in RIGHT for one in found])
    if count == len(found):
        return found[0]
    if not count and whole["verdict"] == "wrong":
        return whole
    return {**whole, "verdict": "undecided", "mistake": None, "also": [], "confidence": None,
            "witness": None, "score": 0.0, "hint": None, "read_as": " or ".join([
        one["read_as"] or "?" for one in found]), "message":
        f"{count} of {len(found)} answers {'is' if count == 1 else 'are'} right{WAITS}"}


def _of_lines(prepared: PreparedProblem, lines: list[str], whole: dict[str, Any], end: float
              ) -> dict[str, Any]:
    """Return the result for several lines: right or wrong if all are, else for a person.

    whole: the result for all as one formula, or as the components of a vector. It counts where
    lines cannot be read alone, as a formula that an editor has broken. end: of the work, of
    `time.thread_time`.
    """
    vector = bool(prepared.reference.shape)
    if vector and whole["verdict"] in RIGHT:
        return whole
    found = [one for one in [_of_text(prepared, line, end) for line in lines[:MAX_LINES]]
             if one["verdict"] != "blank"]
    verdicts = [one["verdict"] for one in found]
    count = sum([verdict in RIGHT for verdict in verdicts])
    broken = "unreadable" in verdicts or not found
    if len(lines) <= MAX_LINES:
        if broken and (whole["verdict"] in RIGHT or not count):
            return whole
        if count == len(found) or (set(verdicts) == {"wrong"} and whole["verdict"] not in RIGHT):
            return whole if vector and not count else found[-1]
    said = (f"read line by line, {count} of {len(found)} are right" if count else
            "this stands on several lines, and may be one formula or several")
    return {**whole, "verdict": "undecided", "mistake": None, "also": [], "confidence": None,
            "message": f"{said}{WAITS}", "witness": None, "score": 0.0,
            "hint": None, "read_as": "; ".join([one["read_as"] or "?" for one in found])}


def _of_text(prepared: PreparedProblem, answer: str, end: float) -> dict[str, Any]:
    """Return the result for a text that is one answer, without its time. end: of the work."""
    result = unchecked("unreadable", "")
    try:
        if _accepts_text(prepared, answer, result):
            pass
        elif not answer.strip(" \t\r\n-–—_") or answer.strip().lower() in NOTHING:
            result.update(verdict="blank", message="nothing was answered")
        else:
            _check(prepared, answer, result, end)
    except GradcliError as problem:
        result["message"] = problem.message + (f"; {problem.help}" if problem.help else "")
    except (TimeoutError, MemoryError, RecursionError) as problem:
        leave(result, "this took too long or too much memory to check"
                      f" ({type(problem).__name__})")
    return result


def _check(prepared: PreparedProblem, text: str, result: dict[str, Any], end: float) -> None:
    """Fill in the verdict on an answer, and what is wrong with a wrong one. end: of the work."""
    if prepared.reference.solutions is not None:
        _check_set(prepared, text, result)
        return
    trial = _tried(prepared, text, result, min(end, thread_time() + SLOW))
    reading = trial.answered.reading
    judge(trial, result)
    if prepared.problem.unit:
        from gradcli.homework.checking import measured

        if measured.settle(trial, result):
            return
    named = misnamed(reading, prepared) if reading.sides or reading.labels else ""
    unsure = _unsure(trial, named, text, result)
    if unsure:
        leave(result, unsure)
        return
    if result["verdict"] != "correct" and any(
            _is_same(trial, accepted, trial.deadline) for accepted in prepared.problem.accept):
        result.update(verdict="correct", score=1.0, witness=None, message=ACCEPTED)
        return
    if result["verdict"] in ("wrong", "undecided"):
        others = alternatives(reading, prepared.reference.names)
        result["alternatives"] = [other.read_as for other in others]
        if result["verdict"] == "wrong" and not _is_right_otherwise(trial, text, result) and \
                not _is_misread(trial, text, result):
            from gradcli.homework.mistakes.diagnosis import diagnose

            diagnose(prepared, trial, others, result, min(end, thread_time() + DIAGNOSIS))
            if named:
                result["message"] += f"; the left side names {named}"


def _check_set(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> None:
    if prepared.problem.words:
        from gradcli.homework.checking.words import judge_words

        judge_words(prepared, text, result)
    else:
        from gradcli.homework.checking.sets import judge_set

        judge_set(prepared, text, result)


def _tried(prepared: PreparedProblem, text: str, result: dict[str, Any], deadline: float) -> Trial:
    """Return a trial of an answer as it is read, or of its one reading of the shape asked for, and
    say in the result how.
    """
    answered: Answered | None = None
    try:
        reading = read_answer(prepared, text, deadline)
        result["read_as"] = reading.read_as
        answered = Answered(reading, prepared.reference, prepared.problem)
    except GradcliError:
        fitting = listed(prepared, text) if prepared.reference.shape else []
        if [sure for _, sure in fitting].count(True) != 1:
            raise
    else:
        fitting = [] if answered.fits and not answered.unknown else listed(prepared, text)
    told = [one for one, sure in fitting if sure]
    if len(told) == 1:
        answered, = told
        result["read_as"] = answered.reading.read_as
    assert answered is not None
    return Trial(prepared, answered, deadline)


def _unsure(trial: Trial, named: str, text: str, result: dict[str, Any]) -> str:
    """Return why a person has to decide on an answer that was judged, or "".

    named: what another quantity its left side names.
    """
    prepared, reading = trial.prepared, trial.answered.reading
    wrong, right = result["verdict"] == "wrong", result["verdict"] in RIGHT
    if named and right:
        return f"the right side is right, but the left side names {named}"
    unsure = unsure_left(trial, right) if right or wrong else ""
    step = differing_sides(trial, right)
    if step and not unsure and prepared.problem.steps == "last" and reading.equation is None:
        result["message"], step = f"{result['message']}; {step}", ""
    if unsure or step or not wrong:
        return unsure or step
    if prepared.single and ("..." in text or "…" in text):
        return "digits that end in dots may be cut off, or rounded"
    if DATE.fullmatch(text):
        return "a spreadsheet may have made a date of what was typed"
    if not prepared.single and not prepared.reference.kind.plain and is_rounded(trial):
        return "right, but for rounding"
    return doubt(trial, result)


def _is_right_otherwise(trial: Trial, text: str, result: dict[str, Any]) -> bool:
    """Return whether a wrong answer is right as something else that it may mean, and leave it to a
    person if so.
    """
    for other, told, why in _meant(trial, text):
        right = is_right(trial.prepared, other, trial.deadline)
        if right or told:
            result["alternatives"] = [other.read_as, *[
                one for one in result["alternatives"] if one != other.read_as]]
        if right:
            leave(result, why.format(f"`{other.read_as}`"))
            return True
    return False


def _is_misread(trial: Trial, text: str, result: dict[str, Any]) -> bool:
    """Return whether an answer of another shape than the one asked for has labels or parts that do
    not say the shape that was read, and leave it to a person if so.
    """
    if trial.answered.fits or not trial.prepared.reference.shape:
        return False
    from gradcli.homework.checking.grids import has_parts

    labels = len(trial.answered.reading.labels)
    extra = labels >= len(trial.prepared.reference.nodes) and trial.answered.shape == (labels,)
    if extra or (not labels and has_parts(text)):
        leave(result, "how its parts are laid out was not understood")
        return True
    return False


def _meant(trial: Trial, text: str) -> Iterator[tuple[Reading, bool, str]]:
    """Yield what else an answer may mean, whether that is told even if it is wrong, and why."""
    from gradcli.lang.paper.ambiguous import mixed_numbers, shorter_arguments

    for reading, why in written_otherwise(trial.prepared, text):
        yield reading, False, f"{why}: read as {{}}, this is right"
    why = "its parts may be laid out as {}, and that is right"
    if trial.prepared.problem.decimal_comma and "," in text:
        why = "a comma between digits may separate, or be a decimal one: read as {}, this is right"
    for answered, _ in listed(trial.prepared, text):
        yield answered.reading, False, why
    for other in mixed_numbers(trial.answered.reading):
        yield other, True, ("a number stands before a fraction: read as a sum, {}, this is right,"
                            " as a product it is not")
    for other in shorter_arguments(trial.answered.reading):
        yield other, False, ("a function without brackets may end before a blank or bracket: read"
                             " as {}, this is right")


def read_accepted(prepared: PreparedProblem, text: str) -> Answered | None:
    """Read an answer that a sheet accepts; return None for words, `does not exist`, which are a
    text and no formula. Raises GradcliError for what is neither.
    """
    from gradcli.lang.paper.tokens import SCHOOL

    if text.strip().lower() in NOTHING:
        return None
    words, left = [[word for word in part.split() if word.isalpha() and len(word) > 1
                    and word not in SCHOOL] for part in (text, text.rpartition("=")[0])]
    try:
        answered = Answered(read_answer(prepared, text), prepared.reference, prepared.problem)
    except GradcliError as unreadable:
        if unreadable.code == "E0711" or len(words) > 1 or all(
                c.isalpha() or c in " .,;:!?'’-" for c in text):
            return None
        raise
    # Nor is a side of an equation several words: not differentiable at x = 0.
    return None if len(left) > 1 else answered


def _accepts_text(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> bool:
    """Return whether the sheet accepts this text, whatever it means, and fill in its result if so.

    Blanks and the last dot do not matter, nor do capitals where it is not a formula.
    """
    given = _plain(text)
    for accepted in prepared.problem.accept if given else ():
        wanted = _plain(accepted)
        if given.casefold() != wanted.casefold():
            continue
        answered = read_accepted(prepared, accepted)
        if given == wanted or answered is None or answered.unknown:  # a word in letters
            result.update(verdict="correct", score=1.0, message=ACCEPTED,
                          read_as=None if answered is None else answered.reading.read_as)
            return True
    return False


def _plain(text: str) -> str:
    return "".join(text.split()).rstrip(".")


def _is_same(trial: Trial, accepted: str, deadline: float) -> bool:
    """Return whether an answer has the same values at all points as a formula that a sheet accepts;
    whether they are right does not matter.
    """
    prepared, answered = trial.prepared, read_accepted(trial.prepared, accepted)
    if answered is None:
        return False
    if trial.answered.reading.read_as == answered.reading.read_as:
        return True
    other = Trial(prepared, answered, deadline)
    judge(other, {})
    if trial.side is None or other.side is None:
        return False
    found = Comparison(other.side, trial.side, prepared.problem.rtol, prepared.zeros)
    return bool(found.agree.any(axis=1).all() and not found.disagree.any()
                and not found.undefined.any())
