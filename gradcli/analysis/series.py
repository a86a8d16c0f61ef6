"""Power series along one variable: Taylor coefficients of what a record computes.

A `Series` takes the place of a number in the rules of the operations. Since f(x(t))' = f'(x) x'(t),
the coefficients of order 1 to n of an answer come out of its rule, run on series of order n - 1;
so a rule of the table is all that an operation needs, to any order (Griewank and Walther,
Evaluating Derivatives (2008), chapter 13). Products, quotients and what is linear have sums of
their own.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import BILINEAR, EDGE, ELEMENTWISE, GENERAL, LINEAR, UNREGISTERED
from gradcli.ops.lazy import quiet
from gradcli.ops.values import is_float, shape_of, zeros
from gradcli.sweeps import reach
from gradcli.sweeps.reverse import without_rule
from gradcli.tape.operators import Operators
from gradcli.tape.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op
    from gradcli.tape.record import Entry


class NoSeries(Exception):
    """An operation on the way has a rule that works on tensors only."""


class Series(Operators):
    """Coefficients c[0] + c[1] t + ..., floats or arrays of one shape. value: the first one.

    more: how to find the coefficients behind the first, when somebody asks for them. known: what
    functions of it were found, by name and length.
    """

    __slots__ = ("_c", "batch", "id", "known", "more", "value", "whole")

    def __init__(self, c: Sequence[Any], more: Callable[[], Sequence[Any]] | None = None,
                 whole: Series | None = None) -> None:
        self._c = list(c)
        self.more = more
        self.value = self._c[0]
        self.id = None
        self.batch = 0
        self.whole = self if whole is None else whole
        self.known: dict[Any, Any] = {}

    @property
    def c(self) -> list[Any]:
        """All coefficients."""
        if self.more is not None:
            self._c, self.more = list(self.more()), None
        return self._c

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of each coefficient."""
        return shape_of(self.value)

    def head(self, n: int) -> Series:
        """The first n coefficients; the same object each time."""
        known = self.whole.known
        if ("head", n) not in known:
            known["head", n] = Series(self.c[:n], whole=self.whole)
        found: Series = known["head", n]
        return found

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        values = [a.value if isinstance(a, Series) else a for a in args]
        full = attributes
        if not op.elementwise and op.prepare is not None:
            full = op.prepare([shape_of(v) for v in values], **{**op.attributes, **attributes})
        return applied(op, args, op(*values, **attributes), full)


def applied(op: Op, xs: Sequence[Any], ans: Any, attributes: Mapping[str, Any]) -> Any:
    """What an operation makes of operands some of which are series; a plain value where none of
    them passes a derivative. Raises NoSeries.
    """
    moving = [k for k, x in enumerate(xs) if isinstance(x, Series) and op.edge(k)]
    if not moving or not is_float(ans):
        return ans
    n = min([len(xs[k].c) for k in moving])
    if n == 1:
        return Series([ans])
    xs = [x.head(n) if k in moving else x.value if isinstance(x, Series) else x
          for k, x in enumerate(xs)]
    key = (op.name, n, tuple([id(x.whole) if isinstance(x, Series) else x for x in xs])
           ) if op.kind == ELEMENTWISE and not any(shape_of(x) for x in xs if not isinstance(
               x, Series)) else None
    known = xs[moving[0]].whole.known
    if key is not None and key in known:
        return known[key]
    made = Series(_coefficients(op, xs, moving, ans, attributes, n))
    if key is not None:
        # The operands are kept, so that no other object gets an identity of the key.
        known[key], known["operands", key] = made, xs
    return made


def _coefficients(op: Op, xs: list[Any], moving: list[int], ans: Any,
                  attributes: Mapping[str, Any], n: int) -> list[Any]:
    if op.kind == LINEAR:
        return [ans, *[op(*[x.c[j] if k in moving else zeros(shape_of(x)) if op.edge(k) else x
                            for k, x in enumerate(xs)], **attributes) for j in range(1, n)]]
    if op.name == "multiply" or op.kind == BILINEAR:
        if len(moving) == 1:
            (k,) = moving
            return [ans, *[op(*xs[:k], xs[k].c[j], *xs[k + 1:], **attributes)
                           for j in range(1, n)]]
        a, b = xs[0].c, xs[1].c
        return [ans, *[_total([op(a[i], b[j - i], **attributes) for i in range(j + 1)])
                       for j in range(1, n)]]
    if op.name == "divide" and 1 in moving:
        return _quotient(xs, ans, n)
    if op.name == "power" and 1 in moving:
        return list((PUBLIC["exp"](xs[1] * PUBLIC["log"](xs[0]))).c)
    return _by_rule(op, xs, moving, ans, attributes, n)


def _quotient(xs: list[Any], ans: Any, n: int) -> list[Any]:
    a = xs[0].c if isinstance(xs[0], Series) else [xs[0], *[0.0] * (n - 1)]
    b, out = xs[1].c, [ans]
    for j in range(1, n):
        out.append(PUBLIC["divide"](a[j] - _total([out[i] * b[j - i] for i in range(j)]), b[0]))
    return out


def _by_rule(op: Op, xs: list[Any], moving: list[int], ans: Any, attributes: Mapping[str, Any],
             n: int) -> list[Any]:
    """From the slopes as series of one order less, and the operand's own slope."""
    shorter = [x.head(n - 1) if k in moving else x for k, x in enumerate(xs)]
    slopes = {k: Series([j * xs[k].c[j] for j in range(1, n)]) for k in moving}
    # Rules that read their answer want it as a series, too: found when they do.
    answer = Series([ans], lambda: applied(op, shorter, ans, attributes).c)
    total: Any = None
    if op.kind == GENERAL:
        if op.jvp is None:
            raise NoSeries
        total = op.jvp([slopes.get(k) for k in range(len(xs))], answer, *shorter, **attributes)
    elif op.kind == ELEMENTWISE:
        for k in moving:
            rule = op.rules[k]
            slope = rule(*shorter, answer) if callable(rule) else rule
            part = slopes[k] * slope
            total = part if total is None else total + part
    else:
        raise NoSeries
    found = total.c if isinstance(total, Series) else [total]
    return [ans, *[_filled(found[j] / (j + 1.0), ans) if j < len(found) else
                   zeros(shape_of(ans)) for j in range(n - 1)]]


def _filled(value: Any, ans: Any) -> Any:
    """What did not vary along a broadcast axis fills it."""
    if shape_of(value) == shape_of(ans):
        return value
    from gradcli.ops.lazy import np

    return np.array(np.broadcast_to(value, shape_of(ans)))


def _total(terms: Sequence[Any]) -> Any:
    return sum(terms[1:], terms[0])


def along(entries: Sequence[Entry], seeds: Mapping[int, Series], target: int) -> Series | None:
    """The series of a value, given those of the sources; None where no path leads.

    Raises NoSeries where a rule on the way works on tensors only, E0503 where there is none.
    """
    carried: dict[int, Series] = dict(seeds)
    wanted = reach.leading(entries, [target])
    with quiet():
        for entry in reach.window(entries, seeds, [target]):
            if entry[OUT] not in wanted:
                continue
            xs = [carried.get(i, v) if i is not None else v
                  for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
            op = entry[OP]
            if not any(isinstance(x, Series) and op.edge(k) for k, x in enumerate(xs)):
                continue
            if op.kind == UNREGISTERED:
                raise without_rule(entry)
            if getattr(op, "custom", False):
                raise NoSeries
            try:
                made = applied(op, xs, entry[ANS], entry[ATTRIBUTES])
            except (TypeError, AttributeError, *EDGE):  # a rule that wants a tensor, or a pole
                raise NoSeries from None
            except RecursionError:
                raise error("E0833", f"`{op.name}` is too deep for a series of this order",
                            help="ask for a lower --order") from None
            if isinstance(made, Series):
                carried[entry[OUT]] = made
    return carried.get(target)
