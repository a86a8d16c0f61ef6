"""Sums, products and powers as text, with as few brackets as their operators need."""

from __future__ import annotations

from gradcli.formulas import numbers
from gradcli.formulas.atoms import Atoms
from gradcli.formulas.numbers import HALF, whole
from gradcli.formulas.sharing import negative_power, power
from gradcli.formulas.terms import CALL, NAME, NUMBER, PRODUCT, SUM
from gradcli.formulas.text import ADDED, ATOM, MULTIPLIED, POWER, SIGN, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.formulas.numbers import Number
    from gradcli.formulas.terms import Term
    from gradcli.formulas.text import Text


class Arithmetic(Atoms):
    """Arithmetic with operators. `found` is the texts of the parts, by their terms' numbers."""

    __slots__ = ()

    power_sign = "^"

    def sum(self, term: Term, found: Mapping[int, Text]) -> Text:
        """A sum, a positive term first where there is one."""
        parts = [self.scaled(c, t, found) for t, c in term.items]
        if term.value > 0 and all(text.startswith("-") for text, _ in parts):
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

    def scaled(self, coefficient: Number, term: Term, found: Mapping[int, Text]) -> Text:
        """A number times a term whose text is known."""
        text = found[term.number]
        if coefficient == 1:
            return text
        if term.kind == PRODUCT and text[1] != ATOM:
            return self.product(self.algebra.table.product(coefficient, term.items), found)
        sign, above, below = self.split(coefficient)
        return self.quotient(sign, above, [text], below, [])

    def product(self, term: Term, found: Mapping[int, Text]) -> Text:
        """A product of powers, those with negative exponents below the line."""
        table = self.algebra.table
        items = list(term.items)
        if len(items) == 1 and term.value == 1 and not negative_power(items[0][1]):
            return self.raised(found[items[0][0].number], items[0][1], found)
        whole_term = table.monic(term)
        sign, above, below = self.split(term.value)
        if whole_term.number in found and found[whole_term.number][1] == ATOM and (
                whole_term is not term and whole_term.kind == PRODUCT):
            return self.quotient(sign, above, [found[whole_term.number]], below, [])
        up: list[Text] = []
        down: list[Text] = []
        turned = self._turned(term, found)
        items = self._with_constants(items, found, up, down)
        for base, exponent in sorted(items, key=_place):
            factor = power(table, base, exponent)
            if base is turned:
                text = self._negated(base, exponent, found)
                sign = ""
            elif factor.number in found:
                text = found[factor.number]
            else:
                text = self.raised(found[base.number], factor.items[0][1] if (
                    factor is not base) else table.number(numbers.ONE), found)
            (down if negative_power(exponent) else up).append(text)
        return self.quotient(sign, above, up, below, down)

    def _with_constants(self, items: Sequence[tuple[Term, Term]], found: Mapping[int, Text],
                        up: list[Text], down: list[Text]) -> list[tuple[Term, Term]]:
        """sqrt(2)*sqrt(pi) as one root; the factors that are left."""
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

    def _turned(self, term: Term, found: Mapping[int, Text]) -> Term | None:
        """The difference in a negative product that takes the sign in: -x*(a - b) is x*(b - a),
        unless it has a name.
        """
        if term.value >= 0:
            return None
        for base, exponent in term.items:
            n = whole(exponent.value) if exponent.kind == NUMBER else None
            if base.kind == SUM and n is not None and n % 2 and found[base.number][1] != ATOM and (
                    base.value < 0 or any(c < 0 for _, c in base.items)):
                return base
        return None

    def _negated(self, base: Term, exponent: Term, found: Mapping[int, Text]) -> Text:
        """A sum with its signs turned, to a power without sign."""
        table = self.algebra.table
        return self.raised(self.sum(table.turned(base), found),
                           table.number(abs(exponent.value)), found)

    def raised(self, base: Text, exponent: Term, found: Mapping[int, Text]) -> Text:
        """base^exponent with an exponent that is not negative."""
        if exponent.kind == NUMBER:
            if exponent.value == 1:
                return base
            if exponent.value == HALF:
                return self.root(base)
            return self.powered(base, self.number(exponent.value), exponent)
        return self.powered(base, found[exponent.number], exponent)

    def root(self, base: Text) -> Text:
        """The square root."""
        return f"sqrt({base[0]})", ATOM

    def powered(self, base: Text, exponent: Text, term: Term) -> Text:
        """A power with an operator."""
        return f"{inside(base, ATOM)}{self.power_sign}{inside(exponent, ATOM)}", POWER

    def quotient(self, sign: str, above: str, up: Sequence[Text], below: str,
                 down: Sequence[Text]) -> Text:
        """sign above*up/(below*down)."""
        if len(up) == 1 and not above and not below and not down:
            only = up[0]
            return (f"-{self.enclosed(only, MULTIPLIED)}", min(SIGN, max(only[1], MULTIPLIED))
                    ) if sign else only
        return self.fraction(sign, above, up, below, down)

    def enclosed(self, text: Text, strength: int) -> str:
        """A text as an operand, in brackets where it needs them."""
        return inside(text, strength)

    def fraction(self, sign: str, above: str, up: Sequence[Text], below: str,
                 down: Sequence[Text]) -> Text:
        """The same where there is more than one factor."""
        over, under = [[*([number] if number else []), *[inside(f, POWER) for f in factors]]
                       for number, factors in ((above, up), (below, down))]
        text = "*".join(over) or self.whole(1)
        if under:
            line = "*".join(under)
            text = f"{text}/({line})" if len(under) > 1 else f"{text}/{line}"
        return sign + text, MULTIPLIED


def _place(item: tuple[Term, Term]) -> tuple[int, int]:
    """Factors in the order in which people write them: names, functions, sums."""
    base, exponent = item
    if base.kind == NAME and exponent.kind != NUMBER:
        return 2, base.number
    rank = {NUMBER: -1, NAME: 0 if base.attributes else 1, CALL: 3, SUM: 4}.get(base.kind, 2)
    return rank, base.number
