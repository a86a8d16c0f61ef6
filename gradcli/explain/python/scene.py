"""The scene of Python code that ran, built from its tapes and the trace.

Operations come from the trace, the tape that is asked and others that still exist; of entries that
a tape has dropped only the ends are known. Branches that did not run are read in the text.
"""

from __future__ import annotations

import ast

from gradcli.engine.record.provenance import bytes_of, traces
from gradcli.engine.record.record import IDS, OP, OUT, PLACE, entries_of
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing import file_scene
from gradcli.explain.missing.scene import Naming, Scene, Window, hop, origins, place_of
from gradcli.explain.python import text as python_text
from gradcli.explain.python.flow import deciding, returns
from gradcli.explain.python.names import ValueNames, bound_around, read_for
from gradcli.lang.running.log import Choice, Unrun
from gradcli.ops.graph import reached
from gradcli.ops.rows import Unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from types import FrameType
    from typing import Any

    from gradcli.engine.record.provenance import PythonEvents
    from gradcli.engine.record.record import Entry
    from gradcli.engine.tapes.tape import GradientTape
    from gradcli.explain.missing.scene import Gap
    from gradcli.explain.python.flow import Flows
    from gradcli.explain.python.text import PythonFiles

PICKING = ("max", "min", "sorted", "sort")
# Functions that call each other, from the tape to where something ran.
DEEPEST = 8
# The latest decisions of one condition, and the latest choices, are kept.
MAX_UNRUN, MAX_PICKED = 10, 100


class DroppedEntries(Unlisted):
    """The operation that stands for entries that a tape has dropped: only its ends are known."""

    __slots__ = ("name",)
    kind = "lost"

    def __init__(self, name: str) -> None:
        self.name = name


class ThreadWindow(Window):
    """The window of a tape, which records its own thread only. elsewhere: ids made by others."""

    __slots__ = ("elsewhere",)

    def __init__(self, seen: Window, elsewhere: set[int]) -> None:
        super().__init__(
            seen.name, seen.span, seen.phases, seen.watched, late=seen.late, watches=seen.watches,
            automatic=seen.automatic, option=seen.option, forgotten=seen.forgotten,
            again=seen.again)
        self.elsewhere = elsewhere

    def state(self, time: int) -> tuple[str, Any] | None:
        """Return the state as in `Window`, but "outside" for what another thread made."""
        return ("path-outside-tape", None) if time in self.elsewhere else super().state(time)


class PythonScene(Scene):
    """The scene of Python code; its locations are instructions or positions in Python functions."""

    __slots__ = ("asked_at", "born", "scope_of", "texts")

    def __init__(self, asked_at: Any, scope_of: Callable[[Any], Any], texts: PythonFiles,
                 born: Mapping[int, Any], *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self.born = born
        self.asked_at = asked_at
        self.scope_of = scope_of
        self.texts = texts

    def in_one_call(self, first: Any, second: Any) -> bool:
        """Return whether two locations may belong to one call, also backwards in one loop."""
        if second is None or self.texts.scope(first) is None or first <= second:
            return True
        around = self.texts.around(second)
        return any(isinstance(node, python_text.LOOPS) and node in around
                   for node in self.texts.around(first))

    def constant(self, id: int) -> Any:
        """Return the name of an array that becomes a constant in each call that it is given to,
        with its scope; None for any other value.
        """
        place = self.born.get(id)
        nodes = self.texts.around(place) if place is not None else ()
        call = nodes[-1] if nodes else None
        if not isinstance(call, ast.Call) or not call.args or not all(
                isinstance(a, (ast.Name, ast.Attribute)) for a in call.args):
            return None
        return self.scope(place), tuple(map(ast.unparse, call.args))

    def scope(self, place: Any) -> Any:
        """Return the innermost function around a location, or its file."""
        return self.scope_of(place)

    def decides(self, gap: Gap, above: set[int], unrun: Unrun) -> bool:
        """Return whether code that did not run binds names that the text reads for the target."""
        if not super().decides(gap, above, unrun):
            return False
        tree = self.texts.of(unrun.span).tree if unrun.span is not None else None
        known = read_for(tree, gap.target) if tree is not None else None
        bound = bound_around(self.texts.around(unrun.span))
        if known is None or bound is None:
            return True
        own, read = known
        late = unrun.time > max(gap.targets, default=0)
        return not own.isdisjoint(bound) or not (late or read.isdisjoint(bound))

    def caller(self, id: int, span: Any, near: Any) -> Any:
        """Return the only call of the function in which a value was made, as far as the text shows;
        None if there are several.
        """
        around = self.texts.around(near)
        for _ in range(DEEPEST):
            function = self.texts.scope(span)
            if function is None or function in around:
                return span
            calls = self.texts.of(span).calls_of(getattr(function, "name", ""))
            if len(calls) != 1:
                return None
            span = self.texts.of(span).position(calls[0])
        return None

    def binding(self, name: str) -> Any:
        """Return the location of the last binding of a name above the question, in its function."""
        nodes = self.texts.around(self.asked_at)
        statement = python_text.last_binding(nodes, name) if nodes else None
        return None if statement is None else self.texts.of(self.asked_at).position(statement)

    def read_as(self, names: Container[str], above: Container[int]) -> Sequence[Naming]:
        """Return namings for plain numbers and for second names of tensors, found in the text."""
        found: list[Naming] = []
        seen: set[Any] = set()
        for entry in reversed(self.entries):
            place = place_of(entry)
            if entry[OUT] not in above or place is None or place in seen:
                continue
            seen.add(place)
            nodes = self.texts.around(place)
            for name in python_text.read_in(nodes[-1:]):
                statement = python_text.last_binding(nodes, name) if name in names else None
                if statement is not None:
                    where: Any = self.texts.of(place).position(statement)
                    found.append(Naming(name, entry[OUT], where, "computed"))
        return found


class PythonTrace(ValueNames):
    """Everything that ran and all that a tape recorded of it. elsewhere: ids of what other threads
    computed; others: windows of the tapes that were not asked.
    """

    __slots__ = ("elsewhere", "others")

    def __init__(self, events: PythonEvents | None, frame: FrameType | None, place: Any) -> None:
        super().__init__(events, frame, place)
        self.others: list[Window] = []
        self.elsewhere = {
            entry[OUT] for other in traces if other is not events for entry in entries_of(other)}

    # --- what ran -----------------------------------------------------------------------------

    def states_of(self, source: Tensor) -> set[int]:
        """Return the ids of a value; of a variable, those of all its states."""
        own = {source.id} if source.id is not None else set()
        if isinstance(source, Variable):
            first = source.origin().id
            own |= {first} if first is not None else set()
            own |= {time for time, *_, start in self.events.states if start == first}
        return own

    def gather(self, tape: GradientTape | None, seen: Window, others: bool = True) -> None:
        """Collect all operations that the trace or a tape still has. others: also the windows of
        the tapes that were not asked.
        """
        for entry in entries_of(self.events):
            self._add(entry)
        for reference in list(self.events.tapes):
            other = reference()
            if other is not None and other is not tape:
                past = other.past
                for entry in past.entries if past is not None else other.window():
                    self._add(entry)
                if not others:
                    continue
                watches = {i for kind, _, _, ids in other.events if kind == "watch" for i in ids}
                self.others.append(self.window(other, other.watched | watches, {}))
        if tape is not None:
            past = tape.past
            for entry in past.entries if past is not None else tape.window():
                self._add(entry)
        for request in self.events.requests:
            self._request(seen, *request)

    def _add(self, entry: Entry) -> None:
        """Add an entry, with its location extended to four items as other scenes have it."""
        place = entry[PLACE]
        if place is not None and len(place) == 2:
            entry = (*entry[:PLACE], (0, None, *place), *entry[PLACE + 1:])
        self.entries[entry[OUT]] = entry

    def _request(self, seen: Window, first: int, last: int, at: Any, targets: Sequence[int | None],
                 sources: Sequence[Sequence[int]], answers: Sequence[int | None],
                 places: Sequence[Any], watched: Iterable[int]) -> None:
        """Add operations that stand for a question: its path existed, and its answers depend on it.

        first, last: ids around the question.
        at: its location.
        targets: ids.
        places: their locations.
        sources: the ids of each.
        answers: ids of the gradients.
        watched: ids on which dropped entries may depend.
        """
        known = [i for i in targets if i is not None]
        lost = {i for i in known if i not in self.entries and i not in self.born}
        for own, answer in zip(sources, answers, strict=False):
            if answer is None:
                continue
            for t, place in zip(targets, places, strict=True):
                if t is not None and t in lost and t not in own:
                    self._lose(t, [*own, *(i for i in watched if i not in own)], place or at)
            if answer not in self.entries and seen.state(answer) is not None:
                self._lose(answer, [*own, *known], at)

    def _lose(self, made: int, ids: Sequence[int], at: Any) -> None:
        op: Any = DroppedEntries("gradient")
        old = self.entries.get(made)
        before: Sequence[Any] = old[IDS] if old is not None else ()
        place = None if at is None else (0, None, *at)
        ids = [*before, *[i for i in ids if i < made]]
        self.entries[made] = op, made, tuple(ids), (), 0.0, {}, place, ()

    def scene(self, own: set[int], targets: Iterable[int], source: str, at: Any) -> PythonScene:
        """Return the scene of all that ran. source: its name; at: a location in its scope."""
        hops = []
        for entry in self.entries.values():
            for inner in getattr(entry[OP], "inner", ()):
                if inner != entry[OUT]:
                    place = entry[PLACE]
                    hops.append(hop("path-custom-internal", entry[OP].name, inner, entry[OUT],
                                    None if place is None else place[2:4]))
        for time, place, verb, taken, before, _ in self.events.states:
            for i in (taken, None if verb == "assign" else before):
                if i is not None and not (i in own and time in own):
                    hops.append(hop("path-state-write", self.name_of_state(time), i, time, place,
                                    verb))
        for id, place, _, taken in self.events.births:
            if taken is not None:
                hops.append(hop("path-state-write", self.name_of_state(id), taken, id, place,
                                "var"))
        whole = Scene([*self.entries.values(), *hops])
        made = whole.above(targets)
        # The original of a copy may be what left.
        below = whole.below({*own, *[origin for _, origin in origins(whole, own)]})
        flows: Flows = {}
        hops += returns(self.events, self.entries, self.born, below, made, self.texts, flows)
        entries = [*self.entries.values(), *hops]
        since = min(own, default=0)
        constants = {i: place for i, place in self.born.items() if self.kinds[i] == "constant"}
        return PythonScene(
            at, self.scope_of, self.texts, constants, entries,
            self.namings(source, at, set(targets), made),
            [(first, last, place) for first, last, place, *_ in self.events.requests],
            {}, [*self._unrun(since), *deciding(self.events, below, self.texts, flows)],
            self._picked(since), self._hiding(source, made),
            written=lambda entry: self._written(entry),
            line=lambda span: (self.texts.located(span) or (None, None))[:2])

    def _written(self, entry: Entry) -> str:
        place = entry[PLACE]
        text = self.texts.written(place[2:4]) if place is not None else ""
        if place is not None and python_text.item_set(self.texts.around(place[2:4])[-1:]):
            text = self.texts.of(place[2:4]).segment(self.texts.statement(place[2:4]))
        if entry[OP].name == "path-left-engine":
            return text or "numpy"
        return text or str(entry[OP].name)

    # --- what the tape saw --------------------------------------------------------------------

    def window(self, tape: GradientTape, watched: set[int], late: dict[int, int]) -> Window:
        """Return the window of a tape: head, options and watches, from its text and events."""
        opened = next((place for kind, _, place, _ in tape.events if kind == "open"), None)
        nodes = self.texts.around(opened)
        head = python_text.block_at(nodes)
        name = next((n for n, v in self.names.items() if v is tape), None)
        spans = {}
        if head is not None:
            called = [i.optional_vars for i in head.items if i.optional_vars is not None]
            if name is None and len(called) == 1:
                name = ast.unparse(called[0])
            for item in head.items:
                option = python_text.keyword_of(item, "watch_accessed_variables")
                if option is not None and (item.optional_vars is None or (
                        ast.unparse(item.optional_vars) == name)):
                    spans["watch_accessed_variables"] = self.texts.of(opened).position(option)
        if not spans and name is not None:
            spans |= self._options(opened, name)
        late = {**self._late(tape), **late}
        view: Any = TapeView(tape, name or "tape", self.texts.located(opened), spans, watched, late)
        found = file_scene.window_of(view)
        return ThreadWindow(found, self.elsewhere) if self.elsewhere else found

    def _options(self, place: Any, name: str) -> dict[str, Any]:
        """Return the location where the tape of that name is told not to watch by itself."""
        text = self.texts.of(place) if place is not None else None
        for node in ast.walk(text.tree) if text is not None and text.tree is not None else ():
            if any(ast.unparse(t) == name for t in python_text.targets_of(node)):
                option = python_text.keyword_of(node, "watch_accessed_variables")
                if option is not None and text is not None:
                    return {"watch_accessed_variables": text.position(option)}
        return {}

    def _late(self, tape: GradientTape) -> dict[int, int]:
        """Return ids of values that were watched after their first use, and when."""
        past = tape.past
        window = past.entries if past is not None else tape.window()
        used = {i for entry in window for i in entry[IDS]} | {entry[OUT] for entry in window}
        found: dict[int, int] = {}
        for kind, time, _, ids in tape.events:
            if kind == "reset":
                found = {}
            elif kind == "watch":
                for i in ids:
                    found.setdefault(i, time)
        first = {i: next((e[OUT] for e in window if i in e[IDS]), 0) for i in found if i in used}
        return {i: time for i, time in found.items() if first.get(i, time) >= time}

    # --- what did not run ---------------------------------------------------------------------

    def _unrun(self, since: int) -> list[Unrun]:
        """Return the code that did not run, by the conditions evaluated since the id `since`."""
        found: dict[Any, list[Unrun]] = {}
        known: dict[Any, Any] = {}
        names_at: dict[Any, dict[str, int]] = {}
        entered: set[Any] = set()
        for time, place, id, value, names in self.events.conditions:
            if time < since:
                continue
            if names is not None:
                names_at[place] = names
            if place not in known:
                known[place] = python_text.branch_at(self.texts.around(place))
            branch = known[place]
            if branch is None:
                continue
            text = self.texts.of(place)
            holds = python_text.truth(branch.test, bytes_of(place), value)
            skipped = [] if holds is None else branch.fails if holds else branch.holds
            what = branch.what
            if what == "loop":
                if holds is not False:
                    entered.add(place)
                if place in entered:
                    what, skipped = "turn", []
            reads = python_text.read_in(skipped)
            unread = {i for n, i in names_at.get(place, {}).items() if n in reads}
            latest = found.setdefault(place, [])
            latest.append(Unrun(
                what, text.position(branch.test), id, unread, branch.binds,
                text.position(skipped[0], skipped[-1]) if skipped else None, holds,
                0 if id is None else time))
            del latest[:-MAX_UNRUN]
        return [unrun for latest in found.values() for unrun in latest]

    def _picked(self, since: int) -> list[Choice]:
        """Return what `max`, `min` and `sorted` chose since the id `since`, by comparisons."""
        found: list[Choice] = []
        last: Any = None
        winner = 0
        for time, place, id, value, _ in self.events.conditions:
            if time < since:
                continue
            nodes = self.texts.around(place)
            call: Any = nodes[-1] if nodes else None
            entry = self.entries.get(id or 0)
            if entry is None or not isinstance(call, ast.Call) or len(entry[IDS]) != 2 or (
                    ast.unparse(call.func).rpartition(".")[2] not in PICKING):
                last = None
                continue
            a, b = entry[IDS]
            if a is None or b is None:
                continue
            chosen, rejected = (a, b) if value else (b, a)
            if place == last and winner in (a, b):
                old = found.pop()
                losers = old.rejected | {a, b}
            else:
                losers = {rejected}
            winner, last = chosen, place
            found.append(Choice(place, {chosen}, losers - {chosen}, id))
        del found[:-MAX_PICKED]
        for picked in found:
            # With a key the chosen one is compared by what was made of it.
            picked.chosen |= {i for c in picked.chosen for i in self.above(c)} - {
                i for r in picked.rejected for i in self.above(r)}
        return found

    def above(self, id: int) -> set[int]:
        """Return the ids of all values that went into one, this included."""
        return reached([id], lambda i: [
            j for j in self.entries[i][IDS] if j is not None] if i in self.entries else ())

    def _hiding(self, source: str, made: set[int]) -> list[tuple[str, Any, str]]:
        """Return the parameters and variables named like the source in functions that computed the
        target, or around these.
        """
        found = {}
        asking = self.texts.around(self.place)
        for id in made:
            entry = self.entries.get(id)
            place = entry[PLACE] if entry is not None else None
            if place is None or source not in (*place[2].co_varnames, *place[2].co_freevars):
                continue
            nodes = self.texts.around(place[2:4])
            bound = python_text.binding_in(nodes, source)
            if bound is None or bound[0] in asking or source not in python_text.read_in(nodes[-1:]):
                continue
            function, node = bound
            name = f"`{function.name}`" if hasattr(function, "name") else "this function"
            kind = "parameter" if isinstance(node, ast.arg) else "variable"
            at = self.texts.of(place[2:4]).position(node)
            found[at] = source, at, f"a {kind} of {name}"
        return list(found.values())


class TapeView:
    """A tape of Python code in the form that `file_scene.window_of` reads."""

    __slots__ = ("events", "name", "persistent", "remembered", "span", "spans", "watch_accessed")

    def __init__(self, tape: GradientTape, name: str, span: Any, spans: dict[str, Any],
                 watched: set[int], late: dict[int, int]) -> None:
        self.events = [(kind, time, None if place is None else (0, None, *place), ids)
                       for kind, time, place, ids in tape.events]
        self.name = name
        self.span = span
        self.spans = spans
        self.persistent = tape.persistent
        self.watch_accessed = tape.watch_accessed
        self.remembered: Callable[[], Any] = lambda: (None, watched, late)
