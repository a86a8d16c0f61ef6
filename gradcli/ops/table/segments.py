"""Sums, means and extrema over segments: the elements that share an id."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.arguments import (
    PLACES,
    array_of,
    as_indices,
    as_integers,
    check_range,
    element_count,
    kind_of,
    whole_from,
)
from gradcli.ops.kinds import composite, general, stop
from gradcli.ops.table.elementwise import divide, multiply
from gradcli.ops.table.shapes import REAL, concat, index, put, reshape
from gradcli.ops.values import check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


# In place of a number of segments: the ids are sorted, so the last one says.
SORTED = "sorted"


def _segments(name: str, data: Any, ids: Any, count: Any) -> tuple[Any, Any, Any, int]:
    """Return data as a list of slices, their segments as operand and as array, and their number.

    Of ids that are not sorted negative ones drop their slice. Raises E0301, E0303, E0305.
    """
    given, at = as_indices(ids, name)
    array_of(ids)  # their order decides
    shape = shape_of(data)
    if (count == SORTED and at.ndim != 1) or shape[:at.ndim] != at.shape:
        raise error("E0301", f"`{name}` cannot sort data of shape {show(shape)} by"
                    f" {show(at.shape)} segment ids", help="one id for each slice of the data")
    if count == SORTED:
        if (np.diff(at) < 0).any():
            raise error("E0305", f"`{name}`: the segment ids are not sorted",
                        help=f"use unsorted_{name}(data, segment_ids, num_segments)")
        total = int(at[-1]) + 1 if at.size else 0
        check_range(name, at, max(total, 0), 0)
        check_bytes(8.0 * total * element_count(shape[1:]))
        return data, given, at, total
    if count is None:
        raise error("E0303", f"`{name}` needs the number of segments",
                    help=f"such as {name}(data, segment_ids, 3)")
    total = whole_from(count, 0, name, "num_segments")
    check_bytes(8.0 * total * element_count(shape[at.ndim:]))
    if at.ndim != 1:
        data = reshape(data, shape=(at.size, *shape[at.ndim:]))
        given, at = reshape(given, shape=(at.size,)), at.ravel()
    if (at < 0).any():
        used = np.flatnonzero(at >= 0)
        data, given, at = (index(v, used, pattern=("i",)) for v in (data, given, at))
    check_range(name, at, total, 0)
    return data, given, at, total


def _sizes(data: Any, at: Any, count: int) -> Any:
    """Return the number of slices of each segment, ready to broadcast; 1 for none."""
    found = np.maximum(np.bincount(at, minlength=count), 1)
    return np.reshape(found, (count,) + (1,) * (len(shape_of(data)) - 1))


def _segment_sum(name: str, data: Any, ids: Any, count: Any) -> Any:
    data, given, _, n = _segments(name, data, ids, count)
    return put(data, given, pattern=("i",), shape=(n, *shape_of(data)[1:]))


def _segment_mean(name: str, data: Any, ids: Any, count: Any, power: float) -> Any:
    data, given, at, n = _segments(name, data, ids, count)
    total = put(data, given, pattern=("i",), shape=(n, *shape_of(data)[1:]))
    sizes = _sizes(data, at, n).astype(np.float32 if kind_of(data) == "float32" else np.float64)
    return divide(total, sizes ** power)


def _segment_extremum(row: Any, name: str, data: Any, ids: Any, count: Any, largest: bool) -> Any:
    data, given, _, n = _segments(name, data, ids, count)
    kind = kind_of(data)
    if not kind.startswith(("float", "int")):
        raise error("E0302", f"`{name}` needs numbers that have an order, not {kind}",
                    help="make them floats: float(...)")
    # As in TensorFlow an empty segment of sorted ids holds 0, else the end of the type's range.
    empty: Any = 0
    if count != SORTED:
        limits: Any = (np.finfo if kind.startswith("float") else np.iinfo)(kind)
        empty = limits.min if largest else limits.max
    return row(data, given, count=n, empty=empty)


def _segment_prod(name: str, data: Any, ids: Any, count: Any) -> Any:
    """Multiply neighbours in a segment until one is left: exact with zeros.

    A slice of ones at the end stands for the missing partner and for empty segments.
    """
    data, _, at, n = _segments(name, data, ids, count)
    order = np.argsort(at, kind="stable")
    ones = np.ones((1, *shape_of(data)[1:]), dtype=kind_of(data))
    x = concat(data, ones, axis=0)
    if (np.diff(at) < 0).any():
        x, at = index(x, np.append(order, len(at)), pattern=("i",)), at[order]
    while True:
        m = len(at)
        starts = np.searchsorted(at, at, side="left")
        even = (np.arange(m) - starts) % 2 == 0
        kept = np.flatnonzero(even)
        after = np.minimum(kept + 1, m)
        partner = np.where((after < m) & (np.append(at, -1)[after] == at[kept]), after, m)
        if (partner == m).all():
            break
        x = multiply(index(x, np.append(kept, m), pattern=("i",)),
                     index(x, np.append(partner, m), pattern=("i",)))
        at = at[kept]
    places = np.full(n, len(at))
    places[at] = np.arange(len(at))
    return index(x, places, pattern=("i",))


def _core_first(x: Any, core: int) -> Any:
    before = x.ndim - core
    return np.moveaxis(x, tuple(range(before)), tuple(range(core, x.ndim)))


def _batch_first(x: Any, core: int) -> Any:
    before = x.ndim - core
    return np.moveaxis(x, tuple(range(core, x.ndim)), tuple(range(before)))


def _extremum_row(name: str, largest: bool, doc: str) -> Any:
    def arrays(cores: Sequence[int], x: Any, ids: Any, count: int, empty: Any) -> Any:
        x, at = _core_first(np.asarray(x), cores[0]), as_integers(ids, name)
        out = np.full((count, *x.shape[1:]), empty, dtype=x.dtype)
        used = np.unique(at)
        first = np.zeros(count, dtype=np.int64)
        first[at[::-1]] = np.arange(len(at))[::-1]
        out[used] = x[first[used]]
        (np.maximum if largest else np.minimum).at(out, at, x)
        return _batch_first(out, cores[0])

    def tied(ans: Any, x: Any, ids: Any, count: int, empty: Any) -> Any:
        part = segment_share.compute([x, ids, ans], {"count": count})
        return (part > 0) & (part < 1)

    return general(
        name, "x ids",
        lambda g, ans, x, ids, count, empty: multiply(
            index(g, ids, pattern=("i",)), segment_share(x, ids, ans, count=count)),
        None,
        jvp=lambda tangents, ans, x, ids, count, empty: put(
            multiply(tangents[0], segment_share(x, ids, ans, count=count)), ids, pattern=("i",),
            shape=shape_of(ans)),
        attributes={"count": 0, "empty": 0}, roles=("data", "index"), arrays=arrays,
        samples=(*REAL, *PLACES), kink=tied, kinks="ties share the gradient evenly", doc=doc,
        internal=True, traits="ordering real_only", complex_form="picked")


def _share(cores: Sequence[int], x: Any, ids: Any, ans: Any, count: int) -> Any:
    """Return the share of each element in its segment's extremum: 1, or less where several tie.

    ids: the segment of each slice of x.
    ans: the extrema.
    count: the number of segments.
    """
    x, at = np.asarray(x), as_integers(ids, "segment_share")
    hits = np.moveaxis(x == np.take(ans, at, axis=-cores[2]), -cores[0], 0).astype(x.dtype)
    total = np.zeros((count, *hits.shape[1:]), dtype=x.dtype)
    np.add.at(total, at, hits)
    return np.moveaxis(hits / np.maximum(total, 1)[at], 0, -cores[0])


segment_share = stop(
    "segment_share", "x ids ans", attributes={"count": 0}, roles=("data", "index", "data"),
    arrays=_share, samples=(*REAL, *PLACES, *REAL),
    doc="1 at the extremum of each segment, a share of 1 where several tie", internal=True)
segment_largest = _extremum_row("segment_largest", True, "the largest element of each segment")
segment_smallest = _extremum_row("segment_smallest", False, "the smallest element of each segment")

TWO = (*REAL, *PLACES)
COUNT = {"num_segments": None}

segment_sum = composite(
    "segment_sum", "data segment_ids",
    lambda data, segment_ids: _segment_sum("segment_sum", data, segment_ids, SORTED),
    samples=TWO, doc="the sum of the slices of each segment; ids are sorted")
segment_mean = composite(
    "segment_mean", "data segment_ids",
    lambda data, segment_ids: _segment_mean("segment_mean", data, segment_ids, SORTED, 1.0),
    samples=TWO, doc="the mean of the slices of each segment, 0 of none; ids are sorted")
segment_max = composite(
    "segment_max", "data segment_ids",
    lambda data, segment_ids: _segment_extremum(
        segment_largest, "segment_max", data, segment_ids, SORTED, True),
    samples=TWO, kinks="ties share the gradient evenly",
    doc="the largest element of each segment, 0 of none; ids are sorted")
segment_min = composite(
    "segment_min", "data segment_ids",
    lambda data, segment_ids: _segment_extremum(
        segment_smallest, "segment_min", data, segment_ids, SORTED, False),
    samples=TWO, kinks="ties share the gradient evenly",
    doc="the smallest element of each segment, 0 of none; ids are sorted")
segment_prod = composite(
    "segment_prod", "data segment_ids",
    lambda data, segment_ids: _segment_prod("segment_prod", data, segment_ids, SORTED),
    samples=TWO, doc="the product of the slices of each segment, 1 of none; exact with zeros")
unsorted_segment_sum = composite(
    "unsorted_segment_sum", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_sum(
        "unsorted_segment_sum", data, segment_ids, num_segments),
    attributes=COUNT, samples=TWO, doc="sums by segment in any order; negative ids are left out")
unsorted_segment_mean = composite(
    "unsorted_segment_mean", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_mean(
        "unsorted_segment_mean", data, segment_ids, num_segments, 1.0),
    attributes=COUNT, samples=TWO, doc="means by segment in any order, 0 of none")
unsorted_segment_sqrt_n = composite(
    "unsorted_segment_sqrt_n", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_mean(
        "unsorted_segment_sqrt_n", data, segment_ids, num_segments, 0.5),
    attributes=COUNT, samples=TWO, doc="sums by segment over the square root of their count")
unsorted_segment_max = composite(
    "unsorted_segment_max", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_extremum(
        segment_largest, "unsorted_segment_max", data, segment_ids, num_segments, True),
    attributes=COUNT, samples=TWO, kinks="ties share the gradient evenly",
    doc="largest elements by segment in any order; of none the lowest number of the type")
unsorted_segment_min = composite(
    "unsorted_segment_min", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_extremum(
        segment_smallest, "unsorted_segment_min", data, segment_ids, num_segments, False),
    attributes=COUNT, samples=TWO, kinks="ties share the gradient evenly",
    doc="smallest elements by segment in any order; of none the highest number of the type")
unsorted_segment_prod = composite(
    "unsorted_segment_prod", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_prod(
        "unsorted_segment_prod", data, segment_ids, num_segments),
    attributes=COUNT, samples=TWO, doc="products by segment in any order, 1 of none")
