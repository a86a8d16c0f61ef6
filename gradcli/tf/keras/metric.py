"""Metrics: means of what is seen batch after batch. The formulas are Keras 3's."""

from __future__ import annotations

import inspect

import gradcli.tf as tf
from gradcli.tf.dtypes import floatx
from gradcli.tf.keras.annotated import mask_of
from gradcli.tf.keras.functions.loss import FUNCTIONS as LOSSES
from gradcli.tf.keras.functions.loss import ROWS, log_cosh, one_rank, paired, weighted
from gradcli.tf.keras.functions.loss import cosine_similarity as cosine_loss
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.variables import Variable, auto_name, name_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


class Metric:
    """A quantity of all batches since `reset_state`, as keras.metrics.Metric.

    direction: whether it is to go "up" or "down", nothing if that is not known.
    """

    direction = ""

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name = name or auto_name(type(self).__name__)
        self.dtype = dtype or floatx()
        self._variables: list[Variable] = []

    def add_variable(self, shape: Any = (), initializer: Any = None, dtype: Any = None,
                     aggregation: Any = "sum", name: str | None = None) -> Variable:
        """Make a variable of the metric."""
        with name_scope(self.name, self):
            made = Variable(initializer_of(initializer or "zeros"), shape, dtype or self.dtype,
                            False, name=name)
        self._variables.append(made)
        return made

    add_weight = add_variable

    @property
    def variables(self) -> list[Variable]:
        """Return the variables."""
        return [*self._variables, *[v for item in vars(self).values() if isinstance(item, Metric)
                                    for v in item.variables]]

    def reset_state(self) -> None:
        """Forget what was seen."""
        for variable in self.variables:
            variable.assign(tf.zeros(variable.shape, variable.dtype))

    def update_state(self, *args: Any, **options: Any) -> None:
        """See a batch."""
        raise NotImplementedError

    def result(self) -> Any:
        """Return the quantity."""
        raise NotImplementedError

    def __call__(self, *args: Any, **options: Any) -> Any:
        """See a batch, and return the quantity of all."""
        self.update_state(*args, **options)
        return self.result()

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {"name": self.name, "dtype": self.dtype}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def _by_sample(values: Any, weights: Any, reduce: Callable[..., Any], dtype: Any) -> Any:
    """Return one value for each sample, weighted, and the weights."""
    mask, values = mask_of(values), tf.cast(values, dtype)
    if weights is not None:
        if mask is not None:
            weights = weighted(weights, mask, dtype)
        values, weights = one_rank(values, tf.cast(weights, dtype))
        rank = len(weights.shape)
        if len(values.shape) > rank:
            values = reduce(values, list(range(rank, len(values.shape))))
        weights = tf.broadcast_to(weights, values.shape)
        values = values * weights
        if rank > 1:
            weights = reduce(weights, list(range(1, rank)))
    if len(values.shape) > 1:
        values = reduce(values, list(range(1, len(values.shape))))
    return values, weights


class Sum(Metric):
    """The sum of all values."""

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Add values."""
        values, _ = _by_sample(values, sample_weight, tf.reduce_sum, self.dtype)
        self.total.assign_add(tf.reduce_sum(values))

    def result(self) -> Any:
        """Return the sum."""
        return tf.convert_to_tensor(self.total)


class Mean(Metric):
    """The mean of all values."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable(name="total")
        self.count = self.add_variable(name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Add values."""
        values, weights = _by_sample(values, sample_weight, tf.reduce_mean, self.dtype)
        self.total.assign_add(tf.reduce_sum(values))
        if weights is not None:
            number = tf.reduce_sum(weights)
        else:
            number = tf.cast(values.shape[0] if values.shape else 1, self.dtype)
        self.count.assign_add(number)

    def result(self) -> Any:
        """Return the mean, 0 of no values."""
        return tf.math.divide_no_nan(self.total, self.count)


class Measured(Mean):
    """The mean of what a method `of` says of targets and predictions."""

    def of(self, y_true: Any, y_pred: Any) -> Any:
        """Return the value of each sample."""
        raise NotImplementedError

    def update_state(  # type: ignore[override]
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch."""
        mask = mask_of(y_pred)
        if mask is not None:
            sample_weight = weighted(sample_weight, mask, self.dtype)
        super().update_state(self.of(y_true, y_pred), sample_weight)


DIRECTIONS = dict.fromkeys((
    "accuracy", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy",
    "top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy", "cosine_similarity"), "up")


class MeanMetricWrapper(Measured):
    """The mean of a function of targets and predictions."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None,
                 **options: Any) -> None:
        super().__init__(name or auto_name(type(self).__name__), dtype)
        self.direction = "down" if fn in LOSSES.values() else DIRECTIONS.get(
            getattr(fn, "__name__", ""), "")
        self.fn = fn
        self.options = options

    def of(self, y_true: Any, y_pred: Any) -> Any:
        """Return the value of each sample."""
        return self.fn(y_true, y_pred, **self.options)


# ---- functions -----------------------------------------------------------------------------------


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return where predictions are the targets."""
    y_true, y_pred = paired(y_true, y_pred)
    return tf.cast(tf.equal(y_true, y_pred), floatx())


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Return where predictions above the threshold are those with the target 1."""
    y_true, y_pred = one_rank(tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred))
    return tf.cast(tf.equal(y_true, tf.cast(tf.greater(y_pred, threshold), y_true.dtype)),
                   floatx())


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return where the most probable class has the target 1."""
    y_true, y_pred = [tf.argmax(tf.convert_to_tensor(y), -1) for y in (y_true, y_pred)]
    return tf.cast(tf.equal(y_true, y_pred), floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return where the most probable class is the target."""
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    return tf.cast(tf.equal(tf.cast(y_true, "int64"), tf.argmax(y_pred, -1)), floatx())


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return where the target is among the k most probable classes."""
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    found = tf.math.in_top_k(tf.reshape(tf.cast(y_true, "int32"), [-1]),
                             tf.reshape(y_pred, [-1, y_pred.shape[-1]]), k)
    return tf.reshape(tf.cast(found, floatx()), y_true.shape)


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return where the class with the target 1 is among the k most probable."""
    return sparse_top_k_categorical_accuracy(
        tf.argmax(tf.convert_to_tensor(y_true), -1), y_pred, k)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Return the cosine of the angle between vectors."""
    return -cosine_loss(y_true, y_pred, axis)


# ---- classes -------------------------------------------------------------------------------------


class OfFunction(MeanMetricWrapper):
    """A mean of a function whose options are options of the metric."""

    function: ClassVar[Callable[..., Any]]
    order: ClassVar[tuple[str, ...]]
    title = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        given = {"name": self.title, **dict(zip(self.order, args, strict=False)), **options}
        unknown = set(given) - set(self.order)
        if unknown or len(args) > len(self.order):
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument"
                            f" '{next(iter(unknown), len(args))}'")
        super().__init__(type(self).function, **given)


def _class(name: str, function: Callable[..., Any], title: str = "") -> type[OfFunction]:
    """Make a class. `k` stands before the name among its options, all others behind the type."""
    own = list(inspect.signature(function).parameters)[2:]
    first = [option for option in own if option == "k"]
    return type(name, (OfFunction,), {
        "function": staticmethod(function), "title": title or function.__name__,
        "order": (*first, "name", "dtype", *[o for o in own if o not in first]),
        "__doc__": function.__doc__, "__module__": __name__})


class RootMeanSquaredError(Measured):
    """The root of the mean of squared differences."""

    direction = "down"

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def of(self, y_true: Any, y_pred: Any) -> Any:
        """Return the value of each sample."""
        return tf.math.squared_difference(*paired(y_true, y_pred))

    def result(self) -> Any:
        """Return the root of the mean."""
        return tf.sqrt(super().result())


FUNCTIONS = {f.__name__: f for f in (
    accuracy, binary_accuracy, categorical_accuracy, sparse_categorical_accuracy,
    top_k_categorical_accuracy, sparse_top_k_categorical_accuracy)}
CLASSES: dict[str, type[Metric]] = {
    "Sum": Sum, "Mean": Mean, "RootMeanSquaredError": RootMeanSquaredError,
    **{"".join(word.title() for word in name.split("_")): _class(
        "".join(word.title() for word in name.split("_")), function)
       for name, function in FUNCTIONS.items()},
    **{name: _class(name, function) for name, (function, _) in ROWS.items()
       if name not in ("Huber", "LogCosh")},
    "CosineSimilarity": _class("CosineSimilarity", cosine_similarity),
    "LogCoshError": _class("LogCoshError", log_cosh, "logcosh")}
globals().update({name: made for name, made in CLASSES.items() if name not in globals()})
FUNCTIONS.update(LOSSES)
globals().update({name: f for name, f in FUNCTIONS.items() if name not in globals()})
