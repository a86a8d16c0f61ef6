"""steps: a derivative operation by operation."""

from __future__ import annotations

from gradcli.cli.commands.output import Output
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import ask_from
from gradcli.cli.environment import OK
from gradcli.questions.steps.steps import steps
from gradcli.render.layouts import steps_lines as shown
from gradcli.render.layouts.steps import SHOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


# What people read, of which long traces show both ends.
SHORTENED = ("table", "markdown", "latex")


def run(values: dict[str, Any], environment: Environment) -> int:
    """Print the steps, or write them to the file of -o."""
    output = Output(values, environment)
    verbose = values["verbose"] > 0
    whole = verbose or output.format not in SHORTENED or (
        output.format == "table" and not output.to_terminal)
    answer = guarded(values, environment, lambda program: steps(
        ask_from(program, values), None if whole else SHOWN))
    if values["quiet"]:
        for part in [p for result in answer["results"] for p in (result, *result["sources"])]:
            part["notes"] = []
    output.put(_tables(answer, output, whole) if output.format == "table" else
               shown.render(output.rounded(answer), output.format, verbose, output.encoding()))
    if output.bare():
        from gradcli.render import remarks

        command = "jac" if answer["mode"] == "forward" else "grad"
        output.remark(remarks.text({**answer, "command": command}))
    return OK


def _tables(answer: dict[str, Any], output: Output, whole: bool) -> str:
    from io import StringIO

    from gradcli.render.layouts.derivatives import print_parts
    from gradcli.render.layouts.steps import tables

    buffer, view = StringIO(), output.view()
    print_parts(tables(
        answer, view["digits"], view["width"], view["encoding"], whole), buffer, view["width"],
        view["color"])
    return buffer.getvalue()
