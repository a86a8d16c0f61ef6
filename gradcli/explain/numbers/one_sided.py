"""Derivatives to one side: what a step in a direction does where conventions decide a slope.

Of a composition of functions that have one-sided derivatives, the chain rule takes each along the
step that reaches it (A. Griewank, On stable piecewise linearization, Optimization Methods and
Software 28, 2013). An operation at a kink has the slope that it has a little along that step.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES
from gradcli.engine.record.tensor import value_of
from gradcli.engine.sweeps import tangent
from gradcli.ops.values import is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

# How far along a step, of the size of the operands: far from rounding, near to the point.
AHEAD = 1e-7
# What a slope may differ by that is taken so far ahead.
CLOSE = 1e-5
# Of more operations at kinks, or in longer records, all are told.
MOST_KINKS, MOST_ENTRIES = 30, 20_000


def decisive(entries: Sequence[Entry], at_kink: Mapping[int, Sequence[Any]], source: int,
             value: Any, targets: Sequence[int]) -> set[int]:
    """Those operations at kinks (by ids, with their operands) whose conventions decide a derivative
    of the targets in a source: one-sided slopes differ, or differ from the convention.
    """
    if len(at_kink) > MOST_KINKS or len(entries) > MOST_ENTRIES:
        return set(at_kink)
    found: set[int] = set()
    with quiet():
        for direction in directions(value):
            def along(step: Any, kinks: Collection[int]) -> Any:
                return _tangents(entries, {k: v for k, v in at_kink.items() if k in kinks}, source,
                                 step, targets)

            steps = (direction, -direction)
            right = [along(step, at_kink) for step in steps]
            if all(_same(along(step, ()), true) for step, true in zip(steps, right, strict=True)):
                continue
            alone = {k for k in at_kink if not all(
                _same(along(step, at_kink.keys() - {k}), true)
                for step, true in zip(steps, right, strict=True))}
            found |= alone or set(at_kink)
    return found


def directions(value: Any) -> list[Any]:
    """One for a number; of an array some in which no two elements are alike."""
    shape = shape_of(value)
    if not shape:
        return [1.0]
    n = int(np.prod(shape))
    return [np.cos(np.arange(n)*a + b).reshape(shape) for a, b in ((2.4, 0.5), (0.7, 1.9))]


def _tangents(entries: Sequence[Entry], ahead: Mapping[int, Sequence[Any]], source: int, step: Any,
              targets: Sequence[int]) -> list[Any]:
    """Of the targets, with the operations in `ahead` (and their operands) as they are along it."""
    carried = {source: step}
    for entry in entries:
        if any(i in carried for i in entry[IDS]):
            one = _ahead(entry, ahead[entry[OUT]], carried) if entry[OUT] in ahead else entry
            made = tangent.of_entry(one, carried, False)
            if made is not None:
                carried[entry[OUT]] = value_of(made)
    return [carried.get(i, 0.0) for i in targets]


def _ahead(entry: Entry, operands: Sequence[Any], carried: Mapping[int, Any]) -> Entry:
    """The same operation a little along the steps of its operands."""
    op = entry[OP]
    steps = [carried.get(i) if i is not None and is_float(v) else None
             for i, v in zip(entry[IDS], operands, strict=True)]
    largest = max([float(np.max(np.abs(s), initial=0.0)) for s in steps if s is not None],
                  default=0.0)
    if largest == 0 or largest - largest != 0:
        return entry
    size = max([1.0, *[float(np.max(np.abs(v), initial=0.0)) for v in operands if is_float(v)]])
    moved = [v if s is None else v + s*(AHEAD*size/largest)
             for v, s in zip(operands, steps, strict=True)]
    moved = [float(v) if type(old) is float else v for v, old in zip(moved, operands, strict=True)]
    ans = op.compute(moved, entry[ATTRIBUTES])
    new = list(entry)
    new[VALUES], new[ANS] = tuple(moved), ans
    one: Any = tuple(new)
    return one  # type: ignore[no-any-return]


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    for x, y in zip(a, b, strict=True):
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-300)
        if not np.all((np.abs(np.subtract(x, y)) <= CLOSE*size) | (x == y)):
            return False
    return True
