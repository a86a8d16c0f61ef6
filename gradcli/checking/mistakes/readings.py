"""Answers that are right if they are read otherwise: with other brackets, or another name."""

from __future__ import annotations

from gradcli.checking.compare import Comparison, Side
from gradcli.checking.mistakes.sample import LEAST
from gradcli.checking.mistakes.wrong import WHOLE, Found
from gradcli.sweeps.rounding import Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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


def other_names(prepared: Prepared, trial: Trial) -> list[Found]:
    """Right, if letters that the problem does not know are its variables."""
    formula, nodes = trial.answered.formula, trial.answered.nodes
    for renamed in _renamed(prepared, trial.answered.unknown):
        values = Values(formula, {**trial.inputs, **{
            given: prepared.inputs[name] for given, name in renamed.items()}}, prepared.errors)
        side = Side(values.of(nodes), prepared.size)
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
