"""Expansions for a variable that grows without end: sums of monomials, the largest first.

A monomial is t^p0 * log(t)^p1 * log(log(t))^p2 * ... * exp(E), where E is a sum of monomials that
grow. Of two, the one whose logarithm grows faster is larger. An expansion is a list of monomials
with coefficients, and a bound of what was left out; a limit is read off the first.

Source: Gruntz, On Computing Limits in a Symbolic Manipulation System (1996); van der Hoeven,
Transseries and Real Differential Algebra (2006), chapters 2 and 4.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from math import factorial

from gradcli.formulas.analysis.constants import sign_of
from gradcli.formulas.terms import MINUS, NUMBER, ONE, ZERO, as_float, whole
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Number, Term

    Summand = tuple[Term, "Monomial"]

MOST_COMPARED = 30_000
LEVELS = 4
"""t and its logarithms: log(t), log(log(t)), ..."""
TERMS = (3, 8)
"""So many terms an expansion keeps; more where the first ones cancel."""
DEEPEST = 6
"""So many exponentials stand within each other."""


class NoExpansion(Exception):
    """What is asked for has no expansion here. sort: "unknown", or "undefined" where the function
    has no value near the point.
    """

    def __init__(self, sort: str = "unknown") -> None:
        super().__init__(sort)
        self.sort = sort


class Monomial:
    """powers: of t, log(t), log(log(t)), ...; exponent: summands of E, the largest first."""

    __slots__ = ("exponent", "powers")

    def __init__(self, powers: Sequence[Number], exponent: Sequence[Summand] = ()) -> None:
        self.powers = tuple(powers)
        self.exponent = tuple(exponent)

    def depth(self) -> int:
        """Return how many exponentials stand within each other."""
        return 1 + max([m.depth() for _, m in self.exponent]) if self.exponent else 0


UNIT = Monomial([ZERO] * LEVELS)


def level(k: int, power: Number = ONE) -> Monomial:
    """Return a power of t (0), log(t) (1), ..."""
    return Monomial([power if j == k else ZERO for j in range(LEVELS)])


class Scale:
    """Monomials with coefficients of an algebra: how they are compared and multiplied. size: so
    many terms an expansion keeps. sure: whether each coefficient that was taken for 0 was proved to
    be 0. left: so many comparisons may be made.
    """

    __slots__ = ("_signs", "algebra", "left", "size", "sure")

    def __init__(self, a: Algebra, size: int = TERMS[-1]) -> None:
        self.algebra = a
        self.size = size
        self.sure = True
        self.left = MOST_COMPARED
        self._signs: dict[Term, tuple[int, bool]] = {}

    # --- monomials --------------------------------------------------------------------------------

    def logarithm(self, m: Monomial) -> list[Summand]:
        """Return log(m) as summands, the largest first."""
        a = self.algebra
        found = list(m.exponent)
        for k, p in enumerate(m.powers):
            if p != 0:
                if k + 1 == LEVELS:
                    raise NoExpansion
                found.append((a.number(p), level(k + 1)))
        return self.sorted(found)

    def sorted(self, summands: Iterable[Summand]) -> list[Summand]:
        """Return summands with the largest first, and those of one monomial as one."""
        def order(x: Summand, y: Summand) -> int:
            return -self.compared(x[1], y[1])

        pending = sorted(summands, key=cmp_to_key(order))
        found: list[Summand] = []
        for c, m in pending:
            if found and self.compared(found[-1][1], m) == 0:
                found[-1] = self.algebra.add(found[-1][0], c), m
            else:
                found.append((c, m))
        return [(c, m) for c, m in found if self.sign(c) != 0]

    def compared(self, m: Monomial, n: Monomial) -> int:
        """Return 1 where m grows faster than n, -1 where slower, 0 where they are equal."""
        self.left -= 1
        if self.left < 0:
            raise NoExpansion
        if not m.exponent and not n.exponent:
            for p, q in zip(m.powers, n.powers, strict=True):
                if p != q:
                    return 1 if as_float(p) > as_float(q) else -1
            return 0
        ratio = self.product(m, self.power(n, MINUS))
        if not ratio.exponent and all(p == 0 for p in ratio.powers):
            return 0
        log = self.logarithm(ratio)
        return self.sign(log[0][0]) if log else 0

    def product(self, m: Monomial, n: Monomial) -> Monomial:
        """Return m*n."""
        return Monomial([_plus(p, q) for p, q in zip(m.powers, n.powers, strict=True)],
                        self.sorted([*m.exponent, *n.exponent]) if m.exponent and n.exponent
                        else m.exponent or n.exponent)

    def power(self, m: Monomial, p: Number) -> Monomial:
        """Return m^p."""
        a = self.algebra
        return Monomial([_times(p, q) for q in m.powers], [
            (a.times(a.number(p), c), n) for c, n in m.exponent])

    def grows(self, m: Monomial) -> int:
        """Return 1 where m goes to infinity, -1 where to 0, 0 where it is 1."""
        return self.compared(m, UNIT)

    def sign(self, c: Term) -> int:
        """Return the sign of a coefficient; what is 0 within rounding is remembered as unsure."""
        if c not in self._signs:
            self.left -= 20
            self._signs[c] = sign_of(self.algebra, c)
        sign, proved = self._signs[c]
        self.sure &= proved
        return sign

    # --- expansions -------------------------------------------------------------------------------

    def constant(self, c: Term) -> Expansion:
        """Return the expansion of a number."""
        return Expansion(self, [(c, UNIT)] if self.sign(c) else [])

    def number(self, value: int | Fraction) -> Expansion:
        """Return the expansion of an exact number."""
        return self.constant(self.algebra.number(Fraction(value)))


def _plus(p: Number, q: Number) -> Number:
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        return p + q
    total = as_float(p) + as_float(q)
    return ZERO if abs(total) < 1e-12 else total


def _times(p: Number, q: Number) -> Number:
    return p * q if isinstance(p, Fraction) and isinstance(q, Fraction) else (
        as_float(p) * as_float(q))


class Expansion:
    """Summands, the largest first, and `rest`: what was left out is at most a multiple of it; None
    where nothing was.
    """

    __slots__ = ("rest", "scale", "terms")

    def __init__(self, scale: Scale, terms: Iterable[Summand], rest: Monomial | None = None
                 ) -> None:
        self.scale = scale
        found = list(terms)
        if rest is not None:
            found = [(c, m) for c, m in found if scale.compared(m, rest) > 0]
        if len(found) > scale.size:
            rest = found[scale.size][1]
        self.terms = found[:scale.size]
        self.rest = rest
        if found and found[0][1].depth() > DEEPEST:
            raise NoExpansion

    def lead(self) -> Summand:
        """Return the first summand. Raises NoExpansion where it is not known."""
        if not self.terms:
            raise NoExpansion
        return self.terms[0]

    def is_zero(self) -> bool:
        """Return whether it is 0, with nothing left out."""
        return not self.terms and self.rest is None

    def __add__(self, other: Expansion) -> Expansion:
        rest = self._larger(self.rest, other.rest)
        return Expansion(self.scale, self.scale.sorted([*self.terms, *other.terms]), rest)

    def _larger(self, m: Monomial | None, n: Monomial | None) -> Monomial | None:
        if m is None or n is None:
            return m or n
        return m if self.scale.compared(m, n) >= 0 else n

    def times(self, c: Term) -> Expansion:
        """Return the product with a coefficient that is not 0."""
        a = self.scale.algebra
        return Expansion(self.scale, [(a.times(c, d), m) for d, m in self.terms], self.rest)

    def __neg__(self) -> Expansion:
        return self.times(self.scale.algebra.number(MINUS))

    def __sub__(self, other: Expansion) -> Expansion:
        return self + -other

    def __mul__(self, other: Expansion) -> Expansion:
        if self.is_zero() or other.is_zero():
            return Expansion(self.scale, [])
        s, a = self.scale, self.scale.algebra
        rest = None
        for one, two in ((self, other), (other, self)):
            if two.rest is not None:
                first = one.terms[0][1] if one.terms else one.rest
                assert first is not None
                rest = self._larger(rest, s.product(first, two.rest))
        return Expansion(s, s.sorted([
            (a.times(c, d), s.product(m, n)) for c, m in self.terms for d, n in other.terms]), rest)

    def shifted(self, m: Monomial) -> Expansion:
        """Return the product with a monomial."""
        s = self.scale
        return Expansion(s, [(c, s.product(m, n)) for c, n in self.terms],
                         None if self.rest is None else s.product(m, self.rest))

    def relative(self) -> tuple[Term, Monomial, Expansion]:
        """Return (c, m, small) with self = c*m*(1 + small)."""
        s, a = self.scale, self.scale.algebra
        c, m = self.lead()
        inverse = a.power(c, a.number(MINUS))
        rest = Expansion(s, self.terms[1:], self.rest)
        return c, m, rest.times(inverse).shifted(s.power(m, MINUS))

    def split(self) -> tuple[list[Summand], Term, Expansion]:
        """Return what grows, the constant, and what becomes small. Raises NoExpansion where the
        constant is not known.
        """
        s = self.scale
        if self.rest is not None and s.grows(self.rest) >= 0:
            raise NoExpansion
        large, constant, small = [], s.algebra.number(ZERO), []
        for c, m in self.terms:
            sort = s.grows(m)
            if sort > 0:
                large.append((c, m))
            elif sort < 0:
                small.append((c, m))
            else:
                constant = s.algebra.add(constant, c)
        return large, constant, Expansion(s, small, self.rest)

    def to_power(self, p: Term) -> Expansion:
        """Return self^p. Raises NoExpansion, as "undefined" for a root of what is negative."""
        s, a = self.scale, self.scale.algebra
        if p.kind != NUMBER:
            return self.logarithm().times(p).exponential() if s.sign(p) else s.number(1)
        n = whole(p.value)
        if n is not None and 0 < n < 4:     # of what is only bounded, too
            return self if n == 1 else self * self.to_power(a.number(Fraction(n - 1)))
        if self.is_zero():
            if p.value > 0:
                return self
            raise NoExpansion("undefined")
        c, m, small = self.relative()
        if s.sign(c) < 0 and n is None:
            raise NoExpansion("undefined")
        factor: Number = ONE
        coefficients = []
        for k in range(s.size + 1):
            coefficients.append(a.number(factor))
            factor = _times(factor, _times(_plus(p.value, Fraction(-k)), Fraction(1, k + 1)))
            if factor == 0:
                break
        whole_power = composed(small, coefficients, exact=factor == 0)
        factor_of = a.number(ONE) if c.is_number(1) else a.power(c, p)
        return whole_power.times(factor_of).shifted(s.power(m, p.value))

    def exponential(self) -> Expansion:
        """Return exp(self)."""
        s, a = self.scale, self.scale.algebra
        large, constant, small = self.split()
        powers: list[Number] = [ZERO] * LEVELS
        exponent = []
        for c, m in large:
            k = next((k for k in range(1, LEVELS) if s.compared(m, level(k)) == 0), None)
            if k is not None and c.kind == NUMBER:
                powers[k - 1] = _plus(powers[k - 1], c.value)
            else:
                exponent.append((c, m))
        factor = a.call(TABLE["exp"], [constant], None, None)
        series = composed(small, [a.number(Fraction(1, factorial(k))) for k in range(s.size + 1)])
        return series.times(factor).shifted(Monomial(powers, exponent))

    def logarithm(self) -> Expansion:
        """Return log(self). Raises NoExpansion, as "undefined" of what is not positive."""
        s, a = self.scale, self.scale.algebra
        if self.is_zero():
            raise NoExpansion("undefined")
        c, m, small = self.relative()
        if s.sign(c) < 0:
            raise NoExpansion("undefined")
        series = composed(small, [a.number(ZERO), *[
            a.number(Fraction(-(-1)**k, k)) for k in range(1, s.size + 1)]])
        first = Expansion(s, s.logarithm(m))
        if c.is_number(1):
            return first + series
        return first + s.constant(a.call(TABLE["log"], [c], None, None)) + series


def composed(small: Expansion, coefficients: Sequence[Term], exact: bool = False) -> Expansion:
    """Return the sum of c_k * small^k. exact: whether these are all coefficients there are."""
    s = small.scale
    total = s.constant(coefficients[0])
    if small.is_zero():
        return total
    power = s.number(1)
    for c in coefficients[1:]:
        power = power * small
        if s.sign(c):
            total = total + power.times(c)
        if not power.terms:
            return Expansion(s, total.terms, total._larger(total.rest, power.rest))
    if exact:
        return total
    power = power * small
    bound = power.terms[0][1] if power.terms else power.rest
    return Expansion(s, total.terms, total._larger(total.rest, bound))


def analytic(x: Expansion, coefficients: Callable[[Term], Sequence[Term]]) -> Expansion:
    """Return f(x) where x stays finite. coefficients: of the Taylor series of f at a number."""
    large, constant, small = x.split()
    if large:
        raise NoExpansion
    return composed(small, coefficients(constant))
