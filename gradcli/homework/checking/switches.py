"""Switches of a formula: arguments of abs, sign, floor, max and their like, roots of squares.

An answer can be right on one side of a switch only. So each side needs points; where a side has
few, more are found by bisection between points on either side.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values
from gradcli.ops.table.elementwise import power, square

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.ops.kinds import Op


FEW = 3
SOME = 16
STEPS = 12
KEPT = 8
SCALES = (10.0, 100.0, 1e3)


def switches(formula: Formula, nodes: Iterable[int]) -> list[tuple[int, ...]]:
    """Return the operands whose sign, or the sign of whose difference, decides between formulas."""
    found: list[tuple[int, ...]] = []
    if not any(map(_may_switch, formula.ops)):
        return found
    for k in formula.needed(nodes):
        op = formula.ops[k]
        if op is None:
            continue
        if "switching" in op.traits:
            found.append((formula.args[k][0],))
        elif op.name == "sqrt" and _is_even(formula, formula.args[k][0]):
            found.append((formula.args[formula.args[k][0]][0],))
        elif "comparing" in op.traits:
            found.append(formula.args[k])
    return found


def _may_switch(op: Op | None) -> bool:
    """Return whether an operand of the operation may decide between formulas."""
    return op is not None and (
        "switching" in op.traits or "comparing" in op.traits or op.name == "sqrt")


def _is_even(formula: Formula, node: int) -> bool:
    """Return whether a node is an even power, of which one root was chosen."""
    op = formula.ops[node]
    if op is square:
        return True
    if op is not power:
        return False
    exponent = formula.value(formula.args[node][1])
    return exponent is not None and exponent % 2 == 0


def sides(values: Values, found: Sequence[tuple[int, ...]]) -> list[Any]:
    """Return for each switch the value whose sign decides, an array over the points."""
    decided = []
    for operands in found:
        parts = [value for value, _ in values.of(operands)]
        with np.errstate(all="ignore"):
            decided.append(parts[0] if len(parts) == 1 else parts[0] - parts[1])
    return decided


def more_points(values: Values, found: Sequence[tuple[int, ...]]) -> dict[str, Any] | None:
    """Return all points, with more on the sides that have few of them; None if none is missing."""
    extra: list[dict[str, Any]] = []
    varying = {n: v for n, v in values.inputs.items() if type(v) is not float}
    if not varying:
        return None
    for switch, side in zip(found, sides(values, found), strict=True):
        if type(side) is float:
            continue
        lonely = _lonely(values, varying, switch, side)
        if lonely is not None:
            extra.extend(_between(values, switch, *lonely))
    if not extra:
        return None
    return {**values.inputs, **{n: np.concatenate([varying[n], *[e[n] for e in extra]])
                                for n in varying}}


def _lonely(values: Values, varying: dict[str, Any], switch: tuple[int, ...], side: Any
            ) -> tuple[Any, dict[str, Any], dict[str, Any]] | None:
    """Return the sign of a side with few points, one point there, and some on the other side."""
    few, many = sorted((np.flatnonzero(side < 0), np.flatnonzero(side > 0)), key=len)
    if len(few) >= FEW or not len(many):
        return None
    others = {n: v[many[:SOME]] for n, v in varying.items()}
    if len(few):
        return np.sign(side[few[0]]), {n: v[few[:1]] for n, v in varying.items()}, others
    for scale in SCALES:
        far = {n: scale * v for n, v in varying.items()}
        there = sides(_at(values, far), [switch])[0]
        reached = np.flatnonzero(np.sign(there) == -np.sign(side[many[0]]))
        if len(reached):
            return (np.sign(there[reached[0]]), {n: v[reached[:1]] for n, v in far.items()},
                    others)
    return None


def _between(values: Values, switch: tuple[int, ...], sign: Any, one: dict[str, Any],
             others: dict[str, Any]) -> list[dict[str, Any]]:
    """Return points on one side of a switch, found by bisection between one point there and others.

    sign: of the side. one, others: name to values, of one point and of several.
    """
    found = []
    low = {n: np.repeat(one[n], len(others[n])) for n in one}
    high = others
    for step in range(STEPS):
        middle = {n: (low[n] + high[n]) / 2 for n in low}
        good = np.sign(sides(_at(values, middle), [switch])[0]) == sign
        if step < KEPT:
            found.append({n: m[good] for n, m in middle.items()})
        low = {n: np.where(good, middle[n], low[n]) for n in low}
        high = {n: np.where(good, high[n], middle[n]) for n in high}
    return found


def _at(values: Values, points: dict[str, Any]) -> Values:
    """Return the values of the same formula at other points."""
    from gradcli.formulas.rounding import Values

    there = Values(values.formula, {**values.inputs, **points})
    there.deadline = values.deadline
    return there


# How far beside the point, and which share of a slope is a jump.
BESIDE, JUMP = (1e-9, 1e-12), 1e-3


def corner(formula: Formula, slopes: Sequence[int], at: Mapping[str, float], names: Iterable[str]
           ) -> str | None:
    """Return the first name along which one of the slopes has different limits from both sides."""
    for name in names:
        value = at[name]
        scale = abs(value) or 1.0
        with np.errstate(all="ignore"):
            beside = [[np.asarray(v, float) for v in Values(
                formula, {**at, name: np.array([value + sign*step*scale for step in BESIDE])}
                ).plain(slopes)] for sign in (-1.0, 1.0)]
            for low, high in zip(*beside, strict=True):
                # A slope that is the same everywhere has no array.
                if not low.ndim or not high.ndim:
                    continue
                near = JUMP*np.maximum(np.abs(low[1]), np.abs(high[1]))
                settled = abs(low[0] - low[1]) < near/10 and abs(high[0] - high[1]) < near/10
                if settled and abs(low[1] - high[1]) > near:
                    return name
    return None
