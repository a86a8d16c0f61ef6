"""One question asked at many points, one after the other (see `gradcli.prepared.asking`)."""

from __future__ import annotations

from gradcli.prepared.asking import Prepared

__all__ = ["Prepared"]
