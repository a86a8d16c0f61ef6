"""Answers of calculus as CSV and TSV: one table, with a row for each field of the JSON.

Columns: `of`, the target; `quantity`, the field, with a path where it has parts (`at.x`, `curl[0]`,
`second_order.mean`); `value`. A list of objects, such as the iterates of Newton's method, has a row
for each under the name of the list, and their fields are columns of their own. Formulas are
quantities, too. A null is an empty cell.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.delimited import cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.sheet import Sheet

    Row = dict[str, Any]

# What has places of its own: the variables are those of `at`, notes go where messages go.
ELSEWHERE = ("of", "variables", "notes", "sources")


def render(answer: dict[str, Any], sheets: Sequence[Sheet], delimiter: str) -> str:
    """The answer as a header line and rows; the formulas are those of its sheets."""
    import csv
    import io

    rows = [row for result, sheet in zip(answer["results"], sheets, strict=True)
            for row in _rows(result, sheet)]
    names = {"of": 0, "quantity": 1, "value": 2}
    for row in rows:
        for name in row:
            names.setdefault(name, len(names))
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(map(cell, names))
    writer.writerows([[_cell(row.get(name)) for name in names] for row in rows])
    return stream.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else cell(value) if isinstance(value, str) else numbers.exact(value)


def _rows(result: dict[str, Any], sheet: Sheet) -> Iterator[Row]:
    of = result["of"]
    for key, value in numbers.unsigned(result).items():
        if key in ELSEWHERE:
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                if "powers" in item:    # those that are 0 are not in the JSON
                    item["powers"] = {**dict.fromkeys(result["at"], 0), **item["powers"]}
                yield {"of": of, "quantity": key, **{
                    f"{key}.of" if name == "of" else name: one
                    for name, one in _flat(item).items()}}
            continue
        for path, one in _paths(key, value):
            yield {"of": of, "quantity": path, "value": one}
    for name, text, _ in sheet.formulas:
        yield {"of": of, "quantity": name, "value": text}
    for source in result.get("sources") or ():
        yield from _compared(of, source)


def _compared(of: str, source: dict[str, Any]) -> Iterator[Row]:
    """What `verify` says of one source: its place, and a row for each number that was compared."""
    from gradcli.render.verify import name_of

    for path, one in _paths(f"at.{source['wrt']}", source["at"]):
        yield {"of": of, "quantity": path, "value": one}
    for k, element in enumerate(source["elements"]):
        yield {"of": of, "quantity": name_of(of, source["wrt"], element, k), **{
            key: " ".join(map(str, value)) if isinstance(value, list) else value
            for key, value in element.items()}}
    if not source["elements"]:
        yield {"of": of, "quantity": numbers.first_derivative(of, source["wrt"]),
               "verdict": source["verdict"]}


def _flat(item: dict[str, Any]) -> Row:
    return {path: one for key, value in item.items() for path, one in _paths(key, value)}


def _paths(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(`at.x`, number), (`curl[0]`, number): a dot before what has a name, brackets around places.
    """
    for index, one in numbers.elements(value):
        path, places = key, []
        for part in index:
            if isinstance(part, int):
                places.append(part)
            else:
                path, places = f"{numbers.indexed(path, tuple(places))}.{part}", []
        yield numbers.indexed(path, tuple(places)), one
