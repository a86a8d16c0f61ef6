"""Variables as TensorFlow's: a value with a state, under a name."""

from __future__ import annotations

from sys import _getframe

from gradcli.engine.record import tensor as engine
from gradcli.engine.record import variable as variables
from gradcli.engine.record.provenance import inside
from gradcli.tf.scopes import prefix
from gradcli.tf.tensor import Manners, Tensor, convert_to_tensor, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HELD: Any = vars(engine.Tensor)["value"]


class Variable(Manners, variables.Variable):
    """A value with a state, as tf.Variable.

    initial_value: a number, array, list, tensor, or function that gives one. synchronization,
    aggregation, caching_device and import_scope say nothing here. Raises E0208 for constraint and
    variable_def.
    """

    __slots__ = ("_handle_name",)
    __hash__ = variables.Variable.__hash__
    made = Tensor

    def __init__(self, initial_value: Any = None, trainable: bool | None = None,
                 validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
                 variable_def: Any = None, dtype: Any = None, import_scope: Any = None,
                 constraint: Any = None, synchronization: Any = None, aggregation: Any = None,
                 shape: Any = None, experimental_enable_variable_lifting: bool = True) -> None:
        for option, given in (("variable_def", variable_def), ("constraint", constraint)):
            if given is not None:
                raise refused("tf.Variable", option)
        if initial_value is None:
            raise ValueError("`initial_value` must be a Tensor or a Python object convertible to a"
                             " Tensor.")
        value = initial_value() if callable(initial_value) else initial_value
        value = convert_to_tensor(value, dtype)
        super().__init__(value, True if trainable is None else trainable, None,
                         f"{prefix()}{name or 'Variable'}:0")

    __format__ = object.__format__  # type: ignore[assignment]

    @property
    def value(self) -> Any:
        """Return the method that reads the variable. To this package it is the value itself, as of
        all tensors: the engine has a field where TensorFlow has a method.
        """
        if inside(_getframe(1).f_code.co_filename):
            return HELD.__get__(self)
        return self.read_value

    @value.setter
    def value(self, new: Any) -> None:
        HELD.__set__(self, new)

    def __repr__(self) -> str:
        return (f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name},"
                f" numpy={self._shown()}>")

    def read_value(self) -> Any:
        """Return a tensor of the present value, on the tape."""
        return super().read_value()

    def assign(self, value: Any, use_locking: bool = False, name: Any = None,
               read_value: bool = True) -> Variable:
        """Set a new state, and return the variable."""
        super().assign(_like(value, self))
        return self

    def assign_add(self, delta: Any, use_locking: bool = False, name: Any = None,
                   read_value: bool = True) -> Variable:
        """Add to the state, and return the variable."""
        super().assign_add(_like(delta, self))
        return self

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Any = None,
                   read_value: bool = True) -> Variable:
        """Subtract from the state, and return the variable."""
        super().assign_sub(_like(delta, self))
        return self

    def initialized_value(self) -> Any:
        """Return a tensor of the present value."""
        return self.read_value()

    def __reduce__(self) -> tuple[Any, ...]:
        return _variable, (self.value, self.trainable, self.name)


def _variable(value: Any, trainable: bool, name: str) -> Variable:
    made = Variable(Tensor(value, None), trainable)
    made.name = name
    return made


def _like(value: Any, variable: Variable) -> Any:
    """Return what a variable is assigned: numbers in its type."""
    return value if isinstance(value, engine.Tensor) else convert_to_tensor(value, variable.dtype)


# As TensorFlow calls it, for a program that prints the kind of what it has.
Variable.__name__ = "ResourceVariable"
