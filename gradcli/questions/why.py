"""Why a derivative is what it is, as data: causes, notes, the path from source to target, what is
watched; and the program's text with what would mend it.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, Source
from gradcli.engine import calculus
from gradcli.engine.record.tensor import Tensor
from gradcli.explain.missing.file import harms, of_missing, together
from gradcli.explain.notes import requested_zero, summed
from gradcli.lang.running.calls import NoGradient, plain_structure
from gradcli.lang.running.program import Program
from gradcli.lang.running.run import Binding, Target
from gradcli.ops.values import dtype_of, is_float, shape_of, zeros
from gradcli.questions import retrying
from gradcli.questions.causes import causes, requested
from gradcli.questions.derivatives import gradients
from gradcli.questions.notes import moved, of_gradient, point, troubles
from gradcli.questions.path import bound_at, path_between, path_of, text_at
from gradcli.questions.plain_data import data, is_finite, lines, shape
from gradcli.questions.question import Question, answer, note, place, reason, tensors_of
from gradcli.questions.requests import (
    answered,
    binding_of,
    chosen_requests,
    kind_of,
    names_of,
    states_of,
    value_then,
    window_of,
    written,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.lang.running.log import LoggedRequest
    from gradcli.lang.running.run import Run
    from gradcli.questions.plain_data import Answer

    # Which result, which of its sources, and the changes that mend it.
    Mend = tuple[int, int, list[Edit]]
    Place = set[tuple[int, int]]


KINDS = {"variable": "a variable", "nontrainable": "declared trainable=false",
         "constant": "a constant", "input": "an input", "literal": "a value without var"}
FIRST = ("gradient", "jacobian")
TYPES = {"int64": "an integer", "int32": "an integer", "bool": "a truth value",
         "string": "a text"}


class Explained:
    """answer: in the shape of the schema. mends: the fixes that work. numbers: of each result the
    number of the question, if the file asks by itself. logged: the run that explains it.
    """

    __slots__ = ("answer", "logged", "mends", "numbers", "question")

    def __init__(self, question: Question, logged: Run, answer: Answer, mends: list[Mend],
                 numbers: list[int]) -> None:
        self.numbers = numbers
        self.logged = logged
        self.question = question
        self.answer = answer
        self.mends = mends


def why(question: Question) -> Answer:
    """Return the answer alone."""
    return explained(question).answer


def explained(question: Question) -> Explained:
    """Return all causes, notes and paths: of the gradients that the file asks for itself, at each
    location one (see `chosen_requests`); of every target in every source, if there are none or
    some are named.
    """
    run = question.run()
    logged = question.logged(run)
    mends: list[Mend] = []
    requests = [] if question.of or question.wrt or question.tape else chosen_requests(logged)
    results = _of_file(question, logged, requests, mends) if requests else _of_command(
        question, run, mends)
    told = answer(question, "why", results)
    told["lines"] = lines(question.program.source, [
        item for result in results for part in (result, *result["sources"])
        for item in (*part.get("reasons", ()), *part["notes"], *part.get("path", ()))])
    order = {id(q): k for k, q in enumerate(logged.log.requests)} if logged.log is not None else {}
    return Explained(
        question, logged, told, mends, [order[id(q)] for q in requests for _ in answered(q)])


# --- what the command line asks for -----------------------------------------------------------


def _of_command(question: Question, run: Run, mends: list[Mend]) -> list[Answer]:
    """Return one result per target, in it one item per source."""
    results: list[Answer] = []
    with run.record:
        bindings = sources_of(question, run)
        for target in question.program.targets(run, question.of):
            value = plain_structure(target.tensor)
            tensors = tensors_of(target)
            common = troubles(question, run, target) + moved(question, run, target, bindings)
            count = _elements(tensors)
            if count != 1:
                common.append(note(question, summed(target.name, count, target.span)))
            sources: list[Answer] = []
            for binding, g in zip(bindings, gradients(question, run, target, bindings),
                                  strict=True):
                because = causes(question, run, target, binding) if g is None else []
                _remember(mends, len(results), len(sources), because)
                notes = of_gradient(question, run, target, binding, g, "gradient") if (
                    g is not None) else []
                if g is None and question.unconnected == "zero":
                    g = zeros(shape_of(binding.value.value))
                    notes = [note(question, n) for n in requested_zero(because[0])]
                way = path_between(question, run, target, binding, notes)
                sources.append({
                    **_source(question, binding.name, binding.value.value, g, because, notes),
                    **point(question, run, target, binding), **way})
            results.append({
                "of": target.name, "shape": shape(value), "value": data(value),
                "summed": count != 1, "sources": sources, "notes": common,
                "names": _names(question, run, bindings)})
    return results


def _elements(tensors: Sequence[Tensor]) -> int:
    return sum([calculus.size(t.shape) for t in tensors])


def sources_of(question: Question, run: Run) -> list[Binding]:
    """Return the sources as `grad` does; where that finds none, every name that something was bound
    to.
    """
    try:
        return question.program.sources(run, question.wrt)
    except GradcliError as problem:
        plain = [b[0] for b in run.bindings.values()
                 if b[0].kind in KINDS and isinstance(b[0].value, Tensor)]
        if problem.code != "E0211" or not plain:
            raise
        return plain


def _source(question: Question, name: str, value: Any, g: Any, because: Sequence[Reason],
            notes: list[Answer]) -> Answer:
    return {"wrt": name, "shape": shape(value), "at": data(value), "gradient": data(g),
            "reasons": [reason(question, r) for r in because], "notes": notes}


def _remember(mends: list[Mend], result: int, source: int, because: Sequence[Reason]) -> None:
    edits = together([(r, r.edits) for r in because if r.fix_works])
    if edits:
        mends.append((result, source, edits))


def _names(question: Question, run: Run, bindings: Sequence[Binding]) -> list[Answer]:
    """Return what is watched, and what is not, of all that was bound to a value from outside."""
    asked = {b.name for b in bindings}
    told = []
    for name, (binding, *_) in run.bindings.items():
        if binding.kind in KINDS and isinstance(binding.value, Tensor):
            real = is_float(binding.value.value)
            # A value without var counts once it is named with --wrt.
            on = real and question.watched(run, binding) and (
                binding.kind != "literal" or name in asked or run.on_tape is not None)
            told.append(_name(question, name, binding, on))
    return told


def _name(question: Question, name: str, binding: Binding, on: bool) -> Answer:
    at = place(question, bound_at(question, binding))
    kind = TYPES.get(dtype_of(binding.value.value)) or KINDS[binding.kind]
    return {"name": name, "line": at["line"], "column": at["column"], "watched": on, "kind": kind}


# --- what the file asks for -------------------------------------------------------------------


def _of_file(question: Question, logged: Run, requests: Sequence[LoggedRequest], mends: list[Mend]
             ) -> list[Answer]:
    """Return one result per question, in it one item per source; a `jvp` has one result per target.
    """
    results: list[Answer] = []
    with logged.record:
        for request in requests:
            for targets, answers in answered(request):
                result = _result(question, logged, request, targets)
                names = names_of(question, logged, request, 1, [s for s, _ in answers],
                                 "the source")
                for item, (name, (source, g)) in enumerate(zip(names, answers, strict=True)):
                    because = _causes(question, logged, g)
                    _remember(mends, len(results), len(result["sources"]), because)
                    result["sources"].append(_answer(
                        question, logged, request, item, result, targets, name, source, g, because))
                results.append(result)
    return results


def _result(question: Question, logged: Run, request: LoggedRequest, targets: list[Any]) -> Answer:
    at = place(question, request.span)
    values = [value_then(logged, target, request) for target in targets]
    value = values[0] if len(values) == 1 else values
    names = names_of(question, logged, request, 0, targets, "the target")
    kind = kind_of(request)
    return {
        "of": ",".join(names) or written(question, request, 0) or "nothing",
        "shape": shape(value), "value": data(value),
        "summed": kind == "gradient" and _elements(
            [t for t in targets if isinstance(t, Tensor)]) != 1,
        "sources": [], "notes": [], "names": _seen(question, logged, request), "line": at["line"],
        "column": at["column"], "question": text_at(question, request.span), "kind": kind,
        **_turn(logged, request)}


def _turn(logged: Run, request: LoggedRequest) -> Answer:
    """Return which of how many times that question was asked, if more than once."""
    turns = [q for q in logged.log.requests if q.span == request.span] if logged.log else []
    return {"turn": next(k for k, q in enumerate(turns, 1) if q is request),
            "turns": len(turns)} if len(turns) > 1 else {}


def _causes(question: Question, logged: Run, g: Any) -> list[Reason]:
    return of_missing(question.program, question.at, logged, g) if isinstance(g, NoGradient) else []


def _answer(question: Question, logged: Run, request: LoggedRequest, item: int, result: Answer,
            targets: Sequence[Any], name: str, source: Any, g: Any, because: list[Reason]
            ) -> Answer:
    """Return one answer to a question of the file, as a source of the schema."""
    states = states_of(logged, source, request)
    binding = binding_of(logged, states, name, source)
    # An accumulator knows the id of its primals, not their value.
    value = binding.value.value if request.kind == "jvp" else value_then(logged, source, request)
    g = None if isinstance(g, NoGradient) else plain_structure(g)
    notes = []
    tensors = [t for t in targets if isinstance(t, Tensor)]
    if g is not None and tensors and result["kind"] in FIRST:
        target = Target(result["of"], list(tensors), request.span, question.program.source)
        notes = of_gradient(question, logged, target, binding, g, result["kind"], None if is_finite(
            g) and not logged.record.absorbed else retrying.of_request(
                question, logged, request, item))
        notes += [note(question, n) for n in requested(logged, request, source, g)]
    ends = set().union(*[states_of(logged, t, request) for t in tensors])
    window = window_of(request)
    on = g is not None or window is None or not states.isdisjoint(window.watched) or (
        binding.kind == "computed" and any(window.state(i) is None for i in states))
    return {**_source(question, name, value, g, because, notes),
            **path_of(question, logged, binding, states, ends, window, on, request)}


def _seen(question: Question, logged: Run, request: LoggedRequest) -> list[Answer]:
    """Return what the tape of a question watches of all that was bound by then to a value from
    outside.
    """
    window = window_of(request)
    if window is None:
        return []
    told = []
    for name, (binding, *_) in logged.bindings.items():
        if binding.kind in KINDS and isinstance(binding.value, Tensor) and (
                binding.value.id or 0) <= request.last:
            variable = logged.variables.get(name)
            ids = {binding.value.id} if variable is None else states_of(logged, variable, request)
            told.append(_name(question, name, binding, not window.watched.isdisjoint(ids)))
    return told


# --------------------------------------------------------------------------------------------------
# The program's text with all fixes that work.

ROUNDS = 4


class Mended:
    """text: the program's with all fixes that work. Gradients as (number of the result, number of
    the source): gained by that; lost by it; left out, whose fix does not go with the others;
    broken, those of them whose fix does not work alone either once the whole program runs.
    """

    __slots__ = ("broken", "gained", "left", "lost", "text")

    def __init__(self, text: str, gained: Place, lost: Place, left: Place, broken: Place) -> None:
        self.broken = broken
        self.text = text
        self.gained = gained
        self.lost = lost
        self.left = left


def mended(found: Explained) -> Mended:
    """Return the program with all fixes that work.

    Equal changes are made once; of two that overlap, the first. What works alone may not work
    together: then as many as do are made, in the order in which they were found. A question of the
    file that is asked again may lack its answer for another reason then, so there are rounds.
    """
    first = last = _round(found)
    if not found.numbers or not last.gained:
        return last
    for _ in range(ROUNDS):
        more = _round(explained(_changed(found, last.text)))
        if not more.gained:
            break
        last = more
    question = _changed(found, last.text)
    logged = question.program.logged_run(question.at, **question.options())
    there = [[not isinstance(g, NoGradient) for _, g in answers]
             for request in chosen_requests(logged) for _, answers in answered(request)]
    before = {(i, j): not source["reasons"] for i, result in enumerate(found.answer["results"])
              for j, source in enumerate(result["sources"])}
    after = {(i, j): is_there for i, row in enumerate(there) for j, is_there in enumerate(row)}
    gained = {at for at, was in before.items() if not was and after.get(at)}
    lost = {at for at, was in before.items() if was and not after.get(at)}
    left = {(i, j) for i, j, _ in found.mends} - gained
    return Mended(last.text, gained, lost, left, first.broken & left)


def _round(found: Explained) -> Mended:
    chosen = _together(found.mends)
    lost = _lost(found, chosen) if chosen else set()
    if lost is None:
        chosen, lost = [], set()
        for mend in found.mends:
            more = _together([*chosen, mend])
            less = _lost(found, more) if len(more) > len(chosen) else None
            if less is not None:
                chosen, lost = more, less
    gained = {(i, j) for i, j, _ in chosen}
    left = {(i, j) for i, j, _ in found.mends} - gained
    broken = {(i, j) for i, j, edits in found.mends
              if (i, j) in left and _lost(found, [(i, j, edits)]) is None}
    return Mended(_edited(found.question.program.source.text, chosen), gained, lost, left, broken)


def _changed(found: Explained, text: str) -> Question:
    """Return the same questions to a changed program."""
    question = found.question
    wrt = [] if found.numbers else [s["wrt"] for s in found.answer["results"][0]["sources"]]
    return question.replaced(program=Program(Source(text, question.program.source.name)), wrt=wrt)


def _together(mends: Sequence[Mend]) -> list[Mend]:
    """Return the mends whose changes do not overlap the changes of one before."""
    chosen: list[Mend] = []
    for mend in mends:
        before = [edit for _, _, edits in chosen for edit in edits]
        if not any(_overlap(a, b) for a in before for b in mend[2]):
            chosen.append(mend)
    return chosen


def _overlap(a: Edit, b: Edit) -> bool:
    return a != b and a[0] < b[1] and b[0] < a[1]


def _edited(text: str, chosen: Sequence[Mend]) -> str:
    """Return the text with these changes. One made twice is made once; two insertions at one place
    stand in the order of the mends.
    """
    edits = dict.fromkeys(edit for _, _, edits in chosen for edit in edits)
    for start, end, new in sorted(edits, key=lambda edit: edit[:2])[::-1]:
        text = text[:start] + new + text[end:]
    return text


def _lost(found: Explained, chosen: Sequence[Mend]) -> Place | None:
    """Return which gradients the changed program has no more; None if one that was to be mended is
    not there, or if anything else that the file says is changed. That each change alone keeps the
    target's value was tried before.
    """
    try:
        question = found.question
        changed = _changed(found, _edited(question.program.source.text, chosen))
        there = _there(found, changed)
        if not all(there[i][j] for i, j, _ in chosen) or harms(
                question.program, question.at, found.logged, changed.program):
            return None
        return {(i, j) for i, result in enumerate(found.answer["results"])
                for j, source in enumerate(result["sources"])
                if not source["reasons"] and not there[i][j]}
    except (GradcliError, IndexError):
        return None


def _there(found: Explained, question: Question) -> list[list[bool]]:
    """Return for each result whether each source has a gradient in a changed program. Raises the
    error that the program ends in.
    """
    run = question.run(explain=False)
    if found.numbers:
        log = question.logged(run).log
        assert log is not None
        return [[not isinstance(g, NoGradient) for _, g in answers]
                for number in dict.fromkeys(found.numbers)
                for _, answers in answered(log.requests[number])]
    with run.record:
        bindings = sources_of(question, run)
        return [[g is not None for g in gradients(question, run, target, bindings)]
                for target in question.program.targets(run, question.of)]
