"""Attention, and the projections of which it is made."""

from __future__ import annotations

import math

import gradcli.tf as tf
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.simple import Dropout
from gradcli.tf.keras.layers.weighted import Kernel, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FAR = -1e9      # what is added to the scores of what is masked


class EinsumDense(Kernel):
    """`activation(einsum(equation, x, kernel) + bias)`.

    output_shape: what stands behind the batch, None for a length of the input. bias_axes: letters
    of the output.
    """

    def __init__(self, equation: str, output_shape: Any, activation: Any = None,
                 bias_axes: str | None = None, **options: Any) -> None:
        super().__init__(activation, bias_axes is not None, **options)
        if "..." in equation:
            refuse(self, equation=True)
        self.equation, self.bias_axes = equation, bias_axes
        self.partial = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        given, output = self.equation.split("->")
        inputs, kernel = given.split(",")
        sizes = dict(zip(inputs, input_shape, strict=True))
        sizes.update({letter: n for letter, n in zip(output[1:], self.partial, strict=True)
                      if n is not None})
        self.kernel = self.add_weight([sizes[letter] for letter in kernel],
                                      self.kernel_initializer, name="kernel",
                                      regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self.bias = None
        if self.bias_axes is not None:
            first = min(output.index(letter) for letter in self.bias_axes)
            self.bias = self.add_weight(
                [sizes[letter] if letter in self.bias_axes else 1 for letter in output[first:]],
                self.bias_initializer, name="bias", regularizer=self.bias_regularizer,
                constraint=self.bias_constraint)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Apply the layer."""
        return self._finished(tf.einsum(self.equation, inputs, self.kernel))


class MultiHeadAttention(Layer):
    """Attention of several heads; Vaswani and others, 2017."""

    def __init__(self, num_heads: int, key_dim: int, value_dim: int | None = None,
                 dropout: float = 0.0, use_bias: bool = True, output_shape: int | None = None,
                 attention_axes: Any = None, flash_attention: Any = None, seed: Any = None,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 **options: Any) -> None:
        kept = {key: options.pop(key) for key in ("name", "trainable", "dtype") if key in options}
        super().__init__(**kept)
        refuse(self, attention_axes=attention_axes, **options)
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.output_dim, self.use_bias = output_shape, use_bias
        self.options = {"kernel_initializer": kernel_initializer,
                        "bias_initializer": bias_initializer}
        self.dropout = Dropout(dropout, seed=seed)

    def build(  # type: ignore[override]
            self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> None:
        """Make the variables for inputs of these shapes."""
        def projected(name: str, shape: Any, size: int) -> EinsumDense:
            made = EinsumDense("abc,cde->abde", (None, self.num_heads, size),
                               bias_axes="de" if self.use_bias else None, name=name, **self.options)
            made.build(shape)
            return made

        self.query_dense = projected("query", query_shape, self.key_dim)
        self.key_dense = projected("key", key_shape or value_shape, self.key_dim)
        self.value_dense = projected("value", value_shape, self.value_dim)
        self.output_dense = EinsumDense(
            "abcd,cde->abe", (None, self.output_dim or query_shape[-1]),
            bias_axes="e" if self.use_bias else None, name="attention_output", **self.options)
        self.output_dense.build((None, None, self.num_heads, self.value_dim))

    def _maybe_build(self, args: Any, options: dict[str, Any]) -> None:
        if not self.built:
            query, value, key = [*args, options.get("value"), options.get("key")][:3]
            query = options.get("query", query)
            self.build(*[None if x is None else tuple(x.shape) for x in (query, value, key)])

    def call(self, query: Any, value: Any, key: Any = None, query_mask: Any = None,
             value_mask: Any = None, key_mask: Any = None, attention_mask: Any = None,
             return_attention_scores: bool = False, training: Any = None,
             use_causal_mask: bool = False) -> Any:
        """Return what each of the query gathers from the values, by their keys."""
        refuse(self, query_mask=query_mask is not None, value_mask=value_mask is not None,
               key_mask=key_mask is not None)
        q = self.query_dense(query) * (1.0 / math.sqrt(self.key_dim))
        k, v = self.key_dense(value if key is None else key), self.value_dense(value)
        scores = tf.einsum("aecd,abcd->acbe", k, q)
        mask = None if attention_mask is None else tf.cast(attention_mask, "bool")
        if use_causal_mask:
            past = tf.range(q.shape[1])[:, None] >= tf.range(k.shape[1])[None]
            mask = past[None] if mask is None else tf.logical_and(mask, past[None])
        if mask is not None:
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = scores + (1.0 - tf.cast(mask, scores.dtype)) * FAR
        shares = self.dropout(tf.nn.softmax(scores), training=training)
        y = self.output_dense(tf.einsum("acbe,aecd->abcd", shares, v))
        return (y, shares) if return_attention_scores else y
