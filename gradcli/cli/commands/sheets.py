"""Where an answer goes that is shown as sheets, and in which format."""

from __future__ import annotations

from gradcli.cli.commands.output import EXACT_DIGITS, PIPE_WIDTH
from gradcli.cli.environment import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print an answer, or write it to the file of -o: all of it or nothing."""
    path = None if values["output"] == "-" else values["output"]
    to_terminal = path is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    if values["quiet"]:
        for result in answer["results"]:
            result["notes"] = []
    sheets: list[Any] = []
    if chosen in ("json", "ndjson"):
        from gradcli.render import json

        text = json.render(answer) if chosen == "json" else json.render_ndjson(answer)
    else:
        from gradcli.render.sheet import render

        sheets = _sheets(answer, values["verbose"] > 0)
        if chosen == "table":
            from gradcli.render import sheet_table

            stream = environment.stdout
            text = sheet_table.render(
                sheets, encoding="utf-8" if path else getattr(stream, "encoding", None) or "ascii",
                width=environment.width(stream) if to_terminal else PIPE_WIDTH,
                digits=values["digits"] or (6 if to_terminal else EXACT_DIGITS),
                color=not path and environment.color(stream, values["color"]))
        else:
            text = render(sheets, chosen)
    if path is None:
        write(environment.stdout, text)
    else:
        from gradcli.cli.files import write_file

        write_file(path, text)
    if chosen == "plain" and not values["quiet"]:
        # Lines of names and values have no room for a reproach; it goes where messages go.
        from gradcli.render.visible import visible

        environment.stdout.flush()
        write(environment.stderr, "".join([
            visible(remark) + "\n" for sheet in sheets for remark, reproach in sheet.remarks
            if reproach]))


def _sheets(answer: dict[str, Any], verbose: bool) -> list[Any]:
    if answer["command"] == "verify":
        from gradcli.render import verify

        return verify.sheets(answer, verbose)
    from gradcli.render import calculus

    return calculus.sheets(answer)
