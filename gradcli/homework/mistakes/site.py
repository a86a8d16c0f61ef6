"""An operation of a formula as a student sees it, in the terms in which wrong rules are written.

The rules of `gradcli.homework.mistakes.rules` ask for the operands, their tangents and the value,
and for two readings of an operation that no row of the table has: as an outer function of an inner
one (sin of u, u to the n, c to the w), and as a power (sqrt(u), 1/u^2).
"""

from __future__ import annotations

from gradcli.formulas.nodes import Node, partial, template
from gradcli.formulas.rounding import applied
from gradcli.ops import lookup
from gradcli.ops.table.elementwise import divide, multiply, power

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.ops.kinds import Op

# Row -> the exponent that it stands for.
ROOTS = {"sqrt": 0.5, "cbrt": 1 / 3, "square": 2.0, "reciprocal": -1.0, "rsqrt": -0.5}
MISSING = object()
# Rows of one operand that nobody calls an outer function.
PLAIN = frozenset("negative positive".split())


class Site:
    """A node of a formula under differentiation.

    op, u, w, v: operation, operands and value, w None where there is one operand only.
    tu, tw: the operands' tangents, None where they do not depend on a seed.
    x: the variable.
    parameters: names that count as numbers.
    """

    __slots__ = ("_outer", "_power", "carried", "formula", "k", "op", "parameters", "tu", "tw", "u",
                 "v", "w", "x")

    def __init__(self, formula: Formula, k: int, carried: Mapping[int, Any], variable: str,
                 parameters: frozenset[str]) -> None:
        op = formula.ops[k]
        assert op is not None
        self.formula = formula
        self.k = k
        self.op: Op = op
        self.carried = carried
        self.parameters = parameters
        args = formula.args[k]
        self.x = self.node(formula.leaf(variable))
        self.v = self.node(k)
        self.u = self.node(args[0])
        self.tu = self.tangent(self.u)
        self.w: Node | None = None
        self.tw: Node | None = None
        if len(args) == 2:
            self.w = self.node(args[1])
            self.tw = self.tangent(self.w)
        # Found once, asked for by many rules.
        self._outer: Any = MISSING
        self._power: Any = MISSING

    def node(self, k: int) -> Node:
        """Return a node of the formula as an operand."""
        return Node(self.formula, k)

    def tangent(self, node: Node) -> Node | None:
        """Return the tangent of an operand, None if it has none."""
        found = self.carried.get(node.number)
        return None if found is None else Node(self.formula, found)

    def instead(self, node: Node, tangent: Node) -> Site:
        """Return a copy of the site with another tangent of one node."""
        return Site(self.formula, self.k, {**self.carried, node.number: tangent.number},
                    self.variable, self.parameters)

    def inside(self, node: Node) -> Site:
        """Return the site of an operand, which is no leaf."""
        return Site(self.formula, node.number, self.carried, self.variable, self.parameters)

    @property
    def variable(self) -> str:
        """Return the name that students give to x."""
        return self.formula.name(self.x.number) or ""

    def number(self, value: float) -> Node:
        """Return a constant."""
        return Node(self.formula, self.formula.number(value))

    def call(self, name: str, *operands: Node) -> Node:
        """Return an operation of the table on nodes."""
        op = lookup(name)
        assert op is not None
        return Node(self.formula, self.formula.share(op, tuple([o.number for o in operands])))

    def slope(self, op: Op, operands: tuple[Node, ...], place: int = 0) -> Node:
        """Return the partial derivative of an operation, at any operands."""
        formula = self.formula
        k = formula.share(op, tuple([o.number for o in operands]))
        if formula.ops[k] is not op:  # folded: a number, or x^1
            k = formula.add(op, [o.number for o in operands])
        found = partial(formula, k, place)
        if found is None or isinstance(found, float):
            return self.number(found or 0.0)
        return Node(formula, found)

    def operands(self, node: Node) -> list[Node]:
        """Return the operands of a node; none of a leaf."""
        if self.formula.ops[node.number] is None:
            return []
        return [self.node(k) for k in self.formula.args[node.number]]

    def row(self, node: Node) -> str:
        """Return the name of a node's operation; of a leaf the empty text."""
        op = self.formula.ops[node.number]
        return "" if op is None else op.name

    def folded(self, node: Node) -> Node:
        """Return a constant that is written as a formula, such as -1/2, as a number."""
        return Node(self.formula, _folded(self.formula, node.number))

    def is_leaf(self, node: Node) -> bool:
        return self.formula.ops[node.number] is None

    def is_number(self, node: Node) -> bool:
        """Return whether a node consists of numbers and parameters only."""
        return set(self.formula.leaves([node.number])) <= self.parameters

    def is_x(self, node: Node) -> bool:
        return node.number == self.x.number


class Outer:
    """An outer function g of an inner one: `u`, whose tangent is `tu`.

    kind: of g, "function", "power" or "exponential". n: the exponent of a power, factor: the
    constant in front of it.
    """

    __slots__ = ("factor", "kind", "n", "site", "tu", "u")

    def __init__(self, site: Site, kind: str, u: Node, tu: Node, n: Node | None = None,
                 factor: Node | None = None) -> None:
        self.site = site
        self.kind = kind
        self.u = u
        self.tu = tu
        self.n = n
        self.factor = factor

    def value(self, at: Node) -> Node:
        """Return g at any node."""
        s = self.site
        if self.kind == "power":
            return self.scaled(at**self.n)
        if self.kind == "exponential":
            return s.u**at
        return s.call(s.op.name, at)

    def slope(self, at: Node) -> Node:
        """Return g' at any node."""
        s = self.site
        n = self.n
        if n is not None:
            return self.scaled(n * at**(n - 1.0))
        if self.kind == "exponential":
            return s.slope(s.op, (s.u, at), 1)
        return s.slope(s.op, (at,))

    def scaled(self, node: Node) -> Node:
        return node if self.factor is None else self.factor * node


def outer(s: Site) -> Outer | None:
    """Return the site as g(u) with a u that depends on the variable; None for other operations."""
    if s._outer is MISSING:
        s._outer = _outer(s)
    found: Outer | None = s._outer
    return found


def _outer(s: Site) -> Outer | None:
    found = as_power(s)
    if found is not None or s.op.name in PLAIN:
        return found
    if s.op is power:
        if s.tu is None and s.tw is not None and s.w is not None:
            return Outer(s, "exponential", s.w, s.tw)
        return None
    if s.w is None and s.tu is not None and s.op.elementwise and s.op.rules:
        return Outer(s, "function", s.u, s.tu)
    return None


def as_power(s: Site) -> Outer | None:
    """Return the site as c*u^n: powers, roots, and constants over them; None for others."""
    if s._power is MISSING:
        s._power = _as_power(s)
    found: Outer | None = s._power
    return found


def _as_power(s: Site) -> Outer | None:
    if s.op is divide:
        assert s.w is not None
        if s.tu is not None or s.tw is None:
            return None
        base, n = _base(s, s.w)
        tangent = s.tangent(base)
        if n is None or tangent is None:
            return Outer(s, "power", s.w, s.tw, s.number(-1.0), s.u)
        return Outer(s, "power", base, tangent, -n, s.u)
    base, n = _base(s, s.v)
    if n is None or s.tu is None:
        return None
    return Outer(s, "power", base, s.tu, n)


def _base(s: Site, node: Node) -> tuple[Node, Node | None]:
    """Return base and exponent of a node; exponent None unless it is a constant one."""
    operands = s.operands(node)
    name = s.row(node)
    if name in ROOTS:
        return operands[0], s.number(ROOTS[name])
    if name == power.name and s.tangent(operands[1]) is None:
        return operands[0], s.folded(operands[1])
    return node, None


def _folded(formula: Formula, k: int) -> int:
    op = formula.ops[k]
    if op is None:
        return k
    return formula.share(op, tuple([_folded(formula, a) for a in formula.args[k]]))


def parts(s: Site) -> tuple[Node, Node] | None:
    """Return (c, u) of a product c*u or quotient u/c where c is free of the variable, else None."""
    if s.w is None or s.op not in (multiply, divide):
        return None
    if s.op is multiply and s.tu is None and s.tw is not None:
        return s.u, s.w
    if s.tw is None and s.tu is not None:
        return s.w, s.u
    return None


def inner_square(s: Site) -> Node | None:
    """Return u of sqrt(u^2), None for other operations."""
    return square_base(s, s.u) if s.op.name == "sqrt" else None


def square_base(s: Site, node: Node) -> Node | None:
    """Return u of u^2, None for other nodes."""
    base, n = _base(s, node)
    return base if n is not None and n.value == 2 else None


def coefficient(formula: Formula, node: int) -> float:
    """Return the product of the numbers among the factors of a node; 1 if it is unknown."""
    if node < 0:
        return 1.0
    value = formula.value(node)
    if value is not None:
        return value
    op = formula.ops[node]
    if op is None:
        return 1.0
    args = formula.args[node]
    if op is multiply:
        return coefficient(formula, args[0]) * coefficient(formula, args[1])
    if op is divide:
        below = coefficient(formula, args[1])
        return coefficient(formula, args[0]) / below if below else 1.0
    if op.name == "negative":
        return -coefficient(formula, args[0])
    return 1.0


# --------------------------------------------------------------------------------------------------
# Operands with values: rules that are written for nodes of a formula, run on arrays instead.

class OperandValues(Node):
    """An operand with its values. number: of its node, -1 if there is none."""

    __slots__ = ("seen",)

    def __init__(self, formula: Formula, number: int, seen: Any) -> None:
        self.formula = formula
        self.number = number
        self.seen = seen

    @property
    def value(self) -> float | None:
        return self.seen if isinstance(self.seen, float) else None

    def __add__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, self.seen + values_of(other))

    def __radd__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, other + self.seen)

    def __sub__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, self.seen - values_of(other))

    def __rsub__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, other - self.seen)

    def __mul__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, self.seen * values_of(other))

    def __rmul__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, other * self.seen)

    def __truediv__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, applied(divide, (self.seen, values_of(other))))

    def __rtruediv__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, applied(divide, (values_of(other), self.seen)))

    def __pow__(self, other: Any) -> OperandValues:
        return OperandValues(self.formula, -1, _power(self.seen, values_of(other)))

    def __neg__(self) -> OperandValues:
        return OperandValues(self.formula, -1, -self.seen)


def values_of(operand: Any) -> Any:
    """Return the values of an operand; of a number itself."""
    return operand.seen if operand.__class__ is OperandValues else operand


def _power(x: Any, n: Any) -> Any:
    if isinstance(n, float):
        if n == 1:
            return x
        if n == 0:
            return 1.0
    return applied(power, (x, n))


class ValuedSite(Site):
    """A site whose operands have values. known: those of all nodes."""

    __slots__ = ("known",)

    def __init__(self, formula: Formula, k: int, carried: Mapping[int, Any], variable: str,
                 parameters: frozenset[str], known: Mapping[int, Any]) -> None:
        self.known = known
        super().__init__(formula, k, carried, variable, parameters)

    def node(self, k: int) -> OperandValues:
        return OperandValues(self.formula, k, self.known[k])

    def tangent(self, node: Node) -> OperandValues | None:
        return self.carried.get(node.number)

    def instead(self, node: Node, tangent: Node) -> ValuedSite:
        return ValuedSite(self.formula, self.k, {**self.carried, node.number: tangent},
                          self.variable, self.parameters, self.known)

    def inside(self, node: Node) -> ValuedSite:
        return ValuedSite(self.formula, node.number, self.carried, self.variable, self.parameters,
                          self.known)

    def number(self, value: float) -> OperandValues:
        return OperandValues(self.formula, -1, value)

    def call(self, name: str, *operands: Node) -> OperandValues:
        op = lookup(name)
        assert op is not None
        return OperandValues(self.formula, -1, applied(op, [values_of(o) for o in operands]))

    def slope(self, op: Op, operands: tuple[Node, ...], place: int = 0) -> OperandValues:
        return OperandValues(self.formula, -1,
                             slope_at(op, [values_of(o) for o in operands], place))

    def folded(self, node: Node) -> OperandValues:
        return self.node(node.number)


def slope_at(op: Op, xs: list[Any], place: int) -> Any:
    """Return the partial derivative of an operation at values."""
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
