"""Sheets without tables: CSV whose columns are fields, and lists of `id: function`."""

from __future__ import annotations

import re

from gradcli.checking.problem import DEFAULTS
from gradcli.homework.columns import folded
from gradcli.homework.separated import delimiter, records
from gradcli.homework.sheet import Found, Sheet, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.separated import Cell
    from gradcli.source import Source

FLAGS = ("hidden", "real_roots", "decimal_comma", "normalize")
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
NUMBERS = ("points", "rtol")
# Fields with several texts, which semicolons part.
SEVERAL = ("accept", "variants")
_ENTRY = re.compile(r"\s*([^\s:]{1,32})\s*:(.*)")


def csv_sheet(source: Source) -> Sheet:
    """A row per problem: `id,function,wrt,points`, and any other field of a problem."""
    found = Found(source)
    table = [record.cells for record in records(source, delimiter(source.text), "E0709")
             if not record.empty]
    if not table:
        return found.sheet(stem(source.name))
    header = [folded(cell.text).replace(" ", "_") for cell in table[0]]
    for name, cell in zip(header, table[0], strict=True):
        if name not in DEFAULTS:
            found.unknown("field", cell.text, cell.span, DEFAULTS)
        elif header.count(name) > 1:
            found.tell("E0706", f"there are two columns `{name}`", cell.span, "leave one out")
    for needed in ("id", "function"):
        if needed not in header and not found.wrong:
            found.tell("E0702", f"the column `{needed}` is missing",
                       (table[0][0].start, table[0][-1].span[1]),
                       "begin with the row id,function,wrt,points")
    if not found.wrong:
        for row in table[1:]:
            _row(found, header, row)
    return found.sheet(stem(source.name))


def _row(found: Found, header: list[str], row: list[Cell]) -> None:
    whole = row[0].start, row[-1].start + len(row[-1].raw)
    if len(row) > len(header):
        found.tell("E0709", f"this row has {len(row)} cells, and the first row {len(header)}",
                   (row[len(header)].start, whole[1]), 'put texts with commas in quotes: "[x, y]"')
        return
    fields: dict[str, Any] = {}
    spans = {}
    for name, cell in zip(header, row, strict=False):
        text = cell.text.strip()
        if text:
            fields[name] = _plain(name, text)
            spans[name] = cell.span
    found.add(fields, {}, whole, spans, spans)


def _plain(name: str, text: str) -> Any:
    """What a cell says of a field; `from_fields` refuses what is left as a text."""
    if name in FLAGS:
        return TRUTHS.get(text.lower(), text)
    if name == "order" and text.isdecimal() and len(text) < 4:
        return int(text)
    if name in SEVERAL:
        return [part.strip() for part in text.split(";") if part.strip()]
    if name in NUMBERS:
        try:
            return float(text)
        except ValueError:
            return text
    if name == "credit":
        return dict(part.partition("=")[::2] for part in text.replace(" ", "").split(","))
    return text


def list_sheet(source: Source) -> Sheet:
    """A line per problem: `1a: x^2 sin(x)`. Empty lines and those that begin with # say nothing."""
    found = Found(source)
    at = 0
    for line in source.text.split("\n"):
        entry = _ENTRY.fullmatch(line.rstrip("\r"))
        bare = line.strip()
        if not bare or bare.startswith("#"):
            pass
        elif entry is None:
            start = at + line.index(bare)
            found.tell("E0709", "a problem is missing its id" if ":" not in line else
                       "this is no problem", (start, start + len(bare)),
                       "write id: function, such as 1a: x^2 sin(x)")
        else:
            spans = {"id": (at + entry.start(1), at + entry.end(1))}
            function = entry[2].strip()
            if function:
                start = at + entry.start(2) + entry[2].index(function)
                spans["function"] = start, start + len(function)
            found.add({"id": entry[1], **({"function": function} if function else {})}, {},
                      (at, at + len(line)), spans, spans)
        at += len(line) + 1
    return found.sheet(stem(source.name))
