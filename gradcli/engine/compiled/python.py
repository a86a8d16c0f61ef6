"""A recorded program over numbers as flat Python statements, for points that come one by one.

What ran, derivatives included, is a list of entries; here it becomes a function of the inputs that
computes on floats what the entries computed, in the same order and to the same bits. What no answer
needs is dropped, what is calculated twice is shared, and what is used once stands in the expression
that uses it.

Measured (1,000 to 80,000 operations, value and gradient): 0.08 us an operation, where the program
itself takes 0.25 to 5; writing and compiling take 35, recording 15. One function of any number of
short statements compiles in a time proportional to it, and runs a quarter faster than functions of
500 statements each, which have to hand on their values.
"""

from __future__ import annotations

from math import hypot

from gradcli.base.lazy import quiet
from gradcli.engine.compiled.loops import Symbol, call_text, number_text
from gradcli.engine.compiled.trace import Doubtful, Elsewhere, Unrecorded
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES
from gradcli.engine.sweeps.extremes import FAINT, LARGE, SMALL, are_extreme
from gradcli.ops.graph import Graph
from gradcli.ops.table.elementwise import add, multiply, positive
from gradcli.ops.values import SCALAR_TYPES, is_integer, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from gradcli.engine.compiled.trace import Trace
    from gradcli.engine.record.record import Entry
    from gradcli.ops.kinds import Op

    # The number of a value, or the text of a constant.
    Operand: TypeAlias = int | str

# Operations in an expression.
NESTED = 6


def is_scalar(recorded: Trace) -> bool:
    """Return whether all inputs, answers and operands of a trace are Python numbers."""
    return all(type(v) is float for v in recorded.inputs.values()) and all(
        v is None or type(v) in SCALAR_TYPES for _, v in recorded.answers) and all(
        type(v) in SCALAR_TYPES for e in recorded.steps for v in (e[ANS], *e[VALUES]))


def written(recorded: Trace) -> tuple[Writer, list[Operand]]:
    """Return the statements that calculate the answers from the inputs, floats in order, and the
    answers: their function raises Elsewhere, Doubtful, or what Python's arithmetic raises at an
    edge (`kinds.EDGE`).

    Raises Unrecorded where constants are very large or very small.
    """
    writer = Writer(len(recorded.inputs))
    if are_extreme([v for e in recorded.steps for i, v in zip(e[IDS], e[VALUES], strict=True)
                    if type(v) is float and i is None]):
        # Slopes may leave the range of floats at any point.
        raise Unrecorded
    known: dict[int | None, Operand] = {i: k for k, i in enumerate(recorded.inputs)}
    for entry in recorded.steps:
        known[entry[OUT]] = writer.operand(entry, known)
        if entry[OP].steep is not None:
            writer.check_divisor(known.get(entry[IDS][entry[OP].steep]))
    for i, value in recorded.guards:
        if i in known:
            writer.check(known[i], ELSEWHERE, writer.constant(value))
    derivatives = set(recorded.derivatives)
    for i in recorded.derivatives:
        if i in known:
            writer.check(known[i], NOT_A_NUMBER)
    vanishing = [known[e[OUT]] for e in recorded.steps if "vanishing" in e[OP].traits]
    for answer, _ in recorded.answers:
        if answer in known and answer in derivatives:
            writer.check_vanishing(known[answer], vanishing)
    for i in recorded.fragile():
        if i in known:
            writer.keep(known[i])
    return writer, [
        known[i] if i in known else writer.constant(value) for i, value in recorded.answers]


class Formal(Symbol):
    """A symbol that no formula can compare with anything."""

    __slots__ = ()

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Any) -> Any:
        found = super().__gradcli_apply__(op, args, attributes)
        return Formal(found.text, found.reads, found.names)

    def __eq__(self, other: object) -> bool:
        raise TypeError("a symbol has no value")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None  # type: ignore[assignment]


class Formula:
    """A value: its text with {0}, {1}, ... for the operands. function: of floats, that makes it;
    None where it is another one.
    """

    __slots__ = ("function", "operands", "template")

    def __init__(self, template: str, operands: Sequence[Operand],
                 function: Callable[..., Any] | None) -> None:
        self.template = template
        self.operands = operands
        self.function = function


# What must not hold of a value v, and what is raised then. {0}, {1}, ... are other operands.
ELSEWHERE, NOT_A_NUMBER, TINY, LOST = "elsewhere", "not a number", "tiny", "lost"


class Writer(Graph):
    """Values by number: the inputs first, then the formulas in order.

    checks: number of a value to what is checked of it, (what, other operands). names: what the text
    calls. templates: of operations. growing: numbers of values that may be very large if no operand
    is; named: the variables of those that have one.
    """

    __slots__ = ("checks", "first", "formulas", "growing", "named", "names", "templates")

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs)
        self.first = inputs
        self.formulas: list[Formula] = []
        self.templates: dict[Op, str] = {}
        self.checks: dict[int, list[tuple[str, tuple[Operand, ...]]]] = {}
        self.growing: set[int] = set()
        self.named: list[str] = []
        self.names: dict[str, Any] = {
            "Elsewhere": Elsewhere, "Doubtful": Doubtful, "hypot": hypot}

    # --- values -------------------------------------------------------------------------------

    def constant(self, value: Any) -> str:
        """Return the text of a value that is the same at all points."""
        if type(value) is float:
            return number_text(value)
        if type(value) in SCALAR_TYPES or value is None:
            return f"({value!r})"
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def value(self, constant: str) -> Any:
        """Return the value of the text of a constant."""
        return eval(constant, self.names)

    def operand(self, entry: Entry, known: dict[int | None, Operand]) -> Operand:
        """Return the operand that an entry computes: a new value, or the number of an equal one."""
        op: Op = entry[OP]
        operands = [known[i] if i in known else self.constant(v)
                    for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        if op is multiply and "1.0" in operands:
            operands.remove("1.0")
            return operands[0]
        if op is positive:
            return operands[0]
        if op is multiply or op is add:
            operands.sort(key=str)
        attributes = entry[ATTRIBUTES]
        key = op.name, repr(attributes) if attributes else "", *operands
        number = self.known.get(key)
        if number is None:
            template = self._template(entry)
            number = self.node(key, tuple([
                o for n, o in enumerate(operands) if isinstance(o, int)
                for _ in range(template.count(f"{{{n}}}"))]))
            self.formulas.append(Formula(
                template, operands, None if _is_whole(entry) else op.floats))
            # Products make very large numbers of moderate ones in long chains only.
            if type(entry[ANS]) is float and "bounded" not in op.traits and op.name not in (
                    "multiply", "square"):
                self.growing.add(number)
        return number

    def _template(self, entry: Entry) -> str:
        """Return the text of an operation with places for its operands."""
        op: Op = entry[OP]
        places = [f"{{{k}}}" for k in range(len(entry[VALUES]))]
        if _is_whole(entry):
            name = f"c{len(self.names)}"
            self.names[name] = _whole(entry)
            return f"{name}({', '.join(places)})"
        if op not in self.templates:
            self.templates[op] = self._written(op, places)
        return self.templates[op]

    def _written(self, op: Op, places: Sequence[str]) -> str:
        """Return the formula of an operation, or a call of one that looks at its values."""
        if hasattr(op.floats, "__code__"):
            symbols = [Formal(p, frozenset((p,)), self.names) for p in places]
            try:
                found = op.floats(*symbols)  # type: ignore[misc]
                if isinstance(found, Symbol) and found.text not in places:
                    return found.text[1:-1]
            except (TypeError, AttributeError):
                pass
        return call_text(op, places, self.names)

    def keep(self, value: Operand) -> None:
        """Calculate a value even if nobody reads it."""
        if isinstance(value, int):
            self.checks.setdefault(value, [])

    def check(self, value: Operand, what: str, *others: Operand) -> None:
        """Note that something must not hold of a value (see `ELSEWHERE` and others)."""
        if isinstance(value, int):
            found = self.checks.setdefault(value, [])
            if (what, others) not in found:
                found.append((what, others))

    def check_divisor(self, value: Operand | None) -> None:
        """Add the check that a divisor is not very small, since the quotient is in doubt there."""
        if isinstance(value, int) and value >= self.first:
            self.check(value, TINY)

    def check_vanishing(self, value: Operand, vanishing: Iterable[Operand]) -> None:
        """Add the check of a derivative that is next to nothing while a value before it is, too:
        something larger may have been lost.
        """
        before = [v for v in vanishing if isinstance(v, int) and self.first <= v < value] if (
            isinstance(value, int)) else []
        for v in before:
            self.keep(v)
        if before:
            self.check(value, LOST, *before)

    # --- text ---------------------------------------------------------------------------------

    def function(self, answers: Sequence[Operand]) -> Callable[..., tuple[Any, ...]]:
        """Return the function that is made of all that was written."""
        inputs = ", ".join(f"v{k}" for k in range(self.first))
        returned = "".join(f"v{a}, " if isinstance(a, int) else f"{a}, " for a in answers)
        lines = list(self._lines([a for a in answers if isinstance(a, int)]))
        # Where values are so large or small, slopes may leave the range of floats.
        if self.named:
            lines.append(f" if not hypot({', '.join(self.named)}) < {LARGE}: raise Doubtful")
            lines[:0] = [_not_small(k) for k in range(self.first)]
        exec("\n".join([f"def run({inputs}):", *lines, f" return ({returned})"]), self.names)
        made: Callable[..., tuple[Any, ...]] = self.names["run"]
        return made

    def _lines(self, answers: Iterable[int]) -> Iterator[str]:
        """Yield the lines of the statements, each with its checks behind it."""
        # What is answered or checked is not part of an expression.
        uses = self.uses((*answers, *self.checks) * 2, lambda k, n: True)
        for number in range(self.first):
            yield from self._checked(number)
        # Of values that stand in an expression the text, and how many operations it holds.
        inside: dict[int, tuple[str, int]] = {}
        for number, formula in enumerate(self.formulas, self.first):
            if not uses[number]:
                continue
            texts, size = [], 1
            for o in formula.operands:
                if isinstance(o, int) and o in inside:
                    o, more = inside.pop(o)
                    size += more
                texts.append(_text(o))
            text = formula.template.format(*texts)
            if uses[number] == 1 and size < NESTED:
                inside[number] = f"({text})", size
            else:
                if number in self.growing:
                    self.named.append(f"v{number}")
                yield f" v{number} = {text}"
                yield from self._checked(number)

    def _checked(self, number: int) -> Iterator[str]:
        """Yield the lines of the checks of a value."""
        for what, others in self.checks.get(number, ()):
            if what is TINY:
                yield _not_small(number)
            elif what is NOT_A_NUMBER:
                yield f" if v{number} != v{number}: raise Doubtful"
            elif what is ELSEWHERE:
                yield f" if v{number} != {_text(others[0])}: raise Elsewhere"
            else:
                small = " or ".join([f"{-SMALL} < {_text(o)} < {SMALL}" for o in others])
                yield f" if {-FAINT} < v{number} < {FAINT} and ({small}): raise Doubtful"


def _text(operand: Operand) -> str:
    return f"v{operand}" if isinstance(operand, int) else operand


def _not_small(number: int) -> str:
    return f" if {-SMALL} < v{number} < {SMALL} and v{number}: raise Doubtful"


def _is_whole(entry: Entry) -> bool:
    """Return whether an operation is called as a whole, since it is no formula of floats."""
    return not entry[OP].elementwise or type(entry[ANS]) is int or (
        int in map(type, entry[VALUES]))


def _whole(entry: Entry) -> Callable[..., Any]:
    """Return the function of an operation that is not a formula of floats, as it is called on the
    record.
    """
    op: Op = entry[OP]
    attributes = dict(entry[ATTRIBUTES])
    if op.elementwise:
        return lambda *values: op.on_scalars(values)
    cores = [0] * len(entry[VALUES])
    if is_integer(entry[ANS]):
        return lambda *values: op.compute(values, attributes, cores)

    def function(*values: Any) -> Any:
        assert op.arrays is not None
        with quiet():
            return plain(op.arrays(cores, *values, **attributes))

    return function
