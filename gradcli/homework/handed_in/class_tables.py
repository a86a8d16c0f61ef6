"""The answers of a class in one table, as forms export it: a row for each student, a column for
each problem; or a row for each answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import re

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in.folder import answers, doubts
from gradcli.homework.handed_in.records import (
    Ids,
    InputNote,
    Parsed,
    Student,
    Submission,
    Submissions,
    Unreadable,
    decoded_text,
    fold,
    read_bytes,
    short,
)
from gradcli.homework.handed_in.texts import JsonObject, typed
from gradcli.homework.sheets.cells import STUDENT, columns, delimiter, fitted, folded, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from gradcli.homework.handed_in.records import Roster
    from gradcli.homework.sheets.cells import SourceRow
    from gradcli.homework.sheets.sheet import Sheet


LONG = {**STUDENT, "problem": ("problem id", "question", "question id", "exercise", "task"),
        "answer": ("response", "solution")}


def open_table(path: str, sheet: Sheet, roster: Roster | None = None, *,
               student_column: str | None = None, mapping: Mapping[str, str] | None = None
               ) -> Submissions:
    """Read the submissions in a CSV file of a class.

    student_column: title of the column that names the student of each row. mapping: titles to
    problem ids, for columns whose title does not say the problem.

    Raises E0733 (a column is missing or cannot be identified) and E0734 (cannot be read).
    """
    try:
        data = read_bytes(path, MAX_BYTES, follow=True)
    except Unreadable as problem:
        raise unreadable(path, str(problem)) from None
    return table_of(data, path, sheet, roster, student_column, mapping)


def table_of(data: bytes, path: str, sheet: Sheet, roster: Roster | None,
             student_column: str | None, mapping: Mapping[str, str] | None) -> Submissions:
    """Parse the bytes of a CSV file of a class; parameters and errors are those of `open_table`."""
    try:
        said, remark = decoded_text(data)
    except Unreadable as problem:
        raise unreadable(path, str(problem)) from None
    source = Source(said, path)
    table = records(source, delimiter(said), "E0734")
    head = next((record for record in table if not record.empty), None)
    if head is None:
        raise unreadable(path, "there is nothing in it")
    titles = [cell.text.strip() for cell in head.cells]
    ids = Ids(sheet.ids)
    of_class = ClassAnswers(ids, path, roster)
    if remark:
        of_class.note("encoding", remark)
    known = columns(titles, LONG)
    if student_column is None and mapping is None and len(known) == 3:
        for row in table:
            if row.empty:
                continue
            cells = fitted(row, len(titles), source, known["answer"], "E0734")
            line = source.position(row.start)[0]
            parsed = of_class.of(cells[known["student"]], line)
            if parsed is not None:
                parsed.add(cells[known["problem"]], cells[known["answer"]], line)
        return of_class.submissions()
    student = _student_column(source, head, titles, student_column)
    problems = _problem_columns(source, head, titles, ids, mapping or {}, student)
    for id in sheet.ids:
        if id not in problems.values():
            of_class.note("skipped", f"no column for problem {id}", source.position(head.start)[0])
    for row in table:
        if row.empty:
            continue
        cells = fitted(row, len(titles), source, None, "E0734")
        line = source.position(row.start)[0]
        parsed = of_class.of(cells[student], line)
        if parsed is not None:
            for k, id in problems.items():
                parsed.add(id, cells[k], line)
    return of_class.submissions()


def _student_column(source: Source, head: SourceRow, titles: Sequence[str], wanted: str | None
                    ) -> int:
    place = head.start, max(head.start + 1, head.cells[-1].span[1])
    if wanted is not None:
        same = [k for k, title in enumerate(titles) if folded(title) == folded(wanted)]
        if same:
            return same[0]
        import difflib

        near = difflib.get_close_matches(wanted, titles, n=1)
        raise GradcliError(Diagnostic(
            "E0733", f"there is no column `{wanted}`", source=source, span=place,
            help=f"did you mean `{near[0]}`?" if near else "--student-col names a column of the"
            " first row"))
    known = columns(titles, STUDENT)
    if not known:
        raise GradcliError(Diagnostic(
            "E0733", "no column says who the student is", source=source, span=place,
            help=f'name it with --student-col, such as --student-col "{short(titles[0])}"'))
    return known["student"]


def _problem_columns(source: Source, head: SourceRow, titles: Sequence[str], ids: Ids,
                     mapping: Mapping[str, str], student: int) -> dict[int, str]:
    """Return the problem that each column answers, by the number of the column.

    head, titles: the first row, and its cells without blanks.
    mapping: titles to problem ids, which goes first.
    student: number of the column that names the students.
    """
    found: dict[int, str] = {}
    for title, id in mapping.items():
        same = [k for k, other in enumerate(titles) if folded(other) == folded(title)]
        meant = ids.find(id)
        if not same or meant is None:
            what = f"column `{title}`" if not same else f"problem `{id}` in the sheet"
            raise GradcliError(Diagnostic(
                "E0733", f"--map: there is no {what}", source=source,
                span=(head.start, max(head.start + 1, head.cells[-1].span[1])),
                help='write --map "title of a column=id of a problem"'))
        found[same[0]] = meant
    left = [k for k in range(len(titles)) if k != student and k not in found]
    for how in (ids.find, lambda title: _within(title, ids)):
        for k in left:
            named = how(titles[k])
            if k not in found and named is not None and named not in found.values():
                found[k] = named
    if not found:
        raise GradcliError(Diagnostic(
            "E0733", "no column is called like a problem of the sheet", source=source,
            span=(head.start, max(head.start + 1, head.cells[-1].span[1])),
            help='say which is which, such as --map "Question 1=1a"'))
    return dict(sorted(found.items()))


def _within(title: str, ids: Ids) -> str | None:
    """Return the one problem whose id is a word of a title, `Question 1a [2 points]`, else None.

    The words that stand first or last, or behind `Question`, count more than those between.
    """
    words = [fold(word) for word in re.findall(r"[^\s()\[\]:;,]+", title)[:200]]
    words = [word.rstrip(".") for word in words]
    meant = [ids.find(word) for word in words]
    behind = [id for word, id in zip(["", *words], meant, strict=False)
              if id is not None and re.fullmatch(
                  r"q|question|problem|exercise|task|part|no|nr|aufgabe", word)]
    ends = [id for id in (*meant[:1], *meant[-1:]) if id is not None]
    for some in (behind, ends, [id for id in meant if id is not None]):
        if len(set(some)) == 1:
            return some[0]
    return None


# --------------------------------------------------------------------------------------------------
# Students and what they answered, while a table or stream of a class is read.

MAX_BYTES = 256 * 1024 * 1024
MAX_NAME = 200


class ClassAnswers:
    """The answers of a class while a file is read.

    file: its name. found: id of a student to the student and the answers so far.
    """

    __slots__ = ("_ids", "_roster", "file", "found", "notes")

    def __init__(self, ids: Ids, file: str, roster: Roster | None) -> None:
        self._ids = ids
        self._roster = roster
        self.file = file
        self.found: dict[str, tuple[Student, Parsed]] = {}
        self.notes: list[InputNote] = []

    def of(self, name: str, line: int) -> Parsed | None:
        """Return the answers of a student so far; None, with a note, where the name is unusable."""
        name = name.strip()
        if not name or len(name) > MAX_NAME:
            self.note("skipped", f"a student's name of {len(name):,} characters" if name else
                      "no student is named here", line)
            return None
        entry = self._roster.find(name) if self._roster is not None else None
        id = entry.id if entry is not None else name
        if id not in self.found:
            if entry is not None:
                student = Student(id, entry.last_name, entry.first_name, entry.email,
                                  entry.section)
            else:
                student = Student(id, email=id if "@" in id else "")
                if self._roster is not None:
                    self.notes.append(InputNote("student", "not in the roster", self.file, line,
                                                id))
            self.found[id] = student, Parsed(self._ids)
        return self.found[id][1]

    def note(self, about: str, message: str, line: int | None = None) -> None:
        self.notes.append(InputNote(about, message, self.file, line))

    def submissions(self) -> Submissions:
        ordered = sorted(self.found)

        def read(k: int) -> Submission:
            student, parsed = self.found[ordered[k]]
            given = {id: (answer, line, self.file) for id, (answer, line)
                     in parsed.answers.items()}
            digest = hashlib.sha256(json.dumps(sorted(
                [(id, answer) for id, (answer, _) in parsed.answers.items()])).encode())
            notes = [InputNote(about, message, self.file, line, student.id)
                     for about, message, line in parsed.notes]
            return Submission(student, answers(student.id, self._ids, given, doubts(notes)),
                              [self.file], notes, digest.hexdigest())

        return Submissions([self.found[id][0] for id in ordered], read, self.notes)


def unreadable(path: str, why: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0734", f"cannot read `{path}`: {why.lower()}", source=Source("", path), span=(0, 0),
        help="give a table with a row for each student, or a folder of their files"))


# --------------------------------------------------------------------------------------------------
# The answers of a class in one stream, an answer a line; and whatever comes through a pipe.

MAX_LINE = 64 * 1024
STDIN = "<stdin>"


def open_stdin(stdin: BinaryIO, sheet: Sheet, roster: Roster | None = None, *,
               student_column: str | None = None, mapping: Mapping[str, str] | None = None
               ) -> Submissions:
    """Read submissions from a pipe: NDJSON if it begins with a brace, else CSV as `open_table`.

    Raises E0733 and E0734.
    """
    first = stdin.readline(MAX_LINE + 1)
    before = 0
    while first and not first.strip():
        first = stdin.readline(MAX_LINE + 1)
        before += 1
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or not first.removeprefix(
            b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        data = b"\n" * before + first + stdin.read(MAX_BYTES + 1 - len(first))
        if len(data) > MAX_BYTES + before:
            raise unreadable("-", f"larger than {MAX_BYTES // 1024 ** 2} MiB")
        return table_of(data, STDIN, sheet, roster, student_column, mapping)
    of_class = ClassAnswers(Ids(sheet.ids), STDIN, roster)
    _lines(of_class, stdin, first, before + 1)
    return of_class.submissions()


def open_lines(path: str, sheet: Sheet, roster: Roster | None = None) -> Submissions:
    """Read submissions in NDJSON, one `{"student": "s1", "problem": "1a", "answer": "2x"}` a line.

    Lines that are no such object are passed over with a note; the student that one names counts as
    having handed something in. Raises E0734 (cannot be read).
    """
    of_class = ClassAnswers(Ids(sheet.ids), path, roster)
    try:
        with open(path, "rb") as file:
            _lines(of_class, file, file.readline(MAX_LINE + 1), 1)
    except (OSError, ValueError) as problem:
        raise unreadable(path, getattr(problem, "strerror", None) or str(problem)) from None
    return of_class.submissions()


def _lines(of_class: ClassAnswers, file: BinaryIO, line: bytes, number: int) -> None:
    """Parse the lines of a file from `line` on, which was read already; number: of that line."""
    while line:
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
            of_class.note("skipped", f"longer than {MAX_LINE // 1024} KiB", number)
        elif line.strip():
            _line(of_class, line, number)
        line = file.readline(MAX_LINE + 1)
        number += 1


def _line(of_class: ClassAnswers, line: bytes, number: int) -> None:
    student = None
    try:
        said, _ = decoded_text(line)
        entry = json.loads(said, parse_int=str, parse_float=str, parse_constant=str,
                           object_pairs_hook=JsonObject)
        fields = dict(entry.pairs) if isinstance(entry, JsonObject) else {}
        if isinstance(fields.get("student"), str):
            fields["student"].encode()      # a lone surrogate cannot be written again
            student = fields["student"]
        problem, answer = fields["problem"], typed(fields["answer"])
        if student is None or not isinstance(problem, str):
            raise TypeError
    except (Unreadable, ValueError, RecursionError):
        of_class.note("skipped", "no JSON", number)
        return
    except (KeyError, TypeError):
        of_class.note("skipped", 'not of the form {"student": "s1", "problem": "1a", "answer":'
                      ' "2x"}', number)
        if student is not None:
            of_class.of(student, number)
        return
    parsed = of_class.of(student, number)
    if parsed is not None:
        parsed.add(problem, answer, number)


# --------------------------------------------------------------------------------------------------
# Submissions of any form, by their path.

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
        return open_stdin(stdin, sheet, roster, student_column=student_column, mapping=mapping)
    ending = os.path.splitext(path)[1].lower()
    if wide or (ending in TABLES and not os.path.isdir(path)):
        return open_table(path, sheet, roster, student_column=student_column, mapping=mapping)
    if ending in LINES and not os.path.isdir(path):
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
