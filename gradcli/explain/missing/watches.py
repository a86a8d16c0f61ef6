"""The last of the causes: the tape that was asked does not watch the source."""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, OUT
from gradcli.explain.catalogue import Reason
from gradcli.explain.missing import cuts
from gradcli.explain.missing.scene import Hop, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.explain.missing.cuts import Step
    from gradcli.explain.missing.scene import Scene, Subject, Window


def unwatched(scene: Scene, subject: Subject, ways: list[Step]) -> list[Reason]:
    """Return the cause that the source is not watched, if so. ways: the steps to the target."""
    use = next((place_of(step.entry) for step in ways if step.start in subject.own), None)
    related = [(use, "first used here")]
    window = subject.window
    if window is None:
        found = _of_file(subject, related) if subject.unwatched else None
    elif window.forward or not subject.own.isdisjoint(window.watched) or _on_tape(
            scene, subject, window):
        found = None
    elif subject.kind == "variable" and window.automatic and subject.own.isdisjoint(
            subject.targets):
        return _read_before(scene, subject, window, ways)
    else:
        found = _of_tape(subject, window, related)
    if found is None:
        return []
    found.about = subject
    return [found]


def _of_file(subject: Subject, related: list[tuple[Any, str]]) -> Reason:
    """Return the cause where one tape covers the file and watches trainable and named values."""
    name = subject.source
    if subject.kind == "nontrainable":
        return Reason("source-nontrainable", f"{name} is declared trainable=false, so nothing"
                      " watches it", subject.spans.get("trainable", subject.source_span))
    return Reason("source-constant-unwatched", f"{name} is {_what(subject)}, which nothing watches",
                  _birth(subject), related=related)


def _of_tape(subject: Subject, window: Window, related: list[tuple[Any, str]]) -> Reason:
    """Return the cause why a tape of the file does not watch the source."""
    name, tape = subject.source, f"`{window.name}`"
    for id in subject.own:
        if id in window.forgotten:
            return Reason("source-watch-reset", f"{name} was watched before {tape} was reset,"
                          " which forgot the watch", window.forgotten[id], related=related)
    for other in subject.others:
        if not subject.own.isdisjoint(other.watched) and subject.kind != "variable":
            place = next((other.watches[i] for i in subject.own if i in other.watches), None)
            return Reason(
                "source-not-watched-on-this-tape", f"{name} is watched by `{other.name}`, not by"
                f" {tape}", place or other.span, related=[(window.span, f"{tape} begins here")])
    if subject.kind == "nontrainable":
        return Reason("source-nontrainable", f"{name} is declared trainable=false, so {tape} does"
                      " not watch it by itself",
                      subject.spans.get("trainable", subject.source_span), related=related)
    if subject.kind == "variable" and not window.automatic:
        return Reason("source-auto-watch-off", f"{tape} watches only what it is told to, and {name}"
                      " is not among it", window.option or window.span, related=related)
    if subject.kind == "variable":
        return Reason("source-constant-unwatched", f"nothing in the block of {tape} reads {name},"
                      " so it is not watched", window.span)
    return Reason("source-constant-unwatched", f"{name} is {_what(subject)}, which {tape} does not"
                  " watch by itself", _birth(subject), related=related)


def _what(subject: Subject) -> str:
    return {"constant": "a constant", "literal": "a plain number", "input": "an input"}.get(
        subject.kind, "no variable")


def _read_before(scene: Scene, subject: Subject, window: Window, ways: list[Step]
                 ) -> list[Reason]:
    """Return the cause if a variable was read before the tape that recorded its uses."""
    read = next(iter(scene.uses(subject.own & {step.start for step in ways})), None)
    if read is None or cuts.smallest(ways, subject):
        return []  # what it lacks is a read that was recorded
    return [Reason(
        "path-outside-tape", f"{subject.source} was read here, outside `{window.name}`, which does"
        " not know it", place_of(read), abouts=[read],
        related=[(window.span, f"`{window.name}` begins here")])]


def _on_tape(scene: Scene, subject: Subject, window: Window) -> bool:
    """Return whether a tape knows the source: computed from watched values, without a hop."""
    if not any(map(scene.maker, subject.own)):
        return False
    reached = set(window.watched)
    for entry in scene.entries:
        if not reached.isdisjoint(entry[IDS]) and not isinstance(entry[OP], Hop) and (
                window.state(entry[OUT]) is None):
            reached.add(entry[OUT])
    return not subject.own.isdisjoint(reached)


def _birth(subject: Subject) -> Any:
    """Return the span where the source is declared or bound."""
    if "keyword" in subject.spans and subject.source_span is not None:
        return subject.spans["keyword"][0], subject.source_span[1]
    return subject.source_span
