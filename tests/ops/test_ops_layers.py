"""Layers, losses, clipping, convolutions, random numbers and activations made of other rows.

Values against NumPy, derivatives by the helpers of test_ops_shapes.py; numbers of TensorFlow 2.21
in data/tensorflow_layers.json; conventions at kinks, extreme points, types and errors here.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from conftest import folded
from folders import DATA
from test_ops_shapes import (
    Case,
    case,
    check_first_derivatives,
    check_second_derivatives,
    magnitude,
)

from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import leaf
from gradcli.ops import NAMES
from gradcli.python.program import loads

Shape = tuple[int, ...]
INF, NAN = math.inf, math.nan
# A complex step of 1e-30 has to survive mpmath's sums.
DIGITS = 50

# --- references that take complex arrays, for the complex step --------------------------------


def positive_part(x: Any) -> Any:
    return np.where(np.real(x) > 0, x, 0.0)


def clipped(x: Any, low: float, high: float) -> Any:
    return np.where(np.real(x) < low, low, np.where(np.real(x) > high, high, x))


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softplus(x: Any) -> Any:
    return np.log(1 + np.exp(x))


def length(x: Any, axis: Any = None) -> Any:
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=True))


def log_softmax(x: Any, axis: int = -1) -> Any:
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


def normalised(x: Any, axis: Any) -> Any:
    d = x - np.mean(x, axis=axis, keepdims=True)
    return d / np.sqrt(np.mean(d * d, axis=axis, keepdims=True) + 1e-3)


def shortened(x: Any, limit: Any, axis: Any = None) -> Any:
    size = length(x, axis)
    return x * limit / np.where(np.real(size) > np.real(limit), size, limit)


def gelu(x: Any) -> Any:
    """x times the normal distribution function, by mpmath's erfc of complex numbers."""
    def one(z: complex) -> complex:
        with mpmath.workdps(DIGITS):
            return complex(mpmath.mpc(z) * mpmath.erfc(-mpmath.mpc(z) / mpmath.sqrt(2)) / 2)

    return np.vectorize(one, otypes=[complex])(x) if np.iscomplexobj(x) else np.vectorize(
        lambda z: one(z).real, otypes=[float])(x)


def bessel(kind: str, order: int, scale: float) -> Callable[[Any], Any]:
    """exp(scale*z) times a Bessel function at z = exp(0.3*x), by mpmath."""
    function = getattr(mpmath, f"bessel{kind}")

    def one(x: complex) -> complex:
        with mpmath.workdps(DIGITS):
            z = mpmath.exp(mpmath.mpf(0.3) * mpmath.mpc(x))
            return complex(function(order, z) * mpmath.exp(scale * z))

    def on_arrays(x: Any) -> Any:
        found = np.vectorize(one, otypes=[complex])(x)
        return found if np.iscomplexobj(x) else found.real

    return on_arrays


def bessel_cases() -> dict[str, list[Case]]:
    out = {}
    for kind, order in itertools.product("jyik", (0, 1)):
        for suffix, scale in (("", 0.0), ("e", {"i": -1.0, "k": 1.0}.get(kind, NAN))):
            if scale == scale:
                name = f"bessel_{kind}{order}{suffix}"

                def ours(x: Any, name: str = name) -> Any:
                    return NAMES[name](NAMES["exp"](0.3 * x))

                out[name] = [Case(name, ours, bessel(kind, order, scale), ())]
    return out


def padding(size: int, reach: int, stride: int, same: bool) -> tuple[int, int]:
    if not same:
        return 0, 0
    lacking = max((math.ceil(size / stride) - 1) * stride + reach - size, 0)
    return lacking // 2, lacking - lacking // 2


def windows(x: Any, size: Shape, strides: Shape, same: bool, dilations: Shape = (1, 1),
            fill: float = 0.0) -> Any:
    """All windows of an image [..., h, w, c], cut out one by one: [..., oh, ow, kh, kw, c]."""
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    pads = [padding(n, r, s, same) for n, r, s in zip(x.shape[-3:-1], reach, strides, strict=True)]
    wide = np.pad(x, [(0, 0)] * (x.ndim - 3) + [*pads, (0, 0)], constant_values=fill)
    rows = []
    for i in range(0, wide.shape[-3] - reach[0] + 1, strides[0]):
        row = [wide[..., i:i + reach[0]:dilations[0], j:j + reach[1]:dilations[1], :]
               for j in range(0, wide.shape[-2] - reach[1] + 1, strides[1])]
        rows.append(np.stack(row, axis=-4))
    return np.stack(rows, axis=-5)


def conv(x: Any, k: Any, strides: Shape = (1, 1), same: bool = False, dilations: Shape = (1, 1)
         ) -> Any:
    cut = windows(x, k.shape[:2], strides, same, dilations)
    return np.einsum("...hwc,hwco->...o", cut, k)


def conv_line(x: Any, k: Any, stride: int = 1, same: bool = False) -> Any:
    return conv(x[..., None, :, :], k[None], (1, stride), same)[..., 0, :, :]


def conv_cube(x: Any, k: Any) -> Any:
    """Along the first axis by a sum over the kernel's slices."""
    depth = x.shape[-4] - k.shape[0] + 1
    return sum(conv(x[..., a:a + depth, :, :, :], k[a]) for a in range(k.shape[0]))


def conv_back(x: Any, k: Any, stride: int, size: Shape, before: Shape = (0, 0)) -> Any:
    """Every element of x spreads its kernel over the result."""
    wide = np.zeros((*x.shape[:-3], size[0] + 4, size[1] + 4, k.shape[2]),
                    dtype=np.result_type(x, k))
    for i, j in itertools.product(range(x.shape[-3]), range(x.shape[-2])):
        for a, b in itertools.product(range(k.shape[0]), range(k.shape[1])):
            wide[..., i * stride + a, j * stride + b, :] += x[..., i, j, :] @ k[a, b].T
    return wide[..., before[0]:before[0] + size[0], before[1]:before[1] + size[1], :]


def conv_apart(x: Any, k: Any, same: bool = False) -> Any:
    cut = windows(x, k.shape[:2], (1, 1), same)
    found = np.einsum("...hwc,hwcm->...cm", cut, k)
    return found.reshape((*found.shape[:-2], -1))


def largest(x: Any, size: Shape, strides: Shape, same: bool = False) -> Any:
    cut = np.moveaxis(windows(x, size, strides, same, fill=-1e9), -1, -3)
    flat = cut.reshape((*cut.shape[:-2], -1))
    first = np.argmax(np.real(flat), axis=-1)[..., None]
    return np.take_along_axis(flat, first, axis=-1)[..., 0]


def average(x: Any, size: Shape, strides: Shape, same: bool = False) -> Any:
    total = windows(x, size, strides, same).sum(axis=(-3, -2))
    return total / windows(np.ones_like(x), size, strides, same).sum(axis=(-3, -2)).real


def keras_bce(y: Any, p: Any) -> Any:
    p = logistic(p)
    return np.mean(-y * np.log(p) - (1 - y) * np.log(1 - p), axis=-1)


def shares(x: Any) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)


def huber(y: Any, p: Any, delta: float = 1.0) -> Any:
    e = magnitude(p - y)
    return np.mean(np.where(np.real(e) <= delta, e * e / 2, delta * (e - delta / 2)), axis=-1)


def mask(shape: Shape, rate: float, seed: int) -> Any:
    return (np.random.default_rng(seed).random(shape) >= rate) / (1 - rate)


CLASSES = np.array([1, 0])
SIGNS = np.array([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
KINDS = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
GEOMETRY: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 2), "pads": ((1, 0), (1, 1))}
POOL: dict[str, Any] = {
    "size": (2, 2), "strides": (1, 2), "dilations": (1, 1), "pads": ((0, 0), (0, 1))}
PLACES = np.array([[[0.1], [0.5], [-0.3]], [[0.4], [0.2], [0.9]], [[-1.0], [0.3], [0.6]]])


def explicit(x: Any, k: Any) -> Any:
    """The convolution that GEOMETRY describes."""
    wide = np.pad(x, [(0, 0)] * (x.ndim - 3) + [(1, 0), (1, 1), (0, 0)])
    return conv(wide, k, GEOMETRY["strides"], False, GEOMETRY["dilations"])


@functools.cache
def products() -> Any:
    """What unit inputs and unit kernels convolve to: the convolution as a table [x, kernel, g]."""
    return np.array([[explicit(x.reshape(4, 3, 2), k.reshape(2, 2, 2, 2)).ravel()
                      for k in np.eye(16)] for x in np.eye(24)])


def back(g: Any, k: Any) -> Any:
    """The slope of sum(g * explicit(x, k)) in x."""
    return np.einsum("xkg,k,g->x", products(), k.ravel(), g.ravel()).reshape(4, 3, 2)


def kernel_slope(x: Any, g: Any) -> Any:
    """The slope of sum(g * explicit(x, k)) in k."""
    return np.einsum("xkg,x,g->k", products(), x.ravel(), g.ravel()).reshape(2, 2, 2, 2)


def places() -> Any:
    """The flat index of the largest element of each window that POOL describes."""
    numbers = np.pad(np.arange(9.0).reshape(3, 3, 1), [(0, 0), (0, 1), (0, 0)])
    values = np.pad(PLACES, [(0, 0), (0, 1), (0, 0)], constant_values=-1e9)
    cut, where = (windows(v, (2, 2), (1, 2), False)[..., 0].reshape(2, 2, 4)
                  for v in (values, numbers))
    return np.take_along_axis(where, np.argmax(cut, axis=-1)[..., None], axis=-1).astype(int)


def put_back(g: Any) -> Any:
    out = np.zeros(9, dtype=g.dtype)
    np.add.at(out, places().ravel(), g.ravel())
    return out.reshape(3, 3, 1)


def call(name: str, f: Callable[..., Any], theirs: Callable[..., Any], *shapes: Shape) -> Case:
    return Case(f"{name} {shapes}", f, theirs, *shapes)


# Whatever a case names here is checked as the rows in test_ops_shapes.py are.
LAYERS: dict[str, list[Case]] = {
    **bessel_cases(),
    # activations
    "leaky_relu": [case("leaky_relu", lambda x: np.where(x.real > 0, x, 0.2 * x), (2, 3)),
                   case("leaky_relu", lambda x: np.where(x.real > 0, x, x / 2), (3,), alpha=0.5)],
    "celu": [case("celu", lambda x, a=a: np.where(x.real > 0, x, a * (np.exp(x / a) - 1)), (6,),
                  alpha=a) for a in (1.0, 0.5)],
    "gelu": [case("gelu", gelu, (3,)),
             case("gelu", lambda x: x / 2 * (1 + np.tanh(
                 math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), (3,), approximate=True)],
    "gelu_tanh": [case("gelu_tanh", lambda x: x * logistic(
        math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)), (2, 2))],
    "hard_swish": [case("hard_swish", lambda x: x * clipped(x + 3, 0, 6) / 6, (12,))],
    "hard_tanh": [case("hard_tanh", lambda x: clipped(x, -1, 1), (6,))],
    "mish": [case("mish", lambda x: x * np.tanh(softplus(x)), (2, 3)),
             case("mish", lambda x: x * np.tanh(softplus(x)), ())],
    "crelu": [case("crelu", lambda x: np.concatenate(
        [positive_part(x), positive_part(-x)], axis=-1), (2, 3)),
        case("crelu", lambda x: np.concatenate(
            [positive_part(x), positive_part(-x)], axis=0), (2, 3), axis=0)],
    "threshold": [case("threshold", lambda x: np.where(x.real > 0.5, x, 2.0), (5,),
                       threshold=0.5, value=2.0)],
    "smoothstep": [call("smoothstep", lambda a, b, x: NAMES["smoothstep"](a - 4.0, b + 4.0, x),
                        lambda a, b, x: (t := (x - a + 4) / (b - a + 8)) * t * (3 - 2 * t),
                        (), (3,), (2, 3))],
    "nan_to_num": [case("nan_to_num", lambda x: x, (2, 3))],
    "float_power": [call("float_power", lambda x: NAMES["float_power"](x, 3.0), lambda x: x**3,
                         (3,)),
                    call("float_power", lambda x, y: NAMES["float_power"](NAMES["exp"](x), y),
                         lambda x, y: np.exp(x * y), (2, 2), (2,))],
    # layers
    "log_softmax": [case("log_softmax", lambda x, a=a: log_softmax(x, a), s, axis=a)
                    for s, a in [((3,), -1), ((2, 3), -1), ((2, 3), 0), ((2, 3, 2), 1)]],
    "l2_normalize": [case("l2_normalize", lambda x, a=a: x / length(x, a), s, axis=a)
                     for s, a in [((3,), None), ((2, 3), None), ((2, 3), 1), ((2, 3, 2), (0, 2))]],
    "moments": [case_ for k in (0, 1) for case_ in (
        call("moments", lambda x, k=k: NAMES["moments"](x, axes=[0])[k],
             lambda x, k=k: (np.mean, lambda x, axis: np.mean(
                 (x - np.mean(x, axis=axis, keepdims=True)) ** 2, axis=axis))[k](x, axis=0),
             (3, 2)),
        call("moments kept", lambda x, k=k: NAMES["moments"](x, keepdims=True)[k],
             lambda x, k=k: (np.mean(x, keepdims=True), np.mean(
                 (x - np.mean(x)) ** 2, keepdims=True))[k], (2, 2)))],
    "layer_norm": [case("layer_norm", lambda x: normalised(x, -1), (2, 3)),
                   case("layer_norm", lambda x: normalised(x, 0), (3, 2), axis=0),
                   case("layer_norm", lambda x, s: normalised(x, -1) * s, (2, 3), (3,)),
                   case("layer_norm", lambda x, s, b: normalised(x, -1) * s + b,
                        (2, 3), (3,), (3,))],
    "batch_norm": [
        call("batch_norm", lambda x, m, v: NAMES["batch_norm"](x, m, NAMES["exp"](v)),
             lambda x, m, v: (x - m) / np.sqrt(np.exp(v) + 1e-3), (3, 2), (2,), (2,)),
        call("batch_norm", lambda x, m, v, b, s: NAMES["batch_norm"](
            x, m, NAMES["exp"](v), b, s, 0.5), lambda x, m, v, b, s: (
                x - m) / np.sqrt(np.exp(v) + 0.5) * s + b, (3, 2), (2,), (2,), (2,), (2,))],
    "add_n": [case("add_n", lambda *xs: xs[0] + xs[1] + xs[2], (2, 3), (2, 3), (2, 3)),
              case("add_n", lambda x: x, ())],
    "bias_add": [case("bias_add", np.add, (2, 2, 3), (3,)), case("bias_add", np.add, (3,), (3,))],
    "dense": [case("dense", lambda x, w, b: x @ w + b, (2, 3), (3, 2), (2,)),
              case("dense", np.matmul, (3,), (3, 2))],
    "dropout": [case("dropout", lambda x: x * mask((3, 4), 0.5, 0), (3, 4)),
                case("dropout", lambda x: x * mask((5,), 0.2, 7), (5,), rate=0.2, seed=7),
                case("dropout", lambda x: x, (2, 2), rate=0.0)],
    "check_numerics": [case("check_numerics", lambda x: x, (2, 3), message="here"),
                       case("check_numerics", lambda x: x, ())],
    # losses
    "softmax_cross_entropy": [
        case("softmax_cross_entropy", lambda y, z: -np.sum(y * log_softmax(z), axis=-1),
             (2, 3), (2, 3)),
        case("softmax_cross_entropy", lambda y, z: -np.sum(y * log_softmax(z, 0), axis=0),
             (2, 3), (2, 3), axis=0)],
    "sparse_softmax_cross_entropy": [
        call("sparse", lambda z: NAMES["sparse_softmax_cross_entropy"](CLASSES, z),
             lambda z: -log_softmax(z)[np.arange(2), CLASSES], (2, 3)),
        call("sparse", lambda z: NAMES["sparse_softmax_cross_entropy"](2.0, z),
             lambda z: -log_softmax(z)[2], (3,)),
        call("sparse", lambda z: NAMES["sparse_softmax_cross_entropy"](CLASSES[None], z),
             lambda z: -np.take_along_axis(log_softmax(z), CLASSES[None, :, None], -1)[..., 0],
             (1, 2, 3))],
    "sigmoid_cross_entropy": [case("sigmoid_cross_entropy", lambda y, z: softplus(z) - y * z,
                                   (2, 3), (2, 3))],
    "weighted_cross_entropy": [case(
        "weighted_cross_entropy", lambda y, z, w: w * y * softplus(-z) + (1 - y) * softplus(z),
        (2, 3), (3,), ())],
    "log_poisson_loss": [
        case("log_poisson_loss", lambda y, z: np.exp(z) - y * z, (2, 2), (2, 2)),
        call("full", lambda y, z: NAMES["log_poisson_loss"](
            NAMES["exp"](y) + 1.0, z, compute_full_loss=True), lambda y, z: np.exp(z) - (
                t := np.exp(y) + 1) * z + t * np.log(t) - t + np.log(2 * np.pi * t) / 2,
            (3,), (3,))],
    "l2_loss": [case("l2_loss", lambda x: np.sum(x * x) / 2, (2, 3)),
                case("l2_loss", lambda x: x * x / 2, ())],
    "mean_squared_error": [
        case("mean_squared_error", lambda y, p: np.mean((y - p) ** 2, axis=-1), (2, 3), (2, 3)),
        case("mean_squared_error", lambda y, p: np.mean((y - p) ** 2), (2, 3), (3,), axis=None),
        case("mean_squared_error", lambda y, p: (y - p) ** 2, (), ())],
    "mean_absolute_error": [case(
        "mean_absolute_error", lambda y, p: np.mean(magnitude(y - p), axis=-1), (2, 3), (2, 3))],
    "huber": [case("huber", huber, (2, 3), (2, 3)),
              case("huber", lambda y, p: huber(y, p, 0.3), (4,), (4,), delta=0.3)],
    "log_cosh": [case("log_cosh", lambda y, p: np.mean(np.log(np.cosh(p - y)), axis=-1),
                      (2, 3), (2, 3))],
    "hinge": [call("hinge", lambda p, y=y: NAMES["hinge"](y, p),
                   lambda p: np.mean(positive_part(1 - SIGNS * p), axis=-1), (2, 3))
              for y in (SIGNS, KINDS)],
    "squared_hinge": [call("squared_hinge", lambda p: NAMES["squared_hinge"](SIGNS, p),
                           lambda p: np.mean(positive_part(1 - SIGNS * p) ** 2, axis=-1), (2, 3))],
    "binary_crossentropy": [
        call("probabilities", lambda y, p: NAMES["binary_crossentropy"](y, NAMES["sigmoid"](p)),
             keras_bce, (2, 3), (2, 3)),
        case("binary_crossentropy", keras_bce, (2, 3), (2, 3), from_logits=True),
        case("binary_crossentropy", lambda y, p: keras_bce(0.9 * y + 0.05, p), (3,), (3,),
             from_logits=True, label_smoothing=0.1)],
    "categorical_crossentropy": [
        call("probabilities", lambda y, p: NAMES["categorical_crossentropy"](y, NAMES["exp"](p)),
             lambda y, p: -np.sum(y * log_softmax(p), axis=-1), (2, 3), (2, 3)),
        case("categorical_crossentropy", lambda y, p: -np.sum(
            (0.7 * y + 0.1) * log_softmax(p), axis=-1), (2, 3), (2, 3), from_logits=True,
            label_smoothing=0.3)],
    "kl_divergence": [call(
        "kl_divergence", lambda y, p: NAMES["kl_divergence"](
            NAMES["softmax"](y), NAMES["softmax"](p)),
        lambda y, p: np.sum(shares(y) * np.log(shares(y) / shares(p)), axis=-1), (2, 3), (2, 3))],
    "cosine_similarity": [case(
        "cosine_similarity", lambda y, p: -np.sum(y / length(y, -1) * p / length(p, -1), axis=-1),
        (2, 3), (2, 3))],
    # clipping
    "clip_by_norm": [
        case("clip_by_norm", shortened, (3,), ()),
        call("rows", lambda x: NAMES["clip_by_norm"](x, 0.7, axes=[1]),
             lambda x: shortened(x, 0.7, 1), (3, 2)),
        call("short", lambda x: NAMES["clip_by_norm"](x, 50.0), lambda x: x, (2, 2))],
    "clip_by_average_norm": [call(
        "clip_by_average_norm", lambda x: NAMES["clip_by_average_norm"](x, 0.1),
        lambda x: shortened(x, 0.6), (2, 3))],
    "global_norm": [call(
        "global_norm", lambda x, y: NAMES["global_norm"]([x, None, y]),
        lambda x, y: np.sqrt(np.sum(x * x) + np.sum(y * y)), (2, 2), ())],
    "clip_by_global_norm": [call(
        "clip_by_global_norm", lambda x, y: NAMES["clip_by_global_norm"]([x, y], 0.5)[0][0],
        lambda x, y: x / np.sqrt(np.sum(x * x) + np.sum(y * y)) / 2, (2, 2), (3,)),
        call("norm before", lambda x, y: NAMES["clip_by_global_norm"]([x, y], 0.5)[1],
             lambda x, y: np.sqrt(np.sum(x * x) + np.sum(y * y)), (2,), (3,))],
    # convolutions
    "conv1d": [case("conv1d", conv_line, (5, 2), (3, 2, 2)),
               case("conv1d", lambda x, k: conv_line(x, k, 2, True), (2, 5, 2), (2, 2, 1),
                    strides=2, padding="SAME")],
    "conv2d": [case("conv2d", conv, (3, 4, 2), (2, 2, 2, 1)),
               case("conv2d", conv, (2, 3, 3, 1), (2, 3, 1, 2)),
               case("conv2d", lambda x, k: conv(x, k, (2, 1), True), (1, 4, 3, 1), (3, 2, 1, 2),
                    strides=[2, 1], padding="same"),
               case("conv2d", lambda x, k: conv(x, k, (1, 1), True, (2, 2)), (3, 4, 1),
                    (2, 2, 1, 1), padding="SAME", dilations=2)],
    "conv3d": [case("conv3d", conv_cube, (3, 2, 2, 1), (2, 2, 1, 1, 2))],
    "conv2d_transpose": [
        case("conv2d_transpose", lambda x, k: conv_back(x, k, 2, (5, 5)), (2, 2, 2), (3, 3, 1, 2),
             strides=2),
        case("conv2d_transpose", lambda x, k: conv_back(x, k, 2, (3, 4), (0, 0)), (1, 2, 2, 1),
             (2, 2, 2, 1), strides=2, padding="SAME", output_shape=[1, 3, 4, 2])],
    "depthwise_conv2d": [
        case("depthwise_conv2d", conv_apart, (3, 3, 2), (2, 2, 2, 2)),
        case("depthwise_conv2d", lambda x, k: conv_apart(x, k, True), (1, 2, 3, 2), (2, 2, 2, 1),
             padding="SAME")],
    "convolve": [case("convolve", explicit, (4, 3, 2), (2, 2, 2, 2), **GEOMETRY)],
    "convolve_input": [case("convolve_input", back, (2, 3, 2), (2, 2, 2, 2), size=(4, 3),
                            **GEOMETRY)],
    "convolve_kernel": [case("convolve_kernel", kernel_slope, (4, 3, 2), (2, 3, 2), size=(2, 2),
                             **GEOMETRY)],
    "max_pool": [case("max_pool", lambda x: largest(x, (2, 2), (2, 2)), (4, 4, 2)),
                 case("max_pool", lambda x: largest(x, (2, 3), (1, 1)), (2, 3, 4, 1),
                      ksize=[2, 3], strides=1),
                 case("max_pool", lambda x: largest(x, (2, 2), (2, 2), True), (3, 3, 1),
                      padding="SAME")],
    "avg_pool": [case("avg_pool", lambda x: average(x, (2, 2), (2, 2)), (4, 4, 2)),
                 case("avg_pool", lambda x: average(x, (2, 3), (1, 2), True), (2, 3, 3, 1),
                      ksize=[2, 3], strides=[1, 2], padding="SAME")],
    "pool_max": [case("pool_max", lambda x: largest(
        np.pad(x, [(0, 0), (0, 1), (0, 0)], constant_values=-1e9), (2, 2), (1, 2)), (3, 3, 1),
        **POOL)],
    "pool_take": [call("pool_take", lambda t: NAMES["pool_take"](t, PLACES, **POOL),
                       lambda t: t.ravel()[places()], (3, 3, 1))],
    "pool_put": [call("pool_put", lambda g: NAMES["pool_put"](g, PLACES, **POOL), put_back,
                      (2, 2, 1))],
    # makers that carry a derivative
    "full_like": [call("full_like", lambda x, v: NAMES["full_like"](x, v) * x,
                       lambda x, v: v * x, (2, 3), ())],
    "logspace": [call("logspace", lambda a, b: NAMES["logspace"](a, b, 4),
                      lambda a, b: 10.0 ** (a + (b - a) * np.arange(4) / 3), (), ())],
    "geomspace": [call("geomspace", lambda a, b: NAMES["geomspace"](NAMES["exp"](a),
                                                                    NAMES["exp"](b), 5),
                       lambda a, b: np.exp(a + (b - a) * np.arange(5) / 4), (), ())],
    "permutation": [call("permutation", lambda x: NAMES["permutation"](x, seed=3),
                         lambda x: x[np.random.default_rng(3).permutation(4)], (4, 2))],
}

CASES = [pytest.param(c, id=f"{name}-{c.label}") for name, cases in LAYERS.items() for c in cases]


@folded
@pytest.mark.parametrize("case", CASES)
def test_values_and_first_derivatives(case: Case) -> None:
    check_first_derivatives(case)


@folded
@pytest.mark.parametrize("case", CASES)
def test_second_derivatives(case: Case) -> None:
    check_second_derivatives(case)


# --- TensorFlow's numbers ---------------------------------------------------------------------

# Per case the text, a TensorFlow 2.21 (Keras 3) expression and its inputs; the value y, the
# gradient of sum(y*w), and of sum(gradient*u) again the gradient: w = cos(0, 1, ...) and
# u = sin(1, 2, ...) over all elements. What TensorFlow lacks or has wrong is left out: second
# derivatives of moments (it stops the gradient at the mean), of softmax_cross_entropy in the
# labels, the slope of weighted_cross_entropy at a logit of exactly 0, and that of bessel_i1 at 0,
# where TensorFlow has 1 for 1/2.
TENSORFLOW = json.loads(
    (DATA / "tensorflow_layers.json").read_text(encoding="utf-8"))


def numbers(value: Any) -> Any:
    return np.array(value, dtype=float) if isinstance(value, list) else float(value)


@folded
@pytest.mark.parametrize("name", TENSORFLOW)
def test_tensorflow(name: str) -> None:
    given = TENSORFLOW[name]
    at = {k: numbers(v) for k, v in given["at"].items()}
    want = numbers(given["value"])
    np.testing.assert_allclose(loads(given["text"]).value(at=at), want, rtol=1e-12, atol=1e-15)
    w = np.cos(np.arange(np.size(want))).reshape(np.shape(want))
    program = loads(f"sum(({given['text']})*weights)")
    full = {**at, "weights": w if w.shape else float(w)}
    gradient = program.gradient(at=full, wrt=list(at))
    for k, g in given["gradient"].items():
        np.testing.assert_allclose(gradient[k], numbers(g), rtol=1e-12, atol=1e-15)
    blocks = program.hessian(at=full, wrt=list(at))
    for pair, h in given["second"].items():
        k, j = pair[:len(pair) // 2], pair[len(pair) // 2:]
        u = np.sin(1.0 + np.arange(np.size(at[k]))).reshape(np.shape(at[k]))
        got = np.tensordot(u, blocks[k][j], axes=u.ndim)
        np.testing.assert_allclose(got, numbers(h), rtol=1e-11, atol=1e-13)


# --- kinks, ties, extreme points --------------------------------------------------------------

# (text, x, value, gradient of the sum)
POINTS: list[tuple[str, Any, Any, Any]] = [
    ("relu6(x)", [0, 6, 7], [0, 6, 6], [0, 0, 0]),
    ("hard_sigmoid(x)", [-3, 0, 3], [0, 0.5, 1], [0, 1 / 6, 0]),
    ("hard_tanh(x)", [-1, 1, 2], [-1, 1, 1], [1, 1, 0]),
    ("prelu(x, 0.5)", [0, -2], [0, -1], [0.5, 0.5]),
    ("celu(x)", [0], [0], [1]),
    ("copysign(x, -1)", [0, 2, -2], [0, -2, -2], [0, -1, 1]),
    ("fmod(x, 2)", [-3, 3, 4], [-1, 1, 0], [1, 1, 1]),
    ("fmod(7, x)", [2, -2], [1, 1], [-3, 3]),
    ("divide_no_nan(1, x)", [0, 2], [0, 0.5], [0, -0.25]),
    ("divide_no_nan(x, 0)", [1, INF], [0, 0], [0, 0]),
    ("multiply_no_nan(x, 0)", [NAN, INF], [0, 0], [0, 0]),
    ("reciprocal_no_nan(x)", [0, -2], [0, -0.5], [0, -0.25]),
    ("nan_to_num(x)", [NAN, INF, -INF, 2], [0, 1.7976931348623157e308, -1.7976931348623157e308, 2],
     [0, 0, 0, 1]),
    ("nan_to_num(x, nan=5, posinf=6, neginf=7)", [NAN, INF, -INF], [5, 6, 7], [0, 0, 0]),
    ("ldexp(x, 1100)", [1e-300], [1e-300 * 2.0**550 * 2.0**550], [INF]),
    ("ldexp(x, 0.5)", [1], [NAN], [NAN]),
    ("lerp(x, 0.1, 1)", [1e17], [0.1], [0]),
    ("sinc(x)", [0, 1, INF], [1, 0, NAN], [0, -1, 0]),
    ("logit(x)", [0, 1], [-INF, INF], [INF, INF]),
    ("logcosh(x)", [800, -800, 1e-10], [800 - math.log(2), 800 - math.log(2), 5e-21],
     [1, -1, 1e-10]),
    ("log_ndtr(x)", [-800, 800], [-320007.60355182336, 0], [800.001249996094, 0]),
    ("mish(x)", [-800, 800], [0, 800], [0, 1]),
    ("gelu(x, approximate=true)", [-800, 800], [0, 800], [0, 1]),
    ("selu(x)", [-800, 0], [-1.7580993408473766, 0], [0, 1.0507009873554805]),
    ("log_softmax(x)", [800, -800], [0, -1600], [-1, 1]),
    ("log_softmax(x)", [-INF, 0], [-INF, 0], [1, -1]),
    ("softmax_cross_entropy([0, 1], x)", [800, -800], 1600, [1, -1]),
    ("softmax_cross_entropy([1, 0], x)", [0, -INF], 0, [0, 0]),
    ("sparse_softmax_cross_entropy(1, x)", [800, -800], 1600, [1, -1]),
    ("sigmoid_cross_entropy([1, 0, 1, 0], x)", [800, 800, -800, -800], [0, 800, 800, 0],
     [0, 1, -1, 0]),
    ("sigmoid_cross_entropy(1, x)", [40, 0], [math.exp(-40), math.log(2)], [-math.exp(-40), -0.5]),
    ("weighted_cross_entropy(1, x, 2)", [-800, 0], [1600, 2 * math.log(2)], [-2, -1]),
    ("huber(x, 0, axis=none)*3", [0, 1, -800], 800, [0, 1, -1]),
    ("log_cosh(x, 0)*2", [800, -800], 2 * (800 - math.log(2)), [1, -1]),
    ("mean_squared_error(x, 0)", [800, -800], 640000, [800, -800]),
    ("mae(x, 0)", [0, -2], 1, [0, -0.5]),
    ("hinge(1, x)", 1, 0, -1),
    ("binary_crossentropy([1, 0], x)", [1, 0], -math.log(1 - 1e-7), [0, 0]),
    ("binary_crossentropy([1, 0], x)", [0, 1], -(math.log(1e-7) + math.log(1 - (1 - 1e-7))) / 2,
     [0, 0]),
    ("binary_crossentropy([1, 0], x)", [0.5, 0.5], math.log(2), [-1, 1]),
    ("l2_normalize(x)", [0, 0], [0, 0], [1e6, 1e6]),
    ("l2_normalize(x)", [3e200, 4e200], [0.6, 0.8], [3.2e-202, -2.4e-202]),
    ("clip_by_norm(x, 1)", [0, 0], [0, 0], [1, 1]),
    ("clip_by_norm(x, -1)", [3, 4], [0, 0], [0, 0]),
    ("clip_by_norm(x, 1)", [3e200, 4e200], [0.6, 0.8], [3.2e-202, -2.4e-202]),
    ("clip_by_global_norm([x], 1)[0][0]", [0, 0], [0, 0], [1, 1]),
    ("max_pool(reshape(x, [2, 2, 1]))", [1, 2, 2, 2], [[[2]]], [0, 1, 0, 0]),
    ("check_numerics(x)", [1, 2], [1, 2], [1, 1]),
]


@folded
@pytest.mark.parametrize(("text", "x", "value", "slope"), POINTS)
def test_point(text: str, x: Any, value: Any, slope: Any) -> None:
    at = {"x": numbers(x)}
    np.testing.assert_allclose(loads(text).value(at=at), value, rtol=1e-13, atol=1e-320)
    got = loads(f"sum({text})").gradient(at=at)["x"]
    np.testing.assert_allclose(got, slope, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(("text", "second"), [
    ("relu6(x)", 0), ("softsign(x)", -2 / 27), ("log_ndtr(x)", None), ("mish(x)", None),
    ("sigmoid_cross_entropy(0.3, x)", 0.10499358540350652), ("huber(x, 0.5)", 0),
    ("log_cosh(x, 0)", 0.07065082485316446), ("softplus(x)", 0.10499358540350652)])
def test_second_derivatives_of_scalars(text: str, second: float | None) -> None:
    """At 2, by hand, such as sigmoid*(1 - sigmoid); None: against differences of the slope."""
    program = loads(text)
    got = program.hessian(at={"x": 2.0})["x"]["x"]
    if second is None:
        h = 1e-3
        slopes = {k: program.gradient(at={"x": 2.0 + k * h})["x"] for k in (-2, -1, 1, 2)}
        second = (8 * (slopes[1] - slopes[-1]) - (slopes[2] - slopes[-2])) / (12 * h)
        np.testing.assert_allclose(got, second, rtol=1e-9)
    else:
        np.testing.assert_allclose(got, second, rtol=1e-12, atol=1e-300)


def test_second_derivatives_at_800_are_numbers() -> None:
    for loss in ("softmax_cross_entropy([0, 1], x)", "sparse_softmax_cross_entropy(1, x)",
                 "sum(sigmoid_cross_entropy([0, 1], x))", "log_cosh([0, 1], x)",
                 "huber([0, 1], x)", "sum(weighted_cross_entropy([0, 1], x, 3))",
                 "sum(log_ndtr(x))", "sum(mish(x))", "sum(logcosh(x))", "sum(log_softmax(x)^2)"):
        for x in ([800.0, -800.0], [-800.0, 800.0]):
            block = loads(loss).hessian(at={"x": np.array(x)})["x"]["x"]
            assert np.isfinite(block).all(), loss


# --- special functions over wide ranges ---------------------------------------------------------


def incomplete(low: float, high: float) -> Callable[[random.Random], tuple[float, ...]]:
    """Shapes a, and x from a/20 to 5a."""
    def draw(rng: random.Random) -> tuple[float, ...]:
        a = math.exp(rng.uniform(math.log(low), math.log(high)))
        return a, a * math.exp(rng.uniform(math.log(0.05), math.log(5)))

    return draw


def between(*ranges: tuple[float, float]) -> Callable[[random.Random], tuple[float, ...]]:
    return lambda rng: tuple(rng.uniform(*r) for r in ranges)


def order(low: int, high: int, *xs: float) -> Callable[[random.Random], tuple[float, ...]]:
    def draw(rng: random.Random) -> tuple[float, ...]:
        return float(rng.randint(low, high)), math.exp(rng.uniform(*map(math.log, xs)))

    return draw


SHARE: Callable[..., Any] = functools.partial(mpmath.gammainc, regularized=True)
# Per row a reference, where its points lie, and twice the largest relative error seen there.
WIDE: list[tuple[str, Callable[..., Any], Callable[[random.Random], tuple[float, ...]], float]] = [
    ("igamma", lambda a, x: SHARE(a, 0, x), incomplete(0.01, 5), 3e-15),
    ("igamma", lambda a, x: SHARE(a, 0, x), incomplete(5, 500), 8e-13),
    ("igammac", lambda a, x: SHARE(a, x, mpmath.inf), incomplete(0.01, 5), 8e-15),
    ("igammac", lambda a, x: SHARE(a, x, mpmath.inf), incomplete(5, 200), 2e-13),
    ("betainc", lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
     between((0.05, 10), (0.05, 10), (0, 1)), 6e-15),
    ("betainc", lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
     between((10, 300), (10, 300), (0.2, 0.8)), 2e-13),
    ("zeta", mpmath.zeta, between((1.01, 8), (0.01, 100)), 2e-15),
    ("besselie", lambda n, x: mpmath.exp(-x) * mpmath.besseli(n, x), order(0, 30, 0.01, 3000),
     9e-15),
    ("besselie", lambda n, x: mpmath.exp(-x) * mpmath.besseli(n, x), order(30, 500, 25, 3000),
     3e-13),
    ("besselke", lambda n, x: mpmath.exp(x) * mpmath.besselk(n, x), order(0, 30, 0.01, 3000),
     3e-15),
    ("ndtri", lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1), between((1e-3, 0.999)), 1e-15),
    ("log_ndtr", lambda x: mpmath.ln(mpmath.erfc(-x / mpmath.sqrt(2)) / 2), between((-60, 8)),
     2e-14),
    ("sinc", mpmath.sincpi, between((-20, 20)), 1e-15),
    ("logit", lambda p: mpmath.ln(p) - mpmath.ln(1 - p), between((0.4999, 0.5001)), 1e-15),
    ("logcosh", lambda x: mpmath.ln(mpmath.cosh(x)), between((-1e-3, 50)), 1e-15),
]


@pytest.mark.parametrize(("name", "reference", "draw", "tolerance"), WIDE)
def test_wide_ranges(name: str, reference: Callable[..., Any],
                     draw: Callable[[random.Random], tuple[float, ...]], tolerance: float) -> None:
    rng = random.Random(name)
    with mpmath.workdps(DIGITS):
        for _ in range(25):
            point = draw(rng)
            want = float(reference(*map(mpmath.mpf, point)))
            if abs(want) > 1e-300:
                np.testing.assert_allclose(NAMES[name](*point), want, rtol=tolerance,
                                           err_msg=f"{name}{point}")


@pytest.mark.parametrize("name", sorted({name for name, *_ in WIDE} | {"ndtr", "ldexp", "fmod"}))
def test_every_float_gives_a_float(name: str) -> None:
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e9, 1e300, -1e300, 5e-324, INF, -INF, NAN]
    for point in itertools.product(edges, repeat=len(NAMES[name].parameters)):
        assert type(NAMES[name](*point)) is float


# --- clipping of lists ------------------------------------------------------------------------


def test_clip_by_global_norm_keeps_what_is_none() -> None:
    (a, nothing, b), norm = NAMES["clip_by_global_norm"](
        [np.array([3.0]), None, np.array([4.0])], 1.0)
    np.testing.assert_allclose([a[0], b[0]], [0.6, 0.8], rtol=1e-15)
    assert nothing is None
    assert norm == 5.0
    assert NAMES["clip_by_global_norm"]([None, None], 1.0) == [[None, None], 0.0]
    (same,), norm = NAMES["clip_by_global_norm"]([np.array([3.0, 4.0])], 10.0)
    assert same.tolist() == [3.0, 4.0]
    (half,), norm = NAMES["clip_by_global_norm"]([np.array([3.0, 4.0])], 10.0, use_norm=20.0)
    assert half.tolist() == [1.5, 2.0]
    assert norm == 20.0


@pytest.mark.parametrize("spoilt", [INF, NAN])
def test_an_infinite_global_norm_spoils_every_entry(spoilt: float) -> None:
    (a, b), norm = NAMES["clip_by_global_norm"](
        [np.array([1.0, spoilt]), np.array([2.0])], 1.0)
    assert np.isnan(a).all()
    assert np.isnan(b).all()
    assert not math.isfinite(norm)


def test_clip_by_norm_with_infinite_and_nan_elements() -> None:
    got = NAMES["clip_by_norm"](np.array([1.0, INF]), 1.0)
    np.testing.assert_array_equal(got, [0.0, NAN])
    assert np.isnan(NAMES["clip_by_norm"](np.array([1.0, NAN]), 1.0)).all()
    rows = NAMES["clip_by_norm"](np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0, axes=[1])
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-15)


def test_the_norm_of_a_list_in_a_file() -> None:
    program = loads("var x = [3.0, 0.0]\nvar y = [0.0, 4.0]\n"
                    "clip_by_global_norm([x, none, y], 1.0)[1]")
    np.testing.assert_allclose(program.value(), 5.0, rtol=1e-15)
    np.testing.assert_allclose(program.gradient()["y"], [0.0, 0.8], rtol=1e-15)


def test_check_numerics_looks_at_values_and_derivatives() -> None:
    with pytest.raises(GradcliError, match=r"here: `check_numerics` found NaN"):
        NAMES["check_numerics"](np.array([1.0, NAN]), message="here")
    with pytest.raises(GradcliError, match="found Inf and NaN"):
        NAMES["check_numerics"](np.array([INF, NAN]))
    with pytest.raises(GradcliError, match="slope: `check_numerics` found Inf"):
        loads('sqrt(check_numerics(x, "slope"))').gradient(at={"x": 0.0})
    assert NAMES["check_numerics"](3) == 3


# --- steps, makers, random numbers ------------------------------------------------------------

X = np.array([[-2.5, 0.0, 0.5], [1.5, -0.0, NAN]])

FLATS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "heaviside": ((X, np.array([0.5, 2.0, 3.0])), np.heaviside(X, [0.5, 2.0, 3.0])),
}


@pytest.mark.parametrize("name", FLATS)
def test_steps_have_a_value_and_no_derivative(name: str) -> None:
    arguments, want = FLATS[name]
    np.testing.assert_array_equal(NAMES[name](*arguments), want)
    columns = [np.broadcast_to(a, want.shape).ravel().tolist() for a in arguments]
    np.testing.assert_array_equal(
        [NAMES[name](*scalars) for scalars in zip(*columns, strict=True)], want.ravel())
    with Record():
        xs = [leaf(a) for a in arguments]
        y = NAMES[name](*xs)
        assert calculus.gradient([y], xs) == [None] * len(xs)
        assert calculus.jvp(y, [xs[0]], [np.ones(xs[0].shape)]) is None


def truncated(shape: Shape, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape)
    while (abs(x) > 2).any():
        x = np.where(abs(x) > 2, generator.standard_normal(shape), x)
    return x


def drawn(seed: int = 0) -> Any:
    return np.random.default_rng(seed)


Made = tuple[tuple[Any, ...], dict[str, Any], Any]
MADE: dict[str, list[Made]] = {
    "tri": [((3,), {}, np.tri(3)), ((2, 4, 1), {}, np.tri(2, 4, 1))],
    "truncated_normal": [((4, 5), {}, truncated((4, 5), 0)),
                         ((40,), {"seed": 3, "mean": 1.0, "stddev": 0.5},
                          truncated((40,), 3) / 2 + 1)],
    "bernoulli": [((6,), {}, drawn().random(6) < 0.5),
                  (([2, 3],), {"p": 0.2, "seed": 1}, drawn(1).random((2, 3)) < 0.2)],
    "randint": [((5,), {}, drawn().integers(0, 2, 5)),
                ((2, 2), {"low": -3, "high": 9.0, "seed": 2}, drawn(2).integers(-3, 9, (2, 2)))],
    "glorot_uniform": [((3, 2), {}, (drawn().random((3, 2)) * 2 - 1) * math.sqrt(6 / 5)),
                       (([2, 2, 3, 4],), {"seed": 1},
                        (drawn(1).random((2, 2, 3, 4)) * 2 - 1) * math.sqrt(6 / 28))],
    "glorot_normal": [((3, 2), {}, truncated((3, 2), 0) * math.sqrt(2 / 5) / 0.8796256610342398)],
    "he_uniform": [((3, 2), {}, (drawn().random((3, 2)) * 2 - 1) * math.sqrt(6 / 3)),
                   ((4,), {}, (drawn().random(4) * 2 - 1) * math.sqrt(6 / 4))],
    "he_normal": [((1, 2), {"seed": 5}, truncated((1, 2), 5) * math.sqrt(2) / 0.8796256610342398)],
}
FURTHER: dict[str, list[Made]] = {
    "normal": [((3,), {"mean": 2.0, "stddev": 0.5}, drawn().standard_normal(3) / 2 + 2)],
    "uniform": [((3,), {"minval": -1.0, "maxval": 3.0}, drawn().random(3) * 4 - 1)],
    "permutation": [((5,), {}, drawn().permutation(5)),
                    ((np.arange(6.0).reshape(3, 2),), {"seed": 1},
                     np.arange(6.0).reshape(3, 2)[drawn(1).permutation(3)])],
    "logspace": [((0, 3, 4), {}, [1, 10, 100, 1000]),
                 ((0, 2, 3), {"base": 2.0}, [1, 2, 4])],
    "geomspace": [((1, 1000, 4), {}, [1, 10, 100, 1000]), ((-1, -16, 3), {}, [-1, -4, -16]),
                  ((3, 4, 1), {}, [3]), ((3, 4, 0), {}, [])],
    "full_like": [((np.zeros((2, 2)), 1.5), {}, np.full((2, 2), 1.5)),
                  ((np.zeros(2, np.int64), 1.5), {}, [1, 1]), ((0.5, 2.0), {}, 2.0)],
    "full": [(([2], 3.0), {}, [3.0, 3.0])],
}


@pytest.mark.parametrize("name", [*MADE, *FURTHER])
def test_makers_agree_with_numpy(name: str) -> None:
    for arguments, options, want in (MADE.get(name) or FURTHER[name]):
        first, again = (np.asarray(NAMES[name](*arguments, **options)) for _ in range(2))
        np.testing.assert_allclose(first, np.asarray(want, dtype=first.dtype), rtol=1e-14,
                                   atol=1e-300)
        assert first.shape == np.shape(want)
        np.testing.assert_array_equal(first, again, "a seed must give the same numbers")


def test_random_numbers_have_the_distribution_they_are_named_for() -> None:
    x = NAMES["truncated_normal"](4000, seed=1)
    assert np.max(np.abs(x)) <= 2.0
    # The deviation of a normal distribution cut at 2 is 0.8796 (mpmath).
    assert abs(np.std(x) - 0.8796256610342398) < 0.03
    assert abs(np.std(NAMES["he_normal"](50, 80, seed=1)) - math.sqrt(2 / 50)) < 0.01
    assert abs(np.std(NAMES["glorot_uniform"](50, 80, seed=1)) - math.sqrt(2 / 130)) < 0.01
    assert abs(np.mean(NAMES["bernoulli"](4000, p=0.3)) - 0.3) < 0.03
    assert not np.array_equal(NAMES["normal"](5, seed=1), NAMES["normal"](5, seed=2))


def test_full_carries_the_derivative_of_its_value() -> None:
    assert loads("sum(full([2, 3], x))").gradient(at={"x": 2.0})["x"] == 6.0


# --- types ------------------------------------------------------------------------------------

A = np.array([[0.5, 1.0, -2.0], [0.25, 3.0, 0.75]], dtype=np.float32)
P = np.array([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3]], dtype=np.float32)
IMAGE = np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 4, 4, 2)
KERNEL = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 2, 2, 2)
LINE = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 2, 2)
CUBE = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 2, 2, 2)
ROW = A[0]

NARROW: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys((
        "leaky_relu", "celu", "gelu", "gelu_tanh", "hard_swish", "hard_tanh", "mish", "crelu",
        "threshold", "nan_to_num", "log_softmax", "l2_normalize", "layer_norm", "dropout",
        "check_numerics", "l2_loss", "permutation"), (A,)),
    **dict.fromkeys((
        "softmax_cross_entropy", "sigmoid_cross_entropy", "log_poisson_loss",
        "mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "hinge",
        "squared_hinge", "cosine_similarity", "add_n"), (P, A)),
    **dict.fromkeys((
        "binary_crossentropy", "kl_divergence", "categorical_crossentropy"), (P, P)),
    "weighted_cross_entropy": (P, A, 2.0),
    "sparse_softmax_cross_entropy": (CLASSES, A),
    "batch_norm": (A, ROW, P[1], ROW, ROW),
    "bias_add": (A, ROW),
    "dense": (A, KERNEL.reshape(-1)[:6].reshape(3, 2)),
    "smoothstep": (-3.0, 3.0, A),
    "clip_by_norm": (A, 1.0),
    "clip_by_average_norm": (A, 0.1),
    "conv1d": (LINE, LINE), "conv2d": (IMAGE, KERNEL), "conv3d": (CUBE, CUBE[None]),
    "conv2d_transpose": (IMAGE, KERNEL), "depthwise_conv2d": (IMAGE, KERNEL),
    "max_pool": (IMAGE,), "avg_pool": (IMAGE,),
    "bessel_j0": (P,), "bessel_k1e": (P,),
}


@folded
@pytest.mark.parametrize("name", NARROW)
def test_float32_is_kept(name: str) -> None:
    wide = [a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype == np.float32 else a
            for a in NARROW[name]]
    with Record():
        xs = [leaf(a) if isinstance(a, np.ndarray) and a.dtype == np.float32 else a
              for a in NARROW[name]]
        y = NAMES[name](*xs)
        assert y.dtype == "float32"
        np.testing.assert_allclose(y.value, NAMES[name](*wide), rtol=1e-4, atol=1e-5)
        sources = [x for x in xs if hasattr(x, "id")]
        for x, g in zip(sources, calculus.gradient([y], sources), strict=True):
            assert g is None or (g.dtype == np.float32 and g.shape == x.shape)


def test_makers_of_float32() -> None:
    assert NAMES["full_like"](A, 1.5).dtype == np.float32
    with Record():
        x = leaf(A)
        y = NAMES["multiply"](x, NAMES["full_like"](x, 1.5))
        assert y.dtype == "float32"
    assert NAMES["nan_to_num"](np.array([INF], dtype=np.float32))[0] == np.finfo(np.float32).max


def test_adjust_contrast_has_a_value_and_no_rule() -> None:
    image = np.linspace(0.0, 1.0, 24).reshape(2, 2, 3, 2)
    centre = image.mean(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(NAMES["adjust_contrast"](image, 2.0), 2 * image - centre,
                               rtol=1e-15, atol=1e-15)
    with pytest.raises(GradcliError) as caught:
        loads("sum(adjust_contrast(reshape(x, [1, 1, 3]), 0.1))").gradient(at={"x": np.ones(3)})
    assert caught.value.diagnostics[0].code == "E0503"


UNREGISTERED = {"adjust_contrast"}

# Rows that are calls in formulas, too: no sign of their own.
CALLS = UNREGISTERED | set(MADE) | {name for name in LAYERS if not name.startswith("bessel_")} - {
    "leaky_relu", "celu", "gelu", "gelu_tanh", "mish", "float_power", "log_softmax", "add_n",
    "bias_add", "l2_loss"}


# --- batches of Jacobians ---------------------------------------------------------------------


def test_the_jacobian_of_a_jacobian_goes_through_convolutions_and_pools() -> None:
    """All rows of a recorded Jacobian in one sweep, and its derivative again."""
    x0 = np.linspace(-1.0, 1.3, 9).reshape(3, 3, 1)
    k0 = np.array([0.5, -0.3, 0.8, 0.2]).reshape(2, 2, 1, 1)
    with Record():
        x, k = leaf(x0), leaf(k0)
        y = NAMES["avg_pool"](NAMES["square"](NAMES["conv2d"](x, k)), 2, 1)
        jacobian = calculus.jacobian(y, [x], emit=True)[0]
        by_kernel = calculus.jacobian(jacobian, [k], mode="reverse")[0]
        forward = calculus.jacobian(jacobian, [k], mode="forward")[0]
    np.testing.assert_allclose(by_kernel, forward, rtol=1e-12, atol=1e-14)

    def slope(kernel: Any) -> Any:
        """d/dx of mean(conv^2): twice conv spread back, a quarter of it."""
        return 0.5 * conv_back(conv(x0, kernel), kernel, 1, (3, 3))

    np.testing.assert_allclose(jacobian.value.reshape(3, 3, 1), slope(k0), rtol=1e-12, atol=1e-14)
    for at in np.ndindex(2, 2, 1, 1):
        moved = k0.astype(complex)
        moved[at] += 1e-30j
        np.testing.assert_allclose(by_kernel.reshape(3, 3, 1, 2, 2, 1, 1)[(..., *at)],
                                   slope(moved).imag / 1e-30, rtol=1e-12, atol=1e-14)


# --- errors -----------------------------------------------------------------------------------

WRONG: Sequence[tuple[str, str, str]] = (
    ("conv2d(x, x)", "E0301", "height and width and channels"),
    ("conv2d(reshape(x, [2, 3, 1]), reshape(x, [1, 2, 3, 1]))", "E0301", "for 1 channels"),
    ("conv2d(reshape(x, [2, 3, 1]), reshape(x, [3, 2, 1, 1]))", "E0301", "does not fit"),
    ("conv2d(reshape(x, [2, 3, 1]), reshape(x, [2, 3, 1, 1]), strides=0)", "E0303", "strides"),
    ("conv2d(reshape(x, [2, 3, 1]), reshape(x, [2, 3, 1, 1]), strides=[1, 2, 3])", "E0303",
     "2 whole numbers"),
    ("conv2d(reshape(x, [2, 3, 1]), reshape(x, [2, 3, 1, 1]), padding=\"FULL\")", "E0303", "SAME"),
    ("conv1d(x, x)", "E0301", "length and channels"),
    ("conv2d_transpose(reshape(x, [2, 3, 1]), reshape(x, [2, 3, 1, 1]), [9, 9])", "E0301",
     "no image"),
    ("conv2d_transpose(reshape(x, [2, 3, 1]), reshape(x, [2, 3, 1, 1]), 9)", "E0303",
     "output shape"),
    ("depthwise_conv2d(reshape(x, [2, 3, 1]), reshape(x, [1, 2, 3, 1]))", "E0301", "multiplier"),
    ("max_pool(x)", "E0301", "height and width"),
    ("max_pool(reshape(x, [1, 2, 3]), 2)", "E0301", "does not fit"),
    ("avg_pool(reshape(x, [2, 3, 1]), 1.5)", "E0303", "whole"),
    ("sparse_softmax_cross_entropy(3, [1, 2, 3])", "E0305", "3 classes"),
    ("sparse_softmax_cross_entropy(-1, [1, 2, 3])", "E0305", "from 0 to 2"),
    ("sparse_softmax_cross_entropy(0.5, [1, 2, 3])", "E0303", "whole numbers"),
    ("sparse_softmax_cross_entropy([1, 2], [1, 2, 3])", "E0301", "a label per row"),
    ("sparse_softmax_cross_entropy(0, 1)", "E0301", "a label per row"),
    ("softmax_cross_entropy([1, 2], [1, 2, 3])", "E0301", "cannot combine"),
    ("mse([1, 2], x)", "E0301", "cannot combine"),
    ("bias_add(x, [1, 2])", "E0301", "bias_add"),
    ("add_n([x, [1, 2]])", "E0301", "add_n"),
    ("dense(x, x, x, x)", "E0207", "bias"),
    ("layer_norm(x, 1, 2, 3)", "E0207", "at most scale, offset"),
    ("dropout(x, 1)", "E0404", "rate"),
    ("dropout(x, 0.5, 1.5)", "E0303", "seed"),
    ("global_norm(x)", "E0302", "a list"),
    ("clip_by_global_norm(x, 1)", "E0302", "a list"),
    ("clip_by_global_norm([x, \"a\"], 1)", "E0302", "a list of tensors"),
    ("clip_by_global_norm([x])", "E0207", "such as"),
    ("check_numerics(log(x - 1))", "E0404", "found Inf"),
    ("adjust_contrast(x, 1)", "E0301", "adjust_contrast"),
    ("glorot_uniform([])", "E0303", "weights"),
    ("bernoulli(3, p=2)", "E0404", "between 0 and 1"),
    ("randint(3, low=2, high=2)", "E0404", "randint"),
    ("normal(3, stddev=1/0)", "E0404", "finite"),
    ("geomspace(-1, 1, 3)", "E0404", "one sign"),
    ("truncated_normal(-1)", "E0303", "negative"),
    ("permutation(-2)", "E0303", "negative"),
    ("tri(2.5)", "E0303", "whole"),
    ("l2_normalize(x, axis=4)", "E0304", "axis 4"),
    ("moments(x, axes=[1])[0]", "E0304", "axis 1"),
    ("log_softmax(x, axis=1)", "E0304", "axis 1"),
)


@folded
@pytest.mark.parametrize(("text", "code", "words"), WRONG)
def test_errors(text: str, code: str, words: str) -> None:
    with pytest.raises(GradcliError) as caught:
        loads(text).value(at={"x": np.arange(1.0, 7.0)} if "x" in text.replace("max", "") else {})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert words in diagnostic.message + (diagnostic.help or "")
