"""Optimizers: rules that say how far a variable moves for a gradient. The formulas are Keras 3's.
"""

from __future__ import annotations

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar


class Optimizer:
    """Gradient steps; `step` of a subclass says how far one goes."""

    defaults: ClassVar[dict[str, Any]] = {}
    rate = 0.001

    def __init__(self, learning_rate: float | None = None, **options: Any) -> None:
        for name in options:
            if name not in self.defaults:
                raise TypeError(f"{type(self).__name__} has no option '{name}'")
        self.learning_rate = self.rate if learning_rate is None else learning_rate
        self.options = {**self.defaults, **options}
        self.slots: dict[int, dict[str, Any]] = {}
        self.iterations = 0

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> None:
        """Move each variable by its gradient; those without one stay.

        Raises ValueError where there is no gradient at all.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        self.iterations += 1
        for g, v in pairs:
            v.assign_sub(self.step(np.asarray(g.value), self.slots.setdefault(v.serial, {}),
                                   **self.options))

    def step(self, g: Any, slots: dict[str, Any], *options: Any, **named: Any) -> Any:
        """Return how far a variable with this gradient moves."""
        raise TypeError(f"{type(self).__name__} has no step")


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    rate = 0.01
    defaults: ClassVar[dict[str, Any]] = {"momentum": 0.0, "nesterov": False}

    def step(self, g: Any, slots: dict[str, Any], momentum: float = 0.0,
             nesterov: bool = False) -> Any:
        """Return the velocity."""
        rate = self.learning_rate
        slots["m"] = m = slots.get("m", 0.0) * momentum + rate * g
        return m * momentum + rate * g if nesterov else m


class Adam(Optimizer):
    """Adaptive moments; Kingma and Ba, 2015."""

    defaults: ClassVar[dict[str, Any]] = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}

    def step(self, g: Any, slots: dict[str, Any], beta_1: float = 0.9, beta_2: float = 0.999,
             epsilon: float = 1e-7) -> Any:
        """Return the first moment over the root of the second, both corrected for their start."""
        slots["m"] = m = slots.get("m", 0.0) * beta_1 + g * (1 - beta_1)
        slots["v"] = v = slots.get("v", 0.0) * beta_2 + g * g * (1 - beta_2)
        # Keras takes the powers of the betas as they are in float32.
        p1, p2 = (float(np.float32(b)) ** self.iterations for b in (beta_1, beta_2))
        return self.learning_rate * np.sqrt(1 - p2) / (1 - p1) * m / (np.sqrt(v) + epsilon)


class RMSprop(Optimizer):
    """Gradients over the root of their mean square; Hinton, 2012."""

    defaults: ClassVar[dict[str, Any]] = {"rho": 0.9, "momentum": 0.0, "epsilon": 1e-7}

    def step(self, g: Any, slots: dict[str, Any], rho: float = 0.9, momentum: float = 0.0,
             epsilon: float = 1e-7) -> Any:
        """Return the velocity."""
        slots["v"] = v = slots.get("v", 0.0) * rho + g * g * (1 - rho)
        slots["m"] = m = slots.get("m", 0.0) * momentum + self.learning_rate * g / np.sqrt(
            v + epsilon)
        return m


class Adagrad(Optimizer):
    """Gradients over the root of the sum of their squares; Duchi, Hazan and Singer, 2011."""

    defaults: ClassVar[dict[str, Any]] = {"initial_accumulator_value": 0.1, "epsilon": 1e-7}

    def step(self, g: Any, slots: dict[str, Any], initial_accumulator_value: float = 0.1,
             epsilon: float = 1e-7) -> Any:
        """Return the scaled gradient."""
        slots["v"] = v = slots.get("v", initial_accumulator_value) + g * g
        return self.learning_rate * g / np.sqrt(v + epsilon)
