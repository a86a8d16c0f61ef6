"""Formulas as C writes them: of doubles."""

from __future__ import annotations

from gradcli.formulas.lowering import LOWERED, ZEROS
from gradcli.formulas.numbers import whole
from gradcli.formulas.terms import NUMBER
from gradcli.formulas.text import (
    ADDED,
    AND,
    ATOM,
    CHOICE,
    MULTIPLIED,
    NOT,
    OR,
    POWER,
    SIGN,
    inside,
)
from gradcli.formulas.writing import Scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.formulas.text import Text


class C(Scalars):
    """C with math.h: all numbers are doubles."""

    __slots__ = ()

    name = "c"
    lowered: ClassVar = {**LOWERED, **ZEROS}
    functions: ClassVar = {
        **{name: name for name in (
            "sin cos tan sinh cosh tanh asin acos atan atan2 asinh acosh atanh exp exp2 expm1 log"
            " log2 log10 log1p cbrt hypot floor ceil trunc copysign fmod erf erfc lgamma isnan"
            " isfinite").split()},
        "abs": "fabs", "gamma": "tgamma", "round": "rint", "maximum": "fmax", "minimum": "fmin",
        "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1"}

    RESERVED = frozenset((
        "auto break case char const continue default do double else enum extern float for goto if"
        " inline int long register restrict return short signed sizeof static struct switch typedef"
        " union unsigned void volatile while").split())

    MACROS = frozenset((
        "NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL isinf isnormal signbit fpclassify isgreater"
        " isless isunordered sqrt pow linux unix out").split())
    """Names of math.h and its like that no parameter may have, and that of the answers."""

    def accepts(self, name: str) -> bool:
        """Letters of ASCII, no word of the language, no function."""
        return name.isascii() and name.isidentifier() and not (
            name in self.RESERVED or name in self.MACROS or name in self.functions.values())

    def constant(self, name: str) -> Text:
        """The standard has none: the function declares them."""
        if self.algebra.table.has_name(name):
            return super().constant(name)
        self.needs.add(name)
        return name, ATOM

    def function(self, term: Term, args: Sequence[Text]) -> Text:
        """A function of math.h; those of Bessel are POSIX."""
        if term.operation.name.startswith("bessel_"):
            self.needs.add("posix")
        return super().function(term, args)

    def op_besselj(self, term: Term, args: Sequence[Text]) -> Text:
        """jn(2, x), yn(2, x), of whole orders. Raises E0802 for others."""
        order = whole(term.args[0].value) if term.args[0].kind == NUMBER else None
        if order is None:
            raise self.missing(term)
        self.needs.add("posix")
        return f"{term.operation.name[-1]}n({order}, {args[1][0]})", ATOM

    op_bessely = op_besselj

    def whole(self, n: int) -> str:
        """A double."""
        return f"{n}.0"

    def float(self, value: float) -> Text:
        """Not a number and infinity are macros."""
        text, strength = super().float(value)
        return text.replace("nan", "NAN").replace("inf", "INFINITY"), strength

    def powered(self, base: Text, exponent: Text, term: Term) -> Text:
        """A square or cube of a name as a product, else pow."""
        if term.kind == NUMBER and term.value in (2, 3) and base[1] == ATOM and (
                base[0].isidentifier()):
            return "*".join([base[0]] * int(term.value)), MULTIPLIED
        return f"pow({base[0]}, {exponent[0]})", ATOM

    def op_one_minus_square(self, term: Term, args: Sequence[Text]) -> Text:
        """1 - x^2, which is exact near 1 as a product."""
        x = inside(args[0], MULTIPLIED)
        return f"(1.0 - {x})*(1.0 + {x})", MULTIPLIED

    def op_where(self, term: Term, args: Sequence[Text]) -> Text:
        """condition ? a : b."""
        return (f"{inside(args[0], OR)} ? {inside(args[1], OR)} : {inside(args[2], CHOICE)}",
                CHOICE)

    def op_sign(self, term: Term, args: Sequence[Text]) -> Text:
        """C has no sign."""
        x = inside(args[0], ADDED)
        return f"(({x} > 0.0) - ({x} < 0.0))", ATOM

    def op_logical_and(self, term: Term, args: Sequence[Text]) -> Text:
        """a && b."""
        return f"{inside(args[0], AND)} && {inside(args[1], NOT)}", AND

    def op_logical_or(self, term: Term, args: Sequence[Text]) -> Text:
        """a || b."""
        return f"{inside(args[0], NOT)} || {inside(args[1], NOT)}", OR

    def op_logical_not(self, term: Term, args: Sequence[Text]) -> Text:
        """!a."""
        return f"!{inside(args[0], ATOM)}", SIGN

    def op_mod(self, term: Term, args: Sequence[Text]) -> Text:
        """The remainder with the sign of the divisor."""
        x, y = args[0], args[1]
        return (f"{inside(x, ADDED)} - {inside(y, POWER)}*floor({inside(x, MULTIPLIED)}/"
                f"{inside(y, POWER)})", ADDED)

    def op_logaddexp(self, term: Term, args: Sequence[Text]) -> Text:
        """log(e^x + e^y) without overflow."""
        x, y = args[0][0], args[1][0]
        return f"fmax({x}, {y}) + log1p(exp(-fabs(({x}) - ({y}))))", ADDED
