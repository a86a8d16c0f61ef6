"""Zeros of a term of one variable on an interval, each with what proves it.

Where the term is a rational function of one function of x, zeros are those of a polynomial, and the
function is inverted: exact, and all there are. Elsewhere there are boxes, and where these leave
something, the zeros of the derivative: between two of them there is at most one.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, lcm

from gradcli.base.lazy import np
from gradcli.formulas.analysis.boxes import (
    FAR,
    MOST,
    SAME,
    Zero,
    Zeros,
    bounded,
    isolated,
    narrowed,
    recognised,
    substituted,
)
from gradcli.formulas.analysis.constants import exactly, value_of
from gradcli.formulas.analysis.exact import CIRCULAR, Unsolved, linear, rewritten, solved
from gradcli.formulas.analysis.numerators import expanded, factors, numerator, powers_of, scaled
from gradcli.formulas.analysis.ranges import ranges
from gradcli.formulas.terms import HALF, MINUS, NAME, NUMBER, ONE, SUM, ZERO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term



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
        found = [Zero(*bounded(a, one.exact, one.low, one.high), one.exact, True, one.period)
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
    half = [b for t, _ in (term.items if term.kind == SUM else ()) for b, e in powers_of(a, t)
            if _is_half(e) and a.table.names([b])]
    if not half or any(b is not half[0] for b in half):
        return None
    root = a.power(half[0], a.number(HALF))
    inverse = a.power(root, a.number(MINUS))
    rooted = [(t, c) for t, c in term.items if any(
        b is half[0] and _is_half(e) for b, e in powers_of(a, t))]
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
    roots = narrowed(a, term, name, brackets)
    return Zeros([*found, *[recognised(a, term, name, z) for z in roots]])


DEEPEST, LARGEST = 3, 150
"""So many derivatives are looked at, of so many terms."""


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
    x, low, high = bounded(a, exact, z.low + step, z.high + step)
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
                    a, scaled(a, term, name, end), name, *(
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
