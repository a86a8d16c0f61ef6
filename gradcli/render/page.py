"""A page: what is to be said, before it has a format.

A layout (`render.layouts`, one for each kind of answer) makes pages of an answer, a writer (one for
each format: `plain`, `delimited`, `markdown`, `latex`, `html`, `terminal`) makes a text of pages.
JSON is the answer itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from gradcli.render import entries
    from gradcli.render.view import Column, View

MISSING, WRONG = "yellow", "red"
GOOD, BAD = "bold green", "bold red"
UNLIMITED = 10 ** 6     # columns of a terminal for what is not to be folded
ENDS = (40, 10)     # rows of a long table that a terminal shows, first and last


class Page:
    """An answer in the forms that its readers need. fields: names and values, for shells. records:
    one table, its head first, for spreadsheets. blocks: for people. screen: the blocks of a
    terminal, if it has others, latex: those of LaTeX. messages: what goes to standard error where a
    format has no room for it. digits: of numbers for people; None for all.
    """

    __slots__ = ("blocks", "digits", "fields", "latex", "messages", "records", "screen")

    def __init__(self, digits: int | None = None, *, fields: Iterable[Sequence[str]] = (),
                 records: Iterable[Sequence[Any]] = (), blocks: Iterable[Block] = (),
                 screen: Callable[[View], Iterable[Block]] | None = None,
                 latex: Iterable[Block] | None = None) -> None:
        self.digits = digits
        self.fields = fields
        self.records = records
        self.blocks = blocks
        self.screen = screen
        self.latex = blocks if latex is None else latex
        self.messages: list[str] = []


class Phrase(str):
    """A text that formats show differently. tex: in LaTeX. brief: on a terminal. style: there."""

    __slots__ = ("brief", "style", "tex")
    brief: str
    style: str
    tex: str

    def __new__(cls, text: str, tex: str = "", brief: str | None = None, style: str = "") -> Self:
        made = super().__new__(cls, text)
        made.tex = tex
        made.brief = text if brief is None else brief
        made.style = style
        return made


class Code(Phrase):
    """A formula, a name, or another text of a program."""

    __slots__ = ()


class Typed(Code):
    """Code that LaTeX, too, shows as such."""

    __slots__ = ()


class Bar(Phrase):
    """A text beside shares that may be drawn. shares: styles, each with its share of the width.
    label: the same in words.
    """

    __slots__ = ("label", "shares")
    label: str
    shares: tuple[tuple[str, float], ...]

    def __new__(cls, text: str, label: str, *shares: tuple[str, float]) -> Self:
        made = super().__new__(cls, text)
        made.label = label
        made.shares = shares
        return made


class Title(NamedTuple):
    """A text, or texts and numbers in turn. gap, as in all blocks: whether a blank line stands
    above on a terminal.
    """

    pieces: Any
    gap: bool = False


class Verdict(NamedTuple):
    """A word that says how it went, and more about it."""

    word: str
    style: str
    message: str = ""
    gap: bool = False


class Facts(NamedTuple):
    """Names, each with a value: a number, an array, a sentence, code, which is an equation in
    LaTeX, or a tuple of these.
    """

    rows: list[tuple[str, Any]]
    gap: bool = False


class Table:
    """Columns below their heads: plain words, Phrase or a tuple of these. sides: "l" of texts, "r"
    of numbers, for each. A cell is a text, a number, an array, None or a tuple of lines.

    On a terminal columns that do not fit go below, those of texts at the left again, where it is
    `split`; or two columns of formulas are folded, those that are `soft`. caption: a sentence above
    it in HTML. wrong: rows that are marked. brief: columns with two digits. short: heads for where
    others are too wide. limits: columns of the terminal that a text gets. ends: how many of the
    first and the last of many rows are shown.
    """

    __slots__ = ("brief", "caption", "ends", "gap", "head", "limits", "rows", "short", "sides",
                 "soft", "split", "wrong")

    def __init__(self, head: Sequence[Any] = (), rows: Iterable[Sequence[Any]] = (),
                 sides: str = "", *, split: bool = False, soft: tuple[int, ...] = (),
                 limits: dict[int, int] | None = None, gap: bool = False, caption: str = ""
                 ) -> None:
        self.gap = gap
        self.caption = caption
        self.fill(head, rows, sides)
        self.split = split
        self.soft = soft
        self.limits = limits or {}
        self.wrong: set[int] = set()
        self.brief: Sequence[int] = ()
        self.short: dict[str, str] = {}
        self.ends = ENDS

    def fill(self, head: Sequence[Any], rows: Iterable[Sequence[Any]] = (), sides: str = ""
             ) -> None:
        """Set the columns; where no sides are given, the first is of texts."""
        self.head = head
        self.rows = list(rows)
        self.sides = sides or "l" + "r" * (len(head) - 1)


class Remark(NamedTuple):
    """A sentence. head: a word that stands outside, `note:`. about: what a layout knows of it."""

    text: str
    style: str = ""
    head: str = ""
    gap: bool = False
    about: Any = None


class Paragraph(NamedTuple):
    """A sentence by itself; a Phrase where LaTeX has another."""

    text: str
    gap: bool = False


class Equations(NamedTuple):
    """Lines with one left side, aligned at the sign; each a text, and what it is in LaTeX."""

    lines: Sequence[str]
    gap: bool = False


class Causes(NamedTuple):
    """Reasons and notes: items are names and values with what can have them, answer has the file
    and the lines where their places are.
    """

    items: entries.Named
    answer: dict[str, Any]
    gap: bool = False


class Preformatted(NamedTuple):
    """Finished lines."""

    lines: list[str]
    style: str = ""
    gap: bool = False


class Picture(NamedTuple):
    """A picture as SVG, for pages that have pictures. text: what it shows, in words."""

    svg: bytes
    text: str
    gap: bool = False


class Grid(NamedTuple):
    """A table for one terminal: columns of finished lines."""

    columns: list[Column]
    gap: bool = False


class Rich(NamedTuple):
    """A block that rich lays out, for a terminal only."""

    renderable: Any
    gap: bool = False


Block = (Title | Verdict | Facts | Table | Remark | Paragraph | Equations | Causes | Preformatted
         | Picture | Grid | Rich)
