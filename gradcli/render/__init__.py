"""The layout of answers and errors: one layout per kind of answer, one writer per format, pages
between them.

An answer is a plain dict of the shape that the schemas in `gradcli/schemas` describe, made of
dicts, lists, strings, numbers, booleans and None. Layouts read a missing key as absent and know no
mathematics. `terminal` and `progress` import rich, when they write.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.render.page import Page

# Format -> the module that writes pages, and what it is told; JSON is of the answer itself.
WRITERS = {"table": ("terminal",), "plain": ("plain",), "json": ("machine",),
           "ndjson": ("machine",), "csv": ("delimited", ","), "tsv": ("delimited", "\t"),
           "markdown": ("markdown",), "latex": ("latex",), "html": ("html",)}
FORMATS = tuple(WRITERS)[1:]    # a table needs a terminal's width
EXACT = ("plain", "json", "ndjson", "csv", "tsv")       # for programs: all rows, all digits
DOCUMENTS = tuple([format for format in FORMATS if format not in EXACT])


def text(answer: dict[str, Any], format: str, digits: int | None = None, **view: Any) -> str:
    """Return the answer in one of FORMATS, ending in a line end (empty if there is nothing to say).
    digits: of the numbers in Markdown, LaTeX and tables; None for all. view: of tables, as in
    `write`. Raises ValueError for any other format.
    """
    command = answer["command"]
    if command == "run":
        return str(_module("layouts.programs").render(answer, format))
    if format == "plain" and command in ("grad", "jac", "hess", "eval"):
        from gradcli.render import plain

        return plain.lines(plain.fields(answer))    # a page would double what this loads
    if format not in WRITERS:
        raise ValueError(f"unknown format `{format}`; there are {', '.join(FORMATS)}")
    pages: Any = ()
    if format not in ("json", "ndjson"):
        layout = _module(f"layouts.{command if command in ('ops', 'why') else 'derivatives'}")
        pages = layout.pages(answer, digits if format in DOCUMENTS else None)
    if format == "table":
        view["digits"] = digits
    return write(answer, pages, format, **view)


def write(answer: dict[str, Any], pages: Iterable[Page], format: str, **view: Any) -> str:
    """Return an answer as JSON, or its pages in another format. view: width, color, digits,
    encoding and whole, of a table.
    """
    if format in ("json", "ndjson"):
        from gradcli.render import machine

        return machine.render(answer) if format == "json" else machine.render_ndjson(answer)
    module, *options = WRITERS.get(format, (format,))
    return str(_module(module).write(pages, *options, **view))


def _module(name: str) -> Any:
    return __import__(f"gradcli.render.{name}", fromlist=["_"])
