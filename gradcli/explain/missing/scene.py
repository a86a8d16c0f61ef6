"""Everything that ran, and the question about it, as an explanation sees them.

A `Scene` has one form for files and Python code: entries (see `gradcli.engine.record.record`) in
order, and among them *hops*, connections between values that no record knows: into a variable's
state, out of a custom function. A hop is an entry whose operation lets no derivative pass, so one
walk over the entries finds every path. A span is a location in the form of the scene's maker:
offsets in the text of a file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from copy import copy
from itertools import accumulate

from gradcli.engine.record.record import ANS, IDS, OP, OUT, PLACE, VALUES
from gradcli.ops.graph import reached
from gradcli.ops.rows import Unlisted
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.log import Choice, Unrun


# The number of sets in the cache of `Scene.above`.
KEPT = 4


class Hop(Unlisted):
    """The operation of a connection that no record knows.

    code: of the cause that it is.
    name: of the variable or function that it leads through.
    how: as in `State`.
    """

    __slots__ = ("code", "how", "name")
    kind = "hop"
    smooth = False

    def __init__(self, code: str, name: str, how: str = "") -> None:
        self.code = code
        self.name = name
        self.how = how


def hop(code: str, name: str, source: int, made: int, span: Span | None, how: str = "") -> Entry:
    """Return the entry of a connection from one value to another that no record knows."""
    place = None if span is None else (0, None, *span)
    op: Any = Hop(code, name, how)
    return op, made, (source,), (), 0.0, {}, place, ()


class Naming:
    """The binding of a name to a value.

    span: its location.
    kind: as in `Binding`.
    spans: of the parts of a declaration.
    time: an id from the moment of the binding, if the value is older.
    """

    __slots__ = ("id", "kind", "name", "span", "spans", "time")

    def __init__(self, name: str, id: int, span: Span | None, kind: str,
                 spans: Mapping[str, Any] | None = None, time: int = 0) -> None:
        self.time = time or id
        self.spans = dict(spans or {})
        self.name = name
        self.id = id
        self.span = span
        self.kind = kind


class Window:
    """The part of the trace that a tape or accumulator recorded.

    name, span: of its head.
    watched: ids.
    late: id to the time of its watch, if it was used before.
    watches: id to the location of the watch.
    automatic: it watches variables by itself.
    option: where that is said.
    forgotten: id to the location of the reset that dropped the watch.
    again: where it was entered after its one answer.
    forward: it is an accumulator.
    phases: (first time, code or "" while recording, location), in order.
    """

    __slots__ = ("again", "automatic", "forgotten", "forward", "late", "name", "option", "phases",
                 "span", "watched", "watches")

    def __init__(self, name: str, span: Span | None, phases: Sequence[tuple[int, str, Any]],
                 watched: set[int], *, late: Mapping[int, int] | None = None,
                 watches: Mapping[int, Any] | None = None, automatic: bool = True,
                 option: Span | None = None, forgotten: Mapping[int, Any] | None = None,
                 forward: bool = False, again: Any = None) -> None:
        self.again = again
        self.name = name
        self.span = span
        self.phases = phases
        self.watched = watched
        self.late = dict(late or {})
        self.watches = dict(watches or {})
        self.automatic = automatic
        self.option = option
        self.forgotten = dict(forgotten or {})
        self.forward = forward

    def state(self, time: int) -> tuple[str, Any] | None:
        """Return None if the tape recorded at a time, else the cause's code and its location."""
        found: tuple[str, Any] = ("path-outside-tape", None)
        for start, code, place in self.phases:
            if start > time:
                break
            found = code, place
        return found if found[0] else None


class Scene:
    """Everything that ran.

    entries: ordered by `out`, hops included.
    namings: in order of time.
    requests: (first id, last id, location) of each question for a gradient, which tells its own
        operations from others.
    derived: id of a derivative to the ids of its target and source.
    unrun, picked: see `Unrun` and `Choice`.
    hiding: (name, location, description) of parameters and loop counters that hide a name.
    calls: (id from before, location) of each call of a function of the file.
    functions: their locations.
    written: returns the text of an operation.
    line: returns a key common to all locations in one statement.
    text: of the file; "" of Python code.
    """

    __slots__ = ("_above", "_begun", "_latest", "_made", "_makers", "_names", "_placed", "_users",
                 "calls",
                 "derived", "entries", "functions", "hiding", "line", "namings", "picked",
                 "requests", "text", "unrun", "written")

    def __init__(self, entries: Iterable[Entry], namings: Sequence[Naming] = (),
                 requests: Sequence[tuple[int, int, Any]] = (),
                 derived: Mapping[int, tuple[int, int]] | None = None,
                 unrun: Sequence[Unrun] = (), picked: Sequence[Choice] = (),
                 hiding: Sequence[tuple[str, Any, str]] = (),
                 calls: Sequence[tuple[int, Any]] = (), functions: Sequence[Any] = (),
                 written: Callable[[Entry], str] = lambda entry: entry[OP].name,
                 line: Callable[[Any], Any] = lambda place: place) -> None:
        self.written = written
        self.line = line
        self.text = ""
        self.calls = calls
        self.functions = functions
        self.unrun = unrun
        self.picked = picked
        self.hiding = hiding
        self.entries = sorted(entries, key=lambda entry: entry[OUT])
        self.namings = namings
        self.requests = sorted(requests, key=lambda q: q[0])
        self._begun = [q[0] for q in self.requests]
        self._latest = [*accumulate([q[1] for q in self.requests], max)]
        self.derived = dict(derived or {})
        self._names: dict[int, Naming] = {}
        for naming in namings:
            self._names.setdefault(naming.id, naming)
        self._makers: dict[int, Entry] = {}
        for entry in self.entries:
            if not isinstance(entry[OP], Hop) or entry[OUT] not in self._makers:
                self._makers[entry[OUT]] = entry
        self._index()

    def _index(self) -> None:
        """Index the entries by the values that they make and read."""
        self._above: dict[tuple[frozenset[int], str], set[int]] = {}
        self._placed: list[tuple[int, int, int]] | None = None
        self._made: dict[int, list[Entry]] = {}
        self._users: dict[int, list[Entry]] = {}
        for entry in self.entries:
            self._made.setdefault(entry[OUT], []).append(entry)
            for i in entry[IDS]:
                if i is not None:
                    self._users.setdefault(i, []).append(entry)

    def constant(self, id: int) -> Any:
        """Return what a constant has in common with others of the same value; None if unknown."""
        return None

    def maker(self, id: int | None) -> Entry | None:
        """Return the entry that made a value."""
        return None if id is None else self._makers.get(id)

    def name(self, id: int | None) -> str | None:
        """Return the first name that a value got."""
        naming = None if id is None else self._names.get(id)
        return None if naming is None else naming.name

    def naming(self, ids: set[int]) -> Naming | None:
        """Return the first naming of the oldest of these values that has one."""
        return next((self._names[i] for i in sorted(ids) if i in self._names), None)

    def scope(self, place: Span | None) -> Span | None:
        """Return the innermost function around a location; None outside of all functions."""
        around = [f for f in self.functions if place is not None and _within(place, f)]
        return min(around, key=lambda f: f[1] - f[0], default=None)

    def in_one_call(self, first: Any, second: Any) -> bool:
        """Return whether two locations of a scope that ran one after the other may belong to one
        call of it: a step back in the text of a function means another call.
        """
        return self.scope(first) is None or second is None or first <= second

    def binding(self, name: str) -> Any:
        """Return the location of the last binding of a name; None if there is none."""
        return next((n.span for n in reversed(self.namings) if n.name == name), None)

    def read_as(self, names: Container[str], above: Container[int]) -> Sequence[Naming]:
        """Return the names under which values were read on the way to a target, as namings of the
        results; for scenes in which bindings leave no naming.
        """
        return ()

    def decides(self, gap: Gap, above: set[int], unrun: Unrun) -> bool:
        """Return whether code that did not run could have changed the target, which existed already
        when the question was asked.
        """
        if gap.asked is not None and unrun.time > gap.asked:
            return False
        if unrun.binds is None or gap.target in unrun.binds:
            return True
        return any(n.name in unrun.binds and n.id in above for n in self.namings)

    def hides(self, gap: Gap, above: set[int], place: Any) -> bool:
        """Return whether the name that hides the source has to do with the target."""
        return True

    def asked(self, id: int) -> Any:
        """Return the location of the innermost question during which a value was made, or None."""
        k = bisect_right(self._begun, id)
        around = []
        while k and self._latest[k - 1] >= id:
            k -= 1
            if self.requests[k][1] >= id:
                around.append(self.requests[k])
        return min(around, key=lambda q: q[1] - q[0])[2] if around else None

    def caller(self, id: int, span: Span, near: Span | None) -> Span | None:
        """Return the location of the call during which a value was made, if that was in a function
        that does not contain `near`; the call is outside of all such functions.
        """
        around = [f for f in self.functions if near is None or not _within(near, f)]

        def inside(place: Span) -> bool:
            return any(_within(place, function) for function in around)

        if not inside(span):
            return None
        return next((place for first, place in reversed(self.calls)
                     if first <= id and not inside(place)), None)

    def above(self, ids: Iterable[int], *, without: str = "", past: Container[int] = ()
              ) -> set[int]:
        """Return the ids of all values that went into these, these included.

        without: code of hops to leave out. past: values beyond which the walk does not go.
        """
        key = frozenset(ids), without
        if not past and key in self._above:
            return self._above[key]
        found = reached(key[0], lambda id: [
            i for entry in (self._made.get(id, ()) if id not in past else ())
            if not without or getattr(entry[OP], "code", "") != without
            for i in entry[IDS] if i is not None])
        if not past:
            if len(self._above) >= KEPT:
                self._above.clear()
            self._above[key] = found
        return found

    def extended(self, entries: Iterable[Entry]) -> Scene:
        """Return a copy of the scene with more entries."""
        more = copy(self)
        more.entries = sorted([*self.entries, *entries], key=lambda entry: entry[OUT])
        more._index()
        return more

    def between(self, below: set[int], above: set[int]) -> list[Entry]:
        """Return the entries that make the values in both sets, in order."""
        return [entry for id in sorted(below & above) for entry in self._made.get(id, ())]

    def made_at(self, span: Span, before: float) -> set[int]:
        """Return the ids of values computed at a location before a time."""
        if self._placed is None:
            self._placed = sorted(
                (*place, entry[OUT]) for entry in self.entries
                for place in [place_of(entry)] if place is not None)
        first, last = bisect_left(self._placed, span), bisect_right(self._placed, (span[1],))
        return {out for _, end, out in self._placed[first:last] if end <= span[1] and out < before}

    def uses(self, ids: Iterable[int]) -> list[Entry]:
        """Return the entries that read one of these values, in order."""
        found = {id(entry): entry for i in ids for entry in self._users.get(i, ())}
        return sorted(found.values(), key=lambda entry: entry[OUT])

    def below(self, ids: Iterable[int]) -> set[int]:
        """Return the ids of all values that these went into, these included."""
        return reached(ids, lambda id: [entry[OUT] for entry in self._users.get(id, ())])

    def is_real(self, entry: Entry, k: int) -> bool:
        """Return whether an operand is a floating point value; an unknown one counts as one."""
        maker = self.maker(entry[IDS][k])
        if maker is not None:
            return is_float(maker[ANS])
        return is_float(entry[VALUES][k]) if k < len(entry[VALUES]) else True


def _within(place: Span, around: Span) -> bool:
    return around[0] <= place[0] and place[1] <= around[1]


class Gap:
    """One gradient that is None: of `targets` with respect to `own`.

    source, target: their names.
    own: the ids of the source (of a variable, of all its states).
    kind: as in `Binding`.
    value: of the source.
    targets: ids and values.
    window: of the tape or accumulator that was asked; None: an implicit one that recorded
        everything.
    unwatched: the implicit one, which watches only trainable and named values, does not watch the
        source.
    source_span, target_span: where they are named.
    spans: of the parts of the source's declaration.
    others: windows of the tapes that were not asked.
    asked_at: the location of the question.
    inside_out: the location of the question to an outer accumulator that should have been asked
        after this one.
    empty: there is no target.
    late: id to (time, location) of its watch on the implicit tape, if only later uses count.
    asked: the time of the question as an id; None: at the end.
    """

    __slots__ = ("asked", "asked_at", "empty", "inside_out", "kind", "late", "others", "own",
                 "source", "source_span", "spans", "target", "target_span", "targets",
                 "unwatched", "value", "window")

    def __init__(self, source: str, target: str, own: set[int], value: Any,
                 targets: Mapping[int, Any], *, kind: str = "computed",
                 source_span: Span | None = None, target_span: Span | None = None,
                 window: Window | None = None, others: Sequence[Window] = (),
                 unwatched: bool = False, asked_at: Any = None,
                 spans: Mapping[str, Any] | None = None, inside_out: Any = None,
                 empty: bool = False, asked: int | None = None,
                 late: Mapping[int, tuple[int, Any]] | None = None) -> None:
        self.asked = asked
        self.late = dict(late or {})
        self.empty = empty
        self.inside_out = inside_out
        self.source = source
        self.target = target
        self.own = own
        self.value = value
        self.targets = dict(targets)
        self.kind = kind
        self.source_span = source_span
        self.target_span = target_span
        self.window = window
        self.others = others
        self.unwatched = unwatched
        self.asked_at = asked_at
        self.spans = dict(spans or {})

    def of(self, naming: Naming) -> Gap:
        """Return the gap for another value that had the source's name."""
        other = copy(self)
        other.own, other.kind = {naming.id}, naming.kind
        other.source_span, other.spans = naming.span, naming.spans
        return other

    def reaching(self, ids: set[int]) -> Gap:
        """Return the gap with more targets."""
        other = copy(self)
        other.targets = {**self.targets, **dict.fromkeys(ids, 0.0)}
        return other


def place_of(entry: Entry) -> Any:
    """Return the location of an operation as (start, end); None without one."""
    place = entry[PLACE]
    return None if place is None else (place[2], place[3])


# Operations whose answer is the same number in another tensor.
COPIES = ("positive", "index", "reshape", "transpose", "cast_float", "squeeze", "expand_dims")
# The operands that leave the other one unchanged.
NEUTRAL = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "divide": 1.0}


def origins(scene: Scene, ids: Iterable[int]) -> Iterator[tuple[Entry, int]]:
    """Yield (entry that copied, id of the original) for copies and parts, one behind the other."""
    for id in ids:
        maker = scene.maker(id)
        while maker is not None and is_copy(maker):
            origin = next(i for i in maker[IDS] if i is not None)
            yield maker, origin
            maker = scene.maker(origin)


def is_copy(entry: Entry) -> bool:
    """Return whether an operation passes on the same numbers, or some of them."""
    op: Any = entry[OP]
    if all(i is None for i in entry[IDS]):
        return False
    if op.name in NEUTRAL:
        return any(i is None and type(v) is float and v == NEUTRAL[op.name]
                   for i, v in zip(entry[IDS], entry[VALUES], strict=False))
    return op.name in COPIES or getattr(op, "how", "") in ("var", "const", "input")


def is_part(entry: Entry) -> bool:
    """Return whether an operation passes on some of the numbers."""
    return bool(entry[OP].name == "index")
