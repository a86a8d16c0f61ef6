"""The nodes of a formula built from code that was read; nothing is folded or rewritten."""

from __future__ import annotations

import operator
from typing import NamedTuple

from gradcli.base.errors import GradcliError, error
from gradcli.lang.syntax import code as c
from gradcli.ops import lookup
from gradcli.ops.table.elementwise import (
    absolute,
    add,
    divide,
    multiply,
    negative,
    power,
    sign,
    subtract,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction
    from typing import Any, TypeAlias

    from gradcli.formulas.nodes import Formula
    from gradcli.lang.syntax.code import Code
    from gradcli.ops.kinds import Op

    # A node, or a vector or matrix of them.
    Tree: TypeAlias = "int | list[Any]"

PI = 3.141592653589793
CONSTANTS = {"e": 2.718281828459045, "pi": PI}
MAX_NODES = 2_000
RATIONAL: dict[Op, Callable[..., Fraction]] = {
    add: operator.add, subtract: operator.sub, multiply: operator.mul, divide: operator.truediv,
    negative: operator.neg}


def build(code: Code, formula: Formula, variables: Iterable[str], *, degrees: bool = False,
          real_roots: bool = False) -> Tree:
    """Return the node of a text's value; a list of nodes, or of lists, for a vector or matrix.

    variables: names that are no constants here, should one be called e or pi.
    degrees: whether angles are in degrees.
    real_roots: whether x^(1/3) is real for negative x.

    Raises E0704 for what is not a formula: products of vectors, too many operations.
    """
    known = CONSTANTS if not variables else {
        n: v for n, v in CONSTANTS.items() if n not in variables}
    stack: list[Tree] = []
    plain = not degrees and not real_roots
    for opcode, arg, start, end in code:
        if opcode == c.LOAD:
            value = known.get(arg)
            stack.append(formula.leaf(arg, (start, end)) if value is None
                         else formula.number(value))
            continue
        if opcode == c.PUSH:
            stack.append(formula.number(float(arg)))
            continue
        if opcode == c.LIST:
            count = arg
        elif opcode == c.CALL:
            arg, count = arg[0], arg[1]
        else:
            count = 2 if opcode == c.BINARY else 1
        operands = stack[len(stack) - count:]
        del stack[len(stack) - count:]
        if opcode == c.LIST:
            stack.append(operands)
            continue
        op = lookup(arg)
        assert op is not None, arg
        if len(formula.ops) > MAX_NODES:
            raise error("E0704", f"the formula has more than {MAX_NODES} operations", (start, end),
                        help="write it in a shorter way")
        for o in operands:
            if o.__class__ is not int:
                stack.append(_of_vectors(formula, op, operands, (start, end)))
                break
        else:
            nodes: list[int] = operands  # type: ignore[assignment]
            stack.append(formula.add(op, nodes, (start, end)) if plain else
                         _applied(formula, op, nodes, (start, end), degrees, real_roots))
    assert len(stack) == 1
    return stack[0]


def _applied(formula: Formula, op: Op, nodes: list[int], place: Any, degrees: bool,
             real_roots: bool) -> int:
    if degrees and "of_angle" in op.traits:
        nodes = [formula.add(multiply, (nodes[0], formula.number(PI / 180)), place)]
    if real_roots and op is power:
        exponent = _exponent(formula, nodes[1])
        if exponent is not None and exponent.denominator % 2 and exponent.denominator > 1:
            return _real_power(formula, nodes, exponent.numerator, place)
    made = formula.add(op, nodes, place)
    if degrees and "angle" in op.traits:
        made = formula.add(multiply, (made, formula.number(180 / PI)), place)
    return made


def _of_vectors(formula: Formula, op: Op, operands: list[Tree], place: Any) -> Tree:
    """Return the sum of vectors, or one times or over a number; (2x, 3)^T is a column.

    Raises E0704 for all else.
    """
    first, second = operands[0], operands[-1]
    if isinstance(first, int) and isinstance(second, int):
        return formula.add(op, [o for o in operands if isinstance(o, int)], place)
    if op is negative and isinstance(first, list):
        return [_of_vectors(formula, op, [one], place) for one in first]
    if op in (add, subtract) and isinstance(first, list) and isinstance(second, list) \
            and len(first) == len(second):
        return [_of_vectors(formula, op, [one, other], place)
                for one, other in zip(first, second, strict=True)]
    if op in (multiply, divide) and isinstance(first, list) and isinstance(second, int):
        return [_of_vectors(formula, op, [one, second], place) for one in first]
    if op is multiply and isinstance(first, int) and isinstance(second, list):
        return [_of_vectors(formula, op, [first, one], place) for one in second]
    if op is power and isinstance(second, int) and formula.name(second) == "T":
        size = shape(first) or ()
        if len(size) == 2:
            return [list(column) for column in zip(*first, strict=True)]  # type: ignore[misc]
        if len(size) == 1:
            return first
    raise error("E0704", "a vector cannot be calculated with here", place,
                help="write each component as a formula")


def _exponent(formula: Formula, node: int, depth: int = 4) -> Fraction | None:
    """Return an exponent written with few whole numbers, 1/3, -(2/3), 1/3 - 1; None for others."""
    from fractions import Fraction

    op = formula.ops[node]
    if op is None or op not in RATIONAL or not depth:
        value = formula.value(node)
        return Fraction(int(value)) if value is not None and value % 1 == 0 else None
    operands = [_exponent(formula, k, depth - 1) for k in formula.args[node]]
    known = [o for o in operands if o is not None]
    if len(known) < len(operands) or (op is divide and known[1] == 0):
        return None
    return RATIONAL[op](*known)


def _real_power(formula: Formula, nodes: list[int], upper: int, place: Any) -> int:
    """Return x^(p/q) for odd q: the root of |x|, with the sign of x if p is odd. upper: p."""
    base, exponent = nodes
    size = formula.add(power, (formula.add(absolute, (base,), place), exponent), place)
    if upper % 2 == 0:
        return size
    return formula.add(multiply, (formula.add(sign, (base,), place), size), place)


def shape(tree: Tree) -> tuple[int, ...] | None:
    """Return () for a number, (n,) for a vector, (m, n) for a matrix; None for a ragged one."""
    if isinstance(tree, int):
        return ()
    inner = {shape(item) for item in tree}
    if len(inner) != 1:
        return None
    below = inner.pop()
    return None if below is None or len(below) > 1 else (len(tree), *below)


def flat(tree: Tree) -> list[int]:
    """Return all nodes, row by row."""
    if isinstance(tree, int):
        return [tree]
    found: list[int] = []
    for item in tree:
        found.extend(flat(item))
    return found


# --------------------------------------------------------------------------------------------------
# Numbers that are written as formulas, such as `pi/2` in a point.

def constant(name: str, text: str) -> float:
    """Return the value of a formula without variables.

    Raises E0703, naming the field, if it has none.
    """
    from gradcli.formulas.nodes import Formula
    from gradcli.formulas.rounding import Values
    from gradcli.lang.paper.answer import read
    from gradcli.lang.paper.names import ProblemNames

    try:
        return float(text)
    except ValueError:
        pass
    formula = Formula()
    try:
        node = build(read(text, ProblemNames(())).code, formula, ())
        (value, _), = Values(formula, {}).of([node]) if isinstance(node, int) else [(None, None)]
    except (GradcliError, KeyError):
        value = None
    if not isinstance(value, float) or value - value != 0:
        raise error("E0703", f"`{name}` must be a number, not `{text}`",
                    help="write a number, or a formula such as pi/2")
    return value


class Solved(NamedTuple):
    """An equation that was solved for the one name that is no variable: y - 4 = 3(x - 2).

    It is linear in that name, or the value is wrong, as it should be.

    name: that name. rest: the node of the difference of its sides. steep: that of the name's
    factor, which is a number in the equation of a line. value: that of the solution.
    """

    name: str
    rest: int
    steep: int
    value: int

    @classmethod
    def of(cls, formula: Formula, left: int, right: int, variables: tuple[str, ...]
           ) -> Solved | None:
        """Solve an equation; return None where there is no such name, or several."""
        free = [n for n in formula.leaves([left, right]) if n not in variables]
        if len(free) != 1:
            return None
        rest = formula.add(subtract, (left, right))
        at_0, at_1 = [formula.substituted(rest, {formula.leaf(free[0]): formula.number(v)})
                      for v in (0.0, 1.0)]
        steep = formula.add(subtract, (at_1, at_0))
        return cls(free[0], rest, steep, formula.add(negative, (
            formula.add(divide, (at_0, steep)),)))
