"""The problem that a command line states, and where on it an error stands."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.cli.options.table import split
from gradcli.homework.checking.problem import DEFAULTS, from_fields, in_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.prepared import Prepared


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
