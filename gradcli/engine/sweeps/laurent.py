"""Laurent series along one variable: expansions of a formula around a point where it has no value.

A `Laurent` is t^shift times a power series (`engine.sweeps.series`), with a shift of 0 or below.
Products, quotients and whole powers are those of the series with the factor t^k that both have
cancelled, so sin(x)/x is regular at 0, 1/sin(x) - 1/x too, and 1/x is a pole. Of one side, t > 0,
absolute values, signs and roots have one as well. Whatever else meets a pole, or is at an edge of
its domain, has none: NoSeries.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import quiet
from gradcli.engine.record.operators import COMPARISONS
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES
from gradcli.engine.sweeps.series import AtKink, NoSeries, Series, applied, guarded, polynomial
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import EDGE, ELEMENTWISE
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

# A series whose first coefficients are all 0 counts as 0 behind so many.
MOST_ZEROS = 16
# Poles of higher orders have none: all coefficients up to the whole ones have to be known.
MOST_ORDER = 64
MOST_ENTRIES = 5_000
EPS = 2.0 ** -52
SUMS = ("add", "subtract")
# Quotients of functions without poles.
QUOTIENTS = {"cot": ("cos", "sin"), "csc": ("", "sin"), "coth": ("cosh", "sinh"),
             "csch": ("", "sinh"), "tan": ("sin", "cos"), "sec": ("", "cos")}


class Laurent:
    """A product of t^shift and a power series."""

    __slots__ = ("series", "shift")

    def __init__(self, series: Series, shift: int = 0) -> None:
        self.series = series
        self.shift = shift

    def coefficients(self, order: int) -> list[float]:
        """Return the coefficients of t^shift to t^order.

        Raises NoSeries where one is not a number, or a kink ends them, which is seen only now.
        """
        try:
            c = _upto(self.series, order - self.shift)
        except AtKink:
            raise NoSeries from None
        if any(v - v != 0 for v in c):
            raise NoSeries
        return c


class Around:
    """The Laurent series of a record's values around one of them, by their ids.

    source: id and value.
    way: coefficients of the source behind its value, 1 for x + t.
    side: whether t is positive only.
    point: the size of the value that may have been rounded.
    """

    __slots__ = ("carried", "lost", "point", "side")

    def __init__(self, entries: Sequence[Entry], source: tuple[int, float], way: Sequence[float],
                 side: bool) -> None:
        if len(entries) > MOST_ENTRIES:
            raise NoSeries
        self.side = side
        self.point = abs(source[1])
        seed = polynomial(source[1], *way)
        self.carried: dict[int, Laurent] = {source[0]: Laurent(seed)}
        # What moves and has none.
        self.lost: set[int] = set()
        with quiet():
            for entry in entries:
                if not self.lost.isdisjoint(entry[IDS]):
                    self.lost.add(entry[OUT])
                elif any(i in self.carried for i in entry[IDS]):
                    try:
                        self._enter(entry)
                    except NoSeries:
                        self.lost.add(entry[OUT])

    def of(self, value: int) -> Laurent | None:
        """Return the series of a value; None where it does not move. Raises NoSeries."""
        if value in self.lost:
            raise NoSeries
        return self.carried.get(value)

    def _enter(self, entry: Entry) -> None:
        op = entry[OP]
        xs = [self.carried.get(i, v) if i is not None else v
              for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        try:
            made = self._made(entry, op, xs)
        except GradcliError:
            raise
        except (AtKink, TypeError, AttributeError, *EDGE):
            raise NoSeries from None
        if made is not None:
            self.carried[entry[OUT]] = made

    def _made(self, entry: Entry, op: Any, xs: list[Any]) -> Laurent | None:
        name = op.name
        if op in COMPARISONS.values():
            self._decided(xs)
            return None
        if not any(isinstance(x, Laurent) and op.edge(k) for k, x in enumerate(xs)):
            return None
        if op.kind == ELEMENTWISE and all(type(v) in SCALAR_TYPES for v in entry[VALUES]) and (
                type(entry[ANS]) is float):
            if name in ("multiply", "square"):
                return self._product(xs[0], xs[-1])
            if name in ("divide", "reciprocal"):
                return self._quotient(xs[0] if name == "divide" else 1.0, xs[-1])
            if name in SUMS and any(isinstance(x, Laurent) and x.shift for x in xs):
                return self._sum(xs[0], xs[1], 1.0 if name == "add" else -1.0)
            if name in ("negative", "positive"):
                return self._product(xs[0], -1.0 if name == "negative" else 1.0)
            if name == "power" and not isinstance(xs[1], Laurent):
                return self._power(xs[0], float(xs[1]))
            if name in ("sqrt", "rsqrt"):
                return self._power(xs[0], 0.5 if name == "sqrt" else -0.5)
            if name in QUOTIENTS and not xs[0].shift:
                return self._of_quotient(name, xs[0].series)
            if name in ("abs", "sign", "relu") and self._sign_of(xs[0]) is not None:
                sign = self._sign_of(xs[0]) or 0.0
                return self._product(xs[0], sign if name == "abs" else max(sign, 0.0)) if (
                    name != "sign") else Laurent(polynomial(sign))
        return self._regular(op, xs, entry)

    def _regular(self, op: Any, xs: list[Any], entry: Entry) -> Laurent | None:
        """Return the series of an operation that has a value there, and a slope."""
        if any(isinstance(x, Laurent) and x.shift for x in xs) or getattr(op, "custom", False):
            raise NoSeries
        series = [x.series if isinstance(x, Laurent) else x for x in xs]
        values = [x.value if isinstance(x, Series) else x for x in series]
        if op.elementwise and op.kink is not None and _any(op.kink(*values)):
            raise NoSeries
        ans = applied(op, series, entry[ATTRIBUTES],
                      lambda: op(*values, **entry[ATTRIBUTES]))
        if not isinstance(ans, Series):
            return None
        if _any(ans.value - ans.value != 0):
            raise NoSeries
        return Laurent(ans)

    def _decided(self, xs: Sequence[Any]) -> None:
        """Raise NoSeries where a comparison has another result beside the point."""
        one, other = [x.series.value if isinstance(x, Laurent) else x for x in xs]
        if any(isinstance(x, Laurent) and x.shift for x in xs) or _any(one == other) or _any(
                (one - other) - (one - other) != 0):
            raise NoSeries

    # --- arithmetic -------------------------------------------------------------------------------

    def _product(self, a: Any, b: Any) -> Laurent:
        shift = sum([x.shift for x in (a, b) if isinstance(x, Laurent)])
        return _normal(_series(a) * _series(b), shift)

    def _sum(self, a: Any, b: Any, sign: float) -> Laurent:
        one, other = _laurent(a), _laurent(b)
        shift = min(one.shift, other.shift)
        first, second = (_moved(x.series, x.shift - shift) for x in (one, other))
        return _normal(first + second * sign, shift)

    def _quotient(self, a: Any, b: Any) -> Laurent:
        if not isinstance(b, Laurent):
            return self._product(a, PUBLIC["divide"](1.0, b))
        above = _laurent(a)
        k = _zeros(b.series)
        # What is 0 but for the rounding of the point is 0.
        near = _near_zeros(above.series, k, self.point)
        return _normal(PUBLIC["divide"](_moved(above.series, -near), _moved(b.series, -k)),
                       above.shift + near - b.shift - k)

    def _power(self, a: Laurent, p: float) -> Laurent:
        if p == round(p) and 0 <= p <= MOST_ZEROS:
            out = Laurent(polynomial(1.0))
            for _ in range(int(p)):
                out = self._product(out, a)
            return out
        if p == round(p) and -MOST_ZEROS <= p < 0:
            return self._quotient(1.0, self._power(a, -p))
        if not a.shift and a.series.value > 0:
            return Laurent(PUBLIC["power"](a.series, p))
        k = _zeros(a.series)
        order = (k + a.shift) * p
        whole = _moved(a.series, -k)
        # An even root of t^2 is |t|; of one side t.
        even = order == round(order) and round(order) % 2 == 0
        if order != round(order) or not (self.side or even) or whole.value <= 0:
            raise NoSeries
        return _normal(PUBLIC["power"](whole, p), int(order))

    def _of_quotient(self, name: str, x: Series) -> Laurent:
        above, below = QUOTIENTS[name]
        return self._quotient(Laurent(PUBLIC[above](x)) if above else 1.0,
                              Laurent(PUBLIC[below](x)))

    def _sign_of(self, a: Laurent) -> float | None:
        """Return the sign beside the point, of one side or the same of both; None at no kink."""
        if not a.shift and a.series.value != 0:
            return None
        k = _zeros(a.series)
        if not self.side and (k + a.shift) % 2:
            raise NoSeries
        return 1.0 if a.series.c[k] > 0 else -1.0


def _any(hit: Any) -> bool:
    return bool(hit.any()) if hasattr(hit, "any") else bool(hit)


def _series(x: Any) -> Any:
    return x.series if isinstance(x, Laurent) else x


def _laurent(x: Any) -> Laurent:
    return x if isinstance(x, Laurent) else Laurent(polynomial(float(x)))


def _upto(series: Series, order: int) -> list[float]:
    return guarded(series, max(order, 0))


def _zeros(series: Series) -> int:
    """Return the number of leading coefficients that are 0. Raises NoSeries if all are."""
    for k in range(MOST_ZEROS + 1):
        c = _upto(series, k)[k]
        if c - c != 0:
            break
        if c != 0:
            return k
    raise NoSeries


def _near_zeros(series: Series, most: int, point: float) -> int:
    """Return the number of leading coefficients, up to `most`, that are 0 or no more than a
    rounding of the point makes of the next.
    """
    c = _upto(series, most)
    for k in range(most):
        if abs(c[k]) > 2.0 * EPS * point * (k + 1) * abs(c[k + 1]):
            return k
    return most


def _moved(series: Series, by: int) -> Series:
    """Return the series times t^by; with a negative power, the first coefficients go."""
    if by == 0:
        return series
    if by > 0:
        return Series([0.0], lambda _, j: series.c[j - by] if j >= by else 0.0, [(series, by)],
                      series.known)
    first = _upto(series, -by)[-by]
    return Series([first], lambda _, j: series.c[j - by], [(series, by)], series.known)


def _normal(series: Any, shift: int) -> Laurent:
    """Return a series with a shift of 0 or below, and a shift below only at a true pole.

    Raises NoSeries.
    """
    if shift < -MOST_ORDER:
        raise NoSeries
    if not isinstance(series, Series):
        series = polynomial(float(series))
    k = 0
    while shift + k < 0 and _upto(series, k)[k] == 0:
        k += 1
    return Laurent(_moved(series, -k if shift + k <= 0 else shift), min(shift + k, 0))
