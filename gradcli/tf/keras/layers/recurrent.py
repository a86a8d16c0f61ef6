"""Recurrent layers: a step for each time."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.layers.cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    begin,
)
from gradcli.tf.keras.layers.cells import initial_state as first_state
from gradcli.tf.keras.layers.inputs import InputSpec, signature_of
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.simple import Wrapper
from gradcli.tf.keras.variables import Variable, name_scope, snake_case
from gradcli.tf.tensor import convert_to_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class RNN(Layer):
    """A recurrent layer of a cell. A masked time leaves output and states as they were.

    zero_output_for_mask: whether the output of a masked time is 0 in place of the last one.
    """

    _lent = "states"

    def __init__(self, cell: Any, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, unroll: bool = False,
                 zero_output_for_mask: bool = False, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        for needed, word in (("call", "method"), ("state_size", "attribute")):
            if not hasattr(cell, needed):
                raise ValueError(f"Argument `cell` should have a `{needed}` {word}. Received:"
                                 f" cell={cell}")
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.zero_output_for_mask = zero_output_for_mask
        self.states: Any = None
        self.supports_masking = True
        self.input_spec = InputSpec(ndim=3)

    @property
    def state_size(self) -> Any:
        """Return the sizes of the states."""
        return self.cell.state_size

    def build(self, sequences_shape: Any) -> None:
        """Make the variables for sequences of a shape."""
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))
            self.cell.built = True
        if self.stateful and self.states is None:
            if sequences_shape[0] is None:
                raise ValueError("When using `stateful=True` in a RNN, the batch size must be"
                                 " static. Found dynamic batch size:"
                                 f" sequence.shape={tuple(sequences_shape)}")
            with name_scope(self.name, self):
                start = self.get_initial_state(sequences_shape[0])
                self.states = engine.like(start, [
                    Variable(s, trainable=False, name="rnn_state") for s in engine.flatten(start)])

    def get_initial_state(self, batch_size: Any) -> Any:
        """Return the states before the first time."""
        return first_state(self.cell, batch_size)

    def reset_state(self) -> None:
        """Set the states of a stateful layer to zeros."""
        for state in engine.flatten(self.states or []):
            state.assign(tf.zeros_like(state))

    reset_states = reset_state

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return the mask of the sequences that it returns."""
        mask = engine.flatten(previous_mask)[0]
        return mask if self.return_sequences else None

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None,
             training: Any = False) -> Any:
        """Apply the cell, time after time."""
        x = convert_to_tensor(sequences)
        if initial_state is not None:
            states = list(initial_state) if isinstance(initial_state, (list, tuple)) else [
                initial_state]
        elif self.stateful:
            states = engine.like(self.states, [s.read_value() for s in engine.flatten(self.states)])
        else:
            states = self.get_initial_state(x.shape[0])
        if self.stateful and engine.flatten(states)[0].shape[0] != x.shape[0]:
            raise ValueError("If an RNN is stateful, the batch size of the input sequences must be"
                             " the same as the batch size of the initial state. \n- Expected batch"
                             f" size: {engine.flatten(states)[0].shape[0]}\n- Received batch size:"
                             f" {x.shape[0]}")
        begin([self.cell])
        steps, states = self._steps(x, states, mask, training)
        if self.stateful:
            for kept, state in zip(engine.flatten(self.states), engine.flatten(states),
                                   strict=True):
                kept.assign(state)
        y = tf.stack(steps, axis=1) if self.return_sequences else steps[-1]
        return (y, *states) if self.return_state else y

    def _steps(self, x: Any, states: Any, mask: Any, training: Any) -> tuple[list[Any], Any]:
        """Return the output of each time, and the states behind the last."""
        told = {"training": training} if isinstance(
            self.cell, Layer) and "training" in signature_of(self.cell) else {}
        times = range(x.shape[1])
        steps: list[Any] = []
        before: Any = None
        for k in reversed(times) if self.go_backwards else times:
            h, new = self.cell(x[:, k], states, **told)
            new = list(new) if isinstance(new, (list, tuple)) else [new]
            if mask is not None:
                there = tf.cast(mask, "bool")[:, k]
                before = tf.zeros_like(h) if before is None else before
                zero = self.zero_output_for_mask
                h = _chosen(there, h, tf.zeros_like(h) if zero else before)
                new = engine.like(new, [_chosen(there, n, s) for n, s in zip(
                    engine.flatten(new), engine.flatten(states), strict=True)])
            before, states = h, new
            steps.append(h)
        return steps, states


def _chosen(there: Any, new: Any, old: Any) -> Any:
    """Return the new values of samples that are there, the old ones of others."""
    return tf.where(tf.reshape(there, [-1, *[1] * (len(new.shape) - 1)]), new, old)


class OfCell(RNN):
    """A recurrent layer whose options are those of its cell, besides its own."""

    kind: ClassVar[Any]
    OWN = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "name",
           "trainable", "dtype", "activity_regularizer", "zero_output_for_mask", "input_shape",
           "input_dim")

    def __init__(self, units: int, *args: Any, use_cudnn: Any = "auto", **options: Any) -> None:
        options.pop("implementation", None)
        own = {key: options.pop(key) for key in self.OWN if key in options}
        shared = {key: own[key] for key in ("dtype", "trainable") if key in own}
        cell = self.kind(units, *args, name=snake_case(self.kind.__name__), **shared, **options)
        super().__init__(cell, **own)

    def _kinds(self) -> list[type]:
        return [kind for kind in [*type(self).__mro__, *self.kind.__mro__]
                if issubclass(kind, Layer) and kind is not Layer]

    def __getattr__(self, name: str) -> Any:
        # `layer.units`, `layer.dropout` and the other options are those of the cell.
        cell = self.__dict__.get("cell")
        if name.startswith("_") or cell is None or name not in vars(cell):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(cell, name)


class SimpleRNN(OfCell):
    """A recurrent layer without gates."""

    kind = SimpleRNNCell


class GRU(OfCell):
    """A recurrent layer of GRU's steps."""

    kind = GRUCell


class LSTM(OfCell):
    """A recurrent layer of an LSTM's steps."""

    kind = LSTMCell


class TimeDistributed(Wrapper):
    """A layer for each time of sequences."""

    def __init__(self, layer: Any, **options: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `TimeDistributed` layer with a `keras.layers.Layer`"
                             f" instance. Received: {layer}")
        super().__init__(layer, **options)
        self.supports_masking = True

    def build(self, input_shape: Any = None) -> None:
        """Make the variables for sequences of a shape."""
        super().build((input_shape[0], *input_shape[2:]))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Apply the layer to all times at once; with a mask that the layer takes, to each."""
        takes = signature_of(self.layer)
        told = {"training": training} if "training" in takes else {}
        if mask is not None and "mask" in takes:
            return tf.stack([self.layer(inputs[:, k], mask=mask[:, k], **told)
                             for k in range(inputs.shape[1])], axis=1)
        batch, times = inputs.shape[:2]
        y = self.layer(tf.reshape(inputs, [batch * times, *inputs.shape[2:]]), **told)
        return tf.reshape(y, [batch, times, *y.shape[1:]])


class Bidirectional(Wrapper):
    """A recurrent layer for both directions; merge_mode: "sum", "mul", "concat", "ave", None."""

    def __init__(self, layer: Any, merge_mode: str | None = "concat", weights: Any = None,
                 backward_layer: Any = None, **options: Any) -> None:
        for given, text in ((layer, "Please initialize `Bidirectional` layer with a"
                                    " `keras.layers.Layer` instance. Received: {}"),
                            (backward_layer, "`backward_layer` need to be a `keras.layers.Layer`"
                                             " instance. Received: {}")):
            if not isinstance(given, Layer) and not (given is None and layer is not None):
                raise ValueError(text.format(given))
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one"
                             ' of {"sum", "mul", "ave", "concat", None}')
        Layer.__init__(self, **options)
        title = layer.name.removeprefix("forward_").removeprefix("backward_")
        self.forward_layer = layer.another(name=f"forward_{title}")
        self.backward_layer = backward_layer or layer.another(
            name=f"backward_{title}", go_backwards=not layer.go_backwards)
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value."
                f" Received: forward_layer.go_backwards {self.forward_layer.go_backwards},"
                f" backward_layer.go_backwards={self.backward_layer.go_backwards}")
        for name in ("stateful", "return_sequences", "return_state"):
            ahead, behind = [getattr(la, name) for la in (self.forward_layer, self.backward_layer)]
            if ahead != behind:
                raise ValueError(
                    "Forward layer and backward layer are expected to have the same value for"
                    f' attribute "{name}", got "{ahead}" for forward layer and "{behind}" for'
                    " backward layer")
        for one in (self.forward_layer, self.backward_layer):
            one.zero_output_for_mask = one.return_sequences
        self.merge_mode, self.first_weights = merge_mode, weights
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.stateful = layer.stateful
        self.supports_masking = True
        self.input_spec = InputSpec(ndim=3)

    def build(self, sequences_shape: Any = None) -> None:
        """Make the variables of both directions."""
        for one in (self.forward_layer, self.backward_layer):
            if not one.built:
                one.build(sequences_shape)
                one.built = True
        if self.first_weights is not None:
            self.set_weights(self.first_weights)

    def reset_state(self) -> None:
        """Set the states of stateful layers to zeros."""
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    reset_states = reset_state

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return the mask of the sequences that it returns."""
        mask = engine.flatten(previous_mask)[0] if self.return_sequences else None
        return mask if self.merge_mode else (mask, mask)

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None,
             training: Any = None) -> Any:
        """Apply the layer in both directions, and join what it gives."""
        half = len(initial_state) // 2 if initial_state is not None else 0
        halves = (None, None) if initial_state is None else (
            list(initial_state[:half]), list(initial_state[half:]))
        options = {"training": training, "mask": mask}
        y, back = [one(sequences, initial_state=state, **options) for one, state in zip(
            (self.forward_layer, self.backward_layer), halves, strict=True)]
        states: tuple[Any, ...] = ()
        if self.return_state:
            states = (*y[1:], *back[1:])
            y, back = y[0], back[0]
        if self.return_sequences:
            back = tf.reverse(back, [1])
        if self.merge_mode is None:
            return (y, back, *states)
        joined = {"concat": lambda: tf.concat([y, back], -1), "sum": lambda: y + back,
                  "ave": lambda: (y + back) / 2, "mul": lambda: y * back}[self.merge_mode]()
        return (joined, *states) if states else joined
