"""One answer of a class in full."""

from __future__ import annotations

import os

from gradcli.checking.check import check, prepare
from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.earlier import RESULTS
from gradcli.homework.executors import seed_of
from gradcli.homework.results import read_results
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.homework.results import Result
    from gradcli.homework.saved import Saved

TOLD = ("student", "answer", "verdict", "score", "max", "mistake", "also", "confidence", "message",
        "read_as", "witness", "points", "override", "file", "line")


def explain(saved: Saved, student: str, problem: str) -> dict[str, Any]:
    """The answer of the command as plain data.

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
    ready = prepare(asked, seed_of(saved.sheet, found.seed))
    again = check(ready, found.answer)
    return {
        "schema": 1, "command": "hw explain",
        "problem": {"id": id, "kind": asked.kind, "function": asked.function,
                    "read_as": ready.reference.reading.read_as,
                    "wrt": list(ready.reference.wrt), "order": asked.order, "at": asked.at,
                    "direction": list(asked.direction)},
        **{key: getattr(found, key) for key in TOLD}, "alternatives": again["alternatives"]}


def _result(saved: Saved, student: str, problem: str) -> Result | None:
    for one in read_results(os.path.join(saved.folder, RESULTS)):
        if (one.student, one.problem) == (student, problem):
            return one
    return None


def _meant(said: str, known: Iterable[str], code: str, what: str, where: str) -> str:
    """The one that is called so, whatever its capitals."""
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
