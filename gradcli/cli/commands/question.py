"""grad, jac, hess, eval: a file or formula, a point, an answer."""

from __future__ import annotations

from os.path import exists

from gradcli import questions as answers
from gradcli.base.errors import Diagnostic, GradcliError, Source, listed, read, split
from gradcli.cli.commands.output import deliver
from gradcli.cli.environment import OK, WRONG
from gradcli.cli.options import memory, seconds
from gradcli.lang.running.program import Program, constant, plain_value
from gradcli.lang.syntax.code import CONSTANTS
from gradcli.questions import Question
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.questions import ProgramOptions, QuestionOptions
    from gradcli.questions.plain_data import Answer

    Given = TypeVar("Given", bound=ProgramOptions)
    Result = TypeVar("Result")

OF_EQUATIONS = ("implicit", "newton")
"""Commands that take an equation, x^2 + y^2 = 25, as the difference of its sides."""
QUESTIONS = {
    "grad": answers.grad, "jac": answers.jac, "hess": answers.hess, "eval": answers.evaluate}


def run(options: QuestionOptions, environment: Environment) -> int:
    """Answer one question; 1 if something that was checked is wrong."""
    answer = guarded(options, environment, _answered)
    deliver(answer, options, environment)
    return WRONG if answers.failed(answer, options.strict) else OK


def _answered(program: Program, options: QuestionOptions) -> Answer:
    question = question_from(program, options)
    found = QUESTIONS[options.command.name](question)
    if question.verify:
        from gradcli.questions.verify.verify import beside

        beside(question, found)
    return exchanged(question, found, options)


def exchanged(question: Question, answer: Answer, options: QuestionOptions) -> Answer:
    """Return an answer with exact numbers where --exact asks for them."""
    if not options.exact:
        return answer
    from gradcli.questions.exact import exact

    return exact(question, answer, texts_at(options.at, program=question.program))


def guarded(options: Given, environment: Environment, work: Callable[[Program, Given], Result]
            ) -> Result:
    """Read the program and work on it, within the time that --timeout allows; what goes wrong has a
    place in the program. work: is given the options with the names as the program spells them.
    """
    program, done = None, None
    try:
        try:
            if options.timeout is not None:
                done = stop_after(seconds(options.timeout) or 0.0)
            program = _program(options, environment)
            read_as = program.source.read_as
            if read_as and not (options.quiet or options.format == "json"):
                environment.tell(f"read as {visible(read_as)}\n")
            rewritten = options.latex or read_as
            return work(program, _spelled(options, program) if rewritten else options)
        finally:
            if done is not None:
                done()
    except GradcliError as problem:
        _place(problem, program, options.file or "-e")
        if program is not None and (options.latex or program.source.read_as):
            from gradcli.lang.typed.source import moved

            moved(problem)
        raise
    except TimeUp as over:
        from gradcli.engine.record.record import close_all

        close_all()
        late = GradcliError(Diagnostic("E0406", str(over), help="raise --timeout"))
        _place(late, program, options.file or "-e")
        raise late from None
    except MemoryError:
        full = GradcliError(Diagnostic(
            "E0403", "the machine has not enough memory for this",
            help="use smaller arrays; --max-memory stops sooner"))
        _place(full, program, options.file or "-e")
        raise full from None


def _program(options: ProgramOptions, environment: Environment) -> Program:
    """Return the program in the file, on standard input or behind -e."""
    source, alone = _source(options, environment)
    if options.latex:
        from gradcli.lang.paper import documents

        return documents.program(source)
    if options.strict_syntax:
        return Program(source)
    known = _known(options)
    equation = options.command.name in OF_EQUATIONS and "=" in source.text
    try:
        program = Program(source)
        if program.names.is_clear(known) and not equation:
            return program
    except GradcliError as problem:
        if problem.code == "E0109":     # hopeless
            raise
    from gradcli.lang.typed.program import program as as_typed

    return as_typed(source, known, alone, equation)


def _source(options: ProgramOptions, environment: Environment) -> tuple[Source, bool]:
    """Return what is to be read, and whether it is a formula of the command line."""
    if options.expression is not None:
        return Source(options.expression, "-e"), True
    path = options.file or ""
    if path == "-":
        return read(path, environment.input()), False
    if not exists(path):
        from gradcli.cli.formula import is_formula

        if is_formula(path):
            return Source(path, "formula"), True
    return read(path), False


def _known(options: ProgramOptions) -> set[str] | None:
    """Return the names that the command line gives or asks for; None where a table has others."""
    points = getattr(options, "points", ())
    if any("=" not in text for text in points):
        return None
    found: list[str] = []
    for one in options.command.options:
        value = getattr(options, one.name) if one.names else None
        for text in [value] if isinstance(value, str) else value or ():
            found += _apart(text) if one.metavar.startswith("NAME[") else [
                part.partition("=")[0] for part in _apart(text) if "=" in part]     # of x=sin(1) x
    words = "".join([sign if sign.isalnum() or sign == "_" else " " for sign in " ".join(found)])
    return set(words.split()) - CONSTANTS.keys()


def _spelled(options: Given, program: Program) -> Given:
    """Return the options with the Greek names that LaTeX reads as letters; they may have either
    spelling.
    """
    import re

    from gradcli.lang.paper.documents import SPELLINGS

    names = {word: letter for word, letter in SPELLINGS.items()
             if letter in program.names.reads or letter in program.names.bound}
    if not names:
        return options
    word = re.compile(rf"\b({'|'.join(names)})\b")
    return options.respelled(lambda text: word.sub(lambda found: names[found.group()], text))


# Seconds of what an alarm can be set to: 0 turns it off.
SHORTEST, LONGEST = 1e-6, 1e8
AGAIN = 1.0
"""Seconds from one alarm to the next: Python loses what is raised in a callback of the collector
or a finalizer, and would print it; `stop_after` hides that and waits for the next alarm."""


class TimeUp(BaseException):
    """The time that --timeout allows is over. No error of a point, which pictures leave out."""


def _place(problem: GradcliError, program: Program | None, file: str) -> None:
    """Place an error that no line of the file made, as of a derivative, at the last one: at the
    name that it binds, or all of it.
    """
    span = (0, 0)
    if program is not None and program.statements:
        last = program.statements[-1]
        span = last.start, last.end
        if len(last.names) == 1 and program.source.text.startswith(last.names[0], last.start):
            span = last.start, last.start + len(last.names[0])
    for one in problem.diagnostics:
        one.source = one.source or (program.source if program is not None else Source("", file))
        if one.span is None:
            one.span = span


def stop_after(limit: float) -> Callable[[], None]:
    """Raise TimeUp after so many seconds of wall time, where the system has such an alarm; return
    what to call when the work is done.
    """
    import signal
    import sys

    def stop(number: int, frame: Any) -> None:
        raise TimeUp(f"stopped after {limit:g} seconds, as --timeout asks")

    def report(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, TimeUp):
            report_others(unraisable)

    if not hasattr(signal, "setitimer"):
        return lambda: None
    handler, report_others = signal.signal(signal.SIGALRM, stop), sys.unraisablehook
    sys.unraisablehook = report

    def done() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        sys.unraisablehook = report_others

    try:
        signal.setitimer(signal.ITIMER_REAL, min(max(limit, SHORTEST), LONGEST), AGAIN)
    except TimeUp:
        done()
        raise
    return done


# ---- from the texts of the options to what the library takes -----------------------------------


def question_from(program: Program, options: QuestionOptions) -> Question:
    """Return the question that the options put to a program."""
    return Question(program, **question_arguments(program, options))


def question_arguments(program: Program, options: QuestionOptions) -> dict[str, Any]:
    """Return the arguments of `Question` but the program."""
    weights = options.output_gradient
    return {
        **budgets(options), "at": values_at(
            options.at, program=program, strict=options.strict_syntax),
        "of": [",".join(names) for names in options.targets()], "wrt": _distinct(options.wrt),
        "mode": options.mode, "unconnected": options.unconnected,
        "watch": _distinct(options.watch),
        "output_gradient": None if weights is None else _weights(weights),
        "tf": options.tf, "verify": options.verify, "eig": options.eig, "sparse": options.sparse,
        "verbose": options.verbose > 0, "tape": options.tape}


def budgets(options: ProgramOptions) -> dict[str, Any]:
    """Return those arguments of `Question` that limit its work."""
    found: dict[str, Any] = {}
    if options.max_steps is not None:
        found["max_steps"] = options.max_steps
    if options.max_memory is not None:
        found["max_bytes"] = memory(options.max_memory)
    return found


def values_at(texts: list[str], where: str = "--at", program: Program | None = None,
              strict: bool = False) -> dict[str, Any]:
    """Read `--at x=3,y=[1,2]`, repeated: name to value. A value alone is that of the program's only
    variable. strict: no value is read as on paper. Raises E0204 for a name that has two, and for a
    value that may be of several.
    """
    return {name: _number(name, value, where, strict)
            for name, value in texts_at(texts, where, program).items()}


def texts_at(texts: list[str], where: str = "--at", program: Program | None = None
             ) -> dict[str, str]:
    """Return the values of `values_at` as they were typed."""
    found: dict[str, str] = {}
    for text in texts:
        for part in _apart(text):
            name, _, value = part.partition("=")
            name = name.strip()
            if program is not None and "=" not in part:
                name, value = _only_source(program, text), part
            if name in found:
                start = text.rindex(part)
                raise GradcliError(Diagnostic(
                    "E0204", f"{where} gives `{name}` two values",
                    span=(start, start + len(part)), source=Source(text, where),
                    help="give each name one value; `gradcli grad --points` takes many"
                    if where == "--at" else "give each name one value"))
            found[name] = value.strip()
    return found


def _apart(text: str) -> list[str]:
    """Split values by commas, and by blanks where each has its name: x=3 y=2."""
    parts = split(text)
    if text.count("=") <= len(parts):
        return parts
    import re

    return [one for part in parts for one in re.split(
        r"\s+(?=[^\W\d]\w*(?:\[[\d, ]*\])?\s*=(?!=))", part)]


def _only_source(program: Program, text: str) -> str:
    """Return the name of the only variable or input. Raises E0204 where there is none or more."""
    names = program.default_sources
    if len(names) == 1:
        return names[0]
    raise GradcliError(Diagnostic(
        "E0204", f"`{text}` does not say which name has this value", span=(0, len(text)),
        source=Source(text, "--at"), help="write " + ",".join([f"{name}=..." for name in names])
        if names else "leave it out: the formula has no variable"))


def _weights(text: str) -> Any:
    where = "--output-gradient"
    value = _number(where, text, where)
    if isinstance(value, str):
        raise GradcliError(Diagnostic(
            "E0306", f"{where} takes a number or an array of numbers, not a text",
            span=(0, len(text)), source=Source(text, where), help="such as 2 or [1, 0, 2]"))
    return value


def _number(name: str, text: str, where: str, strict: bool = False) -> Any:
    """Return the value of a constant expression as the engine holds it; E0306 has its place here.
    """
    value = constant(text, where) if strict else constant_of(text, where)
    try:
        return plain_value(name, value)
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source, one.span = Source(text, where), (0, len(text))
        raise


def constant_of(text: str, where: str) -> Any:
    """Return the value of a constant expression, as on paper where the language refuses it."""
    try:
        return constant(text, where)
    except GradcliError as refused:
        from gradcli.lang.typed.program import constant_on_paper

        return constant_on_paper(text, where, refused)


def _distinct(texts: list[str]) -> list[str]:
    """Return the names of lists with commas or blanks, each once."""
    return list(dict.fromkeys([name for part in listed(texts) for name in (
        part.split() if "[" not in part else [part])]))
