"""Which of a student's attempts counts, and whether what counts is late."""

from __future__ import annotations

import os

from gradcli.base.errors import Diagnostic, GradcliError, read
from gradcli.homework.handed_in.records import Choice, InputNote
from gradcli.homework.handed_in.roster import Roster
from gradcli.homework.sheets.cells import STUDENT, columns, delimiter, records
from gradcli.homework.sheets.deadline import BEST, FIRST, IN_TIME, extension
from gradcli.homework.sheets.places import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta
    from typing import Any

    from gradcli.homework.handed_in.records import Answer, Student
    from gradcli.homework.sheets.deadline import Readings
    from gradcli.homework.sheets.sheet import Sheet


class Attempt:
    """What a student handed in at one time.

    readings: of the time; none where it is not known.
    late: whether the system says that it was; None where it says nothing.
    number: of the attempt, as the system counts; it tells the order where no time does.
    parts: the files, or the answers.
    """

    __slots__ = ("late", "number", "parts", "readings")

    def __init__(self, readings: Readings = (), late: bool | None = None, number: int = 0) -> None:
        self.readings = readings
        self.late = late
        self.number = number
        self.parts: list[Any] = []

    def same(self, other: Attempt) -> bool:
        """Return whether both were at the same time, and are the same of the system's."""
        return (self.readings, self.number) == (other.readings, other.number)


def listed(sheet: Sheet) -> dict[str, datetime | timedelta]:
    """Return the extensions in the table that a sheet names. Raises what is wrong with it."""
    if sheet.deadline.table is None:
        return {}
    path = os.path.join(os.path.dirname(sheet.path), sheet.deadline.table)
    if not os.path.isfile(path):
        raise _no_table(sheet, path)
    source = read(path)
    table = [row for row in records(source, delimiter(source.text), "E0709") if not row.empty]
    known = columns([cell.text for cell in table[0].cells] if table else [], {**STUDENT, "due": (
        "until", "extension", "deadline", "due date", "extended due date", "new due date")})
    if len(known) < 2:
        raise GradcliError(Diagnostic(
            "E0702", "the extensions name no student, or no time", source=source, span=(0, 0),
            help="begin with the row student_id,due"))
    found = {}
    for row in table[1:]:
        if len(row.cells) <= max(known.values()):
            continue
        who, when = [row.cells[known[name]] for name in ("student", "due")]
        more = extension(when.text.strip())
        if more is None:
            raise GradcliError(Diagnostic(
                "E0703", f"`{when.text.strip()}` is no time", source=source, span=when.span,
                help="write a time such as 2026-11-27 23:59, or `2 days`"))
        found[who.text.strip()] = more
    return found


def _no_table(sheet: Sheet, path: str) -> GradcliError:
    """Return the error of extensions that are nowhere, at the key of the sheet that names them."""
    _, place = spans(sheet.source.text).get(("late", "extensions"), ((0, 0), (0, 0)))
    return GradcliError(Diagnostic(
        "E0601", f"there is no table of extensions `{path}`", source=sheet.source, span=place,
        help="name a CSV file as seen from the folder of the sheet; it begins with the row"
             " student_id,due"))


class Attempts:
    """The attempts of a class, of which the sheet says which count.

    notes: receives remarks on what cannot be told.
    choices: where the points of the answers have to tell.
    """

    __slots__ = ("_dues", "_remarks", "_sheet", "choices", "notes")

    def __init__(self, sheet: Sheet, students: Sequence[Student], roster: Roster | None,
                 notes: list[InputNote]) -> None:
        self._sheet = sheet
        self.notes = notes
        self.choices: list[Choice] = []
        self._dues: dict[str, datetime | None] = {}
        self._remarks: dict[str, tuple[InputNote, int]] = {}
        there = {student.id: student for student in (*students, *(roster or Roster(())).students)}
        everybody = Roster(there.values())
        for name, more in {**listed(sheet), **sheet.deadline.extensions}.items():
            found = everybody.find((name,), name)
            if len(found) == 1:
                self._dues[found[0].id] = sheet.deadline.extended(more)
            else:
                notes.append(InputNote(
                    "student", f"the extension of `{name}` is nobody's" if not found else
                    f"the extension of `{name}` may be any of {len(found)} students', and is"
                    " nobody's", sheet.path))

    def counting(self, student: Student, attempts: Sequence[Attempt],
                 answers: Callable[[Attempt], Sequence[Answer]]) -> list[Attempt]:
        """Return the attempts that count, the last one last, and note whether the student is late.

        answers: function that returns those of one attempt. Where the best is to be found, the
        list changes when it is.
        """
        ordered = sorted(attempts, key=lambda one: (
            self._sheet.deadline.order(one.readings), one.number, bool(one.late)))
        if self._sheet.attempt == FIRST:
            ordered = ordered[:1]
        elif self._sheet.attempt == IN_TIME:
            ordered = [one for one in ordered if not self._is_late(student, one)] or ordered
        late = [self._is_late(student, one) for one in ordered]
        student.late = any(late)
        if None in late:
            why = "is not known" if not ordered[-1].readings else "may be read in two ways"
            self.notes.append(InputNote(
                "student", f"the time of what was handed in {why}: it is not taken for late, and"
                " may be", student=student.id))
        if self._sheet.attempt == BEST and len(ordered) > 1:
            every = list(ordered)

            def take(k: int) -> None:
                ordered[:] = every[k:k + 1]
                student.late = bool(late[k])

            self.choices.append(Choice(student, [bool(one) for one in late],
                                       lambda k: answers(every[k]), take))
        if self._sheet.deadline.due is not None and ordered:
            last = ordered[-1]
            if not last.readings and last.late is None:
                self._remark("when it was handed in is not known, and not taken for late")
            elif self._sheet.deadline.zone is None and any(
                    one.tzinfo is not None for one in last.readings):
                self._remark("the sheet has no timezone: it is due by the clock of this computer")
        return ordered

    def _remark(self, message: str) -> None:
        """Note something once for all students whom it is true of, with their number."""
        if message not in self._remarks:
            self._remarks[message] = InputNote("student", "", self._sheet.path), 0
            self.notes.append(self._remarks[message][0])
        note, count = self._remarks[message]
        self._remarks[message] = note, count + 1
        note.message = f"{count + 1:,} student{'s' if count else ''}: {message}"

    def _is_late(self, student: Student, attempt: Attempt) -> bool | None:
        """Return whether an attempt is late; None where a person would have to tell."""
        deadline = self._sheet.deadline
        due = self._dues.get(student.id, deadline.due)
        found = deadline.is_late(attempt.readings, due)
        if found is not None:
            return found
        if student.id in self._dues:
            return None if attempt.late or due is not None else False
        return None if attempt.readings and due is not None else bool(attempt.late)
