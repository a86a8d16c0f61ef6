"""Layers: functions with variables, each with its shapes."""

from __future__ import annotations

import sys

from gradcli.tf.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...

_group = "keras.layers"
sys.modules[__name__].__class__ = Names
