"""Functions of `keras.ops` that are more than one expression of operations."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.tf.dtypes import floatx
from gradcli.tf.keras.functions import activation as activations
from gradcli.tf.keras.functions import backend
from gradcli.tf.keras.functions import loss as losses
from gradcli.tf.keras.layers.symbolic import KerasTensor, also_symbolic
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def shape(x: Any) -> tuple[Any, ...]:
    """Return the lengths of the axes, None for any."""
    return tuple(x.shape if isinstance(x, KerasTensor) else tf.convert_to_tensor(x).shape)


def convert_to_numpy(x: Any) -> Any:
    """Return the value as an array."""
    return np.array(x)


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return what one of two functions gives."""
    return true_fn() if bool(pred) else false_fn()


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Return what a function makes of a value, step by step."""
    for k in range(int(lower), int(upper)):
        init_val = body_fun(k, init_val)
    return init_val if isinstance(init_val, (list, tuple)) else tf.convert_to_tensor(init_val)


def _gelu(x: Any, approximate: bool = True) -> Any:
    """Return x times the share of a normal distribution below it."""
    return activations.gelu(x, approximate)


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
              dtype: Any = None, axis: int = 0) -> Any:
    """Return evenly spaced numbers."""
    for option, given in (("endpoint", not endpoint), ("retstep", retstep)):
        if given:
            raise refused("tf.keras.ops.linspace", option)
    return tf.linspace(tf.cast(start, dtype or floatx()),
                       tf.cast(stop, dtype or floatx()), num, axis=axis)


def _binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Return the cross entropy of each label 0 or 1 and its probability, or its logit."""
    return losses.binary_crossentropy(target[..., None], output[..., None], from_logits)


# These make layers of symbolic tensors, too.
gelu, linspace = also_symbolic(_gelu, "gelu"), _linspace
elu, sigmoid, softmax, hard_sigmoid, leaky_relu, hard_silu = [
    also_symbolic(function, function.__name__) for function in (
        activations.elu, activations.sigmoid, activations.softmax, activations.hard_sigmoid,
        activations.leaky_relu, activations.hard_silu)]
binary_crossentropy, categorical_crossentropy, sparse_categorical_crossentropy = [
    also_symbolic(function, function.__name__.lstrip("_")) for function in (
        _binary_crossentropy, backend.categorical_crossentropy,
        backend.sparse_categorical_crossentropy)]
hard_swish = hard_silu
