"""Why a gradient is None: which cause, which line, what to write instead.

The program runs a second time and keeps everything. `causes` finds what holds, `propose` what may
be written instead, `tried` whether that brings the gradient back. Codes are those of
`gradcli.explain.catalogue`.
"""

from __future__ import annotations

from functools import lru_cache

from gradcli.explain.missing.causes import causes
from gradcli.explain.missing.file_scene import scene, subject
from gradcli.explain.missing.fixes import propose
from gradcli.explain.missing.ground import Ground
from gradcli.explain.missing.harm import harms
from gradcli.explain.missing.outline import Outline
from gradcli.explain.missing.trials import tried
from gradcli.lang.calls import NoGradient
from gradcli.tape.record import PLACE
from gradcli.tape.structure import flatten
from gradcli.tape.tensor import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gradcli.explain.missing.scene import Scene, Subject
    from gradcli.explain.missing.trials import Again
    from gradcli.explain.reason import Reason
    from gradcli.lang.calls import MissingGradients
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target
    from gradcli.program import Program


def of_named(program: Program, at: Mapping[str, Any], run: Run, target: Target, binding: Binding,
             again: Again, *, tape: str | None = None, unwatched: bool = False,
             late: Mapping[int, tuple[int, Any]] | None = None) -> list[Reason]:
    """The causes of a None that was asked for by names, the one to mend first on top.

    run: a logged one. target, binding: of any run of the program. tape: which of the file's was
    asked, by default the last to close. unwatched: the source is one that nobody watches. late: as
    in `Subject`. again: asks the same of a changed program.
    """
    with run.record:
        unnamed = target.name == program.unnamed() and target.name not in run.bindings
        (target,) = program.targets(run, [] if unnamed else [target.name])
        (binding,) = program.sources(run, [binding.name])
    asked = None
    if run.tapes:
        asked = run.tapes[tape] if tape is not None else next(reversed(run.tapes.values()))
    return _explained(program, run, subject(
        run, target.tensor, binding.value, target_name=target.name, target_span=target.span,
        binding=binding, tape=asked, unwatched=unwatched, late=late), at, again)


def complete(problem: MissingGradients, program: Program, at: Mapping[str, Any]) -> None:
    """Add the reasons of gradients that are None to the errors of a run that calculates with them.

    What the file's tapes did not record, a second run has to.
    """
    run = program.logged_run(at)
    for diagnostic, gap in problem.missing:
        why = of_missing(program, at, run, gap)[0]
        where = "" if why.span is None else f" (line {program.source.position(why.span[0])[0]})"
        diagnostic.notes = (*diagnostic.notes, f"{why.message}{where}")
        if why.fix:
            diagnostic.help = f"{'fix' if why.fix_works else 'try'}: {why.fix}"


def of_missing(program: Program, at: Mapping[str, Any], run: Run, gap: NoGradient
               ) -> list[Reason]:
    """The causes of a gradient that a file asked for itself, as in `g = t.gradient(z, x)`.

    run: where the gap is from, or a logged run of the same program at the same point.
    """
    if run.log is None:
        run = program.logged_run(at)
    log = run.log
    assert log is not None
    assert gap.asked is not None
    number, item = gap.asked
    question = log.questions[number]
    gap = flatten(question.found)[item]

    def again(changed: Program) -> tuple[list[Any], Any] | None:
        found = log.trial((changed.source.text, number),
                          lambda: changed.logged_run(at, until=number))
        assert found.log is not None
        if len(found.log.questions) <= number:
            return None
        asked = found.log.questions[number]
        answers = flatten(asked.found)
        g = answers[item] if item < len(answers) else None
        return list(asked.made.values()), None if isinstance(g, NoGradient) else value_of(g)

    return _explained(program, run, subject(
        run, gap.target if question.kind == "jvp" else question.targets, gap.source,
        tape=question.tape, asked_at=question.span, question=question,
        text=program.source.text), at, again)


def _explained(program: Program, run: Run, subject: Subject, at: Mapping[str, Any], again: Again
               ) -> list[Reason]:
    log = run.log
    assert log is not None
    outline = _outline(program.source.text)
    everything = scene(run, subject.own, outline, program.source)
    subject.source = subject.source or _unnamed(everything, subject.own, "the source")
    subject.target = subject.target or _unnamed(everything, subject.targets, "the target")
    with run.record:
        found = causes(everything, subject)
    ground = Ground(outline, everything, subject, [
        name for name, d in program.names.declared.items() if d.keyword == "var"])
    for reason in found:
        reason.fixes = propose(ground, reason)
        if reason.fixes:
            reason.choose(reason.fixes[0])
    tried(program, found, list(subject.targets.values()), again,
          lambda changed: not harms(program, at, run, changed), log, run.steps)
    return found


def _unnamed(scene: Scene, ids: Iterable[int], otherwise: str) -> str:
    """What values without a name are called: as they are written, if that is short."""
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
    """The lines of a text, once for all that is explained in it."""
    return Outline(text)
