"""The explanation of a None gradient of Python code, in the user's terms.

Python code cannot be run again as a file can, so the notes of `gradcli.engine.record.provenance`
have to do: ids and locations of operations, births, assignments, conditions, exits from the engine,
questions. Names and branches that did not run come from the caller's frame and from the text.
Locations are those of `provenance`, or positions `(file, line, column, end line, end column)`.
"""

from __future__ import annotations

import ast

from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, PLACE, Segment, on_tape
from gradcli.engine.record.tensor import Tensor, flatten
from gradcli.engine.record.variable import Variable
from gradcli.engine.sweeps import constant, derivatives
from gradcli.explain import catalogue as reasons
from gradcli.explain.missing.causes import CAUSES, advice, causes
from gradcli.explain.missing.scene import Gap, Naming, Window, place_of
from gradcli.explain.python import advice as changes
from gradcli.explain.python import numbers
from gradcli.explain.python import text as python_text
from gradcli.explain.python.names import LONGEST
from gradcli.explain.python.scene import PythonScene, PythonTrace
from gradcli.explain.python.text import PythonFiles
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import FrameType
    from typing import Any

    from gradcli.base.errors import GradcliError
    from gradcli.engine.record.provenance import PythonEvents
    from gradcli.engine.record.record import Entry, Record
    from gradcli.engine.tapes.accumulator import ForwardAccumulator
    from gradcli.engine.tapes.tape import GradientTape

# Causes that a line ran while no tape recorded it.
OUTSIDE = ("path-outside-tape", "path-gradient-not-recorded")


class Reason:
    """One cause of a missing gradient in Python code.

    code: such as "path-dtype-cast".
    message: one sentence.
    target, source: their names.
    file, line, column, end_line, end_column: the location, counted from 1; None where there is
        none.
    text: the line there.
    related: further locations, each (file, line, column, text).
    fix: advice, or None.
    answer: what the gradient is: "None", "0", "NaN", "infinite", "rounding" (nothing else), or
        "finite" where only the target's value is no number. missing: it is None.
    beside: as in `gradcli.explain.catalogue.Reason`.
    """

    __slots__ = ("answer", "beside", "code", "column", "end_column", "end_line", "file", "fix",
                 "line", "message", "related", "source", "target", "text")

    def __init__(self, found: reasons.Reason, target: str, source: str, fix: str | None,
                 texts: PythonFiles, answer: str) -> None:
        self.code = found.code
        self.message = found.message.replace("=true", "=True").replace("=false", "=False")
        self.target = target
        self.source = source
        self.fix = fix
        self.answer = answer
        self.beside = found.beside
        at: Any = texts.located(found.span)
        place = at if at is not None else (None,) * 5
        self.file: str | None = place[0]
        self.line: int | None = place[1]
        self.column: int | None = place[2]
        self.end_line: int | None = place[3]
        self.end_column: int | None = place[4]
        self.text = texts.of(at).line(at[1]) if at is not None else ""
        self.related: list[tuple[str, int, int, str]] = []
        for span, text in found.related:
            other = texts.located(span)
            if other is not None and other[:2] != (self.file, self.line):
                self.related.append((*other[:3], text))

    @property
    def missing(self) -> bool:
        return self.answer == "None"

    def __str__(self) -> str:
        short = all(n.replace(".", "").isidentifier() for n in (self.target, self.source))
        asked = f"d{self.target}/d{self.source}" if short else \
            f"the gradient of {self.target} with respect to {self.source}"
        lines = [f"{asked} is {self.answer}: {self.message}"]
        if self.file is not None:
            lines.append(f"  {self.file}:{self.line}:{self.column}   {self.text}".rstrip())
        if self.fix:
            # Nobody runs Python code once more to see whether it helps.
            lines.append(f"  try: {self.fix}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        at = f", {self.file}:{self.line}:{self.column}" if self.file is not None else ""
        return f"Reason({self.code!r}{at})"


def why(tape: GradientTape, target: Any, source: Tensor, frame: FrameType | None, place: Any
        ) -> list[Reason]:
    """Return the causes of a missing gradient, the one to mend first on top; empty if it exists.

    frame, place: of the caller who asks.
    """
    past = tape.past
    window = past.entries if past is not None else tape.window()
    watched, late = (past.watched, past.late) if past is not None else (tape.watched, tape.late)
    targets = [t for t in flatten(target) if isinstance(t, Tensor)]
    trace = PythonTrace(_trace_of(tape._record), frame, place)
    own = trace.states_of(source) | set(tape.states.get(source, ())
                                        if isinstance(source, Variable) else ())
    if past is None:
        _run_rules(tape.window(), targets, source, own)
    if _connected(window, watched, late, targets, own) and is_float(source.value):
        return [] if past is not None and not past.whole else _in_numbers(
            trace, tape, target, targets, source, own)
    seen = trace.window(tape, watched, late)
    trace.gather(tape, seen)
    return _explain(trace, seen, target, targets, source, own, tape)


def _in_numbers(trace: PythonTrace, tape: GradientTape, target: Any, targets: Sequence[Tensor],
                source: Tensor, own: set[int]) -> list[Reason]:
    """Return the causes why a gradient that exists is NaN, infinite or 0."""
    known = tape.past if tape.past is not None else tape
    window = Segment()
    window.extend(tape.past.entries if tape.past is not None else tape.window())
    ids, made = on_tape(window, known.watched, known.late)
    made -= {i for states in tape.states.values() for i in states}
    window[:] = [entry for entry in window if entry[OUT] in made]
    trace.gather(tape, trace.window(tape, known.watched, known.late), others=False)
    source_name = trace.name_of(source, "the source", 1)
    asked = {t.id for t in targets if t.id is not None}
    namings = trace.namings(
        source_name, trace.place, asked, set().union(*map(trace.above, asked)))
    namings += [Naming(trace.name_of_state(time), time, place, "assigned")
                for time, place, *_ in trace.events.states]
    answer, found = numbers.causes(
        window, trace, known.derived, namings, targets, source, own & ids,
        tape.tensorflow_semantics)
    name = _name_of_target(trace, target, targets)
    return [Reason(r, name, source_name, r.fix, trace.texts, answer) for r in found]


def why_forward(accumulator: ForwardAccumulator, target: Tensor, frame: FrameType | None,
                place: Any) -> list[Reason]:
    """Return the causes of a missing tangent; the primals are the sources. Arguments: see `why`."""
    if target.id in accumulator.tangents:
        return []
    trace = PythonTrace(_trace_of(accumulator._record), frame, place)
    primals = accumulator.primals
    own = set().union(*[trace.states_of(p) for p in primals])
    phases: list[tuple[int, str, Any]] = []
    for kind, time, at, _ in accumulator.events:
        phases.append((time, "" if kind == "open" else "path-outside-tape", at))
    opened = next((at for kind, _, at, _ in accumulator.events if kind == "open"), None)
    span: Any = trace.texts.located(opened)
    seen = Window(trace.name_of(accumulator, "the accumulator"), span, phases,
                  set(accumulator.tangents), forward=True)
    trace.gather(None, seen)
    for outer in accumulator._outer:
        for kind, _, at, ids in getattr(outer, "events", ()):
            if kind == "ask" and target.id in ids:
                seen.again = at
    return _explain(trace, seen, target, [target], primals[0], own, None)


# The causes that are errors, by their codes.
REFUSED = {row.error: row.code for row in CAUSES.values() if row.error}


def why_refused(problem: GradcliError, tape: GradientTape, target: Any, source: Tensor,
                frame: FrameType | None, place: Any) -> list[Reason]:
    """Return the cause of an error in place of a gradient; empty for errors of other kinds.

    frame, place: of the caller who asks.
    """
    code = REFUSED.get(problem.code)
    if code is None:
        return []
    trace = PythonTrace(_trace_of(tape._record), frame, place)
    name = trace.name_of(tape, "the tape")
    told = problem.diagnostics[0]
    said, span, fix = told.message, place, told.help
    related: list[tuple[Any, str]] = []
    if problem.code == "E0501":
        said = f"`{name}` answers once, and it was asked before"
        span = next((at for kind, _, at, _ in tape.events if kind == "open"), place)
        related = [(tape.first_use, "it answered here")]
        fix = "GradientTape(persistent=True)"
    targets = [t for t in flatten(target) if isinstance(t, Tensor)]
    return [Reason(reasons.Reason(code, said, span, related=related),
                   _name_of_target(trace, target, targets),
                   trace.name_of(source, "the source", 1), fix, trace.texts, "refused")]


def _run_rules(window: Segment, targets: Sequence[Tensor], source: Tensor, own: set[int]) -> None:
    """Run the rules of custom gradients, which shows for which arguments they return None."""
    if not any(getattr(entry[OP], "custom", False) for entry in window):
        return
    record = records.current()
    paused, record.paused = record.paused, True
    record.settle()
    try:
        derivatives.gradient(targets, [Tensor(source.value, i) for i in own], entries=window)
    except Exception:  # whoever asks for the gradient will see it
        return
    finally:
        record.paused = paused
        record.settle()


def _connected(window: Sequence[Entry], watched: set[int], late: dict[int, int],
               targets: Sequence[Tensor], own: set[int]) -> bool:
    """Return whether a derivative reaches a target from the source."""
    ids, made = on_tape(window, watched, late)
    live = [entry for entry in window if entry[OUT] in made]
    wanted = [t.id for t in targets if t.id is not None and is_float(t.value)]
    if not own.isdisjoint(wanted):
        return True
    reached = own & ids
    for entry in live:
        op: Any = entry[OP]
        if is_float(entry[ANS]) and any(
                i in reached and op.edge(k) and k not in getattr(op, "nones", ())
                for k, i in enumerate(entry[IDS])):
            reached.add(entry[OUT])
    return not reached.isdisjoint(set(wanted) & made)


def _trace_of(record: Record | None) -> PythonEvents | None:
    return record.trace if record is not None else None


def _explain(trace: PythonTrace, seen: Window, target: Any, targets: Sequence[Tensor],
             source: Tensor, own: set[int], tape: GradientTape | None) -> list[Reason]:
    """Return the causes in the user's terms."""
    source_name = trace.name_of(source, "the source", 1)
    target_name = _name_of_target(trace, target, targets)
    spans: dict[str, Any] = {}
    birth = trace.birth(source)
    statement = trace.texts.statement(birth)
    for word in ("trainable", "dtype"):
        option = python_text.keyword_of(statement, word)
        if option is not None:
            spans[word if word == "trainable" else "type"] = trace.texts.of(birth).position(
                option)
    made = {t.id: t.value for t in targets if t.id is not None}
    first = next((trace.birth(t) for t in targets), None)
    gap = Gap(
        source_name, target_name, own, source.value, made, kind=trace.kind_of(source),
        source_span=birth, target_span=first, window=seen, others=trace.others,
        asked_at=trace.place, spans=spans, empty=not targets,
        inside_out=seen.again if seen.forward else None)
    scene = trace.scene(own, made, source_name, trace.place)
    found = _constant(trace, tape, made, own, gap) or _of_another(
        trace, tape, source, gap) or causes(scene, gap)
    if not own.isdisjoint(made):
        found.sort(key=lambda r: r.code != "target-dtype")
    missing = tape is None or tape.tensorflow_semantics or (
        found[0].code != "derivative-constant")
    found[0] = _variable_before(trace, own, gap, found[0])
    _outside_last(trace, seen, found)
    fixes = [_fix(r, gap, scene, trace) for r in found]
    for reason in found:
        _called(reason, gap, scene)
    return [Reason(r, target_name, source_name, fix, trace.texts, "None" if missing else "0")
            for r, fix in zip(found, fixes, strict=True)]


def _name_of_target(trace: PythonTrace, target: Any, targets: Sequence[Tensor]) -> str:
    """Return the caller's name for the target, or for a short list of targets."""
    otherwise = "the loss" if trace.trains() else "the target"
    name = trace.name_of(target, otherwise, 0)
    if name == otherwise and targets and target is not targets[0]:
        names = [trace.name_of(t, "", 0) for t in targets]
        if all(names) and sum(map(len, names)) < LONGEST:
            return f"[{', '.join(names)}]"
    return name


def _of_another(trace: PythonTrace, tape: GradientTape | None, source: Tensor, gap: Gap
                ) -> list[reasons.Reason]:
    """Return the cause if the source is a variable of an object, and the target is computed with
    the one at the same place of another object: the wrong model was asked for.
    """
    if tape is None or not isinstance(source, Variable) or source in tape.states:
        return []
    place = gap.source.partition(".")[2]
    above = set().union(*map(trace.above, gap.targets))
    for other in tape.watched_variables() if place else ():
        name = trace.name_of(other, "")
        if name.partition(".")[2] == place and other.shape == source.shape and (
                not above.isdisjoint(tape.states[other])):
            return [reasons.Reason(
                "source-unrelated", f"{gap.target} is computed with {name}, not with {gap.source}",
                trace.place, f"ask for {name}")]
    return []


def _variable_before(trace: PythonTrace, own: set[int], gap: Gap, reason: reasons.Reason
                     ) -> reasons.Reason:
    """Return the cause that the source was a variable when the same was asked before, and that its
    name is bound to a tensor since; otherwise the cause that was found.
    """
    asked = [q for q in trace.events.requests if q[2] == trace.place]
    if reason.code != "source-constant-unwatched" or gap.kind != "computed" or not asked:
        return reason
    at = next((k for k, ids in enumerate(asked[-1][4]) if not own.isdisjoint(ids)), -1)
    before = [q[4][at] for q in asked[:-1] if 0 <= at < len(q[4])]
    scope = trace.texts.scope(trace.place)
    bound = [s for s in ast.walk(scope) if [ast.unparse(t) for t in python_text.targets_of(s)]
             == [gap.source]] if scope is not None else []
    if len(bound) != 1 or not any(trace.kinds.get(i) == "variable" for ids in before for i in ids):
        return reason
    text = trace.texts.of(trace.place)
    return reasons.Reason(
        "source-rebound", f"{gap.source} was a variable when it was asked for at first, and is a"
        " tensor since it was bound to a new value here", text.position(bound[0]),
        changes.assigning(bound[0], gap.source))


def _constant(trace: PythonTrace, tape: GradientTape | None, targets: Iterable[int], own: set[int],
              gap: Gap) -> list[reasons.Reason]:
    """Return the cause if the gradient is 0 because the first derivative does not depend on the
    source.
    """
    if tape is None or not is_float(gap.value):
        return []
    past = tape.past
    window = past.entries if past is not None else tape.window()
    derived = past.derived if past is not None else tape.derived
    known = past if past is not None else tape
    ids = [i for i in targets if is_float(gap.targets[i])]
    if not derived or own.isdisjoint(on_tape(window, known.watched, known.late)[0]) or (
            not constant.is_constant(window, derived, ids, own)):
        return []
    firsts = sorted({derived[i][0] for t in ids for i in trace.above(t) if i in derived})
    firsts = [i for i in firsts if not own.isdisjoint(trace.above(i))] or firsts
    places = [trace.entries[i][PLACE] for i in firsts if i in trace.entries]
    place = next((p[2:4] for p in reversed(places) if p is not None), None)
    return [reasons.Reason(
        "derivative-constant", f"the first derivative does not depend on {gap.source}, so"
        " the second one is 0", place or gap.target_span or gap.asked_at)]


def _fix(reason: reasons.Reason, gap: Gap, scene: PythonScene, trace: PythonTrace
         ) -> str | None:
    """Return the advice; where the text of the code shows more, in terms of that."""
    tape = gap.window.name if gap.window is not None else "the tape"
    if reason.code == "path-step-function":
        through = changes.straight_through(scene.texts, place_of(reason.abouts[0]))
        if through:
            return through
    if reason.code == "path-left-engine" and place_of(reason.abouts[0]) is not None:
        collected = changes.collecting(scene.texts.statement(place_of(reason.abouts[0])))
        if collected is not None:
            return collected
    if reason.code in OUTSIDE:
        function = scene.texts.scope(reason.span)
        around = scene.texts.around(gap.window.span) if gap.window is not None else []
        if hasattr(function, "name") and function not in around:
            return f"{changes.to_call(scene.texts, reason.span)} in the block of {tape}"
    if reason.code == "source-rebound":
        assigning = _assigning(reason, gap, scene, trace)
        # Who computes with the new value wants the gradient in that.
        if assigning or not gap.own.isdisjoint(scene.above(gap.targets)):
            return assigning or f"{tape}.watch({gap.source})"
    if reason.code == "path-dtype-cast" and reason.abouts:
        kind = str(reason.abouts[0][ATTRIBUTES].get("dtype", ""))
        if kind.startswith("int"):
            return "keep it a float; x + stop_gradient(round(x) - x) rounds and passes the" \
                " gradient"
    return advice(scene, gap, reason, python=True)


def _outside_last(trace: PythonTrace, seen: Window, found: list[reasons.Reason]) -> None:
    """Put what left the engine before the tape began, as in a simulation, behind what left in its
    block: it was seldom meant to count.
    """
    at = [k for k, r in enumerate(found) if r.code == "path-left-engine"]
    during = {place for time, place, *_ in trace.events.exits if seen.state(time) is None}
    for k, reason in zip(at, sorted([found[k] for k in at], key=lambda r: r.span not in during),
                         strict=True):
        found[k] = reason


def _called(reason: reasons.Reason, gap: Gap, scene: PythonScene) -> None:
    """Point to the call in the asking function where a function ran outside the tape as a whole, or
    computed the source again: that is the line to change.
    """
    twice = reason.code == "source-computed-twice"
    place = place_of(reason.abouts[0]) if reason.abouts else reason.span
    asking = scene.texts.scope(gap.asked_at)
    if not (twice or reason.code in OUTSIDE) or scene.texts.scope(place) in (None, asking):
        return
    if reason.code == "path-gradient-not-recorded" and scene.texts.scope(reason.span) is asking:
        return      # it points to the first question, not to what that went through
    text = scene.texts.of(place)
    found = [text.position(call) for call in changes.calls_to(scene.texts, place)[1]]
    bound = scene.texts.statement(scene.binding(gap.source)) if twice else None
    found = [at for at in found if scene.texts.scope(at) is asking and (
        bound is None or scene.texts.statement(at) is not bound)]
    if len(found) == 1:
        if not twice:
            reason.related.append((place, "this ran there"))
        reason.span = found[0]


def _assigning(reason: reasons.Reason, gap: Gap, scene: PythonScene, trace: PythonTrace
               ) -> str | None:
    """Return the assignment that a binding of a variable's name to a new value stands for.

    None unless the new value is computed from the variable element by element, the name was not
    bound to anything else before, and nothing that the target is computed from reads the variable
    later.
    """
    name, new = gap.source, min(gap.own, default=0)
    variable = max([n for n in scene.namings if n.name == name and n.kind == "variable"
                    and n.id < new], key=lambda n: n.id, default=None)
    place: Any = reason.span
    if variable is None or variable.span is None or python_text.bindings_between(
            scene.texts.around(place), name, variable.span[1], place[1]) != 2:
        return None
    states = {variable.id} | {
        time for time, *_, start in trace.events.states if start == variable.id}
    above, made = scene.above(gap.targets), set(states)
    for entry in sorted(scene.entries, key=lambda entry: entry[OUT]):
        if not made.isdisjoint(entry[IDS]) and entry[OP].elementwise and "cast" not in (
                entry[OP].name):
            made.add(entry[OUT])
        if entry[OUT] in above and entry[OUT] > new and not states.isdisjoint(entry[IDS]):
            return None
    return None if made.isdisjoint(gap.own) else changes.assigning(
        scene.texts.statement(place), name)
