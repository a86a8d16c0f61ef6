"""Polynomials and rational functions with exact coefficients: their zeros, all of them.

A polynomial is a list of fractions, from the constant on. Zeros are isolated by Sturm's theorem, so
their number is proved; rational ones, and those of what is left of degree 2, are exact.

Source: von zur Gathen and Gerhard, Modern Computer Algebra (2013), sections 4.6 and 14.6; Yap,
Fundamental Problems of Algorithmic Algebra (2000), chapter 7.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import isqrt, lcm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Polynomial = list[Fraction]
    Surd = tuple[Fraction, Fraction, int]

ZERO, ONE = Fraction(0), Fraction(1)
HIGHEST = 60
"""Higher degrees are no polynomials for this."""
DIVISORS = 2000
"""So many candidates for a rational zero are tried."""
BITS = 60


class Zero:
    """A real zero: between low and high, which are equal for a rational one, so many times.
    exact: (a, b, c) where it is known to be a + b*sqrt(c).
    """

    __slots__ = ("exact", "high", "low", "times")

    def __init__(self, low: Fraction, high: Fraction, times: int, exact: Surd | None = None
                 ) -> None:
        self.low, self.high, self.times, self.exact = low, high, times, exact

    def __float__(self) -> float:
        return float((self.low + self.high) / 2)


def trimmed(p: Sequence[Fraction]) -> Polynomial:
    """Return a polynomial without leading zeros."""
    n = len(p)
    while n and p[n - 1] == 0:
        n -= 1
    return list(p[:n])


def plus(p: Polynomial, q: Polynomial, c: Fraction = ONE) -> Polynomial:
    """Return p + c*q."""
    n = max(len(p), len(q))
    return trimmed([(p[k] if k < len(p) else ZERO) + c * (q[k] if k < len(q) else ZERO)
                    for k in range(n)])


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return p*q."""
    found = [ZERO] * max(len(p) + len(q) - 1, 0)
    for i, a in enumerate(p):
        if a:
            for j, b in enumerate(q):
                found[i + j] += a * b
    return found


def to_power(p: Polynomial, n: int) -> Polynomial:
    """Return p^n for a whole n from 0 on."""
    found = [ONE]
    for _ in range(n):
        found = times(found, p)
    return found


def divided(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return quotient and rest."""
    rest, quotient = list(p), [ZERO] * max(len(p) - len(q) + 1, 0)
    while len(rest) >= len(q):
        factor, shift = rest[-1] / q[-1], len(rest) - len(q)
        quotient[shift] = factor
        for k, c in enumerate(q):
            rest[shift + k] -= factor * c
        rest = trimmed(rest[:-1])
    return quotient, rest


def monic(p: Polynomial) -> Polynomial:
    """Return a polynomial divided by its leading coefficient."""
    return [c / p[-1] for c in p]


def common(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the greatest common divisor."""
    while q:
        p, q = q, divided(p, q)[1]
        q = monic(q) if q else q
    return monic(p) if p else p


def derivative(p: Polynomial) -> Polynomial:
    """Return the derivative."""
    return [k * c for k, c in enumerate(p)][1:]


def at(p: Polynomial, x: Fraction) -> Fraction:
    """Return the value."""
    total = ZERO
    for c in reversed(p):
        total = total * x + c
    return total


def simple_parts(p: Polynomial) -> list[tuple[Polynomial, int]]:
    """Return polynomials with simple zeros only, each with how often its zeros are those of p
    (Yun's algorithm).
    """
    found = []
    shared = common(p, derivative(p))
    part, rest, n = divided(p, shared)[0], shared, 1
    while len(part) > 1:
        both = common(part, rest)
        alone = divided(part, both)[0]
        if len(alone) > 1:
            found.append((monic(alone), n))
        part, rest, n = both, divided(rest, both)[0] if rest else rest, n + 1
    return found


def zeros(p: Polynomial) -> list[Zero]:
    """Return all real zeros, in order."""
    found: list[Zero] = []
    for part, n in simple_parts(trimmed(p)):
        found += [Zero(z.low, z.high, n, z.exact) for z in _of_simple(part)]
    return sorted(found, key=float)


def _of_simple(p: Polynomial) -> list[Zero]:
    found = []
    for x in rational_zeros(p):
        found.append(Zero(x, x, 1, (x, ZERO, 0)))
        p = divided(p, [-x, ONE])[0]
    if len(p) == 3:
        return found + _of_square(p)
    if len(p) == 5 and p[1] == p[3] == 0:
        return found + _of_fourth(p)
    return found + _isolated(p) if len(p) > 1 else found


def rational_zeros(p: Polynomial) -> list[Fraction]:
    """Return the rational zeros, by the divisors of the first and the last coefficient."""
    found = []
    if p[0] == 0:
        found.append(ZERO)
        p = p[1:]
    scale = lcm(*[c.denominator for c in p])
    whole = [int(c * scale) for c in p]
    if len(p) == 2:
        return [*found, -p[0] / p[1]]
    if max(abs(whole[0]), abs(whole[-1])) > 10**7:
        return found
    above, below = _divisors(abs(whole[0])), _divisors(abs(whole[-1]))
    if len(above) * len(below) > DIVISORS:
        return found
    for x in sorted({Fraction(s * a, b) for a in above for b in below for s in (1, -1)}):
        if at(p, x) == 0:
            found.append(x)
    return found


def _divisors(n: int) -> list[int]:
    small = [k for k in range(1, isqrt(n) + 1) if n % k == 0]
    return sorted({*small, *[n // k for k in small]})


def rooted(x: Fraction) -> tuple[Fraction, int]:
    """Return (b, c) with sqrt(x) = b*sqrt(c), c whole with no square in it, for x >= 0."""
    n = x.numerator * x.denominator
    outside, k = 1, 2
    while k * k <= n and k < 10_000:
        while n % (k * k) == 0:
            n //= k * k
            outside *= k
        k += 1
    root = isqrt(n)
    if root * root == n:
        outside, n = outside * root, 1
    return Fraction(outside, x.denominator), n


def _of_square(p: Polynomial) -> list[Zero]:
    c, b, a = p
    inside = b * b - 4 * a * c
    if inside < 0:
        return []
    outer, root = rooted(inside)
    middle, half = -b / (2 * a), outer / (2 * a)
    if root == 1:
        return [Zero(x, x, 1, (x, ZERO, 0)) for x in (middle - half, middle + half)]
    return [_enclosed(p, (middle, s * half, root)) for s in (-1, 1)]


def _of_fourth(p: Polynomial) -> list[Zero]:
    """Return the zeros of a*x^4 + b*x^2 + c that are roots of fractions; isolate the others."""
    squares = _of_square([p[0], p[2], p[4]])
    if any(z.exact is None or z.exact[1] for z in squares):
        return _isolated(p)
    found = []
    for z in squares:
        assert z.exact is not None
        if z.exact[0] > 0:
            b, c = rooted(z.exact[0])
            found += [_enclosed(p, (ZERO, s * b, c)) for s in (-1, 1)]
    return found


def _enclosed(p: Polynomial, surd: Surd) -> Zero:
    """Return a surd with bounds of it."""
    scale = 2 ** (2 * BITS)
    a, b, c = surd
    root = Fraction(isqrt(c * scale), 2**BITS)
    ends = sorted([a + b * root, a + b * (root + Fraction(1, 2**BITS))])
    return Zero(ends[0], ends[1], 1, surd)


# --- isolating ----------------------------------------------------------------------------------


def _isolated(p: Polynomial) -> list[Zero]:
    """Return bounds of each zero of a polynomial with simple zeros, to all digits of a float."""
    chain = [p, derivative(p)]
    while len(chain[-1]) > 1:
        rest = divided(chain[-2], chain[-1])[1]
        if not rest:
            break
        size = abs(rest[-1])
        chain.append([-c / size for c in rest])
    bound = ONE + max([abs(c / p[-1]) for c in p[:-1]], default=ZERO)
    whole = Fraction(2) ** (int(bound).bit_length() + 1)
    found: list[Zero] = []
    pending = [(-whole, whole, _changes(chain, -whole), _changes(chain, whole))]
    while pending:
        low, high, below, above = pending.pop()
        if below - above == 0:
            continue
        if below - above == 1:
            found.append(_narrowed(p, low, high))
            continue
        middle = _off_zero(p, low, high)
        inner = _changes(chain, middle)
        pending += [(low, middle, below, inner), (middle, high, inner, above)]
    return found


def _off_zero(p: Polynomial, low: Fraction, high: Fraction) -> Fraction:
    middle = (low + high) / 2
    while at(p, middle) == 0:
        middle = (low + middle) / 2
    return middle


def _changes(chain: Sequence[Polynomial], x: Fraction) -> int:
    signs = [v > 0 for p in chain for v in [at(p, x)] if v]
    return sum([a != b for a, b in pairwise(signs)])


def _narrowed(p: Polynomial, low: Fraction, high: Fraction) -> Zero:
    left = at(p, low) > 0
    while high - low > abs(low + high) * Fraction(1, 2**54) and high - low > Fraction(1, 2**200):
        middle = (low + high) / 2
        value = at(p, middle)
        if value == 0:
            return Zero(middle, middle, 1, (middle, ZERO, 0))
        if (value > 0) == left:
            low = middle
        else:
            high = middle
    return Zero(low, high, 1)
