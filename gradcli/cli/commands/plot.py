"""plot: a function and its derivatives as a picture in a file, in a terminal, or as JSON."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.similar import nearest
from gradcli.cli.commands.output import Output
from gradcli.cli.commands.pictures import Misuse, as_json, deliver, refuse_terminal, refused
from gradcli.cli.commands.question import guarded
from gradcli.cli.commands.values import values_at
from gradcli.cli.environment import OK
from gradcli.cli.options.pictures import PICTURES, format_of, orders
from gradcli.cli.options.table import memory, split
from gradcli.questions.pictures.over import limits_of, over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.lang.running.program import Program
    from gradcli.questions.plain_data import Answer


def run(values: dict[str, Any], environment: Environment) -> int:
    """Draw; what is special about the curves goes to standard error."""
    chosen = format_of("plot", values)
    try:
        refuse_terminal(chosen or "", values, environment)
        answer: Answer = guarded(values, environment, lambda program: _answer(program, values))
    except Misuse as problem:
        return refused("plot", problem, environment)
    if chosen == "json":
        deliver(as_json(answer), [], values, environment)
    elif chosen in PICTURES:
        from gradcli.render.pictures.files import picture

        deliver(picture(answer, chosen), answer["notes"], values, environment)
    else:
        deliver(_text(answer, values, environment), answer["notes"], values, environment)
    return OK


def ask_for(program: Program, values: dict[str, Any]) -> Any:
    """The question of a picture: names and values, no sources yet."""
    from gradcli.questions import Ask

    found: dict[str, Any] = {"at": values_at(values["at"]), "of": [
        ",".join([name.replace(",", "][") for name in split(text)]) for text in values["of"]]}
    if values["max_steps"] is not None:
        found["max_steps"] = values["max_steps"]
    if values["max_memory"] is not None:
        found["max_bytes"] = memory(values["max_memory"])
    return Ask(program, **found)


def _answer(program: Program, values: dict[str, Any]) -> Answer:
    if not values["over"]:
        names = program.default_sources()
        raise Misuse("give the input on the axis and its range:"
                     f" --over {names[0] if names else 'x'}=-10:10")
    axes = over(values["over"])
    for one, text in zip(axes, values["over"], strict=True):
        if one.base not in program.names.order:
            apart = program.names.apart(program.names.inputs, program.source, [one.base])
            if apart:
                raise GradcliError(*dict.fromkeys(apart.values()))
        if one.base not in program.names.order or one.base in program.names.functions:
            known = program.default_sources()
            near = nearest(one.base, known)
            raise GradcliError(Diagnostic(
                "E0812", f"`{program.source.name}` has no input `{one.base}`",
                span=(0, text.index("=")), source=Source(text, "--over"),
                help=f"did you mean `{near}`?" if near else
                f"give one of {', '.join(known)}" if known else "there is no input to plot over"))
    view = None if values["range"] is None else limits_of(values["range"], "--range")
    ask = ask_for(program, values)
    if len(axes) == 2:
        from gradcli.questions.pictures.field import field

        return field(ask, axes, view)
    from gradcli.questions.pictures.curves import curves

    return curves(ask, axes[0], orders(values["derivatives"]) or [], view)


def _text(answer: Answer, values: dict[str, Any], environment: Environment) -> str:
    from gradcli.render.pictures.terminal import picture

    output = Output(values, environment)
    return picture(answer, environment.width(environment.stdout), output.encoding(),
                   output.color())
