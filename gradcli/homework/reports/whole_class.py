"""The class on one page: how the marks are spread, which steps were hard, which mistakes were made,
and who needs help. Students are added one by one; of each who needs help, one row is kept.
"""

from __future__ import annotations

from collections import Counter

from gradcli.homework.marking.marks import BLANK, MISSING, WAITING
from gradcli.homework.reports.items import Stats
from gradcli.homework.reports.typeset import Typesetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.sheet import Sheet

BINS = 10       # of the histogram
HALF = 50.0     # percent: who has less needs help
STEPS = 12      # of all problems, the hardest
LEAST = 2       # a step that one student got wrong is no hard one
EXAMPLES = 3    # of a mistake
LISTED = 60     # students that are named
SAME = "looks like "


class Step:
    """A step of a problem that students got wrong: a mistake at its place.

    message: the sentence about it. answers: how those who made it were read. sure: whether it is
    of high confidence.
    """

    __slots__ = ("answers", "message", "mistake", "problem", "sure")

    def __init__(self, problem: Problem, mistake: str, message: str, sure: bool) -> None:
        self.problem = problem
        self.mistake = mistake
        self.message = message
        self.sure = sure
        self.answers: Counter[str] = Counter()

    def example(self) -> str:
        """Return the answer that most of them gave."""
        return min(self.answers, key=lambda text: (-self.answers[text], len(text), text))


class ClassReport:
    """What a page about the class says."""

    __slots__ = ("_bins", "_few", "_missing", "_sheet", "_steps", "_waiting", "stats")

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self.stats = Stats(sheet)
        self._bins = [0] * BINS
        self._steps: dict[tuple[str, str, bool], Step] = {}
        self._few: list[dict[str, Any]] = []
        self._missing: list[dict[str, Any]] = []
        self._waiting = 0

    def add(self, marks: Marks) -> None:
        """Count one more student."""
        self.stats.add(marks)
        who = {"student": marks.student.id, "name": marks.student.name}
        if marks.status == MISSING:
            self._missing.append(who)
            return
        self._waiting += WAITING in marks.kinds
        wrong = [(problem, result) for problem, result in zip(
            self._sheet.problems, marks.results, strict=True)
            if result is not None and result.verdict == "wrong" and result.mistake is not None]
        for problem, result in wrong:
            self._step(problem, result)
        if marks.percent is None:
            return
        self._bins[min(BINS - 1, int(marks.percent * BINS / 100))] += 1
        if marks.percent < HALF:
            names = Counter([result.mistake for _, result in wrong])
            self._few.append({
                **who, "percent": marks.percent, "score": marks.score,
                "blank": marks.count(BLANK), "review": marks.count(WAITING),
                "mistakes": dict(names.most_common(2))})

    def _step(self, problem: Problem, result: Result) -> None:
        message = (result.hint or "").removeprefix(SAME)
        if message and result.read_as and result.mistake is not None:
            sure = result.confidence == "high"
            self._steps.setdefault((problem.id, message, sure), Step(
                problem, result.mistake, message, sure)).answers[result.read_as] += 1

    def numbers(self, anonymous: bool = False) -> dict[str, Any]:
        """Return what `Stats.numbers` does but clusters, and `marks`, `steps`, `examples`, `help`,
        `missing`. anonymous: leave out who it is, and what students typed beside formulas.
        """
        typeset = Typesetter()
        found = self.stats.numbers()
        del found["ms"]
        for one, problem in zip(found["problems"], self._sheet.problems, strict=True):
            del one["clusters"]
            one["tex"] = typeset.function(problem)
        attempts = {one["problem"]: one["attempts"] for one in found["problems"]}
        steps = sorted(self._steps.values(), key=lambda one: (
            not one.sure, -one.answers.total(), one.problem.id, one.message))
        hard = [one for one in steps if one.sure and one.answers.total() >= LEAST]
        few = sorted(self._few, key=lambda one: (one["percent"], one["student"]))
        hidden: dict[str, Any] = {"student": None, "name": None} if anonymous else {}
        return {
            **found, "anonymous": anonymous, "waiting": self._waiting,
            "marks": [{"from": at * 100 // BINS, "to": (at + 1) * 100 // BINS, "students": count}
                      for at, count in enumerate(self._bins)],
            "steps": [{**_told(one, typeset), "attempts": attempts[one.problem.id]}
                      for one in hard[:STEPS]],
            "examples": [{
                "mistake": mistake, "students": count, "examples": [
                    _told(one, typeset) for one in steps if one.mistake == mistake][:EXAMPLES]}
                for mistake, count in found["mistakes"].items()],
            "help": {"count": len(few), "students": [
                {**one, **hidden} for one in few[:LISTED]]},
            "missing": {"count": len(self._missing), "students": [] if anonymous else
                        self._missing[:LISTED]}}


def _told(step: Step, typeset: Typesetter) -> dict[str, Any]:
    answer = step.example()
    return {"problem": step.problem.id, "message": step.message, "students": step.answers.total(),
            "mistake": step.mistake, "function": step.problem.function,
            "tex": typeset.function(step.problem), "answer": answer,
            "answer_tex": typeset.answer(step.problem, answer)}
