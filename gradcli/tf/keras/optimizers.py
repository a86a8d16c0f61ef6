"""The optimizers, each a rule of its own. The formulas are Keras 3's."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.optimizer import Optimizer, cast
from gradcli.tf.keras.variables import Variable, name_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    rate = 0.01
    defaults: ClassVar[dict[str, Any]] = {"momentum": 0.0, "nesterov": False}
    slots: ClassVar[tuple[dict[str, Any], ...]] = ({"momentum": 0.0},)
    momentum: float
    nesterov: bool

    def __init__(self, learning_rate: Any = None, *args: Any, **options: Any) -> None:
        super().__init__(learning_rate, *args, **options)
        if not isinstance(self.momentum, (int, float)) or not 0 <= self.momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")

    def _wants(self, slot: str) -> bool:
        return self.momentum != 0

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        moved = gradient * learning_rate
        if not self.momentum:
            variable.assign_sub(moved)
            return
        m, momentum = self.kept(variable)["momentum"], cast(self.momentum, variable)
        m.assign(m * momentum - moved)
        variable.assign_add(m * momentum - moved if self.nesterov else m)


class Adam(Optimizer):
    """Adaptive moments; Kingma and Ba, 2015."""

    defaults: ClassVar[dict[str, Any]] = {
        "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7, "amsgrad": False}
    slots: ClassVar[tuple[dict[str, Any], ...]] = (
        {"momentum": 0.0, "velocity": 0.0}, {"velocity_hat": 0.0})
    beta_1: float
    beta_2: float
    epsilon: float
    amsgrad: bool

    def _wants(self, slot: str) -> bool:
        return slot != "velocity_hat" or self.amsgrad

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        kept = self.kept(variable)
        m, v = kept["momentum"], kept["velocity"]
        alpha = learning_rate * tf.sqrt(1 - self._power(self.beta_2, variable)) / (
            1 - self._power(self.beta_1, variable))
        m.assign_add((gradient - m) * (1 - self.beta_1))
        v.assign_add((self._squared(gradient) - v) * (1 - self.beta_2))
        if self.amsgrad:
            kept["velocity_hat"].assign(tf.maximum(kept["velocity_hat"], v))
            v = kept["velocity_hat"]
        variable.assign_sub(m * alpha / (tf.sqrt(v) + self.epsilon))


class AdamW(Adam):
    """Adam with weight decay; Loshchilov and Hutter, 2019."""

    defaults: ClassVar[dict[str, Any]] = {"weight_decay": 0.004, **Adam.defaults}


class Adamax(Optimizer):
    """Adam with the maximum norm."""

    defaults: ClassVar[dict[str, Any]] = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}
    slots: ClassVar[tuple[dict[str, Any], ...]] = ({"momentum": 0.0, "norm": 0.0},)
    beta_1: float
    beta_2: float
    epsilon: float

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        m, u = self.kept(variable).values()
        m.assign_add((gradient - m) * (1 - self.beta_1))
        u.assign(tf.maximum(self.beta_2 * u, tf.abs(gradient)))
        variable.assign_sub(learning_rate * m / (
            (1 - self._power(self.beta_1, variable)) * (u + self.epsilon)))


class Nadam(Adamax):
    """Adam with Nesterov's momentum; Dozat, 2015."""

    slots: ClassVar[tuple[dict[str, Any], ...]] = ({"momentum": 0.0, "velocity": 0.0},)

    def build(self, variables: Sequence[Any]) -> None:
        """Make what is kept for each variable, and for all."""
        super().build(variables)
        with name_scope(self.name, self):
            self._product = Variable(1.0)
        self.variables.append(self._product)

    def _begin(self) -> None:
        self._product.assign(self._product * self._momentum(self._product, 1))

    def _momentum(self, variable: Any, more: int) -> Any:
        return cast(self.beta_1, variable) * (1.0 - 0.5 * self._power(0.96, variable, more))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        m, v = self.kept(variable).values()
        now, following = self._momentum(variable, 1), self._momentum(variable, 2)
        product = tf.cast(self._product, variable.dtype)
        m.assign_add((gradient - m) * (1 - cast(self.beta_1, variable)))
        v.assign_add((self._squared(gradient) - v) * (1 - cast(self.beta_2, variable)))
        m_hat = following * m / (1 - product * following) + (1 - now) * gradient / (1 - product)
        v_hat = v / (1 - self._power(self.beta_2, variable))
        variable.assign_sub(m_hat * learning_rate / (tf.sqrt(v_hat) + self.epsilon))


class RMSprop(Optimizer):
    """Gradients over the root of their mean square; Hinton, 2012."""

    defaults: ClassVar[dict[str, Any]] = {
        "rho": 0.9, "momentum": 0.0, "epsilon": 1e-7, "centered": False}
    slots: ClassVar[tuple[dict[str, Any], ...]] = (
        {"velocity": 0.0}, {"momentum": 0.0}, {"average_gradient": 0.0})
    rho: float
    momentum: float
    epsilon: float
    centered: bool

    def _wants(self, slot: str) -> bool:
        return {"velocity": True, "momentum": self.momentum > 0,
                "average_gradient": self.centered}[slot]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        kept = self.kept(variable)
        v = kept["velocity"]
        v.assign(self.rho * v + (1 - self.rho) * self._squared(gradient))
        below = v + self.epsilon
        if self.centered:
            mean = kept["average_gradient"]
            mean.assign(self.rho * mean + (1 - self.rho) * gradient)
            below = v - tf.square(mean) + self.epsilon
        moved = learning_rate * gradient / tf.sqrt(below)
        if self.momentum > 0:
            kept["momentum"].assign(self.momentum * kept["momentum"] + moved)
            moved = kept["momentum"]
        variable.assign_sub(moved)


class Adagrad(Optimizer):
    """Gradients over the root of the sum of their squares; Duchi, Hazan and Singer, 2011."""

    defaults: ClassVar[dict[str, Any]] = {"initial_accumulator_value": 0.1, "epsilon": 1e-7}
    slots: ClassVar[tuple[dict[str, Any], ...]] = ({"accumulator": "initial_accumulator_value"},)
    epsilon: float

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        total = self.kept(variable)["accumulator"]
        total.assign_add(self._squared(gradient))
        variable.assign_sub(learning_rate * gradient / tf.sqrt(total + self.epsilon))


class Adadelta(Optimizer):
    """Gradients times the ratio of the means of past moves and gradients; Zeiler, 2012."""

    defaults: ClassVar[dict[str, Any]] = {"rho": 0.95, "epsilon": 1e-7}
    slots: ClassVar[tuple[dict[str, Any], ...]] = (
        {"accumulated_grad": 0.0, "accumulated_delta_var": 0.0},)
    rho: float
    epsilon: float

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        seen, moves = self.kept(variable).values()
        seen.assign(self.rho * seen + (1 - self.rho) * self._squared(gradient))
        move = -tf.sqrt(moves + self.epsilon) * gradient / tf.sqrt(seen + self.epsilon)
        squared = tf.square(move) if self._slices is None else (
            self._squared(gradient) * (moves + self.epsilon) / (seen + self.epsilon))
        moves.assign(self.rho * moves + (1 - self.rho) * squared)
        variable.assign_add(learning_rate * move)


class Lion(Optimizer):
    """The sign of a mean of gradients; Chen and others, 2023."""

    defaults: ClassVar[dict[str, Any]] = {"beta_1": 0.9, "beta_2": 0.99}
    slots: ClassVar[tuple[dict[str, Any], ...]] = ({"momentum": 0.0},)
    beta_1: float
    beta_2: float

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        m = self.kept(variable)["momentum"]
        now, later = cast(self.beta_1, variable), cast(self.beta_2, variable)
        variable.assign_sub(learning_rate * tf.sign(m * now + gradient * (1.0 - now)))
        m.assign(m * later + gradient * (1.0 - later))


class Ftrl(Optimizer):
    """Follow the regularized leader; McMahan and others, 2013."""

    defaults: ClassVar[dict[str, Any]] = {
        "learning_rate_power": -0.5, "initial_accumulator_value": 0.1,
        "l1_regularization_strength": 0.0, "l2_regularization_strength": 0.0,
        "l2_shrinkage_regularization_strength": 0.0, "beta": 0.0}
    slots: ClassVar[tuple[dict[str, Any], ...]] = (
        {"accumulator": "initial_accumulator_value", "linear": 0.0},)
    learning_rate_power: float
    l1_regularization_strength: float
    l2_regularization_strength: float
    l2_shrinkage_regularization_strength: float
    beta: float

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        total, linear = self.kept(variable).values()
        power, most = -self.learning_rate_power, self.l1_regularization_strength
        square = self.l2_regularization_strength + self.beta / (2.0 * learning_rate)
        shrunk = gradient + 2 * self.l2_shrinkage_regularization_strength * variable
        seen = total + tf.square(gradient)
        linear.assign_add(shrunk - (tf.pow(seen, power) - tf.pow(total, power)) / learning_rate
                          * variable)
        width = tf.pow(seen, power) / learning_rate + 2 * square
        variable.assign((tf.clip_by_value(linear, -most, most) - linear) / width)
        total.assign(seen)


BY_NAME: dict[str, type[Optimizer]] = {kind.__name__.lower(): kind for kind in (
    SGD, Adam, AdamW, Adamax, Nadam, RMSprop, Adagrad, Adadelta, Lion, Ftrl)}


def get(identifier: Any) -> Callable[..., Any] | Optimizer | None:
    """Return the optimizer of a name or optimizer."""
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict):
        kind = BY_NAME.get(str(identifier.get("class_name", "")).lower())
        if kind is not None:
            return kind(**identifier.get("config", {}))
    if isinstance(identifier, str) and identifier.lower() in BY_NAME:
        return BY_NAME[identifier.lower()]()
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
