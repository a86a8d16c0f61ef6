"""Gradients, Jacobians, Hessians and products with them, against references that share no code.

Random programs are read twice (see random_programs.py): by gradcli, and in mpmath, where central
differences at 60 digits give derivatives of any order. Complex steps in NumPy are a third witness,
sums, products and chains of programs a fourth.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from random_programs import DIGITS, KINKED, REFERENCES, SMOOTH, RandomProgram

from gradcli.engine import calculus
from gradcli.engine.record.tensor import leaf
from gradcli.ops import TABLE
from gradcli.python.program import loads
from gradcli.questions import Question, hess

SCALARS: dict[str, tuple[int, ...]] = {"x": (), "y": (), "z": ()}
ARRAYS: dict[str, tuple[int, ...]] = {"x": (), "v": (3,), "A": (2, 3)}


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield


def near(found: Any, expected: Any, scale: float = 1.0, rel: float = 1e-11) -> bool:
    return bool(abs(float(found) - float(expected)) <= rel * max(scale, abs(float(expected))))


def element(array: Any, key: tuple[int, ...]) -> float:
    return float(array[key]) if key else float(array)


def point(program: RandomProgram) -> dict[str, Any]:
    used = loads(program.text).names.inputs
    return {n: v for n, v in program.at.items() if n in used}


def slots(program: RandomProgram) -> list[tuple[str, Any]]:
    used = point(program)
    return [s for s in program.slots() if s[0] in used]


def build(seed: int, length: int = 8) -> RandomProgram:
    return RandomProgram(seed, ARRAYS if seed % 2 else SCALARS, length)


# --- random programs ----------------------------------------------------------------------------

def test_the_generator_draws_on_the_table_and_uses_its_inputs() -> None:
    assert len(SMOOTH) >= 45
    assert set(REFERENCES) - set(TABLE) == set()
    assert set(KINKED) <= set(TABLE)
    text = "\n".join(build(seed).text for seed in range(60))
    used = {name for name in SMOOTH if f"{name}(" in text}
    assert len(used) > 0.8 * len(SMOOTH)
    for word in ("@", "reshape", "[::-1]", "concat", "stack", "softmax", "keepdims", "outer"):
        assert word in text


@pytest.mark.parametrize("seed", range(100, 150))
def test_values_and_gradients(seed: int) -> None:
    program = build(seed)
    at = point(program)
    parsed = loads(program.text)
    assert near(parsed.value("out", at=at), program.evaluate(program.moved({})))
    found = parsed.gradient("out", at=at)
    run = parsed.run(at)
    with run.record:
        target = parsed.targets(run, ["out"])[0].tensor
        sources = [b.value for b in parsed.sources(run, list(found))]
        forward = dict(zip(found, (calculus.jacobian(target, [s], mode="forward")[0]
                                   for s in sources), strict=True))
    for name, key in slots(program):
        expected = program.derivative([(name, key)])
        if found[name] is None:
            assert forward[name] is None
            assert expected == 0
            continue
        assert near(element(found[name], key), expected)
        assert near(element(forward[name], key), expected)


@pytest.mark.parametrize("seed", range(200, 224))
def test_hessians(seed: int) -> None:
    program = build(seed)
    at = point(program)
    parsed = loads(program.text)
    found = parsed.hessian("out", at=at)
    # Reverse over reverse; the default is forward over reverse.
    result = hess(Question(parsed, at=at, of=["out"], mode="forward"))["results"][0]
    other = {(b["row"], b["col"]): b["hessian"] for b in result["blocks"]}
    draw = random.Random(seed)
    for _ in range(8):
        (a, j), (b, k) = draw.choice(slots(program)), draw.choice(slots(program))
        expected = program.derivative([(a, j), (b, k)])
        block = found[a][b]
        reverse = other[a, b]
        if block is None:
            assert reverse is None
            assert expected == 0
            continue
        assert near(element(block, j + k), expected, rel=1e-10)
        assert near(element(np.asarray(reverse), j + k), expected, rel=1e-10)
        assert near(element(found[b][a], k + j), expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(301, 331, 2))
def test_jacobians_of_arrays(seed: int) -> None:
    program = build(seed)
    at = point(program)
    found = loads(program.text).jacobian(program.vector, at=at)
    parsed = loads(program.text)
    run = parsed.run(at)
    for name, key in slots(program):
        expected = np.asarray(program.derivative([(name, key)], program.vector), dtype=float)
        if found[name] is None:
            assert not expected.any()
            continue
        column = found[name][(..., *key)] if key else found[name]
        np.testing.assert_allclose(column, np.broadcast_to(expected, column.shape), rtol=1e-11,
                                   atol=1e-11)
    with run.record:
        target = parsed.targets(run, [program.vector])[0].tensor
        for source in parsed.sources(run, list(found)):
            rows = calculus.jacobian(target, [source.value], mode="reverse")[0]
            columns = calculus.jacobian(target, [source.value], mode="forward")[0]
            assert (rows is None) == (columns is None)
            if rows is not None:
                np.testing.assert_allclose(rows, columns, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(400, 416))
def test_products_recorded_in_the_file(seed: int) -> None:
    """jvp, vjp, hvp and recorded jacobian and hessian are what the unrecorded blocks say."""
    program = build(seed)
    at = point(program)
    parsed = loads(program.text)
    hessians = parsed.hessian("out", at=at)
    draw = np.random.default_rng(seed)
    for name, value in at.items():
        if hessians[name][name] is None:
            continue
        block = np.asarray(hessians[name][name]).reshape(np.size(value), np.size(value))
        direction = np.round(draw.normal(size=np.shape(value)), 3)
        text = "\n".join([
            program.text, f"first = grad(out, {name})", f"second = hessian(out, {name})",
            f"product = hvp(out, {name}, direction)", f"along = jvp(out, {name}, direction)",
            f"back = vjp(first, {name}, direction)", f"again = jacobian(first, {name})"])
        given = {**at, "direction": direction if direction.shape else float(direction)}
        full = loads(text)
        gradient = parsed.gradient("out", name, at)[name]
        expected = (block @ direction.ravel()).reshape(direction.shape)

        def same(target: str, reference: Any, full: Any = full, given: Any = given) -> None:
            np.testing.assert_allclose(full.value(target, given), reference, rtol=1e-10, atol=1e-10)

        same("first", gradient)
        same("second", np.reshape(block, np.shape(value) * 2))
        same("product", expected)
        same("along", np.sum(gradient * direction))
        if full.value("back", given) is not None:
            same("back", expected)
            same("again", np.reshape(block, np.shape(value) * 2))


@pytest.mark.parametrize("seed", range(500, 520))
def test_third_derivatives(seed: int) -> None:
    """Derivatives of recorded Hessians and Jacobians: batch axes inside batch axes."""
    program = build(seed, 6)
    at = point(program)
    parsed = loads(program.text)
    draw = random.Random(seed)
    for _ in range(3):
        a, b, c = (draw.choice(slots(program)) for _ in range(3))
        expected = program.derivative([a, b, c])

        keys = ", ".join(str(k) for k in (*a[1], *b[1], *c[1]))
        pick = f"[{keys}]" if keys else ""
        zero = ', unconnected_gradients="zero")'
        first = f"grad(out, {a[0]}{zero}"
        forms = [f"jacobian(jacobian({first}, {b[0]}{zero}, {c[0]}{zero}{pick}"]
        if a[0] == b[0] and parsed.gradient("out", a[0], at)[a[0]] is not None:
            forms.append(f"jacobian(hessian(out, {a[0]}), {c[0]}{zero}{pick}")
        for form in forms:
            text = f"{program.text}\nthird = {form}"
            found = loads(text).value("third", at)
            assert near(0.0 if found is None else found, expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(600, 612))
def test_kinked_operations_away_from_their_kinks(seed: int) -> None:
    program = RandomProgram(seed, SCALARS, 8, [*KINKED, "sin", "multiply", "add"])
    at = point(program)
    found = loads(program.text).gradient("out", at=at)
    for name, key in slots(program):
        expected = program.derivative([(name, key)])
        assert near(0.0 if found[name] is None else found[name], expected)


# --- complex steps ------------------------------------------------------------------------------

def rosenbrock(v: Any) -> Any:
    return np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)


COMPLEX: list[tuple[str, Any]] = [
    ("sum(100*(v[1:] - v[:-1]^2)^2 + (1 - v[:-1])^2)", rosenbrock),
    ("log(sum(exp(v)))*v[2]", lambda v: np.log(np.sum(np.exp(v))) * v[2]),
    ("M @ v @ v / (v @ v)", lambda v: (M @ v) @ v / (v @ v)),
    ("tanh(M @ sin(v)) @ v", lambda v: np.tanh(M @ np.sin(v)) @ v),
    ("sum(outer(v, v)*M^2)", lambda v: np.sum(np.outer(v, v) * M ** 2)),
    ("softmax(M @ v)[1]*prod(v)", lambda v: (np.exp(M @ v) / np.exp(M @ v).sum())[1] * v.prod()),
    ("sum(sqrt(1 + (M*v)^2), axis=0) @ v", lambda v: np.sqrt(1 + (M * v) ** 2).sum(axis=0) @ v),
    ("sum(reshape(concat([v, v^2]), [2, 4]).T @ [v[0], v[1]])",
     lambda v: np.sum(np.reshape(np.concatenate([v, v ** 2]), (2, 4)).T @ v[:2])),
]
M = np.round(np.random.default_rng(5).normal(size=(4, 4)), 2)


@pytest.mark.parametrize(("text", "function"), COMPLEX, ids=[text for text, _ in COMPLEX])
def test_complex_steps(text: str, function: Any) -> None:
    at: dict[str, Any] = {"v": np.array([0.3, -0.7, 1.1, 0.4])}
    if "M" in text:
        at["M"] = M
    found = loads(text).gradient(wrt="v", at=at)["v"]
    for k in range(4):
        step = at["v"] + 1e-40j * np.eye(4)[k]
        assert near(found[k], function(step).imag / 1e-40, rel=1e-13)


# --- higher derivatives -------------------------------------------------------------------------

@pytest.mark.parametrize("order", range(1, 7))
def test_derivatives_of_exp_sin_in_three_notations(order: int) -> None:
    points = [k / 7 - 3 for k in range(43)]
    marks = "'" * order
    nested = "y"
    for _ in range(order):
        nested = f"grad({nested}, x)"
    primes = loads(f"f(t) = exp(sin(t))\nf{marks}(x)")
    grads = loads(f"y = exp(sin(x))\n{nested}")
    of_array = primes.value(at={"x": points})
    for k, x in enumerate(points):
        expected = mp.diff(lambda t: mp.exp(mp.sin(t)), mp.mpf(x), order)
        for found in (primes.value(at={"x": x}), grads.value(at={"x": x}), of_array[k]):
            assert near(found, expected, scale=0.1, rel=1e-12)


@pytest.mark.parametrize(("text", "reference"), [
    ("1/t", lambda t: 1 / t), ("sqrt(t)", mp.sqrt), ("log(t)", mp.log), ("tan(t)", mp.tan),
    ("t^2.5", lambda t: t ** mp.mpf(2.5)), ("2^t", lambda t: mp.mpf(2) ** t),
    ("t^t", lambda t: t ** t), ("atan(t)", mp.atan), ("asinh(t)", mp.asinh), ("erf(t)", mp.erf),
    ("tanh(t)", mp.tanh), ("sigmoid(t)", lambda t: 1 / (1 + mp.exp(-t))), ("gamma(t)", mp.gamma),
    ("t/(1 + t^2)", lambda t: t / (1 + t * t)), ("sin(t)/t", lambda t: mp.sin(t) / t),
    ("hypot(t, 2)", lambda t: mp.sqrt(t * t + 4)), ("atan2(t, 2)", lambda t: mp.atan2(t, 2)),
    ("acos(t/2)", lambda t: mp.acos(t / 2)), ("softplus(t)", lambda t: mp.log(1 + mp.exp(t))),
])
def test_four_orders_of_one_function(text: str, reference: Any) -> None:
    for x in (0.7, 1.3):
        for order in range(1, 5):
            found = loads(f"f(t) = {text}\nf{chr(39) * order}(x)").value(at={"x": x})
            assert near(found, mp.diff(reference, mp.mpf(x), order), scale=0.1, rel=1e-11)


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-100, -2.0, 3.0])
@pytest.mark.parametrize("power", range(6))
def test_polynomials_to_every_order_at_zero_and_elsewhere(power: int, x: float) -> None:
    """x^n is the polynomial: no NaN from 0*0^-1, and 0 beyond its degree."""
    written = [f"t^{power}", f"t**{power}", "*".join(["t"] * power) or "1 + 0*t"]
    for order in range(1, 9):
        coefficient = float(mp.ff(power, order))
        expected = coefficient * x ** (power - order) if power >= order else 0.0
        for text in written:
            source = f"f(t) = {text}\nf{chr(39) * order}(x)"
            assert near(loads(source).value(at={"x": x}), expected, scale=1e-300, rel=1e-14)
            found = loads(source).value(at={"x": np.array([x, x])})
            assert near(found[1], expected, scale=1e-300, rel=1e-14)


def test_horner_at_zero_gives_the_coefficients() -> None:
    coefficients = [3.0, -1.0, 4.0, 1.0, -5.0, 9.0]
    horner = "(" * 5 + "9" + "".join(f")*t + {c}" for c in reversed(coefficients[:-1]))
    for order in range(1, 6):
        text = f"f(t) = {horner}\nf{chr(39) * order}(0)"
        assert loads(text).value() == coefficients[order] * float(mp.factorial(order))


@pytest.mark.parametrize("text", [
    "x^0", "x^1", "x^2", "x^3", "x**2*y", "x*y^2", "(x + y)^2", "(x*y)^3", "square(x)*y^3",
    "sum([x, y]^[2, 3])", "prod([x, y, x])", "0*x^2",
])
def test_hessians_of_polynomials_at_the_origin(text: str) -> None:
    program = loads(text)
    used = list(program.names.inputs)
    found = program.hessian(at=dict.fromkeys(used, 0.0))
    expected = {
        "x^2": {"xx": 2.0}, "(x + y)^2": {"xx": 2.0, "xy": 2.0, "yx": 2.0, "yy": 2.0},
        "sum([x, y]^[2, 3])": {"xx": 2.0}}.get(text, {})
    for a in used:
        for b in used:
            assert found[a][b] == expected.get(a + b, 0.0)


# --- laws ---------------------------------------------------------------------------------------

def pair(seed: int) -> tuple[RandomProgram, RandomProgram, dict[str, Any]]:
    """Two programs at one point; names of the second are made different."""
    f = build(seed)
    g = RandomProgram(seed + 1000, f.inputs, 8)
    g.at = f.at
    return f, g, f.at


@pytest.mark.parametrize("seed", range(700, 712))
def test_sum_product_and_chain_rule(seed: int) -> None:
    f, g, at = pair(seed)
    renamed = re.sub(r"\b(t\d+|out)\b", r"\1_g", g.text)
    both = f"{f.text}\n{renamed}\n" + "\n".join([
        "total = 3*out - 2*out_g", "product = out*out_g", "ratio = out/(2 + tanh(out_g))",
        "chain = sin(out)*exp(out_g/10)"])
    program = loads(both)
    at = {n: v for n, v in at.items() if n in program.names.inputs}
    names = list(at)

    def slopes(target: str) -> dict[str, Any]:
        found = program.gradient(target, names, at)
        return {n: np.zeros(np.shape(at[n])) if s is None else np.asarray(s)
                for n, s in found.items()}

    df, dg = slopes("out"), slopes("out_g")
    u, w = program.value("out", at), program.value("out_g", at)
    laws = {
        "total": lambda n: 3 * df[n] - 2 * dg[n],
        "product": lambda n: df[n] * w + u * dg[n],
        "ratio": lambda n: df[n] / (2 + np.tanh(w)) - u * dg[n] / np.cosh(w) ** 2
        / (2 + np.tanh(w)) ** 2,
        "chain": lambda n: (np.cos(u) * df[n] + np.sin(u) * dg[n] / 10) * np.exp(w / 10)}
    for target, law in laws.items():
        found = slopes(target)
        for name in names:
            np.testing.assert_allclose(found[name], law(name), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(800, 810))
def test_hessians_are_symmetric_and_forward_is_the_transpose_of_reverse(seed: int) -> None:
    program = build(seed, 12)
    at = point(program)
    text = "\n".join([program.text, *[
        f"u_{n} = {np.round(np.random.default_rng(seed).normal(size=np.shape(v)), 2).tolist()}"
        for n, v in at.items()]])
    found = loads(program.text).hessian("out", at=at)
    for a in at:
        for b in at:
            if found[a][b] is None or found[b][a] is None:
                continue
            rows = np.reshape(found[a][b], (np.size(at[a]), np.size(at[b])))
            columns = np.reshape(found[b][a], (np.size(at[b]), np.size(at[a])))
            np.testing.assert_allclose(rows, columns.T, rtol=1e-9, atol=1e-10)
    for name in at:
        # <w, J u> by the forward sweep is <J^T w, u> by the reverse sweep.
        target = program.vector or "out"
        full = loads(f"{text}\nforwards = jvp({target}, {name}, u_{name})\n"
                     f"backwards = vjp({target}, {name}, ones_like({target}))")
        forwards, backwards = full.value("forwards", at), full.value("backwards", at)
        if forwards is not None:
            direction = loads(text).value(f"u_{name}", at)
            assert near(np.sum(forwards), np.sum(np.asarray(backwards) * direction), rel=1e-10)


def test_repeated_targets_and_sources() -> None:
    program = loads("y = x^2*v\nz = sum(y)")
    at = {"x": 3.0, "v": [1.0, 2.0]}
    assert program.gradient("z,z", "x", at) == {"x": 36.0}
    assert program.gradient("z,y", "x", at) == {"x": 36.0}
    run = program.run(at)
    with run.record:
        z = program.targets(run, ["z"])[0].tensor
        x = program.sources(run, ["x"])[0].value
        assert calculus.gradient([z], [x, x]) == [18.0, 18.0]
        assert calculus.gradient([z, z, z], [x]) == [54.0]
        assert calculus.gradient([z, z], [x], seeds=[1.0, 10.0]) == [198.0]


def test_a_target_that_is_its_own_source() -> None:
    program = loads("y = x^2\nz = y*x")
    assert program.gradient("x", "x", {"x": 3.0}) == {"x": 1.0}
    assert program.gradient("y", "y", {"x": 3.0}) == {"y": 1.0}
    assert program.hessian("y", "y", {"x": 3.0}) == {"y": {"y": 0.0}}
    np.testing.assert_array_equal(
        program.jacobian("x", "x", {"x": [1.0, 2.0]})["x"], np.eye(2))
    unused = leaf(3.0)
    assert calculus.gradient([unused], [unused]) == [1.0]


def test_a_source_and_an_intermediate_together_both_get_their_total() -> None:
    program = loads("y = x^2\nz = y*x + y")
    found = program.gradient("z", ["x", "y"], {"x": 3.0})
    assert found == {"x": 33.0, "y": 4.0}
    found = program.gradient("z,y", ["x", "y"], {"x": 3.0})
    assert found == {"x": 39.0, "y": 5.0}


def test_sources_that_come_after_the_target_give_none() -> None:
    program = loads("y = x^2\nz = y*x\nw = z^2")
    assert program.gradient("y", ["z", "w", "x"], {"x": 3.0}) == {"z": None, "w": None, "x": 6.0}
    assert program.hessian("y", ["z"], {"x": 3.0}) == {"z": {"z": None}}


@pytest.mark.parametrize(("shape", "other"), [
    ((), (3,)), ((1,), (3,)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1, 1), (2, 3)), ((1, 3), (2, 1)),
    ((), (2, 3)), ((2, 1, 3), (4, 1)), ((3,), (3,)), ((1,), ()),
])
@pytest.mark.parametrize(("text", "function"), [
    ("a*b + a", lambda a, b: a * b + a), ("a/(2 + b^2)", lambda a, b: a / (2 + b * b)),
    ("exp(a)*sin(b)", lambda a, b: np.exp(a) * np.sin(b)), ("where(b > 0, a*a, b)",
                                                           lambda a, b: np.where(b.real > 0, a * a,
                                                                                 b)),
    ("hypot(a, 2 + b^2)", lambda a, b: np.sqrt(a * a + (2 + b * b) ** 2)),
])
def test_unbroadcasting_to_first_and_second_order(shape: Any, other: Any, text: str, function: Any
                                                  ) -> None:
    draw = np.random.default_rng(3)
    at = {"a": np.asarray(draw.normal(size=shape)), "b": np.asarray(draw.normal(size=other))}
    program = loads(text)
    given = {n: v if v.shape else float(v) for n, v in at.items()}
    first = program.gradient(at=given)
    second = program.hessian(at=given)
    jacobians = program.jacobian(at=given)
    for name, value in at.items():
        assert np.shape(first[name]) == value.shape
        for key in np.ndindex(value.shape):
            def moved(step: Any, name: str = name, key: Any = key) -> dict[str, Any]:
                steps = {n: np.array(v, dtype=complex) for n, v in at.items()}
                steps[name][key] += step
                return steps

            column = function(**moved(1e-40j)).imag / 1e-40
            assert near(element(first[name], key), column.sum(), rel=1e-13)
            np.testing.assert_allclose(
                jacobians[name][(..., *key)] if np.shape(jacobians[name]) else jacobians[name],
                np.broadcast_to(column, np.broadcast_shapes(shape, other)), rtol=1e-13, atol=1e-14)
            # Second order: a complex step of a sixth-order real difference.
            h = 1e-2
            weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
            expected = sum(
                w * (np.sum(function(**moved(k * h + 1e-40j)).imag)
                     - np.sum(function(**moved(-k * h + 1e-40j)).imag)) / 1e-40 / h
                for k, w in weights.items())
            assert near(element(second[name][name], key + key), expected, rel=1e-8)


@pytest.mark.parametrize(("key", "text"), [
    ((0, slice(None), [0, 1]), "0, :, [0, 1]"),
    (([0, 1], slice(None), [0, 1]), "[0, 1], :, [0, 1]"),
    (([0, 1], slice(None), 0), "[0, 1], :, 0"),
    ((slice(None), [0, 1], [0, 1]), ":, [0, 1], [0, 1]"),
    ((0, [0, 1]), "0, [0, 1]"), ((0, None, [1, 0], slice(None)), "0, none, [1, 0], :"),
    (([1, 0], None), "[1, 0], none"), (([0, 1], slice(1, None), 0), "[0, 1], 1:, 0"),
    (([0, 0, 1],), "[0, 0, 1]"), ((slice(None, None, -1), 0, slice(0, 1)), "::-1, 0, 0:1"),
    ((-1, -1, -1), "-1, -1, -1"), (([[0, 1], [1, 1]], slice(None), [0, 1]),
                                   "[[0, 1], [1, 1]], :, [0, 1]"),
])
@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 2), (2, 2, 4)])
def test_every_form_of_index_with_batch_axes(key: Any, text: str, shape: tuple[int, ...]) -> None:
    """Rows and columns of the Jacobian against NumPy's own indexing of unit tensors.

    NumPy moves indices that a slice separates to the front, where the batch axes are.
    """
    n = int(np.prod(shape))
    B = np.round(np.random.default_rng(9).normal(size=shape), 2)
    selected = np.stack([unit.reshape(shape)[key] for unit in np.eye(n)], axis=-1).reshape(-1, n)
    program = loads(f"y = B[{text}]\nc = sum(y^3)\nrecorded = jacobian(y, B)")
    at = {"B": B}
    np.testing.assert_array_equal(program.value("y", at), B[key])
    np.testing.assert_array_equal(
        np.reshape(program.jacobian("y", at=at)["B"], selected.shape), selected)
    np.testing.assert_array_equal(
        np.reshape(program.value("recorded", at), selected.shape), selected)
    for mode in ("forward", "reverse"):
        run = program.run(at)
        with run.record:
            target = program.targets(run, ["y"])[0].tensor
            block = calculus.jacobian(target, [program.sources(run)[0].value], mode=mode)[0]
        np.testing.assert_array_equal(np.reshape(block, selected.shape), selected)
    second = selected.T @ np.diag(6 * selected @ B.ravel()) @ selected
    np.testing.assert_allclose(
        np.reshape(program.hessian("c", at=at)["B"]["B"], (n, n)), second, rtol=1e-13)


def test_weights_scale_and_have_to_fit() -> None:
    program = loads("v^2*x")
    at = {"v": [1.0, 2.0, 3.0], "x": 2.0}
    run = program.run(at)
    with run.record:
        target = program.targets(run)[0].tensor
        v, x = (b.value for b in program.sources(run))
        found = calculus.gradient([target], [v, x], seeds=[np.array([1.0, 0.0, -1.0])])
        np.testing.assert_allclose(found[0], [4.0, 0.0, -12.0])
        assert found[1] == -8.0
        np.testing.assert_allclose(calculus.gradient([target], [v], seeds=[2.0])[0],
                                   [8.0, 16.0, 24.0])
        with pytest.raises(Exception, match="shape"):
            calculus.gradient([target], [v], seeds=[np.ones(2)])


def test_float32_sources_have_float32_gradients() -> None:
    for text in ("sum(w^2)", "w @ w", "sum(sin(w)*2)", "float32(2)*w[0]^2"):
        found = loads(f"var w: float32[2] = [1.5, 2]\n{text}").gradient()["w"]
        assert found.dtype == np.float32
