"""The places and events of Python code: where it stood at each operation, and what no tape holds.

A file is replayed when a gradient is missing; Python code cannot be, so it is noted as it runs. A
*place* is `(code object, offset of the instruction)` of the caller's own frame, the first one
outside this package; `position` makes a file, line and column of it when somebody asks. The *trace*
of a thread holds what its tapes do not, in rings that forget the oldest: operations that no tape
wanted, and events (births, assignments, conditions, exits from the tape, questions). They hold ids,
never values.
"""

from __future__ import annotations

from _collections import deque
from itertools import count, islice
from sys import _getframe, getrefcount

from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    Place = tuple[CodeType, int]
    Position = tuple[str, int, int, int, int]

# Operations that a thread remembers: about 2.5 MB.
MAX_TRACED = 20_000
# Events that it remembers of each kind.
MAX_EVENTS = 4_000
# Tapes that may still be asked about an operation which they, and no other, have.
MAX_TAPES = 200
# Questions that it remembers; each has the ids of its sources, which may be thousands.
MAX_REQUESTS = 200
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

_skipped: list[str] = [__file__.removesuffix("provenance.py").removesuffix(
    "engine/record/").removesuffix("engine\\record\\")]


def skip(path: str) -> None:
    """Count the file, or all files below the folder, as part of gradcli: places are the callers'.

    For layers between a user's code and this package.
    """
    _skipped.append(path)
    spots.clear()


class _Inside(dict):  # type: ignore[type-arg]
    """An empty table of places, for a code object of this package: the place is in a caller."""

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code  # or its id could become another's


spots: dict[int, dict[int, Any]] = {}
"""The places in a code object by offset, one tuple each, by its id. Where
`spots[id(frame.f_code)][frame.f_lasti]` raises KeyError, `caller(frame)` tells.
"""


def inside(path: str) -> bool:
    """Return whether a file is of this package, of NumPy or of Python's own start."""
    return path.startswith(tuple(_skipped)) or "/numpy/" in path or "\\numpy\\" in path \
        or path.startswith("<frozen ")


def caller(frame: FrameType | None) -> tuple[FrameType | None, Place | None]:
    """Return the first frame outside this package, from this one on, and its place, else Nones."""
    while frame is not None:
        code, offset = frame.f_code, frame.f_lasti
        known = spots.get(id(code))
        if known is None:
            if len(spots) >= MAX_CODES:
                spots.clear()
            known = spots[id(code)] = _Inside(code) if inside(code.co_filename) else {}
        if type(known) is dict:
            place = known.get(offset)
            if place is None:
                place = known[offset] = code, offset
            return frame, place
        frame = frame.f_back
    return None, None


def beyond(frame: FrameType) -> Place | None:
    """Return the place of the first frame outside this package, from this one on, or None."""
    try:
        return spots[id(frame.f_code)][frame.f_lasti]  # type: ignore[no-any-return]
    except KeyError:
        return caller(frame)[1]


class PythonEvents:
    """The ids and places, without values, of what a thread's Python code did outside its tapes.

    All are rings that forget the oldest.

    operations: of operations that no tape wanted, (op, id of the result, id and id of the operands,
        place); of any number of operands a tuple of ids, and 0.0 where the result was a floating
        point value, else 0, or the type it was cast to.
    births: (id, place, kind, id of the tensor that it was made of) of constants and variables;
        kind: "constant", "variable" or "nontrainable".
    states: (time, place, verb, id given, id before, id of the first state), time being the id of
        the new state.
    conditions: (time, place, id, value, names of the frame to ids, or None).
    exits: (time, place, id, how) of values that left the engine.
    requests: (time, end, place, ids of targets, for each source its ids, ids of the derivatives,
        places of targets, what the tape watched).
    tapes: weak references to the latest tapes.
    """

    __slots__ = ("births", "conditions", "exits", "operations", "push", "requests", "states",
                 "tapes", "visits")

    def __init__(self) -> None:
        self.operations: Any = deque((), MAX_TRACED)
        self.push = self.operations.append
        self.births: Any = deque((), MAX_EVENTS)
        self.states: Any = deque((), MAX_EVENTS)
        self.conditions: Any = deque((), MAX_EVENTS)
        self.exits: Any = deque((), MAX_EVENTS)
        self.requests: Any = deque((), MAX_REQUESTS)
        self.tapes: Any = deque((), MAX_TAPES)
        self.visits: dict[int, int] = {}

    def born(self, number: int, kind: str, depth: int, initial: int | None = None) -> None:
        """Note a constant or a variable.

        depth: the number of frames up to the first that may be outside the package. initial: id of
        the tensor that a variable was made of, which does not count if it was made for it.
        """
        place = beyond(_getframe(depth))
        births = self.births
        if initial is not None and births and births[-1][0] == initial and births[-1][1] is place:
            births.pop()
            initial = None
        births.append((number, place, kind, initial))

    def copied(self, number: int, original: int | None) -> None:
        """Note that the variable that was born last is a copy, which was made outside `copy`."""
        frame = _getframe(2)
        while frame.f_back is not None and frame.f_globals.get("__name__") in (
                "copy", "gradcli.engine.record.variable"):
            frame = frame.f_back
        born = self.births.pop()
        self.births.append((number, beyond(frame), born[2], original))

    def left(self, number: int, how: str, depth: int) -> None:
        """Note that a value left the engine."""
        self.exits.append((next(ids), beyond(_getframe(depth)), number, how))

    def condition(self, number: int | None, value: bool) -> None:
        """Note that a tensor decided which code runs."""
        frame: Any = _getframe(2)
        place = beyond(frame)
        if place is None:
            return
        # By id, which `spots` keeps: code is slow to hash.
        visits = self.visits.get(id(place), 0)
        if len(self.visits) > MAX_EVENTS:
            self.visits.clear()
        self.visits[id(place)] = visits + 1
        names = None
        if visits < OFTEN or visits % OFTEN == 0:
            while frame.f_code is not place[0]:
                frame = frame.f_back
            names = names_of(frame)
        self.conditions.append((next(ids), place, number, value, names))


traces: Any = deque((), MAX_THREADS)
"""The traces of the latest threads: what one computed another may ask about."""


def together(own: PythonEvents | None) -> PythonEvents:
    """Merge the trace of the asking thread with those of all other threads."""
    known = [own] if own is not None else []
    known += [trace for trace in traces if trace is not own]
    if len(known) == 1:
        return known[0]
    found = PythonEvents()
    found.operations = deque()
    for trace in known:
        found.operations.extend(trace.operations)
    for ring in ("births", "states", "conditions", "exits", "requests"):
        events = [event for trace in known for event in getattr(trace, ring)]
        setattr(found, ring, sorted(events, key=lambda event: event[0]))
    found.tapes = [tape for trace in known for tape in trace.tapes]
    return found


def result_kind(ans: Any, attributes: Any) -> Any:
    """Return 0.0 for a floating point result, else 0, or the type that it was cast to."""
    to = attributes.get("dtype") if attributes else None
    return to or (0.0 if is_float(ans) else 0)


def bare(op: Any) -> Any:
    """Return the operation; a custom one without its rule, which holds values."""
    return op.bare() if getattr(op, "custom", False) else op


def names_of(frame: FrameType) -> dict[str, int]:
    """Return the names of a frame that hold tensors, with their ids: at most 200 of each kind."""
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
    """Empty the dictionary of `f_locals`, which a function's frame keeps until Python 3.12, and
    with it the values that `del` has dropped.
    """
    if type(local) is dict and frame.f_code.co_flags & OPTIMIZED and getrefcount(local) <= ALONE:
        local.clear()


def all_names(frame: FrameType) -> dict[str, Any]:
    """Return the values of all names of a frame, global ones included."""
    local = frame.f_locals
    found = {**frame.f_globals, **local}
    if local is not frame.f_globals:
        _let_go(frame, local)
    return found


def _id_of(value: Any) -> int | None:
    """Return the id of a tensor, None for other objects, without calling any method of theirs."""
    return value.id if hasattr(type(value), "__gradcli_apply__") else None


def bytes_of(place: Place) -> tuple[int, int, int, int] | None:
    """Return (line, end line, column, end column) of a place, counted as `ast` does: lines from 1,
    columns in bytes from 0; None where they are unknown.
    """
    code, offset = place
    where = next(islice(code.co_positions(), offset // 2, None), (None,))
    return None if None in where else where  # type: ignore[return-value]


def position(place: Any) -> Position | None:
    """Return (file, line, column, end line, end column) of a place in Python code: lines and
    columns from 1, columns in characters; None for no place.
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


def span_in(lines: list[str], position: Position) -> tuple[int, int]:
    """Return the offsets of a position in the text of a file with these lines."""
    _, line, column, end_line, end_column = position
    return (sum(map(len, lines[:line - 1])) + column - 1,
            sum(map(len, lines[:end_line - 1])) + end_column - 1)


def _characters(text: str, count: int) -> int:
    """Return the number of characters in the first `count` bytes of a line."""
    return len(text.encode()[:count].decode(errors="ignore")) if text else count
