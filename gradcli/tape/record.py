"""The record: the flat list of what ran.

An entry is a plain tuple `(op, out, ids, values, ans, attributes, place, batch)`:

    op          the row of the operation table
    out         the permanent id of the value made; ids only grow, so entries are sorted by `out`
    ids         per argument the id of the operand, or None for a plain number
    values      the operand values that rules read, so no entry is found through another one
    ans         the value made
    attributes  axis and its like, as the row's rules want them
    place       the instruction of the file it came from (its last two items are the span), or None
    batch       how many leading axes of each operand and, last, of `ans` are batch axes;
                empty where there are none

There are no objects with closures and no recursion over the list, ever: a chain of 200,000 entries
works, and the garbage collector has little to look at.
"""

from __future__ import annotations

import gc
from _thread import _local as _thread_local  # what threading.local is, without its start-up
from itertools import count

from gradcli.ops.kinds import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    Entry = tuple[
        Op, int, tuple[int | None, ...], tuple[Any, ...], Any, Mapping[str, Any], Any,
        tuple[int, ...]]

OP: Final = 0
OUT: Final = 1
IDS: Final = 2
VALUES: Final = 3
ANS: Final = 4
ATTRIBUTES: Final = 5
PLACE: Final = 6
BATCH: Final = 7

fresh_id = count(1).__next__
"""A new permanent id: larger than all before."""


class Record:
    """What ran while this record was current.

    entries: see the module. place: the instruction being executed, noted with each entry.
    scalar: every value so far is a Python number, so sweeps may run on bare floats.
    max_entries: how many may be recorded, so that a derivative of high order ends; None: no limit.
    stacked: id of a list to the list and the tensor that was made of it.
    derived: id of a derivative to (id of its target, id of its source), for derivatives of it.
    """

    __slots__ = ("_collecting", "derived", "entries", "max_entries", "place", "scalar", "stacked")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.place: Any = None
        self.scalar = True
        self.max_entries: int | None = None
        self.derived: dict[int, tuple[int, int]] = {}
        self.stacked: dict[int, tuple[list[Any], Any]] = {}

    def __enter__(self) -> Record:
        # Entries and tensors hold no cycles, and half the time of a run went into looking for
        # some (1.2 against 2.3 us an operation at 100,000 of them).
        self._collecting = gc.isenabled()
        gc.disable()
        _opened().append(self)
        return self

    def has_kinks(self) -> bool:
        """Whether an operation with a kink ran: then notes may be due."""
        return any(entry[OP].kink is not None for entry in self.entries)

    def __exit__(self, *exception: object) -> None:
        if self._collecting:
            gc.enable()
        _opened().remove(self)


_local = _thread_local()


def _opened() -> list[Record]:
    """The open records of this thread, the innermost last; below them one that nobody opened."""
    try:
        found: list[Record] = _local.records
    except AttributeError:
        found = _local.records = [Record()]
    return found


def current() -> Record:
    """The innermost open record of this thread."""
    return _opened()[-1]
