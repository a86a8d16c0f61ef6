"""The test for losses in a sweep: a value, a slope, or a product of slopes that became 0, subnormal
or infinite though its factors are neither. Numbers that are only large lose nothing.

A sweep that surely lost nothing is tame: all its numbers are so far within the range that no
product of two leaves it. That test costs a sweep or two, a sweep with wide numbers a hundred.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES
from gradcli.engine.record.saved import is_hollow
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.reverse import operands, reverse, slope
from gradcli.engine.sweeps.tangent import tangents
from gradcli.engine.sweeps.wide_values import SINGLE, reads_answer, type_of
from gradcli.ops.binding import fast_rules
from gradcli.ops.kinds import BILINEAR, EDGE, LINEAR
from gradcli.ops.table.elementwise import multiply
from gradcli.ops.values import is_complex, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

# Squares of such numbers are floats.
FAR, FAR_32 = 2.0**480, 2.0**55


def tame(entries: Sequence[Entry], seeds: Mapping[int, Any], ends: Iterable[int], *,
         forward: bool) -> bool:
    """Return whether a sweep from the seeds surely lost nothing, nor the values that it uses.

    seeds: id to cotangent, or tangent if `forward`. ends: ids that the sweep leads to.
    """
    try:
        with np.errstate(all="ignore"):
            if not forward and all(type(g) is float for g in seeds.values()) and all(
                    type(e[ANS]) is float and e[OP].elementwise for e in entries):
                return _tame_numbers(entries, dict(seeds))
            ids = {i for e in entries for i in e[IDS] if i is not None}
            every = {*ends, *seeds, *(e[OUT] for e in entries), *ids}
            carried = (tangents if forward else reverse)(entries, seeds, every)
            carried = {i: value_of(g) for i, g in {**carried, **seeds}.items()}
            return all(map(_is_tame, carried.values())) and all(
                _is_tame_value(e) and _has_tame_slopes(e, carried, forward) for e in entries)
    except (GradcliError, TypeError, ValueError, AttributeError, *EDGE):
        return False


def tame_values(entries: Sequence[Entry]) -> bool:
    """Return whether the values surely lost nothing."""
    with np.errstate(all="ignore"):
        return all(map(_is_tame_value, entries))


def _tame_numbers(entries: Sequence[Entry], adjoints: dict[int, Any]) -> bool:
    low, high = 1 / FAR, FAR
    for entry in reversed(entries):
        op, out, ids, values, ans, _, _, _ = entry
        g = adjoints.pop(out, None)
        if g is None:
            continue
        if not (low < g < high or -high < g < -low or g == 0.0 or g != g) or not (
                _is_tame_value(entry)):
            return False
        for k, rule in enumerate(op.fast_rules or fast_rules(op)):
            i = ids[k]
            if i is None or rule is None:
                continue
            c = rule if rule.__class__ is float else rule(*values, ans)
            if not (low < c < high or -high < c < -low or c != c) and (
                    c != 0.0 or ("in_pieces" not in op.traits and 0.0 not in values)):
                return False
            adjoints[i] = adjoints[i] + g * c if i in adjoints else g * c
    return all(map(_is_tame, adjoints.values()))


def _is_tame(value: Any) -> bool:
    """Return whether a value is 0, or far from the ends of the range, or no number, in all
    elements: tame numbers make NaN only where no range would help.
    """
    if type(value) is float:
        return (1 / FAR < value < FAR or -FAR < value < -1 / FAR or value == 0.0
                or value != value)
    if not is_float(value):
        return not is_complex(value)
    far = FAR_32 if type_of(value) is SINGLE else FAR
    sizes = np.abs(value)
    return not ((sizes >= far) | ((sizes <= 1 / far) & (sizes > 0))).any()


def _is_tame_value(entry: Entry) -> bool:
    op, values, ans = entry[OP], entry[VALUES], entry[ANS]
    if not op.elementwise and op.kind not in (LINEAR, BILINEAR):
        return False
    if records.current().hollow and any(map(is_hollow, (*values, ans))):
        return False
    if not _is_tame(ans) or not all(map(_is_tame, values)):
        return False
    if not op.elementwise or "true_zeros" in op.traits or "in_pieces" in op.traits or (
            not op.rules):
        return True
    if type(ans) is float:
        return ans != 0.0 or 0.0 in values
    return bool(np.all(ans)) or not all(np.all(v) for v in values)


def _has_tame_slopes(entry: Entry, carried: Mapping[int, Any], forward: bool) -> bool:
    op, ids = entry[OP], entry[IDS]
    if not op.elementwise:
        return True
    *xs, ans = operands(entry, False)
    for k, i in enumerate(ids):
        if i is None or not op.edge(k) or (i if forward else entry[OUT]) not in carried or not (
                callable(op.rules[k])):
            continue
        c = slope(op, k, xs, ans)
        if not _is_tame(value_of(c)):
            return False
        if "in_pieces" not in op.traits and not np.all(value_of(c)):
            present: Any = _where(c, lambda v: v == 0)
            for x in xs:
                present = multiply(present, _where(x, lambda v: v != 0))
            if np.any(value_of(present)):
                return False
    return True


def flushes(entries: Sequence[Entry], seeds: Mapping[int, Any], ends: Sequence[int], *,
            forward: bool) -> bool:
    """Return whether a sweep from the seeds to the ends lost something, or may have.

    seeds: id to cotangent, or tangent if `forward`. ends: ids that the sweep leads to.
    """
    every = {*ends, *seeds, *(e[OUT] for e in entries)}
    try:
        with np.errstate(all="ignore"):
            carried = (tangents if forward else reverse)(entries, seeds, every)
            carried = {i: value_of(g) for i, g in {**carried, **seeds}.items()}
            return any(map(_is_off, carried.values())) or any(
                _loses(e, carried, forward) for e in entries)
    except (GradcliError, TypeError, ValueError, AttributeError, *EDGE):
        return True


def _loses(entry: Entry, carried: Mapping[int, Any], forward: bool) -> bool:
    op, ids = entry[OP], entry[IDS]
    edges = [k for k, i in enumerate(ids) if i is not None and op.edge(k)
             and (i if forward else entry[OUT]) in carried]
    if not edges or op.kind == LINEAR:
        return False
    if records.current().hollow and any(
            is_hollow(v) and not v.flat[0] for v in (*entry[VALUES], entry[ANS])):
        return False  # no rule reads it
    if not op.elementwise:
        read = (*entry[VALUES], entry[ANS]) if reads_answer(op) else entry[VALUES]
        return any(map(_is_off, read)) or any(
            _meets(v, carried[ids[k] if forward else entry[OUT]])  # type: ignore[index]
            for k in edges for v in entry[VALUES])
    *xs, ans = operands(entry, False)
    present: Any = 1.0
    for x in xs:
        present = multiply(present, _where(x, lambda v: v != 0))
    for k in edges:
        if not callable(op.rules[k]):
            continue
        c = slope(op, k, xs, ans)
        if _is_off(value_of(c)):
            return True
        if "in_pieces" not in op.traits:
            # Where a function crosses 0 its slope does not vanish with it.
            gone = multiply(_where(ans, _is_tiny), _where(multiply(c, xs[k]), _is_tiny))
            nothing = 0.0 if (op.name, k) == ("power", 1) else _where(c, lambda v: v == 0)
            if any(bool(np.any(value_of(multiply(present, x)))) for x in (gone, nothing)):
                return True
        if _meets(value_of(c), carried[ids[k] if forward else entry[OUT]]):  # type: ignore[index]
            return True
    return False


def _where(x: Any, test: Any) -> Any:
    """Return 1.0 where a test holds, with the batch axes of x."""
    made = np.asarray(test(value_of(x)), np.float64)
    return Tensor(made, None, x.batch) if type(x) is Tensor else made


def _is_tiny(value: Any) -> Any:
    return np.abs(value) < type_of(value).tiny


def _is_off(value: Any) -> bool:
    """Return whether a number is infinite or subnormal."""
    if not is_float(value):
        return False
    sizes = np.abs(value)
    return bool((np.isinf(sizes) | ((sizes > 0) & (sizes < type_of(value).tiny))).any())


def _meets(a: Any, b: Any) -> bool:
    """Return whether the smallest elements have a product that is no float."""
    if not (is_float(a) and is_float(b)):
        return False
    x, y = (np.abs(np.ravel(v)) for v in (a, b))
    x, y = x[x > 0], y[y > 0]
    return bool(x.size and y.size) and bool(
        np.log2(x.min()) + np.log2(y.min()) < np.log2(max(type_of(a).tiny, type_of(b).tiny)))
