"""Cells as text: numbers as all machine formats write them, and rows of cells put together."""

from __future__ import annotations

from gradcli.render import json as as_json
from gradcli.render import markdown, numbers
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# What stands between the cells of a row.
BETWEEN = {"csv": b",", "tsv": b"\t", "plain": b"\t", "markdown": b" | "}
# Bytes that mean nothing anywhere.
PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-. /:"
NOT_FINITE = {b"nan": b'"NaN"', b"inf": b'"Infinity"', b"-inf": b'"-Infinity"'}


def texts(values: Any) -> list[bytes]:
    """Each number of a 1-d array as `numbers.exact` writes it.

    All floats in one go: 0.45 us each, nearly all of it the search for the shortest digits.
    """
    items = values.tolist()
    if values.dtype.kind != "f":
        return [numbers.exact(item).encode() for item in items]
    written = f"{repr(items)[1:-1]},".replace(".0,", ",")[:-1]
    return written.encode().split(b", ") if items else []


def json_texts(values: Any) -> list[bytes]:
    """The same as JSON: NaN and infinities are strings, None is null."""
    items = values.tolist()
    if values.dtype.kind != "f":
        return [as_json.dump(item).encode() for item in items]
    written = repr(items)[1:-1].encode()
    found = written.split(b", ") if items else []
    return [NOT_FINITE.get(text, text) for text in found] if b"n" in written else found


def joined(rows: Iterable[Iterable[str]], echo: str) -> list[bytes]:
    """Each row of cells in a text format."""
    between = BETWEEN[echo]
    return [between.join(written(row, echo)) for row in rows]


def written(cells: Iterable[str], echo: str) -> list[bytes]:
    """Each cell in a text format."""
    write = WRITERS[echo]
    return [write(cell).encode("utf-8", "backslashreplace") for cell in cells]


def unquoted(body: bytes, separator: bytes, echo: str) -> list[bytes] | None:
    """Lines of plain cells in another format, all in one go; None if a cell is not that plain."""
    if body.translate(None, PLAIN + separator + b"\n"):
        return None
    return body.replace(separator, BETWEEN[echo]).split(b"\n")


def quoted(cell: str, separator: str) -> str:
    """In quotes where a reader of CSV would need them."""
    if separator in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell


WRITERS = {
    "csv": lambda cell: quoted(cell, ","), "tsv": lambda cell: quoted(cell, "\t"),
    "plain": visible, "markdown": markdown.prose}
