"""Regularizers: functions of a variable that are added to the loss."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.identifiers import identified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Regularizer:
    """A function of a variable, as keras.regularizers.Regularizer."""

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        return 0.0


class L1L2(Regularizer):
    """Multiples of the sums of absolute values and of squares."""

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1, self.l2 = l1 or 0.0, l2 or 0.0

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        total = tf.constant(0.0, x.dtype)
        if self.l1:
            total = total + self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total = total + self.l2 * tf.reduce_sum(tf.square(x))
        return total


class L1(Regularizer):
    """A multiple of the sum of absolute values."""

    def __init__(self, l1: float | None = 0.01) -> None:
        self.l1 = 0.01 if l1 is None else l1

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        return self.l1 * tf.reduce_sum(tf.abs(x))


class L2(Regularizer):
    """A multiple of the sum of squares."""

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = 0.01 if l2 is None else l2

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        return self.l2 * tf.reduce_sum(tf.square(x))


BY_NAME = {"l1": L1, "L1": L1, "l2": L2, "L2": L2, "l1_l2": L1L2, "L1L2": L1L2}


def get(identifier: Any) -> Callable[..., Any] | None:
    """Return the regularizer of a name, function or regularizer."""
    made: Callable[..., Any] | None = identified(identifier, BY_NAME, "regularizer")
    return made


l1, l2, l1_l2 = L1, L2, L1L2
