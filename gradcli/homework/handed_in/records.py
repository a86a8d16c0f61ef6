"""Records of submissions: students, their answers while a file is read, and notes."""

from __future__ import annotations

import re
from unicodedata import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Answer:
    """A student's answer to a problem; "" is no answer.

    file, line: its location, if that is known. fault: why it could not be read, though something
    was handed in.
    """

    __slots__ = ("answer", "fault", "file", "line", "problem", "student")

    def __init__(self, student: str, problem: str, answer: str, file: str | None = None,
                 line: int | None = None, fault: str | None = None) -> None:
        self.student = student
        self.problem = problem
        self.answer = answer
        self.file = file
        self.line = line
        self.fault = fault

    def __repr__(self) -> str:
        return f"Answer({self.student!r}, {self.problem!r}, {self.answer!r})"


class InputNote:
    """A remark on input that was passed over, or read differently than it looks.

    about: "skipped" (a file or line that is not read), "unknown" (an id that the sheet has not),
    "repeated" (an id with several answers), "unreadable", "encoding", "student" (the owner of a
    file), "joined" (a line taken for the rest of the answer above), "override" (of an earlier
    answer).
    """

    __slots__ = ("about", "file", "line", "message", "student")

    def __init__(self, about: str, message: str, file: str | None = None, line: int | None = None,
                 student: str | None = None) -> None:
        self.about = about
        self.message = message
        self.file = None if file is None else printable(file)
        self.line = line
        self.student = student

    def __repr__(self) -> str:
        return f"Note({self.about!r}, {self.message!r}, {self.file!r}, {self.line!r})"


class Submission:
    """The submission of one student.

    answers: one for each problem of the sheet, in its order. digest: equal for equal bytes in
    equally named files.
    """

    __slots__ = ("answers", "digest", "files", "notes", "student")

    def __init__(self, student: Student, answers: Sequence[Answer], files: Sequence[str],
                 notes: Sequence[InputNote], digest: str) -> None:
        self.student = student
        self.answers = list(answers)
        self.files = list(files)
        self.notes = list(notes)
        self.digest = digest


class Submissions:
    """The submissions of all students in the order of their ids; each is read when its turn comes.

    notes: remarks that are known before that.
    """

    __slots__ = ("_read", "notes", "students")

    def __init__(self, students: Sequence[Student], read: Callable[[int], Submission],
                 notes: Sequence[InputNote]) -> None:
        self.students = list(students)
        self.notes = list(notes)
        self._read = read

    def __len__(self) -> int:
        return len(self.students)

    def __iter__(self) -> Iterator[Submission]:
        return map(self._read, range(len(self.students)))


class Unreadable(Exception):
    """A file or text that cannot be read; the message says why."""


class ClassTable(Unreadable):
    """A file where one student's is expected, and which is a table of the class."""


def printable(name: str) -> str:
    """Return a name from a file system, whose bytes may be no text, as one that can be written."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# --------------------------------------------------------------------------------------------------
# Who is in the class.

class Student:
    """A student, as far as the roster or the folder describes one.

    handed_in: whether the student has a file.
    late: whether it came late.
    lms: the number that Moodle (participant) or Canvas (user) wrote into the name of the file, ""
        if none.
    """

    __slots__ = ("email", "first_name", "handed_in", "id", "last_name", "late", "lms", "section")

    def __init__(self, id: str, last_name: str = "", first_name: str = "", email: str = "",
                 section: str = "", *, handed_in: bool = True, late: bool = False, lms: str = ""
                 ) -> None:
        self.id = id
        self.last_name = last_name
        self.first_name = first_name
        self.email = email
        self.section = section
        self.handed_in = handed_in
        self.late = late
        self.lms = lms

    @property
    def name(self) -> str:
        """Return first and last name, the id where there is neither."""
        return f"{self.first_name} {self.last_name}".strip() or self.id


# What students and forms write in front of the id.
WORD = r"(?:(?:q|question|problem|prob|p|ex|exercise|task|part|no|nr|aufgabe|answer)\b\.?|q|p)"
_AROUND = re.compile(rf"\s*+(?:{WORD}\s*)?[(\[]?\s*(.*?)\s*[)\]]?\s*[:.)]?\s*", re.IGNORECASE)
SHOWN = 40


class Ids:
    """The ids of a sheet's problems, as students write them: 1a, 1A, Q1a, (1a), Problem 1a."""

    __slots__ = ("_folded", "all", "line")

    def __init__(self, ids: Sequence[str]) -> None:
        self.all = list(ids)
        self._folded = {fold(id): id for id in ids}
        longest = sorted({*ids, *self._folded}, key=len, reverse=True)
        either = "|".join([re.escape(id) for id in longest]) or r"(?!)"
        # `1a: ...`, `1b) ...`, `2 = ...`, `3. ...`, `(1a) ...`, each perhaps behind `Problem`.
        self.line = re.compile(
            rf"(?:{WORD}\s*)?(?:\(({either})\)(?=\s|:|\Z)\s*:?|({either})\s*(?:\)\s*:?|[:=]"
            r"|\.(?=\s|\Z)))\s*(.*)", re.IGNORECASE | re.DOTALL)

    def find(self, written: str) -> str | None:
        """Return the id that is meant, None if there is none."""
        found = self._folded.get(fold(written))
        if found is None and len(written) < 100:
            bare = _AROUND.fullmatch(written)
            found = self._folded.get(fold(bare[1])) if bare else None
        return found


def fold(id: str) -> str:
    return normalize("NFKC", id).strip().casefold()


class Parsed:
    """The answers of one student while a file is parsed.

    answers: id to (text, line).
    notes: (about, message, line).
    student: the name in the file.
    """

    __slots__ = ("answers", "ids", "notes", "student")

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.student: str | None = None
        self.answers: dict[str, tuple[str, int | None]] = {}
        self.notes: list[tuple[str, str, int | None]] = []

    def add(self, written: str, answer: str, line: int | None) -> None:
        """Add an answer to the problem with the id that is written there.

        The last that is not empty counts.
        """
        id = self.ids.find(written)
        if id is None:
            if answer.strip():
                self.note("unknown", f"the sheet has no problem `{short(written)}`, where"
                          f" `{short(answer)}` is answered", line)
            return
        answer = answer.strip()
        before, at = self.answers.get(id, ("", None))
        if before:
            shown = f"`{short(before)}`" + (f" in line {at}" if at else "")
            self.note("repeated", f"problem {id} is answered again: this answer counts, not {shown}"
                      if answer else f"problem {id} stands here again, empty: {shown} counts", line)
        if answer or not before:
            self.answers[id] = answer, line

    def note(self, about: str, message: str, line: int | None = None) -> None:
        self.notes.append((about, message, line))


def short(text: str) -> str:
    """Return the beginning of a text, for a note."""
    bare = " ".join(text[:4 * SHOWN].split())
    return bare if len(bare) <= SHOWN else bare[:SHOWN - 1] + "…"
