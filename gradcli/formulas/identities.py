"""Products written otherwise: with functions in place of others, sums below a line as one. Each
takes factors, as of `factors.Canonical`, and returns others of the same value, or None where there
is nothing to change.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas import monomials
from gradcli.formulas.terms import NUMBER, ONE, PRODUCT, ZERO, whole
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.factors import Canonical, Factors
    from gradcli.formulas.monomials import Monomials
    from gradcli.formulas.terms import Term


def one_denominator(a: Algebra, factors: Factors, canonical: Canonical) -> Factors | None:
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
                if exponent > 0 <= changed[base]:
                    a.note(table[base], "!= 0")
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
            if n is not None and n > 1 and e < LARGEST_POWER and n**int(e) < LARGEST_BASE:
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


def _double_cosine(a: Algebra, total: Monomials) -> tuple[Fraction, int] | None:
    """Return (c, the number of cos(2*u)) for c*(1 - 2*sin(u)^2) and its like, else None."""
    if len(total) != 2:
        return None
    for monomial, c in total.items():
        if len(monomial) == 1 and monomial[0][1] == 2:
            term = a.table.all[monomial[0][0]]
            constant = total.get(monomials.ONE, ZERO)
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
        if len(total) != 2 or monomials.ONE not in total or e.denominator > 1:
            continue
        constant = total[monomials.ONE]
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


CHANGES: tuple[Callable[[Algebra, Factors, Canonical], Factors | None], ...] = (
    _with_numbers_raised, _exponentials_above, _with_partners, _of_double_angle, _hyperbolic,
    one_denominator, _roots_above)
