"""GradientTape, ForwardAccumulator, Variable and Module as TensorFlow 2.21 has them, and better.

Numbers and None are TensorFlow's recorded answers or worked out by hand; where gradcli differs on
purpose, a test says so and `tensorflow_semantics=True` gives TensorFlow's answer.
"""

from __future__ import annotations

import collections
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from draws import drawn

import gradcli
from gradcli import (
    ForwardAccumulator,
    GradcliError,
    GradientTape,
    Module,
    Tensor,
    Variable,
    constant,
    ops,
)
from gradcli.engine.record import record as records


@pytest.fixture(autouse=True)
def _nothing_is_left_over() -> Iterator[None]:
    yield
    record = records.current()
    assert (record.tapes, record.accumulators, record.readers) == ([], [], [])
    assert not record.paused
    assert not record.in_rules


def error_of(f: Callable[[], Any]) -> GradcliError:
    with pytest.raises(GradcliError) as raised:
        f()
    assert raised.value.help
    return raised.value


def code_of(f: Callable[[], Any]) -> str:
    return error_of(f).code


def plain(x: Any) -> Any:
    """Numbers and lists in place of tensors, in any structure."""
    if isinstance(x, Tensor):
        return x.numpy().tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


def taped(f: Callable[..., Any], *xs: Any, **options: Any) -> tuple[GradientTape, Any]:
    with GradientTape(**options) as tape:
        tape.watch(list(xs))
        y = f(*xs)
    return tape, y


# --- watching -------------------------------------------------------------------------------------

def test_what_is_watched_by_itself() -> None:
    x0, x1 = Variable(3.0), Variable(3.0, trainable=False)
    x2, x3 = Variable(2.0) + 1.0, constant(3.0)
    with GradientTape() as tape:
        y = x0 ** 2 + x1 ** 2 + x2 ** 2 + x3 ** 2
    assert plain(tape.gradient(y, [x0, x1, x2, x3])) == [6.0, None, None, None]
    assert tape.watched_variables() == (x0,)


def test_watching_nothing_by_itself() -> None:
    x, y = Variable(2.0), Variable(10.0)
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(y)
        z = x * x + y * y
    assert plain(tape.gradient(z, [x, y])) == [None, 20.0]
    assert tape.watched_variables() == (y,)


def test_a_variable_that_is_only_read_is_watched() -> None:
    x, unread = Variable(1.0), Variable(2.0)
    with GradientTape() as tape:
        x.read_value()
    assert tape.watched_variables() == (x,)
    assert unread not in tape.watched_variables()


def test_variables_come_in_order_of_construction() -> None:
    a, b, c = Variable(1.0), Variable(2.0), Variable(3.0, trainable=False)
    with GradientTape() as tape:
        assert tape.watched_variables() == ()
        _ = b * a
        tape.watch(c)
    assert tape.watched_variables() == (a, b, c)
    tape.gradient(b, a)
    assert tape.watched_variables() == (a, b, c)


def test_watching_tensors_structures_and_nothing() -> None:
    a, b, w = constant(1.0), constant([2.0]), Variable(3.0, trainable=False)
    with GradientTape(persistent=True) as tape:
        tape.watch([])
        tape.watch({"a": a, "rest": [b, (w,)]})
        tape.watch(a)
        tape.watch(a)
        y = a * b * w
    assert plain(tape.gradient(y, [a, b, w])) == [6.0, [3.0], 2.0]


@pytest.mark.parametrize("wrong", [3.0, np.ones(2), "x", None, [constant(1.0), 3.0], {"a": None}])
def test_watching_what_is_no_tensor(wrong: Any) -> None:
    with GradientTape() as tape:
        found = error_of(lambda: tape.watch(wrong))
    assert found.code == "E0310"
    assert "watched" in found.message
    assert tape.stats()["watched"] == 0


def test_watching_before_and_after_the_block() -> None:
    x = constant(3.0)
    tape = GradientTape()
    assert code_of(lambda: tape.watch(x)) == "E0502"
    with tape:
        y = x * x
    tape.watch(x)
    assert tape.gradient(y, x) is None


def test_watching_after_a_use_counts_from_then_on() -> None:
    x = constant(3.0)
    with GradientTape(persistent=True) as tape:
        early = x * x
        tape.watch(x)
        late = x * x * x
    assert tape.gradient(early, x) is None
    assert plain(tape.gradient(late, x)) == 27.0
    assert plain(tape.gradient([early, late], x)) == 27.0
    # Unless another source had made the early use part of the recording.
    w = Variable(2.0)
    with GradientTape(persistent=True) as tape:
        early = x * w
        tape.watch(x)
        both = early + x
    assert plain(tape.gradient(both, [x, w])) == [3.0, 3.0]
    assert plain(tape.gradient(early, x)) == 2.0


def test_watching_an_intermediate_keeps_its_link() -> None:
    x = constant(3.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.watch(y)
        z = y * y
    assert plain(tape.gradient(z, [x, y])) == [108.0, 18.0]


def test_watching_is_by_identity_and_per_tape() -> None:
    a, b = constant(3.0), constant(3.0)
    alias = a
    with GradientTape() as outer, GradientTape(persistent=True) as inner:
        inner.watch(a)
        y = a * b
    assert plain(inner.gradient(y, [a, b, alias])) == [3.0, None, 3.0]
    assert plain(outer.gradient(y, [a, b])) == [None, None]


def test_integers_are_watched_in_vain() -> None:
    n = Variable(3)
    k = constant([1, 2])
    with GradientTape(persistent=True) as tape:
        tape.watch(k)
        y = n * n
        z = ops.sum(k * k)
    assert tape.watched_variables() == (n,)
    assert tape.gradient(y, n) is None
    assert tape.gradient(z, k) is None
    assert tape.jacobian(k * 2, k) is None
    zero = tape.gradient(y, [n, k], unconnected_gradients="zero")
    assert [g.dtype for g in zero] == ["int64", "int64"]
    assert plain(zero) == [0, [0, 0]]


# --- entering, leaving, stopping, resetting -------------------------------------------------------

def test_a_tape_answers_once_unless_it_is_persistent() -> None:
    x, b = constant(3.0), constant([[1.0]])
    for ask in ("gradient", "jacobian"):
        tape, y = taped(lambda x: x * x, x)
        assert plain(getattr(tape, ask)(y, x)) == 6.0
        found = error_of(lambda tape=tape, y=y: tape.gradient(y, x))  # type: ignore[misc]
        assert found.code == "E0501"
        assert "test_tape.py" in found.message
        assert code_of(lambda tape=tape, y=y: tape.jacobian(y, x)) == "E0501"  # type: ignore[misc]
        assert code_of(lambda tape=tape: tape.batch_jacobian(b, b)) == "E0501"  # type: ignore[misc]
    tape, y = taped(lambda x: x * x, x, persistent=True)
    assert [plain(tape.gradient(y, x)) for _ in range(3)] == [6.0] * 3


def test_a_tape_that_was_never_entered_says_so() -> None:
    x = constant([[3.0]])
    for call in (lambda t: t.gradient(x, x), lambda t: t.jacobian(x, x),
                 lambda t: t.batch_jacobian(x, x), lambda t: t.watch(x),
                 lambda t: t.stop_recording()):
        found = error_of(lambda call=call: call(GradientTape()))  # type: ignore[misc]
        assert found.code == "E0502"
        assert "never entered" in found.message


def test_asking_inside_of_the_block_ends_a_recording() -> None:
    x = constant(3.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert plain(tape.gradient(y, x)) == 6.0
        z = y * x
        assert not tape.recording
    assert code_of(lambda: tape.gradient(z, x)) == "E0501"


def test_asking_a_persistent_tape_inside_records_the_answer() -> None:
    x = constant(2.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x ** 3
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
        third = tape.gradient(second, x)
        fourth = tape.gradient(third, x)
    assert plain([first, second, third, fourth]) == [12.0, 12.0, 6.0, 0.0]
    outside = tape.gradient(y, x)
    assert plain(outside) == 12.0
    assert tape.gradient(outside, x) is None


def test_entering_again() -> None:
    x = constant(3.0)
    tape = GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
        assert code_of(tape.__enter__) == "E0504"
    gap = y * x
    with tape:
        z = y * x + gap
    assert plain(tape.gradient(z, [x, y])) == [27.0, 3.0]
    with tape:  # used up: an empty recording
        assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 0}
        w = y * x
    assert tape.gradient(w, x) is None


def test_entering_again_with_variables() -> None:
    x = Variable(3.0)
    with GradientTape(persistent=True) as tape:
        y = x * x
    _ = x * 5.0
    with tape:
        z = y * x
    assert plain(tape.gradient(z, x)) == 27.0
    assert tape.stats()["entries"] == 2


def test_stopping_makes_constants() -> None:
    x, w = Variable(3.0), Variable(5.0)
    with GradientTape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            assert not tape.recording
            z = y * w
            assert code_of(tape.stop_recording) == "E0504"
        out = z * y
    assert plain(tape.gradient(out, [x, w])) == [270.0, None]
    assert tape.gradient(z, x) is None
    assert tape.watched_variables() == (x,)


def test_stopping_affects_one_tape() -> None:
    x = Variable(3.0)
    with GradientTape() as outer, GradientTape() as inner:
        with inner.stop_recording():
            y = x * x
        z = y * x
    assert plain(outer.gradient(z, x)) == 27.0
    assert plain(inner.gradient(z, x)) == 9.0


def test_stopping_ends_with_an_exception_too() -> None:
    x = Variable(3.0)
    with GradientTape() as tape:
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError
        y = x * x
    assert plain(tape.gradient(y, x)) == 6.0


def test_what_cannot_be_stopped_or_reset() -> None:
    tape = GradientTape()
    assert code_of(tape.reset) == "E0504"
    with tape:
        pause = tape.stop_recording()
        with pause:
            assert code_of(tape.reset) == "E0504"
            assert code_of(pause.__enter__) == "E0504"
    assert code_of(tape.stop_recording) == "E0504"
    assert code_of(tape.reset) == "E0504"


def test_reset_forgets_entries_and_watches() -> None:
    x, c = Variable(3.0), constant(2.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = x * x * c
        tape.reset()
        assert tape.watched_variables() == ()
        z = y * x * c
    assert plain(tape.gradient(z, [x, c])) == [36.0, None]
    assert tape.gradient(y, x) is None


def test_an_exception_inside_leaves_a_usable_tape() -> None:
    x = constant(3.0)
    tape = GradientTape()
    y = x

    def raising() -> None:
        nonlocal y
        with tape:
            tape.watch(x)
            y = x * x
            raise KeyError

    with pytest.raises(KeyError):
        raising()
    assert plain(tape.gradient(y, x)) == 6.0
    with pytest.raises(GradcliError), GradientTape(), ForwardAccumulator(x, constant(1.0)):
        _ = ops.sum(constant([1.0, 2.0]) + constant([1.0, 2.0, 3.0]))


def test_other_threads_record_for_themselves() -> None:
    x = constant(3.0)
    made: dict[str, Any] = {}

    def work() -> None:
        made["y"] = x * x
        with GradientTape() as tape:
            tape.watch(x)
            made["z"] = x * x * x
        made["slope"] = plain(tape.gradient(made["z"], x))

    with GradientTape(persistent=True) as tape, ForwardAccumulator(x, constant(1.0)) as forward:
        tape.watch(x)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        w = made["y"] * x
    assert made["slope"] == 27.0
    assert tape.gradient(made["y"], x) is None
    assert forward.jvp(made["y"]) is None
    assert plain(tape.gradient(w, x)) == 9.0


def test_a_tape_may_be_asked_in_another_thread() -> None:
    x = constant(3.0)
    tape, y = taped(lambda x: x * x, x)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(tape.gradient(y, x)))
    thread.start()
    thread.join()
    assert plain(found) == [6.0]


def test_many_threads_at_once() -> None:
    w = Variable(2.0)
    found: dict[int, list[float]] = {}

    def work(n: int) -> None:
        out = []
        for k in range(200):
            with GradientTape() as tape:
                y = w * w * float(n) + w * float(k)
            out.append(float(tape.gradient(y, w)))
        found[n] = out

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [4.0 * n + k for k in range(200)] for n in range(4)}


# --- several tapes --------------------------------------------------------------------------------

def test_tapes_are_independent() -> None:
    x, y = constant(2.0), constant(3.0)
    with GradientTape() as first, GradientTape() as second:
        first.watch(x)
        second.watch(y)
        z = x * y
    assert plain(first.gradient(z, [x, y])) == [3.0, None]
    assert plain(second.gradient(z, [x, y])) == [None, 2.0]


def test_tapes_may_overlap_without_nesting() -> None:
    x = constant(2.0)
    first, second = GradientTape(), GradientTape()
    first.__enter__()
    first.watch(x)
    y = x * x
    second.__enter__()
    second.watch(y)
    z = y * y
    first.__exit__()
    w = z * z
    second.__exit__()
    assert plain(first.gradient(z, x)) == 32.0
    assert plain(second.gradient(w, [y, x])) == [256.0, None]


def test_the_outer_tape_does_not_see_a_question_asked_after_it() -> None:
    x = constant(2.0)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = x ** 3
    slope = inner.gradient(y, x)
    assert plain(slope) == 12.0
    assert outer.gradient(slope, x) is None


def test_the_inner_tape_may_be_asked_after_its_block() -> None:
    x = constant(2.0)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = x ** 3
        slope = inner.gradient(y, x)
    assert plain(outer.gradient(slope, x)) == 12.0


# --- derivatives of derivatives that do not depend on the source ----------------------------------

CONSTANT: dict[str, Callable[[Any], Any]] = {
    "linear": lambda x: 3.0 * x, "identity": lambda x: +x, "sum": lambda x: x + x - 5.0,
    "negative": lambda x: -x, "x^1": lambda x: x ** 1, "maximum": lambda x: ops.maximum(x, 0.0),
    "where": lambda x: ops.where(x > 0.0, 2.0 * x, x), "clip": lambda x: ops.clip(x, -9.0, 9.0),
    "sum of x*c": lambda x: ops.sum(x * 4.0), "reshape": lambda x: ops.reshape(x, [-1]),
    "mod": lambda x: x % 7.0,
}


def by_tape(f: Callable[[Any], Any], x: Any, **options: Any) -> Any:
    with GradientTape() as inner:
        inner.watch(x)
        y = f(x)
    return inner.gradient(y, x)


def by_accumulator(f: Callable[[Any], Any], x: Any) -> Any:
    with ForwardAccumulator(x, ops.ones_like(x)) as accumulator:
        y = f(x)
    return accumulator.jvp(y)


@pytest.mark.parametrize("name", CONSTANT)
@pytest.mark.parametrize("value", [2.0, [2.0, 3.0]])
@pytest.mark.parametrize("inner", [by_tape, by_accumulator])
def test_the_derivative_of_a_constant_derivative_is_zero(name: str, value: Any, inner: Any
                                                         ) -> None:
    f = CONSTANT[name]
    x = constant(value)
    zero = np.zeros(np.shape(value)).tolist()
    with GradientTape(persistent=True) as outer:
        outer.watch(x)
        slope = inner(f, x)
        more = slope * 2.0 + 1.0
    assert plain(outer.gradient(slope, x)) == zero
    assert plain(outer.gradient(more, x)) == zero
    assert np.shape(plain(outer.jacobian(slope, x))) == (*np.shape(plain(slope)), *np.shape(value))
    with ForwardAccumulator(x, ops.ones_like(x)) as forward:
        slope = inner(f, x)
        more = slope * 2.0 + 1.0
    assert not np.any(plain(forward.jvp(slope)))
    assert not np.any(plain(forward.jvp(more)))
    with ForwardAccumulator(x, ops.ones_like(x)) as third, GradientTape() as second:
        second.watch(x)
        slope = inner(f, x)
        curvature = second.gradient(slope, x)
    assert not np.any(plain(third.jvp(curvature)))


@pytest.mark.parametrize("name", [name for name in CONSTANT if name != "x^1"])
def test_tensorflow_says_none(name: str) -> None:
    x = constant(2.0)
    with GradientTape(persistent=True, tensorflow_semantics=True) as outer:
        outer.watch(x)
        slope = by_tape(CONSTANT[name], x)
    assert outer.gradient(slope, x) is None
    assert plain(outer.gradient(slope, x, unconnected_gradients="zero")) == 0.0
    assert outer.jacobian(slope, x) is None


def test_mixed_second_derivatives() -> None:
    x, y, other = constant(2.0), constant(3.0), constant(4.0)
    with GradientTape(persistent=True) as outer:
        outer.watch([x, y, other])
        with GradientTape() as inner:
            inner.watch([x, y])
            z = x ** 2 + y ** 3
        slopes = inner.gradient(z, [x, y])
    assert plain([outer.gradient(s, [x, y]) for s in slopes]) == [[2.0, 0.0], [0.0, 18.0]]
    # What the first function does not depend on at all stays missing.
    assert outer.gradient(slopes[0], other) is None


def test_a_cut_path_is_not_called_constant() -> None:
    x = constant(2.0)
    with GradientTape(persistent=True) as outer:
        outer.watch(x)
        slope = by_tape(lambda x: x * ops.stop_gradient(x), x)
        floor = ops.floor(by_tape(lambda x: x * x, x))
    assert outer.gradient(slope, x) is None
    assert outer.gradient(floor, x) is None


# --- gradient -------------------------------------------------------------------------------------

def test_structures_of_sources_and_targets() -> None:
    Pair = collections.namedtuple("Pair", "a b")
    a, b, c = constant(2.0), constant([3.0, 4.0]), Variable(5.0)
    tape, y = taped(lambda a, b, c: a * ops.sum(b) * c, a, b, c, persistent=True)
    da, db, dc = 35.0, [10.0, 10.0], 14.0
    ask = tape.gradient
    assert plain(ask(y, a)) == da
    assert plain(ask(y, [a, (b, c)])) == [da, [db, dc]]
    found = ask(y, {"w": {"c": c}, "a": [a]})
    assert list(found) == ["w", "a"]
    assert plain(found) == {"w": {"c": dc}, "a": [da]}
    pair = ask(y, Pair(a, b))
    assert type(pair) is Pair
    assert plain(pair.b) == db
    assert isinstance(ask(y, (a, b)), tuple)
    assert plain(ask(y, [a, a])) == [da, da]
    assert ask(y, []) == []
    assert ask(y, {}) == {}
    assert ask([], a) is None
    assert plain(ask([y, a], a)) == da + 1
    assert plain(ask([y, y], a)) == 2 * da
    assert plain(ask({"y": y, "rest": (b,)}, b)) == [11.0, 11.0]


def test_targets_that_are_sources() -> None:
    u, w = constant([1.0, 2.0]), Variable(3.0)
    with GradientTape(persistent=True) as tape:
        y = w * 2.0
    assert plain(tape.gradient(u, u)) == [1.0, 1.0]
    assert plain(tape.gradient(u, u, output_gradients=[5.0, 7.0])) == [5.0, 7.0]
    assert plain(tape.gradient(w, [w, u])) == [1.0, None]
    assert plain(tape.gradient([w, y], w)) == 3.0
    np.testing.assert_array_equal(tape.jacobian(u, u).numpy(), np.eye(2))
    v = constant([3.0, 4.0])
    with GradientTape() as outer:
        outer.watch(v)
        with GradientTape() as inner:
            _ = u * 1.0
        slope = inner.gradient(u, u, output_gradients=v)
        out = ops.sum(slope * slope)
    assert plain(slope) == [3.0, 4.0]
    assert plain(outer.gradient(out, v)) == [6.0, 8.0]


def test_sources_after_the_target_and_unrelated_ones() -> None:
    x = constant(3.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    assert plain(tape.gradient(y, [x, z])) == [6.0, None]
    late = x * x
    assert tape.gradient(late, x) is None
    assert plain(tape.gradient([late, y], x)) == 6.0


def test_zero_or_missing() -> None:
    x = constant(3.0)
    tape, found = taped(lambda x: {
        "x - x": x - x, "0*x": 0.0 * x, "dead relu": ops.relu(-x), "clipped": ops.clip(x, 0.0, 1.0),
        "losing": ops.maximum(x, 5.0), "sign": ops.sign(x), "floor": ops.floor(x),
        "ceil": ops.ceil(x), "round": ops.round(x), "//": x // 2.0, "%": x % 2.0,
        "constant": constant(1.0) * 2.0, "argmax": ops.argmax(ops.stack([x, x])),
        "compared": x > 2.0, "int": ops.cast(x, "int64")}, x, persistent=True)
    assert {k: plain(tape.gradient(y, x)) for k, y in found.items()} == {
        "x - x": 0.0, "0*x": 0.0, "dead relu": 0.0, "clipped": 0.0, "losing": 0.0, "sign": 0.0,
        "floor": None, "ceil": None, "round": None, "//": None, "%": 1.0, "constant": None,
        "argmax": None, "compared": None, "int": None}


def test_output_gradients() -> None:
    x = constant([1.0, 2.0, 3.0])
    tape, y = taped(lambda x: x * x, x, persistent=True)

    def ask(w: Any) -> Any:
        return plain(tape.gradient(y, x, output_gradients=w))

    ones, weighted = [2.0, 4.0, 6.0], [2.0, 8.0, 18.0]
    forms: list[Any] = [None, 1.0, 1, np.float32(1.0), constant(1.0), [None],
                        np.ones(3, "float32"), [1, 1, 1]]
    for w in forms:
        assert ask(w) == ones
    forms = [[1.0, 2.0, 3.0], (1, 2, 3), np.array([1.0, 2.0, 3.0]), constant([1.0, 2.0, 3.0]),
             [constant([1.0, 2.0, 3.0])], [np.array([1, 2, 3])], [[1.0, 2.0, 3.0]],
             Variable([1.0, 2.0, 3.0])]
    for w in forms:
        assert ask(w) == weighted
    one = constant([2.0])
    tape, y = taped(lambda x: x * x, one, persistent=True)
    assert plain(tape.gradient(y, one, output_gradients=[3.0])) == [12.0]


def test_output_gradients_of_several_targets() -> None:
    x, v = constant(3.0), constant([1.0, 2.0])
    tape, (y, z) = taped(lambda x, v: (x * x, v * x), x, v, persistent=True)
    ask = tape.gradient
    assert plain(ask([y, z], x, output_gradients=[2.0, [1.0, 10.0]])) == 33.0
    assert plain(ask({"a": y, "b": z}, x, output_gradients={"a": 2.0, "b": 1.0})) == 15.0
    assert plain(ask([y, z], x, output_gradients=[None, [1.0, 10.0]])) == 27.0
    # A target that feeds another.
    tape, (y, z) = taped(lambda x: (x * x, x), x)
    assert plain(tape.gradient([y, z], x, output_gradients=[1.0, 2.0])) == 8.0


@pytest.mark.parametrize(("weights", "code"), [
    ([1.0, 2.0], "E0301"), (np.ones((3, 1)), "E0301"), (constant([1.0]), "E0301"), ([], "E0301"),
    (constant([1, 2, 3]), "E0302"), (constant(1.0, dtype="float32"), "E0302"), ("text", "E0306"),
    ({}, "E0302"), (object(), "E0302"), (1j, "E0302"), (np.array(["a", "b", "c"]), "E0306"),
    ([constant([1.0, 1.0, 1.0]), 2.0], "E0313"), ([[1.0, 2.0], [1.0]], "E0302"),
])
def test_wrong_output_gradients(weights: Any, code: str) -> None:
    x = constant([1.0, 2.0, 3.0])
    tape, y = taped(lambda x: x * x, x)
    assert code_of(lambda: tape.gradient(y, x, output_gradients=weights)) == code
    assert plain(tape.gradient(y, x)) == [2.0, 4.0, 6.0]  # no answer, so not used up


def test_the_number_of_output_gradients() -> None:
    x = constant(3.0)
    for weights, as_tensorflow in (([1.0], 7.0), ([1.0, 2.0, 3.0], 8.0), ([2.0], 13.0)):
        tape, targets = taped(lambda x: [x * x, x], x)
        found = error_of(lambda tape=tape, targets=targets, weights=weights:  # type: ignore[misc]
                         tape.gradient(targets, x, output_gradients=weights))
        assert found.code == "E0313"
        tape, targets = taped(lambda x: [x * x, x], x, tensorflow_semantics=True)
        assert plain(tape.gradient(targets, x, output_gradients=weights)) == as_tensorflow


def test_unconnected_gradients() -> None:
    x, w = constant([1.0, 2.0]), Variable(1.0, dtype="float32")
    tape, y = taped(lambda x: x * x, x, persistent=True)
    assert tape.gradient(y, [w], unconnected_gradients="none") == [None]
    found = tape.gradient(y, [w, x], unconnected_gradients="zero")
    assert plain(found) == [0.0, [2.0, 4.0]]
    assert found[0].dtype == "float32"
    assert np.shape(plain(tape.jacobian(y, constant([[1.0]]), "zero"))) == (2, 1, 1)
    for word in ("nonsense", 3, True):
        for ask in (tape.gradient, tape.jacobian):
            assert code_of(lambda ask=ask, word=word: ask(  # type: ignore[misc]
                y, x, unconnected_gradients=word)) == "E0312"
    b = constant([[1.0]])
    assert code_of(lambda: tape.batch_jacobian(b, b, "nonsense")) == "E0312"
    with ForwardAccumulator(x, x) as forward:
        z = x * x
    assert code_of(lambda: forward.jvp(z, "nonsense")) == "E0312"


@pytest.mark.parametrize("wrong", [None, 3.0, np.ones(2), "x", [None], [constant(1.0), "x"]])
def test_targets_and_sources_that_are_no_tensors(wrong: Any) -> None:
    x = constant(3.0)
    tape, y = taped(lambda x: x * x, x, persistent=True)
    for ask, what in ((lambda: tape.gradient(wrong, x), "target"),
                      (lambda: tape.gradient(y, wrong), "source"),
                      (lambda: tape.jacobian(wrong, x), "target"),
                      (lambda: tape.jacobian(y, wrong), "source"),
                      (lambda: tape.batch_jacobian(wrong, x), "target"),
                      (lambda: tape.batch_jacobian(x, wrong), "source")):
        found = error_of(ask)
        assert found.code == "E0310"
        assert what in found.message


def test_gradients_have_the_shape_and_type_of_the_source() -> None:
    x = constant([1.0, 2.0], dtype="float32")
    y = constant([[3.0]])
    tape, z = taped(lambda x, y: ops.cast(x, "float64") * y, x, y, persistent=True)
    dx, dy = tape.gradient(z, [x, y])
    assert (dx.dtype, dy.dtype) == ("float32", "float64")
    assert plain([dx, dy]) == [[3.0, 3.0], [[3.0]]]
    jx, jy = tape.jacobian(z, [x, y])
    assert (jx.dtype, jy.dtype) == ("float32", "float64")
    assert (jx.shape, jy.shape) == ((1, 2, 2), (1, 2, 1, 1))
    scalar = Variable(2.0, dtype="float32")
    with GradientTape(persistent=True) as tape:
        out = scalar * scalar * x
    assert tape.gradient(out, scalar).dtype == "float32"
    assert tape.jacobian(out, scalar).dtype == "float32"


FLOAT32: dict[str, Callable[[Any], Any]] = {
    "log(x@x)": lambda x: 2.0 * ops.sum(ops.log(ops.matmul(x, x))), "max": lambda x: ops.max(x),
    "max over an axis": lambda x: ops.sum(ops.max(x, axis=0) ** 2),
    "min": lambda x: ops.min(x) ** 2,
    "prod": lambda x: ops.prod(x), "std": lambda x: ops.std(x), "norm": lambda x: ops.norm(x),
    "softmax": lambda x: ops.sum(ops.softmax(x) ** 2), "logsumexp": lambda x: ops.logsumexp(x),
    "where": lambda x: ops.sum(ops.where(x > 1.5, x * x, 0.0)),
    "inv": lambda x: ops.sum(ops.inv(x)),
    "det": lambda x: ops.det(x), "sort": lambda x: ops.sum(ops.sort(x) ** 2),
    "cumprod": lambda x: ops.sum(ops.cumprod(x)), "power": lambda x: ops.sum(x ** x),
    "elu": lambda x: ops.sum(ops.elu(x - 2.0)), "xlogy": lambda x: ops.sum(ops.xlogy(x, x)),
    "relu": lambda x: ops.sum(ops.relu(x - 2.0) ** 2), "erf": lambda x: ops.sum(ops.erf(x)),
    "index": lambda x: x[0, 1] * x[1, 0] * 3.0, "concat": lambda x: ops.sum(
        ops.concat([x, np.ones((1, 2))], axis=0) ** 3),
}


@pytest.mark.parametrize("name", FLOAT32)
def test_recorded_derivatives_in_float32(name: str) -> None:
    """To third order in both modes, in the type of the source, to the digits that it has."""
    f = FLOAT32[name]
    value = np.array([[1.25, 2.5], [3.0, 1.75]])

    def derivatives(x: Any) -> list[Any]:
        with GradientTape(persistent=True) as outer, ForwardAccumulator(
                x, ops.ones_like(x)) as forward:
            outer.watch(x)
            with GradientTape(persistent=True) as inner:
                inner.watch(x)
                y = f(x)
                g = inner.gradient(y, x)
            again = by_accumulator(f, x)
        return [g, outer.gradient(g, x), outer.jacobian(g, x), forward.jvp(y), forward.jvp(g),
                again, outer.gradient(again, x), inner.jacobian(y, x)]

    wide = derivatives(constant(value))
    narrow = derivatives(constant(value, dtype="float32"))
    for a, b in zip(narrow, wide, strict=True):
        assert a.dtype == "float32"
        scale = max(1.0, float(np.abs(b.numpy()).max()))
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=0, atol=5e-5 * scale)


# --- variables ------------------------------------------------------------------------------------

def test_a_variable_s_value_is_taken_when_it_is_read() -> None:
    x = Variable(3.0)
    with GradientTape(persistent=True) as tape:
        y = x * x
        x.assign(10.0)
        z = x * x
        both = ops.stack([y, z])
    assert plain(tape.gradient(y, x)) == 6.0
    assert plain(tape.gradient(z, x)) == 20.0
    assert plain(tape.gradient([y, z], x)) == 26.0
    assert plain(tape.jacobian(both, x)) == [6.0, 20.0]


def test_assigning_is_not_differentiable() -> None:
    x, v = Variable(3.0), Variable(1.0)
    with GradientTape(persistent=True) as tape:
        v.assign(x * x)
        y = v * 2.0
        w = v.assign_add(x) * 5.0
    assert plain(tape.gradient(y, [x, v])) == [None, 2.0]
    assert plain(tape.gradient(w, [x, v])) == [None, 5.0]
    assert float(v) == 12.0


def test_a_loop_that_accumulates_in_a_variable() -> None:
    x, total = Variable(2.0), Variable(0.0)
    with GradientTape() as tape:
        for _ in range(3):
            total.assign_add(x * x)
        y = total * x
    assert plain(tape.gradient(y, [x, total])) == [12.0, 2.0]


def test_a_variable_read_is_a_new_tensor() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape(persistent=True) as tape:
        first, second = x.read_value(), x.read_value()
        y = ops.sum(first * 3.0)
        item = x[0]
        z = item * x[0]
    assert plain(tape.gradient(y, [x, first, second])) == [[3.0, 3.0], [3.0, 3.0], None]
    assert plain(tape.gradient(z, [x, item])) == [[2.0, 0.0], 1.0]


def test_assigning_keeps_shape_and_type() -> None:
    x, n = Variable([1.0, 2.0], name="x"), Variable(3)
    assert x.assign_sub([0.5, 1.0]) is x
    assert plain(x) == [0.5, 1.0]
    assert plain(x.assign(constant([3, 4]).numpy())) == [3.0, 4.0]
    for wrong in (1.0, [1.0], [[1.0, 2.0]], constant([1.0, 2.0, 3.0])):
        found = error_of(lambda wrong=wrong: x.assign(wrong))  # type: ignore[misc]
        assert found.code == "E0301"
        assert "`x`" in found.message
    assert code_of(lambda: x.assign(constant([1, 2]))) == "E0302"
    assert code_of(lambda: x.assign_add(constant([1, 2]))) == "E0302"
    assert code_of(lambda: x.assign(None)) == "E0302"
    assert code_of(lambda: n.assign(1.5)) == "E0302"
    assert plain(n.assign(5.0)) == 5
    assert n.dtype == "int64"
    assert plain(x) == [3.0, 4.0]
    narrow = Variable([1.0], dtype="float32")
    narrow.assign([2.5])
    narrow.assign_add([0.25])
    assert narrow.dtype == "float32"
    assert narrow.numpy().dtype == np.float32


def test_making_variables_and_constants() -> None:
    source = np.array([1.0, 2.0])
    x, c = Variable(source), constant(source)
    source[:] = 0.0
    assert plain([x, c]) == [[1.0, 2.0], [1.0, 2.0]]
    assert Variable(constant(2.0)).numpy() == 2.0
    for dtype in ("float32", np.float32, np.dtype("float32")):
        assert constant(1.5, dtype=dtype).dtype == "float32"
        assert constant(1.5, dtype=dtype).dtype.name == "float32"
    assert constant([1, 2], dtype=float).dtype == "float64"
    assert constant(2).dtype == "int64"
    assert constant("text").dtype == "string"
    assert Variable(1.0, name="w").name == "w"
    assert "w" in repr(Variable(1.0, name="w"))
    for make in (Variable, constant):
        for wrong in (None, object(), {}, [[1.0], [1.0, 2.0]], [None]):
            assert code_of(lambda make=make, wrong=wrong: make(wrong)) == "E0302"  # type: ignore[misc]
        assert code_of(lambda make=make: make(1.0, dtype="float128x")) == "E0306"  # type: ignore[misc]
        assert code_of(lambda make=make: make("text", dtype="float64")) == "E0306"  # type: ignore[misc]
        assert code_of(lambda make=make: make(float("nan"), dtype="int64")) == "E0306"  # type: ignore[misc]


def test_a_variable_works_wherever_a_tensor_does() -> None:
    w = Variable([[1.0, 2.0], [3.0, 4.0]])
    with GradientTape(persistent=True) as tape:
        y = ops.sum((2.0 * w @ w - w / 2.0 + 1.0) ** 2 - -w)
        z = np.sum(np.exp(w) * [1.0, 2.0]) + w.T[0, 1] + w.sum()
    numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
    inside = 2 * numbers @ numbers - numbers / 2 + 1
    expected = 4 * (inside @ numbers.T + numbers.T @ inside) - inside + 1
    np.testing.assert_allclose(tape.gradient(y, w).numpy(), expected, rtol=1e-14)
    np.testing.assert_allclose(
        tape.gradient(z, w).numpy(),
        np.exp(numbers) * [1.0, 2.0] + [[0.0, 0.0], [1.0, 0.0]] + 1.0, rtol=1e-14)


# --- types ----------------------------------------------------------------------------------------

TYPED = [constant(value, dtype=dtype) for dtype, value in (
    ("bool", True), ("int64", 2), ("int32", 2), ("float32", 2.0), ("float64", 2.0))]
TYPED += [constant([t.value, t.value], dtype=t.dtype) for t in TYPED]
BESIDE = [1, 3, 1.0, 2.5, np.float32(2.5), np.float64(3.0), np.int32(3), np.array([1.5, 2.5]),
          np.array([1.0, 2.0]), np.array([1, 2]), np.array([1, 2], dtype=np.int32), 1e300]
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum", "squared_difference")


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("tensor", TYPED, ids=lambda t: f"{t.dtype}{t.ndim}")
def test_a_number_takes_the_type_of_the_tensor_beside_it_or_is_refused(
        tensor: Tensor, name: str) -> None:
    """Numbers and arrays beside tensors of every type, on both sides: no type changes silently."""
    op = ops.TABLE[name]
    for given in [*BESIDE, *TYPED]:
        if isinstance(given, Tensor):
            fits = given.dtype == tensor.dtype
        elif tensor.dtype in ("float32", "float64"):
            fits = True
        else:
            numbers = [float(v) for v in np.ravel(given)]
            fits = tensor.dtype != "bool" and all(
                v == int(v) and abs(v) < 2**31 for v in numbers)
        for a, b in ((tensor, given), (given, tensor)):
            if not fits:
                assert code_of(lambda a=a, b=b: op(a, b)) == "E0302"  # type: ignore[misc]
            elif tensor.dtype != "bool":
                assert op(a, b).dtype == tensor.dtype, (name, a, b)


# --- modules --------------------------------------------------------------------------------------

class Dense(Module):
    def __init__(self, n: int, m: int) -> None:
        self.w = Variable(np.ones((n, m)), name="w")
        self.b = Variable(np.zeros(m), name="b")

    def __call__(self, x: Any) -> Any:
        return x @ self.w + self.b


class Model(Module):
    def __init__(self) -> None:
        self.layers = [Dense(2, 3), Dense(3, 1)]
        self.named: dict[str, Any] = {
            "scale": Variable(2.0), "frozen": Variable(1.0, trainable=False),
            "deep": [{"x": (Variable(3.0), "text", 5)}]}
        self.again = self.layers[0]
        self.alias = self.layers[0].w
        self.number, self.array = 3, np.ones(2)
        self.own = self

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = ops.tanh(layer(x))
        return ops.sum(x) * self.named["scale"] * self.named["deep"][0]["x"][0]


def test_modules_gather_variables_from_attributes_lists_and_dictionaries() -> None:
    model = Model()
    first, second = model.layers
    deep = model.named["deep"][0]["x"][0]
    # `alias` is an attribute of the model itself, which comes before what its modules own.
    expected = [first.w, deep, model.named["frozen"], model.named["scale"], first.b, second.b,
                second.w]
    assert [id(v) for v in model.variables] == [id(v) for v in expected]
    assert [id(v) for v in model.trainable_variables] == [
        id(v) for v in expected if v is not model.named["frozen"]]
    assert Module().variables == []
    with GradientTape() as tape:
        y = model(constant([[1.0, -1.0]]))
    found = tape.gradient(y, model.trainable_variables)
    assert all(g is not None and g.shape == v.shape
               for g, v in zip(found, model.trainable_variables, strict=True))


def in_tensorflows_order(module: Any, seen: set[int]) -> list[Any]:
    """tf.Module's documented order: own variables sorted by attribute, then each module's."""
    def flat(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [leaf for _, item in sorted(value.items()) for leaf in flat(item)]
        if isinstance(value, (list, tuple)):
            return [leaf for item in value for leaf in flat(item)]
        return [value]

    found: list[Any] = []
    inside = []
    for _, value in sorted(vars(module).items()):
        for leaf in flat(value):
            if id(leaf) not in seen:
                seen.add(id(leaf))
                found += [leaf] if isinstance(leaf, Variable) else []
                inside += [leaf] if isinstance(leaf, Module) else []
    return found + [leaf for m in inside for leaf in in_tensorflows_order(m, seen)]


@pytest.mark.parametrize("seed", range(30))
def test_variables_come_in_tensorflows_order(seed: int) -> None:
    random = drawn(seed)
    modules = [Module() for _ in range(5)]
    variables = [Variable(float(k)) for k in range(12)]

    def value(depth: int) -> Any:
        kind = random.randrange(6 if depth else 2)
        if kind < 4:
            return random.choice([*variables, *modules] if kind else variables)
        items = [value(depth - 1) for _ in range(random.randrange(4))]
        return items if kind == 4 else {random.choice("pqrst"): item for item in items}

    for module in modules:
        for name in random.sample("abcdefgh", random.randrange(1, 6)):
            setattr(module, name, value(2))
    for module in modules:
        expected = in_tensorflows_order(module, {id(module)})
        assert [v.value for v in module.variables] == [v.value for v in expected]


@pytest.mark.parametrize(("kind", "name"), [
    ("Dense", "dense"), ("MyDense", "my_dense"), ("MLP", "mlp"), ("Dense2D", "dense2_d"),
    ("HTTPServer", "http_server"), ("lower", "lower")])
def test_names_of_modules(kind: str, name: str) -> None:
    made = type(kind, (Module,), {})
    assert made().name == name
    assert made(name="layer_1").name == "layer_1"
    for wrong in ("a b", "", "1a", "a/b", 3):
        assert code_of(lambda wrong=wrong: made(name=wrong)) == "E0302"  # type: ignore[misc]


def test_modules_in_modules() -> None:
    a, b, c = Module("a"), Module("b"), Module("c")
    a.b, b.c = b, c  # type: ignore[attr-defined]
    assert (a.submodules, b.submodules, c.submodules) == ([b, c], [c], [])


def test_modules_may_hold_themselves_and_change() -> None:
    model, other = Module(), Module()
    model.other, other.back = other, model  # type: ignore[attr-defined]
    items: list[Any] = []
    model.items = items  # type: ignore[attr-defined]
    items.append(items)
    assert model.variables == []
    items.append(Variable(1.0))
    other.w = Variable(2.0)  # type: ignore[attr-defined]
    assert [float(v) for v in model.variables] == [1.0, 2.0]
    del other.w  # type: ignore[attr-defined]
    assert [float(v) for v in model.variables] == [1.0]


# --- Jacobians ------------------------------------------------------------------------------------

def test_jacobians_of_every_rank() -> None:
    A = np.arange(1.0, 7.0).reshape(2, 3)
    x, v, s = constant(A), constant([1.0, 2.0, 3.0]), constant(2.0)
    tape, y = taped(lambda x, v, s: x @ (v * v) * s, x, v, s, persistent=True)
    jx, jv, js = tape.jacobian(y, [x, v, s])
    np.testing.assert_array_equal(jv.numpy(), 2.0 * A * [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(js.numpy(), A @ [1.0, 4.0, 9.0])
    np.testing.assert_array_equal(
        jx.numpy(), 2.0 * np.einsum("ik,j->ikj", np.eye(2), [1.0, 4.0, 9.0]))
    np.testing.assert_allclose(jx.numpy().sum(axis=0), tape.gradient(y, x).numpy())
    assert plain(tape.jacobian(y, {"s": s, "rest": [v]})["s"]) == plain(js)
    total, other = taped(lambda s: s * s * s, s), constant(1.0)
    assert plain(total[0].jacobian(total[1], [s, other])) == [12.0, None]


def test_jacobians_inside_and_outside_of_the_block_agree() -> None:
    x = constant([1.0, 2.0])
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = ops.outer(x, x) * x
        inside = tape.jacobian(y, x)
    np.testing.assert_array_equal(inside.numpy(), tape.jacobian(y, x).numpy())
    with GradientTape() as tape:
        tape.watch(x)
        y = ops.outer(x, x) * x
        np.testing.assert_array_equal(tape.jacobian(y, x).numpy(), inside.numpy())


def test_jacobians_of_nothing() -> None:
    for shape in ((0,), (0, 3), (2, 0)):
        x = constant(np.zeros(shape))
        tape, y = taped(lambda x: x * x, x, persistent=True)
        assert tape.jacobian(y, x).shape == shape + shape
        assert tape.gradient(y, x).shape == shape
        if len(shape) > 1:
            assert tape.batch_jacobian(y, x).shape == (*shape, *shape[1:])


def test_a_loop_over_rows_needs_a_persistent_tape() -> None:
    x = constant([[1.0, 2.0]])
    for ask in ("jacobian", "batch_jacobian"):
        tape, y = taped(lambda x: x * x, x)
        assert code_of(lambda tape=tape, y=y, ask=ask: getattr(tape, ask)(  # type: ignore[misc]
            y, x, experimental_use_pfor=False)) == "E0505"
        tape, y = taped(lambda x: x * x, x, persistent=True)
        found = getattr(tape, ask)(y, x, parallel_iterations=3, experimental_use_pfor=False)
        assert found.shape[-1] == 2


def test_batch_jacobians() -> None:
    X = np.arange(1.0, 13.0).reshape(2, 3, 2)
    x = constant(X)
    tape, (y, z) = taped(
        lambda x: (x ** 2, ops.sum(x ** 3, axis=2)), x, persistent=True)
    by_row = tape.batch_jacobian(y, x)
    assert by_row.shape == (2, 3, 2, 3, 2)
    for b, i, j, k, m in np.ndindex(by_row.shape):
        assert by_row.numpy()[b, i, j, k, m] == (2 * X[b, i, j] if (i, j) == (k, m) else 0.0)
    full = tape.jacobian(z, x).numpy()
    np.testing.assert_array_equal(
        tape.batch_jacobian(z, x).numpy(), np.stack([full[b, :, b] for b in range(2)]))
    np.testing.assert_array_equal(tape.batch_jacobian(x, x).numpy().reshape(2, 6, 6),
                                  np.stack([np.eye(6)] * 2))
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            cube = x ** 3
        blocks = inner.batch_jacobian(cube, x)
    np.testing.assert_array_equal(outer.gradient(blocks, x).numpy(), 6 * X)
    with ForwardAccumulator(x, ops.ones_like(x)) as forward:
        with GradientTape() as inner:
            inner.watch(x)
            cube = x ** 3
        blocks = inner.batch_jacobian(cube, x)
    np.testing.assert_array_equal(forward.jvp(blocks).numpy().sum(axis=(3, 4)), 6 * X)


def test_batch_jacobians_of_dependent_rows_and_of_nothing() -> None:
    x, other = constant([[1.0, 2.0], [3.0, 5.0]]), constant([[1.0, 2.0], [3.0, 5.0]])

    def centred(x: Any) -> Any:
        return x - ops.mean(x, axis=0)

    tape, y = taped(centred, x, persistent=True)
    found = error_of(lambda: tape.batch_jacobian(y, x))
    assert found.code == "E0315"
    assert "jacobian" in str(found.help)
    assert tape.batch_jacobian(y, other) is None
    assert plain(tape.batch_jacobian(y, other, "zero")) == np.zeros((2, 2, 2)).tolist()
    tape, y = taped(centred, x, persistent=True, tensorflow_semantics=True)
    assert plain(tape.batch_jacobian(y, x)) == np.zeros((2, 2, 2)).tolist()
    assert plain(tape.batch_jacobian(y, other)) == np.zeros((2, 2, 2)).tolist()


def test_shapes_that_are_no_batches() -> None:
    x, v, three = constant(np.ones((2, 2))), constant([1.0, 2.0]), constant(np.ones((3, 2)))
    tape = taped(lambda x, v, three: x * v, x, v, three, persistent=True)[0]
    for target, source in ((v, x), (x, v), (constant(1.0), x), (three, x), (x, three)):
        assert code_of(lambda t=target, s=source: tape.batch_jacobian(t, s)) == "E0301"  # type: ignore[misc]


# --- forward accumulators -------------------------------------------------------------------------

def test_forward_accumulators() -> None:
    x, v = constant([1.0, 2.0]), Variable(3.0)
    with ForwardAccumulator({"x": x, "v": [v]}, {"x": constant([1.0, 10.0]), "v": [2.0]}) as acc:
        y = x * x * v
        z = ops.sum(y)
        unrelated = constant(2.0) * 3.0
    assert plain(acc.jvp(y)) == [8.0, 128.0]
    assert plain(acc.jvp({"z": z, "parts": (y, x, v, unrelated)})) == {
        "z": 136.0, "parts": [[8.0, 128.0], [1.0, 10.0], 2.0, None]}
    assert plain(acc.jvp(unrelated, unconnected_gradients="zero")) == 0.0
    later = y * 2.0
    assert acc.jvp(later) is None
    with acc:
        later = y * 2.0
    assert plain(acc.jvp(later)) == [16.0, 256.0]


def test_nested_accumulators_know_the_tangent_of_an_answer() -> None:
    """exp and sqrt read their own answer: the outer tangent of that has to be there in time."""
    cases: list[tuple[Any, float]] = [
        (ops.exp, np.exp(0.7)), (ops.sqrt, -0.25 * 0.7 ** -1.5),
        (lambda t: ops.exp(t * t) * t, (4 * 0.7 ** 3 + 6 * 0.7) * np.exp(0.49)),
        (ops.tanh, -2 * np.tanh(0.7) / np.cosh(0.7) ** 2)]
    for f, second in cases:
        x = constant(0.7)
        with ForwardAccumulator(x, constant(1.0)) as outer, ForwardAccumulator(
                x, constant(1.0)) as inner:
            y = f(x)
        assert float(outer.jvp(inner.jvp(y))) == pytest.approx(second, rel=1e-14)
        assert inner.jvp(outer.jvp(y)) is None


def test_accumulators_of_types_and_integers() -> None:
    x, n = constant([1.0, 2.0], dtype="float32"), constant([1, 2])
    with ForwardAccumulator([x, n], [constant([1.0, 1.0], dtype="float32"),
                                     constant([1, 1])]) as acc:
        y, m = x * x, n * n
    assert acc.jvp(y).dtype == "float32"
    assert acc.jvp(m) is None
    assert acc.jvp(constant(1.0, dtype="float32"), "zero").dtype == "float32"


@pytest.mark.parametrize(("primals", "tangents", "code"), [
    (3.0, 1.0, "E0310"), (None, None, "E0310"), ([constant(1.0), "x"], [1.0, 1.0], "E0310"),
    ([constant(1.0)], 1.0, "E0313"), (constant([1.0, 2.0]), [1.0, 2.0], "E0313"),
    ({"a": constant(1.0)}, {"b": 1.0}, "E0313"), (constant(1.0), constant([1.0]), "E0301"),
    (constant([1.0, 2.0]), 1.0, "E0301"), (constant(1.0), constant(1), "E0302"),
    (constant(1.0), constant(1.0, dtype="float32"), "E0302"), (constant(1.0), None, "E0302"),
    (constant(1.0), "text", "E0306"),
])
def test_wrong_primals_and_tangents(primals: Any, tangents: Any, code: str) -> None:
    assert code_of(lambda: ForwardAccumulator(primals, tangents)) == code


def test_misuse_of_accumulators() -> None:
    x = constant(1.0)
    assert code_of(lambda: ForwardAccumulator([x, x], [1.0, 1.0])) == "E0310"
    w = Variable(1.0)
    assert code_of(lambda: ForwardAccumulator([w, w], [1.0, 1.0])) == "E0310"
    with ForwardAccumulator(x, 1.0) as acc:
        assert code_of(acc.__enter__) == "E0504"
        y = x * x
    for wrong in (3.0, None, [y, "x"], np.ones(2)):
        assert code_of(lambda wrong=wrong: acc.jvp(wrong)) == "E0310"  # type: ignore[misc]


def test_tangents_that_are_watched_themselves() -> None:
    """The JVP is linear in the tangent: its gradient there is the gradient of the function."""
    x, t = constant([1.0, 2.0]), constant([0.5, -1.0])
    with GradientTape(persistent=True) as tape:
        tape.watch([x, t])
        with ForwardAccumulator(x, t) as acc:
            y = ops.sum(x ** 3)
        along = acc.jvp(y)
    assert float(along) == pytest.approx(3.0 * 0.5 - 12.0)
    assert plain(tape.gradient(along, [x, t])) == [[3.0, -12.0], [3.0, 12.0]]


def test_the_public_names() -> None:
    for name in ("GradientTape", "ForwardAccumulator", "Variable", "Module", "constant",
                 "custom_gradient", "recompute_grad", "register_gradient", "stop_gradient"):
        assert name in dir(gradcli)
        assert callable(getattr(gradcli, name))


# --- found by comparing random programs with TensorFlow's answers ---------------------------------


def test_watching_an_intermediate_after_its_use_cuts_nothing() -> None:
    x = constant(3.0)
    with GradientTape() as tape:
        tape.watch(x)
        a = x * x
        y = a * a
        tape.watch(a)
        z = y * 3.0 + a
    assert [float(g) for g in tape.gradient(z, [x, a])] == [330.0, 55.0]


def test_what_only_another_tape_recorded_is_not_on_this_one() -> None:
    v, c = Variable([2.0, 3.0]), constant([5.0, 7.0])
    with GradientTape():
        s = v * 1.0
        with GradientTape(watch_accessed_variables=False) as tape:
            y = c * s
            tape.watch([c, y])
            z = y * 2.0
    of_c, of_y = tape.gradient(z, [c, y])
    assert of_c is None
    assert of_y.numpy().tolist() == [2.0, 2.0]


def test_a_primal_variable_keeps_its_tangent_when_it_is_assigned() -> None:
    v = Variable([1.0, 2.0])
    with ForwardAccumulator(v, constant([1.0, 1.0])) as acc:
        v.assign([5.0, 6.0])
        y = v * v
    assert acc.jvp(y).numpy().tolist() == [10.0, 12.0]


def test_a_variable_as_target_is_its_present_state() -> None:
    v = Variable([1.0, 2.0])
    with GradientTape(persistent=True) as tape:
        y = v * v
        v.assign([3.0, 4.0])
    assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]
    assert tape.watched_variables() == (v,)


def test_a_used_up_tape_watches_nothing() -> None:
    x = constant(2.0)
    with GradientTape() as tape:
        tape.watch(x)
        tape.gradient(x * x, x)
        with pytest.raises(GradcliError) as caught:
            tape.watch(x)
    assert caught.value.code == "E0501"


@pytest.mark.parametrize("big", [np.array([1e300]), np.array([-1e300, 1.0])])
def test_an_array_too_large_for_the_type_beside_it_is_infinite(big: Any) -> None:
    """Without a word of NumPy about a cast that nobody wrote."""
    v = gradcli.Variable(2.0, dtype="float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for made in (v * big, big * v, v + big, gradcli.ops.maximum(v, np.abs(big))):
            assert made.numpy().dtype == np.float32
            assert np.isinf(made.numpy()[0])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("by", [lambda v, t: gradcli.constant(v, dtype=t),
                                lambda v, t: gradcli.constant([1, v], dtype=t),
                                lambda v, t: gradcli.Variable(v, dtype=t),
                                lambda v, t: gradcli.Variable(1, dtype=t).assign(v),
                                lambda v, t: gradcli.Variable([1], dtype=t).assign([v])])
def test_a_whole_number_is_kept_or_refused(dtype: str, by: Any) -> None:
    """None is wrapped around, and none is of a type that there is not."""
    limit = 2**(int(dtype[3:]) - 1)
    for value in (limit - 1, -limit):
        made = by(value, dtype)
        assert np.ravel(made.value).tolist()[-1] == value
        assert made.dtype == dtype
    for value in (limit, 2**63, 2**64 - 1):
        with pytest.raises(GradcliError) as raised:
            by(value, dtype)
        assert raised.value.code == "E0404"
        assert "cannot be cast to int" in str(raised.value)
    assert gradcli.Variable(1.0).assign(2**70).value == 2.0**70


@pytest.mark.parametrize("value", [2**63, [2**63], np.array([2**63], "uint64"), 10**400])
def test_a_whole_number_without_a_type_fits_int64(value: Any) -> None:
    with pytest.raises(GradcliError, match="cannot be cast to int64"):
        gradcli.constant(value)
