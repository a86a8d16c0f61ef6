"""Where a formula holds: what decided the way through the program, and what was left out."""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.formulas.build import terms_of
from gradcli.formulas.terms import NAME, needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.formulas.derive import Derivation
    from gradcli.formulas.terms import Term
    from gradcli.formulas.writing import Writer

OPPOSITE = {"less": ">=", "less_equal": ">", "greater": "<=", "greater_equal": "<",
            "equal": "!=", "not_equal": "=="}

# A condition of more characters says nothing to a reader.
LONGEST = 120
# So many decisions, as of a loop, are told; others only counted.
MOST = 12


def told(found: Derivation, writer: Writer) -> list[str]:
    """Conditions such as `x > 0`, those of the way first."""
    out = list(dict.fromkeys(_of_way(found, writer)))
    strong = {t for t, text in found.algebra.conditions if text == "> 0"}
    for term, text in found.algebra.conditions:
        if text != "> 0" and term in strong:
            continue
        shown = _text(writer, term)
        if shown is not None:
            out.append(f"{shown} {text}")
    if len(out) > MOST:
        out[MOST:] = [f"{len(out) - MOST} more decisions go the same way"]
    return out


def _of_way(found: Derivation, writer: Writer) -> list[str]:
    record = found.run.record
    table = found.algebra.table
    out = []
    known = {b.value.id: table.name(b.name, b.value.shape) for b in found.bindings
             if b.value.id is not None}
    from gradcli.tape.tensor import Tensor

    before = dict(found.algebra.conditions)
    for id, value in record.guards or ():
        try:
            (term,) = terms_of(found.algebra, record.history(), known, [Tensor(value, id, 0)])
        except GradcliError:
            continue
        if not _varies(term):
            continue
        if isinstance(value, bool) or type(value).__name__ == "bool_":
            shown = _condition(writer, term, bool(value))
        else:
            text = _text(writer, term)
            shown = None if text is None else f"{text} == {value:g}" if isinstance(
                value, (int, float)) else None
        if shown is not None:
            out.append(shown)
    found.algebra.conditions = before
    return out


def _varies(term: Term) -> bool:
    return any(t.kind == NAME and not t.attributes for t in needed([term]))


def _condition(writer: Writer, term: Term, holds: bool) -> str | None:
    if holds:
        return _text(writer, term)
    if term.op is not None and term.op.name in OPPOSITE:
        x, y = [_text(writer, t) for t in term.args]
        if x is not None and y is not None:
            return f"{x} {OPPOSITE[term.op.name]} {y}"
        return None
    shown = _text(writer, term)
    return None if shown is None else f"not ({shown})"


def _text(writer: Writer, term: Term) -> str | None:
    """A term as gradcli writes it, unless it is long."""
    from gradcli.formulas.gradcli_text import Gradcli

    try:
        (text,) = Gradcli(writer.algebra).texts([term], {})
    except GradcliError:
        return None
    return text if len(text) <= LONGEST else None
