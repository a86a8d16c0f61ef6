"""CSV and TSV: a line of names, then one row per line.

Quotes mean what they mean to Python's `csv`: a cell that begins with one ends at the next, a
doubled one stands for itself, and separators and line ends between them are text; elsewhere a quote
is a character like others. Lines end with LF or CRLF; empty ones are passed over. Everything stays
bytes, which `float` reads as they are; only diagnostics and names are text.

A block of plain cells is split in one go. A block with anything else in it (a cell that is no
number, a quoted separator, bytes that are no UTF-8) is read again row by row; both readings of a
row that is fine are the same.
"""

from __future__ import annotations

import re

from gradcli.errors import Diagnostic, GradcliError
from gradcli.ops.lazy import np
from gradcli.points.cells import BETWEEN, joined, unquoted
from gradcli.points.lines import Lines
from gradcli.points.table import Excerpt, Rows, Table, failure
from gradcli.source import MAX_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

SHOWN = 40      # characters of a cell in a message


class Dialect:
    """The patterns of a separator.

    record: one row with its line end; it has a group if its last quote is never closed. plain: a
    quoted cell that would be the same without its quotes.
    """

    __slots__ = ("plain", "record", "separator")

    def __init__(self, separator: bytes) -> None:
        cell = rb'(?:"[^"]*+(?:""[^"]*+)*+(?:"|(\Z)))?+[^S\n]*+'
        self.separator = separator
        self.record = _pattern(rb"%b(?:S%b)*+(?:\n|\Z)" % (cell, cell), separator)
        self.plain = _pattern(rb'"(?<![^S\n]")([^"S\n]*+)"(?![^S\n])', separator)


def _pattern(text: bytes, separator: bytes) -> re.Pattern[bytes]:
    return re.compile(text.replace(b"S", separator))


DIALECTS = {"csv": Dialect(b","), "tsv": Dialect(b"\t")}


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
        """The first line that is not empty, and its number."""
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
        """The lines, and as many more as it takes to close a quote; how many rows that is."""
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
        *_, (start, _) = spans(data, self._form.dialect.separator)
        number += data.count(b"\n", 0, start)
        begin = data.rfind(b"\n", 0, start) + 1
        line = data[begin:].partition(b"\n")[0]
        return GradcliError(self._form.diagnostic(
            "E0612", "a quote opens here and is never closed", line.rstrip(b"\r"), number,
            start - begin, start - begin + 1, help='close it, or write a quote as ""'))


class Form:
    """What the blocks of a file have in common. head: the line of names as it stands there."""

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
        """What is wrong with a part of a row; the place is given in bytes."""
        begin, end = (len(raw[:at].decode("utf-8", "replace")) for at in (start, stop))
        return Diagnostic(
            code, message, span=(begin, end), label=label, help=help,
            source=Excerpt(raw.decode("utf-8", "replace"), self.name, line))


class Block:
    """Lines of the file as they stand there. line: the number of the first one."""

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
        """None if there is anything unusual in the block."""
        form, body = self.form, self.data
        if b"\r" in body:
            body = body.replace(b"\r\n", b"\n")
        bare = body
        if b'"' in body:
            bare = form.dialect.plain.sub(rb"\1", body)
        if b"\r" in body or b'"' in bare or not _is_text(body):
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
        columns = []
        for k in wanted:
            column = _numbers(cells[k::step])
            # Python reads 1_000.
            if column is None or (b"_" in bare and any(b"_" in c for c in cells[k::step])):
                return None
            columns.append(column)
        return Rows(self.first, self.count, columns,
                    self._echo(body, bare, cells, columns, wanted, echo), {})

    def _without_blanks(self, body: bytes) -> bytes:
        """The lines without the last one's end, and without empty ones."""
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
        if echo not in BETWEEN:
            given = dict(zip(wanted, columns, strict=True))
            return [given[k] if k in given else [cell.decode() for cell in cells[k::step]]
                    for k in range(form.width)]
        return unquoted(bare, form.dialect.separator, echo) or joined(
            ([cell.decode() for cell in cells[k:k + form.width]]
             for k in range(0, len(cells), step)), echo)

    def _row_by_row(self, wanted: Sequence[int], echo: str | None) -> Rows:
        form, separator = self.form, self.form.dialect.separator
        columns = [np.full(self.count, np.nan) for _ in wanted]
        bad: dict[int, Diagnostic] = {}
        lines, rows = [], []
        number, end, row = self.line, 0, 0
        for record in form.dialect.record.finditer(self.data):
            raw = record[0].rstrip(b"\r\n")
            if not raw:
                continue
            number, end = number + self.data.count(b"\n", end, record.start()), record.start()
            places = list(spans(raw, separator))
            values = self._values(raw, number, places, wanted)
            if isinstance(values, Diagnostic):
                bad[row] = values
            else:
                for column, value in zip(columns, values, strict=True):
                    column[row] = value
            lines.append(raw + separator * (form.width - len(places)))
            rows.append([cell_text(raw[a:b]) for a, b in places[:form.width]])
            row += 1
        if echo is None or echo == form.format:
            return Rows(self.first, row, columns, None if echo is None else lines, bad)
        for cells in rows:
            cells += [""] * (form.width - len(cells))
        if echo in BETWEEN:
            return Rows(self.first, row, columns, joined(rows, echo), bad)
        given = dict(zip(wanted, columns, strict=True))
        return Rows(self.first, row, columns, [
            given[k] if k in given else [cells[k] for cells in rows]
            for k in range(form.width)], bad)

    def _values(self, raw: bytes, line: int, places: list[tuple[int, int]],
                wanted: Sequence[int]) -> list[float] | Diagnostic:
        """The wanted numbers of a row, or what is wrong with it."""
        form = self.form
        if not _is_text(raw):
            at = _undecodable(raw)
            return form.diagnostic("E0603", f"byte 0x{raw[at]:02x} is not UTF-8 text", raw, line,
                                   at, at + 1, help="save the file as UTF-8")
        if len(places) != form.width:
            # From the first cell too many, or at the end of the line.
            start = places[form.width][0] if len(places) > form.width else len(raw)
            return form.diagnostic(
                "E0612", f"the row has {_cells(len(places))}, not {form.width}", raw, line, start,
                len(raw), help="give every line as many cells as the first")
        values = []
        for k in wanted:
            start, stop = places[k]
            value = number(raw[start:stop])
            if value is None:
                return form.diagnostic(
                    "E0612", f"{_told(raw[start:stop])} is no number", raw, line, start, stop,
                    f"column `{form.names[k]}`", "write a number, or nan where there is none")
            values.append(value)
        return values


def _names(form: Form, data: bytes, line: int) -> list[str]:
    """The names in the head line. Raises E0603 and E0612."""
    raw = data.rstrip(b"\r\n")
    if not _is_text(raw):
        at = _undecodable(raw)
        raise GradcliError(form.diagnostic(
            "E0603", f"`{form.name}` is not UTF-8 text: byte 0x{raw[at]:02x}", raw, line, at,
            at + 1, "not UTF-8 from here", "save the file as UTF-8"))
    cells = [raw[a:b] for a, b in spans(raw, form.dialect.separator)]
    for sign, code, what, help in (
            (b"\0", "E0604", "a NUL character", "give a text file"),
            (b"\r", "E0612", "a carriage return that ends no line",
             "let lines end with LF or CRLF")):
        at = raw.find(sign)
        if at >= 0:
            raise GradcliError(form.diagnostic(
                code, f"the names of the columns hold {what}", raw, line, at, at + 1, help=help))
    if all(number(cell) is not None for cell in cells):
        raise GradcliError(form.diagnostic(
            "E0612", "the first line is a row of numbers, not the names of the columns", raw, line,
            0, len(raw), help="write the names of the columns in the first line"))
    form.head = raw.decode()
    form.names = [cell_text(cell).strip() for cell in cells]
    return form.names


def spans(raw: bytes, separator: bytes) -> Iterator[tuple[int, int]]:
    """Where each cell of a row stands, its quotes included."""
    start = 0
    while True:
        stop = start
        if raw.startswith(b'"', start):
            stop = start + 1
            while True:
                stop = raw.find(b'"', stop)
                if stop < 0:
                    stop = len(raw)
                    break
                if not raw.startswith(b'""', stop):
                    stop += 1
                    break
                stop += 2
        stop = raw.find(separator, stop)
        if stop < 0:
            yield start, len(raw)
            return
        yield start, stop
        start = stop + 1


def content(cell: bytes) -> bytes:
    """What a cell says, without the quotes around it."""
    if not cell.startswith(b'"'):
        return cell
    parts = cell[1:].split(b'""')
    for k, part in enumerate(parts):
        inside, end, outside = part.partition(b'"')
        if end:     # what follows the closing quote is taken as it stands
            return b'"'.join([*parts[:k], inside]) + b'""'.join([outside, *parts[k + 1:]])
    return b'"'.join(parts)


def cell_text(cell: bytes) -> str:
    return content(cell).decode("utf-8", "replace")


def number(cell: bytes) -> float | None:
    """The number in a cell; None if there is none."""
    cell = content(cell)
    if b"_" in cell:        # Python reads 1_000
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _numbers(cells: list[bytes]) -> Any:
    """The numbers in plain cells: float64; None if one of them is none."""
    try:
        return np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        return None


def _told(cell: bytes) -> str:
    text = cell_text(cell).strip()
    if not text:
        return "an empty cell"
    return f"`{text}`" if len(text) <= SHOWN else f"`{text[:SHOWN]}...`"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _is_text(data: bytes) -> bool:
    return data.isascii() or _undecodable(data) < 0


def _undecodable(data: bytes) -> int:
    """Where the first byte stands that is no UTF-8, else -1."""
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return problem.start
    return -1
