"""Callbacks: what is told of each epoch and batch of training, and what is printed of it."""

from __future__ import annotations

import time

import gradcli.tf as tf
from gradcli.base.lazy import np

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


def _of_batch(name: str) -> Callable[..., None]:
    def told(self: Any, batch: int, logs: Any = None) -> None:
        """Do what the event does under its older name."""
        getattr(self, name)(batch, logs)

    return told


for _end in ("begin", "end"):
    setattr(Callback, f"on_train_batch_{_end}", _of_batch(f"on_batch_{_end}"))


class LambdaCallback(Callback):
    """Functions for some events; what has another name is an attribute."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        for name, function in functions.items():
            if function is not None:
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
        if not isinstance(rate, (float, np.float32)):
            raise ValueError("The output of the `schedule` function should be a float. Got:"
                             f" {rate}")
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


class Progbar:
    """A bar of progress, as keras.utils.Progbar: its line when it is full, without the moving bar.

    stateful_metrics: names of values of which the last one is shown, not the mean.
    """

    def __init__(self, target: int | None, width: int = 20, verbose: int = 1,
                 interval: float = 0.05, stateful_metrics: Any = None,
                 unit_name: str = "step") -> None:
        self.target, self.verbose, self.unit_name = target, verbose, unit_name
        self.last = set(stateful_metrics or ())
        self.seen, self.start = 0, time.time()
        self.sums: dict[str, list[float]] = {}

    def update(self, current: int, values: Any = None, finalize: bool | None = None) -> None:
        """See values at a step, and print the line behind the last one."""
        full = self.target is not None and current >= self.target if finalize is None else finalize
        for name, value in values or ():
            weight = max(current - self.seen, 1)
            total = self.sums.setdefault(name, [0.0, 0])
            if name in self.last or full:
                total[:] = [float(value), 1]
            else:
                total[:] = [total[0] + float(value) * weight, total[1] + weight]
        self.seen = current
        if full and self.verbose:
            spent = time.time() - self.start
            bar = f" {'━' * 20} " if self.verbose == 1 else " - "
            between = "" if self.verbose == 1 else " -"
            print(f"{current}/{self.target or current}{bar}{spent:.0f}s{between}"
                  f"{_each(spent / max(current, 1), self.unit_name)}" + "".join([
                      f" - {name}: {number(total / max(count, 1), self.verbose)}"
                      for name, (total, count) in self.sums.items()]))

    def add(self, n: int, values: Any = None) -> None:
        """See values n steps later."""
        self.update(self.seen + n, values)


def number(value: float, verbose: int) -> str:
    """Return a number as a line of training has it."""
    size = value if verbose == 2 else abs(value)
    return f"{value:.4f}" if size > 1e-3 else f"{value:.4e}"


def _each(seconds: float, unit_name: str = "step") -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1 or unit == "us":
            break
    return f" {seconds * factor:.0f}{unit}/{unit_name}"
