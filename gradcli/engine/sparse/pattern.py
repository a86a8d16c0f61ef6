"""Patterns: for each element of a value the elements of the sources that it depends on.

A pattern is a table of sets in compressed rows, and for each element of the value the number of its
set. So values that move, repeat or spread copy no set, and a value of which all elements depend on
all sources takes one.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    VALUES,
    leading,
    window,
)
from gradcli.engine.sparse import moves
from gradcli.ops.kinds import BILINEAR, GENERAL, LINEAR, Op
from gradcli.ops.values import is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

# Unions of more elements than this are not worked out: every element gets the union of all.
MAX_ELEMENTS = 20_000_000


class Pattern:
    """The sets of source elements that the elements of a value depend on.

    sets: for each element of the value, in its shape, the number of its set.
    starts, columns: set k is columns[starts[k]:starts[k + 1]], ascending; set 0 is empty.
    width: the number of source elements.
    """

    __slots__ = ("columns", "sets", "starts", "width")

    def __init__(self, sets: Any, starts: Any, columns: Any, width: int) -> None:
        self.sets = sets
        self.starts = starts
        self.columns = columns
        self.width = width

    def moved(self, sets: Any) -> Pattern:
        """Return the pattern of another value whose elements have some of these sets."""
        return Pattern(sets, self.starts, self.columns, self.width)

    def rows(self) -> tuple[Any, Any]:
        """Return (elements, columns) of all pairs, element by element, columns ascending."""
        sets = self.sets.ravel()
        counts = np.diff(self.starts)[sets]
        return (np.repeat(np.arange(len(sets)), counts),
                self.columns[_spans(self.starts[sets], counts)])

    def full(self) -> bool:
        """Return whether every element depends on everything."""
        return bool((np.diff(self.starts)[self.sets] == self.width).all())

    def count(self) -> int:
        """Return the number of pairs."""
        return int(np.diff(self.starts)[self.sets].sum())


def identity(shape: Sequence[int], first: int, width: int) -> Pattern:
    """Return the pattern of a source with elements numbered from `first`, of `width` in all."""
    n = 1
    for length in shape:
        n *= length
    starts = np.concatenate(([0], np.arange(n + 1)))
    return Pattern(np.arange(1, n + 1).reshape(shape), starts, np.arange(first, first + n), width)


def gathered(patterns: Sequence[Pattern], where: Any) -> Pattern:
    """Return the pattern of a value whose elements each come from one of several values, or none.

    where: in the shape of the value, 0 for none, else one more than the index of the element in all
    values flattened, one behind the other.
    """
    table = Joined(patterns)
    sets = np.concatenate([np.zeros(1, np.int64), *[s.ravel() for s in table.sets]])
    return Pattern(sets[where], table.starts, table.columns, patterns[0].width)


def union(patterns: Sequence[Pattern], shape: Sequence[int]) -> Pattern:
    """Return the union of patterns, element by element, with broadcasting to a shape."""
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
    """Return the pattern of a value of this shape whose element `outs[k][i]` depends on set
    `sets[k][i]` of pattern k, for all i and k; dense where that is too many.
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
    """Return the pattern in which every element depends on all that the values depend on."""
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
    """Several patterns with one table. shifts: the addends to the numbers of the sets."""

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
    """Return the different numbers of an array, ascending."""
    if not len(keys):
        return keys
    keys = np.sort(keys)
    return keys[np.concatenate(([True], keys[1:] != keys[:-1]))]


def _spans(starts: Any, counts: Any) -> Any:
    """Return the indices starts[k], starts[k] + 1, ... of each span, one behind the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + counts, counts)


# --------------------------------------------------------------------------------------------------
# Which elements of a source each value of the record depends on, found on the record of one run.
#
# A pattern is one of structure: it holds wherever the program takes the same way, not only at the
# point where it ran. Hardly any row has a rule of its own here. Elementwise rows unite the patterns
# of their operands; how a linear row moves elements is found by running it on numbers; a row with
# an
# `axis` works along that, a large product of matrices along rows and columns; of anything else each
# element depends on all elements of the operands.
#
# Source of the method: Griewank and Walther, Evaluating Derivatives (2008), section 7.1, there
# called index domains.

def patterns(entries: Sequence[Entry], sources: Mapping[int, Pattern], targets: Iterable[int],
             varying: Collection[int | None] = ()) -> dict[int, Pattern]:
    """Return the patterns of `targets`, given those of `sources` by id.

    A target that no path reaches has no item in the result.

    varying: ids of values that are others at another point where the patterns have to hold, too;
    all other constants count as they are.
    """
    targets = list(targets)
    entries = window(entries, sources, targets)
    needed = leading(entries, targets)
    found = dict(sources)
    united: dict[Any, Pattern] = {}
    for entry in entries:
        if entry[OUT] in needed:
            made = of_entry(entry, found, united, varying)
            if made is not None:
                found[entry[OUT]] = made
    return {i: found[i] for i in targets if i in found}


def of_entry(entry: Entry, known: Mapping[int, Pattern], united: dict[Any, Pattern],
             varying: Collection[int | None] = ()) -> Pattern | None:
    """Return the pattern of an entry from those of its operands; None if it depends on no source.

    united: patterns (by identity) to their union, which sweeps need again and again. varying: as in
    `patterns`.
    """
    op, shape = entry[OP], shape_of(entry[ANS])
    given = {k: known[i] for k, i in enumerate(entry[IDS])
             if i is not None and i in known and op.edge(k)}
    if not given or not is_float(entry[ANS]):
        return None
    if op.elementwise:
        parts = list(dict.fromkeys(given.values()))
        key = (shape, *parts)
        if key not in united:
            united[key] = union(parts, shape)
        return united[key]
    if is_own(op):
        return dense(list(given.values()), shape)
    found = None
    others = [k for k, i in enumerate(entry[IDS]) if i in varying and k not in given and op.edge(k)]
    if op.kind == LINEAR:
        found = _moved(entry, given, others)
    product = op.name in ("matmul", "contraction")
    if product and all(k in others or np.all(v) for k, v in enumerate(entry[VALUES])):
        found = _multiplied(entry, given, shape)
    if found is None and (op.kind in (LINEAR, BILINEAR) or product):
        found = _added(entry, given, others, shape)
    if found is None and product:
        found = _multiplied(entry, given, shape)
    if found is None and "axis" in op.attributes:
        found = _along(entry, given, shape)
    return found or dense(list(given.values()), shape)


def is_own(op: Any) -> bool:
    """Return whether a user wrote the gradient of an operation: then its structure is unknown."""
    return type(op) is not Op or (op.kind == GENERAL and op.jvp is None)


def _moved(entry: Entry, given: Mapping[int, Pattern], varying: Collection[int]) -> Pattern | None:
    """Return the pattern of a linear row whose elements come from one each, else None."""
    where = moves.gathered(entry, list(given), varying)
    if where is None:
        return None
    some = next(iter(given.values()))
    data = [k for k in range(len(entry[IDS])) if entry[OP].edge(k)]
    return gathered([
        given[k] if k in given else some.moved(np.zeros(shape_of(entry[VALUES][k]), np.int64))
        for k in data], where)


def _added(entry: Entry, given: Mapping[int, Pattern], varying: Collection[int],
           shape: Sequence[int]) -> Pattern | None:
    """Return the pattern of a row that is linear in each operand and adds elements, else None."""
    links = moves.pairs(entry, list(given), varying)
    if links is None:
        return None
    parts = [given[k] for k, _, _ in links]
    return grouped(parts, [outs for _, outs, _ in links], [
        p.sets.ravel()[places] for p, (_, _, places) in zip(parts, links, strict=True)], shape)


def _along(entry: Entry, given: Mapping[int, Pattern], shape: Sequence[int]) -> Pattern | None:
    """Return the pattern of a row with an axis, or several: each element depends on all that differ
    from it in their index along these alone. None for other rows.
    """
    axis = entry[ATTRIBUTES]["axis"]
    axes = (axis,) if isinstance(axis, int) else axis
    parts = list(given.values())
    inner = parts[0].sets.shape
    if axes is None or any(p.sets.shape != inner for p in parts):
        return None
    lines = _lines(union(parts, inner), axes)
    outs = lines.sets if len(shape) == len(inner) else np.squeeze(lines.sets, axis=axes)
    if any(n not in (1, m) for n, m in zip(outs.shape, shape, strict=True)):
        return None
    return lines.moved(np.broadcast_to(outs, shape))


def _lines(pattern: Pattern, axes: Sequence[int]) -> Pattern:
    """Return the union of the sets of all elements along some axes; these axes get length 1."""
    inner = pattern.sets.shape
    kept = tuple(1 if k - len(inner) in axes else n for k, n in enumerate(inner))
    lines = np.arange(np.prod(kept, dtype=np.int64)).reshape(kept)
    made = grouped([pattern], [np.broadcast_to(lines, inner)], [pattern.sets.ravel()],
                   (lines.size,))
    return made.moved(made.sets[lines])


def _multiplied(entry: Entry, given: Mapping[int, Pattern], shape: Sequence[int]
                ) -> Pattern | None:
    """Return the pattern of a sum of products over named axes: an element depends on all elements
    of an operand that have its index along the axes that both have.
    """
    if entry[BATCH]:
        return None
    terms, output = (_of_matmul([len(shape_of(v)) for v in entry[VALUES]])
                     if entry[OP].name == "matmul" else _named(entry[ATTRIBUTES]["subscripts"]))
    parts = []
    for k, pattern in given.items():
        term = terms[k]
        lines = _lines(pattern, [i - len(term) for i, c in enumerate(term) if c not in output])
        lengths = dict(zip(term, lines.sets.shape, strict=True))
        kept = [c for c in term if c in output]
        order = [kept.index(c) for c in output if c in kept]
        sets = lines.sets.reshape([lengths[c] for c in kept]).transpose(order)
        parts.append(lines.moved(sets.reshape([lengths.get(c, 1) for c in output])))
    return union(parts, shape)


def _named(subscripts: str) -> tuple[list[str], str]:
    inputs, output = subscripts.split("->")
    return inputs.split(","), output


def _of_matmul(ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the subscripts of a product of matrices: of the operands, and of the result."""
    a, b = ranks
    stacks = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:max(a, b, 2) - 2]
    left = stacks[len(stacks) - a + 2:] + "ik" if a > 1 else "k"
    right = stacks[len(stacks) - b + 2:] + "kj" if b > 1 else "k"
    return [left, right], stacks + "i" * (a > 1) + "j" * (b > 1)
