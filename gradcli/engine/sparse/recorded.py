"""Jacobians and Hessians whose coloured sweep goes on the record.

The sweep can run again at other points, and its values are put together there without another look
at the structure.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.sparse import sweeps
from gradcli.engine.sparse.colouring import compressed
from gradcli.engine.sparse.sweeps import Flattened
from gradcli.engine.sparse.triples import Triples
from gradcli.engine.sweeps import reverse, tangent
from gradcli.engine.sweeps.derivatives import size
from gradcli.ops.values import plain, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from gradcli.engine.sparse.colouring import Compression
    from gradcli.ops.values import Shape


class Matrix:
    """Derivatives of some tensors in others, from a sweep that is on the record.

    varying: ids of values that are others at another point.
    tensors: the result of the sweep, in compressed form.
    there: whether a derivative leads from source j to target i.
    """

    __slots__ = ("_alone", "_blocks", "_shapes", "_sources", "_sparse", "_targets", "tensors",
                 "there")

    def __init__(self, targets: Sequence[Tensor], sources: Sequence[Tensor], sparse: bool,
                 symmetric: bool = False, varying: Collection[int | None] = ()) -> None:
        entries = records.current().history()
        self._targets, self._sources = Flattened(targets), Flattened(sources)
        self._sparse = sparse
        known = sweeps.reaching(entries, sources)
        self.there = [[t.id is not None and bool(known.get(t.id, 0) >> j & 1)
                       for j in range(len(sources))] for t in targets]
        matrix = sweeps.structure(entries, self._targets, self._sources, varying)
        plan = sweeps.plan_of_hessian(entries, matrix) if symmetric else compressed(matrix)
        carried, seeded = (self._targets, self._sources) if plan.by_columns else (
            self._sources, self._targets)
        found: dict[int, Any] = {}
        with quiet():
            if plan.count:
                sweep: Any = tangent.tangents if plan.by_columns else reverse.reverse
                found = sweep(entries, seeded.seeds(plan.seeds()),
                              [t.id for t in carried.tensors if t.id is not None], emit=True)
        self._place(plan, carried, found)

    def _place(self, plan: Compression, carried: Flattened, found: dict[int, Any]) -> None:
        """Find the index of each element in the values of the sweep, one behind the other."""
        self.tensors: list[Any] = []
        self._shapes: list[tuple[int, ...]] = []
        # What no sweep reached stands behind all others, as a 0.
        places = np.full((plan.count, carried.size), -1)
        held = 0
        for t, (a, b) in zip(carried.tensors, carried.spans(), strict=True):
            if t.id in found:
                made = found[t.id]
                shape = (plan.count, *t.shape)
                self.tensors.append(made if isinstance(made, Tensor) else Tensor(made, None, 0))
                self._shapes.append(shape)
                n = plan.count * (b - a)
                places[:, a:b] = np.arange(held, held + n).reshape(plan.count, b - a)
                held += n
        slots = places.ravel()[plan.slots]
        self._alone = len(self.tensors) == 1 and not np.any(slots < 0)
        rows, columns = plan.matrix.rows, plan.matrix.columns
        self._blocks = []
        for (a, b), target in zip(self._targets.spans(), self._targets.shapes, strict=True):
            line: list[MatrixBlock] = []
            for (first, end), source in zip(
                    self._sources.spans(), self._sources.shapes, strict=True):
                here = np.flatnonzero(
                    (rows >= a) & (rows < b) & (columns >= first) & (columns < end))
                line.append(MatrixBlock(target, source, rows[here] - a, columns[here] - first,
                                        slots[here]))
            self._blocks.append(line)

    def blocks(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return for each target and source the block, None where no derivative leads, from the
        values of `tensors` at a point.
        """
        flat = [(v if shape_of(v) == s else np.broadcast_to(v, s)).reshape(-1)
                for v, s in zip(values, self._shapes, strict=True)]
        whole = flat[0] if self._alone else np.concatenate([*flat, np.zeros(1)])
        return [[self._blocks[i][j].of(whole, self._sparse) if there else None
                 for j, there in enumerate(line)] for i, line in enumerate(self.there)]


class MatrixBlock:
    """A block of a matrix.

    rows, columns: of its elements in order.
    slots: their indices in the values of a sweep.
    places: their indices in the dense block, None if that is everywhere.
    """

    __slots__ = ("columns", "places", "rows", "shape", "size", "slots", "source", "target")

    def __init__(self, target: Shape, source: Shape, rows: Any, columns: Any, slots: Any) -> None:
        self.target, self.source, self.shape = target, source, target + source
        self.rows, self.columns, self.slots = rows, columns, slots
        self.size = size(self.shape)
        full = len(slots) == self.size
        self.places = None if full else rows * size(source) + columns

    def of(self, values: Any, sparse: bool) -> Any:
        """Return the block with these values."""
        found = values.take(self.slots)
        if sparse:
            return Triples(self.target, self.source, self.rows, self.columns, found)
        if self.places is not None:
            some, found = found, np.zeros(self.size, found.dtype)
            found[self.places] = some
        return found.reshape(self.shape) if self.shape else plain(found.reshape(()))
