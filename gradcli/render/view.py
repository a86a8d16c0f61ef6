"""The abilities of one terminal: numbers, texts and names as lines, and tables of them.

What comes from a file or a user goes through `View.text` or `View.cell`, which show unprintable
characters as escapes and are never read as markup. rich is imported inside functions.
"""

from __future__ import annotations

from gradcli.render import layout
from gradcli.render.numbers import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Lines = list[str]
    Cell = tuple[Lines, str]                # with their style
    Column = tuple[Lines, list[Cell]]       # head, cells

NAME = 24               # a name is folded beyond this
NUMBER = 26             # no number takes more columns
HANGING = 8             # what stands beside a paragraph takes no more
GAP = 3                 # columns between columns
RULE, PARTIAL = "\u2500", "\u2202\u00b2"


class View:
    """The settings of a terminal: digits, its width and its encoding. whole: show arrays in full.
    """

    __slots__ = ("digits", "encoding", "fancy", "summarised", "whole", "width")

    def __init__(self, digits: int, width: int, encoding: str, whole: bool) -> None:
        self.digits = digits
        self.width = width
        self.whole = whole
        self.encoding = encoding
        self.fancy = encodable(RULE + PARTIAL, encoding) == RULE + PARTIAL
        self.summarised = False

    def safe(self, text: str) -> str:
        return encodable(text, self.encoding)

    def text(self, text: str, style: str = "") -> Any:
        """Return a paragraph, to be wrapped; a word longer than a line is broken, but no number."""
        from rich.text import Text

        limit = max(NUMBER, self.width - HANGING)
        words = ["\n".join(self.name(word, limit)) for word in text.split(" ")]
        return Text(" ".join(words), style=style, overflow="fold")

    def cell(self, lines: Sequence[str], style: str = "") -> Any:
        """Return finished lines, not to be wrapped again."""
        from rich.text import Text

        return Text("\n".join(map(self.safe, lines)), style=style, no_wrap=True)

    def lines(self, value: Any, width: int) -> Lines:
        """Return a value as lines, and remember whether something was summarised."""
        self.summarised |= self.large(value)
        return list(map(self.safe, layout.lines(value, self.digits, width, self.whole)))

    def brief(self, value: Any, limit: int = layout.SUMMARISED) -> str:
        """Return a scalar or a small array on one line, the shape of a larger one."""
        if self.large(value, limit):
            return f"({layout.summary(value, self.digits)[0]})"
        return layout.inline(value, self.digits)

    def large(self, value: Any, limit: int = layout.SUMMARISED) -> bool:
        """Return whether an array is to be summarised."""
        return not self.whole and layout.count(value) > limit

    def name(self, name: str, width: int = NAME) -> Lines:
        """Return the lines of a name, folded if it is long."""
        from rich.cells import chop_cells

        return chop_cells(self.safe(name), width) or [""]

    def table(self, columns: Iterable[Column], style: str = "bold") -> Any:
        """Return columns below their heads, which end in the same line: finished, for a table of
        rich takes 3 ms for each row. style: of the heads.
        """
        from rich.text import Text

        columns = list(columns)
        high = max([len(head) for head, _ in columns])
        rows = [[(list(map(self.safe, lines)), style) for lines, style in row] for row in zip(
            *[[([""] * (high - len(head)) + head, style), *cells] for head, cells in columns],
            strict=True)]
        widths = [max([widest(lines) for lines, _ in cells]) for cells in zip(*rows, strict=True)]
        text = Text(no_wrap=True)
        for at, row in enumerate(rows):
            for k in range(max([len(lines) for lines, _ in row])):
                text.append("\n" if text else "")
                for (lines, style), width in zip(row, widths, strict=True):
                    line = lines[k] if k < len(lines) else ""
                    text.append(line + " " * (width - widest([line])), style if line else "")
                    text.append(" " * GAP)
            if at == 0:
                text.append("\n" + (RULE if self.fancy else "-") * (sum(widths) + GAP * (
                    len(widths) - 1)))
        return text


def widest(lines: Iterable[str]) -> int:
    """Return the number of terminal columns that the longest line takes."""
    from rich.cells import cell_len

    return max(map(cell_len, lines), default=0)
