"""The sweeps once more, in a range without end.

Where numbers are very large or very small, a slope, or a product of slopes, may be no float though
the derivative is one: -1/u^2 in the second derivative of log(u), or the adjoint of the denominator
of x^2/exp(x^2). So derivatives of a record with extreme numbers (`gradcli.engine.sweeps.extremes`)
are found again with wide numbers (`gradcli.ops.wide`), from the values that were recorded; those
that were flushed to 0 or infinity are calculated again. The usual case pays nothing.

Derivatives that differ replace those of the ordinary sweep. Where a row has a formula for floats
only, and what it lost there may count, this is noted on the record.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.provenance import caller
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES, active, leading, window
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.flushes import flushes, tame, tame_values
from gradcli.engine.sweeps.reverse import cotangents, shaped_like
from gradcli.engine.sweeps.tangent import basis, of_entry
from gradcli.engine.sweeps.wide_values import (
    DOUBLE,
    MAX_WORK,
    UNABLE,
    Beyond,
    WideValues,
    size,
    type_of,
)
from gradcli.ops.unbounded import as_number
from gradcli.ops.values import is_float, plain, shape_of
from gradcli.ops.wide import Wide, banded, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.engine.sweeps.wide_values import Type


# What cancels to less than this has surely nothing to say.
LEAST = 1e-9


class Carried:
    """A derivative in a sweep, and a bound on its rounding.

    A remainder of a sum below the bound is nothing but rounding, and becomes 0. Terms that join
    later stay; the doubt of the bound remembers.
    """

    __slots__ = ("error", "value")

    def __init__(self, value: Wide, error: Wide) -> None:
        self.value = value
        self.error = error

    def times(self, slope: Wide, kind: Type) -> Carried:
        value = self.value * slope
        return Carried(value, self.error * abs(slope) + abs(value) * kind.rounding)

    def plus(self, other: Carried | None) -> Carried:
        if other is None:
            return self
        value, error = self.value + other.value, self.error + other.error
        counts = (abs(value) - error).mantissa > 0
        if error.doubt is None and np.all(counts):
            return Carried(value, error)
        error = Wide(error.mantissa, error.exponent, np.maximum(
            as_number(error.doubt), np.where(counts, -np.inf, error.size())))
        return Carried(_only(value, counts), _only(error, counts))


def _only(value: Wide, where: Any) -> Wide:
    """Return the value where the mask holds, 0 elsewhere; elements in doubt stay in doubt."""
    return Wide(np.where(where | ~np.isfinite(value.mantissa), value.mantissa, 0.0),
                value.exponent, value.doubt)


def _seeded(seed: Any) -> Carried:
    value = wide(value_of(seed))
    return Carried(value, abs(value) * type_of(value_of(seed)).rounding)


def adjoints(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Iterable[int],
             values: Mapping[int, Any] | None = None, swept: WideValues | None = None
             ) -> dict[int, Carried]:
    """Return adjoints of `sources`, as `gradcli.engine.sweeps.reverse.reverse` does.

    values: of tensors, which a tape may not have kept. swept: the values that the seeds'
    derivatives meet, if known.
    """
    asked = set(sources)
    swept = swept or _values(entries, seeds, values)
    entries = list(window(entries, asked, seeds))
    reached = active(entries, asked)
    found = {i: _seeded(g) for i, g in seeds.items() if i in reached}
    wanted: dict[int, Carried] = {}
    for entry in reversed(entries):
        g = found.pop(entry[OUT], None)
        if g is None:
            continue
        if entry[OUT] in asked:
            wanted[entry[OUT]] = g
        for i, c in _shares(swept, entry, g, reached):
            found[i] = c.plus(found.get(i))
    wanted.update((i, found[i]) for i in asked if i in found)
    return wanted


def _values(entries: Sequence[Entry], targets: Iterable[int],
            values: Mapping[int, Any] | None = None) -> WideValues:
    """Return the values that a derivative of the targets may meet, also those beside its path."""
    ahead = leading(entries, targets)
    return WideValues([e for e in entries if e[OUT] in ahead], values)


def _shares(swept: WideValues, entry: Entry, g: Carried, reached: set[int]
            ) -> Iterable[tuple[int, Carried]]:
    op = entry[OP]
    if op.elementwise:
        for k, i in enumerate(entry[IDS]):
            if i in reached and op.edge(k):
                c, x = g.times(swept.slope(entry, k), type_of(entry[ANS])), entry[VALUES][k]
                yield i, Carried(shaped_like(c.value, x, entry, k, g.value),
                                 shaped_like(c.error, x, entry, k, g.error))
        return
    ids: list[int] = []

    def shares(gs: list[Any]) -> list[Any]:
        found = list(cotangents(entry, plain(np.asarray(gs[0])), reached, False))
        ids[:] = [i for i, _ in found]
        return [value_of(c) for _, c in found]

    values, errors = [banded(shares, [v], type_of(entry[ANS]).band) for v in (g.value, g.error)]
    for i, share, error in zip(ids, swept.unknown(entry, values), errors, strict=True):
        yield i, _rounded(entry, share, error)


def _rounded(entry: Entry, value: Wide, error: Wide) -> Carried:
    """Return a derivative after a whole operation, with the bound on its rounding."""
    return Carried(value, abs(error) + abs(value) * type_of(entry[ANS]).rounding)


def tangents(entries: Sequence[Entry], seeds: Mapping[int, Any], targets: Iterable[int],
             swept: WideValues | None = None) -> dict[int, Carried]:
    """Return tangents of `targets`, as `gradcli.engine.sweeps.tangent.tangents` does.

    swept: the values that these meet, if known.
    """
    targets = list(targets)
    swept = swept or _values(entries, targets)
    entries = list(window(entries, seeds, targets))
    reached = active(entries, seeds) & leading(entries, targets)
    inside = [e for e in entries if e[OUT] in reached]
    found = {i: _seeded(t) for i, t in seeds.items()}
    for entry in inside:
        op, total = entry[OP], None
        if op.elementwise:
            for k, i in enumerate(entry[IDS]):
                if i in found and op.edge(k):
                    total = found[i].times(swept.slope(entry, k), type_of(entry[ANS])).plus(total)
        else:
            total = _tangent(swept, entry, found)
        if total is not None:
            found[entry[OUT]] = total
    return {i: found[i] for i in targets if i in found}


def _tangent(swept: WideValues, entry: Entry, found: Mapping[int, Carried]) -> Carried | None:
    given = {i: v for k, (i, v) in enumerate(zip(entry[IDS], entry[VALUES], strict=True))
             if i in found and entry[OP].edge(k)}
    if not given:
        return None

    def made(ts: list[Any]) -> list[Any]:
        carried = {i: plain(np.array(np.broadcast_to(t, shape_of(v))))
                   for (i, v), t in zip(given.items(), ts, strict=True)}
        total = value_of(of_entry(entry, carried, False))  # type: ignore[arg-type]
        return [np.zeros(shape_of(entry[ANS])) if total is None else total]

    band = type_of(entry[ANS]).band
    (value,) = swept.unknown(entry, banded(made, [found[i].value for i in given], band))  # type: ignore[index]
    (error,) = banded(made, [found[i].error for i in given], band)  # type: ignore[index]
    return _rounded(entry, value, error)


def gradients(entries: Sequence[Entry], seeds: Mapping[int, Any], found: dict[int, Any],
              emit: bool = False, values: Mapping[int, Any] | None = None) -> None:
    """Put right the result of an ordinary sweep, in place.

    found: id of a source to its adjoint.
    emit: whether the adjoints are recorded, where their entries change too.
    values: of tensors, which a tape may not have kept.
    """
    if tame(entries, seeds, found, forward=False):
        return
    try:
        with np.errstate(all="ignore"):
            held = _holds(entries, seeds)
            after = {i: settled(value_of(found[i]), carried, held)
                     for i, carried in adjoints(entries, seeds, found, values).items()}
    except UNABLE:
        lost = flushes(entries, seeds, list(found), forward=False)
        for i, g in found.items() if lost else ():
            note_doubt(i, size(shape_of(value_of(g))))
        return
    for i, (new, unknown) in after.items():
        g = found[i]
        note_doubt(i, int(np.count_nonzero(unknown)))
        if new is value_of(g):
            continue
        found[i] = recorded(g, new) if emit else new


def _replace(id: int, value: Any) -> None:
    """Replace the value of an entry of the current record."""
    entries = records.current().entries
    for k in range(len(entries) - 1, -1, -1):
        if entries[k][OUT] == id:
            entries[k] = (*entries[k][:ANS], value, *entries[k][ANS + 1:])
            return


def jacobians(entries: Sequence[Entry], targets: Sequence[Tensor], source: Tensor,
              found: dict[int, Any]) -> None:
    """Put right Jacobians in one source: id of a target to [*its shape, *the source's]; one
    direction after the other, along the shorter side.
    """
    assert source.id is not None
    n, lost = size(source.shape), 0
    for t in targets:
        if t.id not in found or not n or not size(t.shape):
            continue
        whole = np.asarray(found[t.id])
        flat = whole.reshape(size(t.shape), n)
        if len(flat) < n:
            rows = flat.reshape(-1, *source.shape)
            after, unknown = directions(
                entries, {t.id: basis(t.value).value}, {source.id: rows}, forward=False)
            new = after[source.id]
            lost += int(np.count_nonzero(unknown[source.id]))
        else:
            rows = flat.T.reshape(-1, *t.shape)
            after, unknown = directions(
                entries, {source.id: basis(source.value).value}, {t.id: rows}, forward=True)
            new = after[t.id].reshape(n, -1).T if after[t.id] is not rows else rows
            lost += int(np.count_nonzero(unknown[t.id]))
        if new is not rows:
            found[t.id] = plain(np.array(new).reshape(whole.shape))
    note_doubt(source.id, lost)


def directions(entries: Sequence[Entry], seeds: Mapping[int, Any], found: Mapping[int, Any], *,
               forward: bool) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return the right result of a sweep in many directions, and masks of unknown elements.

    seeds, found: [direction, *shape] by id, as of the ordinary sweep; the array found is returned
    unchanged if all of it is right.
    """
    count = max(map(len, seeds.values()))
    after = dict(found)
    unknown = {i: np.zeros(g.shape, bool) for i, g in found.items()}
    given = {i: Tensor(g, None, 1) for i, g in seeds.items()}
    if tame(entries, given, found, forward=forward):
        return after, unknown
    try:
        if count * len(entries) > MAX_WORK // 100:
            raise Beyond
        with np.errstate(all="ignore"):
            held = _holds(entries, found if forward else seeds)
            swept = _values(entries, found if forward else seeds)
            for k in range(count):
                part = {i: plain(np.asarray(g[k])) for i, g in seeds.items()}
                for i, carried in (tangents(entries, part, found, swept) if forward else adjoints(
                        entries, part, found, swept=swept)).items():
                    new, unknown[i][k] = settled(found[i][k], carried, held)
                    if new is not found[i][k] and not np.array_equal(
                            new, found[i][k], equal_nan=True):
                        after[i] = np.array(after[i]) if after[i] is found[i] else after[i]
                        after[i][k] = new
    except UNABLE:
        lost = flushes(entries, given, list(found), forward=forward)
        return dict(found), {i: np.isfinite(g) & lost for i, g in found.items()}
    return after, unknown


def rows(entries: Sequence[Entry], seeds: Mapping[int, Any], found: dict[int, Any],
         shape: Sequence[int]) -> None:
    """Put right the adjoints of a source of that shape, from seeds [direction, *shape]."""
    for i, g in found.items():
        count, value = max(map(len, seeds.values())), value_of(g)
        whole = np.broadcast_to(value, (count, *shape))
        after, unknown = directions(entries, seeds, {i: whole}, forward=False)
        lost = int(np.count_nonzero(unknown[i]))
        if after[i] is not whole and whole.shape == shape_of(value):
            found[i] = recorded(g, after[i])
        elif after[i] is not whole:  # on the record it has one value for all directions
            lost = lost or 1
        note_doubt(i, lost)


def recorded(g: Any, value: Any) -> Any:
    """Return a derivative that was recorded, or a plain one, with another value."""
    if type(g) is Tensor and g.id is not None:
        _replace(g.id, value)
        return Tensor(value, g.id, g.batch)
    return value


def directional(entries: Sequence[Entry], seeds: Mapping[int, Any], target: int, found: Any) -> Any:
    """Return the right value of a directional derivative that the ordinary sweep found."""
    new = value_of(found)
    if tame(entries, seeds, [target], forward=True):
        return found
    try:
        with np.errstate(all="ignore"):
            new, unknown = settled(new, tangents(entries, seeds, [target])[target],
                                   _holds(entries, [target]))
        count = int(np.count_nonzero(unknown))
    except (*UNABLE, KeyError):
        lost = flushes(entries, seeds, [target], forward=True)
        count = size(shape_of(new)) if lost else 0
    for i in seeds:
        note_doubt(i, count)
    return found if new is value_of(found) else recorded(found, new)


def note_doubt(source: int, count: int) -> None:
    """Add to the record the number of elements of a derivative in a source that are unknown; Python
    code, which gets no notes, gets a warning.
    """
    if count and records.current().trace is None:
        records.current().lost[source] = count
    elif count:
        warn()


def warn() -> None:
    """Warn where Python code stands."""
    from sys import _getframe
    from warnings import warn, warn_explicit

    text = ("a derivative may be wrong: a slope on the way is too small or too large for a float,"
            " and what it meets makes that count")
    frame, _ = caller(_getframe(1))
    if frame is None:
        warn(text, RuntimeWarning, stacklevel=2)
    else:
        warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno,
                      registry=frame.f_globals.setdefault("__warningregistry__", {}))


def beyond(entries: Sequence[Entry], seeds: Mapping[int, Any], ids: Iterable[int]
           ) -> tuple[dict[int, str], dict[tuple[int, int], str]]:
    """Return the sizes, as texts, of adjoints and local slopes (by step, operand) beyond floats."""
    try:
        with np.errstate(all="ignore"):
            found = adjoints(entries, seeds, ids)
            swept = WideValues(entries)
            slopes = {(e[OUT], k): swept.slope(e, k) for e in entries if e[OP].elementwise
                      for k, i in enumerate(e[IDS])
                      if i is not None and e[OP].edge(k) and e[OP].rules}
            return ({i: g.value.text() for i, g in found.items() if _is_beyond(g.value)},
                    {at: c.text() for at, c in slopes.items() if _is_beyond(c)})
    except UNABLE:
        return {}, {}


def exact(entries: Sequence[Entry], seeds: Mapping[int, Any], source: int | None = None
          ) -> tuple[dict[int, Any], Any]:
    """Return the values of targets, and the adjoint of a source, as floats of numbers in a range
    without end; NaN where they are unknown. source: None for the values alone.
    """
    try:
        with np.errstate(all="ignore"):
            changed = _values(entries, seeds).changed
            ahead = leading(entries, seeds)
            known = {e[OUT]: wide(e[ANS]) for e in entries if e[OUT] in ahead & seeds.keys()}
            values = {i: _sure(changed.get(i, value)) for i, value in known.items()}
            if source is None or not all(np.isfinite(v).all() for v in values.values()):
                return values, None if source is None else math.nan
            found = adjoints(entries, seeds, [source]).get(source)
            return values, math.nan if found is None else np.where(
                np.isnan(found.error.mantissa), math.nan, _sure(found.value))
    except UNABLE:
        return {}, math.nan


def _sure(value: Wide) -> Any:
    """Return the floats of numbers that are known, else NaN."""
    near = value.floats()
    return np.where(value.is_doubtful() | ~np.isfinite(near), math.nan, near)


def _is_beyond(value: Wide) -> bool:
    return bool((value.beyond() & ~value.is_doubtful()).any())


def flushed(entries: Sequence[Entry], targets: Iterable[int]) -> set[int]:
    """Return those of the values `targets` that would be other floats had nothing been lost."""
    targets = set(targets)
    ahead = leading(entries, targets)
    entries = [e for e in entries if e[OUT] in ahead]
    if tame_values(entries):
        return set()
    try:
        with np.errstate(all="ignore"):
            changed = WideValues(entries).changed
            return {i for i in targets if i in changed and not _near(changed[i])}
    except UNABLE:
        return set()


def _near(value: Wide) -> bool:
    """Return whether a value is surely 0 as a float as well, or is unknown."""
    near = value.floats()
    sure = value.doubt is None or not (value.doubt > np.log2(DOUBLE.floor)).any()
    return sure and bool(((np.abs(near) < DOUBLE.tiny) | np.isnan(near)).all())


def _holds(entries: Sequence[Entry], targets: Iterable[int]) -> bool:
    """Return whether all values that the targets are made of are numbers, those of slopes aside."""
    ahead = leading(entries, targets)
    last = min((target for made, (target, _) in records.current().derived.items()
                if made in ahead), default=math.inf)
    return all(bool(np.isfinite(e[ANS]).all()) for e in entries
               if e[OUT] in ahead and e[OUT] <= last and is_float(e[ANS]))


def settled(before: Any, after: Carried, held: bool = True) -> tuple[Any, Any]:
    """Return the true derivative for that of the ordinary sweep, and a mask of where it is unknown.

    It stays unchanged where it differs no more than by rounding. held: whether the values are
    numbers; where one is not, that explains a derivative that is not a number, which stays.
    """
    kind = type_of(before)
    old = np.asarray(before, np.float64)
    new, error = (np.broadcast_to(x.floats(), old.shape) for x in (after.value, after.error))
    doubt = after.value.doubt
    same = np.abs(new - old) <= kind.close * np.abs(new) + 4.0 * error
    number = np.broadcast_to(np.isfinite(after.value.mantissa), old.shape)
    same |= np.isnan(new) | (new == old) | (~np.isfinite(old) & ~(held & number))
    same |= np.abs(new - old) <= kind.tiny
    unknown = np.zeros(old.shape, bool)
    if doubt is not None:
        size = np.log2(np.maximum(kind.close * np.abs(new), kind.floor))
        unknown = np.broadcast_to(doubt > size, old.shape)
    # What the type cannot hold mends no number that it can.
    large = np.abs(new) > np.finfo(np.asarray(before).dtype).max
    unknown = unknown | (np.isfinite(old) & large)
    doubted = unknown & np.isfinite(old)  # what is not a number has an explanation of its own
    if (same | unknown).all():
        return before, doubted
    found = np.where(same | unknown, old, new)
    # In place of no number: what cancelled on the way may have been far more than what is left.
    lost = as_number(after.error.doubt) > np.log2(np.maximum(np.abs(new), LEAST))
    doubted |= ~same & ~np.isfinite(old) & lost
    return plain(found.astype(np.asarray(before).dtype)), doubted
