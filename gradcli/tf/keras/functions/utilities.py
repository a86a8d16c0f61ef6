"""Small helpers of Keras's programs."""

from __future__ import annotations

import random

from gradcli.base.lazy import np
from gradcli.tf.own import set_seed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def set_random_seed(seed: int) -> None:
    """Seed the draws of Python, NumPy and TensorFlow's names."""
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Return the numbers of classes as rows of 0 and a 1, an array."""
    numbers = np.asarray(x, dtype="int64")
    if numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers.reshape(numbers.shape[:-1])
    return np.eye(num_classes or int(numbers.max()) + 1)[numbers]
