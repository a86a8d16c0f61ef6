"""Terms without names: their values, their signs, and the circle's exact values."""

from __future__ import annotations

from fractions import Fraction
from math import e, factorial, inf, isfinite, nan, pi

from gradcli.formulas.analysis.polynomials import rooted
from gradcli.formulas.terms import (
    HALF,
    MINUS,
    NAME,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    ZERO,
    as_float,
    whole,
)
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term

NOTHING = 1e-12
"""What is smaller than so much of its parts, and not proved to be something, counts as 0."""


def value_of(a: Algebra, term: Term, names: Mapping[str, float] | None = None) -> float:
    """Return the value of a term as a float; NaN where there is none. names: the values of names of
    the file.
    """
    if term.kind == NUMBER:
        return as_float(term.value)
    found: dict[int, float] = {}
    for t in a.table.of([term]):
        try:    # a row that is for arrays alone has no function on floats: TypeError
            found[t.number] = _value(t, found, names or {})
        except (ArithmeticError, TypeError, ValueError):
            found[t.number] = float("nan")
    return found[term.number]


def _value(t: Term, found: dict[int, float], names: Mapping[str, float]) -> float:
    if t.kind == NUMBER:
        return as_float(t.value)
    if t.kind == NAME:
        return {"pi": pi, "e": e}[t.value] if t.attributes else names.get(t.value, float("nan"))
    if t.kind == SUM:
        total = as_float(t.value)
        for one, c in t.items:
            total += found[one.number] * as_float(c)
        return total
    if t.kind == PRODUCT:
        product = as_float(t.value)
        for base, exponent in t.items:
            b, n = found[base.number], found[exponent.number]
            if b < 0 and n != round(n):
                return nan
            product = product / b**-n if n < 0 else product * (b**0.5 if n == 0.5 else b**n)
        return product
    return float(t.operation.on_scalars([found[x.number] for x in t.args]))


def sign_of(a: Algebra, term: Term) -> tuple[int, bool]:
    """Return the sign of a term without names, and whether it is proved. A term that is 0 within
    rounding counts as 0, which is proved of the number 0 only.
    """
    if term.kind == NUMBER:
        return (term.value > 0) - (term.value < 0), True
    from gradcli.formulas.analysis.ranges import ranges_over  # loads NumPy

    (r,) = ranges_over(a.table, [term], {"": (0.0, 0.0)})
    low, high = float(r.low), float(r.high)
    if low > 0 or high < 0:
        return (1 if low > 0 else -1), bool(r.sure)
    value = value_of(a, term)
    if value != value or (high - low < inf and abs(value) <= NOTHING * _size(a, term)):
        return 0, False
    return (value > 0) - (value < 0), False


def _size(a: Algebra, term: Term) -> float:
    """Return how large the parts of a sum are."""
    if term.kind != SUM:
        return 1.0
    return max([1.0, abs(as_float(term.value)), *[
        abs(value_of(a, t) * as_float(c)) for t, c in term.items]])


# --- numbers a + b*sqrt(c) ----------------------------------------------------------------------

Surd = tuple[Fraction, Fraction, int]
LONGEST = 10**12


def surd_of(t: Term) -> Surd | None:
    """Return a sum, product or power of fractions and one square root as (a, b, c), which is
    a + b*sqrt(c); None of another term.
    """
    if t.kind == NUMBER:
        return (t.value, ZERO, 0) if isinstance(t.value, Fraction) else None
    found: Surd | None
    if t.kind == SUM:
        if not isinstance(t.value, Fraction):
            return None
        found = t.value, ZERO, 0
        for one, c in t.items:
            part = surd_of(one)
            if part is None or found is None or not isinstance(c, Fraction):
                return None
            found = _joined(found, (part[0] * c, part[1] * c, part[2]))
        return found
    if t.kind != PRODUCT or not isinstance(t.value, Fraction):
        return None
    found = t.value, ZERO, 0
    for base, exponent in t.items:
        part = surd_of(base)
        if part is None or exponent.kind != NUMBER or not isinstance(exponent.value, Fraction):
            return None
        part = _raised(part, exponent.value)
        if part is None or found is None:
            return None
        found = _product(found, part)
    return found if found is None or max(found[0].denominator, found[1].denominator, abs(
        found[0].numerator), abs(found[1].numerator)) < LONGEST else None


def _joined(x: Surd, y: Surd) -> Surd | None:
    if x[1] and y[1] and x[2] != y[2]:
        return None
    return x[0] + y[0], x[1] + y[1], x[2] if x[1] else y[2]


def _product(x: Surd, y: Surd) -> Surd | None:
    if x[1] and y[1] and x[2] != y[2]:
        if x[0] or y[0]:
            return None
        outside, c = rooted(Fraction(x[2] * y[2]))
        whole = x[1] * y[1] * outside
        return (whole, ZERO, 0) if c == 1 else (ZERO, whole, c)
    c = x[2] if x[1] else y[2]
    return x[0] * y[0] + x[1] * y[1] * c, x[0] * y[1] + x[1] * y[0], c


def _raised(x: Surd, p: Fraction) -> Surd | None:
    """Return a power with a whole exponent, or the root of a fraction."""
    if p.denominator == 2 and not x[1]:
        if x[0] < 0 or (x[0] == 0 and p < 0) or x[0].numerator * x[0].denominator > LONGEST:
            return None
        outside, c = rooted(x[0]) if x[0] else (ZERO, 1)
        root = (outside, ZERO, 0) if c == 1 else (ZERO, outside, c)
        return _raised(root, Fraction(p.numerator))
    if p.denominator != 1 or abs(p) > 12:
        return None
    if p < 0:
        norm = x[0] * x[0] - x[1] * x[1] * x[2]
        if norm == 0:
            return None
        x, p = (x[0] / norm, -x[1] / norm, x[2]), -p
    found: Surd | None = (ONE, ZERO, 0)
    for _ in range(p.numerator):
        found = None if found is None else _product(found, x)
    return found


def from_surd(a: Algebra, s: Surd) -> Term:
    """Return the term of a + b*sqrt(c)."""
    if not s[1]:
        return a.number(s[0])
    return a.sum_of([(a.number(s[0]), ONE), (
        a.power(a.number(Fraction(s[2])), a.number(HALF)), s[1])])


# --- the circle ---------------------------------------------------------------------------------

SINES = {Fraction(0): (ZERO, 1), Fraction(1, 6): (HALF, 1), Fraction(1, 4): (HALF, 2),
         Fraction(1, 3): (HALF, 3), Fraction(1, 2): (ONE, 1)}
"""Of the angle as a fraction of pi: (b, c) of the sine b*sqrt(c)."""


def turns(term: Term) -> Fraction | None:
    """Return the fraction of pi that an angle is; None of another."""
    if term.is_number(0):
        return ZERO
    if term.kind == NAME and term.attributes and term.value == "pi":
        return ONE
    if term.kind == PRODUCT and len(term.items) == 1 and isinstance(term.value, Fraction):
        base, exponent = term.items[0]
        if exponent.is_number(1) and turns(base) == 1:
            return term.value
    return None


def sine(a: Algebra, angle: Fraction) -> Term | None:
    """Return the exact sine of an angle, a fraction of pi; None where it has none here."""
    angle %= 2
    sign = ONE
    if angle >= 1:
        angle, sign = angle - 1, MINUS
    found = SINES.get(min(angle, 1 - angle))
    if found is None:
        return None
    root = a.power(a.number(Fraction(found[1])), a.number(HALF)) if found[1] > 1 else a.number(ONE)
    return a.times(a.number(sign * found[0]), root)


def exactly(a: Algebra, term: Term) -> Term:
    """Return a term without names, with the values of the circle, and logarithms of exponentials
    and powers, in simple form.
    """
    from gradcli.formulas.rewrites import rebuilt

    found: dict[int, Term] = {}
    for t in a.table.of([term]):
        new = rebuilt(a, t, found, lambda old, args: a.call(
            old.operation, args, old.attributes, old.shape))
        found[t.number] = _known(a, new)
    return found[term.number]


def _known(a: Algebra, t: Term) -> Term:
    surd = surd_of(t) if not a.table.names([t]) else None
    if surd is not None:
        return from_surd(a, surd)
    if t.args and all(x.kind == NUMBER for x in t.args) and (
            "exact" in t.operation.traits or "comparing" in t.operation.traits):
        return a.constant(float(t.operation.on_scalars([as_float(x.value) for x in t.args])))
    if t.op is not None and t.args[0].is_number(0) and "zero_at_zero" in t.op.traits and (
            len(t.args) == 1):
        return t.args[0]
    if t.is_call("radians", "degrees"):
        turn = a.times(a.number(Fraction(180)), a.power(a.table.constant("pi"), a.number(MINUS)))
        return a.times(t.args[0], turn if t.is_call("degrees") else a.power(turn, a.number(MINUS)))
    if t.op is not None and t.op.name in WHOLE and all(
            x.kind == NUMBER and isinstance(x.value, Fraction) for x in t.args):
        value = value_of(a, t)
        n = Fraction(round(value)) if isfinite(value) else ZERO
        return a.number(n) if WHOLE[t.op.name](n, *[x.value for x in t.args]) else t
    if t.is_call("sin", "cos", "tan"):
        angle = turns(t.args[0])
        if angle is not None:
            s, c = sine(a, angle), sine(a, angle + HALF)
            if t.is_call("sin") and s is not None:
                return s
            if t.is_call("cos") and c is not None:
                return c
            if t.is_call("tan") and s is not None and c is not None and not c.is_number(0):
                return a.times(s, a.power(c, a.number(MINUS)))
    if t.is_call("sec", "csc", "cot") and turns(t.args[0]) is not None:
        below = _known(a, a.call(TABLE[BELOW[t.operation.name]], t.args, None, None))
        return t if below.is_number(0) or below.op is not None else a.power(below, a.number(MINUS))
    if t.kind == PRODUCT:
        return _rooted(a, t)
    if t.is_call("exp") and t.args[0].kind == NUMBER and whole(t.args[0].value) is not None:
        return a.power(a.table.constant("e"), t.args[0])
    if t.is_call("exp") and t.args[0].is_call("log"):
        return t.args[0].args[0]
    if t.is_call("log"):
        x = t.args[0]
        if x.kind == NAME and x.attributes and x.value == "e":
            return a.number(ONE)
        if x.kind == PRODUCT and len(x.items) == 1 and x.value == 1:
            base, exponent = x.items[0]
            return a.times(exponent, _known(a, a.call(TABLE["log"], [base], None, None)))
        if x.is_call("exp"):
            return x.args[0]
        if x.kind == NUMBER and isinstance(x.value, Fraction) and x.value > 0:
            return _log_of(a, x.value)
    if t.is_call("atan", "asin", "acos") and not a.table.names([t]):
        return _arc(a, t)
    if t.is_call("abs", "sign") and not a.table.names([t]):
        sign, proved = sign_of(a, t.args[0])
        if proved:
            return a.number(Fraction(sign)) if t.is_call("sign") else (
                t.args[0] if sign >= 0 else a.negative(t.args[0]))
    return t


WHOLE: dict[str, Callable[..., bool]] = {
    "cbrt": lambda n, x: n**3 == x, "log2": lambda n, x: 0 <= n < 99 and 2**n == x,
    "log10": lambda n, x: 0 <= n < 16 and 10**n == x,
    "hypot": lambda n, x, y: n * n == x * x + y * y,
    "gamma": lambda n, x: x.denominator == 1 and 0 < x < 19 and n == factorial(int(x) - 1)}
"""Function to whether a whole number is its value."""


BELOW = {"sec": "cos", "csc": "sin", "cot": "tan"}


def _rooted(a: Algebra, t: Term) -> Term:
    """Return a product with powers of numbers, such as 8^(2/3), that are fractions as these."""
    found = []
    for base, exponent in t.items:
        if base.is_number(1):
            continue
        if base.kind == NUMBER and exponent.kind == NUMBER and base.value > 0 and isinstance(
                base.value, Fraction) and isinstance(exponent.value, Fraction) and (
                exponent.value.denominator < 12):
            q = exponent.value.denominator
            ends = [round(float(n) ** (1 / q)) for n in (
                base.value.numerator, base.value.denominator)]
            root = Fraction(*ends)
            if root**q == base.value:
                base, exponent = a.number(root), a.number(exponent.value * q)
        found.append((base, exponent))
    return t if found == list(t.items) else a.times(a.number(t.value), a.product_of(found))


def _log_of(a: Algebra, x: Fraction) -> Term:
    """Return the logarithm of a fraction: log(8) as 3*log(2), log(1/3) as -log(3)."""
    log = TABLE["log"]
    if x.numerator == 1 < x.denominator:
        return a.negative(_log_of(a, 1 / x))
    if x.denominator == 1:
        n = x.numerator
        for k in range(n.bit_length(), 1, -1):
            root = round(n ** (1 / k))
            if root > 1 and root**k == n:
                return a.times(a.number(Fraction(k)), a.call(
                    log, [a.number(Fraction(root))], None, None))
    return a.call(log, [a.number(x)], None, None)


def _arc(a: Algebra, t: Term) -> Term:
    """Return the angle of a known sine, cosine or tangent."""
    own = value_of(a, t)
    if own != own:
        return t
    for q in (1, 2, 3, 4, 6):
        p = round(own / pi * q)
        if abs(p * pi / q - own) < 1e-12:
            angle = a.times(a.number(Fraction(p, q)), a.table.constant("pi"))
            back = a.call(TABLE[t.operation.name[1:]], [angle], None, None)
            if exactly(a, back) is t.args[0]:
                return angle
    return t
