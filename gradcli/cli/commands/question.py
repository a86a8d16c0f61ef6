"""grad, jac, hess, eval: a file or formula, a point, an answer."""

from __future__ import annotations

from gradcli import answers
from gradcli.cli.commands.output import deliver
from gradcli.cli.commands.values import ask_from, program_from
from gradcli.cli.main import OK, WRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment

QUESTIONS = {
    "grad": answers.grad, "jac": answers.jac, "hess": answers.hess, "eval": answers.evaluate}


def run(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Answer one question; 1 if something that was checked is wrong."""
    ask = ask_from(command, program_from(values, environment), values)
    answer = QUESTIONS[command](ask)
    deliver(answer, values, environment)
    return WRONG if answers.failed(answer, bool(values.get("strict"))) else OK
