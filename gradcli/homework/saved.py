"""What an output folder keeps of the sheet and the class, so that it says all by itself."""

from __future__ import annotations

import json
import os

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.manifest import NAME as MANIFEST
from gradcli.homework.manifest import read_manifest
from gradcli.homework.people import Student
from gradcli.homework.results import SCHEMA
from gradcli.homework.sheet import Sheet, open_sheet
from gradcli.render.json import dump
from gradcli.source import Source, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.homework.manifest import Manifest
    from gradcli.homework.output_folder import OutputFolder

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
