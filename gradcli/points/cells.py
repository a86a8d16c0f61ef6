"""Cells as text: numbers as all machine formats write them, and rows of cells put together."""

from __future__ import annotations

import re

from gradcli.base.lazy import np
from gradcli.render import machine as as_json
from gradcli.render import markdown, numbers
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.base.errors import Span

# What stands between the cells of a row.
BETWEEN = {"csv": b",", "tsv": b"\t", "plain": b"\t", "markdown": b" | "}
# Bytes that mean nothing anywhere.
PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-. /:"
NOT_FINITE = {b"nan": b'"NaN"', b"inf": b'"Infinity"', b"-inf": b'"-Infinity"'}


def texts(values: Any) -> list[bytes]:
    """Return each number of a 1-d array as `numbers.exact` writes it."""
    if values.dtype.kind == "f":
        return _by_repr(values.astype(float, copy=False), False)
    return [numbers.exact(item).encode() for item in values.tolist()]


def json_texts(values: Any) -> list[bytes]:
    """Return each number of a 1-d array as JSON: NaN and infinities are strings, None is null."""
    if values.dtype.kind != "f":
        return [as_json.dump(item).encode() for item in values.tolist()]
    found = _by_repr(values.astype(float, copy=False), True)
    for k in np.flatnonzero(~np.isfinite(values)).tolist():
        found[k] = NOT_FINITE[found[k]]
    return found


def _by_repr(values: Any, point: bool) -> list[bytes]:
    """Return `repr` of each float64 of a 1-d array; point: with `.0` behind a whole number.

    All are made in one go, 0.45 us a number, and whole numbers are shortened in another.
    """
    if not len(values):
        return []
    text = repr(values.tolist())[1:-1] + ","
    return (text if point else text.replace(".0,", ","))[:-1].encode().split(b", ")


def joined(rows: Iterable[Iterable[str]], echo: str) -> list[bytes]:
    """Return each row of cells in a text format."""
    between = BETWEEN[echo]
    return [between.join(written(row, echo)) for row in rows]


def written(cells: Iterable[str], echo: str) -> list[bytes]:
    """Return each cell in a text format."""
    write = WRITERS[echo]
    return [write(cell).encode("utf-8", "backslashreplace") for cell in cells]


def unquoted(body: bytes, separator: bytes, echo: str) -> list[bytes] | None:
    """Return lines of plain cells in another format, in one go; None if a cell is not plain."""
    if body.translate(None, PLAIN + separator + b"\n"):
        return None
    return body.replace(separator, BETWEEN[echo]).split(b"\n")


def quoted(cell: str, separator: str) -> str:
    """Put a cell in quotes where a reader of CSV would need them."""
    if separator in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell


WRITERS = {
    "csv": lambda cell: quoted(cell, ","), "tsv": lambda cell: quoted(cell, "\t"),
    "plain": visible, "markdown": markdown.prose}


# --------------------------------------------------------------------------------------------------
# What a row of CSV or TSV is: its cells, what they say, and where they stand. All in bytes.

class Dialect:
    """The patterns of a separator.

    record: one row with its line end; it has a group if its last quote is never closed. plain: a
    quoted cell that means the same without its quotes.
    """

    __slots__ = ("_cell", "plain", "record", "separator")

    def __init__(self, separator: bytes) -> None:
        def pattern(text: bytes) -> re.Pattern[bytes]:
            return re.compile(text.replace(b"S", separator))

        quoted = rb'"[^"]*+(?:""[^"]*+)*+'
        cell = rb'(?:%b(?:"|(\Z)))?+[^S\n]*+' % quoted
        self.separator = separator
        self.record = pattern(rb"%b(?:S%b)*+(?:\n|\Z)" % (cell, cell))
        self.plain = pattern(rb'"(?<![^S\n]")([^"S\n]*+)"(?![^S\n])')
        self._cell = pattern(rb'(?:\A|S)((?:%b"?)?+[^S]*+)' % quoted)

    def cells(self, raw: bytes) -> list[bytes]:
        """Return the cells of a row without its line end, quotes and all."""
        return self._cell.findall(raw) if b'"' in raw else raw.split(self.separator)

    def places(self, raw: bytes) -> list[Span]:
        """Return the spans of the cells of a row."""
        return [found.span(1) for found in self._cell.finditer(raw)]


DIALECTS = {"csv": Dialect(b","), "tsv": Dialect(b"\t")}


def content(cell: bytes) -> bytes:
    """Return the text of a cell, without the quotes around it."""
    if not cell.startswith(b'"'):
        return cell
    parts = cell[1:].split(b'""')
    for k, part in enumerate(parts):
        inside, end, outside = part.partition(b'"')
        if end:     # what follows the closing quote is taken as it stands
            return b'"'.join([*parts[:k], inside]) + b'""'.join([outside, *parts[k + 1:]])
    return b'"'.join(parts)


def cell_text(cell: bytes) -> str:
    """Return the text of a cell as a string, without the quotes around it."""
    return content(cell).decode("utf-8", "replace")


def number(cell: bytes) -> float | None:
    """Return the number in a cell; None if there is none."""
    if b'"' in cell:
        cell = content(cell)
    if b"_" in cell:        # Python reads 1_000
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def is_text(data: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    return data.isascii() or undecodable(data) < 0


def undecodable(data: bytes) -> int:
    """Return the index of the first byte that is no UTF-8, else -1."""
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return problem.start
    return -1
