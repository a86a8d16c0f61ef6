"""The values that a derivative can reach: the connected part of the record between two ends."""

from __future__ import annotations

from _operator import itemgetter

from gradcli.engine.record.record import ANS, IDS, OP, OUT
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

_ids = itemgetter(IDS)


def since(entries: Sequence[Entry], id: int) -> int:
    """Return the index of the first entry made after the value `id`: ids only grow."""
    # Python's bisect is a library of its own, which every start would load.
    low, high = 0, len(entries)
    while low < high:
        middle = (low + high) // 2
        if entries[middle][OUT] <= id:
            low = middle + 1
        else:
            high = middle
    return low


def window(entries: Sequence[Entry], sources: Iterable[int], targets: Iterable[int]
           ) -> Sequence[Entry]:
    """Return the entries that can lie on a path: from the oldest source to the newest target."""
    first = since(entries, min(sources, default=0))
    last = since(entries, max(targets, default=0))
    if last < len(entries) and entries[last][OP].kind == "stretch":
        last += 1  # its id is that of the last value it made; the target may be one before
    return entries if first == 0 and last == len(entries) else entries[first:last]


def active(entries: Sequence[Entry], sources: Iterable[int]) -> set[int]:
    """Return the ids of values to which a derivative passes from `sources`, these included.

    An argument without a rule (a condition, an index, a step) lets none pass, nor does a value that
    is not a floating point number.
    """
    reached = set(sources)
    untouched, add = reached.isdisjoint, reached.add
    for entry in entries:
        ids = entry[IDS]
        if untouched(ids):
            continue
        op = entry[OP]
        if not op.smooth and not any(
                i in reached and op.edge(k) for k, i in enumerate(ids)):
            continue
        if type(entry[ANS]) is float or is_float(entry[ANS]):
            add(entry[OUT])
    return reached


def on_tape(entries: Sequence[Entry], watched: Iterable[int], late: Mapping[int, int]
            ) -> tuple[set[int], set[int]]:
    """Return the ids that are on a tape, the watched ones and the results of operations on them;
    and of these the latter, whose entries it recorded.

    late: when an id was watched that had been used before; earlier uses do not count, unless the
    tape had it already.
    """
    reached = set(watched)
    made: set[int] = set()
    untouched = reached.isdisjoint
    for entry in entries:
        ids = entry[IDS]
        if untouched(ids):
            continue
        if late and all(
                i not in reached or (i not in made and late.get(i, 0) > entry[OUT])
                for i in ids):
            continue
        reached.add(entry[OUT])
        made.add(entry[OUT])
    return reached, made


def ancestry(entries: Sequence[Entry], ids: int | Iterable[int | None],
             operands: Callable[[Entry], Iterable[int | None]] = _ids) -> set[int]:
    """Return all ids that went into a value, or into one of several, these included.

    operands: those of an entry that count, all by default.
    """
    found: set[Any] = {ids} if isinstance(ids, int) else set(ids)
    for entry in reversed(entries):
        if entry[OUT] in found:
            found.update(operands(entry))
    found.discard(None)  # of constants
    return found


def leading(entries: Sequence[Entry], targets: Iterable[int]) -> set[int]:
    """Return the ids of values from which a derivative passes to `targets`, these included."""
    return ancestry(entries, targets, lambda entry: [
        i for k, i in enumerate(entry[IDS]) if entry[OP].edge(k)])


def descendants(entries: Iterable[Entry], ids: Iterable[int]) -> set[int]:
    """Return these ids and those of all that depends on them in any way."""
    found = set(ids)
    for entry in entries:
        if not found.isdisjoint(entry[IDS]):
            found.add(entry[OUT])
    return found
