"""Gates and activations, elementwise: sigmoid, softplus, relu and their kin.

Each is written so that it neither overflows nor loses its tail. Conventions at kinks as in
TensorFlow 2.21.
"""

from __future__ import annotations

import math

from gradcli.ops.discrete import equal, greater
from gradcli.ops.elementwise import LN2, PAIR, POSITIVE, REAL, absolute, exp, minimum, square, where
from gradcli.ops.kinds import elementwise
from gradcli.ops.lazy import np
from gradcli.ops.special import erfc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    # exp(x) cannot overflow here; 1/(1 + exp(-x)) would.
    e = math.exp(x)
    return e / (1 + e)


def _sigmoid_array(x: Any) -> Any:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _gelu_array(x: Any) -> Any:
    return 0.5 * x * erfc(-x * 0.7071067811865476)


sigmoid = elementwise(
    "sigmoid", "x", lambda x, ans: ans * sigmoid(-x), aliases="logistic expit",
    floats=_sigmoid, arrays=_sigmoid_array, samples=REAL, latex=r"\sigma\left({0}\right)",
    doc="1/(1 + exp(-x)) without overflow")
log_sigmoid = elementwise(
    "log_sigmoid", "x", lambda x, ans: sigmoid(-x), aliases="logsigmoid",
    floats=lambda x: min(x, 0.0) - math.log1p(math.exp(-abs(x))),
    arrays=lambda x: -np.logaddexp(0.0, -x), samples=REAL,
    latex=r"\ln \sigma\left({0}\right)", doc="log(sigmoid(x)) without underflow")
softplus = elementwise(
    "softplus", "x", lambda x, ans: sigmoid(x),
    floats=lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
    arrays=lambda x: np.logaddexp(0.0, x), samples=REAL,
    latex=r"\ln\left(1 + e^{{{0}}}\right)", doc="log(1 + exp(x)) without overflow")
softsign = elementwise(
    "softsign", "x", lambda x, ans: 1 / square(1 + absolute(x)),
    floats=lambda x: x / (1 + abs(x)), arrays=lambda x: x / (1 + np.abs(x)), samples=REAL,
    latex=r"\frac{{{0}}}{{1 + \left|{0}\right|}}", doc="x/(1 + |x|)")
relu = elementwise(
    "relu", "x", lambda x, ans: where(greater(x, 0.0), 1.0, 0.0),
    floats=lambda x: x if x > 0 or x != x else 0.0, arrays=lambda x: np.maximum(x, 0),
    samples=POSITIVE, latex=r"\operatorname{{relu}}\left({0}\right)", kinks="slope 0 at 0",
    kink=lambda x: equal(x, 0.0), doc="max(x, 0)")
leaky_relu = elementwise(
    "leaky_relu", "x", lambda x, ans: where(greater(x, 0.0), 1.0, 0.2),
    floats=lambda x: x if x > 0 else 0.2 * x, arrays=lambda x: np.where(x > 0, x, 0.2 * x),
    samples=POSITIVE, latex=r"\operatorname{{lrelu}}\left({0}\right)", kinks="slope 0.2 at 0",
    kink=lambda x: equal(x, 0.0), doc="x where positive, else 0.2*x")
elu = elementwise(
    "elu", "x", lambda x, ans: exp(minimum(x, 0.0)),
    floats=lambda x: x if x > 0 else math.expm1(x),
    arrays=lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), samples=REAL,
    latex=r"\operatorname{{elu}}\left({0}\right)", doc="x where positive, else exp(x) - 1")
gelu = elementwise(
    "gelu", "x",
    lambda x, ans: 0.5 * erfc(-0.7071067811865476 * x)
    + 0.3989422804014327 * x * exp(-0.5 * square(x)),
    floats=lambda x: 0.5 * x * math.erfc(-0.7071067811865476 * x), arrays=_gelu_array,
    samples=REAL, latex=r"\operatorname{{gelu}}\left({0}\right)",
    doc="x times the normal distribution function at x (Hendrycks and Gimpel 2016), exact form")
silu = elementwise(
    "silu", "x", lambda x, ans: sigmoid(x) * (1 + x * sigmoid(-x)), aliases="swish",
    floats=lambda x: x * _sigmoid(x), arrays=lambda x: x * _sigmoid_array(x), samples=REAL,
    latex=r"\operatorname{{silu}}\left({0}\right)", doc="x*sigmoid(x)")
logaddexp = elementwise(
    "logaddexp", "x y", lambda x, y, ans: sigmoid(x - y), lambda x, y, ans: sigmoid(y - x),
    floats=lambda x, y: x + LN2 if x == y else max(x, y) + math.log1p(math.exp(-abs(x - y))),
    arrays="logaddexp", samples=PAIR, latex=r"\ln\left(e^{{{0}}} + e^{{{1}}}\right)",
    doc="log(exp(x) + exp(y)) without overflow")
