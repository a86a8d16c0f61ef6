"""The reverse sweep once more, with zeros that absorb an infinite slope.

Where a selection or a constant factor 0 made a cotangent 0, the value behind it is not used: its
derivative is 0, whatever the slopes say. The ordinary sweep multiplies that 0 by an infinite slope
and gets NaN (`where(x > 0, log(x), 0)` at 0). So a sweep that ends in NaN is run again by this one,
which carries beside each cotangent a mask of where it is alive: 0 where it is 0 by construction. A
zero that arithmetic made (1/inf) stays alive, since what it stands for is unknown.

TensorFlow does this for sqrt, and for every zero there. Its selections hand back 0 to what they do
not take, whatever the upstream is, but what is behind them multiplies that 0. So does this sweep
with `as_tensorflow`.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES, active
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.reverse import cotangents, operands, shaped_like, slope
from gradcli.engine.sweeps.reverse import reverse as swept
from gradcli.ops.kinds import BILINEAR, FLAT, LINEAR
from gradcli.ops.values import has_nan, is_complex, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.engine.sweeps.reverse import Shares

# Selections whose gradient TensorFlow selects, too; that of relu is a product.
SELECTED_IN_TENSORFLOW = frozenset((
    "where", "clip", "maximum", "minimum", "multiply_no_nan", "divide_no_nan", "sign"))


def reverse(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Collection[int],
            *, emit: bool = False, as_tensorflow: bool = False) -> dict[int, Any]:
    """Return adjoints of `sources` as the ordinary reverse sweep does, but with absorbing zeros.

    Each source is treated as if it were the only one: which factor 0 is a constant depends on what
    varies. as_tensorflow: whether zeros absorb only where TensorFlow's do.
    """
    varying: set[int] = set()
    found = swept(entries, seeds, sources, emit=emit,
                  shares=absorbed(seeds, as_tensorflow, varying))
    for i in [i for i, g in found.items() if emit or has_nan(g)]:
        if len(sources) > 1 and differs_alone(entries, i, varying):
            found.update(swept(
                entries, seeds, [i], emit=emit, shares=absorbed(seeds, as_tensorflow)))
    return found


def differs_alone(entries: Sequence[Entry], source: int, varying: set[int]) -> bool:
    """Return whether zeros absorb more in a sweep for this source alone than in that for several,
    which met the factors 0 `varying`: one of them is constant for it.
    """
    return bool(varying) and not varying <= active(entries, [source])


def absorbed(seeds: Mapping[int, Any], as_tensorflow: bool = False,
             varying: set[int] | None = None) -> Shares:
    """Return the function of shares for one sweep from these seeds in which zeros absorb.

    as_tensorflow: whether zeros absorb only where TensorFlow's do. varying: receives the ids of
    factors that are 0 somewhere and depend on a source.
    """
    alive: dict[int, Any] = {i: _of_seed(g) for i, g in seeds.items()}
    # The same without factors, for what is recorded: a 0 that is constant here may vary in the
    # next derivative, a choice will not.
    used: dict[int, Any] = {i: None if getattr(g, "id", None) is not None else alive[i]
                            for i, g in seeds.items()}
    met = set(seeds)

    def shares(entry: Entry, g: Any, reached: set[int], recorded: bool
               ) -> Iterable[tuple[int, Any]]:
        live, kept = alive.pop(entry[OUT]), used.pop(entry[OUT])
        if entry[OP].name == "sqrt":
            live = _of_seed(g)
        elif as_tensorflow:
            live = None
        inside, masks = _masks(entry, live, reached, as_tensorflow, varying)
        within, keeps = _masks(entry, kept, reached, as_tensorflow, None, factors=False) if (
            recorded and masks and not as_tensorflow) else ({}, [])

        def mended(k: int, c: Any) -> Any:
            if _is_product(entry[OP]) and has_nan(c):
                c = _where_alive(entry, k, g, live, c, recorded)
            mask = inside.get(k)
            return c if mask is None else _only(c, mask, within.get(k), recorded)

        for k, (i, c) in enumerate(cotangents(
                entry, g, reached, recorded, mended if inside else None)):
            mask = masks[k] if masks else None
            keep = keeps[k] if keeps else None
            _meet(alive, i, mask, i in met)
            _meet(used, i, keep, i in met)
            met.add(i)
            yield i, c if mask is None else _only(c, mask, keep, recorded)

    return shares


def _meet(alive: dict[int, Any], i: int, mask: Any, again: bool) -> None:
    """Add to the mask of a value where one more share of its cotangent is alive."""
    if again:
        before = alive[i]
        mask = None if mask is None or before is None else _any(before + mask)
    alive[i] = mask


def _of_seed(g: Any) -> Any:
    """Return a mask of where a cotangent is not 0; None: everywhere."""
    value = np.asarray(value_of(g))
    if value.all():
        return None
    return Tensor((value != 0).astype("float64"), None, g.batch if isinstance(g, Tensor) else 0)


def _any(mask: Any) -> Any:
    value = np.asarray(value_of(mask))
    return Tensor((value != 0).astype("float64"), None,
                  mask.batch if isinstance(mask, Tensor) else 0)


def _only(c: Any, mask: Any, keep: Any, recorded: bool) -> Any:
    """Return the cotangent where it is alive, 0 elsewhere.

    A recorded one stays where it is a 0 of its own and no selection made it: the factor that did
    may vary, and then so does it.
    """
    from gradcli.ops.table.discrete import greater
    from gradcli.ops.table.elementwise import where

    if recorded:
        fine = ~np.isnan(value_of(c))
        if fine.all() and keep is None:
            return c
        mask = mask + Tensor(fine.astype("float64"), None, c.batch if type(c) is Tensor else 0)
        if keep is not None:
            mask = mask * keep
    return where(greater(mask, 0.0), c, 0.0)


def _masks(entry: Entry, live: Any, reached: set[int], as_tensorflow: bool,
           varying: set[int] | None, factors: bool = True) -> tuple[dict[int, Any], list[Any]]:
    """Return masks of where shares of the cotangent are alive.

    The first are by operand, before they are summed to its shape; the second for each share that
    `cotangents` returns, after that. An operand that occurs twice has two; no list: all are alive.

    live: mask of the result.
    reached: ids that a derivative reaches.
    as_tensorflow: whether zeros absorb only where TensorFlow's do.
    varying: receives the ids of factors that are 0 somewhere and depend on a source.
    factors: whether constant factors that are 0 absorb.
    """
    op, ids = entry[OP], entry[IDS]
    inside: dict[int, Any] = {}
    out: list[Any] = []
    if op.kind == FLAT or (as_tensorflow and live is None and not op.elementwise):
        return inside, out
    if op.elementwise or (_is_product(op) and not as_tensorflow):
        for k, i in enumerate(ids):
            if i is None or i not in reached or not op.edge(k):
                continue
            constant = [] if as_tensorflow or not factors else _constant(entry, k, reached, varying)
            if op.elementwise:
                selects = op.name in SELECTED_IN_TENSORFLOW if as_tensorflow else (
                    bool(constant) or "selecting" in op.traits)
                mask = _of_elements(entry, live, k, selects)
            else:
                mask = _of_product(entry, live, k, constant)
            inside[k] = mask
            out.append(None if mask is None else _fitted(entry, mask, k))
    elif op.kind == LINEAR or "ordering" in op.traits:
        out = [_any(mask) for _, mask in cotangents(
            entry, _everywhere(entry) if live is None else live, reached, False)]
    elif live is not None and not np.asarray(value_of(live)).any():
        out = [Tensor(np.zeros(shape_of(value_of(c))), None,
                      c.batch if isinstance(c, Tensor) else 0)
               for _, c in cotangents(entry, live, reached, False)]
    return inside, out


def _is_product(op: Any) -> bool:
    """Return whether an operation is linear in each of its operands."""
    return bool(op.kind == BILINEAR or op.name == "contraction")


def _of_elements(entry: Entry, live: Any, k: int, selects: bool) -> Any:
    """Return a mask of where an alive result of an elementwise operation uses operand k."""
    if not selects:
        return live
    *xs, ans = operands(entry, False)
    s = slope(entry[OP], k, xs, ans)
    chosen = Tensor((np.asarray(value_of(s)) != 0).astype("float64"), None,
                    s.batch if isinstance(s, Tensor) else 0)
    if value_of(chosen).all():
        return live
    return (_everywhere(entry) if live is None else live) * chosen


def _everywhere(entry: Entry) -> Tensor:
    return Tensor(np.ones(shape_of(entry[ANS])), None, entry[BATCH][-1] if entry[BATCH] else 0)


def _of_product(entry: Entry, live: Any, k: int, constant: Sequence[int]) -> Any:
    """Return a mask of where an alive result of an operation that is linear in each operand uses
    operand k: not where it multiplies it by a constant 0.
    """
    used = {j: np.asarray(entry[VALUES][j]) != 0 for j in constant}
    if live is None and all(u.all() for u in used.values()):
        return None
    return _any(_share(entry, k, _everywhere(entry) if live is None else live, used))


def _share(entry: Entry, k: int, g: Any, used: Mapping[int, Any]) -> Any:
    """Return the share of `g` that a product hands back to operand k, the others replaced by masks
    or by ones. It is not 0 where some element is used: the numbers are chosen so that no two
    cancel.
    """
    *xs, ans = operands(entry, False)
    for j, x in enumerate(xs):
        if j != k:
            mask = used.get(j, True)
            xs[j] = Tensor(mask * _uneven(shape_of(value_of(x))), None,
                           x.batch if isinstance(x, Tensor) else 0)
    value = value_of(g)
    return _part(entry, k, Tensor(value * _uneven(shape_of(value)), None, g.batch), ans, xs)


def _part(entry: Entry, k: int, g: Any, ans: Any, xs: Sequence[Any]) -> Any:
    op: Any = entry[OP]
    if op.by_parts:
        return op.rules[0](g, ans, *xs, **entry[ATTRIBUTES])[k]
    return op.rules[k](g, ans, *xs, **entry[ATTRIBUTES])


def _uneven(shape: Sequence[int]) -> Any:
    return np.random.default_rng(0).uniform(1.0, 2.0, shape)


def _where_alive(entry: Entry, k: int, g: Any, live: Any, c: Any, recorded: bool) -> Any:
    """Return the share of a product without the infinities that meet no element that is alive.

    g, live: the cotangent of the result, and its mask.
    c: the share of operand k.
    recorded: whether it is recorded.
    """
    from gradcli.ops.table.discrete import greater
    from gradcli.ops.table.elementwise import where

    wild = {j: ~np.isfinite(v) for j, v in enumerate(entry[VALUES])
            if j != k and not np.isfinite(v).all()}
    if live is None or not wild or is_complex(entry[ANS]):
        return c
    *xs, ans = operands(entry, recorded)
    met: Any = 0.0
    for j, mask in wild.items():
        xs[j] = where(Tensor(~mask, None, getattr(xs[j], "batch", 0)), xs[j], 0.0)
        met = met + np.abs(value_of(_share(entry, k, live, {j: mask})))
    tame = _part(entry, k, g, ans, xs)
    return where(greater(Tensor(met, None, getattr(c, "batch", 0)), 0.0), c, tame)


def _constant(entry: Entry, k: int, reached: set[int], varying: set[int] | None) -> list[int]:
    """Return the factors of operand k in a product that do not depend on the sources.

    Where these are 0 the operand is not used.
    """
    op = entry[OP]
    if op.name != "multiply" and not _is_product(op):
        return []
    found = []
    for j, i in enumerate(entry[IDS]):
        if j == k:
            continue
        if i not in reached:
            found.append(j)
        elif varying is not None and i is not None and not np.all(entry[VALUES][j]):
            varying.add(i)
    return found


def _fitted(entry: Entry, mask: Any, k: int) -> Any:
    """Return a mask of the result's shape summed back to the operand's, as the cotangent is."""
    *xs, _ = operands(entry, False)
    return _any(shaped_like(mask, xs[k], entry, k, mask))
