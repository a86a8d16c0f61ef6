"""Where the answers of hw go and in which format."""

from __future__ import annotations

from gradcli.cli.commands.output import EXACT_DIGITS, PIPE_WIDTH
from gradcli.cli.environment import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.homework.stats import Stats


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print an answer, or write it to the file of -o; with -q nothing."""
    path = None if values.get("output") in (None, "-") else values["output"]
    to_terminal = path is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    if values["quiet"] and path is None and values["format"] is None:
        return
    if chosen == "table":
        from gradcli.render import homework_table

        stream = environment.stdout
        # What lint shows is for people, wherever it goes.
        rounded = to_terminal or answer["command"] == "hw lint"
        text = homework_table.render(
            answer, encoding="utf-8" if path else getattr(stream, "encoding", None) or "ascii",
            width=environment.width(stream) if to_terminal else PIPE_WIDTH,
            digits=values["digits"] or (6 if rounded else EXACT_DIGITS),
            color=not path and environment.color(stream, values["color"]), whole=not to_terminal)
    else:
        from gradcli.render import homework, numbers

        people = chosen in ("markdown", "latex")
        text = homework.render(
            numbers.rounded(answer, values["digits"] if people else None), chosen)
    if path is None:
        write(environment.stdout, text)
    else:
        from gradcli.cli.files import write_file

        write_file(path, text)


def numbers_of(stats: Stats) -> dict[str, Any]:
    """The class as a whole, without how long it took."""
    found = stats.numbers()
    del found["ms"]
    return found
