"""Derivatives where singular values or eigenvalues are equal, or the rank is not full.

What is a function of the matrix there has its slope; the references are complex steps through
iterations that know nothing of decompositions. What has none is NaN, or a convention with a note.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gradcli import loads
from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import leaf
from gradcli.ops import NAMES
from gradcli.questions import Question, grad

STEP = 1e-30
random = np.random.default_rng(15)


def orthogonal(n: int) -> Any:
    return np.linalg.qr(random.normal(size=(n, n)))[0]


def with_values(m: int, n: int, *values: float) -> Any:
    s = np.zeros((m, n))
    np.fill_diagonal(s, values)
    return orthogonal(m) @ s @ orthogonal(n)


MATRICES = {
    "identity": np.eye(2), "minus": -2.0 * np.eye(3), "swapped": np.array([[0.0, 3.0], [3.0, 0.0]]),
    "all": with_values(4, 4, 1.5, 1.5, 1.5, 1.5), "two": with_values(3, 3, 2.0, 2.0, 0.7),
    "last two": with_values(3, 3, 2.0, 0.7, 0.7), "pairs": with_values(4, 4, 2.0, 2.0, 0.7, 0.7),
    "tall": with_values(4, 2, 1.3, 1.3), "wide": with_values(2, 3, 1.3, 1.3),
    "tall of three": with_values(5, 3, 1.3, 1.3, 0.5), "none": with_values(3, 3, 2.0, 1.0, 0.5),
    "nearly": with_values(3, 3, 2.0, 2.0 + 1e-15, 0.7)}


def polar_factor(a: Any) -> Any:
    """U V^T by the iteration of Newton and Schulz, which takes complex matrices too."""
    wide = a.shape[0] < a.shape[1]
    x = a.T if wide else a
    x = x / 2.0 / max(1.0, np.abs(np.linalg.norm(x.real, 2)) / 1.5)
    for _ in range(200):
        x = x @ (3.0 * np.eye(x.shape[1]) - x.T @ x) / 2.0
    return x.T if wide else x


def slopes(f: Any, a: Any) -> Any:
    """The Jacobian of f at a by complex steps: shape of f + shape of a."""
    out = np.zeros((*f(a).shape, *a.shape))
    for place in np.ndindex(a.shape):
        moved = a.astype(complex)
        moved[place] += STEP * 1j
        out[(..., *place)] = f(moved).imag / STEP
    return out


def jacobian_of(f: Any, a: Any, mode: str) -> Any:
    with Record():
        x = leaf(a)
        return calculus.jacobian(f(x), [x], mode=mode)[0]


def polar(x: Any) -> Any:
    u, _, vt = NAMES["svd"](x)
    return u @ vt


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", MATRICES)
def test_the_polar_factor_has_its_slope(name: str, mode: str) -> None:
    a = MATRICES[name]
    np.testing.assert_allclose(
        jacobian_of(polar, a, mode), slopes(polar_factor, a), atol=1e-12)


@pytest.mark.parametrize("name", MATRICES)
def test_what_is_made_of_the_polar_factor_and_of_all_values_alike(name: str) -> None:
    """h(U V^T) + sum(f(s)): both are functions of the matrix, the second as trace(A^T A)."""
    a = MATRICES[name]
    weights = np.arange(1.0, 1.0 + a.size).reshape(a.shape)

    def f(x: Any) -> Any:
        u, s, vt = NAMES["svd"](x)
        return NAMES["sum"](u @ vt * weights) + NAMES["sum"](s * s)

    expected = np.einsum("ijkl,ij->kl", slopes(polar_factor, a), weights) + 2.0 * a
    np.testing.assert_allclose(jacobian_of(f, a, "reverse"), expected, atol=1e-12)


def test_second_derivatives_of_the_polar_factor() -> None:
    """At I the factor of [[p, a], [b, q]] turns by atan((b - a)/(p + q))."""
    program = loads("e = svd(A); y = sum(e[0] @ e[2] * [[1, 2], [3, 5]])")
    found = np.array(program.hessian("y", at={"A": np.eye(2)})["A"]["A"])
    expected = np.zeros((2, 2, 2, 2))
    for i, j in itertools.product(((0, 1), (1, 0)), repeat=2):
        expected[(*i, *j)] = -1.5 if i == j else 1.5
    for i, k in itertools.product(((0, 1), (1, 0)), ((0, 0), (1, 1))):
        expected[(*i, *k)] = expected[(*k, *i)] = 0.25 if i == (0, 1) else -0.25
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_a_function_of_vectors_and_values_is_right_or_nan(name: str, power: float) -> None:
    """U s V^T is the matrix itself; which way the vectors turn, cotangents do not say."""
    a = MATRICES[name]

    def whole(x: Any) -> Any:
        u, s, vt = NAMES["svd"](x)
        return (u * s ** power) @ (vt if power == 1.0 else NAMES["transpose"](u))

    def itself(x: Any) -> Any:
        return x if power == 1.0 else x @ x.T

    found, expected = jacobian_of(whole, a, "reverse"), slopes(itself, a)
    right = np.isnan(found) | (np.abs(found - expected) < 1e-12)
    assert right.all()
    if name in ("none", "tall", "wide"):
        assert name != "none" or not np.isnan(found).any()


@pytest.mark.parametrize("name", ["one", "two", "distinct"])
def test_a_function_of_eigenvectors_and_eigenvalues_is_right_or_nan(name: str) -> None:
    q = orthogonal(3)
    a = q @ np.diag({"one": [2.0] * 3, "two": [2.0, 2.0, 5.0], "distinct": [1.0, 2.0, 5.0]}[name]
                    ) @ q.T
    a = (a + a.T) / 2

    def f(x: Any) -> Any:
        w, v = NAMES["eigh"](x)
        return (v * w * w) @ NAMES["transpose"](v)

    def square(x: Any) -> Any:
        lower = np.tril(x) + np.tril(x, -1).T
        return lower @ lower

    found, expected = jacobian_of(f, a, "reverse"), slopes(square, a)
    assert (np.isnan(found) | (np.abs(found - expected) < 1e-11)).all()
    assert np.isnan(found).any() == (name != "distinct")


@pytest.mark.parametrize("text", [
    "sum(pinv(A))", "sum(lstsq(A, B))", "sum((e[0]*e[1]) @ e[2] * [[1, 2], [3, 5]])"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_has_no_slope_is_nan_with_a_note(text: str, mode: str) -> None:
    singular = "(A" in text
    a = np.array([[1.0, 2.0], [2.0, 4.0]]) if singular else np.eye(2)
    ask = Question(loads(f"e = svd(A)\ny = {text}"), wrt=["A"], mode=mode,
                   at={"A": a, **({"B": [1.0, 2.0]} if "B" in text else {})})
    (source,) = grad(ask)["results"][0]["sources"]
    if singular or mode == "reverse":
        assert np.isnan(source["gradient"]).all()
    assert source["notes"]


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 3), (2, 2, 2)])
def test_pseudo_inverses_of_stacks_lose_only_what_is_deficient(shape: tuple[int, ...]) -> None:
    full = random.normal(size=shape)
    deficient = full.copy()
    deficient[..., 1] = deficient[..., 0] * 2.0
    if shape[-1] == 3:
        deficient[..., 1, :] = deficient[..., 0, :]
    both = np.stack([full, deficient])
    found = loads("sum(pinv(A))").gradient(at={"A": both})["A"]
    np.testing.assert_allclose(found[0], loads("sum(pinv(A))").gradient(at={"A": full})["A"],
                               rtol=1e-12)
    assert np.isnan(found[1]).all()
