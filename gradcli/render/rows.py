"""Rows of numbers as a table for a terminal: the first and the last ones, if there are many."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.table import MISSING, print_parts
from gradcli.render.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    Row = Sequence[str]


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
