"""The entry point: reads the command line, runs a command, turns what happens into a status.

Exit status: 0 fine; 1 something checked is wrong; 2 usage; 3 bad input; 70 a bug in gradcli; 130
interrupted; a closed pipe ends quietly.
"""

from __future__ import annotations

import gc
import sys

from gradcli.cli.environment import Environment, write
from gradcli.cli.options import CALCULUS
from gradcli.cli.plain_argv import read
from gradcli.errors import GradcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

OK, WRONG, USAGE, BAD_INPUT, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130


def main() -> None:
    """The console script."""
    # One answer and the process ends: looking for garbage doubles the time of a large file.
    gc.disable()
    sys.exit(run(sys.argv[1:], Environment()))


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
        _forget(environment)
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as problem:  # files have errors of their own: this is a full disk, or the like
        write(environment.stderr, f"gradcli: cannot write the answer: {problem.strerror}\n")
        _forget(environment)
        return BAD_INPUT
    except Exception as problem:  # the last line of defence: a bug is told as one
        trace = sum([word.count("v") for word in argv if word.startswith("-v")]) > 1
        _report(problem, trace, environment)
        return BUG


def dispatch(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Run one command with its values; errors are printed where they belong."""
    try:
        if command == "ops":
            from gradcli.cli.commands import ops

            return ops.run(values, environment)
        if command == "run":
            from gradcli.cli.commands import program

            return program.run(values, environment)
        if command == "why":
            from gradcli.cli.commands import why

            return why.run(values, environment)
        if command == "check":
            from gradcli.cli.commands import check

            return check.run(values, environment)
        if command.startswith("hw "):
            from gradcli.cli.commands import homework

            return homework.run(command, values, environment)
        if command == "steps":
            from gradcli.cli.commands import steps

            return steps.run(values, environment)
        if command == "derive":
            from gradcli.cli.commands import derive

            return derive.run(values, environment)
        if command == "plot":
            from gradcli.cli.commands import plot

            return plot.run(values, environment)
        if command == "graph":
            from gradcli.cli.commands import graph

            return graph.run(values, environment)
        if command == "verify":
            from gradcli.cli.commands import verify

            return verify.run(values, environment)
        if command in CALCULUS:
            from gradcli.cli.commands import calculus

            return calculus.run(command, values, environment)
        if values["points"]:
            from gradcli.cli.commands import points

            return points.run(command, values, environment)
        from gradcli.cli.commands import question

        return question.run(command, values, environment)
    except GradcliError as problem:
        _print(problem, values, environment)
        return BAD_INPUT


def _print(problem: GradcliError, values: dict[str, Any], environment: Environment) -> None:
    from gradcli.render import diagnostics

    stream = environment.stderr
    if values["format"] in ("json", "ndjson"):
        from gradcli.render import json

        file = values.get("file") or "-e"
        write(stream, json.dump(diagnostics.as_json(problem.diagnostics, file)) + "\n")
        return
    color = environment.color(stream, values["color"])
    encoding = getattr(stream, "encoding", None) or "utf-8"
    write(stream, diagnostics.render(
        problem.diagnostics, color, environment.width(stream), encoding))


def _report(problem: Exception, trace: bool, environment: Environment) -> None:
    import traceback

    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
    write(environment.stderr, f"gradcli: a bug, not your mistake: {type(problem).__name__}:"
           f" {problem} ({where}); please report it with the command that you ran\n")
    if trace:
        write(environment.stderr, "".join(traceback.format_exception(problem)))


def _forget(environment: Environment) -> None:
    """After a failed write, keep Python's shutdown from complaining about it."""
    import os

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), environment.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass
