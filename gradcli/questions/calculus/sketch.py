"""What a sketch of a curve asks for: domain, zeros, poles, asymptotes, critical points, growth,
curvature.

The axis is cut where the formula has no value, or changes; between these points it is analytic.
There its zeros and those of its derivatives are found with bounds that prove them
(`formulas.analysis.zeros`), signs between them are those of intervals, and what happens at both
ends of a piece is told by expansions (`formulas.analysis.limits`). What is not proved is said.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, isfinite

from gradcli.base.lazy import quiet
from gradcli.formulas.analysis.boxes import Zero, Zeros, substituted
from gradcli.formulas.analysis.constants import exactly, value_of
from gradcli.formulas.analysis.growth import NoExpansion, Scale, level
from gradcli.formulas.analysis.limits import LEFT, RIGHT, Limit, expansion, limit
from gradcli.formulas.analysis.ranges import ranges
from gradcli.formulas.analysis.zeros import ANGLES, period
from gradcli.formulas.terms import ZERO
from gradcli.questions.calculus.curve import WINDOW, Curve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.formulas.terms import Term

ORDERS = ("zeros", "critical", "inflections")
"""What zeros of a derivative of order 0, 1 and 2 are."""
NEAR = 1e-9
MOST = 100
TOLD = f"what is told is of [-{WINDOW:g}, {WINDOW:g}]"


class Special:
    """A point where the formula has no value, or changes. sort: "pole", "jump", "removable",
    "edge", "kink", "smooth", "vertical", "outside" or "unknown". limits: from the left and from the
    right. slopes: the same of the derivative.
    """

    __slots__ = ("at", "defined", "limits", "slopes", "sort", "value")

    def __init__(self, at: Zero) -> None:
        self.at = at
        self.defined = False
        self.limits: list[Limit | None] = [None, None]
        self.slopes: list[Limit | None] = [None, None]
        self.value: tuple[float, Term | None] = (float("nan"), None)
        self.sort = "outside"

    def is_continuous(self) -> bool:
        """Return whether the function is continuous there, from both sides."""
        return self.sort in ("kink", "smooth", "vertical")


class Piece:
    """A part of the axis between two neighbouring specials. defined: whether the target has a value
    there. first, last: the specials at its ends, None at the ends of the axis. term: the target as
    it is there.
    """

    __slots__ = ("defined", "first", "high", "last", "low", "term")
    term: Term

    def __init__(self, low: float, high: float, first: Special | None, last: Special | None
                 ) -> None:
        self.low, self.high, self.first, self.last = low, high, first, last
        self.defined = True


class Sketch:
    """A curve on an interval, looked at. over: the interval; all of the line where it is none, and
    of what is periodic one period. notes: codes with sentences.
    """

    def __init__(self, curve: Curve, over: tuple[float, float] | None) -> None:
        self.curve = curve
        a = curve.algebra
        self.notes: list[tuple[str, str]] = []
        self.period = period(a, curve.term, curve.name)
        if self.period is not None and not curve.has_breaks():
            self.period = _shortest(curve, self.period)
        low, high = over or (-inf, inf)
        if over is None and self.period is not None:
            low, high = 0.0, value_of(a, self.period)
            self.notes.append(("period", "what is told of one period comes again in each"))
        if low == -inf and high == inf and self._oscillates():
            self.notes.append(("window", f"there is no end of points: {TOLD}"))
            self.set(-WINDOW, WINDOW)
            return
        self.set(low, high)
        if low == -inf and (self._is_endless() or not self.is_complete()):
            endless = self._is_endless()
            self.set(-WINDOW, WINDOW)
            if endless or self.is_complete():
                self.notes.append(("window", ("there is no end of points" if endless else
                                              "nothing is proved farther out") + f": {TOLD}"))
            else:
                self.set(low, high)

    def _oscillates(self) -> bool:
        """Return whether the target, as far as it is seen, oscillates at an end of the line."""
        curve = self.curve
        if not any(t.is_call(*ANGLES) for t in curve.algebra.table.of([curve.term])):
            return False
        for end in (-inf, inf):
            try:
                with quiet():
                    expansion(Scale(curve.algebra), curve.term, curve.name, end, RIGHT).lead()
            except NoExpansion as problem:
                if problem.sort == "unknown":
                    return True
        return False

    def is_complete(self) -> bool:
        """Return whether it is proved that no point is missing."""
        return all(self.complete.values())

    def set(self, low: float, high: float) -> None:
        """Look at the curve between two numbers."""
        self.low, self.high = low, high
        self.complete = {"poles": True}
        self.repeated = False
        self.specials = [Special(z) for z in self._special_points()]
        self.pieces = self._pieces()
        self._classify()
        self.zeros, self.critical, self.inflections = [
            self._of(what, order) for order, what in enumerate(ORDERS)]

    def _is_endless(self) -> bool:
        found = [*self.zeros.found, *self.critical.found, *self.inflections.found]
        return self.repeated or len(found) > MOST or any(
            s.at.period is not None for s in self.specials)

    # --- where the formula changes ----------------------------------------------------------------

    def _special_points(self) -> list[Zero]:
        found: list[Zero] = []
        for c in self.curve.conditions:
            made = self.curve.zeros(c.term, self.low, self.high, ())
            self.complete["poles"] &= made.complete
            for z in made.found:
                same = next((y for y in found if abs(y.x - z.x) <= NEAR * (1 + abs(z.x))), None)
                if same is None:
                    found.append(z)
                elif same.exact is None:
                    same.exact, same.x = z.exact, z.x
        return sorted(found, key=lambda z: z.x)

    def _pieces(self) -> list[Piece]:
        inner = [s for s in self.specials if self.low < s.at.x < self.high]
        borders: list[tuple[float, Special | None]] = [
            (self.low, self._at(self.low)), *[(s.at.x, s) for s in inner],
            (self.high, self._at(self.high))]
        found = []
        for (low, first), (high, last) in pairwise(borders):
            piece = Piece(low, high, first, last)
            piece.defined = self.curve.defined(low + (high - low) * 0.4713 if isfinite(
                high - low) else _inside(low, high))
            piece.term = self.curve.between(low, high) if piece.defined else self.curve.term
            found.append(piece)
        return found

    def _at(self, x: float) -> Special | None:
        return next((s for s in self.specials if s.at.x == x), None)

    def _classify(self) -> None:
        for s in self.specials:
            s.defined = self.curve.defined(s.at)
            if s.defined:
                s.value = self.curve.value(s.at)
                s.defined = isfinite(s.value[0])
            for k, side in enumerate((LEFT, RIGHT)):
                piece = next((p for p in self.pieces if s is (p.last, p.first)[k]), None)
                if piece is None or piece.defined:
                    limits = self._sides(s.at, side, self.curve.term if piece is None else (
                        piece.term))
                    if piece is not None or limits[0].sort != "undefined":
                        s.limits[k], s.slopes[k] = limits
            s.sort = _sort(s)

    def _sides(self, z: Zero, side: int, term: Term) -> tuple[Limit, Limit]:
        curve, a = self.curve, self.curve.algebra
        at = z.exact if z.exact is not None else a.number(z.x)
        made = [limit(a, curve.derivative(k, term), curve.name, at, side) for k in (0, 1)]
        if z.exact is None:
            for one in made:
                one.proved = False
        return made[0], made[1]

    # --- zeros ------------------------------------------------------------------------------------

    def _of(self, what: str, order: int) -> Zeros:
        """Return the zeros of a derivative where the target is defined and analytic."""
        curve = self.curve
        points = [s.at.x for s in self.specials]
        total = Zeros(everywhere=bool(self.pieces))
        for low, high, term in self._stretches():
            part = curve.zeros(curve.derivative(order, term), low, high, points)
            self.repeated |= any(z.period is not None for z in part.found)
            if part.everywhere and curve.has_breaks():
                part.flat = [(low, high)]
            total.everywhere &= part.everywhere
            total.found += part.found
            total.left += part.left
            total.flat += part.flat
            total.complete &= part.complete
        # Where the formula has no value, nothing is left open.
        left = [(low, high) for low, high in total.left if any(
            p.defined and low < p.high and high > p.low for p in self.pieces)]
        self.complete[what] = (total.complete or not left) and self.complete["poles"] and (
            not curve.opaque)
        kept = [z for z in total.found if self._inside(z)]
        if order == 0:
            kept += [s.at for s in self.specials if s.defined and s.value[0] == 0 and (
                not self._is_copy(s.at))]
        return Zeros(kept, self.complete[what], total.everywhere, _coarse(left), [
            (self._snapped(low), self._snapped(high)) for low, high in total.flat])

    def _stretches(self) -> list[tuple[float, float, Term]]:
        """Return the parts of the axis with a formula each."""
        if not self.curve.has_breaks():
            return [(self.low, self.high, next(
                (p.term for p in self.pieces if p.defined), self.curve.term))]
        return [(p.low, p.high, p.term) for p in self.pieces if p.defined]

    def _snapped(self, x: float) -> float:
        """Return the special beside a point, if there is one."""
        return next((s.at.x for s in self.specials if isfinite(x) and (
            abs(s.at.x - x) <= NEAR * (1 + abs(x)))), x)

    def _inside(self, z: Zero) -> bool:
        """Return whether a zero is one where the target is analytic."""
        return not self._is_copy(z) and self.curve.defined(z) and not any(
            abs(s.at.x - z.x) <= NEAR * (1 + abs(z.x)) for s in self.specials)

    def _is_copy(self, z: Zero) -> bool:
        """Return whether it is the end of a period, whose beginning is told."""
        return self._is_one_period() and z.x >= self.high - NEAR

    def _is_one_period(self) -> bool:
        return self.period is not None and self.low == 0.0 and (
            self.high == value_of(self.curve.algebra, self.period))

    def reaches(self, end: float) -> bool:
        """Return whether the target has values towards an end of the line."""
        if self._is_one_period():
            return False
        pieces = self.pieces if abs(self.low) == inf or abs(self.high) == inf else []
        for piece in pieces:
            if end in (piece.low, piece.high):
                return piece.defined
        return self.curve.defined(1e6 if end > 0 else -1e6)

    # --- signs between ----------------------------------------------------------------------------

    def signs(self, order: int, at: Sequence[float]) -> list[tuple[float, float, int, bool, Piece]]:
        """Return the parts between points of a list and the specials, each with the sign of a
        derivative there, and whether that is proved.
        """
        zeros = self.critical if order == 1 else self.inflections
        left = sorted([*zeros.left, *zeros.flat])
        if self.curve.opaque:
            return self._beside(self.curve.derivative(order), at)
        found = []
        for piece in self.pieces:
            if not piece.defined:
                continue
            term = self.curve.derivative(order, piece.term)
            inner = sorted([x for x in at if piece.low < x < piece.high])
            for low, high in zip([piece.low, *inner], [*inner, piece.high], strict=True):
                if term.is_number(0) or zeros.everywhere:
                    found.append((low, high, 0, True, piece))
                    continue
                for x, y, known in _without(low, high, left):
                    sign, proved = self.curve.sign(term, x, y) if known else (
                        0, any(a <= x and y <= b for a, b in zeros.flat))
                    found.append((x, y, sign, proved, piece))
        return found

    def _beside(self, term: Term, at: Sequence[float]
                ) -> list[tuple[float, float, int, bool, Piece]]:
        """Return the same of small parts beside the points, where nothing is proved between."""
        found = []
        for x in at:
            step = 1e-4 * (1 + abs(x))
            for y in (x - step, x + step):
                value, _ = self.curve.value(y, term)
                sign = int(value > 0) - int(value < 0)
                found.append((min(x, y), max(x, y), sign, False, self.pieces[0]))
        return found

    def kind(self, x: float, signs: Sequence[tuple[float, float, int, bool, Piece]]
             ) -> tuple[str, bool]:
        """Return what the signs at both sides of a point make of it, and whether they are proved.
        """
        ends = (self.low, self.high) if self._is_one_period() else ()
        left = next(((s, p) for _, high, s, p, _ in signs if high == x or (
            x in ends and high in ends)), (0, False))
        right = next(((s, p) for low, _, s, p, _ in signs if low == x or (
            x in ends and low in ends)), (0, False))
        if 0 in (left[0], right[0]) and x in (self.low, self.high):
            return self._kind_at(x)
        proved = left[1] and right[1]
        if left[0] * right[0] < 0:
            return ("minimum" if left[0] < 0 else "maximum"), proved
        return "flat", proved and left[0] * right[0] > 0

    def _kind_at(self, x: float) -> tuple[str, bool]:
        """Return the kind of a point at the end of the interval, by the second derivative there."""
        curve = self.curve
        with quiet():
            (r,) = ranges(curve.algebra.table, [curve.derivative(2)], curve.name, x, x)
        sign = int(r.sign())
        return {1: "minimum", -1: "maximum", 0: "flat"}[sign], sign != 0

    def joined(self, signs: Sequence[tuple[float, float, int, bool, Piece]], wanted: int,
               smooth: bool) -> list[tuple[float, float]]:
        """Return the largest intervals with a sign. smooth: they end at kinks."""
        found: list[tuple[float, float]] = []
        for low, high, sign, proved, _ in () if self.curve.opaque else signs:
            if sign != wanted or (not sign and not proved):
                continue
            special = self._at(low)
            through = special is None or (special.sort == "smooth" if smooth else
                                          special.is_continuous())
            if found and found[-1][1] == low and through:
                found[-1] = found[-1][0], high
            else:
                found.append((low, high))
        return found


def _coarse(boxes: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return boxes with those joined that are near each other."""
    found: list[tuple[float, float]] = []
    for low, high in sorted(boxes):
        if found and low - found[-1][1] <= APART * (APART + abs(low)):
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


APART = 0.1
"""Unproved parts that are nearer, for the size of x, are told as one."""


def _without(low: float, high: float, boxes: Sequence[tuple[float, float]]
             ) -> Iterator[tuple[float, float, bool]]:
    """Yield the parts of an interval, and whether they are outside of all boxes."""
    for x, y in boxes:
        if y <= low or x >= high:
            continue
        if low < x:
            yield low, x, True
        yield max(low, x), min(y, high), False
        low = min(y, high)
    if low < high:
        yield low, high, True


def _inside(low: float, high: float) -> float:
    if low == -inf and high == inf:
        return 0.317
    return low + 1.0137 if high == inf else high - 1.0137


def _sort(s: Special) -> str:
    """Return what a special is, by the limits at both sides."""
    left, right = s.limits
    sides = [one for one in (left, right) if one is not None]
    if not sides:
        return "outside"
    if any(one.sort != "limit" for one in sides):
        return "unknown"
    if any(not isfinite(one.value) for one in sides):
        return "pole"
    if len(sides) == 1:
        return "edge"
    assert left is not None
    assert right is not None
    if not _equal(left, right):
        return "jump"
    if not s.defined or abs(s.value[0] - left.value) > NEAR * (1 + abs(left.value)):
        return "removable"
    one, other = s.slopes
    if one is None or other is None or "limit" not in (one.sort, other.sort):
        return "smooth"
    if not isfinite(one.value) and one.value == other.value:
        return "vertical"
    return "smooth" if _equal(one, other) else "kink"


def _equal(one: Limit, other: Limit) -> bool:
    if not (isfinite(one.value) and isfinite(other.value)):
        return one.value == other.value
    return (one.exact is not None and one.exact is other.exact) or (
        abs(one.value - other.value) <= NEAR * (1 + abs(one.value)))


def _shortest(curve: Curve, every: Term) -> Term:
    """Return the shortest part of a period that is one, too, as the values tell."""
    a = curve.algebra
    for n in (12, 6, 4, 3, 2):
        part = exactly(a, a.times(a.number(Fraction(1, n)), every))
        step = value_of(a, part)
        if all(_alike(curve, x, x + step) for x in PROBES):
            return part
    return every


PROBES = (0.3137, 1.2781, -0.8713, 2.1337, 0.0713, -2.9173, 3.3313, 4.717, 5.531, -1.653)


def _alike(curve: Curve, x: float, y: float, sign: int = 1) -> bool:
    one, other = curve.value(x)[0], curve.value(y)[0] * sign
    return abs(one - other) <= 1e-9 * (1e-3 + abs(one)) or (one != one and other != other) or (
        not isfinite(one) and one == other)


def symmetry(curve: Curve) -> str:
    """Return "even", "odd" or "none"."""
    a = curve.algebra
    mirrored = substituted(a, curve.term, curve.name, a.negative(a.table.name(curve.name)))
    if mirrored is curve.term:
        return "even"
    if mirrored is a.negative(curve.term):
        return "odd"
    probes = [*PROBES, 11.3, 37.1, 0.00317]
    domain = all(curve.defined(x) == curve.defined(-x) for x in probes)
    some = any(curve.defined(x) for x in probes)
    for name, sign in (("even", 1), ("odd", -1)):
        if domain and some and all(_alike(curve, x, -x, sign) for x in probes):
            return name
    return "none"


def asymptotes(sketch: Sketch) -> list[dict[str, Any]]:
    """Return the vertical asymptotes, and the lines that the curve comes near to at the ends."""
    curve, a, found = sketch.curve, sketch.curve.algebra, []
    for s in sketch.specials:
        if s.sort == "pole":
            found.append({"kind": "vertical", "at": s.at})
    for end in (-inf, inf):
        if not sketch.reaches(end):
            continue
        try:
            scale = Scale(a)
            x = expansion(scale, curve.term, curve.name, end, RIGHT)
            line = _line(scale, x, end)
        except NoExpansion:
            continue
        if line is not None and not any(line[0] is f.get("slope") and line[1] is f.get(
                "intercept") for f in found):
            found.append({"kind": "horizontal" if line[0].is_number(0) else "oblique",
                          "slope": line[0], "intercept": line[1]})
    return found


def _line(scale: Scale, x: Any, end: float) -> tuple[Term, Term] | None:
    """Return slope and intercept of the line that an expansion comes near to, None for no line."""
    a = scale.algebra
    if x.rest is not None and scale.grows(x.rest) >= 0:
        return None
    slope = intercept = a.number(ZERO)
    for c, m in x.terms:
        if scale.grows(m) < 0:
            break
        if scale.grows(m) == 0:
            intercept = exactly(a, c)
        elif scale.compared(m, level(0)) == 0:
            slope = exactly(a, c if end > 0 else a.negative(c))
        else:
            return None
    return slope, intercept
