"""Operations that move elements: linear, with a transpose that moves them back.

Axes count from the right (see `gradcli.ops.kinds`): `prepare` turns what the caller wrote into
negative axes and full shapes, so that rules never meet a positive one.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import linear
from gradcli.ops.values import check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

REAL = ((-3.0, 3.0),)


def whole(value: Any, what: str) -> int:
    """Return an index, axis or length: integral floats are welcome. Raises E0303 otherwise."""
    if type(value) is int and -2**53 < value < 2**53:
        return value
    value = value.decides() if hasattr(value, "decides") else value
    if isinstance(value, (int, float)) and value == value // 1 and abs(value) < 2**53:
        return int(value)
    if getattr(value, "ndim", None) == 0:
        return whole(value.item(), what)
    raise error("E0303", f"{what} must be a whole number, not `{value!r}`",
                help="write a number such as 2", about=("value", value))


def negative_axis(axis: Any, rank: int) -> int:
    """Return an axis counted from the right. Raises E0304 where there is none."""
    k = whole(axis, "an axis")
    if not -rank <= k < rank:
        raise error(
            "E0304",
            f"axis {k} does not exist: the tensor has {rank} ax{'i' if rank == 1 else 'e'}s",
            help=f"axes go from 0 to {rank - 1}" if rank > 1 else
            "its only axis is 0" if rank else "a scalar has no axes", about=("value", axis))
    return k if k < 0 else k - rank


def negative_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Return axes from None (all), a number or a list; negative, without repetitions, sorted."""
    axis = getattr(axis, "value", axis)
    if axis is None:
        return tuple(range(-rank, 0))
    if getattr(axis, "ndim", None):
        axis = axis.tolist()
    if isinstance(axis, (list, tuple)):
        return tuple(sorted({negative_axis(a, rank) for a in axis}))
    return (negative_axis(axis, rank),)


def lengths(shape: Any) -> Shape:
    """Return a shape as a tuple, from a number or a list of them."""
    shape = shape.decides() if hasattr(shape, "decides") else shape
    if hasattr(shape, "tolist"):
        shape = shape.tolist()
    if not isinstance(shape, (list, tuple)):
        shape = [shape]
    return tuple(whole(n, "a length") for n in shape)


def lead(x: Any, core: int) -> Shape:
    """Return the batch axes of an array whose core rank is `core`."""
    shape = shape_of(x)
    return shape[:len(shape) - core]


# --- reshape, transpose, broadcast ------------------------------------------------------------


def _reshape_prepare(shapes: Sequence[Shape], shape: Any) -> dict[str, Any]:
    wanted = list(lengths(shape))
    count = _product(shapes[0])
    if wanted.count(-1) == 1:
        rest = _product([n for n in wanted if n != -1])
        wanted[wanted.index(-1)] = count // rest if rest else 0
    if _product(wanted) != count or min(wanted, default=0) < 0:
        raise error("E0301", f"cannot reshape {show(shapes[0])} to {show(lengths(shape))}:"
                    f" {count} elements against {_product(wanted)}",
                    help="the product of the lengths must stay the same; one may be -1")
    return {"shape": tuple(wanted)}


def _product(numbers: Sequence[int]) -> int:
    result = 1
    for n in numbers:
        result *= n
    return result


reshape = linear(
    "reshape", "x", lambda g, ans, x, shape: reshape(g, shape=shape_of(x)),
    attributes={"shape": None}, prepare=_reshape_prepare, samples=REAL,
    arrays=lambda cores, x, shape: np.reshape(x, lead(x, cores[0]) + shape),
    doc="the same elements in another shape; one length may be -1", traits="bounded listed")
align = linear(
    "align", "x", lambda g, ans, x, rank: reshape(g, shape=shape_of(x)),
    attributes={"rank": 0}, samples=REAL,
    arrays=lambda cores, x, rank: np.reshape(
        x, lead(x, cores[0]) + (1,) * (rank - cores[0]) + shape_of(x)[len(lead(x, cores[0])):]),
    doc="unit axes in front of the core, up to a core rank", internal=True)


def _transpose_prepare(shapes: Sequence[Shape], axes: Any = None) -> dict[str, Any]:
    rank = len(shapes[0])
    if axes is None:
        return {"axes": tuple(range(-1, -rank - 1, -1))}
    order = tuple(negative_axis(a, rank) for a in lengths(axes))
    if sorted(order) != list(range(-rank, 0)):
        raise error("E0304", f"`transpose` needs each of the {rank} axes once, not {show(order)}",
                    help=f"such as transpose(x, {show(range(rank)[::-1])})")
    return {"axes": order}


def _transpose(cores: Sequence[int], x: Any, axes: Sequence[int]) -> Any:
    rank = len(shape_of(x))
    first = rank - cores[0]
    return np.transpose(x, [*range(first), *[rank + a for a in axes]])


def _inverse(axes: Sequence[int]) -> list[int]:
    rank = len(axes)
    order = [0] * rank
    for k, a in enumerate(axes):
        order[a + rank] = k
    return order


transpose = linear(
    "transpose", "x", lambda g, ans, x, axes: transpose(g, axes=_inverse(axes)),
    attributes={"axes": None}, prepare=_transpose_prepare, arrays=_transpose, samples=REAL,
    latex=r"{0}^\mathsf{{T}}", doc="axes in another order, by default reversed",
    traits="bounded listed")


def _broadcast(cores: Sequence[int], x: Any, shape: Shape) -> Any:
    before = lead(x, cores[0])
    core = shape_of(x)[len(before):]
    check_bytes(8.0 * _product(before) * _product(shape))
    wide = np.asarray(x).reshape(before + (1,) * (len(shape) - cores[0]) + core)
    out = np.empty(before + tuple(shape), wide.dtype)
    out[...] = wide     # half the time of NumPy's broadcast_to and a copy
    return out


def _broadcast_prepare(shapes: Sequence[Shape], shape: Any) -> dict[str, Any]:
    wanted = lengths(shape)
    core = shapes[0]
    if len(core) > len(wanted) or any(
            n not in (1, m) for n, m in zip(core[::-1], wanted[::-1], strict=False)):
        raise error("E0301", f"cannot broadcast {show(core)} to {show(wanted)}",
                    help="lengths must be equal or 1, counted from the right")
    return {"shape": wanted}


broadcast_to = linear(
    "broadcast_to", "x", lambda g, ans, x, shape: sum_to(g, shape=shape_of(x)),
    attributes={"shape": None}, prepare=_broadcast_prepare, arrays=_broadcast, samples=REAL,
    doc="repeated to a larger shape", traits="bounded listed")


def _sum_to(cores: Sequence[int], x: Any, shape: Shape) -> Any:
    before = lead(x, cores[0])
    core = shape_of(x)[len(before):]
    extra = len(core) - len(shape)
    axes = tuple(k - len(core) for k, n in enumerate(core)
                 if k < extra or (n != 1 and shape[k - extra] == 1))
    return np.reshape(np.sum(x, axis=axes), before + tuple(shape)) if axes else np.reshape(
        x, before + tuple(shape))


sum_to = linear(
    "sum_to", "x", lambda g, ans, x, shape: broadcast_to(g, shape=shape_of(x)),
    attributes={"shape": ()}, arrays=_sum_to, samples=REAL,
    doc="summed back to a shape that broadcasts to its own", internal=True, traits="bounded")


def expand_dims_at(shape: Shape, axes: Sequence[int]) -> Shape:
    """Return `shape` of a reduced tensor with the reduced (negative) `axes` back as length 1."""
    rank = len(shape) + len(axes)
    kept = iter(shape)
    return tuple(1 if k - rank in axes else next(kept) for k in range(rank))


# --- indexing ---------------------------------------------------------------------------------


def _pattern(pattern: Sequence[Any], indices: Sequence[Any]) -> tuple[Any, ...]:
    values = iter(indices)
    return tuple(_one_index(next(values)) if item == "i" else item for item in pattern)


def _one_index(value: Any) -> Any:
    if hasattr(value, "ndim"):
        return value if value.dtype.kind in "bi" else value.astype(np.int64)
    return value if isinstance(value, bool) else whole(value, "an index")


def _index(cores: Sequence[int], x: Any, *indices: Any, pattern: Sequence[Any]) -> Any:
    if not cores[0] and any(item is not None for item in pattern):
        raise error("E0305", "a scalar has no elements to index", help="leave out the brackets")
    if any(isinstance(item, slice) and item.step == 0 for item in pattern):
        raise error("E0303", "the step of a slice must not be 0", help="write 1 or -1")
    where = _pattern(pattern, indices)
    try:
        return np.array(_batch_first(_core_first(np.asarray(x), cores[0])[where], x, cores[0]))
    except IndexError:
        core = shape_of(x)[len(lead(x, cores[0])):]
        used = sum(item is not None for item in pattern)
        what = (f"{used} indices for a tensor of shape {show(core)}" if used > len(core)
                else f"index out of range for the shape {show(core)}")
        wrong = _outside(core, pattern, indices) if used <= len(core) else None
        raise error("E0305", what, help="indices count from 0; negative ones from the end",
                    about=None if wrong is None else ("value", wrong)) from None


def _outside(shape: Shape, pattern: Sequence[Any], indices: Sequence[Any]) -> Any:
    """Return the first index that its axis does not have; None where masks make that unclear."""
    lengths_ = iter(shape)
    values = iter(indices)
    for item in pattern:
        n = 1 if item is None else next(lengths_)
        value = next(values) if item == "i" else None
        if value is not None and (isinstance(value, bool) or getattr(
                getattr(value, "dtype", None), "kind", "") == "b"):
            return None
        if value is not None and not np.all((np.asarray(value) < n) & (np.asarray(value) >= -n)):
            return value
    return None


def _put(cores: Sequence[int], x: Any, *indices: Any, pattern: Sequence[Any], shape: Shape) -> Any:
    before = lead(x, cores[0])
    out = np.zeros(tuple(shape) + before, dtype=np.result_type(x))
    np.add.at(out, _pattern(pattern, indices), _core_first(np.asarray(x), cores[0]))
    return _batch_first(out, x, cores[0])


# NumPy moves the axes of separated index arrays to the very front; with the batch axes behind the
# core an index means the same whether there are any or not.
def _core_first(x: Any, core: int) -> Any:
    before = x.ndim - core
    return np.moveaxis(x, tuple(range(before)), tuple(range(core, x.ndim))) if before else x


def _batch_first(y: Any, x: Any, core: int) -> Any:
    before = len(lead(x, core))
    return np.moveaxis(y, tuple(range(y.ndim - before, y.ndim)), tuple(range(before))
                       ) if before else y


# The tensors among the indices are arguments of their own, so that a path through them is seen.
index = linear(
    "index", "x *indices",
    lambda g, ans, x, *indices, pattern: put(g, *indices, pattern=pattern, shape=shape_of(x)),
    None, attributes={"pattern": ()}, roles=("data", "index"), arrays=_index, samples=REAL,
    doc="elements and slices: A[0], A[:, 1], A[-1]", internal=True, traits="bounded")
put = linear(
    "put", "x *indices",
    lambda g, ans, x, *indices, pattern, shape: index(g, *indices, pattern=pattern),
    None, attributes={"pattern": (), "shape": ()}, roles=("data", "index"), arrays=_put,
    samples=REAL, doc="zeros with x added at the places an index names: its transpose",
    internal=True, traits="bounded")

# --- joining ----------------------------------------------------------------------------------


def _join_prepare(shapes: Sequence[Shape], axis: Any, new: int) -> dict[str, Any]:
    if not shapes:
        raise error("E0301", "nothing to join: the list is empty", help="give at least one tensor")
    axis = negative_axis(axis, len(shapes[0]) + new)
    for s in shapes[1:]:
        drop = len(s) + axis if not new else -1
        if len(s) != len(shapes[0]) or any(
                a != b for k, (a, b) in enumerate(zip(s, shapes[0], strict=True)) if k != drop):
            raise error("E0301", f"cannot join shapes {show(shapes[0])} and {show(s)}",
                        help="the other axes must have the same lengths")
    return {"axis": axis}


def _same_lead(cores: Sequence[int], xs: Sequence[Any]) -> list[Any]:
    """Return operands with their batch axes broadcast against each other."""
    before = np.broadcast_shapes(*[lead(x, c) for x, c in zip(xs, cores, strict=True)])
    return [np.broadcast_to(x, before + shape_of(x)[len(shape_of(x)) - c:])
            for x, c in zip(xs, cores, strict=True)]


def _split(g: Any, xs: Sequence[Any], axis: int) -> list[Any]:
    parts = []
    start = 0
    for x in xs:
        stop = start + shape_of(x)[axis]
        pattern = (slice(None),) * (len(shape_of(x)) + axis) + (slice(start, stop),)
        parts.append(index(g, pattern=pattern))
        start = stop
    return parts


def _unstack(g: Any, count: int, axis: int, rank: int) -> list[Any]:
    before = (slice(None),) * (rank + axis)
    return [index(g, pattern=(*before, k)) for k in range(count)]


concat = linear(
    "concat", "*xs", lambda g, ans, *xs, axis: _split(g, xs, axis), aliases="concatenate",
    attributes={"axis": 0}, samples=REAL,
    prepare=lambda shapes, axis: _join_prepare(shapes, axis, 0),
    arrays=lambda cores, *xs, axis: np.concatenate(_same_lead(cores, xs), axis=axis),
    doc="tensors joined along an axis they have", traits="bounded")
stack = linear(
    "stack", "*xs", lambda g, ans, *xs, axis: _unstack(g, len(xs), axis, len(shape_of(ans))),
    attributes={"axis": 0}, samples=REAL,
    prepare=lambda shapes, axis: _join_prepare(shapes, axis, 1),
    arrays=lambda cores, *xs, axis: np.stack(_same_lead(cores, xs), axis=axis),
    doc="tensors of one shape joined along a new axis", traits="bounded")

# --- batch axes, for recorded Jacobians -------------------------------------------------------


def _spread(cores: Sequence[int], x: Any, at: int, lengths: Shape) -> Any:
    shape = shape_of(x)
    wide = np.reshape(x, shape[:at] + (1,) * len(lengths) + shape[at:])
    return np.broadcast_to(wide, shape[:at] + tuple(lengths) + shape[at:]).copy()


def _moved(x: Any, ans: Any) -> int:
    return int(getattr(x, "batch", 0)) - int(getattr(ans, "batch", 0))


# A cotangent may carry seed axes in front of those of the entry: `at` moves by as many.
sum_batch = linear(
    "sum_batch", "x",
    lambda g, ans, x, at, count: spread(
        g, at=at + _moved(g, ans), lengths=shape_of(x.value)[at:at + count]),
    attributes={"at": 0, "count": 0}, batching="sum",
    arrays=lambda cores, x, at, count: np.sum(x, axis=tuple(range(at, at + count))), samples=REAL,
    doc="the sum over batch axes", internal=True)
spread = linear(
    "spread", "x",
    lambda g, ans, x, at, lengths: sum_batch(g, at=at + _moved(g, ans), count=len(lengths)),
    attributes={"at": 0, "lengths": ()}, batching="spread", arrays=_spread, samples=REAL,
    doc="repeated along new batch axes", internal=True)
unbatch = linear(
    "unbatch", "x", lambda g, ans, x: rebatch(g), batching="to core",
    arrays=lambda cores, x: x, samples=REAL, doc="the last batch axis becomes the first core axis",
    internal=True)
rebatch = linear(
    "rebatch", "x", lambda g, ans, x: unbatch(g), batching="to batch",
    arrays=lambda cores, x: x, samples=REAL, doc="the first core axis becomes a batch axis",
    internal=True)
