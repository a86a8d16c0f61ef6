"""The rows of `--points` as a page: the first and the last ones, if there are many."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.page import MISSING, Page, Phrase, Remark, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcli.render.page import Block
    from gradcli.render.view import View

    Row = Sequence[str]


def page(header: Row, first: Sequence[Row], last: Sequence[Row], between: int) -> Page:
    """Return the page of rows of cells; between: how many were left out before the last ones."""
    def screen(view: View) -> Iterator[Block]:
        rows = [*first, *last]
        columns = []
        for k in range(len(header)):
            cells = [row[k] for row in rows]
            shown = [_shown(cell, view.digits) for cell in cells]
            if any(map(_is_number, cells)):
                shown = numbers.aligned(shown)
            texts = [
                Phrase(text, style=MISSING if cell in ("None", "nan", "inf", "-inf", "") else "")
                for cell, text in zip(cells, shown, strict=True)]
            columns.append([*texts[:len(first)], *["..."] * bool(between), *texts[len(first):]])
        yield Table(header, zip(*columns, strict=True))
        if between:
            yield Remark(f"{between + len(rows):,} rows, the first {len(first)} and the last"
                         f" {len(last)} shown")

    return Page(screen=screen)


def _shown(cell: str, digits: int) -> str:
    """Return a cell that is a number rounded for people; any other as it is."""
    return numbers.significant(float(cell), digits) if _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
