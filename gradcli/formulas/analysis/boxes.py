"""Zeros of a term by interval arithmetic on boxes, each with bounds that prove it.

Boxes on which 0 is excluded are thrown away; where the derivative has one sign, a change of sign is
one zero; other boxes are cut. What is left at the end is said to be left.

Source: Neumaier, Interval Methods for Systems of Equations (1990), chapter 5.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, nan, pi

from gradcli.base.lazy import np
from gradcli.formulas.analysis.constants import exactly, value_of
from gradcli.formulas.analysis.ranges import ranges, ranges_over
from gradcli.formulas.rewrites import rebuilt
from gradcli.formulas.terms import HALF, NUMBER, PRODUCT, as_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term



FAR = 20.03
"""Beyond, boxes grow with their distance, and a term is divided by what it grows with."""


FARTHEST = 1e50
"""Boxes go so far; what is beyond is one box."""


ROUNDS = 24


MOST_BOXES, FEW_BOXES, LATE = 8000, 800, 5
"""So many boxes are looked at together, and from some round on."""


SAME = 1e-9
"""Boxes that are no wider, for the size of their numbers, are not halved any more."""


MOST = 200


HIGHEST = 5
"""So many times a zero may be one that is proved by derivatives."""


class Zero:
    """A zero: between low and high. exact: as a term, if it is known. proved: whether it is one,
    and the only one there. period: that of zeros that come again and again, as a term.
    """

    __slots__ = ("exact", "high", "low", "period", "proved", "x")

    def __init__(self, x: float, low: float, high: float, exact: Term | None = None,
                 proved: bool = True, period: Term | None = None) -> None:
        self.x, self.low, self.high = x, low, high
        self.exact, self.proved, self.period = exact, proved, period


class Zeros:
    """The zeros of a term between two numbers. complete: whether these are proved to be all.
    everywhere: it is 0 all over; flat: parts where it is 0 all over. left: boxes in which zeros are
    not excluded.
    """

    __slots__ = ("complete", "everywhere", "flat", "found", "left")

    def __init__(self, found: Iterable[Zero] = (), complete: bool = True,
                 everywhere: bool = False, left: Sequence[tuple[float, float]] = (),
                 flat: Sequence[tuple[float, float]] = ()) -> None:
        self.found = sorted(found, key=lambda z: z.x)
        self.complete, self.everywhere = complete, everywhere
        self.left, self.flat = list(left), list(flat)


def isolated(a: Algebra, term: Term, name: str, low: float, high: float,
             slope: Callable[[Term], Term | None], specials: Sequence[float] = ()) -> Zeros:
    """Return the zeros of a term by interval arithmetic."""
    first = slope(term)
    terms = [term] if first is None else [term, first]
    lows, highs = _grid(low, high, specials)
    brackets: list[tuple[float, float]] = []
    left: list[tuple[float, float]] = []
    flat: list[tuple[float, float]] = []
    for k in range(ROUNDS):
        found = ranges(a.table, terms, name, lows, highs)
        maybe = found[0].has_zero()
        level = np.asarray(found[0].sure) & (found[0].low == 0) & (found[0].high == 0)
        flat += list(zip(lows[level].tolist(), highs[level].tolist(), strict=True))
        maybe &= ~level
        steep = np.zeros(len(lows), bool) if first is None else (
            np.asarray(found[0].sure) & (found[1].sign() != 0))
        turned = np.zeros(len(lows), int)
        seen_of = np.flatnonzero(maybe & steep)
        if len(seen_of):
            x = np.concatenate([lows[seen_of], highs[seen_of]])
            ends = ranges(a.table, [term], name, x, x)[0].sign().reshape(2, -1)
            turned[seen_of] = ends[0] * ends[1]
        crossed = turned < 0
        brackets += list(zip(lows[crossed].tolist(), highs[crossed].tolist(), strict=True))
        # Where a monotone piece has the same sign at both ends there is no zero.
        none = ~maybe | (turned > 0)
        rest = ~none & ~crossed
        narrow = rest & ~_wide(lows, highs)
        left += list(zip(lows[narrow].tolist(), highs[narrow].tolist(), strict=True))
        rest &= ~narrow
        lows, highs = _quartered(lows[rest], highs[rest])
        if not len(lows):
            break
        if len(lows) > (MOST_BOXES if k < LATE else FEW_BOXES) or len(brackets) > MOST:
            left += list(zip(lows.tolist(), highs.tolist(), strict=True))
            break
    else:
        left += list(zip(lows.tolist(), highs.tolist(), strict=True))
    brackets.sort()
    left += brackets[MOST:]
    roots = narrowed(a, term, name, brackets[:MOST])
    roots = [recognised(a, term, name, z) for z in roots]
    made = _with_clusters(a, term, name, roots, _merged(left), slope, specials)
    made.flat = _merged(flat)
    return made


def seen(value: Callable[[float], float], low: float, high: float) -> Zeros:
    """Return the zeros between which values change their sign, of a function of which nothing else
    is known: none is proved, and there may be others.
    """
    xs = np.linspace(low, high, LOOKED).tolist()
    ys = [value(x) for x in xs]
    found = [Zero(x, x, x, None, False) for x, before, y, after in zip(
        xs[1:], ys, ys[1:], ys[2:], strict=False) if y == 0 != before and after != 0]
    for (x, y), (left, right) in zip(pairwise(xs), pairwise(ys), strict=True):
        if left * right < 0:
            below = left
            for _ in range(60):
                middle = x + (y - x) / 2
                here = value(middle)
                x, y = (middle, y) if here * below > 0 else (x, middle)
            if abs(value(x)) < abs(below):      # and no pole
                found.append(Zero(y, x, y, None, False))
    return Zeros(found, complete=False, left=[(low, high)])


LOOKED = 401


def _grid(low: float, high: float, specials: Sequence[float]) -> tuple[Any, Any]:
    """Return boxes that begin and end at no simple numbers, but for the ends and the specials."""
    near = np.linspace(-20.013, 20.027, 401)
    far = FAR * 2.0 ** np.arange(0, 1000)
    far = far[far < FARTHEST]
    borders = np.concatenate([near, far, -far])
    if np.isfinite([low, high]).all():
        borders = np.concatenate([borders, low + (high - low) * (np.arange(1, 200) + 0.0137) / 200])
    borders = np.concatenate([borders, [low, high], specials])
    borders = np.unique(borders[(borders >= low) & (borders <= high)])
    return borders[:-1], borders[1:]


def _wide(lows: Any, highs: Any) -> Any:
    with np.errstate(invalid="ignore"):
        size = np.minimum(abs(lows), abs(highs))
        return (highs - lows > SAME * (SAME + size)) & ~((np.isinf(highs) | np.isinf(lows)) & (
            size >= FARTHEST / 2))


def _quartered(lows: Any, highs: Any) -> tuple[Any, Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        middle = lows + (highs - lows) * 0.4873
    middle = np.where(np.isinf(highs), np.maximum(1.0, lows * 2), np.where(
        np.isinf(lows), np.minimum(-1.0, highs * 2), middle))
    quarters = []
    for one, other in ((lows, middle), (middle, highs)):
        inner = np.where(np.isinf(one) | np.isinf(other), np.where(
            np.isinf(one), 2 * other, 2 * one), one + (other - one) * 0.4873)
        quarters += [(one, inner), (inner, other)]
    return (np.concatenate([q[0] for q in quarters]), np.concatenate([q[1] for q in quarters]))


def _merged(boxes: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for low, high in sorted(boxes):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def narrowed(a: Algebra, term: Term, name: str, brackets: Sequence[tuple[float, float]]
              ) -> list[Zero]:
    """Return the zeros between pairs of points with different signs, to all digits."""
    if not brackets:
        return []

    def sign(x: Any) -> Any:
        return ranges(a.table, [term], name, x, x)[0].sign()

    lows, highs = np.array(brackets).T
    left = sign(lows)
    moving = np.ones(len(lows), bool)
    for _ in range(1100):
        middle = lows + (highs - lows) / 2
        moving &= (lows < middle) & (middle < highs)
        if not moving.any():
            break
        here = sign(middle)
        moving &= here != 0
        lows = np.where(moving & (here == left), middle, lows)
        highs = np.where(moving & (here == -left), middle, highs)
    middle = lows + (highs - lows) / 2
    # Where the sign in the middle is rounding, the bounds come nearer to it from both sides.
    step = np.maximum(np.spacing(abs(middle)), 5e-324)
    below, above = np.zeros(len(lows), bool), np.zeros(len(lows), bool)
    while (step < highs - lows).any() and not (below & above).all():
        step = step * 4
        x, y = np.maximum(middle - step, lows), np.minimum(middle + step, highs)
        under, over = ~below & (sign(x) == left), ~above & (sign(y) == -left)
        lows, highs = np.where(under, x, lows), np.where(over, y, highs)
        below, above = below | under, above | over
    return [Zero(_polished(a, term, name, *found), found[1], found[2]) for found in zip(
        middle.tolist(), lows.tolist(), highs.tolist(), strict=True)]


def _polished(a: Algebra, term: Term, name: str, x: float, low: float, high: float) -> float:
    """Return a zero by Newton's method in plain arithmetic, which rounds less than intervals do;
    it stays between its bounds.
    """
    step = max(abs(x), (high - low) * 2) * 1e-5
    try:
        slope = (value_of(a, term, {name: x + step}) - value_of(a, term, {name: x - step})) / (
            2 * step)
        for _ in range(3):
            x = min(max(x - value_of(a, term, {name: x}) / slope, low), high)
    except ArithmeticError:
        pass
    return x if low <= x <= high else low + (high - low) / 2


def substituted(a: Algebra, term: Term, name: str, value: Term) -> Term:
    """Return a term with a term in place of a name, in simple form; NaN where a part that counts is
    not finite.
    """
    found: dict[int, Term] = {}
    own, nothing = a.table.name(name), a.number(nan)
    for t in a.table.of([term]):
        if t is own:
            found[t.number] = value
            continue
        parts = t.parts()
        if t.is_call("where") and found[t.args[0].number].kind == NUMBER:
            new = found[t.args[1 if found[t.args[0].number].value else 2].number]
        elif any(found[p.number] is nothing for p in parts):
            new = nothing
        else:
            new = exactly(a, rebuilt(a, t, found, lambda old, args: a.call(
                old.operation, args, old.attributes, old.shape)))
        found[t.number] = new if _is_finite(new) else nothing
    return found[term.number]


def _is_finite(t: Term) -> bool:
    if t.kind == NUMBER:
        return abs(as_float(t.value)) < inf
    return t.kind != PRODUCT or all(_is_finite(b) for b, _ in t.items if b.kind == NUMBER)


def candidates(a: Algebra, low: float, high: float) -> list[Term]:
    """Return simple numbers between two that are near each other."""
    x = low + (high - low) / 2
    room = max(high - low, 1e-9 * abs(x))
    found = []
    if low <= 0 <= high or abs(x) <= room:
        found.append(a.number(Fraction(0)))
    near = Fraction(x).limit_denominator(60)
    if abs(float(near) - x) <= room and near:
        found.append(a.number(near))
    turn = Fraction(x / pi).limit_denominator(24)
    if turn and abs(float(turn) * pi - x) <= room and abs(turn) < 1000:
        found.append(a.times(a.number(turn), a.table.constant("pi")))
    square = Fraction(x * x).limit_denominator(60)
    if square and abs(float(square) ** 0.5 - abs(x)) <= room:
        root = exactly(a, a.power(a.number(square), a.number(HALF)))
        found.append(root if x > 0 else a.negative(root))
    return found


def recognised(a: Algebra, term: Term, name: str, z: Zero) -> Zero:
    """Return a zero with its exact form, where it is a simple number that makes the term 0."""
    for c in candidates(a, z.low, z.high):
        if substituted(a, term, name, c).is_number(0):
            return Zero(*bounded(a, c, z.low, z.high), c, z.proved)
    return z


def _with_clusters(a: Algebra, term: Term, name: str, roots: list[Zero],
                   left: Sequence[tuple[float, float]], slope: Callable[[Term], Term | None],
                   specials: Sequence[float]) -> Zeros:
    """Return the zeros with those in boxes that are left: where the term touches 0."""
    complete, open_left = True, []
    for low, high in left:
        if any(low - SAME * (1 + abs(s)) <= s <= high + SAME * (1 + abs(s)) for s in specials) and (
                high - low < 1e3 * SAME * (1 + min(abs(low), abs(high)))):
            continue        # what happens beside these points is told by limits there
        if min(abs(low), abs(high)) >= FARTHEST / 10:
            continue
        one = _touching(a, term, name, low, high, slope) if high - low < 1e-3 else None
        if one is None:
            complete = False
            open_left.append((low, high))
        else:
            roots.append(one)
            complete &= one.proved
    return Zeros(roots, complete, left=open_left)


def _touching(a: Algebra, term: Term, name: str, low: float, high: float,
              slope: Callable[[Term], Term | None]) -> Zero | None:
    """Return the zero of higher order in a box, or None where none is seen. It is proved where its
    exact form makes the first derivatives 0, and the next one is not 0 in the box.
    """
    room = high - low + 1e-5 * (1 + abs(low))
    wide = low - room, high + room
    for c in candidates(a, low, high):
        derivative: Term | None = term
        for _ in range(HIGHEST):
            if derivative is None or not substituted(a, derivative, name, c).is_number(0):
                break
            derivative = slope(derivative)
            if derivative is not None and int(ranges(
                    a.table, [derivative], name, *wide)[0].sign()):
                return Zero(*bounded(a, c, low, high), c)
    x = np.concatenate([np.linspace(low, high, 9), np.linspace(*wide, 9)])
    (r,) = ranges(a.table, [term], name, x, x)
    size = np.where(np.isfinite(r.high - r.low), np.maximum(abs(r.low), abs(r.high)), inf)
    k = int(np.argmin(size[:9]))
    # Nothing but rounding beside what is around it.
    if r.has_zero()[k] and high - low < 1e-6 * (1 + abs(low)) and (
            size[k] < 1e-6 * size[[9, 17]].min() < inf):
        return Zero(float(x[k]), low, high, None, proved=False)
    return None


def bounded(a: Algebra, exact: Term | None, low: float, high: float
             ) -> tuple[float, float, float]:
    """Return value and bounds of a zero."""
    if exact is None:
        return low + (high - low) / 2, low, high
    (r,) = ranges_over(a.table, [exact], {"": (0.0, 0.0)})
    x = value_of(a, exact) + 0.0
    return x, min(float(r.low), x), max(float(r.high), x)
