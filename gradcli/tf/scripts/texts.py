"""The text of a script as its changes need it: its tree, the places of nodes, and edits."""

from __future__ import annotations

import ast
from linecache import getlines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 60    # characters of code in a sentence


class Change:
    """A change of a text: (start, end, new text) of its places, and what it is in words. path: of
    the file.
    """

    __slots__ = ("edits", "path", "words")

    def __init__(self, words: str, *edits: tuple[int, int, str]) -> None:
        self.words = words
        self.edits = edits
        self.path = ""

    def __add__(self, other: Change) -> Change:
        words = self.words if other.words in ("", self.words) else f"{self.words}; {other.words}"
        made = Change(words, *dict.fromkeys((*self.edits, *other.edits)))
        made.path = self.path
        return made

    def of(self, text: str) -> str | None:
        """Return the text with this change; None where its places overlap."""
        last = len(text) + 1
        for start, end, new in sorted(self.edits, reverse=True):
            if end > last:
                return None
            text, last = text[:start] + new + text[end:], start
        return text


class Scripts:
    """The files that a script is made of, by their paths. text: of the script, the others as they
    were when they ran.
    """

    def __init__(self, path: str, text: str) -> None:
        self._texts = {path: text}
        self._known: dict[str, Script | None] = {}

    def at(self, path: str | None) -> Script | None:
        """Return a file; None if it has no text in Python."""
        if path is None:
            return None
        if path not in self._known:
            text = self._texts.get(path) or "".join(getlines(path))
            try:
                self._known[path] = Script(path, text) if text else None
            except (SyntaxError, ValueError):
                self._known[path] = None
        return self._known[path]


class Script:
    """The text of a file, its tree, and the name that TensorFlow has in it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.above = {child: node for node in ast.walk(self.tree)
                      for child in ast.iter_child_nodes(node)}
        self.tf = self._module("tensorflow", "tf")
        self.np = {self._module("numpy", "np"), self._module("math", "math")}

    def _module(self, name: str, usual: str) -> str:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    if one.name == name:
                        return one.asname or name
        return usual

    def at(self, line: int, column: int) -> int:
        """Return the offset of a line and a column in bytes, as nodes have them."""
        start = self._starts[line - 1]
        whole = self.text[start:self._starts[line] - 1]
        return start + len(whole.encode()[:column].decode())

    def span(self, node: Any) -> tuple[int, int]:
        """Return the offsets of a node."""
        return (self.at(node.lineno, node.col_offset),
                self.at(node.end_lineno, node.end_col_offset))

    def code(self, node: Any) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def node(self, reason: Any) -> Any:
        """Return the expression or statement that a cause points to; None if it is elsewhere."""
        if reason is None or reason.line is None or reason.file != self.path:
            return None
        start = self._starts[reason.line - 1] + reason.column - 1
        end = self._starts[reason.end_line - 1] + reason.end_column - 1
        found = None
        for node in ast.walk(self.tree):
            if hasattr(node, "lineno") and self.span(node) == (start, end):
                found = node
        return found or self.statement(reason.line)

    def statement(self, line: int) -> Any:
        """Return the innermost statement that begins on a line."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno == line:
                found = node
        return found

    def statement_of(self, node: Any) -> Any:
        """Return the statement around a node."""
        while not isinstance(node, ast.stmt):
            node = self.above[node]
        return node

    def function(self, node: Any) -> Any:
        """Return the function around a node, or the file."""
        while node in self.above:
            node = self.above[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                break
        return node

    def replaced(self, node: Any, new: str) -> Change:
        """Return the change of an expression."""
        old = " ".join(self.code(node).split())
        made = " ".join(new.split())
        words = f"write `{made}` for `{old}`"
        return Change(words if len(words) < 2 * LONGEST else f"write `{made}`",
                      (*self.span(node), new))

    def whole_lines(self, node: Any) -> tuple[int, int]:
        """Return the offsets of the lines of a statement."""
        return self._starts[node.lineno - 1], self._starts[node.end_lineno]
