"""Tapes of a file: gradient tapes with a name, which the command line can ask once more."""

from __future__ import annotations

from gradcli.engine.record.operators import PLAIN
from gradcli.engine.record.record import OUT, Record, Segment
from gradcli.engine.tapes.requests import on_tape
from gradcli.engine.tapes.tape import GradientTape
from gradcli.ops.table.elementwise import positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.engine.record.tensor import Tensor
    from gradcli.engine.record.variable import Variable
    from gradcli.engine.tapes.requests import Request


class FileTape(GradientTape):
    """The tape of a `tape t:` block of a file.

    name, span, spans: as written.
    used_at: span of the first question, for messages.
    asked: targets of the first question.
    asked_at: an id from the last one.
    saw: the states of variables that it saw, also when it is used up.
    held: id of such a state to its value and the location of its assignment.
    """

    __slots__ = ("_kept", "_remembered", "_sources", "asked", "asked_at", "held", "name", "saw",
                 "span", "spans", "used_at")

    def __init__(self, name: str, spans: dict[str, Span], persistent: bool, watch_accessed: bool,
                 tf: bool) -> None:
        super().__init__(persistent, watch_accessed, tf)
        self.name = name
        self.span = spans["head"]
        self.spans = spans
        self.saw: dict[Variable, list[int]] = {}
        self.held: dict[int, tuple[Any, Any]] = {}
        self._remembered: tuple[Segment, set[int], dict[int, int]] | None = None
        self.used_at: Span | None = None
        self.asked: Sequence[Tensor] = ()
        self.asked_at = 0
        self._kept: Record | None = None
        self._sources: set[int] = set()

    def read(self, variable: Variable) -> None:
        """Watch a variable as any tape does when it is read, and note its state."""
        super().read(variable)
        if variable.id in self.watched and variable.id not in self.held:
            self.held[variable.id] = variable.value, variable.assigned

    def _done(self, question: Request, answers: Sequence[Any]) -> None:
        self.asked = self.asked or question.targets
        self.asked_at = question.asking[0]
        if not self.persistent:
            # The program has had its answer; who asks from outside gets his from what is kept.
            self._remembered = self.remembered()
            self._kept, self._sources = self._view(), self.sources()
        super()._done(question, answers)

    def view(self) -> Record:
        """Return a record of the entries on the tape, in which each variable is its first state."""
        return self._kept if self._kept is not None and not self._segments else self._view()

    def remembered(self) -> tuple[Segment, set[int], dict[int, int]]:
        """Return the entries, the watched ids and those watched late; also of a used up tape."""
        if self._remembered is not None and not self._segments:
            return self._remembered
        self.saw.update(self.states)
        return self.window(), self.watched, self.late

    def sources(self) -> set[int]:
        """Return the ids on the tape: watched, or computed from such; variables by first states."""
        if self._kept is not None and not self._segments:
            return self._sources
        _, ids = on_tape(self, self.window(), [[0]])
        firsts = [v.origin().id for v in self.states]
        return ids | {i for i in firsts if i is not None}

    def _view(self) -> Record:
        live = on_tape_of(self)
        record = Record(everything=True)
        record.hollow = not self.sees_everything()
        record.entries.extend(live)
        record.entries.scalar = live.scalar
        record.derived = dict(self.derived)
        return record


def on_tape_of(tape: GradientTape) -> Segment:
    """Return the entries on a tape, and links from each variable's first state to the others."""
    window = tape.window()
    live, _ = on_tape(tape, window, [[0]])
    links: list[Entry] = []
    for variable, ids in tape.states.items():
        first = variable.origin()
        held = tape.held if isinstance(tape, FileTape) else {}
        for i in ids:
            if i != first.id:
                value, place = held.get(i, (first.value, None))
                links.append((positive, i, (first.id,), (value,), value, PLAIN, place, ()))
    out = Segment()
    out.extend(sorted([*live, *links], key=lambda entry: entry[OUT]) if links else live)
    out.scalar = live.scalar and all(type(v.value) is float for v in tape.states)
    return out
