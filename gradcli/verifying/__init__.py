"""Derivatives checked against each other: reverse, forward, complex step, central differences.

`verify` answers as plain data in the shape of `gradcli/schemas/verify.schema.json`. The first two
are what the engine says; the other two know nothing of rules, so what disagrees with them is wrong.
"""

from __future__ import annotations

from gradcli.answers.ask import answer
from gradcli.answers.first_order import each_target
from gradcli.answers.plain_data import data, shape
from gradcli.lang.targets import plain_structure
from gradcli.verifying.compare import DIFFER, worst
from gradcli.verifying.function import Function
from gradcli.verifying.source import verified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.answers.ask import Answer, Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

__all__ = ["failed", "verify", "worst"]


def verify(ask: Ask) -> Answer:
    """Each target by each source, element by element (of large ones in random directions)."""
    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        value = plain_structure(target.tensor)
        function = Function(ask, target)
        sources = [verified(run, function, binding) for binding in bindings]
        return {"of": target.name, "shape": shape(value), "value": data(value),
                "verdict": worst([s["verdict"] for s in sources]), "sources": sources}

    found = answer(ask, "verify", each_target(ask, of))
    found["verdict"] = worst([r["verdict"] for r in found["results"]])
    return found


def failed(found: Answer) -> bool:
    """Whether a derivative is wrong: exit status 1."""
    return bool(found["verdict"] == DIFFER)
