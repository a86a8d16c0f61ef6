"""Zeros of a term of one variable on an interval, each with bounds that prove it.

Where the term is a rational function of one function of x, zeros are those of a polynomial, and the
function is inverted: exact, and all there are. Elsewhere boxes on which interval arithmetic
excludes 0 are thrown away; where the derivative has one sign, a change of sign is one zero; other
boxes are halved. What is left at the end is said to be left.

Source: Neumaier, Interval Methods for Systems of Equations (1990), chapter 5.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, lcm, nan, pi

from gradcli.base.lazy import np
from gradcli.formulas.analysis.constants import exactly, value_of
from gradcli.formulas.analysis.exact import (
    CIRCULAR,
    EXPONENTIALS,
    Unsolved,
    linear,
    rewritten,
    solved,
)
from gradcli.formulas.analysis.limits import scaling
from gradcli.formulas.analysis.ranges import ranges, ranges_over
from gradcli.formulas.rewrites import positive, rebuilt
from gradcli.formulas.terms import (
    HALF,
    MINUS,
    NAME,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    ZERO,
    as_float,
    times,
    whole,
)
from gradcli.ops import TABLE

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


def zeros(a: Algebra, term: Term, name: str, low: float, high: float,
          slope: Callable[[Term], Term | None], specials: Sequence[float] = (), depth: int = 0
          ) -> Zeros:
    """Return the zeros of a term from low to high. slope: makes derivatives. specials: points
    where the term may have no value, which are no zeros by themselves. depth: so many derivatives
    of what is asked for this is.
    """
    total = Zeros()
    for factor in [f for part in factors(a, term) for f in factors(a, numerator(a, part))]:
        if not a.table.names([factor]):
            if factor.is_number(0):
                return Zeros(everywhere=True)
            continue
        part = _exactly(a, factor, name, low, high)
        if part is None and any(t.is_call(*CIRCULAR) for t in a.table.of([factor])):
            factor = numerator(a, rewritten(a, factor, CIRCULAR))
            part = _exactly(a, factor, name, low, high)
        if part is None and depth < DEEPEST:
            part = _squared(a, factor, name, low, high, slope, specials, depth)
        if part is None:
            part = _in_boxes(a, factor, name, low, high, slope, specials, depth)
        if part.everywhere:
            return part
        total = _joined(total, part)
    return total


def _exactly(a: Algebra, term: Term, name: str, low: float, high: float) -> Zeros | None:
    try:
        found = [Zero(*_bounded(a, one.exact, one.low, one.high), one.exact, True, one.period)
                 for one in solved(a, term, name)]
    except Unsolved:
        return None
    return Zeros(_within(a, found, low, high))


def _squared(a: Algebra, term: Term, name: str, low: float, high: float,
             slope: Callable[[Term], Term | None], specials: Sequence[float], depth: int
             ) -> Zeros | None:
    """Return the zeros of p + q*sqrt(r): those of p^2 - q^2*r where p and q have different signs.
    None for another term, and where a sign is not seen.
    """
    term = expanded(a, term)
    half = [b for t, _ in (term.items if term.kind == SUM else ()) for b, e in _powers(a, t)
            if _is_half(e) and a.table.names([b])]
    if not half or any(b is not half[0] for b in half):
        return None
    root = a.power(half[0], a.number(HALF))
    inverse = a.power(root, a.number(MINUS))
    rooted = [(t, c) for t, c in term.items if any(
        b is half[0] and _is_half(e) for b, e in _powers(a, t))]
    p = a.add(a.number(term.value), a.sum_of([i for i in term.items if i not in rooted]))
    q = a.sum_of([(a.times(t, inverse), c) for t, c in rooted])
    if root in a.table.of([p, q]):
        return None
    two = a.number(Fraction(2))
    both = expanded(a, a.sum_of([(a.power(p, two), ONE), (
        a.times(a.power(q, two), half[0]), -ONE)]))
    found = zeros(a, both, name, low, high, slope, specials, depth + 1)
    kept = []
    for z in found.found:
        signs = [_sign_at(a, t, name, z) for t in (p, q)]
        if None in signs:
            return None
        if signs[0] != signs[1] or signs[0] == 0:
            kept.append(z)
    return Zeros(kept, found.complete, found.everywhere, found.left, found.flat)


def _is_half(exponent: Term) -> bool:
    return isinstance(exponent.value, Fraction) and exponent.kind == NUMBER and (
        exponent.value.denominator == 2)


def between(a: Algebra, term: Term, name: str, low: float, high: float,
            slope: Callable[[Term], Term | None], specials: Sequence[float], depth: int
            ) -> Zeros | None:
    """Return the zeros of a term that is continuous from low to high by those of its derivative:
    between two neighbouring ones there is at most one. None where it is not seen so.

    That tells what boxes cannot near a zero of higher order, where the derivative has an exact one.
    """
    first = slope(term) if depth < DEEPEST else None
    if first is None or len(a.table.of([first])) > LARGEST:
        return None
    whole = np.linspace(low, high, 65)
    if not ranges(a.table, [term], name, whole[:-1], whole[1:])[0].sure.all():
        return None
    turns = zeros(a, first, name, low, high, slope, specials, depth + 1)
    if not turns.complete or turns.flat or turns.everywhere:
        return None
    points = [z for z in turns.found if low < z.x < high]
    known = [z.x for z in points]
    points += [Zero(x, x, x, a.constant(x)) for x in (low, *specials, high) if low <= x <= high
               and not any(abs(y - x) <= SAME * (1 + abs(x)) for y in known)]
    points.sort(key=lambda z: z.x)
    found, brackets, signs = [], [], []
    for z in points:
        sign = _sign_at(a, term, name, z)
        if sign is None:
            return None
        signs.append(sign)
        if sign == 0:
            found.append(z)
    for (one, other), (left, right) in zip(pairwise(points), pairwise(signs), strict=True):
        if left * right < 0:
            brackets.append((one.high, other.low))
    roots = _narrowed(a, term, name, brackets)
    return Zeros([*found, *[_recognised(a, term, name, z) for z in roots]])


def _sign_at(a: Algebra, term: Term, name: str, z: Zero) -> int | None:
    """Return the sign of a term at a point, 0 where it is proved to be 0, None where it is not
    seen.
    """
    (r,) = ranges(a.table, [term], name, z.low, z.high)
    sign = int(r.sign())
    if sign:
        return sign
    exact = z.exact is not None and substituted(a, term, name, z.exact).is_number(0)
    return 0 if exact else None


DEEPEST, LARGEST = 3, 150
"""So many derivatives are looked at, of so many terms."""


def numerator(a: Algebra, term: Term, depth: int = 0) -> Term:
    """Return a sum multiplied by what stands below lines in it, and divided by what is positive in
    all summands: it is 0 at the same points. depth: of lines within lines.
    """
    if term.kind != SUM:
        return term
    below: dict[Term, Fraction] = {}
    for t, _ in term.items:
        for base, exponent in t.items if t.kind == PRODUCT else ():
            if exponent.kind == NUMBER and isinstance(exponent.value, Fraction) and (
                    exponent.value < 0 and a.table.names([base])):
                below[base] = max(below.get(base, ZERO), -exponent.value)
    found = _multiplied(a, term, [(base, a.number(n)) for base, n in below.items()])
    if depth < DEEPEST and any(_has_line(a, inner) for t, _ in (
            found.items if found.kind == SUM else ()) for inner in [_inner_sum(t)]
            if inner is not None):
        return numerator(a, expanded(a, found), depth + 1)
    if found.kind == SUM:
        shared = [(b, a.negative(e)) for b, e in _powers(a, found.items[0][0]) if (
            b.is_call("exp") or e.kind != NUMBER) and found.value == 0 and all(
            any(c.is_call("exp") if b.is_call("exp") else c is b for c, _ in _powers(a, t))
            for t, _ in found.items)]
        found = _multiplied(a, found, shared)
    return found


def _has_line(a: Algebra, term: Term) -> bool:
    """Return whether a name stands below a line in a sum."""
    return any(e.kind == NUMBER and e.value < 0 and a.table.names([b]) for t, _ in term.items
               if t.kind == PRODUCT for b, e in t.items)


def _powers(a: Algebra, t: Term) -> Sequence[tuple[Term, Term]]:
    return t.items if t.kind == PRODUCT else [(t, a.number(ONE))]


def _multiplied(a: Algebra, term: Term, powers: Sequence[tuple[Term, Term]]) -> Term:
    """Return a sum multiplied by powers, summand by summand."""
    if not powers:
        return term
    one = a.number(ONE)
    return a.sum_of([(a.product_of([(t, one), *powers]), c) for t, c in (
        *term.items, (one, term.value))])


def expanded(a: Algebra, term: Term) -> Term:
    """Return a sum with products of sums in it multiplied out, if it does not become too long."""
    if term.kind != SUM:
        return term
    summands = [(t, c) for t, c in (*term.items, (a.number(ONE), term.value)) if c]
    for _ in range(LONGEST):
        k = next((k for k, (t, _) in enumerate(summands) if _inner_sum(t) is not None), None)
        if k is None:
            return a.sum_of(summands)
        t, c = summands.pop(k)
        inner = _inner_sum(t)
        assert inner is not None
        rest = a.times(t, a.power(inner, a.number(MINUS)))
        summands += [(a.times(rest, u), times(c, d)) for u, d in (
            *inner.items, (a.number(ONE), inner.value)) if d]
        if len(summands) > LONGEST:
            break
    return term


LONGEST = 60


def _inner_sum(t: Term) -> Term | None:
    """Return a sum that a product has as a factor, None where there is none."""
    if t.kind == SUM:
        return t
    return next((b for b, e in t.items if b.kind == SUM and e.kind == NUMBER and (
        whole(e.value) or 0) > 0), None) if t.kind == PRODUCT else None


def factors(a: Algebra, term: Term) -> list[Term]:
    """Return the factors of which one has to be 0 where the term is."""
    if term.is_call(*ZERO_WHERE):
        one = a.number(-Fraction(ZERO_WHERE[term.operation.name]))
        return factors(a, a.add(term.args[0], one))
    if term.kind != PRODUCT:
        return [] if positive(term) or term.is_call("sec", "csc") else [term]
    found = []
    for base, exponent in term.items:
        if exponent.kind == NUMBER and exponent.value > 0:
            found += factors(a, base)
    return found


ZERO_WHERE = {"log": 1, "log2": 1, "log10": 1, "acos": 1, "acosh": 1, "asin": 0, "atan": 0,
              "sinh": 0, "tanh": 0, "asinh": 0, "atanh": 0, "cbrt": 0, "log1p": 0, "expm1": 0,
              "erf": 0, "abs": 0}
"""Function to the one argument where it is 0."""


def period(a: Algebra, term: Term, name: str) -> Term | None:
    """Return a period of a term that reads a name in sines and their like only; None of others."""
    slopes: list[tuple[Term, int]] = []
    pending, seen = [term], set()
    while pending:
        t = pending.pop()
        if t.number in seen or not a.table.names([t]):
            continue
        seen.add(t.number)
        if t.is_call(*ANGLES):
            found = linear(a, t.args[0], name)
            if found is not None:
                slopes.append((found[0], 1 if t.is_call("tan", "cot") else 2))
                continue
        if t.kind == NAME:
            return None
        pending += t.parts()
    if not slopes:
        return None
    first, common = slopes[0][0], ZERO
    for slope, turns in slopes:
        ratio = exactly(a, a.times(first, a.power(slope, a.number(MINUS))))
        if ratio.kind != NUMBER or not isinstance(ratio.value, Fraction):
            return None
        one = abs(ratio.value) * turns
        common = one if common == 0 else Fraction(
            lcm(common.numerator * one.denominator, one.numerator * common.denominator),
            common.denominator * one.denominator)
    every = exactly(a, a.times(a.number(common), a.table.constant("pi"),
                               a.power(first, a.number(MINUS))))
    return every if value_of(a, every) > 0 else a.negative(every)


ANGLES = ("sin", "cos", "tan", "sec", "csc", "cot")


def _joined(one: Zeros, other: Zeros) -> Zeros:
    found: list[Zero] = []
    # A zero that comes again stands for itself; one that does not may be one of those.
    for z in sorted([*one.found, *other.found], key=lambda z: z.period is None):
        if not any(_same(z, y) for y in found):
            found.append(z)
    return Zeros(found, one.complete and other.complete, left=[*one.left, *other.left],
                 flat=[*one.flat, *other.flat])


def _same(z: Zero, y: Zero) -> bool:
    return z.low <= y.high and y.low <= z.high and (z.period is None or z.period is y.period)


def _bounded(a: Algebra, exact: Term | None, low: float, high: float
             ) -> tuple[float, float, float]:
    """Return value and bounds of a zero."""
    if exact is None:
        return low + (high - low) / 2, low, high
    (r,) = ranges_over(a.table, [exact], {"": (0.0, 0.0)})
    x = value_of(a, exact) + 0.0
    return x, min(float(r.low), x), max(float(r.high), x)


def _within(a: Algebra, found: Sequence[Zero], low: float, high: float) -> list[Zero]:
    """Return the zeros from low to high; of endless ones all of them, or where the interval has
    no end, those of one period.
    """
    kept = []
    for z in found:
        if z.period is None:
            if low <= z.x <= high:
                kept.append(z)
            continue
        period = value_of(a, z.period)
        if low == -inf or high == inf:
            if low == -inf and high == inf:
                kept.append(_moved(a, z, -int(z.x // period)))
            continue
        first, last = int(np.ceil((low - z.x) / period - 1e-12)), int(
            np.floor((high - z.x) / period + 1e-12))
        for k in range(first, min(last, first + 1000) + 1):
            one = _moved(a, z, k)
            one.period = None
            kept.append(one)
    return kept


def _moved(a: Algebra, z: Zero, k: int) -> Zero:
    """Return a zero some periods away."""
    assert z.period is not None
    step = value_of(a, z.period) * k
    exact = None if z.exact is None else exactly(a, a.add(
        z.exact, a.times(a.number(Fraction(k)), z.period)))
    x, low, high = _bounded(a, exact, z.low + step, z.high + step)
    return Zero(x, low, high, exact, z.proved, z.period)


def _in_boxes(a: Algebra, term: Term, name: str, low: float, high: float,
              slope: Callable[[Term], Term | None], specials: Sequence[float], depth: int
              ) -> Zeros:
    """Return the zeros in an interval; on all of the line, of what is periodic those of a period.
    """
    every = period(a, term, name) if low == -inf and high == inf else None
    if every is None:
        near = max(low, -FAR), min(high, FAR)
        found = Zeros()
        if near[0] < near[1]:
            found = isolated(a, term, name, *near, slope, specials)
            if not found.complete:
                found = between(a, term, name, *near, slope, specials, depth) or found
        for end, reaches in ((-inf, low < -FAR), (inf, high > FAR)):
            if reaches and len(found.found) <= MOST:
                found = _joined(found, isolated(
                    a, _scaled(a, term, name, end), name, *(
                        (low, min(high, -FAR)) if end < 0 else (max(low, FAR), high)),
                    slope, specials))
        return found
    step = value_of(a, every)
    start = -0.01377 * step
    found = isolated(a, term, name, start, start + step, slope, [
        s for s in specials if start <= s <= start + step])
    for z in found.found:
        z.period = every
    return found


def _scaled(a: Algebra, term: Term, name: str, end: float) -> Term:
    """Return a sum divided by the exponential that it grows with at an end of the line."""
    term = numerator(a, rewritten(a, term, EXPONENTIALS))
    by = scaling(a, term, name, end) if term.kind == SUM else None
    if by is None:
        return term
    whole_sum = expanded(a, term)
    found: dict[int, Term] = {}
    for t in a.table.of([whole_sum]):
        found[t.number] = _to_base_e(a, rebuilt(a, t, found, lambda old, args: a.call(
            old.operation, args, old.attributes, old.shape)))
    return _multiplied(a, found[whole_sum.number], [(by, a.number(MINUS))])


def _to_base_e(a: Algebra, t: Term) -> Term:
    """Return 2^x as exp(x*log(2))."""
    if t.kind != PRODUCT or all(e.kind == NUMBER or b.kind != NUMBER for b, e in t.items):
        return t
    return a.times(a.number(t.value), *[
        a.call(TABLE["exp"], [a.times(e, a.call(TABLE["log"], [b], None, None))], None, None)
        if b.kind == NUMBER and e.kind != NUMBER else a.power(b, e) for b, e in t.items])


# --- boxes --------------------------------------------------------------------------------------


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
    roots = _narrowed(a, term, name, brackets[:MOST])
    roots = [_recognised(a, term, name, z) for z in roots]
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


def _narrowed(a: Algebra, term: Term, name: str, brackets: Sequence[tuple[float, float]]
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
    return [Zero(*found) for found in zip(middle.tolist(), lows.tolist(), highs.tolist(),
                                          strict=True)]


# --- exact forms ----------------------------------------------------------------------------------


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


def _recognised(a: Algebra, term: Term, name: str, z: Zero) -> Zero:
    """Return a zero with its exact form, where it is a simple number that makes the term 0."""
    for c in candidates(a, z.low, z.high):
        if substituted(a, term, name, c).is_number(0):
            return Zero(*_bounded(a, c, z.low, z.high), c, z.proved)
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
                return Zero(*_bounded(a, c, low, high), c)
    x = np.concatenate([np.linspace(low, high, 9), np.linspace(*wide, 9)])
    (r,) = ranges(a.table, [term], name, x, x)
    size = np.where(np.isfinite(r.high - r.low), np.maximum(abs(r.low), abs(r.high)), inf)
    k = int(np.argmin(size[:9]))
    # Nothing but rounding beside what is around it.
    if r.has_zero()[k] and high - low < 1e-6 * (1 + abs(low)) and (
            size[k] < 1e-6 * size[[9, 17]].min() < inf):
        return Zero(float(x[k]), low, high, None, proved=False)
    return None
