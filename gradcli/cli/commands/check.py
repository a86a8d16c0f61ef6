"""check: one answer against one function."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source, decode
from gradcli.cli.commands.output import Output
from gradcli.cli.main import OK, WRONG
from gradcli.cli.options.table import split
from gradcli.homework.checking.advice import in_options
from gradcli.homework.checking.problem import DEFAULTS, from_fields
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


def fields_of(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a problem that the command line gives."""
    found = {name: values[name] for name in DEFAULTS if values.get(name) not in (None, False, [])}
    for name in ("wrt", "at", "parameters", "domain"):
        if name in found:
            found[name] = ",".join([part for text in found[name] for part in split(text)])
    return found


def seed_of(values: dict[str, Any]) -> int | str:
    """--seed as a number if it is one."""
    text = values["seed"]
    if text is None:
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else str(text)


def prepare(values: dict[str, Any]) -> Prepared:
    """The problem of the command line, ready; what is wrong with it has its place there."""
    from gradcli.homework import check

    fields = fields_of(values)
    try:
        return check.prepare(from_fields(fields), seed_of(values))
    except GradcliError as problem:
        raise located(problem, fields) from None


def located(problem: GradcliError, fields: dict[str, Any]) -> GradcliError:
    """The error with the option that it names as its place, and the function by default."""
    found = []
    for one in problem.diagnostics:
        source, span = one.source, one.span
        if source is None:
            words = one.message.split("`")[1:2]
            name = words[0] if words and words[0] in fields else "function"
            text = str(fields.get(name, ""))
            source = Source(text, name if name == "function" else f"--{name.replace('_', '-')}")
            span = (0, len(text)) if span is None or name != "function" else span
        found.append(Diagnostic(
            one.code, one.message, span=span, source=source, label=one.label, related=one.related,
            notes=one.notes, help=in_options(one)))
    return GradcliError(*found)


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
