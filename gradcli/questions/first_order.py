"""Gradients and Jacobians as answers."""

from __future__ import annotations

from gradcli.engine import calculus
from gradcli.lang.running.calls import plain_structure
from gradcli.ops.values import shape_of, zeros
from gradcli.questions.notes import moved, point, troubles
from gradcli.questions.notes import of_gradient as notes_of_gradient
from gradcli.questions.plain_data import data, derivative, seen, shape
from gradcli.questions.question import answer, note, reason, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

    Derivatives = Callable[[Question, Run, Target, list[Binding]], list[Any]]


def first_order(question: Question, command: str, field: str, derivatives: Derivatives) -> Answer:
    """Return one result per target, in it one item per source."""
    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        tensors = tensors_of(target)
        value = plain_structure(target.tensor)
        count = sum([calculus.size(t.shape) for t in tensors])
        several = command == "grad" and count != 1
        found = derivatives(question, run, target, bindings)
        common = troubles(question, run, target)
        common += moved(question, run, target, bindings)
        if several:
            from gradcli.explain import notes

            common.append(note(question, notes.summed(target.name, count, target.span)))
        sources = [
            _source(question, run, target, binding, g, field)
            for binding, g in zip(bindings, found, strict=True)]
        if question.verify:
            from gradcli.questions.differences import verify

            verify(question, run, target, bindings, sources, field)
        return {"of": target.name, "shape": shape(value), "value": data(value),
                "summed": several, "sources": sources, "notes": common}

    return answer(question, command, each_target(question, of))


def each_target(question: Question, work: Callable[[Run, Target, list[Binding]], Answer]
                ) -> list[Answer]:
    """Run the program; what `work` says of each target, given the sources, in its record."""
    run = question.run()
    with run.record:
        targets = question.program.targets(run, question.of)
        bindings = question.program.sources(run, question.wrt)
        return [work(run, target, bindings) for target in targets]


def _source(question: Question, run: Run, target: Target, binding: Binding, g: Any, field: str
            ) -> Answer:
    value = binding.value.value
    reasons: list[Answer] = []
    found: list[Answer] = []
    if g is None:
        from gradcli.explain.notes import requested_zero
        from gradcli.questions.causes import causes

        why = causes(question, run, target, binding)
        reasons = [reason(question, r) for r in why]
        if question.unconnected == "zero":
            whole = shape_of(plain_structure(target.tensor)) if field == "jacobian" else ()
            g = zeros(whole + shape_of(value))
            found += [note(question, n) for n in requested_zero(why[0])]
    else:
        found = notes_of_gradient(question, run, target, binding, seen(g), field)
    source = {
        "wrt": binding.name, "shape": list(shape_of(value)),
        **point(question, run, target, binding),
        **derivative(field, g, value, question.sparse), "reasons": reasons, "notes": found}
    if question.verbose and field == "gradient":
        from gradcli.questions.path import path_between

        source.update(path_between(question, run, target, binding, source["notes"]))
    return source


# --- gradients --------------------------------------------------------------------------------


# --- Jacobians --------------------------------------------------------------------------------
