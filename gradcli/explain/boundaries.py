"""Comparisons whose sides are equal: what is said at such a point is said of one branch."""

from __future__ import annotations

from gradcli.explain.reason import Note, span_of
from gradcli.ops.lazy import np, quiet
from gradcli.sweeps import reach
from gradcli.tape.operators import COMPARISONS
from gradcli.tape.record import IDS, OP, OUT, VALUES
from gradcli.tape.saved import is_hollow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.lang.run import Run
    from gradcli.tape.record import Record
    from gradcli.tape.tensor import Tensor


def boundaries(record: Record, sources: Sequence[Tensor], targets: Sequence[Tensor]) -> list[Note]:
    """Notes on choices that lead from sources to targets, by a comparison of what is equal: a step
    to one side chooses otherwise.
    """
    entries = record.history()
    made = {entry[OUT]: entry for entry in entries}
    moved = reach.active(entries, [s.id for s in sources if s.id is not None])
    leading = reach.leading(entries, [t.id for t in targets if t.id is not None])
    found: dict[Any, Note] = {}
    for entry in entries:
        waiting = [entry[IDS][0]] if entry[OP].role(0) == "condition" and (
            entry[OUT] in leading) else []
        while waiting:
            at = waiting.pop()
            test = None if at is None else made.get(at)
            if test is None:
                continue
            waiting += test[IDS]
            if test[OP] in COMPARISONS.values() and not moved.isdisjoint(test[IDS]) and np.any(
                    np.equal(*test[VALUES])):
                told = Note("boundary", "both sides of the comparison are equal there: what"
                            " stands here is of one branch", span_of(test))
                found.setdefault(told.span, told)
    return list(found.values())


def at_edge(run: Run, source: Tensor) -> bool:
    """Whether something that moves with a source is compared with its equal, or is at a kink."""
    entries = run.record.history()
    moved = reach.active(entries, [source.id]) if source.id is not None else set()
    with quiet():
        return any(
            np.any(np.equal(*e[VALUES])) if e[OP] in COMPARISONS.values()
            else e[OP].elementwise and e[OP].kink is not None and np.any(e[OP].kink(*e[VALUES]))
            for e in entries if not moved.isdisjoint(e[IDS]) and not any(map(is_hollow, e[VALUES])))
