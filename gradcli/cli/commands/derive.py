"""derive: derivatives as formulas."""

from __future__ import annotations

from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import ask_from
from gradcli.cli.environment import write
from gradcli.cli.main import OK, WRONG
from gradcli.formulas.derive import derived
from gradcli.render import formula
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(values: dict[str, Any], environment: Environment) -> int:
    """Print the formulas, or write them to the file of -o; with --strict 1 if one is None."""
    path = None if values["output"] == "-" else values["output"]
    to_terminal = path is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    answer = guarded(values, environment, lambda program: derived(
        ask_from(program, values), what=values["what"], order=values["order"] or 1,
        language=formula.LANGUAGES[chosen], simplify=values["simplify"],
        named=not values["inline"]))
    conditions = answer["conditions"]
    if values["quiet"]:
        answer["conditions"] = []
    text = formula.render(answer, chosen)
    if path is None:
        write(environment.stdout, text)
    else:
        from gradcli.cli.files import write_file

        write_file(path, text)
    if chosen == "plain" and not values["quiet"]:
        # One name and formula per line has no room for more; it goes where messages go.
        told = ["holds where " + " and ".join(conditions)] if conditions else []
        told += [f"{formula.heading(r)} is None: {reason['message']}"
                 for r in answer["results"] if r["formula"] is None for reason in r["reasons"]]
        environment.stdout.flush()
        write(environment.stderr, "".join([f"{visible(line)}\n" for line in told]))
    missing = any(r["formula"] is None for r in answer["results"])
    return WRONG if missing and values["strict"] else OK
