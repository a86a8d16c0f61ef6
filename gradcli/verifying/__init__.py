"""Derivatives checked against each other: reverse, forward, complex step, central differences.

Second derivatives are looked at as well where that is cheap: they are first ones of the gradient.
`verify` answers as plain data in the shape of `gradcli/schemas/verify.schema.json`. The first two
are what the engine says; the other two know nothing of rules, so what disagrees with them is wrong.
"""

from __future__ import annotations

from gradcli.answers.ask import answer
from gradcli.answers.first_order import each_target
from gradcli.answers.plain_data import data, shape
from gradcli.lang.targets import plain_structure
from gradcli.ops.lazy import np
from gradcli.verifying.compare import AGREE, DIFFER, worst
from gradcli.verifying.function import Function
from gradcli.verifying.source import verified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.answers.ask import Answer, Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

__all__ = ["failed", "verify", "worst"]

# Second derivatives are cheap for so many numbers and so long a record.
MOST_SOURCES = 3
MOST_ENTRIES = 500
# Notes where a gradient has no slope: its function has a kink.
KINKS = ("undecided-kink", "undecided-jump")


def verify(ask: Ask) -> Answer:
    """Each target by each source, element by element (of large ones in random directions)."""
    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        value = plain_structure(target.tensor)
        function = Function(ask, target)
        sources = [verified(run, function, binding) for binding in bindings]
        blocks = _second(run, function, [
            b for b, s in zip(bindings, sources, strict=True) if s["verdict"] == AGREE])
        return {"of": target.name, "shape": shape(value), "value": data(value),
                "verdict": worst([s["verdict"] for s in (*sources, *blocks)]),
                "sources": sources, "blocks": blocks}

    with np.errstate(all="ignore"):     # what overflows is told as the number that it becomes
        found = answer(ask, "verify", each_target(ask, of))
    found["verdict"] = worst([r["verdict"] for r in found["results"]])
    return found


def _second(run: Run, function: Function, bindings: list[Binding]) -> list[Answer]:
    """The derivatives by pairs of these sources, each pair once; none where that is not cheap."""
    if run.record.has_kinks():
        from gradcli.explain.kinks import kinks

        # A second derivative at a kink is a convention.
        bindings = [b for b in bindings if not kinks(
            run, function.tensors, b.value, function.ask.program.source, order=2)]
    numbers = (*function.tensors, *[b.value for b in bindings])
    if len(bindings) > MOST_SOURCES or len(run.record.history()) > MOST_ENTRIES or any(
            type(t.value) is not float for t in numbers) or len(function.tensors) != 1:
        return []
    found = []
    for k, row in enumerate(bindings):
        gradient = Function(function.ask, function.target, row)
        for column in bindings[k:]:
            told = verified(run, gradient, column)
            del told["wrt"], told["at"]
            if not any(n["code"] in KINKS for n in told["notes"]):
                found.append({"row": row.name, "col": column.name, **told})
    return found


def failed(found: Answer) -> bool:
    """Whether a derivative is wrong: exit status 1."""
    return bool(found["verdict"] == DIFFER)
