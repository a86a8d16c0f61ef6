"""Records of submissions: students, answers while a file is read, notes, and bytes as text."""

from __future__ import annotations

import hashlib
import os
import re
import stat

from gradcli.homework.handed_in.words import is_no_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradcli.homework.handed_in.labels import Ids


class Answer:
    """A student's answer to a problem; "" is no answer.

    file, line: its location, if that is known. fault: why it could not be read, though something
    was handed in. doubt: what else was handed in that no problem claims. beside: a digest of the
    files where that stands, None without a fault or a doubt. basis: the student's answer to the
    part that the problem follows from.
    """

    __slots__ = ("answer", "basis", "beside", "doubt", "fault", "file", "line", "problem",
                 "student")

    def __init__(self, student: str, problem: str, answer: str, file: str | None = None,
                 line: int | None = None, fault: str | None = None, doubt: str | None = None
                 ) -> None:
        self.student = student
        self.problem = problem
        self.answer = answer
        self.file = file
        self.line = line
        self.fault = fault
        self.doubt = doubt
        self.beside: str | None = None
        self.basis = ""

    def __repr__(self) -> str:
        return f"Answer({self.student!r}, {self.problem!r}, {self.answer!r})"


class InputNote:
    """A remark on input that was passed over, or read differently than it looks.

    about: "skipped" (a file or line that is not read), "unknown" (an id that the sheet has not),
    "unclaimed" (what may be an answer, but to which problem?), "repeated" (an id with several
    answers), "unreadable", "encoding", "student" (the owner of a file), "joined" (a line taken for
    the rest of the answer above), "loose" (one that may as well be an answer), "left" (what stands
    where no answers are looked for), "override" (of an earlier answer), "alone" (an override of
    several answers that counts for one).
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


class Choice:
    """Several attempts of a student, of which the one with most points counts.

    late: whether each is late.
    answers: function that returns those of one, by its number.
    take: function that makes one count.
    """

    __slots__ = ("answers", "late", "student", "take")

    def __init__(self, student: Student, late: Sequence[bool],
                 answers: Callable[[int], Sequence[Answer]], take: Callable[[int], None]) -> None:
        self.student = student
        self.late = list(late)
        self.answers = answers
        self.take = take


class Submissions:
    """The submissions of all students in the order of their ids; each is read when its turn comes.

    notes: remarks that are known before that.
    choices: where the best of several attempts is still to be found.
    doubts: (student's id, problem) to why an answer that is not right waits for a person.
    """

    __slots__ = ("_read", "choices", "doubts", "notes", "students")

    def __init__(self, students: Sequence[Student], read: Callable[[int], Submission],
                 notes: Sequence[InputNote], choices: Sequence[Choice] = ()) -> None:
        self.students = list(students)
        self.notes = list(notes)
        self.choices = list(choices)
        self.doubts: dict[tuple[str, str], str] = {}
        self._read = read

    def __len__(self) -> int:
        return len(self.students)

    def __iter__(self) -> Iterator[Submission]:
        return map(self._doubted, range(len(self.students)))

    def _doubted(self, k: int) -> Submission:
        found = self._read(k)
        for one in found.answers if self.doubts else ():
            why = self.doubts.get((one.student, one.problem))
            if why is not None:
                one.doubt = one.doubt or why
                one.beside = hashlib.sha256(f"{one.beside} {why}".encode()).hexdigest()
        return found


# Notes on what may be an answer: one that is not right waits for a person.
DOUBTS = ("unclaimed", "unknown")
# What may be the answer to another problem: one that has none waits for a person.
LOOSE = ("loose", "left")


class Unreadable(Exception):
    """A file or text that cannot be read; the message says why."""


class ClassTable(Unreadable):
    """A file where one student's is expected, and which is a table of the class."""


def printable(name: str) -> str:
    """Return a name from a file system, whose bytes may be no text, as one that can be written."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# --------------------------------------------------------------------------------------------------
# Who is in the class.

CANVAS, MOODLE = "canvas", "moodle"


class Student:
    """A student, as far as the roster or the folder describes one.

    handed_in: whether the student has a file.
    late: whether it came late.
    lms: the number that Moodle (participant) or Canvas (user) gave, "" if none.
    login: the name that the student logs in with.
    time: when the student handed in, as the roster says it.
    """

    __slots__ = ("email", "first_name", "handed_in", "id", "last_name", "late", "lms", "login",
                 "section", "time")

    def __init__(self, id: str, last_name: str = "", first_name: str = "", email: str = "",
                 section: str = "", *, handed_in: bool = True, late: bool = False, lms: str = "",
                 login: str = "", time: str = "") -> None:
        self.id = id
        self.last_name = last_name
        self.first_name = first_name
        self.email = email
        self.section = section
        self.handed_in = handed_in
        self.late = late
        self.lms = lms
        self.login = login
        self.time = time

    def present(self, *, late: bool = False, lms: str = "") -> Student:
        """Return a student of the roster who has handed something in."""
        return Student(self.id, self.last_name, self.first_name, self.email, self.section,
                       late=late, lms=self.lms or lms, login=self.login, time=self.time)

    @property
    def full_name(self) -> str:
        """Return first and last name, "" where there is neither."""
        return f"{self.first_name} {self.last_name}".strip()

    @property
    def name(self) -> str:
        """Return first and last name, the id where there is neither."""
        return self.full_name or self.id


SHOWN = 40


class Parsed:
    """The answers of one student while a file is parsed.

    answers: id to (text, line).
    notes: (about, message, line).
    student: the name in the file.
    taken: the ids whose answers took a line that may be the answer to another one.
    """

    __slots__ = ("answers", "ids", "notes", "student", "taken")

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.student: str | None = None
        self.answers: dict[str, tuple[str, int | None]] = {}
        self.notes: list[tuple[str, str, int | None]] = []
        self.taken: set[str] = set()

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

    def leave(self, text: str, where: str, line: int | None = None) -> None:
        """Note what stands somewhere in a file where no reader looks for answers, and may hold one.
        """
        for one in text.split("\n"):
            # `1a again` is no formula.
            said = " ".join([word for word in one.split()
                             if word.isdecimal() or self.ids.find(word) is None])
            if said and not is_no_answer(said):
                self.note("left", f"`{short(one)}` stands {where}", line)


def short(text: str) -> str:
    """Return the beginning of a text, for a note."""
    bare = " ".join(text[:4 * SHOWN].split())
    return bare if len(bare) <= SHOWN else bare[:SHOWN - 1] + "…"


# --------------------------------------------------------------------------------------------------
# Text decoded from bytes that may be anything.

MAX_BYTES = 64 * 1024


# Umlauts and accents stand among small letters, or begin a word; the bytes of one encoding are
# signs, or capitals within words, in another.
_IN_WORDS = re.compile(r"(?<=[a-zA-Z])[à-öø-ÿß]|[à-öø-ÿ](?=[a-z])|\b[àé](?= )"
                       r"|\b[À-ÖØ-Þ](?=[a-z]{2})|[“‘„«](?=\w)|(?<=\w)[”’»…]|(?<= )–(?= )")
_NOT_IN_WORDS = re.compile(r"(?<=[a-z])[À-ÖØ-ÞŠŽŒŸ‰ˆ˜¸‡†§¶]|[‰ˆ˜¸‡†§ﬂﬁ◊Œ\x80-\x9f](?=[a-z ])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read_bytes(path: str, limit: int = MAX_BYTES, follow: bool = False) -> bytes:
    """Read the bytes of a regular file. Raises `Unreadable`.

    The name may stand for another file since it was listed: it is opened without following a link
    and without waiting for a FIFO's other end, and checked once it is open.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    flags |= getattr(os, "O_BINARY", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as problem:
        raise Unreadable(_reason(problem)) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("not a regular file")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as problem:
        raise Unreadable(_reason(problem)) from None
    finally:
        os.close(handle)
    if len(data) > limit:
        raise Unreadable(f"larger than {limit // 1024:,} KiB")
    return data


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()


def decoded_text(data: bytes) -> tuple[str, str | None]:
    r"""Return the text, and a remark on its encoding if it is not UTF-8. Line ends are \n.

    A byte order mark identifies UTF-16. All else must look like a text of Windows-1252, or of Mac
    Roman. Raises `Unreadable`.
    """
    remark = None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            found, remark = data.decode("utf-16"), "read as UTF-16"
        except UnicodeDecodeError:
            raise Unreadable("begins as UTF-16, but is none") from None
        if "\0" in found:
            raise Unreadable("not a text: it holds a NUL character")
    elif b"\0" in data:
        raise Unreadable("not a text: it holds a NUL byte")
    else:
        try:
            found = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            found, name = _of_eight_bits(data)
            remark = f"not UTF-8: read as {name}"
    return found.replace("\r\n", "\n").replace("\r", "\n"), remark


MAX_CELLS = 5_000_000
MAX_SHEET = 256 * 1024 * 1024


def decoded_table(data: bytes) -> tuple[str, str | None]:
    """Return the text of a table in CSV, or the first sheet of a workbook of Excel as that, and a
    remark as `decoded_text` does. Raises `Unreadable`.
    """
    if not data.startswith(b"PK\x03\x04"):
        return decoded_text(data)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise Unreadable("workbooks need openpyxl, which is not installed: pip install"
                         " 'gradcli[spreadsheet]', or save it as CSV") from None
    import csv
    import io
    import zipfile

    stream = io.StringIO()
    left = MAX_CELLS
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum([entry.file_size for entry in packed.infolist()]) > MAX_SHEET:
                raise Unreadable("a workbook that is too large")
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        writer = csv.writer(stream, lineterminator="\n")
        # What a program wrote may have formulas without their values.
        typed = load_workbook(io.BytesIO(data), read_only=True)
        for row, formulas in zip(book.worksheets[0].iter_rows(values_only=True),
                                 typed.worksheets[0].iter_rows(values_only=True), strict=True):
            left -= len(row)
            if left < 0:
                raise Unreadable("a workbook that is too large")
            writer.writerow([_cell_text(formula if value is None else value)
                             for value, formula in zip(row, formulas, strict=True)])
    except Unreadable:
        raise
    except Exception:       # whatever openpyxl makes of what is no workbook
        raise Unreadable("not a workbook that can be read: save it as CSV") from None
    return stream.getvalue(), None


def _cell_text(value: object) -> str:
    """Return what a cell shows, so far as numbers and times go."""
    if isinstance(value, str) and value[:1] == "=":
        return rf"\formula? {value}"        # for a person, as in documents
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value)


# 16/5 as a spreadsheet writes it that takes it for a date. 2/5/2026 may be one, too.
_DATED = re.compile(r"\s*(?:(?:19|20)\d\d-\d\d?-\d\d?|\d\d?([./-])\d\d?\1(?:19|20)\d\d)"
                    r"(?:[ T]\d\d?:\d\d(?::\d\d)?)?\s*")


def answer_in(cell: str) -> str:
    """Return the answer in the cell of a table; what a spreadsheet took for a date is for a person.
    """
    return rf"\date? {cell.strip()}" if _DATED.fullmatch(cell) else cell


def _of_eight_bits(data: bytes) -> tuple[str, str]:
    """Return a text that is not UTF-8, and the name of its encoding."""
    roman = data.decode("mac_roman")
    try:
        found, name = data.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        if not _plausible(roman):
            raise Unreadable("not a text: neither UTF-8 nor Windows-1252") from None
        found, name = roman, "Mac Roman"
    if _plausible(roman) > max(0, _plausible(found)):
        found, name = roman, "Mac Roman"
    if _CONTROL.search(found):
        raise Unreadable("not a text: it holds control characters, and is not UTF-8")
    return found, name


def _plausible(text: str) -> int:
    """Return how many of the letters with marks stand as in words, less those that do not."""
    return len(_IN_WORDS.findall(text)) - len(_NOT_IN_WORDS.findall(text))
