"""Notes on answers that are right but need a remark: a rebound name, a sum, a kink, a requested
zero.
"""

from __future__ import annotations

import math

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.operators import COMPARISONS
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    IDS,
    OP,
    OUT,
    VALUES,
    active,
    ancestry,
    descendants,
    span_of,
)
from gradcli.engine.record.saved import is_hollow
from gradcli.engine.sweeps.reverse import cotangents, reverse
from gradcli.explain.catalogue import Note
from gradcli.explain.numbers.limits import CLOSE, directions
from gradcli.explain.written import called, written
from gradcli.ops.kinds import FLAT
from gradcli.ops.values import SCALAR_TYPES, is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry, Record
    from gradcli.engine.record.tensor import Tensor
    from gradcli.engine.sweeps.reverse import Shares
    from gradcli.explain.catalogue import Reason
    from gradcli.lang.running.run import Binding, Run
    from gradcli.lang.running.tapes import FileTape

    # Numbers by the order of the derivative, and how far rounding may have moved them.
    Levels = Sequence[tuple[Sequence[float], float]]
    See = Callable[[Entry, int, Any, Any], None]

# Numbers that a note names.
MAX_SHOWN = 4


def rebound(run: Run, binding: Binding) -> list[Note]:
    """Return the note that a name is bound again: the derivative belongs to its first value."""
    bindings = run.bindings.get(binding.name, [])
    if len(bindings) < 2 or bindings[0] is not binding:
        return []
    return [Note("rebound", f"`{binding.name}` is bound again here; the derivative is with respect"
                 " to its first value", bindings[1].span)]


def requested_zero(why: Reason) -> list[Note]:
    """Return the notes on a 0 that stands there because of --unconnected zero; behind a step
    function it is also the derivative.
    """
    found = [Note("zero-requested", "no path: 0 because --unconnected zero asks for it"
                  f" ({why.message})", why.span)]
    if why.code == "path-step-function":
        found.append(Note("zero-flat", "a step is flat: 0 is its slope wherever it has one",
                          why.span))
    return found


def out_of_range(run: Run, tensors: Iterable[Tensor]) -> set[int]:
    """Return the ids of finite values that would be other floats if nothing had left the range of
    floats during their computation.
    """
    from gradcli.engine.sweeps import wide

    finite = [t.id for t in tensors if t.id is not None and is_float(t.value)
              and bool(np.isfinite(t.value).all())]
    with quiet():
        return wide.flushed(run.record.history(), finite)


def flushed(name: str, span: Span | None) -> Note:
    """Return the note that a value is wrong since a number on the way left the range of floats."""
    return Note("range-value", f"the value of {name} is not right: a number on the way is too"
                " small or too large for a float", span)


def lost(record: Record, source: Tensor, name: str, span: Span | None) -> list[Note]:
    """Return the note that part of a derivative left the range of floats."""
    count = record.lost.get(source.id, 0) if source.id is not None else 0
    if not count:
        return []
    what = "the derivative" if count == 1 else f"{count} elements of the derivative"
    return [Note("range-slope", f"{what} in {name} may be wrong: a slope on the way is too small"
                 " or too large for a float, and what it meets makes that count", span)]


def shown(found: Mapping[str, str], span: Span | None) -> Note:
    """Return the note on numbers of a table that are no floats. found: name to the number used."""
    first = list(found.items())[:MAX_SHOWN]
    said = ", ".join([f"{name} is about {text}" for name, text in first])
    more = f", and {len(found) - len(first)} more" if len(found) > len(first) else ""
    return Note("range-shown", f"{said}{more}: no float holds that, so what is printed there is not"
                " what the derivative was calculated with", span)


def summed(name: str, count: int, span: Span, each: str = "gradcli jac") -> Note:
    """Return the note that the gradient of a target with several elements is that of their sum.
    each: the command that gives the gradient of each element.
    """
    elements = "1 element" if count == 1 else f"{count} elements"
    return Note("sum", f"{name} has {elements}: this is the gradient of their sum; `{each}` gives"
                " each", span)


# --------------------------------------------------------------------------------------------------
# Comparisons whose sides are equal: what is said at such a point is said of one branch.

# Steps beside the point, relative to its size. Each is far shorter than the next, so that a smooth
# function changes far less. The longer ones are taken where rounding hides the shorter.
STEPS = (1e-10, 1e-7, 1e-5, 1e-3, 1e-2)
ROUNDING = 1e-8
# A difference is known if rounding may be this share of it.
KNOWN = 0.25


def boundaries(run: Run, targets: Sequence[Tensor], source: Tensor,
               at: Callable[[Any], Levels] | None) -> list[Note]:
    """Return notes on comparisons of equal sides that depend on the source, where a step to one
    side takes the other branch and derivatives differ.

    at: function from a value of the source to the targets' values and derivatives by order; None if
    these are not known.
    """
    if source.id is None:
        return []
    # An `if` may choose what was made before.
    entries = run.record.history() if at is not None else records.window(
        run.record.history(), [source.id], [t.id for t in targets if t.id is not None])
    spans = list(dict.fromkeys(map(span_of, _moving(entries, source.id, at is None))))
    said = (": what stands here is of one branch" if at is None else _difference(source.value, at)
            ) if spans else None
    return [] if said is None else [
        Note("boundary", f"both sides of the comparison are equal there{said}", span)
        for span in spans]


def is_equal(entry: Entry) -> bool:
    """Return whether an entry compares sides that are equal, in one element at least."""
    if entry[OP] not in COMPARISONS.values():
        return False
    x, y = entry[VALUES]
    if type(x) in SCALAR_TYPES and type(y) in SCALAR_TYPES:
        return bool(x == y)
    return not (is_hollow(x) or is_hollow(y)) and bool(np.any(np.equal(x, y)))


def _moving(entries: Sequence[Entry], source: int, smooth: bool) -> list[Entry]:
    """Return the comparisons of equal sides that depend on a source; smooth: only those that a
    derivative reaches, not by way of a step function or a choice.
    """
    reached = active(entries, [source]) if smooth else descendants(entries, [source])
    return [e for e in entries if not reached.isdisjoint(e[IDS]) and is_equal(e)]


def _difference(value: Any, at: Callable[[Any], Levels]) -> str | None:
    """Return the end of a sentence that says what differs between both sides of a point; None if
    nothing does. A difference that vanishes with the step is none.
    """
    size = float(np.max(np.abs(value), initial=0.0)) or 1.0
    here, sides = at(value), []
    lowest: int | None = None
    for step in directions(value):
        for sign in (-1.0, 1.0):
            def beside(h: float, step: Any = step, sign: float = sign) -> Levels:
                try:
                    return at(value + sign*size*h*step)
                except GradcliError:    # there is nothing on that side
                    return [((math.nan,), 0.0)]

            levels = [beside(h) for h in STEPS[:2]]
            sides.append(levels)
            apart = _apart(here, levels, beside)
            if apart is not None:
                lowest = apart if lowest is None else min(lowest, apart)
    if lowest is None:
        return None
    if lowest == 0:
        return ", and the value jumps there: what stands here is of one branch"
    if lowest == 1 and not shape_of(value) and all(
            len(near[k][0]) == 1 for near, *_ in sides for k in (0, 1)):
        slopes = [near[1][0][0] for near, *_ in sides]
        least = CLOSE*max(map(abs, slopes))
        # A slope that grows has no limit.
        if all(abs(far[1][0][0] - near[1][0][0]) <= least for near, far, *_ in sides):
            left, right = (f"{0.0 if abs(slope) < least else slope:.6g}" for slope in slopes)
            return f": the slope is {left} to the left and {right} to the right"
    return f", and derivatives of order {lowest} differ: what stands here is of one branch"


def _apart(here: Levels, levels: list[Levels], beside: Callable[[float], Levels]) -> int | None:
    """Return the lowest derivative order whose numbers here are no limit of those beside the point.

    levels: numbers at the first steps of `STEPS`; those of further steps are appended when needed.
    beside: function from a step to its numbers.
    """
    for order, (numbers, _) in enumerate(here):
        for k, x in enumerate(numbers):
            for count in range(2, len(STEPS) + 1):
                if len(levels) < count:
                    levels.append(beside(STEPS[count - 1]))
                pair = levels[count - 2:count]
                if any(len(one) <= order for one in pair):
                    return None
                if any(len(one[order][0]) != len(numbers) for one in pair):
                    return order
                b, a = (one[order][0][k] for one in pair)
                least, off = ROUNDING*max(abs(x), abs(b)), abs(b - x)
                if pair[0][order][1] > max(least, KNOWN*off):
                    continue
                if x - x == 0 and not (off <= least or off <= 0.5*abs(a - x)):
                    return order
                break
    return None


def at_edge(run: Run, source: Tensor) -> bool:
    """Return whether a value made of the source is compared with its equal or is at a kink."""
    entries = run.record.history()
    moved = active(entries, [source.id]) if source.id is not None else set()
    with quiet():
        return any(
            is_equal(e) if e[OP] in COMPARISONS.values()
            else e[OP].elementwise and e[OP].kink is not None and np.any(e[OP].kink(*e[VALUES]))
            for e in entries if not moved.isdisjoint(e[IDS]) and not any(map(is_hollow, e[VALUES])))


# --------------------------------------------------------------------------------------------------
# Conventions that decided a derivative: a tie, a kink, on the way from source to target.

# Words of conventions where the value itself jumps.
JUMPS = ("jumps", "0, with slope")


class Kinks:
    """The conventions (ties and kinks) on the paths to the targets. hits: (operation, mask of
    elements, operands) of those that were used, in order.
    """

    __slots__ = ("_decisive", "entries", "hits", "source", "targets")

    def __init__(self, run: Run, targets: Sequence[Tensor], source: Source) -> None:
        self.source = source
        self.entries = run.record.history()
        self.targets = [t.id for t in targets if t.id is not None]
        self._decisive: dict[int, set[int]] = {}
        leading = _leading(self.entries, self.targets)
        self.hits: list[tuple[Entry, Any, Sequence[Any]]] = []
        values: dict[int, Any] | None = None
        for entry in self.entries:
            if entry[OP].kink is not None and entry[OUT] in leading:
                operands: Sequence[Any] | None = entry[VALUES]
                if any(map(is_hollow, entry[VALUES])):
                    # A tape did not keep what no rule reads.
                    if values is None:
                        from gradcli.explain import path

                        values = path.filled(
                            path.values_by_id(self.entries), self.entries, path.bound(run))
                    operands = _again(entry, values)
                hits = False if operands is None else _hits(entry, operands)
                if np.any(hits) if shape_of(hits) else hits:
                    self.hits.append((entry, hits, operands or ()))

    def of(self, wrt: Tensor, order: int = 1) -> list[Note]:
        """Return a note for each location where a convention decides the derivative in one source.

        order: of the derivative; for an order above 1 all conventions on the paths are noted.
        """
        if not self.hits or wrt.id is None:
            return []
        decisive = self._deciding(wrt) if order == 1 else None
        on_way = active(
            records.window(self.entries, [wrt.id], [self.hits[-1][0][OUT]]), [wrt.id])
        found: dict[tuple[str, Span | None], Note] = {}
        for entry, hits, _ in self.hits:
            if decisive is not None and entry[OUT] not in decisive:
                continue
            # A step lets no derivative through, but its jump counts.
            if entry[OUT] != wrt.id and (entry[OUT] in on_way or (
                    entry[OP].kind == FLAT and not on_way.isdisjoint(entry[IDS]))):
                note = _kink(entry, hits, self.source)
                found.setdefault((note.message, note.span), note)  # once for a whole loop
        return list(found.values())


    def _deciding(self, wrt: Tensor) -> set[int]:
        """Return the ids of operations whose conventions decide a first derivative in a source."""
        assert wrt.id is not None
        if wrt.id not in self._decisive:
            from gradcli.explain.numbers.limits import decisive

            jumps = {entry[OUT] for entry, *_ in self.hits
                     if any(word in entry[OP].kinks for word in JUMPS)}
            try:
                self._decisive[wrt.id] = jumps | decisive(
                    self.entries, {entry[OUT]: operands for entry, _, operands in self.hits
                                   if entry[OUT] not in jumps}, wrt.id, wrt.value, self.targets)
            except GradcliError:    # an operation without a rule is on some other way
                self._decisive[wrt.id] = {entry[OUT] for entry, *_ in self.hits}
        return self._decisive[wrt.id]


def kinks(run: Run, targets: Sequence[Tensor], wrt: Tensor, source: Source, order: int = 1
          ) -> list[Note]:
    """Return notes on the conventions on the paths from the value `wrt` to the targets."""
    return Kinks(run, targets, source).of(wrt, order)


def _leading(entries: Sequence[Entry], targets: Sequence[int]) -> set[int]:
    """Return the ids of values from which a derivative passes to the targets; operands that a
    `where` does not pick in any element are left out.
    """
    def taken(entry: Entry) -> list[int | None]:
        op, ids = entry[OP], entry[IDS]
        if op.name == "where" and not is_hollow(entry[VALUES][0]):
            mask = np.asarray(entry[VALUES][0])
            return [ids[k] for k, some in ((1, mask.any()), (2, not mask.all())) if some]
        return [i for k, i in enumerate(ids) if op.edge(k)]

    return ancestry(entries, targets, taken)


def _again(entry: Entry, values: Mapping[int, Any]) -> Sequence[Any] | None:
    """Return the operands with values that were not kept made again; None if one cannot be."""
    from gradcli.explain import path

    found = [v if i is None else values.get(i, v)
             for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
    return None if any(map(path.unknown, found)) else found


def _hits(entry: Entry, operands: Sequence[Any]) -> Any:
    """Return where the operation is at a kink or tie: a truth value, or one for each element."""
    op = entry[OP]
    assert op.kink is not None
    with quiet():
        return op.kink(*operands) if op.elementwise else op.kink(
            entry[ANS], *operands, **entry[ATTRIBUTES])


def _kink(entry: Entry, hits: Any, source: Source) -> Note:
    """Return the note on one convention, as in "`max`: 2 of 3 elements tie; ties share the ..."."""
    op = entry[OP]
    tie = "tie" in op.kinks
    count, size = (int(np.sum(hits)), hits.size) if shape_of(hits) else (1, 1)
    if op.elementwise and size == 1:
        what = ": both arguments tie" if tie else " is at a kink"
    elif tie and shape_of(hits) != shape_of(entry[VALUES][0]):
        what = f": elements tie in {count} of {size} places"
    elif tie:
        what = f": {count} of {size} elements tie"
    elif size == 1:
        what = " is at a kink"
    else:
        what = f": {count} of {size} elements {'is' if count == 1 else 'are'} at a kink"
    return Note("tie" if tie else "kink", f"`{called(entry, source)}`{what}; {op.kinks}",
                span_of(entry))


# --------------------------------------------------------------------------------------------------
# The reverse sweep once more, with an eye on what each operand gets of a cotangent.

def observe_sweep(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Iterable[int],
                  see: See, each: Shares = cotangents) -> None:
    """Run the reverse sweep and call `see` for each cotangent that an operand gets.

    see: called with the entry, the argument's number, the cotangent of the answer and the
    argument's share of it. each: the function that computes the shares in the sweep that gave the
    gradient.
    """
    def shares(entry: Entry, g: Any, reached: set[int], emit: bool) -> Iterable[tuple[int, Any]]:
        # An operand that stands twice has its shares in order; some arguments have none.
        places = [k for k, i in enumerate(entry[IDS]) if i in reached and entry[OP].edge(k)]
        for i, c in each(entry, g, reached, emit):
            k = next(k for k in places if entry[IDS][k] == i)
            places.remove(k)
            see(entry, k, g, c)
            yield i, c

    with quiet():
        reverse(entries, seeds, sources, shares=shares)


# --------------------------------------------------------------------------------------------------
# Tapes of a file that look like a mistake, once it has run: only what is wrong in no program.
#
# | code | meaning |
# |---|---|
# | tape-empty | nothing was recorded, as nothing in its block used what it watches |
# | tape-watched-unused | `watch(x)` of a value that nothing on the tape used |
# | tape-unasked | it recorded, and neither it nor the file was ever asked for a derivative |

def tapes(run: Run, source: Source) -> list[tuple[str, str, Span]]:
    """Return (code, message, span) of what is suspicious about the newest tape of each name."""
    out: list[tuple[str, str, Span]] = []
    for tape in run.tapes.values():
        # Watches that a reset dropped were perhaps used before.
        if not any(kind == "reset" for kind, *_ in tape.events):
            out += _of_tape(run, tape, source)
    return out


def _of_tape(run: Run, tape: FileTape, source: Source) -> list[tuple[str, str, Span]]:
    window = tape.remembered()[0]
    if not window:
        return [("tape-empty", f"`{tape.name}` recorded nothing: nothing in its block uses what it"
                 " watches", tape.span)]
    used = {i for entry in window for i in entry[IDS]}
    # A variable is used in any of its states.
    used |= {i for states in tape.saw.values() for i in states if not used.isdisjoint(states)}
    out = []
    watches = [(id, place[2:]) for kind, _, place, ids in tape.events if kind == "watch"
               for id in ids]
    for id, span in watches:
        if id not in used:
            text = source.text[span[0]:span[1]]
            out.append(("tape-watched-unused", f"nothing that `{tape.name}` recorded uses what"
                        f" `{text}` watches", span))
    if tape.used_at is None and not run.asked:
        out.append(("tape-unasked", f"`{tape.name}` recorded {len(window)} operation"
                    f"{'s' * (len(window) != 1)}, and is never asked for a derivative", tape.span))
    return out


# --------------------------------------------------------------------------------------------------
# Operands that depend on the source, as the order of a Bessel function, but for which their
# operation has no rule. Where all paths lead through such operands, the derivative is None; where
# one path does not, the parts along the others count as 0, as in TensorFlow, and a note says so.

# The largest number of operations that are named.
MOST = 3


def left_out(entries: Sequence[Entry], targets: Sequence[Tensor], sources: Sequence[Tensor],
             source: Source) -> list[Note]:
    """Return notes, up to MOST, on operations with a part of the derivative that is left out."""
    leads = ancestry(entries, [t.id for t in targets], lambda entry: [
        i for _, i in _varying(entry)])
    moved = {s.id for s in sources if s.id is not None}
    found: dict[tuple[str, object], Note] = {}
    for entry in entries:
        if moved.isdisjoint(entry[IDS]) or entry[OUT] not in leads or not is_float(entry[ANS]):
            continue
        for k, i in _varying(entry):
            if i in moved:
                moved.add(entry[OUT])
                if not entry[OP].edge(k):
                    note = _note(entry, k, source)
                    found.setdefault((note.message, note.span), note)
    return list(found.values())[:MOST]


def _varying(entry: Entry) -> Iterator[tuple[int, int]]:
    """Yield (number, id) of the operands that the value depends on, also without a rule."""
    op, values = entry[OP], entry[VALUES]
    for k, i in enumerate(entry[IDS]):
        if i is not None and (op.edge(k) or (op.partial and op.role(k) == "index"
                                             and is_float(values[k]))):
            yield k, i


def _note(entry: Entry, k: int, source: Source) -> Note:
    text = written(entry, source) or called(entry, source)
    which = ("first", "second", "third")[k]
    return Note("part-left-out", f"not the whole derivative: `{text}` has no rule for its {which}"
                " argument, so the part through it counts as 0; `gradcli grad --mode finite` takes"
                " differences instead", span_of(entry))
