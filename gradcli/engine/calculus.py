"""The verbs of the library: gradients, Jacobians, Hessians and products with them.

All work on tensors of the current record. With `emit` the derivative is recorded as well, so that
it is a tensor like any other and can be differentiated again; otherwise plain values come back. The
derivative of a source that no path joins to the target is None, or 0 where it is the derivative of
a derivative and the truth is 0 (`derivative_constant`).
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps import derivatives
from gradcli.engine.sweeps.derivatives import (
    LARGE,
    as_derivative,
    from_columns,
    gradient,
    jvp,
    size,
)
from gradcli.ops.values import check_bytes, has_nan, zeros

__all__ = [
    "Hessian", "ancestry", "as_derivative", "derivative_constant", "gradient", "hessian",
    "jacobian", "jvp", "numbers_of", "size"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Segment
    from gradcli.ops.values import Shape

# Below this many float operations a loop over seeds beats loading NumPy (70 ms at 0.2 us each).
FLOAT_LOOP = 300_000
# Bytes of a number in an array.
NUMBER = 8.0


def jacobian(target: Tensor, sources: Sequence[Tensor], *, mode: str = "auto",
             emit: bool = False, entries: Segment | None = None, sparse: bool = False,
             each: float = NUMBER) -> list[Any]:
    """Return for each source the Jacobian, target shape + source shape, or None (see
    `gradcli.engine.sweeps.derivatives.jacobian`).

    sparse: return triples of the elements that can differ from 0 (`gradcli.engine.sparse.triples`).
    A large one that turns out to be sparse takes few sweeps in any case. each: bytes for one
    element and all that is made of it. Raises E0403 where that is over the memory budget.
    """
    if sparse:
        from gradcli.engine.sparse import sweeps

        return sweeps.jacobian(target, sources, mode=mode)
    if not emit and entries is None and target.shape and any(
            size(target.shape) * size(s.shape) >= LARGE for s in sources):
        from gradcli.engine.sparse import dense

        return dense.jacobian(target, sources, mode, each)
    return derivatives.jacobian(target, sources, mode=mode, emit=emit, entries=entries)


class Hessian:
    """Second derivatives by blocks.

    blocks: (row, column) to a block. constant: the pairs where 0 stands because the first
    derivative does not depend on the column at all.
    """

    __slots__ = ("blocks", "constant")

    def __init__(self) -> None:
        self.blocks: dict[tuple[int, int], Any] = {}
        self.constant: set[tuple[int, int]] = set()


def hessian(target: Tensor, sources: Sequence[Tensor], *, mode: str = "forward",
            emit: bool = False, sparse: bool = False, each: float = NUMBER) -> Hessian:
    """Return the second derivatives of the sum of `target`.

    A block has the shape of source row + source column; None where a first derivative is None,
    zeros where it is constant.

    mode: "forward" is forward over reverse: the gradient is emitted once, then a tangent sweep
        carries all directions of a source, or of all sources together where they are scalars.
        "reverse" is reverse over reverse, for checking.
    emit: the blocks are recorded as well, which takes reverse over reverse.
    sparse: return blocks as triples of the elements that can differ from 0
        (`gradcli.engine.sparse.triples`).
    each: as in `jacobian`.
    """

    gradients = gradient([target], sources, emit=True)
    history = records.current().history()
    rows = [(i, g) for i, g in enumerate(gradients) if g is not None]
    found: dict[tuple[int, int], Any] = {}
    if sparse:
        found = _as_triples(rows, sources, mode)
    elif mode != "forward" or emit:
        found = _rows(rows, sources, emit)
    else:
        found = _from_structure(rows, sources, each) or _from_tangents(rows, sources, history)
    # What is NaN may be a 0 that absorbs an infinite slope, as only the reverse sweep knows; that
    # helps where the first derivatives are numbers.
    spoiled = {place for place, block in found.items() if has_nan(numbers_of(block))}
    if spoiled and records.current().absorbing:
        fine = {i for i, g in rows if not has_nan(g)}
        spoiled = {(i, j) for i, j in spoiled if i in fine and j in fine}
        first = sorted({i for i, _ in spoiled})
        absorbed = gradient([target], [sources[i] for i in first], emit=True, absorb=True)
        again = list(zip(first, absorbed, strict=True))
        blocks = _as_triples(again, sources, mode) if sparse else _rows(again, sources, emit)
        found.update({place: block for place, block in blocks.items() if place in spoiled})
    out = Hessian()
    exists = [g is not None or derivative_constant(target, s)
              for g, s in zip(gradients, sources, strict=True)]
    for i, row in enumerate(sources):
        for j, column in enumerate(sources):
            if not (exists[i] and exists[j]):
                out.blocks[i, j] = None
            elif (i, j) in found:
                out.blocks[i, j] = found[i, j]
            else:
                out.blocks[i, j] = _zeros(row.shape, column.shape, sparse)
                out.constant.add((i, j))
    return out


def _as_triples(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor], mode: str
                ) -> dict[tuple[int, int], Any]:
    from gradcli.engine.sparse import sweeps

    return dict(sweeps.hessian(rows, sources, mode=mode))


def _zeros(row: Shape, column: Shape, sparse: bool) -> Any:
    if sparse:
        from gradcli.engine.sparse.triples import empty

        return empty(row, column)
    return zeros(row + column)


def _from_structure(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor],
                    each: float) -> dict[tuple[int, int], Any]:
    """Return the blocks of a large Hessian that is sparse, else nothing."""
    if sum(size(g.shape) for _, g in rows) ** 2 < LARGE:
        return {}
    from gradcli.engine.sparse import dense

    return dense.hessian(rows, sources, each)


def _from_tangents(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor], history: Segment
                   ) -> dict[tuple[int, int], Any]:
    found: dict[tuple[int, int], Any] = {}
    if history.scalar and len(history) * len(rows) > FLOAT_LOOP:
        found = _all_columns(rows, sources)
    else:
        for j, _ in rows:
            found.update(_columns(rows, j, sources[j]))
    for j, _ in rows:
        column = {g.id: found[i, j] for i, g in rows if (i, j) in found and g.id is not None}
        column = derivatives.in_range(history, [g for _, g in rows], sources[j], column)
        found.update({(i, j): column[g.id] for i, g in rows if g.id in column})
    return found


def _columns(rows: list[tuple[int, Tensor]], j: int, column: Tensor) -> dict[tuple[int, int], Any]:
    """Return tangents of all gradients in all directions of one source."""
    from gradcli.engine.sweeps import tangent

    entries = records.current().history()
    targets = [g.id for _, g in rows if g.id is not None]
    assert column.id is not None
    found: dict[int, Any]
    if entries.scalar:
        found = dict(tangent.on_floats(entries, {column.id: 1.0}, targets))
        return {(i, j): found[g.id] for i, g in rows if g.id in found}
    check_bytes(8.0 * size(column.shape) * max(size(g.shape) for _, g in rows))
    with quiet():
        found = tangent.tangents(entries, {column.id: tangent.basis(column.value)}, targets)
    return {(i, j): from_columns(found[g.id], g, column) for i, g in rows if g.id in found}


def _all_columns(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor]
                 ) -> dict[tuple[int, int], Any]:
    """Return tangents of all gradients in many scalar sources at once.

    Each source is one direction of a common seed axis.
    """
    from gradcli.engine.sweeps import tangent

    n = len(rows)
    directions = np.eye(n)
    seeds = {sources[j].id: Tensor(directions[k], None, 1) for k, (j, _) in enumerate(rows)}
    targets = [g.id for _, g in rows if g.id is not None]
    with quiet():
        found = tangent.tangents(records.current().history(), seeds, targets)  # type: ignore[arg-type]
    out = {}
    for i, g in rows:
        if g.id in found:
            along = np.broadcast_to(value_of(found[g.id]), (n,)).tolist()
            out.update({(i, j): along[k] for k, (j, _) in enumerate(rows)})
    return out


def _rows(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor], emit: bool = False
          ) -> dict[tuple[int, int], Any]:
    out = {}
    for i, g in rows:
        for j, block in enumerate(jacobian(g, sources, mode="reverse", emit=emit)):
            if block is not None:
                out[i, j] = block
    return out


def numbers_of(g: Any) -> Any:
    """Return the numbers of a derivative, which may be triples."""
    return getattr(g, "values", g)


def derivative_constant(target: Any, source: Tensor, entries: Segment | None = None,
                        derived: Mapping[int, tuple[int, int]] | None = None) -> bool:
    """Return whether `target` is made of derivatives that do not depend on `source`: then its
    derivative is 0 (see `gradcli.engine.sweeps.constant`).

    entries, derived: the window and its derivatives (see `Record.derived`); by default those of the
    current record.
    """
    from gradcli.engine.sweeps import constant

    record = records.current()
    if source.id is None or not isinstance(target, Tensor) or target.id is None:
        return False
    return constant.is_constant(
        record.history() if entries is None else entries,
        record.derived if derived is None else derived, [target.id], [source.id])


def ancestry(id: int) -> set[int]:
    """Return all ids that went into a value, itself included, by any kind of argument."""
    return records.ancestry(records.current().history(), id)
