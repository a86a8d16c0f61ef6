"""NumPy's functions and Python's operators on tensors.

The values are NumPy's own, derivatives those of differences of NumPy's own functions, and nothing
leaves the tape unasked.
"""

from __future__ import annotations

import copy
import math
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import folded

from gradcli import GradcliError, GradientTape, Tensor, Variable, constant, ops
from gradcli.ops.kinds import NAMES

_draw = np.random.default_rng(0)
_v, _w = _draw.uniform(0.2, 0.8, 4), _draw.uniform(0.2, 0.8, 4)
_A = _draw.uniform(0.2, 0.9, (3, 3)) + 2 * np.eye(3)
ARRAYS: dict[str, Any] = {
    "v": _v, "w": _w, "A": _A, "B": _draw.uniform(0.1, 0.9, (2, 3)), "S": _A @ _A.T,
    "T3": _draw.uniform(0.1, 0.9, (2, 3, 4)), "v3": _draw.uniform(0.2, 0.8, 3),
    "r4": _draw.uniform(0, 1, 4), "M45": _draw.uniform(0, 1, (4, 5)),
    "T342": _draw.uniform(0, 1, (3, 4, 2)),
}
OTHERS: dict[str, Any] = {"np": np, "I": np.array([2, 0, 1])}

# Calls whose answers on tensors are NumPy's on arrays.
CALLS = [
    "np.all(B > 0.5)", "np.all(B > 0.5, axis=0)", "np.all(B > 0.5, 0)",
    "np.any(B > 0.5, axis=1, keepdims=True)", "np.allclose(v, w)", "np.allclose(v, w, atol=10)",
    "np.amax(B)", "np.amax(B, 0)", "np.amax(B, axis=1, keepdims=True)", "np.amin(B, axis=(0, 1))",
    "np.max(B)", "np.max(B, 0)", "np.max(B, axis=1, keepdims=True)", "np.min(B, 1)", "np.argmax(B)",
    "np.argmax(B, 1)", "np.argmax(B, axis=0)", "np.argmin(B, 1)", "np.argsort(B)",
    "np.argsort(B, 0)", "np.argsort(B, axis=None)", 'np.argsort(v, kind="stable")',
    "np.argwhere(B > 0.5)", "np.atleast_1d(v[0])", "np.atleast_1d(v, w)", "np.atleast_2d(v)",
    "np.average(B)", "np.average(B, axis=0)", "np.broadcast_to(v, (2, 4))", "np.clip(v, 0.3, 0.5)",
    "np.clip(v, a_min=0.3, a_max=0.5)", "np.clip(v, min=0.3, max=0.5)", "np.clip(v, 0.3, None)",
    "np.clip(v, None, 0.5)", "np.clip(v, w, 0.9)", "np.clip(0.5, v, 0.9)", "np.concat([v, w])",
    "np.concatenate([B, B], axis=1)", "np.concatenate([B, B], 1)",
    "np.concatenate([B, B], axis=None)", "np.concatenate((v, np.ones(2)))", "np.convolve(v, w)",
    'np.convolve(v, w, mode="same")', 'np.convolve(v, w, "valid")', "np.count_nonzero(B > 0.5)",
    "np.count_nonzero(B > 0.5, axis=0)", "np.cross(v3, v3*[1, 2, 3])", "np.cumprod(B)",
    "np.cumprod(B, axis=1)", "np.cumsum(B)", "np.cumsum(B, 0)", "np.cumsum(B, axis=-1)",
    "np.cumsum(v)", "np.cumulative_sum(v)", "np.cumulative_prod(B, axis=0)", "np.diag(A)",
    "np.diag(v)", "np.diag(A, 1)", "np.diag(A, k=-1)", "np.diagonal(A)", "np.diagonal(A, 1)",
    "np.diagonal(T3, 0, 1, 2)", "np.diagonal(T3)", "np.diff(v)", "np.diff(v, 2)",
    "np.diff(B, axis=0)", "np.dot(v, w)", "np.dot(A, v3)", "np.dot(A, A)", "np.dot(2.0, v)",
    "np.dot(T3, r4)", "np.dot(T3, M45)", "np.dot(T3, T342)", 'np.einsum("ij,j->i", A, v3)',
    'np.einsum("ij->ji", B)', 'np.einsum("ij,jk->ik", B, A, optimize=True)',
    "np.expand_dims(v, 0)", "np.expand_dims(v, axis=-1)", "np.expand_dims(v, axis=(0, 2))",
    "np.fix(v*10)", "np.flip(B)", "np.flip(B, 0)", "np.flip(B, axis=(0, 1))",
    "np.full_like(B, 3.0)", "np.geomspace(v[0], w[0])", "np.geomspace(v[0], w[0], num=5)",
    "np.geomspace(v[0], w[0], 5)", "np.histogram(v)", "np.histogram(v, bins=4)",
    "np.histogram(v, 4, (0, 1))", "np.inner(v, w)", "np.inner(B, A)", "np.inner(v, 2.0)",
    "np.isclose(v, w)", "np.isclose(v, w, 0.5, 0.5)", "np.kron(B, A)", "np.linspace(v[0], w[0])",
    "np.linspace(v[0], w[0], 7)", "np.linspace(v[0], w[0], num=7)", "np.linspace(v, w, 7)",
    "np.logspace(v[0], w[0], 7)", "np.logspace(v[0], w[0], 7, base=2.0)", "np.matrix_transpose(B)",
    "np.mean(B)", "np.mean(B, 0)", "np.mean(B, axis=1, keepdims=True)", "np.median(B)",
    "np.median(B, axis=1)", "np.median(B, 1)", "np.median(B, axis=1, keepdims=True)",
    "np.meshgrid(v, v3)", 'np.meshgrid(v, v3, indexing="ij")', "np.moveaxis(T3, 0, 2)",
    "np.moveaxis(T3, source=0, destination=-1)", "np.moveaxis(T3, [0, 1], [1, 2])",
    "np.nan_to_num(v)", "np.nan_to_num(v, nan=3.0)", "np.nonzero(B > 0.5)", "np.ones_like(B)",
    "np.zeros_like(B)", "np.outer(v, w)", "np.outer(B, v)", "np.pad(v, 1)", "np.pad(v, (1, 2))",
    "np.pad(B, ((1, 0), (0, 2)))", 'np.pad(v, 1, mode="reflect")',
    'np.pad(v, 1, "constant", constant_values=3.0)', 'np.pad(v, 1, "edge")', "np.percentile(v, 30)",
    "np.percentile(v, [30, 40])", "np.percentile(B, 30, axis=1)", "np.quantile(v, 0.3)",
    "np.quantile(B, 0.3, axis=0, keepdims=True)", "np.quantile(B, 0.3, 0)",
    "np.permute_dims(T3, (2, 0, 1))", "np.prod(B)", "np.prod(B, 1)",
    "np.prod(B, axis=(0, 1), keepdims=True)", "np.ravel(B)", "np.repeat(v, 2)", "np.repeat(B, 2)",
    "np.repeat(B, 2, axis=0)", "np.repeat(B, 2, 1)", "np.repeat(v, [1, 2, 0, 1])",
    "np.reshape(B, (3, 2))", "np.reshape(B, -1)", "np.reshape(B, shape=(3, 2))", "np.roll(v, 1)",
    "np.roll(B, 1)", "np.roll(B, 1, axis=0)", "np.roll(B, 1, 1)", "np.roll(B, (1, 1), axis=(0, 1))",
    "np.round(v*10)", "np.round(v*10, decimals=0)", "np.searchsorted(np.sort(v), 0.5)",
    'np.searchsorted(np.sort(v), w, side="right")', "np.select([v > 0.5], [v], w)", "np.shape(B)",
    "np.size(B)", "np.size(B, 0)", "np.ndim(B)", "np.sinc(v)", "np.sort(v)", "np.sort(B, 0)",
    "np.sort(B, axis=None)", 'np.sort(B, axis=-1, kind="stable")', "np.split(v, 2)",
    "np.split(v, [1, 3])", "np.split(B, 3, axis=1)", "np.split(B, 3, 1)", "np.squeeze(v[None])",
    "np.squeeze(v[None], axis=0)", "np.squeeze(v[None], 0)", "np.stack([v, w])",
    "np.stack([v, w], 1)", "np.stack([v, w], axis=-1)", "np.stack((v, np.ones(4)))", "np.std(B)",
    "np.std(B, 0)", "np.std(B, axis=1, keepdims=True)", "np.var(B)", "np.var(B, 0)", "np.sum(B)",
    "np.sum(B, 0)", "np.sum(B, axis=(0, 1))", "np.sum(B, axis=1, keepdims=True)",
    "np.swapaxes(T3, 0, 2)", "np.take(v, I)", "np.take(B, I)", "np.take(B, I, axis=1)",
    "np.take(B, I, 1)", "np.take(B, 1, axis=1)",
    "np.take_along_axis(B, np.argsort(B, axis=1), axis=1)", "np.tensordot(A, A)",
    "np.tensordot(A, v3, 1)", "np.tensordot(A, v3, axes=1)", "np.tensordot(A, A, axes=([0], [1]))",
    "np.tile(v, 2)", "np.tile(v, (2, 1))", "np.tile(B, (2, 2))", "np.trace(A)", "np.trace(A, 1)",
    "np.trace(T3)", "np.transpose(B)", "np.transpose(T3, (2, 0, 1))",
    "np.transpose(T3, axes=(2, 0, 1))", "np.tril(A)", "np.tril(A, 1)", "np.triu(A, k=-1)",
    "np.unique(v)", "np.unstack(B)", "np.unstack(B, axis=1)", "np.vdot(v, w)", "np.vdot(A, A)",
    "np.where(v > 0.5, v, w)", "np.where(v > 0.5, v, 0)", "np.where(B > 0.5)", "np.bincount(I)",
    "np.linalg.cholesky(S)", "np.linalg.cond(A)", "np.linalg.cond(A, 1)",
    "np.linalg.cross(v3, v3*2)", "np.linalg.det(A)", "np.linalg.diagonal(A)",
    "np.linalg.diagonal(A, offset=1)", "np.linalg.eigh(S)", "np.linalg.eigvalsh(S)",
    "np.linalg.inv(A)", "np.linalg.lstsq(B.T, v3)", "np.linalg.matmul(A, A)",
    "np.linalg.matrix_norm(A)", "np.linalg.matrix_norm(A, ord=1)",
    'np.linalg.matrix_norm(A, ord="nuc")', "np.linalg.matrix_power(A, 3)",
    "np.linalg.matrix_rank(A)", "np.linalg.matrix_transpose(B)", "np.linalg.multi_dot([A, A, v3])",
    "np.linalg.norm(v)", "np.linalg.norm(A)", "np.linalg.norm(A, 2)", "np.linalg.norm(A, 1)",
    "np.linalg.norm(A, np.inf)", 'np.linalg.norm(A, "fro")', 'np.linalg.norm(A, "nuc")',
    "np.linalg.norm(v, 1)", "np.linalg.norm(v, 3)", "np.linalg.norm(v, np.inf)",
    "np.linalg.norm(B, axis=1)", "np.linalg.norm(B, 1, axis=1)",
    "np.linalg.norm(B, 2, axis=0, keepdims=True)", "np.linalg.norm(B, axis=(0, 1))",
    "np.linalg.norm(B, 1, axis=(0, 1))", "np.linalg.norm(T3)", "np.linalg.outer(v, w)",
    "np.linalg.pinv(B)", "np.linalg.pinv(B, rcond=1e-3)", "np.linalg.pinv(B, 1e-3)",
    "np.linalg.qr(A)", "np.linalg.qr(B.T)", "np.linalg.slogdet(A)", "np.linalg.solve(A, v3)",
    "np.linalg.solve(A, A)", "np.linalg.solve(A, T3[0])", "np.linalg.svd(B, full_matrices=False)",
    "np.linalg.svd(B, compute_uv=False)", "np.linalg.svd(A)", "np.linalg.svdvals(B)",
    "np.linalg.tensordot(A, v3, axes=1)", "np.linalg.trace(A)", "np.linalg.trace(T3)",
    "np.linalg.vecdot(v, w)", "np.linalg.vector_norm(v)", "np.linalg.vector_norm(A)",
    "np.linalg.vector_norm(A, ord=1)", "np.linalg.vector_norm(A, axis=1, keepdims=True)",
    "np.emath.sqrt(v)", "np.emath.power(v, 2)", "np.copy(v)",
    "np.isscalar(v)", "np.logaddexp.reduce(v)", "np.add.reduce(B)", "np.add.reduce(B, axis=1)",
    "np.add.reduce(B, axis=None)", "np.add.reduce(B, 1)", "np.add.reduce(B, (0, 1))",
    "np.add.reduce(B, axis=1, keepdims=True)", "np.multiply.reduce(v)",
    "np.maximum.reduce(B, axis=1)", "np.minimum.reduce(B)", "np.logical_and.reduce(B > 0.3)",
    "np.add.accumulate(v)", "np.add.accumulate(B, axis=1)", "np.add.accumulate(B, 1)",
    "np.multiply.accumulate(v)", "np.multiply.outer(v, w)", "np.multiply.outer(B, v)",
    "np.add.outer(v, w)", "np.subtract.outer(v, w)", "np.matvec(A, v3)", "np.vecdot(v, w)",
    "np.matmul(A, v3)", "np.matmul(T3, M45)", "np.float_power(v, 2)", "np.ldexp(v, 3)",
    "np.real(v)", "np.imag(v)", "np.angle(v)", "np.conj(v)", "np.hypot(v, 3)", "np.emath.log(v)",
]

# Calls that are refused, with the code: what an operation has no option for, or no rule.
REFUSED = [
    ("np.max(v, initial=3.0)", "E0208"), ("np.argmax(B, axis=0, keepdims=True)", "E0208"),
    ("np.average(v, weights=w)", "E0208"), ("np.cross(B, B[::-1], axis=1)", "E0208"),
    ("np.cumulative_sum(v, include_initial=True)", "E0208"), ("np.diff(v, prepend=0.0)", "E0208"),
    ("np.einsum(A, [0, 1], v3, [1])", "E0302"), ("np.full_like(B, 3.0, shape=(2,))", "E0208"),
    ("np.linspace(v[0], w[0], num=7, endpoint=False)", "E0208"),
    ("np.mean(B, dtype=float)", "E0208"), ("np.mean(B, where=B > 0.5)", "E0208"),
    ("np.meshgrid(v, v3, sparse=True)", "E0208"), ("np.nan_to_num(v, copy=False)", "E0208"),
    ("np.zeros_like(B, dtype=int)", "E0208"), ("np.zeros_like(B, shape=(2,))", "E0208"),
    ('np.quantile(v, 0.3, method="nearest")', "E0208"), ('np.ravel(B, order="F")', "E0208"),
    ('np.reshape(B, (3, 2), order="F")', "E0208"), ("np.round(v*10, 1)", "E0208"),
    ("np.std(v, ddof=1)", "E0208"), ("np.var(B, ddof=1)", "E0208"),
    ("np.sum(B, where=B > 0.5)", "E0208"), ("np.sum(B, initial=2.0)", "E0208"),
    ("np.sum(B, dtype=np.float32)", "E0208"), ('np.take(v, [0, 9], mode="clip")', "E0208"),
    ("np.unique(v, return_counts=True)", "E0208"), ("np.linalg.cholesky(S, upper=True)", "E0208"),
    ('np.linalg.eigh(S, "U")', "E0208"), ("np.linalg.norm(v, -1)", "E0404"),
    ("np.linalg.norm(v, 0)", "E0404"), ('np.linalg.qr(B.T, mode="complete")', "E0208"),
    ('np.linalg.qr(B.T, "r")', "E0208"), ("np.linalg.svd(B)", "E0208"),
    ("np.add(v, w, out=np.empty(4))", "E0208"), ("np.add(v, w, dtype=np.float32)", "E0208"),
    ("np.clip(v, 0.3, 0.5, out=np.empty(4))", "E0208"), ("np.sum(B, out=np.empty(()))", "E0208"),
]


def evaluated(call: str, names: dict[str, Any]) -> Any:
    return eval(call, {**OTHERS, **names})


def tensors() -> dict[str, Any]:
    return {name: constant(value) for name, value in ARRAYS.items()}


def off(x: Any) -> Any:
    """Values of tensors in any nesting."""
    if isinstance(x, Tensor):
        return x.numpy()
    return [off(item) for item in x] if isinstance(x, (tuple, list)) else x


def leaves(x: Any) -> list[Any]:
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, (tuple, list)) else [x]


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-14)


@folded
@pytest.mark.parametrize("call", CALLS)
def test_values_are_those_of_numpy(call: str) -> None:
    same(off(evaluated(call, tensors())), evaluated(call, ARRAYS))


def weighted(answer: Any) -> Any:
    """A sum of all elements that are floats, each with a weight of its own."""
    total: Any = 0.0
    for k, part in enumerate(leaves(answer)):
        value = part.value if isinstance(part, Tensor) else np.asarray(part)
        if np.asarray(value).dtype.kind == "f":
            weights = np.cos(np.arange(np.size(value)) + k).reshape(np.shape(value))
            total = total + (ops.sum(part * weights) if isinstance(part, Tensor)
                             else np.sum(part * weights))
    return total


def kinds(answer: Any) -> Any:
    """What several arrays stand in, and what they are called there."""
    if not isinstance(answer, (list, tuple)):
        return "array"
    return ("list" if isinstance(answer, list) else getattr(answer, "_fields", "tuple"),
            [kinds(part) for part in answer])


@folded
@pytest.mark.parametrize("call", CALLS)
def test_several_arrays_stand_in_what_numpy_gives(call: str) -> None:
    assert kinds(evaluated(call, tensors())) == kinds(evaluated(call, ARRAYS))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 2, 2)])
@pytest.mark.parametrize("name", ["stack", "concatenate", "hstack", "vstack", "column_stack"])
def test_one_array_is_its_rows(name: str, shape: tuple[int, ...]) -> None:
    a = np.arange(float(np.prod(shape))).reshape(shape)
    try:
        expected = getattr(np, name)(a)
    except ValueError:
        return
    same(off(getattr(np, name)(constant(a))), expected)


def test_indices_of_what_is_not_zero() -> None:
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    x = constant(a)
    with GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x[np.nonzero(x > 1)])
    assert float(y) == a[np.nonzero(a > 1)].sum() == 9.0
    g = tape.gradient(y, x)
    assert g is not None
    np.testing.assert_array_equal(g.numpy(), [[0.0, 1.0], [1.0, 1.0]])
    same(off(x[np.where(x > 2)]), a[np.where(a > 2)])
    same(off(np.linalg.eigh(constant(a @ a.T)).eigenvalues), np.linalg.eigh(a @ a.T).eigenvalues)


@folded
@pytest.mark.parametrize("call", CALLS)
def test_derivatives_are_those_of_numpy_s_differences(call: str) -> None:
    names = tensors()
    with GradientTape() as tape:
        tape.watch(names)
        out = weighted(evaluated(call, names))
    draw = np.random.default_rng(1)
    directions = {n: draw.normal(size=a.shape) for n, a in ARRAYS.items()}
    directions["S"] = directions["S"] + directions["S"].T  # its decompositions read one half
    h = 1e-5

    def moved(step: float) -> float:
        return float(weighted(evaluated(
            call, {n: a + step * directions[n] for n, a in ARRAYS.items()})))

    expected = (moved(h) - moved(-h)) / (2 * h)
    if not isinstance(out, Tensor):
        assert expected == 0.0
        return
    if "unique" in call:
        with pytest.raises(GradcliError, match="has no gradient"):
            tape.gradient(out, names)
        return
    found = tape.gradient(out, names)
    slope = sum(float(np.sum(g.numpy() * directions[n])) for n, g in found.items()
                if g is not None)
    assert slope == pytest.approx(expected, rel=1e-6, abs=1e-7)
    if expected:
        assert any(g is not None for g in found.values())


@folded
@pytest.mark.parametrize(("call", "code"), REFUSED)
def test_what_an_operation_cannot_do_is_refused(call: str, code: str) -> None:
    evaluated(call, ARRAYS)  # NumPy takes it
    with pytest.raises(GradcliError) as raised:
        evaluated(call, tensors())
    assert raised.value.code == code
    assert raised.value.help


def functions(module: Any) -> list[str]:
    return sorted({
        getattr(module, name).__name__ for name in dir(module)
        if callable(getattr(module, name)) and not isinstance(getattr(module, name), type)
        and hasattr(getattr(module, name), "_implementation")
        and getattr(module, name).__name__ in NAMES})


IN_PLACE = {"put"}  # tested below


@pytest.mark.parametrize(("prefix", "module"), [("np.", np), ("np.linalg.", np.linalg)])
def test_every_function_of_numpy_that_the_table_names_is_tested(prefix: str, module: Any) -> None:
    tested = {call.split("(")[0] for call in CALLS}
    names = functions(module)
    assert len(names) > 20
    assert {prefix + name for name in names if name not in IN_PLACE} - tested == set()


UFUNCS = sorted({f.__name__ for f in vars(np).values()
                 if isinstance(f, np.ufunc) and f.__name__ in NAMES and f.signature is None})


@folded
@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 3)])
def test_every_ufunc_that_the_table_names(name: str, shape: tuple[int, ...]) -> None:
    f, op = getattr(np, name), NAMES[name]
    draw = np.random.default_rng(7)
    low_high = op.samples or ((0.3, 2.0),) * len(op.parameters)
    points: list[Any] = [np.asarray(draw.uniform(low, high, shape)) for low, high in low_high]
    if name == "ldexp":
        points[1] = np.full(shape, 2)
    xs = [constant(p) for p in points]
    with GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
        assert isinstance(y, Tensor)
        mixed = f(xs[0], *points[1:])
        total = ops.sum(y) if y.dtype == "float64" else y
    same(y.numpy(), f(*points))
    same(mixed.numpy(), f(*points))
    if len(xs) > 1:
        same(f(points[0], *xs[1:]).numpy(), f(*points))
        same(f(points[0].tolist(), *xs[1:]).numpy(), f(*points))
    found = tape.gradient(total, xs)
    for k, (g, point) in enumerate(zip(found, points, strict=True)):
        if point.dtype.kind != "f" or y.dtype != "float64":
            assert g is None
            continue
        h = 1e-6
        above, below = [[p + h * s if n == k else p for n, p in enumerate(points)] for s in (1, -1)]
        expected = (f(*above) - f(*below)) / (2 * h)
        if g is None:
            np.testing.assert_array_equal(expected, 0.0)
        else:
            np.testing.assert_allclose(g.numpy(), expected, rtol=1e-7, atol=1e-7)


def test_nothing_is_written_into_an_array() -> None:
    array, x = np.arange(2.0), constant([1.0, 2.0])
    iadd: Any = operator.iadd
    for change in (lambda: iadd(array, x), lambda: np.add(x, x, out=array),
                   lambda: np.put(array, x, [5.0, 6.0]), lambda: np.copyto(array, x),
                   lambda: np.add.at(array, constant([0, 1]), x),
                   lambda: np.sum(x, out=np.empty(()))):
        with pytest.raises(GradcliError) as raised:
            change()
        assert raised.value.code in ("E0208", "E0209")
    np.testing.assert_array_equal(array, [0.0, 1.0])


def test_unknown_functions_name_the_way_off_the_tape() -> None:
    for call in ("np.may_share_memory(v, w)", "np.apply_along_axis(np.sum, 0, B)", "np.frexp(v)",
                 "np.array2string(v)", "np.add.reduceat(v, [0, 2])"):
        with pytest.raises(GradcliError) as raised:
            evaluated(call, tensors())
        assert raised.value.code == "E0209"
        assert ".numpy()" in str(raised.value.help)
        evaluated(call, {name: x.numpy() for name, x in tensors().items()})


# --- operators ------------------------------------------------------------------------------------

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
             operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge, operator.eq,
             operator.ne]


@folded
@pytest.mark.parametrize("sign", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", [constant, Variable])
def test_operators_with_arrays_numbers_and_lists_on_either_side(sign: Any, kind: Any) -> None:
    a, b = np.array([1.5, 2.0, 0.5]), np.array([2.0, 2.0, 3.0])
    expected = sign(a, b)
    for left in (kind(a), a, a.tolist(), tuple(a)):
        for right in (kind(b), b, b.tolist(), tuple(b)):
            if isinstance(left, Tensor) or isinstance(right, Tensor):
                found = sign(left, right)
                assert isinstance(found, Tensor)
                np.testing.assert_array_equal(found.numpy(), expected)
    for number in (2.0, 2, np.float64(2.0), np.float32(2.0), np.int64(2), np.int32(2)):
        np.testing.assert_array_equal(sign(kind(a), number).numpy(), sign(a, float(number)))
        np.testing.assert_array_equal(sign(number, kind(a)).numpy(), sign(float(number), a))
        found = sign(kind(1.5), number)
        assert isinstance(found, Tensor)
        assert found.shape == ()
        assert found.numpy() == sign(1.5, float(number))


def test_matrix_products_on_either_side() -> None:
    A, v = ARRAYS["A"], ARRAYS["v3"]
    lefts: list[Any] = [constant(A), A, A.tolist()]
    rights: list[Any] = [constant(v), v, v.tolist()]
    for left in lefts:
        for right in rights:
            if isinstance(left, Tensor) or isinstance(right, Tensor):
                np.testing.assert_allclose((left @ right).numpy(), A @ v, rtol=1e-15)


def test_types_do_not_change_beside_plain_numbers() -> None:
    narrow = constant([1.0, 2.0], dtype="float32")
    others: list[Any] = [2.5, 2, np.float64(2.5), np.ones(2), [1.0, 2.0]]
    for other in others:
        assert (narrow * other).dtype == "float32"
        assert (other * narrow).dtype == "float32"
    assert (constant([1.0]) * np.ones(1, "float32")).dtype == "float64"
    assert (constant([1, 2]) * 2).dtype == "int64"
    with pytest.raises(GradcliError, match="types are never cast silently"):
        narrow * constant([1.0, 2.0])


@pytest.mark.parametrize(("sign", "name"), [
    (operator.and_, "logical_and"), (operator.or_, "logical_or"), (operator.xor, "logical_xor")])
def test_truth_values_are_joined_by_signs(sign: Any, name: str) -> None:
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    expected = getattr(np, name)(a, b)
    for left in (constant(a), a):
        for right in (constant(b), b):
            np.testing.assert_array_equal(np.asarray(sign(left, right)), expected)
    np.testing.assert_array_equal((~constant(a)).numpy(), ~a)
    np.testing.assert_array_equal(np.asarray(np.invert(constant(a))), ~a)
    np.testing.assert_array_equal(sign(constant(True), False).numpy(), sign(True, False))
    np.testing.assert_array_equal(sign(False, constant(True)).numpy(), sign(True, False))
    for wrong in (constant([6, 3]), constant([1.0, 0.0]), np.array([1, 2])):
        with pytest.raises(GradcliError) as raised:
            sign(constant([True, False]), wrong)
        assert raised.value.code == "E0302"
    with pytest.raises(GradcliError, match="truth values"):
        ~constant([1, 2])


@pytest.mark.parametrize("key", [
    0, -1, slice(None), slice(1, None), slice(None, None, -1), (0, 1), (slice(None), 0),
    (Ellipsis, 1), None, (None, 0), (0, None), [1, 0], [[0, 1], [1, 1]], np.array([1, 1, 0]),
    (slice(None), [2, 0]), ([0, 1], [1, 2]), np.int64(1), (np.int32(0), slice(0, 2)),
    [True, False], np.array([[True, False, True], [False, True, False]]),
    (slice(None), [True, False, True]), Ellipsis, (slice(0, 0),), 1.0,
])
def test_indexing(key: Any) -> None:
    array = np.arange(6.0).reshape(2, 3)
    at = int(key) if isinstance(key, float) else key
    x = constant(array)
    with GradientTape() as tape:
        tape.watch(x)
        y = x[key]
        z = ops.sum(y * y)
    np.testing.assert_array_equal(y.numpy(), array[at])
    expected = np.zeros((2, 3))
    np.add.at(expected, at, 2 * array[at])
    np.testing.assert_array_equal(tape.gradient(z, x).numpy(), expected)


def test_indexing_by_tensors_and_arrays_by_tensors() -> None:
    x = constant([10.0, 20.0, 30.0])
    np.testing.assert_array_equal(x[constant([2, 0])].numpy(), [30.0, 10.0])
    np.testing.assert_array_equal(x[constant([True, False, True])].numpy(), [10.0, 30.0])
    np.testing.assert_array_equal(x[x > 15.0].numpy(), [20.0, 30.0])
    np.testing.assert_array_equal(np.arange(3.0)[constant([2, 0])], [2.0, 0.0])
    assert [1, 2, 3][constant(1)] == 2
    assert list(range(5))[constant(1):constant(3)] == [1, 2]


@pytest.mark.parametrize(("key", "code"), [
    (5, "E0305"), (-4, "E0305"), ([0, 3], "E0305"), ((0, 0), "E0305"), ("a", "E0303"),
    (1.5, "E0303"), ([True, False], "E0305")])
def test_wrong_indices(key: Any, code: str) -> None:
    with pytest.raises(GradcliError) as raised:
        constant([1.0, 2.0, 3.0])[key]
    assert raised.value.code == code


def test_iteration_length_and_membership() -> None:
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    with GradientTape() as tape:
        tape.watch(x)
        total = sum(a * b for a, b in x)
    np.testing.assert_array_equal(tape.gradient(total, x).numpy(), [[2.0, 1.0], [4.0, 3.0]])
    assert len(x) == 2
    a, b = x
    assert a.numpy().tolist() == [1.0, 2.0]
    assert [float(t) for t in b] == [3.0, 4.0]
    assert 2.0 in constant([1.0, 2.0])
    assert 5.0 not in constant([1.0, 2.0])
    assert [t.numpy() for t in reversed(constant([1.0, 2.0]))] == [2.0, 1.0]
    for f in (len, list):
        with pytest.raises(TypeError, match="scalar"):
            f(constant(1.0))


# --- off the tape ---------------------------------------------------------------------------------

def test_numpy_gives_a_copy_of_numpy_s_own_kinds() -> None:
    x = constant([1.0, 2.0])
    array = x.numpy()
    array[0] = 7.0
    assert x.numpy().tolist() == [1.0, 2.0]
    np.asarray(x)[0] = 7.0
    np.array(x)[0] = 7.0
    assert x.numpy().tolist() == [1.0, 2.0]
    assert type(constant(1.5).numpy()) is np.float64
    assert type(constant(2).numpy()) is np.int64
    assert type(constant(1.5, dtype="float32").numpy()) is np.float32
    assert type(constant(True).numpy()) is np.bool_
    assert constant([1, 2]).numpy().dtype == np.int64
    assert np.asarray(x, dtype="float32").dtype == np.float32


def test_numbers() -> None:
    for x in (constant(2.0), constant([2.0]), constant([[2.0]]), constant(2),
              constant(2.0, dtype="float32"), Variable(2.0)):
        assert float(x) == 2.0
        assert int(x) == 2
        assert bool(x)
        assert x.item() == 2.0
        assert type(float(x)) is float
        assert type(int(x)) is int
        assert type(bool(x)) is bool
    assert int(constant(-2.7)) == -2
    assert not constant(0.0)
    assert math.sin(constant(0.5)) == math.sin(0.5)
    assert operator.index(constant(3)) == 3
    assert f"{constant(1.23456):.2f} {constant(0.5, dtype='float32'):.1f}" == "1.23 0.5"
    assert f"{constant(1.5)}" == str(constant(1.5)) == "Tensor(1.5)"
    with pytest.raises(TypeError, match="integer"):
        operator.index(constant(1.5))


@pytest.mark.parametrize(("exit", "x", "code"), [
    (float, [1.0, 2.0], "E0301"), (int, [1.0, 2.0], "E0301"), (bool, [1.0, 2.0], "E0311"),
    (float, [], "E0301"), (bool, [], "E0311"), (int, math.nan, "E0404"), (int, math.inf, "E0404"),
    (lambda x: x.item(), [1.0, 2.0], "E0301")])
def test_numbers_that_a_tensor_is_not(exit: Any, x: Any, code: str) -> None:
    with pytest.raises(GradcliError) as raised:
        exit(constant(x))
    assert raised.value.code == code
    assert raised.value.help


def test_conditions_and_ordering() -> None:
    small, large = constant(1.0), constant(2.0)
    assert max([small, large]) is large
    assert sorted([large, small])[0] is small
    assert small < large
    assert not small > large
    assert small != large
    assert {small: 1}[small] == 1  # by identity
    with pytest.raises(GradcliError, match="one truth value"):
        assert constant([1.0, 2.0]) > 1.0


def test_leaving_the_tape_cuts_the_path() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape(persistent=True) as tape:
        kept = x * np.square(x)
        cut = x * x.numpy() ** 2
        other = ops.sum(x) * float(x[0]) ** 2
    np.testing.assert_array_equal(tape.gradient(kept, x).numpy(), [3.0, 12.0])
    np.testing.assert_array_equal(tape.gradient(cut, x).numpy(), [1.0, 4.0])
    np.testing.assert_array_equal(tape.gradient(other, x).numpy(), [1.0, 1.0])


def test_copies_and_pickles() -> None:
    x = constant([1.0, 2.0])
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
    w = Variable([3.0, 4.0], name="w", trainable=True)
    for twin in (copy.copy(w), copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        assert isinstance(twin, Variable)
        assert (twin.name, twin.trainable, twin.dtype) == ("w", True, "float64")
        # Another variable: with one identity each would have the gradient of both.
        with GradientTape() as tape:
            y = ops.sum(w * twin * twin)
        dw, dtwin = tape.gradient(y, [w, twin])
        np.testing.assert_array_equal(dw.numpy(), [9.0, 16.0])
        np.testing.assert_array_equal(dtwin.numpy(), [18.0, 32.0])
        twin.assign([0.0, 0.0])
        assert w.numpy().tolist() == [3.0, 4.0]
    back = pickle.loads(pickle.dumps(x))
    with GradientTape() as tape:
        tape.watch(x)
        y = x * back
    assert tape.gradient(y, back) is None
    frozen = pickle.loads(pickle.dumps(Variable(1.0, trainable=False, dtype="float32")))
    assert (frozen.trainable, frozen.dtype) == (False, "float32")


def test_a_question_of_numpy_about_a_variable_reads_it() -> None:
    """As any operation does: what a tape watches does not depend on who asks."""
    v = Variable([1.0, 2.0])
    for asked in (np.shape, np.ndim, np.size):
        with GradientTape() as tape:
            asked(v)
        assert tape.watched_variables() == (v,)
