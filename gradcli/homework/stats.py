"""The class as a whole, as plain data: for a summary on the terminal and for `hw stats`."""

from __future__ import annotations

from collections import Counter

from gradcli.homework.items import Items, ranked
from gradcli.homework.marks import BLANK, GRADED, MISSING, RIGHT, WAITING, WRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.marks import Marks
    from gradcli.homework.sheet import Sheet


class Stats:
    """Counts of everybody's marks, taken as they come by."""

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
        """One more student."""
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
        """`sheet`, `students`, `answers`, `percent` (of those who handed in), `mistakes`, and
        `problems` as `Item.numbers` gives them. ms: of all checks together.
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
        """Whether no answer is wrong, waiting or blank."""
        return not self._kinds[WRONG] + self._kinds[WAITING] + self._kinds[BLANK]


def spread(values: list[float]) -> dict[str, float | None]:
    """Mean, median, quartiles (the median of each half) and extremes, to two decimals."""
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
