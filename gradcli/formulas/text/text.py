"""Numbers, names and constant arrays of formulas as text."""

from __future__ import annotations

import math
import unicodedata
from fractions import Fraction

from gradcli.base.errors import error
from gradcli.formulas import terms
from gradcli.ops.text import ATOM, MULTIPLIED, SIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Number
    from gradcli.ops.text import Piece

# Arrays of more elements are no formula.
MAX_ELEMENTS = 10_000


class Atoms:
    """What formulas of one language are made of.

    needs: what a file has to import for the texts so far. names: those of the file that the
    language cannot have, to what they are called.
    """

    __slots__ = ("algebra", "names", "needs")

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.needs: set[str] = set()
        self.names: dict[str, str] = {}

    def identifier(self, name: str) -> Piece:
        """A name of the file."""
        return self.names.get(name, name), ATOM

    def constant(self, name: str) -> Piece:
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

    def number(self, value: Number) -> Piece:
        """A number by itself."""
        if isinstance(value, Fraction):
            sign = "-" if value < 0 else ""
            value = Fraction(-value if value < 0 else value)
            strength = SIGN if sign else ATOM
            if value.denominator == 1:
                return sign + self.whole(value.numerator), strength
            short = terms.decimal(value)
            long = self.ratio(value)
            if short is not None and len(short) <= len(long) + 1:
                return sign + self.decimal(short), strength
            return sign + long, MULTIPLIED
        return self.float(value)

    def ratio(self, value: Fraction) -> str:
        """p/q."""
        return f"{self.whole(value.numerator)}/{self.whole(value.denominator)}"

    def float(self, value: float) -> Piece:
        """A float that is no fraction."""
        if value != value:
            return "nan", ATOM
        text = "inf" if abs(value) == float("inf") else repr(abs(value))
        return ("-" + text, SIGN) if value < 0 else (text, ATOM)

    def split(self, value: Number) -> tuple[str, str, str]:
        """(sign, numerator, denominator) of a coefficient; an empty text stands for 1."""
        sign = "-" if value < 0 else ""
        value = -value if value < 0 else value
        if isinstance(value, Fraction):
            short = terms.decimal(value) if value.denominator != 1 else None
            p = "" if value.numerator == 1 else self.whole(value.numerator)
            q = "" if value.denominator == 1 else self.whole(value.denominator)
            # 99*x/5 is 19.8*x, but 3*x/2 stays.
            room = len(p) + len(q) + (1 if p else 0)
            inverse = terms.decimal(1 / value) if len(q) > 3 and p else None
            if inverse is not None and len(inverse) < room:
                return sign, "", self.decimal(inverse)
            if short is not None and len(short) < room + (1 if value.denominator > 4 else 0):
                return sign, self.decimal(short), ""
            return sign, p, q
        return sign, "" if value == 1 else self.float(value)[0], ""

    def array(self, value: Any) -> Piece:
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
            return self.number(terms.exact(float(value)))[0]
        raise error("E0804", "complex numbers have no place in a formula",
                    help="gradcli grad gives numbers")


# --------------------------------------------------------------------------------------------------
# Names of a file as other languages can have them.

def renamed(names: Iterable[str], accepted: Callable[[str], bool], reserved: Collection[str]
            ) -> dict[str, str]:
    """Names that a language cannot have, to others that are not taken: alpha for α, beta_1 for β₁,
    double_ for double. reserved: names that formulas need for something else.
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
    """A name in ASCII letters, digits and `_`."""
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
    """What stands for a character of a name: alpha, 1 for a subscript, e for é, u732b."""
    plain = unicodedata.normalize("NFKC", character)
    words = unicodedata.name(plain, "").split() if len(plain) == 1 else []
    if words[:1] == ["GREEK"] and "LETTER" in words:
        letter = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
        return letter.capitalize() if "CAPITAL" in words else letter
    found = "".join([c for c in unicodedata.normalize("NFKD", character)
                     if c.isascii() and (c.isalnum() or c == "_")])
    return found or f"u{ord(character):x}"
