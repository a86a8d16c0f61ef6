"""The verbs of the library: gradients, Jacobians, Hessians and products with them.

All work on tensors of the current record. With `emit` the derivative is recorded as well, so that
it is a tensor like any other and can be differentiated again; otherwise plain values come back.
A source that no path joins to the target answers None, or 0 where it is the derivative of a
derivative and the truth is 0 (`derivative_constant`).
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.discrete import cast_float
from gradcli.ops.lazy import np, quiet
from gradcli.ops.shapes import reshape, unbatch
from gradcli.ops.values import check_bytes, dtype_of, is_float, shape_of, show, zeros
from gradcli.sweeps import reverse, tangent
from gradcli.tape import record as records
from gradcli.tape.record import IDS, OUT
from gradcli.tape.tensor import Tensor, leaf, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Below this many float operations a loop over seeds beats loading NumPy (70 ms at 0.2 us each).
FLOAT_LOOP = 300_000


def gradient(targets: Sequence[Tensor], sources: Sequence[Tensor], *, seeds: Sequence[Any] = (),
             emit: bool = False) -> list[Any]:
    """The gradient of the sum of all elements of all targets; per source, in its shape, or None.

    seeds: cotangents of the targets, by default ones. A target named twice counts twice.
    Raises E0301 where a seed has another shape than its target.
    """
    record = records.current()
    weights: dict[int, Any] = {}
    for k, t in enumerate(targets):
        if t.id is None or not is_float(t.value):
            continue
        seed = _seed(t, seeds[k] if seeds else None)
        weights[t.id] = weights[t.id] + seed if t.id in weights else seed
    wanted = [s.id for s in sources if s.id is not None and is_float(s.value)]
    if not weights or not wanted:
        return [None] * len(sources)
    found: dict[int, Any]
    if record.scalar and not emit and all(type(w) is float for w in weights.values()):
        found = dict(reverse.on_floats(record.entries, weights, wanted))
    else:
        with quiet():
            found = reverse.reverse(record.entries, weights, wanted, emit=emit)
    out = []
    for s in sources:
        g = found.get(s.id) if s.id is not None else None
        if g is not None and type(s.value) is not float:
            g = _typed(g, s)
        if g is not None:
            g = as_derivative(g, targets, s) if emit else _own(value_of(g))
        out.append(g)
    return out


def _typed(g: Any, source: Tensor) -> Any:
    """A derivative in the type of its source."""
    dtype = source.dtype
    return g if dtype_of(value_of(g)) == dtype else cast_float(g, dtype=dtype)


def as_derivative(g: Any, targets: Sequence[Tensor], source: Tensor) -> Tensor:
    """A recorded derivative, noted as such: its own derivative may truly be 0.

    One that no operation made (the slope of a linear function) becomes a leaf.
    """
    made = g if isinstance(g, Tensor) and g.id is not None else leaf(value_of(g))
    for t in targets:
        if made.id is not None and t.id is not None and source.id is not None:
            records.current().derived[made.id] = (t.id, source.id)
    return made


def _own(value: Any) -> Any:
    """A copy of an array, so that a caller cannot change a saved value through it."""
    return value if not shape_of(value) else np.array(value)


def _seed(target: Tensor, weight: Any) -> Any:
    shape = target.shape
    if weight is None:
        return np.ones(shape) if shape else 1.0
    given = shape_of(weight)
    if given == shape:
        return weight
    if given == ():
        return weight * np.ones(shape)
    raise error("E0301", f"the output gradient has shape {show(given)}, the target {show(shape)}",
                help=f"give {show(shape)}, or one number for all elements")


def size(shape: Sequence[int]) -> int:
    """The number of elements of a shape."""
    n = 1
    for length in shape:
        n *= length
    return n


def jacobian(target: Tensor, sources: Sequence[Tensor], *, mode: str = "auto",
             emit: bool = False) -> list[Any]:
    """Per source the Jacobian, target shape + source shape, or None.

    One batched sweep: backwards with all rows as seeds, or forwards with all columns, whichever
    are fewer (`mode` "reverse" or "forward" decides otherwise). A scalar target or a record of
    scalars needs no arrays at all.
    """
    if not emit and mode != "forward" and target.shape == ():
        return gradient([target], sources)
    if target.id is None or not is_float(target.value):
        return [None] * len(sources)
    record = records.current()
    out: list[Any] = []
    for s in sources:
        if s.id is None or not is_float(s.value):
            out.append(None)
            continue
        m, n = size(target.shape), size(s.shape)
        check_bytes(8.0 * m * n)
        backwards = mode == "reverse" or (mode == "auto" and (m <= n or emit))
        with quiet():
            if backwards:
                rows = reverse.reverse(
                    record.entries, {target.id: tangent.basis(target.value)}, [s.id], emit=emit
                ).get(s.id)
                out.append(_from_rows(rows, target, s, emit))
            else:
                columns = tangent.tangents(
                    record.entries, {s.id: tangent.basis(s.value)}, [target.id]).get(target.id)
                out.append(_from_columns(columns, target, s))
    return out


def _from_rows(rows: Any, target: Tensor, source: Tensor, emit: bool) -> Any:
    if rows is None:
        return None
    shape = target.shape + source.shape
    if emit:
        return reshape(unbatch(rows), shape=shape)
    flat = np.broadcast_to(value_of(rows), (size(target.shape), *source.shape))
    return _plain(flat.reshape(shape))


def _from_columns(columns: Any, target: Tensor, source: Tensor) -> Any:
    if columns is None:
        return None
    n, m = size(source.shape), size(target.shape)
    flat = np.broadcast_to(value_of(columns), (n, *target.shape)).reshape(n, m)
    return _plain(flat.T.reshape(target.shape + source.shape))


def _plain(array: Any) -> Any:
    return np.array(array) if array.shape else float(array)


class Hessian:
    """Second derivatives: (row, column) to a block, and the pairs where 0 stands because the first
    derivative does not depend on the column at all.
    """

    __slots__ = ("blocks", "constant")

    def __init__(self) -> None:
        self.blocks: dict[tuple[int, int], Any] = {}
        self.constant: set[tuple[int, int]] = set()


def hessian(target: Tensor, sources: Sequence[Tensor], *, mode: str = "forward") -> Hessian:
    """Second derivatives of the sum of `target`.

    A block has the shape of source row + source column; None where a first derivative is None,
    zeros where it is constant. Forward over reverse: the gradient is emitted once, then a tangent
    sweep carries all directions of a source, or of all sources together where they are scalars
    ("reverse": reverse over reverse, for checking).
    """
    gradients = gradient([target], sources, emit=True)
    rows = [(i, g) for i, g in enumerate(gradients) if g is not None]
    found: dict[tuple[int, int], Any] = {}
    if mode != "forward":
        found = _rows(rows, sources)
    elif records.current().scalar and len(records.current().entries) * len(rows) > FLOAT_LOOP:
        found = _all_columns(rows, sources)
    else:
        for j, _ in rows:
            found.update(_columns(rows, j, sources[j]))
    out = Hessian()
    for i, row in enumerate(sources):
        for j, column in enumerate(sources):
            if gradients[i] is None or gradients[j] is None:
                out.blocks[i, j] = None
            elif (i, j) in found:
                out.blocks[i, j] = found[i, j]
            else:
                out.blocks[i, j] = zeros(row.shape + column.shape)
                out.constant.add((i, j))
    return out


def _columns(rows: list[tuple[int, Tensor]], j: int, column: Tensor) -> dict[tuple[int, int], Any]:
    """Tangents of all gradients in all directions of one source."""
    entries = records.current().entries
    targets = [g.id for _, g in rows if g.id is not None]
    assert column.id is not None
    found: dict[int, Any]
    if records.current().scalar:
        found = dict(tangent.on_floats(entries, {column.id: 1.0}, targets))
        return {(i, j): found[g.id] for i, g in rows if g.id in found}
    check_bytes(8.0 * size(column.shape) * max(size(g.shape) for _, g in rows))
    with quiet():
        found = tangent.tangents(entries, {column.id: tangent.basis(column.value)}, targets)
    return {(i, j): _from_columns(found[g.id], g, column) for i, g in rows if g.id in found}


def _all_columns(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor]
                 ) -> dict[tuple[int, int], Any]:
    """The same for many scalar sources at once: each is one direction of a common seed axis."""
    n = len(rows)
    directions = np.eye(n)
    seeds = {sources[j].id: Tensor(directions[k], None, 1) for k, (j, _) in enumerate(rows)}
    targets = [g.id for _, g in rows if g.id is not None]
    with quiet():
        found = tangent.tangents(records.current().entries, seeds, targets)  # type: ignore[arg-type]
    out = {}
    for i, g in rows:
        if g.id in found:
            along = np.broadcast_to(value_of(found[g.id]), (n,)).tolist()
            out.update({(i, j): along[k] for k, (j, _) in enumerate(rows)})
    return out


def _rows(rows: list[tuple[int, Tensor]], sources: Sequence[Tensor]) -> dict[tuple[int, int], Any]:
    out = {}
    for i, g in rows:
        for j, block in enumerate(jacobian(g, sources, mode="reverse")):
            if block is not None:
                out[i, j] = block
    return out


def jvp(target: Tensor, sources: Sequence[Tensor], tangents: Sequence[Any], *, emit: bool = False
        ) -> Any:
    """The directional derivative of `target`, in its shape, or None."""
    record = records.current()
    if target.id is None or not is_float(target.value):
        return None
    seeds = {
        s.id: _seed(s, value) for s, value in zip(sources, tangents, strict=True)
        if s.id is not None and is_float(s.value)}
    if not seeds:
        return None
    with quiet():
        if record.scalar and not emit and all(type(v) is float for v in seeds.values()):
            return tangent.on_floats(record.entries, seeds, [target.id]).get(target.id)
        found = tangent.tangents(record.entries, seeds, [target.id], emit=emit).get(target.id)
    return found if emit or found is None else value_of(found)


def derivative_constant(target: Any, source: Tensor) -> bool:
    """Whether `target` is made of derivatives that do not depend on `source`: then 0 is the answer.

    True if an ancestor of `target` is a derivative of something that `source` reaches, and no path,
    cut or not, joins `source` and `target` (else the missing link has to be explained, not hidden).
    """
    record = records.current()
    if source.id is None:
        return False
    if not isinstance(target, Tensor) or target.id is None:
        return False
    ancestors = ancestry(target.id)
    if source.id in ancestors:
        return False
    return any(
        i in record.derived and source.id in ancestry(record.derived[i][0])
        for i in ancestors)


def ancestry(id: int) -> set[int]:
    """All ids that went into a value, itself included, by any kind of argument."""
    found = {id}
    for entry in reversed(records.current().entries):
        if entry[OUT] in found:
            found.update(i for i in entry[IDS] if i is not None)
    return found


