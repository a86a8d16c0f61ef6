"""The points at which an answer is compared with the right one.

Each variable has five eighths of its values in [-3, 3], a quarter of all sizes from 0.01 to 100 and
both signs, an eighth in (0, 1); parameters are in [0.3, 3]. The first few are short numbers, so
that the point that shows a mistake can be read out. Where too little is defined there, other scales
are tried, and then the neighbourhood of whatever point was found.
"""

from __future__ import annotations

from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from gradcli.checking.problem import Problem

SIZE = 512
ENOUGH = 12
MANY = 4096
SCALES = (10.0, 100.0, 1e3, 1e-3)
# Away from whole numbers and halves, where functions have kinks.
SHORT = (1.3, 0.7, 2.2, -0.6, -1.7, 0.3, 2.7, -2.4)


def generator(*parts: object) -> Any:
    """Random numbers that depend on these texts and numbers only."""
    from zlib import crc32

    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return np.random.Generator(np.random.PCG64([crc32(text), len(text)]))


def pool(problem: Problem, names: Collection[str], random: Any, size: int = SIZE
         ) -> dict[str, Any]:
    """Values of each name, arrays of `size`; what the problem fixes by `at` is a float."""
    found: dict[str, Any] = {}
    fixed = problem.at if problem.kind != "tangent" else {}
    alone = len(set(names) - set(fixed)) == 1
    for k, name in enumerate(names):
        if name in fixed:
            found[name] = fixed[name]
        else:
            found[name] = made = values(problem, name, random, size)
            if not alone:  # of several, large values may not meet large values only
                random.shuffle(made)
            if name not in problem.domain and name not in problem.parameters:
                shown = SHORT[k % len(SHORT):] + SHORT[:k % len(SHORT)]
                made[:len(shown)] = shown
            _fit(problem, name, made)
    return found


def values(problem: Problem, name: str, random: Any, size: int) -> Any:
    """Values of a name, in no order that matters."""
    made = random.random(size)
    limits = problem.domain.get(name)
    if limits is not None:
        low, high = limits
        # One end is approached, where a domain is there to keep something out.
        made[:size // 8] **= 4
        return low + (high - low) * made
    if name in problem.parameters:
        return 0.3 + 2.7 * made
    middle, last = size * 5 // 8, size * 7 // 8
    # One random number gives a sign and a size.
    part = made[middle:last]
    made[middle:last] = np.copysign(10.0 ** (4.0 * abs(2.0 * part - 1.0) - 2.0), part - 0.5)
    made[:middle] *= 6.0
    made[:middle] -= 3.0
    return made


def _fit(problem: Problem, name: str, made: Any) -> None:
    """Whole and positive numbers, where the problem says so."""
    if name in problem.integer:
        np.round(made if name in problem.domain else made * 3, out=made)
    if name in problem.positive:
        np.maximum(abs(made), 1.0 if name in problem.integer else 0.0, out=made)


def scaled(problem: Problem, points: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """The same points, further out or further in: what is neither fixed nor bounded."""
    return {name: v * scale if name not in problem.domain and type(v) is not float else v
            for name, v in points.items()}


def searched(problem: Problem, points: dict[str, Any], defined: Callable[[dict[str, Any]], Any],
             random: Any) -> dict[str, Any]:
    """Points of which at least some are usable, if they can be found.

    defined: points to a mask of those that are usable.
    """
    if all(type(v) is float for v in points.values()):
        return points
    usable = defined(points)
    if np.count_nonzero(usable) >= ENOUGH:
        return points
    kept = [_chosen(points, usable)]
    many = pool(problem, points, random, MANY)
    for scale in (1.0, *SCALES):
        other = scaled(problem, many, scale)
        kept.append(_chosen(other, defined(other)))
    found = _joined(kept)
    count = _count(found)
    if not count:
        return points
    size = _count(points)
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
