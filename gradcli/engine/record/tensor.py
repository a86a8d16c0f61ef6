"""Tensors: values with an identity, and the application of operations to them.

`Tensor(value, id, batch)`: a Python number or array, its permanent id (None: not on any record,
such as the cotangents of a bare sweep) and the number of leading axes that are batch axes. It holds
no reference to the record. Applying an operation to tensors goes through `apply`; the operators of
Python numbers have a short path of their own in `engine.record.operators`.
"""

from __future__ import annotations

from sys import _getframe

from gradcli.base.errors import error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import operators
from gradcli.engine.record import record as records
from gradcli.engine.record.provenance import caller, result_kind, spots
from gradcli.engine.record.record import fresh_id, local
from gradcli.engine.record.saved import saved
from gradcli.ops.kinds import INT64, Op
from gradcli.ops.table import shapes
from gradcli.ops.values import FLOAT_DTYPES, SCALAR_TYPES, alike, dtype_of, plain, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.ops.values import Shape


class DType(str):
    """The name of a type: a text that also has it as `.name`, as the types of NumPy do."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return the name as a plain text."""
        return str(self)


class Tensor(operators.Operators):
    """A value with an identity; see the module. `gradcli.constant` makes one.

    It works with NumPy: `np.sin(x)` and `np.sum(x, axis=0)` are recorded like `gradcli.ops.sin`,
    plain arrays and numbers mix in, and `.numpy()`, `float()` and `int()` leave the tape.
    """

    __slots__ = ("batch", "id", "value")
    __hash__ = object.__hash__

    def __init__(self, value: Any, id: int | None, batch: int = 0) -> None:
        self.value = value
        self.id = id
        self.batch = batch

    @property
    def dtype(self) -> DType:
        """Return the name of the type: "float64", "float32", "int64", "int32", "bool", ..."""
        return DType(dtype_of(self.value))

    @property
    def shape(self) -> Shape:
        """Return the core shape: batch axes not included."""
        return shape_of(self.value)[self.batch:]

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        return apply(op, args, attributes)

    def read(self) -> Tensor:
        """Return the tensor itself; a variable returns the tensor of its present state."""
        return self

    def decides(self) -> Any:
        """Return the value, which decides which code runs next, and note it in `Record.guards` if
        one path of several is recorded: at another point it may be another one.
        """
        tensor, guards = self.read(), records.current().guards
        if guards is not None and tensor.id is not None:
            guards.append((tensor.id, tensor.value))
        return tensor.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def __copy__(self) -> Tensor:
        """Return the tensor itself: its value never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # An id of this process could be one of something else in the next.
        return leaf, (self.value,)


KINDS: set[type] = {Tensor}
"""Classes of tensors that are values; the result of an operation is of the operands' class, where
that has manners of its own.
"""


def leaf(value: Any) -> Tensor:
    """Return a new source: a value that no operation made."""
    return Tensor(value, fresh_id())


def value_of(x: Any) -> Any:
    """Return the plain value of a tensor or of a plain value."""
    return x.value if isinstance(x, Tensor) else x


def core_shape(x: Any) -> Shape:
    """Return the shape without batch axes, of a tensor or a plain value."""
    return x.shape if isinstance(x, Tensor) else shape_of(x)


def apply(op: Op, args: Sequence[Any], attributes: Mapping[str, Any], depth: int = 3) -> Any:
    """Compute `op` and record it if a tape or the record wants it.

    depth: the number of frames up to the code that called the operation. Raises E0301 (shapes),
    E0302 (types that do not mix) and what the row itself raises.
    """
    batch = 0
    made: type[Tensor] = Tensor
    values: Any = []
    ids: Any = []
    for a in args:
        kind = type(a)
        if kind is not Tensor:
            if kind not in KINDS and isinstance(a, Tensor):
                a = a.read()        # of a variable the present state, which has its id and value
                kind = type(a)
            if kind in KINDS:
                made = kind
            elif kind in SCALAR_TYPES or (
                    kind.__name__ == "ndarray" and (a.ndim or plain(a) is a)):
                values.append(a)
                ids.append(None)
                continue
            else:
                return apply(op, [operand(b) for b in args], attributes, depth + 1)
        if a.batch > batch:
            batch = a.batch
        values.append(a.value)
        ids.append(a.id)
    batches: tuple[int, ...] = ()
    if op.by_arrays and not batch and alike(values):
        ans = op.on_alike(values)
    else:
        op, args, values, attributes, cores = _readied(op, args, values, attributes, batch)
        ans = op.compute(values, attributes, cores)
        given = batch
        if op.batching:
            batch = _batch_after(op, batch, attributes)
        if batch or given:
            ids = [a.id if isinstance(a, Tensor) else None for a in args]
            batches = (*[a.batch if isinstance(a, Tensor) else 0 for a in args], batch)
    try:
        record = local.current
    except AttributeError:
        record = records.current()
    if record.checking:
        from gradcli.engine.record.checking import check

        check(ans, f"`{op.name}`", values, record.place)
    if None in ids and not any(ids):
        return made(ans, None, batch)
    out = made(ans, fresh_id(), batch)
    place, trace = record.place, record.trace
    if place is None and trace is not None:
        frame = _getframe(depth)
        try:
            place = spots[id(frame.f_code)][frame.f_lasti]
        except KeyError:
            place = caller(frame)[1]
    ids = tuple(ids)
    wanted = not record.seen.isdisjoint(ids) if record.short else record.wants(ids)
    if wanted or record.accumulators:
        record_operation(record, op, out, ids, values, attributes, batches, place, wanted)
    if not wanted and trace is not None:
        answer = 0.0 if type(ans) is float and not attributes else result_kind(ans, attributes)
        trace.push((op, out.id, ids, answer, place))
    return out


def _readied(op: Op, args: Sequence[Any], values: Sequence[Any], attributes: Mapping[str, Any],
             batch: int) -> tuple[Op, Sequence[Any], Sequence[Any], Mapping[str, Any], Any]:
    """Return an operation, its operands, their values, its attributes and core ranks, ready to be
    computed: values in one type, batch axes in line, attributes complete.
    """
    if not alike(values):
        if values and (_is_complex(values[0]) or (len(values) > 1 and _is_complex(values[-1]))):
            if "real_only" in op.traits:
                from gradcli.ops.table.complex_numbers import refuse

                raise refuse(op.name)
            op = op.on_complex or op
        if len(args) > 1:
            values = one_dtype(op, args, values)
    if op.elementwise:
        if batch:
            args, values = _aligned(args, values)
        return op, args, values, attributes, None
    cores = [
        len(shape_of(v)) - (a.batch if isinstance(a, Tensor) else 0)
        for a, v in zip(args, values, strict=True)]
    if op.prepare is not None:
        core_shapes = [
            shape_of(v)[len(shape_of(v)) - c:] for v, c in zip(values, cores, strict=True)]
        attributes = op.prepare(core_shapes, **{**op.attributes, **attributes})
    elif op.attributes:
        attributes = {**op.attributes, **attributes}
    return op, args, values, attributes, cores


def _is_complex(value: Any) -> bool:
    return type(value) not in SCALAR_TYPES and value.dtype.kind == "c"


def record_operation(record: records.Record, op: Op, out: Tensor, ids: tuple[int | None, ...],
                     values: Sequence[Any], attributes: Mapping[str, Any], batches: tuple[int, ...],
                     place: Any, wanted: bool) -> None:
    """Append the entry of an operation that ran, if it is wanted, and push it to the accumulators.

    ids, values, attributes, batches, place: as in an entry (see `gradcli.engine.record.record`);
    out is the result. Raises E0401 where the record is full.
    """
    number = out.id
    assert number is not None
    segment = record.entries
    if record.max_entries is not None and len(segment) >= record.max_entries:
        raise error("E0401", f"the record grew beyond {record.max_entries:,} entries",
                    help="take derivatives of a lower order, or raise --max-steps")
    ans = out.value
    if segment.scalar:
        for v in (ans, *values):
            if type(v) not in SCALAR_TYPES:
                segment.scalar = False
    if not segment.scalar and not record.everything:
        if not record.accumulators and record.guards is None:
            values, ans = saved(op, ids, values, ans)
        if None in ids and not record.in_rules:
            values = [_own(v) if i is None else v for v, i in zip(values, ids, strict=True)]
    entry = op, number, ids, tuple(values), ans, attributes, place, batches
    if wanted:
        segment.append(entry)
        if not record.everything:
            record.seen.add(number)
    if record.accumulators:
        record.push(entry)


def _own(value: Any) -> Any:
    """Return a copy of an array that the caller may change before the gradient is taken."""
    return value if type(value) in SCALAR_TYPES or not value.flags.writeable else value.copy()


def operand(value: Any) -> Any:
    """Return an operand from Python code, a tensor, number, array, or a list of these.

    Raises E0302 for anything else.
    """
    if isinstance(value, Tensor):
        return value.read()
    if type(value) in SCALAR_TYPES:
        return value
    if type(value) is complex:
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        if any(isinstance(v, (Tensor, list, tuple)) for v in value):
            items = [operand(v) for v in value]
            if any(isinstance(v, Tensor) for v in items):
                return shapes.stack(*items, axis=0)
        value = np.asarray(value)
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        array = np.asarray(value)
        if array.dtype.kind in "fiubc":
            return plain(array)
        if array.dtype.kind == "U":
            return plain(array) if array.ndim else str(array)
    raise error("E0302", f"an operand must be a tensor or numbers, not {_named(value)}",
                help="make it a tensor: gradcli.constant(...)")


def _named(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.40}"


def one_dtype(op: Op, args: Sequence[Any], values: Sequence[Any]) -> Sequence[Any]:
    """Return the operands in one type: a plain number or array takes the type of the tensors beside
    it.

    Raises E0302 where two tensors differ, a fraction meets an integer tensor or a number one of
    truth values. In a derivative rule they may: it chooses between plain numbers, which are
    float64, and the sweep casts its result.
    """
    dtype = ""
    for k, a in enumerate(args):
        if isinstance(a, Tensor) and a.id is not None and op.role(k) == "data":
            this = "float64" if type(a.value) is float else dtype_of(a.value)
            if dtype and this != dtype:
                if records.current().in_rules:
                    return values
                raise _mixed(op, dtype, this)
            dtype = this
    if dtype == "float64":
        return [
            v if type(v) is float or op.role(k) != "data"
            else float(v) if type(v) is int
            else v.astype("float64") if _is_other_float(v, args[k], "float64") else v
            for k, v in enumerate(values)]
    if not dtype or (dtype == "bool" and records.current().in_rules):
        return values
    out = list(values)
    for k, a in enumerate(args):
        if not isinstance(a, Tensor) and op.role(k) == "data":
            out[k] = _as_dtype(a, dtype, op)
    return out


def _is_other_float(value: Any, given: Any, dtype: str) -> bool:
    """Return whether a plain array of numbers has to change its type beside a tensor."""
    return (type(value) is not float and not isinstance(given, Tensor)
            and type(value) not in SCALAR_TYPES and value.dtype.kind in "fiu"
            and bool(value.dtype.name != dtype))


def _as_dtype(value: Any, dtype: str, op: Op) -> Any:
    if dtype == "bool":
        if dtype_of(value) in ("bool", "string"):
            return value
        raise error(
            "E0302", f"`{op.name}` mixes bool with {_shown(value)}, which is not bool",
            help="make the truth value a number: cast(..., \"float64\")")
    if dtype not in ("int64", "int32"):
        if not _is_other_float(value, None, dtype):
            return value
        with quiet():   # what is too large for the type becomes inf
            return value.astype(dtype)
    if type(value) is float or _is_other_float(value, None, dtype):
        with quiet():
            whole = np.asarray(value) // 1 == value
        if not np.all(whole) or np.any(np.abs(value) >= INT64):
            raise error(
                "E0302", f"`{op.name}` mixes {dtype} with {_shown(value)}, which is not {dtype}",
                help="make the integer a float: float(...)")
        return int(value) if type(value) is float else value.astype(dtype)
    return value


def _shown(value: Any) -> str:
    return repr(value) if type(value) in SCALAR_TYPES else f"an array of {dtype_of(value)}"


def _mixed(op: Op, first: str, second: str) -> Exception:
    whole = first if first not in FLOAT_DTYPES else second
    return error(
        "E0302", f"`{op.name}` mixes {first} with {second}; types are never cast silently",
        help="cast one side, such as float(...)" if whole not in FLOAT_DTYPES
        else f"cast one side: cast(..., \"{first}\")")


def _aligned(args: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Give batched operands of lower core rank unit axes between batch and core.

    Broadcasting aligns axes from the right; without this a batch axis would meet a core axis.
    """
    rank = max(len(core_shape(a)) for a in args)
    out = [
        shapes.align(a, rank=rank)
        if isinstance(a, Tensor) and a.batch and len(a.shape) < rank else a
        for a in args]
    return out, [
        a.value if isinstance(a, Tensor) else v for a, v in zip(out, values, strict=True)]


def _batch_after(op: Op, batch: int, attributes: Mapping[str, Any]) -> int:
    if op.batching == "sum":
        return batch - int(attributes["count"])
    if op.batching == "spread":
        return batch + len(attributes["lengths"])
    if op.batching == "to core":
        return batch - 1
    return batch + 1  # "to batch"


# ---- nested structures: lists, tuples and dictionaries of tensors --------------------------------


def flatten(structure: Any) -> list[Any]:
    """Return the leaves in order; dictionaries in their own order."""
    if isinstance(structure, dict):
        return [part for item in structure.values() for part in flatten(item)]
    if isinstance(structure, (list, tuple)):
        return [part for item in structure for part in flatten(item)]
    return [structure]


def like(structure: Any, leaves: Sequence[Any]) -> Any:
    """Return `leaves` in the structure that `flatten` took them from."""
    rest = iter(leaves)
    return _filled(structure, rest.__next__)


def _filled(structure: Any, following: Callable[[], Any]) -> Any:
    if isinstance(structure, dict):
        return {key: _filled(item, following) for key, item in structure.items()}
    if isinstance(structure, tuple):
        items = [_filled(item, following) for item in structure]
        named: Any = type(structure)
        return named(*items) if hasattr(structure, "_fields") else tuple(items)
    if isinstance(structure, list):
        return [_filled(item, following) for item in structure]
    return following()


def same(a: Any, b: Any) -> bool:
    """Return whether two structures have the same nesting."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return (isinstance(b, (list, tuple)) and len(a) == len(b)
                and all(same(x, y) for x, y in zip(a, b, strict=True)))
    return not isinstance(b, (dict, list, tuple))


operators.quicken(Tensor)
