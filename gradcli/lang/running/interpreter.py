"""Runs a program on a record: its statements, the names that they bind, its functions, its budget.

A statement that fails poisons the names it would have bound; statements that read a poisoned name
are skipped in silence, so that independent errors are reported together. Lines of a long file that
only calculate with numbers are run together (`lang.running.lines`), and so are turns of a loop that
does nothing else (`lang.running.loops`); everything else runs in `lang.running.machine`.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.base.lazy import quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.calls import MissingGradient, MissingGradients, NoGradient
from gradcli.lang.running.machine import POISON, Poisoned, run_code, too_deep
from gradcli.lang.running.run import Run, is_number
from gradcli.lang.running.verbs import VERBS
from gradcli.lang.syntax import code as c
from gradcli.ops import PUBLIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.lang.running.lines import Waiting
    from gradcli.lang.running.loops import Body
    from gradcli.lang.running.run import Binding, Printed
    from gradcli.lang.syntax.code import Code, Declaration, Function, Instruction, Statement

CONSTANTS = {
    "pi": 3.141592653589793, "e": 2.718281828459045, "tau": 6.283185307179586,
    "inf": float("inf"), "nan": float("nan"),
}
MAX_STEPS = 10_000_000
# f'(x) runs f inside the derivative: each level costs some Python frames.
MAX_NESTED = 40
# A record of everything is pruned in loops when it has grown beyond so many entries.
PRUNE_AT = 100_000


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
            from gradcli.lang.running.log import Log

            self.run.log = Log()
        # Emitted derivatives grow by orders; a step of the program makes an entry at most.
        self.run.record.max_entries = max_steps // 4
        self.scope: dict[str, Any] = {}
        self.nested = 0
        self.at: Instruction = (0, None, 0, 0)
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
                    run_code(self, statement.code, None)
                except Poisoned:
                    self._poison(statement.names)
                except GradcliError as problem:
                    found.extend(self._placed(problem))
                    self._poison(statement.names)
                    self.output = _nowhere
                    if problem.code in ("E0401", "E0402"):
                        break
        if self.missing:
            told = MissingGradients(*found)
            told.missing = self.missing
            raise told
        if found:
            raise GradcliError(*found)
        return self.run

    def _poison(self, names: Sequence[str]) -> None:
        for name in names:
            self.scope[name] = POISON

    def _placed(self, problem: GradcliError) -> Sequence[Diagnostic]:
        """The diagnostics of an error, with the place of what it is about: a part of the current
        instruction, or all of it.
        """
        self.blame(problem, self.at)
        for d in problem.diagnostics:
            if d.span is None:
                d.span = self.at[2:]
            if d.source is None:
                d.source = self.source
        if isinstance(problem, MissingGradient):
            self.missing.append((problem.diagnostics[0], problem.missing))
        return problem.diagnostics

    def blame(self, problem: GradcliError, at: Instruction, args: Sequence[Any] = (),
              named: Mapping[str, Any] | None = None) -> None:
        """Give an error of an instruction the place of what it is about, if it says so; none to one
        of another instruction that ran inside of this one.
        """
        if problem.about is not None and at is self.at:
            from gradcli.lang.blame import place

            place(self.source, problem, at, args, named)

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
            raise too_deep(function.name, MAX_NESTED)
        record = records.current()
        at, place = self.at, record.place
        found = run_code(self, function.code, local)
        self.nested -= 1
        self.at, record.place = at, place
        return found

    def call_custom(self, function: Function, args: dict[str, Any],
                    around: Mapping[str, Any] | None) -> Any:
        """A call of a function with @custom_gradient."""
        from gradcli.lang.running.rules import custom_call

        with quiet():
            return custom_call(self, function, args, around)

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
        """What a name of a function holds: numbers are tensors there, too."""
        return leaf(value) if is_number(value) and not isinstance(value, Tensor) else value

    def prune(self, stack: Sequence[Any], frames: Sequence[tuple[Any, ...]],
              local: dict[str, Any] | None) -> None:
        """Let go of the entries that no live value goes back to."""
        from gradcli.engine.record.pruning import prune

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

    def unbound(self, name: str, local: dict[str, Any] | None) -> Any:
        """A name without a binding: a constant. Raises E0202 or E0205 for any other."""
        if name in CONSTANTS:
            return CONSTANTS[name]
        ours = self.function(name, local) is not None
        if ours or name in PUBLIC:
            what = "a function of this file" if ours else "an operation"
            raise error("E0205", f"`{name}` is {what}, not a value", help=f"call it: {name}(x)")
        if name in VERBS:
            raise error("E0205", f"`{name}` has no value of its own", help=f"call it: {name}(...)")
        raise error("E0202", f"`{name}` has no value here", help="bind it on a line above")

    def bind_value(self, name: str, value: Any, span: Span, local: dict[str, Any] | None) -> None:
        """`y = e`: a plain number becomes a tensor of its own, so that it can be a source."""
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


def _goes_on(code: Code) -> bool:
    """Whether there is a loop."""
    return any(ins[0] == c.ITERATE or (ins[0] == c.JUMP and ins[1] < 0) for ins in code)


def _nowhere(printed: Printed) -> None:
    """Where the output of a program goes that has failed."""
