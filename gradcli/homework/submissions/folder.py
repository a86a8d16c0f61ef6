"""A folder of submissions: whose the files are, and what they say."""

from __future__ import annotations

import hashlib
import os

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.submissions import answers_text, student_tables
from gradcli.homework.submissions.online_text import plain
from gradcli.homework.submissions.parsed import Ids, Parsed
from gradcli.homework.submissions.records import (
    Answer,
    Note,
    Submission,
    Submissions,
    Unreadable,
    printable,
)
from gradcli.homework.submissions.shapes import owner
from gradcli.homework.submissions.texts import read_bytes, text
from gradcli.homework.submissions.theirs import Theirs, by_student, file_owner, owned_files, stem
from gradcli.homework.submissions.walk import walk
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.homework.sheet import Sheet
    from gradcli.homework.submissions.roster import Roster

READERS: dict[str, Callable[[str, Ids], Parsed]] = {
    ".txt": answers_text.parse, ".md": answers_text.parse, ".text": answers_text.parse,
    "": answers_text.parse,
    ".html": lambda text, ids: answers_text.parse(plain(text), ids),
    ".htm": lambda text, ids: answers_text.parse(plain(text), ids),
    **student_tables.READERS}
PACKED = (".zip", ".gz", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz")


def open_folder(root: str, sheet: Sheet, roster: Roster | None = None, *, follow: bool = False,
                whose: Callable[[Sequence[str]], Mapping[str, str | None]] | None = None
                ) -> Submissions:
    """What is handed in in a folder.

    follow: whether links are followed. whose: paths to students, in place of the known shapes.
    Raises E0730 (cannot be read), E0731 (too many files).
    """
    paths, notes = walk(root, follow)
    ids = Ids(sheet.ids)
    owned = owned_files(root, sheet.id, ids, paths, notes, follow, whose)
    students = by_student(owned, roster, notes)
    ordered = [students[id] for id in sorted(students)]

    def read(k: int) -> Submission:
        return _read(root, ids, ordered[k], follow)

    return Submissions([theirs.student for theirs in ordered], read, notes)


def _read(root: str, ids: Ids, theirs: Theirs, follow: bool) -> Submission:
    """All files of a student; of several answers to a problem the last counts."""
    notes = list(theirs.notes)
    found: dict[str, tuple[str, int | None, str]] = {}
    digest = hashlib.sha256()
    files = []
    readable = _readable(theirs, notes)
    # Somebody must look at what may be theirs, and at a photo, say, where there is nothing else.
    faults = [(note.file, note.message if note.about == "student" else
               f"cannot be read: {note.message}") for note in notes if note.file is not None and (
        note.about == "student" or (note.about == "skipped" and not readable))]
    for path in readable:
        shown = printable(path)
        try:
            data = read_bytes(os.path.join(root, path), follow=follow)
            digest.update(b"%d:%s" % (len(data), shown.encode()) + data)
            said, remark = text(data)
            parsed = READERS[os.path.splitext(path)[1].lower()](said, ids)
        except Unreadable as problem:
            digest.update(f"{shown}: {problem}".encode())
            faults.append((shown, f"cannot be read: {problem}"))
            notes.append(Note("unreadable", str(problem), shown, student=theirs.student.id))
            continue
        files.append(shown)
        if remark:
            notes.append(Note("encoding", remark, shown, student=theirs.student.id))
        notes += [Note(about, message, shown, line, theirs.student.id)
                  for about, message, line in parsed.notes]
        for id, (answer, line) in parsed.answers.items():
            before = found.get(id, ("", None, ""))
            if before[0]:
                notes.append(Note("repeated", f"problem {id} is answered in {before[2]}, too: "
                                  + ("this answer counts" if answer else "that answer counts"),
                                  shown, line, theirs.student.id))
            if answer or not before[0]:
                found[id] = answer, line, shown
    return Submission(theirs.student, answers(theirs.student.id, ids, found, faults), files, notes,
                      digest.hexdigest())


def answers(student: str, ids: Ids, found: Mapping[str, tuple[str, int | None, str]],
            faults: Sequence[tuple[str, str]] = ()) -> list[Answer]:
    """One for each problem: blank where there is none, but if a file could not be read, it may
    have been there.
    """
    made = []
    for id in ids.all:
        if id in found and (found[id][0] or not faults):
            answer, line, file = found[id]
            made.append(Answer(student, id, answer, file, line))
        elif faults:
            file, fault = faults[0]
            made.append(Answer(student, id, "", file, None, f"{file} {fault}"))
        else:
            made.append(Answer(student, id, ""))
    return made


def _readable(theirs: Theirs, notes: list[Note]) -> list[str]:
    """Those files that answers are looked for in: the ones called answers, if there are such."""
    paths = []
    for path, _ in theirs.files:
        ending = os.path.splitext(path)[1].lower()
        if ending in READERS:
            paths.append(path)
        else:
            what = "packed files are not unpacked" if ending in PACKED else (
                f"{printable(ending)} files are not read")
            notes.append(Note("skipped", what, printable(path), student=theirs.student.id))
    named = [path for path in paths if stem(path).lower() == "answers"]
    if named:
        notes += [Note("skipped", "there is a file called answers", printable(path),
                       student=theirs.student.id) for path in paths if path not in named]
    return named or paths


def single(path: str, sheet: Sheet, follow: bool = False) -> Submissions:
    """One student's file, such as answers.txt. Raises E0730."""
    root, name = os.path.split(path)
    ids = Ids(sheet.ids)
    if os.path.splitext(name)[1].lower() not in READERS or not os.path.isfile(path):
        raise GradcliError(Diagnostic(
            "E0730", f"cannot read `{path}`", source=Source("", path), span=(0, 0),
            help="give a folder, or a file such as answers.txt"))
    one = owner(name, False)
    assert one is not None
    if one.shape == "file":
        one.id = file_owner(root or ".", name, ids, follow) or one.id
    theirs = list(by_student([(name, one)], None, []).values())
    return Submissions([theirs[0].student], lambda k: _read(root or ".", ids, theirs[k], follow),
                       [])
