"""What is differentiated, in the run that was asked for and in others."""

from __future__ import annotations

from gradcli import calculus
from gradcli.lang.targets import parts
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.answers.ask import Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target
    from gradcli.tape.tensor import Tensor


class Function:
    """The elements of a target; or, with a row, the gradient of their sum by that source. Made in
    the record of its run. tensors: those there. ranged: whether that gradient left the range of
    floats on the way; if it did not, it does not beside the point, where differences ask.
    """

    __slots__ = ("ask", "ranged", "row", "target", "tensors")

    def __init__(self, ask: Ask, target: Target, row: Binding | None = None) -> None:
        self.ask = ask
        self.target = target
        self.row = row
        self.ranged = True
        self.tensors = self._of(target, row)
        if row is not None and self.tensors:
            (plain,) = calculus.gradient(parts(target), [ask.source(row)], ranged=False)
            self.ranged = not np.array_equal(self.tensors[0].value, plain, equal_nan=True)

    def again(self, run: Run) -> list[Tensor]:
        """The tensors of another run of the program, whose record is open."""
        row = None if self.row is None else self.source(run, self.row)
        return self._of(self.ask.same_target(run, self.target), row)

    def source(self, run: Run, binding: Binding) -> Binding:
        """A source in another run."""
        return self.ask.program.sources(run, [binding.name])[0]

    def _of(self, target: Target, row: Binding | None) -> list[Tensor]:
        tensors = parts(target)
        if row is None:
            return tensors
        (g,) = calculus.gradient(tensors, [self.ask.source(row)], emit=True,
                                 ranged=self.ranged)
        return [] if g is None else [g]
