"""Gradients, Jacobians and directional derivatives of tensors: sweeps over a window of the record.

`entries` is the window, by default all that the current record holds. With `emit` the derivative is
recorded as well, so that it is a tensor like any other and can be differentiated again; otherwise
plain values come back. The derivative in a source that no path joins to the target is None.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.record import expanded
from gradcli.engine.record.tensor import Tensor, leaf, value_of
from gradcli.engine.sweeps import reverse
from gradcli.engine.sweeps.extremes import extreme
from gradcli.ops.table.shapes import reshape, unbatch
from gradcli.ops.values import check_bytes, dtype_of, has_nan, is_float, plain, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Segment


# Elements of a matrix below which sweeps in all directions cost less than finding its structure.
LARGE = 100_000


def gradient(targets: Sequence[Tensor], sources: Sequence[Tensor], *, seeds: Sequence[Any] = (),
             emit: bool = False, entries: Segment | None = None, tensorflow: bool = False,
             absorb: bool = False, ranged: bool = True) -> list[Any]:
    """Return for each source the gradient of the sum of all elements of all targets, or None.

    seeds: cotangents of the targets, by default ones. A target named twice counts twice.
    tensorflow: zeros absorb infinite slopes at sqrt only, as there.
    absorb: zeros do in any case, also where a slope is infinite only in the next derivative.
    ranged: whether to find again what left the range of floats between.

    Raises E0301 where a seed has another shape than its target, E0503 where the path leads through
    an operation without a rule.
    """
    if entries is None:
        entries = records.current().compact()
    weights = weights_of(targets, seeds)
    wanted = [s.id for s in sources if s.id is not None and is_float(s.value)]
    if not weights or not wanted:
        return [None] * len(sources)
    found: dict[int, Any]
    if (entries.scalar and not emit and not records.current().checking
            and all(type(w) is float for w in weights.values())):
        found = dict(reverse.on_floats(entries, weights, wanted))
    else:
        with quiet():
            found = reverse.reverse(expanded(entries), weights, wanted, emit=emit)
    spoiled = [i for i, g in found.items() if absorb or has_nan(g)]
    if spoiled and records.current().absorbing:
        from gradcli.engine.sweeps import absorbing

        records.current().absorbed = True
        with quiet():
            found.update(absorbing.reverse(
                expanded(entries), weights, spoiled, emit=emit, as_tensorflow=tensorflow))
    if ranged and found and extreme(entries, sources, map(value_of, found.values())):
        from gradcli.engine.sweeps import wide

        wide.gradients(expanded(entries), weights, found, emit,
                       {s.id: s.value for s in sources if s.id is not None})
    out = []
    for s in sources:
        g = found.get(s.id) if s.id is not None else None
        if g is not None:
            g = as_derivative(g, targets, s) if emit else _own(value_of(g))
        out.append(g)
    return out


def weights_of(targets: Sequence[Tensor], seeds: Sequence[Any]) -> dict[int, Any]:
    """Return for the id of each target its cotangent: the seeds, by default ones.

    A target named twice counts twice, one that is not differentiable not at all.
    """
    weights: dict[int, Any] = {}
    for k, t in enumerate(targets):
        if t.id is not None and is_float(t.value):
            seed = seed_of(t, seeds[k] if seeds else None)
            weights[t.id] = weights[t.id] + seed if t.id in weights else seed
    return weights


def as_derivative(g: Any, targets: Sequence[Tensor], source: Tensor) -> Tensor:
    """Return a recorded derivative, noted as one: its own derivative may truly be 0.

    One that no operation made (the slope of a linear function) becomes a leaf.
    """
    made = g if isinstance(g, Tensor) and g.id is not None else leaf(value_of(g))
    for t in targets:
        if made.id is not None and t.id is not None and source.id is not None:
            records.current().note_derived(made.id, t.id, source.id)
    return made


def _own(value: Any) -> Any:
    """Return a copy of an array, so that a caller cannot change a saved value through it."""
    return value if not shape_of(value) else np.array(value)


def seed_of(target: Tensor, weight: Any) -> Any:
    """Return the cotangent of a target: its weight, or ones.

    Raises E0301 for one that does not fit.
    """
    shape = target.shape
    ones = 1.0 if type(target.value) is float else np.ones(shape, dtype_of(target.value))
    if weight is None:
        return ones
    given = shape_of(value_of(weight))
    if given == shape:
        return reverse.in_type_of(target.value, weight)
    if given == ():
        with quiet():       # a float32 holds less: infinity is the weight
            return reverse.in_type_of(target.value, weight * ones)
    raise error("E0301", f"the output gradient has shape {show(given)}, the target {show(shape)}",
                help=f"give {show(shape)}, or one number for all elements")


def size(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    n = 1
    for length in shape:
        n *= length
    return n


def jacobian(target: Tensor, sources: Sequence[Tensor], *, mode: str = "auto",
             emit: bool = False, entries: Segment | None = None, tensorflow: bool = False
             ) -> list[Any]:
    """Return for each source the Jacobian, target shape + source shape, or None.

    One batched sweep: backwards with all rows as seeds, or forwards with all columns, whichever are
    fewer (`mode` "reverse" or "forward" decides otherwise). A scalar target or a record of scalars
    needs no arrays at all. tensorflow: as in `gradient`.
    """
    from gradcli.engine.sweeps import tangent

    if entries is None:
        entries = records.current().history()
    if mode != "forward" and target.shape == ():
        return gradient([target], sources, emit=emit, entries=entries, tensorflow=tensorflow)
    if target.id is None or not is_float(target.value):
        return [None] * len(sources)
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
                unit = {target.id: tangent.basis(target.value)}
                rows = reverse.reverse(entries, unit, [s.id], emit=emit).get(s.id)
                if rows is not None and has_nan(rows) and records.current().absorbing:
                    from gradcli.engine.sweeps import absorbing

                    records.current().absorbed = True
                    rows = absorbing.reverse(
                        entries, unit, [s.id], emit=emit, as_tensorflow=tensorflow)[s.id]
                if emit and rows is not None:
                    rows = rows_in_range(entries, target, unit[target.id].value, s, rows)
                found = _from_rows(rows, target, s, emit)
            else:
                columns = tangent.tangents(
                    entries, {s.id: tangent.basis(s.value)}, [target.id]).get(target.id)
                if columns is not None and mode == "auto" and has_nan(columns):
                    # Only the reverse sweep knows which zeros absorb an infinite slope.
                    out += jacobian(
                        target, [s], mode="reverse", entries=entries, tensorflow=tensorflow)
                    continue
                found = from_columns(columns, target, s)
            if found is not None and not emit:
                found = in_range(entries, [target], s, {target.id: found})[target.id]
            out.append(found)
    return out


def in_range(entries: Segment, targets: Sequence[Tensor], source: Tensor, found: dict[int, Any]
             ) -> dict[int, Any]:
    """Return Jacobians in one source, by id of a target, mended if numbers may be out of range."""
    if extreme(entries, [source], found.values()):
        from gradcli.engine.sweeps import wide

        wide.jacobians(entries, targets, source, found)
    return found


def rows_in_range(entries: Segment, target: Tensor, seeds: Any, source: Tensor, rows: Any) -> Any:
    """Return adjoints of a source, [direction, *its shape], mended if numbers may be out of range.

    seeds: of the target.
    """
    if not extreme(entries, [source], [value_of(rows)]):
        return rows
    from gradcli.engine.sweeps import wide

    assert target.id is not None
    assert source.id is not None
    found = {source.id: rows}
    wide.rows(entries, {target.id: seeds}, found, source.shape)
    return found[source.id]


def _from_rows(rows: Any, target: Tensor, source: Tensor, emit: bool) -> Any:
    if rows is None:
        return None
    shape = target.shape + source.shape
    if emit:
        return reshape(unbatch(rows), shape=shape)
    flat = np.broadcast_to(value_of(rows), (size(target.shape), *source.shape))
    return _plain(flat.reshape(shape))


def from_columns(columns: Any, target: Tensor, source: Tensor) -> Any:
    """Return the Jacobian from its columns, which stand along the leading axis; None stays None."""
    if columns is None:
        return None
    n, m = size(source.shape), size(target.shape)
    flat = np.broadcast_to(value_of(columns), (n, *target.shape)).reshape(n, m)
    return _plain(flat.T.reshape(target.shape + source.shape))


def _plain(array: Any) -> Any:
    return plain(np.array(array))


def jvp(target: Tensor, sources: Sequence[Tensor], tangents: Sequence[Any], *, emit: bool = False,
        entries: Segment | None = None) -> Any:
    """Return the directional derivative of `target`, in its shape, or None.

    tangents: the direction, one part for each source.
    emit: whether to record the derivative.
    entries: the window.
    """
    from gradcli.engine.sweeps import tangent

    if entries is None:
        entries = records.current().history()
    if target.id is None or not is_float(target.value):
        return None
    seeds = {
        s.id: seed_of(s, value) for s, value in zip(sources, tangents, strict=True)
        if s.id is not None and is_float(s.value)}
    if not seeds:
        return None
    with quiet():
        if entries.scalar and not emit and all(type(v) is float for v in seeds.values()):
            found = tangent.on_floats(entries, seeds, [target.id]).get(target.id)
        else:
            found = tangent.tangents(entries, seeds, [target.id], emit=emit).get(target.id)
        if found is not None:
            found = directional_in_range(entries, seeds, target, sources, found)
    return found if emit or found is None else value_of(found)


def directional_in_range(entries: Segment, seeds: Mapping[int, Any], target: Tensor,
                         sources: Iterable[Tensor], found: Any) -> Any:
    """Return a directional derivative, mended if numbers may have left the range of floats."""
    if not extreme(entries, sources, [value_of(found)]):
        return found
    from gradcli.engine.sweeps import wide

    assert target.id is not None
    with quiet():
        return wide.directional(entries, seeds, target.id, found)
