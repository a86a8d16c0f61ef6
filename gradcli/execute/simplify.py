"""Fewer statements for the same answers.

What is left out changes no bit: factors of 1 and -1, signs that a later sum or product takes up,
differences with 0. Powers to small whole exponents become products, within one unit in the last
place of `pow`. Signs of zero stay as they are. All of this is for float64, where it is known to
hold; other statements are taken over.
"""

from __future__ import annotations

from gradcli.execute.statements import Constant, Graph, Statements, into
from gradcli.ops.elementwise import where
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.execute.statements import Operand, Step


def simplified(found: Graph) -> Graph:
    """The same graph of fewer or cheaper steps; some may have become useless."""
    work = Simplifier(found)
    number: list[Operand] = list(range(len(found.samples)))
    for step in found.steps:
        number.append(work.step(step, [
            number[o] if isinstance(o, int) else o for o in step.operands]))
    return Graph(found.samples, work.statements.steps, [
        number[a] if isinstance(a, int) else a for a in found.answers])


@into
def select(condition: Any, x: Any, y: Any, out: Any) -> None:
    """`np.where` into an array: half the time of a new one."""
    np.copyto(out, y)
    np.copyto(out, x, where=condition)


class Simplifier:
    """Steps under construction. kinds: shape and type of each value. negatives: number of a value
    to that of the one whose negative it is.
    """

    __slots__ = ("current", "kinds", "negatives", "rules", "statements")

    def __init__(self, found: Graph) -> None:
        self.statements = Statements(len(found.samples))
        self.kinds = [found.kind(k) for k in range(len(found.samples))]
        self.negatives: dict[int, int] = {}
        self.current: tuple[Any, Any] = (), None
        self.rules: dict[Any, Callable[..., int | None]] = {
            np.positive: lambda a: a, np.negative: self._negative, np.square: self._square,
            np.absolute: self._absolute, np.add: self._add, np.subtract: self._subtract,
            np.multiply: self._multiply, np.divide: self._divide, np.power: self._power,
            where.arrays: self._where}

    def step(self, step: Step, operands: Sequence[Operand]) -> int:
        """The number of what a step calculates."""
        self.current = step.shape, step.dtype
        rule = self.rules.get(step.function)
        if rule is not None and self._is_float(step, operands):
            spread = self._is_spread(operands)
            found = rule(*[o if isinstance(o, int) else _as_float(o, spread) for o in operands])
            if found is not None and self.kinds[found] == self.current:
                return found
        return self.put(step.function, *operands)

    def _is_float(self, step: Step, operands: Sequence[Operand]) -> bool:
        """Whether all is float64; the condition of a choice is a truth value."""
        kinds = [self.kinds[o][1].char if isinstance(o, int) else np.result_type(o.value).char
                 for o in operands]
        if step.function is where.arrays and kinds.pop(0) != "?":
            return False
        return step.dtype.char == "d" and set(kinds) <= {"d", "l"} and all(
            kind == "d" for kind, o in zip(kinds[::-1], operands[::-1], strict=False)
            if isinstance(o, int))

    def _is_spread(self, operands: Sequence[Operand]) -> bool:
        """Whether constants make the value larger."""
        shapes = [self.kinds[o][0] for o in operands if isinstance(o, int)]
        return bool(np.broadcast_shapes(*shapes) != self.current[0])

    def put(self, function: Callable[..., Any], *operands: Operand) -> int:
        """A statement of the shape and type of the current step."""
        number = self.statements.put(function, operands, *self.current)
        if number == len(self.kinds):
            self.kinds.append(self.current)
        return number

    def _negative(self, a: int) -> int:
        if a in self.negatives:
            return self.negatives[a]
        number = self.put(np.negative, a)
        self.negatives[number] = a
        return number

    def _positive_of(self, a: Operand) -> int | None:
        """The value whose negative this is."""
        return self.negatives.get(a) if isinstance(a, int) else None

    def _square(self, a: int) -> int:
        return self.put(np.square, self.negatives.get(a, a))

    def _absolute(self, a: int) -> int:
        return self.put(np.absolute, self.negatives.get(a, a))

    def _add(self, a: Operand, b: Operand) -> int | None:
        p, q = self._positive_of(a), self._positive_of(b)
        if q is not None:
            return self.put(np.subtract, a, q)
        return None if p is None else self.put(np.subtract, b, p)

    def _subtract(self, a: Operand, b: Operand) -> int | None:
        if isinstance(a, int) and repr(_number(b)) == "0.0":
            return a
        q = self._positive_of(b)
        return None if q is None else self.put(np.add, a, q)

    def _multiply(self, a: Operand, b: Operand) -> int | None:
        if not isinstance(b, int):
            a, b = b, a
        assert isinstance(b, int)
        factor = _number(a)
        if factor == 1:
            return b
        if factor == -1:
            return self._negative(b)
        return self.put(np.square, a) if a == b else self._signed(np.multiply, a, b)

    def _divide(self, a: Operand, b: Operand) -> int | None:
        if isinstance(a, int) and _number(b) == 1:
            return a
        if isinstance(a, int) and _number(b) == -1:
            return self._negative(a)
        return self._signed(np.divide, a, b)

    def _signed(self, function: Callable[..., Any], a: Operand, b: Operand) -> int:
        """A product or quotient; of a sign, what comes behind may make something."""
        p, q = self._positive_of(a), self._positive_of(b)
        if p is not None and q is not None:
            return self.put(function, p, q)
        if p is not None:
            c = _number(b)
            return self._negative(self.put(function, p, b)) if c is None else (
                self.put(function, p, Constant(-c)))
        if q is not None:
            c = _number(a)
            return self._negative(self.put(function, a, q)) if c is None else (
                self.put(function, Constant(-c), q))
        return self.put(function, a, b)

    def _power(self, a: Operand, b: Operand) -> int | None:
        power = _number(b)
        if not isinstance(a, int) or power not in (-1, 1, 2, 3, 4):
            return None
        if power == 1:
            return a
        if power == -1:
            return self._divide(Constant(1.0), a)
        square = self._square(a)
        if power == 2:
            return square
        return self._multiply(a, square) if power == 3 else self._square(square)

    def _where(self, condition: Operand, a: Operand, b: Operand) -> int:
        return self.put(select, condition, a, b)


def _number(a: Operand) -> float | None:
    """A constant that is one number."""
    return a.value if isinstance(a, Constant) and type(a.value) is float else None


def _as_float(a: Constant, spread: bool) -> Constant:
    """A constant as a float, if it is a number or holds one all over. spread: its shape counts.
    Truth values stay what they are.
    """
    if np.result_type(a.value).char == "?":
        return a
    value = np.asarray(a.value, float)
    one = value.size and value.tobytes() == value.size*value.ravel()[:1].tobytes()
    if not one or (value.shape and spread):
        return a
    return Constant(float(value.ravel()[0]))
