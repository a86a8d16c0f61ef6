"""The steps of a derivative as tables for a terminal."""

from __future__ import annotations

from gradcli.render import numbers, steps
from gradcli.render.remarks import below
from gradcli.render.view import View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.steps import Row

GAP = 3             # columns between columns
LEAST = 12          # columns for a formula, however narrow the terminal
BREAKS = " ,*/+-)"  # where a formula is broken, behind the character


def tables(answer: dict[str, Any], digits: int, width: int, encoding: str, whole: bool
           ) -> list[Any]:
    """Renderables for `gradcli.render.table.print_parts`."""
    view = View(answer, digits, width, encoding, whole)
    parts: list[Any] = []
    for result in answer["results"]:
        if parts:
            parts.append(view.text(""))
        parts += _result(view, answer, result)
    return parts


def _result(view: View, answer: dict[str, Any], result: dict[str, Any]) -> Iterator[Any]:
    show = steps.short(view.digits)
    ahead = answer["mode"] == "forward"
    yield view.text(steps.title(result, show), "bold")
    if result["steps"]:
        yield view.text("")
        yield _table(view, ("step", "operation", "formula so far", "value"), steps.values(
            result, *_some(view, result), show), (1, 2), result)
        yield view.text("")
    if result["steps"] and ahead:
        heads = [f"d/d{s['wrt']}" for s in result["sources"]]
        yield view.text("forwards: the derivative of each step")
        yield _table(view, ("step", "local derivative", "rule", *heads), steps.forward(
            result, *_some(view, result), show), (1, 2), result)
    elif result["steps"]:
        yield view.text(f"backwards: the adjoint of each step, d{result['of']}/d(step)")
        yield _table(view, ("step", "adjoint", "local derivative", "rule"), steps.backward(
            result, *_some(view, result), show), (2, 3), result)
        for source in result["sources"]:
            lines = steps.chain(result, source, show)
            if lines:
                yield view.text("")
                indent = " " * (lines[0].index(" = ") + 3)
                yield view.cell([part for line in lines for part in _hung(view, line, indent)])
    yield from below(view, steps.remarks(answer, result))
"""placeholder"""
