r"""LaTeX (with amsmath): gradients as `align*`, Jacobians and Hessians as `pmatrix`.

Numbers are in full. Names become mathematics: `x_1` is x_{1}, `alpha` is \alpha, `rate` is
\mathrm{rate}. Reasons and notes are comment lines, so nothing is lost and nothing is typeset by
surprise.
"""

from __future__ import annotations

from gradcli.render import entries, numbers, triples
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Index = tuple[int | str, ...]

GREEK = dict(zip(
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
    ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
     "upsilon phi chi psi omega "
     "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega").split(),
    strict=True))
_WORDS = frozenset(GREEK.values())
_SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "%": r"\%", "#": r"\#",
            "&": r"\&", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


def render(answer: dict[str, Any]) -> str:
    """One display per result; `ops` is a tabular."""
    if answer.get("command") == "ops":
        return _operations(answer)
    kinds = {"eval": _values, "jac": _jacobian, "hess": _hessian}
    show = kinds.get(answer["command"], _gradient)
    return "\n".join([show(result) + _remarks(entries.named(answer["command"], result))
                      for result in answer.get("results") or ()])


def escaped(text: str) -> str:
    """Any text, typeset as it is."""
    return "".join([_SPECIAL.get(character, character) for character in visible(text)])


def name(text: str, index: Index = ()) -> str:
    r"""A name as mathematics: `x_1` and `x1` are x_{1}, `alpha` \alpha; indices are subscripts."""
    base, _, below = text.partition("_")
    digits = len(base) - len(base.rstrip("0123456789"))
    if digits and digits < len(base) and not below:
        base, below = base[:-digits], base[-digits:]
    if not base:
        base, below = text, ""
    subscripts = [_word(part) for part in below.split("_") if part] + [str(i) for i in index]
    return _word(base) + (f"_{{{','.join(subscripts)}}}" if subscripts else "")


def element(text: str) -> str:
    r"""A name, possibly of an element, as mathematics: `v[0,1]` is v_{0,1}; other text is itself.
    """
    base, _, inside = text.partition("[")
    if not base.isidentifier():
        return f"\\text{{{escaped(text)}}}"
    return name(base, tuple([part for part in inside.rstrip("]").split(",") if part]))


def derivative(of: str, wrt: Mapping[str, int], sign: str = r"\partial") -> str:
    r"""A fraction such as \frac{\partial^{2} f}{\partial x^{2}} of finished names; wrt: how often
    by each. sign: d where there is one variable.
    """
    order, gap = sum(wrt.values()), "" if sign == "d" else " "
    above = f"{sign}{f'^{{{order}}}' if order > 1 else ''}{gap}{of}"
    below = " ".join([f"{sign}{gap}{one}{f'^{{{k}}}' if k > 1 else ''}" for one, k in wrt.items()])
    return f"\\frac{{{above}}}{{{below}}}"


def _word(text: str) -> str:
    if text in GREEK or text in _WORDS:
        return f"\\{GREEK.get(text, text)}"
    if (len(text) == 1 and text.isalpha()) or text.isdigit():
        return text
    return f"\\mathrm{{{escaped(text)}}}" if text.isalnum() else f"\\text{{{escaped(text)}}}"


def number(value: Any, digits: int | None = None) -> str:
    r"""A number in full, or to so many digits: 1e-17 is 1 \times 10^{-17}; None, NaN and infinities
    have words.
    """
    if value is None or isinstance(value, bool | str):
        return f"\\text{{{escaped(numbers.exact(value))}}}"
    text = numbers.exact(value) if digits is None else numbers.significant(value, digits)
    if text == "nan":
        return r"\mathrm{NaN}"
    text = text.replace("inf", r"\infty")
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa} \\times 10^{{{int(power)}}}" if exponent else text


def _array(value: Any) -> str:
    """A scalar, a vector as a column, a matrix, or a list of matrices."""
    rank = len(numbers.shape(value))
    if not numbers.regular(value):
        return f"\\text{{{escaped(numbers.exact(value))}}}"
    if rank == 0:
        return number(value)
    if rank == 1:
        return pmatrix([[number(item)] for item in value])
    if rank == 2:
        return _matrix(value)
    return r"\left(" + r",\; ".join([_array(item) for item in value]) + r"\right)"


def pmatrix(rows: Iterable[list[str]]) -> str:
    """A matrix of finished entries, a line of text per row."""
    inner = " \\\\\n".join([f"  {' & '.join(row)}" for row in rows])
    return f"\\begin{{pmatrix}}\n{inner}\n\\end{{pmatrix}}"


def _align(lines: list[str]) -> str:
    inner = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{inner}\n\\end{{align*}}\n" if lines else ""


def _values(result: dict[str, Any]) -> str:
    return _align([f"{name(result['of'])} &= {_array(result.get('value'))}"])


def _fraction(of: str, wrt: str) -> str:
    return f"\\frac{{\\partial {name(of)}}}{{\\partial {name(wrt)}}}"


def _gradient(result: dict[str, Any]) -> str:
    return _align([f"{_fraction(result['of'], source['wrt'])} &= {_array(source.get('gradient'))}"
                   for source in result.get("sources") or ()])


def _jacobian(result: dict[str, Any]) -> str:
    if triples.are_in(result):
        return _align([
            f"\\frac{{\\partial {name(*row)}}}{{\\partial {name(*column)}}} &= {number(value)}"
            for row, column, value in triples.of(result)])
    lines = []
    for source in result.get("sources") or ():
        _, _, values = entries.jacobian_matrix({**result, "sources": [source]})
        text = number(None) if source.get("jacobian") is None else _matrix(values)
        lines.append(f"{_fraction(result['of'], source['wrt'])} &= {text}")
    return _align(lines)


def _hessian(result: dict[str, Any]) -> str:
    if triples.are_in(result):
        return _align([
            f"\\frac{{\\partial^2 {name(result['of'])}}}{{\\partial {name(*row)} \\partial"
            f" {name(*column)}}} &= {number(value)}" for row, column, value in triples.of(result)
        ] + _eigen(result))
    _, _, values = entries.hessian_matrix(result)
    sources = dict.fromkeys([block["row"] for block in result.get("blocks") or ()])
    lines = [f"\\nabla^2_{{{','.join(map(name, sources))}}} {name(result['of'])}"
             f" &= {_matrix(values)}"]
    return _align(lines + _eigen(result))


def _eigen(result: dict[str, Any]) -> list[str]:
    lines = []
    if result.get("eigenvalues"):
        lines.append("\\lambda &= " + ",\\; ".join(map(number, result["eigenvalues"])))
    if result.get("definiteness"):
        lines.append(f"&\\text{{{escaped(result['definiteness'])}}}")
    return lines


def _matrix(values: list[list[Any]]) -> str:
    if len(values) == 1 == len(values[0]):
        return number(values[0][0])
    return pmatrix([list(map(number, line)) for line in values])


def _remarks(items: entries.Named) -> str:
    return "".join([
        visible(f"% {entries.told(names, remark)}") + "\n"
        for names, _, remark, _ in [*entries.reasons(items), *entries.notes(items)]])


def _operations(answer: dict[str, Any]) -> str:
    lines = ["\\begin{tabular}{lll}", "operation & notation & derivative \\\\", "\\hline"]
    for operation in answer.get("operations") or ():
        notation = operation.get("latex")
        derivative = ", ".join(entries.derivatives(operation))
        cells = [f"\\texttt{{{escaped(operation['name'])}}}", f"${notation}$" if notation else "",
                 f"\\texttt{{{escaped(derivative)}}}"]
        lines.append(" & ".join(cells) + " \\\\")
    return "\n".join([*lines, "\\end{tabular}", ""])
