"""Training: compile, fit, evaluate and predict."""

from __future__ import annotations

from warnings import warn

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.layers.layer import once
from gradcli.tf.keras.loss import as_loss
from gradcli.tf.keras.metric import Mean, Metric, as_metric
from gradcli.tf.keras.models.callback import History, Progress
from gradcli.tf.keras.optimizer import get as optimizer_of
from gradcli.tf.own import next_seed
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


class Trainer:
    """What a model does with data, as keras.Model."""

    optimizer: Any = None
    compiled = False
    stop_training = False
    loss: Any = None
    _loss_function: Any = None
    _loss_tracker: Any = None
    _asked: tuple[Any, ...] = ()
    _measured: Any = None
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
        """Set the optimizer, the loss and the metrics of training."""
        if isinstance(loss, (list, tuple, dict)):
            raise refused("Model.compile", "loss of several outputs")
        for option, value in (("loss_weights", loss_weights),
                              ("weighted_metrics", weighted_metrics)):
            if value:
                raise refused("Model.compile", option)
        if metrics and not isinstance(metrics, (list, tuple)):
            raise ValueError("Expected `metrics` argument to be a list, tuple, or dict. Received"
                             f" instead: metrics={metrics} of type {type(metrics)}")
        self.optimizer = optimizer_of(optimizer)
        # What a second call does not give, stays that of the first.
        if loss is not None:
            self.loss = self._loss_function = loss
        if metrics is not None:
            self._asked, self._measured = tuple(metrics), None
        self._loss_tracker = Mean("loss")
        self.compiled = True

    # ---- one step ------------------------------------------------------------------------------

    def train_step(self, data: Any) -> dict[str, Any]:
        """Take one step of the optimizer for a batch, and return the metrics."""
        x, y, weights = unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, weights)
        self._loss_tracker.update_state(loss, tf.constant(_length(x)))
        variables = self.trainable_weights
        if variables:
            gradients = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        else:
            warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, weights)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Return the metrics with those of a batch."""
        x, y, weights = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)
        self._loss_tracker.update_state(
            self.compute_loss(x, y, y_pred, weights, training=False), tf.constant(_length(x)))
        return self.compute_metrics(x, y, y_pred, weights)

    def predict_step(self, data: Any) -> Any:
        """Return the outputs for a batch."""
        return self(unpack_x_y_sample_weight(data)[0], training=False)

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None,
                     sample_weight: Any = None, training: bool = True) -> Any:
        """Return the loss of predictions, with what layers add to it."""
        if self._loss_function is None and not self.losses:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        parts = list(self.losses)
        if self._loss_function is not None:
            if isinstance(self._loss_function, str) and self._loss_function in (
                    "crossentropy", "ce"):
                raise refused("Model.compile", "loss='crossentropy'")
            self._loss_function = as_loss(self._loss_function)
            parts.insert(0, self._loss_function(y, y_pred, sample_weight))
        return parts[0] if len(parts) == 1 else tf.add_n([tf.reduce_sum(p) for p in parts])

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
                        ) -> dict[str, Any]:
        """See predictions, and return the metrics."""
        if self._measured is None:
            self._measured = [as_metric(m, y, y_pred) for m in self._asked]
        for metric in self._measured:
            metric.update_state(y, y_pred)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the results of all metrics by their names."""
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self) -> list[Any]:
        """Return the metrics: the loss, those of `compile`, those of the layers."""
        own = [self._loss_tracker, *(self._measured or [])] if self.compiled else []
        return once([*own, *self._owned(Metric),
                     *[m for layer in self._layers for m in layer.metrics
                       if not isinstance(layer, Trainer)]])

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
        if class_weight:
            raise refused("Model.fit", "class_weight")
        if validation_split and validation_data is None:
            x, y, sample_weight, validation_data = _split(x, y, sample_weight, validation_split)
        batches = Batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch)
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
            all_of("epoch_end", epoch, logs)
            if self.stop_training:
                break
        all_of("train_end", logs)
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
            all_of("predict_batch_end", k, None)
        all_of("predict_end", None)
        columns = zip(*[engine.flatten(outputs) for outputs in found], strict=True)
        return engine.like(found[0], [np.concatenate([part.numpy() for part in column])
                                      for column in columns])

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None,
                       return_dict: bool = False) -> Any:
        """Take one step of the optimizer, and return the metrics of the batch."""
        return self._of_batch(self.train_step, (x, y, sample_weight), return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None,
                      return_dict: bool = False) -> Any:
        """Return the metrics of a batch."""
        return self._of_batch(self.test_step, (x, y, sample_weight), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for a batch, as arrays."""
        found = self.predict_step((_tensors(x),))
        return engine.like(found, [part.numpy() for part in engine.flatten(found)])

    def _of_batch(self, step: Any, given: tuple[Any, ...], return_dict: bool) -> Any:
        self._check_compiled("train_on_batch")
        self.reset_metrics()
        logs = _numbers(step(_tensors(given)))
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs: dict[str, float]) -> Any:
        """Return what metrics said in their order, one alone without a list."""
        found = [logs[m.name] for m in self.metrics if m.name in logs]
        return found[0] if len(found) == 1 else found

    def _test(self, batches: Batches, all_of: _Callbacks) -> dict[str, float]:
        all_of("test_begin")
        self.reset_metrics()
        logs = _numbers(self._pass(batches, self.test_step, all_of, "test"))
        all_of("test_end", logs)
        return logs

    def _pass(self, batches: Batches, step: Any, all_of: _Callbacks, kind: str) -> dict[str, Any]:
        """Take a step for each batch, and return the metrics of all."""
        logs: Any = {}
        for k, batch in enumerate(batches):
            all_of(f"{kind}_batch_begin", k)
            logs = step(batch)
            all_of(f"{kind}_batch_end", k, _numbers(logs))
            if self.stop_training:
                break
        results = self.get_metrics_result()
        return dict(results if set(results) == set(logs) else logs)

    def _check_compiled(self, method: str) -> None:
        if not self.compiled:
            raise ValueError("You must call `compile()` before using the model.")


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Return inputs, targets and weights of a batch, None for what it does not have."""
    given = list(data) if isinstance(data, (tuple, list)) else [data]
    x, y, weights = [*given, None, None][:3]
    return x, y, weights


def _length(x: Any) -> int:
    return int(engine.flatten(x)[0].shape[0])


def _numbers(logs: Any) -> dict[str, float]:
    """Return logs as Python's numbers, by their names."""
    return {key: float(logs[key]) for key in sorted(logs or {})}


def _listed(callbacks: Any) -> list[Any]:
    return list(callbacks) if isinstance(callbacks, (list, tuple)) else (
        [] if callbacks is None else [callbacks])


class _Callbacks:
    """All callbacks of a run, told of an event by calling it."""

    def __init__(self, given: list[Any], model: Any, verbose: Any, epochs: int, steps: int | None,
                 last: Sequence[Any] = ()) -> None:
        self.all = [*given, Progress(verbose, epochs, steps), *last]
        for callback in self.all:
            callback.set_params({"verbose": verbose, "epochs": epochs, "steps": steps})
            callback.set_model(model)

    def __call__(self, event: str, *given: Any) -> None:
        for callback in self.all:
            getattr(callback, f"on_{event}")(*given)


# ---- batches -------------------------------------------------------------------------------------


def _tensors(structure: Any) -> Any:
    """Return arrays as tensors, real numbers as float32."""
    return engine.like(structure, [
        x if x is None or isinstance(x, engine.Tensor) else _tensor(x)
        for x in engine.flatten(structure)])


def _tensor(x: Any) -> Any:
    made = np.asarray(x)
    return tf.constant(made.astype("float32") if made.dtype.kind == "f" else made)


class Batches:
    """The batches of an epoch, of arrays or of what yields them."""

    def __init__(self, x: Any, y: Any, weights: Any, size: int | None, shuffle: bool,
                 steps: int | None) -> None:
        self.source: Any = None
        self.shuffle, self.steps = shuffle, steps
        if hasattr(x, "__next__") or hasattr(x, "element_spec"):
            self.source = x
            self.running: Any = None
            if steps is None and hasattr(x, "__len__"):
                self.steps = len(x)
            return
        self.size = size or 32
        self.arrays = tuple([None if part is None else engine.like(part, [
            a if isinstance(a, engine.Tensor) else _tensor(a) for a in engine.flatten(part)])
            for part in (x, y, weights)])
        lengths = {int(a.shape[0]) for a in engine.flatten(self.arrays) if a is not None}
        if len(lengths) > 1:
            raise ValueError("Data cardinality is ambiguous. Make sure all arrays contain the same"
                             f" number of samples. Sizes: {sorted(lengths)}")
        self.length = lengths.pop()
        self.steps = steps or -(-self.length // self.size)

    def __iter__(self) -> Iterator[Any]:
        if self.source is not None:
            yield from self._yielded()
            return
        order = np.arange(self.length)
        if self.shuffle:
            order = np.random.default_rng(next_seed(None)).permutation(self.length)
        for k in range(self.steps or 0):
            chosen = order[k * self.size:(k + 1) * self.size]
            if not len(chosen):
                return
            given = engine.like(self.arrays, [
                None if a is None else
                a if not self.shuffle and len(chosen) == self.length else
                tf.gather(a, chosen) for a in engine.flatten(self.arrays)])
            yield tuple(part for part in given if part is not None) if given[2] is None else given

    def _yielded(self) -> Iterator[Any]:
        """Yield what the source yields; with a number of steps an epoch goes on where the last
        one stopped.
        """
        if self.running is None or self.steps is None or hasattr(self.source, "__len__"):
            self.running = iter(self.source)
        for k, batch in enumerate(self.running):
            yield _tensors(batch)
            if self.steps is not None and k + 1 == self.steps:
                return


def _split(x: Any, y: Any, weights: Any, share: float) -> tuple[Any, ...]:
    """Split the last part of arrays off, for validation."""
    given = tuple(None if part is None else part for part in (x, y, weights))
    total = len(engine.flatten(x)[0])
    at = int(total * (1 - share))
    first, last = [engine.like(given, [None if a is None else a[piece]
                                       for a in engine.flatten(given)])
                   for piece in (slice(None, at), slice(at, None))]
    return (*first, tuple(part for part in last if part is not None))
