"""What a program leaves behind when it has run."""

from __future__ import annotations

from gradcli.tape.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.code import Declaration, Function


class Binding:
    """One binding of a name: the value, where it happened and what kind it is.

    kind: "variable", "nontrainable", "constant", "input", "literal" (a plain `x = 3.0`) or
    "computed". declaration: for declared names.
    """

    __slots__ = ("declaration", "kind", "name", "span", "value")

    def __init__(self, name: str, value: Any, span: Span, kind: str,
                 declaration: Declaration | None = None) -> None:
        self.name = name
        self.value = value
        self.span = span
        self.kind = kind
        self.declaration = declaration


class Run:
    """What a program left behind.

    record: what ran. bindings: name to its bindings in order; inputs and variables included.
    results: (value, span) of each expression that stood alone. functions: those of the file.
    notes: (code, message, span). last: the name bound last, or None if an expression came last.
    branches: on request, per condition its (span, value, tensors named where it did not run).
    started: (tensor, variable, span) of variables that took their first value from a tensor.
    """

    __slots__ = ("bindings", "branches", "functions", "last", "notes", "record", "results",
                 "started", "steps")

    def __init__(self) -> None:
        self.record = Record()
        self.bindings: dict[str, list[Binding]] = {}
        self.results: list[tuple[Any, Span]] = []
        self.functions: dict[str, Function] = {}
        self.notes: list[tuple[str, str, Span]] = []
        self.last: str | None = None
        self.steps = 0
        self.branches: list[tuple[Span, Any, list[Any]]] | None = None
        self.started: list[tuple[Any, Any, Span]] = []
