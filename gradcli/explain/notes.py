"""Notes: true answers that need a word: a name that was bound again, a sum, a zero on request."""

from __future__ import annotations

from gradcli.explain.reason import Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span
    from gradcli.explain.reason import Reason
    from gradcli.lang.run import Binding, Run


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
