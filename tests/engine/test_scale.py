"""Long, deep and wide programs: right answers, and no recursion anywhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from gradcli.base.errors import GradcliError
from gradcli.python.program import loads

N = 100_000


@pytest.fixture(autouse=True)
def _shallow() -> Iterator[None]:
    """A recursion over the program would need far more than this."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    yield
    sys.setrecursionlimit(before)


def test_a_sum_of_100000_terms() -> None:
    text = " + ".join(f"{k % 7}*x*y" if k % 2 else "sin(x)" for k in range(N))
    found = loads(text).gradient(at={"x": 0.5, "y": 2.0})
    weight = sum(k % 7 for k in range(1, N, 2))
    assert found["x"] == pytest.approx(2 * weight + N / 2 * math.cos(0.5), rel=1e-11)
    assert found["y"] == pytest.approx(0.5 * weight, rel=1e-11)


def test_a_chain_of_100000_bindings() -> None:
    text = "y0 = x\n" + "\n".join(f"y{k + 1} = y{k}*1.00001" for k in range(N))
    found = loads(text).gradient(at={"x": 3.0})["x"]
    assert found == pytest.approx(math.exp(N * math.log1p(1e-5)), rel=1e-9)


def test_one_name_bound_20000_times() -> None:
    program = loads("y = x\n" + "y = y + 0.5*x\n" * 20_000)
    assert program.value(at={"x": 2.0}) == 20_002.0
    assert program.gradient(at={"x": 2.0}) == {"x": 10_001.0}


def test_the_hessian_of_a_chain_of_10000_sines() -> None:
    program = loads("y = x\n" + "y = sin(y)\n" * 10_000)
    first, second, y = 1.0, 0.0, 1.0
    for _ in range(10_000):
        first, second = math.cos(y) * first, math.cos(y) * second - math.sin(y) * first ** 2
        y = math.sin(y)
    assert program.gradient(at={"x": 1.0})["x"] == pytest.approx(first, rel=1e-10)
    assert program.hessian(at={"x": 1.0})["x"]["x"] == pytest.approx(second, rel=1e-10)


@pytest.mark.parametrize("x", [0.0, 0.5, -0.9, 1.0, 1.01])
def test_horner_of_degree_500(x: float) -> None:
    coefficients = [(-1) ** k * (k % 11 + 1) for k in range(501)]
    lines = ["p = 0", *[f"p = p*x + {c}" for c in coefficients], "p"]
    bracketed = "0"
    for c in coefficients[:199]:
        bracketed = f"({bracketed}*x + {c})" if c != 1 else f"({bracketed})*x + {c}"
    program = loads("\n".join(lines))
    with mp.workdps(60):
        t = mp.mpf(x)
        powers = list(enumerate(reversed(coefficients)))
        value = mp.fsum(c * t ** k for k, c in powers)
        first = mp.fsum(k * c * t ** (k - 1) for k, c in powers if k)
        second = mp.fsum(k * (k - 1) * c * t ** (k - 2) for k, c in powers if k > 1)
        # What rounding may do: a few units in the last place of the sum of absolute values.
        spread = float(mp.fsum(abs(k * k * c * t ** max(k - 2, 0)) for k, c in powers))
    tolerance = 1e-13 * max(1.0, spread)
    assert abs(program.value(at={"x": x}) - float(value)) <= tolerance
    assert abs(program.gradient(at={"x": x})["x"] - float(first)) <= tolerance
    assert abs(program.hessian(at={"x": x})["x"]["x"] - float(second)) <= tolerance


def test_horner_of_degree_199_in_brackets() -> None:
    text = "(" * 199 + "1" + "*x + 1)" * 199
    program = loads(text)
    assert program.value(at={"x": 1.0}) == 200.0
    assert program.gradient(at={"x": 1.0}) == {"x": 199 * 200 / 2}
    assert program.hessian(at={"x": 1.0}) == {"x": {"x": pytest.approx(199 * 200 * 198 / 3)}}


@pytest.mark.parametrize(("before", "after"), [
    ("(", ")"), ("-(", ")"), ("2(", ")"), ("sin(", ")"), ("[", "][0]"), ("1*(", "+0)"),
    ('{"a": ', '}["a"]'), ("(1 if x < 0 else ", ")"),
])
def test_200_nested_brackets(before: str, after: str) -> None:
    depth = 200
    program = loads(before * depth + "x" + after * depth)
    expected = {"-(": 1.0, "2(": 2.0 ** depth}.get(before, 1.0)
    if before == "sin(":
        y, expected = 0.5, 1.0
        for _ in range(depth):
            expected *= math.cos(y)
            y = math.sin(y)
    assert program.gradient(at={"x": 0.5})["x"] == pytest.approx(expected, rel=1e-12)


def test_201_nested_brackets_are_an_error_with_a_place() -> None:
    with pytest.raises(GradcliError) as problem:
        loads("(" * 201 + "x" + ")" * 201)
    assert problem.value.code == "E0109"
    assert problem.value.span == (200, 201)


def test_a_power_tower_of_5000() -> None:
    """x^(x^(x^...)) converges to h with x = h^(1/h) for x < e^(1/e)."""
    program = loads("^".join(["x"] * 5_000))
    x = 1.3
    with mp.workdps(30):
        h = -mp.lambertw(-mp.log(x)) / mp.log(x)
        slope = h * h / (x * (1 - mp.log(h)))
    assert program.value(at={"x": x}) == pytest.approx(float(h.real), rel=1e-12)
    assert program.gradient(at={"x": x})["x"] == pytest.approx(float(slope.real), rel=1e-11)
    signs = loads("2" + "^-x" * 5_000)
    assert math.isfinite(signs.gradient(at={"x": 1.0})["x"])


@pytest.mark.parametrize(("text", "slope"), [
    ("-" * 5_000 + "x", 1.0), ("x" + " - 1*x" * 5_001, -5_000.0), ("x" + "/1" * 5_000, 1.0),
    ("1 if x < 0 else " * 5_000 + "x", 1.0), ("x" + " if true else 0" * 1_000, 1.0),
    (" and ".join(["x"] * 5_000), 1.0), ("0 or " * 5_000 + "x", 1.0),
    ("max(" + ", ".join(f"{k}*x" for k in range(2_000)) + ")", 1_999.0),
    ("sum([" + ", ".join(["x"] * 5_000) + "])", 5_000.0),
    ("f(t) = t\n" + "f(" * 190 + "x" + ")" * 190, 1.0),
])
def test_long_and_deep_expressions(text: str, slope: float) -> None:
    assert loads(text).gradient(at={"x": 2.0}) == {"x": slope}


def test_not_5001_times() -> None:
    assert loads("not " * 5_001 + "x").value(at={"x": 1.0}) is False


def test_recursion_900_deep() -> None:
    program = loads("f(t, n) = t if n <= 0 else sin(f(t, n - 1)) + t\nf(x, 900)")
    y, slope, second = 0.5, 1.0, 0.0
    for _ in range(900):
        second = math.cos(y) * second - math.sin(y) * slope ** 2
        slope = math.cos(y) * slope + 1.0
        y = math.sin(y) + 0.5
    assert program.value(at={"x": 0.5}) == pytest.approx(y, rel=1e-12)
    assert program.gradient(at={"x": 0.5})["x"] == pytest.approx(slope, rel=1e-12)
    assert program.hessian(at={"x": 0.5})["x"]["x"] == pytest.approx(second, rel=1e-11)


@pytest.mark.parametrize("text", [
    "f(n) = 1 + f(n - 1)\nf(1)", "f(n) = g(n)\ng(n) = f(n)\nf(1)*x",
    "f(n) = n if n < 0 else f(n - 1)\nf(1e6)", "f(t) = f'(t)\nf(1)", "f(t) = f'(t)*2\nf'(1)",
])
def test_endless_recursion_is_an_error_with_a_place(text: str) -> None:
    with pytest.raises(GradcliError) as problem:
        loads(text).value(at={"x": 1.0} if "x" in text else {})
    assert problem.value.code == "E0402"
    assert problem.value.span is not None


def test_steps_have_a_budget() -> None:
    program = loads("f(n) = 1 if n < 1 else f(n - 1) + f(n - 1)\nf(40)")
    with pytest.raises(GradcliError) as problem:
        program.run(max_steps=100_000)
    assert problem.value.code == "E0401"


@pytest.mark.parametrize("text", [
    "zeros(1e6, 1e6)", "ones(1e15)", "linspace(0, 1, 1e14)", "arange(0, 1e15)", "eye(1e7)",
    "a = zeros(1e5, 1)\nb = zeros(1, 1e5)\na + b", "full([1e8, 1e8], 2)",
    "a = zeros(1e5)\nouter(a, a)", "broadcast_to(zeros(1), [1e8, 1e8])",
    "a = zeros(1e5, 1)\na @ a.T", "jacobian(v*1, v)",
])
def test_memory_has_a_budget(text: str) -> None:
    given = {"v": np.zeros(N)} if "v" in text else {}
    with pytest.raises(GradcliError) as problem:
        loads(text).run(given, max_bytes=1e8)
    assert problem.value.code == "E0403"
    assert problem.value.span is not None


def test_a_vector_of_100000_elements() -> None:
    v = np.linspace(-1.0, 2.0, N)
    found = loads("sum(sin(v)^2*exp(-v))").gradient(at={"v": v})["v"]
    np.testing.assert_allclose(
        found, np.exp(-v) * (np.sin(2 * v) - np.sin(v) ** 2), rtol=1e-11, atol=1e-14)
    found = loads("sum(100*(v[1:] - v[:-1]^2)^2 + (1 - v[:-1])^2)").gradient(at={"v": v})["v"]
    np.testing.assert_allclose(found, rosenbrock(v)[0], rtol=1e-11, atol=1e-11)


def test_a_jacobian_200_by_200() -> None:
    draw = np.random.default_rng(2)
    A, v = draw.normal(size=(200, 200)) / 14, draw.normal(size=200)
    found = loads("tanh(A @ v)*sum(v)").jacobian(wrt="v", at={"A": A, "v": v})["v"]
    t = np.tanh(A @ v)
    expected = (1 - t ** 2)[:, None] * A * v.sum() + t[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def rosenbrock(v: Any) -> tuple[Any, Any]:
    """Gradient and Hessian of sum(100 (v[k+1] - v[k]^2)^2 + (1 - v[k])^2)."""
    n = len(v)
    gradient = np.zeros(n)
    gradient[:-1] = -400 * v[:-1] * (v[1:] - v[:-1] ** 2) - 2 * (1 - v[:-1])
    gradient[1:] += 200 * (v[1:] - v[:-1] ** 2)
    if n > 1_000:
        return gradient, None
    hessian = np.zeros((n, n))
    k = np.arange(n - 1)
    hessian[k, k] = 1200 * v[:-1] ** 2 - 400 * v[1:] + 2
    hessian[k + 1, k + 1] += 200
    hessian[k, k + 1] = hessian[k + 1, k] = -400 * v[:-1]
    return gradient, hessian


def test_the_hessian_of_rosenbrock_in_a_vector_of_100() -> None:
    v = np.random.default_rng(3).normal(size=100)
    program = loads("sum(100*(v[1:] - v[:-1]^2)^2 + (1 - v[:-1])^2)")
    gradient, hessian = rosenbrock(v)
    np.testing.assert_allclose(program.gradient(at={"v": v})["v"], gradient, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(
        program.hessian(at={"v": v})["v"]["v"], hessian, rtol=1e-12, atol=1e-10)


def test_the_hessian_of_rosenbrock_in_30_scalars() -> None:
    v = np.random.default_rng(4).normal(size=30)
    text = " + ".join(f"100*(x{k + 1} - x{k}^2)^2 + (1 - x{k})^2" for k in range(29))
    found = loads(text).hessian(at={f"x{k}": float(v[k]) for k in range(30)})
    _, hessian = rosenbrock(v)
    blocks = [[found[f"x{i}"][f"x{j}"] for j in range(30)] for i in range(30)]
    np.testing.assert_allclose(blocks, hessian, rtol=1e-12, atol=1e-10)


def test_3000_inputs() -> None:
    text = " + ".join(f"{k}*x{k}^2" for k in range(3_000))
    found = loads(text).gradient(at={f"x{k}": 0.5 for k in range(3_000)})
    assert found == {f"x{k}": float(k) for k in range(3_000)}
