"""The function that is differentiated, in the run that was asked for and in others."""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.sweeps.derivatives import size
from gradcli.lang.running.run import parts
from gradcli.ops.values import dtype_of, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.ops.values import Shape
    from gradcli.questions.question import Question


class CheckedFunction:
    """The elements of a target; or, with a row, the gradient of their sum by that source. Made in
    the record of its run. tensors: those there. ranged: whether that gradient left the range of
    floats on the way; if it did not, it does not beside the point, where differences ask.
    """

    __slots__ = ("question", "ranged", "row", "target", "tensors")

    def __init__(self, question: Question, run: Run, target: Target,
                 row: Binding | None = None) -> None:
        self.question = question
        self.target = target
        self.row = row
        self.ranged = True
        self.tensors = self._of(run, target, row)
        if row is not None and self.tensors:
            (plain,) = calculus.gradient(parts(target), [question.source(run, row)], ranged=False)
            self.ranged = not np.array_equal(self.tensors[0].value, plain, equal_nan=True)

    def again(self, run: Run) -> list[Tensor]:
        """Return the tensors of another run of the program, whose record is open."""
        row = None if self.row is None else self.source(run, self.row)
        return self._of(run, self.question.same_target(run, self.target), row)

    def source(self, run: Run, binding: Binding) -> Binding:
        """Return a source in another run."""
        return self.question.program.sources(run, [binding.name])[0]

    def _of(self, run: Run, target: Target, row: Binding | None) -> list[Tensor]:
        tensors = parts(target)
        if row is None:
            return tensors
        (g,) = calculus.gradient(tensors, [self.question.source(run, row)], emit=True,
                                 ranged=self.ranged)
        return [] if g is None else [g]


# --------------------------------------------------------------------------------------------------
# Which numbers of a Jacobian are compared: all of a small one, else some in random directions.

LARGE = 64      # elements of a source or target from which on directions take their place
COUNT = 8       # how many directions
SEED = 20


def typed(weight: Any, value: Any) -> Any:
    """Return a weight or direction in the type of the value it is for: types do not mix."""
    return plain(np.asarray(weight, np.float32)) if dtype_of(value) == "float32" else weight


class Directions:
    """Weights of the targets' elements (rows) and directions of the source (columns), as arrays
    of one line each. random: not the unit vectors.
    """

    __slots__ = ("column_shape", "columns", "random", "row_shapes", "rows")

    def __init__(self, targets: Sequence[Shape], source: Shape) -> None:
        self.row_shapes = list(targets)
        self.column_shape = source
        m, n = sum(map(size, targets)), size(source)
        stream = np.random.default_rng(SEED)
        self.rows = np.eye(m) if m <= LARGE else stream.standard_normal((COUNT, m))
        self.columns = np.eye(n) if n <= LARGE else stream.standard_normal((COUNT, n))
        self.random = m > LARGE or n > LARGE

    def weights(self, row: int, factor: float = 1.0) -> list[Any]:
        """Return a row as one cotangent for each target."""
        found, start = [], 0
        for shape in self.row_shapes:
            piece = factor * self.rows[row, start:start + size(shape)]
            found.append(piece.reshape(shape) if shape else float(piece[0]))
            start += size(shape)
        return found

    def direction(self, column: int) -> Any:
        """Return a column in the shape of the source."""
        line = self.columns[column]
        return line.reshape(self.column_shape) if self.column_shape else float(line[0])

    def of_values(self, values: Sequence[Any]) -> Any:
        """Return the rows' weighted sums of the targets' elements."""
        flat = np.concatenate([np.reshape(v, -1) for v in values])
        with quiet():
            return self.rows @ flat if len(self.rows) != len(flat) or self.random else flat

    def labels(self) -> Iterator[tuple[int, int, Any, Any]]:
        """Yield (row, column, index in the target, index in the source); None for random ones."""
        whole = len(self.row_shapes) == 1
        for i in range(len(self.rows)):
            for j in range(len(self.columns)):
                yield i, j, self._index(
                    i, self.row_shapes[0] if whole else (len(self.rows),), self.rows), self._index(
                        j, self.column_shape, self.columns)

    def _index(self, k: int, shape: Shape, lines: Any) -> list[int] | None:
        if len(lines) != size(shape):
            return None
        return [int(i) for i in np.unravel_index(k, shape)] if shape else []
