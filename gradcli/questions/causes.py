"""Causes for what `gradcli.explain` is asked by an answer: of a derivative that is None, of a 0, of
NaN and infinity, and of digits lost, also in what a program prints.
"""

from __future__ import annotations

from functools import partial

from gradcli.engine import calculus
from gradcli.engine.record.record import ancestry
from gradcli.engine.record.tensor import Tensor, flatten, value_of
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing.file import of_named, trial_runs
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
    from gradcli.lang.running.log import LoggedRequest
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Binding, Printed, Run, Target
    from gradcli.questions.plain_data import Answer


def causes(question: Question, run: Run, target: Target, binding: Binding) -> list[Reason]:
    """Return the causes, the one to mend first on top, each with a fix that was tried if it can be.
    """
    logged = question.logged(run)

    def again(changed: Program) -> tuple[list[Any], Any]:
        """Return the same question to a changed program: the target's values and the gradient."""
        other = question.replaced(program=changed)
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
    if question.tf and binding.kind != "variable" and binding.name not in question.watch:
        late = {i: (when, None if place is None else (place[2], place[3]))
                for i, (when, place) in logged.watched.items()}
    return of_named(question.program, question.at, logged, target, binding, again,
                    tape=question.tape, unwatched=not question.watched(run, binding), late=late)


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


def sums(question: Question, run: Run, ids: Iterable[int | None]) -> list[Answer]:
    """Return which of these values are the gradient of several elements together."""
    from gradcli.explain.notes import summed

    found = {run.summed[i] for i in ids if i in run.summed}
    return [note(question, summed("the target", count, span, each="jacobian"))
            for count, span in sorted(found)]


def out_of_range(question: Question, run: Run, prints: Sequence[Printed]) -> list[list[Answer]]:
    """Return for each value in some prints the notes that numbers on the way left the range of
    floats.
    """
    from gradcli.explain.notes import flushed
    from gradcli.explain.notes import out_of_range as off

    values = [(one, tensors(v)) for one in prints for v in one.values]
    ids = off(run, [t for _, of in values for t in of])
    names = {b.value.id: f"`{name}`" for name, bindings in run.bindings.items() for b in bindings
             if isinstance(b.value, Tensor)}
    return [[note(question, flushed(names.get(t.id, "what is printed"), one.span))
             for t in of if t.id in ids] for one, of in values]


def zeros(question: Question, logged: Run, value: Any) -> list[Answer]:
    """Return why the gradients in what was printed are exactly 0. logged: a run that keeps
    everything.
    """
    requests = _questions(logged)
    out: list[Answer] = []
    for t in tensors(value):
        if is_zero(t.value) and t.id in requests:
            out += [note(question, n) for n in _zero(question, logged, *requests[t.id][:2])]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def nonfinite(question: Question, logged: Run, number: int, item: int, value: Any) -> list[Answer]:
    """Return why numbers in what was printed are NaN or infinite. logged: a run that keeps
    everything. number: of the print; item: which of its values.
    """
    from gradcli.explain.catalogue import Note
    from gradcli.questions.retrying import of_printed, of_request

    trials = of_printed(question, logged, number, item, value, causes_of_nonfinite)
    found = causes_of_nonfinite(
        logged, tensors(value), question.program.source, trials,
        partial(of_request, question, logged))
    if any(map(_is_plain_nan, flatten(value))):
        found.append(Note("nan-spread", "NaN is made of plain numbers, which nothing records",
                          None))
    out = [note(question, n) for n in found]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def lost_digits(question: Question, logged: Run, number: int, item: int,
                value: Any) -> list[Answer]:
    """Return what the digits of numbers in what was printed are worth, where some cancelled; as
    `nonfinite`.
    """
    from gradcli.explain.numbers.cancelled import Cancellation
    from gradcli.questions import digits
    from gradcli.questions.retrying import of_printed, of_request

    if not digits.shown(logged)**2 > digits.LARGE:
        return []
    from gradcli.questions.requests import states_of

    requests, source = _questions(logged), question.program.source
    out: list[Answer] = []
    for t in tensors(value):
        if not is_float(t.value) or not (is_finite(t.value) or t.id in requests):
            continue
        if t.id not in requests:
            found = Cancellation(logged, [t], source).of_value(
                of_printed(
            question, logged, number, item, value, causes_of_nonfinite))
        else:
            request, by, _ = requests[t.id]
            targets, trials = _targets(request), of_request(
                question, logged, request, _item(request, t))
            if not all(is_finite(one.value) for one in targets):
                continue
            with logged.record:
                found = [n for i in sorted(states_of(logged, by, request)) for n in Cancellation(
                    logged, targets, source).of(Tensor(value_of(by), i), t.value, trials)]
        out += [note(question, n) for n in found]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def doubtful(question: Question, logged: Run, value: Any) -> list[Answer]:
    """Return what gradients in what was printed would be, had zeros not absorbed it, or of which
    target that is no number they are. logged: a run that keeps everything.
    """
    from gradcli.questions.retrying import of_request

    requests = _questions(logged) if logged.doubtful else {}
    out: list[Answer] = []
    for t in tensors(value):
        if t.id in logged.doubtful and t.id in requests and is_finite(t.value):
            request, by, _ = requests[t.id]
            out += [note(question, n) for n in _of_request(
                logged, request, by, t, question.program.source,
                of_request(question, logged, request, _item(request, t)))]
    return [n for k, n in enumerate(out) if n not in out[:k]]


def causes_of_nonfinite(logged: Run, values: Sequence[Tensor], source: Source,
                        trials: Trials | None = None,
                        of_request: Callable[[LoggedRequest, int], Trials] | None = None
                        ) -> list[Note]:
    """Return the cause of each value that is not finite: in the first derivative that it is or is
    made of, else its own. of_request: the trials of an answer to a request of the file.
    """
    from gradcli.explain.numbers import nonfinite as why

    requests = _questions(logged)
    found: list[Note] = []
    for t in values:
        if not is_finite(t.value):
            found += _in_derivative(logged, t, requests, source, of_request) or why.of_value(
                logged, [t], source, trials)
    return found


def _in_derivative(logged: Run, t: Tensor, requests: Mapping[int, tuple[LoggedRequest, Any,
                                                                        Tensor]],
                   source: Source, of_request: Callable[[LoggedRequest, int], Trials] | None
                   ) -> list[Note]:
    made_of = ancestry(logged.record.history(), [t.id or 0]) if requests else set()
    for i in sorted(made_of & requests.keys()):
        request, by, g = requests[i]
        if is_finite(g.value):
            continue
        found = _of_request(logged, request, by, g, source, None if of_request is None else
                            of_request(request, _item(request, g)))
        if found:
            return found
    return []


def _of_request(logged: Run, request: LoggedRequest, by: Any, g: Tensor, source: Source,
                trials: Trials | None) -> list[Note]:
    """Return why the answer to a question is no number, or is one that is doubtful."""
    from gradcli.explain.numbers import nonfinite as why
    from gradcli.questions.requests import states_of

    targets = [one for one in _targets(request) if one.id is not None]
    with logged.record:
        for state in sorted(states_of(logged, by, request)):
            found = why.NonfiniteGradients(
                logged, targets, [], [state], source,
                of="jacobian" if request.kind == "jacobian" else "gradient").why(
                    state, g.value, trials)
            if found:
                return found
    return []


def _item(request: LoggedRequest, g: Tensor) -> int:
    """Return which answer to a question it is."""
    return next(k for k, found in enumerate(flatten(request.found)) if found is g)


def _is_plain_nan(value: Any) -> bool:
    """Return whether a value is a NaN among plain numbers; an infinity there is usually meant."""
    from gradcli.explain.elements import is_nan

    return not isinstance(value, Tensor) and is_number(value) and not is_finite(value) and (
        is_nan(value))


def _questions(logged: Run) -> dict[int, tuple[LoggedRequest, Any, Tensor]]:
    """Return a dict from the id of an answer of the file to (question, source, answer)."""
    requests: dict[int, tuple[LoggedRequest, Any, Tensor]] = {}
    for request in logged.log.requests if logged.log is not None else ():
        found, sources = flatten(request.found), flatten(request.sources)
        if request.kind in KINDS and len(found) == len(sources):
            requests.update((g.id, (request, s, g)) for g, s in zip(found, sources, strict=True)
                            if isinstance(g, Tensor) and g.id is not None)
    return requests


def _zero(question: Question, logged: Run, request: LoggedRequest, source: Any) -> list[Note]:
    from gradcli.explain.numbers import zeros as why_zero

    targets = _targets(request)
    ids = _connected(logged, request, source)
    for i in ids:
        found = why_zero.of_gradient(logged, targets, why_zero.apart(targets) if (
            request.kind == "jacobian") else [], i, question.program.source)
        if found:
            return found
    return [] if ids else [_requested(request)]


def _targets(request: LoggedRequest) -> list[Tensor]:
    return [t.read() for t in flatten(request.targets) if isinstance(t, Tensor)]


def _connected(logged: Run, request: LoggedRequest, source: Any) -> list[int]:
    """Return the ids of a source whose derivative is 0, and not because a 0 was asked for."""
    from gradcli.engine import calculus
    from gradcli.explain.numbers import zeros as why_zero
    from gradcli.questions.requests import states_of

    targets = _targets(request)
    history = logged.record.history()
    found = []
    for i in sorted(states_of(logged, source, request)):
        g = calculus.gradient(targets, [Tensor(value_of(source), i)], entries=history)[0]
        if (g is not None and is_zero(g)) or why_zero.is_constant(logged, targets, i):
            found.append(i)
    return found


def _requested(request: LoggedRequest) -> Note:
    from gradcli.explain.catalogue import Note

    return Note("zero-requested", 'no path: 0 because unconnected_gradients="zero" asks for it',
                request.span)


def requested(logged: Run, request: LoggedRequest, source: Any, g: Any) -> list[Note]:
    """Return a note on an answer that is 0 because the question asks for 0 where there is no path.
    """
    if request.kind not in KINDS or not is_zero(g) or _connected(logged, request, source):
        return []
    return [_requested(request)]
