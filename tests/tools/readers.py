"""The two readers of a command line, `plain_argv` and Typer, on the same lines."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pytest

from gradcli.cli import app, plain_argv
from gradcli.cli.environment import Environment
from gradcli.cli.options.table import defaults, misused


def reached(argv: list[str]) -> tuple[int, tuple[str, dict[str, Any]] | None]:
    """(status, the command and its values that Typer comes to, None if it refuses the line)."""
    seen: list[tuple[str, dict[str, Any]]] = []

    def note(name: str, values: dict[str, Any], environment: Environment) -> int:
        seen.append((name, values))
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "dispatch", note)
        status = app.run(argv, Environment(io.BytesIO(), io.StringIO(), io.StringIO(), {}))
    assert len(seen) <= 1
    return status, seen[0] if seen else None


def compared(lines: Iterable[list[str]], capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    """How many lines the plain reader takes, and how many Typer.

    What the plain reader takes, Typer takes with the same values; the rest is Typer's alone.
    """
    plain = both = 0
    for argv in lines:
        quick = plain_argv.read(argv)
        status, found = reached(argv)
        if quick is not None:
            assert found == quick, argv
            plain += 1
        if found is not None:
            name, values = found
            assert misused(name, values) is None
            assert set(values) == set(defaults(name))
            both += 1
        else:
            assert status == 2 or "Usage: " in capsys.readouterr().out, argv
    return plain, both
