"""Functions of TensorFlow that are more than one expression of operations, or name a type."""

from __future__ import annotations

from collections import namedtuple
from itertools import count, pairwise

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.ops.kinds import PUBLIC
from gradcli.tf.dtypes import as_dtype, floatx, plain, plain_shape
from gradcli.tf.slices import IndexedSlices
from gradcli.tf.tensor import (
    as_tensor,
    cast,
    constant,
    convert_to_tensor,
    operands,
    refused,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

def type_name(dtype: Any) -> str:
    """Return the name of a type."""
    return as_dtype(dtype).name


def single(value: Any) -> float:
    """Return an option as TensorFlow keeps it, in float32."""
    return float(np.float32(plain(value)))


def transposed(x: Any, adjoint: bool, transpose: bool = False) -> Any:
    """Return a matrix, or the other way round."""
    if adjoint and transpose:
        raise ValueError("Only one of `transpose` and `adjoint` may be True")
    x = convert_to_tensor(x)
    if adjoint:
        return adjoint_(x)
    return PUBLIC["matrix_transpose"](x) if transpose else x


def adjoint_(x: Any) -> Any:
    """Return the conjugate transpose of a matrix."""
    made = PUBLIC["matrix_transpose"](convert_to_tensor(x))
    return PUBLIC["conj"](made) if made.dtype.is_complex else made


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose of a matrix."""
    return adjoint_(x)


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, epsilon: Any
                        ) -> Any:
    """Normalize by mean and variance, then scale and shift where these are given."""
    x, mean, variance = operands(PUBLIC["add"], (x, mean, variance))
    inverse = PUBLIC["rsqrt"](variance + single(epsilon))
    if scale is not None:
        inverse = inverse * scale
    shift = -mean * inverse if offset is None else offset - mean * inverse
    return x * inverse + shift


# ---- tensors from numbers ------------------------------------------------------------------------


def full(shape: Any, value: Any, dtype: Any) -> Any:
    """Return a tensor of one number everywhere."""
    kind = as_dtype(dtype)
    return constant(np.full(plain_shape(shape), value, kind.as_numpy_dtype))


def eye(rows: Any, columns: Any = None, batch_shape: Any = None, dtype: Any = "float32") -> Any:
    """Return the identity matrix, once for each of a batch."""
    made: Any = np.eye(int(rows), None if columns is None else int(columns),
                  dtype=as_dtype(dtype).as_numpy_dtype)
    return constant(made if batch_shape is None else np.broadcast_to(
        made, (*plain_shape(batch_shape), *made.shape)))


def linspace(start: Any, stop: Any, num: Any, name: Any = None, axis: int = 0) -> Any:
    """Return evenly spaced numbers, both ends among them."""
    if axis != 0:
        raise refused("tf.linspace", "axis")
    start, stop = [cast(x, "float64") if x.dtype.is_integer else x
                   for x in operands(PUBLIC["add"], (start, stop))]
    return as_tensor(PUBLIC["linspace"](start, stop, plain(num)))


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: Any = "range"
          ) -> Any:
    """Return the numbers from start, or 0, up to before limit."""
    if limit is None:
        start, limit = 0, start
    given = [convert_to_tensor(v) for v in (start, limit, delta)]
    kinds = [v.dtype.name for v in given]
    kind = dtype or next((k for k in ("float64", "float32", "int64") if k in kinds), "int32")
    return constant(np.arange(*[v.item() for v in given]), dtype=kind)


_seeds = count(1)


def next_seed(seed: Any) -> int:
    """Return the seed of a draw: the one given, or the next of this run."""
    return next(_seeds) if seed is None else int(plain(seed))


def set_seed(seed: int) -> None:
    """Begin the seeds of draws anew, so that a run can be repeated."""
    global _seeds
    _seeds = count(int(seed) * 1_000_003 % 2**31 + 1)


def drawn(name: str, shape: Any, dtype: Any, seed: Any, **options: Any) -> Any:
    """Return random numbers by one of gradcli's operations. options: where they lie and how wide;
    tensors among them have a gradient.
    """
    if not as_dtype(dtype).is_integer and any(
            isinstance(v, engine.Tensor) for v in options.values()):
        first, second = options.values()
        standard = drawn(name, shape, dtype, seed, **dict(zip(options, (0.0, 1.0), strict=True)))
        return standard * (second - first if name == "uniform" else second) + first
    options = {key: plain(value) for key, value in options.items()}
    kind = as_dtype(dtype)
    if kind.is_integer:     # from low to below high, as whole numbers
        made = np.random.default_rng(next_seed(seed)).integers(
            options["minval"], options["maxval"], plain_shape(shape))
        return constant(made.astype(kind.as_numpy_dtype))
    return cast(constant(PUBLIC[name](plain_shape(shape), **options, seed=next_seed(seed))), kind)


# ---- shapes and elements -------------------------------------------------------------------------


def slice(input_: Any, begin: Any, size: Any, name: Any = None) -> Any:
    """Return `size` elements along each axis from `begin` on; -1 means up to the end."""
    from builtins import slice as part

    x = convert_to_tensor(input_)
    return x[tuple([part(b, None if n == -1 else b + n)
                    for b, n in zip(plain(begin), plain(size), strict=True)])]


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0,
                  end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0,
                  shrink_axis_mask: int = 0, var: Any = None, name: Any = None) -> Any:
    """Return the elements from `begin` to before `end` in steps."""
    from builtins import slice as part

    for option, mask in (("ellipsis_mask", ellipsis_mask), ("new_axis_mask", new_axis_mask),
                         ("shrink_axis_mask", shrink_axis_mask)):
        if mask:
            raise refused("tf.strided_slice", option)
    begin, end = plain(begin), plain(end)
    steps = plain(strides) if strides is not None else [1] * len(begin)
    return convert_to_tensor(input_)[tuple([
        part(None if begin_mask >> k & 1 else b, None if end_mask >> k & 1 else e, s)
        for k, (b, e, s) in enumerate(zip(begin, end, steps, strict=True))])]


def floats(x: Any) -> Any:
    """Return numbers as they are, whole ones and truth values as Keras's type."""
    x = convert_to_tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, floatx())


def flat(x: Any, axis: Any) -> Any:
    """Return a tensor, without an axis all its numbers one after the other."""
    return convert_to_tensor(x) if axis is not None else PUBLIC["reshape"](
        convert_to_tensor(x), shape=[-1])


def parts(x: Any, indices_or_sections: Any, axis: int) -> Any:
    """Return the number of parts, or their lengths for the places where they begin."""
    if isinstance(indices_or_sections, int):
        return indices_or_sections
    ends = [0, *plain(indices_or_sections), convert_to_tensor(x).shape[axis]]
    return [b - a for a, b in pairwise(ends)]


def inner_of(a: Any, b: Any) -> Any:
    """Return the product along the last axis of the first and the last but one of the second."""
    a, b = operands(PUBLIC["matmul"], (a, b))
    if not a.shape or not b.shape:
        return a * b
    return PUBLIC["tensordot"](a, b, axes=[[-1], [-1 if len(b.shape) == 1 else len(b.shape) - 2]])


def called(value: Any) -> Any:
    """Return a value, or what a function gives."""
    return value() if callable(value) and not isinstance(value, engine.Tensor) else value


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None,
         name: Any = None) -> Any:
    """Return a norm of vectors, or of matrices where `axis` names two axes or `ord` is "fro"."""
    x, keep, axis = convert_to_tensor(tensor), bool(keepdims), plain(axis)
    if x.dtype.is_integer:
        raise error("E0302", f"`norm` takes no {x.dtype.name}",
                    help="make it a float: tf.cast(x, tf.float32)")
    pair = isinstance(axis, list) and len(axis) == 2
    if not (ord == "fro" or pair):
        return PUBLIC["norm"](x, ord=2.0 if ord == "euclidean" else ord, axis=axis, keepdims=keep)
    if pair and not keep:
        x = PUBLIC["moveaxis"](x, source=axis, destination=[-2, -1])
    return PUBLIC["matrix_norm"](x, ord="fro" if ord == "euclidean" else ord, keepdims=keep)


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: Any = None) -> Any:
    """Return a tensor divided by its norm, and the norm."""
    x = convert_to_tensor(tensor)
    length = norm(x, ord, axis, keepdims=True)
    return x / length, length


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: Any = None) -> Any:
    """Return s, u and v; NumPy gives u, s and v transposed."""
    if full_matrices:
        raise refused("tf.linalg.svd", "full_matrices")
    x = convert_to_tensor(tensor)
    if not compute_uv:
        return as_tensor(PUBLIC["svd"](x, compute_uv=False))
    u, s, vt = PUBLIC["svd"](x)
    return tuple([as_tensor(part) for part in (s, u, PUBLIC["matrix_transpose"](vt))])


TopKV2 = namedtuple("TopKV2", ("values", "indices"))


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = "int32", name: Any = None
          ) -> Any:
    """Return the largest elements and their places."""
    values, indices = PUBLIC["top_k"](convert_to_tensor(input), k=plain(k), sorted=sorted)
    return TopKV2(as_tensor(values), cast(indices, index_type))


Unique = namedtuple("Unique", ("y", "idx"))


def unique(x: Any, out_idx: Any = "int32", name: Any = None) -> Any:
    """Return the elements, each once in order of appearance, and for each place which it is."""
    x = convert_to_tensor(x)
    found = as_tensor(PUBLIC["unique"](x))
    return Unique(found, cast(PUBLIC["argmax"](PUBLIC["equal"](x[:, None], found[None]), axis=1),
                              out_idx))


def silu(features: Any, beta: Any) -> Any:
    """Return x times the sigmoid of beta x."""
    x = convert_to_tensor(features)
    if type(beta) in (int, float) and beta == 1:
        return PUBLIC["silu"](x)
    return x * PUBLIC["sigmoid"](beta * x)


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any) -> Any:
    """Return tensors scaled to a common norm, and their norm before."""
    found, length = PUBLIC["clip_by_global_norm"](_listed(t_list), clip_norm, use_norm=use_norm)
    return [t if t is None else given.with_values(as_tensor(t)) if hasattr(given, "with_values")
            else as_tensor(t) for given, t in zip(t_list, found, strict=True)], constant(length)


def global_norm(t_list: Any) -> Any:
    """Return the norm of all elements of all tensors."""
    return constant(PUBLIC["global_norm"](_listed(t_list)))


def _listed(t_list: Any) -> list[Any]:
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("`t_list` should be a sequence of tensors. Received"
                        f" {type(t_list)}.")
    return [None if t is None else convert_to_tensor(getattr(t, "values", t)) for t in t_list]


def reduce_mean(x: Any, axis: Any, keepdims: Any) -> Any:
    """Return the mean; of whole numbers as a whole number."""
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        return PUBLIC["mean"](x, axis=plain(axis), keepdims=keepdims)
    total = PUBLIC["sum"](x, axis=plain(axis), keepdims=keepdims)
    return PUBLIC["floor_divide"](total, x.size // max(total.size, 1))


def polyval(coeffs: Sequence[Any], x: Any, name: Any = None) -> Any:
    """Return the polynomial with these coefficients, the highest power first, by Horner's rule."""
    x = convert_to_tensor(x)
    total: Any = PUBLIC["zeros_like"](x)
    for c in coeffs:
        total = total * x + c
    return total


def ensure_shape(x: Any, shape: Any, name: Any = None) -> Any:
    """Return a tensor. Raises E0301 for another shape."""
    made = convert_to_tensor(x)
    if not made.shape.is_compatible_with(shape):
        raise error("E0301", f"the shape {made.shape} is not compatible with the expected shape"
                    f" {list(shape)}")
    return made


def identity_n(input: Any, name: Any = None) -> list[Any]:
    """Return each of several tensors."""
    return [PUBLIC["positive"](convert_to_tensor(x)) for x in input]


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None,
                     dtype: Any = "int32", name: Any = None) -> Any:
    """Return how often a label (row) was predicted as a class (column)."""
    if weights is not None:
        raise refused("tf.math.confusion_matrix", "weights")
    rows, columns = [np.ravel(convert_to_tensor(x).value).astype(int)
                     for x in (labels, predictions)]
    n = int(num_classes) if num_classes is not None else int(max(rows.max(), columns.max())) + 1
    found: Any = np.zeros((n, n), as_dtype(dtype).as_numpy_dtype)
    np.add.at(found, (rows, columns), 1)
    return constant(found)


def depth_to_space(input: Any, block_size: Any, data_format: str = "NHWC", name: Any = None
                   ) -> Any:
    """Return an image with blocks of pixels in place of channels."""
    return _in_blocks("tf.nn.depth_to_space", input, int(block_size), data_format, False)


def space_to_depth(input: Any, block_size: Any, data_format: str = "NHWC", name: Any = None
                   ) -> Any:
    """Return an image with channels in place of blocks of pixels."""
    return _in_blocks("tf.nn.space_to_depth", input, int(block_size), data_format, True)


def _in_blocks(name: str, image: Any, k: int, data_format: str, deeper: bool) -> Any:
    if data_format != "NHWC":
        raise refused(name, "data_format")
    x = convert_to_tensor(image)
    n, height, width, channels = x.shape
    apart = [n, height//k, k, width//k, k, channels] if deeper else [
        n, height, width, k, k, channels//k**2]
    order = [0, 1, 3, 2, 4, 5]
    whole = [n, height//k, width//k, channels*k**2] if deeper else [
        n, height*k, width*k, channels//k**2]
    moved = PUBLIC["transpose"](PUBLIC["reshape"](x, shape=apart), axes=order)
    return as_tensor(PUBLIC["reshape"](moved, shape=whole))


def is_tensor(x: Any) -> bool:
    """Return whether it is a tensor or variable."""
    return isinstance(x, (engine.Tensor, IndexedSlices))


HERE: dict[str, Any] = globals()
"""What expressions of the table may call."""
