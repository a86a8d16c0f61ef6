"""A recorded program over arrays, run again at single points on arrays that are laid out once.

Each value has its array before the first run, so a statement is a NumPy function with fixed
operands and `out=`; views of other arrays (slices, transposes, broadcasts) cost nothing at all.
Memory is used again as soon as nobody reads what was in it. An array with a short last axis has its
longest axis innermost: NumPy's loops over a short axis cost 15 ns for each turn of the others.

A sweep in several directions at once records operations with axes in front of the core, which rows
are told to leave alone. Most do just that with axes of their own in front: then the entry is one
without batch axes, for which there may be a view or a function that writes where it is told to.
That it is the same is seen by running both on random numbers.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.compiled.graph import lowered, on_cores
from gradcli.engine.compiled.single_rows import SINGLE, Into, View
from gradcli.engine.compiled.statements import (
    Constant,
    Statements,
    frozen,
    select,
    simplified,
    typed,
)
from gradcli.engine.compiled.trace import Doubtful, Elsewhere
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    fresh_id,
)
from gradcli.engine.sweeps.extremes import LARGE, LARGE_32, faint
from gradcli.ops import NAMES
from gradcli.ops.table.linalg import LETTERS
from gradcli.ops.values import SCALAR_TYPES, is_integer, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.compiled.statements import Operand, Step
    from gradcli.engine.compiled.trace import Trace
    from gradcli.engine.record.record import Entry
    from gradcli.ops.kinds import Op


class Builder:
    """Statements for one point as they are found: without an axis of points, broadcasting is
    NumPy's own.

    known: id to the number of its value.
    """

    __slots__ = ("known", "statements")

    def __init__(self, recorded: Trace) -> None:
        self.known: dict[int | None, int] = {i: k for k, i in enumerate(recorded.inputs)}
        self.statements = Statements([np.asarray(value) for value in recorded.inputs.values()])
        for entry in recorded.steps:
            for part in unbatched(entry):
                self.known[part[OUT]] = self._number(part)

    def graph(self, wanted: Sequence[int | None]) -> Statements:
        """Return the statements whose answers are these values."""
        found = self.statements
        found.answers = [k for k in wanted if k is not None]
        typed(found, found.samples)
        return simplified(found)

    def _number(self, entry: Entry) -> int:
        op: Op = entry[OP]
        operands: list[Operand] = [
            self.known[i] if i in self.known else Constant(v)
            for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        if op.elementwise:
            return lowered(entry, operands, lambda function, operands, key: self.statements.put(
                function, operands, key=key))
        function = None
        if op.name in SINGLE and not entry[BATCH] and isinstance(operands[0], int) and (
                not is_integer(entry[ANS])):
            function = SINGLE[op.name](entry, operands)
        batches = entry[BATCH][:-1] or (0,) * len(operands)
        cores = [len(shape_of(v)) - b for v, b in zip(entry[VALUES], batches, strict=True)]
        return self.statements.put(
            function or on_cores(entry, cores, entry[ATTRIBUTES]), operands, key=(
                op, entry[BATCH], frozen(sorted(entry[ATTRIBUTES].items()))))


class Replay:
    """Runs a recorded program at single points; not for two threads at a time. flushed: in the last
    run a number left the range of floats.
    """

    __slots__ = ("answers", "calls", "flushed", "inputs")

    def __init__(self, recorded: Trace) -> None:
        builder = Builder(recorded)
        known = builder.known
        guards = [(i, v) for i, v in recorded.guards if i in known]
        derivatives = [i for i in recorded.derivatives if i in known]
        found = builder.graph([known.get(i) for i in (
            *[i for i, _ in recorded.answers], *[i for i, _ in guards], *derivatives,
            *recorded.fragile())])
        numbers = iter([a for a in found.answers if isinstance(a, int)])
        wanted = [(next(numbers) if i in known else None, v) for i, v in recorded.answers]
        checks: dict[int, list[Callable[..., Any]]] = {}
        for _, value in guards:
            checks.setdefault(next(numbers), []).append(_same(value))
        for _ in derivatives:
            checks.setdefault(next(numbers), []).append(_fine)
        with np.errstate(all="ignore"):
            laid = Layout(found, [k for k, _ in wanted if k is not None], checks)
        self.inputs = laid.arrays[:len(recorded.inputs)]
        self.calls = laid.calls
        self.flushed = False
        self.answers = [(None if k is None else laid.arrays[k], v) for k, v in wanted]

    def run(self, *values: Any) -> list[Any]:
        """Return the answers for values of the inputs; the caller may change them.

        Raises Elsewhere, Doubtful, and what operations raise for values that they refuse.
        """
        for array, value in zip(self.inputs, values, strict=True):
            array[...] = value
        self.flushed = False
        with np.errstate(all="ignore", over="call", under="call", call=self._flush):
            for function, operands, out in self.calls:
                if out is None:
                    function(*operands)
                else:
                    function(*operands, out=out)
            if self.flushed and self._is_extreme():
                raise Doubtful
        return [_given(array, value) for array, value in self.answers]

    def _flush(self, kind: str, flags: int) -> None:
        """Note what NumPy tells: an overflow or underflow."""
        self.flushed = True

    def _is_extreme(self) -> bool:
        """Run the calls and return whether a value is very large or very small: then slopes may
        have left the range of floats.
        """
        for function, operands, out in self.calls:
            if out is None:
                function(*operands)
                continue
            function(*operands, out=out)
            if _is_extreme(out):
                return True
        return any(map(_is_extreme, self.inputs)) or any(
            faint(array) for array, _ in self.answers if array is not None)


def _is_extreme(array: Any) -> bool:
    if array.dtype.kind != "f" or not array.size:
        return False
    limit, sizes = LARGE if array.dtype.char == "d" else LARGE_32, np.abs(array)
    return not sizes.max() < limit or bool(((sizes < 1.0 / limit) & (sizes > 0)).any())


def _given(array: Any, value: Any) -> Any:
    """Return an answer in the type that it has on the record. array: None for one that is constant.
    """
    if type(value) in SCALAR_TYPES or value is None:
        return value if array is None else array.item()
    return np.array(value if array is None else array, order="C")


def _same(expected: Any) -> Callable[..., Any]:
    def check(value: Any) -> None:
        if not np.array_equal(value, expected):
            raise Elsewhere

    return check


def _fine(value: Any) -> None:
    if np.isnan(value).any():
        raise Doubtful


# --------------------------------------------------------------------------------------------------
# Where the values of a single point are kept, and the calls that calculate them there.

# A loop of NumPy over a last axis shorter than this spends its time on the other axes.
SHORT = 32


class Layout:
    """Arrays of values by number, inputs first, and calls in order: (function, operands, out).

    Made by running the steps once. checks: number of a value to what is called with it as soon as
    it is there. kept: numbers of values that live to the end.
    """

    __slots__ = ("_free", "_memory", "arrays", "calls")

    def __init__(self, graph: Statements, kept: Iterable[int],
                 checks: Mapping[int, Sequence[Callable[..., Any]]]) -> None:
        values, steps = graph.samples, graph.steps
        self.arrays: list[Any] = [_arranged(value) for value in values]
        self.calls: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = []
        self._free: dict[Any, list[Any]] = {}
        self._memory: dict[int, Any] = {}
        last = _lifetimes(graph, kept)
        ends: dict[int, list[int]] = {}
        for root, k in last.items():
            ends.setdefault(k, []).append(root)
        for number in range(len(values)):
            self._check(number, checks)
        for k, step in enumerate(steps):
            number = len(values) + k
            self._add(number, step, ends.get(number, ()))
            self._check(number, checks)

    def _check(self, number: int, checks: Mapping[int, Sequence[Callable[..., Any]]]) -> None:
        for check in checks.get(number, ()):
            self.calls.append((check, (self.arrays[number],), None))

    def _add(self, number: int, step: Step, ended: Iterable[int]) -> None:
        function: Any = step.function
        operands = tuple([
            self.arrays[o] if isinstance(o, int) else _fixed(o) for o in step.operands])
        if isinstance(function, View):
            found = function.function(*operands)
            if np.may_share_memory(found, operands[0]):
                self.arrays.append(found)
                self._release(ended)
                return
            function = function.function
        if isinstance(function, np.ufunc) and function.signature is None:
            # Element by element the answer may stand where an operand stood.
            self._release(ended)
            ended = ()
        elif isinstance(function, Into):
            if function.zeroed:
                number = -1
            function = function.function
        elif function is not select and not isinstance(function, np.ufunc):
            function = _copied(function)
        out = self._array(number, step)
        function(*operands, out=out)
        self.arrays.append(out)
        self.calls.append((function, operands, out))
        self._release(ended)

    def _array(self, number: int, step: Step) -> Any:
        """Return the array of a value, in memory that is free; of number -1, in zeros of its own.
        """
        size = int(np.prod(step.shape))
        if number < 0:
            return _shaped(np.zeros(size, step.dtype), step.shape)
        free = self._free.get((size, step.dtype))
        memory = free.pop() if free else np.empty(size, step.dtype)
        self._memory[number] = memory
        return _shaped(memory, step.shape)

    def _release(self, ended: Iterable[int]) -> None:
        for number in ended:
            memory = self._memory.pop(number, None)
            if memory is not None:
                self._free.setdefault((memory.size, memory.dtype), []).append(memory)


def _lifetimes(graph: Statements, kept: Iterable[int]) -> dict[int, int]:
    """Return a dict from each value with memory of its own to the last step that reads it, views of
    it included; values that live to the end are left out.
    """
    roots = list(range(len(graph.samples)))  # per value the one whose memory it is in
    for number, step in enumerate(graph.steps, len(roots)):
        first = step.operands[0]
        shares = isinstance(step.function, View) and isinstance(first, int)
        roots.append(roots[first] if shares and isinstance(first, int) else number)
    uses = graph.last_uses()
    last: dict[int, int] = {}
    for number, root in enumerate(roots):
        last[root] = max(last.get(root, 0), uses.get(number, number))
    for number in kept:
        last.pop(roots[number], None)
    return last


def _arranged(value: Any) -> Any:
    """Return a copy of a value as an array of its own."""
    array = np.asarray(value)
    out = _shaped(np.empty(array.size, array.dtype), array.shape)
    out[...] = array
    return out


def _shaped(memory: Any, shape: Sequence[int]) -> Any:
    """Return memory as an array; one with a short last axis has its longest axis innermost."""
    order = list(range(len(shape)))
    if shape and shape[-1] < SHORT:
        order.sort(key=lambda k: shape[k])
    return memory.reshape([shape[k] for k in order]).transpose(
        [order.index(k) for k in range(len(shape))])


def _fixed(operand: Operand) -> Any:
    """Return a constant as the function of a step takes it."""
    assert isinstance(operand, Constant)
    return operand.value if type(operand.value) in SCALAR_TYPES else _arranged(operand.value)


def _copied(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*operands: Any, out: Any) -> None:
        found = function(*operands)
        if found.shape != out.shape:  # as many as there are distinct elements, or true ones
            raise Elsewhere
        np.copyto(out, found)

    return call


def unbatched(entry: Entry) -> list[Entry]:
    """Return the entries that replace this one: without batch axes, or itself."""
    op, batches = entry[OP], entry[BATCH]
    if not batches or op.elementwise or op.arrays is None:
        return [entry]
    if op.name == "align":
        return [_with(entry, NAMES["reshape"], {"shape": shape_of(entry[ANS])})]
    if op.name == "matmul" and batches == (0, 1, 1) and entry[VALUES][0].ndim == 2:
        return _one_product(entry)
    before = shape_of(entry[ANS])[:batches[-1]]
    changes: dict[str, Any] = {}
    for name, value in entry[ATTRIBUTES].items():
        if name == "shape":
            changes[name] = (*before, *value)
        elif name == "pattern":
            changes[name] = (*(slice(None),) * batches[-1], *value)
        elif name == "subscripts":
            changes[name] = _lettered(value, batches)
    found = _with(entry, op, {**entry[ATTRIBUTES], **changes})
    return [found] if _same_output(entry, found) else [entry]


def _lettered(subscripts: str, batches: Sequence[int]) -> str:
    """Return subscripts with letters for the batch axes too, which are aligned from the right."""
    free = [c for c in LETTERS if c not in subscripts][:max(batches)]
    inputs, output = subscripts.split("->")
    *terms, output = ["".join(free[len(free) - n:]) + term for n, term in zip(
        batches, (*inputs.split(","), output), strict=True)]
    return ",".join(terms) + "->" + output


def _with(entry: Entry, op: Op, attributes: Mapping[str, Any]) -> Entry:
    return (op, entry[OUT], entry[IDS], entry[VALUES], entry[ANS], attributes, entry[PLACE], ())


def _one_product(entry: Entry) -> list[Entry]:
    """Return the entries of a matrix times many vectors as one product, where NumPy would make one
    for each.
    """
    (a_id, b_id), (a, b), ans = entry[IDS], entry[VALUES], entry[ANS]
    if b.ndim > 2 and (b.ndim > 3 or b.shape[-1] != 1):
        return [entry]
    reshape, place = NAMES["reshape"], entry[PLACE]
    flat, result = b.reshape(b.shape[:2]), ans.reshape(ans.shape[:2])
    turned, rows, product = fresh_id(), fresh_id(), fresh_id()
    transposed = (NAMES["transpose"], turned, (a_id,), (a,), a.T, {"axes": (-1, -2)}, place, ())
    if b_id is None and np.array_equal(flat, np.eye(len(flat))):  # all directions as they are
        return [transposed, (
            reshape, entry[OUT], (turned,), (a.T,), ans, {"shape": ans.shape}, place, ())]
    return [
        transposed,
        (reshape, rows, (b_id,), (b,), flat, {"shape": flat.shape}, place, ()),
        (entry[OP], product, (rows, turned), (flat, a.T), result, {}, place, ()),
        (reshape, entry[OUT], (product,), (result,), ans, {"shape": ans.shape}, place, ())]


def _same_output(entry: Entry, other: Entry) -> bool:
    random = np.random.default_rng(0)
    values = [random.uniform(1.0, 2.0, shape_of(v)) if entry[OP].role(k) == "data" else v
              for k, v in enumerate(entry[VALUES])]
    try:
        return bool(np.array_equal(_run(entry, values), _run(other, values)))
    except (GradcliError, ValueError, IndexError, TypeError):
        return False


def _run(entry: Entry, values: list[Any]) -> Any:
    batches = entry[BATCH] or (0,) * (len(values) + 1)
    arrays: Any = entry[OP].arrays
    return arrays([len(shape_of(v)) - b for v, b in zip(values, batches[:-1], strict=True)],
                  *values, **entry[ATTRIBUTES])
