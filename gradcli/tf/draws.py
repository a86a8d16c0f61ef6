"""Generators of random numbers with a state of their own, and first values of variables."""

from __future__ import annotations

from gradcli.tf.own import drawn, full, next_seed
from gradcli.tf.tensor import constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Generator:
    """Random numbers that a seed repeats, as tf.random.Generator. They are not TensorFlow's."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Return a generator of a seed."""
        return cls(int(seed))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator that no other run repeats."""
        import secrets

        return cls(secrets.randbits(31))

    def _next(self) -> int:
        self._count += 1
        return (self._seed * 1_000_003 + self._count * 7_919) % 2**31

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32",
               name: Any = None) -> Any:
        """Return normally distributed numbers."""
        return drawn("normal", shape, dtype, self._next(), mean=mean, stddev=stddev)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0,
                         dtype: Any = "float32", name: Any = None) -> Any:
        """Return normally distributed numbers within two standard deviations."""
        return drawn("truncated_normal", shape, dtype, self._next(), mean=mean, stddev=stddev)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32",
                name: Any = None) -> Any:
        """Return uniformly distributed numbers."""
        return drawn("uniform", shape, dtype, self._next(), minval=minval,
                     maxval=1.0 if maxval is None else maxval)

    def reset_from_seed(self, seed: Any) -> None:
        """Begin anew with a seed."""
        self._seed, self._count = int(seed), 0

    def split(self, count: int = 1) -> list[Generator]:
        """Return other generators."""
        return [Generator(self._next()) for _ in range(count)]


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None,
                name: Any = None) -> Any:
    """Return draws of the classes of each row, whose probabilities are the softmax of logits."""
    import gradcli.tf as tf

    x = tf.stop_gradient(tf.convert_to_tensor(logits))
    rows, classes = x.shape
    uniform = drawn("uniform", (rows, int(num_samples), classes), x.dtype, seed, minval=1e-12,
                    maxval=1.0)
    # The largest of logits with Gumbel's noise is such a draw.
    return tf.cast(tf.argmax(x[:, None] - tf.math.log(-tf.math.log(uniform)), axis=-1),
                   dtype or "int64")


_shared: Generator | None = None


def get_global_generator() -> Generator:
    """Return the generator of the run."""
    global _shared
    if _shared is None:
        _shared = Generator(next_seed(None))
    return _shared


def set_global_generator(generator: Generator) -> None:
    """Make a generator that of the run."""
    global _shared
    _shared = generator


# ---- first values of variables -------------------------------------------------------------------


class _Initial:
    """A function of a shape and a type that gives the first value of a variable."""

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return an initializer with these options."""
        return cls(**config)


class constant_initializer(_Initial):
    """One number everywhere, or as many as there are elements."""

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **options: Any) -> Any:
        """Return a tensor of the shape."""
        return constant(self.value, dtype, shape)


class zeros_initializer(_Initial):
    """0 everywhere."""

    def __call__(self, shape: Any, dtype: Any = "float32", **options: Any) -> Any:
        """Return a tensor of the shape."""
        return full(shape, 0, dtype)


class ones_initializer(_Initial):
    """1 everywhere."""

    def __call__(self, shape: Any, dtype: Any = "float32", **options: Any) -> Any:
        """Return a tensor of the shape."""
        return full(shape, 1, dtype)


class random_normal_initializer(_Initial):
    """Normally distributed numbers."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = "float32", **options: Any) -> Any:
        """Return a tensor of the shape."""
        return drawn("normal", shape, dtype, self.seed, mean=self.mean, stddev=self.stddev)


class random_uniform_initializer(_Initial):
    """Uniformly distributed numbers."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = "float32", **options: Any) -> Any:
        """Return a tensor of the shape."""
        return drawn("uniform", shape, dtype, self.seed, minval=self.minval, maxval=self.maxval)
