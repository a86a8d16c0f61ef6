"""The part of a record that is kept: the segments for a tape, or for a sweep that transposes a
rule; the entries that values still lead to.
"""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, OUT, Segment, expanded, joined
from gradcli.engine.record.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.engine.record.record import Record


class Recording:
    """The segments of a record between `begin` and `end`.

    derived: as of the record. watch_accessed: whether variables become sources when they are read.
    """

    __slots__ = ("_segments", "derived", "watch_accessed")

    def __init__(self, watch_accessed: bool = False) -> None:
        self.watch_accessed = watch_accessed
        self._segments: list[Segment] = []
        self.derived: dict[int, tuple[int, int]] = {}

    def begin(self, record: Record, ids: set[int]) -> None:
        """Keep from now on operations on values with these ids, and on results kept already."""
        record.tapes.append(self)
        for segment in self._segments:
            record.seen.update([entry[OUT] for entry in segment])
        record.seen |= ids
        record.split()

    def end(self, record: Record) -> None:
        """Keep nothing more."""
        record.tapes.remove(self)
        record.split()

    def continue_in(self, segment: Segment) -> None:
        """Add the segment that is recorded into from now on."""
        if self._segments and not self._segments[-1]:
            self._segments[-1] = segment
        else:
            self._segments.append(segment)

    def read(self, variable: Any) -> None:
        """Note that a variable was read: a tape may watch it."""

    def window(self) -> Segment:
        """Return all entries that are kept, in order."""
        return expanded(self.compact())

    def compact(self) -> Segment:
        """Return all entries that are kept, in order, with stretches unexpanded."""
        return joined(self._segments) if self._segments else Segment()


def prune(record: Record, live: Any) -> int:
    """Drop the entries of a record of everything that lead to no tensor in `live`, a structure of
    any depth, and to no condition; return the number of entries that are left.
    """
    wanted: set[int] = {i for i, _ in record.guards or ()}
    pending = [live]
    seen: set[int] = set()
    while pending:
        item = pending.pop()
        if isinstance(item, Tensor):
            if item.id is not None:
                wanted.add(item.id)
        elif isinstance(item, (list, tuple, dict)) and id(item) not in seen:
            seen.add(id(item))
            pending.extend(item.values() if isinstance(item, dict) else item)
    count = 0
    for segment in reversed(record.segments):
        kept = []
        for entry in reversed(segment):
            op: Any = entry[OP]
            if entry[OUT] in wanted or (
                    op.kind == "stretch" and not wanted.isdisjoint(op.made())):
                wanted.update([i for i in entry[IDS] if i is not None])
                kept.append(entry)
        kept.reverse()
        segment[:] = kept
        count += len(kept)
    record.derived = {
        made: ends for made, ends in record.derived.items() if made in wanted}
    return count
