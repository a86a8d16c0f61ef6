"""Which module runs a command, and how its errors are told."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.cli.environment import BAD_INPUT, Environment
from gradcli.cli.options.table import CALCULUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def dispatch(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Run one command with its values; errors are printed where they belong."""
    try:
        alone = MODULES.get(command)
        if alone is not None:
            status: int = _module(alone).run(values, environment)
        else:
            status = _module(_family(command, values)).run(command, values, environment)
        return status
    except GradcliError as problem:
        _print(problem, values, environment)
        return BAD_INPUT


MODULES = {"run": "program", **{name: name for name in (
    "ops why check steps derive plot graph verify").split()}}


def _family(command: str, values: dict[str, Any]) -> str:
    """The module of a command that shares one with others."""
    if command.startswith("hw "):
        return "homework" if command == "hw run" else "homework_reports"
    if command in CALCULUS:
        return "calculus"
    return "points" if values["points"] else "question"


def _module(name: str) -> Any:
    """Imported when its command runs: the others cost nothing."""
    return __import__(f"gradcli.cli.commands.{name}", fromlist=["run"])


def _print(problem: GradcliError, values: dict[str, Any], environment: Environment) -> None:
    from gradcli.render import messages

    stream = environment.stderr
    if values["format"] in ("json", "ndjson"):
        from gradcli.render import machine

        file = values.get("file") or "-e"
        environment.tell(machine.dump(messages.as_json(problem.diagnostics, file)) + "\n")
        return
    color = environment.color(stream, values["color"])
    encoding = getattr(stream, "encoding", None) or "utf-8"
    environment.tell(messages.render(
        problem.diagnostics, color, environment.width(stream), encoding,
        wrapped=environment.terminal(stream)))
