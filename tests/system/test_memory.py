"""What tapes and entries hold, and let go of: no clock is read, objects and bytes are counted."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Ran
from folders import ROOT

import gradcli
from gradcli import (
    ForwardAccumulator,
    GradientTape,
    Variable,
    constant,
    custom_gradient,
    ops,
    recompute_grad,
)
from gradcli.engine.record import record as records
from gradcli.engine.record.provenance import PythonEvents
from gradcli.engine.record.record import Segment

N = 1000
KB = 8 * N


@pytest.fixture(autouse=True)
def _nothing_is_left_over() -> Iterator[None]:
    yield
    record = records.current()
    assert record.tapes == []
    assert record.accumulators == []
    assert record.readers == []
    assert record.seen == set()


def vector(start: float = 0.1) -> gradcli.Tensor:
    return constant(np.linspace(start, 1.0, N))


def held(f: Callable[..., Any], *xs: Any) -> int:
    """Bytes that a tape holds of f, its sources watched."""
    with GradientTape() as tape:
        tape.watch(list(xs))
        f(*xs)
    return tape.stats()["bytes"]


# --- entries keep what their rule reads -----------------------------------------------------------

@pytest.mark.parametrize(("f", "arrays"), [
    (lambda x: x + x, 0), (lambda x: x - 3.0, 0), (lambda x: -x, 0), (lambda x: x * 2.0, 0),
    (lambda x: x / 2.0, 0), (lambda x: x * x, 1), (lambda x: ops.square(x), 1),
    (lambda x: ops.sum(x), 0), (lambda x: ops.mean(x), 0), (lambda x: x[::-1], 0),
    (lambda x: ops.reshape(x, (10, -1)), 0), (lambda x: ops.broadcast_to(x, (3, N)), 0),
    (lambda x: ops.concat([x, x]), 0), (lambda x: ops.stack([x, x]), 0),
    (lambda x: ops.cumsum(x), 0), (lambda x: ops.transpose(x), 0),
    (lambda x: ops.exp(x), 1), (lambda x: ops.log(x), 1), (lambda x: ops.sqrt(x), 1),
    (lambda x: ops.sin(x), 1), (lambda x: 1.0 / x, 2), (lambda x: ops.stop_gradient(x), 0),
    (lambda x: x + np.ones(N), 0), (lambda x: x * np.ones(N), 1), (lambda x: x @ np.ones(N), 1),
    (lambda x: x + 1.0 + x - 2.0 + 0.5 * x, 0),
])
def test_an_entry_keeps_only_what_its_rule_reads(f: Any, arrays: int) -> None:
    assert held(f, vector()) == arrays * KB


def test_of_a_product_only_what_the_other_side_needs_is_kept() -> None:
    x, y = vector(), vector(0.2)
    assert held(lambda x, y: x * y, x, y) == 2 * KB
    data = np.ones((50, N))
    assert held(lambda w: data @ w, x) == data.nbytes
    weights = np.ones((N, 2))
    h = constant(np.ones((70, N)))
    assert held(lambda h: h @ weights, h) == weights.nbytes
    # The product of two tensors keeps both, and the answer never.
    assert held(lambda h, x: h @ x, h, x) == 70 * KB + KB


def test_a_chain_keeps_each_array_once() -> None:
    """The sine is the answer of one entry and the operand of two."""
    def f(x: Any) -> Any:
        s = ops.sin(x)
        return s * s + s * x

    assert held(f, vector()) == 2 * KB


def test_small_arrays_and_numbers_are_kept_as_they_are() -> None:
    assert held(lambda x: x + 1.0, constant(2.0)) == 0
    # A hollow array would be no smaller than the answer, which no rule reads.
    assert held(lambda x: x * x, constant([1.0, 2.0])) == 2 * 16


def test_a_custom_gradient_keeps_no_array_itself() -> None:
    @custom_gradient
    def f(x: Any) -> Any:
        return x * 2.0, lambda upstream: upstream * 2.0

    assert held(f, vector()) == 0


def test_recomputing_keeps_no_inner_value() -> None:
    def f(x: Any) -> Any:
        for _ in range(20):
            x = ops.sin(x) * x
        return x

    kept, recomputed = held(f, vector()), held(recompute_grad(f), vector())
    assert kept >= 40 * KB
    assert recomputed <= KB
    x = vector()
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x), recompute_grad(f)(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), tape.gradient(z, x).numpy())


def test_what_is_not_on_the_tape_is_not_held() -> None:
    x, other = vector(), vector()
    with GradientTape() as tape:
        tape.watch(x)
        ops.sin(other) * other
        np.sin(np.ones(N))
    assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 1}


def test_stats_counts_entries_bytes_and_sources() -> None:
    x, w = vector(), Variable(np.ones(N))
    tape = GradientTape(persistent=True)
    assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 0}
    with tape:
        tape.watch(x)
        y = x * w
        assert tape.stats() == {"entries": 1, "bytes": 2 * KB, "watched": 2}
        z = ops.exp(y)
        assert tape.stats() == {"entries": 2, "bytes": 3 * KB, "watched": 2}
        tape.reset()
        assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 0}
    assert z.shape == (N,)


def test_changing_an_array_later_changes_no_gradient() -> None:
    data, tangent = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    weights = np.array([1.0, 10.0])
    x = constant(data)
    w = Variable(data)
    with ForwardAccumulator(x, tangent) as accumulator, GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * data * ops.exp(data * w)
        data[:] = tangent[:] = 0.0
        z = x * x
    expected = np.array([1.0, 2.0]) * np.exp([1.0, 4.0])
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected)
    np.testing.assert_allclose(accumulator.jvp(z).numpy(), [2.0, 0.0])
    v = constant([3.0, 4.0])
    with GradientTape() as outer:
        outer.watch(v)
        with GradientTape() as inner:
            inner.watch(v)
            cube = v * v * v
        g = inner.gradient(cube, v, output_gradients=weights)
    weights[:] = 0.0
    np.testing.assert_allclose(outer.gradient(g, v).numpy(), [18.0, 240.0])
    # Nor does changing an answer.
    found = tape.gradient(y, x)
    found.numpy()[:] = 7.0
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected)


# --- tapes let go ---------------------------------------------------------------------------------

def segments() -> int:
    gc.collect()
    return sum(isinstance(o, Segment) and len(o) > 0 for o in gc.get_objects())


@pytest.mark.parametrize("question", ["gradient", "jacobian", "batch_jacobian"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_used_tape_holds_nothing(question: str, inside: bool) -> None:
    before = segments()
    x = constant(np.ones((3, 4)))
    tape = GradientTape()
    with tape:
        tape.watch(x)
        y = ops.exp(x) * x
        assert tape.stats()["entries"] == 2
        if inside:
            getattr(tape, question)(y, x)
            y = y * y
    if not inside:
        getattr(tape, question)(y, x)
    assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 0}
    assert segments() == before


def test_a_persistent_tape_holds_all_until_it_is_gone() -> None:
    before = segments()
    x = constant(np.ones((3, 4)))
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = ops.exp(x) * x
    for _ in range(3):
        tape.gradient(y, x)
        tape.jacobian(y, x)
    assert tape.stats()["entries"] == 2
    assert segments() == before + 1
    del tape
    assert segments() == before
    assert y.shape == x.shape


def test_tensors_hold_neither_tapes_nor_other_tensors() -> None:
    x = constant(np.ones(N))
    with GradientTape() as tape:
        tape.watch(x)
        middle = ops.sin(x)
        y = ops.sum(ops.cos(middle))
    array = weakref.ref(middle.value.base if middle.value.base is not None else middle.value)
    del middle
    assert array() is not None  # the cosine's entry reads it
    tape.gradient(y, x)
    gc.collect()
    assert array() is None


def test_a_question_that_raises_leaves_the_tape_as_it_was() -> None:
    x = constant([1.0, 2.0])
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
    wrongs: list[Any] = [constant([1.0, 2.0, 3.0]), "text", {}]
    for wrong in wrongs:
        with pytest.raises(gradcli.GradcliError):
            tape.gradient(y, x, output_gradients=wrong)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2.0, 4.0])
    assert tape.stats()["entries"] == 0


def test_a_custom_function_that_opens_a_tape_leaves_nothing_behind() -> None:
    @custom_gradient
    def f(x: Any) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = x * x
        g = tape.gradient(y, x)
        z = g * x  # of a value that the closed tape had seen
        return z, lambda upstream: upstream * g

    before = segments()
    for _ in range(50):
        f(constant(2.0))
    assert len(records.current().entries) == 0
    assert segments() == before


def test_reset_and_reentry_let_go() -> None:
    x = constant(np.ones(N))
    with GradientTape() as tape:
        for _ in range(5):
            tape.watch(x)
            y = ops.exp(x)
            assert tape.stats()["entries"] == 1
            tape.reset()
        tape.watch(x)
        y = ops.exp(x)
    tape.gradient(y, x)
    with tape:
        assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 0}


# --- loops in flat memory -------------------------------------------------------------------------

# What a process may hold more after a loop, whatever its length.
BLOCKS = 500


def grown(step: Callable[[int], None], steps: int, warm: int = 200) -> int:
    """How many more blocks of memory Python holds after `steps` steps than after the first ones.

    The least of three times: what the process that runs the tests is told meanwhile, such as which
    tests are next, takes blocks once, and what a step keeps is kept each time.
    """
    record = records.current()
    record.trace = _full()
    try:
        for k in range(warm):
            step(k)
        found = []
        for _ in range(3):
            gc.collect()
            first = sys.getallocatedblocks()
            for k in range(steps):
                step(k)
            gc.collect()
            found.append(sys.getallocatedblocks() - first)
            if found[-1] < BLOCKS:
                break
        return min(found)
    finally:
        record.trace = PythonEvents()


def _full() -> PythonEvents:
    """What Python code did is remembered up to a limit; here it is reached from the start."""
    trace = PythonEvents()
    number = 10**6
    for ring in (trace.births, trace.states, trace.conditions, trace.exits, trace.requests):
        for _ in range(ring.maxlen):
            number += 6
            ring.append((number, [number + 1], [[number + 2]], [number + 3], [[number + 4]], {}))
    for _ in range(trace.operations.maxlen):
        number += 4
        trace.push((None, number, (number + 1, number + 2), number + 3, None))
    return trace


def test_thousands_of_steps_of_training_in_flat_memory() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(20, 3))
    truth = data @ [1.0, -2.0, 0.5] + 0.25
    w, b = Variable(np.zeros(3)), Variable(0.0)

    def step(k: int) -> None:
        with GradientTape() as tape:
            loss = ops.mean(ops.square(data @ w + b - truth))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.05 * dw)
        b.assign_sub(0.05 * db)

    assert grown(step, 3_000) < BLOCKS
    np.testing.assert_allclose(w.numpy(), [1.0, -2.0, 0.5], atol=1e-9)
    assert float(b) == pytest.approx(0.25)


def _scalar_steps() -> Callable[[int], None]:
    x = Variable(4.0)

    def step(k: int) -> None:
        with GradientTape() as tape:
            y = (x - 1.0) ** 2
        x.assign_sub(0.01 * tape.gradient(y, x))

    return step


def _second_order() -> Callable[[int], None]:
    x = Variable([1.0, 2.0])

    def step(k: int) -> None:
        with GradientTape() as outer:
            with GradientTape() as inner:
                y = ops.sum(ops.exp(x) * x)
            g = inner.gradient(y, x)
        outer.jacobian(g, x)

    return step


def _persistent() -> Callable[[int], None]:
    x = Variable([1.0, 2.0])

    def step(k: int) -> None:
        with GradientTape(persistent=True) as tape:
            y = ops.sum(ops.exp(x) * x)
            g = tape.gradient(y, x)
        tape.gradient(g, x)
        tape.gradient(y, x)

    return step


def _forward() -> Callable[[int], None]:
    x = constant([1.0, 2.0])

    def step(k: int) -> None:
        with ForwardAccumulator(x, constant([1.0, 0.0])) as accumulator:
            y = ops.exp(x) * x
        accumulator.jvp(y)

    return step


def _custom() -> Callable[[int], None]:
    w = Variable([1.0, 2.0])

    @custom_gradient
    def f(x: Any) -> Any:
        with GradientTape() as tape:
            y = ops.sum(w * w)
        g = tape.gradient(y, w)

        def grad(upstream: Any, variables: Any) -> Any:
            return upstream * g, [upstream * x]

        return x * g, grad

    def step(k: int) -> None:
        x = constant([1.0, 3.0])
        f(x)
        with GradientTape() as tape:
            tape.watch(x)
            y = recompute_grad(f)(x) if k % 2 else f(x)
        tape.gradient(y, [x, w])

    return step


def _reentered() -> Callable[[int], None]:
    x, tape = Variable(3.0), GradientTape()

    def step(k: int) -> None:
        with tape:
            y = x * x
            with tape.stop_recording():
                z = y * x
        with tape:
            y = y * z
        tape.gradient(y, x)
        x.assign(3.0 + k % 5)

    return step


def _failing() -> Callable[[int], None]:
    x = constant([1.0, 2.0])

    def step(k: int) -> None:
        try:
            with GradientTape() as tape:
                tape.watch(x)
                y = x * x
                tape.gradient(y, x, output_gradients=constant([1.0]))
        except gradcli.GradcliError:
            pass

    return step


def _by_numpy() -> Callable[[int], None]:
    x = Variable(np.ones((3, 3)))

    def step(k: int) -> None:
        with GradientTape() as tape:
            y = np.sum(np.tanh(x) @ np.ones(3) + [1.0, 2.0, 3.0])
        tape.gradient(y, x)

    return step


@pytest.mark.parametrize("steps", [
    _scalar_steps, _second_order, _persistent, _forward, _custom, _reentered, _failing, _by_numpy])
def test_loops_of_every_kind_in_flat_memory(steps: Callable[[], Callable[[int], None]]) -> None:
    assert grown(steps(), 500) < BLOCKS


@pytest.mark.slow
def test_a_long_loop_in_a_file_in_flat_memory(
        gradcli: Callable[..., Ran], tmp_path: Path) -> None:
    """Peak memory of 1,000 and of 10,000 steps of training."""
    spy = tmp_path / "spy"
    spy.mkdir()
    (spy / "sitecustomize.py").write_text("\n".join([
        "import atexit, resource, sys",
        "atexit.register(lambda: print(",
        "    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))", ""]))
    unit = 1 if sys.platform == "darwin" else 1024

    def peak(steps: int) -> int:
        file = tmp_path / f"train{steps}.txt"
        file.write_text("\n".join([
            "var w = [0.0, 0.0, 0.0]", "var b = 0.0",
            "const data = [[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [2.0, 0.0, 1.0]]",
            "const truth = [2.0, 1.0, -1.0]",
            f"for step in range({steps}):",
            "    tape t:",
            "        loss = mean((data @ w + b - truth)^2)",
            "    g = t.gradient(loss, [w, b])",
            "    w.assign_sub(0.05*g[0])",
            "    b.assign_sub(0.05*g[1])",
            "print(loss)", ""]))
        ran = gradcli("run", str(file), env={"PYTHONPATH": f"{spy}{os.pathsep}{ROOT}"})
        assert ran.returncode == 0, ran
        assert float(ran.stdout.split()[-1]) < 1e-3
        return unit * int(ran.stderr.split()[-1])

    few, many = peak(1_000), peak(10_000)
    assert many - few < 2_000_000  # 200 bytes a step
