"""Functions of `keras.backend`, which programs for Keras 2 use still, that are more than one
expression of operations.
"""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import as_dtype, floatx, set_floatx
from gradcli.tf.keras.functions import activation as activations
from gradcli.tf.keras.functions import loss as losses
from gradcli.tf.keras.layers.symbolic import KerasTensor
from gradcli.tf.keras.variables import auto_name
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any
__all__ = ["set_floatx"]


# ---- settings ------------------------------------------------------------------------------------


def backend() -> str:
    """Return the name of the engine that Keras has."""
    return "tensorflow"


def epsilon() -> float:
    """Return the small number that keeps quotients finite."""
    return losses.EPSILON


def set_epsilon(value: float) -> None:
    """Refuse another one: it is part of the formulas."""
    if value != losses.EPSILON:
        raise refused("tf.keras.backend.set_epsilon", f"value={value}")


def image_data_format() -> str:
    """Return where channels stand."""
    return "channels_last"


def set_image_data_format(data_format: str) -> None:
    """Refuse channels that do not stand last."""
    if data_format != "channels_last":
        raise refused("tf.keras.backend.set_image_data_format", f"data_format={data_format!r}")


def cast_to_floatx(x: Any) -> Any:
    """Return numbers in Keras's type; arrays as arrays."""
    return tf.cast(x, floatx()) if isinstance(x, engine.Tensor) else np.asarray(x, floatx())


def get_uid(prefix: str = "") -> int:
    """Return a number that no other has with this prefix."""
    found = auto_name(f"uid {prefix}").rpartition("_")[2]
    return int(found) + 1 if found.isdigit() else 1


# ---- variables and their values ------------------------------------------------------------------


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Return a variable."""
    made = tf.Variable(tf.cast(value, dtype or floatx()), name=name)
    if constraint is not None:
        raise refused("tf.keras.backend.variable", "constraint")
    return made


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = None) -> Any:
    """Return a tensor that nothing is differentiated by."""
    made = tf.cast(value, dtype or floatx())
    return made if shape is None else tf.broadcast_to(made, shape)


def _filled(number: int) -> Callable[..., Any]:
    def made(shape: Any, dtype: Any = None, name: Any = None) -> Any:
        """Return a variable of one number everywhere."""
        return tf.Variable(tf.fill(shape, tf.cast(number, dtype or floatx())), name=name)

    return made


def _like(number: int) -> Callable[..., Any]:
    def made(x: Any, dtype: Any = None, name: Any = None) -> Any:
        """Return one number in the shape of a tensor."""
        found = tf.ones_like(x) if number else tf.zeros_like(x)
        return found if dtype is None else tf.cast(found, dtype)

    return made


ones, zeros, ones_like, zeros_like = _filled(1), _filled(0), _like(1), _like(0)


def eye(size: int, dtype: Any = None, name: Any = None) -> Any:
    """Return a variable of the identity matrix."""
    return tf.Variable(tf.eye(size, dtype=dtype or floatx()), name=name)


def get_value(x: Any) -> Any:
    """Return the value of a tensor or variable as an array."""
    return x.numpy() if isinstance(x, engine.Tensor) else x


def set_value(x: Any, value: Any) -> None:
    """Set the state of a variable."""
    x.assign(np.asarray(value, dtype=x.dtype.as_numpy_dtype))


def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """Return the values of tensors as arrays."""
    return [get_value(x) for x in tensors]


def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Set the states of variables."""
    for x, value in tuples:
        set_value(x, value)


def update(x: Any, new_x: Any) -> Any:
    """Set the state of a variable."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Add to a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtract from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum: float) -> Any:
    """Move a variable towards a value."""
    return x.assign(x * momentum + value * (1 - momentum))


# ---- shapes --------------------------------------------------------------------------------------


def int_shape(x: Any) -> tuple[Any, ...]:
    """Return the lengths of the axes, None for any."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """Return the number of axes."""
    return len(x.shape if is_keras_tensor(x) else tf.convert_to_tensor(x).shape)


def count_params(x: Any) -> int:
    """Return the number of numbers."""
    return int(np.prod(x.shape, dtype=int))


def dtype(x: Any) -> str:
    """Return the type of a tensor as text."""
    return as_dtype(x.dtype).name


def is_keras_tensor(x: Any) -> bool:
    """Return whether it is a tensor without a value."""
    return isinstance(x, KerasTensor)


# ---- activations and losses ----------------------------------------------------------------------


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """Return x above the threshold, and `alpha` times its distance below."""
    return activations.relu(x, alpha, max_value, threshold)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Return the cross entropy of each label 0 or 1 and its probability, or its logit."""
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    small = losses.EPSILON
    p = tf.clip_by_value(output, small, 1.0 - small)
    return -(target * tf.math.log(p + small) + (1 - target) * tf.math.log(1 - p + small))


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1
                             ) -> Any:
    """Return the cross entropy of the probabilities of classes, or their logits."""
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False,
                                    axis: int = -1, ignore_class: Any = None) -> Any:
    """Return the cross entropy of the numbers of classes and probabilities, or their logits."""
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)


elu, sigmoid, softmax = activations.elu, activations.sigmoid, activations.softmax


def hard_sigmoid(x: Any) -> Any:
    """Return `0.2 x + 0.5` between 0 and 1; `activations.hard_sigmoid` has another slope."""
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


# ---- random numbers ------------------------------------------------------------------------------


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None,
                  seed: Any = None) -> Any:
    """Return draws of a normal distribution."""
    return tf.random.normal(shape, mean, stddev, dtype or floatx(), seed)


def random_uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None,
                   seed: Any = None) -> Any:
    """Return draws of a uniform distribution."""
    return tf.random.uniform(shape, minval, maxval, dtype or floatx(), seed)


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None,
                     seed: Any = None) -> Any:
    """Return draws of a normal distribution within two standard deviations."""
    return tf.random.truncated_normal(shape, mean, stddev, dtype or floatx(), seed)


def random_bernoulli(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """Return ones with a probability, zeros else."""
    return tf.cast(tf.random.uniform(shape, seed=seed) <= p, dtype or floatx())


def dropout(x: Any, level: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Return a tensor with a share of it 0, the others scaled."""
    if noise_shape is not None:
        raise refused("tf.keras.backend.dropout", "noise_shape")
    return tf.nn.dropout(x, level, seed=seed)
