"""A program while it runs and what it leaves behind: the results, and the targets of questions."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.engine.record import record as records
from gradcli.engine.record.record import Record, fresh_id
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.calls import NoGradient, as_tensor, is_number
from gradcli.lang.syntax.code import CONSTANTS
from gradcli.ops import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypedDict

    from gradcli.base.errors import Source, Span
    from gradcli.lang.running.log import Log
    from gradcli.lang.running.lowering import Body
    from gradcli.lang.running.tapes import FileTape
    from gradcli.lang.syntax.code import Code, Declaration, Function, Instruction
    from gradcli.ops.kinds import Op

    class Options(TypedDict, total=False):
        """The options of a run. max_steps: the budget of steps. max_bytes: what one array may take,
        by default half of the machine. tf: None where TensorFlow says None.
        """

        max_steps: int
        max_bytes: float | None
        tf: bool

# A name that is bound in many places keeps the first binding and so many of the newest places.
MAX_BINDINGS = 100
# Values that get further names keep so many of these in all.
MAX_MORE = 10_000


class Binding:
    """One binding of a name: the value, its span and its kind.

    kind: "variable", "nontrainable", "constant", "input", "literal" (a plain `x = 3.0`) or
        "computed"; "tape" and "accumulator" are no values. declaration: for declared names.
    """

    __slots__ = ("declaration", "kind", "name", "span", "value")

    def __init__(self, name: str, value: Any, span: Span, kind: str,
                 declaration: Declaration | None = None) -> None:
        self.name = name
        self.value = value
        self.span = span
        self.kind = kind
        self.declaration = declaration


class Printed:
    """One `print` that was executed: its span and values. doubtful: a gradient in them is (see
    `Run`).
    """

    __slots__ = ("doubtful", "span", "values")

    def __init__(self, span: Span, values: list[Any], doubtful: bool = False) -> None:
        self.span = span
        self.values = values
        self.doubtful = doubtful


class Expect:
    """One `expect` that was executed. right: None where a truth value was expected."""

    __slots__ = ("holds", "left", "right", "span")

    def __init__(self, span: Span, holds: bool, left: Any, right: Any) -> None:
        self.span = span
        self.holds = holds
        self.left = left
        self.right = right


class Run:
    """The results of a run.

    record: the record of the run.
    bindings: name to its bindings in order; inputs and variables included.
    results: span to the value of each expression that stood alone, in order.
    functions: those of the file.
    defined: their spans.
    registered: operations with a gradient from the file.
    tapes: name to the newest tape of that name, in the order in which they closed.
    variables: name to the newest variable.
    prints, expects: those executed.
    notes: (code, message, span).
    last: the name bound last, or None if an expression came last.
    watched: id of a value that `watch(x)` names to an id from the first time and its location.
    on_tape: ids of the values that a tape of the file recorded; None where one tape covers the
        whole file.
    asked_tape: that tape.
    held: on request, the statistics of each tape at its end.
    asked: the number of questions that the file has asked.
    summed: id of a gradient of several elements together to their number and the span of the
        question.
    doubtful: ids of gradients that may be numbers only because zeros absorbed, or whose target is
        not finite.
    log: on request, the notes for explanations.
    named: with a log, id of a value to the binding that gave it a name first.
    more: further names of values, as (name, id, span, kind, time).
    kept: what was found out about the run for one explanation, for the next one.
    options: the options it was run with.
    """

    __slots__ = (
        "asked", "asked_tape", "bindings", "defined", "doubtful", "expects", "functions", "held",
        "kept", "last", "log", "more", "named", "notes", "on_tape", "options", "prints", "record",
        "registered", "results", "steps", "summed", "tapes", "variables", "watched")

    def __init__(self, everything: bool = True) -> None:
        self.record = Record(everything)
        self.options: Options = {}
        self.bindings: dict[str, list[Binding]] = {}
        self.results: dict[Span, Any] = {}
        self.functions: dict[str, Function] = {}
        self.defined: dict[str, Span] = {}
        self.registered: dict[str, Op] = {}
        self.tapes: dict[str, FileTape] = {}
        self.variables: dict[str, Variable] = {}
        self.prints: list[Printed] = []
        self.expects: list[Expect] = []
        self.notes: list[tuple[str, str, Span]] = []
        self.last: str | None = None
        self.steps = 0
        self.asked = 0
        self.log: Log | None = None
        self.named: dict[int, Binding] = {}
        self.more: list[tuple[str, int, Span, str, int]] = []
        self.watched: dict[int, tuple[int, Any]] = {}
        self.on_tape: set[int] | None = None
        self.asked_tape: FileTape | None = None
        self.held: dict[str, dict[str, int]] = {}
        self.summed: dict[int, tuple[int, Span]] = {}
        self.doubtful: set[int] = set()
        self.kept: dict[Any, dict[Any, Any]] = {}

    def cache(self, about: Any) -> dict[Any, Any]:
        """Return the cache of results about something: a target, or a name for it."""
        return self.kept.setdefault(about, {})

    def tape(self) -> FileTape | None:
        """Return the tape of the file that is asked from outside, by default the last to close."""
        return self.asked_tape or next(reversed(self.tapes.values()), None)

    def name_of(self, value: Any) -> str | None:
        """Return the name bound to a value at the end, of several the newest; None without one."""
        id = getattr(value, "id", None)
        return None if id is None else next((
            name for name, bindings in reversed(self.bindings.items())
            if getattr(bindings[-1].value, "id", None) == id), None)

    def assigned(self, binding: Binding) -> bool:
        """Return whether a variable has had another value than its first."""
        variable = self.variables.get(binding.name)
        return variable is not None and variable.id != binding.value.id and (
            variable.origin() is binding.value)

    def shadows(self) -> list[tuple[str, str, Span]]:
        """Return notes on functions of the file that hide operations."""
        return [("shadowed-operation", f"`{name}` is a function of this file, not the operation",
                 span) for name, span in self.defined.items() if lookup(name) is not None]

    def add_result(self, value: Any, span: Span) -> None:
        """Add the value of an expression that stood alone; in a loop the newest value counts."""
        self.results.pop(span, None)
        self.results[span] = value
        self.last = None

    def bound(self, name: str, value: Any, span: Span, kind: str,
              declaration: Declaration | None = None) -> None:
        """Note that a name was bound. Of bindings at one span, as in a loop, the newest value
        counts, but the very first binding stays.
        """
        if self.log is not None and getattr(value, "id", None) is not None:
            given = Binding(name, value, span, kind, declaration)
            if self.named.setdefault(value.id, given) is not given and len(self.more) < MAX_MORE:
                self.more.append((name, value.id, span, kind, fresh_id()))
        bindings = self.bindings.get(name)
        if bindings is None:
            self.bindings[name] = [Binding(name, value, span, kind, declaration)]
            return
        last = bindings[-1]
        if last.span == span and len(bindings) > 1:
            last.value = value
            last.kind = kind
            return
        for old in bindings[1:]:
            if old.span == span:
                bindings.remove(old)
                break
        if len(bindings) > MAX_BINDINGS:
            del bindings[1]
        bindings.append(Binding(name, value, span, kind, declaration))


# --------------------------------------------------------------------------------------------------
# Targets of questions, as tensors.

class Target:
    """The target of a derivative: its name, its tensor (or a list to be summed), its span."""

    __slots__ = ("name", "source", "span", "tensor")

    def __init__(self, name: str, tensor: Any, span: Span, source: Source | None = None) -> None:
        self.name = name
        self.tensor = tensor
        self.span = span
        self.source = source


def of_tape(run: Run, unnamed: str, source: Source) -> Target | None:
    """Return the targets of the first question to the file's tape; None where it was not asked, or
    where an expression that stands alone was computed later.

    unnamed: the name for targets without one.
    """
    tape = run.tape()
    if tape is None or not tape.asked:
        return None
    last: Any = [*run.results.values()][-1] if run.results else None
    id = getattr(last, "id", None)
    if id is not None and id < tape.asked_at:
        return None
    asked: Any = list(tape.asked) if len(tape.asked) > 1 else tape.asked[0]
    names = [run.name_of(tensor) for tensor in tape.asked]
    if None in names:
        return Target(unnamed, asked, tape.used_at or tape.span, source)
    return Target(",".join(map(str, names)), asked, run.bindings[str(names[-1])][-1].span, source)


def tensor_of(target: Target) -> Tensor:
    """Return the target as one tensor: a list is stacked, a plain number becomes a leaf.

    Raises E0309 for a gradient that is None, E0310 for a text or a dictionary.
    """
    value = target.tensor
    if isinstance(value, NoGradient):
        raise GradcliError(Diagnostic(
            "E0309", f"`{target.name}` is a gradient that is None", span=target.span,
            source=target.source, help="`gradcli eval` tells why it is None"))
    if isinstance(value, (str, dict)) or value is None:
        raise GradcliError(Diagnostic(
            "E0310", f"`{target.name}` is not a tensor to differentiate", span=target.span,
            source=target.source, help="name a number or a tensor with --of"))
    try:
        value = as_tensor(value)
    except GradcliError as problem:
        for d in problem.diagnostics:
            d.span, d.source = d.span or target.span, d.source or target.source
        raise
    return value.read() if isinstance(value, Tensor) else leaf(value)


def parts(target: Target) -> list[Tensor]:
    """Return the tensors whose elements a gradient sums: of a list, its items, which need no
    stacking and may differ in shape.
    """
    if isinstance(target.tensor, list) and target.tensor:
        return [
            t for item in target.tensor
            for t in parts(Target(target.name, item, target.span, target.source))]
    return [tensor_of(target)]


# --------------------------------------------------------------------------------------------------
# A program while it runs.

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
        from gradcli.engine.record.recording import prune

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
