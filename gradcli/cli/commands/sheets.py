"""Where an answer goes that is shown as sheets, and in which format."""

from __future__ import annotations

from gradcli.cli.commands.output import Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print an answer, or write it to the file of -o."""
    output = Output(values, environment)
    if values["quiet"]:
        for result in answer["results"]:
            result["notes"] = []
    if output.format in ("json", "ndjson"):
        from gradcli.render import machine as json

        output.put(json.render(answer) if output.format == "json" else json.render_ndjson(answer))
        return
    from gradcli.render.page import render

    people = output.format in ("table", "markdown", "latex")
    view = output.view()
    digits = view["digits"] if output.format == "table" else values["digits"] if people else None
    sheets = _sheets(answer, values, digits)
    if output.format == "table":
        from gradcli.render import sheet_table

        output.put(sheet_table.render(
            sheets, whole=not output.to_terminal or values["verbose"] > 0, **view))
    elif output.format in ("csv", "tsv"):
        from gradcli.render.layouts import calculus

        output.put(calculus.render(answer, sheets, "\t" if output.format == "tsv" else ","))
    else:
        output.put(render(sheets, output.format))
    if output.bare():
        from gradcli.render.numbers import visible

        output.remark("".join([visible(text) + "\n" for sheet in sheets for text in sheet.told]))


def _sheets(answer: dict[str, Any], values: dict[str, Any], digits: int | None) -> list[Any]:
    if answer["command"] == "verify":
        from gradcli.render.layouts import verify

        return verify.sheets(answer, values["verbose"] > 0, digits)
    from gradcli.cli.commands.values import values_at
    from gradcli.render.layouts import calculus

    moving = {name.partition("[")[0] for result in answer["results"] for name in result["at"]}
    held = {name: value for name, value in values_at(values["at"]).items() if name not in moving}
    return calculus.sheets(answer, digits, held)
