"""Callbacks: what is told of each epoch and batch of training, and what is printed of it."""

from __future__ import annotations

import time

import gradcli.tf as tf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EVENTS = [f"on_{kind}_{end}" for kind in ("train", "test", "predict", "epoch", "train_batch",
                                          "test_batch", "predict_batch")
          for end in ("begin", "end")] + ["on_batch_begin", "on_batch_end"]


class Callback:
    """What is told of training, as keras.callbacks.Callback: any `on_...` may be written."""

    params: Any = None
    model: Any = None

    def set_params(self, params: Any) -> None:
        """Take the options of `fit`."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the model."""
        self.model = model


def _nothing(self: Any, *args: Any) -> None:
    """Do nothing."""


for _event in EVENTS:
    setattr(Callback, _event, _nothing)


class LambdaCallback(Callback):
    """Functions for some events."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        for name, function in functions.items():
            if name not in EVENTS:
                raise TypeError(f"LambdaCallback has no event `{name}`")
            setattr(self, name, function)


class History(Callback):
    """The logs of all epochs."""

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin with no epochs."""
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keep the logs."""
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)
        self.model.history = self


class EarlyStopping(Callback):
    """Stop when a number has not improved for some epochs."""

    def __init__(self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0,
                 verbose: int = 0, mode: str = "auto", baseline: float | None = None,
                 restore_best_weights: bool = False, start_from_epoch: int = 0) -> None:
        self.monitor, self.min_delta, self.patience = monitor, abs(min_delta), patience
        self.verbose, self.baseline, self.start = verbose, baseline, start_from_epoch
        self.restore, self.stopped_epoch = restore_best_weights, 0
        up = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.sign = 1 if up else -1

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best: Any = None
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Stop training if it is time."""
        current = (logs or {}).get(self.monitor)
        if current is None or epoch < self.start:
            return
        if self.restore and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._better(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._better(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def _better(self, current: float, than: float | None) -> bool:
        return than is None or self.sign * (current - than) > self.min_delta

    def on_train_end(self, logs: Any = None) -> None:
        """Put the best weights back."""
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore and self.best_weights is not None:
            if self.verbose:
                print("Restoring model weights from the end of the best epoch:"
                      f" {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class LearningRateScheduler(Callback):
    """Set the learning rate of each epoch by a function."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the rate."""
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, float(tf.convert_to_tensor(optimizer.learning_rate)))
        except TypeError:
            rate = self.schedule(epoch)
        optimizer.learning_rate = rate
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Note the rate."""
        if logs is not None:
            logs["learning_rate"] = float(tf.convert_to_tensor(
                self.model.optimizer.learning_rate))


class TerminateOnNaN(Callback):
    """Stop at a loss that is NaN or infinite."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Stop if the loss is no number."""
        loss = (logs or {}).get("loss")
        if loss is not None and loss - loss != 0:
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class Progress(Callback):
    """The printed form of training: a line for each epoch.

    verbose: 2 as Keras prints it, 1 the bar when it is full.
    """

    def __init__(self, verbose: Any, epochs: int, steps: int | None) -> None:
        self.verbose = 1 if verbose == "auto" else int(verbose)
        self.epochs, self.steps = epochs, steps
        self.in_fit = False

    def on_train_begin(self, logs: Any = None) -> None:
        """Note that tests are part of training."""
        self.in_fit = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Print which epoch begins."""
        self._begin()
        if self.verbose and self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}")

    def _begin(self, logs: Any = None) -> None:
        if not self.in_fit or logs is None:
            self.start, self.seen = time.time(), 0

    on_predict_begin = _begin

    def on_test_begin(self, logs: Any = None) -> None:
        """Begin a test of its own."""
        if not self.in_fit:
            self._begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Count a batch."""
        self.seen = batch + 1

    on_predict_batch_end = on_train_batch_end

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Count a batch of a test of its own."""
        if not self.in_fit:
            self.seen = batch + 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Print the line of an epoch."""
        self._line(logs)

    def on_test_end(self, logs: Any = None) -> None:
        """Print the line of a test."""
        if not self.in_fit:
            self._line(logs)

    def on_predict_end(self, logs: Any = None) -> None:
        """Print the line of predictions."""
        self._line(None)

    def _line(self, logs: Any) -> None:
        if not self.verbose:
            return
        total = self.steps or self.seen
        spent = time.time() - self.start
        between = " -" if self.verbose == 2 else ""
        bar = "" if self.verbose == 2 else f" {'━' * 20}"
        print(f"{total}/{total}{bar}{between} {spent:.0f}s{between}{_each(spent / max(total, 1))}"
              + "".join([f" - {key}: {number(value, self.verbose)}"
                         for key, value in (logs or {}).items()]))


def number(value: float, verbose: int) -> str:
    """Return a number as a line of training has it."""
    size = value if verbose == 2 else abs(value)
    return f"{value:.4f}" if size > 1e-3 else f"{value:.4e}"


def _each(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1 or unit == "us":
            break
    return f" {seconds * factor:.0f}{unit}/step"
