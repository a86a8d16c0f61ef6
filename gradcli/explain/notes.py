"""Notes: true answers that need a word: a name that was bound again, a sum, a zero on request."""

from __future__ import annotations

from gradcli.explain.reason import Note
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gradcli.errors import Span
    from gradcli.explain.reason import Reason
    from gradcli.lang.run import Binding, Run
    from gradcli.tape.record import Record
    from gradcli.tape.tensor import Tensor

# Numbers that a note names.
MAX_SHOWN = 4


def rebound(run: Run, binding: Binding) -> list[Note]:
    """The name was bound again: the derivative is with respect to the first value."""
    bindings = run.bindings.get(binding.name, [])
    if len(bindings) < 2 or bindings[0] is not binding:
        return []
    return [Note("rebound", f"`{binding.name}` is bound again here; the derivative is with respect"
                 " to its first value", bindings[1].span)]


def requested_zero(why: Reason) -> list[Note]:
    """A 0 because --unconnected zero asks for it; behind a step it happens to be the derivative."""
    found = [Note("zero-requested", "no path: 0 because --unconnected zero asks for it"
                  f" ({why.message})", why.span)]
    if why.code == "path-step-function":
        found.append(Note("zero-flat", "a step is flat: 0 is its slope wherever it has one",
                          why.span))
    return found


def out_of_range(run: Run, tensors: Iterable[Tensor]) -> set[int]:
    """Ids of values that would be other floats if nothing had been lost beyond their range on the
    way.
    """
    from gradcli.sweeps import wide

    finite = [t.id for t in tensors if t.id is not None and is_float(t.value)
              and bool(np.isfinite(t.value).all())]
    with quiet():
        return wide.flushed(run.record.history(), finite)


def flushed(name: str, span: Span | None) -> Note:
    """A value is another float than it would be if nothing had been lost."""
    return Note("range-value", f"the value of {name} is not right: a number on the way is too"
                " small or too large for a float", span)


def lost(record: Record, source: Tensor, name: str, span: Span | None) -> list[Note]:
    """Something of a derivative was lost beyond the range of floats."""
    count = record.lost.get(source.id, 0) if source.id is not None else 0
    if not count:
        return []
    what = "the derivative" if count == 1 else f"{count} elements of the derivative"
    return [Note("range-slope", f"{what} in {name} may be wrong: a slope on the way is too small"
                 " or too large for a float, and what it meets makes that count", span)]


def shown(found: Mapping[str, str], span: Span | None) -> Note:
    """Numbers of a table that are no floats. found: what each is called to what was used."""
    first = list(found.items())[:MAX_SHOWN]
    said = ", ".join([f"{name} is about {text}" for name, text in first])
    more = f", and {len(found) - len(first)} more" if len(found) > len(first) else ""
    return Note("range-shown", f"{said}{more}: no float holds that, so what is printed there is not"
                " what the derivative was calculated with", span)


def summed(name: str, count: int, span: Span, each: str = "gradcli jac") -> Note:
    """The gradient of a target with several elements is that of their sum; each: what to ask for
    that of each.
    """
    elements = "1 element" if count == 1 else f"{count} elements"
    return Note("sum", f"{name} has {elements}: this is the gradient of their sum; `{each}` gives"
                " each", span)
