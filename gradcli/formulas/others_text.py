"""Formulas as C, LaTeX and SymPy write them: of numbers only, not of arrays."""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas.python_text import LOWERED, python_name
from gradcli.formulas.terms import NUMBER
from gradcli.formulas.writing import (
    ADDED,
    AND,
    ATOM,
    CHOICE,
    MULTIPLIED,
    NOT,
    OR,
    POWER,
    SIGN,
    Writer,
    inside,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.formulas.writing import Text


class C(Writer):
    """C with math.h: all numbers are doubles."""

    __slots__ = ()

    name = "c"
    lowered: ClassVar = LOWERED
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

    def identifier(self, name: str) -> Text:
        """A name that C takes."""
        if not name.isascii():
            raise self.missing_name(name)
        return c_name(name), ATOM

    def missing_name(self, name: str) -> Exception:
        """The error for a name that C does not take."""
        from gradcli.errors import error

        return error("E0802", f"`{name}` is no name in C", help="rename it with ASCII letters")

    def constant(self, name: str) -> Text:
        """math.h has them, if it is asked."""
        return {"pi": "M_PI", "e": "M_E"}[name], ATOM

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

    def array(self, value: Any) -> Text:
        """C has none."""
        raise no_arrays(self.name)


def c_name(name: str) -> str:
    """A name that C takes."""
    return name + "_" if name in C.RESERVED or name in C.functions.values() else name


def no_arrays(name: str) -> Exception:
    """The error for arrays where formulas are of numbers."""
    from gradcli.errors import error
    from gradcli.formulas.writing import TITLES

    return error("E0802", f"arrays cannot be written as {TITLES[name]}",
                 help="--format gradcli or --format python writes them")


class Latex(Writer):
    """LaTeX."""

    __slots__ = ()

    name = "latex"
    functions: ClassVar = {name: rf"\{name}" for name in (
        "sin cos tan sec csc cot sinh cosh tanh coth").split()} | {
        "log": r"\ln", "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan"}

    def identifier(self, name: str) -> Text:
        """x, \\theta, x_{1}, \\mathrm{rate}."""
        from gradcli.render.formula_names import latex_name

        return latex_name(name), ATOM

    def constant(self, name: str) -> Text:
        """pi and e."""
        return {"pi": r"\pi", "e": "e"}[name], ATOM

    def ratio(self, value: Fraction) -> str:
        """A fraction."""
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"

    def decimal(self, text: str) -> str:
        """6.6 \\cdot 10^{-34}."""
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return text
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"

    def float(self, value: float) -> Text:
        """As a decimal."""
        text, strength = super().float(value)
        sign = text[:len(text) - len(text.lstrip("-"))]
        bare = {"nan": r"\mathrm{NaN}", "inf": r"\infty"}.get(text[len(sign):])
        return (sign + (bare or self.decimal(text[len(sign):]))), strength

    def root(self, base: Text) -> Text:
        """A square root."""
        return rf"\sqrt{{{base[0]}}}", ATOM

    def powered(self, base: Text, exponent: Text, term: Term) -> Text:
        """A power."""
        if exponent[0].endswith("}") or len(exponent[0]) > 1:
            return f"{_braced(base, ATOM)}^{{{exponent[0]}}}", POWER
        return f"{_braced(base, ATOM)}^{exponent[0]}", POWER

    def sum(self, term: Term, found: Any) -> Text:
        """A sum."""
        text, strength = super().sum(term, found)
        return text, strength

    def quotient(self, sign: str, above: str, up: Sequence[Text], below: str,
                 down: Sequence[Text]) -> Text:
        """A fraction, or factors side by side."""
        if len(up) == 1 and not above and not below and not down:
            text = up[0]
            if not sign:
                return text
            return f"-{_braced(text, MULTIPLIED)}", min(SIGN, max(text[1], MULTIPLIED))
        if not below and not down:
            return sign + _beside(above, up), MULTIPLIED
        over = up[0][0] if len(up) == 1 and not above else _beside(above, up) or "1"
        under = down[0][0] if len(down) == 1 and not below else _beside(below, down)
        return rf"{sign}\frac{{{over}}}{{{under}}}", MULTIPLIED

    def op_where(self, term: Term, args: Sequence[Text]) -> Text:
        """Cases."""
        return (rf"\begin{{cases}} {args[1][0]} & {args[0][0]} \\ {args[2][0]} &"
                r" \text{otherwise} \end{cases}"), ATOM

    def op_exp(self, term: Term, args: Sequence[Text]) -> Text:
        """e to the power."""
        return f"e^{{{args[0][0]}}}", POWER

    def call(self, term: Term, args: Sequence[Text]) -> Text:
        """By the row's own LaTeX."""
        assert term.op is not None
        if not hasattr(self, "op_" + term.op.name):
            name = term.op.name
            if name in self.functions and len(args) == 1:
                return rf"{self.functions[name]}\left({args[0][0]}\right)", ATOM
            if term.op.latex:
                text = term.op.latex.format(*[a for a, _ in args], *[""] * 4)
                return text, ATOM if text.endswith((")", r"\right)", "}", "|", "rfloor")) else SUM
            if name not in _COMPARED:
                inner = ", ".join([a for a, _ in args])
                shown = name.replace("_", r"\_")
                return rf"\operatorname{{{shown}}}\left({inner}\right)", ATOM
        return super().call(term, args)


SUM = ADDED
_COMPARED = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def _braced(text: Text, strength: int) -> str:
    return text[0] if text[1] >= strength else rf"\left({text[0]}\right)"


def _beside(number: str, factors: Sequence[Text]) -> str:
    parts = [number] if number else []
    parts += [_braced(f, MULTIPLIED) if len(factors) == 1 and not number else _braced(f, POWER)
              for f in factors]
    out = ""
    for part in parts:
        glue = "" if not out else r" \cdot " if part[:1].isdigit() else " "
        out += glue + part
    return out


class Sympy(Writer):
    """What `sympy.sympify` reads."""

    __slots__ = ()

    name = "sympy"
    power = "**"
    lowered: ClassVar = {"sigmoid": LOWERED["sigmoid"], "relu": LOWERED["relu"],
                         "softplus": lambda a, x: _softplus(a, x)}
    functions: ClassVar = {
        **{name: name for name in (
            "sin cos tan sec csc cot sinh cosh tanh sech csch coth asin acos atan acot asec acsc"
            " asinh acosh atanh acoth asech acsch exp log sign gamma digamma erf erfc erfi erfinv"
            " erfcinv atan2 cbrt fresnels fresnelc beta zeta besselj bessely besseli besselk"
        ).split()},
        "abs": "Abs", "maximum": "Max", "minimum": "Min", "lgamma": "loggamma",
        "floor": "floor", "ceil": "ceiling", "polygamma": "polygamma", "ei": "Ei", "li": "li",
        "si": "Si", "ci": "Ci", "shi": "Shi", "chi": "Chi", "lambertw": "LambertW",
        "logical_and": "And", "logical_or": "Or", "logical_not": "Not"}

    def constant(self, name: str) -> Text:
        """pi and e; as numbers where a name of the file hides them."""
        if self.algebra.table.has_name(name):
            return super().constant(name)
        return {"pi": "pi", "e": "E"}[name], ATOM

    def identifier(self, name: str) -> Text:
        """A name; `sympify` has to be told of those that it knows as something else."""
        return python_name(name), ATOM

    def op_where(self, term: Term, args: Sequence[Text]) -> Text:
        """Piecewise."""
        return f"Piecewise(({args[1][0]}, {args[0][0]}), ({args[2][0]}, True))", ATOM

    def op_one_minus_square(self, term: Term, args: Sequence[Text]) -> Text:
        """1 - x**2."""
        return f"1 - {inside(args[0], ATOM)}**2", ADDED

    def op_log2(self, term: Term, args: Sequence[Text]) -> Text:
        """The logarithm to base 2."""
        return f"log({args[0][0]}, 2)", ATOM

    def op_log10(self, term: Term, args: Sequence[Text]) -> Text:
        """The logarithm to base 10."""
        return f"log({args[0][0]}, 10)", ATOM

    def op_log1p(self, term: Term, args: Sequence[Text]) -> Text:
        """log(1 + x)."""
        return f"log({inside(args[0], ADDED)} + 1)", ATOM

    def op_expm1(self, term: Term, args: Sequence[Text]) -> Text:
        """e^x - 1."""
        return f"exp({args[0][0]}) - 1", ADDED

    def op_hypot(self, term: Term, args: Sequence[Text]) -> Text:
        """The root of a sum of squares."""
        return f"sqrt({inside(args[0], ATOM)}**2 + {inside(args[1], ATOM)}**2)", ATOM

    def op_exp2(self, term: Term, args: Sequence[Text]) -> Text:
        """2^x."""
        return f"2**{inside(args[0], ATOM)}", POWER

    def op_equal(self, term: Term, args: Sequence[Text]) -> Text:
        """Eq: == compares structures."""
        return f"Eq({args[0][0]}, {args[1][0]})", ATOM

    def op_not_equal(self, term: Term, args: Sequence[Text]) -> Text:
        """Ne."""
        return f"Ne({args[0][0]}, {args[1][0]})", ATOM

    def array(self, value: Any) -> Text:
        """Formulas are of numbers."""
        raise no_arrays(self.name)


def _softplus(a: Any, x: Any) -> Any:
    from gradcli.formulas.numbers import ONE
    from gradcli.ops import TABLE

    return a.call(TABLE["log"], [a.add(a.number(ONE), a.call(TABLE["exp"], [x], None, None))],
                  None, None)

