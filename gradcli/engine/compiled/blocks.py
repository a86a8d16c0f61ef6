"""A graph run on blocks of points: arrays whose first axis is the point.

A block fits the cache, and each statement writes into one of few buffers that are used again as
soon as nobody reads them, or into the answers themselves. So a million points cost no more memory
than one block.

What a point gets does not depend on the others, nor on where it stands in a block: statements work
element by element, or row by row. NumPy keeps this to the last bit for blocks of two rows or more;
a single row it may take another way (complex products, powers, sums over several axes). So a block
never has less than `LEAST` rows: all blocks of a run are equally long, and the last one begins so
early that it ends with the points, calculating some of them a second time.
"""

from __future__ import annotations

import math
from functools import partial

from gradcli.base.lazy import np
from gradcli.engine.compiled import statements
from gradcli.engine.compiled.statements import INTO, Constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.compiled.statements import Operand, Statements, Step
    from gradcli.engine.compiled.vectors import Block

# Numbers in a buffer. Measured for 90 to 110 statements: 4 thousand cost 1.4 times as much, 8 1.15,
# 32 as much.
BLOCK = 16384
# Rows in the smallest block: whole vectors for any processor.
LEAST = 16


class Executor:
    """Runs a graph on blocks of points, buffers of `size` numbers and more only for LEAST points.

    paired: sines and cosines from tangents (`gradcli.engine.compiled.statements`); None: where that
    pays and is exact. All machines that share a job must do the same. points: how many are
    expected: where that many pay and functions of vectors are exact, machine code runs them
    (`gradcli.engine.compiled.vectors`). flushed: a number left the range of floats since somebody
    set that back. numbers: the last answers that vary are known to be numbers all.
    """

    __slots__ = ("code", "flushed", "graph", "lanes", "numbers", "paired", "plan", "rows")

    def __init__(self, graph: Statements, size: int = BLOCK, paired: bool | None = None,
                 points: int = 0) -> None:
        self.flushed = False
        self.numbers = False
        self.code = _code(graph, points) if points else None
        if self.code is not None:
            paired = False
        self.paired = statements.available() if paired is None else paired
        self.graph = statements.paired(graph) if self.paired else graph
        self.plan = Plan(self.graph)
        largest = max([math.prod(step.shape) for step in self.graph.steps], default=1)
        self.rows = max(size // max(largest, 1) // LEAST * LEAST, LEAST)
        # Those that no thread works in at the moment.
        self.lanes: list[Lane] = []

    def run(self, columns: Sequence[Any], threads: int = 1) -> list[Any]:
        """Return the answers at points: columns of equal length in, one array for each answer out.

        Threads share Python's lock, which changes hands at every statement: processes scale better.
        """
        n = len(columns[0])
        if 0 < n < LEAST:
            filled = [np.concatenate([c, np.repeat(c[-1:], LEAST - n, axis=0)]) for c in columns]
            return [a[:n] for a in self.run(filled)]
        found = [self._empty(a, n) for a in self.graph.answers]
        if not n:
            return found
        if self.code is not None:
            far, nan = self.code.run(columns, [
                array for array, a in zip(found, self.graph.answers, strict=True)
                if isinstance(a, int)])
            self.flushed |= far
            self.numbers = not nan
            return found
        blocks = -(-n // self.rows)
        rows = min(-(-n // blocks // LEAST) * LEAST, n // LEAST * LEAST)
        starts = [min(k, n - rows) for k in range(0, n, rows)]
        if threads == 1 or len(starts) == 1:
            self._run(columns, found, starts, rows)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(threads) as pool:
                for part in [pool.submit(self._run, columns, found, starts[k::threads], rows)
                             for k in range(threads)]:
                    part.result()
        return found

    def _empty(self, answer: Operand, n: int) -> Any:
        if isinstance(answer, Constant):
            value = np.asarray(answer.value)
            return np.broadcast_to(value, (n, *value.shape))
        shape, dtype = self.graph.kind(answer)
        return np.empty((n, *shape), dtype)

    def _flush(self, kind: str, flags: int) -> None:
        """Note what NumPy tells: an overflow or underflow."""
        self.flushed = True

    def _run(self, columns: Sequence[Any], found: Sequence[Any], starts: Sequence[int], rows: int
             ) -> None:
        """Run some of the blocks, one behind the other, and write their answers into `found`."""
        try:
            lane = self.lanes.pop()
        except IndexError:
            lane = Lane(self.plan, rows)
        if lane.rows != rows:
            lane = Lane(self.plan, rows)
        types = [sample.dtype for sample in self.graph.samples]
        with np.errstate(all="ignore", over="call", under="call", call=self._flush):
            for start in starts:
                here = slice(start, start + rows)
                lane.run([*[c[here].astype(t, copy=False)
                            for c, t in zip(columns, types, strict=True)],
                          *[a[here] for a in found]])
        self.lanes.append(lane)


def _code(graph: Statements, points: int) -> Block | None:
    """Return a graph as machine code, where that pays and is possible."""
    from gradcli.engine.compiled import jit, machine

    if not jit.pays(points, len(graph.steps)) or not machine.available():
        return None
    from gradcli.engine.compiled.llvm import Refused
    from gradcli.engine.compiled.vectors import block

    try:
        return block(graph)
    except Refused:
        return None


class Lane:
    """The memory of one thread: buffers for blocks of `rows` rows, and the statements bound to
    them.
    """

    __slots__ = ("copies", "rows", "slots", "statements")

    def __init__(self, plan: Plan, rows: int) -> None:
        self.rows = rows
        self.copies = plan.copies
        self.slots = slots = [np.empty((rows, *s[0]), s[1]) if type(s) is tuple else s
                              for s in plan.slots]
        self.statements: list[tuple[Any, Any, tuple[int, ...], int, bool]] = []
        for function, operands, out, writes in plan.program:
            bound = None
            if all(slots[k] is not None for k in (*operands, out)):
                bound = partial(function, *[slots[k] for k in operands], out=slots[out])
            self.statements.append((bound, function, operands, out, writes))

    def run(self, given: Sequence[Any]) -> None:
        """Run one block. given: its inputs, and behind them the arrays for the answers."""
        slots = self.slots
        slots[:len(given)] = given
        for bound, function, operands, out, writes in self.statements:
            if bound is not None:
                bound()
            elif writes:
                function(*[slots[k] for k in operands], out=slots[out])
            else:
                slots[out] = function(*[slots[k] for k in operands])
        for value, answer in self.copies:
            slots[answer][...] = slots[value]
        # Slices would keep the whole arrays of a caller.
        slots[:len(given)] = [None]*len(given)


# --------------------------------------------------------------------------------------------------
# Where the values of a graph stand while a block runs: few buffers, used again and again.

class Plan:
    """Slots for all values.

    slots: None for the inputs and behind them the answers, which come with each block, and for what
    a function makes anew; the shape and type of a buffer; or a constant. program: (function, slots
    of its operands, slot of the value, whether it writes into that). copies: (slot of a value, slot
    of the answer that is a copy of it).
    """

    __slots__ = ("copies", "free", "graph", "kept", "last", "place", "program", "slots")

    def __init__(self, graph: Statements) -> None:
        self.graph = graph
        first = len(graph.samples)
        self.slots: list[Any] = [None] * (first + len(graph.answers))
        self.program: list[tuple[Callable[..., Any], tuple[int, ...], int, bool]] = []
        self.place = {k: k for k in range(first)}
        self.free: dict[Any, list[int]] = {}
        self.last = graph.last_uses()
        # A function that makes its value anew may hand on a view of an operand.
        self.kept = {o for number, step in enumerate(graph.steps, first) if not _writes(step)
                     for o in graph.args[number]}
        answers: dict[int, int] = {}
        for k, answer in enumerate(graph.answers, first):
            if isinstance(answer, int):
                answers.setdefault(answer, k)
        for number, step in enumerate(graph.steps, first):
            self._add(number, step, answers.get(number))
        self.copies = [(self.place[a], k) for k, a in enumerate(graph.answers, first)
                       if isinstance(a, int) and self.place[a] != k]

    def _add(self, number: int, step: Step, answer: int | None) -> None:
        operands = tuple([self.place[o] if isinstance(o, int) else self._slot(
            self._ready(o, number)) for o in step.operands])
        writes = _writes(step)
        dying = [self.place[o] for o in {*self.graph.args[number]} - self.kept
                 if self.last[o] == number and type(self.slots[self.place[o]]) is tuple]
        # A ufunc may write over an operand; other functions still read when they write.
        if isinstance(step.function, np.ufunc):
            self._release(dying)
        if not writes:
            self.place[number] = self._slot(None)
        elif answer is not None:
            self.place[number] = answer
        else:
            self.place[number] = self._buffer((step.shape, step.dtype))
        if not isinstance(step.function, np.ufunc):
            self._release(dying)
        self.program.append((step.function, operands, self.place[number], writes))

    def _ready(self, operand: Constant, number: int) -> Any:
        """Return a number as an array, which a ufunc takes in half the time, where the type stays.
        """
        if type(operand.value) is float and all(
                self.graph.kind(o)[1].char == "d" for o in self.graph.args[number]):
            return np.asarray(operand.value)
        return operand.value

    def _slot(self, content: Any) -> int:
        self.slots.append(content)
        return len(self.slots) - 1

    def _buffer(self, kind: tuple[tuple[int, ...], Any]) -> int:
        """Return the buffer that was released last, which the cache still holds, or a new one."""
        same = self.free.get(kind)
        return same.pop() if same else self._slot(kind)

    def _release(self, slots: list[int]) -> None:
        for slot in slots:
            self.free.setdefault(self.slots[slot], []).append(slot)


def _writes(step: Step) -> bool:
    return isinstance(step.function, np.ufunc) or step.function in INTO
