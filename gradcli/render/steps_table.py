"""The steps of a derivative as tables for a terminal."""

from __future__ import annotations

from itertools import zip_longest

from gradcli.render import steps
from gradcli.render.remarks import below
from gradcli.render.view import RULE, View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.steps import Row

GAP = 3             # columns between columns
LEAST = 12          # columns for a formula, however narrow the terminal
HEAD = 16           # columns for a head, unless what stands below is wider
BREAKS = " ,*/"     # where a formula is broken, behind the character


def tables(answer: dict[str, Any], digits: int, width: int, encoding: str, whole: bool
           ) -> list[Any]:
    """Renderables for `gradcli.render.table.print_parts`. whole: all steps, however many."""
    view = View(answer, digits, width, encoding, whole)
    parts: list[Any] = []
    for result in answer["results"]:
        if parts:
            parts.append(view.text(""))
        parts += _result(view, answer, result)
    return parts


def _result(view: View, answer: dict[str, Any], result: dict[str, Any]) -> Iterator[Any]:
    show, symbol = steps.short(view.digits, view.whole), steps.symbol_of(view.encoding)
    yield view.text(steps.title(result, show), "bold")
    if not result["steps"]:
        yield view.text(steps.WITHOUT)
    elif answer["mode"] == "forward":
        yield from _values(view, result)
        yield view.text("")
        heads = [f"d/d{s['wrt']}" for s in result["sources"]]
        yield _table(view, ("step", "local derivative", "rule", *heads),
                     steps.forward(result, show, symbol, view.whole), (1, 2))
    else:
        yield from _values(view, result)
        yield view.text("")
        yield _table(view, ("step", "adjoint", "local derivative", "rule"),
                     steps.backward(result, show, symbol, view.whole), (2, 3))
        for source in result["sources"]:
            lines = steps.chain(result, source, show, symbol)
            if lines:
                yield view.text("")
                indent = lines[0].index(" = ") + 3
                yield view.cell([
                    text for line in lines for text in _hung(line, view.width, indent)])
    told = steps.legend(result, symbol)
    if told:
        yield view.text("")
        yield view.cell(fold(told, view.width))
    yield from below(view, steps.remarks(answer, result))


def _values(view: View, result: dict[str, Any]) -> Iterator[Any]:
    yield view.text("")
    yield _table(view, ("step", "operation", "formula so far", "value"),
                 steps.values(result, steps.short(view.digits, view.whole), view.whole), (1, 2))


def _table(view: View, heads: Sequence[str], rows: Sequence[Row], soft: tuple[int, int]) -> Any:
    """The rows below their heads; the two soft columns are folded where the width asks for it."""
    columns = [[list(map(view.safe, row[k])) for row in rows] for k in range(len(heads))]
    names = [view.safe(head) for head in heads]
    widths = [max([min(widest([name]), HEAD), *map(widest, cells)])
              for name, cells in zip(names, columns, strict=True)]
    room = view.width - GAP * (len(heads) - 1) - sum(
        [w for k, w in enumerate(widths) if k not in soft])
    first, second = (widths[k] for k in soft)
    if first + second > room:
        # The shorter one keeps its width as long as the other has half of the room.
        smaller = min(first, second, max(LEAST, room // 2))
        larger = max(LEAST, room - smaller)
        first, second = (smaller, larger) if first <= second else (larger, smaller)
    limits = {**dict(enumerate(widths)), soft[0]: first, soft[1]: second}
    pieces = [[name] if k in soft else fold(name, limits[k]) for k, name in enumerate(names)]
    lines = list(map(list, zip_longest(*pieces, fillvalue="")))
    high = len(lines)
    for row in zip(*columns, strict=True):
        # The lines of a cell stand beside those of the others, folded or not.
        for line in range(max(map(len, row))):
            pieces = [fold(cell[line], limits[k]) if line < len(cell) else [""]
                      for k, cell in enumerate(row)]
            lines += map(list, zip_longest(*pieces, fillvalue=""))
    wide = [max([widest([line[k]]) for line in lines]) for k in range(len(heads))]
    texts = [(" " * GAP).join([text + " " * (w - widest([text]))
                               for text, w in zip(line, wide, strict=True)]) for line in lines]
    rule = RULE if view.fancy else "-"
    # One text: a table of rich takes 3 ms for each of its rows.
    return view.cell(
        [*texts[:high], rule * (sum(wide) + GAP * (len(wide) - 1)), *texts[high:]])


def fold(text: str, width: int) -> list[str]:
    """A formula in lines of at most `width`, broken behind a blank, comma or operator."""
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


def _hung(line: str, width: int, indent: int) -> list[str]:
    """A line of the chain rule, what does not fit below its right side."""
    indent = min(indent, width // 3)
    first, *more = fold(line, width)
    if not more:
        return [first]
    return [first, *[" " * indent + text for text in fold(" ".join(more), width - indent)]]
