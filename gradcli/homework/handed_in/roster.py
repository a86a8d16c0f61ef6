"""Who is in the class, and whom a number, a login, an address or a name means.

A roster is a CSV file that names its columns: one of one's own, or what Canvas, Moodle and
Gradescope export. Numbers tell whom a name means; where two students have one name, and nothing
else tells, both may be meant.
"""

from __future__ import annotations

import re
from unicodedata import category, normalize

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in.records import (
    CANVAS,
    MOODLE,
    Student,
    Unreadable,
    decoded_table,
    read_bytes,
)
from gradcli.homework.sheets.cells import columns, delimiter, folded, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcli.homework.sheets.cells import SourceRow

MAX_ROSTER = 32 * 1024 * 1024


class Roster:
    """The students of a class, in the order of the list; none has handed in anything yet.

    system: whose numbers the students have as `lms`, CANVAS or MOODLE; "" where there are none.
    """

    __slots__ = ("_alike", "_keys", "_loose", "_names", "_numbers", "students", "system")

    def __init__(self, students: Iterable[Student], system: str = "") -> None:
        self.students = list(students)
        self.system = system
        self._keys: dict[str, list[Student]] = {}
        self._alike: dict[str, list[Student]] = {}
        self._numbers: dict[str, list[Student]] = {}
        self._names: dict[str, list[Student]] = {}
        self._loose: dict[str, list[Student]] = {}
        for student in self.students:
            for key in {student.id, student.login.casefold(), student.email.casefold()}:
                _enter(self._keys, key, student)
            own = {student.id, student.login}
            if not student.login:
                own.add(student.email.partition("@")[0])
            for key in {_bare(key) for key in own}:
                _enter(self._alike, key, student)
            _enter(self._numbers, student.lms, student)
            for name in _orders(student):
                _enter(self._names, name, student)
                for spelling in _spellings(name):
                    _enter(self._loose, spelling, student)

    def find(self, keys: Sequence[str], name: str = "", number: str = "") -> list[Student]:
        """Return the students who may be meant: none, one, or several where that is not certain.

        keys: what may be an id, a login or an e-mail address.
        name: one that contradicts keys or number makes them uncertain.
        number: of the system of the roster; nobody who has another number is meant.
        """
        found = list(self._numbers.get(number, []))
        for key in keys:
            found += [one for one in self._by_key(key) if one not in found]
        named = self.named(name)
        if not found or (named and not any(one in named for one in found)):
            found += [one for one in named if one not in found]
        if number and not self._numbers.get(number):
            found = [one for one in found if not one.lms]
        return found

    def _by_key(self, key: str) -> list[Student]:
        found = (self._keys.get(key) or self._keys.get(key.casefold()) or self._numbers.get(key)
                 or self._alike.get(_bare(key)) or [])
        if not found and "@" in key:        # a list of logins, and what was sent from an address
            name = _bare(key.partition("@")[0])
            found = [one for one in self._alike.get(name, []) if not one.email]
        return found

    def named(self, written: str) -> list[Student]:
        """Return the students of a name, however their marks and umlauts are written."""
        name = _letters(written)
        if not name:
            return []
        found = self._names.get(name, [])
        if not found:
            for spelling in _spellings(name):
                found = found + [one for one in self._loose.get(spelling, []) if one not in found]
        return found


def _enter(index: dict[str, list[Student]], key: str, student: Student) -> None:
    if key and student not in index.setdefault(key, []):
        index[key].append(student)


def _bare(key: str) -> str:
    """Return an id without what gets lost of it: capitals, and zeros in front in a spreadsheet."""
    bare = "".join(key.casefold().split())
    return bare.lstrip("0") if bare.isdecimal() else bare


# Letters that are no others with a mark, as they are written where there are none of them.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe",
                        "ı": "i", "ħ": "h", "ŋ": "n"})
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def _letters(name: str) -> str:
    """Return a name as Canvas writes it into names of files: small letters and digits."""
    return "".join([c for c in normalize("NFKC", normalize("NFKC", name).casefold())
                    if category(c)[0] in "LNM"])


def _spellings(letters: str) -> set[str]:
    """Return a name of small letters without marks: ü is u, and ue."""
    both = [normalize("NFKD", text.translate(_PLAIN))
            for text in (letters, letters.translate(_GERMAN))]
    return {"".join([c for c in text if category(c)[0] in "LN"]) for text in both}


def _orders(student: Student) -> set[str]:
    """Return the letters of a student's name, last name first and last; of Chinese names that are
    written without a space, each sign may begin the other one.
    """
    first, last = student.first_name, student.last_name
    if not (first and last):
        words = re.findall(r"[\u3400-\u9fff]|[^\s,\u3400-\u9fff]+", first or last)
        return {_letters("".join([*words[k:], *words[:k]])) for k in range(min(len(words), 8))}
    words = f"{first} {last}".split()
    if any(len(_letters(word)) == 0 for word in words):
        words = [word for word in words if _letters(word)]
    return {_letters(last + first), _letters(first + last),
            *[_letters("".join([*words[k:], *words[:k]])) for k in range(min(len(words), 8))]}


# --------------------------------------------------------------------------------------------------
# Whom the cells of a row describe: in the list of a class, and in a table of answers.

TITLES = {
    "student_id": ("id", "student", "student number", "student no", "id number", "sis user id",
                   "sis id", "sid", "username", "user name", "login", "login id", "sis login id",
                   "netid", "matriculation number", "matrikelnummer", "matrikelnr", "user id"),
    "last_name": ("last", "lastname", "surname", "family name", "nachname", "name last"),
    "first_name": ("first", "firstname", "given name", "forename", "vorname", "name first"),
    "email": ("e mail", "mail", "email address", "e mail address", "e mail adresse"),
    "section": ("sections", "group", "class", "course section", "gruppe"),
    "name": ("full name", "fullname", "student name", "your name", "vollständiger name"),
    "login": ("username", "user name", "login id", "sis login id", "netid"),
    "role": (),
}
# What the systems call these columns, where it is not what others mean by it.
SYSTEMS = {
    CANVAS: {"name": ("student",), "lms": ("id",), "student_id": ("sis user id",),
             "login": ("sis login id",), "section": (), "email": ()},
    MOODLE: {**TITLES, "lms": ("identifier", "id"), "student_id": ("id number",),
             "time": ("last modified submission",)},
}
# What Moodle writes in front of a participant's number.
_PARTICIPANT = re.compile(
    r"(?:participant|teilnehmer(?:[/*:_]?in)?|partecipante|participante|deelnemer|deltag\w+)"
    r"\s*(\d{1,12})", re.IGNORECASE)
STAFF = ("instructor", "ta", "teacher", "reader", "owner")


def open_roster(path: str) -> Roster:
    """Read the roster in a CSV file. Raises E0735."""
    try:
        found, _ = decoded_table(read_bytes(path, MAX_ROSTER, follow=True))
    except Unreadable as problem:
        raise GradcliError(Diagnostic(
            "E0735", f"cannot read the roster `{path}`: {problem}", source=Source("", path),
            span=(0, 0), help="give a CSV file with the columns student_id,last_name,first_name,"
            "email,section")) from None
    return parse_roster(Source(found, path))


def parse_roster(source: Source) -> Roster:
    """Parse the text of a roster. Raises E0735 with all that is wrong."""
    table = [record for record in records(source, delimiter(source.text), "E0735")
             if not record.empty]
    head = [cell.text for cell in table[0].cells] if table else []
    system = _system(head, table[1:])
    known = columns(head, SYSTEMS[system] if system else TITLES)
    ids = [known[name] for name in ("student_id", "login", "email", "lms") if name in known]
    if not ids:
        raise GradcliError(Diagnostic(
            "E0735", "the roster has no column `student_id`", source=source,
            span=table[0].span if table else (0, 0),
            help="begin with the row student_id,last_name,first_name,email,section"))
    if not system:
        ids = ids[:1]
    students: dict[str, tuple[Student, tuple[int, int]]] = {}
    wrong = []
    for row in table[1:]:
        cells = {name: row.cells[k].text.strip() if k < len(row.cells) else ""
                 for name, k in known.items()}
        texts = [row.cells[k].text.strip() for k in ids if k < len(row.cells)]
        texts = [text for text in texts if text]
        if cells.get("role", "").casefold() in STAFF or (
                system == CANVAS and _is_canvas_own(row, cells, bool(students))):
            continue
        place = row.cells[min(ids[0], len(row.cells) - 1)].span
        id = next((text for text in texts if text not in students), texts[0] if texts else "")
        if not id:
            wrong.append(Diagnostic("E0735", "this student has no `student_id`", source=source,
                                    span=place, help="fill in the id, or delete the row"))
        elif id in students:
            wrong.append(Diagnostic(
                "E0735", f"there are two students `{id}`", source=source, span=place,
                related=[(students[id][1], "the first one")],
                help="delete one of the rows"))
        else:
            students[id] = described(id, cells), place
    if wrong:
        raise GradcliError(*wrong[:20])
    return Roster([student for student, _ in students.values()], system)


def _system(head: Sequence[str], rows: Sequence[SourceRow]) -> str:
    """Return the system that has exported a list with these titles; "" if none is known."""
    titles = [folded(title) for title in head]
    if {"student", "id"} <= {*titles} and {"section", "sis login id", "sis user id"} & {*titles}:
        return CANVAS
    at = next((titles.index(title) for title in ("identifier", "id") if title in titles), None)
    if at is not None and rows and all(
            at < len(row.cells) and _PARTICIPANT.fullmatch(row.cells[at].text.strip())
            for row in rows):
        return MOODLE
    return ""


def _is_canvas_own(row: SourceRow, cells: Mapping[str, str], begun: bool) -> bool:
    """Return whether a row of Canvas's is no student's: points, how grades are posted, a test."""
    name = cells["name"].casefold()
    if name == "points possible" or (not begun and not cells.get("lms")):
        return True
    ids = cells.get("student_id"), cells.get("login")
    return (name == "student, test" and not ids[0]) or not any((name, cells.get("lms"), *ids))


def described(id: str, cells: Mapping[str, str]) -> Student:
    """Return the student whom the cells of a row describe."""
    last, first = cells.get("last_name", ""), cells.get("first_name", "")
    if not last and not first:
        before, comma, behind = cells.get("name", "").partition(",")
        if comma:
            last, first = before.strip(), behind.strip()
        else:
            first, _, last = before.strip().rpartition(" ")
    login = cells.get("login", "")
    number = _PARTICIPANT.fullmatch(cells.get("lms", ""))
    return Student(id, last, first, cells.get("email") or (login if "@" in login else ""),
                   cells.get("section", ""), handed_in=False, login=login,
                   lms=number[1] if number else cells.get("lms", ""),
                   time=cells.get("time", "") if number else "")
