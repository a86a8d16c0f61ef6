"""Where a formula switches: arguments of abs, sign, floor, max and their like, even roots of powers.

An answer can be right on one side of a switch only. So each side needs points; where a side has
few, more are found by bisection between points on either side.
"""

from __future__ import annotations

from gradcli.ops import lookup
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.sweeps.rounding import Values
    from gradcli.tape.formula import Formula

FEW = 3
STEPS = 40
OF_ONE = frozenset("abs sign floor ceil round relu heaviside".split())
OF_TWO = frozenset("maximum minimum greater less greater_equal less_equal".split())


def switches(formula: Formula, nodes: Iterable[int]) -> list[tuple[int, ...]]:
    """The operands whose sign, or the sign of whose difference, decides between formulas."""
    found = []
    for k in formula.needed(nodes):
        op = formula.ops[k]
        if op is None:
            continue
        if op.name in OF_ONE or (op.name == "sqrt" and _is_even(formula, formula.args[k][0])):
            found.append((formula.args[k][0],))
        elif op.name in OF_TWO:
            found.append(formula.args[k])
    return found


def _is_even(formula: Formula, node: int) -> bool:
    """Whether a node is an even power, and which of its roots is meant is a choice."""
    op = formula.ops[node]
    if op is lookup("square"):
        return True
    if op is not lookup("power"):
        return False
    exponent = formula.value(formula.args[node][1])
    return exponent is not None and exponent % 2 == 0


def sides(values: Values, found: Sequence[tuple[int, ...]]) -> list[Any]:
    """Per switch what decides, an array over the points."""
    decided = []
    for operands in found:
        parts = [value for value, _ in values.of(operands)]
        with np.errstate(all="ignore"):
            decided.append(parts[0] if len(parts) == 1 else parts[0] - parts[1])
    return decided


def more_points(values: Values, found: Sequence[tuple[int, ...]]) -> dict[str, Any] | None:
    """Points on the sides that have few of them; None where none is missing or can be found."""
    from gradcli.sweeps.rounding import Values

    extra: list[dict[str, Any]] = []
    varying = {n: v for n, v in values.inputs.items() if type(v) is not float}
    if not varying:
        return None
    for k, side in enumerate(sides(values, found)):
        if type(side) is float:
            continue
        below, above = np.flatnonzero(side < 0), np.flatnonzero(side > 0)
        few, many = sorted((below, above), key=len)
        if not 0 < len(few) < FEW or not len(many):
            continue
        # From the lonely point towards others, half of the way again and again: each step that
        # stays on its side is one more point there.
        inside = {n: np.repeat(v[few[:1]], min(len(many), 16)) for n, v in varying.items()}
        outside = {n: v[many[:16]] for n, v in varying.items()}
        sign = np.sign(side[few[0]])
        low, high = dict(inside), dict(outside)
        for step in range(STEPS):
            middle = {n: (low[n] + high[n]) / 2 for n in low}
            there = Values(values.formula, {**values.inputs, **middle}, values.errors)
            good = np.sign(sides(there, [found[k]])[0]) == sign
            if step < 8:
                extra.append({n: m[good] for n, m in middle.items()})
            low = {n: np.where(good, middle[n], low[n]) for n in low}
            high = {n: np.where(good, high[n], middle[n]) for n in high}
    if not extra:
        return None
    return {**values.inputs, **{n: np.concatenate([e[n] for e in extra]) for n in varying}}
