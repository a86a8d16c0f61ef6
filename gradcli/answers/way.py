"""The way from a source to a target as rows: where each step stands, its value and its slope."""

from __future__ import annotations

from gradcli.answers.plain_data import place, shape
from gradcli.explain import path as paths
from gradcli.ops.values import SCALAR_TYPES
from gradcli.tape.record import IDS, OP, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.errors import Span
    from gradcli.explain.missing.scene import Window
    from gradcli.lang.run import Binding, Run

ASSIGNED = "assign"


def way_of(ask: Ask, logged: Run, source: Binding, own: Collection[Any], targets: set[Any],
          window: Window | None, watched: bool) -> Answer:
    """`path`: the source and each place on a shortest way to the target; `ways`: how many let a
    derivative pass.
    """
    history = logged.record.history()
    states = logged.log.states if logged.log is not None else []
    steps = paths.path(history, own, targets, states, window)
    if not steps and targets.isdisjoint(own):
        return {"path": [], "ways": 0}
    span = bound_at(ask, source)
    at = place(ask, span)
    start = source.value.value
    first = steps[0].entry if steps else None
    if first is not None and _place_of(logged, steps[0])[1] != ASSIGNED:
        start = first[VALUES][first[IDS].index(steps[0].before)]
    text = source.name if source.span == (0, 0) else _statement(ask, source.span)
    rows = [{"line": at["line"], "column": at["column"], "text": text, "recorded": watched,
             "name": source.name, "operation": None, "slope": None, "times": 1,
             **_value(start)}]
    before: Span | None = None
    for step in steps:
        span, operation = _place_of(logged, step)
        row = _row(ask, logged, step, span, operation)
        if span is not None and span == before:
            counted = step.entry is not None and operation == step.entry[OP].name
            rows[-1] = _joined(rows[-1], row, counted)
        else:
            rows.append(row)
        before = span
    return {"path": rows, "ways": paths.ways(history, own, targets, window)}


def _joined(last: Answer, row: Answer, counted: bool) -> Answer:
    """An operation that is made of others, or one in a loop, which is counted: one place, one row.
    """
    slopes = last["slope"], row["slope"]
    again = counted and row["operation"] == last["operation"]
    known = last["operation"].split(", ")
    return {
        **row, "slope": None if None in slopes else slopes[0] * slopes[1],
        "recorded": row["recorded"] and last["recorded"],
        "times": last["times"] + 1 if again else 1,
        "operation": last["operation"] if row["operation"] in known
        else f"{last['operation']}, {row['operation']}"}


def _row(ask: Ask, logged: Run, step: paths.Step, span: Span | None, operation: str) -> Answer:
    named = logged.log.named if logged.log is not None else {}
    at = place(ask, span)
    return {
        "line": at["line"], "column": at["column"],
        "text": text_at(ask, span) if span is not None else operation, "recorded": step.open,
        "name": named[step.id].name if step.id in named else None, "operation": operation,
        **_value(step.value), "slope": paths.slope(step), "times": 1}


def _value(value: Any) -> Answer:
    """A number in full; of an array the shape only."""
    if value is None:
        return {"shape": None, "value": None}
    return {"shape": shape(value), "value": value if type(value) in SCALAR_TYPES else None}


def _place_of(logged: Run, step: paths.Step) -> tuple[Span | None, str]:
    """Where a step is, and what it is called: of one that computes a derivative, the question."""
    if step.entry is None:
        return step.span, ASSIGNED
    log = logged.log
    within = [q for q in log.questions if q.first < step.id < q.last] if log is not None else []
    if within:
        innermost = max(within, key=lambda question: question.first)
        return innermost.span, innermost.kind
    assigned = step.entry[OP].name == "positive" and log is not None and any(
        state.after == step.id for state in log.states)
    return step.span, ASSIGNED if assigned else step.entry[OP].name


def bound_at(ask: Ask, binding: Binding) -> Span | None:
    """Where a name was bound; of one that is only read, where that first happens."""
    if binding.span != (0, 0):
        return binding.span
    return ask.program.names.inputs.get(binding.name)


def _statement(ask: Ask, span: Span) -> str:
    """The statement around a place, if it is on one line; else the place alone."""
    for statement in ask.program.statements:
        if statement.start <= span[0] < statement.end:
            text = ask.program.source.text[statement.start:statement.end]
            return text_at(ask, span) if "\n" in text.strip() else text.strip()
    return text_at(ask, span)


def text_at(ask: Ask, span: Span) -> str:
    """What stands there, on one line."""
    return " ".join(ask.program.source.text[span[0]:span[1]].split())
