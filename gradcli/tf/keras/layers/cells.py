"""Cells: one step of a recurrent layer."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import floatx
from gradcli.tf.keras.constraint import get as constraint_of
from gradcli.tf.keras.functions.activation import get as activation_of
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.weighted import Kernel
from gradcli.tf.keras.regularizer import get as regularizer_of
from gradcli.tf.keras.variables import SeedGenerator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Cell(Kernel):
    """One step of a recurrent layer. gates: how many kernels stand beside each other.

    dropout, recurrent_dropout: shares of the inputs and of the state that are 0 in training, the
    same at all times of a batch.
    """

    gates = 1
    states = 1

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, recurrent_regularizer: Any = None,
                 bias_regularizer: Any = None, kernel_constraint: Any = None,
                 recurrent_constraint: Any = None, bias_constraint: Any = None,
                 dropout: float = 0.0, recurrent_dropout: float = 0.0, seed: Any = None,
                 **options: Any) -> None:
        if not isinstance(units, int) or units <= 0:
            raise ValueError("Received an invalid value for argument `units`, expected a positive"
                             f" integer, got {units}.")
        super().__init__(activation, use_bias, kernel_initializer, bias_initializer,
                         kernel_regularizer, bias_regularizer, None, kernel_constraint,
                         bias_constraint, **options)
        self.units = units
        self.state_size: Any = units if self.states == 1 else [units] * self.states
        self.output_size = units
        self.recurrent_initializer = initializer_of(recurrent_initializer)
        self.recurrent_regularizer = regularizer_of(recurrent_regularizer)
        self.recurrent_constraint = constraint_of(recurrent_constraint)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.seed_generator = SeedGenerator(seed)
        self._drawn: list[Any] = [None, None]

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        n = self.gates * self.units
        self.kernel = self.add_weight((input_shape[-1], n), self.kernel_initializer, name="kernel",
                                      regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(
            (self.units, n), self.recurrent_initializer, name="recurrent_kernel",
            regularizer=self.recurrent_regularizer, constraint=self.recurrent_constraint)
        self.bias = self.add_weight(
            self._bias_shape(n), self._first_bias(), name="bias",
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint) if self.use_bias else None

    def _bias_shape(self, n: int) -> tuple[int, ...]:
        return (n,)

    def _first_bias(self) -> Any:
        return self.bias_initializer

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """Return zeros for a batch."""
        return [tf.zeros((batch_size, self.units), self.dtype) for _ in range(self.states)]

    def begin(self) -> None:
        """Forget which inputs and states were dropped: another batch begins."""
        self._drawn = [None, None]

    def _dropped(self, x: Any, training: Any, which: int) -> Any:
        """Return inputs (0) or a state (1) with a share of them 0 in training."""
        rate = (self.dropout, self.recurrent_dropout)[which]
        if not training or not 0 < rate < 1:
            return x
        if self._drawn[which] is None:
            self._drawn[which] = tf.nn.dropout(tf.ones_like(x), rate,
                                               seed=self.seed_generator.next())
        return x * self._drawn[which]


class SimpleRNNCell(Cell):
    """`activation(x kernel + bias + h recurrent_kernel)`."""

    def call(self, sequence: Any, states: Any, training: Any = False) -> Any:
        """Return the output of a step, and the states behind it."""
        given = states[0] if isinstance(states, (list, tuple)) else states
        z = tf.matmul(self._dropped(sequence, training, 0), self.kernel)
        z = z if self.bias is None else z + self.bias
        h = self.activation(
            z + tf.matmul(self._dropped(given, training, 1), self.recurrent_kernel))
        return h, [h] if isinstance(states, (list, tuple)) else h


class Gated(Cell):
    """A cell with gates."""

    def __init__(self, units: int, activation: Any = "tanh",
                 recurrent_activation: Any = "sigmoid", *args: Any, **options: Any) -> None:
        super().__init__(units, activation, *args, **options)
        self.recurrent_activation = activation_of(recurrent_activation)


class GRUCell(Gated):
    """One step of a GRU, with update and reset gates; Cho and others, 2014.

    reset_after: whether the reset gate is applied behind the recurrent product, or before it.
    """

    gates = 3

    def __init__(self, units: int, *args: Any, reset_after: bool = True, **options: Any) -> None:
        super().__init__(units, *args, **options)
        self.reset_after = reset_after

    def _bias_shape(self, n: int) -> tuple[int, ...]:
        return (2, n) if self.reset_after else (n,)

    def call(self, inputs: Any, states: Any, training: Any = False) -> Any:
        """Return the output of a step, and the states behind it."""
        before = states[0] if isinstance(states, (list, tuple)) else states
        h = self._dropped(before, training, 1)
        given = tf.matmul(self._dropped(inputs, training, 0), self.kernel)
        n = self.units
        parts = 3 * n if self.reset_after else 2 * n
        inner = tf.matmul(h, self.recurrent_kernel[:, :parts])
        if self.bias is not None and self.reset_after:
            given, inner = given + self.bias[0], inner + self.bias[1]
        elif self.bias is not None:
            given = given + self.bias
        z = self.recurrent_activation(given[:, :n] + inner[:, :n])
        r = self.recurrent_activation(given[:, n:2 * n] + inner[:, n:2 * n])
        new = r * inner[:, 2 * n:] if self.reset_after else tf.matmul(
            r * h, self.recurrent_kernel[:, 2 * n:])
        h = z * h + (1 - z) * self.activation(given[:, 2 * n:] + new)
        return h, [h] if isinstance(states, (list, tuple)) else h


class LSTMCell(Gated):
    """One step of an LSTM, with input, forget and output gates; Hochreiter and Schmidhuber, 1997.
    """

    gates = 4
    states = 2

    def __init__(self, units: int, activation: Any = "tanh",
                 recurrent_activation: Any = "sigmoid", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 unit_forget_bias: bool = True, *args: Any, **options: Any) -> None:
        super().__init__(units, activation, recurrent_activation, use_bias, kernel_initializer,
                         recurrent_initializer, bias_initializer, *args, **options)
        self.unit_forget_bias = unit_forget_bias

    def _first_bias(self) -> Any:
        start: Any = self.bias_initializer
        if not self.unit_forget_bias:
            return start
        n = self.units
        return lambda shape, dtype=None: tf.concat(
            [start((n,), dtype), tf.ones((n,), dtype), start((2 * n,), dtype)], 0)

    def call(self, inputs: Any, states: Any, training: Any = False) -> Any:
        """Return the output of a step, and the states behind it."""
        h, c = states
        z = tf.matmul(self._dropped(inputs, training, 0), self.kernel) + tf.matmul(
            self._dropped(h, training, 1), self.recurrent_kernel)
        z = z if self.bias is None else z + self.bias
        gate, forget, new, out = tf.split(z, 4, axis=1)
        gate, forget, out = [self.recurrent_activation(g) for g in (gate, forget, out)]
        c = forget * c + gate * self.activation(new)
        h = out * self.activation(c)
        return h, [h, c]


class StackedRNNCells(Layer):
    """Cells one above the other, as one."""

    def __init__(self, cells: Any, **options: Any) -> None:
        super().__init__(**options)
        for cell in cells:
            for needed, word in (("call", "method"), ("state_size", "attribute")):
                if not hasattr(cell, needed):
                    raise ValueError(f"All cells must have a `{needed}` {word}. Received cell"
                                     f" without a `{needed}`: {cell}")
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """Return the sizes of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> Any:
        """Return the size of the output of the last cell."""
        return _output_size(self.cells[-1])

    def build(self, input_shape: Any) -> None:
        """Make the variables of all cells."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
            input_shape = (input_shape[0], _output_size(cell))

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """Return the first states of each cell."""
        return [initial_state(cell, batch_size) for cell in self.cells]

    def begin(self) -> None:
        """Begin another batch."""
        begin(self.cells)

    def call(self, inputs: Any, states: Any, training: Any = False, **options: Any) -> Any:
        """Return the output of a step, and the states behind it."""
        found = []
        for cell, state in zip(self.cells, states, strict=True):
            told = {"training": training} if isinstance(cell, Layer) else {}
            inputs, state = cell(inputs, state, **told)
            found.append(state)
        return inputs, found


def _output_size(cell: Any) -> Any:
    size = getattr(cell, "output_size", None)
    return engine.flatten(cell.state_size)[0] if size is None else size


def begin(cells: Any) -> None:
    """Tell cells that another batch begins."""
    for cell in cells:
        if hasattr(cell, "begin"):
            cell.begin()


def initial_state(cell: Any, batch_size: Any) -> Any:
    """Return the first states of a cell, zeros where it does not say others."""
    if hasattr(cell, "get_initial_state"):
        found = cell.get_initial_state(batch_size=batch_size)
        return list(found) if isinstance(found, (list, tuple)) else [found]
    return [tf.zeros((batch_size, n), floatx()) for n in engine.flatten(cell.state_size)]
