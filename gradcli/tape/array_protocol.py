"""NumPy's functions on tensors: `np.sin(x)` stays on the tape.

`__array_ufunc__` and `__array_function__` lead here. A function is looked up in the operation table
by NumPy's own name; where NumPy means something else by it, `numpy_functions` says what. What the
table does not have is an error that says how to leave the tape.
"""

from __future__ import annotations

from gradcli.errors import GradcliError, error
from gradcli.ops.kinds import NAMES, Op
from gradcli.tape.operators import truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
    """`np.sin(x)`, `np.add.reduce(x)`. Raises E0209 for one that the table does not have."""
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
        from gradcli.tape.numpy_functions import outer

        return outer(op, args)
    if method in ("reduce", "accumulate"):
        given.setdefault("axis", 0)
    return op(*args, **given)


def function(called: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """`np.sum(x, axis=0)`. Raises E0209 for a function or option that the table does not have."""
    from inspect import signature

    name = called.__name__
    if name in ("array", "asarray", "copy"):
        return NAMES["positive"](*args)
    from gradcli.tape.numpy_functions import MEANINGS

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
    """Several arrays the way NumPy gives them: a list of what was split, else a tuple, so that
    `x[np.nonzero(x)]` means what it means there.
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
    return error("E0209", f"np.{name} is no operation of gradcli",
                 help="leave the tape with .numpy() if no derivative is needed")
