"""Bounds on the rounding of values at many points: also where floats under- and overflow."""

from __future__ import annotations

import random
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from conftest import folded
from draws import drawn
from folders import DATA
from programs import Draw, Form, Grammar

from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import Values, error_of
from gradcli.homework.check import check, prepare
from gradcli.homework.checking import built
from gradcli.homework.checking.compare import SAFETY
from gradcli.homework.checking.fields import from_fields
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.names import ProblemNames

PAIRS = [line.split("\t") for line in (
    DATA / "homework" / "underflow.tsv").read_text().splitlines()]
FUNCTIONS = sorted({function for function, _ in PAIRS})


# --- answers on functions whose derivatives underflow at some of the points ---------------------


@folded
@pytest.mark.parametrize("function", FUNCTIONS)
def test_right_answers_that_underflow_are_right(function: str) -> None:
    for seed in range(4):
        prepared = prepare(from_fields({"function": function}), seed)
        for other, answer in PAIRS:
            if other == function:
                found = check(prepared, answer)
                assert found["verdict"] in ("correct", "domain"), (seed, answer, found)


SPOILED = ("-({})", "2*({})", "({})*x", "({})/x", "({})*1.000001", "({})^2", "({})+1e-6x", "0",
           "({})*(1+e^(-x^2)/100)", "({})*(1+1/(1+e^(20-x^2)))", "({})*cos(x/1000)")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_answers_that_underflow_stay_wrong(function: str) -> None:
    answer = next(answer for other, answer in PAIRS if other == function)
    prepared = prepare(from_fields({"function": function}), 1)
    for spoil in (*SPOILED, function):
        assert check(prepared, spoil.format(answer))["verdict"] == "wrong", spoil


def test_where_nothing_but_rounding_is_left_nobody_is_wrong() -> None:
    """A reference that is 0 for a float says nothing against an answer that is not."""
    fields = {"function": "1/(1+e^(x^2))", "domain": {"x": [27.5, 40]}}
    found = check(prepare(from_fields(fields)), "-2x e^(-x^2)")
    assert found["verdict"] == "undecided"
    assert found["points"]["disagree"] == 0


# --- the bounds themselves, against 60 digits ---------------------------------------------------

FORMULAS = Grammar({
    "any": ["{f1}", "{f2}", "{f3}"],
    "f": [Form("x", 2), "3", "exp(x)", "exp(-(x)^2)", "(x)^120", "cosh(x)",
          "exp({f})", "sqrt({f})", "({f})^2", "({f})^(-2)", "1/({f})", "cosh({f})", "tanh({f})",
          "ln({f})", "({f})^(-1/2)", "sech({f})", "atan({f})", "({f})^7", "-({f})", "sinh({f})",
          "exp(-({f}))", Form("({f})*({f?})", 5), Form("({f})/({f?})", 3),
          Form("({f})+({f?})", 2), Form("({f})-({f?})", 2)]},
    ends={"f": 0})
MEANING: dict[str, Any] = {
    "exp": mp.exp, "sqrt": mp.sqrt, "cosh": mp.cosh, "sinh": mp.sinh, "tanh": mp.tanh,
    "ln": mp.log, "sech": mp.sech, "atan": mp.atan}


def _exact(text: str, x: float) -> Any:
    """The value with numbers of any size; None where it has none."""
    try:
        with mp.workdps(60):
            found = eval(text.replace("^", "**").replace("1/2", "mpf(1)/2"),
                         {"x": mp.mpf(x), "mpf": mp.mpf, **MEANING})
            return mp.mpf(found) if not isinstance(found, mp.mpc) else None
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


@pytest.mark.parametrize("seed", range(8))
def test_a_bound_holds_over_the_whole_range_of_floats(seed: int) -> None:
    """16 bounds, as answers are compared with, hold wherever they are numbers."""
    draw = drawn(seed)
    for _ in range(64):
        _holds(draw, Draw(FORMULAS, draw).text("any", 0))


FLAT = ("({})^2", "({})^7", "(({0})^2)^(1.5)", "({0})*({0})", "({0})*(3-{0})*({0})", "({})^1")


@pytest.mark.parametrize("form", FLAT)
@pytest.mark.parametrize("base", ["(x^120)^20", "exp(-(20000*x)^2)", "(x+1000)-1000"])
def test_a_0_that_is_not_exact_has_finite_powers_and_products(form: str, base: str) -> None:
    """A base that was flushed to 0, or cancelled to it, may be as far from it as it is told."""
    points = np.geomspace(1e-16, 0.5, 40)
    values, told = _bounds(form.format(base), points)
    assert (values == 0).sum() > 4
    assert np.isfinite(told).all()
    for x, got, error in zip(points.tolist(), values.tolist(), told.tolist(), strict=True):
        right = _exact(form.format(base), x)
        assert abs(mp.mpf(got) - right) <= SAFETY * error, (x, got, error)


@pytest.mark.parametrize("base", ["(x*10^(-200))", "(x*10^200)", "(x/1000)", "(x^2*10^(-250))"])
def test_an_exponent_that_is_not_exact_moves_by_the_logarithm_of_the_base(base: str) -> None:
    text = f"{base}^((x+1000)-1000)"
    points = np.geomspace(1e-3, 0.9, 60)
    values, told = _bounds(text, points)
    for x, got, error in zip(points.tolist(), values.tolist(), told.tolist(), strict=True):
        assert abs(mp.mpf(got) - _exact(text, x)) <= SAFETY * error, (x, got, error)
        assert error <= 1e-9 * abs(got)


def _bounds(text: str, points: Any) -> tuple[Any, Any]:
    """Values and absolute bounds at the points."""
    formula = Formula()
    names = ProblemNames(("x",), log="natural", decimal_comma=False, vector=False)
    node = built.flat(built.build(read(text, names).code, formula, names.variables))[0]
    value, bound = Values(formula, {"x": points}).of([node])[0]
    return (np.broadcast_to(value, points.shape),
            np.broadcast_to(error_of(value, bound), points.shape))


def _holds(draw: random.Random, text: str) -> None:
    points = np.array([draw.choice((-1, 1)) * 10.0 ** draw.uniform(-3, 3) for _ in range(24)])
    values, told = _bounds(text, points)
    for x, got, error in zip(points.tolist(), values.tolist(), told.tolist(), strict=True):
        if not np.isfinite(got) or not np.isfinite(error) or error > 0.01 * abs(got) > 0:
            continue        # nothing is determined, or first order is not meant to hold
        right = _exact(text, x)
        if right is not None:
            assert abs(mp.mpf(got) - right) <= SAFETY * error + mp.mpf(2) ** -1074, (text, x, got)
