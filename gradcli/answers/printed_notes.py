"""Notes on gradients that a program prints: of how many elements together, and why one is 0."""

from __future__ import annotations

from gradcli.answers.notes import is_zero
from gradcli.answers.plain_data import note
from gradcli.tape.structure import flatten
from gradcli.tape.tensor import Tensor, value_of
from gradcli.tape.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.explain.reason import Note
    from gradcli.lang.log import Asked
    from gradcli.lang.run import Run

# Questions whose answers are gradients or Jacobians, one for each source.
KINDS = ("gradient", "grad", "vjp", "jacobian")


def tensors(value: Any) -> list[Tensor]:
    """The tensors in what was printed."""
    return [v for v in flatten(value) if isinstance(v, Tensor)]


def has_zero(value: Any) -> bool:
    """Whether a tensor in what was printed is exactly 0; numbers are no gradients."""
    return any(is_zero(t.value) for t in tensors(value) if not isinstance(t, Variable))


def sums(ask: Ask, run: Run, ids: Iterable[int | None]) -> list[Answer]:
    """Which of these values are the gradient of several elements together."""
    from gradcli.explain.notes import summed

    found = {run.summed[i] for i in ids if i in run.summed}
    return [note(ask, summed("the target", count, span, each="jacobian"))
            for count, span in sorted(found)]


def zeros(ask: Ask, logged: Run, value: Any) -> list[Answer]:
    """Why the gradients in what was printed are exactly 0. logged: a run that keeps everything."""
    questions: dict[int, tuple[Asked, Any]] = {}
    for question in logged.log.questions if logged.log is not None else ():
        found, sources = flatten(question.found), flatten(question.sources)
        if question.kind in KINDS and len(found) == len(sources):
            questions.update((g.id, (question, s)) for g, s in zip(found, sources, strict=True)
                             if isinstance(g, Tensor) and g.id is not None)
    out: list[Answer] = []
    for t in tensors(value):
        if is_zero(t.value) and t.id in questions:
            out += [note(ask, n) for n in _zero(ask, logged, *questions[t.id])]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def _zero(ask: Ask, logged: Run, question: Asked, source: Any) -> list[Note]:
    from gradcli.explain import zeros as why_zero

    targets = _targets(question)
    ids = _connected(logged, question, source)
    for i in ids:
        found = why_zero.of_gradient(logged, targets, why_zero.apart(targets) if (
            question.kind == "jacobian") else [], i, ask.program.source)
        if found:
            return found
    return [] if ids else [_requested(question)]


def _targets(question: Asked) -> list[Tensor]:
    return [t.read() for t in flatten(question.targets) if isinstance(t, Tensor)]


def _connected(logged: Run, question: Asked, source: Any) -> list[int]:
    """The ids of a source whose derivative is 0, and not because a 0 was asked for."""
    from gradcli import calculus
    from gradcli.answers.asked import states_of
    from gradcli.explain import zeros as why_zero

    targets = _targets(question)
    history = logged.record.history()
    found = []
    for i in sorted(states_of(logged, source, question)):
        g = calculus.gradient(targets, [Tensor(value_of(source), i)], entries=history)[0]
        if (g is not None and is_zero(g)) or why_zero.is_constant(logged, targets, i):
            found.append(i)
    return found


def _requested(question: Asked) -> Note:
    from gradcli.explain.reason import Note

    return Note("zero-requested", 'no path: 0 because unconnected_gradients="zero" asks for it',
                question.span)


def requested(logged: Run, question: Asked, source: Any, g: Any) -> list[Note]:
    """A note on an answer that is 0 because the question asks for that where there is no path."""
    if question.kind not in KINDS or not is_zero(g) or _connected(logged, question, source):
        return []
    return [_requested(question)]
