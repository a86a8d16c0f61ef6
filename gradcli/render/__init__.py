"""How answers and errors look: one module per output format.

An answer is a plain dict of the shape that the schemas in `gradcli/schemas` describe, made of
dicts, lists, strings, numbers, booleans and None. Renderers read a missing key as absent and know
no mathematics. `text` serves the formats that are a pure function of the answer; tables and
progress bars depend on a terminal: `table`, `progress` and what they are made of import rich, and
nothing else does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMATS = ("plain", "json", "ndjson", "csv", "tsv", "markdown", "latex")


def text(answer: dict[str, Any], format: str, digits: int | None = None) -> str:
    """The answer in one of FORMATS, ending in a line end (empty if there is nothing to print).

    digits: of the numbers in Markdown and LaTeX; None for all. Raises ValueError for any other
    format.
    """
    if answer["command"] == "run":
        from gradcli.render.layouts import programs

        return programs.render(answer, format)
    if answer["command"] == "why" and format not in ("json", "ndjson"):
        from gradcli.render.layouts import why

        return why.render(answer, format, digits)
    if format == "plain":
        from gradcli.render import plain

        return plain.render(answer)
    if format == "json":
        from gradcli.render import machine

        return machine.render(answer)
    if format == "ndjson":
        from gradcli.render import machine

        return machine.render_ndjson(answer)
    if format in ("csv", "tsv"):
        from gradcli.render import delimited

        return delimited.render(answer, "\t" if format == "tsv" else ",")
    if format in ("markdown", "latex"):
        from gradcli.render import numbers

        answer = numbers.rounded(answer, digits)
    if format == "markdown":
        from gradcli.render import markdown

        return markdown.render(answer)
    if format == "latex":
        from gradcli.render import latex

        return latex.render(answer)
    raise ValueError(f"unknown format `{format}`; there are {', '.join(FORMATS)}")
