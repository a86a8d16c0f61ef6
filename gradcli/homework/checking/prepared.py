"""A problem ready for answers: its right answer, and the points where answers are compared."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.formulas.rounding import UNIT, Values, error_of
from gradcli.homework.checking import pool as points
from gradcli.homework.checking import switches
from gradcli.homework.checking.compare import TINY, Side, half_unit
from gradcli.homework.checking.reference import Reference, slope
from gradcli.homework.checking.switches import corner
from gradcli.homework.checking.zeros import chosen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.problem import Problem


class PreparedProblem:
    """A problem with its right answer at a pool of points.

    inputs: name to an array over the points, or a float where `at` fixes it.
    errors: of inputs that are not exact.
    size: the number of points.
    single: whether there is one, where numbers are compared.
    side: the right answer.
    zeros: where its components are 0 by their form, a column or a mask over the points.
    cache: results about the problem that are found once (`gradcli.homework.mistakes`).
    certain: see `_certain`.
    """

    __slots__ = ("cache", "certain", "errors", "inputs", "problem", "reference", "seed", "side",
                 "single", "size", "values", "zeros")

    def __init__(self, problem: Problem, reference: Reference, seed: object,
                 inputs: dict[str, Any], errors: dict[str, Any],
                 deadline: float = float("inf")) -> None:
        """Evaluate the right answer. Raises TimeoutError after the deadline, of `thread_time`."""
        self.problem = problem
        self.reference = reference
        self.seed = seed
        self.inputs = inputs
        self.errors = errors
        self.size = max((len(v) for v in inputs.values() if type(v) is not float), default=1)
        self.single = all(type(v) is float for v in inputs.values())
        self.values = Values(reference.formula, inputs, errors)
        self.values.deadline = deadline
        self.values.plain([*reference.functions, *reference.nodes])
        self.side = Side(self.values, reference.nodes, self.size)
        if reference.constraint is None and problem.kind != "tangent":
            self._only_where_defined()
        self.zeros = np.array([[reference.formula.value(k) == 0] for k in reference.nodes])
        if ((self.side.values == 0) & ~self.zeros).any():
            self.zeros = np.array([np.broadcast_to(mask, (self.size,)) for mask in chosen(
                self.values, reference.nodes)])
        self.certain = self._certain(bool(self.zeros.any()))
        self.cache: dict[Any, Any] = {}

    def _certain(self, zeros: bool) -> tuple[Any, int]:
        """Return the differences that are allowed to an answer that is right beyond doubt, and the
        number of points where they must hold; None where it takes a closer look. zeros: whether
        there are any.
        """
        side, finite = self.side, self.side.finite
        count = int(np.count_nonzero(finite))
        telling = side.size >= TINY
        if zeros:
            telling |= self.zeros
        if np.count_nonzero(telling & finite) != count or (
                count if len(finite) == 1 else int(finite.sum(axis=1).min())) < points.ENOUGH:
            return None, 0
        allowed = self.problem.rtol * side.size
        return allowed if count == finite.size else np.where(finite, allowed, -1.0), count

    def _only_where_defined(self) -> None:
        """Restrict the points to where the function has a value: 1/x is the slope of ln x for x >
        0.
        """
        for value in self.values.plain(self.reference.functions):
            self.side.finite &= ~np.isnan(value)

    def random(self, *about: object) -> Any:
        """Return random numbers of this problem, the same each time."""
        return points.generator(self.seed, self.problem.id, self.problem.function, *about)


def ready(problem: Problem, seed: object = 0, deadline: float = float("inf")) -> PreparedProblem:
    """Return a problem that is ready for answers.

    Raises E0701 for fields that the kind has not, E0702 for those that are missing, E0704 for a
    function that cannot be read or has no derivative, and TimeoutError after the deadline, of
    `time.thread_time`.
    """
    reference = Reference(problem)
    known = reference.variables
    unknown = [n for n in (*problem.at, *problem.domain) if n not in known]
    if unknown:
        raise error("E0704", f"the function does not depend on `{unknown[0]}`",
                    help=f"its variables are {', '.join(known)}")
    if problem.kind == "implicit" and problem.at:
        missing = [n for n in (*reference.wrt, problem.dependent) if n not in problem.at]
        if missing:
            raise error("E0702", f"`at` gives `{missing[0]}` no value",
                        help=f"give {reference.wrt[0]} and {problem.dependent} at a point of the"
                        " curve")
        _check_on_curve(reference, problem)
    # A point such as pi/2 is not exact.
    errors: dict[str, Any] = {
        n: np.float64(UNIT * abs(v)) for n, v in problem.at.items()
        if problem.kind != "tangent" and not float(v * 1024).is_integer()}

    found = points.pool(problem, known, points.number(seed, problem.id, problem.function))
    if reference.constraint is not None and problem.dependent not in problem.at:
        found, errors = _curve(reference, problem, found, errors, deadline)
        prepared = PreparedProblem(problem, reference, seed, found, errors, deadline)
    else:
        prepared = _with_enough_points(
            PreparedProblem(problem, reference, seed, found, errors, deadline))
    finite = prepared.side.finite.any(axis=1)       # whatever letters are that `at` does not give
    if (prepared.single or (problem.at and problem.kind != "tangent")) and not finite.all():
        raise error("E0704", "the right answer is not defined at this point",
                    help="choose another point", about=("option", "at"))
    _check_corner(prepared)
    return prepared


def _check_corner(prepared: PreparedProblem) -> None:
    """Raise E0704 for the one point of a problem if the slope jumps there.

    Letters that `at` does not give, as in a*abs(x), have any value.
    """
    reference, problem = prepared.reference, prepared.problem
    if problem.kind == "tangent":
        slopes = [slope(reference.formula, reference.functions[0], n) for n in reference.wrt]
    elif reference.constraint is None and problem.at.keys() >= set(reference.wrt):
        slopes = reference.nodes
    else:
        return
    fixed = {n: v if type(v) is float else float(v[0]) for n, v in prepared.inputs.items()}
    name = corner(reference.formula, slopes, {**fixed, **problem.at}, problem.at)
    if name is not None:
        raise error("E0704", f"the function has a corner at this point: its slope in {name} is"
                    " another one from each side", help="choose another point",
                    about=("option", "at"))


def _with_enough_points(prepared: PreparedProblem) -> PreparedProblem:
    """Return the problem with other points if too few of its points are usable."""
    problem, reference = prepared.problem, prepared.reference
    formula, nodes = reference.formula, reference.nodes

    def defined(inputs: dict[str, Any]) -> Any:
        """Return a mask of the points where all components of the right answer are numbers."""
        size = max((len(v) for v in inputs.values() if type(v) is not float), default=1)
        found = Values(formula, inputs)
        found.deadline = prepared.values.deadline
        finite = Side(found, nodes, size).finite.all(axis=0)
        for value in found.plain(reference.functions):
            finite &= ~np.isnan(value)
        return finite

    def again(inputs: dict[str, Any]) -> PreparedProblem:
        return PreparedProblem(problem, reference, prepared.seed, inputs, prepared.errors,
                               prepared.values.deadline)

    if prepared.certain[0] is None and not prepared.single and \
            prepared.side.finite.all(axis=0).sum() < points.ENOUGH:
        # Many more, since it takes only one to find others.
        many = points.pool(problem, reference.variables, points.number(
            prepared.seed, problem.id, problem.function), points.MANY)
        prepared = again(points.searched(problem, many, defined, prepared.random()))
    found = switches.switches(formula, [*reference.functions, *nodes])
    more = switches.more_points(prepared.values, found) if found else None
    return prepared if more is None else again(more)


def _check_on_curve(reference: Reference, problem: Problem) -> None:
    """Raise E0704 for a point off the curve: beyond the digits that its numbers are given with."""
    from gradcli.homework.checking.compare import shown
    from gradcli.homework.checking.reference import on_curve

    formula, node, name = reference.formula, reference.constraint, problem.dependent
    assert node is not None

    def off(at: dict[str, float]) -> float:
        """Return the difference of the equation's sides; 0 within the digits of the point."""
        errors = {n: np.float64(half_unit(v)) for n, v in at.items()}
        with np.errstate(all="ignore"):
            (left, noise), = Values(formula, at, errors).of([node])
            return 0.0 if abs(left) <= error_of(left, noise) else float(left)

    if not set(formula.leaves([node])) <= set(problem.at):
        return  # some parameter makes it a point of the curve
    left = off(problem.at)
    if left == 0:
        return
    there, _ = on_curve(formula, node, slope(formula, node, name), name, problem.at)
    near = float(there[name][0])
    texts = (shown(near), repr(near)) if np.isfinite(near) else ()
    right = [t for t in texts if off({**problem.at, name: float(t)}) == 0]
    raise error("E0704", "`at` is not a point of the curve: " + (
        f"its two sides differ by {shown(left)}" if np.isfinite(left) else "it has no value there"),
        help=f"give {name} the value {right[0]}" if right else None)


def _curve(reference: Reference, problem: Problem, found: dict[str, Any],
           known: dict[str, Any], deadline: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return points on the curve, and the errors of their values.

    Several scales are tried, since few starts find a closed curve.

    found: the starts, name to values.
    known: errors of inputs that are not exact.
    deadline: of `time.thread_time`.
    """
    from gradcli.homework.checking.reference import on_curve

    assert reference.constraint is not None
    by = slope(reference.formula, reference.constraint, problem.dependent)
    kept: list[Any] = []
    for scale in (1.0, 0.1, 10.0):
        there, errors = on_curve(reference.formula, reference.constraint, by, problem.dependent,
                                 points.scaled(problem, found, scale), deadline)
        good = np.isfinite(there[problem.dependent])
        kept.append(({n: np.broadcast_to(v, good.shape)[good] for n, v in there.items()
                      if n == problem.dependent or type(v) is not float},
                     errors[problem.dependent][good]))
        if sum([len(e) for _, e in kept]) >= points.SIZE // 4:
            break
    if not sum([len(e) for _, e in kept]):
        raise error("E0704", "no point of the curve was found",
                    help="give the ranges in which to look: domain = {x = [0, 5]}")
    inputs = {n: np.concatenate([p[n] for p, _ in kept]) if n in kept[0][0] else v
              for n, v in found.items()}
    return inputs, {**known, problem.dependent: np.concatenate([e for _, e in kept])}
