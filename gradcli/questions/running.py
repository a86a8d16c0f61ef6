"""A program run for what it prints and expects."""

from __future__ import annotations

from operator import itemgetter

from gradcli.base.errors import GradcliError, error
from gradcli.engine.record.tensor import Tensor, flatten
from gradcli.engine.sweeps.extremes import extreme
from gradcli.lang.running.calls import MissingGradients, NoGradient, plain_structure
from gradcli.questions import digits
from gradcli.questions.causes import (
    doubtful,
    has_zero,
    is_bad,
    lost_digits,
    nonfinite,
    out_of_range,
    sums,
    zeros,
)
from gradcli.questions.plain_data import data, heading, lines
from gradcli.questions.question import note, reason, tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.lang.running.program import Progress
    from gradcli.lang.running.run import Printed, Run
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

# A loop may print thousands of missing gradients; the first ones are explained.
MAX_EXPLAINED = 20
# And so many have their notes.
MAX_NOTED = 1000


def run(question: Question, each: Callable[[Answer, bool], None] | None = None,
        progress: Progress | None = None, notes: bool = False) -> Answer:
    """Run the program; what it printed and expected.

    each: handed each print as it happens, and whether its reasons or notes are still to come: they
    may need a second run. The answer has only those prints then. notes: on printed gradients that
    are numbers, and on tapes that look like a mistake.
    """
    printed: list[Answer] = []
    gaps: list[tuple[int, Answer]] = []
    held: list[tuple[int, Answer, Printed]] = []
    count = 0

    def output(one: Printed) -> None:
        nonlocal count
        told: Answer = {"line": question.program.source.position(one.span[0])[0],
                        "values": [_value(v) for v in one.values]}
        count += 1
        waits = len(gaps) < MAX_EXPLAINED and (one.doubtful or any(
            _gaps(v) or is_bad(v) or (notes and has_zero(v)) for v in one.values))
        if waits:
            gaps.append((count, told))
        if len(held) < MAX_NOTED and any(map(tensors, one.values)):
            waits = waits or notes
            held.append((count, told, one))
        if waits or each is None:
            printed.append(told)
        if each is not None:
            each(told, waits)

    try:
        found = question.program.run(
            question.at, output=output, progress=progress, weigh=question.verbose,
            **question.options())
    except MissingGradients as problem:
        from gradcli.explain.missing.file import complete

        complete(problem, question.program, question.at, **question.options())
        raise
    # A derivative is about as much steeper as the value. What ran longer leaves a log that nobody
    # looks at, however short the record is that assignments prune.
    if held and found.steps <= digits.MOST_ENTRIES and digits.shown(found)**2 > digits.LARGE:
        gaps = sorted({n: (n, told) for n, told in (*gaps, *[
            (n, told) for n, told, _ in held[:MAX_EXPLAINED]])}.values(), key=itemgetter(0))
    if gaps:
        _explain(question, gaps, notes)
    large = bool(held) and extreme(found.record.compact(), [
        b[0].value for b in found.bindings.values() if isinstance(b[0].value, Tensor)],
        [t.value for *_, one in held for v in one.values for t in tensors(v)])
    items = [(item, tensors(v)) for _, told, one in held
             for item, v in zip(told["values"], one.values, strict=True)]
    for item, of in items if notes else ():
        item["notes"] += sums(question, found, [t.id for t in of])
    if large:
        far = out_of_range(question, found, [one for *_, one in held])
        for (item, _), more in zip(items, far, strict=True):
            item["notes"] += more
    if held:
        printed += [told for _, told, _ in held if any(item["notes"] for item in told["values"])
                    and all(told is not p for p in printed)]
    reasons = [r for _, told in gaps for item in told["values"] for r in item["reasons"]]
    return {
        **heading(question.program.source, "run"), "printed": printed,
        "lines": lines(question.program.source, reasons),
        "expects": [
            {"line": question.program.source.position(e.span[0])[0], "holds": e.holds,
             "left": data(_printable(e.left)), "right": data(_printable(e.right))}
            for e in found.expects],
        "notes": _notes(question, found, notes),
        "held": [{"tape": name, **stats} for name, stats in found.held.items()]}


def _notes(question: Question, found: Run, all_: bool) -> list[Answer]:
    from gradcli.explain.catalogue import Note

    more = found.shadows() if question.verbose else []
    if all_ and found.tapes:
        from gradcli.explain.notes import tapes

        more += tapes(found, question.program.source)
    return [note(question, Note(*said)) for said in dict.fromkeys((*found.notes, *more))]


def _value(value: Any) -> Answer:
    # How it reads is the business of who prints it.
    return {"text": None, "value": data(_printable(value)), "reasons": [], "notes": []}


def _printable(value: Any) -> Any:
    if isinstance(value, range):
        return list(value)
    if isinstance(value, (list, tuple)):
        return [_printable(v) for v in value]
    if isinstance(value, dict):
        return {k: _printable(v) for k, v in value.items()}
    plain = plain_structure(value)
    if plain is None or isinstance(plain, (float, int, bool, str)) or hasattr(plain, "tolist"):
        return plain
    return f"<{getattr(plain, 'name', type(plain).__name__)}>"


def _explain(question: Question, gaps: list[tuple[int, Answer]], notes: bool) -> None:
    """Fill in why things are None, NaN, doubtful or 0, from a second run that keeps everything."""
    wanted = dict(gaps)
    seen: list[tuple[int, Answer, list[Any]]] = []
    count = 0

    def output(one: Printed) -> None:
        nonlocal count
        count += 1
        if count in wanted:
            seen.append((count - 1, wanted[count], one.values))
        if count == gaps[-1][0]:
            # The budget of steps is what a run does not go on after.
            raise error("E0401", "all that has to be explained has been printed again")

    try:
        again = question.program.logged_run(question.at, output, **question.options())
    except GradcliError:
        return
    from gradcli.explain.missing.file import of_missing

    for number, told, values in seen:
        for k, (item, value) in enumerate(zip(told["values"], values, strict=True)):
            causes: dict[str, Answer] = {}
            for gap in _gaps(value):
                for why in of_missing(question.program, question.at, again, gap):
                    causes.setdefault(f"{why.code}{why.message}", reason(question, why))
            item["reasons"] = list(causes.values())
            lost = lost_digits(question, again, number, k, value)
            item["notes"] += lost
            if is_bad(value) and not lost:
                item["notes"] += nonfinite(question, again, number, k, value)
            said = doubtful(question, again, value)
            item["notes"] += said
            # Why a 0 was absorbed has been said.
            if notes and has_zero(value) and not said and not lost:
                item["notes"] += zeros(question, again, value)


def _gaps(value: Any) -> list[NoGradient]:
    return [g for g in flatten(value) if isinstance(g, NoGradient)]
