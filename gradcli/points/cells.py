"""Cells as text: numbers as all machine formats write them, and rows of cells put together."""

from __future__ import annotations

from gradcli.ops.lazy import np
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
    """Each number of a 1-d array as `numbers.exact` writes it."""
    if values.dtype.kind == "f":
        return _by_repr(values.astype(float, copy=False), False)
    return [numbers.exact(item).encode() for item in values.tolist()]


def json_texts(values: Any) -> list[bytes]:
    """The same as JSON: NaN and infinities are strings, None is null."""
    if values.dtype.kind != "f":
        return [as_json.dump(item).encode() for item in values.tolist()]
    found = _by_repr(values.astype(float, copy=False), True)
    for k in np.flatnonzero(~np.isfinite(values)).tolist():
        found[k] = NOT_FINITE[found[k]]
    return found


def _by_repr(values: Any, point: bool) -> list[bytes]:
    """`repr` of each float64 of a 1-d array; point: with `.0` behind a whole number. All in one
    go, 0.45 us a number, and whole numbers made short in another.
    """
    if not len(values):
        return []
    text = repr(values.tolist())[1:-1] + ","
    return (text if point else text.replace(".0,", ","))[:-1].encode().split(b", ")


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
