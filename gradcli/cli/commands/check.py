"""check: one answer against one function."""

from __future__ import annotations

from gradcli.base.commas import listed
from gradcli.base.errors import Diagnostic, GradcliError, Source, decode
from gradcli.cli.commands.output import Destination, complain
from gradcli.cli.environment import OK, WRONG
from gradcli.homework.checking.problem import DEFAULTS, from_fields, in_options
from gradcli.homework.lines import KEYS, SCHEMA, right, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.homework import CheckOptions, HomeworkOptions
    from gradcli.homework.checking.prepared import PreparedProblem

MAX_ANSWER = 64 * 1024


def run(options: CheckOptions, environment: Environment) -> int:
    """Check one answer; 1 if it is not right.

    Raises E0701 to E0709 where the problem cannot be set.
    """
    from gradcli.homework.check import check

    answer = options.answer or ""
    if answer == "-":
        answer = decode(environment.input().read(MAX_ANSWER), "<stdin>").text.strip()
    ready = _prepared(options)
    found = check(ready, answer)
    _show({"schema": SCHEMA, "id": None, **{key: found[key] for key in KEYS}}, options,
          environment)
    if found["verdict"] == "unreadable" and options.format in (None, "table", "plain") \
            and not options.quiet:
        complain(unreadable(ready, answer), options, environment)
    return OK if right(found, ready.problem.domain_policy) else WRONG


def _show(answer: dict[str, Any], options: CheckOptions, environment: Environment) -> None:
    from gradcli.render.layouts.check import page

    destination = Destination(options, environment)
    destination.write(
        answer, [page(destination.rounded(answer), options.quiet, options.verbose > 0)])


# ---- the problem that a command line states, and where on it an error stands -------------------


def fields_of(options: CheckOptions) -> dict[str, Any]:
    """Return the fields of a problem that the command line gives."""
    given = vars(options)
    found = {name: given[name] for name in DEFAULTS if given.get(name) not in (None, False, [])}
    for name in ("wrt", "at", "parameters", "domain"):
        if name in found:
            found[name] = ",".join(listed(found[name]))
    return found


def seed_of(options: HomeworkOptions) -> int | str:
    """Return --seed, as a number if it is one."""
    text = options.seed
    if text is None:
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


def _prepared(options: CheckOptions) -> PreparedProblem:
    """Return the problem of the command line, ready; what is wrong with it has its place there."""
    from gradcli.homework import check

    fields = fields_of(options)
    try:
        return check.prepare(from_fields(fields), seed_of(options))
    except GradcliError as problem:
        raise located(problem, fields) from None


def located(problem: GradcliError, fields: dict[str, Any]) -> GradcliError:
    """Return the error with the option that it names as its place, and the function by default."""
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
