"""Tensor: a value with an identity, and the operators that record.

`Tensor(value, id, batch)`: a Python number or array, its permanent id (None: not on any record,
such as the cotangents of a bare sweep) and how many leading axes are batch axes. It holds no
reference to the record. Applying an operation to tensors goes through `apply`.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops import discrete, elementwise, shapes
from gradcli.ops.kinds import INT64, Op
from gradcli.ops.values import SCALAR_TYPES, dtype_of, shape_of
from gradcli.tape import record as records
from gradcli.tape.record import fresh_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.ops.values import Shape


class Tensor:
    """A recorded value; see the module."""

    __slots__ = ("batch", "id", "value")
    __array_ufunc__ = None  # NumPy must leave `array * tensor` to `Tensor.__rmul__`
    __hash__ = object.__hash__

    def __init__(self, value: Any, id: int | None, batch: int = 0) -> None:
        self.value = value
        self.id = id
        self.batch = batch

    @property
    def dtype(self) -> str:
        return dtype_of(self.value)

    @property
    def shape(self) -> Shape:
        """The core shape: batch axes not included."""
        return shape_of(self.value)[self.batch:]

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        return apply(op, args, attributes)

    def __repr__(self) -> str:
        return f"Tensor({self.value!r})"

    def __add__(self, other: Any) -> Any:
        return elementwise.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return elementwise.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return elementwise.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return elementwise.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return elementwise.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return elementwise.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return elementwise.divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return elementwise.divide(other, self)

    def __pow__(self, other: Any) -> Any:
        return elementwise.power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return elementwise.power(other, self)

    def __mod__(self, other: Any) -> Any:
        return elementwise.mod(self, other)

    def __floordiv__(self, other: Any) -> Any:
        return discrete.floor_divide(self, other)

    def __neg__(self) -> Any:
        return elementwise.negative(self)

    def __abs__(self) -> Any:
        return elementwise.absolute(self)


def leaf(value: Any) -> Tensor:
    """A new source: a value that no operation made."""
    return Tensor(value, fresh_id())


def value_of(x: Any) -> Any:
    """The plain value of a tensor or of a plain value."""
    return x.value if type(x) is Tensor else x


def core_shape(x: Any) -> Shape:
    """The shape without batch axes, of a tensor or a plain value."""
    return x.shape if type(x) is Tensor else shape_of(x)


def apply(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Compute `op` and record it if an operand is on a record.

    Raises E0301 (shapes), E0302 (types that do not mix) and what the row itself raises.
    """
    batch = 0
    tracked = False
    for a in args:
        if type(a) is Tensor:
            tracked = tracked or a.id is not None
            batch = max(batch, a.batch)
    values = [a.value if type(a) is Tensor else a for a in args]
    if len(args) > 1:
        values = one_dtype(op, args, values)
    if batch and op.elementwise:
        args, values = _aligned(args, values)
    record = records.current()
    cores: list[int] | None = None
    if not op.elementwise:
        cores = [
            len(shape_of(v)) - (a.batch if type(a) is Tensor else 0)
            for a, v in zip(args, values, strict=True)]
        if op.prepare is not None:
            core_shapes = [
                shape_of(v)[len(shape_of(v)) - c:] for v, c in zip(values, cores, strict=True)]
            attributes = op.prepare(core_shapes, **{**op.attributes, **attributes})
        elif op.attributes:
            attributes = {**op.attributes, **attributes}
    ans = op.compute(values, attributes, cores)
    if op.batching:
        batch = _batch_after(op, batch, attributes)
    if not tracked:
        return Tensor(ans, None, batch)
    if record.max_entries is not None and len(record.entries) >= record.max_entries:
        raise error("E0401", f"the record grew beyond {record.max_entries:,} entries",
                    help="take derivatives of a lower order, or raise --max-steps")
    number = fresh_id()
    if record.scalar and not all(type(v) in SCALAR_TYPES for v in (ans, *values)):
        record.scalar = False
    ids = tuple([a.id if type(a) is Tensor else None for a in args])
    batches: tuple[int, ...] = ()
    if batch or any(type(a) is Tensor and a.batch for a in args):
        batches = (*[a.batch if type(a) is Tensor else 0 for a in args], batch)
    record.entries.append(
        (op, number, ids, tuple(values), ans, attributes, record.place, batches))
    return Tensor(ans, number, batch)


def one_dtype(op: Op, args: Sequence[Any], values: list[Any]) -> list[Any]:
    """Operands of one type: a plain number takes the type of the tensors beside it.

    Raises E0302 where two tensors differ, or a fraction meets an integer tensor.
    """
    dtype = ""
    for k, a in enumerate(args):
        if type(a) is Tensor and a.id is not None and op.role(k) == "data":
            this = "float64" if type(a.value) is float else dtype_of(a.value)
            if dtype and this != dtype:
                raise _mixed(op, dtype, this)
            dtype = this
    if dtype == "float64":
        return [float(v) if type(v) is int and op.role(k) == "data" else v
                for k, v in enumerate(values)]
    if not dtype:
        return values
    out = list(values)
    for k, a in enumerate(args):
        if type(a) is not Tensor and op.role(k) == "data":
            out[k] = _as_dtype(a, dtype, op)
    return out


def _as_dtype(value: Any, dtype: str, op: Op) -> Any:
    if dtype in ("int64", "int32") and type(value) is float:
        if value != value // 1 or abs(value) >= INT64:
            raise error(
                "E0302", f"`{op.name}` mixes {dtype} with {value!r}, which is none",
                help="make the integer a float: float(...)")
        return int(value)
    return value


def _mixed(op: Op, first: str, second: str) -> Exception:
    whole = first if first not in ("float64", "float32") else second
    return error(
        "E0302", f"`{op.name}` mixes {first} with {second}; types are never cast silently",
        help="cast one side, such as float(...)" if whole not in ("float64", "float32")
        else f"cast one side: cast(..., \"{first}\")")


def _aligned(args: Sequence[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    """Give batched operands of lower core rank unit axes between batch and core.

    Broadcasting aligns axes from the right; without this a batch axis would meet a core axis.
    """
    rank = max(len(core_shape(a)) for a in args)
    out = [
        shapes.align(a, rank=rank)
        if type(a) is Tensor and a.batch and len(a.shape) < rank else a
        for a in args]
    return out, [
        a.value if type(a) is Tensor else v for a, v in zip(out, values, strict=True)]


def _batch_after(op: Op, batch: int, attributes: Mapping[str, Any]) -> int:
    if op.batching == "sum":
        return batch - int(attributes["count"])
    if op.batching == "spread":
        return batch + len(attributes["lengths"])
    if op.batching == "to core":
        return batch - 1
    return batch + 1  # "to batch"
