"""Constraints: what a variable is set to behind each step of an optimizer."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.identifiers import Configured, identified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EPSILON = 1e-7


class Constraint(Configured):
    """A function of a variable, as keras.constraints.Constraint."""

    def __call__(self, w: Any) -> Any:
        """Return what the variable becomes."""
        return w


class MinMaxNorm(Constraint):
    """Norms between two bounds; rate: which part of the way is gone at once."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0,
                 axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """Return what the variable becomes."""
        norms = tf.norm(w, axis=self.axis, keepdims=True)
        wanted = self.rate * tf.clip_by_value(norms, self.min_value, self.max_value) + (
            1 - self.rate) * norms
        return w * (wanted / (EPSILON + norms))


class MaxNorm(MinMaxNorm):
    """Norms up to a bound."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        super().__init__(0.0, max_value, 1.0, axis)

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {"max_value": self.max_value, "axis": self.axis}


class UnitNorm(Constraint):
    """Norms of 1."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """Return what the variable becomes."""
        return w / (EPSILON + tf.norm(w, axis=self.axis, keepdims=True))


class NonNeg(Constraint):
    """Numbers that are not negative."""

    def __call__(self, w: Any) -> Any:
        """Return what the variable becomes."""
        return tf.maximum(w, 0.0)


max_norm, min_max_norm, unit_norm, non_neg = MaxNorm, MinMaxNorm, UnitNorm, NonNeg
BY_NAME: dict[str, type[Constraint]] = {
    "max_norm": MaxNorm, "MaxNorm": MaxNorm, "min_max_norm": MinMaxNorm, "MinMaxNorm": MinMaxNorm,
    "unit_norm": UnitNorm, "UnitNorm": UnitNorm, "non_neg": NonNeg, "NonNeg": NonNeg}


def get(identifier: Any) -> Callable[..., Any] | None:
    """Return the constraint of a name, function, configuration or constraint."""
    made: Callable[..., Any] | None = identified(identifier, BY_NAME, "constraint")
    return made
