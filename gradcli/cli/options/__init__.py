"""The table of commands: a row each, in the modules of this package.

One row feeds both readers of a command line: `cli.plain_argv`, which starts in no time and takes
only the plain form, and `cli.app`, the Typer application, which takes everything else and writes
all help and all usage errors; manual pages, completion and the list in docs/README.md are made of
it, too. A new command is a name here, a row, the question and the layout that the row names, and a
schema.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.cli.options.table import Command

COMMANDS = {
    **dict.fromkeys(("grad", "jac", "hess", "eval"), "questions"),
    **dict.fromkeys(("why", "run", "ops", "steps", "derive"), "programs"),
    "plot": "pictures", "graph": "pictures",
    **dict.fromkeys(("verify", "taylor", "tangent", "directional", "divergence", "curl",
                     "laplacian", "implicit", "newton", "propagate"), "calculus"),
    **dict.fromkeys(("check", "hw run", "hw lint", "hw diff", "hw explain", "hw stats",
                     "hw export"), "homework"),
}
"""Name of a command to the module with its row, in the order of help."""


def find(name: str) -> Command:
    """Return the row of a command. Raises KeyError if there is no such command."""
    rows: dict[str, Command] = __import__(
        f"gradcli.cli.options.{COMMANDS[name]}", fromlist=["ROWS"]).ROWS
    return rows[name]
