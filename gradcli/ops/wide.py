"""Numbers beyond the range of floats as operands of the table.

Rules that are given wide numbers calculate with them, as those given tensors record. So a product
whose factors, or whose intermediate parts, are no floats is found all the same. Rows with a formula
beyond the range of floats stand in `ROWS`. All others are computed with floats: at a number that is
none, a row has its value at 0, or at infinity, and what its slope adds; a result that left their
range is known up to a `doubt`.
"""

from __future__ import annotations

from functools import reduce

from gradcli.base.lazy import np
from gradcli.ops.kinds import BILINEAR, LINEAR
from gradcli.ops.unbounded import BITS, NORMAL, NOTHING, SMALLEST, Unbounded, as_number
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op

# ln 2, the first part in so few bits that a product with a whole number is exact.
LN2 = 0.6931471805599453
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Exponents of one band: numbers that may be added up, and multiplied by floats, as floats.
BAND = 256


class WideType:
    """The type of wide numbers, in place of a NumPy type."""

    name = "wide"
    kind = "f"
    char = "w"


class Wide(Unbounded):
    """A number beyond the range of floats that operations take like a tensor."""

    __slots__ = ()
    # NumPy shall not take it for an object: the operation asks it instead.
    __array_ufunc__ = None
    id = -1
    dtype = WideType

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a wide number is no float")

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            return applied(op, args, attributes)

    def __pow__(self, other: Any) -> Wide:
        return power(self, wide(other))

    def __rpow__(self, other: Any) -> Wide:
        return power(wide(other), self)


wide = Wide.of
"""Return a number or an array as wide numbers."""


def choice(condition: Any, x: Any, y: Any) -> Wide:
    """Return x where the condition holds, else y."""
    x, y = wide(x), wide(y)
    doubt = None
    if x.doubt is not None or y.doubt is not None:
        doubt = np.where(condition, as_number(x.doubt), as_number(y.doubt))
    if x.is_single() and y.is_single() and np.ndim(condition) == 0:
        chosen = x if condition else y
        return Wide(chosen.mantissa, chosen.exponent, doubt)
    return Wide(np.where(condition, x.mantissa, y.mantissa),
                np.where(condition, x.exponent, y.exponent), doubt)


def applied(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Apply an operation to operands some of which are wide."""
    if op.name in ROWS:
        return _with_nan(op, args, ROWS[op.name](*args))
    if op.kind == LINEAR:
        return _linear(op, args, attributes)
    if op.kind == BILINEAR or "homogeneous" in op.traits:
        return _scaled(op, args, attributes)
    if not op.elementwise:
        raise TypeError(f"`{op.name}` has no wide numbers")
    return _by_floats(op, args)


def _with_nan(op: Op, args: Sequence[Any], found: Any) -> Any:
    """Return the result with its doubt; where it is NaN, the value of the row on floats."""
    xs = [a.floats() if type(a) is Wide else a for a in args]
    spoiled = reduce(np.logical_or, map(np.isnan, xs))
    if not spoiled.any():
        return found
    plain = op.compute([np.asarray(x) for x in xs], {})
    if type(found) is not Wide:
        return np.where(spoiled, plain, found)
    made = choice(spoiled, plain, found)
    return Wide(made.mantissa, made.exponent, found.doubt)


def _by_floats(op: Op, args: Sequence[Any]) -> Any:
    xs = [a.floats() if type(a) is Wide else a for a in args]
    ans = op.compute([np.asarray(x) for x in xs], {})
    if not op.rules:  # a step, or a choice
        return ans
    found = wide(ans)
    if type(ans) is float and all(
            type(a) is not Wide or (a.is_single() and a.doubt is None and not a.beyond())
            for a in args) and (NORMAL < found.exponent <= 1024 or (
                ans == 0.0 and any(op.edge(k) and x == 0 for k, x in enumerate(xs)))):
        return found    # nothing was lost on the way to the floats, nor has left their range here
    lost = np.zeros(np.shape(ans), bool)
    doubtful = sloped = lost
    for k, (a, x) in enumerate(zip(args, xs, strict=True)):
        if type(a) is not Wide:
            continue
        doubtful = doubtful | a.is_doubtful() | (a.beyond() & ~np.isfinite(x))
        lost = lost | (~np.isfinite(x) & np.isfinite(a.mantissa))
        tiny = ((a - wide(x)).mantissa != 0) & np.isfinite(x)
        if tiny.any() and op.edge(k):
            rule = op.rules[k]
            slope = wide(rule(*map(wide, xs), wide(ans)) if callable(rule) else rule)
            found = choice(tiny, found + slope * (a - wide(x)), found)
            doubtful = doubtful | (tiny & ~np.isfinite(found.mantissa))
            sloped = sloped | tiny
    flat = np.broadcast_to(np.asarray(ans, float), found.shape)
    zeros, finite = np.zeros(found.shape, bool), np.ones(found.shape, bool)
    for k, x in enumerate(xs):
        if op.edge(k):
            zeros = zeros | np.equal(x, 0)
        finite = finite & np.isfinite(x)
    small = (np.abs(flat) < 2.0**NORMAL) & ~zeros & ~sloped
    doubt = np.where(small, float(SMALLEST), -np.inf)
    doubt = np.where(doubtful | lost | (np.isinf(flat) & finite & ~zeros), np.inf, doubt)
    if not np.any(doubt > -np.inf):
        return found
    return Wide(found.mantissa, found.exponent, doubt)


def _linear(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Wide:
    cores = [len(shape_of(a)) for a in args]
    attributes = _prepared(op, args, attributes)
    if op.name in ("cast_float", "stop_gradient"):
        return wide(args[0])
    assert op.arrays is not None
    arrays = op.arrays
    (found,) = banded(lambda xs: [arrays(cores, *xs, **attributes)], args)
    return found


def _prepared(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    if op.prepare is not None:
        found: Mapping[str, Any] = op.prepare(
            [shape_of(a) for a in args], **{**op.attributes, **attributes})
        return found
    return {**op.attributes, **attributes}


def _scaled(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Wide:
    """Apply an operation to operands scaled so that their largest elements are about 1."""
    numbers = [wide(a) for a in args]
    tops = [int(np.max(a.exponent, initial=NOTHING)) for a in numbers]
    tops = [top if top != NOTHING else 0 for top in tops]
    assert op.arrays is not None
    ans = op.arrays([a.ndim for a in numbers], *[
        Wide(a.mantissa, a.exponent - top).floats() for a, top in zip(numbers, tops, strict=True)],
        **_prepared(op, args, attributes))
    doubt = np.inf if any(np.any(a.is_doubtful()) for a in numbers) else sum(tops) + SMALLEST + BITS
    return Wide(np.asarray(ans, float), sum(tops), np.where(np.equal(ans, 0), -np.inf, doubt)
                if doubt < np.inf else np.full(np.shape(ans), doubt))


def banded(linear: Callable[[list[Any]], Sequence[Any]], args: Sequence[Any], width: int = BAND
           ) -> list[Wide]:
    """Apply a function that is linear in its wide operands together, band by band of magnitudes.

    So each band is calculated with floats, of which `width` is the number of powers of two that
    leaves room for a product. Operands that are not wide stay unchanged.
    """
    # Not np.unique, which takes ten times as long for a few numbers.
    bands = sorted({b for a in args if type(a) is Wide
                    for b in {*(a.exponent[a.exponent > -2**30] // width).tolist()}} or {0})
    total: list[Wide] = []
    for band in bands:
        xs = []
        for a in args:
            if type(a) is Wide:
                inside = (a.exponent // width == band) & (a.exponent > -2**30)
                if band == bands[-1]:
                    inside |= ~np.isfinite(a.mantissa)
                a = np.ldexp(np.where(inside, a.mantissa, 0.0), np.where(
                    a.exponent > -2**30, np.clip(a.exponent - width * band, 0, width), 0
                ).astype(np.intc))
            xs.append(a)
        parts = [Wide(np.asarray(c, float), width * band) for c in linear(xs)]
        total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
    doubts = [float(np.max(a.doubt)) for a in args if type(a) is Wide and a.doubt is not None]
    if doubts:
        total = [Wide(t.mantissa, t.exponent, np.float64(max(doubts))) for t in total]
    return total


# --- rows that are formulas -------------------------------------------------------------------


def _doubted(found: Wide, *operands: Wide) -> Wide:
    """Return the result, unknown where an operand is."""
    unknown = reduce(np.logical_or, [o.is_doubtful() for o in operands])
    if not unknown.any():
        return found
    doubt = -np.inf if found.doubt is None else found.doubt
    return Wide(found.mantissa, found.exponent, np.where(unknown, np.inf, doubt))


def exp(x: Any) -> Wide:
    """Return e^x."""
    x = wide(x)
    v = x.floats()
    n = np.rint(np.clip(v, -1e11, 1e11) / LN2)
    far = np.abs(v) > 1e11
    r = np.where(far, 0.0, (v - n * LN2_HIGH) - n * LN2_LOW)
    found = choice(np.abs(v) < 700.0, np.exp(v), Wide(np.exp(r), n.astype(int)))
    found = choice(far, np.where(v > 0, np.inf, 0.0), found)
    found = choice(np.isnan(v), np.nan, found)
    return _doubted(found, x)


def log(x: Any) -> Wide:
    """Return the natural logarithm."""
    x = wide(x)
    near = np.log(x.floats())
    found = choice(x.beyond(), np.log(x.mantissa) + x.exponent * LN2, near)
    return _doubted(found, x)


def sqrt(x: Any) -> Wide:
    x = wide(x)
    odd = np.where(np.abs(x.exponent) < 2**30, x.exponent % 2, 0)
    return _doubted(Wide(np.sqrt(np.ldexp(x.mantissa, odd.astype(np.intc))),
                         (x.exponent - odd) // 2), x)


def cbrt(x: Any) -> Wide:
    x = wide(x)
    rest = np.where(np.abs(x.exponent) < 2**30, x.exponent % 3, 0)
    return _doubted(Wide(np.cbrt(np.ldexp(x.mantissa, rest.astype(np.intc))),
                         (x.exponent - rest) // 3), x)


def power(x: Any, y: Any) -> Wide:
    """Return x^y for an exponent that is a float."""
    x, y = wide(x), wide(y)
    n = y.floats()
    near = np.power(x.floats(), n)
    fine = ~x.beyond() & np.isfinite(near) & (np.abs(near) >= 2.0**NORMAL)
    fine |= (x.exponent == NOTHING) | (n == 0) | ~np.isfinite(n)
    found: Wide = wide(near)
    if not fine.all():
        # 2^(y log2 |x|), the whole part of the logarithm being exact.
        log2 = np.log2(np.abs(np.where(fine, 1.0, x.mantissa)))
        whole = np.where(fine, 0, x.exponent)
        high = np.rint(n * whole)
        low = n * whole - high + n * log2
        # No exponent has so many digits: 0 or infinity.
        far = ~(np.abs(high + low) < 2.0**38)
        more = np.rint(np.where(far, 0.0, low))
        size = np.where(far, np.where(high + low < 0, 0.0, np.inf), np.exp2(low - more))
        odd = (np.rint(n) == n) & (np.rint(n / 2) * 2 != n)
        sign = np.where(x.mantissa >= 0, 1.0, np.where(np.rint(n) == n, np.where(odd, -1.0, 1.0),
                                                       np.nan))
        exponent = np.where(far, 0.0, high + more).astype(int)
        found = choice(fine, near, Wide(sign * size, exponent))
    return _doubted(found, x, y)


def square(x: Any) -> Wide:
    number = wide(x)
    return number * number


def _sech(x: Any) -> Wide:
    e = exp(-abs(wide(x)))
    return wide(2.0 * e / (1.0 + e * e))


def _logaddexp(x: Any, y: Any) -> Wide:
    x, y = wide(x), wide(y)
    far = choice(_sign_of_difference(x, y) == 0, 0.0, x - y)    # two infinities are alike
    return choice(_sign(far) >= 0, x, y) + _softplus(-abs(far))


def _sigmoid(x: Any) -> Wide:
    e = exp(-abs(wide(x)))
    return choice(_sign(x) >= 0, 1.0, e) / (1.0 + e)


def _log1p(x: Any) -> Wide:
    x = wide(x)
    return _doubted(choice(x.beyond(), choice(x.exponent < 0, x, log(x)),
                           np.log1p(x.floats())), x)


def _expm1(x: Any) -> Wide:
    x = wide(x)
    v = x.floats()
    return _doubted(choice(x.beyond() & (x.exponent < 0), x, choice(
        np.abs(v) > 40.0, exp(x) - 1.0, np.expm1(v))), x)


def _softplus(x: Any) -> Wide:
    x = wide(x)
    return choice(_sign(x) > 0, x, 0.0) + _log1p(exp(-abs(x)))


def _hyperbolic(sign: float) -> Callable[[Any], Wide]:
    def row(x: Any) -> Wide:
        return 0.5 * (exp(x) + sign * exp(-wide(x)))

    return row


def _sinh(x: Any) -> Wide:
    x = wide(x)
    near = np.abs(x.floats()) < 30.0
    return choice(near, choice(x.beyond(), x, np.sinh(x.floats())), _hyperbolic(-1.0)(x))


def _asinh(x: Any) -> Wide:
    x = wide(x)
    far = choice(_sign(x) < 0, -1.0, 1.0) * log(2.0 * abs(x))
    return _doubted(choice(x.beyond(), choice(x.exponent < 0, x, far), np.arcsinh(x.floats())), x)


def _acosh(x: Any) -> Wide:
    x = wide(x)
    return _doubted(choice(x.beyond() & (x.exponent > 0), log(2.0 * x), np.arccosh(x.floats())), x)


def _atan2(y: Any, x: Any) -> Wide:
    y, x = wide(y), wide(x)
    top = np.maximum(x.exponent, y.exponent)
    top = np.where(top == NOTHING, 0, top)
    near = np.arctan2(*[Wide(a.mantissa, a.exponent - top).floats() for a in (y, x)])
    small = (_sign(x) > 0) & (np.abs(near) < 2.0**-300) & (y.mantissa != 0)
    return _doubted(choice(small, y / choice(small, x, 1.0), near), y, x)


def _tanh(x: Any) -> Wide:
    x = wide(x)
    return _doubted(choice(x.beyond() & (x.exponent < 0), x, np.tanh(x.floats())), x)


def _exp2(x: Any) -> Wide:
    return power(2.0, x)


def _sign(x: Any) -> Any:
    return np.sign(wide(x).mantissa)


def _sign_of_difference(x: Any, y: Any) -> Any:
    x, y = wide(x), wide(y)
    same = (x.mantissa == y.mantissa) & (x.exponent == y.exponent)
    return np.where(same, 0.0, _sign(x - y))


def _compared(name: str) -> Callable[[Any, Any], Any]:
    def row(x: Any, y: Any) -> Any:
        return getattr(np, name)(_sign_of_difference(x, y), 0.0)

    return row


def _zero_if(which: int, function: Callable[..., Wide]) -> Callable[..., Wide]:
    """Return a function of two operands that is 0 where one of them is 0, whatever the other is.

    which: the index of that operand.
    """
    def row(x: Any, y: Any) -> Wide:
        skip = wide((x, y)[which]).mantissa == 0
        return choice(skip, 0.0, function(wide(x), wide(y)))

    return row


def _clip(x: Any, low: Any, high: Any) -> Wide:
    x = choice(_sign_of_difference(x, high) > 0, high, x)
    return choice(_sign_of_difference(x, low) < 0, low, x)


def _hypot(x: Any, y: Any) -> Wide:
    return sqrt(square(x) + square(y))


ROWS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: wide(x) + y, "subtract": lambda x, y: wide(x) - y,
    "multiply": lambda x, y: wide(x) * y, "divide": lambda x, y: wide(x) / y,
    "negative": lambda x: -wide(x), "positive": wide, "reciprocal": lambda x: 1.0 / wide(x),
    "square": square, "squared_difference": lambda x, y: square(wide(x) - y),
    "lerp": lambda a, b, t: choice(
        _sign_of_difference(t, 0.5) < 0, wide(a) + t * (wide(b) - a),
        wide(b) - (1.0 - wide(t)) * (wide(b) - a)),
    "divide_no_nan": _zero_if(1, lambda x, y: x / choice(y.mantissa == 0, 1.0, y)),
    "multiply_no_nan": _zero_if(1, lambda x, y: x * y),
    "reciprocal_no_nan": lambda x: _zero_if(1, lambda x, y: x / choice(
        y.mantissa == 0, 1.0, y))(1.0, x),
    "xdivy": _zero_if(0, lambda x, y: x / y), "xlogy": _zero_if(0, lambda x, y: x * log(y)),
    "xlog1py": _zero_if(0, lambda x, y: x * _log1p(y)),
    "power": power, "sqrt": sqrt, "cbrt": cbrt, "rsqrt": lambda x: 1.0 / sqrt(x), "hypot": _hypot,
    "unit_part": lambda x, y: wide(x) / _hypot(x, y),
    "exp": exp, "exp2": _exp2, "expm1": _expm1, "log": log,
    "log2": lambda x: log(x) / LN2, "log10": lambda x: log(x) / 2.302585092994046,
    "log1p": _log1p, "sinh": _sinh, "cosh": _hyperbolic(1.0), "tanh": _tanh, "sech": _sech,
    "asinh": _asinh, "acosh": _acosh, "atan2": _atan2,
    "csch": lambda x: 1.0 / _sinh(x), "coth": lambda x: 1.0 / _tanh(x),
    "sigmoid": _sigmoid, "log_sigmoid": lambda x: -_softplus(-wide(x)), "softplus": _softplus,
    "logaddexp": _logaddexp,
    "one_minus_square": lambda x: (1.0 - wide(x)) * (1.0 + wide(x)),
    "abs": lambda x: abs(wide(x)), "sign": _sign, "where": choice,
    "maximum": lambda x, y: choice(_sign_of_difference(x, y) >= 0, x, y),
    "minimum": lambda x, y: choice(_sign_of_difference(x, y) <= 0, x, y), "clip": _clip,
    "radians": lambda x: 0.017453292519943295 * wide(x),
    "degrees": lambda x: 57.29577951308232 * wide(x),
    "relu": lambda x: choice(_sign(x) > 0, x, 0.0),
    "equal": _compared("equal"), "not_equal": _compared("not_equal"),
    "greater": _compared("greater"), "greater_equal": _compared("greater_equal"),
    "less": _compared("less"), "less_equal": _compared("less_equal"),
}
