"""Tapes and custom gradients with TensorFlow's semantics, on gradcli's own."""

from __future__ import annotations

import enum
from functools import partial
from sys import _getframe

from gradcli.base.errors import GradcliError
from gradcli.engine.record import tensor as engine
from gradcli.engine.tapes import custom
from gradcli.python import tapes
from gradcli.tf.slices import gradients as with_slices
from gradcli.tf.tensor import as_tensor, convert_to_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class UnconnectedGradients(enum.Enum):
    """What stands for a gradient where no path joins target and source."""

    NONE = "none"
    ZERO = "zero"


listener: Any = None
"""Who hears the answers to all questions, called as (tape, target, sources, answer, frame)."""


def _heard(question: Callable[..., Any], tape: Any, target: Any, sources: Any, *options: Any
           ) -> Any:
    """Put a question of the engine's to a tape, and let the listener hear the answer, or the error
    that there was in its place.
    """
    try:
        found = answer(question(tape, target, sources, *options))
    except GradcliError as problem:
        if listener is not None:
            listener(tape, target, sources, problem, _getframe(2))
        raise
    if listener is not None:
        listener(tape, target, sources, found, _getframe(2))
    return found


def answer(found: Any) -> Any:
    """Return gradients, nested as they are, as tensors with TensorFlow's manners."""
    return engine.like(found, [
        as_tensor(g) if isinstance(g, engine.Tensor) else g for g in engine.flatten(found)])


class GradientTape(tapes.GradientTape):
    """A tape that records operations for differentiation, as tf.GradientTape."""

    __slots__ = ()

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        super().__init__(persistent, watch_accessed_variables, tensorflow_semantics=True)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the gradient of the sum of all elements of all targets, nested as `sources`."""
        return _heard(partial(with_slices, tapes.GradientTape.gradient), self, target, sources,
                      output_gradients, _word(unconnected_gradients))

    def jacobian(self, target: Any, sources: Any,
                 unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """Return for each source the Jacobian, target shape + source shape."""
        return _heard(tapes.GradientTape.jacobian, self, target, sources,
                      _word(unconnected_gradients), parallel_iterations, experimental_use_pfor)

    def batch_jacobian(self, target: Any, source: Any,
                       unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """Return the Jacobians of row i of the target in row i of the source, for all i."""
        return _heard(tapes.GradientTape.batch_jacobian, self, target, source,
                      _word(unconnected_gradients), parallel_iterations, experimental_use_pfor)


class ForwardAccumulator(tapes.ForwardAccumulator):
    """An accumulator of directional derivatives, as tf.autodiff.ForwardAccumulator."""

    __slots__ = ()

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the directional derivatives of values computed in the block."""
        return answer(super().jvp(primals, _word(unconnected_gradients)))


def _word(unconnected: Any) -> Any:
    return unconnected.value if isinstance(unconnected, UnconnectedGradients) else unconnected


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a gradient of its own: `f` returns its value and `grad(upstream)`."""
    def with_manners(*args: Any, **options: Any) -> Any:
        made, grad = f(*answer(list(args)), **options)

        def rule(*upstream: Any, **more: Any) -> Any:
            return grad(*answer(list(upstream)), **more)

        rule.__wrapped__ = grad  # type: ignore[attr-defined]
        return made, rule

    with_manners.__wrapped__ = f  # type: ignore[attr-defined]
    with_manners.__name__ = getattr(f, "__name__", "custom")
    call = custom.custom_gradient(with_manners)

    def called(*args: Any, **options: Any) -> Any:
        return answer(call(*[convert_to_tensor(a) if _is_number(a) else a for a in args],
                           **options))

    called.__name__ = getattr(f, "__name__", "custom")
    called.__doc__ = f.__doc__
    return called


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose values are computed again for the gradient."""
    call = custom.recompute_grad(f)
    return lambda *args, **options: answer(call(*args, **options))


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose gradient is the upstream one unchanged."""
    return custom_gradient(lambda *args: (f(*args), lambda *upstream: upstream))


def RegisterGradient(op_type: str) -> Callable[..., Any]:
    """Return a decorator that makes `rule(op, upstream)` the gradient of an operation."""
    from types import SimpleNamespace

    name = "".join([f"_{c.lower()}" if c.isupper() else c for c in op_type]).lstrip("_")
    register = custom.register_gradient(name.removesuffix("v2").removesuffix("_v2"))
    return lambda rule: register(lambda upstream, *inputs: rule(
        SimpleNamespace(inputs=answer(list(inputs))), answer(upstream)))


def no_gradient(op_type: str) -> None:
    """Say that an operation has no gradient."""
    RegisterGradient(op_type)(lambda op, upstream: [None] * len(op.inputs))


def gradients(*args: Any, **options: Any) -> Any:
    """Raise RuntimeError, as TensorFlow does outside a graph."""
    raise RuntimeError("tf.gradients is not supported when eager execution is enabled."
                       " Use tf.GradientTape instead.")
