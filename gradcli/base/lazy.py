"""NumPy, loaded when the first array appears.

`import numpy` costs about seven times an empty Python start (78 against 10 ms), and a file of
scalars never needs it. The proxy stores each attribute it has looked up, so that the second
`np.sum` is an ordinary attribute access.
"""

from __future__ import annotations

import sys

__all__ = ["loaded", "np", "quiet"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Lazy:
    def __getattr__(self, name: str) -> Any:
        value = getattr(_load(), name)
        setattr(self, name, value)
        return value


def _load() -> Any:
    if "numpy" not in sys.modules:
        import os

        # A second BLAS thread costs start-up (140 against 93 ms on a busy machine) and wins
        # nothing on arrays of the size that a formula file holds.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy

    return numpy


def loaded() -> bool:
    """Return whether NumPy is loaded, without loading it."""
    return "numpy" in sys.modules


class _Quiet:
    """A context that does nothing, for processes without NumPy."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...


def quiet() -> Any:
    """Return a context in which NumPy gives inf and NaN without a warning; it never loads NumPy."""
    return np.errstate(all="ignore") if loaded() else _Quiet()


if TYPE_CHECKING:
    import numpy as np
else:
    np = _Lazy()
