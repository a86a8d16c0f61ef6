"""Refinement of a curve's points: at poles, jumps, ends and steep parts.

All curves of a picture share their points. Each round asks for the points of all curves at once, so
a round costs what a block of points costs. Nothing here knows where the values come from.
"""

from __future__ import annotations

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Evaluate = Callable[[Any], Any]     # points [n] to values [curves, n]

# Points that a curve begins with: more than a picture has pixels in a row.
COUNT = 601
# A piece that is higher than this share of the view is split.
STEP = 0.004
# Splitting ends at this share of the range, where what is left of a difference is a jump.
NARROW = 1e-12
ROUNDS = 48
# Nearer than this share of the range two places are one.
SAME = 1e-9
# At most so many pieces are split in a round, the highest first, so that curves which oscillate
# without end leave something for the others.
SPLIT = 400
MOST = 12_000
# Of the peaks of |y| so many are looked at as poles, in so many points each, so often.
PEAKS = 100
WITHIN = 9
ZOOMS = 16
# A derivative whose largest values are so many times beyond most of them is not shown in full; and
# of no curve less than this share.
WILD = 20.0
SEEN = 0.1
# Beyond, the height of a picture is no float.
LARGEST = 1e300
# A peak is steep if it is so many times higher than what is two points away.
STEEP = 1.5
# What grows this much in all, and this much in the last four rounds, grows without end.
GROWTH = 100.0
STILL = 3.0


class Sampled:
    """xs: points [n], ascending. ys: values [curves, n]. poles: per curve where it is infinite."""

    __slots__ = ("poles", "xs", "ys")

    def __init__(self, xs: Any, ys: Any, poles: list[list[float]]) -> None:
        self.xs = xs
        self.ys = ys
        self.poles = poles


def coarse(evaluate: Evaluate, low: float, high: float) -> Sampled:
    """Return equally spaced points, and the poles between them."""
    xs = np.linspace(low, high, COUNT)
    ys = evaluate(xs)
    return Sampled(xs, ys, _poles(evaluate, xs, ys))


def _poles(evaluate: Evaluate, xs: Any, ys: Any) -> list[list[float]]:
    """Return per curve the points around which |y| grows without end."""
    size = np.abs(ys)
    size[np.isnan(size)] = -1.0
    found: list[set[float]] = [set() for _ in ys]
    brackets: list[tuple[float, int, int]] = []
    for c, row in enumerate(size):
        finite = row[(row >= 0) & np.isfinite(row)]
        usual = float(np.median(finite)) if len(finite) else 0.0
        left = np.concatenate([[-1.0], row[:-1]])
        right = np.concatenate([row[1:], [-1.0]])
        # A narrow pole may be small on the points: then it is steep, or they end beside it.
        steep = np.ones(len(row), bool)
        steep[2:] &= row[2:] > STEEP * row[:-2]
        steep[:-2] &= row[:-2] > STEEP * row[2:]
        for i in np.flatnonzero((row >= left) & (row > right) & (
                (row > 2.0 * usual) | (steep & (row > 0.0)))):
            if np.isinf(row[i]):
                # Where it is infinite for a while it overflows.
                if left[i] < np.inf:
                    found[c].add(float(xs[i]))
            else:
                brackets.append((float(row[i]), c, int(i)))
    brackets = sorted(brackets, reverse=True)[:PEAKS]
    if brackets:
        for c, x in _grown(evaluate, xs, brackets):
            found[c].add(x)
    return [_apart(sorted(points), float(xs[-1] - xs[0])) for points in found]


def _grown(evaluate: Evaluate, xs: Any, brackets: Sequence[tuple[float, int, int]]
           ) -> list[tuple[int, float]]:
    """Return (curve, point) of the peaks that are poles."""
    _, curves, at = (np.array(column) for column in zip(*brackets, strict=True))
    low, high = xs[np.maximum(at - 1, 0)], xs[np.minimum(at + 1, len(xs) - 1)]
    least = early = late = np.zeros(len(at))
    steps = np.linspace(0.0, 1.0, WITHIN)
    rows = np.arange(len(at))
    infinite = np.zeros(len(at), bool)
    for k in range(ZOOMS):
        points = low[:, None] + (high - low)[:, None] * steps
        values = np.abs(evaluate(points.ravel())).reshape(-1, *points.shape)[curves, rows]
        # The smallest value near a pole grows as the piece shrinks; the largest is luck.
        least = np.where(np.isnan(values), np.inf, values).min(axis=1)
        if k == 0:
            early = least
        elif k == ZOOMS - 5:
            late = least
        values[np.isnan(values)] = -1.0
        best = values.argmax(axis=1)
        infinite |= np.isinf(values[rows, best])
        low = points[rows, np.maximum(best - 1, 0)]
        high = points[rows, np.minimum(best + 1, WITHIN - 1)]
    poles = infinite | ((least > GROWTH * early) & (least > STILL * late))
    return [(int(curves[k]), simplest(float(low[k]), float(high[k])))
            for k in np.flatnonzero(poles)]


def _apart(points: list[float], width: float) -> list[float]:
    """Return the points without those that are the same but for rounding."""
    kept: list[float] = []
    for x in points:
        if not kept or x - kept[-1] > SAME * width:
            kept.append(x)
    return kept


def simplest(low: float, high: float) -> float:
    """Return the number with the fewest digits from low to high."""
    if low <= 0.0 <= high:
        return 0.0
    middle = low + 0.5 * (high - low)
    for digits in range(17):
        x = float(f"{middle:.{digits}e}")
        if low <= x <= high:
            return x
    return middle


def limits(ys: Any, poles: bool, beside: float = float("inf")) -> tuple[float, float] | None:
    """Return what of a curve an axis shows: all of it, or what is around the poles; None for
    nothing.

    beside: how high the function is that is to be seen beside its derivative.
    """
    finite = ys[np.isfinite(ys)]
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    first, last = (float(q) for q in np.quantile(finite, [0.1, 0.9]))
    # A derivative of what oscillates without end grows without end.
    wild = last - first > beside and WILD * (last - first) < high - low
    if poles or wild or np.isinf(ys).any() or high > 1e100 or low < -1e100:
        more = (last - first) or abs(last) or 1.0
        low, high = max(low, first - more), min(high, last + more)
    return max(low, -LARGEST), min(high, LARGEST)


def reached(ys: Any, low: float, high: float) -> tuple[float, float]:
    """Return the limits, moved to where half of a curve is that would hardly be seen."""
    finite = ys[np.isfinite(ys)]
    if not len(finite) or ((finite >= low) & (finite <= high)).mean() > SEEN:
        return low, high
    off = np.maximum(np.maximum(low - finite, finite - high), 0.0)
    near = finite[off <= np.median(off)]
    return (max(min(low, float(near.min())), -LARGEST), min(max(high, float(near.max())), LARGEST))


def refined(evaluate: Evaluate, start: Sampled, views: Sequence[tuple[float, float] | None]
            ) -> Sampled:
    """Add points where a curve is steep, jumps, ends or begins.

    views: per curve the values that are looked at; None for a curve that nobody looks at.
    """
    xs, ys = start.xs, start.ys
    seen = [c for c, view in enumerate(views) if view is not None]
    low, high = np.array([view for view in views if view is not None]).T[:, :, None]
    height = high - low
    for _ in range(ROUNDS):
        room = MOST - len(xs)
        needed = np.where(_wide(xs), _needs(ys[seen], low, height), 0.0)
        split = np.flatnonzero(needed)
        if not len(split) or room <= 0:
            break
        if len(split) > min(SPLIT, room):
            split = split[np.argsort(-needed[split], kind="stable")[:min(SPLIT, room)]]
        middle = xs[split] + 0.5 * (xs[split + 1] - xs[split])
        xs = np.concatenate([xs, middle])
        ys = np.concatenate([ys, evaluate(middle)], axis=1)
        order = np.argsort(xs, kind="stable")
        xs, ys = xs[order], ys[:, order]
    return Sampled(xs, ys, start.poles)


def _wide(xs: Any) -> Any:
    """Return which pieces can be split: [n - 1]."""
    return np.diff(xs) > _narrow(xs)


def _narrow(xs: Any) -> Any:
    largest = np.maximum(np.abs(xs[:-1]), np.abs(xs[1:]))
    return np.maximum(NARROW * (xs[-1] - xs[0]), 8.0 * np.spacing(largest))


def _needs(ys: Any, low: Any, height: Any) -> Any:
    """Return how much each piece needs to be split: 0 for not at all."""
    seen = (np.clip(ys, low - 0.5 * height, low + 1.5 * height) - low) / height
    with np.errstate(invalid="ignore"):
        rise = np.abs(np.diff(seen, axis=1))
        bend = np.abs(np.diff(seen, 2, axis=1))
    finite = np.isfinite(ys)
    rise = np.where(finite[:, :-1] & finite[:, 1:], rise, 0.0)
    turns = np.zeros_like(rise)
    bend = np.where(np.isfinite(bend), bend, 0.0)
    turns[:, :-1] = bend
    turns[:, 1:] = np.maximum(turns[:, 1:], bend)
    rise = np.where((rise > STEP) & ((turns > STEP) | (rise > 10 * STEP)), rise, 0.0)
    # One end that is a number and one that is not: the curve ends between them.
    return np.where(finite[:, :-1] != finite[:, 1:], 2.0, rise).max(axis=0)


def breaks(sampled: Sampled, curve: int, view: tuple[float, float], slope: int | None) -> Any:
    """Return which pieces of a curve are no part of it: over jumps and poles. [n - 1].

    slope: the curve of its derivative, where that is known; what it tells is no jump.
    """
    xs, ys = sampled.xs, sampled.ys[curve]
    height = view[1] - view[0]
    seen = np.clip(ys, view[0] - 0.5 * height, view[1] + 0.5 * height) / height
    with np.errstate(invalid="ignore", over="ignore"):
        found = (np.diff(xs) <= 2.0 * _narrow(xs)) & (np.abs(np.diff(seen)) > STEP)
        if slope is not None:
            steep = np.abs(sampled.ys[slope])
            told = 4.0 * np.diff(xs) * np.maximum(steep[:-1], steep[1:])
            told[np.isinf(told)] = 0.0
            for x in sampled.poles[curve]:
                told[np.abs(xs[1:] - x) <= SAME * (xs[-1] - xs[0])] = 0.0
            found &= ~(told >= np.abs(np.diff(ys)))
    for x in sampled.poles[curve]:
        k = int(np.searchsorted(xs, x))
        if 0 < k < len(xs):
            found[k - 1] = True
    return found | ~np.isfinite(ys[:-1]) | ~np.isfinite(ys[1:])
