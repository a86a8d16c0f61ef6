"""Operations of the table that become something else in terms: arithmetic, and functions with
known values, inverses and symmetries.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas import numbers
from gradcli.formulas.choices import choice
from gradcli.formulas.numbers import HALF, MINUS, ONE, ZERO, as_float, whole
from gradcli.formulas.rewrites import EVEN, INVERSES, ODD, VALUES
from gradcli.formulas.terms import ARRAY, NUMBER, SUM
from gradcli.ops import TABLE
from gradcli.ops.describe import SPELLED
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.ops.kinds import Op


def _function(a: Algebra, op: Op, x: Term) -> Term | None:
    """A function of one argument."""
    name = op.name
    if x.kind == NUMBER:
        n = whole(x.value)
        value = VALUES.get((name, n)) if n is not None else None
        if value is not None:
            return a.number(Fraction(value))
        if isinstance(x.value, float) and op.floats is not None:
            return a.constant(float(op.on_scalars([x.value])))
    if x.op is not None:
        condition = INVERSES.get((name, x.op.name))
        if condition is not None:
            if condition:
                a.note(x.args[0], condition)
            return x.args[0]
    if name == "exp":
        return _exp(a, x)
    if name == "sign" and x.is_call("relu"):
        above = a.call(TABLE["greater"], [x.args[0], a.number(ZERO)], None, None)
        return choice(a, above, a.number(ONE), a.number(ZERO))
    return _with_sign_outside(a, op, x) if name in EVEN or name in ODD else None


def _with_sign_outside(a: Algebra, op: Op, x: Term) -> Term | None:
    """cos(-x) is cos(x), sin(-x) is -sin(x)."""
    coefficient, rest = a.split(x)
    if not coefficient < 0:
        return None
    turned = a.number(numbers.times(coefficient, MINUS)) if rest is None else a.negative(x)
    inner = a.call(op, [turned], None, None)
    return inner if op.name in EVEN else a.negative(inner)


def _exp(a: Algebra, x: Term) -> Term | None:
    """e^(a + n*log(b)) is e^a*b^n."""
    for term, coefficient in x.items if x.kind == SUM else ():
        if term.is_call("log") and whole(coefficient) is not None:
            rest = a.sum_of([(t, c) for t, c in x.items if t is not term])
            rest = a.add(rest, a.number(x.value))
            a.note(term.args[0], "> 0")
            return a.times(a.call(TABLE["exp"], [rest], None, None),
                           a.power(term.args[0], a.number(coefficient)))
    return None


def uniform(term: Term) -> float | None:
    """The number that a constant array holds all over."""
    if term.kind == ARRAY and term.value.size and term.value.dtype.kind == "f":
        first = term.value.ravel()[0]
        if bool(np.all(term.value == first)):
            return float(first)
    return None


def _elements(a: Algebra, *terms: Term) -> list[Term]:
    """Operands of arithmetic: an array of one number is this number; the shape is checked later."""
    found = []
    for term in terms:
        value = uniform(term)
        if term.is_call("broadcast_to") and term.args[0].shape == ():
            term = term.args[0]
        found.append(term if value is None else a.constant(value))
    return found


def _arithmetic(function: Callable[..., Term | None]) -> Callable[..., Term | None]:
    return lambda a, *terms: function(a, *_elements(a, *terms))


def _compared(name: str) -> Callable[..., Term | None]:
    def rule(a: Algebra, x: Term, y: Term) -> Term | None:
        if x.kind == NUMBER and y.kind == NUMBER:
            op = TABLE[name]
            return a.number(Fraction(int(op.on_scalars([as_float(x.value), as_float(y.value)]))))
        return None

    return rule


def _both(a: Algebra, x: Term, y: Term) -> Term | None:
    if x.kind == NUMBER:
        return y if x.value else x
    if y.kind == NUMBER:
        return x if y.value else y
    return x if x is y else None


def _either(a: Algebra, x: Term, y: Term) -> Term | None:
    if x.kind == NUMBER:
        return a.number(ONE) if x.value else y
    if y.kind == NUMBER:
        return a.number(ONE) if y.value else x
    return x if x is y else None


def _bessel(name: str) -> Callable[..., Term | None]:
    """J and Y of a negative whole order are those of the positive one, with a sign."""
    def rule(a: Algebra, n: Term, x: Term) -> Term | None:
        order = whole(n.value) if n.kind == NUMBER else None
        if order is None or order >= 0:
            return None
        found = a.call(TABLE[name], [a.number(Fraction(-order)), x], None, None)
        return a.negative(found) if order % 2 else found

    return rule


class _Traced:
    """A term, as what formulas are traced with."""

    __slots__ = ("algebra", "term")
    value = None

    def __init__(self, algebra: Algebra, term: Term) -> None:
        self.algebra = algebra
        self.term = term

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Any) -> _Traced:
        return _Traced(self.algebra, self.algebra.call(op, [self._term(x) for x in args], None,
                                                       None))

    def _term(self, x: Any) -> Term:
        return x.term if type(x) is _Traced else self.algebra.constant(float(x))

    def __add__(self, other: Any) -> _Traced:
        return _Traced(self.algebra, self.algebra.add(self.term, self._term(other)))

    def __sub__(self, other: Any) -> _Traced:
        return _Traced(self.algebra, self.algebra.sum_of([
            (self.term, ONE), (self._term(other), MINUS)]))

    def __mul__(self, other: Any) -> _Traced:
        return _Traced(self.algebra, self.algebra.times(self.term, self._term(other)))

    __rmul__ = __mul__


def _spelled(name: str) -> Callable[..., Term | None]:
    """What formulas write for a row that only rules use."""
    def rule(a: Algebra, n: Term, *terms: Term) -> Term | None:
        if n.kind != NUMBER:
            return None
        found: Term = SPELLED[name](as_float(n.value), *[_Traced(a, t) for t in terms]).term
        return found

    return rule


RULES: dict[str, Callable[..., Term | None]] = {
    "add": _arithmetic(lambda a, x, y: a.add(x, y)),
    "subtract": _arithmetic(lambda a, x, y: a.sum_of([(x, ONE), (y, MINUS)])),
    "multiply": _arithmetic(lambda a, x, y: a.times(x, y)),
    "divide": _arithmetic(
        lambda a, x, y: a.product_of([(x, a.number(ONE)), (y, a.number(MINUS))])),
    "negative": _arithmetic(lambda a, x: a.negative(x)),
    "positive": lambda a, x: x,
    "reciprocal": _arithmetic(lambda a, x: a.power(x, a.number(MINUS))),
    "unit_part": _arithmetic(lambda a, x, y: a.product_of([
        (x, a.number(ONE)), (a.call(TABLE["hypot"], (x, y), None, None), a.number(MINUS))])),
    "square": _arithmetic(lambda a, x: a.power(x, a.number(Fraction(2)))),
    "squared_difference": _arithmetic(lambda a, x, y: a.power(
        a.sum_of([(x, ONE), (y, MINUS)]), a.number(Fraction(2)))),
    "sqrt": _arithmetic(lambda a, x: a.power(x, a.number(HALF))),
    "rsqrt": _arithmetic(lambda a, x: a.power(x, a.number(-HALF))),
    "power": _arithmetic(lambda a, x, y: a.power(x, y)),
    "where": lambda a, c, x, y: choice(a, c, *_elements(a, x, y)),
    "logical_and": _both, "logical_or": _either,
    # The same term either way round.
    "hypot": lambda a, x, y: a.call(TABLE["hypot"], (y, x), None, None) if (
        y.number < x.number) else None,
    "besselj": _bessel("besselj"), "bessely": _bessel("bessely"),
    **{name: _spelled(name) for name in SPELLED},
    **{name: _compared(name) for name in (
        "equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
}


def rewritten(a: Algebra, op: Op, args: Sequence[Term]) -> Term | None:
    """What an elementwise operation on terms is written as; None where it stays a call."""
    rule = RULES.get(op.name)
    if rule is not None:
        return rule(a, *args)
    return _function(a, op, args[0]) if len(args) == 1 else None
