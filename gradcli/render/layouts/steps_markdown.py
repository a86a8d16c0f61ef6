"""The steps of a derivative in Markdown: two tables, and the chain rule written out."""

from __future__ import annotations

from gradcli.render.layouts import steps
from gradcli.render.markdown import LEFT, RIGHT, _remarks, code, prose, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.render.layouts.steps import Row


def render(answer: dict[str, Any], whole: bool) -> str:
    """All results, blank lines between their parts."""
    parts: list[str] = []
    for result in answer["results"]:
        parts += _result(answer, result, whole)
    return "\n".join([part for part in parts if part])


def _result(answer: dict[str, Any], result: dict[str, Any], whole: bool) -> list[str]:
    show, symbol = steps.short(steps.EXACT, whole), steps.symbol_of("utf-8")
    parts = [f"{code(steps.title(result, show))}\n"]
    if not result["steps"]:
        return [*parts, steps.WITHOUT + "\n"]
    parts.append(_table(("step", "operation", "formula so far", "value"), (0, 1, 2),
                        steps.values(result, show, whole)))
    if answer["mode"] == "forward":
        heads = [code(f"d/d{s['wrt']}") for s in result["sources"]]
        parts.append(_table(("step", "local derivative", "rule", *heads), (0, 1),
                            steps.forward(result, show, symbol, whole)))
    else:
        parts.append(_table(("step", "adjoint", "local derivative", "rule"), (0, 2),
                            steps.backward(result, show, symbol, whole)))
        for source in result["sources"]:
            lines = steps.chain(result, source, show, symbol)
            if lines:
                parts.append("```text\n" + "\n".join(lines) + "\n```\n")
    told = steps.legend(result, symbol)
    parts.append(prose(told) + "\n" if told else "")
    parts.append(_remarks(steps.remarks(answer, result)))
    return parts


def _table(heads: Sequence[str], codes: Sequence[int], rows: Sequence[Row]) -> str:
    sides = [RIGHT if head in ("value", "adjoint") or head.startswith("`d/d") else LEFT
             for head in heads]
    return table(heads, sides, [
        ["<br>".join([code(line) if k in codes else prose(line) for line in cell if line])
         for k, cell in enumerate(row)] for row in rows])
