"""Tests of elements and counts of them: any, all, nonzero, histogram. None has a derivative."""

from __future__ import annotations

import math

from gradcli.errors import error
from gradcli.ops.complex_numbers import refuse
from gradcli.ops.given import (
    PLACES,
    REAL,
    array_of,
    as_integers,
    element_count,
    number_of,
    one_number,
    whole_from,
)
from gradcli.ops.kinds import composite, stop
from gradcli.ops.lazy import np
from gradcli.ops.ordering import RANKED
from gradcli.ops.shapes import (
    index,
    lead,
    negative_axes,
)
from gradcli.ops.values import (
    broadcast_shape,
    check_bytes,
    is_complex,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape


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
    doc="the fraction of elements that are 0, as float32 like TensorFlow's")
argwhere = stop(
    "argwhere", "x", arrays=lambda cores, x: np.argwhere(x), samples=REAL,
    substitute="a sum over all places, weighted by a smooth gate",
    doc="the places of the elements that are not 0, one row each: TensorFlow's where(x)")


def _nonzero(x: Any) -> list[Any]:
    places = argwhere(x)
    return [index(places, pattern=(slice(None), k)) for k in range(len(shape_of(x)))]


nonzero = composite(
    "nonzero", "x", _nonzero, samples=REAL, kinks="an index has no derivative",
    doc="the places of the elements that are not 0, as a list with one vector for each axis")


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
    kinks="a truth value has no derivative", doc="whether isclose holds for all elements")


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
    doc="how many elements lie in each of so many equal bins from low to high, as in NumPy")


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
    doc="the same as in TensorFlow: what lies outside of [low, high] counts in the end bins")
