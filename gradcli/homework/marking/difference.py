"""Two runs compared: the marks that changed, and why."""

from __future__ import annotations

import os

from gradcli.base.errors import GradcliError
from gradcli.homework.marking.earlier import MANIFEST, RESULTS, read_manifest, text_hash
from gradcli.homework.marking.results import read_results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.marking.earlier import Manifest

    Key = tuple[str, str]

# What can be the reason, in the order in which they are told.
OVERRIDE, ANSWER, SHEET, SEED, TOOL = "override", "answer changed", "sheet changed", "seed", "tool"
NEW, GONE, UNKNOWN = "new", "gone", "unknown"


class Mark:
    """The part of a result that a comparison needs."""

    __slots__ = ("answer", "override", "score", "seed", "sheet", "tool", "verdict")

    def __init__(self, answer: str, override: Any, score: float, seed: object, sheet: str,
                 tool: str, verdict: str) -> None:
        self.answer = answer
        self.override = override
        self.score = score
        self.seed = seed
        self.sheet = sheet
        self.tool = tool
        self.verdict = verdict


class Change:
    """One mark that changed. Where only one run has the answer, the other's fields are None."""

    __slots__ = ("new_score", "new_verdict", "old_score", "old_verdict", "problem", "student",
                 "why")

    def __init__(self, key: Key, old: Mark | None, new: Mark | None, why: list[str]) -> None:
        self.student, self.problem = key
        self.old_score = old.score if old else None
        self.old_verdict = old.verdict if old else None
        self.new_score = new.score if new else None
        self.new_verdict = new.verdict if new else None
        self.why = why

    def fields(self) -> dict[str, Any]:
        """Return the change as plain data, in the order in which it is printed."""
        return {name: getattr(self, name) for name in (
            "student", "problem", "old_score", "new_score", "old_verdict", "new_verdict", "why")}


def difference(old: str, new: str) -> list[Change]:
    """Return the changes between two output folders (or results.ndjson), by student and problem.

    An answer whose score and verdict are unchanged is not listed. Raises what `read_results`
    raises.
    """
    before, after = _marks(old), _marks(new)
    same = _same_problems(old, new)
    changes = []
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one and other and (one.score, one.verdict) == (other.score, other.verdict):
            continue
        changes.append(Change(key, one, other, _why(one, other, key[1] in same)))
    return changes


def _why(old: Mark | None, new: Mark | None, same_problem: bool) -> list[str]:
    if old is None:
        return [NEW]
    if new is None:
        return [GONE]
    reasons = [(OVERRIDE, old.override != new.override), (ANSWER, old.answer != new.answer),
               (SHEET, old.sheet != new.sheet and not same_problem),
               (SEED, old.seed != new.seed), (TOOL, old.tool != new.tool)]
    return [name for name, holds in reasons if holds] or [UNKNOWN]


def _marks(path: str) -> dict[Key, Mark]:
    marks = {}
    for result in read_results(_results(path)):
        override = result.override and (result.override["score"], result.override["comment"])
        marks[result.student, result.problem] = Mark(
            text_hash(result.answer)[:16], override, result.score, result.seed,
            result.sheet_hash, result.tool, result.verdict)
    return marks


def _results(path: str) -> str:
    return os.path.join(path, RESULTS) if os.path.isdir(path) else path


def _same_problems(old: str, new: str) -> set[str]:
    """Return the problems that both runs had unchanged, as their manifests say."""
    before, after = _manifest(old), _manifest(new)
    if before is None or after is None:
        return set()
    return {id for id, found in after.problems.items() if before.problems.get(id) == found}


def _manifest(path: str) -> Manifest | None:
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    try:
        return read_manifest(os.path.join(folder, MANIFEST))
    except GradcliError:
        return None
