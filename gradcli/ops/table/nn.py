"""Gates, activations and layers: sigmoid, relu and their kin, softmax's logarithm, normalisation.

Each is written so that it neither overflows nor loses its tail. Conventions at kinks as in
TensorFlow 2.21 and Keras 3.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, elementwise, linear, unregistered
from gradcli.ops.table.discrete import (
    equal,
    greater,
    greater_equal,
    less,
    logical_and,
    logical_or,
    stop_gradient,
)
from gradcli.ops.table.elementwise import (
    LN2,
    PAIR,
    POSITIVE,
    absolute,
    add,
    clip,
    divide,
    exp,
    log,
    maximum,
    minimum,
    multiply,
    negative,
    rsqrt,
    sign,
    square,
    subtract,
    typed,
    where,
)
from gradcli.ops.table.hyperbolic import sech, tanh
from gradcli.ops.table.linalg import matmul
from gradcli.ops.table.reductions import mean, norm2, reduce_max, sum_
from gradcli.ops.table.shapes import REAL, concat, whole
from gradcli.ops.table.special import erfc
from gradcli.ops.values import plain, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.ops.values import Shape

INSIDE = ((0.1, 0.9),)
# Klambauer et al. (2017), Self-Normalizing Neural Networks, equation 14.
SELU = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    # exp(x) cannot overflow here; 1/(1 + exp(-x)) would.
    e = math.exp(x)
    return e / (1 + e)


def _sigmoid_array(x: Any) -> Any:
    if np.iscomplexobj(x):
        return 0.5 + 0.5*np.tanh(0.5*x)
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _logit(x: float) -> float:
    # Near 1/2 the logarithm would lose the digits of 2x - 1, which is exact there.
    return 2.0 * math.atanh(2.0 * x - 1.0) if 0.25 < x < 0.75 else math.log(x / (1.0 - x))


def _logit_array(x: Any) -> Any:
    middle = np.less(np.abs(np.subtract(x, 0.5)), 0.25)
    return typed(np.where(middle, 2.0 * np.arctanh(2.0 * np.where(middle, x, 0.5) - 1.0),
                          np.log(x / np.subtract(1.0, x))), x)


def _logcosh(x: float) -> float:
    # Near 0 in sinh, of which no digits are lost: cosh(x)^2 = 1 + sinh(x)^2.
    size = abs(x)
    return (0.5 * math.log1p(math.sinh(x) ** 2) if size < 2.0
            else size + math.log1p(math.exp(-2.0 * size)) - LN2)


def _logcosh_array(x: Any) -> Any:
    size = np.abs(x)
    return typed(np.where(
        size < 2.0, 0.5 * np.log1p(np.square(np.sinh(np.minimum(size, 2.0)))),
        size + np.log1p(np.exp(-2.0 * size)) - LN2), x)


# The slope is s(1-s), whose own derivative s(1-s)(1-2s) would cancel near 0; that of sech does not.
sigmoid = elementwise(
    "sigmoid", "x", lambda x, ans: square(0.5 * sech(0.5 * x)), aliases="logistic expit",
    floats=_sigmoid, arrays=_sigmoid_array, samples=REAL, latex=r"\sigma\left({0}\right)",
    doc="1/(1 + exp(-x)) without overflow",
    traits="bounded vanishing never_zero never_flat positive", complex_form="sigmoid",
    reference="1 / (1 + mp.exp(-x))")
log_sigmoid = elementwise(
    "log_sigmoid", "x", lambda x, ans: sigmoid(-x), aliases="logsigmoid",
    floats=lambda x: min(x, 0.0) - math.log1p(math.exp(-abs(x))),
    arrays=lambda x: -np.logaddexp(0.0, -x), samples=REAL,
    latex=r"\ln \sigma\left({0}\right)", doc="log(sigmoid(x)) without underflow",
    traits="never_flat", complex_form="log_sigmoid", reference="-mp.ln(1 + mp.exp(-x))")
softplus = elementwise(
    "softplus", "x", lambda x, ans: sigmoid(x),
    floats=lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
    arrays=lambda x: np.logaddexp(0.0, x), samples=REAL, aliases="log1pexp",
    latex=r"\ln\left(1 + e^{{{0}}}\right)", doc="log(1 + exp(x)) without overflow",
    traits="vanishing never_zero never_flat growing positive", complex_form="softplus",
    reference="mp.ln(1 + mp.exp(x))")
logit = elementwise(
    "logit", "x", lambda x, ans: 1.0 / (x * (1.0 - x)), floats=_logit, arrays=_logit_array,
    samples=INSIDE, latex=r"\operatorname{{logit}}\left({0}\right)", domain="0 <= x <= 1",
    kinks="slope inf at 0 and 1", doc="log(x/(1 - x)), the inverse of sigmoid, exact near 1/2",
    complex_form="arrays", reference="mp.ln(x) - mp.ln(1 - x)",
    guard={"inside": "clip({}, 1e-12, 1 - 1e-12)", "harmless": "0.5"})
logcosh = elementwise(
    "logcosh", "x", lambda x, ans: tanh(x), floats=_logcosh, arrays=_logcosh_array, samples=REAL,
    latex=r"\ln \cosh\left({0}\right)", doc="log(cosh(x)) without overflow, exact near 0",
    traits="growing real_only", complex_form="logcosh", reference="mp.ln(mp.cosh(x))")
softsign = elementwise(
    "softsign", "x", lambda x, ans: 1 / square(1 + absolute(x)),
    floats=lambda x: x / (1 + abs(x)), arrays=lambda x: x / (1 + np.abs(x)), samples=REAL,
    latex=r"\frac{{{0}}}{{1 + \left|{0}\right|}}", doc="x/(1 + |x|)", traits="never_flat real_only",
    complex_form="softsign", reference="x / (1 + mp.fabs(x))")
relu = elementwise(
    "relu", "x", lambda x, ans: sign(ans),
    floats=lambda x: x if x > 0 or x != x else 0.0, arrays=lambda x: np.maximum(x, 0),
    samples=POSITIVE, latex=r"\operatorname{{relu}}\left({0}\right)", kinks="slope 0 at 0",
    kink=lambda x: equal(x, 0.0), doc="max(x, 0)",
    traits="bounded in_pieces selecting not_negative switching real_only steady exact",
    complex_form=lambda z: np.where(np.real(z) > 0, z, 0.0), reference="max(x, mpf(0))")
relu6 = elementwise(
    "relu6", "x",
    lambda x, ans: sign(ans) * sign(6.0 - ans),
    floats=lambda x: min(max(x, 0.0), 6.0) if x == x else x,
    arrays=lambda x: np.minimum(np.maximum(x, 0), 6), samples=((-3.0, 9.0),),
    latex=r"\operatorname{{relu6}}\left({0}\right)", kinks="slope 0 at 0 and 6",
    kink=lambda x: logical_or(equal(x, 0.0), equal(x, 6.0)), doc="x kept between 0 and 6",
    traits="in_pieces selecting real_only", complex_form="relu6",
    reference="min(max(x, mpf(0)), mpf(6))")
prelu = elementwise(
    "prelu", "x alpha",
    lambda x, alpha, ans: where(greater(x, 0.0), 1.0, alpha),
    lambda x, alpha, ans: where(greater(x, 0.0), 0.0, x),
    floats=lambda x, alpha: x if x > 0 else alpha * x,
    arrays=lambda x, alpha: typed(np.where(np.greater(x, 0), x, np.multiply(alpha, x)), x, alpha),
    samples=((-3.0, 3.0), (0.1, 0.9)), latex=r"\operatorname{{prelu}}\left({0}, {1}\right)",
    kinks="slope alpha at 0", kink=lambda x, alpha: equal(x, 0.0),
    doc="x where positive, else alpha*x, with a slope for alpha", traits="in_pieces real_only",
    complex_form=lambda z, slope: np.where(np.real(z) > 0, z, slope * z),
    reference="x if x > 0 else alpha * x")
leaky_relu = composite(
    "leaky_relu", "x", lambda x, alpha=0.2: prelu(x, alpha), attributes={"alpha": 0.2},
    samples=POSITIVE, latex=r"\operatorname{{lrelu}}\left({0}\right)", kinks="slope alpha at 0",
    doc="x where positive, else alpha*x")
elu = elementwise(
    "elu", "x", lambda x, ans: exp(minimum(x, 0.0)),
    floats=lambda x: x if x > 0 else math.expm1(x),
    arrays=lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), samples=REAL,
    latex=r"\operatorname{{elu}}\left({0}\right)", doc="x where positive, else exp(x) - 1",
    traits="never_flat growing real_only", complex_form="elu",
    reference="x if x > 0 else mp.exp(x) - 1")
selu = elementwise(
    "selu", "x",
    lambda x, ans: 1.0507009873554805
    * where(greater_equal(x, 0.0), 1.0, 1.6732632423543772 * exp(minimum(x, 0.0))),
    floats=lambda x: SELU * (x if x > 0 else SELU_ALPHA * math.expm1(x)),
    arrays=lambda x: SELU * typed(
        np.where(np.greater(x, 0), x, SELU_ALPHA * np.expm1(np.minimum(x, 0))), x),
    samples=REAL, latex=r"\operatorname{{selu}}\left({0}\right)", kinks="slope 1.0507 at 0",
    kink=lambda x: equal(x, 0.0),
    doc="scaled elu that keeps mean 0 and variance 1 (Klambauer et al. 2017)",
    traits="never_flat growing real_only", complex_form="selu")
celu = composite(
    "celu", "x", lambda x, alpha=1.0: multiply(alpha, elu(divide(x, alpha))),
    attributes={"alpha": 1.0}, samples=REAL, domain="alpha != 0",
    latex=r"\operatorname{{celu}}\left({0}\right)",
    doc="alpha*elu(x/alpha), smooth at 0 (Barron 2017)")
gelu_erf = elementwise(
    "gelu_erf", "x",
    lambda x, ans: 0.5 * erfc(-0.7071067811865476 * x)
    + 0.3989422804014327 * x * exp(-0.5 * square(x)),
    floats=lambda x: 0.5 * x * math.erfc(-0.7071067811865476 * x),
    arrays=lambda x: 0.5 * x * erfc(-x * 0.7071067811865476),
    samples=REAL, latex=r"\operatorname{{gelu}}\left({0}\right)",
    doc="x times the normal distribution function at x (Hendrycks and Gimpel 2016), exact form",
    complex_form="gelu_erf", reference="x * mp.ncdf(x)")


def _gelu_tanh(x: Any) -> Any:
    # (1 + tanh(u))/2 is sigmoid(2u), which keeps the digits of the left tail.
    return multiply(x, sigmoid(multiply(multiply(1.5957691216057308, x),
                                        add(1.0, multiply(0.044715, square(x))))))


gelu_tanh = composite(
    "gelu_tanh", "x", _gelu_tanh, samples=REAL,
    latex=r"\operatorname{{gelu}}\left({0}\right)",
    doc="x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3)))/2 (Hendrycks and Gimpel 2016)")
gelu = composite(
    "gelu", "x", lambda x, approximate=False: (gelu_tanh if approximate else gelu_erf)(x),
    attributes={"approximate": False}, samples=REAL,
    latex=r"\operatorname{{gelu}}\left({0}\right)",
    doc="x times the normal distribution function at x; approximate=true by tanh")
silu = elementwise(
    "silu", "x", lambda x, ans: sigmoid(x) * (1 + x * sigmoid(-x)), aliases="swish",
    floats=lambda x: x * _sigmoid(x), arrays=lambda x: x * _sigmoid_array(x), samples=REAL,
    latex=r"\operatorname{{silu}}\left({0}\right)", doc="x*sigmoid(x)", traits="vanishing",
    complex_form="silu", reference="x / (1 + mp.exp(-x))")
logaddexp = elementwise(
    "logaddexp", "x y", lambda x, y, ans: sigmoid(x - y), lambda x, y, ans: sigmoid(y - x),
    floats=lambda x, y: x + LN2 if x == y else max(x, y) + math.log1p(math.exp(-abs(x - y))),
    arrays="logaddexp", samples=PAIR, latex=r"\ln\left(e^{{{0}}} + e^{{{1}}}\right)",
    doc="log(exp(x) + exp(y)) without overflow", traits="never_flat growing",
    complex_form="logaddexp", reference="mp.ln(mp.exp(x) + mp.exp(y))")
hard_sigmoid = elementwise(
    "hard_sigmoid", "x",
    lambda x, ans: where(
        logical_and(greater(x, -3.0), less(x, 3.0)), 0.16666666666666666, 0.0),
    floats=lambda x: min(max(x + 3.0, 0.0), 6.0) / 6.0 if x == x else x,
    arrays=lambda x: np.minimum(np.maximum(np.add(x, 3.0), 0.0), 6.0) / 6.0,
    samples=((-5.0, 5.0),), latex=r"\operatorname{{hardsigmoid}}\left({0}\right)",
    kinks="slope 0 at -3 and 3",
    kink=lambda x: equal(absolute(x), 3.0), doc="relu6(x + 3)/6, as in Keras 3",
    traits="in_pieces real_only",
    complex_form="hard_sigmoid", reference="min(max(x / 6 + mpf(1) / 2, mpf(0)), mpf(1))")
hard_swish = composite(
    "hard_swish", "x", lambda x: multiply(x, hard_sigmoid(x)), aliases="hard_silu",
    samples=((-5.0, 5.0),), kinks="slopes 0 at -3, 1 at 3",
    doc="x*hard_sigmoid(x) (Howard et al. 2019)")
hard_tanh = composite(
    "hard_tanh", "x", lambda x: clip(x, -1.0, 1.0), aliases="hardtanh", samples=REAL,
    kinks="slope 1 at -1 and 1", doc="x kept between -1 and 1")
mish = composite(
    "mish", "x", lambda x: multiply(x, tanh(softplus(x))), samples=REAL,
    latex=r"\operatorname{{mish}}\left({0}\right)", doc="x*tanh(softplus(x)) (Misra 2019)")
crelu = composite(
    "crelu", "x", lambda x, axis=-1: concat(relu(x), relu(negative(x)), axis=axis),
    attributes={"axis": -1}, samples=REAL, kinks="slope 0 at 0",
    doc="relu(x) and relu(-x) joined along an axis")

# --- normalisation ----------------------------------------------------------------------------


def _log_softmax(x: Any, axis: Any = -1) -> Any:
    if 0 in shape_of(x):
        return subtract(x, 0.0)
    shifted = subtract(x, stop_gradient(reduce_max(x, axis=axis, keepdims=True)))
    return subtract(shifted, log(sum_(exp(shifted), axis=axis, keepdims=True)))


log_softmax = composite(
    "log_softmax", "x", _log_softmax, attributes={"axis": -1}, samples=REAL,
    latex=r"\ln \operatorname{{softmax}}\left({0}\right)",
    doc="log(softmax(x)) along an axis, without overflow or underflow")


def _l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12) -> Any:
    length = norm2(x, axis=axis, keepdims=True)
    return divide(x, maximum(length, math.sqrt(max(epsilon, 0.0))))


l2_normalize = composite(
    "l2_normalize", "x", _l2_normalize, aliases="normalize",
    attributes={"axis": None, "epsilon": 1e-12}, samples=REAL,
    kinks="slope 1/sqrt(epsilon) where x is 0",
    doc="x/max(norm(x), sqrt(epsilon)) along axes, by default all")


def _moments(x: Any, axes: Any = None, keepdims: Any = False) -> list[Any]:
    centre = mean(x, axis=axes, keepdims=True)
    spread = mean(square(subtract(x, centre)), axis=axes, keepdims=keepdims)
    return [centre if keepdims else mean(x, axis=axes), spread]


moments = composite(
    "moments", "x", _moments, attributes={"axes": None, "keepdims": False}, samples=REAL,
    doc="[mean, variance] over axes, by default all")


def _several(name: str, given: Sequence[Any], names: str) -> list[Any]:
    """Return optional operands, filled up with None. Raises E0207 where there are too many."""
    known = names.split()
    if len(given) > len(known):
        raise error("E0207", f"`{name}` takes at most {', '.join(known)} here, not"
                    f" {len(given)} values", help="leave out the last ones")
    return [*given, *[None] * (len(known) - len(given))]


def _scaled(x: Any, centre: Any, variance: Any, offset: Any, scale: Any, epsilon: Any) -> Any:
    """Return (x - centre)/sqrt(variance + epsilon)*scale + offset."""
    factor = rsqrt(add(variance, epsilon))
    y = multiply(subtract(x, centre), factor if scale is None else multiply(factor, scale))
    return y if offset is None else add(y, offset)


def _layer_norm(x: Any, *rest: Any, axis: Any = -1, epsilon: Any = 1e-3) -> Any:
    scale, offset = _several("layer_norm", rest, "scale offset")
    centre, variance = _moments(x, axis, True)
    return _scaled(x, centre, variance, offset, scale, epsilon)


layer_norm = composite(
    "layer_norm", "x *scale_offset", _layer_norm, aliases="layer_normalization",
    attributes={"axis": -1, "epsilon": 1e-3}, samples=REAL,
    doc="(x - mean)/sqrt(variance + epsilon) along an axis, times scale plus offset if given")


def _batch_norm(x: Any, centre: Any, variance: Any, *rest: Any, epsilon: Any = 1e-3) -> Any:
    offset, scale, given = _several("batch_norm", rest, "offset scale epsilon")
    return _scaled(x, centre, variance, offset, scale, epsilon if given is None else given)


batch_norm = composite(
    "batch_norm", "x mean variance *offset_scale", _batch_norm, aliases="batch_normalization",
    attributes={"epsilon": 1e-3}, samples=(REAL[0], REAL[0], POSITIVE[0]),
    doc="(x - mean)/sqrt(variance + epsilon), times scale plus offset: batch_norm(x, m, v, b, g)")

# --- layers -----------------------------------------------------------------------------------


def _add_n_prepare(shapes: Sequence[Shape]) -> dict[str, Any]:
    if not shapes:
        raise error("E0301", "nothing to add: the list is empty", help="give at least one tensor")
    for s in shapes[1:]:
        if tuple(s) != tuple(shapes[0]):
            raise error("E0301", f"`add_n` cannot add shapes {show(shapes[0])} and {show(s)}",
                        help="all need the same shape; + broadcasts")
    return {}


def _add_n(cores: Sequence[int], *xs: Any) -> Any:
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


add_n = linear(
    "add_n", "*xs", lambda g, ans, *xs: [g] * len(xs), prepare=_add_n_prepare, arrays=_add_n,
    samples=REAL, latex=r"\sum {0}", doc="the sum of a list of tensors of one shape")


def _bias_add(x: Any, bias: Any) -> Any:
    last = shape_of(x)[-1:]
    if not last or shape_of(bias) != last:
        raise error("E0301", f"`bias_add` needs a vector as long as the last axis of x:"
                    f" {show(shape_of(x))} and {show(shape_of(bias))}", help="use + to broadcast")
    return add(x, bias)


bias_add = composite(
    "bias_add", "x bias", _bias_add, samples=REAL * 2, latex="{0} + {1}",
    doc="x plus a vector along its last axis")


def _dense(x: Any, weights: Any, *rest: Any) -> Any:
    (bias,) = _several("dense", rest, "bias")
    y = matmul(x, weights)
    return y if bias is None else add(y, bias)


dense = composite(
    "dense", "x weights *bias", _dense, aliases="xw_plus_b", samples=REAL * 2,
    doc="x @ weights + bias: dense(x, w, b)")


def _dropout(x: Any, rate: Any = 0.5, seed: Any = 0.0) -> Any:
    if not isinstance(rate, (int, float)) or not 0.0 <= rate < 1.0:
        raise error("E0404", f"`dropout` needs a rate from 0 to below 1, not {rate!r}",
                    help="such as dropout(x, 0.5)")
    generator = np.random.default_rng(abs(whole(seed, "a seed")))
    kept = plain(np.asarray(generator.random(shape_of(x)) >= rate))
    # Selected, not multiplied by 0: what is dropped spoils nothing where it is infinite.
    return where(kept, multiply(x, 1.0/(1.0 - rate)), 0.0)


dropout = composite(
    "dropout", "x", _dropout, attributes={"rate": 0.5, "seed": 0.0}, samples=REAL,
    doc="each element 0 with the probability of the rate, else divided by 1 - rate; by a seed")


def _adjust_contrast_prepare(shapes: Sequence[Shape]) -> dict[str, Any]:
    image, factor = shapes
    if len(image) < 3 or factor:
        raise error("E0301", "`adjust_contrast` needs an image of height, width and channels and a"
                    f" number, not {show(image)} and {show(factor)}",
                    help="an image has at least 3 axes")
    return {}


def _adjust_contrast(cores: Sequence[int], image: Any, factor: Any) -> Any:
    if not np.size(image):
        return image
    centre = np.mean(image, axis=(-3, -2), keepdims=True)
    by = np.reshape(factor, (*shape_of(factor), *(1,) * cores[0]))
    return typed((image - centre) * by + centre, image)


adjust_contrast = unregistered(
    "adjust_contrast", "image factor", prepare=_adjust_contrast_prepare, arrays=_adjust_contrast,
    samples=REAL * 2,
    doc="(image - mean)*factor + mean, the mean per channel; no gradient, as in TensorFlow",
    complex_form="contrast")
