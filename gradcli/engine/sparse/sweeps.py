"""Sparse Jacobians and Hessians: structure, colours, and one sweep for all colours.

A matrix stands for the derivatives of several values in several sources, all of them flattened, one
behind the other.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, IDS, OP, OUT
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sparse.colouring import Sparse, compressed, symmetric
from gradcli.engine.sparse.pattern import MAX_ELEMENTS, identity, is_own, patterns, union
from gradcli.engine.sparse.triples import Triples
from gradcli.engine.sweeps import reverse, tangent
from gradcli.engine.sweeps.derivatives import size
from gradcli.engine.sweeps.extremes import extreme
from gradcli.ops.values import dtype_of, has_nan, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry, Segment
    from gradcli.engine.sparse.colouring import Compression
    from gradcli.engine.sparse.pattern import Pattern

# The sides that colours may have, by mode.
SIDES = {"auto": "any", "forward": "columns", "reverse": "rows"}


class Flattened:
    """Values flattened one behind the other: ends[k] is where the next after value k begins."""

    __slots__ = ("ends", "shapes", "size", "tensors")

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = list(tensors)
        self.shapes = [t.shape for t in tensors]
        self.ends: list[int] = []
        self.size = 0
        for shape in self.shapes:
            self.size += size(shape)
            self.ends.append(self.size)

    def spans(self) -> list[tuple[int, int]]:
        """Return (first, end) of each value."""
        return list(zip([0, *self.ends], self.ends, strict=False))

    def seeds(self, directions: Any) -> dict[int, Any]:
        """Return for the id of each value its part of all directions [direction, element], as a
        tensor whose batch axis is the direction. A value that occurs several times gets the sum of
        its parts.
        """
        found: dict[int, Any] = {}
        for t, (a, b) in zip(self.tensors, self.spans(), strict=True):
            if t.id is not None:
                part = directions[:, a:b].reshape((len(directions), *t.shape))
                found[t.id] = found[t.id] + part if t.id in found else part
        kinds = {t.id: dtype_of(t.value) for t in self.tensors}
        return {i: Tensor(part.astype(kinds[i], copy=False), None, 1)
                for i, part in found.items()}

    def collect(self, found: dict[int, Any], count: int) -> Any:
        """Return the result of a sweep in `count` directions, [direction, element]; 0 if none."""
        parts = [
            np.broadcast_to(value_of(found[t.id]), (count, *t.shape)).reshape(count, size(t.shape))
            if t.id in found else np.zeros((count, size(t.shape))) for t in self.tensors]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def structure(entries: Sequence[Entry], targets: Flattened, sources: Flattened,
              varying: Collection[int | None] = ()) -> Sparse:
    """Return the structure of the derivatives.

    varying: as in `patterns`. Raises E0403 where even the elements that can differ from 0 are too
    many.
    """
    found = _patterns(entries, targets, sources, varying)
    total = sum(p.count() for p in found.values())
    if total > MAX_ELEMENTS:
        raise error("E0403", f"{total:,} derivatives of {targets.size:,} x {sources.size:,} can"
                    " differ from 0: that is not sparse", help="name fewer sources with --wrt, or"
                    " fewer elements with --of")
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for t, (a, _) in zip(targets.tensors, targets.spans(), strict=True):
        if t.id in found:
            inner, across = found[t.id].rows()
            rows.append(inner + a)
            columns.append(across)
    return Sparse((targets.size, sources.size), np.concatenate(rows), np.concatenate(columns))


def nonzeros(entries: Sequence[Entry], targets: Flattened, sources: Flattened,
             varying: Collection[int | None] = ()) -> int:
    """Return the number of derivatives that can differ from 0."""
    return sum(p.count() for p in _patterns(entries, targets, sources, varying).values())


def _patterns(entries: Sequence[Entry], targets: Flattened, sources: Flattened,
              varying: Collection[int | None] = ()) -> dict[int, Pattern]:
    known: dict[int, Pattern] = {}
    for t, (a, _) in zip(sources.tensors, sources.spans(), strict=True):
        if t.id is not None:
            own = identity(t.shape, a, sources.size)
            known[t.id] = union([known[t.id], own], t.shape) if t.id in known else own
    return patterns(entries, known, [t.id for t in targets.tensors if t.id is not None], varying)


def swept(entries: Segment, plan: Compression, targets: Flattened, sources: Flattened) -> Any:
    """Return the elements of the structure, by one sweep in the directions of the plan."""
    count = plan.count
    if not count:
        return np.zeros(0)
    seeded, carried = (sources, targets) if plan.by_columns else (targets, sources)
    seeds = seeded.seeds(plan.seeds())
    ids = [t.id for t in carried.tensors if t.id is not None]
    with quiet():
        found = (tangent.tangents(entries, seeds, ids) if plan.by_columns
                 else reverse.reverse(entries, seeds, ids))
        if extreme(entries, sources.tensors, map(value_of, found.values())):
            found = _in_range(entries, plan, seeds, found, carried, sources)
    return carried.collect(found, count).ravel()[plan.slots]


def _in_range(entries: Segment, plan: Compression, seeds: dict[int, Any], found: dict[int, Any],
              carried: Flattened, sources: Flattened) -> dict[int, Any]:
    """Return the result of a sweep, mended where numbers may have left the range of floats.

    seeds, found: of the sweep, by id.
    carried: the values that it found derivatives of.
    sources: notes are made on these where elements are unknown.
    """
    from gradcli.engine.sweeps import wide

    shapes = {t.id: t.shape for t in carried.tensors}
    whole = {i: np.broadcast_to(value_of(g), (plan.count, *shapes[i])) for i, g in found.items()}
    after, unknown = wide.directions(
        entries, {i: g.value for i, g in seeds.items()}, whole, forward=plan.by_columns)
    lost = carried.collect(unknown, plan.count).ravel()[plan.slots]
    for t, (a, b) in zip(sources.tensors, sources.spans(), strict=True):
        columns = plan.matrix.columns
        if t.id is not None:
            wide.note_doubt(t.id, int(np.count_nonzero(lost[(columns >= a) & (columns < b)])))
    return after


def without_nan(entries: Sequence[Entry], matrix: Sparse, values: Any, targets: Flattened,
                sources: Flattened) -> Any:
    """Return the values, those that are NaN from a sweep with zeros that absorb infinite slopes."""
    if not has_nan(values) or not records.current().absorbing:
        return values
    from gradcli.engine.sweeps import absorbing

    records.current().absorbed = True
    plan = compressed(matrix, "rows")
    with quiet():
        found = sources.collect(absorbing.reverse(
            entries, targets.seeds(plan.seeds()),
            [t.id for t in sources.tensors if t.id is not None]), plan.count)
    return np.where(np.isnan(values), found.ravel()[plan.slots], values)


def jacobian(target: Tensor, sources: Sequence[Tensor], *, mode: str = "auto") -> list[Any]:
    """Return for each source the Jacobian of `target` as `Triples`, None where no path joins them.

    mode: "forward" colours columns, "reverse" rows, "auto" the side with fewer colours. Raises
    E0403 where the structure itself is too large.
    """
    entries = records.current().history()
    joined = _joined(entries, target, sources)
    wanted = [s for s, there in zip(sources, joined, strict=True) if there]
    if not wanted:
        return [None] * len(sources)
    rows, columns = Flattened([target]), Flattened(wanted)
    plan = compressed(structure(entries, rows, columns), SIDES[mode])
    values = swept(entries, plan, rows, columns)
    if mode != "forward":
        values = without_nan(entries, plan.matrix, values, rows, columns)
    parts = iter(blocks(plan.matrix, values, rows, columns)[0])
    return [next(parts) if there else None for there in joined]


def _joined(entries: Sequence[Entry], target: Tensor, sources: Sequence[Tensor]) -> list[bool]:
    """Return for each source whether a path joins it to the target."""
    if target.id is None or not is_float(target.value):
        return [False] * len(sources)
    known = reaching(entries, sources).get(target.id, 0)
    return [bool(known >> k & 1) for k in range(len(sources))]


def reaching(entries: Sequence[Entry], sources: Sequence[Tensor]) -> dict[int, int]:
    """Return for the id of each value that a derivative reaches its sources, as bits."""
    known: dict[int, int] = {}
    for k, s in enumerate(sources):
        if s.id is not None and is_float(s.value):
            known[s.id] = known.get(s.id, 0) | 1 << k
    untouched = known.keys().isdisjoint
    for entry in entries:
        if untouched(entry[IDS]):
            continue
        op, found = entry[OP], 0
        for k, i in enumerate(entry[IDS]):
            if i in known and op.edge(k):
                found |= known[i]
        if found and is_float(entry[ANS]):
            known[entry[OUT]] = known.get(entry[OUT], 0) | found
    return known


def blocks(matrix: Sparse, values: Any, targets: Flattened, sources: Flattened
           ) -> list[list[Triples]]:
    """Return the matrix cut up: a block for each target and each source."""
    found = []
    for (a, b), height in zip(targets.spans(), targets.shapes, strict=True):
        low, high = np.searchsorted(matrix.rows, (a, b)).tolist()
        rows, columns, inside = (matrix.rows[low:high] - a, matrix.columns[low:high],
                                 values[low:high])
        line = []
        for (first, end), width in zip(sources.spans(), sources.shapes, strict=True):
            here = slice(None) if len(sources.shapes) == 1 else (columns >= first) & (columns < end)
            line.append(Triples(height, width, rows[here], columns[here] - first, inside[here]))
        found.append(line)
    return found


def hessian(gradients: Sequence[tuple[int, Tensor]], sources: Sequence[Tensor], *,
            mode: str = "forward", most: int | None = None) -> dict[tuple[int, int], Triples]:
    """Return derivatives of recorded gradients, given as (number of the source, gradient), in the
    same sources: (row, column) to a block, where the gradient in row depends on column.

    mode: "forward" is tangents of the gradients in coloured directions, "reverse" cotangents. most:
    the largest number of directions; nothing is returned where it takes more.
    """
    entries = records.current().history()
    rows = [i for i, _ in gradients]
    if not rows:
        return {}
    heights, widths = Flattened([g for _, g in gradients]), Flattened([sources[i] for i in rows])
    matrix = structure(entries, heights, widths)
    plan = plan_of_hessian(entries, matrix) if mode == "forward" else compressed(matrix, "rows")
    if most is not None and plan.count > most:
        return {}
    values = swept(entries, plan, heights, widths)
    if mode == "forward" and not any(has_nan(g) for _, g in gradients):
        values = without_nan(entries, matrix, values, heights, widths)
    known = reaching(entries, widths.tensors)
    found = {}
    for k, line in enumerate(blocks(matrix, values, heights, widths)):
        reached = known.get(heights.tensors[k].id, 0)  # type: ignore[arg-type]
        found.update({(rows[k], rows[j]): block for j, block in enumerate(line)
                      if reached >> j & 1})
    return found


def plan_of_hessian(entries: Sequence[Entry], matrix: Sparse) -> Compression:
    """Return a colouring of a Hessian, which a user's own gradients may make unsymmetric."""
    other = matrix.transposed()
    alike = np.array_equal(other.rows, matrix.rows) and np.array_equal(
        other.columns, matrix.columns)
    if alike and not any(is_own(entry[OP]) for entry in entries):
        return symmetric(matrix)
    return compressed(matrix, "columns")
