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
from gradcli.formulas import polynomials
from gradcli.formulas.factors import Canonical
from gradcli.formulas.polynomials import TooLong
from gradcli.formulas.rewrites import rebuilt
from gradcli.formulas.terms import (
    ARRAY,
    CALL,
    HALF,
    NAME,
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
    from gradcli.formulas.polynomials import Polynomial
    from gradcli.formulas.terms import Number, Term

LARGEST, LONGEST = 120, 1_000
"""A term of more parts or characters stays as it is."""

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


def textbook(a: Algebra, term: Term, beside: Sequence[Term] = ()) -> Term:
    """Return a term of numbers in the shortest form that is known: factored, expanded, over one
    denominator. Its value is the same wherever the term is defined; where the form is defined at
    more points, that is noted as a condition of the algebra. Large terms, and those of arrays, stay
    as they are. beside: terms whose functions readers know, those of what was differentiated.
    """
    if _is_large(a, term):
        return term
    term = _with_fractions(a, term)
    for _ in range(TIMES):
        best = _shortest(a, term, beside)
        if best is term:
            break
        term = best
    return term


def _is_large(a: Algebra, term: Term) -> bool:
    """Return whether a term has more than LARGEST parts, without a walk over all of them."""
    found = {term.number}
    pending = [term.number]
    while pending and len(found) <= LARGEST:
        for number in a.table.args[pending.pop()]:
            if number not in found:
                found.add(number)
                pending.append(number)
    return len(found) > LARGEST


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
                values = values or _values(a, term)
                if _agree(values, _values(a, form)):
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
    except TooLong:
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
    shared = {n: e for n, e in polynomials.common([
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
    for change in (_with_numbers_raised, _exponentials_above, _with_partners, _of_double_angle,
                   _hyperbolic, _one_denominator, _roots_above):
        changed = change(a, factors, canonical)
        if changed is not None and changed != factors:
            yield changed
            both = _one_denominator(a, changed, canonical)
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
             for p, n in polynomials.factored(canonical.sums[number])]
    yield a.times(canonical.term((coefficient, rest)), *[
        a.power(canonical.sum_term(p), a.number(e)) for p, e in split])
    total = canonical.expanded(ONE, above)
    atoms = {n: e for n, e in rest.items() if n not in canonical.sums}
    below = {n: e for n, e in atoms.items() if e < 0}
    for inside in ({}, {n: e for n, e in atoms.items() if e > 0}, below, atoms):
        inner = polynomials.scaled(total, ONE, tuple(sorted(inside.items())))
        outer = canonical.term((ONE, {n: e for n, e in rest.items() if n not in inside}))
        for c, d in ((coefficient, ONE), (ONE, coefficient)):
            yield a.times(a.number(c), outer, canonical.sum_term(
                polynomials.scaled(inner, d)))


# --------------------------------------------------------------------------------------------------
# Changes of factors. Each returns None where there is nothing to change.

def _one_denominator(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Multiply out the sums below the line."""
    coefficient, powers = factors
    below = {n: -e for n, e in powers.items() if n in canonical.sums and e < 0
             and e.denominator == 1}
    if len(below) < 2:
        return None
    least = min(below.values())
    product = canonical.of_sum(canonical.expanded(ONE, {n: e / least for n, e in below.items()}))
    rest = {n: e for n, e in powers.items() if n not in below}
    return coefficient / product[0]**int(least), {
        **rest, **{n: -e * least for n, e in product[1].items()}}


def _roots_above(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Write 1/sqrt(u/v) as sqrt(u/v)*v/u."""
    coefficient, powers = factors
    table = a.table.all
    for number, e in powers.items():
        if e < 0 and e.denominator > 1 and table[number].kind == PRODUCT:
            n = e.numerator // e.denominator
            c, inner = canonical.of(table[number])
            changed = {**powers, number: e - n}
            for base, exponent in inner.items():
                changed[base] = changed.get(base, ZERO) + n * exponent
            return coefficient * c**n, {b: x for b, x in changed.items() if x}
    return None


def _exponentials_above(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Write 1/exp(u) as exp(-u)."""
    coefficient, powers = factors
    changed = {}
    for number, e in powers.items():
        term = a.table.all[number]
        if term.is_call("exp") and e < 0:
            turned = a.times(a.number(e), term.args[0])
            number, e = a.table.call(TABLE["exp"], [turned], None, ()).number, ONE
        changed[number] = e
    return coefficient, changed


def _with_numbers_raised(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Write 3^(2*x) as 9^x."""
    coefficient, powers = factors
    changed: dict[int, Fraction] = {}
    for number, e in powers.items():
        term = a.table.all[number]
        if term.kind == PRODUCT and e.denominator == 1 and e > 1 and len(term.items) == 1:
            ((base, exponent),) = term.items
            n = whole(base.value) if base.kind == NUMBER else None
            if n is not None and e < LARGEST_POWER and n**int(e) < LARGEST_BASE:
                number, e = a.power(a.number(base.value**int(e)), exponent).number, ONE
        changed[number] = e
    return coefficient, changed


LARGEST_BASE, LARGEST_POWER = 1000, 10

PARTNERS = {("sin", "cos"): ("tan", "cot"), ("sinh", "cosh"): ("tanh", "coth")}
"""Functions to their quotients."""


def _with_partners(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Write sin/cos as tan, and 1/cos and 1/sin by names of their own."""
    coefficient, powers = factors
    changed = dict(powers)
    for (number, e), (name, other) in _pairs(a, powers, ("sin", "cos"), ("sinh", "cosh")):
        n = changed.get(other, ZERO)
        if e == -n:
            del changed[number], changed[other]
            tangent, cotangent = PARTNERS[name]
            function = tangent if e > 0 else cotangent
            changed[_call(a, function, a.table.all[number].args[0])] = abs(e)
    if changed == powers:
        for number, e in powers.items():
            term = a.table.all[number]
            if e < 0 and term.is_call("sin", "cos", "tan", "sinh", "cosh", "tanh"):
                del changed[number]
                function = {"sin": "csc", "cos": "sec", "tan": "cot"}[term.operation.name[:3]]
                changed[_call(a, function + term.operation.name[3:], term.args[0])] = -e
    return coefficient, changed


def _pairs(a: Algebra, powers: Mapping[int, Fraction], *names: tuple[str, str]
           ) -> Iterator[tuple[tuple[int, Fraction], tuple[tuple[str, str], int]]]:
    """Yield ((the number of a function, its exponent), (the names, that of its partner)) for two
    functions of one argument among the bases.
    """
    for number, e in powers.items():
        term = a.table.all[number]
        for one, other in names:
            if term.is_call(one):
                partner = a.call(TABLE[other], term.args, None, None)
                if partner.number in powers:
                    yield (number, e), ((one, other), partner.number)


def _call(a: Algebra, name: str, argument: Term) -> int:
    return a.call(TABLE[name], [argument], None, None).number


def _of_double_angle(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Write sin(u)*cos(u) as sin(2*u)/2, and 1 - 2*sin(u)^2 as cos(2*u); the same of sinh, cosh.
    """
    coefficient, powers = factors
    changed = dict(powers)
    for (number, e), ((one, _), other) in _pairs(a, powers, ("sin", "cos"), ("sinh", "cosh")):
        if e == powers[other] and e.denominator == 1:
            double = a.times(a.number(Fraction(2)), a.table.all[number].args[0])
            del changed[number], changed[other]
            changed[_call(a, one, double)] = e
            coefficient /= 2**int(e)
    for number, e in powers.items():
        found = _double_cosine(a, canonical.sums.get(number, {}))
        if found is not None and e.denominator == 1:
            del changed[number]
            changed[found[1]] = changed.get(found[1], ZERO) + e
            coefficient *= found[0]**int(e)
    return coefficient, changed


def _double_cosine(a: Algebra, total: Polynomial) -> tuple[Fraction, int] | None:
    """Return (c, the number of cos(2*u)) for c*(1 - 2*sin(u)^2) and its like, else None."""
    if len(total) != 2:
        return None
    for monomial, c in total.items():
        if len(monomial) == 1 and monomial[0][1] == 2:
            term = a.table.all[monomial[0][0]]
            constant = total.get(polynomials.ONE, ZERO)
            for name, factor, function in (("sin", -2, "cos"), ("cos", -2, "cos"),
                                           ("sinh", 2, "cosh"), ("cosh", -2, "cosh")):
                if term.is_call(name) and c == factor * constant:
                    double = a.times(a.number(Fraction(2)), term.args[0])
                    sign = -1 if name in ("cos", "cosh") else 1
                    return constant * sign, _call(a, function, double)
    return None


def _hyperbolic(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
    """Write exp(u)/(exp(2*u) + 1) as 1/(2*cosh(u)), and its like."""
    coefficient, powers = factors
    for number, e in powers.items():
        total = canonical.sums.get(number, {})
        if len(total) != 2 or polynomials.ONE not in total or e.denominator > 1:
            continue
        constant = total[polynomials.ONE]
        ((monomial, c),) = [item for item in total.items() if item[0]]
        (base, m), *more = monomial
        term = a.table.all[base]
        if more or not term.is_call("exp") or abs(c) != abs(constant) or (
                powers.get(base, ZERO) != -m * e / 2):
            continue
        rest = {n: x for n, x in powers.items() if n not in (number, base)}
        half = a.times(a.number(m / 2), term.args[0])
        function = _call(a, "cosh" if c == constant else "sinh", half)
        rest[function] = rest.get(function, ZERO) + e
        return coefficient * (2 * c)**int(e), rest
    return None


# --------------------------------------------------------------------------------------------------
# Values, to see that a form is right.

POINTS = (0.37, 1.83, -0.61, 5.2, -2.9, 0.071)
"""Each name has these values in turn, each beginning elsewhere."""
NEAR = 1e-7


def _values(a: Algebra, term: Term) -> list[float]:
    """Return the values of a term at points; NaN where it has none."""
    return [value_at(a, term, k) for k in range(2 * len(POINTS))]


def value_at(a: Algebra, term: Term, k: int) -> float:
    """Return the value of a term of numbers at a point of its own for each k; NaN where it has
    none.
    """
    found: dict[int, float] = {}
    names = 0
    try:
        for t in a.table.of([term]):
            if t.kind == NUMBER:
                value = as_float(t.value)
            elif t.kind == NAME and t.attributes:
                value = {"pi": math.pi, "e": math.e}[t.value]
            elif t.kind == NAME:
                names += 1
                place = k + sum(map(ord, t.value)) * (k // len(POINTS))
                value = POINTS[place % len(POINTS)] * (1 + 0.01 * (sum(map(ord, t.value)) % 7))
            elif t.kind == SUM:
                value = as_float(t.value) + sum([found[p.number] * as_float(c) for p, c in t.items])
            elif t.kind == PRODUCT:
                value = as_float(t.value)
                for b, e in t.items:
                    power = found[b.number] ** found[e.number]
                    value *= math.nan if isinstance(power, complex) else power
            else:
                value = float(t.operation.on_scalars([found[x.number] for x in t.args]))
            found[t.number] = value
    except (ArithmeticError, ValueError, TypeError):
        return math.nan
    return found[term.number]


def _agree(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether values are the same wherever the first are numbers."""
    return all(abs(x - y) <= NEAR * max(abs(x), 1e-6)
               for x, y in zip(first, second, strict=True) if math.isfinite(x))
