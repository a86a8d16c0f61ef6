"""Twenty operations on arrays of eight numbers, recorded and swept back: what an operation costs
where there is nothing to compute. Python tensors beside torch eager and TensorFlow's tape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.harness.case import CHECKOUT, Case, Ratio, Worker

SIZE, TURNS = 8, 4


def function(x: Any, w: Any, tanh: Callable[[Any], Any], exp: Callable[[Any], Any]) -> Any:
    """Return the array before its sum: 1 + 4 * 5 operations, the negative included."""
    a = x * w
    for _ in range(TURNS):
        a = tanh(a) + x
        a = exp(-(a * w))
    return a


def data() -> tuple[Any, Any]:
    import numpy as np

    return np.linspace(0.1, 1, SIZE), np.full(SIZE, 0.5)


def gradcli() -> Callable[[], Any]:
    from gradcli import GradientTape, Variable, ops

    x, w = map(Variable, data())

    def gradient() -> Any:
        with GradientTape() as tape:
            y = ops.sum(function(x, w, ops.tanh, ops.exp))
        return tape.gradient(y, [x, w])

    return gradient


def of_tape(tf: Any) -> Callable[[], Any]:
    """Return the gradient by a tape with TensorFlow's names."""
    x, w = (tf.Variable(value) for value in data())

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(x, w, tf.tanh, tf.exp))
        return [g.numpy() for g in tape.gradient(y, [x, w])]

    return gradient


def names() -> Callable[[], Any]:
    import gradcli.tf as tf

    return of_tape(tf)


def tensorflow() -> Callable[[], Any]:
    import tensorflow as tf

    return of_tape(tf)


def torch() -> Callable[[], Any]:
    import torch as t

    x, w = (t.tensor(value, requires_grad=True) for value in data())
    return lambda: t.autograd.grad(function(x, w, t.tanh, t.exp).sum(), [x, w])


CASES = [
    Case("small-arrays", "20 operations on arrays of 8 numbers, forward and back", [
        Worker("gradcli", CHECKOUT, gradcli),
        Worker("gradcli.tf", CHECKOUT, names),
        Worker("torch", "torch", torch),
        Worker("TensorFlow tape", "tensorflow", tensorflow),
    ], [Ratio("gradcli", "torch", 1.5), Ratio("gradcli.tf", "torch", 1.5),
        Ratio("gradcli.tf", "TensorFlow tape")]),
]
