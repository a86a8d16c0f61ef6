"""One function by one source: all methods, what they are held to be, and what is to blame."""

from __future__ import annotations

from gradcli.answers.ask import moved, point
from gradcli.answers.notes import left_out
from gradcli.answers.plain_data import note, place, reason
from gradcli.calculus import size
from gradcli.ops.lazy import np
from gradcli.ops.values import dtype_of, is_complex, is_float, shape_of
from gradcli.tape.record import ANS
from gradcli.verifying import suspects
from gradcli.verifying.compare import (
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
from gradcli.verifying.complex_step import complex_step
from gradcli.verifying.directions import Directions
from gradcli.verifying.ways import (
    SHIFTS,
    central,
    forward,
    reverse,
    reverse_moved,
    unchangeable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer
    from gradcli.lang.run import Binding, Run
    from gradcli.tape.record import Entry
    from gradcli.verifying.function import Function

# A rule that is right for the weight 1 only, or for positive ones, gives itself away.
OTHER_WEIGHT = -2.0
# Times its error estimate, a difference is not 0.
SURE = 10.0
# How a complex step is tried again: what is lost in its rounding is then larger by as much.
SHORTER = 1e-3
# A derivative that is smaller is lost when it is multiplied by the step.
LEAST = 1e-190


def verified(run: Run, function: Function, binding: Binding) -> Answer:
    """What the methods say of a function of the run whose record is open, by one source."""
    ask, target = function.ask, function.target
    value = binding.value.value
    told: Answer = {
        "wrt": binding.name, "shape": list(shape_of(value)),
        **point(ask, run, target, binding), "verdict": NONE, "directions": False, "methods": {},
        "elements": [], "causes": [], "notes": [], "reasons": []}
    tensors = function.tensors
    if any(map(is_complex, (value, *tensors))):
        told["notes"] = [{"code": "complex", "message": f"{target.name} is not checked by"
                          f" {binding.name}: there are complex numbers", **place(ask, target.span)}]
        return told
    if not all(size(shape_of(x)) for x in (value, *(t.value for t in tensors))):
        told["notes"] = [{"code": "empty", "message": f"{target.name} by {binding.name}: there is"
                          " nothing to check, as one of them is empty",
                          **place(ask, target.span)}]
        return told
    source = ask.source(binding)
    along = Directions([t.shape for t in tensors], shape_of(value)) if is_float(value) else None
    by_reverse = None if along is None else reverse(tensors, source, along)
    if by_reverse is None and along is not None and function.row is not None and tensors:
        # A gradient that does not depend on the source: its derivative is 0.
        by_reverse = np.zeros((len(along.rows), len(along.columns)))
    if along is None or by_reverse is None:
        from gradcli.answers.causes import causes

        found = causes(ask, target, binding)
        told["reasons"] = [reason(ask, r) for r in found]
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
        from gradcli.explain.boundaries import at_edge

        return at_edge(run, source)

    judged = judge(
        along, by_reverse, forward(tensors, source, along), by_complex, by_difference,
        single=_single(run, value), custom=bool(entries), edge=edge,
        rounding=rounding, shaken=shaken)
    told["elements"] = judged.elements
    told["verdict"] = worst([e["verdict"] for e in told["elements"]])
    told["notes"] = moved(ask, run, target, [binding])
    part = left_out(ask, run, target, [binding] if function.row is None else [
        function.row, binding])
    if part:
        told["notes"] += part
        for one in told["elements"]:
            if one["verdict"] == AGREE and not without_part(one):
                one["verdict"] = DIFFER
        told["verdict"] = worst([e["verdict"] for e in told["elements"]])
    told["notes"] += [{"code": f"undecided-{why}", "message": f"{target.name} by {binding.name}:"
                       f" {WHY[why]}", **place(ask, target.span)} for why in judged.why]
    _explain(run, function, binding, along, told, entries)
    return told


def _explain_none(run: Run, function: Function, binding: Binding, along: Directions, told: Answer
                  ) -> None:
    """A gradient function may return none on purpose; that the function has a slope is told."""
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
            **place(function.ask, function.target.span)}]


def _rounding(run: Run, function: Function, binding: Binding, along: Directions, by_reverse: Any,
              by_complex: Any, fixed: str) -> Any:
    """A bound of what rounding does to the numbers: by how much they change when the source, or
    every result on the way, is off by some last digits, or the complex step has another length; and
    what is too small for it.
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
    """Whether anything was computed with float32."""
    return dtype_of(value) == "float32" or any(
        dtype_of(e[ANS]) == "float32" for e in run.record.history())


def _explain(run: Run, function: Function, binding: Binding, along: Directions, told: Answer,
             entries: list[Entry]) -> None:
    """What is to blame for a difference; that a rule is not linear is one, too."""
    ask, tensors = function.ask, function.tensors
    if entries:
        scaled = reverse(tensors, ask.source(binding), along, weight=OTHER_WEIGHT)
        if suspects.not_linear(told["elements"], scaled):
            told["verdict"] = DIFFER
            told["causes"].append({
                "code": "upstream", "message": "a gradient function does not multiply by its"
                " upstream gradient: with another weight the gradient is not as many times as"
                " large", **place(ask, None)})
    if told["verdict"] == DIFFER:
        told["causes"] += [
            {"code": code, "message": message, **place(ask, span)}
            for code, message, span in suspects.blamed(ask, run, tensors, entries)]
    if told["verdict"] != AGREE and run.record.has_kinks():
        from gradcli.explain import kinks

        told["notes"] += [note(ask, n) for n in kinks.kinks(
            run, tensors, ask.source(binding), ask.program.source, order=2)]
