"""The check that a fix changes nothing but the missing derivative.

Both programs run to the end, and the changed one is given None as answer wherever the original got
None: then everything that either of them says has to be the same.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.engine.record.structure import flatten
from gradcli.engine.record.tensor import value_of
from gradcli.explain.missing.fixes import trial_runs
from gradcli.lang.running.calls import NoGradient, is_number
from gradcli.lang.running.instructions import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.lang.running.log import Asked
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Options, Printed, Run

# A rewritten formula is rounded elsewhere.
RTOL, ATOL = 1e-9, 1e-12
WATCHED = "watched_variables"


class Outputs:
    """All that a run says: printed values, expectations met or not, values of bare expressions,
    answers to its questions (None for a missing one), and whether it ran to its end.
    """

    __slots__ = ("answers", "ended", "expects", "prints", "results")

    def __init__(self, run: Run, prints: list[Any]) -> None:
        assert run.log is not None
        self.prints = prints
        self.expects = [expect.holds for expect in run.expects]
        self.results = [v for v in map(_plain, run.results.values()) if v is not None]
        self.answers = [[_plain(g) for g in flatten(q.found)] for q in run.log.questions]
        self.ended = run.log.ended

    def agrees_with(self, other: Outputs) -> bool:
        """Return whether another run says the same; it may answer what is missing here."""
        return (
            self.ended == other.ended and _same(self.prints, other.prints)
            and self.expects == other.expects and len(self.answers) == len(other.answers)
            and all(len(a) == len(b) and all(x is None or _same(x, y) for x, y in
                                             zip(a, b, strict=True))
                    for a, b in zip(self.answers, other.answers, strict=True))
            and _among(self.results, other.results))


def harms(program: Program, at: Mapping[str, Any], run: Run, changed: Program) -> bool:
    """Return whether the changed program says anything else than the original, apart from
    derivatives that the original lacks.

    run: a logged run of the original, in which results are cached.
    """
    log = run.log
    assert log is not None
    if "outputs" not in log.made:
        # The run may have ended before its end.
        whole, outputs = _outputs(program, at, {}, run.options)
        assert whole.log is not None
        log.made["outputs"] = outputs
        missing = log.made["given"] = {
            number: given for number, question in enumerate(whole.log.questions)
            if (given := _missing(question))}
        for number, given in missing.items():
            for k in given:
                outputs.answers[number][k] = None
    found = trial_runs(log).run(("harm", changed.source.text), lambda: _outputs(
        changed, at, log.made["given"], run.options)[0])
    assert found.log is not None
    before: Outputs = log.made["outputs"]
    # `expect` and comparisons of what has no items with lists refuse.
    try:
        return not before.agrees_with(found.log.made["outputs"])
    except GradcliError:
        return True


def _outputs(program: Program, at: Mapping[str, Any], given: Mapping[int, Mapping[int, Any]],
             options: Options) -> tuple[Run, Outputs]:
    prints: list[Any] = []

    def output(printed: Printed) -> None:
        # The list of watched variables is what a watch is meant to change.
        told = WATCHED not in program.source.text[slice(*printed.span)]
        prints.append([_plain(value) for value in printed.values] if told else None)

    run = program.logged_run(at, output, given=given, **options)
    assert run.log is not None
    outputs = run.log.made["outputs"] = Outputs(run, prints)
    return run, outputs


def _missing(question: Asked) -> dict[int, Any]:
    """Return by number the answers to a question that are None, or 0 because that was asked for."""
    zero = "unconnected_gradients" in question.arguments()[1]
    return {k: g for k, g in enumerate(flatten(question.found))
            if isinstance(g, NoGradient) or (zero and not _any(value_of(g)))}


def _any(value: Any) -> bool:
    return bool(value.any() if hasattr(value, "any") else value)


def _plain(value: Any) -> Any:
    """Return a snapshot of a value, since a variable may change later."""
    if value is None or isinstance(value, (str, NoGradient)):
        return value if isinstance(value, str) else None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(v) for v in value]
    return value_of(value) if is_number(value) else type(value).__name__


def _same(a: Any, b: Any) -> bool:
    return same(a, b, RTOL, ATOL)


def _among(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether the values occur among the others in the same order."""
    rest = iter(others)
    return all(any(_same(value, other) for other in rest) for value in values)
