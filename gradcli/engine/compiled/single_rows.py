"""Operations on the arrays of a single point, where the general way would copy: views of other
arrays, and functions that write their answer where it belongs.

Each entry of `SINGLE` takes an entry of the record and the operands, numbers of values or
constants, and gives a `View`, an `Into` or a NumPy function, or None: then the row's own function
is called, and what it answers is copied.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, OP, VALUES
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

    Row = Callable[[Entry, Sequence[Any]], Any]


class View:
    """A function that answers with its operand's own memory, arranged in another way."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function


class Into:
    """A function that writes into `out`; without it, it answers with a new array. zeroed: it writes
    the same places each time, and the others are 0.
    """

    __slots__ = ("function", "zeroed")

    def __init__(self, function: Callable[..., Any], zeroed: bool = False) -> None:
        self.function = function
        self.zeroed = zeroed


def called(function: Any) -> Callable[..., Any]:
    """Return the function that a View or Into wraps."""
    while isinstance(function, (View, Into)):
        function = function.function
    found: Callable[..., Any] = function
    return found


def _reshaped(entry: Entry, operands: Sequence[Any]) -> View:
    shape = shape_of(entry[ANS])
    return View(lambda x: x.reshape(shape))


def _broadcast(entry: Entry, operands: Sequence[Any]) -> View:
    shape = shape_of(entry[ANS])
    return View(lambda x: np.broadcast_to(x, shape))


def _same(entry: Entry, operands: Sequence[Any]) -> View:
    return View(lambda x: x)


def _transpose(entry: Entry, operands: Sequence[Any]) -> View:
    rank = len(shape_of(entry[ANS]))
    last = entry[ATTRIBUTES]["axes"]
    axes = [*range(rank - len(last)), *[rank + a for a in last]]
    return View(lambda x: x.transpose(axes))


def _diagonal(entry: Entry, operands: Sequence[Any]) -> View:
    k = entry[ATTRIBUTES]["k"]
    return View(lambda x: np.diagonal(x, k, -2, -1))


def _index(entry: Entry, operands: Sequence[Any]) -> View | None:
    pattern = entry[ATTRIBUTES]["pattern"]
    if any(part == "i" for part in pattern if isinstance(part, str)):
        return None
    return View(lambda x: x[(..., *pattern)] if not pattern else x[pattern])


def _sum(entry: Entry, operands: Sequence[Any]) -> View | Into | None:
    axis, keepdims = entry[ATTRIBUTES]["axis"], entry[ATTRIBUTES]["keepdims"]
    return _reduced(entry, tuple(axis), keepdims, shape_of(entry[ANS]))


def _mean(entry: Entry, operands: Sequence[Any]) -> Into | None:
    axis, keepdims = tuple(entry[ATTRIBUTES]["axis"]), entry[ATTRIBUTES]["keepdims"]
    shape = shape_of(entry[VALUES][0])
    if not axis or entry[VALUES][0].dtype != float:
        return None
    count = float(np.prod([shape[a] for a in axis]))

    def function(x: Any, out: Any = None) -> Any:
        total = np.add.reduce(x, axis=axis, keepdims=keepdims, out=out)
        return np.divide(total, count, out=out)

    return Into(function)


def _sum_to(entry: Entry, operands: Sequence[Any]) -> View | Into | None:
    shape, whole = shape_of(entry[ANS]), shape_of(entry[VALUES][0])
    extra = len(whole) - len(shape)
    axis = tuple([k - len(whole) for k, n in enumerate(whole)
                  if k < extra or (n != 1 and shape[k - extra] == 1)])
    return _reduced(entry, axis, True, shape)


def _reduced(entry: Entry, axis: tuple[int, ...], keepdims: bool, shape: tuple[int, ...]
             ) -> View | Into | None:
    """Return a sum over axes, in a shape that differs from NumPy's by unit axes at most; None for
    other types than floats.
    """
    x = entry[VALUES][0]
    if all(shape_of(x)[a] == 1 for a in axis):
        return View(lambda x: x.reshape(shape))
    if x.dtype != float:
        return None
    written = tuple([1 if k - x.ndim in axis else n for k, n in enumerate(x.shape)
                     if keepdims or k - x.ndim not in axis])

    def function(x: Any, out: Any = None) -> Any:
        if out is None:
            return np.sum(x, axis=axis, keepdims=keepdims).reshape(shape)
        np.add.reduce(x, axis=axis, keepdims=keepdims,
                      out=out if written == shape else out.reshape(written))
        return out

    return Into(function)


def _put(entry: Entry, operands: Sequence[Any]) -> Into | None:
    """Return the scatter into zeros at indices that are named once each; None for others."""
    pattern, shape = entry[ATTRIBUTES]["pattern"], tuple(entry[ATTRIBUTES]["shape"])
    if any(isinstance(o, int) for o in operands[1:]):
        return None
    indices = iter([np.asarray(o.value) for o in operands[1:]])
    where = tuple([next(indices) if isinstance(part, str) and part == "i" else part
                   for part in pattern])
    if any(hasattr(part, "dtype") and part.dtype.kind not in "bi" for part in where):
        return None
    size = int(np.prod(shape))
    named = np.arange(size).reshape(shape)[where].ravel()
    if len(named) != len(set(named.tolist())):
        return None
    return Into(_placed(where, shape), zeroed=True)


def _put_diagonal(entry: Entry, operands: Sequence[Any]) -> Into:
    k, shape = entry[ATTRIBUTES]["k"], shape_of(entry[ANS])
    at = np.arange(shape_of(entry[VALUES][0])[-1])
    return Into(_placed((..., at + max(-k, 0), at + max(k, 0)), shape), zeroed=True)


def _placed(where: tuple[Any, ...], shape: tuple[int, ...]) -> Callable[..., Any]:
    def function(x: Any, *indices: Any, out: Any = None) -> Any:
        if out is None:
            out = np.zeros(shape, np.result_type(x))
        out[where] = x
        return out

    return function


def _matmul(entry: Entry, operands: Sequence[Any]) -> Any:
    return np.matmul


def _contraction(entry: Entry, operands: Sequence[Any]) -> Into | None:
    """Return a contraction of two operands over one shared axis as a product of stacks of matrices;
    None for others.
    """
    inputs, output = entry[ATTRIBUTES]["subscripts"].split("->")
    terms = inputs.split(",")
    if [len(t) for t in terms] != [len(shape_of(v)) for v in entry[VALUES]] or len(terms) != 2:
        return None
    shared = set(terms[0]) & set(terms[1])
    stack = [c for c in output if c in shared]
    inner, left, right = [
        [c for c in letters if c not in unwanted] for letters, unwanted in (
            (sorted(shared), output), (terms[0], shared), (terms[1], shared))]
    if len(inner) != 1 or len(left) > 1 or len(right) > 1:
        return None
    first, second, third = [_matrices(term, stack, rows, columns) for term, rows, columns in (
        (terms[0], left, inner), (terms[1], inner, right), (output, left, right))]
    shape = shape_of(entry[ANS])

    def function(x: Any, y: Any, out: Any = None) -> Any:
        if out is None:
            out = np.empty(shape, np.result_type(x, y))
        np.matmul(first(x), second(y), out=third(out))
        return out

    return Into(function)


def _matrices(term: str, stack: Sequence[str], rows: Sequence[str], columns: Sequence[str]
              ) -> Callable[[Any], Any]:
    """Return the view of an array, its axes named by letters, as a stack of matrices. Without
    letters for rows or columns there is one row or column.
    """
    axes = [term.index(c) for c in (*stack, *rows, *columns)]
    units = (..., None, slice(None)) if columns else (..., None)
    if not rows:
        return lambda x: x.transpose(axes)[units if columns else (..., None, None)]
    return (lambda x: x.transpose(axes)) if columns else lambda x: x.transpose(axes)[units]


def _stack(entry: Entry, operands: Sequence[Any]) -> Into:
    axis = entry[ATTRIBUTES]["axis"]
    join = np.stack if entry[OP].name == "stack" else np.concatenate
    return Into(lambda *xs, out=None: join(xs, axis=axis, out=out))


SINGLE: dict[str, Row] = {
    "align": _reshaped, "broadcast_to": _broadcast, "concat": _stack,
    "contraction": _contraction, "diag_part": _diagonal, "index": _index, "matmul": _matmul,
    "mean": _mean, "put": _put, "put_diagonal": _put_diagonal, "reshape": _reshaped,
    "stack": _stack, "stop_gradient": _same, "sum": _sum, "sum_to": _sum_to,
    "transpose": _transpose}
