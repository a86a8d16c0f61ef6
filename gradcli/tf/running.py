"""What programs say about how they run: devices, scopes, errors, modules and checks."""

from __future__ import annotations

from contextlib import nullcontext

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.record import checking
from gradcli.tf.tape import GradientTape
from gradcli.tf.tensor import convert_to_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

enable_check_numerics = checking.enable_check_numerics
disable_check_numerics = checking.disable_check_numerics


def device(device_name: Any) -> Any:
    """Return a context that changes nothing: there is one device."""
    return nullcontext(device_name)


def control_dependencies(control_inputs: Any) -> Any:
    """Return a context that changes nothing: code runs in its order."""
    return nullcontext()


def init_scope() -> Any:
    """Return a context that changes nothing: there is no graph."""
    return nullcontext()


def executing_eagerly() -> bool:
    """Return True: there is no graph."""
    return True


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Do nothing: functions run eagerly."""


def functions_run_eagerly() -> bool:
    """Return True."""
    return True


class _Errors:
    """`tf.errors`: an error of an operation is gradcli's, whatever its kind."""

    def __getattr__(self, name: str) -> type[Exception]:
        if name.startswith("__"):
            raise AttributeError(name)
        return GradcliError


errors = _Errors()


def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float | None = None) -> Any:
    """Return Jacobians as matrices, from the tape and by central differences, per argument."""
    exact, near = [], []
    step = delta or 1.0 / 1024
    for k in range(len(x)):
        with GradientTape() as tape:
            given = [convert_to_tensor(v) for v in x]
            tape.watch(given)
            y = f(*given)
        value = given[k].numpy()
        exact.append(np.reshape(tape.jacobian(y, given[k], "zero").numpy(), (y.size, -1)))
        columns = []
        for n in np.ndindex(np.shape(value)):
            ends = [np.array(value), np.array(value)]
            ends[0][n] += step
            ends[1][n] -= step
            high, low = [np.asarray(f(*given[:k], convert_to_tensor(e), *given[k + 1:]).value)
                         for e in ends]
            columns.append(((high - low) / (2 * step)).reshape(-1))
        near.append(np.stack(columns, axis=-1))
    return exact, near



# ---- what scripts set up before they compute -----------------------------------------------------

VERSION = "2.21.0"
DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50


def get_logger() -> Any:
    """Return the logger named tensorflow, which nobody writes to."""
    import logging

    return logging.getLogger("tensorflow")


def no_such_device(*given: Any, **options: Any) -> bool:
    """Return False: there is no other device than the processor."""
    return False


def without_effect(*given: Any, **options: Any) -> None:
    """Do nothing: what it sets is not there, or is so anyway."""


def no_devices(device_type: str | None = None) -> list[Any]:
    """Return no devices besides the processor, which has no entry."""
    return []


def unchanged(func: Any = None, recursive: bool = True) -> Any:
    """Return a function itself."""
    return func if func is not None else lambda f: f
