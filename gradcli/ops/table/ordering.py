"""Elements by rank: sort, top_k, quantiles. Ties go to the first index."""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.arguments import (
    PLACES,
    array_of,
    as_integers,
    element_count,
    number_of,
    one_number,
    whole_from,
)
from gradcli.ops.kinds import composite, general, stop, unregistered
from gradcli.ops.table.complex_numbers import refuse
from gradcli.ops.table.discrete import cast_other, isnan
from gradcli.ops.table.elementwise import multiply, where
from gradcli.ops.table.gathering import add_along_axis, take_along_axis
from gradcli.ops.table.shapes import (
    REAL,
    expand_dims_at,
    index,
    lead,
    negative_axes,
    negative_axis,
    reshape,
    stack,
    transpose,
    whole,
)
from gradcli.ops.values import broadcast_shape, check_bytes, is_complex, is_float, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

SORT = {"axis": -1, "descending": False, "direction": None}


def _sort_prepare(shapes: Sequence[Shape], axis: Any, descending: Any, direction: Any
                  ) -> dict[str, Any]:
    down = bool(number_of(descending))
    if direction is not None:
        word = direction.lower() if isinstance(direction, str) else direction
        if word not in ("ascending", "descending"):
            raise error("E0404", f"there is no sort direction {direction!r}",
                        help='"ascending" or "descending"')
        down = word == "descending"
    return {"axis": negative_axis(axis, len(shapes[0])), "descending": down, "direction": None}


def _order(x: Any, axis: int, descending: bool) -> Any:
    """Return the indices that sort x, stable in both directions. NaN counts as the largest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(np.shape(x)[axis] - 1 - back, axis)


def _ties(ans: Any, x: Any, axis: int, descending: bool, direction: None) -> Any:
    """Return a mask of the sorted elements that equal a neighbour."""
    lines = np.moveaxis(ans, axis, 0)
    same = lines[1:] == lines[:-1]
    tied = np.zeros(lines.shape, dtype=bool)
    tied[1:] |= same
    tied[:-1] |= same
    return np.moveaxis(tied, 0, axis)


argsort = stop(
    "argsort", "x", attributes=SORT, prepare=_sort_prepare, samples=REAL,
    arrays=lambda cores, x, axis, descending, direction: _order(x, axis, descending),
    substitute="sort({0}), whose elements have derivatives",
    doc="the indices that sort x along an axis; ties keep their order", traits="real_only")
sort = general(
    "sort", "x",
    lambda g, ans, x, axis, descending, direction: add_along_axis(
        g, argsort(x, axis=axis, descending=descending), axis=axis, length=shape_of(x)[axis]),
    jvp=lambda tangents, ans, x, axis, descending, direction: take_along_axis(
        tangents[0], argsort(x, axis=axis, descending=descending), axis=axis),
    attributes=SORT, prepare=_sort_prepare, samples=REAL,
    arrays=lambda cores, x, axis, descending, direction: np.take_along_axis(
        np.asarray(x), _order(x, axis, descending), axis),
    kink=_ties, kinks="ties keep their order",
    doc='sorted along an axis, descending=true or direction="descending" from the largest',
    traits="ordering real_only", complex_form="picked")


def _top_k(x: Any, k: Any = 1, sorted: Any = True) -> list[Any]:
    shape = shape_of(x)
    count = whole_from(k, 0, "top_k", "k")
    negative_axis(-1, len(shape))
    if count > shape[-1]:
        raise error("E0404", f"`top_k` has no {count} largest of {shape[-1]} elements",
                    help=f"use k={shape[-1]} or less")
    pattern = (*(slice(None),) * (len(shape) - 1), slice(0, count))
    return [index(sort(x, descending=True), pattern=pattern),
            index(argsort(x, descending=True), pattern=pattern)]


top_k = composite(
    "top_k", "x", _top_k, attributes={"k": 1, "sorted": True}, samples=REAL,
    kinks="ties keep their order",
    doc="the list of the k largest elements along the last axis and their indices")


def _quantile(x: Any, q: Any = 0.5, axis: Any = None, keepdims: Any = False) -> Any:
    return _ranked("quantile", x, array_of(q), axis, keepdims)


def _percentile(x: Any, q: Any = 50.0, axis: Any = None, keepdims: Any = False) -> Any:
    return _ranked("percentile", x, array_of(q) / 100.0, axis, keepdims)


def _ranked(name: str, x: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    """Interpolate between the two sorted elements around rank q*(n - 1), as NumPy's `linear`.

    name: of the operation. q: an array of fractions between 0 and 1.
    """
    if q.dtype.kind not in "iuf" or not ((q >= 0) & (q <= 1)).all():
        raise error("E0404", f"`{name}` needs fractions between 0 and"
                    f" {100 if name == 'percentile' else 1}", help=f"such as {name}(x, "
                    f"{90 if name == 'percentile' else 0.9})")
    if not is_float(number_of(x)):
        if array_of(x).dtype.kind == "U":
            raise error("E0302", f"`{name}` does not take string",
                        help="make it a float: float(...)")
        x = cast_other(x, dtype="float64")
    shape = shape_of(x)
    rank = len(shape)
    axes = negative_axes(axis, rank)
    kept = [k - rank for k in range(rank) if k - rank not in axes]
    outer = tuple(shape[k] for k in kept)
    n = element_count([shape[a] for a in axes])
    if not n:
        raise error("E0404", f"`{name}` of no elements does not exist",
                    help="give a tensor with at least one element")
    lines = sort(reshape(transpose(x, axes=[*kept, *axes]), shape=(*outer, n)))
    before = (slice(None),) * len(outer)
    last = index(lines, pattern=(*before, n - 1))
    found = []
    for fraction in q.ravel().tolist():
        place = fraction * (n - 1)
        low = min(int(place), n - 1)
        value = index(lines, pattern=(*before, low))
        if place > low:
            above = index(lines, pattern=(*before, low + 1))
            value = multiply(value, 1.0 - (place - low)) + multiply(above, place - low)
        if array_of(isnan(last)).any():
            value = where(isnan(last), last, value)
        if number_of(keepdims):
            value = reshape(value, shape=expand_dims_at(outer, axes))
        found.append(value)
    if not q.ndim:
        return found[0]
    if not found:
        raise error("E0404", f"`{name}` needs at least one fraction", help="such as 0.5")
    together = stack(*found, axis=0)
    return reshape(together, shape=q.shape + shape_of(together)[1:]) if q.ndim > 1 else together


RANKED = {"axis": None, "keepdims": False}
median = composite(
    "median", "x",
    lambda x, axis=None, keepdims=False: _ranked("median", x, np.asarray(0.5), axis, keepdims),
    attributes=RANKED, samples=REAL,
    kinks="ties keep their order",
    doc="the middle element over axes, or the mean of the two in the middle")
quantile = composite(
    "quantile", "x", _quantile, attributes={"q": 0.5, **RANKED}, samples=REAL,
    kinks="ties keep their order",
    doc="the value below which a fraction q lies, over axes, linear between two elements")
percentile = composite(
    "percentile", "x", _percentile, attributes={"q": 50.0, **RANKED}, samples=REAL,
    kinks="ties keep their order", doc="quantile(x, q/100)")


def _search_prepare(shapes: Sequence[Shape], side: Any) -> dict[str, Any]:
    lines, values = shapes
    if side not in ("left", "right"):
        raise error("E0404", f"`searchsorted` has no side {side!r}", help='"left" or "right"')
    if not lines or (len(lines) > 1 and lines[:-1] != values[:-1]):
        raise error("E0301", f"`searchsorted` cannot place {show(values)} in {show(lines)}",
                    help="a sorted vector, or as many rows of both")
    return {"side": side}


def _search(cores: Sequence[int], sequence: Any, values: Any, side: Any) -> Any:
    before = np.broadcast_shapes(lead(sequence, cores[0]), lead(values, cores[1]))
    inner = [shape_of(v)[len(lead(v, c)):] for v, c in zip((sequence, values), cores, strict=True)]
    rows = element_count(before) * element_count(inner[0][:-1])
    sorted_rows = np.reshape(np.broadcast_to(sequence, before + inner[0]), (rows, inner[0][-1]))
    size = element_count(before) * element_count(inner[1]) // max(rows, 1)
    wanted = np.reshape(np.broadcast_to(values, before + inner[1]), (rows, size))
    out = np.empty(wanted.shape, dtype=np.int64)
    for k in range(rows):
        out[k] = np.searchsorted(sorted_rows[k], wanted[k], side)
    return np.reshape(out, before + inner[1])


searchsorted = stop(
    "searchsorted", "sorted_sequence values", attributes={"side": "left"},
    prepare=_search_prepare, arrays=_search, samples=(*REAL, *REAL),
    substitute="sum(sigmoid(k*({1} - {0}))), with k how steep",
    doc="where each value belongs in a sorted vector, or row by row; side left or right",
    traits="real_only")


def _distinct(cores: Sequence[int], x: Any) -> Any:
    line = np.ravel(x)
    return line[np.sort(np.unique(line, return_index=True)[1])]


unique = unregistered(
    "unique", "x", arrays=_distinct, samples=REAL,
    doc="the distinct elements in order of first occurrence, as in TensorFlow",
    traits="whole_tensor")


def _shuffle(cores: Sequence[int], x: Any, seed: Any) -> Any:
    if not cores[0]:
        return x
    n = shape_of(x)[-cores[0]]
    order = np.random.default_rng(abs(whole(seed, "a seed"))).permutation(n)
    return np.take(x, order, axis=-cores[0])


shuffle = stop(
    "shuffle", "x", attributes={"seed": 0.0}, arrays=_shuffle, samples=REAL,
    substitute="gather({0}, permutation)",
    doc="in random order along the first axis; None as in TensorFlow, use gather for a derivative")

def _running_place(cores: Sequence[int], x: Any, axis: int, reverse: bool, largest: bool) -> Any:
    line = np.moveaxis(np.flip(x, axis) if reverse else np.asarray(x), axis, 0)
    best = (np.maximum if largest else np.minimum).accumulate(line, axis=0)
    n = len(line)
    new = np.ones(line.shape, dtype=bool)
    # The first NaN is what every later result is.
    new[1:] = (line[1:] != best[:-1]) & (best[1:] != best[:-1]) & ~(best[:-1] != best[:-1])
    own = np.reshape(np.arange(n), (n,) + (1,) * (line.ndim - 1))
    place = np.moveaxis(np.maximum.accumulate(np.where(new, own, 0), axis=0), 0, axis)
    return np.flip(n - 1 - place, axis) if reverse else place


running_place = stop(
    "running_place", "x", attributes={"axis": 0, "reverse": False, "largest": True},
    arrays=_running_place, samples=REAL,
    doc="the index of the first largest or smallest element so far", internal=True)


# --------------------------------------------------------------------------------------------------
# Tests of elements and counts of them: any, all, nonzero, histogram. None has a derivative.

def _reduce_prepare(shapes: Sequence[Shape], axis: Any, keepdims: Any) -> dict[str, Any]:
    return {"axis": negative_axes(axis, len(shapes[0])), "keepdims": bool(number_of(keepdims))}


isinf = stop("isinf", "x", aliases="is_inf", is_elementwise=True, floats=math.isinf,
             arrays="isinf", samples=REAL, doc="whether x is infinite")
logical_xor = stop(
    "logical_xor", "x y", is_elementwise=True, floats=lambda x, y: bool(x) != bool(y),
    arrays="logical_xor", substitute="{0} + {1} - 2*{0}*{1} of two smooth gates",
    samples=(*REAL, *REAL), doc="one of the two holds, not both")
any_ = stop(
    "any", "x", aliases="reduce_any", attributes=RANKED, prepare=_reduce_prepare, samples=REAL,
    arrays=lambda cores, x, axis, keepdims: np.any(
        np.asarray(x) != 0, axis=axis, keepdims=keepdims),
    substitute="1 - prod(1 - {0}) of smooth gates", doc="whether one holds, over axes")
all_ = stop(
    "all", "x", aliases="reduce_all", attributes=RANKED, prepare=_reduce_prepare, samples=REAL,
    arrays=lambda cores, x, axis, keepdims: np.all(
        np.asarray(x) != 0, axis=axis, keepdims=keepdims),
    substitute="prod({0}) of smooth gates", doc="whether all hold, over axes")
count_nonzero = stop(
    "count_nonzero", "x", attributes=RANKED, prepare=_reduce_prepare, samples=REAL,
    arrays=lambda cores, x, axis, keepdims: np.sum(
        np.asarray(x) != 0, axis=axis, keepdims=keepdims, dtype=np.int64),
    substitute="sum(1 - exp(-k*{0}^2)), with k how steep",
    doc="the number of elements that are not 0, over axes")


def _zero_fraction(cores: Sequence[int], x: Any) -> Any:
    x = np.asarray(x)
    zeros = np.sum(x == 0, axis=tuple(range(-cores[0], 0)))
    size = element_count(x.shape[x.ndim - cores[0]:])
    return np.asarray(zeros, dtype=np.float32) / np.float32(size)


zero_fraction = stop(
    "zero_fraction", "x", arrays=_zero_fraction, samples=REAL,
    substitute="mean(exp(-k*{0}^2)), with k how steep",
    doc="the fraction of elements that are 0, as float32 like TensorFlow's", traits="in_steps")
argwhere = stop(
    "argwhere", "x", arrays=lambda cores, x: np.argwhere(x), samples=REAL,
    substitute="a sum over all places, weighted by a smooth gate",
    doc="the places of the elements that are not 0, one row each: TensorFlow's where(x)",
    traits="whole_tensor")


def _nonzero(x: Any) -> list[Any]:
    places = argwhere(x)
    return [index(places, pattern=(slice(None), k)) for k in range(len(shape_of(x)))]


nonzero = composite(
    "nonzero", "x", _nonzero, samples=REAL, kinks="an index has no derivative",
    doc="the places of the elements that are not 0, as a list with one vector for each axis",
    traits="cut", substitute="a sum over all places, weighted by a smooth gate")


def _close_prepare(shapes: Sequence[Shape], rtol: Any, atol: Any, equal_nan: Any
                   ) -> dict[str, Any]:
    broadcast_shape("isclose", shapes)
    return {"rtol": one_number(rtol, "rtol"), "atol": one_number(atol, "atol"),
            "equal_nan": bool(number_of(equal_nan))}


def _isclose(cores: Sequence[int], x: Any, y: Any, rtol: float, atol: float, equal_nan: bool
             ) -> Any:
    rank = max(cores)
    x, y = (np.reshape(v, lead(v, c) + (1,) * (rank - c) + shape_of(v)[len(lead(v, c)):])
            for v, c in zip((x, y), cores, strict=True))
    return np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


CLOSE = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
isclose = stop(
    "isclose", "x y", attributes=CLOSE, prepare=_close_prepare, arrays=_isclose,
    samples=(*REAL, *REAL), substitute="exp(-k*({0} - {1})^2), with k how steep",
    doc="|x - y| <= atol + rtol*|y|, as true or false for each element")


def _allclose(x: Any, y: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False) -> Any:
    return all_(isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


allclose = composite(
    "allclose", "x y", _allclose, attributes=CLOSE, samples=(*REAL, *REAL),
    kinks="a truth value has no derivative", doc="whether isclose holds for all elements",
    traits="cut", substitute="exp(-k*sum(({0} - {1})^2)), with k how steep")


def _bincount(cores: Sequence[int], x: Any, minlength: Any) -> Any:
    least = whole_from(minlength, 0, "bincount", "minlength")
    at = as_integers(x, "bincount").ravel()
    if (at < 0).any():
        raise error("E0305", f"`bincount` cannot count the negative number {at.min()}",
                    help="it counts 0, 1, 2, ...")
    top = max(int(at.max(initial=-1)) + 1, least)
    check_bytes(8.0 * top)
    return np.bincount(at, minlength=top)


bincount = stop(
    "bincount", "x", attributes={"minlength": 0}, roles=("index",), arrays=_bincount,
    samples=PLACES, substitute="unsorted_segment_sum(weights, {0}, n), smooth in the weights",
    doc="how often each of the numbers 0, 1, 2, ... occurs")


def _histogram_prepare(shapes: Sequence[Shape], bins: Any, low: Any, high: Any) -> dict[str, Any]:
    if low is not None and high is not None:
        low, high = one_number(low, "low"), one_number(high, "high")
    if (low is None) != (high is None):
        raise error("E0404", "`histogram` needs both ends of its range, or none",
                    help="such as histogram(x, 10, low=0, high=1)")
    if low is not None and not 0 < high - low < math.inf:
        raise error("E0404", f"`histogram` needs low < high, a finite distance apart, not"
                    f" {low} and {high}", help="such as low=0, high=1")
    return {"bins": whole_from(bins, 1, "histogram", "the number of bins"), "low": low,
            "high": high}


def _histogram(cores: Sequence[int], x: Any, bins: int, low: Any, high: Any) -> Any:
    check_bytes(8.0 * bins)
    if is_complex(x):
        raise refuse("histogram")
    x = np.asarray(x)
    x = x.astype(np.int64) if x.dtype.kind == "b" else x
    if low is None and not np.isfinite(x).all():
        raise error("E0404", "`histogram` of infinite or missing numbers needs a range",
                    help="such as histogram(x, 10, low=0, high=1)")
    try:
        return np.histogram(x, bins=bins, range=None if low is None else (low, high))[0]
    except ValueError:  # the width of a bin is no float: too large, or lost in rounding
        ends = (np.min(x), np.max(x)) if low is None else (low, high)
        raise error("E0404", f"`histogram` cannot part {ends[0]} to {ends[1]} into {bins} bins",
                    help="use fewer bins, or another range: low=..., high=...") from None


SMOOTH_BINS = "sums of smooth gates such as sigmoid(k*({0} - edge)), with k how steep"
histogram = stop(
    "histogram", "x", attributes={"bins": 10, "low": None, "high": None},
    prepare=_histogram_prepare, arrays=_histogram, samples=REAL, substitute=SMOOTH_BINS,
    doc="how many elements lie in each of so many equal bins from low to high, as in NumPy",
    traits="whole_tensor")


def _fixed_prepare(shapes: Sequence[Shape], value_range: Any, nbins: Any) -> dict[str, Any]:
    ends = array_of(value_range)
    if ends.shape != (2,) or not 0 < float(ends[1]) - float(ends[0]) < math.inf:
        raise error("E0404", "`histogram_fixed_width` needs a range [low, high]",
                    help="such as histogram_fixed_width(x, [0, 1], 10)")
    return {"value_range": (float(ends[0]), float(ends[1])),
            "nbins": whole_from(nbins, 1, "histogram_fixed_width", "the number of bins")}


def _fixed_width(cores: Sequence[int], x: Any, value_range: tuple[float, float], nbins: int) -> Any:
    check_bytes(8.0 * nbins)
    low, high = value_range
    if np.isnan(x).any():
        raise error("E0404", "`histogram_fixed_width` has no bin for NaN",
                    help="leave such elements out: boolean_mask(x, x == x)")
    place = np.floor((np.ravel(x) - low) / (high - low) * nbins)
    return np.bincount(np.clip(place, 0, nbins - 1).astype(np.int64), minlength=nbins)


histogram_fixed_width = stop(
    "histogram_fixed_width", "values", attributes={"value_range": (0.0, 1.0), "nbins": 100},
    prepare=_fixed_prepare, arrays=_fixed_width, samples=REAL, substitute=SMOOTH_BINS,
    doc="the same as in TensorFlow: what lies outside of [low, high] counts in the end bins",
    traits="whole_tensor")
