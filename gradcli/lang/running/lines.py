"""Lines that only calculate with numbers, run together as one Wengert list.

They are lowered when a long file has been parsed; `gradcli.engine.compiled.lines` runs the lists.
The bindings of the lines are made when somebody asks for them. A value that is no float, and every
record that wants more than entries, sends the lines the ordinary way, one operation at a time.
"""

from __future__ import annotations

from gradcli.engine.compiled.lines import Passage
from gradcli.engine.record.operators import PLAIN
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.lowering import Lowering
from gradcli.lang.running.run import MAX_BINDINGS, Binding
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.code import CONSTANTS, VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, Sequence, ValuesView
    from typing import Any

    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Statement

    Base = dict[str, list[Binding]]
else:
    Base = dict

# Fewer operations together are not worth it.
WORTH = 32


def lower(statements: Sequence[Statement]) -> dict[int, LoweredLines]:
    """Return all sequences of lines that only calculate with numbers, by their first statement."""
    found: dict[int, LoweredLines] = {}
    codes = [statement.code for statement in statements]
    elsewhere = set(VERBS)
    at = 0
    while at < len(codes):
        lowered = Lowering(elsewhere)
        end = lowered.take(codes, at)
        if len(lowered.ops) >= WORTH:
            found[at] = LoweredLines(lowered, end - at, sum(map(len, codes[at:end])))
        else:
            # A short sequence is other code to the lines behind it.
            elsewhere.update([name for s in statements[at:end] for name in s.names])
        if end < len(codes):
            elsewhere.update(statements[end].names)
        at = end + 1
    return found


class LoweredLines:
    """A sequence of `count` statements, which take `steps` steps, and its Wengert list.

    names: those that they bind, in this order.
    """

    __slots__ = ("_ends", "count", "lowered", "names", "place", "results", "shadowing", "steps",
                 "wengert")

    def __init__(self, lowered: Lowering, count: int, steps: int) -> None:
        self.lowered = lowered
        self.count = count
        self.steps = steps
        self.wengert = lowered.wengert()
        self.names = dict.fromkeys([ins[1] for ins in lowered.ends])
        self.results: list[int] = []
        if None in self.names:
            del self.names[None]
            self.results = [k for k, ins in enumerate(lowered.ends) if ins[1] is None]
        self.place = next((ins for ins in reversed(lowered.places) if ins[0] != c.BINARY), None)
        self.shadowing = [name for name in CONSTANTS if name in self.names]
        self._ends: dict[str, list[int]] = {}

    def ends(self) -> dict[str, list[int]]:
        """Return the positions in `lowered.ends` at which each name is bound."""
        found = self._ends
        if not found:
            for k, ins in enumerate(self.lowered.ends):
                if ins[1] is not None:
                    found.setdefault(ins[1], []).append(k)
        return found

    def run(self, running: Running) -> LazyBindings | None:
        """Run the lines; return their bindings, or None if they need the ordinary way."""
        run, scope, lowered = running.run, running.scope, self.lowered
        record = run.record
        if (run.log is not None or not record.everything or record.accumulators or record.paused
                or record.checking or run.registered
                or run.steps + self.steps > running.max_steps
                or (record.max_entries is not None
                    and len(record.entries) + len(lowered.ops) > record.max_entries)
                or not lowered.called.keys().isdisjoint(run.functions)
                or any(name in scope for name in lowered.constants)
                or any(name not in run.bindings for name in self.shadowing)
                or (lowered.literals and not running.given.keys().isdisjoint(self.names))):
            return None
        inputs: dict[int, float] = {}
        ids: dict[int, int] = {}
        held: dict[int, Any] = {}
        for name, slot in lowered.inputs.items():
            known = scope.get(name)
            tensor = known.read() if isinstance(known, Tensor) else None
            if tensor is None or type(tensor.value) is not float or tensor.id is None:
                return None
            inputs[slot], ids[slot], held[slot] = tensor.value, tensor.id, known
        values = self.wengert.run(inputs)
        for slot in lowered.literals:
            ids[slot] = fresh_id()
        passage: Any = Passage(self.wengert, values, ids)
        record.entries.append((
            passage, passage.last, tuple(ids.values()), (), None, PLAIN, lowered.places[-1], ()))
        record.entries.stretched = True
        done = PassageRun(self, passage, held)
        for k in self.results:
            ins = lowered.ends[k]
            run.add_result(done.value(lowered.ended[k]), (ins[2], ins[3]))
        run.steps += self.steps
        run.bindings = waiting = LazyBindings(run.bindings, done)
        run.last = lowered.ends[-1][1]
        running.at = lowered.ends[-1]
        record.place = self.place or record.place
        return waiting


class PassageRun:
    """Lines that have run. held: slot to the value that a name which they read had before."""

    __slots__ = ("held", "lines", "passage")

    def __init__(self, lines: LoweredLines, passage: Passage, held: dict[int, Any]) -> None:
        self.lines = lines
        self.passage = passage
        self.held = held

    def value(self, slot: int) -> Any:
        """Return the value of a name that means this slot: a tensor or a variable; for a constant
        without a name, the number.
        """
        passage, held = self.passage, self.held
        found = held.get(slot)
        if found is None:
            value = passage.values[slot]
            if slot in passage.wengert.fixed:
                return value
            found = held[slot] = Tensor(
                value, passage.first + slot if slot >= 0 else passage.ids[slot])
        return found

    def bindings(self, name: str) -> list[Binding]:
        """Return the bindings of a name: the first one, and the last of the others."""
        lowered = self.lines.lowered
        places = self.lines.ends()[name]
        out = []
        for k in (places[0], *places[1:][-MAX_BINDINGS:]):
            ins, slot = lowered.ends[k], lowered.ended[k]
            value = self.value(slot)
            out.append(Binding(
                name, value.origin() if type(value) is Variable else value, (ins[2], ins[3]),
                "literal" if lowered.literals.get(slot) is ins else "computed"))
        return out


class LazyBindings(Base):
    """The bindings of a run whose last lines were run together, made when they are asked for; None
    stands for those not made so far.
    """

    __slots__ = ("before", "done")

    def __init__(self, before: dict[str, list[Binding]], done: PassageRun) -> None:
        super().__init__(before)
        self.before = before
        self.done = done
        self.update(done.lines.names)

    def __getitem__(self, name: str) -> list[Binding]:
        if dict.__getitem__(self, name) is None:
            self._make(name, self.done.bindings(name))
        return dict.__getitem__(self, name)

    def __iter__(self) -> Iterator[str]:
        # Its own, or `dict(waiting)` would take what is stored, None included.
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the bindings of a name, or `default`."""
        return self[name] if name in self else default

    def items(self) -> ItemsView[str, list[Binding]]:  # type: ignore[override]
        """Return all names with their bindings."""
        self.all()
        return dict.items(self)

    def values(self) -> ValuesView[list[Binding]]:  # type: ignore[override]
        """Return all bindings."""
        self.all()
        return dict.values(self)

    def all(self) -> None:
        """Make all bindings."""
        for name in self.done.lines.names:
            self[name]

    def _make(self, name: str, bindings: list[Binding]) -> None:
        whole = [*self.before.get(name, ()), *bindings]
        self[name] = [whole[0], *whole[1:][-MAX_BINDINGS:]]

    def settle(self, running: Running) -> None:
        """Bind the names in the scope, as what runs next expects them."""
        now = self.done.lines.lowered.now
        for name in self.done.lines.names:
            running.scope[name] = self.done.value(now[name])
        running.run.bindings = dict(self.items())
