"""plot and graph: pictures in a file or a terminal, as text or as JSON."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.similar import nearest
from gradcli.cli.commands.output import Destination
from gradcli.cli.commands.question import budgets, guarded, question_from, values_at
from gradcli.cli.environment import OK, USAGE
from gradcli.cli.options.pictures import PICTURES
from gradcli.questions import Question
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.pictures import GraphOptions, PictureOptions, PlotOptions
    from gradcli.lang.running.program import Program
    from gradcli.questions.plain_data import Answer

    Given = TypeVar("Given", bound=PictureOptions)

BYTES = ("png", "pdf")


class Misuse(Exception):
    """A command line that cannot be meant so, found only when the command runs."""


def plot(options: PlotOptions, environment: Environment) -> int:
    """Draw a function and its derivatives; what is special about them goes to standard error."""
    def work(program: Program, options: PlotOptions) -> tuple[Answer, Callable[[], str | bytes]]:
        answer = _plotted(program, options)
        return answer, lambda: draw(answer)

    def draw(answer: Answer) -> str | bytes:
        chosen = options.chosen()
        if chosen in PICTURES:
            from gradcli.render.pictures.files import picture

            return picture(answer, chosen)
        if chosen == "html":
            from gradcli.render import write
            from gradcli.render.pictures.files import page

            return write(answer, [page(answer)], chosen)
        from gradcli.render.pictures import terminal

        destination = Destination(options, environment)
        return terminal.picture(answer, environment.width(environment.stdout),
                                destination.encoding(), destination.color())

    return _run(options, environment, work)


def _plotted(program: Program, options: PlotOptions) -> Answer:
    from gradcli.questions.pictures.values import limits_of, over

    if not options.over:
        names = program.default_sources
        raise Misuse("give the input on the axis and its range:"
                     f" --over {names[0] if names else 'x'}=-10:10")
    axes = over(options.over)
    for one, text in zip(axes, options.over, strict=True):
        if one.base not in program.names.order:
            apart = program.names.apart(program.names.inputs, program.source, [one.base])
            if apart:
                raise GradcliError(*dict.fromkeys(apart.values()))
        if one.base not in program.names.order or one.base in program.names.functions:
            known = program.default_sources
            near = nearest(one.base, known)
            raise GradcliError(Diagnostic(
                "E0812", f"`{program.source.name}` has no input `{one.base}`",
                span=(0, text.index("=")), source=Source(text, "--over"),
                help=f"did you mean `{near}`?" if near else
                f"give one of {', '.join(known)}" if known else "there is no input to plot over"))
    view = None if options.range is None else limits_of(options.range, "--range")
    # Names and values, no sources yet; a comma in an index is no sum.
    of = [",".join([name.replace(",", "][") for name in names]) for names in options.targets()]
    question = Question(program, at=values_at(
        options.at, program=program, strict=options.strict_syntax), of=of, **budgets(options))
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

    def work(program: Program, options: GraphOptions) -> tuple[Answer, Callable[[], str | bytes]]:
        answer = graphed(question_from(program, options), options.max_nodes or MAX_NODES)
        drawn: str | bytes = "" if chosen == "json" else (
            picture(WRITERS["dot"](answer), chosen) if chosen in PICTURES else
            WRITERS[chosen](answer))
        return answer, lambda: drawn    # drawn here, where an error has a place in the program

    return _run(options, environment, work)


def _run(options: Given, environment: Environment,
         work: Callable[[Program, Given], tuple[Answer, Callable[[], str | bytes]]]) -> int:
    """Print a picture, or write it to the file of -o, and its notes to standard error; as JSON it
    has them in it. work: returns the picture as data, and the function that draws it.
    """
    destination, chosen = Destination(options, environment), options.chosen()
    try:
        if chosen in BYTES and destination.to_terminal:
            raise Misuse(f"a terminal shows no {chosen}; write it to a file: -o picture.{chosen}")
        answer, draw = guarded(options, environment, work)
    except Misuse as problem:
        environment.tell(f"gradcli {options.command.name}: {problem}\n")
        return USAGE
    if chosen == "json":
        from gradcli.render import machine

        destination.put(machine.dump(answer) + "\n")
        return OK
    drawn = draw()
    if isinstance(drawn, bytes):
        destination.put_bytes(drawn)
    else:
        destination.put(drawn)
    if not options.quiet:
        destination.remark("".join([f"{visible(note['message'])}\n" for note in answer["notes"]]))
    return OK
