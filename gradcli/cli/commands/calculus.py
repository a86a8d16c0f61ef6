"""taylor, tangent, directional, divergence, curl, laplacian, implicit, newton, propagate."""

from __future__ import annotations

from gradcli import analysis
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.sheets import deliver
from gradcli.cli.commands.values import ask_from, values_at
from gradcli.cli.main import OK, WRONG
from gradcli.cli.options import split
from gradcli.errors import Diagnostic, GradcliError
from gradcli.program import constant
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Answer one question; 1 if a method does not converge."""
    asked = dict(values)
    answer = guarded(values, environment, lambda program: analysis.answered(
        command, ask_from(program, values), _read(command, asked)))
    deliver(answer, values, environment)
    return WRONG if analysis.failed(answer) else OK


def _read(command: str, values: dict[str, Any]) -> dict[str, Any]:
    """The options of a command as it takes them."""
    if command == "propagate":
        values["sigma"] = values_at(values["sigma"])
        values["correlation"] = _correlations(values["correlation"])
    return values


def _correlations(texts: list[str]) -> dict[tuple[str, str], float]:
    found = {}
    for part in [part for text in texts for part in split(text)]:
        pair, _, number = part.partition("=")
        first, _, second = pair.partition(":")
        value = constant(number.strip(), "--correlation")
        if not isinstance(value, float | int):
            raise GradcliError(Diagnostic(
                "E0834", f"a correlation is one number, not `{number.strip()}`",
                span=(0, len(number.strip())), source=Source(number.strip(), "--correlation"),
                help="such as x:y=0.5"))
        found[first.strip(), second.strip()] = float(value)
    return found
