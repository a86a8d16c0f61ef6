"""A Jacobian between weights and directions, by sweeps and by differences of the whole program."""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.finite import SEEN, TRUSTED, best
from gradcli.engine.sweeps.derivatives import size
from gradcli.lang.running.run import parts
from gradcli.ops.values import dtype_of, plain, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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


NEAR = 1e-6     # the step of one-sided differences, which only have to tell a kink
CLOSER = 8.0    # times shorter, to tell a kink from a bend
FLAT = 1e-3     # of a jump is what the value beside it changes by
SHIFTS = (-2e-13, -1e-13, 1e-13, 2e-13)


def reverse(targets: Sequence[Tensor], source: Tensor, along: Directions, weight: float = 1.0
            ) -> Any:
    """Return the derivatives row by row by a reverse sweep, times the directions; None where no
    path leads. weight: of all cotangents, which the answer is divided by.
    """
    rows = []
    for k in range(len(along.rows)):
        (g,) = calculus.gradient(targets, [source], seeds=[
            typed(w, t.value) for w, t in zip(along.weights(k, weight), targets, strict=True)])
        rows.append(None if g is None else np.asarray(g, float).ravel() / weight)
    if all(row is None for row in rows):
        return None
    n = along.columns.shape[1]
    lines = np.stack([np.zeros(n) if row is None else row for row in rows])
    with quiet():
        return lines @ along.columns.T if along.random else lines


def forward(targets: Sequence[Tensor], source: Tensor, along: Directions) -> Any:
    """Return the derivatives column by column by a tangent sweep, times the weights."""
    columns = []
    for k in range(len(along.columns)):
        v = typed(along.direction(k), source.value)
        found = [calculus.jvp(t, [source], [v]) for t in targets]
        columns.append(along.of_values([
            np.zeros(t.shape) if d is None else np.asarray(d, float)
            for t, d in zip(targets, found, strict=True)]))
    return np.stack(columns, axis=-1)


class Differences:
    """By central differences: values, an error estimate of each, and for each column the largest
    value that was met, divided by the step: rounding makes some last digits of that of a slope
    of 0. The slopes to the left and right of the point; ends: what these tend to, and their size.
    """

    __slots__ = ("ends", "errors", "left", "noise", "right", "values")

    def __init__(self, columns: Sequence[tuple[Any, Any, float, Any, Any, Any]]) -> None:
        values, errors, noise, left, right, ends = zip(*columns, strict=True)
        self.values = np.stack(values, axis=-1)
        self.errors = np.stack(errors, axis=-1)
        self.noise = np.array(noise)
        self.left = np.stack(left, axis=-1)
        self.right = np.stack(right, axis=-1)
        self.ends = np.stack(ends, axis=-1)


def central(function: CheckedFunction, binding: Binding, along: Directions) -> Differences:
    """Return the differences column by column by Ridders' method on runs of the whole program."""
    value = binding.value.value
    columns = []
    with quiet():
        for k in range(len(along.columns)):
            v = along.direction(k)
            length = max(1.0, float(np.abs(np.asarray(v)).max()))
            # Steps are relative to the element that moves; in a random direction all do.
            size = float(np.median(np.abs(value))) if along.random else (
                abs(float(np.ravel(value)[k])))

            def moved(t: float, v: Any = v) -> Any:
                return _values(function, binding, value + t * v, along)

            columns.append(_column(moved, size, length))
    return Differences(columns)


def _column(moved: Callable[[float], Any], size: float, length: float
            ) -> tuple[Any, Any, float, Any, Any, Any]:
    """Return the slope of `moved` at 0, its error, the noise and the slopes on both sides, infinite
    at a jump; and the slopes that both sides tend to, with the size of the slopes beside.

    Where the function allows steps as long as the number that moves, these are taken.
    """
    found = best(moved, 0.0, size)
    near = NEAR * found.step / length
    here, below, above = moved(0.0), moved(-near), moved(near)
    nearer_below, nearer_above = moved(-near / CLOSER), moved(near / CLOSER)
    left, right = (here - below) / near, (above - here) / near
    # The bend of a smooth function goes away with the step, that of a kink stays.
    bend = abs(nearer_above - 2.0 * here + nearer_below) * CLOSER / near
    smooth = bend < 0.5 * abs(right - left)
    middle = (left + right) / 2.0
    left, right = [
        np.where(_jumps(here, side, nearer), np.copysign(np.inf, slope),
                 np.where(smooth, middle, slope))
        for side, nearer, slope in ((below, nearer_below, left), (above, nearer_above, right))]
    noise = float(np.max(found.noise, initial=0.0))
    ends = np.full((3, *np.shape(here)), np.nan)
    if np.any(found.error > TRUSTED * np.abs(found.value)):
        ends = _ends(moved, here, NEAR * max(1.0, size) / length)
    return found.value, found.error, noise, left, right, ends


def _ends(moved: Callable[[float], Any], here: Any, near: float) -> Any:
    """Return what the slopes on both sides tend to, extrapolated, and the size of those beside."""
    slopes = [[(moved(side * h) - here) / (side * h) for h in (near, near / CLOSER)]
              for side in (-1.0, 1.0)]
    return np.stack([*[(nearer * CLOSER - far) / (CLOSER - 1.0) for far, nearer in slopes],
                     np.maximum(*[abs(far) for far, _ in slopes])])


def _jumps(here: Any, side: Any, nearer: Any) -> Any:
    """Return whether a function has another value beside a point, however near."""
    gap = abs(side - here)
    return (abs(side - nearer) < FLAT * gap) & (gap > SEEN * np.maximum(abs(here), abs(side)))


def _like(value: Any, x: Any) -> Any:
    """Return x in the type of a value."""
    if shape_of(value) or type(value) is not float:
        return np.asarray(x).astype(np.asarray(value).dtype)
    return float(x)


def _values(function: CheckedFunction, binding: Binding, x: Any, along: Directions) -> Any:
    run = function.question.run({binding.name: _like(binding.value.value, x)})
    with run.record:
        tensors = function.again(run)
    if [t.shape for t in tensors] != along.row_shapes:
        return np.full(len(along.rows), np.nan)
    return along.of_values([np.asarray(t.value, float) for t in tensors])


def reverse_moved(function: CheckedFunction, binding: Binding, along: Directions,
                  moved: float) -> Any:
    """Return the reverse sweep of a run where the source has moved by a little, relative; None
    where that goes another way.
    """
    value = binding.value.value
    run = function.question.run({binding.name: _like(value, np.asarray(value) * (1.0 + moved))})
    with run.record:
        tensors = function.again(run)
        if [t.shape for t in tensors] != along.row_shapes:
            return None
        return reverse(tensors, function.question.source(run, function.source(run, binding)), along)


def unchangeable(run: Run, binding: Binding) -> str:
    """Return why a run with another value does not answer the question; empty if it does."""
    if binding.kind == "computed":
        return f"{binding.name} is computed: no other value can be given to it"
    if binding.kind == "constant":
        return f"{binding.name} is a const: no other value can be given to it"
    for name, variable in run.variables.items():
        if variable.id != variable.origin().id:
            return f"{name} is assigned in the file: a run from another point goes elsewhere"
    return ""
