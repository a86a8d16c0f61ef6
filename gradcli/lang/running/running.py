"""A program while it runs: the bound names, its run with the record, and the budget.

The instructions of a program read and change a `Running` and see nothing above it; it also calls
functions of the file.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.engine.record import record as records
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.calls import is_number
from gradcli.lang.running.run import Run
from gradcli.lang.syntax.code import CONSTANTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.lang.running.lowering import Body
    from gradcli.lang.running.run import Binding, Printed
    from gradcli.lang.syntax.code import Code, Declaration, Function, Instruction

MAX_STEPS = 10_000_000
# f'(x) runs f inside the derivative: each level costs some Python frames.
MAX_NESTED = 40
# A record of everything is pruned in loops when it has grown beyond so many entries.
PRUNE_AT = 100_000


class Running:
    """One program while it runs once.

    machine: runs a piece of code in a scope of its own.
    inputs: values of the names that are read but never bound.
    given: values from outside for variables, declared inputs and plain constants, in place of those
        in the file.
    tapes: the file opens tapes of its own, so that no implicit one covers it.
    log: record everything and note what explanations need.

    output: called with each `print` as it happens.
    progress: wraps the items of a loop at the file's top level.
    looping: the number of loops that are wrapped now.
    tf: None where TensorFlow says None.
    weigh: count the values that each tape holds at its end.
    at: the instruction that runs.
    nested: the number of functions that run inside of operations.
    rebound: bindings by the instructions in loops that bind again.
    bodies: analysed bodies of `for` loops.
    """

    __slots__ = (
        "at", "bodies", "given", "looping", "machine", "max_steps", "nested", "output", "progress",
        "prune_at", "rebound", "run", "scope", "source", "tf", "weigh")

    def __init__(self, machine: Callable[[Running, Code, dict[str, Any] | None], Any],
                 source: Source, inputs: Mapping[str, Any], given: Mapping[str, Any],
                 max_steps: int = MAX_STEPS, tapes: bool = False, log: bool = False) -> None:
        self.machine = machine
        self.source = source
        self.given = given
        self.max_steps = max_steps
        self.run = Run(everything=log or not tapes)
        self.output: Callable[[Printed], None] | None = None
        self.progress: Callable[[Iterable[Any], int | None], Iterable[Any]] | None = None
        self.tf = False
        self.weigh = False
        self.rebound: dict[int, Binding] = {}
        self.bodies: dict[int, Body] = {}
        self.looping = 0
        self.prune_at = PRUNE_AT
        self.scope: dict[str, Any] = {}
        if log:
            from gradcli.lang.running.log import Log

            self.run.log = Log(self.scope, self.run.functions)
        # Emitted derivatives grow by orders; a step of the program makes an entry at most.
        self.run.record.max_entries = max_steps // 4
        self.nested = 0
        self.at: Instruction = (0, None, 0, 0)
        for name, value in inputs.items():
            self.bind(name, leaf(value), (0, 0), "input")

    def bind(self, name: str, value: Any, span: Span, kind: str,
             declaration: Declaration | None = None, local: dict[str, Any] | None = None) -> None:
        """Bind a name to a value; in a function it is one of the function's own.

        span: of the name.
        kind: as in `Binding`.
        local: the function's names; None outside of functions.
        """
        if local is not None:
            local[name] = value
            if self.run.log is not None:
                self.run.log.bound(name, value, span, kind)
            return
        self.scope[name] = value
        # A variable stands in the history with the state that it began with.
        seen = value.origin() if type(value) is Variable else value
        self.run.bound(name, seen, span, kind, declaration)

    def blame(self, problem: GradcliError, at: Instruction, args: Sequence[Any] = (),
              named: Mapping[str, Any] | None = None) -> None:
        """Set the span of an error of an instruction to the part that it is about, if it names one;
        the error of another instruction that ran inside of this one gets none.
        """
        if problem.about is not None and at is self.at:
            from gradcli.lang.blame import locate

            locate(self.source, problem, at, args, named)

    def call(self, function: Function, args: Sequence[Any], around: Mapping[str, Any] | None = None
             ) -> Any:
        """Return the value of a function of the file, from inside an operation. around: the names
        of the function that it stands in.
        """
        return self.call_in(function, {**(around or {}),
                                       **dict(zip(function.parameters, args, strict=True))})

    def call_in(self, function: Function, local: dict[str, Any]) -> Any:
        """Run a function with its arguments and surroundings in `local`, which gets its names."""
        self.nested += 1
        if self.run.log is not None:
            self.run.log.call(function, self.at[2:], local)
        if self.nested > MAX_NESTED:
            raise too_deep(function.name, MAX_NESTED)
        record = records.current()
        at, place = self.at, record.place
        found = self.machine(self, function.code, local)
        self.nested -= 1
        self.at, record.place = at, place
        return found

    def function(self, name: str, local: dict[str, Any] | None) -> Function | None:
        """Return the function of the file that a call means: one of the enclosing `def` first."""
        if local is not None:
            # Brackets keep the functions of a scope apart from its values.
            found: Function | None = local.get(name + "()")
            if found is not None:
                return found
        return self.run.functions.get(name)

    def bind_counter(self, name: str, value: Any, span: Span, local: dict[str, Any] | None) -> None:
        """Bind the variable of a loop to a plain value."""
        if local is not None:
            local[name] = value if type(value) is int else self.local_value(value)
            if self.run.log is not None:
                self.run.log.bound(name, local[name], span)
            return
        tensor = value if isinstance(value, Tensor) or not is_number(value) else leaf(value)
        self.scope[name] = value if type(value) is int else tensor
        self.run.bound(name, tensor, span, "computed")
        # What a loop counts with is not what a file is about.
        self.run.last = self.run.last or name

    def local_value(self, value: Any) -> Any:
        """Return the value that a name of a function gets: numbers become tensors there, too."""
        return leaf(value) if is_number(value) and not isinstance(value, Tensor) else value

    def prune(self, stack: Sequence[Any], frames: Sequence[tuple[Any, ...]],
              local: dict[str, Any] | None) -> None:
        """Drop the entries of the record on which no live value depends."""
        from gradcli.engine.record.pruning import prune

        live = [stack, self.scope, local, [frame[2] for frame in frames],
                [b.value for bindings in self.run.bindings.values() for b in bindings],
                list(self.run.results.values()),
                [known[1] for known in records.current().stacked.values()]]
        kept = prune(records.current(), live)
        self.prune_at = max(PRUNE_AT, 2 * kept)

    def count(self, steps: int) -> None:
        """Add to the steps taken. Raises E0401 where they exceed the budget."""
        self.run.steps += steps
        if self.run.steps > self.max_steps:
            raise error("E0401", f"the program takes more than {self.max_steps:,} steps",
                        help="raise the budget with --max-steps")

    def bind_value(self, name: str, value: Any, span: Span, local: dict[str, Any] | None) -> None:
        """Bind `y = e`: a plain number becomes a tensor, so that it can be a source."""
        if local is not None:
            local[name] = self.local_value(value)
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


def too_deep(name: str, limit: int) -> GradcliError:
    """Return E0402 for a function that calls itself without end."""
    return error("E0402", f"`{name}` calls itself more than {limit:,} times",
                 help="check the condition that ends the recursion")
