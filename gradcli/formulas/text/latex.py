"""LaTeX: formulas in aligned equations."""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas.text.gradcli import Gradcli
from gradcli.formulas.text.languages import Language, chosen, listed
from gradcli.ops.text import ADDED, ANY, ATOM, LATEX, MULTIPLIED, POWER, inside
from gradcli.render.latex import latex_name
from gradcli.render.layouts.formula import about

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Piece
    from gradcli.render.layouts.formula import Answer


class Latex(Language):
    """LaTeX."""

    __slots__ = ()

    title = "LaTeX"
    patterns: ClassVar = {
        "where": (r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
                  (ANY, ANY, ANY), ATOM),
        "exp": ("e^{{{0}}}", (ANY,), POWER)}

    def lengths(self, terms: Sequence[Term], names: Mapping[int, str]) -> dict[int, int]:
        """Return the lengths of the texts in gradcli's language: what is typeset is as wide as
        that, and not as its commands are.
        """
        return Gradcli(self.algebra, self.paper).lengths(terms, names)

    def accepts(self, name: str) -> bool:
        """Return whether a name is in ASCII: other letters have commands, or none."""
        return name.isascii()

    def identifier(self, name: str) -> Piece:
        """Return a name as x, \\theta, x_{1} or \\mathrm{rate}."""

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

    def _is_complete(self, term: Term) -> bool:
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
        if not self._is_complete(term):
            raise self.missing(term)
        if op.latex:
            text = op.latex.format(*[a for a, _ in args], *[""] * 4)
            return text, ATOM if text.endswith((")", "}", "|", "rfloor")) else ADDED
        shown = op.name.replace("_", r"\_")
        return rf"\operatorname{{{shown}}}\left({listed(args)}\right)", ATOM

    @staticmethod
    def equations(answer: Answer) -> list[str]:
        """Return an equation for each definition and each derivative, with `&=` as its sign."""
        rows = [rf"{_symbol(d['name'])} &= {d['formula']}" for d in answer["definitions"]]
        by = [w for r in answer["results"] for w in r["wrt"]]
        straight = len(answer["inputs"]) < 2 and len({w["name"] for w in by}) == 1 and not any(
            w["element"] for w in by)
        called = {r["name"]: r["identifier"] for r in answer["renamed"]}
        for r in answer["results"]:
            named = {**r, "of": called.get(r["of"], r["of"]), "wrt": [
                {**w, "name": called.get(w["name"], w["name"])} for w in r["wrt"]]}
            rows.append(f"{_fraction(named, 'd' if straight else chr(92) + 'partial ')} &="
                        f" {r['formula'] or chr(92) + 'text{None}'}")
        return rows

    @staticmethod
    def file(answer: Answer) -> str:
        """Return aligned equations in LaTeX."""
        rows = Latex.equations(answer)
        lines = [f"% {line}" for line in about(answer)]
        return "\n".join([*lines, r"\begin{align*}", " \\\\\n".join([f"  {row}" for row in rows]),
                          r"\end{align*}"]) + "\n"


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


def _fraction(result: Answer, d: str) -> str:
    order = len(result["wrt"])
    single = order == 1 or len({(w["name"], tuple(w["element"])) for w in result["wrt"]}) == 1
    of = _symbol(result["of"], result["element"])
    power = f"^{{{order}}}" if order > 1 else ""
    if single:
        w = result["wrt"][0]
        below = f"{d}{_symbol(w['name'], w['element'])}{power}"
    else:
        from itertools import groupby

        below = r" \, ".join([
            f"{d}{name}" + (f"^{{{count}}}" if (count := len(list(same))) > 1 else "")
            for name, same in groupby([_symbol(w["name"], w["element"]) for w in result["wrt"]])])
    above = f"{d.rstrip()}{power} {of}" if power or d != "d" else f"{d}{of}"
    return rf"\frac{{{above}}}{{{below}}}"


def _symbol(name: str, element: Any = ()) -> str:
    """Return a name in LaTeX as formulas write it, with the index of an element."""

    shown = latex_name(name) if name.isidentifier() else rf"\left({name}\right)".replace("_", r"\_")
    if not element:
        return shown
    index = ",".join(map(str, element))
    if shown.endswith("}") and "_{" in shown:
        return f"{{{shown}}}_{{{index}}}"
    return f"{shown}_{{{index}}}"
