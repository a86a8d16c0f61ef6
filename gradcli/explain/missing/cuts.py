"""Minimum cuts: the steps at which all paths from a source to a target are blocked.

Every step of a path is an argument of an entry. A step is *blocked* for up to two causes: the
operation itself (a floor, a cast, a hop into a variable's state) and the tape, if it was not
recording. The smallest set of blocked steps that lies on all paths is a minimum cut; of several the
one nearest the target is found (Ford and Fulkerson, 1956: blocked steps have capacity 1, open ones
any; the values from which the target can be reached in the residual graph are the target's side).
"""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, OUT
from gradcli.explain.missing.scene import Scene, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.scene import Gap

    Judge = Callable[[Entry, int], list[tuple[str, Any]]]

# Beyond this flow the cut next to the target is taken: the smallest one takes too long.
MAX_FLOW = 50
# The largest number of cuts, one behind the other, that are reported.
MAX_CUTS = 20


class Arc:
    """One step of a path: argument k of an entry. blocks: (code, location) of each cause; beside:
    "cut" where it is in one cut with a step before it, "path" where it cuts a path that counts no
    more when those are mended.
    """

    __slots__ = ("beside", "blocks", "entry", "k")

    def __init__(self, entry: Entry, k: int, blocks: list[tuple[str, Any]]) -> None:
        self.entry = entry
        self.k = k
        self.blocks = blocks
        self.beside = ""

    @property
    def start(self) -> int:
        """The id of the operand."""
        found = self.entry[IDS][self.k]
        assert found is not None
        return found

    @property
    def end(self) -> int:
        """The id of the answer."""
        return self.entry[OUT]


def steps(scene: Scene, gap: Gap, judge: Judge) -> list[Arc]:
    """Return all steps that lie on a path from the source to a target, in order."""
    below = scene.below(gap.own)
    # A way begins where it leaves the source last: what went into a state of it is not part of it.
    above = scene.above(gap.targets, past=gap.own)
    return [
        Arc(entry, k, judge(entry, k))
        for entry in scene.between(below - gap.own, above)
        for k, i in enumerate(entry[IDS])
        if i is not None and i in below and i in above]


def minimum_cut(found: Sequence[Arc], gap: Gap) -> list[Arc]:
    """Return the blocked steps of the minimum cut nearest the target; empty if a path is open."""
    into: dict[int, list[Arc]] = {}
    out_of: dict[int, list[Arc]] = {}
    for step in found:
        into.setdefault(step.end, []).append(step)
        out_of.setdefault(step.start, []).append(step)
    side = _open_side(gap, into)
    if not side.isdisjoint(gap.own):
        return []
    front = _front(found, side)
    if len(front) <= 1:
        return front  # what all paths pass last is the smallest there is
    used: set[int] = set()  # blocked steps that carry their unit
    flow: dict[int, int] = {}  # units on open steps
    while len(used) <= MAX_FLOW:
        way = _augmenting_path(gap, out_of, into, used, flow)
        if way is None:
            break
        for step, forwards in way:
            if step.blocks:
                used.symmetric_difference_update((id(step),))
            else:
                flow[id(step)] = flow.get(id(step), 0) + (1 if forwards else -1)
    else:
        used = {id(step) for step in found if step.blocks}
        flow = {}
    return _front(found, _target_side(gap, into, out_of, used, flow))


def _open_side(gap: Gap, into: dict[int, list[Arc]]) -> set[int]:
    """Return the ids of values from which an open path leads to a target."""
    side = set(gap.targets)
    todo = list(side)
    for node in todo:
        more = {step.start for step in into.get(node, ()) if not step.blocks} - side
        side |= more
        todo += more
    return side


def _front(found: Sequence[Arc], side: set[int]) -> list[Arc]:
    """Return the blocked steps that lead into the target's side."""
    return [s for s in found if s.blocks and s.end in side and s.start not in side]


def _augmenting_path(gap: Gap, out_of: dict[int, list[Arc]], into: dict[int, list[Arc]],
                     used: set[int], flow: dict[int, int]) -> list[tuple[Arc, bool]] | None:
    """Return an augmenting path as (step, forwards) of each step; None if no more flow fits.

    out_of, into: steps by the id at which they start and end.
    used: `id()` of blocked steps that carry flow.
    flow: units on open steps, by their `id()`.
    """
    came: dict[int, tuple[Arc, bool] | None] = dict.fromkeys(gap.own)
    todo = list(gap.own)
    for node in todo:
        if node in gap.targets and came[node] is not None:
            path = []
            at = came[node]
            while at is not None:
                path.append(at)
                step, forwards = at
                at = came[step.start if forwards else step.end]
            return path
        for step in out_of.get(node, ()):
            if step.end not in came and not (step.blocks and id(step) in used):
                came[step.end] = step, True
                todo.append(step.end)
        for step in into.get(node, ()):
            carries = id(step) in used if step.blocks else flow.get(id(step), 0) > 0
            if step.start not in came and carries:
                came[step.start] = step, False
                todo.append(step.start)
    return None


def _target_side(gap: Gap, into: dict[int, list[Arc]], out_of: dict[int, list[Arc]],
                 used: set[int], flow: dict[int, int]) -> set[int]:
    """Return the ids of values from which the residual graph leads to a target."""
    side = set(gap.targets)
    todo = list(side)
    for node in todo:
        for step in into.get(node, ()):
            if step.start not in side and not (step.blocks and id(step) in used):
                side.add(step.start)
                todo.append(step.start)
        for step in out_of.get(node, ()):
            carries = id(step) in used if step.blocks else flow.get(id(step), 0) > 0
            if step.end not in side and carries:
                side.add(step.end)
                todo.append(step.end)
    return side


def to_blame(found: Sequence[Arc], gap: Gap, one_mend: Container[str] = ()
             ) -> list[Arc]:
    """Return the blocked steps to mend, one for each location and cause; none if a path is open.

    First come those of the minimum cut nearest the target, then those of the cut that is left once
    these are mended, and so on until a path is open; then blocked steps that alone block other
    paths. one_mend: codes of which all steps are mended at once.
    """
    out: list[Arc] = []
    rest = list(found)
    names: dict[Any, set[str]] = {}
    for step in found:
        names.setdefault(place_of(step.entry), set()).add(step.entry[OP].name)
    for _ in range(MAX_CUTS):
        front = minimum_cut(rest, gap)
        if not front:
            # An operation made of others lets pass what one of them stops.
            front = [step for step in rest if out and step.blocks
                     and len(names[place_of(step.entry)]) == 1]
            for step in front:
                step.beside = "path"
        if not front:
            break
        mended: set[Any] = set()
        for step in reversed(front):
            mends = {_mend(step, code, one_mend) for code, _ in step.blocks}
            if not mends <= mended:
                step.beside = step.beside or ("cut" if mended else "")
                out.append(step)
            mended |= mends
        rest = [Arc(step.entry, step.k, [
            block for block in step.blocks if _mend(step, block[0], one_mend) not in mended])
            if step.blocks else step for step in rest]
    return out


def _mend(step: Arc, code: str, one_mend: Container[str]) -> tuple[str, Any]:
    """Return the key of the change that lifts a block: the code and the location, or the code alone
    if one change mends all its steps.
    """
    place = place_of(step.entry)
    return code, None if code in one_mend else place or id(step.entry)
