"""Formulas as textbooks print them: the shortest of a few forms that have the same value.

The forms are what a term gives over one denominator, its numerator factored, expanded or split, or
its summands each by itself; and all that with squares of functions replaced by those of their
partners, such as 1 - sin(x)^2 for cos(x)^2. What is printed was compared with what was derived.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.formulas import monomials
from gradcli.formulas.analysis.constants import exactly, value_of
from gradcli.formulas.factors import Canonical
from gradcli.formulas.identities import CHANGES, one_denominator
from gradcli.formulas.monomials import TooLong
from gradcli.formulas.reader import Reader
from gradcli.formulas.rewrites import factored, rebuilt
from gradcli.formulas.terms import (
    ARRAY,
    CALL,
    HALF,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    ZERO,
    as_float,
    known,
    simple,
    whole,
)
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.factors import Factors
    from gradcli.formulas.terms import Number, Term

LARGEST = 120
"""A term of more parts stays as it is."""
MIDDLE = 50
"""Of one of more the squares of functions stay."""
TOGETHER, SMALL = 1_000, 12
"""Of terms that have more parts together those stay that are not small."""

TIMES = 3
"""A form found is simplified again, at most so often."""

SQUARES: tuple[dict[str | int, tuple[Any, ...]], ...] = (
    {},
    {"sin": ("cos", -1, 1), "tan": ("sec", 1, -1), "cot": ("csc", 1, -1),
     "sinh": ("cosh", 1, -1), "tanh": ("sech", -1, 1)},
    {"cos": ("sin", -1, 1), "sec": ("tan", 1, 1), "csc": ("cot", 1, 1),
     "cosh": ("sinh", 1, 1), "sech": ("tanh", -1, 1)})
"""Function to (partner, factor, constant) of its square, for each way to write a term."""

QUOTIENTS: dict[str | int, tuple[Any, ...]] = {
    "tan": ("sin", "cos"), "sec": ("", "cos"), "csc": ("", "sin"), "cot": ("cos", "sin"),
    "tanh": ("sinh", "cosh"), "sech": ("", "cosh"), "csch": ("", "sinh"), "coth": ("cosh", "sinh")}
"""Function to what it is the quotient of."""


def textbooks(a: Algebra, terms: Sequence[Term], beside: Sequence[Term] = ()) -> list[Term]:
    """Return terms in their textbook forms; where they are many, the small ones only. Of others the
    sums have what all summands share in front of them.
    """
    sizes = [_size_of(a, term) for term in terms]
    most = LARGEST if sum(sizes) <= TOGETHER else SMALL
    plain = factored(a, terms) if max(sizes, default=0) > most else terms
    return [textbook(a, term, beside) if size <= most else other
            for term, other, size in zip(terms, plain, sizes, strict=True)]


def textbook(a: Algebra, term: Term, beside: Sequence[Term] = ()) -> Term:
    """Return a term of numbers in the shortest form that is known: factored, expanded, over one
    denominator. Its value is the same wherever the term is defined; where the form is defined at
    more points, that is noted as a condition of the algebra. Large terms, and those of arrays, stay
    as they are. beside: terms whose functions readers know, those of what was differentiated.
    """
    if _size_of(a, term) > LARGEST:
        return term
    (term,) = factored(a, [_with_fractions(a, term, set(a.table.of(beside)))])
    reader = Reader(a, term, beside)
    if not reader.text(term):
        return term
    for _ in range(TIMES):
        best = _shortest(a, term, reader)
        if best is term:
            break
        term = best
    return term


def _size_of(a: Algebra, term: Term) -> int:
    """Count the parts of a term, up to LARGEST + 1 or a few more."""
    found = {term.number}
    pending = [term.number]
    while pending and len(found) <= LARGEST:
        for number in a.table.args[pending.pop()]:
            if number not in found:
                found.add(number)
                pending.append(number)
    return len(found)


def _less_square(a: Algebra, x: Term) -> Term:
    return a.sum_of([(a.number(ONE), ONE), (a.power(x, a.number(Fraction(2))), -ONE)])


def _root_of_squares(a: Algebra, x: Term, y: Term) -> Term:
    """Return sqrt(x^2 + 1) for hypot(x, 1); of two terms hypot was asked for."""
    if NUMBER not in (x.kind, y.kind):
        return a.call(TABLE["hypot"], [x, y], None, None)
    if x.kind == NUMBER:
        x, y = y, x
    squares = [(a.power(t, a.number(Fraction(2))), ONE) for t in (x, y)]
    return a.power(a.sum_of(squares), a.number(HALF))


PLAIN: dict[str, Callable[..., Term]] = {
    "one_minus_square": _less_square, "hypot": _root_of_squares}
"""Operations of derivative rules, which round less, as people write them."""


def _shorter(a: Algebra, term: Term) -> Term:
    """Return a term over one denominator where that is shorter: x^2/2 for (x/sqrt(2))^2."""
    canonical = Canonical(a, {})
    try:
        found = canonical.term(canonical.of(term))
    except TooLong:
        return term
    reader = Reader(a, term, ())
    return found if reader.length(found) < reader.length(term) else term


def _with_fractions(a: Algebra, term: Term, beside: Collection[Term]) -> Term:
    """Return a term with the fractions and constants that its floats come of: 2/3 for 1 - 1/3.
    beside: what stays as it was written.
    """
    found: dict[int, Term] = {}

    def number(value: Number) -> Term:
        near = known(value) if isinstance(value, float) else None
        if near is None and isinstance(value, float):
            ratio = simple(value)
            return a.number(value if ratio is None else ratio)
        return a.number(value) if near is None else a.constant(as_float(value))

    def call(t: Term, args: list[Term]) -> Term:
        if t.is_call("exp") and t not in beside:
            args = [_shorter(a, args[0])]
        return PLAIN[t.operation.name](a, *args) if t.operation.name in PLAIN else a.call(
            t.operation, args, t.attributes, t.shape)

    for one in a.table.of([term]):
        if one.kind == CALL and not a.table.names([one]):
            found[one.number] = exactly(a, one)
        elif one.is_call("exp", *PLAIN):
            found[one.number] = call(one, [found[t.number] for t in one.args])
        elif one.kind == NUMBER:
            found[one.number] = number(one.value)
        elif one.kind == SUM and not all(
                isinstance(v, Fraction) for v in (one.value, *[c for _, c in one.items])):
            found[one.number] = a.add(number(one.value), *[
                a.times(number(c), found[t.number]) for t, c in one.items])
        elif one.kind == PRODUCT and not isinstance(one.value, Fraction):
            found[one.number] = a.times(number(one.value), a.product_of([
                (found[b.number], found[e.number]) for b, e in one.items]))
        else:
            found[one.number] = rebuilt(a, one, found, call)
    return found[term.number]


def _shortest(a: Algebra, term: Term, reader: Reader) -> Term:
    """Return the form of a term that costs its reader least."""
    parts = a.table.of([term])
    if term.kind not in (SUM, PRODUCT) or any(
            t.shape or t.kind == ARRAY or t.is_call("where") for t in parts):
        return term
    names = a.table.names(parts)
    values = _values(a, term, names)
    before = dict(a.conditions)
    best, least, conditions = term, reader.cost(term), before
    seen = {term.number}
    done: list[Factors] = []
    for way, kept in _ways_to_read(a, parts):
        a.conditions = dict(before)
        for form in _forms(a, term, Canonical(a, way, kept, reader.before), reader, done):
            if form.number not in seen and reader.cost(form) < least and _agree(
                    values, _values(a, form, names)):
                best, least, conditions = form, reader.cost(form), dict(a.conditions)
            seen.add(form.number)
    below = {base for t in a.table.of([best]) if t.kind == PRODUCT for base, e in t.items
             if e.kind == NUMBER and e.value < 0}
    a.conditions = {(t, text): None for t, text in conditions     # what stands below needs no words
                    if (t, text) in before or text != "!= 0" or t not in below}
    return best


def _ways_to_read(a: Algebra, parts: Sequence[Term]
                  ) -> list[tuple[Mapping[str | int, tuple[Any, ...]], Collection[int]]]:
    """Return what becomes of functions, and which sums stay, for each canonical form."""
    own = {t.operation.name for t in parts if t.kind == CALL}
    squares = SQUARES[:1]
    if len(parts) <= MIDDLE and a.table.names(parts) and own.intersection(
            [*SQUARES[1], *SQUARES[2]]):
        squares = SQUARES
        angles = {t.args[0] for t in parts if t.is_call("sin", "cos", "tan", "sec", "csc", "cot")}
        doubled: dict[str | int, tuple[Any, ...]] = {
            t.number: () for t in parts if t.is_call("sin", "cos") and a.times(
                t.args[0], a.number(HALF)) in angles}
        if doubled or own.intersection(QUOTIENTS):
            squares += tuple([{**way, **QUOTIENTS, **doubled} for way in SQUARES[1:]])
    powers = _powers(a, parts)
    return [(way, kept) for way in squares for kept in ((), powers)[:1 + bool(powers)]]


def _powers(a: Algebra, parts: Iterable[Term]) -> set[int]:
    """Return the numbers of the sums that stand below roots or in powers; of x - 1 and 1 - x one.
    """
    bases = [(e.kind == NUMBER and whole(e.value) is not None, b.number, b)
             for t in parts if t.kind == PRODUCT for b, e in t.items
             if b.kind == SUM and not e.is_number(1)]
    found: set[int] = set()
    for _, number, base in sorted(bases, key=lambda item: item[:2]):
        if a.table.turned(base).number not in found:
            found.add(number)
    return found


# --------------------------------------------------------------------------------------------------
# Forms.

def _forms(a: Algebra, term: Term, canonical: Canonical, reader: Reader, done: list[Factors]
           ) -> Iterator[Term]:
    """Yield the forms of a term, as far as they are not too long. done: the factors whose forms are
    known.
    """
    try:
        canonical.find_roots(term)
        factors = canonical.of(term)
        if factors in done:
            return
        done.append(factors)
        yield from _of_factors(a, factors, canonical)
        yield from _of_groups(a, term, canonical, reader)
    except TooLong:
        return


def _of_groups(a: Algebra, term: Term, canonical: Canonical, reader: Reader) -> Iterator[Term]:
    """Yield sums with one quotient for each denominator, behind what all summands have above or
    below the line.
    """
    outer = a.number(ONE)
    if term.kind == PRODUCT:
        inner = [b for b, e in term.items if b.kind == SUM and e.is_number(1)]
        if len(inner) != 1:
            return
        outer = a.times(a.number(term.value), a.product_of([
            item for item in term.items if item[0] is not inner[0]]))
        term = inner[0]
    parts = [part for part in canonical.parts(term) if part[0]]
    shared = {n: e for n, e in monomials.common([
        tuple(powers.items()) for _, powers in parts]) if len({
            powers.get(n, ZERO) > 0 for _, powers in parts}) == 1 and all(n in p for _, p in parts)}
    groups: dict[tuple[tuple[int, Fraction], ...], list[Factors]] = {}
    for c, powers in parts:
        left = {n: e for n in {*powers, *shared}
                if (e := powers.get(n, ZERO) - shared.get(n, ZERO))}
        below = tuple(sorted([(n, e) for n, e in left.items() if e < 0]))
        groups.setdefault(below, []).append((c, left))
    sums = [canonical.together(same) for same in groups.values()]
    if len(sums) > 1 or not groups:
        ways = [list(_of_factors(a, one, canonical)) for one in sums]
        best = [min(forms, key=reader.length) for forms in ways]
        yield a.times(outer, canonical.term((ONE, shared)), a.add(*best))


def _of_factors(a: Algebra, factors: Factors, canonical: Canonical) -> Iterator[Term]:
    """Yield the ways to write one quotient."""
    for one in _ways(a, factors, canonical):
        yield canonical.term(one)
        yield from _numerators(a, one, canonical)
        yield from _with_products(a, one, canonical)


def _with_products(a: Algebra, factors: Factors, canonical: Canonical) -> Iterator[Term]:
    """Yield a quotient with its sums as they were before products in them were multiplied out."""
    coefficient, powers = factors
    products = {}
    for number in powers:
        summands = canonical.unexpanded.get(number)
        if summands is not None:
            products[number] = a.sum_of([(canonical.term((ONE, p)), c) for c, p in summands])
    for chosen in (products, {n: t for n, t in products.items() if powers[n] < 0}):
        if any(a.table.all[number] is not term for number, term in chosen.items()):
            yield a.times(a.number(coefficient), a.product_of([
                (chosen.get(n, a.table.all[n]), a.number(e)) for n, e in powers.items()]))


def _ways(a: Algebra, factors: Factors, canonical: Canonical) -> Iterator[Factors]:
    """Yield the factors themselves and with products of functions as one, sums below a line as
    one, roots of quotients above the line.
    """
    yield factors
    for change in CHANGES:
        changed = change(a, factors, canonical)
        if changed is not None and changed != factors:
            yield changed
            both = one_denominator(a, changed, canonical)
            if both is not None:
                yield both


def _numerators(a: Algebra, factors: Factors, canonical: Canonical) -> Iterator[Term]:
    """Yield a quotient with its sums above the line factored; multiplied out; with all that is a
    product, or what is below the line, or what is above it multiplied in.
    """
    coefficient, powers = factors
    above = {n: e for n, e in powers.items() if n in canonical.sums and e >= 1
             and e.denominator == 1}
    if not above:
        return
    rest = {n: e for n, e in powers.items() if n not in above}
    split = [(p, e * n) for number, e in above.items()
             for p, n in monomials.factored(canonical.sums[number])]
    yield a.times(canonical.term((coefficient, rest)), *[
        a.power(canonical.sum_term(p), a.number(e)) for p, e in split])
    total = canonical.expanded(ONE, above)
    atoms = {n: e for n, e in rest.items() if n not in canonical.sums}
    below = {n: e for n, e in atoms.items() if e < 0}
    above = {n: e for n, e in atoms.items() if e > 0}
    for inside in ({}, *[part for part in (above, below) if part], *([atoms] if (
            above and below) else [])):
        inner = monomials.scaled(total, ONE, tuple(sorted(inside.items())))
        outer = canonical.term((ONE, {n: e for n, e in rest.items() if n not in inside}))
        for c, d in ((coefficient, ONE), (ONE, coefficient))[:1 + (coefficient != 1)]:
            yield a.times(a.number(c), outer, canonical.sum_term(
                monomials.scaled(inner, d)))


# --------------------------------------------------------------------------------------------------
# Values, to see that a form is right.

POINTS = (0.37, 1.83, -0.61, 5.2, -2.9, 0.071)
"""Each name has these values in turn, each beginning elsewhere."""
NEAR = 1e-7


def _values(a: Algebra, term: Term, names: Sequence[str]) -> list[float]:
    """Return the values of a term at points; NaN where it has none."""
    found = []
    for k in range(2 * len(POINTS)):
        value = value_of(a, term, {
            name: POINTS[(k + j * (1 + k // len(POINTS))) % len(POINTS)] * (1 + j / 100)
            for j, name in enumerate(names)})
        found.append(math.nan if isinstance(value, complex) else value)
    return found


def _agree(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether values are the same wherever the first are numbers, at some points at least.
    """
    return any(map(math.isfinite, first)) and all(abs(x - y) <= NEAR * max(abs(x), 1e-6)
               for x, y in zip(first, second, strict=True) if math.isfinite(x))
