"""Kinks, ties, edges of domains and extreme points: the conventions of each row.

As in TensorFlow 2.21 except where README says otherwise: integer powers at 0, norms and deviations
at a kink, and constant slopes, whose derivative is 0.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from conftest import folded
from transcripts import in_process

from gradcli import GradientTape, Variable, constant, ops
from gradcli.base.errors import GradcliError
from gradcli.ops import PUBLIC, lookup
from gradcli.python.program import loads

INF, NAN = math.inf, math.nan
HALF_PI = math.pi / 2
THIRD = 1 / 3

# (text, x, value, gradient, second derivative)
SCALARS: list[tuple[str, float, float, float, float]] = [
    # kinks
    ("abs(x)", 0, 0, 0, 0),
    ("x*abs(x)", 0, 0, 0, 0),
    ("sign(x)", 0, 0, 0, 0),
    ("sign(x)", -2, -1, 0, 0),
    ("relu(x)", 0, 0, 0, 0),
    ("leaky_relu(x)", 0, 0, 0.2, 0),
    ("elu(x)", 0, 0, 1, 1),
    ("softsign(x)", 0, 0, 1, 0),
    # ties go to the first argument, bounds count as inside
    ("maximum(x, 0)", 0, 0, 1, 0),
    ("maximum(0, x)", 0, 0, 0, 0),
    ("minimum(x, 0)", 0, 0, 1, 0),
    ("minimum(0, x)", 0, 0, 0, 0),
    ("max(x, 0, x)", 0, 0, 1, 0),
    ("clip(x, 0, 1)", 0, 0, 1, 0),
    ("clip(x, 0, 1)", 1, 1, 1, 0),
    ("clip(x, 0, 1)", 1.5, 1, 0, 0),
    ("clip(0.5, x, 2)", 0.5, 0.5, 0, 0),
    ("clip(0.5, x, 2)", 1, 1, 1, 0),
    ("x % 2", 3, 1, 1, 0),
    ("3 % x", 2, 1, -1, 0),
    ("3 % x", -2, -1, 2, 0),
    # powers and roots
    ("x^0", 0, 1, 0, 0),
    ("x^1", 0, 0, 1, 0),
    ("x^2", 0, 0, 0, 2),
    ("x^3", 0, 0, 0, 0),
    ("x^2", -3, 9, -6, 2),
    ("x^(-1)", -2, -0.5, -0.25, -0.25),
    ("0^x", 2, 0, 0, 0),
    ("0^x", 0, 1, -INF, INF),
    ("0^x", -1, INF, NAN, NAN),
    ("(-2)^x", 2, 4, 0, 0),
    ("x^0.5", 0, 0, INF, -INF),
    ("x^(1/3)", -8, NAN, NAN, NAN),
    ("cbrt(x)", -8, -2, 1 / 12, 1 / 144),
    ("cbrt(x)", 0, 0, INF, NAN),
    ("sqrt(x)", 0, 0, INF, -INF),
    ("sqrt(x)", -1, NAN, NAN, NAN),
    ("rsqrt(x)", 0, INF, -INF, INF),
    ("sqrt(x*x)", 0, 0, NAN, NAN),
    ("hypot(x, 0)", 0, 0, NAN, NAN),
    ("atan2(x, 0)", 0, 0, NAN, NAN),
    ("atan2(0, x)", -1, math.pi, 0, 0),
    ("1/x", 0, INF, -INF, INF),
    ("reciprocal(x)", 0, INF, -INF, INF),
    # logarithms
    ("log(x)", 0, -INF, INF, -INF),
    ("log(x)", -1, NAN, -1, -1),
    ("log1p(x)", -1, -INF, INF, -INF),
    ("log1p(x)", -2, NAN, -1, -1),
    ("log1p(x)", 1e-20, 1e-20, 1, -1),
    ("log2(x)", 8, 3, 1 / (8 * math.log(2)), -1 / (64 * math.log(2))),
    ("x*log(x)", 0, NAN, NAN, NAN),
    ("xlogy(x, 0)", 0, 0, -INF, 0),
    ("xlogy(0, x)", 0, 0, 0, 0),
    ("xlog1py(x, -1)", 0, 0, -INF, 0),
    ("xdivy(0, x)", 0, 0, 0, 0),
    # inverse functions at the edges of their domains
    ("asin(x)", 1, HALF_PI, INF, INF),
    ("acos(x)", -1, math.pi, -INF, INF),
    ("acosh(x)", 1, 0, INF, -INF),
    ("atanh(x)", 1, INF, INF, INF),
    ("atanh(x)", 2, NAN, -THIRD, 4 / 9),
    ("asec(x)", -2, 2 * math.pi / 3, 1 / (2 * math.sqrt(3)), 7 / (12 * math.sqrt(3))),
    ("acot(x)", -1, -math.pi / 4, -0.5, -0.5),
    ("acoth(x)", -3, -0.5 * math.log(2), -0.125, -0.09375),
    # far out: no overflow, no lost digits
    ("softplus(x)", 1000, 1000, 1, 0),
    ("softplus(x)", -1000, 0, 0, 0),
    ("log_sigmoid(x)", -1000, -1000, 1, 0),
    ("logaddexp(x, 0)", 1000, 1000, 1, 0),
    ("logaddexp(x, x)", 5, 5 + math.log(2), 1, 0),
    ("sigmoid(x)", -800, 0, 0, 0),
    ("sigmoid(x)", 40, 1, math.exp(-40), -math.exp(-40)),
    ("tanh(x)", 20, 1, 4 * math.exp(-40), -8 * math.exp(-40)),
    ("tanh(x)", 400, 1, 0, 0),
    ("sech(x)", 800, 0, 0, 0),
    ("silu(x)", -1000, 0, 0, 0),
    ("exp(x)", 1000, INF, INF, INF),
    ("sinh(x)", 1000, INF, INF, INF),
    ("expm1(x)", -1000, -1, 0, 0),
    ("expm1(x)", 1e-20, 1e-20, 1, 1),
    ("hypot(x, 1)", 1e200, 1e200, 1, 0),
    ("atan(x)", 1e200, HALF_PI, 0, 0),
    ("asinh(x)", 1e200, math.asinh(1e200), 1e-200, 0),
    ("acosh(x)", 1e200, math.acosh(1e200), 1e-200, 0),
    ("asec(x)", 1e200, HALF_PI, 0, 0),
    ("erfc(x)", 30, 0, 0, 0),
    ("erfcx(x)", 1e8, 1e-8 / math.sqrt(math.pi), -1e-16 / math.sqrt(math.pi),
     2e-24 / math.sqrt(math.pi)),
    ("dawsn(x)", 1e8, 5e-9, -5e-17, 1e-24),
    ("lgamma(x)", 1e10, 1e10 * (math.log(1e10) - 1) - 0.5 * math.log(1e10 / (2 * math.pi)),
     math.log(1e10) - 5e-11, 1e-10 + 5e-21),
    # special functions at 0, at poles and where textbook forms are 0/0
    ("gamma(x)", 0, INF, -INF, INF),
    ("gamma(x)", -1, NAN, NAN, NAN),
    ("digamma(x)", 0, -INF, INF, -INF),
    ("erfinv(x)", 1, INF, INF, INF),
    ("si(x)", 0, 0, 1, 0),
    ("sphericalj(0, x)", 0, 1, 0, -THIRD),
    ("sphericalj(1, x)", 0, 0, THIRD, 0),
    ("besselj(1, x)", 0, 0, 0.5, 0),
    ("besselj(0, x)", 0, 1, 0, -0.5),
    ("besseli(0, x)", 0, 1, 0, 0.5),
    ("lambertw(x)", 0, 0, 1, -2),
    ("lambertw(x)", -1 / math.e, -1, INF, -INF),
    ("ellipk(x)", 0, HALF_PI, math.pi / 8, 9 * math.pi / 64),
    ("ellipe(x)", 0, HALF_PI, -math.pi / 8, -3 * math.pi / 64),
    ("ellipk(x)", 1, INF, INF, INF),
    ("ellipe(x)", 1, 1, -INF, -INF),
    ("ellipe(x, 0.5)", 0, 0, 1, 0),
    ("gammainc(1, x)", 0, 1, -1, 1),
]


@folded
@pytest.mark.parametrize(("text", "x", "value", "slope", "second"), SCALARS)
def test_scalar(text: str, x: float, value: float, slope: float, second: float) -> None:
    program = loads(text)
    at = {"x": float(x)}
    got = [program.value(at=at), program.gradient(at=at)["x"], program.hessian(at=at)["x"]["x"]]
    np.testing.assert_allclose(got, [value, slope, second], rtol=1e-14, atol=1e-320)


@folded
@pytest.mark.parametrize(("text", "x", "value", "slope", "second"), SCALARS)
def test_array_agrees_with_scalar(text: str, x: float, value: float, slope: float,
                                  second: float) -> None:
    if text.startswith(("max(", "ellipe(x)")):
        text = text.replace("max(", "maximum(maximum(").replace(", x)", "), x)")
    program = loads(text)
    at = {"x": np.array([float(x)] * 2)}
    np.testing.assert_allclose(program.value(at=at), [value] * 2, rtol=1e-14)
    got = program.gradient(at=at)["x"]
    np.testing.assert_allclose(got, [slope] * 2, rtol=1e-14, atol=1e-320)
    np.testing.assert_allclose(np.diag(program.hessian(at=at)["x"]["x"]), [second] * 2,
                               rtol=1e-14, atol=1e-320)


# (text, x, value, gradient)
TENSORS: list[tuple[str, Any, Any, Any]] = [
    ("max(x)", [1, 2, 2], 2, [0, 0.5, 0.5]),
    ("min(x)", [1, 1, 2], 1, [0.5, 0.5, 0]),
    ("sum(max(x, axis=0))", [[1, 2], [1, 0]], 3, [[0.5, 1], [0.5, 0]]),
    ("norm(x, ord=inf)", [2, -2, 1], 2, [0.5, -0.5, 0]),
    ("norm(x)", [0, 0], 0, [0, 0]),
    ("norm(x, ord=1)", [0, -1], 1, [0, -1]),
    ("norm(x)^2", [0, 0], 0, [0, 0]),
    ("norm(x)", [3e200, 4e200], 5e200, [0.6, 0.8]),
    ("norm(x)", [3e-200, 4e-200], 5e-200, [0.6, 0.8]),
    ("std(x)", [2, 2, 2], 0, [0, 0, 0]),
    ("var(x)", [2, 2, 2], 0, [0, 0, 0]),
    ("prod(x)", [0, 2, 3], 0, [6, 0, 0]),
    ("prod(x)", [0, 0, 3], 0, [0, 0, 0]),
    ("prod(x)", [2, 3, 4, 5, 6], 720, [360, 240, 180, 144, 120]),
    ("logsumexp(x)", [800, -800], 800, [1, 0]),
    ("logsumexp(x)", [-800, -800], -800 + math.log(2), [0.5, 0.5]),
    ("softmax(x)[0]", [800, -800], 1, [0, 0]),
    ("-log(softmax(x)[0])", [1, 1], math.log(2), [-0.5, 0.5]),
    ("sum(abs(x))", [0, -2], 2, [0, -1]),
    ("sum(maximum(x, [1, 2]))", [1, 3], 4, [1, 1]),
    ("sum(where(x > 0, x^2, -x))", [-1, 0, 2], 5, [-1, -1, 4]),
    ("sum(where(x > 0, log(where(x > 0, x, 1)), 0))", [-1, 0, 1], 0, [0, 0, 1]),
    ("sum(x^[0, 1, 2])", [0, 0, 0], 1, [0, 1, 0]),
    ("sum(sqrt(x))", [4, 0], 2, [0.25, INF]),
    ("sum(xlogy(x, x))", [0, 1], 0, [-INF, 1]),
    ("sum(x[[0, 0]])", [3, 5], 6, [2, 0]),
]


@folded
@pytest.mark.parametrize(("text", "x", "value", "slope"), TENSORS)
def test_tensor(text: str, x: Any, value: Any, slope: Any) -> None:
    program = loads(text)
    at = {"x": x}
    np.testing.assert_allclose(program.value(at=at), value, rtol=1e-14)
    np.testing.assert_allclose(program.gradient(at=at)["x"], slope, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("text", ["floor(x)", "ceil(x)", "round(x)", "trunc(x)", "x // 2",
                                  "stop_gradient(x)", "x*0 == 0", "int(x)"])
def test_steps_answer_none(text: str) -> None:
    assert loads(text).gradient(at={"x": 0.5})["x"] is None


def test_polynomials_at_zero_to_third_order() -> None:
    """Never through log, nor through 0*0^-1."""
    texts = {"x^0": 0.0, "x^1": 0.0, "x^2": 0.0, "x^3": 6.0, "x^4": 0.0}
    for text, third in texts.items():
        program = loads(f"f(x) = {text}\nf'''(x)")
        assert program.value(at={"x": 0.0}) == third
    assert loads("f(x) = x^2\nf''(x)").gradient(at={"x": 0.0})["x"] == 0.0


@pytest.mark.parametrize("text", [
    "sphericalj(n, x)", "polygamma(n, x)", "besselj(n, x)", "elliptic_moment(n, n, x, 0.5)",
    "gammainc_log(n, 1, x)", "gammaincl_log(n, x, 2)", "erfcx_derivative(n, x)"])
def test_an_order_may_be_an_integer(text: str) -> None:
    whole, fraction = loads(f"var n: int64 = 2\n{text}"), loads(text.replace("n,", "2,"))
    at = {"x": 0.5}
    assert whole.gradient(at=at, wrt="x") == fraction.gradient(at=at)
    assert whole.hessian(at=at, wrt="x") == fraction.hessian(at=at)


@pytest.mark.parametrize("recorded", [False, True])
def test_python_calls_that_do_not_fit_are_told_by_name(recorded: bool) -> None:
    """Without Python's own words, which name private functions; no option is passed over."""
    x: Any = [[1.0, 2.0], [3.0, 4.0]]
    x = constant(x) if recorded else np.array(x)
    for name in sorted(PUBLIC):
        op = lookup(name)
        assert op is not None
        count = len(op.parameters)
        with pytest.raises(GradcliError) as told:
            op(*[x]*max(1, count), no_such_option=1)
        assert told.value.diagnostics[0].code == "E0208"
        assert "`no_such_option`" in told.value.diagnostics[0].message
        for given in {0, *range(count)}:
            with suppress(GradcliError):    # anything else is Python's own
                op(*[x]*given)


@pytest.mark.parametrize("text", [
    "arange(1e308)", "arange(0, 1, 1e-300)", "arange(5e18)", "zeros(4e15, 4e15)",
    "ones(4e15, 4e15)", "eye(9e15)", "tri(9e15)", "normal(4e15, 4e15)", "diag([1, 2], 9e15)",
    "fill([4e15, 4e15], 1)", "broadcast_to([1, 2], [9e15, 9e5, 2])"])
def test_what_no_address_can_count_has_a_code_without_a_budget(text: str) -> None:
    with pytest.raises(GradcliError) as problem:
        eval(text, {name: getattr(ops, name) for name in re.findall(r"\w+(?=\()", text)})
    assert problem.value.code == "E0403"
    assert in_process(["eval", "-e", f"sum({text})"])[0] == 3


@pytest.mark.parametrize("other", [2.0, 2, 0.3, -1.5, [2.0, -0.7]])
def test_divmod_is_the_quotient_and_the_remainder(other: Any) -> None:
    for x in (Variable(3.5), constant([3.5, -2.25])):
        for found, a, b in ((divmod(x, other), x, other), (divmod(other, x), other, x)):
            a, b = (np.asarray(getattr(v, "value", v)) for v in (a, b))
            for part, right in zip(found, (a // b, a % b), strict=True):
                np.testing.assert_allclose(part.value, right, rtol=1e-15)
    with GradientTape() as tape:
        x = Variable(3.5)
        y = divmod(x, 2)[1] * 3
    assert tape.gradient(y, x) == 3.0
