"""The page of `gradcli why` on a terminal: nothing is wider than that."""

from __future__ import annotations

from gradcli.render import layout, numbers
from gradcli.render.layouts import why
from gradcli.render.layouts.why import SMALL, STOPS, UNWATCHED, Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.render.layouts.why import Part, Row
    from gradcli.render.terminal import View

LEAST = 16          # columns for the text of an operation, however narrow the terminal
MISSING = "yellow"
GAP = 3             # columns between columns
OPERATION = 22      # columns for what an operation is called; more is folded


def page(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    """Renderables for `gradcli.render.layouts.derivatives`."""
    yield from _shown(view, why.parts(answer, _look_of(view, answer)))


def paths(view: View, result: dict[str, Any]) -> Iterator[Any]:
    """The paths alone, as `grad -v` shows them below its table."""
    yield from _shown(view, why.paths(result, _look_of(view, {})))


def _look_of(view: View, answer: dict[str, Any]) -> Look:
    return Look(answer, view.width, view.encoding,
                 lambda value: _short(value, view.digits, view.whole),
                 lambda value: _short(value, view.digits, False))


def _shown(view: View, parts: Iterable[Part]) -> Iterator[Any]:
    from gradcli.render.remarks import hanging

    for part in parts:
        kind = part[0]
        if kind == "gap":
            yield view.text("")
        elif kind == "title":
            yield view.text(part[1], "bold")
        elif kind == "head":
            missing = any(s.get("gradient") is None for s in part[1]["sources"])
            yield view.text(f"{part[2]}: {part[3]}" if part[3] else part[2],
                            MISSING if missing else "")
        elif kind == "note":
            yield hanging(view, part[1], part[2])
        elif kind == "rows":
            yield _table(view, part[1], part[2])
        elif kind == "text":
            yield view.text(part[1])
        else:
            yield view.cell([part[1]], MISSING if kind == "mark" else "")


def _short(value: Any, digits: int, whole: bool) -> str:
    """A number or a small array; of a large one the shape, unless the whole of it is wanted."""
    if layout.count(value) > SMALL and not whole:
        return layout.summary(value, digits)[0]
    return layout.inline(value, digits)


def _table(view: View, head: Sequence[str], rows: Sequence[Row]) -> Any:
    """The way. Texts and operations are folded; what is far too long is cut at its end."""
    from gradcli.render.terminal import widest

    lines, texts, operations, values, slopes = (
        list(map(view.safe, column)) for column in zip(*rows, strict=True))
    columns: list[tuple[str, list[list[str]]]] = [
        (head[0], [[text] for text in numbers.aligned(lines)]), (view.safe(head[1]), []),
        (head[3], _pointed(values)), (head[4], [[text] for text in slopes])]
    if any(operations):
        columns.insert(2, (head[2], [_folded(view, text, OPERATION) for text in operations]))
    fixed = [max(map(widest, [[title], *cells])) for title, cells in columns]
    room = max(LEAST, view.width - sum(fixed) + fixed[1] - GAP * (len(columns) - 1))
    columns[1] = columns[1][0], [_folded(view, text, room) for text in texts]
    closed = [MISSING if text in (STOPS, UNWATCHED) else "" for text in slopes]
    styles = [[""] * len(rows)] * (len(columns) - 1) + [closed]
    return view.table([
        (view.name(title, room), list(zip(cells, style, strict=True)))
        for (title, cells), style in zip(columns, styles, strict=True)])


def _pointed(values: list[str]) -> list[list[str]]:
    """Numbers with their points below each other, shapes as they are."""
    single = [at for at, text in enumerate(values) if text[:1] in "-+.0123456789"
              and " " not in text]
    cells = [[text] for text in values]
    for at, text in zip(single, numbers.aligned([values[at] for at in single]), strict=True):
        cells[at] = [text.rstrip()]
    return cells


def _folded(view: View, text: str, room: int) -> list[str]:
    lines = view.name(text, room)
    return lines if len(lines) <= 4 else [*lines[:3], lines[3][:-3] + "..."]
