"""Where a function or its derivative is 0: the points that sets of numbers are compared with.

They are found as numbers, on a grid of all sizes that is refined where the sign changes or where
the size has a minimum, and for several variables by Newton's method from many starts. None of that
proves that there is no other point: so a point of an answer that is a solution, too, is for a
person (`is_solution`), and `hw lint` shows what was found.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values, error_of
from gradcli.homework.checking.pool import BESIDE, JUMP, corner
from gradcli.homework.checking.problem import Solution, refused, slope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.problem import Reference

MOST = 24
"""So many solutions a problem may have; of endless ones a domain is asked for."""
FAR = 1e4
HALVINGS = 80
STARTS = 400
TRIED = 120
NEWTON = 80
SAME = 1e-7
"""Points that are nearer, for their size, are one."""
SAFETY = 64.0
FAINT = 1e-200
"""What is smaller on both sides of a point is no zero but too small for a float."""


def find(reference: Reference, order: int) -> list[Solution]:
    """Return the solutions: where derivatives of this order are 0, or for the first ones do not
    exist. order: 0 for the function itself, 2 for points of inflection.

    Raises E0704 for endless ones.
    """
    formula, f, names = reference.formula, reference.functions[0], reference.wrt
    if set(formula.leaves([f])) - set(names):
        raise refused("solutions are numbers: the function has other letters", "write numbers")
    if len(names) > 1:
        if order != 1:
            raise refused("solutions of one equation in several variables are no points",
                          "ask for critical points, or write a function of one variable")
        found = _several(reference)
    else:
        found = _single(reference, order)
    if len(found) > MOST:
        raise error("E0704", f"there are more than {MOST} solutions",
                    help="give the range in which they are asked for: domain = {"
                         f"{names[0]} = [0, 7]}}", about=("option", "domain"))
    return sorted([Solution(tuple([value + 0.0 for value in at]), sort) for at, sort in found])


def is_solution(reference: Reference, at: tuple[float, ...], order: int) -> bool:
    """Return whether a point that was not found may be a solution: derivatives are 0 there within
    rounding, or do not exist though the function does.
    """
    formula, f, names = reference.formula, reference.functions[0], reference.wrt
    for name, value in zip(names, at, strict=True):
        low, high = reference.problem.domain.get(name, (-np.inf, np.inf))
        if not low <= value <= high:
            return False
    point = dict(zip(names, at, strict=True))
    nodes = [f] if not order else [slope(formula, f, n, order) for n in names]
    errors = {n: np.float64(4e-16 * abs(v)) for n, v in point.items()}
    if not np.isfinite(Values(formula, point).plain([f])[0]):
        return False
    if order == 1 and corner(formula, nodes, point, names) is not None:
        return True
    with np.errstate(all="ignore"):
        return all(not np.isfinite(value) or abs(value) <= SAFETY * error_of(value, noise)
                   for value, noise in Values(formula, point, errors).of(nodes))


def wanted(reference: Reference) -> list[Solution]:
    """Return the solutions that are asked for: of extrema no terrace points."""
    solutions = reference.solutions or []
    if reference.kind.sorted:
        return [one for one in solutions if one.sort in ("max", "min")]
    return [one for one in solutions if reference.kind.solved < 2 or one.sort != "neither"]


# ---- one variable ------------------------------------------------------------------------------


def _single(reference: Reference, order: int) -> list[Solution]:
    formula, f, (name,) = reference.formula, reference.functions[0], reference.wrt
    low, high = reference.problem.domain.get(name, (-FAR, FAR))
    node = slope(formula, f, name, order) if order else f
    steep = slope(formula, node, name)

    def at(x: Any, *nodes: int) -> list[Any]:
        values = Values(formula, {name: x}).plain(nodes)
        return [np.broadcast_to(np.asarray(v, float), x.shape) for v in values]

    grid = _grid(low, high)
    (g,) = at(grid, node)
    # Zeros beside each other are an endless set, or numbers too small for a float.
    zero = g == 0
    run = zero[:-1] & zero[1:]
    edge = (zero[:-1] ^ zero[1:]) & (np.maximum(abs(g[:-1]), abs(g[1:])) > FAINT)
    if (edge[1:] & run[:-1]).any() or (edge[:-1] & run[1:]).any() or zero.all():
        raise error("E0704", "it is 0 everywhere in a range", help="set another function")
    # A minimum of the size, and what lies at its sides, are points of the grid too.
    places = np.concatenate([_crossings(at, steep, grid), _minima(at, node, grid, inverse=False),
                             _minima(at, node, grid, inverse=True)])
    grid = np.unique(np.concatenate([grid, places, _snapped(places)]))
    grid = grid[(grid >= low) & (grid <= high)]
    zero = at(grid, node)[0] == 0
    zero[1:-1] &= ~(zero[:-2] | zero[2:])       # beside each other, they are too small for a float
    candidates = np.concatenate([_crossings(at, node, grid), grid[zero], places])
    ends = np.array([low, high])        # 3π may be a float more than what is found beside it
    beside = at(ends + (high - low) * np.array([1e-3, -1e-3]), node)[0]
    ends = ends[abs(at(ends, node)[0]) <= 1e-9 * abs(beside)]
    candidates = np.concatenate([_snapped(candidates), candidates, ends])
    candidates = candidates[(candidates >= low) & (candidates <= high)]
    found: list[float] = []
    for x in candidates[_may_hold(reference, node, candidates, order)].tolist():
        if all(abs(x - other) > SAME * (1 + abs(x)) for other in found) and _holds(
                reference, node, steep, x, order):
            found.append(x)
        if len(found) > MOST:       # and all that are endless
            break
    return [Solution((x,), _sort(at, node, x, found, order)) for x in found]


def _grid(low: float, high: float) -> Any:
    width = high - low
    even = low + width * (np.arange(4001) + 0.137) / 4001
    sizes = np.geomspace(1e-4, FAR, 1501)
    near = np.linspace(-20.0, 20.0, 4003)
    grid = np.concatenate([[low, high], even, sizes, -sizes, near])
    return np.unique(grid[(grid >= low) & (grid <= high)])


def _crossings(at: Any, node: int, grid: Any) -> Any:
    """Return where the sign changes between neighbours of the grid, at zeros and at poles."""
    (g,) = at(grid, node)
    both = np.isfinite(g[:-1]) & np.isfinite(g[1:]) & (np.sign(g[:-1]) * np.sign(g[1:]) < 0)
    a, b = grid[:-1][both], grid[1:][both]
    left = np.sign(g[:-1][both])
    for _ in range(HALVINGS):
        middle = (a + b) / 2
        (value,) = at(middle, node)
        same = np.sign(value) == left
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return b


def _minima(at: Any, node: int, grid: Any, inverse: bool) -> Any:
    """Return where the size of a node, or of 1 over it, has a minimum without a change of sign."""
    with np.errstate(all="ignore"):
        def size(x: Any) -> Any:
            (value,) = at(x, node)
            return np.where(np.isnan(value), np.inf, abs(1 / value) if inverse else abs(value))

        s = size(grid)
        inner = np.flatnonzero((s[1:-1] <= s[:-2]) & (s[1:-1] <= s[2:]) & (
            (s[1:-1] < s[:-2]) | (s[1:-1] < s[2:]))) + 1
        a, b = grid[inner - 1], grid[inner + 1]
        for _ in range(HALVINGS):
            third = (b - a) / 3
            lower = size(a + third) < size(b - third)
            a, b = np.where(lower, a, a + third), np.where(lower, b - third, b)
    return (a + b) / 2


def _snapped(places: Any) -> Any:
    """Return the short numbers beside numbers that were approached."""
    return np.concatenate([np.round(places, 6), np.round(places * 12, 5) / 12,
                           np.round(places / np.pi * 12, 5) * np.pi / 12])


def _may_hold(reference: Reference, node: int, x: Any, order: int) -> Any:
    """Return which candidates may be solutions, by the conditions of `_holds` that are fast."""
    formula, (name,) = reference.formula, reference.wrt
    with np.errstate(all="ignore"):
        (value, noise), = Values(formula, {name: x}, {name: 4e-16 * abs(x) + 1e-300}).of([node])
        may = ~np.isfinite(value) | (abs(value) <= SAFETY * error_of(value, noise))
        if order == 1:
            size = np.where(x, abs(x), 1.0)      # as `corner` has it
            (left, low), (right, high) = [[np.asarray(Values(
                formula, {name: x + sign * step * size}).plain([node])[0], float)
                for step in BESIDE] for sign in (-1.0, 1.0)]
            near = JUMP * np.maximum(abs(low), abs(high))
            may = may | ((abs(left - low) < near / 10) & (abs(right - high) < near / 10)
                         & (abs(low - high) > near))
    return np.broadcast_to(may, x.shape)


def _holds(reference: Reference, node: int, steep: int, x: float, order: int) -> bool:
    """Return whether a candidate is a solution: 0 as far as rounding lets one see, the first float
    beyond a change of sign, or, for critical points, without a derivative.
    """
    formula, f, (name,) = reference.formula, reference.functions[0], reference.wrt
    error = {name: np.float64(4e-16 * abs(x) + 1e-300)}
    step = 1e-3 * (1 + abs(x))
    with np.errstate(all="ignore"):
        beside, own_beside = [np.broadcast_to(np.asarray(v, float), (2,)) for v in Values(
            formula, {name: np.array([x - step, x + step])}).plain([node, f])]
        if (abs(beside) < FAINT).all():
            return False
        (value, noise), (own, _) = Values(formula, {name: x}, error).of([node, f])
        if not np.isfinite(own):
            return False
        if not np.isfinite(value):
            return order == 1 and bool(np.isfinite(own_beside).all())
        # Beside a pole, the rounding of x may be larger than the value: 1/sin(x) at pi.
        pole = abs(value) > abs(beside[np.isfinite(beside)]).max(initial=0.0) > 0
        return bool(abs(value) <= SAFETY * error_of(value, noise) and not pole) or (
            order == 1 and corner(formula, [node], {name: x}, [name]) is not None)


def _sort(at: Any, node: int, x: float, found: list[float], order: int) -> str:
    """Return what a function does at a solution, by the signs at both sides."""
    if not order:
        return ""
    gaps = [abs(x - other) for other in found if other != x]
    step = min([1e-3 * (1 + abs(x)), *[gap / 4 for gap in gaps]])
    left, right = np.sign(at(np.array([x - step, x + step]), node)[0]).tolist()
    if left * right < 0:
        return "inflection" if order == 2 else "max" if left > 0 else "min"
    return "neither" if left == right else ""


# ---- several variables -------------------------------------------------------------------------


def _several(reference: Reference) -> list[Solution]:
    """Return the critical points of a function of several variables."""
    formula, f, names = reference.formula, reference.functions[0], reference.wrt
    n = len(names)
    first = [slope(formula, f, a) for a in names]
    second = [slope(formula, g, b) for g in first for b in names]
    random = np.random.Generator(np.random.PCG64([n, STARTS]))
    x = random.normal(size=(n, STARTS)) * 10.0 ** random.uniform(-1, 1, STARTS)
    x[:, 0] = 0.0

    def at(x: Any, nodes: list[int]) -> Any:
        values = Values(formula, dict(zip(names, x, strict=True))).plain(nodes)
        return np.array([np.broadcast_to(np.asarray(v, float), x.shape[1:]) for v in values])

    moving = np.ones(STARTS, bool)
    with np.errstate(all="ignore"):
        for _ in range(NEWTON):
            here = x[:, moving]
            g, h = at(here, first), at(here, second).reshape(n, n, -1).transpose(2, 0, 1)
            good = np.isfinite(g).all(axis=0) & np.isfinite(h).all(axis=(1, 2))
            step = np.full_like(here, np.nan)
            step[:, good] = np.einsum("kij,jk->ik", np.linalg.pinv(h[good], 1e-12), g[:, good])
            limit = 1.0 + 2.0 * abs(here).max(axis=0)
            x[:, moving] = here - step / np.maximum(abs(step).max(axis=0) / limit, 1.0)
            moving[moving] = (abs(step) > 1e-15 * (1 + abs(here))).any(axis=0)
            if not moving.any():
                break
    x = x[:, np.isfinite(x).all(axis=0)]
    _, chosen = np.unique(np.round(x, 5), axis=1, return_index=True)
    found: list[Solution] = []
    for column in x.T[np.sort(chosen)[:TRIED]]:
        for point in (np.round(column, 6), np.round(column, 2), column):
            at_point = tuple((point + 0.0).tolist())
            if not is_solution(reference, at_point, 1):
                continue
            if all(abs(point - other.at).max() > SAME * (1 + abs(point).max()) for other in found):
                h = at(point[:, None], second).reshape(n, n)
                found.append(Solution(at_point, _sort_of(h)))
                if not found[-1].sort:
                    _check_alone(reference, point, h)
            break
    return found


def _check_alone(reference: Reference, point: Any, h: Any) -> None:
    """Raise E0704 for a point on a line of critical points."""
    _, directions = np.linalg.eigh(np.nan_to_num((h + h.T) / 2))
    for direction in [*directions.T, *np.eye(len(point))]:
        if is_solution(reference, tuple((point + 1e-2 * direction).tolist()), 1):
            raise error("E0704", "there are endless critical points, at"
                        f" ({', '.join([f'{v:.6g}' for v in point])}) and beside it",
                        help="set another function")


def _sort_of(h: Any) -> str:
    """Return what a function does at a critical point with this matrix of second derivatives."""
    if not np.isfinite(h).all():
        return ""
    values = np.linalg.eigvalsh((h + h.T) / 2)
    if abs(values).min() <= 1e-9 * abs(values).max() or not abs(values).max():
        return ""
    return "min" if values.min() > 0 else "max" if values.max() < 0 else "neither"
