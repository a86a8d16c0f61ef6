"""NumPy, loaded when the first array appears, and SciPy's special functions, when one is asked for.

`import numpy` costs about seven times an empty Python start (78 against 10 ms), and a file of
scalars never needs it. A proxy stores each attribute it has looked up, so that the second
`np.sum` is an ordinary attribute access.
"""

from __future__ import annotations

import sys
from _contextvars import Context
from _thread import _local as _thread_local

__all__ = ["loaded", "np", "quiet", "quietly", "silent", "special"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Lazy:
    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._load(), name)
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


def _load_special() -> Any:
    """Load the compiled module behind `scipy.special`, and nothing of the package around it.

    30 ms against 420: the package loads what other array libraries need, and with it all of NumPy's
    tests and its compiler of Fortran. `scipy.special` itself can still be imported afterwards.
    """
    module = sys.modules.get("scipy.special")
    if module is not None and module.__spec__:      # none has what another thread puts there below
        return module
    _load()
    from types import ModuleType

    import scipy

    package = ModuleType("scipy.special")
    package.__path__ = [f"{folder}/special" for folder in scipy.__path__]
    sys.modules["scipy.special"] = package
    try:
        from scipy.special import _ufuncs
    finally:
        sys.modules.pop("scipy.special", None)
    return _ufuncs


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


silent: Any = _thread_local()
"""Of each thread `run`, the method of a context of its own in which NumPy is quiet."""


def quietly(function: Callable[..., Any], *values: Any, **options: Any) -> Any:
    """Return function(*values, **options), in which NumPy gives inf and NaN without a warning.

    The same as under `quiet()`, for a fraction of its time: a context is entered that stays
    prepared, in place of one that is made for each call.
    """
    try:
        return silent.run(function, *values, **options)
    except AttributeError:
        if hasattr(silent, "run"):
            raise
        context = Context()
        context.run(np.seterr, all="ignore")
        silent.run = context.run
        return quietly(function, *values, **options)
    except RuntimeError:        # a context cannot be entered twice: this is a call inside another
        with quiet():
            return function(*values, **options)


if TYPE_CHECKING:
    import numpy as np
else:
    np = _Lazy(_load)
special: Any = _Lazy(_load_special)
