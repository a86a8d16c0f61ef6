"""Students and what they answered, while a table or stream of a class is read."""

from __future__ import annotations

import hashlib
import json

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.people import Student
from gradcli.homework.submissions.folder import answers
from gradcli.homework.submissions.parsed import Ids, Parsed
from gradcli.homework.submissions.records import Note, Submission, Submissions
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.homework.submissions.roster import Roster

MAX_BYTES = 256 * 1024 * 1024
MAX_NAME = 200


class OfClass:
    """file: its name. found: student's id to who it is and the answers so far."""

    __slots__ = ("_ids", "_roster", "file", "found", "notes")

    def __init__(self, ids: Ids, file: str, roster: Roster | None) -> None:
        self._ids = ids
        self._roster = roster
        self.file = file
        self.found: dict[str, tuple[Student, Parsed]] = {}
        self.notes: list[Note] = []

    def of(self, name: str, line: int) -> Parsed | None:
        """What a student has answered so far; None, and a note, where the name is none."""
        name = name.strip()
        if not name or len(name) > MAX_NAME:
            self.note("skipped", f"a student's name of {len(name):,} characters" if name else
                      "no student is named here", line)
            return None
        entry = self._roster.find(name) if self._roster is not None else None
        id = entry.id if entry is not None else name
        if id not in self.found:
            if entry is not None:
                student = Student(id, entry.last_name, entry.first_name, entry.email,
                                  entry.section)
            else:
                student = Student(id, email=id if "@" in id else "")
                if self._roster is not None:
                    self.notes.append(Note("student", "not in the roster", self.file, line, id))
            self.found[id] = student, Parsed(self._ids)
        return self.found[id][1]

    def note(self, about: str, message: str, line: int | None = None) -> None:
        self.notes.append(Note(about, message, self.file, line))

    def submissions(self) -> Submissions:
        ordered = sorted(self.found)

        def read(k: int) -> Submission:
            student, parsed = self.found[ordered[k]]
            given = {id: (answer, line, self.file) for id, (answer, line)
                     in parsed.answers.items()}
            digest = hashlib.sha256(json.dumps(sorted(
                [(id, answer) for id, (answer, _) in parsed.answers.items()])).encode())
            return Submission(
                student, answers(student.id, self._ids, given), [self.file],
                [Note(about, message, self.file, line, student.id)
                 for about, message, line in parsed.notes], digest.hexdigest())

        return Submissions([self.found[id][0] for id in ordered], read, self.notes)


def unreadable(path: str, why: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0734", f"cannot read `{path}`: {why.lower()}", source=Source("", path), span=(0, 0),
        help="give a table with a row for each student, or a folder of their files"))
