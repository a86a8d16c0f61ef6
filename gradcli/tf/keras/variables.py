"""Variables with paths, the names of Keras's objects and the scopes in which these nest."""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import contextmanager
from sys import _getframe

from gradcli.base.lazy import np
from gradcli.engine.record.provenance import inside
from gradcli.tf.dtypes import DType, as_dtype, clear_types, floatx
from gradcli.tf.own import next_seed
from gradcli.tf.scopes import name_scope as tf_name_scope
from gradcli.tf.tensor import convert_to_tensor
from gradcli.tf.variable import HELD
from gradcli.tf.variable import Variable as TensorFlowVariable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_used: Counter[str] = Counter()
_scopes: list[tuple[str, Any]] = []     # the names of scopes that are open, and who opened each


def auto_name(prefix: str) -> str:
    """Return a name that no object has: `dense`, then `dense_1`."""
    name = snake_case(prefix)
    _used[name] += 1
    return name if _used[name] == 1 else f"{name}_{_used[name] - 1}"


def snake_case(name: str) -> str:
    """Return `MyDense2D` as `my_dense2d`: Keras's rule for names."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def clear_session(free_memory: bool = True) -> None:
    """Begin the numbers of names anew."""
    _used.clear()
    clear_types()


@contextmanager
def name_scope(name: str, caller: Any = None) -> Iterator[None]:
    """Put a name before those of variables made in the block, unless `caller` has just done so.

    What has opened a scope once, opens it where it did.
    """
    if caller is not None and _scopes and _scopes[-1][1] is caller:
        yield
        return
    if caller is None:
        path = "/".join([current_path(), name]).lstrip("/")
    else:
        path = caller.__dict__.setdefault(
            "_path", "/".join([current_path(), name]).lstrip("/"))
    _scopes.append((path, caller))
    try:
        with tf_name_scope(f"{path}/"):
            yield
    finally:
        _scopes.pop()


def current_path() -> str:
    """Return the names of the open scopes, joined by slashes."""
    return _scopes[-1][0] if _scopes else ""


class KerasDType(DType):
    """A type that prints as its name."""

    __slots__ = ()
    __hash__ = DType.__hash__
    __str__ = str.__str__
    __repr__ = str.__repr__

    def __format__(self, form: str) -> str:
        return str.__format__(self, form)


class Variable(TensorFlowVariable):
    """A variable of a layer, metric or optimizer, as keras.Variable: its path tells whose it is.

    Tapes watch what was trainable when it was made, whatever it is later, as with Keras.
    """

    __slots__ = ("_trained", "constraint", "path", "regularizer")
    __hash__ = TensorFlowVariable.__hash__

    def __init__(self, initializer: Any, shape: Any = None, dtype: Any = None,
                 trainable: bool = True, autocast: bool = True, aggregation: Any = "none",
                 synchronization: Any = "auto", name: str | None = None) -> None:
        kind = as_dtype(dtype or floatx())
        if callable(initializer):
            value = initializer(() if shape is None else tuple(shape), dtype=kind)
        else:
            value = initializer
        value = np.asarray(convert_to_tensor(value).value).astype(kind.name)
        self._trained = bool(trainable)
        super().__init__(value, trainable, dtype=kind)
        self.name = name or auto_name(type(self).__name__)
        self.path = "/".join([current_path(), self.name]).lstrip("/")
        self.regularizer: Any = None
        self.constraint: Any = None

    @property
    def trainable(self) -> bool:
        """Return whether training changes it."""
        return self._trained

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trained = bool(value)

    @property
    def value(self) -> Any:
        """Return the variable, as TensorFlow has it behind Keras's. To this package it is the
        value itself, as of all tensors.
        """
        return HELD.__get__(self) if inside(_getframe(1).f_code.co_filename) else self

    @value.setter
    def value(self, new: Any) -> None:
        HELD.__set__(self, new)

    @property
    def dtype(self) -> DType:
        """Return the type."""
        return KerasDType(super().dtype.name)

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    def assign(self, value: Any) -> Any:  # type: ignore[override]
        """Set a new state, and return it."""
        super().assign(value)
        return self.read_value()

    def assign_add(self, delta: Any) -> Any:  # type: ignore[override]
        """Add to the state, and return it."""
        super().assign_add(delta)
        return self.read_value()

    def assign_sub(self, delta: Any) -> Any:  # type: ignore[override]
        """Subtract from the state, and return it."""
        super().assign_sub(delta)
        return self.read_value()

    def __repr__(self) -> str:
        return (f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype},"
                f" value={np.asarray(self.value)}>")

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.value, self.dtype.name, self.watched, self.name, self.path,
                       self.trainable)


def default_seed() -> int:
    """Return the seed of what is given none.

    Python's numbers are drawn as Keras draws them, so that those behind are the same.
    """
    random.randint(1, 10**9)
    return next_seed(None)


class SeedGenerator:
    """Seeds, one after the other, as keras.random.SeedGenerator: a variable that training keeps."""

    def __init__(self, seed: Any = None, name: str | None = None) -> None:
        self.name = name or auto_name("seed_generator")
        first = default_seed() if seed is None else int(seed)
        with name_scope(self.name, self):
            self.state = Variable(np.asarray([first, 0]), dtype="int64", trainable=False,
                                  name="seed_generator_state")

    def next(self, ordered: bool = True) -> int:
        """Return the next seed."""
        seed, number = self.state.numpy().tolist()
        self.state.assign([seed, number + 1])
        return (int(seed) * 1_000_003 + int(number) * 7_919) % 2**31


def _made(value: Any, dtype: str, watched: bool, name: str, path: str, trainable: bool) -> Variable:
    made = Variable(value, dtype=dtype, trainable=watched, name=name)
    made.path, made.trainable = path, trainable
    return made
