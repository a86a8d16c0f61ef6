"""Initializers: functions of a shape and a type that give the first values of variables."""

from __future__ import annotations

import math

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.tf.dtypes import as_dtype, floatx, plain_shape
from gradcli.tf.keras.identifiers import Configured, identified
from gradcli.tf.keras.variables import SeedGenerator, default_seed, snake_case
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The standard deviation of a normal distribution cut off at 2.
CUT_OFF = 0.87962566103423978


class Initializer(Configured):
    """A function of a shape and a type, as keras.initializers.Initializer."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        # What Keras raises for a subclass of the user's that has none.
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")


class Constant(Initializer):
    """One number everywhere."""

    def __init__(self, value: Any = 0.0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        return tf.cast(tf.broadcast_to(self.value, plain_shape(shape)), dtype or floatx())


class Zeros(Initializer):
    """0 everywhere."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        return tf.zeros(shape, dtype or floatx())


class Ones(Initializer):
    """1 everywhere."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        return tf.ones(shape, dtype or floatx())


class Identity(Initializer):
    """A multiple of the identity matrix."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a matrix of the shape."""
        rows, columns = plain_shape(shape)
        return self.gain * tf.eye(rows, columns, dtype=dtype or floatx())


class Random(Initializer):
    """Draws, the same for each call of one object, as with Keras; of a generator each others."""

    def __init__(self, seed: Any = None) -> None:
        if not isinstance(seed, (int, np.integer, SeedGenerator)) and seed is not None:
            raise ValueError("`seed` argument should be an instance of"
                             " `keras.random.SeedGenerator()` or an integer. Received:"
                             f" seed={seed}")
        self.seed = default_seed() if seed is None else seed
        self._first = seed

    def _next(self) -> int:
        """Return the seed of a call."""
        return self.seed.next() if isinstance(self.seed, SeedGenerator) else int(self.seed)

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {**super().get_config(), "seed": self._first}


class RandomNormal(Random):
    """Draws of a normal distribution."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.mean, self.stddev = mean, stddev

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        return tf.random.normal(shape, self.mean, self.stddev, dtype or floatx(), self._next())


class TruncatedNormal(RandomNormal):
    """Draws of a normal distribution within two standard deviations."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        return tf.random.truncated_normal(shape, self.mean, self.stddev, dtype or floatx(),
                                          self._next())


class RandomUniform(Random):
    """Draws of a uniform distribution."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.minval, self.maxval = minval, maxval

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        return tf.random.uniform(shape, self.minval, self.maxval, dtype or floatx(), self._next())


class VarianceScaling(Random):
    """Draws with a variance of `scale` over the number of inputs, outputs or their mean."""

    def __init__(self, scale: float = 1.0, mode: str = "fan_in",
                 distribution: str = "truncated_normal", seed: Any = None,
                 input_axes: Any = None, output_axes: Any = None) -> None:
        for option, given in (("input_axes", input_axes), ("output_axes", output_axes)):
            if given is not None:
                raise refused("tf.keras.initializers.VarianceScaling", option)
        if scale <= 0:
            raise ValueError("Argument `scale` must be positive float. Received:"
                             f" scale={scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of"
                             " {'fan_in', 'fan_out', 'fan_avg'}")
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Invalid `distribution` argument: {distribution}.")
        super().__init__(seed)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.input_axes = self.output_axes = None

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        fans = _fans(plain_shape(shape))
        variance = self.scale / max(1.0, {"fan_in": fans[0], "fan_out": fans[1],
                                          "fan_avg": sum(fans) / 2}[self.mode])
        kind = dtype or floatx()
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return tf.random.uniform(shape, -limit, limit, kind, self._next())
        if self.distribution == "untruncated_normal":
            return tf.random.normal(shape, 0.0, math.sqrt(variance), kind, self._next())
        return tf.random.truncated_normal(shape, 0.0, math.sqrt(variance) / CUT_OFF, kind,
                                          self._next())


def _fans(shape: list[int]) -> tuple[float, float]:
    """Return the numbers of inputs and outputs that a kernel of this shape joins."""
    if len(shape) < 2:
        return (shape or [1])[0], (shape or [1])[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _scaled(name: str, scale: float, mode: str, distribution: str) -> type[VarianceScaling]:
    """Make a class of `VarianceScaling` with fixed options."""
    def __init__(self: Any, seed: Any = None, input_axes: Any = None, output_axes: Any = None
                 ) -> None:
        VarianceScaling.__init__(self, scale, mode, distribution, seed, input_axes, output_axes)

    def get_config(self: Any) -> dict[str, Any]:
        return {"seed": self._first, "input_axes": None, "output_axes": None}

    return type(name, (VarianceScaling,), {
        "__init__": __init__, "get_config": get_config, "__module__": __name__,
        "__doc__": f"Scale {scale:g} over {mode}, {distribution}."})


GlorotUniform = _scaled("GlorotUniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaled("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
HeUniform = _scaled("HeUniform", 2.0, "fan_in", "uniform")
HeNormal = _scaled("HeNormal", 2.0, "fan_in", "truncated_normal")
LecunUniform = _scaled("LecunUniform", 1.0, "fan_in", "uniform")
LecunNormal = _scaled("LecunNormal", 1.0, "fan_in", "truncated_normal")


class Orthogonal(Random):
    """Matrices with orthonormal rows or columns."""

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of the shape."""
        lengths = plain_shape(shape)
        rows, columns = math.prod(lengths[:-1]), lengths[-1]
        drawn = tf.random.normal((max(rows, columns), min(rows, columns)), seed=self._next())
        q, r = tf.linalg.qr(drawn)
        q = q * tf.sign(tf.linalg.diag_part(r))
        q = tf.transpose(q) if rows < columns else q
        return tf.cast(self.gain * tf.reshape(q, lengths), dtype or floatx())


CLASSES: tuple[type, ...] = (
    Constant, Zeros, Ones, Identity, RandomNormal, TruncatedNormal, RandomUniform, VarianceScaling,
    GlorotUniform, GlorotNormal, HeUniform, HeNormal, LecunUniform, LecunNormal, Orthogonal)
BY_NAME = {name: kind for kind in CLASSES for name in (kind.__name__, snake_case(kind.__name__))}
BY_NAME.update(uniform=RandomUniform, normal=RandomNormal, one=Ones, zero=Zeros)


def get(identifier: Any) -> Callable[..., Any] | None:
    """Return the initializer of a name, class, function, configuration or initializer."""
    if hasattr(identifier, "__array__") or isinstance(identifier, (list, tuple, float, int)):
        value = tf.convert_to_tensor(identifier)
        return lambda shape, dtype=None: tf.cast(value, as_dtype(dtype or floatx()))
    made: Callable[..., Any] | None = identified(identifier, BY_NAME, "initializer")
    return made


constant, zeros, ones, identity = Constant, Zeros, Ones, Identity
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal
variance_scaling, orthogonal = VarianceScaling, Orthogonal
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
he_uniform, he_normal, lecun_uniform, lecun_normal = (
    HeUniform, HeNormal, LecunUniform, LecunNormal)
