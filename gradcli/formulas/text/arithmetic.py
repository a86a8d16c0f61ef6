"""Names, numbers, sums, products and powers as text, with as few brackets as they need."""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.base.errors import error
from gradcli.formulas import terms as numbers
from gradcli.formulas.sharing import negative_power, power
from gradcli.formulas.terms import CALL, HALF, NAME, NUMBER, PRODUCT, SUM, whole
from gradcli.ops.text import ADDED, ATOM, MULTIPLIED, POWER, SIGN, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Number, Term
    from gradcli.ops.text import Piece


# --------------------------------------------------------------------------------------------------
# Numbers, names and constant arrays as text.

# Arrays of more elements are no formula.
MAX_ELEMENTS = 10_000


class Atoms:
    """The names and numbers of formulas in one language.

    needs: what a file has to import for the texts so far. names: those of the file that the
    language cannot have, to what they are called. paper: for people, not for computers: sums in the
    order in which they were written, and no decimals in place of fractions.
    """

    __slots__ = ("algebra", "names", "needs", "paper")

    def __init__(self, algebra: Algebra, paper: bool = False) -> None:
        self.algebra = algebra
        self.paper = paper
        self.needs: set[str] = set()
        self.names: dict[str, str] = {}

    def identifier(self, name: str) -> Piece:
        """Return a name of the file."""
        return self.names.get(name, name), ATOM

    def constant(self, name: str) -> Piece:
        """Return pi or e; as a number where a name of the file hides it."""
        if self.algebra.table.has_name(name):
            return repr({"pi": math.pi, "e": math.e}[name]), ATOM
        return name, ATOM

    def whole(self, n: int) -> str:
        """Return a whole number that is not negative."""
        return str(n)

    def decimal(self, text: str) -> str:
        """Return a decimal; it is given as Python writes it."""
        return text

    def number(self, value: Number) -> Piece:
        """Return a number by itself."""
        if isinstance(value, Fraction):
            sign = "-" if value < 0 else ""
            value = Fraction(-value if value < 0 else value)
            strength = SIGN if sign else ATOM
            if value.denominator == 1:
                return sign + self.whole(value.numerator), strength
            short = self._short(value)
            long = self.ratio(value)
            if short is not None and len(short) <= len(long) + 1:
                return sign + self.decimal(short), strength
            return sign + long, MULTIPLIED
        return self.float(value)

    def _short(self, value: Fraction) -> str | None:
        """Return a fraction as a decimal, None where it stays a fraction."""
        return None if self.paper and not self.algebra.decimals else numbers.decimal(value)

    def ratio(self, value: Fraction) -> str:
        """Return p/q."""
        return f"{self.whole(value.numerator)}/{self.whole(value.denominator)}"

    def float(self, value: float) -> Piece:
        """Return a float that is no fraction."""
        if value != value:
            return "nan", ATOM
        text = "inf" if abs(value) == float("inf") else repr(abs(value))
        return ("-" + text, SIGN) if value < 0 else (text, ATOM)

    def split(self, value: Number) -> tuple[str, str, str]:
        """Return (sign, numerator, denominator) of a coefficient; an empty text stands for 1."""
        sign = "-" if value < 0 else ""
        value = -value if value < 0 else value
        if isinstance(value, Fraction):
            short = self._short(value) if value.denominator != 1 else None
            p = "" if value.numerator == 1 else self.whole(value.numerator)
            q = "" if value.denominator == 1 else self.whole(value.denominator)
            # 99*x/5 is 19.8*x, but 3*x/2 stays.
            room = len(p) + len(q) + (1 if p else 0)
            inverse = self._short(1 / value) if len(q) > 3 and p else None
            if inverse is not None and len(inverse) < room:
                return sign, "", self.decimal(inverse)
            if short is not None and len(short) < room + (1 if value.denominator > 4 else 0):
                return sign, self.decimal(short), ""
            return sign, p, q
        return sign, "" if value == 1 else self.float(value)[0], ""

    def array(self, value: Any) -> Piece:
        """Return a constant array. Raises E0803 for one of more than MAX_ELEMENTS elements."""
        if value.size > MAX_ELEMENTS:
            raise error("E0803",
                        f"a constant array of {value.size:,} elements is too large for a formula",
                        help="make it an input: then it stands there by its name")
        return self.nested(value.tolist()), ATOM

    def nested(self, value: Any) -> str:
        """Return numbers in brackets. Raises E0804 for complex ones."""
        if isinstance(value, list):
            return f"[{', '.join([self.nested(v) for v in value])}]"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return self.number(numbers.exact(float(value)))[0]
        raise error("E0804", "complex numbers cannot be written in a formula",
                    help="gradcli grad gives numbers")


# --------------------------------------------------------------------------------------------------
# Sums, products and powers as text, with as few brackets as their operators need.

class Arithmetic(Atoms):
    """Arithmetic with operators. `found` is the texts of the parts, by their terms' numbers."""

    __slots__ = ()

    power_sign = "^"

    def sum(self, term: Term, found: Mapping[int, Piece]) -> Piece:
        """Return a sum, a positive term first where there is one."""
        parts = [self.scaled(c, t, found) for t, c in term.items]
        written = self.algebra.table.written.get(term.number) if self.paper else None
        if written:
            by_term = {t: part for (t, _), part in zip(term.items, parts, strict=True)}
            parts = [self.number(term.value) if t is None else by_term[t] for t in written]
        elif term.value > 0 and all(text.startswith("-") for text, _ in parts):
            parts.insert(0, self.number(term.value))
        elif term.value != 0:
            parts.append(self.number(term.value))
        first = next((k for k, (text, _) in enumerate(parts) if not text.startswith("-")), 0)
        parts.insert(0, parts.pop(first))
        out = inside(parts[0], ADDED)
        for one in parts[1:]:
            shown = inside(one, ADDED)
            out += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
        return out, ADDED

    def scaled(self, coefficient: Number, term: Term, found: Mapping[int, Piece]) -> Piece:
        """Return a number times a term whose text is known."""
        text = found[term.number]
        if coefficient == 1:
            return text
        if term.kind == PRODUCT and text[1] != ATOM:
            return self.product(self.algebra.table.product(coefficient, term.items), found)
        sign, above, below = self.split(coefficient)
        return self.quotient(sign, above, [text], below, [])

    def product(self, term: Term, found: Mapping[int, Piece]) -> Piece:
        """Return a product of powers, those with negative exponents in the denominator."""
        table = self.algebra.table
        items = list(term.items)
        if len(items) == 1 and term.value == 1 and not negative_power(items[0][1]):
            return self.raised(found[items[0][0].number], items[0][1], found)
        whole_term = table.monic(term)
        sign, above, below = self.split(term.value)
        if whole_term.number in found and found[whole_term.number][1] == ATOM and (
                whole_term is not term and whole_term.kind == PRODUCT):
            return self.quotient(sign, above, [found[whole_term.number]], below, [])
        up: list[Piece] = []
        down: list[Piece] = []
        turned, negative = self._turned(term, found)
        sign = "-" if negative else ""
        items = self._with_constants(items, found, up, down)
        for base, exponent in sorted(items, key=self.place):
            factor = power(table, base, exponent)
            if base in turned:
                text = self._negated(base, exponent, found)
            elif factor.number in found:
                text = found[factor.number]
            else:
                text = self.raised(found[base.number], factor.items[0][1] if (
                    factor is not base) else table.number(numbers.ONE), found)
            (down if negative_power(exponent) else up).append(text)
        return self.quotient(sign, above, up, below, down)

    def place(self, item: tuple[Term, Term]) -> tuple[float, float]:
        """Return the sort key of a factor."""
        return (_on_paper if self.paper else _place)(item)

    def _with_constants(self, items: Sequence[tuple[Term, Term]], found: Mapping[int, Piece],
                        up: list[Piece], down: list[Piece]) -> list[tuple[Term, Term]]:
        """Move roots of numbers as one, sqrt(2)*sqrt(pi) as sqrt(2*pi), to `up` and `down`; return
        the factors that are left.
        """
        table = self.algebra.table
        rest = list(items)
        for power_, side in ((HALF, up), (-HALF, down)):
            roots = [(b, e) for b, e in rest if e.is_number() and e.value == power_ and (
                b.kind == NUMBER or (b.kind == NAME and b.attributes))
                and found.get(power(table, b, e).number, ("", 0))[1] != POWER]
            if len(roots) > 1:
                rest = [item for item in rest if item not in roots]
                inner = self.quotient("", "", [
                    found[b.number] for b, _ in sorted(roots, key=_place)], "", [])
                side.append(self.root(inner))
        return rest

    def _turned(self, term: Term, found: Mapping[int, Piece]) -> tuple[list[Term], bool]:
        """Return the sums whose signs are turned, and whether the product is negative then: -x*(a -
        b) is x*(b - a). On paper no sum begins with a minus sign.
        """
        sums = [(base, n) for base, n in [
            (b, whole(e.value) if e.kind == NUMBER else None) for b, e in term.items
            if b.kind == SUM and found[b.number][1] != ATOM] if n is not None]
        turned = [b for b, _ in sums if self._begins_negative(b)] if self.paper else []
        negative = (term.value < 0) != (sum([n for b, n in sums if b in turned]) % 2 == 1)
        if negative:
            for base, n in sums:
                takes = self._is_difference(base, n) if self.paper else n % 2 == 1
                if takes and base not in turned and (
                        base.value < 0 or any(c < 0 for _, c in base.items)):
                    return [*turned, base], False
            for base in turned:
                if dict(sums)[base] in (1, -1):
                    return [b for b in turned if b is not base], False
        return turned, negative

    def _is_difference(self, base: Term, n: int) -> bool:
        """Return whether a sum takes a sign in on paper: a - b does, unless it was typed so."""
        return abs(n) == 1 and len(base.items) + (base.value != 0) == 2 and (
            base.number not in self.algebra.table.typed)

    def _begins_negative(self, term: Term) -> bool:
        """Return whether a sum is written with a negative summand first."""
        written = self.algebra.table.written.get(term.number)
        if written is None:
            return term.value < 0 and all(c < 0 for _, c in term.items)
        first = term.value if written[0] is None else dict(term.items)[written[0]]
        return bool(first < 0)

    def _negated(self, base: Term, exponent: Term, found: Mapping[int, Piece]) -> Piece:
        """Return a sum with its signs turned, to a power without sign."""
        table = self.algebra.table
        return self.raised(self.sum(table.turned(base), found),
                           table.number(abs(exponent.value)), found)

    def raised(self, base: Piece, exponent: Term, found: Mapping[int, Piece]) -> Piece:
        """Return base^exponent with an exponent that is not negative."""
        if exponent.kind == NUMBER:
            if exponent.value == 1:
                return base
            if exponent.value == HALF:
                return self.root(base)
            return self.powered(base, self.number(exponent.value), exponent)
        return self.powered(base, found[exponent.number], exponent)

    def root(self, base: Piece) -> Piece:
        """Return the square root."""
        return f"sqrt({base[0]})", ATOM

    def powered(self, base: Piece, exponent: Piece, term: Term) -> Piece:
        """Return a power with an operator."""
        return f"{inside(base, ATOM)}{self.power_sign}{inside(exponent, ATOM)}", POWER

    def quotient(self, sign: str, above: str, up: Sequence[Piece], below: str,
                 down: Sequence[Piece]) -> Piece:
        """Return sign above*up/(below*down)."""
        if len(up) == 1 and not above and not below and not down:
            only = up[0]
            return (f"-{self.enclosed(only, MULTIPLIED)}", min(SIGN, max(only[1], MULTIPLIED))
                    ) if sign else only
        return self.fraction(sign, above, up, below, down)

    def enclosed(self, text: Piece, strength: int) -> str:
        """Return a text as an operand, in brackets where it needs them."""
        return inside(text, strength)

    def fraction(self, sign: str, above: str, up: Sequence[Piece], below: str,
                 down: Sequence[Piece]) -> Piece:
        """Return a product or quotient of several factors as text."""
        over, under = [[*([number] if number else []), *[inside(f, POWER) for f in factors]]
                       for number, factors in ((above, up), (below, down))]
        text = "*".join(over) or self.whole(1)
        if under:
            line = "*".join(under)
            text = f"{text}/({line})" if len(under) > 1 else f"{text}/{line}"
        return sign + text, MULTIPLIED


LAST = ("x", "y", "z")
"""Names of variables, which stand behind those of parameters on paper."""


def _on_paper(item: tuple[Term, Term]) -> tuple[float, int]:
    """Return the sort key of a factor on paper: parameters, variables, sums of names, functions."""
    base, _ = item
    rank, number = _place(item)
    if rank == 1 and base.value in LAST:
        return 1.5, LAST.index(base.value)
    if base.kind == SUM and all(t.kind != CALL for t, _ in base.items):
        return 2.5, number
    return rank, number


def _place(item: tuple[Term, Term]) -> tuple[int, int]:
    """Return the sort key of a factor, in the order in which people write them: names, functions,
    sums.
    """
    base, exponent = item
    if base.kind == NAME and exponent.kind != NUMBER:
        return 2, base.number
    rank = {NUMBER: -1, NAME: 0 if base.attributes else 1, CALL: 3, SUM: 4}.get(base.kind, 2)
    return rank, base.number
