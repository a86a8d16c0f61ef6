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
from gradcli.ops.values import has_nan, shape_of
from gradcli.sweeps.reach import active
from gradcli.sweeps.reverse import cotangents, operands, shaped_like, slope
from gradcli.sweeps.reverse import reverse as swept
from gradcli.tape.record import ANS, BATCH, IDS, OP, OUT, VALUES
from gradcli.tape.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.sweeps.reverse import Shares
    from gradcli.tape.record import Entry

# Elementwise operations whose slope is 0 where they do not use the operand.
SELECTING = frozenset((
    "where", "maximum", "minimum", "clip", "relu", "relu6", "threshold", "copysign"))


def reverse(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Collection[int],
            *, emit: bool = False, guard_sqrt: bool = False) -> dict[int, Any]:
    """Adjoints of `sources` as `gradcli.sweeps.reverse.reverse` gives them, zeros absorbing, for
    each source as if it were the only one: which factor 0 is a constant depends on what varies.

    guard_sqrt: only at sqrt.
    """
    varying: set[int] = set()
    found = swept(entries, seeds, sources, emit=emit,
                  shares=absorbed(seeds, guard_sqrt, varying))
    for i in [i for i, g in found.items() if emit or has_nan(g)]:
        if len(sources) > 1 and differs_alone(entries, i, varying):
            found.update(swept(entries, seeds, [i], emit=emit, shares=absorbed(seeds, guard_sqrt)))
    return found


def differs_alone(entries: Sequence[Entry], source: int, varying: set[int]) -> bool:
    """Whether zeros absorb more in a sweep for this source alone than in that for several, which
    met the factors 0 `varying`: one of them is constant for it.
    """
    return bool(varying) and not varying <= active(entries, [source])


def absorbed(seeds: Mapping[int, Any], guard_sqrt: bool = False,
             varying: set[int] | None = None) -> Shares:
    """What each operand gets of a cotangent where zeros absorb, for one sweep from these seeds.

    varying: takes the ids of factors that are 0 somewhere and depend on a source.
    """
    alive: dict[int, Any] = {i: _of_seed(g) for i, g in seeds.items()}
    met = set(seeds)

    def shares(entry: Entry, g: Any, reached: set[int], recorded: bool
               ) -> Iterable[tuple[int, Any]]:
        live = alive.pop(entry[OUT])
        if entry[OP].name == "sqrt":
            live = _of_seed(g)
        elif guard_sqrt:
            live = None
        masks = _masks(entry, live, reached, guard_sqrt, varying)
        for k, (i, c) in enumerate(cotangents(entry, g, reached, recorded)):
            mask = masks[k] if masks else None
            if i in met:
                before = alive[i]
                alive[i] = None if mask is None or before is None else _any(before + mask)
            else:
                met.add(i)
                alive[i] = mask
            yield i, c if mask is None else _only(c, mask, recorded)

    return shares


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


def _only(c: Any, mask: Any, recorded: bool) -> Any:
    """The cotangent where it is alive, 0 elsewhere. A recorded one stays where it is a 0 of its
    own: what made it 0 may vary, and then so does it.
    """
    from gradcli.ops.discrete import greater
    from gradcli.ops.elementwise import where

    if recorded:
        fine = ~np.isnan(value_of(c))
        if fine.all():
            return c
        mask = mask + Tensor(fine.astype("float64"), None, c.batch if type(c) is Tensor else 0)
    return where(greater(mask, 0.0), c, 0.0)


def _masks(entry: Entry, live: Any, reached: set[int], guard_sqrt: bool,
           varying: set[int] | None) -> list[Any]:
    """For each share that `cotangents` gives where it is alive; no list: as they all are. An
    operand that stands twice has two.
    """
    op, ids = entry[OP], entry[IDS]
    out: list[Any] = []
    if op.kind == FLAT or (live is None and not op.elementwise):
        return out
    if op.elementwise:
        *xs, ans = operands(entry, False)
        for k, i in enumerate(ids):
            if i is None or i not in reached or not op.edge(k):
                continue
            mask = live
            if not guard_sqrt and _may_select(entry, k, reached, varying):
                s = slope(op, k, xs, ans)
                chosen = Tensor((np.asarray(value_of(s)) != 0).astype("float64"), None,
                                s.batch if isinstance(s, Tensor) else 0)
                if not value_of(chosen).all():
                    whole = Tensor(np.ones(shape_of(entry[ANS])), None,
                                   entry[BATCH][-1] if entry[BATCH] else 0)
                    mask = (whole if live is None else live) * chosen
            out.append(None if mask is None else _fitted(entry, mask, k))
    elif op.kind == LINEAR:
        out = [_any(mask) for _, mask in cotangents(entry, live, reached, False)]
    elif not np.asarray(value_of(live)).any():
        out = [Tensor(np.zeros(shape_of(value_of(c))), None,
                      c.batch if isinstance(c, Tensor) else 0)
               for _, c in cotangents(entry, live, reached, False)]
    return out


def _may_select(entry: Entry, k: int, reached: set[int], varying: set[int] | None) -> bool:
    """Whether a slope 0 in operand k means that the operand is not used."""
    op = entry[OP]
    if op.name != "multiply":
        return op.name in SELECTING
    # A factor that does not depend on the sources is a constant one.
    factor = entry[IDS][1 - k]
    if factor in reached and varying is not None and not np.all(entry[VALUES][1 - k]):
        varying.add(factor)
    return factor not in reached


def _fitted(entry: Entry, mask: Any, k: int) -> Any:
    """A mask of the answer's shape summed back to the operand's, as the cotangent is."""
    *xs, _ = operands(entry, False)
    return _any(shaped_like(mask, xs[k], entry, k, mask))
