"""Elements chosen by truth values, and truth values made of indices: boolean_mask, one_hot."""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.given import (
    PLACES,
    REAL,
    array_of,
    as_integers,
    check_range,
    kind_of,
    one_number,
    whole_from,
)
from gradcli.ops.kinds import composite, stop
from gradcli.ops.lazy import np
from gradcli.ops.shapes import (
    index,
    negative_axis,
    reshape,
)
from gradcli.ops.values import (
    DTYPES,
    cast,
    check_bytes,
    shape_of,
    show,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape


def _boolean_mask(x: Any, mask: Any, axis: Any = 0) -> Any:
    shape = shape_of(x)
    chosen = array_of(mask)
    if chosen.dtype != bool:
        raise error("E0302", f"`boolean_mask` needs truth values, not {kind_of(chosen)}",
                    help="write a comparison such as x > 0")
    a = negative_axis(axis, len(shape)) + len(shape)
    if not chosen.ndim or shape[a:a + chosen.ndim] != chosen.shape:
        raise error("E0301", f"`boolean_mask` cannot use a mask of shape {show(chosen.shape)} on"
                    f" {show(shape)} from axis {a} on",
                    help="the mask has the lengths of the axes that it covers")
    return index(x, mask if hasattr(mask, "value") else chosen,
                 pattern=((slice(None),) * a + ("i",)))


boolean_mask = composite(
    "boolean_mask", "x mask", _boolean_mask, attributes={"axis": 0}, samples=(*REAL, (0.0, 1.0)),
    doc="the elements where a mask of truth values holds, in a vector, or slices from an axis on")


def _dynamic_partition(data: Any, partitions: Any, num_partitions: Any = 2) -> list[Any]:
    count = whole_from(num_partitions, 1, "dynamic_partition", "num_partitions")
    at = as_integers(partitions, "dynamic_partition")
    check_range("dynamic_partition", at, count, 0)
    shape = shape_of(data)
    if shape[:at.ndim] != at.shape:
        raise error("E0301", f"`dynamic_partition` cannot cut {show(shape)} by {show(at.shape)}",
                    help="partitions has the lengths of the first axes of the data")
    if not at.ndim:
        data, at = reshape(data, shape=(1, *shape)), np.reshape(at, (1,))
    return [index(data, at == k, pattern=("i",)) for k in range(count)]


dynamic_partition = composite(
    "dynamic_partition", "data partitions", _dynamic_partition,
    attributes={"num_partitions": 2}, samples=(*REAL, *PLACES),
    doc="the list of the parts of data that carry the numbers 0, 1, ... in partitions")


def _one_hot_prepare(shapes: Sequence[Shape], depth: Any, on_value: Any, off_value: Any, axis: Any,
                     dtype: Any) -> dict[str, Any]:
    if depth is None:
        raise error("E0303", "`one_hot` needs its depth", help="such as one_hot([0, 2], 3)")
    if dtype not in DTYPES:
        raise error("E0306", f"there is no type `{dtype}`", help=f"one of {', '.join(DTYPES)}",
                    about=("value", dtype))
    n = whole_from(depth, 0, "one_hot", "the depth")
    return {"depth": n, "on_value": one_number(on_value, "on_value"),
            "off_value": one_number(off_value, "off_value"),
            "axis": negative_axis(axis, len(shapes[0]) + 1), "dtype": dtype}


def _one_hot(cores: Sequence[int], indices: Any, depth: int, on_value: Any, off_value: Any,
             axis: int, dtype: str) -> Any:
    at = as_integers(indices, "one_hot")
    check_bytes(8.0 * at.size * depth)
    hit = np.expand_dims(at, axis) == np.reshape(np.arange(depth), (depth,) + (1,) * (-axis - 1))
    try:
        return np.where(hit, cast(on_value, dtype), cast(off_value, dtype)).astype(
            "str" if dtype == "string" else dtype)
    except (ValueError, OverflowError):
        raise error("E0404", f"`one_hot` cannot write {on_value!r} and {off_value!r} as {dtype}",
                    help="give numbers that this type has") from None


one_hot = stop(
    "one_hot", "indices", roles=("index",), prepare=_one_hot_prepare, arrays=_one_hot,
    attributes={"depth": None, "on_value": 1.0, "off_value": 0.0, "axis": -1, "dtype": "float64"},
    samples=PLACES, substitute="softmax(-k*square({0} - arange(depth))), with k how steep",
    doc="1 at the index along a new axis of length depth, 0 elsewhere and for indices outside")


def _mask_prepare(shapes: Sequence[Shape], maxlen: Any, dtype: Any) -> dict[str, Any]:
    if dtype not in DTYPES:
        raise error("E0306", f"there is no type `{dtype}`", help=f"one of {', '.join(DTYPES)}",
                    about=("value", dtype))
    return {"maxlen": None if maxlen is None else whole_from(
        maxlen, 0, "sequence_mask", "maxlen"), "dtype": dtype}


def _sequence_mask(cores: Sequence[int], counts: Any, maxlen: Any, dtype: str) -> Any:
    counts = as_integers(counts, "sequence_mask")
    longest = int(counts.max(initial=0)) if maxlen is None else maxlen
    check_bytes(8.0 * counts.size * longest)
    return cast(np.arange(longest) < counts[..., None], dtype)


sequence_mask = stop(
    "sequence_mask", "lengths", attributes={"maxlen": None, "dtype": "bool"}, roles=("index",),
    prepare=_mask_prepare, arrays=_sequence_mask, samples=PLACES,
    substitute="sigmoid(k*({0} - arange(maxlen))), with k how steep",
    doc="true for the first so many places of each row")


def _top_prepare(shapes: Sequence[Shape], k: Any) -> dict[str, Any]:
    if len(shapes[1]) != len(shapes[0]) + 1 or shapes[1][:-1] != shapes[0]:
        raise error("E0301", f"`in_top_k` cannot look up targets {show(shapes[0])} in"
                    f" {show(shapes[1])}", help="one target for each row of predictions")
    return {"k": whole_from(k, 0, "in_top_k", "k")}


def _in_top_k(cores: Sequence[int], targets: Any, predictions: Any, k: int) -> Any:
    at, scores = as_integers(targets, "in_top_k"), np.asarray(predictions)
    n = scores.shape[-1]
    wide = np.broadcast_shapes(at.shape, scores.shape[:-1])
    scores = np.broadcast_to(scores, (*wide, n))
    inside = (at >= 0) & (at < n)
    if not n:
        return np.zeros(wide, dtype=bool)
    place = np.broadcast_to(np.where(inside, at, 0), wide)[..., None]
    own = np.take_along_axis(scores, place, -1)
    return inside & np.isfinite(own[..., 0]) & (np.sum(scores > own, axis=-1) < k)


in_top_k = stop(
    "in_top_k", "targets predictions", aliases="is_in_top_k", attributes={"k": 1},
    roles=("index", "data"), prepare=_top_prepare, arrays=_in_top_k, samples=(*PLACES, *REAL),
    substitute="gather(softmax({1}), {0}, batch_dims=1)",
    doc="whether the target of each row is among the k largest predictions; ties count as among")
