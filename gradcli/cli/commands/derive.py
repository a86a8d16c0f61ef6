"""derive: derivatives as formulas."""

from __future__ import annotations

from gradcli.cli.commands.output import Output
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import ask_from
from gradcli.cli.environment import OK, WRONG
from gradcli.cli.options.derive import format_of
from gradcli.questions.derive.derive import derived
from gradcli.render.layouts import formula
from gradcli.render.layouts.formulas import doubts, heading
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(values: dict[str, Any], environment: Environment) -> int:
    """Print the formulas, or write them to the file of -o; with --strict 1 if one is None."""
    values = {**values, "format": format_of(values)}
    output = Output(values, environment)
    answer = guarded(values, environment, lambda program: derived(
        ask_from(program, values), what=values["what"], order=values["order"] or 1,
        language=formula.language(output.format), simplify=values["simplify"],
        named=not values["inline"]))
    conditions = answer["conditions"]
    if values["quiet"]:
        answer["conditions"] = []
    width = environment.width(environment.stdout) if output.to_terminal else None
    output.put(formula.render(answer, output.format, width, output.color()))
    missing = [r for r in answer["results"] if r["formula"] is None]
    if output.bare():
        told = ["holds where " + " and ".join(conditions)] if conditions else []
        told += doubts(answer)
        told += [f"{heading(r)} is None: {reason['message']}"
                 for r in missing for reason in r["reasons"]]
        output.remark("".join([f"{visible(line)}\n" for line in told]))
    return WRONG if values["strict"] and (missing or doubts(answer)) else OK
