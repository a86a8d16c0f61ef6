"""Formulas as C writes them: of doubles."""

from __future__ import annotations

from gradcli.formulas.arrays import size
from gradcli.formulas.lowering import LOWERED, SYMBOLIC, ZEROS, cofactor
from gradcli.formulas.terms import NAME, NUMBER, PRODUCT, whole
from gradcli.formulas.text.python import Arrays, Python, accepted, summed_axes
from gradcli.formulas.text.writing import Scalars, Writer, chosen, listed
from gradcli.ops import lookup
from gradcli.ops.rows import INTERNAL
from gradcli.ops.text import (
    ADDED,
    AND,
    ANY,
    ATOM,
    CHOICE,
    COMPARISON,
    COMPARISONS,
    LATEX,
    MULTIPLIED,
    NOT,
    OR,
    PATTERNS,
    POWER,
    SIGN,
    inside,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from typing import Any, ClassVar

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Piece


class C(Scalars):
    """C with math.h: all numbers are doubles."""

    __slots__ = ()

    name = "c"
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


# --------------------------------------------------------------------------------------------------
# Formulas as gradcli reads them.

class Gradcli(Arrays):
    """An expression file."""

    __slots__ = ()

    patterns: ClassVar = {**PATTERNS, "logical_not": ("not {0}", (COMPARISON,), NOT)}
    lowered: ClassVar = {"cofactor": cofactor}

    def scattered(self, places: Sequence[int], text: str, term: Term) -> str:
        """Return scatter([[2], [3]], [x, y], [5])."""
        values = text if len(term.args[0].shape) == 1 else self.reshaped(text, [len(places)])
        return f"scatter({[[k] for k in places]}, {values}, [{size(term.shape)}])"

    def reshaped(self, text: str, shape: Sequence[int]) -> str:
        """Return reshape(x, [2, 3])."""
        return f"reshape({text}, {list(shape)})"

    def op_sum_to(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the sum over the axes that are not in a shape."""
        axes, before = summed_axes(term), term.args[0].shape
        text = f"sum({args[0][0]}, axis={list(axes)})" if axes else args[0][0]
        kept = tuple(n for k, n in enumerate(before) if k - len(before) not in axes)
        return (text if kept == term.shape else self.reshaped(text, term.shape)), ATOM

    def op_align(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return an array with unit axes in front."""
        return self.reshaped(args[0][0], term.shape), ATOM

    def op_cast_float(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a cast to another type: of floating point, whole numbers, truth values."""
        return f"cast({args[0][0]}, \"{term.attributes['dtype']}\")", ATOM

    op_cast_other = op_cast_float

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a call by the name in the table, with the attributes that differ from the
        defaults.
        """
        op = term.operation
        if op.name in INTERNAL or lookup(op.name) is not op:
            raise self.missing(term)
        named = [f"{k}={literal(v)}" for k, v in chosen(term).items()]
        return f"{op.name}({', '.join([*[a for a, _ in args], *named])})", ATOM


def literal(value: Any) -> str:
    """Return an attribute as a file writes it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([literal(v) for v in value])}]"
    if hasattr(value, "tolist"):
        return literal(value.tolist())
    return repr(value)


# --------------------------------------------------------------------------------------------------
# Formulas as LaTeX shows them.

class Latex(Writer):
    """LaTeX."""

    __slots__ = ()

    name = "latex"
    title = "LaTeX"
    patterns: ClassVar = {
        "where": (r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
                  (ANY, ANY, ANY), ATOM),
        "exp": ("e^{{{0}}}", (ANY,), POWER)}

    def accepts(self, name: str) -> bool:
        """Return whether a name is in ASCII: other letters have commands, or none."""
        return name.isascii()

    def identifier(self, name: str) -> Piece:
        """Return a name as x, \\theta, x_{1} or \\mathrm{rate}."""
        from gradcli.render.latex import latex_name

        return latex_name(self.names.get(name, name)), ATOM

    def constant(self, name: str) -> Piece:
        """Return pi or e."""
        return {"pi": r"\pi", "e": "e"}[name], ATOM

    def ratio(self, value: Fraction) -> str:
        """Return a fraction of whole numbers."""
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"

    def decimal(self, text: str) -> str:
        """Return a decimal as 6.6 \\cdot 10^{-34}."""
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return text
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"

    def float(self, value: float) -> Piece:
        """Return a float as a decimal."""
        text, strength = super().float(value)
        sign = text[:len(text) - len(text.lstrip("-"))]
        bare = {"nan": r"\mathrm{NaN}", "inf": r"\infty"}.get(text[len(sign):])
        return (sign + (bare or self.decimal(text[len(sign):]))), strength

    def root(self, base: Piece) -> Piece:
        """Return a square root."""
        return rf"\sqrt{{{base[0]}}}", ATOM

    def powered(self, base: Piece, exponent: Piece, term: Term) -> Piece:
        """Return a power."""
        if exponent[0].endswith("}") or len(exponent[0]) > 1:
            return f"{_braced(base, ATOM)}^{{{exponent[0]}}}", POWER
        return f"{_braced(base, ATOM)}^{exponent[0]}", POWER

    def enclosed(self, text: Piece, strength: int) -> str:
        """Return an operand in brackets that grow with their content."""
        return _braced(text, strength)

    def fraction(self, sign: str, above: str, up: Sequence[Piece], below: str,
                 down: Sequence[Piece]) -> Piece:
        """Return a fraction, or factors side by side."""
        if not below and not down:
            return sign + _beside(above, up), MULTIPLIED
        over = up[0][0] if len(up) == 1 and not above else _beside(above, up) or "1"
        under = down[0][0] if len(down) == 1 and not below else _beside(below, down)
        return rf"{sign}\frac{{{over}}}{{{under}}}", MULTIPLIED

    def op_index(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return x_{0,1}, counted from 0 as in the names of derivatives. Raises E0802 for slices.
        """
        pattern = term.attributes["pattern"]
        if not all(isinstance(item, int) for item in pattern):
            raise self.missing(term)
        return f"{{{_braced(args[0], ATOM)}}}_{{{','.join(map(str, pattern))}}}", ATOM

    def missing(self, term: Term) -> Exception:
        """Return the error of an operation on arrays: LaTeX has no axes, shapes and indices of
        them.
        """
        return self.no_arrays()

    def _tells(self, term: Term) -> bool:
        """Return whether the text of a row says all: axes and shapes have no place in it."""
        op, x = term.operation, term.args[0]
        if op.name in ("sum", "mean", "max", "min"):
            return len(term.attributes["axis"]) == len(x.shape) and not term.attributes["keepdims"]
        if op.name == "transpose":
            return len(term.shape) == 2
        return not chosen(term)

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a call by the row's own LaTeX."""
        op = term.operation
        if not self._tells(term):
            raise self.missing(term)
        if op.latex:
            text = op.latex.format(*[a for a, _ in args], *[""] * 4)
            return text, ATOM if text.endswith((")", "}", "|", "rfloor")) else ADDED
        shown = op.name.replace("_", r"\_")
        return rf"\operatorname{{{shown}}}\left({listed(args)}\right)", ATOM


def _braced(text: Piece, strength: int) -> str:
    return inside(text, strength, LATEX)


def _beside(number: str, factors: Sequence[Piece]) -> str:
    parts = [number] if number else []
    parts += [_braced(f, MULTIPLIED) if len(factors) == 1 and not number else _braced(f, POWER)
              for f in factors]
    out = ""
    for part in parts:
        glue = "" if not out else r" \cdot " if part[:1].isdigit() else " "
        out += glue + part
    return out


# --------------------------------------------------------------------------------------------------
# What `sympy.sympify` reads.

class Sympy(Scalars):
    """SymPy."""

    __slots__ = ()

    name = "sympy"
    title = "SymPy"
    patterns: ClassVar = {
        **COMPARISONS,
        # == compares structures.
        "equal": ("Eq({0}, {1})", (ANY, ANY), ATOM),
        "not_equal": ("Ne({0}, {1})", (ANY, ANY), ATOM),
        "where": ("Piecewise(({1}, {0}), ({2}, True))", (ANY, ANY, ANY), ATOM),
        "one_minus_square": ("1 - {0}**2", (ATOM,), ADDED),
        "log2": ("log({0}, 2)", (ANY,), ATOM), "log10": ("log({0}, 10)", (ANY,), ATOM),
        "log1p": ("log({0} + 1)", (ADDED,), ATOM), "expm1": ("exp({0}) - 1", (ANY,), ADDED),
        "hypot": ("sqrt({0}**2 + {1}**2)", (ATOM, ATOM), ATOM),
        "exp2": ("2**{0}", (ATOM,), POWER)}
    power_sign = "**"
    lowered: ClassVar = SYMBOLIC
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

    def constant(self, name: str) -> Piece:
        """Return pi or e; as a number where a name of the file hides it."""
        if self.algebra.table.has_name(name):
            return super().constant(name)
        return {"pi": "pi", "e": "E"}[name], ATOM

    def accepts(self, name: str) -> bool:
        """Return whether a name is an identifier of Python and none of SymPy's."""
        return accepted(name) and name not in self.OTHERS

    def reserved(self, terms: Sequence[Term]) -> set[str]:
        """Return the functions and constants of the formulas."""
        return {self.functions.get(t.op.name, t.op.name) for t in terms if t.op is not None} | {
            self.constant(t.value)[0] for t in terms if t.kind == NAME and t.attributes} | (
            {"sqrt"} if any(t.kind == PRODUCT for t in terms) else set())

    OTHERS = frozenset(("symbols", "Piecewise", "Eq", "Ne", "oo", "nan"))
    """What else the statements call; `sympify` is told of names that it knows otherwise."""

    def float(self, value: float) -> Piece:
        """Return a float, with infinity as oo."""
        text, strength = super().float(value)
        return text.replace("inf", "oo"), strength


# --------------------------------------------------------------------------------------------------
# Writers by the name of their language.

def writer_of(language: str, a: Algebra) -> Writer:
    """Return what writes a language: "python", "c", "latex", "sympy", or else gradcli's own."""
    languages = {writer.name: writer for writer in (Python, C, Latex, Sympy)}
    return languages.get(language, Gradcli)(a)
