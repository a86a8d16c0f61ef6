"""Values of a formula at many points at once, and how far rounding may have moved each.

A bound is first order: every operation adds half a unit in the last place (a few for what is no
basic operation), and passes on the errors of its operands times its partial derivatives. It is a
float where it is the same relative error at all points, as in products of exact values: then it
costs next to nothing; an array holds absolute errors. Below the smallest normal number there is no
relative error: each operation adds the smallest subnormal, and what overflowed may be anything.

Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 3 (running error
analysis); section 2.2 there for underflow.
"""

from __future__ import annotations

from time import thread_time

from gradcli.base.lazy import np
from gradcli.ops.binding import edge_rule
from gradcli.ops.kinds import Op, on_arrays
from gradcli.ops.table import elementwise
from gradcli.ops.table.elementwise import (
    add,
    divide,
    exp,
    multiply,
    negative,
    positive,
    power,
    reciprocal,
    sqrt,
    square,
    subtract,
)
from gradcli.ops.table.hyperbolic import asinh, tanh
from gradcli.ops.table.trigonometric import atan, cos, sin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula

    # A relative error, or an array of absolute ones.
    Bound = Any

E = 2.718281828459045
UNIT = 2.0**-52
"""Relative error of one operation: two half units, since NumPy's functions are good to about one.
"""
LOOSE = 16 * UNIT
"""The same of rows that have no function in NumPy."""
NORMAL = 2.0**-1022
"""The smallest number with all its digits."""
SUBNORMAL = 2.0**-1074
"""What lies between numbers below it."""
COARSE = 0.125
"""A relative error from which on a quotient or root, or a power below 1, is not determined."""


class Values:
    """Values and bounds of the nodes of a formula at the points of a pool.

    inputs: name to its values, an array over the points or a float. errors: name to the absolute
    errors of those that are not exact. known, bounds: by node, as far as asked for; bounds cost as
    much again, and most answers are seen to be right without them. deadline: of
    `time.thread_time`, so that the load of the machine decides nothing; after it TimeoutError is
    raised.
    """

    __slots__ = ("bounds", "deadline", "errors", "formula", "inputs", "known")

    def __init__(self, formula: Formula, inputs: Mapping[str, Any],
                 errors: Mapping[str, Any] | None = None) -> None:
        self.formula = formula
        self.inputs = inputs
        self.errors = errors or {}
        self.known: dict[int, Any] = {}
        self.bounds: dict[int, Bound] = {}
        self.deadline = float("inf")

    def plain(self, nodes: Sequence[int]) -> list[Any]:
        """Return the value of each node, without its bound. Raises as `of` does."""
        known, inputs = self.known, self.inputs
        for k in nodes:
            if k not in known:
                break
        else:
            return [known[k] for k in nodes]
        with np.errstate(all="ignore"):
            for k, op, operands in self._needed(nodes, known):
                if op is None:
                    given = self.formula.given[k]
                    known[k] = inputs[given] if type(given) is str else given
                else:
                    known[k] = applied(op, [known[a] for a in operands])
        return [known[k] for k in nodes]

    def of(self, nodes: Iterable[int]) -> list[tuple[Any, Bound]]:
        """Return value and bound of each node.

        Raises KeyError for a name without values, TimeoutError after the deadline.
        """
        nodes = list(nodes)
        self.plain(nodes)
        known, bounds, rules = self.known, self.bounds, _BOUNDS
        with np.errstate(all="ignore"):
            for k, op, operands in self._needed(nodes, bounds):
                if op is None:
                    bounds[k] = self._of_leaf(self.formula.given[k])
                    continue
                xs, es = [known[a] for a in operands], [bounds[a] for a in operands]
                value = known[k]
                if type(value) is float:
                    bounds[k] = _of_constant(op, xs, es, value)
                else:
                    rule: Callable[..., Bound] = rules.get(op, _general)
                    bounds[k] = _with_limits(op, value, rule(op, xs, es, value))
        return [(known[k], bounds[k]) for k in nodes]

    def _needed(self, nodes: Sequence[int], known: Mapping[int, Any]
                ) -> Iterator[tuple[int, Op | None, Any]]:
        """Yield (node, operation or None, operands) of all that is not known yet, in order."""
        ops, args = self.formula.ops, self.formula.args
        for k in self.formula.needed(nodes):
            if k in known:
                continue
            op, operands = ops[k], args[k]
            if op is not None:
                if (op.name not in _NUMPY or not k % 64) and thread_time() > self.deadline:
                    raise TimeoutError
                if op is power and self.formula.given[operands[0]] == E:
                    op, operands = exp, operands[1:]  # with an e that is not rounded
            yield k, op, operands

    def _of_leaf(self, leaf: Any) -> Bound:
        if type(leaf) is str:
            return self.errors.get(leaf, 0.0)
        # A whole number is exact, and so is a half; 0.1 is not.
        return 0.0 if float(leaf * 1024).is_integer() else UNIT


def _of_constant(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: float) -> Bound:
    """Return a constant's bound as a relative error; of 0 as an absolute one, an array without
    axes.
    """
    bound = _general(op, [np.float64(x) for x in xs], es, np.float64(value))
    if type(bound) is float:
        return bound
    return float(bound / abs(value)) if value else np.asarray(bound)


def _with_limits(op: Op, value: Any, bound: Bound) -> Bound:
    """Return a bound with the error of gradual underflow added, infinite where something
    overflowed.
    """
    # Inside of a row that NumPy has no function for, 1/inf may have been flushed to 0.
    step = SUBNORMAL if op.name in _NUMPY else NORMAL
    size = abs(value)
    if type(bound) is float:
        if size.size and NORMAL <= size.min() and size.max() < np.inf:
            return bound
        bound = bound * size
    bound = np.where(size < NORMAL, bound + step, bound)
    return np.where((size < np.inf) & (bound == bound), bound, np.inf)


def _relative(value: Any, bound: Bound) -> Any:
    """Return an absolute bound as a relative one, infinite where first order says nothing."""
    found = np.where(bound == 0, 0.0, bound / np.abs(value))
    return np.where(found <= COARSE, found, np.inf)


def error_of(value: Any, bound: Bound) -> Any:
    """Return a bound as absolute errors."""
    return bound if type(bound) is not float else bound * abs(value)


def applied(op: Op, xs: Sequence[Any]) -> Any:
    """Return the value of an elementwise operation on arrays of points and floats."""
    if op is power and type(xs[1]) is float:
        x, n = xs
        if n == 2:  # NumPy's power takes 10 times as long
            return x * x
        if n == 3:
            return x * x * x
        if n == -1:
            return np.divide(1.0, x)
    for x in xs:
        if type(x) is not float:
            return _arrays(op)(*xs)
    return float(op.on_scalars(xs))


_on_arrays: dict[Op, Callable[..., Any]] = {}


def _arrays(op: Op) -> Callable[..., Any]:
    found = _on_arrays.get(op)
    if found is None:
        # A NumPy function by its name costs a look-up each time.
        found = getattr(np, _NUMPY.get(op.name, op.name), None) if op.name in _NUMPY else None
        found = _on_arrays[op] = found or on_arrays(op)
    return found


_NUMPY = {name: name for name in (
    "add subtract multiply divide negative sqrt exp log sin cos tan sinh cosh tanh power square"
    ).split()}


def _both(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    """Return the bound of a product or quotient: relative errors add up."""
    x, y = es
    if type(x) is float:
        if type(y) is float:
            return x + y + UNIT
        other = _relative(xs[1], y) if op is divide else y / abs(xs[1])
        return abs(value) * (other + (x + UNIT))
    if op is multiply:
        # Not through relative errors, which are infinite where a factor is 0.
        moved = error_of(xs[1], y)
        return (abs(xs[1]) + moved) * x + abs(xs[0]) * moved + UNIT * abs(value)
    below = _relative(xs[1], error_of(xs[1], y))
    return x / abs(xs[1]) + abs(value) * (below + UNIT)


def _product(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    if type(es[0]) is float and type(es[1]) is not float:
        return _both(op, xs[::-1], es[::-1], value)
    return _both(op, xs, es, value)


def _sum(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    x, y = es
    if type(x) is float and type(y) is float:
        return (max(x, y) + UNIT) * (abs(xs[0]) + abs(xs[1]))
    return error_of(xs[0], x) + error_of(xs[1], y) + UNIT * abs(value)


def _same(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    return es[0]


def _power(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    x, y = es
    n = xs[1]
    if type(x) is float and type(n) is float and type(y) is float:
        total = abs(n) * (x + y * abs(np.log(abs(xs[0])))) if y else abs(n) * x
        if type(total) is float:
            return total + 2 * UNIT
        return abs(value) * (total + 2 * UNIT)
    moved = abs(value) * 2 * UNIT
    if type(x) is not float or x:
        error = error_of(xs[0], x)
        if type(n) is float and n >= 1:
            # The steepest slope that the base may have: finite also where the base is 0.
            moved = moved + n * error * (abs(xs[0]) + error) ** (n - 1)
        else:
            moved = moved + abs(n * value) * _relative(xs[0], error)
    if type(y) is not float or y:
        moved = moved + abs(value * np.log(np.where(xs[0] > 0, xs[0], 1.0))) * error_of(n, y)
    return moved


def _root(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    if type(es[0]) is float:
        return 0.5 * es[0] + UNIT
    return value * (0.5 * _relative(xs[0], es[0]) + UNIT)


def _twice(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    if type(es[0]) is float:
        return 2 * es[0] + UNIT
    return (2 * abs(xs[0]) + es[0]) * es[0] + UNIT * value


def _inverse(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    if type(es[0]) is float:
        return es[0] + UNIT
    return abs(value) * (_relative(xs[0], es[0]) + UNIT)


def _exponential(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    if type(es[0]) is float and not es[0]:
        return UNIT
    return value * (error_of(xs[0], es[0]) + UNIT)


def _sine(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    """Return the bound of a function whose slope is at most 1, and that is at most |x|."""
    if type(es[0]) is float:
        return (es[0] + UNIT) * abs(xs[0]) if es[0] else UNIT
    return es[0] + UNIT * abs(value)


def _cosine(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    """Return the bound of a function whose slope is at most 1, and that is at most 1."""
    if type(es[0]) is float and not es[0]:
        return UNIT
    return error_of(xs[0], es[0]) + UNIT


def _general(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    own = UNIT if op.name in _NUMPY else LOOSE
    if op.kind != "elementwise":
        return 0.0  # a step: where it jumps, nothing helps
    total: Any = None
    for k, e in enumerate(es):
        if (type(e) is float and not e) or not op.edge(k):
            continue
        rule = op.rules[k]
        slope = abs(edge_rule(op, k)(*xs, value)) if callable(rule) else abs(rule or 0.0)
        part = slope * error_of(xs[k], e)
        total = part if total is None else total + part
    return own if total is None else total + own * abs(value)


def _choice(op: Op, xs: Sequence[Any], es: Sequence[Bound], value: Any) -> Bound:
    """Return the bound of the chosen side; the other may have no value there."""
    return np.where(xs[0], error_of(xs[1], es[1]), error_of(xs[2], es[2]))


_BOUNDS: dict[Op, Callable[..., Bound]] = {
    add: _sum, subtract: _sum, multiply: _product, divide: _both, negative: _same, positive: _same,
    elementwise.absolute: _same, power: _power, sqrt: _root, square: _twice, reciprocal: _inverse,
    exp: _exponential, sin: _sine, tanh: _sine, atan: _sine, asinh: _sine, cos: _cosine,
    elementwise.where: _choice}
