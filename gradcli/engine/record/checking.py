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
    """Raise E0404 from now on for an operation on tensors in this thread that makes NaN or
    infinity, forwards and in a gradient. Programs (`load`, `loads`) are not concerned: they have
    notes.
    """
    record = records.current()
    record.checking = True
    record.settle()


def disable_check_numerics() -> None:
    """Let NaN and infinity pass again, as NumPy does."""
    record = records.current()
    record.checking = False
    record.settle()


def check(value: Any, what: str) -> None:
    """Raise E0404 unless all elements of a value are finite. what: its maker, for the message."""
    raw = getattr(value, "value", value)
    if type(raw) in SCALAR_TYPES:
        bad = type(raw) is float and raw - raw != 0.0
    else:
        bad = raw.dtype.kind in "fc" and not np.isfinite(raw).all()
    if bad:
        kind = "NaN" if np.isnan(raw).any() else "infinity"
        raise error("E0404", f"{what} made {kind}",
                    help="gradcli.disable_check_numerics() lets it pass")
