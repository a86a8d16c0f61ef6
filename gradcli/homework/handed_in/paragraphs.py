"""Paragraphs while a document is read: raised letters, and the numbers of lists."""

from __future__ import annotations

import re
from itertools import groupby

from gradcli.homework.handed_in.equations import letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def raised(text: str, how: str) -> str:
    """Return raised or lowered text as a power or an index. how: "^" or "_"."""
    return f"{how}({text.strip()})" if text.strip() else text


class Pieces:
    """The text of a paragraph while it is read: raised letters that stand together are one power.
    """

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []     # how, text

    def add(self, text: str, how: str = "") -> None:
        """Add a text. how: "^" for raised letters, "_" for lowered ones, "^^" for what is raised
        twice, "" for others.
        """
        if text:
            self._texts.append((how, letters(text)))

    def lines(self, label: str = "") -> list[str]:
        """Return the lines, the first behind a label."""
        text = _joined(self._texts)
        return [line.strip().replace("\v", "\n  ") for line in f"{label} {text}".split("\n")]


def _joined(texts: Iterable[tuple[str, str]]) -> str:
    """Return texts, (how, text) each, as one."""
    found = []
    for how, same in groupby(texts, key=lambda one: one[0][:1]):
        inner = list(same)
        found.append(raised(_joined([(deep[1:], text) for deep, text in inner]), how) if how else
                     "".join([text for _, text in inner]))
    return "".join(found)


def within(text: str) -> str:
    """Return an equation of several lines so that none of them begins an answer."""
    return text.replace("\n", "\v")


# --------------------------------------------------------------------------------------------------
# Numbers of lists, which stand in no text.

ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
         (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def numeral(number: int, kind: str) -> str:
    """Return a number as a list shows it. kind: "1", "a", "A", "i" or "I"."""
    if kind in ("a", "A") and number > 0:
        found = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return found if kind == "a" else found.upper()
    if kind in ("i", "I") and 0 < number < 4000:
        found = ""
        for value, letter in ROMAN:
            found += letter * (number // value)
            number %= value
        return found if kind == "i" else found.upper()
    return str(number)


class Counters:
    """The numbers of a list's levels while it is read. formats: the label of each level with %1,
    %2 for numbers; kinds, starts: of each.
    """

    __slots__ = ("formats", "kinds", "numbers", "starts")

    def __init__(self, formats: Mapping[int, str], kinds: Mapping[int, str],
                 starts: Mapping[int, int]) -> None:
        self.formats = formats
        self.kinds = kinds
        self.starts = starts
        self.numbers: dict[int, int] = {}

    def next(self, level: int) -> str:
        """Return the label of the next paragraph of a level, - for that of an unordered list."""
        self.numbers = {k: number for k, number in self.numbers.items() if k <= level}
        self.numbers[level] = self.numbers.get(level, self.starts.get(level, 1) - 1) + 1
        if self.kinds.get(level, "") in ("", "none"):
            return "" if self.kinds.get(level) else "-"

        def shown(found: re.Match[str]) -> str:
            k = int(found[1]) - 1
            return numeral(self.numbers.get(k, self.starts.get(k, 1)), self.kinds.get(k, "1"))

        return re.sub(r"%(\d)", shown, self.formats.get(level, "%1."))
