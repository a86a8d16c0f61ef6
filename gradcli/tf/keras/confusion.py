"""Metrics of counts: how many labels were found, missed and claimed. The formulas are Keras 3's."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.tf.dtypes import floatx
from gradcli.tf.keras.annotated import mask_of
from gradcli.tf.keras.functions.loss import one_rank, weighted
from gradcli.tf.keras.identifiers import identified
from gradcli.tf.keras.metric import CLASSES, FUNCTIONS, Metric
from gradcli.tf.keras.variables import snake_case
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

EPSILON = 1e-7
COUNTS = {"true_positives": (1, 1), "false_positives": (0, 1), "true_negatives": (0, 0),
          "false_negatives": (1, 0)}
"""What is counted: the label, and what is said of it."""


class Counts(Metric):
    """Weighted counts of labels and predictions above thresholds, by threshold.

    names: which counts a metric keeps, in Keras's order.
    """

    names: ClassVar[tuple[str, ...]] = ()
    title = ""      # of its variable, if it is not the name of the count
    direction = "up"

    def __init__(self, thresholds: Any, name: str | None, dtype: Any) -> None:
        super().__init__(dtype, name)
        self.limits = np.asarray(thresholds, dtype="float32").reshape(-1)
        for count in self.names:
            setattr(self, count, self.add_variable(
                (self.limits.size,), "zeros", name=self.title or count))

    def count(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add the labels of a batch to the counts."""
        mask = mask_of(y_pred)
        if mask is not None:
            sample_weight = weighted(sample_weight, mask, self.dtype)
        y_pred, y_true = one_rank(tf.cast(y_pred, self.dtype), tf.cast(y_true, self.dtype))
        label: Any = np.asarray(y_true).astype(bool)
        found = np.asarray(self._above(np.asarray(y_pred)))
        if label.shape != found.shape[1:]:
            raise ValueError(f"Shapes {tuple(y_pred.shape)} and {tuple(y_true.shape)} are"
                             " incompatible")
        weights: Any = np.asarray(1.0 if sample_weight is None else tf.cast(
            sample_weight, self.dtype))
        if weights.ndim and weights.ndim < label.ndim:
            weights = weights.reshape(weights.shape + (1,) * (label.ndim - weights.ndim))
        weights = np.broadcast_to(weights, label.shape)
        for name in self.names:
            wanted, said = COUNTS[name]
            hit = (label == bool(wanted)) & (found == bool(said))
            axes = tuple(range(1, hit.ndim))
            getattr(self, name).assign_add(tf.cast((hit * weights).sum(axes), self.dtype))

    def _above(self, y_pred: Any) -> Any:
        """Return where predictions are above each threshold, an axis of these first."""
        return y_pred[None] > self.limits.reshape((-1,) + (1,) * y_pred.ndim)


class Share(Counts):
    """A count at one threshold or several, or a share of counts; class_id: of one class alone."""

    def __init__(self, thresholds: Any = None, top_k: int | None = None,
                 class_id: int | None = None, name: str | None = None, dtype: Any = None) -> None:
        if top_k is not None:
            raise refused(f"tf.keras.metrics.{type(self).__name__}", "top_k")
        for limit in np.ravel(thresholds if thresholds is not None else []):
            if not 0 <= limit <= 1:
                raise ValueError("Threshold values must be in [0, 1]. Received:"
                                 f" {list(np.ravel(thresholds))}")
        super().__init__(0.5 if thresholds is None else thresholds, name, dtype)
        self.class_id = class_id

    def update_state(
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch."""
        if self.class_id is not None:
            if len(y_pred.shape) == 1:
                raise ValueError("When class_id is provided, y_pred must be a 2D array with shape"
                                 f" (num_samples, num_classes), found shape: {y_pred.shape}")
            y_true, y_pred = [tf.convert_to_tensor(y)[..., self.class_id, None]
                              for y in (y_true, y_pred)]
        self.count(y_true, y_pred, sample_weight)

    def result(self) -> Any:
        """Return the share, one for each threshold if there are several."""
        found = self._share()
        return found[0] if self.limits.size == 1 else found

    def _share(self) -> Any:
        first, second = [getattr(self, name) for name in self.names]
        return tf.math.divide_no_nan(first, first + second)


class Precision(Share):
    """The share of right ones among those claimed."""

    names = ("true_positives", "false_positives")


class Recall(Share):
    """The share of those found among those that are there."""

    names = ("true_positives", "false_negatives")


class OneCount(Share):
    """A number of labels."""

    title = "accumulator"
    direction = ""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(thresholds, None, None, name, dtype)

    def _share(self) -> Any:
        return tf.convert_to_tensor(getattr(self, self.names[0]))


class TruePositives(OneCount):
    """The number of labels 1 that were found."""

    names = ("true_positives",)


class FalsePositives(OneCount):
    """The number of labels 0 that were claimed."""

    names = ("false_positives",)


class TrueNegatives(OneCount):
    """The number of labels 0 that were not claimed."""

    names = ("true_negatives",)


class FalseNegatives(OneCount):
    """The number of labels 1 that were missed."""

    names = ("false_negatives",)


class AUC(Counts):
    """The area under a curve over all thresholds: of recall over false positives ("ROC"), or of
    precision over recall ("PR").
    """

    names = tuple(COUNTS)

    def __init__(self, num_thresholds: int = 200, curve: str = "ROC",
                 summation_method: str = "interpolation", name: str | None = None,
                 dtype: Any = None, thresholds: Any = None, multi_label: bool = False,
                 num_labels: int | None = None, label_weights: Any = None,
                 from_logits: bool = False) -> None:
        for option, given in (("multi_label", multi_label), ("label_weights", label_weights)):
            if given:
                raise refused("tf.keras.metrics.AUC", option)
        if num_labels:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value: "{curve}". Expected values are ["PR",'
                             ' "ROC", "PRGAIN"]')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f'Invalid AUC summation method value: "{summation_method}". Expected'
                             ' values are ["interpolation", "majoring", "minoring"]')
        if thresholds is None and num_thresholds <= 1:
            raise ValueError("Argument `num_thresholds` must be an integer > 1. Received:"
                             f" num_thresholds={num_thresholds}")
        self.even = thresholds is None
        inner = sorted(thresholds) if thresholds is not None else [
            (k + 1) / (num_thresholds - 1) for k in range(num_thresholds - 2)]
        super().__init__([-EPSILON, *inner, 1.0 + EPSILON], name, dtype)
        self.num_thresholds, self.curve = len(inner) + 2, curve
        self.summation_method, self.from_logits = summation_method, from_logits

    @property
    def thresholds(self) -> list[float]:
        """Return the thresholds, one below 0 and one above 1 among them."""
        return [float(limit) for limit in self.limits]

    def update_state(
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch."""
        self.count(y_true, tf.sigmoid(y_pred) if self.from_logits else y_pred, sample_weight)

    def _above(self, y_pred: Any) -> Any:
        """Return where predictions are above each threshold; of even ones as Keras rounds them."""
        if not self.even:
            return super()._above(y_pred)
        last = np.float32(self.num_thresholds - 1)
        bucket = np.maximum(np.ceil(y_pred.astype("float32") * last) - 1, 0)
        numbers = np.arange(self.num_thresholds).reshape((-1,) + (1,) * y_pred.ndim)
        return bucket[None] >= numbers

    def result(self) -> Any:
        """Return the area."""
        tp, fp, tn, fn = [tf.convert_to_tensor(getattr(self, name)) for name in self.names]
        ratio = tf.math.divide_no_nan
        if self.curve == "PR" and self.summation_method == "interpolation":
            return _area_of_precision(tp, fp, fn)
        recall = ratio(tp, tp + fn)
        x, y = (ratio(fp, fp + tn), recall) if self.curve == "ROC" else (recall, ratio(tp, tp + fp))
        heights = {"interpolation": lambda: (y[:-1] + y[1:]) / 2.0,
                   "minoring": lambda: tf.minimum(y[:-1], y[1:]),
                   "majoring": lambda: tf.maximum(y[:-1], y[1:])}[self.summation_method]()
        return tf.reduce_sum((x[:-1] - x[1:]) * heights)


def _area_of_precision(tp: Any, fp: Any, fn: Any) -> Any:
    """Return the area below precision over recall, between thresholds by the counts, which go
    linearly; Davis and Goadrich, 2006.
    """
    ratio = tf.math.divide_no_nan
    claimed = tp + fp
    gained = tp[:-1] - tp[1:]
    slope = ratio(gained, tf.maximum(claimed[:-1] - claimed[1:], 0.0))
    intercept = tp[1:] - slope * claimed[1:]
    both = tf.logical_and(claimed[:-1] > 0, claimed[1:] > 0)
    grown = tf.where(both, ratio(claimed[:-1], tf.maximum(claimed[1:], 0.0)),
                     tf.ones_like(intercept))
    return tf.reduce_sum(ratio(slope * (gained + intercept * tf.math.log(grown)),
                               tf.maximum(tp[1:] + fn[1:], 0.0)))


# ---- of classes ----------------------------------------------------------------------------------


class FBetaScore(Metric):
    """The mean of precision and recall, recall `beta` times as important; average: "micro",
    "macro", "weighted", or None for each class.
    """

    direction = "up"

    def __init__(self, average: str | None = None, beta: float = 1.0,
                 threshold: float | None = None, name: str | None = "fbeta_score",
                 dtype: Any = None) -> None:
        super().__init__(dtype, name)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError("Invalid `average` argument value. Expected one of: {None, 'micro',"
                             f" 'macro', 'weighted'}}. Received: average={average}")
        self.average, self.beta, self.threshold = average, beta, threshold
        self.counts: list[Any] = []

    def update_state(
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch of rows, one column for each class."""
        y_true, y_pred = [tf.cast(y, self.dtype) for y in (y_true, y_pred)]
        if len(y_pred.shape) != 2 or len(y_true.shape) != 2:
            raise ValueError("FBetaScore expects 2D inputs with shape (batch_size, output_dim)."
                             f" Received input shapes: y_pred.shape={tuple(y_pred.shape)} and"
                             f" y_true.shape={tuple(y_true.shape)}.")
        if not self.counts:
            shape = () if self.average == "micro" else (y_pred.shape[-1],)
            self.counts = [self.add_variable(shape, "zeros", name=name) for name in (
                "true_positives", "false_positives", "false_negatives", "intermediate_weights")]
        if self.threshold is None:
            best = y_pred >= tf.reduce_max(y_pred, -1, keepdims=True)
            said = tf.logical_and(best, tf.abs(y_pred) > 1e-9)
        else:
            said = y_pred > self.threshold
        found = tf.cast(said, self.dtype)
        weights = 1.0 if sample_weight is None else tf.cast(sample_weight, self.dtype)[:, None]
        for count, value in zip(self.counts, (
                found * y_true, found * (1 - y_true), (1 - found) * y_true, y_true), strict=True):
            count.assign_add(tf.reduce_sum(value * weights,
                                           None if self.average == "micro" else 0))

    def result(self) -> Any:
        """Return the score."""
        right, wrong, missed, there = [tf.convert_to_tensor(c) for c in self.counts]
        precision, recall = right / (right + wrong + EPSILON), right / (right + missed + EPSILON)
        square = self.beta ** 2
        score = precision * recall / (square * precision + recall + EPSILON) * (1 + square)
        if self.average == "weighted":
            return tf.reduce_sum(score * (there / (tf.reduce_sum(there) + EPSILON)))
        return score if self.average is None else tf.reduce_mean(score)


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall."""

    def __init__(self, average: str | None = None, threshold: float | None = None,
                 name: str | None = "f1_score", dtype: Any = None) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)


class R2Score(Metric):
    """The share of the variance of the targets that predictions explain."""

    direction = "up"

    def __init__(self, class_aggregation: str | None = "uniform_average", num_regressors: int = 0,
                 name: str | None = "r2_score", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        if class_aggregation not in (None, "uniform_average", "variance_weighted_average"):
            raise ValueError("Invalid value for argument `class_aggregation`. Received:"
                             f" class_aggregation={class_aggregation}")
        if num_regressors:
            raise refused("tf.keras.metrics.R2Score", "num_regressors")
        self.class_aggregation = class_aggregation
        self.num_samples = self.add_variable((), "zeros", name="num_samples")
        self.sums: list[Any] = []

    def update_state(
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch of rows."""
        y_true, y_pred = one_rank(*[tf.cast(y, self.dtype) for y in (y_true, y_pred)])
        if len(y_pred.shape) != 2 or len(y_true.shape) != 2:
            raise ValueError("R2Score expects 2D inputs with shape (batch_size, output_dim)."
                             f" Received input shapes: y_pred.shape={tuple(y_pred.shape)} and"
                             f" y_true.shape={tuple(y_true.shape)}.")
        if not self.sums:
            self.sums = [self.add_variable((y_pred.shape[-1],), "zeros", name=name)
                         for name in ("squared_sum", "sum", "residual", "count")]
        weights = tf.cast(1.0 if sample_weight is None else sample_weight, self.dtype)
        weights = weights[:, None] if len(weights.shape) == 1 else weights
        weights = tf.broadcast_to(weights, y_true.shape)
        for total, value in zip(self.sums, (
                y_true * y_true, y_true, tf.square(y_true - y_pred), tf.ones_like(y_true)),
                strict=True):
            total.assign_add(tf.reduce_sum(value * weights, 0))
        self.num_samples.assign_add(tf.cast(y_true.size, self.dtype))

    def result(self) -> Any:
        """Return the score."""
        squares, total, residual, count = [tf.convert_to_tensor(s) for s in self.sums]
        variance = squares - total * (total / count)
        scores = 1 - residual / variance
        scores = tf.where(tf.math.is_inf(scores), tf.zeros_like(scores), scores)
        if self.class_aggregation == "uniform_average":
            return tf.reduce_mean(scores)
        if self.class_aggregation is None:
            return scores
        return tf.reduce_sum(variance * scores) / tf.reduce_sum(variance)


class MeanIoU(Metric):
    """The mean over classes of what prediction and target share over what either has."""

    direction = "up"

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None,
                 ignore_class: int | None = None, sparse_y_true: bool = True,
                 sparse_y_pred: bool = True, axis: int = -1) -> None:
        super().__init__(dtype or "int32", name)    # as Keras counts: weights become whole numbers
        if ignore_class is not None:
            raise refused("tf.keras.metrics.MeanIoU", "ignore_class")
        self.num_classes, self.axis = num_classes, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self.total_cm = self.add_variable((num_classes, num_classes), "zeros",
                                          name="total_confusion_matrix")

    def update_state(
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch of the numbers of classes, or of their probabilities."""
        labels, said = [np.asarray(y if sparse else tf.argmax(y, self.axis)).astype(int).ravel()
                        for y, sparse in ((y_true, self.sparse_y_true),
                                          (y_pred, self.sparse_y_pred))]
        weights: Any = np.asarray(tf.cast(
            1 if sample_weight is None else sample_weight, self.dtype))
        weights = np.broadcast_to(weights.ravel() if weights.ndim else weights, labels.shape)
        counts: Any = np.zeros((self.num_classes, self.num_classes))
        there = (np.minimum(labels, said) >= 0) & (np.maximum(labels, said) < self.num_classes)
        np.add.at(counts, (labels[there], said[there]), weights[there])
        self.total_cm.assign_add(tf.cast(counts, self.dtype))

    def result(self) -> Any:
        """Return the mean over the classes that are there."""
        counts = tf.cast(self.total_cm, floatx())
        shared = tf.linalg.diag_part(counts)
        either = tf.reduce_sum(counts, 0) + tf.reduce_sum(counts, 1) - shared
        there = tf.reduce_sum(tf.cast(either > 0, counts.dtype))
        return tf.math.divide_no_nan(
            tf.reduce_sum(tf.math.divide_no_nan(shared, either)), there)


KINDS = {**CLASSES, **{kind.__name__: kind for kind in (
    Precision, Recall, TruePositives, FalsePositives, TrueNegatives, FalseNegatives, AUC,
    FBetaScore, F1Score, R2Score, MeanIoU)}}


def get(identifier: Any) -> Any:
    """Return the metric of a name, function, class or metric."""
    return identified(identifier, {
        **{snake_case(name): kind for name, kind in KINDS.items()}, **FUNCTIONS, **KINDS}, "metric")
