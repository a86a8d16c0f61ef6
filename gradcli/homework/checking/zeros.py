"""Right answers that are 0 by their form: the derivatives of 1^x, x^0, x ln(1)."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.homework.checking.compare import TINY
from gradcli.ops.kinds import edge_rule
from gradcli.ops.table.elementwise import add, divide, multiply, power, subtract, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.formulas.rounding import Values
    from gradcli.ops.kinds import Op


WHOLE = 2.0**53
"""Whole numbers below are all floats."""


def vanishing(formula: Formula, nodes: Sequence[int]) -> set[int]:
    """Return those of `nodes` that are 0 wherever they are defined, as a product with ln(1) is.

    A tiny number that a float makes 0, as e^(-1000), is none of them.
    """
    known: dict[int, float] = {}
    with np.errstate(all="ignore"):
        for k in formula.needed(nodes):
            op = formula.ops[k]
            value = formula.value(k) if op is None else _value(
                op, [known.get(a) for a in formula.args[k]])
            if value is not None:
                known[k] = value
    return {k for k in nodes if known.get(k) == 0}


def chosen(values: Values, nodes: Sequence[int]) -> list[Any]:
    """Return for each node where its value is the number 0 that a condition chose, as in the slope
    of max(x, y) in y where x is larger: a mask over the points, or one truth value. A tiny number
    is none.
    """
    formula = values.formula
    known: dict[int, Any] = {}
    for k in formula.needed(nodes):
        op, args = formula.ops[k], formula.args[k]
        zero = [known[a] for a in args]
        if op is None:
            known[k] = formula.value(k) == 0
        elif op is where:
            (condition,) = values.plain(args[:1])
            known[k] = np.where(condition, zero[1], zero[2])
        elif op is multiply:
            known[k] = zero[0] | zero[1]
        elif op in (add, subtract):
            known[k] = zero[0] & zero[1]
        elif op.name == "relu":
            (operand,) = values.plain(args)
            known[k] = zero[0] | (operand < 0)
        elif op in (divide, power) or len(args) == 1:
            (value,) = values.plain([k])
            known[k] = zero[0] & (value == 0)
        else:
            known[k] = False
    return [known[k] for k in nodes]


def _value(op: Op, operands: Sequence[float | None]) -> float | None:
    """Return the value of an operation on constants, None where it is not known."""
    if (op is multiply and 0.0 in operands) or (op is divide and operands[0] == 0):
        return 0.0
    numbers = [o for o in operands if o is not None]
    if len(numbers) < len(operands) or not op.elementwise:
        return None
    value = op.on_scalars(numbers)
    if value - value != 0 or (value is not False and value == 0 and not _is_exact(
            op, numbers, value)):
        return None
    return value  # type: ignore[no-any-return]


def _is_exact(op: Op, operands: Sequence[float], value: float) -> bool:
    """Return whether a value 0 is no tiny number, and no difference that rounding cancelled."""
    if op in (add, subtract):
        return all(o % 1 == 0 and abs(o) < WHOLE for o in operands)
    if op.kind != "elementwise" or 0.0 in operands:
        return True
    return op not in (multiply, divide, power) and any(
        op.edge(k) and _steep(op, k, operands, value) for k in range(len(operands)))


def _steep(op: Op, k: int, operands: Sequence[float], value: float) -> bool:
    """Return whether the slope says that a function passes through 0 here: that of ln at 1 is 1."""
    rule = op.rules[k]
    slope: Any = rule or 0.0
    if callable(rule):
        slope = edge_rule(op, k)(*map(np.float64, (*operands, value)))
    return bool(abs(slope) >= TINY)
