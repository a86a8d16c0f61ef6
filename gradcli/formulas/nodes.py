"""A record without values: the flat list of what would run, for formulas that are not recorded yet.

Node k is an operation `ops[k]` on the nodes `args[k]`, or a leaf: then `ops[k]` is None and
`given[k]` is its name, or its value if it is a number. So a formula can be evaluated at many points
at once, differentiated into more nodes, and differentiated again, without being run in between; and
each node can keep the place in the text that it came from.

What is derived from others (`share`) is there once, and constants are folded; what somebody wrote
(`add`) stays as it was written.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.ops.graph import Graph
from gradcli.ops.table.elementwise import add, divide, multiply, negative, power, subtract
from gradcli.ops.text import Symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.ops.kinds import Op

    # Per argument: a number, None where no derivative passes, or steps (operation, operands): an
    # operand is the number of a step, a float, or, from -1 downwards, an argument, last the value.
    Step = tuple[Op, tuple[Any, ...]]
    Template = list[tuple[list[Step], Any] | float | None]


class Formula(Graph):
    """Nodes in order. given: of leaves their names or numbers, None of operations. places: of
    those that stand in a text, their spans.
    """

    __slots__ = ("given", "ops", "places")

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[Op | None] = []
        self.given: list[Any] = []
        self.places: list[Span | None] = []

    def leaf(self, name: str, place: Span | None = None) -> int:
        """Return the node of a name; each place where it is read is the same node."""
        return self._given(name, name, place)

    def number(self, value: float) -> int:
        """Return the node of a constant; 0.0 and -0.0 are two."""
        return self._given((value.__class__, value or repr(value)), value, None)

    def add(self, op: Op, args: Sequence[int], place: Span | None = None) -> int:
        """Add a new node, even if there is one like it, and return its number."""
        self.ops.append(op)
        self.args.append(tuple(args))
        self.given.append(None)
        self.places.append(place)
        return len(self.ops) - 1

    def share(self, op: Op, args: tuple[int, ...]) -> int:
        """Return the node of this operation on these operands; a number if they are numbers."""
        key = op, args
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = self._simple(op, args)
        return number

    def _given(self, key: Any, value: str | float, place: Span | None) -> int:
        number = self.known.get(key)
        if number is None:
            number = self.node(key, ())
            self.ops.append(None)
            self.given.append(value)
            self.places.append(place)
        return number

    def _simple(self, op: Op, args: tuple[int, ...]) -> int:
        for k in args:
            if self.ops[k] is not None or type(self.given[k]) is str:
                break
        else:
            return self.number(op.on_scalars([self.given[k] for k in args]))
        if op is multiply:
            for one, other in (args, args[::-1]):
                if (value := self.value(one)) == 1:
                    return other
                if value == -1:
                    return self.share(negative, (other,))
        elif op is divide or op is power:
            exponent = self.value(args[1])
            if exponent == 1:
                return args[0]
            if op is power and exponent == 0:
                return self.number(1.0)
        elif op is add:
            for one, other in (args, args[::-1]):
                if self.value(one) == 0:
                    return other
        elif op is subtract and self.value(args[1]) == 0:
            return args[0]
        elif op is negative and self.ops[args[0]] is negative:
            return self.args[args[0]][0]
        return self.add(op, args)

    def value(self, node: int) -> float | None:
        """Return the value of a node that is a number, else None."""
        given = self.given[node]
        return given if type(given) is float else None

    def name(self, node: int) -> str | None:
        """Return the name of a leaf, else None."""
        given = self.given[node]
        return given if type(given) is str else None

    def names(self) -> list[str]:
        """Return all names, in order of appearance."""
        return [leaf for leaf in self.given if type(leaf) is str]

    def leaves(self, nodes: Iterable[int]) -> list[str]:
        """Return the names that some nodes depend on, in order of appearance."""
        given = self.given
        return [given[k] for k in self.needed(nodes) if type(given[k]) is str]

    def substituted(self, node: int, other: Mapping[int, int]) -> int:
        """Return a node with some of its ancestors replaced. other: node to its replacement.
        Nothing is folded, so rounding errors of what is constant now are still seen.
        """
        found = dict(other)
        for k in self.needed([node]):
            if k in found:
                continue
            args = self.args[k]
            if self.ops[k] is None or all(found[a] == a for a in args):
                found[k] = k
            else:
                op = self.ops[k]
                assert op is not None
                found[k] = self.add(op, [found[a] for a in args], self.places[k])
        return found[node]


class Node(Symbolic):
    """A node as an operand: operations on it, and rules that are run on it, make more nodes.

    value: of a number, else None; id: None, as of everything that no tape knows.
    """

    __slots__ = ("formula", "number")
    id = None

    def __init__(self, formula: Formula, number: int) -> None:
        self.formula = formula
        self.number = number

    @property
    def value(self) -> float | None:
        return self.formula.value(self.number)

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Node:
        formula = self.formula
        return Node(formula, formula.share(op, tuple([
            a.number if type(a) is Node else formula.number(float(a)) for a in args])))

    def __pow__(self, other: Any) -> Node:
        return self.__gradcli_apply__(power, (self, other), {})

    def __rpow__(self, other: Any) -> Node:
        return self.__gradcli_apply__(power, (other, self), {})


# --------------------------------------------------------------------------------------------------
# The tangent of a formula as more of the formula: the table's rules, run on nodes.
#
# Each row's rules are run once on names and kept as a short list of steps, a template, that is laid
# over the operands of a node. Since a tangent is made of nodes like any other, so is the tangent of
# a tangent: derivatives of any order are the same walk again.

class Tangents:
    """Tangents of the nodes of a formula in one direction.

    carried: node to that of its tangent, None where it does not depend on a seed.
    """

    __slots__ = ("carried", "formula")

    def __init__(self, formula: Formula, seeds: Mapping[str, int | None]) -> None:
        """Start at the seeds: name to the node of its tangent."""
        self.formula = formula
        self.carried: dict[int, int | None] = {formula.leaf(n): t for n, t in seeds.items()}

    def of(self, node: int) -> int | None:
        """Return the tangent of a node; None where it does not depend on a seed."""
        carried = self.carried
        if node not in carried:
            for k in self.formula.needed([node]):
                if k not in carried:
                    carried[k] = self.of_node(k)
        return carried[node]

    def of_node(self, k: int) -> int | None:
        """Return the tangent of a node whose operands have theirs."""
        formula = self.formula
        op = formula.ops[k]
        if op is None:
            return None
        total: int | None = None
        args = formula.args[k]
        for place, arg in enumerate(args):
            t = self.carried[arg]
            if t is None:
                continue
            part = _times(formula, t, partial(formula, k, place))
            if part is not None:
                total = part if total is None else formula.share(add, (total, part))
        return total


def _times(formula: Formula, tangent: int, slope: int | float | None) -> int | None:
    if slope is None:
        return None
    if type(slope) is float:
        if slope == 1:
            return tangent
        if slope == -1:
            return formula.share(negative, (tangent,))
        slope = formula.number(slope)
    assert isinstance(slope, int)
    return formula.share(multiply, (tangent, slope))


def partial(formula: Formula, k: int, place: int) -> int | float | None:
    """Return the partial derivative of node k by its operand: a node, a number, or None where there
    is none. Raises E0503 for an operation that has no rule for numbers.
    """
    op = formula.ops[k]
    assert op is not None
    made = template(op)[place]
    if made is None or isinstance(made, float):
        return made
    steps, answer = made
    args = formula.args[k]
    if not steps and type(answer) is not float:
        return k if -answer > len(args) else int(args[-answer - 1])
    found: list[int] = []

    def operand(o: Any) -> int:
        if isinstance(o, float):
            return formula.number(o)
        if o >= 0:
            return found[int(o)]
        return k if -o > len(args) else int(args[-o - 1])

    for step, operands in steps:
        found.append(formula.share(step, tuple([operand(o) for o in operands])))
    return operand(answer)


def template(op: Op) -> Template:
    """Return the derivative rules of an elementwise row as steps."""
    made = _templates.get(op)
    if made is None:
        if not op.elementwise or not (op.rules or op.kind in ("flat", "stop")):
            raise error("E0503", f"`{op.name}` has no derivative rule for numbers",
                        help="write it with operations that have one: gradcli ops")
        made = _templates[op] = [
            _traced(op, rule) for rule in op.rules or (None,) * len(op.parameters)]
    return made


def _traced(op: Op, rule: Any) -> tuple[list[Step], Any] | float | None:
    if rule is None or not callable(rule):
        return None if rule is None else float(rule)
    formula = Formula()
    # Leaves first: their nodes are 0, 1, ..., the value is the last of them.
    names = [Node(formula, formula.leaf(f"{k}")) for k in range(len(op.parameters) + 1)]
    made = rule(*names)
    number = made.number if isinstance(made, Node) else formula.number(float(made))
    steps: list[Step] = []
    places: dict[int, Any] = {}
    for k in range(number + 1):
        row = formula.ops[k]
        if row is not None:
            places[k] = len(steps)
            steps.append((row, tuple([places[a] for a in formula.args[k]])))
        else:
            value = formula.value(k)
            places[k] = -(k + 1) if value is None else value
    return steps, places[number]


_templates: dict[Op, Template] = {}
