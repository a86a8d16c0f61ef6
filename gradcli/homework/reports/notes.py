"""notes.csv: input that was passed over, or read differently than it looks."""

from __future__ import annotations

import csv
from collections import Counter

from gradcli.homework.sheets.cells import cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from gradcli.homework.handed_in.records import InputNote

NOTES = "notes.csv"
COLUMNS = ("about", "student_id", "file", "line", "message")
WORDS = {"skipped": "passed over", "unknown": "answer* to no problem of the sheet",
         "repeated": "answered twice", "unreadable": "file* that cannot be read",
         "encoding": "file* not in UTF-8", "student": "about whose a file is",
         "override": "override* that count nothing",
         "joined": "line* taken for the rest of the answer above"}
"""What is counted; * stands for the s of more than one."""


class Notes:
    """The file notes.csv while it is written, and the number of notes of each kind."""

    __slots__ = ("_raw", "_writer", "counts")

    def __init__(self, stream: TextIO, raw: bool = False) -> None:
        self._raw = raw
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow(COLUMNS)
        self.counts: Counter[str] = Counter()

    def add(self, notes: Iterable[InputNote]) -> None:
        """Write notes, and count them."""
        for note in notes:
            self.counts[note.about] += 1
            self._writer.writerow([
                cell(note.about, self._raw), cell(note.student, self._raw),
                cell(note.file, self._raw), "" if note.line is None else note.line,
                cell(note.message, self._raw)])


def summary(counts: Counter[str]) -> str:
    """Return the counts as a text, "3 passed over, 1 answered twice"."""
    return ", ".join([
        f"{counts[about]:,} " + WORDS.get(about, about).replace("*", "s" * (counts[about] != 1))
        for about in sorted(counts, key=lambda about: (-counts[about], about))])
