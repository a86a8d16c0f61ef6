"""How a table is shown: digits, width, what the encoding can express; and tables from columns.

Everything that comes from a file or a user goes through `View.text` or `View.cell`, which show
unprintable characters as escapes and are never read as markup. rich is imported inside functions.
"""

from __future__ import annotations

from gradcli.render import layout
from gradcli.render.numbers import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from rich.table import Table
    from rich.text import Text

    Lines = list[str]
    Column = tuple[Lines, list[tuple[Lines, str]]]      # head, cells with their style

UNLIMITED = 10 ** 6     # rich crops what is wider than its console
NAME = 24               # a name is folded beyond this
NUMBER = 26             # no number takes more columns
HANGING = 8             # what stands beside a paragraph takes no more
RULE, PARTIAL = "\u2500", "\u2202\u00b2"


class View:
    """How to show: the answer's file, digits, the width and what the encoding can express. texts:
    number of a line of the file to what stands there.
    """

    __slots__ = ("digits", "encoding", "fancy", "file", "mode", "summarised", "texts", "whole",
                 "width")

    def __init__(self, answer: dict[str, Any], digits: int, width: int, encoding: str,
                 whole: bool) -> None:
        self.file = answer.get("file")
        self.mode = answer.get("mode")
        self.texts: dict[int, str] = answer.get("lines") or {}
        self.digits = digits
        self.width = width
        self.whole = whole
        self.encoding = encoding
        self.fancy = encodable(RULE + PARTIAL, encoding) == RULE + PARTIAL
        self.summarised = False

    def safe(self, text: str) -> str:
        return encodable(text, self.encoding)

    def text(self, text: str, style: str = "") -> Text:
        """A paragraph, to be wrapped; a word longer than a line is broken, but no number."""
        from rich.text import Text

        limit = max(NUMBER, self.width - HANGING)
        words = ["\n".join(self.name(word, limit)) for word in text.split(" ")]
        return Text(" ".join(words), style=style, overflow="fold")

    def cell(self, lines: Sequence[str], style: str = "") -> Text:
        """Finished lines, not to be wrapped again."""
        from rich.text import Text

        return Text("\n".join(map(self.safe, lines)), style=style, no_wrap=True)

    def lines(self, value: Any, width: int) -> Lines:
        """A value as lines; remembers whether something was summarised."""
        self.summarised |= self.large(value)
        return list(map(self.safe, layout.lines(value, self.digits, width, self.whole)))

    def large(self, value: Any, limit: int = layout.SUMMARISED) -> bool:
        """Whether an array is to be summarised."""
        return not self.whole and layout.count(value) > limit

    def name(self, name: str, width: int = NAME) -> Lines:
        """A name, folded if it is long."""
        from rich.cells import chop_cells

        return chop_cells(self.safe(name), width) or [""]

    def table(self, columns: Iterable[Column]) -> Table:
        """A table with a rule below its head; no column is narrower than its longest line."""
        from rich.box import Box
        from rich.table import Table

        ruled = " -- " if not self.fancy else f" {RULE}{RULE} "
        box = Box("\n".join(["    ", "    ", ruled, *["    "] * 5]) + "\n", ascii=not self.fancy)
        table = Table(box=box, show_edge=False, pad_edge=False, padding=(0, 1))
        columns = list(columns)
        for head, cells in columns:
            # rich would strip what aligns decimal points if it were told to justify.
            width = max([widest(head), *[widest(lines) for lines, _ in cells]])
            table.add_column(self.cell(head), no_wrap=True, min_width=width)
        for row in zip(*[cells for _, cells in columns], strict=True):
            table.add_row(*[self.cell(lines, style) for lines, style in row])
        return table


def widest(lines: Lines) -> int:
    """How many columns of the terminal the longest line takes."""
    from rich.cells import cell_len

    return max(map(cell_len, lines), default=0)
