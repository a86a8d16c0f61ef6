"""Batches of data: of arrays, datasets, generators and sequences."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import floatx
from gradcli.tf.own import next_seed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Return inputs, targets and weights of a batch, None for what it does not have."""
    if not isinstance(data, (tuple, list)):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y,"
                         f" sample_weight)`, found: {data}")
    x, y, weights = [*data, None, None][:3]
    return x, y, weights


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Return inputs, targets and weights as a batch."""
    if y is None:
        return (x,) if isinstance(x, (tuple, list)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def tensors(structure: Any) -> Any:
    """Return arrays as tensors, real numbers as float32."""
    return engine.like(structure, [
        x if x is None or isinstance(x, engine.Tensor) else _tensor(x)
        for x in engine.flatten(structure)])


def _tensor(x: Any) -> Any:
    made = np.asarray(x)
    return tf.constant(made.astype(floatx()) if made.dtype.kind == "f" else made)


class PyDataset:
    """A sequence of batches, as keras.utils.PyDataset: `__len__` and `__getitem__` are a
    subclass's. Workers say nothing here.
    """

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False,
                 max_queue_size: int = 10) -> None:
        self.workers, self.use_multiprocessing = workers, use_multiprocessing
        self.max_queue_size = max_queue_size

    def __getitem__(self, index: int) -> Any:
        """Return a batch."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of batches."""
        raise NotImplementedError

    @property
    def num_batches(self) -> int | None:
        """Return the number of batches."""
        return len(self)

    def on_epoch_begin(self) -> None:
        """Do nothing."""

    def on_epoch_end(self) -> None:
        """Do nothing."""


Sequence = PyDataset


class Batches:
    """The batches of an epoch, of arrays or of what yields them.

    classes: weights of classes by their number, in place of weights of samples.
    """

    def __init__(self, x: Any, y: Any, weights: Any, size: int | None, shuffle: bool,
                 steps: int | None, classes: dict[int, float] | None = None) -> None:
        self.source: Any = None
        self.shuffle, self.steps, self.classes = shuffle, steps, classes
        if isinstance(x, PyDataset) or hasattr(x, "__next__") or hasattr(x, "element_spec"):
            for option, given in (("y", y), ("sample_weight", weights)):
                if given is not None:
                    raise ValueError(f"When providing `x` as a {_kind(x)}, `{option}` should not be"
                                     " passed. Instead, the targets should be part of what it"
                                     " yields.")
            self.source = x
            self.running: Any = None
            if steps is None and hasattr(x, "__len__"):
                self.steps = len(x)
            return
        self.size = size or (-(-int(np.shape(engine.flatten(x)[0])[0]) // steps) if steps else 32)
        if classes is not None:
            weights = of_classes(y, weights, classes)
        if _nested(y) and weights is not None and not _nested(weights):
            weights = engine.like(y, [weights] * len(engine.flatten(y)))
        given = engine.flatten((x, y, weights))
        if any(a is not None and not np.shape(a) for a in given):
            raise ValueError(f"Unrecognized data type: x={x} (of type {type(x)})")
        self.arrays = tuple([None if part is None else tensors(part) for part in (x, y, weights)])
        lengths = {int(a.shape[0]) for a in engine.flatten(self.arrays) if a is not None}
        if len(lengths) > 1:
            sizes = [f"'{name}' sizes: {', '.join([str(a.shape[0]) for a in engine.flatten(part)])}"
                     for name, part in zip(("x", "y", "sample_weight"), self.arrays, strict=True)
                     if part is not None]
            raise ValueError("Data cardinality is ambiguous. Make sure all arrays contain the same"
                             " number of samples." + "\n".join([*sizes, ""]))
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
            yield pack_x_y_sample_weight(*given)

    def _yielded(self) -> Iterator[Any]:
        """Yield what the source yields; with a number of steps an epoch goes on where the last
        one stopped.
        """
        if isinstance(self.source, PyDataset):
            self.source.on_epoch_begin()
            self.running = _of_sequence(self.source, self.shuffle)
        elif self.running is None or self.steps is None or hasattr(self.source, "__len__"):
            self.running = iter(self.source)
        for k, batch in enumerate(self.running):
            found = tensors(batch)
            if self.classes is not None:
                x, y, weights = unpack_x_y_sample_weight(found)
                found = x, y, tensors(of_classes(y, weights, self.classes))
            yield found
            if self.steps is not None and k + 1 == self.steps:
                break
        if isinstance(self.source, PyDataset):
            self.source.on_epoch_end()


def _kind(x: Any) -> str:
    return "generator" if hasattr(x, "__next__") else (
        "PyDataset" if isinstance(x, PyDataset) else "tf.data.Dataset")


def _nested(y: Any) -> bool:
    return isinstance(y, (list, tuple, dict))


def _of_sequence(source: PyDataset, shuffle: bool) -> Iterator[Any]:
    order = np.arange(len(source))
    if shuffle:
        order = np.random.default_rng(next_seed(None)).permutation(len(source))
    return (source[int(k)] for k in order)


def of_classes(y: Any, weights: Any, classes: dict[int, float]) -> Any:
    """Return the weights of samples for weights of their classes, 1 for a class without one."""
    if weights is not None:
        raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
    if _nested(y):
        raise ValueError("`class_weight` is only supported for Models with a single output.")
    numbers: Any = np.asarray(y)
    if numbers.ndim > 1:
        numbers = numbers.argmax(-1) if numbers.shape[-1] != 1 else numbers[..., 0]
    return np.asarray([classes.get(int(k), 1.0) for k in np.round(numbers)], floatx())


def split_off(x: Any, y: Any, weights: Any, share: float) -> tuple[Any, ...]:
    """Split the last part of arrays off, for validation."""
    given = tuple(None if part is None else part for part in (x, y, weights))
    total = len(engine.flatten(x)[0])
    at = int(total * (1 - share))
    first, last = [engine.like(given, [None if a is None else a[piece]
                                       for a in engine.flatten(given)])
                   for piece in (slice(None, at), slice(at, None))]
    return (*first, tuple(part for part in last if part is not None))
