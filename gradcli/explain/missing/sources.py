"""Causes in the source: what of it never reaches the target.

Where no path leads from the source to the target, the first row of `SOURCES` whose `find` finds
something is told. The first rows, of sources that no tape watches, are found in `causes`.
"""

from __future__ import annotations

from gradcli.engine.record.record import ATTRIBUTES, IDS, OP, OUT
from gradcli.explain.catalogue import Cause, Reason
from gradcli.explain.missing import changes
from gradcli.explain.missing.cut_paths import ASKED_ZERO, path_causes
from gradcli.explain.missing.scene import hop, is_part, origins, place_of
from gradcli.explain.missing.twins import twin_of
from gradcli.lang.running.log import Unrun

TYPE_CHECKING = False
if TYPE_CHECKING:

    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.scene import Gap, Naming, Scene

# Code that did not run whatever a condition says.
DEAD = {"loop": "a loop that ran zero times", "end": "code that never runs"}
# The decision of a condition, and the quantity that has no slope then.
DECIDED = {"branch": ("which branch runs", "a condition"),
           "leave": ("when the loop ends", "a count of turns"),
           "turn": ("how often the loop runs", "a count of turns"),
           "loop": ("how often the loop runs", "a count of turns")}
WATCH = "{tape}.watch({source})"


# --- no path at all ---------------------------------------------------------------------------


def unconnected(scene: Scene, gap: Gap) -> list[Reason]:
    """Return the causes that no path leads from the source to the target."""
    above = scene.above(gap.targets)
    for row in SOURCES:
        found = row.find(scene, gap, above) if row.find is not None else None
        if found is not None:
            return [found, *behind(scene, gap, found, above),
                    *(_of_origin(scene, gap, above) if row.find is _copy else ())]
    newest = max(gap.targets, default=0)
    original = original_of(scene, gap)
    if original is not None:
        return [Reason(
            "source-unrelated", f"{gap.source} is taken from {original.name}, on which"
            f" {gap.target} does not depend", gap.source_span or gap.target_span,
            about=_leaves(scene, above))]
    if scene.maker(newest) is not None and min(gap.own) > newest and gap.kind != "input":
        return [Reason(
            "source-after-target", f"{gap.source} was made after {gap.target}, which cannot"
            " depend on it", gap.source_span,
            related=[(gap.target_span, f"{gap.target} is computed here")])]
    leaves = _leaves(scene, above)
    if not leaves:
        below = scene.below(gap.own)
        before = [(n.span, f"this {n.name} depends on {gap.source}") for n in scene.namings
                  if n.name == gap.target and n.id in below and n.span is not None]
        again = "was bound again, to" if before else "is"
        return [Reason(
            "target-constant", f"{gap.target} {again} a fixed number: nothing that varies went"
            " into it", gap.target_span, related=before[-1:], about=_meant(scene, gap))]
    uses = [(place_of(e), "used here, but not on the way to the target")
            for e in scene.uses(gap.own) if place_of(e) is not None]
    return [Reason(
        "source-unrelated", f"{gap.target} does not depend on {gap.source}",
        gap.source_span or gap.target_span, related=list(dict.fromkeys(uses))[:3],
        about=leaves)]


def _leaves(scene: Scene, above: set[int]) -> list[str]:
    """Return the names of the inputs, constants and variables on which the target depends."""
    return list(dict.fromkeys(
        n.name for n in scene.namings if n.id in above and n.kind not in ("computed", "parameter")
        and scene.maker(n.id) is None and not (above == {n.id} and n.kind == "literal")))


def _meant(scene: Scene, gap: Gap) -> str | None:
    """Return the last name that depends on the source and is unused, the likely target, or None."""
    used = {i for entry in scene.entries for i in entry[IDS]}
    below = scene.below(gap.own) - gap.own
    names = [n.name for n in scene.namings if n.id in below and n.id not in used
             and n.name != gap.target]
    return names[-1] if names else None


def _derivative_constant(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    for id in above:
        known = scene.derived.get(id)
        if known is not None and not scene.above([known[0]]).isdisjoint(gap.own):
            maker = scene.maker(known[0])
            return Reason(
                "derivative-constant", "the first derivative does not depend on"
                f" {gap.source}: the second one is 0", (place_of(maker) if maker is not None
                                                        else None) or gap.target_span)
    return None


def _downstream(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    if scene.above(gap.own).isdisjoint(gap.targets):
        return None
    computed = [(gap.source_span, f"{gap.source} is computed here")]
    return Reason(
        "source-downstream", f"{gap.source} is computed from {gap.target}, not the other"
        " way round", gap.asked_at or gap.source_span,
        related=computed if gap.asked_at is not None else [])


def _copy(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    """Return the cause if the source is a copy or a part of a value that the target was made of."""
    for maker, origin in origins(scene, gap.own):
        if origin in above:
            return _copied(scene, gap, maker, origin, above)
    return None


def original_of(scene: Scene, gap: Gap) -> Naming | None:
    """Return the name of the value that a source was copied from after the target was made."""
    newest = max(gap.targets, default=0)
    return None if min(gap.own, default=0) <= newest else next(
        (scene.naming({origin}) for _, origin in origins(scene, gap.own) if origin <= newest),
        None)


def _of_origin(scene: Scene, gap: Gap, above: set[int]) -> list[Reason]:
    """Return the causes that cut the paths from the original that the source was taken from."""
    for _, origin in origins(scene, gap.own):
        naming = scene.naming({origin})
        if origin in above and naming is not None:
            meant = gap.of(naming)
            meant.source = naming.name
            return path_causes(scene, meant)
    return []


def _copied(scene: Scene, gap: Gap, maker: Entry, origin: int, above: set[int]) -> Reason:
    inner = scene.maker(origin)
    if inner is not None and getattr(inner[OP], "custom", False):
        return Reason(
            "path-custom-internal", f"{gap.source} is a value that `{inner[OP].name}` returns"
            f" beside the one that {gap.target} uses", place_of(inner), abouts=[inner])
    name = scene.name(origin)
    what = "a part" if is_part(maker) else "a copy"
    uses = [place_of(entry) for entry in scene.uses([origin])
            if entry[OUT] in above and entry is not maker and place_of(entry) is not None]
    return Reason(
        "source-is-copy", f"{gap.source} is {what} of {name or 'a value'}; {gap.target} was"
        f" made with {name or 'that value'} itself", place_of(maker), about=name,
        related=[(use, "this is what the target uses") for use in uses[:1]])


def _twice(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    """Return the cause if the target was made with a value that is the source computed again."""
    twin = twin_of(scene, gap.own, above)
    if twin is None:
        return None
    makers = [place_of(maker) for maker in map(scene.maker, gap.own) if maker is not None]
    again = place_of(twin)
    asked = scene.binding(gap.target) if again in makers else None
    return Reason(
        "source-computed-twice", f"{gap.source} was computed twice: {gap.target} was made with the"
        " other value, of the same numbers", asked or again or gap.source_span, abouts=[twin],
        related=[(gap.source_span, f"this is the {gap.source} that was asked for")])


def _of_source(scene: Scene, gap: Gap, ids: set[int]) -> bool:
    return not scene.above(ids).isdisjoint(gap.own)


def dead_code(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    """Return the cause if the source is used only in code that never ran."""
    for unrun in scene.unrun:
        if unrun.what in DEAD and scene.decides(gap, above, unrun) and _of_source(
                scene, gap, unrun.unread):
            return Reason("source-in-dead-code", f"{gap.source} is used only in"
                          f" {DEAD[unrun.what]}", unrun.span, about=unrun)
    return None


def untaken(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    """Return the cause if the source is used only in branches that were not taken."""
    found = {unrun.skipped: unrun for unrun in scene.unrun if unrun.what in ("branch", "leave")
             and scene.decides(gap, above, unrun) and _of_source(scene, gap, unrun.unread)}
    if not found:
        return None
    unrun = max(found.values(), key=lambda one: one.time)
    also = "the condition and in " if _decided(scene, gap, above) is not None else ""
    said = "branches that were not taken" if len(found) > 1 else "the branch that was not taken"
    if len(found) == 1 and unrun.holds is not None:
        said += f": the condition is {'true' if unrun.holds else 'false'}"
    return Reason("source-untaken-branch", f"{gap.source} is used only in {also}{said}",
                  unrun.span, about=unrun,
                  related=[(one.skipped, "this did not run") for one in found.values()])


def _condition_only(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    unrun = _decided(scene, gap, above)
    if unrun is None:
        return _attribute(scene, gap, above)
    said, slope = DECIDED.get(unrun.what, DECIDED["branch"])
    return Reason("source-condition-only", f"{gap.source} only decides {said}; {slope} has no"
                  " slope", unrun.span, about=unrun.what)


def _decided(scene: Scene, gap: Gap, above: set[int]) -> Unrun | None:
    """Return the last code that did not run because of the source; None if there is none."""
    return next((unrun for unrun in reversed(scene.unrun) if scene.decides(
        gap, above, unrun) and _of_source(scene, gap, _deciding(scene, unrun))), None)


def _attribute(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    """Return the cause if the source is written inside an operation on the path without being an
    operand: an index, a shape.
    """
    placed = [(place, entry) for entry in scene.entries for place in [place_of(entry)]
              if place is not None and type(place[0]) is int]   # Python's places do not nest
    below = scene.below(gap.own)
    for one, inner in placed:
        around = [(place[1] - place[0], entry[OUT], entry) for place, entry in placed
                  if place[0] <= one[0] and one[1] <= place[1] and place != one
                  ] if inner[OUT] in below else []
        entry = min(around, key=lambda wider: wider[:2])[2] if around else None
        if entry is not None and entry[OUT] in above and entry[ATTRIBUTES]:
            return Reason(
                "source-condition-only", f"{gap.source} only decides an index or a shape in"
                f" `{scene.written(entry)}`; a whole number has no slope", place_of(entry),
                about="index")
    return None


def _deciding(scene: Scene, unrun: Unrun) -> set[int]:
    """Return the ids of the values that decided whether code ran: a condition, or the values
    computed in the head of a loop.
    """
    if unrun.condition is not None:
        return {unrun.condition}
    return scene.made_at(unrun.span, unrun.time) | unrun.read if (
        unrun.what in ("turn", "loop")) else set()


def _not_picked(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    for picked in reversed(scene.picked):
        if not picked.chosen.isdisjoint(above) and _of_source(scene, gap, picked.rejected):
            return Reason(
                "source-not-picked", f"{gap.source} took part in a choice, and another value"
                " was picked", picked.span)
    return None


def _shadowed(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    for name, place, what in scene.hiding:
        meant = any(n.name == name and n.id in gap.own
                    and scene.scope(n.span) == scene.scope(place) for n in scene.namings)
        if name == gap.source and place != gap.source_span and not meant and (
                scene.hides(gap, above, place)):
            return Reason(
                "source-shadowed", f"{what} is called {name} too and hides the one that was asked"
                " for", place, about=name,
                related=[(gap.source_span, f"the {name} that was asked for")])
    return None


def _bound_again(scene: Scene, gap: Gap, above: set[int]) -> Reason | None:
    """Return the cause if a name depended on the source and was bound to another value before the
    target used it; of several names the one nearest the target.
    """
    below = scene.below(gap.own)
    before: dict[tuple[str, object], Naming] = {}
    found: tuple[Naming, Naming] | None = None
    lost_names = {naming.name for naming in scene.namings if naming.id in below}
    for naming in sorted([*scene.namings, *scene.read_as(lost_names, above)],
                         key=lambda naming: naming.time):
        key = naming.name, scene.scope(naming.span)
        lost = before.get(key)
        if naming.id in below:
            before[key] = naming
        elif lost is not None and lost.span is not None and naming.kind != "parameter":
            if not scene.in_one_call(lost.span, naming.span):
                del before[key]
            elif naming.id in above and naming.span not in (None, lost.span) and (
                    found is None or found[0] is not lost):
                found = lost, naming
    if found is None or found[0].name == gap.source:
        return None
    lost, naming = found
    if naming.kind == "literal" and naming.id in gap.targets:
        return None  # that the target is a fixed number says more
    name = naming.name
    assert naming.span is not None
    assert lost.span is not None
    in_loop = naming.span < lost.span
    how = "begins anew here in each turn of the loop" if in_loop else (
        "was bound to a new value here")
    which = "that one" if naming.id in gap.targets or name == gap.target else (
        f"{gap.target} uses that one, which")
    return Reason(
        "path-rebound", f"{name} {how}; {which} does not depend on {gap.source}", naming.span,
        f"bind {name} before the loop" if in_loop else "give the new value a name of its own",
        related=[(lost.span, f"this {name} depends on {gap.source}")])


def behind(scene: Scene, gap: Gap, reason: Reason, above: set[int]) -> list[Reason]:
    """Return the causes that would cut the path if the code that did not run had run."""
    unrun = reason.about
    if not isinstance(unrun, Unrun):
        return []
    made = {n.id for n in scene.namings if n.id in above and (
        n.name in unrun.binds if unrun.binds is not None
        else n.span is not None and scene.line(n.span) == scene.line(unrun.span))}
    hops: list[Entry] = []
    ends: set[int] = set()
    for start in unrun.unread:
        for end in made or gap.targets:
            there = end
            if end <= start:
                # The name was bound to what is older than what would have been read: what uses it
                # is looked at as if it came after that. Ids are whole numbers, so this one is free.
                there = start + 0.5  # type: ignore[assignment]
                hops += [_with(entry, end, there) for entry in scene.uses([end])
                         if entry[OUT] > start]
                ends |= {there} if end in gap.targets else set()
            hops.append(hop(reason.code, "", start, there, unrun.span))
    return path_causes(scene.extended(hops), gap.reaching(ends))


def _with(entry: Entry, old: int, new: int) -> Entry:
    """Return an entry that reads the value `new` in place of `old`."""
    ids = tuple([new if i == old else i for i in entry[IDS]])
    return (*entry[:IDS], ids, *entry[IDS + 1:])  # type: ignore[return-value]


# --- advice and rows --------------------------------------------------------------------------


def _unrelated(scene: Scene, gap: Gap, reason: Reason) -> str | None:
    names = [name for name in reason.about or () if name != gap.target]
    return f"ask for what {gap.target} depends on: {', '.join(names[:4])}" if names else None


def _unrelated_python(scene: Scene, gap: Gap, reason: Reason) -> str:
    found = _unrelated(scene, gap, reason)
    return f"{found}; if 0 is meant, {ASKED_ZERO}" if found else ASKED_ZERO


def _gate(scene: Scene, gap: Gap, reason: Reason) -> str | None:
    """Return advice about a condition on the source; of a loop, to let all turns run."""
    if reason.about == "index":
        return None
    if reason.about == "branch":
        return "a smooth gate, such as sigmoid(k*(a - b)) for a > b"
    return "let all turns run and weigh each with a smooth gate, such as sigmoid(n - k) for k < n"


def _copied_from(scene: Scene, gap: Gap, reason: Reason) -> str:
    return f"ask for {reason.about or 'the original'} itself"


SOURCES = (
    Cause("source-constant-unwatched",
          "The source is a constant, or a value made elsewhere, and nobody told the tape to watch"
          " it.",
          changes=changes.constant, advice=WATCH),
    Cause("source-nontrainable",
          "The source is a variable declared `trainable=false`, which is not watched by itself.",
          changes=changes.nontrainable, advice=WATCH),
    Cause("source-auto-watch-off",
          "The tape was opened with `watch_accessed_variables=false` and never told to watch the"
          " source.",
          changes=changes.automatic, advice=WATCH),
    Cause("source-not-watched-on-this-tape",
          "Another tape watches the source; the one that was asked does not.",
          changes=changes.watch, advice=WATCH),
    Cause("source-watch-reset",
          "`reset` made the tape forget its watches, and nothing was watched again.",
          changes=changes.watch_again, advice="watch it again after the reset"),
    Cause("derivative-constant",
          "The first derivative does not depend on the source: the second is 0, and is shown as 0"
          " with this note.",
          find=_derivative_constant),
    Cause("source-downstream",
          "The source was computed from the target: the two stand in the wrong order.",
          find=_downstream, changes=changes.swap, advice="swap target and source"),
    Cause("source-is-copy",
          "The source is a copy, or a second reading of a part; the target was computed from"
          " another one.",
          find=_copy, changes=changes.copy, advice=_copied_from),
    Cause("source-computed-twice",
          "The source was computed, and then the same again for the target, which knows nothing of"
          " the first one.",
          find=_twice, advice="compute {source} once, and {target} from it"),
    Cause("source-in-dead-code",
          "The source stands only in lines that never ran: a loop of no rounds, lines behind a"
          " `return`.",
          find=dead_code, advice="let that code run"),
    Cause("source-untaken-branch",
          "The source stands only in a branch that did not run.",
          find=untaken, changes=changes.both_arms, advice="where(c, a, b) computes both branches",
          python="ops.where(c, a, b) computes both branches; if 0 is meant here, " + ASKED_ZERO),
    Cause("source-not-picked",
          "The source took part in a choice, such as the largest of several, and another one was"
          " taken.",
          find=_not_picked,
          advice="a smooth choice, such as softmax weights; max(a, b) of the language gives"
                 " 0 instead",
          python="a smooth choice, or ops.maximum, which gives 0 instead"),
    Cause("source-condition-only",
          "The source only decides which branch runs, and a decision has no slope.",
          find=_condition_only, advice=_gate),
    Cause("source-shadowed",
          "A parameter, a loop variable or a variable of a function has the same name and hides the"
          " source where the target is computed.",
          find=_shadowed, changes=changes.rename, advice="rename one of the two"),
    Cause("path-rebound",
          "On the path a name was bound to a new value, and what follows uses that one.",
          find=_bound_again),
    Cause("source-after-target",
          "The source was made after the target had been computed.",
          advice="compute {target} after {source}"),
    Cause("source-unrelated",
          "The target was computed without the source.",
          advice=_unrelated, python=_unrelated_python))
