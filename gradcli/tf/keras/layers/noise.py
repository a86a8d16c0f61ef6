"""Layers that do something in training only: noise, dropout."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.layers.inputs import refuse
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.variables import SeedGenerator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Noise(Layer):
    """A layer that is the identity but in training."""

    def __init__(self, amount: float, seed: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.amount, self.seed = amount, seed
        self.seed_generator = SeedGenerator(seed) if amount else None
        self.supports_masking = True
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Apply the layer."""
        if not training or self.seed_generator is None:
            return inputs
        return self._noisy(inputs, self.seed_generator.next())

    def _noisy(self, x: Any, seed: int) -> Any:
        """Return what the layer gives in training."""
        raise NotImplementedError


class Dropout(Noise):
    """Set a share of the inputs to 0 in training, and scale the others.

    noise_shape: lengths of 1 where all along an axis are kept or dropped together.
    """

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **options: Any
                 ) -> None:
        if not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
            raise ValueError("Invalid value received for argument `rate`. Expected a float value"
                             f" between 0 and 1. Received: rate={rate}")
        super().__init__(rate, seed, **options)
        self.rate, self.noise_shape = rate, noise_shape

    def _shape(self, x: Any) -> list[int]:
        wanted = self.noise_shape or x.shape
        return [n if m is None else m for m, n in zip(wanted, x.shape, strict=True)]

    def _noisy(self, x: Any, seed: int) -> Any:
        if self.rate == 1:
            return tf.zeros_like(x)
        shape = self._shape(x)
        if shape == list(x.shape):
            return tf.nn.dropout(x, self.rate, seed=seed)
        return x * tf.nn.dropout(tf.ones(shape, x.dtype), self.rate, seed=seed)


class SpatialDropout1D(Dropout):
    """Dropout of all times of a channel together."""

    def __init__(self, rate: float, seed: Any = None, name: str | None = None, dtype: Any = None
                 ) -> None:
        super().__init__(rate, seed=seed, name=name, dtype=dtype)

    def _shape(self, x: Any) -> list[int]:
        return [x.shape[0], *[1] * (len(x.shape) - 2), x.shape[-1]]


class SpatialDropout2D(SpatialDropout1D):
    """Dropout of the whole image of a channel together."""

    def __init__(self, rate: float, data_format: Any = None, seed: Any = None,
                 name: str | None = None, dtype: Any = None) -> None:
        super().__init__(rate, seed, name, dtype)
        refuse(self, data_format=data_format not in (None, "channels_last"))


class AlphaDropout(Dropout):
    """Dropout that keeps the mean and variance of what `selu` gives."""

    LOWEST = -1.6732632423543772 * 1.0507009873554805

    def _noisy(self, x: Any, seed: int) -> Any:
        kept = tf.cast(tf.random.uniform(self._shape(x), seed=seed) >= self.rate, x.dtype)
        scale = ((1 - self.rate) * (1 + self.rate * self.LOWEST ** 2)) ** -0.5
        shift = -scale * self.LOWEST * self.rate
        return scale * (x * kept + self.LOWEST * (1 - kept)) + shift


class GaussianDropout(Dropout):
    """Multiply by normally distributed numbers around 1 in training."""

    def __init__(self, rate: float, seed: Any = None, **options: Any) -> None:
        super().__init__(rate, None, seed, **options)

    def _noisy(self, x: Any, seed: int) -> Any:
        return x * tf.random.normal(x.shape, 1.0, (self.rate / (1 - self.rate)) ** 0.5, seed=seed)


class GaussianNoise(Noise):
    """Add normally distributed noise in training."""

    def __init__(self, stddev: float, seed: Any = None, **options: Any) -> None:
        if not 0 <= stddev:
            raise ValueError("Invalid value received for argument `stddev`. Expected a float value"
                             f" between 0 and 1. Received: stddev={stddev}")
        super().__init__(stddev, seed, **options)
        self.stddev = stddev

    def _noisy(self, x: Any, seed: int) -> Any:
        return x + tf.random.normal(x.shape, 0.0, self.stddev, seed=seed)
