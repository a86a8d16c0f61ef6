"""The operators and methods of a tensor: Python's signs, NumPy's protocols, exits from the tape.

`quicken` gives a class the short path for two Python floats: computed, put on the record and
returned without a look at types, shapes and batch axes (1.1 us instead of 4). Anything else goes
through the operation itself.
"""

from __future__ import annotations

from sys import _getframe

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.provenance import caller, ids, spots
from gradcli.engine.record.record import local
from gradcli.ops.kinds import EDGE, NAMES, Op
from gradcli.ops.table import discrete, elementwise, shapes
from gradcli.ops.values import SCALAR_TYPES, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PLAIN: dict[str, Any] = {}
"""The attributes of an operation without any, shared by all entries of the short way."""

ARITHMETIC: dict[str, Op] = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply,
    "truediv": elementwise.divide, "pow": elementwise.power, "mod": elementwise.mod,
    "floordiv": discrete.floor_divide,
}
COMPARISONS: dict[str, Op] = {
    "eq": discrete.equal, "ne": discrete.not_equal, "lt": discrete.less,
    "le": discrete.less_equal, "gt": discrete.greater, "ge": discrete.greater_equal,
}
# Ways off the tape that others than the program may take.
UNASKED = ("array", "float", "int", "index")


class Operators:
    """The operators and methods of a tensor.

    Methods not written here (`x.sum(axis=0)`, `x.sin()`) are the operations by name.
    """

    __slots__ = ()
    value: Any
    id: int | None
    batch: int

    if TYPE_CHECKING:
        def __gradcli_apply__(self, op: Op, args: Any, attributes: Any) -> Any: ...
        # made by `_complete` from the tables above
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        @property
        def shape(self) -> tuple[int, ...]: ...

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Any:
        return self.__gradcli_apply__(elementwise.negative, (self,), PLAIN)

    def __pos__(self) -> Any:
        return elementwise.positive(self)

    def __abs__(self) -> Any:
        return NAMES["abs"](self)

    def __invert__(self) -> Any:
        return discrete.logical_not(truth("~", self))

    def __and__(self, other: Any) -> Any:
        return discrete.logical_and(truth("&", self), truth("&", other))

    def __or__(self, other: Any) -> Any:
        return discrete.logical_or(truth("|", self), truth("|", other))

    def __xor__(self, other: Any) -> Any:
        return NAMES["logical_xor"](truth("^", self), truth("^", other))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __getitem__(self, key: Any) -> Any:
        pattern: list[Any] = []
        indices: list[Any] = []
        for part in key if isinstance(key, tuple) else (key,):
            if part is Ellipsis:
                named = sum(p is not None and p is not Ellipsis for p in key) \
                    if isinstance(key, tuple) else 0
                pattern += [slice(None)] * (len(self.shape) - named)
            elif part is None or isinstance(part, slice):
                pattern.append(part)
            else:
                pattern.append("i")
                indices.append(part if hasattr(part, "ndim") or isinstance(part, Operators)
                               or type(part) in SCALAR_TYPES else np.asarray(part))
        return shapes.index(self, *indices, pattern=tuple(pattern))

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar tensor has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        if getattr(self.value, "size", 1) != 1:
            raise error("E0311", "a condition must be one truth value, not a tensor of shape"
                        f" [{', '.join(str(n) for n in self.shape)}]",
                        help="choose element by element with gradcli.ops.where(c, a, b)")
        value = bool(self.value)
        trace = records.current().trace
        if trace is not None:
            trace.condition(self.id, value)
        return value

    def __matmul__(self, other: Any) -> Any:
        return NAMES["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return NAMES["matmul"](other, self)

    def __float__(self) -> float:
        _left_as("float", self)
        number: float = _number(float, self)
        return number

    def __int__(self) -> int:
        _left_as("int", self)
        whole: int = _number(int, self)
        return whole

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)

    def __index__(self) -> int:
        if type(self.value) is not int and not (
                hasattr(self.value, "dtype") and self.value.dtype.kind == "i"):
            raise TypeError("only integer tensors can be an index")
        _left_as("index", self)
        return int(self.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        # NumPy asks with the type of objects before it keeps the tensor itself.
        _left_as("array" if getattr(dtype, "kind", "") != "O" else "object", self)
        return np.array(self.value, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        from gradcli.engine.record.numpy_protocol import ufunc as applied

        return applied(ufunc, method, args, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from gradcli.engine.record.numpy_protocol import function as applied

        return applied(function, args, options)

    def numpy(self) -> Any:
        """Return the value as a NumPy array or scalar, off the tape; a copy, safe to change."""
        _left_as("numpy", self)
        return np.array(self.value)[()]

    def item(self) -> Any:
        """Return the one element as a Python number, off the tape.

        Raises E0301 where there are more.
        """
        _left_as("item", self)
        return _number(lambda x: x, self)

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def T(self) -> Any:
        """Return the tensor with its axes reversed."""
        return shapes.transpose(self)

    def __getattr__(self, name: str) -> Any:
        op = NAMES.get(name)
        if op is None or name.startswith("_") or not op.parameters:
            raise AttributeError(f"a tensor has no attribute or operation '{name}'")
        return lambda *args, **attributes: op(self, *args, **attributes)


def _left_as(how: str, x: Operators) -> None:
    """Note in the trace that the value of x leaves the engine: no path leads from there to x.

    how: the method that took it. Raises E0209 where the program does not say that it leaves.
    """
    record = records.current()
    if how in UNASKED and (record.tapes or record.accumulators):
        from gradcli.engine.record.leaving import check

        check(how, x)
    if record.trace is not None and x.id is not None:
        record.trace.left(x.id, how, 3)


def _number(kind: Any, x: Operators) -> Any:
    """Convert the one element by `kind`.

    Raises E0301 for more than one element, E0404 for one that the kind of number cannot hold.
    """
    if x.size != 1:
        raise error("E0301", f"a tensor of shape [{', '.join(map(str, x.shape))}] is not one"
                    " number", help="take an element, such as x[0], or .numpy() for all")
    try:
        return kind(np.asarray(x.value).item() if type(x.value) not in SCALAR_TYPES else x.value)
    except (ValueError, OverflowError, TypeError):
        raise error("E0404", f"{x.value!r} cannot become {kind.__name__}",
                    help="only finite numbers become integers") from None


def _complete() -> None:
    """Give `Operators` the signs of the tables."""
    for name, op in ARITHMETIC.items():
        setattr(Operators, f"__{name}__", _left(op))
        setattr(Operators, f"__r{name}__", _right(op))
    for name, op in COMPARISONS.items():
        setattr(Operators, f"__{name}__", _left(op))


def _left(op: Op) -> Any:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, Operators):    # nothing that has to be converted
            return self.__gradcli_apply__(op, (self, other), PLAIN)
        return op(self, other)

    return method


def _right(op: Op) -> Any:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, Operators):
            return other.__gradcli_apply__(op, (other, self), PLAIN)
        return op(other, self)

    return method


_complete()


def slow(cls: type) -> None:
    """Send the operators of a class whose operands have to be read through the operation again."""
    for name in ("add", "sub", "mul", "truediv", "pow"):
        setattr(cls, f"__{name}__", _left(ARITHMETIC[name]))
        setattr(cls, f"__r{name}__", _right(ARITHMETIC[name]))


def quicken(cls: Any) -> None:
    """Give a class of tensors the short path for Python floats; see the module."""
    for name in ("add", "sub", "mul", "truediv", "pow"):
        setattr(cls, f"__{name}__", _quick(cls, ARITHMETIC[name], False))
        setattr(cls, f"__r{name}__", _quick(cls, ARITHMETIC[name], True))


def _quick(cls: Any, op: Op, swapped: bool) -> Any:
    floats, at_edge = op.floats, op.at_edge
    plus, times = op is elementwise.add, op is elementwise.multiply
    new, current, apply = cls.__new__, records.current, cls.__gradcli_apply__
    assert floats is not None

    def method(self: Any, other: Any) -> Any:
        a, b, i, j = self.value, other, None, None
        if type(a) is float:
            i = self.id
            if type(other) is cls:
                b, j = other.value, other.id
            elif type(b) is int:
                b = float(b)
        if i is None or type(b) is not float or type(self) is not cls:
            if isinstance(other, cls) or type(b) is float:      # nothing that has to be converted
                return apply(self, op, (other, self) if swapped else (self, other), PLAIN)
            return op(other, self) if swapped else op(self, other)
        try:
            record = local.current
        except AttributeError:
            record = current()
        if not record.short:
            return op(other, self) if swapped else op(self, other)
        if swapped:
            a, b, i, j = b, a, j, i
        try:
            v = a * b if times else a + b if plus else floats(a, b)
        except EDGE:
            v = at_edge((a, b))
        out = new(cls)
        out.value = v
        out.batch = 0
        out.id = number = next(ids)
        place = record.place
        if place is None:
            frame = _getframe(1)
            try:
                place = spots[id(frame.f_code)][frame.f_lasti]
            except KeyError:
                place = caller(frame)[1]
        seen = record.seen
        if seen and (i in seen or j in seen):
            seen.add(number)
            record.entries.append((op, number, (i, j), (a, b), v, PLAIN, place, ()))
        elif record.trace is not None:
            record.trace.push((op, number, i, j, place))
        return out

    return method
