"""Layers with a kernel, and tables of vectors."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.ops.kinds import PUBLIC
from gradcli.tf.dtypes import as_dtype
from gradcli.tf.keras.constraint import get as constraint_of
from gradcli.tf.keras.functions.activation import get as activation_of
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.inputs import InputSpec, refuse
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.regularizer import get as regularizer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
        self.kernel_constraint = constraint_of(kernel_constraint)
        self.bias_constraint = constraint_of(bias_constraint)

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
        self.supports_masking = True
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


class Embedding(Layer):
    """A vector for each number."""

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform",
                 embeddings_regularizer: Any = None, embeddings_constraint: Any = None,
                 mask_zero: bool = False, weights: Any = None, lora_rank: Any = None,
                 **options: Any) -> None:
        options.pop("input_length", None)
        super().__init__(**options)
        refuse(self, lora_rank=lora_rank)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = initializer_of(embeddings_initializer)
        self.embeddings_regularizer = regularizer_of(embeddings_regularizer)
        self.embeddings_constraint = constraint_of(embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        self.autocast = False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1
                             else [weights])

    def build(self, input_shape: Any = None) -> None:
        """Make the table."""
        if not self.built:
            self.embeddings = self.add_weight(
                (self.input_dim, self.output_dim), self.embeddings_initializer,
                name="embeddings", regularizer=self.embeddings_regularizer,
                constraint=self.embeddings_constraint)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return where the number is not 0, if 0 stands for nothing."""
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        if not as_dtype(inputs.dtype).is_integer:
            inputs = tf.cast(inputs, "int32")
        return tf.gather(self.embeddings, inputs)


class PReLU(Layer):
    """x above 0, and a multiple of it below that is trained; shared_axes: have one together."""

    def __init__(self, alpha_initializer: Any = "Zeros", alpha_regularizer: Any = None,
                 alpha_constraint: Any = None, shared_axes: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.alpha_initializer = initializer_of(alpha_initializer)
        self.alpha_regularizer = regularizer_of(alpha_regularizer)
        self.alpha_constraint = constraint_of(alpha_constraint)
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make the multiples."""
        shape = [1 if k in (self.shared_axes or ()) else n for k, n in enumerate(input_shape)]
        self.alpha = self.add_weight(shape[1:], self.alpha_initializer, name="alpha",
                                     regularizer=self.alpha_regularizer,
                                     constraint=self.alpha_constraint)

    def call(self, inputs: Any) -> Any:
        """Apply the layer."""
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)
