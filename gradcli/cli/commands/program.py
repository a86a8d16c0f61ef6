"""run: a program, what it prints as it goes, and whether its expectations hold."""

from __future__ import annotations

from gradcli.cli.commands.output import Destination
from gradcli.cli.commands.question import guarded, question_from
from gradcli.cli.environment import OK, WRONG, write
from gradcli.questions.running import run as run_program
from gradcli.render import DOCUMENTS
from gradcli.render.layouts import programs
from gradcli.render.numbers import exact, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.questions import QuestionOptions
    from gradcli.lang.running.program import Program

LINES = ("table", "plain")
# Formats whose lines mean something without the others: an error drops none of them.
BY_LINES = ("ndjson", "csv", "tsv")


def run(options: QuestionOptions, environment: Environment) -> int:
    """Run the program; 1 if an expectation does not hold.

    What it prints appears as it happens, where a format has a line for each print and no more to
    say about it; else all of it does at the end, and in a file all of it or nothing.
    """
    destination = Destination(options, environment)
    path, chosen = destination.path, destination.format
    show: Callable[[Any], str] = exact
    if chosen == "table":
        show = programs.for_people(destination.digits(), whole=not destination.to_terminal)
    elif chosen in DOCUMENTS and options.digits:
        show = programs.for_people(options.digits, whole=True)
    bar = environment.progress(options.quiet)
    answer: dict[str, Any] = {"schema": 1, "command": "run", "file": "", "expects": []}
    kept: list[dict[str, Any]] = []

    def put(text: str) -> None:
        if bar is not None:
            bar.hide()
        write(environment.stdout, text)
        environment.stdout.flush()

    def each(printed: dict[str, Any], waits: bool) -> None:
        programs.fill(printed)
        if path is None and chosen in LINES:
            put(programs.line(printed, show))
        elif path is None and chosen == "ndjson" and not waits and not kept:
            put(programs.ndjson(answer, printed))
        else:
            kept.append(printed)

    def work(program: Program, options: QuestionOptions) -> dict[str, Any]:
        answer["file"] = program.source.name
        # In text they would be in the way of what is printed.
        notes = chosen == "json" or options.verbose > 0
        return run_program(question_from(program, options), each, bar, notes)

    try:
        answer = guarded(options, environment, work)
    except BaseException:
        if path is None and chosen in BY_LINES and kept:
            put(programs.render({**answer, "printed": kept}, chosen))
        if bar is not None:
            bar.hide()
        raise
    remarks = _remarks(answer, options, chosen)
    answer["printed"] = kept
    if options.quiet:
        answer["notes"] = []
    text = programs.render(answer, chosen, show)
    if path is not None:
        destination.put(text)
    elif text:
        put(text)
    if remarks:
        environment.tell("".join([f"{visible(line)}\n" for line in remarks]))
    return WRONG if any(not e["holds"] for e in answer["expects"]) else OK


def _remarks(answer: dict[str, Any], options: QuestionOptions, chosen: str) -> list[str]:
    """Return failed expectations always; reasons and notes where the format has no place for them.
    """
    lines = list(programs.failures(answer))
    if not options.quiet and chosen not in ("json", "ndjson"):
        lines += programs.remarks(answer)
    if options.verbose:
        lines += programs.details(answer)
    return lines
