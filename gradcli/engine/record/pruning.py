"""Pruning: entries that no live value goes back to are dropped.

So a long loop under one tape runs in memory proportional to the entries that it still needs.
"""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, OUT
from gradcli.engine.record.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.engine.record.record import Record


def prune(record: Record, live: Any) -> int:
    """Drop the entries of a record of everything that lead to no tensor in `live`, a structure of
    any depth, and to no condition; return the number of entries that are left.
    """
    wanted: set[int] = {i for i, _ in record.guards or ()}
    pending = [live]
    seen: set[int] = set()
    while pending:
        item = pending.pop()
        if isinstance(item, Tensor):
            if item.id is not None:
                wanted.add(item.id)
        elif isinstance(item, (list, tuple, dict)) and id(item) not in seen:
            seen.add(id(item))
            pending.extend(item.values() if isinstance(item, dict) else item)
    count = 0
    for segment in reversed(record.segments):
        kept = []
        for entry in reversed(segment):
            op: Any = entry[OP]
            if entry[OUT] in wanted or (
                    op.kind == "stretch" and not wanted.isdisjoint(op.made())):
                wanted.update([i for i in entry[IDS] if i is not None])
                kept.append(entry)
        kept.reverse()
        segment[:] = kept
        count += len(kept)
    record.derived = {
        made: ends for made, ends in record.derived.items() if made in wanted}
    return count
