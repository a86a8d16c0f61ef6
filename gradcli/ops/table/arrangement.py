"""Other arrangements of the same elements: axes added and moved, copies, borders, parts.

All are linear. Two have rows of their own (`flip`, `roll`); the others are slices, reshapes and
repetitions under the names that people know.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.arguments import array_of, kind_of, one_number
from gradcli.ops.kinds import composite, linear
from gradcli.ops.table.elementwise import where
from gradcli.ops.table.shapes import (
    REAL,
    broadcast_to,
    expand_dims_at,
    index,
    lead,
    lengths,
    negative_axes,
    negative_axis,
    put,
    reshape,
    transpose,
    whole,
)
from gradcli.ops.values import cast, check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape



def _axis_list(axis: Any, rank: int) -> list[int]:
    """Return axes in the order given, counted from the right. Raises E0303, E0304."""
    given = array_of(axis)
    return [negative_axis(a, rank) for a in (given.tolist() if given.ndim else [given.item()])]


def _counts(values: Any, what: str) -> Shape:
    """Return whole numbers of at least 0. Raises E0303."""
    found = lengths(values)
    for n in found:
        if n < 0:
            raise error("E0303", f"{what} cannot be negative: {n}", help="use 0 or more",
                        about=("value", n))
    return found


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


# --- axes -------------------------------------------------------------------------------------


def _expand_dims(x: Any, axis: Any = 0) -> Any:
    given = array_of(axis)
    rank = len(shape_of(x)) + max(given.size, given.ndim == 0)
    axes = _axis_list(axis, rank)
    if len(set(axes)) < len(axes):
        raise error("E0304", f"`expand_dims` names an axis twice: {given.tolist()}",
                    help="name each new axis once")
    return reshape(x, shape=expand_dims_at(shape_of(x), axes))


def _squeeze(x: Any, axis: Any = None) -> Any:
    shape = shape_of(x)
    rank = len(shape)
    axes = negative_axes(axis, rank)
    if axis is not None:
        for a in axes:
            if shape[a] != 1:
                raise error("E0301", f"`squeeze` cannot drop axis {a + rank} of {show(shape)}: its"
                            f" length is {shape[a]}", help="only axes of length 1 can be dropped")
    return reshape(x, shape=[n for k, n in enumerate(shape)
                             if n != 1 or k - rank not in axes])


def _moveaxis(x: Any, source: Any = None, destination: Any = None) -> Any:
    rank = len(shape_of(x))
    old, new = _axis_list(source, rank), _axis_list(destination, rank)
    if len(old) != len(new) or len(set(old)) < len(old) or len(set(new)) < len(new):
        raise error("E0304", "`moveaxis` needs each axis once and a destination for each",
                    help="such as moveaxis(x, 0, -1) or moveaxis(x, [0, 1], [1, 0])")
    places = dict(zip(new, old, strict=True))
    others = iter([a for a in range(-rank, 0) if a not in old])
    return transpose(x, axes=[places[a] if a in places else next(others)
                              for a in range(-rank, 0)])


def _swapaxes(x: Any, axis1: Any = 0, axis2: Any = 1) -> Any:
    rank = len(shape_of(x))
    order = list(range(-rank, 0))
    a, b = negative_axis(axis1, rank), negative_axis(axis2, rank)
    order[a], order[b] = order[b], order[a]
    return transpose(x, axes=order)


def _at_least(x: Any, rank: int) -> Any:
    shape = shape_of(x)
    return x if len(shape) >= rank else reshape(x, shape=(1,) * (rank - len(shape)) + shape)


expand_dims = composite(
    "expand_dims", "x", _expand_dims, aliases="unsqueeze", attributes={"axis": 0}, samples=REAL,
    doc="a new axis of length 1, or several")
squeeze = composite(
    "squeeze", "x", _squeeze, attributes={"axis": None}, samples=REAL,
    doc="without the axes of length 1, by default all of them")
moveaxis = composite(
    "moveaxis", "x", _moveaxis, attributes={"source": None, "destination": None}, samples=REAL,
    doc="axes moved to other places, the rest in order: moveaxis(x, 0, -1)")
swapaxes = composite(
    "swapaxes", "x", _swapaxes, attributes={"axis1": 0, "axis2": 1}, samples=REAL,
    doc="two axes exchanged")
atleast_1d = composite(
    "atleast_1d", "x", lambda x: _at_least(x, 1), samples=REAL, doc="a scalar as a vector")
atleast_2d = composite(
    "atleast_2d", "x", lambda x: _at_least(x, 2), samples=REAL, doc="a vector as one row")
flatten = composite(
    "flatten", "x", lambda x: reshape(x, shape=(_elements(shape_of(x)),)), aliases="ravel",
    samples=REAL, doc="all elements in one vector, row by row")

# --- order ------------------------------------------------------------------------------------

flip = linear(
    "flip", "x", lambda g, ans, x, axis: flip(g, axis=axis), aliases="reverse",
    attributes={"axis": None}, samples=REAL,
    prepare=lambda shapes, axis: {"axis": negative_axes(axis, len(shapes[0]))},
    arrays=lambda cores, x, axis: np.flip(x, axis),
    doc="the other way round along an axis or several, by default all")


def _roll_prepare(shapes: Sequence[Shape], shift: Any, axis: Any) -> dict[str, Any]:
    shifts = lengths(shift)
    if axis is None:
        return {"shift": (sum(shifts),), "axis": None}
    axes = _axis_list(axis, len(shapes[0]))
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise error("E0301", f"`roll` has {len(shifts)} shifts for {len(axes)} axes",
                    help="give one shift for each axis, or one for all")
    return {"shift": shifts, "axis": tuple(axes)}


def _roll(cores: Sequence[int], x: Any, shift: Shape, axis: Any) -> Any:
    if axis is not None:
        return np.roll(x, shift, axis)
    before = lead(x, cores[0])
    line = np.reshape(x, (*before, _elements(shape_of(x)[len(before):])))
    return np.reshape(np.roll(line, shift[0], -1), shape_of(x))


roll = linear(
    "roll", "x",
    lambda g, ans, x, shift, axis: roll(g, shift=[-s for s in shift], axis=axis),
    attributes={"shift": 1, "axis": None}, prepare=_roll_prepare, arrays=_roll, samples=REAL,
    doc="moved along an axis, those that fall off come in again; without an axis as one vector")

# --- copies -----------------------------------------------------------------------------------


def _tile(x: Any, multiples: Any = 1) -> Any:
    counts = _counts(multiples, "a number of copies")
    shape = shape_of(x)
    rank = max(len(shape), len(counts))
    shape = (1,) * (rank - len(shape)) + shape
    counts = (1,) * (rank - len(counts)) + counts
    pairs = [n for k in shape for n in (1, k)]
    wide = [n for k, m in zip(shape, counts, strict=True) for n in (m, k)]
    return reshape(broadcast_to(reshape(x, shape=pairs), shape=wide),
                   shape=[m * k for k, m in zip(shape, counts, strict=True)])


def _repeat(x: Any, repeats: Any = 1, axis: Any = None) -> Any:
    if axis is None:
        x, axis = flatten(x), 0
    counts = _counts(repeats, "a number of repetitions")
    rank = len(shape_of(x))
    a = negative_axis(axis, rank)
    n = shape_of(x)[a]
    if len(counts) not in (1, n):
        raise error("E0301", f"`repeat` has {len(counts)} numbers for an axis of length {n}",
                    help="give one number, or one for each element")
    total = sum(counts) * (n if len(counts) == 1 else 1)
    check_bytes(8.0 * total * _elements(shape_of(x)) / max(n, 1))
    chosen = np.repeat(np.arange(n), counts)
    return index(x, chosen, pattern=((slice(None),) * (rank + a) + ("i",)))


tile = composite(
    "tile", "x", _tile, attributes={"multiples": 1}, samples=REAL,
    doc="copies side by side: tile(x, [2, 3]) is two downwards and three across")
repeat = composite(
    "repeat", "x", _repeat, attributes={"repeats": 1, "axis": None}, samples=REAL,
    doc="each element several times; repeats is a number, or one for each element of the axis")

# --- borders ----------------------------------------------------------------------------------

MODES = ("constant", "reflect", "symmetric", "edge", "wrap")


def _widths(paddings: Any, rank: int) -> list[tuple[int, int]]:
    given = array_of(paddings)
    flat = _counts(given.ravel(), "a padding")
    try:
        wide = np.broadcast_to(np.reshape(np.array(flat, dtype=np.int64), given.shape), (rank, 2))
    except ValueError:
        raise error("E0301", f"`pad` needs paddings of shape {show((rank, 2))}, not"
                    f" {show(given.shape)}",
                    help="one pair for each axis: [[before, after], ...]") from None
    return [(before, after) for before, after in wide.tolist()]


def _pad(x: Any, paddings: Any = 0, mode: Any = "constant", constant_values: Any = 0.0) -> Any:
    shape = shape_of(x)
    rank = len(shape)
    kind: Any = mode.lower() if isinstance(mode, str) else mode
    if kind not in MODES:
        raise error("E0404", f"`pad` has no mode {mode!r}", help=f"one of {', '.join(MODES)}",
                    about=("value", mode))
    widths = _widths(paddings, rank) if rank else []
    total = tuple(n + a + b for n, (a, b) in zip(shape, widths, strict=True))
    check_bytes(8.0 * _elements(total))
    if kind == "constant":
        return _framed(x, widths, total, constant_values)
    for k, (a, b) in enumerate(widths):
        if not a + b:
            continue
        if not shape[k]:
            raise error("E0301", f"`pad` has nothing to repeat along axis {k} of {show(shape)}",
                        help='use mode="constant"')
        chosen = np.pad(np.arange(shape[k]), (a, b), mode=kind)
        x = index(x, chosen, pattern=((slice(None),) * k + ("i",)))
    return x


def _framed(x: Any, widths: Sequence[tuple[int, int]], total: Shape, value: Any) -> Any:
    inside = tuple(slice(a, m - b) for (a, b), m in zip(widths, total, strict=True))
    out = put(x, pattern=inside, shape=total)
    value = one_number(value, "constant_values")
    if not value:
        return out
    kind = kind_of(x)
    if kind.startswith("int") and value % 1 != 0:
        raise error("E0302", f"`pad` mixes {kind} with {value!r}, which is none",
                    help="make the integer a float: float(...)")
    within = np.zeros(total, dtype=bool)
    within[inside] = True
    return where(within, out, cast(value, kind))


pad = composite(
    "pad", "x", _pad, attributes={"paddings": 0, "mode": "constant", "constant_values": 0.0},
    samples=REAL,
    doc="a border around x: paddings [[before, after], ...], mode constant, reflect or symmetric")

# --- parts: lists -----------------------------------------------------------------------------


def _split(x: Any, num_or_size_splits: Any = 2, axis: Any = 0) -> list[Any]:
    shape = shape_of(x)
    rank = len(shape)
    a = negative_axis(axis, rank)
    n = shape[a]
    if not array_of(num_or_size_splits).ndim:
        count = whole(num_or_size_splits, "the number of parts")
        if count < 1 or n % count:
            raise error("E0301", f"`split` cannot cut a length of {n} into {count} equal parts",
                        help="give the sizes: split(x, [2, 3])")
        sizes: list[int] = [n // count] * count
    else:
        sizes = list(lengths(num_or_size_splits))
        if sizes.count(-1) == 1:
            sizes[sizes.index(-1)] = n - (sum(sizes) + 1)
        if sum(sizes) != n or min(sizes, default=0) < 0:
            raise error("E0301", f"`split` needs sizes that add up to {n}, not"
                        f" {show(lengths(num_or_size_splits))}", help="one of them may be -1")
    parts = []
    start = 0
    for size in sizes:
        parts.append(index(x, pattern=(*(slice(None),) * (rank + a), slice(start, start + size))))
        start += size
    return parts


def _unstack(x: Any, axis: Any = 0) -> list[Any]:
    rank = len(shape_of(x))
    a = negative_axis(axis, rank)
    return [index(x, pattern=(*(slice(None),) * (rank + a), k)) for k in range(shape_of(x)[a])]


def _meshgrid(*xs: Any, indexing: Any = "xy") -> list[Any]:
    if indexing not in ("xy", "ij"):
        raise error("E0404", f"`meshgrid` has no indexing {indexing!r}", help='"xy" or "ij"',
                    about=("value", indexing))
    if not xs:
        raise error("E0301", "`meshgrid` needs at least one vector", help="such as meshgrid(x, y)")
    for x in xs:
        if len(shape_of(x)) > 1:
            raise error("E0301", f"`meshgrid` needs vectors, not {show(shape_of(x))}",
                        help="flatten(x) makes a vector")
    order = list(range(len(xs)))
    if indexing == "xy":
        order[:2] = order[1::-1]
    counts = [_elements(shape_of(x)) for x in xs]
    grid = [counts[k] for k in order]
    check_bytes(8.0 * len(xs) * _elements(grid))
    return [broadcast_to(reshape(x, shape=[counts[k] if j == k else 1 for j in order]), shape=grid)
            for k, x in enumerate(xs)]


split = composite(
    "split", "x", _split, attributes={"num_or_size_splits": 2, "axis": 0}, samples=REAL,
    doc="a list of parts: split(x, 3) in equal ones, split(x, [1, 2]) in parts of these sizes")
unstack = composite(
    "unstack", "x", _unstack, aliases="unbind", attributes={"axis": 0}, samples=REAL,
    doc="the list of the parts along an axis, each without it")
meshgrid = composite(
    "meshgrid", "*xs", _meshgrid, attributes={"indexing": "xy"}, samples=REAL,
    doc='coordinates of a grid as a list, one tensor for each vector; indexing "xy" or "ij"')
