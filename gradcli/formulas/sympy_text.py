"""What `sympy.sympify` reads."""

from __future__ import annotations

from gradcli.formulas.lowering import SYMBOLIC
from gradcli.formulas.python_text import accepted
from gradcli.formulas.terms import NAME, PRODUCT
from gradcli.formulas.text import ADDED, ANY, ATOM, POWER
from gradcli.formulas.writing import Scalars, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.formulas.text import Text


class Sympy(Scalars):
    """SymPy."""

    __slots__ = ()

    name = "sympy"
    patterns: ClassVar = {
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

    def constant(self, name: str) -> Text:
        """pi and e; as numbers where a name of the file hides them."""
        if self.algebra.table.has_name(name):
            return super().constant(name)
        return {"pi": "pi", "e": "E"}[name], ATOM

    def accepts(self, name: str) -> bool:
        """What Python reads as this name."""
        return accepted(name) and name not in self.OTHERS

    def reserved(self, terms: Sequence[Term]) -> set[str]:
        """Functions and constants of the formulas."""
        return {self.functions.get(t.op.name, t.op.name) for t in terms if t.op is not None} | {
            self.constant(t.value)[0] for t in terms if t.kind == NAME and t.attributes} | (
            {"sqrt"} if any(t.kind == PRODUCT for t in terms) else set())

    OTHERS = frozenset(("symbols", "Piecewise", "Eq", "Ne", "oo", "nan"))
    """What else the statements call; `sympify` is told of names that it knows otherwise."""

    def float(self, value: float) -> Text:
        """Infinity is oo."""
        text, strength = super().float(value)
        return text.replace("inf", "oo"), strength

    def compared(self, term: Term, args: Sequence[Text]) -> Text:
        """Eq and Ne: == compares structures."""
        name = {"equal": "Eq", "not_equal": "Ne"}.get(term.operation.name)
        return (f"{name}({listed(args)})", ATOM) if name else super().compared(term, args)
