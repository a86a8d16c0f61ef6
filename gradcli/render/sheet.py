"""A sheet: what a command of calculus says, before it has a format.

A title, facts (name and value), formulas (name, text, LaTeX), one table, and notes. Every format
but JSON is made of these: `render` here, tables for a terminal in `render.sheet_table`.
"""

from __future__ import annotations

from gradcli.render import latex, numbers
from gradcli.render.delimited import cell
from gradcli.render.markdown import LEFT, RIGHT, code, prose, table
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


class Sheet:
    """name: what plain lines are called by. title: pieces, texts and numbers in turn. head, rows:
    the table; its first `labels` columns are texts. plain: what plain lines have in place of facts
    and rows. verdict: "" or a sentence that says how it went, bad: whether that is bad. remarks:
    (sentence, whether it is a reproach). wrong: rows to be marked. At a terminal, brief columns
    have two digits, and `narrow` has other heads and words; `tex` has those of LaTeX.
    """

    __slots__ = ("bad", "brief", "facts", "formulas", "head", "labels", "name", "narrow", "plain",
                 "remarks", "rows", "tex", "title", "verdict", "wrong")

    def __init__(self, name: str, title: Sequence[Any]) -> None:
        self.name = name
        self.title = list(title)
        self.facts: list[tuple[str, Any]] = []
        self.formulas: list[tuple[str, str, str]] = []
        self.head: list[str] = []
        self.rows: list[list[Any]] = []
        self.labels = 1
        self.plain: list[tuple[str, Any]] | None = None
        self.remarks: list[tuple[str, bool]] = []
        self.verdict = ""
        self.bad = False
        self.wrong: set[int] = set()
        self.brief: set[int] = set()
        self.narrow: dict[str, str] = {}
        self.tex: dict[str, str] = {}

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Plain lines: facts, formulas, rows."""
        for name, value in self.plain if self.plain is not None else self.facts:
            for index, item in numbers.elements(value):
                yield numbers.indexed(name, index), numbers.exact(item)
        for name, text, _ in self.formulas:
            yield name, text
        for row in self.rows if self.plain is None else []:
            yield tuple([numbers.exact("" if v is None else v) for v in row])


def render(sheets: Sequence[Sheet], format: str) -> str:
    """All sheets as plain lines, CSV, TSV, Markdown or LaTeX."""
    if format == "plain":
        return "".join(["\t".join(map(visible, line)) + "\n" for s in sheets for line in s.lines()])
    if format in ("csv", "tsv"):
        return _delimited(sheets, "\t" if format == "tsv" else ",")
    if format == "markdown":
        return "\n".join([part for s in sheets for part in _markdown(s)])
    return "\n".join([part for s in sheets for part in _latex(s)])


def _delimited(sheets: Sequence[Sheet], delimiter: str) -> str:
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    for k, sheet in enumerate(sheets):
        if k == 0:
            writer.writerow(["of", *map(cell, sheet.head)])
        for row in sheet.rows:
            writer.writerow([cell(sheet.name), *[
                cell(v) if isinstance(v, str) else "" if v is None else numbers.exact(v)
                for v in row]])
    return stream.getvalue()


def title(sheet: Sheet, exact: Any) -> str:
    """The title with its numbers written by `exact`."""
    return "".join([piece if isinstance(piece, str) else exact(piece) for piece in sheet.title])


def _markdown(sheet: Sheet) -> Iterator[str]:
    yield f"{prose(title(sheet, numbers.exact))}\n"
    told = [f"- {prose(name)}: {numbers.exact(value)}\n" for name, value in sheet.facts]
    told += [f"- {prose(name)}: {code(text)}\n" for name, text, _ in sheet.formulas]
    if told:
        yield "".join(told)
    if sheet.rows:
        yield table(list(map(prose, sheet.head)),
                    [LEFT] * sheet.labels + [RIGHT] * (len(sheet.head) - sheet.labels),
                    [[_cell(v) for v in row] for row in sheet.rows])
    if sheet.remarks:
        yield "".join([f"- {prose(text)}\n" for text, _ in sheet.remarks])


def _cell(value: Any) -> str:
    return "" if value is None else code(value) if isinstance(value, str) else numbers.exact(value)


def _latex(sheet: Sheet) -> Iterator[str]:
    comments = [title(sheet, numbers.exact), *[text for text, _ in sheet.remarks]]
    yield "".join([f"% {visible(text)}\n" for text in comments])
    equations = [text for _, _, text in sheet.formulas] + [
        f"{latex.name(name) if name.isidentifier() else _words(name)} &= {_number(value)}"
        for name, value in sheet.facts]
    if equations:
        inner = " \\\\\n".join(equations)
        yield f"\\begin{{align*}}\n{inner}\n\\end{{align*}}\n"
    if sheet.rows:
        sides = "l" * sheet.labels + "r" * (len(sheet.head) - sheet.labels)
        lines = [f"\\begin{{tabular}}{{{sides}}}",
                 " & ".join(map(latex.escaped, sheet.head)) + r" \\", "\\hline"]
        lines += [" & ".join([
            sheet.tex.get(v) or latex.escaped(v) if isinstance(v, str) else
            "" if v is None else f"${_number(v)}$"
            for v in row]) + r" \\" for row in sheet.rows]
        yield "\n".join([*lines, "\\end{tabular}", ""])


def _words(text: str) -> str:
    return f"\\text{{{latex.escaped(text)}}}"


def _number(value: Any) -> str:
    if isinstance(value, list):
        return r"\left(" + r",\; ".join(map(_number, value)) + r"\right)"
    return latex.number(value)
