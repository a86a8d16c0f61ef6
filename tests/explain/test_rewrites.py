"""Rewrites that notes offer, put into the program: wherever the original has a value, the changed
program has the same, and what it says to mend is mended.

The values of both texts are those of mpmath, by a translation of the formula to Python.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from itertools import product
from typing import Any

import mpmath
import pytest
from draws import SEED
from transcripts import in_process

OUTER = ("{}", "{}^2", "1/{}", "nan_to_num({})", "minimum({}, 5)", "maximum({}, -5)",
         "where(x > 0, {}, x)", "where(x <= 0, {}, x^2)", "3*{}", "x*{}", "{} + x", "exp(-{}^2)")
INNER = ("sqrt(x)", "ln(x)", "x^0.5", "x^(-1)", "x^(-2)", "1/x", "sin(x)/x", "(x + 1)/x^2",
         "acos(x + 1)", "asin(x - 1)", "log1p(x - 1)", "rsqrt(x)", "cbrt(x)", "reciprocal(x)",
         "sqrt(x^2)", "ln(x*x)", "x*ln(x)", "(1 - cos(x))/x^2", "abs(x)/x", "x^x", "atanh(x + 1)",
         "log(1 - sigmoid(1000*x + 800))", "exp(1000*x + 900)/exp(1000*x + 901)")
POINTS = (0.0, -0.5)
NEAR = (-0.9, -0.4, -0.05, -1e-3, 1e-3, 0.07, 0.3, 0.8, 1.5)

# What a guard 1e-12 off an edge may move, of which a root makes 1e-6.
CLOSE = 1e-5

OFFER = re.compile(r"write `([^`]*)` for `([^`]*)`")
NAN = mpmath.mpf("nan")


def real(f: Any) -> Any:
    """A function of real numbers: NaN where mpmath leaves them, and at poles."""
    def of(*xs: Any) -> Any:
        try:
            y = f(*xs)
        except (ZeroDivisionError, ValueError, OverflowError):
            return NAN
        return y if not isinstance(y, mpmath.mpc) else NAN
    return of


class Number:
    """A real number of mpmath whose operations give NaN where they have no value."""

    def __init__(self, v: Any) -> None:
        self.v = v.v if isinstance(v, Number) else mpmath.mpf(v)

    def __add__(self, o: Any) -> Number:
        return Number(self.v + Number(o).v)

    def __sub__(self, o: Any) -> Number:
        return Number(self.v - Number(o).v)

    def __mul__(self, o: Any) -> Number:
        return Number(self.v*Number(o).v)

    def __truediv__(self, o: Any) -> Number:
        return Number(real(lambda a, b: a/b)(self.v, Number(o).v))

    def __pow__(self, o: Any) -> Number:
        return Number(real(lambda a, b: a**b)(self.v, Number(o).v))

    def __radd__(self, o: Any) -> Number:
        return Number(o) + self

    def __rsub__(self, o: Any) -> Number:
        return Number(o) - self

    def __rmul__(self, o: Any) -> Number:
        return Number(o)*self

    def __rtruediv__(self, o: Any) -> Number:
        return Number(o)/self

    def __rpow__(self, o: Any) -> Number:
        return Number(o)**self

    def __neg__(self) -> Number:
        return Number(-self.v)

    def __gt__(self, o: Any) -> bool:
        return bool(self.v > Number(o).v)

    def __le__(self, o: Any) -> bool:
        return bool(self.v <= Number(o).v)

    def __eq__(self, o: object) -> bool:
        return bool(self.v == Number(o).v)

    __hash__ = None  # type: ignore[assignment]


def function(f: Any) -> Any:
    return lambda *xs: Number(real(f)(*[Number(x).v for x in xs]))


def _nan_to_num(x: Any) -> Any:
    return mpmath.mpf(0) if mpmath.isnan(x) else x


FUNCTIONS = {
    "sqrt": function(mpmath.sqrt), "ln": function(mpmath.log), "log": function(mpmath.log),
    "sin": function(mpmath.sin), "cos": function(mpmath.cos), "exp": function(mpmath.exp),
    "sinh": function(mpmath.sinh),
    "acos": function(mpmath.acos), "asin": function(mpmath.asin), "abs": function(abs),
    "log1p": function(mpmath.log1p), "rsqrt": function(lambda x: 1/mpmath.sqrt(x)),
    "cbrt": function(lambda x: mpmath.sign(x)*mpmath.cbrt(abs(x))),
    "reciprocal": function(lambda x: 1/x), "nan_to_num": function(_nan_to_num),
    "minimum": function(lambda a, b: a if mpmath.isnan(a) else min(a, b)),
    "maximum": function(lambda a, b: a if mpmath.isnan(a) else max(a, b)),
    "where": lambda c, a, b: Number(a if c else b), "atanh": function(mpmath.atanh),
    "sigmoid": function(lambda x: 1/(1 + mpmath.exp(-x))),
    "log_sigmoid": function(lambda x: -mpmath.log(1 + mpmath.exp(-x))),
    "xlogy": function(lambda a, b: mpmath.mpf(0) if a == 0 else a*mpmath.log(b)),
    "xlog1py": function(lambda a, b: mpmath.mpf(0) if a == 0 else a*mpmath.log1p(b)),
    "divide_no_nan": function(lambda a, b: mpmath.mpf(0) if b == 0 else a/b),
    "reciprocal_no_nan": function(lambda x: mpmath.mpf(0) if x == 0 else 1/x),
    "clip": function(lambda x, a, b: min(max(x, a), b)),
}


@cache
def value(formula: str, x: float) -> Any:
    with mpmath.workdps(60):
        text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?)", r"Number('\1')",
                      formula.replace("^", "**"))
        return eval(text, {"Number": Number, "x": Number(x), **FUNCTIONS}).v


@cache
def evaluated(formula: str, x: float) -> float:
    """What the program itself says there: 1/inf may be a number to floats."""
    out = in_process(["eval", "-e", formula, "--at", f"x={x}", "--format", "json"])[1]
    return float(json.loads(out)["results"][0]["value"])


def changed(formula: str, first: int) -> list[tuple[float, str, str]]:
    """(point, offered text, new formula) of what notes of a command at a point offer; of both at
    both where a seed is given.
    """
    found = []
    asked = [*product(POINTS, ("grad", "hess"))]
    for at, command in asked if SEED else [asked[first % 4]]:
        status, out, err = in_process(
            [command, "-e", formula, "--at", f"x={at}", "--format", "json"])
        assert status == 0, err
        result = json.loads(out)["results"][0]
        notes = [*result["notes"], *[n for part in (
            *result.get("sources", ()), *result.get("blocks", ())) for n in part["notes"]]]
        for note in notes:
            for new, old in OFFER.findall(note["message"]):
                assert formula.count(old) >= 1
                start = formula.find(old)
                if formula.count(old) > 1:
                    continue
                bare = f"({new})" if formula != old else new
                found.append((at, new, formula[:start] + bare + formula[start + len(old):]))
    return found


@pytest.mark.parametrize("inner", INNER)
def test_nothing_that_changes_a_value_is_offered(inner: str) -> None:
    for k, outer in enumerate(OUTER, INNER.index(inner)):
        formula = outer.format(f"({inner})" if outer != "{}" else inner)
        for at, offered, new in changed(formula, k):
            for x in (at, *NEAR):
                before = (mpmath.mpf(evaluated(formula, x)) if x == at else value(formula, x))
                if not mpmath.isfinite(before) or abs(before) > 1e15:
                    continue    # the largest float stands for infinity
                after = value(new, x)
                assert abs(after - before) <= CLOSE*max(1, abs(before)), (
                    formula, offered, x, before, after)


@pytest.mark.parametrize("outer", ["{}", "{} + 3*x", "exp({})", "5 - 2*{}"])
@pytest.mark.parametrize("inner", [
    "sqrt(x)*sqrt(x)", "x^0.5*x^0.5", "x^(1/3)*x^(2/3)", "sqrt(2*x)*sqrt(x)",
    "sin(sqrt(x))*sqrt(x)", "sqrt(x)*sinh(sqrt(x))", "sqrt(x)^2", "sqrt(x)*x",
    "x^0.25*x^0.75*cos(x)", "sqrt(x)*sqrt(x + x)", "(sqrt(x) + x)*sqrt(x)"])
def test_the_slope_of_what_is_offered_is_the_one_sided_one(inner: str, outer: str) -> None:
    formula = outer.format(inner)
    status, out, err = in_process(["grad", "-e", formula, "--at", "x=0"])
    with mpmath.workdps(60):
        h = mpmath.mpf(10)**-40
        slope = (value(formula, h) - value(formula, mpmath.mpf(0)))/h
    for new, old in OFFER.findall(err):
        text = formula.replace(old, f"({new})")
        status, out, _ = in_process(["grad", "-e", text, "--at", "x=0", "-q"])
        assert status == 0
        assert abs(float(out.split()[-1]) - slope) < CLOSE*max(1, abs(slope)), text


@pytest.mark.parametrize(("formula", "at", "value"), [
    ("nan_to_num(x/d)", "x=2,d=0", math.inf), ("nan_to_num(1/x)", "x=0", math.inf),
    ("minimum(1/x, 1e15)", "x=0", 1e15),
])
def test_a_guard_that_would_be_seen_is_not_offered(formula: str, at: str, value: float) -> None:
    _, out, _ = in_process(["why", "-e", formula, "--at", at, "--format", "json"])
    assert "1e-12" not in out


@pytest.mark.parametrize(("formula", "names"), [
    ("where(x > 0, x, sqrt(-x) + 1/(x - 1))", ("`sqrt` of -1", "`1/(x - 1)` (1/0)")),
    ("where(x > 0, x, sqrt(-x)*asin(x + 3))", ("`sqrt` of -1", "`asin` of 4")),
    ("where(x > 0, x, sqrt(-x)) + where(x < 5, x, 1/(x - 1))", ("`sqrt` of -1", "(1/0)")),
    ("where(x > 0, x, sqrt(1 - x) + acos(x) + log(1 - x))", ("`sqrt`", "`acos`", "`log`")),
])
def test_all_dead_branches_are_named_and_mended_together(formula: str, names: tuple[str, ...]
                                                          ) -> None:
    def asked(text: str, *options: str) -> dict[str, Any]:
        status, out, err = in_process(
            ["grad", "-", "--of", "y", "--format", "json", *options],
            f"var x = 1.0\ny = {text}\n".encode())
        assert status == 0, err
        found: dict[str, Any] = json.loads(out)["results"][0]["sources"][0]
        return found

    (note,) = asked(formula)["notes"]
    assert all(name in note["message"] for name in names)
    for new, old in OFFER.findall(note["message"]):
        formula = formula.replace(old, new)
    mended = asked(formula, "--tf")
    assert mended["notes"] == []
    assert isinstance(mended["gradient"], float)
