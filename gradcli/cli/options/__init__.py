"""The table of commands: a row each, in the modules of this package.

One row feeds both readers of a command line: `cli.plain_argv`, which starts in no time and takes
only the plain form, and `cli.app`, the Typer application, which takes everything else and writes
all help and all usage errors; manual pages, completion and the list in docs/README.md are made of
it, too. A new command is a row, the question and the layout that the row names, and a schema.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.cli.options.table import Command

MODULES = ("questions", "programs", "pictures", "calculus", "homework")
"""The modules with rows, in the order of help."""


def commands() -> Iterator[Command]:
    """Yield the rows of all commands in the order of help; a module is loaded when its turn comes.
    """
    for module in MODULES:
        yield from _rows(module)


def find(name: str) -> Command | None:
    """Return the row of a command, None if there is no such command."""
    if name.startswith(("check", "hw ")):       # homework starts without the rows of the others
        return next((row for row in _rows("homework") if row.name == name), None)
    return next((row for row in commands() if row.name == name), None)


def _rows(module: str) -> tuple[Command, ...]:
    rows: tuple[Command, ...] = __import__(
        f"gradcli.cli.options.{module}", fromlist=["ROWS"]).ROWS
    return rows
