"""Where the ways from a source to a target are cut.

Every step of a way is an argument of an entry. A step is *blocked* for up to two causes: what the
operation is (a floor, a cast, a hop into a variable's state) and what the tape did when it ran. The
smallest set of blocked steps that lies on all ways is a minimum cut; of several the one nearest the
target is found (Ford and Fulkerson, 1956: blocked steps carry one unit, open ones any number; what
still leads to the target when no more fits is the target's side).
"""

from __future__ import annotations

from gradcli.explain.missing.scene import Hop, place_of
from gradcli.ops.kinds import FLAT
from gradcli.ops.values import is_float
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from typing import Any

    from gradcli.explain.missing.scene import Scene, Subject
    from gradcli.tape.record import Entry

    Judge = Callable[[Entry, int], list[tuple[str, Any]]]

# Beyond so many places the cut next to the target has to do: the smallest one takes too long.
MAX_FLOW = 50
# So many cuts, one behind the other, are told.
MAX_CUTS = 20


class Step:
    """One step of a way: argument k of an entry, and why it is blocked: (code, place) each."""

    __slots__ = ("blocks", "entry", "k")

    def __init__(self, entry: Entry, k: int, blocks: list[tuple[str, Any]]) -> None:
        self.entry = entry
        self.k = k
        self.blocks = blocks

    @property
    def start(self) -> int:
        """The id that goes in."""
        found = self.entry[IDS][self.k]
        assert found is not None
        return found

    @property
    def end(self) -> int:
        """The id that comes out."""
        return self.entry[OUT]


def steps(scene: Scene, subject: Subject, judge: Judge) -> list[Step]:
    """All steps that lie on a way from the source to a target, in order."""
    below = scene.below(subject.own)
    # A way begins where it leaves the source last: what went into a state of it is no part of it.
    above = scene.above(subject.targets, past=subject.own)
    return [
        Step(entry, k, judge(entry, k))
        for entry in scene.between(below - subject.own, above)
        for k, i in enumerate(entry[IDS])
        if i is not None and i in below and i in above]


def of_operation(scene: Scene, entry: Entry, k: int) -> str:
    """The code of why an operation lets no derivative pass from argument k; "" if it does."""
    op = entry[OP]
    if isinstance(op, Hop):
        return op.code
    if not scene.is_real(entry, k):
        return ""  # what decides is the step that left the real numbers
    if op.edge(k) and is_float(entry[ANS]):
        return ""
    if op.kind == FLAT:
        return "path-step-function"
    if op.name == "left_engine":
        return "path-left-engine" if entry[ATTRIBUTES]["size"] is None else "path-nondifferentiable"
    if op.name == "stop_gradient":
        return "path-stop-gradient"
    if op.name == "cast_other":
        return "path-dtype-cast"
    if op.role(k) == "shape":
        return "path-value-independent"
    return "path-nondifferentiable"


def smallest(found: Sequence[Step], subject: Subject) -> list[Step]:
    """The blocked steps of a minimum cut nearest the target; empty if a way is open."""
    into: dict[int, list[Step]] = {}
    out_of: dict[int, list[Step]] = {}
    for step in found:
        into.setdefault(step.end, []).append(step)
        out_of.setdefault(step.start, []).append(step)
    side = _open_side(subject, into)
    if not side.isdisjoint(subject.own):
        return []
    front = _front(found, side)
    if len(front) <= 1:
        return front  # what all ways pass last is the smallest there is
    used: set[int] = set()  # blocked steps that carry their unit
    flow: dict[int, int] = {}  # units on open steps
    while len(used) <= MAX_FLOW:
        way = _way(subject, out_of, into, used, flow)
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
    return _front(found, _target_side(subject, into, out_of, used, flow))


def _open_side(subject: Subject, into: dict[int, list[Step]]) -> set[int]:
    """The values from which an open way leads to a target."""
    side = set(subject.targets)
    todo = list(side)
    for node in todo:
        more = {step.start for step in into.get(node, ()) if not step.blocks} - side
        side |= more
        todo += more
    return side


def _front(found: Sequence[Step], side: set[int]) -> list[Step]:
    """The blocked steps that lead to the target's side."""
    return [s for s in found if s.blocks and s.end in side and s.start not in side]


def _way(subject: Subject, out_of: dict[int, list[Step]], into: dict[int, list[Step]],
         used: set[int], flow: dict[int, int]) -> list[tuple[Step, bool]] | None:
    """A way on which one more unit fits, as (step, forwards)."""
    came: dict[int, tuple[Step, bool] | None] = dict.fromkeys(subject.own)
    todo = list(subject.own)
    for node in todo:
        if node in subject.targets and came[node] is not None:
            way = []
            at = came[node]
            while at is not None:
                way.append(at)
                step, forwards = at
                at = came[step.start if forwards else step.end]
            return way
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


def _target_side(subject: Subject, into: dict[int, list[Step]], out_of: dict[int, list[Step]],
                 used: set[int], flow: dict[int, int]) -> set[int]:
    """The values from which another unit could still reach a target."""
    side = set(subject.targets)
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


def to_blame(found: Sequence[Step], subject: Subject, one_mend: Container[str] = ()
             ) -> list[Step]:
    """The blocked steps of the minimum cut nearest the target, then of the cut that is left once
    these are mended, and so on until a way is open; then what cuts other ways, which would be open
    but for that. One for each place and cause; none if a way is open from the start. one_mend:
    codes of which all steps are mended at once.
    """
    out: list[Step] = []
    rest = list(found)
    names: dict[Any, set[str]] = {}
    for step in found:
        names.setdefault(place_of(step.entry), set()).add(step.entry[OP].name)
    for _ in range(MAX_CUTS):
        front = smallest(rest, subject)
        if not front:
            # An operation made of others lets pass what one of them stops.
            front = [step for step in rest if out and step.blocks
                     and len(names[place_of(step.entry)]) == 1]
        if not front:
            break
        mended: set[Any] = set()
        for step in reversed(front):
            mends = {_mend(step, code, one_mend) for code, _ in step.blocks}
            if not mends <= mended:
                out.append(step)
            mended |= mends
        rest = [Step(step.entry, step.k, [
            block for block in step.blocks if _mend(step, block[0], one_mend) not in mended])
            if step.blocks else step for step in rest]
    return out


def _mend(step: Step, code: str, one_mend: Container[str]) -> tuple[str, Any]:
    """What has to be mended where a step is blocked for a cause: a place, unless it is one thing
    wherever that cause is.
    """
    place = place_of(step.entry)
    return code, None if code in one_mend else place or id(step.entry)
