"""Derivatives on a terminal, which rounds, folds and colours.

A title states target, value and point; below the table stand the reason of each None with its
place and its fix, and the notes. Numbers are never cut. Colour only means something: yellow is a
missing or unusable number, red a failed check.
"""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render.page import (
    MISSING,
    UNLIMITED,
    WRONG,
    Causes,
    Grid,
    Page,
    Paragraph,
    Phrase,
    Preformatted,
    Remark,
    Table,
    Title,
)
from gradcli.render.terminal import groups
from gradcli.render.view import GAP, NAME, PARTIAL, View, count, summary, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block
    from gradcli.render.view import Column, Lines

    Cells = Sequence[str]


HEADER = 16         # a name in the head of a matrix is folded beyond this
POINT = 12          # a point of more elements is named by its shape only
MATRIX = 400        # a matrix of more elements is summarised
BY_DIFFERENCES = " (finite differences)"


def screen(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    """Yield the blocks of all results."""
    results = answer.get("results") or []
    if answer["command"] == "eval" and len(results) > 1:
        yield from _values(view, results, answer)
        return
    show = {"eval": _value, "jac": _jacobian, "hess": _hessian}.get(answer["command"], _gradient)
    about = {key: answer.get(key) for key in ("mode", "file", "lines")}
    for at, result in enumerate(results):
        yield from show(view, {**result, **about}, at > 0)


def _style(value: Any) -> str:
    """Return yellow for None, NaN and infinities, in an array too; else no style."""
    for _, item in numbers.elements(value):
        if item is None or (isinstance(item, float) and item - item != 0):
            return MISSING
    return ""


def _title(view: View, result: dict[str, Any], at: dict[str, Any], before: str = "",
           optional: bool = False, gap: bool = False) -> Title:
    """Return the title `y = 9 at x = 3, c = 2`. optional: leave out the point if the line would be
    too long.
    """
    whole = f"{before}{result['of']} = {view.brief(result.get('value'))}"
    point = ", ".join([f"{name} = {view.brief(value, POINT)}" for name, value in at.items()
                       if value is not None])
    full = f"{whole} at {point}" if point else whole
    if result.get("mode") == "finite":
        whole, full = whole + BY_DIFFERENCES, full + BY_DIFFERENCES
    fits = widest([view.safe(full)]) <= view.width
    return Title(full if fits or not optional else whole, gap=gap)


def _sources_at(result: dict[str, Any]) -> dict[str, Any]:
    return {source["wrt"]: source.get("at") for source in result.get("sources") or ()}


def _gradient(view: View, result: dict[str, Any], gap: bool) -> Iterator[Block]:
    yield _title(view, result, _sources_at(result), optional=True, gap=gap)
    total = count(result.get("value"))
    if result.get("summed") and "sum" not in [note["code"] for note in result.get("notes") or ()]:
        yield Paragraph(f"gradient of the sum of its {total} elements; `gradcli jac` shows each"
                        if total > 1 else f"gradient of the sum of {result['of']}")
    sources = result.get("sources") or []
    checks = [source.get("verify") or {} for source in sources]
    numeric = [("at", [_point(view, source.get("at", "")) for source in sources], []),
               ("gradient", [source.get("gradient") for source in sources],
                [" *" if source.get("notes") else "" for source in sources])]
    after: list[Column] = []
    if any(checks):
        method = next(filter(None, checks)).get("method", "finite")
        numeric.append((method, [_checked(check) for check in checks], []))
        after.append((["difference"], [_difference(view, check) for check in checks]))
    names = [source["wrt"] for source in sources]
    yield Grid(_columns(view, "source", names, numeric, after), gap=True)
    yield Causes(entries.named("grad", result), result)
    if any("path" in source for source in sources):
        from gradcli.render.layouts import paths

        yield from paths.on_screen(view, paths.paths(result, paths.form_of(view, {})))


def _point(view: View, value: Any) -> Any:
    """Return the value of a source to show, or the shape alone of an array above POINT elements."""
    return summary(value, view.digits)[0] if view.large(value, POINT) else value


def _checked(check: dict[str, Any]) -> Any:
    """Return the independent result to show; of an array only if it disagrees."""
    value = check.get("gradient", "")
    return "" if isinstance(value, list) and not entries.disagrees(check) else value


def _difference(view: View, check: dict[str, Any]) -> tuple[Lines, str]:
    """Return the difference from the independent result as a cell; red if that check failed."""
    if check.get("difference") is None:
        return [""], ""
    return [numbers.significant(check["difference"], 2)], \
        WRONG if entries.disagrees(check) else ""


def _columns(view: View, head: str, names: list[str],
             numeric: list[tuple[str, list[Any], Lines]], after: list[Column]) -> list[Column]:
    """Return a column of names, columns of values (head, values, marks) and the columns `after`
    them.

    Each column of values gets what it needs at least; what is left goes to those that need little
    more first. Long names are folded more tightly before a table grows too wide.
    """
    wide = [[_widest(view, value, UNLIMITED) for value in values] for _, values, _ in numeric]
    slim = [[_widest(view, value, 1) for value in values] for _, values, _ in numeric]
    natural, least = ([max([len(head), *needs]) + (2 if any(marks) else 0)
                       for needs, (head, _, marks) in zip(all_needs, numeric, strict=True)]
                      for all_needs in (wide, slim))
    fixed = sum(least) + GAP * len(numeric) + sum([GAP + len(column[0][0]) for column in after])
    limit = min(NAME, max(12, view.width - fixed - sum(natural) + sum(least)))
    labels = [view.name(name, max(8, min(limit, view.width - fixed))) for name in names]
    room = view.width - fixed - max(map(widest, [*labels, [head]]))
    widths = list(least)
    order = sorted(range(len(numeric)), key=lambda at: natural[at] - least[at])
    for done, at in enumerate(order):
        more = min(natural[at] - least[at], max(0, room // (len(order) - done)))
        widths[at] += more
        room -= more
    found: list[Column] = [([head], [(label, "") for label in labels])]
    for (title, values, marks), width in zip(numeric, widths, strict=True):
        texts = _cells_of(view, values, width, marks or [""] * len(values))
        found.append(([title], list(zip(texts, map(_style, values), strict=True))))
    return found + after


def _widest(view: View, value: Any, width: int) -> int:
    return max(map(len, view.lines(value, width)))


def _cells_of(view: View, values: list[Any], width: int, marks: Lines) -> list[Lines]:
    """Return the cells of values: numbers aligned at the decimal point, words and arrays as they
    are; marks behind them.
    """
    single = [at for at, value in enumerate(values)
              if not isinstance(value, str | bool | list | dict)]
    texts = numbers.aligned([numbers.significant(values[at], view.digits) for at in single])
    found = [[] if at in single else view.lines(value, width - len(marks[at]))
             for at, value in enumerate(values)]
    for at, text in zip(single, texts, strict=True):
        found[at] = [text.rstrip()]
    for cell, mark in zip(found, marks, strict=True):
        cell[-1] += mark
    return found


def _value(view: View, result: dict[str, Any], gap: bool) -> Iterator[Block]:
    head = f"{view.safe(result['of'])} = "
    lines = view.lines(result.get("value"), max(20, view.width - len(head)))
    yield Preformatted([(head if at == 0 else " " * len(head)) + line
                   for at, line in enumerate(lines)], _style(result.get("value")), gap)
    yield Causes(entries.named("eval", result), result)


def _values(view: View, results: list[dict[str, Any]], answer: dict[str, Any]
            ) -> Iterator[Block]:
    yield Grid(_columns(view, "name", [result["of"] for result in results],
                        [("value", [result.get("value") for result in results], [])], []))
    yield Causes([one for result in results for one in entries.named("eval", result)], answer)


def _jacobian(view: View, result: dict[str, Any], gap: bool) -> Iterator[Block]:
    yield _title(view, result, _sources_at(result), "Jacobian of ", gap=gap)
    yield from _matrix(view, "jac", result, PARTIAL[0] if view.fancy else "d")


def _checks(view: View, named: entries.Named) -> Iterator[Block]:
    for name, _, source in named:
        check = source.get("verify") or {}
        if check.get("difference") is not None:
            (text,), style = _difference(view, check)
            yield Remark(f"check ({check.get('method', 'finite')}): relative difference of {name}"
                         f" {text}", style)


def _hessian(view: View, result: dict[str, Any], gap: bool) -> Iterator[Block]:
    yield _title(view, result, result.get("at") or {}, "Hessian of ", gap=gap)
    yield from _matrix(view, "hess", result, PARTIAL if view.fancy else "d2")


def _matrix(view: View, command: str, result: dict[str, Any], sign: str) -> Iterator[Block]:
    """Yield all derivatives of a result as one matrix, and what is to be said of them; if they are
    too large, a summary.
    """
    named = entries.named(command, result)
    parts = [one for one in named if one[0]]
    sparse = entries.has_triples(result)
    size = len(list(entries.triples(result))) if sparse else sum(
        [count(value) for _, value, _ in parts])
    if not view.whole and size > MATRIX:
        yield _summary(view, parts)
    else:
        noted = {entries.pair(result, part) for _, _, part in parts if part.get("notes")}
        yield from (_triples(view, result, noted) if sparse else
                    _grids(view, result, noted, sign + result["of"]))
    eigenvalues = result.get("eigenvalues")
    if eigenvalues is not None:
        lines = view.lines(eigenvalues, view.width - 14)
        yield Preformatted([f"{'eigenvalues' if at == 0 else '':14}{line}"
                            for at, line in enumerate(lines)], gap=True)
    if result.get("definiteness") is not None:
        yield Paragraph(f"{'definiteness':14}{result['definiteness']}", gap=eigenvalues is None)
    yield from _checks(view, named)
    yield Causes(named, result)


def _grids(view: View, result: dict[str, Any], noted: set[tuple[str, str]], corner: str
           ) -> Iterator[Grid]:
    """Yield a matrix with names on both sides, in groups of as many columns as fit."""
    rows, columns, values = entries.matrix(result)
    left = [view.name(numbers.indexed(*label)) for label in rows]
    side = max([widest(view.name(corner)), *map(widest, left)])
    found: list[Column] = []
    for at, label in enumerate(columns):
        column = [line[at] for line in values]
        texts = _marked(view, [((row, label[0]) in noted, value)
                               for (row, _), value in zip(rows, column, strict=True)])
        head = view.name(numbers.indexed(*label), max(HEADER, widest(texts)))
        width = widest([*head, *texts])
        found.append(([" " * (width - widest([line])) + line for line in head], [
            ([text.rjust(width)], _style(value))
            for text, value in zip(texts, column, strict=True)]))
    widths = [widest(head) for head, _ in found]
    for group in groups(widths, view.width - side):
        yield Grid([(view.name(corner), [(name, "") for name in left]),
                    *[found[at] for at in group]], gap=True)


def _summary(view: View, named: entries.Named) -> Grid:
    """Return a table of the shapes of blocks that are too large to be shown."""
    view.summarised = True
    return Grid([
        (["block"], [(view.name(name), "") for name, _, _ in named]),
        (["summary"], [(_summarised(view, value, item), _style(value))
                       for _, value, item in named])], gap=True)


def _summarised(view: View, value: Any, item: dict[str, Any]) -> Lines:
    if not isinstance(value, list):
        return [numbers.significant(value)]
    lines = summary(value, view.digits)
    if "sparse" in item:
        shape = " x ".join(map(str, item["sparse"]["shape"]))
        lines[0] = f"{len(value):,} of a {shape} array"
    return lines


def _triples(view: View, result: dict[str, Any], noted: set[tuple[str, str]]) -> Iterator[Grid]:
    """Yield a table with a line for each element that can differ from 0."""
    found = list(entries.triples(result))
    texts = _marked(view, [((row[0], column[0]) in noted, value) for row, column, value in found])
    yield Grid([
        (["row"], [(view.name(numbers.indexed(*row)), "") for row, _, _ in found]),
        (["column"], [(view.name(numbers.indexed(*column)), "") for _, column, _ in found]),
        (["value"], [([text], _style(value)) for text, (_, _, value) in zip(
            texts, found, strict=True)])], gap=True)


def _marked(view: View, cells: list[tuple[bool, Any]]) -> Lines:
    """Return the texts of values, aligned, with a mark at zeros and non-numbers that a note
    explains. cells: whether the derivative has notes, and the value.
    """
    texts = numbers.aligned([numbers.significant(value, view.digits) for _, value in cells])
    marked = [f"{text.rstrip()} *" if noted and (not value or value - value != 0) else text
              for text, (noted, value) in zip(texts, cells, strict=True)]
    width = max(map(len, marked), default=0)
    return [text.ljust(width) for text in marked]


def points_page(header: Cells, first: Sequence[Cells], last: Sequence[Cells], between: int) -> Page:
    """Return the page of rows of cells; between: how many were left out before the last ones."""
    def screen(view: View) -> Iterator[Block]:
        rows = [*first, *last]
        columns = []
        for k in range(len(header)):
            cells = [row[k] for row in rows]
            shown = [_rounded(cell, view.digits) for cell in cells]
            if any(map(_is_number, cells)):
                shown = numbers.aligned(shown)
            texts = [
                Phrase(text, style=MISSING if cell in ("None", "nan", "inf", "-inf", "") else "")
                for cell, text in zip(cells, shown, strict=True)]
            columns.append([*texts[:len(first)], *["..."] * bool(between), *texts[len(first):]])
        yield Table(header, zip(*columns, strict=True))
        if between:
            yield Remark(f"{between + len(rows):,} rows, the first {len(first)} and the last"
                         f" {len(last)} shown")

    return Page(screen=screen)


def _rounded(cell: str, digits: int) -> str:
    """Return a cell that is a number rounded for people; any other as it is."""
    return numbers.significant(float(cell), digits) if _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
