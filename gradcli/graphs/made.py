"""What ran, by id: operations, and variables that took a value."""

from __future__ import annotations

from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, span_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.run import Run


class Made:
    """A value that was made. id: its own. inputs: (id or None, value, whether a derivative passes)
    of its operands. operation: what made it, in a word. span: where. question: number of the
    question of the file that made it, or None.
    """

    __slots__ = ("attributes", "id", "inputs", "kind", "operation", "question", "span", "value")

    def __init__(self, id: int, kind: str, operation: str, inputs: Sequence[tuple[Any, Any, bool]],
                 value: Any, span: Span | None, attributes: Any = None) -> None:
        self.id = id
        self.kind = kind
        self.operation = operation
        self.inputs = list(inputs)
        self.value = value
        self.span = span
        self.attributes = dict(attributes or {})
        self.question: int | None = None


def made_by(logged: Run) -> dict[int, Made]:
    """Everything that ran, by id: operations, and variables that took a value."""
    log = logged.log
    assert log is not None
    found: dict[int, Made] = {}
    for entry in logged.record.history():
        op, ids = entry[OP], entry[IDS]
        found[entry[OUT]] = Made(
            entry[OUT], "operation", op.name,
            [(i, v, op.edge(k)) for k, (i, v) in enumerate(zip(ids, entry[VALUES], strict=True))],
            entry[ANS], span_of(entry), entry[ATTRIBUTES])
    for state in log.states:
        before = state.before if state.how in ("assign_add", "assign_sub") else None
        inputs = [(i, None, False) for i in (state.taken, before) if i is not None]
        if inputs or state.how.startswith("assign"):
            found[state.after] = Made(state.after, "state", state.how, inputs, state.value,
                                      state.span)
    for number, question in enumerate(log.questions):
        for id in range(question.first + 1, question.last):
            # Of questions within questions the outer one counts, which came last.
            if id in found:
                found[id].question = number
    return found


def ancestors(made: dict[int, Made], targets: Iterable[int]) -> list[Made]:
    """What leads to the targets, in the order in which it ran."""
    found: set[int] = set()
    pending = list(targets)
    while pending:
        id = pending.pop()
        if id in found or id not in made:
            continue
        found.add(id)
        pending += [i for i, _, _ in made[id].inputs if i is not None]
    return [made[id] for id in sorted(found)]
