"""The verdict on an answer: what is asked at its points, and which answer to that counts."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.homework.checking import rounded, switches, verdict
from gradcli.homework.checking.answered import Answered
from gradcli.homework.checking.compare import Comparison, Side
from gradcli.homework.checking.trial import Trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.lang.paper.answer import Reading


def judge(trial: Trial, result: dict[str, Any], switching: bool = True) -> None:
    """Fill in verdict, message, witness, points and score.

    switching: whether to look for points on the sides of switches that have few; once, since the
    new points may be few on a side again.
    """
    prepared, answered = trial.prepared, trial.answered
    if not answered.fits:
        verdict.misshaped(trial, result)
        return
    trial.side = Side(trial.values, answered.nodes, prepared.size)
    left = trial.left_over()
    if left:
        verdict.not_evaluated(trial, left, result)
        return
    found = switches.switches(answered.formula, answered.nodes) if (
        switching and not prepared.single and prepared.reference.constraint is None) else []
    if not prepared.single and not found and verdict.certain(trial, result):
        return
    trial.comparison = Comparison(
        prepared.side, trial.side, prepared.problem.rtol, prepared.zeros)
    if prepared.single:
        verdict.judge_number(trial, result, trial.allowed())
        return
    more = switches.more_points(trial.values, found) if found else None
    if more is not None:
        judge(trial.again(more), result, switching=False)
        return
    verdict.judge_function(trial, result)
    if result["verdict"] == "undecided" and trial.comparison.disagree.any():
        verdict.judge_function(trial.resampled(), result)
    if result["verdict"] == "wrong" and prepared.problem.tolerance is not None:
        rounded.judge(trial, result)


def is_right(prepared: PreparedProblem, reading: Reading, deadline: float) -> bool:
    """Return whether another reading of an answer, or another answer, is right.

    deadline: of `time.thread_time`; raises TimeoutError after it.
    """
    found: dict[str, Any] = {}
    try:
        judge(Trial(prepared, Answered(reading, prepared.reference, prepared.problem), deadline),
              found)
    except GradcliError:
        return False
    return found["verdict"] in ("correct", "domain")
