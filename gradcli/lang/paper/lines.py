r"""The formulas of a text in LaTeX: those of a document, their lines, and their left sides.

In prose, only displayed formulas are read: between `$$`, in `\[ \]`, an `equation`, an `align` and
their kin. Formulas end with these, and with `\\`; in a text without any of them a line is a
formula. A line that begins with `=` is another form of the one before, and one that begins with a
sign behind `\\` is the rest of it.
"""

from __future__ import annotations

import re

from gradcli.base.errors import error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.base.errors import Span

COMMENT = re.compile(r"(?<!\\)%[^\n]*")
DISPLAYS = r"(?:equation|align|alignat|flalign|gather|multline|eqnarray|displaymath)\*?"
DISPLAY = re.compile(
    rf"\\begin\s*\{{({DISPLAYS})\}}(?:\{{\d+\}})?.*?\\end\s*\{{\1\}}|\\\[.*?\\\]|\$\$.*?\$\$",
    re.DOTALL)
INLINE = re.compile(r"\\\(.*?\\\)|(?<!\\)\$.*?(?<!\\)\$|\\begin\s*\{math\}.*?\\end\s*\{math\}",
                    re.DOTALL)
PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}|\\(?:documentclass|begin|section|item|usepackage)"
                   r"(?![A-Za-z])")
# Commands that only say how a formula is shown.
SHOWN = re.compile(
    rf"\\(?:begin|end)\s*\{{(?:{DISPLAYS}|aligned|gathered|split|math)\}}(?:\[\w\]|\{{\d+\}})?"
    r"|\\\[|\\\]|\\\(|\\\)|(?<!\\)\$\$?|\\(?:label|tag)\*?\{[^{}]*\}|\\nonumber|\\notag|\\hfill"
    r"|\\hline")
PIECES = re.compile(r"\\begin|\\end|\\\\(?:\s*\[[\d.]+[a-z]+\])?|\\[A-Za-z]+|\\.|[({\[]|[)}\]]"
                    r"|&|[\n;=]", re.DOTALL)
SPACES = re.compile(r"(?:[ \t\r&~]|\\q?quad(?![A-Za-z])|\\[,;:!> ]|\\displaystyle(?![A-Za-z]))*")
# \text{if $x > 0$}: a formula inside of words.
INSIDE = re.compile(r"(\\(?:text|textrm|mbox)\s*\{[^{}$]*)\$([^$]*)\$(\s*[.,;]?\s*)\}")
ACCENTED = r"\\(?:hat|widehat|bar|tilde|dot|ddot|vec|mathbf|boldsymbol|bm)\s*\\?[A-Za-z]+"
# A name, with an index or without, and arguments, which say what it is a function of.
LEFT = re.compile(
    rf"\s*((?:{ACCENTED}|\\?[^\W\d_]+(?:\s*\{{[^{{}}]*\}})?)"
    r"(?:_(?:\{[^{}]*\}|\w|\\[A-Za-z]+(?:\{\w+\})?))?)\s*(?:\\left\s*)?(\([^()]*\))?\s*:?\s*$")
STAYING = ("\\", "\\right", "\\left")  # behind them a full stop is no full stop
SIGNS = ("+", "-", "−", "\\cdot", "\\times", "\\pm")
NO_NAME = "write y = ..., f(x) = ..., or the formula alone"


class FormulaLine:
    """One formula.

    name: the span of the name on the left side, or None.
    arguments: the text of those in brackets behind it.
    parts: spans of the formula; the text between them only breaks it.
    """

    __slots__ = ("arguments", "name", "parts")

    def __init__(self, name: Span | None, arguments: str, parts: list[Span]) -> None:
        self.name = name
        self.arguments = arguments
        self.parts = parts


def formulas(text: str) -> str:
    """Return the text, at its length, with blanks for comments, prose, and commands that only
    display; lines end where formulas end. Raises E0210 for prose without a displayed formula.
    """
    text = INSIDE.sub(_outside, COMMENT.sub(_blank, text))
    displayed = [found.span() for found in DISPLAY.finditer(text)]
    outside = DISPLAY.sub(_blank, text)
    inline = [found.span() for found in INLINE.finditer(outside)]
    if (displayed or inline) and PROSE.search(INLINE.sub(_blank, outside)):
        if not displayed:
            raise error("E0210", "there is no displayed formula", inline[0],
                        help="put it between $$ and $$, or in an equation")
        inline = []
        text = _without(text, displayed)
    letters = list(SHOWN.sub(_blank, text))
    for begin, end in displayed + inline:
        for k in range(begin, end):
            if letters[k] == "\n":
                letters[k] = " "
        letters[end - 1] = "\n"
    return "".join(letters)


def _without(text: str, kept: list[Span]) -> str:
    """Return the text with blanks for all but the spans `kept`."""
    found = []
    at = 0
    for begin, end in kept:
        found += [" " * (begin - at), text[begin:end]]
        at = end
    return "".join([*found, " " * (len(text) - at)])


def lines(text: str) -> Iterator[FormulaLine]:
    """Yield the formulas of a text that `formulas` gave.

    Raises E0210 for a text without one, E0719 for a left side that is not a name, E0720 for a line
    that begins with a sign where it is not clear whether the one before goes on.
    """
    line: FormulaLine | None = None
    broken = ""
    for begin, end, equals, ending in _lines(text):
        if begin == end:
            broken = "\\" if "\\" in (broken, ending) else ending
            continue
        if not equals and line is not None and text.startswith(SIGNS, begin):
            if broken != "\\":
                raise error("E0720", "this line begins with a sign", (begin, begin + 1),
                            help="write both lines as one")
            line.parts.append((begin, end))
        else:
            if line is not None:
                yield line
            line = _line(text, begin, end, equals, line)
        broken = ending
    if line is None:
        raise error("E0210", "there is no formula", (0, len(text)),
                    help=r"such as \frac{x^2}{1+e^{-x}}")
    yield line


def _line(text: str, begin: int, end: int, equals: list[int], before: FormulaLine | None
          ) -> FormulaLine:
    """Return the line of text[begin:end]; one that begins with `=` has the left side of `before`.

    equals: the offsets of its equals signs. Raises E0719 for a left side that is not a name.
    """
    if not equals:
        return FormulaLine(None, "", [(begin, end)])
    place = _trimmed(text, equals[-1] + 1, end)
    if before is not None and begin == equals[0]:
        return FormulaLine(before.name, before.arguments, [place])
    found = LEFT.match(text, begin, equals[0])
    if found is None:
        raise error("E0719", "this left side is not a name", (begin, equals[0]), help=NO_NAME)
    return FormulaLine(found.span(1), found.group(2) or "", [place])


def _lines(text: str) -> Iterator[tuple[int, int, list[int], str]]:
    """Yield (start, end, offsets of equals signs, what ended it) of each formula, without blanks
    and the comma or full stop behind. Breaks inside of brackets and environments end none.
    """
    begin = depth = 0
    equals: list[int] = []
    for found in [*PIECES.finditer(text), None]:
        word = found.group() if found else "\n"
        stop = found.start() if found else len(text)
        if word in ("\\begin", "(", "{", "[", "\\{"):
            depth += 1
        elif word in ("\\end", ")", "}", "]", "\\}"):
            depth -= 1
        elif found is None or depth <= 0:
            if word == "=":
                equals.append(stop)
            elif word[:2] == "\\\\" or word in ("\n", ";"):
                yield *_trimmed(text, begin, stop), equals, word[0]
                begin = found.end() if found else stop
                equals = []


def _trimmed(text: str, begin: int, end: int) -> Span:
    """Return a span without the blanks and spacing around it and the full stop or comma behind."""
    found = SPACES.match(text, begin, end)
    begin = found.end() if found else begin
    while begin < end and (text[end - 1] in " \t\r&~" or (
            text[end - 1] in ",." and not text[begin:end - 1].endswith(STAYING))):
        end -= 1
    return begin, end


def without_alignment(text: str) -> str:
    """Return the text with blanks for the & that align lines, outside of all environments."""
    letters = list(text)
    depth = 0
    for found in PIECES.finditer(text):
        depth += {"\\begin": 1, "\\end": -1}.get(found.group(), 0)
        if found.group() == "&" and depth <= 0:
            letters[found.start()] = " "
    return "".join(letters)


def _outside(found: re.Match[str]) -> str:
    """Return the formula moved out of the words around it, at the same length."""
    words, formula, rest = found.groups()
    return f"{words}}}{formula} {' ' * len(rest)} "


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())
