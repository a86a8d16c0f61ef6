"""The explanation of a missing gradient of a file: the scene of a logged run, its causes and
fixes.
"""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache
from math import inf

from gradcli.engine.record.record import IDS, OP, OUT, PLACE
from gradcli.engine.record.structure import flatten
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing.causes import causes
from gradcli.explain.missing.fixes import propose, trial_runs, tried
from gradcli.explain.missing.ground import Ground
from gradcli.explain.missing.harm import harms
from gradcli.explain.missing.outline import Outline
from gradcli.explain.missing.reads import FileScene
from gradcli.explain.missing.scene import Naming, Subject, Window, hop, place_of
from gradcli.explain.written import arguments_of, written
from gradcli.lang.running.calls import NoGradient
from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Reason
    from gradcli.explain.missing.fixes import Again
    from gradcli.explain.missing.scene import Scene
    from gradcli.lang.running.calls import MissingGradients
    from gradcli.lang.running.log import Asked, Log, Unrun
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.lang.running.tapes import FileTape


def scene(run: Run, own: set[int], outline: Outline, source: Source) -> Scene:
    """Return the scene of a logged run, cached for sources of the same states.

    own: ids of the source; links between its states are kept.
    outline, source: of the file's text.
    """
    log = run.log
    assert log is not None
    history = run.record.history()
    stateful = {i for state in log.states for i in (state.before, state.after, state.taken)}
    key = len(history), own & stateful
    if log.made.get("scene", (None,))[0] != key:
        # The same for all sources whose states it does not tell apart.
        log.made["scene"] = key, _scene(run, log, history, own, outline, source)
    known: Scene = log.made["scene"][1]
    return known


def _scene(run: Run, log: Log, history: Sequence[Entry], own: set[int], outline: Outline,
           source: Source) -> Scene:
    states = {state.after for state in log.states if state.how.startswith("assign")}
    entries: list[Entry] = []
    for entry in history:
        if entry[OUT] in states and entry[OP].name == "positive" and entry[IDS][0] not in own:
            continue  # links of a variable's states stand for the variable as a source
        entries.append(entry)
        for inner in getattr(entry[OP], "inner", ()):
            if inner != entry[OUT]:
                entries.append(hop("path-custom-internal", entry[OP].name, inner, entry[OUT],
                                   place_of(entry)))
    for state in log.states:
        kept = state.before if state.how in ("assign_add", "assign_sub") else None
        for taken in (state.taken, kept):
            if taken is not None and not (taken in own and state.after in own):
                code = "path-state-write" if state.how not in ("const", "input") else \
                    "path-left-engine"
                entries.append(hop(code, state.name, taken, state.after, state.span, state.how))
    return FileScene(
        outline, {f.name: (f.start, f.end) for f in log.called.values()}, entries, _namings(run),
        [(q.first, q.last, q.span) for q in log.questions],
        run.record.derived, [_with_head(unrun, outline) for unrun in log.branches
                             if not _only_tells(unrun, outline)],
        log.picks, _hiding(log, outline),
        log.calls, [(f.start, f.end) for f in log.called.values()],
        lambda entry: written(entry, source) or entry[OP].name,
        lambda span: None if span is None else outline.at(span[0]))


def _namings(run: Run) -> list[Naming]:
    """Return all namings of values in order of time, those that a loop replaced included."""
    log = run.log
    assert log is not None
    if "namings" not in log.made:
        log.made["namings"] = _all_namings(run, log)
    namings: list[Naming] = log.made["namings"]
    return namings


def _all_namings(run: Run, log: Log) -> list[Naming]:
    found = [_naming(b.name, id, b) for id, b in run.named.items()]
    known = {(n.name, n.id) for n in found}
    for name, bindings in run.bindings.items():
        for b in bindings:
            id = getattr(b.value, "id", None)
            if id is not None and (name, id) not in known:
                found.append(_naming(name, id, b))
    found += [Naming(*one) for one in log.locals]
    found += [Naming(name, id, span, kind, time=time) for name, id, span, kind, time in run.more]
    return sorted(found, key=lambda n: n.id)


def _naming(name: str, id: int, b: Binding) -> Naming:
    # A value from outside has no place in the text.
    return Naming(name, id, None if b.span == (0, 0) else b.span, b.kind,
                  b.declaration.spans if b.declaration is not None else None)


def _only_tells(unrun: Unrun, outline: Outline) -> bool:
    """Return whether a condition stands in an `expect` or `print`, on which nothing depends."""
    line = outline.at(unrun.span[0])
    return line is not None and re.match(
        r"(expect|print)\b", outline.text[line.first:line.last]) is not None


def _with_head(unrun: Unrun, outline: Outline) -> Unrun:
    """Return a copy of a loop that did not run with the span of its whole head."""
    head = outline.at(unrun.span[0]) if unrun.what == "loop" else None
    if head is None:
        return unrun
    whole = copy(unrun)
    whole.span = head.first, head.last
    return whole


def _hiding(log: Log, outline: Outline) -> list[tuple[str, Span, str]]:
    found: list[tuple[str, Span, str]] = []
    for function in log.called.values():
        head = re.search(rf"\b{re.escape(function.name)}\s*\(([^()]*)\)", outline.text[
            function.start:])
        for parameter in function.parameters if head is not None else ():
            assert head is not None
            place = re.search(rf"\b{re.escape(parameter)}\b", head[1])
            used = any(ins[0] == c.LOAD and ins[1] == parameter for ins in function.code)
            if place is not None and used:
                start = function.start + head.start(1)
                found.append((parameter, (start + place.start(), start + place.end()),
                              f"a parameter of `{function.name}`"))
    for name, span in log.counters.items():
        found.append((name, span, "the counter of this loop"))
    return found


def window(tape: FileTape, until: float = inf) -> Window:
    """Return the part of the trace that a tape of the file recorded, up to the time `until`."""
    _, watched, late = tape.remembered()
    phases: list[tuple[int, str, Any]] = []
    watches: dict[int, Any] = {}
    forgotten: dict[int, Any] = {}
    used: Any = None
    again: Any = None
    recording = False
    for kind, time, place, ids in tape.events:
        if time > until:
            break
        span = None if place is None else (place[2], place[3])
        if kind in ("open", "resume"):
            if kind == "open" and used is not None:
                # Entered again after its one answer: what it had is gone.
                phases = [(start, code or "target-consumed", where if code else used)
                          for start, code, where in phases]
                used, again = None, span
            phases.append((time, "", None))
            recording = True
        elif kind == "close":
            phases.append((time, "path-outside-tape", None))
            recording = False
        elif kind == "pause":
            phases.append((time, "path-stop-recording", span))
        elif kind == "reset":
            phases = [(start, code or "path-reset", where if code else span)
                      for start, code, where in phases]
            phases.append((time, "", None))
            forgotten.update(dict.fromkeys(watches, span))
            watches = {}
        elif kind == "watch":
            for id in ids:
                watches[id] = span
                forgotten.pop(id, None)
        elif kind == "ask" and not tape.persistent:
            used = span
            if recording:
                phases.append((time, "path-outside-tape", span))
                recording = False
    return Window(
        tape.name, tape.span, phases, set(watched), late=late, watches=watches,
        automatic=tape.watch_accessed, option=tape.spans.get("watch_accessed_variables"),
        forgotten=forgotten, again=again)


def _forward_window(log: Log, accumulator: Any) -> Window | None:
    found = [(block, start, end) for a, block, start, end in log.windows if a is accumulator]
    if not found:
        return None
    phases: list[tuple[int, str, Any]] = []
    for _, start, end in found:
        phases += [(start, "", None), (end, "path-outside-tape", None)]
    block = found[0][0]
    return Window(block.name, block.spans["head"], phases, set(accumulator.tangents), forward=True)


def subject(run: Run, target: Any, source: Any, *, target_name: str | None = None,
            target_span: Span | None = None, binding: Binding | None = None,
            tape: Any = None, unwatched: bool = False, asked_at: Span | None = None,
            question: Asked | None = None, text: str = "",
            late: Mapping[int, tuple[int, Any]] | None = None) -> Subject:
    """Return the subject of one missing gradient: of a tensor or a structure of them in one tensor.

    binding: of the source, where its name is known.
    tape: of the file, or its accumulator; None: an implicit one covers the whole file.
    unwatched: the implicit tape does not watch the source.
    question, text: if the file asked: the names are those written in the question, "" without one.
    late: as in `Subject`.
    """
    from gradcli.lang.running.tapes import FileTape

    log = run.log
    assert log is not None
    first = source.origin() if isinstance(source, Variable) else source
    own = {i for i in (source.id, first.id) if i is not None}
    seen = None
    if isinstance(tape, FileTape):
        seen = window(tape)
        tape.remembered()
        for variable, ids in tape.saw.items():
            if variable is source or variable.origin() is first:
                own |= set(ids)
    elif tape is not None:
        seen = _forward_window(log, tape)
    named = binding
    if named is None:
        named = next((run.named[i] for i in sorted(own) if i in run.named), None)
        if named is None:
            named = next((b for bindings in run.bindings.values() for b in bindings
                          if getattr(b.value, "id", None) in own), None)
    if isinstance(source, Variable):
        for state in log.states:
            if state.before in own:
                own.add(state.after)
    targets = {t.id: t.value for t in flatten(target)
               if isinstance(t, Tensor) and t.id is not None}
    if question is not None and question.targets is target:
        targets = question.made
    name = named.name if named is not None else ""
    if question is not None:
        told = [text[a:b] for a, b in arguments_of(text, question.span)[:2]]
        named_source, _ = _name_of(run, own, told[1] if len(told) > 1 else "")
        name = named_source or name
        target_name, target_span = _name_of(run, targets, told[0] if told else "")
        if len(targets) > 1:
            names = [_name_of(run, [i], told[0] if told else "")[0] for i in targets]
            target_name = f"[{', '.join(map(str, names))}]" if all(names) else ""
    declaration = None if named is None else named.declaration
    others = [window(t) for t in run.tapes.values() if t is not tape]
    return Subject(
        name, target_name or "", own, source.value, targets,
        kind=named.kind if named is not None else "computed",
        source_span=named.span if named is not None and named.span != (0, 0) else None,
        target_span=target_span, window=seen, others=others, unwatched=unwatched,
        asked_at=asked_at, spans=declaration.spans if declaration is not None else {},
        inside_out=_inside_out(log, tape, targets, question), empty=not flatten(target),
        asked=None if question is None else question.first, late=late)


def _inside_out(log: Log, accumulator: Any, targets: dict[int, Any], question: Asked | None
                ) -> Span | None:
    """Return the span of the question to an accumulator opened earlier that answered with the
    target: the inner one has to be asked first. None if there is none.
    """
    order = [a for a, _, start, _ in sorted(log.windows, key=lambda w: w[2])]
    if accumulator not in order:
        return None
    for other in log.questions:
        if other is question:
            break
        if other.kind == "jvp" and other.tape in order and (
                order.index(other.tape) < order.index(accumulator)) and any(
                getattr(t, "id", None) in targets for t in flatten(other.found)):
            return other.span
    return None


def _name_of(run: Run, ids: Container[int], asked: str) -> tuple[str | None, Span | None]:
    """Return the name and span of one of some values: as the question names it, else the first."""
    found = [n for n in _namings(run) if n.id in ids]
    best = next((n for n in found if re.search(rf"(?<![\w.]){re.escape(n.name)}\b", asked)), None)
    known = best or (found[0] if found else None)
    return (known.name, known.span) if known is not None else (None, None)


# --------------------------------------------------------------------------------------------------
# Why a gradient is None: which cause, which line, what to write instead.
#
# The program runs a second time and keeps everything. `causes` finds what holds, `propose` what may
# be written instead, `tried` whether that brings the gradient back. Codes are those of
# `gradcli.explain.catalogue`.

def of_named(program: Program, at: Mapping[str, Any], run: Run, target: Target, binding: Binding,
             again: Again, *, tape: str | None = None, unwatched: bool = False,
             late: Mapping[int, tuple[int, Any]] | None = None) -> list[Reason]:
    """Return the causes of a None that was asked for by names, the one to mend first on top.

    run: a logged run.
    target, binding: of any run of the program.
    tape: the name of the tape that was asked; None: the last to close.
    unwatched: no tape watches the source.
    late: as in `Subject`.
    again: asks the same question of a changed program.
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
    """Add the causes of missing gradients to the errors of a run that calculates with them.

    The program runs a second time, since its tapes did not record everything.
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
    """Return the causes of a gradient that the file itself asked for, as in `g = t.gradient(z, x)`.

    run: the run that the gap comes from, or a logged run of the same program at the same point.
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
        found = trial_runs(log).run((changed.source.text, number),
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
