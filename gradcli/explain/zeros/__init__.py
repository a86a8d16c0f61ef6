"""Why a gradient is exactly 0 although a path leads from its source to the target.

The reverse sweep is repeated, and what each operand got of a cotangent is kept. From the source
the trail goes up along shares that are 0, to the operations where a cotangent that was not 0 became
0: those nearest to the target.

| code | meaning |
|---|---|
| zero-flat | the operation is flat: its slope is 0 wherever it has one |
| zero-dead | its slope is 0 here: relu below 0, the losing side of a maximum, a factor 0 |
| zero-cancelled | parts that are not 0 add up to 0 |
| derivative-constant | a derivative of a derivative in which the source does not occur |

A smooth slope that just vanishes at this point (x^2 at 0) needs no word, and where a convention at
a kink decided, the note on the kink has said it.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.explain.reason import Note
from gradcli.explain.zeros.swept import Swept
from gradcli.explain.zeros.way import Way
from gradcli.ops.lazy import np, quiet
from gradcli.sweeps import constant
from gradcli.tape.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.run import Run
    from gradcli.source import Source


class Gradients:
    """Why gradients of the same targets are exactly 0.

    seeds: cotangents of the targets, by default ones. sources: ids of all sources that may be asked
    about: one sweep is for all of them.
    """

    __slots__ = ("run", "sources", "swept", "targets")

    def __init__(self, run: Run, targets: Sequence[Tensor], seeds: Sequence[Any],
                 sources: Sequence[int], source: Source) -> None:
        self.run = run
        self.targets = targets
        self.sources = sources
        self.swept = Swept(run, targets, seeds, sources, source)

    def why(self, wrt: int) -> list[Note]:
        """Why the gradient in the value `wrt` (an id) is 0; nothing to say, nothing in the list."""
        if is_constant(self.run, self.targets, wrt):
            return [constant_derivative(
                self.swept.named(wrt) or "the source", self.swept.first())]
        with quiet():
            return Way(self.swept, wrt).notes()


def of_gradient(run: Run, targets: Sequence[Tensor], seeds: Sequence[Any], wrt: int,
                source: Source) -> list[Note]:
    """Why the gradient of the targets in one source is exactly 0."""
    return Gradients(run, targets, seeds, [wrt], source).why(wrt)


def is_constant(run: Run, targets: Sequence[Tensor], wrt: int) -> bool:
    """Whether the targets are derivatives that do not depend on the value `wrt`."""
    record = run.record
    return bool(record.derived) and constant.is_constant(
        record.history(), record.derived, [t.id for t in targets if t.id is not None], [wrt])


def of_second(run: Run, target: Tensor, row: Tensor, column: Tensor, source: Source
              ) -> list[Note]:
    """Why the second derivatives of a target in two sources are exactly 0."""
    (first,) = calculus.gradient([target], [row], emit=True)
    if not isinstance(first, Tensor) or column.id is None:
        return []
    return of_gradient(run, [first], apart([first]), column.id, source)


def constant_derivative(name: str, span: Span | None) -> Note:
    """A derivative of a derivative in which the source does not occur. SEMANTICS calls the note
    so, and with TensorFlow's rules it is the cause of the None: one name for one thing.
    """
    return Note("derivative-constant", f"the first derivative does not depend on {name}: this one"
                " is 0", span)


def apart(targets: Sequence[Tensor]) -> list[Any]:
    """Seeds with which the rows of a Jacobian do not cancel: powers of 2, one for each element."""
    out: list[Any] = []
    for k, t in enumerate(targets):
        shape = t.shape
        n = int(np.prod(shape)) if shape else 1
        out.append(2.0 ** (np.arange(n) % 32).reshape(shape) if shape else 2.0 ** (k % 32))
    return out
