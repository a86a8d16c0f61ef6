"""Elements chosen by indices, and put back: gather, scatter.

A choice carries no derivative of its own: it goes to the elements that were chosen. Indices may be
whole floats, and negative ones count from the end.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.elementwise import add, where
from gradcli.ops.given import (
    PLACES,
    REAL,
    as_indices,
    as_integers,
    check_range,
    element_count,
    kind_of,
    whole_from,
)
from gradcli.ops.kinds import composite, linear
from gradcli.ops.lazy import np
from gradcli.ops.shapes import (
    broadcast_to,
    index,
    lead,
    lengths,
    negative_axis,
    put,
    reshape,
    whole,
)
from gradcli.ops.values import (
    check_bytes,
    shape_of,
    show,
)

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
    """Index arrays for every axis of an array of `shape`: `at` along `axis`, itself elsewhere."""
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
    doc="zeros with x added at the places that an index tensor names: the transpose")

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
        return index(params, given, pattern=((slice(None),) * a + ("i",)))
    inner = at.ndim - b
    out = rank - 1 + inner
    parts = [
        reshape(given, shape=at.shape[:b] + (1,) * (a - b) + at.shape[b:] + (1,) * (rank - 1 - a))
        if k == a else _counting(n, k if k < a else k - 1 + inner, out)
        for k, n in enumerate(shape)]
    return index(params, *parts, pattern=("i",) * rank)


def _counting(n: int, axis: int, rank: int) -> Any:
    """0, 1, ... n - 1 along one axis of so many."""
    return np.reshape(np.arange(n), (1,) * axis + (n,) + (1,) * (rank - 1 - axis))


def _places(name: str, values: Any, shape: Shape, skip: int = 0) -> tuple[list[Any], Any]:
    """The columns of a table of places, as operands of `index`, and the table itself.

    Its last axis names places along the axes of `shape` after the first `skip`. Raises E0301 and
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
    """Updates of the shape that the places ask for; a scalar is repeated. Raises E0301."""
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
    """Which of the places are the last of their kind: theirs is the value that stays."""
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
    doc="a tensor with other values at places, of duplicates the last")


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
