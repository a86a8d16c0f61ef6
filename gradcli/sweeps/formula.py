"""The tangent of a formula as more of the formula: the table's rules, run on nodes.

Each row's rules are run once on names and kept as a short list of steps, a template, that is laid
over the operands of a node. Since a tangent is made of nodes like any other, so is the tangent of a
tangent: derivatives of any order are the same walk again.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.elementwise import add, multiply, negative
from gradcli.tape.formula import Formula, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.ops.kinds import Op

    # Per argument: a number, None where no derivative passes, or steps (operation, operands): an
    # operand is the number of a step, a float, or, from -1 downwards, an argument, last the value.
    Step = tuple[Op, tuple[Any, ...]]
    Template = list[tuple[list[Step], Any] | float | None]


class Tangents:
    """Tangents of the nodes of a formula in one direction.

    carried: node to that of its tangent, None where it does not depend on a seed.
    """

    __slots__ = ("carried", "formula")

    def __init__(self, formula: Formula, seeds: Mapping[str, int | None]) -> None:
        """seeds: name to the node of its tangent."""
        self.formula = formula
        self.carried: dict[int, int | None] = {formula.leaf(n): t for n, t in seeds.items()}

    def of(self, node: int) -> int | None:
        """The tangent of a node; None where it does not depend on a seed."""
        carried = self.carried
        if node not in carried:
            for k in self.formula.needed([node]):
                if k not in carried:
                    carried[k] = self.of_node(k)
        return carried[node]

    def of_node(self, k: int) -> int | None:
        """The tangent of a node whose operands have theirs."""
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
    """The partial derivative of node k by its operand: a node, a number, or None where there is
    none. Raises E0503 for an operation that has no rule for numbers.
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
    """The rules of an elementwise row as steps."""
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
