"""Derivatives of high order of one number in another, as one operation each.

Emitted sweep after sweep, the record of a derivative grows by a factor with each order. Its value
is a Taylor coefficient, which costs the square of the order (`gradcli.engine.sweeps.series`). It is
a smooth function of what the record began with: of the point, by the next order; of any other
number a, by D^n (dy/da), since derivatives commute. So it is an elementwise operation of its own,
made for the place where it stands, which every sweep takes like a row of the table.
"""

from __future__ import annotations

from math import factorial, inf

from gradcli.base.lazy import quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, BATCH, IDS, OP, OUT, VALUES, leading, window
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.sweeps import reverse
from gradcli.engine.sweeps.extremes import FAINT, LARGE
from gradcli.engine.sweeps.series import AtKink, Expansion, GrowingMatrix, NoSeries, polynomial
from gradcli.ops.kinds import Op
from gradcli.ops.table.elementwise import exp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

# The work is the square of the order.
MOST = 400


class Function:
    """What entries compute: the number `target` of the numbers `inputs`, the first of which is the
    one that derivatives are taken in.

    given: the values of the inputs when the entries were recorded.
    """

    __slots__ = ("_expansions", "_partials", "entries", "given", "inputs", "target")

    def __init__(self, entries: Sequence[Entry], inputs: Sequence[int], given: Sequence[float],
                 target: int) -> None:
        self.entries = list(entries)
        self.inputs = list(inputs)
        self.given = tuple(given)
        self.target = target
        self._partials: dict[int, Function | None] = {}
        self._expansions: dict[tuple[float, ...], Expansion] = {}

    def derivative(self, order: int, values: Sequence[float]) -> float:
        """Return the derivative in the first input. Raises NoSeries, AtKink, GrowingMatrix."""
        place = tuple(values)
        expansion = self._expansions.get(place)
        if expansion is None:    # only the last one is kept: it goes on to the next order
            expansion = Expansion(
                self._at(place), {self.inputs[0]: polynomial(place[0], 1.0)}, [self.target])
            self._expansions = {place: expansion}
        found = expansion.of(self.target, order)
        return 0.0 if found is None else _times_factorial(found[order], order)

    def _at(self, values: tuple[float, ...]) -> Sequence[Entry]:
        """Return the entries as they would be with other inputs."""
        if values == self.given:
            return self.entries
        now: dict[int | None, Any] = dict(zip(self.inputs, values, strict=True))
        out = []
        for op, made, ids, old, _, attributes, place, batches in self.entries:
            xs = tuple([now.get(i, v) for i, v in zip(ids, old, strict=True)])
            now[made] = op.on_scalars(xs)
            out.append((op, made, ids, xs, now[made], attributes, place, batches))
        return out

    def partial(self, k: int) -> Function | None:
        """Return the derivative in input k as a function; None where it does not depend on it."""
        if k not in self._partials:
            with records.Record() as record, quiet():
                g = reverse.reverse(self.entries, {self.target: 1.0}, [self.inputs[k]], emit=True
                                    ).get(self.inputs[k])
            self._partials[k] = Function(
                [*self.entries, *record.history()], self.inputs, self.given, g.id
            ) if isinstance(g, Tensor) and g.id is not None else None
        return self._partials[k]

    def operation(self, order: int) -> Op:
        """Return the derivative of an order in the first input as an operation on the inputs."""
        op = exp.copy()
        op.name = "derivative"
        op.aliases = ()
        op.parameters = tuple([f"x{k}" for k in range(len(self.inputs))])
        op.most = op.least = len(op.parameters)
        op.roles = ("data",) * len(op.parameters)
        op.edges = (True,) * len(op.parameters)
        op.floats = lambda *values: self.derivative(order, values)
        op.arrays = op.on_complex = None
        op.complex_form = ""
        op.by_arrays = False
        op.rules = op.fast_rules = tuple([
            self._rule(order, k) for k in range(len(op.parameters))])
        op.array_rules = None
        op.doc = op.latex = op.domain = op.undoes = op.names = ""
        op.traits = ()
        op.whole, op.guard = {}, {}
        return op

    def _rule(self, order: int, k: int) -> Any:
        def rule(*xs: Any) -> Any:
            if k == 0:
                return self.operation(order + 1)(*xs[:-1])
            partial = self.partial(k)
            return 0.0 if partial is None else partial.operation(order)(*xs[:-1])

        return rule


def _times_factorial(c: float, order: int) -> float:
    """Return c n!, rounded once; n! need not be a float."""
    if not -inf < c < inf:
        return c
    above, below = c.as_integer_ratio()
    try:
        return above * factorial(order) / below
    except OverflowError:
        return inf if c > 0 else -inf


def higher(entries: Sequence[Entry], target: Tensor, source: Tensor, order: int) -> Tensor | None:
    """Return a derivative of a number in a number, recorded as one entry.

    None where only sweeps can tell: at a kink, through an operation that has no series or
    is none of numbers, where it is 0 or not finite, or where the record must hold at other points.
    """
    record = records.current()
    ends = target.value, source.value
    if order > MOST or record.guards is not None or record.checking or record.accumulators:
        return None
    if target.id is None or source.id is None or not all(type(v) is float for v in ends):
        return None
    function = _function(entries, target, source)
    if function is None:
        return None
    op = function.operation(order)
    try:
        value = function.derivative(order, function.given)
    except (NoSeries, AtKink, GrowingMatrix):
        return None
    if not FAINT < abs(value) < inf:
        return None
    made = op(*[Tensor(v, i) for i, v in zip(function.inputs, function.given, strict=True)])
    return made if isinstance(made, Tensor) else None


def _function(entries: Sequence[Entry], target: Tensor, source: Tensor) -> Function | None:
    assert target.id is not None
    assert source.id is not None
    needed = leading(entries, [target.id])
    inside = [e for e in window(entries, [source.id], [target.id]) if e[OUT] in needed]
    if source.id not in needed or not all(_is_plain(e) for e in inside):
        return None
    made = {e[OUT] for e in inside}
    values = {i: v for e in inside for i, v in zip(e[IDS], e[VALUES], strict=True)
              if i is not None and i not in made and i != source.id}
    return Function(inside, [source.id, *values], [source.value, *values.values()], target.id)


def _is_plain(entry: Entry) -> bool:
    """Return whether an entry is a formula of numbers that are neither very large nor small."""
    op: Any = entry[OP]
    return type(entry[ANS]) is float and op.elementwise and not entry[BATCH] and (
        -LARGE < entry[ANS] < LARGE) and all(type(v) is float for v in entry[VALUES])
