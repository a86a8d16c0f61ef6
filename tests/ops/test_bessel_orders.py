"""Bessel functions of orders that are not whole: values and derivatives against mpmath."""

from __future__ import annotations

import math

import mpmath as mp
import pytest
from draws import drawn

from gradcli.ops.special import bessel
from gradcli.python.program import loads

KINDS = ("besselj", "bessely", "besseli", "besselk")
ORDERS = (0.5, -0.5, 1.5, -2.5, 0.25, 1/3, 1e-9, 1 + 1e-7, 20.5, 7.3, -40.2)


def _right(kind: str, n: float, x: float) -> mp.mpf:
    with mp.workdps(40):
        # Near whole orders and for large ones mpmath needs more digits than it takes by itself.
        return mp.re(getattr(mp, kind)(mp.mpf(n), mp.mpf(x), maxprec=20000))


def _size(kind: str, n: float, x: float, right: mp.mpf) -> mp.mpf:
    """What an error is relative to: of an oscillation its size."""
    if kind in ("besselj", "bessely") and (x > abs(n) or n < 0):
        return max(abs(right), abs(mp.hypot(_right("besselj", n, x), _right("bessely", n, x))))
    return abs(right)


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_any_order(kind: str) -> None:
    draw = drawn(7)
    for _ in range(120):
        n = draw.choice((draw.uniform(-5, 5), draw.choice(ORDERS), draw.uniform(-30, 120)))
        x = 10.0 ** draw.choice((draw.uniform(-4, 2.5), draw.uniform(-2, 2), draw.uniform(-20, 5)))
        right = _right(kind, n, x)
        got = getattr(bessel, kind)(n, x)
        if abs(right) > 1e306:
            assert abs(got) > 1e305
        elif abs(right) > 1e-300:
            assert abs(got - right) <= 2e-12 * _size(kind, n, x, right), (n, x, got)


def test_a_large_order_that_grows_towards_0() -> None:
    n, x = 1000.25, 600.15      # where mpmath has it in a moment
    right = _right("besselk", n, x)
    assert abs(bessel.besselk(n, x) - right) <= 1e-11 * right


@pytest.mark.parametrize(("n", "x"), [(0.5, 3.0), (-0.25, 30.0), (70.5, 40.0), (2.5, 900.0)])
def test_scaled_ones(n: float, x: float) -> None:
    for kind, sign in (("besselie", -1), ("besselke", 1)):
        right = _right(kind[:-1], n, x) * mp.exp(sign * mp.mpf(x))
        assert abs(getattr(bessel, kind)(n, x) - right) <= 1e-12 * abs(right)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "x"), [(0.5, 1.5), (1/3, 0.2), (2.7, 8.0), (-0.5, 26.0)])
def test_derivatives_of_any_order(kind: str, n: float, x: float) -> None:
    program = loads(f"{kind}({n!r}, x)")
    first, second = program.gradient(at={"x": x})["x"], program.hessian(at={"x": x})["x"]["x"]
    with mp.workdps(40):
        for got, order in ((first, 1), (second, 2)):
            right = mp.diff(lambda t: getattr(mp, kind)(mp.mpf(n), t), mp.mpf(x), order)
            assert got == pytest.approx(float(mp.re(right)), rel=1e-11)


def test_the_ends() -> None:
    """At 0 and infinity, and where the function is complex."""
    for kind, n, at_zero in (("besselj", 0.5, 0.0), ("besselj", -0.5, math.inf),
                             ("besselj", -1.5, -math.inf), ("bessely", 0.5, -math.inf),
                             ("bessely", -0.5, 0.0), ("besseli", 0.5, 0.0),
                             ("besseli", -0.5, math.inf), ("besselk", 0.5, math.inf)):
        function = getattr(bessel, kind)
        assert function(n, 0.0) == at_zero
        assert function(n, math.inf) == (math.inf if kind == "besseli" else 0.0)
        for x in (-1.0, math.nan):
            assert math.isnan(function(n, x))
        assert math.isnan(function(math.inf, 1.0))
        assert abs(function(n, 5e-324)) >= 0.0


def test_an_order_is_named_where_it_is_to_blame() -> None:
    from gradcli.questions import Question, grad

    found = grad(Question(loads("sphericalj(0.5, x)"), at={"x": 1.5}))["results"][0]["sources"][0]
    (note,) = found["notes"]
    assert "`sphericalj` of 0.5 and 1.5 is not a number" in note["message"]
