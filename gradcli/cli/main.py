"""The entry point: reads the command line, runs a command, turns what happens into a status.

Exit status: 0 fine; 1 something checked is wrong; 2 usage; 3 bad input; 70 a bug in gradcli; 130
interrupted; a closed pipe ends quietly.
"""

from __future__ import annotations

import gc
import sys

from gradcli.cli.dispatch import dispatch
from gradcli.cli.environment import BAD_INPUT, BUG, INTERRUPTED, OK, Environment, forget, write
from gradcli.cli.plain_argv import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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


"""Commands that have a module of their own, in `gradcli.cli.commands`."""


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
