"""Where an answer goes and in which format."""

from __future__ import annotations

from gradcli import render
from gradcli.cli.environment import write

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
        from gradcli.cli.files import write_file

        write_file(path, text)
    # What `why` has to say is its answer.
    silent = values["quiet"] or answer["command"] == "why"
    if chosen == "plain" and not silent and (values["verbose"] or _has_reasons(answer)):
        # One name and value per line has no room for a reason; it goes where messages go.
        from gradcli.render import causes

        told = causes.text(answer, values["verbose"] > 0)
        if values["verbose"] and answer["command"] == "grad":
            from gradcli.render import why_text

            told += why_text.plain_paths(answer)
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


def _without_notes(answer: dict[str, Any]) -> None:
    for result in answer.get("results", ()):
        for part in (result, *result.get("sources", ()), *result.get("blocks", ())):
            if "notes" in part:
                part["notes"] = []
