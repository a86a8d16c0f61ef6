"""Convolution and pooling of signals and images: channels last, kernels [height, width, in, out].

A convolution is bilinear. With a third tensor y of its result's shape, sum(y * conv(x, k)) is
linear in each of the three, and its slopes in x and k are the two further rows here; so the
derivatives of each of the three rows are the other two, to any order. Windows are views of the
padded input; a matrix product sums over them.

Padding as in TensorFlow: "VALID" none, "SAME" so that the result has ceil(n/stride) elements.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import bilinear, composite, general, linear
from gradcli.ops.table.elementwise import divide, multiply
from gradcli.ops.table.shapes import lead, lengths, reshape, transpose
from gradcli.ops.values import check_bytes, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.ops.values import Shape

REAL = ((-3.0, 3.0), (-3.0, 3.0))

# --- windows ----------------------------------------------------------------------------------


def _padded(x: Any, pads: Sequence[Sequence[int]], fill: float = 0.0) -> Any:
    """Return x with its spatial axes, all but the channels at the end, extended."""
    if not any(map(any, pads)):
        return x
    before = x.ndim - len(pads) - 1
    return np.pad(x, [(0, 0)] * before + [tuple(p) for p in pads] + [(0, 0)], constant_values=fill)


def _windows(x: Any, kernel: Shape, strides: Shape, dilations: Shape,
             pads: Sequence[Sequence[int]], fill: float = 0.0) -> Any:
    """Return a view [..., positions, channels, taps] of x [..., lengths, channels].

    kernel: the lengths of a window.
    strides, dilations: the steps between windows, and between taps.
    pads: (before, after) for each spatial axis.
    fill: the value of the padding.
    """
    d = len(kernel)
    reach = tuple((k - 1) * s + 1 for k, s in zip(kernel, dilations, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(
        _padded(x, pads, fill), reach, axis=tuple(range(-d - 1, -1)))
    every = [slice(None, None, s) for s in (*strides, 1, *dilations)]
    return view[_at_end(every)]


def _at_end(slices: Sequence[slice]) -> tuple[Any, ...]:
    """Return an index of the last axes."""
    return (..., *slices)


def _matrix(x: Any, core: int, kernel: Shape, attributes: Mapping[str, Any]) -> Any:
    """Return the windows as a matrix [..., positions, channels*taps], batch axes in front."""
    before = lead(x, core)
    windows = _windows(x, kernel, **attributes)
    check_bytes(8.0 * math.prod(windows.shape))
    rows = windows.shape[len(before):windows.ndim - len(kernel) - 1]
    taps = windows.shape[windows.ndim - len(kernel) - 1:]
    return np.reshape(windows, (*before, math.prod(rows), math.prod(taps)))


def _kernel_matrix(k: Any, core: int) -> Any:
    """Return a kernel [..., taps, in, out] as a matrix [..., in*taps, out], batch axes in front."""
    before = lead(k, core)
    channels, out = k.shape[-2:]
    moved = np.moveaxis(k, -2, len(before))
    return np.reshape(moved, (*before, channels * math.prod(moved.shape[len(before) + 1:-1]), out))


def _add_windows(parts: Any, size: Shape, strides: Shape, dilations: Shape,
                 pads: Sequence[Sequence[int]]) -> Any:
    """Apply the transpose of `_windows`: add [..., positions, channels, taps] to where they lie.

    size: the lengths of the result. strides, dilations, pads: as in `_windows`.
    """
    d = len(size)
    kernel, channels = parts.shape[-d:], parts.shape[-d - 1]
    before, positions = parts.shape[:-2 * d - 1], parts.shape[-2 * d - 1:-d - 1]
    wide = [n + sum(p) for n, p in zip(size, pads, strict=True)]
    out = np.zeros((*before, *wide, channels), dtype=parts.dtype)
    for tap in np.ndindex(*kernel):
        where = [slice(t * s, t * s + (n - 1) * step + 1, step) if n else slice(0, 0)
                 for t, s, n, step in zip(tap, dilations, positions, strides, strict=True)]
        out[_at_end([*where, slice(None)])] += parts[(..., *tap)]
    inner = [slice(p[0], p[0] + n) for p, n in zip(pads, size, strict=True)]
    return out[_at_end([*inner, slice(None)])]


# --- the three rows of a convolution ----------------------------------------------------------


def _convolve(cores: Sequence[int], x: Any, k: Any, **attributes: Any) -> Any:
    d = cores[1] - 2
    kernel = k.shape[k.ndim - d - 2:k.ndim - 2]
    rows = _matrix(x, cores[0], kernel, attributes)
    product = np.matmul(rows, _kernel_matrix(k, cores[1]))
    images = x.shape[x.ndim - cores[0]:x.ndim - d - 1]
    return np.reshape(product, (*product.shape[:-2], *images, *_positions(
        x.shape[-d - 1:-1], kernel, **attributes), k.shape[-1]))


def _positions(size: Shape, kernel: Shape, strides: Shape, dilations: Shape,
               pads: Sequence[Sequence[int]]) -> Shape:
    return tuple(
        max((n + sum(p) - (k - 1) * step - 1) // s + 1, 0)
        for n, k, s, step, p in zip(size, kernel, strides, dilations, pads, strict=True))


def _convolve_input(cores: Sequence[int], y: Any, k: Any, size: Shape, **attributes: Any) -> Any:
    d = len(size)
    before = lead(y, cores[0])
    inner = y.shape[len(before):]
    kernel, channels = k.shape[k.ndim - d - 2:k.ndim - 2], k.shape[-2]
    rows = np.reshape(y, (*before, math.prod(inner[:-1]), inner[-1]))
    check_bytes(8.0 * rows.size // max(inner[-1], 1) * channels * math.prod(kernel))
    parts = np.matmul(rows, np.swapaxes(_kernel_matrix(k, cores[1]), -1, -2))
    parts = np.reshape(parts, (*parts.shape[:-2], *inner[:-1], channels, *kernel))
    return _add_windows(parts, size, **attributes)


def _convolve_kernel(cores: Sequence[int], x: Any, y: Any, size: Shape, **attributes: Any) -> Any:
    before = lead(y, cores[1])
    inner = y.shape[len(before):]
    rows = _matrix(x, cores[0], tuple(size), attributes)
    product = np.matmul(np.swapaxes(rows, -1, -2),
                        np.reshape(y, (*before, math.prod(inner[:-1]), inner[-1])))
    shape = (*product.shape[:-2], x.shape[-1], *size, inner[-1])
    return np.moveaxis(np.reshape(product, shape), len(shape) - len(size) - 2, -2)


def _spatial(x: Any, d: int) -> Shape:
    """Return the lengths of the d spatial axes, before the channels."""
    return tuple(shape_of(x)[-d - 1:-1])


def _taps(k: Any, d: int) -> Shape:
    return tuple(shape_of(k)[-d - 2:-2])


def _geometry_of(strides: Any, dilations: Any, pads: Any) -> dict[str, Any]:
    return {"strides": strides, "dilations": dilations, "pads": pads}


GEOMETRY = _geometry_of((), (), ())
SIZED = {"size": (), **GEOMETRY}

convolve = bilinear(
    "convolve", "x kernel",
    lambda g, ans, x, kernel, strides, dilations, pads: convolve_input(
        g, kernel, size=_spatial(x, len(strides)), **_geometry_of(strides, dilations, pads)),
    lambda g, ans, x, kernel, strides, dilations, pads: convolve_kernel(
        x, g, size=_taps(kernel, len(strides)), **_geometry_of(strides, dilations, pads)),
    attributes=GEOMETRY, arrays=_convolve, samples=REAL,
    doc="the products of a kernel with windows of x, summed over taps and channels", internal=True)
convolve_input = bilinear(
    "convolve_input", "y kernel",
    lambda g, ans, y, kernel, size, strides, dilations, pads: convolve(
        g, kernel, **_geometry_of(strides, dilations, pads)),
    lambda g, ans, y, kernel, size, strides, dilations, pads: convolve_kernel(
        g, y, size=_taps(kernel, len(size)), **_geometry_of(strides, dilations, pads)),
    attributes=SIZED, arrays=_convolve_input, samples=REAL,
    doc="the transpose of `convolve` in x: y spread back over windows of the given size",
    internal=True)
convolve_kernel = bilinear(
    "convolve_kernel", "x y",
    lambda g, ans, x, y, size, strides, dilations, pads: convolve_input(
        y, g, size=_spatial(x, len(size)), **_geometry_of(strides, dilations, pads)),
    lambda g, ans, x, y, size, strides, dilations, pads: convolve(
        x, g, **_geometry_of(strides, dilations, pads)),
    attributes=SIZED, arrays=_convolve_kernel, samples=REAL,
    doc="the transpose of `convolve` in the kernel: products of y with windows of x", internal=True)

# --- what a file calls ------------------------------------------------------------------------


def _per_axis(name: str, option: str, value: Any, d: int) -> Shape:
    """Return one number per spatial axis, given one for all, d of them, or d between two 1.

    The last is TensorFlow's form.
    """
    given = lengths(value)
    if len(given) == d + 2 and given[0] == given[-1] == 1:
        given = given[1:-1]
    if len(given) == 1:
        given *= d
    if len(given) != d or min(given) < 1:
        raise error("E0303", f"the option `{option}` of `{name}` takes {d} whole"
                    f" number{'s' if d > 1 else ''} from 1 on, not {show(lengths(value))}",
                    help=f"such as {option}=2", about=("value", value))
    return given


def _geometry(name: str, size: Shape, kernel: Shape, strides: Any, padding: Any, dilations: Any
              ) -> dict[str, Any]:
    """Return strides, dilations and pads as the rows take them. Raises E0301, E0303.

    name: of the operation.
    size, kernel: the lengths of the input and of a window.
    strides, padding, dilations: as the caller gave them.
    """
    d = len(size)
    by = _per_axis(name, "strides", strides, d)
    apart = _per_axis(name, "dilations", dilations, d)
    if not isinstance(padding, str) or padding.upper() not in ("SAME", "VALID"):
        raise error("E0303", f"`{name}` pads by \"SAME\" or \"VALID\", not {padding!r}",
                    help='such as padding="SAME"', about=("value", padding))
    reach = [(k - 1) * s + 1 for k, s in zip(kernel, apart, strict=True)]
    pads = []
    for n, r, s in zip(size, reach, by, strict=True):
        lacking = max((-(-n // s) - 1) * s + r - n, 0) if padding.upper() == "SAME" else 0
        if min(kernel) < 1 or n + lacking < r:
            raise error("E0301", f"`{name}`: a window of {show(reach)} does not fit into"
                        f" {show(size)}", help='pad with padding="SAME", or use a smaller window')
        pads.append((lacking // 2, lacking - lacking // 2))
    return {"strides": by, "dilations": apart, "pads": tuple(pads)}


def _images(name: str, x: Any, d: int) -> None:
    if len(shape_of(x)) < d + 1:
        axes = ("length", "height and width", "depth, height and width")[d - 1]
        raise error("E0301", f"`{name}` needs {axes} and channels, not the shape"
                    f" {show(shape_of(x))}", help="reshape it: channels come last")


def _kernel(name: str, k: Any, d: int, what: str, channels: int, axis: int) -> None:
    shape = shape_of(k)
    if len(shape) != d + 2 or shape[axis] != channels:
        raise error("E0301", f"`{name}` needs a kernel [{what}] for {channels} channels, not of"
                    f" shape {show(shape)}", help="the channels of x and of the kernel must agree")


def _convolution(name: str, d: int) -> Any:
    what = f"{('length', 'height, width', 'depth, height, width')[d - 1]}, in, out"

    def expand(x: Any, kernel: Any, strides: Any = 1, padding: Any = "VALID", dilations: Any = 1
               ) -> Any:
        _images(name, x, d)
        _kernel(name, kernel, d, what, shape_of(x)[-1], -2)
        return convolve(x, kernel, **_geometry(
            name, _spatial(x, d), _taps(kernel, d), strides, padding, dilations))

    return composite(
        name, "x kernel", expand, samples=REAL,
        attributes={"strides": 1, "padding": "VALID", "dilations": 1},
        doc=f"cross-correlation of x [..., {what.split(', in')[0]}, in] with a kernel [{what}]")


conv1d = _convolution("conv1d", 1)
conv2d = _convolution("conv2d", 2)
conv3d = _convolution("conv3d", 3)


def _conv2d_transpose(x: Any, kernel: Any, output_shape: Any = None, strides: Any = 1,
                      padding: Any = "VALID") -> Any:
    name = "conv2d_transpose"
    _images(name, x, 2)
    _kernel(name, kernel, 2, "height, width, out, in", shape_of(x)[-1], -1)
    by, taps = _per_axis(name, "strides", strides, 2), _taps(kernel, 2)
    if output_shape is None:
        room = str(padding).upper() != "SAME"
        size = tuple(n * s + (max(k - s, 0) if room else 0)
                     for n, s, k in zip(_spatial(x, 2), by, taps, strict=True))
    else:
        size = lengths(output_shape)[-3:-1] if len(lengths(output_shape)) > 2 else lengths(
            output_shape)
    if len(size) != 2:
        raise error("E0303", f"`{name}` needs an output shape of height and width, not"
                    f" {show(lengths(output_shape))}", help="such as output_shape=[8, 8]")
    geometry = _geometry(name, size, taps, by, padding, 1)
    if _positions(size, taps, **geometry) != _spatial(x, 2):
        raise error("E0301", f"no image of {show(size)} convolves to {show(_spatial(x, 2))} with"
                    f" strides {show(by)}", help="leave output_shape out")
    return convolve_input(x, kernel, size=size, **geometry)


conv2d_transpose = composite(
    "conv2d_transpose", "x kernel", _conv2d_transpose, samples=REAL,
    attributes={"output_shape": None, "strides": 1, "padding": "VALID"},
    doc="the transpose of conv2d, with a kernel [height, width, out, in]")


def _depthwise_conv2d(x: Any, kernel: Any, strides: Any = 1, padding: Any = "VALID",
                      dilations: Any = 1) -> Any:
    name = "depthwise_conv2d"
    _images(name, x, 2)
    channels = shape_of(x)[-1]
    _kernel(name, kernel, 2, "height, width, in, multiplier", channels, -2)
    high, wide, _, times = shape_of(kernel)
    # Each channel by itself: a full kernel that is 0 between different channels.
    apart = multiply(reshape(kernel, shape=(high, wide, channels, 1, times)),
                     np.eye(channels)[:, :, None].astype(_dtype(kernel)))
    full = reshape(apart, shape=(high, wide, channels, channels * times))
    return convolve(x, full, **_geometry(
        name, _spatial(x, 2), (high, wide), strides, padding, dilations))


def _dtype(x: Any) -> Any:
    return np.result_type(np.float32, getattr(x, "value", x))


depthwise_conv2d = composite(
    "depthwise_conv2d", "x kernel", _depthwise_conv2d, samples=REAL,
    attributes={"strides": 1, "padding": "VALID", "dilations": 1},
    doc="a convolution of each channel by itself, with a kernel [height, width, in, multiplier]")

# --- pooling ----------------------------------------------------------------------------------

def _pooled(x: Any, size: Shape, attributes: Mapping[str, Any]) -> Any:
    """Return windows of x as [..., positions, channels, taps in one axis]; outside lies -inf."""
    windows = _windows(x, size, **attributes, fill=-math.inf)
    check_bytes(8.0 * math.prod(windows.shape))
    return np.reshape(windows, (*windows.shape[:-len(size)], math.prod(size)))


def _pool_take(cores: Sequence[int], t: Any, x: Any, size: Shape, **attributes: Any) -> Any:
    first = np.argmax(_pooled(x, size, attributes), axis=-1)[..., None]
    values = _pooled(t, size, attributes)
    shape = np.broadcast_shapes(values.shape[:-1], first.shape[:-1])
    return np.take_along_axis(np.broadcast_to(values, (*shape, values.shape[-1])),
                              np.broadcast_to(first, (*shape, 1)), axis=-1)[..., 0]


def _pool_put(cores: Sequence[int], y: Any, x: Any, size: Shape, **attributes: Any) -> Any:
    first = np.argmax(_pooled(x, size, attributes), axis=-1)[..., None]
    parts = np.where(first == np.arange(math.prod(size)), y[..., None], np.zeros((), y.dtype))
    parts = np.reshape(parts, (*parts.shape[:-1], *size))
    return _add_windows(parts, _spatial(x, len(size)), **attributes)


def _tied(ans: Any, x: Any, size: Shape, **attributes: Any) -> Any:
    """Return a mask of the results that several elements of their window reach."""
    hits = _pooled(np.asarray(x), size, attributes) == np.asarray(ans)[..., None]
    return np.sum(hits, axis=-1) > 1


def _windows_of(size: Any, strides: Any, dilations: Any, pads: Any) -> dict[str, Any]:
    return {"size": size, **_geometry_of(strides, dilations, pads)}


pool_max = general(
    "pool_max", "x",
    lambda g, ans, x, size, strides, dilations, pads: pool_put(
        g, x, **_windows_of(size, strides, dilations, pads)),
    jvp=lambda tangents, ans, x, **windows: pool_take(tangents[0], x, **windows),
    attributes=SIZED,
    arrays=lambda cores, x, size, **attributes: np.max(_pooled(x, size, attributes), axis=-1),
    samples=REAL[:1], kink=_tied,
    kinks="a tie goes to the first element of the window", doc="the largest element of windows",
    internal=True, traits="ordering", complex_form="picked")
pool_take = linear(
    "pool_take", "t x",
    lambda g, ans, t, x, size, strides, dilations, pads: pool_put(
        g, x, **_windows_of(size, strides, dilations, pads)), None,
    roles=("data", "index"), attributes=SIZED, arrays=_pool_take, samples=REAL,
    doc="the elements of t where windows of x have their first largest", internal=True)
pool_put = linear(
    "pool_put", "y x",
    lambda g, ans, y, x, size, strides, dilations, pads: pool_take(
        g, x, **_windows_of(size, strides, dilations, pads)), None,
    roles=("data", "index"), attributes=SIZED, arrays=_pool_put, samples=REAL,
    doc="y added to where windows of x have their first largest element: its transpose",
    internal=True)


def _pool(name: str, x: Any, ksize: Any, strides: Any, padding: Any
          ) -> tuple[Shape, dict[str, Any]]:
    _images(name, x, 2)
    size = _per_axis(name, "ksize", ksize, 2)
    return size, _geometry(name, _spatial(x, 2), size, size if strides is None else strides,
                           padding, 1)


def _max_pool(x: Any, ksize: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    size, geometry = _pool("max_pool", x, ksize, strides, padding)
    return pool_max(x, size=size, **geometry)


def _avg_pool(x: Any, ksize: Any = 2, strides: Any = None, padding: Any = "VALID") -> Any:
    size, geometry = _pool("avg_pool", x, ksize, strides, padding)
    shape, rank = shape_of(x), len(shape_of(x))
    # Channels go in front of the image, so that one kernel of ones serves them all.
    apart = transpose(x, axes=[*range(rank - 3), rank - 1, rank - 3, rank - 2])
    ones = np.ones((*size, 1, 1), dtype=_dtype(x))
    sums = convolve(reshape(apart, shape=(*shape_of(apart), 1)), ones, **geometry)
    inside = np.ones((*_spatial(x, 2), 1), dtype=ones.dtype)
    counts = _convolve((3, 4), inside, ones, **geometry)
    averages = reshape(divide(sums, counts), shape=(*shape[:-3], shape[-1], *counts.shape[:-1]))
    return transpose(averages, axes=[*range(rank - 3), rank - 2, rank - 1, rank - 3])


max_pool = composite(
    "max_pool", "x", _max_pool, aliases="max_pool2d", samples=REAL[:1],
    attributes={"ksize": 2, "strides": None, "padding": "VALID"},
    kinks="a tie goes to the first element of the window",
    doc="the largest element of windows of an image, by default 2 by 2 side by side")
avg_pool = composite(
    "avg_pool", "x", _avg_pool, aliases="avg_pool2d", samples=REAL[:1],
    attributes={"ksize": 2, "strides": None, "padding": "VALID"},
    doc="the average of windows of an image, by default 2 by 2 side by side; padding not counted")
