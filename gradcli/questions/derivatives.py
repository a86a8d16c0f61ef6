"""Gradients, Jacobians and Hessians of a target by its sources, in the mode that was asked for."""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record import record as records
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.lang.running.run import parts, tensor_of
from gradcli.ops import PUBLIC
from gradcli.ops.values import has_nan, plain, zeros
from gradcli.questions.question import seeds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.question import Question


def gradients(question: Question, run: Run, target: Target, bindings: Sequence[Binding],
              emit: bool = False) -> list[Any]:
    """Return per source the gradient of the (weighted) sum of the target's elements, or None.

    emit: recorded. Raises Unrecorded where it has no recorded form.
    """
    if question.mode == "finite" and not emit:
        from gradcli.questions.differences import finite

        return [finite(question, run, target, b, summed=True) for b in bindings]
    tensors = parts(target)
    seeds = [] if question.output_gradient is None else seeds_of(question, tensors)
    sources = [question.source(run, b) for b in bindings]

    if question.mode == "reverse":
        found = calculus.gradient(tensors, sources, seeds=seeds, emit=emit, tensorflow=question.tf)
    elif not emit:
        found = _absorbed(
            [_forward(tensors, seeds, s) for s in sources], sources,
            lambda spoiled: calculus.gradient(tensors, spoiled, seeds=seeds,
                                              tensorflow=question.tf))
    elif question.mode == "forward" and not seeds and len(tensors) == 1 and not any(
            t.shape for t in (*tensors, *sources)):
        found = [calculus.jvp(tensors[0], [s], [1.0], emit=True) for s in sources]
    else:
        raise unrecorded()
    return with_constants(question, found, tensors, sources, ())


def _absorbed(found: list[Any], sources: Sequence[Tensor],
              backwards: Callable[[Sequence[Tensor]], list[Any]]) -> list[Any]:
    """Return what tangents found; where that is NaN, what the reverse sweep does: only that one
    knows which zeros absorb an infinite slope.
    """
    spoiled = [k for k, g in enumerate(found) if g is not None and has_nan(calculus.numbers_of(g))]
    if spoiled:
        for k, g in zip(spoiled, backwards([sources[k] for k in spoiled]), strict=True):
            found[k] = g
    return found


def with_constants(question: Question, found: list[Any], tensors: Sequence[Tensor],
                    sources: Sequence[Tensor], shape: Sequence[int]) -> list[Any]:
    """Return the derivatives with 0 for None where the target is itself a derivative and does not
    depend on the source. shape: of the target, of a Jacobian.
    """
    if question.tf or not question.as_data or not (record := records.current()).derived:
        return found
    from gradcli.engine.sweeps import constant

    ids = [t.id for t in tensors if t.id is not None]
    return [
        zeros((*shape, *s.shape)) if g is None and s.id is not None and constant.is_constant(
            record.history(), record.derived, ids, [s.id]) else g
        for g, s in zip(found, sources, strict=True)]


def _forward(tensors: Sequence[Tensor], seeds: Sequence[Any], source: Tensor) -> Any:
    """Return the gradient of the weighted sum from tangents in all directions of one source."""
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
    """Return the sum over the target's axes of a Jacobian times the target's weights."""
    weights = np.broadcast_to(weight, target_shape)
    return plain(np.tensordot(weights, rows, axes=len(target_shape)))


def jacobians(question: Question, run: Run, target: Target, bindings: Sequence[Binding],
              emit: bool = False) -> list[Any]:
    """Return per source the Jacobian, target shape + source shape, or None. emit: as for gradients.
    """
    if question.mode == "finite" and not emit:
        from gradcli.questions.differences import finite

        return [finite(question, run, target, b, summed=False) for b in bindings]
    tensor, sources = tensor_of(target), [question.source(run, b) for b in bindings]

    def by(mode: str, sources: Sequence[Tensor]) -> list[Any]:
        return calculus.jacobian(tensor, sources, mode=mode, emit=emit,
                                 sparse=question.sparse and not emit, each=question.element_bytes)

    if question.mode == "reverse":
        found = by("auto", sources)
    elif not emit:
        found = _absorbed(by("forward", sources), sources, lambda spoiled: by("reverse", spoiled))
    else:
        raise unrecorded()
    return with_constants(question, found, [tensor], sources, tensor.shape)


def hessian(question: Question, run: Run, target: Target, bindings: Sequence[Binding],
            emit: bool = False) -> calculus.Hessian:
    """Return second derivatives by the mode that was asked for; None where the first one is. emit:
    as for gradients.
    """
    if question.mode == "finite":
        if emit:
            raise unrecorded()
        from gradcli.questions.differences import finite_hessian

        found = calculus.Hessian()
        found.blocks.update({
            (i, j): finite_hessian(question, run, target, row, column)
            for i, row in enumerate(bindings) for j, column in enumerate(bindings)})
        return found
    return calculus.hessian(
        tensor_of(target), [question.source(run, b) for b in bindings],
        mode="forward" if question.mode == "reverse" else "reverse", emit=emit,
        sparse=question.sparse and not emit, each=question.element_bytes)


def unrecorded() -> Exception:
    """Return what tells that a question has no recorded form."""
    from gradcli.engine.compiled.trace import Unrecorded

    return Unrecorded()


def total(target: Target) -> Tensor:
    """Return the sum of the target's elements."""
    whole = tensor_of(target)
    if whole.shape:
        whole = PUBLIC["sum"](whole)
    return whole if isinstance(whole, Tensor) else leaf(whole)
