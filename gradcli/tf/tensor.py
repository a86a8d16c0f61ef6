"""Tensors with TensorFlow's manners: how they print, what leaves the tape, which type is chosen.

`Tensor` is the engine's tensor under another class: the results of operations are of the class of
their operands, so nothing else is told that a program speaks TensorFlow.
"""

from __future__ import annotations

from sys import _getframe

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record import operators
from gradcli.engine.record import tensor as engine
from gradcli.engine.record import variable as variables
from gradcli.ops.kinds import NAMES
from gradcli.ops.values import dtype_of, shape_of
from gradcli.tf.dtypes import DType, TensorShape, as_dtype, plain_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# The types that Python's numbers have in TensorFlow.
LITERALS = {"float64": "float32", "int64": "int32"}
# The kinds of literals that a type holds.
HOLDS = {"bool": "b", "int32": "biu", "int64": "biu", "float32": "biuf",
         "float64": "biuf"}
INT32, FLOAT32 = 2**31 - 1, 3.4028235677973366e38    # what rounds to the largest one
CHANNELS_LAST = ("NWC", "NHWC", "NDHWC", "channels_last")
# Operands that say where, and have a type of their own.
PLACES = ("indices", "segment_ids", "mask", "partitions")
# What Python code does to numbers: instructions that ask the second operand for its own way.
OPERATORS = ("BINARY_OP", "COMPARE_OP")


class Manners:
    """What tensors and variables of TensorFlow do unlike those of gradcli."""

    __slots__ = ()
    if TYPE_CHECKING:
        value: Any
        id: int | None
        batch: int

    @property
    def dtype(self) -> DType:
        """Return the type."""
        return DType(dtype_of(self.value))

    @property
    def shape(self) -> TensorShape:
        """Return the shape."""
        return TensorShape(shape_of(self.value)[self.batch:])

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check a shape. Raises ValueError where it is another one."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape"
                             f" {TensorShape(shape)}.")

    @property
    def device(self) -> str:
        """Return the place of the value, as TensorFlow writes it."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def ref(self) -> Reference:
        """Return a key for dictionaries: tensors compare by element and are none."""
        return Reference(self)

    def numpy(self) -> Any:
        """Return the value as NumPy's, off the tape; texts as bytes."""
        operators._left_as("numpy", self)  # type: ignore[arg-type]
        return np.array(_bytes(self.value))[()]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        operators._left_as("numpy", self)  # type: ignore[arg-type]
        return np.array(self.value, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        """Let `array * tensor` be the tensor's, and any other function leave the tape."""
        if method == "__call__" and len(args) == 2 and _is_operator():
            from gradcli.engine.record.numpy_protocol import ufunc as applied

            return applied(ufunc, method, args, options)
        return getattr(ufunc, method)(
            *[np.asarray(a) if isinstance(a, engine.Tensor) else a for a in args], **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*_off_tape(args), **_off_tape(options))

    def __float__(self) -> float:
        operators._left_as("numpy", self)  # type: ignore[arg-type]
        return float(operators._number(float, self))  # type: ignore[arg-type]

    def __int__(self) -> int:
        operators._left_as("numpy", self)  # type: ignore[arg-type]
        return int(operators._number(int, self))  # type: ignore[arg-type]

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        operators._left_as("numpy", self)  # type: ignore[arg-type]
        return int(self.value)

    def __getitem__(self, key: Any) -> Any:
        """Return a part. As in TensorFlow a list means what a tuple does, and an index is one
        number: E0302 for others, which are tf.gather's.
        """
        parts = tuple(key) if isinstance(key, (list, tuple)) else (key,)
        for part in parts:
            many = np.ndim(part.value if isinstance(part, engine.Tensor) else part) if not (
                isinstance(part, slice) or part is None or part is Ellipsis) else 0
            if many and not dtype_of(engine.value_of(part) if isinstance(
                    part, engine.Tensor) else np.asarray(part)) == "bool":
                raise error("E0302", "an index is a number, a slice, tf.newaxis, ... or a mask",
                            help="tf.gather(x, indices) takes several places")
        return operators.Operators.__getitem__(self, parts)  # type: ignore[index]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[k] for k in range(self.shape[0]))

    def __getattr__(self, name: str) -> Any:
        if name == "name":
            raise AttributeError("Tensor.name is undefined when eager execution is enabled.")
        kind = "ResourceVariable" if isinstance(self, variables.Variable) else "EagerTensor"
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def _shown(self) -> str:
        """Return the value as the printed form of tensors has it behind `numpy=`."""
        value = _bytes(self.value)
        if shape_of(value) == ():
            return repr(np.asarray(value).item())
        text = repr(np.asarray(value))
        return f"\n{text}" if "\n" in text else text


def _bytes(value: Any) -> Any:
    """Return a value with bytes in place of texts, as TensorFlow has them."""
    found = np.asarray(value)
    if found.dtype.kind != "U":
        return value
    return np.array([*map(str.encode, found.ravel().tolist()), b""], dtype=object)[:-1].reshape(
        found.shape)


class Tensor(Manners, engine.Tensor):
    """A value that the tape follows, as tf.Tensor in eager execution."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __format__(self, form: str) -> str:
        return format(np.asarray(self.value)[()], form)

    def __str__(self) -> str:
        text = str(np.asarray(_bytes(self.value))[()])
        text = f"\n{text}" if "\n" in text else text
        return f"tf.Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._shown()}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return constant, (self.value, self.dtype.name)


class Reference:
    """A tensor as a key: equal to another reference to the same one."""

    __slots__ = ("_to",)

    def __init__(self, to: Any) -> None:
        self._to = to

    def deref(self) -> Any:
        """Return the tensor."""
        return self._to

    def __hash__(self) -> int:
        return id(self._to)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._to is other._to

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._to!r}>"


def refused(what: str, option: str, instead: str = "leave it out") -> Exception:
    """Return the error for an option of TensorFlow's that gradcli does not have. instead: what to
    do in place of it.
    """
    return error("E0208", f"`{what}` has no option `{option}` in gradcli",
                 help=f"{instead}, or run the script with TensorFlow: --real")


def same_value(given: Any, default: Any) -> bool:
    """Return whether an option is given as its default; what is there is channels last."""
    if default is None and isinstance(given, str):
        return given in CHANNELS_LAST
    try:
        return bool(given == default)
    except (TypeError, ValueError):
        return False


# ---- conversions ---------------------------------------------------------------------------------


def as_tensor(value: Any) -> Any:
    """Return an engine's tensor as one of this module, on the same tapes."""
    if type(value) is engine.Tensor:
        value.__class__ = Tensor
    return value


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Return a tensor; Python's numbers are float32 and int32, arrays keep their type.

    A tensor stays as it is, on its tapes; a variable, and a tensor in another shape, become
    numbers. Raises E0302 for tensors of another type, and in lists.
    """
    kind = None if dtype is None else as_dtype(dtype).name
    if isinstance(value, engine.Tensor):
        if not isinstance(value, variables.Variable):
            if kind not in (None, value.dtype):
                raise error("E0302", f"expected a tensor of {kind}, got one of {value.dtype.name}",
                            help=f"tf.cast(x, tf.{kind})")
            if shape is None or TensorShape(plain_shape(shape)) == value.shape:
                return as_tensor(value)
        value = _off_tape(value)
    if not hasattr(value, "dtype"):
        if isinstance(value, (list, tuple)) and any(
                isinstance(v, engine.Tensor) for v in engine.flatten(value)):
            raise error("E0302", "tf.constant takes no list of tensors",
                        help="tf.stack([...]) joins them, with their gradients")
        given = _array(value)
        kind = _literal(given) if kind is None else kind
        _check_literal(value, given, kind)
        value = given if isinstance(value, (list, tuple)) else value
    elif hasattr(value, "__tf_tensor__"):       # TensorFlow's protocol of what can be a tensor
        return value.__tf_tensor__(dtype, name)
    made = as_tensor(variables.constant(value, kind))
    if shape is None:
        return made
    lengths = plain_shape(shape)
    if int(np.prod(lengths, dtype=int)) == made.size:
        return NAMES["reshape"](made, shape=lengths)
    if made.size != 1:
        raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor {value} has"
                        f" {made.size} elements, but got `shape` {TensorShape(lengths)}.")
    return as_tensor(variables.constant(np.broadcast_to(made.value, lengths), made.dtype.name))


def _literal(given: Any) -> str | None:
    """Return the type of Python's numbers: int64 where int32 does not hold them."""
    if given.dtype.name == "int64" and given.size and np.abs(given).max() > INT32:
        return "int64"
    return LITERALS.get(given.dtype.name)


def _check_literal(value: Any, given: Any, kind: str | None) -> None:
    """Raise E0302 for numbers that are none of the type, E0404 for those that are too large."""
    if kind is None:
        return
    held = HOLDS.get(kind, "biufcUSO")
    if given.size and given.dtype.kind not in held:
        raise error("E0302", f"cannot convert {value!r:.40} to a tensor of dtype {kind}",
                    help="cast it: tf.cast(..., tf.float32)")
    if kind == "float32" and given.dtype.kind == "f" and (
            np.isfinite(given) & (np.abs(given) > FLOAT32)).any():
        raise error("E0404", f"{value!r:.40} is out of range for float32", help="give a dtype:"
                    " tf.constant(..., tf.float64)")


def _array(value: Any) -> Any:
    """Return a nested list as an array, the values of tensors in it among them."""
    try:
        return np.asarray(_off_tape(value))
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: Any = None
                      ) -> Any:
    """Return a tensor of a value, list or variable, on the tapes that watch it.

    Raises ValueError for a tensor of another type.
    """
    if isinstance(value, engine.Tensor):
        made = as_tensor(
            value.read_value() if isinstance(value, variables.Variable) else value)
        if dtype is not None and as_dtype(dtype) != made.dtype:
            raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor"
                             f" with dtype {made.dtype.name}: {made!r}")
        return made
    if isinstance(value, (list, tuple)) and any(
            isinstance(v, engine.Tensor) for v in engine.flatten(value)):
        return stacked([convert_to_tensor(v, dtype) for v in one_type(value)])
    return constant(value, dtype)


def one_type(values: Sequence[Any]) -> Sequence[Any]:
    """Return the parts of a list, numbers in the type of the tensors beside them."""
    kind: str | None = next(
        (v.dtype.name for v in engine.flatten(values) if isinstance(v, engine.Tensor)), None)
    if kind is None and hasattr(values[0], "dtype") and not np.ndim(values[0]):
        kind = values[0].dtype.name
    elif kind is None:
        kind = LITERALS.get(np.result_type(*map(_array, values)).name)
    return [v if isinstance(v, (list, tuple, engine.Tensor)) else constant(v, kind)
            for v in values]


def stacked(values: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors of one shape along a new axis."""
    return as_tensor(NAMES["stack"](*values, axis=axis))


def cast(x: Any, dtype: Any, name: Any = None) -> Any:
    """Return the values in another type."""
    if hasattr(x, "with_values"):       # slices stay slices
        return x.with_values(cast(x.values, dtype))
    made, kind = convert_to_tensor(x), as_dtype(dtype)
    if made.dtype == kind:
        return made
    if kind.is_complex:
        real = cast(made, "float64")
        return as_tensor(NAMES["complex"](real, NAMES["zeros_like"](real)))
    if made.dtype.is_complex:
        return cast(NAMES["real"](made), kind)
    return as_tensor(NAMES["cast"](made, dtype=kind.name))


def quotient(a: Any, b: Any) -> Any:
    """Divide; whole numbers as float64."""
    a, b = operands(NAMES["divide"], (a, b))
    if a.dtype.is_integer:
        a, b = cast(a, "float64"), cast(b, "float64")
    return NAMES["divide"](a, b)


def product(a: Any, b: Any) -> Any:
    """Multiply matrices. Raises E0301 for vectors and numbers, which TensorFlow refuses."""
    a, b = operands(NAMES["matmul"], (a, b))
    for x in (a, b):
        if len(x.shape) < 2:
            raise error("E0301", f"tf.matmul takes matrices, not shapes {a.shape} and {b.shape}",
                        help="of a matrix and a vector tf.linalg.matvec, of two vectors"
                        " tf.tensordot(a, b, 1)")
    return NAMES["matmul"](a, b)


def operands(op: Any, given: Sequence[Any]) -> list[Any]:
    """Return the operands of an operation as tensors: numbers and arrays in the type of the first
    tensor among its data, else of the first of all.
    """
    if all(isinstance(x, engine.Tensor) for x in given):
        return [as_tensor(x.read()) for x in given]
    data = [op.role(k) == "data" and (
        k >= len(op.parameters) or op.parameters[k] not in PLACES) for k in range(len(given))]
    kind = next((x.dtype for x, one in zip(given, data, strict=True)
                 if one and isinstance(x, engine.Tensor)), None)
    made: list[Any] = []
    for k, x in enumerate(given):
        if x is None or isinstance(x, str):
            made.append(x)
        elif isinstance(x, engine.Tensor):
            made.append(as_tensor(x.read()))
        elif not data[k]:
            made.append(convert_to_tensor(x))
        elif kind is None:
            made.append(convert_to_tensor(x))
            kind = made[-1].dtype
        elif isinstance(x, (list, tuple)):
            parts = engine.flatten(x)
            made.append(cast(convert_to_tensor(x), kind) if any(
                isinstance(v, engine.Tensor) for v in parts) else constant(x, kind))
        else:
            made.append(constant(x, kind))
    return made


def _off_tape(value: Any) -> Any:
    """Return arguments with NumPy's values in place of tensors."""
    if isinstance(value, engine.Tensor):
        operators._left_as("numpy", value)
        return value.value if isinstance(value.value, str) else np.array(value.value)[()]
    if isinstance(value, dict):
        return {key: _off_tape(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_off_tape(v) for v in value]) if not hasattr(value, "_fields") else \
            tuple([_off_tape(v) for v in value])
    return value


def _is_operator() -> bool:
    """Return whether Python's `*` asks NumPy, not `np.multiply(...)`."""
    import dis

    frame = _getframe(2)
    code = frame.f_code.co_code[frame.f_lasti]
    return dis.opname[code] in OPERATORS


def _signs() -> None:
    """Give tensors the signs of Python: what stands beside a tensor is converted to its type."""
    def signed(op: Any) -> tuple[Any, Any]:
        def left(self: Any, other: Any) -> Any:
            return op(self, other) if type(other) is Tensor else op(*operands(op, (self, other)))

        return left, lambda self, other: op(*operands(op, (other, self)))

    for name, op in operators.ARITHMETIC.items():
        left, right = signed(op)
        setattr(Manners, f"__{name}__", left)
        setattr(Manners, f"__r{name}__", right)
    for name, op in operators.COMPARISONS.items():
        setattr(Manners, f"__{name}__", signed(op)[0])
    for name, made in (("truediv", quotient), ("matmul", product)):
        setattr(Manners, f"__{name}__", lambda self, other, made=made: made(self, other))
        setattr(Manners, f"__r{name}__", lambda self, other, made=made: made(other, self))
    for name, answer in (("eq", False), ("ne", True)):
        compared = getattr(Manners, f"__{name}__")
        setattr(Manners, f"__{name}__", lambda self, other, compared=compared, answer=answer:
                answer if other is None else compared(self, other))


_signs()
engine.KINDS.add(Tensor)
# A program that prints the kind of what it has sees TensorFlow's.
Tensor.__name__ = "EagerTensor"
