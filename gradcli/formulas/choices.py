"""Choices, `where(c, a, b)`, in sums and products: one where there were several, zeros that take
in what they are multiplied by.
"""

from __future__ import annotations

from gradcli.formulas.terms import NUMBER, SUM, joint
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.numbers import Number
    from gradcli.formulas.terms import Term


def choice(a: Algebra, condition: Term, first: Term, second: Term) -> Term:
    """where(condition, first, second)."""
    if first is second and joint((condition,)) == ():
        return first
    if condition.kind == NUMBER:
        return first if condition.value else second
    if first.is_call("where") and first.args[0] is condition:
        first = first.args[1]
    if second.is_call("where") and second.args[0] is condition:
        second = second.args[2]
    return a.table.call(TABLE["where"], [condition, first, second], None,
                        joint((condition, first, second)))


def merged(a: Algebra, items: list[tuple[Term, Number]]) -> list[tuple[Term, Number]]:
    """Summands with where(c, a, b) + where(c, d, e) as one choice."""
    by_condition: dict[Term, list[tuple[Term, Number]]] = {}
    for item in items:
        if item[0].is_call("where"):
            by_condition.setdefault(item[0].args[0], []).append(item)
    for condition, same in by_condition.items():
        if len(same) > 1:
            items = [item for item in items if item not in same]
            first, second = [a.sum_of([(t.args[k], c) for t, c in same]) for k in (1, 2)]
            coefficient, rest = a.split(choice(a, condition, first, second))
            if rest is None or rest.kind == SUM:
                return [*items, *same]
            items.append((rest, coefficient))
    return items


def absorbing(a: Algebra, coefficient: Number, items: list[tuple[Term, Term]]) -> Term | None:
    """A product with a factor where(c, a, 0) or where(c, 0, a), which takes the others in: where
    it is 0, so is the product, whatever the others are there.
    """
    if coefficient == 1 and len(items) == 1:
        return None
    for k, (base, exponent) in enumerate(items):
        if exponent.is_number(1) and base.is_call("where"):
            condition, first, second = base.args
            if first.is_number(0) or second.is_number(0):
                others = a.collected(coefficient, items[:k] + items[k + 1:])
                return choice(a, condition, a.times(first, others), a.times(second, others))
    return None
