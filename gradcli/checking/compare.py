"""Two functions, compared at points: no tolerance but what rounding may have done.

All arrays have a row a component and a column a point. A difference counts from 1e-8 of the larger
value on, plus the rounding errors of both; where these are too large to tell, the point abstains.
"""

from __future__ import annotations

from gradcli.ops.lazy import np
from gradcli.sweeps.rounding import error_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.sweeps.rounding import Values

SAFETY = 16.0
BLURRED = 1e-3
HUGE, TINY = 1e290, 1e-290


class Side:
    """Values of one side, an array; size: their absolute values.

    finite: where it is a number of usable size. noise: 16 times the rounding bound; near_zero:
    where it is 0 for all that rounding tells. Both are calculated when they are asked for.
    """

    __slots__ = ("_near_zero", "_nodes", "_noise", "_of", "finite", "size", "values")

    def __init__(self, of: Values, nodes: Sequence[int], points: int) -> None:
        """A row for each node, a column for each point."""
        self._of = of
        self._nodes = nodes
        self._noise: Any = None
        self._near_zero: Any = None
        self.values = _rows(of.plain(nodes), points)
        self.size = abs(self.values)
        self.finite = self.size <= HUGE

    def moved(self, values: Any, noise: Any) -> Side:
        """The same with other values, and so much more noise."""
        other = Side.__new__(Side)
        other._of, other._nodes, other._near_zero = self._of, self._nodes, None
        other._noise = self.noise + noise
        other.values, other.size = values, abs(values)
        other.finite = other.size <= HUGE
        return other

    @property
    def noise(self) -> Any:
        if self._noise is None:
            with np.errstate(all="ignore"):
                self._noise = _rows([
                    error_of(value, bound) for value, bound in self._of.of(self._nodes)
                ], self.values.shape[1])
                self._noise *= SAFETY
        return self._noise

    @property
    def near_zero(self) -> Any:
        if self._near_zero is None:
            self._near_zero = self.size <= self.noise
        return self._near_zero


def _rows(found: Sequence[Any], points: int) -> Any:
    if len(found) == 1 and type(found[0]) is not float and found[0].shape == (points,):
        return found[0].reshape(1, points).copy()
    made = np.empty((len(found), points))
    for k, value in enumerate(found):
        made[k] = value
    return made


class Comparison:
    """What the points say.

    usable, agree, disagree, undefined: masks; undefined: where only the second side is. excess: how
    many times the difference is what would be allowed, where they disagree.
    """

    __slots__ = ("agree", "disagree", "excess", "undefined", "usable")

    def __init__(self, right: Side, other: Side, rtol: float, zeros: Any) -> None:
        """zeros: where the components of the first side are 0 by their form."""
        with np.errstate(all="ignore"):
            scale = np.maximum(right.size, other.size)
            noise = right.noise + other.noise
            difference = abs(right.values - other.values)
            # 0 on both sides says something where it comes of a difference, and nothing where
            # it is what a float makes of a tiny number.
            both_zero = right.near_zero & other.near_zero
            self.usable = right.finite & other.finite & (noise <= HUGE) & (
                (scale >= TINY) | zeros | (both_zero & (noise >= TINY)))
            allowed = rtol * scale + noise
            self.disagree = self.usable & (difference > allowed)
            blurred = (noise > BLURRED * scale) & ~both_zero
            self.agree = self.usable & ~self.disagree & ~blurred
            self.undefined = right.finite & np.isnan(other.values)
            self.excess = np.where(self.disagree, difference / allowed, 0.0)
