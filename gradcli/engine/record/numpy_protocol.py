"""NumPy's functions on tensors: `np.sin(x)` stays on the tape.

`__array_ufunc__` and `__array_function__` lead here. A function is looked up in the operation table
by NumPy's own name, or in `numpy_functions` where NumPy means something else by that name. One that
the table does not have is an error that says how to leave the tape.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.ops.calling import tensor
from gradcli.ops.kinds import NAMES, Op
from gradcli.ops.values import dtype_of, shape_of, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

# What NumPy's reductions of a ufunc are called in the table.
REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
    "logical_and": "all", "logical_or": "any", "logaddexp": "logsumexp"}
# Of truth values only.
BITWISE = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor",
    "invert": "logical_not"}
ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}
# NumPy's names of parameters that the table calls otherwise, and those that say nothing here.
RENAMED = {
    "newshape": "shape", "reps": "multiples", "pad_width": "paddings", "offset": "k"}
IGNORED = {
    "out": None, "dtype": None, "where": True, "casting": "same_kind", "order": ("K", "C"),
    "subok": True, "signature": None, "optimize": (True, False, "greedy", "optimal")}
# What NumPy calls the parts of answers that are several arrays; others are plain tuples.
PARTS = {
    "eigh": ("EighResult", "eigenvalues eigenvectors"), "qr": ("QRResult", "Q R"),
    "slogdet": ("SlogdetResult", "sign logabsdet"), "svd": ("SVDResult", "U S Vh")}
# Parameters that come before a tensor only in name, and functions that change their argument.
NO_OPERANDS = ("out", "dtype", "initial")
IN_PLACE = ("put", "copyto", "place", "putmask", "fill_diagonal")


def ufunc(function: Any, method: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Apply `np.sin(x)`, `np.add.reduce(x)`. Raises E0209 for one that the table does not have."""
    name = BITWISE.get(function.__name__, function.__name__)
    if name != function.__name__:
        for a in args:
            truth(f"np.{function.__name__}", a)
    if method == "reduce":
        name = REDUCTIONS.get(name, "")
    elif method == "accumulate":
        name = ACCUMULATIONS.get(name, "")
    elif method not in ("__call__", "outer"):
        name = ""
    op = NAMES.get(name)
    if op is None:
        raise _unknown(f"{function.__name__}.{method}" if method != "__call__"
                       else function.__name__)
    given = _options(op, name, options)
    if method == "outer":
        return outer(op, args)
    if method in ("reduce", "accumulate"):
        given.setdefault("axis", 0)
    return op(*args, **given)


def function(called: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Apply `np.sum(x, axis=0)`.

    Raises E0209 for a function or option that the table does not have.
    """
    from inspect import signature

    name = called.__name__
    if name in ("array", "asarray", "copy"):
        return NAMES["positive"](*args)

    meaning = MEANINGS.get(f"{called.__module__}.{name}")
    op = NAMES.get(name)
    if (op is None and meaning is None) or name in IN_PLACE:
        raise _unknown(name)
    bound = signature(called).bind(*args, **options)
    if meaning is not None:
        return _parts(name, _by_meaning(meaning, name, bound))
    assert op is not None
    operands: list[Any] = []
    named: dict[str, Any] = {}
    for key, parameter in bound.signature.parameters.items():
        if key not in bound.arguments:
            continue
        value = bound.arguments[key]
        if parameter.kind == parameter.VAR_POSITIONAL:
            operands.extend(value)
        elif parameter.kind == parameter.VAR_KEYWORD:
            named.update(value)
        elif (len(operands) < len(op.parameters) and key not in NO_OPERANDS
              and RENAMED.get(key, key) not in op.attributes):
            operands.append(value)
        elif parameter.default is parameter.empty or not _same(value, parameter.default):
            named[key] = value
    return _parts(name, op(*operands, **_options(op, name, named)))


def _parts(name: str, found: Any) -> Any:
    """Return several arrays as NumPy does: a list from a split, else a tuple, so that
    `x[np.nonzero(x)]` means the same as in NumPy.
    """
    if not isinstance(found, list) or name.endswith("split"):
        return found
    if name not in PARTS:
        return tuple(found)
    from collections import namedtuple

    title, fields = PARTS[name]
    return namedtuple(title, fields)(*found)


def _by_meaning(meaning: Any, name: str, bound: Any) -> Any:
    from inspect import signature

    taken = signature(meaning).parameters
    operands: list[Any] = []
    named: dict[str, Any] = {}
    for key, value in bound.arguments.items():
        parameter = bound.signature.parameters[key]
        if parameter.kind == parameter.VAR_POSITIONAL:
            operands.extend(value)
        elif key in taken:
            if parameter.default is parameter.empty or not _same(value, parameter.default):
                named[key] = value
        elif not _same(value, parameter.default) and not _ignored(key, value):
            raise error("E0208", f"np.{name} on a tensor does not take `{key}`",
                        help=f"it takes {', '.join(taken)}")
    return meaning(*operands, **named)


def _options(op: Op, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    given = {}
    for key, value in options.items():
        key_ = RENAMED.get(key, key)
        if key_ in op.attributes:
            given[key_] = value
        elif not _ignored(key, value):
            raise error("E0208", f"np.{name} on a tensor does not take `{key}`",
                        help=f"it takes {', '.join(op.attributes) or 'no options'}")
    return given


def _ignored(key: str, value: Any) -> bool:
    default = IGNORED.get(key, ...)
    return _same(value, default) or (isinstance(default, tuple) and value in default)


def _same(value: Any, default: Any) -> bool:
    return value is default or (
        isinstance(value, (bool, int, str)) and isinstance(default, (bool, int, str))
        and value == default)


def _unknown(name: str) -> GradcliError:
    return error("E0209", f"np.{name} is not an operation of gradcli",
                 help="leave the tape with .numpy() if no derivative is needed")


# --------------------------------------------------------------------------------------------------
# What NumPy's functions mean where the operation of the same name means something else.
#
# `np.linalg.norm(A, 1)` is the largest column sum, `np.cumsum(A)` runs over the flattened array,
# `np.inner` takes last axes together. Each function here takes NumPy's parameters, as far as it
# can, and is made of operations; what it has no parameter for is refused by `array_protocol`.

def _flat(a: Any) -> Any:
    return NAMES["reshape"](a, shape=-1)


def _value(a: Any) -> Any:
    """Return the plain value of a tensor, number, array or a list of these."""
    made = tensor(a, NAMES["stack"])
    return made.read().value if hasattr(made, "__gradcli_apply__") else made


def _shape(a: Any) -> tuple[int, ...]:
    return shape_of(_value(a))


def _rank(a: Any) -> int:
    return len(_shape(a))


# --- shapes: plain numbers, as NumPy gives them ---------------------------------------------------

def _size(a: Any, axis: Any = None) -> Any:
    lengths = _shape(a)
    return int(np.prod(lengths)) if axis is None else lengths[axis]


# --- products -------------------------------------------------------------------------------------

def _inner(a: Any, b: Any) -> Any:
    if not _rank(a) or not _rank(b):
        return NAMES["multiply"](a, b)
    return NAMES["tensordot"](a, b, axes=[[-1], [-1]])


def _dot(a: Any, b: Any) -> Any:
    if _rank(b) > 2 and _rank(a):
        return NAMES["tensordot"](a, b, axes=[[-1], [-2]])
    return NAMES["dot"](a, b)


def _vdot(a: Any, b: Any) -> Any:
    a = _flat(a)
    if dtype_of(_value(a)).startswith("complex"):
        a = NAMES["conj"](a)
    return NAMES["sum"](NAMES["multiply"](a, _flat(b)))


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    if mode not in ("full", "same", "valid"):
        raise error("E0208", f"np.convolve has no mode {mode!r}", help='"full", "same" or "valid"')
    (n,), (m,) = _shape(a), _shape(v)
    if m > n:
        a, v, n, m = v, a, m, n
    windows = np.arange(n + m - 1)[:, None] + np.arange(m)
    full = NAMES["matmul"](NAMES["gather"](NAMES["pad"](a, [[m - 1, m - 1]]), windows, axis=0),
                           NAMES["flip"](v, axis=0))
    cut = {"full": (0, n + m - 1), "same": ((m - 1) // 2, (m - 1) // 2 + n), "valid": (m - 1, n)}
    first, last = cut[mode]
    return full[first:last]


# --- axes -----------------------------------------------------------------------------------------

def _over_flat(name: str) -> Callable[..., Any]:
    """Return an operation along one axis, which without an axis takes the flattened array."""
    def call(a: Any, axis: Any = None) -> Any:
        return NAMES[name](_flat(a), axis=0) if axis is None else NAMES[name](a, axis=axis)

    return call


def _sorting(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Any:
        """Sort or the like; `kind` and `stable` are ignored: ties keep their order."""
        return NAMES[name](_flat(a), axis=0) if axis is None else NAMES[name](a, axis=axis)

    return call


def _cumulative(name: str) -> Callable[..., Any]:
    def call(x: Any, axis: Any = None) -> Any:
        if axis is None and _rank(x) != 1:
            raise error("E0304", f"np.cumulative_{name[3:]} needs an axis for more than one axis",
                        help="give axis=0")
        return NAMES[name](x, axis=0 if axis is None else axis)

    return call


def _extremum(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        return NAMES[name](a, axis=axis, keepdims=keepdims)

    return call


def _diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return NAMES["diag_part"](NAMES["moveaxis"](a, [axis1, axis2], [-2, -1]), k=offset)


def _trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return NAMES["sum"](_diagonal(a, offset, axis1, axis2), axis=-1)


def _stacked_trace(x: Any, offset: Any = 0) -> Any:
    return NAMES["sum"](NAMES["diag_part"](x, k=offset), axis=-1)


def _diag(v: Any, k: Any = 0) -> Any:
    return NAMES["diag_part" if _rank(v) > 1 else "diag"](v, k=k)


def _concatenate(arrays: Any, axis: Any = 0) -> Any:
    if axis is None:
        arrays, axis = [_flat(a) for a in arrays], 0
    return NAMES["concat"](*arrays, axis=axis)


def _stack(arrays: Any, axis: Any = 0) -> Any:
    return NAMES["stack"](*arrays, axis=axis)


def _side_by_side(tup: Any) -> Any:
    arrays = [NAMES["atleast_1d"](a) for a in tup]
    return NAMES["concat"](*arrays, axis=0 if _rank(arrays[0]) == 1 else 1)


def _on_top_of_each_other(tup: Any) -> Any:
    return NAMES["concat"](*[NAMES["atleast_2d"](a) for a in tup], axis=0)


def _columns(tup: Any) -> Any:
    return NAMES["concat"](*[
        a if _rank(a) > 1 else NAMES["reshape"](a, shape=[-1, 1]) for a in tup], axis=1)


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate([arr, values], axis=axis)


def _split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    if not hasattr(indices_or_sections, "__len__"):
        return NAMES["split"](ary, indices_or_sections, axis=axis)
    n = _shape(ary)[axis]
    places = [min(k if k >= 0 else k + n, n) for k in indices_or_sections]
    if places != sorted(places):
        raise error("E0303", "np.split on a tensor needs growing places", help="such as [1, 3]")
    sizes = [last - first for first, last in zip([0, *places], [*places, n], strict=True)]
    return NAMES["split"](ary, sizes, axis=axis)


def _take(a: Any, indices: Any, axis: Any = None) -> Any:
    return NAMES["gather"](_flat(a), indices, axis=0) if axis is None else NAMES["gather"](
        a, indices, axis=axis)


def _at_least(name: str) -> Callable[..., Any]:
    def call(*arys: Any) -> Any:
        made = [NAMES[name](a) for a in arys]
        return made[0] if len(made) == 1 else tuple(made)

    return call


# --- choices --------------------------------------------------------------------------------------

def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    if low is None:
        return NAMES["positive"](a) if high is None else NAMES["minimum"](a, high)
    return NAMES["maximum"](a, low) if high is None else NAMES["clip"](a, low, high)


def _select(condlist: Any, choicelist: Any, default: Any = 0.0) -> Any:
    out = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        out = NAMES["where"](condition, choice, out)
    return out


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return NAMES["nonzero"](condition)
    return NAMES["where"](condition, x, y)


def _unique(ar: Any) -> Any:
    return NAMES["unique"](NAMES["sort"](_flat(ar), axis=0))


def _histogram(a: Any, bins: Any = 10, range: Any = None) -> Any:
    low, high = (None, None) if range is None else range
    edges: Any = np.histogram_bin_edges(_value(a), bins, range)
    first, last = NAMES["reduce_min"](a), NAMES["reduce_max"](a)
    if range is None and edges[0] == float(first) and edges[-1] == float(last):
        edges = _linspace(first, last, len(edges))
    return NAMES["histogram"](a, bins=bins, low=low, high=high), edges


# --- creation -------------------------------------------------------------------------------------

def _linspace(start: Any, stop: Any, num: Any = 50) -> Any:
    steps = np.linspace(0.0, 1.0, num).reshape(-1, *(1,) * max(_rank(start), _rank(stop)))
    return NAMES["add"](start, NAMES["multiply"](NAMES["subtract"](stop, start), steps))


def _logspace(start: Any, stop: Any, num: Any = 50, base: Any = 10.0) -> Any:
    return NAMES["power"](base, _linspace(start, stop, num))


def _geomspace(start: Any, stop: Any, num: Any = 50) -> Any:
    return NAMES["geomspace"](start, stop, num)


# --- matrices -------------------------------------------------------------------------------------

def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    rank = _rank(x)
    axes = [axis] if isinstance(axis, int) else list(range(rank)) if axis is None else list(axis)
    if ord is None or (ord == "fro" and len(axes) == 2):
        return NAMES["norm"](x, axis=axis, keepdims=keepdims)
    if len(axes) == 1:
        return NAMES["norm"](x, ord=ord, axis=axis, keepdims=keepdims)
    if len(axes) != 2:
        raise error("E0304", f"np.linalg.norm with ord={ord!r} needs one or two axes, not"
                    f" {len(axes)}", help="give axis")
    found = NAMES["matrix_norm"](NAMES["moveaxis"](x, axes, [-2, -1]), ord=ord)
    if not keepdims:
        return found
    kept = {a % rank for a in axes}
    return NAMES["reshape"](found, shape=[1 if k in kept else n for k, n in enumerate(_shape(x))])


def _svd(a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    m, n = _shape(a)[-2:]
    if full_matrices and compute_uv and m != n:
        raise error("E0208", "np.linalg.svd on a tensor makes no full matrices",
                    help="say full_matrices=False")
    return NAMES["svd"](a, compute_uv=compute_uv)


def _lstsq(a: Any, b: Any) -> Any:
    x = NAMES["lstsq"](a, b)
    rank = NAMES["matrix_rank"](a)
    m, n = _shape(a)
    residuals: Any = np.zeros(0)
    if m > n and int(rank) == n:
        off = NAMES["subtract"](b, NAMES["matmul"](a, x))
        residuals = NAMES["sum"](NAMES["square"](off), axis=0, keepdims=_rank(b) == 1)
    return x, residuals, rank, NAMES["svdvals"](a)


MEANINGS: dict[str, Callable[..., Any]] = {
    "numpy.shape": lambda a: _shape(a), "numpy.ndim": lambda a: _rank(a), "numpy.size": _size,
    "numpy.inner": _inner, "numpy.dot": _dot, "numpy.vdot": _vdot, "numpy.convolve": _convolve,
    "numpy.cumsum": _over_flat("cumsum"), "numpy.cumprod": _over_flat("cumprod"),
    "numpy.cumulative_sum": _cumulative("cumsum"),
    "numpy.cumulative_prod": _cumulative("cumprod"),
    "numpy.sort": _sorting("sort"), "numpy.argsort": _sorting("argsort"),
    "numpy.max": _extremum("reduce_max"), "numpy.amax": _extremum("reduce_max"),
    "numpy.min": _extremum("reduce_min"), "numpy.amin": _extremum("reduce_min"),
    "numpy.diagonal": _diagonal, "numpy.trace": _trace, "numpy.diag": _diag,
    "numpy.linalg.trace": _stacked_trace, "numpy.concatenate": _concatenate,
    "numpy.stack": _stack,
    "numpy.hstack": _side_by_side, "numpy.vstack": _on_top_of_each_other,
    "numpy.column_stack": _columns, "numpy.append": _append,
    "numpy.split": _split, "numpy.take": _take, "numpy.clip": _clip, "numpy.select": _select,
    "numpy.where": _where,
    "numpy.atleast_1d": _at_least("atleast_1d"), "numpy.atleast_2d": _at_least("atleast_2d"),
    "numpy.unique": _unique, "numpy.histogram": _histogram, "numpy.linspace": _linspace,
    "numpy.logspace": _logspace, "numpy.geomspace": _geomspace, "numpy.linalg.norm": _norm,
    "numpy.linalg.svd": _svd, "numpy.linalg.lstsq": _lstsq,
}


def outer(op: Op, operands: Sequence[Any]) -> Any:
    """Apply the operation to every pair of elements, as `np.add.outer(a, b)` does."""
    a, b = operands
    return op(NAMES["reshape"](a, shape=_shape(a) + (1,) * _rank(b)), b)
