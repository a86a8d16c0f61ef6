"""A recorded program as a graph of array statements: those that depend on the point.

The program ran at one point, its derivatives were recorded behind it. What does not depend on the
point is a number; what no answer needs is dropped; what is calculated twice is shared. What is left
can be run on a block of points at once (`gradcli.engine.compiled.blocks`): operations count their
axes from the right, so one more axis in front, that of the points, is all it takes.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.compiled.statements import (
    SAMPLE,
    Constant,
    Statements,
    frozen,
    pruned,
    simplified,
    typed,
)
from gradcli.engine.compiled.trace import mixes_points
from gradcli.engine.record.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES, ancestry
from gradcli.ops.kinds import checked, on_arrays
from gradcli.ops.table.linalg import contraction
from gradcli.ops.values import is_integer, plain, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.compiled.statements import Operand
    from gradcli.engine.record.record import Entry

    # Takes a function, its operands and a key for one that is made anew each time, gives the number
    # of the answer.
    Put = Callable[[Callable[..., Any], Sequence[Operand], Any], int]


def graph(entries: Sequence[Entry], inputs: Mapping[int, tuple[int, ...]],
          answers: Iterable[tuple[int | None, Any]]) -> Statements:
    """Return the statements that calculate some values from a point.

    entries: what ran at one point; batch axes, such as those of seeds, stay in front of the core of
    a value. inputs: ids of the values that a point gives, in order, to their shapes. answers:
    (id, value) of what is wanted; what does not depend on the point is answered by its value.
    """
    wanted = list(answers)
    needed = ancestry(entries, [i for i, _ in wanted])
    builder = Builder(inputs)
    for entry in entries:
        if entry[OUT] in needed:
            builder.add(entry)
    found = builder.statements
    found.answers = [builder.known[i] if i is not None and i in builder.known else Constant(value)
                     for i, value in wanted]
    found = pruned(found)
    typed(found, [np.repeat(sample[None], SAMPLE, axis=0) for sample in found.samples], 1)
    return simplified(found)


class Builder:
    """Statements as they are found.

    known: id to the number of its value. ranks: of each value at one point, batch axes included.
    """

    __slots__ = ("inputs", "known", "ranks", "statements")

    def __init__(self, inputs: Mapping[int, tuple[int, ...]]) -> None:
        self.inputs: dict[int, int] = {i: k for k, i in enumerate(inputs)}
        self.known = dict(self.inputs)
        self.ranks = [len(shape) for shape in inputs.values()]
        # What nobody reads can be anything.
        self.statements = Statements([np.ones(shape) for shape in inputs.values()])

    def add(self, entry: Entry) -> None:
        """Add the statement of one entry, if it depends on the point."""
        op, ids, values = entry[OP], entry[IDS], entry[VALUES]
        if not any(i in self.known for i in ids):
            return
        for i, value in zip(ids, values, strict=True):
            if i in self.inputs:
                self.statements.samples[self.inputs[i]] = np.asarray(value)
        operands: list[Operand] = [
            self.known[i] if i is not None and i in self.known else Constant(v)
            for i, v in zip(ids, values, strict=True)]
        rank = len(shape_of(entry[ANS]))
        if op.batching in ("to core", "to batch"):  # the same array, its axes counted otherwise
            assert isinstance(operands[0], int)
            number = operands[0]
        elif op.elementwise:
            number = self._elementwise(entry, operands, rank)
        else:
            number = self._on_cores(entry, operands, rank)
        self.known[entry[OUT]] = number

    def _put(self, function: Callable[..., Any], operands: Sequence[Operand], rank: int,
             key: Any = None) -> int:
        number = self.statements.put(function, operands, key=key)
        if number == len(self.ranks):
            self.ranks.append(rank)
        return number

    def _rank(self, operand: Operand) -> int:
        return self.ranks[operand] if isinstance(operand, int) else len(shape_of(operand.value))

    def _filled(self, operand: Operand, missing: int) -> Operand:
        """Put unit axes between the axis of points and those of a value: broadcasting aligns axes
        from the right, and a point must not meet an element.
        """
        if missing <= 0 or not isinstance(operand, int):
            return operand
        return self._put(_spread(missing), [operand], self.ranks[operand] + missing,
                         ("spread", missing))

    def _elementwise(self, entry: Entry, operands: Sequence[Operand], rank: int) -> int:
        highest = max(self._rank(o) for o in operands)
        return lowered(entry, [self._filled(o, highest - self._rank(o)) for o in operands],
                       lambda function, operands, key: self._put(function, operands, rank, key))

    def _on_cores(self, entry: Entry, operands: Sequence[Operand], rank: int) -> int:
        """Put an operation on whole cores, and return its number: all batch axes but that of the
        points align as on the tape.
        """
        op, attributes = entry[OP], dict(entry[ATTRIBUTES])
        batches = entry[BATCH][:-1] or (0,) * len(operands)
        cores = [self._rank(o) - b for o, b in zip(operands, batches, strict=True)]
        if mixes_points(entry, self.known):
            return self._put(_point_by_point(on_cores(entry, cores, attributes), [
                isinstance(o, int) for o in operands], shape_of(entry[ANS])), operands, rank,
                (op, tuple(cores), frozen(sorted(attributes.items()))))
        if op.batching:  # it counts batch axes from the left
            attributes["at"] += 1
        function = on_cores(entry, cores, attributes)
        if not op.batching:
            missing = [max(batches) - b for b in batches]
            if op is contraction:
                function = _by_row(function, [
                    None if isinstance(o, int) else m
                    for o, m in zip(operands, missing, strict=True)])
            operands = [self._filled(o, m) for o, m in zip(operands, missing, strict=True)]
        return self._put(function, operands, rank,
                         (op, tuple(cores), frozen(sorted(attributes.items()))))


def _spread(missing: int) -> Callable[..., Any]:
    def function(value: Any) -> Any:
        return value.reshape(value.shape[:1] + (1,) * missing + value.shape[1:])

    return function


def on_cores(entry: Entry, cores: Sequence[int], attributes: Mapping[str, Any]
             ) -> Callable[..., Any]:
    """Return the function of an operation on whole arrays; it counts its axes from the right."""
    ranks, named, arrays = list(cores), dict(attributes), entry[OP].arrays
    if is_integer(entry[ANS]):
        return checked(entry[OP], named, ranks)
    assert arrays is not None

    def function(*values: Any) -> Any:
        return np.asarray(plain(arrays(ranks, *values, **named)))

    return function


def _point_by_point(function: Callable[..., Any], varies: Sequence[bool], shape: Sequence[int]
                    ) -> Callable[..., Any]:
    """Return a function that calls one of the values of a single point for each point. varies:
    which operands have an axis of points. shape: of an answer. The result raises ValueError where
    one has another.
    """
    def called(*values: Any) -> Any:
        n = next(len(v) for v, many in zip(values, varies, strict=True) if many)
        found = np.stack([function(*[
            v[k] if many else v for v, many in zip(values, varies, strict=True)])
            for k in range(n)])
        if found.shape[1:] != shape:
            raise ValueError(found.shape)
        return found

    return called


def _by_row(function: Callable[..., Any], missing: Sequence[int | None]) -> Callable[..., Any]:
    """Return the function called with an axis of points for constants, too. Else `np.einsum` takes
    points and rows of a core as the rows of one matrix, and the digits of a product depend on how
    many these are. missing: of constants, how many batch axes they lack; None for others.
    """
    first = next(k for k, m in enumerate(missing) if m is None)

    def called(*values: Any) -> Any:
        n = len(values[first])
        return function(*[
            v if m is None else np.broadcast_to(v, (n, *(1,) * m, *shape_of(v)))
            for v, m in zip(values, missing, strict=True)])

    return called


# --------------------------------------------------------------------------------------------------
# A row's formula for arrays, taken apart into NumPy's ufuncs by running it on symbols.
#
# `lambda x: 1 / np.cosh(x)` calls `np.cosh` and `np.divide`, which a symbol sees through NumPy's
# own
# protocol. So each part can write into a buffer, and two formulas can share `cosh(x)`. A formula
# that looks at its values, or calls what is no ufunc, stays whole.

class Symbol(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for a value that varies; number: which one."""

    __slots__ = ("number", "put")

    def __init__(self, number: int, put: Put) -> None:
        self.number = number
        self.put = put

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout != 1:
            return NotImplemented
        return Symbol(self.put(ufunc, [
            o.number if isinstance(o, Symbol) else Constant(o) for o in operands], None), self.put)

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no value")


def lowered(entry: Entry, operands: Sequence[Operand], put: Put) -> int:
    """Put an elementwise entry, as the parts of its row's formula or as a whole, and return its
    number.
    """
    if is_integer(entry[ANS]):
        return put(checked(entry[OP]), operands, entry[OP])
    formula = on_arrays(entry[OP])
    try:
        found = formula(*[Symbol(o, put) if isinstance(o, int) else o.value for o in operands])
    except (GradcliError, TypeError, AttributeError, ValueError, IndexError):
        found = None
    return found.number if isinstance(found, Symbol) else put(formula, operands, None)
