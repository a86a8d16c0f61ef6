"""Layers: functions with variables, made when the shape of the input is known."""

from __future__ import annotations

from gradcli.engine.record.module import Module
from gradcli.ops.kinds import PUBLIC
from gradcli.tf.dtypes import as_dtype
from gradcli.tf.own import drawn, full
from gradcli.tf.tensor import Variable, convert_to_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


class Dense(Module):
    """`activation(x kernel + bias)`."""

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True,
                 dtype: Any = "float32", name: str | None = None) -> None:
        super().__init__(name=name)
        self.units, self.dtype, self.use_bias = units, as_dtype(dtype), use_bias
        self.activation = activation

    def build(self, input_shape: Sequence[Any]) -> None:
        """Make the variables for inputs of a shape; the kernel as Glorot and Bengio draw it."""
        inputs = input_shape[-1]
        limit = (6 / (inputs + self.units)) ** 0.5
        self.kernel = Variable(drawn("uniform", (inputs, self.units), self.dtype, None,
                                     minval=-limit, maxval=limit))
        self.kernel.name = "kernel"     # of Keras without `:0`
        if self.use_bias:
            self.bias = Variable(full((self.units,), 0, self.dtype))
            self.bias.name = "bias"

    @property
    def variables(self) -> list[Any]:
        """Return the variables in the order in which they were made, as Keras has them."""
        return sorted(super().variables, key=lambda v: v.serial)

    def set_weights(self, weights: Iterable[Any]) -> None:
        """Assign arrays to the variables, in order."""
        for variable, value in zip(self.variables, weights, strict=True):
            variable.assign(value)

    def __call__(self, x: Any) -> Any:
        """Apply to a batch of inputs."""
        x = convert_to_tensor(x)
        if not self.variables:
            self.build(x.shape)
        y = PUBLIC["dense"](x, *self.variables)
        if self.activation is None:
            return y
        return PUBLIC[self.activation](y) if isinstance(self.activation, str) else \
            self.activation(y)
