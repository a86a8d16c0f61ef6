"""What was done with a tape or an accumulator, and when and where: for `why`."""

from __future__ import annotations

from gradcli.tape.provenance import place_in
from gradcli.tape.record import fresh_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.tape.record import Entry, Record

    # (kind, time, place, ids); kind: "open", "close", "pause", "resume", "reset", "watch" or "ask".
    # A time is an id: all that were made before are smaller.
    Event = tuple[str, int, Any, tuple[int, ...]]

# What was done is remembered up to so many times.
MAX_EVENTS = 2000


def note(events: list[Event], record: Record, kind: str, ids: tuple[int, ...], depth: int,
         often: str) -> None:
    """Note what is being done; depth: how many frames up that is said. often: the kind of which
    the older half goes first when there are too many.
    """
    if len(events) >= MAX_EVENTS:
        half = MAX_EVENTS // 2
        events[:half] = [event for event in events[:half] if event[0] != often]
        del events[:-MAX_EVENTS + 1]
    events.append((kind, fresh_id(), place_in(record, depth + 1), ids))


class Past:
    """What a tape held, without values: `entries`, and of the tape `watched`, `late`, `derived`."""

    __slots__ = ("derived", "entries", "late", "watched")

    def __init__(self, entries: list[Entry], watched: set[int], late: dict[int, int],
                 derived: dict[int, tuple[int, int]]) -> None:
        self.entries = entries
        self.watched = watched
        self.late = late
        self.derived = derived
