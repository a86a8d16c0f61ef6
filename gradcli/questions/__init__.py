"""Questions of the command line, answered as plain data in the shape of `gradcli/schemas`.

A `Question` holds what was asked. `grad`, `jac`, `hess`, `evaluate` return one dict each: floats,
strings, None, nested lists; nothing of NumPy or of the engine. Renderers print them, `--format
json` dumps them. Explanations and differences are imported when an answer needs them.
"""

from __future__ import annotations

from gradcli.engine.calculus import size
from gradcli.lang.running.calls import NoGradient, plain_structure
from gradcli.ops.values import shape_of, zeros
from gradcli.questions.derivatives import gradients, jacobians
from gradcli.questions.notes import moved, point, troubles
from gradcli.questions.notes import of_gradient as notes_of_gradient
from gradcli.questions.plain_data import data, derivative, seen, shape
from gradcli.questions.question import Question, answer, each_target, note, reason, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer

    Derivatives = Callable[[Question, Run, Target, list[Binding]], list[Any]]

__all__ = ["Question", "evaluate", "failed", "grad", "hess", "jac"]

# Relative difference to finite differences above which --verify calls a derivative wrong: they are
# good for about ten digits on smooth functions.
VERIFY_TOLERANCE = 1e-5
# Where an answer has numbers.
NUMBERS = ("value", "gradient", "jacobian", "hessian", "sparse")
# Notes on what is not right, or may not be.
PERHAPS_WRONG = ("range-value", "range-slope", "digits-cancelled", "part-left-out",
                 "differences-rough")


def evaluate(question: Question) -> Answer:
    """Return the values of the targets."""
    run = question.run()
    results = []
    with run.record:
        for target in question.program.targets(run, question.of, derived=False):
            value = plain_structure(target.tensor)
            told = {"of": target.name, "shape": shape(value), "value": data(value),
                    "notes": troubles(question, run, target)}
            if isinstance(target.tensor, NoGradient):
                from gradcli.explain.missing.file import of_missing

                told["reasons"] = [
                    reason(question, r) for r in of_missing(
                        question.program, question.at, run, target.tensor)]
            results.append(told)
    return answer(question, "eval", results)


def grad(question: Question) -> Answer:
    """Return gradients of the targets; of one with several elements, that of their sum."""
    return first_order(question, "grad", "gradient", gradients)


def jac(question: Question) -> Answer:
    """Return Jacobians: the shape of each is that of the target, followed by that of the source."""
    return first_order(question, "jac", "jacobian", jacobians)


def first_order(question: Question, command: str, field: str, derivatives: Derivatives) -> Answer:
    """Return one result per target, in it one item per source."""
    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        tensors = tensors_of(target)
        value = plain_structure(target.tensor)
        count = sum([size(t.shape) for t in tensors])
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


def hess(question: Question) -> Answer:
    """Return Hessians: a block for each pair of sources, and with `eig` the eigenvalues of the
    whole.
    """
    from gradcli.questions.second_order import second_order

    return second_order(question)


def failed(found: Answer, strict: bool) -> bool:
    """Return whether something checked is wrong: exit status 1. strict: a None, NaN and infinity
    are, and what may be wrong.
    """
    for result in found["results"]:
        for part in (result, *result.get("sources", ()), *result.get("blocks", ())):
            if strict and (
                    part.get("reasons")
                    or not all_finite([part.get(field) for field in NUMBERS])
                    or any(n["code"] in PERHAPS_WRONG for n in part.get("notes", ()))):
                return True
            check = part.get("verify")
            if check is not None and not check.get(
                    "agrees", check["difference"] <= VERIFY_TOLERANCE):
                return True
    return False


def all_finite(value: Any) -> bool:
    """Return whether no number in a value as data is NaN or infinite."""
    if isinstance(value, (list, dict)):
        return all(map(all_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, (float, complex)) or value - value == 0
