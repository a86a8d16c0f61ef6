"""check: one answer against one function."""

from __future__ import annotations

from gradcli.base.errors import decode
from gradcli.cli.commands.output import Output
from gradcli.cli.commands.problem import prepare
from gradcli.cli.environment import OK, WRONG
from gradcli.homework.lines import KEYS, SCHEMA, right, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.homework.checking.prepared import Prepared

MAX_ANSWER = 64 * 1024


def run(values: dict[str, Any], environment: Environment) -> int:
    """Check one answer, or with --batch many; 1 if one is not right.

    Raises E0701 to E0709 where the problem cannot be set.
    """
    if values["batch"] is not None:
        from gradcli.cli.commands import check_batch

        return check_batch.run(values, environment)
    from gradcli.homework.check import check

    answer = values["answer"]
    if answer == "-":
        answer = decode(environment.input().read(MAX_ANSWER), "<stdin>").text.strip()
    ready = prepare(values)
    found = check(ready, answer)
    deliver({"schema": SCHEMA, "id": None, **{key: found[key] for key in KEYS}}, values,
            environment)
    if found["verdict"] == "unreadable" and values["format"] in (None, "table", "plain") \
            and not values["quiet"]:
        _point(ready, answer, values, environment)
    return OK if right(found, ready.problem.domain_policy) else WRONG


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print a result, or write it to the file of -o."""
    from gradcli.render.layouts import check as rendering

    output = Output(values, environment)
    if output.format == "table":
        from gradcli.render.layouts import check_table

        output.put(check_table.render(
            answer, quiet=values["quiet"], verbose=values["verbose"] > 0, **output.view()))
    else:
        output.put(rendering.render(
            output.rounded(answer), output.format, quiet=values["quiet"]))


def _point(ready: Prepared, answer: str, values: dict[str, Any], environment: Environment) -> None:
    """Where in the answer reading stopped, for standard error."""
    from gradcli.render import messages

    stream = environment.stderr
    environment.tell(messages.render(
        unreadable(ready, answer), environment.color(stream, values["color"]),
        environment.width(stream), getattr(stream, "encoding", None) or "utf-8",
        wrapped=environment.terminal(stream)))
