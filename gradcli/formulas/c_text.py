"""Formulas as C writes them: of doubles."""

from __future__ import annotations

from gradcli.formulas.lowering import LOWERED, ZEROS
from gradcli.formulas.numbers import whole
from gradcli.formulas.terms import NUMBER
from gradcli.formulas.text import (
    ADDED,
    AND,
    ANY,
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
    patterns: ClassVar = {
        # Exact near 1.
        "one_minus_square": ("(1.0 - {0})*(1.0 + {0})", (MULTIPLIED,), MULTIPLIED),
        "where": ("{0} ? {1} : {2}", (OR, OR, CHOICE), CHOICE),
        "sign": ("(({0} > 0.0) - ({0} < 0.0))", (ADDED,), ATOM),
        "logical_and": ("{0} && {1}", (AND, NOT), AND),
        "logical_or": ("{0} || {1}", (NOT, NOT), OR),
        "logical_not": ("!{0}", (ATOM,), SIGN),
        # It does not overflow.
        "logaddexp": ("fmax({0}, {1}) + log1p(exp(-fabs(({0}) - ({1}))))", (ANY, ANY), ADDED)}
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

    def op_mod(self, term: Term, args: Sequence[Text]) -> Text:
        """The remainder with the sign of the divisor."""
        x, y = args[0], args[1]
        return (f"{inside(x, ADDED)} - {inside(y, POWER)}*floor({inside(x, MULTIPLIED)}/"
                f"{inside(y, POWER)})", ADDED)
