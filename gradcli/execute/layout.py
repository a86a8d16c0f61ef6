"""Where the values of a single point are kept, and the calls that calculate them there."""

from __future__ import annotations

from gradcli.execute.recorded import Elsewhere
from gradcli.execute.simplify import select
from gradcli.execute.single_rows import Into, View
from gradcli.execute.statements import Constant
from gradcli.ops.lazy import np
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.execute.statements import Graph, Operand, Step

# A loop of NumPy over a last axis shorter than this spends its time on the other axes.
SHORT = 32


class Layout:
    """Arrays of values by number, inputs first, and calls in order: (function, operands, out).

    Made by running the steps once. checks: number of a value to what
    is called with it as soon as it is there. kept: numbers of values that live to the end.
    """

    __slots__ = ("_free", "_memory", "arrays", "calls")

    def __init__(self, graph: Graph, kept: Iterable[int],
                 checks: Mapping[int, Sequence[Callable[..., Any]]]) -> None:
        values, steps = graph.samples, graph.steps
        self.arrays: list[Any] = [_arranged(value) for value in values]
        self.calls: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = []
        self._free: dict[Any, list[Any]] = {}
        self._memory: dict[int, Any] = {}
        last = _lifetimes(len(values), steps, kept)
        ends: dict[int, list[int]] = {}
        for root, k in last.items():
            ends.setdefault(k, []).append(root)
        for number in range(len(values)):
            self._check(number, checks)
        for k, step in enumerate(steps):
            number = len(values) + k
            self._add(number, step, ends.get(number, ()))
            self._check(number, checks)

    def _check(self, number: int, checks: Mapping[int, Sequence[Callable[..., Any]]]) -> None:
        for check in checks.get(number, ()):
            self.calls.append((check, (self.arrays[number],), None))

    def _add(self, number: int, step: Step, ended: Iterable[int]) -> None:
        function: Any = step.function
        operands = tuple([
            self.arrays[o] if isinstance(o, int) else _fixed(o) for o in step.operands])
        if isinstance(function, View):
            found = function.function(*operands)
            if np.may_share_memory(found, operands[0]):
                self.arrays.append(found)
                self._release(ended)
                return
            function = function.function
        if isinstance(function, np.ufunc) and function.signature is None:
            # Element by element the answer may stand where an operand stood.
            self._release(ended)
            ended = ()
        elif isinstance(function, Into):
            if function.zeroed:
                number = -1
            function = function.function
        elif function is not select and not isinstance(function, np.ufunc):
            function = _copied(function)
        out = self._array(number, step)
        function(*operands, out=out)
        self.arrays.append(out)
        self.calls.append((function, operands, out))
        self._release(ended)

    def _array(self, number: int, step: Step) -> Any:
        """The array of a value, in memory that is free; of -1, in zeros of its own."""
        size = int(np.prod(step.shape))
        if number < 0:
            return _shaped(np.zeros(size, step.dtype), step.shape)
        free = self._free.get((size, step.dtype))
        memory = free.pop() if free else np.empty(size, step.dtype)
        self._memory[number] = memory
        return _shaped(memory, step.shape)

    def _release(self, ended: Iterable[int]) -> None:
        for number in ended:
            memory = self._memory.pop(number, None)
            if memory is not None:
                self._free.setdefault((memory.size, memory.dtype), []).append(memory)


def _lifetimes(inputs: int, steps: Sequence[Step], kept: Iterable[int]
               ) -> dict[int, int]:
    """Number of a value that has memory of its own to that of the last step that reads it, views
    of it included; of those that live to the end there is none.
    """
    roots = list(range(inputs))  # per value the one whose memory it is in
    last: dict[int, int] = {}
    for k, step in enumerate(steps):
        number = inputs + k
        first = step.operands[0]
        shares = isinstance(step.function, View) and isinstance(first, int)
        roots.append(roots[first] if shares and isinstance(first, int) else number)
        for o in step.operands:
            if isinstance(o, int):
                last[roots[o]] = number
        last[roots[number]] = number
    for number in kept:
        last.pop(roots[number], None)
    return last


def _arranged(value: Any) -> Any:
    """A copy of a value as an array of its own."""
    array = np.asarray(value)
    out = _shaped(np.empty(array.size, array.dtype), array.shape)
    out[...] = array
    return out


def _shaped(memory: Any, shape: Sequence[int]) -> Any:
    """Memory as an array; one with a short last axis has its longest axis innermost."""
    order = list(range(len(shape)))
    if shape and shape[-1] < SHORT:
        order.sort(key=lambda k: shape[k])
    return memory.reshape([shape[k] for k in order]).transpose(
        [order.index(k) for k in range(len(shape))])


def _fixed(operand: Operand) -> Any:
    """A constant as the function of a step takes it."""
    assert isinstance(operand, Constant)
    return operand.value if type(operand.value) in SCALAR_TYPES else _arranged(operand.value)


def _copied(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*operands: Any, out: Any) -> None:
        found = function(*operands)
        if found.shape != out.shape:  # as many as there are distinct elements, or true ones
            raise Elsewhere
        np.copyto(out, found)

    return call
