"""The Typer application: everything that the plain form of a command line leaves over.

It is built from the rows of `cli.options`, so `--help`, completion and usage errors speak of the
same options that `cli.options.read` knows. Typer and Click are imported here only.
"""

# No `from __future__ import annotations`: Typer evaluates annotations, and they name closures.
import inspect
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gradcli._version import __version__
from gradcli.cli.environment import Environment
from gradcli.cli.formula import with_command
from gradcli.cli.man import GROUPS
from gradcli.cli.options import OUTPUT, Command, Option, Options, arranged, commands, find
from gradcli.render.numbers import visible

UsageError: Any = typer.BadParameter.__base__
OVERRIDDEN = ("color", "digits", "format", "jobs", "max_memory", "max_steps", "mode", "on_error",
              "timeout", "unconnected")
"""Options that say how, not what: an alias may set them, and of two the later counts."""


SAID_ELSEWHERE = {("plot", "--wrt"): ["--over"]}
"""(command, option that it does not have) to what says the same there."""

MEANT = {word: command for command, words in {
    "derive": "diff differentiate derivative deriv d/dx dx simplify", "grad": "gradient",
    "jac": "jacobian", "hess": "hessian", "eval": "evaluate value calc calculate compute",
    "newton": "solve root roots fsolve nsolve minimize maximise maximize minimise",
    "study": "extrema extremum zeros analyze analyse sketch", "limit": "lim", "--help": "help man",
    "taylor": "series maclaurin", "plot": "draw", "why": "explain", "hw": "homework grade marks",
    "tangent": "linearize linearise normal", "propagate": "uncertainty error",
    "implicit": "implicitdiff impl"}.items() for word in words.split()}
"""What other systems call a command."""


def read(argv: Sequence[str], environment: Environment) -> Options | int:
    """Read a command line with Typer: its options, or the exit status where it asks for help or is
    wrong, which is told.

    Typer only reads: it would turn an interrupt or a closed pipe into status 1.
    """
    if environment.variables.get("NO_COLOR") or not environment.terminal(environment.stdout):
        os.environ.setdefault("TYPER_USE_RICH", "0")
    chosen: list[Options] = []
    if not named(argv, others=False):
        argv = with_command(argv)
    command = typer.main.get_command(_application(chosen, named(argv)))
    try:
        with redirect_stdout(environment.stdout), redirect_stderr(environment.stderr):
            command.main(arranged(argv), prog_name="gradcli", standalone_mode=True)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        if not chosen:
            return stop.code if isinstance(stop.code, int) else 0
    return chosen[0]


class _Command(TyperCommand):
    """A command that suggests what was meant, and does not pass over what was said twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        try:
            rest: list[str] = super().parse_args(ctx, args)
        except UsageError as problem:
            if hasattr(problem, "possibilities"):
                flags = [flag for one in self.params for flag in one.opts if flag.startswith("--")]
                problem.possibilities = SAID_ELSEWHERE.get(
                    (self.name or "", problem.option_name)) or near(problem.option_name, flags)
                _of_the_script(self.name or "", given, problem)
            raise
        order: list[Any] = self.make_parser(ctx).parse_args(args=given)[2]
        for one, often in Counter([p for p in order if p.param_type_name == "option"]).items():
            if often > 1 and one.name not in OVERRIDDEN and not (
                    one.multiple or one.count or one.is_flag):
                raise typer.BadParameter(f"it is given {often} times, and may be given once.",
                                         param_hint=f"'{one.opts[-1]}'")
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options panel by panel, which Typer does with Rich only."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            panel = getattr(one, "rich_help_panel", None) or OUTPUT
            if one.param_type_name == "argument":
                panel = "Arguments"
            panels.setdefault(panel, []).append(one.get_help_record(ctx) or ("", ""))
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records)


def _of_the_script(command: str, given: list[str], problem: Any) -> None:
    """Say of an option that a command does not have how it is given to a script in front of it."""
    scripts = [k for k, word in enumerate(given) if word.endswith(".py")]
    if command not in ("run", "why") or not scripts or problem.possibilities:
        return
    own = [k for k in range(scripts[0] + 1, len(given))
           if given[k].partition("=")[0] == problem.option_name]
    if own:
        words = [command, *given[:own[0]], "--", *given[own[0]:]]
        problem.message += ". Those of the script stand behind `--`: gradcli " \
            f"{visible(shlex.join(words))}"


class _Group(TyperGroup):
    """Commands with a name each; an option of theirs in front of it is told as such."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            rest: list[str] = super().parse_args(ctx, args)
        except UsageError as problem:
            flag = getattr(problem, "option_name", None)
            command = next((row.name for row in commands() for option in row.options
                            if flag in option.flags), None)
            if command is not None:
                problem.possibilities = None
                problem.message += f" (commands have it: gradcli {command} {flag} ...)"
            raise
        return rest

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except UsageError as problem:
            words = [MEANT[args[0].lower()]] if args[0].lower() in MEANT else near(
                args[0], self.commands)
            if words and not hasattr(problem, "option_name"):
                problem.message = (f"{problem.message.partition(' Did you mean ')[0]}"
                                   f" Did you mean {' or '.join([repr(word) for word in words])}?")
            elif not hasattr(problem, "option_name"):
                problem.message = problem.message.partition(" Did you mean ")[0]
            raise


def near(word: str, names: Iterable[str]) -> list[str]:
    """Find what may have been meant, best first: a name that begins so, the same letters in
    another order, a name with a part that begins as one of these, a similar one; at most two.
    """
    known = list(names)
    bare = word.lstrip("-")
    prefixes = [name for name in known if bare and name.lstrip("-").startswith(bare)]
    turned = [name for name in known if sorted(name) == sorted(word)]
    parts = [part for part in reversed(bare.split("-")) if len(part) > 2]
    named = [name for part in parts for name in known
             if any(one.startswith(part) for one in name.lstrip("-").split("-"))]
    similar = get_close_matches(word, known, n=2, cutoff=0.7)
    return next((found[:2] for found in (prefixes, turned, named, similar) if found), [])


def named(argv: Sequence[str], others: bool = True) -> list[Command]:
    """Return the command that a line begins with; if it begins with none, all or (others) nothing.

    Only the list of all commands, and what is near a slip, needs more than that one; to build all
    takes 50 ms.
    """
    command = find(" ".join(argv[:1])) or find(" ".join(argv[:2]))
    return [command] if command is not None else list(commands()) if others else []


def _application(chosen: list[Options], rows: Sequence[Command]) -> typer.Typer:
    app = typer.Typer(
        name="gradcli", help=_with_examples(*GROUPS[""]), no_args_is_help=True,
        add_completion=True, rich_markup_mode=None, cls=_Group,
        context_settings={"help_option_names": ["-h", "--help"]})

    def version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"gradcli {__version__}")
            raise typer.Exit

    @app.callback()
    def callback(
        show: Annotated[bool, typer.Option(
            "--version", callback=version, is_eager=True, help="Print the version.")] = False,
    ) -> None:
        pass

    class_ = typer.Typer(help=_with_examples(*GROUPS["hw"]), no_args_is_help=True,
                         rich_markup_mode=None, cls=_Group)
    for command in rows:
        group, _, word = command.name.rpartition(" ")
        of = class_ if group else app
        of.command(word, help=_with_examples(command.summary, command.examples), cls=_Command)(
            _function(command, chosen))
    if class_.registered_commands:
        app.add_typer(class_, name="hw")
    return app


def _with_examples(about: str, examples: Sequence[str]) -> str:
    return "\n".join([about, "", "\b", "Examples:", *[f"  {line}" for line in examples]])


def _function(command: Command, chosen: list[Options]) -> Callable[..., None]:
    """Return a function with the command's options as its signature: that is where Typer looks."""
    def function(**values: Any) -> None:
        options = command.kind(command)
        for option in (*command.arguments, *command.options):
            if option.kind == "list":
                values[option.name] = list(values[option.name] or [])
        vars(options).update(values)
        problem = options.misused()
        if problem is not None:
            raise typer.BadParameter(visible(problem[0]), param_hint=f"'{problem[1]}'")
        chosen.append(options)

    parameters = [_parameter(argument.name, TYPES[argument.kind], None, typer.Argument(
        help=argument.help, metavar=argument.name.upper(), show_default=False,
        autocompletion=_operations if (command.name, argument.name) == ("ops", "name") else None))
        for argument in command.arguments]
    parameters += [_from_option(option) for option in command.options]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    return function


TYPES: dict[str, Any] = {
    "text": str | None, "list": list[str] | None, "flag": bool, "count": int, "number": int | None,
}


def _whole(text: Any) -> int:
    """Read a whole number from 1 on."""
    words = str(text)
    if not (words.isascii() and words.isdigit() and len(words) <= 15 and int(words) > 0):
        raise typer.BadParameter(f"'{visible(words)}' is not a whole number from 1 on.")
    return int(words)


def _from_option(option: Option) -> inspect.Parameter:
    settings: dict[str, Any] = {"help": option.help, "rich_help_panel": option.panel}
    if option.metavar:
        settings["metavar"] = option.metavar
    elif option.choices:
        settings["metavar"] = "|".join(option.choices)
    if option.choices:
        settings["autocompletion"] = _completing(option.choices)
    if option.kind == "count":
        settings["count"] = True
    if option.kind == "number":
        settings["parser"] = _whole
    settings["show_default"] = option.kind == "text" and bool(option.default)
    default = None if option.kind == "list" else option.default
    return _parameter(option.name, TYPES[option.kind], default,
                      typer.Option(*option.flags, **settings))


def _completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes the beginning of a word to one of these."""
    def completed(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return completed


def _operations(incomplete: str) -> list[str]:
    from gradcli.ops import PUBLIC

    return _completing(sorted(PUBLIC))(incomplete)


def _parameter(name: str, kind: Any, default: Any, info: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])
