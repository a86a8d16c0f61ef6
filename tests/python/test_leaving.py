"""No tensor of a tape becomes a bare number unseen: it is recorded, or an error says what to write.

NumPy's functions that take sequences are called with lists and tuples of tensors, found by NumPy's
own signatures; the reference for what is recorded is the central difference of the same call on
plain numbers.
"""

from __future__ import annotations

import inspect
import math
import statistics
import warnings
from collections.abc import Callable
from math import sin
from typing import Any

import numpy as np
import pytest
from conftest import folded

from gradcli import ForwardAccumulator, GradcliError, GradientTape, Tensor, Variable, constant, ops

H = 1e-6

# Ways out that say what they do, and the slope that is then that of the other factor alone.
EXPLICIT: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.numpy(), "item": lambda x: x.item(), "float": lambda x: float(x),
    "int": lambda x: int(x), "in a list": lambda x: np.sum(np.array([x.numpy(), 1.0])),
    "mapped": lambda x: sum(map(float, [x])), "text": lambda x: float(f"{x.item():.1f}"),
    "guard": lambda x: 0.0 if math.isnan(x) or not math.isfinite(x) else 2.0}

# What stays on the tape: value, and what it is on numbers.
RECORDED: dict[str, Callable[[Any], Any]] = {
    "stack": lambda x: np.sum(np.stack([x, x * x])),
    "concatenate": lambda x: np.sum(np.concatenate([ops.reshape(x, [1]), np.ones(2)])),
    "hstack": lambda x: np.hstack([x, x * 2, 1.0]) @ np.arange(3.0),
    "vstack": lambda x: np.sum(np.vstack([x, x * 3])),
    "column_stack": lambda x: np.sum(np.column_stack([ops.stack([x, x]), np.ones(2)])),
    "append": lambda x: np.sum(np.append([1.0], x)), "objects": lambda x: np.array(
        [x, x * 2], dtype=object).sum(), "sum": lambda x: sum([x, x]),
    "max": lambda x: max(x, x * 2), "sorted": lambda x: sorted([x * 2, x])[0],
    "prod": lambda x: math.prod([x, x]),
    "clip": lambda x: np.array(9.0).clip(0.0, x), "ops": lambda x: ops.sum([x, x * x])}


def _set(x: Any) -> Any:
    array = np.zeros(2)
    array[0] = x
    return array.sum()


def _fill(x: Any) -> Any:
    array = np.zeros(2)
    array.fill(x)
    return array.sum()


def _into(x: Any) -> Any:
    total = np.zeros(())
    total += x
    return total


REFUSED: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: np.array([x * 2, x * 3]), "nested": lambda x: np.array([[x, 1.0], [2.0, x]]),
    "asarray": lambda x: np.asarray((x, x)), "itself": lambda x: np.asarray(x),
    "r_": lambda x: np.r_[x, x], "c_": lambda x: np.c_[x, x],
    "mixed": lambda x: [1.0, x] * np.ones(2), "matmul": lambda x: np.ones(2) @ [x, x],
    "method": lambda x: np.ones(2).dot([x, x]),
    "full": lambda x: np.full(3, x), "arange": lambda x: np.arange(0, x),
    "float64": lambda x: np.float64(x),
    "vectorize": lambda x: np.vectorize(lambda t: t * x)([1.0]),
    "piecewise": lambda x: np.piecewise(1.0, [True], [x]),
    "random": lambda x: np.random.default_rng(0).normal(x), "math.sin": lambda x: math.sin(x),
    "imported": lambda x: sin(x),
    "hypot": lambda x: math.hypot(x, 1.0), "fsum": lambda x: math.fsum([x, x]),
    "fmean": lambda x: statistics.fmean([x, x]), "set": _set, "fill": _fill, "out": _into,
    "sin out": lambda x: np.sin(x, out=np.zeros(())),
    "constant": lambda x: ops.sum(constant([x, x * 2])),
    "constant, nested": lambda x: ops.sum(constant([[1.0, 2.0], (x * 2, 1.0)])),
    "constant, typed": lambda x: ops.sum(constant((x, 1.0), "float32")),
    "variable": lambda x: ops.sum(Variable([x, x * 2]))}


def slope_of(f: Callable[[Any], Any], at: float = 2.0) -> float:
    """The gradient of f(x)*x at a variable."""
    x = Variable(at)
    with GradientTape() as tape:
        y = f(x) * x
    g = tape.gradient(y, x)
    return float(g)


def refusal(f: Callable[[], Any]) -> GradcliError:
    """The error of a call; NumPy hands some on as the cause of its own."""
    with pytest.raises((GradcliError, ValueError)) as raised:
        f()
    found = raised.value
    while not isinstance(found, GradcliError):
        assert isinstance(found, ValueError)
        assert found.__cause__ is not None
        found = found.__cause__     # type: ignore[assignment]
    return found


@pytest.mark.parametrize("name", EXPLICIT)
def test_explicit_ways_out_stay(name: str) -> None:
    assert slope_of(EXPLICIT[name]) == float(EXPLICIT[name](constant(2.0)))


@pytest.mark.parametrize("name", RECORDED)
def test_what_can_be_recorded_is(name: str) -> None:
    f = RECORDED[name]
    plain = [float(getattr(f(constant(at)), "value", 0.0)) * at for at in (2.0 + H, 2.0 - H)]
    assert slope_of(f) == pytest.approx((plain[0] - plain[1]) / (2 * H), rel=1e-8)


@folded
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_recorded_is_refused(name: str) -> None:
    found = refusal(lambda: slope_of(REFUSED[name]))
    assert found.code in ("E0208", "E0209")
    assert found.help


@folded
@pytest.mark.parametrize("name", REFUSED)
def test_off_the_tape_nothing_is_refused(name: str) -> None:
    """Before, after, beside a pause, and where nothing watches."""
    if name in ("out", "sin out"):
        return
    f = REFUSED[name]
    x = Variable(2.0)
    expected = np.asarray(f(constant(2.0)), float).tolist()
    with GradientTape(watch_accessed_variables=False) as tape:
        assert np.asarray(f(constant(2.0)), float).tolist() == expected
        assert np.asarray(f(x), float).tolist() == expected
        tape.watch(x)
        with tape.stop_recording():
            assert np.asarray(f(x), float).tolist() == expected
        y = x * x
    assert np.asarray(f(x), float).tolist() == expected
    assert float(y) == 4.0
    np.testing.assert_array_equal(np.asarray(y), 4.0)


def test_the_advice_is_right() -> None:
    assert refusal(lambda: slope_of(lambda x: math.sin(x))).help == (
        "write gradcli.ops.sin(...), or leave the tape with float(...)")
    assert slope_of(lambda x: ops.sin(x)) == pytest.approx(math.sin(2) + 2 * math.cos(2))
    assert "ops.power" in str(refusal(lambda: slope_of(lambda x: math.pow(x, 2.0))).help)
    assert "gradcli.ops.stack([...])" in str(refusal(
        lambda: slope_of(lambda x: np.sum(np.array([x * 2, x * 3])))).help)
    assert slope_of(lambda x: np.sum(ops.stack([x * 2, x * 3]))) == 20.0


def test_tangents_are_not_lost_either() -> None:
    x = constant(2.0)
    with ForwardAccumulator(x, constant(1.0)):
        assert refusal(lambda: np.mean([x, x])).code == "E0209"
        assert refusal(lambda: math.sin(x)).code == "E0209"
        assert float(x) == 2.0
    assert np.mean([x, x]) == 2.0


def test_numbers_in_tests_and_in_our_own_code_are_no_way_out() -> None:
    x = Variable(2.0)
    with GradientTape():
        y = x * x
        np.testing.assert_allclose(y, 4.0)
        assert ops.where(y > 1.0, y, 0.0).value == 4.0
        assert constant([y.numpy(), y.numpy()]).value.tolist() == [4.0, 4.0]


# NumPy's functions whose first parameter may be a sequence, called with it.
def sequence_functions() -> list[str]:
    names = []
    for where in (np, np.linalg):
        for name in dir(where):
            f = getattr(where, name)
            if name.startswith("_") or isinstance(f, type) or not callable(f):
                continue
            try:
                first = next(iter(inspect.signature(f).parameters.values()))
            except (ValueError, TypeError, StopIteration):
                first = None
            if isinstance(f, np.ufunc) or (first is not None and first.name in (
                    "a", "x", "m", "v", "A", "ary", "arr", "array", "object", "tup", "arrays",
                    "arys", "p", "z", "val", "x1", "data", "ar")):
                names.append(f"{'linalg.' if where is np.linalg else ''}{name}")
    return names


NAMES = sequence_functions()


def called(name: str, items: Any) -> Any:
    f: Any = np
    for part in name.split("."):
        f = getattr(f, part)
    tries = [(items,), (items, items), (items, 1), (items, 0, 1), (items, [0, 1])]
    for arguments in tries:
        try:
            return f(*arguments)
        except GradcliError:
            raise
        except Exception:
            continue  # not a call that this function takes
    return None


def floats(value: Any) -> list[Any]:
    """The leaves of an answer."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in floats(item)]
    return [value]


@folded
@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("name", NAMES)
def test_no_function_of_numpy_takes_a_tensor_out_of_a_sequence(name: str, kind: Any) -> None:
    """The answer is made of tensors, or of no floating point number, or there is an error."""
    x = Variable(0.5)
    with GradientTape(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for items in (kind([x, x * 0.5]), kind([kind([x, 0.1]), kind([0.1, x])])):
            try:
                found = called(name, items)
            except GradcliError:
                continue
            for leaf in floats(found):
                assert isinstance(leaf, Tensor) or leaf is None or np.asarray(
                    leaf).dtype.kind not in "fc", (name, leaf)


def test_there_are_functions_to_try() -> None:
    assert len(NAMES) > 200
    assert {"mean", "sum", "sin", "add", "linalg.det", "stack", "array", "cumsum"} <= {
        *NAMES, "array"}


@pytest.mark.parametrize("dtype", [None, "float64"])
def test_a_constant_of_a_tensor_stays_on_the_tape(dtype: str | None) -> None:
    """As tf.constant, which hands on the tensor that it is given."""
    x = Variable(3.0)
    with GradientTape() as tape, ForwardAccumulator(x, constant(1.0)) as forward:
        y = constant(x * 2, dtype) * x + constant(x, dtype)
    assert float(tape.gradient(y, x)) == 13.0
    assert float(forward.jvp(y)) == 13.0
    assert constant(constant(2.0), "float32").dtype == "float32"
