"""The files of an earlier run that are still valid: its manifest, its results, its journal.

An answer need not be checked again if the problem, its text, the seed and the tool are the same;
what the problem is worth may change, and is counted anew. Blank and undecided ones are checked. Of
the old results only their offsets in the file are kept in memory.

manifest.json says what a run was made from: hashes of the sheet, of each problem, of the roster, of
the overrides and of each submitted file; the version of the tool and the seed. No clock and no path
of the machine: the same input gives the same manifest.

unfinished.ndjson is the journal: the results of a run, written at once, so that the next one need
not check them again. It belongs to one text of the sheet, one seed and one version; with another it
is begun anew. A run that comes to its end deletes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from io import BufferedRandom

from gradcli.base.errors import Diagnostic, GradcliError, Source, read
from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking.marks import automatic
from gradcli.homework.marking.output_folder import NamedFile, unwritable
from gradcli.homework.marking.results import SCHEMA, TOOL, opened, parse, placed, written
from gradcli.homework.sheets.cells import failure
from gradcli.homework.sheets.formats import open_sheet
from gradcli.homework.sheets.sheet import Sheet
from gradcli.render.machine import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any, BinaryIO, Self

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.output_folder import OutputFolder
    from gradcli.homework.marking.results import Result


RESULTS = "results.ndjson"


class EarlierResults:
    """Old results by student and problem. Close it when all are found, or use `with`.

    The file stays open, so it may be replaced by the new one meanwhile.
    """

    __slots__ = ("_file", "_new", "_path", "_places", "found")

    def __init__(self, new: Manifest, path: str = "") -> None:
        self._new = new
        self._path = path
        self._file: BinaryIO | None = None
        self._places: dict[tuple[str, str], int] = {}
        self.found = 0

    def find(self, student: str, problem: str, answer: str, file: str | None = None,
             line: int | None = None) -> Result | None:
        """Return the result of the same answer, as if it were checked now; None without a valid
        one.

        It has no override, and the location where the answer stands now.

        student, problem: their ids. file, line: the present location of the answer.
        """
        place = self._places.get((student, problem))
        if place is None or self._file is None:
            return None
        self._file.seek(place)
        try:
            result = parse(self._file.readline(), self._path, 1)
        except GradcliError:
            return None     # somebody wrote into the file meanwhile
        if (result.student, result.problem, result.answer) != (student, problem, answer):
            return None
        automatic(result)
        result.sheet_hash = self._new.sheet_hash
        result.file, result.line = file, line
        self.found += 1
        return result

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _index(self, usable: set[str]) -> None:
        self._file = opened(self._path)
        for place, result in placed(self._file, self._path, cut=True):
            new = self._new
            # A file that could not be read has no answers either, and a clock may decide next time.
            if not result.answer.strip() or result.verdict == "undecided" or result.share is None:
                continue
            if result.problem in usable and (result.tool, result.seed, result.sheet) == (
                    new.tool, new.seed, new.sheet):
                self._places[result.student, result.problem] = place


def load_valid(folder: str, new: Manifest) -> EarlierResults:
    """Load the earlier results that are still valid; empty if there are none.

    A manifest or results that cannot be read are as good as none: all is checked anew.
    """
    path = os.path.join(folder, RESULTS)
    earlier = EarlierResults(new, path)
    try:
        old = read_manifest(os.path.join(folder, MANIFEST))
        if (old.tool, old.seed, old.sheet) == (new.tool, new.seed, new.sheet):
            earlier._index({id for id, found in new.checks.items() if old.checks.get(id) == found})
    except GradcliError:
        earlier.close()
        return EarlierResults(new)
    return earlier


# --------------------------------------------------------------------------------------------------
# What an output folder keeps of the sheet and the class, so that it says all by itself.

STUDENTS, RUN = "students.ndjson", "run.json"
ENDINGS = (".toml", ".csv", ".tsv")


def save(folder: OutputFolder, sheet: Sheet, students: Iterable[Student]) -> None:
    """Write the text of the sheet and the list of students."""
    now = renamed(folder.path, sheet)       # by the sheet that is there yet
    folder.write(_sheet_name(sheet), sheet.source.text)
    folder.write(STUDENTS, "".join([dump(
        {name: getattr(student, name) for name in Student.__slots__}) + "\n"
        for student in students]))
    folder.write(RUN, dump({"schema": SCHEMA, "late": sheet.late, "renamed": now}) + "\n")


def _sheet_name(sheet: Sheet) -> str:
    ending = os.path.splitext(sheet.path)[1].lower()
    return f"sheet{ending if ending in ENDINGS else '.txt'}"


class SavedRun:
    """An output folder, read: the sheet, the class and the manifest."""

    __slots__ = ("folder", "manifest", "sheet", "students")

    def __init__(self, folder: str) -> None:
        """Read the folder. Raises E0749 for one that no run has written."""
        self.folder = folder
        try:
            self.manifest: Manifest = read_manifest(os.path.join(folder, MANIFEST))
        except GradcliError as problem:
            if problem.code != "E0601":
                raise
            raise _none(folder) from None
        self.sheet = _sheet(folder, self.manifest)
        self.students = _students(folder)


def _none(folder: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0749", f"`{folder}` holds no results", span=(0, len(folder)),
        source=Source(folder, "--results"),
        help="run `gradcli hw run` first, or name its folder with --results"))


def _saved_sheets(folder: str) -> Iterator[Sheet]:
    """Yield the sheets of earlier runs, the last one among them."""
    for ending in (*ENDINGS, ".txt"):
        path = os.path.join(folder, f"sheet{ending}")
        if os.path.exists(path):
            yield open_sheet(path)


def renamed(folder: str, sheet: Sheet) -> dict[str, str]:
    """Return the ids that problems of earlier runs have now, where they are called otherwise and
    nothing else of them has changed that verdicts depend on, or are called again as before.
    """
    found: dict[str, str] = {}
    for was, now in _renamed_before(folder).items():
        if now in sheet.ids and was not in sheet.ids:
            found[was] = now
        elif was in sheet.ids and now not in sheet.ids:
            found[now] = was
    with suppress(GradcliError):
        for old in _saved_sheets(folder):
            new = _by_hash([one for one in sheet.problems if one.id not in old.ids])
            for content, ids in _by_hash(old.problems).items():
                there = new.get(content, ())
                if len(ids) == len(there) == 1 and ids[0] not in sheet.ids:
                    found.setdefault(ids[0], there[0])
    return found


def _renamed_before(folder: str) -> dict[str, str]:
    try:
        found = json.loads(read(os.path.join(folder, RUN)).text)["renamed"]
        return {str(was): str(now) for was, now in found.items()}
    except (GradcliError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _by_hash(problems: Iterable[Problem]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for problem in problems:
        found.setdefault(problem_hash(problem, (*COUNTING, "id")), []).append(problem.id)
    return found


def _sheet(folder: str, manifest: Manifest) -> Sheet:
    for sheet in _saved_sheets(folder):
        if sheet.hash == manifest.sheet_hash:
            sheet.id = manifest.sheet
            sheet.late = _late(folder)
            return sheet
    raise GradcliError(Diagnostic(
        "E0749", f"`{folder}` does not hold the sheet of its results", span=(0, len(folder)),
        source=Source(folder, "--results"), help="run `gradcli hw run` again"))


def _late(folder: str) -> float:
    """Return the share of the points that late submissions lost."""
    source = read(os.path.join(folder, RUN))
    try:
        return float(json.loads(source.text)["late"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise GradcliError(Diagnostic(
            "E0749", f"`{source.name}` does not say what a late submission loses", span=(0, 0),
            source=source, help="run `gradcli hw run` again")) from None


def _students(folder: str) -> list[Student]:
    path = os.path.join(folder, STUDENTS)
    source = read(path)
    found = []
    for number, text in enumerate(source.text.splitlines(), 1):
        try:
            fields = json.loads(text)
            id = fields.pop("id")
            found.append(Student(id, **fields))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise GradcliError(Diagnostic(
                "E0749", f"line {number} of `{path}` is not a student", span=(0, 0), source=source,
                help="run `gradcli hw run` again")) from None
    return found


MANIFEST = "manifest.json"


class Manifest:
    """The input of a run: versions and hashes.

    problems: id to hash.
    checks: id to a hash of what verdicts depend on.
    files: name below the folder of submissions to hash.
    roster, overrides: hashes, None where there was none.
    finished: whether every answer was checked.
    """

    __slots__ = ("checks", "files", "finished", "overrides", "problems", "roster", "seed", "sheet",
                 "sheet_hash", "tool")

    def __init__(self, sheet: str, sheet_hash: str, problems: Mapping[str, str], *,
                 seed: int | str = 0, roster: str | None = None, overrides: str | None = None,
                 files: Mapping[str, str] | None = None, tool: str = TOOL, finished: bool = True,
                 checks: Mapping[str, str] | None = None) -> None:
        self.tool = tool
        self.seed = seed
        self.sheet = sheet
        self.sheet_hash = sheet_hash
        self.problems = dict(problems)
        self.checks = dict(checks or {})
        self.roster = roster
        self.overrides = overrides
        self.files = dict(files or {})
        self.finished = finished

    def text(self) -> str:
        """Return the text of the file: a line for each key, one for each problem and submission."""
        head = {"schema": SCHEMA, "tool": self.tool, "seed": self.seed, "finished": self.finished,
                "sheet": {"id": self.sheet, "hash": self.sheet_hash}, "roster": self.roster,
                "overrides": self.overrides}
        parts = [f"  {dump(key)}: {dump(value)}" for key, value in head.items()]
        for key, table in (("problems", self.problems), ("checks", self.checks),
                           ("files", self.files)):
            lines = ",\n".join([f"    {dump(k)}: {dump(v)}" for k, v in sorted(table.items())])
            body = f"\n{lines}\n  " if lines else ""
            parts.append(f"  {dump(key)}: {{{body}}}")
        return "{\n" + ",\n".join(parts) + "\n}\n"


def manifest(sheet: Sheet, **rest: Any) -> Manifest:
    """Return the manifest of a run with this sheet; `rest` as for `Manifest`."""
    return Manifest(sheet.id, sheet.hash, {p.id: problem_hash(p) for p in sheet.problems},
                    checks={p.id: problem_hash(p, COUNTING) for p in sheet.problems}, **rest)


COUNTING = ("points", "credit", "title", "hidden")
"""The fields of a problem that no verdict depends on."""


def problem_hash(problem: Problem, without: Collection[str] = ()) -> str:
    """Return a hash that is equal for problems with equal fields, those in `without` aside."""
    fields = problem.fields()
    return text_hash(dump({key: fields[key] for key in sorted(fields) if key not in without}))


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text."""
    return data_hash(text.encode("utf-8", "surrogatepass"))


def data_hash(data: bytes) -> str:
    """Return the SHA-256 of the bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def file_hash(path: str) -> str:
    """Return the SHA-256 of a file on the disk. Raises E0601."""
    with opened(path, "give a table that is there, such as the review.csv of a run") as file:
        return data_hash(file.read())


def read_manifest(path: str) -> Manifest:
    """Read the manifest in a file.

    Raises E0747 for what is none, besides what `source.read` raises.
    """
    source = read(path)
    try:
        found = json.loads(source.text)
    except json.JSONDecodeError as problem:
        raise _bad(f"this is not JSON: {problem.msg[0].lower()}{problem.msg[1:]}", source,
                   problem.pos) from None
    except (ValueError, RecursionError):
        raise _bad("this is no manifest", source, 0) from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise _bad("this is no manifest of this version", source, 0)
    texts = (str, type(None))
    sheet = found.get("sheet")
    if not isinstance(sheet, dict) or not isinstance(sheet.get("id"), str) or not isinstance(
            sheet.get("hash"), str):
        raise _bad("`sheet` is not what it must be", source, _at(source, "sheet"))
    types: dict[str, tuple[type, ...]] = {
        "tool": (str,), "seed": (int, str), "finished": (bool,), "roster": texts,
        "overrides": texts, "problems": (dict,), "checks": (dict,), "files": (dict,)}
    found.setdefault("checks", {})      # manifests of earlier versions have none
    for key, kinds in types.items():
        value = found.get(key)
        whole = isinstance(value, kinds) and (key == "finished") == isinstance(value, bool)
        if not whole or (isinstance(value, dict) and not all(
                isinstance(text, str) for text in value.values())):
            raise _bad(f"`{key}` is not what it must be", source, _at(source, key))
    return Manifest(sheet["id"], sheet["hash"], found["problems"],
                    **{key: found[key] for key in types if key != "problems"})


def _at(source: Source, key: str) -> int:
    return max(0, source.text.find(f'"{key}"'))


def _bad(message: str, source: Source, at: int) -> GradcliError:
    return failure("E0747", message, source, (at, at + 1),
                   "run `gradcli hw run` again; it writes the file anew")


UNFINISHED = "unfinished.ndjson"


class Journal:
    """The journal while a run writes it. found: results of an earlier run, for `find`."""

    __slots__ = ("_earlier", "_file", "_places", "path", "size")

    def __init__(self, folder: str, new: Manifest, fresh: bool = False) -> None:
        """Open the journal in a folder.

        fresh: whether to drop its contents. Raises E0748 where it cannot be written.
        """
        self.path = os.path.join(folder, UNFINISHED)
        try:
            os.makedirs(folder, exist_ok=True)
            # A link in its place may lead anywhere.
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
                             | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as problem:
            raise unwritable(self.path, problem) from None
        self._file: BinaryIO = BufferedRandom(NamedFile(handle, "r+", self.path))
        self._earlier = EarlierResults(new)
        self._places: dict[tuple[str, str], int] = {}
        self.size = 0 if fresh else self._kept(new)
        self._file.truncate(self.size)
        self._file.seek(self.size)

    def _kept(self, new: Manifest) -> int:
        """Return the number of bytes that are valid: whole lines, if they belong to this sheet."""
        end = 0
        try:
            for _, result in placed(self._file, self.path, cut=True):
                if (result.sheet_hash, result.seed, result.tool) != (
                        new.sheet_hash, new.seed, new.tool):
                    return 0
            self._file.seek(0)
            for raw in self._file:
                end += len(raw) if raw.endswith(b"\n") else 0
            self._earlier = EarlierResults(new, self.path)
            self._earlier._index({*new.problems})
        except GradcliError:
            self._earlier = EarlierResults(new)
            return 0
        return end

    def find(self, student: str, problem: str, answer: str, file: str | None, line: int | None
             ) -> Result | None:
        """Return the result of this answer that an earlier run has written, else None.

        student, problem: their ids. file, line: the present location of the answer.
        """
        return self._earlier.find(student, problem, answer, file, line)

    def append(self, student: str, problem: str, text: str) -> None:
        """Append the line of a result."""
        data = text.encode()
        self._file.write(data)
        self._places[student, problem] = self.size
        self.size += len(data)

    def flush(self) -> None:
        """Write what is buffered to the file."""
        self._file.flush()

    def read(self, student: str, problem: str) -> tuple[Result, str]:
        """Return a result of this run, and its line."""
        self._file.seek(self._places[student, problem])
        raw = self._file.readline()
        return written(raw), raw.decode()

    def finish(self) -> None:
        """Delete the journal, once all is written elsewhere."""
        self.close()
        os.unlink(self.path)

    def close(self) -> None:
        self._earlier.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
        if self.size == 0 and os.path.exists(self.path):
            os.unlink(self.path)
