"""Gradients and Jacobians as answers."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record import record as records
from gradcli.engine.sweeps.derivatives import seed_of
from gradcli.lang.running.run import parts, plain_structure, tensor_of
from gradcli.ops.values import has_nan, plain, shape_of, zeros
from gradcli.questions.ask import answer, moved, point, tensors_of, troubles
from gradcli.questions.notes import of_gradient as notes_of_gradient
from gradcli.questions.plain_data import EACH, data, derivative, note, reason, seen, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.ask import Answer, Ask

    Question = Callable[[Ask, Target, list[Binding]], list[Any]]


def first_order(ask: Ask, command: str, field: str, question: Question) -> Answer:
    """One result per target, in it one item per source."""
    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        tensors = tensors_of(target)
        value = plain_structure(target.tensor)
        count = sum([calculus.size(t.shape) for t in tensors])
        several = command == "grad" and count != 1
        found = question(ask, target, bindings)
        common = troubles(ask, run, target)
        common += moved(ask, run, target, bindings)
        if several:
            from gradcli.explain import notes

            common.append(note(ask, notes.summed(target.name, count, target.span)))
        sources = [
            _source(ask, run, target, binding, g, field)
            for binding, g in zip(bindings, found, strict=True)]
        if ask.verify:
            from gradcli.questions.differences import verify

            verify(ask, target, bindings, sources, field)
        return {"of": target.name, "shape": shape(value), "value": data(value),
                "summed": several, "sources": sources, "notes": common}

    return answer(ask, command, each_target(ask, of))


def each_target(ask: Ask, work: Callable[[Run, Target, list[Binding]], Answer]) -> list[Answer]:
    """Run the program; what `work` says of each target, given the sources, in its record."""
    run = ask.run()
    with run.record:
        targets = ask.program.targets(run, ask.of)
        bindings = ask.program.sources(run, ask.wrt)
        return [work(run, target, bindings) for target in targets]


def _source(ask: Ask, run: Run, target: Target, binding: Binding, g: Any, field: str) -> Answer:
    value = binding.value.value
    reasons: list[Answer] = []
    found: list[Answer] = []
    if g is None:
        from gradcli.explain.notes import requested_zero
        from gradcli.questions.causes import causes

        why = causes(ask, target, binding)
        reasons = [reason(ask, r) for r in why]
        if ask.unconnected == "zero":
            whole = shape_of(plain_structure(target.tensor)) if field == "jacobian" else ()
            g = zeros(whole + shape_of(value))
            found += [note(ask, n) for n in requested_zero(why[0])]
    else:
        found = notes_of_gradient(ask, run, target, binding, seen(g), field)
    source = {
        "wrt": binding.name, "shape": list(shape_of(value)), **point(ask, run, target, binding),
        **derivative(field, g, value, ask.sparse), "reasons": reasons, "notes": found}
    if ask.verbose and field == "gradient":
        from gradcli.questions.way import way_between

        source.update(way_between(ask, target, binding, source["notes"]))
    return source


# --- gradients --------------------------------------------------------------------------------


def gradients(ask: Ask, target: Target, bindings: list[Binding]) -> list[Any]:
    """Per source the gradient of the (weighted) sum of the target's elements, or None."""
    if ask.mode == "finite":
        from gradcli.questions.differences import finite

        return [finite(ask, target, b, summed=True) for b in bindings]
    tensors = parts(target)
    seeds = seeds_of(ask, tensors)
    sources = [ask.source(b) for b in bindings]
    def backwards(sources: Sequence[Tensor]) -> list[Any]:
        return calculus.gradient(tensors, sources, seeds=seeds, tensorflow=ask.tf)

    if ask.mode == "reverse":
        found = backwards(sources)
    else:
        found = _absorbed([_forward(tensors, seeds, s) for s in sources], sources, backwards)
    return with_constants(ask, found, tensors, sources, ())


def _absorbed(found: list[Any], sources: Sequence[Tensor],
              backwards: Callable[[Sequence[Tensor]], list[Any]]) -> list[Any]:
    """What tangents found; where that is NaN, what the reverse sweep does: only that one knows
    which zeros absorb an infinite slope.
    """
    spoiled = [k for k, g in enumerate(found) if g is not None and has_nan(calculus.numbers_of(g))]
    if spoiled:
        for k, g in zip(spoiled, backwards([sources[k] for k in spoiled]), strict=True):
            found[k] = g
    return found


def with_constants(ask: Ask, found: list[Any], tensors: Sequence[Tensor],
                    sources: Sequence[Tensor], shape: Sequence[int]) -> list[Any]:
    """0 for None where the target is itself a derivative and does not depend on the source; shape:
    of the target, of a Jacobian.
    """
    record = records.current()
    if ask.tf or not record.derived:
        return found
    from gradcli.engine.sweeps import constant

    ids = [t.id for t in tensors if t.id is not None]
    return [
        zeros((*shape, *s.shape)) if g is None and s.id is not None and constant.is_constant(
            record.history(), record.derived, ids, [s.id]) else g
        for g, s in zip(found, sources, strict=True)]


def seeds_of(ask: Ask, tensors: Sequence[Tensor]) -> list[Any]:
    """--output-gradient as one weight per target; empty if it is not given. Raises E0301 for one
    that does not fit its target.
    """
    found = _weights(ask, tensors)
    for t, weight in zip(tensors, found, strict=False):
        seed_of(t, weight)
    return found


def _weights(ask: Ask, tensors: Sequence[Tensor]) -> list[Any]:
    weights = ask.output_gradient
    if weights is None:
        return []
    if len(tensors) == 1:
        return [float(weights) if shape_of(weights) == () else weights]
    given = list(weights) if shape_of(weights) else [weights] * len(tensors)
    if len(given) != len(tensors):
        raise GradcliError(Diagnostic(
            "E0313", f"{len(given)} output gradients for {len(tensors)} targets",
            span=(0, len(str(data(weights)))),
            source=Source(str(data(weights)), "--output-gradient"),
            help="give one for each target, or one number for all"))
    return [float(w) if shape_of(w) == () else w for w in given]


def _forward(tensors: Sequence[Tensor], seeds: Sequence[Any], source: Tensor) -> Any:
    """The gradient of the weighted sum from tangents in all directions of one source."""
    total: Any = None
    for k, t in enumerate(tensors):
        weight = seeds[k] if seeds else 1.0
        scalar = t.shape == () == source.shape
        part = calculus.jvp(t, [source], [1.0]) if scalar else (
            calculus.jacobian(t, [source], mode="forward")[0])
        if part is not None:
            with quiet():
                part = part * weight if scalar else _weighted(part, weight, t.shape)
                total = part if total is None else total + part
    return total


def _weighted(rows: Any, weight: Any, target_shape: Sequence[int]) -> Any:
    """The sum over the target's axes of a Jacobian times the target's weights."""
    weights = np.broadcast_to(weight, target_shape)
    return plain(np.tensordot(weights, rows, axes=len(target_shape)))


# --- Jacobians --------------------------------------------------------------------------------


def jacobians(ask: Ask, target: Target, bindings: list[Binding]) -> list[Any]:
    """Per source the Jacobian, target shape + source shape, or None."""
    if ask.mode == "finite":
        from gradcli.questions.differences import finite

        return [finite(ask, target, b, summed=False) for b in bindings]
    tensor, sources = tensor_of(target), [ask.source(b) for b in bindings]

    def by(mode: str, sources: Sequence[Tensor]) -> list[Any]:
        return calculus.jacobian(tensor, sources, mode=mode, sparse=ask.sparse, each=EACH)

    found = by("auto", sources) if ask.mode == "reverse" else _absorbed(
        by("forward", sources), sources, lambda spoiled: by("reverse", spoiled))
    return with_constants(ask, found, [tensor], sources, tensor.shape)
