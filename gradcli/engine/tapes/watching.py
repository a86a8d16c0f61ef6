"""A tape's sources: the ids and variables that it watches."""

from __future__ import annotations

from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.recording import Recording
from gradcli.engine.record.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.engine.record.record import Record


class Watching(Recording):
    """A recording with sources.

    watched: the ids of the sources.
    late: those that were watched after something had been recorded, since when: uses before do not
        count.
    states: of a variable the ids of the states that it had.
    recording: whether it is one of the record's tapes.
    tensorflow_semantics: whether a derivative that does not depend on a source is None, not 0.
    """

    __slots__ = ("_record", "late", "recording", "states", "tensorflow_semantics", "watched")

    def __init__(self, watch_accessed: bool, tensorflow_semantics: bool) -> None:
        super().__init__(watch_accessed)
        self._record: Record | None = None
        self.recording = False
        self.tensorflow_semantics = tensorflow_semantics
        self.forget()

    def forget(self) -> None:
        """Forget all that was recorded and watched."""
        self._segments = []
        self.derived = {}
        self.watched: set[int] = set()
        self.late: dict[int, int] = {}
        self.states: dict[Variable, list[int]] = {}

    def watch_id(self, id: int) -> None:
        """Make a value a source."""
        if id in self.watched:
            return
        self.watched.add(id)
        if any(self._segments) or not self.recording:
            self.late[id] = fresh_id()
        if self._record is not None and self.recording:
            self._record.seen.add(id)

    def watch_state(self, variable: Variable) -> None:
        """Make the present state of a variable a source."""
        assert variable.id is not None
        ids = self.states.setdefault(variable, [])
        if variable.id not in self.watched:
            ids.append(variable.id)
            self.watch_id(variable.id)

    def read(self, variable: Variable) -> None:
        """Watch a variable that was read, if `watch_accessed` says so."""
        if variable.id in self.watched:
            return
        if variable in self.states or (self.watch_accessed and variable.trainable):
            assert variable.id is not None
            self.states.setdefault(variable, []).append(variable.id)
            # Read for the first time, so nothing recorded before can have used this state.
            self.watched.add(variable.id)
            assert self._record is not None
            self._record.seen.add(variable.id)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that are sources, in order of construction."""
        return tuple(sorted(self.states, key=lambda v: v.serial))

    def sees_everything(self) -> bool:
        """Return whether its entries may have nothing to do with the ids that it watches."""
        return self._record is not None and self._record.everything
