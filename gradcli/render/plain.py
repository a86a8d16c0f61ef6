"""One `name<TAB>value` per line, for shells: `cut -f2`, `awk`, `grep`.

Derivatives print no values and arrays one line per element. With --verify a third column holds the
independent result.
"""

from __future__ import annotations

from gradcli.render import entries, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Page

    Row = tuple[str, ...]


def write(pages: Iterable[Page]) -> str:
    """Return all lines of pages."""
    return lines([row for page in pages for row in page.fields])


def lines(rows: Iterable[Sequence[str]]) -> str:
    """Return a line for each row of names and values."""
    return "".join(["\t".join(map(numbers.visible, row)) + "\n" for row in rows])


def fields(answer: dict[str, Any]) -> Iterator[Row]:
    """Yield names and numbers of values and derivatives."""
    rows = {"eval": _values, "jac": _jacobian, "hess": _hessian}.get(answer["command"], _gradient)
    for result in answer.get("results") or ():
        yield from rows(result)


def _values(result: dict[str, Any]) -> Iterator[Row]:
    for index, value in numbers.elements(result.get("value")):
        yield numbers.indexed(result["of"], index), numbers.exact(value)


def _gradient(result: dict[str, Any]) -> Iterator[Row]:
    for source, index, _, value, check in entries.gradients(result):
        name = numbers.first_derivative(result["of"], source["wrt"], (), index)
        yield (name, numbers.exact(value), *_check(source, check))


def _jacobian(result: dict[str, Any]) -> Iterator[Row]:
    for source, row, column, value, check in entries.jacobians(result):
        name = numbers.first_derivative(result["of"], source["wrt"], row, column)
        yield (name, numbers.exact(value), *_check(source, check))


def _check(source: dict[str, Any], value: Any) -> Row:
    return (numbers.exact(value),) if source.get("verify") else ()


def _hessian(result: dict[str, Any]) -> Iterator[Row]:
    for block, row, column, value, check in entries.hessians(result):
        name = numbers.second_derivative(result["of"], block["row"], block["col"], row, column)
        yield (name, numbers.exact(value), *_check(block, check))
    for name, value in entries.eigen(result):
        yield name, numbers.exact(value)
