"""Attention, and the projections of which it is made."""

from __future__ import annotations

import math

import gradcli.tf as tf
from gradcli.tf.keras.initializer import Initializer
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.inputs import refuse
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.noise import Dropout
from gradcli.tf.keras.layers.weighted import Kernel

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
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.dropping = Dropout(dropout, seed=seed)
        self.supports_masking = True

    def build(  # type: ignore[override]
            self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> None:
        """Make the variables for inputs of these shapes."""
        def projected(name: str, shape: Any, size: int) -> EinsumDense:
            made = EinsumDense("abc,cde->abde", (None, self.num_heads, size),
                               bias_axes="de" if self.use_bias else None, name=name,
                               **self._projecting())
            made.build(shape)
            return made

        self.query_dense = projected("query", query_shape, self.key_dim)
        self.key_dense = projected("key", key_shape or value_shape, self.key_dim)
        self.value_dense = projected("value", value_shape, self.value_dim)
        self.output_dense = EinsumDense(
            "abcd,cde->abe", (None, self.output_dim or query_shape[-1]),
            bias_axes="e" if self.use_bias else None, name="attention_output",
            **self._projecting())
        self.output_dense.build((None, None, self.num_heads, self.value_dim))

    def _projecting(self) -> dict[str, Any]:
        """Return the initializers of a projection: others of the same kind, with other draws."""
        return {key: given.clone() if isinstance(given, Initializer) else given
                for key, given in (("kernel_initializer", self.kernel_initializer),
                                   ("bias_initializer", self.bias_initializer))}

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
        # The masks are used up here: the layers inside are not to be told of them.
        query, value, key = [x if x is None else x.read() for x in (query, value, key)]
        q = self.query_dense(query) * (1.0 / math.sqrt(self.key_dim))
        k, v = self.key_dense(value if key is None else key), self.value_dense(value)
        scores = tf.einsum("aecd,abcd->acbe", k, q)
        parts = [attention_mask, _at(query_mask, -1), _at(value_mask, 1), _at(key_mask, 1),
                 _past(q.shape[1], k.shape[1]) if use_causal_mask else None]
        mask = None
        for part in parts:
            if part is not None:
                there = tf.cast(part, "bool")
                mask = there if mask is None else tf.logical_and(mask, there)
        if mask is not None:
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = scores + (1.0 - tf.cast(mask, scores.dtype)) * FAR
        shares = self.dropping(tf.nn.softmax(scores), training=training)
        y = self.output_dense(tf.einsum("acbe,aecd->abcd", shares, v))
        return (y, shares) if return_attention_scores else y


def _at(mask: Any, axis: int) -> Any:
    """Return a mask with an axis more."""
    return None if mask is None else tf.expand_dims(mask, axis)


def _past(queries: int, keys: int) -> Any:
    """Return where a key is not behind the query, as (1, queries, keys)."""
    return (tf.range(queries)[:, None] >= tf.range(keys)[None])[None]


class Attention(Layer):
    """What each query gathers from values by their keys: called on [query, value, key], the key
    being the value where there is none. score_mode: "dot" or "concat".
    """

    def __init__(self, use_scale: bool = False, score_mode: str = "dot", dropout: float = 0.0,
                 seed: Any = None, **options: Any) -> None:
        super().__init__(**options)
        if score_mode not in ("dot", "concat"):
            raise ValueError("Invalid value for argument score_mode. Expected one of {'dot',"
                             f" 'concat'}}. Received: score_mode={score_mode}")
        self.use_scale, self.score_mode = use_scale, score_mode
        self.drop = Dropout(dropout, seed=seed) if dropout else None

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of these shapes."""
        self.scale = self._scale(input_shape) if self.use_scale else None
        self.concat_score_weight = self.add_weight(
            (), "ones", name="concat_score_weight") if self.score_mode == "concat" else None

    def _scale(self, input_shape: Any) -> Any:
        return self.add_weight((), "ones", name="scale")

    def _scores(self, query: Any, key: Any) -> Any:
        """Return how well each query and each key fit, as (batch, queries, keys)."""
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        total = query[:, :, None] + key[:, None]
        total = total if self.scale is None else self.scale * total
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(total), -1)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return the mask of the query."""
        return previous_mask[0] if previous_mask is not None else None

    def call(self, inputs: Any, mask: Any = None, training: Any = False,
             return_attention_scores: bool = False, use_causal_mask: bool = False) -> Any:
        """Apply the layer."""
        query, value, key = [*inputs, inputs[1]][:3]
        asking, there = (mask[0], mask[1]) if mask else (None, None)
        scores = self._scores(query, key)
        seen = None if there is None else tf.cast(there, "bool")[:, None]
        if use_causal_mask:
            past = _past(scores.shape[-2], scores.shape[-1])
            seen = past if seen is None else tf.logical_and(seen, past)
        if seen is not None:
            scores = tf.where(seen, scores, scores + FAR)
        shares = tf.nn.softmax(scores)
        if self.drop is not None:
            shares = self.drop(shares, training=training)
        y = tf.matmul(shares, value)
        if asking is not None:
            y = tf.where(tf.cast(asking, "bool")[..., None], y, tf.zeros_like(y))
        return (y, shares) if return_attention_scores else y


class AdditiveAttention(Attention):
    """Attention by a sum of what query and key say; Bahdanau and others, 2015."""

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **options: Any) -> None:
        super().__init__(use_scale, dropout=dropout, **options)

    def _scale(self, input_shape: Any) -> Any:
        return self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale")

    def _scores(self, query: Any, key: Any) -> Any:
        y = tf.tanh(query[:, :, None] + key[:, None])
        return tf.reduce_sum(y if self.scale is None else self.scale * y, -1)
