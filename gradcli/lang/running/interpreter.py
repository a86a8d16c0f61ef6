"""The interpreter: the statements of a program are run in order.

A statement that fails poisons the names it would have bound; statements that read a poisoned name
are skipped in silence, so that independent errors are reported together. Lines of a long file that
only calculate with numbers are run together (`lang.running.lines`), and so are turns of a loop that
does nothing else (`lang.running.loops`); everything else runs in `lang.running.machine`.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.lang.running.calls import MissingGradient, MissingGradients
from gradcli.lang.running.machine import POISON, Poisoned, run_code
from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.base.errors import Diagnostic
    from gradcli.lang.running.calls import NoGradient
    from gradcli.lang.running.lines import LazyBindings, LoweredLines
    from gradcli.lang.running.run import Printed, Run
    from gradcli.lang.running.running import Running
    from gradcli.lang.syntax.code import Code, Statement


def execute(running: Running, statements: Sequence[Statement], lines: Mapping[int, LoweredLines]
            ) -> Run:
    """Run all statements. Raises one `GradcliError` with all independent errors.

    lines: number of a statement to the lines that it and those behind it are together.
    """
    found: list[Diagnostic] = []
    missing: list[tuple[Diagnostic, NoGradient]] = []
    waiting: LazyBindings | None = None
    at = 0
    with running.run.record:
        while at < len(statements):
            if at in lines and not found:
                done = lines[at].run(running)
                if done is not None:
                    waiting = done
                    at += lines[at].count
                    continue
            statement = statements[at]
            at += 1
            if waiting is not None:
                waiting.settle(running)
                waiting = None
            if found and _goes_on(statement.code):
                # Statements behind an error run for their own errors only: no loops.
                _poison(running, statement.names)
                continue
            running.nested = 0
            try:
                run_code(running, statement.code, None)
            except Poisoned:
                _poison(running, statement.names)
            except GradcliError as problem:
                _place(running, problem)
                found.extend(problem.diagnostics)
                if isinstance(problem, MissingGradient):
                    missing.append((problem.diagnostics[0], problem.missing))
                _poison(running, statement.names)
                running.output = _nowhere
                if problem.code in ("E0401", "E0402"):
                    break
    if missing:
        told = MissingGradients(*found)
        told.missing = missing
        raise told
    if found:
        raise GradcliError(*found)
    return running.run


def _poison(running: Running, names: Sequence[str]) -> None:
    for name in names:
        running.scope[name] = POISON


def _place(running: Running, problem: GradcliError) -> None:
    """Give the diagnostics of an error the span of what they are about: a part of the current
    instruction, or all of it.
    """
    running.blame(problem, running.at)
    for d in problem.diagnostics:
        if d.span is None:
            d.span = running.at[2:]
        if d.source is None:
            d.source = running.source


def _goes_on(code: Code) -> bool:
    """Return whether code contains a loop."""
    return any(ins[0] == c.ITERATE or (ins[0] == c.JUMP and ins[1] < 0) for ins in code)


def _nowhere(printed: Printed) -> None:
    """Drop the output of a program that has failed."""
