"""Terms as text; the languages differ in data and in the operations that they write otherwise.

A text is made bottom-up from those of the parts, so no formula is too deep to be written.
"""

from __future__ import annotations

import math
import unicodedata
from fractions import Fraction

from gradcli.base.errors import error
from gradcli.formulas import terms as numbers
from gradcli.formulas.sharing import LONGEST, Units, negative_power, power
from gradcli.formulas.terms import ARRAY, CALL, HALF, NAME, NUMBER, PRODUCT, SUM, whole
from gradcli.ops.rows import INTERNAL
from gradcli.ops.text import ADDED, ATOM, COMPARISONS, MULTIPLIED, POWER, SIGN, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Number, Term
    from gradcli.ops.text import Pattern, Piece


# --------------------------------------------------------------------------------------------------
# Numbers, names and constant arrays as text.

# Arrays of more elements are no formula.
MAX_ELEMENTS = 10_000


class Atoms:
    """The names and numbers of formulas in one language.

    needs: what a file has to import for the texts so far. names: those of the file that the
    language cannot have, to what they are called.
    """

    __slots__ = ("algebra", "names", "needs")

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
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
            short = numbers.decimal(value)
            long = self.ratio(value)
            if short is not None and len(short) <= len(long) + 1:
                return sign + self.decimal(short), strength
            return sign + long, MULTIPLIED
        return self.float(value)

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

    def _turned(self, term: Term, found: Mapping[int, Piece]) -> Term | None:
        """Return the difference in a negative product that takes the sign in: -x*(a - b) is x*(b -
        a); None if there is none without a name.
        """
        if term.value >= 0:
            return None
        for base, exponent in term.items:
            n = whole(exponent.value) if exponent.kind == NUMBER else None
            if base.kind == SUM and n is not None and n % 2 and found[base.number][1] != ATOM and (
                    base.value < 0 or any(c < 0 for _, c in base.items)):
                return base
        return None

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


def _place(item: tuple[Term, Term]) -> tuple[int, int]:
    """Return the sort key of a factor, in the order in which people write them: names, functions,
    sums.
    """
    base, exponent = item
    if base.kind == NAME and exponent.kind != NUMBER:
        return 2, base.number
    rank = {NUMBER: -1, NAME: 0 if base.attributes else 1, CALL: 3, SUM: 4}.get(base.kind, 2)
    return rank, base.number

# Nobody reads a longer formula.
MAX_CHARACTERS = 1_000_000

class Writer(Arithmetic):
    """One language.

    name: as --format knows it; title: as messages name it. functions: operation to the function of
    the language. patterns: how operations are written that are no calls. lowered: operation to
    what is written in place of it, made of terms.
    """

    __slots__ = ()

    name = "gradcli"
    title = "an expression file"
    functions: ClassVar[Mapping[str, str]] = {}
    patterns: ClassVar[Mapping[str, Pattern]] = COMPARISONS
    lowered: ClassVar[Mapping[str, Callable[..., Term]]] = {}

    def accepts(self, name: str) -> bool:
        """Return whether the language can have a name."""
        return True

    def rename(self, names: Iterable[str], terms: Iterable[Term]) -> None:
        """Find other names for those that the language cannot have beside what terms need."""
        self.names = renamed(names, self.accepts, self.reserved(
            self.algebra.table.of(terms)))

    def reserved(self, terms: Sequence[Term]) -> set[str]:
        """Return the names that the texts of terms have for functions and constants."""
        return set()

    def lengths(self, terms: Sequence[Term], names: Mapping[int, str]) -> dict[int, int]:
        """Return the lengths of the texts of terms that are in order, parts first."""
        own, _ = self._written(terms, names, LONGEST)
        return {number: len(text) for number, text in own.items()}

    def texts(self, terms: Sequence[Term], names: Mapping[int, str],
              whole: Sequence[Term] = (), longest: int = MAX_CHARACTERS) -> list[str]:
        """Return terms as text; those of `whole` are written out although they have a name. Raises
        E0803 where one has more than `longest` characters.
        """
        own, found = self._written(
            Units(self.algebra.table, [*terms, *whole]).terms, names, longest)
        made = [found[t.number][0] for t in terms] + [own[t.number] for t in whole]
        if any(len(text) > longest for text in made):
            raise error("E0803", f"a formula would have more than {longest:,} characters",
                        help="ask for numbers, or without --inline for names of what stands more"
                        " than once")
        return made

    def _written(self, terms: Sequence[Term], names: Mapping[int, str], longest: int
                 ) -> tuple[dict[int, str], dict[int, Piece]]:
        """Return the texts of terms that are in order, parts first, and their texts in others,
        where named ones are names. The latter are cut behind `longest` characters, lest texts grow
        with every path through the terms.
        """
        own: dict[int, str] = {}
        found: dict[int, Piece] = {}
        for term in terms:
            text, strength = self._text(term, found, names)
            own[term.number] = text
            found[term.number] = self.identifier(names[term.number]) if (
                term.number in names) else (text[:longest + 1], strength)
        return own, found

    def _text(self, term: Term, found: Mapping[int, Piece], names: Mapping[int, str]) -> Piece:
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

    # --- operations -----------------------------------------------------------------------------

    def call(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return an operation of the table. Raises E0802 where the language has none like it."""
        name = term.operation.name
        special = getattr(self, "op_" + name, None)
        if special is not None:
            found: Piece = special(term, args)
            return found
        if name in self.patterns:
            pattern, places, strength = self.patterns[name]
            return pattern.format(*map(inside, args, places)), strength
        return self.function(term, args)

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return an operation that is written as a call. Raises E0802 where there is no function.
        """
        function = self.functions.get(term.operation.name)
        if function is None:
            raise self.missing(term)
        return f"{function}({listed(args)})", ATOM

    def missing(self, term: Term) -> Exception:
        """Return the error of an operation that the language does not have."""
        name = term.operation.name
        what = "`index` at a computed place" if name in ("put", "index") else f"`{name}`"
        return error("E0802", f"{what} cannot be written as {self.title}",
                     help="gradcli grad gives numbers" if self.name == "gradcli" else
                     "--format gradcli writes it" if self.name == "python" or (
                         name in INTERNAL or (name == "put" and len(term.args) > 1)) else
                     "--format gradcli or --format python writes it")

    def no_arrays(self) -> Exception:
        """Return the error of arrays where formulas are of numbers."""
        return error("E0802", f"arrays cannot be written as {self.title}",
                     help="--format gradcli or --format python writes them")


class Scalars(Writer):
    """A language without arrays."""

    __slots__ = ()

    def op_stop_gradient(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the operand itself: nobody differentiates these formulas again."""
        return args[0]

    def _text(self, term: Term, found: Mapping[int, Piece], names: Mapping[int, str]) -> Piece:
        """Return the text of a number. Raises E0802 for arrays: a name is that of one number."""
        if term.shape:
            raise self.no_arrays()
        return super()._text(term, found, names)


def listed(args: Sequence[Piece]) -> str:
    """Return the operands of a call as text."""
    return ", ".join([text for text, _ in args])


def chosen(term: Term) -> dict[str, Any]:
    """Return the attributes of an operation that are not its defaults, among which there is no
    array.
    """
    defaults = term.operation.attributes
    return {name: value for name, value in term.attributes.items()
            if name not in defaults or hasattr(value, "tolist") or defaults[name] != value}


# --------------------------------------------------------------------------------------------------
# Names of a file as other languages can have them.

def renamed(names: Iterable[str], accepted: Callable[[str], bool], reserved: Collection[str]
            ) -> dict[str, str]:
    """Return a dict from names that a language cannot have to others that are not taken: alpha for
    α, beta_1 for β₁, double_ for double. reserved: names that formulas need for something else.
    """
    def free(name: str) -> bool:
        return accepted(name) and name not in reserved

    names = list(dict.fromkeys(names))
    taken = {name for name in names if free(name)}
    found = {}
    for name in names:
        if name in taken:
            continue
        made = spelled(name)
        while not free(made) or made in taken:
            made += "_"
        taken.add(made)
        found[name] = made
    return found


def spelled(name: str) -> str:
    """Return a name in ASCII letters, digits and `_`."""
    out = ""
    below = False
    for character in name:
        was_below, below = below, "SUBSCRIPT" in unicodedata.name(character, "")
        if below and not was_below and out[-1:] not in ("", "_"):
            out += "_"
        out += _letters(character) if not character.isascii() else (
            character if character.isalnum() else "_")
    return out if out[:1].isalpha() or out[:1] == "_" else "v" + out


def _letters(character: str) -> str:
    """Return the ASCII letters that replace a character of a name: alpha, 1 for a subscript, e for
    é, u732b.
    """
    plain = unicodedata.normalize("NFKC", character)
    words = unicodedata.name(plain, "").split() if len(plain) == 1 else []
    if words[:1] == ["GREEK"] and "LETTER" in words:
        letter = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
        return letter.capitalize() if "CAPITAL" in words else letter
    found = "".join([c for c in unicodedata.normalize("NFKD", character)
                     if c.isascii() and (c.isalnum() or c == "_")])
    return found or f"u{ord(character):x}"
