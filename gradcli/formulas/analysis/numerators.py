"""Sums whose zeros are those of a term: without lines, common factors and what is never 0."""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas.analysis.exact import EXPONENTIALS, rewritten
from gradcli.formulas.analysis.limits import scaling
from gradcli.formulas.rewrites import positive, rebuilt
from gradcli.formulas.terms import MINUS, NUMBER, ONE, PRODUCT, SUM, ZERO, times, whole
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term



def factors(a: Algebra, term: Term) -> list[Term]:
    """Return the factors of which one has to be 0 where the term is."""
    if term.is_call(*ZERO_WHERE):
        one = a.number(-Fraction(ZERO_WHERE[term.operation.name]))
        return factors(a, a.add(term.args[0], one))
    if term.kind != PRODUCT:
        return [] if positive(term) or term.is_call("sec", "csc") else [term]
    found = []
    for base, exponent in term.items:
        if exponent.kind == NUMBER and exponent.value > 0:
            found += factors(a, base)
    return found


ZERO_WHERE = {"log": 1, "log2": 1, "log10": 1, "acos": 1, "acosh": 1, "asin": 0, "atan": 0,
              "sinh": 0, "tanh": 0, "asinh": 0, "atanh": 0, "cbrt": 0, "log1p": 0, "expm1": 0,
              "erf": 0, "abs": 0}
"""Function to the one argument where it is 0."""


def numerator(a: Algebra, term: Term, depth: int = 0) -> Term:
    """Return a sum multiplied by what stands below lines in it, and divided by what is positive in
    all summands: it is 0 at the same points. depth: of lines within lines.
    """
    if term.kind != SUM:
        return term
    below: dict[Term, Fraction] = {}
    for t, _ in term.items:
        for base, exponent in t.items if t.kind == PRODUCT else ():
            if exponent.kind == NUMBER and isinstance(exponent.value, Fraction) and (
                    exponent.value < 0 and a.table.names([base])):
                below[base] = max(below.get(base, ZERO), -exponent.value)
    found = multiplied(a, term, [(base, a.number(n)) for base, n in below.items()])
    if depth < LINES and any(_has_line(a, inner) for t, _ in (
            found.items if found.kind == SUM else ()) for inner in [_inner_sum(t)]
            if inner is not None):
        return numerator(a, expanded(a, found), depth + 1)
    if found.kind == SUM:
        shared = [(b, a.negative(e)) for b, e in powers_of(a, found.items[0][0]) if (
            b.is_call("exp") or e.kind != NUMBER) and found.value == 0 and all(
            any(c.is_call("exp") if b.is_call("exp") else c is b for c, _ in powers_of(a, t))
            for t, _ in found.items)]
        found = multiplied(a, found, shared)
    return found


def _has_line(a: Algebra, term: Term) -> bool:
    """Return whether a name stands below a line in a sum."""
    return any(e.kind == NUMBER and e.value < 0 and a.table.names([b]) for t, _ in term.items
               if t.kind == PRODUCT for b, e in t.items)


def powers_of(a: Algebra, t: Term) -> Sequence[tuple[Term, Term]]:
    return t.items if t.kind == PRODUCT else [(t, a.number(ONE))]


def multiplied(a: Algebra, term: Term, powers: Sequence[tuple[Term, Term]]) -> Term:
    """Return a sum multiplied by powers, summand by summand."""
    if not powers:
        return term
    one = a.number(ONE)
    return a.sum_of([(a.product_of([(t, one), *powers]), c) for t, c in (
        *term.items, (one, term.value))])


def expanded(a: Algebra, term: Term) -> Term:
    """Return a sum with products of sums in it multiplied out, if it does not become too long."""
    if term.kind != SUM:
        return term
    summands = [(t, c) for t, c in (*term.items, (a.number(ONE), term.value)) if c]
    for _ in range(LONGEST):
        k = next((k for k, (t, _) in enumerate(summands) if _inner_sum(t) is not None), None)
        if k is None:
            return a.sum_of(summands)
        t, c = summands.pop(k)
        inner = _inner_sum(t)
        assert inner is not None
        rest = a.times(t, a.power(inner, a.number(MINUS)))
        summands += [(a.times(rest, u), times(c, d)) for u, d in (
            *inner.items, (a.number(ONE), inner.value)) if d]
        if len(summands) > LONGEST:
            break
    return term


LONGEST, LINES = 60, 3
"""So many summands, and lines within lines."""


def _inner_sum(t: Term) -> Term | None:
    """Return a sum that a product has as a factor, None where there is none."""
    if t.kind == SUM:
        return t
    return next((b for b, e in t.items if b.kind == SUM and e.kind == NUMBER and (
        whole(e.value) or 0) > 0), None) if t.kind == PRODUCT else None


def scaled(a: Algebra, term: Term, name: str, end: float) -> Term:
    """Return a sum divided by the exponential that it grows with at an end of the line."""
    term = numerator(a, rewritten(a, term, EXPONENTIALS))
    by = scaling(a, term, name, end) if term.kind == SUM else None
    if by is None:
        return term
    whole_sum = expanded(a, term)
    found: dict[int, Term] = {}
    for t in a.table.of([whole_sum]):
        found[t.number] = _to_base_e(a, rebuilt(a, t, found, lambda old, args: a.call(
            old.operation, args, old.attributes, old.shape)))
    return multiplied(a, found[whole_sum.number], [(by, a.number(MINUS))])


def _to_base_e(a: Algebra, t: Term) -> Term:
    """Return 2^x as exp(x*log(2))."""
    if t.kind != PRODUCT or all(e.kind == NUMBER or b.kind != NUMBER for b, e in t.items):
        return t
    return a.times(a.number(t.value), *[
        a.call(TABLE["exp"], [a.times(e, a.call(TABLE["log"], [b], None, None))], None, None)
        if b.kind == NUMBER and e.kind != NUMBER else a.power(b, e) for b, e in t.items])
