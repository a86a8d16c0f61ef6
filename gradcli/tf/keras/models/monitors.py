"""Callbacks that watch one number of training."""

from __future__ import annotations

import csv
import os
from warnings import warn

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.tf.keras.models.callback import Callback
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Monitor(Callback):
    """A callback that knows when a number of the logs has improved: is larger, or smaller."""

    def __init__(self, monitor: str = "val_loss", mode: str = "auto",
                 baseline: float | None = None, min_delta: float = 0) -> None:
        if mode not in ("auto", "min", "max"):
            warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.",
                 stacklevel=3)
            mode = "auto"
        self.monitor, self.mode, self.best, self.min_delta = monitor, mode, baseline, abs(min_delta)
        self._sign = 0

    def _better(self, value: float, than: float | None) -> bool:
        """Return whether a value is better than another one, by more than `min_delta`."""
        if not self._sign:
            self._sign = self._direction()
        return than is None or self._sign * (value - than) > self.min_delta

    def _direction(self) -> int:
        """Return 1 for a number that is to be large, -1 for a small one."""
        if self.mode != "auto":
            return 1 if self.mode == "max" else -1
        name = self.monitor.removeprefix("val_")
        for metric in self.model.metrics:
            for one in getattr(metric, "metrics", [metric]):
                if one.name == name and one.direction:
                    return 1 if one.direction == "up" else -1
        if name == "loss":
            return -1
        raise ValueError(
            f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able"
            " to automatically determine whether that metric should be maximized or minimized."
            " Pass `mode='max'` in order to monitor based on the highest metric value, or pass"
            " `mode='min'` in order to use the lowest value.")


class EarlyStopping(Monitor):
    """Stop when a number has not improved for some epochs."""

    def __init__(self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0,
                 verbose: int = 0, mode: str = "auto", baseline: float | None = None,
                 restore_best_weights: bool = False, start_from_epoch: int = 0) -> None:
        super().__init__(monitor, mode, None, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.start_from_epoch = start_from_epoch
        self.restore_best_weights, self.stopped_epoch = restore_best_weights, 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = None
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Stop training if it is time."""
        current = (logs or {}).get(self.monitor)
        if current is None:
            warn(f"Early stopping conditioned on metric `{self.monitor}` which is not available."
                 f" Available metrics are: {','.join(logs or {})}", stacklevel=2)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._better(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._better(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        """Put the best weights back."""
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose:
                print("Restoring model weights from the end of the best epoch:"
                      f" {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(Monitor):
    """Multiply the learning rate by a factor when a number has not improved for some epochs.

    cooldown: epochs behind it that do not count.
    """

    def __init__(self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10,
                 verbose: int = 0, mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0,
                 min_lr: float = 0.0) -> None:
        super().__init__(monitor, mode, None, min_delta)
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0. Received"
                             f" factor={factor}")
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooldown_counter = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.best = None
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Reduce the rate if it is time."""
        logs = {} if logs is None else logs
        optimizer = self.model.optimizer
        rate = float(tf.convert_to_tensor(optimizer.learning_rate))
        logs["learning_rate"] = rate
        current = logs.get(self.monitor)
        if current is None:
            warn(f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not"
                 f" available. Available metrics are: {','.join(logs)}.", stacklevel=2)
            return
        if self.cooldown_counter:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(current, self.best):
            self.best, self.wait = current, 0
        elif not self.cooldown_counter:
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                optimizer.learning_rate = new = max(rate * self.factor, self.min_lr)
                if self.verbose:
                    print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to"
                          f" {new}.")
                self.cooldown_counter, self.wait = self.cooldown, 0


class ModelCheckpoint(Monitor):
    """Write the weights of each epoch, or of those only in which a number improved.

    Raises E0208 for whole models, which are not written.
    """

    def __init__(self, filepath: Any, monitor: str = "val_loss", verbose: int = 0,
                 save_best_only: bool = False, save_weights_only: bool = False, mode: str = "auto",
                 save_freq: Any = "epoch", initial_value_threshold: float | None = None) -> None:
        super().__init__(monitor, mode, initial_value_threshold)
        self.filepath = os.fspath(filepath)
        if not save_weights_only:
            raise refused("tf.keras.callbacks.ModelCheckpoint", "save_weights_only=False",
                          "write the weights only: save_weights_only=True, and a path that ends in"
                          " .weights.h5")
        if not self.filepath.endswith(".weights.h5"):
            raise ValueError("When using `save_weights_only=True` in `ModelCheckpoint`, the"
                             " filepath provided must end in `.weights.h5` (Keras weights format)."
                             f" Received: filepath={self.filepath}")
        if save_freq != "epoch":
            raise refused("tf.keras.callbacks.ModelCheckpoint", "save_freq")
        self.verbose, self.save_best_only = verbose, save_best_only

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the weights if it is time."""
        logs = logs or {}
        try:
            path = self.filepath.format(epoch=epoch + 1, **logs)
        except KeyError as problem:
            raise KeyError(f'Failed to format this callback filepath: "{self.filepath}". Reason:'
                           f" {problem}") from None
        if not self._wanted(epoch, logs, path):
            return
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.model.save_weights(path, overwrite=True)
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: finished saving model to {path}")

    def _wanted(self, epoch: int, logs: Any, path: str) -> bool:
        """Return whether the weights of an epoch are to be written, and say so."""
        begin = f"\nEpoch {epoch + 1}: "
        current = logs.get(self.monitor)
        if not self.save_best_only:
            said, wanted = f"saving model to {path}", True
        elif current is None:
            warn(f"Can save best model only with {self.monitor} available.", stacklevel=2)
            return True
        else:
            best = "None" if self.best is None else f"{self.best:.5f}"
            wanted = self._better(current, self.best)
            said = f"{self.monitor} did not improve from {best}"
            if wanted:
                said = f"{self.monitor} improved from {best} to {current:.5f}, saving model to" \
                    f" {path}"
                self.best = current
        if self.verbose:
            print(begin + said)
        return wanted


class CSVLogger(Callback):
    """Write the logs of each epoch as a row of a table."""

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        self.filename, self.sep, self.append = os.fspath(filename), separator, append
        self.keys: list[str] = []

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin the table."""
        self.keys = []
        self._headed = self.append and os.path.exists(self.filename) and os.path.getsize(
            self.filename) > 0
        if not self.append:
            open(self.filename, "w").close()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a row; a column that an epoch does not have is NA."""
        logs = logs or {}
        if not self.keys:
            self.keys = sorted(logs)
            if not any(key.startswith("val_") for key in self.keys):
                self.keys += [f"val_{key}" for key in self.keys]
        with open(self.filename, "a", newline="") as file:
            writer = csv.writer(file, delimiter=self.sep)
            if not self._headed:
                writer.writerow(["epoch", *self.keys])
                self._headed = True
            writer.writerow([epoch, *[logs.get(key, "NA") for key in self.keys]])
