"""Sums with what all summands have in common in front of them; terms made again of other parts."""

from __future__ import annotations

from gradcli.formulas.numbers import MINUS, ONE
from gradcli.formulas.terms import NAME, NUMBER, PRODUCT, SUM, joint, needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term

    Call = Callable[[Term, list[Term]], Term]


def factored(a: Algebra, terms: Sequence[Term]) -> list[Term]:
    """The same terms with what all summands of a sum have in common in front of it."""
    found: dict[int, Term] = {}
    before = dict(a.conditions)
    for term in needed(terms):
        new = rebuilt(a, term, found, lambda t, args: a.table.call(
            t.operation, args, t.attributes, t.shape))
        found[term.number] = _without_common(a, new) if new.kind == SUM else new
    a.conditions = before
    return [found[t.number] for t in terms]


def rebuilt(a: Algebra, term: Term, found: Mapping[int, Term], call: Call) -> Term:
    """A term of the same kind from other parts. found: those, by the numbers of its own. call:
    what makes an operation on other operands.
    """
    if all(found[p.number] is p for p in term.parts()):
        return term
    if term.kind == SUM:
        return a.add(a.number(term.value), a.sum_of([
            (found[t.number], c) for t, c in term.items]))
    if term.kind == PRODUCT:
        return a.times(a.number(term.value), a.product_of([
            (found[b.number], found[e.number]) for b, e in term.items]))
    return call(term, [found[t.number] for t in term.args])


def _without_common(a: Algebra, term: Term) -> Term:
    """A sum as a product of what its summands share and of what is left of them."""
    if term.value != 0:
        return term
    common = _common(a, term)
    rest = a.sum_of([
        (a.product_of([(t, a.number(ONE)), *[
            (b, a.times(e, a.number(MINUS))) for b, e in common]]), c)
        for t, c in term.items])
    return term if rest.shape != term.shape and term.shape != joint(
        [b for b, _ in common]) else a.times(rest, a.product_of(common))


def _common(a: Algebra, term: Term) -> list[tuple[Term, Term]]:
    """Powers that all summands of a sum have."""
    powers = [dict(t.items) if t.kind == PRODUCT else {t: a.number(ONE)} for t, _ in term.items]
    common = []
    for base, exponent in powers[0].items():
        others = [p[base] for p in powers if base in p]
        if len(others) < len(powers):
            continue
        if all(e is exponent for e in others):
            common.append((base, exponent))
        elif all(e.kind == NUMBER for e in others):
            values = [e.value for e in others]
            # 2*x*sin(x) + x^2*cos(x) is the product rule as people know it.
            if (min(values) > 0 and base.kind != NAME) or max(values) < 0:
                common.append((base, a.number(min(values, key=abs))))
    return common
