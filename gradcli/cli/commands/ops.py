"""ops: the operation table, a part of it, or one row."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.similar import nearest
from gradcli.cli.commands.output import deliver
from gradcli.cli.environment import OK
from gradcli.ops import PUBLIC
from gradcli.ops.describe import describe, group_of, groups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.programs import LookupOptions
    from gradcli.ops.kinds import Op


def run(options: LookupOptions, environment: Environment) -> int:
    """Print the operations that are asked for, all by default. Raises E0213 if there is none."""
    found = [_named(options.name)] if options.name is not None else [
        _described(op, heading) for heading, rows in groups() for op in rows]
    if options.group is not None:
        found = [one for one in found if _has(options.group, one["group"])]
        if not found:
            raise _missing("--group", options.group, f"there is no group `{options.group}`",
                           f"the groups are: {'; '.join([heading for heading, _ in groups()])}")
    if options.no_derivative:
        found = [one for one in found if one["differentiable"] == "no"]
    if options.search is not None:
        word = options.search
        found = [one for one in found if _has(
            word, one["name"], *one["aliases"], one["doc"], one["group"])]
        if not found:
            raise _missing("--search", word, f"no operation that is asked for is about `{word}`",
                           _near(word))
    deliver({"schema": 1, "command": "ops", "no_derivative": options.no_derivative,
             "operations": found}, options, environment)
    return OK


def _described(op: Op, heading: str) -> dict[str, Any]:
    return {**describe(op), "group": heading}


def _named(name: str) -> dict[str, Any]:
    if name not in PUBLIC:
        raise _missing("NAME", name, f"there is no operation `{name}`", _near(name))
    return _described(PUBLIC[name], group_of(PUBLIC[name]))


def _near(name: str) -> str:
    near = nearest(name, PUBLIC)
    return f"did you mean `{near}`?" if near else "`gradcli ops` lists all"


def _has(word: str, *texts: str) -> bool:
    return any(word.lower() in text.lower() for text in texts)


def _missing(where: str, text: str, message: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0213", message, span=(0, len(text)), source=Source(text, where), help=help))
