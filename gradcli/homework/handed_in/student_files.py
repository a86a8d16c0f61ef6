"""The owners of files: several files of one student, and those that claim to be another's."""

from __future__ import annotations

import os

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in import tables, texts
from gradcli.homework.handed_in.records import ClassTable, InputNote, Student, Unreadable, printable
from gradcli.homework.handed_in.tables import IGNORED, STEPS, Owner, owner
from gradcli.homework.handed_in.texts import read_bytes, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.records import Ids
    from gradcli.homework.handed_in.roster import Roster

# Only the beginning of a text is looked at for whose it is.
HEAD = 4096
# Endings of answers.txt and its like.
TEXTS = (".txt", ".md", ".text", "")


class StudentFiles:
    """The files of one student: paths, each with its owner."""

    __slots__ = ("files", "notes", "student")

    def __init__(self, student: Student) -> None:
        self.student = student
        self.files: list[tuple[str, Owner]] = []
        self.notes: list[InputNote] = []


def owned_files(root: str, assignment: str, ids: Ids, paths: Sequence[str], notes: list[InputNote],
           follow: bool, whose: Callable[[Sequence[str]], Mapping[str, str | None]] | None
           ) -> list[tuple[str, Owner]]:
    """Return the files that may hold answers, each with its owner.

    root: the folder of submissions.
    assignment: id of the sheet; files of others are left out.
    paths: the files below the root, with / between names.
    notes: receives remarks on files that are passed over.
    follow: whether links are followed.
    whose: function from paths to students, in place of the known shapes of names.
    """
    wanted = [path for path in paths if not IGNORED.fullmatch(path)]
    if len(wanted) < len(paths):
        notes.append(InputNote("skipped", f"{len(paths) - len(wanted):,} files of systems, such as"
                               " timestamp.txt"))
    if whose is not None:
        named = whose(wanted)
        found = []
        for path in wanted:
            id = named.get(path)
            if id:
                found.append((path, Owner("pattern", id, path.rpartition("/")[2])))
            else:
                notes.append(InputNote("skipped", "--student-pattern finds no student", path))
        return found
    in_steps = any(path.startswith(STEPS[0] + "/") for path in wanted) and all(
        path.partition("/")[0] in STEPS for path in wanted if "/" in path)
    found = []
    steps: dict[str, int] = {}
    for path in wanted:
        one = owner(path, in_steps)
        if one is None:
            first = path.partition("/")[0]
            steps[first] = steps.get(first, 0) + 1
        else:
            if one.shape == "file":
                one.id = file_owner(root, path, ids, follow) or one.id
            found.append((path, one))
    notes += [InputNote("skipped", f"{count:,} files beside what students submitted", step)
              for step, count in steps.items()]
    return _of_assignment(found, assignment, notes)


def file_owner(root: str, path: str, ids: Ids, follow: bool) -> str | None:
    """Return the student whom the text of a file in no folder names, None if it names nobody; for a
    file called answers that names nobody, the name of the root folder.

    Raises E0730 for a table of the class: it must not be taken for one student.
    """
    ending = os.path.splitext(path)[1].lower()
    said = None
    try:
        if ending in TEXTS:
            head, _ = text(read_bytes(os.path.join(root, path), follow=follow))
            said = texts.parse(head[:HEAD], ids).student
        elif ending in tables.READERS:
            whole, _ = text(read_bytes(os.path.join(root, path), follow=follow))
            said = tables.READERS[ending](whole, ids).student
    except ClassTable as problem:
        shown = printable(os.path.join(root, path))
        raise GradcliError(Diagnostic(
            "E0730", f"`{shown}` is not one student's file: {problem}", source=Source("", shown),
            span=(0, 0), help="give a table of the class in place of the folder, or take it out of"
            " it")) from None
    except Unreadable:
        pass
    if said is None and path.lower().startswith("answers."):
        said = os.path.basename(os.path.abspath(root))
    return said[:200] if said else None


def _of_assignment(owned: list[tuple[str, Owner]], assignment: str, notes: list[InputNote]
                   ) -> list[tuple[str, Owner]]:
    """Drop a student's files in folders of other assignments, if there are several and no file
    beside.
    """
    folders: dict[tuple[str, str], set[str]] = {}
    for _, one in owned:
        folders.setdefault(one.key, set()).add(one.rest.rpartition("/")[0].partition("/")[0])
    found = []
    for path, one in owned:
        several = folders[one.key]
        if one.shape == "folder" and len(several) > 1 and "" not in several:
            mine = one.rest.partition("/")[0]
            if mine.casefold() != assignment.casefold():
                notes.append(InputNote("skipped", f"of another assignment than {assignment}", path,
                                       student=one.id))
                continue
        found.append((path, one))
    return found


def by_student(owned: Iterable[tuple[str, Owner]], roster: Roster | None, notes: list[InputNote]
              ) -> dict[str, StudentFiles]:
    """Return the files of each student by id, which is that of the roster where there is one."""
    owned = sorted(owned, key=lambda pair: (pair[1].attempt, pair[0]))
    numbers: dict[str, set[str]] = {}
    for _, one in owned:
        numbers.setdefault(one.id, set()).add(one.lms)
    found: dict[str, StudentFiles] = {}
    for path, one in owned:
        shared = len(numbers[one.id]) > 1
        entry = roster.find(one.id) if roster is not None and not shared else None
        id = printable(entry.id if entry is not None else f"{one.id}_{one.lms}" if shared
                       else one.id)
        if id not in found:
            found[id] = StudentFiles(_person(id, entry, one))
            if roster is not None and entry is None:
                notes.append(InputNote("student", "not in the roster", path, student=id))
        elif not _alike(found[id].files[0], (path, one)):
            # Whoever writes another one's name into a file must not replace what they answered.
            kept, other = found[id].files[0], (path, one)
            if _is_named(other, id) and not _is_named(kept, id):
                kept, other = other, kept
                found[id].files = [kept]
            found[id].notes.append(InputNote(
                "student", f"also says it is by {id}, and is not read: {printable(kept[0])} is",
                other[0], student=id))
            continue
        found[id].files.append((path, one))
        found[id].student.late |= one.late
    return found


def _alike(first: tuple[str, Owner], second: tuple[str, Owner]) -> bool:
    """Return whether the same part of the paths or the same text names the owner of both files."""
    if "file" in (first[1].shape, second[1].shape):
        return first[1].shape == second[1].shape and stem(first[0]) == stem(second[0])
    return first[1].key == second[1].key


def _is_named(file: tuple[str, Owner], id: str) -> bool:
    """Return whether the path names the owner of the file, not its text."""
    return file[1].shape != "file" or stem(file[0]) == id


def stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _person(id: str, entry: Student | None, one: Owner) -> Student:
    if entry is not None:
        return Student(entry.id, entry.last_name, entry.first_name, entry.email, entry.section,
                       late=one.late, lms=one.lms)
    if one.shape == "moodle":
        first, _, last = one.id.rpartition(" ")
        return Student(id, last, first, lms=one.lms)
    return Student(id, late=one.late, lms=one.lms)
