"""An answer evaluated at the points of its problem."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values, error_of
from gradcli.homework.checking import compare
from gradcli.homework.checking import pool as points
from gradcli.homework.checking.compare import Comparison, Side
from gradcli.homework.checking.prepared import PreparedProblem
from gradcli.lang.syntax.code import BINARY, PUSH, UNARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.answered import Answered
    from gradcli.lang.syntax.code import Code

MORE = 4096


class Trial:
    """An answer at the points of its problem.

    inputs: those of the problem, and values of names that only the answer has; side: the answer's
    values, None if its shape is not the one asked for.
    """

    __slots__ = ("answered", "comparison", "deadline", "errors", "inputs", "notes", "prepared",
                 "side", "values")

    def __init__(self, prepared: PreparedProblem, answered: Answered, deadline: float) -> None:
        self.prepared = prepared
        self.answered = answered
        self.deadline = deadline
        self.notes: list[str] = []
        self.inputs = prepared.inputs
        self.errors = prepared.errors
        if answered.unknown:
            self.inputs = {**self.inputs, **self._unknown(answered.unknown)}
        self.values = Values(answered.formula, self.inputs, self.errors)
        self.values.deadline = deadline
        self.side: Side | None = None
        self.comparison: Comparison | None = None

    def _unknown(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return values of names that the problem does not know; y and f are the function."""
        prepared = self.prepared
        found: dict[str, Any] = {}
        functions = prepared.reference.functions
        kind = prepared.reference.kind
        for name in names:
            if kind.function == "curve" and name in ("x", "y"):
                (value, bound), = prepared.values.of([functions[name == "y"]])
                found[name] = value
                self.errors = {**self.errors, name: error_of(value, bound)}
                if not self.notes:
                    self.notes.append("x and y were taken for the coordinates of the curve")
            elif name in ("y", "f") and len(functions) == 1 and \
                    prepared.reference.constraint is None and not kind.line:
                found[name] = prepared.values.of(functions)[0][0]
                self.notes.append(f"`{name}` was taken for the function itself")
            elif prepared.single:
                found[name] = float(prepared.random(name).random() * 2.7 + 0.3)
            else:
                found[name] = prepared.random(name).random(prepared.size) * 2.7 + 0.3
        return found

    def left_over(self) -> list[str]:
        """Return the variables in the answer to which the problem has given values."""
        fixed = self.prepared.reference.fixed
        return [n for n in self.answered.formula.leaves(self.answered.nodes) if n in fixed]

    def again(self, inputs: dict[str, Any]) -> Trial:
        """Return the trial of this answer at other points."""
        prepared = self.prepared
        known = {n: inputs[n] for n in prepared.inputs}
        other = PreparedProblem(prepared.problem, prepared.reference, prepared.seed, known,
                                prepared.errors, self.deadline)
        return Trial(other, self.answered, self.deadline)

    def resampled(self) -> Trial:
        """Return the trial of this answer at many more points, to settle a single difference; the
        same where a constraint gives the points.
        """
        prepared = self.prepared
        if prepared.reference.constraint is not None:
            return self
        trial = self.again(points.pool(
            prepared.reference, points.seed_number(
                prepared.seed, prepared.problem.id, prepared.problem.function, "again"), MORE))
        trial.side = Side(trial.values, self.answered.nodes, trial.prepared.size)
        trial.comparison = Comparison(trial.prepared.side, trial.side, prepared.problem.rtol,
                                      trial.prepared.zeros)
        return trial

    def allowed(self) -> Any:
        """Return the allowed difference of each number from the right one, a column."""
        prepared = self.prepared
        side = self.side
        assert side is not None
        return np.array([[compare.allowed(
            prepared.problem.tolerance, float(right), float(typed), text)]
            for right, typed, text in zip(
                prepared.side.values[:, 0], side.values[:, 0], components(self), strict=True)])


def components(trial: Trial) -> list[str]:
    """Return the numbers of an answer as they were typed, without signs; "" for a calculated one.

    A component has the value of a number that stands in the text, 7.39 of 2/9 i + 7.39 j, or not.
    """
    assert trial.side is not None
    reading = trial.answered.reading
    code, values = reading.code, trial.side.values[:, 0].tolist()
    if len(values) == 1 and _is_scientific(code):
        return [reading.text[code[-1][2]:code[-1][3]]]
    typed = [(ins[1], reading.text[ins[2]:ins[3]]) for ins in code if ins[0] == PUSH]
    found = []
    for value in values:
        k = next((k for k, (number, _) in enumerate(typed) if number == abs(value)), None)
        found.append("" if k is None else typed.pop(k)[1])
    return found


def _is_scientific(code: Code) -> bool:
    """Return whether the code is a number times a power of ten: 7.39*10^3."""
    steps = [ins[:2] for ins in code if ins[:2] != (UNARY, "negative")]
    return (len(steps) == 5 and steps[1] == (PUSH, 10.0) and steps[0][0] == steps[2][0] == PUSH
            and steps[3:] == [(BINARY, "power"), (BINARY, "multiply")])
