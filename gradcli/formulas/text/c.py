"""C: formulas of doubles, in a function."""

from __future__ import annotations

from gradcli.formulas.terms import NUMBER, whole
from gradcli.formulas.text.languages import LOWERED, ZEROS, Scalars
from gradcli.ops.text import (
    ADDED,
    AND,
    ANY,
    ATOM,
    CHOICE,
    COMPARISONS,
    MULTIPLIED,
    NOT,
    OR,
    POWER,
    SIGN,
    Functions,
    inside,
)
from gradcli.render.layouts.formula import about, function_name, heading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Piece
    from gradcli.render.layouts.formula import Answer


CONSTANTS = {"pi": "3.14159265358979323846", "e": "2.71828182845904523536"}


class C(Scalars):
    """C with math.h: all numbers are doubles."""

    __slots__ = ()

    title = "a C function"
    patterns: ClassVar = {
        **COMPARISONS,
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
    functions: ClassVar = Functions("c")

    RESERVED = frozenset((
        "auto break case char const continue default do double else enum extern float for goto if"
        " inline int long register restrict return short signed sizeof static struct switch typedef"
        " union unsigned void volatile while").split())

    MACROS = frozenset((
        "NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL isinf isnormal signbit fpclassify isgreater"
        " isless isunordered sqrt pow linux unix out").split())
    """Names of math.h and its like that no parameter may have, and that of the answers."""

    def accepts(self, name: str) -> bool:
        """Return whether a name is in ASCII, and no word, macro or function of the language."""
        return name.isascii() and name.isidentifier() and not (
            name in self.RESERVED or name in self.MACROS or name in self.functions.values())

    def constant(self, name: str) -> Piece:
        """Return pi or e, which the function declares, since the standard has none."""
        if self.algebra.table.has_name(name):
            return super().constant(name)
        self.needs.add(name)
        return name, ATOM

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a call of a function of math.h; those of Bessel are POSIX."""
        if term.operation.name.startswith("bessel_"):
            self.needs.add("posix")
        return super().function(term, args)

    def op_besselj(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return jn(2, x) or yn(2, x), of whole orders. Raises E0802 for others."""
        order = whole(term.args[0].value) if term.args[0].kind == NUMBER else None
        if order is None:
            raise self.missing(term)
        self.needs.add("posix")
        return f"{term.operation.name[-1]}n({order}, {args[1][0]})", ATOM

    op_bessely = op_besselj

    def whole(self, n: int) -> str:
        """Return a whole number as a double."""
        return f"{n}.0"

    def float(self, value: float) -> Piece:
        """Return a float; not a number and infinity are macros."""
        text, strength = super().float(value)
        return text.replace("nan", "NAN").replace("inf", "INFINITY"), strength

    def powered(self, base: Piece, exponent: Piece, term: Term) -> Piece:
        """Return a square or cube of a name as a product, else pow."""
        if term.kind == NUMBER and term.value in (2, 3) and base[1] == ATOM and (
                base[0].isidentifier()):
            return "*".join([base[0]] * int(term.value)), MULTIPLIED
        return f"pow({base[0]}, {exponent[0]})", ATOM

    def op_mod(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the remainder with the sign of the divisor."""
        x, y = args[0], args[1]
        return (f"{inside(x, ADDED)} - {inside(y, POWER)}*floor({inside(x, MULTIPLIED)}/"
                f"{inside(y, POWER)})", ADDED)

    @staticmethod
    def file(answer: Answer) -> str:
        """Return a C function of doubles that fills an array, or returns the one result."""
        # A backslash at its end would take the next line into a comment.
        lines = [f"// {line}" + "." * line.endswith("\\") for line in about(answer)]
        if "posix" in answer["needs"]:
            lines.append("#define _XOPEN_SOURCE 600  // for functions of Bessel")
        lines.append("#include <math.h>")
        given = ", ".join([f"double {one['name']}" for one in answer["inputs"]])
        results = [r for r in answer["results"] if r["formula"] is not None]
        name = function_name(answer)
        if not results:
            return "\n".join(lines) + "\n"
        body = [f"    const double {n} = {digits};" for n, digits in CONSTANTS.items()
                if n in answer["needs"]]
        body += [f"    const double {d['name']} = {d['formula']};" for d in answer["definitions"]]
        if len(results) == 1:
            lines += ["", f"double {name}({given or 'void'})", "{", *body,
                      f"    return {results[0]['formula']};", "}"]
            return "\n".join(lines) + "\n"
        lines += ["", f"void {name}({given}{', ' if given else ''}double out[{len(results)}])", "{",
                  *body]
        lines += [f"    out[{k}] = {r['formula']};  // {heading(r)}"
                  for k, r in enumerate(results)]
        return "\n".join([*lines, "}"]) + "\n"
