"""Commands that are one question and one layout: steps, derive, verify and those of calculus."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source, listed, split
from gradcli.base.lazy import np
from gradcli.cli.commands.output import Destination
from gradcli.cli.commands.question import constant_of, exchanged, guarded, question_from, values_at
from gradcli.cli.environment import OK, WRONG
from gradcli.cli.options.questions import QuestionOptions
from gradcli.render import DOCUMENTS, EXACT
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.programs import DeriveOptions, StepsOptions
    from gradcli.lang.running.program import Program
    from gradcli.questions.plain_data import Answer
    from gradcli.render.layouts.targets import TargetPage


def run(options: QuestionOptions, environment: Environment) -> int:
    """Put the question of the row and show it with its layout; 1 if a check failed or a
    method did not converge.

    The question is given a `Question`, and by name those options that a `Question` does not know.
    """
    row = options.command
    module, _, name = row.question.rpartition(".")
    ask = getattr(__import__(f"gradcli.questions.{module}", fromlist=[name]), name)
    own = [one.name for one in row.options if one.name not in QuestionOptions.fields()]

    def work(program: Program, options: QuestionOptions) -> tuple[Answer, dict[str, Any]]:
        question = question_from(program, options)
        answer = ask(question, **{
            name: READERS.get(name, _itself)(getattr(options, name)) for name in own})
        return exchanged(question, answer, options), question.at

    with np.errstate(all="ignore"):     # what overflows is told as the number that it becomes
        answer, at = guarded(options, environment, work)
    _show(answer, at, options, environment)
    return WRONG if answer.get("verdict") == "differ" or any(
        result.get("converged") is False for result in answer["results"]) else OK


def _show(answer: Answer, at: dict[str, Any], options: QuestionOptions, environment: Environment
          ) -> None:
    """Print an answer, a page for each target. at: the point."""
    if answer.get("mode") == LETTERS:
        return _derivation(answer, options, environment)
    destination = Destination(options, environment)
    if options.quiet:
        for result in answer["results"]:
            result["notes"] = []
    digits = destination.digits() if destination.format == "table" else (
        options.digits if destination.format in DOCUMENTS else None)
    moving = {name.partition("[")[0] for result in answer["results"]
              for name in result.get("at", ())}
    pages: list[TargetPage] = []
    if destination.format not in ("json", "ndjson"):
        from gradcli.render.layouts import calculus, study

        layout = study if answer["command"] in study.PAGES else calculus
        pages = layout.pages(
            answer, digits, verbose=options.verbose > 0,
            held={name: value for name, value in at.items() if name not in moving})
    destination.write(answer, pages, whole=not destination.to_terminal or options.verbose > 0)
    if destination.bare():
        destination.remark("".join([
            visible(text) + "\n" for page in pages for text in page.messages]))


# ---- what options of a row say, as its question takes it ---------------------------------------


def _itself(value: Any) -> Any:
    return value


def _direction(text: str) -> Any:
    """Read --direction: its text, a number for each variable, and in its place values by name."""
    by_name = values_at([text], "--direction") if "=" in text else {}
    return text, [] if by_name else [
        _number(part, "--direction", "3,4 or x=3,y=4") for part in split(text)], by_name


def _correlations(texts: list[str]) -> dict[tuple[str, str], float]:
    """Read --correlation: pairs of names to numbers. Raises E0834 for a pair that has two."""
    found: dict[tuple[str, str], float] = {}
    for part in listed(texts):
        pair, _, number = part.partition("=")
        first, second = (name.strip() for name in pair.split(":", 1))
        if (first, second) in found or (second, first) in found:
            raise GradcliError(Diagnostic(
                "E0834", f"--correlation gives `{first}` and `{second}` twice",
                span=(0, len(part)), source=Source(part, "--correlation"),
                help="give each pair one correlation"))
        found[first, second] = _number(number.strip(), "--correlation", "x:y=0.5")
    return found


def _interval(text: str | None) -> tuple[str, float, float] | None:
    """Read --over: the name of a variable and the ends of an interval."""
    if text is None:
        return None
    from gradcli.questions.pictures.values import over

    (found,) = over([text])
    return found.name, found.low, found.high


def _number(text: str, option: str, such: str) -> float:
    """Read one number that an option gives. Raises E0834."""
    value = constant_of(text, option)
    if type(value) not in (float, int):
        raise GradcliError(Diagnostic(
            "E0834", f"`{text}` is not a number", span=(0, len(text)), source=Source(text, option),
            help=f"such as {such}"))
    return float(value)


READERS: dict[str, Callable[[Any], Any]] = {
    "sigma": lambda texts: values_at(texts, "--sigma"), "correlation": _correlations,
    "dependent": split, "direction": _direction, "over": _interval,
    "tolerance": lambda text: None if text is None else float(text)}
"""By the name of the option; others are as their questions take them."""


# ---- steps and derive, which have pages of their own -------------------------------------------

LETTERS = "letters"
"""The mode of an answer whose steps are of formulas."""


def _derivation(answer: Answer, options: QuestionOptions, environment: Environment) -> None:
    """Print derivations with letters."""
    from gradcli.render.layouts import letters

    destination = Destination(options, environment)
    pages = letters.pages(answer)
    destination.write(answer, pages)
    if destination.bare():
        destination.remark("".join([
            visible(text) + "\n" for page in pages for text in page.messages]))


def steps(options: StepsOptions, environment: Environment) -> int:
    """Show a derivative operation by operation."""
    from gradcli.questions.steps.steps import steps as stepped
    from gradcli.render.layouts.steps import SHOWN, pages

    destination = Destination(options, environment)
    verbose = options.verbose > 0
    whole = verbose or destination.format in EXACT or (
        destination.format == "table" and not destination.to_terminal)

    def work(program: Program, options: StepsOptions) -> Answer:
        from gradcli.questions.steps import letters

        question = question_from(program, options)
        if not options.hint:
            try:
                return stepped(question, None if whole else SHOWN)
            except GradcliError as problem:
                if options.mode == "forward" or not letters.wanted(question, problem):
                    raise
        return letters.derivations(question, options.hint)

    answer = guarded(options, environment, work)
    if answer["mode"] == LETTERS:
        _derivation(answer, options, environment)
        return OK
    if options.quiet:
        for part in [p for result in answer["results"] for p in (result, *result["sources"])]:
            part["notes"] = []
    destination.write(
        answer, pages(destination.rounded(answer), verbose, destination.encoding()), whole=whole)
    if destination.bare():
        from gradcli.render.messages import remarks

        command = "jac" if answer["mode"] == "forward" else "grad"
        destination.remark(remarks({**answer, "command": command}))
    return OK


def derive(options: DeriveOptions, environment: Environment) -> int:
    """Show derivatives as formulas; with --strict 1 if one is None."""
    from gradcli.formulas.text import LANGUAGES, language_of
    from gradcli.questions.derive.answer import derived, typeset
    from gradcli.render.layouts import formula

    destination = Destination(options, environment)
    language = destination.format if destination.format in LANGUAGES else "gradcli"
    ask = typeset if destination.format == "html" else derived

    def work(program: Program, options: DeriveOptions) -> Answer:
        question = question_from(program, options)
        answer = ask(
            question, what=options.what, order=options.order or 1, language=language,
            simplify=options.simplify, named=not options.inline,
            paper=language == "latex" or destination.format not in LANGUAGES)
        if (options.value or options.exact) and destination.format not in LANGUAGES:
            from gradcli.questions.derive.values import valued

            return exchanged(question, valued(question, answer), options)
        return answer

    answer = guarded(options, environment, work)
    conditions = answer["conditions"]
    if options.quiet:
        answer["conditions"] = []
    if destination.format == language:
        destination.put(language_of(language).file(answer))
    else:
        width = environment.width(environment.stdout) if destination.to_terminal else None
        destination.put(formula.render(
            answer, destination.format, width, destination.color(), destination.digits()))
    missing = [r for r in answer["results"] if r["formula"] is None]
    if destination.bare():
        lines = ["holds where " + " and ".join(conditions)] if conditions else []
        lines += formula.doubts(answer)
        lines += [f"{formula.heading(r)} is None: {reason['message']}"
                 for r in missing for reason in r["reasons"]]
        destination.remark("".join([f"{visible(line)}\n" for line in lines]))
    return WRONG if options.strict and (missing or formula.doubts(answer)) else OK
