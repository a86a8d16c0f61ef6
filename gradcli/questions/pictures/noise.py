"""Rounding in the digits of a curve: beside removable singularities, where large terms cancel.

Source of the bound: Linnainmaa, Taylor expansion of the accumulated rounding error (1976): to first
order an error made in one step arrives multiplied by the adjoint of that step.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import ANS, OUT
from gradcli.engine.record.tensor import Tensor
from gradcli.ops.kinds import EDGE
from gradcli.questions.many.parts import DERIVATIVES
from gradcli.questions.question import tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.questions.pictures.values import Evaluator

# A step is wrong by at most so much of its value: functions of a library by a unit in the last
# place.
UNIT = 2.0 ** -52
# The record of a derivative of a derivative grows; beyond, bounds are continued as a sequence.
LONGEST = 250
# What looking at places of one picture may cost: one each, and one for so many entries of a record.
MOST = 1000
ENTRIES = 100
# Halvings of the logarithm of an edge.
TIGHT = 4
# Each step outwards to an edge is so many times longer than the last.
FAR = 8.0


class Noise:
    """Bounds of the rounding error of a picture's numbers. values: the source of the numbers. left:
    the cost that further bounds may have.
    """

    __slots__ = ("_found", "left", "values")

    def __init__(self, values: Evaluator) -> None:
        self.values = values
        self.left = MOST
        self._found: dict[float, list[float]] = {}

    def at(self, x: float, c: int) -> float:
        """Return a bound of the rounding error of curve c at x: 0 where nothing is known of it,
        infinite or NaN where there is no number.
        """
        if x not in self._found:
            if self.left <= 0:
                return 0.0
            self.left -= 1
            try:
                self._found[x] = self._bounds(x)
            except (GradcliError, *EDGE):
                self._found[x] = []
        found = self._found[x]
        return found[c] if c < len(found) else 0.0

    def _bounds(self, x: float) -> list[float]:
        """Return per curve: of each target itself and all its derivatives."""
        values, question = self.values, self.values.question
        found: list[float] = []
        for k in range(len(values.targets)):
            run = question.run(values.at([x]), explain=False)
            own: list[float] = []
            with run.record, quiet():
                target = question.program.targets(run, question.of)[k]
                bindings = question.program.sources(run, question.wrt)
                own.append(_bound(run, tensors_of(target)))
                successive = DERIVATIVES["successive"]
                assert successive is not None
                for part in successive(question, run, target, bindings, True):
                    if len(own) > values.count or len(run.record.history()) > LONGEST:
                        break
                    own.append(_bound(run, [part.value] if isinstance(part.value, Tensor) else []))
            self.left -= len(run.record.history()) // ENTRIES
            while len(own) <= values.count:
                own.append(own[-1] * own[-1] / own[-2] if own[-2:-1] > [0.0] else 0.0)
            found += own
        return found

    def false_pole(self, x: float, c: int, width: float) -> bool:
        """Return whether what grows towards x is nothing but rounding: there is no digit beside it.
        """
        for away in (1e-8 * width, 1e-6 * width):
            for side in (x - away, x + away):
                y = abs(float(self.values(np.array([side])).reshape(-1)[c]))
                if not y <= 20.0 * self.at(side, c):
                    return False
        return True

    def around(self, x: float, c: int, room: float, start: float, ends: tuple[float, float]
               ) -> tuple[float, float]:
        """Return the interval around x in which rounding is more than `room`. start: a first
        distance. ends: of the axis.
        """
        low, high = (self._edge(x, c, room, sign * start, end)
                     for sign, end in zip((-1.0, 1.0), ends, strict=True))
        return low, high

    def _edge(self, x: float, c: int, room: float, away: float, end: float) -> float:
        while abs(away) < abs(end - x):
            if self.at(x + away, c) <= room:
                inner, outer = away / FAR, away
                for _ in range(TIGHT):
                    middle = inner * (outer / inner) ** 0.5
                    if self.at(x + middle, c) <= room:
                        outer = middle
                    else:
                        inner = middle
                return x + outer
            away *= FAR
        return end


def _bound(run: Any, tensors: Sequence[Tensor]) -> float:
    """Return to first order the rounding error of the sum of these tensors."""
    tensors = [t for t in tensors if t.id is not None]
    entries = run.record.history()
    steps = [Tensor(entry[ANS], entry[OUT], 0) for entry in entries]
    if not tensors or not steps:
        return 0.0
    adjoints = calculus.gradient(tensors, steps)
    # What stands at infinity and does not matter there is 0 times infinity.
    return UNIT * float(sum([
        np.nansum(np.abs(np.asarray(g) * np.asarray(step.value)))
        for g, step in zip(adjoints, steps, strict=True) if g is not None]))
