"""Keras on gradcli's engine: layers, losses and optimizers of training loops.

Names as in Keras 3, which TensorFlow 2.21 uses.
"""

from __future__ import annotations

import sys

from gradcli.tf.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...

__version__ = "3.15.1"

_group = "keras"
sys.modules[__name__].__class__ = Names
