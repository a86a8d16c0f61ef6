"""Derivatives as formulas: files in the language that was asked for, or lines for people.

An answer holds the formulas as text in its language; here they get names, a head and a frame.
"""

from __future__ import annotations

from gradcli.render.layouts import derivative_lines as lines
from gradcli.render.layouts import formulas as files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, Any]

FILES = {
    "gradcli": files.gradcli, "python": files.python, "c": files.c, "sympy": files.sympy,
    "latex": files.latex}
"""By language."""

LINES = {
    "plain": lines.plain, "markdown": lines.markdown, "json": lines.json,
    "csv": lambda answer: lines.delimited(answer, ","),
    "tsv": lambda answer: lines.delimited(answer, "\t")}
"""With formulas as gradcli writes them."""


def language(chosen: str) -> str:
    """The language that the formulas of a format are in."""
    return chosen if chosen in FILES else "gradcli"


def render(answer: Answer, chosen: str, width: int | None = None, color: bool = False) -> str:
    """An answer as text; its formulas are in the language of the format. width, color: of tables,
    which fold at no width if there is none.
    """
    if chosen == "table":
        return lines.table(answer, width, color)
    return (FILES.get(chosen) or LINES[chosen])(answer)
