"""The ways from sources to targets: what a value ran through, and which slope each place has.

    line   from x to z    operation   value   derivative
    ──────────────────────────────────────────────────────
       1   var x = 1.5                1.5     watched
       2   k = floor(x)   floor       1       stops
       3   z = 3k         multiply    3       3
"""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render.numbers import visible
from gradcli.render.page import MISSING, Code, Grid, Paragraph, Preformatted, Remark, Table
from gradcli.render.view import brief, dimensions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from gradcli.render.page import Block
    from gradcli.render.view import View

    Row = list[str]

SMALL = 12          # elements of an array that is shown within a line
ROWS = 30           # a longer way is shown without its middle
FACTORS = 6         # a longer product is not written out
MANY = 1000         # ways are not counted beyond
FIRST = ("gradient", "jacobian")    # questions whose answer is made of products of slopes
LEAST = 16          # columns for the text of an operation, however narrow the terminal
OPERATION = 22      # columns for what an operation is called; more is folded
WIDE = 100          # columns of source text
STOPS, WATCHED, UNWATCHED = "stops", "watched", "not watched"


class Form:
    """The form of a page of sentences: its width, its encoding, and the writers of values, in full
    (`number`) and for titles (`brief`).
    """

    __slots__ = ("brief", "encoding", "file", "number", "texts", "width")

    def __init__(self, answer: dict[str, Any], width: int, encoding: str,
                 number: Callable[[Any], str], brief: Callable[[Any], str]) -> None:
        self.file = answer.get("file") or ""
        self.texts: dict[int, str] = answer.get("lines") or {}
        self.width = width
        self.encoding = encoding
        self.number = number
        self.brief = brief


def groups(result: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the sources in groups, those with the same causes together."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for at, source in enumerate(result.get("sources") or ()):
        key = tuple([entries.same(r, source["wrt"]) for r in source.get("reasons") or ()])
        found.setdefault(key or at, []).append(source)
    return list(found.values())


def paths(result: dict[str, Any], form: Form) -> Iterator[Block]:
    """Yield the paths alone, one for each group of sources."""
    for group in groups(result):
        yield from path(result, group[0], len(group), form)


def path(result: dict[str, Any], source: dict[str, Any], several: int, form: Form
        ) -> Iterator[Block]:
    """Yield the path from a source to the target as a table, and the product of its slopes."""
    steps = source.get("path") or []
    if not steps:
        return
    along = ("from ", Code(source["wrt"]), " to ", Code(result["of"]))
    yield Table(["line", along, "operation", "value", "derivative"], _rows(steps, form), "rllrr",
                gap=True)
    if several > 1:
        yield Paragraph("the paths from the others end in the same place")
    elif source.get("gradient") is not None and not source.get("reasons") and (
            result.get("kind", "gradient") in FIRST):
        yield from _product(steps, source, form)


def _rows(steps: list[dict[str, Any]], form: Form) -> list[Row]:
    """Return a row for each step of a path: line, text, operation, value, derivative; of many steps
    the first, the last and those that no derivative passes.
    """
    found: list[Row] = []
    for at, step in enumerate(steps):
        line = "" if step.get("line") is None else str(step["line"])
        text = step["text"]
        if at and step.get("name") and step["name"] != text:
            text = f"{step['name']} = {text}"
        if step.get("times", 1) > 1:
            text = f"{text} ({step['times']} times)"
        value = form.number(step["value"]) if step.get("value") is not None else (
            dimensions(step.get("shape") or ()))
        found.append([line, Code(text), step.get("operation") or "", value,
                      _passes(step, at, form)])
    if len(found) <= ROWS:
        return found
    closed = [k for k, step in enumerate(steps) if not step["recorded"]]
    shown = sorted({*range(ROWS // 3), *closed[:ROWS // 3],
                    *range(len(found) - ROWS // 3, len(found))})
    rows: list[Row] = []
    for before, k in zip([-1, *shown], shown, strict=False):
        if k > before + 1:
            rows.append(["", Code(f"... {k - before - 1} more"), "", "", ""])
        rows.append(found[k])
    return rows


def _passes(step: dict[str, Any], at: int, form: Form) -> str:
    if at == 0:
        return WATCHED if step["recorded"] else UNWATCHED
    if not step["recorded"]:
        return STOPS
    return "passes" if step.get("slope") is None else form.number(step["slope"])


def _product(steps: list[dict[str, Any]], source: dict[str, Any], form: Form
             ) -> Iterator[Paragraph]:
    """Yield the product of the slopes along a path, and a remark on the other paths."""
    slopes = [step.get("slope") for step in steps[1:]]
    ways = source.get("ways") or 0
    known = [float(s) for s in slopes if s is not None]
    total = 1.0
    for slope in known:
        total *= slope
    # Where a branch is not used, an infinite slope counts for nothing.
    whole = bool(known) and len(known) == len(slopes) and not source.get("shape") and (
        total - total == 0)
    product = " * ".join(map(form.number, known)) if len(known) <= FACTORS else "the slopes"
    along = f"{product} = {form.number(total)}" if len(known) > 1 else form.number(total)
    others = ways - 1 if ways < MANY else f"{MANY} or more"
    more = f"and {others} other {'path' if ways == 2 else 'paths'}"
    if ways > 1 and whole:
        yield Paragraph(f"along this path: {along}; {more}, together"
                        f" {form.number(source['gradient'])}")
    elif ways > 1:
        yield Paragraph(more)
    elif whole and len(known) > 1:
        yield Paragraph(f"along this path: {along}")


# --- on a terminal --------------------------------------------------------------------------------


def on_screen(view: View, found: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks, the ways as wide as the terminal is."""
    for block in found:
        yield _grid(view, block) if isinstance(block, Table) else block


def form_of(view: View, answer: dict[str, Any]) -> Form:
    """Return how a terminal shows a value."""
    return Form(answer, view.width, view.encoding,
                lambda value: numbers.significant(value, view.digits) if view.whole else
                brief(value, view.digits, SMALL),
                lambda value: brief(value, view.digits, SMALL))


def _grid(view: View, table: Table) -> Grid:
    """Return the table of a path for a terminal. Texts and operations are folded; one that is far
    too long is cut at its end.
    """
    from gradcli.render.view import GAP, widest

    head = ["".join(one) for one in table.head]
    lines, texts, operations, values, slopes = (
        list(map(view.safe, column)) for column in zip(*table.rows, strict=True))
    columns: list[tuple[str, list[list[str]]]] = [
        (head[0], [[text] for text in numbers.aligned(lines)]), (view.safe(head[1]), []),
        (head[3], _pointed(values)), (head[4], [[text] for text in slopes])]
    if any(operations):
        columns.insert(2, (head[2], [_folded(view, text, OPERATION) for text in operations]))
    fixed = [max(map(widest, [[title], *cells])) for title, cells in columns]
    room = max(LEAST, view.width - sum(fixed) + fixed[1] - GAP * (len(columns) - 1))
    columns[1] = columns[1][0], [_folded(view, text, room) for text in texts]
    closed = [MISSING if text in (STOPS, UNWATCHED) else "" for text in slopes]
    styles = [[""] * len(slopes)] * (len(columns) - 1) + [closed]
    return Grid([
        (view.name(title, room), list(zip(cells, style, strict=True)))
        for (title, cells), style in zip(columns, styles, strict=True)], gap=True)


def _pointed(values: list[str]) -> list[list[str]]:
    """Return cells of numbers with their points below each other, and of shapes as they are."""
    single = [at for at, text in enumerate(values) if text[:1] in "-+.0123456789"
              and " " not in text]
    cells = [[text] for text in values]
    for at, text in zip(single, numbers.aligned([values[at] for at in single]), strict=True):
        cells[at] = [text.rstrip()]
    return cells


def _folded(view: View, text: str, room: int) -> list[str]:
    lines = view.name(text, room)
    return lines if len(lines) <= 4 else [*lines[:3], lines[3][:-3] + "..."]


# --- in a pipe ------------------------------------------------------------------------------------


def exact(value: Any) -> str:
    """Return a number or a small array in full; of a large one the shape."""
    return brief(value, None, SMALL)


def aligned(table: Table) -> Iterator[str]:
    """Yield the way as lines."""
    cells = [list(map(visible, map("".join, row))) for row in (table.head, *table.rows)]
    wide = [min(WIDE, max(map(len, column))) for column in zip(*cells, strict=True)]
    for row in cells:
        yield ("  " + "   ".join([text.ljust(width) for text, width in zip(row, wide, strict=True)])
               ).rstrip()


def fields(found: Iterable[Block]) -> Iterator[tuple[str, ...]]:
    """Yield what is said of a derivative as lines, indented."""
    for block in found:
        if block.gap:
            yield ("",)
        if isinstance(block, Table):
            for line in aligned(block):
                yield (line,)
        elif isinstance(block, Preformatted):
            for line in block.lines:
                yield (f"  {line}",)
        elif isinstance(block, Remark | Paragraph):
            head = f"{block.head} " if isinstance(block, Remark) and block.head else ""
            yield (f"  {head}{block.text}",)


def plain_paths(answer: dict[str, Any]) -> str:
    """Return the paths alone, which `grad -v` writes beside plain output."""
    from gradcli.render import plain

    form = Form(answer, WIDE, "utf-8", exact, exact)
    return plain.lines([row for result in answer.get("results") or ()
                        for row in fields(paths(result, form))])
