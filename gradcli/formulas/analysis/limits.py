"""One-sided limits and asymptotes of terms, by their expansions."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, inf, nan

from gradcli.base.lazy import quiet
from gradcli.engine.sweeps.series import AtKink, NoSeries, Series, guarded, polynomial
from gradcli.formulas.analysis.constants import exactly, sign_of, sine, turns, value_of
from gradcli.formulas.analysis.growth import (
    TERMS,
    UNIT,
    Expansion,
    NoExpansion,
    Scale,
    analytic,
    composed,
    level,
)
from gradcli.formulas.terms import HALF, MINUS, NAME, ONE, PRODUCT, SUM, ZERO
from gradcli.ops import TABLE
from gradcli.ops.kinds import EDGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term

    Rule = Callable[..., Expansion]

RIGHT, LEFT = 1, -1


class Limit:
    """What a term tends to. value: a float, infinite or not, NaN where nothing is known. exact:
    the limit as a term, where it is finite. proved: by an expansion whose coefficients are exact.
    sort: "limit", "undefined" where the term has no value near the point, "unknown". order: of a
    limit 0 or infinity the power of the distance, where it is one.
    """

    __slots__ = ("exact", "proved", "sort", "value")

    def __init__(self, value: float, exact: Term | None = None, proved: bool = False,
                 sort: str = "limit") -> None:
        self.value, self.exact, self.proved, self.sort = value, exact, proved, sort


def limit(a: Algebra, term: Term, name: str, at: Term | float, side: int) -> Limit:
    """Return the limit of a term where a name tends to a number from the right or left, or to
    infinity (`at` is inf or -inf).
    """
    found = Limit(nan, sort="unknown")
    for size in TERMS:
        scale = Scale(a, size)
        try:
            with quiet():
                return _read(scale, expansion(scale, term, name, at, side))
        except NoExpansion as problem:
            found = Limit(nan, sort=problem.sort)
        except (RecursionError, ArithmeticError, ValueError):
            pass
        if found.sort == "undefined":
            break
    return found


def scaling(a: Algebra, term: Term, name: str, end: float) -> Term | None:
    """Return the exponential that a term grows with at an end of the line, None for none: divided
    by it, a sum of exponentials has no overflow there.
    """
    scale = Scale(a)
    try:
        with quiet():
            _, m = expansion(scale, term, name, end, RIGHT).lead()
    except (NoExpansion, ArithmeticError, ValueError):
        return None
    parts = []
    for c, n in m.exponent:
        if n.exponent or any(p != 0 for p in n.powers[1:]):
            return None
        size = a.table.name(name)
        if end < 0:
            size = a.negative(size)
        parts.append(a.times(c, a.power(size, a.number(n.powers[0]))))
    return a.call(TABLE["exp"], [a.add(*parts)], None, None) if parts else None


def expansion(scale: Scale, term: Term, name: str, at: Term | float, side: int) -> Expansion:
    """Return the expansion of a term where a name tends to a point: by the variable that is
    1/|x - a|, or |x| where x is infinite. Raises NoExpansion.
    """
    a = scale.algebra
    if isinstance(at, float):
        seed = Expansion(scale, [(a.number(Fraction(1 if at > 0 else -1)), level(0))])
    else:
        seed = scale.constant(at) + Expansion(scale, [
            (a.number(Fraction(side)), level(0, MINUS))])
    return Expanded(scale, {name: seed}).of(term)


def _read(s: Scale, x: Expansion) -> Limit:
    a = s.algebra
    if not x.terms:
        if x.rest is None:
            return Limit(0.0, a.number(ZERO), s.sure)
        if s.grows(x.rest) < 0:
            return Limit(0.0, a.number(ZERO), s.sure)
        raise NoExpansion
    c, m = x.lead()
    sort = s.grows(m)
    if sort > 0:
        return Limit(inf if s.sign(c) > 0 else -inf, None, s.sure)
    if sort < 0:
        return Limit(0.0, a.number(ZERO), s.sure)
    exact = exactly(a, c)
    return Limit(value_of(a, exact), exact, s.sure)


class Expanded:
    """Expansions of terms. seeds: those of the names."""

    __slots__ = ("found", "scale", "seeds")

    def __init__(self, scale: Scale, seeds: Mapping[str, Expansion]) -> None:
        self.scale = scale
        self.seeds = seeds
        self.found: dict[int, Expansion | NoExpansion] = {}

    def of(self, term: Term) -> Expansion:
        """Return the expansion of a term. Raises NoExpansion."""
        for t in self.scale.algebra.table.of([term]):
            if t.number not in self.found:
                try:
                    self.found[t.number] = self._made(t)
                except NoExpansion as problem:
                    self.found[t.number] = problem
        return self._known(term)

    def _known(self, term: Term) -> Expansion:
        made = self.found[term.number]
        if isinstance(made, NoExpansion):
            raise made
        return made

    def _made(self, t: Term) -> Expansion:
        s, a = self.scale, self.scale.algebra
        if not a.table.names([t]):
            if t.shape:
                raise NoExpansion
            return s.constant(exactly(a, t))
        if t.kind == NAME:
            return self.seeds[t.value]
        if t.kind == SUM:
            total = s.number(Fraction(0)) if t.value == 0 else s.constant(a.number(t.value))
            for one, c in t.items:
                total = total + self._known(one).times(a.number(c))
            return total
        if t.kind == PRODUCT:
            product: Expansion | None = None
            for base, e in t.items:
                factor = self._power(base, e)
                product = factor if product is None else product * factor
            assert product is not None
            return product.times(a.number(t.value)) if t.value != 1 else product
        if t.is_call("where"):
            return self._chosen(t)
        rule = RULES.get(t.operation.name)
        if rule is not None:
            return rule(*[self._known(x) for x in t.args])
        if len(t.args) == 1:
            return analytic(self._known(t.args[0]), lambda c: taylor(a, t, c))
        raise NoExpansion

    def _power(self, base: Term, e: Term) -> Expansion:
        if not self.scale.algebra.table.names([e]):
            return self._known(base).to_power(e)
        return (self._known(e) * self._known(base).logarithm()).exponential()

    def _chosen(self, t: Term) -> Expansion:
        condition, first, second = t.args
        return self._known(first if self._holds(condition) else second)

    def _holds(self, t: Term) -> bool:
        """Return whether a condition holds near the point. Raises NoExpansion."""
        if t.is_call("logical_and", "logical_or"):
            held = [self._holds(x) for x in t.args]
            return all(held) if t.is_call("logical_and") else any(held)
        if t.is_call("logical_not"):
            return not self._holds(t.args[0])
        if not t.is_call("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
            raise NoExpansion
        one, other = [self._known(x) for x in t.args]
        sign = sign_near(one - other)
        name = t.operation.name
        return {"less": sign < 0, "less_equal": sign <= 0, "greater": sign > 0,
                "greater_equal": sign >= 0, "equal": sign == 0, "not_equal": sign != 0}[name]


def sign_near(x: Expansion) -> int:
    """Return the sign of what is expanded, near the point. Raises NoExpansion."""
    return 0 if x.is_zero() else x.scale.sign(x.lead()[0])


def taylor(a: Algebra, call: Term, at: Term) -> list[Term]:
    """Return the coefficients of a function of one argument at a number, as floats or what they
    stand for. Raises NoExpansion where it is not analytic.
    """
    op = call.operation
    point = value_of(a, at)
    try:
        if op.kink is not None and bool(op.kink(point)):
            raise NoExpansion
        made = op(polynomial(point, 1.0))
        found = guarded(made, TERMS[-1]) if isinstance(made, Series) else [float(made)]
    except (NoSeries, AtKink, TypeError, AttributeError, *EDGE):
        raise NoExpansion from None
    if any(v - v != 0 for v in found):
        raise NoExpansion
    first = exactly(a, a.call(op, [at], None, None))
    return [first, *[a.constant(float(v)) for v in found[1:]]]


# --- functions ----------------------------------------------------------------------------------


def _exp(x: Expansion) -> Expansion:
    return x.exponential()


def _log_to(base: int) -> Rule:
    def rule(x: Expansion) -> Expansion:
        a = x.scale.algebra
        log = a.call(TABLE["log"], [a.number(Fraction(base))], None, None)
        return x.logarithm().times(a.power(log, a.number(MINUS)))

    return rule


def _one(x: Expansion) -> Expansion:
    return x.scale.number(1)


def _half(x: Expansion) -> Expansion:
    return x.times(x.scale.algebra.number(HALF))


def _inverse(x: Expansion) -> Expansion:
    return x.to_power(x.scale.algebra.number(MINUS))


def _root(x: Expansion) -> Expansion:
    return x.to_power(x.scale.algebra.number(HALF))


def _bounded(x: Expansion) -> Expansion:
    """Return what is bounded, with nothing else known."""
    return Expansion(x.scale, [], UNIT)


def is_large(x: Expansion) -> bool:
    """Return whether what is expanded goes to infinity."""
    return bool(x.terms) and x.scale.grows(x.terms[0][1]) > 0


def _circle(shift: Fraction) -> Rule:
    """Return the rule of sin(x + shift*pi)."""
    def coefficients(a: Algebra, at: Term, size: int) -> list[Term]:
        angle = turns(at)
        cycle: list[Term | None] = [None if angle is None else sine(a, angle + shift + k * HALF)
                                    for k in range(4)]
        if None in cycle:
            names = ("sin", "cos") if shift == 0 else ("cos", "sin")
            one, other = [a.call(TABLE[name], [at], None, None) for name in names]
            signs = (1, 1, -1, -1) if shift == 0 else (1, -1, -1, 1)
            cycle = [a.times(a.number(Fraction(sign)), t)
                     for sign, t in zip(signs, (one, other, one, other), strict=True)]
        return [a.times(a.number(Fraction(1, factorial(k))), c)
                for k in range(size + 1) for c in [cycle[k % 4]] if c is not None]

    def rule(x: Expansion) -> Expansion:
        if is_large(x) or (x.rest is not None and not x.terms):
            return _bounded(x)
        return analytic(x, lambda c: coefficients(x.scale.algebra, c, x.scale.size))

    return rule


SIN, COS = _circle(Fraction(0)), _circle(HALF)


def _quotient(above: Rule, below: Rule) -> Rule:
    return lambda x: above(x) * _inverse(below(x))


def _atan(x: Expansion) -> Expansion:
    s, a = x.scale, x.scale.algebra
    if is_large(x):
        quarter = a.times(a.number(HALF * sign_near(x)), a.table.constant("pi"))
        return s.constant(quarter) - _atan(_inverse(x))
    large, constant, small = x.split()
    del large
    if s.sign(constant):
        # atan(c + e) is atan(c) + atan(e/(1 + c*(c + e))).
        first = exactly(a, a.call(TABLE["atan"], [constant], None, None))
        below = s.number(1) + (s.constant(constant) + small).times(constant)
        return s.constant(first) + _atan(small * _inverse(below))
    total, power, square = small, small, small * small
    for k in range(1, s.size // 2 + 1):
        power = power * square
        total = total + power.times(a.number(Fraction((-1)**k, 2 * k + 1)))
    bound = (power * square)
    first_left = bound.terms[0][1] if bound.terms else bound.rest
    return Expansion(s, total.terms, total._larger(total.rest, first_left))


def _asin(x: Expansion) -> Expansion:
    s = x.scale
    inside = s.number(1) - x * x
    if inside.is_zero():
        a = s.algebra
        return s.constant(a.times(a.number(HALF * sign_near(x)), a.table.constant("pi")))
    if sign_near(inside) < 0:
        raise NoExpansion("undefined")
    return _atan(x * _inverse(_root(inside)))


def _acos(x: Expansion) -> Expansion:
    s, a = x.scale, x.scale.algebra
    return s.constant(a.times(a.number(HALF), a.table.constant("pi"))) - _asin(x)


def _sinh(x: Expansion) -> Expansion:
    return _half(_exp(x) - _exp(-x))


def _cosh(x: Expansion) -> Expansion:
    return _half(_exp(x) + _exp(-x))


def _tanh(x: Expansion) -> Expansion:
    two = _exp(x + x)
    return (two - _one(x)) * _inverse(two + _one(x))


def _asinh(x: Expansion) -> Expansion:
    if sign_near(x) < 0:
        return -_asinh(-x)
    return (x + _root(x * x + _one(x))).logarithm()


def _acosh(x: Expansion) -> Expansion:
    return (x + _root(x * x - _one(x))).logarithm()


def _atanh(x: Expansion) -> Expansion:
    return _half(((_one(x) + x) * _inverse(_one(x) - x)).logarithm())


def _absolute(x: Expansion) -> Expansion:
    return -x if sign_near(x) < 0 else x


def _sign(x: Expansion) -> Expansion:
    return x.scale.number(sign_near(x))


def _larger(x: Expansion, y: Expansion) -> Expansion:
    return y if sign_near(x - y) < 0 else x


def _floor(x: Expansion) -> Expansion:
    """Return the next whole number below: x and something bounded where x is infinite."""
    s, a = x.scale, x.scale.algebra
    if is_large(x):
        return Expansion(s, x.terms, x._larger(x.rest, UNIT))
    _, constant, small = x.split()
    number = value_of(a, constant)
    near = round(number)
    sign, proved = sign_of(a, a.add(constant, a.number(Fraction(-near))))
    s.sure &= proved
    if sign:
        return s.number(Fraction(int(number // 1)))
    return s.number(Fraction(near - 1 if sign_near(small) < 0 else near))


def _cbrt(x: Expansion) -> Expansion:
    third = x.scale.algebra.number(Fraction(1, 3))
    if x.is_zero():
        return x
    return -((-x).to_power(third)) if sign_near(x) < 0 else x.to_power(third)


def _sigmoid(x: Expansion) -> Expansion:
    return _inverse(_one(x) + _exp(-x))


def _erfc(x: Expansion) -> Expansion:
    """Return exp(-x^2)/(x*sqrt(pi))*(1 - 1/(2*x^2) + ...) for x to infinity; DLMF 7.12.1."""
    s, a = x.scale, x.scale.algebra
    if sign_near(x) < 0:
        return s.number(2) - _erfc(-x)
    factor, coefficients = ONE, []
    for k in range(s.size + 1):
        coefficients.append(a.number(factor))
        factor *= -Fraction(2 * k + 1, 2)
    series = composed(_inverse(x * x), coefficients)
    root = a.power(a.table.constant("pi"), a.number(-HALF))
    return (_exp(-(x * x)) * _inverse(x) * series).times(root)


def _lgamma(x: Expansion) -> Expansion:
    """Return Stirling's series for x to infinity; DLMF 5.11.1."""
    s, a = x.scale, x.scale.algebra
    if not (is_large(x) and sign_near(x) > 0):
        raise NoExpansion
    log = x.logarithm()
    two_pi = a.times(a.number(Fraction(2)), a.table.constant("pi"))
    first = (x - s.number(HALF)) * log - x + s.constant(a.times(
        a.number(HALF), a.call(TABLE["log"], [two_pi], None, None)))
    inverse = _inverse(x)
    cube = inverse * inverse * inverse
    made = first + inverse.times(a.number(Fraction(1, 12)))
    return Expansion(s, made.terms, made._larger(made.rest, cube.lead()[1]))


def _or_analytic(rule: Rule, name: str) -> Rule:
    """Return the rule for what is infinite; elsewhere the series of the function."""
    def either(x: Expansion) -> Expansion:
        a = x.scale.algebra
        if is_large(x):
            return rule(x)
        call = a.table.call(TABLE[name], [a.table.name("_")], None, ())
        return analytic(x, lambda c: taylor(a, call, c))

    return either


RULES: dict[str, Rule] = {
    "exp": _exp, "log": lambda x: x.logarithm(), "log2": _log_to(2), "log10": _log_to(10),
    "exp2": lambda x: _exp(x.times(x.scale.algebra.call(
        TABLE["log"], [x.scale.algebra.number(Fraction(2))], None, None))),
    "log1p": lambda x: (_one(x) + x).logarithm(), "expm1": lambda x: _exp(x) - _one(x),
    "sin": SIN, "cos": COS, "tan": _quotient(SIN, COS), "cot": _quotient(COS, SIN),
    "sec": lambda x: _inverse(COS(x)), "csc": lambda x: _inverse(SIN(x)),
    "asin": _asin, "acos": _acos, "atan": _atan,
    "sinh": _sinh, "cosh": _cosh, "tanh": _tanh, "coth": lambda x: _inverse(_tanh(x)),
    "sech": lambda x: _inverse(_cosh(x)), "csch": lambda x: _inverse(_sinh(x)),
    "asinh": _asinh, "acosh": _acosh, "atanh": _atanh,
    "abs": _absolute, "sign": _sign, "relu": lambda x: x if sign_near(x) > 0 else (
        Expansion(x.scale, [])),
    "maximum": _larger, "minimum": lambda x, y: -_larger(-x, -y),
    "floor": _floor, "ceil": lambda x: -_floor(-x), "cbrt": _cbrt,
    "hypot": lambda x, y: _root(x * x + y * y),
    "sigmoid": _sigmoid, "softplus": lambda x: (_one(x) + _exp(x)).logarithm(),
    "erf": _or_analytic(lambda x: _one(x) - _erfc(x), "erf"),
    "erfc": _or_analytic(_erfc, "erfc"),
    "lgamma": _or_analytic(_lgamma, "lgamma"),
    "gamma": _or_analytic(lambda x: _exp(_lgamma(x)), "gamma")}
"""By the name of the operation, what its series at a number does not tell; others have only that.
"""
