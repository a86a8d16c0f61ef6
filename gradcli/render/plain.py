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


def write(pages: Iterable[Page]) -> str:
    """Return all lines of pages."""
    return lines([row for page in pages for row in page.fields])


def lines(rows: Iterable[Sequence[str]]) -> str:
    """Return a line for each row of names and values."""
    return "".join(["\t".join(map(numbers.visible, row)) + "\n" for row in rows])


def fields(answer: dict[str, Any]) -> Iterator[Sequence[str]]:
    """Yield names and numbers of values and derivatives."""
    command = answer["command"]
    for result in answer.get("results") or ():
        if command == "eval":
            for index, value in numbers.elements(result.get("value")):
                yield numbers.indexed(result["of"], index), numbers.exact(value)
            continue
        for part, row, column, value, check in entries.elements(command, result):
            checked = [numbers.exact(check)] if part.get("verify") else []
            yield entries.name(result, part, row, column), numbers.exact(value), *checked
        for name, value in entries.eigen(result):
            yield name, numbers.exact(value)
