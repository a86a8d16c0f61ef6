"""The abilities of one terminal: numbers, texts and names as lines, and tables of them.

What comes from a file or a user goes through `View.text` or `View.cell`, which show unprintable
characters as escapes and are never read as markup. rich is imported inside functions.
"""

from __future__ import annotations

from gradcli.render import numbers
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
SUMMARISED = 60         # an array of more elements is summarised
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
        return list(map(self.safe, array_lines(value, self.digits, width, self.whole)))

    def brief(self, value: Any, limit: int = SUMMARISED) -> str:
        """Return a scalar or a small array on one line, the shape of a larger one."""
        if self.large(value, limit):
            return f"({dimensions(numbers.shape(value))})"
        return numbers.significant(value, self.digits)

    def large(self, value: Any, limit: int = SUMMARISED) -> bool:
        """Return whether an array is to be summarised."""
        return not self.whole and count(value) > limit

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


# --------------------------------------------------------------------------------------------------
# Numbers and arrays as lines of text for people, which needs no terminal.
#
# Vectors are `[1, 2, 3]` folded between elements, matrices grids with aligned columns, and arrays
# of more than SUMMARISED elements a summary. A number is never cut: a line is rather too wide.

def count(value: Any) -> int:
    """Return the number of elements of nested lists; 1 for a scalar or None."""
    product = 1
    for axis in numbers.shape(value):
        product *= axis
    return product


def array_lines(value: Any, digits: int, width: int, whole: bool = False) -> list[str]:
    """Return the lines of a scalar, an array in full, or the summary of a large one unless `whole`.

    The lines are at most `width` wide, as far as single numbers allow. What is nested
    irregularly is written as it is.
    """
    if not isinstance(value, list | dict):
        return [numbers.significant(value, digits)]
    if not numbers.regular(value):
        return [numbers.significant(value, digits)]
    if count(value) > SUMMARISED and not whole:
        return summary(value, digits)
    return _bracketed(_texts(value, digits), width)


def dimensions(shape: Sequence[int]) -> str:
    """Return `vector of 3` or `2 x 3 array`; "" of a scalar."""
    return f"{' x '.join(map(str, shape))} array" if len(shape) > 1 else (
        f"vector of {shape[0]}" if shape else "")


def brief(value: Any, digits: int | None, most: int = SUMMARISED) -> str:
    """Return a scalar or an array of at most so many elements in full, on one line whatever its
    width; the dimensions of a larger one. digits: None for all.
    """
    if count(value) > most:
        return dimensions(numbers.shape(value))
    return numbers.significant(value, digits)


def summary(value: Any, digits: int) -> list[str]:
    """Return the shape, and of numbers the least, the largest and the Euclidean norm, one per line.
    """
    from math import hypot

    found = [dimensions(numbers.shape(value))]
    items = [item for _, item in numbers.elements(value)]
    if not items or not all(isinstance(item, int | float) for item in items):
        return found
    known = [item for item in items if item == item]
    if known:
        found += [f"{word} {numbers.significant(number, digits)}" for word, number in (
            ("min", min(known)), ("max", max(known)), ("norm", hypot(*known)))]
    if len(known) < len(items):
        found.append(f"{len(items) - len(known)} nan")
    return found


def _texts(value: Any, digits: int) -> Any:
    """Return the numbers as texts, nested alike; the columns of matrices are aligned."""
    if len(numbers.shape(value)) < 2:
        return [numbers.significant(item, digits) for item in value]
    columns: dict[int | str, list[str]] = {}
    for index, item in numbers.elements(value):
        columns.setdefault(index[-1], []).append(numbers.significant(item, digits))
    ready = [iter(numbers.aligned(columns[at])) for at in range(len(columns))]

    def nest(part: Any) -> Any:
        if part and isinstance(part[0], list):
            return [nest(inner) for inner in part]
        return [next(ready[at]) for at in range(len(part))]

    return nest(value)


def _bracketed(texts: Any, width: int) -> list[str]:
    if not texts or not isinstance(texts[0], list):
        return fold_list(texts, width)
    found: list[str] = []
    for at, part in enumerate(texts):
        inner = _bracketed(part, width - 2)
        inner[-1] += "," if at < len(texts) - 1 else "]"
        found += [("[" if not found and row == 0 else " ") + line for row, line in enumerate(inner)]
    return found


def fold_list(texts: Sequence[str], width: int) -> list[str]:
    """Return the lines of `[a, b, c]`, broken after commas where one would be longer than `width`.
    """
    # A line may have a million elements: its pieces are put together at the end.
    found: list[list[str]] = [[]]
    used = 1
    for at, text in enumerate(texts):
        # The padding of an aligned column goes behind the comma.
        last = at == len(texts) - 1
        piece = f"{text.rstrip()}]" if last else f"{text.rstrip()},".ljust(len(text) + 1)
        if found[-1] and used + len(piece) > width:
            found.append([])
            used = 1
        found[-1].append(piece)
        used += len(piece) + 1
    if not texts:
        return ["[]"]
    return [("[" if at == 0 else " ") + " ".join(pieces) for at, pieces in enumerate(found)]
