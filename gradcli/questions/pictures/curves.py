"""A function of one input and its derivatives as plain data: pieces of curves, and what is special
about them.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import ANS, OUT
from gradcli.engine.record.tensor import Tensor
from gradcli.ops.kinds import EDGE
from gradcli.questions.many.parts import DERIVATIVES
from gradcli.questions.pictures.sampling import (
    SAME,
    STEP,
    breaks,
    coarse,
    limits,
    reached,
    refined,
    simplest,
)
from gradcli.questions.pictures.values import Evaluator, elements_left, first_problem, named, title
from gradcli.questions.plain_data import data, heading
from gradcli.questions.question import tensors_of
from gradcli.render.numbers import significant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.questions.pictures.sampling import Sampled
    from gradcli.questions.pictures.values import Over
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question


# Beyond the values a picture has so much room, as a share of them.
MARGIN = 0.05
# So many places are told, and so many kinks explained.
TOLD = 6
EXPLAINED = 4
# So often a picture is begun anew without what is rounding, of which each curve has so many places.
ROUNDS = 3
HIDDEN = 8
# A derivative that is so many times higher than its function (and one of higher order than most of
# itself) is seen so many times as high as that; beside a pole so much of it.
FLAT = 10.0
BESIDE = 3.0
USUAL = (0.1, 0.9)
MOST = (0.25, 0.75)
# A height of a function that is rounding, as a share of its values.
NONE = 1e-11
# Where the program is looked at first, as shares of the range.
LOOKED = (0.5, 0.75, 0.25, 1.0, 0.0)


def curves(question: Question, over: Over, orders: Sequence[int], view: tuple[float, float] | None
           ) -> Answer:
    """Return the picture of the targets of a question over one input.

    orders: which derivatives, of 1, 2, ... view: what the axis of the values shows, by default all
    values, or what is around the poles. Raises E0813 for what is no scalar, E0814 where nothing is
    finite, and what the program raises where it works nowhere.
    """
    # Jumps of a derivative are kinks of the function, and what the next one tells is no jump.
    highest = max([2, *orders])
    values = Evaluator(question, [over], highest, [
        (over.low + share * (over.high - over.low),) for share in LOOKED])
    shown = [k * (highest + 1) + order
             for k in range(len(values.targets)) for order in (0, *orders)]

    hidden: dict[int, list[tuple[float, float]]] = {}
    cut: list[int] = []

    def evaluate(xs: Any) -> Any:
        found = values(xs)
        # The formula of a derivative may have values where the function has none.
        found[:, 1:][np.broadcast_to(np.isnan(found[:, :1]), found[:, 1:].shape)] = np.nan
        return _without(hidden, xs, found.reshape(-1, found.shape[-1]))

    start = coarse(evaluate, over.low, over.high)
    noise = Noise(values)
    for c, poles in enumerate(start.poles):
        start.poles[c] = [x for x in poles if not noise.false_pole(x, c, over.high - over.low)]
    views = _views(start, highest)
    if all(views[c] is None for c in shown):
        raise first_problem(values)
    if view is None:
        view, cut = _shown(start, views, shown, highest)
    looked = [view if c in shown else _roomy(*(v or (0.0, 1.0))) for c, v in enumerate(views)]
    for _ in range(ROUNDS):
        sampled = refined(evaluate, start, [
            v if c in shown or c % (highest + 1) < 2 else None for c, v in enumerate(looked)])
        found = [_curve(sampled, c, looked[c], values, divmod(c, highest + 1))
                 for c in range(len(looked))]
        if not _hide(hidden, noise, sampled, found, looked):
            break
        start.ys = _without(hidden, start.xs, start.ys)
    for c, curve in enumerate(found):
        above = found[c + 1] if curve["order"] < highest - 1 else None
        curve["kinks"] = [] if above is None else _kinks(curve, above, sampled)
    notes = list(_notes(values, over, [found[c] for c in shown], sampled, hidden))
    notes += [{"code": "range", "message": f"{found[c]['name']} goes beyond the picture; --range"
               " shows more"} for c in cut]
    notes += list(_rounded(over, {found[c]["name"]: hidden[c] for c in shown if c in hidden}))
    return {
        **heading(question.program.source, "plot"),
        "title": title(values), "over": [_axis(over)],
        "range": list(view), "curves": [found[c] for c in shown if found[c]["segments"]],
        "field": None, "notes": notes}


def _without(hidden: Mapping[int, Sequence[tuple[float, float]]], xs: Any, ys: Any) -> Any:
    """Return the values without those that are rounding."""
    for c, places in hidden.items():
        for low, high in places:
            ys[c, (low <= xs) & (xs <= high)] = np.nan
    return ys


def _hide(hidden: dict[int, list[tuple[float, float]]], noise: Noise, sampled: Sampled,
          found: Sequence[Answer], looked: Sequence[tuple[float, float]]) -> bool:
    """Find where jumps are rounding; whether there are such places."""
    xs, more = sampled.xs, False
    for c, curve in enumerate(found):
        room = 0.5 * STEP * (looked[c][1] - looked[c][0])
        places: list[tuple[float, float]] = []
        for x in curve["jumps"]:
            if any(low <= x <= high for low, high in places) or len(places) >= HIDDEN:
                continue
            # Of the pieces that end there, the one that jumps.
            first = max(int(np.searchsorted(xs, x)) - 2, 0)
            rises = np.nan_to_num(np.abs(np.diff(sampled.ys[c, first:first + 4])))
            k = first + int(np.argmax(rises))
            left, right, rise = float(xs[k]), float(xs[k + 1]), float(rises.max())
            if not rise > 2.0 * (noise.at(left, c) + noise.at(right, c)):
                places.append(noise.around(
                    x, c, room, right - left, (float(xs[0]), float(xs[-1]))))
        if places:
            hidden[c] = _merged([*hidden.get(c, ()), *places])
            more = True
    return more


def _merged(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for low, high in sorted(places):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _rounded(over: Over, hidden: Mapping[str, Sequence[tuple[float, float]]]) -> Iterator[Answer]:
    """Yield a note on each curve of which rounding hides a part."""
    for name, places in hidden.items():
        yield {"code": "rounding", "message": f"rounding hides {name} near {over.name} ="
               f" {_listed([simplest(low, high) for low, high in places])}"}


def _views(start: Sampled, highest: int) -> list[tuple[float, float] | None]:
    """Return what of each curve is worth looking at."""
    found: list[tuple[float, float] | None] = []
    for c, (ys, poles) in enumerate(zip(start.ys, start.poles, strict=True)):
        order = c % (highest + 1)
        own = found[c - order] if order else None
        found.append(limits(ys, bool(poles)) if own is None else limits(
            ys, bool(poles), own[1] - own[0]))
    return found


def _shown(start: Sampled, views: Sequence[tuple[float, float] | None], shown: Sequence[int],
           highest: int) -> tuple[tuple[float, float], list[int]]:
    """Return what the axis shows, and which derivatives are not seen in full: the functions say it
    first, and their derivatives may not make them flat.
    """
    own = [v for c in shown for v in [views[c]] if v is not None and not c % (highest + 1)]
    own = own or [v for c in shown for v in [views[c]] if v is not None]
    low, high = first, last = min([v[0] for v in own]), max([v[1] for v in own])
    height, cut = last - first, []
    for c in shown:
        v, finite = views[c], start.ys[c][np.isfinite(start.ys[c])]
        if v is None or not c % (highest + 1):
            continue
        more = np.inf
        if start.poles[c] and start.poles[c - c % (highest + 1)]:
            # Most of it, as far as most of the function.
            v, more = tuple(np.quantile(finite, USUAL).tolist()), height
        elif max(first - v[0], v[1] - last) > FLAT * max(
                height, 0.0 if c % (highest + 1) == 1 else np.ptp(np.quantile(finite, MOST))
                ) and height > NONE * max(abs(first), abs(last)):
            more = BESIDE * height
            cut.append(c)
        low, high = min(low, max(v[0], first - more)), max(high, min(v[1], last + more))
    for c in shown:
        low, high = reached(start.ys[c], low, high)
    return _roomy(low, high), cut


def _axis(over: Over) -> Answer:
    return {"name": over.name, "low": over.low, "high": over.high}


def _roomy(low: float, high: float) -> tuple[float, float]:
    height = high - low
    if height <= 1e-12 * max(abs(low), abs(high)):
        height = abs(low) or 10.0   # a constant
    return low - MARGIN * height, high + MARGIN * height


def _curve(sampled: Sampled, c: int, view: tuple[float, float], values: Evaluator,
           which: tuple[int, int]) -> Answer:
    """Return one curve: its pieces, its poles and its jumps."""
    target, order = which
    xs, ys = sampled.xs, sampled.ys[c]
    broken = breaks(sampled, c, view, c + 1 if order < values.count else None)
    ends = np.flatnonzero(broken)
    height = view[1] - view[0]
    drawn = np.clip(ys, view[0] - height, view[1] + height)
    segments = []
    for start, stop in zip([0, *(ends + 1)], [*(ends + 1), len(xs)], strict=True):
        # A single value between two jumps of a derivative is a convention, as sign(0) is.
        if np.isfinite(ys[start]) and (stop - start > 1 or not order):
            segments.append(np.stack([xs[start:stop], drawn[start:stop]], axis=1).tolist())
    jumps = [] if (target, order) in values.missing else _jumps(sampled, c, broken, order)
    return {"of": values.targets[target].name, "order": order,
            "name": named(values.targets[target].name, order), "segments": segments,
            "poles": sampled.poles[c], "jumps": jumps}


def _jumps(sampled: Sampled, c: int, broken: Any, order: int) -> list[float]:
    """Return where both ends of a break are finite, and there is no pole."""
    xs, ys = sampled.xs, sampled.ys[c]
    finite = np.isfinite(ys)
    found: list[float] = []
    # A single value of a derivative beside a gap is a convention, too.
    alone = np.zeros(len(xs), bool)
    if order:
        alone[1:] |= finite[1:] & ~finite[:-1]
        alone[:-1] |= finite[:-1] & ~finite[1:]
    for k in np.flatnonzero(broken & finite[:-1] & finite[1:] & ~alone[:-1] & ~alone[1:]):
        x = simplest(float(xs[k]), float(xs[k + 1]))
        # Beside a pole a piece may be wide.
        poles = np.clip(sampled.poles[c], xs[k], xs[k + 1]) if sampled.poles[c] else ()
        if not any(_near(p, sampled.poles[c], xs) for p in (x, *poles)) and not _near(x, found, xs):
            found.append(x)
    return found


def _near(x: float, places: Sequence[float], xs: Any) -> bool:
    return any(abs(x - other) <= SAME * (xs[-1] - xs[0]) for other in places)


def _kinks(curve: Answer, above: Answer, sampled: Sampled) -> list[list[float]]:
    """Return the points of a curve where its derivative jumps and it does not."""
    found = []
    for x in above["jumps"]:
        if not _near(x, [*curve["jumps"], *curve["poles"]], sampled.xs):
            piece = [s for s in curve["segments"] if s[0][0] <= x <= s[-1][0]]
            if piece:
                px, py = np.array(piece[0]).T
                found.append([x, float(np.interp(x, px, py))])
    return found


# --- what is said of them -------------------------------------------------------------------------


def _notes(values: Evaluator, over: Over, curves: Sequence[Answer], sampled: Sampled,
           hidden: Mapping[int, Any]) -> Iterator[Answer]:
    said: list[float] = []
    for curve in curves:
        poles = [x for x in curve["poles"] if not _near(x, said, sampled.xs)]
        said += poles
        for kind, places in (("pole", poles), ("jump", curve["jumps"])):
            if places:
                yield {"code": kind, "message": f"{curve['name']} has {_several(kind, places)} at"
                       f" {over.name} = {_listed(places)}"}
        if curve["kinks"]:
            places = [x for x, _ in curve["kinks"]]
            why = dict.fromkeys([] if curve["order"] else [
                text for x in places[:EXPLAINED] for text in _why(values, curve, x)])
            yield {"code": "kink", "message": f"{curve['name']} has {_several('kink', places)} at"
                   f" {over.name} = {_listed(places)}" + "".join(f"; {text}" for text in why)}
    for k, target in enumerate(values.targets):
        c = k * (1 + values.count)
        gaps = [] if c in hidden else list(_gaps(sampled.xs, sampled.ys[c]))
        if gaps:
            where = ", from ".join(gaps[:TOLD]) + (", ..." if len(gaps) > TOLD else "")
            yield {"code": "gap", "message": f"{target.name} has no finite value for {over.name}"
                   f" from {where}"}
    yield from elements_left(values)
    if values.problem is not None:
        yield {"code": "error", "message": f"some points have no value: {values.problem.message}"}
    for k, target in enumerate(values.targets):
        if any((k, order) in values.missing for order in range(1, 1 + values.count)):
            yield {"code": "none", "message": f"{named(target.name, 1)} is None: no path of"
                   f" derivatives leads from {target.name} to {over.name}; `gradcli why` tells"
                   " the reason"}


def _several(kind: str, places: Sequence[Any]) -> str:
    return f"a {kind}" if len(places) == 1 else f"{kind}s"


def _listed(places: Sequence[float]) -> str:
    shown = ", ".join([significant(x) for x in places[:TOLD]])
    return shown if len(places) <= TOLD else f"{shown}, ... ({len(places)} in all)"


def _gaps(xs: Any, ys: Any) -> Iterator[str]:
    """Yield `-1 to 0` for each stretch without numbers."""
    missing = np.concatenate([[False], ~np.isfinite(ys), [False]])
    edges = np.flatnonzero(missing[1:] != missing[:-1])
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        if stop - start > 1:
            low = xs[0] if start == 0 else simplest(float(xs[start - 1]), float(xs[start]))
            high = xs[-1] if stop == len(xs) else simplest(float(xs[stop - 1]), float(xs[stop]))
            yield f"{significant(float(low))} to {significant(float(high))}"


def _why(values: Evaluator, curve: Answer, x: float) -> list[str]:
    """Return what the engine says of the operations that are at a kink there."""
    from gradcli.explain.notes import Kinks
    from gradcli.questions.question import tensors_of

    question = values.question
    try:
        run = question.run(values.at([x]), explain=False)
        with run.record:
            (target,) = [t for t in question.program.targets(run, question.of)
                         if t.name == curve["of"]][:1]
            (source,) = question.program.sources(run, question.wrt[:1])
            found = Kinks(run, tensors_of(target), question.program.source).of(
                source.value, order=2)
    except (GradcliError, ValueError):
        return []
    return [str(data(note.message)) for note in found]


# --------------------------------------------------------------------------------------------------
# Rounding in the digits of a curve: beside removable singularities, where large terms cancel.
#
# Source of the bound: Linnainmaa, Taylor expansion of the accumulated rounding error (1976): to
# first order an error made in one step arrives multiplied by the adjoint of that step.

# A step is wrong by at most so much of its value: functions of a library by a unit in the last
# place.
UNIT = 2.0 ** -52
# The record of a derivative of a derivative grows; beyond, bounds are continued as a sequence.
LONGEST = 250
# What looking at places of one picture may cost: one each, and one for so many entries of a record.
MOST_BOUNDED = 1000
ENTRIES = 100
# Halvings of the logarithm of an edge.
TIGHT = 4
# Each step outwards to an edge is so many times longer than the last.
FAR = 8.0


class Noise:
    """Bounds of the rounding error of a picture's numbers. values: the source of the numbers. left:
    the cost that further bounds may have.
    """

    __slots__ = ("_found", "left", "values")

    def __init__(self, values: Evaluator) -> None:
        self.values = values
        self.left = MOST_BOUNDED
        self._found: dict[float, list[float]] = {}

    def at(self, x: float, c: int) -> float:
        """Return a bound of the rounding error of curve c at x: 0 where nothing is known of it,
        infinite or NaN where there is no number.
        """
        if x not in self._found:
            if self.left <= 0:
                return 0.0
            self.left -= 1
            try:
                self._found[x] = self._bounds(x)
            except (GradcliError, *EDGE):
                self._found[x] = []
        found = self._found[x]
        return found[c] if c < len(found) else 0.0

    def _bounds(self, x: float) -> list[float]:
        """Return per curve: of each target itself and all its derivatives."""
        values, question = self.values, self.values.question
        found: list[float] = []
        for k in range(len(values.targets)):
            run = question.run(values.at([x]), explain=False)
            own: list[float] = []
            with run.record, quiet():
                target = question.program.targets(run, question.of)[k]
                bindings = question.program.sources(run, question.wrt)
                own.append(_bound(run, tensors_of(target)))
                successive = DERIVATIVES["successive"]
                assert successive is not None
                for part in successive(question, run, target, bindings, True):
                    if len(own) > values.count or len(run.record.history()) > LONGEST:
                        break
                    own.append(_bound(run, [part.value] if isinstance(part.value, Tensor) else []))
            self.left -= len(run.record.history()) // ENTRIES
            while len(own) <= values.count:
                own.append(own[-1] * own[-1] / own[-2] if own[-2:-1] > [0.0] else 0.0)
            found += own
        return found

    def false_pole(self, x: float, c: int, width: float) -> bool:
        """Return whether what grows towards x is nothing but rounding: there is no digit beside it.
        """
        for away in (1e-8 * width, 1e-6 * width):
            for side in (x - away, x + away):
                y = abs(float(self.values(np.array([side])).reshape(-1)[c]))
                if not y <= 20.0 * self.at(side, c):
                    return False
        return True

    def around(self, x: float, c: int, room: float, start: float, ends: tuple[float, float]
               ) -> tuple[float, float]:
        """Return the interval around x in which rounding is more than `room`. start: a first
        distance. ends: of the axis.
        """
        low, high = (self._edge(x, c, room, sign * start, end)
                     for sign, end in zip((-1.0, 1.0), ends, strict=True))
        return low, high

    def _edge(self, x: float, c: int, room: float, away: float, end: float) -> float:
        while abs(away) < abs(end - x):
            if self.at(x + away, c) <= room:
                inner, outer = away / FAR, away
                for _ in range(TIGHT):
                    middle = inner * (outer / inner) ** 0.5
                    if self.at(x + middle, c) <= room:
                        outer = middle
                    else:
                        inner = middle
                return x + outer
            away *= FAR
        return end


def _bound(run: Any, tensors: Sequence[Tensor]) -> float:
    """Return to first order the rounding error of the sum of these tensors."""
    tensors = [t for t in tensors if t.id is not None]
    entries = run.record.history()
    steps = [Tensor(entry[ANS], entry[OUT], 0) for entry in entries]
    if not tensors or not steps:
        return 0.0
    adjoints = calculus.gradient(tensors, steps)
    # What stands at infinity and does not matter there is 0 times infinity.
    return UNIT * float(sum([
        np.nansum(np.abs(np.asarray(g) * np.asarray(step.value)))
        for g, step in zip(adjoints, steps, strict=True) if g is not None]))
