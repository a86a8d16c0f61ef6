"""Simple terms: equal summands collected, powers of one base joined, signs and constants in front.

Every rewrite keeps the value to within rounding wherever the formula is defined. One that makes a
formula defined at more points than before, such as x/x, notes where it holds.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas import arrays, rewrites
from gradcli.formulas import terms as numbers
from gradcli.formulas.terms import (
    HALF,
    MINUS,
    NAME,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    ZERO,
    Term,
    TermTable,
    joint,
    whole,
)
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.terms import Number, Shape
    from gradcli.ops.kinds import Op

    Power = tuple[Term, Term]


class Algebra:
    """A table of terms, and what makes simple ones.

    conditions: (term, text) such as (x, "!= 0") for what was left out where it has to hold.
    decimals: whether decimals were written, and may be. near: floats within two units in the last
    place of a simple fraction stand for it, such as what 1/3 - 1 becomes.
    """

    __slots__ = ("conditions", "decimals", "near", "table")

    def __init__(self, decimals: bool = True, near: bool = False) -> None:
        self.decimals = decimals
        self.near = near
        self.table = TermTable()
        self.conditions: dict[tuple[Term, str], None] = {}

    # --- numbers ------------------------------------------------------------------------------

    def number(self, value: Number) -> Term:
        """Return the term of a number as it is."""
        return self.table.number(value)

    def constant(self, value: float) -> Term:
        """Return the term of the constant that a float stands for: 2*pi, log(2), 1/3."""
        seen = self.table.fractions.get(value)
        if seen is not None:
            return seen
        exact = numbers.exact(value)
        if self.near and not isinstance(exact, Fraction):
            exact = numbers.simple(value) or value
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
        """Return the sum of terms."""
        return self.sum_of([(t, ONE) for t in terms])

    def sum_of(self, terms: Iterable[tuple[Term, Number]]) -> Term:
        """Return the sum of terms with coefficients."""
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
            items = rewrites.merged(self, items)
        items.sort(key=lambda item: item[0].number)
        if not items:
            return self.number(constant)
        if len(items) == 1 and constant == 0:
            term, coefficient = items[0]
            return self.times(self.number(coefficient), term)
        return self.table.sum(constant, items)

    def written_sum(self, terms: Sequence[tuple[Term, Number]]) -> Term:
        """Return the sum of terms with coefficients, and remember the order that they are in."""
        made = self.sum_of(terms)
        if made.kind == SUM:
            self.table.typed.add(made.number)
        if made.kind == SUM and made.number not in self.table.written:
            there = {t for t, _ in made.items}
            order = dict.fromkeys([self.split(t)[1] for t, _ in terms])
            if there == {t for t in order if t is not None}:
                self.table.written[made.number] = [t for t in order if t is not None or made.value]
        return made

    def split(self, term: Term) -> tuple[Number, Term | None]:
        """Return (coefficient, the rest) of a term; the rest of a number is None."""
        if term.kind == NUMBER:
            return term.value, None
        if term.kind == PRODUCT and term.value != 1:
            return term.value, self.table.monic(term)
        return ONE, term

    def negative(self, term: Term) -> Term:
        """Return the term with its sign turned."""
        return self.times(self.number(MINUS), term)

    # --- products -----------------------------------------------------------------------------

    def times(self, *terms: Term) -> Term:
        """Return the product of terms."""
        one = self.number(ONE)
        return self.product_of([(t, one) for t in terms])

    def product_of(self, powers: Iterable[tuple[Term, Term]]) -> Term:
        """Return the product of powers."""
        product = Product(self)
        product.take(powers)
        return product.made()

    def collected(self, coefficient: Number, items: list[tuple[Term, Term]]) -> Term:
        """Return a product of powers of different bases."""
        if not items:
            return self.number(coefficient)
        absorbed = rewrites.absorbing(self, coefficient, items)
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
        """Return base^exponent."""
        return power(self, base, exponent)

    # --- operations of the table --------------------------------------------------------------

    def call(self, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
             shape: Shape | None) -> Term:
        """Return an operation of the table on terms. shape: of its value; None: that of elementwise
        arithmetic.
        """
        if shape is not None:
            if op.name == "stop_gradient":
                args = [arrays.largest(self, t) for t in args]
            by_element = arrays.by_element(self, op, args, attributes, shape)
            if by_element is not None:
                return by_element
        if not op.elementwise:
            assert shape is not None
            return arrays.call(self, op, args, dict(attributes or {}), shape)
        found = rewrites.rewritten(self, op, args)
        if found is None:
            return self.table.call(op, args, attributes, joint(args) if shape is None else shape)
        if shape is None or found.shape == shape:
            return found
        return self.table.call(TABLE["broadcast_to"], [found], {"shape": shape}, shape)

    # --- where formulas hold ------------------------------------------------------------------

    def note(self, term: Term, text: str) -> None:
        """Remember that a rewrite holds where a term is so."""
        if (term.op is None or "positive" not in term.op.traits) and self.table.names([term]):
            self.conditions[term, text] = None

    def note_poles(self, powers: Sequence[tuple[Term, Term]]) -> None:
        """Remember that what stands below a line is not 0."""
        for base, exponent in powers:
            if exponent.kind == NUMBER and exponent.value < 0:
                self.note(base, "!= 0")


# --------------------------------------------------------------------------------------------------
# Products of powers: one power for each base, what stands in exponents of e in one exponential.

class Product:
    """A product on its way.

    coefficient: the numbers in it. powers: base to exponent. exponents: those of e, with their
    coefficients.
    """

    __slots__ = ("algebra", "coefficient", "exponents", "powers")

    def __init__(self, a: Algebra) -> None:
        self.algebra = a
        self.coefficient: Number = ONE
        self.powers: dict[Term, Term] = {}
        self.exponents: list[tuple[Term, Number]] = []

    def take(self, powers: Iterable[Power]) -> None:
        """Multiply by powers."""
        pending = list(powers)[::-1]
        while pending:
            base, exponent = pending.pop()
            n = whole(exponent.value) if exponent.kind == NUMBER else None
            inner = None if n is None else self._opened(base, exponent, n)
            if inner is not None:
                pending += inner[::-1]
            elif base.is_call("exp"):
                self.exponents.append((base.args[0], exponent.value) if exponent.kind == NUMBER
                                      else (self.algebra.times(base.args[0], exponent), ONE))
            elif exponent.kind != NUMBER and constant(base) and base.value == "e":
                self.exponents.append((exponent, ONE))
            else:
                if base.kind == SUM and n is not None:
                    base = self._with_sign_outside(base, n)
                before = self.powers.get(base)
                self.powers[base] = exponent if before is None else self._joined(
                    base, before, exponent)

    def _opened(self, base: Term, exponent: Term, n: int) -> list[Power] | None:
        """Return the powers in a whole power of a number or product, and multiply its number to the
        coefficient; None where it stays as it is.
        """
        if base.kind not in (NUMBER, PRODUCT):
            return None
        folded = numbers.to_power(base.value, n)
        if folded is None or not (n == 1 or all(_may_multiply(e, n) for _, e in base.items)):
            return None
        self.coefficient = numbers.times(self.coefficient, folded)
        if n == 1:
            return list(base.items)
        inner = [(b, self.algebra.times(e, exponent)) for b, e in base.items]
        if n < 0:
            self.algebra.note_poles(base.items)
        return inner

    def _with_sign_outside(self, base: Term, n: int) -> Term:
        """Return a sum with a positive first coefficient; of an odd power the sign goes to the
        coefficient.
        """
        if base.items[0][1] > 0:
            return base
        if n % 2:
            self.coefficient = numbers.times(self.coefficient, MINUS)
        return self.algebra.table.turned(base)

    def _joined(self, base: Term, first: Term, second: Term) -> Term:
        """Return the exponent of a product of two powers of a base, and note where the product is
        defined.
        """
        a = self.algebra
        total = a.add(first, second)
        if first.kind == NUMBER and second.kind == NUMBER and total.kind == NUMBER:
            if first.value * second.value < 0 and total.value >= 0:
                a.note(base, "!= 0")
            elif whole(total.value) is not None and whole(first.value) is None:
                a.note(base, ">= 0")
        return total

    def made(self) -> Term:
        """Return the product as a term."""
        a = self.algebra
        if self.coefficient == 0:
            return a.number(ZERO)
        self._keep_shifted()
        if len(self.exponents) == 1 and self.exponents[0][1] == -1:
            # 0/exp(-740) is 0, and 0*exp(740) is not.
            self.powers[a.call(TABLE["exp"], [self.exponents[0][0]], None, None)] = a.number(MINUS)
        elif self.exponents:
            term = a.call(TABLE["exp"], [a.sum_of(self.exponents)], None, None)
            if term.kind == NUMBER:
                self.coefficient = numbers.times(self.coefficient, term.value)
            elif term.kind == PRODUCT:
                one = a.number(ONE)
                return a.product_of([(a.number(self.coefficient), one), *self.powers.items(),
                                     *term.items, (a.number(term.value), one)])
            else:
                self.powers[term] = a.number(ONE)
        return a.collected(*self._with_roots_below())

    def _keep_shifted(self) -> None:
        """Move exponentials of arguments shifted by the largest of them to the powers as they are:
        merged, a summand beside two large ones that cancel would lose its digits.
        """
        a = self.algebra
        total: dict[Term, Number] = {}
        for argument, coefficient in self.exponents:
            if _is_shifted(argument):
                total[argument] = numbers.plus(total.get(argument, ZERO), coefficient)
        self.exponents = [e for e in self.exponents if e[0] not in total]
        for argument, coefficient in total.items():
            self.powers[a.table.call(TABLE["exp"], [argument], None, argument.shape)] = a.number(
                coefficient)

    def _with_roots_below(self) -> tuple[Number, list[Power]]:
        """Return the coefficient and the powers, with sqrt(2)/2 as 1/sqrt(2)."""
        coefficient = self.coefficient
        items = []
        for base, exponent in self.powers.items():
            if exponent.is_number(0):
                continue
            n = whole(base.value) if base.kind == NUMBER else None
            if n and exponent.kind == NUMBER and 0 < exponent.value < 1 and (
                    isinstance(coefficient, Fraction) and coefficient.denominator % n == 0):
                coefficient *= n
                exponent = self.algebra.number(numbers.plus(exponent.value, MINUS))
            items.append((base, exponent))
        return coefficient, items


def _is_shifted(term: Term) -> bool:
    return term.kind == SUM and any(
        c < 0 and t.is_call("stop_gradient", "where") for t, c in term.items)


def _may_multiply(exponent: Term, n: int) -> bool:
    """Return whether (b^e)^n is b^(e*n) for real numbers, but for poles."""
    return exponent.kind != NUMBER or n == 1 or whole(exponent.value) is not None or (
        whole(numbers.times(exponent.value, Fraction(n))) is None) or n < 0


def power(a: Algebra, base: Term, exponent: Term) -> Term:
    """Return base^exponent."""
    if exponent.is_number(1):
        return base
    if exponent.is_number(0):
        return a.number(ONE)
    if exponent.kind == NUMBER:
        n = whole(exponent.value)
        if base.is_number(0) and exponent.value > 0:
            return base
        if n is not None and n % 2 == 0 and base.is_call("abs"):
            return power(a, base.args[0], exponent)
        root = _root(base.value) if exponent.value == HALF and base.kind == NUMBER else None
        if root is not None:
            return a.number(root)
        if n is None and base.kind == PRODUCT and base.value > 0:
            outside = _out_of_root(a, base, exponent)
            if outside is not None:
                return outside
    return a.product_of([(base, exponent)])


def _out_of_root(a: Algebra, base: Term, exponent: Term) -> Term | None:
    """Take positive factors out of a root, sqrt(4*x) to 2*sqrt(x); return None if there are none.
    """
    fixed = [(b, e) for b, e in base.items if constant(b) and e.kind == NUMBER]
    root = _root(base.value) if exponent.value in (HALF, -HALF) else None
    if not fixed and (root is None or root == 1):
        return None
    one = a.number(ONE)
    number = power(a, a.number(base.value), exponent) if root is None else (
        a.number(root if exponent.value > 0 else 1 / root))
    rest = [item for item in base.items if item not in fixed]
    inner = [(a.product_of(rest), exponent)] if rest else []
    return a.product_of([(number, one), *[
        (b, a.times(e, exponent)) for b, e in fixed], *inner])


def constant(term: Term) -> bool:
    """Return whether a term is pi or e."""
    return term.kind == NAME and bool(term.attributes)


def _root(value: Number) -> Number | None:
    """Return the square root of a fraction that has a rational one, else None."""
    if isinstance(value, Fraction) and value >= 0:
        from math import isqrt

        p, q = isqrt(value.numerator), isqrt(value.denominator)
        if p * p == value.numerator and q * q == value.denominator:
            return Fraction(p, q)
    return None
