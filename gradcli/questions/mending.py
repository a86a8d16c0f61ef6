"""The program's text with all fixes that work."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, Source
from gradcli.explain.missing.fixes import harms
from gradcli.lang.running.calls import NoGradient
from gradcli.lang.running.program import Program
from gradcli.questions.derivatives import gradients
from gradcli.questions.question import Question
from gradcli.questions.requests import answered, chosen_requests
from gradcli.questions.why import explained, sources_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explain.catalogue import Edit
    from gradcli.questions.why import Explained, Mend

    Place = set[tuple[int, int]]

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
