"""steps: a derivative operation by operation."""

from __future__ import annotations

from gradcli.answers.steps import steps
from gradcli.cli.commands.output import EXACT_DIGITS, PIPE_WIDTH
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import ask_from
from gradcli.cli.environment import write
from gradcli.cli.main import OK
from gradcli.render import steps as shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(values: dict[str, Any], environment: Environment) -> int:
    """Print the steps, or write them to the file of -o."""
    answer = guarded(values, environment, lambda program: steps(ask_from(program, values)))
    if values["quiet"]:
        for part in [p for result in answer["results"] for p in (result, *result["sources"])]:
            part["notes"] = []
    path = None if values["output"] == "-" else values["output"]
    to_terminal = path is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    if chosen == "table":
        text = _tables(answer, values, environment, to_terminal, path is not None)
    else:
        text = shown.render(answer, chosen, values["verbose"] > 0)
    if path is None:
        write(environment.stdout, text)
    else:
        from gradcli.cli.files import write_file

        write_file(path, text)
    if chosen == "plain" and not values["quiet"]:
        from gradcli.render import causes

        environment.stdout.flush()
        command = "jac" if answer["mode"] == "forward" else "grad"
        write(environment.stderr, causes.text({**answer, "command": command}, False))
    return OK


def _tables(answer: dict[str, Any], values: dict[str, Any], environment: Environment,
            to_terminal: bool, to_file: bool) -> str:
    from io import StringIO

    from gradcli.render.steps_table import tables
    from gradcli.render.table import print_parts

    stream = environment.stdout
    encoding = "utf-8" if to_file else getattr(stream, "encoding", None) or "ascii"
    width = environment.width(stream) if to_terminal else PIPE_WIDTH
    buffer = StringIO()
    print_parts(tables(
        answer, values["digits"] or (6 if to_terminal else EXACT_DIGITS), width, encoding,
        not to_terminal or values["verbose"] > 0), buffer, width,
        not to_file and environment.color(stream, values["color"]))
    return buffer.getvalue()
