"""A few points of a problem at which an answer is compared with all wrong answers at once.

Those that agree there are then compared at all points, with the rounding bounds of both.
"""

from __future__ import annotations

from time import thread_time

from gradcli.base.lazy import np
from gradcli.formulas.rounding import applied, error_of
from gradcli.homework.checking.compare import BLURRED, HUGE, SAFETY, TINY, digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.checking.prepared import PreparedProblem

SIZE = 40
LEAST = 12
"""As many points must agree, where there are that many."""
RTOL = 1e-7
ROUGH = 1e-6
MOSTLY = 0.7
EXACT = 1e-9
"""Relative difference of two numbers that are the same; where there is one point only."""


class Sample:
    """The values of a problem at a few points.

    columns: the indices of the points.
    inputs: name to its values.
    right: of the right answer, a row for each component.
    known: node of the reference's formula to its values.
    """

    __slots__ = ("columns", "inputs", "known", "prepared", "right", "single")

    def __init__(self, prepared: PreparedProblem) -> None:
        self.prepared = prepared
        self.single = prepared.single
        self.columns = _columns(prepared)
        self.inputs = taken(prepared.inputs, self.columns)
        self.right = prepared.side.values[:, self.columns]
        self.known: dict[int, Any] = {}

    def of(self, nodes: Sequence[int]) -> Any:
        """Return the values of nodes of the reference's formula, a row each."""
        return rows(evaluated(self.prepared.reference.formula, nodes, self.inputs, self.known),
                    len(self.columns))


def _columns(prepared: PreparedProblem) -> Any:
    """Return the first points with an exact right answer (many digits) of ordinary size."""
    if prepared.single:
        return np.array([0])
    side = prepared.side
    with np.errstate(all="ignore"):
        exact = (side.noise <= 1e-8 * side.size) | (side.size == 0)
        ordinary = ((side.size > 1e-8) & (side.size < 1e8)) | (side.size == 0)
    finite = side.finite.all(axis=0)
    best = finite & exact.all(axis=0) & ordinary.all(axis=0)
    chosen = np.flatnonzero(best)
    if len(chosen) < LEAST:
        chosen = np.flatnonzero(finite)
    return chosen[:SIZE]


def taken(inputs: Mapping[str, Any], columns: Any) -> dict[str, Any]:
    """Return values at some of the points."""
    return {n: v if type(v) is float else v[columns] for n, v in inputs.items()}


def evaluated(formula: Formula, nodes: Iterable[int], inputs: Mapping[str, Any],
              known: dict[int, Any], deadline: float = float("inf")) -> list[Any]:
    """Return values without bounds; `known` keeps those of all nodes met.

    deadline: of `time.thread_time`; raises TimeoutError after it.
    """
    nodes = list(nodes)
    ops, args, given = formula.ops, formula.args, formula.given
    limited = deadline != float("inf")
    with np.errstate(all="ignore"):
        for k in formula.needed([n for n in nodes if n not in known]):
            if k in known:
                continue
            op = ops[k]
            if op is None:
                leaf = given[k]
                known[k] = inputs[leaf] if type(leaf) is str else leaf
            else:
                if limited and thread_time() > deadline:
                    raise TimeoutError
                known[k] = applied(op, [known[a] for a in args[k]])
    return [known[k] for k in nodes]


def rows(values: Sequence[Any], points: int) -> Any:
    """Return values as an array, a row each."""
    found = np.empty((len(values), points))
    for k, value in enumerate(values):
        found[k] = value
    return found


def near(wanted: Any, given: Any, rtol: float) -> Any:
    """Return a mask of where two arrays agree, up to a share of the larger; infinities never do."""
    with np.errstate(all="ignore"):
        size = np.maximum(abs(wanted), abs(given))
        return (abs(wanted - given) <= rtol * size) & (size < np.inf)


class AnswerComponent:
    """One component of an answer.

    at: its values at the sample.
    clear: mask of those that are exact enough to compare.
    slack: the rounding error of a number that was typed as a decimal.
    """

    __slots__ = ("at", "c", "clear", "digits", "finite", "noise", "sample", "slack", "values")

    def __init__(self, trial: Trial, sample: Sample, c: int) -> None:
        assert trial.side is not None
        self.sample = sample
        self.c = c
        self.values = trial.side.values[c]
        self.noise = trial.side.noise[c]
        self.finite = trial.side.finite[c]
        self.at = self.values[sample.columns]
        size = abs(self.at)
        with np.errstate(all="ignore"):
            self.clear = self.finite[sample.columns] & (
                (self.noise[sample.columns] <= ROUGH * size) | (size == 0))
        self.slack, self.digits = 0.0, 0
        if sample.single:
            self.slack, self.digits = _rounding(trial, c)

    def matches(self, matrix: Any) -> Any:
        """Return the indices of the rows that agree where both are defined, at enough points.

        A few points may differ: rows have no rounding bounds, and some cancel.
        """
        if not len(matrix):
            return []
        rtol = EXACT if self.sample.single else ROUGH
        both = np.isfinite(matrix) & self.clear
        good = near(matrix, self.at, rtol) | ~both
        if self.slack:
            good |= abs(matrix - self.at) <= self.slack
        if self.sample.single:
            return np.flatnonzero(good.all(axis=1) & both.all(axis=1))
        agree = (good & both).sum(axis=1)
        # An answer may be defined at few of them: that of arcsin(3x) for arctan(3x).
        least = min(self.least(), max(4, int(self.clear.sum())))
        return np.flatnonzero((agree >= least) & (agree >= MOSTLY * both.sum(axis=1)))

    def exact(self) -> Any:
        """Return a mask of where the answer and the right one are exact enough for their ratio."""
        side, columns = self.sample.prepared.side, self.sample.columns
        noise = self.noise[columns] + side.noise[self.c][columns]
        with np.errstate(all="ignore"):
            return self.clear & (noise <= 0.1 * EXACT * abs(self.at))

    def least(self) -> int:
        """Return the number of points of the sample that have to agree."""
        return 1 if self.sample.single else min(LEAST, max(4, len(self.sample.columns) // 3))

    def agreeing(self, node: int) -> int:
        """Return the number of points at which a node of the reference agrees; 0 if any differs."""
        prepared = self.sample.prepared
        if self.sample.single:
            return 1
        (value, bound), = prepared.values.of([node])
        return self.agreeing_with(value, error_of(value, bound))

    def agreeing_with(self, value: Any, error: Any) -> int:
        """Return the number of points at which values with errors agree; 0 if any differs."""
        with np.errstate(all="ignore"):
            noise = SAFETY * error + self.noise
            size = np.maximum(abs(value), abs(self.values))
            usable = self.finite & (abs(value) <= HUGE) & (noise <= HUGE) & (
                (size >= TINY) | (size == 0))
            difference = abs(value - self.values)
            if (usable & (difference > RTOL * size + noise)).any():
                return 0
            return int((usable & (noise <= BLURRED * size)).sum())

    @property
    def constant(self) -> bool:
        """Return whether the answer is the same number everywhere, or, of numbers, one of few
        digits: these agree with much by chance.
        """
        if self.sample.single:
            value = abs(float(self.at[0]))
            return 0 < self.digits < 4 if self.slack else value * 12 % 1 == 0
        seen = self.at[self.clear]
        return len(seen) >= self.least() and bool(near(seen, seen[0], EXACT).all())


def _rounding(trial: Trial, c: int) -> tuple[float, int]:
    """Return half a unit of the last decimal place that was typed, and the number of digits."""
    from gradcli.homework.checking.answered import components

    found = digits(components(trial)[c])
    if found is None or found[1] <= 0:
        return 0.0, 0
    return 0.5000001 * 10.0 ** -found[1], found[0]
