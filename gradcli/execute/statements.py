"""Array statements in order: what a graph is made of, and how equal ones are shared."""

from __future__ import annotations

from gradcli.ops.lazy import np
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    # The number of a value, or a constant.
    Operand: TypeAlias = "int | Constant"

# Arrays of up to so many bytes are told apart by what they hold.
SMALL = 1024
# Rows that statements run on to find out what they make.
SAMPLE = 2


INTO: set[Any] = set()
"""Functions that are no ufuncs and write into `out` as these do. An operand may not be `out`."""


def into(function: Callable[..., None]) -> Callable[..., None]:
    """Note that a function writes into its `out`."""
    INTO.add(function)
    return function


class Constant:
    """An operand that is the same at all points."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def key(self) -> Any:
        """Equal for equal constants; the sign of a zero counts, and True is not 1.0."""
        return frozen(self.value)


def frozen(value: Any) -> Any:
    """Something to look a value up by: equal for the same values of the same types."""
    if type(value) in SCALAR_TYPES:
        return type(value), repr(value)
    if isinstance(value, (list, tuple)):
        return type(value), tuple([frozen(v) for v in value])
    if isinstance(value, (np.ndarray, np.generic)) and value.nbytes <= SMALL:
        return value.dtype.str, value.shape, value.tobytes()
    return repr(value) if value is None or isinstance(value, slice) else id(value)


class Step:
    """One statement: a function of earlier values and constants.

    shape, dtype: of its value at one point, once they are known.
    """

    __slots__ = ("dtype", "function", "operands", "shape")

    def __init__(self, function: Callable[..., Any], operands: Sequence[Operand],
                 shape: tuple[int, ...] = (), dtype: Any = None) -> None:
        self.function = function
        self.operands = tuple(operands)
        self.shape = shape
        self.dtype = dtype

    def reads(self) -> list[int]:
        """The numbers of the values among its operands."""
        return [o for o in self.operands if isinstance(o, int)]


class Graph:
    """Values are numbered: the inputs first, then the steps in order.

    samples: what the inputs were at the point where the program was recorded. answers: what is
    wanted, numbers or constants.
    """

    __slots__ = ("answers", "samples", "steps")

    def __init__(self, samples: Sequence[Any], steps: list[Step], answers: list[Operand]) -> None:
        self.samples = list(samples)
        self.steps = steps
        self.answers = answers

    def kind(self, number: int) -> tuple[tuple[int, ...], Any]:
        """Shape and type of a value at one point."""
        if number < len(self.samples):
            sample = self.samples[number]
            return sample.shape, sample.dtype
        step = self.steps[number - len(self.samples)]
        return step.shape, step.dtype

    def last_uses(self) -> dict[int, int]:
        """Number of a value to that of the last step that reads it."""
        first = len(self.samples)
        return {o: first + k for k, step in enumerate(self.steps) for o in step.reads()}


class Statements:
    """Steps as they are found; what is calculated twice is shared.

    count: of the values so far, inputs included.
    """

    __slots__ = ("count", "shared", "steps")

    def __init__(self, inputs: int) -> None:
        self.count = inputs
        self.steps: list[Step] = []
        self.shared: dict[Any, int] = {}

    def put(self, function: Callable[..., Any], operands: Sequence[Operand],
            shape: tuple[int, ...] = (), dtype: Any = None, key: Any = None) -> int:
        """The number of a statement; the one that there is, if it is the same. key: of a function
        that is made anew each time.
        """
        if function is np.add or function is np.multiply:
            # The order of their operands changes no bit of the answer.
            operands = sorted(operands, key=lambda o: o if isinstance(o, int) else -1)
        whole = key or function, tuple([
            o if isinstance(o, int) else o.key() for o in operands])
        number = self.shared.get(whole)
        if number is None:
            number = self.shared[whole] = self.count
            self.steps.append(Step(function, operands, shape, dtype))
            self.count += 1
        return number


def typed(found: Graph) -> None:
    """Note what each step makes, by running all on rows of the sample."""
    values: dict[int, Any] = {
        k: np.repeat(sample[None], SAMPLE, axis=0) for k, sample in enumerate(found.samples)}
    last = found.last_uses()
    with np.errstate(all="ignore"):
        for k, step in enumerate(found.steps, len(found.samples)):
            value = step.function(*[
                values[o] if isinstance(o, int) else o.value for o in step.operands])
            step.shape, step.dtype = value.shape[1:], value.dtype
            values[k] = value
            for o in (k, *step.reads()):
                if last.get(o, k) == k:
                    values.pop(o, None)


def pruned(found: Graph) -> Graph:
    """Without the steps that no answer needs."""
    first = len(found.samples)
    needed = {a for a in found.answers if isinstance(a, int)}
    for k in range(len(found.steps) - 1, -1, -1):
        if first + k in needed:
            needed.update(found.steps[k].reads())
    number = {k: k for k in range(first)}
    steps: list[Step] = []
    for k, step in enumerate(found.steps):
        if first + k in needed:
            number[first + k] = first + len(steps)
            steps.append(Step(step.function, [
                number[o] if isinstance(o, int) else o for o in step.operands],
                step.shape, step.dtype))
    return Graph(found.samples, steps, [
        number[a] if isinstance(a, int) else a for a in found.answers])
