"""Equations that are solved exactly: a rational function of one function of x is 0.

x^3 - 3*x, exp(2*x) - 3*exp(x) + 2, log(x)^2 - 1 and sin(x) - 1/2 are polynomials in x, exp(x),
log(x) and sin(x). Each zero of the polynomial is a value of that function, which is inverted.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from gradcli.base.lazy import np
from gradcli.formulas.analysis import polynomials
from gradcli.formulas.analysis.constants import exactly, from_surd, sign_of, value_of
from gradcli.formulas.analysis.polynomials import HIGHEST
from gradcli.formulas.analysis.ranges import ranges_over
from gradcli.formulas.rewrites import rebuilt
from gradcli.formulas.terms import HALF, MINUS, NAME, NUMBER, ONE, PRODUCT, SUM, ZERO, whole
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.analysis.polynomials import Polynomial
    from gradcli.formulas.terms import Term

    Quotient = tuple[Polynomial, Polynomial]

DEEPEST = 12


class Unsolved(Exception):
    """The equation has no exact solution by these means."""


class Solution:
    """A number as a term, or None, with bounds. period: of those that come again."""

    __slots__ = ("exact", "high", "low", "period")

    def __init__(self, exact: Term | None, low: float, high: float, period: Term | None = None
                 ) -> None:
        self.exact, self.low, self.high, self.period = exact, low, high, period


def solved(a: Algebra, term: Term, name: str, depth: int = 0) -> list[Solution]:
    """Return all x at which a term is 0. Raises Unsolved."""
    if depth > DEEPEST or len(a.table.of([term])) > 300:
        raise Unsolved
    if not a.table.names([term]):
        raise Unsolved
    term = rewritten(a, term, EXPONENTIALS)
    kernel = Kernel(a, term, name)
    above, _ = kernel.quotient(term)
    if not above:
        raise Unsolved
    found: list[Solution] = []
    for zero in polynomials.zeros(above):
        value = Solution(from_surd(a, zero.exact), _down(zero.low), _up(zero.high)) if (
            zero.exact is not None) else _rooted(a, above, zero)
        found += kernel.inverted(value, depth)
    return found


def reduced(a: Algebra, term: Term, name: str) -> Term:
    """Return a rational function of x as the quotient of two polynomials with nothing in common;
    another term as it is.
    """
    term = rewritten(a, term, PLAIN)
    if term.kind not in (SUM, PRODUCT) or len(a.table.of([term])) > 300:
        return term
    try:
        kernel = Kernel(a, term, name)
        if kernel.base.kind != NAME or kernel.step != 1:
            return term
        above, below = kernel.quotient(term)
    except Unsolved:
        return term
    shorter = len(above) + len(below) < MANY or not above
    if not shorter or not any(e.kind == NUMBER and e.value < 0 for t in a.table.of([term])
                              for _, e in (t.items if t.kind == PRODUCT else ())):
        return term
    x = a.table.name(name)
    made = [a.sum_of([(a.power(x, a.number(Fraction(k))), c) for k, c in enumerate(p)])
            for p in (above, below)]
    return a.times(made[0], a.power(made[1], a.number(MINUS)))


MANY = 8


def rewritten(a: Algebra, term: Term, rules: Mapping[str, Callable[..., Term]]) -> Term:
    """Return a term with some operations written with others. rules: by their names."""
    if not any(t.is_call(*rules) for t in a.table.of([term])):
        return term
    found: dict[int, Term] = {}

    def call(old: Term, args: Sequence[Term]) -> Term:
        rule = rules.get(old.operation.name)
        return a.call(old.operation, args, old.attributes, old.shape) if rule is None else (
            rule(a, *args))

    for t in a.table.of([term]):
        found[t.number] = call(t, [found[x.number] for x in t.args]) if t.args else rebuilt(
            a, t, found, call)
    return found[term.number]


def _exponential(made: Callable[[Algebra, Term, Term], Term]) -> Callable[..., Term]:
    """Return the rule of a function made of exp(x) and exp(-x)."""
    def rule(a: Algebra, x: Term) -> Term:
        return made(a, *[a.call(TABLE["exp"], [u], None, None) for u in (x, a.negative(x))])

    return rule


def _call(a: Algebra, name: str, x: Term) -> Term:
    return a.call(TABLE[name], [x], None, None)


def _over(a: Algebra, x: Term, y: Term) -> Term:
    return a.times(x, a.power(y, a.number(MINUS)))


def _sum(a: Algebra, x: Term, y: Term, sign: int) -> Term:
    return a.sum_of([(x, HALF), (y, sign * HALF)])


EXPONENTIALS: dict[str, Callable[..., Term]] = {name: _exponential(made) for name, made in {
    "sinh": lambda a, u, v: _sum(a, u, v, -1), "cosh": lambda a, u, v: _sum(a, u, v, 1),
    "tanh": lambda a, u, v: _over(a, _sum(a, u, v, -1), _sum(a, u, v, 1)),
    "coth": lambda a, u, v: _over(a, _sum(a, u, v, 1), _sum(a, u, v, -1)),
    "sech": lambda a, u, v: a.power(_sum(a, u, v, 1), a.number(MINUS)),
    "csch": lambda a, u, v: a.power(_sum(a, u, v, -1), a.number(MINUS)),
    "sigmoid": lambda a, u, v: a.power(a.add(a.number(ONE), v), a.number(MINUS)),
}.items()}
"""Functions of x made of exp(x) and exp(-x)."""

CIRCULAR: dict[str, Callable[..., Term]] = {
    "tan": lambda a, x: _over(a, _call(a, "sin", x), _call(a, "cos", x)),
    "cot": lambda a, x: _over(a, _call(a, "cos", x), _call(a, "sin", x)),
    "sec": lambda a, x: a.power(_call(a, "cos", x), a.number(MINUS)),
    "csc": lambda a, x: a.power(_call(a, "sin", x), a.number(MINUS))}
"""Functions of x made of sin(x) and cos(x)."""

PLAIN: dict[str, Callable[..., Term]] = {
    "one_minus_square": lambda a, x: a.sum_of([
        (a.number(ONE), ONE), (a.power(x, a.number(Fraction(2))), MINUS)])}
"""What derivative rules write in a form of their own."""


def _down(x: Fraction) -> float:
    return float(np.nextafter(float(x), -np.inf)) if x else 0.0


def _up(x: Fraction) -> float:
    return float(np.nextafter(float(x), np.inf)) if x else 0.0


def _rooted(a: Algebra, p: Polynomial, zero: polynomials.Zero) -> Solution:
    """Return a zero of a*x^n + b as a root; of another polynomial by its bounds alone."""
    n = len(p) - 1
    exact = None
    if not any(p[1:-1]):
        size = abs(p[0] / p[-1])
        root = a.power(a.number(size), a.number(Fraction(1, n)))
        exact = root if zero.high > 0 else a.negative(root)
    return Solution(exact, _down(zero.low), _up(zero.high))


class Kernel:
    """The one function of x that a term is a rational function of.

    base, exponent: as a power base^exponent with a rational exponent, of which all in the term are
    whole powers; for exp(u), base is that of exp(u/q).
    """

    __slots__ = ("algebra", "base", "name", "step")

    def __init__(self, a: Algebra, term: Term, name: str) -> None:
        self.algebra, self.name = a, name
        found: dict[Term, list[Fraction]] = {}
        self._collect(term, found)
        self.base = self._only(found)
        powers = found[self.base]
        self.step = Fraction(1, lcm(*[p.denominator for p in powers]))

    def _only(self, found: dict[Term, list[Fraction]]) -> Term:
        bases = list(found)
        if len(bases) == 2:
            one, other = bases
            names = {t.operation.name: t for t in bases if t.is_call("sin", "cos")}
            if len(names) == 2 and one.args == other.args:
                for name, own in (("sin", names["cos"]), ("cos", names["sin"])):
                    if all(p.denominator == 1 and p % 2 == 0 for p in found[own]):
                        return names[name]
        if len(bases) != 1:
            raise Unsolved
        return bases[0]

    def _power(self, t: Term, exponent: Fraction) -> tuple[Term, Fraction]:
        """Return a power as one of the function that it belongs to."""
        a = self.algebra
        if t.is_call("exp"):
            c, rest = a.split(t.args[0])
            if rest is not None and isinstance(c, Fraction) and rest.kind != SUM:
                return a.call(TABLE["exp"], [rest], None, None), c * exponent
        return t, exponent

    def _collect(self, term: Term, found: dict[Term, list[Fraction]]) -> None:
        a = self.algebra
        if not a.table.names([term]):
            if term.kind != NUMBER or not isinstance(term.value, Fraction):
                raise Unsolved
            return
        if term.kind == SUM:
            for t, c in term.items:
                if not isinstance(c, Fraction):
                    raise Unsolved
                self._collect(t, found)
            if not isinstance(term.value, Fraction):
                raise Unsolved
        elif term.kind == PRODUCT:
            if not isinstance(term.value, Fraction):
                raise Unsolved
            for b, e in term.items:
                if e.kind != NUMBER:
                    if b.kind != NUMBER and not (b.kind == NAME and b.attributes):
                        raise Unsolved
                    c, rest = a.split(e)
                    if rest is None or not isinstance(c, Fraction):
                        raise Unsolved
                    found.setdefault(a.power(b, rest), []).append(c)
                elif not isinstance(e.value, Fraction):
                    raise Unsolved
                elif whole(e.value) is not None and b.kind in (SUM, PRODUCT):
                    self._collect(b, found)
                else:
                    base, power = self._power(b, e.value)
                    found.setdefault(base, []).append(power)
        else:
            base, power = self._power(term, ONE)
            found.setdefault(base, []).append(power)

    def quotient(self, term: Term) -> Quotient:
        """Return a term as a quotient of two polynomials in the function."""
        a = self.algebra
        if term.kind == NUMBER:
            return polynomials.trimmed([term.value]), [ONE]
        if term.kind == SUM:
            total: Quotient = polynomials.trimmed([term.value]), [ONE]
            for t, c in term.items:
                p, q = self.quotient(t)
                total = self._checked(polynomials.plus(
                    polynomials.times(total[0], q), polynomials.times(p, total[1]), c),
                    polynomials.times(total[1], q) if total[1] != q else total[1]) if (
                    total[1] != q) else (polynomials.plus(total[0], p, c), q)
            return total
        if term.kind == PRODUCT:
            made: Quotient = [term.value], [ONE]
            for b, e in term.items:
                n = whole(e.value) if e.kind == NUMBER else None
                if n is not None and b.kind in (SUM, PRODUCT):
                    one = self._raised(self.quotient(b), n)
                elif e.kind == NUMBER:
                    one = self._monomial(*self._power(b, e.value))
                else:
                    c, rest = a.split(e)
                    assert rest is not None
                    assert isinstance(c, Fraction)
                    one = self._monomial(a.power(b, rest), c)
                made = self._checked(polynomials.times(made[0], one[0]),
                                     polynomials.times(made[1], one[1]))
            return made
        return self._monomial(*self._power(term, ONE))

    def _raised(self, one: Quotient, n: int) -> Quotient:
        if abs(n) * max(len(one[0]), len(one[1])) > HIGHEST + abs(n):
            raise Unsolved
        p, q = [polynomials.to_power(part, abs(n)) for part in one]
        return (p, q) if n > 0 else (q, p)

    def _monomial(self, base: Term, power: Fraction) -> Quotient:
        if base is not self.base:       # cos^2 is 1 - sin^2
            return self._raised(([ONE, ZERO, -ONE], [ONE]), int(power) // 2)
        n = power / self.step
        assert n.denominator == 1
        if abs(n) > HIGHEST:
            raise Unsolved
        one = [ZERO] * abs(int(n)) + [ONE]
        return (one, [ONE]) if n > 0 else ([ONE], one)

    def _checked(self, p: Polynomial, q: Polynomial) -> Quotient:
        if max(len(p), len(q)) > HIGHEST + 1:
            raise Unsolved
        shared = polynomials.common(p, q) if p and len(q) > 1 else []
        if len(shared) > 1:
            p, q = polynomials.divided(p, shared)[0], polynomials.divided(q, shared)[0]
        return p, q

    # --- back -------------------------------------------------------------------------------------

    def inverted(self, value: Solution, depth: int) -> list[Solution]:
        """Return all x at which the function has a value."""
        a = self.algebra
        if self.step != 1:
            n = int(1 / self.step)
            if value.high < 0 and (n % 2 == 0 or not self.base.is_call("exp")):
                return []
            value = self._applied(value, lambda t: a.power(t, a.number(Fraction(n))),
                                  lambda x: x**n)
        base = self.base
        if base.kind == NAME:
            return [value]
        if base.kind == PRODUCT:    # b^u
            (b, u), = base.items
            if value.high <= 0:
                return []
            log = a.call(TABLE["log"], [b], None, None)
            return self._inner(u, self._applied(
                self._log(value), lambda t: a.times(t, a.power(log, a.number(MINUS))),
                lambda x: x / value_of(a, log)), depth)
        if base.kind == SUM:
            return self._inner(base, value, depth)
        return self._of_call(base, value, depth)

    def _of_call(self, call: Term, value: Solution, depth: int) -> list[Solution]:
        a, name = self.algebra, call.operation.name
        if len(call.args) != 1:
            raise Unsolved
        (u,) = call.args
        if name == "exp":
            return self._inner(u, self._log(value), depth) if value.high > 0 else []
        if name in CIRCLE:
            return self._on_circle(name, u, value, depth)
        if name == "abs":
            if value.high < 0:
                return []
            if value.exact is not None and value.exact.is_number(0):
                return self._inner(u, value, depth)
            other = self._applied(value, a.negative, lambda x: -x)
            return [*self._inner(u, other, depth), *self._inner(u, value, depth)]
        if name not in INVERSES:
            raise Unsolved
        inverse, low, high = INVERSES[name]
        if not low < value.low or not value.high < high:
            if value.high < low or value.low > high:
                return []
            raise Unsolved
        op = TABLE[inverse]
        return self._inner(u, self._applied(
            value, lambda t: a.call(op, [t], None, None), lambda x: float(op.on_scalars([x]))),
            depth)

    def _log(self, value: Solution) -> Solution:
        a = self.algebra
        if value.low <= 0:
            raise Unsolved
        return self._applied(value, lambda t: a.call(TABLE["log"], [t], None, None),
                             lambda x: float(np.log(x)))

    def _on_circle(self, name: str, u: Term, value: Solution, depth: int) -> list[Solution]:
        """Return the angles of a sine, cosine or tangent: families with a period."""
        a = self.algebra
        if value.exact is None:
            raise Unsolved
        one = a.number(ONE)
        if name != "tan":
            edge = max(sign_of(a, a.add(value.exact, one))[0] * -1,
                       sign_of(a, a.add(value.exact, a.negative(one)))[0])
            if edge > 0:
                return []
        pi = a.table.constant("pi")
        first = exactly(a, a.call(TABLE[CIRCLE[name]], [value.exact], None, None))
        period = pi if name == "tan" else a.times(a.number(Fraction(2)), pi)
        angles = [first]
        if name == "sin":
            angles.append(a.add(pi, a.negative(first)))
        elif name == "cos":
            angles.append(a.negative(first))
        if value.exact.is_number(0):
            angles, period = [first], pi
        elif name != "tan" and (value.exact.is_number(1) or value.exact.is_number(-1)):
            angles = [first]
        coefficients = linear(a, u, self.name)
        if coefficients is None:
            raise Unsolved
        slope, shift = coefficients
        inverse = a.power(slope, a.number(MINUS))
        every = a.times(period, inverse)
        if value_of(a, every) < 0:
            every = a.negative(every)
        found = []
        for angle in angles:
            x = exactly(a, a.times(a.add(angle, a.negative(shift)), inverse))
            found.append(Solution(x, *_bounds(a, x), every))
        return found

    def _inner(self, u: Term, value: Solution, depth: int) -> list[Solution]:
        """Return all x at which an inner term has a value."""
        a = self.algebra
        if u.kind == NAME:
            return [value]
        if value.exact is not None:
            coefficients = linear(a, u, self.name)
            if coefficients is not None:
                slope, shift = coefficients
                x = exactly(a, a.times(a.add(value.exact, a.negative(shift)),
                                       a.power(slope, a.number(MINUS))))
                return [Solution(x, *_bounds(a, x))]
            if value.exact.kind == NUMBER and isinstance(value.exact.value, Fraction):
                return solved(a, a.add(u, a.negative(value.exact)), self.name, depth + 1)
            return self._of_square(u, value.exact, depth)
        raise Unsolved

    def _of_square(self, u: Term, value: Term, depth: int) -> list[Solution]:
        """Return the solutions of p*k^2 + q*k + r = v, or p*k + r = v, in a function k of x."""
        a = self.algebra
        kernel = Kernel(a, u, self.name)
        above, below = kernel.quotient(u)
        if len(below) != 1 or not 2 <= len(above) <= 3:
            raise Unsolved
        r, q, p = [*[c / below[0] for c in above], ZERO][:3]
        rest = a.add(a.number(r), a.negative(value))
        if p == 0:
            values = [a.times(rest, a.number(-1 / q))]
        else:
            inside = exactly(a, a.add(a.number(q * q), a.times(a.number(-4 * p), rest)))
            sign, proved = sign_of(a, inside)
            if not proved:
                raise Unsolved
            if sign < 0:
                return []
            root = a.power(inside, a.number(HALF))
            values = [a.times(a.sum_of([(a.number(-q), ONE), (root, Fraction(s))]),
                              a.number(1 / (2 * p))) for s in ((-1, 1) if sign else (1,))]
        return [x for v in values for x in kernel.inverted(
            Solution(v, *_bounds(a, v)), depth + 1)]

    def _applied(self, value: Solution, on_term: Callable[[Term], Term],
                 on_float: Callable[[float], float]) -> Solution:
        """Return a value with a rising or falling function applied to it."""
        a = self.algebra
        if value.exact is not None:
            made = exactly(a, on_term(value.exact))
            return Solution(made, *_bounds(a, made))
        ends = sorted([on_float(value.low), on_float(value.high)])
        room = 1e-15 * max(abs(ends[0]), abs(ends[1]))
        return Solution(None, ends[0] - room, ends[1] + room)


CIRCLE = {"sin": "asin", "cos": "acos", "tan": "atan"}
INF = float("inf")
QUARTER = 1.5707963267948966
INVERSES: dict[str, tuple[str, float, float]] = {
    "log": ("exp", -INF, INF), "sinh": ("asinh", -INF, INF), "asinh": ("sinh", -INF, INF),
    "tanh": ("atanh", -1.0, 1.0), "atanh": ("tanh", -INF, INF),
    "atan": ("tan", -QUARTER, QUARTER), "asin": ("sin", -QUARTER, QUARTER),
    "acos": ("cos", 0.0, 2 * QUARTER), "log1p": ("expm1", -INF, INF),
    "expm1": ("log1p", -1.0, INF), "sigmoid": ("logit", 0.0, 1.0)}
"""Function to its inverse, and between what its values lie."""


def _bounds(a: Algebra, term: Term) -> tuple[float, float]:
    (r,) = ranges_over(a.table, [term], {"": (0.0, 0.0)})
    if bool(r.never) or not bool(r.sure):
        raise Unsolved
    return float(r.low), float(r.high)


def linear(a: Algebra, u: Term, name: str) -> tuple[Term, Term] | None:
    """Return (slope, shift) of a linear function of a name, None of another."""
    x = a.table.name(name)
    parts: Sequence[tuple[Term, Term]] = [(u, a.number(ONE))]
    shift = a.number(ZERO)
    if u.kind == SUM:
        parts = [(t, a.number(c)) for t, c in u.items]
        shift = a.number(u.value)
    slope = a.number(ZERO)
    for t, c in parts:
        if not a.table.names([t]):
            shift = a.add(shift, a.times(t, c))
        elif t is x:
            slope = a.add(slope, c)
        elif t.kind == PRODUCT and [e for b, e in t.items if b is x and e.is_number(1)] and (
                sum([bool(a.table.names(item)) for item in t.items]) == 1):
            rest = a.times(t, a.power(x, a.number(MINUS)))
            slope = a.add(slope, a.times(rest, c))
        else:
            return None
    return None if slope.is_number(0) else (slope, shift)
