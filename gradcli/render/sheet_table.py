"""Sheets for a person at a terminal, by rich; the only form that folds and shortens."""

from __future__ import annotations

from gradcli.render import layout, numbers
from gradcli.render.layouts.derivatives import GAP, MISSING, WRONG, groups, print_parts
from gradcli.render.terminal import NAME, View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Sheet
    from gradcli.render.terminal import Column, Lines

GOOD, BAD = "bold green", "bold red"
LEAST = 12          # columns that a name or a text gets in any case
UNEVEN = 4          # points stand below each other where that costs no more columns


def render(sheets: Sequence[Sheet], *, width: int, color: bool, digits: int, encoding: str,
           whole: bool) -> str:
    """All sheets as text, no wider than `width` where numbers allow. whole: all rows, and arrays in
    full.
    """
    from io import StringIO

    view = View({}, digits, width, encoding, whole)
    buffer = StringIO()
    parts: list[Any] = []
    for sheet in sheets:
        parts += [view.text(""), *_page(view, sheet)] if parts else _page(view, sheet)
    print_parts(parts, buffer, width, color)
    return buffer.getvalue()


def _page(view: View, sheet: Sheet) -> Iterator[Any]:
    yield view.text("".join([piece if isinstance(piece, str) else _brief(view, piece)
                             for piece in sheet.title]), "bold")
    if sheet.verdict:
        yield view.text(sheet.verdict, BAD if sheet.bad else GOOD)
    if sheet.formulas or sheet.facts:
        yield view.text("")
        yield _facts(view, sheet)
    if sheet.rows:
        yield from _tables(view, sheet)
    for text, reproach in sheet.remarks:
        yield view.text("")
        yield view.text(text, WRONG if reproach else "")
    if view.summarised:
        yield view.text("")
        yield view.text(f"arrays of more than {layout.SUMMARISED} elements are summarised; -v shows"
                        " them")
        view.summarised = False


def _brief(view: View, value: Any) -> str:
    """A scalar or a small array on one line, the shape of a larger one."""
    if view.large(value):
        return f"({layout.summary(value, view.digits)[0]})"
    return layout.inline(value, view.digits)


def _facts(view: View, sheet: Sheet) -> Any:
    """Formulas and facts beside their names."""
    from rich.table import Table

    names = [name for name, *_ in [*sheet.formulas, *sheet.facts]]
    natural = widest(names)
    width = natural if natural <= view.width // 2 else max(LEAST, view.width // 3)
    room = max(LEAST, view.width - width - GAP)
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    for name, text, _ in sheet.formulas:
        grid.add_row(view.cell(_words(view, name, width)), view.cell(broken(text, room)))
    for name, value in sheet.facts:
        lines = [line.rstrip() for line in view.lines(value, room)]
        grid.add_row(view.cell(_words(view, name, width)), view.cell(lines))
    return grid


def broken(text: str, width: int) -> Lines:
    """A formula in lines that end between its terms: before a sign that no bracket holds."""
    pieces, depth, start = [], 0, 0
    for k, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == " " and text[k + 1:k + 3] in ("+ ", "- "):
            pieces.append(text[start:k])
            start = k + 1
    lines: Lines = []
    for piece in [*pieces, text[start:]]:
        if lines and len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def _words(view: View, text: str, width: int) -> Lines:
    """A name in lines, broken at its blanks if it has to be."""
    lines: Lines = []
    for word in view.safe(text).split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines += view.name(word, max(width, 1))
    return lines


# --- the table ------------------------------------------------------------------------------------


def _tables(view: View, sheet: Sheet) -> Iterator[Any]:
    """As many tables below each other as the columns need; each begins with the names."""
    first, last = sheet.ends
    at = list(range(len(sheet.rows)))
    cut = not view.whole and len(at) > first + last + 2
    if cut:
        at = at[:first] + at[-last:]
    columns = _columns(view, sheet, at, NAME, folded=False)
    if _width(columns) > view.width:
        # A name is folded only if it would have no other column beside it.
        room = view.width - GAP - max(_width([column]) for column in columns[sheet.labels:])
        columns = _columns(view, sheet, at, min(NAME, max(LEAST, room)), folded=True)
    if cut:
        for k, (_, cells) in enumerate(columns):
            cells.insert(first, (["..." if k < sheet.labels else ""], ""))
    labels, rest = columns[:sheet.labels], columns[sheet.labels:]
    room = view.width - _width(labels)
    for group in groups([_width([column]) for column in rest], room):
        yield view.text("")
        yield view.table([*labels, *_stripped([rest[k] for k in group])])
    if cut:
        yield view.text("")
        yield view.text(f"{len(sheet.rows):,} rows, the first {first} and the last {last} shown; -v"
                        " shows all")


def _width(columns: Sequence[Column]) -> int:
    return sum([max(map(widest, [head, *[lines for lines, _ in cells]]))
                for head, cells in columns]) + GAP * (len(columns) - 1)


def _stripped(columns: list[Column]) -> list[Column]:
    """The same without blanks at the ends of lines."""
    head, cells = columns[-1]
    return [*columns[:-1], (head, [([line.rstrip() for line in lines], style)
                                   for lines, style in cells])]


def _columns(view: View, sheet: Sheet, at: list[int], limit: int, folded: bool) -> list[Column]:
    """limit: of a name. folded: heads, too, are in several lines."""
    found: list[Column] = []
    for k, head in enumerate(sheet.head):
        text = sheet.narrow.get(head, head)
        cells = _column(view, sheet, k, at, limit)
        if folded:
            text = sheet.short.get(text, text)
        most = max([len(word) for word in text.split(" ")] + [widest(one) for one, _ in cells])
        if text or any(lines != [""] for lines, _ in cells):
            found.append((_words(view, text, most if folded else view.width), cells))
    return found


def _column(view: View, sheet: Sheet, k: int, at: list[int], limit: int
            ) -> list[tuple[Lines, str]]:
    values = [sheet.narrow.get(v, v) if isinstance(v, str) else v
              for v in [sheet.rows[j][k] for j in at]]
    digits = 2 if k in sheet.brief else view.digits
    texts = iter(_aligned([numbers.significant(v, digits) for v in values
                           if isinstance(v, float | int)]))
    found: list[tuple[Lines, str]] = []
    for j, value in zip(at, values, strict=True):
        if isinstance(value, str):
            lines = view.name(value, limit)
        elif isinstance(value, float | int):
            lines = [next(texts)]
        else:
            lines = [""] if value is None else view.lines(value, max(LEAST, view.width - limit))
        odd = isinstance(value, float) and value - value != 0
        found.append((lines, WRONG if j in sheet.wrong else MISSING if odd else ""))
    return found


def _aligned(texts: list[str]) -> Lines:
    """Points below each other, unless one number is so much larger that this makes the column wide.
    """
    aligned = numbers.aligned(texts)
    natural = max(map(len, texts), default=0)
    if aligned and len(aligned[0]) > natural + UNEVEN:
        return [text.rjust(natural) for text in texts]
    return aligned
