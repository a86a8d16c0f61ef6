"""How a right answer comes about, as a student works it out: the steps at which rules are applied.

Each component of an answer is one walk that asks for derivatives one after the other. Run with a
`Differentiator` that gives right ones, it is the right answer; run with one that errs at one step,
it is a wrong answer.
"""

from __future__ import annotations

from gradcli.checking.reference import weighted
from gradcli.ops.elementwise import add, divide, multiply, negative, subtract
from gradcli.sweeps.wrong_tangents import Sweeps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.checking.problem import Problem
    from gradcli.checking.reference import Reference
    from gradcli.tape.formula import Formula

    # A node, the variable, and the other seed: a name, the node of its tangent, and whether that
    # is a name itself, for which the derivative is solved.
    Step = tuple[int, str, tuple[str, int, bool] | None]
    Differentiator = Callable[[Step], int]
    Walk = Callable[[Differentiator], int]

SLOPE = "dy/dx"
"""The name of the derivative that an implicit equation is solved for."""


class Way:
    """The walks to the components of an answer.

    linear: the answer is a sum of derivatives, so two mistakes in it add up.
    """

    __slots__ = ("_sweeps", "linear", "problem", "reference")

    def __init__(self, reference: Reference, problem: Problem) -> None:
        self.reference = reference
        self.problem = problem
        self.linear = problem.kind not in ("parametric", "implicit")
        self._sweeps: dict[Step, Sweeps] = {}

    def sweeps(self, step: Step) -> Sweeps:
        """The sweeps of one differentiation, right and wrong."""
        found = self._sweeps.get(step)
        if found is None:
            node, name, other = step
            formula = self.reference.formula
            seeds: dict[str, int | None] = {name: formula.number(1.0)}
            if other is not None:
                seeds[other[0]] = other[1]
            found = self._sweeps[step] = Sweeps(
                formula, node, seeds, name, frozenset(self.problem.parameters))
        return found

    def right(self, step: Step) -> int:
        """The right derivative."""
        return self.or_zero(self.sweeps(step).right.carried[step[0]])

    def or_zero(self, node: int | None) -> int:
        return self.reference.formula.number(0.0) if node is None else node

    def component(self, c: int, d: Differentiator) -> int:
        """The node of one component, given derivatives."""
        return WALKS[self.problem.kind](self, c, d)

    def steps(self, c: int) -> list[Step]:
        """The differentiations on the way to a component, in order."""
        found: list[Step] = []

        def recorded(step: Step) -> int:
            found.append(step)
            return self.right(step)

        self.component(c, recorded)
        return found


def _derivative(way: Way, c: int, d: Differentiator) -> int:
    node = way.reference.functions[0]
    for _ in range(way.problem.order):
        node = d((node, way.reference.wrt[0], None))
    return node


def _value(way: Way, c: int, d: Differentiator) -> int:
    if len(way.reference.wrt) == 1:
        return _derivative(way, c, d)
    return _gradient(way, c, d)


def _partial(way: Way, c: int, d: Differentiator) -> int:
    wrt = way.reference.wrt
    node = way.reference.functions[0]
    for name in wrt:
        for _ in range(way.problem.order if len(wrt) == 1 else 1):
            node = d((node, name, None))
    return node


def _gradient(way: Way, c: int, d: Differentiator) -> int:
    return d((way.reference.functions[0], way.reference.wrt[c], None))


def _jacobian(way: Way, c: int, d: Differentiator) -> int:
    row, column = divmod(c, len(way.reference.wrt))
    return d((way.reference.functions[row], way.reference.wrt[column], None))


def _hessian(way: Way, c: int, d: Differentiator) -> int:
    row, column = divmod(c, len(way.reference.wrt))
    first = d((way.reference.functions[0], way.reference.wrt[row], None))
    return d((first, way.reference.wrt[column], None))


def _directional(way: Way, c: int, d: Differentiator) -> int:
    from math import hypot

    reference, problem = way.reference, way.problem
    total = weighted(reference.formula, [
        d((reference.functions[0], n, None)) for n in reference.wrt], problem.direction)
    length = hypot(*problem.direction) if problem.normalize else 1.0
    if length != 1:
        total = reference.formula.share(divide, (total, reference.formula.number(length)))
    return total


def solved(formula: Formula, total: int) -> int:
    """dy/dx of F(x, y) = 0 from the total derivative, in which it is a name."""
    leaf = formula.leaf(SLOPE)
    at_0, at_1 = [formula.substituted(total, {leaf: formula.number(v)}) for v in (0.0, 1.0)]
    return formula.share(negative, (formula.share(divide, (
        at_0, formula.share(subtract, (at_1, at_0)))),))


def _implicit(way: Way, c: int, d: Differentiator) -> int:
    reference, problem = way.reference, way.problem
    formula, name, dependent = reference.formula, reference.wrt[0], problem.dependent
    assert reference.constraint is not None
    first = found = solved(
        formula, d((reference.constraint, name, (dependent, formula.leaf(SLOPE), True))))
    for _ in range(problem.order - 1):
        found = d((found, name, (dependent, first, False)))
    return found


def _parametric(way: Way, c: int, d: Differentiator) -> int:
    reference = way.reference
    formula, name = reference.formula, reference.wrt[0]
    x, found = reference.functions
    speed = d((x, name, None))
    for _ in range(way.problem.order):
        found = formula.share(divide, (d((found, name, None)), speed))
    return found


def _tangent(way: Way, c: int, d: Differentiator) -> int:
    reference, problem = way.reference, way.problem
    here = at_point(way)
    return line(way, [reference.formula.substituted(
        d((reference.functions[0], n, None)), here) for n in reference.wrt], problem.at)


def at_point(way: Way) -> dict[int, int]:
    """The variables' nodes, and those of their values at the point of a tangent."""
    formula = way.reference.formula
    return {formula.leaf(n): formula.number(way.problem.at[n]) for n in way.reference.wrt}


def line(way: Way, slopes: list[int], at: dict[str, float]) -> int:
    """The tangent line or plane with given slopes."""
    formula, wrt = way.reference.formula, way.reference.wrt
    total = formula.substituted(way.reference.functions[0], at_point(way))
    for name, steep in zip(wrt, slopes, strict=True):
        step = formula.share(subtract, (formula.leaf(name), formula.number(at[name])))
        total = formula.share(add, (total, formula.share(multiply, (steep, step))))
    return total


WALKS: dict[str, Callable[[Way, int, Differentiator], int]] = {
    "derivative": _derivative, "value": _value, "partial": _partial, "gradient": _gradient,
    "jacobian": _jacobian, "hessian": _hessian, "directional": _directional,
    "implicit": _implicit, "parametric": _parametric, "tangent": _tangent}
