"""Variables: values with a state that can change, as tf.Variable.

A variable has one leaf id per state. Reading it inside a tape's block watches the present state;
its gradient is the sum over all states that a tape saw, so assigning changes no recorded gradient.
"""

from __future__ import annotations

from itertools import count

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.operators import PLAIN, slow
from gradcli.engine.record.record import fresh_id, place_in
from gradcli.engine.record.tensor import Tensor, leaf, operand
from gradcli.ops.kinds import NAMES
from gradcli.ops.table.discrete import cast_
from gradcli.ops.table.elementwise import positive
from gradcli.ops.values import (
    SCALAR_TYPES,
    broadcast_shape,
    cast,
    dtype_of,
    held,
    is_float,
    is_integer,
    plain,
    shape_of,
    show,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


# Of a number that an error shows.
MOST_LETTERS = 40
ASSIGNING = ("assign", "assign_add", "assign_sub")

_serial = count(1).__next__


def plain_value(value: Any, dtype: str | None = None) -> Any:
    """Return a number, array, tensor or nested list as the engine holds it.

    Raises E0302 for anything else and for rows of different lengths, E0306 where `dtype` does not
    fit, E0404 for numbers that no integer of the type is.
    """
    if isinstance(value, Tensor):
        value = value.value
    elif isinstance(value, str):
        if dtype not in (None, "string"):
            raise error("E0306", f"the text {value!r} is not {dtype}", help="give a number")
        return value
    elif type(value) is complex:
        value = np.asarray(value)
    elif type(value) not in SCALAR_TYPES:
        try:
            value = operand(value)
        except GradcliError:
            raise
        except ValueError:
            raise error("E0302", "the rows of this list have different lengths",
                        help="give every row as many numbers") from None
        value = value.value if isinstance(value, Tensor) else value
    large = type(value) is int or (type(value) not in SCALAR_TYPES and value.dtype == "uint64")
    try:
        if large and dtype in (None, "int64"):
            return cast(value, "int64")
        if dtype is None or dtype_of(value) == dtype:
            return value if type(value) in SCALAR_TYPES else np.array(value)
        return cast(value, dtype)
    except GradcliError:
        raise
    except OverflowError:
        name = dtype or "int64"
        text = str(value)
        what = f"`{text}`" if len(text) <= MOST_LETTERS else "the value"
        raise error("E0404", f"{what} cannot be cast to {name}", help=held(name)
                    if name.startswith("int") else "give a smaller number") from None
    except (ValueError, TypeError):
        raise error("E0306", f"the value is not {dtype}", help="give numbers of that type"
                    ) from None


def constant(value: Any, dtype: Any = None, name: str = "") -> Tensor:
    """Return a tensor that is never watched by itself, as tf.constant.

    value: a number, array, nested list or tensor, which stays on the tapes that watch it. dtype:
    such as "float32"; by default that of the value. Raises E0209 for a list with a tensor in it
    that a tape watches.
    """
    if isinstance(value, (list, tuple)):
        _check_list(value, "constant")
    elif isinstance(value, Tensor) and _is_watched():
        kind = dtype_name(dtype)
        kept: Tensor = positive(value) if kind in (None, dtype_of(value.value)) else cast_(
            value, dtype=kind)
        return kept
    made = leaf(plain_value(value, dtype_name(dtype)))
    trace = records.current().trace
    if trace is not None and made.id is not None:
        trace.born(made.id, "constant", 2, value.id if isinstance(value, Tensor) else None)
    return made


def _is_watched() -> bool:
    """Return whether a tape may watch the results of operations in Python code.

    A file says what it means by its own words, and its record keeps everything.
    """
    record = records.current()
    return not record.everything and not record.paused and bool(record.tapes or record.accumulators)


def _check_list(items: Sequence[Any], maker: str) -> None:
    if _is_watched():
        from gradcli.engine.record.leaving import check_list

        check_list(items, maker)


def dtype_name(dtype: Any) -> str | None:
    """Return the name of a type given as text, as NumPy's or Python's. Raises E0306 for no type."""
    if dtype is None or isinstance(dtype, str):
        found = dtype
    elif dtype in (float, int, bool, complex, str):
        found = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128",
                 "str": "string"}[dtype.__name__]
    else:
        try:
            found = np.dtype(dtype).name
        except TypeError:
            found = repr(dtype)
    if found is not None and found not in (
            "float64", "float32", "int64", "int32", "bool", "string", "complex128"):
        raise error("E0306", f"there is no type `{found}`",
                    help="float64, float32, int64, int32, bool, string or complex128")
    return found


class Variable(Tensor):
    """A value with a state, watched by a tape at its first reading if `trainable`.

    initial: a number, array or nested list (a tensor's value is copied, its path is not kept).
    Assigning keeps type and shape. Raises E0301 or E0306 for another shape or type, E0209 for a
    list with a tensor in it that a tape watches.
    """

    __slots__ = ("_first", "_seen", "assigned", "name", "serial", "watched")
    __hash__ = object.__hash__
    made: type[Tensor] = Tensor
    """The class of the tensors of its states."""

    def __init__(self, initial: Any, trainable: bool = True, dtype: Any = None, name: str = ""
                 ) -> None:
        if isinstance(initial, (list, tuple)):
            _check_list(initial, "Variable")
        super().__init__(plain_value(initial, dtype_name(dtype)), fresh_id())
        self.watched = trainable
        self.serial = _serial()
        self.name = name or f"Variable_{self.serial}"
        self._seen: Tensor | None = None
        self._first = self.made(self.value, self.id)
        self.assigned: Any = None  # the place of the latest assignment
        trace = records.current().trace
        if trace is not None and self.id is not None:
            trace.born(self.id, "variable" if trainable else "nontrainable", 2,
                       initial.id if isinstance(initial, Tensor) else None)

    @property
    def trainable(self) -> bool:
        """Return whether tapes watch it by themselves."""
        return self.watched

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.watched = value

    def origin(self) -> Tensor:
        """Return the tensor of its first state."""
        return self._first

    def read(self) -> Tensor:
        """Return the tensor of the present state; the tapes that are recording watch it."""
        try:
            record = records.local.current
        except AttributeError:
            record = records.current()
        for tape in record.tapes:
            tape.read(self)
        for reader in record.readers:
            reader.read(self)
        seen = self._seen
        if seen is None or seen.id != self.id:
            seen = self._seen = self.made(self.value, self.id)
        return seen

    def __copy__(self) -> Variable:
        """Return another variable of the same value; one identity would share the gradient."""
        make, given = self.__reduce__()
        made: Variable = make(*given)
        trace = records.current().trace
        if trace is not None and made.id is not None:
            trace.copied(made.id, self.id)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        made = memo[id(self)] = self.__copy__()
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Variable, (self.value, self.trainable, self.dtype.name, self.name)

    def read_value(self) -> Tensor:
        """Return a new tensor of the present value, linked to the variable."""
        made: Tensor = positive(self)
        return made

    def assign(self, value: Any) -> Variable:
        """Set a new state, and return the variable; not differentiable, the record stays."""
        return self._take("assign", value, value)

    def _take(self, verb: str, given: Any, value: Any) -> Variable:
        # A whole number of any size may be a float.
        new = plain_value(value, "float64" if type(value) is int and is_float(self.value) else None)
        before = self.id
        if shape_of(new) != shape_of(self.value):
            raise error("E0301", f"`{self.name}` has shape {show(self.shape)} and is assigned"
                        f" {show(shape_of(new))}", help="a variable keeps its shape")
        if dtype_of(new) != dtype_of(self.value):
            if isinstance(value, Tensor) or (
                    self.dtype in ("int64", "int32") and not _is_whole(new)):
                raise error("E0302", f"`{self.name}` is {self.dtype.name} and is assigned"
                            f" {dtype_of(new)}", help=f'cast it: cast(..., "{self.dtype.name}")')
            new = plain_value(new, self.dtype.name)
        self.value = new
        self.id = fresh_id()
        record = records.current()
        self.assigned = record.place
        if record.trace is not None and self.id is not None:
            taken = given.id if isinstance(given, Tensor) else None
            record.trace.states.append(
                (self.id, place_in(record, 3), verb, taken, before, self._first.id))
        for tape in record.tapes:
            tape.read(self)
        for accumulator in record.accumulators:
            accumulator.assigned(self)
        if record.everything and not record.paused:
            # Under a tape that watches everything a derivative with respect to the variable is one
            # with respect to its first state: all others are linked to that.
            record.entries.append((positive, self.id, (self._first.id,), (new,), new, PLAIN,
                                   record.place, ()))
            record.portable = False
            if type(new) not in SCALAR_TYPES:
                record.entries.scalar = False
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add to the state, and return the variable."""
        return self._take("assign_add", delta, self._moved("add", delta))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract from the state, and return the variable."""
        return self._take("assign_sub", delta, self._moved("subtract", delta))

    def _moved(self, name: str, delta: Any) -> Any:
        given = plain_value(delta)
        if isinstance(delta, Tensor) and dtype_of(given) != self.dtype:
            raise error("E0302", f"`{self.name}` is {self.dtype.name} and the change is"
                        f" {dtype_of(given)}", help=f'cast it: cast(..., "{self.dtype.name}")')
        if self.shape and shape_of(given):
            broadcast_shape(f"assign_{name[:3]}", [self.shape, shape_of(given)])
        if type(self.value) is float and type(given) is float:
            return self.value + given if name == "add" else self.value - given
        if is_integer(self.value) and is_integer(given):
            return NAMES[name].compute([self.value, given], {})
        with quiet():
            new = self.value + given if name == "add" else self.value - given
        return plain(new)

    def __repr__(self) -> str:
        return f"Variable({self.value!r}, name={self.name!r})"


def _is_whole(value: Any) -> bool:
    if type(value) in SCALAR_TYPES:
        return bool(value == value // 1)
    return bool(np.all(value == np.floor(value)))


slow(Variable)
