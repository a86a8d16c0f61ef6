"""Why a value or a gradient is no finite number: the first operation that made it so."""

from __future__ import annotations

from gradcli.calculus import ancestry
from gradcli.explain.reason import Note, span_of
from gradcli.ops.values import SCALAR_TYPES
from gradcli.tape.record import ANS, OP, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.lang.run import Run
    from gradcli.tape.record import Entry
    from gradcli.tape.tensor import Tensor

# Growing operations whose infinity is an overflow and not a pole.
GROWING = ("exp", "exp2", "expm1", "sinh", "cosh", "power", "square", "multiply", "add", "gamma")


def of_value(run: Run, targets: Sequence[Tensor]) -> list[Note]:
    """The first operation on the way to a NaN or infinite target whose operands were finite."""
    wanted: set[int] = set()
    for t in targets:
        if t.id is not None and not _finite(t.value):
            wanted |= ancestry(t.id)
    for entry in run.record.history() if wanted else ():
        if entry[OUT] in wanted and not _finite(entry[ANS]) and all(map(_finite, entry[VALUES])):
            return [_nonfinite(entry)]
    return []


def _finite(value: Any) -> bool:
    if type(value) is float:
        return value - value == 0.0
    if type(value) in SCALAR_TYPES or value.dtype.kind not in "fc":
        return True
    from gradcli.ops.lazy import np

    return bool(np.isfinite(value).all())


def _nonfinite(entry: Entry) -> Note:
    op = entry[OP]
    operands = ", ".join(_short(v) for v in entry[VALUES])
    is_nan = type(entry[ANS]) is not float or entry[ANS] != entry[ANS]
    if type(entry[ANS]) is not float:
        from gradcli.ops.lazy import np

        is_nan = bool(np.isnan(entry[ANS]).any())
    domain = f" (domain: {op.domain})" if op.domain else ""
    if is_nan:
        return Note("nan-domain", f"`{op.name}` of {operands} is not a number{domain}",
                    span_of(entry))
    if op.name in GROWING:
        return Note("nan-overflow", f"`{op.name}` of {operands} is too large for a float",
                    span_of(entry))
    return Note("nan-pole", f"`{op.name}` of {operands} is infinite{domain}", span_of(entry))


def _short(value: Any) -> str:
    if type(value) is float:
        return f"{value:.6g}"
    if type(value) in SCALAR_TYPES:
        return repr(value)
    return f"a tensor of shape [{', '.join(str(n) for n in value.shape)}]"
