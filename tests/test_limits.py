"""What a formula is around a point where it has no value: limit, slope, series, or a pole.

The reference is Cauchy's integral over a circle around the point, of mpmath's values at 40 digits:
it knows neither our rules nor our series.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import mpmath
import pytest
from transcripts import in_process

# What is 0 at 0, and its function of complex numbers.
ZERO: dict[str, Any] = {
    "{}": lambda z: z, "sin({})": mpmath.sin, "({})^2": lambda z: z*z,
    "(exp({}) - 1)": lambda z: mpmath.exp(z) - 1, "(1 - cos({}))": lambda z: 1 - mpmath.cos(z),
    "ln(1 + {})": lambda z: mpmath.log(1 + z), "tan({})": mpmath.tan, "atan({})": mpmath.atan,
    "sinh({})": mpmath.sinh, "(sqrt(1 + {}) - 1)": lambda z: mpmath.sqrt(1 + z) - 1,
    "({})^3": lambda z: z**3, "expm1(2*{})": lambda z: mpmath.exp(2*z) - 1,
    "(x0 - sin({}))": lambda z: z - mpmath.sin(z),
}
AROUND: dict[str, Any] = {
    "{}": lambda y, z: y, "exp({})": lambda y, z: mpmath.exp(y), "({})^2": lambda y, z: y*y,
    "cos({}) + x": lambda y, z: mpmath.cos(y) + z, "1/(2 + {})": lambda y, z: 1/(2 + y),
    "x*({})": lambda y, z: z*y,
}
RADIUS, TURNS = mpmath.mpf("0.4"), 64


def coefficients(f: Any, point: float) -> dict[int, float]:
    """Those of the Laurent series from -8 to 5, by the mean over a circle."""
    with mpmath.workdps(40):
        roots = [mpmath.expjpi(mpmath.mpf(2*k)/TURNS) for k in range(TURNS)]
        values = [f(point + RADIUS*root) for root in roots]
        found = {}
        for k in range(-8, 6):
            mean = sum(v/root**k for v, root in zip(values, roots, strict=True))/TURNS
            found[k] = float(mpmath.re(mean/RADIUS**k))
        return found


def asked(command: str, formula: str, at: Any, *options: str) -> tuple[int, Any, str]:
    status, out, err = in_process([
        command, "-e", formula, "--at", f"x={at}", "--format", "json", *options])
    return status, json.loads(out)["results"][0] if out else None, err


def cases() -> list[tuple[str, str, str, float]]:
    pairs = [(a, b) for a, b in itertools.product(ZERO, ZERO) if a != b]
    outer = [*AROUND]
    return [(a, b, outer[0] if k % 3 else outer[1 + k//3 % 5], (0.0, 0.5)[k % 2])
            for k, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize(("above", "below", "outer", "point"), cases()[::2])
def test_series_and_kind_of_quotients(above: str, below: str, outer: str, point: float) -> None:
    moved = "x" if point == 0 else f"(x - {point})"
    inner = f"{above}/{below}".format(moved, moved).replace("x0", moved)
    formula = outer.format(inner)

    def f(z: Any) -> Any:
        t = z - point
        return AROUND[outer](ZERO[above](t)/ZERO[below](t), z)

    c = coefficients(f, point)
    size = max(map(abs, c.values()))
    poles = [k for k, v in c.items() if k < 0 and abs(v) > 1e-9*size]
    status, found, err = asked("taylor", formula, point, "--order", "4")
    notes = " ".join([n["message"] for n in asked("grad", formula, point)[1]["notes"]])
    if poles:
        assert status == 3
        if outer == "{}":
            assert f"a pole of order {-min(poles)}" in err
            assert f"a pole of order {-min(poles)}" in notes
        assert "removable" not in err + notes
        return
    assert status == 0, (formula, err)
    got = [term["coefficient"] for term in found["terms"]]
    assert got == pytest.approx([c[k] for k in range(5)], rel=1e-9, abs=1e-9)
    limit = re.search(r"removable: f tends to (\S+) there, with slope (\S+?)(?:;|$)", notes)
    if found["value"] == "NaN":
        assert limit is not None, notes
        assert float(limit[1]) == pytest.approx(c[0], rel=1e-5, abs=1e-9)
        assert float(limit[2].rstrip(";")) == pytest.approx(c[1], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [
    ("sin({})", "{}"), ("tan({})", "{}"), ("(exp({}) - 1)", "{}"), ("ln(1 + {})", "sin({})"),
    ("sinh({})", "sin({})"), ("({})^2", "(1 - cos({}))"),
])
@pytest.mark.parametrize("point", [0.0, 0.5])
def test_poles_that_cancel(first: str, second: str, point: float) -> None:
    moved = "x" if point == 0 else f"(x - {point})"
    formula = f"1/{first.format(moved)} - 1/{second.format(moved)}"
    c = coefficients(lambda z: 1/ZERO[first](z - point) - 1/ZERO[second](z - point), point)
    status, found, err = asked("taylor", formula, point, "--order", "3")
    if any(abs(v) > 1e-9 for k, v in c.items() if k < 0):
        assert status == 3
        assert "a pole of order" in err
    else:
        assert [t["coefficient"] for t in found["terms"]] == pytest.approx(
            [c[k] for k in range(4)], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("formula", "at", "limit", "slope"), [
    ("sin(x)/x", 0, 1, 0), ("(1-cos(x))/x^2", 0, 0.5, 0), ("(exp(x)-1)/x", 0, 1, 0.5),
    ("ln(1+x)/x", 0, 1, -0.5), ("tan(x)/x", 0, 1, 0), ("(x^2-1)/(x-1)", 1, 2, 1),
    ("x/sin(x)", 0, 1, 0), ("sin(sin(x)/x)", 0, 0.841471, 0), ("x/x", 0, 1, 0),
    # The point stands for a real number beside it.
    ("sin(x)/(x-pi)", "pi", -1, 0), ("(x^2-0.01)/(x-0.1)", 0.1, 0.2, 1),
    ("(x^2-2)/(x-sqrt(2))", "sqrt(2)", 2.82843, 1),
])
def test_removable_by_hand(formula: str, at: Any, limit: float, slope: float) -> None:
    _, found, _ = asked("grad", formula, at)
    notes = [n["message"] for n in (*found["notes"], *found["sources"][0]["notes"])]
    assert notes
    for message in notes:
        assert f"removable: f tends to {limit:g} there, with slope {slope:g}" in message
        assert "no_nan" not in message
        offers = re.findall("write `([^`]*)` for", message)
        for offer in offers:
            _, mended, _ = asked("grad", offer, at)
            if formula == "sin(sin(x)/x)":
                continue    # it is for the inner quotient
            assert mended["value"] == pytest.approx(limit, rel=1e-5)
            assert mended["sources"][0]["gradient"] == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize(("formula", "at", "said"), [
    ("1/x", 0, "a pole of order 1: f goes to -inf from the left and goes to inf from the right"),
    ("1/x^2", 0, "a pole of order 2: f goes to inf from both sides"),
    ("cot(x)", 0, "a pole of order 1: f goes to -inf from the left"),
    ("-1/(x-1)^3", 1, "a pole of order 3: f goes to inf from the left and goes to -inf from"),
    ("abs(x)/x", 0, "f tends to -1 from the left and tends to 1 from the right"),
    ("x*ln(x)", 0, "f has no values on the left and tends to 0 from the right"),
    ("sqrt(x)/x", 0, "f has no values on the left and goes to inf from the right"),
    ("x*sin(1/x)", 0, "f tends to 0 from both sides"),
    ("exp(-1/x)", 0, "f goes to inf from the left and tends to 0 from the right"),
    ("sqrt(x^2)/x", 0, "f tends to -1 from the left and tends to 1 from the right"),
    ("(1+x)^(1/x)", 0, "f tends to 2.7183 from both sides"),
    ("atan(1/x)", 0, "f tends to -1.5708 from the left and tends to 1.5708 from the right"),
    ("1/(1+exp(1/x))", 0, "f tends to 1 from the left and tends to 0 from the right"),
    ("cbrt(x)/x", 0, "f goes to inf from both sides"),
    ("gamma(x)*x", 0, "f tends to 1 from both sides"),
    # A pole, however small.
    ("(1e-20+x)/x", 0, "a pole of order 1"),
])
def test_what_is_neither_is_told_as_it_is(formula: str, at: Any, said: str) -> None:
    _, found, _ = asked("grad", formula, at)
    notes = " ".join([n["message"] for n in (*found["notes"], *found["sources"][0]["notes"])])
    assert said in notes
    assert "removable" not in notes
    assert asked("taylor", formula, at)[0] == 3


@pytest.mark.parametrize("formula", [
    "x*ln(x) + (1-cos(x))/x^2*ln(x)", "x*ln(x)/(1-cos(x))", "(exp(x)-1-x)/x^2*ln(x)",
    "((exp(x)-1)/x-1)*ln(x)/x", "ln(x)*(x-sin(x))/x^3",
])
def test_noise_is_no_limit(formula: str) -> None:
    """All go to -inf from the right, and what cancels is 0 or noise nearest to the point."""
    _, found, _ = asked("grad", formula, 0)
    notes = " ".join([n["message"] for n in (*found["notes"], *found["sources"][0]["notes"])])
    assert "f tends" not in notes
    assert "f goes to inf" not in notes
    assert "goes to inf from the right" not in notes


@pytest.mark.parametrize("formula", ["sin(1/x)", "sin(1/x)/x", "cos(1/x)*x/x"])
def test_nothing_is_said_of_what_does_not_settle(formula: str) -> None:
    _, found, _ = asked("grad", formula, 0)
    notes = " ".join([n["message"] for n in (*found["notes"], *found["sources"][0]["notes"])])
    assert "tends" not in notes
    assert "goes to" not in notes
    assert "removable" not in notes


@pytest.mark.parametrize(("formula", "at", "pole"), [
    ("sin(x)/(x^2+x)", 0, -1), ("(x^3-1)/(x^2-1)", 1, -1), ("(x-2)/(x^2-4)", 2, -2),
    ("x/(x*(x-3))", 0, 3),
])
def test_a_rewrite_for_one_point_leaves_the_others(formula: str, at: int, pole: int) -> None:
    (note,) = asked("grad", formula, at)[1]["sources"][0]["notes"]
    (offer,) = re.findall("write `([^`]*)` for", note["message"])
    assert isinstance(asked("eval", offer, at)[1]["value"], float)
    assert asked("eval", offer, pole)[1]["value"] in ("Infinity", "-Infinity", "NaN")


QUOTIENTS = [("sin(x)/x", 1.0), ("(1-cos(x))/x^2", 0.5), ("(exp(x)-1)/x", 1.0), ("tan(x)/x", 1.0),
             ("sin(x)/tan(x)", 1.0), ("ln(1+x)/x", 1.0), ("(sqrt(1+x)-1)/x", 0.5)]


@pytest.mark.parametrize(("formula", "limit"), QUOTIENTS)
@pytest.mark.parametrize(("start", "offers"), [
    ("var x = 0.0\n", True), ("var x = 1.0\nx.assign_sub(1.0)\n", False)])
@pytest.mark.parametrize("asked_for", ["c", "t.gradient(c, x)", "2*t.gradient(c, x)"])
def test_what_a_program_asks_for_keeps_its_limit(
        formula: str, limit: float, start: str, offers: bool, asked_for: str) -> None:
    """A rewrite that is offered beside a print has the limit where it is put; of a variable that
    was assigned it may be that nothing is offered.
    """
    program = start + f"tape t:\n    c = {formula}\nprint({asked_for})\n"
    told = in_process(["run", "-"], program.encode())[2]
    found = re.findall("write `([^`]*)` for `([^`]*)`", told)
    assert (f"c tends to {limit:g} there" in told) == offers
    assert bool(found) or not offers
    for new, old in found:
        assert old == formula
        mended = start + f"c = {new}\nprint(c)\n"
        assert float(in_process(["run", "-"], mended.encode())[1]) == pytest.approx(limit, rel=1e-5)


def test_one_variable_alone_does_not_make_it_removable() -> None:
    """x*y/(x^2 + y^2) is 0 on both axes, and has no limit."""
    status, out, _ = in_process(["grad", "-e", "x*y/(x^2 + y^2)", "--at", "x=0,y=0", "--format",
                                 "json"])
    assert status == 0
    assert "in x alone f tends to 0" in out
    assert "removable" not in out
    assert "write" not in out


@pytest.mark.parametrize(("formula", "at", "second"), [
    ("sin(x)/x", 0, -1/3), ("(exp(x)-1)/x", 0, 1/3), ("ln(x)/(x-1)", 1, 2/3), ("x/sin(x)", 0, 1/3),
])
def test_a_rewrite_for_a_second_derivative_has_it(formula: str, at: int, second: float) -> None:
    (block,) = asked("hess", formula, at)[1]["blocks"]
    (offer,) = re.findall("write `([^`]*)` for", block["notes"][0]["message"])
    (mended,) = asked("hess", offer, at)[1]["blocks"]
    assert mended["hessian"] == pytest.approx(second, rel=1e-9)


@pytest.mark.parametrize("formula", [
    "(sqrt(cot(x))/y)/(x - 1)", "clip_by_norm(x, 1)/hypot(x, y)", "(xlogy(x, x) + y)/xlogy(x, x)"])
@pytest.mark.parametrize("command", ["grad", "jac", "hess", "why"])
def test_arrays_have_no_series_and_no_bug(command: str, formula: str) -> None:
    assert in_process([command, "-e", formula, "--at", "x=[0,1],y=0"])[0] == 0


def test_turns_of_a_loop_with_different_limits_have_no_rewrite() -> None:
    def notes(term: str) -> str:
        program = f"var x = 0.0\nz = 0.0\nfor k in range(1, 5):\n    z = z + {term}\n"
        status, out, _ = in_process(["grad", "-", "--format", "json"], program.encode())
        assert status == 0
        (source,) = json.loads(out)["results"][0]["sources"]
        return " ".join([n["message"] for n in source["notes"]])

    assert "where(" not in notes("sin(k*x)/x")
    assert "write `where(x == 0, 1, sin(x)/where(x == 0, 1, x))`" in notes("sin(x)/x")


def test_a_parameter_stays_one() -> None:
    """The limit of sin(a*x)/x is a: no number may stand for it in the program."""
    _, out, _ = in_process(["grad", "-e", "sin(a*x)/x", "--at", "x=0,a=2", "--format", "json"])
    assert "in x alone f tends to 2 there, with slope 0" in out
    assert "write" not in out
