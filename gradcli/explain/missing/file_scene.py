"""The scene of a file, from a logged run and its text.

Code that did not run, a condition and a name that hides another are causes only where they have to
do with a name that the computation of the target reads.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from copy import copy
from math import inf

from gradcli.engine.record.record import IDS, OP, OUT
from gradcli.engine.record.tensor import Tensor, flatten
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing.outline import Outline
from gradcli.explain.missing.scene import Gap, Naming, Scene, Window, hop, place_of
from gradcli.explain.written import arguments_of, written
from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.outline import Line
    from gradcli.lang.running.log import Log, LoggedRequest, Unrun
    from gradcli.lang.running.run import Binding, Run
    from gradcli.lang.running.tapes import FileTape

    # The names of the target, those that it is computed with, and an id from when it was there.
    TargetNames = tuple[set[str], set[str], float]

NAME = re.compile(r"[^\W\d]\w*")
CONTROL = re.compile(r"(if|elif|else|while|for)\b")
LEAVING = re.compile(r"\b(break|continue|return)\b")
# Bindings: `a, b = ..`, `a += ..`, `var a: float64 = ..`, `a.assign(..)`, `for a in ..`.
_NAMES = r"((?:[^\W\d]\w*)(?:\s*,\s*[^\W\d]\w*)*)"
BINDINGS = tuple([re.compile(pattern, re.MULTILINE) for pattern in (
    rf"(?:^|[:;])\s*(?:(?:var|const|input)\s+)?{_NAMES}\s*(?::[^=\n]*)?[-+*/%@^]*=(?!=)",
    rf"{_NAMES}\s*\.\s*assign", rf"\bfor\s+{_NAMES}\s+in\b")])


class FileScene(Scene):
    """The scene of a file. bodies: spans of its functions that ran, by name."""

    __slots__ = ("_known", "_outer", "bodies", "outline")

    def __init__(self, outline: Outline, bodies: dict[str, Span], *parts: Any) -> None:
        super().__init__(*parts)
        self.outline = outline
        self.text = outline.text
        self.bodies = bodies
        self._known: dict[tuple[str, frozenset[int]], TargetNames] = {}
        self._outer = [(first, place) for first, place in self.calls if self.scope(place) is None]

    def decides(self, gap: Gap, above: set[int], unrun: Unrun) -> bool:
        """Return whether code that did not run binds names that could have changed the target."""
        if gap.asked is not None and unrun.time > gap.asked:
            return False
        place = self._outermost(unrun.time, unrun.span)
        own, read, made = self._names_for(gap, above)
        bound = unrun.binds if place is unrun.span and unrun.binds else self._bound_at(place)
        if bound is None:
            return True
        return not own.isdisjoint(bound) or (unrun.time <= made and not read.isdisjoint(bound))

    def hides(self, gap: Gap, above: set[int], place: Any) -> bool:
        """Return whether the target calls the function here, or reads names that the loop binds."""
        own, read, _ = self._names_for(gap, above)
        around = self.scope(place)
        names = self._bound_at(place) if around is None else {
            name for name, span in self.bodies.items() if span == around}
        return names is None or not names.isdisjoint(own | read)

    def _outermost(self, time: float, span: Span) -> Span:
        """Return the span where something ran; in a function, that of the call outside of all."""
        if self.scope(span) is None:
            return span
        k = bisect_right(self._outer, time, key=lambda call: call[0])
        return self._outer[k - 1][1] if k else span

    def _bound_at(self, place: Span) -> set[str] | None:
        """Return the names that a statement and its block bind; None for a bare expression."""
        line = self.outline.at(place[0])
        if line is None:
            return None
        if CONTROL.match(self._text(line)) is None:
            return bound_in(self._text(line)) or None
        whole = self._block(line)
        while LEAVING.search(whole) is not None and line.parent is not None:
            # It decides over the rest of the block around it.
            line = line.parent
            whole = self._block(line)
            if re.match(r"(for|while)\b", self._text(line)) is not None:
                break
        return bound_in(whole)

    def _block(self, line: Line) -> str:
        chain = self.outline.chain(line)
        return self.outline.text[chain[0].first:self.outline.whole(chain[-1])[1]]

    def _text(self, line: Line) -> str:
        return self.outline.text[line.first:line.last]

    def _names_for(self, gap: Gap, above: set[int]) -> TargetNames:
        key = gap.target, frozenset(gap.targets)
        if key not in self._known:
            self._known[key] = self._find(gap, above)
        return self._known[key]

    def _find(self, gap: Gap, above: set[int]) -> TargetNames:
        own = set(NAME.findall(gap.target)) if gap.target != "the target" else set()
        places = {self._outermost(entry[OUT], place) for entry in self.entries
                  if entry[OUT] in above for place in [place_of(entry)] if place is not None}
        lines = {self.outline.at(place[0]) for place in places}
        written = self.outline.text[slice(*gap.target_span)] if gap.target_span else ""
        read = {*own, *NAME.findall(written), *(name for line in lines if line is not None
                                                for name in NAME.findall(self._text(line)))}
        # Names of values without an operation of their own.
        namings = [n for n in self.namings if n.id in above and n.span is not None]
        todo = list(read)
        for name in todo:
            texts = [self.outline.text[slice(*self.bodies[name])]] if name in self.bodies else []
            for n in namings:
                line = self.outline.at(n.span[0]) if n.name == name and n.span else None
                texts += [self._text(line)] if line is not None else []
            more = dict.fromkeys(m for text in texts for m in NAME.findall(text))
            todo += [m for m in more if m not in read]
            read.update(more)
        times = [n.time for n in self.namings if n.name in own and n.id in gap.targets
                 and (gap.asked is None or n.time <= gap.asked)]
        return own, read, max([*times, *gap.targets]) if times else inf


def bound_in(text: str) -> set[str]:
    """Return the names that a text binds."""
    return {name for pattern in BINDINGS for found in pattern.findall(text)
            for name in NAME.findall(found)}


def scene_of(run: Run, own: set[int], outline: Outline, source: Source) -> Scene:
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
        [(q.first, q.last, q.span) for q in log.requests],
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


def window_of(tape: FileTape, until: float = inf) -> Window:
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


def gap_of(run: Run, target: Any, source: Any, *, target_name: str | None = None,
           target_span: Span | None = None, binding: Binding | None = None,
           tape: Any = None, unwatched: bool = False, asked_at: Span | None = None,
           request: LoggedRequest | None = None, text: str = "",
           late: Mapping[int, tuple[int, Any]] | None = None) -> Gap:
    """Return the gap of one missing gradient: of a tensor or a structure of them in one tensor.

    binding: of the source, where its name is known.
    tape: of the file, or its accumulator; None: an implicit one covers the whole file.
    unwatched: the implicit tape does not watch the source.
    question, text: if the file asked: the names are those written in the question, "" without one.
    late: as in `Gap`.
    """
    from gradcli.lang.running.tapes import FileTape

    log = run.log
    assert log is not None
    first = source.origin() if isinstance(source, Variable) else source
    own = {i for i in (source.id, first.id) if i is not None}
    seen = None
    if isinstance(tape, FileTape):
        seen = window_of(tape)
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
    if request is not None and request.targets is target:
        targets = request.made
    name = named.name if named is not None else ""
    if request is not None:
        told = [text[a:b] for a, b in arguments_of(text, request.span)[:2]]
        named_source, _ = _name_of(run, own, told[1] if len(told) > 1 else "")
        name = named_source or name
        target_name, target_span = _name_of(run, targets, told[0] if told else "")
        if len(targets) > 1:
            names = [_name_of(run, [i], told[0] if told else "")[0] for i in targets]
            target_name = f"[{', '.join(map(str, names))}]" if all(names) else ""
    declaration = None if named is None else named.declaration
    others = [window_of(t) for t in run.tapes.values() if t is not tape]
    return Gap(
        name, target_name or "", own, source.value, targets,
        kind=named.kind if named is not None else "computed",
        source_span=named.span if named is not None and named.span != (0, 0) else None,
        target_span=target_span, window=seen, others=others, unwatched=unwatched,
        asked_at=asked_at, spans=declaration.spans if declaration is not None else {},
        inside_out=_inside_out(log, tape, targets, request), empty=not flatten(target),
        asked=None if request is None else request.first, late=late)


def _inside_out(log: Log, accumulator: Any, targets: dict[int, Any], request: LoggedRequest | None
                ) -> Span | None:
    """Return the span of the question to an accumulator opened earlier that answered with the
    target: the inner one has to be asked first. None if there is none.
    """
    order = [a for a, _, start, _ in sorted(log.windows, key=lambda w: w[2])]
    if accumulator not in order:
        return None
    for other in log.requests:
        if other is request:
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
