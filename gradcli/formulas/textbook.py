"""Formulas as textbooks print them: the shortest of a few forms that have the same value.

The forms are what a term gives over one denominator, its numerator factored, expanded or split, or
its summands each by itself; and all that with squares of functions replaced by those of their
partners, such as 1 - sin(x)^2 for cos(x)^2. What is printed was compared with what was derived.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from gradcli.base.errors import GradcliError
from gradcli.formulas import monomials
from gradcli.formulas.analysis.constants import value_of
from gradcli.formulas.factors import Canonical
from gradcli.formulas.identities import CHANGES, one_denominator
from gradcli.formulas.monomials import TooLong
from gradcli.formulas.rewrites import rebuilt
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
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.factors import Factors
    from gradcli.formulas.terms import Number, Term

LARGEST, LONGEST = 120, 1_000
"""A term of more parts or characters stays as it is."""
TOGETHER, SMALL = 1_000, 12
"""Of terms that have more parts together those stay that are not small."""

NEW_FUNCTIONS = 1.3
"""A form with functions that the term has not has to be shorter by this factor."""
NESTED = 1.25
"""One with quotients in sums that are in quotients, too."""
NEW_CALL = 2
"""One with a function of another argument has to be shorter by so many characters."""
LONG, LONG_NUMBER = re.compile(r"\d[\d.]{5,}"), 8
"""One with a long number that was not there, too."""
BRACKETS = 0.5
"""A pair of brackets in a polynomial counts by so much more than its two characters."""

TIMES = 3
"""A form found is simplified again, at most so often."""

SQUARES: tuple[Mapping[str, tuple[str, int, int]], ...] = (
    {},
    {"sin": ("cos", -1, 1), "tan": ("sec", 1, -1), "cot": ("csc", 1, -1),
     "sinh": ("cosh", 1, -1), "tanh": ("sech", -1, 1)},
    {"cos": ("sin", -1, 1), "sec": ("tan", 1, 1), "csc": ("cot", 1, 1),
     "cosh": ("sinh", 1, 1), "sech": ("tanh", -1, 1)})
"""Function to (partner, factor, constant) of its square, for each way to write a term."""


def textbooks(a: Algebra, terms: Sequence[Term], beside: Sequence[Term] = ()) -> list[Term]:
    """Return terms in their textbook forms; where they are many, the small ones only."""
    sizes = [_size_of(a, term) for term in terms]
    most = LARGEST if sum(sizes) <= TOGETHER else SMALL
    return [textbook(a, term, beside) if size <= most else term
            for term, size in zip(terms, sizes, strict=True)]


def textbook(a: Algebra, term: Term, beside: Sequence[Term] = ()) -> Term:
    """Return a term of numbers in the shortest form that is known: factored, expanded, over one
    denominator. Its value is the same wherever the term is defined; where the form is defined at
    more points, that is noted as a condition of the algebra. Large terms, and those of arrays, stay
    as they are. beside: terms whose functions readers know, those of what was differentiated.
    """
    if _size_of(a, term) > LARGEST:
        return term
    term = _with_fractions(a, term)
    for _ in range(TIMES):
        best = _shortest(a, term, beside)
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


def _with_fractions(a: Algebra, term: Term) -> Term:
    """Return a term with the fractions and constants that its floats come of: 2/3 for 1 - 1/3."""
    found: dict[int, Term] = {}

    def number(value: Number) -> Term:
        near = known(value) if isinstance(value, float) else None
        if near is None and isinstance(value, float):
            ratio = simple(value)
            return a.number(value if ratio is None else ratio)
        return a.number(value) if near is None else a.constant(as_float(value))

    def call(t: Term, args: list[Term]) -> Term:
        return PLAIN[t.operation.name](a, *args) if t.operation.name in PLAIN else a.call(
            t.operation, args, t.attributes, t.shape)

    for one in a.table.of([term]):
        if one.is_call(*PLAIN):
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


def _shortest(a: Algebra, term: Term, beside: Sequence[Term]) -> Term:
    parts = a.table.of([term])
    if term.kind not in (SUM, PRODUCT):
        return term
    if any(t.shape or t.kind == ARRAY or t.is_call("where")
                                   for t in parts):
        return term
    seen_before = {*a.table.of(beside)}
    familiar = {*parts, *seen_before}
    functions = {t.operation.name for t in familiar if t.kind == CALL}
    powers = _powers(a, parts)
    squares = SQUARES if functions.intersection([*SQUARES[1], *SQUARES[2]]) else SQUARES[:1]

    try:
        long = {*LONG.findall(_text(a, term))}
    except GradcliError:
        return term

    def cost(one: Term) -> float:
        inside = a.table.of([one])
        calls = [t for t in inside if t.kind == CALL and t not in familiar]
        text = _text(a, one)
        found = _size(a, one, text) + LONG_NUMBER * len({*LONG.findall(text)} - long)
        if any(t.operation.name not in functions for t in calls):
            found *= NEW_FUNCTIONS
        else:
            found += NEW_CALL * len(calls)
        return found * NESTED if any(_is_nested(t) for t in inside) else found

    names = a.table.names(parts)
    before = dict(a.conditions)
    best, size, conditions = term, cost(term), before
    values = None
    seen = {term.number}
    for way, kept in [(way, kept) for way in squares for kept in ((), powers)[:1 + bool(powers)]]:
        a.conditions = dict(before)
        for form in _forms(a, term, Canonical(a, way, kept, seen_before)):
            if form.number in seen:
                continue
            seen.add(form.number)
            try:
                shorter = cost(form)
            except GradcliError:
                continue
            if shorter < size:
                values = values or _values(a, term, names)
                if _agree(values, _values(a, form, names)):
                    best, size, conditions = form, shorter, dict(a.conditions)
    a.conditions = conditions
    return best


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


def length(a: Algebra, term: Term) -> float:
    """Return the number of characters of a term's text but for blanks."""
    return _size(a, term, _text(a, term))


def _text(a: Algebra, term: Term) -> str:
    """Return a term as text. Raises E0803 for more than LONGEST characters."""
    (text,) = Gradcli(a, paper=True).texts([term], {}, longest=LONGEST)
    return text


def _size(a: Algebra, term: Term, text: str) -> float:
    return len(text) - text.count(" ") + (BRACKETS * text.count("(") if all(
        t.kind != CALL and not _is_divided(t) for t in a.table.of([term])) else 0)


def _is_nested(term: Term) -> bool:
    """Return whether a term is a quotient with a sum in which something is divided."""
    return _is_divided(term) and any(
        e.kind == NUMBER and whole(e.value) is not None and b.kind == SUM and any(
            _is_divided(t) or _is_fraction(c) for t, c in b.items) for b, e in term.items)


def _is_divided(term: Term) -> bool:
    return term.kind == PRODUCT and (_is_fraction(term.value) or any(
        e.kind == NUMBER and e.value < 0 for _, e in term.items))


def _is_fraction(value: Number) -> bool:
    return isinstance(value, Fraction) and value.denominator > 1


# --------------------------------------------------------------------------------------------------
# Forms.

def _forms(a: Algebra, term: Term, canonical: Canonical) -> Iterator[Term]:
    """Yield the forms of a term, as far as they are not too long."""
    try:
        canonical.find_roots(term)
        yield from _of_factors(a, canonical.of(term), canonical)
        yield from _of_groups(a, term, canonical)
    except (TooLong, GradcliError):     # too many summands, too many characters
        return


def _of_groups(a: Algebra, term: Term, canonical: Canonical) -> Iterator[Term]:
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
        best = [min(forms, key=lambda t: length(a, t)) for forms in ways]
        yield a.times(outer, canonical.term((ONE, shared)), a.add(*best))


def _of_factors(a: Algebra, factors: Factors, canonical: Canonical) -> Iterator[Term]:
    """Yield the ways to write one quotient."""
    for one in _ways(a, factors, canonical):
        yield canonical.term(one)
        yield from _numerators(a, one, canonical)


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
    for inside in ({}, {n: e for n, e in atoms.items() if e > 0}, below, atoms):
        inner = monomials.scaled(total, ONE, tuple(sorted(inside.items())))
        outer = canonical.term((ONE, {n: e for n, e in rest.items() if n not in inside}))
        for c, d in ((coefficient, ONE), (ONE, coefficient)):
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
