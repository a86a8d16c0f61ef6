"""verify: derivatives by four methods, side by side."""

from __future__ import annotations

from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.sheets import deliver
from gradcli.cli.commands.values import ask_from
from gradcli.cli.environment import OK, WRONG
from gradcli.questions.verify import verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(values: dict[str, Any], environment: Environment) -> int:
    """Compare; 1 if a derivative is wrong."""
    answer = guarded(values, environment, lambda program: verify.verify(
        ask_from(program, values)))
    deliver(answer, values, environment)
    return WRONG if verify.failed(answer) else OK
