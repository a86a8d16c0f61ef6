"""gradcli: the gradient calculator of the command line, and the same from Python.

    >>> import gradcli
    >>> gradcli.loads("x^2*sin(y)").gradient(at={"x": 1.5, "y": 0.5})

`load(path)` and `loads(text)` give a `Program` with `.value`, `.gradient`, `.jacobian` and
`.hessian`; bad input raises `GradcliError` with `.code`, `.span` and `.help`. Names are bound when
they are first used: `import gradcli` alone loads nothing.
"""

from __future__ import annotations

from gradcli._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Diagnostic as Diagnostic
    from gradcli.errors import GradcliError as GradcliError
    from gradcli.program import Program as Program
    from gradcli.program import load as load
    from gradcli.program import loads as loads

__all__ = ["Diagnostic", "GradcliError", "Program", "__version__", "load", "loads"]

_HOMES = {
    "Diagnostic": "gradcli.errors", "GradcliError": "gradcli.errors",
    "Program": "gradcli.program", "load": "gradcli.program", "loads": "gradcli.program",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gradcli' has no attribute '{name}'")
    from importlib import import_module

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
