"""Derivatives checked against each other: reverse, forward, complex step, central differences.

Second derivatives are looked at as well where that is cheap: they are first ones of the gradient.
`verify` answers as plain data in the shape of `gradcli/schemas/verify.schema.json`. The first two
are what the engine says; the other two know nothing of rules, so what disagrees with them is wrong.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.calculus import size
from gradcli.engine.finite import difference
from gradcli.engine.record.record import ANS
from gradcli.lang.running.calls import plain_structure
from gradcli.ops.values import dtype_of, is_complex, is_float, plain, shape_of
from gradcli.questions import VERIFY_TOLERANCE
from gradcli.questions.notes import left_out, moved, point
from gradcli.questions.plain_data import data, shape, whole
from gradcli.questions.question import answer, each_target, note, place, reason, seeds_of
from gradcli.questions.verify import suspects
from gradcli.questions.verify.compare import (
    AGREE,
    DIFFER,
    FLOOR,
    NOISE,
    NONE,
    UNDECIDED,
    WHY,
    judge,
    without_part,
    worst,
)
from gradcli.questions.verify.complex_step import complex_step
from gradcli.questions.verify.methods import (
    SHIFTS,
    CheckedFunction,
    Directions,
    central,
    forward,
    reverse,
    reverse_moved,
    unchangeable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

__all__ = ["verify", "worst"]

# Second derivatives are cheap for so many numbers and so long a record.
MOST_SOURCES = 3
MOST_ENTRIES = 500
# Notes where a gradient has no slope: its function has a kink.
KINKS = ("undecided-kink", "undecided-jump")


def verify(question: Question) -> Answer:
    """Check each target by each source, element by element (of large ones in random directions)."""
    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        value = plain_structure(target.tensor)
        function = CheckedFunction(question, run, target)
        sources = [verified(run, function, binding) for binding in bindings]
        blocks = _second(run, function, [
            b for b, s in zip(bindings, sources, strict=True) if s["verdict"] == AGREE])
        return {"of": target.name, "shape": shape(value), "value": data(value),
                "verdict": worst([s["verdict"] for s in (*sources, *blocks)]),
                "sources": sources, "blocks": blocks}

    with np.errstate(all="ignore"):     # what overflows is told as the number that it becomes
        found = answer(question, "verify", each_target(question, of))
    found["verdict"] = worst([r["verdict"] for r in found["results"]])
    return found


def _second(run: Run, function: CheckedFunction, bindings: list[Binding]) -> list[Answer]:
    """Return the derivatives by pairs of these sources, each pair once; none where that is not
    cheap.
    """
    if run.record.has_kinks():
        from gradcli.explain.notes import kinks

        # A second derivative at a kink is a convention.
        bindings = [b for b in bindings if not kinks(
            run, function.tensors, b.value, function.question.program.source, order=2)]
    numbers = (*function.tensors, *[b.value for b in bindings])
    if len(bindings) > MOST_SOURCES or len(run.record.history()) > MOST_ENTRIES or any(
            type(t.value) is not float for t in numbers) or len(function.tensors) != 1:
        return []
    found = []
    for k, row in enumerate(bindings):
        gradient = CheckedFunction(function.question, run, function.target, row)
        for column in bindings[k:]:
            told = verified(run, gradient, column)
            del told["wrt"], told["at"]
            if not any(n["code"] in KINKS for n in told["notes"]):
                found.append({"row": row.name, "col": column.name, **told})
    return found


# --------------------------------------------------------------------------------------------------
# --verify of grad, jac and hess: beside the column of differences, what all methods say.
#
# The column stays that of differences; where they are no good and the complex step is, it has that.
# A derivative is wrong where the methods say so, and where they cannot decide, if differences are
# far
# off. What is to blame becomes a note. Of second derivatives the methods are put to the gradient,
# as they are to any function, and to the target itself: a Hessian is no better than its gradient.

def beside(question: Question, found: Answer) -> None:
    """Complete the checks in an answer."""
    results = iter(found["results"])

    def of(run: Run, target: Target, bindings: list[Binding]) -> Answer:
        result = next(results)
        if found["command"] == "hess":
            _blocks(question, run, target, bindings, result["blocks"])
        else:
            _sources(question, run, target, bindings, result["sources"])
        return {}

    if any("verify" in part for result in found["results"]
           for part in (*result.get("sources", ()), *result.get("blocks", ()))):
        with np.errstate(all="ignore"):
            each_target(question, of)


def _sources(question: Question, run: Run, target: Target, bindings: list[Binding],
             sources: list[Answer]) -> None:
    function = CheckedFunction(question, run, target)
    for binding, source in zip(bindings, sources, strict=True):
        if "verify" in source:
            field = "gradient" if "gradient" in source["verify"] else "jacobian"
            told = verified(run, function, binding)
            better = None
            if told["verdict"] == AGREE and not told["directions"]:
                weights = _weights(question, function) if field == "gradient" else None
                better = _by_complex(told, np.shape(source["verify"][field]), weights)
            _conclude(source, field, [told], better)


def _blocks(question: Question, run: Run, target: Target, bindings: list[Binding],
            blocks: list[Answer]) -> None:
    function = CheckedFunction(question, run, target)
    by_name = {b.name: b for b in bindings}
    firsts: dict[str, Answer] = {}
    for block in blocks:
        if "verify" in block:
            row, column = by_name[block["row"]], by_name[block["col"]]
            for one in (row, column):
                if one.name not in firsts:
                    firsts[one.name] = verified(run, function, one)
            gradient = CheckedFunction(question, run, target, row)
            told = verified(run, gradient, column)
            better = None
            if told["verdict"] == AGREE and not told["directions"]:
                better = _by_complex(told, np.shape(block["verify"]["hessian"]), None)
            _conclude(block, "hessian", [
                told, *[firsts[name] for name in dict.fromkeys((row.name, column.name))]], better)


def _weights(question: Question, function: CheckedFunction) -> Any:
    """Return the weights of all elements of the targets."""
    seeds = seeds_of(question, function.tensors) or [1.0] * len(function.tensors)
    return np.concatenate([np.broadcast_to(seed, t.shape).ravel() for seed, t in zip(
        seeds, function.tensors, strict=True)])


def _by_complex(told: Answer, shape: tuple[int, ...], weights: Any) -> Any:
    """Return the derivative by the complex step, in the shape of an answer; None if there is none.
    weights: of the target's elements, to be summed over.
    """
    found = [one["complex"] for one in told["elements"]]
    if not found or any(x is None for x in found):
        return None
    if weights is not None:
        found = weights @ np.reshape(found, (len(weights), -1))
    return plain(np.reshape(found, shape))


def _conclude(part: Answer, field: str, told: list[Answer], better: Any) -> None:
    check = part["verify"]
    verdict = worst([one["verdict"] for one in told])
    if better is not None and not check["difference"] <= VERIFY_TOLERANCE:
        off = difference(whole(part, field), better)
        if off <= VERIFY_TOLERANCE:
            check.update({"method": "complex step", field: data(better), "difference": off})
    check["agrees"] = verdict != DIFFER and bool(
        check["difference"] <= VERIFY_TOLERANCE or all(one["verdict"] == AGREE for one in told))
    if check["agrees"]:
        return
    for one in told:
        for what in (*one["causes"], *one["notes"]):
            note = {name: what[name] for name in ("code", "message", "line", "column")}
            if note not in part["notes"]:
                part["notes"].append(note)


# --------------------------------------------------------------------------------------------------
# One function by one source: all methods, what they are held to be, and what is to blame.

# A rule that is right for the weight 1 only, or for positive ones, gives itself away.
OTHER_WEIGHT = -2.0
# Times its error estimate, a difference is not 0.
SURE = 10.0
# How a complex step is tried again: what is lost in its rounding is then larger by as much.
SHORTER = 1e-3
# A derivative that is smaller is lost when it is multiplied by the step.
LEAST = 1e-190


def verified(run: Run, function: CheckedFunction, binding: Binding) -> Answer:
    """Return what the methods say of a function of the run whose record is open, by one source."""
    question, target = function.question, function.target
    value = binding.value.value
    told: Answer = {
        "wrt": binding.name, "shape": list(shape_of(value)),
        **point(question, run, target, binding), "verdict": NONE, "directions": False,
        "methods": {}, "elements": [], "causes": [], "notes": [], "reasons": []}
    tensors = function.tensors
    if any(map(is_complex, (value, *tensors))):
        told["notes"] = [{"code": "complex", "message": f"{target.name} is not checked by"
                          f" {binding.name}: there are complex numbers",
                          **place(question, target.span)}]
        return told
    if not all(size(shape_of(x)) for x in (value, *(t.value for t in tensors))):
        told["notes"] = [{"code": "empty", "message": f"{target.name} by {binding.name}: there is"
                          " nothing to check, as one of them is empty",
                          **place(question, target.span)}]
        return told
    source = question.source(run, binding)
    along = Directions([t.shape for t in tensors], shape_of(value)) if is_float(value) else None
    by_reverse = None if along is None else reverse(tensors, source, along)
    if by_reverse is None and along is not None and function.row is not None and tensors:
        # A gradient that does not depend on the source: its derivative is 0.
        by_reverse = np.zeros((len(along.rows), len(along.columns)))
    if along is None or by_reverse is None:
        from gradcli.questions.causes import causes

        found = causes(question, run, target, binding)
        told["reasons"] = [reason(question, r) for r in found]
        if along is not None and any(r.code == "path-custom-none" for r in found):
            _explain_none(run, function, binding, along, told)
        return told
    fixed = unchangeable(run, binding)
    by_difference = None if fixed else central(function, binding, along)
    by_complex, refusal = complex_step(run, function, binding, along)
    entries = suspects.rules_on_the_way(run, tensors, source)
    told["directions"] = along.random
    told["methods"] = {
        "reverse": None, "forward": None, "complex": refusal or None, "central": fixed or None}
    moves: list[Any] = []
    shakes: list[Any] = []

    def rounding() -> Any:
        if not moves:
            moves.append(_rounding(run, function, binding, along, by_reverse, by_complex, fixed))
        return moves[0]

    def shaken() -> Any:
        if not shakes:
            again, _ = complex_step(run, function, binding, along, shaken=True)
            shakes.append(by_complex if again is None else again)
        return shakes[0]

    def edge() -> bool:
        from gradcli.explain.notes import at_edge

        return at_edge(run, source)

    judged = judge(
        along, by_reverse, forward(tensors, source, along), by_complex, by_difference,
        single=_single(run, value), custom=bool(entries), edge=edge,
        rounding=rounding, shaken=shaken)
    told["elements"] = judged.elements
    told["verdict"] = worst([e["verdict"] for e in told["elements"]])
    told["notes"] = moved(question, run, target, [binding])
    part = left_out(question, run, target, [binding] if function.row is None else [
        function.row, binding])
    if part:
        told["notes"] += part
        for one in told["elements"]:
            if one["verdict"] == AGREE and not without_part(one):
                one["verdict"] = DIFFER
        told["verdict"] = worst([e["verdict"] for e in told["elements"]])
    told["notes"] += [{"code": f"undecided-{why}", "message": f"{target.name} by {binding.name}:"
                       f" {WHY[why]}", **place(question, target.span)} for why in judged.why]
    _explain(run, function, binding, along, told, entries)
    return told


def _explain_none(run: Run, function: CheckedFunction, binding: Binding, along: Directions,
                  told: Answer) -> None:
    """Mark a gradient of None as undecided where differences have a slope: a gradient function may
    return none on purpose.
    """
    found = None if unchangeable(run, binding) else central(function, binding, along)
    if found is None:
        return
    sure = np.abs(found.values) > np.maximum(SURE * found.errors, FLOOR * NOISE * found.noise)
    if sure.any():
        told["verdict"] = UNDECIDED
        slope = float(found.values[np.unravel_index(np.argmax(sure), sure.shape)])
        told["notes"] = [{
            "code": "undecided-none", "message": f"{function.target.name} by {binding.name}: a"
            f" gradient function returns none, and by differences the derivative is {slope:.6g}",
            **place(function.question, function.target.span)}]


def _rounding(run: Run, function: CheckedFunction, binding: Binding, along: Directions,
              by_reverse: Any, by_complex: Any, fixed: str) -> Any:
    """Return a bound of what rounding does to the numbers: by how much they change when the source,
    or every result on the way, is off by some last digits, or the complex step has another length;
    and numbers too small for it.
    """
    moved = np.zeros(np.shape(by_reverse))
    if by_complex is not None:
        for how in ({"shorter": SHORTER}, {"shaken": True}):
            again, _ = complex_step(run, function, binding, along, **how)
            if again is not None:
                moved = np.fmax(moved, np.abs(again - by_complex))
        moved[by_complex == 0] = np.fmax(moved, LEAST)[by_complex == 0]
    for shift in SHIFTS:
        again, _ = (None, "") if by_complex is None else complex_step(
            run, function, binding, along, shift)
        if again is not None:
            moved = np.fmax(moved, np.abs(again - by_complex))
        again = None if fixed else reverse_moved(function, binding, along, shift)
        if again is not None:
            moved = np.fmax(moved, np.abs(again - by_reverse))
    return moved


def _single(run: Run, value: Any) -> bool:
    """Return whether anything was computed with float32."""
    return dtype_of(value) == "float32" or any(
        dtype_of(e[ANS]) == "float32" for e in run.record.history())


def _explain(run: Run, function: CheckedFunction, binding: Binding, along: Directions, told: Answer,
             entries: list[Entry]) -> None:
    """Add what is to blame for a difference; that a rule is not linear is one, too."""
    question, tensors = function.question, function.tensors
    if entries:
        scaled = reverse(tensors, question.source(run, binding), along, weight=OTHER_WEIGHT)
        if suspects.not_linear(told["elements"], scaled):
            told["verdict"] = DIFFER
            told["causes"].append({
                "code": "upstream", "message": "a gradient function does not multiply by its"
                " upstream gradient: with another weight the gradient is not as many times as"
                " large", **place(question, None)})
    if told["verdict"] == DIFFER:
        told["causes"] += [
            {"code": code, "message": message, **place(question, span)}
            for code, message, span in suspects.blamed(question, run, tensors, entries)]
    if told["verdict"] != AGREE and run.record.has_kinks():
        from gradcli.explain import notes as kinks

        told["notes"] += [note(question, n) for n in kinks.kinks(
            run, tensors, question.source(run, binding), question.program.source, order=2)]
