"""Recurrent layers: a step for each time."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.activation import get as activation_of
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.layer import InputSpec, Layer
from gradcli.tf.keras.layers.weighted import Kernel, refuse
from gradcli.tf.keras.variables import snake_case
from gradcli.tf.tensor import convert_to_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class Cell(Kernel):
    """One step of a recurrent layer. gates: how many kernels stand beside each other."""

    gates = 1
    states = 1

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 **options: Any) -> None:
        refuse(self, **{key: options.pop(key, None) for key in (
            "dropout", "recurrent_dropout", "recurrent_regularizer", "recurrent_constraint")})
        super().__init__(activation, use_bias, kernel_initializer, bias_initializer, **options)
        self.units = units
        self.state_size: Any = units if self.states == 1 else [units] * self.states
        self.recurrent_initializer = initializer_of(recurrent_initializer)

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        n = self.gates * self.units
        self.kernel = self.add_weight((input_shape[-1], n), self.kernel_initializer, name="kernel",
                                      regularizer=self.kernel_regularizer)
        self.recurrent_kernel = self.add_weight((self.units, n), self.recurrent_initializer,
                                                name="recurrent_kernel")
        self.bias = self.add_weight(
            self._bias_shape(n), self._first_bias(), name="bias",
            regularizer=self.bias_regularizer) if self.use_bias else None

    def _bias_shape(self, n: int) -> tuple[int, ...]:
        return (n,)

    def _first_bias(self) -> Any:
        return self.bias_initializer


class SimpleRNNCell(Cell):
    """`activation(x kernel + bias + h recurrent_kernel)`."""

    def call(self, sequence: Any, states: Any, training: Any = False) -> Any:
        """Return the output of a step, and the states behind it."""
        z = tf.matmul(sequence, self.kernel)
        z = z if self.bias is None else z + self.bias
        h = self.activation(z + tf.matmul(states[0], self.recurrent_kernel))
        return h, [h]


class Gated(Cell):
    """A cell with gates."""

    def __init__(self, units: int, activation: Any = "tanh",
                 recurrent_activation: Any = "sigmoid", *args: Any, **options: Any) -> None:
        super().__init__(units, activation, *args, **options)
        self.recurrent_activation = activation_of(recurrent_activation)


class GRUCell(Gated):
    """One step of a GRU, with update and reset gates; Cho and others, 2014."""

    gates = 3

    def __init__(self, units: int, *args: Any, reset_after: bool = True, **options: Any) -> None:
        super().__init__(units, *args, **options)
        refuse(self, reset_after=not reset_after)

    def _bias_shape(self, n: int) -> tuple[int, ...]:
        return (2, n)

    def call(self, inputs: Any, states: Any, training: Any = False) -> Any:
        """Return the output of a step, and the states behind it."""
        h = states[0]
        given, inner = tf.matmul(inputs, self.kernel), tf.matmul(h, self.recurrent_kernel)
        if self.bias is not None:
            given, inner = given + self.bias[0], inner + self.bias[1]
        (z, r, new), (z_h, r_h, new_h) = tf.split(given, 3, axis=1), tf.split(inner, 3, axis=1)
        z, r = self.recurrent_activation(z + z_h), self.recurrent_activation(r + r_h)
        h = z * h + (1 - z) * self.activation(new + r * new_h)
        return h, [h]


class LSTMCell(Gated):
    """One step of an LSTM, with input, forget and output gates; Hochreiter and Schmidhuber, 1997.
    """

    gates = 4
    states = 2

    def __init__(self, units: int, *args: Any, unit_forget_bias: bool = True, **options: Any
                 ) -> None:
        super().__init__(units, *args, **options)
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
        z = tf.matmul(inputs, self.kernel) + tf.matmul(h, self.recurrent_kernel)
        z = z if self.bias is None else z + self.bias
        gate, forget, new, out = tf.split(z, 4, axis=1)
        gate, forget, out = [self.recurrent_activation(g) for g in (gate, forget, out)]
        c = forget * c + gate * self.activation(new)
        h = out * self.activation(c)
        return h, [h, c]


class RNN(Layer):
    """A recurrent layer of a cell."""

    def __init__(self, cell: Any, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, unroll: bool = False,
                 zero_output_for_mask: bool = False, **options: Any) -> None:
        super().__init__(**options)
        refuse(self, go_backwards=go_backwards, stateful=stateful)
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.input_spec = InputSpec(ndim=3)

    def build(self, sequences_shape: Any) -> None:
        """Make the variables for sequences of a shape."""
        if not self.cell.built:
            self.cell.build((sequences_shape[0], sequences_shape[-1]))

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None,
             training: Any = False) -> Any:
        """Apply the cell, time after time."""
        refuse(self, mask=mask is not None)
        x = convert_to_tensor(sequences)
        sizes = self.cell.state_size
        sizes = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
        if initial_state is None:
            states = [tf.zeros((x.shape[0], n), x.dtype) for n in sizes]
        else:
            states = list(initial_state) if isinstance(initial_state, (list, tuple)) else [
                initial_state]
        steps = []
        for k in range(x.shape[1]):
            h, states = self.cell(x[:, k], states)
            steps.append(h)
            states = list(states) if isinstance(states, (list, tuple)) else [states]
        y = tf.stack(steps, axis=1) if self.return_sequences else steps[-1]
        return [y, *states] if self.return_state else y


class OfCell(RNN):
    """A recurrent layer whose options are those of its cell, besides its own."""

    kind: ClassVar[type[Cell]]

    def __init__(self, units: int, *args: Any, use_cudnn: Any = "auto", seed: Any = None,
                 **options: Any) -> None:
        own = {key: options.pop(key) for key in (
            "return_sequences", "return_state", "go_backwards", "stateful", "unroll", "name",
            "trainable", "dtype") if key in options}
        cell = self.kind(units, *args, name=snake_case(self.kind.__name__), **options)
        super().__init__(cell, **own)
        self.units = units


class SimpleRNN(OfCell):
    """A recurrent layer without gates."""

    kind = SimpleRNNCell


class GRU(OfCell):
    """A recurrent layer of GRU's steps."""

    kind = GRUCell


class LSTM(OfCell):
    """A recurrent layer of an LSTM's steps."""

    kind = LSTMCell


class TimeDistributed(Layer):
    """A layer for each time of sequences."""

    def __init__(self, layer: Any, **options: Any) -> None:
        super().__init__(**options)
        self.layer = layer

    def build(self, input_shape: Any) -> None:
        """Make the variables for sequences of a shape."""
        self.layer.build((input_shape[0], *input_shape[2:]))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Apply the layer to all times at once."""
        refuse(self, mask=mask is not None)
        batch, times = inputs.shape[:2]
        y = self.layer(tf.reshape(inputs, [batch * times, *inputs.shape[2:]]))
        return tf.reshape(y, [batch, times, *y.shape[1:]])
