"""Comparisons whose sides are equal: what is said at such a point is said of one branch."""

from __future__ import annotations

import math

from gradcli.errors import GradcliError
from gradcli.explain.one_sided import CLOSE, directions
from gradcli.explain.reason import Note
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import SCALAR_TYPES, shape_of
from gradcli.sweeps import reach
from gradcli.tape.operators import COMPARISONS
from gradcli.tape.record import IDS, OP, OUT, VALUES, span_of
from gradcli.tape.saved import is_hollow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.lang.run import Run
    from gradcli.tape.record import Entry
    from gradcli.tape.tensor import Tensor

    # Numbers by the order of the derivative, and how far rounding may have moved them.
    Levels = Sequence[tuple[Sequence[float], float]]

# How far beside the point, of its size. Each is far shorter than the next: what a smooth function
# makes of that has gone. The longer ones are taken where rounding hides what is nearer.
STEPS = (1e-10, 1e-7, 1e-5, 1e-3, 1e-2)
ROUNDING = 1e-8
# A difference is known if rounding may be this share of it.
KNOWN = 0.25


def boundaries(run: Run, targets: Sequence[Tensor], source: Tensor,
               at: Callable[[Any], Levels] | None) -> list[Note]:
    """Notes on comparisons of what is equal and moves with a source, where a step to one side
    chooses otherwise, and derivatives differ. at: values of the targets and their derivatives,
    order by order, where the source has another value; None if that is not known.
    """
    if source.id is None:
        return []
    # An `if` may choose what was made before.
    entries = run.record.history() if at is not None else reach.window(
        run.record.history(), [source.id], [t.id for t in targets if t.id is not None])
    spans = list(dict.fromkeys(map(span_of, _moving(entries, source.id, at is None))))
    said = (": what stands here is of one branch" if at is None else _difference(source.value, at)
            ) if spans else None
    return [] if said is None else [
        Note("boundary", f"both sides of the comparison are equal there{said}", span)
        for span in spans]


def is_equal(entry: Entry) -> bool:
    """Whether it compares what is equal."""
    if entry[OP] not in COMPARISONS.values():
        return False
    x, y = entry[VALUES]
    if type(x) in SCALAR_TYPES and type(y) in SCALAR_TYPES:
        return bool(x == y)
    return not (is_hollow(x) or is_hollow(y)) and bool(np.any(np.equal(x, y)))


def _moving(entries: Sequence[Entry], source: int, smooth: bool) -> list[Entry]:
    """The comparisons of what is equal and depends on a source; smooth: not by a step or a choice.
    """
    reached = reach.active(entries, [source]) if smooth else {source}
    found = []
    for entry in entries:
        if not reached.isdisjoint(entry[IDS]):
            if not smooth:
                reached.add(entry[OUT])
            if is_equal(entry):
                found.append(entry)
    return found


def _difference(value: Any, at: Callable[[Any], Levels]) -> str | None:
    """What is not the same on both sides, as the end of a sentence; None if nothing is. What goes
    away with the step is the same.
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
    """The lowest order in which numbers here are no limit of those nearer and nearer. levels: those
    at the first steps, to which others are added as they are needed.
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
    """Whether something that moves with a source is compared with its equal, or is at a kink."""
    entries = run.record.history()
    moved = reach.active(entries, [source.id]) if source.id is not None else set()
    with quiet():
        return any(
            is_equal(e) if e[OP] in COMPARISONS.values()
            else e[OP].elementwise and e[OP].kink is not None and np.any(e[OP].kink(*e[VALUES]))
            for e in entries if not moved.isdisjoint(e[IDS]) and not any(map(is_hollow, e[VALUES])))
