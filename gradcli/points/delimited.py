"""CSV and TSV: a line of names, then one row per line.

Quotes mean what they mean to Python's `csv`: a cell that begins with one ends at the next, a
doubled one stands for itself, and separators and line ends between them are text; elsewhere a quote
is a character like others. Lines end with LF or CRLF; empty ones are passed over. Everything stays
bytes, which `float` reads directly; only diagnostics and names are text.

A block of lines with plain cells is split in one go, column by column. A block with anything else
in it (a quoted separator, a line with a cell too few, bytes that are no UTF-8) is read row by row,
with the same result.
"""

from __future__ import annotations

import math
import re

from gradcli.base.errors import MAX_BYTES, Diagnostic, GradcliError
from gradcli.base.lazy import np
from gradcli.points.cells import (
    BETWEEN,
    DIALECTS,
    Dialect,
    cell_text,
    is_text,
    joined,
    number,
    undecodable,
    unquoted,
)
from gradcli.points.table import Excerpt, Lines, Rows, Table, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO
SHOWN = 40      # characters of a cell in a message

# What files of other kinds begin with, and what to do about them.
KINDS = {
    b"\x1f\x8b": "it is packed: name it .gz, or unpack it first with gzip -dc",
    b"PAR1": "it is Parquet: --points-format parquet",
    b"ARROW1": "it is Arrow: --points-format arrow",
    b"PK": "it is a workbook or an archive: save the sheet as CSV",
    b"\xff\xfe": "it is UTF-16: save it as UTF-8, or convert it with iconv -f UTF-16",
    b"\xfe\xff": "it is UTF-16: save it as UTF-8, or convert it with iconv -f UTF-16"}
# How numbers may be written elsewhere, and how they are here.
WRITTEN = (
    (re.compile(r"[-+]?\d[\d.,'’\s]*(?:e[-+]?\d+)?", re.IGNORECASE),
     "write a point before the decimals and nothing between thousands, as in 1234.5"),
    (re.compile(r"[−–]\s*\d.*"), "write - in front of a negative number"))


class Delimited(Table):
    """The table in a stream of CSV or TSV."""

    __slots__ = ("_form", "_lines", "_size")

    def __init__(self, stream: BinaryIO, name: str, format: str, total: int | None, size: int
                 ) -> None:
        self._lines = Lines(stream, name)
        self._size = size
        self._form = Form(name, format, 0)
        number, data = self._head_line()
        names = _names(self._form, data, number)
        super().__init__(name, format, names, total, "bytes")
        self._form.width = len(names)

    def header(self, echo: str | None) -> str:
        return self._form.head if echo in (None, self.format) else super().header(echo)

    def blocks(self) -> Iterator[Block]:
        lines, first = self._lines, 0
        while True:
            number = lines.line
            data = lines.take(self._size)
            if not data:
                return
            data, count = self._whole(data, number)
            if count:
                yield Block(self._form, data, first, count, number, lines.done)
            first += count

    def close(self) -> None:
        self._lines.close()

    def _head_line(self) -> tuple[int, bytes]:
        """Return the number of the first line that is not empty, and that line."""
        lines = self._lines
        while True:
            number = lines.line
            data = lines.take(1)
            if not data and lines.line == number:
                raise failure("E0611", f"`{lines.name}` is empty", lines.name,
                              "write the names of the columns in the first line")
            if data.strip(b"\r\n"):
                return number, self._whole(data, number)[0]

    def _whole(self, data: bytes, number: int) -> tuple[bytes, int]:
        """Return the lines, with more of them if a quote is open at the end, and their number of
        rows.
        """
        if b'"' not in data:
            lines = data.split(b"\n")
            if b"\r" in data:
                return data, sum([line.strip(b"\r") != b"" for line in lines])
            return data, len(lines) - lines.count(b"")
        more, count, at = 1, 0, 0
        while True:
            for found in self._form.dialect.record.finditer(data, at):
                if found.lastindex is not None:
                    at = found.start()
                    break
                count += found[0].strip(b"\r\n") != b""
            else:
                return data, count
            rest = self._lines.take(more) if len(data) - at <= MAX_BYTES else b""
            if not rest:
                raise self._never_closed(data[at:], number + data.count(b"\n", 0, at))
            data += rest
            more *= 2

    def _never_closed(self, data: bytes, number: int) -> GradcliError:
        start = self._form.dialect.places(data)[-1][0]
        number += data.count(b"\n", 0, start)
        begin = data.rfind(b"\n", 0, start) + 1
        line = data[begin:].partition(b"\n")[0]
        return GradcliError(self._form.diagnostic(
            "E0612", "a quote opens here and is never closed", line.rstrip(b"\r"), number,
            start - begin, start - begin + 1, help='close it, or write a quote as ""'))


class Form:
    """The properties that all blocks of a file share. head: the line of names, unchanged."""

    __slots__ = ("format", "head", "name", "names", "width")

    def __init__(self, name: str, format: str, width: int) -> None:
        self.name = name
        self.format = format
        self.width = width
        self.head = ""
        self.names: list[str] = []

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.format]

    def diagnostic(self, code: str, message: str, raw: bytes, line: int, start: int, stop: int,
                   label: str = "", help: str = "") -> Diagnostic:
        """Return a diagnostic about a part of a row.

        raw: the row.
        line: its number.
        start, stop: the part, in bytes.
        """
        begin, end = (len(raw[:at].decode("utf-8", "replace")) for at in (start, stop))
        return Diagnostic(
            code, message, span=(begin, end), label=label, help=help,
            source=Excerpt(raw.decode("utf-8", "replace"), self.name, line))


class Block:
    """Unparsed lines of the file. line: the number of the first one."""

    __slots__ = ("count", "data", "done", "first", "form", "line")

    def __init__(self, form: Form, data: bytes, first: int, count: int, line: int, done: int
                 ) -> None:
        self.form = form
        self.data = data
        self.first = first
        self.count = count
        self.line = line
        self.done = done

    def parse(self, wanted: Sequence[int], echo: str | None) -> Rows:
        return self._at_once(wanted, echo) or self._row_by_row(wanted, echo)

    def _at_once(self, wanted: Sequence[int], echo: str | None) -> Rows | None:
        """Parse all rows at once; None unless all are lines of plain cells, of one length."""
        form, body = self.form, self.data
        if b"\r" in body:
            body = body.replace(b"\r\n", b"\n")
        bare = body
        if b'"' in body:
            bare = form.dialect.plain.sub(rb"\1", body)
        if b"\r" in body or b'"' in bare or not is_text(body):
            return None
        body, bare = self._without_blanks(body), self._without_blanks(bare)
        # Each line end becomes a cell of its own, so every line has as many cells as the first one
        # if these cells stand where they should.
        between, width = form.dialect.separator, form.width
        cells = bare.replace(b"\n", between + b"\n" + between).split(between)
        step = width + 1
        if len(cells) != step * self.count - 1 or (
                cells[width::step].count(b"\n") != self.count - 1):
            return None
        columns, wrong = [], set()
        for k in wanted:
            column = cells[k::step]
            values = _numbers(column)
            # Python reads 1_000.
            if values is None or (b"_" in bare and any(b"_" in cell for cell in column)):
                found = list(map(number, column))
                wrong.update([row for row, value in enumerate(found) if value is None])
                values = np.array(found, float)
            columns.append(values)
        for values in columns:
            values[list(wrong)] = math.nan
        return Rows(self.first, self.count, columns,
                    self._echo(body, bare, cells, columns, wanted, echo),
                    self._problems(body, sorted(wrong), wanted) if wrong else {})

    def _without_blanks(self, body: bytes) -> bytes:
        """Return the lines without the last one's end, and without empty ones."""
        body = body.removesuffix(b"\n")
        if body.count(b"\n") == self.count - 1:
            return body
        return b"\n".join([line for line in body.split(b"\n") if line])

    def _echo(self, body: bytes, bare: bytes, cells: list[bytes], columns: list[Any],
              wanted: Sequence[int], echo: str | None) -> list[Any] | None:
        form, step = self.form, self.form.width + 1
        if echo is None:
            return None
        if echo == form.format:
            return body.split(b"\n")
        if echo in BETWEEN:
            found = unquoted(bare, form.dialect.separator, echo)
            if found is not None:
                return found
        return _other(
            [cells[k:k + form.width] for k in range(0, len(cells), step)], columns, wanted, echo)

    def _row_by_row(self, wanted: Sequence[int], echo: str | None) -> Rows:
        form, dialect = self.form, self.form.dialect
        bad: dict[int, Diagnostic] = {}
        lines: list[bytes] = []
        rows, found = [], []
        line, counted = self.line, 0
        for record in dialect.record.finditer(self.data):
            raw = record[0].rstrip(b"\r\n")
            if not raw:
                continue
            cells = dialect.cells(raw)
            values: list[float | None] = [None]
            if len(cells) == form.width and is_text(raw):
                values = [number(cells[k]) for k in wanted]
            if None in values:
                line += self.data.count(b"\n", counted, record.start())
                counted = record.start()
                bad[len(lines)] = self._problem(raw, line, cells, wanted)
                values = [math.nan] * len(wanted)
            # Answers stand below their titles even where cells are missing.
            missing = form.width - len(cells)
            lines.append(raw + dialect.separator * missing)
            rows.append([*cells[:form.width], *[b""] * missing])
            found.append(values)
        columns = [np.array(column, float) for column in zip(*found, strict=True)]
        return Rows(
            self.first, self.count, columns, None if echo is None else
            lines if echo == form.format else _other(rows, columns, wanted, echo), bad)

    def _problems(self, body: bytes, rows: list[int], wanted: Sequence[int]
                  ) -> dict[int, Diagnostic]:
        """Return diagnostics for some rows of plain cells that cannot be read."""
        raws, cells = body.split(b"\n"), self.form.dialect.cells
        lines = [line for line, raw in enumerate(self.data.split(b"\n"), self.line)
                 if raw.strip(b"\r")]
        return {k: self._problem(raws[k], lines[k], cells(raws[k]), wanted) for k in rows}

    def _problem(self, raw: bytes, line: int, cells: list[bytes], wanted: Sequence[int]
                 ) -> Diagnostic:
        """Return the diagnostic for a row that cannot be read."""
        form = self.form
        at = undecodable(raw)
        if at >= 0:
            return form.diagnostic("E0603", f"byte 0x{raw[at]:02x} is not UTF-8 text", raw, line,
                                   at, at + 1, help="save the file as UTF-8")
        places = form.dialect.places(raw)
        if len(cells) != form.width:
            # From the first cell too many, or at the end of the line.
            start = places[form.width][0] if len(cells) > form.width else len(raw)
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            return form.diagnostic(
                "E0612", f"the row has {count}, not {form.width}", raw, line, start, len(raw),
                help="give every line as many cells as the first")
        wrong = next(k for k in wanted if number(cells[k]) is None)
        text = cell_text(cells[wrong]).strip()
        shown = f"`{text}`" if len(text) <= SHOWN else f"`{text[:SHOWN]}...`"
        return form.diagnostic(
            "E0612", f"{shown if text else 'an empty cell'} is not a number", raw, line,
            *places[wrong], f"column `{form.names[wrong]}`",
            next((help for pattern, help in WRITTEN if pattern.fullmatch(text)),
                 "write a number, or nan where there is none"))


def _other(rows: list[list[bytes]], columns: list[Any], wanted: Sequence[int], echo: str
           ) -> list[Any]:
    """Return rows of cells in another format: as text, or column by column."""
    if echo in BETWEEN:
        return joined((map(cell_text, row) for row in rows), echo)
    given = dict(zip(wanted, columns, strict=True))
    return [given[k] if k in given else list(map(cell_text, column))
            for k, column in enumerate(zip(*rows, strict=True))]


def _numbers(cells: list[bytes]) -> Any:
    """Return the numbers in plain cells: float64; None if one of them is none."""
    try:
        return np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        return None


def _names(form: Form, data: bytes, line: int) -> list[str]:
    """Return the names in the head line. Raises E0603 and E0612."""
    raw = data.rstrip(b"\r\n")
    kind = next((help for start, help in KINDS.items() if data.startswith(start)), None)
    if not is_text(raw):
        at = undecodable(raw)
        raise GradcliError(form.diagnostic(
            "E0603", f"`{form.name}` is not UTF-8 text: byte 0x{raw[at]:02x}", raw, line, at,
            at + 1, "not UTF-8 from here", kind or "save the file as UTF-8"))
    cells = form.dialect.cells(raw)
    for sign, code, what, help in (
            (b"\0", "E0604", "a NUL character", "give a text file"),
            (b"\r", "E0612", "a carriage return that ends no line",
             "let lines end with LF or CRLF")):
        at = raw.find(sign)
        if at >= 0:
            raise GradcliError(form.diagnostic(
                code, f"the names of the columns hold {what}", raw, line, at, at + 1,
                help=kind or help))
    if all(number(cell) is not None for cell in cells):
        raise GradcliError(form.diagnostic(
            "E0612", "the first line is a row of numbers, not the names of the columns", raw, line,
            0, len(raw), help="write the names of the columns in the first line"))
    form.head = raw.decode()
    form.names = [cell_text(cell).strip() for cell in cells]
    return form.names
