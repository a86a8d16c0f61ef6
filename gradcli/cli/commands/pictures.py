"""plot and graph: pictures in a file or a terminal, as text or as JSON."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source, split
from gradcli.base.similar import nearest
from gradcli.cli.commands.output import Destination
from gradcli.cli.commands.question import budgets, guarded, question_from, values_at
from gradcli.cli.environment import OK, USAGE
from gradcli.cli.options.pictures import PICTURES
from gradcli.questions import Question
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.pictures import GraphOptions, PictureOptions, PlotOptions
    from gradcli.lang.running.program import Program
    from gradcli.questions.plain_data import Answer

BYTES = ("png", "pdf")


class Misuse(Exception):
    """A command line that cannot be meant so, found only when the command runs."""


def plot(options: PlotOptions, environment: Environment) -> int:
    """Draw a function and its derivatives; what is special about them goes to standard error."""
    try:
        _refuse_terminal(options, environment)
        answer = guarded(options, environment, _plotted)
    except Misuse as problem:
        return _refused(problem, options, environment)
    chosen = options.chosen()
    if chosen == "json":
        _put_json(answer, options, environment)
    elif chosen in PICTURES:
        from gradcli.render.pictures.files import picture

        _put(picture(answer, chosen), answer, options, environment)
    else:
        from gradcli.render.pictures import terminal

        destination = Destination(options, environment)
        _put(terminal.picture(answer, environment.width(environment.stdout), destination.encoding(),
                              destination.color()), answer, options, environment)
    return OK


def _plotted(program: Program, options: PlotOptions) -> Answer:
    from gradcli.questions.pictures.values import limits_of, over

    if not options.over:
        names = program.default_sources()
        raise Misuse("give the input on the axis and its range:"
                     f" --over {names[0] if names else 'x'}=-10:10")
    axes = over(options.over)
    for one, text in zip(axes, options.over, strict=True):
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
    view = None if options.range is None else limits_of(options.range, "--range")
    # Names and values, no sources yet; a comma in an index is no sum.
    question = Question(program, at=values_at(options.at), **budgets(options), of=[
        ",".join([name.replace(",", "][") for name in split(text)]) for text in options.of])
    if len(axes) == 2:
        from gradcli.questions.pictures.field import field

        return field(question, axes, view)
    from gradcli.questions.pictures.curves import curves

    return curves(question, axes[0], options.orders() or [], view)


def graph(options: GraphOptions, environment: Environment) -> int:
    """Draw the record; where paths are cut is told on standard error, too."""
    from gradcli.questions.pictures.graphs import MAX_NODES
    from gradcli.questions.pictures.graphs import graph as graphed
    from gradcli.render.pictures.graphs import WRITERS, picture

    chosen = options.chosen() or "dot"

    def work(program: Program, options: GraphOptions) -> tuple[Answer, str | bytes]:
        answer = graphed(question_from(program, options), options.max_nodes or MAX_NODES)
        if chosen == "json":
            return answer, ""
        if chosen in PICTURES:
            return answer, picture(WRITERS["dot"](answer), chosen)
        return answer, WRITERS[chosen](answer)

    try:
        _refuse_terminal(options, environment)
    except Misuse as problem:
        return _refused(problem, options, environment)
    answer, drawn = guarded(options, environment, work)
    if chosen == "json":
        _put_json(answer, options, environment)
    else:
        _put(drawn, answer, options, environment)
    return OK


def _refuse_terminal(options: PictureOptions, environment: Environment) -> None:
    """Raise Misuse where the bytes of a picture would go to a terminal."""
    chosen = options.chosen()
    if chosen in BYTES and Destination(options, environment).to_terminal:
        raise Misuse(f"a terminal shows no {chosen}; write it to a file: -o picture.{chosen}")


def _refused(problem: Misuse, options: PictureOptions, environment: Environment) -> int:
    """Tell a misuse as one, and return the exit status of it."""
    environment.tell(f"gradcli {options.command.name}: {problem}\n")
    return USAGE


def _put(drawn: str | bytes, answer: Answer, options: PictureOptions, environment: Environment
         ) -> None:
    """Print a picture, or write it to the file of -o, and its notes to standard error."""
    destination = Destination(options, environment)
    if isinstance(drawn, bytes):
        destination.put_bytes(drawn)
    else:
        destination.put(drawn)
    if not options.quiet:
        destination.remark("".join([f"{visible(note['message'])}\n" for note in answer["notes"]]))


def _put_json(answer: dict[str, Any], options: PictureOptions, environment: Environment) -> None:
    """Print a picture as data, which has its notes in it."""
    from gradcli.render import machine

    Destination(options, environment).put(machine.dump(answer) + "\n")
