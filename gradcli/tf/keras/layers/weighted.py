"""Layers with variables."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.ops.kinds import PUBLIC
from gradcli.tf.dtypes import as_dtype
from gradcli.tf.keras.activation import get as activation_of
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.layer import InputSpec, Layer
from gradcli.tf.keras.regularizer import get as regularizer_of
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def refuse(layer: Any, **options: Any) -> None:
    """Raise E0208 for an option that is given and that there is not here."""
    for name, value in options.items():
        if value:
            raise refused(f"tf.keras.layers.{type(layer).__name__}", name)


class Kernel(Layer):
    """A layer with a kernel, a bias and an activation."""

    def __init__(self, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, lora_rank: Any = None, **options: Any) -> None:
        lora = {key: options.pop(key) for key in ("lora_alpha", "quantization_config")
                if key in options}
        super().__init__(activity_regularizer=activity_regularizer, **options)
        refuse(self, lora_rank=lora_rank, **lora)
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer = regularizer_of(kernel_regularizer)
        self.bias_regularizer = regularizer_of(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def _make(self, kernel: Any, outputs: int) -> None:
        """Make the variables."""
        self.kernel = self.add_weight(kernel, self.kernel_initializer, name="kernel",
                                      regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self.bias = self.add_weight((outputs,), self.bias_initializer, name="bias",
                                    regularizer=self.bias_regularizer,
                                    constraint=self.bias_constraint) if self.use_bias else None

    def _finished(self, y: Any) -> Any:
        return self.activation(y if self.bias is None else y + self.bias)


class Dense(Kernel):
    """`activation(x kernel + bias)`."""

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True,
                 *args: Any, **options: Any) -> None:
        super().__init__(activation, use_bias, *args, **options)
        if not isinstance(units, int) or units <= 0:
            raise ValueError("Received an invalid value for `units`, expected a positive integer."
                             f" Received: units={units}")
        self.units = units
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self._make((input_shape[-1], self.units), self.units)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        x = inputs if inputs.dtype.is_floating else tf.cast(inputs, self.dtype)
        given = (self.kernel,) if self.bias is None else (self.kernel, self.bias)
        return self.activation(PUBLIC["dense"](x, *given))


class Convolution(Kernel):
    """A convolution over some axes between the batch and the channels."""

    rank = 2

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: Any = None, dilation_rate: Any = 1, groups: int = 1,
                 *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        refuse(self, data_format=data_format not in (None, "channels_last"), groups=groups != 1)
        if padding.lower() not in ("valid", "same"):
            raise refused(f"tf.keras.layers.{type(self).__name__}", f"padding={padding!r}")
        self.filters, self.padding = filters, padding.lower()
        self.kernel_size, self.strides, self.dilation_rate = [
            lengths(value, self.rank) for value in (kernel_size, strides, dilation_rate)]
        self.input_spec = InputSpec(min_ndim=self.rank + 2)

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self._make((*self.kernel_size, input_shape[-1], self.filters), self.filters)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={-1: input_shape[-1]})

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        options: dict[str, Any] = {
            "strides": list(self.strides), "dilations": list(self.dilation_rate),
            "padding": self.padding.upper()}
        if self.rank == 1:
            options = {"stride": self.strides[0], "dilations": self.dilation_rate[0],
                       "padding": self.padding.upper()}
        apply = tf.nn.conv1d if self.rank == 1 else tf.nn.conv2d
        return self._finished(apply(inputs, self.kernel, **options))


class Conv1D(Convolution):
    """A convolution over one axis."""

    rank = 1


class Conv2D(Convolution):
    """A convolution over two axes."""


class Conv2DTranspose(Convolution):
    """The transpose of a convolution over two axes: larger images of smaller ones."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1),
                 padding: str = "valid", output_padding: Any = None, data_format: Any = None,
                 dilation_rate: Any = (1, 1), *args: Any, **options: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         *args, **options)
        refuse(self, output_padding=output_padding is not None,
               dilation_rate=self.dilation_rate != (1, 1))

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self._make((*self.kernel_size, self.filters, input_shape[-1]), self.filters)
        self.input_spec = InputSpec(min_ndim=4, axes={-1: input_shape[-1]})

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        sizes = [n * s + (max(k - s, 0) if self.padding == "valid" else 0) for n, s, k in zip(
            inputs.shape[1:3], self.strides, self.kernel_size, strict=True)]
        return self._finished(tf.nn.conv2d_transpose(
            inputs, self.kernel, [inputs.shape[0], *sizes, self.filters], list(self.strides),
            self.padding.upper()))


def lengths(value: Any, rank: int) -> tuple[int, ...]:
    """Return an option as a length for each axis."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


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
        refuse(self, mask=mask is not None)
        rank = len(inputs.shape)
        mean, variance = self.moving_mean, self.moving_variance
        if training and self.trainable:
            axes = [k for k in range(rank) if k != self.axis % rank]
            now = tf.nn.moments(inputs, axes)
            for moving, new in zip((mean, variance), now, strict=True):
                moving.assign(moving * self.momentum + new * (1.0 - self.momentum))
            mean, variance = now
        shape = [-1 if k == self.axis % rank else 1 for k in range(rank)]
        mean, variance, beta, gamma = [
            p if p is None or self.axis % rank == rank - 1 else tf.reshape(p, shape)
            for p in (mean, variance, self.beta, self.gamma)]
        return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


class LayerNormalization(Layer):
    """Normalize each sample by its mean and variance along some axes."""

    def __init__(self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = "zeros",
                 gamma_initializer: Any = "ones", beta_regularizer: Any = None,
                 gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, **options: Any) -> None:
        super().__init__(**options)
        if axis != -1:
            raise refused("tf.keras.layers.LayerNormalization", "axis")
        self.epsilon = epsilon
        self.options = {
            "gamma": (scale, gamma_initializer, gamma_regularizer, gamma_constraint),
            "beta": (center, beta_initializer, beta_regularizer, beta_constraint)}
        self.gamma = self.beta = None

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        for name, (wanted, initializer, regularizer, constraint) in self.options.items():
            if wanted:
                setattr(self, name, self.add_weight(
                    (input_shape[-1],), initializer, regularizer=regularizer,
                    constraint=constraint, name=name))

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        mean, variance = tf.nn.moments(inputs, [-1], keepdims=True)
        return tf.nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma,
                                         self.epsilon)


class Embedding(Layer):
    """A vector for each number."""

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform",
                 embeddings_regularizer: Any = None, embeddings_constraint: Any = None,
                 mask_zero: bool = False, weights: Any = None, lora_rank: Any = None,
                 **options: Any) -> None:
        options.pop("input_length", None)
        super().__init__(**options)
        refuse(self, mask_zero=mask_zero, lora_rank=lora_rank)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.initializer = initializer_of(embeddings_initializer)
        self.regularizer = regularizer_of(embeddings_regularizer)
        self.constraint = embeddings_constraint
        self.autocast = False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1
                             else [weights])

    def build(self, input_shape: Any = None) -> None:
        """Make the table."""
        if not self.built:
            self.embeddings = self.add_weight(
                (self.input_dim, self.output_dim), self.initializer, name="embeddings",
                regularizer=self.regularizer, constraint=self.constraint)

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        if not as_dtype(inputs.dtype).is_integer:
            inputs = tf.cast(inputs, "int32")
        return tf.gather(self.embeddings, inputs)
