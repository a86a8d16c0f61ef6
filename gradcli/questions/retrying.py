"""Questions asked again of a changed text at a moved point, by which rewrites are tried."""

from __future__ import annotations

import math

from gradcli.base.errors import GradcliError, Source, error
from gradcli.base.lazy import np
from gradcli.engine.calculus import gradient, size
from gradcli.engine.record.record import ANS
from gradcli.engine.record.tensor import Tensor, flatten, value_of
from gradcli.explain.numbers import nonfinite
from gradcli.explain.numbers.cancelled import Cancellation
from gradcli.explain.numbers.trials import Trials, named
from gradcli.lang.running.calls import NoGradient
from gradcli.lang.running.program import Program
from gradcli.lang.running.run import Target, parts
from gradcli.ops.values import shape_of
from gradcli.questions.derivatives import gradients, hessian, jacobians, total
from gradcli.questions.question import Question, seeds_of, tensors, tensors_of
from gradcli.questions.requests import names_of, states_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.explain.catalogue import Note
    from gradcli.explain.numbers.trials import Again
    from gradcli.lang.running.log import LoggedRequest
    from gradcli.lang.running.run import Binding, Run, Target

    Answered = tuple[list[Any], Any, Callable[[], list[Note]]]

# So many elements take about as long as a step.
PER_STEP = 20


def of_value(question: Question, run: Run, target: Target) -> Trials:
    """Return what tries rewrites for the value of a target."""
    def asked(other: Question, found: Run, made: Target) -> Answered:
        tensors = tensors_of(made)
        return [t.value for t in tensors], None, lambda: nonfinite.of_value(
            found, tensors, other.program.source)

    return _trials(question, run, _named(question, run, target, [], asked), None, target)


def of_derivative(question: Question, run: Run, target: Target, name: str, field: str) -> Trials:
    """Return the same for a gradient or Jacobian in a name."""
    def asked(other: Question, found: Run, made: Target) -> Answered:
        (binding,) = other.program.sources(found, [name])
        (g,) = (jacobians if field == "jacobian" else gradients)(other, found, made, [binding])

        def notes() -> list[Note]:
            if g is None:  # the rewritten text has no path to the source at this point
                return []
            with found.record:
                told: list[Note] = not_finite(
                    other, found, made, [binding.value.id], field).why(binding.value.id, g)
                return told

        return [t.value for t in tensors_of(made)], g, notes

    return _trials(question, run, _named(question, run, target, [name], asked), name, target)


def of_second(question: Question, run: Run, target: Target, row: str, column: str) -> Trials:
    """Return the same for a block of a Hessian."""
    def asked(other: Question, found: Run, made: Target) -> Answered:
        sources = other.program.sources(found, list(dict.fromkeys((row, column))))
        rows, columns = sources[0], sources[-1]
        block = hessian(other, found, made, sources).blocks[0, len(sources) - 1]

        def notes() -> list[Note]:
            if block is None:  # the rewritten text has no second derivative at this point
                return []
            with found.record:
                return nonfinite.of_second(
                    found, total(made), other.source(found, rows), other.source(found, columns),
                    block, other.program.source)

        return [t.value for t in tensors_of(made)], block, notes

    trials = run.cache("trials")
    nearby = trials.get((target.name, row))
    if nearby is None:
        nearby = trials[target.name, row] = of_derivative(question, run, target, row, "gradient")
    return _trials(question, run, _named(question, run, target, [row, column], asked),
                   row if row == column else None, target, 2, nearby)


def beside(question: Question, run: Run, target: Target, binding: Binding, order: int
           ) -> Callable[[Any], list[tuple[list[float], float]]]:
    """Return a function of a name's value to the values of a target and its derivatives in that
    name, order by order, and how far rounding may have moved each order. Behind the first they are
    those of a sum with weights of the ones before.
    """
    def asked(other: Question, found: Run, made: Target) -> Answered:
        sources = [other.source(found, b) for b in other.program.sources(found, [binding.name])]
        whole, levels = parts(made), []
        for k in range(order + 1):
            levels.append(([x for t in whole for x in np.ravel(t.value).tolist()],
                           Cancellation(found, whole, other.program.source).rounding()))
            if k < order:
                whole = [g for g in gradient([_weighted(t) for t in whole], sources, emit=True)
                         if g is not None]
        return levels, None, list

    again = _named(question, run, target, [binding.name], asked)
    return lambda moved: again(question.program.source.text, {binding.name: moved})[0]


def _weighted(tensor: Tensor) -> Tensor:
    """Return a tensor with different weights on all its elements."""
    n = size(tensor.shape)
    return tensor*np.cos(np.arange(n) + 0.5).reshape(tensor.shape) if tensor.shape else tensor


def of_request(question: Question, logged: Run, request: LoggedRequest, item: int) -> Trials:
    """Return the same for an answer to a question of the file; item: which of its answers."""
    assert logged.log is not None
    number = next(k for k, one in enumerate(logged.log.requests) if one is request)

    def again(text: str, moved: Mapping[str, Any]) -> Answered:
        found = _changed(question, logged, text).logged_run({**question.at, **moved}, until=number,
                                                            **question.options())
        requests = found.log.requests if found.log is not None else []
        answers = flatten(requests[number].found) if number < len(requests) else []
        if item >= len(answers):
            raise error("E0401", "the question was not reached")
        targets = [t.read() for t in flatten(requests[number].targets) if isinstance(t, Tensor)]
        source, g = flatten(requests[number].sources)[item], answers[item]

        def notes() -> list[Note]:
            with found.record:
                return [] if source.id is None else nonfinite.NonfiniteGradients(
                    found, targets, [], [source.id], Source(text)).why(source.id, value_of(g))

        return [t.value for t in targets], None if isinstance(g, NoGradient) else value_of(
            g), notes

    trials, source = _trials(question, logged, again), flatten(request.sources)[item]
    ids = states_of(logged, source, request)
    for name in trials.at:
        if ids == {logged.bindings[name][0].value.id} and _first_states(logged, request.last):
            trials.wrt = name
            trials.of = names_of(question, logged, request, 0, flatten(request.targets),
                                 "the target")[0]
    return trials


def of_printed(question: Question, logged: Run, number: int, item: int, value: Any,
               why: Callable[[Run, list[Tensor], Source], list[Note]]) -> Trials:
    """Return the same for a value that a file prints: of its print of this number the one at
    `item`. why: tells of tensors of a run why they are no finite numbers.
    """
    def again(text: str, moved: Mapping[str, Any]) -> Answered:
        prints: list[Any] = []
        found = _changed(question, logged, text).logged_run(
            {**question.at, **moved}, prints.append, **question.options())
        if number >= len(prints):
            raise error("E0401", "the print was not reached")
        made = tensors(prints[number].values[item])
        return [t.value for t in made], None, lambda: why(
            found, made, Source(text))

    trials = _trials(question, logged, again)
    if tensors(value)[1:] == [] and _first_states(logged):
        trials.of = next((name for name, bindings in logged.bindings.items()
                          if any(b.value is t for b in bindings for t in tensors(value))),
                         "what is printed")
    return trials


def _first_states(logged: Run, last: float = math.inf) -> bool:
    """Return whether by then no variable had another value than its first: none that is moved."""
    return logged.log is not None and all(state.after > last for state in logged.log.states)


def _changed(question: Question, run: Run, text: str) -> Program:
    if text == question.program.source.text:
        return question.program
    kept = run.cache("changed")     # the last one, parsed once for all points
    if text not in kept:
        kept.clear()
        kept[text] = Program(Source(text, question.program.source.name))
    program: Program = kept[text]
    return program


def _named(question: Question, run: Run, target: Target, wrt: list[str],
           asked: Callable[[Question, Run, Target], Answered]) -> Again:
    def again(text: str, moved: Mapping[str, Any]) -> Answered:
        other = question.replaced(program=_changed(question, run, text),
                                  at={**question.at, **moved}, wrt=wrt, sparse=False)
        found = other.run(explain=False)
        with found.record:
            return asked(other, found, other.same_target(found, target))

    return again


def _value(question: Question, run: Run, target: Target) -> Again:
    """Return the value alone. A point is computed once: the notes of all sources and blocks look at
    the same ones.
    """
    asked = _named(question, run, target, [], lambda other, found, made: (
        [t.value for t in tensors_of(made)], None, list))

    nearby = run.cache("nearby")

    def again(text: str, moved: Mapping[str, Any]) -> Answered:
        point = (target.name, named(text, moved))
        if point not in nearby:
            try:
                nearby[point] = asked(text, moved)
            except GradcliError as problem:
                nearby[point] = problem.with_traceback(None)
        found: Answered | GradcliError = nearby[point]
        if isinstance(found, GradcliError):
            raise found
        return found

    return again


def _trials(question: Question, run: Run, again: Again, wrt: str | None = None,
            target: Target | None = None, order: int = 1, nearby: Trials | None = None) -> Trials:
    at = {name: value_of(run.bindings[name][0].value)
          for name in question.program.default_sources if name in run.bindings}
    # An operation on an array is some steps.
    elements = sum([size(shape_of(entry[ANS])) for entry in run.record.history()])
    return Trials(question.program.source, again, at, run.steps + elements//PER_STEP, wrt,
                  target.name if target is not None else "", order,
                  _value(question, run, target) if target is not None else None, nearby)


def not_finite(question: Question, run: Run, target: Target, sources: list[int], field: str) -> Any:
    """Return what explains why derivatives of a target are no finite numbers."""
    from gradcli.explain.numbers import nonfinite

    tensors, together = parts(target), field == "gradient"
    return nonfinite.NonfiniteGradients(
        run, tensors, seeds_of(question, tensors) if together else [], sources,
        question.program.source, mode=question.mode, tensorflow=question.tf and together)
