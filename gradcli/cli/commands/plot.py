"""plot: a function and its derivatives as a picture in a file, in a terminal, or as JSON."""

from __future__ import annotations

from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import values_at
from gradcli.cli.drawing import format_of, orders
from gradcli.cli.environment import write
from gradcli.cli.files import whole_file, write_file
from gradcli.cli.main import OK
from gradcli.cli.options import memory
from gradcli.errors import Diagnostic, GradcliError
from gradcli.lang.names import nearest
from gradcli.plotting.over import limits_of, over
from gradcli.render.visible import visible
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer
    from gradcli.cli.environment import Environment
    from gradcli.program import Program


def run(values: dict[str, Any], environment: Environment) -> int:
    """Draw; what is special about the curves goes to standard error."""
    answer: Answer = guarded(values, environment, lambda program: _answer(program, values))
    chosen = format_of("plot", values)
    path = None if values["output"] == "-" else values["output"]
    if chosen in ("svg", "png", "pdf"):
        from gradcli.plotting.drawing import picture

        data = picture(answer, chosen)
        with environment.output() if path is None else whole_file(path) as file:
            file.write(data)
    else:
        text = _json(answer) if chosen == "json" else _text(answer, values, environment, path)
        if path is None:
            write(environment.stdout, text)
        else:
            write_file(path, text)
    if not values["quiet"] and chosen != "json":
        environment.stdout.flush()
        for note in answer["notes"]:
            write(environment.stderr, f"{visible(note['message'])}\n")
    return OK


def ask_for(program: Program, values: dict[str, Any]) -> Any:
    """The question of a picture: names and values, no sources yet."""
    from gradcli.answers import Ask

    found: dict[str, Any] = {"at": values_at(values["at"]), "of": [
        ",".join([n.strip() for n in text.split(",") if n.strip()]) for text in values["of"]]}
    if values["max_steps"] is not None:
        found["max_steps"] = values["max_steps"]
    if values["max_memory"] is not None:
        found["max_bytes"] = memory(values["max_memory"])
    return Ask(program, **found)


def _answer(program: Program, values: dict[str, Any]) -> Answer:
    axes = over(values["over"])
    for one, text in zip(axes, values["over"], strict=True):
        if one.name not in program.names.order or one.name in program.names.functions:
            known = program.default_sources()
            near = nearest(one.name, known)
            raise GradcliError(Diagnostic(
                "E0812", f"`{program.source.name}` has no input `{one.name}`",
                span=(0, text.index("=")), source=Source(text, "--over"),
                help=f"did you mean `{near}`?" if near else
                f"give one of {', '.join(known)}" if known else "there is no input to plot over"))
    view = None if values["range"] is None else limits_of(values["range"], "--range")
    ask = ask_for(program, values)
    if len(axes) == 2:
        from gradcli.plotting.field import field

        return field(ask, axes, view)
    from gradcli.plotting.curves import curves

    return curves(ask, axes[0], orders(values["derivatives"]) or [], view)


def _json(answer: Answer) -> str:
    from gradcli.render import json

    return json.dump(answer) + "\n"


def _text(answer: Answer, values: dict[str, Any], environment: Environment, path: str | None
          ) -> str:
    from gradcli.plotting.terminal import picture

    stream = environment.stdout
    encoding = "utf-8" if path else getattr(stream, "encoding", None) or "ascii"
    return picture(answer, environment.width(stream), encoding,
                   path is None and environment.color(stream, values["color"]))
