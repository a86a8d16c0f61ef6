"""Operands with values: rules that are written for nodes of a formula, run on arrays instead."""

from __future__ import annotations

from gradcli.ops import lookup
from gradcli.ops.elementwise import divide, power
from gradcli.sweeps.formula import template
from gradcli.sweeps.rounding import applied
from gradcli.sweeps.site import Site
from gradcli.tape.formula import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.ops.kinds import Op
    from gradcli.tape.formula import Formula


class Seen(Node):
    """An operand with its values. number: of its node, -1 if there is none."""

    __slots__ = ("seen",)

    def __init__(self, formula: Formula, number: int, seen: Any) -> None:
        self.formula = formula
        self.number = number
        self.seen = seen

    @property
    def value(self) -> float | None:
        return self.seen if isinstance(self.seen, float) else None

    def __add__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, self.seen + seen_of(other))

    def __radd__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, other + self.seen)

    def __sub__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, self.seen - seen_of(other))

    def __rsub__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, other - self.seen)

    def __mul__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, self.seen * seen_of(other))

    def __rmul__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, other * self.seen)

    def __truediv__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, applied(divide, (self.seen, seen_of(other))))

    def __rtruediv__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, applied(divide, (seen_of(other), self.seen)))

    def __pow__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, _power(self.seen, seen_of(other)))

    def __neg__(self) -> Seen:
        return Seen(self.formula, -1, -self.seen)


def seen_of(operand: Any) -> Any:
    """The values of an operand; of a number itself."""
    return operand.seen if operand.__class__ is Seen else operand


def _power(x: Any, n: Any) -> Any:
    if isinstance(n, float):
        if n == 1:
            return x
        if n == 0:
            return 1.0
    return applied(power, (x, n))


class SeenSite(Site):
    """A site whose operands have values. known: those of all nodes."""

    __slots__ = ("known",)

    def __init__(self, formula: Formula, k: int, carried: Mapping[int, Any], variable: str,
                 parameters: frozenset[str], known: Mapping[int, Any]) -> None:
        self.known = known
        super().__init__(formula, k, carried, variable, parameters)

    def node(self, k: int) -> Seen:
        return Seen(self.formula, k, self.known[k])

    def tangent(self, node: Node) -> Seen | None:
        return self.carried.get(node.number)

    def instead(self, node: Node, tangent: Node) -> SeenSite:
        return SeenSite(self.formula, self.k, {**self.carried, node.number: tangent},
                        self.variable, self.parameters, self.known)

    def inside(self, node: Node) -> SeenSite:
        return SeenSite(self.formula, node.number, self.carried, self.variable, self.parameters,
                        self.known)

    def number(self, value: float) -> Seen:
        return Seen(self.formula, -1, value)

    def call(self, name: str, *operands: Node) -> Seen:
        op = lookup(name)
        assert op is not None
        return Seen(self.formula, -1, applied(op, [seen_of(o) for o in operands]))

    def slope(self, op: Op, operands: tuple[Node, ...], place: int = 0) -> Seen:
        return Seen(self.formula, -1, slope_at(op, [seen_of(o) for o in operands], place))

    def folded(self, node: Node) -> Seen:
        return self.node(node.number)


def slope_at(op: Op, xs: list[Any], place: int) -> Any:
    """The partial derivative of an operation at values."""
    made = template(op)[place]
    if made is None or isinstance(made, float):
        return made or 0.0
    steps, answer = made
    found: list[Any] = []

    def operand(o: Any) -> Any:
        if isinstance(o, float):
            return o
        if o >= 0:
            return found[o]
        return applied(op, xs) if -o > len(xs) else xs[-o - 1]

    for step, operands in steps:
        found.append(applied(step, [operand(o) for o in operands]))
    return operand(answer)
