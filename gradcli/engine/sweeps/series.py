"""Power series along one variable: Taylor coefficients of the values of a record.

A `Series` is a stream: its coefficient of order j is found when it is asked for, once, from
coefficients of its operands (J. van der Hoeven, Relax, but don't be too lazy (2002), section 4). It
takes the place of a number in the rules of the operations: since f(x(t))' = f'(x) x'(t), a value is
the integral of its slope times that of its operand, and the slope, a stream that the rule makes of
streams, is needed to one order less. So a rule of the table is all that an operation needs, to any
order (Griewank and Walther, Evaluating Derivatives (2008), chapter 13). Products, quotients and
linear operations have sums of their own. The same operation on the same operands is one stream:
rules that lead to each other (sin and cos) or to themselves (exp) end there, and those that lead on
and on (sigmoid, polygamma) make one stream for each order. A stream costs the square of its length.
"""

from __future__ import annotations

from operator import mul

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.record.operators import Operators
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, leading, window
from gradcli.engine.sweeps.reverse import without_rule
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import BILINEAR, EDGE, ELEMENTWISE, GENERAL, LINEAR, UNREGISTERED
from gradcli.ops.values import SCALAR_TYPES, is_float, shape_of, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.ops.kinds import Op

# Up to so many rows a determinant is taken by products alone: their number is that of the rows.
SMALL = 8


class NoSeries(Exception):
    """An error: an operation between has a rule that works on tensors only."""


class AtKink(Exception):
    """An error: a rule leads to an operation at a kink, beyond which there are no derivatives."""

    def __init__(self, op: Op) -> None:
        super().__init__(op.name)
        self.op = op


class GrowingMatrix(Exception):
    """An error: a rule leads to its own operation on a larger matrix, and so on with each order."""


class Series(Operators):
    """Coefficients c[0] + c[1] t + ..., floats or arrays of one shape; c: those found so far.

    step: function that returns coefficient j, the next one.
    needs: (operand, lag), the coefficients that it takes: those of the operand up to j - lag.
    known: results of operations by their operands, shared by all series that belong together.
    value: the first coefficient.
    """

    __slots__ = ("_slope", "batch", "c", "id", "known", "needs", "step", "value")

    def __init__(self, c: Sequence[Any], step: Callable[[Series, int], Any],
                 needs: Iterable[tuple[Series, int]] = (), known: dict[Any, Any] | None = None
                 ) -> None:
        self.c = list(c)
        self.value = self.c[0]
        self.step = step
        self.needs = list(needs)
        self.known: dict[Any, Any] = {} if known is None else known
        self.id = None
        self.batch = 0
        self._slope: Series | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of each coefficient."""
        return shape_of(self.value)

    def upto(self, order: int) -> list[Any]:
        """Return the coefficients from 0 to the order. Not recursive: streams may lead far."""
        waiting = [(self, order)]
        while waiting:
            one, last = waiting[-1]
            j = len(one.c)
            if j > last:
                waiting.pop()
                continue
            lacking = [(x, j - lag) for x, lag in one.needs if len(x.c) <= j - lag]
            if lacking:
                waiting += lacking
            else:
                one.c.append(one.step(one, j))
        return self.c[:order + 1]

    def slope(self) -> Series:
        """Return the derivative; c[1] has to be there."""
        if self._slope is None:
            self._slope = Series([self.c[1]], lambda _, j: (j + 1) * self.c[j + 1], [(self, -1)],
                                 self.known)
        return self._slope

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        values = [a.value if isinstance(a, Series) else a for a in args]
        if not op.elementwise and op.prepare is not None:
            attributes = op.prepare([shape_of(v) for v in values], **{
                **op.attributes, **attributes})
        return applied(op, args, attributes, lambda: op(*values, **attributes), made=True)


def polynomial(*c: Any) -> Series:
    """Return the series of a source: these coefficients, and 0 from there on."""
    return Series(c, lambda one, _: zeros(one.shape))


def applied(op: Op, xs: Sequence[Any], attributes: Mapping[str, Any], value: Callable[[], Any],
            made: bool = False) -> Any:
    """Return the result of an operation on operands some of which are series; a plain value where
    none of them passes a derivative.

    value: function that returns the plain value. made: whether a rule applies it, where an
    operation at a kink is not to be passed. Raises NoSeries.
    """
    moving = [k for k, x in enumerate(xs) if isinstance(x, Series) and op.edge(k)]
    if op.kind == ELEMENTWISE:    # what stands still in steps moves nothing
        moving = [k for k in moving if op.rules[k] != 0.0]
    if not moving:
        return value()
    xs = [x.value if isinstance(x, Series) and k not in moving else x for k, x in enumerate(xs)]
    known = xs[moving[0]].known
    key = _key(op, xs, attributes)
    if key is not None and key in known:
        return known[key][0]
    ans = value()
    if not is_float(ans):
        return ans
    within = known.get("within")
    if within is not None and within[0] is op and (0, *shape_of(ans))[-1] > within[1] > 0:
        raise GrowingMatrix
    if op.name == "power" and 1 in moving:
        # Its rule would take logarithms of every power.
        out = PUBLIC["exp"](xs[1] * PUBLIC["log"](xs[0]))
    elif op.name == "det" and xs[0].shape[-1] <= SMALL:
        out = _determinant(xs[0], ans)
    else:
        out = Series([ans], _stepper(op, xs, moving, attributes, made),
                     [(xs[k], 0) for k in moving], known)
    if key is not None:
        # The operands are kept, so that no other object gets an identity of the key.
        known[key] = out, xs
    return out


def _key(op: Op, xs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Return a key for an operation on operands; None where there is none."""
    key = (id(op), *[(type(x), repr(x)) if type(x) in SCALAR_TYPES else id(x) for x in xs],
           *[(name, _frozen(value)) for name, value in attributes.items()])
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(value: Any) -> Any:
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _determinant(a: Any, ans: Any) -> Any:
    """Return a determinant in products and traces alone (D. Faddeev and V. Faddeeva, Computational
    Methods of Linear Algebra (1963), section 47).

    The rule of the row inverts matrices, which are polynomials no more and whose series grow where
    the determinant is nearly 0.
    """
    n = a.shape[-1]
    product: Any = a
    c: Any = None
    for k in range(1, n + 1):
        c = PUBLIC["trace"](product) * (-1.0 / k)
        if k < n:
            shift = PUBLIC["reshape"](c, shape=(*shape_of(c.value), 1, 1)) * np.eye(n)
            product = PUBLIC["matmul"](a, product + shift)
    return Series([ans], lambda _, j: c.c[j] * (-1.0) ** n, [(c, 0)], a.known)


# --- how the next coefficient is found ------------------------------------------------------------


def _stepper(op: Op, xs: list[Any], moving: list[int], attributes: Mapping[str, Any], made: bool
         ) -> Callable[[Series, int], Any]:
    # Of what is linear in the operands that move, each order is that of the operands.
    choice = op.kind == ELEMENTWISE and op.role(0) == "condition"
    if op.kind == LINEAR or choice:
        return lambda _, j: op(*[
            x.c[j] if k in moving else zeros(shape_of(x)) if op.edge(k) else x
            for k, x in enumerate(xs)], **attributes)
    if op.name == "multiply" or op.kind == BILINEAR:
        if len(moving) == 1:
            (m,) = moving
            return lambda _, j: op(*xs[:m], xs[m].c[j], *xs[m + 1:], **attributes)
        return lambda _, j: _product(op, xs[0].c, xs[1].c, j, attributes)
    if op.name == "divide":
        return lambda out, j: _quotient(xs, moving, out, j)
    if op.kind == ELEMENTWISE and all(isinstance(op.rules[k], float) for k in moving):
        return lambda out, j: _filled(sum([op.rules[k] * xs[k].c[j] for k in moving]), out.value)
    if op.kind not in (ELEMENTWISE, GENERAL) or (op.kind == GENERAL and op.jvp is None):
        raise NoSeries
    return lambda out, _: _integral(op, xs, moving, attributes, made, out)


def _product(op: Op, a: Sequence[Any], b: Sequence[Any], j: int, attributes: Mapping[str, Any]
             ) -> Any:
    if type(a[0]) is float and type(b[0]) is float:
        return sum(map(mul, a[:j + 1], b[j::-1]))
    if op.kind == ELEMENTWISE:
        return _total([x * y for x, y in zip(a[:j + 1], b[j::-1], strict=True)])
    return _total([op(a[i], b[j - i], **attributes) for i in range(j + 1)])


def _quotient(xs: Sequence[Any], moving: Sequence[int], out: Series, j: int) -> Any:
    """Return the last coefficient of out, for which out * b = a is solved."""
    a = xs[0].c[j] if 0 in moving else 0.0
    if 1 not in moving:
        return PUBLIC["divide"](a, xs[1])
    b = xs[1].c
    if type(out.value) is float and type(b[0]) is float:
        rest = sum(map(mul, out.c[:j], b[j:0:-1]))
    else:
        rest = _total([out.c[i] * b[j - i] for i in range(j)])
    return PUBLIC["divide"](a - rest, b[0])


def _integral(op: Op, xs: list[Any], moving: Sequence[int], attributes: Mapping[str, Any],
              made: bool, out: Series) -> Any:
    """Return the first coefficient of the integral of the slope, which is made only now."""
    if made and op.kink is not None and "tie" not in op.kinks and _at_kink(op, xs):
        raise AtKink(op)
    try:
        slope = _slope(op, xs, moving, attributes, out)
    except GrowingMatrix:
        out.step = lambda out, j: _of_blocks(op, xs[0].c, out, j)
        return out.step(out, 1)
    if not isinstance(slope, Series):
        out.step = lambda out, j: zeros(out.shape)
        return _filled(slope, out.value)
    out.needs.append((slope, 1))
    out.step = lambda out, j: _filled(slope.c[j - 1] / float(j), out.value)
    return _filled(slope.value, out.value)


def _slope(op: Op, xs: list[Any], moving: Sequence[int], attributes: Mapping[str, Any],
           out: Series) -> Any:
    slopes = {k: xs[k].slope() for k in moving}
    if op.kind == GENERAL:
        assert op.jvp is not None
        out.known["within"] = op, (0, *out.shape)[-1]
        try:
            return op.jvp([slopes.get(k) for k in range(len(xs))], out, *xs, **attributes)
        finally:
            del out.known["within"]
    total: Any = None
    for k in moving:
        rule = op.rules[k]
        part = slopes[k] * (rule(*xs, out) if callable(rule) else rule)
        total = part if total is None else total + part
    return total


def _of_blocks(op: Op, x: Sequence[Any], out: Series, j: int) -> Any:
    """Return coefficient j of a function of a matrix.

    The function of the triangle of blocks x[0], x[1], ... has the coefficients in its first row (N.
    Higham, Functions of Matrices (2008), section 3.2). The unit of t makes them of one size.
    """
    m = out.shape[-1]
    sizes = [float(np.abs(c).max()) for c in (out.c[0], out.c[-1])]
    unit = (sizes[0] / sizes[1]) ** (1.0 / (j - 1)) if j > 1 and all(sizes) else 1.0
    whole = np.zeros((*out.shape[:-2], (j + 1) * m, (j + 1) * m))
    for i in range(j + 1):
        for k in range(j + 1 - i):
            whole[..., k * m:(k + 1) * m, (i + k) * m:(i + k + 1) * m] = x[i] * unit ** i
    return op(whole)[..., :m, j * m:] / unit ** j


def _at_kink(op: Op, xs: Sequence[Any]) -> bool:
    """Return whether an elementwise operation is at a kink."""
    values = [x.value if isinstance(x, Series) else x for x in xs]
    if not op.elementwise:
        return False
    assert op.kink is not None
    hits = op.kink(*values)
    return bool(hits.any()) if shape_of(hits) else bool(hits)


def _filled(value: Any, ans: Any) -> Any:
    """Broadcast a value to the shape of the result: it did not vary along the broadcast axes."""
    if shape_of(value) == shape_of(ans):
        return value
    return np.array(np.broadcast_to(value, shape_of(ans)))


def _total(terms: Sequence[Any]) -> Any:
    return sum(terms[1:], terms[0])


# --- of a record ----------------------------------------------------------------------------------


class Expansion:
    """The series of a record's values, given those of its sources.

    Raises NoSeries where a rule between works on tensors only, E0503 where there is none, AtKink.
    """

    __slots__ = ("carried",)

    def __init__(self, entries: Sequence[Entry], seeds: Mapping[int, Series],
                 targets: Sequence[int]) -> None:
        self.carried: dict[int, Series] = dict(seeds)
        known: dict[Any, Any] = {}
        for seed in seeds.values():
            seed.known = known
        wanted = leading(entries, list(targets))
        with quiet():
            for entry in window(entries, seeds, targets):
                if entry[OUT] in wanted:
                    self._enter(entry)

    def _enter(self, entry: Entry) -> None:
        xs = [self.carried.get(i, v) if i is not None else v
              for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        op = entry[OP]
        if not any(isinstance(x, Series) and op.edge(k) for k, x in enumerate(xs)):
            return
        if op.kind == UNREGISTERED:
            raise without_rule(entry)
        if getattr(op, "custom", False):
            raise NoSeries
        made = _guarded(lambda: applied(op, xs, entry[ATTRIBUTES], lambda: entry[ANS]))
        if isinstance(made, Series):
            self.carried[entry[OUT]] = made

    def of(self, target: int, order: int) -> list[Any] | None:
        """Return the coefficients of a value up to an order; None where no path leads to it."""
        found = self.carried.get(target)
        if found is None:
            return None
        return guarded(found, order)


def guarded(series: Series, order: int) -> list[Any]:
    """Return the coefficients up to an order. Raises NoSeries where a rule fails on series."""
    with quiet():
        return _guarded(lambda: series.upto(order))  # type: ignore[no-any-return]


def _guarded(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GradcliError:
        raise
    except (TypeError, AttributeError, *EDGE):  # a rule that wants a tensor, or a pole
        raise NoSeries from None
