"""The tapes of Python code: those of the engine, with `why` for answers None, NaN and 0."""

from __future__ import annotations

from sys import _getframe

from gradcli.engine.record.provenance import caller
from gradcli.engine.tapes import accumulator, tape
from gradcli.engine.tapes.requests import one_tensor, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.explain.python.why import Reason


class GradientTape(tape.GradientTape):
    """A tape that records operations for differentiation.

        x = gradcli.Variable(3.0)
        with gradcli.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)

    persistent: may be asked more than once. watch_accessed_variables: trainable variables are
    watched when they are read. tensorflow_semantics: answer as TensorFlow does where gradcli's own
    answer is another one: None, not 0, for the derivative of a derivative that does not depend on
    the source; a batch Jacobian sums over rows and is never None; of the output gradients, missing
    ones are ones and surplus ones are ignored.
    """

    __slots__ = ()

    def why(self, target: Any, source: Tensor) -> list[Reason]:
        """Return the causes why the gradient of `target` with respect to `source` is None, NaN or
        infinite, or 0 everywhere, the one to mend first on top; empty if nothing is wrong.

        Each has `answer`, `code`, `message`, `file`, `line`, `column`, `related` and `fix`; str()
        tells it in three lines. For a 0 that stands for a derivative that does not depend on the
        source there is one, with the code "derivative-constant".

        It may be called any number of times, before a question or after one with such an answer.
        Raises E0310 for what is not a tensor, E0501 for a tape that was used up by another answer,
        E0502 for one never entered.
        """
        from gradcli.explain.python.why import why

        self.check_explainable()
        tensors_of(target, "target")
        return why(self, target, one_tensor(source, "source"), *caller(_getframe(1)))


class ForwardAccumulator(accumulator.ForwardAccumulator):
    """An accumulator of the directional derivatives of what is computed in its block.

        with gradcli.ForwardAccumulator(x, v) as acc:
            y = f(x)
        acc.jvp(y)

    primals: tensors or variables, or a structure of them. tangents: the direction, in the same
    structure and shapes. Raises E0310 (no tensor, the same primal twice), E0313 (structures
    differ), E0301 (shapes differ), E0302 (types differ).
    """

    __slots__ = ()

    def why(self, value: Tensor) -> list[Reason]:
        """Return the causes why `jvp(value)` is None, as `GradientTape.why` does; else empty.

        Raises E0310 for what is not a tensor.
        """
        from gradcli.explain.python.why import why_forward

        value = one_tensor(value, "value")
        return why_forward(self, value, *caller(_getframe(1)))
