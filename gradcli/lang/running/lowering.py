"""Lowering of code that only calculates with numbers to steps on numbered slots.

`lang.running.lines` lowers the lines of a file, `lang.running.loops` the bodies of its loops.
"""

from __future__ import annotations

from gradcli.engine.compiled.lines import Wengert
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.code import CONSTANTS
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import ELEMENTWISE, FLAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set
    from typing import Any

    from gradcli.engine.compiled.loops import Plan, Step
    from gradcli.lang.syntax.code import Code, Instruction
    from gradcli.ops.kinds import Op

NAN = float("nan")


class Lowering:
    """Pieces of code, lowered one after the other.

    Step k is `ops[k]` at the instruction `places[k]`; its answer is slot k, its operands are the
    slots `first[k]` and, if it has two, `second[k]`; if it has more, those in the tuple `first[k]`.
    Numbers that no step made have the slots -1, -2, ..., their values in `head`.

    fixed: slots of constants.
    inputs: name to slot of what is read before it is bound, with no value in `head`.
    literals: slot of a number that got a name to the instruction that bound it.
    now: name to the slot that it means at the end.
    ends: the instructions BIND and RESULT.
    ended: the slot that each takes.
    constants: names that were taken to mean numbers of the language.
    known, called: operations by the names that signs and calls have for them.
    elsewhere: names that other code binds, and verbs.
    """

    __slots__ = ("called", "constants", "elsewhere", "ended", "ends", "first", "fixed", "head",
                 "inputs", "known", "literals", "now", "ops", "places", "second")

    def __init__(self, elsewhere: Set[str]) -> None:
        self.ops: list[Op] = []
        self.first: list[Any] = []
        self.second: list[int | None] = []
        self.places: list[Instruction] = []
        self.head: list[float] = []
        self.fixed: set[int] = set()
        self.inputs: dict[str, int] = {}
        self.literals: dict[int, Instruction] = {}
        self.now: dict[str, int] = {}
        self.ends: list[Instruction] = []
        self.ended: list[int] = []
        self.constants: set[str] = set()
        self.elsewhere = elsewhere
        self.known: dict[str, Op] = {}
        self.called: dict[str, Op] = {}

    def take(self, codes: Sequence[Code], at: int = 0) -> int:
        """Lower pieces from `at` on; return the position of the first that is more than a
        calculation with numbers. Nothing is left of that one but slots in `head` that nobody reads.
        """
        head, fixed, now, known, called = self.head, self.fixed, self.now, self.known, self.called
        ops, first, second, places = self.ops, self.first, self.second, self.places
        ends, ended = self.ends, self.ended
        stack: list[int] = []
        push, pop = stack.append, stack.pop
        n = len(ops)
        for here in range(at, len(codes)):
            begun, read = n, len(self.inputs)
            for ins in codes[here]:
                opcode, arg, _, _ = ins
                if opcode == c.LOAD:
                    slot = now.get(arg)
                    push(self._read(arg) if slot is None else slot)
                elif opcode == c.BINARY:
                    j = pop()
                    i = stack[-1]
                    op = known.get(arg) or self._operation(arg, 2)
                    if op is None:
                        break
                    if i < 0 and j < 0 and i in fixed and j in fixed:
                        stack[-1] = self._number(op.on_scalars([head[~i], head[~j]]))
                        continue
                    ops.append(op)
                    first.append(i)
                    second.append(j)
                    places.append(ins)
                    stack[-1] = n
                    n += 1
                elif opcode == c.BIND:
                    slot = pop()
                    if slot < 0 and slot in fixed:
                        fixed.remove(slot)
                        self.literals[slot] = ins
                    now[arg] = slot
                    ends.append(ins)
                    ended.append(slot)
                elif opcode == c.PUSH:
                    if arg.__class__ is not float:
                        break
                    head.append(arg)
                    slot = -len(head)
                    fixed.add(slot)
                    push(slot)
                elif opcode == c.CALL or opcode == c.UNARY:
                    if opcode == c.CALL:
                        name, count, keywords = arg
                        op = called.get(name) or self._called(name, count)
                        if op is None or keywords or count != len(op.parameters):
                            break
                    else:
                        count = 1
                        op = known.get(arg) or self._operation(arg, 1)
                        if op is None:
                            break
                    if count == 1:
                        i = stack[-1]
                        if i < 0 and i in fixed:
                            stack[-1] = self._number(op.on_scalars([head[~i]]))
                            continue
                        stack[-1] = n
                        first.append(i)
                        second.append(None)
                    else:
                        slots = tuple(stack[-count:])
                        del stack[-count:]
                        if fixed.issuperset(slots):
                            push(self._number(op.on_scalars([head[~slot] for slot in slots])))
                            continue
                        push(n)
                        first.append(slots[0] if count == 2 else slots)
                        second.append(slots[1] if count == 2 else None)
                    ops.append(op)
                    places.append(ins)
                    n += 1
                elif opcode == c.RESULT:
                    ends.append(ins)
                    ended.append(pop())
                else:
                    break
            else:
                if not stack:
                    continue
            for steps in (ops, first, second, places):
                del steps[begun:]
            for name in list(self.inputs)[read:]:
                del self.inputs[name], now[name]
            return here
        return len(codes)

    def wengert(self) -> Wengert:
        """Return all steps as a list that can be run."""
        return Wengert(self.ops, self.first, self.second, self.places, self.head[::-1],
                       frozenset(self.fixed))

    def _number(self, value: float) -> int:
        self.head.append(value)
        slot = -len(self.head)
        self.fixed.add(slot)
        return slot

    def _read(self, name: str) -> int:
        """Give a slot to a name that nothing here has bound before."""
        if name in CONSTANTS and name not in self.elsewhere:
            self.constants.add(name)
            return self._number(CONSTANTS[name])
        slot = self.inputs[name] = self.now[name] = self._number(NAN)
        self.fixed.remove(slot)
        return slot

    def _called(self, name: str, count: int) -> Op | None:
        # Other names are excluded here: to look them up would load all rows.
        op = None
        if name not in self.elsewhere:
            op = self._operation(name, count)
        if op is not None:
            self.called[name] = op
        return op

    def _operation(self, name: str, count: int) -> Op | None:
        """Return the operation of this name, if it makes a number of `count` numbers."""
        op: Op | None = PUBLIC.get(name)
        if (op is None or op.kind not in (ELEMENTWISE, FLAT) or op.floats is None
                or not op.elementwise or op.attributes or len(op.parameters) != count):
            return None
        self.known[name] = op
        return op


class Body:
    """The body of one `for` and what was found out about it.

    turns: how often it was met.
    failures: how often it met an edge.
    steps: None where it is no plain calculation.
    inputs, bound: names to variables of the generated code, bound in the order of the last
        bindings.
    places: spans of these.
    variable: that of the loop.
    calls, constants: names that must keep their meaning.
    plans: one for each set of inputs that are on the record.
    """

    __slots__ = ("bound", "calls", "constants", "failures", "inputs", "places", "plans", "steps",
                 "turns", "variable")

    def __init__(self) -> None:
        self.turns = 0
        self.failures = 0
        self.steps: list[Step] | None = None
        self.inputs: dict[str, str] = {}
        self.bound: dict[str, str] = {}
        self.places: dict[str, tuple[int, int]] = {}
        self.plans: dict[frozenset[str], Plan] = {}
        self.variable = ""
        self.calls: set[str] = set()
        self.constants: set[str] = set()
