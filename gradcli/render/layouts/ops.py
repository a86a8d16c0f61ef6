"""Operations as pages: their derivatives, and what they are."""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render.page import Code, Page, Paragraph, Phrase, Rich, Table, Title, Typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block
    from gradcli.render.view import View

    Operation = dict[str, Any]

COLUMNS = ("name", "aliases", "kind", "arguments", "derivative", "domain", "kinks", "doc", "latex",
           "differentiable", "instead", "group")


def pages(answer: dict[str, Any], digits: int | None = None) -> list[Page]:
    """Return one page of all operations: of those without a derivative, with what to write."""
    operations = answer.get("operations") or []
    column = "instead" if answer.get("no_derivative") else "derivative"
    return [Page(fields=((one["name"], _cell(one, column)) for one in operations),
                 records=_records(operations), blocks=_document(operations, column),
                 screen=lambda view: _screen(view, operations, column),
                 latex=[_latex(operations, column)])]


def _cell(operation: Operation, column: str) -> str:
    if column == "instead":
        return str(operation.get("instead") or "")
    formula = ", ".join(entries.derivatives(operation))
    return formula or "None" * (operation.get("differentiable") == "no")


def _grouped(operations: list[Operation]) -> list[tuple[str, list[Operation]]]:
    """Return the operations by group, in the order in which they come."""
    found: dict[str, list[Operation]] = {}
    for one in operations:
        found.setdefault(one.get("group") or "", []).append(one)
    return list(found.items()) or [("", [])]


def _records(operations: list[Operation]) -> Iterator[Sequence[str]]:
    yield COLUMNS
    for operation in operations:
        yield [_joined(operation.get(field)) for field in COLUMNS]


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(numbers.exact, value))
    return "" if value is None else str(value)


def _document(operations: list[Operation], column: str) -> Iterator[Block]:
    groups = _grouped(operations)
    for heading, rows in groups:
        if len(groups) > 1:
            yield Title(heading)
        yield Table(["name", column, "domain", "what it is"], [
            [Code(", ".join([one["name"], *(one.get("aliases") or ())])), Code(_cell(one, column)),
             one.get("domain") or "", one.get("doc") or ""] for one in rows], "llll")


def _latex(operations: list[Operation], column: str) -> Table:
    return Table(["operation", "notation", column], [
        [Typed(one["name"]), Phrase("", one.get("latex") or ""), Typed(_cell(one, column))]
        for one in operations], "lll")


# --- on a terminal, which wraps formulas and sentences --------------------------------------------


def _screen(view: View, operations: list[Operation], column: str) -> Iterator[Block]:
    if len(operations) == 1:
        yield from _alone(view, operations[0])
        return
    from gradcli.render.view import GAP, widest

    first = widest(["operation", *[line for one in operations for line in view.name(one["name"])]])
    room = view.width - first - 2 * GAP
    cells = [_cell(one, column) for one in operations]
    what = widest(["what it is", *[one.get("doc") or "" for one in operations]])
    formula = max(20, min(widest([column, *cells]), max(room // 2, room - what)))
    groups = _grouped(operations)
    for number, (heading, rows) in enumerate(groups):
        if len(groups) > 1:
            yield Title(heading, gap=number > 0)
        yield Rich(_table(view, rows, column, (first, formula, max(20, room - formula))))


def _table(view: View, operations: list[Operation], column: str, widths: Sequence[int]) -> Any:
    from rich.box import Box
    from rich.table import Table as Wrapped

    from gradcli.render.view import RULE

    rule = " -- " if not view.fancy else f" {RULE}{RULE} "
    table = Wrapped(box=Box("\n".join(["    ", "    ", rule, *["    "] * 5]) + "\n",
                            ascii=not view.fancy), show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("operation", no_wrap=True, min_width=widths[0])
    table.add_column(column, overflow="fold", max_width=widths[1])
    table.add_column("what it is", overflow="fold", max_width=widths[2])
    for one in operations:
        table.add_row(view.cell(view.name(one["name"])), view.text(_cell(one, column)),
                      view.text(one.get("doc") or ""))
    return table


def _alone(view: View, operation: Operation) -> Iterator[Block]:
    from rich.table import Table as Wrapped

    arguments = operation.get("arguments") or []
    yield Title(f"{operation['name']}({', '.join(arguments)})")
    if operation.get("doc"):
        yield Paragraph(operation["doc"])
    rows = list(zip([f"d/d{argument}" for argument in arguments], entries.derivatives(operation),
                    strict=False))
    rows += [(key, str(operation[key])) for key in (
        "kind", "domain", "kinks", "instead", "latex") if operation.get(key)]
    if operation.get("aliases"):
        rows.append(("also", ", ".join(operation["aliases"])))
    grid = Wrapped.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=max(20, view.width - 2 - max(
        map(len, ["aliases", *[f"d/d{argument}" for argument in arguments]]))))
    for key, text in rows:
        grid.add_row(view.text(key), view.text(text))
    yield Rich(grid, gap=True)
