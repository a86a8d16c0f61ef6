"""The reverse sweep with all its shares kept: where a cotangent became 0."""

from __future__ import annotations

from gradcli.explain.shares import watch
from gradcli.sweeps import constant, reach
from gradcli.sweeps.derivatives import weights_of
from gradcli.tape.record import IDS, OP, OUT, span_of
from gradcli.tape.tensor import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.run import Run
    from gradcli.source import Source
    from gradcli.tape.record import Entry
    from gradcli.tape.tensor import Tensor


class Swept:
    """One sweep for all sources: the cotangent of each value, and what each of its uses gave to it.

    totals: by id. into: by id (operation, argument, share).
    """

    __slots__ = ("_ruled", "_swept", "bindings", "derived", "entries", "into", "source", "sources",
                 "totals", "weights")

    def __init__(self, run: Run, targets: Sequence[Tensor], seeds: Sequence[Any],
                 sources: Sequence[int], source: Source) -> None:
        self.entries = run.record.history()
        self.derived = run.record.derived
        self.bindings = run.bindings
        self.source = source
        self.sources = sources
        self.weights = weights_of(targets, seeds)
        self.totals: dict[int, Any] = {}
        self.into: dict[int, list[tuple[Entry, int, Any]]] = {}
        self._swept = False
        self._ruled: set[int] | None = None

    def sweep(self) -> None:
        """The sweep itself, once."""
        if not self._swept:
            self._swept = True
            watch(self.entries, self.weights, self.sources, self._keep)

    def _keep(self, entry: Entry, k: int, g: Any, c: Any) -> None:
        self.totals[entry[OUT]] = value_of(g)
        i = entry[IDS][k]
        assert i is not None
        self.into.setdefault(i, []).append((entry, k, value_of(c)))

    def named(self, id: int | None) -> str | None:
        """The name that a value was bound to."""
        for bound in self.bindings.values():
            for b in bound:
                if id is not None and getattr(b.value, "id", None) == id:
                    return f"`{b.name}`"
        return None

    def first(self) -> Span | None:
        """The place of what a derivative that went into the target is the derivative of."""
        wanted = reach.ancestry(self.entries, self.weights)
        firsts = {self.derived[i][0] for i in wanted if i in self.derived}
        return next((span_of(e) for e in reversed(self.entries) if e[OUT] in firsts), None)

    def by_rule(self, entry: Entry) -> bool:
        """Whether a derivative rule did this, and not the file."""
        if not self.derived:
            return False
        if self._ruled is None:
            self._ruled = constant.made_by_rules(self.entries, self.derived, self.weights)
        return entry[OUT] in self._ruled

    def reached(self, wrt: int) -> set[int]:
        """The values that move with a source."""
        moving = {wrt}
        for e in self.entries:
            if any(i in moving and e[OP].edge(j) and e[OP].rules[j:j + 1] != (0.0,)
                   for j, i in enumerate(e[IDS])):
                moving.add(e[OUT])
        return moving
