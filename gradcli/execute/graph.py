"""A recorded program as a graph of array statements: those that depend on the point.

The program ran at one point, its derivatives were recorded behind it. What does not depend on the
point is a number; what no answer needs is dropped; what is calculated twice is shared. What is left
can be run on a block of points at once (`gradcli.execute.blocks`): operations count their axes from
the right, so one more axis in front is all it takes.
"""

from __future__ import annotations

from gradcli.execute.lower import Symbol, lowered
from gradcli.ops.kinds import on_arrays
from gradcli.ops.lazy import np
from gradcli.ops.values import SCALAR_TYPES, plain, shape_of
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from gradcli.ops.kinds import Op
    from gradcli.tape.record import Entry

    # The number of a value, or a constant.
    Operand: TypeAlias = "int | Constant"


# The order of their operands changes no bit of the answer.
COMMUTATIVE = (np.add, np.multiply)


class Constant:
    """An operand that is the same at all points."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def key(self) -> Any:
        """Equal for equal constants; the sign of a zero counts, and True is not 1.0."""
        value = self.value
        return (type(value), repr(value)) if type(value) in SCALAR_TYPES else id(value)


class Step:
    """One statement: a function of earlier values and constants."""

    __slots__ = ("function", "operands")

    def __init__(self, function: Callable[..., Any], operands: Sequence[Operand]) -> None:
        self.function = function
        self.operands = operands


class Graph:
    """Values are numbered: the inputs first, then the steps in order.

    shapes: core shapes of the inputs. answers: what is wanted, numbers or constants.
    """

    __slots__ = ("answers", "shapes", "steps")

    def __init__(self, shapes: Sequence[tuple[int, ...]], steps: list[Step],
                 answers: list[Operand]) -> None:
        self.shapes = list(shapes)
        self.steps = steps
        self.answers = answers


def graph(entries: Sequence[Entry], inputs: Mapping[int, tuple[int, ...]],
          answers: Iterable[tuple[int | None, Any]]) -> Graph:
    """The statements that calculate some values from a point.

    entries: what ran at one point. inputs: ids of the values that a point gives, in order, to
    their shapes. answers: (id, value) of what is wanted; what does not depend on the point is
    answered by its value.
    """
    wanted = list(answers)
    needed = {i for i, _ in wanted}
    for entry in reversed(entries):
        if entry[OUT] in needed:
            needed.update(entry[IDS])
    builder = Builder(inputs)
    for entry in entries:
        if entry[OUT] in needed:
            builder.add(entry)
    return _pruned(Graph([*inputs.values()], builder.steps, [
        builder.known[i] if i is not None and i in builder.known else Constant(value)
        for i, value in wanted]))


class Builder:
    """Statements as they are found.

    known: id to the number of its value. ranks: core rank of each value. shared: what a statement
    calculates to its number.
    """

    __slots__ = ("known", "ranks", "shared", "steps")

    def __init__(self, inputs: Mapping[int, tuple[int, ...]]) -> None:
        self.known: dict[int, int] = {i: k for k, i in enumerate(inputs)}
        self.ranks = [len(shape) for shape in inputs.values()]
        self.steps: list[Step] = []
        self.shared: dict[Any, int] = {}

    def add(self, entry: Entry) -> None:
        """One entry, if it depends on the point."""
        op, ids = entry[OP], entry[IDS]
        if not any(i in self.known for i in ids):
            return
        operands: list[Operand] = [
            self.known[i] if i is not None and i in self.known else Constant(v)
            for i, v in zip(ids, entry[VALUES], strict=True)]
        rank = len(shape_of(entry[ANS]))
        if op.elementwise:
            number = self._elementwise(op, operands, rank)
        else:
            number = self.put(_on_cores(op, [self._rank(o) for o in operands], entry[ATTRIBUTES]),
                              operands, rank, (op.name, repr(sorted(entry[ATTRIBUTES].items()))))
        self.known[entry[OUT]] = number

    def put(self, function: Callable[..., Any], operands: Sequence[Operand], rank: int,
            key: Any = None) -> int:
        """The number of a statement; the one that there is, if it is the same. key: of a function
        that is made anew each time.
        """
        if function in COMMUTATIVE:
            operands = sorted(operands, key=lambda o: o if isinstance(o, int) else -1)
        whole = key or function, tuple([
            o if isinstance(o, int) else o.key() for o in operands])
        if whole not in self.shared:
            self.shared[whole] = len(self.ranks)
            self.steps.append(Step(function, tuple(operands)))
            self.ranks.append(rank)
        return self.shared[whole]

    def _rank(self, operand: Operand) -> int:
        return self.ranks[operand] if isinstance(operand, int) else len(shape_of(operand.value))

    def _elementwise(self, op: Op, operands: Sequence[Operand], rank: int) -> int:
        """Broadcasting aligns axes from the right: a value of lower core rank gets unit axes behind
        that of the points, or a point would meet an element.
        """
        def put(function: Callable[..., Any], given: Sequence[Any]) -> int:
            return self._simple(function, [
                o.number if isinstance(o, Symbol) else Constant(o) for o in given], rank)

        highest = max(self._rank(o) for o in operands)
        fitted: list[Any] = []
        for o in operands:
            if not isinstance(o, int):
                fitted.append(o.value)
                continue
            missing = highest - self.ranks[o]
            if missing:
                o = self.put(_spread(missing), [o], highest, ("spread", missing))
            fitted.append(Symbol(o, put))
        return lowered(on_arrays(op), fitted, put)

    def _simple(self, function: Callable[..., Any], operands: Sequence[Operand], rank: int) -> int:
        """The same value for less, where it is the same to the last bit; else a statement."""
        a = operands[0]
        if function is np.positive and isinstance(a, int):
            return a
        if len(operands) == 2:
            b = operands[1]
            if function is np.multiply and isinstance(b, int):
                a, b = b, a
            if isinstance(a, int) and isinstance(b, Constant) and type(b.value) in (float, int):
                if b.value == 1 and function in (np.multiply, np.divide, np.power):
                    return a
                if b.value == -1 and function is np.multiply:
                    return self.put(np.negative, [a], rank)
                if b.value == 2 and function is np.power:
                    return self.put(np.square, [a], rank)
        return self.put(function, operands, rank)


def _spread(missing: int) -> Callable[..., Any]:
    def function(value: Any) -> Any:
        return value.reshape(value.shape[:1] + (1,) * missing + value.shape[1:])

    return function


def _on_cores(op: Op, ranks: Sequence[int], attributes: Mapping[str, Any]) -> Callable[..., Any]:
    """An operation on whole arrays; it counts its axes from the right."""
    cores, named, arrays = list(ranks), dict(attributes), op.arrays
    assert arrays is not None

    def function(*values: Any) -> Any:
        return np.asarray(plain(arrays(cores, *values, **named)))

    return function


def _pruned(found: Graph) -> Graph:
    """Without the steps that no answer needs."""
    first = len(found.shapes)
    needed = {a for a in found.answers if isinstance(a, int)}
    for k in range(len(found.steps) - 1, -1, -1):
        if first + k in needed:
            needed.update(o for o in found.steps[k].operands if isinstance(o, int))
    number = {k: k for k in range(first)}
    steps: list[Step] = []
    for k, step in enumerate(found.steps):
        if first + k in needed:
            number[first + k] = first + len(steps)
            steps.append(Step(step.function, tuple([
                number[o] if isinstance(o, int) else o for o in step.operands])))
    return Graph(found.shapes, steps, [
        number[a] if isinstance(a, int) else a for a in found.answers])
