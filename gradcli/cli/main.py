"""The entry point: reads the command line, runs a command, turns what happens into a status.

Exit status: 0 fine; 1 something checked is wrong; 2 usage; 3 bad input; 70 a bug in gradcli; 130
interrupted; a closed pipe ends quietly.
"""

from __future__ import annotations

import gc
import sys

from gradcli.base.errors import GradcliError
from gradcli.cli.environment import Environment, forget, write
from gradcli.cli.options.table import CALCULUS
from gradcli.cli.plain_argv import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

OK, WRONG, USAGE, BAD_INPUT, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130


def main() -> None:
    """The console script."""
    # One answer and the process ends: looking for garbage doubles the time of a large file.
    gc.disable()
    environment = Environment()
    # Typer writes to these.
    sys.stdout, sys.stderr = environment.stdout, environment.stderr
    sys.exit(run(sys.argv[1:], environment))


def run(argv: Sequence[str], environment: Environment) -> int:
    """One command line; the exit status."""
    try:
        if list(argv) == ["--version"]:
            from gradcli._version import __version__

            environment.stdout.write(f"gradcli {__version__}\n")
            status = OK
        else:
            plain = read(argv)
            if plain is not None:
                status = dispatch(*plain, environment)
            else:
                from gradcli.cli import app

                status = app.run(argv, environment)
        environment.stdout.flush()
        return status
    except BrokenPipeError:
        forget(environment.stdout)
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as problem:  # files have errors of their own: this is a full disk, or the like
        forget(environment.stdout)
        write(environment.stderr, "gradcli: cannot write the answer:"
              f" {problem.strerror or 'standard output is closed'}\n")
        return BAD_INPUT
    except Exception as problem:  # the last line of defence: a bug is told as one
        trace = sum([word.count("v") for word in argv if word.startswith("-v")]) > 1
        _report(problem, trace, environment)
        return BUG


def dispatch(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Run one command with its values; errors are printed where they belong."""
    try:
        alone = MODULES.get(command)
        if alone is not None:
            status: int = _module(alone).run(values, environment)
        else:
            status = _module(_family(command, values)).run(command, values, environment)
        return status
    except GradcliError as problem:
        _print(problem, values, environment)
        return BAD_INPUT


MODULES = {"run": "program", **{name: name for name in (
    "ops why check steps derive plot graph verify").split()}}
"""Commands that have a module of their own, in `gradcli.cli.commands`."""


def _family(command: str, values: dict[str, Any]) -> str:
    """The module of a command that shares one with others."""
    if command.startswith("hw "):
        return "homework"
    if command in CALCULUS:
        return "calculus"
    return "points" if values["points"] else "question"


def _module(name: str) -> Any:
    """Imported when its command runs: the others cost nothing."""
    return __import__(f"gradcli.cli.commands.{name}", fromlist=["run"])


def _print(problem: GradcliError, values: dict[str, Any], environment: Environment) -> None:
    from gradcli.render import messages

    stream = environment.stderr
    if values["format"] in ("json", "ndjson"):
        from gradcli.render import machine

        file = values.get("file") or "-e"
        environment.tell(machine.dump(messages.as_json(problem.diagnostics, file)) + "\n")
        return
    color = environment.color(stream, values["color"])
    encoding = getattr(stream, "encoding", None) or "utf-8"
    environment.tell(messages.render(
        problem.diagnostics, color, environment.width(stream), encoding,
        wrapped=environment.terminal(stream)))


def _report(problem: Exception, trace: bool, environment: Environment) -> None:
    import contextlib
    import traceback

    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
    with contextlib.suppress(OSError, ValueError):  # its streams may be what is broken
        environment.stdout.flush()
    write(environment.stderr, f"gradcli: a bug, not your mistake: {type(problem).__name__}:"
           f" {problem} ({where}); please report it with the command that you ran\n")
    if trace:
        write(environment.stderr, "".join(traceback.format_exception(problem)))
