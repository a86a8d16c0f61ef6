"""Machine code for blocks of points against NumPy's calls: near enough, and the same bits wherever
a point stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import folded
from test_blocks import FORMULAS, ROWS, executor, points
from test_executor import EDGES, PIECES, arguments, bits

from gradcli.engine.compiled import jit, machine, statements, vectors
from gradcli.engine.compiled.blocks import Executor
from gradcli.python.program import loads

MANY = 10**12
# Rows with functions that are no instructions and not in libmvec; `positive` has no statement.
REFUSED = set("""
    positive floor_divide mod fmod sinc erf erfc gelu_erf ndtr gamma digamma lgamma lbeta beta
    gammainc gammaincl igamma igammac erfinv erfcinv erfcx erfi dawsn ci si ei e1 li shi chi
    fresnels fresnelc lambertw ellipk ellipf ellipe_complete ellipe_incomplete ndtri
    log_ndtr""".split())
needed = pytest.mark.skipif(
    not (machine.available() and vectors.function(np.sin)), reason="no functions of vectors here")


@pytest.fixture(autouse=True)
def unpaired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "available", lambda: False)


def near(found: list[Any], expected: list[Any], tolerance: float) -> list[int]:
    """The points at which answers are not near enough, or no numbers in other ways."""
    wrong = []
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        a, b = a.astype(float), b.astype(float)
        with np.errstate(all="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance*np.abs(b))
        wrong += np.flatnonzero(~same).tolist()
    return wrong


@needed
@folded
@pytest.mark.parametrize("op", ROWS, ids=[op.name for op in ROWS])
def test_every_row(op: Any) -> None:
    names = [f"x{k}" for k in range(len(op.parameters))]
    rng = np.random.default_rng(20261124)
    columns = [np.concatenate([c, rng.permutation(EDGES)]) for c in points(op, 100)]
    at = {n: float(c[0]) for n, c in zip(names, columns, strict=True)}
    found, order = executor(f"{op.name}({', '.join(names)})", at)
    code = Executor(found.graph, points=MANY)
    assert (code.code is None) == (op.name in REFUSED)
    columns = [columns[names.index(n)] for n in order]
    whole = code.run(columns)
    assert not near(whole, found.run(columns), 1e-14)
    for start, n in PIECES:
        part = slice(start, start + n)
        assert bits(code.run([c[part].copy() for c in columns])) == bits([a[part] for a in whole])


@needed
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_beside_zeros_and_far_away(name: str) -> None:
    found, _ = executor(f"input x = 1\n{name}(x)", {})
    assert not near(Executor(found.graph, points=MANY).run([arguments()]),
                    found.run([arguments()]), 4e-15)


@needed
@pytest.mark.parametrize("text", FORMULAS)
def test_formulas(text: str) -> None:
    """Those on arrays are left to NumPy, with its bits."""
    rng = np.random.default_rng(5)
    columns = {"x": rng.uniform(0.5, 2, 1000), "y": rng.uniform(0.5, 2, 1000)}
    found, order = executor(f"input x = 1\ninput y = 2\n{text}", {"x": 1.25, "y": 0.75})
    code = Executor(found.graph, points=MANY)
    given = [columns[n] for n in order]
    assert not near(code.run(given), found.run(given), 0.0 if code.code is None else 1e-13)


@needed
@pytest.mark.parametrize(("text", "x", "far"), [
    ("exp(x)", [1.0]*20, False), ("exp(x)", [1.0]*15 + [800.0], True),
    ("exp(x)", [-800.0] + [1.0]*16, True), ("x*x", [1e200]*16, True), ("x*x", [0.0]*16, False),
    ("x*x", [1e-200]*17, True), ("expm1(x)*sinh(x)", [0.0]*16, False),
    ("1/x", [0.0]*16, False)])
def test_it_tells_of_numbers_that_left_the_range(text: str, x: list[float], far: bool) -> None:
    found, _ = executor(f"input x = 2\n{text}", {})
    for code in (Executor(found.graph, points=MANY), found):
        code.run([np.array(x)])
        assert code.flushed == far


WIDTHS = (2, 4, 8)
LIKE_PYTHON = (
    "sin(x)*cos(y) + exp(-x*y)/(1 + y*y)", "log(1 + x*x)*sqrt(y) - tan(x*y)/y",
    "asin(x/4)*y + acos(y/4)*atan(x - y)", "sinh(x)*cosh(y) + exp2(x)*cbrt(y)",
    "where(x > y, x*y, x/y)*maximum(x, y) + minimum(x*x, y) + abs(x - y)",
    "log2(x)*log10(y) + log1p(x)*expm1(y)", "acosh(1 + x)*atanh(x*y/10) + copysign(x, y)*sign(x)")


@needed
@pytest.mark.parametrize("width", WIDTHS)
def test_vectors_of_any_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if width > vectors.width():
        return
    monkeypatch.setattr(vectors, "width", lambda: width)
    vectors.function.cache_clear()
    rng = np.random.default_rng(width)
    for text in LIKE_PYTHON:
        columns = [rng.uniform(0.1, 2.0, 99) for _ in range(2)]
        found, order = executor(f"input x = 1.5\ninput y = 0.75\n{text}", {})
        given = [columns["xy".index(n)] for n in order]
        code = Executor(found.graph, points=MANY)
        assert code.code is not None
        assert code.code.width == width
        assert not near(code.run(given), found.run(given), 1e-12)
    vectors.function.cache_clear()


@needed
@pytest.mark.parametrize("text", LIKE_PYTHON)
def test_with_functions_of_libm_a_point_has_the_bits_that_it_has_alone(
        text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "function", lambda ufunc: None)
    rng = np.random.default_rng(11)
    columns = {name: rng.uniform(0.1, 2.0, 99) for name in "xy"}
    text = f"input x = 1.5\ninput y = 0.75\n{text}"
    found, order = executor(text, {})
    code, program = Executor(found.graph, points=MANY), loads(text)
    assert code.code is not None
    answers = code.run([columns[n] for n in order])
    for k in range(99):
        at = {n: float(c[k]) for n, c in columns.items()}
        slopes = program.gradient(at=at)
        expected = [program.value(at=at), *[slopes[n] for n in order]]
        assert [float(a[k]).hex() for a in answers] == [x.hex() for x in expected]


def test_few_points_are_numpys() -> None:
    found, _ = executor("input x = 1\nsin(x)", {})
    assert Executor(found.graph, points=1000).code is None
    assert not jit.pays(1_000_000, 100)
    assert jit.pays(10_000_000, 100)


def test_without_functions_of_vectors_those_of_numpy_are_called(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_library", lambda: None)
    monkeypatch.setattr(statements, "available", lambda: True)
    found, _ = executor("input x = 1\nsin(x)", {})
    code = Executor(found.graph, paired=True, points=MANY)
    x = np.linspace(-2.0, 2.0, 100)
    assert code.code is None
    assert bits(code.run([x])) == bits(found.run([x]))
