"""A folder of submissions: the owners of the files, and the answers in them."""

from __future__ import annotations

import hashlib
import os
import re

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in import texts
from gradcli.homework.handed_in.attempts import Attempts
from gradcli.homework.handed_in.files import Folder, open_files
from gradcli.homework.handed_in.labels import Ids
from gradcli.homework.handed_in.owners import (
    IGNORED,
    MAX_LISTED,
    STEPS,
    SUBMITTERS,
    Owner,
    StudentFiles,
    by_student,
    owner,
    parents,
    patterned,
    settle,
    stem,
    submitters,
)
from gradcli.homework.handed_in.records import (
    DOUBTS,
    MAX_BYTES,
    Answer,
    ClassTable,
    InputNote,
    Parsed,
    Submission,
    Submissions,
    Unreadable,
    decoded_text,
    printable,
    short,
)
from gradcli.homework.handed_in.texts import plain
from gradcli.homework.sheets.deadline import readings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.files import Files
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.deadline import Readings
    from gradcli.homework.sheets.sheet import Sheet


# Only the beginning of a text is looked at for whose it is.
HEAD = 4096
# What is read of one student, in all files.
MAX_TEXT = 2 * MAX_BYTES
TOO_MUCH = f"there is more than {MAX_TEXT // 1024} KiB of text in all"
# Endings of answers.txt and its like.
TEXTS = (".txt", ".md", ".text", "")


def owned_files(files: Files, assignment: str, ids: Ids, paths: Sequence[str],
                notes: list[InputNote],
                whose: Callable[[Sequence[str]], Mapping[str, str | None]] | None
                ) -> list[tuple[str, Owner]]:
    """Return the files that may hold answers, each with its owner.

    files: of all submissions.
    assignment: id of the sheet; files of others are left out.
    paths: the files below the root, with / between names.
    notes: receives remarks on files that are passed over.
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
    stamps = _stamps(files, paths)
    exported = _exported(files, paths)
    for path in wanted:
        by = next((exported[folder] for folder in parents(path) if folder in exported), None)
        if by is not None:
            found += [(path, one) for one in by]
            continue
        one = owner(path, in_steps)
        if one is None:
            first = path.partition("/")[0]
            steps[first] = steps.get(first, 0) + 1
        else:
            if one.shape == "file":
                one.id = file_owner(files, path, ids) or one.id
            one.readings = stamps.get(os.path.dirname(path), ())
            found.append((path, one))
    notes += [InputNote("skipped", f"{count:,} files beside what students submitted", step)
              for step, count in steps.items()]
    return _of_assignment(found, assignment, notes)


def _exported(files: Files, paths: Sequence[str]) -> dict[str, list[Owner]]:
    """Return the owners of the folders that Gradescope exports, as it lists them. Raises E0730."""
    found: dict[str, list[Owner]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        # A student's own file of this name says nothing.
        if name == SUBMITTERS and (not folder or all(
                other.startswith(f"{folder}/") for other in paths)):
            try:
                text, _ = decoded_text(files.read(path, MAX_LISTED))
                listed = submitters(text)
            except Unreadable as problem:
                shown = printable(os.path.join(files.root, path))
                raise GradcliError(Diagnostic(
                    "E0730", f"cannot read who submitted what in `{shown}`: {problem}",
                    source=Source("", shown), span=(0, 0),
                    help="pip install 'gradcli[gradescope]'" if "PyYAML" in str(problem) else
                    "export the submissions again")) from None
            found.update({f"{folder}/{name}" if folder else name: owners
                          for name, owners in listed.items()})
    return found


def _stamps(files: Files, paths: Sequence[str]) -> dict[str, Readings]:
    """Return the times that nbgrader writes beside what is handed in, by the folder."""
    found: dict[str, Readings] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder and name == "timestamp.txt":
            try:
                text, _ = decoded_text(files.read(path))
            except Unreadable:
                continue
            found[folder] = readings(text)
    return found


def file_owner(files: Files, path: str, ids: Ids) -> str | None:
    """Return the student whom the text of a file in no folder names, None if it names nobody; for a
    file called answers that names nobody, the name of the root folder.

    Raises E0730 for a table of the class: it must not be taken for one student.
    """
    ending = os.path.splitext(path)[1].lower()
    said = None
    try:
        if ending in TEXTS:
            head, _ = decoded_text(files.read(path))
            said = texts.parse(head[:HEAD], ids).student
        elif ending in texts.READERS:
            whole, _ = decoded_text(files.read(path))
            said = texts.READERS[ending](whole, ids).student
    except ClassTable as problem:
        shown = printable(os.path.join(files.root, path))
        raise GradcliError(Diagnostic(
            "E0730", f"`{shown}` is not one student's file: {problem}", source=Source("", shown),
            span=(0, 0), help="give a table of the class in place of the folder, or take it out of"
            " it")) from None
    except Unreadable:
        pass
    if said is None and path.lower().startswith("answers."):
        said = os.path.basename(os.path.abspath(files.root)).removesuffix(".zip")
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


RAISED = re.compile(r"\^([^\s^]{1,9})\^(?=[\s),.;*/]|\Z)")      # x^2^, as Markdown has it
# Endings of what is no plain text, but becomes one, with the size that is read.
MIB = 1024 * 1024
PACKED_DOCUMENTS = dict.fromkeys((".docx", ".docm", ".dotx", ".odt", ".ott"), 16 * MIB)
DOCUMENTS = {**PACKED_DOCUMENTS, ".tex": MAX_BYTES, ".ipynb": 4 * MIB, ".rtf": 4 * MIB}
READERS: dict[str, Callable[[str, Ids], Parsed]] = {
    **dict.fromkeys((".txt", ".text", ""), texts.parse),
    **dict.fromkeys((".md", ".markdown", ".rmd", ".qmd"), lambda text, ids: texts.parse(
        RAISED.sub(r"^(\1)", text), ids)),
    ".html": lambda text, ids: texts.parse(plain(text), ids),
    ".htm": lambda text, ids: texts.parse(plain(text), ids),
    **dict.fromkeys(DOCUMENTS, texts.parse), **texts.READERS}
UNREAD = re.compile(r"\\[A-Za-z]+\?")      # what documents have instead of a picture, and the like
# What programs write beside a document.
BESIDE = frozenset(
    ".aux .log .out .toc .lof .lot .fls .fdb_latexmk .css .js .sty .cls .bak".split())
PASSED = "there is a file called answers"
PACKED = (".gz", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz")


def text(data: bytes, ending: str) -> tuple[str, str | None]:
    """Return the text of a file, and a remark on its encoding. Raises `Unreadable`."""
    if ending not in DOCUMENTS:
        return decoded_text(data)
    if ending in PACKED_DOCUMENTS:
        from gradcli.homework.handed_in import documents

        return documents.READERS[ending](data), None
    from gradcli.homework.handed_in import sources

    return sources.READERS[ending](data), None


def open_folder(root: str, sheet: Sheet, roster: Roster | None = None, *, follow: bool = False,
                whose: Callable[[Sequence[str]], Mapping[str, str | None]] | None = None
                ) -> Submissions:
    """Find the submissions in a folder, or in a zip archive of one.

    follow: whether links are followed. whose: function from paths to students, in place of the
    known shapes of names. Raises E0730 (cannot be read), E0731 (too many files).
    """
    files = open_files(root, follow)
    paths, notes = files.paths()
    ids = Ids(sheet.ids)
    owned = owned_files(files, sheet.id, ids, paths, notes, whose)
    students = by_student(owned, roster, notes)
    ordered = [students[id] for id in sorted(students)]
    attempts = Attempts(sheet, [theirs.student for theirs in ordered], roster, notes)
    for theirs in ordered:
        settle(theirs, attempts, lambda one: _read(files, ids, one).answers)

    def read(k: int) -> Submission:
        return _read(files, ids, ordered[k])

    return Submissions([theirs.student for theirs in ordered], read, notes, attempts.choices)


def _read(files: Files, ids: Ids, theirs: StudentFiles) -> Submission:
    """Read the files of a student that count; of several answers to a problem the last does."""
    counting = theirs.counting()
    notes = [*theirs.notes, *[
        InputNote("skipped", "another attempt counts", path, student=theirs.student.id)
        for path, _ in theirs.files if path not in counting]]
    found: dict[str, tuple[str, int | None, str]] = {}
    digest = hashlib.sha256()
    read = []
    by: dict[str, str] = {}     # whom the files name, and the first that does
    left = MAX_TEXT
    places: dict[str, tuple[Files, str]] = {}
    readable = _readable(_unpacked(files, theirs, notes, places), theirs.student.id, notes)
    # Somebody must look at what may be theirs, and at a photo, say.
    faults = [(note.file, note.message if note.about == "student" else
               f"cannot be read: {note.message}") for note in notes if note.file is not None and (
        note.about in ("student", "unreadable"))]
    for shown, where, path in readable:
        try:
            if left < 0:
                raise Unreadable(TOO_MUCH)
            ending = os.path.splitext(path)[1].lower()
            data = where.read(path, DOCUMENTS.get(ending, MAX_BYTES))
            digest.update(b"%d:%s" % (len(data), shown.encode()) + data)
            said, remark = text(data, ending)
            left -= len(said)
            if left < 0:
                raise Unreadable(TOO_MUCH)
            parsed = READERS[ending](said, ids)
        except Unreadable as problem:
            digest.update(f"{shown}: {problem}".encode())
            faults.append((shown, f"cannot be read: {problem}"))
            notes.append(InputNote("unreadable", str(problem), shown, student=theirs.student.id))
            continue
        read.append(shown)
        if remark:
            notes.append(InputNote("encoding", remark, shown, student=theirs.student.id))
        told = [InputNote(about, message, shown, line, theirs.student.id)
                for about, message, line in parsed.notes]
        notes += told
        faults += doubts(told)
        if parsed.student is not None and parsed.student not in by:
            by[parsed.student] = shown
            first, other = next(iter(by.items()))
            if other != shown:
                said = f"says it is by {short(parsed.student)}, {other} by {short(first)}"
                notes.append(InputNote("student", said, shown, student=theirs.student.id))
                faults.append((shown, said))
        for id, (answer, line) in parsed.answers.items():
            before = found.get(id, ("", None, ""))
            if before[0]:
                notes.append(InputNote("repeated", f"problem {id} is answered in {before[2]}, too: "
                                       + ("this answer counts" if answer else "that answer counts"),
                                       shown, line, theirs.student.id))
            if answer or not before[0]:
                found[id] = answer, line, shown
    if not all(found.get(id, ("",))[0] for id in ids.all):
        faults += [(note.file or "", f"is not read: {note.message}") for note in notes
                   if note.message == PASSED]
    made = answers(theirs.student.id, ids, found, faults)
    doubted = {name for name, _ in faults}
    for one in made:
        unread = UNREAD.search(one.answer)
        if unread is not None and one.doubt is None:
            # Decisions are for all answers that are equal, but not for all pictures.
            one.doubt = f"{one.file}: `{unread[0]}` stands for something that is no text"
        doubted |= {one.file or ""} if unread is not None else {*()}
    beside = _contents(places, doubted)
    for one in made:
        one.beside = None if one.fault is one.doubt is None else beside
    return Submission(theirs.student, made, read, notes, digest.hexdigest())


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


File = tuple[str, "Files", str]     # its path as it is shown, and where it is read by which path


def _contents(places: Mapping[str, tuple[Files, str]], names: Iterable[str]) -> str:
    """Return a digest of some of a student's files. places: as `_unpacked` gives them."""
    return hashlib.sha256("\0".join([
        f"{name} {places[name][0].content(places[name][1])}" for name in sorted(names)
        if name in places]).encode()).hexdigest()


def _unpacked(files: Files, theirs: StudentFiles, notes: list[InputNote],
              places: dict[str, tuple[Files, str]]) -> list[File]:
    """Return a student's files, those in zip archives in place of the archives.

    places: receives where each is read, archives too, by its path as it is shown.
    """
    found: list[File] = []
    pending: list[File] = [(path, files, path) for path in reversed(theirs.counting())]
    while pending:
        shown, where, path = pending.pop()
        places[printable(shown)] = where, path
        if os.path.splitext(path)[1].lower() != ".zip":
            found.append((printable(shown), where, path))
            continue
        try:
            inner = where.inside(path)
            names = [name for name in inner.paths()[0] if not IGNORED.fullmatch(name)]
            if not names:
                raise Unreadable("an archive without files")
        except Unreadable as problem:
            notes.append(InputNote("unreadable", str(problem), shown, student=theirs.student.id))
            continue
        pending += [(f"{shown}/{name}", inner, name) for name in reversed(names)]
    return found


def _readable(theirs: Sequence[File], student: str, notes: list[InputNote]) -> list[File]:
    """Return the files that may hold answers: only those called answers, if there are any."""
    found = [file for file in theirs if _ending(file) in READERS]
    printed = {os.path.splitext(file[0])[0] for file in found}
    for file in theirs:
        ending = _ending(file)
        if ending in READERS:
            continue
        about, what = "unreadable", f"{printable(ending)} files are not read"
        if ending in PACKED:
            what = "packed files are not unpacked"
        if ending in BESIDE or file[0].endswith(".synctex.gz"):
            about = "skipped"
        elif ending == ".pdf" and file[0][:-4] in printed:
            about, what = "skipped", "the document of this name is read"
        notes.append(InputNote(about, what, file[0], student=student))
    named = [file for file in found if stem(file[2]).lower() == "answers"]
    if named:
        notes += [InputNote("skipped", PASSED, file[0], student=student)
                  for file in found if file not in named]
    return named or found


def _ending(file: File) -> str:
    return os.path.splitext(file[2])[1].lower()


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
    files = Folder(root or ".", follow)
    if one.shape == "file":
        one.id = file_owner(files, name, ids) or one.id
    theirs = list(by_student([(name, one)], None, []).values())
    return Submissions([theirs[0].student], lambda k: _read(files, ids, theirs[k]), [])


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
