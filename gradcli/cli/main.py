"""The entry point: reads the command line, runs a command, turns what happens into a status.

Exit status: 0 fine; 1 something checked is wrong; 2 usage; 3 bad input; 70 a bug in gradcli; 130
interrupted; a closed pipe ends quietly.
"""

from __future__ import annotations

import gc
import os
import sys

from gradcli.base.errors import GradcliError
from gradcli.cli.environment import BAD_INPUT, BUG, INTERRUPTED, OK, Environment, forget, write
from gradcli.cli.options import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.cli.options import Options


def main() -> None:
    """Run the command line of this process, and raise SystemExit with its status."""
    gc.disable()    # as `gradcli.__main__` does
    sys.exit(run(sys.argv[1:], Environment()))


def run_process() -> None:
    """Run the command line of this process and end it, at once where nothing waits for its end:
    Python takes a seventh of the time of a small answer to free what the system frees anyway.
    """
    status = run(sys.argv[1:], Environment())
    if not _is_awaited():
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            pass        # left to Python, which tells and has a status for it
        else:
            os._exit(status)
    sys.exit(status)


# What may be left open when a command has ended: files of a script of the user, tasks of threads.
OPEN = ("gradcli.tf.scripts.script", "concurrent.futures.thread", "multiprocessing")


def _is_awaited() -> bool:
    """Return whether anything is to happen, or is watched, when Python ends: exit handlers,
    threads, a debugger or profiler.
    """
    import atexit

    modules = sys.modules
    threads = modules.get("threading")
    tools = getattr(sys, "monitoring", None)
    return bool(
        getattr(atexit, "_ncallbacks", lambda: 1)() or any(name in modules for name in OPEN)
        or (threads is not None and threads.active_count() > 1)
        or sys.gettrace() or sys.getprofile()
        or (tools is not None and any(tools.get_tool(k) for k in range(6))))


def run(argv: Sequence[str], environment: Environment) -> int:
    """Run one command line and return the exit status."""
    try:
        if list(argv) == ["--version"]:
            from gradcli._version import __version__

            environment.stdout.write(f"gradcli {__version__}\n")
            status = OK
        else:
            options: Options | int | None = read(argv)
            if options is None:
                from gradcli.cli import app

                options = app.read(argv, environment)
            status = options if isinstance(options, int) else dispatch(options, environment)
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


def dispatch(options: Options, environment: Environment) -> int:
    """Run one command; errors are printed where they belong."""
    module, _, function = options.runner().partition(".")
    try:
        # Imported when its command runs: the others cost nothing.
        commands = __import__(f"gradcli.cli.commands.{module}", fromlist=[function])
        status: int = getattr(commands, function)(options, environment)
        return status
    except GradcliError as problem:
        from gradcli.cli.commands.output import complain

        complain(problem.diagnostics, options, environment)
        return BAD_INPUT


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
