"""A function of one input and its derivatives as plain data: pieces of curves, and what is special
about them.
"""

from __future__ import annotations

from gradcli.answers.plain_data import data
from gradcli.errors import GradcliError
from gradcli.ops.lazy import np
from gradcli.plotting.sampling import SAME, breaks, coarse, limits, refined, simplest
from gradcli.plotting.titles import named, title
from gradcli.plotting.values import Values, first_problem
from gradcli.render.numbers import significant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.plotting.over import Over
    from gradcli.plotting.sampling import Sampled

# Beyond the values a picture has so much room, as a share of them.
MARGIN = 0.05
# So many places are told, and so many kinks explained.
TOLD = 6
EXPLAINED = 4
# Where the program is looked at first, as shares of the range.
LOOKED = (0.5, 0.75, 0.25, 1.0, 0.0)


def curves(ask: Ask, over: Over, orders: Sequence[int], view: tuple[float, float] | None
           ) -> Answer:
    """The picture of the targets of a question over one input.

    orders: which derivatives, of 1, 2, ... view: what the axis of the values shows, by default all
    values, or what is around the poles. Raises E0813 for what is no scalar, E0814 where nothing is
    finite, and what the program raises where it works nowhere.
    """
    # Jumps of a derivative are kinks of the function, and what the next one tells is no jump.
    highest = max([2, *orders])
    ask.wrt = [over.name] * highest
    values = Values(ask, "successive", [over.name], [
        (over.low + share * (over.high - over.low),) for share in LOOKED])
    shown = [k * (highest + 1) + order
             for k in range(len(values.targets)) for order in (0, *orders)]

    def evaluate(xs: Any) -> Any:
        found = values(xs)
        # The formula of a derivative may have values where the function has none.
        found[:, 1:][np.broadcast_to(np.isnan(found[:, :1]), found[:, 1:].shape)] = np.nan
        return found.reshape(-1, found.shape[-1])

    start = coarse(evaluate, over.low, over.high)
    views = [limits(ys, bool(poles)) for ys, poles in zip(start.ys, start.poles, strict=True)]
    if all(views[c] is None for c in shown):
        raise first_problem(values)
    if view is None:
        # Where a function has poles, its own values say what is worth looking at.
        seen = [v for c in shown for v in [views[c]] if v is not None and not (
            start.poles[c] and c % (highest + 1) and start.poles[c - c % (highest + 1)])]
        view = _roomy(min([v[0] for v in seen]), max([v[1] for v in seen]))
    looked = [view if c in shown else _roomy(*(v or (0.0, 1.0))) for c, v in enumerate(views)]
    sampled = refined(evaluate, start, [
        v if c in shown or c % (highest + 1) < 2 else None for c, v in enumerate(looked)])
    found = [_curve(sampled, c, looked[c], values, divmod(c, highest + 1))
             for c in range(len(looked))]
    for c, curve in enumerate(found):
        above = found[c + 1] if curve["order"] < highest - 1 else None
        curve["kinks"] = [] if above is None else _kinks(curve, above, sampled)
    notes = list(_notes(values, over, [found[c] for c in shown], sampled))
    return {
        "schema": 1, "command": "plot", "file": ask.program.source.name,
        "title": title(ask, values.targets, [over.name]), "over": [_axis(over)],
        "range": list(view), "curves": [found[c] for c in shown if found[c]["segments"]],
        "field": None, "notes": notes}


def _axis(over: Over) -> Answer:
    return {"name": over.name, "low": over.low, "high": over.high}


def _roomy(low: float, high: float) -> tuple[float, float]:
    height = high - low
    if height <= 1e-12 * max(abs(low), abs(high)):
        height = abs(low) or 10.0   # a constant
    return low - MARGIN * height, high + MARGIN * height


def _curve(sampled: Sampled, c: int, view: tuple[float, float], values: Values,
           which: tuple[int, int]) -> Answer:
    """One curve: its pieces, where it has poles and where it jumps."""
    target, order = which
    xs, ys = sampled.xs, sampled.ys[c]
    broken = breaks(sampled, c, view, c + 1 if order < len(values.ask.wrt) else None)
    ends = np.flatnonzero(broken)
    height = view[1] - view[0]
    drawn = np.clip(ys, view[0] - height, view[1] + height)
    segments = []
    for start, stop in zip([0, *(ends + 1)], [*(ends + 1), len(xs)], strict=True):
        # A single value between two jumps of a derivative is a convention, as sign(0) is.
        if np.isfinite(ys[start]) and (stop - start > 1 or not order):
            segments.append(np.stack([xs[start:stop], drawn[start:stop]], axis=1).tolist())
    jumps = [] if (target, order) in values.missing else _jumps(sampled, c, broken)
    return {"of": values.targets[target].name, "order": order,
            "name": named(values.targets[target].name, order), "segments": segments,
            "poles": sampled.poles[c], "jumps": jumps}


def _jumps(sampled: Sampled, c: int, broken: Any) -> list[float]:
    """Where both ends of a break are finite, and there is no pole."""
    xs, ys = sampled.xs, sampled.ys[c]
    finite = np.isfinite(ys)
    found: list[float] = []
    for k in np.flatnonzero(broken & finite[:-1] & finite[1:]):
        x = simplest(float(xs[k]), float(xs[k + 1]))
        if not _near(x, sampled.poles[c], xs) and not _near(x, found, xs):
            found.append(x)
    return found


def _near(x: float, places: Sequence[float], xs: Any) -> bool:
    return any(abs(x - other) <= SAME * (xs[-1] - xs[0]) for other in places)


def _kinks(curve: Answer, above: Answer, sampled: Sampled) -> list[list[float]]:
    """The points of a curve where its derivative jumps and it does not."""
    found = []
    for x in above["jumps"]:
        if not _near(x, [*curve["jumps"], *curve["poles"]], sampled.xs):
            piece = [s for s in curve["segments"] if s[0][0] <= x <= s[-1][0]]
            if piece:
                px, py = np.array(piece[0]).T
                found.append([x, float(np.interp(x, px, py))])
    return found


# --- what is said of them -------------------------------------------------------------------------


def _notes(values: Values, over: Over, curves: Sequence[Answer], sampled: Sampled
           ) -> Iterator[Answer]:
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
                text for x in places[:EXPLAINED] for text in _why(values, curve, over.name, x)])
            yield {"code": "kink", "message": f"{curve['name']} has {_several('kink', places)} at"
                   f" {over.name} = {_listed(places)}" + "".join(f"; {text}" for text in why)}
    for k, target in enumerate(values.targets):
        c = k * (1 + len(values.ask.wrt))
        gaps = list(_gaps(sampled.xs, sampled.ys[c]))
        if gaps:
            where = ", from ".join(gaps[:TOLD]) + (", ..." if len(gaps) > TOLD else "")
            yield {"code": "gap", "message": f"{target.name} has no finite value for {over.name}"
                   f" from {where}"}
    if values.problem is not None:
        yield {"code": "error", "message": f"some points have no value: {values.problem.message}"}
    for k, target in enumerate(values.targets):
        if any((k, order) in values.missing for order in range(1, 1 + len(values.ask.wrt))):
            yield {"code": "none", "message": f"{named(target.name, 1)} is None: no path of"
                   f" derivatives leads from {target.name} to {over.name}; `gradcli why` tells"
                   " the reason"}


def _several(kind: str, places: Sequence[Any]) -> str:
    return f"a {kind}" if len(places) == 1 else f"{kind}s"


def _listed(places: Sequence[float]) -> str:
    shown = ", ".join([significant(x) for x in places[:TOLD]])
    return shown if len(places) <= TOLD else f"{shown}, ... ({len(places)} in all)"


def _gaps(xs: Any, ys: Any) -> Iterator[str]:
    """`-1 to 0` for each stretch without numbers."""
    missing = np.concatenate([[False], ~np.isfinite(ys), [False]])
    edges = np.flatnonzero(missing[1:] != missing[:-1])
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        if stop - start > 1:
            low = xs[0] if start == 0 else simplest(float(xs[start - 1]), float(xs[start]))
            high = xs[-1] if stop == len(xs) else simplest(float(xs[stop - 1]), float(xs[stop]))
            yield f"{significant(float(low))} to {significant(float(high))}"


def _why(values: Values, curve: Answer, name: str, x: float) -> list[str]:
    """What the engine says of the operations that are at a kink there."""
    from gradcli.answers.ask import tensors_of
    from gradcli.explain.kinks import Kinks

    ask = values.ask
    try:
        run = ask.run({name: x}, explain=False)
        with run.record:
            (target,) = [t for t in ask.program.targets(run, ask.of) if t.name == curve["of"]][:1]
            (source,) = ask.program.sources(run, [name])
            found = Kinks(run, tensors_of(target), ask.program.source).of(source.value)
    except (GradcliError, ValueError):
        return []
    return [str(data(note.message)) for note in found]
