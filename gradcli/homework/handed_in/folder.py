"""A folder of submissions: the owners of the files, and the answers in them."""

from __future__ import annotations

import hashlib
import os
import re
import stat

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in import texts
from gradcli.homework.handed_in.owners import (
    IGNORED,
    STEPS,
    Owner,
    StudentFiles,
    by_student,
    owner,
    patterned,
    stem,
)
from gradcli.homework.handed_in.records import (
    DOUBTS,
    Answer,
    ClassTable,
    Ids,
    InputNote,
    Parsed,
    Submission,
    Submissions,
    Unreadable,
    decoded_text,
    printable,
    read_bytes,
)
from gradcli.homework.handed_in.texts import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.sheet import Sheet


# Only the beginning of a text is looked at for whose it is.
HEAD = 4096
# Endings of answers.txt and its like.
TEXTS = (".txt", ".md", ".text", "")


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
                found.append((path, patterned(path, id)))
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
            head, _ = decoded_text(read_bytes(os.path.join(root, path), follow=follow))
            said = texts.parse(head[:HEAD], ids).student
        elif ending in texts.READERS:
            whole, _ = decoded_text(read_bytes(os.path.join(root, path), follow=follow))
            said = texts.READERS[ending](whole, ids).student
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


READERS: dict[str, Callable[[str, Ids], Parsed]] = {
    ".txt": texts.parse, ".md": texts.parse, ".text": texts.parse,
    "": texts.parse,
    ".html": lambda text, ids: texts.parse(plain(text), ids),
    ".htm": lambda text, ids: texts.parse(plain(text), ids),
    **texts.READERS}
PACKED = (".zip", ".gz", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz")


def open_folder(root: str, sheet: Sheet, roster: Roster | None = None, *, follow: bool = False,
                whose: Callable[[Sequence[str]], Mapping[str, str | None]] | None = None
                ) -> Submissions:
    """Find the submissions in a folder.

    follow: whether links are followed. whose: function from paths to students, in place of the
    known shapes of names. Raises E0730 (cannot be read), E0731 (too many files).
    """
    paths, notes = walk(root, follow)
    ids = Ids(sheet.ids)
    owned = owned_files(root, sheet.id, ids, paths, notes, follow, whose)
    students = by_student(owned, roster, notes)
    ordered = [students[id] for id in sorted(students)]

    def read(k: int) -> Submission:
        return _read(root, ids, ordered[k], follow)

    return Submissions([theirs.student for theirs in ordered], read, notes)


def _read(root: str, ids: Ids, theirs: StudentFiles, follow: bool) -> Submission:
    """Read all files of a student; of several answers to a problem the last counts."""
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
            said, remark = decoded_text(data)
            parsed = READERS[os.path.splitext(path)[1].lower()](said, ids)
        except Unreadable as problem:
            digest.update(f"{shown}: {problem}".encode())
            faults.append((shown, f"cannot be read: {problem}"))
            notes.append(InputNote("unreadable", str(problem), shown, student=theirs.student.id))
            continue
        files.append(shown)
        if remark:
            notes.append(InputNote("encoding", remark, shown, student=theirs.student.id))
        told = [InputNote(about, message, shown, line, theirs.student.id)
                for about, message, line in parsed.notes]
        notes += told
        faults += doubts(told)
        for id, (answer, line) in parsed.answers.items():
            before = found.get(id, ("", None, ""))
            if before[0]:
                notes.append(InputNote("repeated", f"problem {id} is answered in {before[2]}, too: "
                                       + ("this answer counts" if answer else "that answer counts"),
                                       shown, line, theirs.student.id))
            if answer or not before[0]:
                found[id] = answer, line, shown
    return Submission(theirs.student, answers(theirs.student.id, ids, found, faults), files, notes,
                      digest.hexdigest())


def answers(student: str, ids: Ids, found: Mapping[str, tuple[str, int | None, str]],
            faults: Sequence[tuple[str, str]] = ()) -> list[Answer]:
    """Return one answer for each problem, in the order of the sheet.

    It is blank where there is none, but faulty if something was handed in that no problem claims,
    since the answer may have been in it.

    found: problem id to (answer, line, file). faults: (file, reason) of what is read for no
    problem.
    """
    more = f" ({len(faults) - 1:,} more in notes.csv)" if faults[1:] else ""
    doubt = f"{faults[0][0]} {faults[0][1]}{more}" if faults else None
    made = []
    for id in ids.all:
        answer, line, file = found.get(id, ("", None, None))
        if answer or doubt is None:
            made.append(Answer(student, id, answer, file, line, doubt=doubt))
        else:
            made.append(Answer(student, id, "", faults[0][0], None, doubt))
    return made


def doubts(notes: Iterable[InputNote]) -> list[tuple[str, str]]:
    """Return (file, reason) of the notes on what may be an answer, for `answers`."""
    return [(note.file or "", f"line {note.line}: {note.message}" if note.line else note.message)
            for note in notes if note.about in DOUBTS]


def _readable(theirs: StudentFiles, notes: list[InputNote]) -> list[str]:
    """Return the files that may hold answers: only those called answers, if there are any."""
    paths = []
    for path, _ in theirs.files:
        ending = os.path.splitext(path)[1].lower()
        if ending in READERS:
            paths.append(path)
        else:
            what = "packed files are not unpacked" if ending in PACKED else (
                f"{printable(ending)} files are not read")
            notes.append(InputNote("skipped", what, printable(path), student=theirs.student.id))
    named = [path for path in paths if stem(path).lower() == "answers"]
    if named:
        notes += [InputNote("skipped", "there is a file called answers", printable(path),
                            student=theirs.student.id) for path in paths if path not in named]
    return named or paths


def single(path: str, sheet: Sheet, follow: bool = False) -> Submissions:
    """Return the submission in one student's file, such as answers.txt. Raises E0730."""
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


# --------------------------------------------------------------------------------------------------
# --student-pattern: students by a regular expression of the teacher's, on names that are not.
#
# A pattern such as (\w+\s?)* takes hours on a name that was made for it, and Python cannot be told
# to stop: it runs in a process that can be killed.

MAX_PATH = 1024
BATCH = 2000


def finder(pattern: str) -> Callable[[Sequence[str]], Mapping[str, str | None]]:
    """Return a function that finds the student in each of some paths: the group called student, or
    the first one, or the whole match. None where the pattern does not match, or takes too long.

    Raises E0732 where it is no pattern.
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        at = getattr(problem, "pos", None) or 0
        message = getattr(problem, "msg", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0732", f"this is not a regular expression: {message}",
            source=Source(pattern, "--student-pattern"), span=(at, at + 1),
            help=r"write one such as (?P<student>\d+)_hw3")) from None

    def find(paths: Sequence[str]) -> Mapping[str, str | None]:
        from gradcli.base.workers.guarded import Guarded

        guarded = Guarded()
        found: dict[str, str | None] = {}
        try:
            for at in range(0, len(paths), BATCH):
                some = paths[at:at + BATCH]
                outcomes = guarded.run(searching, pattern, pattern, some)
                found.update({path: outcome if good else None for path, (good, outcome)
                              in zip(some, outcomes, strict=True)})
        finally:
            guarded.close()
        return found

    return find


def searching(pattern: str) -> Callable[[str], str | None]:
    """Return a function that finds the student in a path."""
    compiled = re.compile(pattern)
    group = "student" if "student" in compiled.groupindex else 1 if compiled.groups else 0

    def search(path: str) -> str | None:
        found = compiled.search(path[:MAX_PATH])
        said: str | None = found[group] if found else None
        return said.strip() or None if said else None

    return search


# --------------------------------------------------------------------------------------------------
# The files of a folder, without going astray: links, FIFOs and devices are passed over.

MAX_FILES = 200_000
MAX_DEPTH = 8


def walk(root: str, follow: bool = False) -> tuple[list[str], list[InputNote]]:
    """Return the regular files below a folder, as paths from there with / between names, in the
    order of their names; and notes on what was passed over. follow: whether links are followed.

    Raises E0730 (cannot be read) and E0731 (too many).
    """
    try:
        first = os.stat(root)
        with os.scandir(root):
            pass
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0730", f"cannot read the folder `{root}`: {reason.lower()}",
            source=Source("", root), span=(0, 0),
            help="give the folder that holds the students' files")) from None
    files: list[str] = []
    notes: list[InputNote] = []
    seen = {(first.st_dev, first.st_ino)}
    pending = [("", 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda e: e.name)
        except OSError as problem:
            notes.append(InputNote("skipped", f"folder: {(problem.strerror or '').lower()}",
                                   folder))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            what, identity = _what(entry, follow)
            if what == "folder" and depth == MAX_DEPTH:
                what = "folders are nested too deeply"
            elif what == "folder" and follow and identity in seen:
                what = "folder that was seen already"
            if what == "file":
                files.append(path)
            elif what == "folder":
                if follow:
                    seen.add(identity)
                pending.append((path, depth + 1))
            else:
                notes.append(InputNote("skipped", what, path))
            if len(files) + len(notes) > MAX_FILES:
                raise GradcliError(Diagnostic(
                    "E0731", f"`{root}` holds more than {MAX_FILES:,} files",
                    source=Source("", root), span=(0, 0),
                    help="give the folder of one assignment"))
    return sorted(files), notes


def _what(entry: os.DirEntry[str], follow: bool) -> tuple[str, tuple[int, int]]:
    """Return "file", "folder", or why it is neither; and its device and inode."""
    try:
        if entry.is_symlink() and not follow:
            return "a link (--follow reads it)", (0, 0)
        status = entry.stat(follow_symlinks=follow)
    except OSError as problem:
        return (problem.strerror or "unreadable").lower(), (0, 0)
    identity = status.st_dev, status.st_ino
    if stat.S_ISREG(status.st_mode):
        return "file", identity
    if stat.S_ISDIR(status.st_mode):
        return "folder", identity
    return "neither a file nor a folder", identity
