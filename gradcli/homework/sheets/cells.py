"""CSV as it stands in the file: each cell with its text, its quotes and its span.

It reads what Python's `csv` reads, but nothing is lost: a file that some other program wants back
unchanged can be written with one cell replaced, and a message can point at a wrong cell.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import lru_cache

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.render import numbers
from gradcli.render.delimited import FORMULA
from gradcli.render.delimited import cell as formula_safe
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

DELIMITERS = ",;\t"


class SourceCell:
    """A cell. raw: as it stands in the file, from the offset `start`; text: its value."""

    __slots__ = ("raw", "start", "text")

    def __init__(self, raw: str, text: str, start: int) -> None:
        self.raw = raw
        self.text = text
        self.start = start

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.start + max(1, len(self.raw))


class SourceRow:
    """The cells of a row, and the line end behind it ("" at the end of the text)."""

    __slots__ = ("cells", "end", "start")

    def __init__(self, cells: list[SourceCell], end: str, start: int) -> None:
        self.cells = cells
        self.end = end
        self.start = start

    @property
    def span(self) -> tuple[int, int]:
        """Return the span of the row in the text."""
        return self.start, self.cells[-1].span[1]

    @property
    def empty(self) -> bool:
        """Return whether all cells of the row are blank."""
        return not any(cell.text.strip() for cell in self.cells)


def delimiter(text: str) -> str:
    """Return the separator of cells: the one of comma, semicolon and tab that the first row has
    most of, the first of them where there are equally many.
    """
    head = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    return max(DELIMITERS, key=head.count)


def records(source: Source, separator: str, code: str) -> Iterator[SourceRow]:
    """Yield the rows of a text, empty ones too.

    A quote that is never closed is an error of the given `code`.
    """
    text = source.text
    sign = re.escape(separator)
    pattern = re.compile(
        rf'(?:"([^"]*+(?:""[^"]*+)*+)"([^{sign}\r\n]*)|([^{sign}\r\n]*))({sign}|\r\n|\n|\r|\Z)')
    at = start = 0
    cells: list[SourceCell] = []
    while at < len(text) or cells:
        found = pattern.match(text, at)
        assert found is not None
        quoted, behind, bare, end = found.groups()
        if bare is not None and bare.startswith('"'):
            raise failure(code, "a quote opens here and is never closed", source, (at, at + 1),
                          'close it, or write a quote as ""')
        value = bare if bare is not None else quoted.replace('""', '"') + behind
        cells.append(SourceCell(found[0][:len(found[0]) - len(end)], value, at))
        at = found.end()
        if end != separator:
            yield SourceRow(cells, end, start)
            cells, start = [], at


def fitted(record: SourceRow, width: int, source: Source, last: int | None, code: str) -> list[str]:
    """Return the texts of a row in a table of `width` columns, the missing ones empty.

    last: the column that an answer with commas and without quotes is put together in, if it is the
    rightmost one; else a row that is too long is an error of the given code.
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
    """Return an error about a span of the file."""
    return GradcliError(Diagnostic(code, message, span=span, source=source, help=help, label=label))


# --------------------------------------------------------------------------------------------------
# Which column of a table is meant: titles that schools and forms write, compared loosely.

STUDENT = {"student": ("student id", "id", "sis user id", "sis id", "sid", "id number",
                       "student number", "student no", "matrikelnummer", "username", "user name",
                       "login", "login id", "sis login id", "netid", "email", "email address",
                       "e mail", "e mail address", "e mail adresse", "mail", "name", "full name",
                       "your name", "student name")}
"""What a table of a class calls the column that says whose a row is."""


def folded(title: str) -> str:
    """Return a title for comparison: small letters and digits, single spaces."""
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))


def columns(titles: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return for each name the number of the column with this title, or with one of its synonyms;
    the earlier synonym wins, then the earlier column.
    """
    folds = [folded(title) for title in titles]
    found = {}
    for name, others in synonyms.items():
        for word in (name.replace("_", " "), *others):
            if word in folds:
                found[name] = folds.index(word)
                break
    return found


def every_column(titles: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> list[int]:
    """Return the numbers of all columns with one of the titles, the earlier synonym first."""
    folds = [folded(title) for title in titles]
    words = [word for name, others in synonyms.items() for word in (name, *others)]
    return [k for word in words for k, title in enumerate(folds) if title == word]


# --------------------------------------------------------------------------------------------------
# Text of others made harmless for the place where it goes: a spreadsheet, Markdown, a file name.
#
# Unprintable characters are visible escapes everywhere (`render.numbers`).

DIGITS = 4          # of the values that a student sees
SLUG = 40           # characters of an id in a file name
DIGEST = 12         # hexadecimal digits behind it: 100,000 students collide once in 50,000 classes
# Names that end as if they had a digest, and those of devices in Windows.
SPECIAL = re.compile(rf"-[0-9a-f]{{{DIGEST}}}$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")
# What begins markup or an entity, or makes a link, in CommonMark and GitHub's and TeX's additions.
MARKUP = {ord(character): "\\" + character for character in "\\`*_{}[]<>|&~$@#^"}


def cell(text: str | None, raw: bool = False) -> str:
    """Return a text cell of a CSV file, with an apostrophe before a formula unless raw."""
    text = text or ""
    return visible(text) if raw else formula_safe(text)


def uncell(text: str) -> str:
    """Return a cell without the apostrophe that `cell` puts in front."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def number(value: float | None) -> str:
    """Return a number cell; empty for None."""
    return "" if value is None else numbers.exact(value)


def file_stems(ids: Iterable[str]) -> dict[str, str]:
    """Return file names for ids: letters, digits, `.`, `_` and `-` only, no dot in front.

    An id that is a valid name is its own. All others have a digest behind them, and so have those
    that some file systems take for the same (s1 and S1), or for a device: no two ids share a file.
    """
    found = {id: _slug(id) for id in ids}
    same = Counter([stem.lower() for id, stem in found.items() if stem == id])
    for id, stem in found.items():
        if stem != id or same[stem.lower()] > 1 or SPECIAL.search(stem.lower()):
            found[id] = f"{stem}-{_digest(id)}"
    return found


def _slug(id: str) -> str:
    slug = "".join([c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in id])
    return slug.strip("._-")[:SLUG] or "student"


def _digest(id: str) -> str:
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]


def code(text: str) -> str:
    """Return a code span; its fence is longer than any run of backquotes in the text."""
    shown = visible(text)
    if not shown.strip():
        return f"`{shown}`" if shown else ""
    fence = "`"
    while fence in shown:
        fence += "`"
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}"


def prose(text: str) -> str:
    """Return a sentence for Markdown; text in backquotes is code, all else is no markup."""
    pieces = visible(text).split("`")
    if len(pieces) % 2 == 0:
        return plain("`".join(pieces))
    return "".join([code(piece) if at % 2 else plain(piece) for at, piece in enumerate(pieces)])


def plain(text: str) -> str:
    """Return text that Markdown shows unchanged. Not for the beginning of a line."""
    shown = visible(text).translate(MARKUP)
    # GitHub makes links of bare addresses.
    return shown.replace("://", "\\://").replace("www.", "www\\.").replace("WWW.", "WWW\\.")


def rounded(value: Any, digits: int = DIGITS) -> str:
    """Return a number or nested lists of numbers for a student."""
    if isinstance(value, list | tuple):
        return f"[{', '.join([rounded(one, digits) for one in value])}]"
    if isinstance(value, str):      # NaN and infinities, from JSON
        return visible({"NaN": "undefined", "Infinity": "infinite",
                        "-Infinity": "minus infinite"}.get(value, value))
    if value is None or value != value:
        return "undefined"
    # What is told of a class is told again and again; 0.0 and -0.0 are the same key.
    return _significant(float(value), digits) if value else numbers.significant(value, digits)


_significant = lru_cache(4096)(numbers.significant)


def point(at: dict[str, Any]) -> str:
    """Return a point as a text, `x = 1.5, y = 2`."""
    return ", ".join([f"{visible(name)} = {rounded(value)}" for name, value in at.items()])
