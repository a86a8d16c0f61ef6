"""Calls of operations in a file: arguments checked and named, structures made into tensors."""

from __future__ import annotations

import math

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import quiet
from gradcli.engine.record.record import current
from gradcli.engine.record.tensor import Tensor, core_shape, flatten, value_of
from gradcli.ops import lookup
from gradcli.ops.kinds import Op
from gradcli.ops.table.discrete import left_engine
from gradcli.ops.table.shapes import index as index_op
from gradcli.ops.table.shapes import stack, transpose, whole
from gradcli.ops.values import is_array, plain, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Diagnostic

# NumPy's own limit on the axes of an array.
MAX_RANK = 60

# From here on a float may stand for several integers.
EXACT = 2.0**53


class NoGradient:
    """A gradient that is None: of `target` with respect to `source`. tape: the file's tape or
    accumulator that was asked, if any. asked: the number of the file's question and that of the
    answer to it.
    """

    __slots__ = ("asked", "source", "tape", "target")

    def __init__(self, target: Any, source: Any, tape: Any = None) -> None:
        self.target = target
        self.source = source
        self.tape = tape
        self.asked: tuple[int, int] | None = None


class MissingGradient(GradcliError):
    """An error of arithmetic with `missing`, a gradient that is None."""

    missing: NoGradient


class MissingGradients(GradcliError):
    """The errors of a run with gradients that are None among them. missing: each diagnostic of one
    with the gradient, so that its cause can be added.
    """

    missing: Sequence[tuple[Diagnostic, NoGradient]]


def call_operation(op: Op, args: list[Any], named: Mapping[str, Any]) -> Any:
    """Apply an operation to values of a file, with its arguments checked and named.

    Raises E0207 (wrong number), E0208 (unknown keyword), E0302 (a text or structure where a number
    belongs), E0303 (an option's value), E0309 (a gradient that is None) and what the operation
    raises.
    """
    if op.name in ("equal", "not_equal") and len(args) == 2 and (_is_none(args[0])
                                                                or _is_none(args[1])):
        # Nothing but none equals none; that is not an operation on numbers.
        return (_is_none(args[0]) and _is_none(args[1])) == (op.name == "equal")
    attributes = dict(named)
    for name in named:
        if name not in op.attributes:
            raise error("E0208", f"`{op.name}` has no option `{name}`",
                        help=f"it has {', '.join(op.attributes) or 'none'}",
                        about=("option", name))
    n = len(op.parameters)
    if op.variadic and len(args) == 1 and isinstance(args[0], list):
        args = args[0]
    elif n and not op.variadic and not op.parameters[-1].startswith("*"):
        extra = args[n:]
        free = [name for name in op.attributes if name not in attributes]
        if len(args) < n or len(extra) > len(free):
            raise _wrong_count(op, len(args), n + len(free))
        attributes.update(zip(free, extra, strict=False))
        args = args[:n]
    elif n and not op.variadic and len(args) < n - 1:
        raise _wrong_count(op, len(args), n)
    if not n:
        return _create(op, args, attributes)
    operands = [a if op.role(k) == "text" and isinstance(a, str) else operand(op, a)
                for k, a in enumerate(args)]
    options = {k: _attribute(op, k, v) for k, v in attributes.items()}
    try:
        ans = op(*operands, **options)
        if type(ans) is float and int in map(type, operands) and _are_large([ans, *operands]):
            return op(*map(int, operands), **options)   # a literal beside an integer is one, too
        return ans
    except GradcliError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        if not options:
            raise
        shown = ", ".join([f"{k}={_shown(v)}" for k, v in options.items()])
        raise error("E0303", f"`{op.name}` cannot work with {shown}",
                    help=f"`gradcli ops {op.name}` tells what it takes",
                    about=("value", next(iter(options.values()))) if len(options) == 1 else None
                    ) from None


def _are_large(numbers: list[Any]) -> bool:
    """Return whether plain whole numbers are too large for floats to tell them apart."""
    return all(type(v) is int or (type(v) is float and v.is_integer()) for v in numbers) and (
        EXACT <= max(map(abs, numbers)))


def _is_none(value: Any) -> bool:
    return value is None or isinstance(value, NoGradient)


def _shown(value: Any) -> str:
    """Return the text of an option's value, at most 40 characters."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 40 else f"{text[:37]}..."


def call_numpy(name: str, args: list[Any], named: Mapping[str, Any]) -> Any:
    """Call `np.mean(x)`: that operation off the tape, as calling NumPy does in TensorFlow.

    The record notes that a value left, so that a missing gradient can be explained. Raises E0209
    for a function that does not exist and what `call_operation` raises.
    """
    op = lookup(name)
    if name in ("array", "asarray"):
        op = lookup("positive")
    if op is None:
        raise error("E0209", f"np.{name} is not a function of this language",
                    help="`gradcli ops` lists the operations; np. works before each of them",
                    about=("callee", None))
    tensors = [a.read() for a in flatten(args) if isinstance(a, Tensor)]
    plain = [_plain(a) for a in args]
    ans = value_of(call_operation(op, plain, {k: _plain(v) for k, v in named.items()}))
    if isinstance(ans, list):
        return [value_of(a) for a in ans]
    return left_engine(*tensors, given=ans) if tensors else ans


def guarded_value(value: Any) -> Any:
    """Return the plain value of a number that decides how a program goes on.

    It is added to the record's guards, if there are any: at another point (`gradcli.points`) it may
    be another number, and the recorded trace wrong.
    """
    if isinstance(value, Tensor):
        guards = current().guards
        if guards is not None and value.id is not None:
            guards.append((value.id, value.value))
        return value.value
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return guarded_value(value)


def _wrong_count(op: Op, given: int, most: int) -> GradcliError:
    n = len(op.parameters)
    names = ", ".join([*op.parameters, *[f"{a}=..." for a in op.attributes]])
    base = (op.name, given) == ("log", 2)
    return error("E0207", f"`{op.name}` takes {n} argument{'' if n == 1 else 's'}, not {given}",
                 help="to another base b it is log(x)/log(b)" if base else
                 f"it is called as {op.name}({names})", about=("beyond", most))


def _create(op: Op, args: list[Any], attributes: Mapping[str, Any]) -> Any:
    """Make a new array, as zeros(3, 2). Raises E0207 where the operation refuses the arguments."""
    for a in args:
        if a is None or isinstance(a, (str, dict, NoGradient)):
            raise no_operand(op, a)
    assert op.expand is not None
    try:
        with quiet():
            made = op.expand(*args, **{k: _attribute(op, k, v) for k, v in attributes.items()})
        if type(made) not in (Tensor, list) and current().sizes:
            sizes = [a.read() for a in flatten(args) if isinstance(a, Tensor) and a.id is not None]
            bound = op.name == "arange" and len(args) > 1
            return left_engine(*sizes, given=made, size=not bound) if sizes else made
        return made
    except GradcliError:
        raise
    except TypeError:
        raise error("E0207", f"`{op.name}` does not take these arguments", help=f"such as {op.doc}"
                    ) from None


def operand(op: Op, value: Any) -> Any:
    """Return a value as an operand: a list becomes a tensor. Raises E0302 or E0309."""
    if isinstance(value, Tensor):
        if type(value.value) is str and op.name != "string":
            raise no_operand(op, value.value)
        return value.read()
    if type(value) in (float, int, bool):
        return value
    if isinstance(value, (list, range)):
        return as_tensor(value)
    if is_array(value):
        return value
    raise no_operand(op, value)


def no_operand(op: Op, value: Any) -> GradcliError:
    """Return E0302 or E0309 for a value that no operation can calculate with."""
    problem = _no_operand(op, value)
    problem.about = "value", value
    return problem


def _no_operand(op: Op, value: Any) -> GradcliError:
    if isinstance(value, NoGradient):
        problem = MissingGradient(error(
            "E0309", f"`{op.name}` cannot calculate with a gradient that is None",
            help='ask for 0 instead: unconnected_gradients="zero"').diagnostics[0])
        problem.missing = value
        return problem
    if not isinstance(value, (str, dict, NoGradient)) and value is not None:
        return error("E0302", f"`{op.name}` needs numbers, not {kind_of(value)}",
                     help="ask it for a value first")
    if value is None:
        return error("E0309", f"`{op.name}` cannot calculate with none",
                     help="leave it out, or write 0")
    what = "the text" if isinstance(value, str) else "a dictionary"
    shown = f" {value!r}" if isinstance(value, str) else ""
    return error("E0302", f"`{op.name}` needs numbers, not {what}{shown}",
                 help="take an item out of it" if isinstance(value, dict) else "write a number")


def kind_of(value: Any) -> str:
    """Return the kind of a value in words: a tape, an accumulator, a list, a text, none."""
    if value is None or isinstance(value, NoGradient):
        return "none"
    name = type(value).__name__
    return {"FileTape": "a tape", "ForwardAccumulator": "a forward accumulator", "str": "a text",
            "dict": "a dictionary", "list": "a list", "range": "a range"}.get(name, "a number")


def one_of(name: str, names: Sequence[str]) -> str:
    """Return advice for a name that is not among `names`: a similar one, or all."""
    from gradcli.base.similar import nearest

    near = nearest(name, names)
    return f"did you mean `{near}`?" if near else f"write {' or '.join(names)}" if names else \
        "leave it out"


# Options that take a list of numbers; any other takes one value.
LISTS = ("axes", "axis", "destination", "dilations", "ksize", "multiples", "num_or_size_splits",
         "output_shape", "paddings", "q", "repeats", "shape", "shift", "source", "strides",
         "value_range")


def _attribute(op: Op, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_attribute(op, name, v) for v in value]
    raw = value_of(value)
    if name not in LISTS and is_array(raw) and raw.ndim:
        raise error("E0303", f"the option `{name}` of `{op.name}` takes one value, not a tensor",
                    help=f"its default is {op.attributes.get(name)}", about=("value", value))
    if isinstance(value, (dict, NoGradient)):
        raise no_operand(op, value)
    return guarded_value(value)


def as_tensor(value: Any) -> Any:
    """Return a value as a tensor; a list is stacked once, by a recorded `stack`.

    Raises E0301 where shapes differ and E0302 where something is not a number.
    """
    if isinstance(value, range):
        from gradcli.base.lazy import np

        return np.arange(value.start, value.stop, value.step)
    if isinstance(value, Tensor):
        return value.read()
    if not isinstance(value, list):
        return value
    record = current()
    known = record.stacked.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    if not value:
        raise error("E0301", "an empty list is not a tensor", help="give at least one element")
    items = [operand(stack, item) for item in value]
    if any(len(core_shape(item)) >= MAX_RANK for item in items):
        raise error("E0301", f"more than {MAX_RANK} nested lists",
                    help="use fewer brackets")
    tensor = stack(*items, axis=0)
    record.remember_stacked(value, tensor)
    return tensor


# --------------------------------------------------------------------------------------------------
# Values of a file, which may be lists and dictionaries: what they are, their parts, their numbers.

def is_number(value: Any) -> bool:
    """Return whether a value can be an operand: a tensor, number, truth value or array."""
    return isinstance(value, (Tensor, float, int)) or is_array(value)


def one_each(several: Any, given: Any) -> Any:
    """Return one value for each of `several`; a tensor of as many rows is split into its rows."""
    if isinstance(several, list) and is_number(given) and core_shape(given)[:1] == (len(several),):
        if isinstance(given, Tensor):
            return list(given.read())
        return [plain(row) for row in given]
    return given


def literal(items: list[Any]) -> Any:
    """Return the value of `[1, 2, 3]`, an array; a list of anything else stays a structure.

    Raises E0301 for rows of different lengths and for more axes than an array can have.
    """
    if not items:
        return items
    for x in items:
        if type(x) not in (float, int, bool) and not is_array(x):
            return items
    shapes = {shape_of(x) for x in items}
    if len(shapes) > 1:
        raise error("E0301", "the rows of this list have different lengths",
                    help="give every row as many numbers")
    if len(next(iter(shapes))) >= MAX_RANK:
        raise error("E0301", f"more than {MAX_RANK} nested lists",
                    help="use fewer brackets")
    from gradcli.base.lazy import np

    return np.array(items)


def attribute(obj: Any, name: str) -> Any:
    """Return an attribute: `A.T`, `A.ndim`, `A.size` or `A.shape`. Raises E0308 for any other."""
    if isinstance(obj, (list, range)):
        obj = as_tensor(obj)
    if not is_number(obj) or isinstance(value_of(obj), str):
        raise error("E0308", f"{kind_of(value_of(obj))} has no attribute `{name}`",
                    help="use an index" if isinstance(obj, dict) else "ask a tensor for it",
                    about=("callee", None))
    if name == "T":
        return transpose(obj)
    # Plain numbers: a shape takes part in no derivative (`shape(x)` is the recorded operation).
    shape = core_shape(obj)
    if name == "ndim":
        return len(shape)
    if name == "size":
        return math.prod(shape)
    if name == "shape":
        from gradcli.base.lazy import np

        return np.array(shape, dtype=np.int64)
    raise error("E0308", f"a tensor has no attribute `{name}`", help="it has T, shape, size, ndim",
                about=("callee", None))


def item(obj: Any, parts: Sequence[Any], values: Sequence[Any]) -> Any:
    """Return an element of a list or dictionary; several indices go inwards one by one.

    parts: "i" for an index, or a slice. values: of the indices. Raises E0305 if there is none.
    """
    if isinstance(obj, list) and len(parts) > 1 and isinstance(parts[0], slice):
        # A[:, 1] of rows of tensors means the columns of the matrix they make.
        return call_operation(index_op, [as_tensor(obj), *values], {"pattern": tuple(parts)})
    wanted = iter(values)
    for part in parts:
        key = guarded_value(next(wanted)) if part == "i" else part
        try:
            if isinstance(obj, dict):
                obj = obj[key]
            elif isinstance(key, slice):
                obj = obj[key]
            elif isinstance(obj, list):
                obj = obj[whole(key, "an index")]
            else:
                obj = call_operation(index_op, [obj, key], {"pattern": ("i",)})
        except GradcliError:
            raise
        except (KeyError, IndexError, TypeError):
            raise error("E0305", f"the structure has no item `{key}`",
                        help="lists count from 0; dictionaries go by name",
                        about=("value", key)) from None
    return obj


def bound(value: Any) -> int | None:
    """Return a bound of a slice: a whole number, or None."""
    return None if value is None else whole(guarded_value(value), "a bound of a slice")


def truth(value: Any) -> bool:
    """Return the truth value of a condition of `a if c else b`, `and`, `or`.

    Raises E0311 where there is no single one.
    """
    value = guarded_value(value)
    if isinstance(value, (bool, int, float)):
        return bool(value)
    if getattr(value, "size", 0) == 1:
        return bool(value.item())
    if hasattr(value, "shape"):
        raise error("E0311", "a condition must be one truth value, not a tensor of shape"
                    f" [{', '.join(str(n) for n in value.shape)}]",
                    help="choose element by element with where(c, a, b)")
    if isinstance(value, (str, list, dict)):
        return bool(value)
    raise error("E0311", f"{kind_of(value)} is neither true nor false",
                help="write a comparison such as x > 0")


def plain_structure(value: Any) -> Any:
    """Return a value without tensors; a list of numbers becomes one array."""
    if isinstance(value, NoGradient) or value is None:
        return None
    if isinstance(value, range):
        return value_of(as_tensor(value))
    if isinstance(value, dict):
        return {k: plain_structure(v) for k, v in value.items()}
    if isinstance(value, list):
        if all(is_number(item) for item in value) and value:
            return value_of(as_tensor(value))
        return [plain_structure(v) for v in value]
    return value_of(value)


def own(value: Any) -> Any:
    """Return a value that the caller may change: arrays are copied."""
    return mapped(value, lambda one: one.copy() if hasattr(one, "copy") else one)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a nested value with each leaf changed, in order; tuples and ranges become lists."""
    if isinstance(value, dict):
        return {k: mapped(v, change) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [mapped(v, change) for v in value]
    return change(value)
