"""Types and shapes as TensorFlow names and prints them."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Self

# The bytes of an element.
SIZES = {"float32": 4, "float64": 8, "int32": 4, "int64": 8, "bool": 1, "complex128": 16,
         "string": 1}
PYTHON = {float: "float32", int: "int32", bool: "bool", complex: "complex128", str: "string"}
MISSING = ("float16", "bfloat16", "half", "int8", "int16", "uint8", "uint16", "uint32", "uint64",
           "complex64", "resource", "variant", "qint8", "qint16", "qint32", "quint8", "quint16")


class DType(engine.DType):
    """A type, equal to its name and to NumPy's type of this name."""

    __slots__ = ()
    __hash__ = str.__hash__

    @property
    def name(self) -> str:
        """Return the name: "float32"."""
        return str.__str__(self)

    @property
    def base_dtype(self) -> DType:
        """Return the type itself."""
        return self

    @property
    def as_numpy_dtype(self) -> type:
        """Return NumPy's type."""
        kind: type = object if self.name == "string" else np.dtype(self.name).type
        return kind

    @property
    def is_floating(self) -> bool:
        """Return whether it is a type of real numbers."""
        return self.name.startswith("float")

    @property
    def is_integer(self) -> bool:
        """Return whether it is a type of whole numbers."""
        return self.name.startswith("int")

    @property
    def is_complex(self) -> bool:
        """Return whether it is a type of complex numbers."""
        return self.name.startswith("complex")

    @property
    def is_bool(self) -> bool:
        """Return whether it is the type of truth values."""
        return self.name == "bool"

    @property
    def size(self) -> int:
        """Return the number of bytes of an element."""
        return SIZES[self.name]

    @property
    def min(self) -> Any:
        """Return the smallest finite value."""
        return self._limits().min

    @property
    def max(self) -> Any:
        """Return the largest finite value."""
        return self._limits().max

    def _limits(self) -> Any:
        kind = self.as_numpy_dtype
        return np.iinfo(kind) if self.is_integer else np.finfo(kind)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        try:
            return other is not None and self.name == as_dtype(other).name
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __format__(self, form: str) -> str:
        return format(str(self), form)


def as_dtype(kind: Any) -> DType:
    """Return the type of a name, NumPy's type or Python's.

    Raises E0306 for a type that gradcli does not have, or no type.
    """
    if isinstance(kind, DType):
        return kind
    if isinstance(kind, str):
        name = {"double": "float64", "float": "float32"}.get(kind, kind)
    elif isinstance(kind, type) and kind in PYTHON:
        name = PYTHON[kind]
    else:
        name = np.dtype(kind).name
    if name not in SIZES:
        raise error("E0306", f"gradcli has no type `{name}`" if name in MISSING else
                    f"there is no type `{name}`", help=f"one of {', '.join(SIZES)}")
    return DType(name)


class TensorShape(tuple):  # type: ignore[type-arg]
    """A shape: the lengths of the axes, None where one is not known."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __new__(cls, dims: Any = ()) -> Self:
        return super().__new__(cls, (dims,) if isinstance(dims, int) else dims or ())

    @property
    def rank(self) -> int:
        """Return the number of axes."""
        return len(self)

    ndims = rank

    @property
    def dims(self) -> list[int | None]:
        """Return the lengths."""
        return list(self)

    def as_list(self) -> list[int | None]:
        """Return the lengths as a list."""
        return list(self)

    def num_elements(self) -> int | None:
        """Return the number of elements, None where an axis is not known."""
        return None if None in self else int(np.prod(self, dtype=int))

    def is_fully_defined(self) -> bool:
        """Return whether all lengths are known."""
        return None not in self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError unless there are so many axes."""
        if len(self) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def is_compatible_with(self, other: Iterable[Any]) -> bool:
        """Return whether two shapes agree where both are known."""
        theirs = tuple(other)
        return len(theirs) == len(self) and all(
            None in (a, b) or a == b for a, b in zip(self, theirs, strict=True))

    def concatenate(self, other: Any) -> TensorShape:
        """Return the shape followed by another."""
        return TensorShape((*self, *TensorShape(other)))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape((*TensorShape(other), *self))

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return TensorShape(found) if isinstance(key, slice) else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, list)) and tuple.__eq__(self, tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __str__(self) -> str:
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)!r})"


def plain(value: Any) -> Any:
    """Return an option without tensors and arrays: numbers, lists of numbers, texts."""
    if isinstance(value, engine.Tensor):
        value = value.value
    if isinstance(value, TensorShape):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def plain_shape(shape: Any) -> list[int]:
    """Return a shape given as a number, a list with tensors in it, a tensor or a TensorShape."""
    found = plain(shape)
    lengths: Sequence[Any] = found if isinstance(found, list) else [found]
    return [int(n) for n in lengths]


_floatx = ["float32"]


def floatx() -> str:
    """Return the type of Keras's numbers that are given none."""
    return _floatx[-1]


def set_floatx(value: str) -> None:
    """Set the type of Keras's numbers that are given none."""
    if value not in ("float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of"
                         " ('float32', 'float64')")
    _floatx[:] = [value]


_layers: list[str] = []


def layer_type() -> str:
    """Return the type of layers that are given none: what `floatx` was when the first was made."""
    if not _layers:
        _layers.append(floatx())
    return _layers[0]


def clear_types() -> None:
    """Forget which type layers had so far."""
    _layers.clear()
