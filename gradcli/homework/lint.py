"""The check of a sheet before a class gets it, for the teacher."""

from __future__ import annotations

import os

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.check import check, prepare, read_accepted
from gradcli.homework.checking.compare import Comparison
from gradcli.homework.checking.judge import hides_numbers, may_round
from gradcli.homework.checking.outcome import RIGHT
from gradcli.homework.checking.pool import ENOUGH
from gradcli.homework.handed_in.attempts import listed
from gradcli.homework.marking.earlier import RESULTS
from gradcli.homework.marking.executors import seed_of
from gradcli.homework.marking.results import read_results
from gradcli.lang.paper.ambiguous import ambiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.earlier import SavedRun
    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.sheet import Sheet

# Points that are shown, and the share of points that should be usable.
SHOWN = 3
SHARE = 0.1
# Other readings that are told, the most plausible ones.
READINGS = 2
VARIABLES = ("x", "y", "z", "t")


def lint(sheet: Sheet, seed: int | str | None = None) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Return the result of `hw lint` as plain data, and all that is wrong with problems."""
    wrong: list[Diagnostic] = []
    try:
        listed(sheet)
    except GradcliError as failure:
        wrong += failure.diagnostics
    problems = []
    ready: dict[str, PreparedProblem] = {}
    for problem in sheet.problems:
        try:
            prepared = prepare(problem, seed_of(sheet, seed))
        except GradcliError as failure:
            wrong += sheet.located(problem.id, failure).diagnostics
            continue
        ready[problem.id] = prepared
        problems.append({
            "problem": problem.id, "kind": problem.kind, "function": problem.function,
            "read_as": prepared.reference.reading.read_as, "wrt": list(prepared.reference.wrt),
            "order": problem.order,
            "max_score": problem.points, "usable": _usable(prepared), "points": prepared.size,
            "values": _values(prepared),
            "warnings": [*_warnings(prepared), *_followed(prepared, ready)]})
    return {"schema": 1, "command": "hw lint",
            "sheet": {"id": sheet.id, "title": sheet.title, "max_score": sheet.max_score},
            "problems": problems}, wrong


def _followed(prepared: PreparedProblem, ready: Mapping[str, PreparedProblem]) -> list[str]:
    """Return a warning of a part that cannot follow from the part that it names."""
    problem = prepared.problem
    before = ready.get(problem.follows)
    if before is None:
        return []
    from gradcli.homework.checking.followed import further, is_of_same

    if further(problem, before.problem) is None or (
            not is_of_same(problem, before.problem)
            and check(before, problem.function)["verdict"] not in RIGHT):
        return [f"nothing follows from {problem.follows}: the function is not the answer to it, nor"
                " is a value, a further derivative or a critical point of its function asked for"]
    return []


def _usable(prepared: PreparedProblem) -> int:
    """Return the number of points at which an answer can be compared with the right one."""
    if prepared.single:
        return int(prepared.side.finite.all())
    itself = Comparison(prepared.side, prepared.side, prepared.problem.rtol, prepared.zeros)
    return int(itself.agree.all(axis=0).sum())


def _values(prepared: PreparedProblem) -> list[dict[str, Any]]:
    """Return the right answer at some points, those with short numbers first."""
    found = []
    good: Any = prepared.side.finite.all(axis=0)
    for at in [at for at, is_number in enumerate(good.tolist()) if is_number][:SHOWN]:
        found.append({
            "at": {name: float(value if type(value) is float else value[at])
                   for name, value in prepared.inputs.items()},
            "expected": prepared.side.values[:, at].reshape(prepared.reference.shape).tolist()})
    return found


def _names(prepared: PreparedProblem) -> list[str]:
    """Return warnings of letters that nobody declared and of variables that the function lacks."""
    reference, problem = prepared.reference, prepared.problem
    used = reference.formula.leaves(reference.functions)
    declared = {*reference.wrt, *problem.parameters, *problem.at, *problem.domain,
                problem.dependent}
    # x, y, z, t are variables, whichever is asked for; other letters may be misprints.
    strange = [name for name in used if name not in declared and name not in VARIABLES]
    found = []
    if strange and problem.wrt:
        found.append(f"{', '.join(strange)} {'is' if len(strange) == 1 else 'are'} taken for"
                     " constants: correct the function, or write parameters ="
                     f' "{",".join(strange)}"')
    found += [f"the function does not depend on {name}" for name in reference.wrt
              if used and name not in used]
    return found


def _warnings(prepared: PreparedProblem) -> list[str]:
    found = []
    reading, problem = prepared.reference.reading, prepared.problem
    others = [one.read_as for one in ambiguous(reading)]
    if others:
        found.append(f"`{problem.function}` is read as `{reading.read_as}`; it may be meant as"
                     f" {' or '.join([f'`{one}`' for one in others[:READINGS]])}:"
                     " write brackets")
    if problem.log == "natural" and "log" in reading.tokens.spellings():
        found.append("`log` is read as the natural logarithm: write ln, or set log to ten")
    found += reading.notes
    found += _unit(problem)
    found += _names(prepared)
    found += _accepted(prepared)
    found += _points(prepared)
    if problem.tolerance is not None and not prepared.single:
        if hides_numbers(prepared):
            found.append("`tolerance` does not hold inside of functions, roots and exponents: the"
                         " numbers there have to be exact")
        elif not may_round(prepared):
            found.append("`tolerance` does nothing here: the right answer has whole numbers only,"
                         " and these have to be exact")
    reference = prepared.reference
    if not reference.formula.leaves(reference.nodes) and reference.kind.plain \
            and reference.kind.single and not problem.at and problem.order == 1:
        found.append("the derivative is a constant: a mistake can hardly be told from another")
    return found


def _unit(problem: Problem) -> list[str]:
    """Return a warning of a unit that no library knows."""
    if not problem.unit:
        return []
    from gradcli.homework.checking.units import strange

    words = strange(problem.unit)
    return [f"no unit is known that is called {', '.join(words)}: answers have to use the same"
            " word"] if words else []


def _accepted(prepared: PreparedProblem) -> list[str]:
    """Return warnings of accepted answers that are words, or may have been meant as such."""
    found = []
    for text in prepared.problem.accept:
        accepted = read_accepted(prepared, text)
        if accepted is None:
            found.append(f"`{text}`, which `accept` lists, is not a formula: only the same words"
                         " are accepted")
        elif accepted.unknown:
            found.append(f"`{text}`, which `accept` lists, is read as the formula"
                         f" `{accepted.reading.read_as}`, and the problem has no"
                         f" {', '.join(accepted.unknown)}: a word is accepted as it is, a formula"
                         " has to be corrected")
    return found


def _points(prepared: PreparedProblem) -> list[str]:
    """Return a warning of points that are too few to compare an answer at."""
    usable = _usable(prepared)
    what = "is defined" if prepared.side.finite.all(axis=0).sum() == usable else "can be told"
    if not usable:
        return [f"the right answer {what} at none of the points that were tried: give a domain,"
                " such as domain = {x = [0, 5]}, or another function"]
    if not prepared.single and usable < max(ENOUGH, SHARE * prepared.size):
        return [f"the right answer {what} at {usable} of {prepared.size} points: give a domain,"
                " such as domain = {x = [0, 5]}"]
    return []


# --------------------------------------------------------------------------------------------------
# One answer of a class in full.

TOLD = ("student", "answer", "verdict", "score", "max", "mistake", "also", "confidence", "message",
        "read_as", "witness", "points", "override", "file", "line", "doubt")


def explain(saved: SavedRun, student: str, problem: str, readings: int | None = READINGS
            ) -> dict[str, Any]:
    """Return the result of `hw explain` as plain data.

    readings: so many others are listed; None: all.

    Raises E0742 and E0743 where there is no such student or problem.
    """
    ids = [person.id for person in saved.students]
    name = _meant(student, ids, "E0742", "student", "STUDENT")
    id = _meant(problem, saved.sheet.ids, "E0743", "problem", "PROBLEM")
    found = _result(saved, name, id)
    if found is None:
        raise GradcliError(Diagnostic(
            "E0742", f"student `{name}` handed nothing in", span=(0, len(student)),
            source=Source(student, "STUDENT"), help="gradebook.csv lists who is missing"))
    asked = saved.sheet[id]
    prepared = prepare(asked, seed_of(saved.sheet, found.seed))
    again = check(prepared, found.answer)
    return {
        "schema": 1, "command": "hw explain",
        "problem": {"id": id, "kind": asked.kind, "function": asked.function,
                    "read_as": prepared.reference.reading.read_as,
                    "wrt": list(prepared.reference.wrt), "order": asked.order, "at": asked.at,
                    "direction": list(asked.direction)},
        **{key: getattr(found, key) for key in TOLD},
        "alternatives": again["alternatives"][:readings]}


def _result(saved: SavedRun, student: str, problem: str) -> Result | None:
    for one in read_results(os.path.join(saved.folder, RESULTS)):
        if (one.student, one.problem) == (student, problem):
            return one
    return None


def _meant(said: str, known: Iterable[str], code: str, what: str, where: str) -> str:
    """Return the known id that equals `said` but for capitals; raise the error `code` without one.

    what: noun for the message; where: name of the argument.
    """
    import difflib

    known = list(known)
    if said in known:
        return said
    alike = [id for id in known if id.casefold() == said.casefold()]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(said, known, n=1)
    raise GradcliError(Diagnostic(
        code, f"there is no {what} `{said}`", span=(0, len(said)), source=Source(said, where),
        help=f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known[:10])}"
        + ", ..." * (len(known) > 10)))
