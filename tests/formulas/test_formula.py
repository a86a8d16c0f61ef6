"""Formulas as nodes: tangents to second order and rounding bounds, against mpmath."""

from __future__ import annotations

import math
import random

import mpmath
import numpy as np
import pytest
import references
from conftest import folded
from mpmath import mp

from gradcli.formulas.nodes import Formula, Node, Tangents, template
from gradcli.formulas.rounding import UNIT, Values, error_of
from gradcli.ops import TABLE, lookup
from gradcli.ops.kinds import Op

ROWS = sorted(
    name for name, op in TABLE.items()
    if op.kind == "elementwise" and op.samples and name in references.FUNCTIONS
    and not set(op.roles) - {"data"})


def samples(op: Op, count: int) -> list[list[float]]:
    rng = random.Random(op.name)
    ranges = [*op.samples] + [op.samples[-1]] * (len(op.parameters) - len(op.samples))
    return [[round(rng.uniform(*r), 3) for r in ranges] for _ in range(count)]


def test_most_rows_are_checked() -> None:
    assert len(ROWS) > 80


@folded
@pytest.mark.parametrize("name", ROWS)
def test_tangents_agree_with_mpmath_to_second_order(name: str) -> None:
    """One tangent in each direction, and the tangents of these."""
    op = TABLE[name]
    formula = Formula()
    leaves = [formula.leaf(p) for p in op.parameters]
    node = formula.add(op, leaves)
    points = samples(op, 4)
    inputs = {p: np.array([point[k] for point in points]) for k, p in enumerate(op.parameters)}
    for k, first in enumerate(op.parameters):
        along = Tangents(formula, {first: formula.number(1.0)})
        t = along.of(node)
        if t is None:
            assert not op.edge(k)
            continue
        orders = [int(p == first) for p in op.parameters]
        wanted = [(t, orders)]
        second = along.of(t)
        if second is not None:
            wanted.append((second, [2 * o for o in orders]))
        found = Values(formula, inputs).of([n for n, _ in wanted])
        for (value, _), (_, orders) in zip(found, wanted, strict=True):
            values = np.broadcast_to(value, (len(points),))
            for j, point in enumerate(points):
                right = references.partial(name, tuple(point), tuple(orders))
                assert values[j] == pytest.approx(right, rel=1e-10, abs=1e-10), (point, orders)


def test_what_is_derived_is_there_once_and_what_is_written_as_often_as_written() -> None:
    formula = Formula()
    x = formula.leaf("x")
    sine = lookup("sin")
    assert sine is not None
    assert formula.add(sine, (x,)) != formula.add(sine, (x,))
    assert formula.share(sine, (x,)) == formula.share(sine, (x,))
    assert formula.leaf("x") == x
    assert formula.number(0.0) != formula.number(-0.0)


def test_constants_and_units_are_folded() -> None:
    formula = Formula()
    x = Node(formula, formula.leaf("x"))
    assert (1.0 * x).number == x.number
    assert (x / 1.0).number == x.number
    assert (x + 0.0).number == x.number
    assert (-1.0 * (-x)).number == x.number
    assert formula.value((Node(formula, formula.number(2.0)) * 3.0).number) == 6.0
    assert x.value is None


def test_substituting_keeps_rounding_errors_in_sight() -> None:
    formula = Formula()
    x = formula.leaf("x")
    sine, minus = lookup("sin"), lookup("subtract")
    assert sine is not None
    assert minus is not None
    node = formula.add(minus, (formula.add(sine, (x,)), formula.add(sine, (x,))))
    other = formula.substituted(node, {x: formula.number(2.0)})
    (value, bound), = Values(formula, {}).of([other])
    assert value == 0.0
    assert float(error_of(value, bound)) > 0


def test_a_rule_is_traced_once() -> None:
    tanh = lookup("tanh")
    assert tanh is not None
    assert template(tanh) is template(tanh)


EXPRESSIONS = ("add", "subtract", "multiply", "divide", "power", "sin", "cos", "tan", "exp", "log",
               "sqrt", "atan", "tanh", "abs", "negative", "square", "reciprocal", "cosh", "asinh")
MP = {"add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
      "divide": lambda x, y: x / y, "power": lambda x, y: x**y, "negative": lambda x: -x,
      "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "abs": abs}


def generated(rng: random.Random) -> tuple[Formula, int]:
    """A random formula in x and y."""
    formula = Formula()
    nodes = [formula.leaf("x"), formula.leaf("y"), formula.number(rng.choice([2.0, 0.1, 3.0]))]
    for _ in range(rng.randrange(3, 12)):
        op = lookup(rng.choice(EXPRESSIONS))
        assert op is not None
        nodes.append(formula.add(op, [
            rng.choice(nodes[-4:]) for _ in op.parameters]))
    return formula, nodes[-1]


def exact(formula: Formula, node: int, point: dict[str, float]) -> mpmath.mpf:
    """The value with 60 digits; raises where mpmath has no real one."""
    values: dict[int, mpmath.mpf] = {}
    for k in formula.needed([node]):
        op = formula.ops[k]
        if op is None:
            leaf = formula.given[k]
            # What is written as 0.1 means 0.1, not the nearest float.
            values[k] = mp.mpf(point[leaf]) if isinstance(leaf, str) else mp.mpf(repr(leaf))
        else:
            function = MP.get(op.name) or getattr(mp, op.name, None) or mp.ln
            values[k] = function(*[values[a] for a in formula.args[k]])
            if not isinstance(values[k], mpmath.mpf) or not mp.isfinite(values[k]):
                raise ValueError
    return values[node]


def test_rounding_bounds_hold_and_are_not_loose() -> None:
    rng = random.Random(2)
    checked, far = 0, []
    for _ in range(400):
        formula, node = generated(rng)
        point = {"x": rng.uniform(-3, 3), "y": rng.uniform(0.1, 3)}
        inputs = {name: np.array([value]) for name, value in point.items()}
        (value, bound), = Values(formula, inputs).of([node])
        try:
            with mp.workdps(60):
                right = exact(formula, node, point)
                got = float(np.broadcast_to(value, (1,))[0])
                if not math.isfinite(got) or not 1e-200 < abs(right) < 1e200:
                    continue
                wrong = float(abs(mp.mpf(got) - right))
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
            continue
        allowed = float(np.broadcast_to(error_of(value, bound), (1,))[0])
        # First order: where the bound itself is large, it says so, and nothing more.
        if allowed > 1e-4 * abs(got):
            continue
        checked += 1
        assert wrong <= 2 * allowed + 1e-300, (wrong, allowed, formula.ops, formula.args)
        far.append(allowed / (abs(got) * UNIT))
    assert checked > 150
    assert np.median(far) < 60
