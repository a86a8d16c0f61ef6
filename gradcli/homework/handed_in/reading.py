"""What the files of one student answer."""

from __future__ import annotations

import hashlib
import os
import re

from gradcli.homework.handed_in import texts
from gradcli.homework.handed_in.owners import IGNORED, parents, stem
from gradcli.homework.handed_in.records import (
    DOUBTS,
    LOOSE,
    MAX_BYTES,
    Answer,
    InputNote,
    Submission,
    Unreadable,
    decoded_text,
    printable,
    short,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.files import Files
    from gradcli.homework.handed_in.labels import Ids
    from gradcli.homework.handed_in.owners import StudentFiles
    from gradcli.homework.handed_in.records import Parsed

    File = tuple[str, Files, str]   # its path as it is shown, and where it is read by which path

# What is read of one student, in all files.
MAX_TEXT = 2 * MAX_BYTES
TOO_MUCH = f"there is more than {MAX_TEXT // 1024} KiB of text in all"
RAISED = re.compile(r"\^([^\s^]{1,9})\^(?=[\s),.;*/]|\Z)")      # x^2^, as Markdown has it
# Endings of what is no plain text, but becomes one, with the size that is read.
MIB = 1024 * 1024
PACKED_DOCUMENTS = dict.fromkeys((".docx", ".docm", ".dotx", ".odt", ".ott"), 16 * MIB)
DOCUMENTS = {**PACKED_DOCUMENTS, ".tex": MAX_BYTES, ".ipynb": 4 * MIB, ".rtf": 4 * MIB}
READERS: dict[str, Callable[[str, Ids], Parsed]] = {
    **dict.fromkeys((".txt", ".text", ""), texts.parse),
    **dict.fromkeys((".md", ".markdown", ".rmd", ".qmd"), lambda text, ids: texts.parse(
        RAISED.sub(r"^(\1)", text), ids)),
    ".html": texts.page_answers, ".htm": texts.page_answers,
    **dict.fromkeys(DOCUMENTS, texts.parse), **texts.READERS}
UNREAD = re.compile(r"\\[A-Za-z]+\?")      # what documents have instead of a picture, and the like
# What programs write beside a document of the same name, and what says how one looks.
STYLES = frozenset(".css .js .sty .cls".split())
BESIDE = STYLES.union(".aux .log .out .toc .lof .lot .fls .fdb_latexmk".split())
_CHECKPOINT = re.compile(r"(.*/)?\.ipynb_checkpoints/(.*)-checkpoint(\.ipynb)", re.DOTALL)
PASSED = "there is a file called answers"
PACKED = (".gz", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz")


def text(data: bytes, ending: str, left: list[tuple[str, str]]) -> tuple[str, str | None]:
    """Return the text of a file, and a remark on its encoding. Raises `Unreadable`.

    left: receives (text, where it stands) of what may hold answers, but is not looked at for them.
    """
    if ending not in DOCUMENTS:
        return decoded_text(data)
    if ending in PACKED_DOCUMENTS:
        from gradcli.homework.handed_in import documents

        return documents.READERS[ending](data), None
    from gradcli.homework.handed_in import sources

    return sources.READERS[ending](data, left), None


class Reading:
    """The files of one student while they are read.

    named: function from a name in a file to the students of the class who may be meant.
    found: problem to (answer, line, file).
    other: problem to why a person has to say which of several answers counts.
    faults: (file, reason) of what is read for no problem, but may be an answer; loose: of what may
        be one, where a problem has none; taken: the problems whose answers took it.
    """

    def __init__(self, files: Files, ids: Ids, theirs: StudentFiles,
                 named: Callable[[str], Collection[str]]) -> None:
        self._files, self._ids, self._theirs, self._named = files, ids, theirs, named
        self.student = theirs.student.id
        counting = theirs.counting()
        self.notes = [*theirs.notes, *[
            InputNote("skipped", "another attempt counts", path, student=self.student)
            for path, _ in theirs.files if path not in counting]]
        self.found: dict[str, tuple[str, int | None, str]] = {}
        self.other: dict[str, str] = {}
        self.faults: list[tuple[str, str]] = []
        self.loose: list[tuple[str, str]] = []
        self.taken: set[str] = set()
        self._held = theirs.held
        self._by: dict[str, str] = {}       # whom the files name, and the first that does
        self._digest = hashlib.sha256()
        self._left = MAX_TEXT

    def submission(self) -> Submission:
        """Read the files that count; of several attempts at a problem the last does."""
        places: dict[str, tuple[Files, str]] = {}
        readable = _readable(_unpacked(self._files, self._theirs, self.notes, places),
                             self.student, self.notes)
        # Somebody must look at what may be theirs, and at a photo, say.
        self.faults += [(note.file, note.message if note.about == "student" else
                         f"cannot be read: {note.message}") for note in self.notes
                        if note.file is not None and note.about in ("student", "unreadable")]
        read = []
        for shown, where, path in readable:
            try:
                parsed = self._parsed(shown, where, path)
            except Unreadable as problem:
                self._digest.update(f"{shown}: {problem}".encode())
                self.faults.append((shown, f"cannot be read: {problem}"))
                self._note("unreadable", str(problem), shown)
                continue
            read.append(shown)
            self._add(parsed, shown)
        return Submission(self._theirs.student, self._answers(places), read, self.notes,
                          self._digest.hexdigest())

    def _note(self, about: str, message: str, file: str, line: int | None = None) -> InputNote:
        self.notes.append(InputNote(about, message, file, line, self.student))
        return self.notes[-1]

    def _parsed(self, shown: str, where: Files, path: str) -> Parsed:
        """Return what stands in a file. Raises `Unreadable`."""
        if self._left < 0:
            raise Unreadable(TOO_MUCH)
        ending = os.path.splitext(path)[1].lower()
        data = where.read(path, DOCUMENTS.get(ending, MAX_BYTES))
        self._digest.update(b"%d:%s" % (len(data), shown.encode()) + data)
        left: list[tuple[str, str]] = []
        said, remark = text(data, ending, left)
        self._left -= len(said)
        if self._left < 0:
            raise Unreadable(TOO_MUCH)
        parsed = READERS[ending](said, self._ids)
        for one, place in left:
            parsed.leave(one, place)
        if remark:
            self._note("encoding", remark, shown)
        return parsed

    def _add(self, parsed: Parsed, shown: str) -> None:
        """Add what stands in a file."""
        told = [self._note(about, message, shown, line) for about, message, line in parsed.notes]
        self.faults += doubts(told)
        self.loose += doubts(told, LOOSE)
        self.taken |= parsed.taken
        if parsed.student is not None and parsed.student not in self._by:
            self._is_by(parsed.student, shown)
        for id, (answer, line) in parsed.answers.items():
            before, _, file = self.found.get(id, ("", None, ""))
            if before:
                self._note("repeated", f"problem {id} is answered in {file}, too: "
                           + ("this answer counts" if answer else "that answer counts"), shown,
                           line)
            if answer and before:
                if not self._is_later(file, shown):
                    self._differ(id, before, answer, file, shown)
                else:
                    self.other.pop(id, None)
            if answer or not before:
                self.found[id] = answer, line, shown

    def _is_by(self, name: str, shown: str) -> None:
        """Note that a file names a student."""
        self._by[name] = shown
        first, other = next(iter(self._by.items()))
        meant = self._named(name)
        if meant and self.student not in meant:
            said = f"says it is by {short(name)}"
            self._held = self._held or f"{shown} {said}"
        elif other != shown:
            said = f"says it is by {short(name)}, {other} by {short(first)}"
        else:
            return
        self._note("student", said, shown)
        self.faults.append((shown, said))

    def _is_later(self, first: str, second: str) -> bool:
        """Return whether two files are of two attempts."""
        attempt = {printable(path): k for k, one in enumerate(self._theirs.attempts or ())
                   for path, _ in one.parts}
        places = [next((attempt[path] for path in (file, *parents(file)) if path in attempt), 0)
                  for file in (first, second)]
        return places[0] != places[1]

    def _differ(self, id: str, before: str, answer: str, file: str, shown: str) -> None:
        """Note that two files of one attempt give different answers."""
        if "".join(before.split()) != "".join(answer.split()):
            self.other[id] = (f"{file} answers `{short(before)}`, {shown} answers"
                              f" `{short(answer)}`: which counts?")

    def _answers(self, places: Mapping[str, tuple[Files, str]]) -> list[Answer]:
        """Return an answer for each problem. places: as `_unpacked` gives them."""
        if not all(self.found.get(id, ("",))[0] for id in self._ids.all):
            self.faults += [(note.file or "", f"is not read: {note.message}")
                            for note in self.notes if note.message == PASSED]
        made = answers(self.student, self._ids, self.found, self.faults, self.loose)
        doubted = {name for name, _ in (*self.faults, *self.loose)}
        incomplete = not all(one.answer for one in made)
        for one in made:
            if incomplete and one.answer and one.problem in self.taken:
                one.doubt = one.doubt or _first(self.loose)
            unread = UNREAD.search(one.answer)
            if unread is not None:
                doubted.add(one.file or "")
                # Decisions are for all answers that are equal, but not for all pictures.
                one.doubt = one.doubt or (
                    f"{one.file}: `{unread[0]}` stands for something that is no text")
            if one.answer or self._held:
                one.fault = self._held or self.other.get(one.problem)
                one.file = one.file or next(iter(places), None)
                doubted |= {*places} if one.fault else {*()}
        beside = _contents(places, doubted)
        for one in made:
            one.beside = None if one.fault is one.doubt is None else beside
        return made


def answers(student: str, ids: Ids, found: Mapping[str, tuple[str, int | None, str]],
            faults: Sequence[tuple[str, str]] = (), loose: Sequence[tuple[str, str]] = ()
            ) -> list[Answer]:
    """Return one answer for each problem, in the order of the sheet.

    It is blank where there is none, but faulty if something was handed in that no problem claims,
    since the answer may have been in it.

    found: problem id to (answer, line, file). faults: (file, reason) of what is read for no
    problem. loose: of what is read for another one, and may be the answer.
    """
    doubt, missing = _first(faults), [*faults, *loose]
    made = []
    for id in ids.all:
        answer, line, file = found.get(id, ("", None, None))
        if answer or not missing:
            made.append(Answer(student, id, answer, file, line, doubt=doubt))
        else:
            made.append(Answer(student, id, "", missing[0][0], None, _first(missing)))
    return made


def _first(faults: Sequence[tuple[str, str]]) -> str | None:
    """Return the first of (file, reason) as a text, None if there is none."""
    more = f" ({len(faults) - 1:,} more in notes.csv)" if faults[1:] else ""
    return f"{faults[0][0]} {faults[0][1]}{more}" if faults else None


def doubts(notes: Iterable[InputNote], about: Collection[str] = DOUBTS) -> list[tuple[str, str]]:
    """Return (file, reason) of the notes on what may be an answer, for `answers`."""
    return [(note.file or "", f"line {note.line}: {note.message}" if note.line else note.message)
            for note in notes if note.about in about]


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
    shown = {file[0] for file in theirs}
    copies = [file for file in theirs if _CHECKPOINT.sub(r"\1\2\3", file[0]) in shown - {file[0]}]
    notes += [InputNote("skipped", "an older copy of the notebook", file[0], student=student)
              for file in copies]
    theirs = [file for file in theirs if file not in copies]
    found = [file for file in theirs if _ending(file) in READERS]
    printed = {os.path.splitext(file[0])[0] for file in found}
    documents = printed | {os.path.splitext(file[0])[0] for file in theirs
                           if _ending(file) not in BESIDE}
    for file in theirs:
        ending = _ending(file)
        if ending in READERS:
            continue
        about, what = "unreadable", f"{printable(ending)} files are not read"
        if ending in PACKED:
            what = "packed files are not unpacked"
        if file[0].endswith(".synctex.gz") or (ending in BESIDE and (
                ending in STYLES or os.path.splitext(file[0])[0] in documents)):
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
