"""The moves of elements by a linear row, found by running it on numbers.

Run on 1, 2, 3, ... a row that moves, repeats or scales elements shows where each came from: its
result, divided by its result on ones, is the number of the element. A row that adds elements does
not, but then its transpose, which its VJP is, moves them back. So a new row needs no rule for its
structure. Each result is checked on random numbers.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import ANS, ATTRIBUTES, BATCH, OP, VALUES
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.ops.kinds import LINEAR
from gradcli.ops.values import is_complex, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

    # (argument, elements of the answer, elements of the argument that they depend on)
    Pairs = tuple[int, Any, Any]

# Directions of the other operand of a product that are tried one by one.
MAX_UNITS = 256
# Elements of a matrix that is built to see where it is not 0.
MAX_MATRIX = 4_000_000
# The largest relative rounding of a number that was multiplied and divided again.
ROUNDING = 1e-12


class LinearEntry:
    """A linear or multilinear entry, to be run on other operands.

    dependent: the operands that depend on a source.
    varying: ids of those that are others at another point.
    together: whether it is linear in all of them at once.
    """

    __slots__ = ("data", "entry", "random", "shapes", "together", "values")

    def __init__(self, entry: Entry, dependent: Sequence[int], varying: Collection[int]) -> None:
        op = entry[OP]
        self.entry = entry
        self.together = op.kind == LINEAR
        self.random = np.random.default_rng(0)
        # Constants stand as they are, so that where they are 0 nothing depends; what varies is
        # anything.
        self.values: list[Any] = [
            self.numbers(shape_of(v)) if k in dependent or k in varying
            else _real(v) if op.edge(k) else v for k, v in enumerate(entry[VALUES])]
        self.data = [k for k in range(len(self.values)) if op.edge(k)]
        self.shapes = [shape_of(v) for v in self.values]

    def numbers(self, shape: Sequence[int]) -> Any:
        """Return random positive numbers."""
        return self.random.uniform(1.0, 2.0, tuple(shape))

    def run(self, changed: dict[int, Any]) -> Any:
        """Return the result for other operands, which may have axes before their own."""
        op, batches = self.entry[OP], self.entry[BATCH] or (0,) * (len(self.values) + 1)
        values = [changed.get(k, v) for k, v in enumerate(self.values)]
        cores = [len(s) - b for s, b in zip(self.shapes, batches, strict=False)]
        assert op.arrays is not None
        return np.asarray(op.arrays(cores, *values, **self.entry[ATTRIBUTES]))

    def pull_back(self, k: int, g: Any) -> Any:
        """Return the share of a cotangent that argument k gets."""
        op, batches = self.entry[OP], self.entry[BATCH] or (0,) * (len(self.values) + 1)
        *xs, ans, g = [Tensor(v, None, b) if self.entry[BATCH] else v for v, b in zip(
            (*self.values, self.entry[ANS], g), (*batches, batches[-1]), strict=True)]
        rule = op.rules[0 if op.by_parts else min(k, len(op.rules) - 1)]
        found = rule(g, ans, *xs, **self.entry[ATTRIBUTES])  # type: ignore[misc, operator]
        return np.asarray(value_of(found[k] if op.by_parts else found))


def _real(value: Any) -> Any:
    value = np.abs(value) if is_complex(value) else value
    return np.asarray(value, float)


def gathered(entry: Entry, dependent: Sequence[int], varying: Collection[int] = ()) -> Any:
    """Return the origin of each element of the result of a linear row: 0 for none, else one more
    than its index in all data arguments, one behind the other. None if an element has several
    origins.
    """
    row = LinearEntry(entry, dependent, varying)
    sizes = [int(np.prod(row.shapes[k], dtype=np.int64)) for k in row.data]
    ends = np.cumsum(sizes).tolist()

    def run(numbers: Any) -> Any:
        return row.run({k: numbers[end - n:end].reshape(row.shapes[k])
                        for k, n, end in zip(row.data, sizes, ends, strict=True)})

    return _origins(run, sum(sizes), row.numbers)


def pairs(entry: Entry, dependent: Sequence[int], varying: Collection[int] = ()
          ) -> list[Pairs] | None:
    """Return for each dependent argument the pairs of dependent elements; None if they are unknown.

    Each is (k, elements of the result, elements of argument k).
    """
    row = LinearEntry(entry, dependent, varying)
    found: list[Pairs] = []
    for k in dependent:
        made = _transposed(row, k) or _by_units(row, k) or _by_basis(row, k)
        if made is None:
            return None
        found.append((k, *made))
    return found


def _origins(run: Callable[[Any], Any], n: int, numbers: Callable[[Sequence[int]], Any]) -> Any:
    """Return for each element of the result of `run` the number, from 1, of the one element that it
    is a multiple of; 0 for none. None if `run` is no linear function of that kind.

    run: a linear function of n numbers. numbers: function from a shape to random numbers.
    """
    with quiet():
        unit, counted = run(np.ones(n)), run(np.arange(1.0, n + 1.0))
        used = unit != 0
        if not n or counted[~used].any():
            return None
        ratio = counted[used] / unit[used]
        if not np.all((ratio > 0.5) & (ratio < n + 0.5)):
            return None
        where = np.zeros(unit.shape, np.int64)
        where[used] = np.rint(ratio)
        if np.any(np.abs(ratio - where[used]) > ROUNDING * ratio):
            return None
        values = numbers((n,))
        checked, expected = run(values), unit * np.concatenate(([0.0], values))[where]
        fits = np.abs(checked - expected) <= ROUNDING * np.abs(expected)
    return where if fits.all() else None


def _transposed(row: LinearEntry, k: int) -> tuple[Any, Any] | None:
    """Return the moves of the VJP, transposed, if each element gets one cotangent, else None."""
    shape = shape_of(row.entry[ANS])
    size = int(np.prod(shape, dtype=np.int64))
    where = _origins(lambda g: row.pull_back(k, g.reshape(shape)), size, row.numbers)
    if where is None or where.shape != row.shapes[k]:
        return None
    places = np.flatnonzero(where)
    return where.ravel()[places] - 1, places


def _by_units(row: LinearEntry, k: int) -> tuple[Any, Any] | None:
    """Return the pairs of a product, one element of its other operand at a time, else None."""
    others = [j for j in row.data if j != k]
    if row.together or len(others) != 1 or not row.shapes[k]:
        return None
    (other,) = others
    units = np.flatnonzero(row.values[other])
    size = int(np.prod(row.shapes[k], dtype=np.int64))
    if len(units) > MAX_UNITS or len(units) * size > MAX_MATRIX:
        return None
    outs, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for u in units:
        direction = np.zeros(row.shapes[other])
        direction.ravel()[u] = 1.0

        def run(numbers: Any, direction: Any = direction) -> Any:
            return row.run({k: numbers.reshape(row.shapes[k]), other: direction})

        where = _origins(run, size, row.numbers)
        if where is None:
            return None
        outs.append(np.flatnonzero(where))
        places.append(where.ravel()[outs[-1]] - 1)
    return np.concatenate(outs), np.concatenate(places)


def _by_basis(row: LinearEntry, k: int) -> tuple[Any, Any] | None:
    """Return the pairs of the whole matrix, if it is small, else None."""
    shape = row.shapes[k]
    n = int(np.prod(shape, dtype=np.int64))
    size = int(np.prod(shape_of(row.entry[ANS]), dtype=np.int64))
    if row.entry[BATCH] or n * size > MAX_MATRIX:
        return None
    others = {j: np.zeros(row.shapes[j]) for j in row.data if j != k} if row.together else {}
    with quiet():
        matrix = row.run({k: np.eye(n).reshape((n, *shape)), **others})
    places, outs = np.nonzero(np.broadcast_to(matrix, (n, *shape_of(row.entry[ANS]))
                                              ).reshape(n, size))
    return outs, places
