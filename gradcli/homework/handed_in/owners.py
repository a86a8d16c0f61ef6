"""Whose a file is: by its path, by the roster, and where that is not certain."""

from __future__ import annotations

import os
import re

from gradcli.homework.handed_in.attempts import Attempt
from gradcli.homework.handed_in.records import (
    CANVAS,
    MOODLE,
    InputNote,
    Student,
    Unreadable,
    printable,
)
from gradcli.homework.handed_in.roster import described
from gradcli.homework.sheets.deadline import readings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.homework.handed_in.attempts import Attempts
    from gradcli.homework.handed_in.records import Answer
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.deadline import Readings

# Whose a file is, by its path: the shapes that learning management systems write.
#
# alice/answers.txt                               a folder for each student
# submitted/alice/hw3/answers.txt                 nbgrader: step, student, assignment
# Ann Lee_1234_assignsubmission_file_/hw3.txt     Moodle, and ..._onlinetext_/onlinetext.html
# leeann_LATE_12_34_hw3.txt                       Canvas: name, LATE, user, attachment, file
# leeann_LATE_12_text.html                        Canvas: what was typed there
# submission_123/hw3.txt                          Gradescope, which lists whose each folder is
# alice.txt                                       one file each

MOODLE_NAME = re.compile(r"([^/]{1,200}?)_(\d{1,12})_assignsubmission_(?:file|onlinetext)(?:_.*)?")
CANVAS_NAME = re.compile(
    r"([^/_]{1,200})(_LATE)?_(\d{1,12})_(?:(\d{1,12})_(.+)|((?:text|link)\.html))", re.DOTALL)
STEPS = ("submitted", "source", "release", "autograded", "feedback")
# What systems put beside what students hand in. Any other hidden file is a student's.
SUBMITTERS = "submission_metadata.yml"
IGNORED = re.compile(
    r"(?:.*/)?(?:timestamp\.txt|submission_metadata\.yml|Thumbs\.db|desktop\.ini|__MACOSX/.*|"
    r"\.DS_Store|\._[^/]*|~\$[^/]*|\.~lock\.[^/]*#|\.localized|\.directory|\.nfs[0-9a-f]+|"
    r"\.(?:git|svn|hg|vscode|idea|settings|Rproj\.user|Trashes|Spotlight-V100|fseventsd)/.*|"
    r"\.(?:git(?:ignore|keep|attributes|modules)|project|classpath|Rhistory|RData|Rprofile|"
    r"bash_history|python_history))", re.DOTALL)


class Owner:
    """The owner of a file, by its path.

    key: equal for all files of a student.
    id: the student's.
    lms: the number that the system gave.
    late: whether the system says so.
    attempt: later ones count.
    rest: the path below the part that names the student.
    shape: MOODLE, CANVAS, "folder", "file", "listed" or "pattern".
    system: whose number `lms` is.
    readings: of the time when it was handed in.
    said: the student as a list describes one; None where there is only the path.
    inside: whom the text of a file in no folder names.
    held: why a person has to say whose it is, None where that is certain.
    """

    __slots__ = ("attempt", "held", "id", "inside", "late", "lms", "readings", "rest", "said",
                 "shape", "system")

    def __init__(self, shape: str, id: str, rest: str, *, lms: str = "", late: bool = False,
                 attempt: int = 0) -> None:
        self.shape = self.system = shape
        self.id = id
        self.rest = rest
        self.lms = lms
        self.late = late
        self.attempt = attempt
        self.readings: Readings = ()
        self.said: Student | None = None
        self.inside: str | None = None
        self.held: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.id, "" if self.shape == "pattern" else self.lms


def owner(path: str, in_steps: bool) -> Owner | None:
    """Return the owner of the file at a path, from the folder of all with / between names; None
    where it belongs to no student. in_steps: whether the first name is one of nbgrader's steps.
    """
    parts = path.split("/")
    for k, part in enumerate(parts):
        found = MOODLE_NAME.fullmatch(part)
        if found:
            return Owner(MOODLE, found[1], "/".join(parts[k + 1:]) or part, lms=found[2])
    if in_steps:
        if parts[0] != STEPS[0] or len(parts) < 3:
            return None
        parts = parts[1:]
    if len(parts) > 1:
        return Owner("folder", parts[0], "/".join(parts[1:]))
    found = CANVAS_NAME.fullmatch(parts[0])
    if found:
        return Owner(CANVAS, found[1], found[5] or found[6], lms=found[3],
                     late=found[2] is not None, attempt=int(found[4] or 0))
    return Owner("file", parts[0].rpartition(".")[0] or parts[0], parts[0])


def patterned(path: str, id: str) -> Owner:
    """Return the owner of a file whom a pattern finds; the rest is what the system wrote."""
    known = owner(path, False)
    one = Owner("pattern", id, path.rpartition("/")[2])
    if known is not None and known.shape in (CANVAS, MOODLE):
        one.lms, one.late, one.attempt, one.system = (
            known.lms, known.late, known.attempt, known.shape)
    return one


MAX_LISTED = 64 * 1024 * 1024


def submitters(text: str) -> dict[str, list[Owner]]:
    """Return the students of each folder that Gradescope lists. Raises `Unreadable`.

        submission_409194023:
          :submitters:
          - :name: Ann Lee
            :sid: '710011'
            :email: ann@uni.example
          :created_at: 2026-11-20 17:34:00.861687000 Z
    """
    try:
        import yaml
    except ImportError:
        raise Unreadable("that needs PyYAML, which is not installed") from None
    try:
        document = yaml.load(text, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        found = {}
        for folder, entry in document.items():
            fields = _plain(entry)
            owners = []
            for one in fields.get("submitters") or ():
                said = {"student_id": "", "name": "", "email": "", **_plain(one)}
                said["student_id"] = said.pop("sid", "")
                id = said["student_id"] or said["email"] or said["name"]
                owners.append(Owner("listed", id, folder))
                owners[-1].said = described(id, said)
                owners[-1].readings = readings(fields.get("created_at", ""))
            if owners:
                found[folder] = owners
        return found
    except (yaml.YAMLError, AttributeError, TypeError, ValueError, RecursionError):
        raise Unreadable("it is not as Gradescope writes it") from None


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without the colon in front of their names."""
    return {name.lstrip(":"): value for name, value in entry.items()}


def parents(path: str) -> list[str]:
    """Return the folders that a path is in, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:k]) for k in range(len(parts) - 1, 0, -1)]


# --------------------------------------------------------------------------------------------------
# The files of each student.

class StudentFiles:
    """The files of one student: paths, each with its owner.

    attempts: those that count, whose parts are files; None until that is known.
    held: why a person has to say whose they are, None where that is certain.
    """

    __slots__ = ("attempts", "files", "held", "notes", "student")

    def __init__(self, student: Student) -> None:
        self.student = student
        self.files: list[tuple[str, Owner]] = []
        self.attempts: list[Attempt] | None = None
        self.held: str | None = None
        self.notes: list[InputNote] = []

    def counting(self) -> list[str]:
        """Return the paths of the files that count, the last attempt last."""
        if self.attempts is None:
            return [path for path, _ in self.files]
        return [path for attempt in self.attempts for path, _ in attempt.parts]


def by_student(owned: Iterable[tuple[str, Owner]], roster: Roster | None, notes: list[InputNote]
              ) -> dict[str, StudentFiles]:
    """Return the files of each student by id, which is that of the roster where there is one.

    A file that may be by several of the roster is nobody's, and a note for each of them.
    """
    owned = sorted(owned, key=lambda pair: (pair[1].attempt, pair[0]))
    _name_files(owned, roster)
    numbers: dict[str, set[str]] = {}
    for _, one in owned:
        numbers.setdefault(one.id, set()).add(one.key[1])
    numbered = roster is not None and _are_numbered(owned, roster, notes)
    found: dict[str, StudentFiles] = {}
    for path, one in owned:
        entries = _entries(one, roster, numbered) if roster is not None else []
        for several in entries if len(entries) > 1 else ():
            theirs = found.setdefault(several.id, StudentFiles(several.present()))
            theirs.notes.append(InputNote(
                "student", f"may be by any of {_called(entries)}: a number in its name would tell",
                path, student=several.id))
        if len(entries) > 1:
            continue
        entry = entries[0] if entries else None
        id = printable(entry.id if entry is not None else f"{one.id}_{one.lms}"
                       if len(numbers[one.id]) > 1 else one.id)
        if id not in found:
            found[id] = StudentFiles(_person(id, entry, one))
            if roster is not None and entry is None:
                notes.append(InputNote("student", "not in the roster", path, student=id))
        elif found[id].files and not _alike(found[id].files[0], (path, one)):
            # Whoever writes another one's name into a file must not replace what they answered.
            kept, other = found[id].files[0], (path, one)
            if _is_named(other, id) and not _is_named(kept, id):
                kept, other = other, kept
                found[id].files, found[id].held = [kept], kept[1].held
            said = f"also says it is by {id}, and is not read: {printable(kept[0])} is"
            found[id].notes.append(InputNote("student", said, other[0], student=id))
            _hold(found, other, id, f"{printable(other[0])} says it is by {id}, and"
                  f" {printable(kept[0])} is", roster)
            continue
        found[id].files.append((path, one))
        found[id].held = found[id].held or one.held
        found[id].student.late |= one.late
    return found


def of_sections(owned: Sequence[tuple[str, Owner]], roster: Roster) -> list[tuple[str, Owner]]:
    """Return the files with their owners, in place of those of sections the students below: a
    section is a folder of nobody in the roster that holds files of some who are.
    """
    below: dict[str, list[tuple[str, Owner]]] = {}
    for path, one in owned:
        inner = owner(one.rest, False) if one.shape == "folder" else None
        if inner is not None:
            inner.readings = one.readings
            below.setdefault(one.id, []).append((path, inner))
    sections = {id for id, inside in below.items() if not roster.find((id,), id)
                and any(_entries(inner, roster, True) for _, inner in inside)}
    inner_of = {path: inner for id in sections for path, inner in below[id]}
    return [(path, inner_of.get(path, one)) for path, one in owned]


def _name_files(owned: Sequence[tuple[str, Owner]], roster: Roster | None) -> None:
    """Give files in no folder that name a student the one of their own name where that is one, too.
    """
    flat = [(stem(path), one) for path, one in owned
            if one.shape == "file" and not is_general(path)]
    # Where one file has its student's name, all may.
    named = any(one.inside in (None, name) for name, one in flat)
    for name, one in flat:
        if one.inside is None or one.inside == name:
            continue
        if roster is not None:
            if roster.find((name,), name):
                one.id = name       # where the text names somebody else, `Reading` finds it
        elif named:
            one.held = f"{name} says it is by {one.inside}"


def _hold(found: dict[str, StudentFiles], file: tuple[str, Owner], id: str, why: str,
          roster: Roster | None) -> None:
    """Give a file that says it is by a student who has another one to the student of its own name,
    for a person; what has no other name is for that one.
    """
    path, one = file
    if one.shape == "file":
        entries = roster.find((stem(path),), stem(path)) if roster is not None else []
        entry = entries[0] if len(entries) == 1 else None
        id = printable(entry.id if entry is not None else stem(path))
        if id not in found:
            found[id] = StudentFiles(_person(id, entry, one))
            found[id].files.append(file)
    found[id].held = found[id].held or why


def _are_numbered(owned: Sequence[tuple[str, Owner]], roster: Roster, notes: list[InputNote]
                  ) -> bool:
    """Return whether the numbers in names of files are those of the roster: Moodle gives a student
    another one in each assignment.
    """
    same = other = 0
    for _, one in owned:
        named = roster.named(one.id) if one.shape == roster.system == MOODLE else []
        if len(named) == 1 and named[0].lms:
            same += named[0].lms == one.lms
            other += named[0].lms != one.lms
    if other > same:
        notes.append(InputNote("student", "the numbers in the names of the files are not those of"
                               " the roster: students are found by their names"))
    return other <= same


def _entries(one: Owner, roster: Roster, numbered: bool) -> list[Student]:
    """Return the students of the roster who may own a file."""
    if one.said is not None:
        return roster.find((one.id, one.said.email), one.said.full_name)
    number = one.lms if numbered and one.system == roster.system else ""
    if one.shape in (CANVAS, MOODLE):
        # Moodle writes the group in front: `Group A-Ann Lee`.
        parts = one.id.split("-") if one.shape == MOODLE else []
        names = [one.id, *["-".join(parts[k:]) for k in range(1, len(parts))]]
        name = next(filter(roster.named, names), one.id)
        return roster.find((), name, number) or roster.find((one.id,), "", number)
    return (roster.find((one.id,)) or roster.find((), one.id, number)
            or _begun(one, roster))


def _begun(one: Owner, roster: Roster) -> list[Student]:
    """Return the students of the roster with whom the name of a file or folder begins or ends, with
    other words beside: `s14_hw3_final`; whom only a name tells a person has to confirm.
    """
    words = re.split(r"[\s_.,()-]+", one.id) if one.shape in ("file", "folder") else []
    some = [(words[:k], words[k:]) for k in range(len(words) - 1, 0, -1)]
    for parts in ([before for before, _ in some], [behind for _, behind in reversed(some)]):
        for part in parts:
            text = " ".join(part)
            found = roster.find(("_".join(part), text)) if len(text) > 2 else []
            if not found and len(part) > 1:
                found = roster.named(text)
                if found:
                    one.held = one.held or f"{one.rest} may be by {_called(found)}"
            if found:
                return found
    return []


def _called(students: Sequence[Student]) -> str:
    return " and ".join([f"{one.name} ({one.id})" for one in students])


def _alike(first: tuple[str, Owner], second: tuple[str, Owner]) -> bool:
    """Return whether the same part of the paths or the same text names the owner of both files."""
    if "file" in (first[1].shape, second[1].shape):
        return first[1].shape == second[1].shape and stem(first[0]) == stem(second[0])
    return first[1].key == second[1].key


def _is_named(file: tuple[str, Owner], id: str) -> bool:
    """Return whether the path names the owner of the file, not its text."""
    return file[1].shape != "file" or stem(file[0]) == id


def is_general(path: str) -> bool:
    """Return whether a file is called answers, which names nobody."""
    return path.lower().startswith("answers.")


def stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _person(id: str, entry: Student | None, one: Owner) -> Student:
    if entry is not None:
        return entry.present(late=one.late, lms=one.lms)
    if one.said is not None:
        return one.said.present()
    if one.shape == MOODLE:
        first, _, last = one.id.rpartition(" ")
        return Student(id, last, first, lms=one.lms)
    return Student(id, late=one.late, lms=one.lms)


# --------------------------------------------------------------------------------------------------
# Attempts: Canvas numbers a file that is handed in again, hw3.txt, hw3-1.txt, hw3-2.txt.

_AGAIN = re.compile(r"(.*)-(\d{1,2})", re.DOTALL)


def settle(theirs: StudentFiles, attempts: Attempts,
           answers: Callable[[StudentFiles], Sequence[Answer]]) -> None:
    """Find the files of the attempts that count. answers: function that reads them."""
    stems = {stem(one.rest) for _, one in theirs.files}
    found: dict[tuple[int, bool, Readings], Attempt] = {}
    known = readings(theirs.student.time)
    for path, one in theirs.files:
        again = _AGAIN.fullmatch(stem(one.rest)) if one.system == CANVAS else None
        number = int(again[2]) if again and again[1] in stems else 0
        time = one.readings or known
        late = one.late if one.system == CANVAS else None
        found.setdefault((number, one.late, time), Attempt(time, late, number)
                         ).parts.append((path, one))

    def of_one(attempt: Attempt) -> Sequence[Answer]:
        alone = StudentFiles(theirs.student)
        alone.attempts = [attempt]
        return answers(alone)

    theirs.attempts = attempts.counting(theirs.student, list(found.values()), of_one)
