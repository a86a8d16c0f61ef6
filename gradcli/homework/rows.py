"""Rows of CSV as schools write it: commas, semicolons or tabs, and where each cell stands."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SEPARATORS = ",;\t"
_QUOTED = re.compile(r'"[^"]*+(?:"|\Z)')


class Cell:
    """What a cell says, and its place in the text. closed: whether its quote ends."""

    __slots__ = ("closed", "end", "start", "text")

    def __init__(self, text: str, start: int, end: int, closed: bool = True) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.closed = closed


def separator(text: str) -> str:
    """The separator of a text, by its first line that is not empty; spreadsheets may tell it
    (`sep=;`).
    """
    for line in text.splitlines():
        if line.strip():
            told = re.fullmatch(r"sep=(.)\s*", line)
            if told:
                return told[1]
            bare = _QUOTED.sub("", line)
            return max(SEPARATORS, key=bare.count)
    return ","


def rows(text: str, separator: str, start: int = 0) -> Iterator[list[Cell]]:
    """The rows that are not empty, from an offset on; all cells without the spaces around."""
    other = re.escape(separator)
    pattern = re.compile(
        rf' *+"([^"]*+(?:""[^"]*+)*+)(?:"([^{other}\n]*+)|(\Z))|([^{other}\n]*+)')
    told = re.match(r"\s*sep=.[ \r]*(?:\n|\Z)", text) if start == 0 else None
    at = told.end() if told else start
    row: list[Cell] = []
    while at <= len(text):
        found = pattern.match(text, at)
        assert found is not None
        quoted, behind, unclosed, plain = found.groups()
        said = plain if quoted is None else quoted.replace('""', '"') + (behind or "")
        row.append(Cell(said.strip(), at, found.end(), unclosed is None))
        at = found.end() + 1
        if at > len(text) or text[at - 1] == "\n":
            if any(cell.text for cell in row):
                yield row
            row = []


def folded(header: str) -> str:
    """A column's title for comparison: small letters and digits, single spaces."""
    return " ".join(re.findall(r"\w+", header.casefold().replace("_", " ")))


def columns(header: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Number of the column for each name that one of the titles means; the first that does."""
    titles = [folded(title) for title in header]
    found = {}
    for name, others in synonyms.items():
        for word in (name.replace("_", " "), *others):
            if word in titles:
                found[name] = titles.index(word)
                break
    return found
