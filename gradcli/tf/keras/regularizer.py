"""Regularizers: functions of a variable that are added to the loss."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.identifiers import Configured, identified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Regularizer(Configured):
    """A function of a variable, as keras.regularizers.Regularizer."""

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        return 0.0


def _checked(x: Any, name: str) -> float:
    """Return an option of a regularizer. Raises ValueError for what is no number from 0 on."""
    if not isinstance(x, (float, int)) or not 0 <= x < float("inf"):
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float."
                         f" Received: {name}={x}")
    return float(x)


class OrthogonalRegularizer(Regularizer):
    """A penalty for rows, or columns, that are not orthogonal: of the cosines between them.

    mode: "rows" or "columns".
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows") -> None:
        if mode not in ("rows", "columns"):
            raise ValueError('Invalid value for argument `mode`. Expected one of {"rows",'
                             f' "columns"}}. Received: mode={mode}')
        self.factor, self.mode = _checked(factor, "factor"), mode

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        if len(x.shape) != 2:
            raise ValueError("Inputs to OrthogonalRegularizer must have rank 2. Received:"
                             f" inputs.shape={tuple(x.shape)}")
        rows = self.mode == "rows"
        unit = tf.math.l2_normalize(x, axis=1 if rows else 0)
        size = x.shape[0] if rows else x.shape[1]
        cosines = tf.matmul(unit, unit, transpose_b=rows, transpose_a=not rows)
        others = tf.abs(cosines * (1.0 - tf.eye(size, dtype=x.dtype)))
        return self.factor * 0.5 * tf.reduce_sum(others) / (size * (size - 1.0) / 2.0)


class L1L2(Regularizer):
    """Multiples of the sums of absolute values and of squares."""

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1, self.l2 = _checked(l1 or 0.0, "l1"), _checked(l2 or 0.0, "l2")

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
        self.l1 = _checked(0.01 if l1 is None else l1, "l1")

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        return self.l1 * tf.reduce_sum(tf.abs(x))


class L2(Regularizer):
    """A multiple of the sum of squares."""

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = _checked(0.01 if l2 is None else l2, "l2")

    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        return self.l2 * tf.reduce_sum(tf.square(x))


BY_NAME = {"l1": L1, "L1": L1, "l2": L2, "L2": L2, "l1_l2": L1L2, "L1L2": L1L2,
           "orthogonal_regularizer": OrthogonalRegularizer,
           "OrthogonalRegularizer": OrthogonalRegularizer}


def get(identifier: Any) -> Callable[..., Any] | None:
    """Return the regularizer of a name, function or regularizer."""
    made: Callable[..., Any] | None = identified(identifier, BY_NAME, "regularizer")
    return made


l1, l2, l1_l2 = L1, L2, L1L2
orthogonal_regularizer = OrthogonalRegularizer
