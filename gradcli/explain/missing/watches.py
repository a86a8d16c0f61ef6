"""The last of the causes: the tape that was asked does not watch the source."""

from __future__ import annotations

from gradcli.engine.record.record import OP, OUT
from gradcli.engine.sweeps.reach import descendants
from gradcli.explain.catalogue import Reason
from gradcli.explain.missing import cuts
from gradcli.explain.missing.scene import Hop, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.explain.missing.cuts import Arc
    from gradcli.explain.missing.scene import Gap, Scene, Window


def unwatched(scene: Scene, gap: Gap, arcs: list[Arc]) -> list[Reason]:
    """Return the cause that the source is not watched, if so. arcs: the steps to the target."""
    use = next((place_of(step.entry) for step in arcs if step.start in gap.own), None)
    related = [(use, "first used here")]
    window = gap.window
    if window is None:
        found = _of_file(gap, related) if gap.unwatched else None
    elif window.forward or not gap.own.isdisjoint(window.watched) or _on_tape(
            scene, gap, window):
        found = None
    elif gap.kind == "variable" and window.automatic and gap.own.isdisjoint(
            gap.targets):
        return _read_before(scene, gap, window, arcs)
    else:
        found = _of_tape(gap, window, related)
    if found is None:
        return []
    found.about = gap
    return [found]


def _of_file(gap: Gap, related: list[tuple[Any, str]]) -> Reason:
    """Return the cause where one tape covers the file and watches trainable and named values."""
    name = gap.source
    if gap.kind == "nontrainable":
        return Reason("source-nontrainable", f"{name} is declared trainable=false, so nothing"
                      " watches it", gap.spans.get("trainable", gap.source_span))
    return Reason("source-constant-unwatched", f"{name} is {_what(gap)}, which nothing watches",
                  _birth(gap), related=related)


def _of_tape(gap: Gap, window: Window, related: list[tuple[Any, str]]) -> Reason:
    """Return the cause why a tape of the file does not watch the source."""
    name, tape = gap.source, f"`{window.name}`"
    for id in gap.own:
        if id in window.forgotten:
            return Reason("source-watch-reset", f"{name} was watched before {tape} was reset,"
                          " which forgot the watch", window.forgotten[id], related=related)
    for other in gap.others:
        if not gap.own.isdisjoint(other.watched) and gap.kind != "variable":
            place = next((other.watches[i] for i in gap.own if i in other.watches), None)
            return Reason(
                "source-not-watched-on-this-tape", f"{name} is watched by `{other.name}`, not by"
                f" {tape}", place or other.span, related=[(window.span, f"{tape} begins here")])
    if gap.kind == "nontrainable":
        return Reason("source-nontrainable", f"{name} is declared trainable=false, so {tape} does"
                      " not watch it by itself",
                      gap.spans.get("trainable", gap.source_span), related=related)
    if gap.kind == "variable" and not window.automatic:
        return Reason("source-auto-watch-off", f"{tape} watches only what it is told to watch,"
                      f" and not {name}", window.option or window.span, related=related)
    if gap.kind == "variable":
        return Reason("source-constant-unwatched", f"nothing in the block of {tape} reads {name},"
                      " so it is not watched", window.span)
    return Reason("source-constant-unwatched", f"{name} is {_what(gap)}, which {tape} does not"
                  " watch by itself", _birth(gap), related=related)


def _what(gap: Gap) -> str:
    return {"constant": "a constant", "literal": "a named constant", "input": "an input"}.get(
        gap.kind, "no variable")


def _read_before(scene: Scene, gap: Gap, window: Window, arcs: list[Arc]
                 ) -> list[Reason]:
    """Return the cause if a variable was read before the tape that recorded its uses."""
    read = next(iter(scene.uses(gap.own & {step.start for step in arcs})), None)
    if read is None or cuts.minimum_cut(arcs, gap):
        return []  # what it lacks is a read that was recorded
    return [Reason(
        "path-outside-tape", f"{gap.source} was read here, outside `{window.name}`, which does"
        " not know it", place_of(read), abouts=[read],
        related=[(window.span, f"`{window.name}` begins here")])]


def _on_tape(scene: Scene, gap: Gap, window: Window) -> bool:
    """Return whether a tape knows the source: computed from watched values, without a hop."""
    if not any(map(scene.maker, gap.own)):
        return False
    recorded = [e for e in scene.entries if not isinstance(e[OP], Hop) and (
        window.state(e[OUT]) is None)]
    return not gap.own.isdisjoint(descendants(recorded, window.watched))


def _birth(gap: Gap) -> Any:
    """Return the span where the source is declared or bound."""
    if "keyword" in gap.spans and gap.source_span is not None:
        return gap.spans["keyword"][0], gap.source_span[1]
    return gap.source_span
