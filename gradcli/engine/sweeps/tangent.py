"""The tangent sweep: one walk forwards that carries the directional derivative (JVP).

As in `gradcli.engine.sweeps.reverse` there are two forms: `on_floats` for a record of scalars, and
`tangents` through the operations, where a tangent may have leading seed axes (one per direction)
and where `emit` records the sweep.

Source of the method: Griewank and Walther, Evaluating Derivatives (2008), chapter 2.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    active,
    leading,
    window,
)
from gradcli.engine.record.tensor import Tensor, core_shape, leaf, value_of
from gradcli.engine.sweeps.reverse import (
    in_type_of,
    operands,
    reverse,
    slope,
    slope_at_edge,
    times,
    without_rule,
)
from gradcli.ops.binding import fast_rules
from gradcli.ops.kinds import BILINEAR, EDGE, GENERAL, LINEAR, UNREGISTERED
from gradcli.ops.table.shapes import broadcast_to, spread
from gradcli.ops.values import dtype_of, plain, shape_of, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.ops.kinds import Op


def on_floats(entries: Sequence[Entry], seeds: Mapping[int, float], targets: Iterable[int]
              ) -> dict[int, float]:
    """Return tangents of `targets` over entries whose values are all Python numbers."""
    targets = list(targets)
    entries = window(entries, seeds, targets)
    reached = active(entries, seeds)
    carried: dict[int, Any] = dict(seeds)
    for entry in entries:
        if entry[OUT] not in reached:
            continue
        op = entry[OP]
        if not op.elementwise:
            made = of_entry(entry, carried, False)
            if made is not None:
                carried[entry[OUT]] = value_of(made)  # a custom gradient is a tensor
            continue
        rules = fast_rules(op)
        total, any_tangent = 0.0, False
        for k, i in enumerate(entry[IDS]):
            if i in carried and rules[k] is not None:
                any_tangent = True
                try:
                    total += carried[i] * (
                        rules[k](*entry[VALUES], entry[ANS]) if callable(rules[k]) else rules[k])
                except EDGE:
                    total += carried[i] * slope_at_edge(op, k, entry[VALUES], entry[ANS])
        if any_tangent:
            carried[entry[OUT]] = total
    return {i: carried[i] for i in targets if i in carried}


def tangents(entries: Sequence[Entry], seeds: Mapping[int, Any], targets: Iterable[int],
             *, emit: bool = False) -> dict[int, Any]:
    """Return tangents of `targets`, given `seeds`: id of a source to its tangent.

    Tangents are plain values of the source's shape, or tensors whose batch axes are seed axes in
    front. A target that no path reaches has no item in the result.
    """
    targets = list(targets)
    entries = window(entries, seeds, targets)
    reached = active(entries, seeds) & leading(entries, targets)
    carried: dict[int, Any] = dict(seeds)
    record = records.current()
    place = record.place
    try:
        for entry in list(entries) if emit else entries:  # emitting appends to the same list
            if entry[OUT] in reached:
                record.place = entry[PLACE]
                made = of_entry(entry, carried, emit)
                if made is not None:
                    carried[entry[OUT]] = made
    finally:
        record.place = place
    return {i: carried[i] for i in targets if i in carried}


def of_entry(entry: Entry, carried: Mapping[int, Any], emit: bool) -> Any:
    """Return the tangent of one entry from those of its operands, in its shape and type; None where
    no operand has one, or the rule of a custom gradient says that none passes.

    Raises E0503 for an operation without a rule.
    """
    record = records.current()
    in_rules, record.in_rules = record.in_rules, True
    try:
        total = _of_entry(entry, carried, emit)
    finally:
        record.in_rules = in_rules
    return None if total is None else in_type_of(entry[ANS], total)


def _of_entry(entry: Entry, carried: Mapping[int, Any], emit: bool) -> Any:
    op, attributes = entry[OP], entry[ATTRIBUTES]
    *xs, ans = operands(entry, emit)
    given: list[Any] = [
        carried[i] if i in carried and op.edge(k) else None  # type: ignore[index]
        for k, i in enumerate(entry[IDS])]
    if all(t is None for t in given):
        return None
    if entry[BATCH]:
        seeds = 0
        for k, t in enumerate(given):
            if t is not None:
                seeds = max(seeds, (t.batch if type(t) is Tensor else 0) - entry[BATCH][k])
                given[k] = _behind_seeds(t, entry, k)
        if op.batching in ("sum", "spread"):
            attributes = {**attributes, "at": attributes["at"] + seeds}
    if op.kind == UNREGISTERED:
        raise without_rule(entry)
    if op.kind == GENERAL:
        if op.jvp is None:
            total = jvp(op, given, ans, xs, attributes)
        else:
            total = op.jvp(given, ans, *xs, **attributes)
    elif op.kind == LINEAR:
        # Linear in all data arguments together: a missing tangent is a zero, an index itself.
        total = op(*[
            (zeros(core_shape(xs[k])) if op.edge(k) else xs[k]) if t is None else t
            for k, t in enumerate(given)], **attributes)
    elif op.kind == BILINEAR:
        parts = [op(*xs[:k], t, *xs[k + 1:], **attributes)
                 for k, t in enumerate(given) if t is not None]
        total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    else:
        total = None
        for k, t in enumerate(given):
            if t is not None:
                part = times(t, slope(op, k, xs, ans))
                total = part if total is None else total + part
    if total is not None and core_shape(total) != core_shape(ans):
        # A tangent that did not vary along a broadcast axis has to fill it.
        total = broadcast_to(total, shape=core_shape(ans))
    return total


def _behind_seeds(t: Any, entry: Entry, k: int) -> Any:
    """Return a tangent with as many batch axes as the entry has: seed axes come first, and an axis
    that the operand lacks must not meet them.
    """
    t = t if type(t) is Tensor else Tensor(t, None, 0)
    lacking = max(entry[BATCH][:-1]) - entry[BATCH][k]
    if not lacking or entry[OP].batching:
        return t
    return spread(t, at=t.batch - entry[BATCH][k], lengths=(1,) * lacking)


def basis(value: Any) -> Any:
    """Return all unit directions of a tensor of this value, with one seed axis in front."""
    shape = shape_of(value)
    n = 1
    for length in shape:
        n *= length
    return Tensor(np.eye(n, dtype=dtype_of(value)).reshape((n, *shape)), None, 1)


# --------------------------------------------------------------------------------------------------
# The tangent of an operation that has only a VJP: the VJP is linear in the cotangent, and its own
# VJP with respect to that is the JVP.

def jvp(op: Op, given: Sequence[Any], ans: Any, xs: Sequence[Any], attributes: Mapping[str, Any]
        ) -> Any:
    """Return the tangent of a result: the sum of the operands' tangents carried through `op`.

    None where the rule lets none pass.

    given: the operands' tangents, None where there is none. ans, xs: the result and the operands.
    """
    from gradcli.engine.record.recording import Recording

    value = value_of(ans)
    dummy = leaf(plain(np.ones(shape_of(value), dtype_of(value))))
    assert dummy.id is not None
    record, kept = records.current(), Recording()
    kept.begin(record, {dummy.id})
    try:
        # An answer with an id tells the rule that it is being recorded.
        answer = ans if isinstance(ans, Tensor) and ans.id is not None else leaf(value_of(ans))
        parts = op.rules[0](dummy, answer, *xs, **attributes)  # type: ignore[misc, operator]
    finally:
        kept.end(record)
    total, window = None, kept.window()
    for part, t in zip(parts, given, strict=True):
        if t is None or not isinstance(part, Tensor) or part.id is None:
            continue
        with quiet():
            found = reverse(window, {part.id: t}, [dummy.id], emit=record.is_watched())
        if dummy.id in found:
            total = found[dummy.id] if total is None else total + found[dummy.id]
    return total
