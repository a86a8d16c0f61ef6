"""Loops over numbers, found to be such and run as stretches (see
`gradcli.engine.compiled.loops`).
"""

from __future__ import annotations

from itertools import islice

from gradcli.engine.compiled.loops import Plan, Step, Stretch, run
from gradcli.engine.record import record as records
from gradcli.engine.record.operators import PLAIN
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor
from gradcli.lang.running.lowering import Body, Lowering
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.code import CONSTANTS, VERBS
from gradcli.ops.kinds import ELEMENTWISE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Code, Instruction

# Turns before a loop is looked at, turns that have to be left, and turns at a time: signals,
# budgets and the progress bar get their chance in between.
PATIENCE = 3
WORTH = 16
AT_A_TIME = 10_000
# A loop that leaves the numbers so often is run one operation at a time.
MAX_FAILURES = 3


def stretched(running: Running, ins: Instruction, code: Code, pc: int,
              iterator: Any, local: dict[str, Any] | None) -> int | None:
    """Run turns of the loop whose NEXT is `ins`, if it is worth it; return the index at which to go
    on, or None if nothing was done.
    """
    body = running.bodies.get(id(ins))
    if body is None:
        body = running.bodies[id(ins)] = Body()
    body.turns += 1
    if body.turns < PATIENCE:
        return None
    if body.turns == PATIENCE:
        _analyse(body, running, code, pc, ins[1], local)
    if body.steps is None or body.failures >= MAX_FAILURES:
        return None
    if any(running.function(name, local) for name in body.calls) or any(
            _has_value(running, name, local) for name in body.constants):
        return None  # a name has got another meaning since
    left = getattr(iterator, "__length_hint__", None)
    if left is not None and left() < WORTH:
        return None
    return _turns(body, running, ins, code, pc, iterator, local)


def _analyse(body: Body, running: Running, code: Code, pc: int, length: int,
             local: dict[str, Any] | None) -> None:
    """Find the steps of the body; leave it without if it is more than a calculation."""
    whole = code[pc:pc + length]
    if not whole or whole[0][0] != c.BIND or whole[-1][0] != c.JUMP:
        return
    variable = whole[0][1]
    lowered = Lowering({
        *VERBS, *[name for name in CONSTANTS if _has_value(running, name, local)]})
    if not lowered.take([whole[1:-1]]):
        return
    bound: dict[str, int] = {}
    for ins, slot in zip(lowered.ends, lowered.ended, strict=True):
        bound.pop(ins[1], None)
        bound[ins[1]] = slot
    if (not bound or not lowered.constants.isdisjoint(bound)
            or variable in bound or variable in lowered.inputs or min(lowered.ended) < 0
            or any(running.function(name, local) for name in lowered.called)
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


def _has_value(running: Running, name: str, local: dict[str, Any] | None) -> bool:
    return name in running.scope or (local is not None and name in local)


def _turns(body: Body, running: Running, ins: Instruction, code: Code, pc: int,
           iterator: Any, local: dict[str, Any] | None) -> int | None:
    record = records.current()
    values: list[float] = []
    ids: dict[str, int] = {}
    for name in body.inputs:
        found = local[name] if local is not None and name in local else \
            running.scope.get(name)
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
    budget = max(1, (running.max_steps - running.run.steps) // length + 1)
    if record.max_entries is not None:
        budget = min(budget, max(1, (record.max_entries - len(record.entries)) // length))
    turns = islice(iterator, min(AT_A_TIME, budget))
    failed, done, item, ends, saved = run(plan, turns, values)
    running.count(done * length)
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
            running.bind(name, made, place, "computed", local=local)
            if local is None:
                running.run.last = name
    if item is not None:
        running.bind_counter(body.variable, item, (ins[2], ins[3]), local)
    if failed:
        # This turn meets an edge of an operation: it is run one operation at a time.
        body.failures += 1
        return pc + 1
    return pc - 1 if done else None


def _plan(body: Body, tracked: frozenset[str]) -> Plan | None:
    """Return the plan for these inputs on the record; None where the next turn has others."""
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
