"""Running results along an axis: sums, products, extrema, differences.

The derivatives of products and of log-sum-exp go through one linear recurrence, whose transpose is
a recurrence in the other direction. Nothing is divided, so zeros among the factors are exact.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.arguments import kind_of, number_of
from gradcli.ops.kinds import composite, general, linear
from gradcli.ops.table.elementwise import multiply, subtract
from gradcli.ops.table.gathering import add_along_axis, take_along_axis
from gradcli.ops.table.nn import sigmoid
from gradcli.ops.table.ordering import running_place
from gradcli.ops.table.shapes import REAL, index, negative_axis, whole
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

PAIR = ((-3.0, 3.0), (-3.0, 3.0))
SCAN = {"axis": 0, "exclusive": False, "reverse": False}


def _prepare(shapes: Sequence[Shape], axis: Any, **flags: Any) -> dict[str, Any]:
    return {"axis": negative_axis(axis, len(shapes[0])),
            **{name: bool(number_of(flag)) for name, flag in flags.items()}}


# --- one place later --------------------------------------------------------------------------


def _shifted(cores: Sequence[int], x: Any, axis: int, reverse: bool) -> Any:
    y = np.roll(x, -1 if reverse else 1, axis)
    lines = np.moveaxis(y, axis, 0)
    if reverse:
        lines[-1:] = 0
    else:
        lines[:1] = 0
    return y


shifted = linear(
    "shifted", "x", lambda g, ans, x, axis, reverse: shifted(g, axis=axis, reverse=not reverse),
    attributes={"axis": -1, "reverse": False}, arrays=_shifted, samples=REAL,
    doc="each element one place later along an axis, 0 in the first place", internal=True)


def _first(y: Any, axis: int, reverse: bool, value: float) -> Any:
    """Return a constant of the shape and type of y: `value` at the start of the scan, else 0."""
    out = np.zeros(shape_of(y), dtype=kind_of(y))
    lines = np.moveaxis(out, axis, 0)
    if reverse:
        lines[-1:] = value
    else:
        lines[:1] = value
    return out


# --- sums -------------------------------------------------------------------------------------


def _cumsum(cores: Sequence[int], x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    x = np.flip(x, axis) if reverse else np.asarray(x)
    y = np.cumsum(x, axis=axis, dtype=np.int64 if x.dtype.kind == "b" else x.dtype)
    if exclusive:
        y = _shifted(cores, y, axis, False)
    return np.flip(y, axis) if reverse else y


cumsum = linear(
    "cumsum", "x",
    lambda g, ans, x, axis, exclusive, reverse: cumsum(
        g, axis=axis, exclusive=exclusive, reverse=not reverse),
    aliases="cumulative_sum", attributes=SCAN, prepare=_prepare, arrays=_cumsum, samples=REAL,
    doc="running sums; exclusive leaves out the element itself, reverse starts at the end")


def _diff(x: Any, n: Any = 1, axis: Any = -1) -> Any:
    times = whole(n, "the order of a difference")
    if times < 0:
        raise error("E0404", f"`diff` has no order {times}", help="use 0 or more")
    rank = len(shape_of(x))
    before = (slice(None),) * (rank + negative_axis(axis, rank))
    for _ in range(min(times, shape_of(x)[len(before)])):
        x = subtract(index(x, pattern=(*before, slice(1, None))),
                     index(x, pattern=(*before, slice(None, -1))))
    return x


diff = composite(
    "diff", "x", _diff, attributes={"n": 1, "axis": -1}, samples=REAL,
    doc="differences of neighbours along an axis, n times")

# --- a linear recurrence ----------------------------------------------------------------------


def _recurrence(cores: Sequence[int], x: Any, b: Any, axis: int, reverse: bool, late: bool) -> Any:
    wide = np.broadcast_shapes(shape_of(x), shape_of(b))
    xs = np.moveaxis(np.broadcast_to(x, wide), axis, 0)
    bs = np.moveaxis(np.broadcast_to(b, wide), axis, 0)
    out = np.empty(wide, dtype=np.result_type(x, b))
    ys = np.moveaxis(out, axis, 0)
    n = len(ys)
    if len(wide) == 1 and out.dtype == np.float64:
        xs, bs = xs.tolist(), bs.tolist()  # one line: Python's floats are ten times faster
    back = 1 if reverse else -1
    y: Any = None  # not 0: an infinite first coefficient multiplies nothing
    for k in range(n - 1, -1, -1) if reverse else range(n):
        y = bs[k] if y is None else bs[k] + xs[k + back if late else k] * y
        ys[k] = y
    return out


def _by_coefficient(adjoint: Any, ans: Any, axis: int, reverse: bool, late: bool) -> Any:
    if late:
        return multiply(shifted(adjoint, axis=axis, reverse=not reverse), ans)
    return multiply(adjoint, shifted(ans, axis=axis, reverse=reverse))


def _recurrence_jvp(tangents: Sequence[Any], ans: Any, x: Any, b: Any, axis: int, reverse: bool,
                    late: bool) -> Any:
    slope, force = tangents
    if slope is not None:
        moved = (shifted(multiply(slope, ans), axis=axis, reverse=reverse) if late
                 else multiply(slope, shifted(ans, axis=axis, reverse=reverse)))
        force = moved if force is None else force + moved
    return recurrence(x, force, axis=axis, reverse=reverse, late=late)


# y[k] = b[k] + x[k]*y[k-1], with `late` x[k-1]*y[k-1]; in reverse k+1 in place of k-1. The
# transpose of one is the other one in the other direction.
recurrence = general(
    "recurrence", "x b",
    lambda g, ans, x, b, axis, reverse, late: _by_coefficient(
        recurrence(x, g, axis=axis, reverse=not reverse, late=not late),
        ans, axis, reverse, late),
    lambda g, ans, x, b, axis, reverse, late: recurrence(
        x, g, axis=axis, reverse=not reverse, late=not late),
    jvp=_recurrence_jvp, attributes={"axis": -1, "reverse": False, "late": False},
    arrays=_recurrence, samples=PAIR, doc="y[k] = b[k] + x[k]*y[k-1] along an axis", internal=True,
    complex_form="arrays")

# --- products ---------------------------------------------------------------------------------


def _before(ans: Any, axis: int, reverse: bool) -> Any:
    """Return the product of the elements before each one."""
    return shifted(ans, axis=axis, reverse=reverse) + _first(ans, axis, reverse, 1.0)


def _running_product(cores: Sequence[int], x: Any, axis: int, reverse: bool) -> Any:
    x = np.flip(x, axis) if reverse else np.asarray(x)
    y = np.cumprod(x, axis=axis, dtype=np.int64 if x.dtype.kind == "b" else x.dtype)
    return np.flip(y, axis) if reverse else y


running_product = general(
    "running_product", "x",
    lambda g, ans, x, axis, reverse: multiply(
        _before(ans, axis, reverse),
        recurrence(x, g, axis=axis, reverse=not reverse, late=True)),
    jvp=lambda tangents, ans, x, axis, reverse: recurrence(
        x, multiply(tangents[0], _before(ans, axis, reverse)), axis=axis, reverse=reverse,
        late=False),
    attributes={"axis": 0, "reverse": False}, prepare=_prepare, arrays=_running_product,
    samples=REAL, doc="products of all elements up to each one", internal=True,
    complex_form="arrays")


def _cumprod(x: Any, axis: Any = 0, exclusive: Any = False, reverse: Any = False) -> Any:
    axis = negative_axis(axis, len(shape_of(x)))
    backwards = bool(number_of(reverse))
    y = running_product(x, axis=axis, reverse=backwards)
    return _before(y, axis, backwards) if number_of(exclusive) else y


cumprod = composite(
    "cumprod", "x", _cumprod, aliases="cumulative_prod", attributes=SCAN, samples=REAL,
    doc="running products, exact with zeros; exclusive and reverse as in cumsum")

# --- logarithms of sums -----------------------------------------------------------------------


def _scaled_sums(x: Any, axis: int) -> tuple[Any, Any]:
    """Return the largest element so far, m, and the sum so far of exp(x - m), which is from 1 to n.

    Where m is infinite the sum counts the elements that equal it.
    """
    top = np.maximum.accumulate(x, axis=axis)
    before = np.roll(top, 1, axis)
    shrunk = np.where(before == top, 1.0, np.exp(before - top))
    terms = np.where(x == top, 1.0, np.exp(x - top))
    return top, _recurrence((), shrunk.astype(x.dtype), terms.astype(x.dtype), axis, False, False)


def _floating(x: Any) -> Any:
    return np.asarray(x, dtype=np.result_type(x, np.float32))


def _running_logsumexp(cores: Sequence[int], x: Any, axis: int, reverse: bool) -> Any:
    x = _floating(x)
    top, sums = _scaled_sums(np.flip(x, axis) if reverse else x, axis)
    y = np.where(np.isinf(top), top, top + np.log(sums))
    return np.flip(y, axis) if reverse else y


def _excess(cores: Sequence[int], x: Any, axis: int, reverse: bool) -> Any:
    x = _floating(x)
    x = np.flip(x, axis) if reverse else x
    top, sums = _scaled_sums(x, axis)
    z = x - np.roll(top, 1, axis) - np.log(np.roll(sums, 1, axis))
    z = np.where((x == np.roll(top, 1, axis)) & np.isinf(x), -np.log(np.roll(sums, 1, axis)), z)
    np.moveaxis(z, axis, 0)[:1] = math.inf
    return np.flip(z, axis) if reverse else z


def _by_weights(g: Any, z: Any, axis: int, reverse: bool) -> Any:
    """Apply the transpose of `_along_weights`."""
    return multiply(sigmoid(z), recurrence(sigmoid(-z), g, axis=axis, reverse=not reverse,
                                           late=True))


def _along_weights(tangent: Any, z: Any, axis: int, reverse: bool) -> Any:
    return recurrence(sigmoid(-z), multiply(tangent, sigmoid(z)), axis=axis, reverse=reverse,
                      late=False)


# With L the answer and z[k] = x[k] - L[k-1], dL[k] = sigmoid(-z[k])*dL[k-1] + sigmoid(z[k])*dx[k].
# z is a row of its own: formed from L it would lose the digits that L has before its point.
excess = general(
    "excess", "x",
    lambda g, ans, x, axis, reverse: g - _by_weights(
        shifted(g, axis=axis, reverse=not reverse), ans, axis, reverse),
    jvp=lambda tangents, ans, x, axis, reverse: tangents[0] - shifted(
        _along_weights(tangents[0], ans, axis, reverse), axis=axis, reverse=reverse),
    attributes={"axis": 0, "reverse": False}, prepare=_prepare, arrays=_excess, samples=REAL,
    doc="x minus the log of the sum of exp of all elements before it; inf in the first place",
    internal=True, complex_form="arrays")
running_logsumexp = general(
    "running_logsumexp", "x",
    lambda g, ans, x, axis, reverse: _by_weights(
        g, excess(x, axis=axis, reverse=reverse), axis, reverse),
    jvp=lambda tangents, ans, x, axis, reverse: _along_weights(
        tangents[0], excess(x, axis=axis, reverse=reverse), axis, reverse),
    attributes={"axis": 0, "reverse": False}, prepare=_prepare, arrays=_running_logsumexp,
    samples=REAL, doc="log of the sum of exp of all elements up to each one", internal=True,
    complex_form="arrays")


def _cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: Any = False, reverse: Any = False
                          ) -> Any:
    axis = negative_axis(axis, len(shape_of(x)))
    backwards = bool(number_of(reverse))
    y = running_logsumexp(x, axis=axis, reverse=backwards)
    # Of nothing it is log(0).
    return shifted(y, axis=axis, reverse=backwards) + _first(
        y, axis, backwards, -math.inf) if number_of(exclusive) else y


cumulative_logsumexp = composite(
    "cumulative_logsumexp", "x", _cumulative_logsumexp, aliases="logcumsumexp", attributes=SCAN,
    samples=REAL, doc="running log(sum(exp(x))) without overflow; the exclusive one starts at -inf")

# --- extrema ----------------------------------------------------------------------------------


def _running_extremum(name: str, accumulate: str, largest: bool, doc: str) -> Any:
    def arrays(cores: Sequence[int], x: Any, axis: int, reverse: bool) -> Any:
        better = getattr(np, accumulate).accumulate
        return np.flip(better(np.flip(x, axis), axis=axis), axis) if reverse else better(
            x, axis=axis)

    def tied(ans: Any, x: Any, axis: int, reverse: bool) -> Any:
        """Return a mask of the elements that equal the extremum of those before them."""
        last, here = (ans, x) if not reverse else (np.flip(ans, axis), np.flip(x, axis))
        return np.moveaxis(last, axis, 0)[:-1] == np.moveaxis(here, axis, 0)[1:]

    return general(
        name, "x",
        lambda g, ans, x, axis, reverse: add_along_axis(
            g, running_place(x, axis=axis, reverse=reverse, largest=largest), axis=axis,
            length=shape_of(x)[axis]),
        jvp=lambda tangents, ans, x, axis, reverse: take_along_axis(
            tangents[0], running_place(x, axis=axis, reverse=reverse, largest=largest), axis=axis),
        attributes={"axis": 0, "reverse": False}, prepare=_prepare, arrays=arrays, samples=REAL,
        kink=tied, kinks="a tie goes to the first", doc=doc, traits="ordering real_only",
        complex_form="picked")


cummax = _running_extremum("cummax", "maximum", True, "the largest element so far, along an axis")
cummin = _running_extremum("cummin", "minimum", False, "the smallest element so far, along an axis")
