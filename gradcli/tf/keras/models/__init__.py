"""Models: layers that are trained, and what training tells, prints and keeps."""

from __future__ import annotations

import sys

from gradcli.tf.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...

_group = "keras.models"
sys.modules[__name__].__class__ = Names
