"""run: a program, what it prints as it goes, and whether its expectations hold."""

from __future__ import annotations

from gradcli.answers.running import run as run_program
from gradcli.cli.commands.output import write_file
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import ask_from
from gradcli.cli.environment import write
from gradcli.cli.main import OK, WRONG
from gradcli.render import printed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.program import Program

# Formats that are a line per print, so that it can be written at once.
STREAMED = ("table", "plain")


def run(values: dict[str, Any], environment: Environment) -> int:
    """Run the program; 1 if an expectation does not hold."""
    path = None if values["output"] == "-" else values["output"]
    to_terminal = path is None and environment.terminal(environment.stdout)
    chosen = values["format"] or ("table" if to_terminal else "plain")
    at_once = path is None and chosen in STREAMED
    bar = _bar(values, environment)

    def each(told: dict[str, Any]) -> None:
        if bar is not None:
            bar.hide()
        write(environment.stdout, printed.line(printed.fill(told)))
        if to_terminal:
            environment.stdout.flush()

    def work(program: Program) -> dict[str, Any]:
        return run_program(ask_from("run", program, values), each if at_once else None, bar)

    answer = guarded(values, environment, work)
    for told in answer["printed"]:
        printed.fill(told)
    if not at_once:
        text = printed.render(answer, "plain" if chosen in STREAMED else chosen)
        if path is None:
            write(environment.stdout, text)
        else:
            write_file(path, text)
    environment.stdout.flush()
    _remark(answer, values, environment, chosen)
    return WRONG if any(not e["holds"] for e in answer["expects"]) else OK


def _bar(values: dict[str, Any], environment: Environment) -> Any:
    """A progress bar where a person watches."""
    if values["quiet"] or not environment.terminal(environment.stderr):
        return None
    from gradcli.render.progress import Progress

    return Progress(environment.stderr)


def _remark(answer: dict[str, Any], values: dict[str, Any], environment: Environment, chosen: str
            ) -> None:
    """Failed expectations always; reasons and notes where the format has no place for them."""
    lines = list(printed.failures(answer))
    if not values["quiet"] and chosen not in ("json", "ndjson"):
        lines += printed.remarks(answer, True)
    if values["verbose"]:
        held = sum(e["holds"] for e in answer["expects"])
        if answer["expects"]:
            lines.append(f"note: {held} of {len(answer['expects'])} expectations hold")
        lines += [f"note: {text}" for text in answer["held"]]
    if lines:
        write(environment.stderr, "\n".join(lines) + "\n")
