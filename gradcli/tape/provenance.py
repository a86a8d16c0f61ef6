"""Where Python code stood when something happened, and what happened that no tape has.

A file is replayed when a gradient is missing; Python code cannot be, so it is noted as it runs. A
*place* is `(code object, offset of the instruction)` of the caller's own frame, the first one
outside this package; `position` makes a file, line and column of it when somebody asks. The
*trace* of a thread holds what its tapes do not, in rings that forget the oldest: operations that no
tape wanted, and events (births, assignments, conditions, ways off the tape, questions). They hold
ids, never values.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]
from itertools import count, islice
from sys import _getframe, getrefcount

from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from gradcli.ops.kinds import Op
    from gradcli.tape.record import Entry, Record

    Place = tuple[CodeType, int]
    Position = tuple[str, int, int, int, int]

# Operations that a thread remembers: about 2 MB.
MAX_TRACED = 20_000
# Events that it remembers of each kind.
MAX_EVENTS = 4_000
# Tapes that may still be asked about an operation which they, and no other, have.
MAX_TAPES = 200
# Threads whose traces are kept.
MAX_THREADS = 8
# Code objects whose places are kept; code that is made as it runs must not pile up.
MAX_CODES = 2_000
# Names of a frame that a condition notes.
MAX_NAMES = 200
# A condition that is met more often notes the names of its frame only every so many times.
OFTEN = 32

# Of a code object: the locals of its frames are not in a dictionary.
OPTIMIZED = 1
# References to such a dictionary that `_let_go` sees if nobody else has it: the frame's, two
# callers' and that of the count itself.
ALONE = 4

ids = count(1)
"""The permanent ids of values, which are the clock of events as well."""

_skipped: list[str] = [__file__.removesuffix("provenance.py").removesuffix("tape/").removesuffix(
    "tape\\")]


def skip(path: str) -> None:
    """Count the file, or all files below the folder, as part of gradcli: places are the callers'.

    For layers between a user's code and this package.
    """
    _skipped.append(path)
    spots.clear()


class _Spots(dict):  # type: ignore[type-arg]
    """The places in one code object by offset: one tuple each, however often it runs. own: it is
    the user's.
    """

    __slots__ = ("code",)
    own = True

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __missing__(self, offset: int) -> Place:
        place = self[offset] = (self.code, offset)
        return place


class _Inside:
    """A code object of this package: the place is further up."""

    __slots__ = ("code",)
    own = False

    def __init__(self, code: CodeType) -> None:
        self.code = code  # or its id could become another's

    def __getitem__(self, offset: int) -> Place | None:
        return beyond(_getframe(2))


class _Codes(dict):  # type: ignore[type-arg]
    """The places of a code object, by its id."""

    __slots__ = ()

    def __missing__(self, number: int) -> Any:
        frame: FrameType | None = _getframe(1)
        while frame is not None and id(frame.f_code) != number:
            frame = frame.f_back
        assert frame is not None
        code = frame.f_code
        if len(self) >= MAX_CODES:
            self.clear()
        found = self[number] = _Inside(code) if _is_inside(code.co_filename) else _Spots(code)
        return found


spots = _Codes()
"""`spots[id(frame.f_code)][frame.f_lasti]` is the place of a frame."""


def _is_inside(path: str) -> bool:
    return path.startswith(tuple(_skipped)) or "/numpy/" in path or "\\numpy\\" in path \
        or path.startswith("<frozen ")


def beyond(frame: FrameType | None) -> Place | None:
    """The place of the first frame outside this package, from this one on; None if there is none.
    """
    while frame is not None:
        found = spots[id(frame.f_code)]
        if found.own:
            return found[frame.f_lasti]  # type: ignore[no-any-return]
        frame = frame.f_back
    return None


def caller(depth: int) -> tuple[FrameType | None, Place | None]:
    """The first frame outside this package, and its place."""
    frame: FrameType | None = _getframe(depth)
    while frame is not None:
        found = spots[id(frame.f_code)]
        if found.own:
            return frame, found[frame.f_lasti]
        frame = frame.f_back
    return None, None


def place_in(record: Record, depth: int) -> Any:
    """The place of what happens now: the instruction of a file, or where Python code stands. depth:
    how many frames up that is; it may be further up, but not nearer.
    """
    place = record.place
    if place is None and record.trace is not None:
        frame = _getframe(depth)
        return spots[id(frame.f_code)][frame.f_lasti]
    return place


class Trace:
    """What a thread's Python code did that its tapes do not hold: ids and places, no values. All
    are rings that forget the oldest.

    operations: of those that no tape wanted, five items each: op, id of the answer, id and id of
    the operands (of any number: a tuple of ids, and 0.0 where the answer was a floating point
    value, else 0, or the type it was cast to), place. One flat row, which the garbage collector
    need not walk.
    births: (id, place, kind, id of the tensor that it was made of) of constants and variables;
    kind: "constant", "variable" or "nontrainable".
    states: (time, place, verb, id given, id before, id of the first state), time being the id of
    the new state.
    conditions: (time, place, id, value, names of the frame to ids, or None).
    exits: (time, place, id, how) of values that left the engine.
    questions: (time, end, place, ids of targets, per source its ids, ids of answers, places of
    targets).
    tapes: weak references to the latest tapes.
    """

    __slots__ = ("births", "conditions", "exits", "operations", "push", "questions", "states",
                 "tapes", "visits")

    def __init__(self) -> None:
        self.operations: Any = deque((), 5 * MAX_TRACED)
        self.push = self.operations.extend
        self.births: Any = deque((), MAX_EVENTS)
        self.states: Any = deque((), MAX_EVENTS)
        self.conditions: Any = deque((), MAX_EVENTS)
        self.exits: Any = deque((), MAX_EVENTS)
        self.questions: Any = deque((), MAX_EVENTS)
        self.tapes: Any = deque((), MAX_TAPES)
        self.visits: dict[Place, int] = {}

    def born(self, number: int, kind: str, depth: int, initial: int | None = None) -> None:
        """Note a constant or a variable; depth: how many frames up the package may end; initial:
        what a variable was made of, which does not count if it was made for it.
        """
        frame = _getframe(depth)
        place = spots[id(frame.f_code)][frame.f_lasti]
        births = self.births
        if initial is not None and births and births[-1][0] == initial and births[-1][1] is place:
            births.pop()
            initial = None
        births.append((number, place, kind, initial))

    def left(self, number: int, how: str, depth: int) -> None:
        """Note that a value left the engine."""
        frame = _getframe(depth)
        self.exits.append((next(ids), spots[id(frame.f_code)][frame.f_lasti], number, how))

    def condition(self, number: int | None, value: bool) -> None:
        """Note that a tensor decided what runs."""
        frame: Any = _getframe(2)
        place = spots[id(frame.f_code)][frame.f_lasti]
        if place is None:
            return
        visits = self.visits.get(place, 0)
        if len(self.visits) > MAX_EVENTS:
            self.visits.clear()
        self.visits[place] = visits + 1
        names = None
        if visits < OFTEN or visits % OFTEN == 0:
            while frame.f_code is not place[0]:
                frame = frame.f_back
            names = names_of(frame)
        self.conditions.append((next(ids), place, number, value, names))

    def entries(self) -> list[Entry]:
        """The operations as entries without values."""
        rows = list(self.operations)
        found: list[Entry] = []
        for k in range(0, len(rows), 5):
            op, out, i, j, place = rows[k:k + 5]
            found.append(stripped(op, out, i, j, place) if type(i) is tuple else
                         (op, out, (i, j), (), 0.0, {}, place, ()))
        return found

    def keep(self, entry: Entry) -> None:
        """Put down an operation that no tape has any more."""
        op, out, numbers, _, ans, attributes, place, _ = entry
        self.push((bare(op), out, numbers, answer_kind(ans, attributes), place))


traces: Any = deque((), MAX_THREADS)
"""The traces of the latest threads: what one computed another may ask about."""


def together(own: Trace | None) -> Trace:
    """All traces as one: that of the thread that asks, and those of others."""
    known = [own] if own is not None else []
    known += [trace for trace in traces if trace is not own]
    if len(known) == 1:
        return known[0]
    found = Trace()
    found.operations = deque()
    for trace in known:
        found.operations.extend(trace.operations)
    for ring in ("births", "states", "conditions", "exits", "questions"):
        events = [event for trace in known for event in getattr(trace, ring)]
        setattr(found, ring, sorted(events, key=lambda event: event[0]))
    found.tapes = [tape for trace in known for tape in trace.tapes]
    return found


def answer_kind(ans: Any, attributes: Any) -> Any:
    """0.0 for a floating point answer, else 0, or the type that it was cast to."""
    return attributes.get("dtype") or (0.0 if is_float(ans) else 0)


def bare(op: Any) -> Any:
    """The operation itself; a custom one without its rule, which holds values."""
    return op.bare() if getattr(op, "custom", False) else op


def stripped(op: Op, out: int, numbers: tuple[int | None, ...], kind: Any, place: Any) -> Entry:
    """An entry without values; kind: see `answer_kind`."""
    if isinstance(kind, str):
        real = kind.startswith(("float", "complex"))
        return op, out, numbers, (), 0.0 if real else 0, {"dtype": kind}, place, ()
    return op, out, numbers, (), kind, {}, place, ()


def names_of(frame: FrameType) -> dict[str, int]:
    """The names of a frame that hold tensors, and which ones: at most 200 of each kind."""
    code, outside = frame.f_code, frame.f_globals
    found: dict[str, int] = {}
    local = frame.f_locals
    # Of a module only what its code itself uses.
    for name in list(local)[:MAX_NAMES] if local is not outside else ():
        number = _id_of(local[name])
        if number is not None:
            found[name] = number
    own = getattr(local.get("self"), "__dict__", None)
    for name in code.co_names[:MAX_NAMES]:
        number = _id_of(outside.get(name))
        if number is not None:
            found.setdefault(name, number)
        number = _id_of(own.get(name)) if type(own) is dict else None
        if number is not None:
            found[f"self.{name}"] = number
    if local is not outside:
        _let_go(frame, local)
    return found


def _let_go(frame: FrameType, local: Any) -> None:
    """Until Python 3.12 a function's frame keeps what `f_locals` gave, and so what `del` let go."""
    if type(local) is dict and frame.f_code.co_flags & OPTIMIZED and getrefcount(local) <= ALONE:
        local.clear()


def all_names(frame: FrameType) -> dict[str, Any]:
    """What all names of a frame hold, the global ones included."""
    local = frame.f_locals
    found = {**frame.f_globals, **local}
    if local is not frame.f_globals:
        _let_go(frame, local)
    return found


def _id_of(value: Any) -> int | None:
    """The id of a tensor; other objects are not asked for anything."""
    return value.id if hasattr(type(value), "__gradcli_apply__") else None


def bytes_of(place: Place) -> tuple[int, int, int, int] | None:
    """(line, end line, column, end column) of a place, counted as `ast` does: lines from 1, columns
    in bytes from 0; None where nobody knows.
    """
    code, offset = place
    where = next(islice(code.co_positions(), offset // 2, None), (None,))
    return None if None in where else where  # type: ignore[return-value]


def position(place: Any) -> Position | None:
    """(file, line, column, end line, end column) of a place in Python code: lines and columns from
    1, columns in characters; None for no place.
    """
    if place is None or len(place) != 2:
        return None
    from linecache import getline

    path: str = place[0].co_filename
    where = bytes_of(place)
    if where is None:
        line = next((n for start, end, n in place[0].co_lines()
                     if start <= place[1] < end and n is not None), place[0].co_firstlineno)
        return path, line, 1, line, 1
    line, end_line, start, end = where
    return (path, line, _characters(getline(path, line), start) + 1,
            end_line, _characters(getline(path, end_line), end) + 1)


def _characters(text: str, count: int) -> int:
    """How many characters the first `count` bytes of a line are."""
    return len(text.encode()[:count].decode(errors="ignore")) if text else count
