"""The one function that opens submissions, whatever holds them."""

from __future__ import annotations

import os
import re

from gradcli.base.errors import Diagnostic, GradcliError, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from gradcli.homework.handed_in.records import Submissions
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.sheet import Sheet

LINES = (".ndjson", ".jsonl")
TABLES = (".csv", ".tsv")


def open_submissions(path: str, sheet: Sheet, roster: Roster | None = None, *,
                     wide: bool = False, student_column: str | None = None,
                     mapping: Mapping[str, str] | None = None, student_pattern: str | None = None,
                     follow: bool = False, stdin: BinaryIO | None = None) -> Submissions:
    """Open submissions: a folder, a table of the class (`wide`, or by the name of the file),
    NDJSON, one student's file, or for the path "-" a table or NDJSON on `stdin`.

    student_column, mapping: see `class_tables.open_table`. student_pattern: a regular expression
    that finds the student in a path below the folder.

    Raises E0730 to E0734.
    """
    if path == "-" and stdin is not None:
        from gradcli.homework.handed_in.class_tables import open_stdin

        return open_stdin(stdin, sheet, roster, student_column=student_column, mapping=mapping)
    ending = os.path.splitext(path)[1].lower()
    if wide or (ending in TABLES and not os.path.isdir(path)):
        from gradcli.homework.handed_in.class_tables import open_table

        return open_table(path, sheet, roster, student_column=student_column, mapping=mapping)
    if ending in LINES and not os.path.isdir(path):
        from gradcli.homework.handed_in.class_tables import open_lines

        return open_lines(path, sheet, roster)
    from gradcli.homework.handed_in import folder

    if os.path.isfile(path):
        return folder.single(path, sheet, follow)
    whose = None
    if student_pattern is not None:
        from gradcli.homework.handed_in.folder import finder

        whose = finder(student_pattern)
    return folder.open_folder(path, sheet, roster, follow=follow, whose=whose)


def mapping(texts: list[str]) -> dict[str, str]:
    """Parse the texts of --map, `Question 1=1a`, to titles and problem ids. Raises E0733."""
    found = {}
    for said in texts:
        title, equal, id = said.rpartition("=")
        if not equal or not title.strip() or not id.strip():
            raise GradcliError(Diagnostic(
                "E0733", f"`{said}` is not a column and problem", source=Source(said, "--map"),
                span=(0, len(said)), help='write --map "title of a column=id of a problem"'))
        found[re.sub(r"\s+", " ", title).strip()] = id.strip()
    return found
