"""Notes: true answers that need a word. Kinks and ties that were hit, values that are no numbers,
a name that was bound again.
"""

from __future__ import annotations

from gradcli.calculus import ancestry
from gradcli.ops.lazy import quiet
from gradcli.ops.values import SCALAR_TYPES
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, PLACE, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.explain.reason import Reason
    from gradcli.lang.run import Binding, Run
    from gradcli.tape.record import Entry
    from gradcli.tape.tensor import Tensor

# Growing operations whose infinity is an overflow and not a pole.
GROWING = ("exp", "exp2", "expm1", "sinh", "cosh", "power", "square", "multiply", "add", "gamma")


class Note:
    """A code, a sentence, a place."""

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span


def kinks(run: Run, targets: Sequence[Tensor], source: Tensor) -> list[Note]:
    """Conventions that decided the derivative: a tie, a kink, on the way from source to target."""
    entries = run.record.history()
    wanted: set[int] = set()
    for t in targets:
        if t.id is not None:
            wanted |= ancestry(t.id)
    below = {source.id}
    found: dict[tuple[str, Span | None], Note] = {}
    for entry in entries:
        if any(i in below for i in entry[IDS]):
            below.add(entry[OUT])
            if entry[OUT] in wanted and entry[OP].kink is not None:
                count = _hits(entry)
                if count:
                    note = _kink(entry, count)
                    found.setdefault((note.message, note.span), note)  # once for a whole loop
    return list(found.values())


def _hits(entry: Entry) -> int:
    op = entry[OP]
    assert op.kink is not None
    with quiet():
        hit = op.kink(*entry[VALUES]) if op.elementwise else op.kink(
            entry[ANS], *entry[VALUES], **entry[ATTRIBUTES])
    return int(hit) if isinstance(hit, (bool, int)) else int(hit.sum())


def _kink(entry: Entry, count: int) -> Note:
    op = entry[OP]
    where = f"{count} elements" if count > 1 else "here"
    tie = op.name in ("maximum", "minimum", "reduce_max", "reduce_min")
    return Note("tie" if tie else "kink", f"`{op.name}` is at a {'tie' if tie else 'kink'}"
                f" ({where}): {op.kinks}", span_of(entry))


def span_of(entry: Entry) -> Span | None:
    place = entry[PLACE]
    return (place[2], place[3]) if place is not None else None


def not_finite(run: Run, targets: Sequence[Tensor]) -> list[Note]:
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


def rebound(run: Run, binding: Binding) -> list[Note]:
    """The name was bound again: the derivative is with respect to the first value."""
    bindings = run.bindings.get(binding.name, [])
    if len(bindings) < 2 or bindings[0] is not binding:
        return []
    return [Note("rebound", f"`{binding.name}` is bound again here; the derivative is with respect"
                 " to its first value", bindings[1].span)]


def requested_zero(why: Reason) -> Note:
    """A 0 because --unconnected zero asks for it, not because it is the derivative."""
    return Note("zero-requested", "no path: 0 because --unconnected zero asks for it"
                f" ({why.message})", why.span)


def summed(name: str, count: int, span: Span) -> Note:
    """The gradient of a target with several elements is that of their sum."""
    return Note("sum", f"{name} has {count} elements: this is the gradient of their sum;"
                " `gradcli jac` gives each", span)
