"""The derivation of a right answer, as a student works it out: the steps at which rules are
applied.

Each component of an answer is one walk that asks for derivatives one after the other. Run with a
`Differentiator` that gives right ones, it is the right answer; run with one that errs at one step,
it is a wrong answer.
"""

from __future__ import annotations

from gradcli.homework.checking.reference import weighted
from gradcli.homework.mistakes.sweeps import Sweeps
from gradcli.ops.table.elementwise import add, divide, multiply, negative, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.checking.reference import Reference
    from gradcli.homework.mistakes.rules import Rule

    # A node, the variable, and the other seed: a name, the node of its tangent, and whether that
    # is a name itself, for which the derivative is solved.
    Step = tuple[int, str, tuple[str, int, bool] | None]
    Differentiator = Callable[[Step], int]
    Walk = Callable[[Differentiator], int]

SLOPE = "dy/dx"
"""The name of the derivative that an implicit equation is solved for."""


class AnswerDerivation:
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
        """Return the sweeps of one differentiation, right and wrong."""
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
        """Return the right derivative."""
        return self.or_zero(self.sweeps(step).right.carried[step[0]])

    def or_zero(self, node: int | None) -> int:
        return self.reference.formula.number(0.0) if node is None else node

    def component(self, c: int, d: Differentiator) -> int:
        """Return the node of one component, given derivatives."""
        return WALKS[self.problem.kind](self, c, d)

    def steps(self, c: int) -> list[Step]:
        """Return the differentiations that a component takes, in order."""
        found: list[Step] = []

        def recorded(step: Step) -> int:
            found.append(step)
            return self.right(step)

        self.component(c, recorded)
        return found


def _derivative(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    node = derivation.reference.functions[0]
    for _ in range(derivation.problem.order):
        node = d((node, derivation.reference.wrt[0], None))
    return node


def _value(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    if len(derivation.reference.wrt) == 1:
        return _derivative(derivation, c, d)
    return _gradient(derivation, c, d)


def _partial(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    wrt = derivation.reference.wrt
    node = derivation.reference.functions[0]
    for name in wrt:
        for _ in range(derivation.problem.order if len(wrt) == 1 else 1):
            node = d((node, name, None))
    return node


def _gradient(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    return d((derivation.reference.functions[0], derivation.reference.wrt[c], None))


def _jacobian(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    row, column = divmod(c, len(derivation.reference.wrt))
    return d((derivation.reference.functions[row], derivation.reference.wrt[column], None))


def _hessian(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    row, column = divmod(c, len(derivation.reference.wrt))
    first = d((derivation.reference.functions[0], derivation.reference.wrt[row], None))
    return d((first, derivation.reference.wrt[column], None))


def _directional(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    from math import hypot

    reference, problem = derivation.reference, derivation.problem
    total = weighted(reference.formula, [
        d((reference.functions[0], n, None)) for n in reference.wrt], problem.direction)
    length = hypot(*problem.direction) if problem.normalize else 1.0
    if length != 1:
        total = reference.formula.share(divide, (total, reference.formula.number(length)))
    return total


def solved(formula: Formula, total: int) -> int:
    """Return dy/dx of F(x, y) = 0 from the total derivative, in which it is a name."""
    leaf = formula.leaf(SLOPE)
    at_0, at_1 = [formula.substituted(total, {leaf: formula.number(v)}) for v in (0.0, 1.0)]
    return formula.share(negative, (formula.share(divide, (
        at_0, formula.share(subtract, (at_1, at_0)))),))


def _implicit(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    reference, problem = derivation.reference, derivation.problem
    formula, name, dependent = reference.formula, reference.wrt[0], problem.dependent
    assert reference.constraint is not None
    first = found = solved(
        formula, d((reference.constraint, name, (dependent, formula.leaf(SLOPE), True))))
    for _ in range(problem.order - 1):
        found = d((found, name, (dependent, first, False)))
    return found


def _parametric(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    reference = derivation.reference
    formula, name = reference.formula, reference.wrt[0]
    x, found = reference.functions
    speed = d((x, name, None))
    for _ in range(derivation.problem.order):
        found = formula.share(divide, (d((found, name, None)), speed))
    return found


def _tangent(derivation: AnswerDerivation, c: int, d: Differentiator) -> int:
    reference, problem = derivation.reference, derivation.problem
    here = at_point(derivation)
    return line(derivation, [reference.formula.substituted(
        d((reference.functions[0], n, None)), here) for n in reference.wrt], problem.at)


def at_point(derivation: AnswerDerivation) -> dict[int, int]:
    """Return the variables' nodes, and those of their values at the point of a tangent."""
    formula = derivation.reference.formula
    return {formula.leaf(n): formula.number(derivation.problem.at[n])
            for n in derivation.reference.wrt}


def line(derivation: AnswerDerivation, slopes: list[int], at: dict[str, float]) -> int:
    """Return the tangent line or plane with given slopes."""
    formula, wrt = derivation.reference.formula, derivation.reference.wrt
    total = formula.substituted(derivation.reference.functions[0], at_point(derivation))
    for name, steep in zip(wrt, slopes, strict=True):
        step = formula.share(subtract, (formula.leaf(name), formula.number(at[name])))
        total = formula.share(add, (total, formula.share(multiply, (steep, step))))
    return total


WALKS: dict[str, Callable[[AnswerDerivation, int, Differentiator], int]] = {
    "derivative": _derivative, "value": _value, "partial": _partial, "gradient": _gradient,
    "jacobian": _jacobian, "hessian": _hessian, "directional": _directional,
    "implicit": _implicit, "parametric": _parametric, "tangent": _tangent}


# --------------------------------------------------------------------------------------------------
# What explains an answer, and how explanations are ranked.

# Levels, the strongest first: another question answered exactly, one wrong step, the same one
# everywhere, two wrong steps, and what is left: the right answer times or plus something.
WHOLE, SITE, EVERYWHERE, PAIR, LEFT = range(5)
ENOUGH = 50
BETWEEN = 60.0
"""Rank of what is less likely than a common wrong rule, and more than a rare one."""
GENERIC = frozenset((
    "sign_error", "constant_factor", "constant_added", "constant_factor_dropped",
    "right_on_part_of_domain", "rounded_constant", "not_a_formula", "not_a_number",
    "evaluated_at_wrong_point", "one_row_wrong", "other_variable_dropped"))
"""Names that fit beside others without casting doubt on them."""
SPECIFIC = frozenset((
    "components_swapped", "transposed", "mixed_partials_missing", "direction_not_normalised",
    "other_variable_not_constant", "implicit_inverted", "implicit_missing_dydx", "misread_function",
    "missing_parentheses", "slope_not_evaluated"))
"""Names that say how the whole answer came about; that a part of it fits another one is no doubt.
"""
MOST = 6


class Explanation:
    """One explanation of a wrong answer.

    level: of those above.
    rank: within its level, the likelier first.
    node: of the reference's formula, its values, if there is one.
    step, site: the differentiation and operation with a wrong rule.
    rule: that rule.
    detail: texts for the sentence.
    sure: whether it cannot be chance.
    agree: the number of points at which it fits.
    also: another mistake in the same answer.
    joint: whether the rule was used in all derivatives of the answer.
    rules: those of which one was used at every site.
    """

    __slots__ = ("agree", "also", "detail", "joint", "level", "name", "node", "rank", "rule",
                 "rules", "site", "step", "sure")

    def __init__(self, name: str, level: int, rank: float = 0.0, *, node: int | None = None,
                 step: Step | None = None, site: int | None = None, rule: Rule | None = None,
                 detail: dict[str, Any] | None = None, sure: bool = True, agree: int = 0,
                 also: Explanation | None = None, joint: bool = False, rules: tuple[Rule, ...] = ()
                 ) -> None:
        self.name = name
        self.level = level
        self.rank = rank
        self.node = node
        self.step = step
        self.site = site
        self.rule = rule
        self.detail = detail or {}
        self.sure = sure
        self.agree = agree
        self.also = also
        self.joint = joint
        self.rules = rules

    def replaced(self, **changes: Any) -> Explanation:
        """Return a copy with these fields replaced."""
        fields = {name: getattr(self, name) for name in Explanation.__slots__}
        fields.update(changes)
        return Explanation(fields.pop("name"), fields.pop("level"), fields.pop("rank"), **fields)


def ranked(found: Iterable[Explanation]) -> list[Explanation]:
    """Return the best explanation of each name, the best first."""
    best: dict[str, Explanation] = {}
    for one in sorted(found, key=lambda f: (f.level, f.rank)):
        best.setdefault(one.name, one)
    return list(best.values())


def confidence(found: list[Explanation], single: bool, numbers: bool) -> str:
    """Return "high" if one explanation stands out, "low" if it may be another or may be chance.

    single: whether the problem has one point. numbers: whether the answer is one number, or a line,
    which is two: many mistakes lead to these.
    """
    first = found[0]
    if numbers and any(f.name not in GENERIC or (
            f.name == "sign_error" and first.name == "evaluated_at_wrong_point")
            for f in found[1:]):
        return "low"
    specific = first.level == WHOLE and first.name in SPECIFIC
    if specific and first.name == "direction_not_normalised":
        # The right number times a length: that needs no other digits than a whole number has.
        return "low" if any(f.name not in GENERIC for f in found[1:]) else "high"
    if not first.sure or first.level >= PAIR or (first.agree < ENOUGH and not single):
        return "low"
    for other in found[1:]:
        if specific and other.name not in SPECIFIC:
            continue
        if other.name in GENERIC or (other.level == SITE and other.rank >= BETWEEN > first.rank):
            continue
        likelier = other.level == EVERYWHERE and other.rank < first.rank
        if other.level <= max(SITE, first.level) or (likelier and first.level == SITE):
            return "low"
    return "high"
