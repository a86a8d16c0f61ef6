"""Where the keys and values of a TOML text stand: `tomllib` reads them, but does not say.

The text is one that `tomllib` has read, so what is wrong with TOML need not be looked for here.
"""

from __future__ import annotations

import re
import tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span

    # Keys and indices from the top: ("problem", 0, "wrt").
    KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}' r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\]|\\.)*+"' r"|'[^']*+'", re.DOTALL)
_SCALAR = re.compile(r"[^,\]}\n#]*+")


def spans(text: str) -> dict[KeyPath, tuple[Span, Span]]:
    """Return for each table, key and element of a TOML text the spans of its name (a table's: its
    header; an element's: the element) and of its value. Keys that a dot makes have those of the
    whole.
    """
    found = _TomlSpans(text)
    found.document()
    return found.spans


class _TomlSpans:
    __slots__ = ("at", "counts", "spans", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counts: dict[KeyPath, int] = {}
        self.spans: dict[KeyPath, tuple[Span, Span]] = {}

    def document(self) -> None:
        table: KeyPath = ()
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

    def header(self) -> KeyPath:
        start = self.at
        double = self.text.startswith("[[", start)
        self.at += 1 + double
        names = self.names()
        self.at += 1 + double
        path: KeyPath = ()
        for k, (name, _) in enumerate(names):
            path = (*path, name)
            if double and k == len(names) - 1:
                self.counts[path] = self.counts.get(path, 0) + 1
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        whole = (start, self.at)
        self.spans[path] = (whole, whole)
        return path

    def pair(self, table: KeyPath) -> None:
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
            self.spans.setdefault(path, (key, value))

    def names(self) -> list[tuple[str, Span]]:
        """Return the parts of a dotted key, each with its span; stop at the sign that ends it."""
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

    def value(self, path: KeyPath) -> Span:
        start = self.at
        first = self.text[start]
        if first in "\"'":
            self.skip(_STRING)
        elif first in "[{":
            self.members(path, first == "[")
        else:
            self.at = start + len(self.skip(_SCALAR).rstrip())
        return start, self.at

    def members(self, path: KeyPath, is_array: bool) -> None:
        """Parse the members of an array or an inline table, from bracket to bracket."""
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
                self.spans[element] = (span, span)
            else:
                self.pair(path)
