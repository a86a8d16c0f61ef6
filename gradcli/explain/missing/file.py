"""The explanation of a missing gradient of a file: its causes and fixes."""

from __future__ import annotations

from functools import lru_cache

from gradcli.engine.record.record import PLACE
from gradcli.engine.record.tensor import flatten, value_of
from gradcli.explain.missing.causes import causes, propose
from gradcli.explain.missing.file_scene import gap_of, scene_of
from gradcli.explain.missing.fixes import harms, trial_runs, tried
from gradcli.explain.missing.outline import FixContext, Outline
from gradcli.explain.missing.scene import Gap
from gradcli.lang.running.calls import NoGradient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Unpack

    from gradcli.explain.catalogue import Reason
    from gradcli.explain.missing.fixes import Again
    from gradcli.explain.missing.scene import Scene
    from gradcli.lang.running.calls import MissingGradients
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Binding, Options, Run, Target


# --------------------------------------------------------------------------------------------------
# Why a gradient is None: which cause, which line, what to write instead.
#
# The program runs a second time and keeps everything. `causes` finds what holds, `propose` what may
# be written instead, `tried` whether that brings the gradient back. Codes are those of
# `gradcli.explain.missing.causes`.

def of_named(program: Program, at: Mapping[str, Any], run: Run, target: Target, binding: Binding,
             again: Again, *, tape: str | None = None, unwatched: bool = False,
             late: Mapping[int, tuple[int, Any]] | None = None) -> list[Reason]:
    """Return the causes of a None that was asked for by names, the one to mend first on top.

    run: a logged run.
    target, binding: of any run of the program.
    tape: the name of the tape that was asked; None: the last to close.
    unwatched: no tape watches the source.
    late: as in `Gap`.
    again: asks the same question of a changed program.
    """
    with run.record:
        unnamed = target.name == program.unnamed() and target.name not in run.bindings
        (target,) = program.targets(run, [] if unnamed else [target.name])
        (binding,) = program.sources(run, [binding.name])
    asked = None
    if run.tapes:
        asked = run.tapes[tape] if tape is not None else next(reversed(run.tapes.values()))
    return _explained(program, run, gap_of(
        run, target.tensor, binding.value, target_name=target.name, target_span=target.span,
        binding=binding, tape=asked, unwatched=unwatched, late=late), at, again)


def complete(problem: MissingGradients, program: Program, at: Mapping[str, Any],
             **options: Unpack[Options]) -> None:
    """Add the causes of missing gradients to the errors of a run that calculates with them.

    The program runs a second time, since its tapes did not record everything.
    """
    run = program.logged_run(at)
    for diagnostic, missing in problem.missing:
        why = of_missing(program, at, run, missing)[0]
        where = "" if why.span is None else f" (line {program.source.position(why.span[0])[0]})"
        diagnostic.notes = (*diagnostic.notes, f"{why.message}{where}")
        if why.fix:
            diagnostic.help = f"{'fix' if why.fix_works else 'try'}: {why.fix}"


def of_missing(program: Program, at: Mapping[str, Any], run: Run, missing: NoGradient
               ) -> list[Reason]:
    """Return the causes of a gradient that the file itself asked for, as in `g = t.gradient(z, x)`.

    run: the run that it comes from, or a logged run of the same program at the same point.
    """
    if run.log is None:
        run = program.logged_run(at, **run.options)
    log = run.log
    assert log is not None
    assert missing.asked is not None
    number, item = missing.asked
    request = log.requests[number]
    missing = flatten(request.found)[item]

    def again(changed: Program) -> tuple[list[Any], Any] | None:
        found = trial_runs(log).run((changed.source.text, number),
                                    lambda: changed.logged_run(at, until=number, **run.options))
        assert found.log is not None
        if len(found.log.requests) <= number:
            return None
        asked = found.log.requests[number]
        answers = flatten(asked.found)
        g = answers[item] if item < len(answers) else None
        return list(asked.made.values()), None if isinstance(g, NoGradient) else value_of(g)

    return _explained(program, run, gap_of(
        run, missing.target if request.kind == "jvp" else request.targets, missing.source,
        tape=request.tape, asked_at=request.span, request=request,
        text=program.source.text), at, again)


def _explained(program: Program, run: Run, gap: Gap, at: Mapping[str, Any], again: Again
               ) -> list[Reason]:
    log = run.log
    assert log is not None
    outline = _outline(program.source.text)
    everything = scene_of(run, gap.own, outline, program.source)
    gap.source = gap.source or _unnamed(everything, gap.own, "the source")
    gap.target = gap.target or _unnamed(everything, gap.targets, "the target")
    with run.record:
        found = causes(everything, gap)
    context = FixContext(outline, everything, gap, [
        name for name, d in program.names.declared.items() if d.keyword == "var"])
    for reason in found:
        reason.fixes = propose(context, reason)
        if reason.fixes:
            reason.choose(reason.fixes[0])
    tried(program, found, list(gap.targets.values()), again,
          lambda changed: not harms(program, at, run, changed), log, run.steps)
    return found


def _unnamed(scene: Scene, ids: Iterable[int], otherwise: str) -> str:
    """Return names for values without one: their text if it is short, else `otherwise`."""
    def text(id: int) -> str:
        entry = scene.maker(id)
        return scene.name(id) or (
            scene.written(entry) if entry is not None and entry[PLACE] else "...")

    texts = [*map(text, ids)]
    if not texts or any(text.endswith("...") for text in texts):
        return otherwise
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


@lru_cache(2)
def _outline(text: str) -> Outline:
    """Return the outline of a text, cached for all that is explained in it."""
    return Outline(text)
