"""A share of the differential run (`python tests/tools/differential.py`), and what it stands on."""

from __future__ import annotations

import collections
import itertools
import random
import re
from collections.abc import Callable
from typing import Any

import differential
import mpmath as mp
import pytest
from differential_functions import BINARY, SPECIAL, UNARY
from differential_jets import Jets
from differential_programs import Evaluation, drawn_program

from gradcli.ops.table.elementwise import log

FUNCTIONS = {**UNARY, **SPECIAL}
# Where a function has values; elsewhere from 0.3 to 0.9 on.
BETWEEN = dict.fromkeys(("acosh", "asec", "acsc", "acoth"), (1.2, 4.0))


@pytest.mark.parametrize("part", range(3))
def test_a_share_of_the_run(part: int) -> None:
    found = [differential.one(f"share-{part}-{k}") for k in range(12)]
    assert [finding for _, finding, _ in found if finding] == []
    assert [error for _, _, error in found if error] == []
    assert sum((counts for counts, _, _ in found), collections.Counter())["hess right"] > 20


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivatives_of_a_function(name: str) -> None:
    """Written by hand, against differences at 60 digits."""
    low, high = BETWEEN.get(name, (0.3, 0.9))
    function, draw = FUNCTIONS[name], random.Random(name)
    with mp.workprec(300):
        for _ in range(3):
            x = mp.mpf(draw.uniform(low, high))
            value, *slopes = function(x)
            for order, slope in enumerate(slopes, 1):
                right = mp.diff(lambda t: function(t)[0], x, order, h=mp.mpf(10) ** -25)
                assert abs(slope - right) <= mp.mpf(10) ** -15 * (1 + abs(right) + abs(value))


@pytest.mark.parametrize("name", BINARY)
def test_the_partials_of_a_function_of_two(name: str) -> None:
    function: Callable[..., Any] = BINARY[name]
    with mp.workprec(300):
        x, y = mp.mpf(0.7), mp.mpf(1.9)
        _, *slopes = function(x, y, False)
        for order, slope in zip(((1, 0), (0, 1), (2, 0), (1, 1), (0, 2)), slopes, strict=True):
            right = mp.diff(lambda a, b: function(a, b, False)[0], (x, y), order,
                            h=mp.mpf(10) ** -25)
            assert abs((slope or 0) - right) <= mp.mpf(10) ** -15 * (1 + abs(right))


def test_jets_of_whole_programs() -> None:
    """Gradient and Hessian against differences of the value, for programs with all there is."""
    compared = 0
    for k in range(40):
        program = drawn_program(random.Random(f"jets {k}"))
        if program.inputs != ["x", "y"]:
            continue
        point = {"x": 0.8, "y": 1.3}

        def value(x: Any, y: Any, program: Any = program) -> Any:
            return Evaluation(program, {"x": x, "y": y}, Jets(0)).out[0]

        with mp.workprec(300):
            try:
                jet = Evaluation(program, point, Jets(2)).out
                places = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
                right = [mp.diff(value, (mp.mpf(0.8), mp.mpf(1.3)), n, h=mp.mpf(10) ** -25)
                         for n in places]
            except (differential.Undecided, TypeError, ValueError):
                continue
            if not all(part is None or mp.isfinite(part) for part in (*jet, *right)):
                continue
            compared += 1
            for part, one in zip(jet, right, strict=True):
                assert abs((part or 0) - one) <= mp.mpf(10) ** -12 * (1 + abs(one) + abs(right[0]))
    assert compared >= 5


def test_a_wrong_rule_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a part in a thousand million."""
    point = {"x": 1.5}
    draws = (drawn_program(random.Random(f"wrong {k}")) for k in itertools.count())
    program = next(
        p for p in draws if p.inputs == ["x"] and re.search(r"(?s)for .*\blog\(", p.text)
        and "sumexp" not in p.text
        and differential.compared(p, point, "", collections.Counter()) is None)
    monkeypatch.setattr(log, "rules", (lambda x, ans: (1.0 + 1e-9) / x,))
    found = differential.compared(program, point, "", collections.Counter())
    assert found is not None
    assert re.fullmatch(r"out = log\(.{1,24}\)", differential.shrunk(found, "").program.text)


def test_what_is_smaller_is_a_program() -> None:
    for k in range(20):
        program = drawn_program(random.Random(f"smaller {k}"))
        for other in program.smaller():
            assert len(other.text) <= len(program.text)
