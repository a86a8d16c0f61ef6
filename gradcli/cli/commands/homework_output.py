"""Where the answers of hw go and in which format."""

from __future__ import annotations

from gradcli.cli.commands.output import TERMINAL_DIGITS, Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.homework.reports.items import Stats


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print an answer, or write it to the file of -o; with -q nothing."""
    output = Output(values, environment)
    if values["quiet"] and output.path is None and values["format"] is None:
        return
    if output.format == "table":
        from gradcli.render.layouts import homework_table

        view = output.view()
        if answer["command"] == "hw lint":  # what it shows is for people, wherever it goes
            view["digits"] = values["digits"] or TERMINAL_DIGITS
        output.put(homework_table.render(answer, whole=not output.to_terminal, **view))
    else:
        from gradcli.render.layouts import homework

        output.put(homework.render(output.rounded(answer), output.format))


def numbers_of(stats: Stats) -> dict[str, Any]:
    """The class as a whole, without how long it took."""
    found = stats.numbers()
    del found["ms"]
    return found
