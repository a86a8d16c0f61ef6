"""The steps of a derivative: the record as an evaluation trace, as data.

Source of the form: Griewank and Walther, Evaluating Derivatives (2008), sections 2.1 and 3.1:
values in the order in which they were computed, and beside each its tangent or adjoint.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, BATCH, IDS, OP, OUT, VALUES, span_of
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps import reverse, tangent
from gradcli.engine.sweeps.derivatives import from_columns, weights_of
from gradcli.engine.sweeps.extremes import extreme
from gradcli.lang.running.calls import plain_structure
from gradcli.lang.running.run import parts
from gradcli.ops.kinds import UNREGISTERED
from gradcli.ops.values import SCALAR_TYPES, check_bytes, is_float, shape_of
from gradcli.questions.derivatives import gradients, jacobians
from gradcli.questions.notes import moved, of_gradient, point, troubles
from gradcli.questions.plain_data import data, shape, undata
from gradcli.questions.question import answer, note, place, reason, tensors_of
from gradcli.questions.steps.text import Notation, name, written
from gradcli.questions.steps.trace import GENERAL, Formulas, TargetEntries, rule_name, taught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

    # (row, partial) of what a value goes into, by its name.
    Uses = Mapping[str, list[tuple[Answer, Answer]]]

ON_PATHS = ("input", "step", "cut")


def steps(question: Question, most: int | None = None) -> Answer:
    """Return one result per target: `steps`, inputs and constants first, and `sources` as `grad`
    has them. With mode "forward" each step has its tangents, else its adjoint.

    most: of more steps only so many, half of them at each end of both walks, have values and local
    derivatives, and what the sources go into first; the others only their names and rules.
    """
    run = question.run()
    results = []
    with run.record:
        bindings = question.program.sources(run, question.wrt)
        for target in question.program.targets(run, question.of):
            results.append(_result(question, run, target, bindings, most))
    return answer(question, "steps", results)


def _result(question: Question, run: Run, target: Target, bindings: list[Binding], most: int | None
            ) -> Answer:
    forward = question.mode == "forward"
    tensors = tensors_of(target)
    sources = {b.name: question.source(run, b) for b in bindings}
    trace = TargetEntries(run, {t.id for t in tensors if t.id is not None}, sources)
    found = (jacobians if forward else gradients)(question, run, target, bindings)
    value = plain_structure(target.tensor)
    count = sum([calculus.size(t.shape) for t in tensors])
    common = troubles(question, run, target) + moved(question, run, target, bindings)
    if count != 1 and not forward:
        from gradcli.explain.notes import summed

        common.append(note(question, summed(target.name, count, target.span)))
    rows = _rows(trace)
    adjoints = {} if forward else _adjoints(trace, target, rows)
    if extreme(run.record.compact(), sources.values()):
        common += _beyond(question, trace, target, rows)
    uses = _uses(trace, rows, adjoints)
    wanted = _wanted(rows, sources, uses, most)
    _fill(question, trace, rows, wanted)
    if forward:
        _add_tangents(trace, sources, rows, wanted)
    else:
        _add_adjoints(rows, wanted, adjoints, uses)
    for entry in trace.entries:
        refuse(rows[entry[OUT]]["partials"], trace, entry)
    return {
        "of": target.name, "shape": shape(value), "value": data(value),
        "summed": count != 1 and not forward, "result": [
            trace.names[t.id] for t in tensors if t.id in trace.names],
        "steps": list(rows.values()),
        "sources": [_source(question, run, target, b, g, forward)
                    for b, g in zip(bindings, found, strict=True)], "notes": common}


def _source(question: Question, run: Run, target: Target, binding: Binding, g: Any, forward: bool
            ) -> Answer:
    field = "jacobian" if forward else "gradient"
    because: list[Answer] = []
    notes: list[Answer] = []
    if g is None:
        from gradcli.questions.causes import causes

        because = [reason(question, r) for r in causes(question, run, target, binding)]
    else:
        notes = of_gradient(question, run, target, binding, g, field)
    return {"wrt": binding.name, "shape": list(shape_of(binding.value.value)),
            **point(question, run, target, binding), field: data(g), "reasons": because,
            "notes": notes}


# --- rows -------------------------------------------------------------------------------------


def _rows(trace: TargetEntries) -> dict[int, Answer]:
    """Return a dict from ids to the rows of steps: name, kind and rules."""
    rows: dict[int, Answer] = {}
    for i in trace.leaves:
        text = trace.names.get(i)
        if text is not None:
            rows[i] = _row(None, text, "input" if i in trace.own else "constant")
    for k, entry in enumerate(trace.entries, 1):
        row = _row(k, trace.names[entry[OUT]], trace.kind(entry))
        row["partials"] = partials(trace, entry)
        rows[entry[OUT]] = row
    return rows


def _row(number: int | None, text: str, kind: str) -> Answer:
    return {"number": number, "name": text, "kind": kind, "operation": None, "formula": None,
            "shape": None, "value": None, "line": None, "column": None, "partials": [], "tex": {}}


def _uses(trace: TargetEntries, rows: Mapping[int, Answer], adjoints: Mapping[int, Any]) -> Uses:
    """Return by the name of a value the steps that its adjoint comes through, the first one first.
    """
    found: dict[str, list[tuple[Answer, Answer]]] = {}
    for entry in trace.entries:
        if adjoints.get(entry[OUT]) is not None:
            row = rows[entry[OUT]]
            for partial in row["partials"]:
                if passes(partial):
                    found.setdefault(partial["wrt"], []).append((row, partial))
    return found


def _wanted(rows: Mapping[int, Answer], sources: Mapping[str, Tensor], uses: Uses,
            most: int | None) -> set[int]:
    """Return the ids of the rows that are shown."""
    if most is None or len(rows) <= most:
        return set(rows)
    half = most // 2
    ids = list(rows)
    walked = [i for i in ids if rows[i]["kind"] in ON_PATHS]
    wanted = {*ids[:half], *ids[-half:], *walked[:half], *walked[-half:]}
    first = {id(row) for text in sources for row, _ in uses.get(text, ())[:most]}
    return wanted | {i for i in ids if id(rows[i]) in first or rows[i]["name"] in sources}


def _fill(question: Question, trace: TargetEntries, rows: Mapping[int, Answer],
          wanted: set[int]) -> None:
    """Add values to the rows that are shown, with their formulas and local derivatives."""
    for i in wanted:
        rows[i]["shape"], rows[i]["value"] = shape(trace.values[i]), data(trace.values[i])
    for i in trace.leaves:
        if i in wanted:
            shown = name(trace.names[i])
            rows[i].update(formula=shown.text.text, tex={
                "name": shown.tex, "operation": None, "formula": shown.tex})
    written = Formulas(trace)
    for entry in trace.entries:
        if entry[OUT] not in wanted:
            continue
        row, operation, full = rows[entry[OUT]], written.operation(entry), written.so_far(entry)
        at = place(question, span_of(entry))
        row.update(operation=operation.text.text, formula=full.text.text, line=at["line"],
                   column=at["column"], tex={
                       "name": name(row["name"]).tex, "operation": operation.tex,
                       "formula": full.tex})
        fill(row["partials"], trace, entry, written.operands(entry), operation)


# --- the two walks ----------------------------------------------------------------------------


def _adjoints(trace: TargetEntries, target: Target, rows: Mapping[int, Answer]) -> dict[int, Any]:
    """Return the gradient of the target's sum in every step: one sweep backwards."""
    tensors = [t for t in parts(target) if t.id is not None]
    ids = [i for i in rows if i in trace.inside]
    asked = [Tensor(trace.values[i], i, 0) for i in ids]
    found = calculus.gradient(tensors, asked) if tensors and asked else []
    return dict(zip(ids, found, strict=True))


def _beyond(question: Question, trace: TargetEntries, target: Target, rows: Mapping[int, Answer]
            ) -> list[Answer]:
    """Return a note on numbers of the table that stand for others, which are no floats."""
    from gradcli.engine.sweeps import wide
    from gradcli.explain.notes import shown

    seeds = weights_of(parts(target), ())
    adjoints, slopes = wide.beyond(trace.entries, seeds, [i for i in rows if i in trace.inside])
    found = {}
    for entry in trace.entries:
        for k, i in enumerate(entry[IDS]):
            if i in trace.names and (entry[OUT], k) in slopes:
                found[f"∂{trace.names[entry[OUT]]}/∂{trace.names[i]}"] = slopes[entry[OUT], k]
    if question.mode != "forward":
        found.update({f"d{target.name}/d{rows[i]['name']}": text for i, text in adjoints.items()})
    return [note(question, shown(found, target.span))] if found else []


def _add_adjoints(rows: Mapping[int, Answer], wanted: set[int], adjoints: Mapping[int, Any],
                  uses: Uses) -> None:
    for i, row in rows.items():
        row["adjoint"] = data(adjoints.get(i)) if i in wanted else None
        row["through"] = [] if adjoints.get(i) is None or i not in wanted else [
            {"step": into["name"], "formula": partial["formula"], "value": partial["value"],
             "rule": partial["rule"], "tex": {
                 "step": into["tex"].get("name"), "formula": partial["tex"]["formula"]}}
            for into, partial in uses.get(row["name"], ())]


def _add_tangents(trace: TargetEntries, sources: Mapping[str, Tensor], rows: Mapping[int, Answer],
                  wanted: set[int]) -> None:
    """Add the derivative of every step in each source, step shape + source shape: a sweep
    forwards for each source.
    """
    for row in rows.values():
        row["tangents"] = dict.fromkeys(sources)
    ids = [i for i in rows if i in trace.inside and i in wanted]
    for text, source in sources.items():
        if source.id is None or not is_float(source.value) or not trace.entries:
            continue
        scalar = type(source.value) is float
        if not scalar:
            largest = max([calculus.size(shape_of(trace.values[i])) for i in ids], default=0)
            check_bytes(8.0 * calculus.size(source.shape) * largest)
        with quiet():
            seed = 1.0 if scalar else tangent.basis(source.value)
            found = tangent.tangents(trace.entries, {source.id: seed}, ids)
        if extreme(records.current().compact(), [source]):
            _put_right(trace, source, found)
        for i in ids:
            step = Tensor(trace.values[i], i, 0)
            if i == source.id and scalar:
                made: Any = 1.0
            elif i not in found:
                continue
            elif scalar:
                made = value_of(found[i])
            else:
                made = from_columns(found[i], step, source)
            rows[i]["tangents"][text] = data(made)


def _put_right(trace: TargetEntries, source: Tensor, found: dict[int, Any]) -> None:
    """Correct the tangents in all directions of a source where numbers left the range of floats."""
    from gradcli.engine.sweeps import wide

    assert source.id is not None
    count = calculus.size(source.shape)
    seeds = np.reshape(value_of(tangent.basis(source.value)), (count, *source.shape))
    whole = {i: np.broadcast_to(value_of(g), (count, *shape_of(trace.values[i])))
             for i, g in found.items()}
    after, _ = wide.directions(trace.entries, {source.id: seeds}, whole, forward=True)
    for i, g in after.items():
        if g is not whole[i]:
            found[i] = float(g[0]) if type(found[i]) is float else g


# --------------------------------------------------------------------------------------------------
# The local derivatives of a step: in what, by which rule, as a formula and as a number.

NONE = "no derivative"


def partials(trace: TargetEntries, entry: Entry) -> list[Answer]:
    """Return the local derivatives of a step in those operands that depend on a source, each with
    the name of its rule; `fill` adds formulas and numbers.
    """
    op, ids = entry[OP], entry[IDS]
    constant = [i not in trace.inside for i in ids]
    both = op.name == "power" and ids[0] == ids[1]
    return [{"wrt": trace.names[i], "rule": GENERAL if both else rule_name(op, k, constant),
             "formula": None, "value": None, "tex": {"wrt": None, "formula": None}}
            for k, i in enumerate(ids) if i is not None and i in trace.inside and i not in ids[:k]]


def passes(partial: Answer) -> bool:
    """Return whether a derivative passes there."""
    return NONE not in partial["rule"]


def fill(found: Sequence[Answer], trace: TargetEntries, entry: Entry, operands: Sequence[Notation],
         operation: Notation) -> None:
    """Add formulas and numbers to the rows of `partials`. operands, operation: the step as written.
    """
    op, ids = entry[OP], entry[IDS]
    by_name = {partial["wrt"]: partial for partial in found}
    formulas: dict[int, Notation] = {}
    for k, i in enumerate(ids):
        if i is None or i not in trace.inside:
            continue
        given: Sequence[Any] = operands
        if op.name == "power":  # whether an operand is a number decides how its rule is written
            given = [v if i is None and type(v) is float else o
                     for i, v, o in zip(ids, entry[VALUES], operands, strict=True)]
        formula = taught(op, k, given, operation) if op.elementwise and op.edge(k) else None
        shown = formula if isinstance(formula, Notation) else None
        value = _slope(entry, k)
        partial = by_name[trace.names[i]]
        if i in ids[:k]:  # x*x: one derivative, the sum of both
            if shown is not None or i in formulas:
                shown = formulas.get(i, written(partial["value"])) + (
                    written(value) if shown is None else shown)
                partial["formula"], partial["tex"]["formula"] = shown.text.text, shown.tex
            if op.elementwise and partial["value"] is not None and value is not None and (
                    0 not in shape_of(value)):      # as lists, empty arrays lose their shape
                with quiet():
                    partial["value"] = data(undata(partial["value"]) + value)
            continue
        if shown is not None:
            formulas[i] = shown
            partial["formula"] = shown.text.text
        partial["value"] = data(value)
        partial["tex"] = {"wrt": name(trace.names[i]).tex,
                          "formula": None if shown is None else shown.tex}


def refuse(found: Sequence[Answer], trace: TargetEntries, entry: Entry) -> None:
    """Mark the arguments that the rule of a custom gradient gave none, now that it ran."""
    given = [entry[IDS][k] for k in getattr(entry[OP], "nones", ())]
    refused = {trace.names.get(i) for i in given if i is not None}
    for partial in found:
        if partial["wrt"] in refused:
            partial["rule"] = f"{NONE}: the custom gradient of {entry[OP].name} is none"


def _slope(entry: Entry, k: int) -> Any:
    """Return the local derivative of a step in argument k; None where it is not one number, or one
    for each element.
    """
    op, id = entry[OP], entry[IDS][k]
    assert id is not None
    if entry[BATCH] or op.kind == UNREGISTERED or not op.edge(k) or not is_float(entry[ANS]):
        return None
    record = records.current()
    before, record.in_rules = record.in_rules, True
    try:
        with quiet():
            if op.elementwise:
                *xs, ans = reverse.operands(entry, False)
                return value_of(reverse.slope(op, k, xs, ans))
            numbers = [*[v for i, v in zip(entry[IDS], entry[VALUES], strict=True) if i == id],
                       entry[ANS]]
            if entry[IDS].count(id) > 1 or any(type(v) not in SCALAR_TYPES for v in numbers):
                return None
            found = [value_of(c) for i, c in reverse.cotangents(entry, 1.0, {id}, False) if i == id]
            return found[0] if found else None
    finally:
        record.in_rules = before
