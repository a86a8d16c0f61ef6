"""A row's formula for arrays, taken apart into NumPy's ufuncs by running it on symbols.

`lambda x: 1 / np.cosh(x)` calls `np.cosh` and `np.divide`, which a symbol sees through NumPy's own
protocol. So each part can write into a buffer, and two formulas can share `cosh(x)`. A formula that
looks at its values, or calls what is no ufunc, stays whole.
"""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    # Takes a function and its operands (numbers of values, or plain values in a `Symbol`'s place),
    # gives the number of the answer.
    Put = Callable[[Callable[..., Any], Sequence[Any]], int]


class Symbol(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for a value that varies; number: which one."""

    __slots__ = ("number", "put")

    def __init__(self, number: int, put: Put) -> None:
        self.number = number
        self.put = put

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout != 1:
            return NotImplemented
        return Symbol(self.put(ufunc, operands), self.put)

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no value")


def lowered(formula: Callable[..., Any], operands: Sequence[Any], put: Put) -> int:
    """The number of the answer of a formula: of its last part, or of the whole."""
    try:
        found = formula(*operands)
    except (GradcliError, TypeError, AttributeError, ValueError, IndexError):
        found = None
    return found.number if isinstance(found, Symbol) else put(formula, operands)
