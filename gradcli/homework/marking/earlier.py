"""Results of an earlier run that still hold.

An answer need not be checked again if the problem, its text, the seed and the tool are the same.
Blank and undecided ones are.
Of the old results only the places in their file are kept in memory.
"""

from __future__ import annotations

import json
import os

from gradcli.base.errors import Diagnostic, GradcliError, Source, read
from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking.grade import automatic
from gradcli.homework.marking.manifest import NAME, read_manifest
from gradcli.homework.marking.manifest import NAME as MANIFEST
from gradcli.homework.marking.results import SCHEMA, opened, parse, placed
from gradcli.homework.sheets.formats import open_sheet
from gradcli.homework.sheets.sheet import Sheet
from gradcli.render.machine import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO, Self

    from gradcli.homework.marking.folder import OutputFolder
    from gradcli.homework.marking.manifest import Manifest
    from gradcli.homework.marking.results import Result

RESULTS = "results.ndjson"


class Earlier:
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
        """The result of the same answer, as if it were checked now: without an override, and with
        the place where the answer stands now. None if there is none that holds.
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
            if not result.answer.strip() or result.verdict == "undecided":
                continue
            if result.problem in usable and (result.tool, result.seed, result.sheet) == (
                    new.tool, new.seed, new.sheet):
                self._places[result.student, result.problem] = place


def reusable(folder: str, new: Manifest) -> Earlier:
    """What still holds of the results in an output folder; nothing if there are none.

    A manifest or results that cannot be read are as good as none: all is checked anew.
    """
    path = os.path.join(folder, RESULTS)
    earlier = Earlier(new, path)
    try:
        old = read_manifest(os.path.join(folder, NAME))
        if (old.tool, old.seed, old.sheet) == (new.tool, new.seed, new.sheet):
            earlier._index({id for id, found in new.problems.items()
                            if old.problems.get(id) == found})
    except GradcliError:
        earlier.close()
        return Earlier(new)
    return earlier


# --------------------------------------------------------------------------------------------------
# What an output folder keeps of the sheet and the class, so that it says all by itself.

STUDENTS, RUN = "students.ndjson", "run.json"
ENDINGS = (".toml", ".csv", ".tsv")


def save(folder: OutputFolder, sheet: Sheet, students: Iterable[Student]) -> None:
    """Write the text of the sheet, and who is in the class."""
    folder.write(_sheet_name(sheet), sheet.source.text)
    folder.write(STUDENTS, "".join([dump(
        {name: getattr(student, name) for name in Student.__slots__}) + "\n"
        for student in students]))
    folder.write(RUN, dump({"schema": SCHEMA, "late": sheet.late}) + "\n")


def _sheet_name(sheet: Sheet) -> str:
    ending = os.path.splitext(sheet.path)[1].lower()
    return f"sheet{ending if ending in ENDINGS else '.txt'}"


class Saved:
    """An output folder, read: the sheet, the class and the manifest."""

    __slots__ = ("folder", "manifest", "sheet", "students")

    def __init__(self, folder: str) -> None:
        """Raises E0749 for what is no such folder."""
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


def _sheet(folder: str, manifest: Manifest) -> Sheet:
    for ending in (*ENDINGS, ".txt"):
        path = os.path.join(folder, f"sheet{ending}")
        if os.path.exists(path):
            sheet = open_sheet(path)
            if sheet.hash == manifest.sheet_hash:
                sheet.id = manifest.sheet
                sheet.late = _late(folder)
                return sheet
    raise GradcliError(Diagnostic(
        "E0749", f"`{folder}` does not hold the sheet of its results", span=(0, len(folder)),
        source=Source(folder, "--results"), help="run `gradcli hw run` again"))


def _late(folder: str) -> float:
    """The share that late submissions lost."""
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
                "E0749", f"line {number} of `{path}` is no student", span=(0, 0), source=source,
                help="run `gradcli hw run` again")) from None
    return found
