"""Layers that make images and sequences smaller or larger."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.layers.convolution import lengths
from gradcli.tf.keras.layers.inputs import InputSpec, refuse
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.simple import simple
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
    """The mean over one axis, of the times that are there."""

    rank = 1

    def __init__(self, data_format: Any = None, keepdims: bool = False, **options: Any) -> None:
        super().__init__(data_format, keepdims, **options)
        self.supports_masking = True

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return None."""
        return None

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Apply the layer."""
        if mask is None:
            return super().call(inputs)
        there = tf.cast(mask, inputs.dtype)[..., None]
        return tf.reduce_sum(inputs * there, 1, self.keepdims) / tf.reduce_sum(
            there, 1, self.keepdims)


class GlobalMaxPooling2D(GlobalPooling):
    """The largest over two axes."""

    reduce = staticmethod(lambda x, axes, keepdims: tf.reduce_max(x, axes, keepdims))


class GlobalMaxPooling1D(GlobalMaxPooling2D):
    """The largest over one axis."""

    rank = 1


# ---- sizes ---------------------------------------------------------------------------------------


def _check(name: str, data_format: Any, interpolation: str = "nearest") -> None:
    for option, fits in (("data_format", data_format in (None, "channels_last")),
                         ("interpolation", interpolation == "nearest")):
        if not fits:
            raise refused(f"tf.keras.layers.{name}", option)


def _larger(x: Any, size: Any, data_format: Any, interpolation: str) -> Any:
    _check("UpSampling2D", data_format, interpolation)
    rows, columns = lengths(size, 2)
    return tf.repeat(tf.repeat(x, rows, axis=1), columns, axis=2)


def _sides(given: Any, rank: int) -> list[tuple[int, int]]:
    """Return the lengths before and behind each axis."""
    if rank == 1:
        return [(given, given) if isinstance(given, int) else tuple(given)]
    return [(n, n) if isinstance(n, int) else tuple(n) for n in (
        (given,) * rank if isinstance(given, int) else given)]


def _padded(x: Any, padding: Any, data_format: Any) -> Any:
    rank = len(x.shape) - 2
    _check(f"ZeroPadding{rank}D", data_format)
    return tf.pad(x, [(0, 0), *_sides(padding, rank), (0, 0)])


def _cropped(x: Any, cropping: Any, data_format: Any) -> Any:
    rank = len(x.shape) - 2
    _check(f"Cropping{rank}D", data_format)
    parts = [slice(a, n - b) for (a, b), n in zip(
        _sides(cropping, rank), x.shape[1:-1], strict=True)]
    return x[(slice(None), *parts)]


UpSampling1D = simple("UpSampling1D", "Each time several times.",
                      lambda x, size: tf.repeat(x, size, axis=1), size=2)
UpSampling2D = simple("UpSampling2D", "Each row and column several times.", _larger, size=(2, 2),
                      data_format=None, interpolation="nearest")
ZeroPadding1D = simple("ZeroPadding1D", "Zeros around sequences.", _padded, padding=1,
                       data_format=None)
ZeroPadding2D = simple("ZeroPadding2D", "Zeros around images.", _padded, padding=(1, 1),
                       data_format=None)
Cropping1D = simple("Cropping1D", "Sequences without their ends.", _cropped, cropping=(1, 1),
                    data_format=None)
Cropping2D = simple("Cropping2D", "Images without their edges.", _cropped,
                    cropping=((0, 0), (0, 0)), data_format=None)
MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
MaxPool1D, AvgPool1D = MaxPooling1D, AveragePooling1D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
GlobalAvgPool1D, GlobalMaxPool1D = GlobalAveragePooling1D, GlobalMaxPooling1D
