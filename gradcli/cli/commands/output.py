"""Where an answer goes and in which format."""

from __future__ import annotations

from gradcli import render
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
    to_terminal = values["output"] is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    if values["quiet"]:
        _without_notes(answer)
    if chosen != "table":
        text = render.text(answer, chosen)
        if values["output"] is not None:
            write_file(values["output"], text)
        else:
            write(environment.stdout, text)
        return
    from io import StringIO

    from gradcli.render import table

    stream = environment.stdout
    digits = values["digits"] or (6 if to_terminal else EXACT_DIGITS)
    width = environment.width(stream) if to_terminal else PIPE_WIDTH
    encoding = "utf-8" if values["output"] is not None else (
        getattr(stream, "encoding", None) or "ascii")
    buffer = StringIO()
    table.print_tables(
        answer, buffer, width=width, digits=digits, encoding=encoding,
        color=values["output"] is None and environment.color(stream, values["color"]))
    if values["output"] is not None:
        write_file(values["output"], buffer.getvalue())
    else:
        write(stream, buffer.getvalue())


def write(stream: Any, text: str) -> None:
    """Text to a stream; what its encoding lacks becomes a visible escape."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def write_file(path: str, text: str) -> None:
    """Text to a file by way of a temporary one beside it, so that none is left half written.

    Raises E0605 where that is not possible.
    """
    import os
    import tempfile

    try:
        folder = os.path.dirname(os.path.abspath(path))
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".gradcli-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as problem:
        raise GradcliError(Diagnostic(
            "E0605", f"cannot write `{path}`: {(problem.strerror or str(problem)).lower()}",
            span=(0, len(path)), source=Source(path, "-o"),
            help="give a file in a folder that you may write to")) from None


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
