"""The points at which an answer is compared with the right one.

Each variable has five eighths of its values in [-3, 3], a quarter of all sizes from 0.01 to 100 and
both signs, an eighth in (0, 1); parameters are in [0.3, 3]. The first few are short numbers, so
that the point that shows a mistake can be read out. Where too little is defined there, other scales
are tried, and then the neighbourhood of the points that were found.
"""

from __future__ import annotations

from zlib import crc32

from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values, error_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.homework.checking.problem import Problem, Reference

SIZE = 512
ENOUGH = 12
MANY = 4096
SCALES = (10.0, 100.0, 1e3, 1e-3)
# Away from whole numbers and halves, where functions have kinks.
SHORT = (1.3, 0.7, 2.2, -0.6, -1.7, 0.3, 2.7, -2.4)


def seed_number(*parts: object) -> int:
    """Return a number below 2^32 that depends on these texts and numbers only."""
    return crc32("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass"))


def generator(*parts: object) -> Any:
    """Return a random generator that depends on these texts and numbers only."""
    return np.random.Generator(np.random.PCG64([seed_number(*parts), len(parts)]))


def pool(reference: Reference, seed: int, size: int = SIZE) -> dict[str, Any]:
    """Return values of each variable, arrays of `size`; those fixed by `at` are floats.

    seed: a whole number below 2^32.
    """
    fixed = reference.fixed
    return {name: fixed[name] if name in fixed else values(reference.problem, name, k, seed, size)
            for k, name in enumerate(reference.variables)}


def _uniform(k: int, seed: int, size: int) -> tuple[Any, Any]:
    """Return numbers in [0, 1) for the k-th name, and an order to put them in.

    The numbers are fixed; the seed says how far all are shifted, those beyond 1 back to 0. That is
    as random, and much faster than a new generator for each problem: Cranley and Patterson,
    Randomization of number theoretic methods for multiple integration (1976).
    """
    kept = _kept.get((k, size))
    if kept is None:
        random = np.random.Generator(np.random.PCG64([k, size]))
        if len(_kept) >= MAX_KEPT:
            _kept.clear()
        kept = _kept[k, size] = random.random(size), random.permutation(size)
    # Odd multiples: each name has a shift of its own.
    shifted = kept[0] + (seed * (2 * k + 1) * 0x9E3779B1 & 0xFFFFFFFF) * 2.0**-32
    return shifted - np.floor(shifted), kept[1]


MAX_KEPT = 64
_kept: dict[tuple[int, int], tuple[Any, Any]] = {}


def values(problem: Problem, name: str, k: int, seed: int, size: int) -> Any:
    """Return random values of the k-th name, an array of `size`, in its domain if it has one."""
    u, order = _uniform(k, seed, size)
    limits = problem.domain.get(name)
    if limits is not None:
        low, high = limits
        made = low + (high - low) * u
        # Both ends are approached, where a domain is there to keep something out.
        made[:size // 8] = low + (high - low) * u[:size // 8] ** 4
        made = made[order]
    elif name in problem.parameters:
        made = 0.3 + 2.7 * u
    else:
        middle, last = size * 5 // 8, size * 7 // 8
        made = 6.0 * u - 3.0
        # One random number gives a sign and a size.
        part = 2.0 * u[middle:last] - 1.0
        made[middle:last] = np.copysign(10.0 ** (4.0 * abs(part) - 2.0), part)
        made[last:] = u[last:]
        made = made[order]
        shift = k % len(SHORT)
        made[:len(SHORT)] = SHORT[shift:] + SHORT[:shift]
    if name in problem.positive:
        made = abs(made)
    if name in problem.integer:
        made = np.round(made) if limits is not None else np.round(made * 3)
        if name in problem.positive:
            made = np.maximum(made, 1.0)
    return made


def scaled(problem: Problem, points: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """Multiply the points by a scale, but for names that are fixed or bounded."""
    return {name: v * scale if name not in problem.domain and type(v) is not float else v
            for name, v in points.items()}


def searched(problem: Problem, points: dict[str, Any], defined: Callable[[dict[str, Any]], Any],
             random: Any) -> dict[str, Any]:
    """Return the usable ones of these points, and others near them; the points if none is usable.

    defined: function from points to a mask of those that are usable.
    """
    kept = []
    for scale in (1.0, *SCALES):
        other = scaled(problem, points, scale)
        kept.append(_chosen(other, defined(other)))
    found = _joined(kept)
    count = _count(found)
    size = min(_count(points), SIZE)
    if not count:
        return {name: v if type(v) is float else v[:size] for name, v in points.items()}
    # Around each point that is usable, at distances of all sizes.
    for _ in range(4):
        if count >= size // 4:
            break
        near = _near(problem, found, random, size)
        found = _joined([found, _chosen(near, defined(near))])
        count = _count(found)
    return {name: v if type(v) is float else v[:size] for name, v in found.items()}


def _near(problem: Problem, found: Mapping[str, Any], random: Any, size: int) -> dict[str, Any]:
    chosen = random.integers(0, _count(found), size)
    out: dict[str, Any] = {}
    for name, v in found.items():
        if type(v) is float:
            out[name] = v
            continue
        base = v[chosen]
        step = (abs(base) + 1e-3) * 10.0 ** random.uniform(-6, 0.5, size)
        moved = base + np.copysign(step, random.random(size) - 0.5)
        if name in problem.integer:
            moved = np.round(moved)
        limits = problem.domain.get(name)
        if limits is not None:
            moved = np.clip(moved, *limits)
        if name in problem.positive or name in problem.parameters:
            moved = abs(moved)
        out[name] = moved
    return out


def _chosen(points: Mapping[str, Any], mask: Any) -> dict[str, Any]:
    return {name: v if type(v) is float else v[mask] for name, v in points.items()}


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: v if type(v) is float else np.concatenate([p[name] for p in parts])
            for name, v in parts[0].items()}


def _count(points: Mapping[str, Any]) -> int:
    return max((len(v) for v in points.values() if type(v) is not float), default=1)


# --------------------------------------------------------------------------------------------------
# Points on a curve F = 0: Newton's method in the dependent variable, from random starts.
#
# An implicit derivative is right or wrong on its curve only: for xy = 1, -y/x is -1/x^2.

STEPS = 60


def on_curve(formula: Formula, constraint: int, slope: int, name: str, points: dict[str, Any],
             deadline: float = float("inf")) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the points with `name` moved to make the constraint 0, and the errors of its values.

    slope: the node of the constraint's derivative by that name. Where Newton's iteration does not
    settle, the value is NaN. Raises TimeoutError after the deadline, of `time.thread_time`.
    """
    def here() -> Any:
        found = Values(formula, {**points, name: y})
        found.deadline = deadline
        return found.of([constraint, slope])

    size = max((len(v) for v in points.values() if type(v) is not float), default=1)
    y = np.broadcast_to(np.asarray(points[name], float), (size,)).copy()
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            (f, _), (g, _) = here()
            step = np.asarray(f / g)
            # Far steps are cut, so that what is defined on one side of 0 only is not left.
            limit = 1.0 + 2.0 * abs(y)
            y = y - np.clip(np.where(np.isfinite(step), step, 0.3 * limit), -limit, limit)
        (f, noise), (g, _) = here()
        # What is left of F, and what rounding makes of it, move y by as much over the slope.
        left = abs(f) + error_of(f, noise)
        error = left / abs(g) + 2.0**-52 * abs(y)
        y = np.where(error <= 1e-9 * (abs(y) + 1e-3), y, np.nan)
    return {**points, name: y}, {name: error}
