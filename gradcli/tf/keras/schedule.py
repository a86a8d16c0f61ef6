"""Learning rates that depend on the number of steps. The formulas are Keras 3's."""

from __future__ import annotations

import math

import gradcli.tf as tf
from gradcli.tf.keras.identifiers import Configured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class LearningRateSchedule(Configured):
    """A function of the number of steps, as in keras.optimizers.schedules."""

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step."""
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override"
                                  " `__call__(self, step)`.")


class Decay(LearningRateSchedule):
    """A rate that decays from an initial one over some steps."""

    def _share(self, step: Any) -> Any:
        """Return the number of times that `decay_steps` steps have gone."""
        share = tf.cast(step, "float32") / float(self.decay_steps)
        return tf.floor(share) if getattr(self, "staircase", False) else share

    def __init__(self, initial_learning_rate: float, decay_steps: float) -> None:
        if decay_steps <= 0:
            raise ValueError(f"Argument `decay_steps` must be > 0. Received: {decay_steps=}")
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps


class ExponentialDecay(Decay):
    """`initial rate^(step / steps)`."""

    def __init__(self, initial_learning_rate: float, decay_steps: float, decay_rate: float,
                 staircase: bool = False, name: str = "ExponentialDecay") -> None:
        super().__init__(initial_learning_rate, decay_steps)
        self.decay_rate, self.staircase, self.name = decay_rate, staircase, name

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step."""
        return self.initial_learning_rate * tf.pow(
            tf.constant(self.decay_rate, "float32"), self._share(step))


class InverseTimeDecay(ExponentialDecay):
    """`initial / (1 + rate step / steps)`."""

    def __init__(self, initial_learning_rate: float, decay_steps: float, decay_rate: float,
                 staircase: bool = False, name: str = "InverseTimeDecay") -> None:
        super().__init__(initial_learning_rate, decay_steps, decay_rate, staircase, name)

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step."""
        return self.initial_learning_rate / (1.0 + self.decay_rate * self._share(step))


class PolynomialDecay(Decay):
    """A power of what is left of the steps, down to an end."""

    def __init__(self, initial_learning_rate: float, decay_steps: float,
                 end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False,
                 name: str = "PolynomialDecay") -> None:
        super().__init__(initial_learning_rate, decay_steps)
        self.end_learning_rate, self.power = end_learning_rate, power
        self.cycle, self.name = cycle, name

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step."""
        now, steps = tf.cast(step, "float32"), tf.constant(self.decay_steps, "float32")
        if self.cycle:
            steps = steps * tf.where(tf.equal(now, 0), 1.0, tf.math.ceil(now / steps))
        share = tf.minimum(now, steps) / steps
        return (self.initial_learning_rate - self.end_learning_rate) * tf.pow(
            1 - share, self.power) + self.end_learning_rate


class CosineDecay(Decay):
    """Half a cosine down to a share of the initial rate, after a linear beginning if any."""

    def __init__(self, initial_learning_rate: float, decay_steps: float, alpha: float = 0.0,
                 name: str = "CosineDecay", warmup_target: float | None = None,
                 warmup_steps: int = 0) -> None:
        super().__init__(initial_learning_rate, decay_steps)
        self.alpha, self.name = alpha, name
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step."""
        now, top = tf.cast(step, "float32"), self.initial_learning_rate
        if self.warmup_target is not None:
            if now < self.warmup_steps:
                return (self.warmup_target - top) * (now / self.warmup_steps) + top
            now, top = now - self.warmup_steps, self.warmup_target
        share = tf.minimum(now, float(self.decay_steps)) / float(self.decay_steps)
        cosine = 0.5 * (1.0 + tf.cos(math.pi * share))
        return top * ((1 - self.alpha) * cosine + self.alpha)


class PiecewiseConstantDecay(LearningRateSchedule):
    """A rate for each piece between boundaries."""

    def __init__(self, boundaries: Sequence[float], values: Sequence[float],
                 name: str = "PiecewiseConstant") -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received:"
                f" boundaries={boundaries} of length {len(boundaries)}, and values={values} of"
                f" length {len(values)}.")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step."""
        passed = sum([bool(tf.cast(step, "float32") > float(b)) for b in self.boundaries])
        return tf.constant(self.values[passed])
