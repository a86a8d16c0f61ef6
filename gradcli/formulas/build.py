"""From entries of a record to terms, and back: terms run on a record, to be differentiated."""

from __future__ import annotations

from collections import Counter, deque
from fractions import Fraction

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.engine import calculus
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    Record,
    ancestry,
)
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.tapes.custom import CustomOp
from gradcli.formulas import arrays
from gradcli.formulas.terms import ARRAY, MINUS, NAME, NUMBER, ONE, PRODUCT, SUM, as_float
from gradcli.ops import TABLE
from gradcli.ops.table.shapes import index as indexed
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Number, Term

    Summands = deque[tuple[Term, Number]]

# More operations make no formula that anybody reads.
MAX_ENTRIES = 20_000


def terms_of(a: Algebra, entries: Sequence[Entry], known: dict[int, Term],
             wanted: Sequence[Tensor | None], rules: Collection[int] = (), *,
             written: bool = False) -> list[Term]:
    """Return the terms of some tensors. known: id to term, of the leaves; the results of entries
    are added. rules: ids of the results of derivative rules of the table. written: somebody wrote
    these operations, so the order of sums counts. Raises E0803 for more
    than MAX_ENTRIES operations, E0804 for values that have no formula.
    """
    ids = ancestry(entries, [t.id for t in wanted if t is not None],
                   lambda entry: () if entry[OUT] in known else _read(entry))
    mine = [e for e in entries if e[OUT] in ids and e[OUT] not in known]
    if len(mine) > MAX_ENTRIES:
        raise error("E0803", f"the formula would have {len(mine):,} operations",
                    help="ask for numbers: gradcli grad")
    inner = _inner_sums(mine, wanted)
    sums: dict[int, Summands] = {}
    total = a.written_sum if written else a.sum_of
    for entry in mine:
        try:
            made = _summed(a, entry, known, sums) if entry[OP].name in SUMS else None
            if made is not None and entry[OUT] in inner:
                sums[entry[OUT]] = made
            else:
                known[entry[OUT]] = total(made) if made is not None else _of_entry(
                    a, entry, known, entry[OUT] in rules)
        except GradcliError as problem:
            from gradcli.engine.record.record import span_of

            problem.diagnostics[0].span = problem.span or span_of(entry)
            raise
    return [_operand(a, None if t is None else t.id, None if t is None else t.value, known)
            for t in wanted]


def _read(entry: Entry) -> Iterable[int | None]:
    """Return the ids that an entry's value is made of: for a custom function, those of what it
    returned.
    """
    op = entry[OP]
    return op.inner if isinstance(op, CustomOp) else entry[IDS]


def _of_custom(a: Algebra, entry: Entry, known: Mapping[int, Term]) -> Term:
    """Return the term of a custom function's result: several values are one vector. Raises E0804
    where it returns several constant arrays whose sizes are unknown.
    """
    op: Any = entry[OP]
    shape = shape_of(entry[ANS])
    if len(op.inner) == 1:
        return known.get(op.inner[0]) or constant(a, entry[ANS])
    constants = [i for i in op.inner if i not in known]
    left = arrays.size(shape) - sum([arrays.size(known[i].shape) for i in op.inner if i in known])
    if len(constants) not in (1, left) and constants:
        raise error("E0804", f"`{op.name}` returns several constants, and has no formula",
                    help="return them from another function")
    flat: list[Term] = []
    start = 0
    for i in op.inner:
        n = arrays.size(known[i].shape) if i in known else left // len(constants)
        flat.append(arrays.call(a, TABLE["reshape"], [known[i]], {"shape": (n,)}, (n,))
                    if i in known else constant(a, entry[ANS][start:start + n]))
        start += n
    return a.table.call(TABLE["concat"], flat, {"axis": -1}, shape)


SUMS = {"add": ONE, "subtract": MINUS}
"""Operations that are sums of numbers, with the sign of their second operand."""


def _inner_sums(entries: Sequence[Entry], wanted: Sequence[Tensor | None]) -> set[int]:
    """Return the ids of sums that only one other sum reads: they need no terms of their own, whose
    number of parts would grow with the square of that of the summands.
    """
    uses = Counter([i for e in entries for i in _read(e)])
    uses.update([t.id for t in wanted if t is not None and t.id is not None])
    return {i for e in entries if _is_sum(e) for i in e[IDS] if i is not None and uses[i] == 1}


def _is_sum(entry: Entry) -> bool:
    return entry[OP] is TABLE.get(entry[OP].name) and entry[OP].name in SUMS and not (
        shape_of(entry[ANS]))


def _summed(a: Algebra, entry: Entry, known: Mapping[int, Term], sums: dict[int, Summands]
            ) -> Summands | None:
    """Return the summands of a sum of numbers; None for another operation."""
    if not _is_sum(entry):
        return None
    parts: list[Summands] = []
    for i, value, sign in zip(entry[IDS], entry[VALUES], (ONE, SUMS[entry[OP].name]), strict=True):
        found = sums.pop(i) if i in sums else deque([
            _scaled_term(a, _operand(a, i, value, known))])
        parts.append(found if sign == ONE else deque([(t, -c) for t, c in found]))
    first, second = parts
    if len(first) < len(second):
        second.extendleft(reversed(first))
        return second
    first.extend(second)
    return first


def _scaled_term(a: Algebra, term: Term) -> tuple[Term, Number]:
    coefficient, rest = a.split(term)
    return (term, ONE) if rest is None else (rest, coefficient)


def _operand(a: Algebra, id: int | None, value: Any, known: Mapping[int, Term]) -> Term:
    if id is not None and id in known:
        return known[id]
    return constant(a, value)


def constant(a: Algebra, value: Any) -> Term:
    """Return a plain value as a term. Raises E0804 for a text."""
    if type(value) in (float, bool, int):
        return a.constant(float(value))
    if isinstance(value, str):
        raise error("E0804", "a text cannot be written in a formula",
                    help="gradcli grad gives numbers")
    value = np.asarray(value)
    return a.table.array(value)


def _of_entry(a: Algebra, entry: Entry, known: Mapping[int, Term], in_rules: bool) -> Term:
    op, ids, values = entry[OP], entry[IDS], entry[VALUES]
    if isinstance(op, CustomOp):
        return _of_custom(a, entry, known)
    if entry[BATCH] and any(entry[BATCH]):
        raise error("E0804", f"`{op.name}` inside a Jacobian of the file has no formula",
                    help="ask for the Jacobian with --what jacobian")
    args = [_operand(a, i, v, known) for i, v in zip(ids, values, strict=True)]
    if in_rules and op.name == "where":
        kept = guarded(a, args)
        if kept is not None:
            return kept
    return a.call(TABLE.get(op.name, op), args, entry[ATTRIBUTES], shape_of(entry[ANS]))


def guarded(a: Algebra, args: Sequence[Term]) -> Term | None:
    """Return the side of a choice that a rule of the table takes away from the points that it
    guards against, and note the condition: the logarithm in d/dy x^y at x <= 0, the exponent in
    d/dx x^y where both are 0. Return None for other choices, such as the slopes of one, which are 0
    on one side.
    """
    condition, first, second = args
    either = condition.args if condition.is_call("logical_or") else (condition,)
    if second.is_number(1) and first.kind != NUMBER and any(
            c.is_call("greater") and c.args[0] is first for c in either):
        a.note(first, "> 0")
        return first
    tests = condition.args if condition.is_call("logical_and") else (condition,)
    if first.is_number(1) and not second.is_number(0) and all(
            c.is_call("equal") and c.args[1].is_number(0) for c in tests):
        if all(a.table.names([c]) for c in tests):
            a.note(tests[0].args[0], "!= 0")
        return second
    return None


# --- and back -------------------------------------------------------------------------------------


class TermReplay:
    """Terms run on a record of their own, with values of the names. Constants that have a form,
    such as pi and log(3), run as names do, lest the engine multiplies them with others.
    """

    __slots__ = ("algebra", "constants", "names", "record", "tensors")

    def __init__(self, algebra: Algebra, names: Mapping[str, Any]) -> None:
        self.algebra = algebra
        self.record = Record()
        self.record.absorbing = False
        self.record.in_rules = True  # floating point types may mix
        self.names = {name: leaf(value) for name, value in names.items()}
        self.tensors: dict[int, Any] = {}
        self.constants: dict[int, Term] = {}

    def run(self, term: Term) -> Any:
        """Return the tensor of a term, or a plain value where it depends on no name."""
        for one in self.algebra.table.of([term]):
            if one.number not in self.tensors:
                self.tensors[one.number] = self._constant(one, self._value(one))
        return self.tensors[term.number]

    def _constant(self, term: Term, value: Any) -> Any:
        """Return a float that is written as a term in a tensor of its own; other values as they
        are.
        """
        if term.kind in (NUMBER, ARRAY) or not isinstance(value, float):
            return value
        if term.kind == PRODUCT and term.value != 1:
            return value
        tensor = leaf(float(value))
        if tensor.id is not None:
            self.constants[tensor.id] = term
        return tensor

    def _value(self, term: Term) -> Any:
        found = self.tensors
        if term.kind == NUMBER:
            return self._float(term.value)
        if term.kind == ARRAY:
            return term.value
        if term.kind == NAME:
            if term.attributes:
                return {"pi": np.pi, "e": np.e}[term.value]
            return self.names[term.value]
        if term.kind == SUM:
            return self._sum(term)
        if term.kind == PRODUCT:
            return self._product(term)
        return term.operation(*[found[a.number] for a in term.args], **term.attributes)

    def _sum(self, term: Term) -> Any:
        total: Any = None
        for one, c in term.items:
            x, factor = self.tensors[one.number], self._float(c)
            if total is None:
                total = _scaled(x, factor)
            elif factor == -1:
                total = TABLE["subtract"](total, x)
            else:
                total = TABLE["add"](total, _scaled(x, factor))
        return total if term.value == 0 else TABLE["add"](total, self._float(term.value))

    def _product(self, term: Term) -> Any:
        above: Any = None
        below: Any = None
        for base, exponent in term.items:
            x, e = self.tensors[base.number], exponent.value
            if exponent.kind != NUMBER:
                if base.kind == NUMBER and base.value > 0:
                    log = self.algebra.call(TABLE["log"], [base], None, None)
                    self.algebra.table.fractions.setdefault(float(TABLE["log"](x)), log)
                power = TABLE["power"](x, self.tensors[exponent.number])
                above = power if above is None else TABLE["multiply"](above, power)
            elif e > 0:
                power = _power(x, self._float(e))
                above = power if above is None else TABLE["multiply"](above, power)
            else:
                power = _power(x, -self._float(e))
                below = power if below is None else TABLE["multiply"](below, power)
        factor = self._float(term.value)
        if below is None:
            return _scaled(above, factor)
        if above is None:
            return TABLE["divide"](factor, below)
        return _scaled(TABLE["divide"](above, below), factor)

    def _float(self, value: Number) -> float:
        """Return a number as a float to run with, and remember its fraction for derivatives."""
        if isinstance(value, Fraction) and value.denominator > 1:
            self.algebra.number(value)
        return as_float(value)

    def gradient(self, term: Term, names: Sequence[str]) -> list[Term | None]:
        """Return the derivatives of the sum of a term's elements by names; None where there is
        none.
        """
        with self.record:
            target = self.run(term)
            if not isinstance(target, Tensor):
                return [None] * len(names)
            first = len(self.record.history())
            # What is not a number, such as a truth value, stands in no term.
            known_names = [n for n in names if n in self.names]
            slopes = dict(zip(known_names, calculus.gradient(
                [target], [self.names[n] for n in known_names], emit=True), strict=True))
            found = [slopes.get(n) for n in names]
            entries = self.record.history()
        known: dict[int, Term] = {
            t.id: self.algebra.table.name(n, t.shape)
            for n, t in self.names.items() if t.id is not None}
        by_number = self.algebra.table.all
        known.update(self.constants)
        known.update({t.id: by_number[n] for n, t in self.tensors.items()
                      if isinstance(t, Tensor) and t.id is not None and t.id not in known})
        rules = {entry[OUT] for entry in entries[first:]}
        terms = terms_of(self.algebra, entries, known, found, rules)
        return [None if g is None else t for g, t in zip(found, terms, strict=True)]


def _scaled(x: Any, factor: float) -> Any:
    if factor == 1:
        return x
    return TABLE["negative"](x) if factor == -1 else TABLE["multiply"](factor, x)


def _power(x: Any, e: float) -> Any:
    if e == 1:
        return x
    return TABLE["sqrt"](x) if e == 0.5 else TABLE["power"](x, e)


# --------------------------------------------------------------------------------------------------
# Derivatives on the record of the run, where functions have rules of their own: a rule of a file
# is a program, so what it does is recorded and differentiated like all else.

class OnRecord:
    """A record, and the tensors that names are there.

    known: id to term, of the names and of what was asked for. places: of all that ran; what a
    sweep adds has the place of what it differentiates, what a rule of the file adds has its own.
    """

    __slots__ = ("algebra", "first", "known", "places", "record", "sources")

    def __init__(self, a: Algebra, record: Record, known: Mapping[int, Term],
                 sources: Mapping[str, Tensor]) -> None:
        self.algebra = a
        self.record = record
        self.known = dict(known)
        self.sources = dict(sources)
        history = record.history()
        self.first = history[-1][OUT] + 1 if history else 0
        self.places = {id(entry[PLACE]) for entry in history}

    def has_own_rules(self, ids: Sequence[int | None]) -> bool:
        """Return whether a function with a gradient of the file is among what these ids were made
        of.
        """
        history = self.record.history()
        found = ancestry(history, ids)
        return any(e[OUT] in found and TABLE.get(e[OP].name) is not e[OP] for e in history)

    def gradient(self, tensors: Sequence[Tensor], names: Sequence[str]
                 ) -> list[tuple[Term | None, Tensor | None]]:
        """Return the derivatives of the sum of all elements by names, as (term, tensor on the
        record); (None, None) where there is none.
        """
        with self.record:
            found = calculus.gradient(tensors, [self.sources[n] for n in names], emit=True)
        entries = self.record.history()
        rules = {e[OUT] for e in entries if e[OUT] >= self.first and id(e[PLACE]) in self.places}
        terms = terms_of(self.algebra, entries, self.known, found, rules)
        return [(None, None) if g is None else (term, g)
                for g, term in zip(found, terms, strict=True)]


def element_of(tensor: Tensor, place: tuple[int, ...]) -> Tensor:
    """Return one element of a tensor; a scalar is its own element at all indices."""
    return indexed(tensor, pattern=place) if place and tensor.shape else tensor
