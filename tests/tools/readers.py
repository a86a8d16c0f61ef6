"""The two readers of a command line, the plain one and Typer, on the same lines."""

from __future__ import annotations

import io
from collections.abc import Iterable

from gradcli.cli import app
from gradcli.cli.environment import Environment
from gradcli.cli.options import Options, read


def by_typer(argv: list[str]) -> tuple[Options | int, str]:
    """The options that Typer reads, or the status with which it refuses the line; what it says."""
    out, err = io.StringIO(), io.StringIO()
    found = app.read(argv, Environment(io.BytesIO(), out, err, {}))
    return found, (err if found == 2 else out).getvalue()


def compared(lines: Iterable[list[str]]) -> tuple[int, int]:
    """How many lines the plain reader takes, and how many Typer.

    What the plain reader takes, Typer takes with the same values; the rest is Typer's alone.
    """
    plain = both = 0
    for argv in lines:
        quick = read(argv)
        found, told = by_typer(argv)
        if quick is not None:
            assert not isinstance(found, int), argv
            assert vars(found) == vars(quick), argv
            plain += 1
        if not isinstance(found, int):
            assert found.misused() is None
            assert set(vars(found)) == set(vars(found.command.kind(found.command)))
            both += 1
        else:
            assert ("Error: " if found == 2 else "Usage: ") in told, argv
    return plain, both
