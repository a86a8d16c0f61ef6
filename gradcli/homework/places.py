"""Where the keys and values of a TOML text stand: `tomllib` reads them, but does not say.

The text is one that `tomllib` has read, so what is wrong with TOML need not be looked for here.
"""

from __future__ import annotations

import re
import tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span

    # Keys and indices from the top: ("problem", 0, "wrt").
    Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}' r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\]|\\.)*+"' r"|'[^']*+'", re.DOTALL)
_SCALAR = re.compile(r"[^,\]}\n#]*+")


def places(text: str) -> dict[Path, tuple[Span, Span]]:
    """For each table, key and element the places of its name (a table's: its header; an element's:
    the element) and of its value. Keys that a dot makes have those of the whole.
    """
    found = _Found(text)
    found.document()
    return found.places


class _Found:
    __slots__ = ("at", "counts", "places", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counts: dict[Path, int] = {}
        self.places: dict[Path, tuple[Span, Span]] = {}

    def document(self) -> None:
        table: Path = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)

    def skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found[0]

    def header(self) -> Path:
        start = self.at
        double = self.text.startswith("[[", start)
        self.at += 1 + double
        names = self.names()
        self.at += 1 + double
        path: Path = ()
        for k, (name, _) in enumerate(names):
            path = (*path, name)
            if double and k == len(names) - 1:
                self.counts[path] = self.counts.get(path, 0) + 1
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        whole = (start, self.at)
        self.places[path] = (whole, whole)
        return path

    def pair(self, table: Path) -> None:
        names = self.names()
        self.at += 1        # the equals sign
        self.skip(_SPACE)
        path = table
        made = []
        for name, key in names:
            path = (*path, name)
            made.append((path, key))
        value = self.value(path)
        for path, key in made:
            self.places.setdefault(path, (key, value))

    def names(self) -> list[tuple[str, Span]]:
        """A key with its dots, and what stands behind it up to the sign that ends it."""
        names = []
        while True:
            self.skip(_SPACE)
            start = self.at
            if self.text[start] in "\"'":
                raw = self.skip(_STRING)
                name = tomllib.loads(f"name = {raw}")["name"]
            else:
                name = self.skip(_BARE)
            names.append((name, (start, self.at)))
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return names
            self.at += 1

    def value(self, path: Path) -> Span:
        start = self.at
        first = self.text[start]
        if first in "\"'":
            self.skip(_STRING)
        elif first in "[{":
            self.members(path, first == "[")
        else:
            self.at = start + len(self.skip(_SCALAR).rstrip())
        return start, self.at

    def members(self, path: Path, is_array: bool) -> None:
        """Of an array or an inline table, from bracket to bracket."""
        self.at += 1
        count = 0
        while True:
            self.skip(_BLANK)
            sign = self.text[self.at]
            if sign in "]}":
                self.at += 1
                return
            if sign == ",":
                self.at += 1
            elif is_array:
                element = (*path, count)
                count += 1
                span = self.value(element)
                self.places[element] = (span, span)
            else:
                self.pair(path)
