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
from gradcli.ops.table.elementwise import power, square

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.homework.checking.problem import Problem, Reference
    from gradcli.ops.kinds import Op


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

NEWTON_STEPS = 60


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
        for _ in range(NEWTON_STEPS):
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


# --------------------------------------------------------------------------------------------------
# Switches of a formula: arguments of abs, sign, floor, max and their like, roots of squares.
#
# An answer can be right on one side of a switch only. So each side needs points; where a side has
# few, more are found by bisection between points on either side.

FEW = 3
SOME = 16
HALVINGS = 12
KEPT = 8
SIDE_SCALES = (10.0, 100.0, 1e3)


def switches(formula: Formula, nodes: Iterable[int]) -> list[tuple[int, ...]]:
    """Return the operands whose sign, or the sign of whose difference, decides between formulas."""
    found: list[tuple[int, ...]] = []
    if not any(map(_may_switch, {*formula.ops})):
        return found
    for k in formula.needed(nodes):
        op = formula.ops[k]
        if op is None:
            continue
        if "switching" in op.traits:
            found.append((formula.args[k][0],))
        elif op.name == "sqrt" and _is_even(formula, formula.args[k][0]):
            found.append((formula.args[formula.args[k][0]][0],))
        elif "comparing" in op.traits:
            found.append(formula.args[k])
    return found


def _may_switch(op: Op | None) -> bool:
    """Return whether an operand of the operation may decide between formulas."""
    return op is not None and (
        "switching" in op.traits or "comparing" in op.traits or op.name == "sqrt")


def _is_even(formula: Formula, node: int) -> bool:
    """Return whether a node is an even power, of which one root was chosen."""
    op = formula.ops[node]
    if op is square:
        return True
    if op is not power:
        return False
    exponent = formula.value(formula.args[node][1])
    return exponent is not None and exponent % 2 == 0


def sides(values: Values, found: Sequence[tuple[int, ...]]) -> list[Any]:
    """Return for each switch the value whose sign decides, an array over the points."""
    decided = []
    for operands in found:
        parts = [value for value, _ in values.of(operands)]
        with np.errstate(all="ignore"):
            decided.append(parts[0] if len(parts) == 1 else parts[0] - parts[1])
    return decided


def more_points(values: Values, found: Sequence[tuple[int, ...]]) -> dict[str, Any] | None:
    """Return all points, with more on the sides that have few of them; None if none is missing."""
    extra: list[dict[str, Any]] = []
    varying = {n: v for n, v in values.inputs.items() if type(v) is not float}
    if not varying:
        return None
    for switch, side in zip(found, sides(values, found), strict=True):
        if type(side) is float:
            continue
        lonely = _lonely(values, varying, switch, side)
        if lonely is not None:
            extra.extend(_between(values, switch, *lonely))
    if not extra:
        return None
    return {**values.inputs, **{n: np.concatenate([varying[n], *[e[n] for e in extra]])
                                for n in varying}}


def _lonely(values: Values, varying: dict[str, Any], switch: tuple[int, ...], side: Any
            ) -> tuple[Any, dict[str, Any], dict[str, Any]] | None:
    """Return the sign of a side with few points, one point there, and some on the other side."""
    few, many = sorted((np.flatnonzero(side < 0), np.flatnonzero(side > 0)), key=len)
    if len(few) >= FEW or not len(many):
        return None
    others = {n: v[many[:SOME]] for n, v in varying.items()}
    if len(few):
        return np.sign(side[few[0]]), {n: v[few[:1]] for n, v in varying.items()}, others
    for scale in SIDE_SCALES:
        far = {n: scale * v for n, v in varying.items()}
        there = sides(_at(values, far), [switch])[0]
        reached = np.flatnonzero(np.sign(there) == -np.sign(side[many[0]]))
        if len(reached):
            return (np.sign(there[reached[0]]), {n: v[reached[:1]] for n, v in far.items()},
                    others)
    return None


def _between(values: Values, switch: tuple[int, ...], sign: Any, one: dict[str, Any],
             others: dict[str, Any]) -> list[dict[str, Any]]:
    """Return points on one side of a switch, found by bisection between one point there and others.

    sign: of the side. one, others: name to values, of one point and of several.
    """
    found = []
    low = {n: np.repeat(one[n], len(others[n])) for n in one}
    high = others
    for step in range(HALVINGS):
        middle = {n: (low[n] + high[n]) / 2 for n in low}
        good = np.sign(sides(_at(values, middle), [switch])[0]) == sign
        if step < KEPT:
            found.append({n: m[good] for n, m in middle.items()})
        low = {n: np.where(good, middle[n], low[n]) for n in low}
        high = {n: np.where(good, high[n], middle[n]) for n in high}
    return found


def _at(values: Values, points: dict[str, Any]) -> Values:
    """Return the values of the same formula at other points."""
    from gradcli.formulas.rounding import Values

    there = Values(values.formula, {**values.inputs, **points})
    there.deadline = values.deadline
    return there


# How far beside the point, and which share of a slope is a jump.
BESIDE, JUMP = (1e-9, 1e-12), 1e-3


def corner(formula: Formula, slopes: Sequence[int], at: Mapping[str, float], names: Iterable[str]
           ) -> str | None:
    """Return the first name along which one of the slopes has different limits from both sides."""
    for name in names:
        value = at[name]
        scale = abs(value) or 1.0
        with np.errstate(all="ignore"):
            beside = [[np.asarray(v, float) for v in Values(
                formula, {**at, name: np.array([value + sign*step*scale for step in BESIDE])}
                ).plain(slopes)] for sign in (-1.0, 1.0)]
            for low, high in zip(*beside, strict=True):
                # A slope that is the same everywhere has no array.
                if not low.ndim or not high.ndim:
                    continue
                near = JUMP*np.maximum(np.abs(low[1]), np.abs(high[1]))
                settled = abs(low[0] - low[1]) < near/10 and abs(high[0] - high[1]) < near/10
                if settled and abs(low[1] - high[1]) > near:
                    return name
    return None
