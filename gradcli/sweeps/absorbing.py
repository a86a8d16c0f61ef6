"""The reverse sweep once more, with zeros that absorb an infinite slope.

Where a selection or a constant factor 0 made a cotangent 0, the value behind it is not used: its
derivative is 0, whatever the slopes say. The ordinary sweep multiplies that 0 by an infinite slope
and gets NaN (`where(x > 0, log(x), 0)` at 0). So a sweep that ends in NaN is run again by this one,
which carries beside each cotangent where it is alive: 0 where it is 0 by construction. A zero that
arithmetic made (1/inf) stays alive, for nobody knows what it stands for.

TensorFlow does this in one place, at sqrt, and for every zero there. So does this sweep, and with
`guard_sqrt` nothing else.
"""

from __future__ import annotations

from gradcli.ops.kinds import FLAT, LINEAR
from gradcli.ops.lazy import np
from gradcli.ops.values import shape_of
from gradcli.sweeps.reach import active, window
from gradcli.sweeps.reverse import cotangents, operands, slope
from gradcli.tape import record as records
from gradcli.tape.record import ANS, BATCH, IDS, OP, OUT, PLACE
from gradcli.tape.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.tape.record import Entry

# Elementwise operations whose slope is 0 where they do not use the operand.
SELECTING = frozenset((
    "where", "maximum", "minimum", "clip", "relu", "relu6", "threshold", "copysign"))


def reverse(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Iterable[int],
            *, emit: bool = False, guard_sqrt: bool = False) -> dict[int, Any]:
    """Adjoints of `sources` as `gradcli.sweeps.reverse.reverse` gives them, zeros absorbing.

    guard_sqrt: only at sqrt.
    """
    asked = set(sources)
    entries = window(entries, asked, seeds)
    reached = active(entries, asked)
    adjoints: dict[int, Any] = {i: g for i, g in seeds.items() if i in reached}
    alive: dict[int, Any] = {i: _of_seed(g) for i, g in adjoints.items()}
    wanted: dict[int, Any] = {}
    record = records.current()
    place, in_rules = record.place, record.in_rules
    record.in_rules = True
    try:
        for entry in reversed(entries):
            g = adjoints.pop(entry[OUT], None)
            if g is None:
                continue
            live = alive.pop(entry[OUT])
            if entry[OP].name == "sqrt":
                live = _of_seed(g)
            elif guard_sqrt:
                live = None
            if entry[OUT] in asked:
                wanted[entry[OUT]] = g
            record.place = entry[PLACE]
            masks = _masks(entry, live, reached, guard_sqrt)
            for i, c in cotangents(entry, g, reached, emit):
                mask = masks.get(i)
                if mask is not None:
                    c = _only(c, mask)
                if i in adjoints:
                    adjoints[i] = adjoints[i] + c
                    before = alive[i]
                    alive[i] = None if mask is None or before is None else _any(before + mask)
                else:
                    adjoints[i], alive[i] = c, mask
    finally:
        record.place, record.in_rules = place, in_rules
    wanted.update((i, adjoints[i]) for i in asked if i in adjoints)
    return wanted


def _of_seed(g: Any) -> Any:
    """Where a cotangent is not 0; None: everywhere."""
    value = np.asarray(value_of(g))
    if value.all():
        return None
    return Tensor((value != 0).astype("float64"), None, g.batch if isinstance(g, Tensor) else 0)


def _any(mask: Any) -> Any:
    value = np.asarray(value_of(mask))
    return Tensor((value != 0).astype("float64"), None,
                  mask.batch if isinstance(mask, Tensor) else 0)


def _only(c: Any, mask: Any) -> Any:
    """The cotangent where it is alive, 0 elsewhere."""
    from gradcli.ops.discrete import greater
    from gradcli.ops.elementwise import where

    return where(greater(mask, 0.0), c, 0.0)


def _masks(entry: Entry, live: Any, reached: set[int], guard_sqrt: bool) -> dict[int, Any]:
    """Per operand that a derivative reaches where its share of the cotangent is alive."""
    op, ids = entry[OP], entry[IDS]
    out: dict[int, Any] = {}
    if op.kind == FLAT or (live is None and not op.elementwise):
        return out
    if op.elementwise:
        *xs, ans = operands(entry, False)
        for k, i in enumerate(ids):
            if i is None or i not in reached or not op.edge(k):
                continue
            mask = live
            if not guard_sqrt and _may_select(entry, k, reached):
                s = slope(op, k, xs, ans)
                chosen = Tensor((np.asarray(value_of(s)) != 0).astype("float64"), None,
                                s.batch if isinstance(s, Tensor) else 0)
                if not value_of(chosen).all():
                    whole = Tensor(np.ones(shape_of(entry[ANS])), None,
                                   entry[BATCH][-1] if entry[BATCH] else 0)
                    mask = (whole if live is None else live) * chosen
            if mask is not None:
                out[i] = _shared(out, i, _fitted(entry, mask, reached, k))
    elif op.kind == LINEAR:
        for i, mask in cotangents(entry, live, reached, False):
            out[i] = _shared(out, i, _any(mask))
    elif not np.asarray(value_of(live)).any():
        for i, c in cotangents(entry, live, reached, False):
            out[i] = Tensor(np.zeros(shape_of(value_of(c))), None,
                            c.batch if isinstance(c, Tensor) else 0)
    return out


def _shared(masks: Mapping[int, Any], i: int, mask: Any) -> Any:
    """An operand that stands twice is alive where either share is."""
    return _any(masks[i] + mask) if i in masks else mask


def _may_select(entry: Entry, k: int, reached: set[int]) -> bool:
    """Whether a slope 0 in operand k means that the operand is not used."""
    op, ids = entry[OP], entry[IDS]
    if op.name in SELECTING:
        return True
    # A factor that does not depend on the sources is a constant one.
    return op.name == "multiply" and ids[1 - k] not in reached


def _fitted(entry: Entry, mask: Any, reached: set[int], k: int) -> Any:
    """A mask of the answer's shape summed back to the operand's, as the cotangent is."""
    from gradcli.sweeps.reverse import shaped_like

    *xs, _ = operands(entry, False)
    return _any(shaped_like(mask, xs[k], entry, k, mask))
