"""batch_jacobian: row i of the target by row i of the source, for all rows in one sweep."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps import derivatives, reverse
from gradcli.ops.table.shapes import transpose, unbatch
from gradcli.ops.values import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.record import Segment


def check_shapes(target: Tensor, source: Tensor) -> None:
    """Raise E0301 where there is no batch axis, or where the two have different ones."""
    for x, what in ((target, "target"), (source, "source")):
        if len(x.shape) < 2:
            raise error("E0301", f"batch_jacobian needs a {what} with a batch axis and at least"
                        f" one more, not {show(x.shape)}", help="use jacobian")
    if source.shape[0] != target.shape[0]:
        raise error("E0301", f"the target {show(target.shape)} and the source"
                    f" {show(source.shape)} differ in their first length",
                    help="row i of the target belongs to row i of the source")


def jacobians(target: Tensor, sources: Sequence[Tensor], entries: Segment, *, emit: bool,
              check: bool) -> list[Any]:
    """Return for each source that a path reaches [b, target's rest, source's rest]: one seed for
    each element of a row, in all rows at once.

    check: whether to raise E0315 where a row depends on another one's source.
    """
    b, rest = target.shape[0], target.shape[1:]
    m = derivatives.size(rest)
    seeds = np.zeros((m, b, *rest))
    for k in range(m):
        seeds.reshape(m, b, m)[k, :, k] = 1.0
    seed = Tensor(seeds.astype(target.dtype), None, 1)
    parts = []
    with quiet():
        found = reverse.reverse(
            entries, {target.id: seed}, [s.id for s in sources if s.id is not None],  # type: ignore[dict-item]
            emit=emit)
        for s in sources:
            rows = found.get(s.id) if s.id is not None else None
            if rows is None:
                continue
            if check:
                _check_rows(entries, target, s, rows)
            rows = derivatives.rows_in_range(entries, target, seed.value, s, rows)
            moved = transpose(
                unbatch(rows if isinstance(rows, Tensor) else Tensor(rows, None, 1)),
                axes=(1, 0, *range(2, 1 + len(s.shape))))
            part = moved.reshape(shape=(b, *rest, *s.shape[1:]))
            parts.append(part if emit else np.array(value_of(part)))
    return parts


def _check_rows(entries: Segment, target: Tensor, source: Tensor, rows: Any) -> None:
    """Raise E0315 unless a probe weighted row by row has the weighted gradient."""
    b, m = target.shape[0], derivatives.size(target.shape[1:])
    if b < 2 or not m:
        return
    rng = np.random.default_rng(0)
    weights = rng.uniform(1.0, 2.0, b)
    inside = rng.uniform(1.0, 2.0, (1, m))
    flat = np.reshape(value_of(rows), (m, b, -1))
    expected = weights[:, None] * np.einsum("m,mbn->bn", inside[0], flat)
    seed = (weights[:, None] * inside).reshape(target.shape)
    record = records.current()
    paused, record.paused = record.paused, True
    record.settle()
    try:
        got = reverse.reverse(entries, {target.id: seed}, [source.id])[source.id]  # type: ignore[dict-item, list-item, index]
    finally:
        record.paused = paused
        record.settle()
    got = np.reshape(value_of(got), (b, -1))
    scale = np.abs(flat).sum() * float(np.abs(seed).max()) + 1e-300
    rough = 1e-4 if "float32" in (target.dtype, source.dtype) else 1e-9
    if np.isfinite(expected).all() and np.abs(got - expected).max() > rough * scale:
        raise error("E0315", "rows of the target depend on other rows of the source",
                    help="jacobian gives the derivatives across rows too")
