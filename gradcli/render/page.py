"""A sheet: what a command of calculus says, before it has a format.

A title, a verdict, facts (name and value), formulas (name, text, LaTeX), one table, and remarks.
Plain lines, Markdown and LaTeX are made of these here, tables for a terminal in
`render.sheet_table`; CSV, in `render.layouts.calculus`, needs the formulas only.
"""

from __future__ import annotations

from gradcli.render import latex, numbers
from gradcli.render.layouts.derivatives import MISSING, print_parts
from gradcli.render.markdown import LEFT, RIGHT, code, prose, table
from gradcli.render.numbers import visible
from gradcli.render.terminal import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TextIO

    Row = Sequence[str]

ENDS = (40, 10)


class Sheet:
    """name: the target. title: pieces, texts and numbers in turn. verdict: "" or a sentence that
    says how it went, bad: whether that is bad. head, rows: the table; its first `labels` columns
    are texts. tex: the mathematics that these stand for, signs: that of facts. remarks: (sentence,
    whether it is a reproach). told: what has no room in lines of names and values.

    At a terminal `wrong` rows are marked, `brief` columns have two digits, `narrow` has other heads
    and words, `short` has heads for where the others are too wide, and of many rows `ends` tells
    how many of the first and the last are shown. digits: of the numbers in formulas; None: all.
    """

    __slots__ = ("_plain", "bad", "brief", "digits", "ends", "facts", "formulas", "head", "labels",
                 "name", "narrow", "remarks", "rows", "short", "signs", "tex", "title", "told",
                 "verdict", "wrong")

    def __init__(self, name: str, title: Sequence[Any], digits: int | None = None) -> None:
        self.name = name
        self.title = list(title)
        self.digits = digits
        self.facts: list[tuple[str, Any]] = []
        self.formulas: list[tuple[str, str, str]] = []
        self.head: list[str] = []
        self.rows: list[list[Any]] = []
        self.labels = 1
        self.remarks: list[tuple[str, bool]] = []
        self.told: list[str] = []
        self.verdict = ""
        self.bad = False
        self.wrong: set[int] = set()
        self.brief: set[int] = set()
        self.narrow: dict[str, str] = {}
        self.tex: dict[str, str] = {}
        self.signs: dict[str, str] = {}
        self.short: dict[str, str] = {}
        self.ends = ENDS
        self._plain: list[tuple[str, Any, bool]] = []

    def say(self, name: str, value: Any) -> None:
        """A plain line, or one for each element; the name contains the target's."""
        self._plain.append((name, value, True))

    def say_own(self, name: str, value: Any) -> None:
        """The same with a name that is the same for each target."""
        self._plain.append((name, value, False))

    def lines(self, several: bool) -> Iterator[tuple[str, str]]:
        """Plain lines. several: there are sheets of other targets, too."""
        target = numbers.closed(self.name)
        for name, value, unique in self._plain:
            whole = name if unique or not several else f"{target}.{name}"
            for index, item in numbers.elements(value):
                yield numbers.indexed(whole, index), numbers.exact(item)


def render(sheets: Sequence[Sheet], format: str) -> str:
    """All sheets as plain lines, Markdown or LaTeX."""
    if format == "plain":
        return "".join(["\t".join(map(visible, line)) + "\n" for s in sheets
                        for line in s.lines(len(sheets) > 1)])
    if format == "markdown":
        return "\n".join([part for s in sheets for part in _markdown(s)])
    return "\n".join([part for s in sheets for part in _latex(s)])


def shown(value: Any, digits: int | None) -> str:
    """A number or an array on one line, rounded if there is a number of digits."""
    if digits is None:
        return numbers.exact(value)
    if isinstance(value, list):
        return f"[{', '.join([shown(item, digits) for item in value])}]"
    return numbers.significant(value, digits)


def _title(sheet: Sheet) -> str:
    return "".join([piece if isinstance(piece, str) else shown(piece, sheet.digits)
                    for piece in sheet.title])


def _markdown(sheet: Sheet) -> Iterator[str]:
    yield f"{prose(_title(sheet))}\n"
    if sheet.verdict:
        yield f"**{prose(sheet.verdict)}**\n"
    told = [f"- {prose(name)}: {code(text)}\n" for name, text, _ in sheet.formulas]
    told += [f"- {prose(name)}: {shown(value, sheet.digits)}\n" for name, value in sheet.facts]
    if told:
        yield "".join(told)
    if sheet.rows:
        yield table(list(map(prose, sheet.head)),
                    [LEFT] * sheet.labels + [RIGHT] * (len(sheet.head) - sheet.labels),
                    [["" if v is None else code(v) if isinstance(v, str) else
                      shown(v, sheet.digits) for v in row] for row in sheet.rows])
    if sheet.remarks:
        yield "".join([f"- {prose(text)}\n" for text, _ in sheet.remarks])


def _latex(sheet: Sheet) -> Iterator[str]:
    comments = [_title(sheet), *[text for text, _ in sheet.remarks]]
    yield "".join([f"% {visible(text)}\n" for text in comments])
    if sheet.verdict:
        # Typeset, not a comment: without it a point that is no solution would look like one.
        yield f"{latex.escaped(sheet.verdict)}\n"
    equations = [text for _, _, text in sheet.formulas] + [
        f"{sheet.signs.get(name) or _words(name)} &= {_number(value, sheet.digits)}"
        for name, value in sheet.facts]
    if equations:
        inner = " \\\\\n".join(equations)
        yield f"\\begin{{align*}}\n{inner}\n\\end{{align*}}\n"
    if sheet.rows:
        sides = "l" * sheet.labels + "r" * (len(sheet.head) - sheet.labels)
        lines = [f"\\begin{{tabular}}{{{sides}}}",
                 " & ".join([_text(sheet, head) for head in sheet.head]) + r" \\", "\\hline"]
        lines += [" & ".join([
            _text(sheet, v) if isinstance(v, str) else
            "" if v is None else f"${_number(v, sheet.digits)}$"
            for v in row]) + r" \\" for row in sheet.rows]
        yield "\n".join([*lines, "\\end{tabular}", ""])


def _text(sheet: Sheet, text: str) -> str:
    return f"${sheet.tex[text]}$" if text in sheet.tex else latex.escaped(text)


def _words(text: str) -> str:
    return f"\\text{{{latex.escaped(text)}}}"


def _number(value: Any, digits: int | None) -> str:
    if isinstance(value, list):
        return r"\left(" + r",\; ".join([_number(item, digits) for item in value]) + r"\right)"
    return latex.number(value, digits)


# --------------------------------------------------------------------------------------------------
# Rows of numbers as a table for a terminal: the first and the last ones, if there are many.

def print_rows(header: Row, first: Sequence[Row], last: Sequence[Row], between: int,
               stream: TextIO, *, width: int, color: bool, digits: int, encoding: str) -> None:
    """Write rows of cells to `stream`; between: how many were left out before the last ones."""
    view = View({}, digits, width, encoding, whole=True)
    rows = [*first, *last]
    columns = []
    for k, name in enumerate(header):
        cells = [row[k] for row in rows]
        shown = [_shown(cell, digits) for cell in cells]
        if any(map(_is_number, cells)):
            shown = numbers.aligned(shown)
        styles = [MISSING if cell in ("None", "nan", "inf", "-inf", "") else "" for cell in cells]
        lines = [([text], style) for text, style in zip(shown, styles, strict=True)]
        if between:
            lines.insert(len(first), (["..."], ""))
        columns.append((view.name(name), lines))
    parts = [view.table(columns)]
    if between:
        parts.append(view.text(f"{between + len(rows):,} rows, the first {len(first)} and the last"
                               f" {len(last)} shown"))    # type: ignore[arg-type]
    print_parts(parts, stream, width, color)


def _shown(cell: str, digits: int) -> str:
    """A number rounded for people; anything else as it is."""
    return numbers.significant(float(cell), digits) if _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
