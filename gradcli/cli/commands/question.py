"""grad, jac, hess, eval: a file or formula, a point, an answer."""

from __future__ import annotations

from gradcli import questions as answers
from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.cli.commands.output import deliver
from gradcli.cli.commands.values import ask_from, program_from
from gradcli.cli.environment import OK, WRONG
from gradcli.cli.options.table import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.lang.running.program import Program
    from gradcli.questions import Ask
    from gradcli.questions.plain_data import Answer

QUESTIONS = {
    "grad": answers.grad, "jac": answers.jac, "hess": answers.hess, "eval": answers.evaluate}


def run(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Answer one question; 1 if something that was checked is wrong."""
    answer = guarded(values, environment, lambda program: _answered(
        command, ask_from(program, values)))
    deliver(answer, values, environment)
    return WRONG if answers.failed(answer, bool(values.get("strict"))) else OK


def _answered(command: str, ask: Ask) -> Answer:
    found = QUESTIONS[command](ask)
    if ask.verify:
        from gradcli.questions.verify.verify import beside

        beside(ask, found)
    return found


def guarded(values: dict[str, Any], environment: Environment, work: Callable[[Program], Any]
            ) -> Any:
    """Read the program and work on it, within the time that --timeout allows; what goes wrong has a
    place in the program.
    """
    limit = values["timeout"]
    program, done = None, None
    try:
        try:
            done = None if limit is None else stop_after(seconds(limit) or 0.0)
            program = program_from(values, environment)
            return work(program)
        finally:
            if done is not None:
                done()
    except GradcliError as problem:
        _place(problem, program, values["file"] or "-e")
        if values.get("latex"):
            from gradcli.lang.paper.documents import moved

            moved(problem)
        raise
    except TimeUp as over:
        from gradcli.engine.record.record import close_all

        close_all()
        late = GradcliError(Diagnostic("E0406", str(over), help="raise --timeout"))
        _place(late, program, values["file"] or "-e")
        raise late from None
    except MemoryError:
        full = GradcliError(Diagnostic(
            "E0403", "the machine has not enough memory for this",
            help="use smaller arrays; --max-memory stops sooner"))
        _place(full, program, values["file"] or "-e")
        raise full from None


# Seconds of what an alarm can be set to: 0 turns it off.
SHORTEST, LONGEST = 1e-6, 1e8


class TimeUp(BaseException):
    """The time that --timeout allows is over. No error of a point, which pictures leave out."""


def _place(problem: GradcliError, program: Program | None, file: str) -> None:
    """An error that no line of the file made, as of a derivative, stands at the last one: at the
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
    """Raise TimeUp after so many seconds of wall time, where the system has such an alarm; what to
    call when the work is done.
    """
    import signal

    def stop(number: int, frame: Any) -> None:
        raise TimeUp(f"stopped after {limit:g} seconds, as --timeout asks")

    if not hasattr(signal, "setitimer"):
        return lambda: None
    handler = signal.signal(signal.SIGALRM, stop)

    def done() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)

    try:
        signal.setitimer(signal.ITIMER_REAL, min(max(limit, SHORTEST), LONGEST))
    except TimeUp:
        done()
        raise
    return done
