"""What a file means: the statements and expressions of the language, value and derivative.

Expected numbers are written out by hand, or computed by `math` and NumPy from the formula.
"""

from __future__ import annotations

import math
import random
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from conftest import folded
from transcripts import in_process

from gradcli.base.errors import GradcliError
from gradcli.lang.running.verbs import FUNCTIONS
from gradcli.lang.syntax.code import VERBS
from gradcli.python.program import loads

E = math.e
A22 = np.array([[1.0, 2.0], [3.0, 4.0]])
AT = {"x": 1.5, "y": 0.5}
V = {"v": [1.0, 2.0, 3.0]}


def value(text: str, **at: Any) -> Any:
    return loads(text).value(at=at)


def code(text: str, **at: Any) -> str:
    with pytest.raises(GradcliError) as problem:
        loads(text).gradient(at=at)
    return problem.value.code


def check(text: str, at: dict[str, Any], expected: Any, gradient: dict[str, Any]) -> None:
    program = loads(text)
    np.testing.assert_allclose(program.value(at=at), expected, rtol=1e-14, atol=1e-14)
    found = program.gradient(wrt=list(gradient), at=at)
    assert set(found) == set(gradient)
    for name, slope in gradient.items():
        if slope is None:
            assert found[name] is None
        else:
            assert np.shape(found[name]) == np.shape(slope)
            np.testing.assert_allclose(found[name], slope, rtol=1e-13, atol=1e-14)


# --- arithmetic: what binds tighter, and how it may be written ----------------------------------

@folded
@pytest.mark.parametrize(("text", "expected", "slope"), [
    ("-x^2", -2.25, -3.0), ("(-x)^2", 2.25, 3.0), ("2^-x", 2 ** -1.5, -math.log(2) * 2 ** -1.5),
    ("x^2^3", 1.5 ** 8, 8 * 1.5 ** 7), ("(x^2)^3", 1.5 ** 6, 6 * 1.5 ** 5),
    ("x**2", 2.25, 3.0), ("-x**2", -2.25, -3.0), ("--x", 1.5, 1.0), ("+-+x", -1.5, -1.0),
    ("2 - 3 - x", -2.5, -1.0), ("12/2/x", 4.0, -12 / 4.5), ("2*x/4*3", 2.25, 1.5),
    ("7 % x", 1.0, -4.0), ("-7 % 3 + x", 3.5, 1.0), ("x % 1", 0.5, 1.0),
    ("2x", 3.0, 2.0), ("2x^2", 4.5, 6.0), ("-2x^2", -4.5, -6.0), ("2(x+1)", 5.0, 2.0),
    ("2(x+1)^2", 12.5, 10.0), ("3sin(x)", 3 * math.sin(1.5), 3 * math.cos(1.5)),
    ("x*2x", 4.5, 6.0), ("1 + 2x", 4.0, 2.0), (".5x", 0.75, 0.5), ("1e1x", 15.0, 10.0),
    ("2e", 0, 0), ("2 x", 3.0, 2.0), ("x + 1.", 2.5, 1.0), ("x + 1e-3", 1.501, 1.0),
    ("3*-x", -4.5, -3.0), ("x^-1", 1 / 1.5, -1 / 2.25), ("2^-x^2", 2 ** -2.25,
                                                       -3 * math.log(2) * 2 ** -2.25),
    ("x·2", 3.0, 2.0), ("x×x", 2.25, 3.0), ("1−x", -0.5, -1.0), ("3÷x", 2.0, -3 / 2.25),
    ("x²", 2.25, 3.0), ("x³", 3.375, 6.75), ("x⁻²", 1 / 2.25, -2 / 3.375), ("x¹⁰", 1.5 ** 10,
                                                                            10 * 1.5 ** 9),
    ("2x²", 4.5, 6.0), ("-x²", -2.25, -3.0), ("√x", math.sqrt(1.5), 0.5 / math.sqrt(1.5)),
    ("√(x + 1)", math.sqrt(2.5), 0.5 / math.sqrt(2.5)), ("2√x", 2 * math.sqrt(1.5),
                                                        1 / math.sqrt(1.5)),
    ("π*x", math.pi * 1.5, math.pi), ("2π*x", 3 * math.pi, 2 * math.pi), ("pi*x", math.pi * 1.5,
                                                                         math.pi),
    ("e^x", E ** 1.5, E ** 1.5), ("tau*x", 3 * math.pi, 2 * math.pi), ("x/inf", 0.0, 0.0),
    ("(x)", 1.5, 1.0), ("x # a comment", 1.5, 1.0), ("# first\n\nx\n# last\n", 1.5, 1.0),
    ("(x\n+ 1\n)", 2.5, 1.0), ("(x # inside\n + 1)", 2.5, 1.0), ("x;", 1.5, 1.0),
    ("y = 2; z = y*x; z^2", 9.0, 12.0), ("x; 2x", 3.0, 2.0), ("y = x\r\ny^2\r\n", 2.25, 3.0),
    ("\tx", 1.5, 1.0), ("θ = x\nθ^2", 2.25, 3.0), ("x₁ = x\nx₁^2", 2.25, 3.0),
])
def test_arithmetic(text: str, expected: float, slope: float) -> None:
    if text == "2e":
        assert code(text) == "E0105"
        return
    check(text, {"x": 1.5}, expected, {"x": slope})


@pytest.mark.parametrize("text", ["1/2x", "1/-2x", "x^2y", "2/3(x)", "2^3x", "x @ 2x", "x % 2x"])
def test_a_coefficient_with_two_readings_is_refused(text: str) -> None:
    assert code(text, **{n: 1.0 for n in "xy" if n in text}) == "E0104"


@folded
@pytest.mark.parametrize(("text", "expected"), [
    ("1 < 2", True), ("1 <= 1", True), ("1 ≤ 0", False), ("1 ≥ 1", True), ("1 ≠ 1", False),
    ("1 == 1", True), ("1 != 1", False), ("2 > 3", False), ("not 2 > 3", True), ("not true", False),
    ("true and false", False), ("true or false", True), ("True", True), ("False", False),
    ("not 1 == 2", True), ("1 == 2 or 2 == 2 and not false", True), ('"text"', "text"),
    ('"a\\"b"', 'a"b'), ("'single'", "single"), ("none", None), ("None", None), ("[]", []),
    ("{}", {}), ("7//2", 3.0), ("-7//2", -4.0), ("7.5//2", 3.0), ("-1^2", -1.0),
    ("0/0", math.nan), ("1/0", math.inf), ("-1/0", -math.inf), ("log(0)", -math.inf),
    ("log(-1)", math.nan), ("exp(1000)", math.inf), ("10^400", math.inf), ("(-8)^(1/3)", math.nan),
    ("0^0", 1.0), ("inf - inf", math.nan), ("5 % 0", math.nan), ("sqrt(-1)", math.nan),
])
def test_plain_values(text: str, expected: Any) -> None:
    found = value(text)
    if isinstance(expected, float) and expected != expected:
        assert found != found
    else:
        assert found == expected
        assert type(found) is type(expected)


# --- names --------------------------------------------------------------------------------------

@folded
@pytest.mark.parametrize(("text", "at", "expected", "gradient"), [
    ("x*y + y", AT, 1.25, {"x": 0.5, "y": 2.5}),
    ("var x = 3.0\nx^2", {}, 9.0, {"x": 6.0}),
    ("var x = 3.0\nx^2", {"x": 4.0}, 16.0, {"x": 8.0}),
    ("const c = 3\nc*x", {"x": 2.0}, 6.0, {"x": 3.0, "c": None}),
    ("input x\nx^2", {"x": 3.0}, 9.0, {"x": 6.0}),
    ("input x = 2, domain=[0, 5]\nx^2", {}, 4.0, {"x": 4.0}),
    ("input x = 2, domain=[0, 5]\nx^2", {"x": 5.0}, 25.0, {"x": 10.0}),
    ("var a = 2, trainable=false\na*x", {"x": 3.0}, 6.0, {"x": 2.0, "a": None}),
    ("var a = 2, trainable=true, name=\"w\"\na*x", {"x": 3.0}, 6.0, {"x": 2.0, "a": 3.0}),
    ("var n: int64 = 10\nfloat(n)*x", {"x": 2.0}, 20.0, {"x": 10.0, "n": None}),
    ("var w: float64[2, 2] = [[1, 2], [3, 4]]\nsum(w*w)", {}, 30.0, {"w": 2 * A22}),
    ("var w: float64[:, 2] = [[1, 2], [3, 4]]\nsum(w*w)", {}, 30.0, {"w": 2 * A22}),
    ("var s: float64[] = 3\ns^2", {}, 9.0, {"s": 6.0}),
    ("var w: float32[2] = [1, 2]\nsum(w^2)", {}, 5.0, {"w": np.array([2.0, 4.0])}),
    ("x = 3\nx^2", {}, 9.0, {"x": 6.0}),
    ("x = 3\nx^2", {"x": 5.0}, 25.0, {"x": 10.0}),
    ("x = -3\nx^2", {}, 9.0, {"x": -6.0}),
    ("v = [1, 2, 3]\nsum(v^2)", {}, 14.0, {"v": np.array([2.0, 4.0, 6.0])}),
    ("y = x^2\nz = y*x", {"x": 3.0}, 27.0, {"x": 27.0, "y": 3.0}),
    ("y = x^2\nw = 3y\nz = y*w", {"x": 1.0}, 3.0, {"x": 12.0, "y": 6.0, "w": 1.0}),
    # An alias is the same value; a second binding is a new one.
    ("y = x\nz = y*x", {"x": 3.0}, 9.0, {"x": 6.0, "y": 6.0}),
    ("x = 3\ny = x\nx = 4\ny*2", {}, 6.0, {"y": 2.0}),
    ("x = 3\nx = x + 1\nx^2", {}, 16.0, {"x": 8.0}),
    ("x = 3\nx = 2x\nx = x^2\nx + 1", {}, 37.0, {"x": 24.0}),
    ("input a = 1\na = a + 1\na^2", {}, 4.0, {"a": 4.0}),
    ("var x = 3\nx = 4\nx^2", {}, 16.0, {"x": None}),
    ("a, b = [x, 2x]\na*b", {"x": 1.5}, 4.5, {"x": 6.0, "a": 6.0, "b": 1.5}),
    ("a, b = [[1, 2], [3, 4]]\nsum(a*b)", {}, 11.0, {"a": np.array([3.0, 4.0])}),
    ('a, b = {"p": x, "q": x^2}\na*b', {"x": 2.0}, 8.0, {"x": 12.0}),
    ("a, b, c = v\na*b*c", V, 6.0, {"v": np.array([6.0, 3.0, 2.0])}),
    # Names of operations and soft keywords are names like others.
    ("gamma = 2\ngamma*gamma(3)*x", {"x": 1.0}, 4.0, {"x": 4.0, "gamma": 2.0}),
    ("var*const*input", {"var": 1.0, "const": 2.0, "input": 3.0}, 6.0, {"var": 6.0}),
    ("tape = x\nforward = 2tape\nresume = forward^2", {"x": 1.0}, 4.0, {"x": 8.0}),
    # A binding shadows a constant, so does a value from outside.
    ("e = 3\ne*x", {"x": 2.0}, 6.0, {"x": 3.0, "e": 2.0}), ("pi*x", {"x": 2.0, "pi": 3.0}, 6.0,
                                                            {"x": 3.0, "pi": 2.0}),
    ("2π*pi", {"pi": 2.0}, 8.0, {"pi": 8.0}),
])
def test_names(text: str, at: dict[str, Any], expected: Any, gradient: dict[str, Any]) -> None:
    check(text, at, expected, gradient)


def test_a_name_read_and_later_bound_takes_its_first_value_from_outside() -> None:
    """The help of E0202 offers --at; what it offers must work."""
    check("x = x + 1\nx^2", {"x": 2.0}, 9.0, {"x": 6.0})
    check("y = a*2\na = 3\ny*a", {"a": 4.0}, 24.0, {"a": 6.0})


def test_a_value_for_a_computed_name_is_not_ignored() -> None:
    assert code("y = x*2\ny^2", x=1.0, y=10.0) == "E0204"


@folded
@pytest.mark.parametrize(("text", "expected"), [
    ("x = x + 1", "E0202"), ("y = z\nz = 3", "E0202"), ("input q\nq", "E0203"), ("q + 1", "E0203"),
    ("a, b = [1, 2, 3]", "E0307"), ("a, b = 3\na", "E0307"), ("sinn(1)", "E0201"),
    ("q = 1\nq(2)", "E0206"), ("var a = 1, colour=2\na", "E0208"),
    ("input a = 1, trainable=true\na", "E0208"), ("input a = 7, domain=[0, 5]\na", "E0405"),
    ("input a = 1, domain=[5, 0]\na", "E0405"), ("input a = 1, domain=3\na", "E0405"),
    ('input a = 1, domain=["a", 5]\na', "E0405"), ("var n: int64 = 1.5\nn", "E0306"),
    ("var n: int64 = inf\nn", "E0306"), ("var n: int64 = 1e30\nn", "E0306"),
    *[(f"{k} n: {t} = {v}\nn", "E0306") for k in ("var", "const")
      for t in ("float64", "float32", "int64", "int32", "bool")
      for v in ("complex(1, 2)", "[1, 2]*complex(0, 1)")],
    ("var n: int32 = 1e10\nn", "E0306"), ("var n: complex = 1\nn", "E0306"),
    ('var n: float64 = "a"\nn', "E0306"), ("var w: float64[3] = [1, 2]\nw", "E0301"),
    ("var w: float64[2] = 1\nw", "E0301"), ("x += 1", "E0111"), ("a, b", "E0107"),
    ("var a, b = 1", "E0107"), ("f(x) = x\nf", "E0205"), ("var a\na", "E0107"),
    ('input t = "a", domain=[0, 5]\nt', "E0405"),
])
def test_what_names_may_not_do(text: str, expected: str) -> None:
    assert code(text) == expected


def test_a_domain_may_be_computed() -> None:
    check("input x = 1, domain=[lo, hi]\nx^2", {"lo": 0.0, "hi": 2.0}, 1.0, {"x": 2.0})


def test_independent_errors_are_reported_together() -> None:
    with pytest.raises(GradcliError) as problem:
        value("a = sinn(1)\nb = coss(2)\nc = q + 1")
    assert sorted(d.code for d in problem.value.diagnostics) == ["E0201", "E0201", "E0203"]
    with pytest.raises(GradcliError) as problem:
        value("a = [1, 2] + [1, 2, 3]\nb = a + 1\nc = [1, 2] @ [1, 2, 3]\nd = 3")
    assert [d.code for d in problem.value.diagnostics] == ["E0301", "E0301"]
    assert [d.span for d in problem.value.diagnostics] == [(4, 22), (37, 55)]


# --- functions ----------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "at", "expected", "gradient"), [
    ("f(x) = x^2\nf(x)*f(2)", {"x": 3.0}, 36.0, {"x": 24.0}),
    ("f(x, y) = x^2*y\nf(3, x)", {"x": 2.0}, 18.0, {"x": 9.0}),
    ("f(a, b) = a - 2b\nf(b=x, a=y)", {"x": 1.0, "y": 5.0}, 3.0, {"x": -2.0, "y": 1.0}),
    ("f(a, b) = a - 2b\nf(y, b=x)", {"x": 1.0, "y": 5.0}, 3.0, {"x": -2.0, "y": 1.0}),
    ("f() = 3x\nf()", {"x": 2.0}, 6.0, {"x": 3.0}),
    # A scope of its own, and the file's names as they are when it is called.
    ("f(t) = t*x\nx = 5\nf(2)", {}, 10.0, {"x": 2.0}),
    ("k = 2\nf(t) = t*k\nk = 3\nf(x)", {"x": 1.0}, 3.0, {"x": 3.0}),
    ("f(y) = y^2\nf(x) + y", {"x": 3.0, "y": 10.0}, 19.0, {"x": 6.0, "y": 1.0}),
    ("f(t) = g(t)*x\ng(t) = t + x\nf(2)", {"x": 3.0}, 15.0, {"x": 8.0}),
    ("f(x) = g(2)\ng(t) = t*x\nf(7)", {"x": 3.0}, 6.0, {"x": 2.0}),
    ("f(t) = 2t\nf(t) = 3t\nf(x)", {"x": 1.0}, 3.0, {"x": 3.0}),
    ("f(t) = 1 if t <= 0 else x*f(t - 1)\nf(4)", {"x": 2.0}, 16.0, {"x": 32.0}),
    ("fib(n) = n if n < 2 else fib(n-1) + fib(n-2)\nfib(10)*x", {"x": 1.0}, 55.0, {"x": 55.0}),
    ("even(n) = true if n == 0 else odd(n - 1)\nodd(n) = false if n == 0 else even(n - 1)\n"
     "x if even(10) else -x", {"x": 2.0}, 2.0, {"x": 1.0}),
    ("newton(t, n) = t if n == 0 else newton((t + x/t)/2, n - 1)\nnewton(1, 8)", {"x": 2.0},
     math.sqrt(2), {"x": 0.5 / math.sqrt(2)}),
    # A function of the file hides the operation of that name.
    ("sin(t) = t^3\nsin(x)", {"x": 2.0}, 8.0, {"x": 12.0}),
    ("f = 3\nf(t) = 2t\nf(x)*f", {"x": 2.0}, 12.0, {"x": 6.0, "f": 4.0}),
    ("f(t) = [t, t^2]\na, b = f(x)\na*b", {"x": 2.0}, 8.0, {"x": 12.0}),
    ('f(t) = {"s": sin(t)}\nf(x)["s"]', {"x": 2.0}, math.sin(2), {"x": math.cos(2)}),
])
def test_functions(text: str, at: dict[str, Any], expected: Any, gradient: dict[str, Any]) -> None:
    check(text, at, expected, gradient)


@pytest.mark.parametrize(("text", "expected"), [
    ("f(t) = t\nf(1, 2)", "E0207"), ("f(t) = t\nf()", "E0207"), ("f(t) = t\nf(u=1)", "E0207"),
    ("f(t, u) = t\nf(1, t=2)", "E0207"), ("f(t) = f(t)\nf(1)", "E0402"),
    ("f(t) = g(t)\ng(t) = f(t)\nf(1)", "E0402"), ("f(t, t) = t\nf(1, 2)", "E0107"),
    ("sin(1, 2)", "E0207"), ("sin()", "E0207"), ("sin(x=1)", "E0208"), ("sin(1, axis=0)", "E0208"),
])
def test_calls_that_do_not_fit(text: str, expected: str) -> None:
    assert code(text) == expected


# --- conditions ---------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "x", "expected", "slope"), [
    ("x^2 if x > 0 else -x", 3.0, 9.0, 6.0), ("x^2 if x > 0 else -x", -3.0, 3.0, -1.0),
    ("1 if x > 9 else 2x if x > 1 else 3x", 2.0, 4.0, 2.0),
    ("1 if x > 9 else 2x if x > 1 else 3x", 1.0, 3.0, 3.0),
    ("(x if x > 1 else 2x) * (3x if x < 1 else 4)", 0.5, 1.5, 6.0),
    # The branch that is not taken is not computed at all.
    ("x if true else 1 @ 2", 2.0, 2.0, 1.0), ("1 @ 2 if false else x", 2.0, 2.0, 1.0),
    ("x if true or 1 @ 2 else 0", 2.0, 2.0, 1.0), ("0 if false and 1 @ 2 else x", 2.0, 2.0, 1.0),
    ("x if not (x < 1 or x > 3) else 0", 2.0, 2.0, 1.0), ("x or 1", 2.0, 2.0, 1.0),
    ("0 or 3x", 2.0, 6.0, 3.0), ("x and 3x", 2.0, 6.0, 3.0),
    ("where(x > 1, x^2, 5x)", 2.0, 4.0, 4.0), ("where(x > 1, x^2, 5x)", 1.0, 5.0, 5.0),
])
def test_conditions(text: str, x: float, expected: float, slope: float) -> None:
    check(text, {"x": x}, expected, {"x": slope})


def test_a_condition_has_one_answer() -> None:
    assert code("1 if [1, 2] > 0 else x", x=1.0) == "E0311"
    assert code("1 if none else x", x=1.0) == "E0311"
    assert code("1 < x < 2", x=1.0) == "E0102"


# --- lists, dictionaries, indices ---------------------------------------------------------------

@folded
@pytest.mark.parametrize(("text", "at", "expected", "gradient"), [
    ("A = [[1, 2], [3, 4]]\nA[0]*x", {"x": 2.0}, [2.0, 4.0], {"x": 3.0}),
    ("A = [[1, 2], [3, 4]]\nA[:, 1]*x", {"x": 2.0}, [4.0, 8.0], {"x": 6.0}),
    ("A = [[1, 2], [3, 4]]\nA[-1]*x", {"x": 2.0}, [6.0, 8.0], {"x": 7.0}),
    ("A = [[1, 2], [3, 4]]\nA[1, 0]*x", {"x": 2.0}, 6.0, {"x": 3.0}),
    ("A = [[1, 2], [3, 4]]\nA[1][0]*x", {"x": 2.0}, 6.0, {"x": 3.0}),
    ("A = [[1, 2], [3, 4]]\nA.T[0]*x", {"x": 2.0}, [2.0, 6.0], {"x": 4.0}),
    ("A = [[1, 2], [3, 4]]\nA.shape[0]*x", {"x": 2.0}, 4.0, {"x": 2.0}),
    ("v[1]^2", V, 4.0, {"v": np.array([0.0, 4.0, 0.0])}),
    ("sum(v[1:]^2)", V, 13.0, {"v": np.array([0.0, 4.0, 6.0])}),
    ("sum(v[:-1]*v[1:])", V, 8.0, {"v": np.array([2.0, 4.0, 2.0])}),
    ("sum(v[::2])", V, 4.0, {"v": np.array([1.0, 0.0, 1.0])}),
    ("sum(v[::-1]*[1, 2, 3])", V, 10.0, {"v": np.array([3.0, 2.0, 1.0])}),
    ("sum(v[[0, 0, 2]])", V, 5.0, {"v": np.array([2.0, 0.0, 1.0])}),
    ("sum(v[v > 1])", V, 5.0, {"v": np.array([0.0, 1.0, 1.0])}),
    ("k = 1\nv[k + 1]", V, 3.0, {"v": np.array([0.0, 0.0, 1.0])}),
    ("sum(v[none, :] * v[:, none])", V, 36.0, {"v": np.array([12.0, 12.0, 12.0])}),
    # A list of anything but numbers is a structure; an operation stacks it once.
    ("a = [x, y]\na[0]*a[-1]", AT, 0.75, {"x": 0.5, "y": 1.5}),
    ("a = [x, y]\nsum(a*a)", AT, 2.5, {"x": 3.0, "y": 1.0}),
    ("a = [x, y]\nb = a + 1\nb*[1, 2]", AT, [2.5, 3.0], {"x": 1.0, "y": 2.0}),
    ("[x, 2]*[3, y]", AT, [4.5, 1.0], {"x": 3.0, "y": 2.0}),
    ("[[x, y], [y, x]] @ [1, 2]", AT, [2.5, 3.5], {"x": 3.0, "y": 3.0}),
    ("a = [x, [y, 2x]]\na[1][1]*a[1, 0]", AT, 1.5, {"x": 1.0, "y": 3.0}),
    ("a = [x, y, 3]\nsum(a[1:])", AT, 3.5, {"y": 1.0}),
    ("[[x, y], [2, 3]][:, 1]", AT, [0.5, 3.0], {"y": 1.0}),
    ("[[x, y], [2, 3]].T[0]", AT, [1.5, 2.0], {"x": 1.0}),
    ('d = {"w": x, "b": 2y}\nd["w"]*d["b"]', AT, 1.5, {"x": 1.0, "y": 3.0}),
    ('d = {"w": {"in": x}}\nd["w"]["in"]^2', {"x": 3.0}, 9.0, {"x": 6.0}),
    ('d = {"w": [x, y]}\nd["w", 1]^2', AT, 0.25, {"y": 1.0}),
    ("len([x, y, x])*x", AT, 4.5, {"x": 3.0}),
    ("len(v)*sum(v)", V, 18.0, {"v": np.array([3.0, 3.0, 3.0])}),
    ("[x, y]", AT, [1.5, 0.5], {"x": 1.0, "y": 1.0}),
    ("[x, x^2]", {"x": 3.0}, [3.0, 9.0], {"x": 7.0}),
])
def test_structures(text: str, at: dict[str, Any], expected: Any, gradient: dict[str, Any]) -> None:
    at = {k: v for k, v in at.items() if k in loads(text).names.inputs}
    check(text, at, expected, gradient)


def test_the_gradient_of_a_ragged_list_is_that_of_the_sum_of_its_elements() -> None:
    program = loads("[[x, y], x^2]")
    assert program.gradient(at={"x": 3.0, "y": 5.0}) == {"x": 7.0, "y": 1.0}


def test_a_list_is_stacked_once() -> None:
    program = loads("a = [x, y]\nsum(a) + sum(a^2) + a @ a")
    run = program.run(AT)
    assert [entry[0].name for entry in run.record.entries].count("stack") == 1


@pytest.mark.parametrize(("text", "expected"), [
    ("[[1, 2], [3]]", "E0301"), ("v = [1, 2]\nv[2]", "E0305"), ("v = [1, 2]\nv[0, 0]", "E0305"),
    ("v = [1, 2]\nv[0.5]", "E0303"), ("d = {\"a\": x}\nd[\"b\"]", "E0305"), ("{1: x}", "E0306"),
    ("x[0]", "E0305"), ("[x, [x, x]] + 1", "E0301"), ("[x, \"a\"]*2", "E0302"),
    ("[1, 2] + [1, 2, 3]", "E0301"), ("[[1, 2]] @ [1, 2, 3]", "E0301"), ("2 @ x", "E0301"),
    ("sum([1, 2], axis=1)", "E0304"), ("sum([1, 2], axis=0.5)", "E0303"),
    ('"a" + "b"', "E0302"), ('{"a": 1} + 1', "E0302"), ("-none", "E0309"), ("x.foo", "E0308"),
    ("sum(1, 2, 3, 4)", "E0207"), ("sum([1, 2], along=0)", "E0208"),
    ("reshape([1, 2], 3)", "E0301"),
])
def test_structures_that_do_not_fit(text: str, expected: str) -> None:
    assert code(text, **({"x": 1.0} if "x" in loads(text).names.inputs else {})) == expected


def test_deep_lists_end_in_an_error_with_a_place() -> None:
    for inner in ("1", "x"):
        with pytest.raises(GradcliError) as problem:
            loads("y = " + "[" * 70 + inner + "]" * 70 + " + 1").value(
                at={"x": 1.0} if inner == "x" else {})
        assert problem.value.span is not None


# --- broadcasting -------------------------------------------------------------------------------

def test_broadcasting_sums_the_gradient_back() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 1)), rng.normal(size=(1, 4)), rng.normal(size=4)
    at = {"a": a, "b": b, "c": c, "s": 2.0}
    text = "a*b + c*s + s"
    check(text, at, a * b + c * 2 + 2, {
        "a": np.full((3, 1), b.sum()), "b": np.full((1, 4), a.sum()), "c": np.full(4, 6.0),
        "s": 3 * c.sum() + 12})


# --- types --------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "expected", "kind"), [
    ("int(2.7)", 2, int), ("int(-2.7)", -2, int), ("float(true)", 1.0, float),
    ("bool(0)", False, bool),
    ("bool(3)", True, bool), ("string(1.5)", "1.5", str), ('cast(2.7, "int64")', 2, int),
    ("int(7)/int(2)", 3.5, float), ("int(7)//int(2)", 3, int), ("int(7)%int(4)", 3, int),
    ("len([1, 2])", 2, int), ("argmax([1, 5, 2])", 1, int), ("argmin([1, 5, 2])", 0, int),
    ("[1, 2, 3].shape[0]", 3, int), ("int(3)*int(4)", 12, int), ("int(3)^int(2)", 9, int),
    ("var n: int64 = 3\nn^2", 9, int), ("var n: int64 = 3\nn + 1", 4, int),
    ("var n: int64 = 7\nn/2", 3.5, float), ("var n: int64 = 7\nn//2", 3, int),
    ("var n: int64 = 7\n2*n - 1", 13, int),
])
def test_integers(text: str, expected: Any, kind: type) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is kind


@pytest.mark.parametrize("sign", ["+", "-", "*", "//", "%", "^"])
def test_integers_beyond_the_exact_floats(sign: str) -> None:
    """A literal beside an integer is one, whether that has a name or not."""
    large, rng = [2**53 + 1, 2**62 - 3, -2**57 + 5, 10**18 + 1], random.Random(sign)
    for a in (*large, 3):
        b = rng.choice((1, 2, 3, 7) if a != 3 else (35, 37, 39))
        exact = {"+": a + b, "-": a - b, "*": a*b, "//": a//b, "%": a % b, "^": a**b}[sign]
        high, low = divmod(a, 2**30)
        written = f"(int({high})*{2**30} + int({low}))" if high else f"int({a})"
        for text in (f"{written}{sign}{b}", f"n = {written}\nn{sign}{b}"):
            if -2**63 <= exact < 2**63:
                assert value(text) == exact
            else:
                assert code(text) == "E0404"


@pytest.mark.parametrize("text", [
    "int(x)*x", "var n: int64 = 2\nn*x", "float32(x)*x", "[int(x), x] * 2", "int(x) + 0.5",
    "var n: int64 = 2\nn + 0.5", "var n: int64 = 1\nm = int(2)\nn + m + 0.5",
])
def test_types_do_not_mix_silently(text: str) -> None:
    assert code(text, x=1.5) == "E0302" if "x" in text else code(text) == "E0302"


@pytest.mark.parametrize("text", [
    "var n: int64 = 3\nn//0", "var n: int64 = 3\nn % 0", "var n: int64 = 3\nn^-1",
    "int(nan)", "int([nan, 1])", "int([1e30, 2])", 'cast([1e10], "int32")', "int(1e30)",
])
def test_integers_have_no_silent_nonsense(text: str) -> None:
    assert code(text) in ("E0404", "E0306")


def test_float32_is_carried_through() -> None:
    found = loads("var w: float32[2] = [1.1, 2]\nsum(w^2)").gradient()["w"]
    assert found.dtype == np.float32
    check("float(float32(x))*x", {"x": 1.5}, 2.25, {"x": 3.0})
    check("float32(x)^2", {"x": 1.5}, 2.25, {"x": 3.0})


# --- derivatives inside a file ------------------------------------------------------------------

P = "x^2*y + y^3"


@folded
@pytest.mark.parametrize(("text", "expected"), [
    (f"grad({P}, x)", 1.5), (f"grad({P}, [x, y])", [1.5, 3.0]), (f"grad({P}, [x, [y, x]])[1]",
                                                                 [3.0, 1.5]),
    (f'grad({P}, {{"a": x, "b": y}})["b"]', 3.0), ("grad([x^2, x*y], x)", 3.5),
    ("grad([x^2, x^2], x)", 6.0), ("grad(x, x)", 1.0), ("grad([x, x], x)", 2.0),
    ("grad(x^2, x, output_gradients=3)", 9.0),
    ("grad([x^2, x*y], x, output_gradients=[2, 10])", 11.0),
    ("z = x^2\ngrad([z*y, z], x, output_gradients=[1, 2])", 7.5),
    ('grad(y, x, unconnected_gradients="zero")', 0.0),
    ('grad(y, x, unconnected_gradients="none")', None), ("grad(y, x)", None),
    ("grad(3, x)", None), ("grad(floor(x), x)", None),
    ('grad(floor(x), x, unconnected_gradients="zero")', 0.0),
    ("jacobian([x^2, x*y], x)", [3.0, 0.5]), ("jacobian([x^2, x*y], [x, y])[1]", [0.0, 1.5]),
    ("jacobian(x^2, x)", 3.0), ("jacobian(v^2, v)", np.diag([2.0, 4.0, 6.0])),
    ("jacobian(v*x, v)", 1.5 * np.eye(3)), ("jacobian(v*x, x)", [1.0, 2.0, 3.0]),
    ('jacobian(v, x, unconnected_gradients="zero")', [0.0, 0.0, 0.0]), ("jacobian(v, x)", None),
    (f"hessian({P}, x)", 1.0), (f"hessian({P}, y)", 3.0), ("hessian(sum(v^3), v)",
                                                          np.diag([6.0, 12.0, 18.0])),
    ("hessian(x + y, x)", 0.0), ("hessian(prod(v), v)", [[0, 3, 2], [3, 0, 1], [2, 1, 0]]),
    (f"jvp({P}, x, 2)", 3.0), (f"jvp({P}, [x, y], [1, 2])", 7.5), ("jvp(v^2, v, [1, 0, 1])",
                                                                  [2.0, 0.0, 6.0]),
    ("jvp([x*y, x + y], [x, y], [1, 10])", [15.5, 11.0]),
    ("vjp([x^2, x*y], x, [1, 2])", 4.0), ("vjp([x^2, x*y], [x, y], [1, 2])", [4.0, 3.0]),
    ("vjp(v^2, v, [1, 0, 1])", [2.0, 0.0, 6.0]), ("vjp(v^2, v, 2)", [4.0, 8.0, 12.0]),
    (f"hvp({P}, x, 2)", 2.0), (f"hvp({P}, [x, y], [1, 2])", [7.0, 9.0]),
    ("hvp(sum(v^3), v, [1, 2, 3])", [6.0, 24.0, 54.0]),
    (f"hvp({P}, [[x], y], [1, 2])[1]", 9.0),
    # Derivatives of derivatives.
    ("grad(grad(x^3, x), x)", 9.0), ("grad(grad(x^2*y, x), y)", 3.0), ("grad(grad(2x, x), x)", 0.0),
    ("grad(grad(x, x), x)", 0.0), ("grad(grad(x*stop_gradient(x), x), x)", None),
    ("grad(x*grad(x^3, x), x)", 20.25), ("grad(sum(grad(sum(v^3), v)^2), v)", [36.0, 288.0, 972.0]),
    ("g = grad(x^3*y, [x, y])\ngrad(g[0]*g[1], y)", 3 * 1.5 ** 5),
    ("grad(sum(jacobian(v^3, v)), v)", [6.0, 12.0, 18.0]),
    ("grad(sum(hessian(sum(v^4), v)), v)", [24.0, 48.0, 72.0]),
    ("grad(jvp(x^3, x, 2), x)", 18.0), ("grad(hvp(x^4, x, 1), x)", 36.0),
    ("jacobian(grad(prod(v), v), v)", [[0, 3, 2], [3, 0, 1], [2, 1, 0]]),
    ("jacobian(jacobian(v^3, v), v)[2, 2, 2]", 18.0),
    ("y0 = x^2\nz0 = y0^2\ngrad(z0, y0)", 4.5),
    # Primes.
    ("f(t) = t^3\nf'(2)", 12.0), ("f(t) = t^3\nf''(x)", 9.0), ("f(t) = t^3\nf'''(x)", 6.0),
    ("f(t) = t^3\nf''''(x)", 0.0), ("f(t) = 3\nf'(x)", 0.0), ("f(t) = t*y\nf'(x)", 0.5),
    ("f(t) = floor(t)\nf'(x)", None), ("sin'(x)", math.cos(1.5)), ("sin''(x)", -math.sin(1.5)),
    ("ln'(x)", 1 / 1.5), ("f(t) = t^2\nf'([1, 2, 3])", [2.0, 4.0, 6.0]),
    ("f(t) = t^3\nf''(v)", [6.0, 12.0, 18.0]), ("f(t) = t^2\ng(t) = f'(t)^2\ng'(x)", 12.0),
    ("f(t) = t^3\ngrad(f'(x), x)", 9.0), ("f(t) = t^3\ngrad(f'(2x), x)", 36.0),
    ("f(t) = sin(t)^2 if t > 0 else 0\nf'(x)", math.sin(3.0)),
    ("f(t) = f'(t)\n2x", 3.0), ("f(t) = x*t\nf'(1)", 1.5),
    ("f(t) = t^2*v\nf'(3)", [6.0, 12.0, 18.0]), ("f(t) = t^2*v\nf''(3)", [2.0, 4.0, 6.0]),
])
def test_derivatives_in_a_file(text: str, expected: Any) -> None:
    program = loads(text)
    at = {k: v for k, v in {**AT, **V}.items() if k in program.names.inputs}
    found = program.value(at=at)
    if expected is None:
        assert found is None
        return
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def test_a_hessian_in_several_sources_or_help_that_works() -> None:
    """What the help of an error offers must be possible."""
    found = np.array(value("hessian(x^2*y, [x, y])", **AT))
    np.testing.assert_allclose(found, [[1.0, 3.0], [3.0, 0.0]])


@pytest.mark.parametrize(("text", "expected"), [
    ("grad(x^2, 3)", "E0310"), ("grad(x^2)", "E0207"), ("grad(x^2, x, 3)", "E0207"),
    ("grad(x^2, x, foo=3)", "E0208"), ('grad(x^2, x, unconnected_gradients="nonsense")', "E0312"),
    ("grad([x, x^2], x, output_gradients=[1, 2, 3])", "E0313"),
    ("grad([1, 2]*x, x, output_gradients=[1, 2, 3])", "E0301"),
    ("jvp([1, 2]*x, x, [1, 2])", "E0301"), ("f(a, b) = a\nf'(1)", "E0207"), ("nope'(x)", "E0201"),
    ("f(t) = t\nf'(x, 1)", "E0207"), ("grad(floor(x), x) + 1", "E0309"),
    ('grad("text", x)', "E0310"), ("f(t) = t if t < 0 else f'(t - 1)\nf(100)*x", "E0402"),
])
def test_derivatives_that_do_not_exist(text: str, expected: str) -> None:
    assert code(text, **({"x": 1.5} if "x" in loads(text).names.inputs else {})) == expected


def test_arithmetic_with_a_missing_gradient_repeats_the_reason() -> None:
    for text, name in (("g = grad(floor(x), x)\ng + y", "floor"), ("grad(y, x) + 1", "x")):
        with pytest.raises(GradcliError) as problem:
            value(text, **AT)
        assert problem.value.code == "E0309"
        assert any(name in note for note in problem.value.diagnostics[0].notes)


def test_higher_derivatives_take_steps_of_the_budget() -> None:
    """Thirty sweeps, as an array inside asks for, would take hours; the budget has to end them."""
    text = "f(t) = exp(sin(t))*softmax([t, 1])[0]\nf" + "'" * 30 + "(x)"
    with pytest.raises(GradcliError) as problem:
        loads(text).run({"x": 1.0}, max_steps=20_000)
    assert problem.value.code == "E0401"


# --- functions of the table, as a file calls them -----------------------------------------------

@pytest.mark.parametrize(("text", "reference"), [
    ("x^2*sin(y) + exp(x*y)", lambda x, y: x ** 2 * mp.sin(y) + mp.exp(x * y)),
    ("atan2(y, x)*hypot(x, y)", lambda x, y: mp.atan2(y, x) * mp.sqrt(x * x + y * y)),
    ("log1p(x)/expm1(y)", lambda x, y: mp.log(1 + x) / (mp.exp(y) - 1)),
    ("gamma(x)*erf(y)", lambda x, y: mp.gamma(x) * mp.erf(y)),
    ("lgamma(x + y)*digamma(x)", lambda x, y: mp.loggamma(x + y) * mp.digamma(x)),
    ("x^y + y^x", lambda x, y: x ** y + y ** x),
    ("arctan(x)*arcsin(y)*tg(y)", lambda x, y: mp.atan(x) * mp.asin(y) * mp.tan(y)),
    ("sigmoid(x)*softplus(y)", lambda x, y: mp.log(1 + mp.exp(y)) / (1 + mp.exp(-x))),
    ("max(x, y)*min(x, y)*abs(x - y)", lambda x, y: x * y * abs(x - y)),
    ("sum([x, y]^3) + norm([x, y]) + prod([x, y, x])",
     lambda x, y: x ** 3 + y ** 3 + mp.sqrt(x * x + y * y) + x * x * y),
    ("multiply(x, y) + reduce_sum([x, y]) + ln(x)", lambda x, y: x * y + x + y + mp.log(x)),
    ("log2(x) + log10(y)",
     lambda x, y: mp.log(x, 2) + mp.log(y, 10)),
    ("dot([x, y], [y, 1]) + [x, y] @ [x, y]", lambda x, y: x * y + y + x * x + y * y),
    ("clip(x, 0, 1) + clip(x*y, 0, 1)", lambda x, y: 1 + x * y),
    ("mean(linspace(x, y, 5)) + sum(zeros(2) + x)", lambda x, y: (x + y) / 2 + 2 * x),
])
def test_formulas_against_mpmath(text: str, reference: Any) -> None:
    with mp.workdps(40):
        point = [mp.mpf(1.5), mp.mpf(0.5)]
        expected = float(reference(*point))
        slopes = [float(mp.diff(reference, point, order)) for order in ((1, 0), (0, 1))]
    program = loads(text)
    assert program.value(at=AT) == pytest.approx(expected, rel=1e-13)
    found = program.gradient(at=AT)
    assert found["x"] == pytest.approx(slopes[0], rel=1e-12, abs=1e-14)
    assert found["y"] == pytest.approx(slopes[1], rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("line", "said"), [
    ("x = Variable(3.0)", "write var x = 3.0"), ("x = tf.Variable(3.0)", "write var x = 3.0"),
    ("x = tf.constant(3.0)", "write const x = 3.0"),
    *[(f"x = tf.{module}{name}(3.0)", f"write {name}(...), without `tf.`")
      for module in ("", "math.") for name in ("square", "sin", "exp", "sqrt")]])
def test_words_of_tensorflow_have_what_is_written_here(line: str, said: str) -> None:
    status, _, err = in_process(["eval", "-"], stdin=f"{line}\ny = x^2\n".encode())
    assert status != 0
    assert said in err
    assert "did you mean" not in err


def test_every_verb_has_a_function() -> None:
    """The names stand where no function of theirs is loaded."""
    assert list(FUNCTIONS) == list(VERBS)
