"""check_numerics for everything: stop at the first operation that makes NaN or infinity."""

from __future__ import annotations

from sys import _getframe

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.provenance import beyond, position, span_in
from gradcli.ops.values import SCALAR_TYPES, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def enable_check_numerics() -> None:
    """Raise E0404 from now on for an operation on tensors in this thread that makes NaN or
    infinity, forwards and in a gradient, with its file and line. Programs (`load`, `loads`) are not
    concerned: they have notes.
    """
    record = records.current()
    record.checking = True
    record.settle()


def disable_check_numerics() -> None:
    """Let NaN and infinity pass again, as NumPy does."""
    record = records.current()
    record.checking = False
    record.settle()


def check(value: Any, what: str, operands: Sequence[Any] = (), place: Any = None) -> None:
    """Raise E0404 unless all elements of a value are finite.

    what: its maker, for the message. operands: of the maker. place: where it stands; None: where
    the code that is running does.
    """
    raw = getattr(value, "value", value)
    if type(raw) in SCALAR_TYPES:
        bad = type(raw) is float and raw - raw != 0.0
    else:
        bad = raw.dtype.kind in "fc" and not np.isfinite(raw).all()
    if bad:
        kind = "NaN" if np.isnan(raw).any() else "infinity"
        numbers = " and ".join([telling(v) for v in operands if type(v) is float])
        found = Diagnostic("E0404", f"{what}{numbers and ' of '}{numbers} made {kind}",
                           help="gradcli.disable_check_numerics() lets it pass")
        at = position(place or beyond(_getframe(2)))
        if at is not None:
            from linecache import getlines

            lines = getlines(at[0]) or ["\n"] * at[1]
            found.source = Source("".join(lines), at[0])
            found.span = span_in(lines, at)
        raise GradcliError(found)
