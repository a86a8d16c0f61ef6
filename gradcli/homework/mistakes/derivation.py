"""The derivation of an answer, as a student works it out: the steps at which rules are applied.

The row of a kind derives a component by asking for one derivative after the other. Given right
ones, it is the right answer; with a `Differentiator` that errs at one step, it is a wrong answer.
"""

from __future__ import annotations

from gradcli.homework.checking.problem import is_solved, solved
from gradcli.homework.mistakes.sweeps import Sweeps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.homework.checking.problem import Differentiation, Differentiator, Reference
    from gradcli.homework.mistakes.rules import Rule


class AnswerDerivation:
    """The derivations of the components of an answer."""

    __slots__ = ("_sweeps", "problem", "reference")

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.problem = reference.problem
        self._sweeps: dict[Differentiation, Sweeps] = {}

    def sweeps(self, step: Differentiation) -> Sweeps:
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

    def right(self, step: Differentiation) -> int:
        """Return the right derivative."""
        return self.derivative(step, self.sweeps(step).right.carried[step[0]])

    def derivative(self, step: Differentiation, tangent: int | None) -> int:
        """Return the derivative that a tangent leads to: 0 for None; of an equation, solved for
        dy/dx.
        """
        formula = self.reference.formula
        if tangent is None:
            tangent = formula.number(0.0)
        return solved(formula, tangent) if is_solved(step) else tangent

    def component(self, c: int, d: Differentiator) -> int:
        """Return the node of one component, given derivatives."""
        return self.reference.kind.component(self.reference, c, d)

    def steps(self, c: int) -> list[Differentiation]:
        """Return the differentiations that a component takes, in order."""
        found: list[Differentiation] = []

        def recorded(step: Differentiation) -> int:
            found.append(step)
            return self.right(step)

        self.component(c, recorded)
        return found


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
                 step: Differentiation | None = None, site: int | None = None,
                 rule: Rule | None = None, detail: dict[str, Any] | None = None, sure: bool = True,
                 agree: int = 0, also: Explanation | None = None, joint: bool = False,
                 rules: tuple[Rule, ...] = ()) -> None:
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
