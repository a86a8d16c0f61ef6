"""Parts that a derivative leaves out: operands that depend on the source, as the order of a Bessel
function, but for which their operation has no rule.

Where all paths lead through such operands, the derivative is None; where one path does not, the
parts along the others count as 0, as in TensorFlow, and a note says so.
"""

from __future__ import annotations

from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES, ancestry, span_of
from gradcli.explain.catalogue import Note
from gradcli.explain.written import called, written
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcli.base.errors import Source
    from gradcli.engine.record.record import Entry
    from gradcli.engine.record.tensor import Tensor

# The largest number of operations that are named.
MOST = 3


def left_out(entries: Sequence[Entry], targets: Sequence[Tensor], sources: Sequence[Tensor],
             source: Source) -> list[Note]:
    """Return notes, up to MOST, on operations with a part of the derivative that is left out."""
    leads = ancestry(entries, [t.id for t in targets], lambda entry: [
        i for _, i in _moving(entry)])
    moved = {s.id for s in sources if s.id is not None}
    found: dict[tuple[str, object], Note] = {}
    for entry in entries:
        if moved.isdisjoint(entry[IDS]) or entry[OUT] not in leads or not is_float(entry[ANS]):
            continue
        for k, i in _moving(entry):
            if i in moved:
                moved.add(entry[OUT])
                if not entry[OP].edge(k):
                    note = _note(entry, k, source)
                    found.setdefault((note.message, note.span), note)
    return list(found.values())[:MOST]


def _moving(entry: Entry) -> Iterator[tuple[int, int]]:
    """Yield (number, id) of the operands that the value depends on, also without a rule."""
    op, values = entry[OP], entry[VALUES]
    for k, i in enumerate(entry[IDS]):
        if i is not None and (op.edge(k) or (op.partial and op.role(k) == "index"
                                             and is_float(values[k]))):
            yield k, i


def _note(entry: Entry, k: int, source: Source) -> Note:
    text = written(entry, source) or called(entry, source)
    which = ("first", "second", "third")[k]
    return Note("part-left-out", f"not the whole derivative: `{text}` has no rule for its {which}"
                " argument, so the part through it counts as 0; `gradcli grad --mode finite` takes"
                " differences instead", span_of(entry))
