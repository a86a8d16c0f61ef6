"""Losses: how far predictions are from targets. The formulas are Keras 3's."""

from __future__ import annotations

import inspect
import math

import gradcli.tf as tf
from gradcli.tf.dtypes import floatx
from gradcli.tf.keras.annotated import annotated, logits_of, mask_of
from gradcli.tf.keras.identifiers import identified
from gradcli.tf.keras.variables import auto_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

EPSILON = 1e-7
REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)


def paired(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return targets and predictions as tensors of one type and rank."""
    y_pred = tf.convert_to_tensor(y_pred)
    return one_rank(tf.cast(y_true, y_pred.dtype), y_pred)


def one_rank(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two tensors with an axis of length 1 at the end where only one has it."""
    if len(a.shape) == len(b.shape) + 1 and a.shape[-1] == 1:
        return (a, b[..., None]) if len(b.shape) == 1 else (tf.squeeze(a, -1), b)
    if len(b.shape) == len(a.shape) + 1 and b.shape[-1] == 1:
        return (a[..., None], b) if len(a.shape) == 1 else (a, tf.squeeze(b, -1))
    return a, b


class Reduction:
    """The names of reductions."""

    NONE, SUM, SUM_OVER_BATCH_SIZE, AUTO = "none", "sum", "sum_over_batch_size", "auto"


# ---- functions -----------------------------------------------------------------------------------


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Return the means of squared differences along the last axis."""
    y_true, y_pred = paired(y_true, y_pred)
    return tf.reduce_mean(tf.square(y_true - y_pred), -1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Return the means of absolute differences along the last axis."""
    y_true, y_pred = paired(y_true, y_pred)
    return tf.reduce_mean(tf.abs(y_true - y_pred), -1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """Return the means of relative differences in percent."""
    y_true, y_pred = paired(y_true, y_pred)
    return 100.0 * tf.reduce_mean(tf.abs(
        (y_true - y_pred) / tf.maximum(tf.abs(y_true), EPSILON)), -1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """Return the means of squared differences of `log(1 + y)`."""
    y_true, y_pred = paired(y_true, y_pred)
    first, second = [tf.math.log(tf.maximum(y, EPSILON) + 1.0) for y in (y_pred, y_true)]
    return tf.reduce_mean(tf.square(first - second), -1)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Return means of half the squared difference, linear beyond delta."""
    y_true, y_pred = paired(y_true, y_pred)
    error = y_pred - y_true
    size = tf.abs(error)
    return tf.reduce_mean(tf.where(
        size <= delta, 0.5 * tf.square(error), delta * size - 0.5 * delta ** 2), -1)


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """Return means of the logarithm of the hyperbolic cosine of the difference."""
    y_true, y_pred = paired(y_true, y_pred)
    x = y_pred - y_true
    return tf.reduce_mean(x + tf.nn.softplus(x * -2.0) - math.log(2.0), -1)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """Return the Kullback-Leibler divergence of distributions along the last axis."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true, y_pred = [tf.clip_by_value(tf.cast(y, y_pred.dtype), EPSILON, 1.0)
                      for y in (y_true, y_pred)]
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), -1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """Return means of the negative log likelihood of counts, up to a constant."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    return tf.reduce_mean(y_pred - y_true * tf.math.log(y_pred + EPSILON), -1)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Return the negative cosine of the angle between vectors."""
    y_true, y_pred = [tf.math.l2_normalize(y, axis) for y in paired(y_true, y_pred)]
    return -tf.reduce_sum(y_true * y_pred, axis)


def _signs(y_true: Any) -> Any:
    """Return labels 0 and 1 as -1 and 1."""
    binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0), tf.equal(y_true, 1)))
    return 2.0 * y_true - 1.0 if binary else y_true


def hinge(y_true: Any, y_pred: Any) -> Any:
    """Return means of how much `y_true y_pred` is below 1."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = _signs(tf.cast(y_true, y_pred.dtype))
    return tf.reduce_mean(tf.maximum(1.0 - y_true * y_pred, 0.0), -1)


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return means of the squares of what `hinge` takes."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = _signs(tf.cast(y_true, y_pred.dtype))
    return tf.reduce_mean(tf.square(tf.maximum(1.0 - y_true * y_pred, 0.0)), -1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return how much the right class is not 1 above the best of the others."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    right = tf.reduce_sum(y_true * y_pred, -1)
    return tf.maximum(tf.reduce_max((1.0 - y_true) * y_pred, -1) - right + 1.0, 0.0)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False,
                        label_smoothing: float = 0.0, axis: int = -1) -> Any:
    """Return means of the cross entropy of labels 0 and 1 and probabilities, or their logits."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    _check(y_true, y_pred)
    logits = y_pred if from_logits and logits_of(y_pred) is None else logits_of(y_pred)
    if logits is not None:
        found = tf.nn.sigmoid_cross_entropy_with_logits(y_true, logits)
    else:
        p = tf.clip_by_value(y_pred, EPSILON, 1.0 - EPSILON)
        found = -(y_true * tf.math.log(p) + (1 - y_true) * tf.math.log(1 - p))
    return tf.reduce_mean(found, axis)


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False,
                             label_smoothing: float = 0.0, axis: int = -1) -> Any:
    """Return the cross entropy of the probabilities of classes, or their logits."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_true.shape[-1]
    _check(y_true, y_pred)
    logits = y_pred if from_logits and logits_of(y_pred) is None else logits_of(y_pred)
    if logits is not None:
        return tf.nn.softmax_cross_entropy_with_logits(y_true, logits, axis)
    p = y_pred / tf.reduce_sum(y_pred, axis, keepdims=True)
    return -tf.reduce_sum(
        y_true * tf.math.log(tf.clip_by_value(p, EPSILON, 1.0 - EPSILON)), axis)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False,
                                    ignore_class: int | None = None, axis: int = -1) -> Any:
    """Return the cross entropy of the numbers of classes and probabilities, or their logits."""
    if not isinstance(y_pred, tf.Tensor):
        y_pred = tf.convert_to_tensor(y_pred)
    if axis not in (-1, len(y_pred.shape) - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    y_true = tf.cast(y_true, "int64")
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    if len(y_true.shape) != len(y_pred.shape) - 1:
        raise ValueError("Argument `output` must have rank (ndim) `target.ndim - 1`. Received:"
                         f" target.shape={y_true.shape}, output.shape={y_pred.shape}")
    logits = y_pred if from_logits and logits_of(y_pred) is None else logits_of(y_pred)
    valid = None if ignore_class is None else tf.not_equal(y_true, ignore_class)
    if valid is not None:
        y_true = tf.where(valid, y_true, tf.zeros_like(y_true))
    if logits is None:
        logits = tf.math.log(tf.clip_by_value(y_pred, EPSILON, 1 - EPSILON))
    found = tf.nn.sparse_softmax_cross_entropy_with_logits(y_true, logits)
    if valid is None:
        return found
    return annotated(tf.where(valid, found, tf.zeros_like(found)), mask=valid)


def _check(target: Any, output: Any) -> None:
    if len(target.shape) != len(output.shape):
        raise ValueError("Arguments `target` and `output` must have the same rank (ndim)."
                         f" Received: target.shape={target.shape}, output.shape={output.shape}")
    if target.shape != output.shape:
        raise ValueError("Arguments `target` and `output` must have the same shape. Received:"
                         f" target.shape={target.shape}, output.shape={output.shape}")


# ---- classes -------------------------------------------------------------------------------------


class Loss:
    """A loss that is reduced over the batch, as keras.losses.Loss: `call` is a subclass's."""

    def __init__(self, name: str | None = None, reduction: str | None = "sum_over_batch_size",
                 dtype: Any = None) -> None:
        if reduction not in REDUCTIONS:
            raise ValueError("Invalid value for argument `reduction`. Expected one of"
                             f" {set(REDUCTIONS)}. Received: reduction={reduction}")
        self.name = name or auto_name(type(self).__name__)
        self.reduction = reduction
        self.dtype = dtype or floatx()

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the loss of each sample."""
        raise NotImplementedError

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss, weighted and reduced."""
        mask = mask_of(y_pred)
        y_true, y_pred = [_of_type(y, self.dtype) for y in (y_true, y_pred)]
        losses = _of_type(self.call(y_true, y_pred), self.dtype)
        if mask_of(losses) is not None:
            own = mask_of(losses)
            mask = own if mask is None else tf.logical_and(mask, own)
        weights = None if sample_weight is None else _of_type(sample_weight, self.dtype)
        if mask is not None:
            weights = weighted(weights, mask, self.dtype,
                               self.reduction in ("mean", "sum_over_batch_size"))
        if weights is not None:
            losses, weights = one_rank(losses, weights)
            losses = losses * weights
        if self.reduction in (None, "none") or not losses.shape:
            return losses
        total = tf.reduce_sum(losses)
        if self.reduction == "sum":
            return total
        if self.reduction == "mean_with_sample_weight" and weights is not None:
            return tf.math.divide_no_nan(total, tf.reduce_sum(weights))
        return tf.math.divide_no_nan(total, tf.cast(losses.size, self.dtype))

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {"name": self.name, "reduction": self.reduction}


def weighted(weights: Any, mask: Any, dtype: Any, scaled: bool = False) -> Any:
    """Return weights that are 0 where a mask is False. scaled: so that a mean is one of the rest.
    """
    shares = tf.cast(mask, dtype)
    if scaled:
        shares = shares * tf.math.divide_no_nan(
            tf.cast(shares.size, dtype), tf.reduce_sum(shares))
    if weights is None:
        return shares
    shares, weights = one_rank(shares, tf.cast(weights, dtype))
    return weights * shares


def _of_type(value: Any, dtype: Any) -> Any:
    made = tf.convert_to_tensor(value)
    return made if made.dtype == dtype else tf.cast(made, dtype)


class LossFunctionWrapper(Loss):
    """A loss of a function of targets and predictions."""

    def __init__(self, fn: Callable[..., Any], reduction: str | None = "sum_over_batch_size",
                 name: str | None = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(name, reduction, dtype)
        self.fn = fn
        self.options = options

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the loss of each sample."""
        return self.fn(*one_rank(y_true, y_pred), **self.options)

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {**super().get_config(), **self.options}


class OfFunction(LossFunctionWrapper):
    """A loss whose first options are those of its function, as positions too."""

    function: ClassVar[Callable[..., Any]]
    title = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        own = list(inspect.signature(type(self).function).parameters)[2:]
        given = dict(zip([*own, "reduction", "name", "dtype"], args, strict=False))
        unknown = set(options) - {*own, "reduction", "name", "dtype"}
        if unknown or len(args) > len(own) + 3:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument"
                            f" '{next(iter(unknown), len(args))}'")
        super().__init__(type(self).function, **{"name": self.title, **given, **options})


# Class, function and the name of its instances where that is another one.
ROWS: dict[str, tuple[Callable[..., Any], str]] = {
    "MeanSquaredError": (mean_squared_error, ""),
    "MeanAbsoluteError": (mean_absolute_error, ""),
    "MeanAbsolutePercentageError": (mean_absolute_percentage_error, ""),
    "MeanSquaredLogarithmicError": (mean_squared_logarithmic_error, ""),
    "Huber": (huber, "huber_loss"),
    "LogCosh": (log_cosh, ""),
    "KLDivergence": (kl_divergence, ""),
    "Poisson": (poisson, ""),
    "CosineSimilarity": (cosine_similarity, ""),
    "Hinge": (hinge, ""),
    "SquaredHinge": (squared_hinge, ""),
    "CategoricalHinge": (categorical_hinge, ""),
    "BinaryCrossentropy": (binary_crossentropy, ""),
    "CategoricalCrossentropy": (categorical_crossentropy, ""),
    "SparseCategoricalCrossentropy": (sparse_categorical_crossentropy, ""),
}
CLASSES: dict[str, type[OfFunction]] = {
    name: type(name, (OfFunction,), {
        "function": staticmethod(function), "title": title or function.__name__,
        "__doc__": function.__doc__, "__module__": __name__})
    for name, (function, title) in ROWS.items()}
globals().update(CLASSES)

ALIASES = {"mse": mean_squared_error, "mae": mean_absolute_error,
           "mape": mean_absolute_percentage_error, "msle": mean_squared_logarithmic_error,
           "kld": kl_divergence, "kullback_leibler_divergence": kl_divergence,
           "logcosh": log_cosh, "bce": binary_crossentropy}
ALIASES.update({name.upper(): f for name, f in ALIASES.items() if len(name) < 5})
FUNCTIONS = {**{function.__name__: function for function, _ in ROWS.values()}, **ALIASES}
globals().update(ALIASES)


def get(identifier: Any) -> Any:
    """Return the loss of a name, function, class or loss."""
    return identified(identifier, {**FUNCTIONS, **CLASSES}, "loss")
