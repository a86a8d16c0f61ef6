"""CSV as it stands in the file: each cell with its text, its quotes and its place.

What Python's `csv` reads, but nothing is lost: a file that some other program wants back
unchanged can be written with one cell replaced, and a cell that is wrong can be pointed at.
"""

from __future__ import annotations

import re

from gradcli.errors import Diagnostic, GradcliError
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DELIMITERS = ",;\t"


class Cell:
    """raw: as it stands there, from `start`; text: what it says."""

    __slots__ = ("raw", "start", "text")

    def __init__(self, raw: str, text: str, start: int) -> None:
        self.raw = raw
        self.text = text
        self.start = start

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.start + max(1, len(self.raw))


class Record:
    """The cells of a row, and the line end behind it ("" at the end of the text)."""

    __slots__ = ("cells", "end", "start")

    def __init__(self, cells: list[Cell], end: str, start: int) -> None:
        self.cells = cells
        self.end = end
        self.start = start

    @property
    def span(self) -> tuple[int, int]:
        """Its place in the text."""
        return self.start, self.cells[-1].span[1]

    @property
    def empty(self) -> bool:
        """Whether there is nothing in the row at all."""
        return not any(cell.text.strip() for cell in self.cells)


def delimiter(text: str) -> str:
    """What separates cells: the one of comma, semicolon and tab that the first row has most of,
    the first of them where there are equally many.
    """
    head = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    return max(DELIMITERS, key=head.count)


def records(source: Source, separator: str, code: str) -> Iterator[Record]:
    """The rows of a text, empty ones too.

    A quote that is never closed is an error of the given `code`.
    """
    text = source.text
    sign = re.escape(separator)
    pattern = re.compile(
        rf'(?:"([^"]*+(?:""[^"]*+)*+)"([^{sign}\r\n]*)|([^{sign}\r\n]*))({sign}|\r\n|\n|\r|\Z)')
    at = start = 0
    cells: list[Cell] = []
    while at < len(text) or cells:
        found = pattern.match(text, at)
        assert found is not None
        quoted, behind, bare, end = found.groups()
        if bare is not None and bare.startswith('"'):
            raise failure(code, "a quote opens here and is never closed", source, (at, at + 1),
                          'close it, or write a quote as ""')
        value = bare if bare is not None else quoted.replace('""', '"') + behind
        cells.append(Cell(found[0][:len(found[0]) - len(end)], value, at))
        at = found.end()
        if end != separator:
            yield Record(cells, end, start)
            cells, start = [], at


def fitted(record: Record, width: int, source: Source, last: int | None, code: str) -> list[str]:
    """The texts of a row in a table of `width` columns, the rest of it empty. What a comma without
    quotes split off belongs to column `last`, if that is the rightmost one; else a row that is too
    long is an error of the given code.
    """
    texts = [cell.text for cell in record.cells] + [""] * (width - len(record.cells))
    if not any(text.strip() for text in texts[width:]):
        return texts[:width]
    if last == width - 1:
        return [*texts[:last], source.text[record.cells[last].start:record.span[1]]]
    raise failure(code, f"this row has {len(texts)} cells, and the table {width} columns", source,
                  (record.cells[width].start, max(record.span[1], record.cells[width].start + 1)),
                  "put an answer with commas in quotes")


def failure(code: str, message: str, source: Source, span: tuple[int, int], help: str,
            label: str = "") -> GradcliError:
    """An error about a part of the file."""
    return GradcliError(Diagnostic(code, message, span=span, source=source, help=help, label=label))
