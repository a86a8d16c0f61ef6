"""Loops over numbers, found to be such and run as stretches (see
`gradcli.engine.compiled.loops`)."""

from __future__ import annotations

from itertools import islice

from gradcli.engine.compiled.lines import Wengert
from gradcli.engine.compiled.loops import Plan, Step, Stretch, run
from gradcli.engine.record import record as records
from gradcli.engine.record.operators import PLAIN
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor
from gradcli.lang.running.interpreter import CONSTANTS
from gradcli.lang.running.verbs import VERBS
from gradcli.lang.syntax import code as c
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import ELEMENTWISE, FLAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set
    from typing import Any

    from gradcli.lang.running.interpreter import Interpreter
    from gradcli.lang.syntax.code import Code, Instruction
    from gradcli.ops.kinds import Op

# Turns before a loop is looked at, turns that have to be left, and turns at a time: signals,
# budgets and the progress bar get their chance in between.
PATIENCE = 3
WORTH = 16
AT_A_TIME = 10_000
# A loop that leaves the numbers so often is run one operation at a time.
MAX_FAILURES = 3


class Body:
    """What one `for` was found to be.

    turns: how often it was met. failures: how often it met an edge. steps: None where it is no
    plain calculation. inputs, bound: names to variables of the generated code, bound in the order
    of the last bindings; places: of these. variable: that of the loop. calls, constants: names that
    must keep their meaning. plans: one for each set of inputs that are on the record.
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


def stretched(interpreter: Interpreter, ins: Instruction, code: Code, pc: int,
              iterator: Any, local: dict[str, Any] | None) -> int | None:
    """Run turns of the loop whose NEXT is `ins`, if it is worth it: None if nothing was done, else
    where to go on.
    """
    body = interpreter.bodies.get(id(ins))
    if body is None:
        body = interpreter.bodies[id(ins)] = Body()
    body.turns += 1
    if body.turns < PATIENCE:
        return None
    if body.turns == PATIENCE:
        _analyse(body, interpreter, code, pc, ins[1], local)
    if body.steps is None or body.failures >= MAX_FAILURES:
        return None
    if any(interpreter.function(name, local) for name in body.calls) or any(
            _has_value(interpreter, name, local) for name in body.constants):
        return None  # a name has got another meaning since
    left = getattr(iterator, "__length_hint__", None)
    if left is not None and left() < WORTH:
        return None
    return _turns(body, interpreter, ins, code, pc, iterator, local)


def _analyse(body: Body, interpreter: Interpreter, code: Code, pc: int, length: int,
             local: dict[str, Any] | None) -> None:
    """Find the steps of the body, or that it is more than a calculation."""
    whole = code[pc:pc + length]
    if not whole or whole[0][0] != c.BIND or whole[-1][0] != c.JUMP:
        return
    variable = whole[0][1]
    lowered = Lowering({name for name in CONSTANTS if _has_value(interpreter, name, local)})
    if not lowered.take([whole[1:-1]]):
        return
    bound: dict[str, int] = {}
    for ins, slot in zip(lowered.ends, lowered.ended, strict=True):
        bound.pop(ins[1], None)
        bound[ins[1]] = slot
    if (not bound or not lowered.constants.isdisjoint(bound)
            or variable in bound or variable in lowered.inputs or min(lowered.ended) < 0
            or any(interpreter.function(name, local) for name in lowered.called)
            or not all(op.kind == ELEMENTWISE and op.smooth for op in lowered.ops)):
        return
    wengert = lowered.wengert()
    body.inputs = {name: f"n{k}" for k, name in enumerate(lowered.inputs)}
    named = {slot: body.inputs[name] for name, slot in lowered.inputs.items()}
    body.steps = [
        Step(f"v{k}", op, tuple([
            f"v{slot}" if slot >= 0 else named.get(slot, wengert.head[slot])
            for slot in wengert.operands(k)]), place)
        for k, (op, place) in enumerate(zip(wengert.ops, wengert.places, strict=True))]
    body.bound = {name: f"v{slot}" for name, slot in bound.items()}
    body.places = {ins[1]: (ins[2], ins[3]) for ins in lowered.ends}
    body.variable = variable
    body.calls, body.constants = set(lowered.called), lowered.constants


def _has_value(interpreter: Interpreter, name: str, local: dict[str, Any] | None) -> bool:
    return name in interpreter.scope or (local is not None and name in local)


def _turns(body: Body, interpreter: Interpreter, ins: Instruction, code: Code, pc: int,
           iterator: Any, local: dict[str, Any] | None) -> int | None:
    record = records.current()
    values: list[float] = []
    ids: dict[str, int] = {}
    for name in body.inputs:
        found = local[name] if local is not None and name in local else \
            interpreter.scope.get(name)
        tensor = found.read() if isinstance(found, Tensor) else None
        if tensor is None or type(tensor.value) is not float or tensor.id is None:
            return None
        values.append(tensor.value)
        if record.everything or tensor.id in record.seen:
            ids[name] = tensor.id
    plan = _plan(body, frozenset(ids))
    if plan is None:
        return None
    length = len(plan.steps) + 2
    budget = max(1, (interpreter.max_steps - interpreter.run.steps) // length + 1)
    if record.max_entries is not None:
        budget = min(budget, max(1, (record.max_entries - len(record.entries)) // length))
    turns = islice(iterator, min(AT_A_TIME, budget))
    failed, done, item, ends, saved = run(plan, turns, values)
    interpreter.count(done * length)
    if done:
        outs: dict[str, int] = {}
        if plan.count:
            stretch: Any = Stretch(plan, saved, values, ids)
            outs = stretch.outs
            record.entries.append(
                (stretch, stretch.last, tuple(ids.values()), (), None, PLAIN, ins, ()))
            record.entries.stretched = True
            if not record.everything:
                record.seen.update(outs.values())
        for (name, place), value in zip(
                ((n, body.places[n]) for n in plan.bound), ends, strict=True):
            made = Tensor(value, outs.get(name) or fresh_id())
            interpreter.bind(name, made, place, "computed", local=local)
            if local is None:
                interpreter.run.last = name
    if item is not None:
        interpreter.bind_counter(body.variable, item, (ins[2], ins[3]), local)
    if failed:
        # This turn meets an edge of some operation: one operation at a time knows what to do.
        body.failures += 1
        return pc + 1
    return pc - 1 if done else None


def _plan(body: Body, tracked: frozenset[str]) -> Plan | None:
    """The plan for these inputs on the record; None where the next turn would have others."""
    plan = body.plans.get(tracked)
    if plan is None:
        assert body.steps is not None
        on_record = {body.inputs[name] for name in tracked}
        steps = []
        for known in body.steps:
            step = Step(known.var, known.op, known.operands, known.place)
            step.tracked = any(o in on_record for o in step.operands)
            if step.tracked:
                on_record.add(step.var)
            steps.append(step)
        if any((body.bound[name] in on_record) != (name in tracked)
               for name in body.inputs if name in body.bound):
            return None
        plan = body.plans[tracked] = Plan(steps, body.inputs, body.bound, tracked)
    return plan


# --------------------------------------------------------------------------------------------------
# Straight-line code over numbers: found to be such, and lowered to steps on numbered slots.

NAN = float("nan")


class Lowering:
    """Pieces of code, lowered one after the other.

    Step k is `ops[k]` at the instruction `places[k]`; its answer is slot k, its operands are the
    slots `first[k]` and, if it has two, `second[k]`; if it has more, those in the tuple `first[k]`.
    Numbers that no step made have the slots -1, -2, ..., their values in `head`. fixed: those of
    constants. inputs: name to slot of what is read before it is bound, with no value in `head`.
    literals: slots of numbers that got a name, to where they did. now: name to the slot that it
    means at the end. ends: the instructions BIND and RESULT; ended: the slot that each takes.
    constants: names that were taken to mean numbers of the language. known, called: operations by
    the names that signs and calls have for them. elsewhere: names that other code binds.
    """

    __slots__ = ("called", "constants", "elsewhere", "ended", "ends", "first", "fixed", "head",
                 "inputs", "known", "literals", "now", "ops", "places", "second")

    def __init__(self, elsewhere: Set[str] = frozenset()) -> None:
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
        """Lower from the piece at `at` on; the place of the first that is more than a calculation
        with numbers. Of that one nothing is left but slots in `head` that nobody reads.
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
        """All steps as a list that can be run."""
        return Wengert(self.ops, self.first, self.second, self.places, self.head[::-1],
                       frozenset(self.fixed))

    def _number(self, value: float) -> int:
        self.head.append(value)
        slot = -len(self.head)
        self.fixed.add(slot)
        return slot

    def _read(self, name: str) -> int:
        """The slot of a name that nothing here has bound before."""
        if name in CONSTANTS and name not in self.elsewhere:
            self.constants.add(name)
            return self._number(CONSTANTS[name])
        slot = self.inputs[name] = self.now[name] = self._number(NAN)
        self.fixed.remove(slot)
        return slot

    def _called(self, name: str, count: int) -> Op | None:
        # What is a function of the file is told here: to look for it would load all rows.
        op = None
        if name not in VERBS and name not in self.elsewhere:
            op = self._operation(name, count)
        if op is not None:
            self.called[name] = op
        return op

    def _operation(self, name: str, count: int) -> Op | None:
        """The operation of this name, if it makes a number of so many."""
        op: Op | None = PUBLIC.get(name)
        if (op is None or op.kind not in (ELEMENTWISE, FLAT) or op.floats is None
                or not op.elementwise or op.attributes or len(op.parameters) != count):
            return None
        self.known[name] = op
        return op
