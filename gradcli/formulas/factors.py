"""Terms as numbers times powers of different bases: sums over one denominator, expanded and
collected, with common factors cancelled.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from gradcli.formulas import monomials
from gradcli.formulas.monomials import TooLong
from gradcli.formulas.rewrites import positive
from gradcli.formulas.terms import CALL, HALF, MINUS, NAME, NUMBER, ONE, PRODUCT, SUM, ZERO, whole
from gradcli.formulas.text.arithmetic import LAST
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.monomials import Monomial, Monomials
    from gradcli.formulas.terms import Number, Term

    # A coefficient, and the exponents of bases by the numbers of their terms.
    Factors = tuple[Fraction, dict[int, Fraction]]


class Canonical:
    """Terms as numbers times powers.

    squares: for functions whose squares are replaced, (name of the partner, its coefficient,
    constant): sin: (cos, -1, 1) since sin^2 = 1 - cos^2; for those that are quotients of others,
    these: tan: (sin, cos); the numbers of sin(2*u) and cos(2*u) that are written with functions of
    u. kept: the numbers of sums that are not opened. familiar: what a reader
    has seen, which stands first. sums: by number those that are made here. rooted: those of them
    below roots, which keep their signs. unexpanded: a sum by its summands, as they were before they
    were multiplied out.
    """

    def __init__(self, a: Algebra, squares: Mapping[str | int, tuple[Any, ...]],
                 kept: Collection[int] = (), familiar: Collection[Term] = ()) -> None:
        self.algebra = a
        self.squares = squares
        self.kept = kept
        self.familiar = familiar
        self.ascending = any(_is_ascending(a, t) for t in familiar if t.kind == SUM)
        self.known: dict[int, Factors] = {}
        self.sums: dict[int, Monomials] = {}
        self.rooted: set[int] = set()
        self.unexpanded: dict[int, list[Factors]] = {}

    def of(self, term: Term) -> Factors:
        """Return a term as factors. Raises TooLong."""
        found = self.known.get(term.number)
        if found is None:
            found = self.known[term.number] = self._found(term)
        return found

    def _found(self, term: Term) -> Factors:
        if term.kind == NUMBER and isinstance(term.value, Fraction):
            return term.value, {}
        if term.kind == SUM and self.kept:
            if term.number in self.kept:
                return ONE, {term.number: ONE}
            turned = self.algebra.table.turned(term)
            if turned.number in self.kept:
                return MINUS, {turned.number: ONE}
        if term.kind == SUM:
            return self.together(self.parts(term))
        if term.kind == PRODUCT:
            return self._times(self._number(term.value), *[
                self._power(b, e) for b, e in term.items])
        if term.is_call("exp") and term.args[0].kind != NUMBER:
            return self._exponential(term.args[0])
        if term.number in self.squares:
            return self._of_half(term)
        quotient = self.squares.get(term.operation.name, ()) if term.kind == CALL else ()
        if len(quotient) == 2:
            return ONE, {
                self.algebra.call(TABLE[name], term.args, None, None).number: exponent
                for name, exponent in zip(quotient, (ONE, MINUS), strict=True) if name}
        return ONE, {term.number: ONE}

    def parts(self, term: Term) -> list[Factors]:
        """Return the summands of a sum as factors. Raises TooLong."""
        return [*[self._times(self.of(t), self._number(c)) for t, c in term.items],
                self._number(term.value)]

    def find_roots(self, term: Term) -> None:
        """Find the sums below roots, which keep their signs elsewhere, too."""
        for one in self.algebra.table.of([term]):
            for base, exponent in one.items if one.kind == PRODUCT else ():
                if base.kind == SUM and exponent.kind == NUMBER and whole(exponent.value) is None:
                    self.of(one)

    def _number(self, value: Number) -> Factors:
        """Return a number as factors; a float is a base."""
        if isinstance(value, Fraction):
            return value, {}
        return ONE, {self.algebra.number(value).number: ONE}

    def _times(self, *all_factors: Factors) -> Factors:
        coefficient, powers = ONE, dict[int, Fraction]()
        for c, more in all_factors:
            coefficient *= c
            for base, exponent in more.items():
                before = powers.get(base, ZERO)
                powers[base] = before + exponent
                if before * exponent < 0 <= powers[base]:
                    self.algebra.note(self.algebra.table.all[base], "!= 0")
        return self._settled(coefficient, powers)

    def _settled(self, coefficient: Fraction, powers: Mapping[int, Fraction]) -> Factors:
        """Return factors with whole powers of what stood below a root multiplied out."""
        kept: dict[int, Fraction] = {}
        opened: list[Factors] = []
        for number, exponent in powers.items():
            base = self.algebra.table.all[number]
            n = exponent.numerator // exponent.denominator
            if base.kind == NUMBER and isinstance(base.value, Fraction) and n:
                if abs(n) > monomials.MOST or base.value == 0:
                    raise TooLong
                coefficient *= base.value**n
                exponent -= n
            elif exponent.denominator == 1 and exponent and number not in self.sums and (
                    number not in self.kept) and base.kind in (SUM, PRODUCT) and not (
                        _is_symbolic(base)):
                opened.append(self._raised(self.of(base), n))
                exponent = ZERO
            if exponent:
                kept[number] = exponent
        return self._times((coefficient, kept), *opened) if opened else (coefficient, kept)

    def _raised(self, factors: Factors, n: int) -> Factors:
        """Return a whole power of factors. Raises TooLong."""
        coefficient, powers = factors
        if (coefficient == 0 and n < 0) or (abs(n) > monomials.MOST and coefficient != 1):
            raise TooLong
        return self._settled(coefficient**n, {base: e * n for base, e in powers.items()})

    # --- powers -------------------------------------------------------------------------------

    def _power(self, base: Term, exponent: Term) -> Factors:
        """Return a power: x^(2*n - 1) as the square of x^n by x^-1."""
        if exponent.kind == NUMBER and isinstance(exponent.value, Fraction):
            n = whole(exponent.value)
            if n is not None:
                return self._raised(self.of(base), n)
            return self._root(base, exponent.value)
        a = self.algebra
        if exponent.kind == SUM and isinstance(exponent.value, Fraction) and exponent.value:
            return self._times(self._power(base, a.sum_of(exponent.items)), self._power(
                base, a.number(exponent.value)))
        coefficient, rest = a.split(exponent)
        n = whole(coefficient)
        if rest is not None and n is not None and n != 1:
            return self._raised(self._power(base, rest), n)
        return ONE, {a.power(base, exponent).number: ONE}

    def _root(self, base: Term, exponent: Fraction) -> Factors:
        """Return a power that is not whole: what is positive stands outside of the root, and what
        is a root itself, which is not negative either.
        """
        a = self.algebra
        coefficient, powers = self.of(base)
        if not powers or coefficient == 0:
            return ONE, {base.number: exponent}
        out: dict[int, Fraction] = {}
        left = dict(powers)
        for number in powers:
            if positive(a.table.all[number]) or powers[number].denominator > 1:
                out[number] = left.pop(number) * exponent
        root = a.power(a.number(abs(coefficient)), a.number(exponent))
        if root.kind == NUMBER and isinstance(root.value, Fraction):
            sign = MINUS if coefficient < 0 else ONE
            return self._times((root.value, out), self._inside(sign, left, base, exponent))
        return self._times((ONE, out), self._inside(coefficient, left, base, exponent))

    def _inside(self, coefficient: Fraction, powers: Mapping[int, Fraction], base: Term,
                exponent: Fraction) -> Factors:
        """Return a root of what is not positive. base: as it was written."""
        if not powers and coefficient == 1:
            return ONE, {}
        (number, e), *more = powers.items() or [(0, ZERO)]
        inner = self.sums.get(number)
        if not more and e == 1 and inner is not None:
            if coefficient != 1:
                inner = monomials.scaled(inner, coefficient)
                number = self.sum_term(inner).number
                self.sums[number] = inner
            self.rooted.add(number)
        elif more or e != 1 or coefficient != 1:
            term = self.term((coefficient, dict(powers)))
            number = (base if base.kind == SUM and self.of(base) == (coefficient, powers) else term
                      ).number
        return ONE, {number: exponent}

    def _exponential(self, argument: Term) -> Factors:
        """Return e^u with whole multiples of u as powers of one base."""
        a = self.algebra
        if argument.kind == PRODUCT:
            for base, exponent in argument.items:
                if base.is_call("log") and base.args[0].kind == NUMBER and (
                        exponent.is_number(1) and base.args[0].value > 0):
                    rest = a.times(argument, a.power(base, a.number(MINUS)))
                    return self._power(base.args[0], rest)
        found = ONE
        if argument.kind == SUM:
            values = [*[c for _, c in argument.items], argument.value]
            if all(isinstance(v, Fraction) for v in values):
                found = monomials.content({((k, ONE),): v for k, v in enumerate(values) if v})
        else:
            coefficient, _ = a.split(argument)
            found = coefficient if isinstance(coefficient, Fraction) else ONE
        unit = a.times(argument, a.number(1 / found))
        term = a.table.call(TABLE["exp"], [unit], None, ())
        return ONE, {term.number: found}

    def _of_half(self, term: Term) -> Factors:
        """Return sin(2*u) as 2*sin(u)*cos(u), cos(2*u) as 1 - 2*sin(u)^2."""
        a = self.algebra
        half = a.times(term.args[0], a.number(HALF))
        sine, cosine = [a.call(TABLE[name], [half], None, None) for name in ("sin", "cos")]
        if term.is_call("sin"):
            return self._times((Fraction(2), {}), self.of(sine), self.of(cosine))
        return self.of(a.add(a.number(ONE), a.times(a.number(Fraction(-2)), sine, sine)))

    # --- sums ---------------------------------------------------------------------------------

    def together(self, parts: Sequence[Factors]) -> Factors:
        """Return a sum of factors over one denominator. Raises TooLong."""
        parts = [part for part in parts if part[0]]
        if not parts:
            return ZERO, {}
        if len(parts) == 1:
            return parts[0]
        shared = dict(monomials.common([tuple(powers.items()) for _, powers in parts]))
        rest = [(c, {number: powers.get(number, ZERO) - shared.get(number, ZERO)
                     for number in {*powers, *shared}}) for c, powers in parts]
        total = self._replaced(monomials.plus(*[self.expanded(*one) for one in rest]))
        if not total:
            return ZERO, {}
        for number, exponent in list(shared.items()):
            divisor = self.sums.get(number)
            while divisor and exponent < 0 and exponent.denominator == 1:
                quotient = monomials.divided(total, divisor)
                if quotient is None:
                    break
                total = quotient
                exponent += 1
                self.algebra.note(self.algebra.table.all[number], "!= 0")
            shared[number] = exponent
        made = self.of_sum(total)
        if len(made[1]) == 1:
            ((number, _),) = made[1].items()
            self.unexpanded.setdefault(number, [(c / made[0], powers) for c, powers in rest])
        return self._times((ONE, {n: e for n, e in shared.items() if e}), made)

    def expanded(self, coefficient: Fraction, powers: Mapping[int, Fraction]) -> Monomials:
        """Return factors with whole powers of sums multiplied out. Raises TooLong."""
        total = monomials.constant(coefficient)
        for number, exponent in powers.items():
            inner = self.sums.get(number)
            n = exponent.numerator // exponent.denominator
            if inner is not None and n > 0:
                total = monomials.times(total, monomials.power(inner, n))
                exponent -= n
            if exponent:
                total = monomials.scaled(total, ONE, ((number, exponent),))
        return self._opened(total)

    def _opened(self, total: Monomials) -> Monomials:
        """Return a sum with whole powers of what stands below roots multiplied out."""
        parts = []
        for monomial, coefficient in total.items():
            factors = self._settled(coefficient, dict(monomial))
            if factors == (coefficient, dict(monomial)):
                opened = [number for number, e in monomial if e >= 1 and number in self.sums]
                if not opened:
                    parts.append({monomial: coefficient})
                    continue
            parts.append(self.expanded(*factors))
        return monomials.plus(*parts)

    def of_sum(self, total: Monomials) -> Factors:
        """Return a sum as factors: its content, its monomial, and what is left."""
        outside = monomials.common(total)
        inner = monomials.scaled(total, ONE, monomials.inverse(outside))
        size = monomials.content(inner)
        inner = monomials.scaled(inner, 1 / size)
        if len(inner) == 1:
            return size, dict(outside)
        term = self.sum_term(inner)
        turned = self.sum_term(monomials.scaled(inner, MINUS))
        if turned.number in self.rooted:
            term, size, inner = turned, -size, monomials.scaled(inner, MINUS)
        if term.kind != SUM:
            return self._times((size, dict(outside)), self.of(term))
        self.sums[term.number] = inner
        return size, {**dict(outside), term.number: ONE}

    def _replaced(self, total: Monomials) -> Monomials:
        """Return a sum with squares of functions written with their partners."""
        a = self.algebra
        for number in {n for monomial in total for n, _ in monomial} if self.squares else ():
            term = a.table.all[number]
            found = self.squares.get(term.operation.name, ()) if term.kind == CALL else ()
            if len(found) == 3:
                partner = a.call(TABLE[found[0]], term.args, None, None)
                square = {((partner.number, Fraction(2)),): Fraction(found[1]),
                          monomials.ONE: Fraction(found[2])}
                total = monomials.substituted(total, number, square)
        return total

    # --- and back -----------------------------------------------------------------------------

    def term(self, factors: Factors) -> Term:
        """Return factors as a term."""
        a = self.algebra
        coefficient, powers = factors
        return a.times(a.number(coefficient), a.product_of([
            (a.table.all[number], a.number(e)) for number, e in powers.items()]))

    def sum_term(self, total: Monomials) -> Term:
        """Return a sum as a term, its summands in the order in which people write them."""
        a = self.algebra
        made = [(self.term((ONE, dict(m))), c, m) for m, c in total.items()]
        term = a.sum_of([(t, c) for t, c, _ in made])
        if term.kind == SUM and term.number not in a.table.written:
            place = {t.number: self._place(m) for t, _, m in made}
            order = sorted([t for t, _ in term.items], key=lambda t: place.get(t.number, ()))
            constant = [None] if term.value else []
            a.table.written[term.number] = [*constant, *order] if self.ascending else [
                *order, *constant]
        return term

    def _place(self, monomial: Monomial) -> tuple[object, ...]:
        """Return the sort key of a summand: those with functions that were there, powers of names,
        the highest first, then those with new functions.
        """
        everything = self.algebra.table.all
        others = sorted([(n, -e) for n, e in monomial if everything[n].kind != NAME])
        names = {everything[n].value: e for n, e in monomial if everything[n].kind == NAME}
        total = sum(names.values())
        rank = 1 if not others else 0 if all(
            everything[n] in self.familiar for n, _ in others) else 2
        down = 1 if others or self.ascending else -1
        return (rank, down * total, others, [down * names.get(name, ZERO) for name in LAST],
                [n for n, _ in monomial])


def _is_symbolic(term: Term) -> bool:
    return term.kind == PRODUCT and any(
        e.kind != NUMBER or isinstance(e.value, float) for _, e in term.items)


def _is_ascending(a: Algebra, term: Term) -> bool:
    """Return whether a sum was written with the lowest power of a name first: 1 + x + x^2/2."""
    degrees: list[Fraction] = []
    for one in a.table.written.get(term.number, ()):
        powers = {} if one is None else dict(one.items) if one.kind == PRODUCT else {
            one: a.number(ONE)}
        if any(b.kind != NAME or e.kind != NUMBER for b, e in powers.items()):
            return False
        degrees.append(sum([e.value for b, e in powers.items() if b.value in LAST], ZERO))
    return len(degrees) > 2 and all(x < y for x, y in pairwise(degrees))
