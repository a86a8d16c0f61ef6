"""Elements chosen by indices, and put back: gather, scatter.

A choice carries no derivative of its own: it goes to the elements that were chosen. Indices may be
whole floats, and negative ones count from the end.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.ops.arguments import (
    PLACES,
    array_of,
    as_indices,
    as_integers,
    check_range,
    element_count,
    kind_of,
    one_number,
    whole_from,
)
from gradcli.ops.kinds import composite, linear, stop
from gradcli.ops.table.elementwise import add, where
from gradcli.ops.table.shapes import (
    REAL,
    broadcast_to,
    index,
    lead,
    lengths,
    negative_axis,
    put,
    reshape,
    whole,
)
from gradcli.ops.values import DTYPES, Rows, cast, check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape


def _along_prepare(shapes: Sequence[Shape], axis: Any, **rest: Any) -> dict[str, Any]:
    x, at = shapes
    a = negative_axis(axis, len(x))
    if len(x) != len(at) or any(
            1 not in (m, n) and m != n
            for k, (m, n) in enumerate(zip(x, at, strict=True)) if k - len(x) != a):
        raise error("E0301", f"`take_along_axis` cannot take {show(at)} indices from"
                    f" {show(x)} along axis {a + len(x)}",
                    help="both need as many axes, the others of equal length")
    return {"axis": a, **rest}


def _fancy(at: Any, shape: Shape, axis: int) -> tuple[Any, ...]:
    """Return index arrays for every axis of an array of `shape`: `at` along `axis`, else itself."""
    rank = len(shape)
    at = np.reshape(at, (1,) * (rank - at.ndim) + at.shape)
    return tuple(
        at if k - rank == axis else np.reshape(np.arange(n), (n,) + (1,) * (rank - 1 - k))
        for k, n in enumerate(shape))


def _take_along(cores: Sequence[int], x: Any, indices: Any, axis: int) -> Any:
    x, at = np.asarray(x), as_integers(indices, "take_along_axis")
    check_range("take_along_axis", at, x.shape[axis])
    wide = np.broadcast_shapes(_unit(x.shape, axis), _unit(at.shape, axis))
    full = _with(wide, axis, x.shape[axis])
    return np.broadcast_to(x, full)[_fancy(at, full, axis)]


def _add_along(cores: Sequence[int], x: Any, indices: Any, axis: int, length: int) -> Any:
    x, at = np.asarray(x), as_integers(indices, "take_along_axis")
    wide = np.broadcast_shapes(x.shape, at.shape)
    full = _with(wide, axis, length)
    out = np.zeros(full, dtype=x.dtype)
    np.add.at(out, _fancy(at, full, axis), np.broadcast_to(x, wide))
    return out


def _unit(shape: Shape, axis: int) -> Shape:
    return _with(shape, axis, 1)


def _with(shape: Shape, axis: int, length: int) -> Shape:
    rank = len(shape)
    return tuple(length if k - rank == axis else n for k, n in enumerate(shape))


take_along_axis = linear(
    "take_along_axis", "x indices",
    lambda g, ans, x, indices, axis: add_along_axis(
        g, indices, axis=axis, length=shape_of(x)[axis]),
    None, attributes={"axis": -1}, roles=("data", "index"), prepare=_along_prepare,
    arrays=_take_along, samples=(*REAL, *PLACES),
    doc="along an axis, the elements that an index tensor of the same rank names")
add_along_axis = linear(
    "add_along_axis", "x indices",
    lambda g, ans, x, indices, axis, length: take_along_axis(g, indices, axis=axis),
    None, attributes={"axis": -1, "length": 0}, roles=("data", "index"), prepare=_along_prepare,
    arrays=_add_along, samples=(*REAL, *PLACES),
    doc="zeros with x added at the places that an index tensor names: the transpose", internal=True)

ROWS = Rows(("i",))


def _gather(params: Any, indices: Any, axis: Any = None, batch_dims: Any = 0) -> Any:
    shape = shape_of(params)
    rank = len(shape)
    given, at = as_indices(indices, "gather")
    b = whole(batch_dims, "a number of axes")
    b = b + at.ndim if b < 0 else b
    a = (b if axis is None else whole(axis, "an axis"))
    a = negative_axis(a, rank) + rank
    if not 0 <= b <= min(at.ndim, a) or shape[:b] != at.shape[:b]:
        raise error("E0301", f"`gather` with batch_dims={b} cannot take {show(at.shape)} indices"
                    f" from {show(shape)} along axis {a}",
                    help="the first batch_dims axes of both must be equal and before axis")
    check_range("gather", at, shape[a])
    check_bytes(8.0 * at.size * element_count(shape) / max(shape[a], 1))
    if not b:
        return index(params, given, pattern=(slice(None),) * a + ("i",) if a else ROWS)
    inner = at.ndim - b
    out = rank - 1 + inner
    parts = [
        reshape(given, shape=at.shape[:b] + (1,) * (a - b) + at.shape[b:] + (1,) * (rank - 1 - a))
        if k == a else _counting(n, k if k < a else k - 1 + inner, out)
        for k, n in enumerate(shape)]
    return index(params, *parts, pattern=("i",) * rank)


def _counting(n: int, axis: int, rank: int) -> Any:
    """Return 0, 1, ... n - 1 along one axis of so many."""
    return np.reshape(np.arange(n), (1,) * axis + (n,) + (1,) * (rank - 1 - axis))


def _places(name: str, values: Any, shape: Shape, skip: int = 0) -> tuple[list[Any], Any]:
    """Return the columns of a table of indices, as operands of `index`, and the table.

    Its last axis names elements along the axes of `shape` after the first `skip`. Raises E0301 and
    E0305.
    """
    given, at = as_indices(values, name)
    if not at.ndim or at.shape[-1] + skip > len(shape):
        raise error("E0301", f"`{name}` cannot use indices of shape {show(at.shape)} in"
                    f" {show(shape)}",
                    help="the last axis holds one number for each axis that is indexed")
    before = (slice(None),) * (at.ndim - 1)
    columns = []
    for k in range(at.shape[-1]):
        column = at[(..., k)]
        check_range(name, column, shape[skip + k])
        columns.append(column if given is at else index(given, pattern=(*before, k)))
    return columns, at


def _gather_nd(params: Any, indices: Any, batch_dims: Any = 0) -> Any:
    shape = shape_of(params)
    b = whole_from(batch_dims, 0, "gather_nd", "batch_dims")
    columns, at = _places("gather_nd", indices, shape, b)
    outer = at.shape[:-1]
    if len(outer) < b or outer[:b] != shape[:b]:
        raise error("E0301", f"`gather_nd` with batch_dims={b} cannot take {show(at.shape)}"
                    f" indices from {show(shape)}",
                    help="the first batch_dims axes of both must be equal")
    check_bytes(8.0 * element_count(outer) * element_count(shape[b + at.shape[-1]:]))
    if not b + len(columns):
        return broadcast_to(params, shape=outer + shape)
    rows = [np.broadcast_to(_counting(shape[k], k, len(outer)), outer) for k in range(b)]
    return index(params, *rows, *columns, pattern=("i",) * (b + len(columns)))


def _fitting(name: str, updates: Any, at: Any, shape: Shape) -> Any:
    """Return updates of the shape that the indices require; a scalar is repeated. Raises E0301."""
    wanted = at.shape[:-1] + shape[at.shape[-1]:]
    if shape_of(updates) == wanted:
        return updates
    if shape_of(updates):
        raise error("E0301", f"`{name}` needs updates of shape {show(wanted)}, not"
                    f" {show(shape_of(updates))}",
                    help="one element, or slice, for each place")
    return broadcast_to(updates, shape=wanted)


def _scatter(indices: Any, updates: Any, shape: Any = None) -> Any:
    if shape is None:
        raise error("E0301", "`scatter` needs the shape of the result",
                    help="such as scatter([[4], [1]], [2, 3], [6])")
    wanted = lengths(shape)
    if min(wanted, default=0) < 0:
        raise error("E0303", f"a length cannot be negative: {min(wanted)}", help="use 0 or more",
                    about=("value", min(wanted)))
    return _scattered("scatter", indices, updates, wanted)


def _scattered(name: str, indices: Any, updates: Any, shape: Shape) -> Any:
    columns, at = _places(name, indices, shape)
    if not columns:
        raise error("E0301", f"`{name}` needs at least one number for each place",
                    help="such as [[4], [1]] for two places of a vector")
    updates = _fitting(name, updates, at, shape)
    check_bytes(8.0 * element_count(shape))
    return put(updates, *columns, pattern=("i",) * len(columns), shape=shape)


gather = composite(
    "gather", "params indices", _gather, aliases="take embedding_lookup",
    attributes={"axis": None, "batch_dims": 0}, samples=(*REAL, *PLACES),
    doc="the elements or slices along an axis, by default the first, that indices name")
gather_nd = composite(
    "gather_nd", "params indices", _gather_nd, attributes={"batch_dims": 0},
    samples=(*REAL, *PLACES),
    doc="elements or slices by place: the last axis of indices holds one number per axis")
scatter = composite(
    "scatter", "indices updates", _scatter, aliases="scatter_nd", attributes={"shape": None},
    samples=(*PLACES, *REAL),
    doc="zeros with updates added at places: scatter([[4], [1]], [2, 3], [6])")
tensor_scatter_add = composite(
    "tensor_scatter_add", "tensor indices updates",
    lambda tensor, indices, updates: add(tensor, _scattered(
        "tensor_scatter_add", indices, updates, shape_of(tensor))),
    aliases="tensor_scatter_nd_add", samples=(*REAL, *PLACES, *REAL),
    doc="a tensor with updates added at places; duplicates add up")


def _winners(at: Any, shape: Shape) -> Any:
    """Return a mask of the indices that are the last of their kind: their values stay."""
    flat = np.reshape(at, (-1, at.shape[-1]))
    axes = shape[:at.shape[-1]]
    lines = np.zeros(len(flat), dtype=np.int64)
    for k, n in enumerate(axes):
        lines = lines * n + flat[:, k] % max(n, 1)
    last = len(flat) - 1 - np.unique(lines[::-1], return_index=True)[1]
    out = np.zeros(len(flat), dtype=bool)
    out[last] = True
    return np.reshape(out, at.shape[:-1])


def _overwrite(cores: Sequence[int], tensor: Any, indices: Any, updates: Any) -> Any:
    at = as_integers(indices, "tensor_scatter_update")
    core = shape_of(tensor)[len(lead(tensor, cores[0])):]
    before = np.broadcast_shapes(lead(tensor, cores[0]), lead(updates, cores[2]))
    out = np.array(np.broadcast_to(tensor, before + core), dtype=np.result_type(tensor, updates))
    new = np.broadcast_to(updates, before + shape_of(updates)[len(lead(updates, cores[2])):])
    kept = _winners(at, core)
    before_all = (slice(None),) * len(before)
    columns = at[kept]
    places = tuple(columns[:, k] for k in range(columns.shape[-1]))
    # Index arrays side by side stay in their place, so batch axes may stand in front.
    out[before_all + places] = np.reshape(
        new, (*before, at[..., 0].size, *core[at.shape[-1]:]))[(*before_all, kept.ravel())]
    return out


def _to_updates(g: Any, indices: Any) -> Any:
    at = as_integers(indices, "tensor_scatter_update")
    taken = gather_nd(g, indices)
    kept = _winners(at, shape_of(g))
    if kept.all():
        return taken
    return where(np.reshape(kept, kept.shape + (1,) * (len(shape_of(taken)) - kept.ndim)),
                 taken, 0.0)


overwrite = linear(
    "overwrite", "tensor indices updates",
    lambda g, ans, tensor, indices, updates: overwrite(
        g, indices, np.zeros(shape_of(updates), dtype=kind_of(updates))),
    None,
    lambda g, ans, tensor, indices, updates: _to_updates(g, indices),
    roles=("data", "index", "data"), arrays=_overwrite, samples=(*REAL, *PLACES, *REAL),
    doc="a tensor with other values at places, of duplicates the last", internal=True)


def _tensor_scatter_update(tensor: Any, indices: Any, updates: Any) -> Any:
    name = "tensor_scatter_update"
    given, at = as_indices(indices, name)
    shape = shape_of(tensor)
    columns, _ = _places(name, at, shape)
    if not columns:
        raise error("E0301", f"`{name}` needs at least one number for each place",
                    help="such as [[4], [1]] for two places of a vector")
    return overwrite(tensor, given, _fitting(name, updates, at, shape))


tensor_scatter_update = composite(
    "tensor_scatter_update", "tensor indices updates", _tensor_scatter_update,
    aliases="tensor_scatter_nd_update", samples=(*REAL, *PLACES, *REAL),
    doc="a tensor with other values at places; of duplicates the last stays")


# --------------------------------------------------------------------------------------------------
# Elements chosen by truth values, and truth values made of indices: boolean_mask, one_hot.

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
    except GradcliError:
        raise
    except (ValueError, OverflowError):
        raise error("E0404", f"`one_hot` cannot write {on_value!r} and {off_value!r} as {dtype}",
                    help="give numbers that this type has") from None


one_hot = stop(
    "one_hot", "indices", roles=("index",), prepare=_one_hot_prepare, arrays=_one_hot,
    attributes={"depth": None, "on_value": 1.0, "off_value": 0.0, "axis": -1, "dtype": "float64"},
    samples=PLACES, substitute="softmax(-k*square({0} - arange(depth))), with k how steep",
    doc="1 at the index along a new axis of length depth, 0 elsewhere and for indices outside",
    traits="in_steps")


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
    doc="true for the first so many places of each row", traits="in_steps")


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
