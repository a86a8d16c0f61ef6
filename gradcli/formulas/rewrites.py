"""Operations of the table that become something else in terms: arithmetic, and functions with
known values, inverses and symmetries.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.base.lazy import np
from gradcli.formulas import terms as numbers
from gradcli.formulas.terms import (
    ARRAY,
    HALF,
    MINUS,
    NAME,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    ZERO,
    as_float,
    joint,
    whole,
)
from gradcli.ops import TABLE
from gradcli.ops.graph import reached
from gradcli.ops.text import SPELLED, Symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.terms import Number, Term, TermAlgebra
    from gradcli.ops.kinds import Op

    Call = Callable[[Term, list[Term]], Term]


def _function(a: TermAlgebra, op: Op, x: Term) -> Term | None:
    """Return a function of one argument in simpler form; None where it stays as it is."""
    name = op.name
    if x.kind == NUMBER:
        n = whole(x.value)
        value = op.whole.get(n) if n is not None else None
        if value is not None:
            return a.number(Fraction(value))
        if isinstance(x.value, float) and op.floats is not None:
            return a.constant(float(op.on_scalars([x.value])))
    if x.op is not None:
        inverse, _, condition = op.undoes.partition(" ")
        if inverse == x.op.name:
            if condition:
                a.note(x.args[0], condition)
            return x.args[0]
    if name == "exp":
        return _exp(a, x)
    if name == "sign" and x.is_call("relu"):
        above = a.call(TABLE["greater"], [x.args[0], a.number(ZERO)], None, None)
        return choice(a, above, a.number(ONE), a.number(ZERO))
    return _with_sign_outside(a, op, x) if "even" in op.traits or "odd" in op.traits else None


def _with_sign_outside(a: TermAlgebra, op: Op, x: Term) -> Term | None:
    """Return cos(x) for cos(-x) and -sin(x) for sin(-x); None for an argument without a minus sign.
    """
    coefficient, rest = a.split(x)
    if not coefficient < 0:
        return None
    turned = a.number(numbers.times(coefficient, MINUS)) if rest is None else a.negative(x)
    inner = a.call(op, [turned], None, None)
    return inner if "even" in op.traits else a.negative(inner)


def _exp(a: TermAlgebra, x: Term) -> Term | None:
    """Return e^a*b^n for e^(a + n*log(b)); None for another exponent."""
    for term, coefficient in x.items if x.kind == SUM else ():
        if term.is_call("log") and whole(coefficient) is not None:
            rest = a.sum_of([(t, c) for t, c in x.items if t is not term])
            rest = a.add(rest, a.number(x.value))
            a.note(term.args[0], "> 0")
            return a.times(a.call(TABLE["exp"], [rest], None, None),
                           a.power(term.args[0], a.number(coefficient)))
    return None


def uniform(term: Term) -> float | None:
    """Return the number that a constant array holds all over; None for other terms."""
    if term.kind == ARRAY and term.value.size and term.value.dtype.kind == "f":
        first = term.value.ravel()[0]
        if bool(np.all(term.value == first)):
            return float(first)
    return None


def _elements(a: TermAlgebra, *terms: Term) -> list[Term]:
    """Return operands of arithmetic with each array of one repeated number as this number; the
    shape is checked later.
    """
    found = []
    for term in terms:
        value = uniform(term)
        if term.is_call("broadcast_to") and term.args[0].shape == ():
            term = term.args[0]
        found.append(term if value is None else a.constant(value))
    return found


def _arithmetic(function: Callable[..., Term | None]) -> Callable[..., Term | None]:
    return lambda a, *terms: function(a, *_elements(a, *terms))


def _compared(name: str) -> Callable[..., Term | None]:
    def rule(a: TermAlgebra, x: Term, y: Term) -> Term | None:
        if x.kind == NUMBER and y.kind == NUMBER:
            op = TABLE[name]
            return a.number(Fraction(int(op.on_scalars([as_float(x.value), as_float(y.value)]))))
        return None

    return rule


def _both(a: TermAlgebra, x: Term, y: Term) -> Term | None:
    if x.kind == NUMBER:
        return y if x.value else x
    if y.kind == NUMBER:
        return x if y.value else y
    return x if x is y else None


def _either(a: TermAlgebra, x: Term, y: Term) -> Term | None:
    if x.kind == NUMBER:
        return a.number(ONE) if x.value else y
    if y.kind == NUMBER:
        return a.number(ONE) if y.value else x
    return x if x is y else None


def _bessel(name: str) -> Callable[..., Term | None]:
    """Return the rule that writes J and Y of a negative whole order as those of the positive one,
    with a sign.
    """
    def rule(a: TermAlgebra, n: Term, x: Term) -> Term | None:
        order = whole(n.value) if n.kind == NUMBER else None
        if order is None or order >= 0:
            return None
        found = a.call(TABLE[name], [a.number(Fraction(-order)), x], None, None)
        return a.negative(found) if order % 2 else found

    return rule


class _Traced(Symbolic):
    """A term, as what formulas are traced with."""

    __slots__ = ("algebra", "term")
    value = None

    def __init__(self, algebra: TermAlgebra, term: Term) -> None:
        self.algebra = algebra
        self.term = term

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Any) -> _Traced:
        return _Traced(self.algebra, self.algebra.call(op, [self._term(x) for x in args], None,
                                                       None))

    def _term(self, x: Any) -> Term:
        return x.term if type(x) is _Traced else self.algebra.constant(float(x))


def _spelled(name: str) -> Callable[..., Term | None]:
    """Return the rule that writes a row which only derivative rules use in terms of rows of
    formulas.
    """
    def rule(a: TermAlgebra, n: Term, *terms: Term) -> Term | None:
        if n.kind != NUMBER:
            return None
        found: Term = SPELLED[name](as_float(n.value), *[_Traced(a, t) for t in terms]).term
        return found

    return rule


RULES: dict[str, Callable[..., Term | None]] = {
    "add": _arithmetic(lambda a, x, y: a.add(x, y)),
    "subtract": _arithmetic(lambda a, x, y: a.sum_of([(x, ONE), (y, MINUS)])),
    "multiply": _arithmetic(lambda a, x, y: a.times(x, y)),
    "divide": _arithmetic(
        lambda a, x, y: a.product_of([(x, a.number(ONE)), (y, a.number(MINUS))])),
    "negative": _arithmetic(lambda a, x: a.negative(x)),
    "positive": lambda a, x: x,
    "reciprocal": _arithmetic(lambda a, x: a.power(x, a.number(MINUS))),
    "unit_part": _arithmetic(lambda a, x, y: a.product_of([
        (x, a.number(ONE)), (a.call(TABLE["hypot"], (x, y), None, None), a.number(MINUS))])),
    "square": _arithmetic(lambda a, x: a.power(x, a.number(Fraction(2)))),
    "squared_difference": _arithmetic(lambda a, x, y: a.power(
        a.sum_of([(x, ONE), (y, MINUS)]), a.number(Fraction(2)))),
    "sqrt": _arithmetic(lambda a, x: a.power(x, a.number(HALF))),
    "rsqrt": _arithmetic(lambda a, x: a.power(x, a.number(-HALF))),
    "power": _arithmetic(lambda a, x, y: a.power(x, y)),
    "where": lambda a, c, x, y: choice(a, c, *_elements(a, x, y)),
    "logical_and": _both, "logical_or": _either,
    # The same term either way round.
    "hypot": lambda a, x, y: a.call(TABLE["hypot"], (y, x), None, None) if (
        y.number < x.number) else None,
    "besselj": _bessel("besselj"), "bessely": _bessel("bessely"),
    **{name: _spelled(name) for name in SPELLED},
    **{name: _compared(name) for name in (
        "equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
}


def rewritten(a: TermAlgebra, op: Op, args: Sequence[Term]) -> Term | None:
    """Return the term of an elementwise operation as formulas write it; None where it stays a call.
    """
    rule = RULES.get(op.name)
    if rule is not None:
        return rule(a, *args)
    return _function(a, op, args[0]) if len(args) == 1 else None


# --------------------------------------------------------------------------------------------------
# Choices, `where(c, a, b)`, in sums and products: one where there were several, zeros that take
# in what they are multiplied by.

def choice(a: TermAlgebra, condition: Term, first: Term, second: Term) -> Term:
    """Return where(condition, first, second), simplified."""
    if first is second and joint((condition,)) == ():
        return first
    if condition.kind == NUMBER:
        return first if condition.value else second
    if first.is_call("where") and first.args[0] is condition:
        first = first.args[1]
    if second.is_call("where") and second.args[0] is condition:
        second = second.args[2]
    return a.table.call(TABLE["where"], [condition, first, second], None,
                        joint((condition, first, second)))


def merged(a: TermAlgebra, items: list[tuple[Term, Number]]) -> list[tuple[Term, Number]]:
    """Return the summands with where(c, a, b) + where(c, d, e) as one choice."""
    by_condition: dict[Term, list[tuple[Term, Number]]] = {}
    for item in items:
        if item[0].is_call("where"):
            by_condition.setdefault(item[0].args[0], []).append(item)
    for condition, same in by_condition.items():
        if len(same) > 1:
            items = [item for item in items if item not in same]
            first, second = [a.sum_of([(t.args[k], c) for t, c in same]) for k in (1, 2)]
            coefficient, rest = a.split(choice(a, condition, first, second))
            if rest is None or rest.kind == SUM:
                return [*items, *same]
            items.append((rest, coefficient))
    return items


def absorbing(a: TermAlgebra, coefficient: Number, items: list[tuple[Term, Term]]) -> Term | None:
    """Return a product with a factor where(c, a, 0) or where(c, 0, a) as a choice that takes the
    other factors in: where it is 0, so is the product, whatever the others are there. Return None
    without one.
    """
    if coefficient == 1 and len(items) == 1:
        return None
    for k, (base, exponent) in enumerate(items):
        if exponent.is_number(1) and base.is_call("where"):
            condition, first, second = base.args
            if first.is_number(0) or second.is_number(0):
                others = a.collected(coefficient, items[:k] + items[k + 1:])
                return choice(a, condition, a.times(first, others), a.times(second, others))
    return None


# --------------------------------------------------------------------------------------------------
# Where terms are defined and what sign they have, as far as their form tells.

NONZERO, NONNEGATIVE, ABOVE = "!= 0", ">= 0", "> 0"
IMPLIED = {ABOVE: (ABOVE,), NONNEGATIVE: (ABOVE, NONNEGATIVE), NONZERO: (ABOVE, NONZERO)}
"""Condition to what it follows from."""


def positive(term: Term) -> bool:
    """Return whether a term is positive wherever it is defined, but for rounding."""
    return _sign(term, True, {})


def _sign(term: Term, strict: bool, known: dict[tuple[int, bool], bool]) -> bool:
    """Return whether a term is positive, or if not strict, whether it is not negative. known: the
    results so far; terms nest without a limit, and one nested too deep counts as without a sign.
    """
    key = term.number, strict
    if key not in known:
        known[key] = False
        if len(known) < DEEPEST:
            known[key] = _found(term, strict, known)
    return known[key]


DEEPEST = 200


def _found(term: Term, strict: bool, known: dict[tuple[int, bool], bool]) -> bool:
    if term.kind == NUMBER:
        return bool(term.value > 0 if strict else term.value >= 0)
    if term.kind == NAME:
        return bool(term.attributes)
    if term.kind == SUM:
        return term.value >= 0 and all(
            c > 0 and _sign(t, False, known) for t, c in term.items) and (
            not strict or term.value > 0 or any(_sign(t, True, known) for t, _ in term.items))
    if term.kind == PRODUCT:
        return term.value > 0 and all(
            _sign(b, strict, known) or (not strict and _is_even(e)) for b, e in term.items)
    assert term.op is not None
    return "positive" in term.op.traits or (not strict and "not_negative" in term.op.traits)


def _is_even(exponent: Term) -> bool:
    n = whole(exponent.value) if exponent.kind == NUMBER else None
    return n is not None and n % 2 == 0


def implied(terms: Iterable[Term]) -> set[tuple[Term, str]]:
    """Return the conditions that hold wherever the terms are defined: log(x) and fractional powers
    of x need x > 0. Conditions of one side of a choice are left out.
    """
    found: set[tuple[Term, str]] = set()
    for term in reached(terms, lambda t: t.args[:1] if t.is_call("where") else t.parts()):
        if term.is_call("log", "log2", "log10"):
            found.add((term.args[0], ABOVE))
        for base, exponent in term.items if term.kind == PRODUCT else ():
            if exponent.kind == NUMBER:
                below = exponent.value < 0
                if whole(exponent.value) is None:
                    found.add((base, ABOVE if below else NONNEGATIVE))
                elif below:
                    found.add((base, NONZERO))
    return found


# --------------------------------------------------------------------------------------------------
# Sums with what all summands have in common in front of them; terms made again of other parts.

def factored(a: TermAlgebra, terms: Sequence[Term]) -> list[Term]:
    """Return the terms with common factors of all summands taken out of their sums."""
    found: dict[int, Term] = {}
    before = dict(a.conditions)
    for term in a.table.of(terms):
        new = rebuilt(a, term, found, lambda t, args: a.table.call(
            t.operation, args, t.attributes, t.shape))
        found[term.number] = _without_common(a, new) if new.kind == SUM else new
    a.conditions = before
    return [found[t.number] for t in terms]


def rebuilt(a: TermAlgebra, term: Term, found: Mapping[int, Term], call: Call) -> Term:
    """Return a term of the same kind from other parts. found: the new parts, by the numbers of the
    old ones. call: makes an operation on other operands.
    """
    if all(found[p.number] is p for p in term.parts()):
        return term
    if term.kind == SUM:
        return a.add(a.number(term.value), a.sum_of([
            (found[t.number], c) for t, c in term.items]))
    if term.kind == PRODUCT:
        return a.times(a.number(term.value), a.product_of([
            (found[b.number], found[e.number]) for b, e in term.items]))
    return call(term, [found[t.number] for t in term.args])


def _without_common(a: TermAlgebra, term: Term) -> Term:
    """Return a sum as the product of the common powers of its summands and of what is left of them.
    """
    if term.value != 0:
        return term
    common = _common(a, term)
    rest = a.sum_of([
        (a.product_of([(t, a.number(ONE)), *[
            (b, a.times(e, a.number(MINUS))) for b, e in common]]), c)
        for t, c in term.items])
    return term if rest.shape != term.shape and term.shape != joint(
        [b for b, _ in common]) else a.times(rest, a.product_of(common))


def _common(a: TermAlgebra, term: Term) -> list[tuple[Term, Term]]:
    """Return the powers that all summands of a sum have."""
    powers = [dict(t.items) if t.kind == PRODUCT else {t: a.number(ONE)} for t, _ in term.items]
    common = []
    for base, exponent in powers[0].items():
        others = [p[base] for p in powers if base in p]
        if len(others) < len(powers):
            continue
        if all(e is exponent for e in others):
            common.append((base, exponent))
        elif all(e.kind == NUMBER for e in others):
            values = [e.value for e in others]
            # 2*x*sin(x) + x^2*cos(x) is the product rule as people know it.
            if (min(values) > 0 and base.kind != NAME) or max(values) < 0:
                common.append((base, a.number(min(values, key=abs))))
    return common
