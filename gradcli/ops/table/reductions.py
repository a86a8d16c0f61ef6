"""Sums, extrema and norms over axes."""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, general, linear
from gradcli.ops.table.discrete import equal, ones_like, stop_gradient
from gradcli.ops.table.elementwise import (
    absolute,
    divide,
    exp,
    log,
    maximum,
    minimum,
    multiply,
    power,
    subtract,
    where,
    xdivy,
)
from gradcli.ops.table.shapes import (
    REAL,
    broadcast_to,
    expand_dims_at,
    index,
    negative_axes,
    reshape,
)
from gradcli.ops.values import SCALAR_TYPES, is_complex, is_integer, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

AXES = {"axis": None, "keepdims": False}


def _prepare(shapes: Sequence[Shape], axis: Any, keepdims: Any) -> dict[str, Any]:
    return {"axis": negative_axes(axis, len(shapes[0])), "keepdims": bool(keepdims)}


def _nonempty(shapes: Sequence[Shape], axis: Any, keepdims: Any) -> dict[str, Any]:
    attributes = _prepare(shapes, axis, keepdims)
    if any(shapes[0][a] == 0 for a in attributes["axis"]):
        raise error("E0404", "the largest or smallest of no elements does not exist",
                    help="give a tensor with at least one element")
    return attributes


def _kept(reduced: Any, axis: Sequence[int], keepdims: bool) -> Any:
    """Return a reduced tensor with its reduced axes back as length 1, ready to broadcast, as a
    plain number is.
    """
    if keepdims or not axis or type(reduced) is float:
        return reduced
    return reshape(reduced, shape=expand_dims_at(shape_of(reduced), axis))


def _spread_back(g: Any, x: Any, axis: Sequence[int], keepdims: bool) -> Any:
    return broadcast_to(_kept(g, axis, keepdims), shape=shape_of(x))


def sum_type(x: Any) -> Any:
    """Return the type of a sum: NumPy would widen int32, and types are never cast in silence."""
    return None if type(x) in SCALAR_TYPES or x.dtype.kind == "b" else x.dtype


sum_ = linear(
    "sum", "x", lambda g, ans, x, axis, keepdims: _spread_back(g, x, axis, keepdims),
    aliases="reduce_sum", attributes=AXES, prepare=_prepare, samples=REAL, latex=r"\sum {0}",
    arrays=lambda cores, x, axis, keepdims: np.add.reduce(
        x, axis=axis, keepdims=keepdims, dtype=sum_type(x)),
    doc="the sum over axes, by default all", traits="growing")


def _count(shape: Shape, axis: Sequence[int]) -> int:
    return math.prod(shape[a] for a in axis)


mean = linear(
    "mean", "x",
    lambda g, ans, x, axis, keepdims: _spread_back(g, x, axis, keepdims)
    / float(_count(shape_of(x), axis)),
    aliases="reduce_mean average", attributes=AXES, prepare=_prepare, samples=REAL,
    latex=r"\overline{{{0}}}",
    arrays=lambda cores, x, axis, keepdims: np.sum(
        x, axis=axis, keepdims=keepdims, dtype=float if is_integer(x) else None)
    / float(_count(shape_of(x), axis)),
    doc="the average over axes, by default all", traits="bounded growing")


def _extremum(name: str, aliases: str, arrays: str, latex: str, doc: str) -> Any:
    def share(ans: Any, x: Any, axis: Sequence[int], keepdims: bool) -> Any:
        """Return the share of each element: 1 for a single extremum, ties share evenly."""
        if not axis:
            return ones_like(x)
        # In the type of x, which a choice between plain numbers would not have.
        hit = where(equal(x, _kept(ans, axis, keepdims)), ones_like(x), 0.0)
        return hit / sum_(hit, axis=axis, keepdims=True)

    def tied(ans: Any, x: Any, axis: Sequence[int], keepdims: bool) -> Any:
        """Return a mask of elements that tie with another one."""
        hit = equal(x, _kept(ans, axis, keepdims))
        return hit & (np.sum(hit, axis=tuple(axis), keepdims=True) > 1) if axis else False

    return general(
        name, "x",
        lambda g, ans, x, axis, keepdims: _spread_back(g, x, axis, keepdims)
        * share(ans, x, axis, keepdims),
        jvp=lambda tangents, ans, x, axis, keepdims: sum_(
            tangents[0] * share(ans, x, axis, keepdims), axis=axis, keepdims=keepdims),
        aliases=aliases, attributes=AXES, prepare=_nonempty, samples=REAL, latex=latex,
        traits="ordering real_only zero_at_zero", complex_form="picked",
        arrays=lambda cores, x, axis, keepdims: getattr(np, arrays)(
            x, axis=axis, keepdims=keepdims),
        kink=lambda ans, x, axis, keepdims: tied(ans, x, axis, keepdims),
        kinks="ties share the gradient evenly", doc=doc)


reduce_max = _extremum("reduce_max", "amax", "max", r"\max {0}",
                       "the largest element over axes, by default all")
reduce_min = _extremum("reduce_min", "amin", "min", r"\min {0}",
                       "the smallest element over axes, by default all")


def _choose(reduce: Any, pair: Any) -> Any:
    def expand(x: Any, *others: Any, axis: Any = None, keepdims: Any = False) -> Any:
        for y in others:
            x = pair(x, y)
        return x if others else reduce(x, axis=axis, keepdims=keepdims)

    return expand


max_ = composite(
    "max", "x *others", _choose(reduce_max, maximum), attributes=AXES, samples=REAL,
    latex=r"\max\left({0}\right)",
    kinks="ties in a tensor share the gradient evenly; of arguments that tie the first has it",
    doc="largest element of a tensor, or the larger of several arguments")
min_ = composite(
    "min", "x *others", _choose(reduce_min, minimum), attributes=AXES, samples=REAL,
    latex=r"\min\left({0}\right)",
    kinks="ties in a tensor share the gradient evenly; of arguments that tie the first has it",
    doc="smallest element of a tensor, or the smaller of several arguments")


def _prod(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Multiply by halving: exact with zeros, since nothing is divided, and smooth to any order."""
    rank = len(shape_of(x))
    axes = negative_axes(axis, rank)
    for a in axes:
        while (n := shape_of(x)[a]) > 1:
            before = (slice(None),) * (rank + a)
            half = n // 2
            product = multiply(index(x, pattern=(*before, slice(0, half))),
                               index(x, pattern=(*before, slice(half, 2 * half))))
            if n % 2:
                rest = index(x, pattern=(*before, slice(n - 1, n)))
                first = multiply(index(product, pattern=(*before, slice(0, 1))), rest)
                x = first if half == 1 else _with_first(product, first, before)
            else:
                x = product
    if any(shape_of(x)[a] == 0 for a in axes):
        return sum_(x, axis=axes, keepdims=keepdims) + 1.0
    return x if keepdims or not axes else reshape(
        x, shape=[n for k, n in enumerate(shape_of(x)) if k - rank not in axes])


def _with_first(product: Any, first: Any, before: tuple[Any, ...]) -> Any:
    from gradcli.ops.table.shapes import concat

    rest = index(product, pattern=(*before, slice(1, None)))
    return concat(first, rest, axis=len(before) - len(shape_of(product)))


prod = composite(
    "prod", "x", _prod, aliases="reduce_prod product", attributes=AXES, samples=REAL,
    latex=r"\prod {0}", doc="the product over axes, by default all; exact with zeros",
    traits="growing")


def _norm2(cores: Sequence[int], x: Any, axis: Sequence[int], keepdims: bool) -> Any:
    """Return the norm, scaled by the largest element: squares neither overflow nor vanish."""
    if not axis:
        return np.abs(x)
    scale = np.max(np.abs(x), axis=axis, keepdims=True, initial=0.0)
    safe = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
    scaled = np.sqrt(np.sum(np.square(x / safe), axis=axis, keepdims=True)) * safe
    return scaled if keepdims else np.squeeze(scaled, axis=axis)


# x/norm is 0/0 at the origin; xdivy makes it the subgradient 0, to every order.
norm2 = general(
    "norm2", "x",
    lambda g, ans, x, axis, keepdims: _spread_back(g, x, axis, keepdims)
    * xdivy(x, _kept(ans, axis, keepdims)),
    jvp=lambda tangents, ans, x, axis, keepdims: sum_(
        tangents[0] * xdivy(x, _kept(ans, axis, keepdims)), axis=axis, keepdims=keepdims),
    attributes=AXES, prepare=_prepare, arrays=_norm2, samples=REAL, latex=r"\left\|{0}\right\|",
    kink=lambda ans, x, axis, keepdims: equal(ans, 0.0),
    kinks="slope 0 at 0", doc="Euclidean length over axes, without overflow",
    traits="homogeneous zero_at_zero real_only", complex_form="norm2")


def _norm(x: Any, ord: Any = 2.0, axis: Any = None, keepdims: Any = False) -> Any:
    ord = getattr(ord, "value", ord)
    x = absolute(x) if is_complex(x) else x
    if ord == 2:
        return norm2(x, axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum_(absolute(x), axis=axis, keepdims=keepdims)
    if ord == math.inf:
        return reduce_max(absolute(x), axis=axis, keepdims=keepdims)
    if not isinstance(ord, (int, float)) or ord <= 0:
        raise error("E0404", f"`norm` has no order `{ord!r}`",
                    help="use ord=1, ord=2, ord=inf or another positive number",
                    about=("value", ord))
    return power(sum_(power(absolute(x), ord), axis=axis, keepdims=keepdims), 1 / ord)


norm = composite(
    "norm", "x", _norm, aliases="reduce_euclidean_norm euclidean_norm vector_norm",
    attributes={"ord": 2.0, **AXES}, samples=REAL,
    latex=r"\left\|{0}\right\|", kinks="slope 0 at 0",
    doc="p-norm over all elements or over axes, by default Euclidean; ord=inf is the largest")


def _logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    top = stop_gradient(reduce_max(x, axis=axis, keepdims=True))
    # An infinite maximum would make inf - inf of the largest element.
    top = where(equal(absolute(top), math.inf), 0.0, top)
    total = log(sum_(exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else sum_(total, axis=axis, keepdims=False)


logsumexp = composite(
    "logsumexp", "x", _logsumexp, aliases="reduce_logsumexp", attributes=AXES, samples=REAL,
    latex=r"\ln \sum e^{{{0}}}", doc="log(sum(exp(x))) without overflow")


def _softmax(x: Any, axis: Any = -1) -> Any:
    if 0 in shape_of(x):
        return exp(x)
    raised = exp(subtract(x, stop_gradient(reduce_max(x, axis=axis, keepdims=True))))
    return raised / sum_(raised, axis=axis, keepdims=True)


softmax = composite(
    "softmax", "x", _softmax, attributes={"axis": -1}, samples=REAL,
    latex=r"\operatorname{{softmax}}\left({0}\right)", doc="exp(x)/sum(exp(x)) along an axis")


def _variance(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    d = x - mean(x, axis=axis, keepdims=True)
    d = absolute(d) if is_complex(x) else d
    return mean(d * d, axis=axis, keepdims=keepdims)


var = composite(
    "var", "x", _variance, aliases="variance reduce_variance", attributes=AXES, samples=REAL,
    latex=r"\operatorname{{Var}} {0}", doc="mean of the squared deviations from the mean")


def _deviation(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    d = x - mean(x, axis=axis, keepdims=True)
    d = absolute(d) if is_complex(x) else d
    axes = negative_axes(axis, len(shape_of(x)))
    return divide(norm2(d, axis=axes, keepdims=keepdims), math.sqrt(_count(shape_of(x), axes)))


std = composite(
    "std", "x", _deviation, aliases="reduce_std", attributes=AXES, samples=REAL,
    latex=r"\operatorname{{std}} {0}", kinks="slope 0 where all are equal",
    doc="standard deviation over axes: sqrt(var(x))")

