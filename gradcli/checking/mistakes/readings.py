"""Answers that are right if they are read otherwise: with other brackets, or another name."""

from __future__ import annotations

from gradcli.checking.mistakes.wrong import WHOLE, Found
from gradcli.errors import GradcliError
from gradcli.lang.code import LOAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.checking.check import Prepared, Trial
    from gradcli.reading import Reading


def other_brackets(prepared: Prepared, others: list[Reading], deadline: float) -> list[Found]:
    """The first other reading that is right."""
    from gradcli.checking.check import is_right

    for other in others:
        if is_right(prepared, other, deadline):
            return [Found("missing_parentheses", WHOLE, -9.0, agree=prepared.size, detail={
                "piece": other.read_as})]
    return []


def other_name(prepared: Prepared, trial: Trial, deadline: float) -> list[Found]:
    """Right, if a letter that the problem does not know is one of its variables."""
    unknown = trial.answered.unknown
    names = dict.fromkeys([*prepared.reference.wrt, prepared.problem.dependent])
    if len(unknown) != 1:
        return []
    from gradcli.checking.answered import Answered
    from gradcli.checking.check import Trial as Again

    reading = trial.answered.reading
    for name in filter(None, names):
        renamed = reading.renamed(unknown[0], name) if hasattr(reading, "renamed") else None
        if renamed is None:
            continue
        result: dict[str, object] = {"points": {}, "fingerprint": None}
        try:
            Again(prepared, Answered(renamed, prepared.reference, prepared.problem), deadline
                  ).judge(result)
        except GradcliError:
            continue
        if result["verdict"] in ("correct", "domain"):
            return [Found("wrong_variable_name", WHOLE, -8.0, agree=prepared.size, detail={
                "given": unknown[0], "wanted": name, "load": LOAD})]
    return []
