"""All commands together: what each is for, examples, arguments; for help and for manual pages."""

from __future__ import annotations

from gradcli.cli.options import calculus, derive, homework, pictures, steps, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FAMILIES: tuple[Any, ...] = (table, steps, derive, pictures, calculus, homework)
ABOUT = "The gradient calculator of the command line."

SUMMARIES: dict[str, str] = {k: v for rows in FAMILIES for k, v in rows.SUMMARIES.items()}
"""Command to one sentence, in the order of help; commands of a class begin with `hw `."""

EXAMPLES: dict[str, tuple[str, ...]] = {k: v for rows in FAMILIES for k, v in rows.EXAMPLES.items()}

ARGUMENT_HELP = {
    "file": "A file with an expression or program, or - for standard input.",
    "name": "An operation by name or alias; all of them by default.",
    **homework.ARGUMENT_HELP,
}

GROUPS = {
    "": ("gradcli grad expr.txt --wrt x", "gradcli grad -e 'x^2*sin(y)' --at x=1.5,y=0.5",
         "gradcli steps -e 'x^2*sin(x)' --at x=1.5", "gradcli why model.txt",
         "gradcli grad --help"),
    "hw": ("gradcli hw lint sheet.toml", "gradcli hw run sheet.toml submissions",
           "gradcli hw stats"),
}
"""Examples of what has commands of its own."""

STATUS = (
    ("0", "Everything is fine."),
    ("1", "Something that was checked is wrong: an answer, an expectation, a derivative."),
    ("2", "The command line is wrong."),
    ("3", "The input is wrong: syntax, names, shapes, a budget, a file that cannot be read."),
    ("70", "A bug in gradcli."),
    ("130", "Interrupted."),
)
"""Exit statuses."""
