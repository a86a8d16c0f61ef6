"""The ways through a program that points take, each run on whole blocks.

A way is recorded at one point, with everything that decided it: the conditions of branches and
loops, indices, lengths. These are calculated for a block as the answers are; points where one of
them is another go another way, which is recorded when the first of them is met. A point whose way
cannot be run on a block (a custom gradient, `np.`, a tape of the file) and a point whose gradient
comes out as NaN, where zeros may absorb, is asked by itself, as the command line would.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.execute.blocks import Executor
from gradcli.execute.graph import graph
from gradcli.ops.lazy import np
from gradcli.program import parts
from gradcli.tape.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.answers.ask import Ask

# After so many ways points are asked one by one: each has a way of its own, it seems.
MAX_PATHS = 64
# Operations that are not the same row by row as on a block.
BY_ROW = ("left_engine", "shuffle", "random")


class Path:
    """One way: what decided it, and what it answers. found: per target the value and a gradient per
    source (None: there is none on this way).
    """

    __slots__ = ("answers", "expected", "guards", "missing")

    def __init__(self, guards: Executor | None, expected: Sequence[Any], answers: Executor,
                 missing: Sequence[bool]) -> None:
        self.guards = guards
        self.expected = expected
        self.answers = answers
        self.missing = missing

    def takes(self, columns: Sequence[Any]) -> Any:
        """Which points go this way: truth values."""
        n = len(columns[0])
        if self.guards is None:
            return np.ones(n, bool)
        found = np.ones(n, bool)
        for values, expected in zip(self.guards.run(columns), self.expected, strict=True):
            same = values == expected
            found &= same.reshape(n, -1).all(axis=1) if same.ndim > 1 else same
        return found


def recorded(ask: Ask, names: Sequence[str], point: Mapping[str, Any], size: int) -> Path:
    """The way of one point. names: of the columns. Raises what the program raises there."""
    run = ask.program.traced_run({**ask.at, **point})
    with run.record:
        decided = run.record.guards or []
        run.record.guards = None
        wanted: list[tuple[int | None, Any]] = []
        missing: list[bool] = []
        bindings = ask.program.sources(run, ask.wrt)
        for target in ask.program.targets(run, ask.of):
            tensors = parts(target)
            total = tensors[0] if len(tensors) == 1 else sum(tensors[1:], tensors[0])
            wanted.append((getattr(total, "id", None), value_of(total)))
            missing.append(False)
            found = calculus.gradient(tensors, [b.value for b in bindings], emit=True)
            for b, g in zip(bindings, found, strict=True):
                missing.append(g is None)
                wanted.append((g.id, g.value) if isinstance(g, Tensor) else (
                    None, np.full(b.value.shape, np.nan)))
        entries = run.record.history()
    inputs = {}
    for name in names:
        value = run.bindings[name][0].value
        inputs[value.id] = value.shape
    guards = graph(entries, inputs, decided)
    kept = [k for k, a in enumerate(guards.answers) if isinstance(a, int)]
    guards.answers = [guards.answers[k] for k in kept]
    return Path(
        Executor(guards, size) if kept else None, [decided[k][1] for k in kept],
        Executor(graph(entries, inputs, wanted), size), missing)
