"""What trains a model: losses (cross entropies from logits that neither overflow nor lose digits,
and Keras' functions), gradients kept in bounds, a check for NaN and infinity.

Losses are composites, so that derivatives of every order follow from their parts. Labels come
first, as in TensorFlow. Those of Keras return one number per row: the mean over the last axis; with
axis=none over all elements. TensorFlow 2.21 takes labels of `softmax_cross_entropy` for a
distribution and returns softmax - labels as slope; here the slope is right for any labels.

Clipping takes lists of gradients as they come: an entry that is None stays None. Formulas and edges
as in TensorFlow 2.21, with norms that do not overflow.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, linear
from gradcli.ops.table.discrete import greater_equal, less, less_equal, logical_and
from gradcli.ops.table.elementwise import (
    absolute,
    add,
    clip,
    divide,
    exp,
    log,
    maximum,
    multiply,
    multiply_no_nan,
    negative,
    square,
    squared_difference,
    subtract,
    where,
)
from gradcli.ops.table.nn import l2_normalize, log_softmax, logcosh, softplus
from gradcli.ops.table.reductions import mean, norm2, sum_
from gradcli.ops.table.shapes import REAL, index, reshape, stack
from gradcli.ops.values import SCALAR_TYPES, broadcast_shape, is_float, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op


PAIR = ((0.1, 0.9), (-3.0, 3.0))
SHARES = ((0.1, 0.9), (0.1, 0.9))
LAST = {"axis": -1}
KERAS_EPSILON = 1e-7

# --- cross entropies from logits --------------------------------------------------------------


def _softmax_cross_entropy(labels: Any, logits: Any, axis: Any = -1) -> Any:
    # A logit of -inf has probability 0, which does no harm where the label is 0.
    products = multiply_no_nan(log_softmax(logits, axis=axis), labels)
    return negative(sum_(products, axis=axis))


softmax_cross_entropy = composite(
    "softmax_cross_entropy", "labels logits", _softmax_cross_entropy,
    aliases="softmax_cross_entropy_with_logits", attributes=LAST, samples=PAIR,
    doc="-sum(labels*log_softmax(logits)) along an axis")


def _classes(labels: Any, count: int) -> None:
    """Raise E0303 for a label that is not whole, E0305 for one that is no class."""
    values = np.asarray(getattr(labels, "value", labels))
    if values.dtype.kind not in "iu" and not np.all(values == np.floor(values)):
        raise error("E0303", "`sparse_softmax_cross_entropy` needs whole numbers as labels",
                    help="for shares of classes there is softmax_cross_entropy")
    if values.size and not (values.min() >= 0 and values.max() < count):
        raise error("E0305", f"a label of `sparse_softmax_cross_entropy` is out of range: there are"
                    f" {count} classes", help=f"labels go from 0 to {count - 1}")


def _sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    shape = shape_of(logits)
    if not shape or shape_of(labels) != shape[:-1]:
        raise error("E0301", "`sparse_softmax_cross_entropy` needs a label per row of logits:"
                    f" {show(shape_of(labels))} and {show(shape)}",
                    help=f"labels of shape {show(shape[:-1])}" if shape else "logits are a vector")
    _classes(labels, shape[-1])
    rows = math.prod(shape[:-1])
    table = reshape(log_softmax(logits), shape=(rows, shape[-1]))
    chosen = index(table, np.arange(rows), reshape(labels, shape=(rows,)), pattern=("i", "i"))
    return negative(reshape(chosen, shape=shape[:-1]))


sparse_softmax_cross_entropy = composite(
    "sparse_softmax_cross_entropy", "labels logits", _sparse_softmax_cross_entropy,
    aliases="sparse_softmax_cross_entropy_with_logits", roles=("index", "data"), samples=PAIR,
    doc="-log_softmax(logits) at the class that each label names, counted from 0")


def _weighted(labels: Any, logits: Any, pos_weight: Any) -> Any:
    # Two terms of one sign for labels from 0 to 1, each exact in its tail.
    positive = multiply(multiply(pos_weight, labels), softplus(negative(logits)))
    return add(positive, multiply(subtract(1.0, labels), softplus(logits)))


sigmoid_cross_entropy = composite(
    "sigmoid_cross_entropy", "labels logits", lambda labels, logits: _weighted(labels, logits, 1.0),
    aliases="sigmoid_cross_entropy_with_logits", samples=PAIR,
    doc="-labels*log(sigmoid(logits)) - (1 - labels)*log(1 - sigmoid(logits)), element by element")
weighted_cross_entropy = composite(
    "weighted_cross_entropy", "labels logits pos_weight", _weighted,
    aliases="weighted_cross_entropy_with_logits", samples=(*PAIR, (0.5, 2.0)),
    doc="sigmoid_cross_entropy with the part of the label 1 weighed by pos_weight")


def _log_poisson(targets: Any, log_input: Any, compute_full_loss: Any = False) -> Any:
    loss = subtract(exp(log_input), multiply(log_input, targets))
    if not compute_full_loss:
        return loss
    # Stirling's approximation of log(targets!), which is 0 for 0 and 1.
    small = logical_and(greater_equal(targets, 0.0), less_equal(targets, 1.0))
    safe = where(small, 1.0, targets)
    rest = add(subtract(multiply(safe, log(safe)), safe),
               multiply(0.5, log(multiply(2.0 * math.pi, safe))))
    return add(loss, where(small, 0.0, rest))


log_poisson_loss = composite(
    "log_poisson_loss", "targets log_input", _log_poisson,
    attributes={"compute_full_loss": False}, samples=((1.5, 4.0), (-2.0, 2.0)),
    doc="exp(log_input) - log_input*targets; compute_full_loss=true adds Stirling's log(targets!)")
l2_loss = composite(
    "l2_loss", "x", lambda x: multiply(0.5, sum_(square(x))), samples=REAL,
    latex=r"\tfrac12 \sum {0}^2", doc="sum(x^2)/2")

# --- losses of Keras --------------------------------------------------------------------------


def _over_rows(losses: Any, axis: Any) -> Any:
    """Return the mean over an axis; a scalar is its own mean."""
    return mean(losses, axis=axis) if shape_of(losses) else losses


def _averaged(name: str, aliases: str, loss: Callable[..., Any], doc: str, kinks: str = "") -> Op:
    """Return the row of the mean of an elementwise loss over the last axis.

    loss: function of labels and predictions; the others are fields of the row.
    """
    return composite(
        name, "labels predictions",
        lambda labels, predictions, axis=-1: _over_rows(loss(labels, predictions), axis),
        aliases=aliases, kinks=kinks, attributes=LAST, samples=((-3.0, 3.0), (-3.0, 3.0)), doc=doc)


mean_squared_error = _averaged(
    "mean_squared_error", "mse", squared_difference, "mean((labels - predictions)^2)")
mean_absolute_error = _averaged(
    "mean_absolute_error", "mae", lambda y, p: absolute(subtract(y, p)),
    "mean(|labels - predictions|)", kinks="slope 0 where they are equal")


def _huber(labels: Any, predictions: Any, delta: Any = 1.0, axis: Any = -1) -> Any:
    e = subtract(predictions, labels)
    size = absolute(e)
    losses = where(less_equal(size, delta), multiply(0.5, square(e)),
                   multiply(delta, subtract(size, 0.5 * delta)))
    return _over_rows(losses, axis)


huber = composite(
    "huber", "labels predictions", _huber, aliases="huber_loss",
    attributes={"delta": 1.0, **LAST}, samples=((-3.0, 3.0), (-3.0, 3.0)),
    doc="mean of e^2/2 where |e| <= delta, else delta*(|e| - delta/2), of e = predictions - labels")
log_cosh = _averaged(
    "log_cosh", "", lambda y, p: logcosh(subtract(p, y)),
    "mean(log(cosh(predictions - labels))), without overflow")


def _margin(labels: Any, predictions: Any) -> Any:
    """Return 1 - labels*predictions where positive; labels 0 and 1 stand for -1 and 1."""
    values = np.asarray(getattr(labels, "value", labels))
    if np.all((values == 0) | (values == 1)):
        labels = subtract(multiply(2.0, labels), 1.0)
    return maximum(subtract(1.0, multiply(labels, predictions)), 0.0)


hinge = _averaged(
    "hinge", "hinge_loss", _margin,
    "mean(max(1 - labels*predictions, 0)); labels -1 and 1, or 0 and 1",
    kinks="slope -labels where labels*predictions is 1")
squared_hinge = _averaged(
    "squared_hinge", "", lambda y, p: square(_margin(y, p)),
    "mean(max(1 - labels*predictions, 0)^2); labels -1 and 1, or 0 and 1")


def _binary_crossentropy(labels: Any, predictions: Any, from_logits: Any = False,
                         label_smoothing: Any = 0.0, axis: Any = -1) -> Any:
    if label_smoothing:
        labels = add(multiply(labels, 1.0 - label_smoothing), 0.5 * label_smoothing)
    if from_logits:
        return _over_rows(_weighted(labels, predictions, 1.0), axis)
    p = clip(predictions, KERAS_EPSILON, 1.0 - KERAS_EPSILON)
    losses = add(multiply(labels, log(p)), multiply(subtract(1.0, labels), log(subtract(1.0, p))))
    return negative(_over_rows(losses, axis))


binary_crossentropy = composite(
    "binary_crossentropy", "labels predictions", _binary_crossentropy,
    attributes={"from_logits": False, "label_smoothing": 0.0, **LAST}, samples=SHARES,
    kinks="slope 0 in predictions nearer than 1e-7 to 0 or 1",
    doc="mean cross entropy of probabilities kept 1e-7 from 0 and 1; from_logits=true: of logits")


def _categorical_crossentropy(labels: Any, predictions: Any, from_logits: Any = False,
                              label_smoothing: Any = 0.0, axis: Any = -1) -> Any:
    if label_smoothing:
        shape = broadcast_shape("categorical_crossentropy",
                                [shape_of(labels), shape_of(predictions)])
        labels = add(multiply(labels, 1.0 - label_smoothing), label_smoothing / shape[-1])
    if from_logits:
        return _softmax_cross_entropy(labels, predictions, axis)
    shares = divide(predictions, sum_(predictions, axis=axis, keepdims=True))
    p = clip(shares, KERAS_EPSILON, 1.0 - KERAS_EPSILON)
    return negative(sum_(multiply(labels, log(p)), axis=axis))


categorical_crossentropy = composite(
    "categorical_crossentropy", "labels predictions", _categorical_crossentropy,
    attributes={"from_logits": False, "label_smoothing": 0.0, **LAST}, samples=SHARES,
    kinks="slope 0 in shares nearer than 1e-7 to 0 or 1",
    doc="-sum(labels*log(p)) of p = predictions/sum(predictions) kept 1e-7 from 0 and 1")


def _kl_divergence(labels: Any, predictions: Any, axis: Any = -1) -> Any:
    y, p = (clip(v, KERAS_EPSILON, 1.0) for v in (labels, predictions))
    return sum_(multiply(y, log(divide(y, p))), axis=axis)


kl_divergence = composite(
    "kl_divergence", "labels predictions", _kl_divergence, attributes=LAST, samples=SHARES,
    aliases="kullback_leibler_divergence", kinks="slope 0 below 1e-7 and above 1",
    doc="sum(labels*log(labels/predictions)), both kept from 1e-7 to 1")


def _cosine_similarity(labels: Any, predictions: Any, axis: Any = -1) -> Any:
    products = multiply(l2_normalize(labels, axis=axis), l2_normalize(predictions, axis=axis))
    return negative(sum_(products, axis=axis))


cosine_similarity = composite(
    "cosine_similarity", "labels predictions", _cosine_similarity, attributes=LAST,
    samples=((-3.0, 3.0), (-3.0, 3.0)),
    doc="the cosine between labels and predictions along an axis, negative as a loss: -1 if alike")


SIZE = (0.5, 4.0)


def _shortened(x: Any, norm: Any, limit: Any) -> Any:
    """Return x where the norm is below the limit, else x*limit/norm, whose slope a tie takes."""
    return where(less(norm, limit), x, divide(multiply(x, limit), maximum(norm, limit)))


def _clip_by_norm(x: Any, norm: Any, axes: Any = None) -> Any:
    return _shortened(x, norm2(x, axis=axes, keepdims=True), maximum(norm, 0.0))


clip_by_norm = composite(
    "clip_by_norm", "x norm", _clip_by_norm, attributes={"axes": None}, samples=(*REAL, SIZE),
    kinks="the identity at 0; one norm for all, or one per slice along axes",
    doc="x*norm/max(norm(x), norm): shortened to the norm if it is longer")


def _clip_by_average_norm(x: Any, norm: Any) -> Any:
    count = 1.0
    for n in shape_of(x):
        count *= n
    return _shortened(x, norm2(x, keepdims=True), multiply(norm, count))


clip_by_average_norm = composite(
    "clip_by_average_norm", "x norm", _clip_by_average_norm, samples=(*REAL, SIZE),
    doc="x shortened so that norm(x) divided by the number of elements is at most the norm")

# --- lists of tensors, some of them None ------------------------------------------------------


def _missing(value: Any) -> bool:
    """Return whether a value is None, or a missing gradient: one that knows target and source."""
    return value is None or (hasattr(value, "target") and hasattr(value, "source"))


def _tensor(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return stack(*[_tensor(name, v) for v in value], axis=0)
    if isinstance(value, (str, dict)) or _missing(value):
        raise error("E0302", f"`{name}` needs a list of tensors", help=f"such as {name}([gx, gy])")
    return value


def _tensors(name: str, tensors: Any) -> list[Any]:
    """Return the entries as tensors, missing ones unchanged. Raises E0302 for what is no list."""
    if not isinstance(tensors, (list, tuple)):
        raise error("E0302", f"`{name}` needs a list of tensors, not one",
                    help=f"put it in brackets: {name}([g])")
    return [t if _missing(t) else _tensor(name, t) for t in tensors]


def _norm_of(tensors: Sequence[Any]) -> Any:
    norms = [norm2(t) for t in tensors if not _missing(t)]
    return norm2(stack(*norms, axis=0)) if norms else 0.0


def _clip_by_global_norm(tensors: Any, norm: Any, use_norm: Any = None) -> list[Any]:
    given = _tensors("clip_by_global_norm", tensors)
    total = _norm_of(given) if use_norm is None else use_norm
    # An infinite or NaN norm spoils every entry: total - total is NaN then, else 0.
    limit = add(norm, subtract(total, total))
    return [[t if _missing(t) else _shortened(t, total, limit) for t in given], total]


# No parameters: what stands in the call arrives as it is, lists with None entries too.
global_norm = composite(
    "global_norm", "", lambda tensors: _norm_of(_tensors("global_norm", tensors)),
    doc="global_norm([gx, gy]): the norm of all elements of a list of tensors; None counts as 0")
clip_by_global_norm = composite(
    "clip_by_global_norm", "", _clip_by_global_norm, attributes={"use_norm": None},
    doc="clip_by_global_norm([gx, gy], 1): [the list shortened by one factor, its norm before]")

# --- checks -----------------------------------------------------------------------------------


def _check_numerics(cores: Sequence[int], x: Any, message: str) -> Any:
    if is_float(x):
        found = [what for what, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(x))]
        if found:
            raise error("E0404", f"{f'{message}: ' if message else ''}`check_numerics` found"
                        f" {' and '.join(found)}", help="look at what the value was made of")
    return x if type(x) in SCALAR_TYPES else np.array(x)


check_numerics = linear(
    "check_numerics", "x", lambda g, ans, x, message: check_numerics(g, message=message),
    attributes={"message": ""}, arrays=_check_numerics, samples=REAL,
    doc="x itself; an error where it holds NaN or infinity, or where its derivative does")
