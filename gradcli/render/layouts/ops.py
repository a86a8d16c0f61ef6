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

COLUMNS = ("name", "aliases", "kind", "arguments", "derivative", "domain", "kinks", "doc", "latex")


def pages(answer: dict[str, Any], digits: int | None = None) -> list[Page]:
    """Return one page of all operations."""
    operations = answer.get("operations") or []
    return [Page(fields=((one["name"], _formula(one)) for one in operations),
                 records=_records(operations), blocks=map(_document, [operations]),
                 screen=lambda view: _screen(view, operations),
                 latex=map(_latex, [operations]))]


def _formula(operation: Operation) -> str:
    return ", ".join(entries.derivatives(operation))


def _records(operations: list[Operation]) -> Iterator[Sequence[str]]:
    yield COLUMNS
    for operation in operations:
        yield [_joined(operation.get(field)) for field in COLUMNS]


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(numbers.exact, value))
    return "" if value is None else str(value)


def _document(operations: list[Operation]) -> Table:
    return Table(["name", "derivative", "domain", "what it is"], [
        [Code(", ".join([one["name"], *(one.get("aliases") or ())])), Code(_formula(one)),
         one.get("domain") or "", one.get("doc") or ""] for one in operations], "llll")


def _latex(operations: list[Operation]) -> Table:
    return Table(["operation", "notation", "derivative"], [
        [Typed(one["name"]), Phrase("", one.get("latex") or ""), Typed(_formula(one))]
        for one in operations], "lll")


# --- on a terminal, which wraps formulas and sentences --------------------------------------------


def _screen(view: View, operations: list[Operation]) -> Iterator[Block]:
    if len(operations) == 1:
        yield from _alone(view, operations[0])
    else:
        yield Rich(_table(view, operations))


def _table(view: View, operations: list[Operation]) -> Any:
    from rich.box import Box
    from rich.table import Table as Wrapped

    from gradcli.render.view import GAP, RULE, widest

    names = [view.name(one["name"]) for one in operations]
    first = max(map(widest, [["operation"], *names]))
    room = view.width - first - 2 * GAP
    formula = max(20, min(widest(["derivative", *map(_formula, operations)]), room // 2))
    rule = " -- " if not view.fancy else f" {RULE}{RULE} "
    table = Wrapped(box=Box("\n".join(["    ", "    ", rule, *["    "] * 5]) + "\n",
                            ascii=not view.fancy), show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("operation", no_wrap=True, min_width=first)
    table.add_column("derivative", overflow="fold", max_width=formula)
    table.add_column("what it is", overflow="fold", max_width=max(20, room - formula))
    for one, lines in zip(operations, names, strict=True):
        table.add_row(view.cell(lines), view.text(_formula(one)), view.text(one.get("doc") or ""))
    return table


def _alone(view: View, operation: Operation) -> Iterator[Block]:
    from rich.table import Table as Wrapped

    arguments = operation.get("arguments") or []
    yield Title(f"{operation['name']}({', '.join(arguments)})")
    if operation.get("doc"):
        yield Paragraph(operation["doc"])
    rows = list(zip([f"d/d{argument}" for argument in arguments], entries.derivatives(operation),
                    strict=False))
    rows += [(key, str(operation[key])) for key in ("kind", "domain", "kinks", "latex")
             if operation.get(key)]
    if operation.get("aliases"):
        rows.append(("also", ", ".join(operation["aliases"])))
    grid = Wrapped.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=max(20, view.width - 2 - max(
        map(len, ["aliases", *[f"d/d{argument}" for argument in arguments]]))))
    for key, text in rows:
        grid.add_row(view.text(key), view.text(text))
    yield Rich(grid, gap=True)
