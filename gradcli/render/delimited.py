"""CSV and TSV: a header, then one row per number, for spreadsheets and data frames.

Columns: grad `of,value,wrt,at,gradient,reason`; jac `of,wrt,jacobian`; hess `of,row,col,hessian`;
eval `of,value`; ops its fields. Arrays are in long form, a row per element, named `x[0]`. A None is
`None`; `reason` is the code of its first reason. `value` is empty for an array, which
`gradcli eval` prints. With --verify a column `check` is added, with --sparse `row_index` and
`column_index`: there the names stand alone, and an index has a number for each axis, `0 1`.

Text that a spreadsheet would run as a formula gets a leading apostrophe (CWE-1236); numbers stay
numbers.
"""

from __future__ import annotations

from gradcli.render import entries, numbers, triples
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = list[str]

INDICES = ("row_index", "column_index")

# The full-width forms are what some spreadsheets normalise before they look for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def render(answer: dict[str, Any], delimiter: str = ",") -> str:
    """The answer as a header line and rows."""
    import csv
    import io

    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(_rows(answer))
    return stream.getvalue()


def cell(text: str) -> str:
    """Text that is safe in a spreadsheet and on a terminal."""
    shown = visible(text)
    return f"'{shown}" if text.startswith(FORMULA) else shown


def _rows(answer: dict[str, Any]) -> Iterator[Row]:
    kinds = {"eval": _values, "jac": _jacobian, "hess": _hessian, "ops": _operations}
    yield from kinds.get(answer["command"], _gradient)(answer)


def _gradient(answer: dict[str, Any]) -> Iterator[Row]:
    checked = _checked(answer)
    yield ["of", "value", "wrt", "at", "gradient", "reason", *_if(checked, "check")]
    for result in answer.get("results") or ():
        of, value = cell(result["of"]), _number(result.get("value"))
        for source, index, at, gradient, check in entries.gradients(result):
            yield [of, value, cell(numbers.indexed(source["wrt"], index)),
                   "" if at is None else _number(at), _number(gradient), _reason(source),
                   *_if(checked, numbers.exact(check))]


def _jacobian(answer: dict[str, Any]) -> Iterator[Row]:
    checked = _checked(answer)
    sparse = any(map(triples.are_in, answer.get("results") or ()))
    yield ["of", "wrt", *_if(sparse, *INDICES), "jacobian", "reason", *_if(checked, "check")]
    for result in answer.get("results") or ():
        for source, row, column, value, check in entries.jacobians(result):
            if sparse:
                yield [cell(result["of"]), cell(source["wrt"]), _index(row), _index(column),
                       _number(value), _reason(source), *_if(checked, numbers.exact(check))]
                continue
            yield [cell(numbers.indexed(result["of"], row)),
                   cell(numbers.indexed(source["wrt"], column)), _number(value),
                   _reason(source), *_if(checked, numbers.exact(check))]


def _hessian(answer: dict[str, Any]) -> Iterator[Row]:
    checked = _checked(answer)
    sparse = any(map(triples.are_in, answer.get("results") or ()))
    yield ["of", "row", "col", *_if(sparse, *INDICES), "hessian", "reason", *_if(checked, "check")]
    for result in answer.get("results") or ():
        for block, row, column, value, check in entries.hessians(result):
            if sparse:
                yield [cell(result["of"]), cell(block["row"]), cell(block["col"]), _index(row),
                       _index(column), _number(value), _reason(block),
                       *_if(checked, numbers.exact(check))]
                continue
            yield [cell(result["of"]), cell(numbers.indexed(block["row"], row)),
                   cell(numbers.indexed(block["col"], column)), _number(value), _reason(block),
                   *_if(checked, numbers.exact(check))]
        for name, value in entries.eigen(result):
            yield [cell(result["of"]), name, "", *_if(sparse, "", ""), _number(value), "",
                   *_if(checked, "")]


def _values(answer: dict[str, Any]) -> Iterator[Row]:
    yield ["of", "value"]
    for result in answer.get("results") or ():
        for index, value in numbers.elements(result.get("value")):
            yield [cell(numbers.indexed(result["of"], index)), _number(value)]


def _operations(answer: dict[str, Any]) -> Iterator[Row]:
    fields = ("name", "aliases", "kind", "arguments", "derivative", "domain", "kinks", "doc",
              "latex")
    yield list(fields)
    for operation in answer.get("operations") or ():
        yield [cell(_joined(operation.get(field))) for field in fields]


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(numbers.exact, value))
    return "" if value is None else str(value)


def _number(value: Any) -> str:
    """A number exactly; text as a text cell; an array is left out."""
    if isinstance(value, list | dict):
        return ""
    return cell(value) if isinstance(value, str) else numbers.exact(value)


def _reason(item: dict[str, Any]) -> str:
    found = item.get("reasons")
    return cell(found[0]["code"]) if found else ""


def _checked(answer: dict[str, Any]) -> bool:
    return any(part.get("verify") for result in answer.get("results") or ()
               for part in (*(result.get("sources") or ()), *(result.get("blocks") or ())))


def _index(index: entries.Index) -> str:
    """Where an element stands, a number per axis."""
    return " ".join(map(str, index))


def _if(condition: bool, *texts: str) -> Row:
    return [*texts] if condition else []
