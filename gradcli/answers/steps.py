"""The steps of a derivative: the record as an evaluation trace, as data.

Source of the form: Griewank and Walther, Evaluating Derivatives (2008), sections 2.1 and 3.1:
values in the order in which they were computed, and beside each its tangent or adjoint.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.answers import local_derivatives
from gradcli.answers.ask import answer, moved, point, tensors_of, troubles
from gradcli.answers.first_order import gradients, jacobians
from gradcli.answers.formula_text import name
from gradcli.answers.notes import of_gradient
from gradcli.answers.plain_data import data, note, place, reason, shape
from gradcli.answers.trace import Formulas, Trace
from gradcli.lang.targets import parts, plain_structure
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import check_bytes, is_float, shape_of
from gradcli.sweeps import tangent
from gradcli.sweeps.derivatives import from_columns, weights_of
from gradcli.sweeps.extremes import extreme
from gradcli.tape import record as records
from gradcli.tape.record import IDS, OUT, span_of
from gradcli.tape.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

    # (row, partial) of what a value goes into, by its name.
    Uses = Mapping[str, list[tuple[Answer, Answer]]]

ON_PATHS = ("input", "step", "cut")


def steps(ask: Ask, most: int | None = None) -> Answer:
    """One result per target: `steps`, inputs and constants first, and `sources` as `grad` has
    them. With mode "forward" each step has its tangents, else its adjoint.

    most: of more steps only so many, half of them at each end of both walks, have values and local
    derivatives, and what the sources go into first; the others only their names and rules.
    """
    run = ask.run()
    results = []
    with run.record:
        bindings = ask.program.sources(run, ask.wrt)
        for target in ask.program.targets(run, ask.of):
            results.append(_result(ask, run, target, bindings, most))
    return answer(ask, "steps", results)


def _result(ask: Ask, run: Run, target: Target, bindings: list[Binding], most: int | None
            ) -> Answer:
    forward = ask.mode == "forward"
    tensors = tensors_of(target)
    sources = {b.name: ask.source(b) for b in bindings}
    trace = Trace(run, {t.id for t in tensors if t.id is not None}, sources)
    found = (jacobians if forward else gradients)(ask, target, bindings)
    value = plain_structure(target.tensor)
    count = sum([calculus.size(t.shape) for t in tensors])
    common = troubles(ask, run, target) + moved(ask, run, target, bindings)
    if count != 1 and not forward:
        from gradcli.explain.notes import summed

        common.append(note(ask, summed(target.name, count, target.span)))
    rows = _rows(trace)
    adjoints = {} if forward else _adjoints(trace, target, rows)
    if extreme(run.record.compact(), sources.values()):
        common += _beyond(ask, trace, target, rows)
    uses = _uses(trace, rows, adjoints)
    wanted = _wanted(rows, sources, uses, most)
    _fill(ask, trace, rows, wanted)
    if forward:
        _add_tangents(trace, sources, rows, wanted)
    else:
        _add_adjoints(rows, wanted, adjoints, uses)
    for entry in trace.entries:
        local_derivatives.refuse(rows[entry[OUT]]["partials"], trace, entry)
    return {
        "of": target.name, "shape": shape(value), "value": data(value),
        "summed": count != 1 and not forward, "result": [
            trace.names[t.id] for t in tensors if t.id in trace.names],
        "steps": list(rows.values()),
        "sources": [_source(ask, run, target, b, g, forward)
                    for b, g in zip(bindings, found, strict=True)], "notes": common}


def _source(ask: Ask, run: Run, target: Target, binding: Binding, g: Any, forward: bool) -> Answer:
    field = "jacobian" if forward else "gradient"
    because: list[Answer] = []
    notes: list[Answer] = []
    if g is None:
        from gradcli.answers.causes import causes

        because = [reason(ask, r) for r in causes(ask, target, binding)]
    else:
        notes = of_gradient(ask, run, target, binding, g, field)
    return {"wrt": binding.name, "shape": list(shape_of(binding.value.value)),
            **point(ask, run, target, binding), field: data(g), "reasons": because, "notes": notes}


# --- rows -------------------------------------------------------------------------------------


def _rows(trace: Trace) -> dict[int, Answer]:
    """Id to the row of a step: its name, kind and rules."""
    rows: dict[int, Answer] = {}
    for i in trace.leaves:
        text = trace.names.get(i)
        if text is not None:
            rows[i] = _row(None, text, "input" if i in trace.own else "constant")
    for k, entry in enumerate(trace.entries, 1):
        row = _row(k, trace.names[entry[OUT]], trace.kind(entry))
        row["partials"] = local_derivatives.partials(trace, entry)
        rows[entry[OUT]] = row
    return rows


def _row(number: int | None, text: str, kind: str) -> Answer:
    return {"number": number, "name": text, "kind": kind, "operation": None, "formula": None,
            "shape": None, "value": None, "line": None, "column": None, "partials": [], "tex": {}}


def _uses(trace: Trace, rows: Mapping[int, Answer], adjoints: Mapping[int, Any]) -> Uses:
    """By the name of a value the steps that its adjoint comes through, the first one first."""
    found: dict[str, list[tuple[Answer, Answer]]] = {}
    for entry in trace.entries:
        if adjoints.get(entry[OUT]) is not None:
            row = rows[entry[OUT]]
            for partial in row["partials"]:
                if local_derivatives.passes(partial):
                    found.setdefault(partial["wrt"], []).append((row, partial))
    return found


def _wanted(rows: Mapping[int, Answer], sources: Mapping[str, Tensor], uses: Uses,
            most: int | None) -> set[int]:
    """Ids of the rows that are shown."""
    if most is None or len(rows) <= most:
        return set(rows)
    half = most // 2
    ids = list(rows)
    walked = [i for i in ids if rows[i]["kind"] in ON_PATHS]
    wanted = {*ids[:half], *ids[-half:], *walked[:half], *walked[-half:]}
    first = {id(row) for text in sources for row, _ in uses.get(text, ())[:most]}
    return wanted | {i for i in ids if id(rows[i]) in first or rows[i]["name"] in sources}


def _fill(ask: Ask, trace: Trace, rows: Mapping[int, Answer], wanted: set[int]) -> None:
    """Values of the rows that are shown, their formulas and local derivatives."""
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
        at = place(ask, span_of(entry))
        row.update(operation=operation.text.text, formula=full.text.text, line=at["line"],
                   column=at["column"], tex={
                       "name": name(row["name"]).tex, "operation": operation.tex,
                       "formula": full.tex})
        local_derivatives.fill(row["partials"], trace, entry, written.operands(entry), operation)


# --- the two walks ----------------------------------------------------------------------------


def _adjoints(trace: Trace, target: Target, rows: Mapping[int, Answer]) -> dict[int, Any]:
    """The gradient of the target's sum in every step: one sweep backwards."""
    tensors = [t for t in parts(target) if t.id is not None]
    ids = [i for i in rows if i in trace.inside]
    asked = [Tensor(trace.values[i], i, 0) for i in ids]
    found = calculus.gradient(tensors, asked) if tensors and asked else []
    return dict(zip(ids, found, strict=True))


def _beyond(ask: Ask, trace: Trace, target: Target, rows: Mapping[int, Answer]) -> list[Answer]:
    """A note on numbers of the table that stand for others, which are no floats."""
    from gradcli.explain.notes import shown
    from gradcli.sweeps import wide

    seeds = weights_of(parts(target), ())
    adjoints, slopes = wide.beyond(trace.entries, seeds, [i for i in rows if i in trace.inside])
    found = {}
    for entry in trace.entries:
        for k, i in enumerate(entry[IDS]):
            if i in trace.names and (entry[OUT], k) in slopes:
                found[f"∂{trace.names[entry[OUT]]}/∂{trace.names[i]}"] = slopes[entry[OUT], k]
    if ask.mode != "forward":
        found.update({f"d{target.name}/d{rows[i]['name']}": text for i, text in adjoints.items()})
    return [note(ask, shown(found, target.span))] if found else []


def _add_adjoints(rows: Mapping[int, Answer], wanted: set[int], adjoints: Mapping[int, Any],
                  uses: Uses) -> None:
    for i, row in rows.items():
        row["adjoint"] = data(adjoints.get(i)) if i in wanted else None
        row["through"] = [] if adjoints.get(i) is None or i not in wanted else [
            {"step": into["name"], "formula": partial["formula"], "value": partial["value"],
             "rule": partial["rule"], "tex": {
                 "step": into["tex"].get("name"), "formula": partial["tex"]["formula"]}}
            for into, partial in uses.get(row["name"], ())]


def _add_tangents(trace: Trace, sources: Mapping[str, Tensor], rows: Mapping[int, Answer],
                  wanted: set[int]) -> None:
    """The derivative of every step in each source, step shape + source shape: a sweep forwards for
    each source.
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


def _put_right(trace: Trace, source: Tensor, found: dict[int, Any]) -> None:
    """Tangents in all directions of a source where numbers left the range of floats."""
    from gradcli.sweeps import wide

    assert source.id is not None
    count = calculus.size(source.shape)
    seeds = np.reshape(value_of(tangent.basis(source.value)), (count, *source.shape))
    whole = {i: np.broadcast_to(value_of(g), (count, *shape_of(trace.values[i])))
             for i, g in found.items()}
    after, _ = wide.directions(trace.entries, {source.id: seeds}, whole, forward=True)
    for i, g in after.items():
        if g is not whole[i]:
            found[i] = float(g[0]) if type(found[i]) is float else g
