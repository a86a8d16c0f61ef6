"""Array statements in order, as a graph of what reads what."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.compiled.single_rows import called
from gradcli.ops.graph import Graph
from gradcli.ops.table.elementwise import where
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
        """Return a key that is equal for equal constants; the sign of a zero counts, and True is
        not 1.0.
        """
        return frozen(self.value)


def frozen(value: Any) -> Any:
    """Return a hashable key of a value: equal for the same values of the same types."""
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


class Statements(Graph):
    """Values by number: the inputs first, then what the steps make; what is calculated twice is
    shared.

    samples: what the inputs were at the point where the program was recorded. answers: what is
    wanted, numbers or constants.
    """

    __slots__ = ("answers", "samples", "steps")

    def __init__(self, samples: Sequence[Any]) -> None:
        super().__init__(len(samples))
        self.samples = list(samples)
        self.steps: list[Step] = []
        self.answers: list[Operand] = []

    def put(self, function: Callable[..., Any], operands: Sequence[Operand],
            shape: tuple[int, ...] = (), dtype: Any = None, key: Any = None) -> int:
        """Return the number of a statement: of the equal one that exists, else of a new one. key:
        of a function that is made anew each time.
        """
        if function is np.add or function is np.multiply:
            # The order of their operands changes no bit of the answer.
            operands = sorted(operands, key=lambda o: o if isinstance(o, int) else -1)
        number = self.node(
            (key or function, tuple([o if isinstance(o, int) else o.key() for o in operands])),
            tuple([o for o in operands if isinstance(o, int)]))
        if number == len(self.samples) + len(self.steps):
            self.steps.append(Step(function, operands, shape, dtype))
        return number

    def kind(self, number: int) -> tuple[tuple[int, ...], Any]:
        """Return shape and type of a value at one point."""
        if number < len(self.samples):
            sample = self.samples[number]
            return sample.shape, sample.dtype
        step = self.steps[number - len(self.samples)]
        return step.shape, step.dtype

    def rewritten(self, work: Statements, rule: Callable[[Step, list[Operand]], Operand]
                  ) -> Statements:
        """Make `work` of what the answers need. rule: puts a step on other operands there."""
        first = len(self.samples)
        new: dict[int, Operand] = {k: k for k in range(first)}
        for k in self.needed([a for a in self.answers if isinstance(a, int)]):
            if k >= first:
                step = self.steps[k - first]
                new[k] = rule(step, [new[o] if isinstance(o, int) else o for o in step.operands])
        work.answers = [new[a] if isinstance(a, int) else a for a in self.answers]
        return work


def typed(found: Statements, values: Sequence[Any], points: int = 0) -> None:
    """Note what each step makes, by running all on values of the inputs. points: how many axes of
    points these have in front.
    """
    held: dict[int, Any] = dict(enumerate(values))
    last = found.last_uses()
    with np.errstate(all="ignore"):
        for k, step in enumerate(found.steps, len(values)):
            value = np.asarray(called(step.function)(*[
                held[o] if isinstance(o, int) else o.value for o in step.operands]))
            step.shape, step.dtype = value.shape[points:], value.dtype
            held[k] = value
            for o in (k, *found.args[k]):
                if last.get(o, k) == k:
                    held.pop(o, None)


def pruned(found: Statements) -> Statements:
    """Return the statements without the steps that no answer needs."""
    work = Statements(found.samples)
    return found.rewritten(work, lambda step, operands: work.put(
        step.function, operands, step.shape, step.dtype))


# --------------------------------------------------------------------------------------------------
# Sine and cosine from the tangent of half the angle, where NumPy's tangent is vectorised.
#
# With h = a/2, t = tan(h) and s = 2/(1 + t^2): sin a = t*s and cos a = s - 1. Both together take
# 2.6
# ns an element where one np.sin takes 9 (AVX-512). If the tangent is within 0.53 units in the last
# place, as that of Intel's SVML is, rounding adds up to at most 3.7e-16. Of 120 million arguments
# the worst were 2.8e-16 off (sine; 3.8e-16 relative) and 3.6e-16 (cosine).
#
# Near its zeros the cosine has few digits left: there np.cos is asked, for those elements alone, so
# that no point depends on its neighbours. Near 0 the sine is its argument: the half of a denormal
# would be rounded.
# Source of the formulas: DLMF 4.21.28 to 4.21.30.

# Cosines below are asked of np.cos; of those above, 3.7e-16 are at most 4e-13.
NEAR_ZERO = 2.0**-10
# How near sine and cosine have to come to NumPy's before a tangent is trusted.
TOLERANCE = 4e-16


def paired(found: Statements) -> Statements:
    """Return the statements with each np.sin and np.cos of float64 in terms of np.tan."""
    work = Statements(found.samples)

    def rule(step: Step, operands: list[Operand]) -> int:
        kind, a = (step.shape, step.dtype), operands[0]
        # A sine of integers is one of floats behind a conversion; it stays what it is.
        if step.function in (np.sin, np.cos) and step.dtype.char == "d" and isinstance(a, int) and (
                work.kind(a)[1].char == "d"):
            h, t, s = _halved(work, a, kind)
            return work.put(sine, [h, t, s, a], *kind) if step.function is np.sin else work.put(
                cosine, [s, a], *kind)
        return work.put(step.function, operands, *kind)

    return pruned(found.rewritten(work, rule))


def _halved(work: Statements, a: int, kind: Any) -> tuple[int, int, int]:
    """Put and return the numbers of h = a/2, t = tan(h) and s = 2/(t^2 + 1)."""
    def put(function: Callable[..., Any], *operands: Operand) -> int:
        return work.put(function, operands, *kind)

    h = put(np.multiply, a, Constant(0.5))
    t = put(np.tan, h)
    return h, t, put(np.divide, Constant(2.0), put(np.add, put(np.square, t), Constant(1.0)))


@into
def sine(h: Any, t: Any, s: Any, a: Any, out: Any) -> None:
    """Write sin(a) = t*s to `out`; where h is its own tangent, a, since a^2/6 is below the last
    digit but one.
    """
    np.multiply(t, s, out=out)
    np.copyto(out, a, where=np.equal(h, t))


@into
def cosine(s: Any, a: Any, out: Any) -> None:
    """Write cos(a) = s - 1 to `out`; near a zero of it, NumPy's cosine."""
    np.subtract(s, 1.0, out=out)
    np.cos(a, out=out, where=np.less(np.absolute(out), NEAR_ZERO))


def available() -> bool:
    """Return whether np.tan is vectorised on this machine and exact enough."""
    return _vectorised() and _exact()


def _vectorised() -> bool:
    targets = np.lib.introspect.opt_func_info(func_name="^tan$", signature="float64")
    return any(not built["current"].startswith("baseline")
               for by_type in targets.values() for built in by_type.values())


def _exact() -> bool:
    """Return whether sine and cosine are within TOLERANCE on some thousand arguments, multiples of
    pi/2, large and tiny ones among them.
    """
    turns = np.arange(-512, 512) * (np.pi/2)
    a = np.concatenate([
        np.linspace(-7.0, 7.0, 4096), turns, np.nextafter(turns, 0.0),
        np.ldexp(1.1, np.arange(-1074, 1024))])
    h = 0.5*a
    t = np.tan(h)
    s = 2.0/(np.square(t) + 1.0)
    found, exact = np.empty((2, len(a))), np.array([np.sin(a), np.cos(a)])
    sine(h, t, s, a, out=found[0])
    cosine(s, a, out=found[1])
    error = np.abs(found - exact)
    return bool((error <= TOLERANCE).all() and (error[0] <= 2*TOLERANCE*np.abs(exact[0])).all())


# --------------------------------------------------------------------------------------------------
# Fewer statements for the same answers.
#
# What is left out changes no bit: factors of 1 and -1, signs that a later sum or product takes up,
# differences with 0. Powers to small whole exponents become products, within one unit in the last
# place of `pow`. Signs of zero stay as they are. All of this is for float64, where it is known to
# hold; other statements are taken over.

def simplified(found: Statements) -> Statements:
    """Return statements with the same results in fewer or cheaper steps."""
    work = Simplifier(found.samples)
    return pruned(found.rewritten(work.statements, work.step))


@into
def select(condition: Any, x: Any, y: Any, out: Any) -> None:
    """Write `np.where` into an array: half the time of a new one."""
    np.copyto(out, y)
    np.copyto(out, x, where=condition)


class Simplifier:
    """Steps under construction. negatives: number of a value to that of the one whose negative it
    is.
    """

    __slots__ = ("current", "negatives", "rules", "statements")

    def __init__(self, samples: Sequence[Any]) -> None:
        self.statements = Statements(samples)
        self.negatives: dict[int, int] = {}
        self.current: tuple[Any, Any] = (), None
        self.rules: dict[Any, Callable[..., int | None]] = {
            np.positive: lambda a: a, np.negative: self._negative, np.square: self._square,
            np.absolute: self._absolute, np.add: self._add, np.subtract: self._subtract,
            np.multiply: self._multiply, np.divide: self._divide, np.power: self._power,
            where.arrays: self._where}

    def step(self, step: Step, operands: Sequence[Operand]) -> int:
        """Put a step, simplified where there is a rule, and return the number of its result."""
        self.current = step.shape, step.dtype
        rule = self.rules.get(step.function)
        if rule is not None and self._is_float(step, operands):
            spread = self._is_spread(operands)
            found = rule(*[o if isinstance(o, int) else _as_float(o, spread) for o in operands])
            if found is not None and self.statements.kind(found) == self.current:
                return found
        return self.put(step.function, *operands)

    def _is_float(self, step: Step, operands: Sequence[Operand]) -> bool:
        """Return whether a step and its operands are float64, but for the condition of a choice,
        which is a truth value, and constants, which may be integers.
        """
        types = [self.statements.kind(o)[1] if isinstance(o, int) else np.result_type(o.value)
                 for o in operands]
        kinds = [dtype.char for dtype in types]
        if step.function is where.arrays and kinds.pop(0) != "?":
            return False
        return step.dtype.char == "d" and set(kinds) <= {"d", "l"} and all(
            kind == "d" for kind, o in zip(kinds[::-1], operands[::-1], strict=False)
            if isinstance(o, int))

    def _is_spread(self, operands: Sequence[Operand]) -> bool:
        """Return whether constants broadcast the step's result to a larger shape."""
        shapes = [self.statements.kind(o)[0] for o in operands if isinstance(o, int)]
        return bool(np.broadcast_shapes(*shapes) != self.current[0])

    def put(self, function: Callable[..., Any], *operands: Operand) -> int:
        """Put a statement of the shape and type of the current step, and return its number."""
        return self.statements.put(function, operands, *self.current)

    def _negative(self, a: int) -> int:
        if a in self.negatives:
            return self.negatives[a]
        number = self.put(np.negative, a)
        self.negatives[number] = a
        return number

    def _positive_of(self, a: Operand) -> int | None:
        """Return the number of the value whose negative this is, else None."""
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
        """Put a product or quotient with the signs of its operands taken out or multiplied into a
        constant, for later steps to absorb, and return its number.
        """
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
    """Return the value of a constant that is one number, else None."""
    return a.value if isinstance(a, Constant) and type(a.value) is float else None


def _as_float(a: Constant, spread: bool) -> Constant:
    """Return a constant as a float, if it is a number or an array of one repeated number. spread:
    its shape counts, so arrays stay. Truth values stay.
    """
    if np.result_type(a.value).char == "?":
        return a
    value = np.asarray(a.value, float)
    one = value.size and value.tobytes() == value.size*value.ravel()[:1].tobytes()
    if not one or (value.shape and spread):
        return a
    return Constant(float(value.ravel()[0]))
