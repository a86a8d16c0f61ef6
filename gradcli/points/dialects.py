"""What a row of CSV or TSV is: its cells, what they say, and where they stand. All in bytes."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span


class Dialect:
    """The patterns of a separator.

    record: one row with its line end; it has a group if its last quote is never closed. plain: a
    quoted cell that would be the same without its quotes.
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
        """The cells of a row without its line end, as they stand there."""
        return self._cell.findall(raw) if b'"' in raw else raw.split(self.separator)

    def places(self, raw: bytes) -> list[Span]:
        """Where they stand."""
        return [found.span(1) for found in self._cell.finditer(raw)]


DIALECTS = {"csv": Dialect(b","), "tsv": Dialect(b"\t")}


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
    """The same as text."""
    return content(cell).decode("utf-8", "replace")


def number(cell: bytes) -> float | None:
    """The number in a cell; None if there is none."""
    if b'"' in cell:
        cell = content(cell)
    if b"_" in cell:        # Python reads 1_000
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    return data.isascii() or undecodable(data) < 0


def undecodable(data: bytes) -> int:
    """Where the first byte stands that is no UTF-8, else -1."""
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return problem.start
    return -1
