"""SymPy: formulas that `sympy.sympify` reads, in statements."""

from __future__ import annotations

from gradcli.formulas.terms import NAME, PRODUCT
from gradcli.formulas.text.languages import SYMBOLIC, Scalars
from gradcli.formulas.text.python import accepted
from gradcli.ops.text import ADDED, ANY, ATOM, COMPARISONS, POWER, Functions
from gradcli.render.layouts.formula import about, identifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Piece
    from gradcli.render.layouts.formula import Answer


class Sympy(Scalars):
    """SymPy."""

    __slots__ = ()

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
    functions: ClassVar = Functions("sympy")

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

    @staticmethod
    def file(answer: Answer) -> str:
        """Return statements for SymPy."""
        lines = [f"# {line}" for line in about(answer)]
        lines.append("from sympy import *")
        names = [one["name"] for one in answer["inputs"]]
        if names:
            comma = "," if len(names) == 1 else ""
            lines.append(f"{', '.join(names)}{comma} = symbols(\"{' '.join(names)}{comma}\","
                         " real=True)")
        lines += [f"{d['name']} = {d['formula']}" for d in answer["definitions"]]
        lines += [f"{name} = {r['formula']}" for name, r in zip(
            identifiers(answer), answer["results"], strict=True)]
        return "\n".join(lines) + "\n"
