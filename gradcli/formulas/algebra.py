"""Simple terms: equal summands collected, powers of one base joined, signs and constants in front.

Every rewrite keeps the value to within rounding wherever the formula is defined. One that makes a
formula defined at more points than before, such as x/x, notes where it holds.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas import numbers
from gradcli.formulas.numbers import HALF, MINUS, ONE, ZERO, as_float, whole
from gradcli.formulas.rewrites import EVEN, INVERSES, ODD, POSITIVE, VALUES
from gradcli.formulas.terms import (
    ARRAY,
    CALL,
    NAME,
    NUMBER,
    PRODUCT,
    SUM,
    Table,
    Term,
    joint,
    needed,
)
from gradcli.ops import TABLE
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.numbers import Number
    from gradcli.formulas.terms import Shape
    from gradcli.ops.kinds import Op

# Operations that become something else in terms.
ARITHMETIC = frozenset((
    "add", "subtract", "multiply", "divide", "negative", "positive", "reciprocal", "square",
    "squared_difference", "sqrt", "rsqrt", "power", "exp2"))


class Algebra:
    """A table of terms, and what makes simple ones.

    conditions: (term, text) such as (x, "!= 0") for what was left out where it has to hold.
    """

    __slots__ = ("conditions", "table")

    def __init__(self) -> None:
        self.table = Table()
        self.conditions: dict[tuple[Term, str], None] = {}

    # --- numbers ------------------------------------------------------------------------------

    def number(self, value: Number) -> Term:
        """A number as it is."""
        return self.table.number(value)

    def constant(self, value: float) -> Term:
        """A float as the constant that it stands for: 2*pi, log(2), 1/3."""
        seen = self.table.fractions.get(value)
        if seen is not None:
            return seen
        exact = numbers.exact(value)
        if isinstance(exact, Fraction):
            return self.number(exact)
        found = numbers.known(value)
        if found is None:
            return self.number(exact)
        factor, (name, *argument) = found
        return self.times(self.number(factor), self._known(name, argument))

    def _known(self, name: str, argument: Sequence[Any]) -> Term:
        if not argument:
            return self.table.constant(name)
        inner = argument[0]
        pi = self.table.constant("pi")
        x = self.number(Fraction(inner)) if isinstance(inner, int) else (
            pi if inner == "pi" else self.times(self.number(Fraction(2)), pi))
        if name == "log":
            return self.table.call(TABLE["log"], [x], None, ())
        power = {"sqrt": HALF, "1/": MINUS, "1/sqrt": -HALF, "^2": Fraction(2)}[name]
        return self.power(x, self.number(power))

    # --- sums ---------------------------------------------------------------------------------

    def add(self, *terms: Term) -> Term:
        """The sum."""
        return self.sum_of([(t, ONE) for t in terms])

    def sum_of(self, terms: Iterable[tuple[Term, Number]]) -> Term:
        """The sum of terms with coefficients."""
        constant: Number = ZERO
        found: dict[Term, Number] = {}
        for term, factor in terms:
            coefficient, rest = self._split(term)
            coefficient = numbers.times(coefficient, factor)
            if rest is None:
                constant = numbers.plus(constant, coefficient)
            elif rest.kind == SUM and coefficient in (1, -1):
                constant = numbers.plus(constant, numbers.times(rest.value, coefficient))
                for t, c in rest.items:
                    found[t] = numbers.plus(found.get(t, ZERO), numbers.times(c, coefficient))
            else:
                found[rest] = numbers.plus(found.get(rest, ZERO), coefficient)
        items = [(t, c) for t, c in found.items() if c != 0]
        if len(items) > 1:
            items = self._merged_choices(items)
        items.sort(key=lambda item: item[0].number)
        if not items:
            return self.number(constant)
        if len(items) == 1 and constant == 0:
            term, coefficient = items[0]
            return self.times(self.number(coefficient), term)
        return self.table.sum(constant, items)

    def _split(self, term: Term) -> tuple[Number, Term | None]:
        """(coefficient, the rest); a number has no rest."""
        if term.kind == NUMBER:
            return term.value, None
        if term.kind == PRODUCT and term.value != 1:
            return term.value, self._monic(term)
        return ONE, term

    def _monic(self, term: Term) -> Term:
        """A product without its coefficient."""
        items = term.items
        if len(items) == 1 and items[0][1].is_number(1):
            return items[0][0]
        return self.table.product(ONE, items)

    def _merged_choices(self, items: list[tuple[Term, Number]]) -> list[tuple[Term, Number]]:
        """where(c, a, b) + where(c, d, e) as one choice."""
        by_condition: dict[Term, list[tuple[Term, Number]]] = {}
        for item in items:
            if item[0].is_call("where"):
                by_condition.setdefault(item[0].args[0], []).append(item)
        for condition, same in by_condition.items():
            if len(same) > 1:
                items = [item for item in items if item not in same]
                first, second = [self.sum_of([(t.args[k], c) for t, c in same]) for k in (1, 2)]
                term = self.choice(condition, first, second)
                coefficient, rest = self._split(term)
                if rest is None or rest.kind == SUM:
                    return [*items, *same]
                items.append((rest, coefficient))
        return items

    def negative(self, term: Term) -> Term:
        """-term."""
        return self.times(self.number(MINUS), term)

    # --- products -----------------------------------------------------------------------------

    def times(self, *terms: Term) -> Term:
        """The product."""
        one = self.number(ONE)
        return self.product_of([(t, one) for t in terms])

    def product_of(self, powers: Iterable[tuple[Term, Term]]) -> Term:
        """The product of powers."""
        coefficient: Number = ONE
        found: dict[Term, Term] = {}
        exponents: list[tuple[Term, Number]] = []
        pending = list(powers)[::-1]
        while pending:
            base, exponent = pending.pop()
            n = whole(exponent.value) if exponent.kind == NUMBER else None
            if base.kind == NUMBER and n is not None:
                folded = numbers.to_power(base.value, n)
                if folded is not None:
                    coefficient = numbers.times(coefficient, folded)
                    continue
            if base.kind == PRODUCT and n is not None:
                folded = numbers.to_power(base.value, n)
                if folded is not None and (n == 1 or all(
                        self._may_multiply(e, n) for _, e in base.items)):
                    coefficient = numbers.times(coefficient, folded)
                    pending += [(b, e if n == 1 else self.times(e, exponent))
                                for b, e in base.items[::-1]]
                    if n < 0:
                        self._note_poles(base.items)
                    continue
            if base.is_call("exp") and exponent.kind == NUMBER:
                exponents.append((base.args[0], exponent.value))
                continue
            if base.kind == SUM and n is not None:
                factor, base = self._primitive(base, n)
                folded = numbers.to_power(factor, n)
                assert folded is not None
                coefficient = numbers.times(coefficient, folded)
            before = found.get(base)
            found[base] = exponent if before is None else self._joined(base, before, exponent)
        if coefficient == 0:
            return self.number(ZERO)
        if exponents:
            term = self._exponential(exponents)
            if term.kind == NUMBER:
                coefficient = numbers.times(coefficient, term.value)
            elif term.kind == PRODUCT:
                return self.product_of([
                    (self.number(coefficient), self.number(ONE)), *found.items(),
                    *term.items, (self.number(term.value), self.number(ONE))])
            else:
                found[term] = self.number(ONE)
        items = [(b, e) for b, e in found.items() if not e.is_number(0)]
        for k, (base, exponent) in enumerate(items):
            if base.kind == NUMBER and exponent.kind == NUMBER and (
                    isinstance(coefficient, Fraction) and (n := whole(base.value)) is not None
                    and 0 < exponent.value < 1 and coefficient.denominator % n == 0):
                coefficient *= n    # sqrt(2)/2 is 1/sqrt(2)
                items[k] = base, self.number(numbers.plus(exponent.value, MINUS))
        return self._finished(coefficient, items)

    def _finished(self, coefficient: Number, items: list[tuple[Term, Term]]) -> Term:
        """A product of collected powers."""
        if not items:
            return self.number(coefficient)
        for k, (base, exponent) in enumerate(items):
            if exponent.is_number(1) and base.is_call("where"):
                moved = self._into_choice(coefficient, items, k)
                if moved is not None:
                    return moved
        items.sort(key=lambda item: item[0].number)
        if len(items) == 1 and items[0][1].is_number(1):
            base = items[0][0]
            if coefficient == 1:
                return base
            if base.kind == SUM and coefficient == -1:
                return self.table.sum(numbers.times(base.value, MINUS), [
                    (t, numbers.times(c, MINUS)) for t, c in base.items])
        return self.table.product(coefficient, items)

    def _into_choice(self, coefficient: Number, items: list[tuple[Term, Term]], k: int
                     ) -> Term | None:
        """A factor where(c, a, 0) or where(c, 0, a) takes the others in: where it is 0, so is the
        product, whatever the others are there.
        """
        condition, first, second = items[k][0].args
        rest = items[:k] + items[k + 1:]
        if not rest and coefficient == 1:
            return None
        if not (first.is_number(0) or second.is_number(0)):
            return None
        inner = self._finished(coefficient, rest)
        return self.choice(condition, self.times(first, inner), self.times(second, inner))

    def _may_multiply(self, exponent: Term, n: int) -> bool:
        """Whether (b^e)^n is b^(e*n), but for poles."""
        return exponent.kind != NUMBER or n == 1 or whole(exponent.value) is not None or (
            whole(numbers.times(exponent.value, Fraction(n))) is None) or n < 0

    def _note_poles(self, items: Sequence[tuple[Term, Term]]) -> None:
        for base, exponent in items:
            if exponent.kind == NUMBER and exponent.value < 0:
                self.note(base, "!= 0")

    def _joined(self, base: Term, first: Term, second: Term) -> Term:
        """The exponent of a product of two powers of a base."""
        total = self.add(first, second)
        if first.kind == NUMBER and second.kind == NUMBER and total.kind == NUMBER:
            if first.value * second.value < 0 and total.value >= 0:
                self.note(base, "!= 0")
            elif whole(total.value) is not None and whole(first.value) is None:
                self.note(base, ">= 0")
        return total

    def note(self, term: Term, text: str) -> None:
        """Remember that a rewrite holds where a term is so."""
        if (term.op is None or term.op.name not in POSITIVE) and any(
                t.kind == NAME and not t.attributes for t in needed([term])):
            self.conditions[term, text] = None

    def _exponential(self, exponents: list[tuple[Term, Number]]) -> Term:
        """exp(a)^m * exp(b)^n."""
        return self.call(TABLE["exp"], [self.sum_of(exponents)], None, None)

    def _primitive(self, base: Term, n: int) -> tuple[Number, Term]:
        """A sum as (sign, sum) with a positive first coefficient."""
        first = base.items[0][1]
        if first > 0 or base.kind != SUM:
            return ONE, base
        if any(c > 0 for _, c in base.items) or base.value > 0 or n % 2 == 0:
            turned = self.table.sum(numbers.times(base.value, MINUS), [
                (t, numbers.times(c, MINUS)) for t, c in base.items])
            return MINUS, turned
        return ONE, base

    def power(self, base: Term, exponent: Term) -> Term:
        """base^exponent."""
        if exponent.is_number(1):
            return base
        if exponent.is_number(0):
            return self.number(ONE)
        if exponent.kind == NUMBER and base.kind == CALL and base.op is not None:
            n = whole(exponent.value)
            if n is not None and n % 2 == 0 and base.op.name == "abs":
                return self.power(base.args[0], exponent)
        if exponent.kind == NUMBER and exponent.value == HALF and base.kind == NUMBER:
            root = _root(base.value)
            if root is not None:
                return self.number(root)
        if base.kind == PRODUCT and exponent.kind == NUMBER and whole(exponent.value) is None:
            # What is positive goes out of a root: sqrt(4*x) is 2*sqrt(x).
            fixed = [(b, e) for b, e in base.items if _constant(b) and e.kind == NUMBER]
            root = _root(base.value) if exponent.value in (HALF, -HALF) else None
            if base.value > 0 and (fixed or (root is not None and root != 1)):
                outside = self.power(self.number(base.value), exponent) if root is None else (
                    self.number(root if exponent.value > 0 else 1 / root))
                rest = [item for item in base.items if item not in fixed]
                one = self.number(ONE)
                inner = [(self.product_of(rest), exponent)] if rest else []
                return self.product_of([(outside, one), *[
                    (b, self.times(e, exponent)) for b, e in fixed], *inner])
        return self.product_of([(base, exponent)])

    def factored(self, terms: Sequence[Term]) -> list[Term]:
        """The same terms with what all summands of a sum have in common in front of it."""
        found: dict[int, Term] = {}
        before = dict(self.conditions)
        for term in needed(terms):
            new = self._rebuilt(term, found)
            found[term.number] = self._without_common(new) if new.kind == SUM else new
        self.conditions = before
        return [found[t.number] for t in terms]

    def _rebuilt(self, term: Term, found: Mapping[int, Term]) -> Term:
        """A term of the same kind from other parts."""
        if all(found[p.number] is p for p in term.parts()):
            return term
        if term.kind == SUM:
            return self.add(self.number(term.value), self.sum_of([
                (found[t.number], c) for t, c in term.items]))
        if term.kind == PRODUCT:
            return self.times(self.number(term.value), self.product_of([
                (found[b.number], found[e.number]) for b, e in term.items]))
        assert term.op is not None
        return self.table.call(term.op, [found[a.number] for a in term.args], term.attributes,
                               term.shape)

    def _without_common(self, term: Term) -> Term:
        if term.value != 0:
            return term
        powers = [dict(t.items) if t.kind == PRODUCT else {t: self.number(ONE)}
                  for t, _ in term.items]
        common: list[tuple[Term, Term]] = []
        for base, exponent in powers[0].items():
            others = [p.get(base) for p in powers]
            if all(e is exponent for e in others):
                common.append((base, exponent))
            elif all(e is not None and e.kind == NUMBER for e in others):
                values = [e.value for e in others if e is not None]
                # 2*x*sin(x) + x^2*cos(x) is the product rule as people know it.
                if (min(values) > 0 and base.kind != NAME) or max(values) < 0:
                    common.append((base, self.number(min(values, key=abs))))
        rest = self.sum_of([
            (self.product_of([(t, self.number(ONE)), *[
                (b, self.times(e, self.number(MINUS))) for b, e in common]]), c)
            for t, c in term.items])
        return term if rest.shape != term.shape and term.shape != joint(
            [b for b, _ in common]) else self.times(rest, self.product_of(common))

    # --- choices and other operations -----------------------------------------------------------

    def choice(self, condition: Term, first: Term, second: Term) -> Term:
        """where(condition, first, second)."""
        if first is second and joint((condition,)) == ():
            return first
        if condition.kind == NUMBER:
            return first if condition.value else second
        if first.is_call("where") and first.args[0] is condition:
            first = first.args[1]
        if second.is_call("where") and second.args[0] is condition:
            second = second.args[2]
        return self.table.call(TABLE["where"], [condition, first, second], None,
                               joint((condition, first, second)))

    def call(self, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
             shape: Shape | None) -> Term:
        """An operation of the table. shape: of its value, by default as arithmetic has it."""
        if not op.elementwise:
            from gradcli.formulas import arrays

            assert shape is not None
            return arrays.call(self, op, args, dict(attributes or {}), shape)
        found: Term | None = None
        rule = RULES.get(op.name)
        if rule is not None:
            found = rule(self, *args)
        elif len(args) == 1:
            found = self._function(op, args[0])
        if found is not None and (shape is None or found.shape == shape):
            return found
        if found is None or shape is None:
            return self.table.call(op, args, attributes, joint(args) if shape is None else shape)
        return self._spread(found, shape)

    def _spread(self, term: Term, shape: Shape) -> Term:
        """A term in a larger shape."""
        return self.table.call(TABLE["broadcast_to"], [term], {"shape": shape}, shape)

    def _function(self, op: Op, x: Term) -> Term | None:
        """A function of one argument."""
        name = op.name
        if x.kind == NUMBER:
            n = whole(x.value)
            value = VALUES.get((name, n)) if n is not None else None
            if value is not None:
                return self.number(Fraction(value))
            if isinstance(x.value, float) and op.floats is not None:
                return self.constant(float(op.on_scalars([x.value])))
        if x.op is not None:
            condition = INVERSES.get((name, x.op.name))
            if condition is not None:
                if condition:
                    self.note(x.args[0], condition)
                return x.args[0]
        if name == "exp":
            return self._exp(x)
        if name in EVEN or name in ODD:
            coefficient, rest = self._split(x)
            turned = None
            if coefficient < 0 and rest is not None:
                turned = self.negative(x)
            elif coefficient < 0:
                turned = self.number(numbers.times(coefficient, MINUS))
            if turned is not None:
                inner = self.call(op, [turned], None, None)
                return inner if name in EVEN else self.negative(inner)
        return None

    def _exp(self, x: Term) -> Term | None:
        """e^(a + n*log(b)) is e^a*b^n."""
        for term, coefficient in x.items if x.kind == SUM else ():
            if term.is_call("log") and whole(coefficient) is not None:
                rest = self.sum_of([(t, c) for t, c in x.items if t is not term])
                rest = self.add(rest, self.number(x.value))
                self.note(term.args[0], "> 0")
                return self.times(self.call(TABLE["exp"], [rest], None, None),
                                  self.power(term.args[0], self.number(coefficient)))
        return None


def _constant(term: Term) -> bool:
    """Whether a term is pi or e."""
    return term.kind == NAME and bool(term.attributes)


def _root(value: Number) -> Number | None:
    """The square root of a fraction that has one."""
    if isinstance(value, Fraction) and value >= 0:
        from math import isqrt

        p, q = isqrt(value.numerator), isqrt(value.denominator)
        if p * p == value.numerator and q * q == value.denominator:
            return Fraction(p, q)
    return None


def uniform(term: Term) -> float | None:
    """The number that a constant array holds all over."""
    if term.kind == ARRAY and term.value.size and term.value.dtype.kind == "f":
        first = term.value.ravel()[0]
        if bool(np.all(term.value == first)):
            return float(first)
    return None


def _elements(a: Algebra, *terms: Term) -> list[Term]:
    """Operands of arithmetic: an array of one number is this number; the shape is checked later."""
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
    def rule(a: Algebra, x: Term, y: Term) -> Term | None:
        if x.kind == NUMBER and y.kind == NUMBER:
            op = TABLE[name]
            return a.number(Fraction(int(op.on_scalars([as_float(x.value), as_float(y.value)]))))
        return None

    return rule


def _power(a: Algebra, x: Term, y: Term) -> Term | None:
    return a.power(x, y)


def _both(a: Algebra, x: Term, y: Term) -> Term | None:
    if x.kind == NUMBER:
        return y if x.value else x
    if y.kind == NUMBER:
        return x if y.value else y
    return x if x is y else None


def _bessel(name: str) -> Callable[..., Term | None]:
    """J and Y of a negative whole order are those of the positive one, with a sign."""
    def rule(a: Algebra, n: Term, x: Term) -> Term | None:
        order = whole(n.value) if n.kind == NUMBER else None
        if order is None or order >= 0:
            return None
        found = a.call(TABLE[name], [a.number(Fraction(-order)), x], None, None)
        return a.negative(found) if order % 2 else found

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
    "square": _arithmetic(lambda a, x: a.power(x, a.number(Fraction(2)))),
    "squared_difference": _arithmetic(lambda a, x, y: a.power(
        a.sum_of([(x, ONE), (y, MINUS)]), a.number(Fraction(2)))),
    "sqrt": _arithmetic(lambda a, x: a.power(x, a.number(HALF))),
    "rsqrt": _arithmetic(lambda a, x: a.power(x, a.number(-HALF))),
    "power": _arithmetic(_power),
    "where": lambda a, c, x, y: a.choice(c, *_elements(a, x, y)),
    "logical_and": _both,
    "besselj": _bessel("besselj"), "bessely": _bessel("bessely"),
    **{name: _compared(name) for name in (
        "equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
}
"""Operations that are arithmetic in terms."""
