"""Students and what they answered, while a table or stream of a class is read."""

from __future__ import annotations

import hashlib
import json

from gradcli.homework.handed_in.attempts import Attempt, Attempts
from gradcli.homework.handed_in.labels import Ids
from gradcli.homework.handed_in.reading import answers, doubts
from gradcli.homework.handed_in.records import (
    LOOSE,
    InputNote,
    Parsed,
    Student,
    Submission,
    Submissions,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcli.homework.handed_in.records import Answer
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.sheet import Sheet

MAX_NAME = 200


class ClassAnswers:
    """The answers of a class while a file is read.

    file: its name.
    found: id of a student to the student and the attempts so far, whose parts are answers.
    faults: id of a student to (file, reason) of what may be theirs.
    """

    __slots__ = ("_addresses", "_ids", "_roster", "_sheet", "faults", "file", "found", "notes")

    def __init__(self, sheet: Sheet, file: str, roster: Roster | None) -> None:
        self._sheet = sheet
        self._ids = Ids(sheet.ids)
        self._roster = roster
        self._addresses: dict[str, str] = {}
        self.file = file
        self.found: dict[str, tuple[Student, list[Attempt]]] = {}
        self.faults: dict[str, list[tuple[str, str]]] = {}
        self.notes: list[InputNote] = []

    def of(self, said: Student, line: int, keys: Sequence[str] = (), system: str = "",
           attempt: Attempt | None = None) -> Parsed | None:
        """Return the answers of a student so far; None, with a note, where the name is unusable.

        said: as far as the line describes the student.
        keys: all that may be an id, a login or an e-mail address.
        system: whose number `lms` is.
        attempt: that the line belongs to, unless the last one was at the same time.
        """
        said.id = said.id.strip()
        if not said.id or len(said.id) > MAX_NAME:
            self.note("skipped", f"a student's name of {len(said.id):,} characters" if said.id else
                      "no student is named here", line)
            return None
        entries = [] if self._roster is None else self._roster.find(
            [said.id, said.login, said.email, *keys], said.full_name or said.id,
            said.lms if system == self._roster.system else "")
        if len(entries) > 1:
            self._of_several(entries, line)
            return None
        # Addresses are equal however their letters are written.
        id = entries[0].id if entries else self._addresses.setdefault(
            said.id.casefold(), said.id) if "@" in said.id else said.id
        if id not in self.found:
            if entries:
                student = entries[0].present()
            else:
                student = said.present()
                if not student.email and "@" in id:
                    student.email = id
                if self._roster is not None:
                    self.notes.append(InputNote("student", "not in the roster", self.file, line,
                                                id))
            self.found[id] = student, []
        attempts = self.found[id][1]
        if not attempts or (attempt is not None and not attempt.same(attempts[-1])):
            attempts.append(attempt or Attempt())
            attempts[-1].parts.append(Parsed(self._ids))
        parsed: Parsed = attempts[-1].parts[0]
        return parsed

    def _of_several(self, entries: list[Student], line: int) -> None:
        """Note for each of several students that a line may be theirs."""
        either = " and ".join([f"{one.name} ({one.id})" for one in entries])
        for one in entries:
            message = f"line {line} may be by any of {either}: a number would tell"
            self.notes.append(InputNote("student", message, self.file, line, one.id))
            self.faults.setdefault(one.id, []).append((self.file, message))
            self.found.setdefault(one.id, (one.present(), []))

    def note(self, about: str, message: str, line: int | None = None) -> None:
        self.notes.append(InputNote(about, message, self.file, line))

    def submissions(self) -> Submissions:
        ordered = sorted(self.found)
        students = [self.found[id][0] for id in ordered]
        attempts = Attempts(self._sheet, students, self._roster, self.notes)
        counting = [attempts.counting(*self.found[id], self._reader(id)) for id in ordered]

        def read(k: int) -> Submission:
            return self._submission(students[k], counting[k])

        return Submissions(students, read, self.notes, attempts.choices)

    def _reader(self, id: str) -> Callable[[Attempt], Sequence[Answer]]:
        student = self.found[id][0]
        return lambda attempt: self._submission(student, [attempt]).answers

    def _submission(self, student: Student, attempts: Sequence[Attempt]) -> Submission:
        parsed = self._together(attempts)
        given = {id: (answer, line, self.file) for id, (answer, line)
                 in parsed.answers.items()}
        digest = hashlib.sha256(json.dumps(sorted(
            [(id, answer) for id, (answer, _) in parsed.answers.items()])).encode())
        notes = [InputNote(about, message, self.file, line, student.id)
                 for about, message, line in parsed.notes]
        faults = [*self.faults.get(student.id, ()), *doubts(notes)]
        loose = doubts(notes, LOOSE)
        made = answers(student.id, self._ids, given, faults, loose)
        beside = hashlib.sha256(json.dumps([*faults, *loose]).encode()).hexdigest()
        for one in made:
            one.beside = None if one.fault is one.doubt is None else beside
        return Submission(student, made, [self.file], notes, digest.hexdigest())

    def _together(self, attempts: Sequence[Attempt]) -> Parsed:
        """Return the answers of several attempts: of each problem the last that is not blank."""
        if len(attempts) == 1:
            only: Parsed = attempts[0].parts[0]
            return only
        both = Parsed(self._ids)
        for attempt in attempts:
            for parsed in attempt.parts:
                both.notes += parsed.notes
                for id, (answer, line) in parsed.answers.items():
                    both.add(id, answer, line)
        return both
