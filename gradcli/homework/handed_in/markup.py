"""The lines of a text without their markup: of Markdown, LaTeX and tables."""

from __future__ import annotations

import re
from itertools import takewhile

from gradcli.homework.handed_in.records import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcli.homework.handed_in.labels import Ids, Label
    from gradcli.homework.handed_in.records import Parsed


class Line:
    """A line without its markup.

    bare: its text, and typed: as it was typed; number: from 1; indent: of blanks, beyond those of
        all lines.
    set_off: whether it is a heading, or in bold letters.
    hashes: the # in front of it, with the blanks behind.
    item: the list that it is an item of, and its number there; None for none.
    gap: whether an empty line stands before.
    label: that it begins with.
    """

    __slots__ = ("bare", "gap", "hashes", "indent", "item", "label", "number", "set_off", "typed")

    def __init__(self, bare: str, number: int, indent: int = 0, *, set_off: bool = False,
                 hashes: str = "", item: tuple[int, int] | None = None, gap: bool = False,
                 typed: str | None = None) -> None:
        self.bare = bare
        self.typed = bare if typed is None else typed
        self.number = number
        self.indent = indent
        self.set_off = set_off
        self.hashes = hashes
        self.item = item
        self.gap = gap
        self.label: Label | None = None

    @property
    def rank(self) -> int:
        """Return how clear the label is, among all of the same problem; 0 without one."""
        if self.label is None:
            return 0
        return 2 * self.label.level - (self.indent > 0 or bool(self.hashes))


_STUDENT = re.compile(r"#\s*+student(?:\s+id)?\s*[:=]\s*(\S.*)", re.IGNORECASE)
_HASHES = re.compile(r"(#{1,6}\s*+)(.*)")
_LIST = re.compile(r"\\(begin|end)\{(enumerate|itemize|description)\}\s*(?:\[[^\]]{0,80}\])?|"
                   r"\\(item)(?![A-Za-z])(?:\{\}|[ \t]*(?:\[([^\]]{0,80})\])?)")
_ITEM = re.compile(r"\W{0,3}\w{1,8}(?:\W{1,3}\w{1,4}){0,2}\W{0,3}")
_COMMAND = re.compile(
    r"\\(?:(?:sub)*section|(?:sub)?paragraph|textbf|textit|emph|underline|textsc)\*?\s*"
    r"\{([^{}]*)\}(.*)")
# Lines of a document that say nothing.
_NOTHING = re.compile(
    r"[-=_*~\s.]*|\|?(?:\s*+:?+-{2,}+:?+\s*+\|?+)++|`{3,}\s*\w*|\\(?:begin|end)\{(?:document|center)\}|"
    r"\\(?:newpage|pagebreak|clearpage|maketitle|noindent|bigskip|medskip|smallskip|hline|\\)")
_PAGE = re.compile(r"(?:page|seite|sida|p\.)\s*\d+(?:\s*(?:of|/|von|av)\s*\d+)?|-\s*\d+\s*-",
                   re.IGNORECASE)


def lines_of(text: str, ids: Ids, parsed: Parsed) -> Iterator[Line]:
    """Yield the lines that say something."""
    rows = text.split("\n")
    margin = min([len(row) - len(row.lstrip()) for row in rows if row.strip()
                  and not row.startswith("#")], default=0)
    lists: list[list[int]] = []     # the open lists: [its number, the items so far]
    columns: list[str] = []
    count, gap, in_table = 0, False, False
    for number, row in enumerate(rows, 1):
        bare = row.strip()
        began, in_table = in_table, bare.startswith("|")
        if not bare or _NOTHING.fullmatch(bare):
            gap = True
            continue
        indent = len(row) - len(row.lstrip()) - margin if not lists else 0
        if row.startswith("#"):
            said, heading = _STUDENT.match(row), _HASHES.fullmatch(row)
            if said:
                _is_by(said[1].strip(), number, parsed)
            elif heading:
                title = heading[2].rstrip()
                closed = title.rstrip("#")
                if not closed[-1:].strip():     # ## 1a ##
                    title = closed.rstrip()
                yield Line(title, number, set_off=True, hashes=heading[1],
                           gap=gap)
            continue
        if bare.startswith("|") and "|" in bare[1:]:
            cells = _cells(bare)
            if not began:
                columns = _titles(rows[number - 1:], number, ids, parsed)
                if columns:
                    continue
            if columns and len(cells) != len(columns):
                parsed.note("unclaimed", f"`{short(bare)}` has {len(cells)} cells below"
                            f" {len(columns)} ids", number)
                continue
            if columns:
                for id, cell in zip(columns, cells, strict=True):
                    yield _cell(id, cell, number)
                continue
            named = ids.find(_unmarked(cells[0]))
            if named:
                rest = bare[1:].partition("|")[2].removesuffix("|")
                yield _cell(named, rest.replace("\\|", "|"), number)
                continue
        columns = []
        if _PAGE.fullmatch(bare):
            parsed.note("skipped", f"`{short(bare)}` belongs to no problem", number)
            continue
        if "\\" not in bare:
            yield Line(bare, number, indent, gap=gap)
            gap = False
            continue
        for piece, item, named_item in _items(bare, lists):
            if item is not None and item[0] < 0:
                count += 1
                lists[-1][0] = count
                item = count, item[1]
            command, typed = _COMMAND.fullmatch(piece), piece
            if command:
                piece = f"**{command[1]}**{command[2]}"
            if named_item:
                piece, typed = f"**{named_item}** {typed}", f"[{named_item}] {typed}"
            if piece or item is not None:
                yield Line(piece, number, indent, gap=gap, item=item, typed=typed)
                gap = False


def _cell(id: str, text: str, number: int) -> Line:
    """Return the line of a cell of a table, which answers the problem with an id."""
    return Line(f"({id}): {text.strip()}", number)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row[1:].removesuffix("|").split("|")]


def _titles(rows: Sequence[str], number: int, ids: Ids, parsed: Parsed) -> list[str]:
    """Return the ids above the columns of a table, none where its rows begin with them; note where
    that is not certain. rows: from its first one on, whose number is given.
    """
    table = [_cells(row.strip()) for row in takewhile(lambda row: row.lstrip()[:1] == "|", rows)
             if not _NOTHING.fullmatch(row.strip())]
    titles = [ids.find(_unmarked(cell)) or "" for cell in table[0]]
    if len(table) < 2 or len(titles) < 2 or not all(titles):
        return []
    if any(ids.find(_unmarked(cells[0])) for cells in table[1:]):
        parsed.note("unclaimed", f"`{short(rows[0])}` may stand above answers, or be one", number)
        return titles if len(titles) > 2 else []
    return titles


def _unmarked(text: str) -> str:
    return text.strip("*_`$ ")


def _is_by(student: str, number: int, parsed: Parsed) -> None:
    if parsed.student is None:
        parsed.student = student
    elif parsed.student != student:
        parsed.note("unclaimed", f"also says it is by {short(student)}", number)


def _items(bare: str, lists: list[list[int]]) -> Iterator[tuple[str, tuple[int, int] | None, str]]:
    r"""Yield the parts of a line between the commands of lists: the text, the list and number of an
    item that begins there, and its label in brackets. lists: those that are open, kept up to date.
    """
    at, item, named = 0, None, ""
    found = [*_LIST.finditer(bare), None]
    for command in found:
        piece = bare[at:command.start() if command else len(bare)].strip()
        if piece or item is not None or named:
            yield piece, item, named
        item, named = None, ""
        if command is None:
            return
        at = command.end()
        if command[1] == "begin":
            lists.append([-1 if command[2] == "enumerate" else 0, 0])
        elif command[1] == "end":
            del lists[-1:]
        elif command[4] is not None and _ITEM.fullmatch(command[4]):
            named = command[4].strip("$ ")
        else:
            at = command.end(3) if command[4] is not None else at      # [2, x] is a vector
            if lists and lists[-1][0]:
                lists[-1][1] += 1
                item = lists[-1][0], lists[-1][1]
