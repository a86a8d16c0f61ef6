"""The ways from a source to a target that are cut, as causes: one for each place."""

from __future__ import annotations

from gradcli.explain.missing import cuts
from gradcli.explain.missing.scene import Hop, Scene, place_of
from gradcli.explain.reason import Reason
from gradcli.ops.lazy import np
from gradcli.ops.values import dtype_of, is_float
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.explain.missing.cuts import Step
    from gradcli.explain.missing.scene import Subject
    from gradcli.tape.record import Entry

# One cause for a tape covers all lines that it did not see.
OF_TAPE = ("path-outside-tape", "path-stop-recording", "path-reset", "target-consumed",
           "path-gradient-not-recorded", "source-watched-late")
# Here not the line that was cut off is to blame but what was done to the tape.
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
# What stands at the other place, and what at further lines of the same cause.
RELATED = {
    "path-stop-recording": "recording stops here",
    "path-reset": "this ran before",
    "source-watched-late": "watched only here",
    "path-custom-none": "called here",
    "path-state-write": "read here",
}


def ways(scene: Scene, subject: Subject) -> list[Step]:
    """All steps between the source and a target, and what blocks each."""
    return cuts.steps(scene, subject, lambda entry, k: judge(scene, subject, entry, k))


def judge(scene: Scene, subject: Subject, entry: Entry, k: int) -> list[tuple[str, Any]]:
    """Why a step is blocked: (code, place of what is to blame besides) each."""
    blocks: list[tuple[str, Any]] = []
    code = cuts.of_operation(scene, entry, k)
    if not code and _gives_none(entry, k):
        code = "path-custom-none"
    if code:
        blocks.append((code, None))
    window = subject.window
    if isinstance(entry[OP], Hop):
        return blocks
    if window is None:
        when, place = subject.late.get(entry[IDS][k] or 0, (0, None))
        if when > entry[OUT]:
            blocks.append(("source-watched-late", place))
        return blocks
    state = window.state(entry[OUT])
    if state is not None:
        asked = scene.asked(entry[OUT]) if state[0] == "path-outside-tape" else None
        if asked is not None:
            state = "path-gradient-not-recorded", asked
        blocks.append(state)
    elif entry[IDS][k] in subject.own and window.late.get(entry[IDS][k] or 0, 0) > entry[OUT]:
        blocks.append(("source-watched-late", window.watches.get(entry[IDS][k] or 0)))
    return blocks


def _gives_none(entry: Entry, k: int) -> bool:
    """Whether a rule that the user wrote returns no gradient for argument k; it is asked."""
    op: Any = entry[OP]
    if not getattr(op, "custom", False):
        return False
    if k in op.nones or not entry[VALUES]:
        return k in op.nones
    from gradcli.tape.tensor import leaf

    ans = entry[ANS]
    with Record(everything=False):
        parts = op.rules[0](
            leaf(1.0 if type(ans) is float else np.ones_like(ans)), ans, *entry[VALUES])
    return bool(parts[k] is None)


def cut(scene: Scene, subject: Subject, between: list[Step]) -> list[Reason]:
    """The causes of what is cut between a source and a target, those of the smallest cut first."""
    aside = {id(s.entry) for s in between if _aside(s.entry, subject)}
    if aside:
        # Such a way counts only where there is no other.
        plain = Scene([e for e in scene.entries if id(e) not in aside])
        between = ways(plain, subject) or between
    found: list[Reason] = []
    merged: dict[str, Reason] = {}
    dtype_told = bool(subject.targets) and not any(map(is_float, subject.targets.values()))
    for step in cuts.to_blame(between, subject, OF_TAPE):
        for code, place in step.blocks:
            if code not in SAID:
                continue  # code that did not run, which is told already
            if dtype_told and step.entry[OUT] in subject.targets and code.startswith("path-") and (
                    code not in OF_TAPE):
                continue  # the target's type says it
            if code in merged:
                continue
            index = _index(between, step) if code == "path-dtype-cast" else (
                step.entry if code == "path-nondifferentiable" and _sizes(step.entry) else None)
            reason = _cause(scene, subject, step, code, place) if index is None else Reason(
                "source-condition-only", f"{subject.source} decides an index or a shape in"
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
                _add_line(scene, subject, merged[code], step, place)
    return found


def _index(between: list[Step], cast: Step) -> Entry | None:
    """What takes a whole number up as an index or a shape, if nothing takes it up otherwise."""
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
    """Whether a tensor of that size was made, as by `ones(n)`."""
    return entry[OP].name == "left_engine" and bool(entry[ATTRIBUTES]["size"])


def _aside(entry: Entry, subject: Subject) -> bool:
    """Whether an entry leads through the inside of a custom function, or into a state that a
    variable had before the tape began, as after a training step.
    """
    op: Any = entry[OP]
    if not isinstance(op, Hop):
        return False
    phases = subject.window.phases if subject.window is not None else ()
    return op.code == "path-custom-internal" or (
        op.how.startswith("assign") and bool(phases) and entry[OUT] < phases[0][0])


def _add_line(scene: Scene, subject: Subject, reason: Reason, step: Step, place: Any) -> None:
    """Several lines that a tape did not see are one cause; each is told once."""
    at = _called_from(scene, subject, step.entry, place) if (
        reason.code == "path-gradient-not-recorded") else _site(scene, subject, step.entry)
    reason.abouts.append(step.entry)
    told = [scene.line(span) for span in (reason.span, *[span for span, _ in reason.related])]
    if at is not None and scene.line(at) not in told:
        reason.related.append((at, "and here"))


def _site(scene: Scene, subject: Subject, entry: Entry) -> Any:
    """Where an operation ran, seen from the tape: a function that was called ran at its call."""
    here = scene.asked(entry[OUT]) or place_of(entry)
    return None if here is None else _called_from(scene, subject, entry, here)


def _called_from(scene: Scene, subject: Subject, entry: Entry, here: Any) -> Any:
    near = subject.window.span if subject.window is not None else None
    return scene.caller(entry[OUT], here, near) or here


def _cause(scene: Scene, subject: Subject, step: Step, code: str, place: Any) -> Reason:
    entry = step.entry
    op: Any = entry[OP]
    window = subject.window
    here = _site(scene, subject, entry) if code in OF_TAPE else place_of(entry)
    if code == "path-gradient-not-recorded":
        place = _called_from(scene, subject, entry, place)
    span, other = (place, here) if code in BLAMED else (here, place)
    template = DECLARED if getattr(op, "how", "") in ("var", "const", "input") else SAID[code]
    if code == "path-custom-internal" and not is_inside(scene, subject, entry):
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
        inside=taken_up(scene, subject, entry) if template is BY_CLOSURE else "",
        source=subject.source, target=subject.target, tape=tape, name=op.name,
        text=scene.written(entry), type=_type_word(entry), number=step.k + 1,
        taken=_taken(scene, subject, entry))
    return Reason(code, said, span, related=related, about=step, abouts=[entry])


def is_inside(scene: Scene, subject: Subject, call: Entry) -> bool:
    """Whether the source was computed in the custom function of a hop, not around its call."""
    makers = [maker for maker in map(scene.maker, subject.own) if maker is not None]
    around = scene.scope(place_of(call))
    return any(scene.scope(place_of(maker)) != around for maker in makers)


def taken_up(scene: Scene, subject: Subject, call: Entry) -> str:
    """What a custom function takes from around it on the way from the source, by name."""
    below, around = scene.below(subject.own), scene.scope(place_of(call))
    id: int | None = call[IDS][0]
    maker = scene.maker(id)
    while maker is not None and scene.scope(place_of(maker)) != around:
        id = next((i for i in maker[IDS] if i in below), None)
        maker = scene.maker(id)
    return scene.name(id) or subject.source


def _type_word(entry: Entry) -> str:
    if "dtype" in entry[ATTRIBUTES]:
        return str(entry[ATTRIBUTES]["dtype"])
    return dtype_of(entry[ANS]) if entry[ANS] is not None else "an integer"


def _taken(scene: Scene, subject: Subject, entry: Entry) -> str:
    """What a variable took up, in the user's words."""
    taken = entry[IDS][0]
    name = scene.name(taken)
    if taken in subject.own:
        return subject.source
    return name or f"what came of {subject.source}"
