r"""LaTeX (with amsmath): gradients as `align*`, Jacobians and Hessians as `pmatrix`.

Numbers are in full. Names become mathematics: `x_1` is x_{1}, `alpha` is \alpha, `rate` is
\mathrm{rate}. Reasons and notes are comment lines, so nothing is lost and nothing is typeset by
surprise.
"""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render import page as parts
from gradcli.render.numbers import visible
from gradcli.render.page import Phrase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.render.page import Page

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


def write(pages: Sequence[Page]) -> str:
    """Return all pages: titles and remarks as comments, facts aligned, tables as tabulars."""
    return "\n".join([text for page in pages for text in _page(list(page.latex), page.digits)
                      if text])


def _page(blocks: Sequence[parts.Block], digits: int | None) -> Iterator[str]:
    comments = [block.pieces if isinstance(block, parts.Title) else (block.text,)
                for block in blocks if isinstance(block, parts.Title | parts.Remark)]
    yield "".join(["% " + "".join([
        visible(one if isinstance(one, str) else numbers.significant(one, digits))
        for one in pieces]) + "\n" for pieces in comments])
    text = ""
    equations = False
    for block in blocks:
        said = isinstance(block, parts.Causes | parts.Preformatted)
        if not (said and equations):        # what they say follows directly
            yield text
            text = ""
        text += _block(block, digits)
        equations = isinstance(block, parts.Equations) or (said and equations)
    yield text


def _block(block: parts.Block, digits: int | None) -> str:
    if isinstance(block, parts.Verdict):
        # Typeset, not a comment: without it a point that is no solution would look like one.
        return f"{escaped(block.word)}\n"
    if isinstance(block, parts.Facts):
        return _align([value.tex if isinstance(value, Phrase) else
                       f"{_words(name)} &= {_value(value, digits)}" for name, value in block.rows])
    if isinstance(block, parts.Table):
        lines = [[_cell(value, digits) for value in row] for row in block.rows]
        return _tabular(block.sides, [_cell(head, digits) for head in block.head], lines)
    if isinstance(block, parts.Equations):
        return _align([_tex(line) for line in block.lines])
    if isinstance(block, parts.Causes):
        return _remarks(block.items)
    if isinstance(block, parts.Preformatted):
        return "".join([f"% {visible(line)}\n" for line in block.lines])
    return _tex(block.text) + "\n" if isinstance(block, parts.Paragraph) else ""


def _tex(text: str) -> str:
    return text.tex if isinstance(text, Phrase) and text.tex else escaped(text)


def _words(text: str) -> str:
    return text.tex if isinstance(text, Phrase) and text.tex else f"\\text{{{escaped(text)}}}"


def _cell(value: Any, digits: int | None) -> str:
    if isinstance(value, parts.Typed):
        return f"\\texttt{{{escaped(value)}}}"
    if isinstance(value, str):
        return f"${value.tex}$" if isinstance(value, Phrase) and value.tex else escaped(value)
    return "" if value is None else f"${_value(value, digits)}$"


def _value(value: Any, digits: int | None) -> str:
    if isinstance(value, list):
        return r"\left(" + r",\; ".join([_value(item, digits) for item in value]) + r"\right)"
    return number(value, digits)


def _tabular(sides: str, head: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table of finished cells. sides: the alignment of its columns."""
    lines = [" & ".join(row) + r" \\" for row in (head, *rows)]
    return "\n".join([f"\\begin{{tabular}}{{{sides}}}", lines[0], r"\hline", *lines[1:],
                      r"\end{tabular}", ""])


def escaped(text: str) -> str:
    """Escape a text, so that it is typeset as it is."""
    return "".join([_SPECIAL.get(character, character) for character in visible(text)])


def name(text: str, index: Index = ()) -> str:
    r"""Return a name as mathematics: `x_1` and `x1` are x_{1}, `alpha` \alpha; indices are
    subscripts.
    """
    base, _, below = text.partition("_")
    digits = len(base) - len(base.rstrip("0123456789"))
    if digits and digits < len(base) and not below:
        base, below = base[:-digits], base[-digits:]
    if not base:
        base, below = text, ""
    subscripts = [_word(part) for part in below.split("_") if part] + [str(i) for i in index]
    return _word(base) + (f"_{{{','.join(subscripts)}}}" if subscripts else "")


def latex_name(name: str) -> str:
    r"""Return a name as formulas of `derive` write it: x, \theta, x_{1},
    \mathrm{rate}_{\mathrm{max}}.
    """
    stem, _, index = name.partition("_")
    if not stem:
        return rf"\mathrm{{{name}}}".replace("_", r"\_")
    if not index and stem.rstrip("0123456789") != stem and stem[:1].isalpha():
        bare = stem.rstrip("0123456789")
        stem, index = bare, stem[len(bare):]
    if stem in _WORDS:
        shown = "\\" + stem
    elif len(stem) == 1:
        shown = stem
    else:
        shown = rf"\mathrm{{{stem}}}"
    if not index:
        return shown
    inner = index if index.isdigit() or len(index) == 1 else rf"\mathrm{{{index}}}".replace(
        "_", r"\_")
    return f"{shown}_{{{inner}}}"


def element(text: str) -> str:
    r"""Return a name, possibly of an element, as mathematics: `v[0,1]` is v_{0,1}; other text is
    itself.
    """
    base, _, inside = text.partition("[")
    if not base.isidentifier():
        return f"\\text{{{escaped(text)}}}"
    return name(base, tuple([part for part in inside.rstrip("]").split(",") if part]))


def derivative(of: str, wrt: Mapping[str, int], sign: str = r"\partial") -> str:
    r"""Return a fraction such as \frac{\partial^{2} f}{\partial x^{2}} of finished names. wrt: name
    to the order in it. sign: d where there is one variable.
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
    r"""Return a number in full, or to `digits` digits: 1e-17 is 1 \times 10^{-17}; None, NaN and
    infinities have words.
    """
    if value is None or isinstance(value, bool | str):
        return f"\\text{{{escaped(numbers.exact(value))}}}"
    if type(value) is numbers.Exact:
        return value.tex[0]
    text = numbers.significant(value, digits)
    if text == "nan":
        return r"\mathrm{NaN}"
    text = text.replace("inf", r"\infty")
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa} \\times 10^{{{int(power)}}}" if exponent else text


def pmatrix(rows: Iterable[list[str]]) -> str:
    """Return a matrix of finished entries, a line of text per row."""
    inner = " \\\\\n".join([f"  {' & '.join(row)}" for row in rows])
    return f"\\begin{{pmatrix}}\n{inner}\n\\end{{pmatrix}}"


def _align(lines: list[str]) -> str:
    inner = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{inner}\n\\end{{align*}}\n" if lines else ""


def _remarks(items: entries.Named) -> str:
    return "".join([
        visible(f"% {entries.sentence(names, remark)}") + "\n"
        for names, _, remark, _ in [*entries.reasons(items), *entries.notes(items)]])
