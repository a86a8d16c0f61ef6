"""gradcli: the gradient calculator of the command line, and the same from Python.

    >>> import gradcli
    >>> gradcli.loads("x^2*sin(y)").gradient(at={"x": 1.5, "y": 0.5})

`load(path)` and `loads(text)` give a `Program` with `.value`, `.gradient`, `.jacobian` and
`.hessian`; bad input raises `GradcliError` with `.code`, `.span` and `.help`. Names are bound when
they are first used: `import gradcli` alone loads nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli._version import __version__ as __version__
    from gradcli.base.errors import Diagnostic as Diagnostic
    from gradcli.base.errors import GradcliError as GradcliError
    from gradcli.engine.record.checking import disable_check_numerics as disable_check_numerics
    from gradcli.engine.record.checking import enable_check_numerics as enable_check_numerics
    from gradcli.engine.record.module import Module as Module
    from gradcli.engine.record.tensor import Tensor as Tensor
    from gradcli.engine.record.variable import Variable as Variable
    from gradcli.engine.record.variable import constant as constant
    from gradcli.engine.tapes.custom import custom_gradient as custom_gradient
    from gradcli.engine.tapes.custom import recompute_grad as recompute_grad
    from gradcli.engine.tapes.custom import register_gradient as register_gradient
    from gradcli.python.program import Program as Program
    from gradcli.python.program import load as load
    from gradcli.python.program import loads as loads
    from gradcli.python.tapes import ForwardAccumulator as ForwardAccumulator
    from gradcli.python.tapes import GradientTape as GradientTape

_HOMES = {
    "__version__": "_version",
    "Diagnostic": "base.errors", "GradcliError": "base.errors",
    "Program": "python.program", "load": "python.program",
    "loads": "python.program",
    "Tensor": "engine.record.tensor", "Variable": "engine.record.variable",
    "constant": "engine.record.variable",
    "Module": "engine.record.module", "GradientTape": "python.tapes",
    "ForwardAccumulator": "python.tapes", "custom_gradient": "engine.tapes.custom",
    "register_gradient": "engine.tapes.custom", "recompute_grad": "engine.tapes.custom",
    "enable_check_numerics": "engine.record.checking",
    "disable_check_numerics": "engine.record.checking",
}
# Operations that users of TensorFlow look for at the top.
_OPERATIONS = (
    "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm", "stop_gradient")

__all__ = ["ops", *_HOMES, *_OPERATIONS]


def __getattr__(name: str) -> object:
    home = "ops" if name == "ops" or name in _OPERATIONS else _HOMES.get(name)
    if home is None:    # asked for `from gradcli import questions` as well
        raise AttributeError(f"module 'gradcli' has no attribute '{name}'")
    module: object = __import__(f"gradcli.{home}", fromlist=["_"])
    globals()[name] = value = module if name == "ops" else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
