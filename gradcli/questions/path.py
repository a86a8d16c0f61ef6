"""The path from a source to a target as rows: where each step stands, its value and its slope."""

from __future__ import annotations

import math

from gradcli.engine import calculus
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.sweeps.extremes import extreme
from gradcli.explain import path as paths
from gradcli.explain.missing import file_scene
from gradcli.explain.written import head_of
from gradcli.ops.values import SCALAR_TYPES, is_float
from gradcli.questions.plain_data import shape
from gradcli.questions.question import note, place, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Segment
    from gradcli.explain.missing.scene import Window
    from gradcli.lang.running.log import LoggedRequest
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.ops.kinds import Op
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

ASSIGNED = "assign"


def path_between(question: Question, run: Run, target: Target, binding: Binding, notes: list[Answer]
                ) -> Answer:
    """Return the path from a source to a target of the command line, in a run that keeps all.
    notes: gets what is to be said of its slopes.
    """
    logged = question.logged(run)
    with logged.record:
        again = question.same_target(logged, target)
        (source,) = question.program.sources(logged, [binding.name])
        window, ids = None, {source.value.id}
        if run.on_tape is not None and logged.tapes:
            tape = logged.tapes.get(question.tape or "") or next(reversed(logged.tapes.values()))
            window = file_scene.window_of(tape)
            tape.remembered()
            ids |= {i for v, states in tape.saw.items()
                    if v.origin() is source.value for i in states}
        targets = {t.id for t in tensors_of(again)}
        return path_of(question, logged, source, ids, targets - {None}, window,
                      question.watched(run, binding) and is_float(binding.value.value), notes=notes)


def path_of(question: Question, logged: Run, source: Binding, own: Collection[Any],
            targets: set[Any], window: Window | None, watched: bool,
            request: LoggedRequest | None = None, notes: list[Answer] | None = None) -> Answer:
    """Return `path`: the source and each place on a shortest path to the target, and `ways`: how
    many paths let a derivative pass. request: the file's own, if it has one. notes: gets
    the notes on slopes that are no floats.
    """
    history = logged.record.history()
    states = logged.log.states if logged.log is not None else []
    steps = paths.path(history, own, targets, states, window)
    if not steps and targets.isdisjoint(own):
        return {"path": [], "ways": 0}
    span = bound_at(question, source)
    at = place(question, span)
    start = source.value.value
    first = steps[0].entry if steps else None
    if first is not None and _place_of(question, logged, steps[0], request)[1] != ASSIGNED:
        start = first[VALUES][first[IDS].index(steps[0].before)]
    text = source.name if source.span == (0, 0) else _statement(question, source.span)
    rows = [{"line": at["line"], "column": at["column"], "text": text, "recorded": watched,
             "name": source.name, "operation": None, "slope": None, "times": 1,
             **_value(start)}]
    before: Span | None = None
    only: Op | None = None
    for step in steps:
        span, operation, op = _place_of(question, logged, step, request)
        row = _row(question, logged, step, span, operation, _upstream(history, step, targets))
        if span is not None and span == before:
            only = only if op is only else None
            rows[-1] = _joined(rows[-1], row, only is not None)
        else:
            rows.append(row)
            only = op
        before = span
    if notes is not None and extreme(logged.record.compact(), [source.value]):
        notes += _beyond(question, logged, steps)
    return {"path": rows, "ways": paths.count_paths(history, own, targets, window)}


def _beyond(question: Question, logged: Run, steps: list[paths.PathStep]) -> list[Answer]:
    from gradcli.engine.sweeps import wide
    from gradcli.explain.notes import shown

    _, slopes = wide.beyond([s.entry for s in steps if s.entry is not None], {}, ())
    found = {}
    for step in steps:
        if step.entry is not None:
            for k, i in enumerate(step.entry[IDS]):
                if i == step.before and (step.id, k) in slopes:
                    span, operation, _ = _place_of(question, logged, step, None)
                    text = operation if span is None else text_at(question, span)
                    found[f"the derivative of `{text}`"] = slopes[step.id, k]
    return [note(question, shown(found, steps[-1].span))] if found else []


def _joined(last: Answer, row: Answer, again: bool) -> Answer:
    """Return two rows as one: an operation that is made of others, or one in a loop, which is
    counted.
    """
    slopes = last["slope"], row["slope"]
    known = last["operation"].split(", ")
    return {
        **row, "slope": None if None in slopes else slopes[0] * slopes[1],
        "recorded": row["recorded"] and last["recorded"],
        "times": last["times"] + 1 if again else 1,
        "operation": last["operation"] if row["operation"] in known
        else f"{last['operation']}, {row['operation']}"}


def _upstream(history: Segment, step: paths.PathStep, targets: set[Any]) -> float:
    """Return the derivative of the targets by the answer of a custom function, where it is a
    number.
    """
    if step.entry is None or not getattr(step.entry[OP], "custom", False):
        return 1.0
    ends = [Tensor(e[ANS], e[OUT]) for e in history if e[OUT] in targets and is_float(e[ANS])]
    (g,) = calculus.gradient(ends, [Tensor(step.value, step.id)], entries=history)
    return g if type(g) is float and g and math.isfinite(g) else 1.0


def _row(question: Question, logged: Run, step: paths.PathStep, span: Span | None, operation: str,
         upstream: float) -> Answer:
    named = logged.named
    at = place(question, span)
    return {
        "line": at["line"], "column": at["column"],
        "text": text_at(question, span) if span is not None else operation, "recorded": step.open,
        "name": named[step.id].name if step.id in named else None, "operation": operation,
        **_value(step.value), "slope": paths.slope(step, upstream), "times": 1}


def _value(value: Any) -> Answer:
    """Return a number in full; of an array the shape only."""
    if value is None:
        return {"shape": None, "value": None}
    return {"shape": shape(value), "value": value if type(value) in SCALAR_TYPES else None}


def _place_of(question: Question, logged: Run, step: paths.PathStep, request: LoggedRequest | None
              ) -> tuple[Span | None, str, Op | None]:
    """Return where a step is, what it is called, and the operation if it is one: of one that
    computes a derivative, the question. A call has the name that is written there, which may stand
    for several operations that nobody wrote.
    """
    if step.entry is None:
        return step.span, ASSIGNED, None
    log = logged.log
    within = [q for q in log.requests if q.first < step.id < q.last and q is not request] if (
        log is not None) else []
    if within:
        innermost = max(within, key=lambda request: request.first)
        return innermost.span, innermost.kind, None
    op = step.entry[OP]
    assigned = op.name == "positive" and log is not None and any(
        state.after == step.id for state in log.states)
    if assigned:
        return step.span, ASSIGNED, None
    name = head_of(question.program.source.text, step.span) if step.span is not None else ""
    return step.span, name if name.replace(".", "").isidentifier() else op.name, op


def bound_at(question: Question, binding: Binding) -> Span | None:
    """Return where a name was bound; of one that is only read, where that first happens."""
    if binding.span != (0, 0):
        return binding.span
    return question.program.names.inputs.get(binding.name)


def _statement(question: Question, span: Span) -> str:
    """Return the statement around a place, if it is on one line; else the place alone."""
    for statement in question.program.statements:
        if statement.start <= span[0] < statement.end:
            text = question.program.source.text[statement.start:statement.end]
            return text_at(question, span) if "\n" in text.strip() else text.strip()
    return text_at(question, span)


def text_at(question: Question, span: Span) -> str:
    """Return what stands there, on one line."""
    return " ".join(question.program.source.text[span[0]:span[1]].split())
