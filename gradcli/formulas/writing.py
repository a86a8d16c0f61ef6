"""Terms as text, with as few brackets as their operators need; the languages differ in data.

A text is made bottom-up from those of the parts, so no formula is too deep to be written.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.errors import error
from gradcli.formulas import numbers
from gradcli.formulas.numbers import HALF, whole
from gradcli.formulas.sharing import LONGEST, in_order, monic, negative_power, power
from gradcli.formulas.terms import ARRAY, CALL, NAME, NUMBER, PRODUCT, SUM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.numbers import Number
    from gradcli.formulas.terms import Term

# Binding strength of what a text was made by, weakest first.
CHOICE, OR, AND, NOT, COMPARISON, ADDED, MULTIPLIED, SIGN, POWER, ATOM = range(10)

Text = tuple[str, int]

COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
               "equal": "==", "not_equal": "!="}

# Arrays of more elements are no formula.
MAX_ELEMENTS = 10_000


class Writer:
    """One language.

    name: as --format knows it. functions: operation to the function of the language. lowered:
    operation to what is written in place of it, made of terms.
    """

    __slots__ = ("algebra", "needs")

    name = "gradcli"
    power = "^"
    functions: ClassVar[Mapping[str, str]] = {}
    lowered: ClassVar[Mapping[str, Callable[..., Term]]] = {}

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.needs: set[str] = set()

    # --- what sharing asks ----------------------------------------------------------------------

    def lengths(self, terms: Sequence[Term], names: Mapping[int, str]) -> dict[int, int]:
        """The lengths of the texts of terms that are in order, parts first."""
        found: dict[int, Text] = {}
        long: dict[int, int] = {}
        for term in terms:
            text = self._text(term, found, names)
            long[term.number] = len(text[0])
            if len(text[0]) > LONGEST:  # nobody writes that out: a part of it gets a name
                text = text[0][:LONGEST], text[1]
            found[term.number] = self.identifier(names[term.number]) if (
                term.number in names) else text
        return long

    def texts(self, terms: Sequence[Term], names: Mapping[int, str],
              whole: Sequence[Term] = ()) -> list[str]:
        """Terms as text; those of `whole` are written out although they have a name."""
        found: dict[int, Text] = {}
        own: dict[int, str] = {}
        for term in in_order(self.algebra.table, [*terms, *whole]):
            text = self._text(term, found, names)
            own[term.number] = text[0]
            found[term.number] = self.identifier(names[term.number]) if (
                term.number in names) else text
        return [found[t.number][0] for t in terms] + [own[t.number] for t in whole]

    def _text(self, term: Term, found: Mapping[int, Text], names: Mapping[int, str]) -> Text:
        if term.kind == NUMBER:
            return self.number(term.value)
        if term.kind == NAME:
            return self.constant(term.value) if term.attributes else self.identifier(term.value)
        if term.kind == ARRAY:
            return self.array(term.value)
        if term.kind == SUM:
            return self.sum(term, found)
        if term.kind == PRODUCT:
            return self.product(term, found)
        return self.call(term, [found[a.number] for a in term.args])

    # --- atoms ----------------------------------------------------------------------------------

    def identifier(self, name: str) -> Text:
        """A name of the file."""
        return name, ATOM

    def constant(self, name: str) -> Text:
        """pi or e; as a number where a name of the file hides it."""
        if self.algebra.table.has_name(name):
            return repr({"pi": math.pi, "e": math.e}[name]), ATOM
        return name, ATOM

    def whole(self, n: int) -> str:
        """A whole number that is not negative."""
        return str(n)

    def decimal(self, text: str) -> str:
        """A decimal as Python writes it."""
        return text

    def number(self, value: Number) -> Text:
        """A number by itself."""
        if isinstance(value, Fraction):
            sign = "-" if value < 0 else ""
            value = Fraction(-value if value < 0 else value)
            strength = SIGN if sign else ATOM
            if value.denominator == 1:
                return sign + self.whole(value.numerator), strength
            short = numbers.decimal(value)
            long = self.ratio(value)
            if short is not None and len(short) <= len(long) + 1:
                return sign + self.decimal(short), strength
            return sign + long, MULTIPLIED
        return self.float(value)

    def ratio(self, value: Fraction) -> str:
        """p/q."""
        return f"{self.whole(value.numerator)}/{self.whole(value.denominator)}"

    def float(self, value: float) -> Text:
        """A float that is no fraction."""
        if value != value:
            return "nan", ATOM
        text = "inf" if abs(value) == float("inf") else repr(abs(value))
        return ("-" + text, SIGN) if value < 0 else (text, ATOM)

    def array(self, value: Any) -> Text:
        """A constant array. Raises E0803 for one that is too long to be written."""
        if value.size > MAX_ELEMENTS:
            raise error("E0803", f"a constant array of {value.size:,} elements is no formula",
                        help="make it an input: then it stands there by its name")
        return self.nested(value.tolist()), ATOM

    def nested(self, value: Any) -> str:
        """Numbers in brackets."""
        if isinstance(value, list):
            return f"[{', '.join([self.nested(v) for v in value])}]"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return self.number(numbers.exact(float(value)))[0]
        raise error("E0804", "complex numbers have no place in a formula",
                    help="gradcli grad gives numbers")

    # --- sums and products ----------------------------------------------------------------------

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

    def split(self, value: Number) -> tuple[str, str, str]:
        """(sign, numerator, denominator) of a coefficient; an empty text stands for 1."""
        sign = "-" if value < 0 else ""
        value = -value if value < 0 else value
        if isinstance(value, Fraction):
            short = numbers.decimal(value) if value.denominator != 1 else None
            p = "" if value.numerator == 1 else self.whole(value.numerator)
            q = "" if value.denominator == 1 else self.whole(value.denominator)
            # 99*x/5 is 19.8*x, but 3*x/2 stays.
            room = len(p) + len(q) + (1 if p else 0)
            inverse = numbers.decimal(1 / value) if len(q) > 3 and p else None
            if inverse is not None and len(inverse) < room:
                return sign, "", self.decimal(inverse)
            if short is not None and len(short) < room + (1 if value.denominator > 4 else 0):
                return sign, self.decimal(short), ""
            return sign, p, q
        return sign, "" if value == 1 else self.float(value)[0], ""

    def product(self, term: Term, found: Mapping[int, Text]) -> Text:
        """A product of powers, those with negative exponents below the line."""
        table = self.algebra.table
        items = list(term.items)
        if len(items) == 1 and term.value == 1 and not negative_power(items[0][1]):
            return self.raised(found[items[0][0].number], items[0][1], found)
        whole_term = monic(table, term)
        sign, above, below = self.split(term.value)
        if whole_term.number in found and found[whole_term.number][1] == ATOM and (
                whole_term is not term and whole_term.kind == PRODUCT):
            return self.quotient(sign, above, [found[whole_term.number]], below, [])
        up: list[Text] = []
        down: list[Text] = []
        turned = self._turned(term)
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

    def _turned(self, term: Term) -> Term | None:
        """The difference in a negative product that takes the sign in: -x*(a - b) is x*(b - a)."""
        if term.value >= 0:
            return None
        for base, exponent in term.items:
            n = whole(exponent.value) if exponent.kind == NUMBER else None
            if base.kind == SUM and n is not None and n % 2 and (
                    base.value < 0 or any(c < 0 for _, c in base.items)):
                return base
        return None

    def _negated(self, base: Term, exponent: Term, found: Mapping[int, Text]) -> Text:
        if found[base.number][1] == ATOM:  # it has a name
            text: Text = f"-{found[base.number][0]}", SIGN
        else:
            table = self.algebra.table
            text = self.sum(table.sum(-base.value, [(t, -c) for t, c in base.items]), found)
        return self.raised(text, self.algebra.table.number(abs(exponent.value)), found)

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
        return f"{inside(base, ATOM)}{self.power}{inside(exponent, ATOM)}", POWER

    def quotient(self, sign: str, above: str, up: Sequence[Text], below: str,
                 down: Sequence[Text]) -> Text:
        """sign above*up/(below*down)."""
        if len(up) == 1 and not above and not below and not down:
            only = up[0]
            if not sign:
                return only
            return f"-{inside(only, MULTIPLIED)}", min(SIGN, max(only[1], MULTIPLIED))
        ups = [above, *[inside(u, _tight(u)) for u in up]] if above else [
            inside(u, _tight(u)) for u in up]
        downs = [below, *[inside(d, _tight(d)) for d in down]] if below else [
            inside(d, _tight(d)) for d in down]
        text = "*".join(ups) or self.whole(1)
        if downs:
            under = "*".join(downs)
            text = f"{text}/({under})" if len(downs) > 1 else f"{text}/{under}"
        return sign + text, MULTIPLIED

    # --- operations -----------------------------------------------------------------------------

    def call(self, term: Term, args: Sequence[Text]) -> Text:
        """An operation of the table. Raises E0802 where the language has none like it."""
        assert term.op is not None
        name = term.op.name
        if name in COMPARISONS:
            return (f"{inside(args[0], ADDED)} {COMPARISONS[name]} {inside(args[1], ADDED)}",
                    COMPARISON)
        special = getattr(self, "op_" + name, None)
        if special is not None:
            found: Text = special(term, args)
            return found
        function = self.functions.get(name)
        if function is None:
            raise self.missing(term)
        return f"{function}({', '.join([a for a, _ in args])})", ATOM

    def missing(self, term: Term) -> Exception:
        """The error for what the language does not have."""
        assert term.op is not None
        name = term.op.name
        what = "`index` at a computed place" if name in ("put", "index") else f"`{name}`"
        return error("E0802", f"{what} cannot be written as {TITLES[self.name]}",
                     help="--format gradcli writes it" if self.name != "gradcli" else
                     "gradcli grad gives numbers")


TITLES = {"gradcli": "an expression file", "python": "a NumPy function", "c": "a C function",
          "latex": "LaTeX", "sympy": "SymPy", "text": "text"}


def inside(text: Text, strength: int) -> str:
    """A text as an operand of something that binds so tightly."""
    return text[0] if text[1] >= strength else f"({text[0]})"


def _tight(text: Text) -> int:
    return SIGN + 1 if text[0].startswith("-") else _FACTOR


_FACTOR = POWER


def _place(item: tuple[Term, Term]) -> tuple[int, int]:
    """Factors in the order in which people write them: names, functions, sums."""
    base, exponent = item
    if base.kind == NAME and exponent.kind != NUMBER:
        return 2, base.number
    rank = {NUMBER: -1, NAME: 0 if base.attributes else 1, CALL: 3, SUM: 4}.get(base.kind, 2)
    return rank, base.number


def lower(a: Algebra, terms: Sequence[Term], table: Mapping[str, Callable[..., Term]]
          ) -> list[Term]:
    """Terms with some operations written as others."""
    if not table:
        return list(terms)
    from gradcli.formulas.terms import needed

    found: dict[int, Term] = {}
    for term in needed(terms):
        args = [found[p.number] for p in term.parts()]
        if term.kind == CALL and term.op is not None and term.op.name in table:
            found[term.number] = table[term.op.name](a, *args)
        elif all(x is y for x, y in zip(args, term.parts(), strict=True)):
            found[term.number] = term
        elif term.kind == SUM:
            found[term.number] = a.add(a.number(term.value), a.sum_of(
                [(found[t.number], c) for t, c in term.items]))
        elif term.kind == PRODUCT:
            found[term.number] = a.times(a.number(term.value), a.product_of(
                [(found[b.number], found[e.number]) for b, e in term.items]))
        else:
            assert term.op is not None
            found[term.number] = a.call(term.op, args, term.attributes, term.shape)
    return [found[t.number] for t in terms]
