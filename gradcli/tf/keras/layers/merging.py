"""Layers that make one of several inputs."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.layers.layer import Layer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Merge(Layer):
    """A function of inputs of shapes that broadcast, from the first to the last."""

    join = staticmethod(lambda a, b: a + b)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return where one of the inputs is there; no mask if one has none."""
        masks = previous_mask
        if not isinstance(masks, (list, tuple)) or any(mask is None for mask in masks):
            return None
        joined = masks[0]
        for mask in masks[1:]:
            joined = tf.logical_or(joined, mask)
        return joined

    def _maybe_build(self, args: Any, options: dict[str, Any]) -> None:
        given = args[0] if args else options.get("inputs")
        if not isinstance(given, (list, tuple)):
            raise ValueError("A merge layer should be called on a list of inputs. Received:"
                             f" inputs={given} (not a list of tensors)")

    def call(self, inputs: Any) -> Any:
        """Join the inputs."""
        total = inputs[0]
        for x in inputs[1:]:
            total = self.join(total, x)
        return total


class Add(Merge):
    """The sum of inputs."""


class Subtract(Merge):
    """The difference of two inputs."""

    join = staticmethod(lambda a, b: a - b)


class Multiply(Merge):
    """The product of inputs."""

    join = staticmethod(lambda a, b: a * b)


class Maximum(Merge):
    """The largest of inputs."""

    join = staticmethod(lambda a, b: tf.maximum(a, b))


class Minimum(Merge):
    """The smallest of inputs."""

    join = staticmethod(lambda a, b: tf.minimum(a, b))


class Average(Merge):
    """The mean of inputs."""

    def call(self, inputs: Any) -> Any:
        """Join the inputs."""
        return super().call(inputs) / len(inputs)


class Concatenate(Merge):
    """Inputs one after the other."""

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return the masks one after the other, True for an input without one."""
        if not isinstance(previous_mask, (list, tuple)) or all(m is None for m in previous_mask):
            return None
        masks = []
        for x, mask in zip(inputs, previous_mask, strict=True):
            there = tf.ones_like(x, dtype="bool") if mask is None else mask
            short = len(there.shape) < len(x.shape)
            masks.append(tf.broadcast_to(there[..., None], x.shape) if short else there)
        return tf.reduce_any(tf.concat(masks, self.axis), -1)

    def call(self, inputs: Any) -> Any:
        """Join the inputs."""
        return tf.concat(inputs, self.axis)


class Dot(Merge):
    """The scalar products of two inputs along an axis of each, sample by sample.

    normalize: of their directions, so that these are cosines.
    """

    def __init__(self, axes: Any, normalize: bool = False, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError("Invalid type for argument `axes`: it should be a list or an int."
                                f" Received: axes={axes}")
            if len(axes) != 2:
                raise ValueError("Invalid format for argument `axes`: it should contain two"
                                 f" elements. Received: axes={axes}")
        self.axes, self.normalize = axes, normalize

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return None."""
        return None

    def call(self, inputs: Any) -> Any:
        """Join the inputs."""
        first, second = inputs
        axes = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        at = [axis % len(x.shape) for axis, x in zip(axes, inputs, strict=True)]
        if 0 in at:
            raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched,"
                             " add a dummy batch dimension to your inputs using"
                             " keras.ops.expand_dims(x, 0)")
        if self.normalize:
            first, second = [tf.math.l2_normalize(x, axis) for x, axis in zip(
                inputs, at, strict=True)]
        letters = iter("bcdefghijklmnop")
        words = [["a", *[next(letters) for _ in x.shape[1:]]] for x in inputs]
        words[0][at[0]] = words[1][at[1]] = "z"
        one, other = ["".join(word) for word in words]
        rest = (one + other[1:]).replace("z", "")
        y = tf.einsum(f"{one},{other}->{rest}", first, second)
        return y[:, None] if len(rest) == 1 else y


def _called(kind: type[Layer]) -> Callable[..., Any]:
    return lambda inputs, **options: kind(**options)(inputs)


add, subtract, multiply, maximum, minimum, average, concatenate = [
    _called(kind) for kind in (Add, Subtract, Multiply, Maximum, Minimum, Average, Concatenate)]


def dot(inputs: Any, axes: Any = -1, **options: Any) -> Any:
    """Return what a `Dot` layer gives."""
    return Dot(axes, **options)(inputs)
