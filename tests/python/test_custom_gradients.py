"""custom_gradient, register_gradient, recompute_grad and stop_gradient in Python.

Where a rule is right, derivatives to third order are mpmath's; where it is deliberately another
function's, the expected numbers are those of that function, written out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from conftest import folded
from test_tape import error_of

from gradcli import (
    ForwardAccumulator,
    GradcliError,
    GradientTape,
    Variable,
    constant,
    custom_gradient,
    loads,
    ops,
    recompute_grad,
    register_gradient,
)
from gradcli.engine.record import record as records
from gradcli.ops import TABLE
from gradcli.questions import Question
from gradcli.questions.why import why


@custom_gradient
def log1pexp(x: Any) -> Any:
    e = ops.exp(x)

    def grad(upstream: Any) -> Any:
        return upstream * (1 - 1 / (1 + e))

    return ops.log(1 + e), grad


@custom_gradient
def straight(x: Any) -> Any:
    """round, with the derivative of the identity."""
    return ops.round(x), lambda upstream: upstream


def slope(f: Callable[..., Any], *xs: Any) -> Any:
    with GradientTape() as tape:
        tape.watch(list(xs))
        y = f(*xs)
    found = tape.gradient(y, list(xs))
    return found if len(xs) > 1 else found[0]


def orders(f: Callable[[Any], Any], x: Any, forward: bool) -> list[float]:
    """f and three derivatives of it at a scalar; a missing one counts as 0."""
    out = [float(f(x))]

    def derived(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def by_tape(t: Any) -> Any:
            with GradientTape() as tape:
                tape.watch(t)
                y = g(t)
            return tape.gradient(y, t)

        def by_accumulator(t: Any) -> Any:
            with ForwardAccumulator(t, constant(1.0)) as accumulator:
                y = g(t)
            return accumulator.jvp(y)

        return by_accumulator if forward else by_tape

    for _ in range(3):
        f = derived(f)
        found = f(x)
        out.append(0.0 if found is None else float(found))
    return out


# --- the rule applies -----------------------------------------------------------------------------

@pytest.mark.parametrize("forward", [False, True])
def test_a_right_rule_to_third_order(forward: bool) -> None:
    for x in (-2.0, 0.3, 4.0):
        expected = [float(mp.diff(lambda t: mp.log(1 + mp.exp(t)), x, n)) for n in range(4)]
        assert orders(log1pexp, constant(x), forward) == pytest.approx(expected, rel=1e-12)


def test_the_rule_is_stable_where_the_formula_is_not() -> None:
    assert slope(log1pexp, constant(1000.0)).numpy() == 1.0


# Bodies that overflow, and their derivatives by a rule that does not.
OVERFLOWING: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[..., Any]]] = {
    "log1pexp": (lambda x: ops.log(1.0 + ops.exp(x)), ops.sigmoid,
                 lambda v: 1 / (1 + mp.exp(-v))),
    "log of a power": (lambda x: ops.log(ops.exp(2.0 * x)), lambda x: 2.0 + 0.0 * x,
                       lambda v: mp.mpf(2)),
    "ratio": (lambda x: ops.exp(x) / (1.0 + ops.exp(x)),
              lambda x: ops.sigmoid(x) * ops.sigmoid(-x),
              lambda v: mp.exp(-v) / (1 + mp.exp(-v)) ** 2),
    "of small numbers": (lambda x: ops.log(ops.exp(-x) * ops.exp(-x)), lambda x: -2.0 + 0.0 * x,
                         lambda v: mp.mpf(-2)),
}


@pytest.mark.parametrize("name", OVERFLOWING)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_what_overflows_in_the_body_alone_is_no_doubt(name: str, shape: tuple[int, ...]) -> None:
    """Warnings are errors here: there is none, and the numbers are the rule's."""
    body, rule, right = OVERFLOWING[name]

    @custom_gradient
    def f(x: Any) -> Any:
        return body(x), lambda upstream: upstream * rule(x)

    for point in (690.0, 720.0, 1000.0):
        x = constant(np.full(shape, point) if shape else point)
        want = float(right(mp.mpf(point)))
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            total = ops.reduce_sum(3.0 * y)
        assert np.asarray(tape.gradient(total, x).numpy()) == pytest.approx(3 * want, rel=1e-13)
        jacobian = np.asarray(tape.jacobian(y, x).numpy())
        assert np.diag(np.atleast_2d(jacobian)) == pytest.approx(want, rel=1e-13)
        with ForwardAccumulator(x, constant(np.ones(shape) if shape else 1.0)) as forward:
            y = f(x)
        assert np.asarray(forward.jvp(y).numpy()) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("use", [
    lambda y, x: x * x / y, lambda y, x: ops.exp(-y / 1000.0), lambda y, x: 1.0 / (1.0 + 1.0 / y)])
def test_what_the_program_makes_of_an_overflowing_value_is_in_doubt(
        use: Callable[[Any, Any], Any], shape: tuple[int, ...]) -> None:
    """Floats give 0 for slopes of 1, -1/(1000 e) and 1e-6."""
    x = constant(np.full(shape, 1000.0) if shape else 1000.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = use(log1pexp(x), x)
    with pytest.warns(RuntimeWarning, match="may be wrong"):
        tape.gradient(y, x)


@pytest.mark.parametrize("forward", [False, True])
def test_a_rule_of_another_function(forward: bool) -> None:
    """Value x^2, rule that of sin: derivatives are cos, -sin, -cos."""
    @custom_gradient
    def f(x: Any) -> Any:
        return x * x, lambda upstream: upstream * ops.cos(x)

    expected = [0.49, np.cos(0.7), -np.sin(0.7), -np.cos(0.7)]
    assert orders(f, constant(0.7), forward) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("forward", [False, True])
def test_a_custom_gradient_in_the_rule_of_another(forward: bool) -> None:
    """Value 5x, slope 2x by rule, whose own slope is x^3 by rule: then 3x^2."""
    @custom_gradient
    def inner(x: Any) -> Any:
        return 2.0 * x, lambda upstream: upstream * x * x * x

    @custom_gradient
    def outer(x: Any) -> Any:
        return 5.0 * x, lambda upstream: upstream * inner(x)

    assert orders(outer, constant(3.0), forward) == [15.0, 6.0, 27.0, 27.0]


def test_custom_gradients_nested_as_functions() -> None:
    @custom_gradient
    def inner(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 100.0

    @custom_gradient
    def outer(x: Any) -> Any:
        return inner(x) * x, lambda upstream: upstream * 7.0

    x = constant(3.0)
    assert float(outer(x)) == 27.0
    assert slope(outer, x).numpy() == 7.0
    assert slope(lambda t: inner(t) * t, x).numpy() == 309.0


def test_straight_through() -> None:
    x = constant([1.2, 1.7])
    np.testing.assert_array_equal(slope(lambda t: straight(t) * t, x).numpy(), [2.2, 3.7])
    assert slope(lambda t: ops.round(t), x) is None
    through = slope(lambda t: (t + ops.stop_gradient(ops.round(t) - t)) * t, x)
    np.testing.assert_allclose(through.numpy(), [2.2, 3.7], rtol=1e-15)


def test_the_rule_runs_once_for_each_question_and_not_at_the_call() -> None:
    ran: list[float] = []

    @custom_gradient
    def f(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            ran.append(float(upstream))
            return upstream

        return x * 2.0, grad

    x = constant(3.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        z = f(y) + f(y)
    assert ran == []
    tape.gradient(y, x)
    tape.gradient(y, x, output_gradients=5.0)
    assert ran == [1.0, 5.0]
    tape.gradient(z, x)
    assert ran == [1.0, 5.0, 1.0, 1.0, 2.0]
    del ran[:]
    other = constant(1.0)
    assert tape.gradient(z, other) is None
    assert ran == []


def test_forgetting_the_upstream_is_silent() -> None:
    @custom_gradient
    def f(x: Any) -> Any:
        return x * x, lambda upstream: 2.0 * x

    assert slope(lambda t: 10.0 * f(t), constant(3.0)).numpy() == 6.0


def test_none_means_no_gradient_there() -> None:
    @custom_gradient
    def f(x: Any, y: Any) -> Any:
        return x * y, lambda upstream: (upstream * y, None)

    x, y = constant(3.0), constant(4.0)
    dx, dy = slope(f, x, y)
    assert (float(dx), dy) == (4.0, None)
    assert float(slope(lambda x, y: f(x, y) + y, x, y)[1]) == 1.0
    for by_rows in (False, True):
        with GradientTape() as tape:
            tape.watch([x, y])
            z = ops.stack([f(x, y), 2.0 * f(x, y)]) if by_rows else f(x, y)
        assert tape.jacobian(z, y) is None


# --- arguments ------------------------------------------------------------------------------------

def test_several_arguments_and_values_in_any_structure() -> None:
    @custom_gradient
    def f(pair: Any, scale: Any) -> Any:
        a, b = pair

        def grad(*upstream: Any) -> Any:
            first, second = upstream
            return first * scale, second * scale, ops.sum(first * a) + ops.sum(second * b)

        return {"a": a * scale, "b": b * scale}, grad

    a, b, s = constant([1.0, 2.0]), constant(3.0), constant(10.0)
    with GradientTape(persistent=True) as tape:
        tape.watch([a, b, s])
        found = f([a, b], s)
    assert list(found) == ["a", "b"]
    da, db, ds = tape.gradient(found["a"], [a, b, s])
    np.testing.assert_array_equal(da.numpy(), [10.0, 10.0])
    assert (float(db), float(ds)) == (0.0, 3.0)
    assert float(tape.gradient(found, s)) == 6.0
    np.testing.assert_array_equal(tape.jacobian(found["a"], a).numpy(), 10.0 * np.eye(2))
    np.testing.assert_array_equal(tape.jacobian(found["a"], s).numpy(), [1.0, 2.0])


def test_values_of_different_types_keep_them() -> None:
    @custom_gradient
    def f(x: Any, y: Any) -> Any:
        return (x * x, y * y, ops.argmax(x)), lambda u, w, none: (u * 2.0, w * 3.0)

    x, y = constant([2.0, 3.0]), constant([1.0, 2.0], dtype="float32")
    with GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b, k = f(x, y)
    assert (a.dtype, b.dtype, k.dtype, int(k)) == ("float64", "float32", "int64", 1)
    da, db = tape.gradient([a, b], [x, y])
    assert (da.dtype, db.dtype) == ("float64", "float32")
    np.testing.assert_array_equal(db.numpy(), [3.0, 3.0])
    assert tape.gradient(k, x) is None


def test_keywords_are_arguments_and_defaults_are_not() -> None:
    @custom_gradient
    def f(x: Any, y: Any = 2.0, z: Any = 5.0) -> Any:
        return x * y * z, lambda *upstream: [10.0, 20.0, 30.0]

    x, y, z = constant(1.0), constant(2.0), constant(3.0)
    calls: list[Any] = [lambda: f(x, y, z), lambda: f(x, z=z, y=y), lambda: f(z=z, x=x, y=y)]
    for call in calls:
        with GradientTape() as tape:
            tape.watch([x, y, z])
            out = call()
        assert float(out) == 6.0
        assert [float(g) for g in tape.gradient(out, [x, y, z])] == [10.0, 20.0, 30.0]
    with GradientTape() as tape:
        tape.watch([x, z])
        out = f(x, z=z)  # y stands before z, so it is an argument too
    assert float(out) == 6.0
    assert [float(g) for g in tape.gradient(out, [x, z])] == [10.0, 30.0]

    @custom_gradient
    def g(x: Any, y: Any = 2.0) -> Any:
        return x * y, lambda upstream: upstream * 10.0

    calls = [lambda: g(x), lambda: g(x=x)]
    for call in calls:
        with GradientTape() as tape:
            tape.watch(x)
            out = call()
        assert (float(out), float(tape.gradient(out, x))) == (2.0, 10.0)


def test_keyword_only_numbers_are_options_and_tensors_arguments() -> None:
    @custom_gradient
    def f(x: Any, *, times: float = 2.0) -> Any:
        def grad(upstream: Any) -> Any:
            return (upstream * times * 10.0,) if isinstance(times, float) else (
                upstream * times * 10.0, upstream * 7.0)

        return x * times, grad

    x, t = constant(3.0), constant(4.0)
    with GradientTape(persistent=True) as tape:
        tape.watch([x, t])
        plain, given, tensor = f(x), f(x, times=5.0), f(x, times=t)
    assert [float(v) for v in (plain, given, tensor)] == [6.0, 15.0, 12.0]
    assert [float(tape.gradient(v, x)) for v in (plain, given, tensor)] == [20.0, 50.0, 40.0]
    assert float(tape.gradient(tensor, t)) == 7.0


def test_texts_functions_and_none_pass_through_and_numbers_are_arguments() -> None:
    @custom_gradient
    def f(x: Any, name: str, g: Any, nothing: None, n: Any) -> Any:
        assert (name, nothing) == ("sin", None)
        return g(x) * n, lambda upstream: (upstream * 2.0, upstream * 3.0)

    x = constant(0.5)
    assert float(slope(lambda t: f(t, "sin", ops.sin, None, 4.0), x)) == 2.0
    array = np.array([1.0, 2.0])

    @custom_gradient
    def h(x: Any, a: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return upstream * a, None

        return x * a, grad

    x = constant([3.0, 4.0])
    with GradientTape() as tape:
        tape.watch(x)
        y = h(x, array)
    array[:] = 0.0
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [1.0, 2.0])


@folded
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("number", [3, 3.0, True, np.float64(3.0), np.array([3.0, 1.0])])
@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "divide", "maximum", "power"])
def test_numbers_and_arrays_take_the_type_of_the_tensor_beside_them(
        name: str, number: Any, dtype: str) -> None:
    """As in a function without a gradient of its own."""
    op = TABLE[name]

    def plain(x: Any, n: Any) -> Any:
        return op(x, n) + op(n, x)

    @custom_gradient
    def custom(x: Any, n: Any) -> Any:
        return plain(x, n), lambda upstream: (upstream * n, None)

    x = constant([2.0, 5.0], dtype=dtype)
    for f in (custom, recompute_grad(plain)):
        with GradientTape() as tape:
            tape.watch(x)
            y, expected = f(x, number), plain(x, number)
        assert y.dtype == expected.dtype == dtype
        np.testing.assert_array_equal(y.numpy(), expected.numpy())
        assert tape.gradient(y, x).dtype == dtype


def test_whole_numbers_stay_whole() -> None:
    @custom_gradient
    def power(x: Any, n: int) -> Any:
        assert type(n) is int
        return x ** n, lambda upstream: (upstream * n * x ** (n - 1), None)

    np.testing.assert_array_equal(
        slope(lambda t: power(t, 3), constant(np.float32(2.0))).numpy(), np.float32(12.0))


# --- variables ------------------------------------------------------------------------------------

def test_variables_that_the_function_reads() -> None:
    w, frozen = Variable([1.0, 2.0], name="w"), Variable(5.0, trainable=False)

    @custom_gradient
    def f(x: Any) -> Any:
        def grad(upstream: Any, variables: Any) -> Any:
            assert variables == [w] or variables[0] is w
            return upstream * w * 10.0, [upstream * x * 100.0]

        return x * w * frozen, grad

    x = constant([3.0, 4.0])
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    dx, dw = tape.gradient(y, [x, w])
    np.testing.assert_array_equal(dx.numpy(), [10.0, 20.0])
    np.testing.assert_array_equal(dw.numpy(), [300.0, 400.0])
    assert tape.watched_variables() == (w,)
    np.testing.assert_array_equal(tape.jacobian(y, w).numpy(), np.diag([300.0, 400.0]))


def test_a_variable_as_argument_needs_no_keyword() -> None:
    w = Variable(3.0)

    @custom_gradient
    def f(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 7.0

    with GradientTape() as tape:
        y = f(w)
    assert float(tape.gradient(y, w)) == 7.0


def test_second_derivatives_through_variables() -> None:
    w = Variable(2.0)

    @custom_gradient
    def f(x: Any) -> Any:
        def grad(upstream: Any, variables: Any = None) -> Any:
            return upstream * w * w, [upstream * 2.0 * w * x]

        return x * w * w, grad

    x = constant(3.0)
    with GradientTape(persistent=True) as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        dx, dw = inner.gradient(y, [x, w])
    assert (float(dx), float(dw)) == (4.0, 12.0)
    assert float(outer.gradient(dw, w)) == 6.0
    assert float(outer.gradient(dw, x)) == 4.0
    assert float(outer.gradient(dx, w)) == 4.0
    assert float(outer.gradient(dx, x)) == 0.0


# --- errors ---------------------------------------------------------------------------------------

def ruled(grad: Any, value: Any = None) -> Any:
    @custom_gradient
    def mine(x: Any) -> Any:
        return (x * x if value is None else value), grad

    return mine


@pytest.mark.parametrize(("grad", "words"), [
    (lambda u: (u, u), "2 gradients for 1 arguments"),
    (lambda u: [], "0 gradients for 1 arguments"),
    (lambda u: 1.0, r"shape \[\], the argument \[2\]"),
    (lambda u: ops.stack([u, u]), r"shape \[2, 2\], the argument \[2\]"),
    (lambda u: u[:1], r"shape \[1\], the argument \[2\]"),
    (lambda u: "text", "no tensor"), (lambda u: object(), "no tensor"),
    (lambda u: {"x": u}, "no tensor"), (lambda u: [[[1.0], [1.0, 2.0]]], "no tensor"),
])
def test_wrong_gradients_are_named(grad: Any, words: str) -> None:
    f = ruled(grad)
    x = constant([1.0, 2.0])
    for question in ("gradient", "jacobian"):
        with GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        with pytest.raises(GradcliError, match=words) as raised:
            getattr(tape, question)(y, x)
        assert raised.value.code == "E0314"
        assert "`mine`" in raised.value.message
    with ForwardAccumulator(x, x), pytest.raises(GradcliError, match=words):
        f(x)
    assert records.current().accumulators == []


def test_wrong_numbers_of_gradients_of_variables() -> None:
    w = Variable(2.0, name="weight")

    def calling(grad: Any) -> Any:
        @custom_gradient
        def mine(x: Any) -> Any:
            return x * w, grad

        x = constant(3.0)
        with GradientTape() as tape:
            tape.watch(x)
            y = mine(x)
        return lambda: tape.gradient(y, [x, w])

    found = error_of(calling(lambda u: u * w))
    assert found.code == "E0316"
    assert "weight" in found.message
    assert error_of(calling(lambda u, variables: (u, [u, u]))).code == "E0314"
    assert error_of(calling(lambda u, variables: (u, []))).code == "E0314"
    assert error_of(calling(lambda u, variables: ((u, u), [u]))).code == "E0314"

    def failing(u: Any, variables: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        calling(failing)()


@pytest.mark.parametrize("answer", [
    lambda x: x * x, lambda x: (x * x, 3.0), lambda x: None, lambda x: (x, x, x),
    lambda x: ops.stack([x, x]), lambda x: 3.0])
def test_what_is_no_pair(answer: Any) -> None:
    found = error_of(lambda: custom_gradient(answer)(constant(2.0)))
    assert found.code == "E0316"
    assert "gradient function" in found.message
    assert records.current().readers == []


@pytest.mark.parametrize("value", ["text", object(), {"a": "b"}])
def test_values_that_are_no_tensors(value: Any) -> None:
    assert error_of(lambda: ruled(lambda u: u, value)(constant(2.0))).code == "E0316"


def test_exceptions_of_the_user_pass_as_they_are() -> None:
    @custom_gradient
    def raising(x: Any) -> Any:
        raise KeyError("in f")

    with pytest.raises(KeyError, match="in f"):
        raising(constant(1.0))

    def grad(upstream: Any) -> Any:
        raise KeyError("in grad")

    x = constant(1.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = ruled(grad)(x)
    with pytest.raises(KeyError, match="in grad"):
        tape.gradient(y, x)
    record = records.current()
    assert (record.readers, record.in_rules, record.place) == ([], False, None)


def test_types_do_not_mix_in_a_rule() -> None:
    wide = constant([1.0, 2.0])
    x = constant([1.0, 2.0], dtype="float32")
    with GradientTape() as tape:
        tape.watch(x)
        y = ruled(lambda u: u * wide)(x)
    assert error_of(lambda: tape.gradient(y, x)).code == "E0302"
    with GradientTape() as tape:
        tape.watch(x)
        y = ruled(lambda u: u.numpy().astype(float))(x)
    assert tape.gradient(y, x).dtype == "float32"


# --- register_gradient ----------------------------------------------------------------------------

@pytest.fixture
def restored() -> Iterator[None]:
    op = TABLE["adjust_contrast"]
    before = op.kind, op.rules, op.edges, op.by_parts, op.smooth
    yield
    op.kind, op.rules, op.edges, op.by_parts, op.smooth = before


IMAGE = np.arange(12.0).reshape(2, 2, 3) / 10


def test_an_operation_without_a_rule() -> None:
    image = constant(IMAGE)

    def taped(f: Callable[[Any], Any], x: Any) -> Callable[[], Any]:
        with GradientTape() as tape:
            tape.watch([image, x])
            y = f(ops.adjust_contrast(image, 2.0))
        return lambda: tape.gradient(y, x)

    found = error_of(taped(lambda y: ops.sum(y), image))
    assert found.code == "E0503"
    assert "`adjust_contrast` has no gradient" in found.message
    other = constant(1.0)
    assert error_of(taped(lambda y: ops.sum(y) * other, other)).code == "E0503"
    assert float(taped(lambda y: other * 2.0, other)()) == 2.0
    stopped = taped(lambda y: other * ops.sum(ops.stop_gradient(y)), other)
    assert float(stopped()) == pytest.approx(IMAGE.sum())
    with ForwardAccumulator(image, image):
        assert error_of(lambda: ops.adjust_contrast(image, 2.0)).code == "E0503"


@pytest.mark.usefixtures("restored")
def test_registering_its_gradient() -> None:
    """Contrast is (x - mean)*factor + mean over the pixels of a channel."""
    @register_gradient("adjust_contrast")
    def rule(upstream: Any, image: Any, factor: Any) -> Any:
        mean = ops.mean(upstream, axis=(-3, -2), keepdims=True)
        centred = image - ops.mean(image, axis=(-3, -2), keepdims=True)
        return (upstream - mean) * factor + mean, ops.sum(upstream * centred)

    image, factor = constant(IMAGE), constant(2.0)
    weights = np.cos(np.arange(12.0)).reshape(2, 2, 3)

    def contrast(x: Any, f: Any) -> Any:
        return (x - x.mean(axis=(0, 1))) * f + x.mean(axis=(0, 1))

    with GradientTape(persistent=True) as tape:
        tape.watch([image, factor])
        y = ops.adjust_contrast(image, factor)
        z = ops.sum(y * weights)
    dx, df = tape.gradient(z, [image, factor])
    for key in np.ndindex(IMAGE.shape):
        step = np.array(IMAGE, complex)
        step[key] += 1e-30j
        assert dx.numpy()[key] == pytest.approx(
            np.sum(contrast(step, 2.0) * weights).imag / 1e-30, rel=1e-12, abs=1e-14)
    assert float(df) == pytest.approx(np.sum(contrast(IMAGE, 2.0 + 1e-30j) * weights).imag / 1e-30)
    jacobian = tape.jacobian(y, factor)
    np.testing.assert_allclose(jacobian.numpy(), IMAGE - IMAGE.mean(axis=(0, 1)), atol=1e-15)
    with ForwardAccumulator(factor, constant(1.0)) as accumulator:
        y = ops.adjust_contrast(image, factor)
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), jacobian.numpy(), atol=1e-15)
    assert error_of(lambda: register_gradient("adjust_contrast")).code == "E0506"


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("rule", [
    lambda u, x, f: u, lambda u, x, f: (u, u), lambda u, x, f: (u[0], 1.0),
    lambda u, x, f: ("text", 1.0)])
def test_registering_a_wrong_rule(rule: Any) -> None:
    register_gradient("adjust_contrast")(rule)
    image, factor = constant(IMAGE), constant(2.0)
    with GradientTape() as tape:
        tape.watch([image, factor])
        y = ops.adjust_contrast(image, factor)
    found = error_of(lambda: tape.gradient(y, [image, factor]))
    assert found.code == "E0314"
    assert "adjust_contrast" in found.message


def test_what_cannot_be_registered() -> None:
    assert error_of(lambda: register_gradient("sin")).code == "E0506"
    assert error_of(lambda: register_gradient("floor")).code == "E0506"
    assert error_of(lambda: register_gradient("sinn")).code == "E0201"
    for wrong in (None, 3, ops.sin):
        assert error_of(lambda wrong=wrong: register_gradient(wrong)).code == "E0302"  # type: ignore[misc]


# --- recompute_grad -------------------------------------------------------------------------------

def test_recomputing_gives_the_same_gradients() -> None:
    ran: list[int] = []
    w = Variable([0.5, -0.3])

    def f(x: Any, y: Any) -> Any:
        ran.append(1)
        return ops.sin(x * w) * y, ops.sum(x)

    x, y = constant([1.0, 2.0]), constant(3.0)
    answers = []
    for g in (f, recompute_grad(f)):
        with GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            a, b = g(x, y)
            c = a * b
        del ran[:]
        answers.append([v.numpy() for v in (
            *tape.gradient(c, [x, y, w]), *tape.jacobian(a, [x, y, w]), tape.gradient(b, x))])
        assert bool(ran) == (g is not f)
    for plain, recomputed in zip(*answers, strict=True):
        np.testing.assert_allclose(recomputed, plain, rtol=1e-15)


@pytest.mark.parametrize("forward", [False, True])
def test_recomputing_to_third_order(forward: bool) -> None:
    f = recompute_grad(lambda x: ops.exp(ops.sin(x)) * x)
    expected = [float(mp.diff(lambda t: mp.exp(mp.sin(t)) * t, 0.7, n)) for n in range(4)]
    assert orders(f, constant(0.7), forward) == pytest.approx(expected, rel=1e-12)


def test_recomputing_a_function_that_opens_tapes() -> None:
    def f(x: Any) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = ops.sin(x) * x
        g = tape.gradient(y, x)
        with ForwardAccumulator(x, constant(1.0)) as accumulator:
            z = ops.cos(x)
        return g * accumulator.jvp(z)

    expected = [float(mp.diff(
        lambda t: -(mp.cos(t) * t + mp.sin(t)) * mp.sin(t), 0.7, n)) for n in range(4)]
    for forward in (False, True):
        assert orders(recompute_grad(f), constant(0.7), forward) == pytest.approx(
            expected, rel=1e-12)
        assert orders(f, constant(0.7), forward) == pytest.approx(expected, rel=1e-12)
    x = constant(0.7)
    with GradientTape() as tape:
        tape.watch(x)
        before = x * x
        y = recompute_grad(f)(before) * before
        after = y * x
    assert float(tape.gradient(after, x)) == pytest.approx(float(mp.diff(
        lambda t: -(mp.cos(t * t) * t * t + mp.sin(t * t)) * mp.sin(t * t) * t ** 3, 0.7)))


def test_recomputing_a_function_that_raises() -> None:
    @recompute_grad
    def f(x: Any) -> Any:
        raise KeyError("mine")

    x = constant(1.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(KeyError, match="mine"):
            f(x)
        z = y * x
    assert float(tape.gradient(z, x)) == 3.0


# --- stop_gradient --------------------------------------------------------------------------------

def test_stop_gradient_cuts_every_order_and_mode() -> None:
    x = constant(3.0)
    assert slope(lambda t: ops.stop_gradient(t), x) is None
    assert float(slope(lambda t: t * ops.stop_gradient(t), x)) == 3.0
    for forward in (False, True):
        found = orders(lambda t: t * t * ops.stop_gradient(t * t), x, forward)
        assert found == [81.0, 54.0, 18.0, 0.0]
    with ForwardAccumulator(x, constant(1.0)) as accumulator:
        y = ops.stop_gradient(x * x)
    assert accumulator.jvp(y) is None


@folded
@pytest.mark.parametrize("around", ["{}", "3*{}", "-{}", "0.1*{}", "{}^2", "-{} + 1"])
@pytest.mark.parametrize("rule", [
    "clip_by_norm(up, 0.5)", "clip(up, -0.5, 0.25)", "up*2", "sign(up)", "up^2"])
def test_the_slopes_of_a_way_multiply_to_the_gradient(rule: str, around: str) -> None:
    """Also where a rule does more than multiply by its upstream gradient."""
    text = ("@custom_gradient\ndef f(y):\n    def grad(up):\n        return " + rule
            + "\n    return y\nvar v = 2.0\ntape t:\n    a = "
            + around.format("f(3*" + around.format("f(v)") + ")") + "\ng = t.gradient(a, v)\n")
    source = why(Question(loads(text)))["results"][0]["sources"][0]
    if source["ways"] == 1:
        assert math.prod([step["slope"] for step in source["path"][1:]]) == pytest.approx(
            source["gradient"])
