"""Why a derivative that the command line asked for is None."""

from __future__ import annotations

from functools import partial

from gradcli.engine import calculus
from gradcli.engine.record.structure import flatten
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing.file import of_named
from gradcli.explain.missing.fixes import trial_runs
from gradcli.lang.running.calls import is_number
from gradcli.lang.running.run import parts
from gradcli.ops.values import is_float
from gradcli.questions.plain_data import is_finite, is_zero
from gradcli.questions.question import Question, note, tensors, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source
    from gradcli.explain.catalogue import Note, Reason
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.log import Asked
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Binding, Printed, Run, Target
    from gradcli.questions.plain_data import Answer


def causes(ask: Question, run: Run, target: Target, binding: Binding) -> list[Reason]:
    """Return the causes, the one to mend first on top, each with a fix that was tried if it can be.
    """
    logged = ask.logged(run)

    def again(changed: Program) -> tuple[list[Any], Any]:
        """Return the same question to a changed program: the target's values and the gradient."""
        other = ask.replaced(program=changed)
        assert logged.log is not None
        found = trial_runs(logged.log).run(
            changed.source.text, lambda: other.run(explain=False))
        with found.record:
            made = other.same_target(found, target)
            (source,) = changed.sources(found, [binding.name])
            values = [t.value for t in tensors_of(made)]
            (g,) = calculus.gradient(parts(made), [other.source(found, source)])
        return values, g

    late = {}
    if ask.tf and binding.kind != "variable" and binding.name not in ask.watch:
        late = {i: (when, None if place is None else (place[2], place[3]))
                for i, (when, place) in logged.watched.items()}
    return of_named(ask.program, ask.at, logged, target, binding, again, tape=ask.tape,
                    unwatched=not ask.watched(run, binding), late=late)


# --------------------------------------------------------------------------------------------------
# Notes on what a program prints: of how many elements a gradient is, why it is 0, why a number is
# NaN or infinite.

# Questions whose answers are gradients or Jacobians, one for each source.
KINDS = ("gradient", "grad", "vjp", "jacobian")


def has_zero(value: Any) -> bool:
    """Return whether a tensor in what was printed is exactly 0; numbers are no gradients."""
    return any(is_zero(t.value) for t in tensors(value) if not isinstance(t, Variable))


def is_bad(value: Any) -> bool:
    """Return whether a tensor in what was printed is NaN or infinite, or a plain number NaN."""
    return any(not is_finite(v.value) if isinstance(v, Tensor) else _is_plain_nan(v)
               for v in flatten(value))


def sums(ask: Question, run: Run, ids: Iterable[int | None]) -> list[Answer]:
    """Return which of these values are the gradient of several elements together."""
    from gradcli.explain.notes import summed

    found = {run.summed[i] for i in ids if i in run.summed}
    return [note(ask, summed("the target", count, span, each="jacobian"))
            for count, span in sorted(found)]


def out_of_range(ask: Question, run: Run, prints: Sequence[Printed]) -> list[list[Answer]]:
    """Return for each value in some prints the notes that numbers on the way left the range of
    floats.
    """
    from gradcli.explain.notes import flushed
    from gradcli.explain.notes import out_of_range as off

    values = [(one, tensors(v)) for one in prints for v in one.values]
    ids = off(run, [t for _, of in values for t in of])
    names = {b.value.id: f"`{name}`" for name, bindings in run.bindings.items() for b in bindings
             if isinstance(b.value, Tensor)}
    return [[note(ask, flushed(names.get(t.id, "what is printed"), one.span))
             for t in of if t.id in ids] for one, of in values]


def zeros(ask: Question, logged: Run, value: Any) -> list[Answer]:
    """Return why the gradients in what was printed are exactly 0. logged: a run that keeps
    everything.
    """
    questions = _questions(logged)
    out: list[Answer] = []
    for t in tensors(value):
        if is_zero(t.value) and t.id in questions:
            out += [note(ask, n) for n in _zero(ask, logged, *questions[t.id][:2])]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def nonfinite(ask: Question, logged: Run, number: int, item: int, value: Any) -> list[Answer]:
    """Return why numbers in what was printed are NaN or infinite. logged: a run that keeps
    everything. number: of the print; item: which of its values.
    """
    from gradcli.explain.catalogue import Note
    from gradcli.questions.retrying import of_printed, of_question

    trials = of_printed(ask, logged, number, item, value, causes_of_nonfinite)
    found = causes_of_nonfinite(
        logged, tensors(value), ask.program.source, trials, partial(of_question, ask, logged))
    if any(map(_is_plain_nan, flatten(value))):
        found.append(Note("nan-spread", "NaN is made of plain numbers, which nothing records",
                          None))
    out = [note(ask, n) for n in found]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def lost_digits(ask: Question, logged: Run, number: int, item: int, value: Any) -> list[Answer]:
    """Return what the digits of numbers in what was printed are worth, where some cancelled; as
    `nonfinite`.
    """
    from gradcli.explain.numbers.cancelled import Cancelled
    from gradcli.questions import digits
    from gradcli.questions.retrying import of_printed, of_question

    if not digits.shown(logged)**2 > digits.LARGE:
        return []
    from gradcli.questions.asked import states_of

    questions, source = _questions(logged), ask.program.source
    out: list[Answer] = []
    for t in tensors(value):
        if not is_float(t.value) or not (is_finite(t.value) or t.id in questions):
            continue
        if t.id not in questions:
            found = Cancelled(logged, [t], source).of_value(
                of_printed(
            ask, logged, number, item, value, causes_of_nonfinite))
        else:
            question, by, _ = questions[t.id]
            targets, trials = _targets(question), of_question(
                ask, logged, question, _item(question, t))
            if not all(is_finite(one.value) for one in targets):
                continue
            with logged.record:
                found = [n for i in sorted(states_of(logged, by, question)) for n in Cancelled(
                    logged, targets, source).of(Tensor(value_of(by), i), t.value, trials)]
        out += [note(ask, n) for n in found]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def doubtful(ask: Question, logged: Run, value: Any) -> list[Answer]:
    """Return what gradients in what was printed would be, had zeros not absorbed it, or of which
    target that is no number they are. logged: a run that keeps everything.
    """
    from gradcli.questions.retrying import of_question

    questions = _questions(logged) if logged.doubtful else {}
    out: list[Answer] = []
    for t in tensors(value):
        if t.id in logged.doubtful and t.id in questions and is_finite(t.value):
            question, by, _ = questions[t.id]
            out += [note(ask, n) for n in _of_question(
                logged, question, by, t, ask.program.source,
                of_question(ask, logged, question, _item(question, t)))]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def causes_of_nonfinite(logged: Run, values: Sequence[Tensor], source: Source,
                        trials: Trials | None = None,
                        of_question: Callable[[Asked, int], Trials] | None = None) -> list[Note]:
    """Return the cause of each value that is not finite: in the first derivative that it is or is
    made of, else its own. of_question: the trials of an answer to a question.
    """
    from gradcli.explain.numbers import nonfinite as why

    questions = _questions(logged)
    found: list[Note] = []
    for t in values:
        if not is_finite(t.value):
            found += _in_derivative(logged, t, questions, source, of_question) or why.of_value(
                logged, [t], source, trials)
    return found


def _in_derivative(logged: Run, t: Tensor, questions: Mapping[int, tuple[Asked, Any, Tensor]],
                   source: Source, of_question: Callable[[Asked, int], Trials] | None
                   ) -> list[Note]:
    from gradcli.engine.sweeps import reach

    made_of = reach.ancestry(logged.record.history(), [t.id or 0]) if questions else set()
    for i in sorted(made_of & questions.keys()):
        question, by, g = questions[i]
        if is_finite(g.value):
            continue
        found = _of_question(logged, question, by, g, source, None if of_question is None else
                             of_question(question, _item(question, g)))
        if found:
            return found
    return []


def _of_question(logged: Run, question: Asked, by: Any, g: Tensor, source: Source,
                 trials: Trials | None) -> list[Note]:
    """Return why the answer to a question is no number, or is one that is doubtful."""
    from gradcli.explain.numbers import nonfinite as why
    from gradcli.questions.asked import states_of

    targets = [one for one in _targets(question) if one.id is not None]
    with logged.record:
        for state in sorted(states_of(logged, by, question)):
            found = why.NonfiniteGradients(
                logged, targets, [], [state], source,
                of="jacobian" if question.kind == "jacobian" else "gradient").why(
                    state, g.value, trials)
            if found:
                return found
    return []


def _item(question: Asked, g: Tensor) -> int:
    """Return which answer to a question it is."""
    return next(k for k, found in enumerate(flatten(question.found)) if found is g)


def _is_plain_nan(value: Any) -> bool:
    """Return whether a value is a NaN among plain numbers; an infinity there is usually meant."""
    from gradcli.explain.elements import is_nan

    return not isinstance(value, Tensor) and is_number(value) and not is_finite(value) and (
        is_nan(value))


def _questions(logged: Run) -> dict[int, tuple[Asked, Any, Tensor]]:
    """Return a dict from the id of an answer of the file to (question, source, answer)."""
    questions: dict[int, tuple[Asked, Any, Tensor]] = {}
    for question in logged.log.questions if logged.log is not None else ():
        found, sources = flatten(question.found), flatten(question.sources)
        if question.kind in KINDS and len(found) == len(sources):
            questions.update((g.id, (question, s, g)) for g, s in zip(found, sources, strict=True)
                             if isinstance(g, Tensor) and g.id is not None)
    return questions


def _zero(ask: Question, logged: Run, question: Asked, source: Any) -> list[Note]:
    from gradcli.explain.numbers import zeros as why_zero

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
    """Return the ids of a source whose derivative is 0, and not because a 0 was asked for."""
    from gradcli.engine import calculus
    from gradcli.explain.numbers import zeros as why_zero
    from gradcli.questions.asked import states_of

    targets = _targets(question)
    history = logged.record.history()
    found = []
    for i in sorted(states_of(logged, source, question)):
        g = calculus.gradient(targets, [Tensor(value_of(source), i)], entries=history)[0]
        if (g is not None and is_zero(g)) or why_zero.is_constant(logged, targets, i):
            found.append(i)
    return found


def _requested(question: Asked) -> Note:
    from gradcli.explain.catalogue import Note

    return Note("zero-requested", 'no path: 0 because unconnected_gradients="zero" asks for it',
                question.span)


def requested(logged: Run, question: Asked, source: Any, g: Any) -> list[Note]:
    """Return a note on an answer that is 0 because the question asks for 0 where there is no path.
    """
    if question.kind not in KINDS or not is_zero(g) or _connected(logged, question, source):
        return []
    return [_requested(question)]
