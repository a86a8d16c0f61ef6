"""Programs run on blocks of points against the same programs run point by point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli import calculus
from gradcli.execute.blocks import Executor
from gradcli.execute.graph import graph
from gradcli.ops import PUBLIC, TABLE
from gradcli.program import loads

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
