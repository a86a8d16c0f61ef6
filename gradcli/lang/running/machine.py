"""The interpreter: statements run in order, each by a loop over the instructions of its code.

A statement that fails poisons the names it would have bound; statements that read a poisoned name
are skipped in silence, so that independent errors are reported together. Lines of a long file that
only calculate with numbers are run together (`lang.running.lines`), and so are turns of a loop that
does nothing else (`lang.running.loops`).

An explicit stack of values and one of frames: the depth of a program costs no Python recursion.
Scalars take the fast lane: an operation on two floats is computed, recorded and pushed in the loop
itself instead of through `engine.record.tensor.apply`, which takes three times as long. The rarer
instructions are functions (`lang.running.instructions`), loaded at the first one.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.operators import PLAIN
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.calls import MissingGradient, MissingGradients, call_operation, truth
from gradcli.lang.running.run import too_deep
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.code import CONSTANTS, VERBS
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import EDGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Diagnostic
    from gradcli.lang.running.calls import NoGradient
    from gradcli.lang.running.lines import LazyBindings, LoweredLines
    from gradcli.lang.running.run import Printed, Run, Running
    from gradcli.lang.syntax.code import Code, Function, Statement


# Calls of functions of the file inside each other.
MAX_DEPTH = 1_000


class Poison:
    """The value of a name whose statement failed."""

    __slots__ = ()


POISON = Poison()


class Poisoned(Exception):
    """The exception for reading a poisoned name: no error of its own, the statement is skipped."""


def run_code(run: Running, code: Code, local: dict[str, Any] | None) -> Any:
    """Run one piece of code to its end; return the upper value on its stack, if there is one.

    Blocks that are open when an error ends it are closed.
    """
    opened: list[Any] = []
    try:
        return _loop(run, code, local, opened)
    except BaseException:
        _close(opened, len(opened))
        raise


def _loop(run: Running, code: Code, local: dict[str, Any] | None, opened: list[Any]) -> Any:
    stack: list[Any] = []
    frames: list[tuple[Code, int, dict[str, Any] | None, int, Function, int]] = []
    push, pop = stack.append, stack.pop
    scope = run.scope
    record = records.current()
    new = Tensor.__new__
    pc, end = 0, len(code)
    run.count(end)
    # The conditions of the fast lane, looked up again when anything may change them.
    entries, seen = record.entries, record.seen
    short = not record.accumulators and not record.paused
    everything = record.everything
    rebound = run.rebound
    log = run.run.log
    body_of: Any = None
    rarer: Any = None
    while True:
        if pc == end:
            if not frames:
                return stack[-1] if stack else None
            if frames[-1][4].block:
                push(None)
            code, pc, local, *_ = frames.pop()
            end = len(code)
            continue
        ins = code[pc]
        pc += 1
        opcode, arg = ins[0], ins[1]
        if opcode == c.BINARY:
            b = pop()
            a = stack[-1]
            op = PUBLIC[arg]
            if type(a) is Tensor:
                x, i = a.value, a.id
            elif type(a) is Variable:
                a = a.read()
                x, i = a.value, a.id
            else:
                x, i = a, None
            if type(b) is Tensor:
                y, j = b.value, b.id
            elif type(b) is Variable:
                b = b.read()
                y, j = b.value, b.id
            else:
                y, j = b, None
            if type(x) is float and type(y) is float and short and op.elementwise:
                try:
                    v = op.floats(x, y)  # type: ignore[misc]
                except EDGE:
                    v = op.at_edge((x, y))
                if i is None and j is None:
                    stack[-1] = v
                    continue
                out = new(Tensor)
                out.value = v
                out.batch = 0
                out.id = number = fresh_id()
                if everything:
                    entries.append((op, number, (i, j), (x, y), v, PLAIN, ins, ()))
                elif i in seen or j in seen:
                    seen.add(number)
                    entries.append((op, number, (i, j), (x, y), v, PLAIN, ins, ()))
                stack[-1] = out
            else:
                run.at = record.place = ins
                try:
                    stack[-1] = call_operation(op, [a, b], {})
                except GradcliError as problem:
                    run.blame(problem, ins, [a, b])
                    raise
                entries, seen = record.entries, record.seen
        elif opcode == c.LOAD:
            if local is not None and arg in local:
                value = local[arg]
            elif arg in scope:
                value = scope[arg]
                if value is POISON:
                    raise Poisoned
            else:
                run.at = ins
                value = _unbound(run, arg, local)
            push(value)
        elif opcode == c.PUSH:
            push(arg)
        elif opcode == c.CALL:
            run.at = record.place = ins
            name, count, keywords = arg
            function = run.function(name, local)
            if function is not None:
                args = _arguments(function, stack, count, keywords)
                if function.decorator:
                    push(_custom(run, function, args, local))
                else:
                    if len(frames) >= MAX_DEPTH:
                        raise too_deep(name, MAX_DEPTH)
                    frames.append((code, pc, local, len(opened), function, len(stack)))
                    if log is not None:
                        log.call(function, ins[2:], args)
                    if function.block and local is not None:
                        args = {**local, **args}
                    code, pc, local = function.code, 0, args
                    end = len(code)
                    run.count(end)
                    continue
            else:
                named = {k: pop() for k in reversed(keywords)} if keywords else {}
                args_ = stack[len(stack) - count:]
                del stack[len(stack) - count:]
                op_ = None if name in VERBS else PUBLIC.get(name)
                if op_ is None:
                    try:
                        push(_verb(run, name, args_, named))
                    except GradcliError as problem:
                        run.blame(problem, ins, args_, named)
                        raise
                else:
                    x = args_[0] if count == 1 else None
                    if type(x) is Variable:
                        x = x.read()
                    if (type(x) is Tensor and type(x.value) is float and op_.elementwise
                            and len(op_.parameters) == 1 and short and not named):
                        try:
                            v = op_.floats(x.value)
                        except EDGE:
                            v = op_.at_edge((x.value,))
                        out = Tensor(v, fresh_id())
                        if everything or x.id in seen:
                            number = out.id  # type: ignore[assignment]
                            if not everything:
                                seen.add(number)
                            entries.append(
                                (op_, number, (x.id,), (x.value,), v, PLAIN, ins, ()))
                        push(out)
                        continue
                    if run.run.registered:
                        op_ = run.run.registered.get(op_.name, op_)
                    try:
                        push(call_operation(op_, args_, named))
                    except GradcliError as problem:
                        run.blame(problem, ins, args_, named)
                        raise
            entries, seen = record.entries, record.seen
            short = not record.accumulators and not record.paused
        elif opcode == c.BIND:
            value = pop()
            run.at = ins
            if local is None:
                known = rebound.get(id(ins))
                if known is not None and type(value) is Tensor and known.value is scope[arg]:
                    # In a loop: the same place binds the same name, as the last one did.
                    known.value = scope[arg] = value
                    run.run.last = arg
                    continue
                run.bind_value(arg, value, (ins[2], ins[3]), None)
                bindings = run.run.bindings[arg]
                if (len(bindings) > 1 and bindings[-1].kind == "computed"
                        and log is None):
                    rebound[id(ins)] = bindings[-1]
            else:
                local[arg] = run.local_value(value)
                if log is not None:
                    log.bound(arg, local[arg], (ins[2], ins[3]))
        elif opcode == c.NEXT:
            if short and log is None and not record.checking:
                if body_of is None:
                    from gradcli.lang.running.loops import stretched as body_of
                follow = body_of(run, ins, code, pc, stack[-1], local)
                if follow is not None:
                    pc = follow
                    continue
            value = next(stack[-1], stack)
            if log is not None:
                log.turn(ins, value is stack, code, pc, local)
            if value is stack:
                pop()
                pc += arg
            elif type(value) is int and code[pc][0] == c.BIND:
                # The counter of a loop is a plain number, not a tensor: beside a tensor it
                # takes that one's type, as Python's integers do in TensorFlow.
                run.bind_counter(code[pc][1], value, (ins[2], ins[3]), local)
                pc += 1
            else:
                push(value)
        elif opcode == c.JUMP:
            pc += arg
            if arg < 0:
                run.at = ins
                run.count(-arg)
                if everything and len(entries) > run.prune_at:
                    run.prune(stack, frames, local)
        elif opcode == c.UNARY:
            run.at = record.place = ins
            try:
                stack[-1] = call_operation(PUBLIC[arg], [stack[-1]], {})
            except GradcliError as problem:
                run.blame(problem, ins, [stack[-1]])
                raise
            entries, seen = record.entries, record.seen
        elif opcode == c.POP:
            pop()
        elif opcode == c.RESULT:
            run.run.add_result(pop(), (ins[2], ins[3]))
        elif opcode == c.JUMP_IF_FALSE:
            run.at = ins
            condition = pop()
            holds = truth(condition)
            if log is not None:
                log.condition(ins, condition, holds, code, pc, local)
            if not holds:
                pc += arg
        elif opcode in (c.AND, c.OR):
            run.at = ins
            holds = truth(stack[-1])
            ends = holds == (opcode == c.OR)
            if log is not None:
                log.condition(ins, stack[-1], holds, code, pc, local)
            if ends:
                pc += arg
            else:
                pop()
        elif opcode == c.RETURN:
            if not frames:
                _close(opened, len(opened))
                return pop()
            code, pc, local, depth, _, height = frames.pop()
            end = len(code)
            # Iterators of loops that are left may lie under the value.
            stack[height:] = stack[-1:]
            if len(opened) > depth:
                _close(opened, len(opened) - depth)
                entries, seen = record.entries, record.seen
                short = not record.accumulators and not record.paused
        elif opcode == c.LEAVE:
            _close(opened, arg[1])
            pc += arg[0]
            if arg[0] < 0:
                run.at = ins
                run.count(-arg[0])
            entries, seen = record.entries, record.seen
            short = not record.accumulators and not record.paused
        else:
            if rarer is None:
                from gradcli.lang.running import instructions as rarer
            run.at = record.place = ins
            if opcode == c.ENTER:
                opened.append(rarer.enter(run, arg, stack, local))
            elif opcode == c.EXIT:
                _close(opened, 1)
            else:
                rarer.RARE[opcode](run, arg, stack, (ins[2], ins[3]), local)
            entries, seen = record.entries, record.seen
            short = not record.accumulators and not record.paused


def _close(opened: list[Any], count: int) -> None:
    for _ in range(count):
        opened.pop().__exit__(None, None, None)


def _unbound(run: Running, name: str, local: dict[str, Any] | None) -> Any:
    """Return the constant of this name, which nothing binds. Raises E0202 or E0205 for others."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    ours = run.function(name, local) is not None
    if ours or name in PUBLIC:
        what = "a function of this file" if ours else "an operation"
        raise error("E0205", f"`{name}` is {what}, not a value", help=f"call it: {name}(x)")
    if name in VERBS:
        raise error("E0205", f"`{name}` has no value of its own", help=f"call it: {name}(...)")
    raise error("E0202", f"`{name}` has no value here", help="bind it on a line above")


def _custom(run: Running, function: Function, args: dict[str, Any],
            around: Mapping[str, Any] | None) -> Any:
    """Call a function with @custom_gradient."""
    from gradcli.lang.running.rules import custom_call

    with quiet():
        return custom_call(run, function, args, around)


def _verb(run: Running, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    if name not in VERBS:
        # Names that no line defines are found before anything runs.
        raise error("E0201", f"`{name}` is not defined yet", label="no function so far",
                    help="define it above this line, where it is sure to run")
    from gradcli.lang.running.verbs import FUNCTIONS

    return FUNCTIONS[name](run, args, named)


def _arguments(function: Function, stack: list[Any], count: int, keywords: Sequence[str]
               ) -> dict[str, Any]:
    """Take the arguments of a function of the file off the stack, by name. Raises E0207."""
    total = count + len(keywords)
    values = stack[len(stack) - total:]
    del stack[len(stack) - total:]
    names = [*function.parameters[:count], *keywords]
    if (total != len(function.parameters) or len(set(names)) != total
            or not set(names) <= set(function.parameters)):
        twice = next((n for k, n in enumerate(names) if n in names[:k]), None)
        unknown = next((n for n in keywords if n not in function.parameters), None)
        said = (f"not {total}" if total != len(function.parameters) else
                f"and `{twice}` is given twice" if twice else f"none is called `{unknown}`")
        raise error(
            "E0207", f"`{function.name}` takes {_count_of(len(function.parameters))}"
            f" ({', '.join(function.parameters)}), {said}",
            help=f"write {function.name}({', '.join(function.parameters)})",
            about=("option", unknown or twice) if unknown or twice else
            ("beyond", len(function.parameters)))
    return dict(zip(names, values, strict=True))


def _count_of(n: int) -> str:
    return f"{n} argument{'' if n == 1 else 's'}"


def execute(running: Running, statements: Sequence[Statement], lines: Mapping[int, LoweredLines]
            ) -> Run:
    """Run all statements. Raises one `GradcliError` with all independent errors.

    lines: number of a statement to the lines that it and those behind it are together.
    """
    found: list[Diagnostic] = []
    missing: list[tuple[Diagnostic, NoGradient]] = []
    waiting: LazyBindings | None = None
    at = 0
    with running.run.record:
        while at < len(statements):
            if at in lines and not found:
                done = lines[at].run(running)
                if done is not None:
                    waiting = done
                    at += lines[at].count
                    continue
            statement = statements[at]
            at += 1
            if waiting is not None:
                waiting.settle(running)
                waiting = None
            if found and _goes_on(statement.code):
                # Statements behind an error run for their own errors only: no loops.
                _poison(running, statement.names)
                continue
            running.nested = 0
            try:
                run_code(running, statement.code, None)
            except Poisoned:
                _poison(running, statement.names)
            except GradcliError as problem:
                _locate(running, problem)
                found.extend(problem.diagnostics)
                if isinstance(problem, MissingGradient):
                    missing.append((problem.diagnostics[0], problem.missing))
                _poison(running, statement.names)
                running.output = _nowhere
                if problem.code in ("E0401", "E0402"):
                    break
    if missing:
        told = MissingGradients(*found)
        told.missing = missing
        raise told
    if found:
        raise GradcliError(*found)
    return running.run


def _poison(running: Running, names: Sequence[str]) -> None:
    for name in names:
        running.scope[name] = POISON


def _locate(running: Running, problem: GradcliError) -> None:
    """Give the diagnostics of an error the span of what they are about: a part of the current
    instruction, or all of it.
    """
    running.blame(problem, running.at)
    for d in problem.diagnostics:
        if d.span is None:
            d.span = running.at[2:]
        if d.source is None:
            d.source = running.source


def _goes_on(code: Code) -> bool:
    """Return whether code contains a loop."""
    return any(ins[0] == c.ITERATE or (ins[0] == c.JUMP and ins[1] < 0) for ins in code)


def _nowhere(printed: Printed) -> None:
    """Drop the output of a program that has failed."""
