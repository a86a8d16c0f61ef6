"""Runs the code that the parser emitted, on a record.

One loop over instructions, an explicit stack of values and one of frames: the depth of a program
costs no Python recursion. A statement that fails poisons the names it would have bound; statements
that read a poisoned name are skipped in silence, so that independent errors are reported together.

Scalars take the fast lane: an operation on two floats is computed, recorded and pushed in the loop
itself instead of through `tape.tensor.apply`, which takes three times as long. Lines of a long file
that only calculate with numbers are run together (`lang.lines`), and so are turns of a loop that
does nothing else (`lang.loops`).
"""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError, error
from gradcli.lang import code as c
from gradcli.lang.calls import (
    MissingGradient,
    NoGradient,
    call_operation,
)
from gradcli.lang.instructions import RARE, enter
from gradcli.lang.run import Run
from gradcli.lang.structures import is_number, truth
from gradcli.lang.verbs import VERBS
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import EDGE
from gradcli.ops.lazy import quiet
from gradcli.tape import record as records
from gradcli.tape.operators import PLAIN
from gradcli.tape.record import fresh_id
from gradcli.tape.tensor import Tensor, leaf
from gradcli.tape.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.code import Code, Declaration, Function, Statement
    from gradcli.lang.lines import Waiting
    from gradcli.lang.loops import Body
    from gradcli.lang.run import Binding, Printed
    from gradcli.source import Source

CONSTANTS = {
    "pi": 3.141592653589793, "e": 2.718281828459045, "tau": 6.283185307179586,
    "inf": float("inf"), "nan": float("nan"),
}
MAX_STEPS = 10_000_000
MAX_DEPTH = 1_000
# f'(x) runs f inside the derivative: each level costs some Python frames.
MAX_NESTED = 40


# A record of everything is pruned in loops when it has grown beyond so many entries.
PRUNE_AT = 100_000


class Poison:
    """The value of a name whose statement failed."""

    __slots__ = ()


POISON = Poison()


class Poisoned(Exception):
    """A poisoned name was read: no error of its own, the statement is skipped."""


class Interpreter:
    """Runs one program once.

    inputs: values of the names that are read but never bound. given: values from outside for
    variables, declared inputs and plain constants, instead of those in the file. tapes: the file
    opens tapes of its own, so that no implicit one covers it. log: keep what explanations need:
    everything that ran, and its branches. output: what a `print` is handed to, as it happens.
    progress: wraps what a loop of the file's top level goes over.
    """

    def __init__(self, source: Source, inputs: Mapping[str, Any], given: Mapping[str, Any],
                 max_steps: int = MAX_STEPS, tapes: bool = False, log: bool = False,
                 output: Callable[[Printed], None] | None = None,
                 progress: Callable[[Iterable[Any], int | None], Iterable[Any]] | None = None
                 ) -> None:
        self.source = source
        self.given = given
        self.max_steps = max_steps
        self.run = Run(everything=log or not tapes)
        self.output = output
        self.progress = progress
        self.tf = False
        self.weigh = False
        self.rebound: dict[int, Binding] = {}
        self.bodies: dict[int, Body] = {}
        self.looping = 0
        self.prune_at = PRUNE_AT
        if log:
            from gradcli.lang.log import Log

            self.run.log = Log()
        # Emitted derivatives grow by orders; a step of the program makes an entry at most.
        self.run.record.max_entries = max_steps // 4
        self.scope: dict[str, Any] = {}
        self.nested = 0
        self.at: tuple[Any, ...] = (0, None, 0, 0)
        self.missing: list[tuple[Diagnostic, NoGradient]] = []
        self.waiting: Waiting | None = None
        for name, value in inputs.items():
            self.bind(name, leaf(value), (0, 0), "input")

    def bind(self, name: str, value: Any, span: Span, kind: str,
             declaration: Declaration | None = None, local: dict[str, Any] | None = None) -> None:
        """A name gets a (further) value; in a function it is one of the function's own."""
        if local is not None:
            local[name] = value
            if self.run.log is not None:
                self.run.log.bound(name, value, span, kind)
            return
        self.scope[name] = value
        # A variable stands in the history with the state that it began with.
        seen = value.origin() if type(value) is Variable else value
        self.run.bound(name, seen, span, kind, declaration)

    def execute(self, statements: Sequence[Statement]) -> Run:
        """Run all statements. Raises one `GradcliError` with all independent errors."""
        found: list[Diagnostic] = []
        at = 0
        with self.run.record:
            while at < len(statements):
                statement = statements[at]
                if statement.lines is not None and not found and statement.lines.run(self):
                    at += statement.lines.count
                    continue
                at += 1
                if self.waiting is not None:
                    self.waiting.settle(self)
                    self.waiting = None
                if found and _goes_on(statement.code):
                    # What follows an error is run for its own errors only: a loop is too much.
                    self._poison(statement.names)
                    continue
                self.nested = 0
                try:
                    self.evaluate(statement.code, None)
                except Poisoned:
                    self._poison(statement.names)
                except GradcliError as problem:
                    found.extend(self._placed(problem))
                    self._poison(statement.names)
                    self.output = _nowhere
                    if problem.code in ("E0401", "E0402"):
                        break
        if found:
            raise GradcliError(*found)
        return self.run

    def _poison(self, names: Sequence[str]) -> None:
        for name in names:
            self.scope[name] = POISON

    def _placed(self, problem: GradcliError) -> Sequence[Diagnostic]:
        """The diagnostics of an error, with the place of the current instruction."""
        for d in problem.diagnostics:
            if d.span is None:
                d.span = self.at[2:]
            if d.source is None:
                d.source = self.source
        if isinstance(problem, MissingGradient):
            self.missing.append((problem.diagnostics[0], problem.missing))
        return problem.diagnostics

    def call(self, function: Function, args: Sequence[Any], around: Mapping[str, Any] | None = None
             ) -> Any:
        """A function of the file, from inside an operation: its value. around: the names of the
        function that it stands in.
        """
        return self.call_in(function, {**(around or {}),
                                       **dict(zip(function.parameters, args, strict=True))})

    def call_in(self, function: Function, local: dict[str, Any]) -> Any:
        """A function whose arguments and surroundings are in `local`, which also gets its names."""
        self.nested += 1
        if self.run.log is not None:
            self.run.log.call(function, self, local)
        if self.nested > MAX_NESTED:
            raise _too_deep(function.name, MAX_NESTED)
        record = records.current()
        at, place = self.at, record.place
        opened: list[Any] = []
        try:
            found = self._loop(function.code, local, opened)
        except BaseException:
            self._close(opened, len(opened))
            raise
        self.nested -= 1
        self.at, record.place = at, place
        return found

    def _call_custom(self, function: Function, args: dict[str, Any],
                     around: Mapping[str, Any] | None) -> Any:
        """A call of a function with @custom_gradient."""
        from gradcli.lang.rules import custom_call

        with quiet():
            return custom_call(self, function, args, around)

    def evaluate(self, code: Code, local: dict[str, Any] | None) -> Any:
        """Run one piece of code to its end; what it leaves on the stack, if anything.

        Blocks that are open when an error ends it are closed.
        """
        opened: list[Any] = []
        try:
            return self._loop(code, local, opened)
        except BaseException:
            self._close(opened, len(opened))
            raise

    def _loop(self, code: Code, local: dict[str, Any] | None, opened: list[Any]) -> Any:
        stack: list[Any] = []
        frames: list[tuple[Code, int, dict[str, Any] | None, int, Function, int]] = []
        push, pop = stack.append, stack.pop
        scope = self.scope
        record = records.current()
        new = Tensor.__new__
        pc, end = 0, len(code)
        self.count(end)
        # What the short way of scalars has to know; looked up again when anything may change it.
        entries, seen = record.entries, record.seen
        short = not record.accumulators and not record.paused
        everything = record.everything
        rebound = self.rebound
        log = self.run.log
        body_of: Any = None
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
                    self.at = record.place = ins
                    stack[-1] = call_operation(op, [a, b], {})
                    entries, seen = record.entries, record.seen
            elif opcode == c.LOAD:
                if local is not None and arg in local:
                    value = local[arg]
                elif arg in scope:
                    value = scope[arg]
                    if value is POISON:
                        raise Poisoned
                else:
                    self.at = ins
                    value = self._missing(arg, local)
                push(value)
            elif opcode == c.PUSH:
                push(arg)
            elif opcode == c.CALL:
                self.at = record.place = ins
                name, count, keywords = arg
                function = self.function(name, local)
                if function is not None:
                    args = self._arguments(function, stack, count, keywords)
                    if function.decorator:
                        push(self._call_custom(function, args, local))
                    else:
                        if len(frames) >= MAX_DEPTH:
                            raise _too_deep(name, MAX_DEPTH)
                        frames.append((code, pc, local, len(opened), function, len(stack)))
                        if log is not None:
                            log.call(function, self, args)
                        if function.block and local is not None:
                            args = {**local, **args}
                        code, pc, local = function.code, 0, args
                        end = len(code)
                        self.count(end)
                        continue
                else:
                    named = {k: pop() for k in reversed(keywords)} if keywords else {}
                    args_ = stack[len(stack) - count:]
                    del stack[len(stack) - count:]
                    op_ = None if name in VERBS else PUBLIC.get(name)
                    if op_ is None:
                        push(self._verb(name, args_, named))
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
                        if self.run.registered:
                            op_ = self.run.registered.get(op_.name, op_)
                        push(call_operation(op_, args_, named))
                entries, seen = record.entries, record.seen
                short = not record.accumulators and not record.paused
            elif opcode == c.BIND:
                value = pop()
                self.at = ins
                if local is None:
                    known = rebound.get(id(ins))
                    if known is not None and type(value) is Tensor and known.value is scope[arg]:
                        # In a loop: the same place binds the same name, as the last one did.
                        known.value = scope[arg] = value
                        self.run.last = arg
                        continue
                    self.bind_value(arg, value, (ins[2], ins[3]), None)
                    bindings = self.run.bindings[arg]
                    if (len(bindings) > 1 and bindings[-1].kind == "computed"
                            and log is None):
                        rebound[id(ins)] = bindings[-1]
                else:
                    local[arg] = self._local_value(value)
                    if log is not None:
                        log.bound(arg, local[arg], (ins[2], ins[3]))
            elif opcode == c.NEXT:
                if short and log is None and not record.checking:
                    if body_of is None:
                        from gradcli.lang.loops import stretched as body_of
                    follow = body_of(self, ins, code, pc, stack[-1], local)
                    if follow is not None:
                        pc = follow
                        continue
                value = next(stack[-1], stack)
                if log is not None:
                    log.turn(ins, value is stack, code, pc, self, local)
                if value is stack:
                    pop()
                    pc += arg
                elif type(value) is int and code[pc][0] == c.BIND:
                    # What counts a loop is a number of the program, not a tensor: beside one it
                    # takes that one's type, as Python's integers do in TensorFlow.
                    self.bind_counter(code[pc][1], value, (ins[2], ins[3]), local)
                    pc += 1
                else:
                    push(value)
            elif opcode == c.JUMP:
                pc += arg
                if arg < 0:
                    self.at = ins
                    self.count(-arg)
                    if everything and len(entries) > self.prune_at:
                        self._prune(stack, frames, local)
            elif opcode == c.UNARY:
                self.at = record.place = ins
                stack[-1] = call_operation(PUBLIC[arg], [stack[-1]], {})
                entries, seen = record.entries, record.seen
            elif opcode == c.POP:
                pop()
            elif opcode == c.RESULT:
                self.run.add_result(pop(), (ins[2], ins[3]))
            elif opcode == c.JUMP_IF_FALSE:
                self.at = ins
                condition = pop()
                holds = truth(condition)
                if log is not None:
                    log.condition(self, ins, condition, holds, code, pc, local)
                if not holds:
                    pc += arg
            elif opcode in (c.AND, c.OR):
                self.at = ins
                holds = truth(stack[-1])
                ends = holds == (opcode == c.OR)
                if log is not None:
                    log.condition(self, ins, stack[-1], holds, code, pc, local)
                if ends:
                    pc += arg
                else:
                    pop()
            elif opcode == c.RETURN:
                if not frames:
                    self._close(opened, len(opened))
                    return pop()
                code, pc, local, depth, _, height = frames.pop()
                end = len(code)
                # Iterators of loops that are left may lie under the value.
                stack[height:] = stack[-1:]
                if len(opened) > depth:
                    self._close(opened, len(opened) - depth)
                    entries, seen = record.entries, record.seen
                    short = not record.accumulators and not record.paused
            elif opcode == c.LEAVE:
                self._close(opened, arg[1])
                pc += arg[0]
                if arg[0] < 0:
                    self.at = ins
                    self.count(-arg[0])
                entries, seen = record.entries, record.seen
                short = not record.accumulators and not record.paused
            else:
                self.at = record.place = ins
                if opcode == c.ENTER:
                    opened.append(enter(self, arg, stack, local))
                elif opcode == c.EXIT:
                    self._close(opened, 1)
                else:
                    RARE[opcode](self, arg, stack, (ins[2], ins[3]), local)
                entries, seen = record.entries, record.seen
                short = not record.accumulators and not record.paused

    def _close(self, opened: list[Any], count: int) -> None:
        for _ in range(count):
            opened.pop().__exit__(None, None, None)

    def function(self, name: str, local: dict[str, Any] | None) -> Function | None:
        """The function of the file that a call means: one of the enclosing `def` goes first."""
        if local is not None:
            # Brackets keep the functions of a scope apart from its values.
            found: Function | None = local.get(name + "()")
            if found is not None:
                return found
        return self.run.functions.get(name)

    def bind_counter(self, name: str, value: Any, span: Span, local: dict[str, Any] | None) -> None:
        """The variable of a loop gets a plain value."""
        if local is not None:
            local[name] = value if type(value) is int else self._local_value(value)
            if self.run.log is not None:
                self.run.log.bound(name, local[name], span)
            return
        tensor = value if isinstance(value, Tensor) or not is_number(value) else leaf(value)
        self.scope[name] = value if type(value) is int else tensor
        self.run.bound(name, tensor, span, "computed")
        self.run.last = name

    def _local_value(self, value: Any) -> Any:
        return leaf(value) if is_number(value) and not isinstance(value, Tensor) else value

    def _prune(self, stack: Sequence[Any], frames: Sequence[tuple[Any, ...]],
               local: dict[str, Any] | None) -> None:
        """Let go of the entries that no live value goes back to."""
        from gradcli.tape.pruning import prune

        live = [stack, self.scope, local, [frame[2] for frame in frames],
                [b.value for bindings in self.run.bindings.values() for b in bindings],
                list(self.run.results.values()),
                [known[1] for known in records.current().stacked.values()]]
        kept = prune(records.current(), live)
        self.prune_at = max(PRUNE_AT, 2 * kept)

    def count(self, steps: int) -> None:
        """Steps were taken. Raises E0401 where they are more than the budget."""
        self.run.steps += steps
        if self.run.steps > self.max_steps:
            raise error("E0401", f"the program takes more than {self.max_steps:,} steps",
                        help="raise the budget with --max-steps")

    def _missing(self, name: str, local: dict[str, Any] | None) -> Any:
        if name in CONSTANTS:
            return CONSTANTS[name]
        ours = self.function(name, local) is not None
        if ours or name in PUBLIC:
            what = "a function of this file" if ours else "an operation"
            raise error("E0205", f"`{name}` is {what}, not a value", help=f"call it: {name}(x)")
        if name in VERBS:
            raise error("E0205", f"`{name}` has no value of its own", help=f"call it: {name}(...)")
        raise error("E0202", f"`{name}` has no value here", help="bind it on a line above")

    def _verb(self, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        verb = VERBS.get(name)
        if verb is None:
            # Names that no line defines are found before anything runs.
            raise error("E0201", f"`{name}` is not defined yet", label="no function so far",
                        help="define it above this line, where it is sure to run")
        return verb(self, args, named)

    def _arguments(self, function: Function, stack: list[Any], count: int, keywords: Sequence[str]
                   ) -> dict[str, Any]:
        """The arguments of a function of the file, by name, taken off the stack."""
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
                help=f"write {function.name}({', '.join(function.parameters)})")
        return dict(zip(names, values, strict=True))

    def bind_value(self, name: str, value: Any, span: Span, local: dict[str, Any] | None) -> None:
        """`y = e`: a plain number becomes a tensor of its own, so that it can be a source."""
        if local is not None:
            local[name] = self._local_value(value)
            if self.run.log is not None:
                self.run.log.bound(name, local[name], span)
            return
        kind = "computed"
        if type(value) is not Tensor and is_number(value):
            if type(value) is Variable:
                self.scope[name] = value
                self.run.last = name
                self.run.bound(name, value.origin(), span, kind)
                return
            first = name not in self.run.bindings
            if first and name in self.given:
                value = self.given[name]
            value = leaf(value)
            kind = "literal"
        if name in CONSTANTS and name not in self.run.bindings:
            self.run.notes.append((
                "shadowed-constant", f"`{name}` is bound here and no longer the constant", span))
        self.scope[name] = value
        self.run.last = name
        self.run.bound(name, value, span, kind)


def _goes_on(code: Code) -> bool:
    """Whether there is a loop."""
    return any(ins[0] == c.ITERATE or (ins[0] == c.JUMP and ins[1] < 0) for ins in code)


def _nowhere(printed: Printed) -> None:
    """Where the output of a program goes that has failed."""


def _count_of(n: int) -> str:
    return f"{n} argument{'' if n == 1 else 's'}"


def _too_deep(name: str, limit: int) -> GradcliError:
    return error("E0402", f"`{name}` calls itself more than {limit:,} times",
                 help="check the condition that ends the recursion")
