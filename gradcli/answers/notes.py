"""Notes on a gradient, as data; explanations are loaded only where one is due."""

from __future__ import annotations

from gradcli.answers.ask import tensors_of
from gradcli.answers.plain_data import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.program import Target


def of_gradient(ask: Ask, run: Run, target: Target, binding: Binding, g: Any, field: str
                ) -> list[Answer]:
    """What has to be said of a derivative that exists: conventions at kinks, a name that was bound
    again.
    """
    found: list[Any] = []
    if run.record.has_kinks():
        from gradcli.explain import kinks

        found += kinks.kinks(run, tensors_of(target), binding.value)
    if len(run.bindings.get(binding.name, ())) > 1:
        from gradcli.explain import notes

        found += notes.rebound(run, binding)
    return [note(ask, n) for n in found]
