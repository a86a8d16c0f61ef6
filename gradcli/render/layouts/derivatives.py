"""Answers as tables for a terminal, by rich; the only renderer that rounds, folds and colours.

A title states target, value and point; below the table stand the reason of each None with its
place and its fix, and the notes. Numbers are never cut. Colour only means something: yellow is a
missing or unusable number, red a failed check. Text of others is never read as markup. rich is
imported inside functions only.
"""

from __future__ import annotations

from gradcli.render import entries, layout, numbers, remarks, triples
from gradcli.render.terminal import NAME, PARTIAL, UNLIMITED, View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TextIO

    from rich.text import Text

    from gradcli.render.terminal import Column, Lines

GAP = 3             # columns between columns
HEADER = 16         # a name in the head of a matrix is folded beyond this
POINT = 12          # a point of more elements is named by its shape only
MATRIX = 400        # a matrix of more elements is summarised
MISSING, WRONG = "yellow", "red"
OFF = "\x1b[0m"
BY_DIFFERENCES = " (finite differences)"


def print_tables(answer: dict[str, Any], stream: TextIO, width: int = 80, color: bool = False,
                 digits: int = 6, encoding: str = "utf-8", whole: bool = False) -> None:
    """Write the answer to `stream` as tables, rounded to `digits`, at most `width` wide.

    Wider only if a single number would not fit otherwise. Characters that `encoding` lacks are
    written as escapes, rules and symbols in ASCII then. With `whole` large arrays are not
    summarised. Nothing is read from the environment.
    """
    print_parts(tables(answer, digits, width, encoding, whole), stream, width, color)


def print_parts(parts: Iterable[Any], stream: TextIO, width: int, color: bool) -> None:
    """Renderables as text, no wider than `width` unless a single one needs more."""
    from io import StringIO

    from rich.console import Console
    from rich.measure import Measurement
    from rich.text import Text

    buffer = StringIO()
    console = Console(
        file=buffer, width=UNLIMITED, height=100, force_terminal=color, legacy_windows=False,
        color_system="standard" if color else None, highlight=False, emoji=False, markup=False,
        _environ={})
    for part in parts:
        needs = Measurement.get(console, console.options, part)
        finished = isinstance(part, Text) and part.no_wrap
        console.print(part, width=max(width, needs.maximum if finished else needs.minimum))
    stream.write("".join([_bare(line) + "\n" for line in buffer.getvalue().splitlines()]))


def _bare(line: str) -> str:
    """The line without blanks at its end, in front of where a colour ends, too."""
    kept = line.rstrip()
    while kept.endswith("m") and "\x1b[" in kept:
        text, _, code = kept.rpartition("\x1b[")
        if not code[:-1].replace(";", "").isdigit():
            break
        kept = text.rstrip()
    return kept + OFF if "\x1b[" in kept else kept


def tables(answer: dict[str, Any], digits: int = 6, width: int = 80,
           encoding: str = "utf-8", whole: bool = False) -> list[Any]:
    """The renderables that `print_tables` prints: titles, tables and remarks in order."""
    view = View(answer, digits, width, encoding, whole)
    if answer.get("command") == "ops":
        return list(_operations(view, answer.get("operations") or []))
    if answer.get("command") == "why":
        from gradcli.render.layouts import why_table

        return list(why_table.page(view, answer))
    results = answer.get("results") or []
    if answer.get("command") == "eval" and len(results) > 1:
        return list(_values(view, results))
    kinds = {"eval": _value, "jac": _jacobian, "hess": _hessian}
    show = kinds.get(answer["command"], _gradient)
    parts: list[Any] = []
    for result in results:
        parts += [view.text(""), *show(view, result)] if parts else show(view, result)
    return parts


def _style(value: Any) -> str:
    """Yellow for None, NaN and infinities, in an array too."""
    for _, item in numbers.elements(value):
        if item is None or (isinstance(item, float) and item - item != 0):
            return MISSING
    return ""


def _title(view: View, result: dict[str, Any], at: dict[str, Any], before: str = "",
           optional: bool = False) -> Text:
    """`y = 9 at x = 3, c = 2`; an optional point is left out if the line would be too long."""
    whole = f"{before}{result['of']} = {_brief(view, result.get('value'))}"
    point = ", ".join([f"{name} = {_brief(view, value, POINT)}" for name, value in at.items()
                       if value is not None])
    full = f"{whole} at {point}" if point else whole
    if view.mode == "finite":
        whole, full = whole + BY_DIFFERENCES, full + BY_DIFFERENCES
    fits = widest([view.safe(full)]) <= view.width
    return view.text(full if fits or not optional else whole, "bold")


def _brief(view: View, value: Any, limit: int = layout.SUMMARISED) -> str:
    """A scalar or a small array on one line, the shape of a larger one."""
    if view.large(value, limit):
        return f"({layout.summary(value, view.digits)[0]})"
    return layout.inline(value, view.digits)


def _sources_at(result: dict[str, Any]) -> dict[str, Any]:
    return {source["wrt"]: source.get("at") for source in result.get("sources") or ()}


def _gradient(view: View, result: dict[str, Any]) -> Iterator[Any]:
    yield _title(view, result, _sources_at(result), optional=True)
    total = layout.count(result.get("value"))
    if result.get("summed") and "sum" not in [note["code"] for note in result.get("notes") or ()]:
        yield view.text(f"gradient of the sum of its {total} elements; `gradcli jac` shows each"
                        if total > 1 else f"gradient of the sum of {result['of']}")
    yield view.text("")
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
    yield view.table(_columns(view, "source", names, numeric, after))
    yield from remarks.below(view, entries.named("grad", result))
    if any("path" in source for source in sources):
        from gradcli.render.layouts import why_table

        yield from why_table.paths(view, result)


def _point(view: View, value: Any) -> Any:
    """Where a source is; of all but a small array the shape says enough."""
    return layout.summary(value, view.digits)[0] if view.large(value, POINT) else value


def _checked(check: dict[str, Any]) -> Any:
    """The independent result; of an array only if it disagrees."""
    value = check.get("gradient", "")
    return "" if isinstance(value, list) and not entries.disagrees(check) else value


def _difference(view: View, check: dict[str, Any]) -> tuple[Lines, str]:
    """How far the independent result is off; red if the check says that it failed."""
    if check.get("difference") is None:
        return [""], ""
    return [numbers.significant(check["difference"], 2)], \
        WRONG if entries.disagrees(check) else ""


def _columns(view: View, head: str, names: list[str],
             numeric: list[tuple[str, list[Any], Lines]], after: list[Column]) -> list[Column]:
    """A column of names, columns of values (head, values, marks) and what stands behind them.

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
    """Numbers aligned at the decimal point, words and arrays as they are; marks behind."""
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


def _value(view: View, result: dict[str, Any]) -> Iterator[Any]:
    head = f"{view.safe(result['of'])} = "
    lines = view.lines(result.get("value"), max(20, view.width - len(head)))
    yield view.cell([(head if at == 0 else " " * len(head)) + line
                     for at, line in enumerate(lines)], _style(result.get("value")))
    yield from remarks.below(view, entries.named("eval", result))


def _values(view: View, results: list[dict[str, Any]]) -> Iterator[Any]:
    yield view.table(_columns(view, "name", [result["of"] for result in results],
                              [("value", [result.get("value") for result in results], [])], []))
    yield from remarks.below(view, [one for result in results
                                    for one in entries.named("eval", result)])


def _jacobian(view: View, result: dict[str, Any]) -> Iterator[Any]:
    sources = result.get("sources") or []
    yield _title(view, result, _sources_at(result), "Jacobian of ")
    yield view.text("")
    named = entries.named("jac", result)
    noted = {(result["of"], source["wrt"]) for source in sources if source.get("notes")}
    if triples.are_in(result):
        yield from _triples(view, named, result, noted)
    else:
        yield from _matrix(view, named, lambda: entries.jacobian_matrix(result), noted,
                           (PARTIAL[0] if view.fancy else "d") + result["of"])
    yield from _checks(view, named)
    yield from remarks.below(view, named)


def _checks(view: View, named: entries.Named) -> Iterator[Any]:
    for name, _, source in named:
        check = source.get("verify") or {}
        if check.get("difference") is not None:
            (text,), style = _difference(view, check)
            yield view.text(f"check ({check.get('method', 'finite')}): relative difference of"
                            f" {name} {text}", style)


def _hessian(view: View, result: dict[str, Any]) -> Iterator[Any]:
    blocks = result.get("blocks") or []
    yield _title(view, result, result.get("at") or {}, "Hessian of ")
    yield view.text("")
    named = entries.named("hess", result)
    noted = {(block["row"], block["col"]) for block in blocks if block.get("notes")}
    if triples.are_in(result):
        yield from _triples(view, named, result, noted)
    else:
        yield from _matrix(view, named, lambda: entries.hessian_matrix(result), noted,
                           (PARTIAL if view.fancy else "d2") + result["of"])
    eigenvalues = result.get("eigenvalues")
    if eigenvalues is not None or result.get("definiteness") is not None:
        yield view.text("")
    if eigenvalues is not None:
        lines = view.lines(eigenvalues, view.width - 14)
        yield view.cell([f"{'eigenvalues' if at == 0 else '':14}{line}"
                         for at, line in enumerate(lines)])
    if result.get("definiteness") is not None:
        yield view.text(f"{'definiteness':14}{result['definiteness']}")
    yield from _checks(view, named)
    yield from remarks.below(view, named)


def _matrix(view: View, named: entries.Named, build: Callable[[], entries.Matrix],
            noted: set[tuple[str, str]], corner: str) -> Iterator[Any]:
    """Names on both sides, in groups of as many columns as fit; a summary if it is too large."""
    named = [one for one in named if one[0]]
    if not view.whole and sum(layout.count(value) for _, value, _ in named) > MATRIX:
        yield _summary(view, named)
        return
    rows, columns, values = build()
    left = [view.name(numbers.indexed(*label)) for label in rows]
    side = max([widest(view.name(corner)), *map(widest, left)])
    found: list[Column] = []
    for at, label in enumerate(columns):
        column = [line[at] for line in values]
        texts = _marked(view, rows, label, column, noted)
        head = view.name(numbers.indexed(*label), max(HEADER, widest(texts)))
        width = widest([*head, *texts])
        found.append(([" " * (width - widest([line])) + line for line in head], [
            ([text.rjust(width)], _style(value))
            for text, value in zip(texts, column, strict=True)]))
    widths = [widest(head) for head, _ in found]
    for number, group in enumerate(groups(widths, view.width - side)):
        if number:
            yield view.text("")
        yield view.table([(view.name(corner), [(name, "") for name in left]),
                          *[found[at] for at in group]])


def _summary(view: View, named: entries.Named) -> Any:
    """A table of blocks that are too large to be shown."""
    view.summarised = True
    return view.table([
        (["block"], [(view.name(name), "") for name, _, _ in named]),
        (["summary"], [(_summarised(view, value, item), _style(value))
                       for _, value, item in named])])


def _summarised(view: View, value: Any, item: dict[str, Any]) -> Lines:
    if not isinstance(value, list):
        return [numbers.significant(value)]
    lines = layout.summary(value, view.digits)
    if "sparse" in item:
        shape = " x ".join(map(str, item["sparse"]["shape"]))
        lines[0] = f"{len(value):,} of a {shape} array"
    return lines


def _triples(view: View, named: entries.Named, result: dict[str, Any],
             noted: set[tuple[str, str]]) -> Iterator[Any]:
    """A line for each element that can differ from 0."""
    found = list(triples.of(result))
    if not view.whole and len(found) > MATRIX:
        yield _summary(view, [one for one in named if one[0]])
        return
    values = [value for _, _, value in found]
    marks = [" *" if (row[0], column[0]) in noted and (not value or value - value != 0) else ""
             for row, column, value in found]
    texts = numbers.aligned([numbers.significant(value, view.digits) for value in values])
    yield view.table([
        (["row"], [(view.name(numbers.indexed(*row)), "") for row, _, _ in found]),
        (["column"], [(view.name(numbers.indexed(*column)), "") for _, column, _ in found]),
        (["value"], [([(text.rstrip() if mark else text) + mark], _style(value))
                     for text, mark, value in zip(texts, marks, values, strict=True)])])


def _marked(view: View, rows: list[entries.Label], column: entries.Label, values: list[Any],
            noted: set[tuple[str, str]]) -> Lines:
    """A column's texts, aligned, with a mark at zeros and non-numbers that a note explains."""
    marks = [" *" if (row, column[0]) in noted and (not value or value - value != 0) else ""
             for (row, _), value in zip(rows, values, strict=True)]
    texts = numbers.aligned([numbers.significant(value, view.digits) for value in values])
    marked = [text.rstrip() + mark if mark else text
              for text, mark in zip(texts, marks, strict=True)]
    width = max(map(len, marked), default=0)
    return [text.ljust(width) for text in marked]


def groups(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Consecutive columns that fit into `room` together, at least one at a time."""
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


def _operations(view: View, operations: list[dict[str, Any]]) -> Iterator[Any]:
    if len(operations) == 1:
        yield from _operation(view, operations[0])
        return
    names = [view.name(operation["name"]) for operation in operations]
    formulas = [", ".join(entries.derivatives(operation)) for operation in operations]
    room = view.width - max(map(widest, [["operation"], *names])) - 2 * GAP
    formula = max(20, min(widest(["derivative", *formulas]), room // 2))
    table = view.table([(["operation"], [])])
    table.add_column("derivative", overflow="fold", max_width=formula)
    table.add_column("what it is", overflow="fold", max_width=max(20, room - formula))
    for operation, name, text in zip(operations, names, formulas, strict=True):
        table.add_row(view.cell(name), view.text(text), view.text(operation.get("doc") or ""))
    yield table


def _operation(view: View, operation: dict[str, Any]) -> Iterator[Any]:
    from rich.table import Table

    arguments = operation.get("arguments") or []
    yield view.text(f"{operation['name']}({', '.join(arguments)})", "bold")
    if operation.get("doc"):
        yield view.text(operation["doc"])
    yield view.text("")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=max(20, view.width - 2 - max(
        map(len, ["aliases", *[f"d/d{argument}" for argument in arguments]]))))
    for argument, text in zip(arguments, entries.derivatives(operation), strict=False):
        grid.add_row(view.text(f"d/d{argument}"), view.text(text))
    for key in ("kind", "domain", "kinks", "latex"):
        if operation.get(key):
            grid.add_row(view.text(key), view.text(str(operation[key])))
    if operation.get("aliases"):
        grid.add_row(view.text("also"), view.text(", ".join(operation["aliases"])))
    yield grid
