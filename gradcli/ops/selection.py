"""Chosen elements: gathered, scattered, sorted, masked, summed by segment; and tests of elements.

Choices carry no derivative of their own: it goes to the elements that were chosen. Ties go to the
first of them. Indices may be whole floats, and negative ones count from the end.
"""

from __future__ import annotations

import math

from gradcli.errors import error
from gradcli.ops.discrete import cast_other, isnan
from gradcli.ops.elementwise import add, divide, multiply, where
from gradcli.ops.kinds import composite, general, linear, stop, unregistered
from gradcli.ops.lazy import np
from gradcli.ops.shapes import (
    broadcast_to,
    concat,
    expand_dims_at,
    index,
    lead,
    lengths,
    negative_axes,
    negative_axis,
    put,
    reshape,
    stack,
    transpose,
    whole,
)
from gradcli.ops.values import (
    DTYPES,
    broadcast_shape,
    cast,
    check_bytes,
    dtype_of,
    is_float,
    shape_of,
    show,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

REAL = ((-3.0, 3.0),)
PLACES = ((0.0, 3.0),)

# --- what was given ---------------------------------------------------------------------------


def number_of(x: Any) -> Any:
    """The plain value of an option, a tensor or not."""
    return getattr(x, "value", x)


def array_of(x: Any) -> Any:
    """An option or operand as an array. Raises E0301 (ragged) and E0303 (no numbers)."""
    x = number_of(x)
    try:
        found = np.asarray([array_of(v) for v in x] if isinstance(x, (list, tuple)) else x)
    except ValueError:
        raise error("E0301", "the rows of this list have different lengths",
                    help="give every row as many numbers") from None
    if found.dtype.kind not in "fiubc":
        raise error("E0303", f"numbers were expected, not `{x!r}`", help="write a number such as 2")
    return found


def one_number(x: Any, what: str) -> Any:
    """An option that is one number. Raises E0303."""
    found = array_of(x)
    if found.ndim:
        raise error("E0303", f"{what} must be one number, not a tensor of shape"
                    f" {show(found.shape)}", help="give a scalar")
    return found.item()


def kind_of(x: Any) -> str:
    """The type of a tensor's or a plain value's elements."""
    return dtype_of(number_of(x))


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


def _integral(values: Any, name: str) -> Any:
    """An array of indices as integers. Raises E0302 (truth values) and E0303 (fractions)."""
    at = array_of(values)
    if at.dtype.kind not in "iuf":
        raise error("E0302", f"`{name}` needs whole numbers as indices, not {dtype_of(at)}",
                    help="choose with truth values by boolean_mask(x, mask)")
    if at.dtype.kind == "f":
        wrong = ~(np.abs(at) < 2.0**53) | (at != np.floor(at))
        if wrong.any():
            raise error("E0303", f"an index must be a whole number, not `{at[wrong][0]}`",
                        help="write a number such as 2")
    return at.astype(np.int64)


def _indices(values: Any, name: str) -> tuple[Any, Any]:
    """Indices as an operand, which keeps a tensor on its record, and as an array."""
    at = _integral(values, name)
    return (values if hasattr(values, "value") else at), at


def _in_range(name: str, at: Any, length: int, low: int | None = None) -> None:
    """Raises E0305, with the place, for an index outside of an axis."""
    bad = (at < (-length if low is None else low)) | (at >= length)
    if bad.any():
        where_ = np.argwhere(bad)[0].tolist()
        at_place = f" at {show(where_)}" if where_ else ""
        raise error(
            "E0305", f"`{name}`: the index {at[tuple(where_)]}{at_place} is out of range for an"
            f" axis of length {length}",
            help="indices count from 0" if low == 0 else
            "indices count from 0; negative ones from the end")


def _whole_between(value: Any, low: int, name: str, what: str) -> int:
    n = whole(value, what)
    if n < low:
        raise error("E0404", f"`{name}`: {what} cannot be {n}", help=f"use {low} or more")
    return n


# --- along an axis ----------------------------------------------------------------------------


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
    x, at = np.asarray(x), _integral(indices, "take_along_axis")
    _in_range("take_along_axis", at, x.shape[axis])
    wide = np.broadcast_shapes(_unit(x.shape, axis), _unit(at.shape, axis))
    full = _with(wide, axis, x.shape[axis])
    return np.broadcast_to(x, full)[_fancy(at, full, axis)]


def _add_along(cores: Sequence[int], x: Any, indices: Any, axis: int, length: int) -> Any:
    x, at = np.asarray(x), _integral(indices, "take_along_axis")
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

# --- gather and scatter -----------------------------------------------------------------------


def _gather(params: Any, indices: Any, axis: Any = None, batch_dims: Any = 0) -> Any:
    shape = shape_of(params)
    rank = len(shape)
    given, at = _indices(indices, "gather")
    b = whole(batch_dims, "a number of axes")
    b = b + at.ndim if b < 0 else b
    a = (b if axis is None else whole(axis, "an axis"))
    a = negative_axis(a, rank) + rank
    if not 0 <= b <= min(at.ndim, a) or shape[:b] != at.shape[:b]:
        raise error("E0301", f"`gather` with batch_dims={b} cannot take {show(at.shape)} indices"
                    f" from {show(shape)} along axis {a}",
                    help="the first batch_dims axes of both must be equal and before axis")
    _in_range("gather", at, shape[a])
    check_bytes(8.0 * at.size * _elements(shape) / max(shape[a], 1))
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
    given, at = _indices(values, name)
    if not at.ndim or at.shape[-1] + skip > len(shape):
        raise error("E0301", f"`{name}` cannot use indices of shape {show(at.shape)} in"
                    f" {show(shape)}",
                    help="the last axis holds one number for each axis that is indexed")
    before = (slice(None),) * (at.ndim - 1)
    columns = []
    for k in range(at.shape[-1]):
        column = at[(..., k)]
        _in_range(name, column, shape[skip + k])
        columns.append(column if given is at else index(given, pattern=(*before, k)))
    return columns, at


def _gather_nd(params: Any, indices: Any, batch_dims: Any = 0) -> Any:
    shape = shape_of(params)
    b = _whole_between(batch_dims, 0, "gather_nd", "batch_dims")
    columns, at = _places("gather_nd", indices, shape, b)
    outer = at.shape[:-1]
    if len(outer) < b or outer[:b] != shape[:b]:
        raise error("E0301", f"`gather_nd` with batch_dims={b} cannot take {show(at.shape)}"
                    f" indices from {show(shape)}",
                    help="the first batch_dims axes of both must be equal")
    check_bytes(8.0 * _elements(outer) * _elements(shape[b + at.shape[-1]:]))
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
        raise error("E0303", f"a length cannot be negative: {min(wanted)}", help="use 0 or more")
    return _scattered("scatter", indices, updates, wanted)


def _scattered(name: str, indices: Any, updates: Any, shape: Shape) -> Any:
    columns, at = _places(name, indices, shape)
    if not columns:
        raise error("E0301", f"`{name}` needs at least one number for each place",
                    help="such as [[4], [1]] for two places of a vector")
    updates = _fitting(name, updates, at, shape)
    check_bytes(8.0 * _elements(shape))
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
    at = _integral(indices, "tensor_scatter_update")
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
    at = _integral(indices, "tensor_scatter_update")
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
    given, at = _indices(indices, name)
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

# --- order ------------------------------------------------------------------------------------

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
    """Stable both ways: equal elements keep their order. NaN counts as the largest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(np.shape(x)[axis] - 1 - back, axis)


def _ties(ans: Any, x: Any, axis: int, descending: bool, direction: None) -> Any:
    lines = np.moveaxis(ans, axis, 0)
    return lines[1:] == lines[:-1]


argsort = stop(
    "argsort", "x", attributes=SORT, prepare=_sort_prepare, samples=REAL,
    arrays=lambda cores, x, axis, descending, direction: _order(x, axis, descending),
    substitute="sort({0}), whose elements have derivatives",
    doc="the indices that sort x along an axis; ties keep their order")
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
    doc='sorted along an axis, descending=true or direction="descending" from the largest')


def _top_k(x: Any, k: Any = 1, sorted: Any = True) -> list[Any]:
    shape = shape_of(x)
    count = _whole_between(k, 0, "top_k", "k")
    negative_axis(-1, len(shape))
    if count > shape[-1]:
        raise error("E0404", f"`top_k` has no {count} largest of {shape[-1]} elements",
                    help=f"use k={shape[-1]} or less")
    pattern = (*(slice(None),) * (len(shape) - 1), slice(0, count))
    return [index(sort(x, descending=True), pattern=pattern),
            index(argsort(x, descending=True), pattern=pattern)]


top_k = composite(
    "top_k", "x", _top_k, attributes={"k": 1, "sorted": True}, samples=REAL,
    kinks="ties: the first",
    doc="the list of the k largest elements along the last axis and their indices")


def _quantile(x: Any, q: Any = 0.5, axis: Any = None, keepdims: Any = False) -> Any:
    return _ranked("quantile", x, array_of(q), axis, keepdims)


def _percentile(x: Any, q: Any = 50.0, axis: Any = None, keepdims: Any = False) -> Any:
    return _ranked("percentile", x, array_of(q) / 100.0, axis, keepdims)


def _median(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _ranked("median", x, np.asarray(0.5), axis, keepdims)


def _ranked(name: str, x: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    """Between the two sorted elements nearest to rank q*(n - 1), as NumPy's `linear` does."""
    if q.dtype.kind not in "iuf" or not ((q >= 0) & (q <= 1)).all():
        raise error("E0404", f"`{name}` needs fractions between 0 and"
                    f" {100 if name == 'percentile' else 1}", help=f"such as {name}(x, "
                    f"{90 if name == 'percentile' else 0.9})")
    if not is_float(number_of(x)):
        x = cast_other(x, dtype="float64")
    shape = shape_of(x)
    rank = len(shape)
    axes = negative_axes(axis, rank)
    kept = [k - rank for k in range(rank) if k - rank not in axes]
    outer = tuple(shape[k] for k in kept)
    n = _elements([shape[a] for a in axes])
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
        if np.isnan(array_of(last)).any():
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
    "median", "x", _median, attributes=RANKED, samples=REAL,
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
    rows = _elements(before) * _elements(inner[0][:-1])
    sorted_rows = np.reshape(np.broadcast_to(sequence, before + inner[0]), (rows, inner[0][-1]))
    size = _elements(before) * _elements(inner[1]) // max(rows, 1)
    wanted = np.reshape(np.broadcast_to(values, before + inner[1]), (rows, size))
    out = np.empty(wanted.shape, dtype=np.int64)
    for k in range(rows):
        out[k] = np.searchsorted(sorted_rows[k], wanted[k], side)
    return np.reshape(out, before + inner[1])


searchsorted = stop(
    "searchsorted", "sorted_sequence values", attributes={"side": "left"},
    prepare=_search_prepare, arrays=_search, samples=(*REAL, *REAL),
    substitute="sum(sigmoid(k*({1} - {0}))), with k how steep",
    doc="where each value belongs in a sorted vector, or row by row; side left or right")


def _distinct(cores: Sequence[int], x: Any) -> Any:
    line = np.ravel(x)
    return line[np.sort(np.unique(line, return_index=True)[1])]


unique = unregistered(
    "unique", "x", arrays=_distinct, samples=REAL,
    doc="the distinct elements in order of first occurrence, as in TensorFlow")


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

# --- masks ------------------------------------------------------------------------------------


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
    count = _whole_between(num_partitions, 1, "dynamic_partition", "num_partitions")
    at = _integral(partitions, "dynamic_partition")
    _in_range("dynamic_partition", at, count, 0)
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
        raise error("E0306", f"there is no type `{dtype}`", help=f"one of {', '.join(DTYPES)}")
    n = _whole_between(depth, 0, "one_hot", "the depth")
    return {"depth": n, "on_value": one_number(on_value, "on_value"),
            "off_value": one_number(off_value, "off_value"),
            "axis": negative_axis(axis, len(shapes[0]) + 1), "dtype": dtype}


def _one_hot(cores: Sequence[int], indices: Any, depth: int, on_value: Any, off_value: Any,
             axis: int, dtype: str) -> Any:
    at = _integral(indices, "one_hot")
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
        raise error("E0306", f"there is no type `{dtype}`", help=f"one of {', '.join(DTYPES)}")
    return {"maxlen": None if maxlen is None else _whole_between(
        maxlen, 0, "sequence_mask", "maxlen"), "dtype": dtype}


def _sequence_mask(cores: Sequence[int], counts: Any, maxlen: Any, dtype: str) -> Any:
    counts = _integral(counts, "sequence_mask")
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
    return {"k": _whole_between(k, 0, "in_top_k", "k")}


def _in_top_k(cores: Sequence[int], targets: Any, predictions: Any, k: int) -> Any:
    at, scores = _integral(targets, "in_top_k"), np.asarray(predictions)
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

# --- segments ---------------------------------------------------------------------------------


# In place of a number of segments: the ids are sorted, so the last one says.
SORTED = "sorted"


def _segments(name: str, data: Any, ids: Any, count: Any) -> tuple[Any, Any, Any, int]:
    """Data as a list of slices, the segment of each as operand and as array, and their number.

    Of ids that are not sorted negative ones drop their slice. Raises E0301, E0303, E0305.
    """
    given, at = _indices(ids, name)
    shape = shape_of(data)
    if (count == SORTED and at.ndim != 1) or shape[:at.ndim] != at.shape:
        raise error("E0301", f"`{name}` cannot sort data of shape {show(shape)} by"
                    f" {show(at.shape)} segment ids", help="one id for each slice of the data")
    if count == SORTED:
        if (np.diff(at) < 0).any():
            raise error("E0305", f"`{name}`: the segment ids are not sorted",
                        help=f"use unsorted_{name}(data, segment_ids, num_segments)")
        total = int(at[-1]) + 1 if at.size else 0
        _in_range(name, at, max(total, 0), 0)
        check_bytes(8.0 * total * _elements(shape[1:]))
        return data, given, at, total
    if count is None:
        raise error("E0303", f"`{name}` needs the number of segments",
                    help=f"such as {name}(data, segment_ids, 3)")
    total = _whole_between(count, 0, name, "num_segments")
    check_bytes(8.0 * total * _elements(shape[at.ndim:]))
    if at.ndim != 1:
        data = reshape(data, shape=(at.size, *shape[at.ndim:]))
        given, at = reshape(given, shape=(at.size,)), at.ravel()
    if (at < 0).any():
        used = np.flatnonzero(at >= 0)
        data, given, at = (index(v, used, pattern=("i",)) for v in (data, given, at))
    _in_range(name, at, total, 0)
    return data, given, at, total


def _sizes(data: Any, at: Any, count: int) -> Any:
    """How many slices each segment has, ready to broadcast; 1 for none."""
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
    """Neighbours in a segment are multiplied until one is left: exact with zeros.

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
        x, at = _core_first(np.asarray(x), cores[0]), _integral(ids, name)
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
        samples=(*REAL, *PLACES), kink=tied, kinks="ties share evenly", doc=doc)


def _share(cores: Sequence[int], x: Any, ids: Any, ans: Any, count: int) -> Any:
    """What each element gets of its segment's extremum: 1, or a share where several tie."""
    x, at = np.asarray(x), _integral(ids, "segment_share")
    hits = np.moveaxis(x == np.take(ans, at, axis=-cores[2]), -cores[0], 0).astype(x.dtype)
    total = np.zeros((count, *hits.shape[1:]), dtype=x.dtype)
    np.add.at(total, at, hits)
    return np.moveaxis(hits / np.maximum(total, 1)[at], 0, -cores[0])


segment_share = stop(
    "segment_share", "x ids ans", attributes={"count": 0}, roles=("data", "index", "data"),
    arrays=_share, samples=(*REAL, *PLACES, *REAL),
    doc="1 at the extremum of each segment, a share of 1 where several tie")
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
    samples=TWO, kinks="ties share evenly",
    doc="the largest element of each segment, 0 of none; ids are sorted")
segment_min = composite(
    "segment_min", "data segment_ids",
    lambda data, segment_ids: _segment_extremum(
        segment_smallest, "segment_min", data, segment_ids, SORTED, False),
    samples=TWO, kinks="ties share evenly",
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
    attributes=COUNT, samples=TWO, kinks="ties share evenly",
    doc="largest elements by segment in any order; of none the lowest number of the type")
unsorted_segment_min = composite(
    "unsorted_segment_min", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_extremum(
        segment_smallest, "unsorted_segment_min", data, segment_ids, num_segments, False),
    attributes=COUNT, samples=TWO, kinks="ties share evenly",
    doc="smallest elements by segment in any order; of none the highest number of the type")
unsorted_segment_prod = composite(
    "unsorted_segment_prod", "data segment_ids",
    lambda data, segment_ids, num_segments=None: _segment_prod(
        "unsorted_segment_prod", data, segment_ids, num_segments),
    attributes=COUNT, samples=TWO, doc="products by segment in any order, 1 of none")

# --- tests and counts -------------------------------------------------------------------------


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
    size = _elements(x.shape[x.ndim - cores[0]:])
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
    least = _whole_between(minlength, 0, "bincount", "minlength")
    at = _integral(x, "bincount").ravel()
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
    if low is not None and not (-math.inf < low < high < math.inf):
        raise error("E0404", f"`histogram` needs low < high, not {low} and {high}",
                    help="such as low=0, high=1")
    return {"bins": _whole_between(bins, 1, "histogram", "the number of bins"), "low": low,
            "high": high}


def _histogram(cores: Sequence[int], x: Any, bins: int, low: Any, high: Any) -> Any:
    check_bytes(8.0 * bins)
    if low is None and not np.isfinite(x).all():
        raise error("E0404", "`histogram` of infinite or missing numbers needs a range",
                    help="such as histogram(x, 10, low=0, high=1)")
    return np.histogram(x, bins=bins, range=None if low is None else (low, high))[0]


SMOOTH_BINS = "sums of smooth gates such as sigmoid(k*({0} - edge)), with k how steep"
histogram = stop(
    "histogram", "x", attributes={"bins": 10, "low": None, "high": None},
    prepare=_histogram_prepare, arrays=_histogram, samples=REAL, substitute=SMOOTH_BINS,
    doc="how many elements lie in each of so many equal bins from low to high, as in NumPy")


def _fixed_prepare(shapes: Sequence[Shape], value_range: Any, nbins: Any) -> dict[str, Any]:
    ends = array_of(value_range)
    if ends.shape != (2,) or not -math.inf < ends[0] < ends[1] < math.inf:
        raise error("E0404", "`histogram_fixed_width` needs a range [low, high]",
                    help="such as histogram_fixed_width(x, [0, 1], 10)")
    return {"value_range": (float(ends[0]), float(ends[1])),
            "nbins": _whole_between(nbins, 1, "histogram_fixed_width", "the number of bins")}


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

# --- running extrema --------------------------------------------------------------------------


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
    doc="the index of the first largest or smallest element so far")
