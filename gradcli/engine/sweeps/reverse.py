"""The reverse sweep: one walk backwards that carries the adjoint (VJP).

Two forms of the same walk. `on_floats` carries bare Python numbers through a record of scalars:
first order, without any batch axis or emission, the fast form. `reverse` carries tensors or arrays,
through the operations themselves: seeded with bare arrays it computes (a leading seed axis gives
all rows of a Jacobian at once), and with `emit` operands keep their ids, so that the adjoint is
recorded and can be differentiated again.

Source of the method: Griewank and Walther, Evaluating Derivatives (2008), chapter 3.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
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
    window,
)
from gradcli.engine.record.tensor import Tensor, core_shape
from gradcli.ops.binding import array_rules, edge_rule, fast_rules
from gradcli.ops.kinds import EDGE, UNREGISTERED
from gradcli.ops.table.discrete import cast_float
from gradcli.ops.table.elementwise import add, multiply, negative
from gradcli.ops.table.shapes import sum_batch, sum_to
from gradcli.ops.values import FLOAT_DTYPES, dtype_of, is_complex, plain, uniform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.ops.kinds import Op

    Shares = Callable[[Entry, Any, set[int], bool], Iterable[tuple[int, Any]]]


def on_floats(entries: Sequence[Entry], seeds: Mapping[int, float], sources: Iterable[int]
              ) -> dict[int, float]:
    """Return adjoints of `sources` over entries whose values are all Python numbers.

    A source that no path reaches has no item in the result.
    """
    asked = set(sources)
    # No look ahead at what the sources reach: on scalars that costs more than the few products
    # that it would save, and where no path leads the source gets no adjoint anyway.
    adjoints = dict(seeds)
    wanted: dict[int, float] = {}
    entries = window(entries, asked, seeds)
    if any(entry[OP].kind == "stretch" for entry in entries):
        _with_stretches(entries, adjoints, asked, wanted)
    else:
        _on_floats(entries, adjoints, asked, wanted)
    wanted.update((i, adjoints[i]) for i in asked if i in adjoints)
    return wanted


def _with_stretches(entries: Sequence[Entry], adjoints: dict[int, float], asked: set[int],
                    wanted: dict[int, float]) -> None:
    end = len(entries)
    for k in range(end - 1, -2, -1):
        if k >= 0 and entries[k][OP].kind != "stretch":
            continue
        _on_floats(entries[k + 1:end], adjoints, asked, wanted)
        if k >= 0:
            stretch: Any = entries[k][OP]
            try:
                passed = stretch.pull_back(adjoints, asked, wanted)
            except EDGE:
                passed = False
            if not passed:
                _on_floats(stretch.expand(), adjoints, asked, wanted)
        end = k


def on_slots(ops: Sequence[Op], first: Sequence[Any], second: Sequence[Any],
             values: Sequence[float], fixed: Set[int], adjoints: list[float | None]) -> None:
    """Carry the adjoints, by slot, backwards over a Wengert list (`gradcli.engine.compiled.lines`).

    The products and sums are those that `_on_floats` has for single entries.

    ops: the operations of the slots from 0 on; inputs and constants have negative slots.
    first, second: slots of the operands; second is None for one, or if first is a tuple of several.
    values: of all slots.
    fixed: slots of constants.
    adjoints: of all slots, None where there is none yet; changed in place.
    """
    k = len(ops)
    for op, i, j in zip(reversed(ops), reversed(first), reversed(second), strict=True):
        k -= 1
        g = adjoints[k]
        if g is None:
            continue
        # The adjoint of a constant is not asked for; a product is as cheap as finding that out.
        if op is multiply:
            before = adjoints[i]
            adjoints[i] = g * values[j] if before is None else before + g * values[j]
            before = adjoints[j]
            adjoints[j] = g * values[i] if before is None else before + g * values[i]
        elif op is add:
            before = adjoints[i]
            adjoints[i] = g if before is None else before + g
            before = adjoints[j]
            adjoints[j] = g if before is None else before + g
        elif j is None and i.__class__ is int:
            rules = op.fast_rules or fast_rules(op)
            rule = rules[0] if rules else None
            if rule is None:
                continue
            try:
                c = g * (rule if rule.__class__ is float else rule(values[i], values[k]))
            except EDGE:
                c = g * slope_at_edge(op, 0, (values[i],), values[k])
            before = adjoints[i]
            adjoints[i] = c if before is None else before + c
        else:
            slots = i if j is None else (i, j)
            operands = [values[n] for n in slots]
            for n, rule, i in zip(range(len(slots)), op.fast_rules or fast_rules(op), slots,
                                  strict=False):
                if rule is None or i in fixed:
                    continue
                if rule.__class__ is float:
                    c = g if rule == 1.0 else g * rule
                else:
                    try:
                        c = g * rule(*operands, values[k])
                    except EDGE:
                        c = g * slope_at_edge(op, n, operands, values[k])
                before = adjoints[i]
                adjoints[i] = c if before is None else before + c


def _on_floats(entries: Sequence[Entry], adjoints: dict[int, float], asked: set[int],
               wanted: dict[int, float]) -> None:
    """Carry the adjoints backwards over entries, those of sources that are met into `wanted`."""
    take, known = adjoints.pop, adjoints.get
    for entry in reversed(entries):
        op, out, ids, values, ans, _, _, _ = entry
        g = take(out, None)
        if g is None:
            continue
        if out in asked:
            wanted[out] = g
        if op is multiply:
            i, j = ids
            if i is not None:
                before = known(i)
                c = g * values[1]
                adjoints[i] = c if before is None else before + c
            if j is not None:
                before = known(j)
                c = g * values[0]
                adjoints[j] = c if before is None else before + c
            continue
        if not op.elementwise:
            for n, c in cotangents(entry, g, {i for i in ids if i is not None}, False):
                adjoints[n] = adjoints[n] + c if n in adjoints else c
            continue
        rules = op.fast_rules or fast_rules(op)
        if not rules:  # a step
            continue
        for k, i in enumerate(ids):
            if i is not None:
                rule = rules[k]
                if rule.__class__ is float:
                    c = g if rule == 1.0 else g * rule
                elif rule is None:
                    continue
                else:
                    try:
                        c = g * rule(*values, ans)
                    except EDGE:
                        c = g * slope_at_edge(op, k, values, ans)
                before = known(i)
                adjoints[i] = c if before is None else before + c


def slope_at_edge(op: Op, k: int, values: Sequence[Any], ans: Any) -> Any:
    """Return a partial where Python's arithmetic raises: NumPy's value, inf or NaN."""
    with np.errstate(all="ignore"):
        wide = [np.float64(v) if type(v) is float else v for v in (*values, ans)]
        return plain(edge_rule(op, k)(*wide))


def reverse(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Iterable[int],
            *, emit: bool = False, shares: Shares | None = None) -> dict[int, Any]:
    """Return adjoints of `sources`, given `seeds`: id of a target to its cotangent.

    Cotangents are plain values of the target's shape, or tensors whose batch axes are seed axes in
    front of those of the target. With `emit` the sweep records itself on the current record.
    shares: function that returns each operand's share of a cotangent, by default `cotangents`. A
    source that no path reaches has no item in the result. NumPy is to be quiet.
    """
    asked = set(sources)
    entries = window(entries, asked, seeds)
    reached = active(entries, asked)
    adjoints: dict[int, Any] = {i: g for i, g in seeds.items() if i in reached}
    wanted: dict[int, Any] = {}
    record = records.current()
    place, in_rules = record.place, record.in_rules
    record.in_rules = True
    plain_arrays = shares is None and not emit and not record.checking
    shares = shares or cotangents
    take = adjoints.pop
    try:
        for entry in reversed(entries):
            op, out, ids, values, ans, _, record.place, batches = entry
            g = take(out, None)
            if g is None:
                continue
            if out in asked:
                wanted[out] = g
            if plain_arrays and op.by_arrays and op.rules and not batches and (
                    uniform(g, ans, values)):
                _on_arrays(op, ids, values, ans, g, reached, adjoints)
                continue
            for i, c in shares(entry, g, reached, emit):
                if record.checking:
                    from gradcli.engine.record.checking import check

                    check(c, f"the gradient of `{op.name}`", place=entry[PLACE])
                adjoints[i] = adjoints[i] + c if i in adjoints else c
    finally:
        record.place, record.in_rules = place, in_rules
    wanted.update((i, adjoints[i]) for i in asked if i in adjoints)
    return wanted


def _on_arrays(op: Op, ids: Sequence[int | None], values: Sequence[Any], ans: Any, g: Any,
               reached: set[int], adjoints: dict[int, Any]) -> None:
    """Carry the adjoints over an elementwise operation on arrays of one type and shape: its rules
    are run on NumPy's functions, and no share has to be summed.

    ids, values, ans: as in the entry. g: the cotangent of `ans`.
    """
    rules = op.array_rules or array_rules(op)
    for k, i in enumerate(ids):
        rule = rules[k]
        if i is not None and i in reached and rule is not None:
            if rule.__class__ is float:
                c = g if rule == 1.0 else -g if rule == -1.0 else g * rule
            else:
                c = g * rule(*values, ans)
            if c.dtype is not g.dtype:
                c = in_type_of(ans, c)
            before = adjoints.get(i)
            adjoints[i] = c if before is None else before + c


def operands(entry: Entry, emit: bool) -> list[Any]:
    """Return the operands as rules see them, and the result last.

    Emitted, they are tensors with their ids, constants too, so that all arithmetic of a rule goes
    through operations; bare, plain values, or tensors without id where batch axes have to be
    distinguished from core axes.
    """
    values, ids, batches = entry[VALUES], entry[IDS], entry[BATCH]
    if not emit and not batches:
        return [*values, entry[ANS]]
    *inner, out = batches or (0,) * (len(ids) + 1)
    xs: list[Any] = [
        Tensor(v, i if emit else None, b) for v, i, b in zip(values, ids, inner, strict=True)]
    xs.append(Tensor(entry[ANS], entry[OUT] if emit else None, out))
    return xs


def cotangents(entry: Entry, g: Any, reached: set[int], emit: bool,
               mended: Callable[[int, Any], Any] | None = None) -> Iterable[tuple[int, Any]]:
    """Yield (operand id, its share of the cotangent) for each operand that a derivative reaches.

    g: the cotangent of the entry's result.
    reached: ids that a derivative reaches.
    emit: whether to record the rule's operations.
    mended: function that replaces the share of operand k, before it is summed to the operand's
        shape.
    """
    op, ids = entry[OP], entry[IDS]
    if op.kind == UNREGISTERED:
        raise without_rule(entry)
    *xs, ans = operands(entry, emit)
    if entry[BATCH] and type(g) is not Tensor:
        g = Tensor(g, None, 0)
    turned = op.holomorphic and is_complex(entry[ANS])
    if turned:
        from gradcli.ops.table.complex_numbers import conj, real

        # In TensorFlow's convention the gradient of a holomorphic function is conj(f') g.
        g = conj(g)
    parts: Sequence[Any]
    if op.by_parts:
        parts = op.rules[0](g, ans, *xs, **entry[ATTRIBUTES])  # type: ignore[misc, operator]
    for k, i in enumerate(ids):
        if i not in reached or not op.edge(k):
            continue
        assert i is not None
        if op.elementwise:
            c = times(g, slope(op, k, xs, ans))
        elif op.by_parts:
            c = parts[k]
            if c is None:
                continue
        else:
            c = op.rules[min(k, len(op.rules) - 1)](  # type: ignore[misc, operator]
                g, ans, *xs, **entry[ATTRIBUTES])
        if turned:
            c = conj(c) if is_complex(xs[k]) else real(c)
        if mended is not None:
            c = mended(k, c)
        yield i, shaped_like(c, xs[k], entry, k, g)


def without_rule(entry: Entry) -> GradcliError:
    """Return the error for a derivative through an operation that has no rule."""
    name = entry[OP].name
    place = entry[PLACE]
    return error("E0503", f"`{name}` has no gradient: no rule is registered for it",
                 span=place[2:4] if place is not None and len(place) > 2 else None,
                 help=f'register one with @gradient_of({name}) before a def, or in Python with'
                 f' @gradcli.register_gradient("{name}")')


def slope(op: Op, k: int, xs: Sequence[Any], ans: Any) -> Any:
    """Return the partial of an elementwise operation in argument k."""
    rule = op.rules[k]
    if not callable(rule):
        return rule
    try:
        return rule(*xs, ans)
    except GradcliError:
        raise
    except EDGE:
        return slope_at_edge(op, k, xs, ans)


def times(g: Any, slope: Any) -> Any:
    """Return g*slope, without an entry for the commonest slopes 1 and -1."""
    if type(slope) is float:
        if slope == 1.0:
            return g
        if slope == -1.0:
            return negative(g)
    return multiply(g, slope)


def shaped_like(c: Any, x: Any, entry: Entry, k: int, g: Any) -> Any:
    """Return the cotangent summed back to its operand's core shape and batch axes, in its type.

    Axes of a cotangent are seed, then batch, then core: seed axes are never summed.

    c, x: the share of operand k, and the operand. g: the cotangent of the entry's result, which has
    the seed axes.
    """
    shape = core_shape(x)
    if core_shape(c) != shape:
        if len(core_shape(c)) < len(shape):
            raise RuntimeError(f"the rule of `{entry[OP].name}` for argument {k + 1} gave shape"
                        f" {list(core_shape(c))}, not {list(shape)}")
        c = sum_to(c, shape=shape)
    if entry[BATCH]:
        out, this = entry[BATCH][-1], entry[BATCH][k]
        if this < out and not entry[OP].batching:
            seeds = (g.batch if type(g) is Tensor else 0) - out
            surplus = (c.batch if type(c) is Tensor else 0) - seeds - this
            if surplus > 0:
                c = sum_batch(c, at=seeds, count=surplus)
    return in_type_of(x, c)


def in_type_of(x: Any, c: Any) -> Any:
    """Return `c`, a derivative, in the floating point type of `x`."""
    v, w = c.value if type(c) is Tensor else c, x.value if type(x) is Tensor else x
    if getattr(v, "dtype", float) == getattr(w, "dtype", float):
        return c
    dtype = dtype_of(w)
    return cast_float(c, dtype=dtype) if {dtype, dtype_of(v)} <= {*FLOAT_DTYPES} else c
