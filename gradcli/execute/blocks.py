"""A graph run on blocks of points: arrays whose first axis is the point.

A block fits the cache, and each statement writes into one of few buffers that are used again as
soon as nobody reads them (`ufunc(..., out=)`). So a million points cost no more memory than one
block, and what a point gets does not depend on the others: statements work element by element, or
row by row.
"""

from __future__ import annotations

from gradcli.execute.graph import Constant
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.execute.graph import Graph

# Points in a block: measured best between 8 and 16 thousand, for 30 to 100 statements.
BLOCK = 8192


class Executor:
    """Runs a graph on blocks of at most `size` points."""

    __slots__ = ("answers", "buffers", "dtypes", "graph", "inputs", "program", "shapes", "size",
                 "slots")

    def __init__(self, graph: Graph, size: int = BLOCK) -> None:
        self.graph = graph
        self.size = size
        self.inputs = len(graph.shapes)
        # (function, slots of the operands, slot of the answer, buffer for it or -1)
        self.program: list[tuple[Callable[..., Any], tuple[int, ...], int, int]] = []
        # Values by number while a block runs, behind them the constants.
        self.slots: list[Any] = [None] * (self.inputs + len(graph.steps))
        self.buffers: list[Any] = []
        self.shapes = dict(enumerate(graph.shapes))
        self.dtypes = dict.fromkeys(range(self.inputs), np.dtype(float))
        self._compile()

    def run(self, columns: Sequence[Any]) -> list[Any]:
        """The answers at points: columns of equal length in, one array for each answer out."""
        n = len(columns[0])
        found = [self._empty(a, n) for a in self.graph.answers]
        with np.errstate(all="ignore"):
            for start in range(0, n, self.size):
                stop = min(start + self.size, n)
                self._block([c[start:stop] for c in columns], found, start, stop)
        return found

    def _empty(self, answer: int | Constant, n: int) -> Any:
        if isinstance(answer, Constant):
            value = np.asarray(answer.value)
            return np.broadcast_to(value, (n, *value.shape))
        return np.empty((n, *self.shapes[answer]), self.dtypes[answer])

    def _block(self, columns: Sequence[Any], found: Sequence[Any], start: int, stop: int) -> None:
        slots, n = self.slots, stop - start
        slots[:self.inputs] = columns
        buffers = self.buffers if n == self.size else [b[:n] for b in self.buffers]
        for function, operands, out, buffer in self.program:
            if buffer < 0:
                slots[out] = function(*[slots[k] for k in operands])
            else:
                slots[out] = function(*[slots[k] for k in operands], out=buffers[buffer])
        for answer, into in zip(self.graph.answers, found, strict=True):
            if isinstance(answer, int):
                into[start:stop] = slots[answer]

    def _compile(self) -> None:
        """Choose slots and buffers, by running the statements on two points."""
        last = self._last_uses()
        free: dict[Any, list[int]] = {}
        held: dict[int, tuple[Any, int]] = {}
        self.slots[:self.inputs] = [np.ones((2, *shape)) for shape in self.graph.shapes]
        with np.errstate(all="ignore"):
            for k, step in enumerate(self.graph.steps):
                out = self.inputs + k
                operands = tuple([self._slot(o) for o in step.operands])
                value = step.function(*[self.slots[o] for o in operands])
                self.slots[out] = value
                self.shapes[out], self.dtypes[out] = value.shape[1:], value.dtype
                for o in {o for o in operands if last.get(o) == out and o in held}:
                    kind, buffer = held.pop(o)
                    free.setdefault(kind, []).append(buffer)
                buffer = -1
                if isinstance(step.function, np.ufunc):
                    kind = value.shape[1:], value.dtype.str
                    if free.get(kind):
                        buffer = free[kind].pop()
                    else:
                        buffer = len(self.buffers)
                        self.buffers.append(np.empty((self.size, *value.shape[1:]), value.dtype))
                    held[out] = kind, buffer
                self.program.append((step.function, operands, out, buffer))

    def _slot(self, operand: int | Constant) -> int:
        if isinstance(operand, int):
            return operand
        self.slots.append(operand.value)
        return len(self.slots) - 1

    def _last_uses(self) -> dict[int, int]:
        """Number of a value to that of the last statement that reads it; of views, never."""
        end = self.inputs + len(self.graph.steps)
        last = {a: end for a in self.graph.answers if isinstance(a, int)}
        for k, step in enumerate(self.graph.steps):
            # What is no ufunc may hand on a view of its operand.
            reads = self.inputs + k if isinstance(step.function, np.ufunc) else end
            for o in step.operands:
                if isinstance(o, int) and last.get(o) != end:
                    last[o] = reads
        return last
