"""Commands in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

Environment = Mapping[str, str | None]


class Ran:
    """A finished command."""

    __slots__ = ("returncode", "stderr", "stdout")

    def __init__(self, stdout: str, stderr: str, returncode: int) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.returncode = returncode

    def __repr__(self) -> str:
        return f"Ran({self.stdout!r}, {self.stderr!r}, {self.returncode})"


def run(*command: str, stdin: str | bytes = b"", env: Environment | None = None,
        cwd: str | Path | None = None, timeout: float = 120) -> Ran:
    """Run a command. `env` adds variables to those of this process; None removes one.

    Nothing is read from the terminal: standard input is `stdin`, by default empty.
    """
    variables = {**os.environ, **(env or {})}
    done = subprocess.run(
        command, input=stdin.encode() if isinstance(stdin, str) else stdin, capture_output=True,
        cwd=cwd, timeout=timeout, check=False,
        env={name: value for name, value in variables.items() if value is not None})
    return Ran(done.stdout.decode(), done.stderr.decode(), done.returncode)


def shell(script: str, home: dict[str, str | None]) -> subprocess.CompletedProcess[str]:
    """A bash script in which `G` runs gradcli."""
    return subprocess.run(
        ["bash", "-c", f"G() {{ '{sys.executable}' -m gradcli \"$@\"; }}\n{script}"],
        capture_output=True, text=True, timeout=100, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, **{k: v for k, v in home.items() if v is not None}})
