"""Conventions that decided a derivative: a tie, a kink, on the way from source to target."""

from __future__ import annotations

from gradcli.calculus import ancestry
from gradcli.explain.reason import Note, span_of
from gradcli.ops.lazy import quiet
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Span
    from gradcli.lang.run import Run
    from gradcli.tape.record import Entry
    from gradcli.tape.tensor import Tensor


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
