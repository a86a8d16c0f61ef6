"""Layers without variables."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.activation import elu, leaky_relu, linear, relu, softmax
from gradcli.tf.keras.activation import get as activation_of
from gradcli.tf.keras.layers.layer import InputSpec, Layer
from gradcli.tf.keras.layers.symbolic import Input
from gradcli.tf.keras.layers.weighted import lengths, refuse
from gradcli.tf.keras.variables import SeedGenerator
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class InputLayer(Layer):
    """What is given to a model."""

    def __init__(self, shape: Any = None, batch_size: int | None = None, dtype: Any = None,
                 batch_shape: Any = None, name: str | None = None, **options: Any) -> None:
        shape = options.pop("input_shape", shape)
        super().__init__(name=name, **options)
        self.output = Input(shape, batch_size, dtype, batch_shape=batch_shape, name=self.name)
        self.built = True

    def call(self, x: Any = None) -> Any:
        """Return the input."""
        return x


class Pooling2D(Layer):
    """A reduction of windows over two axes."""

    function = ""

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: str = "valid",
                 data_format: Any = None, name: str | None = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        refuse(self, data_format=data_format not in (None, "channels_last"))
        self.pool_size = lengths(pool_size, 2)
        self.strides = self.pool_size if strides is None else lengths(strides, 2)
        self.padding = padding.lower()
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        return getattr(tf.nn, self.function)(inputs, list(self.pool_size), list(self.strides),
                                             self.padding.upper())


class MaxPooling2D(Pooling2D):
    """The largest of each window."""

    function = "max_pool2d"


class AveragePooling2D(Pooling2D):
    """The mean of each window."""

    function = "avg_pool2d"


class Pooling1D(Layer):
    """A reduction of windows over one axis."""

    function = ""

    def __init__(self, pool_size: int = 2, strides: int | None = None, padding: str = "valid",
                 data_format: Any = None, name: str | None = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        refuse(self, data_format=data_format not in (None, "channels_last"))
        (self.pool_size,) = lengths(pool_size, 1)
        (self.strides,) = (self.pool_size,) if strides is None else lengths(strides, 1)
        self.padding = padding.lower()
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        return tf.squeeze(getattr(tf.nn, self.function)(
            inputs[:, :, None], [self.pool_size, 1], [self.strides, 1], self.padding.upper()), 2)


class MaxPooling1D(Pooling1D):
    """The largest of each window."""

    function = "max_pool2d"


class AveragePooling1D(Pooling1D):
    """The mean of each window."""

    function = "avg_pool2d"


class GlobalPooling(Layer):
    """A reduction of all axes between the batch and the channels."""

    rank = 2
    reduce = staticmethod(lambda x, axes, keepdims: tf.reduce_mean(x, axes, keepdims))

    def __init__(self, data_format: Any = None, keepdims: bool = False, **options: Any) -> None:
        super().__init__(**options)
        refuse(self, data_format=data_format not in (None, "channels_last"))
        self.keepdims = keepdims
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        return self.reduce(inputs, list(range(1, self.rank + 1)), self.keepdims)


class GlobalAveragePooling2D(GlobalPooling):
    """The mean over two axes."""


class GlobalAveragePooling1D(GlobalPooling):
    """The mean over one axis."""

    rank = 1


class GlobalMaxPooling2D(GlobalPooling):
    """The largest over two axes."""

    reduce = staticmethod(lambda x, axes, keepdims: tf.reduce_max(x, axes, keepdims))


class GlobalMaxPooling1D(GlobalMaxPooling2D):
    """The largest over one axis."""

    rank = 1


class Dropout(Layer):
    """Set a share of the inputs to 0 in training, and scale the others."""

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **options: Any
                 ) -> None:
        super().__init__(**options)
        refuse(self, noise_shape=noise_shape)
        if not 0 <= rate <= 1:
            raise ValueError("Invalid value received for argument `rate`. Expected a float value"
                             f" between 0 and 1. Received: rate={rate}")
        self.rate = rate
        self.seed_generator = SeedGenerator(seed) if rate else None
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Apply the layer."""
        if not training or self.seed_generator is None:
            return inputs
        return tf.nn.dropout(inputs, self.rate, seed=self.seed_generator.next())


class GaussianNoise(Layer):
    """Add normally distributed noise in training."""

    def __init__(self, stddev: float, seed: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.stddev = stddev
        self.seed_generator = SeedGenerator(seed) if stddev else None
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Apply the layer."""
        if not training or self.seed_generator is None:
            return inputs
        return inputs + tf.random.normal(inputs.shape, 0.0, self.stddev,
                                         seed=self.seed_generator.next())


class Activation(Layer):
    """An activation as a layer."""

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = activation_of(activation)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return self.activation(inputs)


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function: Callable[..., Any], output_shape: Any = None, mask: Any = None,
                 arguments: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(**options)
        refuse(self, mask=mask)
        self.function, self.arguments = function, arguments or {}
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Apply the function."""
        return self.function(inputs, **self.arguments)


# ---- layers that are one expression --------------------------------------------------------------


def _simple(name: str, doc: str, call: Callable[..., Any], **defaults: Any) -> type[Layer]:
    """Make a class of a function of the inputs and of options with defaults."""
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        if len(args) > len(defaults):
            raise TypeError(f"{name}.__init__() takes {len(defaults) + 1} positional arguments but"
                            f" {len(args) + 1} were given")
        given = {**defaults, **dict(zip(defaults, args, strict=False))}
        given.update({key: options.pop(key) for key in defaults if key in options})
        Layer.__init__(self, **options)
        self.options = given
        self.built = True

    def apply(self: Any, inputs: Any) -> Any:
        return call(inputs, **self.options)

    return type(name, (Layer,), {
        "__init__": __init__, "call": apply, "__doc__": doc, "__module__": __name__})


def _flat(x: Any, data_format: Any) -> Any:
    if data_format not in (None, "channels_last"):
        raise refused("tf.keras.layers.Flatten", "data_format")
    return tf.reshape(x, [x.shape[0], -1])


def _joined(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def joined(inputs: Any) -> Any:
        total = inputs[0]
        for x in inputs[1:]:
            total = function(total, x)
        return total

    return joined


def _larger(x: Any, size: Any, data_format: Any, interpolation: str) -> Any:
    if data_format not in (None, "channels_last") or interpolation != "nearest":
        raise refused("tf.keras.layers.UpSampling2D", "data_format, interpolation")
    rows, columns = lengths(size, 2)
    return tf.repeat(tf.repeat(x, rows, axis=1), columns, axis=2)


def _padded(x: Any, padding: Any, data_format: Any) -> Any:
    if data_format not in (None, "channels_last"):
        raise refused("tf.keras.layers.ZeroPadding2D", "data_format")
    sides = [(n, n) if isinstance(n, int) else tuple(n) for n in (
        (padding, padding) if isinstance(padding, int) else padding)]
    return tf.pad(x, [(0, 0), *sides, (0, 0)])


UpSampling2D = _simple("UpSampling2D", "Each row and column several times.", _larger, size=(2, 2),
                       data_format=None, interpolation="nearest")
ZeroPadding2D = _simple("ZeroPadding2D", "Zeros around images.", _padded, padding=(1, 1),
                        data_format=None)
Flatten = _simple("Flatten", "All axes behind the batch as one.", _flat, data_format=None)
Reshape = _simple("Reshape", "Another shape behind the batch.", lambda x, target_shape: tf.reshape(
    x, [x.shape[0], *target_shape]), target_shape=None)
Permute = _simple("Permute", "The axes behind the batch in another order.",
                  lambda x, dims: tf.transpose(x, [0, *dims]), dims=None)
RepeatVector = _simple("RepeatVector", "Each vector n times.", lambda x, n: tf.repeat(
    x[:, None], n, 1), n=None)
Rescaling = _simple("Rescaling", "A multiple, and an offset.",
                    lambda x, scale, offset: x * scale + offset, scale=None, offset=0.0)
ReLU = _simple("ReLU", "`relu` as a layer.", relu, max_value=None, negative_slope=0.0,
               threshold=0.0)
LeakyReLU = _simple("LeakyReLU", "`leaky_relu` as a layer.", leaky_relu,
                    negative_slope=0.3)
ELU = _simple("ELU", "`elu` as a layer.", elu, alpha=1.0)
Softmax = _simple("Softmax", "`softmax` as a layer.", softmax, axis=-1)
Identity = _simple("Identity", "The inputs.", linear)
Concatenate = _simple("Concatenate", "Inputs one after the other.",
                      lambda xs, axis: tf.concat(xs, axis), axis=-1)
Add = _simple("Add", "The sum of inputs.", _joined(lambda a, b: a + b))
Subtract = _simple("Subtract", "The difference of two inputs.", _joined(lambda a, b: a - b))
Multiply = _simple("Multiply", "The product of inputs.", _joined(lambda a, b: a * b))
Maximum = _simple("Maximum", "The largest of inputs.", _joined(lambda a, b: tf.maximum(a, b)))
Minimum = _simple("Minimum", "The smallest of inputs.", _joined(lambda a, b: tf.minimum(a, b)))
Average = _simple("Average", "The mean of inputs.", lambda xs: _joined(
    lambda a, b: a + b)(xs) / len(xs))


def _called(kind: type[Layer]) -> Callable[..., Any]:
    return lambda inputs, **options: kind(**options)(inputs)


add, subtract, multiply, maximum, minimum, average, concatenate = [
    _called(kind) for kind in (Add, Subtract, Multiply, Maximum, Minimum, Average, Concatenate)]
MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
MaxPool1D, AvgPool1D = MaxPooling1D, AveragePooling1D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
