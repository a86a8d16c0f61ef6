"""Sheets for a person at a terminal, by rich; the only form that rounds."""

from __future__ import annotations

import re

from gradcli.render import layout, numbers
from gradcli.render.sheet import title
from gradcli.render.table import MISSING, WRONG, print_parts
from gradcli.render.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.sheet import Sheet

GOOD, BAD, OPEN = "bold green", "bold red", "bold yellow"


def render(sheets: Sequence[Sheet], *, width: int, color: bool, digits: int, encoding: str) -> str:
    """All sheets as text, no wider than `width` where numbers allow."""
    from io import StringIO

    view = View({}, digits, width, encoding, whole=True)
    buffer = StringIO()
    parts: list[Any] = []
    for sheet in sheets:
        parts += [view.text(""), *_page(view, sheet)] if parts else _page(view, sheet)
    print_parts(parts, buffer, width, color)
    return buffer.getvalue()


def _page(view: View, sheet: Sheet) -> Iterator[Any]:
    def exact(value: Any) -> str:
        return layout.inline(value, view.digits)

    yield view.text(title(sheet, exact), "bold")
    if sheet.verdict:
        yield view.text(sheet.verdict, BAD if sheet.bad else GOOD)
    if sheet.formulas or sheet.facts:
        from rich.table import Table

        grid = Table.grid(padding=(0, 3, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text, _ in sheet.formulas:
            grid.add_row(view.text(name), view.text(_rounded(text, view.digits)))
        for name, value in sheet.facts:
            grid.add_row(view.text(name), view.text(exact(value)))
        yield view.text("")
        yield grid
    if sheet.rows:
        yield view.text("")
        yield view.table([
            ([sheet.narrow.get(head, head)], _column(view, sheet, k))
            for k, head in enumerate(sheet.head)])
    for text, reproach in sheet.remarks:
        yield view.text("")
        yield view.text(text, WRONG if reproach else "")


def _column(view: View, sheet: Sheet, k: int) -> list[tuple[list[str], str]]:
    values = [sheet.narrow.get(row[k], row[k]) if isinstance(row[k], str) else row[k]
              for row in sheet.rows]
    digits = 2 if k in sheet.brief else view.digits
    single = [v for v in values if isinstance(v, float | int)]
    texts = iter(numbers.aligned([numbers.significant(v, digits) for v in single]))
    found = []
    for at, value in enumerate(values):
        text = next(texts) if isinstance(value, float | int) else (
            "" if value is None else layout.inline(value, view.digits))
        odd = isinstance(value, float) and value - value != 0
        found.append(([text.rstrip() if isinstance(value, str) else text],
                      WRONG if at in sheet.wrong else MISSING if odd else ""))
    return found


def _rounded(text: str, digits: int) -> str:
    """A formula with its numbers rounded for people; digits of names stay."""
    return re.sub(r"(?<![\w.])\d[\d.]*(e[+-]?\d+)?",
                  lambda number: numbers.significant(float(number[0]), digits), text)
