"""What all tests share: a pinned terminal, the command line in a subprocess, golden files.

The environment is pinned when this file is read, before any test module imports typer or rich:
both look at it once and keep what they saw.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples each time, however slow the machine.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None,
    suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")

for _name in ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR",
              "PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(_name, None)
os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="24", LC_ALL="C.UTF-8")

ROOT = Path(__file__).resolve().parent.parent

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true",
                     help="write what the tests see into the golden files; then read the diff")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """Variables for a subprocess: this checkout's gradcli, and a cache folder of this session."""
    return {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture
def gradcli(home: dict[str, str | None]) -> Callable[..., Ran]:
    """`gradcli("grad", "-", stdin="x^2")` runs the command line; keywords are those of `run`."""

    def call(*arguments: str, stdin: str | bytes = b"", env: Environment | None = None,
             cwd: str | Path | None = None, timeout: float = 120) -> Ran:
        return run(sys.executable, "-m", "gradcli", *arguments, stdin=stdin, cwd=cwd,
                   env={**home, **(env or {})}, timeout=timeout)

    return call


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """`golden(path, text)` compares with a file, or writes it under --update-golden."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        expected = path.read_bytes().decode() if path.exists() else "(no golden file)"
        assert text == expected, f"{path.name} differs; see --update-golden"

    return check
