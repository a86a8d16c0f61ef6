"""graph: the record as a graph, in DOT, Mermaid or JSON, or as a picture through Graphviz."""

from __future__ import annotations

from gradcli.cli.commands.pictures import Misuse, as_json, deliver, refuse_terminal, refused
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import asked
from gradcli.cli.environment import OK
from gradcli.cli.options.pictures import PICTURES, format_of
from gradcli.questions import Ask
from gradcli.questions.pictures.graphs import MAX_NODES, graph
from gradcli.render.pictures.graphs import WRITERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.lang.running.program import Program
    from gradcli.questions.plain_data import Answer


def run(values: dict[str, Any], environment: Environment) -> int:
    """Draw; where paths are cut is told on standard error, too."""
    chosen = format_of("graph", values) or "dot"

    def work(program: Program) -> tuple[str | bytes, list[Answer]]:
        answer = graph(Ask(program, **asked(values)), values["max_nodes"] or MAX_NODES)
        if chosen == "json":
            return as_json(answer), []
        if chosen in PICTURES:
            from gradcli.render.pictures.graphs import picture

            return picture(WRITERS["dot"](answer), chosen), answer["notes"]
        return WRITERS[chosen](answer), answer["notes"]

    try:
        refuse_terminal(chosen, values, environment)
    except Misuse as problem:
        return refused("graph", problem, environment)
    drawn, notes = guarded(values, environment, work)
    deliver(drawn, notes, values, environment)
    return OK
