"""ops: the operation table, or one row of it."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.similar import nearest
from gradcli.cli.commands.output import deliver
from gradcli.cli.environment import OK
from gradcli.ops import PUBLIC
from gradcli.ops.describe import describe, groups

TYPE_CHECKING = False
if TYPE_CHECKING:

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.programs import LookupOptions


def run(options: LookupOptions, environment: Environment) -> int:
    """Print all operations, or the one that is named. Raises E0213 for a name without one."""
    name = options.name
    if name is None:
        rows = [op for _, group in groups() for op in group]
    elif name in PUBLIC:
        rows = [PUBLIC[name]]
    else:
        near = nearest(name, PUBLIC)
        raise GradcliError(Diagnostic(
            "E0213", f"there is no operation `{name}`", span=(0, len(name)),
            source=Source(name, "NAME"),
            help=f"did you mean `{near}`?" if near else "`gradcli ops` lists all"))
    answer = {"schema": 1, "command": "ops", "operations": [describe(op) for op in rows]}
    deliver(answer, options, environment)
    return OK
