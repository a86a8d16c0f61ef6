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

SAFETY = 16.0
BLURRED = 1e-3
HUGE, TINY = 1e290, 1e-290


class Side:
    """Values of one side. values, noise: arrays; noise: 16 times the rounding bound.

    finite: where it is a number of usable size. near_zero: where it is 0 for all that rounding
    tells.
    """

    __slots__ = ("finite", "near_zero", "noise", "size", "values")

    def __init__(self, found: Sequence[tuple[Any, Any]], points: int) -> None:
        """found: value and bound of each component."""
        self.values = np.empty((len(found), points))
        self.noise = np.empty((len(found), points))
        with np.errstate(all="ignore"):
            for k, (value, bound) in enumerate(found):
                self.values[k] = value
                self.noise[k] = error_of(value, bound)
            self.noise *= SAFETY
            self.size = abs(self.values)
            self.finite = (self.size <= HUGE) & (self.noise <= HUGE)
            self.near_zero = self.size <= self.noise


def agreeing(right: Side, other: Side, rtol: float) -> int:
    """The usual case, and the quick way through it: how many points agree where each component of
    the first side is finite; 0 if some point does anything else.
    """
    with np.errstate(all="ignore"):
        scale = np.maximum(right.size, other.size)
        noise = right.noise + other.noise
        plain = abs(right.values - other.values) <= rtol * scale + noise
        plain &= noise <= BLURRED * scale
        plain &= right.finite & other.finite & (scale >= TINY)
    if len(plain) == 1:
        count = int(np.count_nonzero(plain))
        return count if count == np.count_nonzero(right.finite) else 0
    counts = plain.sum(axis=1)
    return int(counts.min()) if (counts == right.finite.sum(axis=1)).all() else 0


class Comparison:
    """What the points say.

    usable, agree, disagree, undefined: masks; undefined: where only the second side is. excess: how
    many times the difference is what would be allowed, where they disagree.
    """

    __slots__ = ("agree", "disagree", "excess", "undefined", "usable")

    def __init__(self, right: Side, other: Side, rtol: float, zeros: Any) -> None:
        """zeros: a column, true for the components of the first side that are 0 by their form."""
        with np.errstate(all="ignore"):
            scale = np.maximum(right.size, other.size)
            noise = right.noise + other.noise
            difference = abs(right.values - other.values)
            # 0 on both sides says something where it comes of a difference, and nothing where
            # it is what a float makes of a tiny number.
            both_zero = right.near_zero & other.near_zero
            self.usable = right.finite & other.finite & (
                (scale >= TINY) | zeros | (both_zero & (noise >= TINY)))
            allowed = rtol * scale + noise
            self.disagree = self.usable & (difference > allowed)
            blurred = (noise > BLURRED * scale) & ~both_zero
            self.agree = self.usable & ~self.disagree & ~blurred
            self.undefined = right.finite & np.isnan(other.values)
            self.excess = np.where(self.disagree, difference / allowed, 0.0)
