"""Which elements of the sources each element of a value depends on.

A pattern is a table of sets in compressed rows, and for each element of the value the number of its
set. So values that move, repeat or spread copy no set, and a value of which all elements depend on
all sources takes one.
"""

from __future__ import annotations

from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Unions of more elements than this are not worked out: every element gets the union of all.
MAX_ELEMENTS = 20_000_000


class Pattern:
    """sets: for each element of the value, in its shape, the number of its set. starts, columns:
    set k is columns[starts[k]:starts[k + 1]], ascending; set 0 is empty. width: of how many source
    elements there are.
    """

    __slots__ = ("columns", "sets", "starts", "width")

    def __init__(self, sets: Any, starts: Any, columns: Any, width: int) -> None:
        self.sets = sets
        self.starts = starts
        self.columns = columns
        self.width = width

    def moved(self, sets: Any) -> Pattern:
        """Another value whose elements have some of these sets."""
        return Pattern(sets, self.starts, self.columns, self.width)

    def rows(self) -> tuple[Any, Any]:
        """(elements, columns) of all pairs, element by element, columns ascending."""
        sets = self.sets.ravel()
        counts = np.diff(self.starts)[sets]
        return (np.repeat(np.arange(len(sets)), counts),
                self.columns[_spans(self.starts[sets], counts)])

    def full(self) -> bool:
        """Whether every element depends on everything."""
        return bool((np.diff(self.starts)[self.sets] == self.width).all())

    def count(self) -> int:
        """How many pairs there are."""
        return int(np.diff(self.starts)[self.sets].sum())


def identity(shape: Sequence[int], first: int, width: int) -> Pattern:
    """The pattern of a source whose elements are numbered from `first`, of `width` in all."""
    n = 1
    for length in shape:
        n *= length
    starts = np.concatenate(([0], np.arange(n + 1)))
    return Pattern(np.arange(1, n + 1).reshape(shape), starts, np.arange(first, first + n), width)


def gathered(patterns: Sequence[Pattern], where: Any) -> Pattern:
    """A value whose element is one of those of several values, or none.

    where: in the shape of the value, 0 for none, else one more than the place of the element in all
    values flattened, one behind the other.
    """
    table = Joined(patterns)
    sets = np.concatenate([np.zeros(1, np.int64), *[s.ravel() for s in table.sets]])
    return Pattern(sets[where], table.starts, table.columns, patterns[0].width)


def union(patterns: Sequence[Pattern], shape: Sequence[int]) -> Pattern:
    """Element by element, with broadcasting to a shape."""
    found = patterns[0]
    for other in patterns[1:]:
        found = _either(found, other, np.broadcast_shapes(found.sets.shape, other.sets.shape))
    return _spread(found, tuple(shape))


def _spread(pattern: Pattern, shape: tuple[int, ...]) -> Pattern:
    return pattern if pattern.sets.shape == shape else pattern.moved(
        np.broadcast_to(pattern.sets, shape))


def _either(a: Pattern, b: Pattern, shape: tuple[int, ...]) -> Pattern:
    a, b = _spread(a, shape), _spread(b, shape)
    left, right = a.sets, b.sets
    if a is b or a.full() or (a.columns is b.columns and np.array_equal(left, right)):
        return a
    if b.full():
        return b
    # Few pairs of sets may stand in many elements.
    pairs, which = np.unique(left.ravel() * len(b.starts) + right.ravel(), return_inverse=True)
    first, second = pairs // len(b.starts), pairs % len(b.starts)
    made = grouped([a, b], [np.arange(len(pairs))] * 2, [first, second], (len(pairs),))
    sizes = np.diff(made.starts)[made.sets]
    # Where one holds the other it stays itself, so that equal patterns are the same.
    if np.array_equal(sizes, np.diff(a.starts)[first]):
        return a
    if np.array_equal(sizes, np.diff(b.starts)[second]):
        return b
    return made.moved(made.sets[which.reshape(shape)])


def grouped(patterns: Sequence[Pattern], outs: Sequence[Any], sets: Sequence[Any],
            shape: Sequence[int]) -> Pattern:
    """A value of this shape whose element `outs[k][i]` depends on set `sets[k][i]` of pattern k,
    for all i and k; dense where that is too much to tell.
    """
    width = patterns[0].width
    table = Joined(patterns)
    size = int(np.prod(shape, dtype=np.int64))
    out = np.concatenate([np.ravel(o) for o in outs])
    moved = np.concatenate([
        np.where(s > 0, s + shift, 0) for s, shift in zip(sets, table.shifts, strict=True)])
    counts = np.diff(table.starts)[moved]
    total = int(counts.sum())
    if total > MAX_ELEMENTS:
        return dense([Pattern(np.ravel(s), p.starts, p.columns, width)
                      for s, p in zip(sets, patterns, strict=True)], shape)
    keys = np.repeat(out, counts) * width + table.columns[_spans(table.starts[moved], counts)]
    keys = distinct(keys)
    rows = keys // max(width, 1)
    starts = np.concatenate(([0, 0], np.cumsum(np.bincount(rows, minlength=size))))
    return Pattern(np.arange(1, size + 1).reshape(shape), starts, keys - rows * width, width)


def dense(patterns: Sequence[Pattern], shape: Sequence[int]) -> Pattern:
    """Every element depends on all that the values depend on."""
    used = np.zeros(patterns[0].width, bool)
    for p in patterns:
        known = np.zeros(len(p.starts) - 1, bool)
        known[p.sets.ravel()] = True
        counts = np.where(known, np.diff(p.starts), 0)
        used[p.columns[_spans(p.starts[:-1], counts)]] = True
    columns = np.flatnonzero(used)
    return Pattern(np.ones(tuple(shape), np.int64), np.array([0, 0, len(columns)]), columns,
                   patterns[0].width)


class Joined:
    """Several patterns with one table: shifts: what to add to a set's number."""

    __slots__ = ("columns", "sets", "shifts", "starts")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        tables: dict[int, int] = {}
        starts, columns = [np.zeros(1, np.int64)], []
        rows = held = 0
        self.shifts = []
        for p in patterns:
            if id(p.columns) not in tables:
                tables[id(p.columns)] = rows
                starts.append(p.starts[1:] + held)
                columns.append(p.columns)
                rows += len(p.starts) - 1
                held += len(p.columns)
            self.shifts.append(tables[id(p.columns)])
        self.starts = np.concatenate(starts) if len(columns) > 1 else patterns[0].starts
        self.columns = np.concatenate(columns) if len(columns) > 1 else patterns[0].columns
        self.sets = [np.where(p.sets > 0, p.sets + shift, 0) if shift else p.sets
                     for p, shift in zip(patterns, self.shifts, strict=True)]


def distinct(keys: Any) -> Any:
    """The different numbers of an array, ascending."""
    if not len(keys):
        return keys
    keys = np.sort(keys)
    return keys[np.concatenate(([True], keys[1:] != keys[:-1]))]


def _spans(starts: Any, counts: Any) -> Any:
    """The places starts[k], starts[k] + 1, ... of each span, one behind the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + counts, counts)
