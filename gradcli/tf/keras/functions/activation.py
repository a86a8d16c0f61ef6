"""Activations: functions that layers apply to what they compute."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.annotated import annotated
from gradcli.tf.keras.identifiers import identified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def sigmoid(x: Any) -> Any:
    """Return probabilities of two classes, each."""
    return annotated(tf.sigmoid(x), logits=x)


def softmax(x: Any, axis: int = -1) -> Any:
    """Return probabilities of classes along an axis."""
    return annotated(tf.nn.softmax(x, axis), logits=x)


def linear(x: Any) -> Any:
    """Return the argument."""
    return x


def relu(x: Any, negative_slope: float = 0.0, max_value: float | None = None,
         threshold: float = 0.0) -> Any:
    """Return x above the threshold, and `negative_slope` times its distance below."""
    if negative_slope and max_value is None and not threshold:
        return tf.nn.leaky_relu(x, negative_slope)
    below = tf.nn.relu(threshold - x) if negative_slope else None
    if threshold:
        y = tf.where(x > threshold, x, tf.zeros_like(x))
    else:
        y = tf.nn.relu6(x) if max_value == 6 else tf.nn.relu(x)
    if max_value is not None and (threshold or max_value != 6):
        y = tf.clip_by_value(y, 0.0, max_value)
    return y if below is None else y - negative_slope * below


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return x above 0, and `alpha (exp(x) - 1)` below."""
    return tf.nn.elu(x) if alpha == 1 else tf.where(x > 0, x, alpha * (tf.exp(x) - 1))


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """Return x above 0, and a multiple of it below."""
    return tf.nn.leaky_relu(x, negative_slope)


def gelu(x: Any, approximate: bool = False) -> Any:
    """Return x times the share of a normal distribution below it."""
    return tf.nn.gelu(x, approximate)


def silu(x: Any) -> Any:
    """Return x times its sigmoid."""
    return tf.nn.silu(x)


def mish(x: Any) -> Any:
    """Return `x tanh(softplus(x))`."""
    return x * tf.tanh(tf.nn.softplus(x))


def hard_sigmoid(x: Any) -> Any:
    """Return `relu6(x + 3) / 6`."""
    return tf.nn.relu6(x + 3.0) / 6.0


def hard_silu(x: Any) -> Any:
    """Return `x relu6(x + 3) / 6`."""
    return x * hard_sigmoid(x)


def exponential(x: Any) -> Any:
    """Return `exp(x)`."""
    return tf.exp(x)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """Return the logarithms of the probabilities of classes."""
    return tf.nn.log_softmax(x, axis)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return tf.tanh(x)


def relu6(x: Any) -> Any:
    """Return x between 0 and 6."""
    return tf.nn.relu6(x)


def selu(x: Any) -> Any:
    """Return the scaled `elu`."""
    return tf.nn.selu(x)


def softplus(x: Any) -> Any:
    """Return `log(1 + exp(x))`."""
    return tf.nn.softplus(x)


def softsign(x: Any) -> Any:
    """Return `x / (1 + |x|)`."""
    return tf.nn.softsign(x)


def log_sigmoid(x: Any) -> Any:
    """Return the logarithm of the sigmoid."""
    return tf.math.log_sigmoid(x)


swish, hard_swish = silu, hard_silu
BY_NAME = {f.__name__: f for f in (
    sigmoid, softmax, linear, relu, elu, leaky_relu, gelu, silu, mish, hard_sigmoid, hard_silu,
    exponential, log_softmax, tanh, relu6, selu, softplus, softsign, log_sigmoid)}
BY_NAME.update(swish=silu, hard_swish=hard_silu)


def get(identifier: Any) -> Callable[..., Any]:
    """Return the activation of a name or function; `linear` for None."""
    found: Callable[..., Any] = identified(identifier or "linear", BY_NAME, "activation function")
    return found
