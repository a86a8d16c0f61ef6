"""check_numerics for everything: stop at the first operation that makes NaN or infinity."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def enable_check_numerics() -> None:
    """From now on an operation on tensors in this thread that makes NaN or infinity raises E0404,
    forwards and in a gradient. Programs (`load`, `loads`) are not concerned: they have notes.
    """
    record = records.current()
    record.checking = True
    record.settle()


def disable_check_numerics() -> None:
    """Back to NumPy's way: NaN and infinity go on."""
    record = records.current()
    record.checking = False
    record.settle()


def check(value: Any, what: str) -> None:
    """Raises E0404, which says what made the value, unless all of it is finite."""
    raw = getattr(value, "value", value)
    if type(raw) in SCALAR_TYPES:
        bad = type(raw) is float and raw - raw != 0.0
    else:
        bad = raw.dtype.kind in "fc" and not np.isfinite(raw).all()
    if bad:
        kind = "NaN" if np.isnan(raw).any() else "infinity"
        raise error("E0404", f"{what} made {kind}",
                    help="gradcli.disable_check_numerics() lets it pass")
