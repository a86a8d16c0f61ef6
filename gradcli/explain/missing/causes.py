"""The causes of a missing gradient.

`CAUSES` is the catalogue, a row for each. `causes(scene, gap)` first looks whether the name meant
another value, then at types, then whether any path leads from the source to the target at all. If
one does, the locations where all paths are cut are the causes, the smallest set nearest the target
first (`cut_paths`); if none does, code that did not run, a choice or a name that hides another may
be (`sources`). Whether the tape watched the source comes last: it may be a second cause.
"""

from __future__ import annotations

from gradcli.engine.record.record import OP, OUT, descendants
from gradcli.explain.catalogue import Cause, Fix, Reason
from gradcli.explain.missing import changes
from gradcli.explain.missing.cut_paths import (
    PATHS,
    blocked_steps,
    cutting_causes,
    is_aside,
    path_causes,
    smooth,
)
from gradcli.explain.missing.cuts import minimum_cut
from gradcli.explain.missing.scene import Hop, Scene, place_of
from gradcli.explain.missing.sources import (
    SOURCES,
    behind,
    dead_code,
    original_of,
    unconnected,
    untaken,
)
from gradcli.ops.kinds import STOP
from gradcli.ops.values import dtype_of, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.explain.missing.cuts import Arc
    from gradcli.explain.missing.outline import FixContext
    from gradcli.explain.missing.scene import Gap, Naming, Window

# Another value is meant, so it matters little whether this one is watched.
ANOTHER = (
    "source-is-copy", "source-computed-twice", "source-downstream", "path-custom-internal")
# They say little where another cause is known.
VAGUE = ("source-unrelated", "source-after-target", "target-constant")
# No float can be kept where one of these made an integer; where one of those did, it can.
MADE_DISCRETE = ("path-nondifferentiable", "path-value-independent")
CASTS = ("path-dtype-cast", "source-dtype")
KINDS = {"string": "a text", "bool": "a truth value"}


def causes(scene: Scene, gap: Gap) -> list[Reason]:
    """Return all causes that hold, at least one, the one to mend first on top."""
    rebound = _rebound(scene, gap)
    found = [*rebound]
    if gap.empty:
        return [*found, Reason("target-empty", "there is no target: the list is empty",
                               gap.asked_at)]
    if gap.inside_out is not None:
        return [*found, Reason(
            "forward-wrong-order", "the outer accumulator was asked first; the inner one knows"
            " nothing of its answer", gap.asked_at,
            related=[(gap.inside_out, "the outer one, asked first")])]
    found += _types(scene, gap)
    real = any(map(is_float, gap.targets.values()))
    between = blocked_steps(scene, gap)
    if between and not rebound:
        found += cutting_causes(scene, gap, between)
    elif not rebound and gap.own.isdisjoint(gap.targets) and (
            dtype_of(gap.value) not in KINDS):
        found += [r for r in unconnected(scene, gap) if not found or r.code not in VAGUE]
    if not rebound and real and not any(r.code in ANOTHER for r in found) and (
            original_of(scene, gap) is None):
        found += unwatched(scene, gap, between)
    discrete = next((r for r in found if r.code in MADE_DISCRETE), None)
    if discrete is not None and all(r.code not in CASTS for r in found):
        # The integer was made by the operation before it.
        found.sort(key=lambda r: r.code == "target-dtype")
        if found[-1].code == "target-dtype":
            found[-1].about = discrete.abouts[0]
    if not found:
        found.append(Reason("source-unrelated", f"{gap.target} does not depend on"
                            f" {gap.source}", gap.source_span))
    return found


def propose(context: FixContext, reason: Reason) -> list[Fix]:
    """Return the fixes that may mend one cause, the smallest first; untried advice comes last."""
    if reason.fixes:
        return reason.fixes     # the cause brought its own advice
    row = CAUSES[reason.code]
    found = row.changes(context, reason) if row.changes is not None else []
    if any(not fix.edits for fix in found):
        return found
    text = advice(context.scene, context.gap, reason)
    return [*found, Fix(text)] if text else found


def advice(scene: Scene, gap: Gap, reason: Reason, *, python: bool = False) -> str | None:
    """Return what may be done about a cause, in terms of files or of Python."""
    if reason.fixes:
        return reason.fix
    row = CAUSES[reason.code]
    text = row.python if python and row.python is not None else row.advice
    if callable(text):
        return text(scene, gap, reason)
    tape = gap.window.name if gap.window is not None else ""
    if text is not None and "{tape}.watch" in text and not tape:
        return f"--watch {gap.source}"
    return text and text.format(tape=tape or "the tape", source=gap.source, target=gap.target)


def kind_of(value: Any) -> str:
    """Describe in words a value that has no gradient."""
    dtype = dtype_of(value)
    return KINDS.get(dtype, f"an integer ({dtype})")


# --- the names and the types ------------------------------------------------------------------


def _rebound(scene: Scene, gap: Gap) -> list[Reason]:
    """Return the causes if the name meant another value, from which the target was made, or if it
    was a variable and is none any more.
    """
    name = gap.source
    own = [n for n in scene.namings if n.name == name and n.id in gap.own]
    if not own:
        return []
    above = scene.above(gap.targets, without="path-custom-internal")
    others = [n for n in scene.namings if n.name == name and n.id not in gap.own
              and n.id not in gap.targets and scene.scope(n.span) == scene.scope(own[-1].span)
              # Each call of a function has parameters of its own.
              and not (n.kind == own[-1].kind == "parameter")]
    elsewhere = Scene([e for e in scene.entries if not is_aside(e, gap)]).above(
        gap.targets, without="path-custom-internal", past=gap.own) if others else above
    for other in reversed(others):
        if other.id in elsewhere and scene.above([other.id]).isdisjoint(gap.own):
            # The target uses a value that was not computed from the source.
            meant = gap.of(other)
            return [_renamed(gap, other, own), *path_causes(scene, meant),
                    *unwatched(scene, meant, [])]
    if not gap.own.isdisjoint(above):
        return _leftbehind(scene, gap, own, others)
    for other in reversed(others):
        meant = gap.of(other)
        unrun = dead_code(scene, meant, above) or untaken(scene, meant, above)
        if unrun is not None and other.id < own[0].id:
            return [_renamed(gap, other, own), unrun, *behind(scene, meant, unrun, above)]
    return []


def _renamed(gap: Gap, other: Naming, own: list[Naming]) -> Reason:
    """Return the cause that the name means another value now, or did when the target was made."""
    name = gap.source
    if own[0].id < other.id:
        return Reason(
            "source-rebound", f"{name} was bound to a new value, and {gap.target} uses that"
            " one", other.span, related=[(own[0].span, "the value that was asked for")])
    return Reason(
        "source-rebound", f"{name} was bound to a new value here; {gap.target} was made with"
        " the old one", own[-1].span, about=own[-1],
        related=[(other.span, f"the {name} that {gap.target} uses")])


def _leftbehind(scene: Scene, gap: Gap, own: list[Naming], others: list[Naming]
                 ) -> list[Reason]:
    """Return the causes if the name was a variable and is now a value that is not watched."""
    name, window = gap.source, gap.window
    variable = next((n for n in others if n.kind == "variable" and n.id < own[0].id), None)
    if variable is None or gap.kind == "variable" or window is None or (
            not gap.own.isdisjoint(window.watched)):
        return []
    return [Reason(
        "source-rebound", f"{name} was bound to a new value here, which is not a variable:"
        f" `{window.name}` does not watch it", own[-1].span, about=own[-1],
        related=[(variable.span, "the variable")]), *path_causes(scene, gap)]


def _types(scene: Scene, gap: Gap) -> list[Reason]:
    found = []
    if not is_float(gap.value):
        maker = next((m for m in map(scene.maker, gap.own) if m is not None), None)
        declared = gap.spans.get("type")
        made_at = place_of(maker) if maker is not None else None
        found.append(Reason(
            "source-dtype", f"{gap.source} is {kind_of(gap.value)}; only floating point"
            " values have a gradient", declared or made_at or gap.source_span,
            about=None if declared else maker))
    if gap.targets and not any(map(is_float, gap.targets.values())):
        id, value = next(iter(gap.targets.items()))
        maker = scene.maker(id)
        by = f", made by `{scene.written(maker)}`" if maker is not None else ""
        found.append(Reason(
            "target-dtype", f"{gap.target} is {kind_of(value)}{by}; only floating point values"
            " have a gradient", (place_of(maker) if maker is not None else None)
            or gap.target_span, about=maker))
    return found


# --- no tape watches it -----------------------------------------------------------------------


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
    return {"constant": "a constant", "literal": "a value without var", "input": "an input"}.get(
        gap.kind, "a computed value")


def _read_before(scene: Scene, gap: Gap, window: Window, arcs: list[Arc]
                 ) -> list[Reason]:
    """Return the cause if a variable was read before the tape that recorded its uses."""
    read = next(iter(scene.uses(gap.own & {step.start for step in arcs})), None)
    if read is None or minimum_cut(arcs, gap):
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


# --- advice and rows --------------------------------------------------------------------------


def _kept_float(scene: Scene, gap: Gap, reason: Reason) -> str | None:
    """Return advice about a target of whole numbers, by the operation that made it."""
    maker = reason.about
    if maker is None or maker[OP].kind != STOP or maker[OP].name == "cast_other":
        return "keep it a float"
    return smooth(scene, maker)     # it has no other answers, as `argmax`


def _meant(scene: Scene, gap: Gap, reason: Reason) -> str | None:
    return f"did you mean {reason.about}?" if reason.about else None


_OTHERS = (
    Cause("source-dtype",
          "The source is an integer, a truth value or a text: only floating point numbers have"
          " slopes.",
          changes=changes.dtype, advice="make {source} a float",
          python="make it a float: 3.0, or a cast to float"),
    Cause("source-rebound",
          "The name was bound to a new value, and the target was computed from the old one.",
          changes=changes.rebound, advice="give the new value a name of its own"),
    Cause("target-constant",
          "The target is a fixed number: nothing that could be varied went into it.",
          advice=_meant),
    Cause("target-dtype",
          "The target is an integer, a truth value or a text: it moves in jumps and has no slope.",
          changes=changes.target_dtype, advice=_kept_float),
    Cause("target-empty",
          "The list of targets is empty.",
          advice="put a target into the list"),
    Cause("forward-wrong-order",
          "Two forward accumulators were asked in the wrong order: ask the inner one first.",
          changes=changes.swap_accumulators,
          advice="ask the inner one first: outer.jvp(inner.jvp(y))"),
    Cause("path-no-rule",
          "On the path stands an operation whose derivative nobody wrote: an error, not a None.",
          error="E0503"),
    Cause("tape-consumed",
          "A tape without `persistent=true` answers once, and this was the second question: an"
          " error.",
          error="E0501"),
    Cause("tape-not-entered",
          "Nothing was being recorded where the question stands: an error.",
          error="E0502"))
CAUSES = {row.code: row for row in (*SOURCES, *PATHS.values(), *_OTHERS)}
