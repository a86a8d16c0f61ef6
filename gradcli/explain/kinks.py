"""Conventions that decided a derivative: a tie, a kink, on the way from source to target."""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.explain.naming import called
from gradcli.explain.reason import Note
from gradcli.ops.kinds import FLAT
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import shape_of
from gradcli.sweeps import reach
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, span_of
from gradcli.tape.saved import is_hollow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.run import Run
    from gradcli.source import Source
    from gradcli.tape.record import Entry
    from gradcli.tape.tensor import Tensor


# Words of conventions where the value itself jumps.
JUMPS = ("jumps", "0, with slope")


class Kinks:
    """The conventions on the ways to the targets. hits: (operation, where, operands) of those that
    were used, in order.
    """

    __slots__ = ("_decisive", "entries", "hits", "source", "targets")

    def __init__(self, run: Run, targets: Sequence[Tensor], source: Source) -> None:
        self.source = source
        self.entries = run.record.history()
        self.targets = [t.id for t in targets if t.id is not None]
        self._decisive: dict[int, set[int]] = {}
        leading = _leading(self.entries, self.targets)
        self.hits: list[tuple[Entry, Any, Sequence[Any]]] = []
        values: dict[int, Any] | None = None
        for entry in self.entries:
            if entry[OP].kink is not None and entry[OUT] in leading:
                operands: Sequence[Any] | None = entry[VALUES]
                if any(map(is_hollow, entry[VALUES])):
                    # A tape did not keep what no rule reads.
                    if values is None:
                        from gradcli.explain import kept

                        values = kept.filled(kept.seen(self.entries), self.entries, kept.bound(run))
                    operands = _again(entry, values)
                hits = False if operands is None else _hits(entry, operands)
                if np.any(hits) if shape_of(hits) else hits:
                    self.hits.append((entry, hits, operands or ()))

    def of(self, wrt: Tensor, order: int = 1) -> list[Note]:
        """Those on the ways from one source that decide a derivative, each place once. order: of
        the derivative; of higher ones all that lie on the ways.
        """
        if not self.hits or wrt.id is None:
            return []
        decisive = self._deciding(wrt) if order == 1 else None
        on_way = reach.active(
            reach.window(self.entries, [wrt.id], [self.hits[-1][0][OUT]]), [wrt.id])
        found: dict[tuple[str, Span | None], Note] = {}
        for entry, hits, _ in self.hits:
            if decisive is not None and entry[OUT] not in decisive:
                continue
            # A step lets no derivative through, but its jump counts.
            if entry[OUT] != wrt.id and (entry[OUT] in on_way or (
                    entry[OP].kind == FLAT and not on_way.isdisjoint(entry[IDS]))):
                note = _kink(entry, hits, self.source)
                found.setdefault((note.message, note.span), note)  # once for a whole loop
        return list(found.values())


    def _deciding(self, wrt: Tensor) -> set[int]:
        """The ids of operations whose conventions decide a first derivative in one source."""
        assert wrt.id is not None
        if wrt.id not in self._decisive:
            from gradcli.explain.one_sided import decisive

            jumps = {entry[OUT] for entry, *_ in self.hits
                     if any(word in entry[OP].kinks for word in JUMPS)}
            try:
                self._decisive[wrt.id] = jumps | decisive(
                    self.entries, {entry[OUT]: operands for entry, _, operands in self.hits
                                   if entry[OUT] not in jumps}, wrt.id, wrt.value, self.targets)
            except GradcliError:    # an operation without a rule is on some other way
                self._decisive[wrt.id] = {entry[OUT] for entry, *_ in self.hits}
        return self._decisive[wrt.id]


def kinks(run: Run, targets: Sequence[Tensor], wrt: Tensor, source: Source, order: int = 1
          ) -> list[Note]:
    """The conventions on the ways from the value `wrt` to the targets."""
    return Kinks(run, targets, source).of(wrt, order)


def _leading(entries: Sequence[Entry], targets: Sequence[int]) -> set[int]:
    """The values from which a derivative passes to the targets, and not only through a choice that
    does not take them.
    """
    wanted = set(targets)
    for entry in reversed(entries):
        if entry[OUT] in wanted:
            op, ids = entry[OP], entry[IDS]
            if op.name == "where" and not is_hollow(entry[VALUES][0]):
                mask = np.asarray(entry[VALUES][0])
                taken = [k for k, some in ((1, mask.any()), (2, not mask.all())) if some]
            else:
                taken = [k for k in range(len(ids)) if op.edge(k)]
            wanted.update([i for k in taken for i in [ids[k]] if i is not None])
    return wanted


def _again(entry: Entry, values: Mapping[int, Any]) -> Sequence[Any] | None:
    """The operands with their numbers, None where one has none any more."""
    from gradcli.explain import kept

    found = [v if i is None else values.get(i, v)
             for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
    return None if any(map(kept.unknown, found)) else found


def _hits(entry: Entry, operands: Sequence[Any]) -> Any:
    """Where: a truth value, or one for each element."""
    op = entry[OP]
    assert op.kink is not None
    with quiet():
        return op.kink(*operands) if op.elementwise else op.kink(
            entry[ANS], *operands, **entry[ATTRIBUTES])


def _kink(entry: Entry, hits: Any, source: Source) -> Note:
    """In one style: `max`: 2 of 3 elements tie; ties share the gradient evenly."""
    op = entry[OP]
    tie = "tie" in op.kinks
    count, size = (int(np.sum(hits)), hits.size) if shape_of(hits) else (1, 1)
    if op.elementwise and size == 1:
        what = ": both arguments tie" if tie else " is at a kink"
    elif tie and shape_of(hits) != shape_of(entry[VALUES][0]):
        what = f": elements tie in {count} of {size} places"
    elif tie:
        what = f": {count} of {size} elements tie"
    elif size == 1:
        what = " is at a kink"
    else:
        what = f": {count} of {size} elements {'is' if count == 1 else 'are'} at a kink"
    return Note("tie" if tie else "kink", f"`{called(entry, source)}`{what}; {op.kinks}",
                span_of(entry))
