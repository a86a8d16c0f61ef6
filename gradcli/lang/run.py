"""What a program leaves behind when it has run."""

from __future__ import annotations

from gradcli.ops import lookup
from gradcli.tape.record import Record
from gradcli.tape.tensor import leaf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.code import Declaration, Function
    from gradcli.lang.file_tape import FileTape
    from gradcli.lang.log import Log
    from gradcli.ops.kinds import Op
    from gradcli.tape.tensor import Tensor
    from gradcli.tape.variable import Variable

# A name that is bound in many places keeps the first binding and so many of the newest places.
MAX_BINDINGS = 100


class Binding:
    """One binding of a name: the value, where it happened and what kind it is.

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
    """One `print` that was executed: its place, what it was given, and whether a gradient in that
    is doubtful (see Run).
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
    """What a program left behind.

    record: what ran. bindings: name to its bindings in order; inputs and variables included.
    results: place to the value of each expression that stood alone, in order. functions: those
    of the file; defined: their places. registered: operations with a gradient from the file.
    tapes: name to the newest tape of that name, in the order in which they closed. variables:
    name to the newest variable. prints, expects: those executed. notes: (code, message, span).
    last: the name bound last, or None if an expression came last. watched: ids of what
    `watch(x)` names to an id from when, and the place where, it first did. on_tape: ids of what a
    tape of the file saw, asked_tape: that one; None where one tape covers the whole file. held: on
    request, what each tape held at its end. asked: how many questions the file has asked. summed:
    id of a gradient of several elements together to their number and where it was asked. doubtful:
    ids of gradients that may be numbers only because zeros absorbed, or whose target is none. log:
    on request, what explanations need.
    """

    __slots__ = (
        "asked", "asked_tape", "bindings", "defined", "doubtful", "expects", "functions", "held",
        "last", "log", "notes", "on_tape", "prints", "record", "registered", "results", "steps",
        "summed", "tapes", "variables", "watched")

    def __init__(self, everything: bool = True) -> None:
        self.record = Record(everything)
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
        self.watched: dict[int, tuple[int, Any]] = {}
        self.on_tape: set[int] | None = None
        self.asked_tape: FileTape | None = None
        self.held: dict[str, dict[str, int]] = {}
        self.summed: dict[int, tuple[int, Span]] = {}
        self.doubtful: set[int] = set()

    def tape(self) -> FileTape | None:
        """The tape of the file that is asked from outside, by default the last to close."""
        return self.asked_tape or next(reversed(self.tapes.values()), None)

    def name_of(self, value: Any) -> str | None:
        """The name of the file that means a value in the end, of several the newest."""
        id = getattr(value, "id", None)
        return None if id is None else next((
            name for name, bindings in reversed(self.bindings.items())
            if getattr(bindings[-1].value, "id", None) == id), None)

    def source(self, binding: Binding) -> Tensor:
        """What is differentiated with respect to: of a const, a value that nothing reaches."""
        tensor: Tensor = binding.value
        if self.on_tape is not None:
            return tensor if tensor.id in self.on_tape else leaf(tensor.value)
        return leaf(tensor.value) if binding.kind in ("constant", "nontrainable") else tensor

    def assigned(self, binding: Binding) -> bool:
        """Whether a variable has had another value than its first."""
        variable = self.variables.get(binding.name)
        return variable is not None and variable.id != binding.value.id and (
            variable.origin() is binding.value)

    def shadows(self) -> list[tuple[str, str, Span]]:
        """Notes on functions of the file that hide operations."""
        return [("shadowed-operation", f"`{name}` is a function of this file, not the operation",
                 span) for name, span in self.defined.items() if lookup(name) is not None]

    def add_result(self, value: Any, span: Span) -> None:
        """An expression stood alone; in a loop the newest value counts."""
        self.results.pop(span, None)
        self.results[span] = value
        self.last = None

    def bound(self, name: str, value: Any, span: Span, kind: str,
              declaration: Declaration | None = None) -> None:
        """A name was bound. Bound again in the same place, as in a loop, the newest value counts,
        but for the very first.
        """
        if self.log is not None and getattr(value, "id", None) is not None:
            self.log.name(value.id, Binding(name, value, span, kind, declaration))
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
