"""What `compile` is told: losses and metrics, each with the output of a model that it is for."""

from __future__ import annotations

from collections import Counter

from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.confusion import get as metric_of
from gradcli.tf.keras.functions.loss import Loss, LossFunctionWrapper
from gradcli.tf.keras.functions.loss import get as loss_of
from gradcli.tf.keras.metric import Mean, MeanMetricWrapper, Metric
from gradcli.tf.keras.variables import snake_case
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def is_nested(value: Any) -> bool:
    """Return whether it is a list, tuple or dictionary."""
    return isinstance(value, (list, tuple, dict))


def names_of(outputs: Any, names: Sequence[str] | None) -> list[str]:
    """Return what options call the outputs: the keys of a dictionary, else names, if any."""
    return list(outputs) if isinstance(outputs, dict) else list(names or ())


def leaves(outputs: Any) -> list[Any]:
    """Return the outputs. Raises E0208 for lists in lists."""
    if is_nested(outputs) and any(is_nested(part) for part in (
            outputs.values() if isinstance(outputs, dict) else outputs)):
        raise refused("Model.compile", "loss of nested outputs")
    return engine.flatten(outputs)


def by_output(given: Any, names: Sequence[str], number: int, what: str) -> list[Any]:
    """Return an option for each output: of a list in order, of a dictionary by name, else the same.

    Raises ValueError where they do not fit.
    """
    if isinstance(given, dict):
        unknown = [key for key in given if key not in names]
        if unknown:
            raise ValueError(f"Expected keys {list(names)} in {what} dict, but found"
                             f" {what}.keys()={list(given)}")
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != number:
            raise ValueError(f"`{what}` must match the outputs of the model, got {len(given)} for"
                             f" {number} outputs: {what}={given}")
        return list(given)
    return [given] * number


def fitting(identifier: Any, names: tuple[str, ...], kinds: tuple[str, str, str], y_true: Any,
            y_pred: Any) -> Any:
    """Return an identifier; where it is one of some names, that of the three kinds that the shapes
    tell: of two classes, of classes by number, of classes by rows.
    """
    if str(identifier).lower() not in names:
        return identifier
    if y_pred.shape[-1] == 1:
        return kinds[0]
    sparse = len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1] == 1
    return kinds[1] if sparse else kinds[2]


# ---- losses --------------------------------------------------------------------------------------


class Part:
    """The loss of one output: its place among them, its weight, and its mean over batches."""

    __slots__ = ("loss", "mean", "name", "place", "weight")

    def __init__(self, place: int, loss: Loss, weight: Any, name: str) -> None:
        self.place, self.loss, self.weight, self.name = place, loss, weight, name
        self.mean: Metric | None = None


class Losses:
    """The losses of the outputs of a model, and their sum.

    weighs: whether the mean of each weighs batches by their lengths, as Keras does where it runs
    eagerly.
    """

    def __init__(self, given: Any, weights: Any, names: Sequence[str] | None, weighs: bool) -> None:
        if weights and not isinstance(weights, (list, tuple, dict, float)):
            raise ValueError(
                "Expected `loss_weights` argument to be a float (single output case) or a list,"
                " tuple, or dict (multiple output case). Received instead:"
                f" loss_weights={weights} of type {type(weights)}")
        self.given, self.weights, self.names = given, weights, names
        self.weighs = weighs
        self.parts: list[Part] | None = None

    @property
    def metrics(self) -> list[Metric]:
        """Return the means of the losses of several outputs."""
        return [part.mean for part in self.parts or () if part.mean is not None]

    def _build(self, targets: list[Any], outputs: Any) -> list[Part]:
        predictions, names = leaves(outputs), names_of(outputs, self.names)
        chosen = by_output(self.given, names, len(predictions), "loss")
        weights = by_output(self._weights(), names, len(predictions), "loss_weights")
        if len(targets) < len(chosen):
            rest = iter(targets)    # targets for those outputs only that have a loss
            targets = [None if loss is None else next(rest) for loss in chosen]
        made = []
        for k, (loss, weight) in enumerate(zip(chosen, weights, strict=True)):
            if loss is not None:
                found = as_loss(loss, targets[k], predictions[k])
                made.append(Part(k, found, weight, names[k] if k < len(names) else found.name))
        if len(made) > 1:
            for part in made:
                part.mean = Mean(f"{part.name}_loss")
        return made

    def _weights(self) -> Any:
        """Return the weights in the structure of the losses."""
        given = engine.flatten(self.given)
        weights = engine.flatten(self.weights)
        if self.weights is not None and len(weights) != len(given):
            raise ValueError(f"`loss_weights` must match the number of losses, got {len(given)}"
                             f" losses and {len(weights)} weights.")
        if is_nested(self.given) and isinstance(self.weights, (list, tuple)):
            return engine.like(self.given, weights)
        return self.weights

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the sum of the weighted losses."""
        predictions, names = leaves(y_pred), names_of(y_pred, self.names)
        targets = _in_order(y_true, names)
        if self.parts is None:
            with_loss = [loss for loss in engine.flatten(self.given) if loss is not None]
            if len(targets) not in (len(predictions), len(with_loss)):
                raise ValueError("y_true and y_pred have different structures.\ny_true:"
                                 f" {_marked(y_true, '*')}\ny_pred: {_marked(y_pred, '*')}\n")
            self.parts = self._build(targets, y_pred)
        whole = len(targets) == len(predictions)
        weights = by_output(sample_weight, names, len(predictions), "sample_weight")
        total: Any = None
        for number, part in enumerate(self.parts):
            k = part.place
            value = part.loss(targets[k if whole else number], predictions[k], weights[k])
            if part.mean is not None:
                part.mean.update_state(value, predictions[k].shape[0] if self.weighs else None)
            value = value if part.weight is None else value * part.weight
            total = value if total is None else total + value
        return total


def _in_order(y: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(y, dict) and set(names) >= set(y):
        return [y[name] for name in names if name in y]
    return engine.flatten(y)


def _marked(structure: Any, mark: str) -> Any:
    return engine.like(structure, [mark] * len(engine.flatten(structure)))


def as_loss(identifier: Any, y_true: Any, y_pred: Any) -> Loss:
    """Return a loss object; names of functions remain names. Which cross entropy is meant, the
    shapes tell.
    """
    found = loss_of(fitting(identifier, ("crossentropy", "ce"), (
        "binary_crossentropy", "sparse_categorical_crossentropy", "categorical_crossentropy"),
        y_true, y_pred))
    if isinstance(found, Loss):
        return found
    name = identifier if isinstance(identifier, str) else _title(found)
    return LossFunctionWrapper(found, name=name)


def _title(function: Any) -> str:
    return snake_case(getattr(function, "__name__", type(function).__name__))


# ---- metrics -------------------------------------------------------------------------------------


class Metrics(Metric):
    """The metrics of the outputs of a model, plain ones and weighted ones.

    built: each with the name of its output, its place, and whether it is weighted.
    """

    def __init__(self, plain: Any, weighted: Any, names: Sequence[str] | None) -> None:
        super().__init__(name="compile_metrics")
        for option, given in (("metrics", plain), ("weighted_metrics", weighted)):
            if given and not is_nested(given):
                raise ValueError(f"Expected `{option}` argument to be a list, tuple, or dict."
                                 f" Received instead: {option}={given} of type {type(given)}")
        self.plain, self.weighted, self.names = plain, weighted, names
        self.built: list[tuple[str, int, bool, Metric]] | None = None

    @property
    def metrics(self) -> list[Metric]:
        """Return the metrics; none before the first batch."""
        return [metric for _, _, _, metric in self.built or ()]

    @property
    def variables(self) -> list[Any]:
        """Return the variables of all."""
        return [v for metric in self.metrics for v in metric.variables]

    def reset_state(self) -> None:
        """Forget what was seen."""
        for metric in self.metrics:
            metric.reset_state()

    def _build(self, targets: list[Any], outputs: Any) -> list[tuple[str, int, bool, Metric]]:
        predictions, names = leaves(outputs), names_of(outputs, self.names)
        number = len(predictions)
        made = []
        for option, given, weighted in (("metrics", self.plain, False),
                                        ("weighted_metrics", self.weighted, True)):
            rows = [engine.flatten(given)] if number == 1 else self._rows(
                option, given, names, outputs)
            for k, row in enumerate(rows):
                title = names[k] if number > 1 and k < len(names) else ""
                for identifier in row if isinstance(row, (list, tuple)) else [row]:
                    if identifier is not None:
                        made.append((title, k, weighted, as_metric(
                            identifier, targets[k], predictions[k])))
        return made

    def _rows(self, option: str, given: Any, names: list[str], outputs: Any) -> list[Any]:
        """Return the metrics of each output."""
        try:
            return by_output(given, names, len(engine.flatten(outputs)), option)
        except ValueError:
            raise ValueError(
                f"Invalid `{option}`. `{option}` should contain metrics objects and either be a"
                f" dict or a list matching the output names of the functional model {names} or"
                f" match the output structure of the model: {_marked(outputs, 'X')}.\nReceived:"
                f" {option}={given}") from None

    def update_state(
            self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch."""
        predictions, names = leaves(y_pred), names_of(y_pred, self.names)
        targets = _in_order(y_true, names)
        if self.built is None:
            self.built = self._build(targets, y_pred)
        weights = by_output(sample_weight, names, len(predictions), "sample_weight")
        for _, k, weighted, metric in self.built:
            if weighted:
                metric.update_state(targets[k], predictions[k], weights[k])
            else:
                metric.update_state(targets[k], predictions[k])

    def result(self) -> dict[str, Any]:
        """Return the results by name, that of the output before it; a number behind what is there
        already.
        """
        found: dict[str, Any] = {}
        seen: Counter[str] = Counter()
        for title, _, weighted, metric in self.built or ():
            before = f"{title}_" if title else ""
            name = before + metric.name
            if seen[name] and weighted:
                name = f"{before}weighted_{metric.name}"
            seen[name] += 1
            if seen[name] > 1:
                name = f"{name}_{seen[name] - 1}"
            found[name] = metric.result()
        return found


def as_metric(identifier: Any, y_true: Any, y_pred: Any) -> Metric:
    """Return a metric of what `compile` was given; which accuracy is meant, the shapes tell."""
    found = metric_of(fitting(identifier, ("accuracy", "acc"), (
        "BinaryAccuracy", "SparseCategoricalAccuracy", "CategoricalAccuracy"), y_true, y_pred))
    name = identifier if isinstance(identifier, str) else getattr(found, "name", None)
    if not isinstance(found, Metric):
        found = MeanMetricWrapper(found, name or _title(found))
    found.name = name or found.name
    made: Metric = found
    return made
