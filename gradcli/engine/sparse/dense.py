"""Dense Jacobians and Hessians by their structure.

Their memory is checked first, and few sweeps do for many where they are sparse.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.engine.record import record as records
from gradcli.engine.sparse import sweeps
from gradcli.engine.sparse.colouring import compressed
from gradcli.engine.sweeps import derivatives
from gradcli.engine.sweeps.derivatives import LARGE, size
from gradcli.ops.values import has_nan, is_float, show_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor

# With fewer directions than this there is nothing to save.
NARROW = 16
# Structure is worth it if it saves three directions of four.
SAVED = 4


def pays(m: int, n: int) -> bool:
    """Return whether a matrix of m x n derivatives is large enough to look for its structure."""
    return min(m, n) >= NARROW and m * n >= LARGE


def jacobian(target: Tensor, sources: Sequence[Tensor], mode: str, each: float) -> list[Any]:
    """Return for each source the Jacobian, or None where no path joins them.

    each: bytes for one element. Raises E0403 where one is over the memory budget.
    """
    return [_jacobian(target, s, mode, each) for s in sources]


def _jacobian(target: Tensor, source: Tensor, mode: str, each: float) -> Any:
    m, n = size(target.shape), size(source.shape)
    smooth = target.id is not None and source.id is not None and is_float(target.value)
    if smooth and is_float(source.value) and pays(m, n):
        entries = records.current().history()
        rows, columns = sweeps.Flattened([target]), sweeps.Flattened([source])
        check("Jacobian", rows, columns, each)
        if sweeps.nonzeros(entries, rows, columns) * SAVED > m * n:
            return derivatives.jacobian(target, [source], mode=mode)[0]
        plan = compressed(sweeps.structure(entries, rows, columns), sweeps.SIDES[mode])
        if 0 < plan.count * SAVED <= (n if plan.by_columns else m):
            values = sweeps.swept(entries, plan, rows, columns)
            if not has_nan(values):
                return sweeps.blocks(plan.matrix, values, rows, columns)[0][0].dense()
    return derivatives.jacobian(target, [source], mode=mode)[0]


def hessian(gradients: Sequence[tuple[int, Tensor]], sources: Sequence[Tensor], each: float
            ) -> dict[tuple[int, int], Any]:
    """Return blocks as `gradcli.engine.sparse.sweeps.hessian` does, dense; none where that does not
    pay, or one has a NaN. Raises E0403 where they are over the memory budget.
    """
    heights = sweeps.Flattened([g for _, g in gradients])
    n = heights.size
    if not pays(n, n):
        return {}
    widths = sweeps.Flattened([sources[i] for i, _ in gradients])
    check("Hessian", heights, widths, each)
    if sweeps.nonzeros(records.current().history(), heights, widths) * SAVED > n * n:
        return {}
    found = sweeps.hessian(gradients, sources, most=n // SAVED)
    if any(has_nan(block.values) for block in found.values()):
        return {}
    return {place: block.dense() for place, block in found.items()}


def check(what: str, targets: sweeps.Flattened, sources: sweeps.Flattened, each: float) -> None:
    """Raise E0403 where a dense array of derivatives is over the memory budget.

    what: its name, for the message. each: bytes for one element.
    """
    whole = targets.size * sources.size
    budget = records.memory_budget()
    if budget is None or each * whole <= budget:
        return
    found = sweeps.nonzeros(records.current().history(), targets, sources)
    raise error("E0403", f"a dense {what} of {targets.size:,} x {sources.size:,} numbers takes"
                f" {show_bytes(each * whole)}, over the memory budget of"
                f" {show_bytes(budget)}",
                help=f"only {found:,} of them can differ from 0: --sparse gives these"
                if found * SAVED <= whole else "use a smaller array, or raise --max-memory")
