"""Trials of rewrites before they are offered: a changed copy of the text runs at the point and
nearby.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.explain.elements import finite
from gradcli.explain.written import grouped
from gradcli.ops.values import is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Note

    # The same question to a changed text at a moved point: values, derivative, notes on both.
    Again = Callable[[str, Mapping[str, Any]], tuple[list[Any], Any, Callable[[], list[Note]]]]

# Tolerance for a guard 1e-12 off an edge, of which a root makes 1e-6.
CLOSE = 1e-5
# The number of points nearby, and their distance.
POINTS, STEP = 4, 0.1
# Programs of more steps are run a few times more; of still more, not at all.
FEW_STEPS, MOST_STEPS = 1_000, 200_000
MOST_TRIALS = 40
# The relative move of a point in its last digits.
BESIDE = 2.0**-30
# Offsets at which a limit shows, and the tolerance of values there.
NEAR, CLEAR = (1e-5, 1e-4, -1e-4, -1e-5), 1e-2
# Relative tolerance of slopes there that have a limit: they differ by roots.
ALIKE = 0.05
# The number of points nearby at which a form has to be the same.
ENOUGH = 3
# Scales of points where those nearby decide nothing, as where all is 0 or infinite.
FAR = (0.5, 0.1, 0.01)


class Trials:
    """The runs that try rewrites of one program for one question.

    again: asks a changed text at a moved point for values and derivative.
    alone: for values alone.
    at: values of the inputs.
    steps: of one run.
    wrt: the name of the source, if there is one.
    of: the target's name, if it has one.
    order: of the derivative.
    nearby: for a second derivative, the trials of the first, which tell whether a rewrite is the
        same function.
    left: rewrites that may still be tried.
    exact: returns values and derivative in a range without limits, NaN where unknown.
    """

    __slots__ = ("_answers", "_kept", "_limits", "_texts", "again", "alone", "at", "exact", "left",
                 "nearby", "of", "order", "source", "steps", "wrt")

    def __init__(self, source: Source, again: Again, at: Mapping[str, Any], steps: int,
                 wrt: str | None = None, of: str = "", order: int = 1,
                 alone: Again | None = None, nearby: Trials | None = None) -> None:
        self.nearby = nearby
        self.order = order
        self.alone = alone or again
        self.source = source
        self.of = of
        self.wrt = wrt
        self.again = again
        self.at = at
        self.steps = steps
        self.left = MOST_TRIALS
        self.exact: Callable[[], tuple[list[Any], Any]] | None = None
        self._answers: dict[Any, tuple[list[Any], Any] | None] = {}
        self._texts: dict[str, bool] = {}
        self._limits: list[Any] | None = None
        self._kept: dict[str, bool] = {}

    def value(self, name: str, x: float) -> float:
        """Return the target's value where one name has another value. Raises GradcliError."""
        values, *_ = self.alone(self.source.text, {name: x})
        with quiet():
            return float(sum([np.sum(v) for v in values]))

    def works(self, span: Span, new: str) -> bool:
        """Return whether the text with this change keeps all finite values, and no NaN or infinity
        has its cause in the changed span any more.
        """
        changed, place = self.changed(span, new)
        if changed not in self._texts:
            self._texts[changed] = self._tried(changed, place)
        return self._texts[changed]

    def changed(self, span: Span, new: str) -> tuple[str, Span]:
        """Return the text with a change, and the span of what was put there."""
        text = self.source.text
        put = grouped(text, span, new)
        return text[:span[0]] + put + text[span[1]:], (span[0], span[0] + len(put))

    def spelled(self, new: str, old: Entry) -> str:
        """Return a new text for an operation as the program would write it."""
        return new

    def jumps(self, span: Span, new: str) -> bool:
        """Return whether the target has the same limit from both sides at the point, and the text
        with this change another value there.
        """
        text = self.source.text
        if self.steps > FEW_STEPS:
            return False
        try:
            with quiet():
                values = [self.alone(text, {name: value + h*np.maximum(1.0, np.abs(value))
                                            for name, value in self.at.items() if is_float(value)}
                                     )[0] for h in NEAR]
            here = self.alone(self.changed(span, new)[0], {})[0]
        except GradcliError:
            return False
        size = CLEAR*max(_away(v, [0.0]*len(v)) for v in values)
        return all(_away(values[0], v) <= size for v in values[1:]) and (
            _away(values[0], here) > 2*size)

    def steadies(self, span: Span, new: str, off: float, derived: bool) -> bool:
        """Return whether the changed text is the same function nearby and steady at the point.

        Values and derivatives nearby agree, the value at the point differs by at most `off`, and
        the answer (derived: the derivative) does not jump when the point moves in its last digits.
        """
        text = self.source.text
        changed, _ = self.changed(span, new)
        if self.left <= 0 or self.steps > FEW_STEPS:
            return False
        self.left -= 1
        if not self._agrees(text, changed, {}, [off]):
            return False
        # Both may differ where digits are lost nearby, too.
        nearby = [*self._points(), *[{name: _moved(value*factor, k) for name, value in
                                      self.at.items() if is_float(value)}
                                     for k, factor in enumerate((0.5, 0.1, 0.01, 0.0))]]
        if sum(self._agrees(text, changed, moved, []) for moved in nearby[1:]) < ENOUGH:
            return False
        seen = [self._answer(changed, {
            name: value*(1.0 + k*BESIDE) for name, value in self.at.items() if is_float(value)})
            for k in (0, 1, -3)]
        here, *beside = [None if one is None else [one[1]] if derived else one[0] for one in seen]
        return here is not None and all(
            one is not None and _away(here, one) <= CLOSE*_away(here, [0.0]*len(here))
            for one in beside)

    def _agrees(self, text: str, changed: str, moved: Mapping[str, Any], off: list[float]) -> bool:
        """Return whether values and derivative of both texts agree. off: if not empty, the bound on
        the difference of the values; the derivative is not compared then.
        """
        before, after = self._answer(text, moved), self._answer(changed, moved)
        if before is None or after is None:
            return False
        if off:
            return not all(map(finite, before[0])) or _away(before[0], after[0]) <= off[0]
        return all(_away([a], [b]) <= CLOSE*_away([a], [0.0]) for a, b in zip(
            [*before[0], before[1]], [*after[0], after[1]], strict=True))

    def _tried(self, changed: str, place: Span) -> bool:
        if self.left <= 0 or self.steps > MOST_STEPS:
            return False
        self.left -= 1
        return (self.nearby or self).is_same_function(changed) and self._is_mended(changed, place)

    def is_same_function(self, changed: str) -> bool:
        """Return whether a changed text has the same values and derivatives as the text, where
        these are finite, at the point and around it; some point has to decide it by a derivative
        that is not 0.
        """
        if changed not in self._kept:
            self._kept[changed] = self._is_kept_around(changed)
            # Answers of changed texts are not asked for again.
            self._answers = {place: answer for place, answer in self._answers.items()
                             if place[0] == self.source.text}
        return self._kept[changed]

    def _is_kept_around(self, changed: str) -> bool:
        points = list(self._points())
        return all(self._is_kept(changed, moved) for moved in points) and (
            not self._has_numbers(points)
            or any(self._decides(changed, moved) for moved in points)
            or self._is_kept_far(changed))

    def _has_numbers(self, points: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether the text has finite values at a point and an input that can be moved."""
        known = [self._answer(self.source.text, moved) for moved in points]
        return any(map(is_float, self.at.values())) and any(
            one is not None and all(map(finite, one[0])) for one in known)

    def _is_kept_far(self, changed: str) -> bool:
        """Return whether distant points keep finite values and derivatives, and one decides it."""
        far = [] if self.steps > FEW_STEPS else [
            {name: value*factor for name, value in self.at.items() if is_float(value)}
            for factor in FAR]
        ordinary = [{name: _ordinary(value, sign) for name, value in self.at.items()
                     if is_float(value)} for sign in (1.0, -1.0)]
        decided = False
        for k, moved in enumerate(far + ordinary):
            if not self._is_kept(changed, moved):
                return False
            decided = decided or self._decides(changed, moved, k >= len(far))
        return decided

    def _decides(self, changed: str, moved: Mapping[str, Any], ordinary: bool = False) -> bool:
        """Return whether both texts have the same slopes at a point where these are not 0, to all
        digits that count. ordinary: at a point of ordinary size equal values suffice.
        """
        before, after = self._answer(self.source.text, moved), self._answer(changed, moved)
        if before is None or after is None or not all(map(finite, before[0])):
            return False
        slope, slopes = np.isfinite(before[1]), [(before[1], after[1])]
        values = list(zip(before[0], after[0], strict=True))
        zero = not any(np.any(value) for value in before[0])
        if ordinary and zero and np.all(slope) and all(_away([a], [b]) <= CLOSE for a, b in (
                *values, *slopes)):
            return True
        if not all(map(_same, *zip(*values, *slopes, strict=True))):
            return False
        if self.wrt is not None and not ordinary and self.steps <= FEW_STEPS:
            return bool(np.any(slope & (np.asarray(before[1]) != 0)))
        return not zero

    def _is_kept(self, changed: str, moved: Mapping[str, Any]) -> bool:
        before, after = self._answer(self.source.text, moved), self._answer(changed, moved)
        if before is None or (after is None and not _any_finite(before)):
            return True
        if after is None or not _kept(before[0], after[0]):
            return False
        # At the point itself the slope may be a convention, or that of no value.
        return not moved or not all(map(finite, before[0])) or _kept([before[1]], [after[1]])

    def _answer(self, text: str, moved: Mapping[str, Any]) -> tuple[list[Any], Any] | None:
        place = named(text, moved)
        if place not in self._answers:
            try:
                values, g, _ = self.again(text, moved)
                self._answers[place] = values, 0.0 if g is None else g
            except GradcliError:
                self._answers[place] = None
        return self._answers[place]

    def _is_mended(self, changed: str, place: Span) -> bool:
        try:
            values, g, notes = self.again(changed, {})
            if not self._is_exact(values, g) or not self._is_limit(values, g):
                return False
            if all(map(finite, values)) and (g is None or finite(g)) and not notes():
                return True
            return not any(note.span is None or (
                place[0] <= note.span[0] and note.span[1] <= place[1]) for note in notes())
        except GradcliError:
            return False

    def _is_exact(self, values: list[Any], g: Any) -> bool:
        """Return whether values and derivative are those that floats could not hold, where these
        are known: a guard may hide them behind a number of its own.
        """
        if self.exact is None:
            return True
        before, slope = self.exact()
        if g is None and slope is not None:  # the derivative is among what is printed
            alike = [v for v in values if shape_of(v) == shape_of(slope)]
            return not alike or any(_kept([slope], [v]) for v in alike)
        return _kept(before, values) and (
            g is None or slope is None or shape_of(g) != shape_of(slope) or _kept([slope], [g]))

    def _is_limit(self, values: list[Any], g: Any) -> bool:
        """Return whether values and derivative are the limits of the original's, if it has any."""
        if self._limits is None:
            self._limits = self._limits_here(g is not None)
        with quiet():
            return not any(
                shape_of(new) == shape_of(limit) and np.isrealobj(new) == np.isrealobj(limit)
                and np.any(np.abs(new - limit) > np.maximum(2*ALIKE*np.abs(limit), CLOSE))
                for new, limit in zip([*values, 0.0 if g is None else g], self._limits,
                                      strict=False))

    def _limits_here(self, derived: bool) -> list[Any]:
        """Return the limits of values and derivative at the point; empty where they are unknown, or
        where values that are differentiated jump.
        """
        here = self._answer(self.source.text, {})
        if here is None or self.steps > FEW_STEPS or not all(map(finite, self.at.values())):
            return []
        near = []
        for h in NEAR:
            with quiet():
                beside = {name: value + h*np.maximum(1.0, np.abs(value))
                          for name, value in self.at.items()
                          if is_float(value) and self.wrt in (None, name)}
            one = self._answer(self.source.text, beside)
            if one is None:
                return []
            known = all(map(finite, one[0]))
            if derived and known and _away(here[0], one[0]) > CLEAR*max(
                    1.0, _away(here[0], [0.0]*len(here[0]))):
                return []
            near.append([*one[0], one[1] if known or not derived else np.multiply(one[1], np.nan)])
        return [_limit(*some) for some in zip(*near, strict=True)]

    def _points(self) -> Iterator[Mapping[str, Any]]:
        """Yield the point itself and some around it, as the inputs that change."""
        yield {}
        if self.steps <= FEW_STEPS:
            for k in range(POINTS):
                yield {name: _moved(value, k + n) for n, (name, value) in enumerate(
                    self.at.items()) if is_float(value)}


def named(text: str, moved: Mapping[str, Any]) -> Any:
    """Return the key of a text and a point in the cache of answers."""
    return text, *[(name, shape_of(value), np.asarray(value).tobytes())
                   for name, value in moved.items()]


def _limit(right: Any, farther: Any, left_farther: Any, left: Any) -> Any:
    """Return the limits of elements from both sides, or the only side with numbers; else NaN."""
    with quiet():
        sides = [np.where(np.abs(np.subtract(far, near)) <= ALIKE*np.abs(near), near, np.nan)
                 for near, far in ((right, farther), (left, left_farther))]
        both = np.where(np.abs(sides[1] - sides[0]) <= ALIKE*np.abs(sides[0]), sides[0], np.nan)
        return np.where(np.isfinite(left) | np.isfinite(left_farther), np.where(
            np.isfinite(right) | np.isfinite(farther), both, sides[1]), sides[0])


def _ordinary(value: Any, sign: float) -> Any:
    """Move each element to a size between 0.3 and 2.3, with its sign or (sign -1) the other one."""
    with quiet():
        size = np.abs(value)
        moved = np.where(np.isfinite(size), np.copysign(
            0.3 + 2.0*size/(1.0 + size), value), 1.0)*sign
    return moved if shape_of(value) else float(moved)


def _moved(value: Any, k: int) -> Any:
    """Move each element a little in one of both directions."""
    shape = shape_of(value)
    steps = np.array([(1.0, -1.0, 0.5, -0.25, -0.6)[(k + 3*i) % 5]
                      for i in range(int(np.prod(shape)))]).reshape(shape)
    with quiet():
        moved = value + STEP*steps*np.maximum(1.0, np.abs(value))
    return moved if shape else float(moved)


def _away(before: list[Any], after: list[Any]) -> float:
    """Return the sum of all differences between values; NaN where one is not a number."""
    with quiet():
        return float(sum([np.sum(np.abs(np.subtract(a, b)))
                          for a, b in zip(before, after, strict=True)]))


def _same(before: Any, after: Any) -> bool:
    """Return whether finite elements are the same, relative to their size."""
    with quiet():
        return shape_of(before) == shape_of(after) and bool(np.all(
            ~np.isfinite(before) | (np.abs(np.subtract(after, before)) <= CLOSE*np.abs(before))))


def _any_finite(before: tuple[list[Any], Any]) -> bool:
    return any(np.isfinite(v).any() for v in (*before[0], before[1]))


def _kept(before: list[Any], after: list[Any]) -> bool:
    """Return whether finite elements are the same, to CLOSE of their size or of 1."""
    if len(before) != len(after):
        return False
    with quiet():
        for old, new in zip(before, after, strict=True):
            if shape_of(old) != shape_of(new):
                return False
            moved = np.abs(np.asarray(new) - old) > CLOSE*np.maximum(1.0, np.abs(old))
            if (np.isfinite(old) & (moved | ~np.isfinite(new))).any():
                return False
    return True
