"""Notes on a gradient, as data; explanations are loaded only where one is due."""

from __future__ import annotations

from gradcli.answers.ask import tensors_of
from gradcli.answers.plain_data import note
from gradcli.ops.lazy import np
from gradcli.ops.values import is_float
from gradcli.program import parts

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

        found += kinks.kinks(run, tensors_of(target), binding.value, ask.program.source)
    if len(run.bindings.get(binding.name, ())) > 1:
        from gradcli.explain import notes

        found += notes.rebound(run, binding)
    if run.record.absorbed or not is_finite(g) or not all(
            is_finite(t.value) for t in tensors_of(target)):
        found += _not_finite(ask, run, target, binding, g, field)
    if is_zero(g):
        found += _zero(ask, run, target, binding, field)
    return [note(ask, n) for n in found]


def is_finite(value: Any) -> bool:
    """Whether a value has neither NaN nor infinity in it."""
    if type(value) is float:
        return value - value == 0.0
    return not is_float(value) or bool(np.isfinite(value).all())


def is_zero(value: Any) -> bool:
    """Whether a derivative is exactly 0 in all its elements, of which there are some."""
    if type(value) is float:
        return value == 0.0
    return is_float(value) and value.size > 0 and not np.any(value)


def _zero(ask: Ask, run: Run, target: Target, binding: Binding, field: str) -> list[Any]:
    from gradcli.answers.first_order import seeds_of
    from gradcli.explain import zeros

    tensors = parts(target)
    seeds = zeros.apart(tensors) if field == "jacobian" else seeds_of(ask, tensors)
    return zeros.of_gradient(run, tensors, seeds, binding.value.id, ask.program.source)


def _not_finite(ask: Ask, run: Run, target: Target, binding: Binding, g: Any, field: str
                ) -> list[Any]:
    if field == "jacobian" or ask.explained is None or ask.explained[0] is not target:
        ask.explained = (target, _gradients(ask, run, target, binding, field))
    return ask.explained[1].why(binding.value.id, g)  # type: ignore[no-any-return]


def _gradients(ask: Ask, run: Run, target: Target, binding: Binding, field: str) -> Any:
    """What explains derivatives of a target that are not finite."""
    from gradcli.answers.first_order import seeds_of
    from gradcli.explain import nonfinite

    tensors = parts(target)
    together = field == "gradient"
    # Gradients are swept together, Jacobians of what is no scalar one by one.
    sources = {binding.value.id}
    # A file that asks for itself need not have any that the command line would ask for.
    if (together or [t.shape for t in tensors] == [()]) and (
            ask.wrt or ask.program.default_sources()):
        sources |= {b.value.id for b in ask.program.sources(run, ask.wrt) if ask.watched(b)}
    return nonfinite.Gradients(
        run, tensors, seeds_of(ask, tensors) if together else [], sorted(sources),
        ask.program.source, mode=ask.mode, tensorflow=ask.tf and together)
