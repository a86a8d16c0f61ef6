"""Pages for a person at a terminal, by rich; the only form that folds, shortens and colours.

Everything that comes from a file or a user goes through a View. rich is imported inside functions.
"""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render import page as parts
from gradcli.render.messages import causes
from gradcli.render.page import MISSING, UNLIMITED, WRONG, Code, Phrase, Table
from gradcli.render.view import GAP, NAME, SUMMARISED, View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TextIO

    from gradcli.render.page import Page
    from gradcli.render.view import Cell, Column, Lines

LEAST = 12              # columns that a name or a text gets in any case
HEAD = 16               # columns for the head of formulas, unless what stands below is wider
BREAKS = " ,*/"         # where a formula is broken, behind the character
UNEVEN = 4              # points stand below each other where that costs no more columns
OFF = "\x1b[0m"


def write(pages: Sequence[Page], *, width: int, color: bool, digits: int, encoding: str,
          whole: bool = True) -> str:
    """Return all pages as text, no wider than `width` where numbers allow. whole: all rows, and
    arrays in full.
    """
    from io import StringIO

    view = View(digits, width, encoding, whole)
    buffer = StringIO()
    shown: list[Any] = []
    for page in pages:
        shown += [view.text(""), *_page(view, page)] if shown else _page(view, page)
    print_parts(shown, buffer, width, color)
    return buffer.getvalue()


def print_parts(shown: Iterable[Any], stream: TextIO, width: int, color: bool) -> None:
    """Write renderables as text, no wider than `width` unless a single one needs more."""
    from io import StringIO

    from rich.console import Console
    from rich.measure import Measurement
    from rich.text import Text

    buffer = StringIO()
    console = Console(
        # rich crops what is wider than its console.
        file=buffer, width=UNLIMITED, height=100, force_terminal=color, legacy_windows=False,
        color_system="standard" if color else None, highlight=False, emoji=False, markup=False,
        _environ={})
    for part in shown:
        needs = Measurement.get(console, console.options, part)
        finished = isinstance(part, Text) and part.no_wrap
        console.print(part, width=max(width, needs.maximum if finished else needs.minimum))
    stream.write("".join([_bare(line) + "\n" for line in buffer.getvalue().splitlines()]))


def ruled(columns: Sequence[tuple[str, int]], rows: Iterable[Sequence[str]], width: int) -> str:
    """Return a table with all lines drawn. columns: titles and widths, the last one of numbers."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Column, Table

    table = Table(*[
        Column(title, justify="right" if k == len(columns) - 1 else "left", width=room)
        for k, (title, room) in enumerate(columns)], width=width, show_lines=True)
    for row in rows:
        table.add_row(*row)
    buffer = StringIO()
    Console(file=buffer, width=max(width, 80), force_terminal=False, color_system=None,
            highlight=False, emoji=False, markup=False, legacy_windows=False).print(table)
    return buffer.getvalue()


def _bare(line: str) -> str:
    """Return the line without blanks at its end, in front of where a colour ends, too."""
    kept = line.rstrip()
    while kept.endswith("m") and "\x1b[" in kept:
        text, _, code = kept.rpartition("\x1b[")
        if not code[:-1].replace(";", "").isdigit():
            break
        kept = text.rstrip()
    return kept + OFF if "\x1b[" in kept else kept


# --- the parts of a page --------------------------------------------------------------------------


def _page(view: View, page: Page) -> Iterator[Any]:
    for block in page.blocks if page.screen is None else page.screen(view):
        for at, part in enumerate(_block(view, block)):
            if at == 0 and block.gap:
                yield view.text("")
            yield part
    if view.summarised:
        yield view.text("")
        yield view.text(f"arrays of more than {SUMMARISED} elements are summarised; -v shows"
                        " them")
        view.summarised = False


def _block(view: View, block: parts.Block) -> Iterator[Any]:
    if isinstance(block, parts.Title):
        pieces = block.pieces if isinstance(block.pieces, tuple) else (block.pieces,)
        yield view.text("".join([piece if isinstance(piece, str) else view.brief(piece)
                                 for piece in pieces]), "bold")
    elif isinstance(block, parts.Verdict):
        yield _verdict(view, block)
    elif isinstance(block, parts.Facts) and block.rows:
        yield _facts(view, block)
    elif isinstance(block, Table):
        yield from _table(view, block)
    elif isinstance(block, parts.Remark):
        yield hanging(view, block.head, block.text) if block.head else view.text(
            block.text, block.style)
    elif isinstance(block, parts.Paragraph):
        yield view.cell(fold(block.text, view.width)) if isinstance(block.text, Phrase) else (
            view.text(block.text))
    elif isinstance(block, parts.Equations):
        indent = block.lines[0].index(" = ") + 3
        yield view.cell([text for line in block.lines for text in _hung(line, view.width, indent)])
    elif isinstance(block, parts.Causes):
        yield from _causes(view, block)
    elif isinstance(block, parts.Preformatted):
        yield view.cell(block.lines, block.style)
    elif isinstance(block, parts.Grid):
        yield view.table(block.columns)
    elif isinstance(block, parts.Rich):
        yield block.renderable


def _verdict(view: View, verdict: parts.Verdict) -> Any:
    from rich.text import Text

    line = Text.assemble(view.text(verdict.word, verdict.style), overflow="fold")
    if verdict.message:
        line.append(": ")
        line.append_text(view.text(verdict.message))
    return line


def _causes(view: View, block: parts.Causes) -> Iterator[Any]:
    """Yield paragraphs on why a gradient is None, the place, the fix, and the notes.

        dy/dc is None: `c` is a constant, which no tape watches
          expr.txt:2:1   const c = 2.0
          expr.txt:4:5   y = c*x^2  (first used here)
          fix: var c = 2.0
        note: dy/dx: two elements tie, the gradient is split evenly (line 3)

    Sources with the same reason share one paragraph.
    """
    reasons, notes = entries.reasons(block.items), entries.notes(block.items)
    if reasons or notes or view.summarised:
        yield view.text("")
    for names, value, reason, at in reasons:
        for head, text in causes(
                block.answer.get("file") or "", names, value, reason, at,
                texts=block.answer.get("lines"),
                of=entries.count(block.items), width=view.width):
            yield hanging(view, head, text) if head else view.text(text)
    for names, _, note, _ in notes:
        yield hanging(view, "note:", entries.sentence(names, note))
    if view.summarised:
        yield hanging(view, "note:", f"arrays of more than {SUMMARISED} elements are"
                      " summarised; --format csv lists every element")
        view.summarised = False


def hanging(view: View, head: str, text: str) -> Any:
    """Return a paragraph whose head stands in a column of its own."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(view.text(head), view.text(text))
    return grid


def _facts(view: View, facts: parts.Facts) -> Any:
    """Return a grid of values beside their names: sentences are folded by rich, all else is
    finished.
    """
    from rich.table import Table

    sentences = any(type(value) is str for _, value in facts.rows)
    natural = widest([name for name, _ in facts.rows])
    width = natural if natural <= view.width // 2 or sentences else max(LEAST, view.width // 3)
    room = max(LEAST, view.width - width - GAP)
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=not sentences, overflow="fold" if sentences else "ellipsis")
    for name, value in facts.rows:
        if type(value) is str:
            grid.add_row(view.text(name), view.text(value))
            continue
        lines = broken(value, room) if isinstance(value, Code) else [
            line.rstrip() for line in view.lines(value, room)]
        grid.add_row(view.cell(_words(view, name, width)), view.cell(lines))
    return grid


def broken(text: str, width: int) -> Lines:
    """Return a formula in lines that end between its terms: before a sign that no bracket holds."""
    pieces, depth, start = [], 0, 0
    for k, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == " " and text[k + 1:k + 3] in ("+ ", "- "):
            pieces.append(text[start:k])
            start = k + 1
    lines: Lines = []
    for piece in [*pieces, text[start:]]:
        if lines and len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def fold(text: str, width: int) -> Lines:
    """Return a formula in lines of at most `width`, broken behind a blank, comma or operator."""
    lines = []
    while widest([text]) > width:
        end = max(1, width)
        while widest([text[:end]]) > width and end > 1:
            end -= 1
        at = max([text.rfind(c, 0, end) for c in BREAKS]) + 1
        at = at if at >= end // 2 else end
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*lines, text]


def _hung(line: str, width: int, indent: int) -> Lines:
    """Return the lines of an equation, the further ones indented to stand below its right side."""
    indent = min(indent, width // 3)
    first, *more = fold(line, width)
    return [first, *[" " * indent + text for text in fold(" ".join(more), width - indent)]
            ] if more else [first]


def _words(view: View, text: str, width: int) -> Lines:
    """Return a name in lines, broken at its blanks if it has to be."""
    lines: Lines = []
    for word in view.safe(text).split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines += view.name(word, max(width, 1))
    return lines


# --- tables ---------------------------------------------------------------------------------------


def _table(view: View, table: Table) -> Iterator[Any]:
    """Yield as many tables below each other as the columns need; each begins with the names."""
    if table.soft:
        yield _folded(view, table)
        return
    first, last = table.ends
    at = list(range(len(table.rows)))
    cut = not view.whole and len(at) > first + last + 2
    if cut:
        at = at[:first] + at[-last:]
    labels = len(table.sides) - len(table.sides.lstrip("l"))
    columns = _columns(view, table, at, NAME, folded=False)
    if table.split and _width(columns) > view.width:
        # A name is folded only if it would have no other column beside it.
        room = view.width - GAP - max(_width([column]) for column in columns[labels:])
        columns = _columns(view, table, at, min(NAME, max(LEAST, room)), folded=True)
    if cut:
        for k, (_, cells) in enumerate(columns):
            cells.insert(first, (["..." if k < labels else ""], ""))
    rest = columns[labels:]
    room = view.width - _width(columns[:labels]) if table.split else UNLIMITED
    for number, group in enumerate(groups([_width([column]) for column in rest], room)):
        if number:
            yield view.text("")
        yield view.table([*columns[:labels], *_stripped([rest[k] for k in group])])
    if cut:
        yield view.text("")
        yield view.text(f"{len(table.rows):,} rows, the first {first} and the last {last} shown; -v"
                        " shows all")


def groups(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield consecutive columns that fit into `room` together, at least one at a time."""
    group: list[int] = []
    used = 0
    for at, width in enumerate(widths):
        if group and used + GAP + width > room:
            yield group
            group, used = [], 0
        group.append(at)
        used += GAP + width
    if group:
        yield group


def _width(columns: Sequence[Column]) -> int:
    return sum([max(map(widest, [head, *[lines for lines, _ in cells]]))
                for head, cells in columns]) + GAP * (len(columns) - 1)


def _stripped(columns: list[Column]) -> list[Column]:
    """Return the columns without blanks at the ends of lines."""
    head, cells = columns[-1]
    return [*columns[:-1], (head, [([line.rstrip() for line in lines], style)
                                   for lines, style in cells])]


def _columns(view: View, table: Table, at: list[int], limit: int, folded: bool) -> list[Column]:
    """Return the columns of a table that are not empty. limit: of a name. folded: heads, too, are
    in several lines.
    """
    found: list[Column] = []
    for k, head in enumerate(table.head):
        text = _brief(head)
        cells = _column(view, table, k, at, table.limits.get(k, limit))
        if folded:
            text = table.short.get(text, text)
        most = max([len(word) for word in text.split(" ")] + [widest(one) for one, _ in cells])
        if text or any(lines != [""] for lines, _ in cells):
            found.append((view.name(text) if not table.split else
                          _words(view, text, most if folded else view.width), cells))
    return found


def _brief(text: str) -> str:
    return text.brief if isinstance(text, Phrase) else text


def _column(view: View, table: Table, k: int, at: list[int], limit: int) -> list[Cell]:
    values = [table.rows[j][k] for j in at]
    digits = 2 if k in table.brief else view.digits
    texts = iter(_aligned([numbers.significant(v, digits) for v in values
                           if isinstance(v, float | int)]))
    found: list[Cell] = []
    for j, value in zip(at, values, strict=True):
        style = MISSING if isinstance(value, float) and value - value != 0 else ""
        if isinstance(value, str):
            lines = view.name(_brief(value), limit)
            style = value.style if isinstance(value, Phrase) else ""
        elif isinstance(value, float | int):
            lines = [next(texts)]
        elif isinstance(value, tuple):
            lines = list(value)
        else:
            lines = [""] if value is None else view.lines(value, max(LEAST, view.width - limit))
        found.append((lines, WRONG if j in table.wrong else style))
    return found


def _aligned(texts: Lines) -> Lines:
    """Align numbers at their points, unless one is so much larger that this makes the column wide.
    """
    aligned = numbers.aligned(texts)
    natural = max(map(len, texts), default=0)
    if aligned and len(aligned[0]) > natural + UNEVEN:
        return [text.rjust(natural) for text in texts]
    return aligned


def _folded(view: View, table: Table) -> Any:
    """Return a table whose two columns of formulas are folded where the width asks for it; the
    lines of a cell stand beside those of the others, folded or not.
    """
    names = [view.safe(_brief(head)) for head in table.head]
    columns = [[list(map(view.safe, row[k])) for row in table.rows] for k in range(len(names))]
    widths = [max([min(widest([name]), HEAD), *map(widest, cells)])
              for name, cells in zip(names, columns, strict=True)]
    room = view.width - GAP * (len(names) - 1) - sum(
        [w for k, w in enumerate(widths) if k not in table.soft])
    first, second = (widths[k] for k in table.soft)
    if first + second > room:
        # The shorter one keeps its width as long as the other has half of the room.
        smaller = min(first, second, max(LEAST, room // 2))
        larger = max(LEAST, room - smaller)
        sizes = (smaller, larger) if first <= second else (larger, smaller)
        for k, size in zip(table.soft, sizes, strict=True):
            widths[k] = size
    heads = [[name] if k in table.soft else fold(name, widths[k]) for k, name in enumerate(names)]
    high = max(map(len, heads))
    found: list[Column] = [(head + [""] * (high - len(head)), []) for head in heads]
    for row in zip(*columns, strict=True):
        for line in range(max(map(len, row))):
            for k, cell in enumerate(row):
                found[k][1].append((
                    fold(cell[line], widths[k]) if line < len(cell) else [""], ""))
    return view.table(found, style="")
