"""Where an answer goes and in which format."""

from __future__ import annotations

from gradcli import render
from gradcli.cli.environment import write
from gradcli.errors import Diagnostic, GradcliError
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment

PIPE_WIDTH = 10_000
EXACT_DIGITS = 17


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print an answer, or write it to the file of -o: all of it or nothing."""
    path = None if values["output"] == "-" else values["output"]
    to_terminal = path is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    if values["quiet"]:
        _without_notes(answer)
    if chosen == "table":
        text = _tables(answer, values, environment, to_terminal, path is not None)
    else:
        text = render.text(answer, chosen)
    if path is None:
        write(environment.stdout, text)
    else:
        write_file(path, text)
    # What `why` has to say is its answer.
    silent = values["quiet"] or answer["command"] == "why"
    if chosen == "plain" and not silent and (values["verbose"] or _has_reasons(answer)):
        # One name and value per line has no room for a reason; it goes where messages go.
        from gradcli.render import causes

        told = causes.text(answer, values["verbose"] > 0)
        if values["verbose"] and answer["command"] == "grad":
            from gradcli.render import why

            told += why.plain_paths(answer)
        environment.stdout.flush()
        write(environment.stderr, told)


def _has_reasons(answer: dict[str, Any]) -> bool:
    return any(
        part.get("reasons") for result in answer.get("results", ())
        for part in (result, *result.get("sources", ()), *result.get("blocks", ())))


def _tables(answer: dict[str, Any], values: dict[str, Any], environment: Environment,
            to_terminal: bool, to_file: bool) -> str:
    """Tables as wide and as exact as their reader: a terminal's six digits, all of them else."""
    from io import StringIO

    from gradcli.render import table

    stream = environment.stdout
    encoding = "utf-8" if to_file else getattr(stream, "encoding", None) or "ascii"
    buffer = StringIO()
    table.print_tables(
        answer, buffer, encoding=encoding,
        width=environment.width(stream) if to_terminal else PIPE_WIDTH,
        digits=values["digits"] or (6 if to_terminal else EXACT_DIGITS), whole=not to_terminal,
        color=not to_file and environment.color(stream, values["color"]))
    return buffer.getvalue()


def write_file(path: str, text: str, option: str = "-o") -> None:
    """Text to a file by way of a temporary one beside it, so that none is left half written.
    option: which one asked for it.

    A link is followed and a file's mode kept; a device or pipe is written to, never replaced.
    Raises E0605 where that is not possible.
    """
    import os

    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        else:
            _replace(os.path.realpath(path), text)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0605", f"cannot write `{path}`: {reason.lower()}",
            span=(0, len(path)), source=Source(path, option),
            help="give a file in a folder that you may write to")) from None


def _replace(path: str, text: str) -> None:
    """A regular file, old or new, gets this text or stays as it is."""
    import os
    import tempfile

    if os.path.exists(path):
        with open(path, "ab"):      # a file that may not be written is not replaced either
            mode = os.stat(path).st_mode & 0o777
    else:
        mode = 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".gradcli-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    import os

    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _without_notes(answer: dict[str, Any]) -> None:
    for result in answer.get("results", ()):
        for part in (result, *result.get("sources", ()), *result.get("blocks", ())):
            if "notes" in part:
                part["notes"] = []
