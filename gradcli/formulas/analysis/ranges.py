"""Bounds of terms on intervals: interval arithmetic on many boxes at once.

Bounds are rounded outwards by a few units in the last place, so what they exclude is excluded.
Beside them stands whether a term has a value, and is continuous, on all of a box, or has no value
on any part of it.

Source: Moore, Kearfott and Cloud, Introduction to Interval Analysis (2009), chapters 2 and 5.
"""

from __future__ import annotations

from math import pi

from gradcli.base.lazy import np
from gradcli.formulas.terms import NAME, NUMBER, PRODUCT, SUM, as_float, whole
from gradcli.ops import TABLE
from gradcli.ops.kinds import on_arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.formulas.terms import Term, TermTable

    Rule = Callable[..., "Range"]

ROOM = 2.0 ** -49
"""The relative error that a function of NumPy is trusted with, eight units in the last place."""
TINY = 1e-320
FARTHEST = 1e12
"""Angles beyond are not reduced well enough to tell where a sine is."""


class Range:
    """Bounds of one term on each box. sure: it has a value and is continuous all over the box.
    never: it has no value anywhere in it; then the bounds say nothing.
    """

    __slots__ = ("high", "low", "never", "sure")

    def __init__(self, low: Any, high: Any, sure: Any = True, never: Any = False) -> None:
        self.low, self.high, self.sure, self.never = low, high, sure, never

    def has_zero(self) -> Any:
        """Return where 0 is not excluded."""
        return (self.low <= 0) & (self.high >= 0) & ~np.asarray(self.never)

    def sign(self) -> Any:
        """Return 1 or -1 where that is the sign all over the box, else 0."""
        known = np.asarray(self.sure)
        return np.where(known & (self.low > 0), 1, np.where(known & (self.high < 0), -1, 0))


def ranges(table: TermTable, terms: Sequence[Term], name: str, low: Any, high: Any
           ) -> list[Range]:
    """Return the bounds of terms where a name lies in boxes. low, high: arrays [n], or one of them
    twice for points.
    """
    return ranges_over(table, terms, {name: (np.asarray(low, float), np.asarray(high, float))})


def ranges_over(table: TermTable, terms: Sequence[Term], boxes: dict[str, tuple[Any, Any]]
                ) -> list[Range]:
    """Return the bounds of terms on boxes of several names."""
    found: dict[int, Range] = {}
    with np.errstate(all="ignore"):
        for term in table.of(terms):
            found[term.number] = _of(term, found, boxes)
    shape = np.broadcast_shapes(*[np.shape(b[0]) for b in boxes.values()])
    return [_filled(found[t.number], shape) for t in terms]


def _filled(r: Range, shape: tuple[int, ...]) -> Range:
    return Range(*[np.broadcast_to(v, shape) for v in (r.low, r.high, r.sure, r.never)])


def _of(term: Term, found: dict[int, Range], boxes: dict[str, tuple[Any, Any]]) -> Range:
    if term.kind == NUMBER:
        return _number(term.value)
    if term.kind == NAME:
        if term.attributes:
            return _out(*[np.float64({"pi": pi, "e": np.e}[term.value])] * 2)
        return Range(*boxes[term.value])
    if term.kind == SUM:
        total = _number(term.value)
        for t, c in term.items:
            total = _plus(total, _scaled(found[t.number], c))
        return total
    if term.kind == PRODUCT:
        made: Range | None = None
        for b, e in term.items:
            one = _power(found[b.number], e, found)
            made = one if made is None else _times(made, one)
        assert made is not None
        return _scaled(made, term.value)
    rule = RULES.get(term.operation.name)
    if rule is None or term.shape:
        never = np.False_
        for t in term.args:
            never = never | found[t.number].never
        return Range(-np.inf, np.inf, np.False_, never)
    return rule(*[found[t.number] for t in term.args])


def _out(low: Any, high: Any, sure: Any = True, never: Any = False) -> Range:
    """Return bounds rounded outwards; what is no number bounds nothing."""
    low = np.where(np.isnan(low), -np.inf, low)
    high = np.where(np.isnan(high), np.inf, high)
    return Range(low - np.where(np.isinf(low), 0.0, abs(low) * ROOM + TINY),
                 high + np.where(np.isinf(high), 0.0, abs(high) * ROOM + TINY), sure, never)


def _number(value: Any) -> Range:
    number = np.float64(as_float(value))
    if whole(value) is not None and abs(number) < 2**53:
        return Range(number, number)
    return _out(number, number)


def _plus(a: Range, b: Range) -> Range:
    if _is_zero(a) or _is_zero(b):
        return b if _is_zero(a) else a
    low, high = a.low + b.low, a.high + b.high
    r = _out(low, high, _and(a.sure, b.sure), _or(a.never, b.never))
    exact = _are_whole(a) & _are_whole(b)
    return Range(np.where(exact, low, r.low), np.where(exact, high, r.high), r.sure, r.never)


def _is_zero(a: Range) -> bool:
    return np.ndim(a.low) == 0 and a.low == 0 == a.high


def _are_whole(a: Range) -> Any:
    """Return where both bounds are whole numbers, of which sums are exact."""
    return (np.rint(a.low) == a.low) & (np.rint(a.high) == a.high) & (
        abs(a.low) < 2**52) & (abs(a.high) < 2**52)


def _and(a: Any, b: Any) -> Any:
    return np.logical_and(a, b)


def _or(a: Any, b: Any) -> Any:
    return np.logical_or(a, b)


def _scaled(a: Range, c: Any) -> Range:
    if c == 1:
        return a
    if c == -1:
        return _minus(a)
    return _times(a, _number(c))


def _minus(a: Range) -> Range:
    return Range(-a.high, -a.low, a.sure, a.never)


def _times(a: Range, b: Range) -> Range:
    # 0 times an infinite bound is 0: every value is finite.
    ends = [np.where((x == 0) | (y == 0), 0.0, x * y)
            for x in (a.low, a.high) for y in (b.low, b.high)]
    least = np.minimum(np.minimum(ends[0], ends[1]), np.minimum(ends[2], ends[3]))
    most = np.maximum(np.maximum(ends[0], ends[1]), np.maximum(ends[2], ends[3]))
    return _clean(_out(least, most, _and(a.sure, b.sure), _or(a.never, b.never)), a, b)


def _clean(r: Range, a: Range, b: Range) -> Range:
    """Return a product with the exact signs of its factors."""
    same = ((a.low >= 0) & (b.low >= 0)) | ((a.high <= 0) & (b.high <= 0))
    other = ((a.low >= 0) & (b.high <= 0)) | ((a.high <= 0) & (b.low >= 0))
    return Range(np.where(same, np.maximum(r.low, 0.0), r.low),
                 np.where(other, np.minimum(r.high, 0.0), r.high), r.sure, r.never)


def _inverse(a: Range) -> Range:
    inside = (a.low < 0) & (a.high > 0)
    low = np.where(inside | (a.high == 0), -np.inf, 1.0 / a.high)
    high = np.where(inside | (a.low == 0), np.inf, 1.0 / a.low)
    touching = (a.low <= 0) & (a.high >= 0)
    r = _out(low, high, _and(a.sure, ~touching), _or(a.never, (a.low == 0) & (a.high == 0)))
    return Range(np.where(a.low >= 0, np.maximum(r.low, 0.0), r.low),
                 np.where(a.high <= 0, np.minimum(r.high, 0.0), r.high), r.sure, r.never)


def _power(base: Range, exponent: Term, found: dict[int, Range]) -> Range:
    if exponent.kind != NUMBER:
        # b^e is exp(e*log(b)).
        return RULES["exp"](_times(found[exponent.number], RULES["log"](base)))
    n = whole(exponent.value)
    if exponent.value < 0:
        return _inverse(_raised(base, -as_float(exponent.value), None if n is None else -n))
    return _raised(base, as_float(exponent.value), n)


def _raised(a: Range, p: float, n: int | None) -> Range:
    """Return a^p for p > 0. n: p as a whole number, None where it is none."""
    if n == 1:
        return a
    if n is None:
        low, high = np.maximum(a.low, 0.0), np.maximum(a.high, 0.0)
        r = _out(low**p, high**p, _and(a.sure, a.low >= 0), _or(a.never, a.high < 0))
        return Range(np.maximum(r.low, 0.0), r.high, r.sure, r.never)
    ends = a.low**p, a.high**p
    if n % 2:
        return _out(*ends, a.sure, a.never)
    least = np.where((a.low <= 0) & (a.high >= 0), 0.0, np.minimum(*ends))
    r = _out(least, np.maximum(*ends), a.sure, a.never)
    return Range(np.maximum(r.low, 0.0), r.high, r.sure, r.never)


# --- functions of the table ---------------------------------------------------------------------


def _rising(of: str, low: float = -np.inf, high: float = np.inf, *, open: bool = False,
            least: float = -np.inf, most: float = np.inf) -> Rule:
    """Return the rule of a function that rises on its domain from low to high. open: its ends do
    not belong to it. least, most: of its values.
    """
    def rule(a: Range) -> Range:
        f = _of_table(of)
        x, y = np.clip(a.low, low, high), np.clip(a.high, low, high)
        inside, outside = (a.low >= low) & (a.high <= high), (a.high < low) | (a.low > high)
        if open:
            inside &= ((a.low > low) | (low == -np.inf)) & ((a.high < high) | (high == np.inf))
            outside |= ((a.high == low) & (low > -np.inf)) | ((a.low == high) & (high < np.inf))
        r = _out(f(x), f(y), _and(a.sure, inside), _or(a.never, outside))
        return Range(np.maximum(r.low, least), np.minimum(r.high, most), r.sure, r.never)

    return rule


def _arc_cosine(a: Range) -> Range:
    b = RULES["asin"](_minus(a))
    return _out(b.low + pi / 2, b.high + pi / 2, b.sure, b.never)


def _circle(shift: float) -> Rule:
    """Return the rule of sin(x + shift)."""
    def rule(a: Range) -> Range:
        slack = 1e-15 * (abs(a.low) + abs(a.high)) + 1e-15
        low, high = a.low + shift - slack, a.high + shift + slack
        wild = ~((high - low < 2 * pi) & (abs(low) < FARTHEST) & (abs(high) < FARTHEST))
        ends = np.sin(low), np.sin(high)

        def inside(angle: float) -> Any:
            return np.floor((high - angle) / (2 * pi) + 1e-12) > np.floor(
                (low - angle) / (2 * pi) - 1e-12)

        least = np.where(wild | inside(-pi / 2), -1.0, np.minimum(*ends) - slack)
        most = np.where(wild | inside(pi / 2), 1.0, np.maximum(*ends) + slack)
        return Range(np.maximum(least, -1.0), np.minimum(most, 1.0), a.sure, a.never)

    return rule


def _sine(a: Range) -> Range:
    """Return the bounds of sin(x), which keep the sign near 0."""
    r = _circle(0.0)(a)
    near = (abs(a.low) < 1.5) & (abs(a.high) < 1.5)
    exact = _out(np.sin(a.low), np.sin(a.high))
    return Range(np.where(near, exact.low, r.low), np.where(near, exact.high, r.high), r.sure,
                 r.never)


def _tangent(a: Range) -> Range:
    slack = 1e-15 * (abs(a.low) + abs(a.high)) + 1e-15
    branch = np.floor((a.low - slack) / pi + 0.5)
    one = (branch == np.floor((a.high + slack) / pi + 0.5)) & (
        abs(a.low) < FARTHEST) & (abs(a.high) < FARTHEST)
    spread = slack * (1 + np.maximum(np.tan(a.low) ** 2, np.tan(a.high) ** 2)) * 2
    near = (abs(a.low) < 1.5) & (abs(a.high) < 1.5)
    spread = np.where(near, 0.0, spread)
    r = _out(np.tan(a.low) - spread, np.tan(a.high) + spread)
    return Range(np.where(one, r.low, -np.inf), np.where(one, r.high, np.inf), _and(a.sure, one),
                 a.never)


def _absolute(a: Range) -> Range:
    ends = abs(a.low), abs(a.high)
    least = np.where((a.low <= 0) & (a.high >= 0), 0.0, np.minimum(*ends))
    return Range(least, np.maximum(*ends), a.sure, a.never)


def _even(of: Rule) -> Rule:
    return lambda a: of(_absolute(a))


def _steps(of: str) -> Rule:
    def rule(a: Range) -> Range:
        f = getattr(np, of)
        low, high = f(a.low), f(a.high)
        return Range(low, high, _and(a.sure, (low == high) & np.isfinite(low)), a.never)

    return rule


def _floor(a: Range) -> Range:
    # A box that ends at a whole number has the step in it, but one that begins there does not.
    low, high = np.floor(a.low), np.floor(a.high)
    return Range(low, high, _and(a.sure, (low == high) & np.isfinite(low)), a.never)


def _sign(a: Range) -> Range:
    low, high = np.sign(a.low), np.sign(a.high)
    return Range(low, high, _and(a.sure, (low == high)), a.never)


def _larger(a: Range, b: Range) -> Range:
    return Range(np.maximum(a.low, b.low), np.maximum(a.high, b.high), _and(a.sure, b.sure),
                 _or(a.never, b.never))


def _smaller(a: Range, b: Range) -> Range:
    return _minus(_larger(_minus(a), _minus(b)))


def _compared(name: str) -> Rule:
    """Return the rule of a comparison: 1 where it holds, 0 where not."""
    def rule(a: Range, b: Range) -> Range:
        if name.startswith("less"):
            a, b = b, a
        strict = not name.endswith("equal")
        always = a.low > b.high if strict else a.low >= b.high
        nowhere = a.high <= b.low if strict else a.high < b.low
        return Range(np.where(always, 1.0, 0.0), np.where(nowhere, 0.0, 1.0),
                     _and(_and(a.sure, b.sure), always | nowhere), _or(a.never, b.never))

    return rule


def _choice(condition: Range, a: Range, b: Range) -> Range:
    first, second = condition.low > 0.5, condition.high < 0.5
    both = ~(first | second)

    def chosen(x: Any, y: Any, joined: Any) -> Any:
        return np.where(first, x, np.where(second, y, joined))

    low = chosen(a.low, b.low, np.where(a.never, b.low, np.where(
        b.never, a.low, np.minimum(a.low, b.low))))
    high = chosen(a.high, b.high, np.where(a.never, b.high, np.where(
        b.never, a.high, np.maximum(a.high, b.high))))
    return Range(low, high, chosen(a.sure, b.sure, False) & ~both,
                 _or(condition.never, chosen(a.never, b.never, _and(a.never, b.never))))


def _hypot(a: Range, b: Range) -> Range:
    return _raised(_plus(_raised(a, 2.0, 2), _raised(b, 2.0, 2)), 0.5, None)


def _of_table(name: str) -> Callable[[Any], Any]:
    """Return the function of the operation table, where NumPy has none of this name."""
    found: Callable[[Any], Any] = getattr(np, name, None) or on_arrays(TABLE[name])
    return found


RULES: dict[str, Rule] = {
    "exp": _rising("exp", least=0.0), "exp2": _rising("exp2", least=0.0),
    "expm1": _rising("expm1", least=-1.0),
    "log": _rising("log", 0.0, open=True), "log2": _rising("log2", 0.0, open=True),
    "log10": _rising("log10", 0.0, open=True), "log1p": _rising("log1p", -1.0, open=True),
    "cbrt": _rising("cbrt"), "atan": _rising("arctan", least=-1.571, most=1.571),
    "asin": _rising("arcsin", -1.0, 1.0), "acos": _arc_cosine,
    "sinh": _rising("sinh"), "tanh": _rising("tanh", least=-1.0, most=1.0),
    "asinh": _rising("arcsinh"), "acosh": _rising("arccosh", 1.0, least=0.0),
    "atanh": _rising("arctanh", -1.0, 1.0, open=True),
    "sigmoid": _rising("sigmoid", least=0.0, most=1.0),
    "softplus": _rising("softplus", least=0.0), "erf": _rising("erf", least=-1.0, most=1.0),
    "relu": lambda a: _larger(a, Range(0.0, 0.0)),
    "cosh": _even(_rising("cosh", least=1.0)), "sin": _sine, "cos": _circle(pi / 2),
    "tan": _tangent,
    "sec": lambda a: _inverse(RULES["cos"](a)), "csc": lambda a: _inverse(_sine(a)),
    "cot": lambda a: _times(RULES["cos"](a), _inverse(_sine(a))),
    "sech": lambda a: _inverse(RULES["cosh"](a)), "csch": lambda a: _inverse(RULES["sinh"](a)),
    "coth": lambda a: _inverse(RULES["tanh"](a)),
    "abs": _absolute, "floor": _floor, "ceil": _steps("ceil"), "round": _steps("rint"),
    "trunc": _steps("trunc"), "sign": _sign, "maximum": _larger, "minimum": _smaller,
    "where": _choice, "hypot": _hypot,
    **{name: _compared(name) for name in ("less", "less_equal", "greater", "greater_equal")}}
"""By the name of the operation; of others nothing is known."""
