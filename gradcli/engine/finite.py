"""Derivatives by differences: an independent check, and `--mode finite`.

Ridders' method: central differences at shrinking steps, extrapolated to step 0, keeping the value
whose neighbours in the tableau agree best (C. J. F. Ridders, Advances in Engineering Software 4,
1982; Press et al., Numerical Recipes, section 5.7).
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STEP = 0.02
SHRINK = 1.4
ROUNDS = 12
# Relative to the longest scale of steps, shorter ones.
SHORTER = (1e-3, 1e-6)
TINY = 1e-150   # of such steps squares are 0, and differences may be
LEAST = 1e-300  # the shortest steps of a smaller scale are no floats
GOOD = 1e-7     # the relative error of differences that need no shorter steps
TRUSTED = 1e-3  # of differences with a larger one no digit need be right
NARROW = 0.9    # of the distance of the middle from both sides is left at half the step
HALF = 0.5      # of a slope is what the shortest step may be off by
LITTLE = 1e-4   # of the largest value divided by the scale is no slope that a short step tells
SEEN = 1e-6     # of the values beside it is no rounding
# Of the largest value on the way, divided by the scale of the steps, is 0; of 32 bits.
NOISE, NOISE_32 = 1e-9, 1e-5


class Best:
    """A slope by differences, with estimates for each element.

    error: an estimate of its error.
    noise: the largest value that was met, divided by the scale of the steps.
    longest: that quotient at the longest scale.
    step: the scale that gave the slope.
    """

    __slots__ = ("error", "longest", "noise", "step", "value")

    def __init__(self, value: Any, error: Any, step: float, noise: Any, longest: Any) -> None:
        self.value = value
        self.error = error
        self.step = step
        self.noise = noise
        self.longest = longest

    def doubt(self, rounding: float = NOISE) -> str:
        """Return why no digit of the slope need be right; empty where the digits can be trusted."""
        if not np.isfinite(self.value).all():
            return "a step leaves the domain of the function or the range of floats"
        off = np.asarray(self.error)
        bad = off > np.maximum(TRUSTED * np.abs(self.value), rounding * self.longest)
        if not bad.any():
            return ""
        worst = float(off[bad].max())
        return f"their own estimate of the error is {worst:.2g}" if worst < math.inf else (
            "the function changes too fast for the steps")


def best(f: Callable[[float], Any], x: float, size: float) -> Best:
    """Return f'(x) for f from a float to a float or array.

    The steps are relative to the larger of 1 and `size`, the size of the argument that moves; where
    these are too long for f, the shorter ones whose estimated error is the smallest share of the
    slope, or if no share is small, the smallest.
    """
    long = max(1.0, size)
    here = f(x)
    found, least, longest = None, (math.inf, math.inf), np.zeros(())
    for scale in dict.fromkeys((long, *([size] if LEAST < size < 1.0 else ()),
                                *[long * shorter for shorter in SHORTER])):
        value, error = estimate(f, x, scale, here)
        if found is not None and scale < TINY and not np.any(value):
            continue
        with np.errstate(over="ignore"):
            met = np.maximum(_size(f(x - STEP * scale)), _size(f(x + STEP * scale))) / scale
        if found is None:
            # The absolute error that makes no difference does not grow with shorter steps.
            longest = met
        error = np.maximum(error, _unlike(f, x, here, STEP * scale / SHRINK**ROUNDS, value,
                                          LITTLE * met))
        share = _share(value, error, NOISE * longest, np.isnan(here))
        # Of what is in doubt anyway the share says nothing.
        rank = (share, 0.0) if share <= TRUSTED else (math.inf, float(np.max(error, initial=0.0)))
        if found is None or rank < least:
            found = Best(value, error, scale, np.maximum(met, _size(here) / scale), longest)
            least = rank
        if share <= GOOD:
            break
    assert found is not None
    return found


def _unlike(f: Callable[[float], Any], x: float, here: Any, h: float, slope: Any, least: Any
            ) -> Any:
    """Return the error of a slope by the evidence of the shortest step h, 0 if there is none: that
    the slope is quite another one, or that f has a jump or a peak at x.

    How far the middle lies from both sides goes away with the step where f is smooth or has a kink.
    """
    (left, right), (below, above) = [(f(x - step), f(x + step)) for step in (h, h / 2.0)]
    wide, close = [abs(a + b - 2.0 * here) for a, b in ((left, right), (below, above))]
    off = abs((right - left) / (2.0 * h) - slope)
    off = np.where(off > HALF * np.maximum(np.abs(slope), least), off, 0.0)
    return np.where((close > NARROW * wide) & (wide > SEEN * np.maximum(abs(left), abs(right))),
                    math.inf, off)


def estimate(f: Callable[[float], Any], x: float, scale: float = 1.0, here: Any = 0.0
             ) -> tuple[Any, Any]:
    """Return f'(x) by steps of at most 2 % of a scale, and for each element an estimate of its
    error.

    The error is the largest difference to a neighbour in the tableau, infinite where no neighbour
    is finite. here: f(x), if it is known. Good for about ten digits where f is smooth on the steps
    around x; NaN where f is.
    """
    h = STEP * scale
    rows = [_central(f, x, h)]
    best, error = rows[0], math.inf if isinstance(rows[0], float) else (
        np.full(np.shape(rows[0]), math.inf))
    for _ in range(ROUNDS):
        h /= SHRINK
        new = [_central(f, x, h)]
        factor = 1.0
        for k in range(len(rows)):
            factor *= SHRINK * SHRINK
            new.append((new[k] * factor - rows[k]) / (factor - 1))
            best, error = _nearer(best, error, new[k + 1], abs(new[k + 1] - new[k]),
                                  abs(new[k + 1] - rows[k]))
        off = abs(new[-1] - rows[-1])
        if np.all((off > 4 * error) | np.isnan(off) & np.isnan(here)):
            break
        rows = new
    return best, error


def _nearer(best: Any, error: Any, found: Any, one: Any, other: Any) -> tuple[Any, Any]:
    """Return the value with the smaller error, and that error."""
    if isinstance(one, float):
        return (found, max(one, other)) if one < error and other < error else (best, error)
    nearer = (one < error) & (other < error)
    return np.where(nearer, found, best), np.where(nearer, np.maximum(one, other), error)


def _central(f: Callable[[float], Any], x: float, h: float) -> Any:
    above, below = x + h, x - h
    return (f(above) - f(below)) / (above - below)


def _size(value: Any) -> Any:
    """Return magnitudes, 0 where they are not finite."""
    return np.where(np.isfinite(value), np.abs(value), 0.0)


def _share(value: Any, error: Any, floor: Any, nothing: Any) -> float:
    """Return the largest relative error of a slope, relative to `floor` where it is smaller.

    nothing: mask of where f is NaN; no step makes a number of it.
    """
    with np.errstate(all="ignore"):
        share = np.where(np.equal(error, 0.0), 0.0, error / np.maximum(np.abs(value), floor))
    known = np.isfinite(share) & np.isfinite(value)
    return float(np.max(np.where(known, share, np.where(nothing & np.isnan(value), 0.0, np.inf)),
                        initial=0.0))


def noise(value: float, x: float) -> float:
    """Return the slope that differences of a function of this value at x cannot tell from 0."""
    return 1e-12 * value / max(1.0, abs(x)) if value - value == 0.0 else 0.0


def difference(a: Any, b: Any, floor: float = 0.0) -> float:
    """Return the largest relative difference of two derivatives, relative to the larger of them as
    a whole; 0 where both are 0 or both are NaN in the same elements, or the difference is no more
    than `floor`.
    """
    if isinstance(a, float) and isinstance(b, float):
        if a == b or (a != a and b != b) or abs(a - b) <= floor:
            return 0.0
        return abs(a - b) / max(abs(a), abs(b), 1e-300)
    x, y = (np.asarray(v, complex if np.iscomplexobj(v) else float) for v in (a, b))
    if not (x.size and y.size):     # as lists, empty arrays lose their shape
        return 0.0
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= floor)
    if same.all():
        return 0.0
    scale = max(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)),
                float(np.abs(y[np.isfinite(y)]).max(initial=0.0)), 1e-300)
    with np.errstate(all="ignore"):
        apart = np.where(same, 0.0, np.abs(x - y))
    return float(apart.max()) / scale
