"""Derivatives checked against each other: reverse, forward, complex step, central differences.

`verify` answers as plain data in the shape of `gradcli/schemas/verify.schema.json`. The first two
are what the engine says; the other two know nothing of rules, so what disagrees with them is wrong.
"""

from __future__ import annotations

from gradcli.answers.ask import answer
from gradcli.answers.plain_data import data, note, place, reason, shape
from gradcli.lang.targets import parts, plain_structure
from gradcli.ops.values import is_complex, is_float, shape_of
from gradcli.verifying.compare import AGREE, DIFFER, NONE, UNDECIDED, judge
from gradcli.verifying.complex_step import complex_step
from gradcli.verifying.directions import Directions
from gradcli.verifying.ways import central, forward, reverse, unchangeable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

__all__ = ["failed", "verify"]


def verify(ask: Ask) -> Answer:
    """Each target by each source, element by element (of large ones in random directions)."""
    run = ask.run()
    results = []
    with run.record:
        targets = ask.program.targets(run, ask.of)
        bindings = ask.program.sources(run, ask.wrt)
        for target in targets:
            value = plain_structure(target.tensor)
            sources = [_source(ask, run, target, binding) for binding in bindings]
            results.append({"of": target.name, "shape": shape(value), "value": data(value),
                            "verdict": worst([s["verdict"] for s in sources]), "sources": sources})
    found = answer(ask, "verify", results)
    found["verdict"] = worst([r["verdict"] for r in results])
    return found


def worst(verdicts: list[str]) -> str:
    """What is to be said of all together."""
    return next((v for v in (DIFFER, UNDECIDED, AGREE, NONE) if v in verdicts), NONE)


def failed(found: Answer) -> bool:
    """Whether a derivative is wrong: exit status 1."""
    return bool(found["verdict"] == DIFFER)


def _source(ask: Ask, run: Run, target: Target, binding: Binding) -> Answer:
    value = binding.value.value
    told: Answer = {
        "wrt": binding.name, "shape": list(shape_of(value)), "at": data(value), "verdict": NONE,
        "directions": False, "methods": {}, "elements": [], "causes": [], "notes": [],
        "reasons": []}
    tensors = parts(target)
    if any(map(is_complex, (value, *tensors))):
        told["notes"] = [{"code": "complex", "message": f"{target.name} is not checked by"
                          f" {binding.name}: there are complex numbers", **place(ask, target.span)}]
        return told
    source = ask.source(binding)
    along = Directions([t.shape for t in tensors], shape_of(value)) if is_float(value) else None
    by_reverse = None if along is None else reverse(tensors, source, along)
    if along is None or by_reverse is None:
        from gradcli.answers.causes import causes

        told["reasons"] = [reason(ask, r) for r in causes(ask, target, binding)]
        return told
    fixed = unchangeable(run, binding)
    by_difference = None if fixed else central(ask, target, binding, along)
    by_complex, refusal = complex_step(ask, run, target, binding, along)
    told["directions"] = along.random
    told["methods"] = {
        "reverse": None, "forward": None, "complex": refusal or None, "central": fixed or None}
    scale = max([abs(x) for t in tensors for x in _flat(t.value)], default=0.0)
    told["elements"] = judge(along, by_reverse, forward(tensors, source, along), by_complex,
                             by_difference, scale, value)
    told["verdict"] = worst([e["verdict"] for e in told["elements"]])
    _explain(ask, run, target, binding, along, told)
    return told


def _explain(ask: Ask, run: Run, target: Target, binding: Binding, along: Directions,
             told: Answer) -> None:
    """What is to blame for a difference; that a rule is not linear is one, too."""
    from gradcli.verifying import suspects

    entries = suspects.rules_on_the_way(run, parts(target), ask.source(binding))
    if entries:
        scaled = reverse(parts(target), ask.source(binding), along, weight=2.0)
        if suspects.not_linear(told["elements"], scaled):
            told["verdict"] = DIFFER
            told["causes"].append({
                "code": "upstream", "message": "a gradient function does not multiply by its"
                " upstream gradient: with twice the weight the gradient is not twice as large",
                **place(ask, None)})
    if told["verdict"] == DIFFER:
        told["causes"] += [
            {"code": code, "message": message, **place(ask, span)}
            for code, message, span in suspects.blamed(ask, run, target, binding, entries)]
    if told["verdict"] != AGREE and run.record.has_kinks():
        from gradcli.explain import kinks

        told["notes"] = [note(ask, n) for n in kinks.kinks(
            run, parts(target), ask.source(binding), ask.program.source)]


def _flat(value: Any) -> list[float]:
    if not shape_of(value):
        return [float(value)] if is_float(value) else []
    return [float(abs(x)) for x in value.ravel()]
