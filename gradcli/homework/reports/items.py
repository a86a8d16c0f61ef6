"""The class, problem by problem: attempts, right answers, mistakes, and clusters of equal answers.

Wrong answers that are numerically equal are one cluster, by the fingerprint of the check, else by
how they were read. Of the class only counts are kept, so a course of any size fits.
"""

from __future__ import annotations

import csv
from collections import Counter

from gradcli.homework.marking.marks import BLANK, GRADED, MISSING, PLACES, RIGHT, WAITING, WRONG
from gradcli.homework.sheets.cells import cell, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.sheet import Sheet

COLUMNS = ("problem", "function", "attempts", "blank", "right", "share", "wrong", "review",
           "mean_score", "max_score", "mistakes", "clusters")
CLUSTERS = 20       # that are listed for a problem
SHOWN = 200         # characters of an answer


class Cluster:
    """Wrong answers that are equal.

    answer: the text that most of them, or the first in the alphabet, were read as.
    """

    __slots__ = ("count", "mistakes", "texts")

    def __init__(self) -> None:
        self.count = 0
        self.texts: Counter[str] = Counter()
        self.mistakes: Counter[str] = Counter()

    @property
    def answer(self) -> str:
        return min(self.texts, key=lambda text: (-self.texts[text], text))

    @property
    def mistake(self) -> str | None:
        return min(self.mistakes, key=lambda name: (-self.mistakes[name], name), default=None)


class Item:
    """The counts of one problem."""

    __slots__ = ("blank", "clusters", "mistakes", "problem", "right", "score", "waiting", "wrong")

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.right = self.wrong = self.waiting = self.blank = 0
        self.score = 0.0
        self.mistakes: Counter[str] = Counter()
        self.clusters: dict[str, Cluster] = {}

    def add(self, kind: str, result: Result | None) -> None:
        """Count one more student."""
        if kind == BLANK or result is None:
            self.blank += 1
            return
        self.right += kind == RIGHT
        self.waiting += kind == WAITING
        self.wrong += kind not in (RIGHT, WAITING)
        self.score += result.score
        if result.verdict != "wrong":
            return
        if result.mistake is not None:
            self.mistakes[result.mistake] += 1
        text = (result.read_as or result.answer.strip())[:SHOWN]
        cluster = self.clusters.setdefault(result.fingerprint or f"read as {text}", Cluster())
        cluster.count += 1
        cluster.texts[text] += 1
        if result.mistake is not None:
            cluster.mistakes[result.mistake] += 1

    @property
    def attempts(self) -> int:
        return self.right + self.wrong + self.waiting

    def largest(self) -> list[Cluster]:
        """Return the clusters, the largest first."""
        return sorted(self.clusters.values(), key=lambda c: (-c.count, c.answer))

    def numbers(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        attempts = self.attempts
        return {
            "problem": self.problem.id, "function": self.problem.function, "attempts": attempts,
            "blank": self.blank, "right": self.right,
            "share": round(self.right / attempts, 4) if attempts else None,
            "wrong": self.wrong, "review": self.waiting,
            "mean_score": round(self.score / attempts, PLACES) if attempts else None,
            "max_score": float(self.problem.points), "mistakes": ranked(self.mistakes),
            "clusters": [{"answer": c.answer, "count": c.count, "mistake": c.mistake}
                         for c in self.largest()]}


class Items:
    """The counts of all problems of a sheet, without those who handed nothing in."""

    __slots__ = ("items",)

    def __init__(self, sheet: Sheet) -> None:
        self.items = [Item(problem) for problem in sheet.problems]

    def add(self, marks: Marks) -> None:
        """Count one more student."""
        if marks.status != MISSING:
            for item, kind, result in zip(self.items, marks.kinds, marks.results, strict=True):
                item.add(kind, result)

    def write(self, stream: TextIO, raw: bool = False) -> None:
        """Write item-analysis.csv: a row for each problem.

        `mistakes` is `trig_sign: 12; missing_term: 3`, `clusters` is `2*x (7); -2*x (1)`.
        """
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for item in self.items:
            found = item.numbers()
            found["mistakes"] = "; ".join([f"{m}: {n}" for m, n in found["mistakes"].items()])
            listed = found["clusters"][:CLUSTERS]
            found["clusters"] = "; ".join([f"{c['answer']} ({c['count']})" for c in listed])
            writer.writerow([cell(value, raw) if isinstance(value, str) else number(value)
                             for value in map(found.get, COLUMNS)])


def ranked(counts: Counter[str]) -> dict[str, int]:
    """Sort counts, the most frequent first, by name where equal."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


# --------------------------------------------------------------------------------------------------
# The class as a whole, as plain data: for a summary on the terminal and for `hw stats`.

class Stats:
    """Counts of everybody's marks, one student after the other."""

    __slots__ = ("_kinds", "_late", "_mistakes", "_ms", "_percents", "_sheet", "_statuses",
                 "_verdicts", "items")

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._statuses: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._mistakes: Counter[str] = Counter()
        self._percents: list[float] = []
        self._late = 0
        self._ms = 0.0
        self.items = Items(sheet)

    def add(self, marks: Marks) -> None:
        """Count one more student."""
        self._statuses[marks.status] += 1
        self.items.add(marks)
        if marks.status == MISSING:
            return
        self._late += marks.student.late
        if marks.percent is not None:
            self._percents.append(marks.percent)
        self._kinds.update(marks.kinds)
        for result in marks.results:
            if result is not None:
                self._verdicts[result.verdict] += 1
                self._ms += result.ms or 0.0
                if result.mistake is not None:
                    self._mistakes[result.mistake] += 1

    def numbers(self) -> dict[str, Any]:
        """Return `sheet`, `students`, `answers`, `percent` (of those who handed in), `mistakes`,
        and `problems` as `Item.numbers` does. ms: of all checks together.
        """
        statuses = {name: self._statuses[name] for name in (GRADED, WAITING, BLANK, MISSING)}
        total = sum(statuses.values())
        return {
            "sheet": {"id": self._sheet.id, "title": self._sheet.title,
                      "max_score": sum([float(p.points) for p in self._sheet.problems])},
            "students": {"total": total, "handed_in": total - statuses[MISSING],
                         "late": self._late, **statuses},
            "answers": {"total": sum(self._kinds.values()),
                        **{name: self._kinds[name] for name in (RIGHT, WRONG, WAITING, BLANK)},
                        "verdicts": ranked(self._verdicts)},
            "percent": spread(self._percents),
            "mistakes": ranked(self._mistakes),
            "problems": [item.numbers() for item in self.items.items],
            "ms": round(self._ms, 3)}

    @property
    def all_right(self) -> bool:
        """Return whether no answer is wrong, waiting or blank."""
        return not self._kinds[WRONG] + self._kinds[WAITING] + self._kinds[BLANK]


def spread(values: list[float]) -> dict[str, float | None]:
    """Return mean, median, quartiles (the median of each half) and extremes, to two decimals."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return {
        "mean": round(sum(ordered) / len(ordered), 2) if ordered else None,
        "lowest": ordered[0] if ordered else None,
        "lower_quartile": _median(ordered[:half] or ordered),
        "median": _median(ordered),
        "upper_quartile": _median(ordered[-half:] if half else ordered),
        "highest": ordered[-1] if ordered else None}


def _median(ordered: list[float]) -> float | None:
    if not ordered:
        return None
    half = len(ordered) // 2
    return round((ordered[half] + ordered[~half]) / 2, 2)
