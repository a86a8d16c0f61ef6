"""What explains an answer, and how explanations are ranked."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.checking.mistakes.ways import Step
    from gradcli.sweeps.wrong_rules import Rule

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


class Found:
    """One explanation.

    level: of those above; rank: within its level, the likelier first. node: of the reference's
    formula, its values, if there is one. step, site: where a rule was used wrongly; rule: which.
    detail: what the sentence needs. sure: whether it says nothing that could be chance. agree: at
    how many points it fits. also: another mistake in the same answer. joint: the rule was used in
    all derivatives that the answer is made of. rules: those of which one was used at every site.
    """

    __slots__ = ("agree", "also", "detail", "joint", "level", "name", "node", "rank", "rule",
                 "rules", "site", "step", "sure")

    def __init__(self, name: str, level: int, rank: float = 0.0, *, node: int | None = None,
                 step: Step | None = None, site: int | None = None, rule: Rule | None = None,
                 detail: dict[str, Any] | None = None, sure: bool = True, agree: int = 0,
                 also: Found | None = None, joint: bool = False, rules: tuple[Rule, ...] = ()
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

    def but(self, **changes: Any) -> Found:
        """The same with other fields."""
        fields = {name: getattr(self, name) for name in Found.__slots__}
        fields.update(changes)
        return Found(fields.pop("name"), fields.pop("level"), fields.pop("rank"), **fields)


def ranked(found: Iterable[Found]) -> list[Found]:
    """The best explanation of each name, the best first."""
    best: dict[str, Found] = {}
    for one in sorted(found, key=lambda f: (f.level, f.rank)):
        best.setdefault(one.name, one)
    return list(best.values())


def confidence(found: list[Found], single: bool, numbers: bool) -> str:
    """"high" if one explanation stands out, "low" if it may be another or may be chance. numbers:
    whether the answer is one number, or a line, which is two: many ways lead to these.
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
