"""Where the values of a graph stand while a block runs: few buffers, used again and again."""

from __future__ import annotations

from gradcli.execute.statements import INTO, Constant
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.execute.statements import Graph, Step


class Plan:
    """Slots for all values.

    slots: None for the inputs and behind them the answers, which come with each block, and for what
    a function makes anew; the shape and type of a buffer; or a constant. program: (function, slots
    of its operands, slot of the value, whether it writes into that). copies: (slot of a value, slot
    of the answer that is a copy of it).
    """

    __slots__ = ("copies", "free", "graph", "kept", "last", "place", "program", "slots")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        first = len(graph.samples)
        self.slots: list[Any] = [None] * (first + len(graph.answers))
        self.program: list[tuple[Callable[..., Any], tuple[int, ...], int, bool]] = []
        self.place = {k: k for k in range(first)}
        self.free: dict[Any, list[int]] = {}
        self.last = graph.last_uses()
        # A function that makes its value anew may hand on a view of an operand.
        self.kept = {o for step in graph.steps if not _writes(step) for o in step.reads()}
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
            _ready(o, self.graph, step)) for o in step.operands])
        writes = _writes(step)
        dying = [self.place[o] for o in {*step.reads()} - self.kept
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

    def _slot(self, content: Any) -> int:
        self.slots.append(content)
        return len(self.slots) - 1

    def _buffer(self, kind: tuple[tuple[int, ...], Any]) -> int:
        """The buffer that was released last, which the cache still holds, or a new one."""
        same = self.free.get(kind)
        return same.pop() if same else self._slot(kind)

    def _release(self, slots: list[int]) -> None:
        for slot in slots:
            self.free.setdefault(self.slots[slot], []).append(slot)


def _writes(step: Step) -> bool:
    return isinstance(step.function, np.ufunc) or step.function in INTO


def _ready(operand: Constant, graph: Graph, step: Step) -> Any:
    """A number as an array, which a ufunc takes in half the time, where the type stays the same."""
    if type(operand.value) is float and all(graph.kind(o)[1].char == "d" for o in step.reads()):
        return np.asarray(operand.value)
    return operand.value
