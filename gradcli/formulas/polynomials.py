"""Polynomials in atoms, with rational coefficients: sums of products of powers.

An atom is a number that stands for a name, a call, a root or an exponential; what is known of it
the caller knows. A monomial is a sorted tuple of (atom, exponent) with exponents that are not 0;
they may be negative or fractions, but for division.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product as pairs
from math import gcd, isqrt, lcm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    Monomial: TypeAlias = tuple[tuple[int, Fraction], ...]
    Polynomial: TypeAlias = dict[Monomial, Fraction]

ONE: Monomial = ()

MOST = 60
"""More summands make no formula that anybody reads."""
LARGEST = 10**9
"""Coefficients with larger numerators or denominators neither."""


class TooLong(Exception):
    """A polynomial with more than MOST summands, or a coefficient beyond LARGEST."""


def constant(value: Fraction | int) -> Polynomial:
    """Return a number as a polynomial."""
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


def plus(*polynomials: Polynomial) -> Polynomial:
    """Return the sum of polynomials. Raises TooLong."""
    found: Polynomial = {}
    for one in polynomials:
        for monomial, coefficient in one.items():
            found[monomial] = found.get(monomial, Fraction(0)) + coefficient
    return _bounded({m: c for m, c in found.items() if c})


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a*b. Raises TooLong."""
    found: Polynomial = {}
    for (m, c), (n, d) in pairs(a.items(), b.items()):
        key = joined(m, n)
        found[key] = found.get(key, Fraction(0)) + c * d
    return _bounded({m: c for m, c in found.items() if c})


def power(a: Polynomial, n: int) -> Polynomial:
    """Return a^n for a whole n that is not negative. Raises TooLong."""
    if n > MOST:
        raise TooLong
    return reduce(times, [a] * n, constant(1))


def _bounded(a: Polynomial) -> Polynomial:
    if len(a) > MOST or any(
            abs(c.numerator) > LARGEST or c.denominator > LARGEST for c in a.values()):
        raise TooLong
    return a


def content(a: Polynomial) -> Fraction:
    """Return the largest number that leaves whole coefficients, of which the first is positive."""
    found = Fraction(gcd(*[c.numerator for c in a.values()]),
                     lcm(*[c.denominator for c in a.values()]))
    return -found if a[leading(a)] < 0 else found


def common(polynomials: Iterable[Monomial]) -> Monomial:
    """Return the monomial of the smallest exponents, of which one that is not there is 0."""
    least: dict[int, Fraction] = {}
    ways = [dict(m) for m in polynomials]
    for atom in {a for way in ways for a in way}:
        least[atom] = min([way.get(atom, Fraction(0)) for way in ways])
    return tuple(sorted([item for item in least.items() if item[1]]))


def scaled(a: Polynomial, factor: Fraction, monomial: Monomial = ONE) -> Polynomial:
    """Return a*factor*monomial."""
    return {joined(m, monomial): c * factor for m, c in a.items()}


def leading(a: Polynomial) -> Monomial:
    """Return the first monomial, by powers of the atoms in turn: an order that products keep."""
    atoms = sorted({atom for m in a for atom, _ in m})
    return max(a, key=lambda m: [dict(m).get(atom, 0) for atom in atoms])


def divided(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """Return a/b where b divides a, else None. Exponents are not negative."""
    found: Polynomial = {}
    atoms = sorted({atom for m in (*a, *b) for atom, _ in m})

    def first(p: Polynomial) -> Monomial:
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


def substituted(a: Polynomial, atom: int, square: Polynomial) -> Polynomial:
    """Return a polynomial with a polynomial in place of the square of an atom. Raises TooLong."""
    parts = []
    for monomial, coefficient in a.items():
        exponent = dict(monomial).get(atom, Fraction(0))
        n = int(exponent // 2) if exponent.denominator == 1 and exponent > 1 else 0
        left = joined(monomial, ((atom, Fraction(-2 * n)),)) if n else monomial
        parts.append(times({left: coefficient}, power(square, n)))
    return plus(*parts)


# --------------------------------------------------------------------------------------------------
# Factors: whole roots of polynomials in one atom, squares of others.

def factored(a: Polynomial) -> list[tuple[Polynomial, int]]:
    """Return the factors of a primitive polynomial with their exponents: linear ones with rational
    roots of one in one atom, what such a one is a power of, and what is left.
    """
    atoms = {atom for m in a for atom, _ in m}
    if len(atoms) != 1 or any(e.denominator != 1 or e < 0 for m in a for _, e in m):
        return _as_square(a)
    (atom,) = atoms
    found: dict[tuple[Fraction, Fraction], int] = {}
    rest = a
    while (root := _root(_dense(rest, atom))) is not None:
        linear: Polynomial = {((atom, Fraction(1)),): Fraction(root.denominator)}
        if root:
            linear[ONE] = Fraction(-root.numerator)
        quotient = divided(rest, linear)
        assert quotient is not None
        rest = quotient
        key = Fraction(root.denominator), Fraction(-root.numerator)
        found[key] = found.get(key, 0) + 1
    out = [({m: c for m, c in ((((atom, Fraction(1)),), p), (ONE, q)) if c}, n)
           for (p, q), n in found.items()]
    if rest != constant(1):
        out += _as_square(rest)
    return out


def _as_square(a: Polynomial) -> list[tuple[Polynomial, int]]:
    """Return a polynomial of three summands, such as x^2 - 2*x*y + y^2, as a square if it is one.
    """
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
    p, q = isqrt(coefficient.numerator), isqrt(coefficient.denominator)
    if Fraction(p * p, q * q) != coefficient:
        return None
    return tuple([(atom, e / 2) for atom, e in monomial]), Fraction(p, q)


def _dense(a: Polynomial, atom: int) -> list[Fraction]:
    """Return the coefficients of a polynomial in one atom, the highest first."""
    by_degree = {int(dict(m).get(atom, 0)): c for m, c in a.items()}
    top = max(by_degree)
    return [by_degree.get(k, Fraction(0)) for k in range(top, -1, -1)] if top <= MOST else []


MOST_DIVISORS = 2_000
"""Candidates for roots: p/q of divisors of the last and the first coefficient."""


def _root(coefficients: list[Fraction]) -> Fraction | None:
    """Return a rational root of a polynomial with whole coefficients, None if there is none."""
    if len(coefficients) < 2:
        return None
    if coefficients[-1] == 0:
        return Fraction(0)
    ends = [_divisors(abs(int(c))) for c in (coefficients[-1], coefficients[0])]
    if len(ends[0]) * len(ends[1]) > MOST_DIVISORS:
        return None
    for p, q in pairs(*ends):
        for root in (Fraction(p, q), Fraction(-p, q)):
            if reduce(lambda value, c: value * root + c, coefficients) == 0:
                return root
    return None


def _divisors(n: int) -> list[int]:
    if n > 10**6:
        return [1]
    small = [k for k in range(1, isqrt(n) + 1) if n % k == 0]
    return sorted({*small, *[n // k for k in small]})


def degree(monomial: Monomial, atoms: Mapping[int, object]) -> Fraction:
    """Return the sum of the exponents of some atoms."""
    return sum([e for atom, e in monomial if atom in atoms], Fraction(0))
