"""The students of a class, from a list that the school's system has written.

    student_id,last_name,first_name,email,section

with other titles, too, in any order, with commas, semicolons or tabs. Students are found in it by
their number, e-mail or name, however the system wrote it into the name of a file.
"""

from __future__ import annotations

from unicodedata import category, normalize

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in.records import Student, Unreadable
from gradcli.homework.handed_in.texts import read_bytes, text
from gradcli.homework.sheets.cells import columns, delimiter, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 32 * 1024 * 1024
TITLES = {
    "student_id": ("id", "student", "student number", "student no", "id number", "sis user id",
                   "username", "user name", "login", "login id", "sis login id", "netid", "sid",
                   "matriculation number", "matrikelnummer", "matrikelnr", "user id"),
    "last_name": ("last", "lastname", "surname", "family name", "nachname", "name last"),
    "first_name": ("first", "firstname", "given name", "forename", "vorname", "name first"),
    "email": ("e mail", "mail", "email address", "e mail address", "e mail adresse"),
    "section": ("sections", "group", "class", "course section", "gruppe"),
    "name": ("full name", "fullname", "student name"),
}


class Roster:
    """The students of a class, in the order of the list; none has handed in anything yet."""

    __slots__ = ("_by", "students")

    def __init__(self, students: Iterable[Student]) -> None:
        self.students = list(students)
        self._by: dict[str, dict[str, Student | None]] = {"id": {}, "email": {}, "name": {}}
        for student in self.students:
            self._enter("id", student.id, student)
            self._enter("email", student.email.casefold(), student)
            names = student.last_name, student.first_name
            for name in {_letters("".join(names)), _letters("".join(reversed(names)))}:
                self._enter("name", name, student)

    def _enter(self, how: str, key: str, student: Student) -> None:
        """Add a key of a student. Two students who share a key are found by neither."""
        if key:
            self._by[how][key] = None if key in self._by[how] else student

    def find(self, written: str) -> Student | None:
        """Return the student with a number, an e-mail address or a name, None if there is none."""
        return (self._by["id"].get(written) or self._by["email"].get(written.casefold())
                or self._by["name"].get(_letters(written)))


def _letters(name: str) -> str:
    """Return a name as Canvas writes it into names of files: small letters without marks."""
    return "".join([c for c in normalize("NFKD", name).casefold()
                    if category(c)[0] in "LN"])


def open_roster(path: str) -> Roster:
    """Read the roster in a CSV file. Raises E0735."""
    try:
        found, _ = text(read_bytes(path, MAX_BYTES, follow=True))
    except Unreadable as problem:
        raise GradcliError(Diagnostic(
            "E0735", f"cannot read the roster `{path}`: {problem}", source=Source("", path),
            span=(0, 0), help="give a CSV file with the columns student_id,last_name,first_name,"
            "email,section")) from None
    return parse(Source(found, path))


def parse(source: Source) -> Roster:
    """Parse the text of a roster. Raises E0735 with all that is wrong."""
    table = [record for record in records(source, delimiter(source.text), "E0735")
             if not record.empty]
    head = [cell.text for cell in table[0].cells] if table else []
    known = columns(head, TITLES)
    if "student_id" not in known and "email" in known:
        known["student_id"] = known["email"]
    if "student_id" not in known:
        raise GradcliError(Diagnostic(
            "E0735", "the roster has no column `student_id`", source=source,
            span=table[0].span if table else (0, 0),
            help="begin with the row student_id,last_name,first_name,email,section"))
    students: dict[str, tuple[Student, tuple[int, int]]] = {}
    wrong = []
    for row in table[1:]:
        cells = {name: row.cells[k].text.strip() if k < len(row.cells) else ""
                 for name, k in known.items()}
        place = row.cells[min(known["student_id"], len(row.cells) - 1)].span
        student = _student(cells)
        if not student.id and row.cells[0].text.strip().lower() == "points possible":
            continue  # of an export of Canvas, which is a roster too
        if not student.id:
            wrong.append(Diagnostic("E0735", "this student has no `student_id`", source=source,
                                    span=place, help="fill in the id, or delete the row"))
        elif student.id in students:
            wrong.append(Diagnostic(
                "E0735", f"there are two students `{student.id}`", source=source, span=place,
                related=[(students[student.id][1], "the first one")],
                help="delete one of the rows"))
        else:
            students[student.id] = student, place
    if wrong:
        raise GradcliError(*wrong[:20])
    return Roster([student for student, _ in students.values()])


def _student(cells: dict[str, str]) -> Student:
    last, first = cells.get("last_name", ""), cells.get("first_name", "")
    if not last and not first:
        before, comma, behind = cells.get("name", "").partition(",")
        if comma:
            last, first = before.strip(), behind.strip()
        else:
            first, _, last = before.strip().rpartition(" ")
    return Student(cells["student_id"], last, first, cells.get("email", ""),
                   cells.get("section", ""), handed_in=False)
