"""The Typer application: everything that the plain form of a command line leaves over.

It is built from `cli.options`, so `--help`, completion and usage errors speak of the same options
that `cli.plain_argv` reads. Typer and Click are imported here only.
"""

# No `from __future__ import annotations`: Typer evaluates annotations, and they name closures.
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from gradcli._version import __version__
from gradcli.cli import marking
from gradcli.cli.environment import Environment
from gradcli.cli.families import ABOUT, ARGUMENT_HELP, EXAMPLES, GROUPS, SUMMARIES
from gradcli.cli.main import dispatch
from gradcli.cli.options import Option, arguments, misused, options
from gradcli.cli.plain_argv import arranged
from gradcli.render.visible import visible

Chosen = tuple[str, dict[str, Any]]     # a command and its values


def run(argv: Sequence[str], environment: Environment) -> int:
    """Read a command line with Typer and run it; the exit status.

    Typer only reads: it would turn an interrupt or a closed pipe into status 1.
    """
    if environment.variables.get("NO_COLOR") or not environment.terminal(environment.stdout):
        os.environ.setdefault("TYPER_USE_RICH", "0")
    chosen: list[Chosen] = []
    command = typer.main.get_command(_application(chosen))
    try:
        command.main(arranged(argv), prog_name="gradcli", standalone_mode=True)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        if not chosen:
            return stop.code if isinstance(stop.code, int) else 0
    return dispatch(*chosen[0], environment)


def _application(chosen: list[Chosen]) -> typer.Typer:
    app = typer.Typer(
        name="gradcli", help=_with_examples(ABOUT, GROUPS[""]), no_args_is_help=True,
        add_completion=True, rich_markup_mode=None,
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

    class_ = typer.Typer(help=_with_examples(marking.ABOUT_HW, GROUPS["hw"]),
                         no_args_is_help=True, rich_markup_mode=None)
    for name, summary in SUMMARIES.items():
        of, word = (class_, name[3:]) if name.startswith("hw ") else (app, name)
        of.command(word, help=_with_examples(summary, EXAMPLES[name]))(_command(name, chosen))
    app.add_typer(class_, name="hw")
    return app


def _with_examples(about: str, examples: Sequence[str]) -> str:
    return "\n".join([about, "", "\b", "Examples:", *[f"  {line}" for line in examples]])


def _command(name: str, chosen: list[Chosen]) -> Callable[..., None]:
    """A function with the command's options as its signature: that is where Typer looks."""
    def command(**values: Any) -> None:
        for option in options(name):
            if option.kind == "list":
                values[option.name] = list(values[option.name] or [])
        problem = misused(name, values)
        if problem is not None:
            raise typer.BadParameter(visible(problem[0]), param_hint=problem[1])
        chosen.append((name, values))

    parameters = [_parameter(argument, str | None, None, typer.Argument(
        help=ARGUMENT_HELP[argument], metavar=argument.upper(), show_default=False,
        autocompletion=_operations if (name, argument) == ("ops", "name") else None))
        for argument in arguments(name) or ()]
    parameters += [_from_option(option) for option in options(name)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


TYPES: dict[str, Any] = {
    "text": str | None, "list": list[str] | None, "flag": bool, "count": int, "number": int | None,
}


def _from_option(option: Option) -> inspect.Parameter:
    settings: dict[str, Any] = {"help": option.help}
    if option.metavar:
        settings["metavar"] = option.metavar
    elif option.choices:
        settings["metavar"] = "|".join(option.choices)
    if option.choices:
        settings["autocompletion"] = _completing(option.choices)
    if option.kind == "count":
        settings["count"] = True
    settings["show_default"] = option.kind == "text" and option.default is not None
    default = None if option.kind == "list" else option.default
    return _parameter(option.name, TYPES[option.kind], default,
                      typer.Option(*option.flags, **settings))


def _completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell completes the beginning of a word to."""
    def completed(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return completed


def _operations(incomplete: str) -> list[str]:
    from gradcli.ops import PUBLIC

    return _completing(sorted(PUBLIC))(incomplete)


def _parameter(name: str, kind: Any, default: Any, info: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])
