"""Keeping numbers in bounds: clipping by norms, and a check for NaN and infinity.

Clipping takes lists of gradients as they come: an entry that is None stays None. Formulas and edges
as in TensorFlow 2.21, with norms that do not overflow.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite, linear
from gradcli.ops.table.discrete import less
from gradcli.ops.table.elementwise import add, divide, maximum, multiply, subtract, where
from gradcli.ops.table.reductions import norm2
from gradcli.ops.table.shapes import stack
from gradcli.ops.values import SCALAR_TYPES, is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

REAL = ((-3.0, 3.0),)
SIZE = (0.5, 4.0)


def _shortened(x: Any, norm: Any, limit: Any) -> Any:
    """Return x where the norm is below the limit, else x*limit/norm, whose slope a tie takes."""
    return where(less(norm, limit), x, divide(multiply(x, limit), maximum(norm, limit)))


def _clip_by_norm(x: Any, norm: Any, axes: Any = None) -> Any:
    return _shortened(x, norm2(x, axis=axes, keepdims=True), maximum(norm, 0.0))


clip_by_norm = composite(
    "clip_by_norm", "x norm", _clip_by_norm, attributes={"axes": None}, samples=(*REAL, SIZE),
    kinks="the identity at 0; one norm for all, or one per slice along axes",
    doc="x*norm/max(norm(x), norm): shortened to the norm if it is longer")


def _clip_by_average_norm(x: Any, norm: Any) -> Any:
    count = 1.0
    for n in shape_of(x):
        count *= n
    return _shortened(x, norm2(x, keepdims=True), multiply(norm, count))


clip_by_average_norm = composite(
    "clip_by_average_norm", "x norm", _clip_by_average_norm, samples=(*REAL, SIZE),
    doc="x shortened so that norm(x) divided by the number of elements is at most the norm")

# --- lists of tensors, some of them None ------------------------------------------------------


def _missing(value: Any) -> bool:
    """Return whether a value is None, or a missing gradient: one that knows target and source."""
    return value is None or (hasattr(value, "target") and hasattr(value, "source"))


def _tensor(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return stack(*[_tensor(name, v) for v in value], axis=0)
    if isinstance(value, (str, dict)) or _missing(value):
        raise error("E0302", f"`{name}` needs a list of tensors", help=f"such as {name}([gx, gy])")
    return value


def _tensors(name: str, tensors: Any) -> list[Any]:
    """Return the entries as tensors, missing ones unchanged. Raises E0302 for what is no list."""
    if not isinstance(tensors, (list, tuple)):
        raise error("E0302", f"`{name}` needs a list of tensors, not one",
                    help=f"put it in brackets: {name}([g])")
    return [t if _missing(t) else _tensor(name, t) for t in tensors]


def _norm_of(tensors: Sequence[Any]) -> Any:
    norms = [norm2(t) for t in tensors if not _missing(t)]
    return norm2(stack(*norms, axis=0)) if norms else 0.0


def _clip_by_global_norm(tensors: Any, norm: Any, use_norm: Any = None) -> list[Any]:
    given = _tensors("clip_by_global_norm", tensors)
    total = _norm_of(given) if use_norm is None else use_norm
    # An infinite or NaN norm spoils every entry: total - total is NaN then, else 0.
    limit = add(norm, subtract(total, total))
    return [[t if _missing(t) else _shortened(t, total, limit) for t in given], total]


# No parameters: what stands in the call arrives as it is, lists with None entries too.
global_norm = composite(
    "global_norm", "", lambda tensors: _norm_of(_tensors("global_norm", tensors)),
    doc="global_norm([gx, gy]): the norm of all elements of a list of tensors; None counts as 0")
clip_by_global_norm = composite(
    "clip_by_global_norm", "", _clip_by_global_norm, attributes={"use_norm": None},
    doc="clip_by_global_norm([gx, gy], 1): [the list shortened by one factor, its norm before]")

# --- checks -----------------------------------------------------------------------------------


def _check_numerics(cores: Sequence[int], x: Any, message: str) -> Any:
    if is_float(x):
        found = [what for what, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(x))]
        if found:
            raise error("E0404", f"{f'{message}: ' if message else ''}`check_numerics` found"
                        f" {' and '.join(found)}", help="look at what the value was made of")
    return x if type(x) in SCALAR_TYPES else np.array(x)


check_numerics = linear(
    "check_numerics", "x", lambda g, ans, x, message: check_numerics(g, message=message),
    attributes={"message": ""}, arrays=_check_numerics, samples=REAL,
    doc="x itself; an error where it holds NaN or infinity, or where its derivative does")
