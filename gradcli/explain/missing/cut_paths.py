"""Causes on the path: what blocks its steps, and those of the minimum cut as causes.

One cause for each location; those of a tape cover all lines that it did not see.
"""

from __future__ import annotations

import re

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, Record
from gradcli.explain.catalogue import Cause, Reason
from gradcli.explain.missing import changes
from gradcli.explain.missing.cuts import steps, to_blame
from gradcli.explain.missing.outline import out_of_pause
from gradcli.explain.missing.scene import Hop, Scene, place_of
from gradcli.explain.written import LONGEST, operands_of, term
from gradcli.ops.kinds import FLAT
from gradcli.ops.values import dtype_of, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.cuts import Arc
    from gradcli.explain.missing.scene import Gap

# One cause for a tape covers all lines that it did not see.
OF_TAPE = ("path-outside-tape", "path-stop-recording", "path-reset", "target-consumed",
           "path-gradient-not-recorded", "source-watched-late")
# These blame what was done to the tape, and not the line that was cut off.
BLAMED = ("path-reset", "target-consumed", "path-gradient-not-recorded")
OF_CUSTOM = ("path-custom-internal", "path-custom-none")
WAY = "the path from {source} to {target} is cut by"
BY_CLOSURE = ("`{name}` takes up {inside} without having it as an argument, and only its arguments"
              " have a gradient")
DECLARED = ("{name} takes its first value from {taken}, and is a source of its own from there on")
# In files as in Python.
ASKED_ZERO = 'ask for 0: unconnected_gradients="zero"'
INTO_BLOCK = "move the line into the block of {tape}"


def path_causes(scene: Scene, gap: Gap) -> list[Reason]:
    """Return the causes that cut the paths from a source."""
    return cutting_causes(scene, gap, blocked_steps(scene, gap))


def blocked_steps(scene: Scene, gap: Gap) -> list[Arc]:
    """Return all steps between the source and a target with what blocks each."""
    return steps(scene, gap, lambda entry, k: judge(scene, gap, entry, k))


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


def judge(scene: Scene, gap: Gap, entry: Entry, k: int) -> list[tuple[str, Any]]:
    """Return (code, location of what else is to blame) of each cause that blocks a step."""
    blocks: list[tuple[str, Any]] = []
    code = operation_block(scene, entry, k)
    if not code and _gives_none(entry, k):
        code = "path-custom-none"
    if code == "path-dtype-cast" and _came_back(scene, entry[IDS][k]):
        code = ""       # that it left the engine is what made it a number of any type
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


def _came_back(scene: Scene, id: int | None) -> bool:
    """Return whether a value is one that left the engine and was taken up again."""
    maker = scene.maker(id) if id is not None else None
    return maker is not None and getattr(maker[OP], "code", "") == "path-left-engine"


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
    aside = {id(s.entry) for s in between if is_aside(s.entry, gap)}
    aside |= _beside(between) | _stale(between, gap)
    if aside:
        # Such a path counts only where there is no other.
        plain = Scene([e for e in scene.entries if id(e) not in aside])
        between = blocked_steps(plain, gap) or between
    found: list[Reason] = []
    merged: dict[str, Reason] = {}
    dtype_told = bool(gap.targets) and not any(map(is_float, gap.targets.values()))
    for step in to_blame(between, gap, OF_TAPE):
        for code, place in step.blocks:
            if code not in PATHS:
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
            reason.beside = step.beside
            found.append(reason)
            if code in OF_TAPE:
                merged[code] = reason
    found = _without_nested(scene, found)
    seen = {(r.code, place_of(r.abouts[0])) for r in merged.values()}
    for step in reversed(between) if merged else ():
        for code, place in step.blocks:
            at = place_of(step.entry)
            if code in merged and ((code, at) not in seen or at is None):
                seen.add((code, at))
                _add_line(scene, gap, merged[code], step, place)
    return found


def _without_nested(scene: Scene, found: list[Reason]) -> list[Reason]:
    """Return causes without those in custom functions that are called in another one that is a
    cause itself: their gradient functions never run, which is told beside that.
    """
    never: set[int] = set()
    for reason in found:
        call = scene.maker(reason.abouts[0][OUT]) if reason.code in OF_CUSTOM else None
        inner = getattr(call[OP], "inner", ()) if call is not None else ()
        if call is None or not inner:
            continue
        inside = scene.above(inner) - scene.above([i for i in call[IDS] if i is not None])
        for entry in scene.entries:
            if entry[OUT] in inside and getattr(entry[OP], "custom", False):
                never.add(entry[OUT])
                reason.related.append((place_of(entry), "the gradient function of"
                                       f" `{entry[OP].name}`, called here, never runs"))
    return [r for r in found if r.code not in OF_CUSTOM or r.abouts[0][OUT] not in never]


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


def is_aside(entry: Entry, gap: Gap) -> bool:
    """Return whether an entry leads through the inside of a custom function, or into a state that a
    variable had before the tape began, as after a training step.
    """
    op: Any = entry[OP]
    if not isinstance(op, Hop):
        return False
    phases = gap.window.phases if gap.window is not None else ()
    return op.code == "path-custom-internal" or (
        op.how.startswith("assign") and bool(phases) and entry[OUT] < phases[0][0])


def _beside(between: list[Arc]) -> set[int]:
    """Return the `id()` of entries that stop a derivative inside an operation made of several that
    hands it on beside them, as the comparison in a Huber loss.
    """
    places: dict[Any, set[str]] = {}
    for step in between:
        if not any(code in PATHS and code not in OF_TAPE for code, _ in step.blocks):
            places.setdefault(place_of(step.entry), set()).add(step.entry[OP].name)
    return {id(step.entry) for step in between if not isinstance(step.entry[OP], Hop)
            and place_of(step.entry) is not None
            and step.entry[OP].name not in places.get(place_of(step.entry), step.entry[OP].name)
            and any(code not in OF_TAPE for code, _ in step.blocks)}


def _stale(between: list[Arc], gap: Gap) -> set[int]:
    """Return the `id()` of hops that a value took before the tape began, where a value of the block
    took the same one: an earlier call of a function that left the engine in this one, too.
    """
    phases = gap.window.phases if gap.window is not None else ()
    begins = phases[0][0] if phases else 0
    hops = [s for s in between if getattr(s.entry[OP], "code", "") == "path-left-engine"]
    fresh = {(s.end, place_of(s.entry)) for s in hops if s.start >= begins}
    return {id(s.entry) for s in hops
            if s.start < begins and (s.end, place_of(s.entry)) in fresh}


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
    template = DECLARED if getattr(op, "how", "") in ("var", "const", "input") else PATHS[code].said
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
    elif PATHS[code].related:
        related = [(other, PATHS[code].related)]
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


# --- advice and rows --------------------------------------------------------------------------


def smooth(scene: Scene, entry: Entry) -> str | None:
    """Return advice to use the row's substitute, with the user's own operands if they are short."""
    op, span = entry[OP], place_of(entry)
    if not op.substitute:
        return None
    parts = operands_of(scene.text, span) if scene.text and span is not None else []
    if not parts or sum(map(len, parts)) > LONGEST or any("\n" in part for part in parts):
        parts = [p.lstrip("*") for p in op.parameters] or ["a", "b"]
    parts += ["a", "b"][len(parts):]
    return f"a smooth substitute: {op.substitute.format(*map(term, parts))}"


def _substitute(scene: Scene, gap: Gap, reason: Reason) -> str | None:
    return smooth(scene, reason.abouts[0])


def _zero(scene: Scene, gap: Gap, reason: Reason) -> str | None:
    if gap.asked_at is None:
        return "ask for 0: --unconnected zero"
    # A question of the file has an option of its own; a slope `f'(x)` has none.
    asked = scene.text[slice(*gap.asked_at)]
    return ASKED_ZERO if re.match(r"\w+\.(gradient|jacobian|jvp)\(", asked) else None


def _arguments(scene: Scene, gap: Gap, reason: Reason) -> str:
    """Return advice about a source that a custom function computes inside or reads from outside."""
    entry = reason.abouts[0]
    if isinstance(entry[OP], Hop) and not is_inside(scene, gap, entry):
        return f"make {taken_up(scene, gap, entry)} an argument of {entry[OP].name}"
    call = scene.maker(entry[OUT])
    known = [name for name in map(scene.name, call[IDS] if call is not None else ()) if name]
    return f"ask for {' or '.join(known) or 'its arguments'} instead"


_ROWS = (
    Cause("path-stop-gradient",
          "Every path from the source to the target goes through `stop_gradient`.",
          said=WAY + " `{text}`", changes=changes.stop_gradient, advice="remove stop_gradient"),
    Cause("path-dtype-cast",
          "On the path the number was made an integer, a truth value or a text.",
          said=WAY + " a cast to {type}", changes=changes.cast, advice="keep it a float"),
    Cause("path-nondifferentiable",
          "On the path stands an operation without a derivative: a comparison, an index, a count.",
          said=WAY + " `{text}`, which has no derivative", advice=_substitute),
    Cause("path-step-function",
          "On the path stands a step, such as `floor`: flat nearly everywhere, with jumps between.",
          said=WAY + " `{text}`, a step function: its slope is 0 almost everywhere",
          changes=changes.step, advice=_zero, python=ASKED_ZERO),
    Cause("path-value-independent",
          "On the path stands an operation that looks at the shape alone, such as `zeros_like`.",
          said=WAY + " `{text}`, which uses only the shape",
          advice="use its values, not only its shape"),
    Cause("path-state-write",
          "The number reached the target through the state of a variable, and assignments are not"
          " recorded.",
          said="{name} takes up {taken} by an assignment, which is not recorded",
          related="read here", changes=changes.state,
          advice="bind a new name to it, without var or assign",
          python="bind a new name to the result instead of assigning"),
    Cause("path-left-engine",
          "The number was computed outside, as by `np.mean`, where nothing is recorded.",
          said=WAY + " `{text}`, which is computed outside and not recorded",
          changes=changes.declared, advice="use the operation without np.",
          python="use an operation of gradcli.ops, or the NumPy function on the tensor"
                 " itself"),
    Cause("path-stop-recording",
          "The line ran while the recording was paused.",
          said="this ran while {tape} was not recording", related="recording stops here",
          changes=out_of_pause, advice="move the line out of the block"),
    Cause("path-outside-tape",
          "The line ran before the block of the tape, after it, or between two of its parts.",
          said="this ran outside {tape}, so it was not recorded", changes=changes.into_block,
          advice=INTO_BLOCK),
    Cause("path-reset",
          "The line was recorded, and then `reset` threw the recording away.",
          said="{tape} was reset here and forgot what it had recorded before",
          related="this ran before", changes=changes.without_reset, advice="reset before the line"),
    Cause("path-custom-none",
          "A gradient written by hand returns `none` for this argument.",
          said=WAY + " `{name}`: its gradient function returns none for argument {number}",
          related="called here", advice="return a gradient for this argument"),
    Cause("path-custom-internal",
          "The source is a value from inside a function whose gradient is written by hand.",
          said="{source} is a value inside `{name}`, which has a gradient of its own from its"
               " arguments only", advice=_arguments),
    Cause("path-gradient-not-recorded",
          "The first derivative was taken outside the outer tape, which therefore knows nothing of"
          " it.",
          said="the first gradient was computed outside {tape}, which knows nothing of it",
          changes=changes.into_block, advice=INTO_BLOCK),
    Cause("source-watched-late",
          "The watch came after the line that uses the source, and a tape does not look back.",
          said="{source} was used here before it was watched", related="watched only here",
          changes=changes.watch_late, advice="watch it before the line that uses it"),
    Cause("target-consumed",
          "The target belongs to a recording that the tape gave up after its first answer.",
          said="{tape} answered here, which used up what it had recorded",
          changes=changes.persistent, advice="write persistent=true",
          python="GradientTape(persistent=True)"))
PATHS = {row.code: row for row in _ROWS}
