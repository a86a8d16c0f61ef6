"""Limits of a formula at a point where it has no value or a kink: removable, a pole, or one per
side.

The Laurent series tells (`engine.sweeps.laurent`), and values nearby have to agree. Where there is
no series, values nearer and nearer are compared, and nothing is said where they do not decide.

Of a composition of functions that have one-sided derivatives, the chain rule takes each along the
step that reaches it (A. Griewank, On stable piecewise linearization, Optimization Methods and
Software 28, 2013). An operation at a kink has the slope that it has a little along that step.
"""

from __future__ import annotations

import math
from itertools import pairwise

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, PLACE, VALUES, ancestry
from gradcli.engine.record.tensor import value_of
from gradcli.engine.sweeps import tangent
from gradcli.engine.sweeps.laurent import Around, Laurent
from gradcli.engine.sweeps.series import NoSeries
from gradcli.ops.values import is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry


    At = Callable[[float], float]

ORDER = 8
# Paths of the source in t: by t, and by t^2, in which square roots have a series.
WAYS = ((1.0,), (0.0, 1.0))
EMPTY = "has no values"
SIDES = {-1.0: "the left", 1.0: "the right"}
# Tolerances of values nearby to a series, and to their limit.
AGREED, SETTLED = 1e-5, 1e-6
# A size near the largest float.
LARGE = 1e290
# Ratio of one step to the one before above which values have no limit.
SUDDEN = 30.0


class LocalSeries:
    """The series of values around a point in one source.

    source: its id and value.
    name: its name.
    target: id.
    of: its name in sentences.
    there: its value at the point.
    others: ids of other inputs that values may depend on.
    value: function from the source's value to the target's; raises GradcliError.
    order: of the derivative that is asked for.
    """

    __slots__ = ("_around", "alone", "entries", "name", "of", "order", "others", "point", "source",
                 "target", "there", "value")

    def __init__(self, entries: Sequence[Entry], source: tuple[int, float], name: str, target: int,
                 of: str, others: Sequence[int], there: float, value: At, order: int = 1
                 ) -> None:
        self.order = order
        self.there = there
        self.of = of
        self.others = list(others)
        wanted = ancestry(entries, target)
        self.alone = not wanted.isdisjoint(self.others)
        self.entries = [entry for entry in entries if entry[OUT] in wanted]
        self.source = source
        self.point = source[1]
        self.name = name
        self.target = target
        self.value = value
        self._around: dict[Any, Around | None] = {}

    def series(self, id: int, way: Sequence[float] = WAYS[0], side: float = 0.0) -> Laurent | None:
        """Return the Laurent series of a value; None if there is none.

        way: coefficients of the source's path in t. side: -1 to the left, 1 to the right, 0 for
        both.
        """
        key = (tuple(way), side)
        if key not in self._around:
            try:
                self._around[key] = Around(
                    self.entries, self.source, [(side or 1.0)*c for c in way], side != 0)
            except NoSeries:
                self._around[key] = None
        around = self._around[key]
        try:
            return around.of(id) if around is not None else None
        except NoSeries:
            return None

    def regular(self, id: int, order: int = ORDER) -> list[float] | None:
        """Return the series coefficients of a value that has a limit at the point, else None."""
        found = self.series(id)
        if found is None or found.shift:
            return None
        try:
            c = found.coefficients(max(order, ORDER))
        except NoSeries:
            return None
        return c[:order + 1] if id != self.target or self._agrees(c) else None

    def sentence(self) -> str | None:
        """Return the sentence on the target's behaviour around the point; None if unknown."""
        said = self._sentence(self.of)
        return f"in {self.name} alone {said}" if said is not None and self.alone else said

    def _sentence(self, of: str) -> str | None:
        if self.regular(self.target) is not None:
            return self.removable(self.target, of)
        found = self.series(self.target)
        order = found.shift if found is not None else 0
        ends = {side: self._end(side) for side in SIDES}
        if order < 0 and None not in ends.values():
            return f"a pole of order {-order}: {_limit_words(of, ends)}"
        known = None not in ends.values() and set(ends.values()) != {EMPTY}
        return _limit_words(of, ends) if known else None

    def turns(self, entry: Entry) -> list[Entry]:
        """Return all entries of the operation at the same location: one for each turn of a loop."""
        return [one for one in self.entries
                if one[OP] is entry[OP] and one[PLACE] == entry[PLACE]]

    def surprises(self) -> bool:
        """Return whether the target is known not to tend to the value that it has at the point."""
        c = self.regular(self.target)
        expected = (EMPTY, f"tends to {shown(self.there)}", f"tends to {shown(self.there, 5)}")
        if c is not None:
            return f"tends to {shown(c[0])}" not in expected
        return any(end is not None and end not in expected for end in map(self._end, SIDES))

    def removable(self, id: int, of: str) -> str:
        """Return the sentence on a value that has a limit."""
        c = self.regular(id)
        assert c is not None
        # Of several sources one alone does not decide.
        kind = "" if self.alone else "the singularity is removable: "
        return f"{kind}{of} tends to {shown(c[0])} there, with slope {shown(c[1])}"

    def _end(self, side: float) -> str | None:
        """Return the clause on the target's limit from one side; None if unknown."""
        for way in WAYS:
            found = self.series(self.target, way, side)
            if found is None:
                continue
            try:
                c = found.coefficients(1)
            except NoSeries:
                continue
            if found.shift < 0:
                return "goes to inf" if c[0] > 0 else "goes to -inf"
            near = self._near(side)
            if near is not None and abs(near[-1] - c[0]) <= 1e-2*max(1.0, abs(c[0])):
                return f"tends to {shown(c[0])}"
            return None
        return self._probed(side)

    def _probed(self, side: float) -> str | None:
        near = self._near(side)
        if near is None or (abs(near[0]) >= LARGE and self._is_large(side)):
            return None
        if all(v != v for v in near[-3:]):
            return EMPTY
        sizes = [abs(v) for v in near]
        # Values that cancel have no digits left nearest to the point: only a trend that goes on
        # from the first values to the last is believed.
        if all(v == v and v*near[-1] > 0 for v in near) and all(
                b == math.inf or b > 2*a for a, b in pairwise(sizes)):
            return "goes to inf" if near[-1] > 0 else "goes to -inf"
        if any(v - v != 0 for v in near):
            return None
        steps = [abs(b - a) for a, b in pairwise(near)]
        if any(b > SUDDEN*a + 1e-12*max(sizes) for a, b in pairwise(steps)) or (
                max(sizes) > SETTLED and any(b < 1e-4*a > SETTLED for a, b in pairwise(sizes))):
            return None
        if sizes[-1] <= SETTLED and sizes[-1] <= max(sizes[:2]):
            return "tends to 0"
        if steps[-1] <= SETTLED*sizes[-1] and steps[-1] <= 0.5*max(steps[:2]):
            return f"tends to {shown(near[-1], 5)}"
        return None

    def overflows(self) -> bool:
        """Return whether the target is too large for a float even far from the point: no pole."""
        return all(map(self._is_large, SIDES))

    def _is_large(self, side: float) -> bool:
        try:
            return abs(self.value(self.point + side*(abs(self.point) or 1.0)/2)) >= LARGE
        except GradcliError:
            return False

    def _near(self, side: float) -> list[float] | None:
        """Return the target's values nearer and nearer to the point; None if one is undefined."""
        scale, most = (abs(self.point), 8) if self.point else (1.0, 11)
        try:
            return [self.value(self.point + side*scale*10.0**-k) for k in range(2, most)]
        except GradcliError:
            return None

    def _agrees(self, c: Sequence[float]) -> bool:
        """Return whether values nearby agree with the series."""
        first = next((abs(v) for v in c if v), 1.0)
        radius = min([(first/abs(v))**(1/k) for k, v in enumerate(c) if k and v], default=1.0)
        try:
            for side in SIDES:
                h = side*min(radius, 1.0)*2.0**-6
                told = sum([v*h**k for k, v in enumerate(c)])
                size = max(abs(c[0]), abs(c[1]*h), first*abs(h)**2)
                if not abs(self.value(self.point + h) - told) <= AGREED*size:
                    return False
        except GradcliError:
            return False
        return True


def shown(value: float, digits: int = 6) -> str:
    """Format a number for a sentence; a number as small as rounding is 0."""
    return f"{0.0 if abs(value) < 1e-14 else value:.{digits}g}"


def _limit_words(of: str, ends: dict[float, Any]) -> str:
    left, right = ends.values()
    if left == right:
        return f"{of} {left} from both sides"
    words = [f"{end} {'on' if end == EMPTY else 'from'} {SIDES[side]}"
            for side, end in ends.items()]
    return f"{of} {words[0]} and {words[1]}"


def beginning(c: Sequence[float], name: str, point: float) -> str:
    """Return the first terms of a series as an expression, without terms as small as rounding."""
    moved = name if point == 0 else f"({name} {'-' if point > 0 else '+'} {_written(abs(point))})"
    text = ""
    for k, value in enumerate(c):
        if abs(value) <= 1e-14*max(map(abs, c)):
            continue
        power = "" if k == 0 else moved if k == 1 else f"{moved}^{k}"
        size = _written(abs(value))
        term = size if not power else power if size == "1" else f"{size}*{power}"
        sign = "-" if value < 0 else "+"
        text = f"{text} {sign} {term}" if text else f"{'-' if value < 0 else ''}{term}"
    return text or "0"


def _written(value: float) -> str:
    return exact(value + 0.0)


def exact(value: float) -> str:
    """Format a number for a formula, with all its digits."""
    return repr(value).removesuffix(".0")


# Beyond these sizes all conventions at kinks are reported.
MOST_KINKS, MOST_ENTRIES = 30, 20_000
# Distance along a step, by the size of the operands: far from rounding, near the point.
AHEAD = 1e-7
# Tolerance of a slope at that distance.
CLOSE = 1e-5


def decisive(entries: Sequence[Entry], at_kink: Mapping[int, Sequence[Any]], source: int,
             value: Any, targets: Sequence[int]) -> set[int]:
    """Return the ids of operations at kinks whose conventions decide a derivative of the targets in
    a source: one-sided slopes differ from each other or from the convention.

    at_kink: id of each operation at a kink to its operands.
    """
    if len(at_kink) > MOST_KINKS or len(entries) > MOST_ENTRIES:
        return set(at_kink)
    found: set[int] = set()
    with quiet():
        for direction in directions(value):
            def along(step: Any, kinks: Collection[int]) -> Any:
                return _tangents(entries, {k: v for k, v in at_kink.items() if k in kinks}, source,
                                 step, targets)

            steps = (direction, -direction)
            right = [along(step, at_kink) for step in steps]
            if all(_same(along(step, ()), true) for step, true in zip(steps, right, strict=True)):
                continue
            alone = {k for k in at_kink if not all(
                _same(along(step, at_kink.keys() - {k}), true)
                for step, true in zip(steps, right, strict=True))}
            found |= alone or set(at_kink)
    return found


def directions(value: Any) -> list[Any]:
    """Return directions for one-sided derivatives: 1.0 for a scalar; for an array some arrays in
    which no two elements are equal.
    """
    shape = shape_of(value)
    if not shape:
        return [1.0]
    n = int(np.prod(shape))
    return [np.cos(np.arange(n)*a + b).reshape(shape) for a, b in ((2.4, 0.5), (0.7, 1.9))]


def _tangents(entries: Sequence[Entry], ahead: Mapping[int, Sequence[Any]], source: int, step: Any,
              targets: Sequence[int]) -> list[Any]:
    """Return the tangents of the targets along a step; operations in `ahead` (id to operands) take
    the slope that they have a little along it.
    """
    carried = {source: step}
    for entry in entries:
        if any(i in carried for i in entry[IDS]):
            one = _ahead(entry, ahead[entry[OUT]], carried) if entry[OUT] in ahead else entry
            made = tangent.of_entry(one, carried, False)
            if made is not None:
                carried[entry[OUT]] = value_of(made)
    return [carried.get(i, 0.0) for i in targets]


def _ahead(entry: Entry, operands: Sequence[Any], carried: Mapping[int, Any]) -> Entry:
    """Return an entry evaluated a little along the tangents of its operands."""
    op = entry[OP]
    steps = [carried.get(i) if i is not None and is_float(v) else None
             for i, v in zip(entry[IDS], operands, strict=True)]
    largest = max([float(np.max(np.abs(s), initial=0.0)) for s in steps if s is not None],
                  default=0.0)
    if largest == 0 or largest - largest != 0:
        return entry
    size = max([1.0, *[float(np.max(np.abs(v), initial=0.0)) for v in operands if is_float(v)]])
    moved = [v if s is None else v + s*(AHEAD*size/largest)
             for v, s in zip(operands, steps, strict=True)]
    moved = [float(v) if type(old) is float else v for v, old in zip(moved, operands, strict=True)]
    ans = op.compute(moved, entry[ATTRIBUTES])
    new = list(entry)
    new[VALUES], new[ANS] = tuple(moved), ans
    one: Any = tuple(new)
    return one  # type: ignore[no-any-return]


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    for x, y in zip(a, b, strict=True):
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-300)
        if not np.all((np.abs(np.subtract(x, y)) <= CLOSE*size) | (x == y)):
            return False
    return True
