"""Where a picture goes: to a file or standard output, what it needs said beside it."""

from __future__ import annotations

from gradcli.cli.commands.output import Output
from gradcli.cli.environment import USAGE
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment

BYTES = ("png", "pdf")


class Misuse(Exception):
    """A command line that cannot be meant so, found only when the command runs."""


def refuse_terminal(format: str, values: dict[str, Any], environment: Environment) -> None:
    """Raises Misuse where the bytes of a picture would go to a terminal."""
    if format in BYTES and Output(values, environment).to_terminal:
        raise Misuse(f"a terminal shows no {format}; write it to a file: -o picture.{format}")


def refused(command: str, problem: Misuse, environment: Environment) -> int:
    """Tell a misuse as one, and the exit status of it."""

    environment.tell(f"gradcli {command}: {problem}\n")
    return USAGE


def deliver(drawn: str | bytes, notes: list[dict[str, Any]], values: dict[str, Any],
            environment: Environment) -> None:
    """Print a picture, or write it to the file of -o, and its notes to standard error."""
    output = Output(values, environment)
    if isinstance(drawn, bytes):
        output.put_bytes(drawn)
    else:
        output.put(drawn)
    if not values["quiet"]:
        output.remark("".join([f"{visible(note['message'])}\n" for note in notes]))


def as_json(answer: dict[str, Any]) -> str:
    """The picture as data, which has its notes in it."""
    from gradcli.render import machine

    return machine.dump(answer) + "\n"
