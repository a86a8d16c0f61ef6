"""Rows without a derivative: steps, comparisons, casts, and makers of tensors. Against NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from conftest import folded

from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import leaf
from gradcli.ops import NAMES, TABLE

X = np.array([[-2.5, -0.5, 0.5], [1.5, 2.0, -0.0]])
Y = np.array([0.5, -0.5, 2.0])
T, F = X > 0, X < -1

STEPS: dict[str, tuple[tuple[Any, ...], Any, Mapping[str, Any]]] = {
    "floor": ((X,), np.floor(X), {}),
    "ceil": ((X,), np.ceil(X), {}),
    "round": ((X,), np.rint(X), {}),
    "trunc": ((X,), np.trunc(X), {}),
    "floor_divide": ((X, Y), np.floor_divide(X, Y), {}),
    "equal": ((X, Y), X == Y, {}),
    "not_equal": ((X, Y), X != Y, {}),
    "less": ((X, Y), X < Y, {}),
    "less_equal": ((X, Y), X <= Y, {}),
    "greater": ((X, Y), X > Y, {}),
    "greater_equal": ((X, Y), X >= Y, {}),
    "logical_and": ((T, F), T & F, {}),
    "logical_or": ((T, F), T | F, {}),
    "logical_not": ((T,), ~T, {}),
    "isnan": ((np.where(T, np.nan, X),), T, {}),
    "isfinite": ((np.where(T, np.inf, X),), ~T, {}),
    "argmax": ((X,), np.argmax(X, axis=1), {"axis": 1}),
    "argmin": ((X,), np.argmin(X), {}),
    "shape": ((X,), np.array([2, 3]), {}),
    "size": ((X,), 6, {}),
    "zeros_like": ((X,), np.zeros((2, 3)), {}),
    "ones_like": ((X,), np.ones((2, 3)), {}),
    "stop_gradient": ((X,), X, {}),
    "cast_other": ((X,), X.astype(np.int64), {"dtype": "int64"}),
    "int": ((X,), X.astype(np.int64), {}),
    "int32": ((X,), X.astype(np.int32), {}),
    "bool": ((X,), X.astype(bool), {}),
    "string": ((np.array([1.5]),), np.array(["1.5"]), {}),
}


@folded
@pytest.mark.parametrize("name", STEPS)
def test_steps_have_a_value_and_no_derivative(name: str) -> None:
    arguments, want, attributes = STEPS[name]
    op = TABLE[name]
    got = op(*arguments, **attributes)
    np.testing.assert_array_equal(got, want)
    assert np.asarray(got).dtype.kind == np.asarray(want).dtype.kind
    with Record():
        xs = [leaf(a) for a in arguments]
        y = op(*xs, **attributes)
        np.testing.assert_array_equal(y.value, want)
        assert calculus.gradient([y], xs) == [None] * len(xs)
        assert calculus.jvp(y, [xs[0]], [np.ones(xs[0].shape)]) is None
    assert op.kind == "composite" or not any(op.edge(k) for k in range(len(arguments)))


@pytest.mark.parametrize("name", [n for n, op in TABLE.items() if n in STEPS and op.elementwise])
def test_steps_on_scalars_agree_with_arrays(name: str) -> None:
    arguments, want, _ = STEPS[name]
    columns = [np.broadcast_to(a, want.shape).ravel().tolist() for a in arguments]
    got = [TABLE[name](*scalars) for scalars in zip(*columns, strict=True)]
    np.testing.assert_array_equal(got, want.ravel())
    assert {type(v) for v in got} == {float if want.dtype.kind == "f" else bool}


# --- makers of tensors: no tensor argument ----------------------------------------------------

CREATED: dict[str, list[tuple[tuple[Any, ...], Any]]] = {
    "zeros": [((3.0, 2.0), np.zeros((3, 2))), (([2, 0],), np.zeros((2, 0)))],
    "ones": [((3,), np.ones(3)), (([2, 2],), np.ones((2, 2)))],
    "full": [(([3, 2], 0.5), np.full((3, 2), 0.5))],
    "eye": [((3.0,), np.eye(3))],
    "linspace": [((0.0, 1.0, 5.0), np.linspace(0, 1, 5)), ((1.0, 3.0), np.linspace(1, 3, 50)),
                 ((0.0, 1.0, 0), np.zeros(0)), ((2.0, 3.0, 1), np.array([2.0]))],
    "normal": [((3.0, 2.0), np.random.default_rng(0).standard_normal((3, 2)))],
    "uniform": [(([4],), np.random.default_rng(0).random(4))],
    "arange": [((4.0,), np.arange(4.0)), ((1.0, 2.0, 0.25), np.arange(1, 2, 0.25)),
               ((3.0, 0.0, -1.0), np.array([3.0, 2.0, 1.0])), ((0.0,), np.zeros(0))],
}


@pytest.mark.parametrize("name", CREATED)
def test_makers_agree_with_numpy(name: str) -> None:
    for arguments, want in CREATED[name]:
        got = NAMES[name](*arguments)
        np.testing.assert_allclose(got, want, rtol=1e-15)
        assert np.shape(got) == np.shape(want)


def test_linspace_carries_the_derivative_of_its_ends() -> None:
    with Record():
        a, b = leaf(1.0), leaf(2.0)
        y = NAMES["linspace"](a, b, 5.0)
        np.testing.assert_allclose(calculus.jacobian(y, [a])[0], [1, 0.75, 0.5, 0.25, 0])
        np.testing.assert_allclose(calculus.jacobian(y, [b])[0], [0, 0.25, 0.5, 0.75, 1])
