"""A folder of submissions: the owners of the files, and the answers in them."""

from __future__ import annotations

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
    is_general,
    of_sections,
    owner,
    parents,
    patterned,
    settle,
    submitters,
)
from gradcli.homework.handed_in.reading import BESIDE, READERS, Reading
from gradcli.homework.handed_in.records import (
    ClassTable,
    InputNote,
    Submission,
    Submissions,
    Unreadable,
    decoded_text,
    printable,
)
from gradcli.homework.sheets.deadline import readings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gradcli.homework.handed_in.files import Files
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.deadline import Readings
    from gradcli.homework.sheets.sheet import Sheet


NOBODY = "no student is found by --student-pattern"
# Only the beginning of a text is looked at for whose it is.
HEAD = 4096
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
    # Hidden files beside the folders of students are the teacher's, unless they may hold answers.
    hidden = [path for path in wanted if path[0] == "." and "/" not in path
              and os.path.splitext(path)[1].lower() not in {*READERS} - {""}]
    notes += [InputNote("skipped", "a hidden file in no folder of a student", path)
              for path in hidden]
    wanted = [path for path in wanted if path not in hidden]
    if whose is not None:
        named = whose(wanted)
        found = []
        for path in wanted:
            id = named.get(path)
            if id:
                found.append((path, patterned(path, id)))
            elif os.path.splitext(path)[1].lower() not in BESIDE:
                # Whatever is in it is on the review list, under the name of the file.
                found.append((path, Owner("pattern", path, path.rpartition("/")[2])))
                found[-1][1].held = f"{NOBODY} in {path}"
                notes.append(InputNote("student", NOBODY, path))
        return found
    in_steps = any(path.startswith(STEPS[0] + "/") for path in wanted) and all(
        path.partition("/")[0] in STEPS for path in wanted if "/" in path)
    found = []
    steps: dict[str, int] = {}
    stamps = _stamps(files, paths)
    exported = _exported(files, paths)
    exports = {os.path.dirname(folder) + "/" for folder in exported} - {"/"}
    for path in wanted:
        by = next((exported[folder] for folder in parents(path) if folder in exported), None)
        if by is not None:
            found += [(path, one) for one in by]
            continue
        # A folder that stands beside those that are listed is a student's, too.
        one = owner(path.removeprefix(next(filter(path.startswith, exports), "")), in_steps)
        if one is None:
            first = path.partition("/")[0]
            steps[first] = steps.get(first, 0) + 1
        else:
            if one.shape == "file":
                one.inside, root = file_owner(files, path, ids)
                one.id = one.inside or root or one.id
            one.readings = stamps.get(os.path.dirname(path), ())
            found.append((path, one))
    notes += [InputNote("skipped", f"{count:,} files beside what students submitted", step)
              for step, count in steps.items()]
    return found


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


def file_owner(files: Files, path: str, ids: Ids) -> tuple[str | None, str | None]:
    """Return the student whom the text of a file in no folder names, None if it names nobody; and,
    for a file called answers, the name of the root folder.

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
    root = os.path.basename(os.path.abspath(files.root)).removesuffix(".zip")
    return said[:200] if said else None, root[:200] if is_general(path) else None


def _of_assignment(owned: list[tuple[str, Owner]], assignment: str, notes: list[InputNote]
                   ) -> list[tuple[str, Owner]]:
    """Drop a student's files in folders of other assignments, if there are several and no file
    beside. Others stand beside that of this one, or are called alike but for a number.
    """
    folders: dict[tuple[str, str], set[str]] = {}
    for _, one in owned:
        folders.setdefault(one.key, set()).add(
            one.rest.rpartition("/")[0].partition("/")[0].casefold())
    this = assignment.casefold()
    others = {name for several in folders.values() if this in several for name in several}
    found = []
    for path, one in owned:
        several = folders[one.key]
        if one.shape == "folder" and len(several) > 1 and "" not in several:
            mine = one.rest.partition("/")[0].casefold()
            if mine != this and (mine in others or _unnumbered(mine) == _unnumbered(this)):
                notes.append(InputNote("skipped", f"of another assignment than {assignment}", path,
                                       student=one.id))
                continue
        found.append((path, one))
    return found


def _unnumbered(name: str) -> str:
    return re.sub(r"\d+", "#", name)


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
    if whose is None:
        owned = of_sections(owned, roster) if roster is not None else owned
        owned = _of_assignment(owned, sheet.id, notes)
    students = by_student(owned, roster, notes)
    ordered = [students[id] for id in sorted(students)]

    def named(said: str) -> Collection[str]:
        return {said} & students.keys() if roster is None else {
            one.id for one in roster.find((said,), said)}

    def reading(theirs: StudentFiles) -> Submission:
        return Reading(files, ids, theirs, named).submission()

    attempts = Attempts(sheet, [theirs.student for theirs in ordered], roster, notes)
    for theirs in ordered:
        settle(theirs, attempts, lambda one: reading(one).answers)

    return Submissions([theirs.student for theirs in ordered],
                       lambda k: reading(ordered[k]), notes, attempts.choices)


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
        one.id = next(filter(None, file_owner(files, name, ids)), one.id)
    theirs = list(by_student([(name, one)], None, []).values())
    return Submissions([theirs[0].student], lambda k: Reading(
        files, ids, theirs[k], lambda said: ()).submission(), [])


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
