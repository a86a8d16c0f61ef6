"""taylor, tangent, directional, divergence, curl, laplacian, implicit, newton, propagate."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.lazy import np
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.sheets import deliver
from gradcli.cli.commands.values import ask_from, values_at
from gradcli.cli.environment import OK, WRONG
from gradcli.cli.options.table import split
from gradcli.lang.running.program import constant
from gradcli.questions import calculus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Answer one question; 1 if a method does not converge."""
    # Reading LaTeX renames what the options name: they are read behind the program.
    with np.errstate(all="ignore"):     # what overflows is told as the number that it becomes
        answer = guarded(values, environment, lambda program: calculus.answered(
            command, ask_from(program, values), _read(command, dict(values))))
    deliver(answer, values, environment)
    return WRONG if calculus.failed(answer) else OK


def _read(command: str, values: dict[str, Any]) -> dict[str, Any]:
    """The options of a command as it takes them."""
    if command == "propagate":
        values["sigma"] = values_at(values["sigma"], "--sigma")
        values["correlation"] = _correlations(values["correlation"])
    if command == "directional":
        text = values["direction"]
        values["by_name"] = values_at([text], "--direction") if "=" in text else {}
        values["components"] = [] if values["by_name"] else [
            number_of(part, "--direction", "3,4 or x=3,y=4") for part in split(text)]
    return values


def number_of(text: str, option: str, such: str) -> float:
    """One number that an option gives. Raises E0834."""
    value = constant(text, option)
    if type(value) not in (float, int):
        raise GradcliError(Diagnostic(
            "E0834", f"`{text}` is no number", span=(0, len(text)), source=Source(text, option),
            help=f"such as {such}"))
    return float(value)


def _correlations(texts: list[str]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for part in [part for text in texts for part in split(text)]:
        pair, _, number = part.partition("=")
        first, second = (name.strip() for name in pair.split(":", 1))
        if (first, second) in found or (second, first) in found:
            raise GradcliError(Diagnostic(
                "E0834", f"--correlation gives `{first}` and `{second}` twice",
                span=(0, len(part)), source=Source(part, "--correlation"),
                help="give each pair one correlation"))
        found[first, second] = number_of(number.strip(), "--correlation", "x:y=0.5")
    return found
