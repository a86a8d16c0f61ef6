"""Implicit problems: both sides of the equation count, whichever way round it is written.

The derivatives are worked out by hand.
"""

from __future__ import annotations

import pytest
from test_check import check, verdict

from gradcli.base.errors import GradcliError
from gradcli.homework.check import prepare
from gradcli.homework.checking.fields import from_fields

CURVES = (
    ("y", "cos(x y)", "-y sin(x y)/(1 + x sin(x y))"), ("y", "x + sin y", "1/(1 - cos y)"),
    ("y", "x y + 1", "y/(1 - x)"), ("x", "tan y", "cos^2 y"), ("x", "y^2", "1/(2y)"),
    ("y", "x^2", "2x"), ("x", "y", "1"), ("y(x - 1)", "3", "-3/(x - 1)^2"),
    ("x(1 - y)", "y", "(1 - y)/(1 + x)"), ("x y", "1", "-1/x^2"), ("x/y", "2", "1/2"))


@pytest.mark.parametrize(("left", "right", "slope"), CURVES)
@pytest.mark.parametrize("fields", [
    {"dependent": "y"}, {"dependent": "y", "wrt": "x"}, {"kind": "implicit", "wrt": "x"}])
def test_both_sides_of_an_equation_count(
        left: str, right: str, slope: str, fields: dict[str, str]) -> None:
    for function in (f"{left} = {right}", f"{right} = {left}", f"{left} - ({right}) = 0",
                     f"{left} - ({right})"):
        assert verdict(function, slope, **fields) == "correct", function
        assert verdict(function, f"{slope} + 0.01", **fields) == "wrong", function


def test_what_only_names_the_equation_is_left_out() -> None:
    assert verdict("F(x, y) = x^2 + y^2 - 25", "-x/y", dependent="y") == "correct"
    for function in ("y = x^2", "f(x) = x^2", "x = x^2"):
        assert verdict(function, "2x", wrt="x") == "correct"
    assert check("y = x^2", "dy/dx = 2x", dependent="y")["verdict"] == "correct"


def refused(function: str, **fields: object) -> str:
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"function": function, "dependent": "y", **fields}))
    assert caught.value.code == "E0704"
    return caught.value.message


@pytest.mark.parametrize(("function", "message"), [
    ("y(x) = x^2", "is a product, or a function"), ("x^2 = 3 = y", "several equations"),
    ("y = x = 3", "several equations"), ("x^2 = 3", "does not depend on `y`")])
def test_an_equation_that_may_mean_something_else_is_refused(function: str, message: str) -> None:
    assert message in refused(function, wrt="x")


CIRCLE = "x^2 + y^2 = 25"


@pytest.mark.parametrize(("function", "at", "residual", "near"), [
    (CIRCLE, {"x": 3, "y": 5}, "9", "4"), (CIRCLE, {"x": 3, "y": 4.01}, "0.0801", "4"),
    (CIRCLE, {"x": 0.5, "y": -5}, "0.25", "-4.97494"), (CIRCLE, {"x": 7, "y": 4}, "40", None),
    ("y = x^2", {"x": 3, "y": 8}, "-1", "9"), ("y^3 = x", {"x": 2, "y": 1}, "-1", "1.25992"),
    ("y = ln x", {"x": -1, "y": 2}, "no value", None)])
def test_a_point_off_the_curve_is_refused_with_what_the_sides_differ_by(
        function: str, at: dict[str, float], residual: str, near: str | None) -> None:
    fields = {"function": function, "dependent": "y"}
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({**fields, "at": at}))
    assert caught.value.code == "E0704"
    assert caught.value.message.startswith("`at` is not a point of the curve")
    assert residual in caught.value.message
    assert caught.value.help == (near and f"give y the value {near}")
    if near:
        prepare(from_fields({**fields, "at": {**at, "y": float(near)}}))


def test_a_point_may_be_rounded_to_its_digits() -> None:
    for y in (1.7, 1.73, 1.732, 3**0.5):
        assert verdict("x^2 + y^2 = 4", str(-1/y), dependent="y", at={"x": 1, "y": y}) == "correct"
    assert verdict("a x^2 + y^2 = 4", "-a/2", dependent="y", wrt="x", at={"x": 1, "y": 2}) \
        == "correct"


def test_half_a_point_is_refused_with_help_that_names_both_variables() -> None:
    from gradcli.homework.checking.fields import in_json, in_options

    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"function": CIRCLE, "dependent": "y", "at": {"x": 2}}))
    one = caught.value.diagnostics[0]
    for told in (one.help, in_json(one), in_options(one)):
        assert told == "give x and y at a point of the curve"
