"""The results of a run, values that are no tensors, and the targets of questions."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.engine.record.record import Record, fresh_id
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.lang.running.calls import (
    NoGradient,
    as_tensor,
)
from gradcli.ops import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.variable import Variable
    from gradcli.lang.running.log import Log
    from gradcli.lang.running.tapes import FileTape
    from gradcli.lang.syntax.code import Declaration, Function
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

    def keeps(self, about: Any) -> dict[Any, Any]:
        """Return what is kept about something: a target, or a name for it."""
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
