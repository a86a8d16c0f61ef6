"""The steps of a derivative: the record as an evaluation trace, as data.

Source of the form: Griewank and Walther, Evaluating Derivatives (2008), sections 2.1 and 3.1:
values v1, v2, ... in the order in which they were computed, and beside each its tangent or adjoint.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.answers.ask import answer, tensors_of, troubles
from gradcli.answers.first_order import gradients, jacobians
from gradcli.answers.formula_text import Written, applied, name, written
from gradcli.answers.notes import of_gradient
from gradcli.answers.plain_data import data, note, place, reason, shape, undata
from gradcli.answers.rule_names import rule_name, taught
from gradcli.explain.reason import span_of
from gradcli.lang.targets import parts, plain_structure
from gradcli.ops.kinds import UNREGISTERED
from gradcli.ops.lazy import quiet
from gradcli.ops.values import SCALAR_TYPES, check_bytes, is_float, shape_of
from gradcli.sweeps import reach, reverse, tangent
from gradcli.sweeps.derivatives import from_columns
from gradcli.tape import record as records
from gradcli.tape.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES
from gradcli.tape.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target
    from gradcli.tape.record import Entry

# A formula of more characters than this is not written out again in those behind it.
LONGEST = 36
LETTERS = ("v", "w", "u", "t", "v_")


class Trace:
    """What leads to a target. entries: in order. names: id to what a value is called. leaves: ids
    that no entry made. inside: ids that a derivative reaches from a source. depends: ids that
    depend on one in any way.
    """

    __slots__ = ("depends", "entries", "inside", "leaves", "names", "values")

    def __init__(self, ask: Ask, run: Run, ids: set[int], sources: Mapping[str, Tensor]) -> None:
        history = records.current().history()
        wanted = reach.ancestry(history, ids)
        self.entries = [e for e in history if e[OUT] in wanted]
        made = {e[OUT] for e in self.entries}
        self.values: dict[int, Any] = {}
        for entry in self.entries:
            for i, value in zip(entry[IDS], entry[VALUES], strict=True):
                if i is not None:
                    self.values.setdefault(i, value)
            self.values[entry[OUT]] = entry[ANS]
        own = {s.id: s.value for s in sources.values() if s.id is not None}
        for i in ids & set(own):
            self.values.setdefault(i, own[i])
        self.leaves = [i for i in sorted(wanted) if i not in made and i in self.values]
        self.inside = reach.active(self.entries, [i for i in own if is_float(own[i])])
        self.depends = set(own)
        for entry in self.entries:
            if not self.depends.isdisjoint(entry[IDS]):
                self.depends.add(entry[OUT])
        self.names = _names(ask, run, sources, self.entries)


def steps(ask: Ask) -> Answer:
    """One result per target: `steps`, inputs and constants first, and `sources` as `grad` has
    them. With mode "forward" each step has its tangents, else its adjoint.
    """
    run = ask.run()
    results = []
    with run.record:
        bindings = ask.program.sources(run, ask.wrt)
        for target in ask.program.targets(run, ask.of):
            results.append(_result(ask, run, target, bindings))
    return answer(ask, "steps", results)


def _result(ask: Ask, run: Run, target: Target, bindings: list[Binding]) -> Answer:
    forward = ask.mode == "forward"
    tensors = tensors_of(target)
    sources = {b.name: ask.source(b) for b in bindings}
    trace = Trace(ask, run, {t.id for t in tensors if t.id is not None}, sources)
    found = (jacobians if forward else gradients)(ask, target, bindings)
    value = plain_structure(target.tensor)
    count = sum([calculus.size(t.shape) for t in tensors])
    common = troubles(ask, run, target)
    if count != 1 and not forward:
        from gradcli.explain.notes import summed

        common.append(note(ask, summed(target.name, count, target.span)))
    rows = _rows(ask, trace, sources)
    if forward:
        _add_tangents(trace, sources, rows)
    else:
        _add_adjoints(trace, target, rows)
    _mark_refused(trace, rows)
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
    value = binding.value.value
    return {"wrt": binding.name, "shape": list(shape_of(value)), "at": data(value),
            field: data(g), "reasons": because, "notes": notes}


# --- what each value is called ----------------------------------------------------------------


def _names(ask: Ask, run: Run, sources: Mapping[str, Tensor], entries: Sequence[Entry]
           ) -> dict[int, str]:
    """A value has the name that the file gives to it and to no other, else v and its number."""
    found: dict[int, str] = {}
    for text, bindings in run.bindings.items():
        values = [b.value for b in bindings if isinstance(b.value, Tensor)]
        if text in run.variables:
            values = [run.variables[text].origin()]
        ids = {v.id for v in values if v.id is not None}
        if len(ids) == 1:
            found.setdefault(ids.pop(), text)
    found.update({s.id: text for text, s in sources.items() if s.id is not None})
    used = set(run.bindings) | set(run.functions)
    letter = next((c for c in LETTERS if not any(
        n.startswith(c) and n[len(c):].isdigit() for n in used)), "step_")
    for k, entry in enumerate(entries, 1):
        found.setdefault(entry[OUT], f"{letter}{k}")
    return found


def _rows(ask: Ask, trace: Trace, sources: Mapping[str, Tensor]) -> dict[int, Answer]:
    """Id to the row of a step, without adjoints and tangents."""
    own = {s.id for s in sources.values()}
    formulas: dict[int, Written] = {}
    rows: dict[int, Answer] = {}
    for i in trace.leaves:
        text = trace.names.get(i)
        value = trace.values[i]
        formulas[i] = written(value) if text is None else name(text)
        if text is not None:
            rows[i] = _row(None, text, "input" if i in own else "constant", None, formulas[i],
                           value, {"line": None, "column": None})
    for k, entry in enumerate(trace.entries, 1):
        out = entry[OUT]
        text = trace.names[out]
        trace_names = [
            formulas[i] if i in formulas and i not in rows else
            name(trace.names[i]) if i in trace.names else written(v)
            for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        operation = _written(entry, trace_names)
        full = _written(entry, [
            n if i is None else formulas.get(i, n)
            for i, n in zip(entry[IDS], trace_names, strict=True)])
        formulas[out] = full if len(full.text.text) <= LONGEST else name(text)
        if len(full.text.text) > LONGEST:
            full = operation
        at = place(ask, span_of(entry))
        row = _row(k, text, _kind(trace, entry, own), operation, full, entry[ANS],
                   {"line": at["line"], "column": at["column"]})
        row["partials"] = _partials(trace, entry, trace_names, operation)
        rows[out] = row
    return rows


def _kind(trace: Trace, entry: Entry, own: set[int | None]) -> str:
    """input, constant, step, cut (where a derivative ends) or behind (what is made of that)."""
    out = entry[OUT]
    if out in own:
        return "input"
    if out in trace.inside:
        return "step"
    if out not in trace.depends:
        return "constant"
    return "behind" if trace.inside.isdisjoint(entry[IDS]) else "cut"


def _written(entry: Entry, operands: Sequence[Written]) -> Written:
    op = entry[OP]
    defaults = getattr(op, "attributes", {})
    rank = len(shape_of(entry[VALUES][0])) if entry[VALUES] else 0
    return applied(op, operands, {
        k: v for k, v in entry[ATTRIBUTES].items()
        if isinstance(v, (int, float, str, bool, tuple, list)) and defaults.get(k) != v
        # All axes are what an axis is by default.
        and not (k == "axis" and defaults.get(k, 0) is None and v == tuple(range(-rank, 0)))})


def _row(number: int | None, text: str, kind: str, operation: Written | None, formula: Written,
         value: Any, at: Answer) -> Answer:
    shown = name(text)
    return {
        "number": number, "name": text, "kind": kind,
        "operation": None if operation is None else operation.text.text,
        "formula": formula.text.text, "shape": shape(value), "value": data(value), **at,
        "partials": [], "tex": {
            "name": shown.tex, "operation": None if operation is None else operation.tex,
            "formula": formula.tex}}


# --- local derivatives ------------------------------------------------------------------------


def _partials(trace: Trace, entry: Entry, operands: Sequence[Written], operation: Written
              ) -> list[Answer]:
    """The local derivatives of a step in those operands that depend on a source."""
    op, ids = entry[OP], entry[IDS]
    constant = [i not in trace.inside for i in ids]
    found: list[Answer] = []
    formulas: dict[int, Written] = {}
    for k, i in enumerate(ids):
        if i is None or i not in trace.inside:
            continue
        given: Sequence[Any] = operands
        if op.name == "power":  # whether an operand is a number decides how its rule is written
            given = [v if i is None and type(v) is float else o
                     for i, v, o in zip(ids, entry[VALUES], operands, strict=True)]
        formula = taught(op, k, given, operation) if op.elementwise and op.edge(k) else None
        shown = formula if isinstance(formula, Written) else None
        value = _slope(entry, k)
        if i in ids[:k]:  # x*x: one derivative, the sum of both
            before = next(p for p in found if p["wrt"] == trace.names[i])
            if shown is not None or i in formulas:
                shown = formulas.get(i, written(before["value"])) + (
                    written(value) if shown is None else shown)
                before["formula"], before["tex"]["formula"] = shown.text.text, shown.tex
            if op.elementwise and before["value"] is not None and value is not None:
                with quiet():
                    before["value"] = data(undata(before["value"]) + value)
            continue
        if shown is not None:
            formulas[i] = shown
        found.append({
            "wrt": trace.names[i], "rule": rule_name(op, k, constant),
            "formula": None if shown is None else shown.text.text,
            "value": data(value), "tex": {
                "wrt": name(trace.names[i]).tex, "formula": None if shown is None else shown.tex}})
    return found


def _slope(entry: Entry, k: int) -> Any:
    """The local derivative of a step in argument k; None where it is not one number, or one for
    each element.
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


# --- the two walks ----------------------------------------------------------------------------


def _add_adjoints(trace: Trace, target: Target, rows: Mapping[int, Answer]) -> None:
    """The gradient of the target's sum in every step: one sweep backwards."""
    tensors = [t for t in parts(target) if t.id is not None]
    ids = [i for i in rows if i in trace.inside]
    asked = [Tensor(trace.values[i], i, 0) for i in ids]
    found = calculus.gradient(tensors, asked) if tensors and asked else []
    adjoints = dict(zip(ids, found, strict=True))
    through: dict[str, list[Answer]] = {}
    for entry in reversed(trace.entries):
        g = adjoints.get(entry[OUT])
        for partial in rows[entry[OUT]]["partials"]:
            if g is not None and "no derivative" not in partial["rule"]:
                through.setdefault(partial["wrt"], []).append(
                    {"step": rows[entry[OUT]]["name"], "formula": partial["formula"],
                     "value": partial["value"], "rule": partial["rule"], "tex": {
                         "step": rows[entry[OUT]]["tex"]["name"],
                         "formula": partial["tex"]["formula"]}})
    for i, row in rows.items():
        row["adjoint"] = data(adjoints.get(i))
        row["through"] = [] if adjoints.get(i) is None else through.get(row["name"], [])[::-1]


def _mark_refused(trace: Trace, rows: Mapping[int, Answer]) -> None:
    """The arguments that the rule of a custom gradient gave none, now that it ran."""
    for entry in trace.entries:
        given = [entry[IDS][k] for k in getattr(entry[OP], "nones", ())]
        refused = {trace.names.get(i) for i in given if i is not None}
        for partial in rows[entry[OUT]]["partials"]:
            if partial["wrt"] in refused:
                partial["rule"] = f"no derivative: the custom gradient of {entry[OP].name} is none"


def _add_tangents(trace: Trace, sources: Mapping[str, Tensor], rows: Mapping[int, Answer]) -> None:
    """The derivative of every step in each source, step shape + source shape: a sweep forwards for
    each source.
    """
    for row in rows.values():
        row["tangents"] = dict.fromkeys(sources)
    ids = [i for i in rows if i in trace.inside]
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
