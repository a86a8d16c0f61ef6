"""Sums of monomials in atoms, with rational coefficients.

An atom is a number that stands for a name, a call, a root or an exponential; what is known of it
the caller knows. A monomial is a sorted tuple of (atom, exponent) with exponents that are not 0;
they may be negative or fractions, but for division.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product as pairs
from math import gcd, lcm

from gradcli.formulas.analysis.polynomials import divided as divided_by
from gradcli.formulas.analysis.polynomials import rational_zeros, rooted, simple_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    Monomial: TypeAlias = tuple[tuple[int, Fraction], ...]
    Monomials: TypeAlias = dict[Monomial, Fraction]

ONE: Monomial = ()

MOST = 60
"""More summands make no formula that anybody reads."""
LARGEST = 10**9
"""Coefficients with larger numerators or denominators neither."""


class TooLong(Exception):
    """A sum with more than MOST summands, or a coefficient beyond LARGEST."""


def constant(value: Fraction | int) -> Monomials:
    """Return a number as a sum."""
    return {ONE: Fraction(value)} if value else {}


def joined(a: Monomial, b: Monomial) -> Monomial:
    """Return the product of two monomials."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, exponent in b:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    return tuple(sorted([item for item in powers.items() if item[1]]))


def inverse(a: Monomial) -> Monomial:
    """Return 1/a."""
    return tuple([(atom, -exponent) for atom, exponent in a])


def plus(*sums: Monomials) -> Monomials:
    """Return the sum of sums. Raises TooLong."""
    found: Monomials = {}
    for one in sums:
        for monomial, coefficient in one.items():
            found[monomial] = found.get(monomial, Fraction(0)) + coefficient
    return _bounded({m: c for m, c in found.items() if c})


def times(a: Monomials, b: Monomials) -> Monomials:
    """Return a*b. Raises TooLong."""
    found: Monomials = {}
    for (m, c), (n, d) in pairs(a.items(), b.items()):
        key = joined(m, n)
        found[key] = found.get(key, Fraction(0)) + c * d
    return _bounded({m: c for m, c in found.items() if c})


def power(a: Monomials, n: int) -> Monomials:
    """Return a^n for a whole n that is not negative. Raises TooLong."""
    if n > MOST:
        raise TooLong
    return reduce(times, [a] * n, constant(1))


def _bounded(a: Monomials) -> Monomials:
    if len(a) > MOST or any(
            abs(c.numerator) > LARGEST or c.denominator > LARGEST for c in a.values()):
        raise TooLong
    return a


def content(a: Monomials) -> Fraction:
    """Return the largest number that leaves whole coefficients, of which the first is positive."""
    found = Fraction(gcd(*[c.numerator for c in a.values()]),
                     lcm(*[c.denominator for c in a.values()]))
    return -found if a[leading(a)] < 0 else found


def common(monomials: Iterable[Monomial]) -> Monomial:
    """Return the monomial of the smallest exponents, of which one that is not there is 0."""
    least: dict[int, Fraction] = {}
    ways = [dict(m) for m in monomials]
    for atom in {a for way in ways for a in way}:
        least[atom] = min([way.get(atom, Fraction(0)) for way in ways])
    return tuple(sorted([item for item in least.items() if item[1]]))


def scaled(a: Monomials, factor: Fraction, monomial: Monomial = ONE) -> Monomials:
    """Return a*factor*monomial."""
    return {joined(m, monomial): c * factor for m, c in a.items()}


def leading(a: Monomials) -> Monomial:
    """Return the first monomial, by powers of the atoms in turn: an order that products keep."""
    atoms = sorted({atom for m in a for atom, _ in m})
    return max(a, key=lambda m: [dict(m).get(atom, 0) for atom in atoms])


def divided(a: Monomials, b: Monomials) -> Monomials | None:
    """Return a/b where b divides a, else None. Exponents are not negative."""
    found: Monomials = {}
    atoms = sorted({atom for m in (*a, *b) for atom, _ in m})

    def first(p: Monomials) -> Monomial:
        return max(p, key=lambda m: [dict(m).get(atom, 0) for atom in atoms])

    head = first(b)
    rest = a
    while rest:
        top = first(rest)
        quotient = joined(top, inverse(head))
        if any(exponent < 0 for _, exponent in quotient) or len(found) > MOST:
            return None
        factor = rest[top] / b[head]
        found[quotient] = factor
        rest = plus(rest, scaled(b, -factor, quotient))
    return found


def substituted(a: Monomials, atom: int, square: Monomials) -> Monomials:
    """Return a sum with another in place of the square of an atom. Raises TooLong."""
    parts = []
    for monomial, coefficient in a.items():
        exponent = dict(monomial).get(atom, Fraction(0))
        n = int(exponent // 2) if exponent.denominator == 1 and exponent > 1 else 0
        left = joined(monomial, ((atom, Fraction(-2 * n)),)) if n else monomial
        parts.append(times({left: coefficient}, power(square, n)))
    return plus(*parts)


# --------------------------------------------------------------------------------------------------
# Factors: those of polynomials in one atom with rational zeros, squares of others.

HIGHEST = 24
"""Polynomials of higher degrees are not factored."""


def factored(a: Monomials) -> list[tuple[Monomials, int]]:
    """Return the factors of a primitive sum with their exponents."""
    atoms = {atom for m in a for atom, _ in m}
    if len(atoms) != 1 or any(
            e.denominator != 1 or not 0 <= e <= HIGHEST for m in a for _, e in m):
        return _as_square(a)
    (atom,) = atoms
    by_degree = {int(dict(m).get(atom, 0)): c for m, c in a.items()}
    out = []
    for part, n in simple_parts([by_degree.get(k, Fraction(0)) for k in range(1 + max(by_degree))]):
        rest = part
        for x in rational_zeros(part):
            rest = divided_by(rest, [-x, Fraction(1)])[0]
            out.append((_primitive([-x, Fraction(1)], atom), n))
        if len(rest) > 1:
            out += [(p, n * k) for p, k in _as_square(_primitive(rest, atom))]
    return out


def _primitive(coefficients: Sequence[Fraction], atom: int) -> Monomials:
    """Return a polynomial in one atom, from its constant on, with whole coefficients."""
    found = {((atom, Fraction(k)),) if k else ONE: c for k, c in enumerate(coefficients) if c}
    return scaled(found, 1 / content(found))


def _as_square(a: Monomials) -> list[tuple[Monomials, int]]:
    """Return a sum of three summands, such as x^2 - 2*x*y + y^2, as a square if it is one."""
    if len(a) == 3:
        for middle in a:
            ends = [_root_of(m, c) for m, c in a.items() if m != middle]
            if None in ends:
                continue
            (m, c), (n, d) = [end for end in ends if end is not None]
            if joined(m, n) == middle and abs(a[middle]) == 2 * c * d:
                return [({m: c, n: d if a[middle] > 0 else -d}, 2)]
    return [(a, 1)]


def _root_of(monomial: Monomial, coefficient: Fraction) -> tuple[Monomial, Fraction] | None:
    """Return the square root of a monomial with whole exponents; None without a rational one."""
    if coefficient <= 0 or any(e % 2 for _, e in monomial):
        return None
    outside, inside = rooted(coefficient)
    return (tuple([(atom, e / 2) for atom, e in monomial]), outside) if inside == 1 else None
