"""Layers that normalize."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.inputs import InputSpec, refuse
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.simple import Wrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


EPSILON = 1e-7


class BatchNormalization(Layer):
    """Normalize by mean and variance: of the batch in training, of what was seen else."""

    def __init__(self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3,
                 center: bool = True, scale: bool = True, beta_initializer: Any = "zeros",
                 gamma_initializer: Any = "ones", moving_mean_initializer: Any = "zeros",
                 moving_variance_initializer: Any = "ones", beta_regularizer: Any = None,
                 gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, synchronized: bool = False,
                 **options: Any) -> None:
        super().__init__(**options)
        refuse(self, renorm=renorm, synchronized=synchronized)
        self.supports_masking = True
        self.axis, self.momentum, self.epsilon = int(axis), float(momentum), float(epsilon)
        self.options = {
            "gamma": (scale, gamma_initializer, True, gamma_regularizer, gamma_constraint),
            "beta": (center, beta_initializer, True, beta_regularizer, beta_constraint),
            "moving_mean": (True, moving_mean_initializer, False, None, None),
            "moving_variance": (True, moving_variance_initializer, False, None, None)}
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        length = input_shape[self.axis]
        for name, (wanted, initializer, trainable, regularizer, constraint
                   ) in self.options.items():
            if wanted:
                setattr(self, name, self.add_weight(
                    (length,), initializer, trainable=trainable, regularizer=regularizer,
                    constraint=constraint, name=name))
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: length})

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Apply the layer."""
        rank = len(inputs.shape)
        if mask is not None and len(mask.shape) != rank - 1:
            raise ValueError("The mask provided should be one dimension less than the inputs."
                             f" Received: mask.shape={mask.shape}, inputs.shape={inputs.shape}")
        mean, variance = self.moving_mean, self.moving_variance
        if training and self.trainable:
            axes = [k for k in range(rank) if k != self.axis % rank]
            now = tf.nn.moments(inputs, axes) if mask is None else _moments(inputs, axes, mask)
            for moving, new in zip((mean, variance), now, strict=True):
                moving.assign(moving * self.momentum + new * (1.0 - self.momentum))
            mean, variance = now
        shape = [-1 if k == self.axis % rank else 1 for k in range(rank)]
        mean, variance, beta, gamma = [
            p if p is None or self.axis % rank == rank - 1 else tf.reshape(p, shape)
            for p in (mean, variance, self.beta, self.gamma)]
        return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


def _moments(x: Any, axes: list[int], mask: Any) -> tuple[Any, Any]:
    """Return mean and variance of what a mask leaves."""
    weights = tf.cast(mask, x.dtype)[..., None]
    total = tf.reduce_sum(weights, axes, keepdims=True) + EPSILON
    mean = tf.reduce_sum(weights * x, axes, keepdims=True) / total
    variance = tf.reduce_sum(weights * tf.square(x - mean), axes, keepdims=True) / total
    return tf.squeeze(mean, axes), tf.squeeze(variance, axes)


class Scaled(Layer):
    """A normalization of each sample, then a factor `gamma` and an offset `beta` that are trained.
    """

    def __init__(self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = "zeros",
                 gamma_initializer: Any = "ones", beta_regularizer: Any = None,
                 gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, **options: Any) -> None:
        refuse(self, rms_scaling=options.pop("rms_scaling", False))
        super().__init__(**options)
        self.axis = axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer = initializer_of(beta_initializer)
        self.gamma_initializer = initializer_of(gamma_initializer)
        self.regularizers = {"gamma": gamma_regularizer, "beta": beta_regularizer}
        self.constraints = {"gamma": gamma_constraint, "beta": beta_constraint}
        self.gamma: Any = None
        self.beta: Any = None
        self.supports_masking = True

    def _make(self, shape: Any) -> None:
        """Make the variables."""
        for name, wanted, initializer in (("gamma", self.scale, self.gamma_initializer),
                                          ("beta", self.center, self.beta_initializer)):
            if wanted:
                setattr(self, name, self.add_weight(
                    shape, initializer, name=name, regularizer=self.regularizers[name],
                    constraint=self.constraints[name]))


class LayerNormalization(Scaled):
    """Normalize each sample by its mean and variance along some axes; Ba and others, 2016."""

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self.axis = sorted(self.axis) if isinstance(self.axis, (list, tuple)) else [self.axis]
        self._make([input_shape[k] for k in self.axis])

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        rank = len(inputs.shape)
        axes = [k % rank for k in self.axis]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        shape = [inputs.shape[k] if k in axes else 1 for k in range(rank)]
        beta, gamma = [p if p is None or axes == [rank - 1] else tf.reshape(p, shape)
                       for p in (self.beta, self.gamma)]
        return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


class GroupNormalization(Scaled):
    """Normalize groups of channels of each sample; Wu and He, 2018. groups: -1 for one each."""

    def __init__(self, groups: int = 32, axis: int = -1, epsilon: float = 1e-3, **options: Any
                 ) -> None:
        super().__init__(axis, epsilon, **options)
        self.groups = groups

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        n = input_shape[self.axis]
        self.groups = n if self.groups == -1 else self.groups
        if n < self.groups:
            raise ValueError(f"Number of groups ({self.groups}) cannot be more than the number of"
                             f" channels ({n}).")
        if n % self.groups:
            raise ValueError(f"Number of groups ({self.groups}) must be a multiple of the number of"
                             f" channels ({n}).")
        self._make((n,))
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: n})

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        shape = list(inputs.shape)
        at = self.axis % len(shape)
        parts = [*shape[:at], self.groups, shape[at] // self.groups, *shape[at + 1:]]
        x = tf.reshape(inputs, parts)
        axes = [k for k in range(1, len(parts)) if k != at]
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        ones = [1] * len(parts)
        ones[at:at + 2] = parts[at:at + 2]
        beta, gamma = [p if p is None else tf.reshape(p, ones) for p in (self.beta, self.gamma)]
        y = tf.nn.batch_normalization(x, mean, variance, beta, gamma, self.epsilon)
        return tf.reshape(y, shape)


class RMSNormalization(Layer):
    """The inputs over the root of their mean square, times a scale; Zhang and Sennrich, 2019."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **options: Any) -> None:
        super().__init__(**options)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self.scale = self.add_weight((input_shape[self.axis],), "ones", name="scale")

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        rank = len(inputs.shape)
        ones = [-1 if k == self.axis % rank else 1 for k in range(rank)]
        size = tf.math.rsqrt(
            tf.reduce_mean(tf.square(inputs), self.axis, keepdims=True) + self.epsilon)
        return inputs * size * tf.reshape(self.scale, ones)


class Normalization(Layer):
    """The inputs less a mean, over the root of a variance: given ones, or those of `adapt`'s data.

    axis: what has a mean of its own, None for one of all. invert: the way back.
    """

    def __init__(self, axis: Any = -1, mean: Any = None, variance: Any = None,
                 invert: bool = False, **options: Any) -> None:
        super().__init__(**options)
        if (mean is None) != (variance is None):
            raise ValueError("When setting values directly, both `mean` and `variance` must be set."
                             f" Received: mean={mean} and variance={variance}")
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        self.input_mean, self.input_variance, self.invert = mean, variance, invert
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        rank = len(input_shape)
        self.kept = sorted(axis % rank for axis in self.axis)
        shape = tuple([input_shape[k] for k in self.kept])
        if None in shape:
            raise ValueError("All `axis` values to be kept must have a known shape. Received"
                             f" axis={self.axis}, inputs.shape={tuple(input_shape)}, with unknown"
                             f" axis at index {self.kept[shape.index(None)]}")
        self.spread = [input_shape[k] if k in self.kept else 1 for k in range(rank)]
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(shape, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(shape, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), "zeros", "int32", False, name="count")
        else:
            self.fixed = [tf.broadcast_to(tf.convert_to_tensor(np.asarray(x, self.dtype)),
                                          self.spread)
                          for x in (self.input_mean, self.input_variance)]

    def adapt(self, data: Any) -> None:
        """Set mean and variance to those of an array, or of the batches of a dataset."""
        if isinstance(data, engine.Tensor) or hasattr(data, "__array__"):
            batches = [np.asarray(data)]
        elif hasattr(data, "element_spec") or hasattr(data, "__iter__"):
            batches = [np.asarray(b[0] if isinstance(b, tuple) else b) for b in data]
        elif hasattr(data, "__getitem__"):      # a keras.utils.PyDataset
            batches = [np.asarray(data[k][0]) for k in range(len(data))]
        else:
            raise TypeError(f"Unsupported data type: {type(data)}. `adapt` supports `np.ndarray`,"
                            " backend tensors, `tf.data.Dataset`, `keras.utils.PyDataset`, and"
                            " iterables of batches (e.g. list, generator).")
        if not self.built:
            self.build(batches[0].shape)
        whole = np.concatenate([b.astype("float64") for b in batches])
        axes = tuple([k for k in range(whole.ndim) if k not in self.kept])
        self.adapt_mean.assign(whole.mean(axes))
        self.adapt_variance.assign(whole.var(axes))

    @property
    def mean(self) -> Any:
        """Return the mean, of a shape that broadcasts with the inputs."""
        return self._spread(0)

    @property
    def variance(self) -> Any:
        """Return the variance, of a shape that broadcasts with the inputs."""
        return self._spread(1)

    def _spread(self, which: int) -> Any:
        if self.input_mean is not None:
            return self.fixed[which]
        return tf.reshape((self.adapt_mean, self.adapt_variance)[which], self.spread)

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        x = tf.cast(inputs, self.dtype)
        width = tf.maximum(tf.sqrt(self.variance), EPSILON)
        return x * width + self.mean if self.invert else (x - self.mean) / width


class SpectralNormalization(Wrapper):
    """A layer whose kernel is divided by its largest singular value in training; Miyato and others,
    2018. power_iterations: steps of the power method for that.
    """

    def __init__(self, layer: Any, power_iterations: int = 1, **options: Any) -> None:
        super().__init__(layer, **options)
        if power_iterations <= 0:
            raise ValueError("`power_iterations` should be greater than zero. Received:"
                             f" `power_iterations={power_iterations}`")
        self.power_iterations = power_iterations

    def build(self, input_shape: Any = None) -> None:
        """Make the variables of the layer inside, and the direction of the power method."""
        super().build(input_shape)
        self.kernel: Any = getattr(self.layer, "kernel", getattr(self.layer, "embeddings", None))
        if self.kernel is None:
            raise ValueError(f"{type(self.layer).__name__} object has no attribute 'kernel' nor"
                             " 'embeddings'")
        self.vector_u = self.add_weight(
            (1, self.kernel.shape[-1]), tf.keras.initializers.TruncatedNormal(stddev=0.02),
            trainable=False, name="vector_u")

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Apply the layer inside."""
        if training and bool(tf.reduce_any(tf.not_equal(self.kernel, 0))):
            weights = tf.reshape(self.kernel, [-1, self.kernel.shape[-1]])
            u = tf.convert_to_tensor(self.vector_u)
            for _ in range(self.power_iterations):
                v = tf.math.l2_normalize(tf.matmul(u, weights, transpose_b=True))
                u = tf.math.l2_normalize(tf.matmul(v, weights))
            sigma = tf.matmul(tf.matmul(v, weights), u, transpose_b=True)
            self.vector_u.assign(u)
            self.kernel.assign(tf.reshape(weights / sigma, self.kernel.shape))
        return self.layer(inputs)
