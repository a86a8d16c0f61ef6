"""The record: the flat list of operations that ran.

An entry is a plain tuple `(op, out, ids, values, ans, attributes, place, batch)`:

    op          the row of the operation table
    out         the permanent id of the result; ids only grow, so entries are sorted by `out`
    ids         per argument the id of the operand, or None for a plain number
    values      the operand values that rules read, so no entry is found through another one
    ans         the result
    attributes  axis and its like, as the row's rules want them
    place       the instruction of the file it came from (its last two items are the span), or where
                Python code stood (see `gradcli.engine.record.provenance`)
    batch       the number of leading axes of each operand and, last, of `ans` that are batch axes;
                empty where there are none

There are no objects with closures (custom gradients excepted) and no recursion over the list, ever:
a chain of 200,000 entries works, and the garbage collector has little to look at.

Entries stand in *segments*. One begins whenever a tape opens, closes, pauses or resumes, and
belongs to the tapes that were recording: they hold it, the record only knows the newest. So entries
that no tape needs any more are freed, and training loops run in flat memory.
"""

from __future__ import annotations

import gc
from _collections import deque
from _operator import itemgetter
from _thread import _local as _thread_local  # what threading.local is, without its start-up
from itertools import islice
from sys import _getframe

from gradcli.engine.record.provenance import PythonEvents, bare, beyond, ids, result_kind, traces
from gradcli.ops import values
from gradcli.ops.kinds import Op
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Final, Protocol

    Entry = tuple[
        Op, int, tuple[int | None, ...], tuple[Any, ...], Any, Mapping[str, Any], Any,
        tuple[int, ...]]

    class Tape(Protocol):
        """The interface of a tape that a record calls while the tape is recording."""

        derived: dict[int, tuple[int, int]]
        watch_accessed: bool

        def continue_in(self, segment: Segment) -> None: ...
        def read(self, variable: Any) -> None: ...

    class Reader(Protocol):
        """The interface of an object that notes the variables that are read."""

        def read(self, variable: Any) -> None: ...

    class Accumulator(Protocol):
        """The interface of an open forward accumulator that a record calls."""

        tangents: dict[int, Any]

        def note_derived(self, made: int, target: int) -> None: ...
        def push(self, entry: Entry) -> None: ...
        def assigned(self, variable: Any) -> None: ...

OP: Final = 0
OUT: Final = 1
IDS: Final = 2
VALUES: Final = 3
ANS: Final = 4
ATTRIBUTES: Final = 5
PLACE: Final = 6
BATCH: Final = 7

fresh_id = ids.__next__
"""A new permanent id: larger than all before."""


def fresh_ids(n: int) -> tuple[int, int]:
    """Return the first and the last of n >= 1 new ids in a row."""
    first = fresh_id()
    if n > 2:
        deque(islice(ids, n - 2), 0)
    return first, fresh_id() if n > 1 else first


# Lists that were made into tensors are remembered up to this many.
MAX_STACKED = 1000


class Segment(list["Entry"]):
    """Entries in order.

    scalar: whether all their values are Python numbers, so that sweeps may run on bare floats.
    stretched: whether some stand for many (see `gradcli.engine.compiled.loops`).
    """

    __slots__ = ("scalar", "stretched")

    def __init__(self) -> None:
        self.scalar = True
        self.stretched = False


class Record:
    """The operations that run while this record is current.

    entries: the newest segment.
    tapes, accumulators: those that are recording, outermost first.
    readers: custom functions that are running, which note the variables they read.
    everything: whether to record all operations on tensors; otherwise those with an operand in
        `seen`, the ids that some tape watches and those computed from them.
    place: the instruction being executed, noted with each entry; None in Python code, where each
        operation finds its own.
    trace: operations and events of Python code that no tape has; None for files.
    paused: whether nothing is recorded.
    checking: whether NaN and infinity are errors.
    short: whether operators may take the short path of `engine.record.operators`; call `settle`
        after changing what it depends on.
    in_rules: whether derivative rules of the table are running: floating point types may mix.
    max_entries: the largest number of entries, so that a derivative of high order ends; None:
        no limit.
    max_bytes: the largest array that may be made while the record is open; None: that of the one
        around it.
    stacked: id of a list to the list and the tensor that was made of it.
    derived: id of a derivative to (id of its target, id of its source), for derivatives of it.
    absorbed: whether a sweep ended in NaN, and another one with zeros that absorb took its place.
    guards: on request, (id, value) of tensors whose value decided which code runs next; then
        entries keep all values, since the record is run again at other points or written as a
        formula.
    absorbing: whether sweeps that end in NaN are run again with zeros that absorb; not where the
        record has to hold at other points too.
    lost: id of a source to the number of elements of a derivative in it where something was lost
        beyond the range of floats that may count.
    hollow: whether entries may lack values that no rule reads (`gradcli.engine.record.saved`).
    portable: whether no entry hides where its value came from, so that they hold at other points
        too.
    sizes: whether to record, for explanations, what decided the size of a new tensor.
    """

    __slots__ = (
        "_collecting", "absorbed", "absorbing", "accumulators", "checking", "derived", "entries",
        "everything", "guards", "hollow", "in_rules", "lost", "max_bytes", "max_entries", "paused",
        "place", "portable", "readers", "seen", "segments", "short", "sizes", "stacked", "tapes",
        "trace")

    def __init__(self, everything: bool = True) -> None:
        self.entries = Segment()
        self.everything = everything
        self.hollow = not everything
        self.segments: list[Segment] = [self.entries] if everything else []
        self.tapes: list[Tape] = []
        self.accumulators: list[Accumulator] = []
        self.readers: list[Reader] = []
        self.seen: set[int] = set()
        self.place: Any = None
        self.paused = False
        self.checking = False
        self.sizes = False
        self.in_rules = False
        self.max_entries: int | None = None
        self.max_bytes: float | None = None
        self._collecting: list[bool] = []
        self.derived: dict[int, tuple[int, int]] = {}
        self.stacked: dict[int, tuple[list[Any], Any]] = {}
        self.trace: PythonEvents | None = None
        self.absorbed = False
        self.absorbing = True
        self.lost: dict[int, int] = {}
        self.portable = True
        self.guards: list[tuple[int, Any]] | None = None
        self.settle()

    def settle(self) -> None:
        """Find out again whether operators may take their short path."""
        self.short = not (
            self.everything or self.accumulators or self.paused or self.checking)

    def history(self) -> Segment:
        """Return all entries of a record of everything, in order."""
        return joined([expanded(segment) for segment in self.segments])

    def compact(self) -> Segment:
        """Return all entries in order, with stretches unexpanded, for sweeps over numbers."""
        return joined(self.segments)

    def __enter__(self) -> Record:
        # Entries and tensors hold no cycles, and half the time of a run went into looking for
        # some (1.2 against 2.3 us an operation at 100,000 of them).
        self._collecting.append(gc.isenabled())
        gc.disable()
        _opened().append(self)
        local.current = self
        return self

    def has_kinks(self) -> bool:
        """Return whether an operation with a kink ran: then notes may be due."""
        return any(entry[OP].kink is not None for entry in self.compact())

    def is_partial(self) -> bool:
        """Return whether an operation ran that has no rule for one of its numbers."""
        return any(entry[OP].partial for entry in self.compact())

    def __exit__(self, *exception: object) -> None:
        if self._collecting.pop():
            gc.enable()
        opened: list[Record] = local.records
        opened.remove(self)
        local.current = opened[-1]

    def wants(self, ids: tuple[int | None, ...]) -> bool:
        """Return whether an operation on operands with these ids goes on the record."""
        if self.paused:
            return False
        return self.everything or (bool(self.tapes) and not self.seen.isdisjoint(ids))

    def push(self, entry: Entry) -> None:
        """Push an entry to the accumulators.

        Tangents are operations too: those of an inner accumulator have tangents in the outer, which
        must know the tangent of the result before, since rules may read that.
        """
        accumulators = self.accumulators
        try:
            for k in range(len(accumulators)):
                self.accumulators = accumulators[:k]
                accumulators[k].push(entry)
        finally:
            self.accumulators = accumulators
            self.settle()

    def split(self) -> None:
        """Begin a new segment: the tapes that are recording changed."""
        # A new one even if the last is empty: a tape that closed may hold that.
        self.entries = Segment()
        if self.everything:
            self.segments.append(self.entries)
        for tape in self.tapes:
            tape.continue_in(self.entries)
        if not self.tapes:
            self.seen = set()

    def is_watched(self) -> bool:
        """Return whether someone is recording, so that derivatives have to be recorded as well."""
        return bool(self.tapes or self.accumulators or self.everything)

    def note_derived(self, made: int, target: int, source: int) -> None:
        """Remember that the value `made` is a derivative."""
        if self.everything:
            self.derived[made] = (target, source)
        if self.tapes:
            self.seen.add(made)  # so that what is made of it can be told from what is unrelated
        for tape in self.tapes:
            tape.derived[made] = (target, source)
        for accumulator in self.accumulators:
            accumulator.note_derived(made, target)

    def remember_stacked(self, items: list[Any], tensor: Any) -> None:
        """Remember the tensor made from a list, and the list, so that no other gets its id."""
        if len(self.stacked) >= MAX_STACKED:
            del self.stacked[next(iter(self.stacked))]
        self.stacked[id(items)] = (items, tensor)


local = _thread_local()
"""Of this thread: `records`, those that are open, and `current`, the innermost of them."""


def _opened() -> list[Record]:
    """Return the open records of this thread, innermost last; the first is that of Python code."""
    try:
        found: list[Record] = local.records
    except AttributeError:
        found = local.records = [Record(everything=False)]
        found[0].trace = PythonEvents()
        traces.append(found[0].trace)
    return found


def begin_anew() -> None:
    """Forget what Python code did so far: another program begins."""
    first = _opened()[0]
    first.trace = PythonEvents()
    traces.clear()
    traces.append(first.trace)


def current() -> Record:
    """Return the innermost open record of this thread."""
    try:
        found: Record = local.current
    except AttributeError:
        found = local.current = _opened()[-1]
    return found


def memory_budget() -> float | None:
    """Return the `max_bytes` of the innermost open record of this thread that has one."""
    return next((record.max_bytes for record in reversed(_opened())
                 if record.max_bytes is not None), None)


values.memory_budget = memory_budget


def close_all() -> None:
    """Close all records of this thread but that of Python code: an alarm may have interrupted a
    record half closed, and it would stay the current one.
    """
    opened = _opened()
    if any(collecting for record in opened[1:] for collecting in record._collecting):
        gc.enable()
    del opened[1:]
    local.current = opened[0]


def joined(segments: Sequence[Segment]) -> Segment:
    """Return all entries of several segments, in one."""
    if len(segments) == 1:
        return segments[0]
    out = Segment()
    for segment in segments:
        out.extend(segment)
        out.scalar = out.scalar and segment.scalar
        out.stretched = out.stretched or segment.stretched
    return out


def expanded(segment: Segment) -> Segment:
    """Replace the stretches of a segment by their entries, and return the segment."""
    if segment.stretched:
        whole: list[Any] = []
        for entry in segment:
            op: Any = entry[OP]
            if op.kind == "stretch":
                whole.extend(op.expand())
            else:
                whole.append(entry)
        segment[:] = whole
        segment.stretched = False
    return segment


def place_in(record: Record, depth: int) -> Any:
    """Return the present place: the instruction of a file, or where Python code stands.

    depth: the number of frames up to that code; it may be further up, but not nearer.
    """
    place = record.place
    if place is None and record.trace is not None:
        return beyond(_getframe(depth))
    return place


def traced(entry: Entry) -> tuple[Any, ...]:
    """Return an operation as a trace notes it."""
    op, out, numbers, _, ans, attributes, place, _ = entry
    return bare(op), out, numbers, result_kind(ans, attributes), place


def entries_of(trace: PythonEvents) -> list[Entry]:
    """Return the operations that a trace noted, as entries without values."""
    return [stripped(op, out, i, j, place) if type(i) is tuple else
            (op, out, (i, j), (), 0.0, {}, place, ())
            for op, out, i, j, place in list(trace.operations)]


def stripped(op: Op, out: int, numbers: tuple[int | None, ...], kind: Any, place: Any) -> Entry:
    """Return an entry without values; kind: see `result_kind`."""
    if isinstance(kind, str):
        real = kind.startswith(("float", "complex"))
        return op, out, numbers, (), 0.0 if real else 0, {"dtype": kind}, place, ()
    return op, out, numbers, (), kind, {}, place, ()


def span_of(entry: Entry) -> tuple[int, int] | None:
    """Return the span of an operation in the program's text, None where it has none."""
    place = entry[PLACE]
    return (place[2], place[3]) if place is not None else None


# ---- the values that a derivative can reach: the part of the record between two ends ------------

_ids = itemgetter(IDS)


def since(entries: Sequence[Entry], id: int) -> int:
    """Return the index of the first entry made after the value `id`: ids only grow."""
    # Python's bisect is a library of its own, which every start would load.
    low, high = 0, len(entries)
    if high and not entries[0][OUT] <= id < entries[-1][OUT]:       # usually all or none
        return 0 if id < entries[0][OUT] else high
    while low < high:
        middle = (low + high) // 2
        if entries[middle][OUT] <= id:
            low = middle + 1
        else:
            high = middle
    return low


def window(entries: Sequence[Entry], sources: Iterable[int], targets: Iterable[int]
           ) -> Sequence[Entry]:
    """Return the entries that can lie on a path: from the oldest source to the newest target."""
    first = since(entries, min(sources, default=0))
    last = since(entries, max(targets, default=0))
    if last < len(entries) and entries[last][OP].kind == "stretch":
        last += 1  # its id is that of the last value it made; the target may be one before
    return entries if first == 0 and last == len(entries) else entries[first:last]


def active(entries: Sequence[Entry], sources: Iterable[int]) -> set[int]:
    """Return the ids of values to which a derivative passes from `sources`, these included.

    An argument without a rule (a condition, an index, a step) lets none pass, nor does a value that
    is not a floating point number.
    """
    reached = set(sources)
    untouched, add = reached.isdisjoint, reached.add
    for op, out, args, _, ans, _, _, _ in entries:
        if untouched(args) or (not op.smooth and not any(
                i in reached and op.edge(k) for k, i in enumerate(args))):
            continue
        if type(ans) is float or is_float(ans):
            add(out)
    return reached


def on_tape(entries: Sequence[Entry], watched: Iterable[int], late: Mapping[int, int]
            ) -> tuple[set[int], set[int]]:
    """Return the ids that are on a tape, the watched ones and the results of operations on them;
    and of these the latter, whose entries it recorded.

    late: when an id was watched that had been used before; earlier uses do not count, unless the
    tape had it already.
    """
    reached = set(watched)
    made: set[int] = set()
    untouched = reached.isdisjoint
    for entry in entries:
        ids = entry[IDS]
        if untouched(ids):
            continue
        if late and all(
                i not in reached or (i not in made and late.get(i, 0) > entry[OUT])
                for i in ids):
            continue
        reached.add(entry[OUT])
        made.add(entry[OUT])
    return reached, made


def ancestry(entries: Sequence[Entry], ids: int | Iterable[int | None],
             operands: Callable[[Entry], Iterable[int | None]] = _ids) -> set[int]:
    """Return all ids that went into a value, or into one of several, these included.

    operands: those of an entry that count, all by default.
    """
    found: set[Any] = {ids} if isinstance(ids, int) else set(ids)
    for entry in reversed(entries):
        if entry[OUT] in found:
            found.update(operands(entry))
    found.discard(None)  # of constants
    return found


def leading(entries: Sequence[Entry], targets: Iterable[int]) -> set[int]:
    """Return the ids of values from which a derivative passes to `targets`, these included."""
    return ancestry(entries, targets, lambda entry: [
        i for k, i in enumerate(entry[IDS]) if entry[OP].edge(k)])


def descendants(entries: Iterable[Entry], ids: Iterable[int]) -> set[int]:
    """Return these ids and those of all that depends on them in any way."""
    found = set(ids)
    for entry in entries:
        if not found.isdisjoint(entry[IDS]):
            found.add(entry[OUT])
    return found
