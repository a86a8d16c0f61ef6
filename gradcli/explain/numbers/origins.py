"""Origins of NaN and infinity: forwards among the values, backwards among the cotangents.

Backwards the sweep is repeated on the full record, and each share of a cotangent is looked at once.
A share that is not finite although the cotangent was begins a trail, which later operations only
carry on. Zeros are followed too, for 0 times an infinite slope has its cause where the 0 was made.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES
from gradcli.engine.record.tensor import value_of
from gradcli.engine.sweeps.reverse import operands, slope
from gradcli.explain.elements import (
    TAKING,
    bad_index,
    element,
    finite,
    first_hit,
    has_inf,
    has_zero,
    is_nan,
    operands_at,
    plain_number,
)
from gradcli.explain.notes import observe_sweep
from gradcli.explain.numbers.cancelled import is_exact
from gradcli.ops.graph import reached
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.engine.sweeps.reverse import Shares
    from gradcli.explain.elements import Index

    Origins = dict[int, tuple["Origin | None", "Origin | None"]]

# Operations behind a guarded one that are computed again.
MAX_TRIED = 100
# Operations whose values are not used that are told together.
MOST_UNUSED = 4


class Root:
    """The operation that made the first value that is not finite, or the value that was given so.

    entry, index: the operation and the element; entry None: the value `leaf` (an id) itself, used
        by `user`.
    turned: the later operation that made NaN of an infinity.
    """

    __slots__ = ("entry", "index", "leaf", "turned", "user", "value")

    def __init__(self, entry: Entry | None, index: Index, leaf: int | None, value: Any,
                 turned: Entry | None = None, user: Entry | None = None) -> None:
        self.entry = entry
        self.index = index
        self.leaf = leaf
        self.value = value
        self.turned = turned
        self.user = user


class Origin:
    """The operation whose share of a finite cotangent was not finite.

    k, index: the argument and the element.
    upstream, slope: there, None where the operation is not elementwise; an upstream that is not
        finite is the sum of parts that were.
    zero_by: the operation that made the upstream 0.
    turned: the later operation that made NaN of it.
    beside: if the value is not used, further operations whose values are not.
    """

    __slots__ = ("beside", "entry", "index", "k", "slope", "turned", "upstream", "zero_by")

    def __init__(self, entry: Entry, k: int, index: Index, upstream: Any, slope: Any,
                 zero_by: Entry | None) -> None:
        self.entry = entry
        self.k = k
        self.index = index
        self.upstream = upstream
        self.slope = slope
        self.zero_by = zero_by
        self.turned: Entry | None = None
        self.beside: list[Origin] = []

    def unused(self) -> bool:
        """Return whether the value is one that a selection does not take."""
        return self.upstream is not None and self.upstream == 0 and self.zero_by is not None and (
            "selecting" in self.zero_by[OP].traits)

    def is_chosen(self) -> bool:
        """Return whether a selection is the reason why the value does not count."""
        by = self.turned or self.zero_by
        return by is not None and "selecting" in by[OP].traits

    def turned_by(self, entry: Entry) -> Origin:
        """Return a copy whose infinity became NaN in an operation."""
        other = Origin(self.entry, self.k, self.index, self.upstream, self.slope, self.zero_by)
        other.turned = self.turned or entry
        return other


class Trail:
    """The record of a run, indexed by the operations that make and use each value."""

    __slots__ = ("_roots", "_users", "by_out", "entries")

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.by_out = {entry[OUT]: entry for entry in entries}
        self._users: dict[int, list[Entry]] | None = None
        self._roots: dict[tuple[int, Index], Root] = {}

    def users(self, id: int) -> list[Entry]:
        """Return the operations that have this value as an operand, in order."""
        if self._users is None:
            self._users = {}
            for entry in self.entries:
                for i in set(entry[IDS]):
                    if i is not None:
                        self._users.setdefault(i, []).append(entry)
        return self._users.get(id, [])

    def depends(self, id: int | None, on: int | None) -> bool:
        """Return whether a value was computed from another one."""
        def operands(i: int | None) -> Sequence[int | None]:
            return self.by_out[i][IDS] if i is not None and i in self.by_out else ()

        return on is not None and on in reached([id], operands)

    def takes_zero(self, entry: Entry) -> bool:
        """Return whether 0 may replace the NaN or infinity that an operation made: values computed
        from it become finite, and finite ones do not change.
        """
        value = entry[ANS]
        changed = {entry[OUT]: np.where(np.isfinite(value), value, 0.0) if shape_of(value) else 0.0}
        pending = {user[OUT] for user in self.users(entry[OUT])}
        while pending and len(changed) < MAX_TRIED:
            user = self.by_out[min(pending)]
            pending.remove(user[OUT])
            if user[BATCH] or getattr(user[OP], "custom", False):
                continue
            values = [v if i is None else changed.get(i, v)
                      for i, v in zip(user[IDS], user[VALUES], strict=True)]
            with quiet():
                new = user[OP].compute(values, user[ATTRIBUTES])
            if not finite(new):
                if all(map(finite, values)):
                    return False
                continue  # something else is wrong with it, too
            kept = np.asarray(new) == user[ANS]
            if not (kept | ~np.isfinite(user[ANS])).all():
                return False
            if not kept.all():
                changed[user[OUT]] = new
                pending |= {after[OUT] for after in self.users(user[OUT])}
        return True

    # --- forwards -----------------------------------------------------------------------------

    def root(self, entry: Entry, index: Index) -> Root:
        """Return the root of a value that is not finite at `index`, cached for many gradients."""
        key = entry[OUT], index
        if key not in self._roots:
            self._roots[key] = self._root(entry, index)
        return self._roots[key]

    def _root(self, entry: Entry, index: Index) -> Root:
        turned: Entry | None = None
        while True:
            bad = [(k, v, i) for k, v, i in operands_at(entry, index) if not finite(v)]
            if not bad:
                return Root(entry, index, None, element(entry[ANS], index), turned)
            made_nan = is_nan(element(entry[ANS], index))
            if made_nan and turned is None and not any(is_nan(v) for _, v, _ in bad):
                turned = entry
            k, value, at = next(
                (one for one in bad if is_nan(one[1]) == (made_nan and turned is None)), bad[0])
            i = entry[IDS][k]
            before = self.by_out.get(i) if i is not None else None
            if before is None:
                return Root(None, at, i, value, turned, entry)
            entry, index = before, at

    def underflow(self, entry: Entry, k: int, index: Index) -> Entry | None:
        """Return the operation that underflowed to the 0 that operand k of `entry` is, or that made
        a divisor infinite, which gave the 0; None for a true zero.
        """
        pending, seen = [(entry, k, index)], set()
        while pending:
            entry, k, index = pending.pop()
            found = [one for one in operands_at(entry, index, every=True) if one[0] == k]
            i = entry[IDS][k]
            before = self.by_out.get(i) if i is not None else None
            if before is None or not found or found[0][1] != 0 or (i, found[0][2]) in seen:
                continue
            seen.add((i, found[0][2]))
            entry, index = before, found[0][2]
            name = entry[OP].name
            there = operands_at(entry, index, every=True)
            values = [v for _, v, _ in there]
            if not all(map(finite, values)):
                large = self._overflow(entry, there) if name in ("divide", "reciprocal") else None
                if large is not None:
                    return large
            elif "never_zero" in entry[OP].traits or (
                    name in ("multiply", "divide", "power", "square") and all(values)):
                return entry
            else:
                zeros = [j for j, v, _ in there if v == 0 and entry[IDS][j] is not None]
                if name in ("multiply", "divide", "power"):
                    zeros = zeros[:1]
                elif not ("zero_at_zero" in entry[OP].traits or entry[OP].kind in (
                        "linear", "bilinear")) or any(np.any(v) for v in values[:1]):
                    zeros = []
                pending += [(entry, j, index) for j in reversed(zeros)]
        return None

    def rounded(self, entry: Entry, index: Index) -> tuple[Entry, Index] | None:
        """Return the operation, with the element, whose rounding alone made an operand of `entry`
        0, 1 or -1; None if there is none.
        """
        pending, seen = [(entry, index)], set()
        while pending:
            entry, index = pending.pop()
            if not (entry[OP].elementwise or entry[OP].name in TAKING):
                continue
            for k, value, at in operands_at(entry, index, every=True):
                before = self.by_out.get(entry[IDS][k] or 0)
                if before is None or value not in (0, 1, -1) or (before[OUT], at) in seen:
                    continue
                seen.add((before[OUT], at))
                values = [v for _, v, _ in operands_at(before, at, every=True)]
                if len(values) == len(before[IDS]) and is_exact(before[OP], values, value) is False:
                    return before, at
                pending.append((before, at))
        return None

    def _overflow(self, entry: Entry, there: Sequence[tuple[int, Any, Index]]) -> Entry | None:
        """Return the operation that made a divisor infinite, of operands that are not 0, or
        None.
        """
        k, value, at = there[-1]
        before = self.by_out.get(entry[IDS][k] or 0)
        if before is None or is_nan(value) or not all(finite(v) for _, v, _ in there[:-1]):
            return None
        root = self.root(before, at)
        return root.entry if root.entry is not None and all(
            v for _, v, _ in operands_at(root.entry, root.index, every=True)) else None

    # --- backwards ----------------------------------------------------------------------------

    def origins(self, seeds: Mapping[int, Any], sources: Sequence[int], each: Shares) -> Origins:
        """Return by source the origins of the first infinity and the first NaN in its gradient; a
        source without either is left out.

        each: the function that computes shares of a cotangent in the sweep that gave the gradient.
        """
        infinite: dict[int, Origin] = {}
        nan: dict[int, Origin] = {}
        zero_by: dict[int, Entry] = {}
        unused: dict[int, dict[int, Origin]] = {}

        def follow(entry: Entry, k: int, g: Any, c: Any) -> None:
            out, i = entry[OUT], entry[IDS][k]
            assert i is not None
            share = value_of(c)
            if has_zero(share):
                by = zero_by.get(out)
                if by is None or _has_own_zero(entry, k):
                    by = entry
                zero_by.setdefault(i, by)
            if finite(share):
                return
            trails = []
            if not finite(value_of(g)):
                if out in nan:
                    trails.append(nan[out])
                elif out in infinite:
                    turned = is_nan(share) and not is_nan(value_of(g))
                    trails.append(infinite[out].turned_by(entry) if turned else infinite[out])
                elif finite(value_of(seeds.get(out, 0.0))):
                    # Each part was finite, their sum is not.
                    at = bad_index(value_of(g))
                    total = plain_number(np.asarray(value_of(g))[at])
                    trails.append(Origin(entry, k, at, total, None, None))
            own = _own(entry, k, g, c, zero_by.get(out))
            if own is not None:
                trails.append(own)
            for origin in (*unused.get(out, {}).values(), *([own] if own is not None else ())):
                if origin.unused() and len(unused.setdefault(i, {})) < MOST_UNUSED:
                    unused[i].setdefault(origin.entry[OUT], origin)
            for origin in trails:
                if is_nan(share):
                    nan.setdefault(i, origin)
                if has_inf(share):
                    infinite.setdefault(i, origin)

        observe_sweep(self.entries, seeds, sources, follow, each)
        for i in sources:
            for first in (infinite.get(i), nan.get(i)):
                if first is not None and first.unused():
                    first.beside = [one for one in unused.get(i, {}).values()
                                    if one.entry is not first.entry]
        return {i: (infinite.get(i), nan.get(i)) for i in sources if i in infinite or i in nan}


def _own(entry: Entry, k: int, g: Any, c: Any, zero_by: Entry | None) -> Origin | None:
    """Return the origin at the first element where this operation spoils a finite cotangent."""
    upstream = value_of(g)
    if not entry[OP].elementwise:
        if not finite(upstream):
            return None
        return Origin(entry, k, bad_index(value_of(c)), None, None, zero_by)
    *xs, ans = operands(entry, False)
    local = value_of(slope(entry[OP], k, xs, ans))
    if local is None:
        return Origin(entry, k, (), None, None, zero_by) if finite(upstream) else None
    if type(local) is float and type(upstream) is float:
        return Origin(entry, k, (), upstream, local, zero_by) if finite(upstream) else None
    local, upstream = np.broadcast_arrays(local, upstream)
    hit = ~np.isfinite(local * upstream) & np.isfinite(upstream)
    share = value_of(c)
    if shape_of(share) == hit.shape:
        hit &= ~np.isfinite(share)
    if not hit.any():
        return None
    at = first_hit(hit)
    return Origin(entry, k, at, plain_number(upstream[at]), plain_number(local[at]), zero_by)


def _has_own_zero(entry: Entry, k: int) -> bool:
    """Return whether an elementwise operation that selects has a slope of 0 in some element."""
    op = entry[OP]
    if not op.elementwise:
        return False
    *xs, ans = operands(entry, False)
    return "selecting" in op.traits and has_zero(value_of(slope(op, k, xs, ans)))
