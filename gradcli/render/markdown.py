"""Markdown: a heading line per result and GitHub's pipe tables, numbers in full.

Names are code spans; text of others cannot break a table or start markup.
"""

from __future__ import annotations

from gradcli.render import entries, numbers, triples
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

LEFT, RIGHT = ":--", "--:"


def render(answer: dict[str, Any]) -> str:
    """The whole answer; parts are separated by blank lines."""
    if answer.get("command") == "ops":
        parts = [_operations(answer)]
    else:
        parts = [part for result in answer.get("results") or ()
                 for part in _result(answer["command"], result)]
    return "\n".join([part for part in parts if part])


def code(text: str) -> str:
    """A code span, safe in a table cell."""
    shown = visible(text).replace("|", "\\|")
    fence = "`" if "`" not in shown else "``"
    space = " " if "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}" if shown else ""


def prose(text: str) -> str:
    """A sentence; what stands in backquotes is code, all else is free of markup."""
    pieces = visible(text).split("`")
    if len(pieces) % 2 == 0:
        return _escaped("`".join(pieces))
    return "".join([code(piece) if at % 2 else _escaped(piece) for at, piece in enumerate(pieces)])


def _escaped(text: str) -> str:
    for character in "\\`*_[]|<>":
        text = text.replace(character, "\\" + character)
    return text


def table(header: Sequence[str], sides: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A pipe table of finished cells."""
    lines = [header, sides, *rows]
    return "".join([f"| {' | '.join(line)} |\n" for line in lines])


def _result(command: str, result: dict[str, Any]) -> Iterator[str]:
    yield _title(result)
    if command == "eval":
        value = result.get("value")
        if isinstance(value, list | dict):
            yield table(["element", "value"], [LEFT, RIGHT], [
                [code(numbers.indexed(result["of"], index)), number(item)]
                for index, item in numbers.elements(value)])
    elif command == "jac":
        yield _jacobian(result)
    elif command == "hess":
        yield _hessian(result)
    else:
        yield _gradient(result)
    yield _remarks(entries.named(command, result))


def _title(result: dict[str, Any]) -> str:
    """`y` = 9 at `x` = 3; arrays are left out of the point."""
    value = result.get("value")
    point = result.get("at") or {
        source["wrt"]: source.get("at") for source in result.get("sources") or ()}
    at = ", ".join([f"{code(name)} = {number(item)}" for name, item in point.items()
                    if item is not None and not isinstance(item, list)])
    if isinstance(value, list | dict):
        axes = result.get("shape")
        what = f"is an array of shape {' x '.join(map(str, axes))}" if axes else "has parts"
    else:
        what = f"= {number(value)}"
    return f"{code(result['of'])} {what}{f' at {at}' if at else ''}\n"


def number(value: Any) -> str:
    """A number in full; a string as code."""
    return code(value) if isinstance(value, str) else numbers.exact(value)


def _gradient(result: dict[str, Any]) -> str:
    checked = any(source.get("verify") for source in result.get("sources") or ())
    rows = []
    for source, index, at, value, check in entries.gradients(result):
        place = "" if at is None or isinstance(at, list) else number(at)
        row = [code(numbers.indexed(source["wrt"], index)), place, number(value)]
        rows.append([*row, number(check)] if checked else row)
    header = ["source", "at", "gradient", *(["check"] if checked else [])]
    return table(header, [LEFT, *[RIGHT] * (len(header) - 1)], rows)


def _jacobian(result: dict[str, Any]) -> str:
    return _triples(result) or _matrix(entries.jacobian_matrix(result))


def _hessian(result: dict[str, Any]) -> str:
    lines = [f"- {name}: {prose(numbers.exact(value))}\n"
             for name, value in entries.eigen(result)]
    matrix = _triples(result) or _matrix(entries.hessian_matrix(result))
    return matrix + ("\n" + "".join(lines) if lines else "")


def _matrix(matrix: entries.Matrix) -> str:
    """A table with names on both sides."""
    rows, columns, values = matrix
    return table(
        ["", *[code(numbers.indexed(*label)) for label in columns]],
        [LEFT, *[RIGHT] * len(columns)],
        [[code(numbers.indexed(*label)), *map(number, line)]
         for label, line in zip(rows, values, strict=True)])


def _triples(result: dict[str, Any]) -> str:
    """A line for each element that can differ from 0; nothing if the whole stands there."""
    if not triples.are_in(result):
        return ""
    return table(["row", "column", "value"], [LEFT, LEFT, RIGHT], [
        [code(numbers.indexed(*row)), code(numbers.indexed(*column)), number(value)]
        for row, column, value in triples.of(result)])


def _remarks(items: entries.Named) -> str:
    lines = []
    for names, value, remark, _ in [*entries.reasons(items), *entries.notes(items)]:
        who = code(entries.listed(names)) + (" is None" if value is None else "")
        fix = f"; fix: {code(remark['fix'])}" if remark.get("fix") else ""
        lines.append(f"- {f'{who}: ' if who else ''}{prose(remark['message'])}"
                     f"{entries.line(remark)}{fix}\n")
    return "".join(lines)


def _operations(answer: dict[str, Any]) -> str:
    return table(["name", "derivative", "domain", "what it is"], [LEFT] * 4, [
        [code(", ".join([operation["name"], *(operation.get("aliases") or ())])),
         code(", ".join(entries.derivatives(operation))),
         prose(operation.get("domain") or ""), prose(operation.get("doc") or "")]
        for operation in answer.get("operations") or ()])
