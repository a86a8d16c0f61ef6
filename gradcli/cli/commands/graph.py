"""graph: the record as a graph, in DOT, Mermaid or JSON, or as a picture through Graphviz."""

from __future__ import annotations

from gradcli.answers import Ask
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import asked
from gradcli.cli.drawing import PICTURES, format_of
from gradcli.cli.environment import write
from gradcli.cli.files import whole_file, write_file
from gradcli.cli.main import OK
from gradcli.graphs.build import MAX_NODES, graph
from gradcli.graphs.writing import WRITERS
from gradcli.render import json
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def run(values: dict[str, Any], environment: Environment) -> int:
    """Draw; where paths are cut is told on standard error, too."""
    chosen = format_of("graph", values) or "dot"
    path = None if values["output"] == "-" else values["output"]
    kept: list[bytes] = []

    def work(program: Any) -> Any:
        answer = graph(Ask(program, **asked(values)), values["max_nodes"] or MAX_NODES)
        if chosen in PICTURES:
            from gradcli.graphs.graphviz import picture

            kept.append(picture(WRITERS["dot"](answer), chosen))
        return answer

    answer = guarded(values, environment, work)
    if kept:
        with environment.output() if path is None else whole_file(path) as file:
            file.write(kept[0])
    else:
        text = json.dump(answer) + "\n" if chosen == "json" else WRITERS[chosen](answer)
        if path is None:
            write(environment.stdout, text)
        else:
            write_file(path, text)
    if not values["quiet"] and chosen != "json":
        environment.stdout.flush()
        for note in answer["notes"]:
            write(environment.stderr, f"{visible(note['message'])}\n")
    return OK
