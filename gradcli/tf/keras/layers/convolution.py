"""Convolutions."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.layers.inputs import InputSpec, refuse
from gradcli.tf.keras.layers.weighted import Kernel
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def lengths(value: Any, rank: int) -> tuple[int, ...]:
    """Return an option as a length for each axis."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


class Convolution(Kernel):
    """A convolution over some axes between the batch and the channels."""

    rank = 2

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: Any = None, dilation_rate: Any = 1, groups: int = 1,
                 *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        refuse(self, data_format=data_format not in (None, "channels_last"), groups=groups != 1)
        if padding.lower() not in ("valid", "same") and not (
                padding.lower() == "causal" and self.rank == 1):
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
        return self._finished(self._convolved(inputs, self.kernel))

    def _convolved(self, x: Any, kernel: Any) -> Any:
        strides, dilations, padding = list(self.strides), list(self.dilation_rate), self.padding
        if self.rank == 1:
            if padding == "causal":
                before = dilations[0] * (self.kernel_size[0] - 1)
                x, padding = tf.pad(x, [(0, 0), (before, 0), (0, 0)]), "valid"
            return tf.nn.conv1d(x, kernel, strides[0], padding.upper(), dilations=dilations[0])
        if self.rank == 3:
            strides, dilations = [1, *strides, 1], [1, *dilations, 1]
        apply = tf.nn.conv2d if self.rank == 2 else tf.nn.conv3d
        return apply(x, kernel, strides, padding.upper(), dilations=dilations)


class Conv1D(Convolution):
    """A convolution over one axis."""

    rank = 1


class Conv2D(Convolution):
    """A convolution over two axes."""


class Conv3D(Convolution):
    """A convolution over three axes."""

    rank = 3


OF_ONE_KERNEL = ("groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
"""Options of convolutions that those with other kernels have not."""


class Conv2DTranspose(Convolution):
    """The transpose of a convolution over two axes: larger images of smaller ones."""

    _without = ("groups",)

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1),
                 padding: str = "valid", output_padding: Any = None, data_format: Any = None,
                 dilation_rate: Any = (1, 1), *args: Any, **options: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         *args, **options)
        refuse(self, output_padding=output_padding is not None,
               dilation_rate=set(self.dilation_rate) != {1})

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self._make((*self.kernel_size, self.filters, input_shape[-1]), self.filters)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={-1: input_shape[-1]})

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        if self.rank == 1:      # images of one column
            return self._finished(tf.squeeze(self._transposed(
                inputs[:, :, None], self.kernel[:, None], (*self.kernel_size, 1),
                (*self.strides, 1)), 2))
        return self._finished(self._transposed(inputs, self.kernel, self.kernel_size,
                                               self.strides))

    def _transposed(self, inputs: Any, kernel: Any, sizes: Any, strides: Any) -> Any:
        sizes = [n * s + (max(k - s, 0) if self.padding == "valid" else 0) for n, s, k in zip(
            inputs.shape[1:3], strides, sizes, strict=True)]
        return tf.nn.conv2d_transpose(inputs, kernel, [inputs.shape[0], *sizes, self.filters],
                                      list(strides), self.padding.upper())


class Conv1DTranspose(Conv2DTranspose):
    """The transpose of a convolution over one axis: longer sequences of shorter ones."""

    rank = 1

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 output_padding: Any = None, data_format: Any = None, dilation_rate: Any = 1,
                 *args: Any, **options: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, output_padding, data_format,
                         dilation_rate, *args, **options)


def _depthwise(x: Any, kernel: Any, strides: Any, padding: str, dilations: Any) -> Any:
    """Return the convolution of each channel with filters of its own."""
    one = len(x.shape) == 3
    if one:
        x, kernel, strides, dilations = x[:, None], kernel[None], [strides[0]] * 2, [
            1, dilations[0]]
    y = tf.nn.depthwise_conv2d(x, kernel, [1, *strides, 1], padding.upper(), None, dilations)
    return tf.squeeze(y, 1) if one else y


class DepthwiseConv2D(Convolution):
    """A convolution of each channel with filters of its own."""

    _without = OF_ONE_KERNEL

    def __init__(self, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 depth_multiplier: int = 1, data_format: Any = None, dilation_rate: Any = 1,
                 activation: Any = None, use_bias: bool = True,
                 depthwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 depthwise_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, depthwise_constraint: Any = None,
                 bias_constraint: Any = None, **options: Any) -> None:
        super().__init__(1, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         activation, use_bias, depthwise_initializer, bias_initializer,
                         depthwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, bias_constraint, **options)
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self._make((*self.kernel_size, input_shape[-1], self.depth_multiplier),
                   input_shape[-1] * self.depth_multiplier)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={-1: input_shape[-1]})

    def _convolved(self, x: Any, kernel: Any) -> Any:
        return _depthwise(x, kernel, self.strides, self.padding, self.dilation_rate)


class DepthwiseConv1D(DepthwiseConv2D):
    """A convolution of each channel over one axis with filters of its own."""

    rank = 1


class SeparableConv2D(Convolution):
    """A convolution of each channel, then one of width 1 that joins them; Chollet, 2017."""

    _without = OF_ONE_KERNEL

    depthwise_kernel: Any
    pointwise_kernel: Any

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: Any = None, dilation_rate: Any = 1, depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True,
                 depthwise_initializer: Any = "glorot_uniform",
                 pointwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 depthwise_regularizer: Any = None, pointwise_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None,
                 depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 bias_constraint: Any = None, **options: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         activation, use_bias, depthwise_initializer, bias_initializer, None,
                         bias_regularizer, activity_regularizer, None, bias_constraint, **options)
        self.depth_multiplier = depth_multiplier
        self.kernels = {
            "depthwise": (depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            "pointwise": (pointwise_initializer, pointwise_regularizer, pointwise_constraint)}

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        n = input_shape[-1] * self.depth_multiplier
        shapes = ((*self.kernel_size, input_shape[-1], self.depth_multiplier),
                  (*[1] * self.rank, n, self.filters))
        for (kind, (initializer, regularizer, constraint)), shape in zip(
                self.kernels.items(), shapes, strict=True):
            setattr(self, f"{kind}_kernel", self.add_weight(
                shape, initializer, name=f"{kind}_kernel", regularizer=regularizer,
                constraint=constraint))
        self.bias = self.add_weight((self.filters,), self.bias_initializer, name="bias",
                                    regularizer=self.bias_regularizer,
                                    constraint=self.bias_constraint) if self.use_bias else None
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={-1: input_shape[-1]})

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        x = _depthwise(inputs, self.depthwise_kernel, self.strides, self.padding,
                       self.dilation_rate)
        apply = tf.nn.conv1d if self.rank == 1 else tf.nn.conv2d
        return self._finished(apply(x, self.pointwise_kernel, 1, "VALID"))


class SeparableConv1D(SeparableConv2D):
    """A convolution of each channel over one axis, then one of width 1 that joins them."""

    rank = 1


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution1DTranspose = Conv2DTranspose, Conv1DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
