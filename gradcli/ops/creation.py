"""Tensors made from numbers: shapes and lengths take whole floats."""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.kinds import composite
from gradcli.ops.lazy import np
from gradcli.ops.shapes import lengths, whole
from gradcli.ops.values import check_bytes, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.ops.values import Shape

def _number(x: Any, what: str) -> float:
    x = getattr(x, "value", x)
    if isinstance(x, (int, float)):
        return float(x)
    raise error("E0303", f"{what} must be a number, not a tensor of shape {list(x.shape)}",
                help="give a scalar")


def _shape(shape: tuple[Any, ...]) -> Shape:
    wanted = lengths(shape[0]) if len(shape) == 1 else lengths(shape)
    count = 1
    for n in wanted:
        if n < 0:
            raise error("E0303", f"a length cannot be negative: {n}", help="use 0 or more")
        count *= n
    check_bytes(8.0 * count)
    return wanted


def _linspace(start: Any, stop: Any, num: Any = 50) -> Any:
    n = whole(num, "the number of points")
    if n < 0:
        raise error("E0404", f"`linspace` cannot make {n} points", help="give 0 or more")
    check_bytes(8.0 * n)
    if _recorded(start) or _recorded(stop):
        return start + (stop - start) * np.linspace(0.0, 1.0, n)
    return np.linspace(_number(start, "the start"), _number(stop, "the end"), n)


def _recorded(x: Any) -> bool:
    return hasattr(x, "__gradcli_apply__")


def _arange(start: Any, stop: Any = None, step: Any = 1.0) -> Any:
    first, last = (0.0, start) if stop is None else (start, stop)
    a, b = _number(first, "the start"), _number(last, "the end")
    by = _number(step, "the step")
    if not by or by != by:
        raise error("E0404", "`arange` needs a step other than 0", help="such as arange(0, 1, 0.1)")
    count = (b - a) / by
    if count != count or abs(count) == float("inf"):
        raise error("E0404", f"`arange` from {a:g} to {b:g} by {by:g} has no end",
                    help="give finite numbers")
    check_bytes(8.0 * count)
    return np.arange(a, b, by)


def _eye(n: Any) -> Any:
    size = whole(n, "the size")
    return np.eye(_shape((size, size))[0])


def _drawn(distribution: str) -> Callable[..., Any]:
    """Numbers from NumPy's generator PCG64: the same seed gives the same numbers."""
    def draw(*shape: Any, seed: Any = 0.0) -> Any:
        generator = np.random.default_rng(abs(whole(seed, "a seed")))
        return plain(np.asarray(getattr(generator, distribution)(size=_shape(shape))))

    return draw


zeros = composite("zeros", "", lambda *shape: np.zeros(_shape(shape)), doc="zeros(3, 2)")
ones = composite("ones", "", lambda *shape: np.ones(_shape(shape)), doc="ones(3, 2)")
full = composite("full", "", lambda shape, value: np.full(
    _shape((shape,)), _number(value, "the value")), doc="full([3, 2], 0.5): one value everywhere")
eye = composite("eye", "", _eye, aliases="identity_matrix", doc="eye(3): the identity matrix")
linspace = composite("linspace", "", _linspace, attributes={"num": 50.0},
                     doc="linspace(a, b, n): n points from a to b, both included")
arange = composite("arange", "", _arange, attributes={"stop": None, "step": 1.0},
                   doc="arange(a, b, step): from a up to b, b not included")
normal = composite("normal", "", _drawn("standard_normal"), attributes={"seed": 0.0},
                   doc="normal(3, 2, seed=1): independent standard normal numbers")
uniform = composite("uniform", "", _drawn("random"), attributes={"seed": 0.0},
                    doc="uniform(3, 2, seed=1): independent numbers between 0 and 1")
