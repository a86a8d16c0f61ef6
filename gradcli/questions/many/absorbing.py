"""Gradients that came out as NaN, once more with zeros that absorb an infinite slope.

Which zeros absorb depends on the values, so it cannot be recorded at one point for the others.
What ran is run again on a batch of the points concerned, through the tape's own operations, and
swept as the command line would (`gradcli.engine.sweeps.absorbing`).
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import ATTRIBUTES, IDS, OP, OUT, VALUES, Record, fresh_id
from gradcli.engine.record.tensor import Tensor, apply, value_of
from gradcli.engine.sweeps import absorbing
from gradcli.lang.running.run import parts
from gradcli.questions.ask import seeds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Run
    from gradcli.questions.ask import Ask


class Forward:
    """What a program did before any derivative, and what is asked of it."""

    __slots__ = ("entries", "guard_sqrt", "inputs", "sources", "targets")

    def __init__(self, ask: Ask, run: Run, entries: Sequence[Entry], inputs: Iterable[int]
                 ) -> None:
        self.entries = entries
        self.inputs = list(inputs)
        self.guard_sqrt = ask.tf
        self.sources = [ask.source(run, b) for b in ask.program.sources(run, ask.wrt)]
        self.targets = []
        for target in ask.program.targets(run, ask.of):
            tensors = parts(target)
            self.targets.append((tensors, seeds_of(ask, tensors)))

    def gradients(self, columns: Sequence[Any]) -> Iterator[Any]:
        """Per target and source the gradients [points, source's shape], or None."""
        n = len(columns[0])
        record = Record()
        with record, quiet():
            made = {i: Tensor(column, fresh_id(), 1)
                    for i, column in zip(self.inputs, columns, strict=True)}
            for entry in self.entries:
                ids: Any = entry[IDS]
                if any(i in made for i in ids):
                    made[entry[OUT]] = apply(
                        entry[OP], [made[i] if i in made else v
                                    for i, v in zip(ids, entry[VALUES], strict=True)],
                        entry[ATTRIBUTES])
            entries = record.history()
            for tensors, weights in self.targets:
                seeds: dict[int, Any] = {}
                for k, t in enumerate(tensors):
                    again: Any = made.get(t.id)     # type: ignore[arg-type]
                    if again is not None:
                        seed = np.ones((n, *t.shape)) * (weights[k] if weights else 1.0)
                        seeds[again.id] = Tensor(seed + value_of(seeds.get(again.id, 0.0)), None, 1)
                for s in self.sources:
                    source: Any = made.get(s.id)    # type: ignore[arg-type]
                    found = None if source is None else absorbing.reverse(
                        entries, seeds, [source.id], guard_sqrt=self.guard_sqrt).get(source.id)
                    yield None if found is None else value_of(found)
