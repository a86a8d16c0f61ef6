"""What the readers of submissions give."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Answer:
    """What a student answered to a problem; "" is no answer. file, line: where it stands, if that
    is known. fault: why it could not be read, though something was handed in.
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


class Note:
    """What was passed over, or read in another way than it looks.

    about: "skipped" (a file or line that is not read), "unknown" (an id that the sheet has not),
    "repeated" (an id with several answers), "unreadable", "encoding", "student" (whose it is),
    "joined" (a line taken for the rest of the answer above), "override" (of an earlier answer).
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
    """What one student handed in.

    answers: one for each problem of the sheet, in its order. digest: the same for the same bytes
    in the same files.
    """

    __slots__ = ("answers", "digest", "files", "notes", "student")

    def __init__(self, student: Student, answers: Sequence[Answer], files: Sequence[str],
                 notes: Sequence[Note], digest: str) -> None:
        self.student = student
        self.answers = list(answers)
        self.files = list(files)
        self.notes = list(notes)
        self.digest = digest


class Submissions:
    """All that was handed in, by students in the order of their ids; files are read only when
    their turn comes. notes: what is known before that.
    """

    __slots__ = ("_read", "notes", "students")

    def __init__(self, students: Sequence[Student], read: Callable[[int], Submission],
                 notes: Sequence[Note]) -> None:
        self.students = list(students)
        self.notes = list(notes)
        self._read = read

    def __len__(self) -> int:
        return len(self.students)

    def __iter__(self) -> Iterator[Submission]:
        return map(self._read, range(len(self.students)))


class Unreadable(Exception):
    """A file or text that cannot be read; the message says why."""


class OfSeveral(Unreadable):
    """A file where one student's is expected, and which is a table of the class."""


def printable(name: str) -> str:
    """A name from a file system, whose bytes may be no text, as one that can be written."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# --------------------------------------------------------------------------------------------------
# Who is in the class.

class Student:
    """One of the class, as far as the roster or the folder tells.

    handed_in: whether there is a file of theirs. late: whether it came late. lms: the number that
    Moodle (participant) or Canvas (user) wrote into the name of the file, "" if none.
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
        """First and last name, the id where there is neither."""
        return f"{self.first_name} {self.last_name}".strip() or self.id
