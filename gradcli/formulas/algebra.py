"""Simple terms: equal summands collected, powers of one base joined, signs and constants in front.

Every rewrite keeps the value to within rounding wherever the formula is defined. One that makes a
formula defined at more points than before, such as x/x, notes where it holds.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas import arrays, choices, numbers, operations, products, vectors
from gradcli.formulas.numbers import HALF, MINUS, ONE, ZERO
from gradcli.formulas.rewrites import POSITIVE
from gradcli.formulas.terms import NAME, NUMBER, PRODUCT, SUM, Table, Term, joint, needed
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.numbers import Number
    from gradcli.formulas.terms import Shape
    from gradcli.ops.kinds import Op


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
        if name == "e^":
            return self.power(self.table.constant("e"), self.number(Fraction(inner)))
        if isinstance(inner, int):
            x = self.number(Fraction(inner))
        elif inner == "2*pi":
            x = self.times(self.number(Fraction(2)), self.table.constant("pi"))
        else:
            x = self.table.constant(inner)
        if name in ("log", "sin", "cos"):
            return self.table.call(TABLE[name], [x], None, ())
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
            coefficient, rest = self.split(term)
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
            items = choices.merged(self, items)
        items.sort(key=lambda item: item[0].number)
        if not items:
            return self.number(constant)
        if len(items) == 1 and constant == 0:
            term, coefficient = items[0]
            return self.times(self.number(coefficient), term)
        return self.table.sum(constant, items)

    def split(self, term: Term) -> tuple[Number, Term | None]:
        """(coefficient, the rest); a number has no rest."""
        if term.kind == NUMBER:
            return term.value, None
        if term.kind == PRODUCT and term.value != 1:
            return term.value, self.table.monic(term)
        return ONE, term

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
        product = products.Product(self)
        product.take(powers)
        return product.made()

    def collected(self, coefficient: Number, items: list[tuple[Term, Term]]) -> Term:
        """A product of powers of different bases."""
        if not items:
            return self.number(coefficient)
        absorbed = choices.absorbing(self, coefficient, items)
        if absorbed is not None:
            return absorbed
        items.sort(key=lambda item: item[0].number)
        if len(items) == 1 and items[0][1].is_number(1):
            base = items[0][0]
            if coefficient == 1:
                return base
            if base.kind == SUM and coefficient == -1:
                return self.table.turned(base)
        return self.table.product(coefficient, items)

    def power(self, base: Term, exponent: Term) -> Term:
        """base^exponent."""
        return products.power(self, base, exponent)

    # --- operations of the table --------------------------------------------------------------

    def call(self, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
             shape: Shape | None) -> Term:
        """An operation of the table. shape: of its value, by default as arithmetic has it."""
        if shape is not None:
            if op.name == "stop_gradient":
                args = [vectors.largest(self, t) for t in args]
            by_element = vectors.by_element(self, op, args, attributes, shape)
            if by_element is not None:
                return by_element
        if not op.elementwise:
            assert shape is not None
            return arrays.call(self, op, args, dict(attributes or {}), shape)
        found = operations.rewritten(self, op, args)
        if found is None:
            return self.table.call(op, args, attributes, joint(args) if shape is None else shape)
        if shape is None or found.shape == shape:
            return found
        return self.table.call(TABLE["broadcast_to"], [found], {"shape": shape}, shape)

    # --- where formulas hold ------------------------------------------------------------------

    def note(self, term: Term, text: str) -> None:
        """Remember that a rewrite holds where a term is so."""
        if (term.op is None or term.op.name not in POSITIVE) and any(
                t.kind == NAME and not t.attributes for t in needed([term])):
            self.conditions[term, text] = None

    def note_poles(self, powers: Sequence[tuple[Term, Term]]) -> None:
        """Remember that what stands below a line is not 0."""
        for base, exponent in powers:
            if exponent.kind == NUMBER and exponent.value < 0:
                self.note(base, "!= 0")
