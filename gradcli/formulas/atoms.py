"""Numbers, names and constant arrays as text."""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.errors import error
from gradcli.formulas import numbers
from gradcli.formulas.text import ATOM, MULTIPLIED, SIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.numbers import Number
    from gradcli.formulas.text import Text

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

    def identifier(self, name: str) -> Text:
        """A name of the file."""
        return self.names.get(name, name), ATOM

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
