"""Minimum cuts: the steps at which all paths from a source to a target are blocked.

Every step of a path is an argument of an entry. A step is *blocked* for up to two causes: the
operation itself (a floor, a cast, a hop into a variable's state) and the tape, if it was not
recording. The smallest set of blocked steps that lies on all paths is a minimum cut; of several the
one nearest the target is found (Ford and Fulkerson, 1956: blocked steps have capacity 1, open ones
any; the values from which the target can be reached in the residual graph are the target's side).
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, Record
from gradcli.explain.catalogue import Reason
from gradcli.explain.missing.scene import Hop, Scene, place_of
from gradcli.ops.kinds import FLAT
from gradcli.ops.values import dtype_of, is_float

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
    """One step of a path: argument k of an entry. blocks: (code, location) of each cause."""

    __slots__ = ("blocks", "entry", "k")

    def __init__(self, entry: Entry, k: int, blocks: list[tuple[str, Any]]) -> None:
        self.entry = entry
        self.k = k
        self.blocks = blocks

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


def operation_block(scene: Scene, entry: Entry, k: int) -> str:
    """Return the code why an operation lets no derivative pass from argument k; "" if it does."""
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
        if not front:
            break
        mended: set[Any] = set()
        for step in reversed(front):
            mends = {_mend(step, code, one_mend) for code, _ in step.blocks}
            if not mends <= mended:
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


# --------------------------------------------------------------------------------------------------
# The paths from a source to a target that are cut, as causes: one for each place.

# One cause for a tape covers all lines that it did not see.
OF_TAPE = ("path-outside-tape", "path-stop-recording", "path-reset", "target-consumed",
           "path-gradient-not-recorded", "source-watched-late")
# These blame what was done to the tape, and not the line that was cut off.
BLAMED = ("path-reset", "target-consumed", "path-gradient-not-recorded")
WAY = "the path from {source} to {target} is cut by"
SAID = {
    "path-step-function": WAY + " `{text}`, a step function: its slope is 0 almost everywhere",
    "path-left-engine": WAY + " `{text}`, which is computed outside and not recorded",
    "path-stop-gradient": WAY + " `{text}`",
    "path-dtype-cast": WAY + " a cast to {type}",
    "path-value-independent": WAY + " `{text}`, which uses only the shape",
    "path-nondifferentiable": WAY + " `{text}`, which has no derivative",
    "path-custom-none": WAY + " `{name}`: its gradient function returns none for argument {number}",
    "path-custom-internal": "{source} is a value inside `{name}`, which has a gradient of its own"
                            " from its arguments only",
    "path-state-write": "{name} takes up {taken} by an assignment, which is not recorded",
    "path-stop-recording": "this ran while {tape} was not recording",
    "path-reset": "{tape} was reset here and forgot what it had recorded before",
    "target-consumed": "{tape} answered here, which used up what it had recorded",
    "path-gradient-not-recorded": "the first gradient was computed outside {tape}, which knows"
                                  " nothing of it",
    "source-watched-late": "{source} was used here before it was watched",
    "path-outside-tape": "this ran outside {tape}, so it was not recorded",
}
BY_CLOSURE = ("`{name}` takes up {inside} without having it as an argument, and only its arguments"
              " have a gradient")
DECLARED = ("{name} takes its first value from {taken}, and is a source of its own from there on")
# The label of the second location and of further lines of the same cause.
RELATED = {
    "path-stop-recording": "recording stops here",
    "path-reset": "this ran before",
    "source-watched-late": "watched only here",
    "path-custom-none": "called here",
    "path-state-write": "read here",
}


def blocked_steps(scene: Scene, gap: Gap) -> list[Arc]:
    """Return all steps between the source and a target with what blocks each."""
    return steps(scene, gap, lambda entry, k: judge(scene, gap, entry, k))


def judge(scene: Scene, gap: Gap, entry: Entry, k: int) -> list[tuple[str, Any]]:
    """Return (code, location of what else is to blame) of each cause that blocks a step."""
    blocks: list[tuple[str, Any]] = []
    code = operation_block(scene, entry, k)
    if not code and _gives_none(entry, k):
        code = "path-custom-none"
    if code:
        blocks.append((code, None))
    window = gap.window
    if isinstance(entry[OP], Hop):
        return blocks
    if window is None:
        when, place = gap.late.get(entry[IDS][k] or 0, (0, None))
        if when > entry[OUT]:
            blocks.append(("source-watched-late", place))
        return blocks
    state = window.state(entry[OUT])
    if state is not None:
        asked = scene.asked(entry[OUT]) if state[0] == "path-outside-tape" else None
        if asked is not None:
            state = "path-gradient-not-recorded", asked
        blocks.append(state)
    elif entry[IDS][k] in gap.own and window.late.get(entry[IDS][k] or 0, 0) > entry[OUT]:
        blocks.append(("source-watched-late", window.watches.get(entry[IDS][k] or 0)))
    return blocks


def _gives_none(entry: Entry, k: int) -> bool:
    """Return whether a custom gradient function, which is called, returns None for argument k."""
    op: Any = entry[OP]
    if not getattr(op, "custom", False):
        return False
    if k in op.nones or not entry[VALUES]:
        return k in op.nones
    from gradcli.engine.record.tensor import leaf

    ans = entry[ANS]
    with Record(everything=False):
        parts = op.rules[0](
            leaf(1.0 if type(ans) is float else np.ones_like(ans)), ans, *entry[VALUES])
    return bool(parts[k] is None)


def cutting_causes(scene: Scene, gap: Gap, between: list[Arc]) -> list[Reason]:
    """Return the causes that cut the paths from source to target, the smallest cut first."""
    aside = {id(s.entry) for s in between if _aside(s.entry, gap)}
    if aside:
        # Such a path counts only where there is no other.
        plain = Scene([e for e in scene.entries if id(e) not in aside])
        between = blocked_steps(plain, gap) or between
    found: list[Reason] = []
    merged: dict[str, Reason] = {}
    dtype_told = bool(gap.targets) and not any(map(is_float, gap.targets.values()))
    for step in to_blame(between, gap, OF_TAPE):
        for code, place in step.blocks:
            if code not in SAID:
                continue  # code that did not run, which is told already
            if dtype_told and step.entry[OUT] in gap.targets and code.startswith("path-") and (
                    code not in OF_TAPE):
                continue  # the target's type says it
            if code in merged:
                continue
            index = _index(between, step) if code == "path-dtype-cast" else (
                step.entry if code == "path-nondifferentiable" and _sizes(step.entry) else None)
            reason = _cause(scene, gap, step, code, place) if index is None else Reason(
                "source-condition-only", f"{gap.source} decides an index or a shape in"
                f" `{scene.written(index)}`; a whole number has no slope", place_of(index),
                about="index")
            if any(r.code == code and r.span == reason.span for r in found):
                continue
            found.append(reason)
            if code in OF_TAPE:
                merged[code] = reason
    seen = {(r.code, place_of(r.abouts[0])) for r in merged.values()}
    for step in reversed(between) if merged else ():
        for code, place in step.blocks:
            at = place_of(step.entry)
            if code in merged and ((code, at) not in seen or at is None):
                seen.add((code, at))
                _add_line(scene, gap, merged[code], step, place)
    return found


def _index(between: list[Arc], cast: Arc) -> Entry | None:
    """Return the entry that uses the integer that a cast made as an index or a shape; None if it is
    also used in another role.
    """
    whole, ends = {cast.end}, []
    for step in between:    # in order
        if step.start in whole and (isinstance(step.entry[OP], Hop)
                                    or not is_float(step.entry[ANS])):
            whole.add(step.end)
        elif step.start in whole:
            ends.append(step)
    return ends[0].entry if ends and all(
        step.entry[OP].role(step.k) in ("index", "shape") for step in ends) else None


def _sizes(entry: Entry) -> bool:
    """Return whether an entry made a tensor of a given size, as `ones(n)`."""
    return entry[OP].name == "left_engine" and bool(entry[ATTRIBUTES]["size"])


def _aside(entry: Entry, gap: Gap) -> bool:
    """Return whether an entry leads through the inside of a custom function, or into a state that a
    variable had before the tape began, as after a training step.
    """
    op: Any = entry[OP]
    if not isinstance(op, Hop):
        return False
    phases = gap.window.phases if gap.window is not None else ()
    return op.code == "path-custom-internal" or (
        op.how.startswith("assign") and bool(phases) and entry[OUT] < phases[0][0])


def _add_line(scene: Scene, gap: Gap, reason: Reason, step: Arc, place: Any) -> None:
    """Add the location of a step to a cause that covers several lines, each line once."""
    at = _called_from(scene, gap, step.entry, place) if (
        reason.code == "path-gradient-not-recorded") else _site(scene, gap, step.entry)
    reason.abouts.append(step.entry)
    told = [scene.line(span) for span in (reason.span, *[span for span, _ in reason.related])]
    if at is not None and scene.line(at) not in told:
        reason.related.append((at, "and here"))


def _site(scene: Scene, gap: Gap, entry: Entry) -> Any:
    """Return where an operation ran, seen from the tape: in a function, where that was called."""
    here = scene.asked(entry[OUT]) or place_of(entry)
    return None if here is None else _called_from(scene, gap, entry, here)


def _called_from(scene: Scene, gap: Gap, entry: Entry, here: Any) -> Any:
    near = gap.window.span if gap.window is not None else None
    return scene.caller(entry[OUT], here, near) or here


def _cause(scene: Scene, gap: Gap, step: Arc, code: str, place: Any) -> Reason:
    entry = step.entry
    op: Any = entry[OP]
    window = gap.window
    here = _site(scene, gap, entry) if code in OF_TAPE else place_of(entry)
    if code == "path-gradient-not-recorded":
        place = _called_from(scene, gap, entry, place)
    span, other = (place, here) if code in BLAMED else (here, place)
    template = DECLARED if getattr(op, "how", "") in ("var", "const", "input") else SAID[code]
    if code == "path-custom-internal" and not is_inside(scene, gap, entry):
        template = BY_CLOSURE
    if code == "path-custom-none" and getattr(op, "place", None) is not None:
        span, other = op.place, here
    elif code == "path-state-write":
        other = next((place_of(e) for e in scene.uses([step.end])
                      if not isinstance(e[OP], Hop)), None)
    tape = "the tape" if window is None else f"`{window.name}`"
    if code == "path-outside-tape" and place is not None:
        template = "this ran after {tape} had answered, which ends its recording"
        related = [(place, "it answered here")]
    elif code == "target-consumed":
        related = [(window.again if window is not None else None, "entered again here")]
    elif code in RELATED:
        related = [(other, RELATED[code])]
    else:
        begins = code in ("path-outside-tape", "path-gradient-not-recorded")
        related = [(window.span, f"{tape} begins here")] if begins and window is not None else []
    said = template.format(
        inside=taken_up(scene, gap, entry) if template is BY_CLOSURE else "",
        source=gap.source, target=gap.target, tape=tape, name=op.name,
        text=scene.written(entry), type=_type_word(entry), number=step.k + 1,
        taken=_taken(scene, gap, entry))
    return Reason(code, said, span, related=related, about=step, abouts=[entry])


def is_inside(scene: Scene, gap: Gap, call: Entry) -> bool:
    """Return whether the source was computed inside the custom function of a hop."""
    makers = [maker for maker in map(scene.maker, gap.own) if maker is not None]
    around = scene.scope(place_of(call))
    return any(scene.scope(place_of(maker)) != around for maker in makers)


def taken_up(scene: Scene, gap: Gap, call: Entry) -> str:
    """Return the name of the outer value by which the source enters a custom function."""
    below, around = scene.below(gap.own), scene.scope(place_of(call))
    id: int | None = call[IDS][0]
    maker = scene.maker(id)
    while maker is not None and scene.scope(place_of(maker)) != around:
        id = next((i for i in maker[IDS] if i in below), None)
        maker = scene.maker(id)
    return scene.name(id) or gap.source


def _type_word(entry: Entry) -> str:
    if "dtype" in entry[ATTRIBUTES]:
        return str(entry[ATTRIBUTES]["dtype"])
    return dtype_of(entry[ANS]) if entry[ANS] is not None else "an integer"


def _taken(scene: Scene, gap: Gap, entry: Entry) -> str:
    """Return the name of the value that a variable took up."""
    taken = entry[IDS][0]
    name = scene.name(taken)
    if taken in gap.own:
        return gap.source
    return name or f"what came of {gap.source}"
