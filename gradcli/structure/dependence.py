"""Which elements of a source each value of the record depends on, found on the record of one run.

A pattern is one of structure: it holds wherever the program takes the same way, not only at the
point where it ran. Hardly any row has a rule of its own here. Elementwise rows unite the patterns
of their operands; how a linear row moves elements is found by running it on numbers; a row with an
`axis` works along that, a large product of matrices along rows and columns; of anything else each
element depends on all elements of the operands.

Source of the method: Griewank and Walther, Evaluating Derivatives (2008), section 7.1, there called
index domains.
"""

from __future__ import annotations

from gradcli.ops.kinds import BILINEAR, GENERAL, LINEAR, Op
from gradcli.ops.lazy import np
from gradcli.ops.values import is_float, shape_of
from gradcli.structure import moves
from gradcli.structure.pattern import Pattern, dense, gathered, grouped, union
from gradcli.sweeps.reach import leading, window
from gradcli.tape.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.tape.record import Entry


def patterns(entries: Sequence[Entry], sources: Mapping[int, Pattern], targets: Iterable[int],
             open: Collection[int | None] = ()) -> dict[int, Pattern]:
    """The patterns of `targets`, given those of `sources` by id. A target that no path reaches has
    no item in the result. open: ids of values that are others at another point where the patterns
    have to hold, too; else constants count as they are.
    """
    targets = list(targets)
    entries = window(entries, sources, targets)
    needed = leading(entries, targets)
    found = dict(sources)
    united: dict[Any, Pattern] = {}
    for entry in entries:
        if entry[OUT] in needed:
            made = of_entry(entry, found, united, open)
            if made is not None:
                found[entry[OUT]] = made
    return {i: found[i] for i in targets if i in found}


def of_entry(entry: Entry, known: Mapping[int, Pattern], united: dict[Any, Pattern],
             open: Collection[int | None] = ()) -> Pattern | None:
    """The pattern of an entry from those of its operands; None where it depends on no source.

    united: patterns (by identity) to their union, which sweeps ask for again and again.
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
    others = [k for k, i in enumerate(entry[IDS]) if i in open and k not in given and op.edge(k)]
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
    """Whether somebody wrote the gradient himself: then nothing is known of it."""
    return type(op) is not Op or (op.kind == GENERAL and op.jvp is None)


def _moved(entry: Entry, given: Mapping[int, Pattern], open: Collection[int]) -> Pattern | None:
    """Of a linear row whose elements each come from one of an operand."""
    where = moves.gathered(entry, list(given), open)
    if where is None:
        return None
    some = next(iter(given.values()))
    data = [k for k in range(len(entry[IDS])) if entry[OP].edge(k)]
    return gathered([
        given[k] if k in given else some.moved(np.zeros(shape_of(entry[VALUES][k]), np.int64))
        for k in data], where)


def _added(entry: Entry, given: Mapping[int, Pattern], open: Collection[int],
           shape: Sequence[int]) -> Pattern | None:
    """Of a row that is linear in each operand and adds some elements of each."""
    links = moves.pairs(entry, list(given), open)
    if links is None:
        return None
    parts = [given[k] for k, _, _ in links]
    return grouped(parts, [outs for _, outs, _ in links], [
        p.sets.ravel()[places] for p, (_, _, places) in zip(parts, links, strict=True)], shape)


def _along(entry: Entry, given: Mapping[int, Pattern], shape: Sequence[int]) -> Pattern | None:
    """Of a row with an axis, or several: each element depends on all that differ from it in their
    place along these alone.
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
    """What all elements along some axes depend on together; these axes get length 1."""
    inner = pattern.sets.shape
    kept = tuple(1 if k - len(inner) in axes else n for k, n in enumerate(inner))
    lines = np.arange(np.prod(kept, dtype=np.int64)).reshape(kept)
    made = grouped([pattern], [np.broadcast_to(lines, inner)], [pattern.sets.ravel()],
                   (lines.size,))
    return made.moved(made.sets[lines])


def _multiplied(entry: Entry, given: Mapping[int, Pattern], shape: Sequence[int]
                ) -> Pattern | None:
    """Of a sum of products over named axes: an element depends on all elements of an operand that
    have its place along the axes that both have.
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
    """The product of matrices by the names of its axes."""
    a, b = ranks
    stacks = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:max(a, b, 2) - 2]
    left = stacks[len(stacks) - a + 2:] + "ik" if a > 1 else "k"
    right = stacks[len(stacks) - b + 2:] + "kj" if b > 1 else "k"
    return [left, right], stacks + "i" * (a > 1) + "j" * (b > 1)
