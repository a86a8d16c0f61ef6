"""The state of a variable that an answer belongs to: `w.assign(2)` begins a second one.

A derivative with respect to a variable is one with respect to all of its states that the target
reads. Where that is one, it is the point of the answer.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.engine.record.record import ANS, IDS, OP, OUT, PLACE, ancestry
from gradcli.engine.record.variable import ASSIGNING
from gradcli.explain.catalogue import Note
from gradcli.questions.plain_data import data
from gradcli.questions.question import note, place, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question


class VariableState:
    """A value that a variable had. span: of the assignment; None for its first."""

    __slots__ = ("id", "span", "value")

    def __init__(self, id: int, value: Any, span: Span | None) -> None:
        self.id = id
        self.value = value
        self.span = span


def is_link(entry: Entry, first: int | None) -> bool:
    """Return whether an entry links a state of a variable to its first one."""
    if entry[IDS] != (first,) or entry[OP].name != "positive":
        return False
    at = entry[PLACE]
    return at is None or (type(at[1]) is tuple and bool(at[1]) and at[1][0] in ASSIGNING)


def states_read(run: Run, binding: Binding, targets: Sequence[Target]) -> list[VariableState]:
    """Return the states of a variable that targets read, in their order."""
    first = binding.value
    history = run.record.history()
    links = {entry[OUT]: entry for entry in history if is_link(entry, first.id)}
    wanted = [t.id for target in targets for t in tensors_of(target)]
    ids = ancestry(history, wanted)
    read = {i for entry in history if entry[OUT] in ids and entry[OUT] not in links
            for i in entry[IDS]} | set(wanted)
    found = [VariableState(first.id, first.value, None)] if first.id in read else []
    for id, entry in links.items():
        if id in read:
            at = entry[PLACE]
            found.append(VariableState(id, entry[ANS], None if at is None else (at[2], at[3])))
    return found


def point(question: Question, run: Run, target: Target, binding: Binding) -> Answer:
    """Return the fields of a source that say where it is: `at`, the value that the answer belongs
    to, and, of a variable that was assigned on the way, `states`: all of its values that the target
    reads.
    """
    states = states_read(run, binding, [target]) if run.assigned(binding) else []
    if not any(s.span for s in states):
        return {"at": data(binding.value.value)}
    return {"at": data(states[-1].value), "states": [
        {"value": data(s.value), **place(question, s.span or binding.span)} for s in states]}


def remarks(question: Question, run: Run, target: Target,
            bindings: Sequence[Binding]) -> list[Answer]:
    """Return a note on each source that was assigned before the target read it."""
    found = []
    for binding in bindings:
        if run.assigned(binding):
            states = states_read(run, binding, [target])
            if states and states[-1].span:
                found.append(note(question, _note(question, binding, states)))
    return found


def _note(question: Question, binding: Binding, states: Sequence[VariableState]) -> Note:
    name, last = binding.name, states[-1]
    if len(states) == 1:
        value = f"`{name}` = {last.value:.6g}" if type(last.value) is float else (
            f"the value of `{name}`")
        said = (f"the answer belongs to {value} that is assigned here, not to its first value"
                + (", which --at gives" if name in question.at else ""))
    else:
        said = (f"the target reads {len(states)} values of `{name}`, of which the last is assigned"
                " here: the derivative is the sum over all of them")
    return Note("assigned-state", said, last.span)


def the_state(question: Question, run: Run, target: Target, binding: Binding) -> Any:
    """Return the one value of a source that a target reads. Raises E0836 where it reads several."""
    if not run.assigned(binding):
        return binding.value.value
    states = states_read(run, binding, [target])
    if len(states) > 1:
        raise _refused(question, binding, states, f"`{target.name}` reads {len(states)} values of"
                       f" `{binding.name}`, and this is for one point",
                       f"bind a new name to what {binding.name} becomes")
    return states[0].value if states else binding.value.value


def check_free(question: Question, run: Run, target: Target, bindings: Sequence[Binding], what: str
               ) -> None:
    """Raise E0836 for a source whose first value is overwritten before the target reads it: runs of
    the program at other values would see no change.
    """
    for binding in bindings:
        if run.assigned(binding):
            states = states_read(run, binding, [target])
            if any(s.span for s in states):
                raise _refused(question, binding, states, f"{what} moves `{binding.name}`, which is"
                               " assigned here before the target reads it",
                               "leave the assignment out, or name another variable with --wrt")


def _refused(question: Question, binding: Binding, states: Sequence[VariableState], message: str,
             help: str) -> GradcliError:
    span = states[-1].span or binding.span
    return GradcliError(Diagnostic("E0836", message, span=span, source=question.program.source,
                                   help=help))
