"""Answers that are right if they are read otherwise: with other brackets, or another name."""

from __future__ import annotations

from gradcli.checking.answered import Answered
from gradcli.checking.compare import Comparison, Side
from gradcli.checking.mistakes.sample import LEAST, evaluated, near, rows, taken
from gradcli.checking.mistakes.wrong import BETWEEN, SITE, WHOLE, Found
from gradcli.errors import GradcliError
from gradcli.ops.lazy import np
from gradcli.sweeps.rounding import Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.checking.mistakes.sample import Sample
    from gradcli.checking.prepared import Prepared
    from gradcli.checking.trial import Trial
    from gradcli.reading import Reading

FEW = 8


def other_brackets(prepared: Prepared, trial: Trial, sample: Sample, others: list[Reading],
                   deadline: float) -> list[Found]:
    """The first other reading that is right, of those that the answer's spelling speaks for, or
    else of all: then it may be chance.
    """
    from gradcli.checking.trial import is_right
    from gradcli.reading.ambiguous import doubt

    inputs = taken(trial.inputs, sample.columns[:FEW])
    right = sample.right[:, :FEW]
    found: list[Found] = []
    for other in others:
        if _may_be(prepared, other, inputs, right) and is_right(prepared, other, deadline):
            against = doubt(trial.answered.reading, other)
            level, rank = (SITE, BETWEEN) if against == "sum" or _around_a_sum(
                trial, other) else (WHOLE, -9.0)
            found.append(Found("missing_parentheses", level, rank, agree=prepared.size,
                               sure=not against, detail={"piece": other.read_as}))
            if not against:
                break
    return found


def _around_a_sum(trial: Trial, other: Reading) -> bool:
    """Whether the brackets make one factor of a whole sum: 2a + b for 2(a + b) is rarely meant."""
    sums = ("add", "subtract")
    return trial.answered.reading.code[-1][1] in sums and other.code[-1][1] == "multiply"


def _may_be(prepared: Prepared, other: Reading, inputs: dict[str, Any], right: Any) -> bool:
    """Whether a reading is right, or nearly, at a few points; most are not."""
    try:
        answered = Answered(other, prepared.reference, prepared.problem)
        values = rows(evaluated(answered.formula, answered.nodes, inputs, {}), right.shape[1])
    except (GradcliError, KeyError):
        return False
    if len(values) != len(right):
        return False
    return bool((near(right, values, 1e-2) | ~np.isfinite(right) | ~np.isfinite(values)).all())


def other_names(prepared: Prepared, trial: Trial) -> list[Found]:
    """Right, if letters that the problem does not know are its variables."""
    formula, nodes = trial.answered.formula, trial.answered.nodes
    for renamed in _renamed(prepared, trial.answered.unknown):
        values = Values(formula, {**trial.inputs, **{
            given: prepared.inputs[name] for given, name in renamed.items()}}, prepared.errors)
        side = Side(values, nodes, prepared.size)
        compared = Comparison(prepared.side, side, prepared.problem.rtol, prepared.zeros)
        agree = int(compared.agree.sum(axis=1).min())
        if not compared.disagree.any() and agree >= min(LEAST, prepared.size):
            given, name = next(iter(renamed.items()))
            return [Found("wrong_variable_name", WHOLE, -8.0, agree=agree, detail={
                "given": given, "wanted": name})]
    return []


def _renamed(prepared: Prepared, unknown: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Ways in which one or two unknown names may mean variables of the problem."""
    names = [n for n in prepared.reference.variables if n not in prepared.problem.parameters]
    if len(unknown) == 1:
        for name in names:
            yield {unknown[0]: name}
    elif len(unknown) == 2:
        for name in names:
            for other in names:
                if other != name:
                    yield dict(zip(unknown, (name, other), strict=True))
