"""Hessians as answers."""

from __future__ import annotations

from gradcli.engine import calculus
from gradcli.lang.running.calls import plain_structure
from gradcli.ops.values import shape_of, zeros
from gradcli.questions import digits
from gradcli.questions.derivatives import hessian, total
from gradcli.questions.notes import boundaries, left_out, moved, point, troubles
from gradcli.questions.plain_data import data, derivative, is_finite, is_zero, seen, shape
from gradcli.questions.question import answer, each_target, note, reason, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.explain.catalogue import Note
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

    Blocks = Mapping[tuple[int, int], Any]

# Of more sources than these the zeros among the blocks are not explained: each takes a sweep.
MAX_EXPLAINED = 8


def second_order(question: Question) -> Answer:
    """Return one result per target, in it one block per pair of sources."""
    return answer(question, "hess", each_target(
        question, lambda run, target, bindings: _result(question, run, target, bindings)))


def _result(question: Question, run: Run, target: Target, bindings: list[Binding]) -> Answer:
    value = plain_structure(target.tensor)
    common = troubles(question, run, target) + moved(question, run, target, bindings)
    told_at = set()
    if run.record.has_kinks() or any(len(run.bindings.get(b.name, ())) > 1 for b in bindings):
        from gradcli.explain import notes

        for binding in bindings:
            for n in (*notes.kinks(run, tensors_of(target), binding.value, question.program.source,
                                    order=2),
                      *notes.rebound(run, binding)):
                told_at |= {n.span} if n.code in ("kink", "tie") else set()
                if note(question, n) not in common:
                    common.append(note(question, n))
    for binding in bindings:
        common += [told for n in boundaries(question, run, target, binding, 2)
                   for told in [note(question, n)] if told not in common and n.span not in told_at]
    if any(t.shape for t in tensors_of(target)) or isinstance(target.tensor, list):
        from gradcli.explain import notes

        count = sum(calculus.size(t.shape) for t in tensors_of(target))
        common.append(note(question, notes.summed(target.name, count, target.span)))
    found = hessian(question, run, target, bindings)
    points = {b.name: point(question, run, target, b) for b in bindings}
    states = {name: one["states"] for name, one in points.items() if "states" in one}
    if run.record.lost:
        from gradcli.explain import notes

        for binding in bindings:
            common += [note(question, n) for n in notes.lost(
                run.record, binding.value, binding.name, target.span)]
    result = {
        "of": target.name, "shape": shape(value), "value": data(value),
        "summed": bool(shape(value)), "at": {name: one["at"] for name, one in points.items()},
        **({"states": states} if states else {}),
        "blocks": _block_data(question, run, target, bindings, found), "notes": common}
    if question.verify:
        from gradcli.questions.differences import verify_blocks

        verify_blocks(question, run, target, bindings, result["blocks"])
    if question.eig:
        result.update(_eigenvalues(bindings, {
            place: block.dense() if hasattr(block, "coordinates") else block
            for place, block in found.blocks.items()}))
    return result


def _block_data(question: Question, run: Run, target: Target, bindings: list[Binding],
                found: calculus.Hessian) -> list[Answer]:
    """Return the blocks as data: a missing one with the causes of its row's and column's None, a
    zero by structure with a note (with --tf it is None, as in TensorFlow).
    """
    blocks = found.blocks
    known = {}
    for i, b in enumerate(bindings):
        if blocks[i, i] is None:
            from gradcli.questions.causes import causes

            known[i] = causes(question, run, target, b)
    told = []
    for (i, j), block in sorted(blocks.items()):
        why: list[Answer] = []
        lost = [] if block is None or len(bindings) > MAX_EXPLAINED else digits.of_second(
            question, run, target, bindings[i], bindings[j], seen(block))
        notes: list[Answer] = []
        unsure: list[Note] = []
        if question.mode == "finite":
            from gradcli.questions.differences import rough

            unsure = rough(question, run, target, bindings[i], bindings[j])
        part = [] if block is None else left_out(
            question, run, target, bindings[i:i + 1] + bindings[j:j + 1])
        whole = shape_of(bindings[i].value.value) + shape_of(bindings[j].value.value)
        if block is None:
            because = [*known.get(i, ()), *(known.get(j, ()) if j != i else ())]
            for r in because:
                if reason(question, r) not in why:
                    why.append(reason(question, r))
            if question.unconnected == "zero":
                from gradcli.explain.notes import requested_zero

                block = zeros(whole)
                notes = [note(question, n) for n in requested_zero(because[0])]
        elif unsure:
            notes = [note(question, n) for n in unsure]
        elif part:
            notes = part + [note(question, n) for n in lost]
        elif (i, j) in found.constant:
            from gradcli.explain.catalogue import Note, Reason

            constant = Note("derivative-constant", f"the first derivative in {bindings[i].name}"
                            f" does not depend on {bindings[j].name}", target.span)
            if question.tf and question.unconnected == "none":
                block = None
                why = [reason(question, Reason(constant.code, constant.message, constant.span))]
            else:
                notes = [note(question, constant)]
        elif lost:
            notes = [note(question, n) for n in lost]
        elif is_zero(seen(block)) and len(bindings) <= MAX_EXPLAINED:
            from gradcli.explain.numbers import zeros as why_zero

            notes = [note(question, n) for n in why_zero.of_second(
                run, total(target), question.source(run, bindings[i]),
                question.source(run, bindings[j]), question.program.source)]
        elif not is_finite(seen(block)):
            from gradcli.explain.numbers import nonfinite
            from gradcli.questions import retrying

            notes = [note(question, n) for n in nonfinite.of_second(
                run, total(target), question.source(run, bindings[i]),
                question.source(run, bindings[j]), seen(block), question.program.source,
                retrying.of_second(question, run, target, bindings[i].name, bindings[j].name))]
        told.append({
            "row": bindings[i].name, "col": bindings[j].name, "shape": list(whole),
            **derivative("hessian", block, bindings[j].value.value, question.sparse),
            "reasons": why, "notes": notes})
    return told


def _eigenvalues(bindings: list[Binding], blocks: Blocks) -> Answer:
    """Return the eigenvalues of the Hessian over all elements of all sources, ascending, and its
    definiteness by their signs.
    """
    from gradcli.base.lazy import np

    if any(block is None for block in blocks.values()):
        return {"eigenvalues": None, "definiteness": None}
    sizes = [calculus.size(shape_of(b.value.value)) for b in bindings]
    matrix = np.block([
        [np.reshape(blocks[i, j], (m, n)) for j, n in enumerate(sizes)]
        for i, m in enumerate(sizes)])
    if not np.isfinite(matrix).all():
        return {"eigenvalues": None, "definiteness": None}
    values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    # An eigenvalue below the rounding of the largest one has no sign to speak of.
    zero = 1e-12 * max(1e-300, float(np.abs(values).max(initial=0.0)))
    above, below = bool((values > zero).any()), bool((values < -zero).any())
    flat = bool((np.abs(values) <= zero).any())
    if above and below:
        kind = "indefinite"
    elif above:
        kind = "positive semidefinite" if flat else "positive definite"
    elif below:
        kind = "negative semidefinite" if flat else "negative definite"
    else:
        kind = "zero"
    return {"eigenvalues": values.tolist(), "definiteness": kind}
