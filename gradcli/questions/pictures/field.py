"""A function of two inputs as plain data: its values on a grid, and arrows of its gradient."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.questions.pictures.sampling import limits
from gradcli.questions.pictures.values import Evaluator, first_problem, title
from gradcli.questions.plain_data import heading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.questions.pictures.values import Over
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

# Points of the grid in a row, and the first and the step of those that have an arrow.
GRID = 121
FIRST, EVERY = 3, 6
# An arrow is at most so many steps long; of arrows that differ much the longest are cut.
LENGTH = 0.9
LONGEST = 0.95
# Where values differ by this share of the view from what the slopes on both sides tell, something
# jumps; and where the values are this far from most of them, they have poles.
JUMP = 0.05
FAR = 8.0
LOOKED = ((0.5, 0.5), (0.75, 0.6), (0.25, 0.4), (1.0, 1.0), (0.0, 0.0))


def field(question: Question, overs: Sequence[Over], view: tuple[float, float] | None) -> Answer:
    """Return the picture of a target over two inputs. Raises as `curves` does."""
    values = Evaluator(question, overs, 0, [
        tuple([o.low + s * (o.high - o.low) for o, s in zip(overs, shares, strict=True)])
        for shares in LOOKED])
    if len(values.targets) != 1:
        raise error("E0813", "with two inputs, only one target can be drawn",
                    help="name one with --of; a,b is the sum of both")
    xs, ys = (np.linspace(o.low, o.high, GRID) for o in overs)
    points = [a.ravel() for a in np.meshgrid(xs, ys)]
    found, gx, gy = values(*points)[0].reshape(3, GRID, GRID)
    broken = _jumps(found, gx, gy, xs, ys, found)
    seen = limits(found, False)
    if seen is None:
        raise first_problem(values)
    finite = found[np.isfinite(found)]
    low, high = np.quantile(finite, [0.05, 0.95])
    if broken.any() and finite.max() - finite.min() > FAR * (high - low):
        seen = limits(found, True)
        assert seen is not None
    lowest, highest = view or seen
    if not lowest < highest:
        more = abs(lowest) or 1.0
        lowest, highest = lowest - more, highest + more
    cut = np.clip(found, 2.0 * lowest - highest, 2.0 * highest - lowest)
    broken |= _jumps(cut, gx, gy, xs, ys, np.array([lowest, highest]))
    shown = np.where(np.isfinite(found) & ~broken, found, np.nan)
    notes = []
    if broken.any():
        notes.append({"code": "jump", "message": f"{values.targets[0].name} jumps or has poles"
                      " where the picture has gaps"})
    if np.isnan(found).any():
        notes.append({"code": "gap", "message": f"{values.targets[0].name} has no value at"
                      f" {100.0 * np.isnan(found).mean():.3g} % of the points"})
    if values.problem is not None:
        notes.append({"code": "error",
                      "message": f"some points have no value: {values.problem.message}"})
    for k, o in enumerate(overs):
        if (0, k + 1) in values.missing:
            notes.append({"code": "none", "message": f"there is no gradient in {o.name}: no path of"
                          f" derivatives leads there; `gradcli why` tells the reason"})
    return {
        **heading(question.program.source, "plot"),
        "title": title(values),
        "over": [{"name": o.name, "low": o.low, "high": o.high} for o in overs],
        "range": [float(lowest), float(highest)], "curves": [],
        "field": {"of": values.targets[0].name, "x": xs.tolist(), "y": ys.tolist(),
                  "values": [[v if v == v else None for v in row] for row in shown.tolist()],
                  "arrows": _arrows(xs, ys, gx, gy, shown)},
        "notes": notes}


def _jumps(values: Any, gx: Any, gy: Any, xs: Any, ys: Any, view: Any) -> Any:
    """Return which points lie at a jump: beside a piece along which the slopes at its ends do not
    tell the difference of the values.
    """
    finite = view[np.isfinite(view)]
    height = float(finite.max() - finite.min()) if len(finite) else 0.0
    broken = np.zeros(values.shape, bool)
    with np.errstate(all="ignore"):
        for axis, slope, at in ((1, gx, xs), (0, gy, ys)):
            step = at[1] - at[0]
            first, second = _ends(np.nan_to_num(slope, posinf=np.inf, neginf=-np.inf), axis)
            before, after = _ends(values, axis)
            rise = after - before
            steep = step * np.maximum(np.abs(first), np.abs(second))
            off = np.abs(rise - 0.5 * step * (first + second)) > JUMP * height
            # A steep part is told by the slope at one of its ends; over a pole both have the other
            # sign.
            off &= (np.abs(rise) > 4.0 * steep) | ((rise * first < 0.0) & (rise * second < 0.0))
            off &= np.isfinite(before) & np.isfinite(after)
            near, far = _ends(broken, axis)
            near |= off
            far |= off
    return broken


def _ends(values: Any, axis: int) -> tuple[Any, Any]:
    """Return the values at the first and at the last point of each piece along an axis."""
    return (values[:, :-1], values[:, 1:]) if axis else (values[:-1], values[1:])


def _arrows(xs: Any, ys: Any, gx: Any, gy: Any, shown: Any) -> list[list[float]]:
    """Return the arrows [x, y, dx, dy] in the units of the axes."""
    at = slice(FIRST, None, EVERY)
    x, y = (a[at, at] for a in np.meshgrid(xs, ys))
    dx, dy = gx[at, at], gy[at, at]
    # Each arrow is centred on its point.
    wide, tall = EVERY * (xs[1] - xs[0]), EVERY * (ys[1] - ys[0])
    with np.errstate(all="ignore"):
        length = np.hypot(dx / wide, dy / tall)
        good = np.isfinite(length) & np.isfinite(shown[at, at]) & (length > 0.0)
    if not good.any():
        return []
    usual = float(np.quantile(length[good], LONGEST))
    scale = LENGTH / np.maximum(length[good], usual)
    dx, dy = dx[good] * scale, dy[good] * scale
    ends = np.stack([x[good] - 0.5 * dx, y[good] - 0.5 * dy, dx, dy], axis=1)
    return ends.tolist()  # type: ignore[no-any-return]
