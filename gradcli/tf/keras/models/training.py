"""Training: compile, fit, evaluate and predict."""

from __future__ import annotations

from inspect import signature
from warnings import warn

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.layers.layer import once
from gradcli.tf.keras.metric import Mean, Metric
from gradcli.tf.keras.models.batches import (
    Batches,
    of_classes,
    split_off,
    tensors,
    unpack_x_y_sample_weight,
)
from gradcli.tf.keras.models.callback import History, Progress
from gradcli.tf.keras.models.compiled import Losses, Metrics
from gradcli.tf.keras.optimizers import get as optimizer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Trainer:
    """What a model does with data, as keras.Model."""

    optimizer: Any = None
    compiled = False
    stop_training = False
    output_names: Any = None
    _losses_of: Losses | None = None
    _metrics_of: Metrics | None = None
    _loss_tracker: Any = None
    if TYPE_CHECKING:
        _layers: Any
        _owned: Any
        losses: Any
        trainable_weights: Any
        __call__: Any

    def compile(self, optimizer: Any = "rmsprop", loss: Any = None, loss_weights: Any = None,
                metrics: Any = None, weighted_metrics: Any = None, run_eagerly: bool = False,
                steps_per_execution: int = 1, jit_compile: Any = "auto",
                auto_scale_loss: bool = True) -> None:
        """Set the optimizer, the losses and the metrics of training."""
        self.optimizer = optimizer_of(optimizer)
        # What a second call does not give, stays that of the first.
        if loss is not None:
            self._losses_of = Losses(loss, loss_weights, self.output_names, run_eagerly)
            self.loss = loss    # type: ignore[method-assign]
        if metrics is not None or weighted_metrics is not None:
            self._metrics_of = Metrics(metrics, weighted_metrics, self.output_names)
        self._loss_tracker = Mean("loss")
        self.stop_training = False
        self.run_eagerly, self.jit_compile = run_eagerly, jit_compile is True
        self.compiled = True

    # ---- one step ------------------------------------------------------------------------------

    def train_step(self, data: Any) -> dict[str, Any]:
        """Take one step of the optimizer for a batch, and return the metrics."""
        x, y, weights = unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self._track(x, y, y_pred, weights, True)
        variables = self.trainable_weights
        if variables:
            gradients = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        else:
            warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, sample_weight=weights)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Return the metrics with those of a batch."""
        x, y, weights = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)
        self._track(x, y, y_pred, weights, False)
        return self.compute_metrics(x, y, y_pred, sample_weight=weights)

    def predict_step(self, data: Any) -> Any:
        """Return the outputs for a batch."""
        return self(unpack_x_y_sample_weight(data)[0], training=False)

    def _track(self, x: Any, y: Any, y_pred: Any, weights: Any, training: bool) -> Any:
        """Return the loss, and see it. A `compute_loss` of the user may not take `training`."""
        takes = signature(self.compute_loss).parameters
        told = {"training": training} if "training" in takes or any(
            p.kind is p.VAR_KEYWORD for p in takes.values()) else {}
        loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weights, **told)
        self._loss_tracker.update_state(loss, sample_weight=tf.constant(_length(x)))
        return loss

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None,
                     sample_weight: Any = None, training: bool = True) -> Any:
        """Return the loss of predictions, with what layers add to it."""
        parts = [tf.reduce_sum(loss) for loss in self.losses]
        if self._losses_of is not None:
            parts.insert(0, self._losses_of(y, y_pred, sample_weight))
        if not parts:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return parts[0] if len(parts) == 1 else tf.add_n([tf.reduce_sum(p) for p in parts])

    def compiled_loss(self, y: Any, y_pred: Any, sample_weight: Any = None,
                      regularization_losses: Any = None) -> Any:
        """Return what `compute_loss` does: the name that it had in Keras 2."""
        return self.compute_loss(y=y, y_pred=y_pred, sample_weight=sample_weight)

    @property
    def compiled_metrics(self) -> Any:
        """Return the metrics of `compile` and the loss as one: the name that Keras 2 had."""
        return AllMetrics(self)

    def loss(self, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return what `compute_loss` does, until `compile` puts its argument here."""
        return self.compute_loss(y=y, y_pred=y_pred, sample_weight=sample_weight)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
                        ) -> dict[str, Any]:
        """See predictions, and return the metrics."""
        if self._metrics_of is not None:
            self._metrics_of.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the results of all metrics by their names."""
        found: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            found.update(result if isinstance(result, dict) else {metric.name: result})
        return found

    @property
    def metrics(self) -> list[Any]:
        """Return the metrics: the loss, those of `compile` as one, those of the layers."""
        own: list[Any] = [self._loss_tracker] if self.compiled else []
        if self._metrics_of is not None:
            own.append(self._metrics_of)
        if self._losses_of is not None:
            own += self._losses_of.metrics
        return once([*own, *[m for m in self._owned(Metric) if m not in own],
                     *[m for layer in self._layers for m in layer.metrics
                       if not isinstance(layer, Trainer)]])

    @property
    def metrics_names(self) -> list[str]:
        """Return the names of the metrics."""
        return [m.name for m in self.metrics]

    def reset_metrics(self) -> None:
        """Forget what metrics saw."""
        for metric in self.metrics:
            metric.reset_state()

    # ---- all data ------------------------------------------------------------------------------

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1,
            verbose: Any = "auto", callbacks: Any = None, validation_split: float = 0.0,
            validation_data: Any = None, shuffle: bool = True, class_weight: Any = None,
            sample_weight: Any = None, initial_epoch: int = 0, steps_per_epoch: int | None = None,
            validation_steps: int | None = None, validation_batch_size: int | None = None,
            validation_freq: int = 1) -> Any:
        """Train on data for some epochs, and return their history."""
        self._check_compiled("fit")
        if validation_split and validation_data is None:
            x, y, sample_weight, validation_data = split_off(x, y, sample_weight, validation_split)
        batches = Batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight)
        history = History()
        all_of = _Callbacks(_listed(callbacks), self, verbose, epochs, batches.steps, [history])
        self.stop_training = False
        all_of("train_begin")
        logs: Any = None
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            all_of("epoch_begin", epoch)
            logs = self._pass(batches, self.train_step, all_of, "train")
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                given = validation_data if isinstance(validation_data, tuple) else (
                    validation_data,)
                val_x, val_y, val_weights = unpack_x_y_sample_weight(given)
                found = self._test(Batches(val_x, val_y, val_weights,
                                           validation_batch_size or batch_size, False,
                                           validation_steps), all_of)
                logs.update({f"val_{key}": value for key, value in found.items()})
            logs = _numbers(logs)
            all_of("epoch_end", epoch, logs=logs)
            if self.stop_training:
                break
        all_of("train_end", logs=logs)
        return history

    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None,
                 verbose: Any = "auto", sample_weight: Any = None, steps: int | None = None,
                 callbacks: Any = None, return_dict: bool = False) -> Any:
        """Return the loss and the metrics of data."""
        self._check_compiled("evaluate")
        batches = Batches(x, y, sample_weight, batch_size, False, steps)
        logs = self._test(batches, _Callbacks(
            _listed(callbacks), self, verbose, 1, batches.steps))
        if return_dict:
            return logs
        return self._in_order(logs)

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = "auto",
                steps: int | None = None, callbacks: Any = None) -> Any:
        """Return the outputs for data, as arrays."""
        batches = Batches(x, None, None, batch_size, False, steps)
        all_of = _Callbacks(_listed(callbacks), self, verbose, 1, batches.steps)
        all_of("predict_begin")
        found = []
        for k, batch in enumerate(batches):
            all_of("predict_batch_begin", k)
            found.append(self.predict_step(batch))
            all_of("predict_batch_end", k, logs={"outputs": found[-1]})
        all_of("predict_end")
        columns = zip(*[engine.flatten(outputs) for outputs in found], strict=True)
        return engine.like(found[0], [np.concatenate([part.numpy() for part in column])
                                      for column in columns])

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None,
                       class_weight: Any = None, return_dict: bool = False) -> Any:
        """Take one step of the optimizer, and return the metrics of the batch."""
        if class_weight is not None:
            sample_weight = of_classes(y, sample_weight, class_weight)
        return self._of_batch(self.train_step, (x, y, sample_weight), return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None,
                      return_dict: bool = False) -> Any:
        """Return the metrics of a batch."""
        return self._of_batch(self.test_step, (x, y, sample_weight), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for a batch, as arrays."""
        found = self.predict_step((tensors(x),))
        return engine.like(found, [part.numpy() for part in engine.flatten(found)])

    def _of_batch(self, step: Any, given: tuple[Any, ...], return_dict: bool) -> Any:
        self._check_compiled("train_on_batch")
        self.reset_metrics()
        logs = _numbers(step(tensors(given)))
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs: dict[str, float]) -> Any:
        """Return what metrics said in their order, the others by name; one alone without a list."""
        order = [m.name for metric in self.metrics for m in (
            metric.metrics if isinstance(metric, Metrics) else [metric])]
        names = [name for name in order if name in logs]
        found = [logs[name] for name in [*names, *sorted(set(logs) - set(names))]]
        return found[0] if len(found) == 1 else found

    def _test(self, batches: Batches, all_of: _Callbacks) -> dict[str, float]:
        all_of("test_begin")
        self.reset_metrics()
        logs = _numbers(self._pass(batches, self.test_step, all_of, "test"))
        all_of("test_end", logs=logs)
        return logs

    def _pass(self, batches: Batches, step: Any, all_of: _Callbacks, kind: str) -> dict[str, Any]:
        """Take a step for each batch, and return the metrics of all."""
        logs: Any = {}
        for k, batch in enumerate(batches):
            all_of(f"{kind}_batch_begin", k)
            logs = step(batch)
            all_of(f"{kind}_batch_end", k, logs=_numbers(logs))
            if self.stop_training:
                break
        results = self.get_metrics_result()
        return dict(results if set(results) == set(logs) else logs)

    def _check_compiled(self, method: str) -> None:
        if not self.compiled:
            raise ValueError("You must call `compile()` before using the model.")


def _length(x: Any) -> int:
    return int(engine.flatten(x)[0].shape[0])


def _numbers(logs: Any) -> dict[str, Any]:
    """Return logs as Python's numbers, by their names; those of a group in its place."""
    found: dict[str, Any] = {}
    for key, value in sorted((logs or {}).items()):
        if isinstance(value, dict):
            found.update(_numbers(value))
        else:
            single = not isinstance(value, engine.Tensor) or not value.shape
            found[key] = float(value) if single else value.numpy()
    return found


def _listed(callbacks: Any) -> list[Any]:
    return list(callbacks) if isinstance(callbacks, (list, tuple)) else (
        [] if callbacks is None else [callbacks])


class AllMetrics:
    """The metrics of a model, which see a batch together."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """See a batch. The mean sees the predictions, as with Keras."""
        for metric in self.model.metrics:
            given = (y_pred,) if isinstance(metric, Mean) else (y, y_pred)
            metric.update_state(*given, sample_weight=sample_weight)


class _Callbacks:
    """All callbacks of a run, told of an event by calling it."""

    def __init__(self, given: list[Any], model: Any, verbose: Any, epochs: int, steps: int | None,
                 last: Sequence[Any] = ()) -> None:
        self.all = [*given, Progress(verbose, epochs, steps), *last]
        for callback in self.all:
            callback.set_params({"verbose": verbose, "epochs": epochs, "steps": steps})
            callback.set_model(model)

    def __call__(self, event: str, *given: Any, logs: Any = None) -> None:
        for callback in self.all:
            getattr(callback, f"on_{event}")(*given, {} if logs is None else logs)
