"""TensorFlow's names on gradcli's engine: programs with tapes run with `import gradcli.tf as tf`.

    >>> import gradcli.tf as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

What there is of TensorFlow does the same, with its types, its order of arguments and its printed
form; what is not there says so by name. `tf.GradientTape` has `why`, as all tapes of gradcli. No
mathematics is written here: functions are rows of `functions.txt` over gradcli's operations.
"""

from __future__ import annotations

import sys

from gradcli.tf.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...

__version__ = "2.21.0"
"""The version of TensorFlow whose answers and names these are."""

_group = ""
sys.modules[__name__].__class__ = Names
