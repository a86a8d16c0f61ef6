"""Programs run on blocks of points against the same programs run point by point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import calculus
from gradcli.engine.compiled.blocks import Executor
from gradcli.engine.compiled.graph import graph
from gradcli.ops import PUBLIC, TABLE
from gradcli.python.program import loads
from gradcli.questions import Question
from gradcli.questions.many.rows import Points

ROWS = [op for op in (TABLE[name] for name in TABLE)
        if op.elementwise and op.samples and op.floats is not None and op.name in PUBLIC
        and all(role == "data" for role in op.roles)
        and len(op.samples) == len(op.parameters) and not op.attributes]


def executor(text: str, at: dict[str, Any], size: int = 64) -> tuple[Executor, list[str]]:
    """The value and the gradients of a program in all its inputs."""
    program = loads(text)
    run = program.run(at)
    with run.record:
        target = program.targets(run)[0].tensor
        sources = [b.value for b in program.sources(run)]
        found = calculus.gradient([target], sources, emit=True)
        entries = run.record.history()
    return Executor(graph(
        entries, {s.id: s.shape for s in sources},
        [(t.id, t.value) if t is not None else (None, np.nan) for t in (target, *found)]),
        size), [b.name for b in program.sources(run)]


def points(op: Any, n: int) -> list[Any]:
    rng = np.random.default_rng(20261121)
    return [rng.uniform(low, high, n) for low, high in op.samples]


@pytest.mark.parametrize("op", ROWS, ids=[op.name for op in ROWS])
def test_every_elementwise_row_on_a_block(op: Any) -> None:
    names = [f"x{k}" for k in range(len(op.parameters))]
    text = f"{op.name}({', '.join(names)})"
    columns = points(op, 50)
    found, order = executor(text, {n: float(c[0]) for n, c in zip(names, columns, strict=True)})
    answers = found.run([columns[names.index(n)] for n in order])
    program = loads(text)
    for k in range(50):
        at = {n: float(c[k]) for n, c in zip(names, columns, strict=True)}
        np.testing.assert_allclose(answers[0][k], program.value(at=at), rtol=1e-13, atol=1e-300)
        slopes = program.gradient(at=at)
        for n, got in zip(order, answers[1:], strict=True):
            if slopes[n] is not None:
                np.testing.assert_allclose(got[k], slopes[n], rtol=1e-11, atol=1e-14)


FORMULAS = [
    "sin(x)*exp(-y^2) + log(1 + x^2)/y", "x^y", "[x, y, x*y] @ [1, 2, y]", "norm([x, y, 1])",
    "sum(softmax([x, y, 2x]) * [1, 2, 3])", "where(x > y, x^2, y^3)", "max(x, y)*min(x, 0.5)",
    "logsumexp([x, y])", "atan2(y, x) + hypot(x, y)", "det([[x, y], [1, x]])",
    "erf(x)*gamma(y + 3)", "mean([x, y]*[y, x]) - 2", "f(t) = t^3/y\nf(x) + f(2x)", "y^2",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_point_by_point(text: str) -> None:
    text = text if "x" in text and "y" in text else f"input x = 1\ninput y = 2\n{text}"
    rng = np.random.default_rng(7)
    columns = {"x": rng.uniform(0.5, 2, 40), "y": rng.uniform(0.5, 2, 40)}
    found, order = executor(text, {"x": 1.25, "y": 0.75})
    answers = found.run([columns[n] for n in order])
    program = loads(text)
    for k in range(40):
        at = {n: float(c[k]) for n, c in columns.items()}
        np.testing.assert_allclose(answers[0][k], program.value(at=at), rtol=1e-13)
        slopes = program.gradient(at=at)
        for n, got in zip(order, answers[1:], strict=True):
            if slopes[n] is not None:
                np.testing.assert_allclose(got[k], slopes[n], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("text", FORMULAS[:-1])
def test_blocks_of_any_size_give_the_same_bits(text: str) -> None:
    rng = np.random.default_rng(8)
    columns = {"x": rng.uniform(0.5, 2, 1000), "y": rng.uniform(0.5, 2, 1000)}
    found, order = executor(text, {"x": 1.25, "y": 0.75}, 1000)
    whole = found.run([columns[n] for n in order])
    for size in (1, 3, 64, 999, 4096):
        again, _ = executor(text, {"x": 1.25, "y": 0.75}, size)
        for a, b in zip(whole, again.run([columns[n] for n in order]), strict=True):
            assert a.tobytes() == b.tobytes()


# --- programs whose points take different ways ---------------------------------------------------

WAYS = [
    ("y = x^2 if x > 0 else x^3\n2y", 2), ("input x = 1\nL = [x, 2x, 3x]\nL[int(abs(x))]^2", 2),
    ("input x = 1\ns = abs(x) + 0.1\nwhile s < 10:\n    s = s*2 + 0.5\ns*x", 6),
    ("input x = 1\nn = int(abs(x)*5)\ns = 0.0\nfor k in range(n):\n    s = s + x^k\ns*x", 10),
    ("f(t) = t if t < 1 and t > -1 else sin(t)\nf(x) + f(2x)", 6),
    ("input x = 1\nclip(x, 0.5, round(abs(x)))*x", 2),
]


@pytest.mark.parametrize(("text", "ways"), WAYS)
def test_each_point_takes_its_own_way(text: str, ways: int) -> None:
    program = loads(text)
    x = np.random.default_rng(9).uniform(-2, 2, 200)
    points = Points(Question(program), "grad", ["x"])
    answers = points.answers([x])
    (values, slopes), failed = answers.arrays, answers.failed
    assert not failed
    assert len(points.paths) <= 4*ways
    for k in range(200):
        at = {"x": float(x[k])}
        np.testing.assert_allclose(values[k], program.value(at=at), rtol=1e-13)
        slope = program.gradient(at=at)["x"]
        if slope is None:
            assert answers.missing[1][k]
        else:
            np.testing.assert_allclose(slopes[k], slope, rtol=1e-12, atol=1e-14)


def test_a_point_that_fails_is_told_and_the_others_are_answered() -> None:
    program = loads("input x = 1\nL = [x, 2x]\nL[int(x)]^2")
    answers = Points(Question(program), "grad", ["x"]).answers([np.array([0.5, 7.0, 1.5])])
    (values, _), failed = answers.arrays, answers.failed
    assert list(failed) == [1]
    assert failed[1].code == "E0305"
    np.testing.assert_allclose(values[[0, 2]], [0.25, 9.0])
